#' Invariant post-randomization
#'
#' For a file that its holder randomizes as a whole (PRAM): a channel for one attribute that leaves
#' the expected one-way table as it is, so that users may tabulate the released file without
#' correction. The channel is built from the file's own shares. That is its weakness: see the
#' section on what is not promised.
#'
#' @param shares (table or named numeric vector) Counts or shares of the attribute's levels in the
#'   file, all above 0; the names are the levels.
#' @param lambda (number in (0, 1]) Probability of keeping the truth in the channel that is built
#'   upon; 1 changes nothing.
#' @param ... Unused; catches misspelt arguments.
#' @param construction (`"two_stage"` or `"mixture"`) `"two_stage"` (default): randomize with P,
#'   then draw a true value given the report by Bayes' rule, R = P Q with \eqn{Q_{vu} = p_{uv} t_u /
#'   \sum_w t_w p_{wv}}. `"mixture"`: keep the truth, or draw a level from the file's shares t: R =
#'   lambda I + (1 - lambda) 1 t'.
#' @param public (logical) Whether the shares are public, or were estimated privately, so that the
#'   channel tells nothing new. Only then an epsilon is claimed.
#' @returns A mechanism of class `confide_pram`, which is also a `confide_matrix`
#'   ([mech_matrix()]) and is used like one: [privatize()] releases the file, [estimate()] with
#'   `target = "file"` gives standard errors for its own table. `$epsilon` is that of the channel if
#'   the shares are public, else `Inf`; `$shares` and `$lambda` say how it was built.
#' @section What is not promised:
#' * With confidential shares there is no differential privacy, whatever the matrix: the matrix
#'   depends on the data, and whoever sees it (needed for standard errors) can compute the shares
#'   from it, exactly. [epsilon()] is infinite at every delta, and so are the divergences of
#'   [privacy_measures()]. The epsilon of the matrix, which `public = TRUE` claims, holds for shares
#'   fixed beforehand only.
#' * Only the expected one-way table of this attribute is kept. Joint tables shrink towards
#'   independence and must be corrected like those of any channel.
#' * It is the table of this file that is kept in expectation, not in the release itself.
#' @section Errors:
#' `confide_error_parameter` for shares that are not positive numbers with names, and lambda outside
#' its range.
#' @references
#' Gouweleeuw, J. M., Kooiman, P., Willenborg, L. C. R. J. and de Wolf, P.-P. (1998). Post
#' randomisation for statistical disclosure control: theory and implementation. *Journal of Official
#' Statistics* 14(4), 463-478.
#' @family mechanisms
#' @examples
#' counts <- table(adult$education)
#' m <- invariant_pram(counts, lambda = 0.7)
#' m
#' released <- privatize(adult$education, m)
#' # No correction needed for the one-way table:
#' round(cbind(file = prop.table(counts), released = prop.table(table(released))), 3)
#' # It has a standard error all the same:
#' head(as.data.frame(estimate(released, m, target = "file")))
#' @export
invariant_pram <- function(shares, lambda, ..., construction = c("two_stage", "mixture"),
                           public = FALSE) {
  check_dots_empty(...)
  check_required(shares, "Give the table of the attribute in the file.")
  check_required(lambda, "Common choices lie between 0.5 and 0.95; smaller changes more.")
  construction <- check_choice(construction, c("two_stage", "mixture"))
  public <- check_flag(public)
  shares <- check_invariant_shares(shares)
  lambda <- check_single_lambda(lambda)
  channel <- switch(construction,
    two_stage = two_stage_channel(shares, lambda),
    mixture = mixture_channel(shares, lambda)
  )
  base <- mech_matrix(channel)
  kept <- c("alphabet", "outputs", "probabilities", "n_outputs")
  new_mechanism(c("pram", "matrix"), c(unclass(base)[kept], list(
    epsilon = if (public) base$epsilon else Inf,
    shares = shares,
    lambda = lambda,
    construction = construction,
    public = public
  )), call = rlang::call2("invariant_pram",
    shares = shares, lambda = lambda, construction = construction, public = public
  ))
}

# Gouweleeuw et al. (1998): R = P Diag(1 / psi) P Diag(t) with psi = P t.
two_stage_channel <- function(shares, lambda) {
  size <- length(shares)
  first <- lambda * diag(size) + (1 - lambda) / size
  reported <- as.vector(first %*% shares)
  name_levels(first %*% (first / reported) %*% diag(unname(shares)), names(shares))
}

