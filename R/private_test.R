#' Tests on randomized reports
#'
#' For reports of [mech_spr()]: the likelihood-ratio test of its two hypotheses. For the others:
#' independence of two attributes, or goodness of fit of given shares, from randomized data. Under
#' independent randomization two attributes are independent exactly when their reports are, so the
#' ordinary chi-squared test on the reported table keeps its level; what is lost is power (about a
#' factor \eqn{1 / (\lambda_1 \lambda_2)^2} in sample size). The test is never run on the corrected
#' table as if it held counts.
#'
#' @section Two hypotheses:
#' For [mech_spr()] and [mech_spr_continuous()] the test is the most powerful one of its level from
#' these reports: P0 is rejected for P1 when the log-likelihood ratio, the sum of log(M1 / M0) over
#' the reports, is large. The p-value is exact for two different reports (binomial), exact by
#' enumeration while at most two million compositions of the reports have to be looked at (three
#' different reports: up to two million reports; four: up to 1,998), and else a saddlepoint
#' approximation, mostly right to a thousandth of the p-value, and to a few hundredths where few
#' sums are possible; the method says which. `p.value` is the error of rejecting P0 so far out,
#' `p.value.p1` that of rejecting P1 (as small a ratio or smaller, under P1). `estimate` is the mean
#' log-likelihood ratio of a report with a confidence interval (exact for two different reports,
#' else by normal approximation), `expected` its values under P0 and P1: where neither lies in the
#' interval, neither hypothesis fits.
#'
#' @inheritParams count_reports
#' @param x Reports or counts: all that [count_reports()] takes, or its result. Without weights.
#' @param margin (names of attributes) For [mech_lambda()]: two attributes for independence; any for
#'   goodness of fit. Not needed when the mechanism has just these.
#' @param p (numbers, or a table) Shares of the true values under the null hypothesis, in table
#'   order or named by the cells (levels, or `"a, b"` for several attributes), summing to 1: asks
#'   for goodness of fit.
#' @param statistic (`"pearson"` or `"likelihood_ratio"`) The chi-squared statistic.
#' @param level (number in (0, 1)) Confidence level of the interval, for [mech_spr()].
#' @param by (name of an attribute, or `NULL`) Always refused, with the reason: strata of reports
#'   are not strata of people. [log_linear_test()] tests conditional independence.
#' @returns An object of class `"htest"` with `statistic`, `parameter`, `p.value`, `method`,
#'   `data.name`, `observed` and `expected` (reports), for independence `estimate` (Cramer's V and
#'   phi squared of the *true* table, corrected for bias; `NA` where a share is estimated below 0),
#'   and `privacy`. The method says when expected counts are small.
#' @section Level:
#' Holds for people drawn from a population: the hypothesis is about the population, not the file.
#' For a fixed file whose own table is exactly independent, or has exactly the shares `p`, the
#' reports vary less than the test thinks, and it is conservative. With noise that is not uniform
#' all of this holds too.
#' @section Errors:
#' `confide_error_parameter` for weights, a margin that is not two attributes (independence), or
#' shares that are not a distribution over the levels; for `margin`, `p` or `statistic` with
#' [mech_spr()].
#' @references Ruiz, N. (2026). Lambda-randomization. arXiv 2603.05261.
#'
#' Lugannani, R. and Rice, S. (1980). Saddle point approximation for the distribution of the sum of
#' independent random variables. *Advances in Applied Probability* 12, 475-490.
#' \doi{10.2307/1426607}
#' @examples
#' m <- mech_lambda(adult[c("sex", "income")], lambda = 0.7)
#' reports <- privatize(adult[c("sex", "income")], m)
#' private_test(reports, m)
#' private_test(reports, m, margin = "sex", p = c(Female = 0.5, Male = 0.5))
#' @export
private_test <- function(x, mechanism, ..., margin = NULL, p = NULL,
                         statistic = c("pearson", "likelihood_ratio"), level = 0.95, count = NULL,
                         by = NULL) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  refuse_strata(by)
  check_required(x, "Give reports or counts.")
  # Before the options: what reports of another mechanism need is not what is wrong.
  check_fingerprint(found_fingerprint(x), mechanism, rlang::current_env())
  options <- list(
    margin = margin, p = p, count = count, level = check_level(level),
    statistic = check_choice(statistic, c("pearson", "likelihood_ratio"))
  )
  test_reports(mechanism, x, options, rlang::current_env())
}

