#include "composition.h"
#include "rounding.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace confide {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Twice the relative error of one rounding; libm's functions are trusted to within four of them.
constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr double exponent_end = 700; // e^700 is still a double
constexpr double smallest_normal = std::numeric_limits<double>::min();

struct Group {
  LossPair pair;
  std::size_t times;
};

using Law = std::vector<LossAtom>;

auto as_tuple(const LossPair &pair) {
  return std::make_tuple(pair.up, pair.down, pair.at_up, pair.at_none, pair.at_down);
}

std::vector<Group> group_equal(std::vector<LossPair> pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const LossPair &one, const LossPair &other) {
    return as_tuple(one) < as_tuple(other);
  });
  std::vector<Group> groups;
  for (const LossPair &pair : pairs) {
    if (!groups.empty() && as_tuple(groups.back().pair) == as_tuple(pair))
      ++groups.back().times;
    else
      groups.push_back({pair, 1});
  }
  return groups;
}

bool is_symmetric(const LossPair &pair) { return pair.up == pair.down; }

// The loss of `times` like answers whose two losses are of one size: the three-point law convolved
// with itself. O(times^2).
Law symmetric_law(const Group &group) {
  const LossPair &step = group.pair;
  const std::size_t size = 2 * group.times + 1;
  std::vector<double> probability(size, 0), next(size, 0);
  probability[group.times] = 1;
  for (std::size_t done = 0; done < group.times; ++done) {
    const std::size_t first = group.times - done, last = group.times + done;
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = first; i <= last; ++i) {
      next[i - 1] += step.at_down * probability[i];
      next[i] += step.at_none * probability[i];
      next[i + 1] += step.at_up * probability[i];
    }
    probability.swap(next);
  }
  Law law;
  for (std::size_t i = 0; i < size; ++i)
    law.push_back(
        {(static_cast<double>(i) - static_cast<double>(group.times)) * step.up, probability[i]});
  return law;
}

// The same for two sizes, over the numbers of ups and downs; an infinite up is left out.
// O(times^3).
Law two_sided_law(const Group &group) {
  const LossPair &step = group.pair;
  const bool finite = std::isfinite(step.up);
  const std::size_t width = group.times + 1;
  std::vector<double> probability(width * width, 0), next = probability;
  probability[0] = 1;
  for (std::size_t done = 0; done < group.times; ++done) {
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t ups = 0; ups <= (finite ? done : 0); ++ups)
      for (std::size_t downs = 0; ups + downs <= done; ++downs) {
        const std::size_t at = ups * width + downs;
        next[at] += step.at_none * probability[at];
        next[at + 1] += step.at_down * probability[at];
        if (finite)
          next[at + width] += step.at_up * probability[at];
      }
    probability.swap(next);
  }
  Law law;
  for (std::size_t ups = 0; ups <= (finite ? group.times : 0); ++ups)
    for (std::size_t downs = 0; ups + downs <= group.times; ++downs)
      law.push_back({(ups > 0 ? static_cast<double>(ups) * step.up : 0) -
                         static_cast<double>(downs) * step.down,
                     probability[ups * width + downs]});
  return law;
}

Law repeated_law(const Group &group) {
  return is_symmetric(group.pair) && std::isfinite(group.pair.up) ? symmetric_law(group)
                                                                  : two_sided_law(group);
}

