// Sort, partition, randomize: the solver, its certificates and the divergences.
#include "spr.h"
#include "spr_continuous.h"
#include "targets.h"
#include <limits>
#include <stdexcept>
#include <string>

namespace confide {

namespace {

spr::Divergence take_divergence(Bytes &bytes) {
  const std::vector<std::string> names{"kl", "reverse_kl",   "tv",    "chi2",        "hellinger2",
                                       "js", "hockey_stick", "renyi", "lr_distance", "chernoff"};
  const std::string name = bytes.one_of(names);
  if (name == "hockey_stick")
    return spr::named_divergence(name, bytes.positive(20));
  if (name == "renyi")
    return spr::named_divergence(name, bytes.positive(20));
  if (name == "lr_distance")
    return spr::named_divergence(name, 1 + bytes.positive(5));
  return spr::named_divergence(name);
}

std::vector<double> take_masses(Bytes &bytes, std::size_t k) {
  std::vector<double> masses(k);
  for (double &mass : masses)
    mass = bytes.take<std::uint8_t>() % 8 == 0 ? 0 : bytes.positive(1);
  return masses;
}

// s-ary randomized response on blocks, from the formula.
std::vector<double> reports_of(const std::vector<double> &masses,
                               const std::vector<std::uint32_t> &block, std::size_t outputs,
                               double c) {
  std::vector<double> blocks(outputs, 0);
  double total = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    blocks[block[i]] += masses[i];
    total += masses[i];
  }
  for (double &mass : blocks)
    mass = (1 + c * mass / total) / (c + static_cast<double>(outputs));
  return blocks;
}

double slack(double value) { return 1e-9 * (1 + std::abs(value)); }

} // namespace

void fuzz_spr(Bytes &bytes) {
  const std::size_t k = bytes.between(1, 9);
  const std::vector<double> p0 = take_masses(bytes, k), p1 = take_masses(bytes, k);
  spr::Options options;
  options.epsilon = bytes.positive(8);
  options.method = bytes.flag() ? spr::Method::bracket : spr::Method::direct;
  if (bytes.flag())
    options.max_outputs = bytes.between(1, 5);
  if (bytes.flag())
    options.tolerance = bytes.positive(0.1);
  try {
    options.divergence = take_divergence(bytes);
    const spr::Result result = spr::solve(p0, p1, options);
    require(result.lower <= result.upper + slack(result.upper) && result.lower >= -1e-15);
    require(result.outputs >= 1 && result.outputs <= std::min(options.max_outputs, k));
    require(result.block.size() == k && result.epsilon <= options.epsilon);
    for (const std::uint32_t block : result.block)
      require(block < result.outputs);
    const double c = std::expm1(result.epsilon);
    const auto m0 = reports_of(p0, result.block, result.outputs, c);
    const auto m1 = reports_of(p1, result.block, result.outputs, c);
    const double attained = spr::divergence_between(options.divergence, m0, m1);
    require(std::abs(attained - result.lower) <= 1e-6 * (1 + std::abs(attained)));
    // A channel at random: no cut of the symbols beats the certificate.
    if (options.divergence.kind == spr::DivergenceKind::user)
      return;
    const std::size_t outputs = std::min({options.max_outputs, k, bytes.between(1, 4)});
    std::vector<std::uint32_t> any(k);
    for (std::uint32_t &block : any)
      block = static_cast<std::uint32_t>(bytes.take<std::uint8_t>() % outputs);
    const double rival = spr::divergence_between(
        options.divergence, reports_of(p0, any, outputs, c), reports_of(p1, any, outputs, c));
    require(rival <= result.upper + 1e-6 * (1 + std::abs(rival)));
  } catch (const std::invalid_argument &) { // no mass, or a parameter out of range
  }
}

void fuzz_spr_continuous(Bytes &bytes) {
  // Where the best value is nearly 0 a relative gap closes late: seconds, not a fault.
  const double shift = 0.1 + bytes.positive(4);
  const auto normal = [](double mean) {
    return spr::one_by_one([mean](double x) { return std::erfc((mean - x) / std::sqrt(2.0)) / 2; });
  };
  spr::ContinuousPair pair;
  pair.cdf0 = normal(shift);
  pair.cdf1 = normal(0);
  spr::ContinuousOptions options;
  options.epsilon = 0.01 + bytes.positive(4);
  options.tolerance = 1e-2;
  options.max_outputs = bytes.between(1, 4);
  try {
    options.divergence = spr::named_divergence(
        bytes.one_of<std::string>({"kl", "reverse_kl", "tv", "chi2", "hellinger2", "js"}));
    const spr::ContinuousResult result = spr::solve_continuous(pair, options);
    require(result.lower <= result.upper + slack(result.upper));
    require(std::is_sorted(result.cuts.begin(), result.cuts.end()));
    require(result.outputs <= options.max_outputs && result.cuts.size() + 1 == result.outputs);
    for (const auto &reports : {result.m0, result.m1}) {
      double sum = 0;
      for (const double share : reports)
        sum += share;
      require(std::abs(sum - 1) < 1e-9);
    }
    for (std::size_t i = 0; i < result.m0.size(); ++i)
      require(std::abs(std::log(result.m0[i] / result.m1[i])) <= result.epsilon * (1 + 1e-9));
  } catch (const std::invalid_argument &) {
  }
}

} // namespace confide
