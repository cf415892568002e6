#' Private mean of many columns that resists outliers
#'
#' The mean of the rows of a table under central differential privacy: the balloon mean (Ramsay et
#' al. 2026) with exact noise, and five rivals. Nobody needs to know the range of the data, and a
#' share of wild records does little harm. It estimates the centre of laws that are symmetric about
#' it, such as elliptical ones; of skewed data it is a robust centre, not the mean.
#'
#' The records are put on one scale (`sigma`). Then, a few times: a noisy search finds the radius of
#' a ball about the centre that holds half of the records; each record's displacement is clipped to
#' that radius; the centre moves by their noisy mean. Clipping is not trimming: little efficiency is
#' lost.
#'
#' @section Why it is private:
#' Let one record change, everything released so far being fixed.
#'
#' *Radius.* With a record's distance to the centre all counts of records within the tried radii
#' change by 0 or +1, or all by 0 or -1. Stop at the first count N with N + G >= T + Z, where Z and
#' G are fresh integers with P(z) proportional to exp(-e1 z) and exp(-e2 g). If the counts move up,
#' the probability of an outcome falls at most by the factor exp(e1 + e2) (compare Z = z with z + 1)
#' and rises at most by exp(e2) (the same z). So the log-ratio lies in an interval of length
#' e1 + 2 e2, hence by Popoviciu's inequality the step is (e1 + 2 e2)^2 / 8-zCDP; and it is
#' (e1 + e2)-DP. Here e2 = 2 e1, dyadic, rounded down.
#'
#' *Mean.* A displacement is clipped and rounded toward zero to integers k of the grid with
#' sum k_i^2 <= B, which is checked in integers. Replacing a record moves their sum by at most
#' 2 sqrt(B), leaving one out by sqrt(B); discrete Gaussian noise of variance s^2 is then
#' sensitivity^2 / (2 s^2)-zCDP (Canonne et al. 2020). With `epsilon` the noise is discrete Laplace
#' for the l1 sensitivity, at most the square root of the number of columns times that.
#'
#' *Filter.* The second moments of the clipped records, whose Frobenius sensitivity is sqrt(2) B,
#' get Gaussian noise; along the few directions that stand out private medians replace the mean.
#'
#' The costs add up. All is decided from public numbers before any noise is drawn; what an object
#' holds was released.
#'
#' @param x (numeric vector, matrix, data frame or `tbl_lazy`) One row for each person. The number
#'   of rows is public. Their order does not matter: where rows are compared (sigma `"diag"` or
#'   `"tyler"`, method `"huber"`) the pairs are drawn at random. A database table is read in chunks,
#'   once for each pass; for pairs it is held in memory, 8 bytes a value, until they are counted.
#' @param rho,epsilon (number above 0, no default) Exactly one: `rho` for zero-concentrated
#'   differential privacy, `epsilon` for a pure guarantee (methods `"balloon"` and `"clipped"`; far
#'   noisier in many columns).
#' @param ... Unused; catches misspelt arguments.
#' @param method (string) `"balloon"`; `"coinpress"` (Biswas et al. 2020); `"huber"` (Yu et al.
#'   2024, its scale by the radius search of Details); `"instance_optimal"` (Huang et al. 2021);
#'   `"coordinate_median"`; `"clipped"`, one clipped mean.
#' @param sigma (string or matrix) The shape of the data. A positive definite matrix that is public,
#'   such as a covariance from elsewhere; `"diag"`: private scales of the columns, 10 % of the
#'   budget; `"none"`: the columns are on one scale already; `"tyler"`: a private shape matrix, 40 %
#'   of the budget, for data known to have no clusters of outliers. Privacy never depends on it
#'   being right.
#' @param centre (finite number, or one for each column) A public guess.
#' @param radius (number above 0) Public ball about `centre`, in units of the scale, in which the
#'   methods that need one look: `"coinpress"`, `"instance_optimal"`, `"clipped"` and, for each
#'   coordinate, `"coordinate_median"`. 50 times the square root of the number of columns by
#'   default.
#' @param neighbours (`"replace"` or `"zero_out"`) What the guarantee hides: any change of one row,
#'   or its absence. With `"zero_out"` a row that is missing throughout stands for an absent person,
#'   who adds nothing to any count or sum. But the row is one of the n by which sums are divided
#'   and of which counts are to reach a share. With many such rows estimates are therefore biased,
#'   those of a clipped mean toward `centre`, and intervals miss: it is no way to treat missing
#'   values. The number of rows is public in both, and `"add_remove"`, which hides it, is not
#'   served; so the stronger of the two is the default, where functions that serve `"add_remove"`
#'   have none.
#' @param filter (`"auto"`, `"spectral"` or `"none"`) Whether to search for outliers that all pull
#'   one way; 30 % of the mean's budget. `"auto"`: when n rho >= 7 times the number of columns.
#' @param control (control) Made by [balloon_control()].
#' @param ledger ([ledger()] or `NULL`) Is charged before the noise is drawn, with all of `rho` or
#'   `epsilon`; a release that it cannot pay for is refused.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @returns An object of class `confide_mean`; see [mean-methods]. It holds `$estimate`, `$path`
#'   (centres, a row for each step, in the units of `x`), `$radii` and `$noise_sd` (of each step, in
#'   whitened units), `$shape` (with `$root`, L such that L L' is the shape), `$filter`, `$spread`
#'   (what intervals need), `$steps` (data frame: what was spent on what) and `$privacy`.
#' @section Errors:
#' `confide_error_domain` for values that are not finite numbers, with a text that does not depend
#' on them; `confide_error_parameter` for other arguments, also when the number of rows is too small
#' for `sigma = "diag"`; `confide_error_randomness` when the operating system gives no random
#' numbers; `confide_error_budget` and `confide_error_simulation` as in [ledger()]. All but that of
#' the random numbers come before any noise is drawn.
#' @references
#' Ramsay, K. et al. (2026). Computationally tractable robust differentially private mean
#' estimation. \doi{10.48550/arXiv.2606.12654}
#'
#' Biswas, S., Dong, Y., Kamath, G. and Ullman, J. (2020). CoinPress: practical private mean and
#' covariance estimation. *NeurIPS* 33. \doi{10.48550/arXiv.2006.06618}
#'
#' Huang, Z., Liang, Y. and Yi, K. (2021). Instance-optimal mean estimation under differential
#' privacy. *NeurIPS* 34. \doi{10.48550/arXiv.2106.00463}
#'
#' Yu, M., Ren, Z. and Zhou, W.-X. (2024). Gaussian differentially private robust mean estimation
#' and inference. *Bernoulli* 30. \doi{10.3150/23-BEJ1706}
#'
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential
#' privacy. *NeurIPS* 33. \doi{10.48550/arXiv.2004.00010}
#' @seealso [mean-methods], [balloon_control()], [private_sum()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(8000, mean = 3), ncol = 4)
#' x[1:100, ] <- 1000 # outliers
#' fit <- private_mean(x, rho = 0.5, sigma = "none")
#' fit
#' confint(fit)
#' @export
private_mean <- function(x, rho = NULL, ..., epsilon = NULL, method = "balloon",
                         sigma = "diag", centre = 0, radius = NULL, neighbours = "replace",
                         filter = "auto", control = NULL, ledger = NULL, rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(x, "Give a matrix or data frame with one row for each person.")
  call <- rlang::current_env()
  request <- mean_request(
    rho, epsilon, check_choice(method, mean_methods),
    check_choice(neighbours, c("replace", "zero_out")), control, check_rng(rng), call
  )
  rows <- new_rows(x, absent = request$neighbours == "zero_out", call)
  request <- complete_request(request, rows, sigma, centre, radius, filter, call)
  budget <- mean_budget(request, call)
  run <- new_run(rows, request)
  check_noise_plans(run, request, budget, call)
  # The whole cost is fixed and nothing is drawn yet.
  charge_before_noise(ledger, asked_privacy(request), "private_mean")
  request$charged <- !is.null(ledger)
  new_mean(run_mean(run, request, budget), request, rows$names)
}

