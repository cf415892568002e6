#include "spr_search.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace confide::spr {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The gains g of the blocks [begin, end), begin = first .. end - 1.
class GainRow {
public:
  GainRow(const Alphabet &alphabet, const Perspective &perspective)
      : alphabet_(alphabet), perspective_(perspective), p_(alphabet.size()), q_(alphabet.size()),
        gains_(alphabet.size()) {}
  const double *compute(std::size_t first, std::size_t end) {
    const std::size_t n = end - first;
    for (std::size_t i = 0; i < n; ++i) {
      p_[i] = alphabet_.p.between(first + i, end);
      q_[i] = alphabet_.q.between(first + i, end);
    }
    evaluate(perspective_, p_.data(), q_.data(), gains_.data(), n);
    return gains_.data();
  }

private:
  const Alphabet &alphabet_;
  const Perspective &perspective_;
  std::vector<double> p_, q_, gains_;
};

struct Best {
  std::size_t begin = 0;
  double value = minus_infinity;
};

// max over begin of before[begin] + gains[begin]; the first of equals, hence the longest block.
Best best_begin(const double *before, const double *gains, std::size_t n) {
  // Four independent maxima, so that the comparisons need not wait for each other.
  Best lanes[4];
  const std::size_t whole = n - n % 4;
  for (std::size_t i = 0; i < whole; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const double value = before[i + lane] + gains[i + lane];
      if (value > lanes[lane].value)
        lanes[lane] = {i + lane, value};
    }
  for (std::size_t i = whole; i < n; ++i) {
    const double value = before[i] + gains[i];
    if (value > lanes[i - whole].value)
      lanes[i - whole] = {i, value};
  }
  Best best = lanes[0];
  for (const Best &lane : lanes)
    if (lane.value > best.value || (lane.value == best.value && lane.begin < best.begin))
      best = lane;
  return best;
}

// max over partitions of the sum of (g - trial).
struct Pass {
  std::vector<std::size_t> starts;
  double sum;
};

Pass best_without_count(const Alphabet &alphabet, const Perspective &perspective, double trial,
                        Pacer &pacer) {
  const std::size_t k = alphabet.size();
  GainRow gains(alphabet, perspective);
  StartWindow window;
  std::vector<double> best(k + 1, 0);
  std::vector<std::uint32_t> begin(k + 1, 0);
  for (std::size_t end = 1; end <= k; ++end) {
    const std::size_t first = window.first;
    const double *const row = gains.compute(first, end);
    const Best found = best_begin(best.data() + first, row, end - first);
    best[end] = found.value - trial;
    begin[end] = static_cast<std::uint32_t>(first + found.begin);
    window.shrink(alphabet, perspective.c, begin[end], end);
    pacer.spend(end - first);
  }
  Pass pass{{}, best[k]};
  for (std::size_t end = k; end > 0; end = begin[end])
    pass.starts.push_back(begin[end]);
  std::reverse(pass.starts.begin(), pass.starts.end());
  return pass;
}

} // namespace

double partition_mean(const Alphabet &alphabet, const Perspective &perspective,
                      const std::vector<std::size_t> &starts) {
  const BlockMasses masses = block_masses(alphabet, starts);
  std::vector<double> gains(starts.size());
  evaluate(perspective, masses.p.data(), masses.q.data(), gains.data(), gains.size());
  PrefixSum sum;
  for (const double gain : gains)
    sum.add(gain);
  return sum.high.back() / (perspective.c + static_cast<double>(starts.size()));
}

Perspective perspective_on(const Alphabet &alphabet, const Divergence &divergence, double c) {
  // Only a Renyi order that might overflow needs the ratio.
  const bool large =
      divergence.kind == DivergenceKind::renyi && (divergence.parameter - 1) * std::log1p(c) > 600;
  return perspective_of(divergence, c, large ? most_telling_top_set(alphabet, c).log_ratio : 0);
}

void StartWindow::shrink(const Alphabet &alphabet, double c, std::size_t best_start,
                         std::size_t end) {
  if (end >= alphabet.size())
    return;
  const double z_p = 1 + c * alphabet.p.between(best_start, end);
  const double z_q = 1 + c * alphabet.q.between(best_start, end);
  if (z_p * alphabet.q.between(end, end + 1) > z_q * alphabet.p.between(end, end + 1))
    return;
  while (first < best_start &&
         alphabet.p.between(first, best_start) * z_q <= alphabet.q.between(first, best_start) * z_p)
    ++first;
}

