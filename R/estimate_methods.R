#' What can be asked of an estimate
#'
#' @param object,x (estimate) Made by [estimate()] or [estimate_cells()].
#' @param parm (names or indices, or missing) Which shares; all by default.
#' @param level (number in (0, 1)) Confidence level.
#' @param method (string) `"wald"`: estimate plus or minus a normal quantile times the standard
#'   error. `"exact"` and `"wilson"`: Clopper-Pearson or Wilson intervals of the reported share,
#'   carried over to the true share; one attribute or a block design, no weights (of
#'   a design cut to size they belong to the canonical estimate). These are intervals of the moment
#'   estimate for every estimation method. `"bootstrap"`: see the section on it. All are cut to
#'   `[0, 1]` unless `cut = FALSE`.
#' @param cut (logical) Whether intervals are cut to `[0, 1]`.
#' @param replicates (whole number, at least 100) Bootstrap samples, drawn with R's generator
#'   (`set.seed()` works); each costs one estimate.
#' @param type (string) Which uncertainty: `"total"`, or the part that comes from `"privacy"` (the
#'   randomization), or from `"sampling"` (people drawn from a population). The two parts add up to
#'   the total.
#' @param data Ignored; `augment()` describes the cells of the table.
#' @param ... Unused; catches misspelt arguments.
#' @param row.names,optional Ignored; arguments of the generic.
#' @returns
#' * `coef()`: named numeric vector of shares, first attribute fastest.
#' * `vcov()`: covariance matrix, for at most 2,000 cells; `$std_error` and `as.data.frame()` know
#'   no limit.
#' * `confint()`: matrix with a column for each limit.
#' * `as.table()`: the estimate as a table with the attributes as dimensions.
#' * `as.data.frame()`: one row for each cell: the levels, `estimate`, `std_error`, `conf_low`,
#'   `conf_high`.
#' * `summary()`: the same with the standard error split into privacy and sampling.
#' * `logLik()`: for `method = "ml"`, the sum of N log psi (without the multinomial constant), `df`
#'   the number of free shares.
#' * `tidy()`, `glance()`: as in package broom. `augment()`: for each cell what was reported and
#'   what the fit expects.
#' @section Bootstrap intervals:
#' For estimates with `method = "ml"` (or `"simplex"`, `"clip"`), which are distributions and may
#' lie on the boundary, where standard errors say little. Tables of reports are drawn from what the
#' estimate expects, and estimated again by the same method; the limits are quantiles of these
#' estimates (parametric bootstrap, percentile). They cover sampling and randomization, are never
#' outside `[0, 1]`, belong to `coef()`, and on the boundary hold the truth more often than the
#' level says. Two or more of them do not hold jointly.
#' @section Errors:
#' `confide_error_parameter` for a covariance matrix of more than 2,000 cells, intervals that do not
#' exist for the estimate (`"exact"` and `"wilson"` with weights or several attributes,
#' `"bootstrap"` for a moment estimate, `logLik()` without `method = "ml"`), and for arguments
#' outside their range.
#' @references
#' Efron, B. and Tibshirani, R. J. (1993). *An Introduction to the Bootstrap*. Chapman and Hall.
#' Chapters 6 and 13.
#'
#' Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
#' *Journal of the American Statistical Association* 22, 209-212.
#' \doi{10.1080/01621459.1927.10502953}
#' @examples
#' answers <- adult[c("sex", "income")]
#' m <- mech_lambda(answers, epsilon = 2)
#' reports <- privatize(answers, m)
#' e <- estimate(reports, m)
#' confint(e)
#' summary(e)
#' as.table(e)
#' tidy(e)
#' proper <- estimate(reports, m, method = "ml")
#' confint(proper, method = "bootstrap", replicates = 100)
#' @name estimate-methods
NULL

#' @rdname estimate-methods
#' @export
coef.confide_estimate <- function(object, ...) {
  check_dots_empty(...)
  stats::setNames(object$estimate, cell_labels(object$dimnames))
}

max_vcov <- 2000L

