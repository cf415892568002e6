#include "spr_continuous.h"
#include "spr.h"
#include "spr_certified.h"
#include "spr_chernoff.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace confide::spr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_bins = 20000;

// Doubles in order as integers, so that bisection needs 64 steps whatever the scale.
std::int64_t ordinal(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double from_ordinal(std::int64_t order) {
  const std::int64_t bits = order >= 0 ? order : std::numeric_limits<std::int64_t>::min() - order;
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Edge {
  double x, f0, f1;
  double mixture() const { return 0.5 * (f0 + f1); }
};

struct Wanted {
  double x_low, x_high, mixture; // the x in between where (F0 + F1) / 2 reaches `mixture`
};

std::vector<Edge> edges_at(const ContinuousPair &pair, const std::vector<double> &x) {
  std::vector<double> f0(x.size()), f1(x.size());
  pair.cdf0(x.data(), f0.data(), x.size());
  pair.cdf1(x.data(), f1.data(), x.size());
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(f0[i] >= 0 && f0[i] <= 1 && f1[i] >= 0 && f1[i] <= 1))
      throw std::invalid_argument("a distribution function must be between 0 and 1");
    edges.push_back({x[i], f0[i], f1[i]});
  }
  return edges;
}

// All quantiles at once: one call of each distribution function a step.
std::vector<Edge> find_quantiles(const ContinuousPair &pair, const std::vector<Wanted> &wanted) {
  if (wanted.empty())
    return {};
  std::vector<std::int64_t> low, high;
  for (const Wanted &one : wanted) {
    low.push_back(ordinal(one.x_low));
    high.push_back(ordinal(one.x_high));
  }
  std::vector<double> x(wanted.size());
  const auto middle = [&](std::size_t i) {
    const std::int64_t a = low[i], b = high[i];
    return (a & b) + ((a ^ b) >> 1); // floor of the mean without overflow
  };
  for (int step = 0; step < 64; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = from_ordinal(middle(i));
    const std::vector<Edge> edges = edges_at(pair, x);
    for (std::size_t i = 0; i < x.size(); ++i)
      (edges[i].mixture() < wanted[i].mixture ? low[i] : high[i]) = middle(i);
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = from_ordinal(high[i]);
  return edges_at(pair, x);
}

class Grid {
public:
  std::vector<double> cuts; // of the last binned solution: where the next search starts

  explicit Grid(const ContinuousPair &pair) : pair_(pair) {
    edges_ = {{pair.support_lower, 0, 0}, {pair.support_upper, 1, 1}};
    std::vector<Wanted> wanted;
    const auto want = [&](double mixture) {
      wanted.push_back({pair.support_lower, pair.support_upper, mixture});
    };
    constexpr int central = 128, last_tail = 50;
    for (int i = 1; i < central; ++i)
      want(i / static_cast<double>(central));
    for (int power = 8; power <= last_tail; ++power) { // tails count, times e^epsilon
      want(std::ldexp(1, -power));
      want(1 - std::ldexp(1, -power));
    }
    insert(find_quantiles(pair, wanted));
    const Edge centre = edges_[edges_.size() / 2];
    decreasing_ = centre.f0 > centre.f1; // the smaller variable has the larger ratio on the left
  }

  bool decreasing() const { return decreasing_; }
  std::size_t bins() const { return edges_.size() - 1; }

  // The edge below bin b >= 1 in ascending likelihood ratio.
  double cut_before(std::size_t bin) const {
    return edges_[decreasing_ ? edges_.size() - 1 - bin : bin].x;
  }

  // First bins of the blocks between `cuts`, in ascending likelihood ratio.
  std::vector<std::size_t> starts() const {
    std::vector<std::size_t> starts{0};
    for (std::size_t bin = 1; bin < bins(); ++bin)
      if (std::find(cuts.begin(), cuts.end(), cut_before(bin)) != cuts.end())
        starts.push_back(bin);
    return starts;
  }
  void remember(const std::vector<std::size_t> &starts) {
    cuts.clear();
    for (std::size_t j = 1; j < starts.size(); ++j)
      cuts.push_back(cut_before(starts[j]));
  }

  std::vector<Bin> bounded_bins() const {
    std::vector<Bin> bins(this->bins());
    for (std::size_t i = 0; i < bins.size(); ++i) {
      const Edge &a = edges_[i], &b = edges_[i + 1];
      bins[decreasing_ ? bins.size() - 1 - i : i] = {std::max(0.0, b.f0 - a.f0),
                                                     std::max(0.0, b.f1 - a.f1), 0, infinity};
    }
    const double error = pair_.cdf_error;
    double bound = 0;
    for (Bin &bin : bins) {
      bin.lowest_ratio = bound;
      bound = std::max(bound, (bin.p - error) / (bin.q + error));
    }
    bound = infinity;
    for (std::size_t i = bins.size(); i-- > 0;) {
      Bin &bin = bins[i];
      bin.highest_ratio = bound;
      if (bin.q > error)
        bound = std::min(bound, (bin.p + error) / (bin.q - error));
      if (bin.lowest_ratio > bin.highest_ratio)
        throw std::invalid_argument("the likelihood ratio is not monotone");
    }
    return bins;
  }

  // Splits the marked bins (numbered by ratio) in four of equal mass; false if none could be split.
  bool split(const std::vector<bool> &marked, double smallest_mass) {
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i + 1 < edges_.size(); ++i) {
      const Edge &a = edges_[i], &b = edges_[i + 1];
      const double mass = b.mixture() - a.mixture();
      if (!marked[decreasing_ ? bins() - 1 - i : i] || mass < smallest_mass)
        continue;
      for (int part = 1; part < 4; ++part)
        wanted.push_back({a.x, b.x, a.mixture() + 0.25 * part * mass});
    }
    const std::size_t before = bins();
    if (before + wanted.size() <= most_bins)
      insert(find_quantiles(pair_, wanted));
    return bins() > before;
  }

private:
  const ContinuousPair &pair_;
  std::vector<Edge> edges_;
  bool decreasing_ = false;

  void insert(const std::vector<Edge> &more) {
    edges_.insert(edges_.end(), more.begin(), more.end());
    const auto below = [](const Edge &a, const Edge &b) { return a.x < b.x; };
    const auto same = [](const Edge &a, const Edge &b) { return a.f0 == b.f0 && a.f1 == b.f1; };
    std::sort(edges_.begin(), edges_.end(), below);
    // A bin without mass says nothing; the ends of the support stay.
    const Edge last = edges_.back();
    edges_.erase(std::unique(edges_.begin(), edges_.end(), same), edges_.end());
    edges_.back() = last;
  }
};

