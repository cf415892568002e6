#include "random_matrix.h"
#include "records.h"
#include "seeded_random.h"
#include <Eigen/Cholesky>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>

namespace {

using namespace confide;

std::vector<const double *> columns_of(const Eigen::MatrixXd &x) {
  std::vector<const double *> columns;
  for (Eigen::Index k = 0; k < x.cols(); ++k)
    columns.push_back(x.col(k).data());
  return columns;
}

u128 squares(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b) {
  u128 sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto move = static_cast<u128>(std::abs(a[k] - b[k]));
    sum += move * move;
  }
  return sum;
}

TEST_CASE("whitened records solve the triangle, and a row gives the same wherever it stands") {
  SeededRandom random(1);
  const Eigen::MatrixXd x = random_matrix(2500, 5, random);
  const Eigen::MatrixXd a = random_matrix(5, 5, random);
  const Eigen::MatrixXd sigma = a * a.transpose() + Eigen::MatrixXd::Identity(5, 5);
  const Eigen::MatrixXd root = sigma.llt().matrixL();
  const Eigen::VectorXd centre = random_matrix(5, 1, random);
  Eigen::MatrixXd y(5, 2500), backwards(5, 2500);
  whiten(columns_of(x), 0, centre, root, y, no_interrupt);
  const Eigen::MatrixXd back = (root * y).transpose();
  CHECK((back.rowwise() + centre.transpose() - x).cwiseAbs().maxCoeff() < 1e-12);
  const Eigen::MatrixXd reversed = x.colwise().reverse();
  whiten(columns_of(reversed), 0, centre, root, backwards, no_interrupt);
  CHECK((backwards.rowwise().reverse().array() == y.array()).all());
  Eigen::MatrixXd part(5, 3);
  whiten(columns_of(x), 2000, centre, root, part, no_interrupt);
  CHECK((part.array() == y.middleCols(2000, 3).array()).all());
}

TEST_CASE("clipped integers of hostile records move within the sensitivity of their plan") {
  SeededRandom random(2);
  const double huge = 1e308, tiny = 5e-324;
  for (const Eigen::Index d : {1, 2, 3, 7})
    for (const double bound : {1e-3, 1.0, 777.7})
      for (const double rho : {1e-6, 0.3, 1e9}) {
        const SumPlan plan =
            gaussian_sum_plan(bound, rho, 100, Neighbours::replace, static_cast<std::size_t>(d));
        const Eigen::VectorXd centre = random_matrix(d, 1, random);
        std::vector<std::vector<std::int64_t>> sums;
        const std::vector<std::int64_t> zero(static_cast<std::size_t>(d), 0);
        for (int i = 0; i < 40; ++i) {
          Eigen::MatrixXd record = random_matrix(d, 1, random) * std::pow(10.0, i % 8 - 4);
          if (i % 5 == 0)
            record(0, 0) = i % 2 == 0 ? huge : -huge;
          if (i % 7 == 0)
            record(d - 1, 0) = tiny;
          if (i % 11 == 0)
            record = centre - 2 * (record - centre); // beyond the centre
          sums.push_back(clipped_sum(record, centre, plan.grid, no_interrupt));
          REQUIRE(squares(sums.back(), zero) <= plan.grid.bound_squared);
        }
        for (const auto &a : sums)
          for (const auto &b : sums)
            REQUIRE(squares(a, b) <= plan.sensitivity.l2_squared);
      }
}

TEST_CASE("a clipped record that rounding in doubles lengthens is kept within the bound") {
  // records of whole coordinates whose norm, in grid steps, is just above the double that bounds it
  const std::int64_t pairs[][2] = {{8155784, 7378747}, {5955532, 4981655}};
  const std::vector<std::int64_t> zero(2, 0);
  const Eigen::Vector2d centre = Eigen::Vector2d::Zero();
  for (const auto &pair : pairs) {
    const auto a = static_cast<double>(pair[0]), b = static_cast<double>(pair[1]);
    const double bound = std::nextafter(std::sqrt(a * a + b * b), 0);
    // the rho at which a step of the grid is 1
    double rho = 1;
    SumPlan plan = gaussian_sum_plan(bound, rho, 100, Neighbours::replace, 2);
    while (plan.grid.exponent != 0) {
      rho *= plan.grid.exponent > 0 ? 2 : 0.5;
      plan = gaussian_sum_plan(bound, rho, 100, Neighbours::replace, 2);
    }
    const u128 squared = static_cast<u128>(pair[0] * pair[0] + pair[1] * pair[1]);
    REQUIRE(plan.grid.bound_squared + 1 == squared);
    const Eigen::MatrixXd record = Eigen::Vector2d(3 * a, 3 * b);
    const double factor = bound / distance(record.data(), centre.data(), 2);
    CHECK(static_cast<std::int64_t>(3 * a * factor) == pair[0]); // too long by less than a step
    CHECK(static_cast<std::int64_t>(3 * b * factor) == pair[1]);
    CHECK(squares(clipped_sum(record, centre, plan.grid, no_interrupt), zero) <=
          plan.grid.bound_squared);
  }
}

