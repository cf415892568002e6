#include "block_sampler.h"
#include "block_sums.h"
#include "likelihood.h"
#include "rcpp_random.h"
#include <RcppEigen.h>

namespace {

confide::Labels as_labels(const Rcpp::IntegerVector &numbers) {
  return confide::Labels(numbers.begin(), numbers.end());
}

Rcpp::IntegerVector as_numbers(const confide::Labels &labels) {
  return Rcpp::IntegerVector(labels.begin(), labels.end());
}

confide::Incidence make_incidence(const Rcpp::List &design) {
  const std::string layout = design["layout"];
  const Rcpp::IntegerVector base = design["base"];
  if (layout == "group")
    return confide::make_group_design(
        {as_labels(design["radices"]), Rcpp::as<std::size_t>(design["blocks"]), as_labels(base)});
  if (layout == "hadamard")
    return confide::make_hadamard_design(Rcpp::as<std::size_t>(design["doubled"]),
                                         Rcpp::as<std::uint32_t>(design["core"]));
  const auto points = Rcpp::as<std::size_t>(design["points"]);
  return confide::ListedDesign{points, Rcpp::as<std::size_t>(design["outputs"]),
                               static_cast<std::size_t>(base.size()) / points, as_labels(base)};
}

// `kept` is empty for the first points.
confide::BlockDesign make_design(const Rcpp::List &design) {
  return {make_incidence(design), as_labels(design["kept"]), Rcpp::as<bool>(design["excluded"]),
          static_cast<std::uint64_t>(Rcpp::as<double>(design["b"])),
          static_cast<std::uint64_t>(Rcpp::as<double>(design["r"]))};
}

confide::BlockWeights<> make_weights(double epsilon, double r, double b) {
  return confide::block_weights(epsilon, static_cast<std::uint64_t>(r),
                                static_cast<std::uint64_t>(b));
}

std::uint32_t symbol(int code) { return static_cast<std::uint32_t>(code - 1); }

// What of a design is used: sums for the kept points (symbols), over the outputs that are reported.
class UsedDesign {
public:
  UsedDesign(const Rcpp::List &design, double symbols)
      : UsedDesign(make_design(design), static_cast<Eigen::Index>(symbols)) {}

  Eigen::Index symbols() const { return symbols_; }

  Eigen::MatrixXd over_outputs(const Eigen::Ref<const Eigen::MatrixXd> &counts,
                               Eigen::Index whole) const {
    if (counts.rows() == outputs_)
      return kept(sums_.over_outputs(counts, whole));
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(outputs_, counts.cols());
    all.bottomRows(counts.rows()) = counts;
    return kept(sums_.over_outputs(all, whole));
  }

  Eigen::VectorXd over_symbols(const Eigen::Ref<const Eigen::VectorXd> &values, bool whole) const {
    Eigen::VectorXd all = Eigen::VectorXd::Zero(points_);
    for (Eigen::Index i = 0; i < symbols_; ++i)
      all[point(i)] = values[i];
    return sums_.over_points(all, whole).tail(reported_);
  }

private:
  UsedDesign(confide::BlockDesign design, Eigen::Index symbols)
      : symbols_(symbols),
        points_(static_cast<Eigen::Index>(confide::point_count(design.incidence))),
        outputs_(static_cast<Eigen::Index>(confide::output_count(design.incidence))),
        reported_(static_cast<Eigen::Index>(design.outputs)), kept_(std::move(design.kept)),
        sums_(std::move(design.incidence)) {}

  Eigen::Index point(Eigen::Index symbol) const {
    return kept_.empty() ? symbol
                         : static_cast<Eigen::Index>(kept_[static_cast<std::size_t>(symbol)]);
  }

  Eigen::MatrixXd kept(const Eigen::MatrixXd &sums) const {
    if (kept_.empty())
      return sums.topRows(symbols_);
    Eigen::MatrixXd rows(symbols_, sums.cols());
    for (Eigen::Index i = 0; i < symbols_; ++i)
      rows.row(i) = sums.row(point(i));
    return rows;
  }

  Eigen::Index symbols_, points_, outputs_, reported_;
  confide::Labels kept_;
  confide::BlockSums sums_;
};

confide::DifferenceFamily make_family(const std::string &kind, const confide::Labels &a) {
  if (kind == "randomized response")
    return confide::identity_family(a[0]);
  if (kind == "PG")
    return confide::singer_family(a[1], a[0]);
  if (kind == "Paley")
    return confide::power_residues(a[0], 2, false);
  if (kind == "quartic" || kind == "quartic0")
    return confide::power_residues(a[0], 4, kind == "quartic0");
  if (kind == "octic" || kind == "octic0")
    return confide::power_residues(a[0], 8, kind == "octic0");
  if (kind == "bent")
    return confide::bent_family(a[1]);
  if (kind == "twin primes")
    return confide::twin_family(a[1]);
  if (kind == "McFarland")
    return confide::mcfarland_family(a[0], a[1]);
  if (kind == "Spence")
    return confide::spence_family(a[0]);
  return confide::cyclotomic_family(a[0], a[1], a[2]);
}

} // namespace

