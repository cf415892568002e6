#include "choice_tree.h"
#include "noise.h"
#include "seeded_random.h"
#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <functional>

// Layers for the choice trees. Each puts the proved law of the samplers below in their place; the
// sampler under test is always the one of the package.
namespace choice_tree {

// Above Bernoulli(p/q).
struct RatioLayer {
  Walk &walk;
};

bool bernoulli_ratio(confide::u128 p, confide::u128 q, RatioLayer &layer) {
  return layer.walk.flip(static_cast<Real>(p) / static_cast<Real>(q));
}

// Above Bernoulli(e^-g), g <= 1.
struct UnitLayer {
  Walk &walk;
};

bool bernoulli_exp_unit(confide::u128 p, confide::u128 q, UnitLayer &layer) {
  REQUIRE(p <= q);
  return layer.walk.flip(std::exp(-static_cast<Real>(p) / static_cast<Real>(q)));
}

// Above the geometric law, which is cut where e^-v is below 1e-21.
struct GeometricLayer : Coins {
  explicit GeometricLayer(Walk &walk) : Coins{walk} {}
};

bool bernoulli_exp_unit(confide::u128 p, confide::u128 q, GeometricLayer &layer) {
  REQUIRE(p <= q);
  return layer.walk.flip(std::exp(-static_cast<Real>(p) / static_cast<Real>(q)));
}

std::uint64_t geometric(GeometricLayer &layer) {
  std::vector<Real> probabilities;
  for (int v = 0; v <= 48; ++v)
    probabilities.push_back((1 - std::exp(-1.0L)) * std::exp(-static_cast<Real>(v)));
  return layer.walk.choose(std::move(probabilities));
}

Real laplace_mass(Real y, Real scale) {
  return std::tanh(0.5L / scale) * std::exp(-std::abs(y) / scale);
}

// Above the discrete Laplace law and Bernoulli(e^-g).
struct LaplaceLayer {
  Walk &walk;
};

bool bernoulli_exp(confide::u128 p, confide::u128 q, LaplaceLayer &layer) {
  return layer.walk.flip(std::exp(-static_cast<Real>(p) / static_cast<Real>(q)));
}

std::int64_t discrete_laplace(const confide::Rational &scale, LaplaceLayer &layer) {
  const Real b = static_cast<Real>(scale.numerator) / static_cast<Real>(scale.denominator);
  const auto reach = static_cast<std::int64_t>(std::ceil(48 * b));
  std::vector<Real> probabilities;
  for (std::int64_t y = -reach; y <= reach; ++y)
    probabilities.push_back(laplace_mass(static_cast<Real>(y), b));
  return static_cast<std::int64_t>(layer.walk.choose(std::move(probabilities))) - reach;
}

} // namespace choice_tree

namespace {

using namespace confide;
using choice_tree::Law;
using choice_tree::Real;
using choice_tree::Walk;

constexpr Real exact = 1e-14L;
using Mass = std::function<Real(std::int64_t)>;

// The largest error over -reach..reach, and over what came out beyond.
Real worst_error(const Law &law, std::int64_t reach, const Mass &mass) {
  Real worst = law.pruned;
  for (std::int64_t y = -reach; y <= reach; ++y)
    worst = std::max(worst, std::abs(law.probability(y) - mass(y)));
  for (const auto &entry : law.mass)
    worst = std::max(worst, std::abs(law.probability(entry.first) - mass(entry.first)));
  return worst;
}

template <class Layer, class Draw> Law truth_law(const Draw &draw) {
  return choice_tree::enumerate([&](Walk &walk) -> std::optional<std::int64_t> {
    Layer layer{walk};
    return draw(layer) ? 1 : 0;
  });
}

Real real(u128 p, u128 q) { return static_cast<Real>(p) / static_cast<Real>(q); }

// A normalised table of e^(-y^2 q / 2p).
Mass gaussian_mass(const Rational &variance) {
  const Real sigma_squared = real(variance.numerator, variance.denominator);
  const auto height = [=](std::int64_t y) {
    return std::exp(-static_cast<Real>(y) * static_cast<Real>(y) / (2 * sigma_squared));
  };
  Real total = 1;
  for (std::int64_t y = 1; y < 20 + 20 * std::sqrt(sigma_squared); ++y)
    total += 2 * height(y);
  return [=](std::int64_t y) { return height(y) / total; };
}

Mass laplace_mass(const Rational &scale) {
  const Real b = real(scale.numerator, scale.denominator);
  return [=](std::int64_t y) { return choice_tree::laplace_mass(static_cast<Real>(y), b); };
}

constexpr std::array<Rational, 16> scales{{{1, 1},
                                           {1, 2},
                                           {1, 5},
                                           {1, 20},
                                           {2, 1},
                                           {2, 3},
                                           {3, 1},
                                           {3, 8},
                                           {5, 2},
                                           {7, 4},
                                           {7, 1},
                                           {10, 3},
                                           {11, 1},
                                           {16, 1},
                                           {25, 2},
                                           {40, 7}}};
constexpr std::array<Rational, 14> variances{{{1, 1},
                                              {1, 2},
                                              {1, 10},
                                              {1, 100},
                                              {2, 1},
                                              {7, 3},
                                              {4, 1},
                                              {25, 4},
                                              {9, 1},
                                              {15, 1},
                                              {16, 1},
                                              {99, 2},
                                              {100, 1},
                                              {900, 7}}};

struct Bin {
  double observed, expected;
};

// Pearson's statistic as a standard normal score (Wilson and Hilferty 1931).
double chi_square_score(const std::vector<Bin> &bins) {
  double statistic = 0;
  for (const Bin &bin : bins)
    statistic += (bin.observed - bin.expected) * (bin.observed - bin.expected) / bin.expected;
  const double freedom = static_cast<double>(bins.size()) - 1, shift = 2 / (9 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - shift)) / std::sqrt(shift);
}

