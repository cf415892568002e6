# Scores turn the levels of an attribute into numbers. Their randomized values have
# E[g(Y) | X] = lambda g(X) + (1 - lambda) sum_v q_v g(v), q the noise (Ruiz 2026 for uniform q).

# Numbers given for an attribute, or those that its levels declare: 1..r where they are ordered, 0
# and 1 of a logical one, the numbers of numeric levels.
attribute_scores <- function(name, alphabet, given, call = rlang::caller_env()) {
  if (!is.null(given)) {
    return(check_scores(name, alphabet, given, call))
  }
  scores <- if (alphabet$missing) NULL else declared_scores(alphabet)
  scores %||% abort_parameter(c(
    "Attribute {.field {name}} needs scores: a number for each of its levels.",
    x = if (alphabet$missing) {
      "A missing answer is one of its levels and has no number."
    } else {
      "Its levels have no order and no numbers."
    },
    i = "Give {.code scores = list({name} = c(...))}, in the order of {.code levels(mechanism)}.",
    i = "An ordered factor in the mechanism's levels is scored 1, 2, 3, ..."
  ), call = call)
}

declared_scores <- function(alphabet) {
  if (alphabet$ordered) {
    return(as.numeric(seq_len(alphabet$size)))
  }
  switch(alphabet$kind,
    logical = as.numeric(as.logical(alphabet_labels(alphabet))),
    integer = if (!is.null(alphabet$labels)) as.numeric(alphabet_labels(alphabet))
  )
}

check_scores <- function(name, alphabet, given, call) {
  labels <- alphabet_labels(alphabet)
  numbers <- is.numeric(given) && !is.object(given) && is.null(dim(given)) &&
    length(given) == alphabet$size && all(is.finite(given))
  if (!numbers || !setequal(names(given) %||% labels, labels)) {
    abort_parameter(c(
      "The scores of {.field {name}} must be {alphabet$size} finite numbers, one for each level.",
      x = "They are {describe(given)}.",
      i = "With names they are matched to the levels, else they are in their order."
    ), call = call)
  }
  as.numeric(if (is.null(names(given))) given else given[labels])
}

check_score_list <- function(scores, attributes, call = rlang::caller_env()) {
  legal <- is.null(scores) || is.list(scores) && !is.object(scores) &&
    rlang::is_dictionaryish(scores) && all(names(scores) %in% attributes)
  if (!legal) {
    abort_parameter(c(
      "{.arg scores} must be a named list of numeric vectors, its names attributes.",
      x = if (is.list(scores)) {
        "Its names are {enumerate_names(rlang::names2(scores))}."
      } else {
        "It is {describe(scores)}."
      },
      i = "The attributes are {enumerate_names(attributes, 8L)}."
    ), call = call)
  }
  scores
}

check_lambda_mechanism <- function(mechanism, call = rlang::caller_env()) {
  check_mechanism(mechanism, call)
  advice <-
    "A single attribute can be one too: {.code mech_lambda(list(a = levels), epsilon = 1)}."
  check_made_by(mechanism, "mech_lambda", "confide_lambda", advice, call = call)
}

# The unbiased value of a function f of the true level, for each reported level: D f with
# E[(D f)(Y) | X] = f(X). Columns of a matrix are functions.
debias_values <- function(f, channel) {
  f <- as.matrix(f)
  sweep(f, 2, (1 - channel$lambda) * colSums(channel$noise * f)) / channel$lambda
}

# Lambda and the noise distribution of each of some attributes.
attribute_channels <- function(mechanism, attributes) {
  lapply(stats::setNames(nm = attributes), function(name) {
    list(lambda = mechanism$lambda[[name]], noise = attribute_noise(mechanism, name))
  })
}
