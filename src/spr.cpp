#include "spr.h"
#include "spr_certified.h"
#include "spr_chernoff.h"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace confide::spr {
namespace {

constexpr std::size_t largest_direct = 2000;

struct Reports {
  std::vector<double> m0, m1;
};

Reports reports_of(const Alphabet &alphabet, const std::vector<std::size_t> &starts, double c) {
  const BlockMasses masses = block_masses(alphabet, starts);
  return {report_distribution(masses.p, c), report_distribution(masses.q, c)};
}

Bracket solve_alphabet(const Alphabet &alphabet, const Divergence &divergence, double c,
                       const std::vector<std::size_t> &starts, const Options &options,
                       Pacer &pacer) {
  const bool small = alphabet.size() <= largest_direct || has_closed_form(divergence);
  const bool direct =
      options.method == Method::direct || (options.method == Method::automatic && small);
  if (!direct)
    return bracket_optimum(alphabet, divergence, c, {options.max_outputs, options.tolerance},
                           pacer);
  const Optimum best = optimum_on(alphabet, divergence, c, options.max_outputs, starts, pacer);
  Bracket bracket;
  bracket.starts = best.starts;
  bracket.lower = bracket.upper = best.value;
  return bracket;
}

struct Solved {
  Bracket bracket;
  double t = std::numeric_limits<double>::quiet_NaN();
};

// max over channels of max over t is max over t of max over channels, and for one t the exponent
// is (1 - t) times Renyi's divergence of order t.
Solved solve_chernoff(const Alphabet &alphabet, double c, const Options &options, Pacer &pacer) {
  Options inner = options;
  inner.tolerance = 0.25 * options.tolerance;
  std::vector<std::vector<std::size_t>> channels{{0}};
  const ExponentSolver solve = [&](double t) {
    Bracket bracket =
        solve_alphabet(alphabet, {DivergenceKind::renyi, t, {}}, c, channels.back(), inner, pacer);
    Reports reports = reports_of(alphabet, bracket.starts, c);
    channels.push_back(bracket.starts);
    return ExponentBracket{(1 - t) * bracket.lower, (1 - t) * bracket.upper, std::move(reports.m0),
                           std::move(reports.m1)};
  };
  const ChernoffOptimum best =
      chernoff_search(solve, log_ratio_span(alphabet, c), options.tolerance);
  Solved solved;
  solved.bracket.starts = channels[best.best_solve + 1];
  solved.bracket.lower = best.lower;
  solved.bracket.upper = best.upper;
  solved.t = best.t;
  return solved;
}

// The block whose report says least about the hypotheses takes the symbols that neither can give.
std::uint32_t least_telling(const Reports &reports) {
  std::uint32_t least = 0;
  const auto size = [&](std::size_t j) {
    return std::fabs(std::log(reports.m0[j] / reports.m1[j]));
  };
  for (std::uint32_t j = 1; j < reports.m0.size(); ++j)
    if (size(j) < size(least))
      least = j;
  return least;
}

void check_options(const Options &options) {
  if (!(options.epsilon >= 0) || std::isinf(options.epsilon))
    throw std::invalid_argument("epsilon must be finite and at least 0");
  if (options.max_outputs < 1)
    throw std::invalid_argument("at least one output is needed");
  if (!(options.tolerance >= 0))
    throw std::invalid_argument("the tolerance must be at least 0");
}

} // namespace

double served_epsilon(double epsilon) { return std::min(epsilon, 44.0); }

std::vector<double> report_distribution(const std::vector<double> &masses, double c) {
  std::vector<double> reports;
  for (const double mass : masses)
    reports.push_back((1 + c * mass) / (c + static_cast<double>(masses.size())));
  return reports;
}

Result solve(const std::vector<double> &p0, const std::vector<double> &p1, const Options &options) {
  check_options(options);
  Result result;
  result.epsilon = served_epsilon(options.epsilon);
  const double c = std::expm1(result.epsilon);
  SortedAlphabet sorted = sort_alphabet(p0, p1);
  Pacer pacer{options.interrupt};

  const bool chernoff = options.divergence.kind == DivergenceKind::chernoff;
  const Solved solved =
      chernoff
          ? solve_chernoff(sorted.alphabet, c, options, pacer)
          : Solved{solve_alphabet(sorted.alphabet, options.divergence, c, {0}, options, pacer)};

  Reports reports = reports_of(sorted.alphabet, solved.bracket.starts, c);
  const auto block_of_group = block_of_symbols(sorted.alphabet.size(), solved.bracket.starts);
  const std::uint32_t massless_block = least_telling(reports);
  result.block.reserve(p0.size());
  for (const std::uint32_t group : sorted.group)
    result.block.push_back(group == SortedAlphabet::no_group
                               ? massless_block
                               : static_cast<std::uint32_t>(block_of_group[group]));
  result.starts = solved.bracket.starts;
  result.order = std::move(sorted.order);
  result.merged = sorted.alphabet.size();
  result.outputs = result.starts.size();
  result.value = result.lower = solved.bracket.lower;
  result.upper = solved.bracket.upper;
  result.m0 = std::move(reports.m0);
  result.m1 = std::move(reports.m1);
  result.t = solved.t;
  return result;
}

} // namespace confide::spr
