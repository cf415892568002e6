#pragma once
#include "grid.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// Sums of outer products under zCDP. A record of norm at most 1 is rounded toward zero to an
// integer vector k with sum k_i^2 <= B = m^2; k k' is exact. For two such vectors ||k k' - l
// l'||_F^2 = |k|^4 + |l|^4 - 2 (k'l)^2 <= 2 B^2, so that replacing a record moves the sum by at
// most sqrt(2) B in the Frobenius norm, and taking one out by B. An entry off the diagonal counts
// twice in this norm and is released once: it gets the variance s^2 / 2, the diagonal s^2 (an even
// integer). The divergence is then at most alpha sensitivity^2 / (2 s^2), for integer shifts
// exactly (Canonne, Kamath and Steinke 2020, Proposition 5).
struct ScatterPlan {
  std::int64_t steps;          // m, at most 2^20
  u128 sensitivity_squared;    // 2 B^2 or B^2
  std::uint64_t half_variance; // s^2 / 2
  double realised;             // rho, exact, rounded up
};

// The largest m for which s is at most 2^25 grid steps and n records stay below n m^2 < 2^61, so
// that no sum overflows. Throws PlanRefused.
ScatterPlan scatter_plan(double rho, std::size_t n, Neighbours neighbours);

// Upper triangle, column by column, of the exact sum of k k' over the columns y of `records`, k the
// rounded (y - centre) / radius clipped to the unit ball. A column whose norm is not a number is
// absent and adds nothing.
std::vector<std::int64_t> scatter_sum(const Eigen::Ref<const Eigen::MatrixXd> &records,
                                      const Eigen::Ref<const Eigen::VectorXd> &centre,
                                      double radius, const ScatterPlan &plan,
                                      const std::function<void()> &interrupt);

// The same of the directions A w / |A w| of the differences w of columns 1 and 2, 3 and 4, ...; a
// pair that differs by nothing, or with an absent column, adds nothing.
std::vector<std::int64_t> sign_scatter_sum(const Eigen::Ref<const Eigen::MatrixXd> &records,
                                           const Eigen::Ref<const Eigen::MatrixXd> &transform,
                                           const ScatterPlan &plan,
                                           const std::function<void()> &interrupt);

// The noisy sum, symmetric, in units of 1 / B.
Eigen::MatrixXd noisy_scatter(const std::vector<std::int64_t> &units, Eigen::Index dimension,
                              const ScatterPlan &plan, RandomSource &random);

bool within_scatter_sensitivity(const std::vector<std::int64_t> &units,
                                const std::vector<std::int64_t> &other, const ScatterPlan &plan);

} // namespace confide