struct Scores {
  double chi_square, second_moment, mean;
};

// Values expected at least 20 times are bins, the rest is one more.
template <class Draw> Scores scores_of(int draws, std::int64_t reach, const Mass &mass, Draw draw) {
  std::map<std::int64_t, double> counts;
  double first = 0, second = 0;
  for (int i = 0; i < draws; ++i) {
    const std::int64_t y = draw();
    ++counts[y];
    first += static_cast<double>(y);
    second += static_cast<double>(y) * static_cast<double>(y);
  }
  std::vector<Bin> bins;
  Bin rest{static_cast<double>(draws), static_cast<double>(draws)};
  Real moment2 = 0, moment4 = 0;
  for (std::int64_t y = -reach; y <= reach; ++y) {
    const Real square = static_cast<Real>(y) * static_cast<Real>(y), p = mass(y);
    moment2 += p * square;
    moment4 += p * square * square;
    const auto expected = static_cast<double>(draws * p);
    if (expected < 20)
      continue;
    bins.push_back({counts[y], expected});
    rest.observed -= counts[y];
    rest.expected -= expected;
  }
  if (rest.expected > 5)
    bins.push_back(rest);
  const Real spread = std::sqrt((moment4 - moment2 * moment2) / draws);
  return {chi_square_score(bins), static_cast<double>((second / draws - moment2) / spread),
          static_cast<double>(first / draws / std::sqrt(moment2 / draws))};
}

void check_scores(const Scores &scores) {
  // 4.5 standard deviations: a right sampler fails once in 150,000 seeds, and the seed is fixed.
  CHECK(scores.chi_square < 4.5);
  CHECK(std::abs(scores.second_moment) < 4.5);
  CHECK(std::abs(scores.mean) < 4.5);
}

} // namespace

TEST_CASE("a Bernoulli trial is true with probability p/q exactly") {
  for (std::uint64_t q = 1; q <= 45; ++q)
    for (std::uint64_t p = 0; p <= q; ++p) {
      const Law law = truth_law<choice_tree::Coins>(
          [=](choice_tree::Coins &coins) { return bernoulli_ratio(p, q, coins); });
      REQUIRE(std::abs(law.probability(1) - real(p, q)) < exact);
    }
}

TEST_CASE("a Bernoulli trial is exact up to the largest denominator, 2^127") {
  const u128 q = u128{1} << 127;
  for (const u128 p : {u128{1}, q / 3, q / 2, q - q / 7, q - 1, q}) {
    const Law law = truth_law<choice_tree::Coins>(
        [=](choice_tree::Coins &coins) { return bernoulli_ratio(p, q, coins); });
    CHECK(std::abs(law.probability(1) - real(p, q)) < exact);
  }
}

