#' Any channel as a mechanism
#'
#' Takes a matrix of reporting probabilities as it is. The sampler draws from integer weights, and
#' the privacy parameter is computed from those weights by integer arithmetic, rounded up: it is
#' never assumed.
#'
#' @param P (numeric matrix) The channel: one row for each true value, one column for each possible
#'   report, entries the probabilities of the reports. Rows sum to 1 (within 1e-8). Row names are
#'   the levels, column names the reports; without them they are `"1"`, `"2"`, and so on.
#' @param ... Unused; catches misspelt arguments.
#' @param epsilon (number, at least 0, or `NULL`) The privacy parameter to certify. `NULL`
#'   (default): the channel's own. Otherwise the channel must have it up to rounding, which is
#'   repaired (no row moves by more than 1e-9).
#' @param orientation (`"rows_true"` or `"columns_true"`) Which margin of `P` is the truth. With
#'   `"columns_true"` the matrix is transposed first, for matrices written as Pr(report i | truth
#'   j), as package RRreg does.
#' @param na (`"error"` or `"level"`) As in [mech_rr()]. With `"level"` the last row and the last
#'   column of `P` belong to missing answers and are named `"<NA>"`.
#' @returns A mechanism of class `confide_matrix`: a list with `$epsilon` (`Inf` where some report
#'   is possible under one true value only), `$n_outputs`, `$privacy`, `$call`, `$fingerprint`.
#' @section Errors:
#' `confide_error_parameter` for what is not such a matrix, and for a channel that is not
#' epsilon-private at the epsilon asked.
#' @family mechanisms
#' @examples
#' # Forced response: one person in four must say "yes". A "no" is then certain, so epsilon is Inf.
#' P <- rbind(no = c(no = 0.75, yes = 0.25), yes = c(no = 0, yes = 1))
#' mech_matrix(P)
#' mech_matrix(rbind(a = c(x = 0.7, y = 0.3), b = c(x = 0.4, y = 0.6)))
#' @export
mech_matrix <- function(P, # nolint: object_name_linter. P is the field's name.
                        ..., epsilon = NULL, orientation = c("rows_true", "columns_true"),
                        na = c("error", "level")) {
  check_dots_empty(...)
  check_required(P, "Give a matrix with one row for each true value.")
  orientation <- check_choice(orientation, c("rows_true", "columns_true"))
  na <- check_choice(na, c("error", "level"))
  check_channel_shape(P)
  probabilities <- name_channel(if (orientation == "columns_true") t(P) else P, na)
  check_channel_rows(probabilities)
  if (!is.null(epsilon)) {
    epsilon <- check_epsilon(epsilon)
  }
  certified <- channel_certify(unname(probabilities), epsilon %||% NA_real_)
  if (!certified$certified) {
    own <- channel_certify(unname(probabilities), NA_real_)$epsilon
    abort_parameter(c(
      "{.arg P} must be {format(epsilon)}-differentially private.",
      x = paste0("Its own epsilon is ", format_epsilon(own), "."),
      i = "Leave out {.arg epsilon} to have it computed."
    ))
  }
  new_mechanism("matrix", list(
    alphabet = channel_alphabet(rownames(probabilities), na),
    outputs = output_alphabet(colnames(probabilities), na),
    probabilities = unname(probabilities),
    asked = epsilon,
    epsilon = epsilon %||% certified$epsilon,
    n_outputs = ncol(probabilities)
  ), call = rlang::call2("mech_matrix", P = probabilities, epsilon = epsilon, na = na))
}

check_channel_shape <- function(channel, call = rlang::caller_env()) {
  if (is.numeric(channel) && is.matrix(channel) && !is.object(channel) && length(channel) > 0) {
    return(invisible())
  }
  abort_parameter(c(
    paste(
      "{.arg P} must be a numeric matrix with one row for each true value",
      "and one column for each report."
    ),
    x = "It is {describe(channel)}.",
    i = "{.fn as.matrix} turns a data frame or a sparse matrix into one."
  ), call = call)
}

check_channel_rows <- function(probabilities, call = rlang::caller_env()) {
  check_finite_probabilities(probabilities, "P", call)
  sums <- rowSums(probabilities)
  if (any(abs(sums - 1) > 1e-8)) {
    worst <- which.max(abs(sums - 1))
    abort_row_sum(worst, sums[[worst]], call)
  }
}

abort_row_sum <- function(row, sum, call) {
  abort_parameter(c(
    "Every row of {.arg P} must sum to 1.",
    x = "Row {row} sums to {format(sum, digits = 10)}.",
    i = paste(
      "Rows are true values;",
      "if your columns sum to 1, give {.code orientation = \"columns_true\"}."
    )
  ), call = call)
}

