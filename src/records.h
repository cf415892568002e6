#pragma once
#include "grid.h"
#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// What the private means compute of their records: integers that depend on one record each, and on
// released values. Records are the columns of a d x n matrix, in whitened coordinates. A record
// with a NaN is absent: it counts nowhere and adds nothing.

using Records = Eigen::Ref<const Eigen::MatrixXd>;
using Interrupt = std::function<void()>;

// Euclidean distance. Four running sums in a fixed order, because a reduction by packets would
// depend on where the record lies in memory.
double distance(const double *a, const double *b, Eigen::Index dimension);

// Rows from `first` on to records, in blocks of a fixed size, so that each is treated alike: y = W
// (x - centre). W is the inverse of a lower triangle by substitution (O(n d^2)), or of a diagonal
// (one column). `columns` are the d columns of the data.
void whiten(const std::vector<const double *> &columns, Eigen::Index first,
            const Eigen::Ref<const Eigen::VectorXd> &centre,
            const Eigen::Ref<const Eigen::MatrixXd> &root, Eigen::Ref<Eigen::MatrixXd> records,
            const Interrupt &interrupt);

// How many records lie within each distance: cell k counts those with radii[k - 1] < distance <=
// radii[k]; the last cell is for the rest. Radii ascend.
Eigen::VectorXd count_distances(const Records &records,
                                const Eigen::Ref<const Eigen::VectorXd> &centre,
                                const std::vector<double> &radii, const Interrupt &interrupt);

// The same of the coordinates v'(y - centre), v the columns of `directions` (none: the coordinates
// themselves); a column of the result for each.
Eigen::MatrixXd count_projections(const Records &records,
                                  const Eigen::Ref<const Eigen::VectorXd> &centre,
                                  const Eigen::Ref<const Eigen::MatrixXd> &directions,
                                  const std::vector<double> &cuts, const Interrupt &interrupt);

// The same of the absolute differences of records 1 and 2, 3 and 4, ... in each coordinate, from
// the columns of the data.
Eigen::MatrixXd count_differences(const std::vector<const double *> &columns, Eigen::Index n,
                                  const std::vector<double> &cuts, const Interrupt &interrupt);

// The same of the distances between records 1 and 2, 3 and 4, ...
Eigen::VectorXd count_pair_distances(const Records &records, const std::vector<double> &radii,
                                     const Interrupt &interrupt);

// The exact integer sum of the displacements y - centre, each clipped to the grid's bound and
// rounded toward zero. O(n d).
std::vector<std::int64_t> clipped_sum(const Records &records,
                                      const Eigen::Ref<const Eigen::VectorXd> &centre,
                                      const Grid &grid, const Interrupt &interrupt);

// For the linearised step about the centre (balloon mean, intervals): the integer sums of
// 1(a <= R) + (1 - 1/d) (R / a) 1(a > R) - 1/2 and of min(a, R)^2 / R^2 - 1/2, a the distance.
std::vector<std::int64_t> linearised_sum(const Records &records,
                                         const Eigen::Ref<const Eigen::VectorXd> &centre,
                                         double radius, const Grid &grid,
                                         const Interrupt &interrupt);

// Rotation by three rounds of fixed random signs and a normalised Hadamard transform, of columns
// whose length is a power of two. Its own inverse when `inverse` is true.
Eigen::MatrixXd rotate(const Records &records, bool inverse);

} // namespace confide
