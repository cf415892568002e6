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

// An attribute whose replaced answers follow a known distribution q. Two of its levels decide: the
// one that q gives least often tells most, at the claimed epsilon = log(1 + kept / rarest).
struct KnownNoise {
  double epsilon; // infinite where rarest is 0
  double kept;    // lambda
  double rarest;  // (1 - lambda) times the least probability of q
  double second;  // the same of the least but one
};

// The law of one answer's privacy loss for two true values u and v: `up` at report u, -`down` at
// report v, 0 elsewhere. `up` may be infinite.
struct LossPair {
  double up, down;
  double at_up, at_none, at_down; // probabilities under u
};

// The pairs of true values of an attribute that no other exceeds at any epsilon, negative ones
// included, and a pair of distributions above both.
//
// With c_u = (1 - lambda) q_u the hockey-stick divergence of (u, v) at gamma is
// (lambda - (gamma - 1) c_u)_+ for gamma >= 1 and max(1 - gamma, lambda + (1 - gamma)
// (1 - lambda - c_v)) below: it falls in c_u and in c_v. So (rarest, second) or (second, rarest) is
// above every pair of two levels, and what has both c equal to the rarest is above these; that is a
// law too, since 1 - lambda - 2 c >= 0. Divergences that dominate at every gamma still do after
// composition (Zhu, Dong and Wang 2022), so a record's worst case is one of the products.
struct WorstPairs {
  LossPair forward, backward, bound;
};
WorstPairs worst_pairs(const Response &response);
WorstPairs worst_pairs(const KnownNoise &noise);

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
  std::size_t support = std::size_t{1} << 18;  // atoms of an exact composition
  std::size_t grid = std::size_t{1} << 18;     // intervals of the grid that replaces a larger one
  std::size_t products = std::size_t{1} << 21; // atoms of all products of worst pairs
};

// Independent answers composed. Exact up to rounding while the support is within the limit;
// otherwise on a grid whose pair of distributions dominates the true one. O(m^2) for m like
// attributes, O(groups * grid) at worst.
LossDistribution compose(const std::vector<Response> &attributes, const CompositionLimits &limits,
                         const std::function<void()> &interrupt);

// With known noise the worst product of pairs may change with epsilon: all of them, each composed.
// When they have more atoms than the limit, the single product of the bounds, which is above all.
std::vector<LossDistribution> compose_worst(const std::vector<Response> &uniform,
                                            const std::vector<KnownNoise> &noisy,
                                            const CompositionLimits &limits,
                                            const std::function<void()> &interrupt);

// The smallest delta with which the loss is epsilon-bounded, for epsilon >= 0; never too small.
double delta_at(const LossDistribution &losses, double epsilon);

// The smallest epsilon at a delta in [0, 1); never too small, and at most `largest`.
double epsilon_at(const LossDistribution &losses, double delta);

// The Renyi divergence of order alpha > 1 (infinite included) between the reports of two levels,
// the worst two.
double renyi_divergence(const Response &response, double alpha);
double renyi_divergence(const KnownNoise &noise, double alpha);

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