Partition best_partition(const Alphabet &alphabet, const Perspective &perspective,
                         const std::vector<std::size_t> &starts, Pacer &pacer) {
  Partition best{starts, partition_mean(alphabet, perspective, starts)};
  const double one_block = partition_mean(alphabet, perspective, {0});
  if (one_block >= best.mean)
    best = {{0}, one_block};
  if (alphabet.size() < 2)
    return best;
  constexpr int most_passes = 100; // two to four are usual
  for (int pass_number = 0; pass_number < most_passes; ++pass_number) {
    const double trial = best.mean;
    Pass pass = best_without_count(alphabet, perspective, trial, pacer);
    const double mean = partition_mean(alphabet, perspective, pass.starts);
    if (!(mean > trial))
      return best;
    const double s = static_cast<double>(pass.starts.size());
    best = {std::move(pass.starts), mean};
    // The pass bounds the optimum by trial + excess / (c + 2), and its own mean is
    // trial + excess / (c + s): no further pass where the two agree to rounding.
    const double c = perspective.c, excess = pass.sum - trial * c;
    if (excess * (1 / (c + 2) - 1 / (c + s)) <= 0x1p-52 * std::fabs(mean))
      return best;
  }
  return best;
}

Partition best_partition_at_most(const Alphabet &alphabet, const Perspective &perspective,
                                 std::size_t max_blocks, Pacer &pacer) {
  const std::size_t k = alphabet.size(), limit = std::min(max_blocks, k), width = k + 1;
  GainRow gains(alphabet, perspective);
  // best[(s - 1) * width + end] is V_s(end), begin its back-pointer.
  std::vector<double> best(limit * width, minus_infinity);
  std::vector<std::uint32_t> begin(limit * width, 0);
  std::vector<StartWindow> windows(limit + 1); // by s; one block starts at 0
  const PrefixSum &p = alphabet.p, &q = alphabet.q;
  for (std::size_t end = 1; end <= k; ++end) {
    const double whole_p = p.between(0, end), whole_q = q.between(0, end);
    evaluate(perspective, &whole_p, &whole_q, &best[end], 1);
    const std::size_t most = std::min(limit, end);
    if (most < 2)
      continue;
    std::size_t lowest = end;
    for (std::size_t s = 2; s <= most; ++s)
      lowest = std::min(lowest, windows[s].first);
    const double *const row = gains.compute(lowest, end);
    pacer.spend(end - lowest);
    for (std::size_t s = 2; s <= most; ++s) {
      const std::size_t first = std::max(windows[s].first, s - 1);
      const Best found =
          best_begin(best.data() + (s - 2) * width + first, row + (first - lowest), end - first);
      best[(s - 1) * width + end] = found.value;
      begin[(s - 1) * width + end] = static_cast<std::uint32_t>(first + found.begin);
      windows[s].shrink(alphabet, perspective.c, first + found.begin, end);
      pacer.spend((end - first) / 8);
    }
  }
  Partition winner{{0}, minus_infinity};
  for (std::size_t s = 1; s <= limit; ++s) {
    std::vector<std::size_t> starts(s, 0);
    for (std::size_t block = s, end = k; block > 1; --block) {
      end = begin[(block - 1) * width + end];
      starts[block - 1] = end;
    }
    const double mean = partition_mean(alphabet, perspective, starts);
    if (mean > winner.mean)
      winner = {std::move(starts), mean};
  }
  return winner;
}

Partition best_partition_within(const Alphabet &alphabet, const Perspective &perspective,
                                const std::vector<std::size_t> &starts, std::size_t max_blocks,
                                Pacer &pacer) {
  const std::vector<std::size_t> usable =
      starts.size() <= max_blocks ? starts : std::vector<std::size_t>{0};
  Partition best = best_partition(alphabet, perspective, usable, pacer);
  if (best.starts.size() <= max_blocks)
    return best;
  return best_partition_at_most(alphabet, perspective, max_blocks, pacer);
}

} // namespace confide::spr
