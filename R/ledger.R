#' A ledger of what was spent
#'
#' Adds up the privacy of all releases about the same people: Renyi differential privacy at one
#' order alpha that is fixed at the start. Each release may be chosen after seeing the ones before,
#' with its noise and its cost, and one may stop at any time: the sum is valid at every moment. This
#' holds because certificates are ex-post: they belong to what was put out.
#'
#' @section Ex-post privacy:
#' A mechanism puts out a pair, a value and a certificate \eqn{\epsilon \ge 0}. Let p and q be the
#' densities of the pair on two neighbours and \eqn{L = \log(p / q)} the privacy loss. These are the
#' definitions in use:
#'
#' * pure ex-post: \eqn{L \le \epsilon} always (Ligett et al. 2017);
#' * alpha-ex-post Renyi: \eqn{E e^{(\alpha - 1)(L - \epsilon)} \le 1}, the mean being over the
#'   output on the first (Raisa, Koskela and Honkela 2026);
#' * ex-post zero-concentrated: a certificate \eqn{\rho} such that \eqn{\alpha \rho} is one at every
#'   alpha;
#' * delta-approximate ex-post: \eqn{E (1 - e^{\epsilon - L})_+ \le \delta};
#' * delta-probabilistic ex-post: \eqn{L > \epsilon} with probability at most delta (Whitehouse et
#'   al. 2022). Merging outputs may break this one; post-processing keeps the others.
#'
#' With a constant certificate, alpha-ex-post Renyi is (alpha, epsilon)-Renyi differential privacy.
#' A certificate that never exceeds B gives (alpha, B)-Renyi differential privacy, which is what
#' `limit` is for. Pure ex-post implies the second with the same epsilon at every alpha, but not
#' with \eqn{\alpha \epsilon^2 / 2}; a certificate at alpha is one at any smaller order.
#'
#' Sums: with \eqn{S_k = \prod_{j \le k} e^{(1 - \alpha) \epsilon_j} (p_j / q_j)^\alpha}, given what
#' was put out before, the mean of \eqn{S_k} under q is at most \eqn{S_{k-1}}. So \eqn{S_k} is a
#' supermartingale, and stopped at any time that depends on released outputs its mean is at most 1.
#'
#' Parts: when the people are divided into disjoint parts, a neighbour differs in one of them, the
#' factors of the others cancel, and the largest part counts. With `"add_remove"` neighbours each
#' record goes to its part by a coin of its own, with `"replace"` by a fixed set of row numbers.
#' Where one person may change two parts, charge everybody.
#'
#' @param alpha (number above 1) The order, fixed for good; see [plan_alpha()].
#' @param ... Unused; catches misspelt arguments.
#' @param neighbours (string, no default) As in [private_sum()]. Releases with another relation are
#'   refused.
#' @param limit (number above 0, or `NULL`) Charges that would take the sum above it (by more than
#'   one part in 10^9) are refused, before anything is released. `NULL`: no limit.
#' @param ledger,x (ledger) What to charge or to ask.
#' @param release (release, reports or mechanism) What was put out; its cost at alpha is computed. A
#'   release that was made with `ledger =` is charged already.
#' @param epsilon (number, at least 0) The Renyi epsilon at alpha of something else, such as
#'   [cost_gaussian()] gives. Exactly one of `release` and `epsilon` is given.
#' @param part (string or `NULL`) The part of the people it is about; `NULL`: everybody.
#' @param what (string) A label for the entry.
#' @returns `ledger()`: a ledger of class `confide_ledger` with `$alpha`, `$neighbours`, `$limit`.
#'   It is the one object of the package that changes: all copies are the same ledger. It lives in
#'   one R process and cannot be saved, so that no two copies go on spending. `charge()`: the
#'   ledger, invisibly. `spent()`: one number, the sum rounded up. `as.data.frame()`: one row for
#'   each charge with `what`, `part` and `epsilon`; a negative one gives back what a charge of the
#'   worst case was too large by.
#' @section Errors:
#' `confide_error_budget` for a charge above the limit and for a ledger in another process or from a
#' file; `confide_error_simulation` for releases with `rng = "r"`; `confide_error_parameter`
#' otherwise.
#' @references
#' Ligett, K., Neel, S., Roth, A., Waggoner, B. and Wu, Z. S. (2017). Accuracy first: selecting a
#' differential privacy level for accuracy-constrained ERM. *NeurIPS* 30.
#' \doi{10.48550/arXiv.1705.10829}
#'
#' Raisa, O., Koskela, A. and Honkela, A. (2026). Accuracy-first Renyi differential privacy and
#' post-processing immunity. \doi{10.48550/arXiv.2509.22213}
#'
#' Whitehouse, J., Ramdas, A., Wu, Z. S. and Rogers, R. (2022). Brownian noise reduction: maximizing
#' privacy subject to accuracy constraints. *NeurIPS* 35. \doi{10.48550/arXiv.2206.07234}
#' @seealso [cost_gaussian()] and the other costs, [as_approx_dp()], [brownian()]
#' @examples
#' l <- ledger(alpha = 20, neighbours = "add_remove", limit = 1)
#' hours <- c(40, 38, 20, 0, 60)
#' private_sum(hours, bound = 50, rho = 0.01, neighbours = "add_remove", ledger = l)
#' charge(l, epsilon = cost_pure(20, epsilon = 0.1), what = "a count elsewhere")
#' l
#' as_approx_dp(l, delta = 1e-6)
#' @export
ledger <- function(alpha, ..., neighbours, limit = NULL) {
  check_dots_empty(...)
  alpha <- check_alpha(alpha)
  neighbours <- check_neighbours(neighbours)
  limit <- if (is.null(limit)) Inf else check_positive(limit)
  new_ledger(alpha, neighbours, limit)
}

