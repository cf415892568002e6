#' Plots of refined releases
#'
#' `autoplot()` of a [brownian()] shows the released estimates, with two standard deviations of
#' their noise, against the certificate; of [accuracy_first()] the certificates of both parts and
#' what the check released, attempt by attempt. Only released numbers are shown.
#'
#' @param object What to show; at least one step, and at most 12 numbers.
#' @param ... Unused; catches misspelt arguments.
#' @returns A `ggplot` object.
#' @section Errors:
#' `confide_error_parameter` when nothing was released yet, and for more than 12 numbers.
#' @examples
#' b <- brownian(812L, sensitivity = 1, alpha = 20)
#' for (epsilon in c(0.01, 0.1, 1)) b <- refine(b, epsilon = epsilon)
#' ggplot2::autoplot(b)
#' @name expost-plots
NULL

#' @rdname expost-plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_brownian <- function(object, ...) {
  check_dots_empty(...)
  if (is.null(object$path)) {
    abort_parameter("There is nothing to show: nothing was released yet.")
  }
  rows <- do.call(rbind, lapply(seq_len(nrow(object$path)), function(i) step_rows(object, i)))
  if (length(unique(rows$number)) > 12) {
    abort_parameter(c(
      "A plot shows at most 12 numbers.",
      x = "There are {length(unique(rows$number))}."
    ))
  }
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$epsilon, y = .data$estimate)) +
    ggplot2::geom_errorbar(
      ggplot2::aes(
        ymin = .data$estimate - 2 * .data$sigma, ymax = .data$estimate + 2 * .data$sigma
      ),
      width = 0.05, colour = "grey50"
    ) +
    ggplot2::geom_point() +
    ggplot2::scale_x_log10(guide = spaced_axis()) +
    ggplot2::facet_wrap(~number, scales = "free_y") +
    ggplot2::labs(
      x = sprintf("certificate epsilon at alpha = %s (log scale)", format(object$alpha)),
      y = "released estimate",
      caption = expost_caption(object, "bars: two standard deviations of the noise")
    ) +
    plot_theme()
}

step_rows <- function(object, i) {
  row <- object$path[i, ]
  estimate <- unlist(row$estimate)
  label <- if (row$query == "value") "" else row$query
  element <- names(estimate) %||% if (length(estimate) > 1) seq_along(estimate) else ""
  data.frame(
    epsilon = row$epsilon, sigma = row$sigma, estimate = unname(estimate),
    number = trimws(paste(label, element))
  )
}

#' @rdname expost-plots
#' @exportS3Method ggplot2::autoplot
autoplot.confide_accuracy_first <- function(object, ...) {
  check_dots_empty(...)
  panels <- c("certificate epsilon", "right answers above the threshold")
  path <- object$path
  certificates <- data.frame(
    attempt = rep(path$attempt, 2), value = c(path$train, path$validation),
    part = rep(c("training", "validation"), each = nrow(path)), low = NA_real_, high = NA_real_,
    panel = panels[[1]]
  )
  checks <- data.frame(
    attempt = path$attempt, value = path$excess, part = "validation",
    low = path$excess - 2 * path$excess_sd, high = path$excess + 2 * path$excess_sd,
    panel = panels[[2]]
  )
  rows <- rbind(certificates, if (object$check == "gaussian") checks)
  ggplot2::ggplot(rows, ggplot2::aes(
    x = .data$attempt, y = .data$value, shape = .data$part, colour = .data$part
  )) +
    ggplot2::geom_hline(
      data = data.frame(panel = panels[[2]][object$check == "gaussian"]),
      ggplot2::aes(yintercept = 0), colour = "grey70"
    ) +
    # one attempt makes no line
    (if (nrow(path) > 1) ggplot2::geom_line(data = certificates)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$low, ymax = .data$high), na.rm = TRUE) +
    ggplot2::geom_point(size = 2.5) +
    ggplot2::scale_x_continuous(breaks = path$attempt, guide = spaced_axis()) +
    ggplot2::scale_colour_manual(values = c(training = "black", validation = "grey50")) +
    ggplot2::facet_wrap(~panel, scales = "free_y", ncol = 1) +
    ggplot2::labs(
      x = "attempt", y = NULL, shape = "part", colour = "part",
      caption = expost_caption(object, sprintf(
        "%s at attempt %s; bars: two standard deviations of the check's noise",
        object$status, object$attempts
      ))
    ) +
    plot_theme()
}

expost_caption <- function(x, notes) {
  guarantee <- if (identical(x$privacy$rng, "r")) {
    "randomness from R's generator: NOT PRIVATE"
  } else {
    sprintf(
      "ex-post Renyi differential privacy, epsilon = %s at alpha = %s",
      format_epsilon(x$epsilon), format(x$alpha)
    )
  }
  paste(c(notes, guarantee), collapse = "\n")
}