// The arguments of a family are those of its name, checked in R.
// [[Rcpp::export(rng = false)]]
Rcpp::List block_family(const std::string &kind, const Rcpp::IntegerVector &arguments) {
  const confide::DifferenceFamily family = make_family(kind, as_labels(arguments));
  return Rcpp::List::create(Rcpp::Named("layout") = "group",
                            Rcpp::Named("radices") = as_numbers(family.radices),
                            Rcpp::Named("blocks") = static_cast<double>(family.blocks),
                            Rcpp::Named("base") = as_numbers(family.base));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector block_triples(double v, double lambda) {
  return as_numbers(
      confide::triple_system(static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(lambda)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector block_kept(const Rcpp::List &design, bool having) {
  return as_numbers(confide::points_by_first_output(make_incidence(design), having));
}

// Codes are 1-based and checked in R; so are reports.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector block_privatize(const Rcpp::IntegerVector &codes, const Rcpp::List &design,
                                    double epsilon, const std::string &rng) {
  const confide::BlockDesign block = make_design(design);
  const auto weights =
      make_weights(epsilon, static_cast<double>(block.inside), static_cast<double>(block.outputs));
  const auto random = make_source(rng);
  const int first = block.excluded ? 0 : 1;
  Rcpp::IntegerVector reports = Rcpp::no_init(codes.size());
  const int *truth = codes.begin();
  int *reported = reports.begin();
  for_each_interruptible(codes.size(), [&](R_xlen_t i) {
    reported[i] =
        first + static_cast<int>(confide::report(block, symbol(truth[i]), weights, *random));
  });
  return reports;
}

// A row of k ascending elements for each code.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix block_privatize_subset(const Rcpp::IntegerVector &codes, double v, double k,
                                           double epsilon, const std::string &rng) {
  const auto weights = make_weights(epsilon, k, v);
  const auto random = make_source(rng);
  confide::SubsetSampler sampler(static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(k));
  Rcpp::IntegerMatrix reports = Rcpp::no_init(codes.size(), static_cast<int>(k));
  const int *truth = codes.begin();
  int *reported = reports.begin();
  std::vector<std::uint32_t> subset;
  for_each_interruptible(codes.size(), [&](R_xlen_t i) {
    sampler.report(symbol(truth[i]), weights, *random, subset);
    for (std::size_t j = 0; j < subset.size(); ++j)
      reported[i + static_cast<R_xlen_t>(j) * codes.size()] = 1 + static_cast<int>(subset[j]);
  });
  return reports;
}

// Two columns: the public seed, drawn before the code is looked at, and the report.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix block_privatize_shared(const Rcpp::IntegerVector &codes, double v, double k,
                                           double epsilon, const std::string &rng) {
  const auto weights = make_weights(epsilon, k, v);
  const auto size = static_cast<std::uint32_t>(v);
  const auto random = make_source(rng);
  confide::SharedSets sets(size, static_cast<std::uint32_t>(k));
  Rcpp::IntegerMatrix reports = Rcpp::no_init(codes.size(), 2);
  const int *truth = codes.begin();
  int *reported = reports.begin();
  for_each_interruptible(codes.size(), [&](R_xlen_t i) {
    const auto seed = static_cast<std::uint32_t>(random->below(std::uint64_t{1} << 31));
    const confide::BlockChoice choice = confide::choose(weights, *random);
    const std::uint64_t report =
        choice.member
            ? (symbol(truth[i]) + std::uint64_t{size} - sets.set(seed)[choice.number]) % size
            : choice.number;
    reported[i] = static_cast<int>(seed);
    reported[i + codes.size()] = 1 + static_cast<int>(report);
  });
  return reports;
}

// How much weight the sets that have each symbol carry.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd block_count_shared(const Rcpp::IntegerMatrix &reports,
                                   const Rcpp::NumericVector &weights, double v, double k) {
  const auto size = static_cast<std::uint32_t>(v);
  confide::SharedSets sets(size, static_cast<std::uint32_t>(k));
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size));
  const int *seed = reports.begin(), *reported = seed + reports.nrow();
  for_each_interruptible(reports.nrow(), [&](R_xlen_t i) {
    for (const std::uint32_t element : sets.set(static_cast<std::uint32_t>(seed[i])))
      sums[static_cast<Eigen::Index>((element + std::uint64_t{symbol(reported[i])}) % size)] +=
          weights[i];
  });
  return sums;
}

// The sets of these reports, as logical rows.
// [[Rcpp::export(rng = false)]]
Rcpp::LogicalMatrix block_rows_shared(const Rcpp::IntegerMatrix &reports, double v, double k) {
  const auto size = static_cast<std::uint32_t>(v);
  confide::SharedSets sets(size, static_cast<std::uint32_t>(k));
  Rcpp::LogicalMatrix rows(reports.nrow(), static_cast<int>(size));
  for (int i = 0; i < reports.nrow(); ++i)
    for (const std::uint32_t element : sets.set(static_cast<std::uint32_t>(reports(i, 0))))
      rows(i, static_cast<int>((element + std::uint64_t{symbol(reports(i, 1))}) % size)) = true;
  return rows;
}

