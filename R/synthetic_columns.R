# The public schema of a data frame for synthesize(): for each column its alphabet, and for a
# numeric column the breaks of its bins. Nothing here is read off the values.

column_domains <- function(data, cuts, na, call = rlang::caller_env()) {
  check_frame(data, call)
  check_cuts(cuts, data, call)
  columns <- lapply(stats::setNames(names(data), names(data)), function(name) {
    new_column(data[[name]], name, cuts[[name]], na, call)
  })
  columns
}

check_frame <- function(data, call) {
  if (!is.data.frame(data) || ncol(data) == 0) {
    abort_parameter(c(
      "{.arg data} must be a data frame with at least one column and one row for each person.",
      x = if (is.data.frame(data)) "It has no column." else "It is {describe_class(data)}."
    ), call = call)
  }
  names <- names(data)
  if (anyNA(names) || any(names == "") || anyDuplicated(names) > 0) {
    abort_parameter("The columns of {.arg data} must have distinct names.", call = call)
  }
}

check_cuts <- function(cuts, data, call) {
  plain <- is.null(cuts) || (is.list(cuts) && !is.object(cuts))
  if (!plain || anyDuplicated(names(cuts)) > 0 || !all(rlang::names2(cuts) %in% names(data))) {
    abort_parameter(c(
      "{.arg cuts} must be a list of break points, named by columns of {.arg data}.",
      x = if (plain) {
        "Its names are {enumerate_names(rlang::names2(cuts))}."
      } else {
        "It is {describe(cuts)}."
      },
      i = "For example {.code cuts = list(age = c(17, 30, 45, 60, 91))}."
    ), call = call)
  }
}

new_column <- function(x, name, breaks, na, call) {
  if (!is.null(breaks)) {
    return(binned_column(x, name, breaks, na, call))
  }
  if (!is.factor(x) && !(is.logical(x) && !is.object(x)) || !is.null(dim(x))) {
    abort_parameter(c(
      "Column {.field {name}} must have a public domain.",
      x = "It is {describe_column(x)}.",
      i = paste(
        "A factor or a logical column has one; text becomes a factor by",
        "{.code factor(x, levels = ...)}, numbers need break points in {.arg cuts}."
      )
    ), call = call)
  }
  role <- alphabet_role(paste0("The levels of {.field ", escape_braces(name), "}"), few = 1)
  if (is.logical(x)) {
    return(list(alphabet = new_alphabet(c(FALSE, TRUE), na, role, call)))
  }
  # addNA() declares the missing answer for this column alone
  declared <- anyNA(levels(x))
  list(alphabet = new_alphabet(drop_missing_level(x[0]), if (declared) "level" else na, role, call))
}

# A missing level becomes a missing value.
drop_missing_level <- function(x) {
  if (anyNA(levels(x))) factor(x, levels(x)[!is.na(levels(x))]) else x
}

escape_braces <- function(text) gsub("}", "}}", gsub("{", "{{", text, fixed = TRUE), fixed = TRUE)

describe_column <- function(x) {
  if (is.object(x)) {
    return(paste("of class", paste(class(x), collapse = "/")))
  }
  paste("of type", typeof(x))
}

binned_column <- function(x, name, breaks, na, call) {
  if (!is_plain_column(x)) {
    abort_parameter(c(
      "A column with break points in {.arg cuts} must be numeric.",
      x = "{.field {name}} is {describe_column(x)}."
    ), call = call)
  }
  plain <- is.numeric(breaks) && !is.object(breaks) && length(breaks) >= 2 && !anyNA(breaks)
  if (!plain || any(diff(breaks) <= 0)) {
    abort_parameter(c(
      "The break points of {.field {name}} must be at least two increasing numbers.",
      x = if (plain) "They do not increase." else "They are {describe(breaks)}.",
      i = "The first and the last are the ends of the public range; they may be infinite."
    ), call = call)
  }
  role <- alphabet_role(paste0("The bins of {.field ", escape_braces(name), "}"), few = 1)
  labels <- factor(character(), bin_labels(breaks), ordered = TRUE)
  list(
    alphabet = new_alphabet(labels, na, role, call),
    breaks = as.numeric(breaks), whole = is.integer(x)
  )
}

# "[17,30)", the last one closed; open ends where the range is infinite.
bin_labels <- function(breaks) {
  text <- vapply(breaks, format, "", digits = 15, trim = TRUE, scientific = FALSE)
  low <- utils::head(text, -1)
  high <- text[-1]
  last <- length(low)
  labels <- sprintf("[%s,%s%s", low, high, ifelse(seq_len(last) == last, "]", ")"))
  labels[is.infinite(utils::head(breaks, -1))] <- sprintf("below %s", high[[1]])
  labels[is.infinite(breaks[-1])] <- sprintf("from %s", low[[last]])
  if (last == 1 && all(is.infinite(breaks))) "any number" else labels
}

# Private values in, codes from 0 out: an integer matrix. One fixed text for all that can be wrong.
row_codes <- function(data, columns, call = rlang::caller_env()) {
  codes <- tryCatch(
    lapply(names(columns), function(name) one_column_codes(data[[name]], columns[[name]], call)),
    confide_error_domain = function(error) abort_domain(columns_domain, call)
  )
  # a frame put together by hand can have columns of several lengths
  if (any(lengths(codes) != nrow(data))) {
    abort_domain(columns_domain, call)
  }
  matrix(as.integer(unlist(codes)) - 1L, nrow(data), length(columns))
}

columns_domain <- c(
  "Each column must hold only values of its declared domain.",
  x = "The data do not.",
  i = paste(
    "Missing values are legal with {.code na = \"level\"}, or in a factor made with",
    "{.fn addNA}."
  )
)

one_column_codes <- function(x, column, call) {
  if (is.null(column$breaks)) {
    return(alphabet_codes(drop_missing_level(x), column$alphabet, call))
  }
  if (!is_plain_column(x)) {
    abort_domain(columns_domain, call)
  }
  # values beyond the range count to the first and last bin
  inner <- column$breaks[-c(1, length(column$breaks))]
  fill_missing(findInterval(as.numeric(x), inner) + 1L, x, column$alphabet, call)
}

# Codes from 0 back to a column as the user knows it.
decode_column <- function(codes, column, numbers) {
  values <- alphabet_factor(codes + 1L, column$alphabet)
  if (numbers == "uniform" && !is.null(column$breaks)) {
    return(numbers_in_bins(as.integer(values), column))
  }
  if (column$alphabet$kind == "logical") as.logical(values) else values
}

# Uniform in the bin; for a column of whole numbers among the whole numbers of the bin.
numbers_in_bins <- function(bins, column) {
  low <- column$breaks[bins]
  high <- column$breaks[bins + 1L]
  if (!column$whole) {
    return(stats::runif(length(bins), low, high))
  }
  low <- ceiling(low)
  closed <- bins == length(column$breaks) - 1L & high == floor(high)
  last <- pmax(low, ifelse(closed, high, ceiling(high) - 1))
  as.integer(pmin(last, low + floor(stats::runif(length(bins)) * (last - low + 1))))
}

column_sizes <- function(columns) {
  vapply(columns, function(column) as.numeric(column$alphabet$size), numeric(1))
}
