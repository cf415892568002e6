#include "rcpp_grid.h"
#include "brownian.h"
#include "laplace_path.h"
#include "rcpp_random.h"
#include "rcpp_units.h"
#include <cstring>

confide::Neighbours neighbours_of(const std::string &name) {
  if (name == "replace")
    return confide::Neighbours::replace;
  return name == "zero_out" ? confide::Neighbours::zero_out : confide::Neighbours::add_remove;
}

namespace {

// An answer that neighbours move by `sensitivity`, in Euclidean or l1 norm; of whole numbers unless
// `whole` is false.
confide::SumPlan answer_plan(const Rcpp::List &query, double budget, std::size_t dimension,
                             bool gaussian) {
  const auto sensitivity = Rcpp::as<double>(query["sensitivity"]);
  if (gaussian)
    return confide::refinement_plan({sensitivity, dimension, Rcpp::as<bool>(query["whole"])},
                                    budget);
  const auto l1 = static_cast<std::uint64_t>(sensitivity);
  const confide::Rational scale = confide::laplace_scale(l1, budget);
  const confide::Sensitivity moved{static_cast<confide::u128>(l1) * l1, l1};
  return {{0, 0, 0},
          dimension,
          moved,
          confide::NoiseLaw::laplace,
          scale,
          budget,
          confide::realised_epsilon(l1, scale)};
}

// All levels of a Laplace path at once, level by level: each moves by l1.
confide::LaplaceLadder path_ladder(const Rcpp::List &query) {
  const auto l1 = static_cast<std::uint64_t>(Rcpp::as<double>(query["sensitivity"]));
  return confide::laplace_ladder(l1, Rcpp::as<std::vector<double>>(query["epsilons"]));
}

confide::SumPlan path_plan(const Rcpp::List &query, double budget, std::size_t dimension) {
  const confide::LaplaceLadder ladder = path_ladder(query);
  const auto l1 = static_cast<std::uint64_t>(Rcpp::as<double>(query["sensitivity"]));
  const std::uint64_t moved = l1 * ladder.numerators.size();
  const confide::Rational scale{ladder.numerators.back(), ladder.denominator};
  return {{0, 0, 0},
          dimension,
          {static_cast<confide::u128>(moved) * moved, moved},
          confide::NoiseLaw::laplace,
          scale,
          budget,
          confide::realised_epsilon(l1, scale)};
}

} // namespace

confide::SumPlan make_plan(const Rcpp::List &query) {
  const auto budget = Rcpp::as<double>(query["budget"]);
  const auto dimension = static_cast<std::size_t>(Rcpp::as<double>(query["dimension"]));
  const bool gaussian = Rcpp::as<std::string>(query["law"]) == "gaussian";
  const auto kind = Rcpp::as<std::string>(query["kind"]);
  if (kind == "path")
    return path_plan(query, budget, dimension);
  if (kind == "answer")
    return answer_plan(query, budget, dimension, gaussian);
  if (kind == "joint_counts")
    return gaussian ? confide::gaussian_joint_count_plan(budget, dimension)
                    : confide::laplace_joint_count_plan(budget, dimension);
  const auto neighbours = neighbours_of(Rcpp::as<std::string>(query["neighbours"]));
  if (kind == "count")
    return gaussian ? confide::gaussian_count_plan(budget, neighbours, dimension)
                    : confide::laplace_count_plan(budget, neighbours, dimension);
  const auto bound = Rcpp::as<double>(query["bound"]);
  const auto n = static_cast<std::size_t>(Rcpp::as<double>(query["n_max"]));
  return gaussian ? confide::gaussian_sum_plan(bound, budget, n, neighbours, dimension)
                  : confide::laplace_sum_plan(bound, budget, n, neighbours, dimension);
}

