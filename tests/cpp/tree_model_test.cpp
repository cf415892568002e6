#include "seeded_random.h"
#include "tree_model.h"
#include <Eigen/Dense>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <random>

using namespace confide;

namespace {

using Eigen::Index;
using Vector = Eigen::VectorXd;

struct Model {
  TreeShape shape;
  Vector potentials;
};

Vector random_vector(Index size, std::mt19937_64 &generator) {
  std::normal_distribution<double> normal;
  Vector result(size);
  for (Index i = 0; i < size; ++i)
    result[i] = normal(generator);
  return result;
}

Model random_model(const TreeShape &shape, std::mt19937_64 &generator) {
  return {shape, random_vector(shape.arena, generator)};
}

// Five features in two components and a label; without label labels is 1.
TreeShape forest(Index labels) {
  return tree_shape({3, 2, 4, 2, 3}, labels, {{2, 0}, {1, 2}, {4, 3}});
}

TreeShape chain(Index labels) { return tree_shape({3, 2, 4}, labels, {{0, 1}, {1, 2}}); }

// All rows that there are: the features' codes, then the label's.
TreeCodes all_rows(const TreeShape &shape) {
  std::vector<Index> sizes = shape.sizes;
  sizes.push_back(shape.labels);
  Index n = 1;
  for (const Index size : sizes)
    n *= size;
  TreeCodes rows(n, static_cast<Index>(sizes.size()));
  for (Index i = 0; i < n; ++i) {
    Index rest = i;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      rows(i, static_cast<Index>(j)) = static_cast<std::int32_t>(rest % sizes[j]);
      rest /= sizes[j];
    }
  }
  return rows;
}

// The arena's cells that one row is in, by the definition of the layout.
std::vector<Index> cells_of(const TreeShape &shape, const TreeCodes &rows, Index i) {
  const auto d = static_cast<Index>(shape.sizes.size());
  const Index y = rows(i, d);
  std::vector<Index> cells;
  for (Index j = 0; j < d; ++j)
    cells.push_back(shape.features[static_cast<std::size_t>(j)].offset + rows(i, j) * shape.labels +
                    y);
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    const auto p = static_cast<Index>(shape.edges[e].parent),
               c = static_cast<Index>(shape.edges[e].child);
    cells.push_back(shape.links[e].offset +
                    (rows(i, p) * shape.sizes[shape.edges[e].child] + rows(i, c)) * shape.labels +
                    y);
  }
  return cells;
}

// The distribution over all rows, by brute force.
Vector joint(const Model &model, const TreeCodes &rows) {
  Vector weight(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (const Index cell : cells_of(model.shape, rows, i))
      sum += model.potentials[cell];
    weight[i] = std::exp(sum);
  }
  return weight / weight.sum();
}

Vector brute_force_marginals(const TreeShape &shape, const TreeCodes &rows, const Vector &shares) {
  Vector marginals = Vector::Zero(shape.arena);
  for (Index i = 0; i < rows.rows(); ++i)
    for (const Index cell : cells_of(shape, rows, i))
      marginals[cell] += shares[i];
  return marginals;
}

Vector precisions(const TreeShape &shape, double value) {
  return Vector::Constant(static_cast<Index>(shape.features.size() + shape.links.size()), value);
}

double entropy(const Vector &shares) { return -(shares.array() * shares.array().log()).sum(); }

} // namespace

