#include "scatter.h"
#include "records.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace confide {
namespace {

// 512 records of squared norm at most 2^40 add up to at most 2^49: doubles hold these integers.
constexpr Eigen::Index block = 512;
constexpr std::int64_t most_steps = std::int64_t{1} << 20;

// Rounds v, of norm about 1 at most, times m toward zero, in doubles. The check is the proof: the
// sum of squares of integers is exact when it is at most 2^40, and larger ones cannot round below.
void round_to_steps(Eigen::Ref<Eigen::VectorXd> v, std::int64_t steps) {
  const auto m = static_cast<double>(steps);
  v = v.unaryExpr([m](double x) { return std::trunc(x * m); });
  while (!(v.squaredNorm() <= m * m))
    v = v.unaryExpr([](double k) {
      return k > 0 ? k - 1 : k < 0 ? k + 1 : 0; // also turns NaN into 0
    });
}

class Scatter {
public:
  explicit Scatter(Eigen::Index dimension)
      : units_(Eigen::MatrixXd::Zero(dimension, block)), product_(dimension, dimension),
        sums_(static_cast<std::size_t>(dimension * (dimension + 1) / 2), 0) {}

  Eigen::Ref<Eigen::VectorXd> next() { return units_.col(filled_); }

  void add() {
    if (++filled_ == block)
      flush();
  }

  std::vector<std::int64_t> finish() {
    flush();
    return sums_;
  }

private:
  void flush() {
    if (filled_ == 0) // Eigen divides by the number of columns
      return;
    product_.setZero();
    product_.selfadjointView<Eigen::Upper>().rankUpdate(units_.leftCols(filled_));
    auto sum = sums_.begin();
    for (Eigen::Index column = 0; column < product_.cols(); ++column)
      for (Eigen::Index row = 0; row <= column; ++row)
        *sum++ += static_cast<std::int64_t>(product_(row, column));
    filled_ = 0;
  }

  Eigen::MatrixXd units_, product_;
  std::vector<std::int64_t> sums_;
  Eigen::Index filled_ = 0;
};

double factor_into_ball(double norm, double radius) { return 1 / std::max(norm, radius); }

} // namespace

ScatterPlan scatter_plan(double rho, std::size_t n, Neighbours neighbours) {
  if (!(rho > 0) || !(rho <= 0x1p40))
    throw PlanRefused("rho must be above 0 and at most 2^40");
  const double factor = neighbours == Neighbours::replace ? 2 : 1;
  // s = sqrt(factor) B / sqrt(2 rho) is about 2^25 or less
  const double steps = std::floor(std::sqrt(0x1p25 * std::sqrt(2 * rho / factor) * 0.999));
  if (steps < 16)
    throw PlanRefused("rho is too small for a matrix of second moments");
  const double records = std::max(static_cast<double>(n), 1.0);
  const double room = std::floor(std::sqrt(static_cast<double>(sum_limit) / records * 0.999));
  if (room < 16)
    throw PlanRefused("there are too many records for a matrix of second moments");
  const auto m = std::min(static_cast<std::int64_t>(std::min({steps, room, 0x1p20})), most_steps);
  const u128 bound = static_cast<u128>(m) * static_cast<u128>(m);
  const u128 squared = bound * bound * static_cast<u128>(factor);
  // half a variance that serves twice rho is the ceiling of what is needed
  const Rational half = gaussian_variance(squared, 2 * rho);
  const std::uint64_t half_variance =
      half.numerator / half.denominator + (half.numerator % half.denominator != 0);
  gaussian_law({2 * half_variance, 1}); // throws when out of range
  return {m, squared, half_variance, realised_rho(squared, {2 * half_variance, 1})};
}

std::vector<std::int64_t> scatter_sum(const Eigen::Ref<const Eigen::MatrixXd> &records,
                                      const Eigen::Ref<const Eigen::VectorXd> &centre,
                                      double radius, const ScatterPlan &plan,
                                      const std::function<void()> &interrupt) {
  Scatter scatter(records.rows());
  for (Eigen::Index i = 0; i < records.cols(); ++i) {
    if (i % 4096 == 0)
      interrupt();
    const double norm = distance(records.col(i).data(), centre.data(), records.rows());
    if (!std::isfinite(norm))
      continue;
    auto unit = scatter.next();
    unit = (records.col(i) - centre) * factor_into_ball(norm, radius);
    round_to_steps(unit, plan.steps);
    scatter.add();
  }
  return scatter.finish();
}

std::vector<std::int64_t> sign_scatter_sum(const Eigen::Ref<const Eigen::MatrixXd> &records,
                                           const Eigen::Ref<const Eigen::MatrixXd> &transform,
                                           const ScatterPlan &plan,
                                           const std::function<void()> &interrupt) {
  const Eigen::Index dimension = records.rows();
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(dimension);
  Eigen::VectorXd difference(dimension), direction(dimension);
  Scatter scatter(dimension);
  for (Eigen::Index i = 0; i + 1 < records.cols(); i += 2) {
    if (i % 4096 == 0)
      interrupt();
    difference = records.col(i) - records.col(i + 1);
    direction.noalias() = transform * difference;
    const double norm = distance(direction.data(), origin.data(), dimension);
    if (!std::isfinite(norm) || norm == 0)
      continue;
    auto unit = scatter.next();
    unit = direction / norm;
    round_to_steps(unit, plan.steps);
    scatter.add();
  }
  return scatter.finish();
}

Eigen::MatrixXd noisy_scatter(const std::vector<std::int64_t> &units, Eigen::Index dimension,
                              const ScatterPlan &plan, RandomSource &random) {
  if (units.size() != static_cast<std::size_t>(dimension * (dimension + 1) / 2))
    throw std::invalid_argument("the units must be those of an upper triangle");
  const GaussianLaw diagonal = gaussian_law({2 * plan.half_variance, 1});
  const GaussianLaw other = gaussian_law({plan.half_variance, 1});
  const auto bound = static_cast<double>(plan.steps) * static_cast<double>(plan.steps);
  Eigen::MatrixXd released(dimension, dimension);
  auto unit = units.begin();
  for (Eigen::Index column = 0; column < dimension; ++column)
    for (Eigen::Index row = 0; row <= column; ++row) {
      const std::int64_t sum = std::clamp(*unit++, -sum_limit, sum_limit);
      const std::int64_t noise = discrete_gaussian(row == column ? diagonal : other, random);
      released(row, column) = released(column, row) = static_cast<double>(sum + noise) / bound;
    }
  return released;
}

bool within_scatter_sensitivity(const std::vector<std::int64_t> &units,
                                const std::vector<std::int64_t> &other, const ScatterPlan &plan) {
  if (units.size() != other.size())
    return false;
  // Entries beyond 2^41 are far out and would overflow the sum.
  constexpr std::int64_t far = std::int64_t{1} << 42;
  u128 squared = 0;
  std::size_t place = 0;
  for (std::size_t column = 0; place < units.size(); ++column)
    for (std::size_t row = 0; row <= column; ++row, ++place) {
      const std::int64_t move = units[place] - other[place];
      if (move > far || move < -far)
        return false;
      const auto size = static_cast<u128>(move < 0 ? -move : move);
      squared += (row == column ? 1 : 2) * size * size;
    }
  return squared <= plan.sensitivity_squared;
}

} // namespace confide
