#pragma once
#include "noise.h"
#include "random.h"
#include "sum_plan.h"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace confide {

// The exponential mechanism on integer scores: candidate j with probability proportional to
// e^(epsilon score_j / (2 sensitivity)), exactly (McSherry and Talwar 2007). It has epsilon-bounded
// range, hence is epsilon-DP and epsilon^2 / 8-zCDP (Cesar and Rogers 2021, arXiv 2004.07223,
// Lemma 3.2).
struct SelectionLaw {
  Rational rate;   // epsilon / (2 sensitivity)
  double realised; // epsilon, never above the one asked for
};

// `sensitivity` is how far a neighbour moves any score, at least 1 and at most 2^20. The rate is
// rounded down to a multiple of 2^-40 / (2 sensitivity). Throws PlanRefused for an epsilon below
// 2^-40 or above 2^20.
SelectionLaw selection_law(double epsilon, std::uint64_t sensitivity);

// One trial: a candidate at random is kept with probability e^(rate (score - best)). Requires
// scores within +-2^61, so that the products below stay under 2^123.
template <class Source>
std::optional<std::size_t> selection_trial(const std::vector<std::int64_t> &scores,
                                           std::int64_t best, const Rational &rate,
                                           Source &random) {
  const auto j = static_cast<std::size_t>(random.below(scores.size()));
  const auto gap = static_cast<u128>(best - scores[j]);
  if (!bernoulli_exp(gap * rate.numerator, rate.denominator, random))
    return std::nullopt;
  return j;
}

// The best candidate is always kept, so that as many trials as candidates are expected at most.
// Requires at least one candidate.
std::size_t select(const std::vector<std::int64_t> &scores, const SelectionLaw &law,
                   RandomSource &random);

} // namespace confide
