#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace confide::spr {

// A function of one number, evaluated on n numbers at once: an R closure costs one call a batch.
using BatchFunction = std::function<void(const double *x, double *fx, std::size_t n)>;
BatchFunction one_by_one(std::function<double(double)> f);

enum class DivergenceKind {
  kl,           // sum M0 log(M0 / M1)
  reverse_kl,   // sum M1 log(M1 / M0)
  tv,           // sum |M0 - M1| / 2
  chi2,         // sum (M0 - M1)^2 / M1
  hellinger2,   // sum (sqrt M0 - sqrt M1)^2, between 0 and 2
  js,           // [kl(M0, M) + kl(M1, M)] / 2, M the even mixture, natural logarithm
  hockey_stick, // sum max(M0 - gamma M1, 0) - max(1 - gamma, 0)
  renyi,        // log(sum M0^alpha M1^(1 - alpha)) / (alpha - 1); kl at 1, max log(M0 / M1) at Inf
  lr_distance,  // (sum |M0 - M1|^r)^(1/r), r >= 1, r = Inf the largest |M0 - M1|
  chernoff,     // max over t of -log sum M0^t M1^(1 - t)
  user          // sum M1 f(M0 / M1), f convex, f(1) = 0
};

struct Divergence {
  DivergenceKind kind = DivergenceKind::kl;
  double parameter = 0; // gamma, alpha or r
  BatchFunction function = {};
};

// Throws std::invalid_argument for an unknown name or a parameter outside its range.
Divergence named_divergence(const std::string &name, double parameter = 0);
Divergence user_divergence(BatchFunction f);

// Whether the divergence is a monotone function of one f-divergence, so that a partition's value is
// a ratio of sums over its blocks. The others are the l_r distance, Renyi's of order Inf,
// Chernoff's.
bool is_f_divergence(const Divergence &divergence);

// Divergence of two explicit distributions, Inf where it is infinite; `t` receives Chernoff's
// maximiser when it is asked for.
double divergence_between(const Divergence &divergence, const std::vector<double> &m0,
                          const std::vector<double> &m1, double *t = nullptr);

// Throws std::invalid_argument unless f is finite at the ratios, convex along them (up to rounding)
// and zero at 1. `ratios` are positive, in any order.
void require_convex(const BatchFunction &f, std::vector<double> ratios);

// g(p, q) = (1 + c q) f((1 + c p) / (1 + c q)), c = e^epsilon - 1 (Ghazi 2026). A multiple of x - 1
// is added to f so that f'(1) = 0: that leaves the divergence alone and makes every g non-negative,
// so tiny epsilons lose no digits to cancellation.
struct Perspective {
  Divergence divergence;
  double c = 0;
  bool scaled = false; // Renyi of very large order: ratios are divided by e^log_scale
  double log_scale = 0;
};

// `largest_log_ratio` is the largest log((1 + c p) / (1 + c q)) of any block.
Perspective perspective_of(const Divergence &divergence, double c, double largest_log_ratio);
void evaluate(const Perspective &perspective, const double *p, const double *q, double *g,
              std::size_t n);
// The divergence from the mean (sum of g) / (c + s).
double reported(const Perspective &perspective, double mean);

} // namespace confide::spr
