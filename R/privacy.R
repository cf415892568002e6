#' The guarantee of an object
#'
#' `privacy()` gives the full statement: what is promised, to whom, with which parameters.
#' `epsilon()` gives the number.
#'
#' @section What is promised:
#' For any two values of one person, the probability of any report differs by at most a factor of
#' \eqn{e^\epsilon}. This holds for the numbers really computed: channels are integer weights and
#' their ratios are checked by integer arithmetic; printed parameters are rounded up.
#'
#' For a release from central data ([private_sum()], [private_count()]): for any two data sets that
#' are neighbours in the sense printed with it, the distributions of the released value satisfy the
#' printed guarantee. Noise is drawn exactly from its discrete law on a power-of-two grid; records
#' are rounded to the grid one by one and added as integers.
#'
#' @section What it rests on:
#' 1. The operating system's random numbers cannot be told from uniform bits. Strictly, the
#'    guarantee is therefore computational.
#' 2. Levels, bounds, columns and neighbours were declared without looking at the private data.
#' 3. All reports and releases about one person are counted: epsilons add up, rhos add up. confide
#'    cannot see what was released elsewhere.
#' 4. One row is one person.
#' 5. The machine, R and this session are trusted.
#'
#' @section What is not protected:
#' * Running time (noise takes the longer the larger it is), memory, swap and core dumps.
#' * The R session: it holds the data, and so may `.RData` and `.Rhistory`. Who can run code in it
#'   sees them.
#' * Errors raised while data are prepared: that the declared domain was left depends on the data.
#'   Show them only to who holds the data.
#' * Anything released besides: plots of raw data, survey weights, the number of rows with
#'   `"replace"` or `"zero_out"` neighbours, the fact that you chose to publish.
#' * Whatever is made with `rng = "r"` or [simulate()][simulate.confide_mechanism]; it says so.
#'
#' @section What the numbers mean:
#' Epsilon bounds how much the odds of any statement about one person can change because of a
#' release: by a factor of at most \eqn{e^\epsilon}. A rho bounds the logarithm of that factor on
#' average over releases, by rho, and makes large values as rare as a normal law does: an unlikely
#' release may tell more. Neither bounds what the statistics reveal about groups, or about a person
#' through the group.
#'
#' @param x (mechanism, reports, counts, estimate, test or release) What to state the guarantee of.
#' @param delta (number in [0, 1)) Probability with which the bound may fail. 0 (default) is pure
#'   differential privacy. Above 0 `epsilon()` of a mechanism is the smallest number that holds with
#'   this delta, by exact composition over the attributes (see [privacy_profile()]); with many
#'   attributes of small epsilon it is far below the sum. Of a release with `rho` it is converted by
#'   [zcdp_to_approx_dp()], of a ledger or an ex-post release by [as_approx_dp()]; all need a delta
#'   above 0.
#' @param ... Unused; catches misspelt arguments.
#' @returns `privacy()`: a list of class `confide_privacy` with `definition`, `epsilon` (asked, an
#'   upper bound), `epsilon_realised` (of the sampler's integers), `model`, `unit`, `neighbours`,
#'   `noise`, `rng`; a release with Gaussian noise has `rho` and `rho_realised` in the place of the
#'   epsilons. `epsilon()`: one number in natural logarithms; for [mech_lambda()] that of a
#'   whole record.
#' @section Errors:
#' `confide_error_parameter` for what carries no guarantee, reports that lost theirs, and a delta
#' outside its range, or 0 where no finite epsilon holds; `confide_error_internal` for what was
#' altered by hand.
#' @examples
#' m <- mech_lambda(list(a = 3, b = 2), epsilon = c(a = 1, b = 0.5))
#' privacy(m)
#' epsilon(m)
#' epsilon(m, delta = 1e-3)
#' @export
privacy <- function(x, ...) {
  check_required(x, "Give an object of this package.")
  UseMethod("privacy")
}

#' @rdname privacy
#' @export
epsilon <- function(x, ...) {
  check_required(x, "Give an object of this package.")
  UseMethod("epsilon")
}

#' @rdname privacy
#' @export
privacy.confide_mechanism <- function(x, ...) {
  check_dots_empty(...)
  check_mechanism(x)
  mechanism_privacy(x)
}

# The statement, also of a mechanism that is being made and has no seal yet.
mechanism_privacy <- function(x) UseMethod("mechanism_privacy")

#' @exportS3Method
mechanism_privacy.confide_mechanism <- function(x) {
  realised <- realised_loss(x)
  structure(list(
    definition = "pure local differential privacy",
    epsilon = claimed_epsilon(x),
    epsilon_realised = sum_rounded_up(realised),
    by_attribute = if (length(realised) > 1) realised,
    model = "local: each value is randomized before anyone else sees it",
    unit = "one row: all answers of one person",
    neighbours = "replace",
    noise = "exact integer weights over 64-bit words",
    rng = NULL
  ), class = "confide_privacy")
}

#' @rdname privacy
#' @export
epsilon.confide_mechanism <- function(x, ..., delta = 0) {
  check_dots_empty(...)
  check_mechanism(x)
  delta <- check_delta(delta)
  if (delta == 0) claimed_epsilon(x) else epsilon_at(x, delta)
}

# A sum of doubles may round down; a claim may not.
claimed_epsilon <- function(mechanism) {
  sum_rounded_up(unname(mechanism$epsilon))
}

