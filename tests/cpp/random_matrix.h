#pragma once
#include "random.h"
#include <Eigen/Core>

namespace confide {

inline void no_interrupt() {}

// Entries are uniform between -3 and 3.
inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns,
                                     RandomSource &random) {
  Eigen::MatrixXd x(rows, columns);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = 6 * (static_cast<double>(random.word()) * 0x1p-64 - 0.5);
  return x;
}

} // namespace confide
