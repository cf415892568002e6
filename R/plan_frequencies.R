#' Plan a survey of frequencies
#'
#' How many reports, how much privacy, or how small an error: give two of `n`, `error` and
#' `epsilon`, and get the third, in the manner of [stats::power.prop.test()]. The error is the
#' standard error of the unbiased estimate of a cell's share where all cells are equally common,
#' with sampling and randomization both counted.
#'
#' The relative variance of such a cell of a table of attributes with \eqn{r_j} levels is
#' \eqn{(\prod_j (1 + (r_j - 1) / \lambda_j^2) - 1) / n} (Ruiz 2026). It grows like the product of
#' \eqn{1 / \lambda^2}: the method takes away the computational curse of dimensionality, not the
#' statistical one. With noise of your own cells have errors of different size; the error is then
#' the root of their mean square.
#'
#' @param levels What the attributes are: whole numbers (their sizes, named or not, each at least
#'   2), a named list or data frame as [mech_lambda()] takes it, or the labels of a single
#'   attribute.
#' @param ... Unused; catches misspelt arguments.
#' @param n (whole number above 0, or `NULL`) Number of reports.
#' @param error (number above 0, or `NULL`) Standard error to reach.
#' @param epsilon (numbers above 0, or `NULL`) Privacy parameter of each attribute, matched as in
#'   [mech_lambda()]; the record's is their sum.
#' @param lambda (numbers in (0, 1], or `NULL`) Instead of `epsilon`: probability of keeping the
#'   truth.
#' @param way (whole number) How many attributes the table has whose cells are estimated. Default:
#'   all. Of more attributes those with the most levels per lambda are planned for, the hardest
#'   table. With a single size in `levels`, the number of attributes of that size.
#' @param scale (`"absolute"` or `"relative"`) Whether `error` is the standard error of the share or
#'   that divided by the share.
#' @param noise (list of probability vectors, named by attributes, or `NULL`) As in
#'   [mech_lambda()]: from which distribution a replaced answer is drawn. Uniform where left out.
#' @param mechanism (`"lambda"`, `"rr"` or `"block"`) Kind of mechanism; `"rr"` and `"block"`, which
#'   plans for any design within one per cent of the least risk ([mech_block()]), are for one
#'   attribute, with uniform noise.
#' @returns A list of class `confide_plan`: `$n` (whole, rounded up), `$error` (as reached with it
#'   when n is asked for), `$relative_error`, `$epsilon` and `$lambda` (named, one number an
#'   attribute; all equal when epsilon is asked for), `$joint_epsilon` (of a record), `$levels`
#'   (sizes), `$table` (names of the table's attributes), `$way`, `$scale`, `$n_without_privacy`
#'   (reports that the same error needs without randomization), `$solved` (`"n"`, `"error"` or
#'   `"epsilon"`), `$mechanism`, `$noise` (where it is not uniform). It has `print()`, `plot()` and
#'   `autoplot()`.
#' @section Errors:
#' `confide_error_parameter` unless exactly one of n, error and epsilon (or lambda) is left out, for
#' values outside their range, and where no epsilon reaches the error with n reports.
#' @references
#' Ruiz, N. (2026). Lambda-randomization: multi-dimensional randomized response made easy. arXiv
#' 2603.05261.
#' @family planning
#' @seealso [plan_alpha()] for the order of a certificate
#' @examples
#' plan_frequencies(5, lambda = 0.9, error = 0.1, scale = "relative", way = 2)
#' plan_frequencies(c(age = 6, income = 2), n = 5000, error = 0.02)
#' plan_frequencies(c("no", "yes"), n = 1000, epsilon = 1)
#' @export
plan_frequencies <- function(levels, ..., n = NULL, error = NULL, epsilon = NULL, lambda = NULL,
                             way = NULL, scale = c("absolute", "relative"), noise = NULL,
                             mechanism = c("lambda", "rr", "block")) {
  check_dots_empty(...)
  check_required(levels, "Give the sizes of the attributes, or their levels.")
  scale <- check_choice(scale, c("absolute", "relative"))
  mechanism <- check_choice(mechanism, c("lambda", "rr", "block"))
  solved <- check_one_missing(n, error, epsilon, lambda)
  alphabets <- planned_alphabets(levels, way)
  sizes <- alphabet_sizes(alphabets)
  way <- if (is.null(way)) length(sizes) else check_whole_number(way, max = length(sizes))
  kind <- structure(
    list(scale = scale, way = way, noise = check_noise(noise, alphabets, rlang::current_env())),
    class = paste0("plan_", mechanism)
  )
  check_plannable(kind, sizes)
  if (solved != "n") {
    n <- check_whole_number(n)
  }
  if (solved != "error") {
    error <- check_positive(error, hint = error_hint)
  }
  epsilon <- if (solved == "epsilon") {
    smallest_epsilon(kind, sizes, n, error)
  } else {
    attribute_epsilon(sizes, lambda, epsilon)
  }
  if (!is.null(lambda)) {
    kind$lambda <- match_lambda(lambda, sizes)
    epsilon <- noise_epsilon(kind, epsilon)
  }
  check_in_reach(kind, sizes, epsilon, error)
  if (solved == "n") {
    n <- reports_needed(unit_error(kind, sizes, epsilon), error)
  }
  new_plan(kind, sizes, n, epsilon, solved)
}

