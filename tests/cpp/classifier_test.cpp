#include "classifier.h"
#include "seeded_random.h"
#include <cmath>
#include <doctest/doctest.h>

namespace {

using namespace confide;
using Eigen::Index;
using Eigen::MatrixXd;

// Made-up records with features up to twice the bound, before they are clipped.
struct Made {
  MatrixXd features;
  std::vector<std::int32_t> labels;
  LabelledRecords view() const {
    return {{features.data(), features.rows(), features.cols()}, labels};
  }
  LabelledRecords first(std::size_t n) const {
    return {{features.data(), features.rows(), static_cast<Index>(n)},
            {labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(n)}};
  }
};

Made make(Index n, Index features, std::int32_t classes, double bound, std::uint64_t seed) {
  SeededRandom random(seed);
  const auto uniform = [&] { return static_cast<double>(random.below(1 << 20)) / (1 << 19) - 1; };
  MatrixXd rows(n, features);
  for (Index j = 0; j < features; ++j)
    for (Index i = 0; i < n; ++i)
      rows(i, j) = 2 * bound * uniform();
  Made made{clipped_features(rows, feature_grid(bound)), {}};
  for (Index i = 0; i < n; ++i)
    made.labels.push_back(static_cast<std::int32_t>(random.below(classes)));
  return made;
}

MatrixXd weights_for(Index classes, Index features, std::uint64_t seed) {
  SeededRandom random(seed);
  MatrixXd weights(classes, features);
  for (Index i = 0; i < weights.size(); ++i)
    weights.data()[i] = static_cast<double>(random.below(4001)) / 1000 - 2;
  return weights;
}

double squared_length(const std::vector<std::int64_t> &units) {
  double sum = 0;
  for (const std::int64_t unit : units)
    sum += static_cast<double>(unit) * static_cast<double>(unit);
  return sum;
}

double loss(const LabelledRecords &records, const MatrixXd &weights, double penalty) {
  double total = penalty / 2 * weights.squaredNorm();
  for (Index i = 0; i < records.features.cols(); ++i) {
    const Eigen::VectorXd scores = weights * records.features.col(i);
    total +=
        std::log(scores.array().exp().sum()) - scores[records.labels[static_cast<std::size_t>(i)]];
  }
  return total;
}

} // namespace

TEST_CASE("features are no longer than the bound, exactly, and short rows keep their numbers") {
  for (const double bound : {1e-3, 1.0, 1.5, 60.0, 1e6}) {
    const Grid grid = feature_grid(bound);
    const Made made = make(200, 7, 3, bound, 1);
    for (Index i = 0; i < made.features.cols(); ++i) {
      double squares = 0;
      for (Index j = 0; j < 7; ++j) {
        const double unit = std::ldexp(made.features(j, i), -grid.exponent);
        REQUIRE(unit == std::round(unit));
        squares += unit * unit;
      }
      REQUIRE(squares <= static_cast<double>(grid.bound_squared));
    }
    const double step = std::ldexp(1.0, grid.exponent);
    CHECK(step * std::sqrt(static_cast<double>(grid.bound_squared)) <= bound);
    CHECK(step * std::sqrt(static_cast<double>(grid.bound_squared)) > bound * (1 - 0x1p-15));
  }
  MatrixXd rows(1, 2);
  rows << 0.3, -0.4;
  const MatrixXd kept = clipped_features(rows, feature_grid(1));
  CHECK(std::abs(kept(0, 0) - 0.3) < 0x1p-16);
  CHECK(std::abs(kept(1, 0) + 0.4) < 0x1p-16);
}

