#pragma once
#include "random.h"
#include <Rcpp.h>
#include <memory>
#include <string>

// R's generator as a source of words, for simulations: 16 bits a draw are right for every
// RNGkind().
class RRandom final : public confide::RandomSource {
public:
  ~RRandom() override;

protected:
  std::size_t refill(std::uint64_t *words, std::size_t capacity) override;

private:
  Rcpp::RNGScope scope_; // reads .Random.seed now and writes it back when the call ends
};

// rng is "os" or "r", checked in R.
std::unique_ptr<confide::RandomSource> make_source(const std::string &rng);

// Calls step(i) for i in 0..n-1 and lets the user interrupt about every 2^20 steps.
template <class Step> void for_each_interruptible(R_xlen_t n, const Step &step) {
  constexpr R_xlen_t chunk = R_xlen_t{1} << 20;
  for (R_xlen_t begin = 0; begin < n; begin += chunk) {
    Rcpp::checkUserInterrupt();
    const R_xlen_t end = std::min(n, begin + chunk);
    for (R_xlen_t i = begin; i < end; ++i)
      step(i);
  }
}