#' @rdname estimate-methods
#' @export
vcov.confide_estimate <- function(object, ..., type = c("total", "privacy", "sampling")) {
  check_dots_empty(...)
  type <- check_choice(type, c("total", "privacy", "sampling"))
  size <- length(object$estimate)
  if (size > max_vcov) {
    abort_parameter(c(
      "A covariance matrix is built for at most {format_count(max_vcov)} cells.",
      x = "This estimate has {format_count(size)}.",
      i = "{.code $std_error} and {.fn as.data.frame} have the standard errors."
    ))
  }
  labels <- cell_labels(object$dimnames)
  covariance <- switch(type,
    total = covariance_total(object),
    sampling = covariance_sampling(object),
    privacy = covariance_total(object) - covariance_sampling(object)
  )
  structure((covariance + t(covariance)) / 2, dimnames = list(labels, labels))
}

#' @rdname estimate-methods
#' @export
std_error <- function(x, type = c("total", "privacy", "sampling")) {
  check_required(x, "Give an estimate.")
  if (!inherits(x, "confide_estimate")) {
    abort_parameter(c("{.arg x} must be an estimate.", x = "It is {describe(x)}."))
  }
  type <- check_choice(type, c("total", "privacy", "sampling"))
  switch(type,
    total = x$std_error,
    # An estimated share outside [0, 1] makes its own estimated sampling variance negative.
    sampling = sqrt(pmax(sampling_variance(x), 0)),
    privacy = sqrt(pmax(x$std_error^2 - sampling_variance(x), 0))
  )
}

#' @rdname estimate-methods
#' @export
confint.confide_estimate <- function(object, parm, level = 0.95, ...,
                                     method = c("wald", "exact", "wilson", "bootstrap"),
                                     cut = TRUE, replicates = 999) {
  check_dots_empty(...)
  level <- check_level(level)
  method <- check_choice(method, c("wald", "exact", "wilson", "bootstrap"))
  limits <- switch(method,
    wald = wald_limits(object, level),
    bootstrap = bootstrap_limits(object, level, check_whole_number(replicates, min = 100)),
    transformed_limits(object, level, method)
  )
  if (check_flag(cut)) {
    limits <- pmin(pmax(limits, 0), 1)
  }
  percent <- format(100 * c(1 - level, 1 + level) / 2, trim = TRUE)
  dimnames(limits) <- list(cell_labels(object$dimnames), paste(percent, "%"))
  chosen_limits(limits, parm)
}

wald_limits <- function(object, level) {
  half <- stats::qnorm((1 + level) / 2) * object$std_error
  cbind(object$moment - half, object$moment + half)
}

# One attribute: the true share is an increasing line of the reported one.
transformed_limits <- function(object, level, method, call = rlang::caller_env()) {
  decoder <- object$decoder
  population <- object$target == "population"
  one_attribute <- decoder$type == "block" ||
    (decoder$type == "product" && length(decoder$lambda) == 1)
  if (!one_attribute || !is.null(object$reported$square) || !population) {
    abort_parameter(c(
      "{.val {method}} intervals exist for one attribute and no weights.",
      x = if (!population) "This estimate is of the file's own table, which they do not cover.",
      i = "Use {.code method = \"wald\"}."
    ), call = call)
  }
  if (decoder$type == "block") {
    shares <- share_limits(decoder$inside, sum(object$reported$total), level, method)
    return((shares - decoder$law$q) / decoder$law$d)
  }
  counts <- object$reported$total
  shares <- share_limits(counts, sum(counts), level, method)
  lambda <- decoder$lambda
  (shares - (1 - lambda) * decoder$noise[[1]]) / lambda
}

share_limits <- function(counts, n, level, method) {
  if (method == "exact") exact_limits(counts, n, level) else wilson_limits(counts, n, level)
}

# Clopper and Pearson (1934).
exact_limits <- function(counts, n, level) {
  tail <- (1 - level) / 2
  cbind(
    ifelse(counts == 0, 0, stats::qbeta(tail, counts, n - counts + 1)),
    ifelse(counts == n, 1, stats::qbeta(1 - tail, counts + 1, n - counts))
  )
}

