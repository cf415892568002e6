#' Risk of block designs and its lower bound
#'
#' What an estimate of the shares of `v` categories must cost under `epsilon`-local differential
#' privacy, and what a design costs. Block sizes in the set that `optimal_block_size()` returns are
#' those whose block designs reach the bound exactly; the bound holds for every unbiased scheme at
#' every number of reports (Park, Nam and Lee 2023; Ye and Barg 2019).
#'
#' @param v (whole number, at least 2) Number of categories.
#' @param epsilon (number, at least 2^-60) Privacy parameter of a report.
#' @param u (number from 1 to 2) The loss is the sum of the u-th powers of the errors of the shares;
#'   2 is the squared error.
#' @param k (whole numbers from 1 to v - 1) Block sizes.
#' @param b,r,lambda (numbers) Outputs of the design, outputs of each point, outputs that two points
#'   share, with 0 <= lambda < r < b. Vectors of one length are taken together.
#' @returns `optimal_block_size()`: one whole number, or two at a tie. `risk_bound()`: the smallest
#'   possible worst-case risk times n^(u/2); for u below 2 a statement for many reports.
#'   `design_risk()`: n times the worst-case mean squared error of the canonical estimator, exact
#'   for every n. `exactness_interval()`: a data frame with columns `v`, `k`, `lower`, `upper`: the
#'   values of epsilon for which block designs of v points and block size k are exactly optimal.
#' @section Errors:
#' `confide_error_parameter` for arguments outside their range.
#' @references
#' Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Exactly optimal and communication-efficient
#' private estimation via block designs. arXiv 2305.01261.
#'
#' Ye, M. and Barg, A. (2019). Optimal locally private estimation under l_p loss for 1 <= p <= 2.
#' *Electronic Journal of Statistics* 13, 4102-4120. \doi{10.1214/19-EJS1608}
#' @family block designs
#' @examples
#' optimal_block_size(100, epsilon = 1)
#' risk_bound(100, epsilon = 1)
#' # The quartic residues modulo 101, cut to 100 points
#' design_risk(100, b = 101, r = 25, lambda = 6, epsilon = 1)
#' exactness_interval(101, k = 25)
#' @name block-risk
NULL

check_categories <- function(v, call = rlang::caller_env()) {
  check_required(v, "Give the number of categories.", arg = "v", call = call)
  check_whole_number(v, min = 2, max = max_levels, arg = "v", call = call)
}

check_block_epsilon <- function(epsilon, call = rlang::caller_env()) {
  hint <- "Common choices lie between 0.5 and 4; smaller protects more."
  check_required(epsilon, hint, arg = "epsilon", call = call)
  epsilon <- check_epsilon(epsilon, zero = FALSE, call = call)
  if (epsilon >= smallest_block_epsilon) {
    return(epsilon)
  }
  abort_parameter(c(
    "{.arg epsilon} must be at least 2^-60.",
    x = "It is {format(epsilon)}.",
    i = "With less, reports of 64-bit integers say nothing at all.",
    i = hint
  ), call = call)
}

# The integers of the sampler still realise half of it where outputs are few.
smallest_block_epsilon <- 2^-60

#' @rdname block-risk
#' @export
optimal_block_size <- function(v, epsilon) {
  block_size_set(check_categories(v), check_block_epsilon(epsilon))
}

# Risk(k) <= Risk(k + 1) exactly when e^(2 epsilon) >= (v - k)(v - k - 1) / (k (k + 1)). The minimum
# lies beside v / (e^epsilon + 1).
block_size_set <- function(v, epsilon) {
  centre <- floor(v * balance(epsilon))
  k <- unique(pmin(pmax(centre + (-1:2), 1), v - 1))
  lower <- log((v - k) / k) + log((v - k - 1) / (k + 1))
  upper <- log((v - k) / k) + log((v - k + 1) / (k - 1)) # infinite for k = 1
  k[lower <= 2 * epsilon + 1e-12 & 2 * epsilon <= upper + 1e-12]
}

