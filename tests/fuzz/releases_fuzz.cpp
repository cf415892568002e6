// What releases cost and how their noise is planned.
#include "brownian.h"
#include "count_search.h"
#include "exponential_mechanism.h"
#include "laplace_path.h"
#include "ledger.h"
#include "targets.h"
#include <limits>
#include <optional>

namespace confide {

void fuzz_rounding(Bytes &bytes) {
  std::vector<double> values;
  for (std::size_t i = bytes.between(1, 12); i > 0; --i) {
    const double value = bytes.flag() ? std::abs(bytes.number()) : bytes.positive(1e6);
    if (std::isfinite(value) && value < 0x1p1000) // sums must stay finite
      values.push_back(value);
  }
  ExactSum forward, backward, parts;
  for (const double value : values)
    forward.add(value);
  for (std::size_t i = values.size(); i-- > 0;)
    backward.add(values[i]);
  parts.add(forward);
  const double sum = forward.rounded_up();
  require(sum == backward.rounded_up() && sum == parts.rounded_up());
  for (const double value : values)
    require(sum >= value);
  forward.subtract(backward);
  require(forward.rounded_up() == 0);
}

// Charges that are let through never exceed the limit; a refusal or a charge with its refund
// changes nothing.
void fuzz_ledger(Bytes &bytes) {
  const double limit = bytes.flag() ? bytes.positive(100) : std::numeric_limits<double>::infinity();
  Ledger ledger(limit);
  const std::vector<std::string> parts{"", "a", "b", "c"};
  for (std::size_t i = bytes.between(1, 24); i > 0; --i) {
    const LedgerEntry entry{"x", bytes.one_of(parts), bytes.positive(10)};
    const double before = ledger.spent(), would_be = ledger.spent_with(entry);
    const std::size_t entries = ledger.entries().size();
    require(would_be >= before && would_be >= entry.epsilon);
    if (!ledger.charge(entry)) {
      require(would_be > limit && ledger.spent() == before && ledger.entries().size() == entries);
      continue;
    }
    require(ledger.spent() == would_be && ledger.spent() <= limit * (1 + 1e-9));
    if (bytes.flag()) {
      ledger.refund(entry);
      require(ledger.spent() == before);
    }
    double largest = ledger.spent_in("nobody's");
    for (const std::string &part : ledger.parts())
      largest = std::max(largest, ledger.spent_in(part));
    require(largest == ledger.spent());
  }
}

void fuzz_brownian(Bytes &bytes) {
  const bool whole = bytes.flag();
  const double sensitivity = bytes.flag() ? bytes.number() : bytes.positive(1e4);
  const RefinedQuery query{sensitivity, bytes.between(1, 6), whole};
  const double rho = bytes.flag() ? bytes.number() : bytes.positive(1e3);
  try {
    const SumPlan plan = refinement_plan(query, rho);
    require(plan.realised > 0 && plan.realised <= rho);
    require(plan_precision(plan) > 0);
    std::vector<double> values(query.dimension), other(query.dimension);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = bytes.flag() ? bytes.number() : bytes.positive(1e6);
      other[i] = bytes.flag() ? bytes.number() : values[i] + bytes.positive(1);
      if (!std::isfinite(values[i]) || !std::isfinite(other[i]))
        return;
    }
    const auto here = nearest_units(values, plan.grid.exponent);
    const auto there = nearest_units(other, plan.grid.exponent);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double steps = std::ldexp(std::abs(values[i] - other[i]), -plan.grid.exponent);
      require(static_cast<double>(std::abs(here[i] - there[i])) <= std::ceil(steps * (1 + 1e-12)));
    }
    FuzzRandom random(bytes);
    const auto measured = measure(here, gaussian_law(plan.noise), random);
    require(measured.size() == here.size());
    const double precision = bytes.positive(1e3);
    const double needed = refinement_rho(query, precision);
    require(plan_precision(refinement_plan(query, needed * (1 + 1e-9))) >= precision * (1 - 1e-6));
  } catch (const PlanRefused &) {
  } catch (const SamplerRangeError &) {
  }
}

void fuzz_laplace_path(Bytes &bytes) {
  const std::uint64_t l1 = 1 + bytes.take<std::uint32_t>() % (bytes.flag() ? 4 : 100000);
  std::vector<double> epsilons;
  double epsilon = 0;
  for (std::size_t i = bytes.between(1, 6); i > 0; --i)
    epsilons.push_back(epsilon += bytes.positive(4));
  try {
    const LaplaceLadder ladder = laplace_ladder(l1, epsilons);
    require(ladder.numerators.size() == epsilons.size());
    for (std::size_t k = 0; k < epsilons.size(); ++k) {
      require(realised_epsilon(l1, {ladder.numerators[k], ladder.denominator}) <= epsilons[k]);
      require(k == 0 || ladder.numerators[k] < ladder.numerators[k - 1]);
    }
    FuzzRandom random(bytes);
    require(laplace_noise_path(ladder, random).size() == epsilons.size());
  } catch (const PlanRefused &) {
  } catch (const SamplerRangeError &) {
  }
}

void fuzz_count_search(Bytes &bytes) {
  const double budget = bytes.flag() ? bytes.number() : bytes.positive(1e3);
  const Measure measure = bytes.flag() ? Measure::rho : Measure::epsilon;
  const double target = bytes.flag() ? bytes.number() : bytes.positive(1e6);
  std::vector<std::int64_t> counts(bytes.between(0, 20)), other;
  std::int64_t running = 0;
  for (std::int64_t &count : counts)
    count = running += bytes.take<std::uint8_t>();
  other = counts;
  const bool up = bytes.flag();
  for (std::int64_t &count : other)
    count += bytes.flag() ? (up ? 1 : -1) : 0;
  require(one_sided(counts, other) && one_sided(other, counts));
  try {
    const CountSearchPlan plan = count_search_plan(budget, measure, target);
    require(plan.realised > 0 && plan.realised <= budget);
    require(plan.realised >= budget * (1 - 1e-5));
    const double e1 = static_cast<double>(plan.threshold_scale.denominator) /
                      static_cast<double>(plan.threshold_scale.numerator);
    const double e2 = static_cast<double>(plan.query_scale.denominator) /
                      static_cast<double>(plan.query_scale.numerator);
    require(e1 == plan.rate && e2 == 2 * e1);
    const double range = e1 + 2 * e2;
    require((measure == Measure::rho ? range * range / 8 : e1 + e2) <= plan.realised * (1 + 1e-15));
    FuzzRandom random(bytes);
    require(search_counts(counts, plan, random) <= counts.size());
  } catch (const PlanRefused &) {
  } catch (const SamplerRangeError &) {
  }
}

void fuzz_exponential_mechanism(Bytes &bytes) {
  const double epsilon = bytes.flag() ? bytes.number() : bytes.positive(50);
  const std::uint64_t sensitivity = bytes.take<std::uint32_t>() % ((1u << 20) + 2);
  try {
    const SelectionLaw law = selection_law(epsilon, sensitivity);
    require(law.realised > 0 && law.realised <= epsilon);
    require(std::ldexp(static_cast<double>(law.rate.numerator), -40) == law.realised);
    require(law.rate.denominator == (2 * sensitivity) << 40);
    std::vector<std::int64_t> scores(bytes.between(1, 8));
    for (std::int64_t &score : scores)
      score = bytes.take<std::int64_t>() % sum_limit;
    FuzzRandom random(bytes);
    require(select(scores, law, random) < scores.size());
  } catch (const PlanRefused &) {
  }
}

} // namespace confide
