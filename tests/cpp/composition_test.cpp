#include "composition.h"
#include "support.h"
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>
#include <initializer_list>
#include <limits>
#include <vector>

using namespace confide;

namespace {

using Matrix = Eigen::MatrixXd;

constexpr double infinity = std::numeric_limits<double>::infinity();

void no_interrupt() {}

Matrix channel(const Response &response) {
  const auto size = static_cast<Eigen::Index>(response.levels);
  Matrix weights = Matrix::Ones(size, size);
  weights.diagonal().setConstant(std::exp(response.epsilon));
  return weights / (std::exp(response.epsilon) + response.levels - 1);
}

// The channel of whole records.
Matrix joint_channel(const std::vector<Response> &attributes) {
  Matrix joint = Matrix::Identity(1, 1);
  for (const Response &attribute : attributes) {
    const Matrix one = channel(attribute);
    Matrix next(joint.rows() * one.rows(), joint.cols() * one.cols());
    for (Eigen::Index i = 0; i < one.rows(); ++i)
      for (Eigen::Index j = 0; j < one.cols(); ++j)
        next.block(i * joint.rows(), j * joint.cols(), joint.rows(), joint.cols()) =
            one(i, j) * joint;
    joint = next;
  }
  return joint;
}

// delta by its definition, over all pairs of records.
double enumerated_delta(const Matrix &joint, double epsilon) {
  double worst = 0;
  for (Eigen::Index x = 0; x < joint.rows(); ++x)
    for (Eigen::Index z = 0; z < joint.rows(); ++z)
      worst =
          std::max(worst, (joint.row(x) - std::exp(epsilon) * joint.row(z)).array().max(0.0).sum());
  return worst;
}

double enumerated_renyi(const Matrix &joint, double alpha) {
  double worst = 0;
  for (Eigen::Index x = 0; x < joint.rows(); ++x)
    for (Eigen::Index z = 0; z < joint.rows(); ++z)
      worst = std::max(
          worst, (joint.row(x).array().pow(alpha) * joint.row(z).array().pow(1 - alpha)).sum());
  return std::log(worst) / (alpha - 1);
}

const std::vector<std::vector<Response>> records{
    {{1, 2}},
    {{0.4, 5}, {0.4, 5}, {0.4, 5}},
    {{1, 2}, {0.5, 3}, {0.25, 4}},
    {{2, 3}, {0.1, 2}, {2, 3}, {0.7, 2}},
    {{0, 4}, {1.5, 3}},
    {{6, 2}, {0.01, 7}},
};

constexpr int bits = 512;

mpf_class exact_exp(double x) {
  Real power(bits);
  mpfr_set_d(power.get(), x, MPFR_RNDN);
  mpfr_exp(power.get(), power.get(), MPFR_RNDN);
  mpf_class result(0, bits);
  mpfr_get_f(result.get_mpf_t(), power.get(), MPFR_RNDN);
  return result;
}

// delta of `times` like answers in 512 bits: the probability of each sum of losses, times the share
// of it that epsilon does not cover.
mpf_class exact_delta(const Response &response, int times, double epsilon) {
  const mpf_class ratio = exact_exp(response.epsilon);
  const mpf_class total = ratio + (response.levels - 1);
  std::vector<mpf_class> probability{mpf_class(1, bits)};
  for (int done = 0; done < times; ++done) {
    std::vector<mpf_class> next(probability.size() + 2, mpf_class(0, bits));
    for (std::size_t i = 0; i < probability.size(); ++i) {
      next[i] += probability[i] / total;
      next[i + 1] += probability[i] * (response.levels - 2) / total;
      next[i + 2] += probability[i] * ratio / total;
    }
    probability = next;
  }
  mpf_class delta(0, bits), covered = exact_exp(epsilon);
  for (auto i = static_cast<std::size_t>(times); i < probability.size(); ++i) {
    if (covered < 1)
      delta += probability[i] * (1 - covered);
    covered /= ratio;
  }
  return delta;
}

LossDistribution composed(const std::vector<Response> &attributes,
                          const CompositionLimits &limits = {}) {
  return compose(attributes, limits, no_interrupt);
}

} // namespace

