#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

// Runs a sampler once for every path of its random choices and adds up exact probabilities. A
// sampler's trial that is rejected starts afresh, so P(y) = mass(y) / (1 - rejected).
namespace choice_tree {

using Real = long double;

class Walk {
public:
  struct Pruned {};

  // The next choice on this path. Throws Pruned when the path has become too improbable to matter.
  std::size_t choose(std::vector<Real> probabilities) {
    if (depth_ == path_.size())
      path_.push_back({0, std::move(probabilities)});
    const Choice &choice = path_[depth_++];
    weight_ *= choice.probabilities[choice.index];
    if (weight_ < cutoff_)
      throw Pruned{};
    return choice.index;
  }

  bool flip(Real probability) { return choose({1 - probability, probability}) == 1; }

  Real weight() const { return weight_; }

  // Moves on to the next path; false after the last.
  bool advance() {
    path_.resize(depth_);
    depth_ = 0;
    weight_ = 1;
    while (!path_.empty() && ++path_.back().index == path_.back().probabilities.size())
      path_.pop_back();
    return !path_.empty();
  }

private:
  struct Choice {
    std::size_t index;
    std::vector<Real> probabilities;
  };
  static constexpr Real cutoff_ = 1e-21L;
  std::vector<Choice> path_;
  std::size_t depth_ = 0;
  Real weight_ = 1;
};

struct Law {
  std::map<std::int64_t, Real> mass;
  Real rejected = 0, pruned = 0;
  std::size_t leaves = 0;

  Real probability(std::int64_t y) const {
    const auto found = mass.find(y);
    return found == mass.end() ? 0 : found->second / (1 - rejected);
  }
};

// The law of trial(walk), which returns std::optional<std::int64_t>.
template <class Trial> Law enumerate(const Trial &trial) {
  Law law;
  Walk walk;
  do {
    ++law.leaves;
    try {
      const std::optional<std::int64_t> y = trial(walk);
      (y ? law.mass[*y] : law.rejected) += walk.weight();
    } catch (const Walk::Pruned &) {
      law.pruned += walk.weight();
    }
  } while (walk.advance());
  return law;
}

// Only coins and uniform integers are choices.
struct Coins {
  Walk &walk;
  bool coin() { return walk.flip(0.5L); }
  std::uint64_t below(std::uint64_t n) {
    return walk.choose(std::vector<Real>(n, 1 / static_cast<Real>(n)));
  }
};

} // namespace choice_tree
