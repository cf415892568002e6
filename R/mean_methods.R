#' What can be asked of a private mean
#'
#' Intervals cover the noise and the sampling of people from an elliptical law; `type = "privacy"`
#' gives the noise alone. They are asymptotic. Measured coverage at 95 % (300 repetitions each, 2 to
#' 32 columns, 1,000 and 5,000 rows, rho .1 and 1, shape known, start one standard deviation off in
#' each column), normal data and the t law with 3 degrees of freedom: the ball .92 to .97, intervals
#' .94 to .96. Contamination shifts the estimate: `confidence_ball()` can allow for it. With
#' `sigma = "none"` intervals are right where the columns have one scale and no correlation, with
#' `"diag"` where they have no correlation.
#'
#' @param object,x (private mean) Made by [private_mean()].
#' @param parm (names or indices, or missing) Which columns; all by default.
#' @param level (number in (0, 1)) Confidence level.
#' @param type (string) `vcov()`: the covariance by the noise, by sampling, or both. `confint()`:
#'   `"total"`, or `"privacy"` for the noise alone.
#' @param contamination (number in [0, 0.5)) Share of bad records to allow for: a public belief. The
#'   radius is `Inf` where so many could pull without limit.
#' @param which (string) `"path"`: radii and centres along the steps; `"estimate"`: estimates with
#'   intervals. By default the path where there is one.
#' @param ... For `plot()`: passed to `autoplot()`. Otherwise unused.
#' @param row.names,optional Ignored; arguments of the generic.
#' @returns
#' * `coef()`: the estimate, named for the columns.
#' * `vcov()`, `confint()`: matrices. With `interval_share = 0` sampling is not known (`NA`) and
#'   `confint()` covers the noise alone.
#' * `nobs()`: the number of rows.
#' * `confidence_ball()`: a list of class `confide_ball` with `centre`, `radius` (whitened units:
#'   the set of m with sqrt((m - centre)' S^-1 (m - centre)) <= radius), `shape` (S), `bias` (the
#'   part of the radius that allows for contamination), `level`, `privacy` (that of the mean; the
#'   ball costs nothing more). It has `print()`, `privacy()` and `epsilon()`.
#' * `as.data.frame()`: one row for each column: `term`, `estimate`, `std_error`, `conf_low`,
#'   `conf_high`; `tidy()`: the same with the names of package broom (`std.error` and so on).
#' * `glance()`: one row: `method`, `nobs`, `columns`, `sigma`, `filter`, `noise_sd` and
#'   `sampling_sd` (standard deviations of the estimate by noise and by sampling in whitened units,
#'   the root mean square over the columns), `rho`, `epsilon` (one of them `NA`), `neighbours`,
#'   `rng`.
#' * `summary()`: the table, what was spent on what, and the full guarantee.
#' * `plot()`, `autoplot()`: from released numbers only; in the panel of the centres, their
#'   distance to the last one in whitened units.
#' @section Errors:
#' `confide_error_parameter` for columns that are not there and arguments outside their range.
#' @examples
#' set.seed(1)
#' fit <- private_mean(matrix(rnorm(6000), ncol = 3), rho = 1, sigma = "none")
#' tidy(fit)
#' confidence_ball(fit)$radius
#' plot(fit)
#' @name mean-methods
NULL

#' @rdname mean-methods
#' @export
coef.confide_mean <- function(object, ...) {
  check_dots_empty(...)
  object$estimate
}

#' @rdname mean-methods
#' @export
vcov.confide_mean <- function(object, ..., type = c("total", "privacy", "sampling")) {
  check_dots_empty(...)
  type <- check_choice(type, c("total", "privacy", "sampling"))
  parts <- switch(type,
    privacy = "noise",
    sampling = "sampling",
    total = c("noise", "sampling")
  )
  Reduce(`+`, lapply(parts, function(part) mean_covariance(object, part)))
}

#' @rdname mean-methods
#' @export
confint.confide_mean <- function(object, parm, level = 0.95, ..., type = c("total", "privacy")) {
  check_dots_empty(...)
  level <- check_level(level)
  type <- check_choice(type, c("total", "privacy"))
  half <- stats::qnorm((1 + level) / 2) * mean_std_error(object, type)
  chosen_limits(limits_around(object$estimate, half, level), parm)
}

# Where sampling is not known, that of the noise alone.
mean_std_error <- function(object, type = "total") {
  if (!knows_sampling(object)) type <- "privacy"
  sqrt(diag(vcov(object, type = type)))
}

knows_sampling <- function(object) !anyNA(object$spread$sampling)

#' @rdname mean-methods
#' @export
nobs.confide_mean <- function(object, ...) {
  check_dots_empty(...)
  object$n
}

