#' @rdname audit
#' @export
audit.confide_release <- function(x, ..., draws = 0, confidence = 1 - 1e-6, rng = c("os", "r")) {
  check_dots_empty(...)
  confidence <- check_level(confidence)
  rng <- check_rng(rng)
  check_made_with(x, "release")
  plan <- check_release(x)
  query <- release_query(x)
  draws <- check_draws(draws, length(furthest_answer(query, plan)))
  exact <- if (query$law == "laplace") exact_laplace(query, plan) else exact_gaussian(query, plan)
  statistical <- if (draws > 0) statistical_release_audit(query, plan, draws, confidence, rng)
  lower_bound <- statistical$lower_bound %||% 0
  exact$ok <- exact$ok && isTRUE(lower_bound <= query$budget)
  structure(
    c(exact, list(
      claim = query$budget, realised = plan$realised, law = query$law,
      title = format(x)[[1]], noise = x$privacy$noise, draws = draws
    ), statistical),
    class = c("confide_release_audit", "confide_audit")
  )
}

# The public arguments that a release was made with.
release_query <- function(release) {
  privacy <- release$privacy
  list(
    kind = release$kind, bound = release$bound,
    budget = if (identical(release$law, "gaussian")) privacy$rho else privacy$epsilon,
    law = release$law, neighbours = privacy$neighbours, n_max = largest_rows,
    dimension = as.numeric(length(release$estimate))
  )
}

# The noise follows from the public arguments; a release that says otherwise was altered.
check_release <- function(release, call = rlang::caller_env()) {
  plan <- tryCatch(plan_noise(release_query(release)), error = function(error) NULL)
  if (!follows_plan(release, plan) || !is_on_grid(release$estimate, plan$grid)) {
    abort_internal(c(
      "This release failed its certificate: its numbers do not follow from its public arguments.",
      i = "It was altered by hand. Release again, which costs its budget again."
    ), call = call)
  }
  plan
}

follows_plan <- function(release, plan) {
  privacy <- release$privacy
  scale <- list(numerator = plan$numerator, denominator = plan$denominator)
  identical(release$scale, scale) && identical(release$grid, plan$grid) &&
    identical(release$noise_sd, plan$noise_sd) &&
    identical(privacy$rho_realised %||% privacy$epsilon_realised, plan$realised)
}

is_on_grid <- function(estimate, grid) {
  is.numeric(estimate) && isTRUE(all(estimate / grid == round(estimate / grid)))
}

# An answer beyond both integers is likelier under one of two neighbours by e^(l1 / scale) exactly,
# and no answer by more.
exact_laplace <- function(query, plan) {
  worst <- min(plan$l1 * plan$denominator / plan$numerator, plan$realised)
  list(worst_log_ratio = worst, ok = plan$realised <= query$budget)
}

renyi_orders <- c(1.5, 2, 4, 8, 16, 32, 64)

# No log-ratio bounds Gaussian noise; its Renyi divergences do.
exact_gaussian <- function(query, plan) {
  excess <- vapply(renyi_orders, theta_excess, numeric(1), plan = plan)
  divergence <- renyi_orders * plan$l2_squared * plan$denominator / (2 * plan$numerator) + excess
  limit <- renyi_orders * query$budget
  list(
    worst_log_ratio = Inf,
    renyi = data.frame(alpha = renyi_orders, divergence = divergence, claim = limit),
    # the two sides round apart by a few units in the last place
    ok = plan$realised <= query$budget && all(divergence <= limit * (1 + 1e-14))
  )
}

