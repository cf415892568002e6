#include "classifier.h"
#include <algorithm>
#include <cmath>

namespace confide {
namespace {

constexpr int feature_digits = 16;
constexpr Eigen::Index block_records = 1024;
constexpr double unit_roundoff = 0x1p-53;

using Matrix = Eigen::MatrixXd;

// exp(z - max z), which sum to at least 1, divided by their sum.
void softmax(double *scores, std::size_t classes) {
  const double top = *std::max_element(scores, scores + classes);
  double total = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    scores[k] = std::exp(scores[k] - top);
    total += scores[k];
  }
  for (std::size_t k = 0; k < classes; ++k)
    scores[k] /= total;
}

// Reused for one record after another.
struct Gradient {
  std::vector<double> residual, values;
  std::vector<std::int64_t> units;

  explicit Gradient(const Matrix &weights)
      : residual(static_cast<std::size_t>(weights.rows())),
        values(static_cast<std::size_t>(weights.size())), units(values.size()) {}

  void compute(const LabelledRecords &records, Eigen::Index i, const Matrix &weights,
               const Grid &grid) {
    const double *features = records.features.col(i).data();
    softmax_residual(weights, features, records.labels[static_cast<std::size_t>(i)], residual);
    auto value = values.begin();
    for (Eigen::Index j = 0; j < weights.cols(); ++j)
      for (const double share : residual)
        *value++ = share * features[j];
    round_record(values.data(), values.size(), grid, units.data());
  }
};

// In the worst case, of head_gradient() in the Euclidean norm: scores are sums of p products, their
// shares off by twice that and a few roundings; then a sum by blocks and one over blocks.
double gradient_rounding(const LabelledRecords &records, const Matrix &weights, double bound,
                         double penalty) {
  const auto n = static_cast<double>(records.features.cols());
  const auto p = static_cast<double>(weights.cols());
  const auto classes = static_cast<double>(weights.rows());
  const double norm = weights.norm();
  const double residual = 4 * (p + 2) * norm * bound + 2 * (classes + 8);
  const double sums = 2 * (block_records + n / block_records + 4);
  return 2 * unit_roundoff * (n * bound * (residual + sums) + 4 * penalty * norm);
}

double smoothness(double records, double bound, double penalty) {
  return records * bound * bound / 2 + penalty; // softmax has a Hessian of norm at most 1/2
}

} // namespace

Grid feature_grid(double bound) {
  const int exponent = std::ilogb(bound) - feature_digits;
  const auto steps = static_cast<std::uint64_t>(std::floor(std::ldexp(bound, -exponent)));
  return {exponent, bound, static_cast<u128>(steps) * steps};
}

Matrix clipped_features(const Eigen::Ref<const Matrix> &rows, const Grid &grid) {
  const auto dimension = static_cast<std::size_t>(rows.cols());
  Matrix features(rows.cols(), rows.rows());
  Eigen::RowVectorXd record(rows.cols());
  std::vector<std::int64_t> units(dimension);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    record = rows.row(i);
    round_record(record.data(), dimension, grid, units.data());
    for (std::size_t j = 0; j < dimension; ++j)
      features(static_cast<Eigen::Index>(j), i) =
          std::ldexp(static_cast<double>(units[j]), grid.exponent);
  }
  return features;
}

Matrix class_sums(const LabelledRecords &records, std::size_t classes, const Grid &grid) {
  Matrix sums = Matrix::Zero(static_cast<Eigen::Index>(classes), records.features.rows());
  for (Eigen::Index i = 0; i < records.features.cols(); ++i)
    sums.row(records.labels[static_cast<std::size_t>(i)]) +=
        std::ldexp(1.0, -grid.exponent) * records.features.col(i).transpose();
  return sums;
}

void softmax_residual(const Matrix &weights, const double *features, std::int32_t label,
                      std::vector<double> &residual) {
  std::fill(residual.begin(), residual.end(), 0.0);
  const double *weight = weights.data();
  for (Eigen::Index j = 0; j < weights.cols(); ++j)
    for (double &score : residual)
      score += *weight++ * features[j];
  softmax(residual.data(), residual.size());
  residual[static_cast<std::size_t>(label)] -= 1;
}

u128 rate_threshold(double rate) { return static_cast<u128>(std::floor(std::ldexp(rate, 64))); }