TEST_CASE("the composed profile is that of the whole channel over all pairs of records") {
  for (const auto &attributes : records) {
    const Matrix joint = joint_channel(attributes);
    const LossDistribution losses = composed(attributes);
    for (double share : {0.0, 0.05, 0.3, 0.5, 0.77, 0.999}) {
      const double epsilon = share * losses.largest;
      const double truth = enumerated_delta(joint, epsilon);
      const double delta = delta_at(losses, epsilon);
      CHECK(delta == doctest::Approx(truth).epsilon(1e-12));
      CHECK(delta >= truth - 1e-15); // the enumeration rounds too
    }
    CHECK(delta_at(losses, losses.largest) == 0);
  }
}

TEST_CASE("on a grid the profile is never below the exact one, and close to it") {
  for (const auto &attributes : records) {
    const LossDistribution exact = composed(attributes);
    double widest = 0;
    for (const std::size_t intervals : {std::size_t{16}, std::size_t{1} << 12}) {
      const LossDistribution grid = composed(attributes, {0, intervals});
      for (int i = 0; i < 200; ++i) {
        const double epsilon = exact.largest * i / 200;
        const double excess = delta_at(grid, epsilon) - delta_at(exact, epsilon);
        CHECK(excess >= 0);
        widest = std::max(widest, excess);
      }
      // an attribute's profile falls at most with slope 1 and has kinks: the chord over a kink is
      // at most a quarter of a step above it
      const double step = 2 * exact.largest / static_cast<double>(intervals);
      CHECK(widest <= static_cast<double>(attributes.size()) * step * std::exp(step) / 4);
      widest = 0;
    }
  }
}

TEST_CASE("many different attributes go to the grid and stay above the exact result") {
  // 14 attributes in pairs that are alike up to 1e-12: exact for seven groups of two, and a grid
  // for fourteen groups of one
  std::vector<Response> alike, different;
  for (int j = 0; j < 14; ++j) {
    const double epsilon = 0.2 + 0.1 * (j / 2);
    alike.push_back({epsilon, 4});
    different.push_back({epsilon + 1e-12 * j, 4});
  }
  const LossDistribution exact = composed(alike), grid = composed(different);
  for (double delta : {1e-12, 1e-6, 1e-3, 0.1}) {
    const double above = epsilon_at(grid, delta) - epsilon_at(exact, delta);
    CHECK(above >= 0);
    CHECK(above <= 2 * exact.largest / 0x1p18); // a step of the grid
  }
}

TEST_CASE("epsilon at delta inverts the profile from the safe side") {
  for (const auto &attributes : records) {
    const LossDistribution losses = composed(attributes);
    for (double delta : {1e-290, 1e-12, 1e-6, 0.01, 0.2, 0.9}) {
      const double epsilon = epsilon_at(losses, delta);
      CHECK(epsilon <= losses.largest);
      CHECK(delta_at(losses, epsilon) <= delta);
      if (epsilon > 0)
        CHECK(delta_at(losses, epsilon * (1 - 1e-12)) > delta * (1 - 1e-9));
    }
    CHECK(epsilon_at(losses, 0) == losses.largest);
  }
}

TEST_CASE("what rounding takes from the probabilities of many answers is given back") {
  // so far apart that a raised loss changes nothing, and about half of the answers truthful
  constexpr int times = 300;
  constexpr double levels = 1e13, allowed = 2 * (20 * times + 32) * 2.3e-16;
  for (int i = 0; i <= 10; ++i) {
    const double own = 29.5 + 0.1 * i;
    const LossDistribution losses = composed({times, {own, levels}});
    const double epsilon = own * (std::floor(times / (1 + levels * std::exp(-own))) - 0.5);
    const mpf_class truth = exact_delta({own, levels}, times, epsilon);
    const mpf_class excess = delta_at(losses, epsilon) - truth;
    CHECK(excess >= 0);
    CHECK(excess <= allowed * truth);
  }
}

