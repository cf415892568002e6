#include "spr.h"
#include "spr_certified.h"
#include "spr_continuous.h"
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace confide::spr;

namespace {

using Masses = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

struct Pair {
  Masses p0, p1;
};

Masses normalised(Masses masses) {
  double total = 0;
  for (const double mass : masses)
    total += mass;
  for (double &mass : masses)
    mass /= total;
  return masses;
}

Masses binomial(int n, double p) {
  Masses masses;
  double choose = 1;
  for (int i = 0; i <= n; ++i) {
    masses.push_back(choose * std::pow(p, i) * std::pow(1 - p, n - i));
    choose = choose * (n - i) / (i + 1);
  }
  return masses;
}

Masses poisson(int last, double mean) {
  Masses masses{1};
  for (int i = 1; i <= last; ++i)
    masses.push_back(masses.back() * mean / i);
  return normalised(masses);
}

Pair example(char name) {
  if (name == 'A')
    return {{.05, .10, .15, .20, .22, .28}, {.30, .25, .18, .12, .10, .05}};
  if (name == 'B')
    return {binomial(10, .6), binomial(10, .4)};
  if (name == 'C')
    return {poisson(20, 4), poisson(20, 6)};
  Pair pair;
  for (int i = 1; i <= 50; ++i) {
    pair.p0.push_back(i / 1275.0);
    pair.p1.push_back((51 - i) / 1275.0);
  }
  return pair;
}

// Exponential masses to a power, some of them zero.
Pair random_pair(std::size_t k, double power, double zeros, std::mt19937_64 &generator) {
  std::uniform_real_distribution<double> uniform;
  const auto draw = [&] {
    Masses masses(k);
    for (double &mass : masses)
      mass = uniform(generator) < zeros ? 0 : std::pow(-std::log1p(-uniform(generator)), power);
    masses[generator() % k] += 0.1; // some mass for certain
    return normalised(masses);
  };
  return {draw(), draw()};
}

Options options_for(const Divergence &divergence, double epsilon,
                    std::size_t max_outputs = unlimited) {
  Options options;
  options.divergence = divergence;
  options.epsilon = epsilon;
  options.max_outputs = max_outputs;
  return options;
}

Divergence piecewise_linear() {
  return user_divergence(one_by_one([](double x) {
    return std::max({0.0, x - 1.2, 2 * (x - 2), 0.4 * (1 - x), 0.9 - x});
  }));
}

std::vector<Divergence> f_divergences() {
  return {named_divergence("kl"),
          named_divergence("reverse_kl"),
          named_divergence("tv"),
          named_divergence("chi2"),
          named_divergence("hellinger2"),
          named_divergence("js"),
          named_divergence("hockey_stick", 0.7),
          named_divergence("hockey_stick", 1.6),
          named_divergence("renyi", 0.3),
          named_divergence("renyi", 1),
          named_divergence("renyi", 2.5),
          user_divergence(one_by_one([](double x) { return x * std::log(x); })),
          piecewise_linear()};
}

std::vector<Divergence> all_divergences() {
  std::vector<Divergence> all = f_divergences();
  for (const auto &other :
       {named_divergence("renyi", infinity), named_divergence("lr_distance", 1),
        named_divergence("lr_distance", 3), named_divergence("lr_distance", infinity),
        named_divergence("chernoff")})
    all.push_back(other);
  return all;
}

std::string label(const Divergence &divergence) {
  return std::to_string(static_cast<int>(divergence.kind)) + " " +
         std::to_string(divergence.parameter);
}

// The naive twins: every statement below is checked against these.

double naive_between(const Divergence &divergence, const Masses &m0, const Masses &m1) {
  const double a = divergence.parameter;
  double sum = 0, largest = -infinity;
  for (std::size_t i = 0; i < m0.size(); ++i) {
    const double x = m0[i], y = m1[i];
    largest = std::max(largest, std::log(x / y));
    double fx = 0, ratio = 1;
    switch (divergence.kind) {
    case DivergenceKind::kl:
      sum += x * std::log(x / y);
      break;
    case DivergenceKind::reverse_kl:
      sum += y * std::log(y / x);
      break;
    case DivergenceKind::tv:
      sum += 0.5 * std::fabs(x - y);
      break;
    case DivergenceKind::chi2:
      sum += (x - y) * (x - y) / y;
      break;
    case DivergenceKind::hellinger2:
      sum += std::pow(std::sqrt(x) - std::sqrt(y), 2);
      break;
    case DivergenceKind::js:
      sum += 0.5 * (x * std::log(2 * x / (x + y)) + y * std::log(2 * y / (x + y)));
      break;
    case DivergenceKind::hockey_stick:
      sum += std::max(x - a * y, 0.0);
      break;
    case DivergenceKind::renyi:
      sum += a == 1 ? x * std::log(x / y) : std::pow(x, a) * std::pow(y, 1 - a);
      break;
    case DivergenceKind::lr_distance:
      if (std::isfinite(a))
        sum += std::pow(std::fabs(x - y), a);
      else
        sum = std::max(sum, std::fabs(x - y));
      break;
    case DivergenceKind::user:
      ratio = x / y;
      divergence.function(&ratio, &fx, 1);
      sum += y * fx;
      break;
    case DivergenceKind::chernoff:
      break;
    }
  }
  if (divergence.kind == DivergenceKind::hockey_stick)
    return sum - std::max(1 - a, 0.0);
  if (divergence.kind == DivergenceKind::lr_distance && std::isfinite(a))
    return std::pow(sum, 1 / a);
  if (divergence.kind != DivergenceKind::renyi || a == 1)
    return sum;
  return std::isinf(a) ? largest : std::log(sum) / (a - 1);
}

double naive_exponent(double t, const Masses &m0, const Masses &m1) {
  double sum = 0;
  for (std::size_t i = 0; i < m0.size(); ++i)
    sum += std::pow(m0[i], t) * std::pow(m1[i], 1 - t);
  return -std::log(sum);
}

// Golden-section search: the exponent is concave in t.
double naive_chernoff(const Masses &m0, const Masses &m1) {
  const double golden = 0.5 * (std::sqrt(5) - 1);
  double a = 0, b = 1;
  while (b - a > 1e-7) {
    const double x = b - golden * (b - a), y = a + golden * (b - a);
    if (naive_exponent(x, m0, m1) > naive_exponent(y, m0, m1))
      b = y;
    else
      a = x;
  }
  return naive_exponent(0.5 * (a + b), m0, m1);
}

double naive_value(const Divergence &divergence, const Masses &m0, const Masses &m1) {
  if (divergence.kind == DivergenceKind::chernoff)
    return naive_chernoff(m0, m1);
  return naive_between(divergence, m0, m1);
}

// Reports of s-ary randomized response on an assignment of symbols to s labels.
Pair reports(const Pair &pair, const std::vector<std::uint32_t> &label, std::size_t s,
             double epsilon) {
  Pair result{Masses(s, 0), Masses(s, 0)};
  const double odds = std::exp(epsilon), total = odds + static_cast<double>(s) - 1;
  for (std::size_t x = 0; x < label.size(); ++x)
    for (std::size_t y = 0; y < s; ++y) {
      const double probability = (y == label[x] ? odds : 1) / total;
      result.p0[y] += pair.p0[x] * probability;
      result.p1[y] += pair.p1[x] * probability;
    }
  return result;
}

// max over at most L blocks, every start of every block tried: O(L k^2) without any pruning.
double naive_programme(const Alphabet &alphabet, const Perspective &g, std::size_t max_blocks) {
  const std::size_t k = alphabet.size();
  std::vector<Masses> best(max_blocks + 1, Masses(k + 1, -infinity));
  best[0][0] = 0;
  for (std::size_t end = 1; end <= k; ++end)
    for (std::size_t begin = 0; begin < end; ++begin) {
      const double p = alphabet.p.between(begin, end), q = alphabet.q.between(begin, end);
      double gain;
      evaluate(g, &p, &q, &gain, 1);
      for (std::size_t s = 1; s <= max_blocks; ++s)
        best[s][end] = std::max(best[s][end], best[s - 1][begin] + gain);
    }
  double value = -infinity;
  for (std::size_t s = 1; s <= max_blocks; ++s)
    value = std::max(value, best[s][k] / (g.c + static_cast<double>(s)));
  return value;
}

// The best over all 2^(k-1) contiguous partitions of the sorted symbols into at most L blocks.
double brute_force(const Pair &pair, const Divergence &divergence, double epsilon,
                   std::size_t max_outputs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pair.p0.size(); ++i)
    if (pair.p0[i] > 0 || pair.p1[i] > 0)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pair.p0[a] * pair.p1[b] < pair.p0[b] * pair.p1[a];
  });
  double best = -infinity;
  for (std::size_t cuts = 0; cuts < (std::size_t{1} << (order.size() - 1)); ++cuts) {
    std::vector<std::uint32_t> label(pair.p0.size(), 0);
    std::uint32_t block = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && ((cuts >> (i - 1)) & 1) != 0)
        ++block;
      label[order[i]] = block;
    }
    if (block + 1 > max_outputs)
      continue;
    const Pair m = reports(pair, label, block + 1, epsilon);
    best = std::max(best, naive_value(divergence, m.p0, m.p1));
  }
  return best;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); }

