#' Estimate shares from reports
#'
#' Undoes the randomization: estimates the shares of the true values among the people, with standard
#' errors. The default is linear and unbiased; because noise is subtracted, single estimates can be
#' negative or above 1, and that is right: cutting them off would bias every sum. Other methods give
#' a proper distribution when one is wanted.
#'
#' @param x Reports or counts: all that [count_reports()] takes, or its result.
#' @param mechanism (mechanism) The one that made the reports.
#' @param ... Unused; catches misspelt arguments.
#' @param method (string) `"moment"` (default): the inverse of the channel, unbiased. `"ml"`:
#'   maximum likelihood over all distributions, in closed form for one attribute (Pinzon et al.
#'   2026), else by accelerated EM to a certified optimum. `"simplex"`: the nearest distribution to
#'   the moment estimate. `"clip"`: negative estimates set to 0 and the rest rescaled, for
#'   comparison with programs that do so silently; it is biased. `"canonical"`: for [mech_block()],
#'   whose moment estimate is centred to sum to 1 where its design is cut to size; the canonical one
#'   is not. Its errors are as large or larger for any true shares.
#' @param margin (names of attributes, or `NULL`) For [mech_lambda()]: which joint table to
#'   estimate, in this order. `NULL` (default): of all attributes, refused above `max_cells`.
#' @param weights,count As in [count_reports()].
#' @param target (`"population"` or `"file"`) What is estimated: shares in the population that the
#'   people were drawn from, or the table of just these people. The estimate is the same; for the
#'   file, standard errors hold the randomization only. Use it where a whole file was randomized by
#'   who holds it (post-randomization, PRAM).
#' @param structural_zeros (logical array, table or vector, or data frame of cells) For `"ml"`:
#'   cells that are known to be empty, such as pregnant men. An array over the table's levels,
#'   `TRUE` where empty, or a data frame with one row for each impossible combination, as `cells` of
#'   [estimate_cells()]; attributes without a column can be anything. They are 0 in the estimate.
#' @param max_cells (whole number) Largest joint table to build; 2^24 by default. For single cells
#'   of larger tables use [estimate_cells()].
#' @param control (list) For `"ml"`: `max_evaluations` of the EM map (default 20000) and
#'   `tolerance`, the largest change of a cell in one step at which the search ends (default 1e-12).
#' @returns An estimate of class `confide_estimate`. `coef()` gives the shares (named, in table
#'   order: first attribute fastest), `as.table()` the array, `vcov()` the covariance matrix and
#'   `$std_error` the standard errors, split into sampling and privacy where asked; `confint()`,
#'   `nobs()`, `summary()`, `as.data.frame()`, `tidy()`, `glance()`, `augment()`, `plot()`,
#'   `autoplot()` and, for `"ml"`, `logLik()`; see [estimate-methods].
#' @section Standard errors:
#' With `target = "population"` they cover both the randomization and the drawing of the people from
#' a large population, and divide by n - 1. With `target = "file"` they cover the randomization
#' alone (there is no n - 1, because the estimate of its variance is unbiased as it is). They are
#' those of the moment estimate for every method. With weights they are linearised. The other
#' methods move estimates inside the simplex, which mostly makes them closer to the truth than the
#' standard error says.
#' @section Errors:
#' `confide_error_parameter` for a mechanism with epsilon 0 or a channel whose rows are linearly
#' dependent (nothing can be estimated), no reports, a joint table above `max_cells`, structural
#' zeros with another method than `"ml"`, or ones that leave no cell or contradict the reports;
#' `confide_error_domain` and `confide_error_mechanism` as in [count_reports()].
#' @references
#' Ruiz, N. (2026). Lambda-randomization. arXiv 2603.05261.
#'
#' Pinzon, C. et al. (2026). arXiv 2601.08603.
#'
#' Varadhan, R. and Roland, C. (2008). Simple and globally convergent methods for accelerating the
#' convergence of any EM algorithm. *Scandinavian Journal of Statistics* 35, 335-353.
#' \doi{10.1111/j.1467-9469.2007.00585.x}
#' @examples
#' # The toy table of the paper's method: 200 reports of three attributes
#' reported <- array(
#'   c(30, 12, 7, 25, 18, 9, 14, 6, 22, 11, 5, 41), c(2, 3, 2),
#'   list(a = 1:2, b = 1:3, c = 1:2)
#' )
#' m <- mech_lambda(list(a = 2, b = 3, c = 2), lambda = c(.8, .6, .5))
#' estimate(as.table(reported), m, margin = "b")
#' coef(estimate(as.table(reported), m, method = "ml"))
#' @export
estimate <- function(x, mechanism, ...,
                     method = c("moment", "ml", "simplex", "clip", "canonical"),
                     margin = NULL, weights = NULL, count = NULL,
                     target = c("population", "file"), structural_zeros = NULL, max_cells = 2^24,
                     control = list()) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(x, "Give reports or counts.")
  method <- check_choice(method, c("moment", "ml", "simplex", "clip", "canonical"))
  check_canonical(method, mechanism)
  target <- check_choice(target, c("population", "file"))
  request <- list(
    margin = check_margin(margin, mechanism),
    max_cells = check_whole_number(max_cells),
    control = check_control(control, list(max_evaluations = 20000, tolerance = 1e-12)),
    target = target,
    estimator = if (method == "canonical") method
  )
  check_informative(mechanism, request$margin)
  counts <- as_counts(x, mechanism, weights, count)
  check_some_reports(counts)
  refuse_zeros(structural_zeros, method)
  decoded <- decode(mechanism, counts, request)
  if (!is.null(structural_zeros)) {
    decoded$possible <- support_of(structural_zeros, mechanism, request$margin)
    check_possible_reports(decoded$reported$total, decoded$possible, decoded$decoder)
  }
  finish_estimate(decoded, method, mechanism, counts, request)
}