# Moving the discrete Gaussian of variance v by the whole number m has the Renyi divergence
# alpha m^2 / (2 v) + log(theta(alpha m) / theta(0)) / (alpha - 1), where theta(c) is the sum of
# e^(-(y - c)^2 / 2v) over whole numbers y; the second part is never positive and is 0 where alpha m
# is whole (Canonne, Kamath and Steinke 2020, Proposition 5). From v = 100 on it is 0 in doubles,
# since theta(c) / theta(0) > 1 - 4 e^(-2 pi^2 v).
theta_excess <- function(alpha, plan) {
  variance <- plan$numerator / plan$denominator
  if (variance > 100) {
    return(0)
  }
  offset <- (alpha * plan$l1) %% 1
  y <- seq(-500, 500)
  theta <- function(centre) sum(exp(-(y - centre)^2 / (2 * variance)))
  log(theta(offset) / theta(0)) / (alpha - 1)
}

# Attacks the sampler: noise around an answer against noise around the furthest answer that a
# neighbour can have, by the likelihood ratio.
statistical_release_audit <- function(query, plan, draws, confidence, rng) {
  gaussian <- query$law == "gaussian"
  shift <- furthest_answer(query, plan)
  scale <- plan$numerator / plan$denominator
  scores <- lapply(list(shift, 0 * shift), function(centre) {
    units <- units_as_numbers(draw_noise(query, 2 * draws * length(shift), rng))
    y <- matrix(units, length(shift)) + centre
    if (gaussian) {
      return(drop(shift %*% y) / scale - sum(shift^2) / (2 * scale))
    }
    colSums(abs(y) - abs(y - shift)) / scale
  })
  bound <- if (gaussian) rho_lower_bound else loss_lower_bound
  training <- seq_len(draws)
  threshold <- best_threshold(scores[[1]][training], scores[[2]][training], confidence, bound)
  hits <- vapply(scores, function(score) sum(score[-training] >= threshold), numeric(1))
  list(
    lower_bound = bound(hits[[1]], hits[[2]], draws, confidence),
    event_probabilities = hits / draws,
    confidence = confidence
  )
}

# In whole steps: along one axis for the l2 norm, along all for the l1 norm.
furthest_answer <- function(query, plan) {
  if (query$law == "gaussian") {
    return(c(floor(sqrt(plan$l2_squared)), rep(0, query$dimension - 1)))
  }
  rep(floor(plan$l1 / query$dimension), query$dimension)
}

# By data processing the divergence of an event is at most alpha rho, at every order.
rho_lower_bound <- function(hits, other_hits, n, confidence) {
  error <- (1 - confidence) / 2
  low <- if (hits == 0) 0 else stats::qbeta(error, hits, n - hits + 1)
  high <- if (other_hits == n) 1 else stats::qbeta(1 - error, other_hits + 1, n - other_hits)
  if (low <= high) {
    return(0)
  }
  alpha <- c(1.001, 1.1, 1.25, renyi_orders)
  # In logarithms: at alpha = 64 a frequency of 1e-5 to the power of -63 leaves the doubles.
  inside <- alpha * log(low) + (1 - alpha) * log(high)
  outside <- alpha * log1p(-low) + (1 - alpha) * log1p(-high)
  larger <- pmax(inside, outside)
  divergence <- larger + log(exp(inside - larger) + exp(outside - larger))
  max(divergence / (alpha * (alpha - 1)))
}

#' @export
format.confide_release_audit <- function(x, ...) {
  name <- if (x$law == "gaussian") "rho" else "epsilon"
  c(
    paste0("<audit>  ", shorten(inline_title(x$title), 71L)),
    sprintf("noise: %s, from the public arguments", x$noise),
    if (x$law == "gaussian") {
      sprintf(
        "exact Renyi divergence at %d orders: at most alpha * %s, claim %s",
        nrow(x$renyi), format(max(x$renyi$divergence / x$renyi$alpha), digits = 10),
        format_epsilon(x$claim)
      )
    } else {
      sprintf(
        "worst log-ratio of the exact law: %s, claim %s",
        format(x$worst_log_ratio, digits = 12), format_epsilon(x$claim)
      )
    },
    format_audit_verdict(x, paste("two answers:", name), "release")
  )
}
