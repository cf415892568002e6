#' What a report tells about one person
#'
#' Bayes' rule: the probabilities of the true values after a report has been seen.
#'
#' @param object (mechanism)
#' @param reports Reports, as [privatize()] returns them.
#' @param ... Unused; catches misspelt arguments.
#' @param prior The beliefs before the report. `NULL` (default): uniform. One attribute:
#'   probabilities over the levels. For [mech_lambda()]: a named list of them (attributes
#'   independent), or a table over all attributes.
#' @returns A numeric matrix with one row for each report. Columns are the levels; for
#'   [mech_lambda()] `"attribute=level"`, each attribute's columns summing to 1, or with a table as
#'   prior the cells of the joint table.
#' @section Errors:
#' `confide_error_parameter` for a prior that is not a distribution over the levels;
#' `confide_error_domain` for reports that the mechanism cannot make, or that the prior makes
#' impossible.
#' @examples
#' m <- mech_rr(c("no", "yes"), epsilon = 1)
#' predict(m, c("no", "yes"), prior = c(no = 0.9, yes = 0.1))
#' @export
predict.confide_mechanism <- function(object, reports, ..., prior = NULL) {
  check_dots_empty(...)
  check_mechanism(object)
  check_required(reports, "Give reports.")
  alphabet <- object$alphabet
  prior <- check_prior(prior, levels(object), "prior")
  check_fingerprint(attr(reports, "confide")$fingerprint, object, rlang::current_env())
  codes <- alphabet_codes(
    as_plain(reports), object$outputs %||% alphabet, rlang::current_env(),
    report_messages(object, "reports")
  )
  posterior_rows(channel_matrix(object), prior, codes, levels(object))
}

#' @rdname predict.confide_mechanism
#' @export
predict.confide_lambda <- function(object, reports, ..., prior = NULL) {
  check_dots_empty(...)
  check_mechanism(object)
  check_required(reports, "Give reports.")
  domain <- levels(object)
  check_fingerprint(attr(reports, "confide")$fingerprint, object, rlang::current_env())
  if (is.table(prior) || is.array(prior)) {
    return(predict_joint(object, reports, prior))
  }
  priors <- check_priors(prior, domain)
  codes <- encode(
    as_plain(reports), object, rlang::current_env(),
    messages = report_messages(object, "reports")
  )
  blocks <- lapply(names(domain), function(name) {
    channel <- attribute_matrix(object, name)
    rows <- posterior_rows(channel, priors[[name]], codes[[name]], domain[[name]])
    colnames(rows) <- paste0(name, "=", colnames(rows))
    rows
  })
  do.call(cbind, blocks)
}

check_priors <- function(prior, domain, call = rlang::caller_env()) {
  legal <- is.null(prior) ||
    (is.list(prior) && !is.object(prior) && all(rlang::names2(prior) %in% names(domain)))
  if (!legal) {
    abort_parameter(c(
      paste(
        "{.arg prior} must be a named list with the probabilities of attributes,",
        "or a table over all of them."
      ),
      x = "It is {describe(prior)}.",
      i = "The attributes are {enumerate_names(names(domain))}."
    ), call = call)
  }
  stats::setNames(lapply(names(domain), function(name) {
    check_prior(prior[[name]], domain[[name]], paste0("prior$", name), call)
  }), names(domain))
}

check_prior <- function(prior, levels, arg, call = rlang::caller_env()) {
  if (is.null(prior)) {
    return(uniform_noise(length(levels)))
  }
  if (is.numeric(prior) && length(dim(prior)) == 1) {
    prior <- stats::setNames(as.vector(prior), names(prior))
  }
  prior <- in_level_order(prior, levels, arg, call)
  unname(check_probabilities(prior, length(levels), arg = arg, call = call))
}

# channel: rows true values, columns reports. One posterior for each possible report, then looked
# up.
posterior_rows <- function(channel, prior, codes, labels, call = rlang::caller_env()) {
  joint <- prior * channel
  marginal <- colSums(joint)
  if (any(marginal[codes] == 0)) {
    abort_domain(c(
      "The prior must allow every report in {.arg reports}.",
      x = "It does not."
    ), call)
  }
  posterior <- t(joint) / marginal
  structure(posterior[codes, , drop = FALSE], dimnames = list(NULL, labels))
}

# The joint posterior needs the channel between the reported cell and all true cells: one product
# for each distinct report.
predict_joint <- function(object, reports, prior, call = rlang::caller_env()) {
  domain <- levels(object)
  if (prod(lengths(domain)) > max_matrix) {
    abort_parameter(c(
      "A joint prior may have at most {max_matrix} cells.",
      x = "This one has {format(prod(lengths(domain)))}.",
      i = "Give a list of priors, one for each attribute."
    ), call = call)
  }
  prior <- place_cells(as.vector(prior), dimnames(as.table(prior)), output_alphabets(object), call)
  prior <- check_probabilities(prior, prod(lengths(domain)), "prior", call)
  codes <- encode(as_plain(reports), object, call, messages = report_messages(object, "reports"))
  strides <- cumprod(c(1, utils::head(lengths(domain), -1)))
  cell <- 1 + Reduce(`+`, Map(function(code, stride) (code - 1) * stride, codes, strides))
  posterior_rows(unname(channel_matrix(object)), prior, cell, cell_labels(domain), call)
}