# The linear estimate, by the structure of the mechanism: a list of estimate, std_error, reported
# (total, and square where weighted), decoder (what report_values() needs) and dimnames.
decode <- function(mechanism, counts, request, call = rlang::caller_env()) UseMethod("decode")

# `attributes` are those whose truth is asked for.
check_informative <- function(mechanism, attributes = NULL, call = rlang::caller_env()) {
  UseMethod("check_informative")
}

#' @exportS3Method
check_informative.confide_lambda <- function(mechanism, attributes = NULL,
                                             call = rlang::caller_env()) {
  lambda <- mechanism$lambda[attributes %||% names(mechanism$lambda)]
  silent <- names(lambda)[lambda == 0]
  if (length(silent) > 0) {
    abort_parameter(c(
      "{.arg mechanism} must tell the true values of each attribute apart.",
      x = "With so small an epsilon the sampler's integers realise lambda 0 in
        {enumerate_names(silent)}.",
      i = "Leave such attributes out of what is asked."
    ), call = call)
  }
}

#' @exportS3Method
check_informative.confide_mechanism <- function(mechanism, attributes = NULL,
                                                call = rlang::caller_env()) {
  if (isTRUE(mechanism$lambda == 0)) {
    abort_uninformative("epsilon is 0, so the reports do not depend on the truth.", call)
  }
}

#' @exportS3Method
check_informative.confide_matrix <- function(mechanism, attributes = NULL,
                                             call = rlang::caller_env()) {
  if (is.null(matrix_decoder(mechanism))) {
    abort_uninformative("The rows of its channel are linearly dependent.", call)
  }
}

check_canonical <- function(method, mechanism, call = rlang::caller_env()) {
  if (method == "canonical" && !inherits(mechanism, "confide_block")) {
    abort_parameter(c(
      "The method {.val canonical} is for mechanisms made by {.fn mech_block}.",
      i = "Use {.code method = \"moment\"}."
    ), call = call)
  }
}

