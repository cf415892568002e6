# Arguments of mech_lambda(): level sets, and one number for each attribute.

check_attributes <- function(levels, call = rlang::caller_env()) {
  if (!is.list(levels) || (is.object(levels) && !is.data.frame(levels)) || length(levels) == 0) {
    abort_parameter(c(
      paste(
        "{.arg levels} must be a named list of level sets or a data frame of factors,",
        "with at least one attribute."
      ),
      x = "It is {describe(levels)}.",
      i = "For one unnamed attribute use {.fn mech_rr}."
    ), call = call)
  }
  check_attribute_names(names(levels), call)
}

# One choice for all attributes, or a named one for some; the others keep the default.
match_na <- function(na, attributes, call = rlang::caller_env()) {
  choices <- c("error", "level")
  if (is.null(names(na))) {
    na <- check_choice(na, choices, call = call)
    return(stats::setNames(rep(na, length(attributes)), attributes))
  }
  plain <- is.character(na) && !is.object(na)
  if (!plain || !all(na %in% choices) || !all(names(na) %in% attributes)) {
    abort_parameter(c(
      "A named {.arg na} must hold {.or {.val {choices}}}, named by attributes.",
      x = if (plain) "Found {enumerate_names(na)} for {enumerate_names(names(na))}.",
      x = if (!plain) "It is {describe(na)}."
    ), call = call)
  }
  replace(stats::setNames(rep("error", length(attributes)), attributes), names(na), na)
}

new_alphabets <- function(levels, na, call = rlang::caller_env()) {
  stats::setNames(lapply(names(levels), function(name) {
    label <- sprintf("`%s`", escape_braces(name))
    what <- paste("Attribute", label)
    if (is.data.frame(levels)) {
      check_domain_column(levels[[name]], what, call)
    }
    column <- levels[[name]]
    if (inherits(column, "confide_composite")) {
      column <- base::levels(column)
    }
    domain <- if (is.data.frame(levels) && is.logical(column)) c(FALSE, TRUE) else column
    role <- alphabet_role(what, labels = paste("The levels of attribute", label))
    new_alphabet(domain, na[[name]], role, call)
  }), names(levels))
}

check_attribute_names <- function(names, call) {
  if (is.null(names) || anyNA(names) || any(names == "") || anyDuplicated(names) > 0) {
    abort_parameter(c(
      "Every attribute in {.arg levels} needs a name of its own.",
      x = if (is.null(names)) "There are no names." else "Some are missing or repeated."
    ), call = call)
  }
}

check_domain_column <- function(column, what, call) {
  if (is.factor(column) || is.logical(column)) {
    return(invisible())
  }
  abort_parameter(c(
    paste(what, "must be a factor: its levels are the public domain."),
    x = "It is {paste(class(column), collapse = '/')}; its values are data and declare nothing.",
    i = if (is.numeric(column)) {
      "{.fn cut} with public breaks makes levels of numbers."
    } else {
      "Declare them with {.code factor(levels = )}."
    }
  ), call = call)
}

alphabet_sizes <- function(alphabets) {
  vapply(alphabets, function(alphabet) as.numeric(alphabet$size), numeric(1))
}

# What new_alphabet() needs to make the same alphabet again.
declared_levels <- function(alphabet) {
  if (alphabet$kind == "label") {
    return(alphabet_factor(integer(), alphabet))
  }
  labels <- value_labels(alphabet)
  switch(alphabet$kind,
    logical = as.logical(labels),
    integer = if (is.null(alphabet$labels)) alphabet$size else as.numeric(labels)
  )
}

attribute_epsilon <- function(sizes, lambda, epsilon, call = rlang::caller_env()) {
  if (is.null(lambda) == is.null(epsilon)) {
    abort_parameter(c(
      "Give exactly one of {.arg lambda} and {.arg epsilon}.",
      x = if (is.null(lambda)) "Neither is given." else "Both are given.",
      i = paste(
        "lambda is the probability of keeping the truth;",
        "epsilon = log(1 + k lambda / (1 - lambda)) for k levels."
      )
    ), call = call)
  }
  if (is.null(lambda)) {
    legal <- function(x) is.finite(x) & x > 0
    return(match_attributes(epsilon, sizes, "epsilon", "finite and above 0", legal, call))
  }
  lambda <- match_lambda(lambda, sizes, call)
  log1p(sizes * lambda / (1 - lambda))
}

match_lambda <- function(lambda, sizes, call = rlang::caller_env()) {
  legal <- function(x) x > 0 & x <= 1
  match_attributes(lambda, sizes, "lambda", "above 0 and at most 1", legal, call)
}

# One number an attribute: by name, in order, or recycled if single.
match_attributes <- function(values, sizes, arg, range, legal, call) {
  plain <- is.numeric(values) && !is.object(values) && is.null(dim(values))
  if (!plain || !length(values) %in% c(1, length(sizes))) {
    abort_parameter(c(
      "{.arg {arg}} must be one number, or one for each of the {length(sizes)} attributes.",
      x = "It is {describe(values)}."
    ), call = call)
  }
  values <- sort_by_attribute(values, sizes, arg, call)
  if (anyNA(values) || !all(legal(values))) {
    abort_parameter(c(
      "{.arg {arg}} must be {range}.",
      x = "Found {describe(values[is.na(values) | !legal(values)][[1]])}."
    ), call = call)
  }
  stats::setNames(rep_len(as.numeric(values), length(sizes)), names(sizes))
}

# A single number for several attributes may bear a name that is none of theirs.
sort_by_attribute <- function(values, sizes, arg, call) {
  if (is.null(names(values))) {
    return(values)
  }
  if (!setequal(names(values), names(sizes))) {
    abort_parameter(c(
      "The names of {.arg {arg}} must be the attributes.",
      x = "Expected {enumerate_names(names(sizes))}; found {enumerate_names(names(values))}."
    ), call = call)
  }
  values[names(sizes)]
}

attribute_lambda <- function(epsilon, size, law = NULL) {
  if (!is.null(law)) {
    return(realised_lambda(law))
  }
  if (is.finite(epsilon)) rr_realised(epsilon, size)[["lambda"]] else 1
}
