#pragma once
#include "spr_divergence.h"
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace confide::spr {

// Two distributions on the line whose likelihood ratio is monotone, by their distribution
// functions.
struct ContinuousPair {
  BatchFunction cdf0, cdf1;
  double support_lower = -std::numeric_limits<double>::infinity();
  double support_upper = std::numeric_limits<double>::infinity();
  double cdf_error =
      1e-15; // absolute error of a difference of two values of a distribution function
};

struct ContinuousOptions {
  double epsilon = 1; // finite, at least 0; above 44 it is served as 44
  Divergence divergence;
  std::size_t max_outputs = std::numeric_limits<std::size_t>::max();
  double tolerance = 1e-8; // relative gap to stop at; the certificate says what was reached
  std::function<void()> interrupt = {};
};

struct ContinuousResult {
  std::vector<double> cuts; // ascending; interval i is (cuts[i - 1], cuts[i]]
  bool decreasing = false;  // the ratio P0/P1 falls with x: interval i is block s - 1 - i, else i
  std::size_t outputs = 1;
  double value = 0, lower = 0, upper = 0;
  std::vector<double> m0, m1; // of the blocks, in ascending likelihood ratio
  double t = std::numeric_limits<double>::quiet_NaN();
  double epsilon = 0;
};

// The channel from the cut points: intervals are binned, and each bin's likelihood ratio is bounded
// by the mean ratios of the bins on either side (the ratio is monotone), which gives the
// certificate of spread_bins() without densities. Throws std::invalid_argument where the ratio is
// not monotone.
ContinuousResult solve_continuous(const ContinuousPair &pair, const ContinuousOptions &options);

} // namespace confide::spr
