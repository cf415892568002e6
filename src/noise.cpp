#include "noise.h"

namespace confide {

// Digit by digit, from the top: 64 steps, no floating point.
u128 floor_sqrt(u128 x) {
  u128 root = 0;
  u128 rest = x;
  for (int bit = 126; bit >= 0; bit -= 2) {
    const u128 trial = root + (static_cast<u128>(1) << bit);
    root >>= 1;
    if (rest >= trial) {
      rest -= trial;
      root += static_cast<u128>(1) << bit;
    }
  }
  return root;
}

GaussianLaw gaussian_law(const Rational &variance) {
  const std::uint64_t p = variance.numerator, q = variance.denominator;
  constexpr std::uint64_t limit = std::uint64_t{1} << 52;
  if (p == 0 || q == 0 || p > limit || q > limit)
    throw SamplerRangeError("Gaussian variance out of range");
  const auto t = static_cast<std::uint64_t>(floor_sqrt(p / q)) + 1; // at most 2^26 + 1
  const u128 proposal = static_cast<u128>(q) * t * t;               // below 2^105
  if (proposal > limit)
    throw SamplerRangeError("Gaussian variance out of range");
  return {p, q, t, 2 * p * proposal, (std::uint64_t{1} << 63) / (t * q) - 1};
}

} // namespace confide
