#' The best mechanism for two hypotheses about a number
#'
#' As [mech_spr()], for values on the line: each person's number comes from the distribution P0 or
#' from P1, given by their distribution functions. Where the likelihood ratio rises or falls with
#' the number, the best private mechanism cuts the line into intervals and applies randomized
#' response to the interval. The search needs no densities, and its bounds hold over all private
#' mechanisms, not only over those on a grid.
#'
#' @section Which pairs:
#' The likelihood ratio P0 / P1 must be monotone. It is for two normal distributions with one
#' standard deviation, two exponential, two Poisson, two binomial with one size, and every other
#' pair from a one-parameter exponential family. It is not for two normal distributions with
#' different standard deviations: use the square of the distance from the centre where the means are
#' equal, else [cut()] the numbers and use [mech_spr()].
#'
#' @inheritParams mech_spr
#' @param p0,p1 (functions of one argument) The distribution functions, vectorised: `p0(x)` is the
#'   probability of a number at most x under the first hypothesis. They are called during the search
#'   and not kept.
#' @param tolerance (number, at least 0) The relative gap of the bounds at which the search stops;
#'   1e-8 by default. Rounding in the distribution functions may stop it before; `$bounds` says what
#'   was reached.
#' @param support (two numbers) Between which all numbers lie; `c(-Inf, Inf)` by default. For
#'   positive distributions give `c(0, Inf)`.
#' @param whole (`TRUE` or `FALSE`) Whether all numbers are whole, as counts are: then each is a
#'   level of its own in the search, the ends of the intervals are whole, and other values are
#'   refused. Without it the bounds for such distributions stay apart.
#' @returns A mechanism of classes `confide_spr_continuous` and `confide_spr`, with the fields of
#'   [mech_spr()], the levels being the intervals, and `$cuts` (the ends between them; an interval
#'   contains its upper end). `$p0` and `$p1` are the probabilities of the intervals,
#'   `$nonprivate_value` is `NA`. `$call` has no functions, so `update()` needs `p0` and `p1` again.
#' @section Errors:
#' `confide_error_parameter` for functions that are not distribution functions or whose likelihood
#' ratio is not monotone. `confide_error_domain` from [privatize()] for values that are not finite
#' numbers in the support.
#' @references
#' Ghazi, E. (2026). Sort, Partition, Randomize: Optimal Binary Hypothesis Testing under Local
#' Differential Privacy. arXiv 2606.07443.
#'
#' Blackwell, D. (1953). Equivalent comparisons of experiments. *Annals of Mathematical Statistics*
#' 24, 265-272. \doi{10.1214/aoms/1177729032}
#' @family mechanisms
#' @examples
#' # A shift of a normal distribution by half a standard deviation
#' m <- mech_spr_continuous(function(x) pnorm(x, 0), function(x) pnorm(x, 0.5), epsilon = 2)
#' m
#' m$cuts
#' private_test(privatize(c(-0.3, 1.2, 0.8), m), m)
#'
#' # Waiting times, counts, successes in ten trials
#' positive <- c(0, Inf)
#' mech_spr_continuous(pexp, function(x) pexp(x, 2), epsilon = 2, support = positive)
#' mech_spr_continuous(
#'   function(x) ppois(x, 4), function(x) ppois(x, 6),
#'   epsilon = 2, support = positive, whole = TRUE
#' )
#' mech_spr_continuous(
#'   function(x) pbinom(x, 10, 0.6), function(x) pbinom(x, 10, 0.4),
#'   epsilon = 2, support = c(0, 10), whole = TRUE
#' )
#' @export
mech_spr_continuous <- function(p0, p1, epsilon, ..., objective = "kl", max_outputs = Inf,
                                tolerance = 1e-8, support = c(-Inf, Inf), whole = FALSE) {
  check_dots_empty(...)
  check_required(p0, "Give the distribution function of the first hypothesis.")
  check_required(p1, "Give the distribution function of the second hypothesis.")
  check_required(epsilon, "Common choices lie between 0.5 and 4; smaller protects more.")
  epsilon <- check_epsilon(epsilon)
  objective <- as_objective(objective)
  max_outputs <- check_max_outputs(max_outputs)
  tolerance <- check_tolerance(tolerance)
  support <- check_support(support)
  whole <- check_flag(whole)
  check_distribution_function(p0, support, "p0")
  check_distribution_function(p1, support, "p1")
  check_objective(objective, numeric(), numeric(), epsilon)
  search <- if (whole) solve_spr_whole else solve_spr_continuous
  solution <- search(p0, p1, support, epsilon, objective, max_outputs, tolerance)
  s <- solution$outputs
  solution$block <- if (solution$decreasing) rev(seq_len(s)) else seq_len(s)
  intervals <- list(
    p0 = interval_masses(p0, solution$cuts), p1 = interval_masses(p1, solution$cuts),
    value = NA_real_
  )
  labels <- interval_labels(solution$cuts, support)
  alphabet <- new_alphabet(labels, role = alphabet_role("The intervals", few = 1))
  kept <- kept_objective(objective)
  new_spr(c("spr_continuous", "spr"), alphabet, intervals, solution, epsilon, kept,
    call = rlang::call2("mech_spr_continuous",
      epsilon = epsilon, objective = called_objective(kept), max_outputs = max_outputs,
      tolerance = tolerance, support = support, whole = whole
    ),
    more = list(cuts = solution$cuts, support = support, whole = whole)
  )
}

