#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace confide::spr {

// A channel for one t: bounds of h(t), the best exponent -log sum M0^t M1^(1-t) of any private
// channel, and the outputs' distributions of a channel that attains `lower`.
struct ExponentBracket {
  double lower = 0, upper = 0;
  std::vector<double> m0, m1;
};
using ExponentSolver = std::function<ExponentBracket(double t)>;

struct ChernoffOptimum {
  double lower = 0, upper = 0; // the largest h lies between them
  double t = 0.5;
  std::size_t best_solve = 0, solves = 0; // which call of the solver gave the channel
};

// max over t of h, to a relative gap of `tolerance` (at least 1e-12). `span` is the length of an
// interval that holds log M0/M1 for every private channel. One solve for each t tried.
ChernoffOptimum chernoff_search(const ExponentSolver &solve, double span, double tolerance);

} // namespace confide::spr
