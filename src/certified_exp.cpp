#include "certified_exp.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace confide {
namespace {

constexpr unsigned fraction_bits = 120;

// A double in (0, 89] as `reduced` * 2^(halvings - 120), reduced <= 2^116, so that the series sees
// at most 1/16. Bits of x below 2^-120 are dropped, which only lowers x.
struct ReducedArgument {
  u128 reduced;
  int halvings;
};

ReducedArgument reduce(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  const auto digits = static_cast<u128>(std::ldexp(fraction, 53));
  const int halvings = std::max(0, exponent + 4);
  const int shift = static_cast<int>(fraction_bits) - 53 + exponent - halvings;
  if (shift >= 0)
    return {digits << shift, halvings};
  return {shift > -64 ? digits >> -shift : 0, halvings};
}

// Taylor's series of e^r in units of 2^-120. All terms are positive, so truncated terms add up to
// less than e^r.
u128 exp_series(u128 r) {
  u128 sum = static_cast<u128>(1) << fraction_bits;
  u128 term = sum;
  for (unsigned n = 1; term != 0; ++n) {
    term = shift_right(multiply(term, r), fraction_bits).low / n;
    sum += term;
  }
  return sum;
}

// mantissa * 2^exponent with the mantissa in [2^127, 2^128).
struct WideFloat {
  u128 mantissa;
  int exponent;
};

WideFloat square(const WideFloat &x) {
  const U256 product = multiply(x.mantissa, x.mantissa);
  if ((product.high >> 127) != 0)
    return {product.high, 2 * x.exponent + 128};
  return {shift_left(product, 1).high, 2 * x.exponent + 127};
}

} // namespace

ExpBound exp_lower(double x) {
  if (!(x > 0))
    return {std::uint64_t{1} << 63, -63};
  const ReducedArgument argument = reduce(std::min(x, 89.0));
  WideFloat power{exp_series(argument.reduced) << 7, -127}; // the series is in [2^120, 2^121)
  for (int i = 0; i < argument.halvings; ++i)
    power = square(power);
  return {static_cast<std::uint64_t>(power.mantissa >> 64), power.exponent + 64};
}

bool at_most_times(u128 a, const ExpBound &bound, u128 b) {
  if (b == 0)
    return a == 0;
  if (bound.exponent > 64) // bound * b is at least 2^128
    return true;
  // mantissa * b has at most 192 bits, so neither side outgrows 256 bits.
  const U256 right = multiply(bound.mantissa, b);
  if (bound.exponent >= 0)
    return U256{0, a} <= shift_left(right, static_cast<unsigned>(bound.exponent));
  return shift_left({0, a}, static_cast<unsigned>(-bound.exponent)) <= right;
}

bool keeps_ratio(u128 high, u128 low, double epsilon) {
  return low <= high && at_most_times(high, exp_lower(epsilon), low);
}

double certified_epsilon(u128 a, u128 b) {
  if (a <= b)
    return 0;
  // libm only proposes; the certificate decides.
  const long double excess = static_cast<long double>(a - b) / static_cast<long double>(b);
  auto epsilon = static_cast<double>(std::log1p(excess));
  while (!at_most_times(a, exp_lower(epsilon), b)) {
    // Steps below 2^-63 would not move the 64-bit mantissa of the bound.
    const double next = std::nextafter(epsilon, std::numeric_limits<double>::infinity());
    epsilon = std::max(next, epsilon + 0x1p-63);
  }
  return epsilon;
}

} // namespace confide
