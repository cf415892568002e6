#' Plots
#'
#' `autoplot()` returns a ggplot2 plot, `plot()` draws it. All are readable in grey; the caption
#' states the guarantee.
#'
#' @param object,x (mechanism, estimate or comparison) What to show. Estimates: points with
#'   confidence intervals, not cut at 0; the first attribute along the axis, the next one with at
#'   most four levels by shape and shade, the others in panels; at most 400 cells. Mechanisms: for
#'   one attribute the channel (at most 60 levels), for [mech_lambda()] epsilon and entropy of each
#'   attribute, for [mech_spr()] the sorted log-likelihood ratios of the levels with the cuts
#'   between blocks. Comparisons ([spr_comparison()]): value against epsilon.
#' @param ... For `plot()`: passed to `autoplot()`. Otherwise unused.
#' @param level (number in (0, 1)) Confidence level of the intervals.
#' @returns A `ggplot` object, from `plot()` invisibly.
#' @section Errors:
#' `confide_error_parameter` for more cells or levels than a plot can show, and for other arguments.
#' @examples
#' m <- mech_rr(c("never", "once", "often"), epsilon = 2)
#' plot(estimate(c(never = 500, once = 300, often = 200), m))
#' plot(m)
#' @name plots
NULL

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_estimate <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  if (length(object$estimate) > max_plotted) {
    abort_parameter(c(
      "A plot shows at most {max_plotted} shares.",
      x = "This estimate has {format_count(length(object$estimate))}.",
      i = "Estimate a smaller {.arg margin}."
    ))
  }
  axis <- names(object$dimnames)[[1]]
  grouping <- grouping_attribute(object$dimnames)
  rows <- plotted_rows(object, level, grouping)
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$axis, y = .data$estimate, ymin = .data$low, ymax = .data$high,
    shape = .data$group, colour = .data$group
  )) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey70") +
    ggplot2::geom_pointrange(
      position = ggplot2::position_dodge(width = if (is.null(grouping)) 0 else 0.7),
      size = 0.4, show.legend = !is.null(grouping)
    ) +
    ggplot2::coord_flip() +
    ggplot2::scale_x_discrete(labels = wrap_labels, guide = spaced_axis()) +
    ggplot2::scale_y_continuous(labels = format_percent, n.breaks = 5, guide = spaced_axis()) +
    grey_groups(rev(levels(rows$group))) +
    ggplot2::labs(
      x = axis_name(axis), y = "estimated share of people",
      shape = axis_name(grouping), colour = axis_name(grouping),
      caption = plot_caption(object, estimate_caption(object, level))
    ) +
    plot_theme() +
    panels(setdiff(names(object$dimnames), c(axis, grouping)))
}

max_plotted <- 400L

# More than four marks side by side cannot be told apart.
grouping_attribute <- function(dimnames) {
  few <- names(dimnames)[-1][lengths(dimnames)[-1] <= 4]
  if (length(few) > 0) few[[1]]
}

# coord_flip() counts upwards: levels are reversed to read downwards. Intervals are not cut, so that
# each holds its point.
plotted_rows <- function(object, level, grouping) {
  cells <- cell_frame(object)
  limits <- unname(confint(object, level = level, cut = FALSE))
  group <- if (is.null(grouping)) factor(rep("", nrow(cells))) else cells[[grouping]]
  rows <- data.frame(
    axis = factor(cells[[1]], rev(levels(cells[[1]]))), group = factor(group, rev(levels(group))),
    estimate = object$estimate, low = limits[, 1], high = limits[, 2]
  )
  cbind(rows, stats::setNames(cells, panel_column(names(cells))))
}

# An attribute may be called "estimate".
panel_column <- function(attribute) paste0("panel_", attribute)

grey_groups <- function(groups) {
  shown <- seq_along(groups)
  shapes <- stats::setNames(c(16, 1, 17, 2)[shown], groups)
  greys <- stats::setNames(c("black", "grey50", "grey25", "grey60")[shown], groups)
  guide <- ggplot2::guide_legend(reverse = TRUE)
  list(
    ggplot2::scale_shape_manual(values = shapes, guide = guide, labels = wrap_labels),
    ggplot2::scale_colour_manual(values = greys, guide = guide, labels = wrap_labels)
  )
}

axis_name <- function(attribute) {
  if (!is.null(attribute)) gsub("_", " ", attribute, fixed = TRUE)
}

# At most two lines.
wrap_labels <- function(labels, width = 28L) {
  vapply(strwrap(labels, width, simplify = FALSE), function(lines) {
    if (length(lines) > 2) lines <- c(lines[[1]], paste0(lines[[2]], " ..."))
    paste(shorten(lines, width + 4L), collapse = "\n")
  }, character(1))
}

wrap_names <- function(names) wrap_labels(axis_name(names))

panels <- function(attributes) {
  if (length(attributes) == 0) {
    return(NULL)
  }
  list(
    ggplot2::facet_wrap(panel_column(attributes), labeller = label_panels),
    ggplot2::labs(subtitle = paste("panels:", paste(axis_name(attributes), collapse = ", ")))
  )
}

