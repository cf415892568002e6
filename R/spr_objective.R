#' Objectives of a mechanism for two hypotheses
#'
#' Values for the argument `objective` of [mech_spr()]: how far apart the reports under P0 and under
#' P1 shall be. Write M0 and M1 for the two distributions of a report.
#'
#' @section Objectives by name:
#' `"kl"`: sum M0 log(M0 / M1). `"reverse_kl"`: sum M1 log(M1 / M0). `"tv"`: sum |M0 - M1| / 2.
#' `"chi2"`: sum (M0 - M1)^2 / M1. `"hellinger2"`: sum (sqrt M0 - sqrt M1)^2, between 0 and 2.
#' `"js"`: the mean of the two divergences "kl" of M0 and of M1 from their even mixture.
#' `"chernoff"`: Chernoff's information, the largest -log sum M0^t M1^(1 - t) over t. Logarithms are
#' natural.
#'
#' @param gamma (number, at least 0) `hockey_stick()`: sum max(M0 - gamma M1, 0) - max(1 - gamma,
#'   0). 1 is total variation. 0 where gamma is at least \eqn{e^\epsilon} or at most
#'   \eqn{e^{-\epsilon}}.
#' @param alpha (number above 0, or `Inf`) `renyi()`: log(sum M0^alpha M1^(1 - alpha)) / (alpha -
#'   1). 1 is "kl", `Inf` the largest log(M0 / M1).
#' @param r (number, at least 1, or `Inf`) `lr_distance()`: (sum |M0 - M1|^r)^(1 / r).
#' @returns An objective of class `confide_objective`: a list with `name` and `parameter`.
#' @section Errors:
#' `confide_error_parameter` for a number outside its range.
#' @references
#' Ghazi, E. (2026). Sort, Partition, Randomize: Optimal Binary Hypothesis Testing under Local
#' Differential Privacy. arXiv 2606.07443.
#' @seealso [mech_spr()]
#' @examples
#' p0 <- c(a = 0.5, b = 0.3, c = 0.2)
#' p1 <- c(a = 0.2, b = 0.3, c = 0.5)
#' mech_spr(p0, p1, epsilon = 2, objective = renyi(2))
#' mech_spr(p0, p1, epsilon = 2, objective = function(x) (x - 1)^2 / (x + 1))
#' @name objectives
NULL

#' @rdname objectives
#' @export
hockey_stick <- function(gamma) {
  check_required(gamma, "1 is total variation.")
  new_objective("hockey_stick", gamma, "gamma", is_finite_number(gamma) && gamma >= 0, "at least 0")
}

#' @rdname objectives
#' @export
renyi <- function(alpha) {
  check_required(alpha, "1 is the Kullback-Leibler divergence.")
  new_objective("renyi", alpha, "alpha", is_plain_number(alpha) && isTRUE(alpha > 0), "above 0")
}

#' @rdname objectives
#' @export
lr_distance <- function(r) {
  check_required(r, "2 is the Euclidean distance.")
  new_objective("lr_distance", r, "r", is_plain_number(r) && isTRUE(r >= 1), "at least 1")
}

new_objective <- function(name, parameter, arg, legal, range, call = rlang::caller_env()) {
  if (!legal) {
    abort_parameter(c(
      "{.arg {arg}} must be one number {range}.",
      x = "It is {describe(parameter)}."
    ), call = call)
  }
  structure(list(name = name, parameter = as.numeric(parameter)), class = "confide_objective")
}

#' @export
format.confide_objective <- function(x, ...) {
  parameter <- format(x$parameter, digits = 7)
  switch(x$name,
    kl = "Kullback-Leibler divergence",
    reverse_kl = "reverse Kullback-Leibler divergence",
    tv = "total variation",
    chi2 = "chi-squared divergence",
    hellinger2 = "squared Hellinger distance",
    js = "Jensen-Shannon divergence",
    chernoff = "Chernoff information",
    hockey_stick = sprintf("hockey-stick divergence, gamma = %s", parameter),
    renyi = sprintf("Renyi divergence, order %s", parameter),
    lr_distance = sprintf("l_r distance, r = %s", parameter),
    user = "divergence of a user's function"
  )
}

#' @export
print.confide_objective <- function(x, ...) {
  writeLines(sprintf("<objective>  %s", format(x)))
  invisible(x)
}

named_objectives <- c("kl", "reverse_kl", "tv", "chi2", "hellinger2", "js", "chernoff")

as_objective <- function(objective, call = rlang::caller_env()) {
  if (inherits(objective, "confide_objective")) {
    return(objective)
  }
  if (is.function(objective)) {
    return(structure(
      list(name = "user", parameter = NA_real_, f = objective),
      class = "confide_objective"
    ))
  }
  name <- check_objective_name(objective, call)
  structure(list(name = name, parameter = NA_real_), class = "confide_objective")
}

check_objective_name <- function(objective, call) {
  named <- is.character(objective) && length(objective) == 1 && objective %in% named_objectives
  if (!named) {
    abort_parameter(c(
      paste(
        "{.arg objective} must be one of {.or {.val {named_objectives}}},",
        "one of {.fn hockey_stick}, {.fn renyi} and {.fn lr_distance}, or a convex function."
      ),
      x = "It is {describe(objective)}."
    ), call = call)
  }
  unname(objective)
}

# A user's function is tried on ratios across the range that epsilon allows, and on those of all
# single levels and of all sets that come first or last in likelihood-ratio order.
check_objective <- function(objective, p0, p1, epsilon, call = rlang::caller_env()) {
  if (is.null(objective$f)) {
    return(invisible())
  }
  epsilon <- min(epsilon, 44)
  ratios <- c(
    exp(seq(-epsilon, epsilon, length.out = 257)),
    occurring_ratios(p0, p1, expm1(epsilon))
  )
  try_objective(spr_check_convex(objective$f, ratios), call)
}

occurring_ratios <- function(p0, p1, c) {
  order <- order(p0 / p1)
  bottom0 <- cumsum(p0[order])
  bottom1 <- cumsum(p1[order])
  unique(pmax(c(
    (1 + c * p0) / (1 + c * p1),
    (1 + c * bottom0) / (1 + c * bottom1),
    (1 + c * (1 - bottom0)) / (1 + c * (1 - bottom1))
  ), exp(-44)))
}

# Whatever a user's function does wrong becomes our error; interrupts and our own errors pass.
try_objective <- function(code, call = rlang::caller_env()) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "confide_error")) {
      rlang::cnd_signal(error)
    }
    abort_parameter(c(
      paste(
        "A function as {.arg objective} must be vectorised, finite above 0, convex,",
        "and 0 at 1."
      ),
      x = "{conditionMessage(error)}",
      i = "For example {.code function(x) (x - 1)^2}; x is the ratio P0 / P1 of a report."
    ), call = call)
  })
}

# The function for what is written down with a mechanism. An environment could hold private data, so
# a closure is kept only where it works without its own.
kept_objective <- function(objective) {
  if (is.null(objective$f)) {
    return(objective)
  }
  f <- utils::removeSource(objective$f)
  if (!is.primitive(f)) {
    environment(f) <- globalenv()
  }
  ratios <- c(0.3, 0.9, 1, 1.7, 4)
  same <- tryCatch(identical(f(ratios), objective$f(ratios)), error = function(error) FALSE)
  objective$f <- if (same) f
  objective
}
