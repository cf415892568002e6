#' Count reports
#'
#' Turns reports into the small statistic that estimation needs: how often each report occurred.
#' Counts of parts of the data are merged with [c()], so files can be read in chunks, and a database
#' can do the counting: only the counts are fetched.
#'
#' @param x Reports: a factor or vector, a data frame for [mech_lambda()], or counts: a table or
#'   named numeric vector whose names are the reports, a data frame with a column of counts (`n`,
#'   `Freq` or `count`, the only column besides the reports, or the one that `count` names), or a
#'   database table (`tbl_lazy`, package dbplyr) of either.
#' @param mechanism (mechanism) The one that made the reports.
#' @param ... Unused; catches misspelt arguments.
#' @param weights (numbers at least 0, one for each report, or the name of a column of `x`) Survey
#'   weights. They are not protected by epsilon: who can see them learns what they say.
#' @param count (string or `NULL`) Name of the column of `x` that holds counts.
#' @returns Counts of class `confide_counts`: a list with `$counts` (sum of weights for each report,
#'   or for each distinct pattern of several attributes), `$n` (number of reports), `$patterns` (for
#'   [mech_lambda()], the patterns as codes), and the mechanism's fingerprint. `c()` merges counts
#'   of one mechanism.
#' @section Errors:
#' `confide_error_domain` for reports that the mechanism cannot make, `confide_error_mechanism` for
#' reports or counts of another mechanism, `confide_error_parameter` for counts or weights that are
#' negative or not finite, and for a column `n`, `Freq` or `count` of whole numbers that stands
#' beside others, or beside weights, and is not named in `count`.
#' @section Databases:
#' For a `tbl_lazy` the query is one `SELECT report, COUNT(*) ... GROUP BY report` (or `SUM` of the
#' count or weight column), which dbplyr writes for SQLite, PostgreSQL, Spark and others; then the
#' few rows are collected. Nothing is randomized in the database. A set or a seeded report
#' ([mech_block()]) has a column for each of its numbers; a truth value may be 0 or 1.
#' @examples
#' m <- mech_rr(c("no", "yes"), epsilon = 1)
#' first <- count_reports(c("no", "yes", "yes"), m)
#' second <- count_reports(c(no = 1e6, yes = 2e6), m)
#' c(first, second)
#' @export
count_reports <- function(x, mechanism, ..., weights = NULL, count = NULL) {
  check_dots_empty(...)
  check_mechanism(mechanism)
  check_required(x, "Give reports or counts.")
  as_counts(x, mechanism, weights = weights, count = count, call = rlang::current_env())
}

# Counts have one of two layouts: dense (one number for each possible report, in table order) or
# patterns (one for each distinct row of `patterns`). `squares` are sums of squared weights, and
# NULL where every report has weight 1.
new_counts <- function(mechanism, counts, n, squares = NULL, patterns = NULL) {
  outputs <- output_alphabets(mechanism)
  if (is.null(patterns) && length(outputs) == 1) {
    names(counts) <- alphabet_labels(outputs[[1]])
  }
  structure(
    list(
      counts = counts,
      n = n,
      squares = squares,
      patterns = patterns,
      sizes = alphabet_sizes(outputs),
      fingerprint = mechanism$fingerprint,
      title = format_title(mechanism),
      privacy = mechanism$privacy
    ),
    class = "confide_counts"
  )
}

# The alphabets of what can be reported: a named list for several attributes, an unnamed list of one
# otherwise.
output_alphabets <- function(mechanism) {
  mechanism$alphabets %||% list(mechanism$outputs %||% mechanism$alphabet)
}

# Rows of report codes, each standing for `weight` reports.
collect_rows <- function(rows, weight, square, n, mechanism) {
  outputs <- output_alphabets(mechanism)
  if (length(outputs) == 1 && is.null(mechanism$alphabets)) {
    size <- outputs[[1]]$size
    return(new_counts(mechanism, lambda_tabulate(rows, weight, size), n,
      squares = if (!is.null(square)) lambda_tabulate(rows, square, size)
    ))
  }
  distinct <- lambda_patterns(rows, weight, square %||% weight)
  new_counts(mechanism, distinct$weight, n,
    squares = if (!is.null(square)) distinct$square, patterns = rows[distinct$row, , drop = FALSE]
  )
}

# Reports or counts of any kind to counts; reports bring along where their randomness came from.
as_counts <- function(x, mechanism, weights = NULL, count = NULL, call = rlang::caller_env()) {
  about <- attr(x, "confide", exact = TRUE)
  check_fingerprint(about$fingerprint, mechanism, call)
  counts <- read_counts(x, mechanism, weights, count, call)
  if (!is.null(about)) {
    counts$privacy$rng <- about$rng
  }
  counts
}

