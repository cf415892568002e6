#include "support.h"
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

using namespace confide;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

u128 random_u128(std::mt19937_64 &engine) {
  const u128 value = (static_cast<u128>(engine()) << 64) | engine();
  return value >> (engine() % 128);
}

// Counts arguments for which the bound exceeds e^x or misses it by more than 2^-62 of e^x; 400-bit
// MPFR.
class ExpOracle {
public:
  void check(double x) {
    const ExpBound bound = exp_lower(x);
    mpfr_set_d(exact_.get(), x, MPFR_RNDN);
    mpfr_exp(exact_.get(), exact_.get(), MPFR_RNDD);
    mpfr_set_ui(bound_.get(), bound.mantissa, MPFR_RNDN);
    mpfr_mul_2si(bound_.get(), bound_.get(), bound.exponent, MPFR_RNDN);
    mpfr_sub(gap_.get(), exact_.get(), bound_.get(), MPFR_RNDU);
    mpfr_div(gap_.get(), gap_.get(), exact_.get(), MPFR_RNDU);
    above += mpfr_sgn(gap_.get()) < 0;
    loose += mpfr_cmp_d(gap_.get(), 0x1p-62) > 0;
    unnormalised += (bound.mantissa >> 63) == 0;
    ++arguments;
  }

  int arguments = 0, above = 0, loose = 0, unnormalised = 0;

private:
  Real exact_{400}, bound_{400}, gap_{400};
};

// log(a / b) from below to 400 bits, subtracted from e.
double overshoot(double e, u128 a, u128 b) {
  Real ratio(400), divisor(400);
  mpfr_set_z(ratio.get(), Integer(a).get(), MPFR_RNDN);
  mpfr_set_z(divisor.get(), Integer(b).get(), MPFR_RNDN);
  mpfr_div(ratio.get(), ratio.get(), divisor.get(), MPFR_RNDN);
  mpfr_log(ratio.get(), ratio.get(), MPFR_RNDN);
  mpfr_d_sub(ratio.get(), e, ratio.get(), MPFR_RNDN);
  return mpfr_get_d(ratio.get(), MPFR_RNDN);
}

void check_epsilon(u128 a, u128 b) {
  const double e = certified_epsilon(a, b);
  CHECK(at_most_times(a, exp_lower(e), b));
  const double excess = overshoot(e, a, b);
  CHECK(excess >= 0);
  const int units = is_long_double_longer() ? 2 : 3;
  CHECK(excess <= std::max(units * (std::nextafter(e, infinity) - e), 0x1p-60));
}

} // namespace

TEST_CASE("exp_lower is never above e^x and within 2^-62 of it") {
  std::mt19937_64 engine(2);
  std::uniform_real_distribution<double> to44(0, 44), to89(0, 89),
      exponent(std::log(1e-300), std::log(89));
  ExpOracle oracle;
  for (int i = 0; i < 200000; ++i) {
    oracle.check(to44(engine));
    oracle.check(std::exp(exponent(engine)));
  }
  for (int i = 0; i < 100000; ++i) {
    oracle.check(to89(engine));
    oracle.check(static_cast<double>(engine() >> 12) * std::numeric_limits<double>::denorm_min());
  }
  for (int power = -1074; power <= 6; ++power) {
    const double x = std::ldexp(1.0, power);
    oracle.check(x);
    oracle.check(std::nextafter(x, 0));
    oracle.check(std::nextafter(x, infinity));
  }
  for (int x = 0; x <= 89; ++x)
    oracle.check(x);
  CHECK(oracle.arguments >= 600000);
  CHECK(oracle.above == 0);
  CHECK(oracle.loose == 0);
  CHECK(oracle.unnormalised == 0);
}

TEST_CASE("e^0 is 1 exactly, and an argument that is no number is served as 0") {
  for (const double x : {0.0, -0.0, std::nan(""), -1.0}) {
    CHECK(exp_lower(x).mantissa == std::uint64_t{1} << 63);
    CHECK(exp_lower(x).exponent == -63);
  }
}

TEST_CASE("arguments beyond 89 are served as 89") {
  for (const double x : {89.5, 710.0, 1e308, infinity}) {
    CHECK(exp_lower(x).mantissa == exp_lower(89).mantissa);
    CHECK(exp_lower(x).exponent == exp_lower(89).exponent);
  }
}

TEST_CASE("256-bit products, shifts and comparisons agree with GMP") {
  std::mt19937_64 engine(3);
  const auto as_integer = [](Integer &out, const U256 &x) {
    mpz_mul_2exp(out.get(), Integer(x.high).get(), 128);
    mpz_add(out.get(), out.get(), Integer(x.low).get());
  };
  for (int i = 0; i < 20000; ++i) {
    const u128 x = random_u128(engine), y = random_u128(engine);
    const U256 product = multiply(x, y);
    Integer found, expected;
    as_integer(found, product);
    mpz_mul(expected.get(), Integer(x).get(), Integer(y).get());
    CHECK(mpz_cmp(found.get(), expected.get()) == 0);

    const auto distance = static_cast<unsigned>(engine() % 260);
    Integer shifted;
    as_integer(found, shift_right(product, distance));
    mpz_fdiv_q_2exp(shifted.get(), expected.get(), distance);
    CHECK(mpz_cmp(found.get(), shifted.get()) == 0);
    as_integer(found, shift_left(product, distance));
    mpz_mul_2exp(shifted.get(), expected.get(), distance);
    mpz_fdiv_r_2exp(shifted.get(), shifted.get(), 256);
    CHECK(mpz_cmp(found.get(), shifted.get()) == 0);

    const U256 other{i % 3 == 0 ? product.high : random_u128(engine), random_u128(engine)};
    as_integer(found, other);
    CHECK((product <= other) == (mpz_cmp(expected.get(), found.get()) <= 0));
    CHECK(product <= product);
  }
}

