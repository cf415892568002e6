# What a mechanism for two hypotheses answers to the generics that all mechanisms share.

#' @exportS3Method
resolve_update.confide_spr <- function(object, changes) {
  lost <- object$objective$name == "user" && is.null(object$objective$f)
  if (lost && !"objective" %in% names(changes)) {
    abort_parameter(c(
      "{.fn update} needs {.arg objective}: the function it was given before was not kept.",
      i = "A function that refers to other variables could carry data along."
    ))
  }
  changes
}

#' @exportS3Method
fingerprint_parts.confide_spr <- function(mechanism) {
  mechanism[c("alphabet", "epsilon", "block", "n_outputs", "output_p0", "output_p1")]
}

# A single output needs no randomness and says nothing.
#' @exportS3Method
randomize.confide_spr <- function(mechanism, codes, rng) {
  block <- mechanism$block[codes]
  if (mechanism$n_outputs == 1) {
    return(block)
  }
  rr_privatize(block, mechanism$epsilon, mechanism$n_outputs, rng)
}

#' @exportS3Method
channel_matrix.confide_spr <- function(mechanism) {
  labels <- alphabet_labels(mechanism$alphabet)
  if (mechanism$n_outputs == 1) {
    return(matrix(1, length(labels), 1, dimnames = list(true = labels, reported = "1")))
  }
  channel <- rr_matrix(mechanism$outputs, mechanism$epsilon)[mechanism$block, , drop = FALSE]
  dimnames(channel) <- list(true = labels, reported = alphabet_labels(mechanism$outputs))
  channel
}

#' @exportS3Method
exact_loss.confide_spr <- function(mechanism) {
  spr_loss(mechanism, "worst_log_ratio")
}

#' @exportS3Method
realised_loss.confide_spr <- function(mechanism) {
  spr_loss(mechanism, "certified_epsilon")
}

#' @exportS3Method
keeps_claim.confide_spr <- function(mechanism) {
  mechanism$n_outputs == 1 || rr_keeps(mechanism$epsilon, mechanism$n_outputs)
}

spr_loss <- function(mechanism, measure) {
  if (mechanism$n_outputs == 1) {
    return(0)
  }
  rr_loss(mechanism$epsilon, mechanism$n_outputs, measure)
}

#' @exportS3Method
hardest_pair.confide_spr <- function(mechanism) {
  if (mechanism$n_outputs == 1) {
    return(list(truth = c(1L, 1L), log_ratio = function(reports) numeric(length(reports))))
  }
  log_ratio <- log(rr_realised(mechanism$epsilon, mechanism$n_outputs))
  step <- log_ratio[["truthful"]] - log_ratio[["other"]]
  list(
    truth = match(1:2, mechanism$block),
    log_ratio = function(reports) step * first_or_second(reports)
  )
}

#' @exportS3Method
check_informative.confide_spr <- function(mechanism, attributes = NULL,
                                          call = rlang::caller_env()) {
  if (is.null(matrix_decoder_or_null(mechanism))) {
    abort_parameter(c(
      "{.fn estimate} needs a mechanism that tells all levels apart.",
      x = paste(
        "This one has {plural(mechanism$n_outputs, 'report')} for",
        "{plural(mechanism$alphabet$size, 'level')}: it is made for a test."
      ),
      i = "{.fn private_test} tests P0 against P1 from these reports.",
      i = "To estimate shares as well, collect with {.fn mech_rr}."
    ), call = call)
  }
}

# No large matrix is built to find out that it has no inverse.
matrix_decoder_or_null <- function(mechanism) {
  if (mechanism$n_outputs < mechanism$alphabet$size || min(mechanism$epsilon, 44) == 0) {
    return(NULL)
  }
  matrix_decoder(mechanism)
}

#' @exportS3Method
decode.confide_spr <- function(mechanism, counts, request, call = rlang::caller_env()) {
  decode.confide_matrix(mechanism, counts, request, call)
}
