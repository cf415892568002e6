#' Answers that are refined step by step
#'
#' Gaussian noise that shrinks on demand. `brownian()` takes a private answer and releases nothing;
#' each `refine()` releases it with less noise. What was released before need not be paid for again:
#' after any number of steps, chosen in any way from what was released, and wherever one stops, the
#' certificate is that of the last noise alone.
#'
#' @section How it works:
#' Step k measures the exact answer afresh with discrete Gaussian noise of variance \eqn{s_k^2}, and
#' the estimate is the mean of all measurements weighted by \eqn{1 / s_k^2}; its variance is
#' \eqn{\sigma_k^2 = 1 / \sum_j s_j^{-2}}. This has the law of a Brownian motion run backwards
#' (Whitehouse et al. 2022), holds no secret noise, and allows exact discrete noise. The certificate
#' is \eqn{\alpha \Delta^2 / (2 \sigma_k^2)} at order alpha, ex-post Renyi (Raisa, Koskela and
#' Honkela 2026): \eqn{e^{(1 - \alpha) \epsilon_k} p^\alpha q^{1 - \alpha}} is the density of the
#' same mechanism for an answer in the direction of the neighbour, so its integral over any stopping
#' rule is at most 1. It holds at every alpha at once with \eqn{\rho = \Delta^2 / (2 \sigma_k^2)}.
#'
#' Numbers that are not whole are rounded to a grid, in each step one of about 2^-24 of its noise,
#' and the certificate pays for it: \eqn{\Delta} grows by \eqn{\sqrt{d}} grid steps. Values further
#' than 2^36 standard deviations of the noise from 0 are limited to that.
#'
#' Several queries on the same data (a list) keep their own noise; each step refines the ones that
#' are named, and the certificates add up. So one can be refined that matters, chosen from what was
#' released.
#'
#' If you stop because of the estimate itself, the estimate is biased, as is any mean that one stops
#' watching when it looks good. Its likelihood is that of a single measurement with the last noise.
#'
#' @param value (numeric vector, or named list of them) The exact private answer, or several. Its
#'   length and names are public.
#' @param sensitivity (number above 0, or one for each query) Largest Euclidean distance between the
#'   answers on neighbouring data sets.
#' @param alpha (number above 1) The order of the certificates; see [plan_alpha()].
#' @param ... Unused; catches misspelt arguments.
#' @param whole (`TRUE` or `FALSE`, for all or each query) Whether answers are whole numbers
#'   whatever the data, such as counts. By default whether `value` is of type integer.
#' @param neighbours (string or `NULL`) The relation that `sensitivity` is for, as in
#'   [private_sum()]; `NULL` leaves it to you, or to the ledger.
#' @param ledger ([ledger()] or `NULL`) Charged before each step.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @param object The latest value of `brownian()`, [laplace_path()] or `refine()`.
#' @param parm (names or indices, or missing) Which numbers; all by default.
#' @param level (number in (0, 1)) Confidence level.
#' @param epsilon (number above 0) The certificate to reach, in all. With several queries the new
#'   part is shared equally by the ones refined.
#' @param sigma (number above 0, or named numbers, one for each query to refine) The standard
#'   deviation of the estimate to reach. Exactly one of `epsilon` and `sigma` is given.
#' @param query (character) With `epsilon`: the queries to refine; by default all.
#' @returns An object of class `confide_brownian`, a list with `$estimate` (for several queries a
#'   list), `$sigma`, `$epsilon` (the certificate at `$alpha`), `$rho`, `$path` (data frame, a row
#'   for each step and query) and `$privacy`; before the first step the estimate is `NA`. Each
#'   `refine()` gives a new one. The private answer is behind a pointer and not in the object: it is
#'   not printed, and lost when the object is saved. What is in the object was released.
#'
#'   `coef()`: the estimate. `vcov()`: the covariance matrix of the noise, diagonal, for all queries
#'   together. `confint()`: matrix with a column for each limit, for the exact answers, by the
#'   normal law of the noise (half a unit wider for whole numbers). Intervals cover at their level
#'   when the stop did not look at the estimate; before the first step limits are `NA`.
#' @section Errors:
#' `confide_error_domain` for an answer that is not finite, or not whole where that was said;
#' `confide_error_budget` for a stale copy (refining it twice would be two branches counted as one),
#' for another process, or when the ledger cannot pay; `confide_error_parameter` for a target that
#' is reached already and for other arguments.
#' @references
#' Whitehouse, J., Ramdas, A., Wu, Z. S. and Rogers, R. (2022). Brownian noise reduction: maximizing
#' privacy subject to accuracy constraints. *NeurIPS* 35. \doi{10.48550/arXiv.2206.07234}
#'
#' Raisa, O., Koskela, A. and Honkela, A. (2026). Accuracy-first Renyi differential privacy and
#' post-processing immunity. \doi{10.48550/arXiv.2509.22213}
#' @seealso [laplace_path()] for pure privacy, [accuracy_first()] for a private stop.
#' @examples
#' b <- brownian(c(yes = 812L, no = 188L), sensitivity = sqrt(2), alpha = 20)
#' b <- refine(b, sigma = 30)
#' while (b$estimate[["no"]] < 5 * b$sigma) b <- refine(b, sigma = b$sigma / 2)
#' b
#' as_approx_dp(b, delta = 1e-6)
#' @export
brownian <- function(value, sensitivity, alpha, ..., whole = NULL, neighbours = NULL,
                     ledger = NULL, rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(value, "Give the exact answer.")
  check_required(sensitivity, "How far a neighbour moves the answer, in Euclidean norm.")
  alpha <- check_alpha(alpha)
  rng <- check_rng(rng)
  neighbours <- check_declared_neighbours(neighbours, ledger, rng)
  answers <- check_answer_shape(value)
  sensitivity <- check_per_query(sensitivity, answers, check_positive, "sensitivity")
  whole <- check_per_query(
    whole %||% vapply(answers, is.integer, logical(1)), answers, check_flag, "whole"
  )
  check_answer_values(answers, whole)
  queries <- lapply(seq_along(answers), function(i) {
    list(
      sensitivity = sensitivity[[i]], dimension = as.numeric(length(answers[[i]])),
      whole = whole[[i]], labels = names(answers[[i]]), precision = 0,
      estimate = not_released(answers[[i]])
    )
  })
  names(queries) <- names(answers)
  handle <- new_vault(unname(lapply(answers, as.numeric)))
  new_brownian(queries, handle, alpha, neighbours, ledger, rng)
}

