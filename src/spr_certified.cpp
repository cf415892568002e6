#include "spr_certified.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace confide::spr {
namespace {

using Edges = std::vector<std::size_t>; // 0 = first edge < ... < last edge = alphabet size

Edges equal_mass_edges(const Alphabet &alphabet, std::size_t bins) {
  Edges edges{0};
  const double total = alphabet.p.high.back() + alphabet.q.high.back();
  std::size_t next = 1;
  for (std::size_t symbol = 1; symbol < alphabet.size(); ++symbol) {
    const double mass = alphabet.p.high[symbol] + alphabet.q.high[symbol];
    if (mass * static_cast<double>(bins) < total * static_cast<double>(next))
      continue;
    edges.push_back(symbol);
    next = 1 + static_cast<std::size_t>(mass / total * static_cast<double>(bins));
  }
  edges.push_back(alphabet.size());
  return edges;
}

PrefixSum picked(const PrefixSum &sum, const Edges &edges) {
  PrefixSum result;
  for (std::size_t b = 1; b < edges.size(); ++b) {
    result.high.push_back(sum.high[edges[b]]);
    result.low.push_back(sum.low[edges[b]]);
  }
  return result;
}

std::vector<Bin> bins_between(const Alphabet &alphabet, const Edges &edges) {
  std::vector<Bin> bins;
  for (std::size_t b = 0; b + 1 < edges.size(); ++b)
    bins.push_back({alphabet.p.between(edges[b], edges[b + 1]),
                    alphabet.q.between(edges[b], edges[b + 1]), alphabet.ratio(edges[b]),
                    alphabet.ratio(edges[b + 1] - 1)});
  return bins;
}

// How many parts to split each bin into: those that the spread solution cuts, and those beside a
// cut.
std::vector<std::size_t> parts_wanted(const Spread &spread,
                                      const std::vector<std::size_t> &spread_block,
                                      const std::vector<std::size_t> &spread_starts,
                                      const std::vector<std::size_t> &binned_starts) {
  const std::size_t bins = spread.low.size();
  constexpr std::size_t pieces = 8;
  std::vector<std::size_t> parts(bins, 1);
  const auto beside = [&](std::size_t bin) {
    if (bin > 0)
      parts[bin - 1] = pieces;
    parts[bin] = pieces;
  };
  for (std::size_t j = 1; j < binned_starts.size(); ++j)
    beside(binned_starts[j]);
  for (std::size_t j = 1; j < spread_starts.size(); ++j)
    beside(spread.bin[spread_starts[j]]);
  for (std::size_t bin = 0; bin < bins; ++bin)
    if (spread_block[spread.low[bin]] != spread_block[spread.high[bin]])
      parts[bin] = pieces;
  return parts;
}

Edges split(const Edges &edges, const std::vector<std::size_t> &parts) {
  Edges finer{0};
  for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
    const std::size_t width = edges[b + 1] - edges[b], n = std::min(parts[b], width);
    for (std::size_t part = 1; part <= n; ++part)
      finer.push_back(edges[b] + width * part / n);
  }
  return finer;
}

bool parts_a_bin(const Spread &spread, const std::vector<std::size_t> &block) {
  for (std::size_t bin = 0; bin < spread.low.size(); ++bin)
    if (block[spread.low[bin]] != block[spread.high[bin]])
      return true;
  return false;
}

std::vector<std::size_t> bins_of(const std::vector<std::size_t> &starts, const Edges &edges) {
  std::vector<std::size_t> bins;
  for (const std::size_t start : starts)
    bins.push_back(static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), start) -
                                            edges.begin()));
  return bins;
}

struct Point {
  double p, q, ratio;
  std::size_t bin;
};

struct TwoPoints {
  Point low, high;
};

TwoPoints two_points(const Bin &bin, std::size_t index) {
  const double low = bin.lowest_ratio, high = bin.highest_ratio;
  const double excess = std::max(0.0, bin.p - low * bin.q); // mass of p above the lowest ratio
  if (std::isinf(high))
    return {{low * bin.q, bin.q, low, index}, {excess, 0, high, index}};
  const double q_high = std::min(bin.q, excess / (high - low));
  const double q_low = bin.q - q_high;
  return {{low * q_low, q_low, low, index}, {high * q_high, q_high, high, index}};
}

} // namespace

