#include "randomized_response.h"
#include "support.h"
#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace confide;

namespace {

const std::vector<double> epsilons{0,  1e-300, 1e-17, 1e-9, 0.05, 0.1,  0.5, 1,   2,    5,
                                   10, 20,     22.2,  30,   40,   43.9, 44,  100, 1e308};
const std::vector<std::uint32_t> symbol_counts{2, 3, 4, 5, 10, 100, 1000, 65536, 1000000, 1u << 31};

// Whether a <= e^epsilon b; the exponential from below, at 400 bits.
bool ratio_is_private(u128 a, u128 b, double epsilon) {
  Real bound(400);
  mpfr_set_d(bound.get(), epsilon, MPFR_RNDD);
  mpfr_exp(bound.get(), bound.get(), MPFR_RNDD);
  mpfr_mul_z(bound.get(), bound.get(), Integer(b).get(), MPFR_RNDD);
  return mpfr_cmp_z(bound.get(), Integer(a).get()) >= 0;
}

// total, other and truthful are what the proof needs, and no words are wasted: GMP against the
// bound L.
template <class Word> void check_weights(double epsilon, std::uint32_t k, double served) {
  CAPTURE(epsilon);
  CAPTURE(k);
  const ResponseWeights<Word> w = response_weights<Word>(epsilon, k);
  const ExpBound bound = exp_lower(served);
  CHECK(ratio_is_private(w.truthful, w.other, epsilon));
  CHECK(at_most_times(w.truthful, bound, w.other));
  CHECK(w.truthful >= w.other);
  CHECK(w.other >= 1);
  Integer total(k - 1);
  mpz_mul(total.get(), total.get(), Integer(w.other).get());
  mpz_add(total.get(), total.get(), Integer(w.truthful).get());
  CHECK(mpz_cmp(total.get(), Integer(w.total).get()) == 0);

  // truthful + 1 would exceed L * other; other + 1 would exceed the words there are.
  CHECK_FALSE(at_most_times(static_cast<u128>(w.truthful) + 1, bound, w.other));
  const auto shift = static_cast<mp_bitcnt_t>(-bound.exponent);
  Integer needed(k - 1), available(std::numeric_limits<Word>::max());
  mpz_mul_2exp(needed.get(), needed.get(), shift);
  mpz_add(needed.get(), needed.get(), Integer(bound.mantissa).get());
  mpz_mul(needed.get(), needed.get(), Integer(static_cast<u128>(w.other) + 1).get());
  mpz_mul_2exp(available.get(), available.get(), shift);
  CHECK(mpz_cmp(needed.get(), available.get()) > 0);
}

// One report whose first word is u; a rejected u is followed by the word 0.
struct Draw {
  std::uint32_t report;
  std::size_t words;
};

template <class Word>
Draw draw(ScriptedRandom &random, std::uint32_t truth, const ResponseWeights<Word> &w,
          std::uint64_t u) {
  random.play({u, 0});
  const std::uint32_t report = respond(truth, w, random);
  return {report, random.used()};
}

// The report of the word 0, on which a rejection falls back here.
template <class Word>
std::uint32_t first_report(std::uint32_t truth, const ResponseWeights<Word> &w) {
  return w.truthful > w.other ? truth : 0;
}

void check_draws(std::uint32_t truth, std::uint32_t k, const ResponseWeights<std::uint64_t> &w) {
  ScriptedRandom random;
  const auto check = [&](u128 u, std::uint32_t expected) {
    CAPTURE(static_cast<std::uint64_t>(u));
    const Draw found = draw(random, truth, w, static_cast<std::uint64_t>(u));
    CHECK(found.report == expected);
    CHECK(found.words == 1);
  };
  const u128 surplus = w.truthful - w.other, block = w.other;
  if (surplus > 0) {
    check(0, truth);
    check(surplus - 1, truth);
  }
  check(surplus, 0);
  for (const std::uint32_t j : {1u, 2u, k / 2, k - 1}) {
    if (j >= k)
      continue;
    check(surplus + j * block - 1, j - 1);
    check(surplus + j * block, j);
    if (block > 1)
      check(surplus + j * block + 1, j);
  }
  check(w.total - 1, k - 1);

  for (const std::uint64_t u : {std::uint64_t{1} << 32, w.total / 2}) {
    const Draw found = draw(random, truth, w, u);
    CHECK(found.words == 1);
    const u128 start = surplus + found.report * block;
    const bool in_surplus = u < surplus && found.report == truth;
    const bool in_block = u >= surplus && start <= u && u < start + block;
    CHECK((in_surplus || in_block));
  }

  for (const std::uint64_t u : {w.total, UINT64_MAX}) {
    const Draw found = draw(random, truth, w, u);
    CHECK(found.words == 2);
    CHECK(found.report == first_report(truth, w));
  }
}

} // namespace

