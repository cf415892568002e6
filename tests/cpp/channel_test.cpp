#include "channel.h"
#include "randomized_response.h"
#include "support.h"
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

using namespace confide;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Eigen::MatrixXd matrix2(double a, double b, double c, double d) {
  Eigen::MatrixXd p(2, 2);
  p << a, b, c, d;
  return p;
}

// A mixture of one to three families of columns in two heights, e^epsilon times apart, built in
// doubles as a user would: family g has k columns, column y is high in the rows x with x - y (mod
// k) in a random set.
Eigen::MatrixXd staircase(std::mt19937_64 &engine, double epsilon) {
  std::uniform_real_distribution<double> uniform(0.01, 1);
  const auto k = static_cast<Eigen::Index>(2 + engine() % 4);
  const auto families = static_cast<Eigen::Index>(1 + engine() % 3);
  const Eigen::ArrayXd shares =
      Eigen::ArrayXd::NullaryExpr(families, [&] { return uniform(engine); });
  Eigen::MatrixXd p(k, k * families);
  for (Eigen::Index g = 0; g < families; ++g) {
    const std::uint64_t high = 1 + engine() % ((std::uint64_t{1} << k) - 2);
    const int size = __builtin_popcountll(high);
    const double z = size * std::exp(epsilon) + static_cast<double>(k - size);
    for (Eigen::Index x = 0; x < k; ++x)
      for (Eigen::Index y = 0; y < k; ++y) {
        const bool is_high = (high >> ((x + k - y) % k)) & 1;
        p(x, g * k + y) = shares(g) / shares.sum() * (is_high ? std::exp(epsilon) / z : 1 / z);
      }
  }
  return p;
}

// Every pair of rows in every column against e^epsilon from below, 600 bits.
bool is_private(const Channel &channel, double epsilon) {
  Real exponential(600);
  mpfr_set_d(exponential.get(), epsilon, MPFR_RNDD);
  mpfr_exp(exponential.get(), exponential.get(), MPFR_RNDD);
  mpfr_mul_2ui(exponential.get(), exponential.get(), 500, MPFR_RNDD);
  Integer bound;
  mpfr_get_z(bound.get(), exponential.get(), MPFR_RNDD); // floor(2^500 e^epsilon)
  Integer left, right;
  for (std::size_t y = 0; y < channel.columns; ++y)
    for (std::size_t x = 0; x < channel.rows; ++x)
      for (std::size_t z = 0; z < channel.rows; ++z) {
        mpz_set_ui(left.get(), channel.weights[x * channel.columns + y]);
        mpz_mul_ui(left.get(), left.get(), channel.totals[z]);
        mpz_mul_2exp(left.get(), left.get(), 500);
        mpz_mul_ui(right.get(), bound.get(), channel.weights[z * channel.columns + y]);
        mpz_mul_ui(right.get(), right.get(), channel.totals[x]);
        if (mpz_cmp(left.get(), right.get()) > 0)
          return false;
      }
  return true;
}

bool totals_are_row_sums(const Channel &channel) {
  for (std::size_t x = 0; x < channel.rows; ++x) {
    u128 sum = 0;
    for (std::size_t y = 0; y < channel.columns; ++y)
      sum += channel.weights[x * channel.columns + y];
    if (sum != channel.totals[x])
      return false;
  }
  return true;
}

std::uint64_t smallest_weight(const Channel &channel) {
  return *std::min_element(channel.weights.begin(), channel.weights.end());
}

double largest_row_move(const Channel &channel, const Eigen::MatrixXd &p) {
  long double largest = 0;
  for (std::size_t x = 0; x < channel.rows; ++x) {
    long double move = 0, sum = 0;
    for (Eigen::Index y = 0; y < p.cols(); ++y)
      sum += p(static_cast<Eigen::Index>(x), y);
    for (std::size_t y = 0; y < channel.columns; ++y)
      move += std::abs(static_cast<long double>(channel.weights[x * channel.columns + y]) /
                           channel.totals[x] -
                       p(static_cast<Eigen::Index>(x), static_cast<Eigen::Index>(y)) / sum);
    largest = std::max(largest, move);
  }
  return static_cast<double>(largest);
}