TEST_CASE("an exponential Bernoulli trial is true with probability exp(-p/q) exactly") {
  const std::array<std::array<u128, 2>, 12> ratios{{{0, 1},
                                                    {1, 1},
                                                    {1, 2},
                                                    {1, 3},
                                                    {2, 3},
                                                    {9, 10},
                                                    {1, 1000},
                                                    {999, 1000},
                                                    {1, u128{1} << 62},
                                                    {(u128{1} << 62) - 1, u128{1} << 62},
                                                    {u128{1} << 118, u128{1} << 119},
                                                    {u128{1} << 119, u128{1} << 119}}};
  for (const auto &[p, q] : ratios) {
    const Law law = truth_law<choice_tree::RatioLayer>(
        [p = p, q = q](choice_tree::RatioLayer &layer) { return bernoulli_exp_unit(p, q, layer); });
    CHECK(std::abs(law.probability(1) - std::exp(-real(p, q))) < exact);
  }
}

TEST_CASE("exponents above 1 are split without error") {
  for (std::uint64_t q : {1u, 2u, 3u, 10u, 64u})
    for (std::uint64_t p : {0u, 1u, 2u, 3u, 5u, 9u, 17u, 31u, 200u}) {
      const Law law = truth_law<choice_tree::UnitLayer>(
          [=](choice_tree::UnitLayer &layer) { return bernoulli_exp(p, q, layer); });
      CHECK(std::abs(law.probability(1) - std::exp(-real(p, q))) < exact);
    }
}

TEST_CASE("the geometric law is exact") {
  const Law law = choice_tree::enumerate([](Walk &walk) -> std::optional<std::int64_t> {
    choice_tree::UnitLayer layer{walk};
    return static_cast<std::int64_t>(geometric(layer));
  });
  const auto mass = [](std::int64_t v) {
    return v < 0 ? 0 : (1 - std::exp(-1.0L)) * std::exp(-static_cast<Real>(v));
  };
  CHECK(worst_error(law, 30, mass) < exact);
}

TEST_CASE("the discrete Laplace law is exact for whole and fractional scales") {
  for (const Rational &scale : scales) {
    CAPTURE(scale.numerator);
    CAPTURE(scale.denominator);
    const Law law = choice_tree::enumerate([&](Walk &walk) {
      choice_tree::GeometricLayer layer(walk);
      return laplace_trial(scale, layer);
    });
    CHECK(law.leaves < 5000);
    const auto reach = static_cast<std::int64_t>(30 * scale.numerator / scale.denominator) + 5;
    CHECK(worst_error(law, reach, laplace_mass(scale)) < exact);
  }
}

TEST_CASE("the discrete Gaussian law is exact for whole and fractional variances") {
  for (const Rational &variance : variances) {
    CAPTURE(variance.numerator);
    CAPTURE(variance.denominator);
    const GaussianLaw gaussian = gaussian_law(variance);
    const Law law = choice_tree::enumerate([&](Walk &walk) {
      choice_tree::LaplaceLayer layer{walk};
      return gaussian_trial(gaussian, layer);
    });
    CHECK(law.leaves < 5000);
    CHECK(worst_error(law, 8 * static_cast<std::int64_t>(gaussian.t), gaussian_mass(variance)) <
          exact);
  }
}

TEST_CASE("many draws of the discrete Laplace follow its law") {
  for (const Rational &scale : {Rational{1, 2}, Rational{3, 1}, Rational{1000, 7}}) {
    SeededRandom random(20100 + scale.numerator);
    const auto reach = static_cast<std::int64_t>(60 * scale.numerator / scale.denominator) + 60;
    check_scores(scores_of(400000, reach, laplace_mass(scale),
                           [&] { return discrete_laplace(scale, random); }));
  }
}

TEST_CASE("many draws of the discrete Gaussian follow its law") {
  for (const Rational &variance : {Rational{1, 3}, Rational{9, 1}, Rational{40000, 3}}) {
    SeededRandom random(20200 + variance.numerator);
    const GaussianLaw law = gaussian_law(variance);
    const auto reach = 20 * static_cast<std::int64_t>(law.t);
    check_scores(scores_of(400000, reach, gaussian_mass(variance),
                           [&] { return discrete_gaussian(law, random); }));
  }
}

TEST_CASE("the widest Gaussian the samplers offer has the right second moment") {
  const std::uint64_t sigma = (std::uint64_t{1} << 26) - 1;
  const GaussianLaw law = gaussian_law({sigma * sigma, 1});
  SeededRandom random(20300);
  const int draws = 200000;
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const double y = static_cast<double>(discrete_gaussian(law, random)) / sigma;
    sum += y * y;
  }
  CHECK(std::abs(sum / draws - 1) < 4.5 * std::sqrt(2.0 / draws));
}

