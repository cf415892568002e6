#' @rdname audit
#' @export
audit.confide_mean <- function(x, ...) {
  check_dots_empty(...)
  measure <- if (is.null(x$privacy$rho)) "epsilon" else "rho"
  claim <- x$privacy[[measure]]
  realised <- x$privacy[[paste0(measure, "_realised")]]
  spent <- sum_rounded_up(x$steps$budget)
  least_ratio <- min(Inf, mean_noise_ratios(x, measure))
  structure(list(
    worst_log_ratio = if (measure == "rho") Inf else realised,
    claim = claim, realised = realised, spent = spent, noise_ratio = least_ratio,
    # a record's integers are cut to the grid, by less than 2^-20 of the radius
    ok = realised <= claim && spent <= claim && least_ratio >= 1 - 2^-20,
    measure = measure, title = format(x)[[1]], noise = x$privacy$noise, draws = 0
  ), class = c("confide_mean_audit", "confide_audit"))
}

# For each step of the mean, a first one from the ball `radius` included: its noise against the
# least that its share pays for, by the formula.
mean_noise_ratios <- function(x, measure) {
  share <- x$steps$budget[x$steps$part %in% c("start", "mean")]
  moved <- if (x$privacy$neighbours == "replace") 2 else 1
  sensitivity <- moved * x$radii / x$n
  needed <- if (measure == "rho") {
    sensitivity / sqrt(2 * share)
  } else {
    sqrt(2) * sqrt(x$dimension) * sensitivity / share # l1 norm; the variance is twice the scale^2
  }
  x$noise_sd / needed
}

#' @export
format.confide_mean_audit <- function(x, ...) {
  c(
    paste0("<audit>  ", shorten(inline_title(x$title), 71L)),
    sprintf("noise: %s", x$noise),
    sprintf(
      "%s: parts add up to %s, realised %s, claim %s", x$measure,
      format(x$spent, digits = 10), format(x$realised, digits = 10), format_epsilon(x$claim)
    ),
    if (is.finite(x$noise_ratio)) {
      sprintf("noise of a mean step: at least %.4f of what its share asks for", x$noise_ratio)
    },
    "replay_audit() tests that nothing leaves but through the noise",
    format_audit_verdict(x, "", "release")
  )
}
