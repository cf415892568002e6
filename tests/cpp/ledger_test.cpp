#include "ledger.h"
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>
#include <limits>
#include <random>

namespace {

using namespace confide;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Oracle: exact rationals, largest part found afresh.
struct NaiveLedger {
  mpq_class everybody = 0;
  std::map<std::string, mpq_class> parts;

  void add(const std::string &part, double epsilon) {
    (part.empty() ? everybody : parts[part]) += mpq_class(epsilon);
  }
  mpq_class spent() const {
    mpq_class largest = 0;
    for (const auto &part : parts)
      largest = part.second > largest ? part.second : largest;
    return everybody + largest;
  }
};

void check_rounded_up(double claim, const mpq_class &exact) {
  REQUIRE(exact <= mpq_class(claim));
  REQUIRE(exact > mpq_class(std::nextafter(claim, -infinity)));
}

} // namespace

TEST_CASE("a ledger's sums are the exact ones rounded up, with refunds too") {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> size(-30, 3);
  for (int run = 0; run < 20; ++run) {
    Ledger ledger(infinity);
    NaiveLedger naive;
    for (int i = 0; i < 200; ++i) {
      const std::string part = std::array<std::string, 4>{"", "a", "b", "c"}[engine() % 4];
      const double epsilon = std::exp2(size(engine));
      REQUIRE(ledger.charge({"x", part, epsilon}));
      naive.add(part, epsilon);
      if (i % 7 == 0) {
        ledger.refund({"x", part, epsilon / 3});
        naive.add(part, -epsilon / 3);
      }
      check_rounded_up(ledger.spent(), naive.spent());
      REQUIRE(ledger.spent_with({"", "b", 1}) >= ledger.spent());
    }
  }
}

TEST_CASE("a ledger refuses what exceeds its limit and keeps nothing of it") {
  Ledger ledger(1);
  CHECK(ledger.charge({"x", "a", 0.75}));
  CHECK_FALSE(ledger.charge({"x", "a", 0.26}));
  CHECK(ledger.charge({"x", "b", 0.9}));
  CHECK(ledger.spent() == 0.9);
  CHECK_FALSE(ledger.charge({"x", "", 0.11}));
  CHECK(ledger.charge({"x", "", 0.1}));
  CHECK_FALSE(ledger.charge({"x", "a", 0.16}));
  CHECK(ledger.charge({"x", "a", 0.15}));
  CHECK(ledger.entries().size() == 4);
  CHECK_FALSE(ledger.charge({"x", "", 2e-9}));
}
