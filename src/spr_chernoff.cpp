#include "spr_chernoff.h"
#include "spr_divergence.h"
#include <algorithm>
#include <cmath>

namespace confide::spr {
namespace {

struct Knot {
  double t, upper; // h(t) <= upper
};

struct Peak {
  double t, upper;
};

// Each channel's exponent has second derivative -Var(log M0/M1) >= -span^2 / 4 =: -curvature in t
// (Popoviciu), so h(t) + curvature t^2 / 2 is a maximum of convex functions and lies below its
// chords: h(t) <= chord + curvature (t - a)(b - t) / 2 between knots a and b.
Peak peak_between(const Knot &a, const Knot &b, double curvature) {
  const double width = b.t - a.t, rise = b.upper - a.upper;
  const double x = std::clamp(0.5 + rise / (curvature * width * width), 0.0, 1.0);
  const double chord = a.upper + rise * x + 0.5 * curvature * width * width * x * (1 - x);
  // Each exponent is concave and 0 at both ends, so h lies below the rays from those ends.
  const double from_zero = a.t > 0 ? a.upper / a.t : HUGE_VAL;
  const double from_one = b.t < 1 ? b.upper / (1 - b.t) : HUGE_VAL;
  Peak rays{b.t, from_zero * b.t};
  if (a.t == 0 || from_zero * b.t > from_one * (1 - b.t)) { // else the rays do not cross before b
    rays.t = a.t > 0 ? std::max(a.t, from_one / (from_zero + from_one)) : 0;
    rays.upper = from_one * (1 - rays.t);
  }
  if (rays.upper < chord)
    return {std::clamp(rays.t, a.t + 0.2 * width, b.t - 0.2 * width), rays.upper};
  return {a.t + std::clamp(x, 0.2, 0.8) * width, chord};
}

class Search {
public:
  Search(const ExponentSolver &solve, double span)
      : solve_(solve), curvature_(0.25 * span * span) {}

  void try_at(double t) {
    const ExponentBracket found = solve_(t);
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), t,
                                        [](double x, const Knot &knot) { return x < knot.t; });
    knots_.insert(after, {t, found.upper});
    improve(t, found);
    ++optimum_.solves;
  }

  // The channel's own best t, where trying it is worth it.
  double next_peak() const { return optimum_.t; }
  bool has_knot_near(double t) const {
    return std::any_of(knots_.begin(), knots_.end(),
                       [&](const Knot &knot) { return std::fabs(knot.t - t) < 1e-9; });
  }

  Peak highest() const {
    Peak best{0.5, optimum_.lower};
    for (std::size_t i = 0; i + 1 < knots_.size(); ++i) {
      const Peak peak = peak_between(knots_[i], knots_[i + 1], curvature_);
      if (peak.upper > best.upper)
        best = peak;
    }
    return best;
  }

  ChernoffOptimum optimum() const { return optimum_; }

private:
  const ExponentSolver &solve_;
  double curvature_;
  std::vector<Knot> knots_{{0, 0}, {1, 0}};
  ChernoffOptimum optimum_;

  void improve(double tried, const ExponentBracket &found) {
    double t = 0.5;
    double value = divergence_between({DivergenceKind::chernoff, 0, {}}, found.m0, found.m1, &t);
    if (found.lower >= value) // tiny exponents: the reports have fewer digits than the blocks
      value = found.lower, t = tried;
    if (optimum_.solves > 0 && value <= optimum_.lower)
      return;
    optimum_.lower = value;
    optimum_.t = t;
    optimum_.best_solve = optimum_.solves;
  }
};

} // namespace

ChernoffOptimum chernoff_search(const ExponentSolver &solve, double span, double tolerance) {
  constexpr std::size_t most_solves = 5000;
  const double relative_gap = std::max(tolerance, 1e-12);
  Search search(solve, span);
  search.try_at(0.5);
  for (;;) {
    ChernoffOptimum optimum = search.optimum();
    const Peak peak = search.highest();
    optimum.upper = std::max(optimum.lower, peak.upper);
    const double gap = optimum.upper - optimum.lower;
    if (gap <= relative_gap * optimum.upper || optimum.solves >= most_solves)
      return optimum;
    const bool at_peak = search.has_knot_near(search.next_peak());
    search.try_at(at_peak ? peak.t : search.next_peak());
  }
}

} // namespace confide::spr