read_counts <- function(x, mechanism, weights, count, call) UseMethod("read_counts")

#' @exportS3Method
read_counts.confide_counts <- function(x, mechanism, weights, count, call) {
  check_fingerprint(x$fingerprint, mechanism, call)
  check_unused(weights, "counts", call)
  x
}

#' @exportS3Method
read_counts.default <- function(x, mechanism, weights, count, call) {
  if (is_set_mechanism(mechanism)) {
    return(read_sets(x, mechanism, weights, count, call))
  }
  x <- if (inherits(x, "confide_reports")) as_plain(x) else x
  if (is.numeric(x) && !is.null(names(x)) && !is.object(x)) {
    return(read_counts.table(as.table(x), mechanism, weights, count, call))
  }
  outputs <- output_alphabets(mechanism)
  if (!is.null(mechanism$alphabets)) {
    abort_domain(c(
      "{.arg x} must be a data frame of reports, or counts of them.",
      x = "It is not.",
      i = "{.fn mech_lambda} needs a column for each attribute."
    ), call)
  }
  codes <- alphabet_codes(x, outputs[[1]], call, report_messages(mechanism))
  collect_weighted(matrix(codes, ncol = 1), weights, mechanism, call)
}

# weights NULL: one report a row.
collect_weighted <- function(rows, weights, mechanism, call) {
  outputs <- output_alphabets(mechanism)
  if (is.null(weights) && is.null(mechanism$alphabets) && nrow(rows) <= max_levels) {
    return(new_counts(mechanism, as.numeric(tabulate(rows, outputs[[1]]$size)), nrow(rows)))
  }
  if (is.null(weights)) {
    return(collect_rows(rows, rep(1, nrow(rows)), NULL, nrow(rows), mechanism))
  }
  weights <- check_amounts(weights, nrow(rows), "weights", call)
  collect_rows(rows, weights, weights^2, nrow(rows), mechanism)
}

#' @exportS3Method
read_counts.table <- function(x, mechanism, weights, count, call) {
  refuse_set_table(mechanism, call)
  check_unused(weights, "a table", call)
  outputs <- output_alphabets(mechanism)
  if (length(dim(x)) != length(outputs)) {
    abort_parameter(c(
      "A table of reports must have one dimension for each attribute: {length(outputs)}.",
      x = "It has {length(dim(x))}."
    ), call = call)
  }
  amounts <- check_amounts(as.vector(x), length(x), "counts", call)
  amounts <- place_cells(amounts, dimnames(x), outputs, call, report_messages(mechanism))
  new_counts(mechanism, amounts, sum(amounts))
}

# How often each level was in a set does not say how many sets there were.
refuse_set_table <- function(mechanism, call) {
  if (!is_set_mechanism(mechanism)) {
    return(invisible())
  }
  abort_parameter(c(
    "Reports of several numbers must be counted from their rows.",
    x = "{.arg x} is a table of single numbers.",
    i = "{.fn count_reports} takes the matrix of reports, or a data frame of its rows with counts."
  ), call = call)
}

# The cells of a table, matched by its dimnames and put in table order; levels that it lacks are 0.
place_cells <- function(cells, dimnames, outputs, call, messages = value_messages) {
  positions <- table_positions(dimnames, outputs, call, messages)
  order <- positions$order
  if (!identical(order, seq_along(order))) {
    cells <- as.vector(aperm(array(cells, lengths(dimnames)), order))
  }
  if (all(positions$complete)) {
    return(cells)
  }
  full <- array(0, alphabet_sizes(outputs))
  as.vector(do.call(`[<-`, c(list(full), unname(positions$codes), list(value = cells))))
}

# Where the cells of a table go: the order of its dimensions, and the codes along each.
table_positions <- function(dimnames, outputs, call, messages) {
  order <- seq_along(outputs)
  if (!is.null(names(outputs))) {
    named <- !is.null(names(dimnames)) && all(names(dimnames) != "")
    if (named && !setequal(names(dimnames), names(outputs))) {
      abort_parameter(c(
        "The dimensions of the table must be the attributes.",
        x = "Expected {enumerate_names(names(outputs))}; found {enumerate_names(names(dimnames))}."
      ), call = call)
    }
    order <- if (named) match(names(outputs), names(dimnames)) else order
  }
  codes <- lapply(seq_along(outputs), function(j) {
    table_codes(dimnames[[order[[j]]]], outputs[[j]], call, messages)
  })
  complete <- vapply(seq_along(outputs), function(j) {
    identical(codes[[j]], seq_len(outputs[[j]]$size))
  }, logical(1))
  list(order = order, codes = codes, complete = complete)
}