mixture_channel <- function(shares, lambda) {
  size <- length(shares)
  drawn <- matrix(shares, size, size, byrow = TRUE)
  name_levels(lambda * diag(size) + (1 - lambda) * drawn, names(shares))
}

name_levels <- function(channel, labels) {
  structure(channel, dimnames = list(labels, labels))
}

check_single_lambda <- function(lambda, call = rlang::caller_env()) {
  check_number(lambda, "above 0 and at most 1", function(x) x > 0 && x <= 1, call = call)
}

# The numbers are confidential: the error does not show them.
check_invariant_shares <- function(shares, call = rlang::caller_env()) {
  names <- if (is.null(dim(shares))) names(shares) else dimnames(shares)[[1]]
  plain <- is.numeric(shares) && length(dim(shares)) <= 1 && length(shares) >= 2
  if (!plain || !are_distinct(names)) {
    abort_parameter(c(
      "{.arg shares} must be a one-way table, or numbers named by at least two levels.",
      x = if (plain) "Names are missing or repeated." else "It is {describe_shape(shares)}."
    ), call = call)
  }
  values <- as.vector(shares)
  if (!all(is.finite(values) & values > 0)) {
    abort_parameter(c(
      "All {.arg shares} must be finite and above 0.",
      x = "Some are not.",
      i = "A level that no one has cannot be reported: leave it out, or merge levels."
    ), call = call)
  }
  stats::setNames(values / sum(values), names)
}

describe_shape <- function(x) {
  if (is.numeric(x)) {
    return(sprintf("a numeric object of length %d and %d dimensions", length(x), length(dim(x))))
  }
  paste("of class", paste(class(x), collapse = "/"))
}

#' @exportS3Method
mechanism_privacy.confide_pram <- function(x) {
  statement <- NextMethod()
  statement$model <- "global: the holder of the file randomizes it before release"
  if (x$public) {
    return(statement)
  }
  statement$definition <- "none: the channel was built from confidential shares"
  statement$epsilon_realised <- Inf
  statement
}

#' @exportS3Method
realised_loss.confide_pram <- function(mechanism) {
  if (mechanism$public) NextMethod() else Inf
}

#' @exportS3Method
exact_loss.confide_pram <- function(mechanism) {
  if (mechanism$public) NextMethod() else Inf
}

# Who sees a channel made from confidential shares knows them, whatever is reported: no delta below
# 1 and no divergence bounds that.
#' @exportS3Method
delta_at.confide_pram <- function(mechanism, epsilon) {
  if (mechanism$public) NextMethod() else rep(1, length(epsilon))
}

#' @exportS3Method
epsilon_at.confide_pram <- function(mechanism, delta) {
  if (mechanism$public) NextMethod() else Inf
}

#' @exportS3Method
renyi_at.confide_pram <- function(mechanism, alpha) {
  if (mechanism$public) NextMethod() else rep(Inf, length(alpha))
}

#' @exportS3Method
measures_by_attribute.confide_pram <- function(mechanism) {
  if (mechanism$public) {
    return(NextMethod())
  }
  data.frame(
    attribute = "level", epsilon = Inf, tv = 1, kl = Inf, chi2 = Inf, bayes_success = 1
  )
}

#' @exportS3Method
fingerprint_parts.confide_pram <- function(mechanism) {
  spelling <- lapply(mechanism[c("alphabet", "outputs")], alphabet_spelling)
  c(spelling, mechanism[c("shares", "lambda", "construction", "public")])
}

#' @exportS3Method
format_title.confide_pram <- function(mechanism) {
  sprintf(
    "<invariant PRAM>  %s, lambda = %s, %s, %s", plural(mechanism$alphabet$size, "level"),
    format_number(mechanism$lambda, 3), sub("_", "-", mechanism$construction),
    if (mechanism$public) {
      paste("epsilon =", format_epsilon(mechanism$epsilon))
    } else {
      "no epsilon claimed"
    }
  )
}

#' @exportS3Method
format_law.confide_pram <- function(mechanism) {
  kept <- diag(mechanism$probabilities)
  c(
    "keeps the expected one-way table of this file; joint tables shrink",
    sprintf(
      "truth reported with probability %s to %s", format_number(min(kept), 3),
      format_number(max(kept), 3)
    ),
    if (mechanism$public) {
      format_odds(mechanism$epsilon)
    } else {
      "NOT PRIVATE: built from confidential shares, which the matrix reveals"
    }
  )
}