mean_methods <- c(
  "balloon", "coinpress", "huber", "instance_optimal", "coordinate_median", "clipped"
)

mean_request <- function(rho, epsilon, method, neighbours, control, rng, call) {
  paid <- check_budget(rho, epsilon, call)
  measure <- if (paid$law == "gaussian") "rho" else "epsilon"
  if (measure == "epsilon" && !method %in% c("balloon", "clipped")) {
    abort_parameter(c(
      "The method {.val {method}} needs {.arg rho}.",
      i = "With {.arg epsilon} there are {.val balloon} and {.val clipped}."
    ), call = call)
  }
  if (!is.null(control)) {
    check_made_by(control, "balloon_control", "confide_balloon_control", call = call)
  }
  list(
    method = method, measure = measure, total = paid$value, neighbours = neighbours, rng = rng,
    control = control %||% balloon_control()
  )
}

complete_request <- function(request, rows, sigma, centre, radius, filter, call) {
  if (rows$n == 0) {
    abort_parameter(c(
      "{.arg x} must have at least one row: the mean of nobody is not defined.",
      i = "The number of rows is public."
    ), call = call)
  }
  d <- as.integer(rows$columns)
  request$n <- rows$n
  request$dimension <- as.numeric(d)
  request$shape <- check_sigma(sigma, d, call)
  request$centre <- check_centre(centre, d, call)
  per_coordinate <- request$method == "coordinate_median"
  request$radius <- if (is.null(radius)) {
    if (per_coordinate) 50 else 50 * sqrt(d)
  } else {
    check_positive(radius, arg = "radius", call = call)
  }
  request$filter <- choose_filter(filter, request, call)
  check_shape_data(request, call)
  request
}

