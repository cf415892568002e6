#include "count_search.h"
#include "rcpp_grid.h"
#include "rcpp_random.h"
#include "rcpp_units.h"
#include "records.h"
#include "scatter.h"
#include <algorithm>

namespace {

void interrupt() { Rcpp::checkUserInterrupt(); }

std::vector<double> numbers(const Rcpp::NumericVector &x) {
  return std::vector<double>(x.begin(), x.end());
}

// The columns of a double matrix, or of a list of double vectors of one length.
struct Columns {
  std::vector<const double *> begin;
  Eigen::Index n = 0;
};

Columns columns_of(SEXP x) {
  Columns columns;
  if (TYPEOF(x) == VECSXP) {
    for (R_xlen_t k = 0; k < Rf_xlength(x); ++k) {
      columns.begin.push_back(REAL(VECTOR_ELT(x, k)));
      columns.n = Rf_xlength(VECTOR_ELT(x, k));
    }
    return columns;
  }
  const Rcpp::NumericMatrix matrix(x);
  columns.n = matrix.nrow();
  for (R_xlen_t k = 0; k < matrix.ncol(); ++k)
    columns.begin.push_back(REAL(x) + k * columns.n);
  return columns;
}

bool all_finite(const Columns &x) {
  return std::all_of(x.begin.begin(), x.begin.end(), [&](const double *column) {
    interrupt();
    return std::all_of(column, column + x.n, [](double entry) { return std::isfinite(entry); });
  });
}

// Finite, or missing throughout.
bool is_person_or_absent(const Columns &x, Eigen::Index row) {
  const auto missing = std::count_if(x.begin.begin(), x.begin.end(), [row](const double *column) {
    return std::isnan(column[row]);
  });
  if (missing != 0)
    return static_cast<std::size_t>(missing) == x.begin.size();
  return std::all_of(x.begin.begin(), x.begin.end(),
                     [row](const double *column) { return std::isfinite(column[row]); });
}

confide::CountSearchPlan radius_plan(const Rcpp::List &query) {
  const bool pure = Rcpp::as<std::string>(query["measure"]) == "epsilon";
  return confide::count_search_plan(Rcpp::as<double>(query["budget"]),
                                    pure ? confide::Measure::epsilon : confide::Measure::rho,
                                    Rcpp::as<double>(query["target"]));
}

confide::ScatterPlan moment_plan(const Rcpp::List &query) {
  return confide::scatter_plan(Rcpp::as<double>(query["budget"]),
                               static_cast<std::size_t>(Rcpp::as<double>(query["n_max"])),
                               neighbours_of(Rcpp::as<std::string>(query["neighbours"])));
}

} // namespace