# Which of the three is asked for; lambda stands for epsilon.
check_one_missing <- function(n, error, epsilon, lambda, call = rlang::caller_env()) {
  missing <- c(
    n = is.null(n), error = is.null(error), epsilon = is.null(epsilon) && is.null(lambda)
  )
  if (sum(missing) == 1 && (is.null(epsilon) || is.null(lambda))) {
    return(names(missing)[missing])
  }
  abort_parameter(c(
    "Exactly one of {.arg n}, {.arg error} and {.arg epsilon} (or {.arg lambda}) must be left out.",
    x = if (sum(missing) == 1) {
      "Both {.arg epsilon} and {.arg lambda} are given."
    } else {
      "Left out: {if (any(missing)) names(missing)[missing] else 'none of them'}."
    },
    i = "The one left out is computed from the others."
  ), call = call)
}

error_hint <- paste(
  "0.02 is two percentage points of people;",
  "with {.code scale = \"relative\"} 0.1 is a tenth of the share."
)

# Named alphabets. Bare numbers are sizes, everything else is a domain.
planned_alphabets <- function(levels, way, call = rlang::caller_env()) {
  if (is.list(levels)) {
    check_attributes(levels, call)
    return(new_alphabets(levels, match_na("error", names(levels)), call))
  }
  if (!is.numeric(levels) || is.object(levels)) {
    return(list(level = new_alphabet(levels, call = call)))
  }
  sizes <- as.list(planned_sizes(levels, way, call))
  new_alphabets(sizes, match_na("error", names(sizes)), call)
}

planned_sizes <- function(levels, way, call) {
  sizes <- check_numbers(levels, "whole and from 2 to 2^31 - 1", function(x) {
    is.finite(x) & x == round(x) & x >= 2 & x <= max_levels
  }, call = call)
  if (length(sizes) == 1 && !is.null(way)) {
    sizes <- rep(sizes, check_whole_number(way, max = 1000, call = call))
    return(stats::setNames(sizes, paste0("attribute", seq_along(sizes))))
  }
  names <- names(levels) %||% paste0("attribute", seq_along(sizes))
  check_attribute_names(names, call)
  stats::setNames(sizes, names)
}

# The hooks of a kind of mechanism. A new kind needs a method of planned_variance() for the class
# plan_<kind>, and its name among the choices above; the rest has defaults.

# n times the relative variance of the estimated share of a cell, all cells being equally common.
# sizes and epsilon are those of the table's attributes.
planned_variance <- function(kind, sizes, epsilon) UseMethod("planned_variance")

