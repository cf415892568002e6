// What private means and synthetic data compute of people: how far one of them moves it.
#include "grid.h"
#include "records.h"
#include "scatter.h"
#include "targets.h"
#include "tree_selection.h"
#include <limits>
#include <stdexcept>

namespace confide {

namespace {

// Any finite numbers; an absent record is missing throughout.
Eigen::MatrixXd take_records(Bytes &bytes, Eigen::Index d, Eigen::Index n) {
  Eigen::MatrixXd records(d, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::uint8_t kind = bytes.take<std::uint8_t>();
    for (Eigen::Index k = 0; k < d; ++k) {
      const double wild = kind % 3 == 0 ? bytes.number() : bytes.positive(10) - bytes.positive(10);
      records(k, i) = std::isfinite(wild) ? wild : 0;
    }
    if (kind % 8 == 7)
      records.col(i).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  return records;
}

// The same people but for one, who becomes another or absent.
Eigen::MatrixXd neighbour_of(const Eigen::MatrixXd &records, Bytes &bytes, bool replace) {
  Eigen::MatrixXd other = records;
  const auto person =
      static_cast<Eigen::Index>(bytes.between(0, static_cast<std::size_t>(records.cols()) - 1));
  if (replace)
    other.col(person) = take_records(bytes, records.rows(), 1);
  else
    other.col(person).setConstant(std::numeric_limits<double>::quiet_NaN());
  return other;
}

std::vector<double> take_cuts(Bytes &bytes) {
  std::vector<double> cuts;
  double cut = -5;
  for (std::size_t i = bytes.between(1, 8); i > 0; --i)
    cuts.push_back(cut += 0.01 + bytes.positive(5));
  return cuts;
}

// What count searches rest on: cumulative counts of neighbours all move one way, by one at most.
void require_neighbouring_counts(const Eigen::MatrixXd &cells, const Eigen::MatrixXd &other) {
  for (Eigen::Index j = 0; j < cells.cols(); ++j) {
    double here = 0, there = 0, lowest = 0, highest = 0;
    for (Eigen::Index i = 0; i + 1 < cells.rows(); ++i) {
      here += cells(i, j);
      there += other(i, j);
      lowest = std::min(lowest, there - here);
      highest = std::max(highest, there - here);
    }
    require(lowest >= -1 && highest <= 1 && (lowest == 0 || highest == 0));
  }
}

std::vector<const double *> columns_of(const Eigen::MatrixXd &x) {
  std::vector<const double *> columns;
  for (Eigen::Index k = 0; k < x.cols(); ++k)
    columns.push_back(x.col(k).data());
  return columns;
}

struct Forest {
  TreeShape shape;
  TreeCodes features;
  LabelCodes label;
};

Forest take_forest(Bytes &bytes) {
  std::vector<Eigen::Index> sizes;
  for (std::size_t j = bytes.between(1, 5); j > 0; --j)
    sizes.push_back(static_cast<Eigen::Index>(bytes.between(1, 4)));
  const auto labels = static_cast<Eigen::Index>(bytes.between(1, 3));
  std::vector<TreeEdge> edges;
  for (std::size_t child = 1; child < sizes.size(); ++child)
    if (bytes.flag())
      edges.push_back({bytes.between(0, child - 1), child});
  Forest forest{tree_shape(sizes, labels, edges), {}, {}};
  const auto n = static_cast<Eigen::Index>(bytes.between(1, 20));
  forest.features.resize(n, static_cast<Eigen::Index>(sizes.size()));
  forest.label.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < sizes.size(); ++j)
      forest.features(i, static_cast<Eigen::Index>(j)) =
          static_cast<std::int32_t>(bytes.take<std::uint8_t>() % sizes[j]);
    forest.label[i] = static_cast<std::int32_t>(bytes.take<std::uint8_t>() % labels);
  }
  return forest;
}

// Each table of shares sums to 1.
void require_shares(const TreeShape &shape, const Eigen::VectorXd &shares) {
  require(shares.allFinite() && shares.minCoeff() >= 0);
  for (const auto *tables : {&shape.features, &shape.links})
    for (const TableBlock &block : *tables)
      require(std::abs(shares.segment(block.offset, block.size).sum() - 1) < 1e-9);
}

} // namespace