TEST_CASE("no report is more than e^epsilon times likelier under one truth than under another") {
  for (const double epsilon : epsilons)
    for (const std::uint32_t k : symbol_counts)
      check_weights<std::uint64_t>(epsilon, k, std::min(epsilon, 44.0));

  std::mt19937_64 engine(6);
  std::uniform_real_distribution<double> logarithm(std::log(1e-12), std::log(44)), size(0, 31);
  for (int i = 0; i < 30000; ++i) {
    const auto k = static_cast<std::uint32_t>(std::max(2.0, std::exp2(size(engine))));
    const double epsilon = std::exp(logarithm(engine));
    check_weights<std::uint64_t>(epsilon, k, epsilon);
  }
}

TEST_CASE("with epsilon 0 all reports are equally likely") {
  for (const std::uint32_t k : symbol_counts) {
    const auto w = response_weights(0, k);
    CHECK(w.truthful == w.other);
    CHECK(worst_log_ratio(w) == 0);
    CHECK(realised_lambda(w) == 0);
  }
}

TEST_CASE("an epsilon above 44 is served as 44") {
  for (const double epsilon : {44.5, 1e308, std::numeric_limits<double>::infinity()}) {
    CHECK(response_weights(epsilon, 7).truthful == response_weights(44, 7).truthful);
    CHECK(response_weights(epsilon, 7).other == response_weights(44, 7).other);
  }
}

TEST_CASE("an epsilon that is no number gives away nothing") {
  const auto w = response_weights(std::nan(""), 5);
  CHECK(w.truthful == w.other);
}

TEST_CASE("every word draws the symbol that owns it, and words from the total on are rejected") {
  int sets = 0;
  for (const double epsilon : epsilons) {
    for (const std::uint32_t k : symbol_counts) {
      CAPTURE(epsilon);
      CAPTURE(k);
      const auto w = response_weights(epsilon, k);
      for (const std::uint32_t truth : {0u, 1u, k - 1})
        check_draws(truth, k, w);
      ++sets;
    }
  }
  CHECK(sets >= 100);
}

TEST_CASE("over all words of the 16-bit twin every report occurs as often as its weight says") {
  struct Setting {
    double epsilon;
    std::uint32_t k;
  };
  ScriptedRandom random;
  for (const Setting &s :
       {Setting{0, 2}, {0, 7}, {0.1, 3}, {1, 2}, {1, 5}, {3, 10}, {5, 300}, {11, 2}, {1e308, 4}}) {
    check_weights<std::uint16_t>(s.epsilon, s.k, std::min(s.epsilon, 11.0));
    const auto w = response_weights<std::uint16_t>(s.epsilon, s.k);
    for (const std::uint32_t truth : {0u, s.k - 1}) {
      CAPTURE(s.epsilon);
      CAPTURE(s.k);
      CAPTURE(truth);
      std::vector<std::uint32_t> counts(s.k, 0);
      std::uint32_t rejected = 0;
      for (std::uint64_t u = 0; u < 65536; ++u) {
        const Draw found = draw(random, truth, w, u);
        REQUIRE(found.report < s.k);
        if (found.words == 1)
          ++counts[found.report];
        else
          ++rejected;
      }
      std::vector<std::uint32_t> weights(s.k, w.other);
      weights[truth] = w.truthful;
      CHECK(counts == weights);
      CHECK(rejected == 65536u - w.total);
    }
  }
}

TEST_CASE("the realised probabilities are those of k-ary randomized response") {
  for (const double epsilon : {0.05, 1.0, 5.0, 20.0}) {
    for (const std::uint32_t k : {2u, 10u, 1000000u}) {
      const auto w = response_weights(epsilon, k);
      const double odds = std::exp(epsilon);
      // truthful loses at most one word in L * other >= 2^64 / (2 k), and doubles lose 2^-52.
      const double tolerance = 2.0 * k * 0x1p-64 + 0x1p-49;
      CHECK(truth_probability(w) == doctest::Approx(odds / (odds + k - 1)).epsilon(tolerance));
      // lambda = (e^epsilon - 1) / (e^epsilon + k - 1); the lost word weighs more in it by 1 / (1 -
      // e^-epsilon).
      CHECK(realised_lambda(w) == doctest::Approx(std::expm1(epsilon) / (odds + k - 1))
                                      .epsilon(tolerance / -std::expm1(-epsilon)));
    }
  }
}

TEST_CASE(
    "the worst log-ratio is exact to double precision and never above what is certified or asked") {
  for (const double epsilon : epsilons) {
    for (const std::uint32_t k : symbol_counts) {
      const auto w = response_weights(epsilon, k);
      const double worst = worst_log_ratio(w);
      CHECK(worst <= certified_epsilon(w.truthful, w.other));
      const double unit = is_long_double_longer() ? 0x1p-52 : 0x1p-51;
      CHECK(worst <= (is_long_double_longer() ? epsilon : epsilon * (1 + unit)));
      Real ratio(400);
      mpfr_set_z(ratio.get(), Integer(w.truthful).get(), MPFR_RNDN);
      mpfr_div_z(ratio.get(), ratio.get(), Integer(w.other).get(), MPFR_RNDN);
      mpfr_log(ratio.get(), ratio.get(), MPFR_RNDN);
      mpfr_d_sub(ratio.get(), worst, ratio.get(), MPFR_RNDN);
      CHECK(std::abs(mpfr_get_d(ratio.get(), MPFR_RNDN)) <= worst * unit);
    }
  }
}
