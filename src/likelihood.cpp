#include "likelihood.h"
#include "squarem.h"
#include <cmath>
#include <utility>

namespace confide {

namespace {

using Vector = Eigen::VectorXd;

double log_likelihood(const Eigen::Ref<const Vector> &reported, const Vector &expected) {
  double sum = 0;
  for (Eigen::Index y = 0; y < reported.size(); ++y)
    if (reported[y] > 0)
      sum += reported[y] * std::log(expected[y]);
  return sum;
}

// The squared extrapolation of SQUAREM (step S3), kept in the simplex. EM alone may take a share to
// 0, since it could never leave 0 again.
Vector extrapolate(const Vector &start, const Vector &first, const Vector &second) {
  const Vector change = first - start;
  const Vector curvature = second - first - change;
  if (curvature.norm() == 0)
    return second;
  const double step = std::max(1.0, change.norm() / curvature.norm());
  const Vector jump = (start + 2 * step * change + step * step * curvature).cwiseMax(1e-3 * second);
  return jump / jump.sum();
}

} // namespace

EmStep em_step(const Eigen::Ref<const Vector> &reported, const ChannelMaps &channel,
               const Vector &shares) {
  const Vector expected = channel.forward(shares);
  Vector ratio = Vector::Zero(reported.size());
  for (Eigen::Index y = 0; y < reported.size(); ++y)
    if (reported[y] > 0)
      ratio[y] = reported[y] / expected[y];
  const Vector gradient = channel.transposed(ratio);
  return {shares.cwiseProduct(gradient), log_likelihood(reported, expected),
          gradient.maxCoeff() - 1};
}

EmResult maximum_likelihood(const Eigen::Ref<const Vector> &reported, Eigen::Index size,
                            const ChannelMaps &channel, const EmControl &control,
                            const std::function<void()> &interrupt) {
  const auto step = [&](const Vector &shares) {
    interrupt();
    return em_step(reported, channel, shares);
  };
  SquaremEnd end =
      squarem(Vector::Constant(size, 1.0 / static_cast<double>(size)), control, step, extrapolate);
  return {std::move(end.shares), end.last.log_likelihood, end.last.optimality_gap, end.evaluations,
          end.converged};
}

} // namespace confide
