#include "records.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace confide {
namespace {

constexpr Eigen::Index block_rows = 1024;
constexpr Eigen::Index rows_between_interrupts = Eigen::Index{1} << 14;

template <class Step>
void for_each_record(const Records &records, const Interrupt &interrupt, const Step &step) {
  for (Eigen::Index i = 0; i < records.cols(); ++i) {
    if (i % rows_between_interrupts == 0)
      interrupt();
    step(records.col(i).data());
  }
}

// The cell of a number among ascending cuts: the first cut that is not below it.
std::size_t cell_of(double x, const std::vector<double> &cuts) {
  return static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), x) - cuts.begin());
}

// NaN is in no cell.
void count(double x, const std::vector<double> &cuts, Eigen::Ref<Eigen::VectorXd> cells) {
  if (!std::isnan(x))
    cells[static_cast<Eigen::Index>(cell_of(x, cuts))] += 1;
}

Eigen::Index cells_of(const std::vector<double> &cuts) {
  return static_cast<Eigen::Index>(cuts.size()) + 1;
}

// Sums of clipped records. Where the ball is less than 2^26 grid steps wide integers are kept in
// doubles: sums of squares at most B < 2^52 are exact, and larger ones cannot round to B or less,
// so that the check is as good as in integers. 2^16 records of entries below 2^26 add up to less
// than 2^42. Any other record goes through round_record().
class ClippedSum {
public:
  ClippedSum(Eigen::Index dimension, const Grid &grid)
      : grid_(grid), quick_(grid.bound_squared < static_cast<u128>(1) << 52 && grid.bound > 1e-100),
        bound_squared_(static_cast<double>(grid.bound_squared)),
        scale_(std::ldexp(1.0, -grid.exponent)), units_(static_cast<std::size_t>(dimension)),
        partial_(static_cast<std::size_t>(dimension), 0.0), difference_(units_.size()),
        integers_(units_.size()), sums_(units_.size(), 0) {}

  void add(const double *record, const double *centre) {
    if (!quick_ || !add_quickly(record, centre))
      add_carefully(record, centre);
  }

  std::vector<std::int64_t> finish() {
    flush();
    return sums_;
  }

private:
  bool add_quickly(const double *record, const double *centre) {
    const std::size_t dimension = units_.size();
    const double norm = distance(record, centre, static_cast<Eigen::Index>(dimension));
    if (!std::isfinite(norm))
      return false;
    const double factor = norm > grid_.bound ? grid_.bound / norm * scale_ : scale_;
    // |entry| <= bound * scale (1 + small) < 2^27, within the range of the conversion
    for (std::size_t k = 0; k < dimension; ++k)
      units_[k] = static_cast<double>(static_cast<std::int32_t>((record[k] - centre[k]) * factor));
    if (!(sum_of_squares() <= bound_squared_))
      return false;
    for (std::size_t k = 0; k < dimension; ++k)
      partial_[k] += units_[k];
    if (++records_ == Eigen::Index{1} << 16)
      flush();
    return true;
  }

  double sum_of_squares() const {
    double sums[4] = {0, 0, 0, 0};
    std::size_t k = 0;
    for (; k + 4 <= units_.size(); k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane)
        sums[lane] += units_[k + lane] * units_[k + lane];
    for (; k < units_.size(); ++k)
      sums[0] += units_[k] * units_[k];
    return sums[0] + sums[1] + sums[2] + sums[3];
  }

  void add_carefully(const double *record, const double *centre) {
    for (std::size_t k = 0; k < units_.size(); ++k)
      difference_[k] = record[k] - centre[k];
    round_record(difference_.data(), difference_.size(), grid_, integers_.data());
    add_integers(integers_);
  }

  void flush() {
    for (std::size_t k = 0; k < units_.size(); ++k) {
      integers_[k] = static_cast<std::int64_t>(partial_[k]);
      partial_[k] = 0;
    }
    add_integers(integers_);
    records_ = 0;
  }

  // A plan for n records keeps sums within 2^61; beyond it nothing may overflow.
  void add_integers(const std::vector<std::int64_t> &units) {
    for (std::size_t k = 0; k < units.size(); ++k)
      sums_[k] =
          std::clamp(sums_[k] + std::clamp(units[k], -sum_limit, sum_limit), -sum_limit, sum_limit);
  }

