#include "composition.h"
#include <RcppEigen.h>
#include <algorithm>

namespace {

void check_interrupt() { Rcpp::checkUserInterrupt(); }

// Columns epsilon and levels; kept, rarest and second are NA for uniform noise.
struct Attributes {
  explicit Attributes(const Rcpp::List &parts)
      : epsilon(parts["epsilon"]), levels(parts["levels"]), kept(parts["kept"]),
        rarest(parts["rarest"]), second(parts["second"]) {}
  Rcpp::NumericVector epsilon, levels, kept, rarest, second;

  bool is_uniform(R_xlen_t j) const { return Rcpp::NumericVector::is_na(kept[j]); }
  confide::Response response(R_xlen_t j) const { return {epsilon[j], levels[j]}; }
  confide::KnownNoise noise(R_xlen_t j) const {
    return {epsilon[j], kept[j], rarest[j], second[j]};
  }
};

std::vector<confide::LossDistribution> compose(const Attributes &attributes) {
  std::vector<confide::Response> uniform;
  std::vector<confide::KnownNoise> noisy;
  for (R_xlen_t j = 0; j < attributes.epsilon.size(); ++j) {
    if (attributes.is_uniform(j))
      uniform.push_back(attributes.response(j));
    else
      noisy.push_back(attributes.noise(j));
  }
  return confide::compose_worst(uniform, noisy, {}, check_interrupt);
}

} // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector composition_delta(const Rcpp::List &attributes, const Rcpp::NumericVector &at) {
  const auto products = compose(Attributes(attributes));
  Rcpp::NumericVector delta(at.size());
  for (R_xlen_t i = 0; i < at.size(); ++i)
    for (const auto &losses : products)
      delta[i] = std::max(delta[i], confide::delta_at(losses, at[i]));
  return delta;
}

// [[Rcpp::export(rng = false)]]
double composition_epsilon(const Rcpp::List &attributes, double delta) {
  double worst = 0;
  for (const auto &losses : compose(Attributes(attributes)))
    worst = std::max(worst, confide::epsilon_at(losses, delta));
  return worst;
}

// A row for each order, a column for each attribute.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix response_renyi(const Rcpp::List &attributes, const Rcpp::NumericVector &alpha) {
  const Attributes parts(attributes);
  Rcpp::NumericMatrix divergence(static_cast<int>(alpha.size()),
                                 static_cast<int>(parts.epsilon.size()));
  for (int j = 0; j < divergence.ncol(); ++j)
    for (int i = 0; i < divergence.nrow(); ++i)
      divergence(i, j) = parts.is_uniform(j)
                             ? confide::renyi_divergence(parts.response(j), alpha[i])
                             : confide::renyi_divergence(parts.noise(j), alpha[i]);
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
