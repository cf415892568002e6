#pragma once
#include "certified_exp.h"
#include "random.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <gmp.h>
#include <mpfr.h>
#include <stdexcept>
#include <utility>
#include <vector>

namespace confide {

// Hands out exactly the words it was given; asking for more is an error.
class ScriptedRandom final : public RandomSource {
public:
  explicit ScriptedRandom(std::vector<std::uint64_t> words = {}) : words_(std::move(words)) {}

  void play(std::vector<std::uint64_t> words) {
    words_ = std::move(words);
    used_ = 0;
  }
  std::size_t used() const { return used_; }

protected:
  std::size_t refill(std::uint64_t *words, std::size_t) override {
    if (used_ == words_.size())
      throw std::out_of_range("the script is over");
    words[0] = words_[used_++];
    return 1;
  }

private:
  std::vector<std::uint64_t> words_;
  std::size_t used_ = 0;
};

class Integer {
public:
  explicit Integer(u128 value = 0) {
    const std::array<std::uint64_t, 2> words{static_cast<std::uint64_t>(value),
                                             static_cast<std::uint64_t>(value >> 64)};
    mpz_init(value_);
    mpz_import(value_, words.size(), -1, sizeof words[0], 0, 0, words.data());
  }
  Integer(const Integer &) = delete;
  Integer &operator=(const Integer &) = delete;
  ~Integer() { mpz_clear(value_); }
  mpz_ptr get() { return value_; }

private:
  mpz_t value_;
};

class Real {
public:
  explicit Real(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Real(const Real &) = delete;
  Real &operator=(const Real &) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

private:
  mpfr_t value_;
};

// False on processors whose long double is double, and under valgrind whatever the type says.
inline bool is_long_double_longer() {
  volatile long double one = 1;
  return one + 0x1p-60L != one;
}

} // namespace confide