new_ledger <- function(alpha, neighbours, limit) {
  structure(
    list(
      alpha = alpha, neighbours = neighbours, limit = limit,
      handle = ledger_new(alpha, neighbours, limit, Sys.getpid())
    ),
    class = "confide_ledger"
  )
}

#' @rdname ledger
#' @export
charge <- function(ledger, release = NULL, ..., epsilon = NULL, part = NULL, what = NULL) {
  check_dots_empty(...)
  check_ledger(ledger)
  part <- check_label(part, "")
  if (is.null(release) == is.null(epsilon)) {
    abort_parameter(c(
      "Exactly one of {.arg release} and {.arg epsilon} must be given.",
      x = if (is.null(release)) "Neither is." else "Both are.",
      i = "For a number say {.code charge(ledger, epsilon = number)}."
    ))
  }
  if (is.null(release)) {
    return(charge_entry(ledger, check_epsilon(epsilon), check_label(what, "number"), part))
  }
  check_certificate(release)
  about <- release_privacy(release)
  check_chargeable(ledger, about)
  if (isTRUE(about$charged)) {
    abort_parameter("{.arg release} was charged to a ledger when it was made.")
  }
  what <- check_label(what, release_label(release))
  charge_entry(ledger, privacy_cost(about, ledger$alpha), what, part)
}

#' @rdname ledger
#' @export
spent <- function(x) {
  check_dots_empty()
  check_required(x, "Give a ledger.")
  check_ledger(x)
  ledger_spent(x$handle)
}

# For a verb with `ledger =`: called once, after all checks and before any noise, with what the
# verb's `privacy` list will hold: rho_realised or epsilon_realised (or the budgets that were
# asked), neighbours and rng. NULL is no ledger.
charge_before_noise <- function(ledger, privacy, what, call = rlang::caller_env()) {
  if (is.null(ledger)) {
    return(invisible())
  }
  check_ledger(ledger, call)
  check_chargeable(ledger, privacy, call)
  charge_entry(ledger, privacy_cost(privacy, ledger$alpha), what, "", call)
}

