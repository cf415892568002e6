#pragma once
#include "lambda.h"
#include <RcppEigen.h>

using ModeMaker = confide::Mode (*)(double, const Eigen::Ref<const Eigen::VectorXd> &);

// noise: a list with the distribution q of each attribute's replacement value.
std::vector<confide::Mode> make_modes(const Rcpp::NumericVector &lambda, const Rcpp::List &noise,
                                      ModeMaker make);
