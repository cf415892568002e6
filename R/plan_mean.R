#' Plan a private mean
#'
#' How many rows, how much privacy, or how small an error: give two of `n`, `rho` and `error`, and
#' get the third, in the manner of [stats::power.prop.test()]. No data are needed, so that the
#' question "are my data enough?" costs no budget. The plan is that of [private_mean()] with its
#' default method, the balloon mean.
#'
#' The error is the root mean square of the distance between the private and the true centre in
#' whitened units (Mahalanobis distance): the covariance of the data is the unit of length. Divided
#' by the square root of `d` it is the standard error of one column, in standard deviations of the
#' column (in columns of the scatter matrix for `"t3"` and `"cauchy"`).
#'
#' A step of the balloon with centre at distance \eqn{\delta} sees records at distances
#' \eqn{a = \sqrt{q^2 + \delta^2}}, \eqn{q} being the distance from the true centre; it clips at
#' their quantile \eqn{R}, shrinks \eqn{\delta} to \eqn{(1 - \lambda) \delta} with
#' \eqn{\lambda = E[1(a \le R) + (1 - 1/d) (R / a) 1(a > R)]}, and adds noise of variance
#' \eqn{s^2} a column and the sampling error \eqn{E \min(a, R)^2 / n}. (One column has two sides:
#' the signed distances are averaged.) The steps' noises are
#' followed to the end, with the weights that [private_mean()] gives to its iterates. Against
#' simulations the result is right to a few percent.
#'
#' @param d (whole number above 0) Number of columns.
#' @param ... Unused; catches misspelt arguments.
#' @param n (whole number above 0, or `NULL`) Number of rows.
#' @param rho (number from 1e-50 to 1e50, or `NULL`) The privacy parameter, zero-concentrated
#'   differential privacy; no default.
#' @param error (number above 0, or `NULL`) Root mean square error to reach, in whitened units.
#' @param distribution (`"gaussian"`, `"t3"` or `"cauchy"`) What the data are expected to look like:
#'   normal, or elliptical with the tails of Student's t with 3 degrees of freedom or 1.
#' @param sigma,filter,neighbours,control As in [private_mean()]; a matrix for `sigma` may be given
#'   as `"matrix"`.
#' @param start (number, from 0 to 1e50) Expected distance of the true centre from `centre`, in
#'   whitened units. Default: `sqrt(d)`, one standard deviation in each column.
#' @returns A list of class `confide_mean_plan`: `$n`, `$rho`, `$error` (as reached), `$parts` (root
#'   mean squares of sampling, of the privacy noise, and of what is left of the start; their
#'   squares add up), `$column_error` (standard error of a column), `$n_without_privacy` (rows that
#'   the same estimator needs without noise), `$radius` (expected last radius), `$shares` (what the
#'   budget is spent on), `$filter` (`"none"` or `"spectral"`), `$d`, `$distribution`, `$solved`
#'   (`"n"`, `"rho"` or `"error"`). For `n` the smallest number from which on the error is reached,
#'   and which `sigma` allows.
#'   It has `print()`, `plot()` and `autoplot()`.
#' @section Errors:
#' `confide_error_parameter` unless exactly one of n, rho and error is left out, for values outside
#' their range, and where nothing reaches the error.
#' @references
#' Ramsay, K. et al. (2026). Computationally tractable robust differentially private mean
#' estimation. \doi{10.48550/arXiv.2606.12654}
#' @family planning
#' @examples
#' plan_mean(8, n = 5000, rho = 0.1)
#' plan_mean(8, rho = 0.1, error = 0.1)
#' plan_mean(32, n = 20000, error = 0.1, distribution = "t3")
#' @export
plan_mean <- function(d, ..., n = NULL, rho = NULL, error = NULL,
                      distribution = c("gaussian", "t3", "cauchy"), sigma = "diag",
                      filter = c("auto", "none", "spectral"), neighbours = c("replace", "zero_out"),
                      control = NULL, start = NULL) {
  check_dots_empty(...)
  check_required(d, "Give the number of columns.")
  asked <- list(n = n, rho = rho, error = error)
  solved <- check_one_unknown(asked)
  d <- check_whole_number(d, max = 1e6)
  setting <- list(
    d = d,
    distribution = check_choice(distribution, c("gaussian", "t3", "cauchy")),
    sigma = check_planned_sigma(sigma),
    filter = check_choice(filter, c("auto", "none", "spectral")),
    reach = if (check_choice(neighbours, c("replace", "zero_out")) == "replace") 2 else 1,
    control = check_planned_control(control),
    start = check_start(start, d)
  )
  asked <- check_mean_plan(asked)
  found <- switch(solved,
    n = solve_n(setting, asked),
    rho = solve_rho(setting, asked),
    error = asked
  )
  new_mean_plan(setting, found, solved)
}

