#pragma once
#include "spr_divergence.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace confide::spr {

// Sort, partition, randomize (Ghazi 2026, arXiv 2606.07443): the epsilon-locally-private channel
// that best tells P0 from P1. Symbols are sorted by likelihood ratio, cut into s blocks, and s-ary
// randomized response is applied to the block.

enum class Method { automatic, direct, bracket };

struct Options {
  double epsilon = 1; // finite, at least 0; above 44 it is served as 44
  Divergence divergence;
  std::size_t max_outputs = std::numeric_limits<std::size_t>::max(); // at least 1
  double tolerance = 0; // relative gap of the certificate to stop at; 0 for the exact optimum
  Method method = Method::automatic;    // direct up to 2,000 distinct ratios, else bracket
  std::function<void()> interrupt = {}; // called about every 2^20 steps; may throw
};

struct Result {
  std::vector<std::size_t> starts;  // first symbol of each block on the sorted, merged alphabet
  std::vector<std::uint32_t> block; // original symbol -> block, from 0 in ascending ratio
  std::vector<std::uint32_t> order; // original symbols in ascending ratio, massless ones last
  std::size_t merged = 0;           // distinct likelihood ratios
  std::size_t outputs = 1;          // s
  double value = 0;                 // attained by this channel; equal to `lower`
  double lower = 0, upper = 0;      // the optimum lies between them
  std::vector<double> m0, m1;       // distributions of the report
  double t = std::numeric_limits<double>::quiet_NaN(); // Chernoff's maximiser
  double epsilon = 0;                                  // as served
};

// O(k log k) and the search. Throws std::invalid_argument for bad input.
Result solve(const std::vector<double> &p0, const std::vector<double> &p1, const Options &options);

double served_epsilon(double epsilon);

// Report distributions (1 + c p) / (c + s) of s-ary randomized response on blocks of these masses.
std::vector<double> report_distribution(const std::vector<double> &masses, double c);

} // namespace confide::spr