# Refuses what the kind cannot do.
check_plannable <- function(kind, sizes, call = rlang::caller_env()) UseMethod("check_plannable")

#' @exportS3Method
check_plannable.default <- function(kind, sizes, call = rlang::caller_env()) {
  if (length(kind$noise) > 0) {
    abort_parameter(c(
      "Noise of your own needs {.code mechanism = \"lambda\"}.",
      x = "{.arg noise} is given for another mechanism."
    ), call = call)
  }
  if (length(sizes) == 1) {
    return(invisible())
  }
  abort_parameter(c(
    "This kind of mechanism is for one attribute.",
    x = "There are {length(sizes)}.",
    i = "{.code mechanism = \"lambda\"} takes several."
  ), call = call)
}

#' @exportS3Method
check_plannable.plan_lambda <- function(kind, sizes, call = rlang::caller_env()) {
  invisible()
}

#' @exportS3Method
planned_variance.plan_lambda <- function(kind, sizes, epsilon) {
  product_variance(planned_spreads(kind, sizes, epsilon))
}

#' @exportS3Method
planned_variance.plan_rr <- planned_variance.plan_lambda

# What mech_block() promises with its default tolerance.
#' @exportS3Method
planned_variance.plan_block <- function(kind, sizes, epsilon) {
  unname(sizes) * smallest_risk(unname(sizes), unname(epsilon)) * 1.01
}

# Ruiz 2026: n times the relative variance of a cell of the uniform table. 1 less than the product
# of the relative second moments; summed so that nothing cancels.
product_variance <- function(spreads) {
  expm1(sum(log1p(spreads)))
}

# The same of one-way tables.
planned_spreads <- function(kind, sizes, epsilon) {
  lambda <- planned_lambda(kind, sizes, epsilon)
  spreads <- (sizes - 1) / lambda^2
  for (name in intersect(names(sizes), names(kind$noise))) {
    spreads[[name]] <- noise_spread(lambda[[name]], kind$noise[[name]])
  }
  spreads
}

# As it was given, else from epsilon.
planned_lambda <- function(kind, sizes, epsilon) {
  if (!is.null(kind$lambda)) {
    return(kind$lambda[names(sizes)])
  }
  lambda <- lambda_of(epsilon, sizes)
  for (name in intersect(names(sizes), names(kind$noise))) {
    lambda[[name]] <- noise_lambda(kind$noise[[name]], epsilon[[name]], name, rlang::caller_env())
  }
  lambda
}

# attribute_epsilon() is for uniform noise.
noise_epsilon <- function(kind, epsilon) {
  for (name in names(kind$noise)) {
    lambda <- kind$lambda[[name]]
    epsilon[[name]] <- log1p(lambda / ((1 - lambda) * min(kind$noise[[name]])))
  }
  epsilon
}

lambda_of <- function(epsilon, sizes) {
  -expm1(-epsilon) / (1 + (sizes - 1) * exp(-epsilon))
}

# The attributes of the table that is hardest to estimate.
hardest_table <- function(kind, sizes, epsilon) {
  spreads <- planned_spreads(kind, sizes, epsilon)
  sort(order(spreads, decreasing = TRUE)[seq_len(kind$way)])
}

# sqrt(n) times the standard error, on the scale asked for.
unit_error <- function(kind, sizes, epsilon) {
  table <- hardest_table(kind, sizes, epsilon)
  relative <- sqrt(planned_variance(kind, sizes[table], epsilon[table]))
  if (kind$scale == "relative") relative else relative / prod(sizes[table])
}

# The same where every answer is true: sampling alone.
unprotected_error <- function(kind, cells) {
  if (kind$scale == "relative") sqrt(cells - 1) else sqrt(cells - 1) / cells
}

# Beyond the whole numbers that doubles hold there is nothing to plan.
check_in_reach <- function(kind, sizes, epsilon, error, call = rlang::caller_env()) {
  needed <- reports_needed(unit_error(kind, sizes, epsilon), error %||% Inf)
  if (isTRUE(needed <= 2^53)) {
    return(invisible())
  }
  abort_parameter(c(
    "The plan must not need more than 2^53 reports.",
    x = "It does: the table has {format_number(prod(sizes), 3)} cells.",
    i = "Estimate smaller tables ({.arg way}), or allow a larger {.arg error}."
  ), call = call)
}

