#' Randomize private values
#'
#' Draws one report for each value. All checks come first: an error leaves no randomness drawn and
#' says nothing of the values. Equal values get independent reports; whoever asks the same person
#' again must keep the first report, because two reports about one secret cost twice the epsilon.
#'
#' @param x Private values. For [mech_rr()], [mech_block()], [mech_spr()] and [mech_matrix()] a
#'   factor, a character vector or, where the levels were given as numbers, numeric codes; for
#'   [mech_spr_continuous()] numbers; for [mech_lambda()] a data frame with exactly the attributes
#'   as columns, in any order. Values are matched by label, so another level order or unused levels
#'   do no harm. Attributes, names and row names are dropped.
#' @param mechanism (mechanism) Made by [mech_rr()], [mech_spr()], [mech_spr_continuous()],
#'   [mech_block()], [mech_matrix()] or [mech_lambda()].
#' @param ... Unused; catches misspelt arguments.
#' @param rng (`"os"` or `"r"`) Where randomness comes from. `"os"` (default): the operating
#'   system's generator; nothing can reproduce the reports, and `set.seed()` has no effect. `"r"`:
#'   R's generator, which honours `set.seed()`, for tests and teaching. Its state can be guessed
#'   from a few known answers, so such reports are **not private**, and they say so when printed.
#' @returns Reports of the same length and order as `x`: a factor over the mechanism's levels
#'   (ordered where they were declared ordered), for [mech_spr()] over its outputs, for
#'   [mech_block()] integers (or a matrix of them), or for [mech_lambda()] a data frame with the
#'   columns of `x`. A missing category is `NA` in it. They
#'   carry the mechanism's fingerprint; a subset without it is accepted everywhere.
#' @section Errors:
#' `confide_error_domain` when `x` leaves the declared domain, with a text that does not depend on
#' the values; `confide_error_parameter` for other arguments; `confide_error_randomness` when the
#' operating system gives no random numbers.
#' @seealso [count_reports()], [estimate()], [simulate.confide_mechanism()]
#' @examples
#' m <- mech_rr(c("no", "yes"), epsilon = 1)
#' privatize(c("yes", "no", "no"), m)
#' @export
privatize <- function(x, mechanism, ..., rng = c("os", "r")) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(x, "Give the values to protect.")
  rng <- check_rng(rng)
  refuse_reports(x)
  codes <- encode(x, mechanism, rlang::current_env())
  meter(utils::modifyList(mechanism$privacy, list(rng = rng)))
  new_reports(decode_reports(draw(mechanism, codes, rng), mechanism, x), mechanism, rng)
}

# The one place where C++ failures of randomness become our class.
draw <- function(mechanism, codes, rng, call = rlang::caller_env()) {
  tryCatch(
    randomize(mechanism, codes, rng),
    "confide::RandomnessError" = function(error) abort_randomness(call)
  )
}

refuse_reports <- function(x, call = rlang::caller_env()) {
  if (inherits(x, "confide_reports")) {
    abort_parameter(c(
      "{.arg x} must be true values.",
      x = "It holds reports already.",
      i = paste(
        "Randomizing twice multiplies the lambdas.",
        "If that is meant, take off the class with {.fn as_plain}."
      )
    ), call = call)
  }
}

#' @exportS3Method
encode.confide_mechanism <- function(x, mechanism, call, ...) {
  alphabet_codes(x, mechanism$alphabet, call)
}

#' @exportS3Method
decode_reports.confide_mechanism <- function(codes, mechanism, x) {
  alphabet_factor(codes, mechanism$outputs %||% mechanism$alphabet)
}

# Reports ----------------------------------------------------------------------

new_reports <- function(values, mechanism, rng) {
  attr(values, "confide") <- list(
    fingerprint = mechanism$fingerprint,
    title = format_title(mechanism),
    privacy = utils::modifyList(mechanism$privacy, list(rng = rng)),
    rng = rng
  )
  oldClass(values) <- c("confide_reports", oldClass(values))
  values
}