check_support <- function(support, call = rlang::caller_env()) {
  legal <- is.numeric(support) && !is.object(support) && length(support) == 2 &&
    isTRUE(support[[1]] < support[[2]])
  if (!legal) {
    abort_parameter(c(
      "{.arg support} must be two numbers, the smaller first, such as {.code c(0, Inf)}.",
      x = "It is {describe(support)}."
    ), call = call)
  }
  as.vector(support)
}

check_distribution_function <- function(f, support, arg, call = rlang::caller_env()) {
  if (!is.function(f)) {
    abort_parameter(c(
      "{.arg {arg}} must be a distribution function, such as {.code function(x) pnorm(x, 1)}.",
      x = "It is {describe(f)}.",
      i = "Probabilities of levels are for {.fn mech_spr}."
    ), call = call)
  }
  x <- c(max(support[[1]], -1e3), min(support[[2]], 1e3), support[[2]])
  values <- tryCatch(f(x), error = function(error) conditionMessage(error))
  if (!is_distribution(values)) {
    abort_parameter(c(
      paste(
        "{.arg {arg}} must be a vectorised distribution function: rising from 0 to 1 over the",
        "{.arg support}."
      ),
      x = if (is.character(values)) {
        "{values}"
      } else {
        "At {enumerate(x)} it gives {enumerate(values)}."
      }
    ), call = call)
  }
}

# Three values of a distribution function, the last one at the upper end of the support.
is_distribution <- function(values) {
  is.numeric(values) && length(values) == 3 && all(is.finite(values)) &&
    !is.unsorted(c(0, values, 1)) && abs(values[[3]] - 1) < 1e-9
}

enumerate <- function(x) paste(format(x, digits = 6, trim = TRUE), collapse = ", ")

solve_spr_continuous <- function(p0, p1, support, epsilon, objective, max_outputs, tolerance,
                                 call = rlang::caller_env()) {
  search <- function() {
    spr_solve_continuous(
      p0, p1, support, epsilon, objective$name, objective$parameter, objective$f, max_outputs,
      tolerance
    )
  }
  if (!is.null(objective$f)) {
    return(try_objective(search(), call))
  }
  tryCatch(search(), "std::invalid_argument" = function(error) {
    abort_not_monotone(conditionMessage(error), call)
  })
}

abort_not_monotone <- function(reason, call) {
  abort_parameter(c(
    "{.arg p0} and {.arg p1} must be distribution functions with a monotone likelihood ratio.",
    x = "The search found: {reason}.",
    i = "Else {.fn cut} the numbers into levels and use {.fn mech_spr}."
  ), call = call)
}

# What a tail of whole numbers may hold to be one level; a distribution function's digits end soon
# after.
whole_tail <- 1e-11

# Whole numbers are levels, the far tails one level each. For the upper bound a tail is spread to
# the last ratio before it and to the extreme one, which no monotone ratio leaves (Blackwell 1953).
solve_spr_whole <- function(p0, p1, support, epsilon, objective, max_outputs, tolerance,
                            call = rlang::caller_env()) {
  x <- whole_range(function(x) (p0(x) + p1(x)) / 2, support, call)
  masses <- lapply(list(p0 = p0, p1 = p1), function(f) {
    p <- pmax(diff(c(0, f(x), 1)), 0)
    p / sum(p)
  })
  solution <- solve_spr(masses, epsilon, objective, max_outputs, 0, call)
  block <- fill_massless(solution$block, masses$p0 + masses$p1 > 0)
  steps <- diff(block)
  if (any(steps < 0) && any(steps > 0)) {
    abort_not_monotone("the likelihood ratio is not monotone", call)
  }
  spread <- spread_tail(spread_tail(masses, length(x) + 1), 1)
  bound <- solve_spr(spread, epsilon, objective, max_outputs, 0, call)$bounds[[2]]
  solution$bounds[[2]] <- max(solution$bounds[[2]], bound)
  solution$decreasing <- any(steps < 0)
  solution$cuts <- x[steps != 0]
  solution
}

