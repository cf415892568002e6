# How a mechanism for two hypotheses prints: its blocks as sets, what its reports keep, the proof.

#' @exportS3Method
format_title.confide_spr <- function(mechanism) {
  sprintf(
    "<sort, partition, randomize>  %s, %s, epsilon = %s",
    plural(mechanism$alphabet$size, "level"), plural(mechanism$n_outputs, "report"),
    format_epsilon(mechanism$epsilon)
  )
}

#' @exportS3Method
format_law.confide_spr <- function(mechanism) {
  s <- mechanism$n_outputs
  if (s == 1) {
    return(c("the report is constant: nobody's answer has any influence", format_equal(mechanism)))
  }
  shown <- min(s, 5L)
  c(
    format_served(mechanism$epsilon, spr_loss(mechanism, "certified_epsilon")),
    format_odds(mechanism$epsilon),
    vapply(seq_len(shown), function(j) format_block(mechanism, j), character(1)),
    format_rest(s, shown, "block"),
    format_equal(mechanism)
  )
}

# Whether a report speaks for P0 or P1, and by how much.
format_block <- function(mechanism, j) {
  ratio <- mechanism$output_p0[[j]] / mechanism$output_p1[[j]]
  tail <- sprintf("  P0/P1 %s", format_number(ratio, 3))
  head <- sprintf("report %d: ", j)
  levels <- mechanism$blocks[[j]]
  intervals <- !is.null(mechanism$cuts)
  set <- if (intervals) levels else format_set(levels, 80L - nchar(head) - nchar(tail))
  paste0(head, set, tail)
}

# As many elements as the width allows, then how many are left out.
format_set <- function(levels, width) {
  shown <- shorten(encodeString(utils::head(levels, 12L)), 20L)
  ends <- cumsum(nchar(shown, "width") + 2L)
  whole <- length(levels) <= 12 && ends[[length(ends)]] <= width
  if (whole) {
    return(sprintf("{%s}", paste(shown, collapse = ", ")))
  }
  rest <- sprintf(", ... %s levels", format_count(length(levels)))
  fit <- max(1L, sum(ends + nchar(rest) <= width))
  sprintf("{%s%s}", paste(shown[seq_len(fit)], collapse = ", "), rest)
}

format_equal <- function(mechanism) {
  if (max(abs(mechanism$p0 - mechanism$p1)) <= 1e-12) {
    return("the two hypotheses are equal: no report can tell them apart")
  }
  character()
}

#' @exportS3Method
format_precision.confide_spr <- function(mechanism) {
  value <- mechanism$objective_value
  c(
    sprintf(
      "%s: %s%s", format(mechanism$objective), format_number(value),
      format_share_kept(value, mechanism$nonprivate_value)
    ),
    format_certificate(mechanism$bounds)
  )
}

format_share_kept <- function(value, without) {
  if (is.na(without) || without == 0) {
    return("")
  }
  if (!is.finite(without)) {
    return("; without privacy infinite")
  }
  sprintf(", %.3g %% of %s without privacy", 100 * value / without, format_number(without))
}

# Relative to what this mechanism attains, and rounded up.
format_certificate <- function(bounds) {
  gap <- (bounds[[2]] - bounds[[1]]) / bounds[[1]]
  if (is.nan(gap) || gap < 1e-14) {
    return("no private mechanism does better")
  }
  if (!is.finite(gap)) {
    return(paste("no private mechanism attains more than", format_epsilon(bounds[[2]])))
  }
  sprintf("no private mechanism does better by more than %s %%", format_epsilon(100 * gap, 1))
}