ContinuousPair normal_pair(double mean0, double mean1) {
  ContinuousPair pair;
  pair.cdf0 = one_by_one([=](double x) { return normal_cdf(x - mean0); });
  pair.cdf1 = one_by_one([=](double x) { return normal_cdf(x - mean1); });
  return pair;
}

struct Reference {
  char name;
  double epsilon;
  const char *objective;
  double parameter;
  std::size_t max_outputs;
  double value, digit; // `digit` is a unit in the last place printed
  std::vector<std::size_t> starts;
};

const std::vector<Reference> references = {
    {'A', 1, "kl", 0, unlimited, 0.080205118837895, 1e-15, {1, 4}},
    {'A', 4, "kl", 0, unlimited, 0.44060207888639, 1e-14, {1, 3, 4, 6}},
    {'A', 7, "hellinger2", 0, unlimited, 0.26372267245473, 1e-14, {1, 2, 3, 4, 5, 6}},
    {'B', 2, "kl", 0, unlimited, 0.28422455858171, 1e-14, {1, 6, 7}},
    {'B', 4, "hellinger2", 0, unlimited, 0.28592255282049, 1e-14, {1, 5, 6, 7, 8}},
    {'C', 2, "hellinger2", 0, unlimited, 0.070617361039559, 1e-15, {1, 16, 17}},
    {'C', 7, "kl", 0, unlimited, 0.36673877067261, 1e-14, {1, 12, 14, 15, 16, 17, 18, 19, 20}},
    {'D', 4, "kl", 0, unlimited, 0.62897637633533, 1e-14, {1, 16, 29, 40}},
    {'D',
     7,
     "kl",
     0,
     unlimited,
     0.84677088685161,
     1e-14,
     {1, 6, 11, 16, 20, 24, 28, 32, 36, 40, 44, 48}},
    {'A', 4, "kl", 0, 2, 0.3695438365674, 1e-13, {1, 4}},
    {'B', 4, "kl", 0, 3, 0.580473326907, 1e-12, {1, 6, 8}},
    {'C', 4, "renyi", 2, unlimited, 0.5054590040167, 1e-13, {1, 15, 17, 18, 19}},
    {'B', 4, "renyi", 5, unlimited, 1.460059423256, 1e-12, {1, 8}},
    {'A', 1, "chernoff", 0, unlimited, 0.0201473960767, 1e-13, {}},
    {'B', 4, "chernoff", 0, unlimited, 0.154272176353, 1e-12, {}},
    {'A', 1, "hockey_stick", 0.8, unlimited, 0.080225691331, 1e-12, {}},
    {'B', 1, "hockey_stick", 1.5, unlimited, 0.042864590881, 1e-12, {}},
    {'A', 2, "renyi", infinity, unlimited, 0.761674251625, 1e-12, {}},
    {'B', 4, "lr_distance", 2, unlimited, 0.636495648319, 1e-12, {}},
};

} // namespace

