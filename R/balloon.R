#' Parameters of the balloon mean and its rivals
#'
#' The defaults are the recommended ones. All are public: choose them without looking at the data.
#' The published algorithm (Ramsay et al. 2026) is
#' `balloon_control(iterations = 3, tau = c(0.7, 0.6, 0.5), split = c(1, 1, 1), radius_share = 0.5,
#' start = "mean", average = FALSE, interval_share = 0)` with `filter = "none"`.
#'
#' @param ... Unused; catches misspelt arguments.
#' @param iterations (whole number, at most 100) Balloon steps: 4 by default, 6 with three columns
#'   or fewer. Add one for each factor of 100 by which `centre` may be further than 100 standard
#'   deviations off. For `"coinpress"` its steps, 1 to 4 or 10; 3 by default.
#' @param tau (numbers in (0, 1), one or one for each iteration) Share of the records that the
#'   balloon is to hold. Less resists more contamination: the breakdown point is 1 - tau.
#' @param beta (number above 1) Growth of the radii that are tried, `r_min + beta^k - 1`.
#' @param r_min (number above 0) The first radius that is tried, in whitened units. By default 1 up
#'   to 16 columns, else a quarter of the square root of their number; with `sigma = "none"`, where
#'   the unit is not known, the radii are `1e-8 beta^k`.
#' @param r_max (number above the first radius) Radii are tried up to this one or somewhat more, in
#'   whitened units.
#' @param split (number in (0, 1), or one for each iteration) Share of the budget for the last
#'   iteration, the others sharing the rest; or a share for each. 0.5 by default, 0.6 with three
#'   columns or fewer.
#' @param radius_share (number in (0, 1)) Part of an iteration's budget for its radius. By default
#'   as little as finds the radius within 100 counts, at least 5 %, at most half.
#' @param start (`"radius"` or `"mean"`) Whether the first step is a search for the radius or, as
#'   published, a clipped mean in the ball `radius` with `start_share` of the budget.
#' @param start_share (number in (0, 1)) See `start`.
#' @param average (`TRUE` or `FALSE`) Whether to average the centres of similar radius, which costs
#'   nothing. Not done with three columns or fewer.
#' @param interval_share (number from 0 to 0.5) Part of the whole budget for what confidence
#'   intervals need. With 0 they cover the noise alone.
#' @param shape_share (number in (0, 0.9)) Part of the whole budget for `sigma = "diag"` (0.1) or
#'   `"tyler"` (0.4).
#' @param filter_shares (two numbers above 0, sum below 1) Parts of the mean's budget for the
#'   spectral filter: its matrix and its medians.
#' @param slack (number, at least 0) How far above the noise an eigenvalue must be to be filtered.
#' @returns A list of class `confide_balloon_control`.
#' @section Errors:
#' `confide_error_parameter` for arguments outside their range.
#' @references
#' Ramsay, K. et al. (2026). Computationally tractable robust differentially private mean
#' estimation. \doi{10.48550/arXiv.2606.12654}
#' @examples
#' balloon_control(tau = 0.6)
#' @export
balloon_control <- function(..., iterations = NULL, tau = 0.5, beta = 1.01, r_min = NULL,
                            r_max = 1e8, split = NULL, radius_share = NULL,
                            start = c("radius", "mean"), start_share = 0.1, average = TRUE,
                            interval_share = 0.05, shape_share = NULL,
                            filter_shares = c(0.15, 0.15), slack = 0.15) {
  check_dots_empty(...)
  call <- rlang::current_env()
  between <- function(x, low, high, arg = rlang::caller_arg(x)) {
    range <- paste("above", format(low), "and below", format(high))
    check_number(x, range, function(x) x > low && x < high, arg = arg, call = call)
  }
  shares <- function(x, arg = rlang::caller_arg(x)) {
    check_numbers(x, "above 0 and below 1", function(x) x > 0 & x < 1, arg, call)
  }
  optional <- function(x, check) if (!is.null(x)) check(x)
  filter_shares <- shares(filter_shares)
  if (length(filter_shares) != 2 || sum(filter_shares) >= 1) {
    abort_parameter("{.arg filter_shares} must be two numbers with a sum below 1.")
  }
  structure(list(
    iterations = optional(iterations, function(x) {
      check_whole_number(x, 1, 100, "iterations", call)
    }),
    tau = shares(tau),
    beta = between(beta, 1 + 1e-5, 10),
    r_min = optional(r_min, function(x) between(x, 1e-9, 1e9, "r_min")),
    r_max = between(r_max, 0, 1e12),
    split = optional(split, function(x) {
      check_numbers(x, "above 0 and finite", function(x) x > 0 & is.finite(x), "split", call)
    }),
    radius_share = optional(radius_share, function(x) between(x, 0, 1, "radius_share")),
    start = check_choice(start, c("radius", "mean")),
    start_share = between(start_share, 0, 1),
    average = check_flag(average),
    interval_share = check_number(
      interval_share, "from 0 to 0.5", function(x) x >= 0 && x <= 0.5
    ),
    shape_share = optional(shape_share, function(x) between(x, 0, 0.9, "shape_share")),
    filter_shares = filter_shares,
    slack = check_number(slack, "from 0 to 100", function(x) x >= 0 && x <= 100)
  ), class = "confide_balloon_control")
}

