#' From Renyi to approximate differential privacy
#'
#' Turns a certificate into an (epsilon, delta) statement. The order alpha must have been chosen
#' before the release was seen: with ex-post privacy the certificate depends on the output, and the
#' smallest epsilon over many alphas is not valid. So these functions take one alpha, or a mixture
#' with weights that were fixed beforehand, and never minimise.
#'
#' @param x (ledger, release of [brownian()], [above_threshold()] or [accuracy_first()], or number,
#'   at least 0) What was spent: the Renyi epsilon at `alpha`. For a mixture a vector, one for each
#'   `alpha`.
#' @param ... Unused; catches misspelt arguments.
#' @param alpha (number above 1) The order at which `x` holds, for a number; a ledger has its own.
#'   For a mixture a vector.
#' @param delta (number in (0, 1)) The probability given away.
#' @param how (string) `"hockey_stick"` (default): the probability of any event grows by at most the
#'   factor \eqn{e^\epsilon} plus delta, where epsilon may be random. Post-processing keeps it, and
#'   when the certificate is a constant it is ordinary (epsilon, delta)-differential privacy.
#'   `"probabilistic"`: the privacy loss exceeds epsilon with probability at most delta; larger, and
#'   merging outputs may break it. `"mixture"`: that, from several alphas.
#'   `"mixture_hockey_stick"`: the first, from several alphas. For `zcdp_to_approx_dp()`:
#'   `"constant"`, the minimum over alpha, only for a `rho` that was fixed beforehand; `"mixture"`
#'   for a rho that depends on the output, as that of [brownian()] does; it holds at all times at
#'   once.
#' @param weights (numbers above 0 with sum 1) Of the alphas, fixed beforehand; equal by default.
#' @param rho (number above 0) The parameter of zero-concentrated differential privacy.
#' @param r (number above 0) For the mixture, and without a default, because it is to be fixed
#'   before the release: about 0.08 times the rho that you expect (best for delta 1e-5).
#' @param epsilon (number, at least 0) For `approx_dp_delta()`: the epsilon at which delta is
#'   wanted, by the hockey stick.
#' @returns One number, rounded up. `plan_alpha()`: the order at which an expected `rho` converts
#'   best, \eqn{1 + \sqrt{\log(1 / \delta) / \rho}}.
#' @section Why:
#' Let L be the privacy loss and \eqn{\epsilon} the certificate, both random, with
#' \eqn{E e^{(\alpha - 1)(L - \epsilon)} \le 1}. Probabilistic: Markov's inequality. Hockey stick:
#' \eqn{\sup_{x \ge 0} (1 - e^{-x}) e^{-(\alpha - 1) x} = (1 - 1 / \alpha)^{\alpha - 1} / \alpha},
#' so \eqn{(1 - e^{\epsilon' - L})_+ \le \delta e^{(\alpha - 1)(L - \epsilon)}} for every output,
#' and its mean is at most delta. Mixtures: the same with a weighted sum over alphas, which also has
#' mean at most 1; for zero-concentrated privacy the weights are a half-normal density over alpha,
#' and \eqn{2 \sqrt{r / (v + r)} e^{x^2 / (2 (v + r))} \Phi(x / \sqrt{v + r}) = 1 / \delta} with
#' \eqn{v = 2 \rho} is solved for \eqn{x = \epsilon' - \rho}.
#' @section Errors:
#' `confide_error_parameter` for delta, alpha or weights outside their range, a number without its
#' alpha, an alpha given for a ledger or release, `r` missing for the mixture, and for what has no
#' certificate; `confide_error_internal` for a ledger or release that was altered by hand.
#' @references
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential
#' privacy. *NeurIPS* 33. \doi{10.48550/arXiv.2004.00010}
#'
#' Raisa, O., Koskela, A. and Honkela, A. (2026). Accuracy-first Renyi differential privacy and
#' post-processing immunity. \doi{10.48550/arXiv.2509.22213}
#' @seealso [ledger()]
#' @examples
#' as_approx_dp(0.0464, alpha = 20, delta = 1e-5)
#' approx_dp_delta(0.0464, alpha = 20, epsilon = 0.5)
#' zcdp_to_approx_dp(0.1, delta = 1e-6)
#' zcdp_to_approx_dp(0.1, delta = 1e-6, how = "mixture", r = 0.008)
#' plan_alpha(rho = 0.1, delta = 1e-6)
#' @export
as_approx_dp <- function(x, ..., alpha = NULL, delta,
                         how = c(
                           "hockey_stick", "probabilistic", "mixture", "mixture_hockey_stick"
                         ),
                         weights = NULL) {
  check_dots_empty(...)
  check_required(x, "Give a ledger, a release or a number.")
  how <- check_choice(how, c(
    "hockey_stick", "probabilistic", "mixture", "mixture_hockey_stick"
  ))
  delta <- check_open_delta(delta)
  spent <- certificate_of(x, alpha, how)
  if (startsWith(how, "mixture")) {
    weights <- check_weights(weights, length(spent$epsilon))
    return(mixture_epsilon(spent, weights, delta, how))
  }
  if (!is.null(weights)) {
    abort_parameter(c(
      "{.arg weights} are for mixtures.",
      x = "{.arg how} is {.val {how}}."
    ))
  }
  if (how == "hockey_stick") {
    hockey_stick_epsilon(spent$epsilon, spent$alpha, delta)
  } else {
    outward(spent$epsilon - log(delta) / (spent$alpha - 1))
  }
}

