#include "rcpp_units.h"
#include <cstring>

Rcpp::RawVector to_raw(const std::vector<std::int64_t> &units) {
  Rcpp::RawVector bytes(static_cast<R_xlen_t>(units.size() * sizeof(std::int64_t)));
  if (!units.empty())
    std::memcpy(bytes.begin(), units.data(), units.size() * sizeof units[0]);
  return bytes;
}

std::vector<std::int64_t> from_raw(const Rcpp::RawVector &bytes) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(bytes.size()) / sizeof(std::int64_t));
  if (!units.empty())
    std::memcpy(units.data(), bytes.begin(), units.size() * sizeof units[0]);
  return units;
}