check_centre <- function(centre, d, call) {
  centre <- check_numbers(centre, "finite", is.finite, arg = "centre", call = call)
  if (!length(centre) %in% c(1, d)) {
    abort_parameter(c(
      "{.arg centre} must be one number, or one for each of {d} columns.",
      x = "There are {length(centre)}."
    ), call = call)
  }
  rep_len(centre, d)
}

# From public numbers only.
choose_filter <- function(filter, request, call) {
  filter <- check_choice(filter, c("auto", "spectral", "none"), call = call)
  possible <- request$method == "balloon" && request$measure == "rho" && request$dimension > 1
  if (filter == "spectral" && !possible) {
    abort_parameter(c(
      "The spectral filter needs the method {.val balloon}, {.arg rho} and two or more columns.",
      i = "{.code filter = \"auto\"} leaves it out where it does not apply."
    ), call = call)
  }
  if (filter != "auto") {
    return(filter)
  }
  if (possible && request$n * request$total >= 7 * request$dimension) "spectral" else "none"
}

# Who gets what: the shape of the data, the mean, and what intervals need. From public numbers
# alone.
mean_budget <- function(request, call) {
  available <- spendable(request$total)
  shape <- shape_share(request) * available
  interval <- if (request$method == "coordinate_median") 0 else request$control$interval_share
  interval <- interval * available
  rest <- available - shape - interval
  body <- if (request$method == "balloon") {
    balloon_budget(request, rest, call)
  } else {
    rival_budget(request, rest, call)
  }
  list(shape = shape, interval = interval, body = body)
}

# Any refusal by the samplers' range comes here, before noise is drawn.
check_noise_plans <- function(run, request, budget, call) {
  queries <- if (request$method == "balloon") {
    balloon_queries(run, request, budget$body)
  } else {
    rival_queries(run, request, budget$body, call)
  }
  queries <- c(
    queries, shape_queries(run, request, budget$shape),
    if (budget$interval > 0) list(interval_query(run, budget$interval))
  )
  for (query in queries) plan_noise(query, call)
}

