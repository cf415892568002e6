#include "exponential_mechanism.h"
#include "rcpp_random.h"
#include "rcpp_units.h"

namespace {

// The public arguments of a choice, checked in R.
confide::SelectionLaw make_law(const Rcpp::List &query) {
  return confide::selection_law(Rcpp::as<double>(query["epsilon"]),
                                static_cast<std::uint64_t>(Rcpp::as<double>(query["sensitivity"])));
}

} // namespace

// The epsilon that the integers of a choice realise; throws confide::PlanRefused.
// [[Rcpp::export(rng = false)]]
double selection_epsilon(const Rcpp::List &query) { return make_law(query).realised; }

// Which of the private scores is chosen, from 1: a release. Throws confide::RandomnessError.
// [[Rcpp::export(rng = false)]]
double select_unit(const Rcpp::RawVector &scores, const Rcpp::List &query, const std::string &rng) {
  const auto random = make_source(rng);
  return 1 + static_cast<double>(confide::select(from_raw(scores), make_law(query), *random));
}

// Whether no score differs by more than the query says of neighbours.
// [[Rcpp::export(rng = false)]]
bool scores_within_sensitivity(const Rcpp::RawVector &scores, const Rcpp::RawVector &other,
                               const Rcpp::List &query) {
  const auto here = from_raw(scores), there = from_raw(other);
  const auto most = static_cast<std::int64_t>(Rcpp::as<double>(query["sensitivity"]));
  for (std::size_t j = 0; j < here.size(); ++j)
    if (here[j] - there[j] > most || there[j] - here[j] > most)
      return false;
  return here.size() == there.size();
}
