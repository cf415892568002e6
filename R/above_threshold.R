#' Ask which answer is above a threshold
#'
#' The sparse vector technique: questions are asked one by one, each a whole number that one person
#' moves by at most `sensitivity`; only whether its noisy value reaches a noisy threshold is
#' released. "No" costs nothing, so there may be many; after a "yes" it stops.
#'
#' @details
#' Laplace noise (`epsilon`): the threshold gets discrete Laplace noise of scale
#' \eqn{2 \Delta / \epsilon}, each question of scale \eqn{4 c \Delta / \epsilon} for c times "yes"
#' (\eqn{2 c \Delta / \epsilon} for monotone questions); epsilon-differential privacy for any number
#' of questions (Lyu, Su and Li 2017). The default choice for small budgets.
#'
#' Gaussian noise (`sigma`), one "yes": with \eqn{\epsilon_\rho = \alpha \Delta^2 / (2 \sigma_1^2)}
#' and \eqn{\epsilon_\nu = \alpha (2 \Delta)^2 / (2 \sigma_2^2)} the certificate is
#' \eqn{\epsilon_\rho + \epsilon_\nu + \log(k + 1) / (\alpha - 1)} for at most k = `cap` questions
#' (Zhu and Wang 2020; k + 1 because never is an outcome too). With `weights` w fixed beforehand it
#' is ex-post, the last term being \eqn{\log(1 / w_j) / (\alpha - 1)} for a stop at question j, and
#' the rest of the weight is for never. Proof: shift the threshold's noise by \eqn{\Delta} and the
#' question's by at most \eqn{2 \Delta}; so \eqn{P_j^\alpha P_j'^{1 - \alpha} \le e^{(\alpha -
#' 1)(\epsilon_\rho + \epsilon_\nu)}} for every stop j, and the weights sum to at most 1.
#'
#' @param threshold (whole number) What an answer has to reach.
#' @param sensitivity (whole number, at least 1) The most that a neighbour moves any answer.
#' @param ... Unused; catches misspelt arguments.
#' @param epsilon (number above 0) Pure differential privacy in all, Laplace noise.
#' @param sigma (two numbers above 0) Standard deviations of the threshold's and of the questions'
#'   noise, Gaussian. Exactly one of `epsilon` and `sigma` is given.
#' @param cap (whole number) With `sigma`: the most questions.
#' @param weights (numbers above 0 with sum below 1) With `sigma`, in the place of `cap`: the weight
#'   of a stop at each question; there are as many questions.
#' @param alpha (number above 1) With `sigma`: the order of the certificate.
#' @param yes (whole number) After how many times "yes" it stops; 1 with `sigma`.
#' @param monotone (`TRUE` or `FALSE`, no default) Whether a neighbour moves all answers in the same
#'   direction, as for counts when one person is added. `FALSE` is always safe.
#' @param object What `above_threshold()` or the last `ask()` gave.
#' @param value (whole number) The exact answer to the next question: private.
#' @inheritParams brownian
#' @returns An object of class `confide_above_threshold`: `$answers` (logical, one for each question
#'   so far), `$halted`, `$epsilon` (the certificate if one stops now: pure for Laplace noise, else
#'   at `$alpha`), `$scale` or `$sigma` of the noise, `$privacy`. `ask()` gives the next one. A
#'   ledger is charged with the worst case at the start and gets back what was not needed.
#' @section Errors:
#' `confide_error_budget` for a question after it has stopped, for a stale copy and when the ledger
#' cannot pay; `confide_error_domain` for an answer that is not a whole number;
#' `confide_error_parameter` otherwise.
#' @references
#' Lyu, M., Su, D. and Li, N. (2017). Understanding the sparse vector technique for differential
#' privacy. *PVLDB* 10(6). \doi{10.14778/3055330.3055331}
#'
#' Zhu, Y. and Wang, Y.-X. (2020). Improving sparse vector technique with Renyi differential
#' privacy. *NeurIPS* 33.
#' @seealso [cost_above_threshold()], [accuracy_first()]
#' @examples
#' waiting <- c(3, 8, 41, 260, 305)
#' a <- above_threshold(100, sensitivity = 1, epsilon = 0.5, monotone = TRUE)
#' for (count in waiting) {
#'   a <- ask(a, count)
#'   if (a$halted) break
#' }
#' a
#' @export
above_threshold <- function(threshold, sensitivity, ..., epsilon = NULL, sigma = NULL, cap = NULL,
                            weights = NULL, alpha = NULL, yes = 1, monotone, neighbours = NULL,
                            ledger = NULL, rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(threshold, "Give what an answer has to reach.")
  check_required(sensitivity, "Give the most that a neighbour moves an answer.")
  check_required(monotone, "FALSE is always safe.")
  threshold <- check_whole_number(threshold, min = -2^52, max = 2^52)
  sensitivity <- check_whole_number(sensitivity, max = 2^40)
  monotone <- check_flag(monotone)
  yes <- check_whole_number(yes, max = 1e6)
  rng <- check_rng(rng)
  neighbours <- check_declared_neighbours(neighbours, ledger, rng)
  if (is.null(epsilon) == is.null(sigma)) {
    abort_parameter(c(
      "Exactly one of {.arg epsilon} and {.arg sigma} must be given.",
      x = if (is.null(epsilon)) "Neither is." else "Both are.",
      i = "{.arg epsilon}: Laplace noise. {.arg sigma}: Gaussian noise."
    ))
  }
  noise <- if (is.null(sigma)) {
    if (!is.null(cap) || !is.null(weights)) {
      abort_parameter("{.arg cap} and {.arg weights} are for {.arg sigma}.")
    }
    laplace_threshold(check_epsilon(epsilon, zero = FALSE), sensitivity, yes, monotone, neighbours)
  } else {
    gaussian_threshold(sigma, sensitivity, yes, cap, weights, alpha, neighbours)
  }
  start_threshold(noise, threshold, ledger, neighbours, rng)
}

