#' What can be asked of a contamination study
#'
#' @param object,x (study) Made by [contamination_study()], or (but for `summary()`) its summary.
#' @param reference (string) The method that others are compared with; by default the first.
#' @param rivals (strings) The methods among which the best is taken; by default all others but
#'   `"sample_mean"` and `"geometric_median"`, which are not private.
#' @param ... Unused; catches misspelt arguments. For `plot()`: passed to `autoplot()`.
#' @param row.names,optional Ignored; arguments of the generic.
#' @returns
#' * `summary()`: a data frame with a row for each cell and method: the settings, `method`,
#'   `repetitions`, `failures`, `median` of the errors with their quartiles `lower` and `upper`,
#'   `mean_log` and `se_log` (mean of the logarithms of the errors and its standard error). Failures
#'   are left out of these and counted.
#' * `error_ratios()`: a data frame with columns `data` (`"clean"` or `"contaminated"`), `rho`,
#'   `method`, `cells`, `ratio` (geometric mean, over cells, of the method's median error divided by
#'   the reference's; above 1: the reference is better) and `won` (cells where the method's median
#'   is the smallest of all private ones). The row `"best rival"` takes the best of the rivals anew
#'   in each cell; without rivals there is no such row. Cells where either failed every time are
#'   left out and not counted; where none is left, `ratio` is `NA`.
#' * `as.data.frame()`: the plain data frame.
#' * `autoplot()`: median errors with the quartiles of the repetitions, by what varies.
#' @section Errors:
#' `confide_error_parameter` for what is no study or lacks its columns, and for methods that are not
#' in it.
#' @examples
#' study <- contamination_study(
#'   c("sample_mean", "geometric_median"),
#'   d = 2, n = 100, contamination = c(0, 0.1), repetitions = 5
#' )
#' summary(study)
#' error_ratios(study, reference = "sample_mean", rivals = "geometric_median")
#' @name study-methods
NULL

study_settings <- c("distribution", "d", "n", "rho", "contamination", "placement")
not_private <- c("sample_mean", "geometric_median")

#' @rdname study-methods
#' @export
summary.confide_study <- function(object, ...) {
  check_dots_empty(...)
  check_whole_study(object)
  rows <- as.data.frame(object)
  group <- interaction(rows[c("method", rev(study_settings))], drop = TRUE, lex.order = FALSE)
  parts <- unname(split(rows, factor(group, unique(group))))
  found <- do.call(rbind, lapply(parts, summarise_errors))
  structure(found, class = c("confide_study_summary", "data.frame"))
}

check_whole_study <- function(x, call = rlang::caller_env()) {
  needed <- c(study_settings, "method", "repetition", "error", "problem")
  if (nrow(x) > 0 && all(needed %in% names(x))) {
    return(invisible())
  }
  abort_parameter(c(
    "The study must have its columns and at least one row.",
    x = "Missing: {enumerate_names(setdiff(needed, names(x)))}."
  ), call = call)
}

summarise_errors <- function(rows) {
  errors <- rows$error[!is.na(rows$error)]
  quartiles <- unname(stats::quantile(errors, c(0.25, 0.5, 0.75)))
  data.frame(
    rows[1, c(study_settings, "method")],
    repetitions = nrow(rows), failures = nrow(rows) - length(errors),
    median = quartiles[[2]], lower = quartiles[[1]], upper = quartiles[[3]],
    mean_log = if (length(errors) > 0) mean(log(errors)) else NA_real_,
    se_log = stats::sd(log(errors)) / sqrt(length(errors)),
    row.names = NULL
  )
}

#' @rdname study-methods
#' @export
error_ratios <- function(x, ..., reference = NULL, rivals = NULL) {
  check_dots_empty(...)
  check_required(x, "Give what contamination_study() returned.")
  check_made_by(x, "contamination_study", c("confide_study", "confide_study_summary"))
  cells <- if (inherits(x, "confide_study")) summary(x) else x
  methods <- levels(cells$method)
  reference <- check_choice(reference %||% methods[[1]], methods)
  rivals <- rivals %||% setdiff(methods, c(reference, not_private))
  if (!is.character(rivals)) {
    check_choice(rivals, methods)
  }
  for (rival in rivals) check_choice(rival, methods, arg = "rivals")
  medians <- median_table(cells)
  groups <- split(medians$settings, list(
    factor(medians$settings$contamination > 0, c(FALSE, TRUE), c("clean", "contaminated")),
    medians$settings$rho
  ), drop = TRUE)
  rows <- lapply(groups, function(group) {
    group_ratios(medians$values[rownames(group), , drop = FALSE], group, reference, rivals)
  })
  structure(
    do.call(rbind, unname(rows)),
    class = c("confide_ratios", "data.frame"), confide = list(reference = reference)
  )
}