#' @rdname as_approx_dp
#' @export
approx_dp_delta <- function(x, ..., alpha = NULL, epsilon) {
  check_dots_empty(...)
  check_required(x, "Give a ledger, a release or a number.")
  check_required(epsilon)
  epsilon <- check_epsilon(epsilon)
  spent <- certificate_of(x, alpha, "hockey_stick")
  order <- spent$alpha
  exponent <- (order - 1) * (spent$epsilon - epsilon) + (order - 1) * log1p(-1 / order) - log(order)
  # rounded up, also where it is below the smallest double
  slack <- 2^-46 * (1 + min(abs(exponent), 1e3))
  min(1, max(2^-1074, exp(exponent + slack)))
}

#' @rdname as_approx_dp
#' @export
zcdp_to_approx_dp <- function(rho, delta, how = c("constant", "mixture"), r = NULL) {
  check_dots_empty()
  check_required(rho)
  rho <- check_positive(rho)
  delta <- check_open_delta(delta)
  how <- check_choice(how, c("constant", "mixture"))
  if (how == "mixture") {
    return(half_normal_epsilon(rho, delta, check_mixture_r(r, rho)))
  }
  if (!is.null(r)) {
    abort_parameter("{.arg r} is for {.code how = \"mixture\"}.")
  }
  if (!is.finite(2 * rho)) {
    return(Inf) # no alpha has a cost that is a double
  }
  # Every alpha gives a valid bound for a constant rho, so the search need not be exact. It is of
  # log(alpha - 1), around plan_alpha(), as far from -Inf as doubles can tell alpha from 1.
  centre <- max((log(-log(delta)) - log(rho)) / 2, -25)
  outward(stats::optimize(function(log_order) {
    alpha <- 1 + exp(log_order)
    hockey_stick_epsilon(alpha * rho, alpha, delta)
  }, centre + c(-6, 6), tol = 1e-9)$objective)
}

#' @rdname as_approx_dp
#' @export
plan_alpha <- function(rho, delta) {
  check_dots_empty()
  check_required(rho)
  alpha_for(check_positive(rho), check_open_delta(delta))
}

alpha_for <- function(rho, delta) 1 + sqrt(-log(delta) / rho)

check_open_delta <- function(delta, call = rlang::caller_env()) {
  check_required(delta, "Far below 1 / number of people, such as 1e-6.",
    arg = "delta", call = call
  )
  check_number(
    delta, "above 0 and below 1", function(x) x > 0 && x < 1,
    "Renyi differential privacy has no finite epsilon at {.arg delta} 0.",
    call = call
  )
}

check_mixture_r <- function(r, rho, call = rlang::caller_env()) {
  if (is.null(r)) {
    abort_parameter(c(
      "{.arg r} must be given for the mixture, fixed before the release was seen.",
      i = "0.08 times the rho that was expected is best for delta 1e-5."
    ), call = call)
  }
  check_positive(r, arg = "r", call = call)
}

# The certificate and the order it holds at; for mixtures vectors.
certificate_of <- function(x, alpha, how, call = rlang::caller_env()) {
  if (is.numeric(x) && !is.object(x)) {
    return(check_certificates(x, alpha, how, call))
  }
  if (!is.null(alpha) || startsWith(how, "mixture")) {
    abort_parameter(c(
      "The alpha of a ledger or release was fixed when it was made.",
      x = if (is.null(alpha)) {
        "A mixture needs numbers at several alphas."
      } else {
        "{.arg alpha} is given."
      },
      i = "Choosing alpha after the output was seen is not valid."
    ), call = call)
  }
  check_committed(committed_certificate(x, call), call)
}

check_committed <- function(committed, call) {
  valid <- is_plain_number(committed$epsilon) && is_finite_number(committed$alpha) &&
    isTRUE(committed$epsilon >= 0) && committed$alpha > 1
  if (!valid) {
    abort_internal("{.arg x} was altered by hand: its certificate is no number.", call = call)
  }
  committed
}

committed_certificate <- function(x, call) UseMethod("committed_certificate")

