# A mechanism is a value: public parameters, nothing else. Each constructor fills the fields that
# its class needs; new_mechanism() adds what all share.
new_mechanism <- function(class, fields, call) {
  mechanism <- structure(
    c(fields, list(call = call)),
    class = c(paste0("confide_", class), "confide_mechanism")
  )
  mechanism$fingerprint <- fingerprint(mechanism)
  mechanism$privacy <- mechanism_privacy(mechanism)
  mechanism$made_with <- package_version_text()
  mechanism$seal <- seal(mechanism)
  mechanism
}

# A hash of all fields, derived ones too: a mechanism that was altered by hand is not used. Unlike
# the fingerprint it never leaves the object, so it may depend on the last bit of a double.
seal <- function(mechanism) {
  rlang::hash(unclass(mechanism)[setdiff(names(mechanism), c("seal", "call"))])
}

# The hash that ties reports and counts to the mechanism that made them.
fingerprint <- function(mechanism) {
  rlang::hash(list(class(mechanism)[[1]], fingerprint_parts(mechanism)))
}

# What decides the law of the reports, and how they are spelt.
fingerprint_parts <- function(mechanism) UseMethod("fingerprint_parts")

# True codes in, reported codes out: integer vectors, or for several attributes a list of them.
randomize <- function(mechanism, codes, rng) UseMethod("randomize")

# Private values in, codes out; all errors about the data happen here, before any randomness.
encode <- function(x, mechanism, call, ...) UseMethod("encode", mechanism)

# Reported codes in, reports out, shaped like the data x.
decode_reports <- function(codes, mechanism, x) UseMethod("decode_reports", mechanism)

#' Levels, channel matrix and parameters of a mechanism
#'
#' @param x (mechanism) Made by [mech_rr()], [mech_block()], [mech_spr()], [mech_lambda()] or
#'   [mech_matrix()].
#' @param object (mechanism) As `x`.
#' @param ... For `update()`: arguments of the constructor to change, named, such as `epsilon = 2`.
#'   Otherwise unused.
#' @returns `levels()`: the public domain as a character vector; for [mech_lambda()] a named list of
#'   them. With `na = "level"` the missing answer is the level `"<NA>"`, always the last.
#'
#'   `as.matrix()`: the channel, a numeric matrix with one row for each true value and one column
#'   for each report; entry (x, y) is the probability of report y when the truth is x, as the
#'   integers of the sampler realise it. Rows sum to 1. For [mech_lambda()] the joint channel over
#'   all cells, first attribute fastest. More than 4,096 rows or columns are refused
#'   (`confide_error_parameter`).
#'
#'   `dim()`: number of true values and of possible reports.
#'
#'   `update()`: a new mechanism of the same kind.
#' @section Errors:
#' `confide_error_parameter` for a matrix of more than 4,096 rows or columns, and for arguments of
#' `update()` that the constructor does not take; `confide_error_internal` for a mechanism that was
#' altered by hand.
#' @examples
#' m <- mech_rr(c("never", "once", "often"), epsilon = 1)
#' levels(m)
#' as.matrix(m)
#' update(m, epsilon = 2)
#' @name mechanism
NULL

#' @rdname mechanism
#' @export
levels.confide_mechanism <- function(x) {
  alphabet_labels(x$alphabet)
}

#' @rdname mechanism
#' @export
as.matrix.confide_mechanism <- function(x, ...) {
  check_dots_empty(...)
  check_mechanism(x)
  if (max(dim(x)) > max_matrix) {
    abort_parameter(c(
      "{.fn as.matrix} builds at most {max_matrix} rows and columns.",
      x = paste(
        "This mechanism has {format(dim(x)[[1]], scientific = FALSE)} true values",
        "and {format(dim(x)[[2]], scientific = FALSE)} reports."
      ),
      i = "{.fn estimate}, {.fn audit} and {.fn predict} work without the matrix."
    ))
  }
  channel_matrix(x)
}

max_matrix <- 4096L

channel_matrix <- function(mechanism) UseMethod("channel_matrix")

# update() runs the call of an object that may come from a file: a call of one of these.
constructor_names <- c(
  "mech_rr", "mech_block", "mech_spr", "mech_spr_continuous", "mech_lambda", "mech_matrix",
  "invariant_pram"
)

#' @rdname mechanism
#' @export
dim.confide_mechanism <- function(x) {
  c(x$alphabet$size, x$n_outputs)
}

