#pragma once
#include "random.h"
#include "sum_plan.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// Sums and counts under central differential privacy. Each record is rounded to a grid of step
// gamma = 2^exponent, integers are added, integer noise is added, and the result becomes a double
// once (Canonne, Kamath and Steinke 2020, Proposition 5: integer shifts keep the Gaussian's bound).

// One record of `dimension` doubles, clipped and rounded toward zero, into `units`. Depends on the
// record and the grid only; NaN and infinities give the zero vector. Never throws.
void round_record(const double *record, std::size_t dimension, const Grid &grid,
                  std::int64_t *units);

// The exact integer sum of the rounded rows: private. Limited to [-2^61, 2^61], which n records of
// the plan never reach. `interrupt` is called now and then and may throw.
std::vector<std::int64_t> grid_sum(
    const Eigen::Ref<const Eigen::MatrixXd> &values, const Grid &grid,
    const std::function<void()> &interrupt = [] {});

// Whether two integer answers are no further apart than the plan says of neighbours.
bool within_sensitivity(const std::vector<std::int64_t> &units,
                        const std::vector<std::int64_t> &other, const Sensitivity &sensitivity);

// One integer of noise a call, at most 2^62 in absolute value. A test or a replay may put recorded
// integers in its place.
using Noise = std::function<std::int64_t()>;

// Keeps a reference to the source.
Noise plan_noise(const SumPlan &plan, RandomSource &random);

// The releases: integers, such as counts or a grid_sum(), plus one call of `noise` each, times the
// step of the grid. There must be plan.dimension of them.
Eigen::VectorXd noisy_integers(const std::vector<std::int64_t> &units, const SumPlan &plan,
                               const Noise &noise);
Eigen::VectorXd noisy_integers(const std::vector<std::int64_t> &units, const SumPlan &plan,
                               RandomSource &random);
Eigen::VectorXd noisy_sum(const Eigen::Ref<const Eigen::MatrixXd> &values, const SumPlan &plan,
                          const Noise &noise);
Eigen::VectorXd noisy_sum(const Eigen::Ref<const Eigen::MatrixXd> &values, const SumPlan &plan,
                          RandomSource &random);

} // namespace confide