# 1 / (e^epsilon + 1), for any epsilon.
balance <- function(epsilon) stats::plogis(-epsilon)

#' @rdname block-risk
#' @export
risk_bound <- function(v, epsilon, u = 2) {
  v <- check_categories(v)
  epsilon <- check_block_epsilon(epsilon)
  u <- check_power(u)
  power_risk(v, smallest_risk(v, epsilon), u)
}

check_power <- function(u, call = rlang::caller_env()) {
  check_number(u, "from 1 to 2", function(x) x >= 1 && x <= 2, call = call)
}

# First order in n of the sum of E |error|^u where each of v errors is normal with variance risk /
# v.
power_risk <- function(v, risk, u) normal_moment(u) * v^(1 - u / 2) * risk^(u / 2)

# E |Z|^u of a standard normal Z.
normal_moment <- function(u) 2^(u / 2) * gamma((u + 1) / 2) / sqrt(pi)

# Ye and Barg 2019; attained by every block design with k in block_size_set().
smallest_risk <- function(v, epsilon) {
  k <- block_size_set(v, epsilon)[[1]]
  block_design_risk(v, v, k, k * (k - 1) / (v - 1), epsilon)
}

#' @rdname block-risk
#' @export
design_risk <- function(v, b, r, lambda, epsilon) {
  v <- check_categories(v)
  check_required(b, "The number of outputs.")
  check_required(r, "How many outputs each category is in.")
  check_required(lambda, "How many outputs two categories share.")
  epsilon <- check_block_epsilon(epsilon)
  b <- check_numbers(b, "above 0", function(x) is.finite(x) & x > 0)
  r <- check_numbers(r, "above 0", function(x) is.finite(x) & x > 0)
  lambda <- check_numbers(lambda, "at least 0", function(x) is.finite(x) & x >= 0)
  check_design_numbers(b, r, lambda)
  block_design_risk(v, b, r, lambda, epsilon)
}

check_design_numbers <- function(b, r, lambda, call = rlang::caller_env()) {
  sizes <- c(length(b), length(r), length(lambda))
  if (length(setdiff(sizes, 1)) > 1) {
    abort_parameter(c(
      "{.arg b}, {.arg r} and {.arg lambda} must have one length, or be single numbers.",
      x = "Their lengths are {sizes}."
    ), call = call)
  }
  if (!all(lambda < r & r < b)) {
    abort_parameter(c(
      "{.arg r} must be below {.arg b}, and {.arg lambda} below {.arg r}.",
      i = "A category is in some outputs but not in all, and shares fewer with another."
    ), call = call)
  }
}

# n times the mean squared error at the uniform distribution, its worst case (Park, Nam and Lee
# 2023): v m (1 - m) / d^2. w = e^-epsilon keeps a large epsilon from overflowing. v, b, r and
# lambda may be vectors; only the ratios of the last three matter.
block_design_risk <- function(v, b, r, lambda, epsilon) {
  w <- exp(-epsilon)
  scale <- r + (b - r) * w
  d <- (r - lambda) * -expm1(-epsilon) / scale
  m <- (lambda + (r - lambda) * w) / scale + d / v
  v * m * (1 - m) / d^2
}

#' @rdname block-risk
#' @export
exactness_interval <- function(v, k) {
  v <- check_categories(v)
  check_required(k, "Give block sizes.")
  k <- check_numbers(k, "whole numbers from 1 to v - 1", function(x) {
    is.finite(x) & x == round(x) & x >= 1 & x < v
  })
  data.frame(
    v = v, k = k,
    lower = pmax(0, (log((v - k) / k) + log((v - k - 1) / (k + 1))) / 2),
    upper = (log((v - k) / k) + log((v - k + 1) / (k - 1))) / 2
  )
}