abort_uninformative <- function(reason, call) {
  abort_parameter(c(
    "{.arg mechanism} must tell the true values apart for their shares to be estimated.",
    x = reason
  ), call = call)
}

check_some_reports <- function(counts, call = rlang::caller_env()) {
  if (sum(counts$counts) > 0) {
    return(invisible())
  }
  abort_parameter(c(
    "An estimate needs at least one report.",
    x = "There are none (or all weights are 0)."
  ), call = call)
}

check_margin <- function(margin, mechanism, call = rlang::caller_env()) {
  attributes <- names(mechanism$alphabets)
  if (is.null(margin)) {
    return(attributes)
  }
  legal <- is.character(margin) && length(margin) > 0 && all(margin %in% attributes) &&
    anyDuplicated(margin) == 0
  if (!legal) {
    abort_parameter(c(
      "{.arg margin} must name different attributes of a {.fn mech_lambda} mechanism.",
      x = if (is.null(attributes)) {
        "This mechanism has a single attribute."
      } else {
        "Found {describe_names(margin)}."
      },
      i = if (!is.null(attributes)) "They are {enumerate_names(attributes, 8L)}."
    ), call = call)
  }
  margin
}

describe_names <- function(x) {
  if (is.character(x)) enumerate_names(x) else describe(x)
}

#' @exportS3Method
decode.confide_lambda <- function(mechanism, counts, request, call = rlang::caller_env()) {
  sizes <- counts$sizes
  margin <- match(request$margin, names(sizes))
  check_table_size(prod(sizes[margin]), request$max_cells, paste(
    "Give a {.arg margin} of fewer attributes,",
    "or ask {.fn estimate_cells} for the cells of interest."
  ), call)
  decode_product(
    tabulate_margin(counts, sizes, margin),
    n = counts$n,
    decoder = list(
      type = "product",
      lambda = unname(mechanism$lambda[margin]),
      noise = lapply(request$margin, function(name) attribute_noise(mechanism, name))
    ),
    dimnames = levels(mechanism)[request$margin]
  )
}

check_table_size <- function(cells, max_cells, advice, call = rlang::caller_env()) {
  if (cells > max_cells) {
    abort_parameter(c(
      "A joint table may have at most {format_count(max_cells)} cells.",
      x = "This one has {format_cells(cells)}.",
      i = advice
    ), call = call)
  }
}

#' @exportS3Method
decode.confide_rr <- function(mechanism, counts, request, call = rlang::caller_env()) {
  decode_product(
    list(total = unname(counts$counts), square = unname(counts$squares)),
    n = counts$n,
    decoder = list(
      type = "product",
      lambda = mechanism$lambda,
      noise = list(uniform_noise(mechanism$alphabet$size))
    ),
    dimnames = list(level = levels(mechanism))
  )
}

uniform_noise <- function(k) rep(1 / k, k)

decode_product <- function(reported, n, decoder, dimnames) {
  square <- reported$square %||% numeric()
  moments <- lambda_moments(reported$total, square, n, decoder$lambda, decoder$noise)
  moments$std_error[is.nan(moments$std_error)] <- NA_real_
  c(moments, list(reported = reported, decoder = decoder, dimnames = dimnames))
}

apply_product <- function(cells, decoder, kind) {
  lambda_apply(as.numeric(cells), decoder$lambda, decoder$noise, kind)
}

#' @exportS3Method
decode.confide_matrix <- function(mechanism, counts, request, call = rlang::caller_env()) {
  channel <- unname(channel_matrix(mechanism))
  impossible <- colSums(channel) == 0
  if (any(counts$counts[impossible] > 0)) {
    abort_domain(report_messages(mechanism)$domain, call)
  }
  inverse <- unname(matrix_decoder(mechanism))
  reported <- list(total = unname(counts$counts), square = unname(counts$squares))
  square <- reported$square %||% reported$total
  sums <- list(
    value = as.vector(inverse %*% reported$total),
    square_weighted = as.vector(inverse %*% square),
    square = as.vector(inverse^2 %*% square)
  )
  c(moments_of_sums(sums, reported, counts$n), list(
    reported = reported,
    decoder = list(type = "matrix", inverse = inverse, channel = channel),
    dimnames = list(level = levels(mechanism))
  ))
}

