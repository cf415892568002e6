#include "likelihood.h"
#include <Eigen/Dense>
#include <cmath>
#include <doctest/doctest.h>
#include <random>

using namespace confide;

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

Matrix random_channel(Eigen::Index rows, Eigen::Index columns, std::mt19937_64 &generator) {
  std::exponential_distribution<double> draw;
  Matrix channel(rows, columns);
  for (Eigen::Index x = 0; x < rows; ++x) {
    for (Eigen::Index y = 0; y < columns; ++y)
      channel(x, y) = draw(generator) + (x == y ? 3 : 0);
    channel.row(x) /= channel.row(x).sum();
  }
  return channel;
}

ChannelMaps maps(const Matrix &channel) {
  return {[&channel](const Vector &shares) -> Vector { return channel.transpose() * shares; },
          [&channel](const Vector &ratio) -> Vector { return channel * ratio; }};
}

const EmControl patient{100000, 1e-13};

} // namespace

TEST_CASE("an interior optimum is the inverse of the channel") {
  std::mt19937_64 generator(1);
  for (int repeat = 0; repeat < 30; ++repeat) {
    const Matrix channel = random_channel(4, 4, generator);
    const Vector truth = (Vector(4) << 0.4, 0.3, 0.2, 0.1).finished();
    const Vector reported = channel.transpose() * truth;
    const EmResult result = maximum_likelihood(reported, 4, maps(channel), patient, [] {});
    CHECK(result.converged);
    CHECK((result.shares - truth).cwiseAbs().maxCoeff() < 1e-9);
  }
}

TEST_CASE("the optimum meets its optimality conditions, also on the boundary") {
  std::mt19937_64 generator(2);
  std::exponential_distribution<double> draw;
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Matrix channel = random_channel(4, 6, generator);
    Vector reported(6);
    for (Eigen::Index y = 0; y < 6; ++y)
      reported[y] = repeat % 4 == 0 && y == 2 ? 0 : draw(generator);
    reported /= reported.sum();
    const EmResult result = maximum_likelihood(reported, 4, maps(channel), patient, [] {});
    const Vector expected = channel.transpose() * result.shares;
    const Vector gradient = channel * reported.cwiseQuotient(expected);
    CHECK(result.converged);
    CHECK(result.optimality_gap == doctest::Approx(gradient.maxCoeff() - 1));
    CHECK(gradient.maxCoeff() < 1 + 1e-6);
    CHECK(result.shares.cwiseProduct(gradient - Vector::Ones(4)).cwiseAbs().maxCoeff() < 1e-9);
    double value = 0;
    for (Eigen::Index y = 0; y < 6; ++y)
      value += reported[y] > 0 ? reported[y] * std::log(expected[y]) : 0;
    CHECK(result.log_likelihood == doctest::Approx(value));
  }
}

TEST_CASE("a search that is cut short says so, and the interrupt can stop it") {
  std::mt19937_64 generator(3);
  const Matrix channel = random_channel(3, 3, generator);
  const Vector reported = (Vector(3) << 0.9, 0.05, 0.05).finished();
  CHECK_FALSE(maximum_likelihood(reported, 3, maps(channel), {2, 1e-15}, [] {}).converged);
  CHECK_THROWS_AS(maximum_likelihood(reported, 3, maps(channel), patient, [] { throw 1; }), int);
}
