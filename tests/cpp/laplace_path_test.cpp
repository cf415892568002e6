#include "choice_tree.h"
#include "laplace_path.h"
#include <cmath>
#include <doctest/doctest.h>

using namespace confide;
using choice_tree::Real;

// Coins with probability e^-g and geometric numbers are single choices by their proved laws.
namespace path_layer {

struct Laws {
  choice_tree::Walk &walk;
};

Real ratio_of(const Rational &scale) {
  return std::exp(-static_cast<Real>(scale.denominator) / static_cast<Real>(scale.numerator));
}

// From here on numbers have probability e^-20 at most.
int cut_of(const Rational &scale) {
  return static_cast<int>(20 * scale.numerator / scale.denominator);
}

std::uint64_t scaled_geometric(const Rational &scale, Laws &laws) {
  const int cut = cut_of(scale);
  const Real ratio = ratio_of(scale);
  std::vector<Real> probabilities;
  for (int k = 0; k < cut; ++k)
    probabilities.push_back((1 - ratio) * std::pow(ratio, static_cast<Real>(k)));
  probabilities.push_back(std::pow(ratio, static_cast<Real>(cut)));
  return laws.walk.choose(std::move(probabilities));
}

std::int64_t discrete_laplace(const Rational &scale, Laws &laws) {
  const int cut = cut_of(scale);
  const Real ratio = ratio_of(scale);
  std::vector<Real> probabilities;
  for (int y = -cut; y <= cut; ++y)
    probabilities.push_back((1 - ratio) / (1 + ratio) *
                            std::pow(ratio, static_cast<Real>(std::abs(y))));
  return static_cast<std::int64_t>(laws.walk.choose(std::move(probabilities))) - cut;
}

bool bernoulli_exp(u128 p, u128 q, Laws &laws) {
  return laws.walk.flip(std::exp(-static_cast<Real>(p) / static_cast<Real>(q)));
}

} // namespace path_layer

using path_layer::Laws;

TEST_CASE("a geometric number of the narrow scale widens to the wide scale") {
  // scales 2 and 3/2 over the denominator 2
  const std::uint64_t wide = 4, narrow = 3, denominator = 2;
  const auto law = choice_tree::enumerate([&](choice_tree::Walk &walk) {
    Laws laws{walk};
    const std::uint64_t k = scaled_geometric(Rational{narrow, denominator}, laws);
    return std::optional<std::int64_t>(
        static_cast<std::int64_t>(k + widening(wide, narrow, denominator, laws)));
  });
  const Real ratio = std::exp(-0.5L);
  for (std::int64_t y = 0; y < 20; ++y)
    CHECK(std::abs(law.probability(y) - (1 - ratio) * std::pow(ratio, static_cast<Real>(y))) <
          1e-8L);
}

TEST_CASE("a level keeps the finer level's noise with the probability of the closed form") {
  // b = 2 and 1
  const auto law = choice_tree::enumerate([&](choice_tree::Walk &walk) {
    Laws laws{walk};
    return std::optional<std::int64_t>(static_cast<std::int64_t>(widening(2, 1, 1, laws)));
  });
  const auto mass_at = [](Real wide, Real narrow, std::int64_t k) {
    const Real v = std::expm1(1 / wide) / std::expm1(1 / narrow), ratio = std::exp(-1 / wide);
    return (k == 0 ? v : 0) + (1 - v) * (1 - ratio) * std::pow(ratio, static_cast<Real>(k));
  };
  for (std::int64_t k = 0; k < 20; ++k)
    CHECK(std::abs(law.probability(k) - mass_at(2, 1, k)) < 1e-8L);
  // b = 4 and 2: up - down is 0 with probability w + (1 - w) tanh(1 / 8)
  Real same = 0;
  for (std::int64_t k = 0; k < 400; ++k)
    same += mass_at(4, 2, k) * mass_at(4, 2, k);
  const Real w = .246134082738L;
  CHECK(std::abs(same - (w + (1 - w) * std::tanh(0.125L))) < 1e-11L);
}

TEST_CASE("the wide level of a path has the discrete Laplace law of its own scale") {
  // scales 1/4 and 1/5
  const LaplaceLadder ladder{{5, 4}, 20};
  const auto law = choice_tree::enumerate([&](choice_tree::Walk &walk) {
    Laws laws{walk};
    return std::optional<std::int64_t>(laplace_noise_path(ladder, laws).front());
  });
  const Real ratio = std::exp(-4.0L);
  for (std::int64_t y = -6; y <= 6; ++y)
    CHECK(std::abs(law.probability(y) -
                   (1 - ratio) / (1 + ratio) * std::pow(ratio, static_cast<Real>(std::abs(y)))) <
          1e-7L);
}

TEST_CASE("a ladder's scales serve their epsilons and no wider noise would be refused") {
  for (const std::uint64_t l1 : {std::uint64_t{1}, std::uint64_t{7}}) {
    const std::vector<double> epsilons{1e-4, 0.01, 1.0 / 3, 2};
    const LaplaceLadder ladder = laplace_ladder(l1, epsilons);
    for (std::size_t k = 0; k < epsilons.size(); ++k) {
      const Rational scale{ladder.numerators[k], ladder.denominator};
      CHECK(realised_epsilon(l1, scale) <= epsilons[k]);
      CHECK(realised_epsilon(l1, scale) > epsilons[k] * (1 - 1e-5));
      CHECK(ladder.numerators[k] <= std::uint64_t{1} << 40);
    }
  }
  CHECK_THROWS_AS(laplace_ladder(1, {1, 1 + 1e-9}), PlanRefused);
  CHECK_THROWS_AS(laplace_ladder(1, {1e-13}), PlanRefused);
  CHECK_THROWS_AS(laplace_ladder(1, {1, 1e9}), PlanRefused);
}
