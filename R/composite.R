#' One attribute of feasible combinations
#'
#' Independent randomization of several attributes can report combinations that no person can have.
#' `composite()` makes one attribute out of several, whose levels are the feasible combinations
#' only: randomized response on a cluster of attributes. Nothing impossible is ever reported, and
#' the table of the cluster comes with its own zeros. The price: all answers of the cluster are
#' replaced together, and the number of levels is what its size costs.
#'
#' @param levels (named list, or data frame of factors) The attributes and their levels, as in
#'   [mech_lambda()].
#' @param feasible (data frame, logical array, or function) Which combinations are possible. A data
#'   frame with one row for each of them and the attributes as columns (its order becomes the order
#'   of the levels); a logical array over the levels, in table order, `TRUE` where possible; or a
#'   function that takes the data frame of all combinations and returns one `TRUE` or `FALSE` for
#'   each row. It is public: decide it without looking at the data.
#' @param sep (string) Stands between the labels of a combination.
#' @param data (data frame) True values, with a column for each attribute; other columns are
#'   ignored.
#' @param composite (composite) Made by `composite()`.
#' @param x Reports (a factor, or a data frame with one column over the levels of the composite), or
#'   an estimate of a table with the composite as one attribute.
#' @param ... Unused; catches misspelt arguments.
#' @returns `composite()`: an object of class `confide_composite`, which [mech_lambda()] takes as
#'   the levels of one attribute; `levels()` gives its labels and `as.data.frame()` a row for each.
#'
#'   `combine_attributes()`: a factor over these labels, one value for each row of `data`; `NA`
#'   where one of the answers is missing.
#'
#'   `split_attributes()`: a data frame in which the composite is replaced by its attributes: one
#'   row for each report, or one for each cell of an estimate, as `as.data.frame()` gives it.
#' @section Errors:
#' `confide_error_parameter` for attributes and combinations that do not fit, fewer than two
#' feasible combinations, or labels that `sep` makes ambiguous; `confide_error_domain`, with a fixed
#' text, when `data` hold other levels or a combination that is not feasible.
#' @seealso [mech_lambda()]
#' @examples
#' cluster <- composite(
#'   list(age = c("child", "adult"), work = c("none", "employed", "retired")),
#'   function(cells) cells$age == "adult" | cells$work == "none"
#' )
#' cluster
#' m <- mech_lambda(list(age_work = cluster, sex = c("f", "m")), lambda = 0.7)
#' people <- data.frame(age = c("child", "adult"), work = c("none", "retired"), sex = c("f", "m"))
#' people$age_work <- combine_attributes(people, cluster)
#' reports <- privatize(people[c("age_work", "sex")], m)
#' split_attributes(reports, cluster)
#' split_attributes(estimate(reports, m, margin = "age_work"), cluster)
#' @export
composite <- function(levels, feasible, ..., sep = " / ") {
  check_dots_empty(...)
  check_required(levels, "Give a named list of level sets.")
  check_required(feasible, "Give the combinations that are possible.")
  check_attributes(levels)
  check_separator(sep)
  alphabets <- new_alphabets(levels, match_na("error", names(levels)))
  domain <- lapply(alphabets, alphabet_labels)
  cells <- feasible_cells(feasible, alphabets, domain)
  labels <- do.call(paste, c(unname(Map(`[`, domain, as.data.frame(cells))), sep = sep))
  check_feasible(labels, sep)
  structure(
    list(labels = labels, cells = cells, alphabets = alphabets),
    class = "confide_composite"
  )
}

check_separator <- function(sep, call = rlang::caller_env()) {
  if (is_text(sep)) {
    return(invisible())
  }
  abort_parameter(c("{.arg sep} must be one string.", x = "It is {describe(sep)}."), call = call)
}

check_feasible <- function(labels, sep, call = rlang::caller_env()) {
  if (length(labels) < 2) {
    abort_parameter(c(
      "At least two combinations must be feasible.",
      x = "{cli::qty(length(labels))}There {?is/are} {length(labels)}.",
      i = "A single possible answer holds no secret."
    ), call = call)
  }
  repeated <- unique(labels[duplicated(labels)])
  if (length(repeated) > 0) {
    abort_parameter(c(
      "Feasible combinations must have labels of their own.",
      x = "Repeated: {enumerate_names(repeated)}.",
      i = "Give each combination once, or another {.arg sep} than {.val {sep}}."
    ), call = call)
  }
}

