#pragma once
#include <Eigen/Core>
#include <vector>

namespace confide {

// A sum of doubles without rounding (Shewchuk 1997): a list of doubles that do not overlap,
// smallest first. Infinity stays.
class ExactSum {
public:
  void add(double value);
  void add(const ExactSum &other);
  void subtract(const ExactSum &other);
  double rounded_up() const; // the smallest double at or above the sum

private:
  std::vector<double> partials_;
  bool infinite_ = false;
};

// The smallest double at or above the exact sum of numbers that are at least 0: privacy parameters
// add up, and a claim may not be rounded down. Exact sums stay as they are.
double sum_rounded_up(const Eigen::Ref<const Eigen::VectorXd> &values);

} // namespace confide
