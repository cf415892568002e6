#pragma once
#include "block_design.h"
#include "certified_exp.h"
#include "random.h"
#include <algorithm>
#include <cstdint>
#include <limits>

namespace confide {

// A block mechanism in whole words: of T = r A + (b - r) W equally likely words, A report each
// output inside I_x and W each output outside. Every likelihood ratio is A / W, W / A or 1, and
// W <= A <= L W with L <= e^epsilon proved, so it is at most e^epsilon, exactly. Word is
// std::uint64_t; a narrower word gives a twin that can be enumerated whole.
template <class Word = std::uint64_t> struct BlockWeights {
  Word inside, outside; // A, W
  std::uint64_t r, b;

  Word surplus() const { return static_cast<Word>(inside - outside); }
  Word total() const { return static_cast<Word>(r * surplus() + b * outside); }
};

// Requires epsilon >= 0 and 1 <= r < b < 2^32 (and below the largest Word). Without the bounds by 1
// and by the words there are, W would be 0 for a large epsilon; the realised epsilon is smaller
// there than the one asked for. Epsilon is served up to 44 (64-bit words).
template <class Word = std::uint64_t>
BlockWeights<Word> block_weights(double epsilon, std::uint64_t r, std::uint64_t b) {
  constexpr double most = std::numeric_limits<Word>::digits * 11.0 / 16;
  const ExpBound bound = exp_lower(std::min(epsilon, most));
  const auto shift = static_cast<unsigned>(-bound.exponent); // L = mantissa / 2^shift
  const u128 largest = std::numeric_limits<Word>::max();
  const u128 denominator =
      static_cast<u128>(r) * bound.mantissa + (static_cast<u128>(b - r) << shift);
  const u128 outside = std::max<u128>(1, (largest << shift) / denominator);
  const u128 inside = std::min((static_cast<u128>(bound.mantissa) * outside) >> shift,
                               (largest - (b - r) * outside) / r);
  return {static_cast<Word>(inside), static_cast<Word>(outside), r, b};
}

// What one word decides: a member of I_x by number, or any output by number.
struct BlockChoice {
  bool member;
  std::uint64_t number;
};

template <class Word> BlockChoice choose(const BlockWeights<Word> &w, RandomSource &random) {
  const Word total = w.total();
  auto u = static_cast<Word>(random.word());
  while (u >= total)
    u = static_cast<Word>(random.word());
  const Word members = static_cast<Word>(w.r * w.surplus());
  if (u < members)
    return {true, static_cast<std::uint64_t>(u / w.surplus())};
  return {false, static_cast<std::uint64_t>((u - members) / w.outside)};
}

// A report: an output, from 0 (from 1 where output 0 is excluded).
template <class Word>
std::uint32_t report(const BlockDesign &design, std::uint32_t symbol, const BlockWeights<Word> &w,
                     RandomSource &random) {
  const BlockChoice choice = choose(w, random);
  if (choice.member)
    return draw_member(design, symbol, choice.number, random);
  return static_cast<std::uint32_t>(choice.number) + (design.excluded ? 1 : 0);
}

// Subset selection (Ye and Barg 2018) with the weights of r = k, b = v: with surplus words the
// symbol and a uniform (k - 1)-subset of the others, else a uniform k-subset (Floyd's algorithm).
// A set that has the symbol is A / W times as likely as one that has not. Ascending, always: the
// order of a report must not say where the symbol stands.
class SubsetSampler {
public:
  SubsetSampler(std::uint32_t v, std::uint32_t k);

  void report(std::uint32_t symbol, const BlockWeights<> &w, RandomSource &random,
              std::vector<std::uint32_t> &subset);

private:
  // Adds a uniform subset of {0, ..., n - 1}, of this size; with `gap` numbers from it on move up
  // by 1.
  void add_uniform(std::uint32_t n, std::uint32_t size, std::uint32_t gap, RandomSource &random,
                   std::vector<std::uint32_t> &subset);
  bool mark(std::uint32_t element);

  std::uint32_t v_, k_, round_ = 0;
  std::vector<std::uint32_t> marked_; // the round in which an element was last taken
};

// Shared randomness (Nam, Park and Lee 2023, arXiv 2307.03962): a public seed gives a k-subset D of
// Z_v, uniform over seeds; the report c makes D + c a set with the law of subset selection.
class SharedSets {
public:
  SharedSets(std::uint32_t v, std::uint32_t k);

  // Valid until the next call.
  const std::vector<std::uint32_t> &set(std::uint32_t seed);

private:
  std::uint32_t v_, k_, round_ = 0;
  std::vector<std::uint32_t> marked_, set_;
};

} // namespace confide