TEST_CASE("a hundred attributes reach the published value") {
  // r = 5, lambda = 0.1: pure 44.183275228, at delta = 1e-6 17.662872566
  const std::vector<Response> attributes(100, {std::log1p(0.5 / 0.9), 5});
  const LossDistribution losses = composed(attributes);
  CHECK(std::abs(losses.largest - 44.183275228) < 1e-9);
  CHECK(std::abs(epsilon_at(losses, 1e-6) - 17.662872566) < 1e-9);
}

TEST_CASE("an attribute without protection leaves none") {
  const LossDistribution losses = composed({{1, 2}, {infinity, 3}});
  CHECK(delta_at(losses, 1e300) == 1);
  CHECK(epsilon_at(losses, 0.5) == infinity);
  CHECK(renyi_divergence(Response{infinity, 3}, 2) == infinity);
}

TEST_CASE("without any attribute and at epsilon 0 nothing is lost") {
  for (const auto &attributes : std::vector<std::vector<Response>>{{}, {{0, 3}, {0, 2}}}) {
    const LossDistribution losses = composed(attributes);
    CHECK(losses.largest == 0);
    CHECK(delta_at(losses, 0) == 0);
    CHECK(epsilon_at(losses, 1e-6) == 0);
  }
}

TEST_CASE("the Renyi divergence is that of the channel") {
  for (const Response &response : {Response{1, 2}, Response{0.3, 7}, Response{4, 5}})
    for (double alpha : {1.0001, 1.5, 2.0, 10.0, 60.0}) {
      const double truth = enumerated_renyi(channel(response), alpha);
      CHECK(renyi_divergence(response, alpha) == doctest::Approx(truth).epsilon(1e-10));
      const Matrix matrix = channel(response);
      const ChannelView view{matrix, response.epsilon};
      CHECK(renyi_divergence(view, alpha, no_interrupt) == doctest::Approx(truth).epsilon(1e-8));
    }
}

TEST_CASE("the Renyi divergence keeps its digits at small epsilon and meets epsilon at the end") {
  // alpha epsilon^2 b, the leading term, to relative order epsilon
  CHECK(renyi_divergence(Response{1e-9, 2}, 2) == doctest::Approx(1e-18).epsilon(1e-8));
  CHECK(renyi_divergence(Response{1, 5}, infinity) == 1);
  CHECK(renyi_divergence(Response{1, 5}, 1e6) <= 1);
  CHECK(renyi_divergence(Response{1, 5}, 1e6) > 0.99999);
  // both forms of the power sum, on either side of where they meet
  CHECK(renyi_divergence(Response{1, 1e6}, 31 - 1e-9) ==
        doctest::Approx(renyi_divergence(Response{1, 1e6}, 31 + 1e-9)).epsilon(1e-9));
}

TEST_CASE("a channel's own profile agrees with the three-point law and with enumeration") {
  const Response response{0.8, 4};
  const Matrix matrix = channel(response);
  const LossDistribution losses = composed({response});
  for (double epsilon : {0.0, 0.3, 0.79}) {
    const ChannelView view{matrix, response.epsilon};
    CHECK(delta_at(view, epsilon, no_interrupt) ==
          doctest::Approx(delta_at(losses, epsilon)).epsilon(1e-12));
  }
  Matrix uneven(3, 4);
  uneven << 0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.2, 0.1, 0.25, 0.25, 0.3, 0.2;
  const ChannelView view{uneven, std::log(4.0)};
  for (double epsilon : {0.0, 0.2, 0.9, 1.3}) {
    const double delta = delta_at(view, epsilon, no_interrupt);
    CHECK(delta == doctest::Approx(enumerated_delta(uneven, epsilon)).epsilon(1e-12));
    if (delta > 0)
      CHECK(epsilon_at(view, delta, no_interrupt) == doctest::Approx(epsilon).epsilon(1e-9));
  }
  CHECK(delta_at(view, view.largest, no_interrupt) == 0);
}

