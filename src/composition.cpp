#include "composition.h"
#include "rounding.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace confide {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Twice the relative error of one rounding; libm's functions are trusted to within four of them.
constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr double exponent_end = 700; // e^700 is still a double
constexpr double smallest_normal = std::numeric_limits<double>::min();

struct Group {
  Response response;
  std::size_t times;
};

using Law = std::vector<LossAtom>;

std::vector<Group> group_equal(std::vector<Response> attributes) {
  std::sort(attributes.begin(), attributes.end(), [](const Response &one, const Response &other) {
    return std::make_pair(one.epsilon, one.levels) < std::make_pair(other.epsilon, other.levels);
  });
  std::vector<Group> groups;
  for (const Response &response : attributes) {
    const bool same = !groups.empty() && groups.back().response.epsilon == response.epsilon &&
                      groups.back().response.levels == response.levels;
    if (same)
      ++groups.back().times;
    else
      groups.push_back({response, 1});
  }
  return groups;
}

// Probabilities of the losses +epsilon, 0 and -epsilon of one answer (Ruiz 2026: a, (r - 2) b, b).
struct ThreePoints {
  double up, none, down;
};

ThreePoints three_points(const Response &response) {
  const double odds = std::exp(-response.epsilon);
  const double truthful = 1 / (1 + (response.levels - 1) * odds);
  const double other = odds * truthful;
  return {truthful, (response.levels - 2) * other, other};
}

// The loss of `times` like answers: the three-point law convolved with itself. O(times^2).
Law repeated_law(const Group &group) {
  const ThreePoints step = three_points(group.response);
  const std::size_t size = 2 * group.times + 1;
  std::vector<double> probability(size, 0), next(size, 0);
  probability[group.times] = 1;
  for (std::size_t done = 0; done < group.times; ++done) {
    const std::size_t first = group.times - done, last = group.times + done;
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = first; i <= last; ++i) {
      next[i - 1] += step.down * probability[i];
      next[i] += step.none * probability[i];
      next[i + 1] += step.up * probability[i];
    }
    probability.swap(next);
  }
  Law law;
  for (std::size_t i = 0; i < size; ++i)
    law.push_back(
        {(static_cast<double>(i) - static_cast<double>(group.times)) * group.response.epsilon,
         probability[i]});
  return law;
}

bool fits(const std::vector<Group> &groups, std::size_t limit) {
  double size = 1;
  for (const Group &group : groups)
    size *= 2 * static_cast<double>(group.times) + 1;
  return size <= static_cast<double>(limit);
}

// All sums of one loss from each law.
Law product_law(const std::vector<Law> &laws) {
  Law product{{0, 1}};
  for (const Law &law : laws) {
    Law next;
    next.reserve(product.size() * law.size());
    for (const LossAtom &one : product)
      for (const LossAtom &other : law)
        next.push_back({one.loss + other.loss, one.probability * other.probability});
    product.swap(next);
  }
  return product;
}

using GridIndex = std::int64_t;

// Each atom goes to its two neighbours on the grid so that the masses under P and under Q stay: the
// spread pair dominates the pair (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). The loss
// is raised by 2^-32 of a step first, which outweighs all rounding here.
std::map<GridIndex, double> spread_on_grid(const Law &law, double step) {
  std::map<GridIndex, double> spread;
  for (const LossAtom &atom : law) {
    const double position = atom.loss / step + 0x1p-32;
    const double below = std::floor(position);
    const double upper_share =
        std::min(1.0, std::expm1(-(position - below) * step) / std::expm1(-step));
    const auto index = static_cast<GridIndex>(below);
    spread[index] += atom.probability * (1 - upper_share);
    spread[index + 1] += atom.probability * upper_share;
  }
  return spread;
}

struct GridLaw {
  GridIndex first;
  std::vector<double> probability;
};

GridLaw convolve(const GridLaw &dense, const std::map<GridIndex, double> &sparse,
                 const std::function<void()> &interrupt) {
  const GridIndex low = sparse.begin()->first, high = sparse.rbegin()->first;
  GridLaw sum{dense.first + low,
              std::vector<double>(dense.probability.size() + static_cast<std::size_t>(high - low))};
  for (const auto &[index, probability] : sparse) {
    interrupt();
    double *target = sum.probability.data() + (index - low);
    for (std::size_t i = 0; i < dense.probability.size(); ++i)
      target[i] += probability * dense.probability[i];
  }
  return sum;
}

