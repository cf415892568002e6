#' What can be asked of a regression
#'
#' Methods for fits of [private_lm()] and [private_glm()].
#'
#' @param object,x (fit) Made by [private_lm()] or [private_glm()].
#' @param parm (names or indices, or missing) Which coefficients; all by default.
#' @param level (number in (0, 1)) Confidence level.
#' @param newdata (data frame) *True* levels of the attributes and values of the exact variables of
#'   people to predict for. There is no default: fits hold no data.
#' @param interval (string) `"confidence"` adds limits for the expected response.
#' @param type (string) `"link"`: log odds; `"response"`: probabilities.
#' @param n (whole number) How many coefficients to print.
#' @param ... Unused; catches misspelt arguments. For `print(summary())`: passed to
#'   [stats::printCoefmat()].
#' @returns
#' * `coef()`, `vcov()`, `confint()`: as for [stats::lm()]; intervals are normal.
#' * `summary()`: `$coefficients` with estimates, standard errors, z values and p-values.
#' * `predict()`: a number for each row of `newdata`, or with `interval = "confidence"` a matrix
#'   with columns `fit`, `lwr`, `upr`.
#' * `nobs()`: number of records. `formula()`: the formula, in the global environment.
#' * `sigma()` (linear): the residual standard deviation of the true values, `NA` where the
#'   estimated variance is not above 0. `df.residual()`: `NA`.
#' * `logLik()` (logistic): see [private_glm()].
#' * `tidy()`, `glance()`: as in package broom.
#' @section Errors:
#' `confide_error_parameter` for coefficients that are not there, arguments outside their range, and
#' `newdata` that is missing, lacks a variable, or holds values that are no levels.
#' @examples
#' m <- mech_lambda(adult["sex"], lambda = 0.7)
#' survey <- cbind(as_plain(privatize(adult["sex"], m)), adult[c("age", "hours_per_week")])
#' fit <- private_lm(hours_per_week ~ sex + age, survey, m)
#' confint(fit)
#' predict(fit, data.frame(sex = c("Female", "Male"), age = 40), interval = "confidence")
#' tidy(fit)
#' @importFrom stats df.residual formula sigma
#' @name regression-methods
NULL

#' @rdname regression-methods
#' @export
coef.confide_regression <- function(object, ...) {
  check_dots_empty(...)
  object$coefficients
}

#' @rdname regression-methods
#' @export
vcov.confide_regression <- function(object, ...) {
  check_dots_empty(...)
  object$variance
}

#' @rdname regression-methods
#' @export
confint.confide_regression <- function(object, parm, level = 0.95, ...) {
  check_dots_empty(...)
  limits <- normal_limits(object$coefficients, object$variance, check_level(level))
  chosen_limits(limits, parm)
}

#' @rdname regression-methods
#' @export
nobs.confide_regression <- function(object, ...) {
  object$n
}

#' @rdname regression-methods
#' @export
formula.confide_regression <- function(x, ...) {
  stats::formula(x$plan$terms)
}

#' @rdname regression-methods
#' @export
df.residual.confide_regression <- function(object, ...) {
  check_dots_empty(...)
  NA_real_
}

#' @rdname regression-methods
#' @export
sigma.confide_lm <- function(object, ...) {
  check_dots_empty(...)
  object$sigma
}

#' @rdname regression-methods
#' @export
logLik.confide_glm <- function(object, ...) {
  check_dots_empty(...)
  structure(object$log_likelihood,
    df = object$parameters, nobs = object$n, class = "logLik"
  )
}

# Prediction -----------------------------------------------------------------------

#' @rdname regression-methods
#' @export
predict.confide_lm <- function(object, newdata, ..., interval = c("none", "confidence"),
                               level = 0.95) {
  check_dots_empty(...)
  check_required(newdata, "Fits hold no data; give the people to predict for.")
  interval <- check_choice(interval, c("none", "confidence"))
  predict_linear(object, newdata, interval, check_level(level))
}

