#' Tests of log-linear models of the true table
#'
#' Tests a hierarchical log-linear model of the *true* attributes from randomized reports, by a
#' likelihood ratio: \eqn{2 [l(\text{saturated}) - l(\text{model})]}, both maximised by EM over what
#' the reports hide. This is the test of conditional independence given a randomized attribute. A
#' test that stratifies on the reports of that attribute is wrong: randomization mixes the strata,
#' and attributes that are independent within each true stratum are dependent within the reported
#' ones. Independence of two attributes without a third needs none of this; see [private_test()].
#'
#' @inheritParams private_test
#' @param mechanism (mechanism) Made by [mech_lambda()].
#' @param model (formula, or list of character vectors) The model: a one-sided formula such as
#'   `~ a * z + b * z`, or its generating class as in [stats::loglin()], such as
#'   `list(c("a", "z"), c("b", "z"))`. Terms below the given ones are always in the model. The table
#'   is that of the attributes named; others are summed over.
#' @param structural_zeros (logical array, table or vector, or data frame of cells) Cells that
#'   cannot be, as in [estimate()]. An array has the attributes of the model as dimensions, in the
#'   order of the mechanism.
#' @param draws (whole number) 0 (default): the p-value of the chi-squared law. Otherwise the number
#'   of parametric bootstrap tables, drawn with R's generator (`set.seed()` works), that the p-value
#'   is based on; useful where an estimate lies on the boundary.
#' @param max_cells (whole number) Largest table, 2^16 by default.
#' @param control (list) As in [estimate()]; the default tolerance is 1e-10.
#' @returns An object of class `"htest"` with `statistic` (LR), `parameter` (degrees of freedom),
#'   `p.value`, `method`, `data.name`, `observed` (reports), `fitted` and `saturated` (true shares,
#'   arrays: under the model and without it), `boundary` (logical), `converged` (logical),
#'   `privacy`.
#' @section The chi-squared law:
#' holds in large samples when both maxima lie inside: every possible cell has a positive share.
#' Noise often puts one on the boundary, the more so the smaller lambda; then the test tends to
#' reject too rarely. The method text says which case it is; `draws` gives a p-value that does not
#' rest on the law. Without structural zeros the degrees of freedom are those of
#' [stats::loglin()]; with them, the rank of the model on the possible cells is counted.
#' @section Errors:
#' `confide_error_parameter` for a model that is saturated, has a response or names something other
#' than attributes, zeros that leave no possible cell or contradict the reports, weights, too large
#' a table; `confide_error_domain` and `confide_error_mechanism` as in [count_reports()].
#' @references
#' van den Hout, A. and van der Heijden, P. G. M. (2004). The analysis of multivariate misclassified
#' data with special attention to randomized response data. *Sociological Methods and Research* 32,
#' 384-410. \doi{10.1177/0049124103257440}
#'
#' Ruiz, N. (2026). Lambda-randomization. arXiv 2603.05261.
#'
#' Meng, X.-L. and Rubin, D. B. (1993). Maximum likelihood estimation via the ECM algorithm.
#' *Biometrika* 80, 267-278. \doi{10.1093/biomet/80.2.267}
#' @examples
#' m <- mech_lambda(list(a = 2, b = 2, z = 2), lambda = 0.8)
#' people <- expand.grid(a = 1:2, b = 1:2, z = 1:2)[rep(1:8, c(90, 30, 30, 10, 10, 30, 30, 90)), ]
#' log_linear_test(privatize(people, m), m, ~ a * z + b * z)
#' @export
log_linear_test <- function(x, mechanism, model, ..., structural_zeros = NULL, draws = 0,
                            count = NULL, max_cells = 2^16, control = list()) {
  check_dots_empty(...)
  check_lambda_mechanism(mechanism)
  check_required(x, "Give reports or counts.")
  check_required(model, "Give a formula such as ~ a * z + b * z, or a list of margins.")
  margins <- model_margins(model, names(mechanism$alphabets))
  margin <- intersect(names(mechanism$alphabets), unlist(margins))
  check_informative(mechanism, margin)
  domain <- levels(mechanism)[margin]
  check_table_size(
    prod(lengths(domain)), check_whole_number(max_cells), "Name fewer attributes in {.arg model}."
  )
  draws <- check_whole_number(draws, min = 0, max = 1e6)
  control <- check_control(control, list(max_evaluations = 20000, tolerance = 1e-10))
  possible <- support_of(structural_zeros, mechanism, margin)
  problem <- list(
    sizes = lengths(domain), margins = lapply(margins, match, margin), possible = possible,
    lambda = unname(mechanism$lambda[margin]),
    noise = lapply(margin, function(name) attribute_noise(mechanism, name)),
    control = control
  )
  df <- model_freedom(problem)
  counts <- as_counts(x, mechanism, NULL, count)
  refuse_weights(counts)
  check_some_reports(counts)
  observed <- tabulate_margin(counts, counts$sizes, match(margin, names(counts$sizes)))$total
  check_possible_reports(observed, possible, c(list(type = "product"), problem))
  fit <- likelihood_ratio(observed, problem)
  p_value <- if (draws == 0) {
    stats::pchisq(fit$statistic, df, lower.tail = FALSE)
  } else {
    bootstrap_p_value(fit, sum(observed), problem, draws)
  }
  as_array <- function(cells) array(cells, lengths(domain), domain)
  structure(list(
    statistic = c(LR = fit$statistic), parameter = c(df = df), p.value = p_value,
    method = log_linear_name(fit, draws),
    data.name = tested_data(paste("reports on", format_margins(margins)), counts$privacy),
    observed = as_array(observed), fitted = as_array(fit$model),
    saturated = as_array(fit$saturated),
    boundary = fit$boundary, converged = fit$converged, privacy = counts$privacy
  ), class = "htest")
}

