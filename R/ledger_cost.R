#' Costs for a ledger
#'
#' The Renyi epsilon at order `alpha` of the common mechanisms: what [charge()] takes. All are in
#' natural logarithms and rounded up.
#'
#' @param alpha (number above 1) The order; for `cost_subsampled_gaussian()` a whole number up to
#'   10,000.
#' @param sensitivity (number above 0) For Gaussian noise the largest Euclidean distance between the
#'   exact answers on two neighbours. For `cost_laplace()` a whole number: the largest l1 distance,
#'   in steps of the grid. For `cost_above_threshold()` the largest change of one query.
#' @param sigma (number above 0) Standard deviation of the noise, in the units of `sensitivity`. For
#'   `cost_above_threshold()` two numbers: of the threshold's noise and of the queries' noise.
#' @param scale (number above 0) Scale of the discrete Laplace noise in steps of the grid:
#'   probabilities are proportional to `exp(-abs(y) / scale)`.
#' @param epsilon (number, at least 0) The parameter of pure differential privacy. For
#'   `cost_exponential()` that of one choice with weights
#'   `exp(epsilon * score / (2 * sensitivity))`.
#' @param rate (number from 0 to 1) Each record is in the sample with this probability, by a coin of
#'   its own. For `"add_remove"` neighbours, where one record moves the sum by at most 1.
#' @param weight (number in (0, 1]) The weight that was fixed beforehand for the stop that happened;
#'   `1 / (k + 1)` for at most `k` queries, because never is an outcome too.
#' @param ... Unused; catches misspelt arguments.
#' @returns One number. Divide by `alpha` for the rho of zero-concentrated differential privacy only
#'   for `cost_gaussian()` and `cost_exponential()`.
#' @details
#' * `cost_gaussian()`: \eqn{\alpha \Delta^2 / (2 \sigma^2)}; also for the discrete Gaussian law
#'   when the answers are whole numbers.
#' * `cost_laplace()`: the exact divergence of two discrete Laplace laws; never above
#'   `cost_pure()`, which it is for sensitivity 1. The formula of the continuous law is too small
#'   here.
#' * `cost_pure()`: the largest that pure differential privacy allows,
#'   \eqn{\log(\cosh((\alpha - 1/2) \epsilon) / \cosh(\epsilon / 2)) / (\alpha - 1)}.
#' * `cost_exponential()`: \eqn{\alpha \epsilon^2 / 8}, because the exponential mechanism has
#'   bounded range.
#' * `cost_subsampled_gaussian()`: Mironov, Talwar and Zhang 2019, one step.
#' * `cost_above_threshold()`: for Laplace noise `cost_pure()` whatever the number of queries; for
#'   Gaussian noise (Zhu and Wang 2020)
#'   \eqn{\alpha \Delta^2 / (2 \sigma_1^2) + \alpha (2 \Delta)^2 / (2 \sigma_2^2) + \log(1 / w) /
#'   (\alpha - 1)}.
#' @section Errors:
#' `confide_error_parameter` for arguments that are missing or outside their range.
#' @references
#' Mironov, I., Talwar, K. and Zhang, L. (2019). Renyi differential privacy of the sampled Gaussian
#' mechanism. \doi{10.48550/arXiv.1908.10530}
#'
#' Zhu, Y. and Wang, Y.-X. (2020). Improving sparse vector technique with Renyi differential
#' privacy. *NeurIPS* 33.
#' @seealso [ledger()], [as_approx_dp()]
#' @examples
#' cost_gaussian(alpha = 8, sensitivity = 1, sigma = 4)
#' cost_pure(alpha = 20, epsilon = 0.1)
#' 100 * cost_subsampled_gaussian(alpha = 20, rate = 0.08, sigma = 4)
#' @export
cost_gaussian <- function(alpha, sensitivity, sigma) {
  check_dots_empty()
  alpha <- check_alpha(alpha)
  check_required(sensitivity)
  check_required(sigma)
  gaussian_cost(alpha, check_positive(sensitivity), check_positive(sigma))
}

#' @rdname cost_gaussian
#' @export
cost_laplace <- function(alpha, scale, sensitivity = 1) {
  check_dots_empty()
  alpha <- check_alpha(alpha)
  check_required(scale)
  scale <- check_positive(scale)
  laplace_cost(alpha, 1 / scale, check_whole_number(sensitivity) / scale)
}

#' @rdname cost_gaussian
#' @export
cost_pure <- function(alpha, epsilon) {
  check_dots_empty()
  alpha <- check_alpha(alpha)
  check_required(epsilon)
  pure_cost(alpha, check_epsilon(epsilon))
}

#' @rdname cost_gaussian
#' @export
cost_exponential <- function(alpha, epsilon) {
  check_dots_empty()
  alpha <- check_alpha(alpha)
  check_required(epsilon)
  min(pure_cost(alpha, check_epsilon(epsilon)), outward(alpha * epsilon^2 / 8))
}

#' @rdname cost_gaussian
#' @export
cost_subsampled_gaussian <- function(alpha, rate, sigma) {
  check_dots_empty()
  alpha <- check_whole_number(check_alpha(alpha), min = 2, max = 1e4)
  check_required(rate, "Give the probability with which a record is in the sample.")
  check_required(sigma)
  sigma <- check_positive(sigma)
  rate <- check_number(rate, "from 0 to 1", function(x) x >= 0 && x <= 1)
  if (rate == 0 || rate == 1) {
    return(rate * gaussian_cost(alpha, 1, sigma))
  }
  subsampled_cost(alpha, as.numeric(rate), sigma)
}

