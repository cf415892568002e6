#' @rdname mean-methods
#' @exportS3Method ggplot2::autoplot
autoplot.confide_mean <- function(object, ..., which = c("path", "estimate"), level = 0.95) {
  check_dots_empty(...)
  level <- check_level(level)
  which <- if (identical(which, c("path", "estimate"))) {
    if (length(object$radii) > 1) "path" else "estimate"
  } else {
    check_choice(which, c("path", "estimate"))
  }
  if (which == "estimate") plot_mean(object, level) else plot_path(object)
}

#' @rdname mean-methods
#' @export
plot.confide_mean <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

plot_path <- function(object) {
  if (length(object$radii) < 2) {
    abort_parameter(c(
      "There is no path to show: this method takes one step.",
      i = "Use {.code which = \"estimate\"}."
    ))
  }
  steps <- seq_along(object$radii)
  panels <- c("radius of the ball", "from centre to last centre", "noise of the step (sd)")
  rows <- data.frame(
    step = rep(steps, 3),
    panel = factor(rep(panels, each = length(steps)), panels),
    value = c(object$radii, centre_moves(object), object$noise_sd)
  )
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$step, y = .data$value)) +
    ggplot2::geom_line(colour = "grey60") +
    ggplot2::geom_point() +
    ggplot2::facet_wrap("panel", scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = steps) +
    ggplot2::expand_limits(y = 0) +
    ggplot2::labs(
      x = "step", y = "in scales of the data", caption = mean_caption(object)
    ) +
    plot_theme()
}

# Whitened distances between the centres and the last one.
centre_moves <- function(object) {
  moves <- sweep(object$path, 2, object$path[nrow(object$path), ])
  root <- object$shape$root
  white <- if (ncol(root) == 1) t(moves) / root[, 1] else forwardsolve(root, t(moves))
  sqrt(colSums(white^2))
}

plot_mean <- function(object, level) {
  if (object$dimension > max_plotted) {
    abort_parameter(c(
      "A plot shows at most {max_plotted} columns.",
      x = "There are {format_count(object$dimension)}."
    ))
  }
  rows <- as.data.frame(object, level = level)
  rows$term <- factor(rows$term, rev(unique(rows$term)))
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$term, y = .data$estimate, ymin = .data$conf_low, ymax = .data$conf_high
  )) +
    ggplot2::geom_pointrange() +
    ggplot2::coord_flip() +
    ggplot2::scale_x_discrete(labels = wrap_names, guide = spaced_axis()) +
    ggplot2::labs(
      x = NULL, y = "estimated mean, in the units of the data",
      caption = mean_caption(object, sprintf(
        "%g %% intervals, %s", 100 * level,
        if (knows_sampling(object)) "noise and sampling" else "noise alone"
      ))
    ) +
    plot_theme()
}

mean_caption <- function(object, note = character()) {
  guarantee <- if (identical(object$privacy$rng, "r")) {
    "randomness from R's generator: NOT PRIVATE"
  } else {
    sprintf(
      "%s, %s; %s", object$privacy$definition, format_parameter(object$privacy),
      plural(object$n, "row")
    )
  }
  paste(c(note, guarantee), collapse = "\n")
}