TEST_CASE("edges are oriented from a root, and a cycle or an unknown feature is refused") {
  const TreeShape shape = forest(2);
  CHECK(shape.roots == std::vector<std::size_t>{0, 3});
  CHECK(shape.edges.size() == 3);
  std::vector<bool> reached(5, false);
  for (const std::size_t root : shape.roots)
    reached[root] = true;
  for (const TreeEdge &edge : shape.edges) {
    CHECK(reached[edge.parent]);
    CHECK_FALSE(reached[edge.child]);
    reached[edge.child] = true;
  }
  CHECK(shape.arena == 2 * (3 + 2 + 4 + 2 + 3 + 3 * 4 + 4 * 2 + 2 * 3));
  CHECK_THROWS_AS(tree_shape({2, 2, 2}, 1, {{0, 1}, {1, 2}, {2, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(tree_shape({2, 2}, 1, {{0, 1}, {1, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(tree_shape({2, 2}, 1, {{0, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(tree_shape({2, 2}, 1, {{0, 2}}), std::invalid_argument);
}

TEST_CASE("belief propagation gives the marginals of the joint distribution") {
  std::mt19937_64 generator(1);
  for (const TreeShape &shape : {forest(1), forest(3), chain(1), chain(2), tree_shape({4}, 1, {}),
                                 tree_shape({2, 3}, 2, {})}) {
    const TreeCodes rows = all_rows(shape);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Model model = random_model(shape, generator);
      const Vector exact = brute_force_marginals(shape, rows, joint(model, rows));
      CHECK((tree_marginals(shape, model.potentials) - exact).cwiseAbs().maxCoeff() < 1e-14);
    }
  }
}

TEST_CASE("potentials of any size give finite marginals that sum to 1") {
  std::mt19937_64 generator(2);
  const TreeShape shape = forest(2);
  const Vector potentials = 1e5 * random_vector(shape.arena, generator);
  const Vector marginals = tree_marginals(shape, potentials);
  CHECK(marginals.allFinite());
  for (const TableBlock &block : shape.links)
    CHECK(std::abs(marginals.segment(block.offset, block.size).sum() - 1) < 1e-12);
}

TEST_CASE("counts are those of the definition") {
  std::mt19937_64 generator(3);
  const TreeShape shape = forest(3);
  const TreeCodes rows = all_rows(shape);
  const Index d = 5;
  const std::vector<std::int64_t> counts = table_counts(shape, {rows.leftCols(d), rows.col(d)});
  std::vector<std::int64_t> naive(static_cast<std::size_t>(shape.arena), 0);
  for (Index i = 0; i < rows.rows(); ++i)
    for (const Index cell : cells_of(shape, rows, i))
      ++naive[static_cast<std::size_t>(cell)];
  CHECK(counts == naive);
  const std::vector<std::int64_t> none =
      table_counts(shape, {rows.topLeftCorner(0, d), rows.col(d).head(0)});
  CHECK(none == std::vector<std::int64_t>(static_cast<std::size_t>(shape.arena), 0));
}

TEST_CASE("marginals without noise are fitted exactly, by the model of largest entropy") {
  std::mt19937_64 generator(4);
  for (const TreeShape &shape : {forest(2), chain(1)}) {
    const TreeCodes rows = all_rows(shape);
    // a joint distribution that is not in the model
    const Vector truth = [&] {
      const Vector weight = random_vector(rows.rows(), generator).array().exp();
      return Vector(weight / weight.sum());
    }();
    const double n = 1000;
    const Vector marginals = brute_force_marginals(shape, rows, truth);
    const TreeMeasurements measured{n * marginals, precisions(shape, 0.01), n};
    const TreeFit fit = fit_tree(shape, measured, Vector::Zero(shape.arena), {5000, 0});
    CHECK((tree_marginals(shape, fit.potentials) - marginals).cwiseAbs().maxCoeff() < 1e-6);
    CHECK(fit.loss < 1e-6);
    const Vector fitted = joint({shape, fit.potentials}, rows);
    CHECK(entropy(fitted) > entropy(truth));
    // the entropy of a decomposable model is that of its cliques less that of its separators;
    // here by brute force: cross entropy of the truth under the fit equals the fit's entropy
    const double cross = -(truth.array() * fitted.array().log()).sum();
    CHECK(std::abs(cross - entropy(fitted)) < 1e-4);
  }
}

TEST_CASE("no small change of a fit to noisy tables lowers the loss") {
  std::mt19937_64 generator(5);
  const TreeShape shape = forest(2);
  const double n = 500;
  const Vector values = n * tree_marginals(shape, random_vector(shape.arena, generator)) +
                        8 * random_vector(shape.arena, generator);
  Vector precision = precisions(shape, 1.0 / 64);
  precision[1] = 0;        // not measured
  precision[6] = 1.0 / 16; // measured better
  const TreeMeasurements measured{values, precision, n};
  const auto loss_at = [&](const Vector &potentials) {
    const Vector difference = n * tree_marginals(shape, potentials) - values;
    double loss = 0;
    Index b = 0;
    for (const auto *blocks : {&shape.features, &shape.links})
      for (const TableBlock &block : *blocks)
        loss += precision[b++] / 2 * difference.segment(block.offset, block.size).squaredNorm();
    return loss;
  };
  const TreeFit fit = fit_tree(shape, measured, Vector::Zero(shape.arena), {20000, 1e-12});
  CHECK(fit.loss == doctest::Approx(loss_at(fit.potentials)));
  CHECK(fit.loss < loss_at(Vector::Zero(shape.arena)));
  for (int direction = 0; direction < 100; ++direction) {
    const Vector change = random_vector(shape.arena, generator);
    CHECK(loss_at(fit.potentials + 0.01 * change) > fit.loss - 1e-7 * fit.loss);
  }
  // a start from the fit has nothing left to do, and a patient fit is the best
  const TreeFit again = fit_tree(shape, measured, fit.potentials);
  CHECK(again.iterations <= 10);
  CHECK(again.converged);
  const TreeFit hasty = fit_tree(shape, measured, Vector::Zero(shape.arena), {3, 0});
  CHECK_FALSE(hasty.converged);
  CHECK(hasty.loss > fit.loss);
}

TEST_CASE("an interrupt stops a fit") {
  const TreeShape shape = chain(1);
  const TreeMeasurements measured{Vector::Zero(shape.arena), precisions(shape, 1), 10};
  CHECK_THROWS_AS(fit_tree(shape, measured, Vector::Zero(shape.arena), {}, [] { throw 1; }), int);
}

TEST_CASE("the estimate of the total weighs sums by the inverse of their variance") {
  const TreeShape shape = tree_shape({2, 3}, 1, {{0, 1}});
  TreeMeasurements measured{Vector::Zero(shape.arena), Vector::Zero(3), 0};
  measured.values << 50, 60, 30, 40, 50, 10, 10, 10, 10, 10, 10;
  measured.precision << 1, 2, 0;
  // sums 110 and 120 with variances 2 and 3/2
  CHECK(estimate_total(shape, measured) ==
        doctest::Approx((110 / 2.0 + 120 / 1.5) / (0.5 + 1 / 1.5)));
  measured.values.setConstant(-5);
  CHECK(estimate_total(shape, measured) == 1);
}

TEST_CASE("the label's conditional is that of the joint distribution") {
  std::mt19937_64 generator(6);
  const TreeShape shape = forest(3);
  const TreeCodes rows = all_rows(shape);
  const Model model = random_model(shape, generator);
  const Vector shares = joint(model, rows);
  const Index cells = rows.rows() / 3; // the label changes slowest
  const Eigen::MatrixXd predicted =
      label_probabilities(shape, model.potentials, rows.topLeftCorner(cells, 5));
  for (Index i = 0; i < cells; ++i) {
    const Eigen::Vector3d weight(shares[i], shares[i + cells], shares[i + 2 * cells]);
    CHECK((predicted.row(i).transpose() - weight / weight.sum()).cwiseAbs().maxCoeff() < 1e-13);
  }
}

namespace {

Vector sampled_marginals(const Model &model, Index n, Sampling sampling, std::uint64_t seed) {
  SeededRandom random(seed);
  const TreeCodes rows = sample_rows(model.shape, model.potentials, n, sampling, random);
  const Index d = rows.cols() - 1;
  const auto counts = table_counts(model.shape, {rows.leftCols(d), rows.col(d)});
  Vector shares(model.shape.arena);
  for (Index i = 0; i < shares.size(); ++i)
    shares[i] = static_cast<double>(counts[static_cast<std::size_t>(i)]) / static_cast<double>(n);
  return shares;
}

} // namespace

TEST_CASE("rows drawn independently have the joint distribution of the model") {
  std::mt19937_64 generator(7);
  const TreeShape shape = chain(2);
  const TreeCodes rows = all_rows(shape);
  const Model model = random_model(shape, generator);
  const Vector expected = joint(model, rows);
  SeededRandom random(8);
  const Index n = 200000;
  const TreeCodes drawn = sample_rows(shape, model.potentials, n, Sampling::independent, random);
  Vector counts = Vector::Zero(rows.rows());
  for (Index i = 0; i < n; ++i)
    counts[drawn(i, 0) + 3 * (drawn(i, 1) + 2 * (drawn(i, 2) + 4 * drawn(i, 3)))] += 1;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double p = expected[i], error = std::sqrt(p * (1 - p) / static_cast<double>(n));
    CHECK(std::abs(counts[i] / static_cast<double>(n) - p) < 5 * error);
  }
}

TEST_CASE("stratified rows keep every table within a row or so for each group") {
  std::mt19937_64 generator(9);
  for (const Index labels : {1, 2}) {
    const Model model = random_model(forest(labels), generator);
    const Vector exact = tree_marginals(model.shape, model.potentials);
    for (const Index n : {0, 1, 2, 7, 1000}) {
      if (n == 0)
        continue;
      const Vector error =
          static_cast<double>(n) * (sampled_marginals(model, n, Sampling::stratified, 10) - exact);
      // Counts of label, root and child are each within one of their expectation given the step
      // before; the trees are two edges deep, and a step multiplies by shares below 1.
      CHECK(error.cwiseAbs().maxCoeff() < 4);
    }
  }
}

TEST_CASE("stratified rows have the expectation of the model, in the joint distribution too") {
  std::mt19937_64 generator(11);
  const TreeShape shape = chain(2);
  const TreeCodes rows = all_rows(shape);
  const Model model = random_model(shape, generator);
  const Vector expected = joint(model, rows);
  Vector counts = Vector::Zero(rows.rows());
  const Index n = 10, repeats = 20000;
  SeededRandom random(12);
  for (Index r = 0; r < repeats; ++r) {
    const TreeCodes drawn = sample_rows(shape, model.potentials, n, Sampling::stratified, random);
    for (Index i = 0; i < n; ++i)
      counts[drawn(i, 0) + 3 * (drawn(i, 1) + 2 * (drawn(i, 2) + 4 * drawn(i, 3)))] += 1;
  }
  // Rows of one set repel one another, so the binomial error of all rows is an upper bound.
  const auto total = static_cast<double>(n * repeats);
  for (Index i = 0; i < rows.rows(); ++i) {
    const double p = expected[i];
    CHECK(std::abs(counts[i] / total - p) < 5 * std::sqrt(p * (1 - p) / total));
  }
}

TEST_CASE("features that are independent given their parents stay so in stratified rows") {
  // Ranks used twice would tie the children of one parent together (private-pgm, pull request 145).
  const TreeShape shape = tree_shape({1, 2, 2}, 1, {{0, 1}, {0, 2}});
  SeededRandom random(13);
  double together = 0;
  const int repeats = 2000, n = 50;
  for (int r = 0; r < repeats; ++r) {
    const TreeCodes rows =
        sample_rows(shape, Vector::Zero(shape.arena), n, Sampling::stratified, random);
    for (Index i = 0; i < n; ++i)
      together += rows(i, 1) == rows(i, 2) ? 1 : 0;
  }
  // the number of agreements in 25 of 50 twice drawn has variance below 2 n: 5 errors
  const double share = together / (n * repeats);
  CHECK(std::abs(share - 0.5) < 5 * std::sqrt(2.0 / (n * repeats)));
}

TEST_CASE("the error of a large sample is close to that of the model") {
  std::mt19937_64 generator(14);
  const TreeShape shape = forest(2);
  const Vector truth = tree_marginals(shape, random_vector(shape.arena, generator));
  const double n = 20000;
  const TreeMeasurements measured{n * truth + 50 * random_vector(shape.arena, generator),
                                  precisions(shape, 1.0 / 2500), n};
  const Model model{shape, fit_tree(shape, measured, Vector::Zero(shape.arena)).potentials};
  const double of_model = (tree_marginals(shape, model.potentials) - truth).cwiseAbs().sum();
  const double of_noise = (measured.values / n - truth).cwiseAbs().sum();
  CHECK(of_model < of_noise);
  const double of_sample =
      (sampled_marginals(model, 20000, Sampling::stratified, 15) - truth).cwiseAbs().sum();
  CHECK(of_sample < 1.5 * of_model);
}
