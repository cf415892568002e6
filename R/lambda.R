#' Lambda-randomization: randomized response for many attributes
#'
#' Each attribute of a record is randomized on its own: with probability lambda the true category is
#' kept, otherwise a category is drawn from all of them, uniformly or from a known distribution of
#' your own. Any joint table of the true
#' attributes can be estimated from the reports, because the inverse of the channel has a closed
#' form for each attribute (Ruiz 2026, Property 1) and the attributes are inverted one after the
#' other. The method removes the computational curse of dimensionality, not the statistical one:
#' standard errors of k-way cells grow like the product of 1 / lambda.
#'
#' @param levels (named list, or data frame of factors) The public domain of each attribute. A list
#'   holds what [mech_rr()] takes as `levels`, or a [composite()]; of a data frame only the levels
#'   of its factors (and `FALSE`, `TRUE` of logical columns) are used, never its values. Unused
#'   levels are kept: they are legal answers.
#' @param ... Unused; catches misspelt arguments.
#' @param lambda (numbers in (0, 1]) Probability of keeping the truth. Named: matched to the
#'   attributes by name; unnamed: in their order, or one number for all. 1 means no protection of
#'   that attribute. Give `lambda` or `epsilon`.
#' @param epsilon (numbers above 0) The privacy parameter of each attribute, matched like `lambda`:
#'   \eqn{\epsilon = \log(1 + k \lambda / (1 - \lambda))} for k levels. The guarantee of a whole
#'   record is their sum, which [epsilon()] gives.
#' @param noise (list of probability vectors, named by attributes, or `NULL`) From which
#'   distribution q a replaced answer is drawn; vectors are named by the levels or in their order.
#'   Attributes left out have uniform noise. This covers forced response (a die says "yes") and
#'   unrelated questions of known answer. Then \eqn{\epsilon = \log(1 + \lambda / ((1 - \lambda)
#'   \min q))}: it is least for uniform noise. Where some probability is 0 epsilon is infinite,
#'   because who reports that level tells the truth: allowed with `lambda`, and printed as not
#'   private.
#' @param na (`"error"` or `"level"`) As in [mech_rr()]; one choice for all attributes, or a named
#'   vector such as `c(occupation = "level")` for some.
#' @returns A mechanism of class `confide_lambda`: a list with `$lambda` and `$epsilon` (named, one
#'   number an attribute; lambda as the sampler's integers realise it), `$n_outputs` (number of
#'   cells), `$noise` (where an attribute has noise of its own), `$privacy`, `$call`,
#'   `$fingerprint`.
#' @section Errors:
#' `confide_error_parameter` for both or neither of lambda and epsilon, values outside their range,
#' noise that is not a distribution over the levels, or gives one of them never where `epsilon` is
#' asked, names that are not attributes, fewer than two levels, numeric or character columns (their
#' values are data, not a public domain).
#' @section Impossible combinations:
#' Attributes are randomized independently, so reports can hold combinations that no person can have
#' (a retired child). They are not errors; the estimates account for them. Where they must not
#' appear, make one attribute of the feasible combinations with [composite()].
#' @section Which matrix is applied:
#' Exactly the one that `as.matrix()` shows, never one drawn at random. Rows are true values and sum
#' to 1; with uniform noise the columns sum to 1 as well, with other noise they do not.
#' @references
#' Ruiz, N. (2026). Lambda-randomization: multi-dimensional randomized response made easy. arXiv
#' 2603.05261.
#'
#' Ruiz, N. and Domingo-Ferrer, J. (2022). Bistochastic privacy. arXiv 2207.03940.
#' @family mechanisms
#' @seealso [mechanism_entropy()], [estimate()], [estimate_cells()]
#' @examples
#' m <- mech_lambda(adult[c("education", "income")], lambda = c(education = 0.7, income = 0.8))
#' m
#' reports <- privatize(adult[c("education", "income")], m)
#' estimate(reports, m, margin = "income")
#'
#' # Forced response: a die of six says "yes" for 1, "no" for 6, else the truth.
#' forced <- mech_lambda(list(cheated = c("no", "yes")), lambda = 4 / 6,
#'   noise = list(cheated = c(no = 0.5, yes = 0.5)))
#' # With 1 and 2 for "yes" the noise is not uniform.
#' mech_lambda(list(cheated = c("no", "yes")), lambda = 3 / 6,
#'   noise = list(cheated = c(no = 1 / 3, yes = 2 / 3)))
#' @export
mech_lambda <- function(levels, ..., lambda = NULL, epsilon = NULL, noise = NULL,
                        na = c("error", "level")) {
  check_dots_empty(...)
  check_required(levels, "Give a named list of level sets, or a data frame of factors.")
  check_attributes(levels)
  na <- match_na(na, names(levels))
  alphabets <- new_alphabets(levels, na)
  sizes <- alphabet_sizes(alphabets)
  asked <- if (is.null(lambda)) list(epsilon = epsilon) else list(lambda = lambda)
  epsilon <- attribute_epsilon(sizes, lambda, epsilon)
  kept <- if (!is.null(lambda)) match_lambda(lambda, sizes)
  laws <- noise_laws(noise, alphabets, kept, epsilon)
  realised <- vapply(names(sizes), function(name) {
    attribute_lambda(epsilon[[name]], sizes[[name]], laws[[name]])
  }, numeric(1))
  if (!is.null(lambda)) {
    epsilon[names(laws)] <- vapply(laws, `[[`, numeric(1), "epsilon")
  }
  call <- c(list(levels = lapply(alphabets, declared_levels), na = na), asked)
  fields <- list(
    alphabets = alphabets, epsilon = epsilon, lambda = realised, n_outputs = prod(sizes)
  )
  if (length(laws) > 0) {
    fields$noise <- laws
    call$noise <- lapply(laws, `[[`, "asked")
  }
  new_mechanism("lambda", fields, call = rlang::call2("mech_lambda", !!!call))
}

