# How a lambda mechanism is printed.

#' @exportS3Method
format_title.confide_lambda <- function(mechanism) {
  sprintf(
    "<lambda-randomization>  %s, %s cells, joint epsilon = %s",
    plural(length(mechanism$alphabets), "attribute"), format_cells(mechanism$n_outputs),
    format_epsilon(epsilon(mechanism))
  )
}

#' @exportS3Method
format_law.confide_lambda <- function(mechanism) {
  entropy <- mechanism_entropy(mechanism)
  rows <- data.frame(
    attribute = shorten(names(mechanism$lambda), 24L),
    levels = alphabet_sizes(mechanism$alphabets),
    lambda = format_number(mechanism$lambda, 3),
    epsilon = vapply(mechanism$epsilon, format_epsilon, character(1)),
    entropy = sprintf("%.0f %%", 100 * utils::head(entropy$share, -1))
  )
  rows$noise <- noise_words(mechanism)
  shown <- utils::head(rows, 5L)
  c(
    format_odds(epsilon(mechanism)),
    if (is.null(mechanism$noise)) {
      "each attribute keeps the truth with probability lambda, else a uniform level"
    } else {
      "the truth is kept with probability lambda, else replaced by a draw of the noise"
    },
    utils::capture.output(print(shown, row.names = FALSE)),
    format_rest(nrow(rows), nrow(shown), "attribute"),
    sprintf("joint entropy %.0f %% of the maximum", 100 * utils::tail(entropy$share, 1))
  )
}

# A column for the printed table, where there is anything to tell.
noise_words <- function(mechanism) {
  if (is.null(mechanism$noise)) {
    return(NULL)
  }
  given <- names(mechanism$lambda) %in% names(mechanism$noise)
  ifelse(!given, "uniform", ifelse(is.finite(mechanism$epsilon), "given", "given, NOT PRIVATE"))
}

#' @exportS3Method
format_precision.confide_lambda <- function(mechanism) {
  need <- 100 * product_variance(attribute_spreads(mechanism))
  sprintf(
    "10 %% relative error of a cell of the joint table needs about %s reports",
    format_number(need, 2)
  )
}
