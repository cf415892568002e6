#include "lambda.h"
#include <Eigen/Dense>
#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace confide;

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

struct Attribute {
  double lambda;
  Vector noise;
};

Vector random_shares(Eigen::Index size, std::mt19937_64 &generator) {
  std::exponential_distribution<double> draw;
  Vector shares(size);
  for (Eigen::Index i = 0; i < size; ++i)
    shares[i] = draw(generator);
  return shares / shares.sum();
}

std::vector<Attribute> random_attributes(const std::vector<Eigen::Index> &sizes, bool uniform,
                                         std::mt19937_64 &generator) {
  std::uniform_real_distribution<double> lambda(0.2, 1);
  std::vector<Attribute> attributes;
  for (const Eigen::Index size : sizes)
    attributes.push_back(
        {lambda(generator), uniform ? Vector::Constant(size, 1.0 / static_cast<double>(size)).eval()
                                    : random_shares(size, generator)});
  return attributes;
}

// The channel of one attribute as a matrix, rows true and columns reported.
Matrix channel(const Attribute &attribute) {
  const Eigen::Index size = attribute.noise.size();
  return attribute.lambda * Matrix::Identity(size, size) +
         (1 - attribute.lambda) * Vector::Ones(size) * attribute.noise.transpose();
}

Matrix kronecker(const Matrix &slow, const Matrix &fast) {
  Matrix product(slow.rows() * fast.rows(), slow.cols() * fast.cols());
  for (Eigen::Index i = 0; i < slow.rows(); ++i)
    for (Eigen::Index j = 0; j < slow.cols(); ++j)
      product.block(i * fast.rows(), j * fast.cols(), fast.rows(), fast.cols()) = slow(i, j) * fast;
  return product;
}

// First attribute fastest: it is the last factor.
Matrix joint_channel(const std::vector<Attribute> &attributes) {
  Matrix joint = Matrix::Identity(1, 1);
  for (const Attribute &attribute : attributes)
    joint = kronecker(channel(attribute), joint);
  return joint;
}

std::vector<Mode> modes(const std::vector<Attribute> &attributes,
                        Mode (*make)(double, const Eigen::Ref<const Vector> &)) {
  std::vector<Mode> result;
  for (const Attribute &attribute : attributes)
    result.push_back(make(attribute.lambda, attribute.noise));
  return result;
}

struct Estimate {
  Vector shares, std_error;
};

Estimate estimate(const ReportedTable &reported, const std::vector<Mode> &inverse,
                  const std::vector<Mode> &squared_inverse) {
  Estimate result{Vector(reported.weight.size()), Vector(reported.weight.size())};
  product_moments(reported, inverse, squared_inverse, {result.shares, result.std_error});
  return result;
}

const std::vector<std::vector<Eigen::Index>> shapes{{2}, {5}, {2, 3, 2}, {4, 2, 5}, {3, 3, 2, 2}};

double largest(const Matrix &difference) { return difference.cwiseAbs().maxCoeff(); }

} // namespace

TEST_CASE("mode-wise maps equal the Kronecker matrices in R's cell order") {
  std::mt19937_64 generator(1);
  for (const auto &shape : shapes)
    for (const bool uniform : {true, false}) {
      const auto attributes = random_attributes(shape, uniform, generator);
      const Matrix joint = joint_channel(attributes);
      const Matrix inverse = joint.inverse();
      const Vector start = random_shares(joint.rows(), generator);

      Vector cells = start;
      apply_modes(cells, modes(attributes, forward_mode));
      CHECK(largest(cells - joint.transpose() * start) < 1e-14);

      cells = start;
      apply_modes_transposed(cells, modes(attributes, forward_mode));
      CHECK(largest(cells - joint * start) < 1e-14);

      cells = start;
      apply_modes(cells, modes(attributes, inverse_mode));
      CHECK(largest(cells - inverse.transpose() * start) < 1e-9);
      CHECK(std::abs(cells.sum() - 1) < 1e-12);

      cells = start;
      apply_modes(cells, modes(attributes, squared_inverse_mode));
      const Matrix squared = inverse.cwiseAbs2();
      CHECK(largest(cells - squared.transpose() * start) < 1e-9 * squared.maxCoeff());
    }
}