// O(records + rate * records * classes * features).
std::vector<std::int64_t> sampled_gradient(const LabelledRecords &records, const Matrix &weights,
                                           const Grid &grid, u128 threshold, RandomSource &random,
                                           const std::function<void()> &interrupt) {
  Gradient gradient(weights);
  std::vector<std::int64_t> sum(gradient.units.size(), 0);
  for (Eigen::Index i = 0; i < records.features.cols(); ++i) {
    if (i % block_records == 0)
      interrupt();
    if (random.word() >= threshold)
      continue;
    gradient.compute(records, i, weights, grid);
    std::transform(sum.begin(), sum.end(), gradient.units.begin(), sum.begin(),
                   [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  return sum;
}

std::vector<std::vector<std::int64_t>> record_gradients(const LabelledRecords &records,
                                                        const Matrix &weights, const Grid &grid) {
  Gradient gradient(weights);
  std::vector<std::vector<std::int64_t>> all;
  for (Eigen::Index i = 0; i < records.features.cols(); ++i) {
    gradient.compute(records, i, weights, grid);
    all.push_back(gradient.units);
  }
  return all;
}

bool one_gradient_apart(const std::vector<std::vector<std::int64_t>> &gradients,
                        const std::vector<std::vector<std::int64_t>> &other, const Grid &grid) {
  auto larger = gradients, smaller = other;
  if (larger.size() < smaller.size())
    std::swap(larger, smaller);
  std::sort(larger.begin(), larger.end());
  std::sort(smaller.begin(), smaller.end());
  std::vector<std::vector<std::int64_t>> rest;
  std::set_symmetric_difference(larger.begin(), larger.end(), smaller.begin(), smaller.end(),
                                std::back_inserter(rest));
  if (rest.size() > 1 || larger.size() - smaller.size() != rest.size())
    return false;
  const std::vector<std::int64_t> zero(rest.empty() ? 0 : rest[0].size(), 0);
  return rest.empty() || within_sensitivity(rest[0], zero, {grid.bound_squared, ~std::uint64_t{0}});
}

Matrix head_gradient(const LabelledRecords &records, const Matrix &weights, double penalty) {
  Matrix gradient = penalty * weights;
  const Eigen::Index n = records.features.cols();
  for (Eigen::Index begin = 0; begin < n; begin += block_records) {
    const Eigen::Index size = std::min(block_records, n - begin);
    const auto block = records.features.middleCols(begin, size);
    Matrix residual = weights * block;
    for (Eigen::Index i = 0; i < size; ++i) {
      softmax(residual.col(i).data(), static_cast<std::size_t>(weights.rows()));
      residual(records.labels[static_cast<std::size_t>(begin + i)], i) -= 1;
    }
    gradient += residual * block.transpose();
  }
  return gradient;
}

std::size_t iteration_limit(double records, std::size_t classes, double bound, double penalty,
                            double tolerance) {
  const double steepest = smoothness(records, bound, penalty);
  const double start = records * std::log(static_cast<double>(classes));
  const double ratio = 12 * steepest * std::sqrt(start / penalty) / tolerance;
  const double steps = 2 * std::sqrt(steepest / penalty) * std::log(std::max(ratio, 1.0));
  return static_cast<std::size_t>(std::min(std::ceil(steps), 1e9)) + 2;
}

ConvexHead fit_convex_head(const LabelledRecords &records, std::size_t classes, double bound,
                           double penalty, double tolerance,
                           const std::function<void()> &interrupt) {
  const auto n = static_cast<double>(records.features.cols());
  const std::size_t limit = iteration_limit(n, classes, bound, penalty, tolerance);
  const double steepest = smoothness(n, bound, penalty);
  const double root = std::sqrt(penalty / steepest);
  Matrix last = Matrix::Zero(static_cast<Eigen::Index>(classes), records.features.rows());
  ConvexHead head{last, 0, 0, false};
  while (head.iterations < limit) {
    interrupt();
    const Matrix gradient = head_gradient(records, head.weights, penalty);
    ++head.iterations;
    head.gradient_norm = gradient.norm() + gradient_rounding(records, head.weights, bound, penalty);
    head.reached = head.gradient_norm <= tolerance;
    if (head.reached)
      break;
    const Matrix next = head.weights - gradient / steepest;
    head.weights = next + (1 - root) / (1 + root) * (next - last);
    last = next;
  }
  return head;
}

} // namespace confide
