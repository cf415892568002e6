#include "count_search.h"
#include "seeded_random.h"
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>
#include <memory>

namespace {

using namespace confide;

std::function<std::uint64_t()> scripted(std::vector<std::uint64_t> draws) {
  auto queue = std::make_shared<std::vector<std::uint64_t>>(std::move(draws));
  return [queue, next = std::size_t{0}]() mutable { return queue->at(next++); };
}

TEST_CASE("the first count with its noise at the threshold or above is found") {
  const std::vector<std::int64_t> counts{0, 3, 5, 9};
  const auto none = [] { return scripted({0, 0, 0, 0}); };
  CHECK(first_above(counts, 5, scripted({0}), none()) == 2);
  CHECK(first_above(counts, 5, scripted({1}), none()) == 3);
  CHECK(first_above(counts, 5, scripted({0}), scripted({0, 2})) == 1);
  CHECK(first_above(counts, 5, scripted({0}), scripted({5})) == 0);
  CHECK(first_above(counts, 5, scripted({5}), none()) == 4);
  CHECK(first_above(counts, -3, scripted({0}), none()) == 0);
  CHECK(first_above({}, 5, scripted({0}), none()) == 0);
}

TEST_CASE("the rates are dyadic, at most what the budget pays, and e2 is twice e1") {
  for (const double budget : {0x1p-36, 1e-9, 0.1, 1.0 / 3, 1.0, 12345.678, 0x1p40})
    for (const Measure measure : {Measure::rho, Measure::epsilon}) {
      const CountSearchPlan plan = count_search_plan(budget, measure, 100);
      const auto rate = [](const Rational &scale) {
        return mpq_class(mpz_class(static_cast<unsigned long>(scale.denominator)),
                         mpz_class(static_cast<unsigned long>(scale.numerator)));
      };
      mpq_class e1 = rate(plan.threshold_scale), e2 = rate(plan.query_scale);
      e1.canonicalize();
      e2.canonicalize();
      REQUIRE(e2 == 2 * e1);
      const mpq_class length = e1 + 2 * e2;
      const mpq_class cost =
          measure == Measure::rho ? mpq_class(length * length / 8) : mpq_class(e1 + e2);
      REQUIRE(cost <= mpq_class(budget));
      REQUIRE(cost == mpq_class(plan.realised));
      REQUIRE(cost > mpq_class(budget * (1 - 0x1p-21)));
    }
  CHECK_THROWS_AS(count_search_plan(0x1p-37, Measure::rho, 1), PlanRefused);
  CHECK_THROWS_AS(count_search_plan(NAN, Measure::rho, 1), PlanRefused);
  CHECK_THROWS_AS(count_search_plan(1, Measure::rho, INFINITY), PlanRefused);
}

TEST_CASE("geometric draws have the law of their scale") {
  SeededRandom random(1);
  constexpr int draws = 200000;
  std::vector<double> cells(8, 0);
  for (int i = 0; i < draws; ++i)
    cells[std::min<std::size_t>(7, scaled_geometric(Rational{5, 2}, random))] += 1;
  double statistic = 0; // 7 degrees of freedom; above 40.5 once in a million
  for (int x = 0; x < 8; ++x) {
    const double tail = std::exp(-0.4 * x);
    const double expected = draws * (x < 7 ? tail * (1 - std::exp(-0.4)) : tail);
    statistic += (cells[static_cast<std::size_t>(x)] - expected) *
                 (cells[static_cast<std::size_t>(x)] - expected) / expected;
  }
  CHECK(statistic < 40.5);
}

TEST_CASE("only counts that move one way by one at most are those of neighbours") {
  CHECK(one_sided({1, 2, 3}, {1, 3, 4}));
  CHECK(one_sided({1, 2, 3}, {0, 2, 2}));
  CHECK_FALSE(one_sided({1, 2, 3}, {2, 2, 2}));
  CHECK_FALSE(one_sided({1, 2, 3}, {1, 4, 3}));
  CHECK_FALSE(one_sided({1, 2, 3}, {1, 2}));
}

} // namespace
