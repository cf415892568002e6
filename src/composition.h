#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <vector>

namespace confide {

// k-ary randomized response of one attribute: the truth is e^epsilon times likelier to be reported
// than each other level. epsilon >= 0, may be infinite; levels >= 2.
struct Response {
  double epsilon, levels;
};

// A value of the privacy loss log(P(report) / Q(report)) and an upper bound of its probability
// under P.
struct LossAtom {
  double loss, probability;
};

// The positive privacy losses of a record whose answers all change, the worst case of a product
// channel. Everything is rounded up, so the profile of the true loss lies below.
struct LossDistribution {
  std::vector<LossAtom> atoms; // losses descending
  double largest;              // the sum of the epsilons: delta is 0 from there on
};

struct CompositionLimits {
  std::size_t support = std::size_t{1} << 18; // atoms of an exact composition
  std::size_t grid = std::size_t{1} << 18;    // intervals of the grid that replaces a larger one
};

// Independent answers composed. Exact up to rounding while the support is within the limit;
// otherwise on a grid whose pair of distributions dominates the true one. O(m^2) for m like
// attributes, O(groups * grid) at worst.
LossDistribution compose(std::vector<Response> attributes, const CompositionLimits &limits,
                         const std::function<void()> &interrupt);

// The smallest delta with which the loss is epsilon-bounded, for epsilon >= 0; never too small.
double delta_at(const LossDistribution &losses, double epsilon);

// The smallest epsilon at a delta in [0, 1); never too small, and at most `largest`.
double epsilon_at(const LossDistribution &losses, double delta);

// The Renyi divergence of order alpha > 1 (infinite included) between the reports of two levels.
double renyi_divergence(const Response &response, double alpha);

// The same of any channel, one row per true value, in the worst case over pairs of rows. O(rows^2 *
// columns). `largest` is the channel's own epsilon.
struct ChannelView {
  Eigen::Ref<const Eigen::MatrixXd> probabilities;
  double largest;
};
double delta_at(const ChannelView &channel, double epsilon, const std::function<void()> &interrupt);
double epsilon_at(const ChannelView &channel, double delta, const std::function<void()> &interrupt);
double renyi_divergence(const ChannelView &channel, double alpha,
                        const std::function<void()> &interrupt);

struct ChannelDivergences {
  double kullback_leibler, chi_squared;
};
ChannelDivergences channel_divergences(const ChannelView &channel,
                                       const std::function<void()> &interrupt);

} // namespace confide
