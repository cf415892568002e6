# The figure of README.md, from the results alone.
source("bench/tools/results.R")

look <- ggplot2::theme_bw(base_size = 9) + ggplot2::theme(
  panel.grid.minor = ggplot2::element_blank(), legend.position = "bottom",
  strip.background = ggplot2::element_rect(fill = "grey92", colour = NA),
  strip.text.y = ggplot2::element_text(angle = 0),
  plot.title.position = "plot", legend.margin = ggplot2::margin(0, 0, 0, 0)
)

# 10^-3 takes less room than 0.001.
powers <- function(breaks) parse(text = ifelse(breaks == 1, "1", paste0("10^", log10(breaks))))

ratio_plot <- function() {
  shown <- largest(rivals)
  shown$kind <- factor(shown$kind, others)
  shown$task <- factor(shown$task, rev(unique(shown$task)))
  ggplot2::ggplot(shown, ggplot2::aes(.data$ratio, .data$task)) +
    ggplot2::geom_vline(xintercept = 1, colour = "grey40", linetype = "dashed") +
    ggplot2::geom_point(ggplot2::aes(shape = .data$kind, colour = .data$kind), size = 2) +
    ggplot2::facet_grid(rows = "system", scales = "free_y", space = "free_y") +
    ggplot2::scale_x_log10(labels = powers, breaks = 10^(-6:9)) +
    ggplot2::scale_shape_manual(values = c(1, 4, 17, 3), drop = FALSE) +
    ggplot2::scale_colour_manual(values = c("black", "black", "black", "grey55"), drop = FALSE) +
    ggplot2::labs(
      title = "Processor time of others, in units of confide's (right of 1: confide is faster)",
      x = NULL, y = NULL, shape = NULL, colour = NULL
    ) + look
}

growth_plot <- function() {
  shown <- units[!is.na(units$slope), ]
  last <- largest(shown)
  last$label <- sprintf("%.2f", last$slope)
  ggplot2::ggplot(shown, ggplot2::aes(.data$size, .data$seconds, group = .data$task)) +
    ggplot2::geom_line(colour = "grey55") +
    ggplot2::geom_point(size = 1) +
    ggplot2::geom_text(ggplot2::aes(label = .data$label), last,
      hjust = -0.2, size = 2.5, check_overlap = TRUE
    ) +
    ggplot2::facet_wrap("system", nrow = 1) +
    ggplot2::scale_x_log10(
      labels = powers, breaks = 10^seq(0, 8, 2), expand = ggplot2::expansion(mult = c(0.08, 0.4))
    ) +
    ggplot2::scale_y_log10(labels = powers, breaks = 10^(-6:3)) +
    ggplot2::labs(
      title = "Seconds of confide against size, a line a task (number: slope; 1 is proportional)",
      x = "size of the task", y = "seconds"
    ) + look
}

grDevices::png(file.path(results, "ratios.png"), 1600, 1500, res = 190, type = "cairo")
layout <- grid::grid.layout(2, 1, heights = c(5, 3))
grid::grid.newpage()
grid::pushViewport(grid::viewport(layout = layout))
print(ratio_plot(), vp = grid::viewport(layout.pos.row = 1))
print(growth_plot(), vp = grid::viewport(layout.pos.row = 2))
invisible(grDevices::dev.off())
