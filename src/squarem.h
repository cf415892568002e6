#pragma once
#include "likelihood.h"
#include <utility>

namespace confide {

// Where an accelerated search ended, and the step from there.
struct SquaremEnd {
  Eigen::VectorXd shares;
  EmStep last;
  std::size_t evaluations;
  bool converged;
};

// SQUAREM (Varadhan and Roland 2008): `jump` extrapolates from a point, its step and the step after
// that. A jump that loses likelihood against the two steps is not taken, so likelihood never falls
// where `step` does not lower it.
template <class Step, class Jump>
SquaremEnd squarem(Eigen::VectorXd start, const EmControl &control, const Step &step,
                   const Jump &jump) {
  SquaremEnd end{std::move(start), {}, 0, false};
  const auto evaluate = [&](const Eigen::VectorXd &shares) {
    ++end.evaluations;
    return step(shares);
  };
  end.last = evaluate(end.shares);
  while (true) {
    end.converged = (end.last.next - end.shares).cwiseAbs().maxCoeff() <= control.tolerance;
    if (end.converged || end.evaluations >= control.max_evaluations)
      return end;
    const EmStep second = evaluate(end.last.next);
    Eigen::VectorXd moved = jump(end.shares, end.last.next, second.next);
    EmStep jumped = evaluate(moved);
    const bool better = jumped.log_likelihood >= second.log_likelihood;
    end.shares = better ? std::move(moved) : second.next;
    end.last = better ? std::move(jumped) : evaluate(end.shares);
  }
}

} // namespace confide
