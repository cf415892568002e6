// Invariants of the core under arbitrary bytes. Here: certified exponentials, randomized response,
// channels, samplers, plans and rounding; the other topics are in the files that targets.h names.
#include "certified_exp.h"
#include "channel.h"
#include "grid.h"
#include "randomized_response.h"
#include "targets.h"
#include <cmath>
#include <iterator>
#include <vector>

namespace {

using namespace confide;

void fuzz_certified_exp(Bytes &bytes) {
  const double x = bytes.positive(88), larger = bytes.positive(88);
  const ExpBound bound = exp_lower(x);
  require(bound.mantissa >= std::uint64_t{1} << 63);
  const long double value = std::ldexp(static_cast<long double>(bound.mantissa), bound.exponent);
  const long double reference = std::exp(static_cast<long double>(x));
  require(value <= reference * (1 + 1e-17L) && value >= reference * (1 - 1e-17L));
  if (x <= larger) { // monotone up to the last bits that truncation may cost
    const ExpBound above = exp_lower(larger);
    require(value <=
            std::ldexp(static_cast<long double>(above.mantissa), above.exponent) * (1 + 0x1p-60L));
  }
  const u128 a = bytes.take<std::uint64_t>(), b = bytes.take<std::uint64_t>();
  if (b == 0 || a < b || a / b > u128{1} << 62)
    return;
  const double epsilon = certified_epsilon(a, b);
  require(epsilon >= 0 && at_most_times(a, exp_lower(epsilon), b));
  const auto exact = std::log(static_cast<long double>(a) / static_cast<long double>(b));
  require(epsilon - exact <= 1e-15L * (1 + exact));
}

void fuzz_randomized_response(Bytes &bytes) {
  const double epsilon = std::abs(bytes.number());
  const std::uint32_t k = 2 + bytes.take<std::uint32_t>() % ((std::uint32_t{1} << 31) - 1);
  if (std::isnan(epsilon))
    return;
  const ResponseWeights<> w = response_weights(epsilon, k);
  require(w.other >= 1 && w.truthful >= w.other);
  require(static_cast<u128>(w.truthful) + static_cast<u128>(k - 1) * w.other == w.total);
  require(at_most_times(w.truthful, exp_lower(std::min(epsilon, 44.0)), w.other));
  require(worst_log_ratio(w) >= 0);
  FuzzRandom random(bytes);
  const std::uint32_t truth = bytes.take<std::uint32_t>() % k;
  require(respond(truth, w, random) < k);
}

void fuzz_channel(Bytes &bytes) {
  const auto rows = static_cast<Eigen::Index>(1 + bytes.take<std::uint8_t>() % 5);
  const auto columns = static_cast<Eigen::Index>(1 + bytes.take<std::uint8_t>() % 5);
  const bool raw = bytes.take<std::uint8_t>() % 8 == 0;
  const double epsilon = bytes.positive(50);
  Eigen::MatrixXd p(rows, columns);
  for (Eigen::Index i = 0; i < p.size(); ++i)
    p.data()[i] = raw ? bytes.number() : bytes.positive(1) * (bytes.take<std::uint8_t>() % 16 != 0);
  if (!raw)
    p.array().colwise() /= p.rowwise().sum().array().eval();
  try {
    const CertifiedChannel free = certify_channel(p);
    require(is_certified(free.channel, free.epsilon));
    require(free.worst_log_ratio <= free.epsilon);
    FuzzRandom random(bytes);
    const ChannelSampler sampler = channel_sampler(free.channel);
    const std::uint32_t truth =
        bytes.take<std::uint8_t>() % static_cast<std::uint32_t>(free.channel.rows);
    const std::uint32_t y = report(truth, sampler, random);
    require(y < free.channel.columns);
    require(free.channel.weights[truth * free.channel.columns + y] > 0);
    const CertifiedChannel asked = certify_channel(p, epsilon);
    require(asked.epsilon <= epsilon && is_certified(asked.channel, asked.epsilon));
  } catch (const NotPrivate &) {
  } catch (const std::invalid_argument &) {
  }
}

void fuzz_samplers(Bytes &bytes) {
  const Rational scale{1 + bytes.take<std::uint64_t>() % (std::uint64_t{1} << 52),
                       1 + bytes.take<std::uint64_t>() % (std::uint64_t{1} << 52)};
  const Rational variance{bytes.take<std::uint64_t>() % ((std::uint64_t{1} << 52) + 2),
                          bytes.take<std::uint64_t>() % ((std::uint64_t{1} << 52) + 2)};
  FuzzRandom random(bytes);
  try {
    require(std::abs(discrete_laplace(scale, random)) <= std::int64_t{1} << 62);
    const GaussianLaw law = gaussian_law(variance);
    require(law.denominator <= u128{1} << 105);
    const std::int64_t y = discrete_gaussian(law, random);
    require(static_cast<std::uint64_t>(std::abs(y)) <= law.largest_proposal);
  } catch (const SamplerRangeError &) {
  }
}

SumPlan take_plan(Bytes &bytes) {
  const std::uint8_t shape = bytes.take<std::uint8_t>();
  const double bound = shape & 1 ? bytes.number() : bytes.positive(1e6);
  const double budget = shape & 2 ? bytes.number() : bytes.positive(1e3);
  const auto neighbours = static_cast<Neighbours>(bytes.take<std::uint8_t>() % 3);
  const std::size_t n = shape & 4 ? bytes.take<std::uint64_t>() : 1 + bytes.take<std::uint16_t>();
  const std::size_t dimension = bytes.take<std::uint8_t>() % 6;
  if (shape & 8)
    return shape & 16 ? gaussian_count_plan(budget, neighbours, dimension)
                      : laplace_count_plan(budget, neighbours, dimension);
  return shape & 16 ? gaussian_sum_plan(bound, budget, n, neighbours, dimension)
                    : laplace_sum_plan(bound, budget, n, neighbours, dimension);
}

u128 squares(const std::vector<std::int64_t> &units) {
  u128 sum = 0;
  for (const std::int64_t unit : units)
    sum += static_cast<u128>(std::abs(unit)) * static_cast<u128>(std::abs(unit));
  return sum;
}

void fuzz_plan_and_rounding(Bytes &bytes) {
  try {
    const SumPlan plan = take_plan(bytes);
    require(plan.realised > 0 && plan.realised <= plan.asked);
    require(plan.noise.numerator <= std::uint64_t{1} << 52);
    require(plan.noise.denominator <= std::uint64_t{1} << 52);
    const std::size_t d = plan.dimension;
    std::vector<double> record(d), other(d);
    for (std::size_t i = 0; i < d; ++i) {
      record[i] = bytes.number();
      other[i] = bytes.number();
    }
    std::vector<std::int64_t> units(d), other_units(d);
    round_record(record.data(), d, plan.grid, units.data());
    round_record(other.data(), d, plan.grid, other_units.data());
    require(squares(units) <= plan.grid.bound_squared);
    require(squares(other_units) <= plan.grid.bound_squared);
    Eigen::MatrixXd data(1, static_cast<Eigen::Index>(d));
    data.row(0) = Eigen::Map<const Eigen::RowVectorXd>(record.data(), data.cols());
    require(grid_sum(data, plan.grid) == units);
    FuzzRandom random(bytes);
    const Eigen::VectorXd released = noisy_sum(data, plan, random);
    for (Eigen::Index i = 0; i < released.size(); ++i) {
      const double steps = std::ldexp(released[i], -plan.grid.exponent);
      require(std::isfinite(steps) && std::trunc(steps) == steps);
    }
  } catch (const PlanRefused &) {
  } catch (const SamplerRangeError &) { // words that no honest source gives
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using Target = void (*)(Bytes &);
  // The first byte chooses; the seeds of the corpus know the numbers.
  static constexpr Target targets[] = {fuzz_certified_exp,
                                       fuzz_randomized_response,
                                       fuzz_channel,
                                       fuzz_samplers,
                                       fuzz_plan_and_rounding,
                                       fuzz_finite_field,
                                       fuzz_block_design,
                                       fuzz_block_sampler,
                                       fuzz_group_transform,
                                       fuzz_spr,
                                       fuzz_spr_continuous,
                                       fuzz_lambda,
                                       fuzz_cells,
                                       fuzz_likelihood,
                                       fuzz_log_linear,
                                       fuzz_composition,
                                       fuzz_rounding,
                                       fuzz_ledger,
                                       fuzz_brownian,
                                       fuzz_laplace_path,
                                       fuzz_count_search,
                                       fuzz_exponential_mechanism,
                                       fuzz_records,
                                       fuzz_scatter,
                                       fuzz_tree_model,
                                       fuzz_tree_selection};
  Bytes bytes(data, size);
  targets[bytes.take<std::uint8_t>() % std::size(targets)](bytes);
  return 0;
}