Law grid_law(const std::vector<Law> &laws, double step, const std::function<void()> &interrupt) {
  GridLaw total{0, {1}};
  for (const Law &law : laws)
    total = convolve(total, spread_on_grid(law, step), interrupt);
  Law atoms;
  for (std::size_t i = 0; i < total.probability.size(); ++i)
    atoms.push_back({static_cast<double>(total.first + static_cast<GridIndex>(i)) * step,
                     total.probability[i]});
  return atoms;
}

// What rounding may have taken is given back. A probability has gone through at most 40 roundings
// per attribute, a loss through one per group; below the normal range there is no relative error.
struct RoundingLoss {
  double relative, loss;
};

LossDistribution round_up(const Law &law, double largest, const RoundingLoss &rounding) {
  LossDistribution losses{{}, largest};
  for (const LossAtom &atom : law) {
    const double loss = atom.loss + rounding.loss;
    if (loss > 0)
      losses.atoms.push_back({loss, atom.probability * (1 + rounding.relative) + smallest_normal});
  }
  std::sort(losses.atoms.begin(), losses.atoms.end(),
            [](const LossAtom &one, const LossAtom &other) { return one.loss > other.loss; });
  return losses;
}

// The smallest epsilon in [low, high] at which `holds`, which is true at high; always one at which
// it is.
template <class Holds> double bisect(double low, double high, const Holds &holds) {
  while (high - low > 2 * unit * high) {
    const double middle = low + (high - low) / 2;
    if (middle <= low)
      break; // no number between them
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

// Neumaier's sum of terms that are not negative: two roundings in all.
class Sum {
public:
  void add(double term) {
    const double next = total_ + term;
    rest_ += total_ >= term ? (total_ - next) + term : (term - next) + total_;
    total_ = next;
  }
  double value() const { return total_ + rest_; }

private:
  double total_ = 0, rest_ = 0;
};

} // namespace

LossDistribution compose(std::vector<Response> attributes, const CompositionLimits &limits,
                         const std::function<void()> &interrupt) {
  Eigen::VectorXd epsilons(static_cast<Eigen::Index>(attributes.size()));
  for (std::size_t j = 0; j < attributes.size(); ++j)
    epsilons[static_cast<Eigen::Index>(j)] = attributes[j].epsilon;
  const double largest = sum_rounded_up(epsilons);
  if (!std::isfinite(largest))
    return {{{infinity, 1}}, infinity};
  if (largest == 0)
    return {{}, 0};

  const auto count = static_cast<double>(attributes.size());
  const std::vector<Group> groups = group_equal(std::move(attributes));
  std::vector<Law> laws;
  for (const Group &group : groups) {
    interrupt();
    laws.push_back(repeated_law(group));
  }
  const double step = 2 * largest / static_cast<double>(limits.grid);
  const Law law =
      fits(groups, limits.support) ? product_law(laws) : grid_law(laws, step, interrupt);
  return round_up(
      law, largest,
      {(20 * count + 16) * unit, (static_cast<double>(groups.size()) + 2) * unit * largest});
}

double delta_at(const LossDistribution &losses, double epsilon) {
  if (epsilon >= losses.largest)
    return 0;
  Sum delta;
  for (const LossAtom &atom : losses.atoms) {
    if (atom.loss <= epsilon)
      break;
    delta.add(-atom.probability * std::expm1(epsilon - atom.loss));
  }
  return std::min(1.0, delta.value() * (1 + 16 * unit));
}

double epsilon_at(const LossDistribution &losses, double delta) {
  const auto holds = [&](double epsilon) { return delta_at(losses, epsilon) <= delta; };
  if (delta == 0 || !std::isfinite(losses.largest))
    return losses.largest;
  return holds(0) ? 0 : bisect(0, losses.largest, holds);
}

// Ruiz 2026 and Mironov 2017. With s = (alpha - 1) epsilon the power sum is 1 + b (expm1(epsilon)
// expm1(s) + expm1(s) + expm1(-s)), which keeps its digits near 0; far away its logarithm is taken
// term by term.
double renyi_divergence(const Response &response, double alpha) {
  const double epsilon = response.epsilon, tilt = (alpha - 1) * epsilon;
  if (!std::isfinite(tilt) || epsilon == 0)
    return epsilon;
  const double odds = std::exp(-epsilon);
  const double log_other = -epsilon - std::log1p((response.levels - 1) * odds);
  const double half = std::sinh(std::min(tilt, 30.0) / 2);
  const double power_sum =
      tilt < 30 ? std::log1p(std::exp(log_other) *
                             (std::expm1(epsilon) * std::expm1(tilt) + 4 * half * half))
                : log_other + alpha * epsilon +
                      std::log1p(std::exp(-tilt) *
                                 (std::exp(-alpha * epsilon) + (response.levels - 2) * odds));
  return std::min(epsilon, power_sum / (alpha - 1) * (1 + 64 * unit));
}

namespace {

// The largest value of f over ordered pairs of rows. Rows are handed over as contiguous columns.
template <class Divergence>
double worst_pair(const Eigen::MatrixXd &rows, const std::function<void()> &interrupt,
                  const Divergence &divergence) {
  double worst = 0;
  for (Eigen::Index x = 0; x < rows.cols(); ++x) {
    interrupt();
    for (Eigen::Index z = 0; z < rows.cols(); ++z)
      if (x != z)
        worst = std::max(worst, divergence(x, z));
  }
  return worst;
}

// The hockey-stick divergence of two rows, with the rounding of the entries and of e^epsilon
// against us.
double pair_delta(const Eigen::Ref<const Eigen::VectorXd> &one,
                  const Eigen::Ref<const Eigen::VectorXd> &other, double epsilon) {
  const double bound = std::exp(std::min(epsilon, exponent_end)) * (1 - 16 * unit);
  Sum delta;
  for (Eigen::Index y = 0; y < one.size(); ++y)
    delta.add(std::max(0.0, one[y] * (1 + 4 * unit) - bound * other[y]));
  return std::min(1.0, delta.value() * (1 + 4 * unit));
}

} // namespace

double delta_at(const ChannelView &channel, double epsilon,
                const std::function<void()> &interrupt) {
  if (epsilon >= channel.largest)
    return 0;
  const Eigen::MatrixXd rows = channel.probabilities.transpose();
  return worst_pair(rows, interrupt, [&](Eigen::Index x, Eigen::Index z) {
    return pair_delta(rows.col(x), rows.col(z), epsilon);
  });
}

// A pair that keeps delta at the epsilon found so far cannot raise it.
double epsilon_at(const ChannelView &channel, double delta,
                  const std::function<void()> &interrupt) {
  if (delta == 0)
    return channel.largest;
  const Eigen::MatrixXd rows = channel.probabilities.transpose();
  const double end = std::min(channel.largest, exponent_end);
  double found = 0;
  worst_pair(rows, interrupt, [&](Eigen::Index x, Eigen::Index z) {
    const auto holds = [&](double epsilon) {
      return pair_delta(rows.col(x), rows.col(z), epsilon) <= delta;
    };
    if (!holds(found))
      found = holds(end) ? bisect(found, end, holds) : channel.largest;
    return found;
  });
  return std::min(found, channel.largest);
}

double renyi_divergence(const ChannelView &channel, double alpha,
                        const std::function<void()> &interrupt) {
  if (!std::isfinite(alpha))
    return channel.largest;
  const Eigen::MatrixXd rows = channel.probabilities.transpose();
  const Eigen::MatrixXd logs = rows.array().log();
  Eigen::VectorXd exponents(rows.rows());
  const double worst = worst_pair(rows, interrupt, [&](Eigen::Index x, Eigen::Index z) {
    double size = 0;
    for (Eigen::Index y = 0; y < rows.rows(); ++y) {
      const bool possible = rows(y, x) > 0;
      exponents[y] = possible ? logs(y, x) + (alpha - 1) * (logs(y, x) - logs(y, z)) : -infinity;
      size = possible ? std::max(size, std::abs(exponents[y])) : size;
    }
    const double top = exponents.maxCoeff();
    if (!std::isfinite(top))
      return infinity;
    const double log_sum = top + std::log((exponents.array() - top).exp().sum());
    // what rounding may have taken from the exponents and from their sum
    const double slack = (16 + 8 * size + static_cast<double>(rows.rows())) * unit;
    return (log_sum + slack) / (alpha - 1);
  });
  return std::min(worst, channel.largest);
}

ChannelDivergences channel_divergences(const ChannelView &channel,
                                       const std::function<void()> &interrupt) {
  const Eigen::MatrixXd rows = channel.probabilities.transpose();
  const auto sum_over_reports = [&](Eigen::Index x, Eigen::Index z, const auto &term) {
    double sum = 0;
    for (Eigen::Index y = 0; y < rows.rows(); ++y) {
      const double p = rows(y, x), q = rows(y, z);
      sum += p == q ? 0 : q == 0 ? infinity : term(p, q);
    }
    return sum;
  };
  return {worst_pair(rows, interrupt,
                     [&](Eigen::Index x, Eigen::Index z) {
                       return sum_over_reports(x, z, [](double p, double q) {
                         return (p > 0 ? p * std::log(p / q) : 0) - p + q;
                       });
                     }),
          worst_pair(rows, interrupt, [&](Eigen::Index x, Eigen::Index z) {
            return sum_over_reports(x, z,
                                    [](double p, double q) { return (p - q) * ((p - q) / q); });
          })};
}

} // namespace confide
