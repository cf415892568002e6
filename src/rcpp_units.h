#pragma once
#include <Rcpp.h>
#include <cstdint>
#include <vector>

// R has no 64-bit integers; they travel as raw bytes, eight each.
Rcpp::RawVector to_raw(const std::vector<std::int64_t> &units);
std::vector<std::int64_t> from_raw(const Rcpp::RawVector &bytes);
