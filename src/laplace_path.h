#pragma once
#include "noise.h"
#include "sum_plan.h"
#include <cstdint>
#include <vector>

namespace confide {

// Laplace noise that shrinks step by step (Koufogiannis, Han and Pappas 2016; Ligett et al. 2017)
// in its discrete form, exact on whole numbers: level k has discrete Laplace noise of scale b_k,
// and level k is level k + 1 plus independent noise. So all levels up to k reveal no more than
// level k.

// Scales b_1 > b_2 > ... of one denominator, widest first. Numerators are at most 2^40 and
// denominators at most 2^20, so that the products below stay within 2^119.
struct LaplaceLadder {
  std::vector<std::uint64_t> numerators;
  std::uint64_t denominator;
};

// The least scales on the common grid with l1 <= epsilon_k * b_k, for increasing epsilons. Throws
// PlanRefused when two of them cannot be told apart or leave the range.
LaplaceLadder laplace_ladder(std::uint64_t l1, const std::vector<double> &epsilons);

// What takes a geometric number of the narrow scale to one of the wide scale: 0 with probability v
// = (e^(1/wide) - 1) / (e^(1/narrow) - 1), otherwise geometric of the wide scale. Since v is the
// mean of e^(-(1/narrow - 1/wide) (J + 1)) over a geometric J of the wide scale, no other law is
// needed.
template <class Source>
std::uint64_t widening(std::uint64_t wide, std::uint64_t narrow, std::uint64_t denominator,
                       Source &random) {
  const Rational scale{wide, denominator};
  const u128 trials = static_cast<u128>(scaled_geometric(scale, random)) + 1;
  const u128 exponent = trials * denominator * (wide - narrow);
  const bool stays = bernoulli_exp(exponent, static_cast<u128>(wide) * narrow, random);
  return stays ? 0 : scaled_geometric(scale, random);
}

// Noise of every level, widest first. A discrete Laplace number is the difference of two geometric
// ones, so both of them widen.
template <class Source>
std::vector<std::int64_t> laplace_noise_path(const LaplaceLadder &ladder, Source &random) {
  const auto levels = ladder.numerators.size();
  std::vector<std::int64_t> noise(levels);
  noise.back() = discrete_laplace(Rational{ladder.numerators.back(), ladder.denominator}, random);
  for (std::size_t k = levels - 1; k-- > 0;) {
    const std::uint64_t wide = ladder.numerators[k], narrow = ladder.numerators[k + 1];
    const auto up = static_cast<std::int64_t>(widening(wide, narrow, ladder.denominator, random));
    const auto down = static_cast<std::int64_t>(widening(wide, narrow, ladder.denominator, random));
    noise[k] = noise[k + 1] + up - down;
  }
  return noise;
}

} // namespace confide
