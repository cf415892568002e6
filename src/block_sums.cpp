#include "block_sums.h"
#include <algorithm>
#include <stdexcept>
#include <utility>

namespace confide {

namespace {

// (H or its transpose) x, by the Kronecker factors.
std::vector<double> hadamard_product(const HadamardDesign &design, const std::vector<double> &x,
                                     bool transposed) {
  const std::size_t m = design.core.order;
  std::vector<double> result(x.size());
  for (std::size_t high = 0; high < design.doubled; ++high) {
    for (std::size_t i = 0; i < m; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < m; ++j)
        sum += design.core.signs[transposed ? j * m + i : i * m + j] * x[high * m + j];
      result[high * m + i] = sum;
    }
  }
  walsh_hadamard(result.data(), design.doubled, m);
  return result;
}

// Values of rows (or columns) 1, 2, ... in; for each column (or row) from 1 on the sum over those
// with a +1: (total + H x) / 2.
Eigen::VectorXd hadamard_sums(const HadamardDesign &design,
                              const Eigen::Ref<const Eigen::VectorXd> &values, bool transposed) {
  std::vector<double> x(design.order());
  std::copy(values.data(), values.data() + values.size(), x.begin() + 1);
  const std::vector<double> product = hadamard_product(design, x, transposed);
  const double total = values.sum();
  Eigen::VectorXd sums(values.size());
  for (Eigen::Index i = 0; i < sums.size(); ++i)
    sums[i] = (total + product[static_cast<std::size_t>(i) + 1]) / 2;
  return sums;
}

std::vector<double> indicator(const GroupDesign &design, std::size_t block) {
  std::vector<double> result(design.points);
  for (std::size_t i = block * design.size; i < (block + 1) * design.size; ++i)
    result[design.base[i]] = 1;
  return result;
}

// Sums of integers are integers; a transform may only be off by rounding.
void round_exactly(Eigen::Ref<Eigen::VectorXd> sums) {
  const Eigen::VectorXd whole = sums.array().round();
  if (sums.size() > 0 && !((sums - whole).cwiseAbs().maxCoeff() < 0.25))
    throw std::logic_error("a transform lost the integers it should have returned");
  sums = whole;
}

void check_total(const Eigen::Ref<const Eigen::VectorXd> &sums, double expected) {
  if (sums.sum() != expected)
    throw std::logic_error("the sums over a design failed their checksum");
}

} // namespace

BlockSums::BlockSums(Incidence design) : incidence_(std::move(design)) {
  const auto *group = std::get_if<GroupDesign>(&incidence_);
  if (group == nullptr)
    return;
  transform_.emplace(group->radices);
  if (group->blocks == 1)
    single_ = block_spectrum(*group, 0);
}

GroupTransform::Spectrum BlockSums::block_spectrum(const GroupDesign &design,
                                                   std::size_t block) const {
  return transform_->forward(indicator(design, block).data());
}

// T^ = sum over blocks of c_a^ conj(D_a^): one transform of a block for all columns, one transform
// back for all blocks.
Eigen::MatrixXd
BlockSums::group_over_outputs(const GroupDesign &design,
                              const Eigen::Ref<const Eigen::MatrixXd> &counts) const {
  std::vector<Spectrum> totals(static_cast<std::size_t>(counts.cols()));
  for (std::size_t a = 0; a < design.blocks; ++a) {
    const Spectrum made = single_ ? Spectrum() : block_spectrum(design, a);
    const Spectrum &base = single_ ? *single_ : made;
    for (Eigen::Index column = 0; column < counts.cols(); ++column) {
      Spectrum part = transform_->forward(counts.col(column).data() + a * design.points);
      for (std::size_t i = 0; i < part.size(); ++i)
        part[i] *= std::conj(base[i]);
      Spectrum &total = totals[static_cast<std::size_t>(column)];
      if (a == 0)
        total = std::move(part);
      else
        std::transform(total.begin(), total.end(), part.begin(), total.begin(), std::plus<>());
    }
  }
  Eigen::MatrixXd sums(static_cast<Eigen::Index>(design.points), counts.cols());
  for (Eigen::Index column = 0; column < counts.cols(); ++column)
    sums.col(column) =
        transform_->backward(std::move(totals[static_cast<std::size_t>(column)]), true);
  return sums;
}

Eigen::VectorXd
BlockSums::group_over_points(const GroupDesign &design,
                             const Eigen::Ref<const Eigen::VectorXd> &values) const {
  const Spectrum spectrum = transform_->forward(values.data());
  const auto points = static_cast<Eigen::Index>(design.points);
  Eigen::VectorXd sums(points * static_cast<Eigen::Index>(design.blocks));
  for (std::size_t a = 0; a < design.blocks; ++a) {
    Spectrum product = single_ ? *single_ : block_spectrum(design, a);
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] *= spectrum[i];
    sums.segment(static_cast<Eigen::Index>(a) * points, points) =
        transform_->backward(std::move(product), false);
  }
  return sums;
}

Eigen::MatrixXd BlockSums::over_outputs(const Eigen::Ref<const Eigen::MatrixXd> &counts,
                                        Eigen::Index whole) const {
  const auto of_hadamard = [&](const HadamardDesign &design) {
    Eigen::MatrixXd sums(counts.rows(), counts.cols());
    for (Eigen::Index column = 0; column < counts.cols(); ++column)
      sums.col(column) = hadamard_sums(design, counts.col(column), false);
    return sums;
  };
  const auto of_list = [&](const ListedDesign &design) {
    Eigen::MatrixXd sums =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(design.points), counts.cols());
    for (std::size_t i = 0; i < design.members.size(); ++i)
      sums.row(static_cast<Eigen::Index>(i / design.size)) += counts.row(design.members[i]);
    return sums;
  };
  Eigen::MatrixXd sums = std::visit(
      Overloaded{[&](const GroupDesign &design) { return group_over_outputs(design, counts); },
                 of_hadamard, of_list},
      incidence_);
  for (Eigen::Index column = 0; column < whole; ++column) {
    round_exactly(sums.col(column));
    if (const auto *group = std::get_if<GroupDesign>(&incidence_))
      check_total(sums.col(column), static_cast<double>(group->size) * counts.col(column).sum());
  }
  return sums;
}

Eigen::VectorXd BlockSums::over_points(const Eigen::Ref<const Eigen::VectorXd> &values,
                                       bool whole) const {
  const auto of_list = [&](const ListedDesign &design) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(design.outputs));
    for (std::size_t i = 0; i < design.members.size(); ++i)
      sums[design.members[i]] += values[static_cast<Eigen::Index>(i / design.size)];
    return sums;
  };
  Eigen::VectorXd sums = std::visit(
      Overloaded{[&](const GroupDesign &design) { return group_over_points(design, values); },
                 [&](const HadamardDesign &design) { return hadamard_sums(design, values, true); },
                 of_list},
      incidence_);
  if (whole)
    round_exactly(sums);
  return sums;
}

} // namespace confide
