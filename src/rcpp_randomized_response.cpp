#include "certified_exp.h"
#include "randomized_response.h"
#include "rcpp_random.h"

// Codes are 1-based and checked in R.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector rr_privatize(const Rcpp::IntegerVector &codes, double epsilon, double k,
                                 const std::string &rng) {
  const auto weights = confide::response_weights(epsilon, static_cast<std::uint32_t>(k));
  const auto random = make_source(rng);
  Rcpp::IntegerVector reports = Rcpp::no_init(codes.size());
  const int *truth = codes.begin();
  int *report = reports.begin();
  for_each_interruptible(codes.size(), [&](R_xlen_t i) {
    report[i] = 1 + static_cast<int>(confide::respond(static_cast<std::uint32_t>(truth[i] - 1),
                                                      weights, *random));
  });
  return reports;
}

// What the integers realise: the probability of the truth and of each other level, lambda =
// truthful - other, the exact worst log-ratio, and whether they keep epsilon (1 or 0).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector rr_realised(double epsilon, double k) {
  const auto weights = confide::response_weights(epsilon, static_cast<std::uint32_t>(k));
  return Rcpp::NumericVector::create(
      Rcpp::Named("truthful") = confide::truth_probability(weights),
      Rcpp::Named("other") =
          static_cast<double>(static_cast<long double>(weights.other) / weights.total),
      Rcpp::Named("lambda") = confide::realised_lambda(weights),
      Rcpp::Named("certified_epsilon") =
          confide::certified_epsilon(weights.truthful, weights.other),
      Rcpp::Named("worst_log_ratio") = confide::worst_log_ratio(weights),
      Rcpp::Named("keeps") =
          confide::keeps_ratio(weights.truthful, weights.other, epsilon) ? 1.0 : 0.0);
}

// The integer weights themselves as decimal text, for exact audits outside C++ (a double holds 53
// bits only).
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector rr_weights(double epsilon, double k) {
  const auto weights = confide::response_weights(epsilon, static_cast<std::uint32_t>(k));
  return Rcpp::CharacterVector::create(Rcpp::Named("truthful") = std::to_string(weights.truthful),
                                       Rcpp::Named("other") = std::to_string(weights.other),
                                       Rcpp::Named("total") = std::to_string(weights.total));
}