// The noise of a radius step and of a matrix; throw confide::PlanRefused.
// [[Rcpp::export(rng = false)]]
Rcpp::List count_search_noise(const Rcpp::List &query) {
  const auto plan = radius_plan(query);
  return Rcpp::List::create(Rcpp::Named("realised") = plan.realised,
                            Rcpp::Named("rate") = plan.rate,
                            Rcpp::Named("threshold") = static_cast<double>(plan.threshold));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List scatter_noise(const Rcpp::List &query) {
  const auto plan = moment_plan(query);
  const auto bound = static_cast<double>(plan.steps) * static_cast<double>(plan.steps);
  return Rcpp::List::create(
      Rcpp::Named("realised") = plan.realised, Rcpp::Named("steps") = plan.steps * 1.0,
      Rcpp::Named("half_variance") = static_cast<double>(plan.half_variance),
      Rcpp::Named("sensitivity_squared") = static_cast<double>(plan.sensitivity_squared),
      Rcpp::Named("noise_sd") = std::sqrt(2 * static_cast<double>(plan.half_variance)) / bound);
}

// The way out of the gate: the first of the counts, from 1, and one more for none.
// [[Rcpp::export(rng = false)]]
double count_search_answer(const Rcpp::RawVector &units, const Rcpp::List &query,
                           const std::string &rng) {
  const auto random = make_source(rng);
  return 1 +
         static_cast<double>(confide::search_counts(from_raw(units), radius_plan(query), *random));
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd scatter_answer(const Rcpp::RawVector &units, const Rcpp::List &query,
                               const std::string &rng) {
  const auto random = make_source(rng);
  return confide::noisy_scatter(from_raw(units), Rcpp::as<int>(query["dimension"]),
                                moment_plan(query), *random);
}

// [[Rcpp::export(rng = false)]]
bool counts_one_sided(const Rcpp::RawVector &units, const Rcpp::RawVector &other) {
  return confide::one_sided(from_raw(units), from_raw(other));
}

// [[Rcpp::export(rng = false)]]
bool scatter_within_sensitivity(const Rcpp::RawVector &units, const Rcpp::RawVector &other,
                                const Rcpp::List &query) {
  return confide::within_scatter_sensitivity(from_raw(units), from_raw(other), moment_plan(query));
}

// Whether all rows are finite; `absent` allows rows that are missing throughout.
// [[Rcpp::export(rng = false)]]
bool rows_are_legal(SEXP x, bool absent) {
  const Columns columns = columns_of(x);
  if (all_finite(columns))
    return true;
  if (!absent)
    return false;
  for (Eigen::Index row = 0; row < columns.n; ++row)
    if (!is_person_or_absent(columns, row))
      return false;
  return true;
}

// Rows first + 1, ..., first + rows of the data to columns y = W (x - centre): `root` is a lower
// triangle, or one column, the diagonal of one.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix whiten_rows(SEXP x, double first, double rows,
                                const Eigen::Map<Eigen::VectorXd> centre,
                                const Eigen::Map<Eigen::MatrixXd> root) {
  const Columns columns = columns_of(x);
  Rcpp::NumericMatrix records(
      Rcpp::no_init(static_cast<int>(columns.begin.size()), static_cast<int>(rows)));
  confide::whiten(columns.begin, static_cast<Eigen::Index>(first), centre, root,
                  Eigen::Map<Eigen::MatrixXd>(records.begin(), records.nrow(), records.ncol()),
                  interrupt);
  return records;
}

// The same into a matrix of the caller's, which nobody else may hold: a new one for each slice
// would be new memory each time.
// [[Rcpp::export(rng = false)]]
void whiten_into(Rcpp::NumericMatrix records, SEXP x, double first,
                 const Eigen::Map<Eigen::VectorXd> centre, const Eigen::Map<Eigen::MatrixXd> root) {
  confide::whiten(columns_of(x).begin, static_cast<Eigen::Index>(first), centre, root,
                  Eigen::Map<Eigen::MatrixXd>(records.begin(), records.nrow(), records.ncol()),
                  interrupt);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd rotate_records(const Eigen::Map<Eigen::MatrixXd> records, bool inverse) {
  return confide::rotate(records, inverse);
}

// The rest is private: integers of the records, for release_units().
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd distance_counts(const Eigen::Map<Eigen::MatrixXd> records,
                                const Eigen::Map<Eigen::VectorXd> centre,
                                const Rcpp::NumericVector &radii) {
  return confide::count_distances(records, centre, numbers(radii), interrupt);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd projection_counts(const Eigen::Map<Eigen::MatrixXd> records,
                                  const Eigen::Map<Eigen::VectorXd> centre,
                                  const Eigen::Map<Eigen::MatrixXd> directions,
                                  const Rcpp::NumericVector &cuts) {
  return confide::count_projections(records, centre, directions, numbers(cuts), interrupt);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd difference_counts(SEXP x, const Rcpp::NumericVector &cuts) {
  const Columns columns = columns_of(x);
  return confide::count_differences(columns.begin, columns.n, numbers(cuts), interrupt);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd pair_distance_counts(const Eigen::Map<Eigen::MatrixXd> records,
                                     const Rcpp::NumericVector &radii) {
  return confide::count_pair_distances(records, numbers(radii), interrupt);
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector clipped_units(const Eigen::Map<Eigen::MatrixXd> records,
                              const Eigen::Map<Eigen::VectorXd> centre, const Rcpp::List &query) {
  return to_raw(confide::clipped_sum(records, centre, make_plan(query).grid, interrupt));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector linearised_units(const Eigen::Map<Eigen::MatrixXd> records,
                                 const Eigen::Map<Eigen::VectorXd> centre, double radius,
                                 const Rcpp::List &query) {
  return to_raw(confide::linearised_sum(records, centre, radius, make_plan(query).grid, interrupt));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector scatter_units(const Eigen::Map<Eigen::MatrixXd> records,
                              const Eigen::Map<Eigen::VectorXd> centre, double radius,
                              const Rcpp::List &query) {
  return to_raw(confide::scatter_sum(records, centre, radius, moment_plan(query), interrupt));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sign_scatter_units(const Eigen::Map<Eigen::MatrixXd> records,
                                   const Eigen::Map<Eigen::MatrixXd> transform,
                                   const Rcpp::List &query) {
  return to_raw(confide::sign_scatter_sum(records, transform, moment_plan(query), interrupt));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sum_of_units(const Rcpp::RawVector &units, const Rcpp::RawVector &other) {
  std::vector<std::int64_t> sums = from_raw(units);
  const std::vector<std::int64_t> more = from_raw(other);
  for (std::size_t k = 0; k < sums.size(); ++k)
    sums[k] = std::clamp(sums[k] + more.at(k), -confide::sum_limit, confide::sum_limit);
  return to_raw(sums);
}
