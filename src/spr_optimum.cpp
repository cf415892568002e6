#include "spr_optimum.h"
#include <algorithm>
#include <cmath>

namespace confide::spr {
namespace {

// Binary randomized response on 1{p >= gamma q}; with the other block the mirror image for
// gamma < 1, where sum max(M0 - gamma M1, 0) - (1 - gamma) = sum max(gamma M1 - M0, 0).
Optimum best_for_hockey_stick(const Alphabet &alphabet, double gamma, double c) {
  const std::size_t k = alphabet.size();
  std::size_t cut = 0;
  while (cut < k && alphabet.ratio(cut) < gamma)
    ++cut;
  const bool above = gamma >= 1;
  const std::size_t begin = above ? cut : 0, end = above ? k : cut;
  const double p = alphabet.p.between(begin, end), q = alphabet.q.between(begin, end);
  const double surplus = c * ((p - q) - (gamma - 1) * q) - (gamma - 1);
  const double value = (above ? surplus : -surplus) / (c + 2);
  if (!(value > 0) || cut == 0 || cut == k)
    return {};
  return {{0, cut}, value};
}

Optimum best_for_largest_ratio(const Alphabet &alphabet, double c) {
  const TopSet best = most_telling_top_set(alphabet, c);
  if (best.start == 0)
    return {};
  return {{0, best.start}, best.log_ratio};
}

} // namespace

bool has_closed_form(const Divergence &divergence) {
  switch (divergence.kind) {
  case DivergenceKind::tv:
  case DivergenceKind::hockey_stick:
  case DivergenceKind::lr_distance:
    return true;
  case DivergenceKind::renyi:
    return std::isinf(divergence.parameter);
  default:
    return false;
  }
}

Optimum optimum_on(const Alphabet &alphabet, const Divergence &divergence, double c,
                   std::size_t max_blocks, const std::vector<std::size_t> &starts, Pacer &pacer) {
  if (max_blocks < 2 || alphabet.size() < 2)
    return {};
  pacer.spend(alphabet.size());
  if (divergence.kind == DivergenceKind::tv)
    return best_for_hockey_stick(alphabet, 1, c);
  if (divergence.kind == DivergenceKind::hockey_stick)
    return best_for_hockey_stick(alphabet, divergence.parameter, c);
  if (divergence.kind == DivergenceKind::lr_distance) {
    // Both outputs differ by the total variation A: (2 A^r)^(1/r).
    Optimum optimum = best_for_hockey_stick(alphabet, 1, c);
    optimum.value *= std::pow(2, 1 / divergence.parameter);
    return optimum;
  }
  if (has_closed_form(divergence))
    return best_for_largest_ratio(alphabet, c);
  const Perspective perspective = perspective_on(alphabet, divergence, c);
  Partition best = best_partition_within(alphabet, perspective, starts, max_blocks, pacer);
  return {std::move(best.starts), reported(perspective, best.mean)};
}

} // namespace confide::spr