// How many atoms the product of the repeated laws has.
double support_of(const std::vector<Group> &groups) {
  double size = 1;
  for (const Group &group : groups) {
    const auto times = static_cast<double>(group.times);
    size *= !std::isfinite(group.pair.up) ? times + 1
            : is_symmetric(group.pair)    ? 2 * times + 1
                                          : (times + 1) * (times + 2) / 2;
  }
  return size;
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

namespace {

// Probability that some answer has an infinite loss.
double infinite_probability(const std::vector<Group> &groups) {
  double log_none = 0;
  for (const Group &group : groups)
    if (!std::isfinite(group.pair.up))
      log_none += static_cast<double>(group.times) * std::log1p(-group.pair.at_up);
  return -std::expm1(log_none);
}

// The longest way up and down together, without infinite losses.
double reach(const std::vector<Group> &groups) {
  double sum = 0;
  for (const Group &group : groups)
    sum += static_cast<double>(group.times) *
           ((std::isfinite(group.pair.up) ? group.pair.up : 0) + group.pair.down);
  return sum;
}

LossDistribution compose_groups(const std::vector<Group> &groups, double largest,
                                const CompositionLimits &limits,
                                const std::function<void()> &interrupt) {
  double count = 0;
  std::vector<Law> laws;
  for (const Group &group : groups) {
    interrupt();
    laws.push_back(repeated_law(group));
    count += static_cast<double>(group.times);
  }
  const double length = reach(groups);
  const bool exact = support_of(groups) <= static_cast<double>(limits.support) || length == 0;
  const Law law = exact ? product_law(laws)
                        : grid_law(laws, length / static_cast<double>(limits.grid), interrupt);
  const double relative = (20 * count + 16) * unit;
  LossDistribution losses =
      round_up(law, largest, {relative, (static_cast<double>(groups.size()) + 8) * unit * length});
  const double infinite = infinite_probability(groups);
  if (infinite > 0)
    losses.atoms.insert(losses.atoms.begin(), {infinity, infinite * (1 + relative)});
  return losses;
}

LossPair pair_of(const KnownNoise &noise, double own, double other) {
  // The loss of the rarest level is the claim; what follows from the others is below it.
  const auto loss = [&](double c) {
    return c == noise.rarest ? noise.epsilon : std::min(noise.epsilon, std::log1p(noise.kept / c));
  };
  return {loss(own), other > 0 ? loss(other) : 0, noise.kept + own,
          std::max(0.0, 1 - noise.kept - own - other), other};
}

struct NoiseGroup {
  WorstPairs pairs;
  std::size_t times, backward;
};

std::vector<NoiseGroup> group_equal(const std::vector<KnownNoise> &noisy) {
  std::vector<NoiseGroup> groups;
  std::map<std::tuple<double, double, double, double>, std::size_t> times;
  for (const KnownNoise &noise : noisy)
    ++times[{noise.epsilon, noise.kept, noise.rarest, noise.second}];
  for (const auto &[key, number] : times)
    groups.push_back({worst_pairs(KnownNoise{std::get<0>(key), std::get<1>(key), std::get<2>(key),
                                             std::get<3>(key)}),
                      number, 0});
  return groups;
}

// The next choice of how many like answers go backward, until all were made.
bool advance(std::vector<NoiseGroup> &groups) {
  for (NoiseGroup &group : groups) {
    const bool alike = as_tuple(group.pairs.forward) == as_tuple(group.pairs.backward);
    if (!alike && group.backward < group.times) {
      ++group.backward;
      return true;
    }
    group.backward = 0;
  }
  return false;
}

} // namespace

// Ruiz 2026: a, (r - 2) b and b.
WorstPairs worst_pairs(const Response &response) {
  const double odds = std::exp(-response.epsilon);
  const double truthful = 1 / (1 + (response.levels - 1) * odds);
  const double other = odds * truthful;
  const LossPair pair{response.epsilon, std::isfinite(response.epsilon) ? response.epsilon : 0,
                      truthful, (response.levels - 2) * other, other};
  return {pair, pair, pair};
}

WorstPairs worst_pairs(const KnownNoise &noise) {
  return {pair_of(noise, noise.rarest, noise.second), pair_of(noise, noise.second, noise.rarest),
          pair_of(noise, noise.rarest, noise.rarest)};
}

LossDistribution compose(const std::vector<Response> &attributes, const CompositionLimits &limits,
                         const std::function<void()> &interrupt) {
  return compose_worst(attributes, {}, limits, interrupt).front();
}

std::vector<LossDistribution> compose_worst(const std::vector<Response> &uniform,
                                            const std::vector<KnownNoise> &noisy,
                                            const CompositionLimits &limits,
                                            const std::function<void()> &interrupt) {
  std::vector<LossPair> common, bound;
  std::vector<double> claims;
  for (const Response &response : uniform) {
    common.push_back(worst_pairs(response).forward);
    claims.push_back(response.epsilon);
  }
  bound = common;
  for (const KnownNoise &noise : noisy) {
    bound.push_back(worst_pairs(noise).bound);
    claims.push_back(noise.epsilon);
  }
  const double largest = sum_rounded_up(
      Eigen::Map<const Eigen::VectorXd>(claims.data(), static_cast<Eigen::Index>(claims.size())));
  if (largest == 0)
    return {{{}, 0}};

  std::vector<NoiseGroup> choices = group_equal(noisy);
  std::vector<std::vector<Group>> products;
  double atoms = 0;
  bool fits = true;
  do {
    std::vector<LossPair> pairs = common;
    for (const NoiseGroup &group : choices) {
      pairs.insert(pairs.end(), group.times - group.backward, group.pairs.forward);
      pairs.insert(pairs.end(), group.backward, group.pairs.backward);
    }
    products.push_back(group_equal(std::move(pairs)));
    const double support = support_of(products.back());
    atoms += support;
    fits = support <= static_cast<double>(limits.support) &&
           atoms <= static_cast<double>(limits.products);
  } while (fits && advance(choices));

  if (!fits)
    products.assign(1, group_equal(std::move(bound)));
  std::vector<LossDistribution> composed;
  for (const auto &product : products)
    composed.push_back(compose_groups(product, largest, limits, interrupt));
  return composed;
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
  if (delta == 0)
    return losses.largest;
  if (holds(0))
    return 0;
  double end = losses.largest;
  if (!std::isfinite(end)) {
    // infinite losses need their probability at any epsilon; the others end at the largest of them
    const auto finite = std::find_if(losses.atoms.begin(), losses.atoms.end(),
                                     [](const LossAtom &atom) { return std::isfinite(atom.loss); });
    end = finite == losses.atoms.end() ? 0 : finite->loss;
    if (!holds(end))
      return losses.largest;
  }
  return bisect(0, end, holds);
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

// The power sum is 1 + p_up expm1((alpha - 1) up) + p_down expm1(-(alpha - 1) down).
double renyi_divergence(const KnownNoise &noise, double alpha) {
  const double tilt = alpha - 1;
  if (!std::isfinite(tilt * noise.epsilon))
    return noise.epsilon;
  const WorstPairs pairs = worst_pairs(noise);
  double worst = 0;
  for (const LossPair &pair : {pairs.forward, pairs.backward}) {
    const double rise = tilt * pair.up, fall = pair.at_down * std::expm1(-tilt * pair.down);
    // the parts nearly cancel at small epsilon; what rounding may take is given back
    const double part = pair.at_up * std::expm1(std::min(rise, 30.0));
    const double log_sum =
        rise < 30 ? std::log1p(part + fall + 16 * unit * part)
                  : rise + std::log(pair.at_up + (1 - pair.at_up + fall) * std::exp(-rise)) +
                        16 * unit * (1 + rise);
    worst = std::max(worst, log_sum / tilt * (1 + 16 * unit));
  }
  return std::min(noise.epsilon, worst);
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
