#pragma once
#include "random.h"
#include "sum_plan.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// Which of nested counts N_0 <= N_1 <= ... is the first to reach a target, under differential
// privacy: the sparse vector technique with one-sided noise. Stop at the first k with N_k + G_k >=
// T + Z, where P(Z = z) is proportional to e^(-e1 z), P(G = g) to e^(-e2 g), z, g = 0, 1, 2, ...
//
// For neighbours all counts move by 0 or +1, or all by 0 or -1. Let N' - N be in {0, 1}^K, and S(t)
// = P(G >= t), so that S(t) <= e^e2 S(t + 1). Then for each outcome k
//   P(k) <= e^(e1 + e2) P'(k): compare Z = z under P with z + 1 under P'. z - N_j <= z + 1 - N'_j
//     for j < k; (z + 1) - N'_k is z - N_k or one more: factor e^e2; P(z) = e^e1 P(z + 1).
//   P'(k) <= e^e2 P(k): the same z; fewer j < k stay below, N'_k is N_k or one more.
// So the log-ratio lies in an interval of length e1 + 2 e2, which is (e1 + 2 e2)^2 / 8-zCDP, and
// the release is (e1 + e2)-DP.

enum class Measure { rho, epsilon };

// e1 and e2 = 2 e1 are dyadic numbers of 24 digits, rounded down, so that 25 e1^2 / 8 <= rho, or
// 3 e1 <= epsilon, in exact arithmetic of doubles.
struct CountSearchPlan {
  Rational threshold_scale, query_scale; // 1 / e1, 1 / e2
  std::int64_t threshold;                // ceil(target + 1 / e2 - 1 / e1), public
  double rate;                           // e1
  double realised;
};

// Throws PlanRefused for a budget outside [2^-36, 2^40] or a target beyond 2^52.
CountSearchPlan count_search_plan(double budget, Measure measure, double target);

// The first k with counts[k] + query noise >= threshold + threshold noise, counts.size() when there
// is none. Each noise call gives a fresh integer, at least 0 and at most 2^62.
std::size_t first_above(const std::vector<std::int64_t> &counts, std::int64_t threshold,
                        const std::function<std::uint64_t()> &threshold_noise,
                        const std::function<std::uint64_t()> &query_noise);

std::size_t search_counts(const std::vector<std::int64_t> &counts, const CountSearchPlan &plan,
                          RandomSource &random);

// Whether the counts can be those of neighbours: all move by 0 or 1, in one direction.
bool one_sided(const std::vector<std::int64_t> &counts, const std::vector<std::int64_t> &other);

} // namespace confide
