#pragma once
#include "block_design.h"
#include "group_transform.h"
#include <Eigen/Core>
#include <optional>

namespace confide {

// Sums of numbers over the incidences of a design. A group takes them by fast Fourier or
// Walsh-Hadamard transform, O(b log b), and keeps its tables of roots, and the spectrum of a single
// base block, for the next sums: some 50 bytes for each output.
class BlockSums {
public:
  explicit BlockSums(Incidence design);

  // Columns of numbers for each output, summed over the outputs of each point: T_x = sum over y in
  // I_x of c_y. The first `whole` columns are integers and come out exact, checked by sum T_x = k
  // sum c.
  Eigen::MatrixXd over_outputs(const Eigen::Ref<const Eigen::MatrixXd> &counts,
                               Eigen::Index whole) const;

  // The transposed sum: for each output y the sum over the points that have it.
  Eigen::VectorXd over_points(const Eigen::Ref<const Eigen::VectorXd> &values, bool whole) const;

private:
  using Spectrum = GroupTransform::Spectrum;

  Spectrum block_spectrum(const GroupDesign &design, std::size_t block) const;
  Eigen::MatrixXd group_over_outputs(const GroupDesign &design,
                                     const Eigen::Ref<const Eigen::MatrixXd> &counts) const;
  Eigen::VectorXd group_over_points(const GroupDesign &design,
                                    const Eigen::Ref<const Eigen::VectorXd> &values) const;

  Incidence incidence_;
  std::optional<GroupTransform> transform_; // of a group
  std::optional<Spectrum> single_;          // of a group's only base block
};

} // namespace confide