#' @rdname regression-methods
#' @export
predict.confide_glm <- function(object, newdata, ..., type = c("link", "response"),
                                interval = c("none", "confidence"), level = 0.95) {
  check_dots_empty(...)
  check_required(newdata, "Fits hold no data; give the people to predict for.")
  type <- check_choice(type, c("link", "response"))
  interval <- check_choice(interval, c("none", "confidence"))
  values <- predict_linear(object, newdata, interval, check_level(level))
  if (type == "link") values else stats::plogis(values)
}

predict_linear <- function(object, newdata, interval, level) {
  columns <- new_columns(object$plan, newdata, rlang::caller_env())
  fit <- as.vector(columns %*% object$coefficients)
  names(fit) <- seq_along(fit)
  if (interval == "none") {
    return(fit)
  }
  half <- stats::qnorm((1 + level) / 2) * sqrt(rowSums((columns %*% object$variance) * columns))
  cbind(fit = fit, lwr = fit - half, upr = fit + half)
}

# The design at true levels.
new_columns <- function(plan, newdata, call) {
  needed <- right_attributes(plan)
  if (!is.data.frame(newdata) || !all(needed %in% names(newdata))) {
    abort_parameter(c(
      "{.arg newdata} must be a data frame with a column for each predictor.",
      x = if (is.data.frame(newdata)) {
        "Missing: {enumerate_names(setdiff(needed, names(newdata)))}."
      } else {
        "It is {describe(newdata)}."
      }
    ), call = call)
  }
  newdata <- as.data.frame(newdata)
  exact <- new_exact(plan, newdata, call)
  design <- build_design(plan, exact, nrow(newdata))
  columns <- design$exact
  for (name in needed) {
    codes <- new_codes(name, newdata[[name]], plan$alphabets[[name]], call)
    columns <- columns * design$parts[[name]][codes, , drop = FALSE]
  }
  columns
}

new_codes <- function(name, values, alphabet, call) {
  tryCatch(
    alphabet_codes(values, alphabet, call),
    confide_error_domain = function(error) {
      abort_parameter(
        "The column {.field {name}} of {.arg newdata} must hold levels of it.",
        call = call
      )
    }
  )
}

new_exact <- function(plan, newdata, call) {
  if (is.null(plan$exact_terms)) {
    return(list())
  }
  frame <- evaluate_exact(
    stats::model.frame(plan$exact_terms, newdata, na.action = stats::na.pass), call
  )
  check_exact(frame, newdata, call)
  exact <- stats::setNames(
    as.list(frame), setdiff(names(plan$codings), plan$attributes)
  )
  for (name in names(exact)) {
    levels <- plan$codings[[name]]$levels
    if (!is.null(levels) && !all(as.character(exact[[name]]) %in% levels)) {
      abort_parameter(c(
        "The column {.field {name}} of {.arg newdata} must hold levels that the fit knows.",
        i = "They are {enumerate_names(levels, 8L)}."
      ), call = call)
    }
  }
  exact
}

# Showing --------------------------------------------------------------------------

coefficient_table <- function(object) {
  error <- sqrt(diag(object$variance))
  z <- object$coefficients / error
  cbind(
    Estimate = object$coefficients, `Std. Error` = error, `z value` = z,
    `Pr(>|z|)` = 2 * stats::pnorm(-abs(z))
  )
}

regression_kind <- function(x) {
  if (inherits(x, "confide_lm")) "private linear regression" else "private logistic regression"
}

regression_title <- function(x) {
  c(
    sprintf(
      "<%s>  %s, %s%s", regression_kind(x), plural(x$n, "record"),
      plural(length(x$coefficients), "coefficient"), if (x$weighted) ", weighted" else ""
    ),
    inline_title(x$title)
  )
}