// The last of the 64-bit words that below(total) maps to u; such a word is never rejected.
std::uint64_t word_for(std::uint64_t u, std::uint64_t total) {
  if (total > (std::uint64_t{1} << 63))
    return u;
  return static_cast<std::uint64_t>(
      ((static_cast<u128>(u) + 1) * (static_cast<u128>(1) << 64) - 1) / total);
}

Channel one_row(const std::vector<std::uint64_t> &weights) {
  std::uint64_t total = 0;
  for (const std::uint64_t weight : weights)
    total += weight;
  return {1, weights.size(), weights, {total}};
}

} // namespace

TEST_CASE("random extremal channels are certified for the epsilon they were built for") {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> any(0.1, 43), small(0.01, 5);
  double largest_move = 0;
  int rounded_up = 0;
  for (int i = 0; i < 20000; ++i) {
    const double epsilon = i % 2 == 0 ? any(engine) : small(engine);
    CAPTURE(epsilon);
    const Eigen::MatrixXd p = staircase(engine, epsilon);
    rounded_up += certify_channel(p).epsilon > epsilon;
    const CertifiedChannel certified = certify_channel(p, epsilon);
    CHECK(is_private(certified.channel, epsilon));
    CHECK(is_certified(certified.channel, epsilon));
    CHECK(totals_are_row_sums(certified.channel));
    CHECK(certified.epsilon == epsilon);
    CHECK(certified.worst_log_ratio <= epsilon);
    // The rarest report is at most one word from its share, and the doubles are right to some
    // 2^-48.
    const double word = 1 / static_cast<double>(smallest_weight(certified.channel));
    CHECK(certified.worst_log_ratio >= epsilon - 0x1p-46 - 2 * word);
    largest_move = std::max(largest_move, largest_row_move(certified.channel, p));
  }
  CHECK(largest_move <= 1e-9);
  CHECK(rounded_up > 2000); // else the repair was not tested
}

TEST_CASE("without an epsilon a channel gets the one that it has, rounded up") {
  std::mt19937_64 engine(8);
  std::uniform_real_distribution<double> uniform(0.001, 1);
  for (int i = 0; i < 3000; ++i) {
    Eigen::MatrixXd p =
        Eigen::MatrixXd::NullaryExpr(2 + i % 4, 2 + i % 5, [&] { return uniform(engine); });
    p = (p.array().colwise() / p.array().rowwise().sum()).eval();
    const CertifiedChannel certified = certify_channel(p);
    const double unit = std::nextafter(certified.epsilon, infinity) - certified.epsilon;
    CHECK(is_private(certified.channel, certified.epsilon));
    CHECK(is_certified(certified.channel, certified.epsilon));
    CHECK_FALSE(is_private(certified.channel, certified.epsilon - 3 * unit));
    CHECK(certified.worst_log_ratio <= certified.epsilon);
    CHECK(certified.worst_log_ratio >= certified.epsilon - 3 * unit);
  }
}

TEST_CASE("a channel that is not private is refused, not replaced by another") {
  const Eigen::MatrixXd p = matrix2(0.75, 0.25, 0.2, 0.8);
  CHECK_THROWS_AS(certify_channel(p, 1), NotPrivate);
  CHECK_THROWS_WITH(certify_channel(p, 1), "the channel is not eps-LDP for this eps");
  CHECK_THROWS_AS(certify_channel(p, std::log(3.75) - 1e-3), NotPrivate);
  CHECK_THROWS_AS(certify_channel(p, std::log(3.75) - 1e-8), NotPrivate);
  CHECK_NOTHROW(certify_channel(p, std::log(3.75)));
  CHECK(certify_channel(p).epsilon == doctest::Approx(std::log(3.75)).epsilon(1e-15));
}

TEST_CASE("a repair that would outgrow 64 bits is a refusal") {
  constexpr Eigen::Index k = 60;
  Eigen::MatrixXd p = Eigen::MatrixXd::Constant(k, k, 1e-12);
  p.diagonal().setConstant(1 - (k - 1) * 1e-12);
  CHECK_THROWS_AS(certify_channel(p, 0.01), NotPrivate);
}