#' @export
format.confide_balloon_control <- function(x, ...) {
  shown <- x[!vapply(x, is.null, logical(1))]
  values <- vapply(shown, function(value) paste(format(value), collapse = ", "), "")
  c("<balloon control>", paste(format(names(shown)), values, sep = "  "))
}

# What the balloon spends on what, from public arguments alone. `available` is what is left of the
# budget after shape and interval.
balloon_budget <- function(request, available, call) {
  control <- request$control
  d <- request$dimension
  few <- d <= 3
  filter <- if (request$filter == "spectral") control$filter_shares * available else c(0, 0)
  body <- available - sum(filter)
  start <- if (control$start == "mean") control$start_share * body else 0
  iterations <- control$iterations %||% if (few) 6 else 4
  weights <- iteration_weights(control$split %||% if (few) 0.6 else 0.5, iterations, call)
  step <- (body - start) * weights
  radius <- radius_budget(step, request)
  list(
    start = start, radius = radius, mean = step - radius, filter = filter,
    tau = recycled(control$tau, iterations, "tau", call), radii = tried_radii(request, call)
  )
}

# The last iteration needs the most: its noise is not forgotten.
iteration_weights <- function(split, iterations, call) {
  if (length(split) == iterations && (iterations > 1 || split == 1)) {
    return(split / sum(split))
  }
  if (iterations == 1) {
    return(1)
  }
  if (length(split) != 1 || split >= 1) {
    abort_parameter(c(
      "{.arg split} must be one number below 1, or one for each of {iterations} iterations."
    ), call = call)
  }
  c(rep((1 - split) / (iterations - 1), iterations - 1), split)
}

recycled <- function(x, n, arg, call) {
  if (length(x) == 1) {
    return(rep(x, n))
  }
  if (length(x) != n) {
    abort_parameter(c(
      "{.arg {arg}} must be one number, or one for each of {n} iterations.",
      x = "There are {length(x)}."
    ), call = call)
  }
  x
}

# Enough to find a count within about 100; balloon.md 1.4. In the pure measure the same rate of the
# noise, 56 / n, costs epsilon 168 / n.
radius_budget <- function(step, request) {
  share <- request$control$radius_share
  if (!is.null(share)) {
    return(share * step)
  }
  if (request$measure == "rho") {
    pmin(0.5 * step, pmax(0.05 * step, (100 / request$n)^2))
  } else {
    pmin(0.5 * step, pmax(0.1 * step, 168 / request$n))
  }
}

# Fixed beforehand, never read off the data: this is what makes the counts nested.
tried_radii <- function(request, call) {
  control <- request$control
  d <- request$dimension
  unit_unknown <- request$shape$type == "none" && is.null(control$r_min)
  first <- if (unit_unknown) 1e-8 else control$r_min %||% if (d <= 16) 1 else sqrt(d) / 4
  if (control$r_max <= first) {
    abort_parameter(c(
      "{.field r_max} must be above the first radius that is tried, {format(first)} here.",
      x = "It is {format(control$r_max)}.",
      i = "Both are in whitened units; {.field r_min} sets the first."
    ), call = call)
  }
  if (unit_unknown) {
    return(first * control$beta^(0:ceiling(log(control$r_max / first) / log(control$beta))))
  }
  growth <- max(2 * control$r_max, 1 + control$r_max - first)
  first + control$beta^(0:ceiling(log(growth) / log(control$beta))) - 1
}

# The noise that the smallest and the largest radius would need: refusals come before any is drawn.
balloon_queries <- function(run, request, budget) {
  starts <- budget$start > 0
  ends <- range(budget$radii, if (starts) request$radius)
  filter <- budget$filter
  c(
    if (starts) list(sum_query(run, request$radius, budget$start)),
    Map(function(share, tau) first_query(run, tau * run$n, share), budget$radius, budget$tau),
    unlist(lapply(budget$mean, function(share) sum_queries(run, ends, share)), recursive = FALSE),
    if (filter[[1]] > 0) {
      list(
        scatter_query(run, filter[[1]]),
        search_query(run, most_directions(run), filter[[2]], filter_steps)
      )
    }
  )
}