# Rounded up, but not for the last digit of a double.
reports_needed <- function(unit_error, error) {
  max(1, ceiling((unit_error / error)^2 * (1 - 1e-12)))
}

# The same epsilon for all attributes: the smallest at which n reports reach the error. The error
# falls in epsilon, so halving an interval finds it; on the scale of its logarithm, and from the
# safe side.
smallest_epsilon <- function(kind, sizes, n, error, call = rlang::caller_env()) {
  equal <- function(log_epsilon) stats::setNames(rep(exp(log_epsilon), length(sizes)), names(sizes))
  reached <- function(log_epsilon) unit_error(kind, sizes, equal(log_epsilon)) <= error * sqrt(n)
  high <- log(44)
  if (!reached(high)) {
    needed <- reports_needed(unit_error(kind, sizes, equal(high)), error)
    abort_parameter(c(
      "{.arg n} and {.arg error} must be within reach of some epsilon.",
      x = sprintf(
        "Even without privacy this error needs %s; n is %s.",
        plural(needed, "report"), format_count(n)
      ),
      i = "Ask for a larger {.arg error}, more reports, or a smaller table ({.arg way})."
    ), call = call)
  }
  low <- log(1e-12)
  if (reached(low)) {
    return(equal(low))
  }
  while (high - low > 1e-14) {
    middle <- (low + high) / 2
    if (reached(middle)) high <- middle else low <- middle
  }
  equal(high)
}

new_plan <- function(kind, sizes, n, epsilon, solved) {
  table <- hardest_table(kind, sizes, epsilon)
  cells <- prod(sizes[table])
  error <- unit_error(kind, sizes, epsilon) / sqrt(n)
  structure(list(
    n = n,
    error = error,
    relative_error = if (kind$scale == "relative") error else error * cells,
    epsilon = epsilon,
    joint_epsilon = sum_rounded_up(unname(epsilon)),
    lambda = if (inherits(kind, c("plan_lambda", "plan_rr"))) {
      planned_lambda(kind, sizes, epsilon)
    },
    noise = if (length(kind$noise) > 0) kind$noise,
    levels = sizes,
    table = names(sizes)[table],
    way = kind$way,
    scale = kind$scale,
    n_without_privacy = reports_needed(unprotected_error(kind, cells), error),
    solved = solved,
    mechanism = sub("^plan_", "", class(kind))
  ), class = "confide_plan")
}

plan_kind <- function(plan) {
  structure(
    list(scale = plan$scale, way = plan$way, noise = plan$noise, lambda = plan$lambda),
    class = paste0("plan_", plan$mechanism)
  )
}

#' @export
format.confide_plan <- function(x, ...) {
  sizes <- x$levels[x$table]
  mark <- function(what) if (x$solved == what) "  <- computed" else ""
  c(
    sprintf(
      "<plan for frequencies>  %s, %s",
      plural(length(x$levels), "attribute"),
      switch(x$mechanism, lambda = "lambda-randomization", rr = "randomized response",
        block = "block design", x$mechanism)
    ),
    sprintf("reports      n = %s%s", format_count(x$n), mark("n")),
    sprintf(
      "error        %s standard error of a cell = %s%s", x$scale,
      format_number(x$error), mark("error")
    ),
    sprintf(
      "epsilon      %s%s%s", format_range(x$epsilon, format_epsilon),
      if (length(x$levels) > 1) {
        sprintf(" an attribute, %s a record", format_epsilon(x$joint_epsilon))
      } else {
        ""
      },
      mark("epsilon")
    ),
    if (!is.null(x$lambda)) {
      sprintf("lambda       %s", format_range(x$lambda, function(value) format_number(value, 3)))
    },
    if (!is.null(x$noise)) {
      shorten(paste("noise        of its own:", paste(names(x$noise), collapse = ", ")), 78L)
    },
    sprintf(
      "table        %s, a typical share is %s", format_sizes(sizes),
      format_number(1 / prod(sizes), 3)
    ),
    sprintf("without privacy the same error needs n = %s", format_count(x$n_without_privacy)),
    if (x$relative_error > 0.5) {
      "NOTE: the error is over half of a typical share; such a table says little"
    }
  )
}

