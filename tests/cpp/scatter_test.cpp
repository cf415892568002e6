#include "random_matrix.h"
#include "records.h"
#include "scatter.h"
#include "seeded_random.h"
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>
#include <limits>

namespace {

using namespace confide;

mpz_class frobenius(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b) {
  mpz_class sum = 0;
  std::size_t place = 0;
  for (std::size_t column = 0; place < a.size(); ++column)
    for (std::size_t row = 0; row <= column; ++row, ++place) {
      const mpz_class move = mpz_class(static_cast<long>(a[place])) - static_cast<long>(b[place]);
      sum += (row == column ? 1 : 2) * move * move;
    }
  return sum;
}

mpz_class big(u128 x) {
  const mpz_class high = static_cast<unsigned long>(x >> 64);
  return (high << 64) + static_cast<unsigned long>(x);
}

TEST_CASE("the noise of a matrix realises at most its budget, and nearly all of it") {
  for (const double rho : {1e-8, 1e-3, 0.15, 1.0, 100.0, 1e6})
    for (const Neighbours neighbours : {Neighbours::replace, Neighbours::zero_out}) {
      const ScatterPlan plan = scatter_plan(rho, 1000, neighbours);
      const mpz_class bound = mpz_class(static_cast<long>(plan.steps)) * plan.steps;
      const mpz_class squared = (neighbours == Neighbours::replace ? 2 : 1) * bound * bound;
      REQUIRE(big(plan.sensitivity_squared) == squared);
      mpq_class cost(squared, 4 * mpz_class(static_cast<unsigned long>(plan.half_variance)));
      cost.canonicalize();
      REQUIRE(cost <= mpq_class(rho));
      REQUIRE(cost <= mpq_class(plan.realised));
      REQUIRE(plan.realised <= rho);
    }
  CHECK_THROWS_AS(scatter_plan(1e-30, 2000, Neighbours::replace), PlanRefused);
  CHECK_THROWS_AS(scatter_plan(0, 2000, Neighbours::replace), PlanRefused);
  CHECK_THROWS_AS(scatter_plan(NAN, 2000, Neighbours::replace), PlanRefused);
}

TEST_CASE("as many records as there may be leave the sums of a matrix within their integers") {
  for (const double rho : {1e-8, 1.0, 1e6, 0x1p30 * 1.01, 0x1p39})
    for (const Neighbours neighbours : {Neighbours::replace, Neighbours::zero_out})
      for (const int digits : {0, 10, 20, 22, 24, 31, 40}) {
        const std::size_t n = std::size_t{1} << digits;
        const ScatterPlan plan = scatter_plan(rho, n, neighbours);
        const mpz_class bound = mpz_class(static_cast<long>(plan.steps)) * plan.steps;
        REQUIRE(bound * static_cast<unsigned long>(n) < mpz_class(1) << 61);
        REQUIRE(plan.realised <= rho);
        if (digits <= 20) // where there is room the grid is as fine as for one record
          REQUIRE(plan.steps == scatter_plan(rho, 1, neighbours).steps);
      }
  CHECK_THROWS_AS(scatter_plan(1, std::size_t{1} << 60, Neighbours::replace), PlanRefused);
}

TEST_CASE("outer products of hostile records move within the Frobenius sensitivity") {
  SeededRandom random(1);
  const ScatterPlan plan = scatter_plan(0.15, 2000, Neighbours::replace);
  for (const Eigen::Index d : {1, 2, 5}) {
    const Eigen::VectorXd centre = random_matrix(d, 1, random);
    std::vector<std::vector<std::int64_t>> sums;
    for (Eigen::Index axis = 0; axis < d; ++axis) { // orthogonal ones attain it
      Eigen::MatrixXd record = centre;
      record(axis, 0) += 1e6;
      sums.push_back(scatter_sum(record, centre, 2, plan, no_interrupt));
    }
    for (int i = 0; i < 30; ++i) {
      Eigen::MatrixXd record = random_matrix(d, 1, random) * std::pow(10.0, i % 8 - 4);
      if (i % 5 == 0)
        record(0, 0) = i % 2 == 0 ? 1e308 : 1e160;
      sums.push_back(scatter_sum(record, centre, 2, plan, no_interrupt));
    }
    for (const auto &a : sums)
      for (const auto &b : sums) {
        REQUIRE(frobenius(a, b) <= big(plan.sensitivity_squared));
        REQUIRE(within_scatter_sensitivity(a, b, plan));
      }
  }
}

TEST_CASE("the largest move is found to be no neighbour's when only absence is allowed") {
  const ScatterPlan plan = scatter_plan(0.15, 2000, Neighbours::zero_out);
  const Eigen::MatrixXd one = Eigen::Vector2d(9, 0), two = Eigen::Vector2d(0, 9);
  const auto a = scatter_sum(one, Eigen::Vector2d::Zero(), 1, plan, no_interrupt);
  const auto b = scatter_sum(two, Eigen::Vector2d::Zero(), 1, plan, no_interrupt);
  CHECK(within_scatter_sensitivity(a, {0, 0, 0}, plan));
  CHECK_FALSE(within_scatter_sensitivity(a, b, plan));
}

TEST_CASE("an entry off the diagonal counts twice in the norm of a matrix") {
  const ScatterPlan plan = scatter_plan(0.15, 2000, Neighbours::replace);
  const auto most =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(plan.sensitivity_squared))) - 1;
  CHECK(within_scatter_sensitivity({most, 0, 0}, {0, 0, 0}, plan));
  CHECK_FALSE(within_scatter_sensitivity({0, most, 0}, {0, 0, 0}, plan));
  CHECK(within_scatter_sensitivity({0, most / 2, 0}, {0, 0, 0}, plan));
}

