#' Compare the best mechanism with its rivals
#'
#' What the reports of [mech_spr()] keep of the difference between two hypotheses, at several
#' epsilons, beside simpler mechanisms and the value without privacy.
#'
#' @inheritParams mech_spr
#' @param epsilon (numbers, at least 0) Privacy parameters to compare at, at most 200; 0.25 to 8 by
#'   default.
#' @param max_outputs (whole number, at least 2) Most reports of the "few reports" mechanism.
#' @returns A data frame of class `confide_spr_comparison` with one row for each epsilon and
#'   mechanism: `epsilon`, `mechanism` (a factor: `"best"` that of [mech_spr()]; `"few reports"` the
#'   best with at most `max_outputs` different ones; `"binary response"` randomized response on
#'   whether P0 is at least P1; `"k-ary response"` randomized response on the level), `value` and
#'   `outputs` (different reports). Attributes `"nonprivate_value"` (the value without privacy) and
#'   `"objective"`. `autoplot()` and `plot()` draw it.
#' @section Errors:
#' `confide_error_parameter` as in [mech_spr()].
#' @references
#' Ghazi, E. (2026). Sort, Partition, Randomize: Optimal Binary Hypothesis Testing under Local
#' Differential Privacy. arXiv 2606.07443.
#' @seealso [mech_spr()]
#' @examples
#' comparison <- spr_comparison((1:50) / 1275, (50:1) / 1275, epsilon = c(1, 2, 4))
#' comparison
#' plot(comparison)
#' @export
spr_comparison <- function(p0, p1, epsilon = seq(0.25, 8, by = 0.25), ..., objective = "kl",
                           max_outputs = 3) {
  check_dots_empty(...)
  check_required(p0, "Give the probabilities of the levels under the first hypothesis.")
  check_required(p1, "Give the probabilities of the levels under the second hypothesis.")
  hypotheses <- check_hypotheses(p0, p1)
  check_epsilons(epsilon)
  objective <- as_objective(objective)
  max_outputs <- check_whole_number(max_outputs, min = 2)
  check_objective(objective, hypotheses$p0, hypotheses$p1, max(epsilon))
  rows <- lapply(epsilon, function(one) compare_at(hypotheses, one, objective, max_outputs))
  structure(do.call(rbind, rows),
    class = c("confide_spr_comparison", "data.frame"),
    nonprivate_value = nonprivate_value(hypotheses, objective),
    objective = format(objective)
  )
}

check_epsilons <- function(epsilon, call = rlang::caller_env()) {
  legal <- is.numeric(epsilon) && !is.object(epsilon) && length(epsilon) %in% 1:200 &&
    all(is.finite(epsilon) & epsilon >= 0)
  if (!legal) {
    abort_parameter(c(
      "{.arg epsilon} must be 1 to 200 finite numbers, at least 0.",
      x = "It is {describe(epsilon)}."
    ), call = call)
  }
}

compare_at <- function(hypotheses, epsilon, objective, max_outputs) {
  best <- solve_spr(hypotheses, epsilon, objective, Inf)
  few <- solve_spr(hypotheses, epsilon, objective, max_outputs)
  k <- length(hypotheses$p0)
  above <- hypotheses$p0 >= hypotheses$p1
  halves <- lapply(hypotheses[c("p0", "p1")], function(p) c(sum(p[!above]), sum(p[above])))
  kinds <- c("best", "few reports", "binary response", "k-ary response")
  data.frame(
    epsilon = epsilon,
    mechanism = factor(kinds, kinds),
    value = c(
      best$value, few$value, response_value(halves, epsilon, objective),
      response_value(hypotheses, epsilon, objective)
    ),
    outputs = c(best$outputs, few$outputs, 2, k)
  )
}

