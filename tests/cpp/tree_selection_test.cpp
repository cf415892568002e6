#include "tree_selection.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>

using namespace confide;

namespace {

using Eigen::Index;

struct Columns {
  TreeCodes features;
  LabelCodes label;
};

const std::vector<Index> sizes{3, 2, 4};

Columns random_columns(Index n, Index labels, std::mt19937_64 &generator) {
  Columns columns{TreeCodes(n, 3), LabelCodes(n)};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 3; ++j)
      columns.features(i, j) = static_cast<std::int32_t>(
          generator() % static_cast<std::uint64_t>(sizes[static_cast<std::size_t>(j)]));
    columns.label[i] = static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(labels));
  }
  return columns;
}

std::vector<std::int64_t> scores(const Columns &columns, const TreeShape &shape,
                                 const Eigen::VectorXd &marginals, double total) {
  return dependence_scores(shape, {columns.features, columns.label}, marginals, total);
}

} // namespace

TEST_CASE("a score is the distance between counts and the rounded counts of the model") {
  std::mt19937_64 generator(1);
  const TreeShape shape = tree_shape(sizes, 2, {});
  const Eigen::VectorXd potentials = Eigen::VectorXd::Random(shape.arena);
  const Eigen::VectorXd marginals = tree_marginals(shape, potentials);
  const Columns columns = random_columns(50, 2, generator);
  const auto found = scores(columns, shape, marginals, 47.3);
  const auto pairs = feature_pairs(3);
  REQUIRE(found.size() == 3);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto a = static_cast<Index>(pairs[p].parent), b = static_cast<Index>(pairs[p].child);
    double expected = 0;
    for (Index y = 0; y < 2; ++y) {
      double share = 0;
      for (Index u = 0; u < sizes[static_cast<std::size_t>(a)]; ++u)
        share += marginals[shape.features[static_cast<std::size_t>(a)].offset + 2 * u + y];
      for (Index u = 0; u < sizes[static_cast<std::size_t>(a)]; ++u)
        for (Index v = 0; v < sizes[static_cast<std::size_t>(b)]; ++v) {
          double count = 0;
          for (Index i = 0; i < 50; ++i)
            count +=
                columns.features(i, a) == u && columns.features(i, b) == v && columns.label[i] == y
                    ? 1
                    : 0;
          const double model =
              47.3 * marginals[shape.features[static_cast<std::size_t>(a)].offset + 2 * u + y] *
              marginals[shape.features[static_cast<std::size_t>(b)].offset + 2 * v + y] / share;
          expected += std::abs(256 * count - std::round(256 * model));
        }
    }
    CHECK(static_cast<double>(found[p]) == expected);
  }
}

TEST_CASE("one row more moves every score by at most its unit, another row by twice that") {
  std::mt19937_64 generator(2);
  std::int64_t most_added = 0, most_replaced = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Index labels = 1 + repeat % 3;
    const TreeShape shape = tree_shape(sizes, labels, {});
    const Eigen::VectorXd marginals =
        tree_marginals(shape, Eigen::VectorXd(3 * Eigen::VectorXd::Random(shape.arena)));
    const Columns here = random_columns(8, labels, generator);
    Columns fewer{here.features.topRows(7), here.label.head(7)}, other = here;
    other.features.row(7) = random_columns(1, labels, generator).features;
    other.label[7] = static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(labels));
    const auto a = scores(here, shape, marginals, 8), b = scores(fewer, shape, marginals, 8),
               c = scores(other, shape, marginals, 8);
    for (std::size_t j = 0; j < a.size(); ++j) {
      most_added = std::max(most_added, std::abs(a[j] - b[j]));
      most_replaced = std::max(most_replaced, std::abs(a[j] - c[j]));
    }
  }
  CHECK(most_added == 1 << score_bits);
  CHECK(most_replaced <= 2 << score_bits);
  CHECK(most_replaced > 1 << score_bits);
}

TEST_CASE("no model makes a score overflow") {
  std::mt19937_64 generator(3);
  const TreeShape shape = tree_shape(sizes, 1, {});
  const Columns columns = random_columns(8, 1, generator);
  for (const auto score :
       scores(columns, shape, tree_marginals(shape, Eigen::VectorXd::Zero(shape.arena)), 1e300))
    CHECK(score > 0);
}
