#include "grid.h"
#include "seeded_random.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <gmpxx.h>
#include <limits>
#include <numeric>
#include <set>

namespace {

using namespace confide;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double denormal = 5e-324;
constexpr std::array<Neighbours, 3> relations{Neighbours::add_remove, Neighbours::replace,
                                              Neighbours::zero_out};

// Oracles: GMP's rationals, which share nothing with the code under test.
mpz_class big(u128 x) {
  const mpz_class high = static_cast<unsigned long>(x >> 64);
  return (high << 64) + static_cast<unsigned long>(x);
}

mpq_class power_of_two(int exponent) {
  const mpz_class power = mpz_class(1) << std::abs(exponent);
  return exponent >= 0 ? mpq_class(power) : mpq_class(1, power);
}

mpq_class rational(const Rational &x) {
  mpq_class result(mpz_class(static_cast<unsigned long>(x.numerator)),
                   mpz_class(static_cast<unsigned long>(x.denominator)));
  result.canonicalize();
  return result;
}

mpz_class floor_of(const mpq_class &x) {
  mpz_class result;
  mpz_fdiv_q(result.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t());
  return result;
}

// What the plan proves by the definitions of zCDP and pure DP.
mpq_class exact_claim(const SumPlan &plan) {
  if (plan.law == NoiseLaw::gaussian)
    return big(plan.sensitivity.l2_squared) / (2 * rational(plan.noise));
  return mpq_class(mpz_class(static_cast<unsigned long>(plan.sensitivity.l1))) /
         rational(plan.noise);
}

void check_claim(const SumPlan &plan) {
  const mpq_class claim = exact_claim(plan);
  REQUIRE(claim <= mpq_class(plan.realised));
  REQUIRE(plan.realised <= plan.asked);
  REQUIRE(claim > mpq_class(std::nextafter(plan.realised, 0.0)));
}

SumPlan sum_plan(NoiseLaw law, double bound, double budget, std::size_t n, Neighbours neighbours,
                 std::size_t dimension) {
  return law == NoiseLaw::gaussian ? gaussian_sum_plan(bound, budget, n, neighbours, dimension)
                                   : laplace_sum_plan(bound, budget, n, neighbours, dimension);
}

SumPlan plain_plan(std::size_t dimension, double bound = 1) {
  return gaussian_sum_plan(bound, 0.5, 1000, Neighbours::replace, dimension);
}

std::vector<std::int64_t> rounded(const std::vector<double> &record, const Grid &grid) {
  std::vector<std::int64_t> units(record.size(), -1);
  round_record(record.data(), record.size(), grid, units.data());
  return units;
}

mpz_class squares(const std::vector<std::int64_t> &units) {
  mpz_class sum = 0;
  for (const std::int64_t unit : units)
    sum += mpz_class(static_cast<long>(unit)) * static_cast<long>(unit);
  return sum;
}

double uniform(RandomSource &random) { return static_cast<double>(random.word()) * 0x1p-64; }

double log_uniform(RandomSource &random, double low, double high) {
  return std::exp(std::log(low) + (std::log(high) - std::log(low)) * uniform(random));
}

// An entry chosen to hurt: edges of the bound and the grid, huge, tiny, not finite, or ordinary.
double hostile_entry(const Grid &grid, RandomSource &random) {
  const double gamma = std::ldexp(1.0, grid.exponent), bound = grid.bound;
  const std::array<double, 20> edges{0,
                                     -0.0,
                                     bound,
                                     std::nextafter(bound, 0),
                                     std::nextafter(bound, infinity),
                                     bound / std::sqrt(2),
                                     bound / std::sqrt(3),
                                     bound / 2,
                                     bound + gamma / 2,
                                     bound - gamma / 2,
                                     gamma / 2,
                                     1.5 * gamma,
                                     gamma,
                                     denormal,
                                     1e-310,
                                     1e308,
                                     std::numeric_limits<double>::max(),
                                     1e300,
                                     infinity,
                                     not_a_number};
  const double sign = random.coin() ? 1 : -1;
  const std::uint64_t pick = random.below(edges.size() + 20);
  return sign * (pick < edges.size() ? edges[pick] : 2 * bound * uniform(random));
}

std::vector<double> hostile_record(std::size_t dimension, const Grid &grid, RandomSource &random) {
  std::vector<double> record(dimension);
  std::generate(record.begin(), record.end(), [&] { return hostile_entry(grid, random); });
  return record;
}

Eigen::MatrixXd hostile_data(Eigen::Index rows, const SumPlan &plan, RandomSource &random) {
  Eigen::MatrixXd data(rows, static_cast<Eigen::Index>(plan.dimension));
  for (Eigen::Index row = 0; row < rows; ++row) {
    const std::vector<double> record = hostile_record(plan.dimension, plan.grid, random);
    data.row(row) = Eigen::Map<const Eigen::RowVectorXd>(record.data(), data.cols());
  }
  return data;
}

struct Distance {
  mpz_class l2_squared, l1;
};

Distance distance(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b) {
  Distance result{0, 0};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const mpz_class difference = mpz_class(static_cast<long>(a[i])) - static_cast<long>(b[i]);
    result.l2_squared += difference * difference;
    result.l1 += abs(difference);
  }
  return result;
}

