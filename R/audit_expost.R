#' @rdname audit
#' @export
audit.confide_expost <- function(x, ...) {
  check_dots_empty(...)
  parts <- audited_parts(x)
  # both sides are sums of doubles
  at_most <- function(loss, claim) all(loss <= claim * (1 + 1e-12))
  structure(list(
    worst_log_ratio = if (is.null(x$privacy$alpha)) sum(parts$law) else Inf,
    parts = parts, claim = x$privacy$epsilon,
    ok = at_most(parts$law, parts$counted) && at_most(sum(parts$counted), x$privacy$epsilon),
    title = format(x)[[1]], noise = x$privacy$noise, draws = 0
  ), class = c("confide_expost_audit", "confide_audit"))
}

#' @rdname audit
#' @export
audit.confide_laplace_path <- function(x, ...) audit.confide_expost(x, ...)

# A row for each part of what was released: its loss by the law of the noise it has now, and the
# loss that was counted for it.
audited_parts <- function(x, call = rlang::caller_env()) UseMethod("audited_parts")

#' @exportS3Method
audited_parts.default <- function(x, call = rlang::caller_env()) {
  abort_parameter(c(
    "What stops by a check, or draws its choices too, has no single law of noise to audit.",
    x = "It is {describe(x)}.",
    i = "{.fn replay_audit} checks a function that calls it."
  ), call = call)
}

# All measurements of an answer tell as much as one with the precision they have together: at order
# alpha a Gaussian of that precision loses alpha sensitivity^2 precision / 2.
#' @exportS3Method
audited_parts.confide_brownian <- function(x, call = rlang::caller_env()) {
  check_unaltered(x, call)
  names <- names(x$queries) %||% "value"
  law <- vapply(x$queries, function(query) query$sensitivity^2 * query$precision / 2, numeric(1))
  counted <- vapply(names, function(name) sum(x$steps[x$path$query == name]), numeric(1))
  data.frame(
    part = names, law = x$alpha * unname(law), counted = x$alpha * unname(counted)
  )
}

#' @exportS3Method
audited_parts.confide_laplace_path <- function(x, call = rlang::caller_env()) {
  check_unaltered(x, call)
  data.frame(part = "value", law = x$sensitivity / x$scale, counted = x$epsilon)
}

#' @exportS3Method
audited_parts.confide_classifier <- function(x, call = rlang::caller_env()) {
  check_unaltered(x, call)
  if (x$method == "gradient") {
    noise <- x$path$noise_sd[[1]] / x$control$clip
    step <- sampled_divergence(x$alpha, x$control$rate, noise)
    return(data.frame(part = "steps", law = x$steps * step, counted = x$epsilon))
  }
  law <- vapply(x$handle, function(handle) sum(audited_parts(handle)$law), numeric(1))
  data.frame(part = x$spent$part, law = unname(law[x$spent$part]), counted = x$spent$cost)
}

# The Renyi divergence at order alpha of normal noise under a record that is in with probability
# `rate` and moves the sum by 1, the larger of both directions, summed up on a fine grid. The cost
# that is charged comes from a binomial sum instead.
sampled_divergence <- function(alpha, rate, noise) {
  step <- 2^-6
  y <- seq(-40, 40 + alpha / noise, by = step)
  without <- log1p(-rate) # in logarithms: of Q, and of q P, in units of Q
  with <- log(rate) + y / noise - 1 / (2 * noise^2)
  larger <- pmax(with, without)
  mixed <- larger + log1p(exp(pmin(with, without) - larger))
  moment <- function(power) {
    terms <- stats::dnorm(y, log = TRUE) + power * mixed
    max(terms) + log(sum(exp(terms - max(terms)))) + log(step)
  }
  max(moment(alpha), moment(1 - alpha)) / (alpha - 1)
}

#' @export
format.confide_expost_audit <- function(x, ...) {
  c(
    paste0("<audit>  ", shorten(inline_title(x$title), 71L)),
    sprintf("noise: %s", x$noise),
    sprintf(
      "%s: epsilon %s by the law of the noise, counted %s", x$parts$part,
      format(x$parts$law, digits = 10), format(x$parts$counted, digits = 10)
    ),
    "replay_audit() tests that nothing leaves but through the noise",
    format_audit_verdict(x, "", "release")
  )
}