TEST_CASE("a gradient is the outer product of residual and features while it is short") {
  const Made made = make(20, 5, 3, 1, 2);
  const MatrixXd weights = weights_for(3, 5, 3);
  const Grid grid{-30, 4, u128{1} << 64};
  const auto gradients = record_gradients(made.view(), weights, grid);
  for (Index i = 0; i < 20; ++i)
    for (Index k = 0; k < 3; ++k)
      for (Index j = 0; j < 5; ++j) {
        const Eigen::VectorXd scores = weights * made.features.col(i);
        const double share = std::exp(scores[k]) / scores.array().exp().sum();
        const double expected =
            (share - (made.labels[static_cast<std::size_t>(i)] == k)) * made.features(j, i);
        const auto unit =
            gradients[static_cast<std::size_t>(i)][static_cast<std::size_t>(3 * j + k)];
        CHECK(std::abs(std::ldexp(static_cast<double>(unit), -30) - expected) < 0x1p-29);
      }
}

TEST_CASE("gradients are within the bound whatever the weights are") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Made made = make(100, 5, 3, 1, 4);
  const SumPlan plan = gaussian_sum_plan(0.1, 0.03, 1000, Neighbours::add_remove, 15);
  for (const double scale : {0.0, 1.0, 1e3, 1e150, 1e308, infinity}) {
    const MatrixXd weights = scale * weights_for(3, 5, 5).array();
    for (const auto &units : record_gradients(made.view(), weights, plan.grid))
      REQUIRE(squared_length(units) <= static_cast<double>(plan.grid.bound_squared) * (1 + 1e-15));
  }
}

TEST_CASE("one record more moves the sum by its own gradient, wherever the others lie") {
  const Made made = make(50, 9, 4, 1, 6);
  const MatrixXd weights = weights_for(4, 9, 7);
  const SumPlan plan = gaussian_sum_plan(1, 0.03, 1000, Neighbours::add_remove, 36);
  const auto all = record_gradients(made.view(), weights, plan.grid);
  for (std::size_t left_out = 0; left_out < 50; ++left_out) {
    Made fewer = made;
    fewer.labels.erase(fewer.labels.begin() + static_cast<std::ptrdiff_t>(left_out));
    fewer.features.resize(9, 49);
    for (Index i = 0, to = 0; i < 50; ++i)
      if (i != static_cast<Index>(left_out))
        fewer.features.col(to++) = made.features.col(i);
    const auto others = record_gradients(fewer.view(), weights, plan.grid);
    CHECK(one_gradient_apart(all, others, plan.grid));
    CHECK(one_gradient_apart(others, all, plan.grid));
  }
  CHECK(one_gradient_apart(all, all, plan.grid));
  const auto two_fewer = record_gradients(made.first(48), weights, plan.grid);
  CHECK_FALSE(one_gradient_apart(all, two_fewer, plan.grid));
  Made changed = made;
  changed.labels[0] = (changed.labels[0] + 1) % 4;
  CHECK_FALSE(
      one_gradient_apart(all, record_gradients(changed.view(), weights, plan.grid), plan.grid));
  const Grid half{plan.grid.exponent, 1, 1};
  CHECK_FALSE(one_gradient_apart(all, record_gradients(made.first(49), weights, plan.grid), half));
}

TEST_CASE("everybody is in the sample with the rate's probability, on their own") {
  CHECK(rate_threshold(1) == u128{1} << 64);
  CHECK(rate_threshold(0.5) == u128{1} << 63);
  const Made made = make(40, 2, 2, 1, 8);
  const MatrixXd weights = weights_for(2, 2, 9);
  const Grid grid{-30, 4, u128{1} << 64};
  const auto gradients = record_gradients(made.view(), weights, grid);
  SeededRandom random(10);
  const auto everybody = sampled_gradient(made.view(), weights, grid, rate_threshold(1), random);
  std::vector<std::int64_t> total(4, 0);
  for (const auto &units : gradients)
    for (std::size_t k = 0; k < 4; ++k)
      total[k] += units[k];
  CHECK(everybody == total);
  // binomial counts of a single record, five standard errors; and of two records together
  const int draws = 20000;
  int first = 0, both = 0;
  for (int i = 0; i < draws; ++i) {
    const auto sum = sampled_gradient(made.first(2), weights, grid, rate_threshold(0.3), random);
    const bool one = sum == gradients[0], two = sum[0] == gradients[0][0] + gradients[1][0];
    first += one || two;
    both += two;
  }
  CHECK(std::abs(first - 0.3 * draws) < 5 * std::sqrt(draws * 0.3 * 0.7));
  CHECK(std::abs(both - 0.09 * draws) < 5 * std::sqrt(draws * 0.09 * 0.91));
}

