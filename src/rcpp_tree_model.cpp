#include "rcpp_random.h"
#include "rcpp_units.h"
#include "tree_model.h"
#include "tree_selection.h"
#include <RcppEigen.h>

namespace {

// shape: sizes, labels and edges, a matrix with a row for each, features counted from 1.
confide::TreeShape make_shape(const Rcpp::List &shape) {
  const auto sizes = Rcpp::as<std::vector<Eigen::Index>>(shape["sizes"]);
  const auto edges = Rcpp::as<Rcpp::NumericMatrix>(shape["edges"]);
  std::vector<confide::TreeEdge> pairs;
  for (int e = 0; e < edges.nrow(); ++e)
    pairs.push_back(
        {static_cast<std::size_t>(edges(e, 0)) - 1, static_cast<std::size_t>(edges(e, 1)) - 1});
  return confide::tree_shape(sizes, Rcpp::as<Eigen::Index>(shape["labels"]), pairs);
}

// Values and precisions of the arena's tables, and the number of rows.
confide::TreeMeasurements make_measurements(const Rcpp::List &measured) {
  return {Rcpp::as<Eigen::VectorXd>(measured["values"]),
          Rcpp::as<Eigen::VectorXd>(measured["precision"]), Rcpp::as<double>(measured["total"])};
}

Rcpp::NumericMatrix edge_matrix(const std::vector<confide::TreeEdge> &edges) {
  Rcpp::NumericMatrix result(static_cast<int>(edges.size()), 2);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    result(static_cast<int>(e), 0) = static_cast<double>(edges[e].parent) + 1;
    result(static_cast<int>(e), 1) = static_cast<double>(edges[e].child) + 1;
  }
  return result;
}

} // namespace

// The edges directed away from the roots, and where the tables lie. Throws std::invalid_argument
// for a cycle.
// [[Rcpp::export(rng = false)]]
Rcpp::List tree_layout(const Rcpp::List &shape) {
  const confide::TreeShape tree = make_shape(shape);
  Rcpp::NumericVector offset, size;
  for (const auto *blocks : {&tree.features, &tree.links})
    for (const confide::TableBlock &block : *blocks) {
      offset.push_back(static_cast<double>(block.offset));
      size.push_back(static_cast<double>(block.size));
    }
  return Rcpp::List::create(Rcpp::Named("edges") = edge_matrix(tree.edges),
                            Rcpp::Named("offset") = offset, Rcpp::Named("size") = size);
}

// The counts of all tables: private. Codes from 0.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector tree_counts(const Rcpp::List &shape, const Eigen::Map<Eigen::MatrixXi> codes,
                            const Eigen::Map<Eigen::VectorXi> label) {
  return to_raw(confide::table_counts(make_shape(shape), {codes, label}));
}

// How dependent the pairs of features are, in the order of feature_pairs(): private.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector tree_scores(const Rcpp::List &shape, const Eigen::Map<Eigen::MatrixXi> codes,
                            const Eigen::Map<Eigen::VectorXi> label,
                            const Eigen::Map<Eigen::VectorXd> marginals, double total) {
  return to_raw(confide::dependence_scores(make_shape(shape), {codes, label}, marginals, total));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix feature_pairs(double features) {
  return edge_matrix(confide::feature_pairs(static_cast<std::size_t>(features)));
}

// [[Rcpp::export(rng = false)]]
double score_unit() { return static_cast<double>(1 << confide::score_bits); }

// [[Rcpp::export(rng = false)]]
double tree_total(const Rcpp::List &shape, const Rcpp::List &measured) {
  return confide::estimate_total(make_shape(shape), make_measurements(measured));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List tree_fit(const Rcpp::List &shape, const Rcpp::List &measured,
                    const Eigen::Map<Eigen::VectorXd> start, double max_iterations,
                    double tolerance) {
  const auto fit = confide::fit_tree(make_shape(shape), make_measurements(measured), start,
                                     {static_cast<std::size_t>(max_iterations), tolerance},
                                     [] { Rcpp::checkUserInterrupt(); });
  return Rcpp::List::create(Rcpp::Named("potentials") = fit.potentials,
                            Rcpp::Named("loss") = fit.loss,
                            Rcpp::Named("iterations") = static_cast<double>(fit.iterations),
                            Rcpp::Named("converged") = fit.converged);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd tree_shares(const Rcpp::List &shape, const Eigen::Map<Eigen::VectorXd> potentials) {
  return confide::tree_marginals(make_shape(shape), potentials);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd tree_label(const Rcpp::List &shape, const Eigen::Map<Eigen::VectorXd> potentials,
                           const Eigen::Map<Eigen::MatrixXi> codes) {
  return confide::label_probabilities(make_shape(shape), potentials, codes);
}

// Codes from 0, the label's in the last column. R's generator: the model is released already.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXi tree_rows(const Rcpp::List &shape, const Eigen::Map<Eigen::VectorXd> potentials,
                          double n, bool stratified) {
  const auto random = make_source("r");
  const auto sampling = stratified ? confide::Sampling::stratified : confide::Sampling::independent;
  return confide::sample_rows(make_shape(shape), potentials, static_cast<Eigen::Index>(n), sampling,
                              *random);
}