# rr_loss() of each attribute; `measure` as there.
attribute_losses <- function(mechanism, measure) {
  vapply(names(mechanism$epsilon), function(name) {
    law <- mechanism$noise[[name]]
    if (!is.null(law)) {
      field <- c(worst_log_ratio = "worst_log_ratio", certified_epsilon = "epsilon")[[measure]]
      certified <- certify_noise(law)
      return(kept_loss(certified[[field]], mechanism$epsilon[[name]], certified$certified))
    }
    rr_loss(mechanism$epsilon[[name]], mechanism$alphabets[[name]]$size, measure)
  }, numeric(1))
}

#' @exportS3Method
keeps_claim.confide_lambda <- function(mechanism) {
  all(vapply(names(mechanism$epsilon), function(name) {
    law <- mechanism$noise[[name]]
    if (!is.null(law)) {
      return(certify_noise(law)$certified)
    }
    rr_keeps(mechanism$epsilon[[name]], mechanism$alphabets[[name]]$size)
  }, logical(1)))
}

#' @rdname mechanism
#' @export
levels.confide_lambda <- function(x) {
  lapply(x$alphabets, alphabet_labels)
}

#' @rdname mechanism
#' @export
dim.confide_lambda <- function(x) {
  c(x$n_outputs, x$n_outputs)
}

#' @exportS3Method
fingerprint_parts.confide_lambda <- function(mechanism) {
  parts <- list(lapply(mechanism$alphabets, alphabet_spelling), mechanism$epsilon)
  if (is.null(mechanism$noise)) {
    return(parts)
  }
  # An infinite epsilon does not say how often the truth is kept.
  c(parts, list(lapply(mechanism$noise, function(law) {
    list(law$asked, if (!is.finite(law$epsilon)) law$lambda)
  })))
}