TEST_CASE("a sum is that of its records, and close to the plain second moments") {
  SeededRandom random(2);
  Eigen::MatrixXd y = random_matrix(4, 1500, random);
  y.col(3).setConstant(std::numeric_limits<double>::quiet_NaN());
  const Eigen::VectorXd centre = Eigen::VectorXd::Constant(4, 0.5);
  const ScatterPlan plan = scatter_plan(0.15, 2000, Neighbours::replace);
  const auto sum = scatter_sum(y, centre, 3, plan, no_interrupt);
  std::vector<std::int64_t> one_by_one(10, 0);
  Eigen::MatrixXd naive = Eigen::MatrixXd::Zero(4, 4);
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const auto units = scatter_sum(y.col(i), centre, 3, plan, no_interrupt);
    for (std::size_t k = 0; k < 10; ++k)
      one_by_one[k] += units[k];
    const Eigen::VectorXd move = y.col(i) - centre;
    if (i != 3)
      naive += move * move.transpose() / std::max(9.0, move.squaredNorm());
  }
  CHECK(sum == one_by_one);
  const double bound = static_cast<double>(plan.steps) * static_cast<double>(plan.steps);
  std::size_t place = 0;
  for (Eigen::Index column = 0; column < 4; ++column)
    for (Eigen::Index row = 0; row <= column; ++row)
      // each record's entry is off by less than two steps of the grid
      CHECK(std::abs(static_cast<double>(sum[place++]) / bound - naive(row, column)) <
            1500 * 2.0 / static_cast<double>(plan.steps));
}

TEST_CASE("sums of no records, and of whole blocks, are what they should be") {
  const ScatterPlan plan = scatter_plan(1, 2000, Neighbours::replace);
  const Eigen::Vector2d centre = Eigen::Vector2d::Zero();
  const std::vector<std::int64_t> zero(3, 0);
  CHECK(scatter_sum(Eigen::MatrixXd(2, 0), centre, 1, plan, no_interrupt) == zero);
  for (const Eigen::Index n : {511, 512, 513, 1024}) {
    const Eigen::MatrixXd y = Eigen::Vector2d(5, 0).replicate(1, n);
    CHECK(scatter_sum(y, centre, 1, plan, no_interrupt) ==
          std::vector<std::int64_t>{plan.steps * plan.steps * n, 0, 0});
  }
}

TEST_CASE("signs of pairs have norm one, and equal or absent pairs add nothing") {
  Eigen::MatrixXd y(2, 7);
  y << 0, 3, 1, 1, std::nan(""), 2, 5, 0, 4, 2, 2, std::nan(""), 2, 5;
  const ScatterPlan plan = scatter_plan(1, 2000, Neighbours::replace);
  const auto sum = sign_scatter_sum(y, Eigen::Matrix2d::Identity(), plan, no_interrupt);
  const auto m = static_cast<double>(plan.steps);
  CHECK(static_cast<double>(sum[0]) == doctest::Approx(0.36 * m * m).epsilon(1e-3));
  CHECK(static_cast<double>(sum[1]) == doctest::Approx(0.48 * m * m).epsilon(1e-3));
  CHECK(static_cast<double>(sum[2]) == doctest::Approx(0.64 * m * m).epsilon(1e-3));
}

TEST_CASE("directions whose squares underflow are no longer than others") {
  const ScatterPlan plan = scatter_plan(1, 2000, Neighbours::replace);
  const std::int64_t longest = plan.steps * plan.steps;
  int stretched = 0; // by the norm that was computed
  for (const Eigen::Index d : {1, 2, 3})
    for (double size = 1e-163; size < 1e-160; size *= 1.07) {
      Eigen::MatrixXd pair = Eigen::MatrixXd::Zero(d, 2);
      pair.col(0).setConstant(size);
      const auto sum = sign_scatter_sum(pair, Eigen::MatrixXd::Identity(d, d), plan, no_interrupt);
      std::int64_t trace = 0;
      for (std::size_t column = 0, place = 0; place < sum.size(); place += ++column + 1)
        trace += sum[place];
      REQUIRE(trace <= longest);
      const double norm = distance(pair.col(0).data(), pair.col(1).data(), d);
      stretched += norm > 0 && norm < size * std::sqrt(static_cast<double>(d)) * 0.9 ? 1 : 0;
    }
  CHECK(stretched > 0);
}

TEST_CASE("a released matrix is symmetric with the noise of its plan") {
  SeededRandom random(3);
  const ScatterPlan plan = scatter_plan(0.5, 2000, Neighbours::replace);
  const std::vector<std::int64_t> units(10, 0);
  double diagonal = 0, other = 0;
  constexpr int draws = 4000;
  for (int i = 0; i < draws; ++i) {
    const Eigen::MatrixXd noisy = noisy_scatter(units, 4, plan, random);
    REQUIRE(noisy == noisy.transpose());
    diagonal += noisy.diagonal().squaredNorm() / 4;
    other += noisy.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().squaredNorm() / 6;
  }
  const double bound = static_cast<double>(plan.steps) * static_cast<double>(plan.steps);
  const double variance = 2 * static_cast<double>(plan.half_variance) / (bound * bound);
  // a mean of 16,000 squares has a relative standard error of sqrt(2 / 16000) = .011
  CHECK(std::abs(diagonal / draws / variance - 1) < 0.056);
  CHECK(std::abs(other / draws / (variance / 2) - 1) < 0.056);
  CHECK_THROWS(noisy_scatter(units, 5, plan, random));
}

} // namespace
