#' Plan a private test of two hypotheses
#'
#' How many people, how much privacy, which level or which power: gives the one that is left `NULL`,
#' in the manner of [stats::power.prop.test()]. The mechanism is that of [mech_spr()] and the test
#' that of [private_test()]: reject P0 when the log-likelihood ratio of the reports is large.
#'
#' @inheritParams mech_spr
#' @param p0,p1 As in [mech_spr()]; or two distribution functions, as in [mech_spr_continuous()].
#' @param n (whole number or `NULL`) Number of reports.
#' @param epsilon (number or `NULL`) The privacy parameter of each report; no default.
#' @param power (number in (0, 1) or `NULL`) Probability of rejecting P0 when P1 holds.
#' @param sig.level (number in (0, 1) or `NULL`) Probability of rejecting P0 when it holds, at most;
#'   0.05 by default.
#' @param support As in [mech_spr_continuous()].
#' @returns An object of class `"power.htest"`: a list with `n`, `epsilon`, `reports` (how many
#'   different ones), `sig.level` (asked), `level` (attained: tests of counts cannot have every
#'   level), `power` (attained), `note`, `method`. For `n` the smallest number from which on the
#'   power is reached, whatever the steps of the level; for `epsilon` a value that just reaches it,
#'   to half a percent.
#' @section Accuracy:
#' Exact where [private_test()] is exact and cheap (two different reports: always; else up to 20,000
#' compositions of the reports), else by the saddlepoint approximation; `method` says which.
#' @section Errors:
#' `confide_error_parameter` unless exactly one of the four is `NULL`, for numbers outside their
#' range, and where no answer exists: equal hypotheses, or too few people even without privacy.
#' @references
#' Chernoff, H. (1952). A measure of asymptotic efficiency for tests of a hypothesis based on the
#' sum of observations. *Annals of Mathematical Statistics* 23, 493-507.
#' \doi{10.1214/aoms/1177729330}
#'
#' Ghazi, E. (2026). Sort, Partition, Randomize: Optimal Binary Hypothesis Testing under Local
#' Differential Privacy. arXiv 2606.07443.
#' @family planning
#' @seealso [mech_spr()], [private_test()]; [plan_alpha()] for the order of a certificate
#' @examples
#' p0 <- c(none = 0.05, few = 0.25, some = 0.30, many = 0.40)
#' p1 <- c(none = 0.10, few = 0.30, some = 0.30, many = 0.30)
#' plan_test(p0, p1, epsilon = 1, power = 0.9)
#' plan_test(p0, p1, epsilon = 1, n = 1000)
#' plan_test(p0, p1, n = 3000, power = 0.9)
#' @export
plan_test <- function(p0, p1, ..., n = NULL, epsilon = NULL, power = NULL,
                      sig.level = 0.05, # nolint: object_name_linter. As in power.prop.test().
                      objective = "kl", max_outputs = Inf, support = c(-Inf, Inf)) {
  check_dots_empty(...)
  check_required(p0, "Give the first hypothesis.")
  check_required(p1, "Give the second hypothesis.")
  asked <- list(n = n, epsilon = epsilon, power = power, sig.level = sig.level)
  unknown <- check_one_unknown(asked)
  asked <- check_plan(asked)
  reports_at <- report_laws(p0, p1, as_objective(objective), max_outputs, support)
  found <- switch(unknown,
    n = plan_n(asked, reports_at(asked$epsilon)),
    epsilon = plan_epsilon(asked, reports_at),
    power = asked,
    sig.level = plan_level(asked, reports_at(asked$epsilon))
  )
  laws <- reports_at(found$epsilon)
  new_test_plan(found, laws, operate(laws, found$n, found$sig.level))
}

check_one_unknown <- function(asked, call = rlang::caller_env()) {
  unknown <- names(asked)[vapply(asked, is.null, logical(1))]
  if (length(unknown) != 1) {
    abort_parameter(c(
      "Exactly one of {.arg {names(asked)}} must be NULL: the one to find.",
      x = if (length(unknown) == 0) "None is." else "{.arg {unknown}} are NULL."
    ), call = call)
  }
  unknown
}

check_plan <- function(asked, call = rlang::caller_env()) {
  if (!is.null(asked$n)) {
    asked$n <- check_whole_number(asked$n, max = 1e12, arg = "n", call = call)
  }
  if (!is.null(asked$epsilon)) {
    asked$epsilon <- check_epsilon(asked$epsilon, call = call)
  }
  check_chance(asked$power, "power", call)
  check_chance(asked$sig.level, "sig.level", call)
  asked
}

check_chance <- function(x, arg, call) {
  if (!is.null(x)) {
    check_number(x, "between 0 and 1", function(x) x > 0 && x < 1, arg = arg, call = call)
  }
}

# A function from epsilon to the laws of a report under the two hypotheses. The mechanism's
# constructor checks everything once.
report_laws <- function(p0, p1, objective, max_outputs, support) {
  given <- called_objective(objective)
  if (is.function(p0)) {
    return(function(epsilon) {
      laws_of(mech_spr_continuous(p0, p1, epsilon,
        objective = given, max_outputs = max_outputs, tolerance = 1e-6, support = support
      ))
    })
  }
  mechanism <- mech_spr(p0, p1, 1, given, max_outputs = max_outputs)
  function(epsilon) {
    solution <- solve_spr(mechanism[c("p0", "p1")], epsilon, objective, max_outputs)
    laws_of(list(output_p0 = solution$m0, output_p1 = solution$m1))
  }
}

