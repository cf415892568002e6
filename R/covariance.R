#' Means, covariances and correlations of scored attributes
#'
#' Estimates the first two moments of the *true* attributes from their reports. Randomization leaves
#' zero covariances at zero and signs as they are, but shrinks sizes: a covariance of two reported
#' attributes is \eqn{\lambda_j \lambda_k} times the true one (Ruiz 2026, equation 9), so the
#' moments of the reports are biased, mostly towards none. This function undoes it.
#'
#' @inheritParams estimate
#' @param x Reports or counts: all that [count_reports()] takes, or its result.
#' @param mechanism (mechanism) Made by [mech_lambda()].
#' @param scores (named list of numeric vectors) A finite number for each level of an attribute, in
#'   the order of `levels(mechanism)` or named by level. By default ordered attributes are scored 1,
#'   2, ..., r, logical ones 0 and 1, and levels declared as several numbers by those numbers. Other
#'   (nominal) attributes need scores.
#' @param margin (names of attributes, or `NULL`) Which ones; all by default.
#' @param correlation (logical) Whether `coef()`, `vcov()`, `confint()`, `tidy()` and `print()` are
#'   about correlations (`TRUE`) or covariances (`FALSE`, default). The result holds both.
#' @returns An object of class `confide_covariance`: a list with `$mean` (named numbers),
#'   `$covariance` and `$correlation` (symmetric matrices), their standard errors in `$std_error`
#'   (a list of the same shapes), `$reported` (the same matrices of the reports as they are,
#'   uncorrected), `$scores`, `$lambda`, `$n` and `$privacy`. `coef(x, what)`, `vcov()`,
#'   `confint()` and `tidy()` take `what`: `"covariance"`, `"correlation"` or `"mean"`. Pairs are
#'   named `"a, b"`, variances `"a, a"`.
#' @section Standard errors:
#' They cover sampling and randomization, by linearisation: each report has an influence value, and
#' the variance is that of their mean, with n / (n - 1). With weights the sums are weighted, the
#' divisor \eqn{1 - \sum w^2 / (\sum w)^2} takes the place of (n - 1) / n, and variances are
#' linearised. Covariances are unbiased without weights.
#' @section Not available:
#' A variance is a difference and can be estimated at or below 0. Then it is shown as estimated, but
#' the correlations of that attribute are `NA`, which the print says. More reports or a larger
#' lambda help. A correlation can also be estimated outside \[-1, 1\]; it is not cut.
#' @section Errors:
#' `confide_error_parameter` for nominal attributes without scores, scores that do not fit the
#' levels, a mechanism of another kind, no reports; `confide_error_domain` and
#' `confide_error_mechanism` as in [count_reports()].
#' @references
#' Ruiz, N. (2026). Lambda-randomization: multi-dimensional randomized response made easy. arXiv
#' 2603.05261. Equation 9.
#'
#' van den Hout, A. and van der Heijden, P. G. M. (2002). Randomized response, statistical
#' disclosure control and misclassification: a review. *International Statistical Review* 70,
#' 269-288. \doi{10.1111/j.1751-5823.2002.tb00363.x}
#' @seealso [private_lm()] for regression.
#' @examples
#' m <- mech_lambda(adult[c("education", "income")], lambda = 0.7)
#' reports <- privatize(adult[c("education", "income")], m)
#' moments <- estimate_covariance(reports, m,
#'   scores = list(education = 1:16, income = 0:1), correlation = TRUE
#' )
#' moments
#' confint(moments)
#' @export
estimate_covariance <- function(x, mechanism, ..., scores = NULL, margin = NULL,
                                correlation = FALSE, weights = NULL, count = NULL) {
  check_dots_empty(...)
  check_lambda_mechanism(mechanism)
  check_required(x, "Give reports or counts.")
  margin <- check_margin(margin, mechanism)
  scores <- check_score_list(scores, names(mechanism$alphabets))
  check_flag(correlation)
  call <- rlang::current_env()
  numbers <- lapply(stats::setNames(nm = margin), function(name) {
    attribute_scores(name, mechanism$alphabets[[name]], scores[[name]], call)
  })
  check_informative(mechanism, margin)
  counts <- as_counts(x, mechanism, weights, count)
  check_some_reports(counts)
  records <- margin_records(counts, margin)
  lambda <- mechanism$lambda[margin]
  moments <- score_moments(records, numbers, attribute_channels(mechanism, margin))
  new_covariance(moments, list(
    what = if (correlation) "correlation" else "covariance",
    scores = numbers, lambda = lambda, n = counts$n, weighted = !is.null(counts$squares),
    title = format_title(mechanism), privacy = counts$privacy
  ))
}

# Distinct reports of some attributes, with their sums of weights and of squared weights.
margin_records <- function(counts, margin) {
  sparse <- sparse_counts(counts)
  rows <- sparse$patterns[, match(margin, names(counts$sizes)), drop = FALSE]
  distinct <- lambda_patterns(rows, sparse$counts, squares(sparse))
  list(
    codes = rows[distinct$row, , drop = FALSE], weight = distinct$weight,
    square = distinct$square, n = counts$n
  )
}