# Queries of the two kinds of noise and the certificates: of going on to the end, of a stop at each
# question, and the worst.
laplace_threshold <- function(epsilon, sensitivity, yes, monotone, neighbours,
                              call = rlang::caller_env()) {
  share <- if (monotone) 2 else 4
  queries <- list(
    threshold = threshold_query("laplace", epsilon / 2, sensitivity, neighbours),
    question = threshold_query(
      "laplace", quotient_down(epsilon, share * yes), sensitivity, neighbours
    )
  )
  plans <- lapply(queries, plan_noise, call = call)
  scale <- vapply(plans, function(plan) plan$numerator / plan$denominator, numeric(1))
  if (max(scale) > widest_threshold_noise) {
    abort_parameter(c(
      "No noise can serve these arguments.",
      x = "Reason: epsilon is too small: the noise would leave 2^42 steps."
    ), call = call)
  }
  list(
    queries = queries, yes = yes, cap = Inf, never = epsilon, worst = epsilon, scale = scale
  )
}

# Noisy values are compared as doubles, which is exact below 2^53: answers and thresholds are at
# most 2^52, and noise of this scale goes beyond that with probability e^-1024.
widest_threshold_noise <- 2^42

gaussian_threshold <- function(sigma, sensitivity, yes, cap, weights, alpha, neighbours,
                               call = rlang::caller_env()) {
  sigma <- check_threshold_sigma(sigma, call)
  alpha <- check_alpha(alpha, call)
  if (yes != 1) {
    abort_parameter("With Gaussian noise it stops at the first \"yes\": {.arg yes} must be 1.",
      call = call
    )
  }
  weights <- check_stop_weights(cap, weights, call)
  queries <- lapply(
    stats::setNames(sensitivity^2 / (2 * sigma^2), c("threshold", "question")),
    function(rho) threshold_query("gaussian", rho, sensitivity, neighbours)
  )
  plans <- lapply(queries, plan_noise, call = call)
  # The question's noise is shifted by twice the sensitivity: four times its rho.
  base <- alpha * (plans$threshold$realised + 4 * plans$question$realised)
  stops <- outward(base - log(weights$stop) / (alpha - 1))
  never <- outward(base - log(weights$never) / (alpha - 1))
  list(
    queries = queries, yes = 1, cap = length(stops), never = never, stops = stops, alpha = alpha,
    worst = max(never, stops),
    sigma = vapply(plans, function(plan) sqrt(plan$numerator / plan$denominator), numeric(1))
  )
}

# With a cap of k questions the k + 1 outcomes, never among them, have equal weights.
check_stop_weights <- function(cap, weights, call) {
  if (is.null(cap) == is.null(weights)) {
    abort_parameter(c(
      "With {.arg sigma} exactly one of {.arg cap} and {.arg weights} must be given.",
      i = "{.arg cap}: the most questions, all at one price."
    ), call = call)
  }
  if (is.null(weights)) {
    cap <- check_whole_number(cap, max = 1e6, arg = "cap", call = call)
    return(list(stop = rep(1 / (cap + 1), cap), never = 1 / (cap + 1)))
  }
  weights <- check_numbers(weights, "above 0", function(x) x > 0, arg = "weights", call = call)
  never <- 1 - sum_rounded_up(weights)
  if (never <= 0) {
    abort_parameter(c(
      "{.arg weights} must have a sum below 1; the rest is the weight of never stopping.",
      x = "It is {format(sum(weights), digits = 15)}."
    ), call = call)
  }
  list(stop = weights, never = never)
}

# Never above x / k. Halving is exact, other quotients may be rounded up.
quotient_down <- function(x, k) {
  if (log2(k) == round(log2(k))) x / k else x / k * (1 - 2^-52)
}

