#include "rounding.h"
#include <cmath>
#include <doctest/doctest.h>
#include <gmp.h>
#include <limits>
#include <random>

using namespace confide;

namespace {

// Sign of the exact sum minus a candidate, in rational arithmetic.
int compare_with_sum(double candidate, const Eigen::VectorXd &values) {
  mpq_t sum, value;
  mpq_inits(sum, value, nullptr);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    mpq_set_d(value, values[i]);
    mpq_add(sum, sum, value);
  }
  mpq_set_d(value, candidate);
  const int order = mpq_cmp(value, sum);
  mpq_clears(sum, value, nullptr);
  return order;
}

} // namespace

TEST_CASE("the sum is the smallest double at or above the exact sum") {
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> exponent(-60, 6);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    Eigen::VectorXd values(1 + static_cast<Eigen::Index>(generator() % 12));
    for (Eigen::Index i = 0; i < values.size(); ++i)
      values[i] = std::exp2(exponent(generator));
    const double sum = sum_rounded_up(values);
    REQUIRE(compare_with_sum(sum, values) >= 0);
    REQUIRE(compare_with_sum(std::nextafter(sum, 0.0), values) < 0);
  }
}

TEST_CASE("exact sums stay exact, and infinity is infinite") {
  CHECK(sum_rounded_up(Eigen::Vector3d(1, 2, 0.5)) == 3.5);
  CHECK(sum_rounded_up(Eigen::VectorXd()) == 0);
  CHECK(sum_rounded_up(Eigen::VectorXd::Constant(10, 0.1)) > 1);
  CHECK(std::isinf(sum_rounded_up(Eigen::Vector2d(1, std::numeric_limits<double>::infinity()))));
}
