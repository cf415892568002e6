#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <functional>

namespace confide {

// A channel as a pair of maps: from shares of true values to shares of reports, and the transposed
// map back.
struct ChannelMaps {
  using Map = std::function<Eigen::VectorXd(const Eigen::VectorXd &)>;
  Map forward, transposed;
};

struct EmControl {
  std::size_t max_evaluations;
  double tolerance; // largest change of a share in one EM step
};

struct EmResult {
  Eigen::VectorXd shares;
  double log_likelihood; // per unit of weight: sum psi_hat log psi
  double optimality_gap; // max gradient - 1: by concavity no distribution has a log-likelihood
                         // higher by more
  std::size_t evaluations;
  bool converged;
};

// One step of EM: the expected shares of true values given the reports, and what holds at `shares`
// before the step. The gradient of the log-likelihood is the transposed map of psi_hat / psi.
struct EmStep {
  Eigen::VectorXd next;
  double log_likelihood, optimality_gap;
};
EmStep em_step(const Eigen::Ref<const Eigen::VectorXd> &reported, const ChannelMaps &channel,
               const Eigen::VectorXd &shares);

// Maximum likelihood of the shares of `size` true values from the shares of reports, which sum to
// 1: the EM map pi * P (psi_hat / psi) (iterative Bayesian update), accelerated by SQUAREM
// (Varadhan and Roland 2008) and never losing likelihood. interrupt is called once per evaluation.
EmResult maximum_likelihood(const Eigen::Ref<const Eigen::VectorXd> &reported, Eigen::Index size,
                            const ChannelMaps &channel, const EmControl &control,
                            const std::function<void()> &interrupt);

} // namespace confide