format_range <- function(values, one) {
  ends <- c(one(min(values)), one(max(values)))
  if (ends[[1]] == ends[[2]]) ends[[1]] else paste(ends, collapse = " to ")
}

# The product of the sizes, spelt out while it is short.
format_sizes <- function(sizes) {
  if (length(sizes) == 1) {
    return(plural(sizes, "level"))
  }
  product <- paste(sizes, collapse = " x ")
  sprintf(
    "%s = %s cells",
    if (nchar(product) <= 24) product else paste("product of", length(sizes), "sizes"),
    format_cells(prod(sizes))
  )
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_plan <- function(object, ...) {
  check_dots_empty(...)
  kind <- plan_kind(object)
  n <- object$n * 10^seq(-1.5, 1.5, length.out = 61)
  cells <- prod(object$levels[object$table])
  protected <- unit_error(kind, object$levels, object$epsilon) / sqrt(n)
  draw_plan_curves(object, n, protected, unprotected_error(kind, cells) / sqrt(n)) +
    ggplot2::labs(
      x = "reports", y = sprintf("%s standard error\nof a cell", object$scale), linetype = NULL,
      caption = sprintf(
        "%s; local differential privacy, epsilon = %s per person",
        format_sizes(object$levels[object$table]), format_epsilon(object$joint_epsilon)
      )
    ) +
    plot_theme()
}

# Errors of n reports (or rows) with and without privacy, and the plan's own point.
draw_plan_curves <- function(plan, n, protected, unprotected) {
  curves <- c("with privacy", "without privacy")
  rows <- data.frame(
    n = rep(n, 2), error = c(protected, unprotected),
    curve = factor(rep(curves, each = length(n)), curves)
  )
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$n, y = .data$error)) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$curve)) +
    ggplot2::geom_point(data = data.frame(n = plan$n, error = plan$error), size = 2.5) +
    ggplot2::scale_x_log10(labels = format_count_axis) +
    ggplot2::scale_y_log10()
}

format_percent_axis <- function(x) paste(format(100 * x, trim = TRUE, digits = 2), "%")

format_count_axis <- function(x) format(x, big.mark = ",", scientific = FALSE, trim = TRUE)

#' @rdname plots
#' @export
plot.confide_plan <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

