#include "tree_selection.h"
#include <algorithm>
#include <cmath>

namespace confide {
namespace {

using Eigen::Index;

// labels x size tables of a shape without edges.
using Table = Eigen::Map<const Eigen::ArrayXXd>;

Table feature_table(const TreeShape &shape, const Eigen::Ref<const Eigen::VectorXd> &marginals,
                    std::size_t feature) {
  return {marginals.data() + shape.features[feature].offset, shape.labels, shape.sizes[feature]};
}

// Counts of a table, labels x first x second, in units of a score.
std::vector<std::int64_t> pair_counts(const TreeShape &shape, const TreeRows &rows,
                                      const FeaturePair &pair) {
  const Index first = shape.sizes[pair.parent], second = shape.sizes[pair.child];
  std::vector<std::int64_t> counts(static_cast<std::size_t>(shape.labels * first * second), 0);
  const auto a = rows.features.col(static_cast<Index>(pair.parent));
  const auto b = rows.features.col(static_cast<Index>(pair.child));
  for (Index i = 0; i < rows.label.size(); ++i)
    counts[static_cast<std::size_t>((b[i] * first + a[i]) * shape.labels + rows.label[i])] +=
        std::int64_t{1} << score_bits;
  return counts;
}

std::int64_t distance(const TreeShape &shape, const std::vector<std::int64_t> &counts,
                      const Table &a, const Table &b, double total) {
  const Eigen::ArrayXd label = a.rowwise().sum();
  std::int64_t sum = 0;
  std::size_t cell = 0;
  for (Index second = 0; second < b.cols(); ++second)
    for (Index first = 0; first < a.cols(); ++first)
      for (Index y = 0; y < shape.labels; ++y) {
        const double share = label[y] > 0 ? a(y, first) * b(y, second) / label[y] : 0;
        // a limit keeps sums below 2^61 for any model
        const double units = std::min(std::ldexp(total * share, score_bits), 0x1p41);
        sum += std::abs(counts[cell++] - std::llround(units));
      }
  return sum;
}

} // namespace

std::vector<FeaturePair> feature_pairs(std::size_t features) {
  std::vector<FeaturePair> pairs;
  for (std::size_t a = 0; a < features; ++a)
    for (std::size_t b = a + 1; b < features; ++b)
      pairs.push_back({a, b});
  return pairs;
}

std::vector<std::int64_t> dependence_scores(const TreeShape &shape, const TreeRows &rows,
                                            const Eigen::Ref<const Eigen::VectorXd> &marginals,
                                            double total) {
  std::vector<std::int64_t> scores;
  for (const FeaturePair &pair : feature_pairs(shape.sizes.size()))
    scores.push_back(distance(shape, pair_counts(shape, rows, pair),
                              feature_table(shape, marginals, pair.parent),
                              feature_table(shape, marginals, pair.child), total));
  return scores;
}

} // namespace confide