table_codes <- function(labels, alphabet, call, messages) {
  if (is.null(labels)) {
    abort_parameter(
      "A table of reports must have dimnames: the labels of the reports.",
      call = call
    )
  }
  labels[is.na(labels)] <- missing_label
  codes <- match(enc2utf8(labels), alphabet_labels(alphabet))
  if (anyNA(codes) || anyDuplicated(codes) > 0) {
    abort_domain(messages$domain, call)
  }
  codes
}

#' @exportS3Method
read_counts.data.frame <- function(x, mechanism, weights, count, call) {
  if (is_set_mechanism(mechanism)) {
    return(read_sets(x, mechanism, weights, count, call))
  }
  x <- as.data.frame(as_plain(x))
  outputs <- output_alphabets(mechanism)
  count <- find_count(names(x), outputs, count, weights, call, x)
  weighted_by <- if (is_column_name(weights, x)) weights
  columns <- report_columns(setdiff(names(x), c(count, weighted_by)), outputs, call)
  messages <- report_messages(mechanism)
  rows <- vapply(seq_along(outputs), function(j) {
    alphabet_codes(x[[columns[[j]]]], outputs[[j]], call, messages)
  }, integer(nrow(x)))
  rows <- matrix(rows, nrow(x), length(outputs))
  if (is.null(count)) {
    weights <- if (is.null(weighted_by)) weights else x[[weighted_by]]
    return(collect_weighted(rows, weights, mechanism, call))
  }
  check_unused(weights, "a data frame of counts", call)
  amounts <- check_amounts(x[[count]], nrow(x), "counts", call)
  collect_rows(rows, amounts, NULL, sum(amounts), mechanism)
}

is_column_name <- function(weights, x) {
  is.character(weights) && length(weights) == 1 && weights %in% names(x)
}

# A column of counts is the one that is named, or the only one besides the reports with a usual
# name. Where another one may hold counts it is not passed over in silence; `values`, the columns
# where they are at hand, tell what cannot be a count.
find_count <- function(found, outputs, count, weights, call, values = list()) {
  if (!is.null(count)) {
    return(check_choice(count, found, arg = "count", call = call))
  }
  others <- setdiff(found, c(names(outputs), if (is.character(weights)) weights))
  usual <- intersect(c("n", "Freq", "count"), others)
  if (is.null(weights) && length(usual) == 1 && length(found) == length(outputs) + 1) {
    return(usual)
  }
  # Columns of reports that have no names of their own may be called anything.
  if (is.null(names(outputs)) && length(others) <= length(outputs)) {
    return(NULL)
  }
  refuse_overlooked(Filter(function(name) may_be_counts(values[[name]]), usual), call)
}

may_be_counts <- function(values) {
  values <- from_64_bits(values)
  is.null(values) || (is.numeric(values) && all(values >= 0 & values == round(values)) %in% TRUE)
}

refuse_overlooked <- function(columns, call) {
  if (length(columns) == 0) {
    return(NULL)
  }
  abort_parameter(c(
    "A column that holds counts must be named in {.arg count}.",
    x = "{.arg x} has {enumerate_names(columns)} besides reports and other columns.",
    i = "Say {.code count = \"{columns[[1]]}\"}, without {.arg weights}.",
    i = "Drop the column if it counts no reports."
  ), call = call)
}

report_columns <- function(found, outputs, call) {
  if (is.null(names(outputs)) && length(found) == 1) {
    return(found)
  }
  if (!is.null(names(outputs)) && all(names(outputs) %in% found)) {
    return(names(outputs))
  }
  abort_parameter(c(
    if (is.null(names(outputs))) {
      "{.arg x} must have one column of reports, and may have one of counts."
    } else {
      paste(
        "{.arg x} must have a column of reports for each attribute:",
        "{enumerate_names(names(outputs))}."
      )
    },
    x = "Its columns are {enumerate_names(found)}.",
    i = "Name the column of counts in {.arg count}, that of weights in {.arg weights}."
  ), call = call)
}

#' @exportS3Method
read_counts.tbl_lazy <- function(x, mechanism, weights, count, call) {
  read_database(x, mechanism, weights, count, call)
}

check_amounts <- function(x, n, what, call) {
  if (inherits(x, "integer64")) {
    x <- exact_numbers(x, call)
  }
  if (is.numeric(x) && !is.object(x) && length(x) == n && is_finite_amount(x)) {
    return(as.numeric(x))
  }
  abort_amounts(what, call)
}

is_finite_amount <- function(x) {
  length(x) == 0 || isTRUE(min(x) >= 0 && max(x) < Inf)
}

abort_amounts <- function(what, call) {
  abort_parameter(c(
    if (what == "counts") {
      "Counts must be finite numbers, none of them negative or missing."
    } else {
      "{.arg weights} must be finite numbers, none negative or missing, one for each report."
    },
    x = "They are not."
  ), call = call)
}