# Unbiased values g of the scores and h of their squares, for each record.
score_values <- function(records, numbers, channels) {
  look_up <- function(power) {
    columns <- lapply(seq_along(numbers), function(j) {
      debias_values(numbers[[j]]^power, channels[[j]])[records$codes[, j]]
    })
    matrix(unlist(columns), ncol = length(numbers), dimnames = list(NULL, names(numbers)))
  }
  list(g = look_up(1), h = look_up(2))
}

# `lost` is the share of a variance that centring at the mean takes away: 1 / n without weights.
score_moments <- function(records, numbers, channels) {
  values <- score_values(records, numbers, channels)
  lambda <- vapply(channels, `[[`, numeric(1), "lambda")
  total <- sum(records$weight)
  lost <- sum(records$square) / total^2
  centre <- colSums(records$weight * values$g) / total
  deviation <- sweep(values$g, 2, centre)
  spread <- crossprod(deviation, records$weight * deviation) / total
  # a single report has no spread
  spread <- if (records$n > 1 && lost < 1) spread / (1 - lost) else spread * NA
  covariance <- spread
  # The variance of g holds the noise; E h - (E g)^2 does not. The mean's own variance is added
  # back.
  diag(covariance) <- colSums(records$weight * values$h) / total - centre^2 + lost * diag(spread)
  list(
    mean = centre,
    covariance = covariance,
    reported = outer(lambda, lambda) * spread,
    variance = influence_variance(values, records, centre)
  )
}

# Pairs (j, k), j <= k, in the order of the upper triangle.
score_pairs <- function(m) {
  upper <- which(upper.tri(diag(m), diag = TRUE), arr.ind = TRUE)
  unname(upper)
}

records_at_once <- 20000L

# Covariance matrix of all means and covariances from the influence values of the records: (g_j -
# mean_j)(g_k - mean_k) for a covariance, h_j - 2 mean_j g_j for a variance, g_j for a mean.
# O(records * pairs^2), in pieces so that memory stays small.
influence_variance <- function(values, records, centre) {
  pairs <- score_pairs(length(centre))
  same <- pairs[, 1] == pairs[, 2]
  influence <- function(rows) {
    deviation <- sweep(values$g[rows, , drop = FALSE], 2, centre)
    products <- deviation[, pairs[, 1], drop = FALSE] * deviation[, pairs[, 2], drop = FALSE]
    products[, same] <- values$h[rows, , drop = FALSE] -
      2 * sweep(values$g[rows, , drop = FALSE], 2, centre, `*`)
    cbind(deviation, products)
  }
  rows <- seq_along(records$weight)
  pieces <- split(rows, (rows - 1) %/% records_at_once)
  total <- sum(records$weight)
  average <- Reduce(`+`, lapply(pieces, function(piece) {
    colSums(records$weight[piece] * influence(piece))
  })) / total
  second <- Reduce(`+`, lapply(pieces, function(piece) {
    centred <- sweep(influence(piece), 2, average)
    crossprod(centred, records$square[piece] * centred)
  }))
  variance_scale(records$weight, records$n) * second
}

new_covariance <- function(moments, fields) {
  m <- length(moments$mean)
  pairs <- score_pairs(m)
  first <- seq_len(m)
  variance <- list(
    mean = moments$variance[first, first, drop = FALSE],
    covariance = moments$variance[-first, -first, drop = FALSE]
  )
  scale <- sqrt(ifelse(diag(moments$covariance) > 0, diag(moments$covariance), NA))
  correlation <- moments$covariance / outer(scale, scale)
  diag(correlation)[!is.na(scale)] <- 1
  variance$correlation <- correlation_variance(correlation, scale, pairs, variance$covariance)
  as_matrix <- function(v) {
    filled <- matrix(NA_real_, m, m, dimnames = dimnames(moments$covariance))
    filled[pairs] <- sqrt(pmax(diag(v), 0))
    filled[pairs[, 2:1]] <- filled[pairs]
    filled
  }
  structure(c(
    list(
      mean = moments$mean, covariance = moments$covariance, correlation = correlation,
      std_error = list(
        mean = stats::setNames(sqrt(pmax(diag(variance$mean), 0)), names(moments$mean)),
        covariance = as_matrix(variance$covariance),
        correlation = as_matrix(variance$correlation)
      ),
      reported = list(
        covariance = moments$reported, correlation = reported_correlation(moments$reported)
      ),
      variance = variance
    ),
    fields
  ), class = "confide_covariance")
}

reported_correlation <- function(covariance) {
  scale <- sqrt(ifelse(diag(covariance) > 0, diag(covariance), NA))
  covariance / outer(scale, scale)
}

