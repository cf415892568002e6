#' Privacy beyond one number
#'
#' `privacy_profile()` gives delta as a function of epsilon: the probability with which the bound
#' \eqn{e^\epsilon} may fail. `renyi_epsilon()` gives the Renyi divergence, and `privacy_measures()`
#' other distances between the reports of two values. Each is that of the two records that are
#' easiest to tell apart.
#'
#' @section How they are computed:
#' The privacy loss of one attribute with k levels is \eqn{\epsilon_j} with probability a, 0 with
#' probability (k - 2) b and \eqn{-\epsilon_j} with probability b, where
#' \eqn{b = 1 / (e^{\epsilon_j} + k - 1)} and \eqn{a = e^{\epsilon_j} b}. The loss of a record is
#' the sum over its attributes. Its law is convolved exactly, attributes of equal epsilon and size
#' in one group, while it has at most 2^18 values; otherwise on a grid of 2^18 steps with a pair of
#' distributions that dominates the true one (Doroshenko et al. 2022). Rounding goes against the
#' claim: no number here is below the truth. Divergences of Renyi and of Kullback and Leibler add up
#' over the attributes. For the mechanisms of one attribute other than [mech_rr()] all pairs of rows
#' of the channel are compared.
#'
#' With noise of your own the losses are those of the two levels that the noise gives least often:
#' told apart in one order or in the other, no other two levels are easier to tell apart at any
#' epsilon. Which order is worse depends on epsilon and on the other attributes, so all products of
#' them are composed and the largest delta is taken. Where these are too many (beyond about eight
#' different attributes with noise of their own) one law that dominates both orders takes their
#' place: then delta and epsilon are upper bounds, mostly close ones.
#'
#' @param mechanism (mechanism) Made by [mech_lambda()], [mech_rr()], [mech_matrix()],
#'   [mech_block()] or [mech_spr()].
#' @param epsilon (finite numbers, at least 0) Where to evaluate the profile.
#' @param alpha (numbers above 1, `Inf` allowed) Orders of the Renyi divergence.
#' @returns `privacy_profile()`: numbers from 0 to 1, one for each `epsilon`; 0 from `epsilon(m)`
#' on.
#'
#'   `renyi_epsilon()`: numbers in natural logarithms, one for each `alpha`; never above
#'   `epsilon(m)`, which is that of order `Inf`.
#'
#'   `privacy_measures()`: a data frame with a row for each attribute, then a row `"joint"`, and
#'   columns `attribute` (character), `epsilon`, `tv` (total variation distance, which is delta at
#'   epsilon 0; lambda for an attribute), `kl` (Kullback-Leibler divergence, lambda times epsilon
#'   for an attribute), `chi2` (chi-squared divergence), `bayes_success` (probability that the best
#'   guess from the report is right, when all values are equally likely beforehand).
#' @section Errors:
#' `confide_error_parameter` for epsilon or alpha outside their range, and for a channel that is
#' compared and has more than 4,096 rows or columns.
#' @references
#' Doroshenko, V., Ghazi, B., Kamath, P., Kumar, R. and Manurangsi, P. (2022). Connect the dots:
#' tighter discrete approximations of privacy loss distributions. *Proceedings on Privacy Enhancing
#' Technologies* 2022(4), 552-570.
#'
#' Mironov, I. (2017). Renyi differential privacy. *IEEE Computer Security Foundations Symposium*,
#' 263-275. \doi{10.1109/CSF.2017.11}
#'
#' Zhu, Y., Dong, J. and Wang, Y.-X. (2022). Optimal accounting of differential privacy via
#' characteristic function. *International Conference on Artificial Intelligence and Statistics*.
#' For the composition of dominating pairs.
#' @seealso [epsilon()] with `delta` for the inverse of the profile; [mechanism_entropy()].
#' @examples
#' m <- mech_lambda(as.list(c(a = 5, b = 5, c = 2)), lambda = 0.2)
#' privacy_profile(m, c(0, 0.5, 1))
#' epsilon(m, delta = 0.01)
#' renyi_epsilon(m, c(2, 10))
#' privacy_measures(m)
#' @export
privacy_profile <- function(mechanism, epsilon) {
  check_dots_empty()
  check_mechanism(mechanism)
  check_required(epsilon, "Give the values at which delta is wanted.")
  epsilon <- check_numbers(epsilon, "finite and at least 0", function(x) is.finite(x) & x >= 0)
  delta_at(mechanism, epsilon)
}

#' @rdname privacy_profile
#' @export
renyi_epsilon <- function(mechanism, alpha) {
  check_dots_empty()
  check_mechanism(mechanism)
  check_required(alpha, "Orders between 2 and 64 are common.")
  alpha <- check_numbers(alpha, "above 1", function(x) x > 1)
  renyi_at(mechanism, alpha)
}

#' @rdname privacy_profile
#' @export
privacy_measures <- function(mechanism) {
  check_mechanism(mechanism)
  parts <- measures_by_attribute(mechanism)
  joint <- data.frame(
    attribute = "joint",
    epsilon = claimed_epsilon(mechanism),
    tv = privacy_profile(mechanism, 0),
    kl = sum(parts$kl),
    chi2 = expm1(sum(log1p(parts$chi2))),
    bayes_success = prod(parts$bayes_success)
  )
  rbind(parts, joint, make.row.names = FALSE)
}