# A row for each cell, a column for each method.
median_table <- function(cells) {
  cells <- as.data.frame(cells)
  cell <- do.call(paste, c(cells[study_settings], sep = "|"))
  first <- !duplicated(cell)
  values <- matrix(NA_real_, sum(first), nlevels(cells$method),
    dimnames = list(cell[first], levels(cells$method))
  )
  values[cbind(cell, as.character(cells$method))] <- cells$median
  settings <- data.frame(cells[first, study_settings], row.names = cell[first])
  list(settings = settings, values = values)
}

group_ratios <- function(values, settings, reference, rivals) {
  private <- setdiff(colnames(values), not_private)
  smallest <- apply(values[, private, drop = FALSE], 1, function(medians) {
    if (all(is.na(medians))) NA_character_ else private[[which.min(medians)]]
  })
  if (length(rivals) > 0) {
    values <- cbind(values, "best rival" = row_minimum(values[, rivals, drop = FALSE]))
  }
  logs <- log(values / values[, reference])
  cells <- colSums(!is.na(logs))
  data.frame(
    data = if (settings$contamination[[1]] > 0) "contaminated" else "clean",
    rho = settings$rho[[1]], method = colnames(values), cells = cells,
    ratio = ifelse(cells > 0, exp(colMeans(logs, na.rm = TRUE)), NA),
    won = vapply(colnames(values), function(method) sum(smallest == method, na.rm = TRUE), 0L),
    row.names = NULL
  )
}

row_minimum <- function(values) {
  apply(values, 1, function(row) if (all(is.na(row))) NA_real_ else min(row, na.rm = TRUE))
}

#' @export
format.confide_ratios <- function(x, ...) {
  rows <- as.data.frame(x)
  column <- paste(rows$data, format_number(rows$rho))
  columns <- unique(column)
  methods <- unique(rows$method)
  cells <- matrix("", length(methods), length(columns), dimnames = list(methods, columns))
  cells[cbind(rows$method, column)] <- ifelse(is.na(rows$ratio), "-", format_number(rows$ratio, 3))
  body <- rbind(columns, cells)
  body <- cbind(format(c("", methods)), apply(body, 2, format, justify = "right"))
  c(
    sprintf(
      "<error ratios>  median errors over those of %s; above 1: worse",
      attr(x, "confide")$reference %||% "the reference"
    ),
    unname(apply(body, 1, paste, collapse = "  ")),
    "columns: data and rho; geometric means over the cells of the study"
  )
}

#' @export
print.confide_ratios <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @rdname study-methods
#' @export
as.data.frame.confide_study <- function(x,
                                        row.names = NULL, # nolint: object_name_linter. Generic's.
                                        optional = FALSE, ...) {
  check_dots_empty(...)
  structure(x, class = "data.frame")
}

#' @rdname study-methods
#' @export
as.data.frame.confide_study_summary <- as.data.frame.confide_study

#' @export
format.confide_study <- function(x, ...) {
  cells <- summary(x)
  methods <- levels(x$method)
  settings <- vapply(study_settings, function(name) {
    sprintf("%s %s", name, format_levels(x[[name]]))
  }, "")
  c(
    sprintf(
      "<contamination study>  %s, %s, %s", plural(length(unique(cell_names(x))), "cell"),
      plural(length(methods), "method"), plural(max(x$repetition), "repetition")
    ),
    wrap_list(settings),
    format_study_ratios(cells, methods),
    format_failures(x),
    "simulated data, R's generator; rho per row, replace-one neighbours"
  )
}

cell_names <- function(x) do.call(paste, unclass(x)[study_settings])

format_levels <- function(values) {
  values <- unique(values)
  text <- if (is.numeric(values)) format_number(sort(values)) else values
  paste0(paste(utils::head(text, 5), collapse = ", "), if (length(text) > 5) ", ...")
}

wrap_list <- function(parts) {
  strwrap(paste(parts, collapse = "; "), 80, exdent = 2)
}

# At most five others and the best of them all, so that it stays short.
format_study_ratios <- function(cells, methods) {
  if (length(methods) == 1) {
    return(sprintf("median error %s", format_number(stats::median(cells$median, na.rm = TRUE), 3)))
  }
  ratios <- error_ratios(cells)
  others <- setdiff(methods, methods[[1]])
  shown <- c(utils::head(others, 5), "best rival")
  lines <- vapply(c("clean", "contaminated"), function(data) {
    here <- ratios[ratios$data == data, ]
    if (nrow(here) == 0) {
      return("")
    }
    values <- vapply(shown, function(method) {
      exp(stats::weighted.mean(log(here$ratio), here$cells * (here$method == method), na.rm = TRUE))
    }, numeric(1))
    known <- is.finite(values)
    paste0(
      data, ": ", paste(shown[known], format_number(values[known], 3), collapse = ", "),
      if (length(others) > 5) sprintf(" (of %d)", length(others))
    )
  }, "")
  c(
    sprintf("error divided by that of %s (geometric means over cells):", methods[[1]]),
    unlist(lapply(lines[nzchar(lines)], strwrap, 78, indent = 2, exdent = 4), use.names = FALSE)
  )
}