bool is_tight(double lower, double upper, double tolerance) {
  return upper - lower <= tolerance * std::fabs(upper);
}

Spread spread_bins(const std::vector<Bin> &bins) {
  std::vector<Point> points;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    if (!(bins[b].lowest_ratio < bins[b].highest_ratio)) {
      points.push_back({bins[b].p, bins[b].q, bins[b].lowest_ratio, b});
      continue;
    }
    const TwoPoints two = two_points(bins[b], b);
    const auto has_mass = [](const Point &point) { return point.p > 0 || point.q > 0; };
    if (has_mass(two.low) || !has_mass(two.high)) // a bin keeps at least one point
      points.push_back(two.low);
    if (has_mass(two.high))
      points.push_back(two.high);
  }
  // Bins bounded from outside overlap, so their points must be put in order.
  const auto below = [](const Point &a, const Point &b) { return a.ratio < b.ratio; };
  if (!std::is_sorted(points.begin(), points.end(), below))
    std::stable_sort(points.begin(), points.end(), below);
  Spread spread;
  spread.low.assign(bins.size(), points.size());
  spread.high.assign(bins.size(), 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    spread.alphabet.p.add(points[i].p);
    spread.alphabet.q.add(points[i].q);
    spread.bin.push_back(points[i].bin);
    spread.low[points[i].bin] = std::min(spread.low[points[i].bin], i);
    spread.high[points[i].bin] = i;
  }
  return spread;
}

std::vector<std::size_t> starts_among_points(const std::vector<std::size_t> &bin_starts,
                                             const Spread &spread) {
  std::vector<std::size_t> points;
  for (const std::size_t bin : bin_starts)
    points.push_back(bin == 0 ? 0 : spread.low[bin]);
  return points;
}

std::vector<std::size_t> block_of_symbols(std::size_t size,
                                          const std::vector<std::size_t> &starts) {
  std::vector<std::size_t> block(size, 0);
  for (std::size_t j = 1; j < starts.size(); ++j)
    block[starts[j]] = 1;
  std::partial_sum(block.begin(), block.end(), block.begin());
  return block;
}

Bracket bracket_optimum(const Alphabet &alphabet, const Divergence &divergence, double c,
                        const BracketLimits &limits, Pacer &pacer) {
  constexpr std::size_t first_bins = 400;
  Edges edges = equal_mass_edges(alphabet, first_bins);
  Bracket bracket;
  bracket.upper = std::numeric_limits<double>::infinity();
  // Every round that goes on splits a bin, so the loop ends with single symbols at the latest.
  for (;;) {
    ++bracket.rounds;
    const Alphabet binned{picked(alphabet.p, edges), picked(alphabet.q, edges)};
    const Optimum inner =
        optimum_on(binned, divergence, c, limits.max_blocks, bins_of(bracket.starts, edges), pacer);
    const Spread spread = spread_bins(bins_between(alphabet, edges));
    const Optimum outer = optimum_on(spread.alphabet, divergence, c, limits.max_blocks,
                                     starts_among_points(inner.starts, spread), pacer);

    bracket.bins = edges.size() - 1;
    bracket.starts.clear();
    for (const std::size_t bin : inner.starts)
      bracket.starts.push_back(edges[bin]);
    bracket.lower = inner.value;
    bracket.upper = std::max(bracket.lower, std::min(bracket.upper, outer.value));
    if (limits.tolerance > 0 && is_tight(bracket.lower, bracket.upper, limits.tolerance))
      return bracket;
    const auto block = block_of_symbols(spread.alphabet.size(), outer.starts);
    if (!parts_a_bin(spread, block)) {
      bracket.upper = bracket.lower; // the spread solution is the binned one
      return bracket;
    }
    edges = split(edges, parts_wanted(spread, block, outer.starts, inner.starts));
  }
}

} // namespace confide::spr