#' @exportS3Method
committed_certificate.default <- function(x, call) {
  abort_parameter(c(
    "{.arg x} must be a ledger, an ex-post release or a number with its {.arg alpha}.",
    x = "It is {describe(x)}.",
    i = if (inherits(x, c("confide_release", "confide_mean"))) {
      "For a release with {.field rho}: {.code epsilon(x, delta = 1e-6)}."
    }
  ), call = call)
}

check_certificates <- function(x, alpha, how, call) {
  epsilon <- check_numbers(x, "finite and at least 0", function(x) is.finite(x) & x >= 0,
    arg = "x", call = call
  )
  if (is.null(alpha)) {
    abort_parameter(c(
      "{.arg alpha} must be given with a number: the order at which it holds.",
      i = "It has no default."
    ), call = call)
  }
  alpha <- check_numbers(alpha, "finite numbers above 1", function(x) is.finite(x) & x > 1,
    arg = "alpha", call = call
  )
  single <- length(epsilon) == 1 && length(alpha) == 1
  if (length(epsilon) != length(alpha) || (!single && !startsWith(how, "mixture"))) {
    abort_parameter(c(
      "{.arg x} and {.arg alpha} must be one number each; several are for mixtures.",
      x = "Found {length(epsilon)} and {length(alpha)}.",
      i = "The minimum over alphas is not valid when {.arg x} depends on the output."
    ), call = call)
  }
  list(epsilon = epsilon, alpha = alpha)
}

check_weights <- function(weights, k, call = rlang::caller_env()) {
  weights <- check_probabilities(weights %||% rep(1 / k, k), k, arg = "weights", call = call)
  if (any(weights == 0)) {
    abort_parameter("{.arg weights} must be above 0; leave the other alphas out.", call = call)
  }
  weights
}

hockey_stick_epsilon <- function(epsilon, alpha, delta) {
  shrinkage <- log1p(-1 / alpha)
  price <- -(log(delta) + log(alpha)) / (alpha - 1)
  # the parts may cancel: each is rounded up by itself
  slack <- 2^-50 * (epsilon - shrinkage + (log(alpha) - log(delta)) / (alpha - 1))
  max(0, outward(epsilon + shrinkage + price + slack))
}

# log sum_i w_i e^((alpha_i - 1)(loss - epsilon_i)): of mean at most 0, in the exponential.
log_mixture <- function(loss, spent, weights) {
  terms <- log(weights) + (spent$alpha - 1) * (loss - spent$epsilon)
  max(terms) + log(sum(exp(terms - max(terms))))
}

mixture_epsilon <- function(spent, weights, delta, how) {
  # Each alpha alone, with its share of delta, bounds the mixture from above.
  upper <- max(spent$epsilon - (log(delta) + log(weights)) / (spent$alpha - 1))
  holds <- if (how == "mixture") {
    function(epsilon) log_mixture(epsilon, spent, weights) >= -log(delta)
  } else {
    function(epsilon) mixture_excess(epsilon, spent, weights) <= log(delta)
  }
  outward(smallest_true(0, upper, holds))
}

# sup over u > 0 of log(1 - e^-u) - log_mixture(epsilon + u): concave; its derivative 1 / (e^u - 1)
# minus the mean of alpha - 1 decreases.
mixture_excess <- function(epsilon, spent, weights) {
  slope <- function(u) {
    terms <- log(weights) + (spent$alpha - 1) * (epsilon + u - spent$epsilon)
    shares <- exp(terms - max(terms))
    1 / expm1(u) - sum(shares * (spent$alpha - 1)) / sum(shares)
  }
  u <- smallest_true(
    log1p(1 / (max(spent$alpha) - 1)), log1p(1 / (min(spent$alpha) - 1)),
    function(u) slope(u) <= 0
  )
  log(-expm1(-u)) - log_mixture(epsilon + u, spent, weights)
}

# One-sided, so that it holds for any loss and not only for a Gaussian one.
half_normal_epsilon <- function(rho, delta, r) {
  width <- 2 * rho + r
  shape <- log(2) + (log(r) - log(width)) / 2
  holds <- function(x) {
    shape + x^2 / (2 * width) + stats::pnorm(x / sqrt(width), log.p = TRUE) >= -log(delta)
  }
  upper <- sqrt(2 * width * (log(2) - log(delta) - shape)) # there pnorm() is at least 1/2
  outward(rho + smallest_true(0, upper, holds))
}

# The upper end of a bisection down to neighbouring doubles; holds(upper) is known.
smallest_true <- function(lower, upper, holds) {
  if (lower >= upper || holds(lower)) {
    return(lower)
  }
  repeat {
    middle <- lower + (upper - lower) / 2
    if (middle <= lower || middle >= upper) {
      return(upper)
    }
    if (holds(middle)) upper <- middle else lower <- middle
  }
}