TEST_CASE("a report that is possible under one value only costs its probability at any epsilon") {
  Matrix forced(2, 2);
  forced << 0.75, 0.25, 0, 1;
  const ChannelView view{forced, infinity};
  CHECK(delta_at(view, 600, no_interrupt) == doctest::Approx(0.75));
  CHECK(delta_at(view, 1e6, no_interrupt) == doctest::Approx(0.75));
  CHECK(epsilon_at(view, 0.5, no_interrupt) == infinity);
  // under the other value the loss is at most log 4 : 1 - e^epsilon / 4 <= delta < 0.75
  CHECK(epsilon_at(view, 0.76, no_interrupt) < 0.1);
  CHECK(renyi_divergence(view, 2, no_interrupt) == infinity);
  CHECK(channel_divergences(view, no_interrupt).kullback_leibler == infinity);
}

TEST_CASE("divergences of a channel are those of its worst pair of rows") {
  Matrix uneven(2, 3);
  uneven << 0.5, 0.5, 0, 0.2, 0.3, 0.5;
  const auto found = channel_divergences({uneven.topRows(2), infinity}, no_interrupt);
  CHECK(found.kullback_leibler == infinity); // the second row reports what the first cannot
  Matrix close(2, 2);
  close << 0.5, 0.5, 0.2, 0.8;
  const auto both = channel_divergences({close, std::log(2.5)}, no_interrupt);
  const double forward = 0.5 * std::log(2.5) + 0.5 * std::log(0.5 / 0.8);
  const double backward = 0.2 * std::log(0.4) + 0.8 * std::log(1.6);
  CHECK(both.kullback_leibler == doctest::Approx(std::max(forward, backward)).epsilon(1e-13));
  CHECK(both.chi_squared == doctest::Approx(0.09 / 0.2 + 0.09 / 0.8).epsilon(1e-13));
}

namespace {

// An attribute with known noise q.
Matrix noise_channel(double lambda, const Eigen::VectorXd &q) {
  Matrix result = (1 - lambda) * Eigen::VectorXd::Ones(q.size()) * q.transpose();
  result.diagonal().array() += lambda;
  return result;
}

KnownNoise known_noise(double lambda, Eigen::VectorXd q) {
  std::sort(q.data(), q.data() + q.size());
  q *= 1 - lambda;
  return {q[0] > 0 ? std::log1p(lambda / q[0]) : infinity, lambda, q[0], q[1]};
}

Matrix kronecker(const Matrix &slow, const Matrix &fast) {
  Matrix joint(slow.rows() * fast.rows(), slow.cols() * fast.cols());
  for (Eigen::Index i = 0; i < slow.rows(); ++i)
    for (Eigen::Index j = 0; j < slow.cols(); ++j)
      joint.block(i * fast.rows(), j * fast.cols(), fast.rows(), fast.cols()) = slow(i, j) * fast;
  return joint;
}

struct NoisyRecord {
  std::vector<double> lambda;
  std::vector<Eigen::VectorXd> noise;
};

Eigen::VectorXd shares(std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.begin(),
                                           static_cast<Eigen::Index>(values.size()));
}

const std::vector<NoisyRecord> noisy_records{
    {{0.5}, {shares({0.2, 0.8})}},
    {{0.3, 0.3, 0.3}, {shares({0.2, 0.3, 0.5}), shares({0.5, 0.3, 0.2}), shares({0.2, 0.3, 0.5})}},
    {{0.6, 0.1}, {shares({0.05, 0.05, 0.9}), shares({0.01, 0.99})}},
    {{0.2, 0.7, 0.4}, {shares({0.4, 0.6}), shares({0.1, 0.3, 0.6}), shares({0.45, 0.55})}},
};

double largest_delta(const std::vector<LossDistribution> &products, double epsilon) {
  double worst = 0;
  for (const LossDistribution &losses : products)
    worst = std::max(worst, delta_at(losses, epsilon));
  return worst;
}

} // namespace