#' Which tables a survey can support
#'
#' For each number of attributes, the relative standard error of a typical cell of a table of so
#' many attributes, \eqn{\sqrt{(\prod_j (1 + (r_j - 1) / \lambda_j^2) - 1) / n}} (Ruiz 2026): look
#' before asking [estimate()] for a large `margin`. A cell is typical when all are equally common;
#' the rarer it is, the larger its relative error.
#'
#' @param mechanism (mechanism) Made by [mech_lambda()] or [mech_rr()], epsilon above 0.
#' @param n (whole number above 0) Number of reports.
#' @param ... Unused; catches misspelt arguments.
#' @param error (number above 0) Relative standard error up to which a table counts as feasible.
#' @returns A data frame of class `confide_feasibility` with a row for each number of attributes and
#'   columns `way` (that number), `easiest` and `hardest` (relative standard errors, of the best and
#'   the worst choice of so many attributes), `needed` (reports that bring the hardest to `error`),
#'   `feasible` (`"all"`, `"some"` or `"none"` of the tables). `plot()` and `autoplot()` draw it.
#' @section Errors:
#' `confide_error_parameter` for another mechanism, epsilon 0, and n or error outside their range.
#' @references Ruiz, N. (2026). arXiv 2603.05261.
#' @family planning
#' @examples
#' m <- mech_lambda(list(a = 5, b = 5, c = 5, d = 2), lambda = c(0.9, 0.8, 0.7, 0.9))
#' feasible_tables(m, n = 10000)
#' @export
feasible_tables <- function(mechanism, n, ..., error = 0.1) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(n, "Give the number of reports.")
  parts <- entropy_parts(mechanism)
  n <- check_whole_number(n)
  error <- check_positive(error, hint = error_hint)
  if (any(parts$lambda == 0)) {
    abort_parameter(c(
      "{.arg mechanism} must let something be estimated.",
      x = "Its reports hold no information: epsilon is 0, or too small for the sampler's integers."
    ))
  }
  factors <- sort(log1p(unname(attribute_spreads(mechanism, parts))))
  easiest <- sqrt(expm1(cumsum(factors)) / n)
  hardest <- sqrt(expm1(cumsum(rev(factors))) / n)
  feasible <- ifelse(hardest <= error, "all", ifelse(easiest <= error, "some", "none"))
  structure(
    data.frame(
      way = seq_along(factors),
      easiest = easiest,
      hardest = hardest,
      needed = vapply(hardest * sqrt(n), reports_needed, numeric(1), error = error),
      feasible = factor(feasible, c("all", "some", "none"))
    ),
    class = c("confide_feasibility", "data.frame"),
    confide = list(n = n, error = error, epsilon = claimed_epsilon(mechanism))
  )
}

#' @export
format.confide_feasibility <- function(x, ..., n = 8L) {
  n <- check_shown(n)
  about <- attr(x, "confide")
  rows <- as.data.frame(unclass(x))
  shown <- utils::head(rows, n)
  for (name in c("easiest", "hardest")) shown[[name]] <- format_number(shown[[name]], 3)
  shown$needed <- format_number(shown$needed, 15)
  c(
    sprintf(
      "<feasible tables>  %s, epsilon = %s", plural(about$n, "report"),
      format_epsilon(about$epsilon)
    ),
    utils::capture.output(print(shown, row.names = FALSE)),
    format_rest(nrow(rows), n, "size"),
    sprintf("relative standard errors of a typical cell; feasible: at most %s", about$error)
  )
}

#' @export
print.confide_feasibility <- function(x, ...) {
  # A part that lost a column is an ordinary data frame.
  whole <- all(c("easiest", "hardest", "needed") %in% names(x)) && !is.null(attr(x, "confide"))
  if (whole) writeLines(format(x)) else print(as.data.frame(unclass(x)))
  invisible(x)
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_feasibility <- function(object, ...) {
  check_dots_empty(...)
  about <- attr(object, "confide")
  if (is.null(about)) {
    abort_parameter(c(
      "{.arg object} must be what {.fn feasible_tables} returned, whole.",
      x = "It lost what it knows of its survey."
    ))
  }
  rows <- as.data.frame(unclass(object))
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$way, ymin = .data$easiest, ymax = .data$hardest)) +
    ggplot2::geom_hline(yintercept = about$error, linetype = "dashed", colour = "grey50") +
    ggplot2::geom_linerange(colour = "grey60") +
    ggplot2::geom_point(ggplot2::aes(y = .data$hardest, shape = .data$feasible), size = 2.5) +
    ggplot2::scale_shape_manual(values = c(all = 16, some = 1, none = 4), drop = FALSE) +
    ggplot2::scale_x_continuous(breaks = rows$way) +
    ggplot2::scale_y_log10(labels = format_percent_axis) +
    ggplot2::labs(
      x = "attributes in the table", y = "relative standard error\nof a typical cell",
      shape = "tables within the line",
      caption = sprintf(
        "%s; points: hardest table; local differential privacy, epsilon = %s per person",
        plural(about$n, "report"), format_epsilon(about$epsilon)
      )
    ) +
    plot_theme()
}

#' @rdname plots
#' @export
plot.confide_feasibility <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}
