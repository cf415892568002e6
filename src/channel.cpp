#include "channel.h"
#include "certified_exp.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace confide {
namespace {

constexpr double words_per_row =
    9.2e18; // close to 2^63, which leaves room for what the repair adds
constexpr double largest_epsilon = 44;
constexpr double largest_move = 1e-9;
constexpr int largest_round_count = 60;

// A positive probability keeps at least one word: with none, the report would be impossible.
std::uint64_t weight_of(double probability) {
  if (!(probability > 0))
    return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(probability * words_per_row));
}

Eigen::MatrixXd normalised(const Probabilities &probabilities) {
  const Eigen::VectorXd sums = probabilities.rowwise().sum();
  const bool proper = probabilities.rows() > 0 && probabilities.cols() > 0 &&
                      (probabilities.array() >= 0).all() &&
                      ((sums.array() - 1).abs() <= 1e-6).all();
  if (!proper)
    throw std::invalid_argument("every row of a channel must hold probabilities that sum to 1");
  return probabilities.array().colwise() / sums.array();
}

// Row sums wide enough that they cannot wrap around.
std::vector<u128> row_sums(const Channel &channel) {
  std::vector<u128> sums(channel.rows, 0);
  for (std::size_t x = 0; x < channel.rows; ++x)
    for (std::size_t y = 0; y < channel.columns; ++y)
      sums[x] += channel.weights[x * channel.columns + y];
  return sums;
}

bool update_totals(Channel &channel) {
  const std::vector<u128> sums = row_sums(channel);
  if (*std::max_element(sums.begin(), sums.end()) > std::numeric_limits<std::uint64_t>::max())
    return false;
  channel.totals.assign(sums.begin(), sums.end());
  return true;
}

Channel integer_channel(const Eigen::MatrixXd &q) {
  Channel channel{static_cast<std::size_t>(q.rows()), static_cast<std::size_t>(q.cols()), {}, {}};
  channel.weights.reserve(channel.rows * channel.columns);
  for (Eigen::Index x = 0; x < q.rows(); ++x)
    for (Eigen::Index y = 0; y < q.cols(); ++y)
      channel.weights.push_back(weight_of(q(x, y)));
  if (!update_totals(channel))
    throw std::invalid_argument("the channel has too many columns");
  return channel;
}

// weight(x, y) * total(z): over the common denominator total(x) * total(z), the probability of y
// given x.
u128 cross(const Channel &channel, std::size_t x, std::size_t z, std::size_t y) {
  return static_cast<u128>(channel.weights[x * channel.columns + y]) * channel.totals[z];
}

// The rows under which a report is likeliest and least likely.
struct ColumnRange {
  std::size_t likeliest = 0, rarest = 0;
};

std::vector<ColumnRange> column_ranges(const Channel &channel) {
  std::vector<ColumnRange> ranges(channel.columns);
  for (std::size_t x = 1; x < channel.rows; ++x) {
    for (std::size_t y = 0; y < channel.columns; ++y) {
      ColumnRange &range = ranges[y];
      if (cross(channel, x, range.likeliest, y) > cross(channel, range.likeliest, x, y))
        range.likeliest = x;
      if (cross(channel, x, range.rarest, y) < cross(channel, range.rarest, x, y))
        range.rarest = x;
    }
  }
  return ranges;
}

// The worst likelihood ratio of a report is high / low.
struct Ratio {
  u128 high, low;
};

Ratio worst_ratio(const Channel &channel, const ColumnRange &range, std::size_t y) {
  return {cross(channel, range.likeliest, range.rarest, y),
          cross(channel, range.rarest, range.likeliest, y)};
}

double certified_epsilon(const Ratio &ratio) {
  if (ratio.low == 0)
    return ratio.high == 0 ? 0 : std::numeric_limits<double>::infinity();
  return confide::certified_epsilon(ratio.high, ratio.low);
}

double log_ratio(const Ratio &ratio) {
  if (ratio.low == 0)
    return ratio.high == 0 ? 0 : std::numeric_limits<double>::infinity();
  const auto low = static_cast<long double>(ratio.low);
  return static_cast<double>(std::log1p(static_cast<long double>(ratio.high - ratio.low) / low));
}

bool has_equal_zero_patterns(const Channel &channel) {
  for (std::size_t i = channel.columns; i < channel.weights.size(); ++i)
    if ((channel.weights[i] == 0) != (channel.weights[i % channel.columns] == 0))
      return false;
  return true;
}

std::vector<std::size_t> violating_columns(const Channel &channel, const ExpBound &bound,
                                           const std::vector<ColumnRange> &ranges) {
  std::vector<std::size_t> violating;
  for (std::size_t y = 0; y < channel.columns; ++y) {
    const Ratio ratio = worst_ratio(channel, ranges[y], y);
    if (!at_most_times(ratio.high, bound, ratio.low))
      violating.push_back(y);
  }
  return violating;
}