# What a reader must know to trust the numbers.
regression_notes <- function(x) {
  random <- x$plan$attributes[!is_known(x$plan)]
  exact <- setdiff(x$plan$variables, random)
  c(
    shorten(sprintf(
      "randomized: %s; exact, not protected: %s", list_or_none(random), list_or_none(exact)
    ), 78L),
    if (isFALSE(x$converged)) "NOT CONVERGED: raise control$max_rounds, or take a smaller model",
    if (isTRUE(x$extreme)) "some fitted probabilities are 0 or 1: coefficients may be infinite",
    if (length(x$loose) > 0) {
      c(
        shorten(paste("not determined by these reports:", paste(x$loose, collapse = ", ")), 78L),
        "(separated or nearly empty combinations: merge levels, or take fewer terms)"
      )
    },
    if (isTRUE(x$smallest < 3 * x$smallest_error)) {
      "predictors nearly lost in noise: normal intervals are doubtful; use fewer of them"
    },
    if (inherits(x, "confide_lm") && is.na(x$sigma)) "estimated residual variance is not above 0",
    covers_both,
    format_rng(x$privacy$rng)
  )
}

list_or_none <- function(names) {
  if (length(names) > 0) paste(names, collapse = ", ") else "none"
}

#' @export
format.confide_regression <- function(x, ...) {
  c(regression_title(x), regression_notes(x))
}

#' @rdname regression-methods
#' @export
print.confide_regression <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  writeLines(regression_title(x))
  table <- coefficient_table(x)
  shown <- format_coefficients(table[, 1:2, drop = FALSE])
  colnames(shown) <- c("estimate", "std.error")
  rownames(shown) <- shorten(rownames(table), 40L)
  print(utils::head(shown, n), quote = FALSE, right = TRUE)
  writeLines(c(format_rest(nrow(shown), n, "coefficient"), regression_notes(x)))
  invisible(x)
}

# In columns while one number of decimals does for all; one coefficient that is not determined must
# not push the others into exponents.
format_coefficients <- function(table) {
  sizes <- abs(table[is.finite(table) & table != 0])
  if (length(sizes) > 0 && max(sizes) / min(sizes) > 1e5) {
    table[] <- formatC(table, digits = 3, format = "g")
    return(table)
  }
  format(table, digits = 3)
}

#' @rdname regression-methods
#' @export
summary.confide_regression <- function(object, ...) {
  check_dots_empty(...)
  structure(list(
    coefficients = coefficient_table(object), title = regression_title(object),
    notes = regression_notes(object), measures = regression_measures(object)
  ), class = "summary.confide_regression")
}

regression_measures <- function(x) {
  if (inherits(x, "confide_lm")) {
    return(sprintf(
      "residual standard deviation %s, R-squared %s (of the true values)",
      format_number(x$sigma), format_number(x$r_squared, 3)
    ))
  }
  sprintf(
    "log-likelihood of the reports %s, %s evaluations", format_number(x$log_likelihood, 7),
    format_count(x$evaluations)
  )
}

#' @export
print.summary.confide_regression <- function(x, ...) {
  writeLines(x$title)
  stats::printCoefmat(x$coefficients, ...)
  writeLines(c(x$measures, x$notes))
  invisible(x)
}

#' @rdname regression-methods
#' @export
tidy.confide_regression <- function(x, ..., level = 0.95) {
  check_dots_empty(...)
  table <- unname(coefficient_table(x))
  limits <- unname(confint(x, level = level))
  data.frame(
    term = names(x$coefficients), estimate = table[, 1], std.error = table[, 2],
    statistic = table[, 3], p.value = table[, 4], conf.low = limits[, 1], conf.high = limits[, 2]
  )
}

#' @rdname regression-methods
#' @export
glance.confide_lm <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    r.squared = x$r_squared, sigma = x$sigma, df.residual = NA_real_, nobs = x$n,
    smallest.eigenvalue = x$smallest, epsilon = epsilon(x)
  )
}

#' @rdname regression-methods
#' @export
glance.confide_glm <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    logLik = x$log_likelihood, df = x$parameters, df.residual = NA_real_, nobs = x$n,
    converged = x$converged, epsilon = epsilon(x)
  )
}