# A double that bounds or rounds the loss of integers may lie some units above the claim that they
# keep. Any other loss is told as it is.
kept_loss <- function(loss, claim, keeps) {
  rounding <- claim * 2^-50 + 2^-59
  if (keeps && loss <= claim + rounding) min(loss, claim) else loss
}

# The certified epsilon of the sampler's integers, one number for each attribute.
realised_loss <- function(mechanism) UseMethod("realised_loss")

#' @exportS3Method
realised_loss.confide_rr <- function(mechanism) {
  rr_loss(mechanism$epsilon, mechanism$alphabet$size, "certified_epsilon")
}

#' @exportS3Method
realised_loss.confide_lambda <- function(mechanism) {
  attribute_losses(mechanism, "certified_epsilon")
}

#' @exportS3Method
realised_loss.confide_matrix <- function(mechanism) {
  channel_measure(mechanism, "epsilon")
}

#' @export
privacy.confide_reports <- function(x, ...) {
  check_dots_empty(...)
  about <- attr(x, "confide")
  if (is.null(about)) {
    abort_parameter(c(
      "These reports lost what is known of their mechanism.",
      i = "Ask the mechanism: {.code privacy(mechanism)}."
    ))
  }
  about$privacy
}

# All that is released or made from reports carries its statement. Where it can be checked it is.
#' @export
privacy.default <- function(x, ...) {
  check_dots_empty(...)
  if (!is.list(x) || !inherits(x$privacy, "confide_privacy")) {
    abort_no_privacy(x)
  }
  check_certificate(x)
  x$privacy
}

#' @export
epsilon.default <- function(x, ...) {
  check_dots_empty(...)
  privacy(x)$epsilon
}

abort_no_privacy <- function(x, call = rlang::caller_env()) {
  abort_parameter(c(
    "{.arg x} must be an object of this package that carries a guarantee.",
    x = "It is {describe(x)}.",
    i = "Ask a mechanism, reports, counts, an estimate, a test or a release; data carry none."
  ), call = call)
}

#' @export
epsilon.confide_release <- function(x, ..., delta = 0) {
  check_dots_empty(...)
  delta <- check_delta(delta)
  claim <- privacy(x)
  if (!is.null(claim$epsilon)) {
    return(claim$epsilon)
  }
  if (delta == 0) {
    abort_parameter(c(
      "{.fn epsilon} of a release with Gaussian noise needs a {.arg delta} above 0.",
      x = "This one has zero-concentrated differential privacy.",
      i = "Its parameter is {.code privacy(x)$rho}; {.code epsilon(x, delta = 1e-6)} converts it."
    ))
  }
  zcdp_to_approx_dp(claim$rho, delta)
}

#' @export
format.confide_privacy <- function(x, ...) {
  c(
    "<privacy>",
    sprintf("definition   %s, %s", x$definition, format_parameter(x)),
    sprintf("means        %s", format_meaning(x)),
    sprintf(
      "realised     %s, by the %s integers",
      format_parameter(x, "realised"), if (is_central(x)) "noise's" else "sampler's"
    ),
    if (!is.null(x$parts)) sprintf("spent on     %s", format_parts(x$parts)),
    sprintf("model        %s", x$model),
    sprintf("unit         %s", format_unit(x)),
    sprintf("noise        %s", x$noise),
    if (!is.null(x$rng)) sub(": ", "   ", format_rng(x$rng), fixed = TRUE)
  )
}

# Parts of a budget, in the order in which they are spent.
format_parts <- function(parts) {
  paste(names(parts), vapply(parts, format_epsilon, ""), collapse = ", ")
}

is_central <- function(privacy) startsWith(privacy$model, "central")

# How the title of a release ends.
format_guarantee <- function(privacy) {
  definition <- sub("differential privacy", "DP", privacy$definition, fixed = TRUE)
  paste(format_parameter(privacy), definition, sep = ", ")
}

# "rho = 0.5" or "epsilon = 1", asked or realised.
format_parameter <- function(privacy, which = "asked") {
  name <- if (is.null(privacy$rho)) "epsilon" else "rho"
  field <- if (which == "asked") name else paste0(name, "_realised")
  order <- if (is.null(privacy$alpha)) "" else paste(" at alpha =", format(privacy$alpha))
  sprintf("%s = %s%s", name, format_epsilon(privacy[[field]]), order)
}

format_meaning <- function(privacy) {
  if (!is.null(privacy$rho)) {
    return("neighbours have Renyi divergence at most alpha rho at every order")
  }
  if (!is.null(privacy$alpha)) {
    return("the mean of exp((alpha - 1) (loss - epsilon)) is at most 1")
  }
  odds <- format_odds(privacy$epsilon)
  if (is_central(privacy)) sub("a report", "a release", odds, fixed = TRUE) else odds
}

format_protects <- function(privacy) paste("protects", format_unit(privacy))

# brownian() and its kind leave neighbours to whoever states the sensitivity.
format_unit <- function(privacy) {
  if (is.null(privacy$neighbours)) {
    return("one row, in the sense of the declared sensitivity")
  }
  sprintf("%s; neighbours: %s", privacy$unit, format_neighbours(privacy$neighbours))
}

# What a neighbour does to one unit.
format_neighbours <- function(neighbours) {
  switch(neighbours,
    replace = "replace it",
    zero_out = "set it to zero",
    add_remove = "add or remove it"
  )
}