charge_entry <- function(ledger, epsilon, what, part, call = rlang::caller_env()) {
  if (ledger_charge(ledger$handle, what, part, epsilon)) {
    return(invisible(ledger))
  }
  would_be <- ledger_spent_with(ledger$handle, part, epsilon) # nolint: object_usage_linter. cli.
  abort_budget(c(
    "This would exceed the limit of the ledger; nothing was released or charged.",
    x = paste(
      "{.val {what}} costs {format_epsilon(epsilon)} at alpha {format(ledger$alpha)};",
      "the sum would be {format_epsilon(would_be)}."
    ),
    i = paste(
      "The limit is {format_epsilon(ledger$limit)},",
      "spent so far {format_epsilon(ledger_spent(ledger$handle))}."
    )
  ), call = call)
}

check_ledger <- function(ledger, call = rlang::caller_env()) {
  check_required(ledger, "Make one with ledger().", arg = "ledger", call = call)
  check_made_by(ledger, "ledger", "confide_ledger", call = call)
  if (!ledger_lives(ledger$handle)) {
    abort_budget(c(
      "This ledger went through a file; it cannot be charged or read.",
      i = "Its copy may have gone on spending. Keep one R session for one ledger."
    ), call = call)
  }
  if (!identical(ledger_process(ledger$handle), Sys.getpid())) {
    abort_budget(c(
      "This ledger was made in another process.",
      i = "Two processes would each spend all of it. Charge it where it was made."
    ), call = call)
  }
  made_with <- list(ledger_alpha(ledger$handle), ledger_neighbours(ledger$handle))
  if (!identical(made_with, list(ledger$alpha, ledger$neighbours))) {
    abort_internal(
      "This ledger was altered by hand: its alpha or neighbours are not those it was made with.",
      call = call
    )
  }
}

check_label <- function(x, default, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is.null(x)) {
    return(default)
  }
  if (is_text(x) && nzchar(x)) {
    return(enc2utf8(unname(x)))
  }
  abort_parameter(c("{.arg {arg}} must be one string.", x = "It is {describe(x)}."), call = call)
}

# A release's own statement; a mechanism's is that of one use of it on everybody's data.
release_privacy <- function(release, call = rlang::caller_env()) {
  if (!is.list(release) && !inherits(release, "confide_reports")) {
    abort_parameter(c(
      "{.arg release} must be a release of this package.",
      x = "It is {describe(release)}.",
      i = "For a number say {.code charge(ledger, epsilon = number)}."
    ), call = call)
  }
  privacy(release)
}

# What can be checked again is: a mechanism and a curator's handle by their seals, sums and counts
# by their noise.
check_certificate <- function(release, call = rlang::caller_env()) {
  if (inherits(release, "confide_mechanism")) {
    check_mechanism(release, call)
  } else if (identical(class(release), "confide_release")) {
    check_made_with(release, "release", call)
    check_release(release, call = call)
  } else if (is.list(release) && !is.null(release$seal)) {
    check_unaltered(release, call)
  }
}

release_label <- function(release) {
  label <- if (is.list(release)) release$kind
  if (is.character(label)) label else sub("^confide_", "", class(release)[[1]])
}

check_chargeable <- function(ledger, privacy, call = rlang::caller_env()) {
  source <- privacy$rng %||% "os"
  if (source != "os" && !(source == "replay" && is_audited())) {
    abort_simulation(call)
  }
  if (!is.null(privacy$neighbours) && privacy$neighbours != ledger$neighbours) {
    abort_parameter(c(
      "The release and the ledger must agree on the neighbours.",
      x = "The release hides {.val {privacy$neighbours}}, the ledger {.val {ledger$neighbours}}.",
      i = "Make the release with {.code neighbours = \"{ledger$neighbours}\"}."
    ), call = call)
  }
}