# One row of codes for each feasible combination.
feasible_cells <- function(feasible, alphabets, domain, call = rlang::caller_env()) {
  if (is.data.frame(feasible)) {
    return(feasible_rows(feasible, alphabets, call))
  }
  sizes <- lengths(domain)
  if (prod(sizes) > max_product) {
    abort_parameter(c(
      "At most {format_count(max_product)} combinations can be gone through.",
      x = "There are {format(prod(sizes), digits = 4)}.",
      i = "Give {.arg feasible} as a data frame of the feasible ones."
    ), call = call)
  }
  if (is.function(feasible)) {
    grid <- expand.grid(domain, KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
    feasible <- array_of_flags(apply_feasible(feasible, grid, call), sizes)
  }
  flags <- aligned_flags(feasible, domain)
  if (is.null(flags)) {
    abort_feasible(feasible, sizes, call)
  }
  feasible_codes(arrayInd(which(flags), unname(sizes)), names(domain))
}

apply_feasible <- function(feasible, grid, call) {
  tryCatch(feasible(grid), error = function(error) {
    reason <- conditionMessage(error) # nolint: object_usage_linter. cli reads it.
    abort_parameter(c(
      "The function {.arg feasible} must serve the data frame of all combinations.",
      x = "It stopped: {reason}"
    ), call = call)
  })
}

# What a function returned, as an array if it can be one.
array_of_flags <- function(flags, sizes) {
  if (is.logical(flags) && length(flags) == prod(sizes)) array(flags, unname(sizes)) else flags
}

max_product <- 2^24

feasible_codes <- function(cells, names) {
  matrix(as.integer(cells), nrow(cells), length(names), dimnames = list(NULL, names))
}

abort_feasible <- function(feasible, sizes, call) {
  abort_parameter(c(
    paste(
      "{.arg feasible} must be a data frame of combinations, a logical array over the levels",
      "({paste(sizes, collapse = ' x ')}), or a function that returns one TRUE or FALSE",
      "for each row."
    ),
    x = "It gives {describe(feasible)}."
  ), call = call)
}

feasible_rows <- function(feasible, alphabets, call) {
  if (!setequal(names(feasible), names(alphabets)) || anyDuplicated(names(feasible)) > 0) {
    abort_parameter(c(
      "{.arg feasible} must have one column for each attribute.",
      x = paste(
        "Expected {enumerate_names(names(alphabets))};",
        "found {enumerate_names(names(feasible))}."
      )
    ), call = call)
  }
  codes <- vapply(names(alphabets), function(name) {
    column_codes(as.character(feasible[[name]]), alphabets[[name]], name, "feasible", call)
  }, integer(nrow(feasible)))
  feasible_codes(matrix(codes, nrow(feasible)), names(alphabets))
}

check_composite <- function(composite, call = rlang::caller_env()) {
  check_required(composite, "Make one with composite().", arg = "composite", call = call)
  check_made_by(composite, "composite", "confide_composite", call = call)
}

#' @rdname composite
#' @export
combine_attributes <- function(data, composite) {
  check_required(data, "Give a data frame of true values.")
  check_composite(composite)
  attributes <- colnames(composite$cells)
  if (!is.data.frame(data) || !all(attributes %in% names(data))) {
    abort_parameter(c(
      "{.arg data} must be a data frame with a column for each attribute of the composite.",
      x = if (is.data.frame(data)) {
        "Missing: {enumerate_names(setdiff(attributes, names(data)))}."
      }
    ))
  }
  call <- rlang::current_env()
  codes <- lapply(attributes, function(name) {
    alphabet <- composite$alphabets[[name]]
    # Missing answers are the mechanism's to judge: they make the whole combination missing.
    alphabet$labels <- c(alphabet_labels(alphabet), missing_label)
    alphabet$size <- alphabet$size + 1L
    alphabet$missing <- TRUE
    found <- alphabet_codes(data[[name]], alphabet, call)
    replace(found, found == alphabet$size, NA_integer_)
  })
  missing <- Reduce(`|`, lapply(codes, is.na))
  found <- match(row_keys(codes), row_keys(as.data.frame(composite$cells)))
  if (any(is.na(found) & !missing)) {
    abort_domain(c(
      "{.arg data} must hold only feasible combinations.",
      x = "It does not.",
      i = "{.code as.data.frame(composite)} shows what is feasible."
    ), call)
  }
  factor(composite$labels[found], composite$labels)
}

row_keys <- function(codes) {
  do.call(paste, unname(as.list(codes)))
}

#' @rdname composite
#' @export
split_attributes <- function(x, composite) {
  check_required(x, "Give reports or an estimate.")
  check_composite(composite)
  plain <- is.factor(x) || (is.character(x) && !is.object(x))
  if (!plain && !is.data.frame(x) && !inherits(x, "confide_estimate")) {
    abort_parameter(c(
      "{.arg x} must be reports or an estimate.",
      x = "It is {describe(x)}."
    ))
  }
  frame <- if (is.data.frame(x)) {
    as.data.frame(as_plain(x))
  } else if (inherits(x, "confide_estimate")) {
    as.data.frame(x)
  } else {
    data.frame(composite = as_plain(x), stringsAsFactors = TRUE)
  }
  is_composite <- vapply(frame, function(column) {
    is.factor(column) && identical(setdiff(base::levels(column), missing_label), composite$labels)
  }, logical(1))
  if (sum(is_composite) != 1) {
    abort_parameter(c(
      "{.arg x} must hold exactly one attribute with the levels of the composite.",
      x = "{cli::qty(sum(is_composite))}There {?is/are} {sum(is_composite)}."
    ))
  }
  at <- which(is_composite)
  codes <- match(as.character(frame[[at]]), composite$labels)
  parts <- lapply(colnames(composite$cells), function(name) {
    alphabet_factor(composite$cells[codes, name], composite$alphabets[[name]])
  })
  names(parts) <- colnames(composite$cells)
  structure(c(frame[seq_len(at - 1)], parts, frame[-seq_len(at)]),
    row.names = .set_row_names(nrow(frame)), class = "data.frame"
  )
}

#' @export
levels.confide_composite <- function(x) {
  x$labels
}

#' @export
as.data.frame.confide_composite <- function(x, row.names = NULL, # nolint: object_name_linter.
                                            optional = FALSE, ...) {
  parts <- lapply(colnames(x$cells), function(name) {
    alphabet_factor(x$cells[, name], x$alphabets[[name]])
  })
  names(parts) <- colnames(x$cells)
  structure(c(list(label = x$labels), parts),
    row.names = .set_row_names(length(x$labels)), class = "data.frame"
  )
}

#' @export
format.confide_composite <- function(x, ...) {
  shown <- shorten(utils::head(x$labels, 6L), 70L)
  c(
    sprintf(
      "<composite>  %s of %s, %s feasible", plural(ncol(x$cells), "attribute"),
      plural(prod(alphabet_sizes(x$alphabets)), "combination"), format_count(length(x$labels))
    ),
    paste(" ", shown),
    format_rest(length(x$labels), length(shown), "level")
  )
}
