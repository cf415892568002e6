#pragma once
#include "likelihood.h"
#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <vector>

namespace confide {

// A hierarchical log-linear model of a table, first attribute fastest.
struct LogLinearModel {
  std::vector<std::size_t> sizes;                // levels of each attribute
  std::vector<std::vector<std::size_t>> margins; // the generating class: attributes from 0
};

struct LogLinearFit {
  Eigen::VectorXd shares;
  double log_likelihood; // per unit of weight: sum psi_hat log psi
  double residual;       // of the likelihood equations: the largest gap between a fitted margin and
                         // its conditional expectation given the reports
  std::size_t evaluations;
  bool converged;
};

// Iterative proportional fitting of the margins of `target`, from `start`, which stays in the
// log-linear family of start. Ends when no margin is off by more than tolerance, or after `cycles`.
// O(cycles * margins * cells).
Eigen::VectorXd fit_margins(Eigen::VectorXd start, const Eigen::Ref<const Eigen::VectorXd> &target,
                            const LogLinearModel &model, std::size_t cycles, double tolerance);

// Maximum likelihood under the model from the shares of reports: ECM (Meng and Rubin 1993), the E
// step through the channel, the M step by proportional fitting, accelerated by SQUAREM on the
// log scale, where the model is linear. A cell that is 0 in `start` stays 0; start sums to 1 and
// lies in the model. The likelihood may have several optima: the one found depends on start.
LogLinearFit fit_log_linear(const Eigen::Ref<const Eigen::VectorXd> &reported,
                            const LogLinearModel &model, const ChannelMaps &channel,
                            const Eigen::Ref<const Eigen::VectorXd> &start,
                            const EmControl &control, const std::function<void()> &interrupt);

// The channel on a table of which only `cells` are possible; the other `size` - cells are
// structural zeros.
ChannelMaps restrict_channel(const ChannelMaps &channel, std::vector<Eigen::Index> cells,
                             Eigen::Index size);

} // namespace confide
