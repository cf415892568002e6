#include "finite_field.h"
#include "wide_integer.h"
#include <stdexcept>

namespace confide {

bool is_prime(std::uint64_t n) {
  if (n < 4)
    return n >= 2;
  if (n % 2 == 0)
    return false;
  for (std::uint64_t d = 3; d * d <= n; d += 2)
    if (n % d == 0)
      return false;
  return true;
}

std::vector<std::uint64_t> prime_factors(std::uint64_t n) {
  std::vector<std::uint64_t> factors;
  for (std::uint64_t d = 2; d * d <= n; ++d) {
    if (n % d != 0)
      continue;
    factors.push_back(d);
    while (n % d == 0)
      n /= d;
  }
  if (n > 1)
    factors.push_back(n);
  return factors;
}

std::uint64_t power_mod(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  for (base %= modulus; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = static_cast<std::uint64_t>(static_cast<u128>(result) * base % modulus);
    base = static_cast<std::uint64_t>(static_cast<u128>(base) * base % modulus);
  }
  return result;
}

PrimePower prime_power(std::uint32_t q) {
  const std::vector<std::uint64_t> factors = prime_factors(q);
  if (factors.size() != 1)
    return {0, 0};
  const auto p = static_cast<std::uint32_t>(factors.front());
  std::uint32_t degree = 0;
  for (; q > 1; q /= p)
    ++degree;
  return {p, degree};
}

namespace {

std::uint32_t primitive_root(std::uint32_t p) {
  const std::vector<std::uint64_t> factors = prime_factors(p - 1);
  for (std::uint32_t g = 1;; ++g) {
    bool generates = true;
    for (const std::uint64_t factor : factors)
      generates = generates && power_mod(g, (p - 1) / factor, p) != 1;
    if (generates)
      return g;
  }
}

} // namespace

FiniteField::FiniteField(std::uint32_t q) : q_(q), exp_(q), log_(q) {
  const PrimePower structure = prime_power(q);
  if (structure.prime == 0)
    throw std::domain_error("a finite field must have a prime power of elements");
  p_ = structure.prime;
  degree_ = structure.degree;
  if (degree_ == 1) {
    tabulate(primitive_root(p_));
    return;
  }
  // The first primitive polynomial x^degree - (low coefficients), in the order of their number.
  for (std::uint32_t low = 1; low < q_; ++low)
    if (try_polynomial(low))
      return;
  throw std::logic_error("every finite field has a primitive polynomial");
}

void FiniteField::tabulate(std::uint32_t root) {
  std::uint64_t element = 1;
  for (std::uint32_t i = 0; i + 1 < q_; ++i) {
    exp_[i] = static_cast<std::uint32_t>(element);
    log_[element] = i;
    element = element * root % q_;
  }
}

// Powers of x modulo x^degree = low: they must run through all elements but 0. O(q degree).
bool FiniteField::try_polynomial(std::uint32_t low) {
  if (low % p_ == 0)
    return false;
  std::vector<std::uint32_t> multiples(p_, 0); // of low, by digits
  for (std::uint32_t digit = 1; digit < p_; ++digit)
    multiples[digit] = add(multiples[digit - 1], low);
  const std::uint32_t top = q_ / p_;
  std::uint32_t element = 1;
  for (std::uint32_t i = 0; i + 1 < q_; ++i) {
    if (i > 0 && element == 1)
      return false;
    exp_[i] = element;
    log_[element] = i;
    element = add(element % top * p_, multiples[element / top]);
  }
  return element == 1;
}

std::uint32_t FiniteField::add(std::uint32_t a, std::uint32_t b) const {
  if (p_ == 2)
    return a ^ b;
  if (degree_ == 1) {
    const std::uint64_t sum = std::uint64_t{a} + b;
    return static_cast<std::uint32_t>(sum < p_ ? sum : sum - p_);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t place = 1; place < q_; place *= p_, a /= p_, b /= p_)
    sum += (a % p_ + b % p_) % p_ * place;
  return sum;
}

std::uint32_t FiniteField::negate(std::uint32_t a) const {
  std::uint32_t result = 0;
  for (std::uint32_t place = 1; a > 0; place *= p_, a /= p_)
    result += (p_ - a % p_) % p_ * place;
  return result;
}

int FiniteField::character(std::uint32_t a) const {
  if (a == 0)
    return 0;
  return log_[a] % 2 == 0 ? 1 : -1;
}

} // namespace confide
