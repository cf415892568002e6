#include "spr_divergence.h"
#include "spr_terms.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace confide::spr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct NamedKind {
  const char *name;
  DivergenceKind kind;
};
constexpr NamedKind named_kinds[] = {
    {"kl", DivergenceKind::kl},
    {"reverse_kl", DivergenceKind::reverse_kl},
    {"tv", DivergenceKind::tv},
    {"chi2", DivergenceKind::chi2},
    {"hellinger2", DivergenceKind::hellinger2},
    {"js", DivergenceKind::js},
    {"hockey_stick", DivergenceKind::hockey_stick},
    {"renyi", DivergenceKind::renyi},
    {"lr_distance", DivergenceKind::lr_distance},
    {"chernoff", DivergenceKind::chernoff},
};

bool parameter_in_range(DivergenceKind kind, double parameter) {
  switch (kind) {
  case DivergenceKind::hockey_stick:
    return parameter >= 0 && std::isfinite(parameter);
  case DivergenceKind::renyi:
    return parameter > 0;
  case DivergenceKind::lr_distance:
    return parameter >= 1;
  default:
    return true;
  }
}

// Calls visit(term) with the term function of an f-divergence that is not the user's.
template <class Visit> void with_term(const Divergence &divergence, Visit visit) {
  switch (divergence.kind) {
  case DivergenceKind::kl:
    return visit(terms::Kl{});
  case DivergenceKind::reverse_kl:
    return visit(terms::ReverseKl{});
  case DivergenceKind::tv:
    return visit(terms::Tv{});
  case DivergenceKind::chi2:
    return visit(terms::Chi2{});
  case DivergenceKind::hellinger2:
    return visit(terms::Hellinger2{});
  case DivergenceKind::js:
    return visit(terms::Js{});
  case DivergenceKind::hockey_stick:
    return visit(terms::HockeyStick{divergence.parameter});
  case DivergenceKind::renyi:
    if (divergence.parameter == 1)
      return visit(terms::Kl{});
    return visit(terms::Renyi(divergence.parameter));
  default:
    throw std::invalid_argument("this divergence has no term of its own");
  }
}

double renyi_from_mean(double alpha, double mean) {
  return alpha == 1 ? mean : std::log1p((alpha - 1) * mean) / (alpha - 1);
}

double largest_log_ratio(const std::vector<double> &m0, const std::vector<double> &m1) {
  double largest = -infinity;
  for (std::size_t i = 0; i < m0.size(); ++i)
    if (m0[i] > 0)
      largest = std::max(largest, std::log(m0[i] / m1[i]));
  return largest;
}

double renyi_of_large_order(double alpha, const std::vector<double> &m0,
                            const std::vector<double> &m1) {
  const double scale = largest_log_ratio(m0, m1);
  if (scale == infinity)
    return infinity;
  double sum = 0;
  for (std::size_t i = 0; i < m0.size(); ++i)
    if (m0[i] > 0)
      sum += m0[i] * std::exp((alpha - 1) * (std::log(m0[i] / m1[i]) - scale));
  return scale + std::log(sum) / (alpha - 1);
}

double distance_of_order(double r, const std::vector<double> &m0, const std::vector<double> &m1) {
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < m0.size(); ++i)
    largest = std::max(largest, std::fabs(m0[i] - m1[i]));
  if (largest == 0 || std::isinf(r))
    return largest;
  for (std::size_t i = 0; i < m0.size(); ++i)
    sum += std::pow(std::fabs(m0[i] - m1[i]) / largest, r);
  return largest * std::pow(sum, 1 / r);
}

double user_between(const BatchFunction &f, const std::vector<double> &m0,
                    const std::vector<double> &m1) {
  // p f(x) / x at a huge x stands for the limit where m1 is 0.
  constexpr double huge = 0x1p500;
  double sum = 0;
  for (std::size_t i = 0; i < m0.size(); ++i) {
    if (m0[i] == 0 && m1[i] == 0)
      continue;
    const double x = m1[i] > 0 ? m0[i] / m1[i] : huge;
    double fx;
    f(&x, &fx, 1);
    sum += m1[i] > 0 ? m1[i] * fx : m0[i] * (fx / huge);
  }
  return sum;
}

double f_divergence_mean(const Divergence &divergence, const std::vector<double> &m0,
                         const std::vector<double> &m1) {
  double sum = 0;
  with_term(divergence, [&](const auto &term) {
    for (std::size_t i = 0; i < m0.size(); ++i)
      if (m0[i] > 0 || m1[i] > 0)
        sum += term(m0[i], m1[i], m0[i] - m1[i]);
  });
  return sum;
}

double exponent_at(double t, const std::vector<double> &m0, const std::vector<double> &m1) {
  if (t <= 0 || t >= 1) {
    double mass = 0; // of the other's support
    for (std::size_t i = 0; i < m0.size(); ++i)
      if (m0[i] > 0 && m1[i] > 0)
        mass += t <= 0 ? m1[i] : m0[i];
    return std::max(0.0, -std::log(mass));
  }
  const double mean = f_divergence_mean({DivergenceKind::renyi, t, {}}, m0, m1);
  return -std::log1p(-std::min(1.0, (1 - t) * mean));
}

double slope_at(double t, const std::vector<double> &m0, const std::vector<double> &m1) {
  double slope = 0;
  for (std::size_t i = 0; i < m0.size(); ++i)
    if (m0[i] > 0 && m1[i] > 0) {
      const double log_ratio = std::log(m0[i] / m1[i]);
      slope -= m1[i] * std::exp(t * log_ratio) * log_ratio;
    }
  return slope;
}