void check_within(const Distance &moved, const SumPlan &plan) {
  REQUIRE(moved.l2_squared <= big(plan.sensitivity.l2_squared));
  REQUIRE(moved.l1 <= static_cast<unsigned long>(plan.sensitivity.l1));
}

Eigen::MatrixXd neighbour(const Eigen::MatrixXd &data, const SumPlan &plan, Neighbours relation,
                          RandomSource &random) {
  Eigen::MatrixXd other = data;
  if (relation == Neighbours::add_remove)
    return other.topRows(other.rows() - 1);
  if (relation == Neighbours::replace)
    other.bottomRows(1) = hostile_data(1, plan, random);
  if (relation == Neighbours::zero_out)
    other.bottomRows(1).setZero();
  return other;
}

template <class Call> std::string refusal(const Call &call) {
  try {
    call();
  } catch (const PlanRefused &error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("what a plan realises is exact, rounded up, and never above what was asked") {
  SeededRandom random(30100);
  for (int i = 0; i < 100000; ++i) {
    const NoiseLaw law = random.coin() ? NoiseLaw::gaussian : NoiseLaw::laplace;
    const double bound = log_uniform(random, 1e-200, 1e200);
    const double budget = log_uniform(random, law == NoiseLaw::gaussian ? 1e-13 : 1e-4, 1e12);
    const std::size_t n = 1 + random.below(std::uint64_t{1} << random.below(40));
    const std::size_t dimension = 1 + random.below(std::size_t{1} << random.below(12));
    const Neighbours neighbours = relations[random.below(3)];
    const SumPlan plan = sum_plan(law, bound, budget, n, neighbours, dimension);
    check_claim(plan);
    REQUIRE(plan.realised > 0.999 * plan.asked);
    const mpq_class steps = mpq_class(bound) / power_of_two(plan.grid.exponent);
    REQUIRE(big(plan.grid.bound_squared) == floor_of(steps * steps));
    // n records and one draw of noise fit into 64 bits.
    REQUIRE(steps * mpz_class(static_cast<unsigned long>(n)) < power_of_two(61));
  }
}

TEST_CASE("counts realise what was asked to one part in 2^40") {
  SeededRandom random(30200);
  for (int i = 0; i < 20000; ++i) {
    const double budget = log_uniform(random, 1e-9, 1e3);
    const std::size_t cells = 1 + random.below(3);
    const Neighbours neighbours = relations[random.below(3)];
    for (const SumPlan &plan : {gaussian_count_plan(budget, neighbours, cells),
                                laplace_count_plan(budget, neighbours, cells)}) {
      check_claim(plan);
      REQUIRE(plan.grid.exponent == 0);
      if (budget > 1e-3)
        REQUIRE(plan.realised >= plan.asked * (1 - 0x1p-40));
    }
  }
}

TEST_CASE("the noise of simple counts is the number in the textbook") {
  const SumPlan half = gaussian_count_plan(0.5, Neighbours::add_remove, 1);
  CHECK(half.noise.numerator == 1); // sigma^2 = 1 / (2 rho)
  CHECK(half.noise.denominator == 1);
  const SumPlan eighth = gaussian_count_plan(0.125, Neighbours::replace, 4);
  CHECK(eighth.noise.numerator == 8); // sigma^2 = 2 / (2 rho)
  CHECK(eighth.noise.denominator == 1);
  const SumPlan one = laplace_count_plan(1, Neighbours::zero_out, 1);
  CHECK(one.noise.numerator == 1);
  CHECK(one.noise.denominator == 1);
  const SumPlan quarter = laplace_count_plan(0.25, Neighbours::replace, 4);
  CHECK(quarter.noise.numerator == 8);
  CHECK(noise_sd(half) == doctest::Approx(1));
  // Var = 2 q / (1 - q)^2 with q = 1/e.
  CHECK(noise_sd(one) == doctest::Approx(std::sqrt(2 / M_E) / (1 - 1 / M_E)).epsilon(1e-12));
}

TEST_CASE("several counts that one record may all be in cost the sum of single ones") {
  for (const std::size_t counts : {1, 2, 50}) {
    const auto k = static_cast<double>(counts);
    const SumPlan gaussian = gaussian_joint_count_plan(0.25, counts);
    // sigma^2 = k / (2 rho) and scale k / epsilon
    CHECK(static_cast<double>(gaussian.noise.numerator) ==
          2 * k * static_cast<double>(gaussian.noise.denominator));
    const SumPlan laplace = laplace_joint_count_plan(0.5, counts);
    const double scale = static_cast<double>(laplace.noise.numerator) /
                         static_cast<double>(laplace.noise.denominator);
    CHECK(scale >= 2 * k);
    CHECK(scale <= 2 * k * (1 + 1e-9));
  }
}

TEST_CASE("replacing a record costs twice what zeroing it or removing it costs") {
  for (const std::size_t dimension : {1, 2, 100}) {
    const Grid grid = gaussian_sum_plan(3, 0.01, 10, Neighbours::zero_out, dimension).grid;
    const SumPlan out = gaussian_sum_plan(3, 0.01, 10, Neighbours::zero_out, dimension);
    const SumPlan remove = gaussian_sum_plan(3, 0.01, 10, Neighbours::add_remove, dimension);
    const SumPlan replace = gaussian_sum_plan(3, 0.01, 10, Neighbours::replace, dimension);
    CHECK(out.sensitivity.l2_squared == remove.sensitivity.l2_squared);
    CHECK(noise_sd(replace) == doctest::Approx(2 * noise_sd(out)).epsilon(1e-7));
    CHECK(noise_sd(out) == doctest::Approx(3 / std::sqrt(0.02)).epsilon(1e-7));
    CHECK(replace.grid.exponent == grid.exponent + 1);
  }
}

TEST_CASE("pure privacy of a vector is paid in l1, sqrt(d) times the l2 bound") {
  for (const std::size_t dimension : {1, 4, 1024}) {
    const SumPlan plan = laplace_sum_plan(2, 0.5, 100, Neighbours::zero_out, dimension);
    const double scale = 2 * std::sqrt(static_cast<double>(dimension)) / 0.5;
    CHECK(noise_sd(plan) == doctest::Approx(std::sqrt(2.0) * scale).epsilon(1e-6));
  }
}

TEST_CASE("the noise of a sum is 2^24 to 2^25 grid steps wide") {
  for (const double rho : {1e-8, 1e-3, 0.5, 2.0, 100.0})
    for (const double bound : {1e-100, 0.7, 1.0, 1e100}) {
      const SumPlan plan = gaussian_sum_plan(bound, rho, 1000, Neighbours::zero_out, 3);
      const double steps = std::ldexp(noise_sd(plan), -plan.grid.exponent);
      // Rounding the bound down to whole steps makes the noise narrower by at most one such step.
      CHECK(steps >= 0x1p24 * (1 - std::ldexp(1.0, plan.grid.exponent) / bound));
      CHECK(steps <= 0x1p25);
    }
}

TEST_CASE("many records coarsen the grid until their sum fits") {
  const SumPlan few = gaussian_sum_plan(1, 1e6, 1, Neighbours::zero_out, 1);
  const SumPlan many = gaussian_sum_plan(1, 1e6, std::size_t{1} << 40, Neighbours::zero_out, 1);
  CHECK(many.grid.exponent > few.grid.exponent);
  check_claim(few);
  check_claim(many);
}

TEST_CASE("arguments that no noise can serve are refused in plain words") {
  const auto gaussian = [](double bound, double rho, std::size_t n = 10, std::size_t d = 2) {
    return refusal([=] { gaussian_sum_plan(bound, rho, n, Neighbours::replace, d); });
  };
  for (const double rho : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity, 1e308, 0x1.1p40})
    CHECK(gaussian(1, rho) == "rho must be above 0 and at most 2^40");
  for (const double bound : {0.0, -1.0, not_a_number, infinity})
    CHECK(gaussian(bound, 1) == "the bound must be a finite number above 0");
  CHECK(gaussian(1, 1e-300) == "the noise would be more than 2^24 times the bound");
  CHECK(gaussian(1, 1e-17) == "the noise would be more than 2^24 times the bound");
  CHECK(gaussian(1e308, 1e-10) != "");
  CHECK(gaussian(1e-300, 1) == "the bound is too small or too large for the grid of the noise");
  CHECK(gaussian(1e290, 1) == "the bound is too small or too large for the grid of the noise");
  CHECK(gaussian(denormal, 1) != "");
  CHECK(gaussian(1, 1, 0) == "the number of records must be at least 1");
  CHECK(gaussian(1, 1, 10, 0) == "at least one column is needed");
  CHECK(gaussian(1, 0x1p40, 1, std::size_t{1} << 50) ==
        "too many columns for this bound and privacy parameter");
  for (const double epsilon : {0.0, -1.0, not_a_number, infinity, 1e308})
    CHECK(refusal([=] { laplace_sum_plan(1, epsilon, 1, Neighbours::replace, 1); }) ==
          "epsilon must be above 0 and at most 2^40");
  CHECK(refusal([] { gaussian_count_plan(1e-300, Neighbours::replace, 1); }) ==
        "rho is too small: the noise would leave 2^26 grid steps");
  CHECK(refusal([] { laplace_count_plan(1e-300, Neighbours::replace, 1); }) ==
        "epsilon is too small: the noise would leave 2^52 grid steps");
  CHECK(refusal([] { gaussian_variance(~u128{0}, 1); }) ==
        "rho is too small: the noise would leave 2^26 grid steps");
  CHECK(refusal([] { gaussian_variance(0, 1); }) != "");
  CHECK(refusal([] { laplace_scale(0, 1); }) != "");
}

TEST_CASE("rounding goes toward zero, also on half steps") {
  const Grid grid = plain_plan(1).grid;
  const double gamma = std::ldexp(1.0, grid.exponent);
  for (const double unit : {0.0, 1.0, 2.0, 1000.0, 4001.0})
    for (const double part : {0.0, 0.25, 0.5, 0.75, 0.999}) {
      const auto expected = static_cast<std::int64_t>(unit);
      CHECK(rounded({(unit + part) * gamma}, grid).front() == expected);
      CHECK(rounded({-(unit + part) * gamma}, grid).front() == -expected);
    }
}

TEST_CASE("a record that is not finite counts as the zero vector, a huge one is clipped") {
  const Grid grid = plain_plan(2).grid;
  const std::vector<std::int64_t> zero{0, 0};
  for (const double bad : {not_a_number, infinity, -infinity}) {
    CHECK(rounded({bad, 0.5}, grid) == zero);
    CHECK(rounded({0.5, bad}, grid) == zero);
    CHECK(rounded({bad, bad}, grid) == zero);
  }
  CHECK(rounded({denormal, -denormal}, grid) == zero);
  CHECK(rounded({0, -0.0}, grid) == zero);
  CHECK(rounded({1e308, 1e308}, grid) == rounded({1, 1}, grid));
  CHECK(rounded({1e308, -1e308}, grid) == rounded({1, -1}, grid));
  CHECK(rounded({1e308, 1}, grid) == rounded({1e300, 0}, grid));
}

namespace {

// In units of the largest entry, whose square is a number also where long double is double.
std::vector<long double> clipped_record(const std::vector<double> &record, double bound) {
  long double largest = 0, squares = 0;
  for (const double v : record)
    largest = std::max(largest, std::abs(static_cast<long double>(v)));
  if (largest == 0)
    return std::vector<long double>(record.size());
  for (const double v : record)
    squares += v / largest * (v / largest);
  const long double norm = std::sqrt(squares);
  const long double size = bound / largest < norm ? bound / norm : largest;
  std::vector<long double> clipped;
  for (const double v : record)
    clipped.push_back(v / largest * size);
  return clipped;
}

} // namespace

TEST_CASE("rounded records are within the bound and, unless shrunk, within a step of clipping") {
  SeededRandom random(30300);
  for (int i = 0; i < 20000; ++i) {
    const std::size_t dimension = 1 + random.below(8);
    const double bound = log_uniform(random, 1e-3, 1e3), rho = log_uniform(random, 1e-12, 1e9);
    const Grid grid = gaussian_sum_plan(bound, rho, 1, Neighbours::replace, dimension).grid;
    const std::vector<double> record = hostile_record(dimension, grid, random);
    const std::vector<std::int64_t> units = rounded(record, grid);
    REQUIRE(squares(units) <= big(grid.bound_squared));
    if (!std::all_of(record.begin(), record.end(), [](double v) { return std::isfinite(v); }))
      continue;
    const std::vector<long double> clipped = clipped_record(record, bound);
    for (std::size_t j = 0; j < dimension; ++j) {
      const long double ideal = std::ldexp(clipped[j], -grid.exponent);
      // One step for truncation, the rest for clipping in doubles and the shrinking it may cause.
      REQUIRE(std::abs(static_cast<long double>(units[j]) - ideal) <=
              2 + 1e-14L * std::ldexp(static_cast<long double>(bound), -grid.exponent));
    }
  }
}

TEST_CASE("shrinking takes an excess back, from the largest entry and no more than needed") {
  // A bound in the grid's integers that is smaller than what clipping in doubles aims at.
  const std::vector<double> record{0.6, -0.8, 0};
  Grid grid{-20, 1, 0};
  for (const u128 bound_squared : {u128{0}, u128{1}, u128{1} << 20, (u128{1} << 40) - 12345}) {
    grid.bound_squared = bound_squared;
    const std::vector<std::int64_t> units = rounded(record, grid);
    CHECK(squares(units) <= big(bound_squared));
    CHECK(squares(units) + 4 * (1 << 20) >= big(bound_squared) - 4 * (1 << 20));
    CHECK(units[0] >= 0);
    CHECK(units[1] <= 0);
    CHECK(units[2] == 0);
  }
}

TEST_CASE("no neighbour moves an integer sum further than the plan says") {
  SeededRandom random(30400);
  for (int i = 0; i < 12000; ++i) {
    const std::size_t dimension = 1 + random.below(5);
    const Neighbours relation = relations[random.below(3)];
    const NoiseLaw law = random.coin() ? NoiseLaw::gaussian : NoiseLaw::laplace;
    // Tiny budgets make coarse grids, where rounding matters most.
    const double budget = law == NoiseLaw::gaussian ? log_uniform(random, 1e-14, 1e3)
                                                    : log_uniform(random, 1e-6, 1e3);
    const SumPlan plan =
        sum_plan(law, log_uniform(random, 0.1, 10), budget, 8, relation, dimension);
    const Eigen::MatrixXd data = hostile_data(1 + static_cast<int>(random.below(4)), plan, random);
    const Eigen::MatrixXd other = neighbour(data, plan, relation, random);
    check_within(distance(grid_sum(data, plan.grid), grid_sum(other, plan.grid)), plan);
  }
}

TEST_CASE("the sensitivity of the plan is attained, so the noise is not wider than needed") {
  for (const Neighbours relation : relations) {
    const SumPlan plan = gaussian_sum_plan(1.7, 0.3, 10, relation, 1);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Constant(1, 1, 9);
    const Eigen::MatrixXd other = relation == Neighbours::replace    ? Eigen::MatrixXd(-one)
                                  : relation == Neighbours::zero_out ? Eigen::MatrixXd::Zero(1, 1)
                                                                     : Eigen::MatrixXd(0, 1);
    const Distance moved = distance(grid_sum(one, plan.grid), grid_sum(other, plan.grid));
    CHECK(moved.l2_squared == big(plan.sensitivity.l2_squared));
    CHECK(moved.l1 == static_cast<unsigned long>(plan.sensitivity.l1));
  }
}

TEST_CASE("a sum has no order: 1000 permutations give identical integers") {
  SeededRandom random(30500);
  const SumPlan plan = plain_plan(3, 1e16);
  Eigen::MatrixXd data = hostile_data(40, plan, random);
  data.topRows(3) << 1e16, 1, -1e16, 1, 1e16, 0.1, -1e16, -1, 1e16;
  const std::vector<std::int64_t> sum = grid_sum(data, plan.grid);
  std::vector<Eigen::Index> order(40);
  std::iota(order.begin(), order.end(), 0);
  for (int i = 0; i < 1000; ++i) {
    for (std::size_t j = order.size() - 1; j > 0; --j)
      std::swap(order[j], order[random.below(j + 1)]);
    Eigen::MatrixXd permuted(40, 3);
    for (Eigen::Index j = 0; j < 40; ++j)
      permuted.row(j) = data.row(order[static_cast<std::size_t>(j)]);
    REQUIRE(grid_sum(permuted, plan.grid) == sum);
  }
}

TEST_CASE("a record is rounded alike wherever it stands and whatever stands beside it") {
  SeededRandom random(30600);
  const SumPlan plan = plain_plan(7);
  const std::vector<double> record{0.1, -0.7, 1e-9, 0.3, 5, -0.2, 0.9};
  const std::vector<std::int64_t> alone = rounded(record, plan.grid);
  for (Eigen::Index rows = 1; rows < 20; ++rows)
    for (Eigen::Index at = 0; at < rows; ++at) {
      Eigen::MatrixXd data = Eigen::MatrixXd::Zero(rows, 7);
      data.row(at) = Eigen::Map<const Eigen::RowVectorXd>(record.data(), 7);
      REQUIRE(grid_sum(data, plan.grid) == alone);
    }
}

TEST_CASE("a sum beyond the plan's n saturates instead of wrapping around") {
  const SumPlan plan = gaussian_sum_plan(1, 0x1p40, 1, Neighbours::zero_out, 1);
  const Grid grid{-60, 1, u128{1} << 120};
  CHECK(plan.grid.exponent < -40);
  const Eigen::MatrixXd data = Eigen::MatrixXd::Constant(100, 1, 1);
  CHECK(grid_sum(data, grid).front() == std::int64_t{1} << 61);
  CHECK(grid_sum(-data, grid).front() == -(std::int64_t{1} << 61));
}

TEST_CASE("a release with recorded noise is the integer sum plus that noise, on the grid") {
  const SumPlan plan = plain_plan(2);
  Eigen::MatrixXd data(3, 2);
  data << 0.5, 0.25, -0.125, 0.5, 30, 40;
  const std::array<std::int64_t, 2> recorded{12345, -67890};
  std::size_t calls = 0;
  const Eigen::VectorXd released = noisy_sum(data, plan, [&] { return recorded.at(calls++); });
  CHECK(calls == 2);
  const std::vector<std::int64_t> sum = grid_sum(data, plan.grid);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(released[static_cast<Eigen::Index>(i)] ==
          std::ldexp(static_cast<double>(sum[i] + recorded[i]), plan.grid.exponent));
  // Rows 1 and 2 are within the bound 1 and on the grid; row 3 is clipped to (0.6, 0.8).
  CHECK(released[0] == doctest::Approx(0.975).epsilon(1e-2));
}

TEST_CASE("the number of draws depends on the columns only, never on the data") {
  SeededRandom random(30700);
  const SumPlan plan = plain_plan(3);
  for (const Eigen::Index rows : {0, 1, 50}) {
    int calls = 0;
    const Eigen::VectorXd released =
        noisy_sum(hostile_data(rows, plan, random), plan, [&] { return ++calls; });
    CHECK(calls == 3);
    CHECK(released.allFinite());
  }
}

TEST_CASE("releases are whole multiples of the grid, whatever the data") {
  SeededRandom random(30800);
  const SumPlan plan = plain_plan(1);
  for (const double value : {0.0, 1.0}) {
    const Eigen::MatrixXd data = Eigen::MatrixXd::Constant(1, 1, value);
    for (int i = 0; i < 20000; ++i) {
      const double units = std::ldexp(noisy_sum(data, plan, random)[0], -plan.grid.exponent);
      REQUIRE(units == std::trunc(units));
    }
  }
}

TEST_CASE("two neighbouring counts have the same support near their centre") {
  SeededRandom random(30900);
  const SumPlan plan = gaussian_count_plan(0.02, Neighbours::add_remove, 1); // sigma = 5
  std::array<std::set<double>, 2> seen;
  for (std::size_t side = 0; side < 2; ++side)
    for (int i = 0; i < 100000; ++i) {
      const double y = noisy_integers({static_cast<std::int64_t>(side)}, plan, random)[0];
      if (std::abs(y) <= 10) // at least 800 draws expected of each
        seen[side].insert(y);
    }
  CHECK(seen[0].size() == 21);
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("the noise of a sum has the standard deviation that the plan states") {
  SeededRandom random(31000);
  const int draws = 100000;
  const std::array<SumPlan, 3> plans{gaussian_sum_plan(2, 0.1, 10, Neighbours::replace, 1),
                                     laplace_sum_plan(2, 0.1, 10, Neighbours::replace, 1),
                                     laplace_count_plan(3, Neighbours::replace, 1)};
  for (const SumPlan &plan : plans) {
    const Noise noise = plan_noise(plan, random);
    double sum = 0;
    for (int i = 0; i < draws; ++i) {
      const double y =
          std::ldexp(static_cast<double>(noise()), plan.grid.exponent) / noise_sd(plan);
      sum += y * y;
    }
    // The kurtosis is at most 3 + 3 (Laplace) + 1 / variance of a narrow law, here below 30.
    CHECK(std::abs(sum / draws - 1) < 4.5 * std::sqrt(29.0 / draws));
  }
}

TEST_CASE("data of another shape than the plan are refused") {
  SeededRandom random(31100);
  CHECK_THROWS_AS(noisy_sum(Eigen::MatrixXd::Zero(2, 2), plain_plan(3), random),
                  std::invalid_argument);
  CHECK_THROWS_AS(noisy_integers({1, 2}, gaussian_count_plan(1, Neighbours::replace, 3), random),
                  std::invalid_argument);
}

TEST_CASE("noise for other integer queries realises the smallest double above its exact quotient") {
  SeededRandom random(31200);
  for (int i = 0; i < 20000; ++i) {
    const u128 l2_squared = (u128{1} << random.below(60)) + random.below(1000);
    const double rho = log_uniform(random, 0x1p-49, 0x1p-30) * static_cast<double>(l2_squared);
    const Rational variance = gaussian_variance(l2_squared, rho);
    const mpq_class exact_rho = big(l2_squared) / (2 * rational(variance));
    const double up_rho = realised_rho(l2_squared, variance);
    REQUIRE(exact_rho <= mpq_class(up_rho));
    REQUIRE(exact_rho > mpq_class(std::nextafter(up_rho, 0.0)));
    REQUIRE(up_rho <= rho);
    const std::uint64_t l1 = 1 + random.below(std::uint64_t{1} << random.below(60));
    const double epsilon = log_uniform(random, 0x1p-51, 0x1p-20) * static_cast<double>(l1);
    const Rational scale = laplace_scale(l1, epsilon);
    const mpq_class exact_epsilon = mpz_class(static_cast<unsigned long>(l1)) / rational(scale);
    const double up_epsilon = realised_epsilon(l1, scale);
    REQUIRE(exact_epsilon <= mpq_class(up_epsilon));
    REQUIRE(exact_epsilon > mpq_class(std::nextafter(up_epsilon, 0.0)));
    REQUIRE(up_epsilon <= epsilon);
  }
}

TEST_CASE("two answers are within the sensitivity when neither norm is exceeded") {
  const Sensitivity limit{25, 7};
  CHECK(within_sensitivity({3, 4}, {0, 0}, limit)); // both norms are attained
  CHECK(within_sensitivity({10, -1}, {7, 3}, limit));
  CHECK(within_sensitivity({7, 3}, {10, -1}, limit));
  CHECK_FALSE(within_sensitivity({5, 1}, {0, 0}, limit));             // l2^2 = 26, l1 = 6
  CHECK_FALSE(within_sensitivity({2, 2, 2, 2}, {0, 0, 0, 0}, limit)); // l2^2 = 16, l1 = 8
  CHECK_FALSE(within_sensitivity({1}, {1, 0}, limit));
  CHECK_FALSE(within_sensitivity({1, 0}, {1}, limit));
  CHECK(within_sensitivity({}, {}, Sensitivity{0, 0}));
}

TEST_CASE("answers at the ends of 64 bits are compared as what is released of them") {
  // Sums are limited to +-2^61 before noise is added, so these are 2^62 apart.
  const std::vector<std::int64_t> lowest{INT64_MIN}, highest{INT64_MAX};
  const std::uint64_t apart = std::uint64_t{1} << 62;
  const u128 squared = u128{1} << 124;
  CHECK(within_sensitivity(lowest, highest, {squared, apart}));
  CHECK(within_sensitivity(highest, lowest, {squared, apart}));
  CHECK_FALSE(within_sensitivity(lowest, highest, {squared - 1, apart}));
  CHECK_FALSE(within_sensitivity(lowest, highest, {squared, apart - 1}));
}

TEST_CASE("whether two answers are within the sensitivity agrees with whole numbers of any size") {
  SeededRandom random(31300);
  int within = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t dimension = 1 + random.below(4);
    std::vector<std::int64_t> first(dimension), second(dimension);
    for (std::size_t j = 0; j < dimension; ++j) {
      first[j] = static_cast<std::int64_t>(random.below(9)) - 4;
      second[j] = static_cast<std::int64_t>(random.below(9)) - 4;
    }
    const Sensitivity limit{random.below(80), random.below(16)};
    const Distance moved = distance(first, second);
    const bool expected = moved.l2_squared <= big(limit.l2_squared) &&
                          moved.l1 <= static_cast<unsigned long>(limit.l1);
    within += expected;
    REQUIRE(within_sensitivity(first, second, limit) == expected);
  }
  CHECK(within > 2000);
  CHECK(within < 18000);
}

TEST_CASE("a long sum lets itself be interrupted, and an interrupt alters nothing") {
  const SumPlan plan = plain_plan(1);
  const Eigen::MatrixXd data = Eigen::MatrixXd::Constant((1 << 17) + 1, 1, 0.5);
  int calls = 0;
  const std::vector<std::int64_t> sum = grid_sum(data, plan.grid, [&] { ++calls; });
  CHECK(calls == 3); // once in 2^16 rows
  struct Stopped {};
  int left = 3;
  const auto stop_at_the_third = [&] {
    if (--left == 0)
      throw Stopped();
  };
  CHECK_THROWS_AS(grid_sum(data, plan.grid, stop_at_the_third), Stopped);
  CHECK(left == 0);
  CHECK(grid_sum(data, plan.grid) == sum);
}
