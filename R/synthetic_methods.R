#' Rows and predictions from private synthetic data
#'
#' Everything here is computed from what [synthesize()] released; none of it costs privacy.
#'
#' @param object,x (synthetic data) Made by [synthesize()].
#' @param nsim (whole number or `NULL`) How many rows. `NULL` (default): as many as the data had, as
#'   far as that is public or estimated.
#' @param seed (whole number or `NULL`) Passed to `set.seed()` when given; the generator's state is
#'   put back afterwards.
#' @param ... Unused; catches misspelt arguments.
#' @param sampling (`"stratified"` or `"independent"`) `"independent"`: rows are drawn one by one.
#'   `"stratified"`: the counts of each column given its parent and the label are those of the model
#'   rounded up or down, so that the tables of a sample are nearly those of the model. Rows are
#'   then not independent of one another; standard errors from them are too large.
#' @param numbers (`"bins"` or `"uniform"`) Columns with `cuts`: the bins as an ordered factor, or
#'   numbers drawn uniformly from the bins (whole numbers where the column held integers), which
#'   needs finite break points.
#' @param newdata (data frame) The columns of the data but for the label, with the same domains.
#' @param type (`"probabilities"` or `"class"`) For `predict()`.
#' @param row.names,optional Ignored; arguments of the generic.
#' @returns
#' * `simulate()`: a data frame with the columns of the data and `nsim` rows. Missing levels come
#'   out as `NA`.
#' * `predict()`: the model's own conditional of the label given all other columns: a numeric
#'   matrix with a row for each row of `newdata` and a column for each level; with
#'   `type = "class"` the likeliest level, of the label's type.
#' * `as.data.frame()`, `tidy()`: the noisy tables, `$tables` of [synthesize()].
#' * `nobs()`: the number of rows, public or estimated.
#' @section Errors:
#' `confide_error_domain` when `newdata` leaves the domains, with one fixed text;
#' `confide_error_parameter` otherwise, such as `predict()` without a label.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Age", "Survived")]
#' s <- synthesize(people, rho = 0.1, neighbours = "add_remove", label = "Survived")
#' table(simulate(s, 1000, seed = 1)$Class)
#' predict(s, data.frame(Class = "1st", Sex = c("Male", "Female"), Age = "Adult"))
#' @export
simulate.confide_synthetic <- function(object, nsim = NULL, seed = NULL, ...,
                                       sampling = c("stratified", "independent"),
                                       numbers = c("bins", "uniform")) {
  check_dots_empty(...)
  sampling <- check_choice(sampling, c("stratified", "independent"))
  numbers <- check_choice(numbers, c("bins", "uniform"))
  nsim <- check_whole_number(nsim %||% round(object$rows), min = 0, max = 2^31 - 1, arg = "nsim")
  if (numbers == "uniform") {
    check_finite_bins(object$columns)
  }
  state <- start_seed(seed)
  on.exit(state$restore())
  codes <- tree_rows(object$shape, object$potentials, nsim, sampling == "stratified")
  order <- match(names(object$columns), c(object$features, object$label))
  rows <- lapply(seq_along(object$columns), function(j) {
    decode_column(codes[, order[[j]]], object$columns[[j]], numbers)
  })
  names(rows) <- names(object$columns)
  structure(rows, row.names = .set_row_names(nsim), class = "data.frame", seed = state$seed)
}

check_finite_bins <- function(columns, call = rlang::caller_env()) {
  open <- vapply(columns, function(column) !all(is.finite(column$breaks)), logical(1))
  if (any(open)) {
    abort_parameter(c(
      "Numbers are drawn only from bins with finite ends.",
      x = "The range of {enumerate_names(names(columns)[open])} is open.",
      i = "Give {.arg cuts} with finite ends, or take {.code numbers = \"bins\"}."
    ), call = call)
  }
}

#' @rdname simulate.confide_synthetic
#' @export
predict.confide_synthetic <- function(object, newdata, ..., type = c("probabilities", "class")) {
  check_dots_empty(...)
  check_required(newdata, "Give a data frame with the columns but for the label.")
  type <- check_choice(type, c("probabilities", "class"))
  check_new_data(object, newdata)
  codes <- row_codes(newdata, object$columns[object$features])
  probabilities <- tree_label(object$shape, object$potentials, codes)
  label <- object$columns[[object$label]]
  if (type == "class") {
    return(decode_column(max.col(probabilities, "first") - 1L, label, "bins"))
  }
  colnames(probabilities) <- alphabet_labels(label$alphabet)
  probabilities
}