check_mean_plan <- function(asked, call = rlang::caller_env()) {
  if (!is.null(asked$n)) {
    asked$n <- check_whole_number(asked$n, max = 2^31, arg = "n", call = call)
  }
  if (!is.null(asked$rho)) {
    # further away the squared errors leave the doubles
    asked$rho <- check_number(asked$rho, "from 1e-50 to 1e50",
      function(x) x >= 1e-50 && x <= 1e50,
      arg = "rho", call = call
    )
  }
  if (!is.null(asked$error)) {
    asked$error <- check_positive(asked$error, arg = "error", call = call)
  }
  asked
}

check_start <- function(start, d, call = rlang::caller_env()) {
  if (is.null(start)) {
    return(sqrt(d))
  }
  hint <- "It is the expected distance of the true centre from {.arg centre}."
  check_number(start, "at least 0 and at most 1e50", function(x) x >= 0 && x <= 1e50, hint,
    call = call
  )
}

check_planned_sigma <- function(sigma, call = rlang::caller_env()) {
  if (is.numeric(sigma)) "matrix" else check_choice(sigma, planned_sigmas, call = call)
}

planned_sigmas <- c("diag", "none", "tyler", "matrix")

check_planned_control <- function(control, call = rlang::caller_env()) {
  if (is.null(control)) {
    return(balloon_control())
  }
  if (!inherits(control, "confide_balloon_control") || control$start != "radius") {
    abort_parameter(c(
      "{.arg control} must be made by {.fn balloon_control}, with {.code start = \"radius\"}.",
      x = "It is {describe(control)}."
    ), call = call)
  }
  control
}

# What private_mean() would be asked.
planned_request <- function(setting, n, rho) {
  list(
    method = "balloon", measure = "rho", total = rho, n = n, dimension = setting$d,
    shape = list(type = setting$sigma), control = setting$control
  )
}

# The budget as private_mean() divides it, from n, d and rho alone.
planned_budget <- function(setting, n, rho) {
  request <- planned_request(setting, n, rho)
  request$filter <- choose_filter(setting$filter, request, NULL)
  c(mean_budget(request, NULL), filter = request$filter)
}

planned_shares <- function(budget, rho) {
  parts <- c(
    interval = budget$interval, shape = budget$shape, filter = sum(budget$body$filter),
    radius = sum(budget$body$radius), mean = sum(budget$body$mean)
  )
  parts / rho
}

# Squared distances from the centre at the quantiles u: d F(d, nu) for Student's t with nu degrees
# of freedom.
squared_distance <- function(setting, u) {
  d <- setting$d
  switch(setting$distribution,
    gaussian = stats::qchisq(u, d),
    t3 = d * stats::qf(u, d, 3),
    cauchy = d * stats::qf(u, d, 1)
  )
}

planned_records <- function(setting, nodes = 500) {
  squared_distance(setting, (seq_len(nodes) - 0.5) / nodes)
}

# Mean square errors after the last step, and the last radius.
mean_errors <- function(setting, n, rho, records = planned_records(setting)) {
  steps <- planned_steps(setting, n, planned_budget(setting, n, rho)$body, records)
  last <- length(steps$radius)
  kept <- 1 - steps$lambda
  carried <- carried_weights(iterate_weights(setting, steps, kept), kept)
  c(
    sampling = setting$d * steps$variance[[last]] / (n * steps$lambda[[last]]^2),
    privacy = setting$d * sum((steps$noise_sd * carried[-1])^2),
    start = (carried[[1]] * setting$start)^2,
    radius = steps$radius[[last]]
  )
}

planned_steps <- function(setting, n, budget, records) {
  d <- setting$d
  steps <- length(budget$mean)
  quantile <- squared_distance(setting, budget$tau)
  smallest <- budget$radii[[1]]
  offset <- setting$start^2
  radius <- lambda <- variance <- noise_sd <- numeric(steps)
  for (step in seq_len(steps)) {
    distance <- planned_distances(setting, records, offset)
    radius[[step]] <- max(smallest, if (d == 1) {
      stats::quantile(abs(distance), budget$tau[[step]], names = FALSE)
    } else {
      sqrt(quantile[[step]] + offset)
    })
    lambda[[step]] <- planned_shrinkage(setting, distance, radius[[step]], offset)
    variance[[step]] <- mean(pmin(abs(distance), radius[[step]])^2) / d
    noise_sd[[step]] <- setting$reach * radius[[step]] / (n * sqrt(2 * budget$mean[[step]]))
    offset <- (1 - lambda[[step]])^2 * offset + d * (noise_sd[[step]]^2 + variance[[step]] / n)
  }
  list(radius = radius, lambda = lambda, variance = variance, noise_sd = noise_sd)
}