# The linear estimate and its standard error from sums over reports of w z, w^2 z and w^2 z^2, as
# product_moments() does in C++.
moments_of_sums <- function(sums, reported, n) {
  pi <- sums$value / sum(reported$total)
  cross <- pi^2 * sum(reported$square %||% reported$total)
  centred <- sums$square - 2 * pi * sums$square_weighted + cross
  variance <- variance_scale(reported$total, n) * centred
  list(estimate = pi, std_error = sqrt(pmax(variance, 0)), first = sums$square_weighted)
}

# n / (n - 1) makes the variance unbiased; a single report has none.
variance_scale <- function(total, n) {
  if (n > 1) n / (n - 1) / sum(total)^2 else NA_real_
}

finish_estimate <- function(decoded, method, mechanism, counts, request) {
  decoded$moment <- decoded$estimate
  fit <- switch(method,
    moment = ,
    canonical = list(estimate = decoded$estimate),
    ml = c(fit_likelihood(decoded, request$control), list(control = request$control)),
    simplex = list(estimate = simplex_projection(decoded$estimate)),
    clip = list(estimate = clip_shares(decoded$estimate))
  )
  decoded$estimate <- NULL
  new_estimate(
    c(fit, decoded, list(n = counts$n, method = method)), mechanism, counts, request$target
  )
}

new_estimate <- function(fields, mechanism, counts, target = "population") {
  mechanism$call <- NULL
  estimate <- structure(
    c(fields, list(mechanism = mechanism, privacy = counts$privacy, target = "population")),
    class = "confide_estimate"
  )
  if (target == "file") {
    estimate$std_error <- sqrt(pmax(file_variance(estimate), 0))
    estimate$target <- "file"
  }
  estimate
}

clip_shares <- function(shares) {
  clipped <- pmax(shares, 0)
  clipped / sum(clipped)
}

fit_likelihood <- function(decoded, control) {
  total <- decoded$reported$total
  reported <- total / sum(total)
  decoder <- decoded$decoder
  if (decoder$type == "block" && is.null(decoded$possible)) {
    return(fit_block(reported, decoder, sum(total), control))
  }
  if (!is.null(decoded$possible)) {
    return(fit_on_support(reported, decoder, which(decoded$possible), sum(total), control))
  }
  if (is_one_way(decoder)) {
    return(fit_one_way(reported, decoder, sum(total)))
  }
  em <- if (decoder$type == "product") {
    lambda_maximum_likelihood(reported, decoder$lambda, decoder$noise, control)
  } else {
    channel_maximum_likelihood(reported, decoder$channel, control)
  }
  report_fit(em, em$shares, sum(total))
}

report_fit <- function(em, shares, weight) {
  list(
    estimate = shares, log_likelihood = em$log_likelihood * weight,
    optimality_gap = em$optimality_gap, evaluations = em$evaluations, converged = em$converged
  )
}

fit_one_way <- function(reported, decoder, weight) {
  shares <- lambda_maximum_likelihood_one_way(reported, decoder$lambda)
  expected <- apply_product(shares, decoder, "forward")
  seen <- reported > 0
  list(
    estimate = shares, log_likelihood = sum(reported[seen] * log(expected[seen])) * weight,
    optimality_gap = 0, evaluations = 0, converged = TRUE
  )
}

# One attribute with uniform noise.
is_one_way <- function(decoder) {
  decoder$type == "product" && length(decoder$lambda) == 1 && is_uniform(decoder$noise[[1]])
}

is_uniform <- function(noise) max(noise) - min(noise) <= 1e-15