check_new_data <- function(object, newdata, call = rlang::caller_env()) {
  if (is.null(object$label)) {
    abort_parameter(c(
      "{.fn predict} needs a model with a label.",
      i = "Make one with {.code synthesize(label = )}."
    ), call = call)
  }
  missing <- setdiff(object$features, names(newdata))
  if (!is.data.frame(newdata) || length(missing) > 0) {
    abort_parameter(c(
      "{.arg newdata} must be a data frame with all columns but for the label.",
      x = if (is.data.frame(newdata)) {
        "Missing: {enumerate_names(missing)}."
      } else {
        "It is {describe(newdata)}."
      }
    ), call = call)
  }
}

#' @rdname simulate.confide_synthetic
#' @export
as.data.frame.confide_synthetic <- function(x, row.names = NULL, # nolint. The generic's.
                                            optional = FALSE, ...) {
  check_dots_empty(...)
  x$tables
}

#' @rdname simulate.confide_synthetic
#' @export
tidy.confide_synthetic <- function(x, ...) {
  check_dots_empty(...)
  x$tables
}

#' @rdname simulate.confide_synthetic
#' @export
nobs.confide_synthetic <- function(object, ...) {
  check_dots_empty(...)
  object$rows
}

#' @export
epsilon.confide_synthetic <- function(x, ...) epsilon.confide_release(x, ...)

# Noise that misplaces this share of the rows of a table is called small or large.
small_noise <- 0.05
large_noise <- 0.2

#' @export
format.confide_synthetic <- function(x, ...) {
  c(
    synthetic_title(x),
    format_shape(x),
    sprintf("spent on %s", format_spent(x$spent)),
    format_tree(x),
    sprintf(
      "noise: discrete %s, standard deviation %s on a cell",
      if (grepl("Gaussian", x$privacy$noise, fixed = TRUE)) "Gaussian" else "Laplace",
      paste(unique(vapply(x$tables$noise_sd, format_number, "", 3)), collapse = " and ")
    ),
    sprintf(
      "rows that noise misplaces: median %s, largest %s",
      format_share(stats::median(x$tables$noise)), format_share(max(x$tables$noise))
    ),
    format_verdict(x$tables),
    "relations outside the tree are kept only as far as they follow from it",
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

synthetic_title <- function(x) paste0("<synthetic data>  ", format_guarantee(x$privacy))

format_shape <- function(x) {
  estimated <- x$privacy$neighbours == "add_remove"
  sprintf(
    "%s, %s%s%s", plural(length(x$columns), "column"), if (estimated) "about " else "",
    plural(round(x$rows), "row"),
    if (is.null(x$label)) "" else paste(", label", shorten(encodeString(x$label), 20L))
  )
}

format_spent <- function(spent) {
  names <- c(tree = "tree", single = "single tables", pairs = "pairs")
  paste(names[spent$part], format_number(spent$cost, 2), collapse = ", ")
}

format_tree <- function(x) {
  if (nrow(x$edges) == 0) {
    return(if (is.null(x$label)) {
      "columns are independent of one another"
    } else {
      "columns are independent of one another, given the label"
    })
  }
  strongest <- which.max(x$edges$dependence)
  pair <- encodeString(paste(x$edges$parent[[strongest]], "-", x$edges$child[[strongest]]))
  sprintf(
    "%s %s, strongest: %s", plural(nrow(x$edges), "edge"),
    if (x$edges$chosen[[1]] == "given") "given beforehand" else "chosen privately",
    shorten(pair, 36L)
  )
}

format_share <- function(x) {
  if (x >= 1) "100 % and more" else paste(format(signif(100 * x, 2)), "%")
}

format_verdict <- function(tables) {
  if (max(tables$noise) <= small_noise) {
    return("the noise is small: tables of the tree can be trusted")
  }
  large <- sum(tables$noise > large_noise)
  if (large == 0) {
    return("the noise is moderate: trust the large cells of the tables")
  }
  sprintf(
    "MUCH NOISE in %d of %s (%s): spend more, merge levels", large,
    plural(nrow(tables), "table"),
    shorten(encodeString(tables$table[[which.max(tables$noise)]]), 24L)
  )
}

#' @export
summary.confide_synthetic <- function(object, ...) {
  check_dots_empty(...)
  structure(
    c(list(title = synthetic_title(object)), object[c("tables", "edges", "spent", "privacy")]),
    class = "summary.confide_synthetic"
  )
}

#' @export
print.summary.confide_synthetic <- function(x, ...) {
  writeLines(x$title)
  print(utils::head(x$tables, 20), row.names = FALSE, digits = 3)
  writeLines(c(
    format_rest(nrow(x$tables), 20, "table"),
    "noise, misfit: shares of the rows, by noise alone and between table and model",
    ""
  ))
  if (nrow(x$edges) > 0) {
    print(utils::head(x$edges, 20), row.names = FALSE, digits = 3)
    writeLines(c(format_rest(nrow(x$edges), 20, "edge"), ""))
  }
  writeLines(format(x$privacy))
  invisible(x)
}
