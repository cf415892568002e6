#' Audit a mechanism or a release
#'
#' Checks a claim against what the sampler really does. For a mechanism, the exact audit takes the
#' integer weights that the sampler draws from and finds the largest log-ratio of the probabilities
#' of any report under any two true values. The statistical audit, on request, draws reports, looks
#' for the event that tells two true values apart best on one half of them, and gives a lower
#' confidence bound on epsilon from the other half (Clopper-Pearson).
#'
#' For a release of [private_sum()] or [private_count()], the exact audit makes the noise anew from
#' the public arguments, refuses a release that does not agree, and takes the law of that noise: the
#' worst log-ratio of discrete Laplace noise, or the Renyi divergences of discrete Gaussian noise
#' (Canonne, Kamath and Steinke 2020, Proposition 5). The statistical audit draws noise around the
#' two answers that neighbours can have furthest apart, and bounds epsilon, or rho by the
#' divergences of the event. Whether the answer was computed as it should be is the business of
#' [replay_audit()].
#'
#' For [brownian()], [laplace_path()] and [private_classifier()] the loss that was counted is held
#' against the loss by the law of the noise that is left; for sampled gradients by summing the
#' mixture of normal laws. What stops by a check ([above_threshold()], [accuracy_first()]) or
#' chooses a tree ([synthesize()]) is refused: its law is not that of noise alone.
#'
#' For [private_mean()] the audit adds up what the parts spent and holds the noise of each step
#' against what the step's radius and share of the budget ask for.
#'
#' @param x (mechanism or release) What to audit.
#' @param ... Unused; catches misspelt arguments.
#' @param draws (whole number) Reports (or answers) to draw from each of two true values for the
#'   statistical audit; 0 (default) for none, at most 1e8 (of numbers, for a release of several).
#'   1e5 finds an excess of about 0.05 at epsilon 1; rare events need more, and no number finds them
#'   all.
#' @param confidence (number in (0, 1)) Of the statistical lower bound; the default is wrong once in
#'   a million audits.
#' @param rng As in [privatize()].
#' @returns A list of class `confide_audit`: `$worst_log_ratio` (never above the claim for a sound
#'   mechanism; `Inf` for Gaussian noise), `$claim`, `$ok`, `$by_attribute` for [mech_lambda()],
#'   `$realised` and (Gaussian noise) the data frame `$renyi` for a release, `$spent` and
#'   `$noise_ratio` (the least noise of a step in units of what it must be) for a private mean, the
#'   data frame `$parts` (`part`, `law`, `counted`) for what can be refined, and with draws
#'   `$lower_bound` and `$event_probabilities`.
#' @section Errors:
#' `confide_error_parameter` for what has no law to audit (reports and estimates: audit their
#' mechanism), and for `draws` or `confidence` outside their range; `confide_error_internal` for a
#' mechanism or release that was altered by hand; `confide_error_randomness` when draws are asked
#' for and the operating system gives no random numbers.
#' @references
#' Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in
#' the case of the binomial. *Biometrika* 26, 404-413. \doi{10.1093/biomet/26.4.404}
#'
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential
#' privacy. *NeurIPS* 33. \doi{10.48550/arXiv.2004.00010}
#' @seealso [replay_audit()]
#' @examples
#' audit(mech_rr(4, epsilon = 1))
#' audit(mech_lambda(list(a = 3, b = 2), lambda = 0.5), draws = 2000)
#' audit(private_count(c(TRUE, FALSE), rho = 0.5, neighbours = "replace"), draws = 2000)
#' @export
audit <- function(x, ...) {
  check_required(x, "Give a mechanism or a release.")
  UseMethod("audit")
}

#' @export
audit.default <- function(x, ...) {
  made_here <- inherits(x, c("confide_reports", "confide_counts", "confide_estimate"))
  abort_parameter(c(
    "{.fn audit} takes a mechanism, or a release whose law is that of its noise.",
    x = "It is {describe(x)}.",
    i = if (made_here) "Audit the mechanism that made the reports.",
    i = if (inherits(x, "confide_synthetic")) {
      "It is made of choices and noise; {.fn replay_audit} checks a function that makes it."
    }
  ))
}

#' @rdname audit
#' @export
audit.confide_mechanism <- function(x, ..., draws = 0, confidence = 1 - 1e-6, rng = c("os", "r")) {
  check_dots_empty(...)
  check_mechanism(x)
  draws <- check_draws(draws)
  confidence <- check_level(confidence)
  rng <- check_rng(rng)
  by_attribute <- exact_loss(x)
  claim <- claimed_epsilon(x)
  keeps <- keeps_claim(x)
  # Where each part keeps its own claim, adding doubles must not say otherwise.
  worst <- kept_loss(sum(by_attribute), claim, keeps)
  statistical <- if (draws > 0) statistical_audit(x, draws, confidence, rng)
  lower_bound <- statistical$lower_bound %||% 0
  structure(c(list(
    worst_log_ratio = worst,
    claim = claim,
    ok = keeps && sum_rounded_up(realised_loss(x)) <= claim && isTRUE(lower_bound <= claim),
    by_attribute = if (length(by_attribute) > 1) by_attribute,
    title = format_title(x),
    draws = draws
  ), statistical), class = "confide_audit")
}

# What fits into the memory of a common machine.
max_draws <- 1e8

check_draws <- function(draws, dimension = 1, call = rlang::caller_env()) {
  check_whole_number(draws, min = 0, max = floor(max_draws / dimension), arg = "draws", call = call)
}

# The largest log-ratio of the sampler's own weights, one number for each attribute; never above a
# claim that they keep.
exact_loss <- function(mechanism) UseMethod("exact_loss")