laws_of <- function(mechanism) {
  list(
    m0 = mechanism$output_p0, m1 = mechanism$output_p1,
    score = log(mechanism$output_p1 / mechanism$output_p0)
  )
}

# Compositions enumerated at most: a threshold takes about 50 tails.
most_planned <- 2e4

# Level and power of the test of level at most `sig_level`.
operate <- function(laws, n, sig_level) {
  null <- function(t) sum_tail(t, n, laws$m0, laws$score, most_planned)
  threshold <- bisect_threshold(laws, n, function(t) null(t)$p <= sig_level)$high
  list(
    level = null(threshold)$p,
    power = sum_tail(threshold, n, laws$m1, laws$score, most_planned)$p,
    method = null(threshold)$method
  )
}

# `beyond` is FALSE below some threshold and TRUE above it; returns the two sides of the step.
bisect_threshold <- function(laws, n, beyond) {
  margin <- 1e-6 * (1 + n * max(abs(laws$score)))
  low <- n * min(laws$score) - margin
  high <- n * max(laws$score) + margin
  for (step in 1:60) {
    middle <- (low + high) / 2
    if (beyond(middle)) high <- middle else low <- middle
  }
  list(low = low, high = high)
}

plan_n <- function(asked, laws) {
  asked$n <- if (length(laws$score) == 2) {
    binomial_n(laws, asked)
  } else {
    searched_n(laws, asked)
  }
  asked
}

# At threshold 0 both errors are at most e^(-n C), C being Chernoff's information of a report.
enough_reports <- function(laws, asked, call = rlang::caller_env()) {
  information <- chernoff_information(laws)
  n <- log(1 / min(asked$sig.level, 1 - asked$power)) / information
  if (!is.finite(n) || n > 1e12) {
    abort_parameter(c(
      "The hypotheses must differ, and {.arg epsilon} be above 0, for a power to be reached.",
      x = "No number of reports up to 1e12 is enough."
    ), call = call)
  }
  ceiling(n)
}

chernoff_information <- function(laws) {
  spr_divergence(laws$m0, laws$m1, "chernoff", 0, NULL)
}

# With two different reports the level moves in steps, and the power with it: all n around the
# smooth solution are looked at, and the last that fails decides.
binomial_n <- function(laws, asked) {
  enough <- enough_reports(laws, asked)
  first <- which.max(laws$score)
  reaches <- function(n) {
    critical <- stats::qbinom(asked$sig.level, n, laws$m0[[first]], lower.tail = FALSE)
    stats::pbinom(critical, n, laws$m1[[first]], lower.tail = FALSE) >= asked$power
  }
  low <- 1
  high <- enough
  while (high - low > 1 && high > 1.0001 * low) {
    middle <- floor((low + high) / 2)
    if (reaches(middle)) high <- middle else low <- middle
  }
  window <- seq(max(1, floor(0.8 * high)), min(enough, ceiling(1.25 * high) + 100),
    by = max(1, floor(high / 4e6))
  )
  failing <- which(!reaches(window))
  if (length(failing) == 0) window[[1]] else window[[max(failing)]] + 1
}

# With more different reports the steps are small.
searched_n <- function(laws, asked) {
  high <- enough_reports(laws, asked)
  low <- 0
  while (high - low > 1) {
    middle <- floor((low + high) / 2)
    reached <- operate(laws, middle, asked$sig.level)$power >= asked$power
    if (reached) high <- middle else low <- middle
  }
  high
}

# An epsilon that just reaches the power, to half a percent.
plan_epsilon <- function(asked, reports_at, call = rlang::caller_env()) {
  power <- function(epsilon) operate(reports_at(epsilon), asked$n, asked$sig.level)$power
  low <- 0
  high <- 44
  if (power(high) < asked$power) {
    abort_parameter(c(
      "{.arg n} must be large enough for the power at some {.arg epsilon}.",
      x = "{format(asked$n)} reports are too few even without privacy.",
      i = "Leave out {.arg n} to find how many are needed."
    ), call = call)
  }
  while (high - low > 0.005 * high) {
    middle <- (low + high) / 2
    if (power(middle) >= asked$power) high <- middle else low <- middle
    if (high < 1e-9) break
  }
  asked$epsilon <- high
  asked
}

plan_level <- function(asked, laws) {
  tail <- function(t, m) sum_tail(t, asked$n, m, laws$score, most_planned)$p
  threshold <- bisect_threshold(laws, asked$n, function(t) tail(t, laws$m1) < asked$power)$low
  asked$sig.level <- min(tail(threshold, laws$m0) * (1 + 1e-12), 1)
  asked
}

new_test_plan <- function(found, laws, test) {
  structure(list(
    n = found$n,
    epsilon = found$epsilon,
    reports = length(laws$score),
    sig.level = found$sig.level,
    level = test$level,
    power = test$power,
    note = plan_note(laws),
    method = sprintf("Private likelihood-ratio test of P0 against P1 (%s)", test$method)
  ), class = "power.htest")
}

# Stein's lemma and Chernoff's theorem (Chernoff 1952).
plan_note <- function(laws) {
  paste0(
    "n counts all reports; epsilon is per report.\n      ",
    sprintf(
      "At a fixed level the other error falls like exp(-%s n) (Stein);\n      ",
      format_number(spr_divergence(laws$m0, laws$m1, "kl", 0, NULL), 3)
    ),
    sprintf(
      "with both errors alike, each falls like exp(-%s n) (Chernoff).",
      format_number(chernoff_information(laws), 3)
    )
  )
}