#' @rdname cost_gaussian
#' @export
cost_above_threshold <- function(alpha, epsilon = NULL, ..., sigma = NULL, sensitivity = 1,
                                 weight = NULL) {
  check_dots_empty(...)
  alpha <- check_alpha(alpha)
  if (is.null(epsilon) == is.null(sigma)) {
    abort_parameter(c(
      "Exactly one of {.arg epsilon} and {.arg sigma} must be given.",
      i = "{.arg epsilon}: Laplace noise. {.arg sigma}: Gaussian noise, with a {.arg weight}."
    ))
  }
  if (is.null(sigma)) {
    return(pure_cost(alpha, check_epsilon(epsilon)))
  }
  sigma <- check_threshold_sigma(sigma)
  threshold_cost(alpha, check_positive(sensitivity), sigma) + stop_cost(alpha, weight)
}

check_threshold_sigma <- function(sigma, call = rlang::caller_env()) {
  sigma <- check_numbers(sigma, "two finite numbers above 0", function(x) is.finite(x) & x > 0,
    call = call
  )
  if (length(sigma) != 2) {
    abort_parameter(c(
      "{.arg sigma} must be two numbers: of the threshold's noise and of the queries' noise.",
      x = "It is {describe(sigma)}."
    ), call = call)
  }
  sigma
}

check_alpha <- function(alpha, call = rlang::caller_env()) {
  check_required(alpha, "It is the order of the Renyi divergence, fixed beforehand.",
    arg = "alpha", call = call
  )
  if (is_finite_number(alpha) && alpha > 1) {
    return(as.numeric(unname(alpha)))
  }
  abort_parameter(c(
    "{.arg alpha} must be one finite number above 1.",
    x = "It is {describe(alpha)}.",
    i = "See {.fn plan_alpha} for a choice."
  ), call = call)
}

# Covers the rounding of the few operations of a formula; a claim may not be rounded down.
outward <- function(x) x * (1 + 2^-46)

gaussian_cost <- function(alpha, sensitivity, sigma) {
  outward(alpha * (sensitivity / sigma)^2 / 2)
}

# log(cosh((alpha - 1/2) e) / cosh(e / 2)) / (alpha - 1), by cosh x - cosh y =
# 2 sinh((x + y) / 2) sinh((x - y) / 2); every factor keeps its digits. At most e.
pure_cost <- function(alpha, epsilon) {
  if (alpha * epsilon > 700) {
    return(epsilon)
  }
  excess <- 2 * sinh(alpha * epsilon / 2) * sinh((alpha - 1) * epsilon / 2) / cosh(epsilon / 2)
  min(epsilon, outward(log1p(excess) / (alpha - 1)))
}

# Discrete Laplace noise with probabilities proportional to p^|y|, p = e^-step, at a distance of
# loss / step. The sum over y of P^alpha Q^(1 - alpha) is
# (a e^((alpha - 1) loss) + b e^(-alpha loss)) / (1 + p) with a + b = 1 + p; the two terms nearly
# cancel when loss is small, so the rounding of the sum is added.
laplace_cost <- function(alpha, step, loss) {
  order <- 2 * alpha - 1
  share <- expm1(-step) / expm1(-order * step) # (1 - p) / (1 - p^(2 alpha - 1))
  b <- 1 - share
  a <- exp(-step) + share
  total <- 1 + exp(-step)
  exact <- if ((alpha - 1) * loss > 1) {
    log(a / total) + (alpha - 1) * loss + log1p(b / a * exp(-order * loss))
  } else {
    log1p((a * expm1((alpha - 1) * loss) + b * expm1(-alpha * loss)) / total)
  }
  min(pure_cost(alpha, loss), outward((exact + 2^-46) / (alpha - 1)))
}

# 1 + sum over k >= 2 of C(alpha, k) (1 - q)^(alpha - k) q^k (e^((k^2 - k) / (2 sigma^2)) - 1),
# in logarithms.
subsampled_cost <- function(alpha, rate, sigma) {
  k <- seq(2, alpha)
  exponent <- (k^2 - k) / (2 * sigma^2)
  grown <- ifelse(exponent > 30, exponent + log1p(-exp(-exponent)), log(expm1(exponent)))
  terms <- lchoose(alpha, k) + (alpha - k) * log1p(-rate) + k * log(rate) + grown
  top <- max(terms)
  if (!is.finite(top)) {
    return(gaussian_cost(alpha, 1, sigma))
  }
  excess <- top + log(sum(exp(terms - top)))
  exact <- if (excess > 30) excess else log1p(exp(excess))
  min(gaussian_cost(alpha, 1, sigma), exact * (1 + 1e-12) / (alpha - 1))
}

# The noise of the threshold and of the query that ends it (Zhu and Wang 2020).
threshold_cost <- function(alpha, sensitivity, sigma) {
  sum_rounded_up(c(
    gaussian_cost(alpha, sensitivity, sigma[[1]]), gaussian_cost(alpha, 2 * sensitivity, sigma[[2]])
  ))
}

stop_cost <- function(alpha, weight, call = rlang::caller_env()) {
  weight <- check_number(
    weight, "above 0 and at most 1", function(x) x > 0 && x <= 1,
    "For at most k queries it is 1 / (k + 1): never is an outcome too.",
    call = call
  )
  outward(-log(weight) / (alpha - 1))
}
