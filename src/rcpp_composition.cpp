#include "composition.h"
#include <RcppEigen.h>

namespace {

void check_interrupt() { Rcpp::checkUserInterrupt(); }

confide::LossDistribution compose(const Rcpp::NumericVector &epsilon,
                                  const Rcpp::NumericVector &levels) {
  std::vector<confide::Response> attributes;
  for (R_xlen_t j = 0; j < epsilon.size(); ++j)
    attributes.push_back({epsilon[j], levels[j]});
  return confide::compose(std::move(attributes), {}, check_interrupt);
}

} // namespace

// One attribute for each element of epsilon and levels.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector composition_delta(const Rcpp::NumericVector &epsilon,
                                      const Rcpp::NumericVector &levels,
                                      const Rcpp::NumericVector &at) {
  const auto losses = compose(epsilon, levels);
  Rcpp::NumericVector delta(at.size());
  for (R_xlen_t i = 0; i < at.size(); ++i)
    delta[i] = confide::delta_at(losses, at[i]);
  return delta;
}

// [[Rcpp::export(rng = false)]]
double composition_epsilon(const Rcpp::NumericVector &epsilon, const Rcpp::NumericVector &levels,
                           double delta) {
  return confide::epsilon_at(compose(epsilon, levels), delta);
}

// A row for each order, a column for each attribute.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix response_renyi(const Rcpp::NumericVector &epsilon,
                                   const Rcpp::NumericVector &levels,
                                   const Rcpp::NumericVector &alpha) {
  Rcpp::NumericMatrix divergence(static_cast<int>(alpha.size()), static_cast<int>(epsilon.size()));
  for (int j = 0; j < divergence.ncol(); ++j)
    for (int i = 0; i < divergence.nrow(); ++i)
      divergence(i, j) = confide::renyi_divergence({epsilon[j], levels[j]}, alpha[i]);
  return divergence;
}

// largest is the epsilon of the channel.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector channel_delta(const Eigen::Map<Eigen::MatrixXd> probabilities, double largest,
                                  const Rcpp::NumericVector &at) {
  Rcpp::NumericVector delta(at.size());
  for (R_xlen_t i = 0; i < at.size(); ++i)
    delta[i] = confide::delta_at({probabilities, largest}, at[i], check_interrupt);
  return delta;
}

// [[Rcpp::export(rng = false)]]
double channel_epsilon(const Eigen::Map<Eigen::MatrixXd> probabilities, double largest,
                       double delta) {
  return confide::epsilon_at({probabilities, largest}, delta, check_interrupt);
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector channel_renyi(const Eigen::Map<Eigen::MatrixXd> probabilities, double largest,
                                  const Rcpp::NumericVector &alpha) {
  Rcpp::NumericVector divergence(alpha.size());
  for (R_xlen_t i = 0; i < alpha.size(); ++i)
    divergence[i] = confide::renyi_divergence({probabilities, largest}, alpha[i], check_interrupt);
  return divergence;
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector channel_kl_and_chi2(const Eigen::Map<Eigen::MatrixXd> probabilities,
                                        double largest) {
  const auto divergences = confide::channel_divergences({probabilities, largest}, check_interrupt);
  return Rcpp::NumericVector::create(Rcpp::Named("kl") = divergences.kullback_leibler,
                                     Rcpp::Named("chi2") = divergences.chi_squared);
}