# Of the records from the centre. In one column they are signed: on both sides of the truth.
planned_distances <- function(setting, records, offset) {
  if (setting$d > 1) {
    return(sqrt(records + offset))
  }
  as.vector(sqrt(offset) + c(-1, 1) %o% sqrt(records))
}

# The share of the way to the truth that a step goes.
planned_shrinkage <- function(setting, distance, radius, offset) {
  if (setting$d > 1) {
    return(mean(ifelse(distance <= radius, 1, (1 - 1 / setting$d) * radius / distance)))
  }
  if (offset < 1e-12) {
    return(mean(abs(distance) <= radius))
  }
  mean(pmax(-radius, pmin(distance, radius))) / sqrt(offset)
}

# The weights that private_mean() is expected to give to its centres (see finish_steps()): a centre
# that the start still pulls at is left out with the probability that this is seen in the noise.
iterate_weights <- function(setting, steps, kept) {
  last <- length(steps$radius)
  if (!setting$control$average || setting$d <= 3) {
    return(as.numeric(seq_len(last) == last))
  }
  left <- cumprod(kept) * setting$start
  seen <- (left - left[[last]])^2 / (steps$noise_sd^2 + steps$noise_sd[[last]]^2)
  settled <- stats::pchisq(2 * setting$d, setting$d, pmin(seen, 1e4))
  settled[[last]] <- 1
  weights <- settled * (steps$radius <= 1.25 * steps$radius[[last]]) / steps$noise_sd^2
  weights / sum(weights)
}

# With which weight the start and each step's noise arrive in the average: a later step keeps the
# share `kept` of what it is given.
carried_weights <- function(weights, kept) {
  steps <- length(weights)
  arriving <- function(origin) {
    reached <- seq(max(origin, 1), steps)
    passed <- vapply(reached, function(step) {
      prod(kept[seq(origin + 1, length.out = step - origin)])
    }, numeric(1))
    sum(weights[reached] * passed)
  }
  vapply(0:steps, arriving, numeric(1))
}

# So large a budget that its noise is not seen.
no_privacy <- 1e40

planned_error <- function(setting, n, rho, records = planned_records(setting)) {
  sqrt(sum(mean_errors(setting, n, rho, records)[c("sampling", "privacy", "start")]))
}

solve_n <- function(setting, asked, call = rlang::caller_env()) {
  records <- planned_records(setting)
  reached <- function(n) planned_error(setting, round(n), asked$rho, records) <= asked$error
  n <- last_crossing(reached, 1, 2^31)
  if (is.na(n)) {
    abort_parameter(c(
      "{.arg error} and {.arg rho} must be within reach of some {.arg n}.",
      x = "2^31 rows are not enough.",
      i = "Ask for a larger {.arg error} or spend more."
    ), call = call)
  }
  asked$n <- ceiling(n)
  while (asked$n > 1 && reached(asked$n - 1)) asked$n <- asked$n - 1
  while (!reached(asked$n)) asked$n <- asked$n + 1
  asked$n <- max(asked$n, rows_for_shape(setting, asked$rho))
  asked
}

# Fewer are refused by private_mean().
rows_for_shape <- function(setting, rho) {
  if (setting$sigma == "diag") rows_for_scales(planned_request(setting, NULL, rho)) else 1
}

solve_rho <- function(setting, asked, call = rlang::caller_env()) {
  records <- planned_records(setting)
  reached <- function(rho) planned_error(setting, asked$n, rho, records) <= asked$error
  asked$rho <- last_crossing(reached, 1e-9, 1e9)
  if (is.na(asked$rho)) {
    abort_parameter(c(
      "{.arg n} and {.arg error} must be within reach of some {.arg rho}.",
      x = paste(
        "Even without privacy the error with {plural(asked$n, 'row')} is",
        "{format_number(planned_error(setting, asked$n, no_privacy, records), 3)}."
      ),
      i = "Ask for a larger {.arg error}, or plan for more rows."
    ), call = call)
  }
  asked
}