new_brownian <- function(queries, handle, alpha, neighbours, ledger, rng) {
  update_brownian(structure(list(
    alpha = alpha, steps = numeric(), queries = queries, path = NULL, neighbours = neighbours,
    ledger = ledger, rng = rng, handle = handle, version = 0
  ), class = c("confide_brownian", "confide_expost")))
}

# Of the answer only length and names, which are public: other attributes may be private.
not_released <- function(answer) {
  stats::setNames(rep(NA_real_, length(answer)), names(answer))
}

# What follows from the queries and the rhos of the steps.
update_brownian <- function(object) {
  single <- is.null(names(object$queries))
  estimates <- lapply(object$queries, `[[`, "estimate")
  precision <- vapply(object$queries, `[[`, numeric(1), "precision")
  object$estimate <- if (single) estimates[[1]] else estimates
  object$sigma <- 1 / sqrt(precision)
  object$rho <- if (length(object$steps) == 0) 0 else sum_rounded_up(object$steps)
  object$epsilon <- if (object$rho == 0) 0 else outward(object$alpha * object$rho)
  object$privacy <- expost_statement(
    object$alpha, object$epsilon, object$rho, object$neighbours,
    "exact discrete Gaussian increments on a power-of-two grid",
    !is.null(object$ledger), object$rng
  )
  sealed(object)
}

#' @rdname brownian
#' @export
refine <- function(object, ...) {
  check_required(object, "Make one with brownian(), laplace_path() or synthesize().")
  UseMethod("refine")
}

#' @export
refine.default <- function(object, ...) {
  abort_parameter(c(
    paste(
      "{.arg object} must be made by {.fn brownian}, {.fn laplace_path},",
      "{.code synthesize(alpha = )} or {.fn private_classifier}."
    ),
    x = "It is {describe(object)}."
  ))
}

