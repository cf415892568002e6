# What a block design answers to the generics that all mechanisms share.

#' @exportS3Method
fingerprint_parts.confide_block <- function(mechanism) {
  design <- mechanism$design
  list(
    alphabet_spelling(mechanism$alphabet), mechanism$epsilon, design$family,
    as.numeric(c(design$b, design$r, design$lambda)), design$matrix
  )
}

# A design, a tolerance and a number of bits exclude one another.
#' @exportS3Method
resolve_update.confide_block <- function(object, changes) {
  chooses <- c("design", "tolerance", "max_bits")
  given <- intersect(chooses, names(changes))
  if (length(given) == 0) {
    return(changes)
  }
  dropped <- setdiff(c("design", "max_bits"), given)
  c(changes, stats::setNames(rep(list(NULL), length(dropped)), dropped))
}

#' @exportS3Method
randomize.confide_block <- function(mechanism, codes, rng) {
  design <- mechanism$design
  v <- mechanism$alphabet$size
  if (!is_set_mechanism(mechanism)) {
    return(block_privatize(codes, block_layout(design), mechanism$epsilon, rng))
  }
  if (startsWith(design$family, "subset")) {
    return(block_privatize_subset(codes, v, design$k, mechanism$epsilon, rng))
  }
  reports <- block_privatize_shared(codes, v, design$k, mechanism$epsilon, rng)
  colnames(reports) <- c("seed", "report")
  reports
}

#' @exportS3Method
decode_reports.confide_block <- function(codes, mechanism, x) {
  codes
}

#' @exportS3Method
channel_matrix.confide_block <- function(mechanism) {
  law <- block_law(mechanism)
  design <- mechanism$design
  if (is_shared(design)) {
    abort_parameter(c(
      "{.fn as.matrix} needs a channel that does not depend on a public seed.",
      i = "Given the seed, the report is inside a set of {design$k} of {law$v} outputs."
    ))
  }
  if (is_set_mechanism(mechanism)) {
    sets <- utils::combn(law$v, design$k)
    inside <- matrix(FALSE, ncol(sets), law$v)
    inside[cbind(as.vector(col(sets)), as.vector(sets))] <- TRUE
    reports <- apply(sets, 2, paste, collapse = ",")
    scale <- law$v / ncol(sets) # a set has b outputs of weight v / b
  } else {
    inside <- block_rows(block_layout(design), seq_len(design$b), law$v)
    reports <- count_labels(design$b)
    scale <- 1
  }
  structure(t(scale * (law$outside + law$surplus * inside)),
    dimnames = list(true = alphabet_labels(mechanism$alphabet), reported = reports)
  )
}

#' @exportS3Method
exact_loss.confide_block <- function(mechanism) {
  block_law(mechanism)$log_ratio
}

#' @exportS3Method
realised_loss.confide_block <- function(mechanism) {
  block_law(mechanism)$certified_epsilon
}

#' @exportS3Method
keeps_claim.confide_block <- function(mechanism) {
  block_law(mechanism)$keeps
}

#' @exportS3Method
hardest_pair.confide_block <- function(mechanism) {
  step <- exact_loss(mechanism)
  list(truth = c(1L, 2L), log_ratio = function(reports) {
    inside <- report_rows(mechanism, reports, 2)
    step * (inside[, 1] - inside[, 2])
  })
}

# Whether the set of a level holds a report: one row for each report, one column for each level (or
# the first ones).
report_rows <- function(mechanism, reports, levels = mechanism$alphabet$size) {
  design <- mechanism$design
  shown <- seq_len(levels)
  if (startsWith(design$family, "subset")) {
    rows <- lapply(shown, function(level) rowSums(reports == level) > 0)
    return(matrix(unlist(rows), NROW(reports), levels))
  }
  if (is_shared(design)) {
    return(block_rows_shared(reports, mechanism$alphabet$size, design$k)[, shown, drop = FALSE])
  }
  distinct <- unique(as.vector(reports))
  rows <- block_rows(block_layout(design), distinct, levels)
  rows[match(reports, distinct), , drop = FALSE]
}

#' @rdname predict.confide_mechanism
#' @export
predict.confide_block <- function(object, reports, ..., prior = NULL) {
  check_dots_empty(...)
  check_mechanism(object)
  check_required(reports, "Give reports.")
  call <- rlang::current_env()
  prior <- check_prior(prior, levels(object), "prior")
  check_fingerprint(attr(reports, "confide")$fingerprint, object, call)
  reports <- as_plain(reports)
  codes <- if (is_set_mechanism(object)) {
    set_codes(reports, object, call)
  } else {
    alphabet_codes(reports, object$outputs, call, report_messages(object, "reports"))
  }
  law <- block_law(object)
  joint <- law$outside + law$surplus * report_rows(object, codes)
  joint <- joint * rep(prior, each = nrow(joint))
  structure(joint / rowSums(joint), dimnames = list(NULL, levels(object)))
}

# Printing ---------------------------------------------------------------------

#' @exportS3Method
format_title.confide_block <- function(mechanism) {
  sprintf(
    "<block design>  %s, epsilon = %s: %s", plural(mechanism$alphabet$size, "level"),
    format_epsilon(mechanism$epsilon), mechanism$design$family
  )
}

#' @exportS3Method
format_law.confide_block <- function(mechanism) {
  law <- block_law(mechanism)
  c(
    format_block_design(mechanism, law),
    format_block_served(mechanism$epsilon, law$certified_epsilon),
    format_odds(mechanism$epsilon),
    sprintf(
      "a report is in the true level's set with probability %s, in another's %s",
      format_number(law$p, 3), format_number(law$q, 3)
    )
  )
}

format_block_design <- function(mechanism, law) {
  design <- mechanism$design
  if (is_shared(design)) {
    return(sprintf(
      "a public seed, and a report of %s bits; sets of %s levels",
      format_number(mechanism$bits, 3), format_count(design$k)
    ))
  }
  if (is_set_mechanism(mechanism)) {
    return(sprintf(
      "reports are sets of %s, %s bits", plural(design$k, "level"), format_number(mechanism$bits, 3)
    ))
  }
  sprintf(
    "%s reports (%s bits): %s for each level, %s shared by two", format_count(design$b),
    format_number(mechanism$bits, 3), format_count(design$r), format_count(design$lambda)
  )
}

format_block_served <- function(asked, realised) {
  if (realised >= asked * (1 - 1e-6)) {
    return(character())
  }
  sprintf(
    "served as epsilon = %s, the largest that 64-bit words can certify here",
    format_epsilon(realised)
  )
}

#' @exportS3Method
format_precision.confide_block <- function(mechanism) {
  v <- mechanism$alphabet$size
  centred <- mechanism$risk_centred
  typical <- if (is.na(centred)) mechanism$risk else centred
  c(
    sprintf(
      "n x worst squared error %s; least possible %s (%s)", format_number(mechanism$risk),
      format_number(mechanism$risk_bound), format_excess(mechanism$excess)
    ),
    if (!is_balanced(mechanism$design, v)) {
      sprintf(
        "cut to size: the default, centred estimator has %s",
        if (is.na(centred)) "at most that" else format_number(centred)
      )
    },
    sprintf(
      "standard error of a share of %s from n reports: %s / sqrt(n)", format_number(1 / v, 3),
      format_number(sqrt(typical / v), 3)
    )
  )
}

format_excess <- function(excess) {
  if (excess < 1e-9) "exactly optimal" else sprintf("%s %% more", format_number(100 * excess, 2))
}