# The smallest value in [low, high] from which on all that were tried reach the goal; NA for none.
# The error falls but for a step up where the filter comes in, so a grid finds the last failure and
# halving the place, to nine digits, from the side that reaches.
last_crossing <- function(reached, low, high) {
  grid <- exp(seq(log(low), log(high), length.out = 121))
  good <- vapply(grid, reached, logical(1))
  if (!good[[length(grid)]]) {
    return(NA_real_)
  }
  if (all(good)) {
    return(low)
  }
  last <- max(which(!good))
  from <- log(grid[[last]])
  to <- log(grid[[last + 1]])
  while (to - from > 1e-9) {
    middle <- (from + to) / 2
    if (reached(exp(middle))) to <- middle else from <- middle
  }
  exp(to)
}

new_mean_plan <- function(setting, found, solved) {
  records <- planned_records(setting)
  parts <- mean_errors(setting, found$n, found$rho, records)
  error <- sqrt(sum(parts[c("sampling", "privacy", "start")]))
  budget <- planned_budget(setting, found$n, found$rho)
  structure(list(
    n = found$n,
    rho = found$rho,
    error = error,
    parts = sqrt(parts[c("sampling", "privacy", "start")]),
    column_error = error / sqrt(setting$d),
    n_without_privacy = rows_without_privacy(setting, error, records),
    radius = parts[["radius"]],
    shares = planned_shares(budget, found$rho),
    filter = budget$filter,
    d = setting$d,
    distribution = setting$distribution,
    setting = setting,
    solved = solved
  ), class = "confide_mean_plan")
}

# Sampling alone, from a start at the centre.
rows_without_privacy <- function(setting, error, records) {
  setting$start <- 0
  max(1, ceiling((planned_error(setting, 1e9, no_privacy, records) / error)^2 * 1e9 * (1 - 1e-9)))
}

distribution_words <- c(
  gaussian = "normal data", t3 = "tails of Student's t, 3 df", cauchy = "tails of a Cauchy law"
)

#' @export
format.confide_mean_plan <- function(x, ...) {
  mark <- function(what) if (x$solved == what) "  <- computed" else ""
  spent <- x$shares[x$shares > 0]
  c(
    sprintf(
      "<plan for a private mean>  balloon, %s, %s",
      plural(x$d, "column"), distribution_words[[x$distribution]]
    ),
    sprintf("rows         n = %s%s", format_count(x$n), mark("n")),
    sprintf("rho          %s%s", format_epsilon(x$rho), mark("rho")),
    sprintf(
      "error        root mean square in whitened units = %s%s",
      format_number(x$error), mark("error")
    ),
    sprintf(
      "made of      %s",
      paste(names(x$parts), vapply(x$parts, format_number, "", digits = 3), collapse = ", ")
    ),
    sprintf(
      "each column  standard error %s standard deviations", format_number(x$column_error, 3)
    ),
    sprintf(
      "spent on     %s", paste0(names(spent), " ", format_number(100 * spent, 3), " %",
        collapse = ", "
      )
    ),
    sprintf("without privacy the same error needs n = %s", format_count(x$n_without_privacy)),
    verdict_on_plan(x)
  )
}

# Ramsay et al. (2026) and simulations: below about 1.2 d / rho rows the noise widens the radius,
# and the radius the noise.
verdict_on_plan <- function(plan) {
  needed <- rows_for_shape(plan$setting, plan$rho)
  if (plan$n < needed) {
    return(sprintf(
      "NOTE: sigma = \"diag\" needs %s; give a matrix or \"none\"", plural(needed, "row")
    ))
  }
  if (plan$n < 1.2 * plan$d / plan$rho) {
    return("NOTE: below about 1.2 d / rho rows a few estimates go far astray")
  }
  if (plan$column_error > 0.5) {
    return("NOTE: the error is half a standard deviation a column, or more: of no use")
  }
  if (plan$parts[["privacy"]] > plan$parts[["sampling"]]) {
    return("NOTE: privacy costs more than sampling; doubling the rows halves its part")
  }
  "NOTE: outliers add a bias that is not in here: see ?private_mean"
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_mean_plan <- function(object, ...) {
  check_dots_empty(...)
  n <- unique(pmax(1, round(object$n * 10^seq(-1.5, 1.5, length.out = 61))))
  records <- planned_records(object$setting)
  errors <- lapply(c(object$rho, no_privacy), function(rho) {
    vapply(n, function(rows) planned_error(object$setting, rows, rho, records), numeric(1))
  })
  draw_plan_curves(object, n, errors[[1]], errors[[2]]) +
    ggplot2::labs(
      x = "rows", y = "root mean square error, whitened", linetype = NULL,
      caption = sprintf(
        "%s, %s; zero-concentrated differential privacy, rho = %s per row",
        plural(object$d, "column"), distribution_words[[object$distribution]],
        format_epsilon(object$rho)
      )
    ) +
    plot_theme()
}

#' @rdname plots
#' @export
plot.confide_mean_plan <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}
