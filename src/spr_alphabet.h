#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace confide::spr {

// Running sums in double-double: the mass of any block of symbols is known to about 1e-32, which
// c = e^epsilon - 1 (up to e^44) then multiplies.
struct PrefixSum {
  std::vector<double> high{0}, low{0};
  void add(double mass);
  void reserve(std::size_t terms) {
    high.reserve(terms + 1);
    low.reserve(terms + 1);
  }
  double between(std::size_t begin, std::size_t end) const {
    return (high[end] - high[begin]) + (low[end] - low[begin]);
  }
};

// Symbols in ascending order of the likelihood ratio p / q.
struct Alphabet {
  PrefixSum p, q;
  std::size_t size() const { return p.high.size() - 1; }
  double ratio(std::size_t symbol) const;
};

struct SortedAlphabet {
  static constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();
  Alphabet alphabet;                // one symbol for each distinct likelihood ratio
  std::vector<std::uint32_t> order; // original symbols, ascending ratio, massless ones last
  std::vector<std::uint32_t> group; // original symbol -> symbol of `alphabet`, or no_group
};

// Requires equal lengths below 2^32 - 1 and finite non-negative masses with positive totals, which
// are divided out. Ratios within a few units in the last place count as equal. O(k log k).
SortedAlphabet sort_alphabet(const std::vector<double> &p0, const std::vector<double> &p1);

// The masses of the blocks that start at `starts` (the first is 0).
struct BlockMasses {
  std::vector<double> p, q;
};
BlockMasses block_masses(const Alphabet &alphabet, const std::vector<std::size_t> &starts);

// The top set (symbols from `start` on) with the largest log((1 + c p) / (1 + c q)). No block, and
// no output of any epsilon-private channel, has a larger log-likelihood ratio. O(k).
struct TopSet {
  std::size_t start = 0;
  double log_ratio = 0;
};
TopSet most_telling_top_set(const Alphabet &alphabet, double c);
// The length of the interval that log M0(y) / M1(y) lies in for every private channel. O(k).
double log_ratio_span(const Alphabet &alphabet, double c);

// Calls `interrupt` about every 2^20 inner steps.
struct Pacer {
  const std::function<void()> &interrupt;
  std::size_t steps = 0;
  void spend(std::size_t n) {
    steps += n;
    if (steps < (std::size_t{1} << 20))
      return;
    steps = 0;
    if (interrupt)
      interrupt();
  }
};

} // namespace confide::spr
