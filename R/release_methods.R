#' What can be asked of a release
#'
#' The uncertainty is that of the noise alone: an interval covers the exact sum of the clipped rows,
#' as rounded to the grid, or the exact count, in the data at hand. What clipping took away, what
#' rounding takes from millions of rows (see [private_sum()]), and what another sample of people
#' would give, is not in it.
#'
#' @param object,x (release) Made by [private_sum()] or [private_count()].
#' @param parm (names or indices, or missing) Which entries; all by default.
#' @param level (number in (0, 1)) Confidence level. The noise is discrete; an interval covers with
#'   at least this probability.
#' @param ... Unused; catches misspelt arguments.
#' @param row.names,optional Ignored; arguments of the generic.
#' @returns
#' * `coef()`: the released numbers, named for the columns.
#' * `vcov()`: the covariance matrix of the noise, diagonal; for at most 4,096 numbers.
#' * `confint()`: matrix with a column for each limit, from the exact law of the noise.
#' * `as.data.frame()`: one row for each number: `term`, `estimate`, `std_error`, `conf_low`,
#'   `conf_high`; `tidy()`: the same with the names of package broom (`std.error` and so on).
#' * `glance()`: one row: `kind`, `columns`, `noise_sd` (in the units of the data), `rho`, `epsilon`
#'   (one of them `NA`), `neighbours`, `rng`.
#' * `summary()`: the table and the full guarantee.
#' @section Errors:
#' `confide_error_parameter` for a covariance matrix of more than 4,096 numbers, entries that are
#' not there, and a level outside its range.
#' @examples
#' answers <- private_count(c(TRUE, FALSE, TRUE), epsilon = 1, neighbours = "replace")
#' confint(answers)
#' summary(answers)
#' @name release-methods
NULL

#' @rdname release-methods
#' @export
coef.confide_release <- function(object, ...) {
  check_dots_empty(...)
  object$estimate
}

#' @rdname release-methods
#' @export
vcov.confide_release <- function(object, ...) {
  check_dots_empty(...)
  variance <- rep(object$noise_sd^2, length(object$estimate))
  noise_covariance(variance, names(object$estimate), "noise_sd")
}

# Of independent numbers; `field` of the object has their standard deviations.
noise_covariance <- function(variance, labels, field, call = rlang::caller_env()) {
  size <- length(variance)
  if (size > max_matrix) {
    abort_parameter(c(
      "A covariance matrix is built for at most {format_count(max_matrix)} numbers.",
      x = "This release has {format_count(size)}.",
      i = "They are independent, each with standard deviation {.code ${field}}."
    ), call = call)
  }
  structure(diag(variance, size), dimnames = rep(list(labels), 2))
}

#' @rdname release-methods
#' @export
confint.confide_release <- function(object, parm, level = 0.95, ...) {
  check_dots_empty(...)
  level <- check_level(level)
  half <- noise_quantile(object, (1 + level) / 2)
  chosen_limits(limits_around(object$estimate, half, level), parm)
}

# A row for each number, with columns named by the tails.
limits_around <- function(estimate, half, level, labels = names(estimate)) {
  tails <- 100 * c((1 - level) / 2, (1 + level) / 2)
  limits <- cbind(estimate - half, estimate + half)
  dimnames(limits) <- list(labels, paste(format(tails, trim = TRUE, digits = 3), "%"))
  limits
}

# The smallest distance, a multiple of the grid, that the noise exceeds with probability at most
# 2 (1 - p). For wide Gaussian noise the normal quantile is the same to many digits.
noise_quantile <- function(object, p) {
  parameter <- object$scale$numerator / object$scale$denominator
  if (object$law == "laplace") {
    # P(|Y| > m) = 2 e^(-(m + 1) / b) / (1 + e^(-1 / b))
    tail <- (1 - p) * (1 + exp(-1 / parameter))
    return(object$grid * max(0, ceiling(-parameter * log(tail) - 1)))
  }
  if (parameter > 1e6) {
    return(object$grid * ceiling(stats::qnorm(p) * sqrt(parameter)))
  }
  steps <- seq(0, ceiling(40 * sqrt(parameter)) + 1)
  weight <- exp(-steps^2 / (2 * parameter)) * ifelse(steps == 0, 1, 2)
  object$grid * steps[which(cumsum(weight) / sum(weight) >= 2 * p - 1)[[1]]]
}

