#' Answers with Laplace noise that shrinks
#'
#' The pure counterpart of [brownian()]: whole numbers with discrete Laplace noise at a list of
#' levels that is fixed beforehand. Each [refine()] releases the next one. All levels so far reveal
#' no more than the last: level k is level k + 1 plus independent noise. So the certificate is the
#' epsilon of the last level, and it may be stopped at by any rule that looks at what was released.
#'
#' @param value (numeric vector) The exact private answer: whole numbers whatever the data, such as
#'   counts. Its length and names are public.
#' @param sensitivity (whole number) Largest l1 distance between the answers on neighbouring data
#'   sets.
#' @param epsilon (increasing numbers above 0) The certificates of the levels.
#' @inheritParams brownian
#' @returns An object of class `confide_laplace_path`, a list with `$estimate`, `$scale` (of the
#'   noise: probabilities are proportional to `exp(-abs(y) / scale)`), `$epsilon` (pure, ex-post),
#'   `$levels` (those realised), `$path` and `$privacy`; before the first step the estimate is `NA`.
#'   What is private is behind a pointer, as in [brownian()]. In a ledger it costs its epsilon at
#'   every alpha: the smaller cost of a constant epsilon is not valid for an ex-post one.
#' @section How it is drawn:
#' From the last level backwards. With \eqn{\epsilon_k = 1 / b_k}, discrete Laplace noise is the
#' difference of two geometric numbers, and a geometric number of scale \eqn{b_{k+1}} becomes one of
#' scale \eqn{b_k} by adding 0 with probability
#' \eqn{v = (e^{\epsilon_k} - 1) / (e^{\epsilon_{k+1}} - 1)} and a geometric number of scale
#' \eqn{b_k} otherwise. A coin with this probability is drawn exactly: v is the mean of
#' \eqn{e^{-(\epsilon_{k+1} - \epsilon_k)(J + 1)}} over a geometric J of scale \eqn{b_k}.
#' @section Errors:
#' As for [brownian()]; `confide_error_budget` also for a step beyond the last level.
#' @references
#' Koufogiannis, F., Han, S. and Pappas, G. J. (2016). Gradual release of sensitive data under
#' differential privacy. *Journal of Privacy and Confidentiality* 7(2).
#'
#' Ligett, K., Neel, S., Roth, A., Waggoner, B. and Wu, Z. S. (2017). Accuracy first: selecting a
#' differential privacy level for accuracy-constrained ERM. *NeurIPS* 30.
#' \doi{10.48550/arXiv.1705.10829}
#' @examples
#' p <- laplace_path(812, sensitivity = 1, epsilon = c(0.01, 0.1, 1), neighbours = "add_remove")
#' p <- refine(refine(p))
#' p
#' @export
laplace_path <- function(value, sensitivity, epsilon, ..., neighbours = NULL, ledger = NULL,
                         rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(value, "Give the exact answer.")
  check_required(sensitivity, "How far a neighbour moves the answer, in l1 norm.")
  check_required(epsilon, "Give the certificates of the levels, increasing.")
  sensitivity <- check_whole_number(sensitivity)
  rng <- check_rng(rng)
  neighbours <- check_declared_neighbours(neighbours, ledger, rng)
  levels <- check_levels_increase(epsilon)
  value <- check_answer_shape(value)[[1]]
  plan <- refused_as_parameter(laplace_path_plan(sensitivity, levels), environment())
  check_answer_values(list(value), TRUE)
  # beyond that a cast to integers and its noise would not stay exact
  if (any(abs(value) > 2^52)) {
    abort_domain("{.arg value} must be whole numbers from -2^52 to 2^52.")
  }
  answer <- list(
    kind = "path", law = "laplace", budget = max(levels), sensitivity = sensitivity,
    epsilons = levels, dimension = as.numeric(length(value) * length(levels)),
    neighbours = neighbours, covered = TRUE
  )
  noisy <- release_units(rep(count_units(as.numeric(value)), length(levels)), answer, rng)
  sealed(update_path(structure(list(
    levels = plan$realised, scales = plan$scale, sensitivity = sensitivity,
    labels = names(value), path = NULL, neighbours = neighbours, ledger = ledger, rng = rng,
    version = 0,
    handle = new_vault(split(noisy, rep(seq_along(levels), each = length(value)))),
    estimate = not_released(value)
  ), class = "confide_laplace_path")))
}

check_levels_increase <- function(epsilon, call = rlang::caller_env()) {
  epsilon <- check_numbers(epsilon, "finite numbers above 0", function(x) is.finite(x) & x > 0,
    arg = "epsilon", call = call
  )
  if (is.unsorted(epsilon, strictly = TRUE)) {
    abort_parameter(c(
      "{.arg epsilon} must increase from level to level: noise only shrinks.",
      x = "It is {.val {epsilon}}."
    ), call = call)
  }
  epsilon
}

update_path <- function(object) {
  step <- object$version
  object$epsilon <- if (step == 0) 0 else object$levels[[step]]
  object$scale <- if (step == 0) Inf else object$scales[[step]]
  object$privacy <- structure(list(
    definition = "pure ex-post differential privacy",
    epsilon = object$epsilon,
    epsilon_realised = object$epsilon,
    expost = TRUE,
    model = "central: the data are seen by whoever computes the release",
    unit = "one row: all values of one person",
    neighbours = object$neighbours,
    noise = "exact discrete Laplace, each level a narrowing of the one before",
    charged = !is.null(object$ledger),
    rng = release_source(object$rng)
  ), class = "confide_privacy")
  object
}

#' @export
refine.confide_laplace_path <- function(object, ...) {
  check_dots_empty(...)
  check_handle(object, "laplace_path")
  step <- object$version + 1
  if (step > length(object$levels)) {
    abort_budget(c(
      "The last level is released; there is no finer one.",
      i = "Levels are fixed beforehand. A new path on the same data costs its full epsilon."
    ))
  }
  # The increments add up to the last certificate.
  statement <- list(
    epsilon = outward(object$levels[[step]] - object$epsilon), expost = TRUE,
    neighbours = object$neighbours, rng = object$rng
  )
  meter(statement)
  charge_before_noise(object$ledger, statement, "laplace_path")
  object <- advance(object)
  object$estimate <- stats::setNames(vault_numbers(object$handle, step), object$labels)
  object <- update_path(object)
  row <- data.frame(step = step, scale = object$scale, epsilon = object$epsilon)
  row$estimate <- if (length(object$estimate) == 1) {
    unname(object$estimate)
  } else {
    list(object$estimate)
  }
  object$path <- rbind(object$path, row)
  sealed(object)
}

#' @export
coef.confide_laplace_path <- function(object, ...) {
  check_dots_empty(...)
  object$estimate
}

#' @export
format.confide_laplace_path <- function(x, ...) {
  sd <- 1 / (sqrt(2) * sinh(0.5 / x$scale))
  c(
    paste0("<laplace path>  ", format_guarantee(x$privacy)),
    if (x$version == 0) {
      "nothing was released yet: refine() it"
    } else {
      c(
        format_answer(x$estimate, sd),
        sprintf("level %s of %s", x$version, length(x$levels)),
        "valid wherever you stop; but a stop that looks at the estimate makes it biased"
      )
    },
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}