TEST_CASE("the inverse has the closed form in the 2^m margins (Ruiz 2026, Property 2)") {
  std::mt19937_64 generator(2);
  const std::vector<Eigen::Index> shape{2, 3, 2};
  const auto attributes = random_attributes(shape, true, generator);
  const Vector reported = random_shares(12, generator);
  Vector estimate = reported;
  apply_modes(estimate, modes(attributes, inverse_mode));
  for (Eigen::Index x = 0; x < 12; ++x) {
    const std::vector<Eigen::Index> cell{x % 2, x / 2 % 3, x / 6};
    double sum = 0;
    for (unsigned subset = 0; subset < 8; ++subset) {
      double factor = 1;
      for (std::size_t j = 0; j < 3; ++j) {
        const double lambda = attributes[j].lambda;
        const auto size = static_cast<double>(shape[j]);
        factor *= subset >> j & 1 ? 1 / lambda : -(1 - lambda) / (size * lambda);
      }
      double margin = 0;
      for (Eigen::Index y = 0; y < 12; ++y) {
        const std::vector<Eigen::Index> other{y % 2, y / 2 % 3, y / 6};
        bool same = true;
        for (std::size_t j = 0; j < 3; ++j)
          same = same && (!(subset >> j & 1) || other[j] == cell[j]);
        margin += same ? reported[y] : 0;
      }
      sum += factor * margin;
    }
    CHECK(std::abs(sum - estimate[x]) < 1e-13);
  }
}

TEST_CASE("standard errors equal those of the covariance matrix, with and without weights") {
  std::mt19937_64 generator(3);
  for (const auto &shape : shapes)
    for (const bool weighted : {true, false}) {
      const auto attributes = random_attributes(shape, false, generator);
      const Matrix inverse = joint_channel(attributes).inverse();
      const double n = 500;
      const Vector weight = n * random_shares(inverse.rows(), generator);
      const Vector square =
          weighted ? weight.cwiseProduct(Vector::LinSpaced(weight.size(), 0.5, 3)).eval() : weight;
      const Estimate moments =
          estimate({weight, square, weighted, n}, modes(attributes, inverse_mode),
                   modes(attributes, squared_inverse_mode));
      const Vector pi = inverse.transpose() * weight / weight.sum();
      CHECK(largest(moments.shares - pi) < 1e-10);
      Matrix covariance = Matrix::Zero(pi.size(), pi.size());
      for (Eigen::Index y = 0; y < weight.size(); ++y) {
        const Vector residual = inverse.row(y).transpose() - pi;
        covariance += square[y] * residual * residual.transpose();
      }
      covariance *= n / (n - 1) / (weight.sum() * weight.sum());
      const Vector expected = covariance.diagonal().cwiseSqrt();
      CHECK(largest((moments.std_error - expected).cwiseQuotient(expected)) < 1e-9);
    }
}

TEST_CASE("cells straight from the records equal the same cells of the joint table") {
  std::mt19937_64 generator(4);
  const std::vector<Eigen::Index> shape{3, 2, 4};
  const auto attributes = random_attributes(shape, false, generator);
  Codes rows(300, 3);
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    for (Eigen::Index j = 0; j < 3; ++j)
      rows(i, j) = static_cast<std::int32_t>(
          generator() % static_cast<std::uint64_t>(shape[static_cast<std::size_t>(j)]));
  const Vector weight = 300 * random_shares(300, generator);
  const Vector square = weight.cwiseAbs2();
  const auto inverse = modes(attributes, inverse_mode);
  Vector total = Vector::Zero(24), squares = total;
  tabulate(rows, weight, {3, 2, 4}, total);
  tabulate(rows, square, {3, 2, 4}, squares);
  const Estimate joint =
      estimate({total, squares, true, 300}, inverse, modes(attributes, squared_inverse_mode));
  std::vector<Question> cells;
  for (std::int32_t x = 0; x < 24; ++x)
    cells.push_back({{x % 3}, {x / 3 % 2}, {x / 6}});
  const CellSums sums = cell_sums({rows, weight, square}, cells, inverse, [] {});
  CHECK(largest(sums.value / weight.sum() - joint.shares) < 1e-13);
  const Matrix values = cell_values(rows, cells, inverse);
  CHECK(largest(values.transpose() * weight - sums.value) < 1e-11);
  CHECK(largest(values.transpose() * square - sums.square_weighted) < 1e-10);
  CHECK(largest(values.cwiseAbs2().transpose() * square - sums.square) < 1e-9);
}

