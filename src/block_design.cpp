#include "block_design.h"
#include <algorithm>
#include <utility>

namespace confide {

namespace {

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
                               [](const HadamardDesign &design) { return design.order() - 1; },
                               [](const ListedDesign &design) { return design.points; }},
                    incidence);
}

std::size_t output_count(const Incidence &incidence) {
  return std::visit(
      Overloaded{[](const GroupDesign &design) { return design.points * design.blocks; },
                 [](const HadamardDesign &design) { return design.order() - 1; },
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
    for (std::uint32_t point = 0; point + 1 < design.order(); ++point)
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

} // namespace confide
