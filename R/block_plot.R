#' Compare a block design with its rivals
#'
#' Risk of the design that [mech_block()] chooses beside subset selection (the bound, with long
#' reports), projective geometry response, Hadamard response and randomized response: the figures of
#' Park, Nam and Lee (2023).
#'
#' @param v (whole number, at least 2) Number of categories.
#' @param epsilon (numbers above 0) Privacy parameters to compare at, at most 200.
#' @param ... Unused; catches misspelt arguments.
#' @param tolerance As in [mech_block()].
#' @returns A data frame of class `confide_block_comparison` with a row for each epsilon and scheme:
#'   `epsilon`, `scheme` (a factor), `design`, `bits`, `risk` (n times the worst-case mean squared
#'   error of the canonical estimator), `excess` (over the bound, as a fraction). `plot()` and
#'   `autoplot()` draw the excess against epsilon. Projective geometry response takes the smallest
#'   prime q of at least \eqn{e^\epsilon + 1}, as its authors do; Hadamard response is the original
#'   one with K, a power of two above v, reports.
#' @section Errors:
#' `confide_error_parameter` for arguments outside their range.
#' @references
#' Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). arXiv 2305.01261.
#'
#' Feldman, V., Nelson, J., Nguyen, H. and Talwar, K. (2022). Private frequency estimation via
#' projective geometry. *ICML*. arXiv 2203.00194.
#'
#' Acharya, J., Sun, Z. and Zhang, H. (2019). Hadamard response: estimating distributions privately,
#' efficiently, and with little communication. *AISTATS*. arXiv 1802.04705.
#' @family block designs
#' @examples
#' block_comparison(100, epsilon = c(0.5, 1, 2))
#' @export
block_comparison <- function(v, epsilon = seq(0.25, 5, by = 0.25), ..., tolerance = 0.01) {
  check_dots_empty(...)
  v <- check_categories(v)
  check_epsilons(epsilon)
  lapply(epsilon, check_block_epsilon)
  tolerance <- check_not_negative(tolerance, excess_hint)
  rows <- lapply(epsilon, function(one) compare_designs(v, one, tolerance))
  structure(do.call(rbind, rows),
    class = c("confide_block_comparison", "data.frame"), confide = list(v = v)
  )
}

block_schemes <- c(
  "block design", "subset selection", "projective geometry response", "Hadamard response",
  "randomized response"
)

compare_designs <- function(v, epsilon, tolerance) {
  best <- block_size_set(v, epsilon)[[1]]
  rows <- rbind(subset_rows(v, best), projective_row(v, epsilon), response_row(v), identity_rows(v))
  shown <- c("family", "bits", "risk", "excess")
  rated <- rate_designs(rows, v, epsilon)[shown]
  rated <- rbind(choose_design(v, epsilon, tolerance, NULL)[shown], rated)
  data.frame(
    epsilon = epsilon, scheme = factor(block_schemes, block_schemes), design = rated$family,
    bits = rated$bits, risk = rated$risk, excess = rated$excess
  )
}

# Feldman, Nelson, Nguyen and Talwar 2022: a prime, and the smallest space that holds v points.
projective_row <- function(v, epsilon) {
  q <- next_primes(ceiling(exp(min(epsilon, 20)) + 1), 1)
  t <- 1
  while (points_of_space(q, t + 1) < v) t <- t + 1
  v0 <- points_of_space(q, t + 1)
  data.frame(
    family = sprintf("PG(%.0f,%.0f)", t, q), points = v0, v0 = v0, b = v0,
    r = points_of_space(q, t), k = points_of_space(q, t), lambda = points_of_space(q, t - 1)
  )
}

# Acharya, Sun and Zhang 2019: rows of a Sylvester matrix with its useless first column.
response_row <- function(v) {
  order <- 2^ceiling(log2(v + 1))
  data.frame(
    family = sprintf("Hadamard response(%.0f)", order), points = order - 1, v0 = order, b = order,
    r = order / 2, k = NA_real_, lambda = order / 4
  )
}

#' @export
format.confide_block_comparison <- function(x, ...) {
  sprintf(
    "<comparison>  %s, n x worst squared error (risk)", plural(attr(x, "confide")$v, "level")
  )
}

#' @export
print.confide_block_comparison <- function(x, ..., n = 5L) {
  print_designs(x, n, "row")
  invisible(x)
}

# A part that lost what it is about is an ordinary data frame.
print_designs <- function(x, n, what, call = rlang::caller_env()) {
  n <- check_shown(n, call)
  rows <- as.data.frame(unclass(x))
  if (is.null(attr(x, "confide")) || is.null(rows$excess)) {
    print(rows)
    return(invisible())
  }
  writeLines(format(x))
  shown <- utils::head(rows, n)
  shown <- shown[setdiff(names(shown), c("v0", "r", "k", "lambda", "exact", "front", "design"))]
  for (name in intersect(c("b", "risk", "bits"), names(shown))) {
    shown[[name]] <- format_column(shown[[name]])
  }
  shown$excess <- sprintf("%.2f %%", 100 * shown$excess)
  print(shown, row.names = FALSE)
  writeLines(format_rest(nrow(x), n, what))
}

#' @export
format.confide_designs <- function(x, ...) {
  about <- attr(x, "confide")
  sprintf(
    "<block designs>  %s, epsilon = %s", plural(about$v, "level"), format_epsilon(about$epsilon)
  )
}