#' @exportS3Method
resolve_update.confide_lambda <- function(object, changes) {
  if ("lambda" %in% names(changes) && !"epsilon" %in% names(changes)) {
    changes["epsilon"] <- list(NULL)
  }
  if ("epsilon" %in% names(changes) && !"lambda" %in% names(changes)) {
    changes["lambda"] <- list(NULL)
  }
  changes
}

#' @exportS3Method
encode.confide_lambda <- function(x, mechanism, call, ..., messages = value_messages) {
  attributes <- names(mechanism$alphabets)
  if (!is.data.frame(x)) {
    abort_domain(c(
      "{.arg x} must be a data frame with a column for each attribute of the mechanism.",
      i = "{.fn mech_rr} is for a single vector."
    ), call)
  }
  check_columns(names(x), attributes, call)
  stats::setNames(lapply(attributes, function(name) {
    alphabet_codes(x[[name]], mechanism$alphabets[[name]], call, messages)
  }), attributes)
}

# Column names are public. A column that the mechanism does not know would pass through unprotected.
check_columns <- function(found, attributes, call) {
  wrong <- c(setdiff(attributes, found), found[duplicated(found)])
  if (length(wrong) > 0) {
    abort_parameter(c(
      "{.arg x} must have one column for each attribute of the mechanism.",
      x = "Missing or repeated: {enumerate_names(wrong)}."
    ), call = call)
  }
  unknown <- setdiff(found, attributes)
  if (length(unknown) > 0) {
    abort_parameter(c(
      paste(
        "{.arg x} must have no columns besides the attributes of the mechanism:",
        "they would leave unprotected."
      ),
      x = "Found {enumerate_names(unknown)}.",
      i = paste(
        "Select the columns first, {.code x[names(levels(mechanism))]},",
        "and bind public ones back afterwards."
      )
    ), call = call)
  }
}

#' @exportS3Method
randomize.confide_lambda <- function(mechanism, codes, rng) {
  for (name in names(codes)) {
    epsilon <- mechanism$epsilon[[name]]
    law <- mechanism$noise[[name]]
    if (!is.null(law)) {
      codes[[name]] <- channel_privatize(codes[[name]], noise_channel(law), noise_claim(law), rng)
    } else if (is.finite(epsilon)) {
      codes[[name]] <- rr_privatize(codes[[name]], epsilon, mechanism$alphabets[[name]]$size, rng)
    }
  }
  codes
}

# A fresh frame: row names, groups and other attributes of private data do not travel.
#' @exportS3Method
decode_reports.confide_lambda <- function(codes, mechanism, x) {
  columns <- lapply(names(x), function(name) {
    alphabet_factor(codes[[name]], mechanism$alphabets[[name]])
  })
  structure(columns,
    names = names(x),
    row.names = .set_row_names(nrow(x)),
    class = intersect(class(x), c("tbl_df", "tbl", "data.table", "data.frame"))
  )
}

#' @exportS3Method
channel_matrix.confide_lambda <- function(mechanism) {
  attributes <- names(mechanism$alphabets)
  joint <- Reduce(function(fast, slow) kronecker(slow, fast), lapply(attributes, function(name) {
    unname(attribute_matrix(mechanism, name))
  }))
  labels <- cell_labels(levels(mechanism))
  dimnames(joint) <- list(true = labels, reported = labels)
  joint
}

attribute_matrix <- function(mechanism, name) {
  alphabet <- mechanism$alphabets[[name]]
  law <- mechanism$noise[[name]]
  if (is.null(law) && is.finite(mechanism$epsilon[[name]])) {
    return(rr_matrix(alphabet, mechanism$epsilon[[name]]))
  }
  channel <- if (is.null(law)) diag(alphabet$size) else certify_noise(law)$realised
  labels <- alphabet_labels(alphabet)
  matrix(channel, alphabet$size, dimnames = list(true = labels, reported = labels))
}

# Names of the cells of an array in R's order: "a, b" with the first attribute fastest.
cell_labels <- function(dimnames) {
  Reduce(function(fast, slow) as.vector(outer(fast, slow, paste, sep = ", ")), unname(dimnames))
}
