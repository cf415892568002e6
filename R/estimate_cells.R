#' Estimate cells and events of large joint tables
#'
#' Shares of chosen cells, straight from the records: the joint table is never built, so a record
#' may have hundreds of attributes. The cost is (number of distinct records) x (attributes named)
#' for each cell.
#'
#' @inheritParams estimate
#' @param mechanism (mechanism) Made by [mech_lambda()], or by [mech_block()], whose one attribute
#'   is called `level` in `cells`.
#' @param cells (data frame, or list) One row for each question, one column for each attribute that
#'   matters; the others are summed over. Entries are levels; `NA` is the missing level where the
#'   mechanism has one. A list column holds sets of levels: the event that the attribute is one of
#'   them. A plain list, such as `list(education = c("Masters", "Doctorate"), sex = "Female")`, is
#'   one event.
#' @returns An estimate of class `confide_estimate` with one entry for each row of `cells`, named
#'   like `"a=1, b=2|3"`. Estimates of cells of many attributes can have enormous standard errors;
#'   look at them.
#' @section Sparse tables:
#' Even where few combinations were reported, the unbiased estimate is dense: every cell gets a
#' value, mostly noise around 0. So ask for the cells of interest, or for events, which gather small
#' cells into one number with a standard error of its own (errors of the parts do not add up). Cells
#' that cannot occur are declared to `estimate(method = "ml", structural_zeros = )`.
#' @section Errors:
#' `confide_error_parameter` for columns that are not attributes, entries that are not levels, empty
#' sets, and what [estimate()] refuses.
#' @references Ruiz, N. (2026). Lambda-randomization. arXiv 2603.05261.
#' @examples
#' m <- mech_lambda(adult[c("education", "sex", "income")], lambda = 0.8)
#' reports <- privatize(adult[c("education", "sex", "income")], m)
#' cells <- data.frame(education = "Doctorate", sex = c("Female", "Male"), income = ">50K")
#' estimate_cells(reports, m, cells)
#' degree <- c("Bachelors", "Masters", "Prof-school", "Doctorate")
#' estimate_cells(reports, m, list(education = degree, income = ">50K"))
#' @export
estimate_cells <- function(x, mechanism, cells, ..., weights = NULL, count = NULL,
                           target = c("population", "file")) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(x, "Give reports or counts.")
  check_required(cells, "Give a data frame with one row for each cell.")
  target <- check_choice(target, c("population", "file"))
  events <- check_cells(cells, mechanism)
  check_informative(mechanism, names(events))
  counts <- as_counts(x, mechanism, weights, count)
  check_some_reports(counts)
  if (inherits(mechanism, "confide_block")) {
    return(estimate_block_cells(mechanism, counts, events, target))
  }
  counts <- sparse_counts(counts)
  which <- match(names(events), names(counts$sizes))
  decoder <- list(
    type = "cells",
    lambda = unname(mechanism$lambda[which]),
    noise = lapply(names(events), function(name) attribute_noise(mechanism, name)),
    events = events
  )
  reported <- list(
    total = counts$counts, square = counts$squares, rows = counts$patterns[, which, drop = FALSE]
  )
  sums <- sum_events(events, reported, decoder)
  moments <- moments_of_sums(sums, reported, counts$n)
  new_estimate(c(moments, list(
    moment = moments$estimate,
    dimnames = list(cell = name_events(events, levels(mechanism))),
    decoder = decoder,
    reported = reported,
    n = counts$n,
    method = "moment"
  )), mechanism, counts, target)
}

sum_events <- function(events, reported, decoder) {
  lambda_cell_sums(
    reported$rows, reported$total, reported$square %||% reported$total, unname(events),
    decoder$lambda, decoder$noise
  )
}

