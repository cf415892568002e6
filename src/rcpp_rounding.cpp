#include "rounding.h"
#include <RcppEigen.h>

// [[Rcpp::export(rng = false)]]
double sum_rounded_up(const Eigen::Map<Eigen::VectorXd> values) {
  return confide::sum_rounded_up(values);
}
