#include "block_design.h"
#include "group_transform.h"
#include <algorithm>
#include <stdexcept>
#include <utility>

namespace confide {

namespace {

// Calls the function for the kind of design.
template <class... Functions> struct Overloaded : Functions... { using Functions::operator()...; };
template <class... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;

bool is_binary(const std::vector<std::uint32_t> &radices) {
  return std::all_of(radices.begin(), radices.end(), [](std::uint32_t n) { return n == 2; });
}

std::uint32_t add_digits(const std::vector<std::uint32_t> &radices, std::uint32_t a,
                         std::uint32_t b, bool subtract) {
  std::uint32_t sum = 0, place = 1;
  for (const std::uint32_t n : radices) {
    const std::uint32_t digit = subtract ? n - b % n : b % n;
    sum += (a % n + digit) % n * place;
    a /= n;
    b /= n;
    place *= n;
  }
  return sum;
}

std::uint32_t translate(const GroupDesign &design, std::uint32_t a, std::uint32_t b) {
  if (design.radices.size() == 1) {
    const std::uint64_t sum = std::uint64_t{a} + b;
    return static_cast<std::uint32_t>(sum < design.points ? sum : sum - design.points);
  }
  if (design.radices.front() == 2 && is_binary(design.radices))
    return a ^ b;
  return add_digits(design.radices, a, b, false);
}

bool odd_parity(std::size_t bits) {
  for (unsigned shift = 32; shift > 0; shift /= 2)
    bits ^= bits >> shift;
  return (bits & 1) != 0;
}

// Whether the entry of the Hadamard matrix is +1.
bool has_plus(const HadamardDesign &design, std::size_t row, std::size_t column) {
  const std::size_t m = design.core.order;
  const bool core_plus = design.core.signs[row % m * m + column % m] > 0;
  return core_plus != odd_parity(row / m & column / m);
}

std::size_t order(const HadamardDesign &design) { return design.doubled * design.core.order; }

// (H or its transpose) x, by the Kronecker factors.
std::vector<double> hadamard_product(const HadamardDesign &design, const std::vector<double> &x,
                                     bool transposed) {
  const std::size_t m = design.core.order;
  std::vector<double> result(x.size());
  for (std::size_t high = 0; high < design.doubled; ++high) {
    for (std::size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < m; ++j)
        sum += design.core.signs[transposed ? j * m + i : i * m + j] * x[high * m + j];
      result[high * m + i] = sum;
    }
  }
  walsh_hadamard(result.data(), design.doubled, m);
  return result;
}

// Values of rows (or columns) 1, 2, ... in; for each column (or row) from 1 on the sum over those
// with a +1: (total + H x) / 2.
Eigen::VectorXd hadamard_sums(const HadamardDesign &design, const Eigen::VectorXd &values,
                              bool transposed) {
  std::vector<double> x(order(design));
  std::copy(values.data(), values.data() + values.size(), x.begin() + 1);
  const std::vector<double> product = hadamard_product(design, x, transposed);
  const double total = values.sum();
  Eigen::VectorXd sums(values.size());
  for (Eigen::Index i = 0; i < sums.size(); ++i)
    sums[i] = (total + product[static_cast<std::size_t>(i) + 1]) / 2;
  return sums;
}

std::vector<double> indicator(const GroupDesign &design, std::size_t block) {
  std::vector<double> result(design.points);
  for (std::size_t i = block * design.size; i < (block + 1) * design.size; ++i)
    result[design.base[i]] = 1;
  return result;
}

// T^ = sum over blocks of c_a^ conj(D_a^): one transform of a block for all columns, one transform
// back for all blocks.
Eigen::MatrixXd group_sums_over_outputs(const GroupDesign &design, const Eigen::MatrixXd &counts) {
  const GroupTransform transform(design.radices);
  std::vector<GroupTransform::Spectrum> totals(static_cast<std::size_t>(counts.cols()));
  for (std::size_t a = 0; a < design.blocks; ++a) {
    const auto base = transform.forward(indicator(design, a).data());
    for (Eigen::Index column = 0; column < counts.cols(); ++column) {
      auto &total = totals[static_cast<std::size_t>(column)];
      const auto part = transform.forward(counts.col(column).data() + a * design.points);
      total.resize(part.size());
      for (std::size_t i = 0; i < total.size(); ++i)
        total[i] += part[i] * std::conj(base[i]);
    }
  }
  Eigen::MatrixXd sums(static_cast<Eigen::Index>(design.points), counts.cols());
  for (Eigen::Index column = 0; column < counts.cols(); ++column)
    sums.col(column) =
        transform.backward(std::move(totals[static_cast<std::size_t>(column)]), true);
  return sums;
}

Eigen::VectorXd group_sums_over_points(const GroupDesign &design, const Eigen::VectorXd &values) {
  const GroupTransform transform(design.radices);
  const auto spectrum = transform.forward(values.data());
  const auto points = static_cast<Eigen::Index>(design.points);
  Eigen::VectorXd sums(points * static_cast<Eigen::Index>(design.blocks));
  for (std::size_t a = 0; a < design.blocks; ++a) {
    auto product = transform.forward(indicator(design, a).data());
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] *= spectrum[i];
    sums.segment(static_cast<Eigen::Index>(a) * points, points) =
        transform.backward(std::move(product), false);
  }
  return sums;
}

