#pragma once
#include "sum_plan.h"
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace confide {

// Gaussian noise that shrinks on demand (Whitehouse, Ramdas, Wu and Rogers 2022; Raisa, Koskela and
// Honkela 2026) as a sequence of fresh measurements. Measurement k is the exact answer plus
// discrete Gaussian noise of variance s_k^2; their mean weighted by w_k = 1 / s_k^2 has variance 1
// / tau with tau = sum w_k, and everything released so far has ex-post certificate rho = sum rho_k,
// where rho_k = Delta^2 / (2 s_k^2). Each variance may depend on all that was released before.

// An answer of `dimension` numbers that a neighbour moves by at most `sensitivity` in Euclidean
// norm. `whole`: whole numbers whatever the data; else each measurement rounds them to its own
// grid.
struct RefinedQuery {
  double sensitivity;
  std::size_t dimension;
  bool whole;
};

// The measurement that costs at most rho, a SumPlan without a bound. Throws PlanRefused.
SumPlan refinement_plan(const RefinedQuery &query, double rho);

// The rho that buys a measurement of this precision (1 / variance, in the units of the data).
double refinement_rho(const RefinedQuery &query, double precision);

// 1 / variance of a plan's noise, in the units of the data: the weight of its measurement.
double plan_precision(const SumPlan &plan);

// floor(x / gamma) + [fraction >= 1/2], limited to [-2^61, 2^61]: moves by at most ceil(|x - x'| /
// gamma). Requires finite values.
std::vector<std::int64_t> nearest_units(const std::vector<double> &values, int exponent);

// One measurement: whole numbers plus independent discrete Gaussian noise of this variance.
template <class Source>
std::vector<std::int64_t> measure(const std::vector<std::int64_t> &counts, const GaussianLaw &law,
                                  Source &random) {
  std::vector<std::int64_t> measured;
  measured.reserve(counts.size());
  for (const std::int64_t count : counts)
    measured.push_back(count + discrete_gaussian(law, random));
  return measured;
}

// The precision-weighted mean of all measurements so far: post-processing of what was released.
struct RefinedMean {
  Eigen::VectorXd estimate;
  double precision = 0; // tau
  void add(const Eigen::Ref<const Eigen::VectorXd> &measured, double weight);
};

// Measurements of whole numbers at a sequence of variances and their running means, all of which
// may be released: rho = l2_squared / 2 * sum of 1 / variance.
template <class Source>
std::vector<RefinedMean> refined_means(const std::vector<std::int64_t> &counts,
                                       const std::vector<Rational> &variances, Source &random) {
  std::vector<RefinedMean> means;
  RefinedMean mean;
  for (const Rational &variance : variances) {
    const auto measured = measure(counts, gaussian_law(variance), random);
    const Eigen::Map<const Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>> units(
        measured.data(), static_cast<Eigen::Index>(measured.size()));
    mean.add(units.cast<double>(),
             static_cast<double>(variance.denominator) / static_cast<double>(variance.numerator));
    means.push_back(mean);
  }
  return means;
}

} // namespace confide
