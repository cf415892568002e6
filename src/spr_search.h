#pragma once
#include "spr_alphabet.h"
#include "spr_divergence.h"
#include <cstddef>
#include <vector>

namespace confide::spr {

// A cut of the sorted alphabet into blocks, and its objective (sum of g) / (c + s), s the number of
// blocks.
struct Partition {
  std::vector<std::size_t> starts{0};
  double mean = 0;
};

double partition_mean(const Alphabet &alphabet, const Perspective &perspective,
                      const std::vector<std::size_t> &starts);

// perspective_of() with the largest log-likelihood ratio that this alphabet can give.
Perspective perspective_on(const Alphabet &alphabet, const Divergence &divergence, double c);

// The starts of last blocks still worth trying. A start i can be dropped for good at `end`
// when a later start t does at least as well there and
//   ratio of [i, t) <= ratio of z <= ratio of symbol `end`,  z = (1, 1) + c masses of [t, end):
// g(i..e) - g(t..e) cannot grow with e any more. For a convex, homogeneous phi the second
// difference phi(z+A+B) - phi(z+A) - phi(z+B) + phi(z) has the sign of (A x z)(B x z) (the Hessian
// is of rank one), and here A lies on one side of z and B, whatever comes later, on the other.
// Earlier starts have smaller ratios, so what remains is a window.
struct StartWindow {
  std::size_t first = 0;
  void shrink(const Alphabet &alphabet, double c, std::size_t best_start, std::size_t end);
};

// The best partition by Dinkelbach's method, from a starting partition: few passes of O(k^2) at
// most, about k^2 / s for s blocks, O(k) memory.
Partition best_partition(const Alphabet &alphabet, const Perspective &perspective,
                         const std::vector<std::size_t> &starts, Pacer &pacer);

// The best partition into at most `max_blocks` blocks (Ghazi 2026): O(L k^2) time at
// most, O(L k) memory.
Partition best_partition_at_most(const Alphabet &alphabet, const Perspective &perspective,
                                 std::size_t max_blocks, Pacer &pacer);

// Either: the second only where the first uses too many blocks. max_blocks >= 1.
Partition best_partition_within(const Alphabet &alphabet, const Perspective &perspective,
                                const std::vector<std::size_t> &starts, std::size_t max_blocks,
                                Pacer &pacer);

} // namespace confide::spr
