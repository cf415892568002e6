#include "sum_plan.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace confide {
namespace {

constexpr int noise_digits = 52; // q t^2, p and the numerator of a Laplace scale are at most 2^52
constexpr int grid_digits = 24;  // the noise is 2^24 to 2^25 grid steps wide
// Makes the exponent of a budget's dyadic form at most -12, so that shifts go one way.
constexpr double largest_budget = 0x1p40;
// Powers 2^-exponent and products with 64-bit integers stay ordinary doubles.
constexpr int smallest_exponent = -900, largest_exponent = 900;

int bit_length(u128 x) {
  int length = 0;
  for (; x != 0; x >>= 1)
    ++length;
  return length;
}

// x = mantissa * 2^exponent exactly, for finite x > 0.
struct Dyadic {
  std::uint64_t mantissa;
  int exponent;
};

Dyadic dyadic(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return {static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53};
}

// a <= b * 2^exponent, exactly.
bool at_most(u128 a, u128 b, int exponent) {
  if (a == 0 || b == 0)
    return a == 0;
  const int digits = bit_length(a), other_digits = bit_length(b);
  if (digits != other_digits + exponent)
    return digits < other_digits + exponent;
  return (a << (128 - digits)) <= (b << (128 - other_digits));
}

// floor(x * 2^shift), nothing when it has more than `digits` binary digits.
std::optional<u128> shifted(u128 x, int shift, int digits) {
  if (x == 0 || bit_length(x) + shift <= 0)
    return u128{0};
  if (bit_length(x) + shift > digits)
    return std::nullopt;
  return shift >= 0 ? x << shift : x >> -shift;
}

// ceil(x * 2^shift / divisor) when it is at most 2^52. Requires x > 0, shift >= 0, divisor < 2^53:
// from 2^106 on the quotient is too large, below that nothing overflows.
std::optional<std::uint64_t> scaled_ceiling(u128 x, int shift, std::uint64_t divisor) {
  if (bit_length(x) + shift > 106)
    return std::nullopt;
  const u128 numerator = x << shift;
  const u128 ceiling = numerator / divisor + (numerator % divisor != 0);
  if (ceiling > static_cast<u128>(1) << noise_digits)
    return std::nullopt;
  return static_cast<std::uint64_t>(ceiling);
}

Rational reduced(std::uint64_t numerator, int denominator_digits) {
  while (denominator_digits > 0 && numerator % 2 == 0) {
    numerator /= 2;
    --denominator_digits;
  }
  return {numerator, std::uint64_t{1} << denominator_digits};
}

// Requires b below 2^54.
double ratio_rounded_up(u128 a, std::uint64_t b) {
  const auto covers = [&](double r) {
    const Dyadic d = dyadic(r);
    return at_most(a, static_cast<u128>(d.mantissa) * b, d.exponent);
  };
  double ratio = static_cast<double>(a) / static_cast<double>(b);
  while (!covers(ratio))
    ratio = std::nextafter(ratio, std::numeric_limits<double>::infinity());
  while (covers(std::nextafter(ratio, 0)))
    ratio = std::nextafter(ratio, 0);
  return ratio;
}

void check_budget(double budget, const char *name) {
  if (!(budget > 0) || budget > largest_budget)
    throw PlanRefused(std::string(name) + " must be above 0 and at most 2^40");
}

// The data's l2 sensitivity in units of the bound.
int bound_factor(Neighbours neighbours) { return neighbours == Neighbours::replace ? 2 : 1; }

// gamma = 2^(floor(log2 width) - 24) for noise of that width, coarser if n records could leave
// 2^61 grid steps. floor((bound / gamma)^2) is exact: the bound is a dyadic number.
Grid choose_grid(double bound, double width, std::size_t n) {
  if (!(bound > 0) || !std::isfinite(bound))
    throw PlanRefused("the bound must be a finite number above 0");
  if (n == 0)
    throw PlanRefused("the number of records must be at least 1");
  if (!(width > 0) || !std::isfinite(width))
    throw PlanRefused("the bound and the privacy parameter leave the range of the noise");
  int exponent = std::ilogb(width) - grid_digits;
  // At least 2^11 records keep squares below 2^100, far from the end of 128 bits.
  const double records = std::max(static_cast<double>(n), 0x1p11);
  while (records * std::ldexp(bound, -exponent) >= static_cast<double>(sum_limit))
    ++exponent;
  if (exponent < smallest_exponent || exponent > largest_exponent)
    throw PlanRefused("the bound is too small or too large for the grid of the noise");
  const Dyadic b = dyadic(bound);
  const auto square =
      shifted(static_cast<u128>(b.mantissa) * b.mantissa, 2 * (b.exponent - exponent), 100);
  if (!square || *square == 0)
    throw PlanRefused("the noise would be more than 2^24 times the bound");
  return {exponent, bound, *square};
}

// For neighbours whose records differ by an integer vector of Euclidean norm at most f sqrt(B), and
// by Cauchy and Schwarz of l1 norm at most sqrt(d) f sqrt(B), which is rounded down because it is
// an integer. One column: |k| <= floor(sqrt(B)).
Sensitivity sum_sensitivity(const Grid &grid, Neighbours neighbours, std::size_t dimension) {
  const u128 factor = static_cast<u128>(bound_factor(neighbours));
  if (dimension == 1) {
    const u128 steps = factor * floor_sqrt(grid.bound_squared);
    return {steps * steps, static_cast<std::uint64_t>(steps)};
  }
  const u128 l2_squared = factor * factor * grid.bound_squared;
  if (bit_length(l2_squared) + bit_length(dimension) > 126)
    throw PlanRefused("too many columns for this bound and privacy parameter");
  return {l2_squared, static_cast<std::uint64_t>(floor_sqrt(l2_squared * dimension))};
}

SumPlan gaussian_plan(const Grid &grid, std::size_t dimension, const Sensitivity &sensitivity,
                      double rho) {
  const Rational variance = gaussian_variance(sensitivity.l2_squared, rho);
  const double realised = realised_rho(sensitivity.l2_squared, variance);
  return {grid, dimension, sensitivity, NoiseLaw::gaussian, variance, rho, realised};
}

SumPlan laplace_plan(const Grid &grid, std::size_t dimension, const Sensitivity &sensitivity,
                     double epsilon) {
  const Rational scale = laplace_scale(sensitivity.l1, epsilon);
  const double realised = realised_epsilon(sensitivity.l1, scale);
  return {grid, dimension, sensitivity, NoiseLaw::laplace, scale, epsilon, realised};
}

void check_dimension(std::size_t dimension) {
  if (dimension == 0)
    throw PlanRefused("at least one column is needed");
}

// A record is in one cell; replacing it takes it out of one cell and puts it into another.
Sensitivity count_sensitivity(Neighbours neighbours, std::size_t cells) {
  check_dimension(cells);
  const bool two_cells = neighbours == Neighbours::replace && cells > 1;
  return two_cells ? Sensitivity{2, 2} : Sensitivity{1, 1};
}

Sensitivity joint_count_sensitivity(std::size_t counts) {
  check_dimension(counts);
  return {counts, counts};
}

constexpr Grid whole_numbers{0, 1, 1};

} // namespace