TEST_CASE("known noise: the worst product is the worst of all pairs of records") {
  for (const NoisyRecord &record : noisy_records) {
    Matrix joint = Matrix::Identity(1, 1);
    std::vector<KnownNoise> attributes;
    for (std::size_t j = 0; j < record.lambda.size(); ++j) {
      joint = kronecker(noise_channel(record.lambda[j], record.noise[j]), joint);
      attributes.push_back(known_noise(record.lambda[j], record.noise[j]));
    }
    joint = kronecker(channel({0.5, 3}), joint);
    const auto products = compose_worst({{0.5, 3}}, attributes, {}, no_interrupt);
    const auto bound = compose_worst({{0.5, 3}}, attributes, {1 << 18, 1 << 18, 0}, no_interrupt);
    REQUIRE(bound.size() == 1);
    for (double share : {0.0, 0.1, 0.3, 0.5, 0.77, 0.95}) {
      const double epsilon = share * products.front().largest;
      const double truth = enumerated_delta(joint, epsilon);
      CHECK(largest_delta(products, epsilon) == doctest::Approx(truth).epsilon(1e-12));
      CHECK(delta_at(bound.front(), epsilon) >= truth - 1e-15);
    }
  }
}

TEST_CASE("known noise: uniform q gives the law of randomized response") {
  const double lambda = 0.4;
  const Response response{std::log1p(3 * lambda / (1 - lambda)), 3};
  const KnownNoise noise = known_noise(lambda, Eigen::VectorXd::Constant(3, 1.0 / 3));
  const auto products = compose_worst({}, {noise, noise}, {}, no_interrupt);
  const LossDistribution same = composed({response, response});
  for (double epsilon : {0.0, 0.4, 1.0, 2.0})
    CHECK(largest_delta(products, epsilon) ==
          doctest::Approx(delta_at(same, epsilon)).epsilon(1e-12));
  for (double alpha : {1.5, 2.0, 40.0})
    CHECK(renyi_divergence(noise, alpha) ==
          doctest::Approx(renyi_divergence(response, alpha)).epsilon(1e-11));
}

TEST_CASE("known noise: a hundred attributes are bounded by one dominating law") {
  // (1 - lambda) q of the rarest level is b of r = 5, lambda = 0.1, so the bound is its law
  const std::vector<KnownNoise> attributes(100, known_noise(0.1, shares({0.2, 0.3, 0.5})));
  const auto products = compose_worst({}, attributes, {}, no_interrupt);
  REQUIRE(products.size() == 1);
  CHECK(std::abs(epsilon_at(products.front(), 1e-6) - 17.662872566) < 1e-9);
}

TEST_CASE("known noise: the Renyi divergence is that of the worst two levels") {
  for (const NoisyRecord &record : noisy_records)
    for (double alpha : {1.0001, 1.5, 2.0, 10.0, 60.0}) {
      const Matrix matrix = noise_channel(record.lambda[0], record.noise[0]);
      const KnownNoise noise = known_noise(record.lambda[0], record.noise[0]);
      const double truth = enumerated_renyi(matrix, alpha);
      CHECK(renyi_divergence(noise, alpha) == doctest::Approx(truth).epsilon(1e-10));
      CHECK(renyi_divergence(noise, alpha) <= noise.epsilon);
    }
}

TEST_CASE("known noise that never gives a level keeps lambda in delta and composes the rest") {
  const std::vector<KnownNoise> forced{known_noise(0.5, shares({0, 1}))};
  const auto products = compose_worst({{1, 2}}, forced, {}, no_interrupt);
  const Matrix joint = kronecker(channel({1, 2}), noise_channel(0.5, shares({0, 1})));
  for (double epsilon : {0.0, 0.3, 0.9, 50.0})
    CHECK(largest_delta(products, epsilon) ==
          doctest::Approx(enumerated_delta(joint, epsilon)).epsilon(1e-12));
  double needed = 0;
  for (const LossDistribution &losses : products)
    needed = std::max(needed, epsilon_at(losses, 0.55));
  CHECK(enumerated_delta(joint, needed) == doctest::Approx(0.55).epsilon(1e-9));
  CHECK(epsilon_at(products.front(), 0.49) == infinity);
  CHECK(renyi_divergence(forced.front(), 2) == infinity);
}
