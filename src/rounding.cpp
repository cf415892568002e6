#include "rounding.h"
#include <algorithm>
#include <cmath>
#include <limits>

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

void ExactSum::add(double value) {
  infinite_ = infinite_ || std::isinf(value);
  if (infinite_)
    return;
  std::size_t kept = 0;
  for (const double partial : partials_) {
    const TwoSum step = two_sum(value, partial);
    if (step.error != 0)
      partials_[kept++] = step.error;
    value = step.sum;
  }
  partials_.resize(kept);
  partials_.push_back(value);
}

void ExactSum::add(const ExactSum &other) {
  infinite_ = infinite_ || other.infinite_;
  for (const double partial : other.partials_)
    add(partial);
}

void ExactSum::subtract(const ExactSum &other) {
  for (const double partial : other.partials_)
    add(-partial);
}

double ExactSum::rounded_up() const {
  if (infinite_)
    return std::numeric_limits<double>::infinity();
  double sum = 0, rest = 0;
  for (auto partial = partials_.rbegin(); partial != partials_.rend(); ++partial) {
    const TwoSum step = two_sum(sum, *partial);
    sum = step.sum;
    if (step.error != 0) {
      rest = step.error; // everything further down is smaller than this error
      break;
    }
  }
  return rest > 0 ? std::nextafter(sum, std::numeric_limits<double>::infinity()) : sum;
}

double sum_rounded_up(const Eigen::Ref<const Eigen::VectorXd> &values) {
  ExactSum sum;
  for (Eigen::Index i = 0; i < values.size(); ++i)
    sum.add(values[i]);
  return sum.rounded_up();
}

} // namespace confide
