#include "classifier.h"
#include "image_features.h"
#include "rcpp_grid.h"
#include "rcpp_random.h"
#include <RcppEigen.h>

namespace {

void interrupt() { Rcpp::checkUserInterrupt(); }

// list(features, labels): features x records, labels from 1.
confide::LabelledRecords make_records(const Rcpp::List &records) {
  const auto features = Rcpp::as<Eigen::Map<Eigen::MatrixXd>>(records["features"]);
  confide::LabelledRecords made{{features.data(), features.rows(), features.cols()},
                                Rcpp::as<std::vector<std::int32_t>>(records["labels"])};
  for (std::int32_t &label : made.labels)
    --label;
  return made;
}

Eigen::MatrixXd query_weights(const Rcpp::List &query) {
  return Rcpp::as<Eigen::MatrixXd>(query["weights"]);
}

} // namespace

// Rows of the data clipped to the bound, as columns.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd classifier_features(const Eigen::Map<Eigen::MatrixXd> rows, double bound) {
  return confide::clipped_features(rows, confide::feature_grid(bound));
}

// The sums of each class in steps of the grid: private. `moved`: how far one record moves them.
// [[Rcpp::export(rng = false)]]
Rcpp::List classifier_sums(const Rcpp::List &records, double classes, double bound) {
  const confide::Grid grid = confide::feature_grid(bound);
  return Rcpp::List::create(
      Rcpp::Named("sums") =
          confide::class_sums(make_records(records), static_cast<std::size_t>(classes), grid),
      Rcpp::Named("moved") = std::sqrt(static_cast<double>(grid.bound_squared)),
      Rcpp::Named("step") = std::ldexp(1.0, grid.exponent));
}

// The minimum, for output perturbation: private.
// [[Rcpp::export(rng = false)]]
Rcpp::List classifier_head(const Rcpp::List &records, double classes, double bound, double penalty,
                           double tolerance) {
  const auto head =
      confide::fit_convex_head(make_records(records), static_cast<std::size_t>(classes), bound,
                               penalty, tolerance, interrupt);
  return Rcpp::List::create(Rcpp::Named("weights") = head.weights,
                            Rcpp::Named("gradient_norm") = head.gradient_norm,
                            Rcpp::Named("iterations") = static_cast<double>(head.iterations),
                            Rcpp::Named("reached") = head.reached);
}

// The way out of the gate: who is in the sample and the noise are drawn here.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector gradients_answer(const Rcpp::List &records, const Rcpp::List &query,
                                     const std::string &rng) {
  const confide::SumPlan plan = make_plan(query);
  const auto random = make_source(rng);
  const auto units = confide::sampled_gradient(
      make_records(records), query_weights(query), plan.grid,
      confide::rate_threshold(Rcpp::as<double>(query["rate"])), *random, interrupt);
  return Rcpp::wrap(confide::noisy_integers(units, plan, *random));
}

// [[Rcpp::export(rng = false)]]
bool gradients_within_sensitivity(const Rcpp::List &records, const Rcpp::List &other,
                                  const Rcpp::List &query) {
  const confide::Grid grid = make_plan(query).grid;
  const Eigen::MatrixXd weights = query_weights(query);
  return confide::one_gradient_apart(
      confide::record_gradients(make_records(records), weights, grid),
      confide::record_gradients(make_records(other), weights, grid), grid);
}

// bank: height, width, filters, size, pool, seed. A row for each image.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix filtered_images(const Rcpp::NumericMatrix &images, const Rcpp::List &bank) {
  const auto number = [&](const char *name) {
    return static_cast<std::size_t>(Rcpp::as<double>(bank[name]));
  };
  const auto filters = confide::filter_bank(number("height"), number("width"), number("filters"),
                                            number("size"), number("pool"), number("seed"));
  const std::size_t size = confide::feature_count(filters);
  std::vector<double> pixels(static_cast<std::size_t>(images.ncol())), features(size);
  Rcpp::NumericMatrix result(images.nrow(), static_cast<int>(size));
  for (int i = 0; i < images.nrow(); ++i) {
    if (i % 256 == 0)
      interrupt();
    for (int j = 0; j < images.ncol(); ++j)
      pixels[static_cast<std::size_t>(j)] = images(i, j);
    confide::image_features(pixels.data(), filters, features.data());
    for (std::size_t j = 0; j < size; ++j)
      result(i, static_cast<int>(j)) = features[j];
  }
  return result;
}
