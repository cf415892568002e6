#include "lambda.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace confide {

namespace {

using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

// Visits every block of an array as a (stride x size) matrix whose columns are the slices of one
// mode.
template <class Visit>
void for_each_block(Eigen::Ref<Vector> cells, const std::vector<Mode> &modes, const Visit &visit) {
  Index stride = 1;
  for (const Mode &mode : modes) {
    const Index size = mode.keep.size();
    for (Index begin = 0; begin < cells.size(); begin += stride * size) {
      Eigen::Map<Eigen::MatrixXd> block(cells.data() + begin, stride, size);
      visit(block, mode);
    }
    stride *= size;
  }
}

// The factors of f: for each attribute one number for each code that may be reported.
std::vector<Vector> question_factors(const Question &question, const std::vector<Mode> &inverse) {
  std::vector<Vector> factors;
  for (std::size_t j = 0; j < question.size(); ++j) {
    double spread = 0;
    for (const std::int32_t code : question[j])
      spread += inverse[j].spread[code];
    Vector factor = Vector::Constant(inverse[j].keep.size(), spread);
    for (const std::int32_t code : question[j])
      factor[code] += inverse[j].keep[code];
    factors.push_back(std::move(factor));
  }
  return factors;
}

double record_value(const Eigen::Ref<const Codes> &rows, Index row,
                    const std::vector<Vector> &factors) {
  double product = 1;
  for (std::size_t j = 0; j < factors.size(); ++j)
    product *= factors[j][rows(row, static_cast<Index>(j))];
  return product;
}

std::uint64_t row_hash(const Eigen::Ref<const Codes> &rows, Index row) {
  std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over the codes
  for (Index j = 0; j < rows.cols(); ++j)
    hash = (hash ^ static_cast<std::uint32_t>(rows(row, j))) * 0x100000001b3u;
  return hash;
}

} // namespace

Mode forward_mode(double lambda, const Eigen::Ref<const Vector> &noise) {
  return {Vector::Constant(noise.size(), lambda), (1 - lambda) * noise};
}

Mode inverse_mode(double lambda, const Eigen::Ref<const Vector> &noise) {
  return {Vector::Constant(noise.size(), 1 / lambda), -(1 - lambda) / lambda * noise};
}

Mode squared_inverse_mode(double lambda, const Eigen::Ref<const Vector> &noise) {
  const Mode inverse = inverse_mode(lambda, noise);
  const Vector off = inverse.spread.array().square();
  return {(inverse.keep + inverse.spread).array().square().matrix() - off, off};
}

void apply_modes(Eigen::Ref<Vector> cells, const std::vector<Mode> &modes) {
  Vector sums;
  for_each_block(cells, modes, [&](Eigen::Map<Eigen::MatrixXd> &block, const Mode &mode) {
    if (block.rows() == 1) {
      block = block.cwiseProduct(mode.keep.transpose()) + block.sum() * mode.spread.transpose();
      return;
    }
    sums = block.col(0);
    for (Index v = 1; v < block.cols(); ++v)
      sums += block.col(v);
    for (Index v = 0; v < block.cols(); ++v)
      block.col(v) = mode.keep[v] * block.col(v) + mode.spread[v] * sums;
  });
}

void apply_modes_transposed(Eigen::Ref<Vector> cells, const std::vector<Mode> &modes) {
  Vector sums;
  for_each_block(cells, modes, [&](Eigen::Map<Eigen::MatrixXd> &block, const Mode &mode) {
    sums = block * mode.spread;
    for (Index v = 0; v < block.cols(); ++v)
      block.col(v) = mode.keep[v] * block.col(v) + sums;
  });
}

void product_moments(const ReportedTable &reported, const std::vector<Mode> &inverse,
                     const std::vector<Mode> &squared_inverse, Moments moments) {
  const double total = reported.weight.sum();
  const double square_total = reported.square.sum();
  // One report has no variance.
  const double scale = reported.n > 1 ? reported.n / (reported.n - 1) / (total * total)
                                      : std::numeric_limits<double>::quiet_NaN();
  moments.shares = reported.weight / total;
  moments.std_error = reported.square;
  apply_modes(moments.shares, inverse);
  apply_modes(moments.std_error, squared_inverse); // sum w^2 z^2, until the loop below
  const Eigen::Ref<const Vector> pi = moments.shares;
  Vector first; // sum w^2 z, proportional to pi where all weights are 1
  if (reported.weighted) {
    first = reported.square;
    apply_modes(first, inverse);
  }
  for (Index x = 0; x < pi.size(); ++x) {
    const double linear = reported.weighted ? first[x] : square_total * pi[x];
    const double variance =
        scale * (moments.std_error[x] - 2 * pi[x] * linear + pi[x] * pi[x] * square_total);
    moments.std_error[x] = std::sqrt(std::max(variance, 0.0));
  }
}