TEST_CASE("published reference values are met to the digits printed") {
  for (const Reference &reference : references) {
    CAPTURE(reference.name);
    CAPTURE(reference.objective);
    const Pair pair = example(reference.name);
    for (const Method method : {Method::direct, Method::bracket}) {
      Options options = options_for(named_divergence(reference.objective, reference.parameter),
                                    reference.epsilon, reference.max_outputs);
      options.method = method;
      const Result result = solve(pair.p0, pair.p1, options);
      CHECK(std::fabs(result.value - reference.value) <= reference.digit);
      if (reference.starts.empty())
        continue;
      std::vector<std::size_t> starts = result.starts;
      for (std::size_t &start : starts)
        ++start;
      CHECK(starts == reference.starts);
    }
  }
}

TEST_CASE("Chernoff's references have the t and the number of outputs published") {
  const Pair a = example('A'), b = example('B');
  const Result first = solve(a.p0, a.p1, options_for(named_divergence("chernoff"), 1));
  CHECK(first.t == doctest::Approx(0.5005).epsilon(1e-4));
  CHECK(first.outputs == 2);
  const Result second = solve(b.p0, b.p1, options_for(named_divergence("chernoff"), 4));
  CHECK(second.t == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(second.outputs == 5);
}

TEST_CASE("no contiguous partition beats the solution, whatever the divergence and the limit") {
  std::mt19937_64 generator(20260607);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::size_t k = 2 + static_cast<std::size_t>(repeat) % 7;
    const Pair pair = random_pair(k, 1 + repeat % 3, repeat % 4 == 0 ? 0.25 : 0, generator);
    const double epsilon = std::vector<double>{0.1, 0.7, 1.5, 3, 6}[generator() % 5];
    const std::size_t max_outputs = std::vector<std::size_t>{unlimited, 1, 2, 3}[generator() % 4];
    for (const Divergence &divergence : all_divergences()) {
      CAPTURE(label(divergence));
      CAPTURE(repeat);
      const double best = brute_force(pair, divergence, epsilon, max_outputs);
      const Result result = solve(pair.p0, pair.p1, options_for(divergence, epsilon, max_outputs));
      CHECK(result.value == doctest::Approx(best).epsilon(1e-9).scale(1e-3));
      const Pair m = reports(pair, result.block, result.outputs, epsilon);
      CHECK(naive_value(divergence, m.p0, m.p1) == doctest::Approx(best).epsilon(1e-9).scale(1e-3));
      CHECK(result.outputs <= max_outputs);
    }
  }
}