#' @rdname mechanism
#' @export
update.confide_mechanism <- function(object, ...) {
  check_mechanism(object)
  if (!rlang::is_call(object$call, constructor_names)) {
    abort_internal(c(
      "This mechanism lost the call that made it.",
      i = "Make it again with its constructor."
    ))
  }
  changes <- rlang::list2(...)
  known <- names(rlang::fn_fmls(get(rlang::as_string(object$call[[1]]), mode = "function")))
  if (!rlang::is_dictionaryish(changes) || !all(names(changes) %in% setdiff(known, "..."))) {
    abort_parameter(c(
      "{.fn update} takes named arguments of {.fn {rlang::as_string(object$call[[1]])}}.",
      x = if (length(changes) > 0) {
        "Found {enumerate_names(setdiff(rlang::names2(changes), known))}."
      },
      i = "They are {.arg {setdiff(known, '...')}}."
    ))
  }
  call <- rlang::call_modify(object$call, !!!resolve_update(object, changes))
  eval(call, envir = topenv())
}

# Arguments that exclude one another are swapped, not added.
resolve_update <- function(object, changes) UseMethod("resolve_update")

#' @exportS3Method
resolve_update.confide_mechanism <- function(object, changes) {
  changes
}

#' @export
format.confide_mechanism <- function(x, ...) {
  c(format_title(x), format_law(x), format_precision(x))
}

format_title <- function(mechanism) UseMethod("format_title")
format_law <- function(mechanism) UseMethod("format_law")
format_precision <- function(mechanism) UseMethod("format_precision")

#' @export
str.confide_mechanism <- function(object, ...) {
  cat(format_title(object), "\n")
}

# To so many significant digits; up to a thousand million without an exponent.
format_number <- function(x, digits = 4) {
  x <- signif(x, digits)
  plain <- !is.na(x) & abs(x) >= 100 & abs(x) < 1e9 & x == round(x)
  text <- formatC(x, digits = digits, format = "g")
  text[plain] <- formatC(x[plain], digits = 0, format = "f", big.mark = ",")
  trimws(text)
}

# Rounded to the second digit of the standard error, at least to so many decimals.
format_to_error <- function(x, std_error, decimals = 0) {
  known <- is.finite(std_error) & std_error > 0
  needed <- if (known) max(decimals, 1 - floor(log10(std_error))) else max(decimals, 4)
  if (needed > 8 || max(abs(x[is.finite(x)]), 0) >= 1e15) {
    return(formatC(x, digits = 2, format = "e"))
  }
  if (decimals == 0 && known && all(x == round(x))) needed <- 0
  text <- formatC(x, digits = needed, format = "f", big.mark = ",")
  sub("^-(0[.]?0*)$", "\\1", text)
}

# A column of numbers with one number of decimals, enough for so many digits of the smallest.
format_column <- function(x, digits = 4) {
  smallest <- min(abs(x[x != 0]), Inf)
  if (!is.finite(smallest) || max(abs(x)) >= 1e9) {
    return(format_number(x, digits))
  }
  decimals <- max(0, digits - 1 - floor(log10(smallest)))
  formatC(x, digits = decimals, format = "f", big.mark = ",")
}

# Numbers of cells: exact while they can be read.
format_cells <- function(x) {
  ifelse(x < 1e12, format_count(x), format_number(x))
}

format_count <- function(x) {
  trimws(format(x, big.mark = ",", scientific = FALSE))
}

# Privacy parameters are shown rounded up: a claim may not be better than the truth.
format_epsilon <- function(epsilon, digits = 4) {
  if (!is.finite(epsilon)) {
    return("Inf")
  }
  exponent <- floor(log10(max(epsilon, 1e-300))) + 1 - digits
  up <- ceiling(epsilon / 10^exponent * (1 - 1e-12))
  # From text, since a product of large powers of ten may round down.
  up <- as.numeric(sprintf("%.0fe%.0f", up, exponent))
  format(up, digits = digits, scientific = up > 0 && (up < 1e-3 || up >= 1e6))
}

# Bounds from below are shown rounded down: they may not say more than was found.
format_down <- function(x, digits = 4) {
  shown <- signif(x, digits)
  if (shown > x) {
    shown <- shown - 10^(floor(log10(x)) + 1 - digits)
  }
  format_number(shown, digits)
}

format_odds <- function(epsilon) {
  if (!is.finite(epsilon)) {
    return("no limit on how much a report changes the odds")
  }
  most <- exp(epsilon)
  if (!is.finite(most)) {
    shown <- sprintf("exp(%s)", format_epsilon(epsilon))
  } else {
    # Rounded up, as the claim is.
    unit <- 10^(floor(log10(most)) - 2)
    shown <- format_number(ceiling(most / unit * (1 - 1e-12)) * unit, 3)
  }
  paste("a report changes no odds by more than a factor of", shown)
}

plural <- function(n, one, many = paste0(one, "s")) {
  paste(format_count(n), if (n == 1) one else many)
}

# The line under a list that is cut off; none when all is shown.
format_rest <- function(total, shown, what) {
  if (total <= shown) {
    return(character())
  }
  paste("... and", plural(total - shown, paste("more", what)))
}

# A title inside a line of other text: "<kind>  details" becomes "kind, details".
inline_title <- function(title) {
  sub("^<([^>]*)> *", "\\1, ", title)
}