Rational gaussian_variance(u128 l2_squared, double rho) {
  check_budget(rho, "rho");
  if (l2_squared == 0)
    throw PlanRefused("a query that depends on nobody needs no noise");
  // The largest q = 2^digits with q t^2 <= 2^52, and p = ceil(q l2_squared / (2 rho)).
  const Dyadic r = dyadic(rho);
  for (int digits = noise_digits; digits >= 0; --digits) {
    const auto p = scaled_ceiling(l2_squared, digits - 1 - r.exponent, r.mantissa);
    if (!p)
      continue;
    const u128 t = floor_sqrt(*p >> digits) + 1;
    if (t * t <= static_cast<u128>(1) << (noise_digits - digits))
      return reduced(*p, digits);
  }
  throw PlanRefused("rho is too small: the noise would leave 2^26 grid steps");
}

Rational laplace_scale(std::uint64_t l1, double epsilon) {
  check_budget(epsilon, "epsilon");
  if (l1 == 0)
    throw PlanRefused("a query that depends on nobody needs no noise");
  const Dyadic e = dyadic(epsilon);
  for (int digits = noise_digits; digits >= 0; --digits)
    if (const auto numerator = scaled_ceiling(l1, digits - e.exponent, e.mantissa))
      return reduced(*numerator, digits);
  throw PlanRefused("epsilon is too small: the noise would leave 2^52 grid steps");
}

double realised_rho(u128 l2_squared, const Rational &variance) {
  return ratio_rounded_up(l2_squared * variance.denominator, 2 * variance.numerator);
}

double realised_epsilon(std::uint64_t l1, const Rational &scale) {
  return ratio_rounded_up(static_cast<u128>(l1) * scale.denominator, scale.numerator);
}

SumPlan gaussian_sum_plan(double bound, double rho, std::size_t n, Neighbours neighbours,
                          std::size_t dimension) {
  check_budget(rho, "rho");
  check_dimension(dimension);
  const double sigma = bound / std::sqrt(2 * rho) * bound_factor(neighbours);
  const Grid grid = choose_grid(bound, sigma, n);
  return gaussian_plan(grid, dimension, sum_sensitivity(grid, neighbours, dimension), rho);
}

SumPlan laplace_sum_plan(double bound, double epsilon, std::size_t n, Neighbours neighbours,
                         std::size_t dimension) {
  check_budget(epsilon, "epsilon");
  check_dimension(dimension);
  const double root = std::sqrt(static_cast<double>(dimension));
  const double scale = bound / epsilon * root * bound_factor(neighbours);
  const Grid grid = choose_grid(bound, scale, n);
  return laplace_plan(grid, dimension, sum_sensitivity(grid, neighbours, dimension), epsilon);
}

SumPlan gaussian_count_plan(double rho, Neighbours neighbours, std::size_t cells) {
  return gaussian_plan(whole_numbers, cells, count_sensitivity(neighbours, cells), rho);
}

SumPlan laplace_count_plan(double epsilon, Neighbours neighbours, std::size_t cells) {
  return laplace_plan(whole_numbers, cells, count_sensitivity(neighbours, cells), epsilon);
}

SumPlan gaussian_joint_count_plan(double rho, std::size_t counts) {
  return gaussian_plan(whole_numbers, counts, joint_count_sensitivity(counts), rho);
}

SumPlan laplace_joint_count_plan(double epsilon, std::size_t counts) {
  return laplace_plan(whole_numbers, counts, joint_count_sensitivity(counts), epsilon);
}

// The variance of the discrete Gaussian is below its parameter (Canonne, Kamath and Steinke 2020,
// Corollary 9); that of the discrete Laplace is 2q / (1 - q)^2 with q = e^(-1/scale).
double noise_sd(const SumPlan &plan) {
  const double parameter =
      static_cast<double>(plan.noise.numerator) / static_cast<double>(plan.noise.denominator);
  const double steps = plan.law == NoiseLaw::gaussian
                           ? std::sqrt(parameter)
                           : 1 / (std::sqrt(2.0) * std::sinh(0.5 / parameter));
  return std::ldexp(steps, plan.grid.exponent);
}

} // namespace confide
