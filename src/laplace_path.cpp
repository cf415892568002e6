#include "laplace_path.h"
#include <algorithm>
#include <cmath>

namespace confide {
namespace {

constexpr int largest_digits = 20;
constexpr double largest_numerator = 0x1p40;

// ceil(l1 2^digits / epsilon), nudged upwards until the claim holds in exact integers.
std::uint64_t scale_numerator(std::uint64_t l1, double epsilon, int digits) {
  const std::uint64_t denominator = std::uint64_t{1} << digits;
  auto numerator =
      static_cast<std::uint64_t>(std::ceil(std::ldexp(static_cast<double>(l1) / epsilon, digits)));
  while (realised_epsilon(l1, Rational{numerator, denominator}) > epsilon)
    ++numerator;
  return numerator;
}

} // namespace

LaplaceLadder laplace_ladder(std::uint64_t l1, const std::vector<double> &epsilons) {
  const double widest = static_cast<double>(l1) / epsilons.front();
  if (l1 == 0 || !(widest < largest_numerator / 2))
    throw PlanRefused("the first epsilon is too small: the noise would leave 2^39 steps");
  int digits = largest_digits;
  while (std::ldexp(widest, digits) >= largest_numerator / 2)
    --digits;
  LaplaceLadder ladder{{}, std::uint64_t{1} << digits};
  for (const double epsilon : epsilons) {
    if (static_cast<double>(l1) / epsilon < std::ldexp(1, -digits))
      throw PlanRefused("the last epsilon is too large: the scale would be below its grid");
    ladder.numerators.push_back(scale_numerator(l1, epsilon, digits));
  }
  const auto &n = ladder.numerators;
  if (std::adjacent_find(n.begin(), n.end(), std::less_equal<>()) != n.end())
    throw PlanRefused("two epsilons are too close to have scales of their own");
  return ladder;
}

} // namespace confide
