#include "count_search.h"
#include <algorithm>
#include <cmath>

namespace confide {
namespace {

constexpr int rate_digits = 24;

double rounded_down(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, rate_digits)), exponent - rate_digits);
}

double next_rate_down(double rate) {
  return rounded_down(rate * (1 - std::ldexp(1.0, -rate_digits - 2)));
}

// Exact: the square of 24 digits times 25 has at most 53, and 3 e1 at most 26.
double claim(double rate, Measure measure) {
  return measure == Measure::rho ? 25 * (rate * rate) / 8 : 3 * rate;
}

// 1 / rate, for a rate of 24 digits between 2^-38 and 2^39.
Rational scale_of(double rate) {
  int exponent = 0;
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(rate, &exponent), rate_digits));
  exponent -= rate_digits;
  while (mantissa % 2 == 0) {
    mantissa /= 2;
    ++exponent;
  }
  return exponent >= 0 ? Rational{1, mantissa << exponent}
                       : Rational{std::uint64_t{1} << -exponent, mantissa};
}

} // namespace

CountSearchPlan count_search_plan(double budget, Measure measure, double target) {
  if (!(budget >= 0x1p-36) || !(budget <= 0x1p40))
    throw PlanRefused("the budget of a radius step must lie between 2^-36 and 2^40");
  if (!(std::abs(target) <= 0x1p52))
    throw PlanRefused("the target count must be at most 2^52");
  double rate = rounded_down(measure == Measure::rho ? std::sqrt(8 * budget) / 5 : budget / 3);
  while (claim(rate, measure) > budget)
    rate = next_rate_down(rate);
  const double threshold = std::ceil(target - 0.5 / rate);
  return {scale_of(rate), scale_of(2 * rate), static_cast<std::int64_t>(threshold), rate,
          claim(rate, measure)};
}

std::size_t first_above(const std::vector<std::int64_t> &counts, std::int64_t threshold,
                        const std::function<std::uint64_t()> &threshold_noise,
                        const std::function<std::uint64_t()> &query_noise) {
  const std::int64_t level = threshold + static_cast<std::int64_t>(threshold_noise());
  const auto first = std::find_if(counts.begin(), counts.end(), [&](std::int64_t count) {
    return count + static_cast<std::int64_t>(query_noise()) >= level;
  });
  return static_cast<std::size_t>(first - counts.begin());
}

std::size_t search_counts(const std::vector<std::int64_t> &counts, const CountSearchPlan &plan,
                          RandomSource &random) {
  return first_above(
      counts, plan.threshold, [&] { return scaled_geometric(plan.threshold_scale, random); },
      [&] { return scaled_geometric(plan.query_scale, random); });
}

bool one_sided(const std::vector<std::int64_t> &counts, const std::vector<std::int64_t> &other) {
  if (counts.size() != other.size())
    return false;
  bool up = false, down = false;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::int64_t move = other[k] - counts[k];
    if (move < -1 || move > 1)
      return false;
    up = up || move == 1;
    down = down || move == -1;
  }
  return !(up && down);
}

} // namespace confide
