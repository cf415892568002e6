// The core without R: randomized response, a block design and a noisy count, drawn from the
// operating system. Prints truth, estimate and standard error of each.
#include "block_sampler.h"
#include "block_sums.h"
#include "noise.h"
#include "randomized_response.h"
#include "sum_plan.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr std::uint32_t people = 20000;

// A made-up population: person i holds the larger of two numbers that run through all categories.
std::uint32_t answer(std::uint32_t person, std::uint32_t categories) {
  return std::max(person % categories, person / categories % categories);
}

std::vector<double> true_counts(std::uint32_t categories) {
  std::vector<double> counts(categories);
  for (std::uint32_t i = 0; i < people; ++i)
    counts[answer(i, categories)] += 1;
  return counts;
}

// An event has probability `high` for holders of a category and `low` for all others; of it
// happened `seen` of `people` times. Its share is linear in theirs, so it is solved for.
void print_share(const char *what, double truth, double seen, double high, double low) {
  const double share = seen / people;
  const double estimate = (share - low) / (high - low);
  const double error = std::sqrt(share * (1 - share) / people) / (high - low);
  std::printf("%-20s %9.4f %9.4f %9.4f\n", what, truth / people, estimate, error);
}

void randomized_response(confide::RandomSource &random) {
  constexpr std::uint32_t categories = 4;
  const auto weights = confide::response_weights(1.0, categories);
  std::vector<double> reports(categories);
  for (std::uint32_t i = 0; i < people; ++i)
    reports[confide::respond(answer(i, categories), weights, random)] += 1;

  const auto total = static_cast<double>(weights.total);
  const auto truth = true_counts(categories);
  for (std::uint32_t x = 0; x < categories; ++x)
    print_share("randomized response", truth[x], reports[x],
                static_cast<double>(weights.truthful) / total,
                static_cast<double>(weights.other) / total);
}

// The Fano plane: 7 categories, 7 reports; each category owns r reports and two share lambda.
void block_design(confide::RandomSource &random) {
  const confide::GroupDesign plane = confide::make_group_design(confide::singer_family(2, 2));
  const auto v = static_cast<std::uint32_t>(plane.points);
  const std::size_t r = plane.size;
  const double lambda = static_cast<double>(r * (r - 1)) / (v - 1);
  const confide::BlockDesign design{plane, {}, false, v, r};
  const auto weights = confide::block_weights(1.0, r, v);

  Eigen::MatrixXd reports = Eigen::MatrixXd::Zero(v, 1);
  for (std::uint32_t i = 0; i < people; ++i)
    reports(confide::report(design, answer(i, v), weights, random), 0) += 1;

  // how many reports fell into the set of each category
  const Eigen::MatrixXd inside = confide::BlockSums(design.incidence).over_outputs(reports, 1);
  const auto total = static_cast<double>(weights.total());
  const double a = static_cast<double>(weights.inside) / total;
  const double w = static_cast<double>(weights.outside) / total;
  const auto owned = static_cast<double>(r);
  const auto truth = true_counts(v);
  for (std::uint32_t x = 0; x < v; ++x)
    print_share("block design", truth[x], inside(x, 0), owned * a,
                lambda * a + (owned - lambda) * w);
}

// Central privacy: one count under rho-zCDP. The plan chooses the noise from public numbers alone.
void noisy_count(confide::RandomSource &random) {
  const double rho = 0.01;
  const confide::SumPlan plan =
      confide::gaussian_count_plan(rho, confide::Neighbours::add_remove, 1);
  const confide::GaussianLaw law = confide::gaussian_law(plan.noise);
  const auto noise = static_cast<double>(confide::discrete_gaussian(law, random));
  std::printf("%-20s %9.0f %9.0f %9.4f\n", "noisy count", double{people}, people + noise,
              confide::noise_sd(plan));
}

} // namespace

int main() {
  confide::OsRandom random;
  randomized_response(random);
  block_design(random);
  noisy_count(random);
}