# The Renyi epsilon at alpha of a statement: zero-concentrated, pure, or ex-post at an order. A pure
# ex-post epsilon costs itself: the smaller cost of a constant one does not hold for it.
privacy_cost <- function(privacy, alpha, call = rlang::caller_env()) {
  if (!states_a_cost(privacy)) {
    abort_internal(c(
      "This release failed its certificate: it states no cost that is a number, at least 0.",
      i = "It was altered by hand. Nothing was charged."
    ), call = call)
  }
  rho <- privacy$rho_realised %||% privacy$rho %||% privacy$expost_rho
  if (!is.null(rho)) {
    return(outward(alpha * rho))
  }
  epsilon <- privacy$epsilon_realised %||% privacy$epsilon
  if (isTRUE(privacy$expost)) {
    return(epsilon)
  }
  if (!is.null(privacy$laplace_step)) {
    return(laplace_cost(alpha, privacy$laplace_step, epsilon))
  }
  if (is.null(privacy$alpha)) {
    return(pure_cost(alpha, epsilon))
  }
  if (privacy$alpha >= alpha) {
    return(epsilon)
  }
  abort_parameter(c(
    "The release's certificate must hold at the alpha of the ledger.",
    x = "It is for alpha {format(privacy$alpha)}, the ledger's is {format(alpha)}.",
    i = "A certificate holds at smaller orders, not at larger ones."
  ), call = call)
}

states_a_cost <- function(privacy) {
  costs <- unclass(privacy)[c("rho_realised", "rho", "expost_rho", "epsilon_realised", "epsilon")]
  costs <- Filter(Negate(is.null), costs)
  orders <- Filter(Negate(is.null), unclass(privacy)[c("alpha", "laplace_step")])
  length(costs) > 0 && all(vapply(c(costs, orders), function(number) {
    is_plain_number(number) && !is.na(number) && number >= 0
  }, logical(1)))
}

#' @exportS3Method
committed_certificate.confide_ledger <- function(x, call) {
  check_ledger(x, call)
  list(epsilon = ledger_spent(x$handle), alpha = x$alpha)
}

#' @export
privacy.confide_ledger <- function(x, ...) {
  check_dots_empty(...)
  check_ledger(x)
  structure(list(
    definition = "ex-post Renyi differential privacy",
    alpha = x$alpha,
    epsilon = ledger_spent(x$handle),
    epsilon_realised = ledger_spent(x$handle),
    model = "central: the data are seen by whoever computes the releases",
    unit = "one row: all values of one person",
    neighbours = x$neighbours,
    noise = "that of the releases",
    rng = "os"
  ), class = "confide_privacy")
}

#' @export
epsilon.confide_ledger <- function(x, ..., delta) {
  check_dots_empty(...)
  as_approx_dp(x, delta = delta)
}

#' @rdname ledger
#' @param row.names,optional Ignored; arguments of the generic.
#' @export
as.data.frame.confide_ledger <- function(x,
                                         row.names = NULL, # nolint: object_name_linter. Generic's.
                                         optional = FALSE, ...) {
  check_dots_empty(...)
  check_ledger(x)
  as.data.frame(ledger_entries(x$handle))
}

#' @export
format.confide_ledger <- function(x, ..., n = 4L) {
  n <- check_shown(n)
  if (!ledger_lives(x$handle)) {
    return(c("<ledger>", "it went through a file and cannot be charged or read"))
  }
  spent <- ledger_spent(x$handle)
  parts <- ledger_parts(x$handle)
  shown <- utils::head(sort(parts, decreasing = TRUE), n)
  c(
    paste0("<ledger>  ", format_guarantee(privacy(x))),
    sprintf(
      "spent %s%s in %s", format_epsilon(spent),
      if (is.finite(x$limit)) paste(" of", format_epsilon(x$limit)) else ", no limit",
      plural(length(ledger_entries(x$handle)$what), "charge")
    ),
    sprintf("  %s  %s", format(names(shown)), vapply(shown, format_epsilon, "")),
    if (length(parts) > 0) {
      c(format_rest(length(parts), n, "part"), "disjoint parts: the largest counts")
    },
    sprintf(
      "so far (epsilon = %s, delta = 1e-06), by the hockey stick",
      format_epsilon(hockey_stick_epsilon(spent, x$alpha, 1e-6))
    ),
    "valid whenever you stop; alpha stays the one chosen at the start",
    format_protects(privacy(x))
  )
}
