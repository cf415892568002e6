#pragma once
#include <Eigen/Core>

namespace confide {

// The smallest double at or above the exact sum of numbers that are at least 0: privacy parameters
// add up, and a claim may not be rounded down. Exact sums stay as they are.
double sum_rounded_up(const Eigen::Ref<const Eigen::VectorXd> &values);

} // namespace confide