# The test that the mechanism's reports are for.
test_reports <- function(mechanism, x, options, call) UseMethod("test_reports")

#' @exportS3Method
test_reports.confide_mechanism <- function(mechanism, x, options, call) {
  margin <- check_margin(options$margin, mechanism, call)
  p <- options$p
  if (is.null(p) && length(margin) != 2) {
    abort_parameter(c(
      paste(
        "A test of independence needs two attributes in {.arg margin};",
        "one of goodness of fit needs {.arg p}."
      ),
      x = "There {?is/are} {length(margin)} attribute{?s} and no {.arg p}."
    ), call = call)
  }
  check_informative(mechanism, margin, call)
  null <- if (!is.null(p)) check_null(p, mechanism, margin, call)
  counts <- as_counts(x, mechanism, NULL, options$count, call)
  refuse_weights(counts, call)
  check_some_reports(counts, call)
  decoded <- decode(mechanism, counts, list(margin = margin, max_cells = 2^24), call)
  test <- if (is.null(null)) {
    test_independence(decoded, options$statistic)
  } else {
    test_fit(decoded, null, options$statistic)
  }
  structure(c(test, list(
    data.name = tested_data(
      paste("reports on", paste(margin %||% "one attribute", collapse = " and ")), counts$privacy
    ),
    privacy = counts$privacy
  )), class = "htest")
}

# A test prints as R prints tests: the guarantee stands beside what the data are.
tested_data <- function(what, privacy) {
  sprintf(
    "%s, epsilon = %s%s", what, format_epsilon(privacy$epsilon),
    if (identical(privacy$rng, "r")) ", NOT PRIVATE (R's generator)" else ""
  )
}

refuse_weights <- function(counts, call = rlang::caller_env()) {
  if (is.null(counts$squares)) {
    return(invisible())
  }
  abort_parameter(c(
    "The tests are for reports without weights.",
    x = "These counts are weighted."
  ), call = call)
}

# Independence within true strata does not carry over to reported ones: with lambda = 0.5 a
# stratified test rejected a true null hypothesis every time.
refuse_strata <- function(by, call = rlang::caller_env()) {
  if (is.null(by)) {
    return(invisible())
  }
  abort_parameter(c(
    "{.fn private_test} does not stratify: {.arg by} must be NULL.",
    x = paste(
      "It is {describe_names(by)}. Randomization mixes strata: attributes that are independent",
      "within each true stratum are dependent within the reported ones, and a stratified test",
      "rejects them."
    ),
    i = "Test conditional independence with {.code log_linear_test(x, mechanism, ~ a * z + b * z)}."
  ), call = call)
}

check_null <- function(p, mechanism, margin, call = rlang::caller_env()) {
  alphabets <- if (is.null(margin)) list(mechanism$alphabet) else mechanism$alphabets[margin]
  domain <- lapply(alphabets, alphabet_labels)
  p <- if (is.numeric(p) && !is.null(dim(p))) {
    null_table(p, alphabets, call)
  } else if (is.null(names(p))) {
    p
  } else {
    in_level_order(p, cell_labels(domain), "p", call)
  }
  unname(check_probabilities(p, prod(lengths(domain)), arg = "p", call = call))
}

# The cells of an array in table order, by its dimnames where it has some.
null_table <- function(p, alphabets, call) {
  sizes <- unname(alphabet_sizes(alphabets))
  named <- !is.null(dimnames(p))
  if (length(dim(p)) != length(sizes) || (!named && any(dim(p) != sizes))) {
    abort_parameter(c(
      "An array {.arg p} must have a dimension for each attribute.",
      x = paste(
        "Expected {paste(sizes, collapse = ' x ')} cells;",
        "found {paste(dim(p), collapse = ' x ')}."
      )
    ), call = call)
  }
  if (named) place_cells(as.vector(p), dimnames(p), alphabets, call) else as.vector(p)
}