TEST_CASE("a sum is that of its records' integers, in any order; absent ones add nothing") {
  SeededRandom random(3);
  Eigen::MatrixXd y = random_matrix(3, 70000, random);
  y.col(5).setConstant(std::numeric_limits<double>::quiet_NaN());
  const SumPlan plan = gaussian_sum_plan(1.5, 0.5, 70000, Neighbours::replace, 3);
  const Eigen::VectorXd centre = Eigen::VectorXd::Constant(3, 0.25);
  std::vector<std::int64_t> one_by_one(3, 0);
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const auto units = clipped_sum(y.col(i), centre, plan.grid, no_interrupt);
    for (std::size_t k = 0; k < 3; ++k)
      one_by_one[k] += units[k];
  }
  CHECK(clipped_sum(y, centre, plan.grid, no_interrupt) == one_by_one);
  CHECK(clipped_sum(y.rowwise().reverse(), centre, plan.grid, no_interrupt) == one_by_one);
  CHECK(clipped_sum(y.col(5), centre, plan.grid, no_interrupt) ==
        std::vector<std::int64_t>{0, 0, 0});
}

TEST_CASE("the quick and the careful way round alike") {
  SeededRandom random(4);
  const SumPlan plan = gaussian_sum_plan(2, 0.5, 100, Neighbours::replace, 6);
  // rho this large leaves the range of the quick way
  const SumPlan fine = gaussian_sum_plan(2, 1e6, 100, Neighbours::replace, 6);
  REQUIRE(plan.grid.bound_squared < static_cast<u128>(1) << 52);
  REQUIRE(fine.grid.bound_squared >= static_cast<u128>(1) << 52);
  const Eigen::VectorXd centre = Eigen::VectorXd::Zero(6);
  const int shift = plan.grid.exponent - fine.grid.exponent;
  for (int i = 0; i < 2000; ++i) {
    const Eigen::MatrixXd y = random_matrix(6, 1, random);
    const auto coarse = clipped_sum(y, centre, plan.grid, no_interrupt);
    const auto exact = clipped_sum(y, centre, fine.grid, no_interrupt);
    for (std::size_t k = 0; k < 6; ++k)
      REQUIRE(std::abs(coarse[k] - exact[k] / (std::int64_t{1} << shift)) <= 1);
  }
}

TEST_CASE("counts are those of a naive comparison; absent records are counted nowhere") {
  SeededRandom random(5);
  Eigen::MatrixXd y = random_matrix(4, 1000, random);
  y.col(7).setConstant(std::numeric_limits<double>::quiet_NaN());
  y(1, 8) = 1e300; // its square overflows
  const Eigen::VectorXd centre = Eigen::VectorXd::Constant(4, 0.5);
  const std::vector<double> radii{0.5, 1, 2, 3, 5};
  const Eigen::VectorXd cells = count_distances(y, centre, radii, no_interrupt);
  double running = 0;
  for (std::size_t k = 0; k < radii.size(); ++k) {
    running += cells[static_cast<Eigen::Index>(k)];
    double naive = 0;
    for (Eigen::Index i = 0; i < y.cols(); ++i)
      naive += distance(y.col(i).data(), centre.data(), 4) <= radii[k] ? 1 : 0;
    CHECK(running == naive);
  }
  CHECK(cells.sum() == 999);
  const Eigen::MatrixXd none(4, 0);
  const Eigen::MatrixXd each = count_projections(y, centre, none, {-1, 0, 1}, no_interrupt);
  CHECK(each.col(2).sum() == 999);
  CHECK(each(0, 2) == ((y.row(2).array() - 0.5) <= -1).count());
  const Eigen::MatrixXd axes = Eigen::MatrixXd::Identity(4, 2);
  const Eigen::MatrixXd along = count_projections(y, centre, axes, {-1, 0, 1}, no_interrupt);
  CHECK((along.col(0).array() == each.col(0).array()).all());
  CHECK(count_pair_distances(y, radii, no_interrupt).sum() == 499);
}

TEST_CASE("differences are taken within pairs of rows") {
  Eigen::MatrixXd x(5, 2);
  x << 1, 10, 4, 10, 0, -1, 0, 3, 7, 7; // the fifth row has no partner
  const Eigen::MatrixXd cells = count_differences(columns_of(x), 5, {0, 3, 10}, no_interrupt);
  CHECK(cells.col(0) == Eigen::Vector4d(1, 1, 0, 0));
  CHECK(cells.col(1) == Eigen::Vector4d(1, 0, 1, 0));
}

TEST_CASE("a rotation keeps norms and is undone by its inverse") {
  SeededRandom random(6);
  const Eigen::MatrixXd y = random_matrix(8, 20, random);
  const Eigen::MatrixXd turned = rotate(y, false);
  CHECK((turned.colwise().norm() - y.colwise().norm()).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((rotate(turned, true) - y).cwiseAbs().maxCoeff() < 1e-12);
  CHECK_THROWS(rotate(random_matrix(6, 1, random), false));
}

TEST_CASE("the terms of the linearised step are those of its formula, within the grid") {
  SeededRandom random(7);
  const Eigen::MatrixXd y = random_matrix(3, 500, random);
  const Eigen::VectorXd centre = Eigen::VectorXd::Zero(3);
  const SumPlan plan = gaussian_sum_plan(std::sqrt(0.5), 0.1, 500, Neighbours::replace, 2);
  const double radius = 2.5;
  double lambda = 0, share = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const double a = y.col(i).norm();
    lambda += a <= radius ? 1 : (1 - 1.0 / 3) * radius / a;
    share += std::min(a, radius) * std::min(a, radius) / (radius * radius);
  }
  const auto units = linearised_sum(y, centre, radius, plan.grid, no_interrupt);
  const double step = std::ldexp(1.0, plan.grid.exponent);
  CHECK(std::abs(static_cast<double>(units[0]) * step + 250 - lambda) < 500 * 2 * step);
  CHECK(std::abs(static_cast<double>(units[1]) * step + 250 - share) < 500 * 2 * step);
}

} // namespace