// The exponent is concave in t, so its slope is bisected.
double chernoff_between(const std::vector<double> &m0, const std::vector<double> &m1, double *t) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (slope_at(middle, m0, m1) > 0 ? low : high) = middle;
  }
  // Where supports differ, the best t may be an end, which bisection only nears.
  double best_t = 0.5 * (low + high), best = exponent_at(best_t, m0, m1);
  for (const double end : {0.0, 1.0}) {
    const double value = exponent_at(end, m0, m1);
    if (value >= best)
      best_t = end, best = value;
  }
  if (t != nullptr)
    *t = best_t;
  return best;
}

void evaluate_user(const Perspective &perspective, const double *p, const double *q, double *g,
                   std::size_t n) {
  std::vector<double> ratios(n);
  for (std::size_t i = 0; i < n; ++i)
    ratios[i] = (1 + perspective.c * p[i]) / (1 + perspective.c * q[i]);
  perspective.divergence.function(ratios.data(), g, n);
  for (std::size_t i = 0; i < n; ++i) {
    g[i] *= 1 + perspective.c * q[i];
    if (!std::isfinite(g[i]))
      throw std::invalid_argument("the convex function must be finite on (0, Inf)");
  }
}

} // namespace

BatchFunction one_by_one(std::function<double(double)> f) {
  return [f = std::move(f)](const double *x, double *fx, std::size_t n) {
    std::transform(x, x + n, fx, f);
  };
}

Divergence named_divergence(const std::string &name, double parameter) {
  const auto *const found =
      std::find_if(std::begin(named_kinds), std::end(named_kinds),
                   [&](const NamedKind &candidate) { return name == candidate.name; });
  if (found == std::end(named_kinds))
    throw std::invalid_argument("unknown divergence: " + name);
  if (!parameter_in_range(found->kind, parameter))
    throw std::invalid_argument("the parameter of " + name + " is out of range");
  return {found->kind, parameter, {}};
}

Divergence user_divergence(BatchFunction f) { return {DivergenceKind::user, 0, std::move(f)}; }

bool is_f_divergence(const Divergence &divergence) {
  if (divergence.kind == DivergenceKind::renyi)
    return std::isfinite(divergence.parameter);
  return divergence.kind != DivergenceKind::lr_distance &&
         divergence.kind != DivergenceKind::chernoff;
}

double divergence_between(const Divergence &divergence, const std::vector<double> &m0,
                          const std::vector<double> &m1, double *t) {
  switch (divergence.kind) {
  case DivergenceKind::user:
    return user_between(divergence.function, m0, m1);
  case DivergenceKind::lr_distance:
    return distance_of_order(divergence.parameter, m0, m1);
  case DivergenceKind::chernoff:
    return chernoff_between(m0, m1, t);
  case DivergenceKind::renyi:
    if (std::isinf(divergence.parameter))
      return largest_log_ratio(m0, m1);
    if (divergence.parameter > 2)
      return renyi_of_large_order(divergence.parameter, m0, m1);
    return renyi_from_mean(divergence.parameter, f_divergence_mean(divergence, m0, m1));
  default:
    return f_divergence_mean(divergence, m0, m1);
  }
}

void require_convex(const BatchFunction &f, std::vector<double> ratios) {
  const auto fail = [](const char *why) { throw std::invalid_argument(why); };
  ratios.push_back(1);
  std::sort(ratios.begin(), ratios.end());
  ratios.erase(std::unique(ratios.begin(), ratios.end()), ratios.end());
  std::vector<double> values(ratios.size());
  f(ratios.data(), values.data(), ratios.size());
  double previous = -infinity;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!std::isfinite(values[i]))
      fail("the convex function must be finite on (0, Inf)");
    if (ratios[i] == 1 && std::fabs(values[i]) > 1e-9)
      fail("the convex function must be 0 at 1");
    if (i == 0)
      continue;
    // Slopes between neighbours must not fall by more than rounding explains.
    const double step = ratios[i] - ratios[i - 1];
    const double noise = 1e-14 * (1 + std::fabs(values[i]) + std::fabs(values[i - 1])) / step;
    const double slope = (values[i] - values[i - 1]) / step;
    if (slope + noise < previous)
      fail("the function is not convex on the likelihood ratios that occur");
    previous = std::max(previous, slope - noise);
  }
}

Perspective perspective_of(const Divergence &divergence, double c, double largest_log_ratio) {
  Perspective perspective{divergence, c, false, 0};
  const bool overflows = divergence.kind == DivergenceKind::renyi &&
                         (divergence.parameter - 1) * largest_log_ratio > 600;
  if (overflows) {
    perspective.scaled = true;
    perspective.log_scale = largest_log_ratio;
  }
  return perspective;
}

void evaluate(const Perspective &perspective, const double *p, const double *q, double *g,
              std::size_t n) {
  if (perspective.divergence.kind == DivergenceKind::user)
    return evaluate_user(perspective, p, q, g, n);
  const double c = perspective.c;
  const auto fill = [=](const auto &term) {
    for (std::size_t i = 0; i < n; ++i)
      g[i] = term(1 + c * p[i], 1 + c * q[i], c * (p[i] - q[i]));
  };
  if (perspective.scaled)
    return fill(terms::ScaledPower{perspective.divergence.parameter - 1, perspective.log_scale});
  with_term(perspective.divergence, fill);
}

double reported(const Perspective &perspective, double mean) {
  if (perspective.divergence.kind != DivergenceKind::renyi)
    return mean;
  if (perspective.scaled)
    return perspective.log_scale + std::log(mean) / (perspective.divergence.parameter - 1);
  return renyi_from_mean(perspective.divergence.parameter, mean);
}

} // namespace confide::spr