label_panels <- function(labels) {
  short <- lapply(labels, function(x) shorten(as.character(x), 22L))
  ggplot2::label_value(short, multi_line = FALSE)
}

spaced_axis <- function(angle = NULL) {
  ggplot2::guide_axis(check.overlap = TRUE, angle = angle)
}

format_percent <- function(x) {
  ifelse(is.na(x), NA, paste(format(100 * x, trim = TRUE), "%"))
}

plot_theme <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(
      plot.caption.position = "plot", legend.position = "bottom",
      panel.grid.minor = ggplot2::element_blank(), panel.spacing = ggplot2::unit(12, "pt"),
      plot.margin = ggplot2::margin(6, 12, 6, 6)
    )
}

plot_caption <- function(x, notes = character()) {
  guarantee <- if (identical(x$privacy$rng, "r")) {
    "randomness from R's generator: NOT PRIVATE"
  } else if (is.finite(epsilon(x))) {
    sprintf("local differential privacy, epsilon = %s per person", format_epsilon(epsilon(x)))
  } else {
    "no guarantee: epsilon is infinite"
  }
  paste(c(notes, guarantee), collapse = "\n")
}

estimate_caption <- function(x, level) {
  fitted <- x$method != "moment"
  paste0(
    if (fitted) sprintf("method \"%s\", ", x$method),
    sprintf("%g %% intervals%s, ", 100 * level, if (fitted) " of the moment estimate" else ""),
    plural(x$n, "report")
  )
}

#' @rdname plots
#' @export
plot.confide_estimate <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

show_plot <- function(plot) {
  print(plot)
  invisible(plot)
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_mechanism <- function(object, ...) {
  check_dots_empty(...)
  if (max(dim(object)) > 60) {
    abort_parameter(c(
      "A channel is drawn for at most 60 levels.",
      x = "This one has {format_count(max(dim(object)))}."
    ))
  }
  channel <- as.matrix(object)
  cells <- as.data.frame(as.table(channel), responseName = "probability")
  cells$true <- factor(cells$true, rev(rownames(channel)))
  most <- max(channel)
  ggplot2::ggplot(cells, ggplot2::aes(
    x = .data$reported, y = .data$true, fill = .data$probability
  )) +
    ggplot2::geom_tile(colour = "grey80") +
    channel_numbers(cells, most) +
    ggplot2::scale_x_discrete(labels = wrap_labels, guide = turned_axis(colnames(channel))) +
    ggplot2::scale_y_discrete(labels = wrap_labels, guide = spaced_axis()) +
    ggplot2::scale_fill_gradient(
      low = "white", high = "grey15", limits = c(0, most), breaks = c(0, most),
      labels = format_number(c(0, most), 2)
    ) +
    ggplot2::labs(
      x = "reported value", y = "true value", fill = "probability", caption = plot_caption(object)
    ) +
    plot_theme() +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}

# Numbers in the tiles while they fit; white on dark tiles.
channel_numbers <- function(cells, most) {
  if (nrow(cells) > 100) {
    return(NULL)
  }
  dark <- cells$probability > 0.5 * most
  ggplot2::geom_text(
    label = format_number(cells$probability, 2), colour = ifelse(dark, "white", "black"),
    size = if (nrow(cells) > 36) 3 else 3.9
  )
}

turned_axis <- function(labels) {
  crowded <- sum(pmax(nchar(labels), 3)) > 55
  spaced_axis(angle = if (crowded) 90)
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_lambda <- function(object, ...) {
  check_dots_empty(...)
  ggplot2::ggplot(attribute_rows(object), ggplot2::aes(x = .data$attribute, y = .data$value)) +
    ggplot2::geom_col(fill = "grey60", width = 0.6) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$label),
      hjust = -0.15, size = 3, check_overlap = TRUE
    ) +
    ggplot2::coord_flip() +
    ggplot2::facet_wrap("measure", scales = "free_x") +
    ggplot2::scale_x_discrete(labels = wrap_names, guide = spaced_axis()) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0, 0.2))) +
    ggplot2::labs(
      x = NULL, y = NULL, caption = plot_caption(object, "epsilons of the attributes add up")
    ) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank())
}

# An infinite epsilon has no bar but says so.
attribute_rows <- function(mechanism) {
  share <- utils::head(mechanism_entropy(mechanism)$share, -1)
  epsilon <- mechanism$epsilon
  finite <- is.finite(epsilon)
  measures <- c(
    "epsilon\n(less is more private)", "entropy, % of the maximum\n(more is more private)"
  )
  data.frame(
    attribute = factor(names(epsilon), rev(names(epsilon))),
    measure = rep(factor(measures, measures), each = length(epsilon)),
    value = c(ifelse(finite, epsilon, 0), 100 * share),
    label = c(
      ifelse(finite, vapply(epsilon, format_epsilon, character(1)), "infinite: not protected"),
      sprintf("%.0f", 100 * share)
    )
  )
}

#' @rdname plots
#' @export
plot.confide_mechanism <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}