# Wilson (1927).
wilson_limits <- function(counts, n, level) {
  z <- stats::qnorm((1 + level) / 2)
  share <- counts / n
  centre <- (share + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- z / (1 + z^2 / n) * sqrt(share * (1 - share) / n + z^2 / (4 * n^2))
  cbind(centre - half, centre + half)
}

#' @rdname estimate-methods
#' @export
nobs.confide_estimate <- function(object, ...) {
  object$n
}

#' @rdname estimate-methods
#' @export
logLik.confide_estimate <- function(object, ...) {
  check_dots_empty(...)
  if (is.null(object$log_likelihood)) {
    abort_parameter(c(
      "{.fn logLik} needs a maximum likelihood estimate.",
      x = "This one has method {.val {object$method}}.",
      i = "Use {.code estimate(..., method = \"ml\")}."
    ))
  }
  structure(object$log_likelihood,
    df = sum(object$possible %||% rep(TRUE, length(object$estimate))) - 1,
    nobs = object$n,
    class = "logLik"
  )
}

#' @rdname estimate-methods
#' @export
as.table.confide_estimate <- function(x, ...) {
  check_dots_empty(...)
  as.table(array(x$estimate, lengths(x$dimnames), x$dimnames))
}

#' @rdname estimate-methods
#' @export
as.data.frame.confide_estimate <- function(x,
                                           row.names = NULL, # nolint: object_name_linter. R's name.
                                           optional = FALSE, ..., level = 0.95) {
  limits <- unname(confint(x, level = level))
  cbind(
    cell_frame(x),
    data.frame(
      estimate = x$estimate,
      std_error = x$std_error,
      conf_low = limits[, 1],
      conf_high = limits[, 2]
    )
  )
}

# The levels of each cell as factors in their own order.
cell_frame <- function(x) {
  grid <- expand.grid(x$dimnames, KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
  for (name in names(grid)) {
    grid[[name]] <- factor(grid[[name]], x$dimnames[[name]])
  }
  grid
}

#' @rdname estimate-methods
#' @export
summary.confide_estimate <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  rows <- as.data.frame(object, level = level)
  rows$se_privacy <- std_error(object, "privacy")
  rows$se_sampling <- std_error(object, "sampling")
  structure(list(
    rows = rows,
    level = level,
    about = format_estimate(object),
    notes = estimate_notes(object)
  ), class = "summary.confide_estimate")
}

#' @export
print.summary.confide_estimate <- function(x, ..., n = 10L) {
  n <- check_shown(n)
  writeLines(x$about)
  shown <- utils::head(x$rows, n)
  numeric <- vapply(shown, is.numeric, logical(1))
  shown[numeric] <- lapply(shown[numeric], format_shares, std_error = x$rows$std_error)
  print(printed_headings(shown), row.names = FALSE)
  writeLines(c(
    format_rest(nrow(x$rows), n, "cell"),
    sprintf("%g %% intervals", 100 * x$level),
    x$notes
  ))
  invisible(x)
}

# Columns of results are headed alike wherever they are printed.
printed_headings <- function(rows) {
  headings <- c(
    std_error = "std.error", conf_low = "low", conf_high = "high",
    se_privacy = "(privacy)", se_sampling = "(sampling)"
  )
  known <- names(rows) %in% names(headings)
  names(rows)[known] <- headings[names(rows)[known]]
  rows
}

# tidy() has the column names of package broom, as.data.frame() those of R code.
tidy_names <- function(rows) {
  names(rows) <- sub("^(std|conf)_", "\\1.", names(rows))
  rows
}

format_estimate <- function(x) {
  size <- sprintf(
    "%s, %s, method \"%s\"", plural(length(x$estimate), "share"), plural(x$n, "report"), x$method
  )
  c(
    paste0("<estimate>  ", estimate_subject(x, 65L - nchar(size)), size),
    inline_title(format_title(x$mechanism))
  )
}

# Which attributes make the table, in the order of the cell names, where there is room to say it.
estimate_subject <- function(x, width) {
  attributes <- names(x$dimnames)
  if (!all(attributes %in% names(x$mechanism$alphabets)) || width < 6) {
    return("")
  }
  paste0(shorten(paste(attributes, collapse = " x "), width), ": ")
}

covers_both <- "standard errors cover sampling and privacy"

# What a reader must know to trust the numbers.
estimate_notes <- function(x) {
  negative <- sum(x$moment < 0)
  c(
    if (negative > 0) paste(count_are(negative, length(x$moment)), explain_negative(x$method)),
    if (is_far_below_zero(x)) "FAR BELOW 0: were these answers randomized, by this mechanism?",
    if (x$target == "file") "errors are about the file's own table: randomization only",
    if (!is.null(x$possible)) paste(plural(sum(!x$possible), "cell"), "known to be empty: 0"),
    if (isFALSE(x$converged)) "NOT CONVERGED: raise control$max_evaluations",
    verdict(x),
    format_rng(x$privacy$rng)
  )
}

# Noise reaches this once in a thousand million tables.
is_far_below_zero <- function(x) {
  reach <- stats::qnorm(1e-9 / length(x$moment), lower.tail = FALSE)
  any(x$moment < -reach * x$std_error, na.rm = TRUE)
}

count_are <- function(some, all) {
  verb <- if (some == 1) "is" else "are"
  sprintf("%s of %s estimates %s", format_count(some), format_count(all), verb)
}

explain_negative <- function(method) {
  if (method %in% c("moment", "canonical")) {
    return("negative: noise around small shares")
  }
  "negative before the fit; errors are those of \"moment\""
}

# How much of the error is the price of privacy, and whether the numbers carry information.
verdict <- function(x) {
  if (anyNA(x$std_error)) {
    return("one report gives no standard error")
  }
  useful <- mean(x$std_error <= 0.5 * pmax(x$estimate, 1 / length(x$estimate)))
  privacy <- 1 - sum(sampling_variance(x)) / sum(x$std_error^2)
  c(
    if (privacy >= 0 && x$target == "population") {
      sprintf("privacy makes %.0f %% of the variance", 100 * min(privacy, 1))
    },
    if (useful < 0.5) {
      sprintf(
        "most shares are within noise: fewer %s or more reports would help",
        if (length(x$dimnames) > 1) "attributes" else "cells"
      )
    }
  )
}

# Decimals enough to see two digits of a typical standard error; tiny shares in scientific notation.
format_shares <- function(x, std_error) {
  format_to_error(x, stats::median(std_error[std_error > 0]), decimals = 3)
}

#' @export
format.confide_estimate <- function(x, ...) {
  c(format_estimate(x), estimate_notes(x))
}

#' @export
print.confide_estimate <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  writeLines(format_estimate(x))
  first <- utils::head(seq_along(x$estimate), n)
  shown <- cbind(estimate = x$estimate[first], std.error = x$std_error[first])
  shown[] <- format_shares(shown, x$std_error[first])
  rownames(shown) <- shorten(head_labels(x$dimnames, length(first)), 55L)
  print(shown, quote = FALSE, right = TRUE)
  writeLines(c(format_rest(length(x$estimate), n, "share"), estimate_notes(x)))
  invisible(x)
}

