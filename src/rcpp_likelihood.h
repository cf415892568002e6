#pragma once
#include "likelihood.h"
#include "rcpp_lambda.h"

// From the list `control` of R.
confide::EmControl em_control(const Rcpp::List &control);

// One channel P = lambda I + (1 - lambda) 1 q' for each attribute.
confide::ChannelMaps product_channel(const Rcpp::NumericVector &lambda, const Rcpp::List &noise);
