#include "lambda.h"
#include "log_linear.h"
#include <Eigen/Dense>
#include <cmath>
#include <doctest/doctest.h>
#include <random>

using namespace confide;

namespace {

using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

const EmControl patient{200000, 1e-13};

ChannelMaps product_channel(const std::vector<double> &lambda,
                            const std::vector<std::size_t> &sizes) {
  std::vector<Mode> modes;
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    const auto k = static_cast<Index>(sizes[j]);
    modes.push_back(forward_mode(lambda[j], Vector::Constant(k, 1.0 / static_cast<double>(k))));
  }
  const auto apply = [modes](const Vector &cells) {
    Vector result = cells;
    apply_modes(result, modes);
    return result;
  };
  return {apply, apply}; // uniform noise: the channel is symmetric
}

Vector random_shares(Index size, std::mt19937_64 &generator) {
  std::exponential_distribution<double> draw;
  Vector shares(size);
  for (Index x = 0; x < size; ++x)
    shares[x] = 0.3 + draw(generator);
  return shares / shares.sum();
}

// Independence of two attributes given a third, 2 x 3 x 2: p(a, c) p(b, c) / p(c).
Vector conditionally_independent(const Vector &shares) {
  Vector result(12);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c) {
        double ac = 0, bc = 0, both = 0;
        for (int u = 0; u < 2; ++u)
          for (int v = 0; v < 3; ++v) {
            const double cell = shares[u + 2 * v + 6 * c];
            ac += u == a ? cell : 0;
            bc += v == b ? cell : 0;
            both += cell;
          }
        result[a + 2 * b + 6 * c] = ac * bc / both;
      }
  return result;
}

const std::vector<std::size_t> sizes{2, 3, 2};

} // namespace

TEST_CASE("proportional fitting finds the closed form of a decomposable model") {
  std::mt19937_64 generator(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Vector target = random_shares(12, generator);
    const Vector fitted =
        fit_margins(Vector::Constant(12, 1.0 / 12), target, {sizes, {{0, 2}, {1, 2}}}, 50, 1e-14);
    CHECK((fitted - conditionally_independent(target)).cwiseAbs().maxCoeff() < 1e-13);
  }
}

TEST_CASE("without noise the fit is that of ordinary proportional fitting") {
  std::mt19937_64 generator(2);
  const LogLinearModel no_three_way{sizes, {{0, 1}, {0, 2}, {1, 2}}};
  const Vector uniform = Vector::Constant(12, 1.0 / 12);
  const Vector reported = random_shares(12, generator);
  const auto channel = product_channel({1, 1, 1}, sizes);
  const auto fit = fit_log_linear(reported, no_three_way, channel, uniform, patient, [] {});
  CHECK(fit.converged);
  CHECK((fit.shares - fit_margins(uniform, reported, no_three_way, 10000, 1e-15))
            .cwiseAbs()
            .maxCoeff() < 1e-9);
}

TEST_CASE("reports of a table in the model give that table back") {
  std::mt19937_64 generator(3);
  const auto channel = product_channel({0.6, 0.7, 0.5}, sizes);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Vector truth = conditionally_independent(random_shares(12, generator));
    const auto fit = fit_log_linear(channel.forward(truth), {sizes, {{0, 2}, {1, 2}}}, channel,
                                    Vector::Constant(12, 1.0 / 12), patient, [] {});
    CHECK(fit.converged);
    CHECK(fit.residual < 1e-9);
    CHECK((fit.shares - truth).cwiseAbs().maxCoeff() < 1e-7);
  }
}

TEST_CASE("no table of the model near the fit has a higher likelihood") {
  std::mt19937_64 generator(4);
  std::normal_distribution<double> normal;
  const auto channel = product_channel({0.8, 0.7, 0.9}, sizes);
  const LogLinearModel model{sizes, {{0, 2}, {1, 2}}};
  const auto log_likelihood = [&](const Vector &reported, const Vector &shares) {
    return (reported.array() * channel.forward(shares).array().log()).sum();
  };
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Vector reported = channel.forward(random_shares(12, generator));
    const auto fit =
        fit_log_linear(reported, model, channel, Vector::Constant(12, 1.0 / 12), patient, [] {});
    CHECK(fit.log_likelihood == doctest::Approx(log_likelihood(reported, fit.shares)));
    CHECK((fit.shares - conditionally_independent(fit.shares)).cwiseAbs().maxCoeff() < 1e-10);
    for (int direction = 0; direction < 20; ++direction) {
      Vector other(12);
      for (Index x = 0; x < 12; ++x)
        other[x] = fit.shares[x] * std::exp(0.01 * normal(generator));
      other = conditionally_independent(other / other.sum());
      CHECK(log_likelihood(reported, other) < fit.log_likelihood + 1e-12);
    }
  }
}

TEST_CASE("structural zeros stay zero and the rest is a distribution") {
  std::mt19937_64 generator(5);
  const auto channel = product_channel({0.6, 0.7, 0.5}, sizes);
  const std::vector<Index> cells{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11}; // cell 3 is impossible
  const Vector truth = random_shares(11, generator);
  const auto restricted = restrict_channel(channel, cells, 12);
  const Vector reported = restricted.forward(truth);
  CHECK(reported.sum() == doctest::Approx(1));
  const auto saturated = maximum_likelihood(reported, 11, restricted, patient, [] {});
  CHECK((saturated.shares - truth).cwiseAbs().maxCoeff() < 1e-8);
  Vector start = Vector::Constant(12, 1.0 / 11);
  start[3] = 0;
  const auto fit = fit_log_linear(reported, {sizes, {{0, 1}, {2}}}, channel, start, patient, [] {});
  CHECK(fit.shares[3] == 0);
  CHECK(fit.shares.sum() == doctest::Approx(1));
  CHECK(fit.log_likelihood <= saturated.log_likelihood);
}

TEST_CASE("a fit that is cut short says so, and the interrupt can stop it") {
  const auto channel = product_channel({0.6, 0.7, 0.5}, sizes);
  std::mt19937_64 generator(6);
  const Vector reported = random_shares(12, generator);
  const Vector uniform = Vector::Constant(12, 1.0 / 12);
  const LogLinearModel model{sizes, {{0}, {1, 2}}};
  CHECK_FALSE(fit_log_linear(reported, model, channel, uniform, {2, 1e-15}, [] {}).converged);
  CHECK_THROWS_AS(fit_log_linear(reported, model, channel, uniform, patient, [] { throw 1; }), int);
}
