#include "spr.h"
#include "spr_continuous.h"
#include <Rcpp.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// An R function as a batch function: one call for all numbers.
confide::spr::BatchFunction batch_function(const Rcpp::Function &f) {
  return [f](const double *x, double *fx, std::size_t n) {
    const Rcpp::RObject values = f(Rcpp::NumericVector(x, x + n));
    if (TYPEOF(values) != REALSXP && TYPEOF(values) != INTSXP)
      throw std::invalid_argument("it must return numbers");
    const Rcpp::NumericVector numbers(values);
    if (static_cast<std::size_t>(numbers.size()) != n)
      throw std::invalid_argument("it must return one number for each number");
    std::copy(numbers.begin(), numbers.end(), fx);
  };
}

confide::spr::Divergence divergence_of(const std::string &name, double parameter,
                                       const Rcpp::Nullable<Rcpp::Function> &f) {
  if (f.isNotNull())
    return confide::spr::user_divergence(batch_function(Rcpp::Function(f)));
  return confide::spr::named_divergence(name, parameter);
}

// What both kinds of options share. An infinite number of outputs is no limit.
template <class Options>
Options options_of(double epsilon, confide::spr::Divergence divergence, double max_outputs,
                   double tolerance) {
  Options options;
  options.epsilon = epsilon;
  options.divergence = std::move(divergence);
  if (std::isfinite(max_outputs))
    options.max_outputs = static_cast<std::size_t>(max_outputs);
  options.tolerance = tolerance;
  options.interrupt = [] { Rcpp::checkUserInterrupt(); };
  return options;
}

std::vector<double> doubles(const Rcpp::NumericVector &x) { return {x.begin(), x.end()}; }

} // namespace

// `f` is NULL except for a convex function of the user's; blocks are numbered from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List spr_solve(const Rcpp::NumericVector &p0, const Rcpp::NumericVector &p1, double epsilon,
                     const std::string &name, double parameter, Rcpp::Nullable<Rcpp::Function> f,
                     double max_outputs, double tolerance) {
  const auto options = options_of<confide::spr::Options>(epsilon, divergence_of(name, parameter, f),
                                                         max_outputs, tolerance);
  const auto result = confide::spr::solve(doubles(p0), doubles(p1), options);
  Rcpp::IntegerVector block(p0.size());
  std::transform(result.block.begin(), result.block.end(), block.begin(),
                 [](std::uint32_t j) { return static_cast<int>(j) + 1; });
  return Rcpp::List::create(
      Rcpp::Named("block") = block, Rcpp::Named("outputs") = static_cast<double>(result.outputs),
      Rcpp::Named("value") = result.value,
      Rcpp::Named("bounds") = Rcpp::NumericVector::create(result.lower, result.upper),
      Rcpp::Named("m0") = result.m0, Rcpp::Named("m1") = result.m1, Rcpp::Named("t") = result.t);
}

// The cuts are ascending; `decreasing` says that the last interval is block 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List spr_solve_continuous(const Rcpp::Function &cdf0, const Rcpp::Function &cdf1,
                                const Rcpp::NumericVector &support, double epsilon,
                                const std::string &name, double parameter,
                                Rcpp::Nullable<Rcpp::Function> f, double max_outputs,
                                double tolerance) {
  confide::spr::ContinuousPair pair;
  pair.cdf0 = batch_function(cdf0);
  pair.cdf1 = batch_function(cdf1);
  pair.support_lower = support[0];
  pair.support_upper = support[1];
  const auto options = options_of<confide::spr::ContinuousOptions>(
      epsilon, divergence_of(name, parameter, f), max_outputs, tolerance);
  const auto result = confide::spr::solve_continuous(pair, options);
  return Rcpp::List::create(
      Rcpp::Named("cuts") = result.cuts, Rcpp::Named("decreasing") = result.decreasing,
      Rcpp::Named("outputs") = static_cast<double>(result.outputs),
      Rcpp::Named("value") = result.value,
      Rcpp::Named("bounds") = Rcpp::NumericVector::create(result.lower, result.upper),
      Rcpp::Named("m0") = result.m0, Rcpp::Named("m1") = result.m1, Rcpp::Named("t") = result.t);
}

// [[Rcpp::export(rng = false)]]
double spr_divergence(const Rcpp::NumericVector &m0, const Rcpp::NumericVector &m1,
                      const std::string &name, double parameter, Rcpp::Nullable<Rcpp::Function> f) {
  return confide::spr::divergence_between(divergence_of(name, parameter, f), doubles(m0),
                                          doubles(m1));
}

// An error says what is wrong with f.
// [[Rcpp::export(rng = false)]]
void spr_check_convex(const Rcpp::Function &f, const Rcpp::NumericVector &ratios) {
  confide::spr::require_convex(batch_function(f), doubles(ratios));
}
