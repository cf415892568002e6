#include "brownian.h"
#include <algorithm>
#include <cmath>

namespace confide {
namespace {

constexpr int grid_digits = 24; // the noise is 2^24 to 2^26 grid steps wide
constexpr double outward = 1 + 0x1p-50;

void check_query(const RefinedQuery &query) {
  if (!(query.sensitivity > 0) || !std::isfinite(query.sensitivity) || query.dimension == 0)
    throw PlanRefused("the sensitivity must be a finite number above 0");
}

// Noise of standard deviation sd has the grid 2^(floor(log2 sd) - 24).
int grid_exponent(const RefinedQuery &query, double sd) {
  if (query.whole)
    return 0;
  if (!(sd > 0x1p-800) || !(sd < 0x1p800))
    throw PlanRefused("the sensitivity and the privacy parameter leave the range of the noise");
  return std::ilogb(sd) - grid_digits;
}

// An upper bound of the squared distance of neighbours in grid steps. Whole numbers: a whole number
// at most the squared sensitivity. Otherwise rounding moves each coordinate by less than one step.
u128 squared_distance(const RefinedQuery &query, int exponent) {
  if (query.whole) {
    const double square = query.sensitivity * query.sensitivity * outward;
    if (!(square < 0x1p100))
      throw PlanRefused("the sensitivity is too large");
    if (square < 1)
      throw PlanRefused("whole numbers move by at least 1: the sensitivity is too small");
    return static_cast<u128>(square);
  }
  const double steps =
      std::ldexp(query.sensitivity, -exponent) + std::sqrt(static_cast<double>(query.dimension));
  const double square = std::ceil(steps * steps * outward);
  if (!(square < 0x1p100))
    throw PlanRefused("the noise is too small for the sensitivity");
  return static_cast<u128>(square);
}

} // namespace

SumPlan refinement_plan(const RefinedQuery &query, double rho) {
  check_query(query);
  const int exponent = grid_exponent(query, query.sensitivity / std::sqrt(2 * rho));
  const u128 l2_squared = squared_distance(query, exponent);
  const Rational variance = gaussian_variance(l2_squared, rho);
  const Sensitivity sensitivity{
      l2_squared, static_cast<std::uint64_t>(floor_sqrt(l2_squared * query.dimension))};
  return {{exponent, 0, 0},
          query.dimension,
          sensitivity,
          NoiseLaw::gaussian,
          variance,
          rho,
          realised_rho(l2_squared, variance)};
}

double refinement_rho(const RefinedQuery &query, double precision) {
  check_query(query);
  const int exponent = grid_exponent(query, 1 / std::sqrt(precision));
  const auto square = static_cast<double>(squared_distance(query, exponent));
  return std::ldexp(square, 2 * exponent) * precision / 2;
}

double plan_precision(const SumPlan &plan) {
  const double steps =
      static_cast<double>(plan.noise.denominator) / static_cast<double>(plan.noise.numerator);
  return std::ldexp(steps, -2 * plan.grid.exponent);
}

std::vector<std::int64_t> nearest_units(const std::vector<double> &values, int exponent) {
  constexpr auto limit = static_cast<double>(sum_limit);
  std::vector<std::int64_t> units;
  units.reserve(values.size());
  for (const double value : values) {
    const double steps = std::clamp(std::ldexp(value, -exponent), -limit, limit);
    const double below = std::floor(steps);
    units.push_back(static_cast<std::int64_t>(below) + (steps - below >= 0.5 ? 1 : 0));
  }
  return units;
}

void RefinedMean::add(const Eigen::Ref<const Eigen::VectorXd> &measured, double weight) {
  const double total = precision + weight;
  if (precision == 0)
    estimate = measured;
  else
    estimate += (weight / total) * (measured - estimate);
  precision = total;
}

} // namespace confide