struct Channel1d {
  std::vector<double> cuts;
  std::size_t outputs = 1;
  double lower = 0, upper = infinity;
  std::vector<double> m0, m1;
};

Channel1d channel_from(const Grid &grid, const Alphabet &binned, const Optimum &inner, double c) {
  Channel1d channel;
  channel.cuts = grid.cuts;
  std::sort(channel.cuts.begin(), channel.cuts.end());
  const BlockMasses masses = block_masses(binned, inner.starts);
  channel.outputs = inner.starts.size();
  channel.m0 = report_distribution(masses.p, c);
  channel.m1 = report_distribution(masses.q, c);
  channel.lower = inner.value;
  return channel;
}

std::vector<bool> bins_near_cuts(const Spread &spread, const Optimum &outer, const Optimum &inner) {
  const auto block = block_of_symbols(spread.alphabet.size(), outer.starts);
  const std::size_t bins = spread.low.size();
  std::vector<bool> marked(bins, false);
  const auto mark = [&](std::size_t bin, std::size_t reach) {
    for (std::size_t b = bin - std::min(bin, reach); b < std::min(bins, bin + reach + 1); ++b)
      marked[b] = true;
  };
  for (std::size_t bin = 0; bin < bins; ++bin)
    if (block[spread.low[bin]] != block[spread.high[bin]])
      mark(bin, 1);
  for (std::size_t j = 1; j < inner.starts.size(); ++j)
    mark(inner.starts[j], 1);
  return marked;
}