# The first labels only: a table may have millions.
head_labels <- function(dimnames, n) {
  sizes <- lengths(dimnames)
  positions <- arrayInd(seq_len(n), sizes)
  parts <- lapply(seq_along(dimnames), function(j) dimnames[[j]][positions[, j]])
  do.call(paste, c(unname(parts), sep = ", "))
}

#' @rdname estimate-methods
#' @export
tidy.confide_estimate <- function(x, ..., level = 0.95) {
  check_dots_empty(...)
  limits <- unname(confint(x, level = level))
  data.frame(
    term = cell_labels(x$dimnames), estimate = x$estimate, std.error = x$std_error,
    conf.low = limits[, 1], conf.high = limits[, 2]
  )
}

#' @rdname estimate-methods
#' @export
glance.confide_estimate <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    nobs = x$n, cells = length(x$estimate), method = x$method, mechanism = class(x$mechanism)[[1]],
    epsilon = epsilon(x$mechanism), logLik = x$log_likelihood %||% NA_real_
  )
}

#' @rdname estimate-methods
#' @export
augment.confide_estimate <- function(x, data = NULL, ...) {
  check_dots_empty(...)
  if (!identical(x$decoder$type, "product")) {
    source <- if (identical(x$decoder$type, "cells")) "single cells" else "a general channel"
    abort_parameter(c(
      "{.fn augment} describes tables of one channel for each attribute.",
      x = paste0("This estimate comes from ", source, ".")
    ))
  }
  reported <- x$reported$total / sum(x$reported$total)
  fitted <- apply_product(x$estimate, x$decoder, "forward")
  cbind(
    cell_frame(x),
    data.frame(
      .reported = reported,
      .fitted = fitted,
      .resid = reported - fitted,
      .estimate = x$estimate,
      .std.error = x$std_error
    )
  )
}