TEST_CASE("a report that only some symbols can give is not private at any epsilon") {
  const Eigen::MatrixXd p = matrix2(0.5, 0.5, 1, 0);
  const CertifiedChannel certified = certify_channel(p);
  CHECK(certified.epsilon == infinity);
  CHECK(certified.worst_log_ratio == infinity);
  CHECK(is_certified(certified.channel, infinity));
  CHECK_FALSE(is_certified(certified.channel, 44));
  CHECK_THROWS_AS(certify_channel(p, 44), NotPrivate);
  CHECK_THROWS_AS(certify_channel(p, 1e308), NotPrivate);
}

TEST_CASE("a report that no symbol gives costs nothing and stays impossible") {
  Eigen::MatrixXd p(2, 3);
  p << 0.6, 0, 0.4, 0.4, 0, 0.6;
  const CertifiedChannel certified = certify_channel(p, 1);
  CHECK(certified.channel.weights[1] == 0);
  CHECK(certified.channel.weights[4] == 0);
  CHECK(certify_channel(p).epsilon == doctest::Approx(std::log(1.5)).epsilon(1e-15));
}

TEST_CASE("a positive probability keeps at least one word") {
  const CertifiedChannel certified = certify_channel(matrix2(1, 1e-300, 0.5, 0.5));
  CHECK(certified.channel.weights[1] == 1);
  CHECK(certified.epsilon < 44);
  CHECK(is_private(certified.channel, certified.epsilon));
}

TEST_CASE("equal rows and single columns reveal nothing") {
  CHECK(certify_channel(matrix2(0.3, 0.7, 0.3, 0.7)).epsilon == 0);
  CHECK_NOTHROW(certify_channel(matrix2(0.3, 0.7, 0.3, 0.7), 0));
  CHECK(certify_channel(Eigen::MatrixXd::Ones(5, 1)).epsilon == 0);
  CHECK(certify_channel(Eigen::MatrixXd::Constant(1, 4, 0.25)).epsilon == 0);
  CHECK_THROWS_AS(certify_channel(matrix2(0.3, 0.7, 0.301, 0.699), 0), NotPrivate);
}

TEST_CASE("rows that sum to 1 but for rounding are divided by their sums") {
  for (int i = 1; i <= 100; ++i) {
    const double epsilon = 0.1 * i;
    const double odds = std::exp(epsilon);
    Eigen::MatrixXd p = matrix2(odds, 1, 1, odds) / (1 + odds);
    p.row(0) *= 1 + 8e-9;
    const CertifiedChannel certified = certify_channel(p, epsilon);
    CHECK(is_private(certified.channel, epsilon));
    CHECK(largest_row_move(certified.channel, p) <= 1e-9);
  }
}

TEST_CASE("a channel asked for with an epsilon above 44 is served as 44") {
  const CertifiedChannel certified = certify_channel(matrix2(0.75, 0.25, 0.25, 0.75), 1e308);
  CHECK(certified.epsilon == 44);
  CHECK(certified.worst_log_ratio == doctest::Approx(std::log(3)).epsilon(1e-15));
}

TEST_CASE("rows that are no distributions are errors") {
  CHECK_THROWS_AS(certify_channel(matrix2(0.5, 0.6, 0.5, 0.5)), std::invalid_argument);
  CHECK_THROWS_AS(certify_channel(matrix2(1.5, -0.5, 0.5, 0.5)), std::invalid_argument);
  CHECK_THROWS_AS(certify_channel(matrix2(std::nan(""), 1, 0.5, 0.5)), std::invalid_argument);
  CHECK_THROWS_AS(certify_channel(matrix2(infinity, 0, 0.5, 0.5), 1), std::invalid_argument);
  CHECK_THROWS_AS(certify_channel(Eigen::MatrixXd(0, 0)), std::invalid_argument);
}