# The model -----------------------------------------------------------------------

# The generating class: the largest terms, as names of attributes.
model_margins <- function(model, attributes, call = rlang::caller_env()) {
  terms <- if (inherits(model, "formula")) formula_margins(model, call) else model
  legal <- is.list(terms) && !is.object(terms) && length(terms) > 0 &&
    all(vapply(terms, is.character, logical(1))) && all(lengths(terms) > 0)
  if (!legal) {
    abort_parameter(c(
      "{.arg model} must be a one-sided formula, or a list of character vectors.",
      x = "It is {describe(model)}.",
      i = "For example {.code ~ a * z + b * z} or {.code list(c(\"a\", \"z\"), c(\"b\", \"z\"))}."
    ), call = call)
  }
  unknown <- setdiff(unlist(terms), attributes)
  if (length(unknown) > 0) {
    abort_parameter(c(
      "{.arg model} must name attributes of the mechanism.",
      x = "Not one of them: {enumerate_names(unknown)}.",
      i = "They are {enumerate_names(attributes, 8L)}."
    ), call = call)
  }
  terms <- unique(lapply(unname(terms), function(term) sort(unique(term))))
  inside_another <- vapply(seq_along(terms), function(i) {
    any(vapply(terms[-i], function(other) all(terms[[i]] %in% other), logical(1)))
  }, logical(1))
  terms[!inside_another]
}

formula_margins <- function(formula, call) {
  if (length(formula) != 2) {
    abort_parameter(c(
      "{.arg model} must be a one-sided formula: no variable is the response.",
      i = "Write {.code ~ a * z + b * z}."
    ), call = call)
  }
  parsed <- tryCatch(stats::terms(formula), error = function(error) NULL)
  factors <- attr(parsed, "factors")
  if (is.null(parsed) || length(factors) == 0 || !is.null(attr(parsed, "offset"))) {
    abort_parameter(c(
      "{.arg model} must be a formula of attributes, {.code *}, {.code :} and {.code +}.",
      x = "It has other parts, or none.",
      i = "Write {.code ~ a * z + b * z}."
    ), call = call)
  }
  names <- unquote_names(rownames(factors))
  unname(lapply(seq_len(ncol(factors)), function(j) names[factors[, j] > 0]))
}

# Names that are not syntactic stand in backquotes in terms objects.
unquote_names <- function(names) {
  gsub("^`(.*)`$", "\\1", names)
}

format_margins <- function(margins) {
  each <- vapply(margins, paste, character(1), collapse = " ")
  shorten(paste0("[", each, "]", collapse = ""), 70L)
}

