# Counting in a database: one query, one row for each distinct report, whoever the mechanism is.

read_database <- function(x, mechanism, weights, count, call) {
  check_installed(c("dplyr", "dbplyr"), "to count reports in a database", call)
  is_set <- is_set_mechanism(mechanism)
  outputs <- if (is_set) {
    vector("list", set_width(mechanism$design))
  } else {
    output_alphabets(mechanism)
  }
  found <- colnames(x)
  amount <- find_amount(found, outputs, weights, count, call)
  columns <- setdiff(found, amount)
  columns <- if (is_set) columns else report_columns(columns, outputs, call)
  groups <- fetch_groups(x, columns, amount, call)
  check_groups(groups, weights, call)
  rows <- if (is_set) {
    set_codes(groups[columns], mechanism, call)
  } else {
    group_codes(groups[columns], outputs, call, report_messages(mechanism))
  }
  collect <- if (is_set) tally_sets else collect_rows
  if (!is.null(weights)) {
    n <- sum(exact_numbers(groups$confide_n, call))
    weight <- as.numeric(groups$confide_total)
    return(collect(rows, weight, as.numeric(groups$confide_square), n, mechanism))
  }
  total <- exact_numbers(groups$confide_total, call)
  collect(rows, total, NULL, sum(total), mechanism)
}

# The column of counts or weights, or NULL.
find_amount <- function(found, outputs, weights, count, call) {
  count <- find_count(found, outputs, count, weights, call)
  if (is.null(weights)) {
    return(count)
  }
  if (!is.null(count)) {
    check_unused(weights, "a table of counts", call)
  }
  check_choice(weights, found, arg = "weights", call = call)
}

# The query. What it computes has names that no column of reports is likely to have.
database_counts <- function(x, columns, amount) {
  groups <- dplyr::group_by(dplyr::ungroup(x), !!!rlang::syms(unname(columns)))
  if (is.null(amount)) {
    return(dplyr::summarise(groups, confide_total = dplyr::n(), .groups = "drop"))
  }
  value <- rlang::sym(amount)
  dplyr::summarise(groups,
    confide_total = sum(!!value, na.rm = TRUE),
    # 1.0: squares of integers may overflow
    confide_square = sum(1.0 * !!value * !!value, na.rm = TRUE),
    confide_smallest = min(!!value, na.rm = TRUE),
    confide_present = sum(ifelse(is.na(!!value), 0, 1), na.rm = TRUE),
    confide_n = dplyr::n(),
    .groups = "drop"
  )
}

fetch_groups <- function(x, columns, amount, call) {
  groups <- as.data.frame(dplyr::collect(database_counts(x, columns, amount)))
  computed <- startsWith(names(groups), "confide_") & !names(groups) %in% columns
  groups[computed] <- lapply(groups[computed], from_64_bits)
  groups
}

# SQL sums skip NULL without a word, and take text for 0 in some dialects; we do not.
check_groups <- function(groups, weights, call) {
  smallest <- groups$confide_smallest
  if (is.null(smallest) || nrow(groups) == 0) {
    return(invisible())
  }
  absent <- groups$confide_present < groups$confide_n
  negative <- !is.numeric(smallest) || !isTRUE(all(smallest >= 0))
  endless <- !is.null(weights) &&
    !all(vapply(groups[c("confide_total", "confide_square")], is_finite_amount, NA))
  if (any(absent) || negative || endless) {
    abort_amounts(if (is.null(weights)) "counts" else "weights", call)
  }
}

group_codes <- function(groups, outputs, call, messages) {
  rows <- vapply(seq_along(outputs), function(j) {
    alphabet_codes(truth_values(groups[[j]], outputs[[j]]), outputs[[j]], call, messages)
  }, integer(nrow(groups)))
  matrix(rows, nrow(groups), length(outputs))
}

# SQLite and MySQL keep FALSE and TRUE as 0 and 1.
truth_values <- function(x, alphabet) {
  x <- from_64_bits(x)
  if (alphabet$kind == "logical" && is.numeric(x) && all(x %in% c(0, 1, NA))) x == 1 else x
}

# Databases may send 64-bit integers. Those that a double cannot hold exactly become infinite, which
# is no count and no report.
from_64_bits <- function(x) {
  if (!inherits(x, "integer64")) {
    return(x)
  }
  check_installed("bit64", "to read 64-bit integers", NULL)
  value <- suppressWarnings(bit64::as.double.integer64(x))
  value[abs(value) >= 2^53] <- Inf
  value
}

exact_numbers <- function(x, call) {
  value <- as.numeric(from_64_bits(x))
  if (anyNA(value)) {
    abort_amounts("counts", call)
  }
  if (any(abs(value) >= 2^53)) {
    abort_parameter(c(
      "Counts of 2^53 and more cannot be held exactly.",
      x = "The database sent one."
    ), call = call)
  }
  value
}
