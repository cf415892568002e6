#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace confide {

// One attribute of a product channel, acting on one mode of an array: a fibre x becomes
// keep[v] * x[v] + spread[v] * sum(x). The channel lambda I + (1 - lambda) 1 q', its inverse and
// its squared inverse all have this form (Ruiz 2026, Property 1; uniform q is the paper's).
struct Mode {
  Eigen::VectorXd keep, spread;
};

// lambda in (0, 1]; noise is the distribution q of the replacement value, summing to 1.
Mode forward_mode(double lambda, const Eigen::Ref<const Eigen::VectorXd> &noise);
Mode inverse_mode(double lambda, const Eigen::Ref<const Eigen::VectorXd> &noise);
Mode squared_inverse_mode(double lambda, const Eigen::Ref<const Eigen::VectorXd> &noise);

// Applies every mode in turn, in place; cells in R's order, first attribute fastest. O(modes *
// cells), no Kronecker matrix.
void apply_modes(Eigen::Ref<Eigen::VectorXd> cells, const std::vector<Mode> &modes);

// The transposed operation: a fibre x becomes keep[v] * x[v] + sum(spread * x).
void apply_modes_transposed(Eigen::Ref<Eigen::VectorXd> cells, const std::vector<Mode> &modes);

// The moment estimate of all cells of a table and its standard errors, in one pass over the modes
// each. The covariance of the estimate is n / (n - 1) * sum w^2 (z - pi)(z - pi)' / (sum w)^2 with
// z the column of the inverse that a report selects; without weights this is Ruiz 2026's [P^-1
// Diag(psi) P^-T - pi pi'] / (n - 1).
struct ReportedTable {
  Eigen::Ref<const Eigen::VectorXd> weight; // sum of weights of each cell
  Eigen::Ref<const Eigen::VectorXd>
      square; // sum of squared weights; the weights themselves where all are 1
  bool weighted;
  double n; // number of reports
};
struct Moments {
  Eigen::Ref<Eigen::VectorXd> shares, std_error; // memory of the caller: a table may be large
};
void product_moments(const ReportedTable &reported, const std::vector<Mode> &inverse,
                     const std::vector<Mode> &squared_inverse, Moments moments);

// The maximum likelihood estimate of one attribute under uniform noise, in closed form (Pinzon et
// al. 2026, arXiv 2601.08603). reported sums to 1. O(k log k).
Eigen::VectorXd maximum_likelihood_one_way(const Eigen::Ref<const Eigen::VectorXd> &reported,
                                           double lambda);

// Euclidean projection onto the probability simplex. O(k log k).
Eigen::VectorXd project_to_simplex(const Eigen::Ref<const Eigen::VectorXd> &values);

// Rows of reported codes from 0, each with a total weight and a total squared weight.
using Codes = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic>;
struct WeightedRows {
  Eigen::Ref<const Codes> codes;
  Eigen::Ref<const Eigen::VectorXd> weight, square;
};

// Distinct rows in order of appearance, with their sums. O(rows * attributes) expected.
struct Patterns {
  std::vector<std::size_t> first_row;
  Eigen::VectorXd weight, square;
};
Patterns distinct_patterns(const WeightedRows &rows);

// Adds weights into the cell of `table` that each row of codes names.
void tabulate(const Eigen::Ref<const Codes> &rows, const Eigen::Ref<const Eigen::VectorXd> &weights,
              const std::vector<std::size_t> &dimensions, Eigen::Ref<Eigen::VectorXd> table);

// What is asked about a record: for each attribute the codes (from 0) that count. One code for each
// attribute is a cell of the joint table.
using Event = std::vector<std::int32_t>;
using Question = std::vector<Event>;

// Sums over the reports of the unbiased per-record value f of each question, straight from the
// records: the product over attributes of 1[y in A] / lambda - (1 - lambda) q(A) / lambda (Ruiz
// 2026, Property 1, summed over A). O(rows * attributes) per question, the joint table is never
// built.
struct CellSums {
  Eigen::VectorXd value;           // sum w f
  Eigen::VectorXd square_weighted; // sum w^2 f
  Eigen::VectorXd square;          // sum w^2 f^2
};
CellSums cell_sums(const WeightedRows &rows, const std::vector<Question> &questions,
                   const std::vector<Mode> &inverse, const std::function<void()> &interrupt);

// The matrix of f, rows by questions, for covariances between a few of them.
Eigen::MatrixXd cell_values(const Eigen::Ref<const Codes> &rows,
                            const std::vector<Question> &questions,
                            const std::vector<Mode> &inverse);

} // namespace confide