# The balloon mean (balloon.md 1.4): search the radius that holds a share tau of the records, move
# the centre by the mean of the displacements clipped to it, again. O(n d) an iteration.
run_balloon <- function(run, request, budget) {
  steps <- list()
  centre <- rep(0, run$dimension)
  if (budget$start > 0) {
    steps[[1]] <- release_step(run, centre, request$radius, budget$start)
    centre <- steps[[1]]$centre
  }
  missed <- 0
  for (m in seq_along(budget$mean)) {
    place <- release_radius(run, centre, budget$radii, budget$tau[[m]], budget$radius[[m]])
    missed <- missed + (place > length(budget$radii))
    radius <- if (place <= length(budget$radii)) {
      budget$radii[[place]]
    } else if (budget$start > 0) {
      request$radius
    } else {
      max(budget$radii)
    }
    steps[[length(steps) + 1]] <- release_step(run, centre, radius, budget$mean[[m]])
    centre <- steps[[length(steps)]]$centre
  }
  fit <- finish_steps(steps, average = request$control$average && run$dimension > 3)
  fit$missed <- missed
  fit$few <- has_few_rows(run, budget)
  if (request$filter == "spectral") {
    fit$filter <- release_filter(run, fit, budget$filter, request$control$slack)
  }
  fit
}

# Whether the noise of some of the counts may reach the target where no record is: decided from
# public numbers.
has_few_rows <- function(run, budget) {
  reaches <- Map(function(share, tau) {
    noise <- plan_noise(first_query(run, tau * run$n, share))
    2 * noise$rate * noise$threshold < log(length(budget$radii))
  }, budget$radius, budget$tau)
  any(unlist(reaches))
}

release_radius <- function(run, centre, radii, tau, share) {
  cells <- scan_rows(run$rows, function(y) distance_counts(y, centre, radii))
  release_first(run, cumsum(cells)[seq_along(radii)], tau * run$n, share)
}

# Averages the centres, each weighted by 1 / noise variance, that have a radius close to the last
# one's and are no further from it than their noise explains: post-processing (balloon.md 1.8; its
# rule, of the radius alone, averages the way from a distant start into the estimate).
finish_steps <- function(steps, average) {
  radii <- vapply(steps, `[[`, numeric(1), "radius")
  noise_sd <- vapply(steps, `[[`, numeric(1), "noise_sd")
  path <- do.call(rbind, lapply(steps, `[[`, "centre"))
  last <- length(steps)
  weights <- as.numeric(seq_along(steps) == last)
  if (average) {
    moved <- rowSums(sweep(path, 2, path[last, ])^2)
    near <- moved <= 2 * ncol(path) * (noise_sd^2 + noise_sd[[last]]^2)
    weights <- ifelse(near & radii <= 1.25 * radii[[last]], 1 / noise_sd^2, 0)
    weights <- weights / sum(weights)
  }
  list(
    centre = colSums(path * weights), radius = radii[[last]], radii = radii, noise_sd = noise_sd,
    path = path, weights = weights
  )
}

filter_steps <- 12

most_directions <- function(run) floor(run$dimension / 2)

# The private spectral filter (balloon.md 1.7). Outliers that hide on the sphere push one direction;
# in it the second moment stands out, and a private median takes the place of the mean.
release_filter <- function(run, fit, shares, slack) {
  d <- run$dimension
  found <- release_scatter(run, function(y, query) {
    scatter_units(y, fit$centre, fit$radius, query)
  }, shares[[1]])
  noise <- found$noise_sd / run$n
  parts <- eigen(found$moments / run$n, symmetric = TRUE)
  base <- mean(utils::tail(parts$values, ceiling(d / 2)))
  q <- sqrt(d / run$n)
  threshold <- base * ((1 + q) / (1 - min(0.9, q)))^2 * (1 + slack) + 1.5 * noise * sqrt(2 * d)
  directions <- min(sum(parts$values > threshold), most_directions(run))
  filter <- list(directions = directions, threshold = threshold * fit$radius^2)
  if (directions == 0) {
    return(filter)
  }
  axes <- parts$vectors[, seq_len(directions), drop = FALSE]
  medians <- search_projections(
    run, fit$centre, axes, fit$radius, run$n / 2, shares[[2]], filter_steps
  )
  c(filter, list(
    axes = axes, shift = drop(axes %*% medians$value), count_sd = medians$noise_sd,
    resolution = medians$cuts[[2]] - medians$cuts[[1]]
  ))
}
