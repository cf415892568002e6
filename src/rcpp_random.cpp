#include "rcpp_random.h"

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
