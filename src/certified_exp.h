#pragma once
#include "wide_integer.h"
#include <cstdint>

namespace confide {

// mantissa * 2^exponent, a lower bound of some e^x; mantissa is in [2^63, 2^64).
struct ExpBound {
  std::uint64_t mantissa;
  int exponent;
};

// A lower bound of e^x for x >= 0, within a factor of 1 - 2^-62 up to x = 89 (e^89 > 2^128) and
// that of e^89 beyond. Integers only, and every step rounds down, so the bound needs no trust in
// libm or in a rounding mode. NaN gives 1.
ExpBound exp_lower(double x);

// Whether a <= bound * b, decided exactly, for a bound that exp_lower() returned.
bool at_most_times(u128 a, const ExpBound &bound, u128 b);

// Whether low <= high <= e^epsilon low, by the lower bound of e^epsilon: exact, and FALSE where the
// bound leaves a doubt.
bool keeps_ratio(u128 high, u128 low, double epsilon);

// A double e with a <= exp_lower(e) * b, hence e >= log(a / b), for a >= b > 0; 0 when a == b. It
// exceeds log(a / b) by at most 2 units in the last place (3 where long double is double) or 2^-60,
// whichever is larger.
double certified_epsilon(u128 a, u128 b);

} // namespace confide
