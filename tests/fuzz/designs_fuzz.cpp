// Fields, constructions, designs and their samplers.
#include "block_sampler.h"
#include "block_sums.h"
#include "group_transform.h"
#include "targets.h"
#include <complex>
#include <limits>
#include <set>
#include <stdexcept>

namespace confide {

namespace {

// Small ones of every kind; some arguments have no design.
Incidence take_incidence(Bytes &bytes) {
  const std::uint32_t q = bytes.one_of<std::uint32_t>({2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 27});
  switch (bytes.take<std::uint8_t>() % 8) {
  case 0:
    return make_group_design(identity_family(2 + q));
  case 1:
    return make_group_design(singer_family(q, q <= 5 ? 3 : 2));
  case 2:
    return make_group_design(
        power_residues(bytes.one_of<std::uint32_t>({7, 11, 19, 27}), 2, false));
  case 3:
    return make_group_design(bent_family(static_cast<std::uint32_t>(bytes.between(1, 3))));
  case 4:
    return make_group_design(twin_family(bytes.one_of<std::uint32_t>({3, 5, 7, 9})));
  case 5:
    return make_group_design(bytes.flag() ? spence_family(1) : mcfarland_family(q <= 5 ? q : 2, 1));
  case 6:
    return make_hadamard_design(std::size_t{1} << bytes.between(2, 3),
                                bytes.one_of<std::uint32_t>({1, 4, 8, 12, 28, 36}));
  default: {
    const std::uint32_t v = bytes.one_of<std::uint32_t>({7, 9, 13, 15});
    const Labels triples = triple_system(v, 1);
    const std::size_t blocks = triples.size() / 3, size = (v - 1) / 2;
    std::vector<Labels> members(v);
    for (std::size_t i = 0; i < triples.size(); ++i)
      members[triples[i]].push_back(static_cast<std::uint32_t>(i / 3));
    ListedDesign design{v, blocks, size, {}};
    for (const Labels &outputs : members)
      design.members.insert(design.members.end(), outputs.begin(), outputs.end());
    return design;
  }
  }
}

Eigen::MatrixXd incidence_matrix(const Incidence &design) {
  const auto outputs = static_cast<Eigen::Index>(output_count(design));
  Eigen::MatrixXd rows =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(point_count(design)), outputs);
  for (Eigen::Index output = 0; output < outputs; ++output)
    for (const std::uint32_t point : points_of(design, static_cast<std::uint32_t>(output)))
      rows(point, output) += 1;
  return rows;
}

// The whole design, or the residual or derived one of its first output.
BlockDesign take_design(Bytes &bytes) {
  BlockDesign design{take_incidence(bytes), {}, false, 0, 0};
  const Eigen::MatrixXd rows = incidence_matrix(design.incidence);
  design.outputs = static_cast<std::uint64_t>(rows.cols());
  design.inside = static_cast<std::uint64_t>(rows.row(0).sum());
  const std::size_t part = bytes.take<std::uint8_t>() % 3;
  if (part == 0 || design.outputs < 4 || design.inside < 2)
    return design;
  const bool derived = part == 2;
  Labels kept = points_by_first_output(design.incidence, derived);
  if (kept.empty())
    return design;
  return {std::move(design.incidence), std::move(kept), true, design.outputs - 1,
          design.inside - (derived ? 1 : 0)};
}

} // namespace

void fuzz_finite_field(Bytes &bytes) {
  const std::uint32_t q = 2 + bytes.take<std::uint32_t>() % 600;
  const PrimePower power = prime_power(q);
  try {
    const FiniteField field(q);
    require(power.prime != 0 && is_prime(power.prime) && field.degree() == power.degree);
    const auto take = [&] { return bytes.take<std::uint32_t>() % q; };
    const std::uint32_t a = take(), b = take(), c = take();
    require(field.multiply(a, field.add(b, c)) ==
            field.add(field.multiply(a, b), field.multiply(a, c)));
    require(field.add(a, field.negate(a)) == 0);
    require(a == 0 || field.multiply(a, field.inverse(a)) == 1);
    require(field.character(a) * field.character(b) == field.character(field.multiply(a, b)) ||
            field.prime() == 2);
  } catch (const std::domain_error &) {
    require(power.prime == 0);
  }
}