void fuzz_records(Bytes &bytes) {
  const auto d = static_cast<Eigen::Index>(bytes.between(1, 5));
  const auto n = static_cast<Eigen::Index>(bytes.between(1, 9));
  const bool replace = bytes.flag();
  const Eigen::MatrixXd here = take_records(bytes, d, n);
  const Eigen::MatrixXd there = neighbour_of(here, bytes, replace);
  const Eigen::VectorXd centre =
      take_records(bytes, d, 1).unaryExpr([](double x) { return std::isnan(x) ? 0.0 : x; });
  const Neighbours neighbours = replace ? Neighbours::replace : Neighbours::zero_out;
  try {
    const double bound = bytes.positive(1e4), rho = bytes.positive(1e3);
    const auto plan = gaussian_sum_plan(bound, rho, 9, neighbours, static_cast<std::size_t>(d));
    require(within_sensitivity(clipped_sum(here, centre, plan.grid, no_interrupt),
                               clipped_sum(there, centre, plan.grid, no_interrupt),
                               plan.sensitivity));
    const auto two = gaussian_sum_plan(std::sqrt(0.5), rho, 9, neighbours, 2);
    require(within_sensitivity(linearised_sum(here, centre, bound, two.grid, no_interrupt),
                               linearised_sum(there, centre, bound, two.grid, no_interrupt),
                               two.sensitivity));
  } catch (const PlanRefused &) {
  }
  const std::vector<double> cuts = take_cuts(bytes);
  const Eigen::MatrixXd none(d, 0);
  require_neighbouring_counts(count_distances(here, centre, cuts, no_interrupt),
                              count_distances(there, centre, cuts, no_interrupt));
  require_neighbouring_counts(count_pair_distances(here, cuts, no_interrupt),
                              count_pair_distances(there, cuts, no_interrupt));
  require_neighbouring_counts(count_projections(here, centre, none, cuts, no_interrupt),
                              count_projections(there, centre, none, cuts, no_interrupt));
  const Eigen::MatrixXd x = here.transpose(), y = there.transpose();
  require_neighbouring_counts(count_differences(columns_of(x), n, cuts, no_interrupt),
                              count_differences(columns_of(y), n, cuts, no_interrupt));
  Eigen::MatrixXd whitened(d, n);
  const Eigen::VectorXd scale = Eigen::VectorXd::Constant(d, 0.01 + bytes.positive(100));
  whiten(columns_of(x), 0, centre, scale, whitened, no_interrupt);
  for (Eigen::Index i = 0; i < n; ++i) // who is absent stays absent
    require(std::isnan(whitened(0, i)) == std::isnan(here(0, i)));
}

void fuzz_scatter(Bytes &bytes) {
  const auto d = static_cast<Eigen::Index>(bytes.between(1, 4));
  const auto n = static_cast<Eigen::Index>(bytes.between(1, 9));
  const bool replace = bytes.flag();
  const Eigen::MatrixXd here = take_records(bytes, d, n);
  const Eigen::MatrixXd there = neighbour_of(here, bytes, replace);
  const double radius = bytes.positive(1e4);
  const Eigen::VectorXd centre = Eigen::VectorXd::Constant(d, bytes.positive(4));
  Eigen::MatrixXd transform = Eigen::MatrixXd::Identity(d, d);
  for (Eigen::Index i = 0; i < transform.size(); ++i)
    transform.data()[i] += bytes.share();
  try {
    const double rho = bytes.flag() ? bytes.number() : bytes.positive(1e3);
    const ScatterPlan plan = scatter_plan(rho, static_cast<std::size_t>(n),
                                          replace ? Neighbours::replace : Neighbours::zero_out);
    require(plan.realised > 0 && plan.realised <= rho);
    const auto units = scatter_sum(here, centre, radius, plan, no_interrupt);
    require(within_scatter_sensitivity(
        units, scatter_sum(there, centre, radius, plan, no_interrupt), plan));
    require(within_scatter_sensitivity(sign_scatter_sum(here, transform, plan, no_interrupt),
                                       sign_scatter_sum(there, transform, plan, no_interrupt),
                                       plan));
    FuzzRandom random(bytes);
    const Eigen::MatrixXd released = noisy_scatter(units, d, plan, random);
    require(released.allFinite() && released == released.transpose());
  } catch (const PlanRefused &) {
  } catch (const SamplerRangeError &) {
  }
}