// Sums of integers are integers; a transform may only be off by rounding.
void round_exactly(Eigen::Ref<Eigen::VectorXd> sums) {
  const Eigen::VectorXd whole = sums.array().round();
  if (sums.size() > 0 && !((sums - whole).cwiseAbs().maxCoeff() < 0.25))
    throw std::logic_error("a transform lost the integers it should have returned");
  sums = whole;
}

void check_total(const Eigen::Ref<const Eigen::VectorXd> &sums, double expected) {
  if (sums.sum() != expected)
    throw std::logic_error("the sums over a design failed their checksum");
}

// Outputs 0 and 1 exist in every design; a member is an output that is not the excluded one.
bool is_member(const HadamardDesign &design, std::uint32_t point, std::uint32_t output) {
  return has_plus(design, point + std::size_t{1}, output + std::size_t{1});
}

std::uint32_t member(const GroupDesign &design, std::uint32_t point, std::uint64_t number) {
  const auto block = static_cast<std::uint32_t>(number / design.size);
  return translate(design, point, design.base[number]) +
         block * static_cast<std::uint32_t>(design.points);
}

std::uint32_t member(const ListedDesign &design, std::uint32_t point, std::uint64_t number) {
  return design.members[point * design.size + number];
}

} // namespace

GroupDesign make_group_design(DifferenceFamily family) {
  std::size_t points = 1;
  for (const std::uint32_t n : family.radices)
    points *= n;
  const std::size_t size = family.base.size() / family.blocks;
  return {std::move(family.radices), points, family.blocks, size, std::move(family.base)};
}

HadamardDesign make_hadamard_design(std::size_t doubled, std::uint32_t core_order) {
  return {doubled, hadamard_core(core_order)};
}

std::size_t point_count(const Incidence &incidence) {
  return std::visit(Overloaded{[](const GroupDesign &design) { return design.points; },
                               [](const HadamardDesign &design) { return order(design) - 1; },
                               [](const ListedDesign &design) { return design.points; }},
                    incidence);
}

std::size_t output_count(const Incidence &incidence) {
  return std::visit(
      Overloaded{[](const GroupDesign &design) { return design.points * design.blocks; },
                 [](const HadamardDesign &design) { return order(design) - 1; },
                 [](const ListedDesign &design) { return design.outputs; }},
      incidence);
}

