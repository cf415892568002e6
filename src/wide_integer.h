#pragma once
#include <cstdint>

namespace confide {

__extension__ typedef unsigned __int128 u128;

// high * 2^128 + low.
struct U256 {
  u128 high, low;
};

inline bool operator<=(const U256 &x, const U256 &y) {
  return x.high != y.high ? x.high < y.high : x.low <= y.low;
}

// The whole product: four 64-bit products, of which no partial sum exceeds 128 bits.
inline U256 multiply(u128 x, u128 y) {
  const u128 mask = UINT64_MAX;
  const u128 low = (x & mask) * (y & mask);
  const u128 left = (x >> 64) * (y & mask) + (low >> 64);
  const u128 right = (x & mask) * (y >> 64) + (left & mask);
  const u128 high = (x >> 64) * (y >> 64) + (left >> 64) + (right >> 64);
  return {high, (right << 64) | (low & mask)};
}

// Shifts take any distance: a built-in shift by 128 or more would be undefined. Bits that leave are
// lost.
inline U256 shift_left(const U256 &x, unsigned distance) {
  if (distance == 0)
    return x;
  if (distance >= 256)
    return {0, 0};
  if (distance >= 128)
    return {x.low << (distance - 128), 0};
  return {(x.high << distance) | (x.low >> (128 - distance)), x.low << distance};
}

inline U256 shift_right(const U256 &x, unsigned distance) {
  if (distance == 0)
    return x;
  if (distance >= 256)
    return {0, 0};
  if (distance >= 128)
    return {0, x.high >> (distance - 128)};
  return {x.high >> distance, (x.low >> distance) | (x.high << (128 - distance))};
}

} // namespace confide