void fuzz_tree_model(Bytes &bytes) {
  const Forest forest = take_forest(bytes);
  const TreeShape &shape = forest.shape;
  const auto n = static_cast<double>(forest.label.size());
  const auto counts = table_counts(shape, {forest.features, forest.label});
  TreeMeasurements measured{Eigen::VectorXd(shape.arena), {}, n};
  for (Eigen::Index i = 0; i < shape.arena; ++i)
    measured.values[i] = static_cast<double>(counts[static_cast<std::size_t>(i)]) +
                         bytes.positive(100) - bytes.positive(100);
  for (const auto *tables : {&shape.features, &shape.links})
    for (const TableBlock &block : *tables) {
      std::int64_t sum = 0;
      for (Eigen::Index i = 0; i < block.size; ++i)
        sum += counts[static_cast<std::size_t>(block.offset + i)];
      require(static_cast<double>(sum) == n);
    }
  const auto tables = static_cast<Eigen::Index>(shape.features.size() + shape.links.size());
  measured.precision = Eigen::VectorXd::Ones(tables);
  for (Eigen::Index table = 1; table < tables; ++table)
    measured.precision[table] = bytes.flag() ? bytes.positive(1e3) : 0;
  require(estimate_total(shape, measured) >= 1);
  const TreeFit fit = fit_tree(shape, measured, Eigen::VectorXd::Zero(shape.arena), {30, 1e-6});
  require(fit.potentials.allFinite() && std::isfinite(fit.loss));
  require_shares(shape, tree_marginals(shape, fit.potentials));
  const Eigen::MatrixXd label = label_probabilities(shape, fit.potentials, forest.features);
  for (Eigen::Index i = 0; i < label.rows(); ++i)
    require(std::abs(label.row(i).sum() - 1) < 1e-9);
  FuzzRandom random(bytes);
  const Sampling sampling = bytes.flag() ? Sampling::stratified : Sampling::independent;
  const TreeCodes rows = sample_rows(shape, fit.potentials, 7, sampling, random);
  require(rows.rows() == 7 && rows.minCoeff() >= 0);
  for (std::size_t j = 0; j < shape.sizes.size(); ++j)
    require(rows.col(static_cast<Eigen::Index>(j)).maxCoeff() < shape.sizes[j]);
}

void fuzz_tree_selection(Bytes &bytes) {
  Forest forest = take_forest(bytes);
  const TreeShape bare = tree_shape(forest.shape.sizes, forest.shape.labels, {});
  Eigen::VectorXd potentials(bare.arena);
  for (Eigen::Index i = 0; i < potentials.size(); ++i)
    potentials[i] = bytes.positive(20) - bytes.positive(20);
  const Eigen::VectorXd shares = tree_marginals(bare, potentials);
  require_shares(bare, shares);
  const double total = bytes.flag() ? std::abs(bytes.number()) : bytes.positive(1e6);
  if (!std::isfinite(total))
    return;
  const auto before = dependence_scores(bare, {forest.features, forest.label}, shares, total);
  const auto person = static_cast<Eigen::Index>(
      bytes.between(0, static_cast<std::size_t>(forest.label.size()) - 1));
  std::int64_t most = std::int64_t{2} << score_bits;
  if (bytes.flag()) { // one row less
    const Eigen::Index last = forest.label.size() - 1;
    if (last == 0)
      return;
    forest.features.row(person) = forest.features.row(last).eval();
    forest.label[person] = forest.label[last];
    forest.features.conservativeResize(last, Eigen::NoChange);
    forest.label.conservativeResize(last);
    most /= 2;
  } else {
    for (std::size_t j = 0; j < bare.sizes.size(); ++j)
      forest.features(person, static_cast<Eigen::Index>(j)) =
          static_cast<std::int32_t>(bytes.take<std::uint8_t>() % bare.sizes[j]);
    forest.label[person] = static_cast<std::int32_t>(bytes.take<std::uint8_t>() % bare.labels);
  }
  const auto after = dependence_scores(bare, {forest.features, forest.label}, shares, total);
  require(before.size() == feature_pairs(bare.sizes.size()).size());
  for (std::size_t pair = 0; pair < before.size(); ++pair)
    require(std::abs(before[pair] - after[pair]) <= most);
}

} // namespace confide
