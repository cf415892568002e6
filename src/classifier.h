#pragma once
#include "grid.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// A linear classifier, softmax(W phi), learnt with privacy. Records are columns phi of norm at most
// `bound`, with labels 0, ..., classes - 1; W is classes x features.

// A view: the features belong to the caller.
struct LabelledRecords {
  Eigen::Map<const Eigen::MatrixXd> features; // features x records
  std::vector<std::int32_t> labels;
};

// The grid of features: 2^16 to 2^17 steps to the bound. The largest integer vector on it is no
// longer than the bound.
Grid feature_grid(double bound);

// One row of the data to a column of features, clipped to the bound and rounded to the grid.
// Depends on the row only.
Eigen::MatrixXd clipped_features(const Eigen::Ref<const Eigen::MatrixXd> &rows, const Grid &grid);

// The exact sums of each class's records in steps of the grid, classes x features: one record moves
// them by at most sqrt(grid.bound_squared). Exact for fewer than 2^31 records: the integers stay
// below 2^48.
Eigen::MatrixXd class_sums(const LabelledRecords &records, std::size_t classes, const Grid &grid);

// softmax(W phi) minus the indicator of the label. Plain loops: a sum by packets would depend on
// where the record lies in memory, and a neighbour moves the others.
void softmax_residual(const Eigen::MatrixXd &weights, const double *features, std::int32_t label,
                      std::vector<double> &residual);

// Noisy gradient descent (Abadi et al. 2016). A record's gradient, the outer product of its
// residual and its features, is clipped to grid.bound and rounded, so that its integer vector g
// has |g|^2 <= grid.bound_squared, checked in integers by round_record(). Weights that overflowed
// give gradients of NaN, which are rounded to 0.
//
// Each record is in the sum on its own with probability q. Against the data without record x, the
// release is a mixture: given who else is in, either the discrete Gaussian law Q on the whole
// numbers, moved by the others' sum, or with probability q that law moved by g further, P. Renyi
// divergences are quasi-convex, so the worst case is Q against M = (1 - q) Q + q P. With r = P / Q
// and variance s^2,
//   E_Q r^k = exp((k^2 - k) |g|^2 / (2 s^2)) for whole k,
// exactly, since sum over y of exp(-|y - k g|^2 / (2 s^2)) is the same for every whole vector k g.
// So for whole alpha E_Q (M / Q)^alpha is the binomial sum of the continuous law (Mironov, Talwar
// and Zhang 2019) at noise s / |g|, and grows with |g|. It also grows with q, being convex in q
// with slope 0 at q = 0: a rate rounded down is covered.
//
// Adding a record costs no more than taking one away. Turning y into g - y exchanges P and Q, so
// pairs of points have weights 1 and r under Q and values a = 1 - q + q r and b = 1 - q + q / r of
// M / Q, with r >= 1, a >= 1 >= b and a b >= 1. With m the value and L = log m the claim
//   E m^alpha >= E m^(1 - alpha) is E m^(1/2) sinh((alpha - 1/2) L) >= 0
// on each pair. On each pair the mean of m is 1, so E m^(1/2) sinh(L / 2) = 0: its two terms are
// opposite. The quotient sinh((alpha - 1/2) L) / sinh(L / 2) is even and grows with |L|, and
// log a >= |log b|, so the positive term wins.

// `threshold` is the rate in units of 2^-64, 2^64 for everybody.
u128 rate_threshold(double rate);

// The exact integer sum of the clipped gradients of those in the sample: private.
std::vector<std::int64_t> sampled_gradient(
    const LabelledRecords &records, const Eigen::MatrixXd &weights, const Grid &grid,
    u128 threshold, RandomSource &random, const std::function<void()> &interrupt = [] {});

// Each record's integers, for tests and audits.
std::vector<std::vector<std::int64_t>>
record_gradients(const LabelledRecords &records, const Eigen::MatrixXd &weights, const Grid &grid);

// Whether one data set is the other and at most one record more, whose gradient is within the
// bound.
bool one_gradient_apart(const std::vector<std::vector<std::int64_t>> &gradients,
                        const std::vector<std::vector<std::int64_t>> &other, const Grid &grid);

// The minimum of F(W) = sum of losses + penalty / 2 |W|^2, up to a gradient of norm at most
// `tolerance`. F is strongly convex: the exact minima W* of neighbours (one record more) are within
// sqrt(2) bound / penalty, since a record's gradient is at most sqrt(2) |phi| long; a W with
// gradient g is within g / penalty of its W*. Hence the sensitivity (sqrt(2) bound + 2 tolerance) /
// penalty; by two such steps twice that when one record is replaced.
struct ConvexHead {
  Eigen::MatrixXd weights;
  double gradient_norm;   // a bound of the exact norm, rounding included
  std::size_t iterations; // gradients computed
  bool reached;
};

// Accelerated gradient steps (Nesterov 2004, constant step scheme), at most `iteration_limit()` of
// them: enough for any data, so a failure is a matter of rounding (some 10^7 records). O(records *
// classes * features) each.
ConvexHead fit_convex_head(
    const LabelledRecords &records, std::size_t classes, double bound, double penalty,
    double tolerance, const std::function<void()> &interrupt = [] {});

// After so many steps half the tolerance is reached, by the rate of the scheme: with D = F(0) - F*
// <= n log K, L the smoothness and kappa = L / penalty, the norm after k steps is at most
// 6 L sqrt(D / penalty) (1 - kappa^(-1/2))^((k - 1) / 2).
std::size_t iteration_limit(double records, std::size_t classes, double bound, double penalty,
                            double tolerance);

// Gradient of F, by blocks of records.
Eigen::MatrixXd head_gradient(const LabelledRecords &records, const Eigen::MatrixXd &weights,
                              double penalty);

} // namespace confide