#' @rdname brownian
#' @export
refine.confide_brownian <- function(object, ..., epsilon = NULL, sigma = NULL, query = NULL) {
  check_dots_empty(...)
  list(epsilon, sigma, query) # they may refine the object themselves
  check_handle(object, "brownian")
  refuse_owned(object)
  planned <- plan_refinement(object, epsilon, sigma, query)
  charge_before_noise(
    object$ledger, list(expost_rho = planned$rho, neighbours = object$neighbours, rng = object$rng),
    "brownian"
  )
  carry_out(object, planned)
}

# What a step will ask of the noise: all refusals come from here, before anything is charged.
plan_refinement <- function(object, epsilon, sigma = NULL, query = NULL,
                            call = rlang::caller_env()) {
  budgets <- refinement_budgets(object, epsilon, sigma, query, call)
  queries <- as.integer(names(budgets))
  answers <- lapply(seq_along(queries), function(k) {
    answer_query(object$queries[[queries[[k]]]], budgets[[k]], object$neighbours)
  })
  plans <- lapply(answers, plan_noise, call = call)
  list(
    queries = queries, answers = answers, plans = plans,
    rho = sum_rounded_up(vapply(plans, `[[`, numeric(1), "realised"))
  )
}

# Part of another object, which keeps the account.
owned <- function(object) {
  object$owned <- TRUE
  sealed(object)
}

refuse_owned <- function(object, call = rlang::caller_env()) {
  if (isTRUE(object$owned)) {
    abort_budget(c(
      "This is a part of another object, which counts what is spent.",
      i = "Refine the object it belongs to."
    ), call = call)
  }
}

carry_out <- function(object, planned) {
  object <- advance(object)
  for (k in seq_along(planned$queries)) {
    object <- take_measurement(
      object, planned$queries[[k]], planned$answers[[k]], planned$plans[[k]]
    )
  }
  update_brownian(object)
}

answer_query <- function(query, rho, neighbours) {
  list(
    kind = "answer", law = "gaussian", budget = rho, sensitivity = query$sensitivity,
    whole = query$whole, dimension = query$dimension, neighbours = neighbours
  )
}

# The mean weighted by precisions moves towards the new measurement.
take_measurement <- function(object, i, answer, plan) {
  units <- answer_units(vault_numbers(object$handle, i), answer)
  measured <- release_units(units, answer, object$rng)
  query <- object$queries[[i]]
  weight <- plan$denominator / plan$numerator / plan$grid^2
  total <- query$precision + weight
  before <- if (query$precision == 0) measured else query$estimate
  query$estimate <- stats::setNames(before + weight / total * (measured - before), query$labels)
  query$precision <- total
  object$queries[[i]] <- query
  object$steps <- c(object$steps, plan$realised)
  object$path <- rbind(object$path, path_row(object, i))
  object
}

path_row <- function(object, i) {
  query <- object$queries[[i]]
  rho <- sum_rounded_up(object$steps)
  row <- data.frame(
    step = object$version, query = names(object$queries)[i] %||% "value",
    sigma = 1 / sqrt(query$precision), rho = rho, epsilon = outward(object$alpha * rho)
  )
  row$estimate <- if (query$dimension == 1) unname(query$estimate) else list(query$estimate)
  row
}

# The rho to spend on each query that is refined, named by its number.
refinement_budgets <- function(object, epsilon, sigma, query, call = rlang::caller_env()) {
  if (is.null(epsilon) == is.null(sigma)) {
    abort_parameter(c(
      "Exactly one of {.arg epsilon} and {.arg sigma} must be given.",
      x = if (is.null(epsilon)) "Neither is." else "Both are."
    ), call = call)
  }
  if (is.null(epsilon)) {
    return(budgets_for_sigma(object, sigma, query, call))
  }
  epsilon <- check_positive(epsilon, arg = "epsilon", call = call)
  chosen <- chosen_queries(object, query, call)
  fresh <- epsilon / object$alpha * (1 - 2^-45) - object$rho
  if (fresh <= 0) {
    abort_parameter(c(
      "{.arg epsilon} must be above the certificate so far.",
      x = "It is {format(epsilon)}, the certificate {format_epsilon(object$epsilon)}."
    ), call = call)
  }
  stats::setNames(rep(fresh / length(chosen), length(chosen)), chosen)
}