#' @export
print.confide_designs <- function(x, ..., n = 9L) {
  print_designs(x, n, "design")
  invisible(x)
}

# Excesses below a hundredth of a per cent are drawn there: a logarithm has no zero.
least_drawn <- 1e-4

drawn_excess <- function(excess) pmax(excess, least_drawn)

excess_axis <- function() {
  breaks <- c(1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100)
  ggplot2::scale_y_log10(
    breaks = breaks,
    labels = c("none, or below 0.01 %", "0.1 %", "1 %", "10 %", "100 %", "1000 %", "10,000 %")
  )
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_block_comparison <- function(object, ...) {
  check_dots_empty(...)
  about <- attr(object, "confide")
  rows <- as.data.frame(unclass(object))
  drawn <- if (length(unique(rows$epsilon)) > 1) {
    ggplot2::geom_line(linewidth = 0.7)
  } else {
    ggplot2::geom_point(ggplot2::aes(shape = .data$scheme), size = 2)
  }
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$epsilon, y = drawn_excess(.data$excess), linetype = .data$scheme,
    colour = .data$scheme
  )) +
    drawn +
    ggplot2::scale_colour_manual(values = c("black", "grey60", "grey30", "grey45", "grey60")) +
    ggplot2::scale_linetype_manual(
      values = c("solid", "solid", "dashed", "dotted", "dotdash")
    ) +
    excess_axis() +
    ggplot2::guides(
      linetype = ggplot2::guide_legend(ncol = 2), colour = ggplot2::guide_legend(ncol = 2)
    ) +
    ggplot2::labs(
      x = "epsilon", y = "squared error above\nthe least possible", linetype = NULL, colour = NULL,
      shape = NULL,
      caption = sprintf(
        "%s; local differential privacy, epsilon per report", plural(about$v, "level")
      )
    ) +
    plot_theme()
}

#' @rdname plots
#' @export
plot.confide_block_comparison <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_designs <- function(object, ...) {
  check_dots_empty(...)
  about <- attr(object, "confide")
  if (is.null(about)) {
    abort_parameter(c(
      "{.arg object} must be what {.fn block_designs} returned, whole.",
      x = "It lost what it knows of its levels."
    ))
  }
  rows <- as.data.frame(unclass(object))
  rows$front <- rows$front %||% TRUE
  longest <- log2(about$v) + 6
  left_out <- sum(rows$bits > longest)
  rows <- rows[rows$bits <= longest, ]
  front <- rows[rows$front & !startsWith(rows$family, "shared"), ]
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$bits, y = drawn_excess(.data$excess))) +
    ggplot2::geom_vline(xintercept = log2(about$v), colour = "grey80") +
    ggplot2::geom_point(data = rows[!rows$front, ], colour = "grey65", size = 1) +
    (if (nrow(front) > 1) ggplot2::geom_step(data = front, linewidth = 0.4)) +
    ggplot2::geom_point(data = rows[rows$front, ], size = 2) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$family),
      data = rows[rows$front, ], hjust = -0.08, vjust = -0.5, size = 3, check_overlap = TRUE
    ) +
    excess_axis() +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(mult = c(0.05, 0.4))) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::labs(
      x = "bits of a report", y = "squared error above\nthe least possible",
      caption = paste0(
        "black: nothing is better in both; line: log2 of ", plural(about$v, "level"),
        if (left_out > 0) sprintf("; longer reports left out: %d", left_out),
        "\nlocal differential privacy, epsilon = ", format_epsilon(about$epsilon), " per person"
      )
    ) +
    plot_theme()
}

#' @rdname plots
#' @export
plot.confide_designs <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

# From 1 on; the limits are half a tile beyond the first and the last.
whole_breaks <- function(limits) {
  breaks <- unique(c(1, pretty(limits)))
  breaks[breaks >= 1 & breaks == round(breaks) & breaks <= max(limits)]
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_block <- function(object, ...) {
  check_dots_empty(...)
  design <- object$design
  if (is_set_mechanism(object) || max(design$b, object$alphabet$size) > 128) {
    abort_parameter(c(
      "A design is drawn where it has at most 128 levels and 128 reports.",
      x = "This one has {format_count(object$alphabet$size)} and {format_number(design$b, 3)}.",
      i = "{.code autoplot(block_designs(v, epsilon, all = TRUE))} compares designs of any size."
    ))
  }
  inside <- block_rows(block_layout(design), seq_len(design$b), object$alphabet$size)
  cells <- data.frame(
    report = as.vector(row(inside)), level = as.vector(col(inside)),
    inside = ifelse(as.vector(inside), "likelier", "less likely")
  )
  ggplot2::ggplot(cells, ggplot2::aes(
    x = .data$report, y = .data$level, fill = .data$inside
  )) +
    ggplot2::geom_tile(colour = if (design$b <= 40) "grey80") +
    ggplot2::scale_fill_manual(values = c(likelier = "grey25", "less likely" = "white")) +
    ggplot2::scale_x_continuous(breaks = whole_breaks, expand = c(0, 0)) +
    ggplot2::scale_y_reverse(breaks = whole_breaks, expand = c(0, 0)) +
    ggplot2::coord_equal() +
    ggplot2::labs(
      x = "report", y = "level", fill = NULL,
      caption = plot_caption(object, sprintf(
        "%s: a dark report is exp(epsilon) times as likely", design$family
      ))
    ) +
    plot_theme() +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}
