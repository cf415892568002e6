#pragma once
#include <cstdint>
#include <vector>

namespace confide {

bool is_prime(std::uint64_t n);
std::vector<std::uint64_t> prime_factors(std::uint64_t n); // distinct, ascending
std::uint64_t power_mod(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus);

// q = prime^degree, or prime = 0 where q is no prime power.
struct PrimePower {
  std::uint32_t prime, degree;
};
PrimePower prime_power(std::uint32_t q);

// GF(q). An element is a number below q whose digits in base p are the coefficients of a polynomial
// in a primitive element; so the additive group is addition of digits mod p. Tables of size q; the
// primitive element is the same on every platform, since reports depend on it.
class FiniteField {
public:
  explicit FiniteField(std::uint32_t q); // throws std::domain_error where q is no prime power

  std::uint32_t size() const { return q_; }
  std::uint32_t prime() const { return p_; }
  std::uint32_t degree() const { return degree_; }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t negate(std::uint32_t a) const;
  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
    return a == 0 || b == 0 ? 0 : power(log_[a] + log_[b]);
  }
  std::uint32_t inverse(std::uint32_t a) const { return power(q_ - 1 - log_[a]); }
  // The primitive element to an exponent below 2 (q - 1).
  std::uint32_t power(std::uint32_t exponent) const {
    return exp_[exponent < q_ - 1 ? exponent : exponent - (q_ - 1)];
  }
  std::uint32_t log(std::uint32_t a) const { return log_[a]; } // a != 0
  // 1 for a square, -1 for another element, 0 for 0.
  int character(std::uint32_t a) const;

private:
  void tabulate(std::uint32_t primitive_root);
  bool try_polynomial(std::uint32_t low_coefficients);

  std::uint32_t q_, p_, degree_;
  std::vector<std::uint32_t> exp_, log_;
};

} // namespace confide