chi_squared <- function(observed, expected, statistic) {
  if (statistic == "pearson") {
    terms <- ifelse(expected > 0, (observed - expected)^2 / expected, ifelse(observed > 0, Inf, 0))
    return(sum(terms))
  }
  2 * sum(ifelse(observed > 0, observed * log(observed / expected), 0))
}

test_independence <- function(decoded, statistic) {
  observed <- array(decoded$reported$total, lengths(decoded$dimnames), decoded$dimnames)
  expected <- outer(rowSums(observed), colSums(observed)) / sum(observed)
  dimnames(expected) <- dimnames(observed)
  # Only an attribute that is not randomized can have levels that never occur; they carry no
  # information.
  df <- (sum(rowSums(observed) > 0) - 1) * (sum(colSums(observed) > 0) - 1)
  value <- chi_squared(observed, expected, statistic)
  effect <- true_association(decoded, observed)
  list(
    statistic = c("X-squared" = value),
    parameter = c(df = df),
    p.value = if (df > 0) stats::pchisq(value, df, lower.tail = FALSE) else 1,
    estimate = c(
      "Cramer's V (true table)" = effect$cramer_v,
      "phi-squared (true table)" = effect$phi_squared
    ),
    method = test_name("independence", statistic, expected, is.na(effect$cramer_v)),
    observed = observed,
    expected = expected
  )
}

# Effect size of the true table: d = (psi_jk - psi_j psi_k) / (lambda_j lambda_k), phi^2 = sum d^2 /
# (pi_j pi_k), less its first-order bias under independence (Ruiz 2026 for the covariance, equation
# 9).
true_association <- function(decoded, observed) {
  n <- sum(observed)
  lambda <- decoded$decoder$lambda
  reported <- list(rowSums(observed) / n, colSums(observed) / n)
  true <- Map(function(psi, l, q) (psi - (1 - l) * q) / l, reported, lambda, decoded$decoder$noise)
  if (any(unlist(true) <= 0)) {
    return(list(phi_squared = NA_real_, cramer_v = NA_real_))
  }
  d <- (observed / n - outer(reported[[1]], reported[[2]])) / prod(lambda)
  spread <- lapply(reported, function(psi) psi * (1 - psi))
  weight <- outer(true[[1]], true[[2]])
  bias <- sum(outer(spread[[1]], spread[[2]]) / weight) / (n * prod(lambda)^2)
  phi_squared <- sum(d^2 / weight) - bias
  list(
    phi_squared = phi_squared,
    cramer_v = min(sqrt(max(phi_squared, 0) / (min(dim(observed)) - 1)), 1)
  )
}

test_fit <- function(decoded, null, statistic) {
  observed <- decoded$reported$total
  expected <- sum(observed) * expected_reports(null, decoded$decoder)
  value <- chi_squared(observed, expected, statistic)
  df <- sum(expected > 0) - 1
  list(
    statistic = c("X-squared" = value),
    parameter = c(df = df),
    p.value = stats::pchisq(value, df, lower.tail = FALSE),
    null.value = NULL,
    method = test_name("goodness of fit", statistic, expected),
    observed = observed,
    expected = expected
  )
}

expected_reports <- function(shares, decoder) {
  if (decoder$type == "product") {
    return(apply_product(shares, decoder, "forward"))
  }
  if (decoder$type == "block") {
    return(block_expected(shares, decoder))
  }
  as.vector(crossprod(decoder$channel, shares))
}

test_name <- function(what, statistic, expected, no_effect = FALSE) {
  name <- sprintf(
    "%s test of %s on randomized reports",
    if (statistic == "pearson") "Pearson's chi-squared" else "Likelihood-ratio chi-squared", what
  )
  smallest <- min(expected)
  notes <- c(
    if (smallest < 5) {
      sprintf("smallest expected count %s: approximate", format_number(smallest, 2))
    },
    if (no_effect) "effect sizes NA: a true share is estimated at or below 0"
  )
  if (length(notes) == 0) name else sprintf("%s (%s)", name, paste(notes, collapse = "; "))
}
