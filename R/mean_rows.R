# What private_mean() reads its people through: `n`, `columns`, `names`, and `each(f)`, which calls
# f on every chunk of rows in turn, a double matrix or a list of double columns. Data in memory are
# one chunk; a database table is read anew for each pass: only for pairs is it in memory whole.
new_rows <- function(x, absent, call) {
  if (inherits(x, "tbl_lazy")) {
    return(table_rows(x, absent, call))
  }
  if (length(dim(x)) > 2) {
    abort_domain(mean_domain, call = call)
  }
  columns <- count_columns(x, call)
  if (is_plain_numbers(x) && length(x) / columns >= largest_rows) {
    abort_domain(mean_domain, call = call) # before it is copied
  }
  values <- plain_columns(x, columns, call)
  if (rows_in(values) >= largest_rows || !rows_are_legal(values, absent)) {
    abort_domain(mean_domain, call = call)
  }
  list(
    n = rows_in(values), columns = columns, names = public_names(x), chunked = FALSE,
    each = function(f) f(values)
  )
}

mean_domain <- c(
  paste(
    "{.arg x} must be a numeric vector, matrix, data frame or database table with one row for",
    "each person, all values finite; fewer than 2^31 rows."
  ),
  i = "Replace missing values by a number fixed beforehand."
)

rows_in <- function(values) {
  as.numeric(if (is.list(values)) length(values[[1]]) else nrow(values))
}

plain_columns <- function(x, columns, call) {
  if (is.data.frame(x) && all(vapply(x, is_plain_column, logical(1)))) {
    # a frame that was made by hand may have columns of several lengths
    if (any(lengths(x) != length(x[[1]]))) abort_domain(mean_domain, call = call)
    return(unname(lapply(x, as.numeric)))
  }
  if (!is_plain_numbers(x)) {
    abort_domain(mean_domain, call = call)
  }
  if (is.double(x) && length(dim(x)) == 2) x else matrix(as.numeric(x), ncol = columns)
}

chunk_rows <- 65536L

# One pass checks and counts the rows, before anything is drawn.
table_rows <- function(x, absent, call) {
  check_installed(c("DBI", "dbplyr"), "to read rows from a database", call)
  names <- colnames(x)
  if (length(names) == 0) {
    abort_parameter("{.arg x} must have at least one column.", call = call)
  }
  each <- function(f) {
    result <- DBI::dbSendQuery(dbplyr::remote_con(x), dbplyr::sql_render(x))
    on.exit(DBI::dbClearResult(result))
    repeat {
      chunk <- DBI::dbFetch(result, n = chunk_rows)
      if (nrow(chunk) == 0) break
      f(plain_columns(chunk, length(names), call))
    }
  }
  n <- 0
  each(function(chunk) {
    if (!rows_are_legal(chunk, absent)) abort_domain(mean_domain, call = call)
    n <<- n + rows_in(chunk)
  })
  if (n >= largest_rows) {
    abort_domain(mean_domain, call = call)
  }
  list(
    n = n, columns = as.numeric(length(names)), names = names, chunked = TRUE, each = each
  )
}

# Sums an integer statistic over the chunks.
scan_rows <- function(rows, kernel, add = `+`) {
  total <- NULL
  rows$each(function(chunk) {
    found <- kernel(chunk)
    total <<- if (is.null(total)) found else add(total, found)
  })
  total
}

# Records in whitened coordinates, the columns of each chunk. Where scales are all there is to take
# out, a few thousand rows at a time are made anew for each pass, without a copy of the data. With a
# triangle (n d^2) the records are kept: the one copy, which only chunks do without. A slice may
# not be kept by who is called with it: its memory is used again.
whitened_rows <- function(rows, centre, root) {
  whiten <- function(chunk) whiten_rows(chunk, 0, rows_in(chunk), centre, root)
  if (rows$chunked) {
    rows$each <- transformed(rows$each, whiten)
  } else if (ncol(root) == 1) {
    rows$each <- whitened_slices(rows, centre, root)
    rows$chunked <- TRUE
  } else {
    records <- scan_rows(rows, whiten)
    rows$each <- function(f) f(records)
  }
  rows
}

slice_rows <- 4096 # even, so that no pair of rows is cut in two

whitened_slices <- function(rows, centre, root) {
  values <- scan_rows(rows, identity)
  whole <- rows$n %/% slice_rows
  rest <- rows$n %% slice_rows
  function(f) {
    slice <- matrix(0, length(centre), if (whole > 0) slice_rows else 0)
    for (place in seq_len(whole)) {
      whiten_into(slice, values, (place - 1) * slice_rows, centre, root)
      f(slice)
    }
    if (rest > 0) f(whiten_rows(values, whole * slice_rows, rest, centre, root))
  }
}

# The rows in a random order, a slice at a time, for what is counted in pairs of rows 1 and 2, 3 and
# 4, ... The order is uniform, is drawn anew for each use and depends on no value: it might as well
# be published.
#
# So the guarantee holds whatever the order of the rows says, such as when they were sorted by a
# column and a person who changes moves many others. Let x and x' be two tables whose rows differ,
# as a collection, in one person. For some permutation s, x' read in the order s is a table x'' that
# differs from x in one row. If p is uniform, so is s p; hence the release has one law on x' and on
# x''. And for each p, x and x'' read in the order p differ in one row, so in one pair: given p the
# release keeps its cost, and a mixture over p, which has one law for both, costs no more (Renyi
# divergence is jointly quasi-convex). All other statistics are sums over the records, in integers,
# which no order changes. A row that stands for an absent person is a row like any other here.
#
# The rows of a table come to memory for this: a database's order may follow the values, whatever it
# is asked for.
shuffled_rows <- function(run) {
  rows <- run$people
  query <- list(kind = "order", n = rows$n, measure = run$measure, budget = 0, covered = TRUE)
  order <- release_units(raw(), query, run$rng)
  values <- whole_rows(rows)
  rows$each <- function(f) {
    for (first in seq(1, rows$n, by = slice_rows)) {
      f(rows_at(values, order[seq(first, min(first + slice_rows - 1, rows$n))]))
    }
  }
  rows$chunked <- TRUE
  rows
}

# All rows at once; those of chunks are put into columns of their own.
whole_rows <- function(rows) {
  if (!rows$chunked) {
    return(scan_rows(rows, identity))
  }
  values <- rep(list(rep(NA_real_, rows$n)), rows$columns)
  filled <- 0
  rows$each(function(chunk) {
    places <- filled + seq_len(rows_in(chunk))
    for (k in seq_along(values)) values[[k]][places] <<- column_of(chunk, k)
    filled <<- filled + rows_in(chunk)
  })
  values
}

column_of <- function(chunk, k) if (is.list(chunk)) chunk[[k]] else chunk[, k]

rows_at <- function(values, places) {
  if (is.list(values)) lapply(values, `[`, places) else values[places, , drop = FALSE]
}

transformed <- function(each, change) {
  force(each)
  force(change)
  function(f) each(function(chunk) f(change(chunk)))
}
