#pragma once
#include "grid.h"
#include <RcppEigen.h>
#include <cstdint>
#include <string>
#include <vector>

// "replace", "zero_out" or "add_remove", checked in R.
confide::Neighbours neighbours_of(const std::string &name);

// The public arguments of a query, checked in R: kind "sum", "count", "joint_counts", "answer" or
// "path", law "gaussian" or "laplace".
confide::SumPlan make_plan(const Rcpp::List &query);

// R has no 64-bit integers; they travel as raw bytes, eight each.
Rcpp::RawVector to_raw(const std::vector<std::int64_t> &units);
std::vector<std::int64_t> from_raw(const Rcpp::RawVector &bytes);
