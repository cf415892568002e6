#include "block_sampler.h"

namespace confide {

SubsetSampler::SubsetSampler(std::uint32_t v, std::uint32_t k) : v_(v), k_(k), marked_(v, 0) {}

bool SubsetSampler::mark(std::uint32_t element) {
  const bool fresh = marked_[element] != round_;
  marked_[element] = round_;
  return fresh;
}

void SubsetSampler::add_uniform(std::uint32_t n, std::uint32_t size, std::uint32_t gap,
                                RandomSource &random, std::vector<std::uint32_t> &subset) {
  const auto place = [gap](std::uint32_t number) { return number < gap ? number : number + 1; };
  for (std::uint32_t j = n - size; j < n; ++j) {
    const std::uint32_t drawn = place(static_cast<std::uint32_t>(random.below(j + 1u)));
    if (mark(drawn)) {
      subset.push_back(drawn);
    } else {
      mark(place(j));
      subset.push_back(place(j));
    }
  }
}

void SubsetSampler::report(std::uint32_t symbol, const BlockWeights<> &w, RandomSource &random,
                           std::vector<std::uint32_t> &subset) {
  if (++round_ == 0) { // after 2^32 reports marks would be mistaken
    std::fill(marked_.begin(), marked_.end(), 0);
    round_ = 1;
  }
  subset.clear();
  if (choose(w, random).member) {
    subset.push_back(symbol);
    add_uniform(v_ - 1, k_ - 1, symbol, random, subset);
  } else {
    add_uniform(v_, k_, v_, random, subset);
  }
  std::sort(subset.begin(), subset.end());
}

namespace {

// splitmix64: D must look uniform over seeds, it protects nothing.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

} // namespace

SharedSets::SharedSets(std::uint32_t v, std::uint32_t k) : v_(v), k_(k), marked_(v, 0) {}

const std::vector<std::uint32_t> &SharedSets::set(std::uint32_t seed) {
  if (++round_ == 0) {
    std::fill(marked_.begin(), marked_.end(), 0);
    round_ = 1;
  }
  set_.clear();
  std::uint64_t state = mix(seed + 0x9e3779b97f4a7c15u);
  for (std::uint32_t j = v_ - k_; j < v_; ++j) {
    state += 0x9e3779b97f4a7c15u;
    // The high half of word * (j + 1): off uniform by less than 2^-32.
    auto element = static_cast<std::uint32_t>((static_cast<u128>(mix(state)) * (j + 1u)) >> 64);
    if (marked_[element] == round_)
      element = j;
    marked_[element] = round_;
    set_.push_back(element);
  }
  return set_;
}

} // namespace confide