#' Reports as plain R data
#'
#' Takes the class and the fingerprint off reports, for functions that want bare R data.
#' @param x (reports) Made by [privatize()].
#' @returns The same factor, data frame, integers or matrix, without class and fingerprint.
#' @section Errors:
#' `confide_error_parameter` for what was not made by [privatize()] and is no plain data.
#' @examples
#' as_plain(privatize(c("no", "yes"), mech_rr(c("no", "yes"), epsilon = 1)))
#' @export
as_plain <- function(x) {
  check_required(x, "Give reports.")
  other <- startsWith(class(x), "confide_") & class(x) != "confide_reports"
  if ((!is.atomic(x) && !is.list(x)) || any(other)) {
    abort_parameter(c(
      "{.arg x} must be reports, made by {.fn privatize}.",
      x = "It is {describe(x)}."
    ))
  }
  attr(x, "confide") <- NULL
  kept <- setdiff(oldClass(x), "confide_reports")
  oldClass(x) <- if (length(kept) > 0) kept
  x
}

#' @export
format.confide_reports <- function(x, ...) {
  format(as_plain(x), ...)
}

#' @export
print.confide_reports <- function(x, ..., n = 6L) {
  n <- check_shown(n)
  about <- attr(x, "confide")
  plain <- as_plain(x)
  size <- NROW(plain)
  if (!is.null(about)) {
    writeLines(c(
      paste0("<reports>  ", plural(size, "report")), inline_title(about$title)
    ))
  }
  first <- preview(utils::head(plain, n))
  print(first, ...)
  columns <- if (is.data.frame(x)) format_rest(length(x), length(first), "attribute")
  writeLines(c(columns, format_rest(size, n, "report"), format_rng(about$rng)))
  invisible(x)
}

# What fits on a screen: labels cut short, and of a data frame the first columns.
preview <- function(values) {
  if (!is.data.frame(values)) {
    return(shorten_levels(values))
  }
  columns <- lapply(as.data.frame(values), shorten_levels)
  widths <- vapply(columns, function(column) max(nchar(as.character(column)), 4, na.rm = TRUE), 1)
  names(columns) <- shorten(names(columns), 50L)
  widths <- pmax(widths, nchar(names(columns))) + 1
  kept <- max(1, sum(cumsum(widths) <= 76))
  structure(columns[seq_len(kept)], row.names = .set_row_names(nrow(values)), class = "data.frame")
}

shorten_levels <- function(values) {
  if (!is.factor(values)) {
    return(values)
  }
  attr(values, "levels") <- shorten(encodeString(levels(values)), 50L)
  values
}

# Nothing where it is not known, as of counts from a table.
format_rng <- function(rng) {
  if (is.null(rng)) {
    return(character())
  }
  switch(rng,
    os = "randomness: operating system (not reproducible)",
    r = "randomness: R's generator (set.seed) - NOT PRIVATE, do not release",
    replay = "randomness: replayed by an audit - NOT PRIVATE, do not release"
  )
}

# A subset keeps what it is: factors lose other attributes in `[`.
#' @export
`[.confide_reports` <- function(x, ...) {
  part <- NextMethod()
  if (is.factor(x) || is.data.frame(part)) {
    attr(part, "confide") <- attr(x, "confide")
  }
  part
}

# Rows of another mechanism are refused, and one part that is not private spoils the whole. Parts
# without a fingerprint are accepted; where their randomness came from is not known. Vectors have no
# rows: as base R has it, the result is no reports.
#' @export
rbind.confide_reports <- function(..., deparse.level = 1) { # nolint: object_name_linter. R's name.
  parts <- list(...)
  options <- rlang::names2(parts) %in% c("make.row.names", "stringsAsFactors", "factor.exclude")
  about <- lapply(parts[!options & lengths(parts) > 0], attr, "confide", exact = TRUE)
  known <- about[lengths(about) > 0]
  if (length(unique(lapply(known, `[[`, "fingerprint"))) > 1) {
    abort_mechanism(c(
      "Only reports of one mechanism can be put together.",
      x = "These carry different fingerprints.",
      i = "Estimate from each, and combine the estimates."
    ))
  }
  whole <- do.call(rbind, lapply(parts, function(part) {
    if (inherits(part, "confide_reports")) as_plain(part) else part
  }))
  if (length(known) == 0 || all(lengths(lapply(parts, dim)) == 0)) {
    return(whole)
  }
  merged <- known[[1]]
  merged["rng"] <- list(Reduce(merge_rng, lapply(about, `[[`, "rng")))
  merged$privacy["rng"] <- merged["rng"]
  attr(whole, "confide") <- merged
  oldClass(whole) <- c("confide_reports", oldClass(whole))
  whole
}

