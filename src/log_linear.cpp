#include "log_linear.h"
#include "squarem.h"
#include <algorithm>
#include <cmath>
#include <utility>

namespace confide {

namespace {

using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

// Which cell of the margin each cell of the table adds to.
struct Margin {
  std::vector<Index> position;
  Index size;
};

Margin locate_margin(const std::vector<std::size_t> &sizes, const std::vector<std::size_t> &kept) {
  std::size_t cells = 1;
  for (const std::size_t size : sizes)
    cells *= size;
  Margin margin{std::vector<Index>(cells, 0), 1};
  for (const std::size_t attribute : kept) {
    std::size_t stride = 1;
    for (std::size_t j = 0; j < attribute; ++j)
      stride *= sizes[j];
    for (std::size_t cell = 0; cell < cells; ++cell)
      margin.position[cell] += margin.size * static_cast<Index>(cell / stride % sizes[attribute]);
    margin.size *= static_cast<Index>(sizes[attribute]);
  }
  return margin;
}

std::vector<Margin> locate_margins(const LogLinearModel &model) {
  std::vector<Margin> margins;
  for (const auto &kept : model.margins)
    margins.push_back(locate_margin(model.sizes, kept));
  return margins;
}

Vector sums(const Eigen::Ref<const Vector> &cells, const Margin &margin) {
  Vector result = Vector::Zero(margin.size);
  for (Index cell = 0; cell < cells.size(); ++cell)
    result[margin.position[static_cast<std::size_t>(cell)]] += cells[cell];
  return result;
}

Vector scale_to_margins(Vector shares, const Eigen::Ref<const Vector> &target,
                        const std::vector<Margin> &margins, std::size_t cycles, double tolerance) {
  std::vector<Vector> wanted;
  for (const Margin &margin : margins)
    wanted.push_back(sums(target, margin));
  for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
    double gap = 0;
    for (std::size_t j = 0; j < margins.size(); ++j) {
      const Vector found = sums(shares, margins[j]);
      gap = std::max(gap, (found - wanted[j]).cwiseAbs().maxCoeff());
      const Vector factor = (found.array() > 0).select(wanted[j].cwiseQuotient(found), 0.0);
      for (Index cell = 0; cell < shares.size(); ++cell)
        shares[cell] *= factor[margins[j].position[static_cast<std::size_t>(cell)]];
    }
    if (gap <= tolerance)
      break;
  }
  return shares;
}

// Below this a share is as good as 0 and its logarithm says nothing.
constexpr double tiny = 1e-290;
constexpr double longest_fall = -7; // of a log share in one jump: no early zeros

// SQUAREM's jump (Varadhan and Roland 2008, step S3) of the logarithms.
Vector extrapolate(const Vector &start, const Vector &first, const Vector &second) {
  Vector change = Vector::Zero(start.size()), curvature = change, jump = change;
  for (Index x = 0; x < start.size(); ++x) {
    if (start[x] < tiny || first[x] < tiny || second[x] < tiny)
      continue;
    change[x] = std::log(first[x] / start[x]);
    curvature[x] = std::log(second[x] / first[x]) - change[x];
  }
  if (curvature.norm() == 0)
    return second;
  const double step = std::max(1.0, change.norm() / curvature.norm());
  // from `second` on: start + 2 s r + s^2 v, less start + 2 r + v
  jump = 2 * (step - 1) * change + (step * step - 1) * curvature;
  const double steepest = jump.minCoeff();
  if (steepest < longest_fall)
    jump *= longest_fall / steepest;
  const Vector moved = second.array() * (jump.array() - jump.maxCoeff()).exp();
  return moved / moved.sum();
}

constexpr std::size_t most_cycles = 20;

} // namespace

Vector fit_margins(Vector start, const Eigen::Ref<const Vector> &target,
                   const LogLinearModel &model, std::size_t cycles, double tolerance) {
  return scale_to_margins(std::move(start), target, locate_margins(model), cycles, tolerance);
}

LogLinearFit fit_log_linear(const Eigen::Ref<const Vector> &reported, const LogLinearModel &model,
                            const ChannelMaps &channel, const Eigen::Ref<const Vector> &start,
                            const EmControl &control, const std::function<void()> &interrupt) {
  const std::vector<Margin> margins = locate_margins(model);
  // `next` of a step is the M step's table here, its gap that of the likelihood equations.
  const auto step = [&](const Vector &shares) {
    interrupt();
    EmStep step = em_step(reported, channel, shares);
    double residual = 0;
    for (const Margin &margin : margins)
      residual = std::max(residual,
                          (sums(step.next, margin) - sums(shares, margin)).cwiseAbs().maxCoeff());
    step.next = scale_to_margins(shares, step.next, margins, most_cycles, control.tolerance / 10);
    step.optimality_gap = residual;
    return step;
  };
  SquaremEnd end = squarem(start, control, step, extrapolate);
  return {std::move(end.shares), end.last.log_likelihood, end.last.optimality_gap, end.evaluations,
          end.converged};
}

ChannelMaps restrict_channel(const ChannelMaps &channel, std::vector<Index> cells, Index size) {
  return {[channel, cells, size](const Vector &shares) -> Vector {
            Vector table = Vector::Zero(size);
            for (std::size_t i = 0; i < cells.size(); ++i)
              table[cells[i]] = shares[static_cast<Index>(i)];
            return channel.forward(table);
          },
          [channel, cells](const Vector &ratio) -> Vector {
            const Vector table = channel.transposed(ratio);
            Vector possible(static_cast<Index>(cells.size()));
            for (std::size_t i = 0; i < cells.size(); ++i)
              possible[static_cast<Index>(i)] = table[cells[i]];
            return possible;
          }};
}

} // namespace confide