  Grid grid_;
  bool quick_;
  double bound_squared_, scale_;
  std::vector<double> units_, partial_, difference_;
  std::vector<std::int64_t> integers_, sums_;
  Eigen::Index records_ = 0;
};

// Rows from `start` on to columns of (x - centre) / scale, a few at a time so that those written
// stay in the cache.
void transpose(const std::vector<const double *> &columns, Eigen::Index start,
               const Eigen::Ref<const Eigen::VectorXd> &centre,
               const Eigen::Ref<const Eigen::VectorXd> &scale,
               Eigen::Ref<Eigen::MatrixXd> records) {
  constexpr Eigen::Index tile = 64;
  for (Eigen::Index first = 0; first < records.cols(); first += tile) {
    const Eigen::Index last = std::min(first + tile, records.cols());
    for (Eigen::Index k = 0; k < records.rows(); ++k) {
      const double *column = columns[static_cast<std::size_t>(k)] + start;
      for (Eigen::Index i = first; i < last; ++i)
        records(k, i) = (column[i] - centre[k]) / scale[k];
    }
  }
}

// The last block is filled up, so that the solver treats its records like all others.
void solve_padded(const Eigen::Ref<const Eigen::MatrixXd> &root,
                  Eigen::Ref<Eigen::MatrixXd> records) {
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(records.rows(), block_rows);
  block.leftCols(records.cols()) = records;
  root.triangularView<Eigen::Lower>().solveInPlace(block);
  records = block.leftCols(records.cols());
}

// Steele, Lea and Flood (2014), splitmix64: the signs of a rotation are fixed and public.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void flip_signs(Eigen::Ref<Eigen::VectorXd> v, std::uint64_t round) {
  for (Eigen::Index k = 0; k < v.size(); ++k)
    if (mixed((round << 32) + static_cast<std::uint64_t>(k)) & 1)
      v[k] = -v[k];
}

void hadamard(Eigen::Ref<Eigen::VectorXd> v) {
  for (Eigen::Index half = 1; half < v.size(); half *= 2)
    for (Eigen::Index start = 0; start < v.size(); start += 2 * half)
      for (Eigen::Index k = start; k < start + half; ++k) {
        const double a = v[k], b = v[k + half];
        v[k] = a + b;
        v[k + half] = a - b;
      }
  v /= std::sqrt(static_cast<double>(v.size()));
}

} // namespace

