#include "grid.h"
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace confide {
namespace {

__extension__ typedef __int128 i128;

struct RecordNorm {
  double largest; // the largest absolute entry
  double ratio;   // norm / largest, from 1 to sqrt(d)
};

// Plain loops, because a reduction by packets would depend on where the record lies in memory.
// Division by the largest entry keeps squares away from overflow and underflow. NaN and infinities
// make `largest` infinite or `ratio` NaN.
RecordNorm record_norm(const double *record, std::size_t dimension) {
  double largest = 0;
  for (std::size_t i = 0; i < dimension; ++i)
    largest = std::max(largest, std::abs(record[i]));
  if (largest == 0)
    return {0, 1};
  double squares = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    const double share = record[i] / largest;
    squares += share * share;
  }
  return {largest, std::sqrt(squares)};
}

std::uint64_t magnitude(std::int64_t k) {
  return k < 0 ? -static_cast<std::uint64_t>(k) : static_cast<std::uint64_t>(k);
}

// This check is the proof of the sensitivity: whatever clipping in doubles did, it ends with sum
// k_i^2 <= bound_squared. `sum` is the sum of squares on entry. The largest entry k loses about
// excess / 2k, at least 1 and at most k.
void shrink_into_bound(std::int64_t *units, std::size_t dimension, u128 sum, u128 bound_squared) {
  while (sum > bound_squared) {
    std::int64_t *const largest =
        std::max_element(units, units + dimension, [](std::int64_t a, std::int64_t b) {
          return magnitude(a) < magnitude(b);
        });
    const u128 size = magnitude(*largest);
    const u128 step = std::clamp<u128>((sum - bound_squared) / (2 * size), 1, size);
    const u128 rest = size - step;
    sum -= size * size - rest * rest;
    *largest = *largest < 0 ? -static_cast<std::int64_t>(rest) : static_cast<std::int64_t>(rest);
  }
}

// Truncates toward zero and adds the squares up; nothing when an integer would leave its range (an
// entry 2^62, the sum 2^126), which bounded records cannot, or where an entry is NaN or infinite.
std::optional<u128> truncate_record(const double *record, std::size_t dimension, double divisor,
                                    double factor, std::int64_t *units) {
  constexpr u128 largest_sum = static_cast<u128>(1) << 126;
  u128 sum = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    const double unit = std::trunc(record[i] / divisor * factor);
    if (!(std::abs(unit) < 0x1p62) || sum > largest_sum)
      return std::nullopt;
    units[i] = static_cast<std::int64_t>(unit);
    sum += static_cast<u128>(magnitude(units[i])) * magnitude(units[i]);
  }
  return sum;
}

double to_double(std::int64_t sum, std::int64_t noise, int exponent) {
  return std::ldexp(static_cast<double>(sum + noise), exponent);
}

std::int64_t limited(i128 sum) {
  return static_cast<std::int64_t>(std::clamp<i128>(sum, -sum_limit, sum_limit));
}

} // namespace

void round_record(const double *record, std::size_t dimension, const Grid &grid,
                  std::int64_t *units) {
  const RecordNorm norm = record_norm(record, dimension);
  const bool clipped = norm.largest * norm.ratio > grid.bound; // also when the product overflows
  const double divisor = clipped ? norm.largest : 1;
  const double factor = std::ldexp(clipped ? grid.bound / norm.ratio : 1, -grid.exponent);
  const auto sum = truncate_record(record, dimension, divisor, factor, units);
  if (!sum)
    std::fill(units, units + dimension, 0);
  else
    shrink_into_bound(units, dimension, *sum, grid.bound_squared);
}

// O(n d). Rows are gathered into one buffer, so that a record is rounded alike wherever it stands;
// integers have no order, and 128 bits cannot overflow.
std::vector<std::int64_t> grid_sum(const Eigen::Ref<const Eigen::MatrixXd> &values,
                                   const Grid &grid, const std::function<void()> &interrupt) {
  constexpr Eigen::Index rows_between_interrupts = Eigen::Index{1} << 16;
  const auto dimension = static_cast<std::size_t>(values.cols());
  Eigen::RowVectorXd record(values.cols());
  std::vector<std::int64_t> units(dimension);
  std::vector<i128> sums(dimension, 0);
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    if (row % rows_between_interrupts == 0)
      interrupt();
    record = values.row(row);
    round_record(record.data(), dimension, grid, units.data());
    std::transform(units.begin(), units.end(), sums.begin(), sums.begin(),
                   [](std::int64_t unit, i128 sum) { return sum + unit; });
  }
  std::vector<std::int64_t> limited_sums(dimension);
  std::transform(sums.begin(), sums.end(), limited_sums.begin(), limited);
  return limited_sums;
}

bool within_sensitivity(const std::vector<std::int64_t> &units,
                        const std::vector<std::int64_t> &other, const Sensitivity &sensitivity) {
  if (units.size() != other.size())
    return false;
  u128 l1 = 0, l2_squared = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const u128 distance = magnitude(limited(units[i]) - limited(other[i])); // at most 2^62
    l1 += distance;
    l2_squared += distance * distance;
    if (l1 > sensitivity.l1 || l2_squared > sensitivity.l2_squared)
      return false;
  }
  return true;
}

Noise plan_noise(const SumPlan &plan, RandomSource &random) {
  if (plan.law == NoiseLaw::laplace)
    return [scale = plan.noise, &random] { return discrete_laplace(scale, random); };
  return [law = gaussian_law(plan.noise), &random] { return discrete_gaussian(law, random); };
}

Eigen::VectorXd noisy_integers(const std::vector<std::int64_t> &units, const SumPlan &plan,
                               const Noise &noise) {
  if (units.size() != plan.dimension)
    throw std::invalid_argument("the data must have as many columns as the plan");
  Eigen::VectorXd released(static_cast<Eigen::Index>(units.size()));
  for (std::size_t i = 0; i < units.size(); ++i)
    released[static_cast<Eigen::Index>(i)] =
        to_double(limited(units[i]), noise(), plan.grid.exponent);
  return released;
}

Eigen::VectorXd noisy_integers(const std::vector<std::int64_t> &units, const SumPlan &plan,
                               RandomSource &random) {
  return noisy_integers(units, plan, plan_noise(plan, random));
}

Eigen::VectorXd noisy_sum(const Eigen::Ref<const Eigen::MatrixXd> &values, const SumPlan &plan,
                          const Noise &noise) {
  return noisy_integers(grid_sum(values, plan.grid), plan, noise);
}

Eigen::VectorXd noisy_sum(const Eigen::Ref<const Eigen::MatrixXd> &values, const SumPlan &plan,
                          RandomSource &random) {
  return noisy_sum(values, plan, plan_noise(plan, random));
}

} // namespace confide
