#pragma once
#include "random.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace confide {

// A channel in whole words: given true symbol x, report y has probability weights[x * columns + y]
// / totals[x].
struct Channel {
  std::size_t rows, columns;
  std::vector<std::uint64_t> weights; // row-major
  std::vector<std::uint64_t> totals;  // row sums
};

struct CertifiedChannel {
  Channel channel;
  double epsilon;         // proved by integer arithmetic
  double worst_log_ratio; // to double precision, never above epsilon
};

struct NotPrivate : std::runtime_error {
  NotPrivate() : std::runtime_error("the channel is not eps-LDP for this eps") {}
};

using Probabilities = Eigen::Ref<const Eigen::MatrixXd>;

// Both take a matrix with one row per true symbol and one column per report, whose rows are
// probabilities that sum to 1 within 1e-8; rows are divided by their sums. Throws
// std::invalid_argument when a row cannot be a distribution.

// The channel as given with the epsilon that it has: infinite when some report is possible under
// one symbol only.
CertifiedChannel certify_channel(const Probabilities &probabilities);

// The channel for an epsilon >= 0 that was asked (above 44 served as 44). Excess that comes from
// rounding is repaired; NotPrivate when that moves a row by more than 1e-9 in total.
CertifiedChannel certify_channel(const Probabilities &probabilities, double epsilon);

// Whether the weights are those of a channel (also after a stay in a file) and no report is more
// than e^epsilon times likelier under one symbol than under another; exact.
bool is_certified(const Channel &channel, double epsilon);

// What the weights give, whatever was asked for.
struct ChannelLoss {
  double epsilon;         // proved by integer arithmetic
  double worst_log_ratio; // to double precision, never above epsilon
};

ChannelLoss channel_loss(const Channel &channel);

// Row-major sums of the weights up to and including each column.
struct ChannelSampler {
  std::size_t columns;
  std::vector<std::uint64_t> cumulative;
};

ChannelSampler channel_sampler(const Channel &channel);

// One report for the true symbol (both from 0); O(log columns).
std::uint32_t report(std::uint32_t truth, const ChannelSampler &sampler, RandomSource &random);

} // namespace confide