Alphabet alphabet_of(const std::vector<Bin> &bins) {
  Alphabet alphabet;
  for (const Bin &bin : bins) {
    alphabet.p.add(bin.p);
    alphabet.q.add(bin.q);
  }
  return alphabet;
}

Channel1d refine(Grid &grid, const Divergence &divergence, double c,
                 const ContinuousOptions &options, double tolerance, Pacer &pacer) {
  // Below this a bin's share of the objective is lost in the distribution functions' rounding.
  const double smallest_mass = std::min(1e-9, 1e-11 / (1 + c));
  double upper = infinity;
  for (;;) {
    const std::vector<Bin> bins = grid.bounded_bins();
    const Alphabet binned = alphabet_of(bins);
    const Optimum inner =
        optimum_on(binned, divergence, c, options.max_outputs, grid.starts(), pacer);
    grid.remember(inner.starts);
    const Spread spread = spread_bins(bins);
    const Optimum outer = optimum_on(spread.alphabet, divergence, c, options.max_outputs,
                                     starts_among_points(inner.starts, spread), pacer);
    upper = std::max(inner.value, std::min(upper, outer.value));
    const bool done = is_tight(inner.value, upper, tolerance) ||
                      !grid.split(bins_near_cuts(spread, outer, inner), smallest_mass);
    if (!done)
      continue;
    Channel1d channel = channel_from(grid, binned, inner, c);
    channel.upper = upper;
    return channel;
  }
}

ContinuousResult result_from(Channel1d channel, const Grid &grid, double epsilon) {
  ContinuousResult result;
  result.cuts = std::move(channel.cuts);
  result.decreasing = grid.decreasing();
  result.outputs = channel.outputs;
  result.value = result.lower = channel.lower;
  result.upper = channel.upper;
  result.m0 = std::move(channel.m0);
  result.m1 = std::move(channel.m1);
  result.epsilon = epsilon;
  return result;
}

} // namespace

ContinuousResult solve_continuous(const ContinuousPair &pair, const ContinuousOptions &options) {
  if (!(options.epsilon >= 0) || std::isinf(options.epsilon) || options.max_outputs < 1 ||
      !(options.tolerance >= 0) || !(pair.support_lower < pair.support_upper))
    throw std::invalid_argument("epsilon, outputs, tolerance or support out of range");
  const double epsilon = served_epsilon(options.epsilon), c = std::expm1(epsilon);
  Pacer pacer{options.interrupt};
  Grid grid(pair);
  if (options.divergence.kind != DivergenceKind::chernoff)
    return result_from(refine(grid, options.divergence, c, options, options.tolerance, pacer), grid,
                       epsilon);
  std::vector<Channel1d> channels;
  const ExponentSolver solve = [&](double t) {
    Grid own = grid; // every t has its own cuts; a shared grid would only grow
    channels.push_back(
        refine(own, {DivergenceKind::renyi, t, {}}, c, options, 0.25 * options.tolerance, pacer));
    const Channel1d &channel = channels.back();
    return ExponentBracket{(1 - t) * channel.lower, (1 - t) * channel.upper, channel.m0,
                           channel.m1};
  };
  // The spread bins' ratios bound those of every channel on the line.
  const double span = log_ratio_span(spread_bins(grid.bounded_bins()).alphabet, c);
  const ChernoffOptimum best = chernoff_search(solve, span, options.tolerance);
  Channel1d channel = std::move(channels[best.best_solve]);
  channel.lower = best.lower;
  channel.upper = best.upper;
  ContinuousResult result = result_from(std::move(channel), grid, epsilon);
  result.t = best.t;
  return result;
}

} // namespace confide::spr
