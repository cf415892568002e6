#include "tree_model.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace confide {
namespace {

using Eigen::Index;
using Table = Eigen::Map<Eigen::ArrayXXd>;
using ConstTable = Eigen::Map<const Eigen::ArrayXXd>;

// The table of a feature, labels x size, or all tables of an edge side by side, labels x (child,
// parent) with the child faster.
Table table(Eigen::VectorXd &arena, const TableBlock &block, Index labels) {
  return {arena.data() + block.offset, labels, block.size / labels};
}

ConstTable table(const Eigen::Ref<const Eigen::VectorXd> &arena, const TableBlock &block,
                 Index labels) {
  return {arena.data() + block.offset, labels, block.size / labels};
}

// Every column of logs becomes weights that sum to 1 over the columns, label by label; returns the
// logarithms of the sums they had.
template <class Columns> Eigen::ArrayXd normalise_logs(Columns &&logs) {
  const Eigen::ArrayXd largest = logs.rowwise().maxCoeff();
  logs.colwise() -= largest;
  logs = logs.exp();
  const Eigen::ArrayXd sum = logs.rowwise().sum();
  logs.colwise() /= sum;
  return largest + sum.log();
}

std::vector<std::vector<std::size_t>> adjacency(std::size_t features,
                                                const std::vector<TreeEdge> &edges) {
  std::vector<std::vector<std::size_t>> near(features);
  for (const TreeEdge &edge : edges) {
    if (edge.parent >= features || edge.child >= features)
      throw std::invalid_argument("an edge names an unknown feature");
    near[edge.parent].push_back(edge.child);
    near[edge.child].push_back(edge.parent);
  }
  return near;
}

// Breadth first, so that parents come before children.
void orient(TreeShape &shape, const std::vector<TreeEdge> &edges) {
  const auto near = adjacency(shape.sizes.size(), edges);
  std::vector<bool> reached(shape.sizes.size(), false);
  for (std::size_t root = 0; root < shape.sizes.size(); ++root) {
    if (reached[root])
      continue;
    shape.roots.push_back(root);
    reached[root] = true;
    std::vector<std::size_t> queue{root};
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (const std::size_t neighbour : near[queue[next]]) {
        if (reached[neighbour])
          continue;
        reached[neighbour] = true;
        shape.edges.push_back({queue[next], neighbour});
        queue.push_back(neighbour);
      }
  }
  if (shape.edges.size() != edges.size())
    throw std::invalid_argument("the edges hold a cycle");
}

void lay_out(TreeShape &shape) {
  const auto append = [&](Index size) {
    const TableBlock block{shape.arena, size};
    shape.arena += size;
    return block;
  };
  for (const Index size : shape.sizes)
    shape.features.push_back(append(shape.labels * size));
  for (const TreeEdge &edge : shape.edges)
    shape.links.push_back(
        append(shape.labels * shape.sizes[edge.child] * shape.sizes[edge.parent]));
}

} // namespace

TreeShape tree_shape(const std::vector<Index> &sizes, Index labels,
                     const std::vector<TreeEdge> &edges) {
  TreeShape shape{sizes, labels, {}, {}, {}, {}, 0};
  orient(shape, edges);
  lay_out(shape);
  return shape;
}

std::vector<std::int64_t> table_counts(const TreeShape &shape, const TreeRows &rows) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(shape.arena), 0);
  const Index n = rows.label.size();
  const auto column = [&](std::size_t j) { return rows.features.col(static_cast<Index>(j)); };
  for (std::size_t j = 0; j < shape.sizes.size(); ++j) {
    std::int64_t *const cells = counts.data() + shape.features[j].offset;
    for (Index i = 0; i < n; ++i)
      ++cells[column(j)[i] * shape.labels + rows.label[i]];
  }
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    const auto [parent, child] = shape.edges[e];
    std::int64_t *const cells = counts.data() + shape.links[e].offset;
    for (Index i = 0; i < n; ++i)
      ++cells[(column(parent)[i] * shape.sizes[child] + column(child)[i]) * shape.labels +
              rows.label[i]];
  }
  return counts;
}

namespace {

// What both passes and the sampler share: p(y), p(root | y) in the feature tables of the roots, and
// p(child | parent, y) in the tables of the edges. Other feature tables hold no marginals yet.
struct Conditionals {
  Eigen::ArrayXd label;
  Eigen::VectorXd arena;
};

// From the leaves up: sums over what lies below a feature are added to its logarithms.
Conditionals collect(const TreeShape &shape, const Eigen::Ref<const Eigen::VectorXd> &potentials) {
  Conditionals result{Eigen::ArrayXd::Zero(shape.labels), potentials};
  for (std::size_t e = shape.edges.size(); e-- > 0;) {
    const auto [parent, child] = shape.edges[e];
    Table link = table(result.arena, shape.links[e], shape.labels);
    const Table below = table(result.arena, shape.features[child], shape.labels);
    Table above = table(result.arena, shape.features[parent], shape.labels);
    for (Index x = 0; x < shape.sizes[parent]; ++x) {
      auto rows = link.middleCols(x * shape.sizes[child], shape.sizes[child]);
      rows += below;
      above.col(x) += normalise_logs(rows);
    }
  }
  for (const std::size_t root : shape.roots)
    result.label += normalise_logs(table(result.arena, shape.features[root], shape.labels));
  result.label = (result.label - result.label.maxCoeff()).exp().eval();
  result.label /= result.label.sum();
  return result;
}

} // namespace

