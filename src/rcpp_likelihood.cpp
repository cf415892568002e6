#include "rcpp_likelihood.h"

confide::EmControl em_control(const Rcpp::List &control) {
  return {static_cast<std::size_t>(Rcpp::as<double>(control["max_evaluations"])),
          Rcpp::as<double>(control["tolerance"])};
}

confide::ChannelMaps product_channel(const Rcpp::NumericVector &lambda, const Rcpp::List &noise) {
  const auto modes = make_modes(lambda, noise, confide::forward_mode);
  const auto apply_with = [modes](auto apply) {
    return [modes, apply](Eigen::VectorXd cells) {
      apply(cells, modes);
      return cells;
    };
  };
  return {apply_with(confide::apply_modes), apply_with(confide::apply_modes_transposed)};
}

namespace {

Rcpp::List maximize(const Eigen::Map<Eigen::VectorXd> &reported, Eigen::Index size,
                    const confide::ChannelMaps &channel, const Rcpp::List &control) {
  const auto result = confide::maximum_likelihood(reported, size, channel, em_control(control),
                                                  [] { Rcpp::checkUserInterrupt(); });
  return Rcpp::List::create(Rcpp::Named("shares") = result.shares,
                            Rcpp::Named("log_likelihood") = result.log_likelihood,
                            Rcpp::Named("optimality_gap") = result.optimality_gap,
                            Rcpp::Named("evaluations") = static_cast<double>(result.evaluations),
                            Rcpp::Named("converged") = result.converged);
}

} // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List lambda_maximum_likelihood(const Eigen::Map<Eigen::VectorXd> reported,
                                     const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                                     const Rcpp::List &control) {
  return maximize(reported, reported.size(), product_channel(lambda, noise), control);
}

// channel: rows = true values, columns = reports.
// [[Rcpp::export(rng = false)]]
Rcpp::List channel_maximum_likelihood(const Eigen::Map<Eigen::VectorXd> reported,
                                      const Eigen::Map<Eigen::MatrixXd> channel,
                                      const Rcpp::List &control) {
  const confide::ChannelMaps maps{
      [&](const Eigen::VectorXd &shares) -> Eigen::VectorXd {
        return channel.transpose() * shares;
      },
      [&](const Eigen::VectorXd &ratio) -> Eigen::VectorXd { return channel * ratio; }};
  return maximize(reported, channel.rows(), maps, control);
}