TEST_CASE("ten symbols: all 512 partitions are beaten or met") {
  std::mt19937_64 generator(10);
  for (const double epsilon : {1.0, 4.0, 8.0}) {
    const Pair pair = random_pair(10, 1, 0, generator);
    for (const Divergence &divergence : f_divergences()) {
      CAPTURE(label(divergence));
      const Result result = solve(pair.p0, pair.p1, options_for(divergence, epsilon));
      CHECK(result.value ==
            doctest::Approx(brute_force(pair, divergence, epsilon, unlimited)).epsilon(1e-11));
    }
  }
}

TEST_CASE("Dinkelbach's method and the programme over the number of blocks miss no partition") {
  std::mt19937_64 generator(3);
  const std::function<void()> none;
  Pacer pacer{none};
  for (int repeat = 0; repeat < 60; ++repeat) {
    const std::size_t k = 5 + generator() % 40;
    const Pair pair = random_pair(k, 1 + repeat % 3, repeat % 5 == 0 ? 0.2 : 0, generator);
    const Alphabet alphabet = sort_alphabet(pair.p0, pair.p1).alphabet;
    const double c = std::expm1(std::vector<double>{0.01, 1, 3, 6, 12, 30}[generator() % 6]);
    for (const Divergence &divergence : f_divergences()) {
      CAPTURE(label(divergence));
      CAPTURE(c);
      const Perspective g = perspective_on(alphabet, divergence, c);
      const double unbounded = naive_programme(alphabet, g, alphabet.size());
      CHECK(best_partition(alphabet, g, {0}, pacer).mean ==
            doctest::Approx(unbounded).epsilon(1e-12).scale(1e-12));
      for (const std::size_t most : {std::size_t{2}, std::size_t{4}, alphabet.size()})
        CHECK(best_partition_at_most(alphabet, g, most, pacer).mean ==
              doctest::Approx(naive_programme(alphabet, g, most)).epsilon(1e-12).scale(1e-12));
    }
  }
}

TEST_CASE("dropping starts that can no longer win loses nothing for kinked functions") {
  // Kinks and ratios far from 1 are where a start that looks beaten could come back.
  std::mt19937_64 generator(99);
  std::uniform_real_distribution<double> uniform;
  const std::function<void()> none;
  Pacer pacer{none};
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const std::size_t k = 40 + generator() % 40, most = 1 + generator() % 5;
    const double kink = std::exp(2 * (uniform(generator) - 0.5)), weight = uniform(generator);
    const double spread = 6 * uniform(generator), power = std::exp(3 * (uniform(generator) - 0.5));
    Pair pair;
    for (std::size_t i = 0; i < k; ++i) {
      const double mass = std::pow(-std::log1p(-uniform(generator)), power);
      pair.p0.push_back(mass * std::exp(spread * (uniform(generator) - 0.5)));
      pair.p1.push_back(uniform(generator) < 0.03 ? 0 : mass);
    }
    const auto bends = [=](double x) {
      return weight * (std::max(0.0, x - kink) + std::max(0.0, x - 3 * kink)) +
             (1 - weight) * std::max(0.0, kink / 2 - x);
    };
    const Divergence divergence =
        user_divergence(one_by_one([=](double x) { return bends(x) - bends(1); }));
    const Alphabet alphabet = sort_alphabet(pair.p0, pair.p1).alphabet;
    const double c = std::expm1(8 * uniform(generator));
    const Perspective g = perspective_on(alphabet, divergence, c);
    CAPTURE(repeat);
    CHECK(best_partition_at_most(alphabet, g, most, pacer).mean ==
          doctest::Approx(naive_programme(alphabet, g, most)).epsilon(1e-11).scale(1e-3));
  }
}