void fuzz_block_design(Bytes &bytes) {
  const Incidence design = take_incidence(bytes);
  const Eigen::MatrixXd rows = incidence_matrix(design);
  const Eigen::MatrixXd shared = rows * rows.transpose();
  const double r = shared(0, 0), lambda = rows.rows() > 1 ? shared(0, 1) : 0;
  for (Eigen::Index i = 0; i < shared.rows(); ++i)
    for (Eigen::Index j = 0; j < shared.cols(); ++j)
      require(shared(i, j) == (i == j ? r : lambda));
  Eigen::MatrixXd counts(rows.cols(), 2);
  for (Eigen::Index i = 0; i < counts.rows(); ++i) {
    counts(i, 0) = static_cast<double>(bytes.take<std::uint32_t>());
    counts(i, 1) = bytes.share();
  }
  const BlockSums sums_of(design);
  const Eigen::MatrixXd sums = sums_of.over_outputs(counts, 1);
  require(sums.col(0) == rows * counts.col(0));
  require((sums.col(1) - rows * counts.col(1)).cwiseAbs().maxCoeff() < 1e-9);
  Eigen::VectorXd values(rows.rows());
  for (Eigen::Index i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(bytes.take<std::uint32_t>());
  require(sums_of.over_points(values, true) == rows.transpose() * values);
}

void fuzz_block_sampler(Bytes &bytes) {
  const std::uint64_t b = 2 + bytes.take<std::uint32_t>() % 0xfffffffdu;
  const std::uint64_t r = 1 + bytes.take<std::uint32_t>() % (b - 1);
  const double epsilon = std::abs(bytes.number());
  if (std::isnan(epsilon))
    return;
  const BlockWeights<> any = block_weights(epsilon, r, b);
  require(any.outside >= 1 && any.inside >= any.outside);
  require(static_cast<u128>(r) * any.surplus() + static_cast<u128>(b) * any.outside == any.total());
  require(at_most_times(any.inside, exp_lower(std::min(epsilon, 44.0)), any.outside));

  const BlockDesign design = take_design(bytes);
  const BlockWeights<> weights = block_weights(bytes.positive(50), design.inside, design.outputs);
  const std::size_t symbols =
      design.kept.empty() ? point_count(design.incidence) : design.kept.size();
  const auto symbol = static_cast<std::uint32_t>(bytes.take<std::uint16_t>() % symbols);
  FuzzRandom random(bytes);
  const std::uint32_t first = design.excluded ? 1 : 0;
  const std::uint32_t y = report(design, symbol, weights, random);
  require(y >= first && y < design.outputs + first);
  std::set<std::uint32_t> members;
  for (std::uint64_t number = 0; number < design.inside; ++number)
    members.insert(draw_member(design, symbol, number, random));
  const Labels holders = points_of(design.incidence, *members.begin());
  require(*members.begin() >= first);
  require(std::count(holders.begin(), holders.end(), design.point(symbol)) == 1);
  if (!std::holds_alternative<HadamardDesign>(design.incidence)) // that one draws at random
    require(members.size() == design.inside);

  const auto v = static_cast<std::uint32_t>(bytes.between(2, 200));
  const auto k = static_cast<std::uint32_t>(1 + bytes.take<std::uint8_t>() % (v - 1));
  SubsetSampler sampler(v, k);
  std::vector<std::uint32_t> subset;
  sampler.report(bytes.take<std::uint8_t>() % v, block_weights(bytes.positive(50), k, v), random,
                 subset);
  require(subset.size() == k && subset.back() < v);
  require(std::is_sorted(subset.begin(), subset.end(), std::less_equal<>()));
  SharedSets shared(v, k);
  Labels set = shared.set(bytes.take<std::uint32_t>());
  std::sort(set.begin(), set.end());
  require(set.size() == k && set.back() < v);
  require(std::adjacent_find(set.begin(), set.end()) == set.end());
}

void fuzz_group_transform(Bytes &bytes) {
  std::vector<std::uint32_t> radices;
  std::size_t size = 1;
  for (std::size_t axis = bytes.between(1, 4); axis > 0; --axis) {
    const std::uint32_t n = bytes.one_of<std::uint32_t>({1, 2, 2, 3, 5, 7, 16, 97, 211});
    if (size * n > 500)
      break;
    radices.push_back(n);
    size *= n;
  }
  if (radices.empty())
    return;
  std::vector<double> a(size), b(size);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = bytes.share();
    b[i] = bytes.share();
  }
  const GroupTransform transform(radices);
  auto left = transform.forward(a.data());
  const auto right = transform.forward(b.data());
  const bool correlate = bytes.flag();
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] *= correlate ? std::conj(right[i]) : right[i];
  const Eigen::VectorXd found = transform.backward(left, correlate);
  require(found.size() == static_cast<Eigen::Index>(size));
  for (std::size_t x = 0; x < size; ++x) {
    double expected = 0;
    for (std::size_t y = 0; y < size; ++y) {
      std::size_t place = 1, rest_x = x, rest_y = y, at = 0;
      for (const std::uint32_t n : radices) {
        const std::size_t i = rest_x % n, j = rest_y % n;
        at += place * (correlate ? (j + n - i) % n : (i + n - j) % n);
        rest_x /= n;
        rest_y /= n;
        place *= n;
      }
      expected += a[y] * b[at];
    }
    require(std::abs(found[static_cast<Eigen::Index>(x)] - expected) < 1e-9);
  }
}

} // namespace confide
