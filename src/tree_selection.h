#pragma once
#include "tree_model.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace confide {

// Scores for the choice of a tree's edges: how far the table of two features (and the label) is
// from what a model without edges, known already, says of it. A refinement of MST (McKenna, Miklau
// and Sheldon 2021, arXiv 2108.04978, Algorithm 3) for models in which all cliques hold a label.

// Scores are whole numbers of this fraction of a row.
constexpr int score_bits = 8;

// A pair of features, first < second.
using FeaturePair = TreeEdge;

// All pairs in the order (0, 1), (0, 2), ..., (1, 2), ...
std::vector<FeaturePair> feature_pairs(std::size_t features);

// For each pair the l1 distance between the counts of its table and the rounded counts of the
// model, total p(a | y) p(b | y) p(y), in units of 2^-score_bits: private. One row more moves a
// score by 2^score_bits, another row in the place of one by twice that. `marginals` is the arena of
// a shape without edges. O(rows * pairs).
std::vector<std::int64_t> dependence_scores(const TreeShape &shape, const TreeRows &rows,
                                            const Eigen::Ref<const Eigen::VectorXd> &marginals,
                                            double total);

} // namespace confide