# delta at each epsilon, the smallest epsilon at one delta, the Renyi divergence at each alpha: of a
# channel by comparing its rows, of independent randomized responses by composing them.
delta_at <- function(mechanism, epsilon) UseMethod("delta_at")
epsilon_at <- function(mechanism, delta) UseMethod("epsilon_at")
renyi_at <- function(mechanism, alpha) UseMethod("renyi_at")
measures_by_attribute <- function(mechanism) UseMethod("measures_by_attribute")

# What composes the record: one randomized response for each attribute. The last three columns are
# those of known noise: lambda, and (1 - lambda) q of the two levels that q gives least often.
responses <- function(mechanism) {
  alphabets <- mechanism$alphabets %||% list(level = mechanism$alphabet)
  parts <- data.frame(
    attribute = names(alphabets),
    epsilon = unname(mechanism$epsilon),
    levels = unname(alphabet_sizes(alphabets)),
    kept = NA_real_, rarest = NA_real_, second = NA_real_
  )
  for (name in names(mechanism$noise)) {
    law <- mechanism$noise[[name]]
    least <- law$replaced * sort(unname(law$asked))[1:2]
    parts[parts$attribute == name, c("kept", "rarest", "second")] <- c(law$lambda, least)
  }
  parts
}

#' @exportS3Method
delta_at.confide_lambda <- function(mechanism, epsilon) {
  composition_delta(responses(mechanism), epsilon)
}

#' @exportS3Method
epsilon_at.confide_lambda <- function(mechanism, delta) {
  composition_epsilon(responses(mechanism), delta)
}

#' @exportS3Method
renyi_at.confide_lambda <- function(mechanism, alpha) {
  sums <- apply(response_renyi(responses(mechanism), alpha), 1, sum_rounded_up)
  pmin(as.numeric(sums), claimed_epsilon(mechanism))
}

#' @exportS3Method
measures_by_attribute.confide_lambda <- function(mechanism) {
  parts <- responses(mechanism)
  # Stable also at small epsilon; Ruiz 2026: lambda = a - b, and a = lambda + (1 - lambda) / k.
  odds <- exp(-parts$epsilon)
  truthful <- 1 / (1 + (parts$levels - 1) * odds)
  lambda <- -expm1(-parts$epsilon) * truthful
  measures <- data.frame(
    attribute = parts$attribute,
    epsilon = parts$epsilon,
    tv = lambda,
    kl = lambda * parts$epsilon,
    # the closed form of lambda^2 (1 / a + 1 / b), which keeps its digits near epsilon 0
    chi2 = lambda * 2 * sinh(parts$epsilon),
    bayes_success = truthful
  )
  noisy <- !is.na(parts$kept)
  measures[noisy, names(measures)] <- noise_measures(parts[noisy, ])
  measures
}

# The larger of the two worst pairs of true values, see src/composition.h; c is (1 - lambda) q. No
# level is likelier under another truth than under itself, so the best guess is the report.
noise_measures <- function(parts) {
  lambda <- parts$kept
  divergence <- function(own, other) {
    own_loss <- log1p(lambda / own)
    other_loss <- ifelse(other > 0, log1p(lambda / other), 0)
    (lambda + own) * own_loss - other * other_loss
  }
  data.frame(
    attribute = parts$attribute, epsilon = parts$epsilon, tv = lambda,
    kl = pmax(divergence(parts$rarest, parts$second), divergence(parts$second, parts$rarest)),
    chi2 = lambda^2 * (1 / parts$rarest + 1 / (lambda + parts$second)),
    bayes_success = lambda + (1 - lambda) / parts$levels
  )
}

# One attribute is a record of one.
#' @exportS3Method
delta_at.confide_rr <- delta_at.confide_lambda

#' @exportS3Method
epsilon_at.confide_rr <- epsilon_at.confide_lambda

#' @exportS3Method
renyi_at.confide_rr <- renyi_at.confide_lambda

#' @exportS3Method
measures_by_attribute.confide_rr <- measures_by_attribute.confide_lambda

#' @exportS3Method
delta_at.confide_mechanism <- function(mechanism, epsilon) {
  channel_delta(as.matrix(mechanism), claimed_epsilon(mechanism), epsilon)
}

#' @exportS3Method
epsilon_at.confide_mechanism <- function(mechanism, delta) {
  channel_epsilon(as.matrix(mechanism), claimed_epsilon(mechanism), delta)
}

#' @exportS3Method
renyi_at.confide_mechanism <- function(mechanism, alpha) {
  channel_renyi(as.matrix(mechanism), claimed_epsilon(mechanism), alpha)
}

#' @exportS3Method
measures_by_attribute.confide_mechanism <- function(mechanism) {
  channel <- as.matrix(mechanism)
  divergences <- channel_kl_and_chi2(channel, claimed_epsilon(mechanism))
  data.frame(
    attribute = "level",
    epsilon = claimed_epsilon(mechanism),
    tv = delta_at(mechanism, 0),
    kl = divergences[["kl"]],
    chi2 = divergences[["chi2"]],
    bayes_success = sum(apply(channel, 2, max)) / nrow(channel)
  )
}