Eigen::VectorXd tree_marginals(const TreeShape &shape,
                               const Eigen::Ref<const Eigen::VectorXd> &potentials) {
  Conditionals conditionals = collect(shape, potentials);
  Eigen::VectorXd &arena = conditionals.arena;
  for (const std::size_t root : shape.roots)
    table(arena, shape.features[root], shape.labels).colwise() *= conditionals.label;
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    const auto [parent, child] = shape.edges[e];
    Table link = table(arena, shape.links[e], shape.labels);
    const Table above = table(arena, shape.features[parent], shape.labels);
    Table below = table(arena, shape.features[child], shape.labels);
    below.setZero();
    for (Index x = 0; x < shape.sizes[parent]; ++x) {
      auto rows = link.middleCols(x * shape.sizes[child], shape.sizes[child]);
      rows.colwise() *= above.col(x);
      below += rows;
    }
  }
  return std::move(conditionals.arena);
}

namespace {

template <class Step> void for_each_table(const TreeShape &shape, const Step &step) {
  Index b = 0;
  for (const TableBlock &block : shape.features)
    step(b++, block);
  for (const TableBlock &block : shape.links)
    step(b++, block);
}

// The loss at counts total * marginals, and its gradient with respect to them.
double measure(const TreeShape &shape, const TreeMeasurements &measured,
               const Eigen::VectorXd &marginals, Eigen::VectorXd &gradient) {
  double loss = 0;
  gradient = measured.total * marginals - measured.values;
  for_each_table(shape, [&](Index b, const TableBlock &block) {
    auto part = gradient.segment(block.offset, block.size);
    loss += measured.precision[b] / 2 * part.squaredNorm();
    part *= measured.precision[b];
  });
  return loss;
}

struct DescentState {
  Eigen::VectorXd potentials, marginals, gradient;
  double loss;
};

DescentState state_at(const TreeShape &shape, const TreeMeasurements &measured,
                      Eigen::VectorXd potentials) {
  DescentState state{std::move(potentials), {}, {}, 0};
  state.marginals = tree_marginals(shape, state.potentials);
  state.loss = measure(shape, measured, state.marginals, state.gradient);
  return state;
}

// One step, halved until the loss falls by half of what its slope promises; the step that worked is
// left in `step`. False when none does.
bool descend(const TreeShape &shape, const TreeMeasurements &measured, DescentState &state,
             double &step) {
  for (int halving = 0; halving < 40; ++halving, step /= 2) {
    DescentState next =
        state_at(shape, measured, state.potentials - step * measured.total * state.gradient);
    const double promised =
        measured.total * state.gradient.dot(state.marginals - next.marginals) / 2;
    if (state.loss - next.loss >= promised && promised >= 0) {
      state = std::move(next);
      return true;
    }
  }
  return false;
}

} // namespace

TreeFit fit_tree(const TreeShape &shape, const TreeMeasurements &measured,
                 const Eigen::Ref<const Eigen::VectorXd> &start, const TreeFitControl &control,
                 const std::function<void()> &interrupt) {
  constexpr std::size_t window = 10; // single steps may be short right after a halving
  DescentState state = state_at(shape, measured, start);
  // The step in units of 1 / total^2, since the potentials see shares and the loss counts.
  double step = 2 / (measured.total * measured.total * measured.precision.maxCoeff());
  double before = state.loss;
  for (std::size_t i = 1; i <= control.max_iterations; ++i) {
    interrupt();
    if (!descend(shape, measured, state, step))
      return {state.potentials, state.loss, i, true};
    step *= 1.3;
    if (i % window == 0) {
      if (before - state.loss <= control.tolerance * before)
        return {state.potentials, state.loss, i, true};
      before = state.loss;
    }
  }
  return {state.potentials, state.loss, control.max_iterations, false};
}

double estimate_total(const TreeShape &shape, const TreeMeasurements &measured) {
  double sum = 0, weight = 0;
  for_each_table(shape, [&](Index b, const TableBlock &block) {
    const double w = measured.precision[b] / static_cast<double>(block.size);
    sum += w * measured.values.segment(block.offset, block.size).sum();
    weight += w;
  });
  return std::max(1.0, sum / weight);
}