chosen_queries <- function(object, query, call) {
  if (is.null(query)) {
    return(seq_along(object$queries))
  }
  if (!is.character(query) || !all(query %in% names(object$queries)) || anyDuplicated(query) > 0 ||
    length(query) == 0) {
    abort_parameter(c(
      "{.arg query} must be among the names of the queries.",
      x = "They are {enumerate_names(names(object$queries))}."
    ), call = call)
  }
  match(query, names(object$queries))
}

budgets_for_sigma <- function(object, sigma, query, call) {
  if (!is.null(query)) {
    abort_parameter("{.arg query} goes with {.arg epsilon}; name the elements of {.arg sigma}.",
      call = call
    )
  }
  asked <- check_numbers(sigma, "finite numbers above 0", function(x) is.finite(x) & x > 0,
    arg = "sigma", call = call
  )
  chosen <- if (is.null(names(sigma))) {
    seq_along(object$queries)
  } else {
    chosen_queries(object, names(sigma), call)
  }
  if (length(asked) != length(chosen)) {
    abort_parameter(c(
      "{.arg sigma} must have one number for each query, or names.",
      x = "Found {length(asked)} for {length(chosen)}."
    ), call = call)
  }
  budgets <- mapply(function(i, target) {
    budget_for_sigma(object$queries[[i]], target, call)
  }, chosen, asked)
  stats::setNames(budgets, chosen)
}

budget_for_sigma <- function(query, target, call) {
  fresh <- 1 / target^2 - query$precision
  if (!is.finite(fresh) || fresh <= 0) {
    abort_parameter(c(
      "{.arg sigma} must be below the standard deviation so far: noise only shrinks.",
      x = "It is {format(target)}, so far {format(1 / sqrt(query$precision))}."
    ), call = call)
  }
  refused_as_parameter(
    refinement_budget(query$sensitivity, query$dimension, query$whole, fresh), call
  )
}

check_declared_neighbours <- function(neighbours, ledger, rng, call = rlang::caller_env()) {
  if (!is.null(neighbours)) {
    neighbours <- check_neighbours(neighbours, call = call)
  }
  if (!is.null(ledger)) {
    check_ledger(ledger, call)
    check_chargeable(ledger, list(neighbours = neighbours, rng = rng), call)
    neighbours <- ledger$neighbours
  }
  neighbours
}

# A list of answers; one answer stays unnamed.
check_answer_shape <- function(value, call = rlang::caller_env()) {
  several <- is.list(value) && !is.object(value)
  answers <- if (several) value else list(value)
  if (several && !has_distinct_names(answers)) {
    abort_parameter("A list of answers must have names, all different.", call = call)
  }
  if (!all(vapply(answers, is_answer, logical(1)))) {
    abort_domain(answer_domain, call = call)
  }
  lapply(answers, function(x) if (is.table(x)) table_vector(x) else x)
}

is_answer <- function(x) is.numeric(x) && (!is.object(x) || is.table(x)) && length(x) > 0

# A one-way table as a named vector.
table_vector <- function(x) {
  labels <- if (length(dim(x)) == 1) names(x)
  stats::setNames(as.vector(x), labels)
}

answer_domain <- c(
  "{.arg value} must be finite numbers, and whole ones where {.arg whole} says so.",
  i = "Which answers are whole is declared beforehand, not read off the data."
)

check_answer_values <- function(answers, whole, call = rlang::caller_env()) {
  legal <- mapply(function(x, is_whole) {
    all(is.finite(x)) && (!is_whole || all(x == round(x)))
  }, answers, whole)
  if (!all(legal)) {
    abort_domain(answer_domain, call = call)
  }
}