# Delta method: r_jk depends on the covariances jk, jj and kk.
correlation_variance <- function(correlation, scale, pairs, variance) {
  position <- match(seq_along(scale), ifelse(pairs[, 1] == pairs[, 2], pairs[, 1], 0))
  jacobian <- matrix(0, nrow(pairs), nrow(pairs))
  for (i in seq_len(nrow(pairs))) {
    j <- pairs[i, 1]
    k <- pairs[i, 2]
    r <- correlation[j, k]
    if (j == k || is.na(r)) {
      jacobian[i, i] <- if (is.na(r)) NA else 0
      next
    }
    jacobian[i, i] <- 1 / (scale[[j]] * scale[[k]])
    jacobian[i, position[[j]]] <- -r / (2 * scale[[j]]^2)
    jacobian[i, position[[k]]] <- -r / (2 * scale[[k]]^2)
  }
  known <- !is.na(diag(jacobian))
  result <- matrix(NA_real_, nrow(pairs), nrow(pairs))
  used <- jacobian[known, , drop = FALSE]
  result[known, known] <- used %*% variance %*% t(used)
  result
}

# What is asked ----------------------------------------------------------------

# Positions in the matrices and labels of the entries that `what` means.
covariance_entries <- function(object, what) {
  attributes <- names(object$mean)
  pairs <- score_pairs(length(attributes))
  used <- if (what == "correlation") which(pairs[, 1] != pairs[, 2]) else seq_len(nrow(pairs))
  pairs <- pairs[used, , drop = FALSE]
  list(used = used, pairs = pairs, labels = paste(
    attributes[pairs[, 1]], attributes[pairs[, 2]],
    sep = ", "
  )[seq_along(used)])
}

check_what <- function(what, object, call = rlang::caller_env()) {
  check_choice(what %||% object$what, c("covariance", "correlation", "mean"), "what", call)
}

#' @export
coef.confide_covariance <- function(object, ..., what = NULL) {
  check_dots_empty(...)
  what <- check_what(what, object)
  if (what == "mean") {
    return(object$mean)
  }
  entries <- covariance_entries(object, what)
  stats::setNames(object[[what]][entries$pairs], entries$labels)
}

#' @export
vcov.confide_covariance <- function(object, ..., what = NULL) {
  check_dots_empty(...)
  what <- check_what(what, object)
  if (what == "mean") {
    return(structure(object$variance$mean, dimnames = rep(list(names(object$mean)), 2)))
  }
  entries <- covariance_entries(object, what)
  structure(object$variance[[what]][entries$used, entries$used, drop = FALSE],
    dimnames = list(entries$labels, entries$labels)
  )
}

#' @export
confint.confide_covariance <- function(object, parm, level = 0.95, ..., what = NULL) {
  check_dots_empty(...)
  what <- check_what(what, object)
  limits <- normal_limits(coef(object, what = what), vcov(object, what = what), check_level(level))
  chosen_limits(limits, parm)
}

normal_limits <- function(estimate, variance, level) {
  half <- stats::qnorm((1 + level) / 2) * sqrt(pmax(diag(variance), 0))
  tails <- paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE), "%")
  matrix(c(estimate - half, estimate + half),
    ncol = 2, dimnames = list(names(estimate), tails)
  )
}

#' @export
nobs.confide_covariance <- function(object, ...) {
  object$n
}

#' @export
tidy.confide_covariance <- function(x, ..., level = 0.95, what = NULL) {
  check_dots_empty(...)
  what <- check_what(what, x)
  estimate <- coef(x, what = what)
  limits <- unname(confint(x, level = level, what = what))
  data.frame(
    term = names(estimate), estimate = unname(estimate),
    std.error = sqrt(pmax(unname(diag(vcov(x, what = what))), 0)),
    conf.low = limits[, 1], conf.high = limits[, 2]
  )
}

#' @export
format.confide_covariance <- function(x, ...) {
  format_covariance_title(x)
}

format_covariance_title <- function(x) {
  c(
    sprintf(
      "<%s>  %s, %s%s", x$what, plural(length(x$mean), "scored attribute"), plural(x$n, "report"),
      if (x$weighted) ", weighted" else ""
    ),
    inline_title(x$title)
  )
}

#' @export
print.confide_covariance <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  writeLines(format_covariance_title(x))
  rows <- tidy(x, what = if (length(x$mean) == 1) "covariance" else x$what)
  entries <- covariance_entries(x, if (length(x$mean) == 1) "covariance" else x$what)
  naive <- x$reported[[x$what]][entries$pairs]
  shown <- format(cbind(
    estimate = rows$estimate, std.error = rows$std.error, uncorrected = naive
  ), digits = 3)
  rownames(shown) <- shorten(rows$term, 36L)
  print(utils::head(shown, n), quote = FALSE, right = TRUE)
  writeLines(c(format_rest(nrow(shown), n, "pair"), covariance_notes(x)))
  invisible(x)
}

covariance_notes <- function(x) {
  kept <- outer(x$lambda, x$lambda)[upper.tri(diag(length(x$lambda)))]
  bad <- names(x$mean)[!is.na(diag(x$covariance)) & diag(x$covariance) <= 0]
  c(
    if (any(kept < 1)) {
      sprintf(
        "reports keep zero covariances and signs, but only %s of a covariance",
        paste(unique(format_number(range(kept), 2)), collapse = " to ")
      )
    },
    if (length(bad) > 0) {
      shorten(paste("NA: estimated variance not above 0 for", paste(bad, collapse = ", ")), 78L)
    },
    covers_both,
    format_rng(x$privacy$rng)
  )
}
