#include "block_sums.h"
#include "incidence.h"
#include <doctest/doctest.h>

using namespace confide;

TEST_CASE("sums over a design are those of its incidence matrix, as whole numbers") {
  for (const Incidence &design :
       {group(singer_family(3, 3)), group(cyclotomic_family(13, 4, 5)), group(bent_family(2)),
        group(mcfarland_family(3, 1)), Incidence(make_hadamard_design(2, 12)),
        Incidence(ListedDesign{3, 3, 2, {0, 1, 1, 2, 0, 2}})}) {
    const auto rows = incidence(design);
    const BlockSums sums_of(design);
    const auto outputs = static_cast<Eigen::Index>(output_count(design));
    Eigen::MatrixXd counts(outputs, 2);
    for (Eigen::Index y = 0; y < outputs; ++y)
      counts.row(y) << static_cast<double>(7 * y % 5), 0.5 * static_cast<double>(y);
    const Eigen::MatrixXd sums = sums_of.over_outputs(counts, 1);
    const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(sums.rows(), 1, 9);
    const Eigen::VectorXd back = sums_of.over_points(values, false);
    for (Eigen::Index x = 0; x < sums.rows(); ++x) {
      double first = 0, second = 0;
      for (Eigen::Index y = 0; y < outputs; ++y) {
        first += rows[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)] * counts(y, 0);
        second += rows[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)] * counts(y, 1);
      }
      CHECK(sums(x, 0) == first);
      CHECK(sums(x, 1) == doctest::Approx(second).epsilon(1e-12));
    }
    for (Eigen::Index y = 0; y < outputs; ++y) {
      double sum = 0;
      for (Eigen::Index x = 0; x < sums.rows(); ++x)
        sum += rows[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)] * values[x];
      CHECK(back[y] == doctest::Approx(sum).epsilon(1e-12));
    }
  }
}