#' @exportS3Method
exact_loss.confide_rr <- function(mechanism) {
  rr_loss(mechanism$epsilon, mechanism$alphabet$size, "worst_log_ratio")
}

#' @exportS3Method
exact_loss.confide_lambda <- function(mechanism) {
  attribute_losses(mechanism, "worst_log_ratio")
}

#' @exportS3Method
exact_loss.confide_matrix <- function(mechanism) {
  channel_measure(mechanism, "worst_log_ratio")
}

# Whether the sampler's integers keep the claim of every attribute, decided by integers alone.
keeps_claim <- function(mechanism) UseMethod("keeps_claim")

#' @exportS3Method
keeps_claim.confide_rr <- function(mechanism) {
  rr_keeps(mechanism$epsilon, mechanism$alphabet$size)
}

#' @exportS3Method
keeps_claim.confide_matrix <- function(mechanism) {
  certify_matrix(mechanism)$certified
}

# Two true values whose reports differ most, and the log-likelihood ratio of a report under them.
hardest_pair <- function(mechanism) UseMethod("hardest_pair")

# Of levels 1 and 2, the one that a report speaks for: 1, -1, or 0 for any other report.
first_or_second <- function(reports) (reports == 1L) - (reports == 2L)

#' @exportS3Method
hardest_pair.confide_rr <- function(mechanism) {
  log_ratio <- log(rr_realised(mechanism$epsilon, mechanism$alphabet$size))
  step <- log_ratio[["truthful"]] - log_ratio[["other"]]
  list(truth = c(1L, 2L), log_ratio = function(reports) step * first_or_second(reports))
}

#' @exportS3Method
hardest_pair.confide_lambda <- function(mechanism) {
  pairs <- lapply(names(mechanism$lambda), function(name) attribute_pair(mechanism, name))
  names(pairs) <- names(mechanism$lambda)
  list(
    truth = lapply(1:2, function(i) lapply(pairs, function(pair) pair$truth[[i]])),
    log_ratio = function(reports) {
      Reduce(`+`, lapply(names(pairs), function(name) pairs[[name]]$score(reports[[name]])))
    }
  )
}

attribute_pair <- function(mechanism, name) {
  law <- mechanism$noise[[name]]
  if (!is.null(law)) {
    return(noise_hardest_pair(law))
  }
  lambda <- mechanism$lambda[[name]]
  step <- log1p(mechanism$alphabets[[name]]$size * lambda / (1 - lambda))
  list(truth = 1:2, score = function(reports) step * first_or_second(reports))
}

#' @exportS3Method
hardest_pair.confide_matrix <- function(mechanism) {
  logs <- log(channel_matrix(mechanism))
  spread <- apply(logs, 2, function(column) {
    if (max(column) == -Inf) -Inf else max(column) - min(column)
  })
  column <- which.max(spread)
  truth <- c(which.max(logs[, column]), which.min(logs[, column]))
  difference <- logs[truth[[1]], ] - logs[truth[[2]], ]
  list(truth = unname(truth), log_ratio = function(reports) unname(difference[reports]))
}

statistical_audit <- function(mechanism, draws, confidence, rng) {
  pair <- hardest_pair(mechanism)
  scores <- lapply(pair$truth, function(truth) {
    codes <- if (is.list(truth)) lapply(truth, rep, times = 2 * draws) else rep(truth, 2 * draws)
    pair$log_ratio(draw(mechanism, codes, rng))
  })
  training <- seq_len(draws)
  threshold <- best_threshold(scores[[1]][training], scores[[2]][training], confidence)
  hits <- vapply(scores, function(score) sum(score[-training] >= threshold), numeric(1))
  list(
    lower_bound = loss_lower_bound(hits[[1]], hits[[2]], draws, confidence),
    event_probabilities = hits / draws,
    confidence = confidence
  )
}

best_threshold <- function(first, second, confidence, bound = loss_lower_bound) {
  first <- sort(first)
  second <- sort(second)
  candidates <- unique(first)
  places <- seq(1, length(candidates), length.out = min(length(candidates), 200))
  candidates <- candidates[unique(round(places))]
  at_least <- function(scores) length(scores) - findInterval(candidates, scores, left.open = TRUE)
  bounds <- mapply(bound, at_least(first), at_least(second), length(first), confidence)
  candidates[[which.max(bounds)]]
}

# log of (Clopper-Pearson lower limit of one probability / upper limit of the other), at half the
# error each.
loss_lower_bound <- function(hits, other_hits, n, confidence) {
  error <- (1 - confidence) / 2
  low <- if (hits == 0) 0 else stats::qbeta(error, hits, n - hits + 1)
  high <- if (other_hits == n) 1 else stats::qbeta(1 - error, other_hits + 1, n - other_hits)
  max(0, log(low / high))
}

#' @export
format.confide_audit <- function(x, ...) {
  c(
    paste0("<audit>  ", shorten(inline_title(x$title), 71L)),
    sprintf(
      "worst log-ratio of the sampler's weights: %s, claim %s",
      format(x$worst_log_ratio, digits = 12), format_epsilon(x$claim)
    ),
    format_audit_verdict(x, "two values: epsilon", "mechanism")
  )
}

# What draws showed, where there were any, and whether the claim stands.
format_audit_verdict <- function(x, of, thing) {
  c(
    if (x$draws > 0) {
      sprintf(
        "from %s draws of %s is at least %s (confidence %s)",
        format_count(x$draws), of, format_down(x$lower_bound, 4), format(x$confidence, digits = 7)
      )
    },
    if (x$ok) "the claim holds" else paste("THE CLAIM FAILS: do not use this", thing)
  )
}
