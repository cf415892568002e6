#include "brownian.h"
#include "laplace_path.h"
#include <Rcpp.h>

// The rho that buys a measurement of this precision. Throws confide::PlanRefused.
// [[Rcpp::export(rng = false)]]
double refinement_budget(double sensitivity, double dimension, bool whole, double precision) {
  return confide::refinement_rho({sensitivity, static_cast<std::size_t>(dimension), whole},
                                 precision);
}

// Scales and realised epsilons of a Laplace path. Throws confide::PlanRefused.
// [[Rcpp::export(rng = false)]]
Rcpp::List laplace_path_plan(double sensitivity, const Rcpp::NumericVector &epsilons) {
  const auto l1 = static_cast<std::uint64_t>(sensitivity);
  const auto ladder = confide::laplace_ladder(l1, Rcpp::as<std::vector<double>>(epsilons));
  Rcpp::NumericVector scale(epsilons.size()), realised(epsilons.size());
  for (R_xlen_t k = 0; k < epsilons.size(); ++k) {
    const confide::Rational b{ladder.numerators[static_cast<std::size_t>(k)], ladder.denominator};
    scale[k] = static_cast<double>(b.numerator) / static_cast<double>(b.denominator);
    realised[k] = confide::realised_epsilon(l1, b);
  }
  return Rcpp::List::create(Rcpp::Named("scale") = scale, Rcpp::Named("realised") = realised);
}
