#' The best mechanism for telling two hypotheses apart
#'
#' Each person's value comes from P0 or, everyone's alike, from P1; both are known. Of all
#' epsilon-private mechanisms this is one whose reports differ most under the two, by the divergence
#' that you name. It sorts the levels by likelihood ratio P0 / P1, cuts them into blocks of
#' neighbours, and applies randomized response to the block (Ghazi 2026). The cut is optimal, not
#' approximate, and comes with bounds that prove it.
#'
#' @section Search:
#' Up to 2,000 distinct likelihood ratios are searched exactly, in at most quadratic time; more are
#' binned, and the bins are refined around the cuts until the bounds meet. Chernoff's information is
#' bounded to a relative gap of 1e-12. For `max_outputs` below the number of reports that is best
#' without it, the cost is `max_outputs` times that of one quadratic search.
#'
#' @param p0,p1 (numbers) The probabilities of the levels under the two hypotheses, at least two,
#'   each summing to 1 (within 1e-8). Zeros are legal. Names are the levels; either both have the
#'   same names (in any order) or neither has any, and then the levels are `"1"` to `"k"` and may be
#'   given as integer codes.
#' @param epsilon (number, at least 0) The privacy parameter of each report, in natural logarithms;
#'   no default. With 0 the report is constant. Above 44 it is served as 44.
#' @param objective (string, objective or function) What to maximise: `"kl"` (default) for the error
#'   of the second kind at a fixed level, `"chernoff"` for both errors alike, others in
#'   [objectives]; or a convex function f with f(1) = 0, vectorised, for the divergence
#'   \eqn{\sum M_1 f(M_0 / M_1)}.
#' @param ... Unused; catches misspelt arguments.
#' @param max_outputs (whole number or `Inf`) The largest number of different reports.
#' @param tolerance (number, at least 0) The relative gap of the bounds at which the search may
#'   stop. 0 (default): the exact optimum.
#' @returns A mechanism of class `confide_spr`. Reports are a factor with levels `"1"` to `"s"`. A
#'   list with `$objective_value` (attained), `$bounds` (lower and upper bound of the optimum),
#'   `$n_outputs` (s), `$blocks` (list of the levels of each block, ascending likelihood ratio),
#'   `$output_p0` and `$output_p1` (the distributions of a report, M0 and M1), `$t` (the maximiser,
#'   for `"chernoff"` only), `$nonprivate_value` (the divergence of P0 and P1 themselves), `$p0`,
#'   `$p1`, `$epsilon`, `$privacy` (see [privacy()]), `$call`, `$fingerprint`.
#' @section What can be estimated:
#' The reports are for [private_test()]. [estimate()] works only where every level is a block of its
#' own; elsewhere the levels of a block cannot be told apart.
#' @section Errors:
#' `confide_error_parameter` for what are not two such distributions, and for an objective that is
#' not one of these or not convex.
#' @references
#' Ghazi, E. (2026). Sort, Partition, Randomize: Optimal Binary Hypothesis Testing under Local
#' Differential Privacy. arXiv 2606.07443.
#'
#' Kairouz, P., Oh, S. and Viswanath, P. (2016). Extremal mechanisms for local differential privacy.
#' *Journal of Machine Learning Research* 17(17), 1-51.
#' @family mechanisms
#' @seealso [private_test()], [plan_test()], [spr_comparison()]
#' @examples
#' p0 <- c(none = 0.05, few = 0.25, some = 0.30, many = 0.40)
#' p1 <- c(none = 0.30, few = 0.40, some = 0.20, many = 0.10)
#' m <- mech_spr(p0, p1, epsilon = 2)
#' m
#' reports <- privatize(c("none", "many", "some", "many"), m)
#' private_test(reports, m)
#' @export
mech_spr <- function(p0, p1, epsilon, objective = "kl", ..., max_outputs = Inf, tolerance = 0) {
  check_dots_empty(...)
  check_required(p0, "Give the probabilities of the levels under the first hypothesis.")
  check_required(p1, "Give the probabilities of the levels under the second hypothesis.")
  check_required(epsilon, "Common choices lie between 0.5 and 4; smaller protects more.")
  hypotheses <- check_hypotheses(p0, p1)
  epsilon <- check_epsilon(epsilon)
  objective <- as_objective(objective)
  max_outputs <- check_max_outputs(max_outputs)
  tolerance <- check_tolerance(tolerance)
  check_objective(objective, hypotheses$p0, hypotheses$p1, epsilon)
  solution <- solve_spr(hypotheses, epsilon, objective, max_outputs, tolerance)
  labels <- hypotheses$labels
  alphabet <- new_alphabet(labels %||% length(p0), role = alphabet_role("The names of {.arg p0}"))
  kept <- kept_objective(objective)
  new_spr("spr", alphabet, hypotheses, solution, epsilon, kept, call = rlang::call2("mech_spr",
    p0 = stats::setNames(hypotheses$p0, labels), p1 = stats::setNames(hypotheses$p1, labels),
    epsilon = epsilon, objective = called_objective(kept), max_outputs = max_outputs,
    tolerance = tolerance
  ))
}