threshold_query <- function(law, budget, sensitivity, neighbours) {
  list(
    kind = "answer", law = law, budget = budget, sensitivity = sensitivity, whole = TRUE,
    dimension = 1, neighbours = neighbours, covered = TRUE
  )
}

start_threshold <- function(noise, threshold, ledger, neighbours, rng,
                            call = rlang::caller_env()) {
  object <- structure(c(noise, list(
    answers = logical(), halted = FALSE, epsilon = noise$never, neighbours = neighbours,
    ledger = ledger, rng = rng, run = current_run(), version = 0
  )), class = c("confide_above_threshold", "confide_expost"))
  statement <- threshold_statement(object, noise$worst)
  meter(statement)
  charge_before_noise(ledger, statement, "above_threshold", call)
  noisy <- release_units(count_units(threshold), noise$queries$threshold, rng)
  object$handle <- new_vault(list(noisy))
  object$privacy <- threshold_statement(object, noise$never)
  sealed(object)
}

threshold_statement <- function(object, epsilon) {
  laplace <- is.null(object$alpha)
  statement <- expost_statement(
    object$alpha, epsilon, NULL, object$neighbours,
    paste("exact discrete", if (laplace) "Laplace" else "Gaussian", "on whole numbers"),
    !is.null(object$ledger), object$rng
  )
  if (laplace) statement$definition <- "pure differential privacy"
  statement
}

#' @rdname above_threshold
#' @export
ask <- function(object, value) {
  check_dots_empty()
  check_required(object, "Make one with above_threshold().")
  check_required(value, "Give the exact answer to the next question.")
  check_made_by(object, "above_threshold", "confide_above_threshold")
  check_handle(object, "above_threshold")
  if (object$halted) {
    abort_budget(c(
      "The mechanism has stopped; it answers no more.",
      i = "A new one has its own noise and its own cost."
    ))
  }
  if (!is_finite_number(value) || !is_whole(value) || abs(value) > 2^52) {
    abort_domain("{.arg value} must be one whole number.")
  }
  if (is_metered() && object$run != current_run()) {
    abort_budget(c(
      "Within {.fn accuracy_first} ask only what was started there.",
      x = "This was started before, and is not in the run's certificate.",
      i = "Ask before the run, or make it in {.arg refine}."
    ))
  }
  object <- advance(object)
  noisy <- release_units(count_units(value), object$queries$question, object$rng)
  object$answers <- c(object$answers, noisy >= vault_numbers(object$handle, 1))
  update_threshold(object)
}

update_threshold <- function(object) {
  stopped <- sum(object$answers) >= object$yes
  object$halted <- stopped || length(object$answers) >= object$cap
  if (stopped && !is.null(object$stops)) {
    object$epsilon <- object$stops[[length(object$answers)]]
  }
  object$privacy <- threshold_statement(object, object$epsilon)
  if (object$halted) settle_threshold(object)
  sealed(object)
}

# What the worst case was too large by goes back.
settle_threshold <- function(object) {
  if (is.null(object$ledger) || object$worst == object$epsilon) {
    return(invisible())
  }
  alpha <- object$ledger$alpha
  unused <- privacy_cost(threshold_statement(object, object$worst), alpha) -
    privacy_cost(object$privacy, alpha)
  # rounded towards the claim
  unused <- unused - 2^-48 * privacy_cost(threshold_statement(object, object$worst), alpha)
  if (unused > 0) ledger_refund(object$ledger$handle, "above_threshold", "", unused)
}

#' @exportS3Method
committed_certificate.confide_above_threshold <- function(x, call) {
  if (is.null(x$alpha)) {
    abort_parameter(c(
      "With Laplace noise the guarantee is pure: epsilon holds with delta 0.",
      i = "It is {.code epsilon(x)}."
    ), call = call)
  }
  privacy(x)[c("epsilon", "alpha")]
}

#' @export
format.confide_above_threshold <- function(x, ...) {
  asked <- length(x$answers)
  laplace <- is.null(x$alpha)
  c(
    paste0("<above threshold>  ", format_guarantee(x$privacy)),
    sprintf(
      "%s: %s asked, %s yes%s", if (x$halted) "stopped" else "goes on", plural(asked, "question"),
      sum(x$answers),
      if (any(x$answers)) paste0(", the last at number ", format(max(which(x$answers)))) else ""
    ),
    sprintf(
      "noise: discrete %s, %s %s for the threshold, %s for questions",
      if (laplace) "Laplace" else "Gaussian", if (laplace) "scale" else "standard deviation",
      format_number((x$scale %||% x$sigma)[[1]]), format_number((x$scale %||% x$sigma)[[2]])
    ),
    if (!laplace && is.finite(x$cap)) sprintf("at most %s", plural(x$cap, "question")),
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}
