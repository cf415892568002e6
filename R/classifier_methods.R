#' What can be asked of a private classifier
#'
#' Everything here is computed from what [private_classifier()] released; none of it costs privacy.
#'
#' @param object,x (classifier) Made by [private_classifier()].
#' @param newdata (numeric matrix or data frame) Features with the columns of the data.
#' @param type (`"class"` or `"probabilities"`) For `predict()`.
#' @param height,width (whole numbers or `NULL`) Of an image, where the features are its pixels, row
#'   by row: the weights are then drawn as pictures.
#' @param ... For `plot()`: passed to `autoplot()`. Otherwise unused.
#' @returns
#' * `coef()`: a matrix with a row for each class; the intercept and the weights of the scores.
#' * `predict()`: a factor with the levels of the data, or a matrix of probabilities with a column
#'   for each class. Rows are clipped as those of the data were. A row with a missing or infinite
#'   value gives `NA`.
#' * `glance()`: one row: `method`, `classes`, `features`, `releases`, `epsilon`, `alpha`,
#'   `neighbours`, `rng`.
#' * `summary()`: what was spent on what, the path, and the full guarantee.
#' * `autoplot()`, from `plot()` invisibly: a `ggplot` object, the weights of each class.
#' @section Errors:
#' `confide_error_parameter` for new data of another shape, and for other arguments.
#' @examples
#' c <- private_classifier(
#'   digits[1:64], digits$label, epsilon = 1, alpha = 20, neighbours = "add_remove",
#'   method = "class_sums", bound = 60
#' )
#' predict(c, digits[1:5, 1:64])
#' plot(c, height = 8, width = 8)
#' @name classifier-methods
NULL

#' @rdname classifier-methods
#' @export
coef.confide_classifier <- function(object, ...) {
  check_dots_empty(...)
  cbind(`(Intercept)` = object$intercept, object$weights)
}

#' @rdname classifier-methods
#' @export
predict.confide_classifier <- function(object, newdata, ..., type = c("class", "probabilities")) {
  check_dots_empty(...)
  check_required(newdata, "Give features with the columns of the data.")
  type <- check_choice(type, c("class", "probabilities"))
  rows <- new_features(object, newdata)
  complete <- rowSums(!is.finite(rows)) == 0
  scores <- crossprod(classifier_features(rows, object$bound), t(object$weights))
  scores <- scores + rep(object$intercept, each = nrow(scores))
  if (type == "class") {
    best <- max.col(scores, "first")
    return(factor(object$classes[ifelse(complete, best, NA)], object$classes))
  }
  odds <- exp(scores - apply(scores, 1, max))
  probabilities <- odds / rowSums(odds)
  probabilities[!complete, ] <- NA
  dimnames(probabilities) <- list(NULL, object$classes)
  probabilities
}

new_features <- function(object, newdata, call = rlang::caller_env()) {
  rows <- plain_matrix(newdata)
  if (is.null(rows) || ncol(rows) != object$features) {
    abort_parameter(c(
      "{.arg newdata} must be a numeric matrix or data frame with {object$features} columns.",
      x = if (is.null(rows)) "It is {describe(newdata)}." else "It has {ncol(rows)}."
    ), call = call)
  }
  rows
}

#' @rdname classifier-methods
#' @export
glance.confide_classifier <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    method = x$method, classes = length(x$classes), features = x$features,
    releases = sum(x$spent$releases), epsilon = x$epsilon, alpha = x$alpha,
    neighbours = x$neighbours, rng = x$privacy$rng
  )
}

method_titles <- c(
  gradient = "noisy gradient descent", output = "output perturbation", class_sums = "class sums"
)

