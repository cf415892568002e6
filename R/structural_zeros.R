# Cells known to be empty: maximum likelihood over the others.

refuse_zeros <- function(zeros, method, call = rlang::caller_env()) {
  if (is.null(zeros) || method == "ml") {
    return(invisible())
  }
  abort_parameter(c(
    "{.arg structural_zeros} are for maximum likelihood.",
    x = "The method is {.val {method}}, which cannot hold cells at 0.",
    i = "Use {.code method = \"ml\"}."
  ), call = call)
}

# TRUE for the cells of a table, in table order, that may be above 0.
support_of <- function(zeros, mechanism, margin, call = rlang::caller_env()) {
  alphabets <- mechanism$alphabets[margin]
  if (is.null(margin)) {
    alphabets <- list(level = mechanism$alphabet)
  }
  if (is.null(zeros)) {
    return(rep(TRUE, prod(alphabet_sizes(alphabets))))
  }
  empty <- if (is.data.frame(zeros)) {
    zeros_from_frame(zeros, alphabets, call)
  } else {
    zeros_from_array(zeros, alphabets, call)
  }
  if (all(empty)) {
    abort_parameter(c(
      "{.arg structural_zeros} must leave at least one cell.",
      x = "All {format_count(length(empty))} cells are declared empty."
    ), call = call)
  }
  !empty
}

zeros_from_frame <- function(zeros, alphabets, call) {
  events <- cell_events(zeros, alphabets, "structural_zeros", call)
  sizes <- alphabet_sizes(alphabets)
  empty <- array(FALSE, sizes)
  for (row in seq_along(events[[1]])) {
    codes <- lapply(names(alphabets), function(name) {
      if (is.null(events[[name]])) seq_len(sizes[[name]]) else events[[name]][[row]]
    })
    empty <- do.call(`[<-`, c(list(empty), codes, list(value = TRUE)))
  }
  as.vector(empty)
}

zeros_from_array <- function(zeros, alphabets, call) {
  domain <- lapply(alphabets, alphabet_labels)
  flags <- aligned_flags(zeros, domain)
  if (is.null(flags)) {
    abort_parameter(c(
      paste(
        "{.arg structural_zeros} must be a logical array over the levels of the table",
        "({paste(lengths(domain), collapse = ' x ')}), or a data frame of cells."
      ),
      x = "It is {describe(zeros)}.",
      i = "{.code TRUE} marks an impossible cell; there must be no {.code NA}."
    ), call = call)
  }
  flags
}

# A logical array (for one attribute also a vector) over a domain as a vector in table order,
# matched by its dimnames where it has them; NULL where it does not fit.
aligned_flags <- function(flags, domain) {
  plain <- is.logical(flags) && !anyNA(flags) && (!is.object(flags) || is.table(flags))
  if (!plain) {
    return(NULL)
  }
  flags <- order_dimensions(as_flag_array(flags, length(domain)), domain)
  if (!identical(as.numeric(dim(flags)), as.numeric(lengths(domain)))) {
    return(NULL)
  }
  order <- Map(
    function(wanted, found) match(wanted, found %||% wanted), unname(domain),
    dimnames(flags) %||% unname(domain)
  )
  if (anyNA(unlist(order))) {
    return(NULL)
  }
  as.vector(do.call(`[`, c(list(flags), unname(order), list(drop = FALSE))))
}

as_flag_array <- function(flags, dimensions) {
  if (!is.null(dim(flags))) {
    return(unclass(flags))
  }
  labels <- if (dimensions == 1 && !is.null(names(flags))) list(names(flags))
  array(flags, length(flags), labels)
}

order_dimensions <- function(flags, domain) {
  found <- names(dimnames(flags))
  if (is.null(found) || !setequal(found, names(domain))) {
    return(flags)
  }
  aperm(flags, match(names(domain), found))
}

check_possible_reports <- function(total, possible, decoder, call = rlang::caller_env()) {
  expected <- expected_reports(as.numeric(possible), decoder)
  if (any(total > 0 & expected <= 0)) {
    abort_parameter(c(
      "{.arg structural_zeros} must agree with the reports.",
      x = "There are reports that no possible cell can lead to.",
      i = "That happens only where an attribute is not randomized, or has reports of one source."
    ), call = call)
  }
}

# EM on the possible cells; its optimality is checked over them alone.
fit_on_support <- function(reported, decoder, possible, weight, control) {
  if (decoder$type == "product") {
    em <- log_linear_saturated(reported, decoder$lambda, decoder$noise, possible, control)
    return(report_fit(em, em$shares, weight))
  }
  channel <- decoder_channel(decoder)
  em <- channel_maximum_likelihood(reported, channel[possible, , drop = FALSE], control)
  report_fit(em, replace(numeric(nrow(channel)), possible, em$shares), weight)
}