TEST_CASE("at_most_times decides a <= L b exactly, at the boundary too") {
  std::mt19937_64 engine(4);
  std::uniform_real_distribution<double> argument(0, 89);
  const auto expected = [](u128 a, const ExpBound &bound, u128 b) {
    Integer left(a), right(b);
    mpz_mul_ui(right.get(), right.get(), bound.mantissa);
    mpz_ptr scaled = bound.exponent >= 0 ? right.get() : left.get();
    mpz_mul_2exp(scaled, scaled, static_cast<mp_bitcnt_t>(std::abs(bound.exponent)));
    return mpz_cmp(left.get(), right.get()) <= 0;
  };
  int boundaries = 0;
  for (int i = 0; i < 20000; ++i) {
    const ExpBound bound = exp_lower(i % 100 == 0 ? 0 : argument(engine));
    const u128 b = random_u128(engine);
    const u128 a = random_u128(engine);
    CHECK(at_most_times(a, bound, b) == expected(a, bound, b));

    Integer edge(b); // floor(L b)
    mpz_mul_ui(edge.get(), edge.get(), bound.mantissa);
    mpz_mul_2exp(edge.get(), edge.get(), 128);
    mpz_fdiv_q_2exp(edge.get(), edge.get(), static_cast<mp_bitcnt_t>(128 - bound.exponent));
    if (mpz_sizeinbase(edge.get(), 2) > 127)
      continue;
    u128 largest = 0;
    mpz_export(&largest, nullptr, -1, sizeof largest, 0, 0, edge.get());
    CHECK(at_most_times(largest, bound, b));
    CHECK_FALSE(at_most_times(largest + 1, bound, b));
    ++boundaries;
  }
  CHECK(boundaries > 5000);
  CHECK(at_most_times(0, exp_lower(1), 0));
  CHECK_FALSE(at_most_times(1, exp_lower(1), 0));
  CHECK(at_most_times(~static_cast<u128>(0), exp_lower(89), 1));
}

TEST_CASE("certified_epsilon is certified and at most a few units in the last place too large") {
  std::mt19937_64 engine(5);
  const u128 largest = ~static_cast<u128>(0);
  for (int i = 0; i < 50000; ++i) {
    const u128 x = random_u128(engine), y = random_u128(engine);
    check_epsilon(std::max(x, y) | 1, std::min(x, y) | 1);
    const u128 small = x >> 2 | 1;
    check_epsilon(small + 1 + (y & 0xFF), small);
  }
  check_epsilon(largest, 1);
  check_epsilon(largest, largest - 1);
  check_epsilon(2, 1);
}

TEST_CASE("certified_epsilon is zero when and only when the ratio is one") {
  const u128 largest = ~static_cast<u128>(0);
  for (const u128 a : {static_cast<u128>(1), static_cast<u128>(UINT64_MAX), largest - 1})
    CHECK(certified_epsilon(a, a) == 0);
  CHECK(certified_epsilon(largest, largest - 1) > 0);
}

TEST_CASE("a ratio is kept when and only when it is from 1 to e^epsilon") {
  std::mt19937_64 engine(6);
  std::uniform_real_distribution<double> any(0, 30);
  int kept = 0;
  for (int i = 0; i < 20000; ++i) {
    const double epsilon = any(engine);
    const std::uint64_t low = (engine() >> 32) | 1, high = engine() >> (engine() % 40);
    // at 400 bits; no random ratio is within 2^-62 of e^epsilon, where the bound may be in doubt
    Real most(400);
    mpfr_set_d(most.get(), epsilon, MPFR_RNDD);
    mpfr_exp(most.get(), most.get(), MPFR_RNDD);
    mpfr_mul_z(most.get(), most.get(), Integer(low).get(), MPFR_RNDD);
    const bool within = mpfr_cmp_z(most.get(), Integer(high).get()) >= 0;
    CHECK(keeps_ratio(high, low, epsilon) == (low <= high && within));
    kept += keeps_ratio(high, low, epsilon);
  }
  CHECK(kept > 2000);
  CHECK(kept < 18000);
  CHECK(keeps_ratio(5, 5, 0));
  CHECK_FALSE(keeps_ratio(6, 5, 0));
  CHECK_FALSE(keeps_ratio(5, 6, 1));
  CHECK(keeps_ratio(2, 1, 0.7));
  CHECK_FALSE(keeps_ratio(2, 1, 0.69));
  CHECK_FALSE(keeps_ratio(1, 0, 1e308));
}