// The potentials of all cliques that hold the row add up to log p(row, label) plus a constant.
Eigen::MatrixXd label_probabilities(const TreeShape &shape,
                                    const Eigen::Ref<const Eigen::VectorXd> &potentials,
                                    const Eigen::Ref<const TreeCodes> &features) {
  Eigen::ArrayXXd logs = Eigen::ArrayXXd::Zero(shape.labels, features.rows());
  for (std::size_t j = 0; j < shape.sizes.size(); ++j) {
    const ConstTable cells = table(potentials, shape.features[j], shape.labels);
    for (Index i = 0; i < features.rows(); ++i)
      logs.col(i) += cells.col(features(i, static_cast<Index>(j)));
  }
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    const auto [parent, child] = shape.edges[e];
    const ConstTable cells = table(potentials, shape.links[e], shape.labels);
    for (Index i = 0; i < features.rows(); ++i)
      logs.col(i) += cells.col(features(i, static_cast<Index>(parent)) * shape.sizes[child] +
                               features(i, static_cast<Index>(child)));
  }
  Eigen::MatrixXd result(features.rows(), shape.labels);
  for (Index i = 0; i < features.rows(); ++i) {
    const Eigen::ArrayXd weight = (logs.col(i) - logs.col(i).maxCoeff()).exp();
    result.row(i) = weight / weight.sum();
  }
  return result;
}

namespace {

double uniform(RandomSource &random) { return static_cast<double>(random.word() >> 11) * 0x1p-53; }

// The first index whose cumulated weight exceeds u; the last one with weight if rounding leaves u
// at the end.
Index inverse_cdf(const Eigen::ArrayXd &weights, double u) {
  Index last = 0;
  for (Index x = 0; x < weights.size(); ++x) {
    if (!(weights[x] > 0))
      continue;
    last = x;
    u -= weights[x];
    if (u < 0)
      return x;
  }
  return last;
}

void shuffle(std::vector<Index> &items, RandomSource &random) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(i)]);
}

// Gives every row of a group a code drawn with these weights, which sum to 1.
void assign(const Eigen::ArrayXd &weights, std::vector<Index> &group, Sampling sampling,
            RandomSource &random, const std::function<void(Index, Index)> &write) {
  if (sampling == Sampling::independent) {
    for (const Index row : group)
      write(row, inverse_cdf(weights, uniform(random)));
    return;
  }
  // Systematic sampling: one random start, then steps of equal probability through the cdf.
  shuffle(group, random);
  const double start = uniform(random), n = static_cast<double>(group.size());
  double reached = 0;
  std::size_t next = 0;
  Index last = 0;
  for (Index x = 0; x < weights.size(); ++x) {
    if (!(weights[x] > 0))
      continue;
    last = x;
    reached += n * weights[x];
    for (; next < group.size() && static_cast<double>(next) + start < reached; ++next)
      write(group[next], x);
  }
  for (; next < group.size(); ++next)
    write(group[next], last);
}

// The rows of each value of a key below `keys`.
template <class Key> std::vector<std::vector<Index>> grouped(Index n, Index keys, const Key &key) {
  std::vector<std::vector<Index>> groups(static_cast<std::size_t>(keys));
  for (Index i = 0; i < n; ++i)
    groups[static_cast<std::size_t>(key(i))].push_back(i);
  return groups;
}

} // namespace

TreeCodes sample_rows(const TreeShape &shape, const Eigen::Ref<const Eigen::VectorXd> &potentials,
                      Index n, Sampling sampling, RandomSource &random) {
  Conditionals model = collect(shape, potentials);
  const auto d = static_cast<Index>(shape.sizes.size());
  TreeCodes rows(n, d + 1);
  const auto writer = [&](Index column) {
    return [&rows, column](Index row, Index code) {
      rows(row, column) = static_cast<std::int32_t>(code);
    };
  };
  std::vector<Index> everyone(static_cast<std::size_t>(n));
  std::iota(everyone.begin(), everyone.end(), Index{0});
  assign(model.label, everyone, sampling, random, writer(d));
  for (const std::size_t root : shape.roots) {
    const Table shares = table(model.arena, shape.features[root], shape.labels);
    auto groups = grouped(n, shape.labels, [&](Index i) { return rows(i, d); });
    for (Index y = 0; y < shape.labels; ++y)
      assign(shares.row(y), groups[static_cast<std::size_t>(y)], sampling, random,
             writer(static_cast<Index>(root)));
  }
  for (std::size_t e = 0; e < shape.edges.size(); ++e) {
    const auto parent = static_cast<Index>(shape.edges[e].parent);
    const std::size_t child = shape.edges[e].child;
    const Table shares = table(model.arena, shape.links[e], shape.labels);
    auto groups = grouped(n, shape.labels * shape.sizes[shape.edges[e].parent],
                          [&](Index i) { return rows(i, parent) * shape.labels + rows(i, d); });
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Index x = static_cast<Index>(g) / shape.labels,
                  y = static_cast<Index>(g) % shape.labels;
      const auto part = shares.middleCols(x * shape.sizes[child], shape.sizes[child]);
      assign(part.row(y), groups[g], sampling, random, writer(static_cast<Index>(child)));
    }
  }
  return rows;
}

} // namespace confide
