#include "rounding.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace confide {

namespace {

struct TwoSum {
  double sum, error;
};

// Knuth: sum + error is exactly a + b.
TwoSum two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

} // namespace

// Shewchuk (1997): the exact sum as a list of doubles that do not overlap, smallest first.
double sum_rounded_up(const Eigen::Ref<const Eigen::VectorXd> &values) {
  std::vector<double> partials;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    double value = values[i];
    if (std::isinf(value))
      return std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    for (const double partial : partials) {
      const TwoSum step = two_sum(value, partial);
      if (step.error != 0)
        partials[kept++] = step.error;
      value = step.sum;
    }
    partials.resize(kept);
    partials.push_back(value);
  }
  double sum = 0, rest = 0;
  for (auto partial = partials.rbegin(); partial != partials.rend(); ++partial) {
    const TwoSum step = two_sum(sum, *partial);
    sum = step.sum;
    if (step.error != 0) {
      rest = step.error; // everything further down is smaller than this error
      break;
    }
  }
  return rest > 0 ? std::nextafter(sum, std::numeric_limits<double>::infinity()) : sum;
}

} // namespace confide