# The divergence of the reports of randomized response on blocks of these masses (Ghazi 2026).
response_value <- function(masses, epsilon, objective) {
  c <- expm1(min(epsilon, 44))
  law <- function(p) (1 + c * p) / (c + length(p))
  divergence_between(law(masses$p0), law(masses$p1), objective)
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_spr_comparison <- function(object, ...) {
  check_dots_empty(...)
  limit <- attr(object, "nonprivate_value")
  object <- as.data.frame(unclass(object))
  plot <- ggplot2::ggplot(object, ggplot2::aes(
    x = .data$epsilon, y = .data$value, linetype = .data$mechanism, colour = .data$mechanism
  )) +
    ggplot2::geom_line(linewidth = 0.7) +
    ggplot2::scale_colour_manual(values = c("black", "grey40", "grey40", "grey60")) +
    ggplot2::scale_linetype_manual(values = c("solid", "solid", "dashed", "dotted"))
  plot + without_privacy(limit) +
    ggplot2::expand_limits(y = 0) +
    ggplot2::labs(
      x = "epsilon", y = "divergence of a report", linetype = NULL, colour = NULL,
      caption = "local differential privacy, epsilon per report"
    ) +
    plot_theme()
}

without_privacy <- function(limit) {
  if (!isTRUE(is.finite(limit))) {
    return(NULL)
  }
  list(
    ggplot2::geom_hline(yintercept = limit, colour = "grey70"),
    ggplot2::annotate("text",
      x = -Inf, y = limit, label = "without privacy", hjust = -0.1, vjust = 1.4, size = 3.3,
      colour = "grey40"
    )
  )
}

#' @rdname plots
#' @export
plot.confide_spr_comparison <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}

#' @export
format.confide_spr_comparison <- function(x, ...) {
  limit <- attr(x, "nonprivate_value")
  c(
    sprintf("<comparison>  %s of a report", attr(x, "objective")),
    sprintf("without privacy: %s", if (is.na(limit)) "not known" else format_number(limit))
  )
}

#' @export
print.confide_spr_comparison <- function(x, ..., n = 8L) {
  n <- check_shown(n)
  writeLines(format(x))
  print(utils::head(as.data.frame(unclass(x)), n), digits = 4, row.names = FALSE)
  writeLines(format_rest(nrow(x), n, "row"))
  invisible(x)
}

#' @rdname plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_spr <- function(object, ...) {
  check_dots_empty(...)
  steps <- ratio_steps(object)
  cuts <- steps$rank[-1][diff(steps$block) > 0] - 0.5
  middle <- tapply(steps$rank, steps$block, function(rank) mean(range(rank)))
  few <- nrow(steps) <= 12
  labels <- if (few) wrap_labels(steps$label, 14L) else ""
  ggplot2::ggplot(steps, ggplot2::aes(x = .data$rank, y = .data$log_ratio)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey80") +
    ggplot2::geom_vline(xintercept = cuts, colour = "grey50", linetype = "dashed") +
    ggplot2::geom_point(ggplot2::aes(shape = .data$infinite), size = if (few) 2.4 else 1) +
    ggplot2::scale_shape_manual(
      values = c("FALSE" = 16, "TRUE" = 1), labels = c("FALSE" = "finite", "TRUE" = "infinite"),
      guide = if (any(steps$infinite)) "legend" else "none"
    ) +
    ggplot2::annotate("text",
      x = as.vector(middle), y = Inf, label = names(middle), vjust = 1.4, size = 3.6,
      colour = "grey30"
    ) +
    ggplot2::scale_x_continuous(
      breaks = if (few) steps$rank else ggplot2::waiver(),
      labels = if (few) labels else ggplot2::waiver(),
      guide = turned_axis(sub("\n.*", "", labels)), expand = ggplot2::expansion(add = 0.6)
    ) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(mult = c(0.05, 0.15))) +
    ggplot2::labs(
      x = if (few) "level" else "levels in ascending likelihood ratio", y = "log(P0 / P1)",
      shape = "likelihood ratio", caption = plot_caption(object, "numbers above: the report")
    ) +
    plot_theme()
}

# Sorted levels with their log-ratios; an infinite one is drawn just beyond the others. At most
# 2,000 points, evenly spaced.
ratio_steps <- function(mechanism) {
  order <- order(mechanism$p0 / mechanism$p1)
  order <- order[mechanism$p0[order] + mechanism$p1[order] > 0]
  kept <- unique(round(seq(1, length(order), length.out = min(length(order), 2000))))
  log_ratio <- log(mechanism$p0 / mechanism$p1)[order][kept]
  finite <- is.finite(log_ratio)
  reach <- 1.1 * max(abs(log_ratio[finite]), 1)
  data.frame(
    rank = kept, block = mechanism$block[order][kept], infinite = !finite,
    log_ratio = pmin(pmax(log_ratio, -reach), reach),
    label = alphabet_labels(mechanism$alphabet)[order][kept]
  )
}
