#pragma once
#include "wide_integer.h"
#include <cstdint>
#include <optional>
#include <stdexcept>

namespace confide {

// Exact samplers (Canonne, Kamath and Steinke 2020, "The discrete Gaussian for differential
// privacy", Algorithms 1 to 3), in 128-bit integers: no libm, no rounding, no bignums. They are
// templates over the source, which needs coin() and below(n), so that a test can walk through every
// choice. Calls between samplers are unqualified on purpose: a test overloads a lower sampler for
// its own source and puts that sampler's proved law in its place.

// An integer left its proved range. No honest source gets here: the probability is below 2^-900.
struct SamplerRangeError : std::logic_error {
  using std::logic_error::logic_error;
};

struct Rational {
  std::uint64_t numerator, denominator;
};

constexpr std::uint64_t largest_noise = std::uint64_t{1} << 62;

// True with probability p/q: the binary digits of p/q are compared with coins until they differ (2
// coins expected); once the digits left are all 0, no coin can fall below them. Requires q <=
// 2^127, so that 2p fits; p >= q is true.
template <class Source> bool bernoulli_ratio(u128 p, u128 q, Source &random) {
  if (p >= q)
    return true;
  while (p != 0) {
    p <<= 1;
    const bool digit = p >= q;
    if (digit)
      p -= q;
    if (random.coin() != digit)
      return digit;
  }
  return false;
}

// True with probability e^-g, g = p/q <= 1: the count of successes of Bernoulli(g/1),
// Bernoulli(g/2), ... before the first failure is at least k with probability g^k/k!, hence even
// with probability e^-g. Requires q <= 2^119; the denominators k q stay within 2^127, and a count
// of 256 has probability < 2^-1683.
template <class Source> bool bernoulli_exp_unit(u128 p, u128 q, Source &random) {
  unsigned k = 1;
  while (bernoulli_ratio(p, k * q, random))
    if (++k > 256)
      throw SamplerRangeError("exponential Bernoulli trial out of range");
  return k % 2 == 1;
}

// True with probability e^-(p/q), any p: e^-g = (1/e)^floor(g) e^-(g - floor(g)).
template <class Source> bool bernoulli_exp(u128 p, u128 q, Source &random) {
  while (p > q) {
    if (!bernoulli_exp_unit(1, 1, random))
      return false;
    p -= q;
  }
  return bernoulli_exp_unit(p, q, random);
}

// v with probability (1 - 1/e) e^-v.
template <class Source> std::uint64_t geometric(Source &random) {
  std::uint64_t v = 0;
  while (bernoulli_exp_unit(1, 1, random))
    if (++v == (std::uint64_t{1} << 16))
      throw SamplerRangeError("geometric draw out of range");
  return v;
}

// One trial of the geometric law, P(x) proportional to e^-(x/scale) for x = 0, 1, ...; nothing when
// it is rejected. u + numerator * v has a geometric law with parameter e^(-1/numerator). Requires
// numerator <= 2^62; the dividend is below 2^78.
template <class Source>
std::optional<std::uint64_t> geometric_trial(const Rational &scale, Source &random) {
  const std::uint64_t u = random.below(scale.numerator);
  if (!bernoulli_exp_unit(u, scale.numerator, random))
    return std::nullopt;
  const u128 x = (u + static_cast<u128>(scale.numerator) * geometric(random)) / scale.denominator;
  if (x > largest_noise)
    throw SamplerRangeError("geometric or discrete Laplace draw out of range");
  return static_cast<std::uint64_t>(x);
}

template <class Source> std::uint64_t scaled_geometric(const Rational &scale, Source &random) {
  for (;;)
    if (const auto x = geometric_trial(scale, random))
      return *x;
}

// One trial of the discrete Laplace law, P(y) proportional to e^-|y|/scale: a geometric draw with a
// sign.
template <class Source>
std::optional<std::int64_t> laplace_trial(const Rational &scale, Source &random) {
  const auto magnitude = geometric_trial(scale, random);
  if (!magnitude)
    return std::nullopt;
  const bool negative = random.coin();
  if (negative && *magnitude == 0) // zero has one sign only
    return std::nullopt;
  const auto y = static_cast<std::int64_t>(*magnitude);
  return negative ? -y : y;
}

template <class Source> std::int64_t discrete_laplace(const Rational &scale, Source &random) {
  for (;;)
    if (const auto y = laplace_trial(scale, random))
      return *y;
}

// The discrete Gaussian law with variance parameter p/q, P(y) proportional to e^(-y^2 q / 2p).
// t = floor(sqrt(p/q)) + 1 and q t^2 <= 2^52, hence p < 2^52.
struct GaussianLaw {
  std::uint64_t p, q, t;
  u128 denominator;               // 2 p q t^2 <= 2^105
  std::uint64_t largest_proposal; // 2^63 / (t q) - 1 >= 2^11 t - 1
};

// Throws SamplerRangeError when q t^2 > 2^52.
GaussianLaw gaussian_law(const Rational &variance);

// One trial: a Laplace draw of scale t is kept with probability e^(-(|y| - p/(q t))^2 q / 2p).
// |y| t q < 2^63 gives a numerator below 2^126; a larger |y| has probability < 2^-2900.
template <class Source>
std::optional<std::int64_t> gaussian_trial(const GaussianLaw &law, Source &random) {
  const std::int64_t y = discrete_laplace(Rational{law.t, 1}, random);
  const auto magnitude = static_cast<std::uint64_t>(y < 0 ? -y : y);
  if (magnitude > law.largest_proposal)
    throw SamplerRangeError("discrete Gaussian proposal out of range");
  const std::uint64_t a = magnitude * law.t * law.q;
  const u128 distance = a > law.p ? a - law.p : law.p - a;
  if (!bernoulli_exp(distance * distance, law.denominator, random))
    return std::nullopt;
  return y;
}

template <class Source> std::int64_t discrete_gaussian(const GaussianLaw &law, Source &random) {
  for (;;)
    if (const auto y = gaussian_trial(law, random))
      return *y;
}

// floor(sqrt(x)), exact.
u128 floor_sqrt(u128 x);

} // namespace confide
