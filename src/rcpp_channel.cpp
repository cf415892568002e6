#include "channel.h"
#include "rcpp_random.h"
#include <RcppEigen.h>

namespace {

// epsilon is NA where the channel's own is wanted.
confide::CertifiedChannel certify(const Eigen::Map<Eigen::MatrixXd> &probabilities,
                                  double epsilon) {
  return Rcpp::NumericVector::is_na(epsilon) ? confide::certify_channel(probabilities)
                                             : confide::certify_channel(probabilities, epsilon);
}

} // namespace

// Of the weights that are drawn from: whether they keep the epsilon asked (or their own), and the
// epsilon and log-ratio that they have. certified is FALSE, and nothing else returned, where the
// channel is not private at the epsilon asked.
// [[Rcpp::export(rng = false)]]
Rcpp::List channel_certify(const Eigen::Map<Eigen::MatrixXd> probabilities, double epsilon) {
  try {
    const auto certified = certify(probabilities, epsilon);
    const confide::Channel &channel = certified.channel;
    Rcpp::NumericMatrix realised(static_cast<int>(channel.rows), static_cast<int>(channel.columns));
    for (std::size_t x = 0; x < channel.rows; ++x)
      for (std::size_t y = 0; y < channel.columns; ++y)
        realised(x, y) = static_cast<double>(
            static_cast<long double>(channel.weights[x * channel.columns + y]) / channel.totals[x]);
    const confide::ChannelLoss loss = confide::channel_loss(channel);
    const double claim = Rcpp::NumericVector::is_na(epsilon) ? loss.epsilon : epsilon;
    return Rcpp::List::create(Rcpp::Named("certified") = confide::is_certified(channel, claim),
                              Rcpp::Named("realised") = realised,
                              Rcpp::Named("epsilon") = loss.epsilon,
                              Rcpp::Named("worst_log_ratio") = loss.worst_log_ratio);
  } catch (const confide::NotPrivate &) {
    return Rcpp::List::create(Rcpp::Named("certified") = false);
  }
}

// Codes are 1-based and checked in R.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector channel_privatize(const Rcpp::IntegerVector &codes,
                                      const Eigen::Map<Eigen::MatrixXd> probabilities,
                                      double epsilon, const std::string &rng) {
  const auto sampler = confide::channel_sampler(certify(probabilities, epsilon).channel);
  const auto random = make_source(rng);
  Rcpp::IntegerVector reports = Rcpp::no_init(codes.size());
  const int *truth = codes.begin();
  int *report = reports.begin();
  for_each_interruptible(codes.size(), [&](R_xlen_t i) {
    report[i] = 1 + static_cast<int>(confide::report(static_cast<std::uint32_t>(truth[i] - 1),
                                                     sampler, *random));
  });
  return reports;
}