#' Risk of a block design at given shares
#'
#' The expected loss of an estimate from `n` reports, for any distribution of the people over the
#' categories.
#'
#' @param mechanism (mechanism) Made by [mech_block()].
#' @param n (whole number) Number of reports.
#' @param ... Unused; catches misspelt arguments.
#' @param p (probabilities over the levels, or `NULL`) The true shares; `NULL` (default): uniform,
#'   which is the worst case for u = 2 (and for large n also below).
#' @param u (number from 1 to 2) The loss is the sum of the u-th powers of the absolute errors: 2
#'   (default) the squared error, 1 twice the total variation distance.
#' @param method (`"moment"` or `"canonical"`) The estimate, as in [estimate()].
#' @param target (`"population"` or `"file"`) As in [estimate()]; `"file"` for u = 2 only.
#' @returns One number. It is exact for u = 2, and for the canonical estimate (a binomial count made
#'   linear) at any u; the centred estimate with u below 2 is taken as normal with its exact
#'   variance, which is right for many reports.
#' @section Errors:
#' `confide_error_parameter` for other mechanisms and arguments outside their range.
#' @references
#' Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Exactly optimal and communication-efficient
#' private estimation via block designs. arXiv 2305.01261.
#' @family block designs
#' @examples
#' m <- mech_block(100, epsilon = 1)
#' block_risk(m, n = 10000)
#' block_risk(m, n = 10000, p = (100:1) / 5050, u = 1)
#' @export
block_risk <- function(mechanism, n, ..., p = NULL, u = 2, method = c("moment", "canonical"),
                       target = c("population", "file")) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(n, "Give the number of reports.")
  n <- check_whole_number(n)
  u <- check_power(u)
  method <- check_choice(method, c("moment", "canonical"))
  target <- check_choice(target, c("population", "file"))
  if (!inherits(mechanism, "confide_block") || (target == "file" && u < 2)) {
    abort_parameter(c(
      "{.fn block_risk} needs a mechanism made by {.fn mech_block}, and {.code u = 2} for a file.",
      x = if (inherits(mechanism, "confide_block")) "u is {u}." else "It is {describe(mechanism)}."
    ))
  }
  p <- check_prior(p, levels(mechanism), "p")
  law <- block_law(mechanism)
  sizes <- if (method == "moment") output_sizes(mechanism$design, law$v)
  reported <- law$q + law$d * p # of the sets of the levels
  if (is.null(sizes) && u < 2) {
    return(sum(binomial_moments(reported, n, u)) / law$d^u)
  }
  variance <- unit_variances(mechanism, law, sizes, p, reported)
  if (u < 2) {
    return(normal_moment(u) * sum((variance / n)^(u / 2)))
  }
  (sum(variance) - if (target == "file") 1 - sum(p^2) else 0) / n
}

# The variance of what one report is worth to each level, where people have shares p.
unit_variances <- function(mechanism, law, sizes, p, inside) {
  if (is.null(sizes)) {
    return(inside * (1 - inside) / law$d^2)
  }
  tables <- block_tables(mechanism$design, law$v)
  law_of_reports <- law$outside + law$surplus * block_sizes(tables, p, FALSE)
  centre <- centring_values(mechanism$design, law)
  weighted <- law_of_reports * centre
  joint <- as.vector(block_sums(tables, cbind(weighted), 0))
  second <- ((1 - 2 * law$q) * inside + law$q^2) / law$d^2 -
    2 * (joint - law$q * sum(weighted)) / law$d + sum(weighted * centre)
  second - p^2
}

# E |T / n - q|^u of binomial counts T. For u = 1 De Moivre's closed form; else summed over all but
# 1e-30 of the law.
binomial_moments <- function(q, n, u) {
  if (u == 1) {
    above <- floor(n * q) + 1
    return(2 * (1 - q) * above / n * stats::dbinom(above, n, q))
  }
  distinct <- unique(q)
  moments <- vapply(distinct, function(one) {
    t <- seq(stats::qbinom(1e-30, n, one), stats::qbinom(1e-30, n, one, lower.tail = FALSE))
    sum(abs(t / n - one)^u * stats::dbinom(t, n, one))
  }, numeric(1))
  moments[match(q, distinct)]
}