std::uint32_t draw_member(const BlockDesign &design, std::uint32_t symbol, std::uint64_t number,
                          RandomSource &random) {
  const std::uint32_t point = design.point(symbol);
  // In the derived design the excluded output gives its place to the last member.
  const auto numbered = [&](const auto &incidence) {
    const std::uint32_t output = member(incidence, point, number);
    return design.excluded && output == 0 ? member(incidence, point, design.inside) : output;
  };
  const auto drawn = [&](const HadamardDesign &hadamard) {
    const std::uint32_t first = design.excluded ? 1 : 0;
    while (true) {
      const auto output = first + static_cast<std::uint32_t>(random.below(design.outputs));
      if (is_member(hadamard, point, output))
        return output;
    }
  };
  return std::visit(Overloaded{drawn, numbered}, design.incidence);
}

Labels points_of(const Incidence &incidence, std::uint32_t output) {
  const auto of_group = [&](const GroupDesign &design) {
    const std::size_t block = output / design.points;
    const auto element = static_cast<std::uint32_t>(output % design.points);
    Labels points;
    for (std::size_t i = block * design.size; i < (block + 1) * design.size; ++i)
      points.push_back(add_digits(design.radices, element, design.base[i], true));
    return points;
  };
  const auto of_hadamard = [&](const HadamardDesign &design) {
    Labels points;
    for (std::uint32_t point = 0; point + 1 < order(design); ++point)
      if (is_member(design, point, output))
        points.push_back(point);
    return points;
  };
  const auto of_list = [&](const ListedDesign &design) {
    Labels points;
    for (std::size_t i = 0; i < design.members.size(); ++i)
      if (design.members[i] == output)
        points.push_back(static_cast<std::uint32_t>(i / design.size));
    return points;
  };
  return std::visit(Overloaded{of_group, of_hadamard, of_list}, incidence);
}

Labels points_by_first_output(const Incidence &incidence, bool having) {
  std::vector<bool> has(point_count(incidence), false);
  for (const std::uint32_t point : points_of(incidence, 0))
    has[point] = true;
  Labels points;
  for (std::size_t point = 0; point < has.size(); ++point)
    if (has[point] == having)
      points.push_back(static_cast<std::uint32_t>(point));
  return points;
}

Eigen::MatrixXd sum_over_outputs(const Incidence &incidence, const Eigen::MatrixXd &counts,
                                 Eigen::Index whole) {
  const auto of_hadamard = [&](const HadamardDesign &design) {
    Eigen::MatrixXd sums(counts.rows(), counts.cols());
    for (Eigen::Index column = 0; column < counts.cols(); ++column)
      sums.col(column) = hadamard_sums(design, counts.col(column), false);
    return sums;
  };
  const auto of_list = [&](const ListedDesign &design) {
    Eigen::MatrixXd sums =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(design.points), counts.cols());
    for (std::size_t i = 0; i < design.members.size(); ++i)
      sums.row(static_cast<Eigen::Index>(i / design.size)) += counts.row(design.members[i]);
    return sums;
  };
  Eigen::MatrixXd sums = std::visit(
      Overloaded{[&](const GroupDesign &design) { return group_sums_over_outputs(design, counts); },
                 of_hadamard, of_list},
      incidence);
  for (Eigen::Index column = 0; column < whole; ++column) {
    round_exactly(sums.col(column));
    if (const auto *group = std::get_if<GroupDesign>(&incidence))
      check_total(sums.col(column), static_cast<double>(group->size) * counts.col(column).sum());
  }
  return sums;
}

Eigen::VectorXd sum_over_points(const Incidence &incidence, const Eigen::VectorXd &values,
                                bool whole) {
  const auto of_list = [&](const ListedDesign &design) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(design.outputs));
    for (std::size_t i = 0; i < design.members.size(); ++i)
      sums[design.members[i]] += values[static_cast<Eigen::Index>(i / design.size)];
    return sums;
  };
  Eigen::VectorXd sums = std::visit(
      Overloaded{[&](const GroupDesign &design) { return group_sums_over_points(design, values); },
                 [&](const HadamardDesign &design) { return hadamard_sums(design, values, true); },
                 of_list},
      incidence);
  if (whole)
    round_exactly(sums);
  return sums;
}

} // namespace confide
