#' Plots of private synthetic data
#'
#' @param object,x (synthetic data) Made by [synthesize()].
#' @param ... For `plot()`: passed to `autoplot()`. Otherwise unused.
#' @param what (`"tables"` or `"tree"`) `"tables"`: for each noisy table the share of rows that its
#'   noise alone misplaces on average, and the distance between the table and the model. Where the
#'   second is well above the first, the tables contradict one another; where it is below, the
#'   model has averaged noise away. `"tree"`: the edges, wider and darker where the model's
#'   dependence given the label is stronger.
#' @returns A `ggplot` object, from `plot()` invisibly. Only released quantities are shown.
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Age", "Survived")]
#' s <- synthesize(people, rho = 0.1, neighbours = "add_remove", label = "Survived")
#' plot(s)
#' plot(s, what = "tree")
#' @exportS3Method ggplot2::autoplot
autoplot.confide_synthetic <- function(object, ..., what = c("tables", "tree")) {
  check_dots_empty(...)
  what <- check_choice(what, c("tables", "tree"))
  if (what == "tables") plot_tables(object) else plot_tree(object)
}

#' @rdname autoplot.confide_synthetic
#' @export
plot.confide_synthetic <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

synthetic_caption <- function(x, notes = character()) {
  guarantee <- if (identical(x$privacy$rng, "r")) {
    "randomness from R's generator: NOT PRIVATE"
  } else {
    sprintf("%s, %s", x$privacy$definition, format_parameter(x$privacy))
  }
  paste(c(notes, guarantee), collapse = "\n")
}

max_plotted_tables <- 60L

plot_tables <- function(object) {
  tables <- object$tables[order(-object$tables$noise), ]
  hidden <- max(0, nrow(tables) - max_plotted_tables)
  tables <- utils::head(tables, max_plotted_tables)
  measures <- c("noise alone, expected", "between noisy table and model")
  rows <- data.frame(
    table = factor(rep(tables$table, 2), rev(tables$table)),
    measure = factor(rep(measures, each = nrow(tables)), measures),
    share = c(tables$noise, tables$misfit)
  )
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$share, y = .data$table, shape = .data$measure, colour = .data$measure
  )) +
    ggplot2::geom_point(size = 2) +
    ggplot2::scale_shape_manual(values = stats::setNames(c(1, 16), measures)) +
    ggplot2::scale_colour_manual(values = stats::setNames(c("grey45", "black"), measures)) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, NA)) +
    ggplot2::scale_y_discrete(labels = function(x) wrap_labels(axis_name(x), 40L)) +
    ggplot2::labs(
      x = "rows misplaced (half the l1 distance)", y = NULL, shape = NULL, colour = NULL,
      caption = synthetic_caption(object, c(
        if (!is.null(object$label)) sprintf("every table holds %s", axis_name(object$label)),
        if (hidden > 0) sprintf("%s with less noise not shown", plural(hidden, "table"))
      ))
    ) +
    plot_theme()
}

# Leaves from left to right, parents above the middle of their children.
tree_places <- function(features, edges) {
  place <- new.env()
  place$x <- stats::setNames(rep(NA_real_, length(features)), features)
  place$depth <- stats::setNames(rep(0, length(features)), features)
  place$next_leaf <- 1
  visit <- function(feature, depth) {
    children <- edges$child[edges$parent == feature]
    for (child in children) visit(child, depth + 1)
    if (length(children) == 0) {
      place$x[[feature]] <- place$next_leaf
      place$next_leaf <- place$next_leaf + 1
    } else {
      place$x[[feature]] <- mean(place$x[children])
    }
    place$depth[[feature]] <- depth
  }
  for (root in setdiff(features, edges$child)) visit(root, 0)
  # depth runs to the right, so that names have room; long chains slant
  data.frame(feature = features, x = unname(place$depth), y = -unname(place$x + 0.4 * place$depth))
}

plot_tree <- function(object) {
  places <- tree_places(object$features, object$edges)
  ends <- function(names) places[match(names, places$feature), c("x", "y")]
  lines <- cbind(
    stats::setNames(ends(object$edges$parent), c("x", "y")),
    stats::setNames(ends(object$edges$child), c("xend", "yend")),
    dependence = object$edges$dependence
  )
  ggplot2::ggplot(places, ggplot2::aes(x = .data$x, y = .data$y)) +
    ggplot2::geom_segment(
      ggplot2::aes(
        xend = .data$xend, yend = .data$yend, linewidth = .data$dependence,
        colour = .data$dependence
      ),
      data = lines
    ) +
    ggplot2::geom_label(
      # a narrow label does not cover the edge to a child at the same height
      ggplot2::aes(label = wrap_labels(axis_name(.data$feature), 12L)),
      size = 3.2, label.size = 0.2, lineheight = 0.9
    ) +
    ggplot2::scale_colour_gradient(low = "grey75", high = "black", guide = "none") +
    ggplot2::scale_linewidth_continuous(range = c(0.4, 2.4)) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = 0.15)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = 0.1)) +
    ggplot2::labs(
      x = NULL, y = NULL,
      linewidth = paste0(
        "dependence", if (!is.null(object$label)) paste(" given", axis_name(object$label)), ", bits"
      ),
      caption = synthetic_caption(object)
    ) +
    plot_theme() +
    ggplot2::theme(
      axis.text = ggplot2::element_blank(), panel.grid = ggplot2::element_blank()
    )
}