# What both kinds of SPR mechanism have. `solution$block` is the block of each level.
new_spr <- function(class, alphabet, hypotheses, solution, epsilon, objective, call, more = NULL) {
  new_mechanism(class, c(list(
    alphabet = alphabet,
    outputs = new_alphabet(solution$outputs, role = alphabet_role("The reports", few = 1)),
    epsilon = epsilon,
    objective = objective,
    objective_value = solution$value,
    bounds = solution$bounds,
    nonprivate_value = hypotheses$value %||% nonprivate_value(hypotheses, objective),
    n_outputs = as.integer(solution$outputs),
    blocks = unname(split_blocks(alphabet, hypotheses, solution$block)),
    block = solution$block,
    output_p0 = solution$m0,
    output_p1 = solution$m1,
    t = if (objective$name == "chernoff") solution$t,
    p0 = hypotheses$p0,
    p1 = hypotheses$p1
  ), more), call = call)
}

# Levels in ascending likelihood ratio; those that neither hypothesis can give have none, and come
# last.
split_blocks <- function(alphabet, hypotheses, block) {
  order <- order(hypotheses$p0 / hypotheses$p1)
  groups <- structure(block[order], levels = as.character(seq_len(max(block))), class = "factor")
  split(alphabet_labels(alphabet)[order], groups)
}

check_hypotheses <- function(p0, p1, call = rlang::caller_env()) {
  first <- names(p0)
  second <- names(p1)
  p0 <- check_probabilities(p0, arg = "p0", call = call)
  p1 <- check_probabilities(p1, length(p0), arg = "p1", call = call)
  if (length(p0) < 2) {
    abort_too_few(alphabet_role("{.arg p0} and {.arg p1}"), call)
  }
  if (is.null(first) && is.null(second)) {
    return(list(p0 = as.vector(p0), p1 = as.vector(p1)))
  }
  if (!setequal(first, second)) {
    abort_parameter(c(
      "{.arg p0} and {.arg p1} must have the same names: the levels.",
      x = paste(
        "Expected {describe_level_names(first)}; found {describe_level_names(second)}."
      ),
      i = "Or give both without names: {.fn unname}."
    ), call = call)
  }
  labels <- check_labels(first, alphabet_role("The names of {.arg p0}"), call)
  list(p0 = as.vector(p0), p1 = as.vector(p1[match(first, second)]), labels = labels)
}

describe_level_names <- function(names) {
  if (is.null(names)) "no names" else enumerate_names(names)
}

check_max_outputs <- function(max_outputs, call = rlang::caller_env()) {
  if (is_plain_number(max_outputs) && identical(as.numeric(max_outputs), Inf)) {
    return(Inf)
  }
  check_whole_number(max_outputs, arg = "max_outputs", call = call)
}

check_tolerance <- function(tolerance, call = rlang::caller_env()) {
  check_number(
    tolerance, "at least 0 and below 1: a relative gap", function(x) x >= 0 && x < 1, call = call
  )
}

solve_spr <- function(hypotheses, epsilon, objective, max_outputs, tolerance = 0,
                      call = rlang::caller_env()) {
  search <- function() {
    spr_solve(
      hypotheses$p0, hypotheses$p1, epsilon, objective$name, objective$parameter, objective$f,
      max_outputs, tolerance
    )
  }
  if (is.null(objective$f)) search() else try_objective(search(), call)
}

divergence_between <- function(m0, m1, objective) {
  spr_divergence(m0, m1, objective$name, objective$parameter, objective$f)
}

# A user's function need not be finite at 0 and Inf, where single levels can lie without privacy.
nonprivate_value <- function(hypotheses, objective) {
  if (objective$name == "user" && is.null(objective$f)) {
    return(NA_real_)
  }
  if (is.null(objective$f)) {
    return(divergence_between(hypotheses$p0, hypotheses$p1, objective))
  }
  tryCatch(
    divergence_between(hypotheses$p0, hypotheses$p1, objective),
    error = function(error) NA_real_
  )
}

# In a call a named objective is its name.
called_objective <- function(objective) {
  if (objective$name %in% named_objectives) objective$name else objective$f %||% objective
}