check_unused <- function(weights, where, call) {
  if (is.null(weights)) {
    return(invisible())
  }
  abort_parameter(c(
    "{.arg weights} belong to single reports.",
    x = "{.arg x} is {where}.",
    i = "Count with weights from the reports, or from a table with a column of weights."
  ), call = call)
}

#' @export
c.confide_counts <- function(...) {
  parts <- list(...)
  same <- vapply(parts, function(part) {
    inherits(part, "confide_counts") && identical(part$fingerprint, parts[[1]]$fingerprint)
  }, logical(1))
  if (!all(same)) {
    abort_mechanism(c(
      "Only counts of one mechanism can be merged.",
      x = "These come from different mechanisms, or are not counts."
    ))
  }
  Reduce(merge_counts, parts)
}

merge_counts <- function(a, b) {
  weighted <- !is.null(a$squares) || !is.null(b$squares)
  if (is.null(a$patterns) && is.null(b$patterns)) {
    merged <- a
    merged$counts <- a$counts + b$counts
    if (weighted) merged$squares <- squares(a) + squares(b)
  } else {
    a <- sparse_counts(a)
    b <- sparse_counts(b)
    rows <- rbind(a$patterns, b$patterns)
    distinct <- lambda_patterns(rows, c(a$counts, b$counts), c(squares(a), squares(b)))
    merged <- a
    merged$patterns <- rows[distinct$row, , drop = FALSE]
    merged$counts <- distinct$weight
    if (weighted) merged$squares <- distinct$square
  }
  merged$n <- a$n + b$n
  merged$privacy["rng"] <- list(merge_rng(a$privacy$rng, b$privacy$rng))
  merged
}

# One report that is not private spoils the whole; unknown stays unknown.
merge_rng <- function(a, b) {
  if ("r" %in% c(a, b)) {
    return("r")
  }
  if (identical(a, b)) a
}

squares <- function(counts) counts$squares %||% counts$counts

sparse_counts <- function(counts) {
  if (!is.null(counts$patterns)) {
    return(counts)
  }
  kept <- which(counts$counts > 0)
  counts$patterns <- unname(arrayInd(kept, counts$sizes))
  counts$squares <- counts$squares[kept]
  counts$counts <- counts$counts[kept]
  counts
}

#' @export
format.confide_counts <- function(x, ...) {
  c(
    sprintf("<counts>  %s%s", plural(x$n, "report"), if (is.null(x$squares)) "" else ", weighted"),
    inline_title(x$title)
  )
}

#' @export
print.confide_counts <- function(x, ...) {
  writeLines(format(x))
  if (is.null(x$patterns)) {
    first <- utils::head(x$counts, 8L)
    shown <- format_number(first, 12)
    names(shown) <- shorten(encodeString(names(first)), 50L)
    print(shown, quote = FALSE, right = TRUE)
    writeLines(format_rest(length(x$counts), length(shown), "cell"))
  } else {
    combinations <- if (nrow(x$patterns) == 1) "combination" else "combinations"
    writeLines(paste(format_count(nrow(x$patterns)), "distinct", combinations, "of answers"))
  }
  writeLines(format_rng(x$privacy$rng))
  invisible(x)
}

#' @export
nobs.confide_counts <- function(object, ...) {
  object$n
}

# The reported table over some attributes, in the order asked: total weights and squared weights for
# each cell.
tabulate_margin <- function(counts, sizes, margin) {
  if (!is.null(counts$patterns)) {
    rows <- counts$patterns[, margin, drop = FALSE]
    return(list(
      total = lambda_tabulate(rows, counts$counts, sizes[margin]),
      square = if (!is.null(counts$squares)) lambda_tabulate(rows, counts$squares, sizes[margin])
    ))
  }
  list(
    total = sum_out(counts$counts, sizes, margin),
    square = if (!is.null(counts$squares)) sum_out(counts$squares, sizes, margin)
  )
}

sum_out <- function(cells, sizes, margin) {
  if (identical(margin, seq_along(sizes))) {
    return(unname(cells))
  }
  kept <- seq_along(sizes)
  for (j in setdiff(seq_along(sizes), margin)) {
    at <- match(j, kept)
    before <- prod(sizes[kept[seq_len(at - 1)]])
    after <- length(cells) / before / sizes[[j]]
    dim(cells) <- c(before, sizes[[j]], after)
    cells <- as.vector(Reduce(`+`, lapply(seq_len(sizes[[j]]), function(v) cells[, v, ])))
    kept <- setdiff(kept, j)
  }
  as.vector(aperm(array(cells, sizes[kept]), match(margin, kept)))
}