namespace {

// Level by level, of each level `dimension` integers.
std::vector<std::int64_t> path_noise(const confide::LaplaceLadder &ladder, std::size_t dimension,
                                     confide::RandomSource &random) {
  const std::size_t levels = ladder.numerators.size();
  std::vector<std::int64_t> noise(levels * dimension);
  for (std::size_t i = 0; i < dimension; ++i) {
    const auto path = confide::laplace_noise_path(ladder, random);
    for (std::size_t level = 0; level < levels; ++level)
      noise[level * dimension + i] = path[level];
  }
  return noise;
}

} // namespace

// What the integers of the query's noise realise; throws confide::PlanRefused.
// [[Rcpp::export(rng = false)]]
Rcpp::List noise_plan(const Rcpp::List &query) {
  const confide::SumPlan plan = make_plan(query);
  return Rcpp::List::create(
      Rcpp::Named("realised") = plan.realised, Rcpp::Named("noise_sd") = confide::noise_sd(plan),
      Rcpp::Named("grid") = std::ldexp(1.0, plan.grid.exponent),
      Rcpp::Named("numerator") = static_cast<double>(plan.noise.numerator),
      Rcpp::Named("denominator") = static_cast<double>(plan.noise.denominator),
      Rcpp::Named("l1") = static_cast<double>(plan.sensitivity.l1),
      Rcpp::Named("l2_squared") = static_cast<double>(plan.sensitivity.l2_squared));
}

// The exact integers of a sum: private.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sum_units(const Eigen::Map<Eigen::MatrixXd> values, const Rcpp::List &query) {
  return to_raw(
      confide::grid_sum(values, make_plan(query).grid, [] { Rcpp::checkUserInterrupt(); }));
}

// Numbers on the grid of a query of kind "answer"; counts stay as they are.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector answer_units(const Rcpp::NumericVector &values, const Rcpp::List &query) {
  return to_raw(confide::nearest_units(Rcpp::as<std::vector<double>>(values),
                                       make_plan(query).grid.exponent));
}

// Whole numbers below 2^53, such as counts.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector count_units(const Rcpp::NumericVector &counts) {
  return to_raw(std::vector<std::int64_t>(counts.begin(), counts.end()));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector units_as_numbers(const Rcpp::RawVector &units) {
  return Rcpp::wrap(from_raw(units));
}

// n integers of the query's noise. Throws confide::RandomnessError.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector draw_noise(const Rcpp::List &query, double n, const std::string &rng) {
  const auto random = make_source(rng);
  if (Rcpp::as<std::string>(query["kind"]) == "path") {
    const confide::LaplaceLadder ladder = path_ladder(query);
    const auto dimension = static_cast<std::size_t>(n) / ladder.numerators.size();
    return to_raw(path_noise(ladder, dimension, *random));
  }
  const confide::Noise noise = confide::plan_noise(make_plan(query), *random);
  const auto size = static_cast<R_xlen_t>(n);
  constexpr R_xlen_t width = sizeof(std::int64_t);
  Rcpp::RawVector bytes(Rcpp::no_init(size * width));
  for_each_interruptible(size, [&](R_xlen_t i) {
    const std::int64_t drawn = noise();
    std::memcpy(&bytes[i * width], &drawn, sizeof drawn);
  });
  return bytes;
}

// Private integers plus noise, times the step of the grid: the only way out.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector add_noise(const Rcpp::RawVector &units, const Rcpp::RawVector &noise,
                              const Rcpp::List &query) {
  const std::vector<std::int64_t> drawn = from_raw(noise);
  std::size_t next = 0;
  return Rcpp::wrap(
      confide::noisy_integers(from_raw(units), make_plan(query), [&] { return drawn.at(next++); }));
}

// [[Rcpp::export(rng = false)]]
bool units_within_sensitivity(const Rcpp::RawVector &units, const Rcpp::RawVector &other,
                              const Rcpp::List &query) {
  return confide::within_sensitivity(from_raw(units), from_raw(other),
                                     make_plan(query).sensitivity);
}
