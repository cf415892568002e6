#include "exponential_mechanism.h"
#include <algorithm>
#include <cmath>

namespace confide {

SelectionLaw selection_law(double epsilon, std::uint64_t sensitivity) {
  if (!(epsilon >= 0x1p-40) || epsilon > 0x1p20)
    throw PlanRefused("epsilon of a choice must be between 2^-40 and 2^20");
  if (sensitivity == 0 || sensitivity > (std::uint64_t{1} << 20))
    throw PlanRefused("the sensitivity of a score must be between 1 and 2^20");
  const auto units = static_cast<std::uint64_t>(std::floor(std::ldexp(epsilon, 40)));
  return {{units, (2 * sensitivity) << 40}, std::ldexp(static_cast<double>(units), -40)};
}

std::size_t select(const std::vector<std::int64_t> &scores, const SelectionLaw &law,
                   RandomSource &random) {
  const std::int64_t best = *std::max_element(scores.begin(), scores.end());
  for (;;)
    if (const auto chosen = selection_trial(scores, best, law.rate, random))
      return *chosen;
}

} // namespace confide