# Free shares of the saturated model less those of the model.
model_freedom <- function(problem, call = rlang::caller_env()) {
  parameters <- if (all(problem$possible)) {
    terms <- unique(unlist(lapply(problem$margins, subsets), recursive = FALSE))
    sum(vapply(terms, function(term) prod(problem$sizes[term] - 1), numeric(1)))
  } else {
    rank_on_possible(problem)
  }
  df <- as.numeric(sum(problem$possible) - parameters)
  if (df < 1) {
    abort_parameter(c(
      "{.arg model} must be smaller than the saturated model.",
      x = "It has as many parameters as the table has possible cells: there is nothing to test.",
      i = "Leave out an interaction, for example {.code ~ a * z + b * z} for a and b given z."
    ), call = call)
  }
  df
}

# All subsets, the empty one (the constant) included.
subsets <- function(term) {
  lapply(0:(2^length(term) - 1), function(bits) {
    sort(term[bitwAnd(bits, 2^(seq_along(term) - 1)) > 0])
  })
}

# Rank of the indicators of all generating margins over the possible cells.
rank_on_possible <- function(problem) {
  grid <- as.matrix(expand.grid(lapply(problem$sizes, seq_len)))[problem$possible, , drop = FALSE]
  indicators <- lapply(problem$margins, function(margin) {
    cell <- do.call(paste, as.data.frame(grid[, margin, drop = FALSE]))
    outer(cell, unique(cell), `==`) + 0
  })
  qr(do.call(cbind, indicators), tol = 1e-9)$rank
}

# The fits -------------------------------------------------------------------------

boundary_share <- 1e-6

likelihood_ratio <- function(observed, problem) {
  reported <- observed / sum(observed)
  saturated <- saturated_fit(reported, problem)
  model <- model_fit(reported, saturated$shares, problem)
  smallest <- min(saturated$shares[problem$possible], model$shares[problem$possible])
  list(
    # rounding and the tolerance of EM may leave a difference just below 0
    statistic = max(0, 2 * sum(observed) * (saturated$log_likelihood - model$log_likelihood)),
    saturated = saturated$shares, model = model$shares,
    boundary = smallest < boundary_share, converged = saturated$converged && model$converged
  )
}

# The moment estimate is the maximum where it is a distribution.
saturated_fit <- function(reported, problem) {
  if (all(problem$possible)) {
    shares <- lambda_apply(reported, problem$lambda, problem$noise, "inverse")
    if (all(shares >= 0)) {
      seen <- reported[reported > 0]
      return(list(shares = shares, log_likelihood = sum(seen * log(seen)), converged = TRUE))
    }
  }
  log_linear_saturated(
    reported, problem$lambda, problem$noise, which(problem$possible), problem$control
  )
}

# The likelihood under a model need not be concave: two starts, the better end. One is flat, the
# other fits the saturated estimate.
model_fit <- function(reported, saturated, problem) {
  flat <- problem$possible / sum(problem$possible)
  near <- log_linear_margins(flat, 0.9 * saturated + 0.1 * flat, problem$sizes, problem$margins)
  fits <- lapply(list(flat, near / sum(near)), function(start) {
    log_linear_fit(
      reported, problem$lambda, problem$noise, problem$sizes, problem$margins, start,
      problem$control
    )
  })
  fits[[which.max(vapply(fits, function(fit) fit$log_likelihood, numeric(1)))]]
}

# Davison and Hinkley (1997): the observed table counts as one of the draws.
bootstrap_p_value <- function(fit, n, problem, draws) {
  expected <- lambda_apply(fit$model, problem$lambda, problem$noise, "forward")
  tables <- stats::rmultinom(draws, n, expected)
  larger <- vapply(seq_len(draws), function(i) {
    likelihood_ratio(tables[, i], problem)$statistic >= fit$statistic
  }, logical(1))
  (1 + sum(larger)) / (draws + 1)
}

log_linear_name <- function(fit, draws) {
  law <- if (draws > 0) {
    sprintf("p-value from %s bootstrap tables", format_count(draws))
  } else if (fit$boundary) {
    "chi-squared law doubtful: an estimate is on the boundary, where it mostly rejects too rarely"
  } else {
    "chi-squared law: both optima are interior, as it needs"
  }
  sprintf(
    "Likelihood-ratio test of a log-linear model of the true table (%s%s)", law,
    if (fit$converged) "" else "; NOT CONVERGED: raise control$max_evaluations"
  )
}