TEST_CASE("every bracket holds the exact optimum and is no wider than its tolerance") {
  std::mt19937_64 generator(4);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const Pair pair = random_pair(1500, 1 + repeat % 3, repeat % 4 == 0 ? 0.1 : 0, generator);
    const double epsilon = std::vector<double>{0.2, 1, 3, 7}[generator() % 4];
    const std::size_t max_outputs = repeat % 3 == 0 ? 3 : unlimited;
    for (const Divergence &divergence : {named_divergence("kl"), named_divergence("chi2"),
                                         named_divergence("renyi", 0.5), piecewise_linear()}) {
      CAPTURE(label(divergence));
      Options options = options_for(divergence, epsilon, max_outputs);
      options.method = Method::direct;
      const double exact = solve(pair.p0, pair.p1, options).value;
      options.method = Method::bracket;
      for (const double tolerance : {0.05, 1e-4, 0.0}) {
        options.tolerance = tolerance;
        const Result result = solve(pair.p0, pair.p1, options);
        CHECK(result.lower <= exact * (1 + 1e-13));
        CHECK(result.upper >= exact * (1 - 1e-13));
        CHECK(result.upper - result.lower <= tolerance * result.upper);
        CHECK(divergence_between(divergence, result.m0, result.m1) ==
              doctest::Approx(result.lower).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("spreading a bin keeps its masses and never lowers the optimum") {
  std::mt19937_64 generator(5);
  const std::function<void()> none;
  Pacer pacer{none};
  for (int repeat = 0; repeat < 50; ++repeat) {
    const Pair pair = random_pair(40, 2, 0.1, generator);
    const Alphabet alphabet = sort_alphabet(pair.p0, pair.p1).alphabet;
    std::vector<Bin> bins;
    for (std::size_t first = 0; first < alphabet.size(); first += 5) {
      const std::size_t last = std::min(first + 5, alphabet.size());
      bins.push_back({alphabet.p.between(first, last), alphabet.q.between(first, last),
                      alphabet.ratio(first), alphabet.ratio(last - 1)});
    }
    const Alphabet spread = spread_bins(bins).alphabet;
    CHECK(spread.p.high.back() == doctest::Approx(1).epsilon(1e-12));
    CHECK(spread.q.high.back() == doctest::Approx(1).epsilon(1e-12));
    for (const Divergence &divergence : f_divergences()) {
      CAPTURE(label(divergence));
      const double c = std::expm1(2 + 4.0 * (repeat % 2));
      const double exact = optimum_on(alphabet, divergence, c, unlimited, {0}, pacer).value;
      CHECK(optimum_on(spread, divergence, c, unlimited, {0}, pacer).value >=
            exact * (1 - 1e-13) - 1e-15);
    }
  }
}

TEST_CASE("the closed forms are what the search finds") {
  std::mt19937_64 generator(6);
  const std::function<void()> none;
  Pacer pacer{none};
  for (int repeat = 0; repeat < 60; ++repeat) {
    const Pair pair = random_pair(30, 1, repeat % 3 == 0 ? 0.2 : 0, generator);
    const Alphabet alphabet = sort_alphabet(pair.p0, pair.p1).alphabet;
    const double c = std::expm1(std::vector<double>{0.3, 1, 4}[generator() % 3]);
    for (const double gamma : {0.0, 0.4, 0.9, 1.0, 1.3, 2.0, 5.0, 60.0}) {
      const Divergence hockey_stick = named_divergence("hockey_stick", gamma);
      const Perspective g = perspective_on(alphabet, hockey_stick, c);
      const double searched = best_partition(alphabet, g, {0}, pacer).mean;
      const double closed = optimum_on(alphabet, hockey_stick, c, unlimited, {0}, pacer).value;
      CHECK(closed == doctest::Approx(searched).epsilon(1e-12).scale(1e-12));
    }
    // Renyi's divergence of a huge order is within log(s + 1) / order of the largest log-ratio.
    const double huge = 1e9;
    const double at_huge =
        optimum_on(alphabet, named_divergence("renyi", huge), c, unlimited, {0}, pacer).value;
    const double at_infinity =
        optimum_on(alphabet, named_divergence("renyi", infinity), c, unlimited, {0}, pacer).value;
    CHECK(at_huge == doctest::Approx(at_infinity).epsilon(1e-7));
  }
}

TEST_CASE("a hockey-stick beyond exp(epsilon) on either side sees nothing") {
  const Pair pair = example('A');
  for (const double gamma : {std::exp(1.0), std::exp(-1.0), 100.0, 0.0}) {
    const Result result =
        solve(pair.p0, pair.p1, options_for(named_divergence("hockey_stick", gamma), 1));
    CHECK(result.value == doctest::Approx(0).scale(1).epsilon(1e-15));
  }
}

TEST_CASE("Chernoff's certificate holds the best exponent of a fine grid of t") {
  std::mt19937_64 generator(8);
  const std::function<void()> none;
  Pacer pacer{none};
  for (int repeat = 0; repeat < 10; ++repeat) {
    const Pair pair = random_pair(12, 1 + repeat % 4, repeat % 3 == 0 ? 0.3 : 0, generator);
    const Alphabet alphabet = sort_alphabet(pair.p0, pair.p1).alphabet;
    const double epsilon = std::vector<double>{0.1, 1, 4, 10}[generator() % 4];
    const double c = std::expm1(epsilon);
    double best = 0;
    for (int i = 1; i < 500; ++i) {
      const double t = i / 500.0;
      best = std::max(
          best,
          (1 - t) *
              optimum_on(alphabet, named_divergence("renyi", t), c, unlimited, {0}, pacer).value);
    }
    for (const double tolerance : {0.0, 1e-3}) {
      Options options = options_for(named_divergence("chernoff"), epsilon);
      options.tolerance = tolerance;
      const Result result = solve(pair.p0, pair.p1, options);
      CHECK(result.upper >= best * (1 - 1e-13));
      CHECK(result.upper - result.lower <= std::max(tolerance, 1e-12) * result.upper);
      CHECK(naive_exponent(result.t, result.m0, result.m1) ==
            doctest::Approx(result.value).epsilon(1e-9));
    }
  }
}

TEST_CASE("splitting a symbol into symbols of equal likelihood ratio changes nothing") {
  const Pair pair = example('A');
  Pair split;
  for (std::size_t i = 0; i < pair.p0.size(); ++i)
    for (const double share : {0.25, 0.5, 0.25}) {
      split.p0.push_back(share * pair.p0[i]);
      split.p1.push_back(share * pair.p1[i]);
    }
  const Options options = options_for(named_divergence("kl"), 4);
  const Result whole = solve(pair.p0, pair.p1, options);
  const Result parts = solve(split.p0, split.p1, options);
  CHECK(parts.merged == 6);
  CHECK(parts.starts == whole.starts);
  CHECK(parts.value == doctest::Approx(whole.value).epsilon(1e-14));
  for (std::size_t i = 0; i < split.p0.size(); ++i)
    CHECK(parts.block[i] == whole.block[i / 3]);
}

TEST_CASE("zero masses are legal on either side and on both") {
  const Masses p0{0, .5, 0, .5, 0}, p1{.4, .6, 0, 0, 0};
  for (const Divergence &divergence : all_divergences()) {
    CAPTURE(label(divergence));
    const Result result = solve(p0, p1, options_for(divergence, 3));
    CHECK(std::isfinite(result.value));
    CHECK(result.merged == 3);
    CHECK(result.block.size() == 5);
    CHECK(result.block[0] <= result.block[1]);
    CHECK(result.block[1] <= result.block[3]);
    CHECK(result.block[2] < result.outputs);
    CHECK(result.order == std::vector<std::uint32_t>{0, 1, 3, 2, 4});
  }
}

TEST_CASE("equal hypotheses, epsilon 0 and a single output carry nothing") {
  const Pair pair = example('A');
  for (const Divergence &divergence : all_divergences()) {
    CAPTURE(label(divergence));
    const Result same = solve(pair.p0, pair.p0, options_for(divergence, 2));
    const Result silent = solve(pair.p0, pair.p1, options_for(divergence, 0));
    const Result single = solve(pair.p0, pair.p1, options_for(divergence, 2, 1));
    for (const Result &result : {same, silent, single}) {
      CHECK(result.value == doctest::Approx(0).scale(1).epsilon(1e-15));
      CHECK(result.upper == doctest::Approx(0).scale(1).epsilon(1e-12));
      CHECK(result.outputs == 1);
    }
  }
}

TEST_CASE("two symbols give binary randomized response") {
  const double epsilon = 1.5, keep = std::exp(epsilon) / (std::exp(epsilon) + 1);
  const Result result = solve({.8, .2}, {.3, .7}, options_for(named_divergence("kl"), epsilon));
  const double a = .8 * keep + .2 * (1 - keep), b = .3 * keep + .7 * (1 - keep);
  CHECK(result.block == std::vector<std::uint32_t>{1, 0});
  CHECK(result.m0[1] == doctest::Approx(a).epsilon(1e-14));
  CHECK(
      result.value ==
      doctest::Approx(a * std::log(a / b) + (1 - a) * std::log((1 - a) / (1 - b))).epsilon(1e-13));
}

TEST_CASE("a tiny epsilon keeps its digits") {
  // To leading order every f-divergence is f''(1)/2 times chi-square, whose best channel is binary
  // with M1 about (1/2, 1/2) and |M0 - M1| = epsilon A / 2, A the total variation: (epsilon A)^2.
  const Pair pair = example('A');
  const double epsilon = 1e-7, tv = (.25 + .15 + .03 + .08 + .12 + .23) / 2;
  const double expected = epsilon * epsilon * tv * tv;
  const auto value = [&](const char *name, double parameter) {
    return solve(pair.p0, pair.p1, options_for(named_divergence(name, parameter), epsilon)).value;
  };
  CHECK(value("chi2", 0) == doctest::Approx(expected).epsilon(1e-6).scale(1e-20));
  CHECK(value("kl", 0) == doctest::Approx(expected / 2).epsilon(1e-6).scale(1e-20));
  CHECK(value("reverse_kl", 0) == doctest::Approx(expected / 2).epsilon(1e-6).scale(1e-20));
  CHECK(value("js", 0) == doctest::Approx(expected / 8).epsilon(1e-6).scale(1e-20));
  CHECK(value("hellinger2", 0) == doctest::Approx(expected / 4).epsilon(1e-6).scale(1e-20));
  CHECK(value("renyi", 3) == doctest::Approx(1.5 * expected).epsilon(1e-6).scale(1e-20));
  CHECK(value("chernoff", 0) == doctest::Approx(expected / 8).epsilon(1e-6).scale(1e-20));
}

TEST_CASE("an epsilon above 44 is served as 44, with tails far below double rounding resolved") {
  const Pair pair{{1e-18, 3e-17, 0.4, 0.6}, {5e-17, 1e-18, 0.6, 0.4}};
  const Result at_limit = solve(pair.p0, pair.p1, options_for(named_divergence("kl"), 44));
  const Result beyond = solve(pair.p0, pair.p1, options_for(named_divergence("kl"), 1e308));
  CHECK(beyond.value == at_limit.value);
  CHECK(beyond.epsilon == 44);
  CHECK(at_limit.outputs == 4);
  const double c = std::expm1(44.0);
  CHECK(at_limit.m0[0] == doctest::Approx((1 + c * 1e-18) / (c + 4)).epsilon(1e-12).scale(1e-30));
  CHECK(at_limit.m1[3] == doctest::Approx((1 + c * 1e-18) / (c + 4)).epsilon(1e-12).scale(1e-30));
}

TEST_CASE("divergences of explicit distributions take their limits where masses are zero") {
  const Masses half{.5, .5, 0}, other{.5, 0, .5};
  const auto between = [&](const char *name, double parameter = 0) {
    return divergence_between(named_divergence(name, parameter), half, other);
  };
  CHECK(between("kl") == infinity);
  CHECK(between("reverse_kl") == infinity);
  CHECK(between("tv") == doctest::Approx(.5));
  CHECK(between("chi2") == infinity);
  CHECK(between("hellinger2") == doctest::Approx(1));
  CHECK(between("js") == doctest::Approx(.5 * std::log(2)));
  CHECK(between("hockey_stick", 2) == doctest::Approx(.5));
  CHECK(between("renyi", .5) == doctest::Approx(2 * std::log(2)));
  CHECK(between("renyi", 3) == infinity);
  CHECK(between("renyi", infinity) == infinity);
  CHECK(between("chernoff") == doctest::Approx(std::log(2)));
  CHECK(between("lr_distance", 2) == doctest::Approx(std::sqrt(.5)));
  double t = 0;
  const double one_sided = divergence_between(named_divergence("chernoff"), {1, 0}, {.25, .75}, &t);
  CHECK(one_sided == doctest::Approx(std::log(4)));
  CHECK(t == 0);
}

TEST_CASE("a function that is not convex, not zero at 1 or not finite is refused") {
  const Masses ratios{0.1, 0.5, 0.9, 1.1, 2, 10};
  const auto check = [&](double (*f)(double)) { require_convex(one_by_one(f), ratios); };
  CHECK_NOTHROW(check([](double x) { return x * std::log(x); }));
  CHECK_NOTHROW(check([](double x) { return std::fabs(x - 1); }));
  CHECK_NOTHROW(check([](double) { return 0.0; }));
  CHECK_THROWS_AS(check([](double x) { return std::log(x); }), std::invalid_argument);
  CHECK_THROWS_AS(check([](double x) { return x * x; }), std::invalid_argument);
  CHECK_THROWS_AS(check([](double x) { return x > 5 ? HUGE_VAL : x - 1; }), std::invalid_argument);
  CHECK_THROWS_AS(check([](double x) { return std::sqrt(-x); }), std::invalid_argument);
}

TEST_CASE("bad input is refused before any search") {
  const Masses good{.5, .5};
  const auto refuse = [&](const Masses &p0, const Masses &p1, double epsilon) {
    CHECK_THROWS_AS(solve(p0, p1, options_for(named_divergence("kl"), epsilon)),
                    std::invalid_argument);
  };
  refuse({}, {}, 1);
  refuse(good, {1}, 1);
  refuse({-.5, 1.5}, good, 1);
  refuse({std::nan(""), 1}, good, 1);
  refuse({infinity, 1}, good, 1);
  refuse({0, 0}, good, 1);
  refuse(good, good, -1);
  refuse(good, good, infinity);
  refuse(good, good, std::nan(""));
  CHECK_THROWS_AS(named_divergence("renyi", 0), std::invalid_argument);
  CHECK_THROWS_AS(named_divergence("lr_distance", 0.5), std::invalid_argument);
  CHECK_THROWS_AS(named_divergence("hockey_stick", -1), std::invalid_argument);
  CHECK_THROWS_AS(named_divergence("entropy"), std::invalid_argument);
}

TEST_CASE("an interrupt stops a long search") {
  std::mt19937_64 generator(9);
  const Pair pair = random_pair(3000, 1, 0, generator);
  Options options = options_for(named_divergence("kl"), 1);
  options.method = Method::direct;
  options.interrupt = [] { throw std::runtime_error("stopped"); };
  CHECK_THROWS_AS(solve(pair.p0, pair.p1, options), std::runtime_error);
}

TEST_CASE("a million symbols are solved exactly") {
  // Uniform against linear: the ratio of P0 to P1 falls steadily, as for the densities 1 and 2x.
  const std::size_t k = 1000000;
  Masses p0(k, 1.0 / static_cast<double>(k)), p1(k);
  for (std::size_t i = 0; i < k; ++i)
    p1[i] = (2.0 * static_cast<double>(i) + 1) / (static_cast<double>(k) * static_cast<double>(k));
  const Result result = solve(p0, p1, options_for(named_divergence("tv"), 1));
  const double c = std::expm1(1.0);
  CHECK(result.value == doctest::Approx(0.25 * c / (c + 2)).epsilon(1e-10));
  CHECK(result.merged == k);
  const Result kl = solve(p0, p1, options_for(named_divergence("kl"), 3));
  CHECK(kl.upper == kl.lower);
  ContinuousPair line;
  line.support_lower = 0;
  line.support_upper = 1;
  line.cdf0 = one_by_one([](double x) { return std::clamp(x, 0.0, 1.0); });
  line.cdf1 = one_by_one([](double x) { return std::clamp(x * x, 0.0, 1.0); });
  ContinuousOptions options;
  options.epsilon = 3;
  options.divergence = named_divergence("kl");
  const ContinuousResult limit = solve_continuous(line, options);
  CHECK(limit.decreasing);
  CHECK(kl.value <= limit.upper); // binning the line is a garbling
  CHECK(kl.value == doctest::Approx(limit.value).epsilon(1e-7));
}

TEST_CASE("two normal distributions are cut where calculus cuts them") {
  // Total variation: at the middle. Its value is that of binary randomized response.
  for (const double mean : {1.0, -1.0, 0.01}) {
    ContinuousOptions options;
    options.divergence = named_divergence("tv");
    const ContinuousResult result = solve_continuous(normal_pair(mean, 0), options);
    const double c = std::expm1(1.0);
    const double tv = 2 * normal_cdf(std::fabs(mean) / 2) - 1;
    CHECK(result.value == doctest::Approx(c * tv / (c + 2)).epsilon(1e-8));
    CHECK(result.upper - result.lower <= 1e-8 * result.upper);
    CHECK(result.upper >= c * tv / (c + 2) * (1 - 1e-12));
    CHECK(result.decreasing == (mean < 0));
    REQUIRE(result.cuts.size() == 1);
    CHECK(result.cuts[0] == doctest::Approx(mean / 2).epsilon(1e-3).scale(1));
  }
}

TEST_CASE("the continuous certificate holds the optimum of a fine discretisation") {
  for (const char *name : {"kl", "chi2", "hellinger2", "chernoff"}) {
    CAPTURE(name);
    ContinuousOptions options;
    options.epsilon = 3;
    options.divergence = named_divergence(name);
    options.tolerance = 1e-6;
    const ContinuousResult result = solve_continuous(normal_pair(1, 0), options);
    Masses p0, p1;
    for (int i = -8000; i < 9000; ++i) {
      const double a = i * 1e-3, b = a + 1e-3;
      p0.push_back(normal_cdf(b - 1) - normal_cdf(a - 1));
      p1.push_back(normal_cdf(b) - normal_cdf(a));
    }
    Options discrete = options_for(named_divergence(name), 3);
    discrete.tolerance = 1e-8;
    const Result fine = solve(p0, p1, discrete);
    CHECK(fine.value <= result.upper * (1 + 1e-9));
    CHECK(result.value <= fine.upper * (1 + 2e-6)); // bins of a thousandth lose about 1e-6
    CHECK(divergence_between(named_divergence(name), result.m0, result.m1) ==
          doctest::Approx(result.value).epsilon(1e-9));
  }
}

TEST_CASE("a likelihood ratio that is not monotone is refused") {
  ContinuousPair pair = normal_pair(0, 0);
  pair.cdf0 = one_by_one([](double x) { return normal_cdf(x / 2); }); // wider, not shifted
  ContinuousOptions options;
  options.divergence = named_divergence("kl");
  CHECK_THROWS_AS(solve_continuous(pair, options), std::invalid_argument);
}