#' @rdname release-methods
#' @export
as.data.frame.confide_release <- function(x,
                                          row.names = NULL, # nolint: object_name_linter. Generic's.
                                          optional = FALSE, ..., level = 0.95) {
  check_dots_empty(...)
  limits <- confint(x, level = level)
  data.frame(
    term = names(x$estimate) %||% rep(x$kind, length(x$estimate)),
    estimate = unname(x$estimate),
    std_error = x$noise_sd,
    conf_low = unname(limits[, 1]),
    conf_high = unname(limits[, 2])
  )
}

#' @rdname release-methods
#' @export
tidy.confide_release <- function(x, ..., level = 0.95) {
  check_dots_empty(...)
  tidy_names(as.data.frame(x, level = level))
}

#' @rdname release-methods
#' @export
glance.confide_release <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    kind = x$kind,
    columns = length(x$estimate),
    noise_sd = x$noise_sd,
    rho = x$privacy$rho %||% NA_real_,
    epsilon = x$privacy$epsilon %||% NA_real_,
    neighbours = x$privacy$neighbours,
    rng = x$privacy$rng
  )
}

#' @rdname release-methods
#' @export
summary.confide_release <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  structure(list(
    title = release_title(object), table = as.data.frame(object, level = level), level = level,
    notes = release_notes(object), privacy = object$privacy
  ), class = "summary.confide_release")
}

#' @export
print.summary.confide_release <- function(x, ...) {
  writeLines(x$title)
  print(format_rows(utils::head(x$table, 20)), row.names = FALSE)
  writeLines(c(
    format_rest(nrow(x$table), 20, "number"),
    sprintf("%g %% intervals, of the noise alone", 100 * x$level),
    x$notes,
    "",
    format(x$privacy)
  ))
  invisible(x)
}

#' @export
format.confide_release <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  c(
    release_title(x),
    format_intervals(utils::head(as.data.frame(x), n)),
    format_rest(length(x$estimate), n, "number"),
    release_notes(x),
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

release_title <- function(x) sprintf("<private %s>  %s", x$kind, format_guarantee(x$privacy))

release_notes <- function(x) {
  c(
    sprintf(
      "noise: discrete %s, standard deviation %s",
      if (x$law == "gaussian") "Gaussian" else "Laplace", format_number(x$noise_sd)
    ),
    if (identical(x$kind, "sum")) {
      sprintf(
        "of rows clipped to norm %s; the intervals do not cover what clipping took",
        format_number(x$bound)
      )
    },
    if (identical(x$na, "impute")) "missing and infinite values count as 0"
  )
}

# Numbers of a table of results, each row as exact as its standard error.
format_rows <- function(rows) {
  numbers <- c("estimate", "conf_low", "conf_high")
  shown <- vapply(seq_len(nrow(rows)), function(i) {
    format_to_error(unlist(rows[i, numbers]), rows$std_error[[i]])
  }, character(3))
  rows[numbers] <- as.data.frame(t(shown))
  rows$std_error <- format_number(rows$std_error, 2)
  rows$term <- shorten(encodeString(rows$term), 20L)
  printed_headings(rows)
}

# The same as lines of a print: the estimate with its interval.
format_intervals <- function(rows, form = "%s  %s  (95 %%: %s to %s)") {
  shown <- lapply(format_rows(rows), format, justify = "right")
  sprintf(form, format(trimws(shown$term)), shown$estimate, shown$low, shown$high)
}

#' @export
print.confide_release <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
str.confide_release <- function(object, ...) {
  cat(format(object)[[1]], "\n")
}
