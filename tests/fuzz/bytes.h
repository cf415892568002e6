#pragma once
#include "random.h"
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace confide {

inline void require(bool invariant) {
  if (!invariant)
    std::abort();
}

// The input of the fuzzer, taken apart into parameters; zeros when it is over.
class Bytes {
public:
  Bytes(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}

  template <class T> T take() {
    T value{};
    const std::size_t n = std::min(sizeof value, size_);
    if (n > 0)
      std::memcpy(&value, data_, n);
    data_ += n;
    size_ -= n;
    return value;
  }

  bool empty() const { return size_ == 0; }

  // Any double: NaN, infinities and denormals included.
  double number() { return take<double>(); }

  // Finite and positive, of a size that is usual for a parameter.
  double positive(double limit) {
    const double unit = static_cast<double>(take<std::uint32_t>()) * 0x1p-32;
    return std::ldexp(limit * (unit + 0x1p-33), -static_cast<int>(take<std::uint8_t>() % 48));
  }

  // In [0, 1).
  double share() { return static_cast<double>(take<std::uint16_t>()) * 0x1p-16; }

  // first, ..., last; at most 256 of them.
  std::size_t between(std::size_t first, std::size_t last) {
    return first + take<std::uint8_t>() % (last - first + 1);
  }

  bool flag() { return take<std::uint8_t>() % 2 == 1; }

  template <class T> T one_of(const std::vector<T> &choices) {
    return choices[take<std::uint8_t>() % choices.size()];
  }

  // A distribution on so many levels, some of them perhaps 0.
  Eigen::VectorXd distribution(std::size_t levels) {
    Eigen::VectorXd shares(static_cast<Eigen::Index>(levels));
    for (Eigen::Index i = 0; i < shares.size(); ++i)
      shares[i] = static_cast<double>(take<std::uint8_t>() % 32);
    if (shares.sum() == 0)
      shares.setOnes();
    return shares / shares.sum();
  }

private:
  const std::uint8_t *data_;
  std::size_t size_;
};

// Words from the input, then from a generator: a stuck source would never end a rejection.
class FuzzRandom final : public RandomSource {
public:
  explicit FuzzRandom(Bytes &bytes) : bytes_(bytes) {}

protected:
  std::size_t refill(std::uint64_t *words, std::size_t) override {
    words[0] = bytes_.empty() ? next() : bytes_.take<std::uint64_t>();
    return 1;
  }

private:
  // SplitMix64 (Steele, Lea and Flood 2014).
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  Bytes &bytes_;
  std::uint64_t state_ = 1;
};

inline void no_interrupt() {}

} // namespace confide
