#pragma once
#include "grid.h"
#include <RcppEigen.h>
#include <string>

// "replace", "zero_out" or "add_remove", checked in R.
confide::Neighbours neighbours_of(const std::string &name);

// The public arguments of a query, checked in R: kind "sum", "count", "joint_counts", "answer" or
// "path", law "gaussian" or "laplace".
confide::SumPlan make_plan(const Rcpp::List &query);