# What neither hypothesis can give goes with its neighbour.
fill_massless <- function(block, has_mass) {
  last <- cummax(seq_along(block) * has_mass)
  block[pmax(last, match(TRUE, has_mass))]
}

# All but the tails, as the upper ends of the levels; the last level is what lies above.
whole_range <- function(f, support, call) {
  reach <- 2^(0:40)
  low <- ceiling(support[[1]])
  if (!is.finite(low)) {
    low <- -reach[[match(TRUE, f(-reach) <= whole_tail, nomatch = length(reach))]]
  }
  high <- floor(support[[2]]) - 1
  if (!is.finite(high)) {
    high <- reach[[match(TRUE, f(reach) >= 1 - whole_tail, nomatch = length(reach))]]
  }
  if (high - low > 1e7) {
    abort_parameter(c(
      "Whole numbers must lie within a range of ten million but for 1e-11.",
      x = "The range found is {enumerate(c(low, high))}."
    ), call = call)
  }
  x <- seq(low, max(high, low))
  mixture <- f(x)
  first <- max(1, sum(mixture <= whole_tail))
  last <- min(length(x), sum(mixture < 1 - whole_tail) + 1)
  x[first:max(first, last)]
}

# Level i of `masses`, where it is a tail, in two: the neighbour's ratio, and what is left at ratio
# 0 or Inf.
spread_tail <- function(masses, i) {
  if (masses$p0[[i]] + masses$p1[[i]] > 2 * whole_tail) {
    return(masses)
  }
  neighbour <- if (i == 1) 2 else i - 1
  p <- masses$p0[[i]]
  q <- masses$p1[[i]]
  ratio <- masses$p0[[neighbour]] / masses$p1[[neighbour]]
  known <- is.finite(ratio) && ratio > 0
  first <- if (known) c(min(p, ratio * q), min(q, p / ratio)) else c(p, 0)
  list(
    p0 = c(replace(masses$p0, i, first[[1]]), p - first[[1]]),
    p1 = c(replace(masses$p1, i, first[[2]]), q - first[[2]])
  )
}

interval_masses <- function(f, cuts) {
  pmax(diff(c(0, if (length(cuts) > 0) f(cuts), 1)), 0)
}

# Enough digits to tell the cuts apart, no more.
interval_labels <- function(cuts, support) {
  ends <- c(support[[1]], cuts, support[[2]])
  digits <- 4
  while (digits < 17 && anyDuplicated(signif(ends, digits)) > 0) {
    digits <- digits + 1
  }
  text <- vapply(ends, function(end) format(end, digits = digits), character(1))
  last <- length(text)
  open <- if (is.finite(support[[1]])) "[" else "("
  close <- if (is.finite(support[[2]])) "]" else ")"
  paste0(
    c(open, rep("(", last - 2)), text[-last], ", ", text[-1], c(rep("]", last - 2), close)
  )
}

#' @exportS3Method
resolve_update.confide_spr_continuous <- function(object, changes) {
  if (!all(c("p0", "p1") %in% names(changes))) {
    abort_parameter(c(
      "{.fn update} needs {.arg p0} and {.arg p1}: distribution functions are not kept.",
      i = "A function could carry data along in its environment."
    ))
  }
  NextMethod()
}

#' @exportS3Method
fingerprint_parts.confide_spr_continuous <- function(mechanism) {
  c(NextMethod(), mechanism[c("cuts", "support", "whole")])
}

#' @exportS3Method
encode.confide_spr_continuous <- function(x, mechanism, call, ...) {
  if (!is.numeric(x) || is.object(x) || length(dim(x)) > 1) {
    abort_domain(c(
      "{.arg x} must be a numeric vector.",
      x = "It is not.",
      i = "Take one column of a data frame with {.code [[}."
    ), call)
  }
  x <- as.vector(x)
  support <- mechanism$support
  legal <- is.finite(x) & x >= support[[1]] & x <= support[[2]]
  if (!all(legal) || (mechanism$whole && any(x != round(x)))) {
    abort_domain(c(
      "{.arg x} must hold only finite numbers in the declared support, whole if so declared.",
      x = "It does not.",
      i = "{.code mechanism$support} and {.code mechanism$whole} show what is legal."
    ), call)
  }
  findInterval(x, mechanism$cuts, left.open = TRUE) + 1L
}

#' @exportS3Method
format_title.confide_spr_continuous <- function(mechanism) {
  sprintf(
    "<sort, partition, randomize>  numbers, %s, epsilon = %s",
    plural(mechanism$n_outputs, "report"), format_epsilon(mechanism$epsilon)
  )
}
