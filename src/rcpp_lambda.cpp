#include "rcpp_lambda.h"

std::vector<confide::Mode> make_modes(const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                                      ModeMaker make) {
  std::vector<confide::Mode> modes;
  for (R_xlen_t j = 0; j < lambda.size(); ++j)
    modes.push_back(make(lambda[j], Rcpp::as<Eigen::VectorXd>(noise[j])));
  return modes;
}

namespace {

Eigen::Map<Eigen::VectorXd> as_eigen(Rcpp::NumericVector &x) { return {x.begin(), x.size()}; }

ModeMaker mode_maker(const std::string &kind) {
  if (kind == "forward")
    return confide::forward_mode;
  return kind == "inverse" ? confide::inverse_mode : confide::squared_inverse_mode;
}

// events[[j]][[i]]: the codes, from 1, of attribute j that question i counts.
std::vector<confide::Question> make_questions(const Rcpp::List &events) {
  std::vector<confide::Question> questions;
  for (R_xlen_t j = 0; j < events.size(); ++j) {
    const Rcpp::List column = events[j];
    questions.resize(static_cast<std::size_t>(column.size()));
    for (R_xlen_t i = 0; i < column.size(); ++i) {
      auto codes = Rcpp::as<confide::Event>(column[i]);
      for (std::int32_t &code : codes)
        --code;
      questions[static_cast<std::size_t>(i)].push_back(std::move(codes));
    }
  }
  return questions;
}

} // namespace

// kind is "forward", "inverse" or "squared".
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector lambda_apply(const Rcpp::NumericVector &cells,
                                 const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                                 const std::string &kind) {
  Rcpp::NumericVector result = Rcpp::clone(cells);
  confide::apply_modes(as_eigen(result), make_modes(lambda, noise, mode_maker(kind)));
  return result;
}

// square is empty where every report has weight 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List lambda_moments(const Eigen::Map<Eigen::VectorXd> weight,
                          const Eigen::Map<Eigen::VectorXd> square, double n,
                          const Rcpp::NumericVector &lambda, const Rcpp::List &noise) {
  const bool weighted = square.size() > 0;
  Rcpp::NumericVector shares = Rcpp::no_init(weight.size());
  Rcpp::NumericVector std_error = Rcpp::no_init(weight.size());
  confide::product_moments({weight, weighted ? square : weight, weighted, n},
                           make_modes(lambda, noise, confide::inverse_mode),
                           make_modes(lambda, noise, confide::squared_inverse_mode),
                           {as_eigen(shares), as_eigen(std_error)});
  return Rcpp::List::create(Rcpp::Named("estimate") = shares, Rcpp::Named("std_error") = std_error);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd lambda_maximum_likelihood_one_way(const Eigen::Map<Eigen::VectorXd> reported,
                                                  double lambda) {
  return confide::maximum_likelihood_one_way(reported, lambda);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd simplex_projection(const Eigen::Map<Eigen::VectorXd> values) {
  return confide::project_to_simplex(values);
}

// [[Rcpp::export(rng = false)]]
Rcpp::List lambda_patterns(const Eigen::Map<Eigen::MatrixXi> rows,
                           const Eigen::Map<Eigen::VectorXd> weight,
                           const Eigen::Map<Eigen::VectorXd> square) {
  const auto patterns = confide::distinct_patterns({rows, weight, square});
  Rcpp::NumericVector first(patterns.first_row.begin(), patterns.first_row.end());
  return Rcpp::List::create(Rcpp::Named("row") = first + 1.0,
                            Rcpp::Named("weight") = patterns.weight,
                            Rcpp::Named("square") = patterns.square);
}

// Codes are 1-based in R and 0-based in the core.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector lambda_tabulate(const Eigen::Map<Eigen::MatrixXi> rows,
                                    const Eigen::Map<Eigen::VectorXd> weights,
                                    const Rcpp::NumericVector &dimensions) {
  const std::vector<std::size_t> sizes(dimensions.begin(), dimensions.end());
  const Eigen::MatrixXi codes = rows.array() - 1;
  // in R's own memory: the table may be as large as fits
  R_xlen_t cells = 1;
  for (const std::size_t size : sizes)
    cells *= static_cast<R_xlen_t>(size);
  Rcpp::NumericVector table(cells);
  confide::tabulate(codes, weights, sizes, as_eigen(table));
  return table;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List lambda_cell_sums(const Eigen::Map<Eigen::MatrixXi> rows,
                            const Eigen::Map<Eigen::VectorXd> weight,
                            const Eigen::Map<Eigen::VectorXd> square, const Rcpp::List &events,
                            const Rcpp::NumericVector &lambda, const Rcpp::List &noise) {
  const Eigen::MatrixXi row_codes = rows.array() - 1;
  const auto sums = confide::cell_sums({row_codes, weight, square}, make_questions(events),
                                       make_modes(lambda, noise, confide::inverse_mode),
                                       [] { Rcpp::checkUserInterrupt(); });
  return Rcpp::List::create(Rcpp::Named("value") = sums.value,
                            Rcpp::Named("square_weighted") = sums.square_weighted,
                            Rcpp::Named("square") = sums.square);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd lambda_cell_values(const Eigen::Map<Eigen::MatrixXi> rows, const Rcpp::List &events,
                                   const Rcpp::NumericVector &lambda, const Rcpp::List &noise) {
  const Eigen::MatrixXi row_codes = rows.array() - 1;
  return confide::cell_values(row_codes, make_questions(events),
                              make_modes(lambda, noise, confide::inverse_mode));
}
