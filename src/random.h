#pragma once
#include "wide_integer.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace confide {

struct RandomnessError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Overwrites memory with zeros in a way that the compiler may not drop.
void wipe(void *memory, std::size_t bytes);

// Every random bit of the package comes out of word(), below() or coin(). The buffer belongs to the
// object, never to the process, so that forked processes cannot share words; a word is zeroed when
// it is handed out.
class RandomSource {
public:
  RandomSource() = default;
  RandomSource(const RandomSource &) = delete;
  RandomSource &operator=(const RandomSource &) = delete;
  virtual ~RandomSource();

  // A uniformly random 64-bit word.
  std::uint64_t word() {
    if (next_ == filled_)
      fill();
    const std::uint64_t result = buffer_[next_];
    buffer_[next_++] = 0;
    return result;
  }

  // Uniform on 0, ..., n - 1 without bias, n >= 1. Plain rejection for n > 2^63, else the high half
  // of word * n (Lemire 2019, Algorithm 5).
  std::uint64_t below(std::uint64_t n) {
    if (n > (std::uint64_t{1} << 63))
      return below_by_rejection(n);
    u128 product = static_cast<u128>(word()) * n;
    if (static_cast<std::uint64_t>(product) < n) {
      const std::uint64_t threshold = (0 - n) % n;
      while (static_cast<std::uint64_t>(product) < threshold)
        product = static_cast<u128>(word()) * n;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // One fair bit, from the lowest bit of a word upwards; spare bits die with the object.
  bool coin() {
    if (spare_count_ == 0) {
      spare_bits_ = word();
      spare_count_ = 64;
    }
    const bool result = (spare_bits_ & 1) != 0;
    spare_bits_ >>= 1;
    --spare_count_;
    return result;
  }

protected:
  // Writes between 1 and `capacity` random words and returns how many; throws RandomnessError if it
  // cannot.
  virtual std::size_t refill(std::uint64_t *words, std::size_t capacity) = 0;

private:
  std::uint64_t below_by_rejection(std::uint64_t n) {
    std::uint64_t u = word();
    while (u >= n)
      u = word();
    return u;
  }

  void fill();

  std::array<std::uint64_t, 8192> buffer_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t spare_bits_ = 0;
  unsigned spare_count_ = 0;
};

// The operating system's generator. Reads 32 words first and twice as many each time, so that short
// calls stay cheap.
class OsRandom final : public RandomSource {
protected:
  std::size_t refill(std::uint64_t *words, std::size_t capacity) override;

private:
  std::size_t batch_ = 32;
};

// 0, ..., n - 1 in an order that is uniform among all (Fisher and Yates); n < 2^31.
template <class Source> std::vector<std::int32_t> random_order(std::int32_t n, Source &random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[static_cast<std::size_t>(random.below(left))]);
  return order;
}

// Random bytes from the operating system; throws RandomnessError, and never falls back on another
// source.
void os_random_bytes(void *out, std::size_t n);

} // namespace confide