#' @export
format.confide_classifier <- function(x, ...) {
  c(
    sprintf(
      "<classifier>  %s, %s, %s", method_titles[[x$method]], plural(length(x$classes), "class",
        "classes"
      ), plural(x$features, "feature")
    ),
    sprintf(
      "certificate epsilon = %s at alpha = %s: %s", format_epsilon(x$epsilon), format(x$alpha),
      format_classifier_spent(x$spent)
    ),
    sprintf(
      "so (epsilon = %s, delta = 1e-06), by the hockey stick",
      format_epsilon(as_approx_dp(x, delta = 1e-6))
    ),
    format_classifier_noise(x),
    "valid wherever you stop; alpha stays the one chosen at the start",
    "how often it is right is not known from this: accuracy_first() can check",
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}

format_classifier_spent <- function(spent) {
  names <- ifelse(spent$part == "steps", plural(spent$releases, "step"), spent$part)
  paste(names, vapply(spent$cost, format_epsilon, ""), collapse = ", ")
}

# How much of what was released is noise, as far as that can be told.
format_classifier_noise <- function(x) {
  sd <- utils::tail(x$path$noise_sd, 1)
  if (x$method == "gradient") {
    return(sprintf(
      "noise: standard deviation %s on a sum of gradients of norm %s; %s %% in a sample",
      format_number(sd), format_number(x$control$clip), format_number(100 * x$control$rate, 2)
    ))
  }
  released <- unlist(x$handle[[1]]$estimate) * (x$grid %||% 1)
  noisy <- if (length(released) > 0) min(1, sd^2 / mean(released^2))
  paste0(
    sprintf(
      "noise: standard deviation %s on a %s", format_number(sd),
      if (x$method == "output") "weight" else "sum"
    ),
    if (!is.null(noisy)) sprintf(", %s %% of their mean square", format_number(100 * noisy, 2))
  )
}

#' @export
print.confide_classifier <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

#' @export
str.confide_classifier <- function(object, ...) {
  cat(format(object)[[1]], "\n")
}

#' @export
summary.confide_classifier <- function(object, ...) {
  check_dots_empty(...)
  structure(object[c("spent", "path", "privacy")], class = "summary.confide_classifier")
}

#' @export
print.summary.confide_classifier <- function(x, ...) {
  print(x$spent, row.names = FALSE, digits = 4)
  writeLines("")
  print(utils::tail(x$path, 20), row.names = FALSE, digits = 4)
  writeLines(c("", format(x$privacy)))
  invisible(x)
}

#' @rdname classifier-methods
#' @exportS3Method ggplot2::autoplot
autoplot.confide_classifier <- function(object, ..., height = NULL, width = NULL) {
  check_dots_empty(...)
  pictures <- !is.null(height) || !is.null(width)
  if (pictures) check_picture(object, height, width)
  width <- if (pictures) width else object$features
  place <- seq_len(object$features) - 1
  cells <- data.frame(
    class = factor(rep(object$classes, object$features), object$classes),
    weight = as.vector(object$weights),
    column = rep(place %% width, each = length(object$classes)),
    row = rep(place %/% width, each = length(object$classes))
  )
  plot <- ggplot2::ggplot(cells, ggplot2::aes(fill = .data$weight)) +
    ggplot2::scale_fill_gradient(low = "white", high = "black", n.breaks = 4) +
    ggplot2::labs(
      y = NULL, fill = "weight in the score of a class",
      caption = expost_caption(object, method_titles[[object$method]])
    ) +
    plot_theme()
  if (pictures) plot_pictures(plot) else plot_weights(plot)
}

plot_pictures <- function(plot) {
  plot +
    ggplot2::geom_raster(ggplot2::aes(x = .data$column, y = .data$row)) +
    ggplot2::scale_y_reverse() +
    ggplot2::facet_wrap(~class, ncol = 5) +
    ggplot2::coord_equal(expand = FALSE) +
    ggplot2::labs(x = NULL) +
    ggplot2::theme(axis.text = ggplot2::element_blank(), panel.grid = ggplot2::element_blank())
}

plot_weights <- function(plot) {
  plot +
    ggplot2::geom_raster(ggplot2::aes(x = .data$column + 1, y = .data$class)) +
    ggplot2::scale_y_discrete(limits = rev) +
    ggplot2::labs(x = "feature") +
    ggplot2::theme(panel.grid = ggplot2::element_blank())
}

check_picture <- function(object, height, width, call = rlang::caller_env()) {
  height <- check_whole_number(height, call = call)
  width <- check_whole_number(width, call = call)
  if (height * width != object$features) {
    abort_parameter(c(
      "{.arg height} times {.arg width} must be the number of features.",
      x = "It is {height * width}; there are {object$features} features."
    ), call = call)
  }
}

#' @rdname classifier-methods
#' @export
plot.confide_classifier <- function(x, ...) {
  show_plot(ggplot2::autoplot(x, ...))
}