name_channel <- function(probabilities, na) {
  name_margin <- function(names, size) {
    names <- names %||% count_labels(size)
    if (na == "level") c(names[-size], missing_label) else names
  }
  structure(
    matrix(as.numeric(probabilities), nrow(probabilities)),
    dimnames = list(
      name_margin(rownames(probabilities), nrow(probabilities)),
      name_margin(colnames(probabilities), ncol(probabilities))
    )
  )
}

# Rows named "1", ..., "k" declare integer codes as well, as a count of levels does.
channel_alphabet <- function(names, na, call = rlang::caller_env()) {
  role <- alphabet_role("The true values (rows of {.arg P})", few = if (na == "level") 1 else 2)
  values <- if (na == "level") utils::head(names, -1) else names
  numbered <- identical(values, count_labels(length(values)))
  new_alphabet(if (numbered) length(values) else values, na, role, call = call)
}

output_alphabet <- function(names, na, call = rlang::caller_env()) {
  named <- if (na == "level") utils::head(names, -1) else names
  role <- alphabet_role("The reports (columns of {.arg P})", few = if (na == "level") 0 else 1)
  new_alphabet(named, na, role, call)
}

#' @exportS3Method
fingerprint_parts.confide_matrix <- function(mechanism) {
  spelling <- lapply(mechanism[c("alphabet", "outputs")], alphabet_spelling)
  c(spelling, mechanism[c("probabilities", "asked")])
}

# A `measure` of channel_certify().
channel_measure <- function(mechanism, measure) {
  certified <- certify_matrix(mechanism)
  kept_loss(certified[[measure]], mechanism$epsilon, certified$certified)
}

certify_matrix <- function(mechanism) {
  channel_certify(mechanism$probabilities, asked_or_na(mechanism))
}

asked_or_na <- function(mechanism) {
  mechanism$asked %||% NA_real_
}

#' @exportS3Method
randomize.confide_matrix <- function(mechanism, codes, rng) {
  channel_privatize(codes, mechanism$probabilities, asked_or_na(mechanism), rng)
}

#' @exportS3Method
channel_matrix.confide_matrix <- function(mechanism) {
  structure(certify_matrix(mechanism)$realised,
    dimnames = list(
      true = alphabet_labels(mechanism$alphabet),
      reported = alphabet_labels(mechanism$outputs)
    )
  )
}

#' @exportS3Method
format_title.confide_matrix <- function(mechanism) {
  sprintf(
    "<channel>  %s, %s, epsilon = %s%s", plural(mechanism$alphabet$size, "level"),
    plural(mechanism$n_outputs, "report"), format_epsilon(mechanism$epsilon),
    if (is.null(mechanism$asked)) " (computed)" else ""
  )
}

#' @exportS3Method
format_law.confide_matrix <- function(mechanism) {
  if (!is.finite(mechanism$epsilon)) {
    return("NOT PRIVATE: some report is possible under one true value and not under another")
  }
  format_odds(mechanism$epsilon)
}

#' @exportS3Method
format_precision.confide_matrix <- function(mechanism) {
  decoder <- matrix_decoder(mechanism)
  if (is.null(decoder)) {
    return("shares cannot be estimated: the rows of the channel are linearly dependent")
  }
  uniform <- colMeans(channel_matrix(mechanism))
  variance <- as.vector(decoder^2 %*% uniform) - (decoder %*% uniform)^2
  sprintf(
    "standard error of a share of %s from n reports: at most %s / sqrt(n)",
    format_number(1 / mechanism$alphabet$size, 3), format_number(sqrt(max(variance)), 3)
  )
}

# The linear unbiased estimator with the least variance when all true values are equally common:
# weighted least squares, (P D^-1 P')^-1 P D^-1 with D the reported shares there. The plain inverse
# when the channel is square. NULL when the rows of the channel are linearly dependent.
matrix_decoder <- function(mechanism) {
  channel <- channel_matrix(mechanism)
  possible <- colSums(channel) > 0
  scale <- sqrt(colMeans(channel)[possible])
  whitened <- t(channel[, possible, drop = FALSE]) / scale
  decomposition <- qr(whitened, tol = 1e-10)
  if (decomposition$rank < nrow(channel)) {
    return(NULL)
  }
  decoder <- matrix(0, nrow(channel), ncol(channel), dimnames = dimnames(channel))
  decoder[, possible] <- t(t(qr.coef(decomposition, diag(sum(possible)))) / scale)
  decoder
}