TEST_CASE("the widest Laplace the samplers offer has the right mean distance from 0") {
  const Rational scale{std::uint64_t{1} << 52, 1};
  SeededRandom random(20400);
  const int draws = 200000;
  double sum = 0;
  for (int i = 0; i < draws; ++i)
    sum += std::abs(static_cast<double>(discrete_laplace(scale, random))) / 0x1p52;
  CHECK(std::abs(sum / draws - 1) < 4.5 / std::sqrt(draws)); // |y| / scale is nearly Exp(1)
}

TEST_CASE("a Gaussian outside the proved range of the integers is refused") {
  const std::uint64_t limit = std::uint64_t{1} << 52;
  CHECK_THROWS_AS(gaussian_law({0, 1}), SamplerRangeError);
  CHECK_THROWS_AS(gaussian_law({1, 0}), SamplerRangeError);
  CHECK_THROWS_AS(gaussian_law({limit, 1}), SamplerRangeError);
  CHECK_THROWS_AS(gaussian_law({limit, limit}), SamplerRangeError);
  CHECK_NOTHROW(gaussian_law({limit - 1, 1}));
  CHECK_NOTHROW(gaussian_law({1, limit}));
}

TEST_CASE("the integers of a Gaussian keep to the ranges that the proof states") {
  for (const Rational &variance : {Rational{1, std::uint64_t{1} << 52},
                                   Rational{(std::uint64_t{1} << 52) - 1, 1}, Rational{7, 1024}}) {
    const GaussianLaw law = gaussian_law(variance);
    CHECK(law.denominator <= u128{1} << 105);
    CHECK(static_cast<u128>(law.largest_proposal) * law.t * law.q < u128{1} << 63);
    CHECK(law.largest_proposal >= (law.t << 11) - 1);
  }
}

namespace {

// A source whose coins always fall alike.
struct StuckSource {
  bool coin_value;
  bool coin() { return coin_value; }
  std::uint64_t below(std::uint64_t) { return 0; }
};

// Lets every exponential trial succeed, which an honest source does with vanishing probability.
struct EndlessSource {
  bool coin() { return false; }
  std::uint64_t below(std::uint64_t) { return 0; }
};

bool bernoulli_exp_unit(u128, u128, EndlessSource &) { return true; }

// Proposes a noise value that no honest source proposes.
struct HugeProposal {
  std::int64_t value;
};

std::int64_t discrete_laplace(const Rational &, HugeProposal &source) { return source.value; }

bool bernoulli_exp(u128, u128, HugeProposal &) { return true; }

} // namespace

TEST_CASE("a broken source ends in an internal error, never in an integer out of range") {
  EndlessSource endless;
  CHECK_THROWS_AS(geometric(endless), SamplerRangeError);
  CHECK_THROWS_AS(discrete_laplace(Rational{3, 1}, endless), SamplerRangeError);
  StuckSource tails{false}; // every trial with a probability that is no dyadic number succeeds
  CHECK_THROWS_AS(bernoulli_exp_unit((u128{1} << 119) - 1, u128{1} << 119, tails),
                  SamplerRangeError);
}

TEST_CASE("a proposal beyond the proved range is an internal error, the last one inside is not") {
  const GaussianLaw law = gaussian_law({9, 1});
  for (const std::int64_t sign : {-1, 1}) {
    HugeProposal inside{sign * static_cast<std::int64_t>(law.largest_proposal)};
    CHECK(gaussian_trial(law, inside) == inside.value);
    HugeProposal outside{inside.value + sign};
    CHECK_THROWS_AS(gaussian_trial(law, outside), SamplerRangeError);
  }
}

TEST_CASE("the integer square root is exact around every square") {
  for (int bit = 0; bit < 64; ++bit)
    for (const u128 root : {u128{1} << bit, (u128{1} << bit) + 1, ((u128{1} << bit) - 1) | 1}) {
      CHECK(floor_sqrt(root * root) == root);
      CHECK(floor_sqrt(root * root - 1) == root - 1);
      CHECK(floor_sqrt(root * root + 2 * root) == root);
    }
  CHECK(floor_sqrt(0) == 0);
  CHECK(floor_sqrt(~u128{0}) == UINT64_MAX);
}
