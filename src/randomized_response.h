#pragma once
#include "certified_exp.h"
#include "random.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace confide {

// k-ary randomized response in whole words: of `total` equally likely words, `truthful` report the
// true symbol and `other` report each other symbol. With L the lower bound of e^epsilon and b =
// other,
//   truthful = floor(L b) <= L b <= e^epsilon b, and truthful >= b because L >= 1,
// so every likelihood ratio is truthful / b, b / truthful or 1, and at most e^epsilon, exactly.
// Word is std::uint64_t; a narrower word gives a twin that can be enumerated whole.
template <class Word = std::uint64_t> struct ResponseWeights { Word truthful, other, total; };

// Largest epsilon that is served as such: e^44 is close to 2^64.
template <class Word> constexpr double largest_epsilon() {
  return std::numeric_limits<Word>::digits * 11.0 / 16;
}

// Requires epsilon >= 0, 2 <= k <= 2^31, and e^epsilon + k <= the largest Word (always true of
// 64-bit words).
template <class Word = std::uint64_t>
ResponseWeights<Word> response_weights(double epsilon, std::uint32_t k) {
  // L = mantissa / 2^shift, and shift >= 0 since L < 2^64.
  const ExpBound bound = exp_lower(std::min(epsilon, largest_epsilon<Word>()));
  const auto shift = static_cast<unsigned>(-bound.exponent);
  const u128 largest = std::numeric_limits<Word>::max();
  const u128 denominator = bound.mantissa + (static_cast<u128>(k - 1) << shift);
  const u128 other = (largest << shift) / denominator; // floor(largest / (L + k - 1))
  const u128 truthful = (static_cast<u128>(bound.mantissa) * other) >> shift; // floor(L * other)
  const u128 total = truthful + (k - 1) * other;
  return {static_cast<Word>(truthful), static_cast<Word>(other), static_cast<Word>(total)};
}

// The true symbol owns `truthful - other` words and one of k blocks of `other` words, which all
// symbols own. Words from `total` on are rejected, with the same probability whatever the truth.
template <class Word>
std::uint32_t respond(std::uint32_t truth, const ResponseWeights<Word> &w, RandomSource &random) {
  auto u = static_cast<Word>(random.word());
  while (u >= w.total)
    u = static_cast<Word>(random.word());
  const Word surplus = w.truthful - w.other;
  return u < surplus ? truth : static_cast<std::uint32_t>((u - surplus) / w.other);
}

template <class Word> double truth_probability(const ResponseWeights<Word> &w) {
  return static_cast<double>(static_cast<long double>(w.truthful) / w.total);
}

// The weight of the identity in the realised channel, lambda I + (1 - lambda) uniform.
template <class Word> double realised_lambda(const ResponseWeights<Word> &w) {
  return static_cast<double>(static_cast<long double>(w.truthful - w.other) / w.total);
}

// log(truthful / other) to double precision, and never above certified_epsilon(truthful, other).
template <class Word> double worst_log_ratio(const ResponseWeights<Word> &w) {
  const long double excess = static_cast<long double>(w.truthful - w.other) / w.other;
  return std::min(static_cast<double>(std::log1p(excess)), certified_epsilon(w.truthful, w.other));
}

} // namespace confide