double distance(const double *a, const double *b, Eigen::Index dimension) {
  double sums[4] = {0, 0, 0, 0};
  Eigen::Index k = 0;
  for (; k + 4 <= dimension; k += 4)
    for (Eigen::Index lane = 0; lane < 4; ++lane) {
      const double move = a[k + lane] - b[k + lane];
      sums[lane] += move * move;
    }
  for (; k < dimension; ++k)
    sums[0] += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

void whiten(const std::vector<const double *> &columns, Eigen::Index first,
            const Eigen::Ref<const Eigen::VectorXd> &centre,
            const Eigen::Ref<const Eigen::MatrixXd> &root, Eigen::Ref<Eigen::MatrixXd> records,
            const Interrupt &interrupt) {
  const Eigen::Index dimension = records.rows(), n = records.cols();
  const bool triangle = root.cols() == dimension && dimension > 1;
  const Eigen::VectorXd scale =
      triangle ? Eigen::VectorXd::Ones(dimension) : Eigen::VectorXd(root.col(0));
  for (Eigen::Index start = 0; start < n; start += block_rows) {
    interrupt();
    const Eigen::Index rows = std::min(block_rows, n - start);
    auto block = records.middleCols(start, rows);
    transpose(columns, first + start, centre, scale, block);
    if (triangle && rows == block_rows)
      root.triangularView<Eigen::Lower>().solveInPlace(block);
    else if (triangle)
      solve_padded(root, block);
  }
}

Eigen::VectorXd count_distances(const Records &records,
                                const Eigen::Ref<const Eigen::VectorXd> &centre,
                                const std::vector<double> &radii, const Interrupt &interrupt) {
  Eigen::VectorXd cells = Eigen::VectorXd::Zero(cells_of(radii));
  for_each_record(records, interrupt, [&](const double *record) {
    count(distance(record, centre.data(), records.rows()), radii, cells);
  });
  return cells;
}

Eigen::MatrixXd count_projections(const Records &records,
                                  const Eigen::Ref<const Eigen::VectorXd> &centre,
                                  const Eigen::Ref<const Eigen::MatrixXd> &directions,
                                  const std::vector<double> &cuts, const Interrupt &interrupt) {
  const Eigen::Index dimension = records.rows();
  const bool coordinates = directions.cols() == 0;
  const Eigen::Index shown = coordinates ? dimension : directions.cols();
  Eigen::MatrixXd cells = Eigen::MatrixXd::Zero(cells_of(cuts), shown);
  Eigen::VectorXd move(dimension), projected(shown);
  for_each_record(records, interrupt, [&](const double *record) {
    move = Eigen::Map<const Eigen::VectorXd>(record, dimension) - centre;
    if (!coordinates)
      projected.noalias() = directions.transpose() * move;
    const Eigen::VectorXd &numbers = coordinates ? move : projected;
    for (Eigen::Index j = 0; j < shown; ++j)
      count(numbers[j], cuts, cells.col(j));
  });
  return cells;
}

Eigen::MatrixXd count_differences(const std::vector<const double *> &columns, Eigen::Index n,
                                  const std::vector<double> &cuts, const Interrupt &interrupt) {
  const auto dimension = static_cast<Eigen::Index>(columns.size());
  Eigen::MatrixXd cells = Eigen::MatrixXd::Zero(cells_of(cuts), dimension);
  for (Eigen::Index k = 0; k < dimension; ++k) {
    const double *column = columns[static_cast<std::size_t>(k)];
    for (Eigen::Index i = 0; i + 1 < n; i += 2) {
      if (i % rows_between_interrupts == 0)
        interrupt();
      count(std::abs(column[i + 1] - column[i]), cuts, cells.col(k));
    }
  }
  return cells;
}

Eigen::VectorXd count_pair_distances(const Records &records, const std::vector<double> &radii,
                                     const Interrupt &interrupt) {
  Eigen::VectorXd cells = Eigen::VectorXd::Zero(cells_of(radii));
  for (Eigen::Index i = 0; i + 1 < records.cols(); i += 2) {
    if (i % rows_between_interrupts == 0)
      interrupt();
    count(distance(records.col(i).data(), records.col(i + 1).data(), records.rows()), radii, cells);
  }
  return cells;
}

std::vector<std::int64_t> clipped_sum(const Records &records,
                                      const Eigen::Ref<const Eigen::VectorXd> &centre,
                                      const Grid &grid, const Interrupt &interrupt) {
  ClippedSum sum(records.rows(), grid);
  for_each_record(records, interrupt,
                  [&](const double *record) { sum.add(record, centre.data()); });
  return sum.finish();
}

std::vector<std::int64_t> linearised_sum(const Records &records,
                                         const Eigen::Ref<const Eigen::VectorXd> &centre,
                                         double radius, const Grid &grid,
                                         const Interrupt &interrupt) {
  const double outside = 1 - 1 / static_cast<double>(records.rows());
  std::vector<std::int64_t> sums(2, 0), units(2);
  for_each_record(records, interrupt, [&](const double *record) {
    const double a = distance(record, centre.data(), records.rows());
    if (std::isnan(a))
      return;
    const double share = std::min(a / radius, 1.0);
    const double terms[2] = {(a <= radius ? 1 : outside * (radius / a)) - 0.5, share * share - 0.5};
    round_record(terms, 2, grid, units.data());
    sums[0] += units[0];
    sums[1] += units[1];
  });
  return sums;
}

Eigen::MatrixXd rotate(const Records &records, bool inverse) {
  if (records.rows() < 1 || (records.rows() & (records.rows() - 1)) != 0)
    throw std::invalid_argument("a rotation needs a power of two");
  Eigen::MatrixXd rotated = records;
  for (Eigen::Index i = 0; i < rotated.cols(); ++i)
    for (std::uint64_t step = 0; step < 3; ++step) {
      if (inverse) {
        hadamard(rotated.col(i));
        flip_signs(rotated.col(i), 2 - step);
      } else {
        flip_signs(rotated.col(i), step);
        hadamard(rotated.col(i));
      }
    }
  return rotated;
}

} // namespace confide
