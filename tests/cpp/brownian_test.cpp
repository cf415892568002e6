#include "brownian.h"
#include "seeded_random.h"
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>

namespace {

using namespace confide;

mpz_class big(u128 x) {
  const mpz_class high = static_cast<unsigned long>(x >> 64);
  return (high << 64) + static_cast<unsigned long>(x);
}

mpq_class rational(const Rational &x) {
  return mpq_class(mpz_class(static_cast<unsigned long>(x.numerator)),
                   mpz_class(static_cast<unsigned long>(x.denominator)));
}

} // namespace

TEST_CASE("a measurement claims no less than the exact quotient and no more than asked") {
  for (const bool whole : {true, false})
    for (const double sensitivity : {1.0, std::sqrt(2.0), std::sqrt(3.0), 10.0})
      for (const double rho : {1e-6, 0.01, 0.37, 2.0})
        for (const std::size_t dimension : {std::size_t{1}, std::size_t{100}}) {
          const SumPlan plan = refinement_plan({sensitivity, dimension, whole}, rho);
          const mpq_class exact = big(plan.sensitivity.l2_squared) / (2 * rational(plan.noise));
          CHECK(exact <= mpq_class(plan.realised));
          CHECK(plan.realised <= plan.asked);
          // never below the continuous mechanism with this noise
          const double sd = std::sqrt(1 / plan_precision(plan));
          CHECK(plan.realised >= sensitivity * sensitivity / (2 * sd * sd) * (1 - 1e-12));
          CHECK(plan.realised > rho * (1 - 1e-6));
        }
}

TEST_CASE("squares of roots are whole squared distances") {
  CHECK(refinement_plan({std::sqrt(3.0), 2, true}, 1).sensitivity.l2_squared == 3);
  CHECK(refinement_plan({1.5, 2, true}, 1).sensitivity.l2_squared == 2);
  CHECK_THROWS_AS(refinement_plan({0.9, 2, true}, 1), PlanRefused);
  CHECK_THROWS_AS(refinement_plan({0, 2, false}, 1), PlanRefused);
  CHECK_THROWS_AS(refinement_plan({INFINITY, 2, false}, 1), PlanRefused);
}

TEST_CASE("the budget for a precision buys it") {
  for (const bool whole : {true, false})
    for (const double sd : {1.5, 20.0, 1e5}) {
      const RefinedQuery query{1, 3, whole};
      const SumPlan plan = refinement_plan(query, refinement_rho(query, 1 / (sd * sd)));
      CHECK(1 / std::sqrt(plan_precision(plan)) == doctest::Approx(sd).epsilon(1e-5));
    }
}

TEST_CASE("rounding moves a number by at most the ceiling of its distance") {
  CHECK(nearest_units({0.5, 1.5, -0.5, 0.49999999999999994, 1e300, -1e300}, 0) ==
        std::vector<std::int64_t>{1, 2, 0, 0, sum_limit, -sum_limit});
  CHECK(nearest_units({1, -3, 0.375}, -3) == std::vector<std::int64_t>{8, -24, 3});
  SeededRandom random(3);
  for (int i = 0; i < 10000; ++i) {
    const double x = static_cast<double>(random.below(1 << 20)) / 512 - 700;
    const double y = x + static_cast<double>(random.below(4000)) / 1000;
    const auto units = nearest_units({x, y}, 0);
    REQUIRE(units[1] >= units[0]);
    REQUIRE(static_cast<double>(units[1] - units[0]) <= std::ceil(y - x));
  }
}

TEST_CASE("neighbours whose every coordinate rounding drives apart stay within what is paid for") {
  int beyond = 0; // the distance itself
  for (const std::size_t dimension : {std::size_t{1}, std::size_t{9}, std::size_t{100}})
    for (const double rho : {1e-3, 0.5, 40.0})
      for (double sensitivity = 1; sensitivity < 2; sensitivity += 0.01) {
        const SumPlan plan = refinement_plan({sensitivity, dimension, false}, rho);
        const double step = std::ldexp(1, plan.grid.exponent);
        const double move = sensitivity / std::sqrt(static_cast<double>(dimension)) * (1 - 1e-15);
        // just below a half step, so that a little more than whole steps moves one step further
        const std::vector<double> here(dimension, step * (0.5 - 1e-4));
        const std::vector<double> there(dimension, step * (0.5 - 1e-4) + move);
        mpz_class squared = 0;
        for (std::size_t i = 0; i < dimension; ++i) {
          const mpz_class steps = static_cast<long>(nearest_units(there, plan.grid.exponent)[i] -
                                                    nearest_units(here, plan.grid.exponent)[i]);
          squared += steps * steps;
        }
        REQUIRE(squared <= mpz_class(big(plan.sensitivity.l2_squared)));
        const double distance = sensitivity / step;
        beyond += squared > mpz_class(distance * distance) ? 1 : 0;
      }
  CHECK(beyond > 100);
}

TEST_CASE("running means weigh measurements by their precision") {
  // y_k = (eps_{k-1} y_{k-1} + (eps_k - eps_{k-1}) z_k) / eps_k on the grid 10^(-2 + k / 3)
  RefinedMean mean;
  const double z[] = {5, 6, 7, 4};
  const double expected[] = {5, 5.5358411166387, 6.3203976476355, 5.0770331810806};
  double before = 0;
  for (int k = 0; k < 4; ++k) {
    const double epsilon = std::pow(10, -2 + k / 3.0);
    mean.add(Eigen::VectorXd::Constant(1, z[k]), epsilon - before);
    before = epsilon;
    CHECK(mean.estimate[0] == doctest::Approx(expected[k]).epsilon(1e-12));
  }
}

TEST_CASE("measurements at a sequence of variances centre on the counts and narrow") {
  SeededRandom random(11);
  const std::vector<std::int64_t> counts(4000, 250);
  const auto means = refined_means(counts, {{100, 1}, {25, 1}, {4, 1}}, random);
  double precision = 0;
  const double variances[] = {100, 25, 4};
  for (std::size_t k = 0; k < 3; ++k) {
    precision += 1 / variances[k];
    CHECK(means[k].precision == doctest::Approx(precision));
    const Eigen::ArrayXd error = means[k].estimate.array() - 250;
    // five standard errors of a mean and of a variance
    CHECK(std::abs(error.mean()) < 5 / std::sqrt(4000 * precision));
    CHECK(error.square().mean() * precision == doctest::Approx(1).epsilon(5 * std::sqrt(2 / 4e3)));
  }
}