format_failures <- function(x) {
  failed <- sum(is.na(x$error))
  if (failed > 0) {
    sprintf(
      "NOTE: %s of %s gave no estimate: see $problem", format_count(failed),
      plural(nrow(x), "run")
    )
  }
}

#' @rdname study-methods
#' @export
print.confide_study <- print_format

#' @export
print.confide_study_summary <- function(x, ...) {
  rows <- as.data.frame(x)
  writeLines(sprintf(
    "<summary of a contamination study>  %s", plural(nrow(rows), "median error")
  ))
  varies <- vapply(rows[study_settings], function(column) length(unique(column)) > 1, logical(1))
  shown <- c(study_settings[varies], "method", "failures", "median", "mean_log", "se_log")
  print(utils::head(rows[shown], 40), row.names = FALSE, digits = 3)
  writeLines(format_rest(nrow(rows), 40, "row"))
  invisible(x)
}

# Plot ---------------------------------------------------------------------------

#' @rdname study-methods
#' @exportS3Method ggplot2::autoplot
autoplot.confide_study <- function(object, ...) {
  check_dots_empty(...)
  ggplot2::autoplot(summary(object))
}

#' @rdname study-methods
#' @exportS3Method ggplot2::autoplot
autoplot.confide_study_summary <- function(object, ...) {
  check_dots_empty(...)
  rows <- clean_everywhere(as.data.frame(object))
  varies <- study_settings[vapply(study_settings, function(name) {
    length(unique(rows[[name]])) > 1
  }, logical(1))]
  axis <- c(intersect(c("contamination", "n", "d", "rho"), varies), "n")[[1]]
  rows$panel <- panel_names(rows, setdiff(varies, axis))
  if (nlevels(rows$panel) > 24) {
    abort_parameter(c(
      "A plot shows at most 24 panels.",
      x = "This study has {nlevels(rows$panel)}: {.val {setdiff(varies, axis)}} vary.",
      i = "Plot a part: {.code autoplot(study[study$rho == 1, ])}."
    ))
  }
  shapes <- stats::setNames(rep_len(c(16, 1, 17, 2, 15, 0, 4, 3), nlevels(rows$method)),
    levels(rows$method)
  )
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data[[axis]], y = .data$median, ymin = .data$lower, ymax = .data$upper,
    shape = .data$method, linetype = .data$method
  )) +
    ggplot2::geom_linerange(colour = "grey65", linetype = "solid") +
    ggplot2::geom_line(colour = "grey30") +
    ggplot2::geom_point(size = 1.8) +
    ggplot2::scale_shape_manual(values = shapes) +
    ggplot2::scale_y_log10() +
    (if (axis != "contamination") ggplot2::scale_x_log10(labels = format_count_axis)) +
    (if (nlevels(rows$panel) > 1) ggplot2::facet_wrap("panel", scales = "free_y")) +
    ggplot2::labs(
      x = axis_labels[[axis]], y = "median error, whitened",
      shape = NULL, linetype = NULL, caption = study_caption(rows)
    ) +
    plot_theme()
}

axis_labels <- c(
  contamination = "share of outliers", n = "rows", d = "columns",
  rho = "rho (zero-concentrated differential privacy)"
)

# Where the share of outliers varies, clean data belong to each placement.
clean_everywhere <- function(rows) {
  clean <- rows$placement == "none"
  placements <- setdiff(rows$placement, "none")
  if (length(placements) == 0 || !any(clean)) {
    return(rows)
  }
  copies <- lapply(placements, function(placement) {
    rows$placement[clean] <- placement
    rows[clean, ]
  })
  rbind(rows[!clean, ], do.call(rbind, copies))
}

panel_names <- function(rows, varies) {
  parts <- lapply(varies, function(name) {
    value <- rows[[name]]
    if (is.numeric(value)) paste(name, "=", format_number(value)) else value
  })
  if (length(parts) == 0) {
    return(factor(rep("", nrow(rows))))
  }
  text <- do.call(paste, c(parts, sep = ", "))
  order <- do.call(base::order, unname(rows[varies]))
  factor(text, unique(text[order]))
}

study_caption <- function(rows) {
  sprintf(
    "simulated data, %s a point\nzero-concentrated differential privacy, rho = %s per row",
    plural(max(rows$repetitions), "repetition"), format_levels(rows$rho)
  )
}

#' @rdname study-methods
#' @export
plot.confide_study <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

#' @rdname study-methods
#' @export
plot.confide_study_summary <- plot.confide_study
