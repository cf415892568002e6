#' Randomized response with k levels
#'
#' Each person reports the truth with probability \eqn{e^\epsilon / (e^\epsilon + k - 1)} and each
#' other level with probability \eqn{1 / (e^\epsilon + k - 1)}. The sampler works in whole 64-bit
#' words, and the ratio of the two probabilities it really uses never exceeds \eqn{e^\epsilon}.
#'
#' @param levels (character, factor, logical, whole numbers, or one count k) The public domain: at
#'   least two distinct labels, a factor whose levels are taken (all of them, used or not),
#'   `c(FALSE, TRUE)`, distinct whole numbers, or the number of levels, which are then `"1"` to
#'   `"k"` and may be given as integer codes. Order is kept.
#' @param epsilon (number, at least 0) The privacy parameter of each report, in natural logarithms;
#'   no default. 0 gives uniformly random reports, from which nothing can be estimated. Above 44 it
#'   is served as 44.
#' @param ... Unused; catches misspelt arguments.
#' @param na (`"error"` or `"level"`) What a missing answer is: an error, or one more level,
#'   `"<NA>"`, randomized like the others. A missing answer that is never randomized would reveal
#'   who did not answer.
#' @returns A mechanism of class `confide_rr`: a list with `$epsilon`, `$lambda` (probability of
#'   keeping the truth, the rest being uniform noise over all levels), `$n_outputs`, `$privacy` (see
#'   [privacy()]), `$call`, `$fingerprint`.
#' @section Errors:
#' `confide_error_parameter` for levels or epsilon outside what is said above.
#' @references
#' Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive answer
#' bias. *Journal of the American Statistical Association* 60(309), 63-69.
#' \doi{10.1080/01621459.1965.10480775}
#'
#' Kairouz, P., Oh, S. and Viswanath, P. (2016). Extremal mechanisms for local differential privacy.
#' *Journal of Machine Learning Research* 17(17), 1-51.
#' @family mechanisms
#' @examples
#' m <- mech_rr(c("no", "yes"), epsilon = 1)
#' m
#' reports <- privatize(c("no", "yes", "yes"), m)
#' estimate(c(no = 480, yes = 520), m)
#' @export
mech_rr <- function(levels, epsilon, ..., na = c("error", "level")) {
  check_dots_empty(...)
  check_required(levels, "Give the labels, or their number.")
  check_required(epsilon, "Common choices lie between 0.5 and 4; smaller protects more.")
  na <- check_choice(na, c("error", "level"))
  alphabet <- new_alphabet(levels, na)
  epsilon <- check_epsilon(epsilon)
  realised <- rr_realised(epsilon, alphabet$size)
  new_mechanism("rr", list(
    alphabet = alphabet,
    epsilon = epsilon,
    lambda = realised[["lambda"]],
    n_outputs = alphabet$size
  ), call = rlang::call2("mech_rr", levels = public_levels(levels), epsilon = epsilon, na = na))
}

# What a call may keep of a `levels` argument: the labels, never a factor's data.
public_levels <- function(levels) {
  if (!is.factor(levels)) {
    return(levels)
  }
  factor(character(), base::levels(levels), ordered = is.ordered(levels))
}

# A `measure` of rr_realised(); Inf where nothing is randomized.
rr_loss <- function(epsilon, size, measure) {
  if (!is.finite(epsilon)) {
    return(Inf)
  }
  realised <- rr_realised(epsilon, size)
  kept_loss(realised[[measure]], epsilon, realised[["keeps"]] == 1)
}

rr_keeps <- function(epsilon, size) {
  !is.finite(epsilon) || rr_realised(epsilon, size)[["keeps"]] == 1
}

#' @exportS3Method
fingerprint_parts.confide_rr <- function(mechanism) {
  list(alphabet_spelling(mechanism$alphabet), mechanism$epsilon)
}

#' @exportS3Method
randomize.confide_rr <- function(mechanism, codes, rng) {
  rr_privatize(codes, mechanism$epsilon, mechanism$alphabet$size, rng)
}

#' @exportS3Method
channel_matrix.confide_rr <- function(mechanism) {
  rr_matrix(mechanism$alphabet, mechanism$epsilon)
}

rr_matrix <- function(alphabet, epsilon) {
  realised <- rr_realised(epsilon, alphabet$size)
  labels <- alphabet_labels(alphabet)
  channel <- matrix(realised[["other"]], alphabet$size, alphabet$size,
    dimnames = list(true = labels, reported = labels)
  )
  diag(channel) <- realised[["truthful"]]
  channel
}

#' @exportS3Method
format_title.confide_rr <- function(mechanism) {
  sprintf(
    "<randomized response>  %s, epsilon = %s", plural(mechanism$alphabet$size, "level"),
    format_epsilon(mechanism$epsilon)
  )
}

#' @exportS3Method
format_law.confide_rr <- function(mechanism) {
  realised <- rr_realised(mechanism$epsilon, mechanism$alphabet$size)
  c(
    format_served(mechanism$epsilon, realised[["certified_epsilon"]]),
    format_odds(mechanism$epsilon),
    sprintf(
      "truth reported with probability %s, each other level with %s",
      format_number(realised[["truthful"]], 3), format_number(realised[["other"]], 3)
    )
  )
}

# Above 44 the integers realise less than was asked; say so.
format_served <- function(asked, realised) {
  if (asked <= 44) {
    return(character())
  }
  sprintf(
    "served as epsilon = %s, the largest that 64-bit words can certify",
    format_epsilon(realised)
  )
}

#' @exportS3Method
format_precision.confide_rr <- function(mechanism) {
  format_share_error(mechanism$alphabet$size, mechanism$lambda)
}

# The standard error of a uniform share from n reports, times sqrt(n) (Ruiz 2026, section on
# estimation).
format_share_error <- function(k, lambda) {
  if (lambda == 0) {
    return("the reports hold no information: nothing can be estimated")
  }
  sprintf(
    "standard error of a share of %s from n reports: %s / sqrt(n)",
    format_number(1 / k, 3), format_number(sqrt((k - 1) / k^2) / lambda, 3)
  )
}