// Whether each symbol has each of these outputs (numbered from 1): one row for each output.
// [[Rcpp::export(rng = false)]]
Rcpp::LogicalMatrix block_rows(const Rcpp::List &design, const Rcpp::IntegerVector &outputs,
                               double symbols) {
  const confide::BlockDesign block = make_design(design);
  const int columns = static_cast<int>(symbols);
  std::vector<int> column(confide::point_count(block.incidence), -1);
  for (int i = 0; i < columns; ++i)
    column[block.point(static_cast<std::uint32_t>(i))] = i;
  Rcpp::LogicalMatrix rows(static_cast<int>(outputs.size()), columns);
  for (int i = 0; i < rows.nrow(); ++i) {
    const auto output = static_cast<std::uint32_t>(outputs[i] - (block.excluded ? 0 : 1));
    for (const std::uint32_t point : confide::points_of(block.incidence, output))
      if (column[point] >= 0)
        rows(i, column[point]) = true;
  }
  return rows;
}

// The design with its tables for the sums below; lives in the session only.
// [[Rcpp::export(rng = false)]]
SEXP block_used(const Rcpp::List &design, double symbols) {
  return Rcpp::XPtr<UsedDesign>(new UsedDesign(design, symbols));
}

// T_x for the symbols from columns of numbers for the outputs, the first `whole` of them integers;
// and back.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd block_sums(SEXP used, const Eigen::Map<Eigen::MatrixXd> counts, double whole) {
  return Rcpp::XPtr<UsedDesign>(used)->over_outputs(counts, static_cast<Eigen::Index>(whole));
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd block_sizes(SEXP used, const Eigen::Map<Eigen::VectorXd> values, bool whole) {
  return Rcpp::XPtr<UsedDesign>(used)->over_symbols(values, whole);
}

// What the integers realise, as parts of all words: of an output outside I_x, and how much more an
// output inside has.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector block_realised(double epsilon, double r, double b) {
  const auto w = make_weights(epsilon, r, b);
  const auto total = static_cast<long double>(w.total());
  const long double excess = static_cast<long double>(w.surplus()) / w.outside;
  const double certified = confide::certified_epsilon(w.inside, w.outside);
  return Rcpp::NumericVector::create(
      Rcpp::Named("outside") = static_cast<double>(w.outside / total),
      Rcpp::Named("surplus") = static_cast<double>(w.surplus() / total),
      Rcpp::Named("certified_epsilon") = certified,
      Rcpp::Named("worst_log_ratio") = std::min(static_cast<double>(std::log1p(excess)), certified),
      Rcpp::Named("keeps") = confide::keeps_ratio(w.inside, w.outside, epsilon) ? 1.0 : 0.0);
}

// The integer weights as decimal text, for exact audits outside C++.
// [[Rcpp::export(rng = false)]]
Rcpp::CharacterVector block_weight_text(double epsilon, double r, double b) {
  const auto w = make_weights(epsilon, r, b);
  return Rcpp::CharacterVector::create(Rcpp::Named("inside") = std::to_string(w.inside),
                                       Rcpp::Named("outside") = std::to_string(w.outside),
                                       Rcpp::Named("total") = std::to_string(w.total()));
}

// reported: shares of the outputs, summing to 1.
// [[Rcpp::export(rng = false)]]
Rcpp::List block_maximum_likelihood(const Eigen::Map<Eigen::VectorXd> reported, SEXP design,
                                    double outside, double surplus, const Rcpp::List &control) {
  const UsedDesign &used = *Rcpp::XPtr<UsedDesign>(design);
  const confide::ChannelMaps channel{
      [&](const Eigen::VectorXd &shares) -> Eigen::VectorXd {
        return (outside * shares.sum() + surplus * used.over_symbols(shares, false).array())
            .matrix();
      },
      [&](const Eigen::VectorXd &ratios) -> Eigen::VectorXd {
        return (outside * ratios.sum() + surplus * used.over_outputs(ratios, 0).col(0).array())
            .matrix();
      }};
  const confide::EmControl limits{
      static_cast<std::size_t>(Rcpp::as<double>(control["max_evaluations"])),
      Rcpp::as<double>(control["tolerance"])};
  const confide::EmResult em = confide::maximum_likelihood(
      reported, used.symbols(), channel, limits, [] { Rcpp::checkUserInterrupt(); });
  return Rcpp::List::create(Rcpp::Named("shares") = em.shares,
                            Rcpp::Named("log_likelihood") = em.log_likelihood,
                            Rcpp::Named("optimality_gap") = em.optimality_gap,
                            Rcpp::Named("evaluations") = static_cast<double>(em.evaluations),
                            Rcpp::Named("converged") = em.converged);
}
