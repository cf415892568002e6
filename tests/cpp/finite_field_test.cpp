#include "finite_field.h"
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace confide;

TEST_CASE("primes, factors and powers are those of trial division") {
  const std::vector<std::uint64_t> primes{2, 3, 5, 7, 11, 13, 101, 1020101, 4294967291u};
  for (const std::uint64_t p : primes)
    CHECK(is_prime(p));
  for (const std::uint64_t n : {0u, 1u, 4u, 9u, 561u, 1020100u, 4294967295u})
    CHECK_FALSE(is_prime(n));
  CHECK(prime_factors(360) == std::vector<std::uint64_t>{2, 3, 5});
  CHECK(prime_factors(1).empty());
  CHECK(power_mod(3, 200, 1000003) == [] {
    std::uint64_t result = 1;
    for (int i = 0; i < 200; ++i)
      result = result * 3 % 1000003;
    return result;
  }());
  CHECK(prime_power(243).prime == 3);
  CHECK(prime_power(243).degree == 5);
  CHECK(prime_power(12).prime == 0);
}

TEST_CASE("every field satisfies the axioms") {
  for (const std::uint32_t q : {2u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 25u, 27u, 32u, 49u}) {
    CAPTURE(q);
    const FiniteField field(q);
    for (std::uint32_t a = 0; a < q; ++a) {
      CHECK(field.add(a, 0) == a);
      CHECK(field.multiply(a, 1) == a);
      CHECK(field.add(a, field.negate(a)) == 0);
      if (a != 0)
        CHECK(field.multiply(a, field.inverse(a)) == 1);
      for (std::uint32_t b = 0; b < q; ++b) {
        CHECK(field.add(a, b) == field.add(b, a));
        CHECK(field.multiply(a, b) == field.multiply(b, a));
        CHECK((field.multiply(a, b) == 0) == (a == 0 || b == 0));
        for (std::uint32_t c = 0; c < q; ++c) {
          REQUIRE(field.multiply(a, field.add(b, c)) ==
                  field.add(field.multiply(a, b), field.multiply(a, c)));
          REQUIRE(field.multiply(a, field.multiply(b, c)) ==
                  field.multiply(field.multiply(a, b), c));
        }
      }
    }
  }
}

TEST_CASE("the character tells squares from the others") {
  for (const std::uint32_t q : {3u, 9u, 13u, 27u, 125u}) {
    const FiniteField field(q);
    std::vector<bool> square(q, false);
    for (std::uint32_t a = 1; a < q; ++a)
      square[field.multiply(a, a)] = true;
    CHECK(field.character(0) == 0);
    for (std::uint32_t a = 1; a < q; ++a)
      CHECK(field.character(a) == (square[a] ? 1 : -1));
  }
}

TEST_CASE("a number that is no prime power makes no field") {
  CHECK_THROWS_AS(FiniteField(6), std::domain_error);
}