check_cells <- function(cells, mechanism, call = rlang::caller_env()) {
  alphabets <- mechanism$alphabets
  if (inherits(mechanism, "confide_block")) {
    alphabets <- list(level = mechanism$alphabet)
  }
  if (is.null(alphabets)) {
    abort_parameter(
      "{.fn estimate_cells} needs a mechanism made by {.fn mech_lambda} or {.fn mech_block}.",
      call = call
    )
  }
  if (is.list(cells) && !is.object(cells) && length(cells) > 0) {
    cells <- structure(lapply(cells, list), row.names = 1L, class = "data.frame")
  }
  cell_events(cells, alphabets, "cells", call)
}

# For each column a list of sets of codes, one set for each row.
cell_events <- function(cells, alphabets, arg, call) {
  asks <- is.data.frame(cells) && nrow(cells) > 0 && length(cells) > 0
  if (!asks || !are_distinct(names(cells)) || !all(names(cells) %in% names(alphabets))) {
    abort_parameter(c(
      paste(
        "{.arg {arg}} must be a data frame with at least one row,",
        "whose columns are attributes of the mechanism."
      ),
      x = "It is {describe_columns(cells)}."
    ), call = call)
  }
  lapply(stats::setNames(names(cells), names(cells)), function(name) {
    event_column_codes(cells[[name]], alphabets[[name]], name, arg, call)
  })
}

are_distinct <- function(names) {
  !is.null(names) && !anyNA(names) && anyDuplicated(names) == 0
}

describe_columns <- function(x) {
  if (is.data.frame(x)) paste("one with columns", enumerate_names(names(x))) else describe(x)
}

# Cells are a public question, so the error may show what was asked.
event_column_codes <- function(values, alphabet, name, arg, call) {
  sets <- if (is.list(values)) values else as.list(as.character(values))
  sizes <- lengths(sets)
  labels <- as.character(unlist(lapply(sets, as.character)))
  labels[is.na(labels)] <- missing_label
  if (any(sizes == 0)) {
    abort_parameter(c(
      "The column {.field {name}} of {.arg {arg}} must hold sets of at least one level.",
      x = "A set of levels is empty."
    ), call = call)
  }
  codes <- column_codes(labels, alphabet, name, arg, call)
  lapply(unname(split(codes, rep(seq_along(sets), sizes))), function(set) sort(unique(set)))
}

column_codes <- function(labels, alphabet, name, arg, call) {
  codes <- match(enc2utf8(labels), alphabet_labels(alphabet))
  if (anyNA(codes)) {
    abort_parameter(c(
      "The column {.field {name}} of {.arg {arg}} must hold levels of that attribute.",
      x = "Not a level: {enumerate_names(unique(labels[is.na(codes)]))}."
    ), call = call)
  }
  codes
}

name_events <- function(events, domain) {
  parts <- lapply(names(events), function(name) {
    sets <- vapply(events[[name]], function(set) {
      paste(domain[[name]][set], collapse = "|")
    }, character(1))
    paste0(name, "=", sets)
  })
  do.call(paste, c(parts, sep = ", "))
}

# Sum over reports of w^2 z for the common part of every two questions, which is what their sampling
# covariance needs. Without overlap it is 0.
overlap_sums <- function(object) {
  events <- object$decoder$events
  pairs <- which(upper.tri(diag(length(object$estimate))), arr.ind = TRUE)
  common <- lapply(events, function(sets) {
    lapply(seq_len(nrow(pairs)), function(i) {
      intersect(sets[[pairs[i, 1]]], sets[[pairs[i, 2]]])
    })
  })
  overlapping <- Reduce(`&`, lapply(common, function(sets) lengths(sets) > 0))
  result <- diag(square_weighted(object), length(object$estimate))
  if (any(overlapping)) {
    pairs <- pairs[overlapping, , drop = FALSE]
    sums <- sum_events(
      lapply(common, function(sets) sets[overlapping]), object$reported, object$decoder
    )$square_weighted
    result[pairs] <- sums
    result[pairs[, 2:1, drop = FALSE]] <- sums
  }
  result
}
