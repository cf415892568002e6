// Tables of randomized reports: decoding, likelihood, and what composed answers tell.
#include "composition.h"
#include "lambda.h"
#include "log_linear.h"
#include "targets.h"

namespace confide {

namespace {

struct Survey {
  std::vector<std::size_t> sizes;
  std::vector<Mode> forward, inverse, squared;
  Eigen::Index cells = 1;
};

Survey take_survey(Bytes &bytes) {
  Survey survey;
  for (std::size_t j = bytes.between(1, 4); j > 0; --j) {
    const std::size_t size = bytes.between(2, 5);
    const double lambda = 0.05 + 0.95 * bytes.share();
    const Eigen::VectorXd noise = bytes.distribution(size);
    survey.sizes.push_back(size);
    survey.forward.push_back(forward_mode(lambda, noise));
    survey.inverse.push_back(inverse_mode(lambda, noise));
    survey.squared.push_back(squared_inverse_mode(lambda, noise));
    survey.cells *= static_cast<Eigen::Index>(size);
  }
  return survey;
}

ChannelMaps maps_of(const Survey &survey) {
  return {[modes = survey.forward](const Eigen::VectorXd &shares) {
            Eigen::VectorXd image = shares;
            apply_modes(image, modes);
            return image;
          },
          [modes = survey.forward](const Eigen::VectorXd &weights) {
            Eigen::VectorXd image = weights;
            apply_modes_transposed(image, modes);
            return image;
          }};
}

void require_distribution(const Eigen::VectorXd &shares, double tolerance) {
  require(shares.allFinite() && shares.minCoeff() >= 0);
  require(std::abs(shares.sum() - 1) < tolerance);
}

double close_to(double value, double scale) { return 1e-9 * (1 + std::abs(value) + scale); }

Response take_response(Bytes &bytes) {
  return {bytes.positive(5), static_cast<double>(bytes.between(2, 40))};
}

KnownNoise take_noise(Bytes &bytes) {
  const double kept = 0.01 + 0.97 * bytes.share();
  const double rarest = (1 - kept) * (0.001 + 0.49 * bytes.share());
  const double second = rarest + (1 - kept - 2 * rarest) * bytes.share();
  return {std::log1p(kept / rarest), kept, rarest, second};
}

} // namespace

void fuzz_lambda(Bytes &bytes) {
  const Survey survey = take_survey(bytes);
  const Eigen::VectorXd truth = bytes.distribution(static_cast<std::size_t>(survey.cells));
  Eigen::VectorXd reports = truth;
  apply_modes(reports, survey.forward);
  require_distribution(reports, 1e-12);
  Eigen::VectorXd decoded = reports;
  apply_modes(decoded, survey.inverse);
  // an inverse enlarges errors by at most the product of (2 / lambda - 1), 39^4
  require((decoded - truth).cwiseAbs().maxCoeff() < 1e-8);

  Eigen::VectorXd counts(survey.cells);
  for (Eigen::Index i = 0; i < counts.size(); ++i)
    counts[i] = static_cast<double>(bytes.take<std::uint8_t>());
  counts[0] += 2;
  Eigen::VectorXd shares(survey.cells), std_error(survey.cells);
  product_moments({counts, counts, false, counts.sum()}, survey.inverse, survey.squared,
                  {shares, std_error});
  require(std::abs(shares.sum() - 1) < 1e-6 && std_error.allFinite() && std_error.minCoeff() >= 0);
  require_distribution(project_to_simplex(shares), 1e-9);
  const std::size_t size = survey.sizes[0];
  const Eigen::VectorXd one_way = bytes.distribution(size);
  require_distribution(maximum_likelihood_one_way(one_way, 0.01 + 0.99 * bytes.share()), 1e-9);
}

// Cells straight from the records are those of the joint table.
void fuzz_cells(Bytes &bytes) {
  const Survey survey = take_survey(bytes);
  const auto attributes = static_cast<Eigen::Index>(survey.sizes.size());
  const auto n = static_cast<Eigen::Index>(bytes.between(1, 12));
  Codes codes(n, attributes);
  Eigen::VectorXd weight(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    weight[i] = bytes.positive(4);
    for (Eigen::Index j = 0; j < attributes; ++j)
      codes(i, j) = static_cast<std::int32_t>(bytes.take<std::uint8_t>() %
                                              survey.sizes[static_cast<std::size_t>(j)]);
  }
  const Eigen::VectorXd square = weight.cwiseProduct(weight);
  Eigen::VectorXd table = Eigen::VectorXd::Zero(survey.cells);
  tabulate(codes, weight, survey.sizes, table);
  require(std::abs(table.sum() - weight.sum()) <= close_to(0, weight.sum()));
  const Patterns patterns = distinct_patterns({codes, weight, square});
  require(std::abs(patterns.weight.sum() - weight.sum()) <= close_to(0, weight.sum()));
  require(patterns.first_row.size() <= static_cast<std::size_t>(n));
  apply_modes(table, survey.inverse);
  Question question;
  Eigen::Index cell = 0, stride = 1;
  for (const std::size_t size : survey.sizes) {
    const auto code = static_cast<std::int32_t>(bytes.take<std::uint8_t>() % size);
    question.push_back({code});
    cell += stride * code;
    stride *= static_cast<Eigen::Index>(size);
  }
  const CellSums sums =
      cell_sums({codes, weight, square}, {question}, survey.inverse, no_interrupt);
  const Eigen::MatrixXd values = cell_values(codes, {question}, survey.inverse);
  const double scale = weight.sum() * values.cwiseAbs().maxCoeff();
  require(std::abs(sums.value[0] - table[cell]) <= close_to(table[cell], scale));
  require(std::abs(sums.value[0] - weight.dot(values.col(0))) <= close_to(0, scale));
}

void fuzz_likelihood(Bytes &bytes) {
  const Survey survey = take_survey(bytes);
  const Eigen::VectorXd reported = bytes.distribution(static_cast<std::size_t>(survey.cells));
  const ChannelMaps channel = maps_of(survey);
  const Eigen::VectorXd uniform =
      Eigen::VectorXd::Constant(survey.cells, 1.0 / static_cast<double>(survey.cells));
  if ((channel.forward(uniform).array() <= 0 && reported.array() > 0).any())
    return; // a report that no truth can give
  const double before = em_step(reported, channel, uniform).log_likelihood;
  const EmResult fit =
      maximum_likelihood(reported, survey.cells, channel, {200, 1e-9}, no_interrupt);
  require_distribution(fit.shares, 1e-9);
  require(fit.log_likelihood >= before - close_to(before, 0));
  require(std::isfinite(fit.optimality_gap) && fit.optimality_gap > -1e-6);
}

void fuzz_log_linear(Bytes &bytes) {
  const Survey survey = take_survey(bytes);
  LogLinearModel model{survey.sizes, {}};
  const unsigned subsets = (1u << survey.sizes.size()) - 1;
  for (std::size_t i = bytes.between(1, 3); i > 0; --i) {
    const unsigned subset = 1 + bytes.take<std::uint8_t>() % subsets;
    std::vector<std::size_t> margin;
    for (std::size_t j = 0; j < survey.sizes.size(); ++j)
      if (subset >> j & 1)
        margin.push_back(j);
    model.margins.push_back(margin);
  }
  const Eigen::VectorXd uniform =
      Eigen::VectorXd::Constant(survey.cells, 1.0 / static_cast<double>(survey.cells));
  const Eigen::VectorXd target = bytes.distribution(static_cast<std::size_t>(survey.cells));
  const Eigen::VectorXd fitted = fit_margins(uniform, target, model, 50, 1e-10);
  require(fitted.allFinite() && fitted.minCoeff() >= 0 && fitted.sum() < 1 + 1e-6);
  const ChannelMaps channel = maps_of(survey);
  if ((channel.forward(uniform).array() <= 0 && target.array() > 0).any())
    return;
  const LogLinearFit fit =
      fit_log_linear(target, model, channel, uniform, {60, 1e-8}, no_interrupt);
  require_distribution(fit.shares, 1e-6);
  require(std::isfinite(fit.log_likelihood));
}

void fuzz_composition(Bytes &bytes) {
  std::vector<Response> uniform;
  std::vector<KnownNoise> noisy;
  for (std::size_t i = bytes.between(0, 6); i > 0; --i)
    uniform.push_back(take_response(bytes));
  for (std::size_t i = bytes.between(0, 3); i > 0; --i)
    noisy.push_back(take_noise(bytes));
  if (uniform.empty() && noisy.empty())
    return;
  CompositionLimits exact, coarse;
  exact.support = 1 << 14;
  coarse.support = 4; // by the grid
  coarse.grid = 1 << 10;
  coarse.products = 1 << 10;
  double largest = 0;
  for (const Response &response : uniform)
    largest += response.epsilon;
  for (const KnownNoise &noise : noisy)
    largest += noise.epsilon;
  const auto worst = [](const std::vector<LossDistribution> &all, double epsilon) {
    double delta = 0;
    for (const LossDistribution &losses : all)
      delta = std::max(delta, delta_at(losses, epsilon));
    return delta;
  };
  const auto near = compose_worst(uniform, noisy, exact, no_interrupt);
  const auto above = compose_worst(uniform, noisy, coarse, no_interrupt);
  double before = 1;
  for (int step = 0; step <= 8; ++step) {
    const double epsilon = largest * step / 8;
    const double delta = worst(near, epsilon);
    require(delta >= 0 && delta <= before * (1 + 1e-9));
    require(worst(above, epsilon) >= delta * (1 - 1e-9)); // a coarser composition claims no less
    before = delta;
  }
  const double delta = bytes.positive(1);
  if (delta < 1)
    for (const LossDistribution &losses : near) {
      const double epsilon = epsilon_at(losses, delta);
      require(epsilon >= 0 && epsilon <= losses.largest);
      require(delta_at(losses, epsilon) <= delta);
      require(epsilon_at(losses, 0) == losses.largest);
    }
  const double order = 1 + bytes.positive(100);
  for (const Response &response : uniform)
    require(renyi_divergence(response, order) <= response.epsilon * (1 + 1e-9));
  for (const KnownNoise &noise : noisy)
    require(renyi_divergence(noise, order) <= noise.epsilon * (1 + 1e-9));
}

} // namespace confide