run_mean <- function(run, request, budget) {
  bar <- mean_progress(request)
  run$account$tick <- bar$tick
  on.exit(bar$close())
  shape <- c(request$shape["type"], release_shape(run, request, budget$shape))
  run$whitened <- function(rows) whitened_rows(rows, request$centre, shape$root)
  run$rows <- run$whitened(run$people)
  fit <- if (request$method == "balloon") {
    run_balloon(run, request, budget$body)
  } else {
    run_rival(run, request, budget$body)
  }
  fit$shape <- shape
  fit$spread <- release_spread(run, fit, budget$interval)
  fit$rotated <- NULL
  fit$steps <- spent_steps(budget)
  fit$realised <- sum_rounded_up(run$account$realised)
  fit
}

# A bar after two seconds, where there is a person to see it.
mean_progress <- function(request) {
  if (!interactive()) {
    return(list(tick = function() NULL, close = function() NULL))
  }
  id <- cli::cli_progress_bar("Private mean", total = NA, .auto_close = FALSE)
  list(
    tick = function() cli::cli_progress_update(id = id),
    close = function() cli::cli_progress_done(id = id)
  )
}

spent_steps <- function(budget) {
  body <- budget$body
  parts <- list(
    shape = budget$shape, scale = body$scale, start = body$start, median = body$median,
    norm = body$norm, radius = body$radius, mean = body$mean, filter = body$filter,
    interval = budget$interval
  )
  parts <- Filter(function(share) sum(share) > 0, parts)
  data.frame(
    part = rep(names(parts), lengths(parts)),
    step = unlist(lapply(parts, seq_along), use.names = FALSE),
    budget = unlist(parts, use.names = FALSE)
  )
}

new_mean <- function(fit, request, names) {
  shown <- function(rows) {
    `colnames<-`(sweep(unwhiten(rows, fit$shape$root), 2, request$centre, "+"), names)
  }
  centre <- fit$centre + fit$filter$shift %||% 0
  shape <- fit$shape
  structure(list(
    estimate = stats::setNames(shown(centre)[1, ], names), method = request$method,
    n = request$n, dimension = request$dimension, path = shown(fit$path), radii = fit$radii,
    noise_sd = fit$noise_sd, weights = fit$weights, missed = fit$missed %||% 0,
    few = isTRUE(fit$few), shape = shape,
    filter = c(list(type = request$filter), fit$filter[setdiff(names(fit$filter), "shift")]),
    spread = fit$spread, medians = fit$medians, control = unclass(request$control),
    steps = fit$steps, privacy = mean_privacy(fit, request)
  ), class = "confide_mean")
}

# What a ledger is charged: all that was asked for.
asked_privacy <- function(request) {
  statement <- list(neighbours = request$neighbours, rng = release_source(request$rng))
  statement[[request$measure]] <- request$total
  statement
}

mean_privacy <- function(fit, request) {
  rho <- request$measure == "rho"
  spent <- rowsum(fit$steps$budget, fit$steps$part, reorder = FALSE)
  structure(list(
    definition = paste(if (rho) "zero-concentrated" else "pure", "differential privacy"),
    rho = if (rho) request$total,
    rho_realised = if (rho) fit$realised,
    epsilon = if (!rho) request$total,
    epsilon_realised = if (!rho) fit$realised,
    parts = spent[, 1],
    model = "central: the data are seen by whoever computes the release",
    unit = if (request$neighbours == "replace") {
      "one row: all values of one person"
    } else {
      "what one person adds to counts and sums"
    },
    neighbours = request$neighbours,
    noise = paste(
      "exact discrete", if (rho) "Gaussian" else "Laplace", "on power-of-two grids,",
      "geometric on counts"
    ),
    charged = request$charged,
    rng = release_source(request$rng)
  ), class = "confide_privacy")
}