TEST_CASE("the certificate notices one word too many and every inconsistency") {
  const auto w = response_weights(1, 2);
  Channel channel{2, 2, {w.truthful, w.other, w.other, w.truthful}, {w.total, w.total}};
  CHECK(is_certified(channel, 1));
  CHECK(is_certified(channel, 1e308));
  CHECK_FALSE(is_certified(channel, std::nan("")));
  CHECK_FALSE(is_certified(channel, -1));
  CHECK_FALSE(is_certified(channel, 1 - 1e-12));

  // One word from one report to the other: both rows alike, so the totals cancel.
  const Channel heavier{
      2, 2, {w.truthful + 1, w.other, w.other, w.truthful + 1}, {w.total + 1, w.total + 1}};
  CHECK_FALSE(is_certified(heavier, 1));

  Channel wrong = channel;
  ++wrong.totals[1];
  CHECK_FALSE(is_certified(wrong, infinity));
  wrong = channel;
  wrong.weights.pop_back();
  CHECK_FALSE(is_certified(wrong, infinity));
  wrong = channel;
  wrong.rows = 3;
  CHECK_FALSE(is_certified(wrong, infinity));
  CHECK_FALSE(is_certified(Channel{0, 0, {}, {}}, infinity));
  CHECK_FALSE(is_certified(Channel{1, 2, {0, 0}, {0}}, infinity));
  const std::uint64_t half = std::uint64_t{1} << 63;
  CHECK_FALSE(
      is_certified(Channel{1, 3, {half, half, 5}, {5}}, infinity)); // the sum wraps around to 5
}

TEST_CASE("over all accepted draws every report occurs as often as its weight says") {
  const std::vector<std::uint64_t> weights{2, 0, 3, 5, 0, 1, 0};
  const ChannelSampler sampler = channel_sampler(one_row(weights));
  ScriptedRandom random;
  std::vector<std::uint64_t> counts(weights.size(), 0);
  for (std::uint64_t u = 0; u < 11; ++u) {
    random.play({word_for(u, 11)});
    ++counts[report(0, sampler, random)];
    CHECK(random.used() == 1);
  }
  CHECK(counts == weights);
}

TEST_CASE(
    "a report changes exactly where the words of one column end and those of the next begin") {
  std::mt19937_64 engine(9);
  ScriptedRandom random;
  for (int i = 0; i < 300; ++i) {
    const double epsilon = 0.1 + 0.1 * i;
    const Channel channel = certify_channel(staircase(engine, epsilon), epsilon).channel;
    const ChannelSampler sampler = channel_sampler(channel);
    for (std::uint32_t x = 0; x < channel.rows; ++x) {
      std::uint64_t begin = 0;
      for (std::uint32_t y = 0; y < channel.columns; ++y) {
        const std::uint64_t end = begin + channel.weights[x * channel.columns + y];
        for (const std::uint64_t u : {begin, begin + (end - begin) / 2, end - 1}) {
          random.play({word_for(u, channel.totals[x])});
          CHECK(report(x, sampler, random) == y);
        }
        begin = end;
      }
    }
  }
}

TEST_CASE("a row of more than 2^63 words rejects words from its total on") {
  const std::uint64_t total = (std::uint64_t{1} << 63) + 10;
  const ChannelSampler sampler = channel_sampler(one_row({total - 4, 4}));
  ScriptedRandom random({total, UINT64_MAX, total - 1, total - 4, total - 5, 0});
  CHECK(report(0, sampler, random) == 1);
  CHECK(random.used() == 3);
  CHECK(report(0, sampler, random) == 1);
  CHECK(report(0, sampler, random) == 0);
  CHECK(report(0, sampler, random) == 0);
}

TEST_CASE("the loss of a channel is that of its weights, whatever was asked for") {
  const CertifiedChannel certified = certify_channel(matrix2(0.6, 0.4, 0.4, 0.6), 3);
  const ChannelLoss loss = channel_loss(certified.channel);
  CHECK(certified.epsilon == 3);
  CHECK(loss.epsilon == doctest::Approx(std::log(1.5)).epsilon(1e-15));
  CHECK(loss.worst_log_ratio == doctest::Approx(std::log(1.5)).epsilon(1e-15));
  CHECK(loss.worst_log_ratio <= loss.epsilon);
  CHECK(is_private(certified.channel, loss.epsilon));
  CHECK(channel_loss(one_row({3, 0, 5})).epsilon == 0);
  const Channel open{2, 2, {1, 1, 2, 0}, {2, 2}};
  CHECK(std::isinf(channel_loss(open).epsilon));
}