// The smallest weight of y given x that is certified against row `likeliest`, at present totals:
// ceil(weight(likeliest, y) * total(x) / (L * total(likeliest))), found by halving. `high` is
// enough since L >= 1.
std::uint64_t least_certified_weight(const Channel &channel, const ExpBound &bound,
                                     std::size_t likeliest, std::size_t x, std::size_t y) {
  const u128 target = cross(channel, likeliest, x, y);
  const u128 total = channel.totals[likeliest];
  u128 low = channel.weights[x * channel.columns + y]; // not enough
  u128 high = target / total + 1;
  while (high - low > 1) {
    const u128 middle = low + (high - low) / 2;
    if (at_most_times(target, bound, middle * total))
      high = middle;
    else
      low = middle;
  }
  return static_cast<std::uint64_t>(high);
}

// Raises what is too rare in one column; totals stay as they are until all columns are done.
void repair_column(Channel &channel, const ExpBound &bound, std::size_t likeliest, std::size_t y) {
  for (std::size_t x = 0; x < channel.rows; ++x) {
    const u128 high = cross(channel, likeliest, x, y);
    if (!at_most_times(high, bound, cross(channel, x, likeliest, y)))
      channel.weights[x * channel.columns + y] =
          least_certified_weight(channel, bound, likeliest, x, y);
  }
}

// The largest L1 distance between a row of the channel and the row that was given.
double largest_row_move(const Channel &channel, const Eigen::MatrixXd &q) {
  double largest = 0;
  for (std::size_t x = 0; x < channel.rows; ++x) {
    const auto total = static_cast<double>(channel.totals[x]);
    double move = 0;
    for (std::size_t y = 0; y < channel.columns; ++y) {
      const auto weight = static_cast<double>(channel.weights[x * channel.columns + y]);
      move +=
          std::abs(weight / total - q(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(y)));
    }
    largest = std::max(largest, move);
  }
  return largest;
}

// O(rows * columns) a round. Without the refusal a channel that is not private would silently
// become another one.
void repair(Channel &channel, const ExpBound &bound, const Eigen::MatrixXd &q) {
  for (int round = 0; round <= largest_round_count; ++round) {
    const std::vector<ColumnRange> ranges = column_ranges(channel);
    const std::vector<std::size_t> violating = violating_columns(channel, bound, ranges);
    if (violating.empty())
      return;
    for (const std::size_t y : violating)
      repair_column(channel, bound, ranges[y].likeliest, y);
    if (!update_totals(channel) || largest_row_move(channel, q) > largest_move)
      throw NotPrivate();
  }
  throw NotPrivate();
}

bool is_well_formed(const Channel &channel) {
  const bool sized = channel.rows > 0 && channel.columns > 0 &&
                     channel.totals.size() == channel.rows &&
                     channel.weights.size() / channel.columns == channel.rows &&
                     channel.weights.size() % channel.columns == 0;
  if (!sized)
    return false;
  const std::vector<u128> sums = row_sums(channel);
  for (std::size_t x = 0; x < channel.rows; ++x)
    if (sums[x] != channel.totals[x] || sums[x] == 0)
      return false;
  return true;
}

} // namespace

ChannelLoss channel_loss(const Channel &channel) {
  const std::vector<ColumnRange> ranges = column_ranges(channel);
  ChannelLoss loss{0, 0};
  for (std::size_t y = 0; y < channel.columns; ++y) {
    const Ratio ratio = worst_ratio(channel, ranges[y], y);
    loss.epsilon = std::max(loss.epsilon, certified_epsilon(ratio));
    loss.worst_log_ratio = std::max(loss.worst_log_ratio, log_ratio(ratio));
  }
  loss.worst_log_ratio = std::min(loss.worst_log_ratio, loss.epsilon);
  return loss;
}

CertifiedChannel certify_channel(const Probabilities &probabilities) {
  Channel channel = integer_channel(normalised(probabilities));
  const ChannelLoss loss = channel_loss(channel);
  return {std::move(channel), loss.epsilon, loss.worst_log_ratio};
}

CertifiedChannel certify_channel(const Probabilities &probabilities, double epsilon) {
  const Eigen::MatrixXd q = normalised(probabilities);
  Channel channel = integer_channel(q);
  if (!has_equal_zero_patterns(channel))
    throw NotPrivate();
  const double served = std::min(epsilon, largest_epsilon);
  repair(channel, exp_lower(served), q);
  const double worst = std::min(channel_loss(channel).worst_log_ratio, served);
  return {std::move(channel), served, worst};
}

bool is_certified(const Channel &channel, double epsilon) {
  if (!(epsilon >= 0) || !is_well_formed(channel))
    return false;
  if (std::isinf(epsilon))
    return true;
  const ExpBound bound = exp_lower(std::min(epsilon, largest_epsilon));
  return violating_columns(channel, bound, column_ranges(channel)).empty();
}

ChannelSampler channel_sampler(const Channel &channel) {
  ChannelSampler sampler{channel.columns, channel.weights};
  for (std::size_t i = 0; i < sampler.cumulative.size(); ++i)
    if (i % channel.columns != 0)
      sampler.cumulative[i] += sampler.cumulative[i - 1];
  return sampler;
}

std::uint32_t report(std::uint32_t truth, const ChannelSampler &sampler, RandomSource &random) {
  const std::uint64_t *row = sampler.cumulative.data() + truth * sampler.columns;
  const std::uint64_t u = random.below(row[sampler.columns - 1]);
  return static_cast<std::uint32_t>(std::upper_bound(row, row + sampler.columns, u) - row);
}

} // namespace confide
