# Parametric bootstrap of estimates that are distributions: reports are drawn from what the estimate
# expects and estimated again in the same way.

bootstrap_limits <- function(object, level, replicates, call = rlang::caller_env()) {
  check_bootstrap(object, replicates, call)
  estimates <- bootstrap_estimates(object, replicates)
  # Type 6 is i / (replicates + 1), the quantile that a new replicate falls below with that
  # probability.
  tails <- c(1 - level, 1 + level) / 2
  limits <- t(apply(estimates, 1, stats::quantile, probs = tails, type = 6, names = FALSE))
  # EM ends before a share reaches 0: less than a thousandth of a person is none.
  limits[limits[, 1] < 1e-3 / object$n, 1] <- 0
  limits
}

most_bootstrap_values <- 2^27

check_bootstrap <- function(object, replicates, call) {
  reason <- if (object$method %in% c("moment", "canonical")) {
    "An unbiased estimate may be negative: no reports can be drawn from it."
  } else if (!is.null(object$reported$square)) {
    "These reports are weighted."
  } else if (any(object$reported$total != round(object$reported$total))) {
    "These counts are not whole numbers."
  } else if (object$target == "file") {
    "This estimate is of the file's own table, which is not drawn anew."
  }
  if (!is.null(reason)) {
    abort_parameter(c(
      "Bootstrap intervals are for a population, unweighted reports and a proper distribution.",
      x = reason,
      i = "Use {.code estimate(method = \"ml\")} for them, or {.code method = \"wald\"} here."
    ), call = call)
  }
  values <- length(object$estimate) * replicates
  if (values > most_bootstrap_values) {
    abort_parameter(c(
      "Bootstrap intervals keep {format_count(most_bootstrap_values)} numbers at the most.",
      x = "These {.arg replicates} of this table have {format_number(values)}.",
      i = "Take fewer replicates, or a smaller {.arg margin}."
    ), call = call)
  }
}

# One column for each replicate.
bootstrap_estimates <- function(object, replicates) {
  expected <- pmax(expected_reports(object$estimate, object$decoder), 0)
  vapply(seq_len(replicates), function(i) {
    estimate_again(object, as.numeric(stats::rmultinom(1, object$n, expected)))
  }, numeric(length(object$estimate)))
}

estimate_again <- function(object, total) {
  if (object$method == "ml") {
    decoded <- list(
      reported = list(total = total), decoder = object$decoder, possible = object$possible
    )
    return(fit_likelihood(decoded, object$control)$estimate)
  }
  moment <- switch(object$decoder$type,
    product = apply_product(total / sum(total), object$decoder, "inverse"),
    block = block_moment(total, object$decoder),
    matrix = as.vector(object$decoder$inverse %*% total) / sum(total)
  )
  if (object$method == "simplex") simplex_projection(moment) else clip_shares(moment)
}
