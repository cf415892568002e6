#pragma once
#include "noise.h"
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace confide {

// The grid and the noise of sums and counts under central differential privacy, chosen from public
// arguments alone. Every claim is checked in integers; doubles only choose the grid.

// Sums of integers are kept within +-2^61.
constexpr std::int64_t sum_limit = std::int64_t{1} << 61;

// add_remove: one record more or less. replace: one record becomes any other. zero_out: one record
// becomes the zero vector.
enum class Neighbours { add_remove, replace, zero_out };

// gaussian: rho-zCDP, `noise` is the variance p/q. laplace: epsilon-DP, `noise` is the scale.
enum class NoiseLaw { gaussian, laplace };

// No noise in the range of the samplers serves these public arguments. The text says which and why.
struct PlanRefused : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Where records are rounded to: integer vectors k with sum k_i^2 <= bound_squared, which is
// floor((bound / gamma)^2).
struct Grid {
  int exponent;
  double bound; // in the units of the data
  u128 bound_squared;
};

// How far one person moves an integer sum.
struct Sensitivity {
  u128 l2_squared;
  std::uint64_t l1;
};

// Everything here comes from public arguments. `asked` and `realised` are rho or epsilon; realised
// is exact, rounded up, and never above asked.
struct SumPlan {
  Grid grid;
  std::size_t dimension;
  Sensitivity sensitivity;
  NoiseLaw law;
  Rational noise; // in grid units
  double asked, realised;
};

// Sums of records clipped to Euclidean norm `bound` in `dimension` columns, at most n of them (n
// only chooses the grid; for add_remove it must be a public limit, not the number of records).
SumPlan gaussian_sum_plan(double bound, double rho, std::size_t n, Neighbours neighbours,
                          std::size_t dimension);
SumPlan laplace_sum_plan(double bound, double epsilon, std::size_t n, Neighbours neighbours,
                         std::size_t dimension);

// Counts of records in `cells` disjoint cells (1: the records for which something is true).
SumPlan gaussian_count_plan(double rho, Neighbours neighbours, std::size_t cells);
SumPlan laplace_count_plan(double epsilon, Neighbours neighbours, std::size_t cells);

// Counts of which one record can move each by one, for either relation: `counts` of them.
SumPlan gaussian_joint_count_plan(double rho, std::size_t counts);
SumPlan laplace_joint_count_plan(double epsilon, std::size_t counts);

// For other integer queries: the least noise the samplers offer with l2_squared <= 2 rho p/q, or l1
// <= epsilon * scale, in exact integers. Denominators are powers of two. Throw PlanRefused.
Rational gaussian_variance(u128 l2_squared, double rho);
Rational laplace_scale(std::uint64_t l1, double epsilon);

// The smallest double that is at least l2_squared / (2 variance), or l1 / scale, for noise that the
// functions above chose.
double realised_rho(u128 l2_squared, const Rational &variance);
double realised_epsilon(std::uint64_t l1, const Rational &scale);

// Standard deviation of the noise in the units of the data, for intervals: post-processing.
double noise_sd(const SumPlan &plan);

} // namespace confide
