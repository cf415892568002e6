#pragma once
#include "random.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// Graphical models of categorical columns for synthetic data (McKenna, Sheldon and Miklau 2019,
// arXiv 1901.09136). The features form a forest; with a label every clique of the forest holds the
// label too, p(y) prod p(root | y) prod p(child | parent, y): ordinary belief propagation on a
// forest with one more axis. Without a label `labels` is 1 and the model is that of MST (McKenna,
// Miklau and Sheldon 2021, arXiv 2108.04978).

struct TreeEdge {
  std::size_t parent, child;
};

// One table of the arena, a column-major array: labels x size, or labels x child x parent.
struct TableBlock {
  Eigen::Index offset, size;
};

// All tables of a model lie in one vector, the arena: first one for each feature, then one for each
// edge. Potentials, counts, measurements and marginals all have this form.
struct TreeShape {
  std::vector<Eigen::Index> sizes; // levels of each feature
  Eigen::Index labels;             // levels of the label, 1 without
  std::vector<TreeEdge> edges;     // each after the edge that leads to its parent
  std::vector<std::size_t> roots;  // one for each component
  std::vector<TableBlock> features, links;
  Eigen::Index arena; // length of the arena
};

// Orients undirected edges away from the first feature of each component. Throws
// std::invalid_argument where they hold a cycle or an unknown feature. Requires sizes and labels of
// at least 1 and at least one feature.
TreeShape tree_shape(const std::vector<Eigen::Index> &sizes, Eigen::Index labels,
                     const std::vector<TreeEdge> &edges);

// Rows of codes from 0, one column for each feature, and the label's codes (zeros without label).
using TreeCodes = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic>;
using LabelCodes = Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>;
struct TreeRows {
  Eigen::Ref<const TreeCodes> features;
  Eigen::Ref<const LabelCodes> label;
};

// How many rows are in each cell of the arena: private. O(rows * tables).
std::vector<std::int64_t> table_counts(const TreeShape &shape, const TreeRows &rows);

// The model's share of each cell of the arena, by one pass from the leaves and one from the roots.
// O(arena), one exponential a cell.
Eigen::VectorXd tree_marginals(const TreeShape &shape,
                               const Eigen::Ref<const Eigen::VectorXd> &potentials);

// Noisy counts of the arena's cells with the precision (1 / variance) of each table's noise,
// features first, 0 for a table that was not measured. `total` is the number of rows.
struct TreeMeasurements {
  Eigen::VectorXd values, precision;
  double total;
};

struct TreeFitControl {
  std::size_t max_iterations = 400;
  double tolerance = 1e-6; // relative decrease of the loss over ten iterations
};

struct TreeFit {
  Eigen::VectorXd potentials;
  double loss; // sum over tables of precision / 2 * |model - measured|^2
  std::size_t iterations;
  bool converged;
};

// The maximum entropy model that fits the measurements best in least squares, by entropic mirror
// descent (McKenna, Sheldon and Miklau 2019, Algorithm 1) from `start`, the zero vector or an
// earlier fit. O(arena) an iteration. `interrupt` may throw.
TreeFit fit_tree(
    const TreeShape &shape, const TreeMeasurements &measured,
    const Eigen::Ref<const Eigen::VectorXd> &start, const TreeFitControl &control = {},
    const std::function<void()> &interrupt = [] {});

// The minimum variance estimate of the number of rows from the sums of the measured tables (McKenna
// et al. 2019, section 4), at least 1. `total` is not read.
double estimate_total(const TreeShape &shape, const TreeMeasurements &measured);

// The model's probabilities of the label given all features, one row for each row of codes.
Eigen::MatrixXd label_probabilities(const TreeShape &shape,
                                    const Eigen::Ref<const Eigen::VectorXd> &potentials,
                                    const Eigen::Ref<const TreeCodes> &features);

// independent: rows are drawn one by one. stratified: in each group of rows with the same parent
// and label the counts of the child are within one of their expectation, and go to the rows of the
// group in random order, so that columns are dependent only as the model says.
enum class Sampling { independent, stratified };

// n rows of the model: the features' codes and in the last column the label's.
TreeCodes sample_rows(const TreeShape &shape, const Eigen::Ref<const Eigen::VectorXd> &potentials,
                      Eigen::Index n, Sampling sampling, RandomSource &random);

} // namespace confide
