#include "choice_tree.h"
#include "exponential_mechanism.h"
#include "seeded_random.h"
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

namespace choice_tree {

// Above Bernoulli(e^-g).
struct SelectionLayer : Coins {
  explicit SelectionLayer(Walk &walk) : Coins{walk} {}
};

bool bernoulli_exp(confide::u128 p, confide::u128 q, SelectionLayer &layer) {
  return layer.walk.flip(std::exp(-static_cast<Real>(p) / static_cast<Real>(q)));
}

} // namespace choice_tree

using namespace confide;
using choice_tree::Real;

namespace {

using Scores = std::vector<std::int64_t>;

choice_tree::Law law_of(const Scores &scores, const SelectionLaw &law) {
  const std::int64_t best = *std::max_element(scores.begin(), scores.end());
  return choice_tree::enumerate([&](choice_tree::Walk &walk) -> std::optional<std::int64_t> {
    choice_tree::SelectionLayer layer{walk};
    const auto chosen = selection_trial(scores, best, law.rate, layer);
    if (!chosen)
      return std::nullopt;
    return static_cast<std::int64_t>(*chosen);
  });
}

const std::vector<Scores> all_scores{
    {5}, {0, 0, 0}, {3, -4, 10, 9}, {1000, 0, 999, 1001, 500}, {-7, -7, -8}, {0, 256, 512, 100}};

} // namespace

TEST_CASE("candidates are chosen with exactly the probabilities of the exponential mechanism") {
  for (const double epsilon : {0.1, 1.0, 1.0 / 3, 20.0})
    for (const std::uint64_t sensitivity : {1, 2, 256, 512}) {
      const SelectionLaw law = selection_law(epsilon, sensitivity);
      for (const Scores &scores : all_scores) {
        const auto found = law_of(scores, law);
        const std::int64_t best = *std::max_element(scores.begin(), scores.end());
        Real total = 0;
        const auto weight = [&](std::int64_t score) {
          return std::exp(static_cast<Real>(law.realised) * static_cast<Real>(score - best) /
                          static_cast<Real>(2 * sensitivity));
        };
        for (const std::int64_t score : scores)
          total += weight(score);
        for (std::size_t j = 0; j < scores.size(); ++j)
          CHECK(std::abs(found.probability(static_cast<std::int64_t>(j)) -
                         weight(scores[j]) / total) < 1e-14L);
      }
    }
}

TEST_CASE("the loss has epsilon-bounded range over all neighbours") {
  const double epsilon = 0.7;
  const SelectionLaw law = selection_law(epsilon, 1);
  const Scores scores{4, 0, 2};
  const auto here = law_of(scores, law);
  for (int a = -1; a <= 1; ++a)
    for (int b = -1; b <= 1; ++b)
      for (int c = -1; c <= 1; ++c) {
        const auto there = law_of({4 + a, b, 2 + c}, law);
        Real least = 1e9L, most = -1e9L;
        for (int j = 0; j < 3; ++j) {
          const Real loss = std::log(here.probability(j) / there.probability(j));
          least = std::min(least, loss);
          most = std::max(most, loss);
        }
        CHECK(most - least <= epsilon * (1 + 1e-12L));
      }
}

TEST_CASE("what is realised is never above what was asked, and close to it") {
  for (const double epsilon : {0x1p-40, 1e-9, 0.011009637651, 1.0, 7.3, 0x1p20}) {
    const SelectionLaw law = selection_law(epsilon, 256);
    CHECK(law.realised <= epsilon);
    CHECK(law.realised >= epsilon - 0x1p-40);
    // numerator / denominator = realised / 512, exactly
    CHECK(static_cast<double>(law.rate.numerator) * 512 ==
          law.realised * static_cast<double>(law.rate.denominator));
  }
  for (const double epsilon : {0.0, -1.0, 0x1p-41, 0x1p21, std::nan(""), HUGE_VAL})
    CHECK_THROWS_AS(selection_law(epsilon, 1), PlanRefused);
  CHECK_THROWS_AS(selection_law(1, 0), PlanRefused);
  CHECK_THROWS_AS(selection_law(1, (std::uint64_t{1} << 20) + 1), PlanRefused);
}

TEST_CASE("the widest gaps of scores stay in range") {
  SeededRandom random(1);
  const std::int64_t wide = std::int64_t{1} << 61;
  for (int i = 0; i < 100; ++i)
    CHECK(select({-wide, wide, 0}, selection_law(0x1p20, 1), random) == 1);
}