TEST_CASE("an event is estimated as the sum of its cells") {
  std::mt19937_64 generator(11);
  const auto attributes = random_attributes({3, 4}, false, generator);
  const auto inverse = modes(attributes, inverse_mode);
  Codes rows(12, 2);
  for (std::int32_t x = 0; x < 12; ++x)
    rows.row(x) << x % 3, x / 3;
  const std::vector<Question> cells{{{0}, {1}}, {{0}, {3}}, {{2}, {1}}, {{2}, {3}}};
  const std::vector<Question> event{{{0, 2}, {1, 3}}, {{0, 1, 2}, {0, 1, 2, 3}}};
  const Matrix parts = cell_values(rows, cells, inverse);
  const Matrix whole = cell_values(rows, event, inverse);
  CHECK(largest(parts.rowwise().sum() - whole.col(0)) < 1e-13);
  CHECK(largest(whole.col(1) - Vector::Ones(12)) < 1e-13); // the sure event
}

TEST_CASE("distinct patterns keep every weight and appear in order") {
  Codes rows(6, 2);
  rows << 0, 1, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1;
  const Vector weight = Vector::LinSpaced(6, 1, 6);
  const Patterns patterns = distinct_patterns({rows, weight, weight.cwiseAbs2()});
  CHECK(patterns.first_row == std::vector<std::size_t>{0, 1, 3});
  CHECK(patterns.weight == Eigen::Vector3d(1 + 3 + 6, 2 + 5, 4));
  CHECK(patterns.square == Eigen::Vector3d(1 + 9 + 36, 4 + 25, 16));
}

TEST_CASE("the simplex projection is the nearest distribution") {
  std::mt19937_64 generator(5);
  std::normal_distribution<double> draw(0.2, 0.5);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Vector values(6);
    for (Eigen::Index i = 0; i < 6; ++i)
      values[i] = draw(generator);
    const Vector projected = project_to_simplex(values);
    CHECK(projected.minCoeff() >= 0);
    CHECK(std::abs(projected.sum() - 1) < 1e-12);
    // Variational inequality: no distribution makes an acute angle with the residual, and vertices
    // are enough.
    const Vector residual = values - projected;
    CHECK(residual.maxCoeff() - residual.dot(projected) < 1e-12);
  }
}

TEST_CASE("the one-way likelihood optimum meets its optimality conditions") {
  std::mt19937_64 generator(6);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Eigen::Index size = 2 + static_cast<Eigen::Index>(generator() % 12);
    const double lambda = 0.02 + 0.98 * static_cast<double>(generator() % 1000) / 1000;
    Vector reported = random_shares(size, generator).cwiseAbs2();
    if (repeat % 3 == 0)
      reported[0] = 0;
    reported /= reported.sum();
    const Vector shares = maximum_likelihood_one_way(reported, lambda);
    const std::vector<Mode> forward{
        forward_mode(lambda, Vector::Constant(size, 1.0 / static_cast<double>(size)))};
    Vector expected = shares;
    apply_modes(expected, forward);
    Vector gradient = (reported.array() > 0).select(reported.cwiseQuotient(expected), 0.0);
    apply_modes_transposed(gradient, forward);
    CHECK(shares.minCoeff() >= 0);
    CHECK(std::abs(shares.sum() - 1) < 1e-12);
    CHECK(gradient.maxCoeff() < 1 + 1e-9);
    CHECK(largest(shares.cwiseProduct(gradient - Vector::Ones(size))) < 1e-9);
  }
}

TEST_CASE("a single report has no standard error, whatever its weight") {
  std::mt19937_64 generator(9);
  const auto attributes = random_attributes({3, 2}, true, generator);
  for (const double n : {0.3, 1.0})
    for (const bool weighted : {false, true}) {
      Vector cells = Vector::Zero(6);
      cells[2] = weighted ? 2.5 : n;
      const Vector square = weighted ? cells.array().square().matrix() : cells;
      const Estimate found = estimate({cells, square, weighted, n}, modes(attributes, inverse_mode),
                                      modes(attributes, squared_inverse_mode));
      CHECK(found.std_error.array().isNaN().all());
      CHECK(found.shares.sum() == doctest::Approx(1));
    }
}
