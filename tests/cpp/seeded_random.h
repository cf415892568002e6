#pragma once
#include "random.h"
#include <random>

// A repeatable source, for tests only.
class SeededRandom final : public confide::RandomSource {
public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

protected:
  std::size_t refill(std::uint64_t *words, std::size_t capacity) override {
    for (std::size_t i = 0; i < capacity; ++i)
      words[i] = engine_();
    return capacity;
  }

private:
  std::mt19937_64 engine_;
};