#' @rdname mean-methods
#' @export
as.data.frame.confide_mean <- function(x,
                                       row.names = NULL, # nolint: object_name_linter. Generic's.
                                       optional = FALSE, ..., level = 0.95) {
  check_dots_empty(...)
  limits <- confint(x, level = level)
  data.frame(
    term = names(x$estimate) %||% paste("column", seq_along(x$estimate)),
    estimate = unname(x$estimate),
    std_error = unname(mean_std_error(x)),
    conf_low = unname(limits[, 1]),
    conf_high = unname(limits[, 2])
  )
}

#' @rdname mean-methods
#' @export
tidy.confide_mean <- function(x, ..., level = 0.95) {
  check_dots_empty(...)
  tidy_names(as.data.frame(x, level = level))
}

#' @rdname mean-methods
#' @export
glance.confide_mean <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    method = x$method,
    nobs = x$n,
    columns = x$dimension,
    sigma = x$shape$type,
    filter = x$filter$type,
    noise_sd = sqrt(mean(x$spread$noise)),
    sampling_sd = sqrt(mean(x$spread$sampling)),
    rho = x$privacy$rho %||% NA_real_,
    epsilon = x$privacy$epsilon %||% NA_real_,
    neighbours = x$privacy$neighbours,
    rng = x$privacy$rng
  )
}

#' @rdname mean-methods
#' @export
summary.confide_mean <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  structure(list(
    title = mean_title(object), table = as.data.frame(object, level = level), level = level,
    notes = mean_notes(object), steps = object$steps, privacy = object$privacy
  ), class = "summary.confide_mean")
}

#' @export
print.summary.confide_mean <- function(x, ...) {
  writeLines(x$title)
  print(format_rows(utils::head(x$table, 20)), row.names = FALSE)
  writeLines(c(
    format_rest(nrow(x$table), 20, "column"), sprintf("%g %% intervals", 100 * x$level), x$notes, ""
  ))
  print(x$steps, row.names = FALSE, digits = 4)
  writeLines(c("", format(x$privacy)))
  invisible(x)
}

#' @export
epsilon.confide_mean <- function(x, ...) {
  epsilon.confide_release(x, ...)
}

#' @export
format.confide_mean <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  c(
    mean_title(x),
    format_intervals(utils::head(as.data.frame(x), n)),
    format_rest(length(x$estimate), n, "column"),
    mean_notes(x),
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

mean_title <- function(x) paste0("<private mean>  ", format_guarantee(x$privacy))

#' @export
print.confide_mean <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
str.confide_mean <- function(object, ...) {
  cat(format(object)[[1]], "\n")
}

# What a reader should know.
mean_notes <- function(x) {
  c(
    sprintf(
      "%s, %s; sigma: %s; filter: %s", plural(x$n, "row"), plural(x$dimension, "column"),
      x$shape$type, format_filter(x$filter)
    ),
    centre_note(x),
    mean_verdict(x),
    if (x$privacy$neighbours == "zero_out") {
      "NOTE: an absent row counts as a row: many of them bias estimates and intervals"
    },
    if (x$few) {
      "TOO FEW ROWS FOR THIS BUDGET: the radius may be far too small"
    },
    if (x$missed > 0) {
      "NO RADIUS HELD ENOUGH RECORDS: try another centre or a larger r_max"
    },
    if (sum(x$shape$replaced) > 0) {
      sprintf(
        "%s at the end of the grid: the median scale was taken",
        plural(sum(x$shape$replaced), "scale was", "scales were")
      )
    },
    if (x$shape$type == "tyler") {
      "tyler breaks down under clustered outliers above a share of 1 / columns"
    }
  )
}

# The method, and what it is a mean of.
centre_note <- function(x) {
  name <- gsub("_", " ", x$method, fixed = TRUE)
  if (x$method == "clipped") {
    return(sprintf(
      "clipped: of rows within radius %s; nothing covers what clipping took",
      format_number(x$radii)
    ))
  }
  if (x$method %in% c("coinpress", "instance_optimal")) {
    return(paste0(name, ": not robust, outliers within its large radius pull it"))
  }
  paste0(name, ": robust, and the mean where the data are symmetric about it")
}

format_filter <- function(filter) {
  if (filter$type == "none") {
    return("none")
  }
  sprintf("spectral, %s changed", plural(filter$directions, "direction"))
}

mean_verdict <- function(x) {
  if (!knows_sampling(x)) {
    return("the intervals cover the noise alone")
  }
  if (any(is.infinite(x$spread$sampling))) {
    return("NO INTERVAL: too few records within the radius, or too small a budget")
  }
  wider <- sqrt(1 + mean(x$spread$noise) / mean(x$spread$sampling)) - 1
  judged <- if (wider < 0.1) {
    "small"
  } else if (wider < 0.5) {
    "moderate"
  } else {
    "LARGE"
  }
  sprintf(
    "intervals cover noise and sampling; noise widens them by %s %%: %s",
    format_number(ceiling(100 * wider), 3), judged
  )
}