Vector maximum_likelihood_one_way(const Eigen::Ref<const Vector> &reported, double lambda) {
  const Index k = reported.size();
  const double other = (1 - lambda) / static_cast<double>(k);
  std::vector<Index> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return reported[a] < reported[b]; });
  double mass = 1;
  std::size_t dropped = 0;
  const auto free_mass = [&] { return 1 - static_cast<double>(dropped) * other; };
  while (dropped + 1 < order.size() && other * mass > free_mass() * reported[order[dropped]])
    mass -= reported[order[dropped++]];
  Vector shares = Vector::Zero(k);
  for (std::size_t i = dropped; i < order.size(); ++i)
    shares[order[i]] = (free_mass() * reported[order[i]] - mass * other) / (mass * lambda);
  return shares;
}

Vector project_to_simplex(const Eigen::Ref<const Vector> &values) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, threshold = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] > candidate)
      threshold = candidate;
  }
  return (values.array() - threshold).cwiseMax(0.0);
}

Patterns distinct_patterns(const WeightedRows &rows) {
  std::unordered_multimap<std::uint64_t, std::size_t> seen;
  std::vector<std::size_t> first_row;
  std::vector<double> weight, square;
  const auto find = [&](Index row) {
    const std::uint64_t hash = row_hash(rows.codes, row);
    const auto range = seen.equal_range(hash);
    for (auto it = range.first; it != range.second; ++it)
      if (rows.codes.row(static_cast<Index>(first_row[it->second])) == rows.codes.row(row))
        return it->second;
    seen.emplace(hash, first_row.size());
    first_row.push_back(static_cast<std::size_t>(row));
    weight.push_back(0);
    square.push_back(0);
    return first_row.size() - 1;
  };
  for (Index row = 0; row < rows.codes.rows(); ++row) {
    const std::size_t pattern = find(row);
    weight[pattern] += rows.weight[row];
    square[pattern] += rows.square[row];
  }
  const auto size = static_cast<Index>(weight.size());
  return {first_row, Eigen::Map<Vector>(weight.data(), size),
          Eigen::Map<Vector>(square.data(), size)};
}

void tabulate(const Eigen::Ref<const Codes> &rows, const Eigen::Ref<const Vector> &weights,
              const std::vector<std::size_t> &dimensions, Eigen::Ref<Vector> table) {
  for (Index row = 0; row < rows.rows(); ++row) {
    std::size_t cell = 0, stride = 1;
    for (std::size_t j = 0; j < dimensions.size(); ++j) {
      cell += stride * static_cast<std::size_t>(rows(row, static_cast<Index>(j)));
      stride *= dimensions[j];
    }
    table[static_cast<Index>(cell)] += weights[row];
  }
}

CellSums cell_sums(const WeightedRows &rows, const std::vector<Question> &questions,
                   const std::vector<Mode> &inverse, const std::function<void()> &interrupt) {
  const auto size = static_cast<Index>(questions.size());
  CellSums sums{Vector::Zero(size), Vector::Zero(size), Vector::Zero(size)};
  for (Index cell = 0; cell < size; ++cell) {
    interrupt();
    const auto factors = question_factors(questions[static_cast<std::size_t>(cell)], inverse);
    for (Index row = 0; row < rows.codes.rows(); ++row) {
      const double value = record_value(rows.codes, row, factors);
      sums.value[cell] += rows.weight[row] * value;
      sums.square_weighted[cell] += rows.square[row] * value;
      sums.square[cell] += rows.square[row] * value * value;
    }
  }
  return sums;
}

Eigen::MatrixXd cell_values(const Eigen::Ref<const Codes> &rows,
                            const std::vector<Question> &questions,
                            const std::vector<Mode> &inverse) {
  Eigen::MatrixXd values(rows.rows(), static_cast<Index>(questions.size()));
  for (Index cell = 0; cell < values.cols(); ++cell) {
    const auto factors = question_factors(questions[static_cast<std::size_t>(cell)], inverse);
    for (Index row = 0; row < rows.rows(); ++row)
      values(row, cell) = record_value(rows, row, factors);
  }
  return values;
}

} // namespace confide
