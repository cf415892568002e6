#pragma once
#include "spr_optimum.h"
#include <cstddef>
#include <vector>

namespace confide::spr {

// A partition and a certificate: the optimum lies in [lower, upper] up to rounding (about 1e-14,
// relative), and the partition attains `lower`. Both are in the units of the divergence.
struct Bracket {
  std::vector<std::size_t> starts{0};
  double lower = 0, upper = 0;
  std::size_t rounds = 0, bins = 0;
};

struct BracketLimits {
  std::size_t max_blocks;
  double tolerance; // of (upper - lower) / upper; 0 refines until the solution is the exact optimum
};

bool is_tight(double lower, double upper, double tolerance);

// One bin of the alphabet: its masses, and bounds of the likelihood ratio on it.
struct Bin {
  double p, q, lowest_ratio, highest_ratio;
};

// Every bin spread to its two extreme ratios, keeping its masses. The bin's symbols are a garbling
// of the two points (Blackwell 1953), and garbling before a private channel stays private, so no
// channel on the original symbols beats the best one here.
struct Spread {
  Alphabet alphabet;                  // the points, ascending ratio
  std::vector<std::size_t> bin;       // point -> bin
  std::vector<std::size_t> low, high; // bin -> its two points (equal where it is not spread)
};
Spread spread_bins(const std::vector<Bin> &bins);

// Starts of blocks of bins, among the points; only where the points of bins do not overlap.
std::vector<std::size_t> starts_among_points(const std::vector<std::size_t> &bin_starts,
                                             const Spread &spread);

// Block number of every symbol.
std::vector<std::size_t> block_of_symbols(std::size_t size, const std::vector<std::size_t> &starts);

// Bins the sorted alphabet, solves the binned problem (lower bound) and the spread problem (upper
// bound), splits the bins near a cut, and repeats. Where no cut of the spread problem parts the two
// points of a bin, its solution is a partition of the alphabet, hence optimal. Near-linear in k.
Bracket bracket_optimum(const Alphabet &alphabet, const Divergence &divergence, double c,
                        const BracketLimits &limits, Pacer &pacer);

} // namespace confide::spr