TEST_CASE("class sums are exact integers") {
  const Made made = make(300, 4, 3, 1.5, 11);
  const Grid grid = feature_grid(1.5);
  const MatrixXd sums = class_sums(made.view(), 3, grid);
  MatrixXd expected = MatrixXd::Zero(3, 4);
  for (Index i = 0; i < 300; ++i)
    for (Index j = 0; j < 4; ++j)
      expected(made.labels[static_cast<std::size_t>(i)], j) +=
          std::round(std::ldexp(made.features(j, i), -grid.exponent));
  CHECK(sums == expected);
}

TEST_CASE("the gradient of the head is that of its loss") {
  const Made made = make(1500, 4, 3, 1, 12); // more than one block
  MatrixXd weights = weights_for(3, 4, 13);
  const MatrixXd gradient = head_gradient(made.view(), weights, 2);
  for (Index i = 0; i < weights.size(); ++i) {
    const double h = 1e-5, kept = weights.data()[i];
    weights.data()[i] = kept + h;
    const double above = loss(made.view(), weights, 2);
    weights.data()[i] = kept - h;
    const double below = loss(made.view(), weights, 2);
    weights.data()[i] = kept;
    // the error of a central difference is h^2 n / 6, its rounding loss * 2^-52 / h
    CHECK(std::abs((above - below) / (2 * h) - gradient.data()[i]) < 1e-6);
  }
}

TEST_CASE("the solver reaches its tolerance within the proved number of steps, for any data") {
  for (const Index n : {0, 1, 3, 200, 3000})
    for (const double penalty : {0.01, 1.0, 100.0})
      for (const double bound : {0.1, 1.0, 10.0}) {
        if (bound * bound * static_cast<double>(n) / penalty > 1e5)
          continue; // many steps
        const Made made = make(n, 3, 4, bound, 14);
        const double tolerance = 1e-3 * bound;
        const auto head = fit_convex_head(made.view(), 4, bound, penalty, tolerance);
        CHECK(head.reached);
        CHECK(head.iterations <=
              iteration_limit(static_cast<double>(n), 4, bound, penalty, tolerance));
        CHECK(head_gradient(made.view(), head.weights, penalty).norm() <= head.gradient_norm);
        CHECK(head.gradient_norm <= tolerance);
      }
  // one person, thousand times over: the worst conditioning
  Made same = make(1, 3, 4, 1, 15);
  const MatrixXd one = same.features;
  same.features = one.replicate(1, 1000);
  same.labels.assign(1000, 2);
  CHECK(fit_convex_head(same.view(), 4, 1, 0.1, 1e-3).reached);
}

TEST_CASE("minima of neighbours are no further apart than the sensitivity") {
  const double penalty = 0.5, tolerance = 1e-3;
  const double sensitivity = (std::sqrt(2.0) + 2 * tolerance) / penalty;
  double largest = 0;
  for (std::uint64_t seed = 20; seed < 60; ++seed) {
    Made made = make(1 + static_cast<Index>(seed % 7), 2, 2, 1, seed);
    const auto n = made.labels.size();
    const auto with = fit_convex_head(made.view(), 2, 1, penalty, tolerance);
    const auto without = fit_convex_head(made.first(n - 1), 2, 1, penalty, tolerance);
    const double moved = (with.weights - without.weights).norm();
    CHECK(moved <= sensitivity);
    largest = std::max(largest, moved);
  }
  // a single record of full length on its own: half the gradient's bound for two even classes
  CHECK(largest > sensitivity / 6);
}
