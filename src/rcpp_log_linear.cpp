#include "log_linear.h"
#include "rcpp_likelihood.h"

namespace {

// Attributes are counted from 1 in R.
confide::LogLinearModel make_model(const Rcpp::NumericVector &sizes, const Rcpp::List &margins) {
  confide::LogLinearModel model{{sizes.begin(), sizes.end()}, {}};
  for (R_xlen_t j = 0; j < margins.size(); ++j) {
    std::vector<std::size_t> kept;
    for (const double attribute : Rcpp::as<Rcpp::NumericVector>(margins[j]))
      kept.push_back(static_cast<std::size_t>(attribute) - 1);
    model.margins.push_back(kept);
  }
  return model;
}

} // namespace

// possible: positions, from 1, of the cells that are no structural zeros.
// [[Rcpp::export(rng = false)]]
Rcpp::List log_linear_saturated(const Eigen::Map<Eigen::VectorXd> reported,
                                const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                                const Rcpp::NumericVector &possible, const Rcpp::List &control) {
  std::vector<Eigen::Index> cells;
  for (const double position : possible)
    cells.push_back(static_cast<Eigen::Index>(position) - 1);
  const auto channel =
      confide::restrict_channel(product_channel(lambda, noise), cells, reported.size());
  const auto fit =
      confide::maximum_likelihood(reported, static_cast<Eigen::Index>(cells.size()), channel,
                                  em_control(control), [] { Rcpp::checkUserInterrupt(); });
  Eigen::VectorXd shares = Eigen::VectorXd::Zero(reported.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    shares[cells[i]] = fit.shares[static_cast<Eigen::Index>(i)];
  return Rcpp::List::create(Rcpp::Named("shares") = shares,
                            Rcpp::Named("log_likelihood") = fit.log_likelihood,
                            Rcpp::Named("optimality_gap") = fit.optimality_gap,
                            Rcpp::Named("evaluations") = static_cast<double>(fit.evaluations),
                            Rcpp::Named("converged") = fit.converged);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List log_linear_fit(const Eigen::Map<Eigen::VectorXd> reported,
                          const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                          const Rcpp::NumericVector &sizes, const Rcpp::List &margins,
                          const Eigen::Map<Eigen::VectorXd> start, const Rcpp::List &control) {
  const auto fit =
      confide::fit_log_linear(reported, make_model(sizes, margins), product_channel(lambda, noise),
                              start, em_control(control), [] { Rcpp::checkUserInterrupt(); });
  return Rcpp::List::create(Rcpp::Named("shares") = fit.shares,
                            Rcpp::Named("log_likelihood") = fit.log_likelihood,
                            Rcpp::Named("residual") = fit.residual,
                            Rcpp::Named("evaluations") = static_cast<double>(fit.evaluations),
                            Rcpp::Named("converged") = fit.converged);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd log_linear_margins(const Eigen::Map<Eigen::VectorXd> start,
                                   const Eigen::Map<Eigen::VectorXd> target,
                                   const Rcpp::NumericVector &sizes, const Rcpp::List &margins) {
  return confide::fit_margins(start, target, make_model(sizes, margins), 1000, 1e-10);
}