# One setting for all queries, or one for each, by name.
check_per_query <- function(x, answers, check, arg, call = rlang::caller_env()) {
  x <- as.list(x)
  if (length(x) == 1 && is.null(names(x))) {
    x <- rep(x, length(answers))
  }
  if (!is.null(names(x)) && setequal(names(x), names(answers))) {
    x <- x[names(answers)]
  }
  if (length(x) != length(answers)) {
    abort_parameter(c(
      "{.arg {arg}} must be one value, or one for each query.",
      x = "Found {length(x)} for {length(answers)}."
    ), call = call)
  }
  lapply(unname(x), check, arg = arg, call = call)
}

#' @exportS3Method
committed_certificate.confide_expost <- function(x, call) {
  privacy(x)[c("epsilon", "alpha")]
}

#' @export
epsilon.confide_expost <- function(x, ..., delta = 0) {
  check_dots_empty(...)
  delta <- check_delta(delta)
  claim <- privacy(x)
  if (is.null(claim$alpha)) {
    return(claim$epsilon)
  }
  if (delta == 0) {
    abort_parameter(c(
      "{.fn epsilon} of a Renyi certificate needs a {.arg delta} above 0.",
      x = "No finite epsilon holds with {.arg delta} 0.",
      i = "It has {.code privacy(x)$epsilon}; {.code epsilon(x, delta = 1e-6)} converts it."
    ))
  }
  as_approx_dp(x, delta = delta)
}

#' @export
coef.confide_brownian <- function(object, ...) {
  check_dots_empty(...)
  object$estimate
}

#' @export
format.confide_brownian <- function(x, ..., n = 3L) {
  n <- check_shown(n)
  released <- !is.null(x$path)
  c(
    paste0("<brownian>  ", format_guarantee(x$privacy)),
    unlist(lapply(utils::head(seq_along(x$queries), n), function(i) format_query(x, i))),
    format_rest(length(x$queries), n, "query"),
    if (released) {
      c(
        sprintf(
          "so (epsilon = %s, delta = 1e-06), by the hockey stick",
          format_epsilon(as_approx_dp(x, delta = 1e-6))
        ),
        sprintf("%s, rho = %s in all", plural(x$version, "step"), format_epsilon(x$rho)),
        "valid wherever you stop; but a stop that looks at the estimate makes it biased"
      )
    } else {
      "nothing was released yet: refine() it"
    },
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

format_query <- function(object, i) {
  query <- object$queries[[i]]
  name <- names(object$queries)[i]
  title <- if (is.null(name)) "" else paste0(shorten(name, 20L), ": ")
  if (query$precision == 0) {
    return(sprintf("%s%s, not released", title, plural(query$dimension, "number")))
  }
  sd <- 1 / sqrt(query$precision)
  paste0(title, format_answer(query$estimate, sd))
}

# The first numbers of a released vector in one line.
format_answer <- function(estimate, sd) {
  shown <- utils::head(estimate, 4)
  values <- format_to_error(unname(shown), sd)
  labels <- names(shown)
  paste0(
    paste(if (is.null(labels)) values else paste(shorten(labels, 10L), values), collapse = ", "),
    if (length(estimate) > 4) ", ...", sprintf(" (noise: standard deviation %s)", format_number(sd))
  )
}

#' @rdname brownian
#' @export
vcov.confide_brownian <- function(object, ...) {
  check_dots_empty(...)
  variance <- rep(object$sigma^2, lengths(released_list(object)))
  noise_covariance(variance, number_labels(object), "sigma")
}

#' @rdname brownian
#' @export
confint.confide_brownian <- function(object, parm, level = 0.95, ...) {
  check_dots_empty(...)
  level <- check_level(level)
  # Noise on whole numbers jumps: by half a unit more an interval covers what the normal law says.
  step <- ifelse(vapply(object$queries, `[[`, NA, "whole"), 0.5, 0)
  half <- stats::qnorm((1 + level) / 2) * object$sigma + step
  estimates <- released_list(object)
  limits <- limits_around(
    unlist(estimates, use.names = FALSE), rep(half, lengths(estimates)), level,
    number_labels(object)
  )
  chosen_limits(limits, parm)
}

released_list <- function(object) lapply(object$queries, `[[`, "estimate")

# Names of the released numbers: query and element.
number_labels <- function(object) names(unlist(released_list(object)))
