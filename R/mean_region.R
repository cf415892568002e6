# The set that holds the whole mean; its help is with that of the other methods of a private mean.

#' @rdname mean-methods
#' @export
confidence_ball <- function(object, ..., level = 0.95, contamination = 0) {
  check_dots_empty(...)
  check_required(object, "Give what private_mean() returned.")
  check_made_by(object, "private_mean", "confide_mean")
  level <- check_level(level)
  contamination <- check_number(
    contamination, "at least 0 and below 0.5", function(x) x >= 0 && x < 0.5
  )
  if (is.null(object$spread$lambda)) {
    abort_parameter(c(
      "A confidence ball needs what {.arg interval_share} pays for.",
      i = "Use another method than {.val coordinate_median}, and {.arg interval_share} above 0."
    ))
  }
  bias <- contamination_bias(object, contamination)
  variance <- object$spread$noise + object$spread$sampling
  if (!is.null(object$spread$axes)) {
    share <- object$filter$directions / object$dimension
    variance <- (1 - share) * variance + share * sum(unlist(object$spread$axes))
  }
  root <- object$shape$root
  structure(list(
    centre = object$estimate,
    radius = bias + sqrt(variance * stats::qchisq(level, object$dimension)),
    shape = if (ncol(root) == 1) diag(root[, 1]^2, object$dimension) else tcrossprod(root),
    bias = bias, level = level, privacy = object$privacy
  ), class = "confide_ball")
}

#' @export
epsilon.confide_ball <- function(x, ...) epsilon.confide_release(x, ...)

#' @export
format.confide_ball <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  reach <- x$radius * sqrt(diag(x$shape))
  rows <- data.frame(
    term = names(x$centre) %||% paste("column", seq_along(x$centre)), estimate = unname(x$centre),
    std_error = reach, conf_low = unname(x$centre - reach), conf_high = unname(x$centre + reach)
  )
  c(
    paste0("<confidence ball>  ", format_guarantee(x$privacy)),
    format_intervals(utils::head(rows, n), "%s  %s  (reaches from %s to %s)"),
    format_rest(length(x$centre), n, "column"),
    sprintf(
      "holds the whole mean with confidence %s; radius %s in whitened units",
      format_percent(x$level), format_number(x$radius)
    ),
    if (x$bias > 0) {
      sprintf("of the radius %s allows for contamination", format_number(x$bias))
    } else {
      "does not allow for contamination"
    },
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

#' @export
print.confide_ball <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

# How far a share eta of outliers can pull (balloon.md 1.9): one step by eta R, against a pull back
# of (1 - eta) times the slope of the others, of which the lambda of all records, where an outlier
# counts at most 1, leaves at least lambda - eta. After the filter by the bias of medians along its
# directions, and by Cauchy and Schwarz elsewhere.
contamination_bias <- function(object, eta) {
  if (eta == 0) {
    return(0)
  }
  if (object$filter$type == "spectral") {
    elsewhere <- sqrt(eta * object$filter$threshold)
    if (object$filter$directions == 0) {
      return(elsewhere)
    }
    sd <- sqrt(object$n * object$spread$sampling)
    medians <- stats::qnorm(1 / (2 * (1 - eta))) * sd * sqrt(object$filter$directions)
    return(medians + elsewhere)
  }
  radius <- object$radii[[length(object$radii)]]
  pull_back <- object$spread$lambda - eta
  if (pull_back > 0) eta * radius / pull_back else Inf
}
