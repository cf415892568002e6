#include "rcpp_random.h"
#include <cmath>

RRandom::~RRandom() = default;

std::size_t RRandom::refill(std::uint64_t *words, std::size_t) {
  std::uint64_t word = 0;
  for (int part = 0; part < 4; ++part)
    word = (word << 16) | static_cast<std::uint64_t>(unif_rand() * 65536.0);
  words[0] = word;
  return 1;
}

std::unique_ptr<confide::RandomSource> make_source(const std::string &rng) {
  if (rng == "r")
    return std::make_unique<RRandom>();
  return std::make_unique<confide::OsRandom>();
}

// Uniform on the multiples of 2^-53 in [0, 1). Throws confide::RandomnessError.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector uniform_numbers(double n, const std::string &rng) {
  const auto random = make_source(rng);
  Rcpp::NumericVector uniform(static_cast<R_xlen_t>(n));
  for_each_interruptible(uniform.size(), [&](R_xlen_t i) {
    uniform[i] = std::ldexp(static_cast<double>(random->word() >> 11), -53);
  });
  return uniform;
}

// The numbers 1, ..., n in a random order. Throws confide::RandomnessError.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector random_order(double n, const std::string &rng) {
  const auto random = make_source(rng);
  Rcpp::IntegerVector order = Rcpp::wrap(confide::random_order(static_cast<int>(n), *random));
  for (int &row : order)
    ++row;
  return order;
}