# dplyr::bind_rows() hands over the first part alone as the pattern: rows of the others may be of
# another mechanism, so that the whole is no reports. Verbs that add no row keep what they had.
#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.confide_reports <- function(data, template) {
  if (nrow(data) > nrow(template)) {
    return(dplyr::dplyr_reconstruct(data, as_plain(template)))
  }
  NextMethod()
}

# The fingerprint that reports or counts carry, or NULL.
found_fingerprint <- function(x) {
  if (inherits(x, "confide_counts")) x$fingerprint else attr(x, "confide", exact = TRUE)$fingerprint
}

# The fingerprint is checked where it is present.
check_fingerprint <- function(found, mechanism, call) {
  if (is.null(found) || identical(found, mechanism$fingerprint)) {
    return(invisible())
  }
  abort_mechanism(c(
    "The reports must be decoded with the mechanism that made them.",
    x = "They carry the fingerprint of another mechanism.",
    i = "Another epsilon, lambda, level set or level order is another mechanism."
  ), call = call)
}

#' Simulate reports
#'
#' Follows [stats::simulate()]: R's generator, a `seed` argument, the state kept in the result. For
#' studies and planning; the results are not private.
#' @param object (mechanism)
#' @param nsim (whole number) How many times to report.
#' @param seed (whole number or `NULL`) Passed to `set.seed()` when given; the generator's state is
#'   put back afterwards.
#' @param ... Unused; catches misspelt arguments.
#' @param x The values to report on, as in [privatize()].
#' @returns A list of `nsim` sets of reports (`sim_1`, `sim_2`, ...), with an attribute `"seed"`;
#'   where each set is one factor, as a data frame.
#' @section Errors:
#' As those of [privatize()] for `x`; `confide_error_parameter` for `nsim` or `seed` that is no
#' whole number.
#' @examples
#' simulate(mech_rr(c("no", "yes"), epsilon = 1), nsim = 2, seed = 1, x = c("no", "yes", "yes"))
#' @export
simulate.confide_mechanism <- function(object, nsim = 1, seed = NULL, ..., x) {
  check_dots_empty(...)
  check_mechanism(object)
  check_required(x, "Give the true values that reports are simulated for.")
  nsim <- check_whole_number(nsim)
  codes <- encode(x, object, rlang::current_env())
  state <- start_seed(seed)
  on.exit(state$restore())
  sets <- lapply(seq_len(nsim), function(i) {
    new_reports(decode_reports(randomize(object, codes, "r"), object, x), object, "r")
  })
  names(sets) <- paste0("sim_", seq_len(nsim))
  if (!is.data.frame(sets[[1]])) {
    sets <- structure(sets, row.names = .set_row_names(length(sets[[1]])), class = "data.frame")
  }
  structure(sets, seed = state$seed)
}

# What stats::simulate() prescribes for its seed.
start_seed <- function(seed) {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) {
    stats::runif(1)
  }
  before <- get(".Random.seed", envir = globalenv(), inherits = FALSE)
  if (is.null(seed)) {
    return(list(seed = before, restore = function() NULL))
  }
  set.seed(check_whole_number(seed, min = -.Machine$integer.max, max = .Machine$integer.max))
  list(
    seed = structure(seed, kind = as.list(RNGkind())),
    restore = function() assign(".Random.seed", before, envir = globalenv())
  )
}
