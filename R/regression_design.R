# A design column is a product: a function of the true level of each attribute in its term, times
# an exact part. So a design is kept as `exact` (records x columns) and, for each attribute, `parts`
# (levels x columns, 1 where the column does not involve it). What holds for one record and all
# combinations of true levels follows from these and the reported codes.

# What a formula means: which of its variables are attributes, how they are coded, and a plan of the
# columns that works for new data too. The formula's environment is used to evaluate exact variables
# and is not kept.
regression_plan <- function(formula, data, mechanism, scores, call = rlang::caller_env()) {
  check_formula(formula, call)
  attributes <- names(mechanism$alphabets)
  scores <- check_score_list(scores, attributes, call)
  parsed <- tryCatch(stats::terms(formula, data = data), error = function(error) NULL)
  if (is.null(parsed) || attr(parsed, "response") != 1 || !is.null(attr(parsed, "offset"))) {
    abort_parameter(c(
      "{.arg formula} must be a two-sided formula without offset, such as {.code y ~ a + age}.",
      x = "It is not."
    ), call = call)
  }
  variables <- as.list(attr(parsed, "variables"))[-1]
  names(variables) <- vapply(variables, label_of, character(1))
  random <- vapply(variables, function(v) {
    is.symbol(v) && rlang::as_string(v) %in% attributes
  }, logical(1))
  check_transformed(variables[!random], attributes, call)
  names(variables)[random] <- vapply(variables[random], rlang::as_string, character(1))
  factors <- attr(parsed, "factors")
  if (length(factors) == 0) {
    factors <- matrix(0L, length(variables), 0)
  }
  list(
    terms = parsed,
    intercept = attr(parsed, "intercept") == 1,
    factors = unname(factors),
    variables = names(variables),
    expressions = variables,
    attributes = names(variables)[random],
    response = names(variables)[[1]],
    scores = scores,
    alphabets = mechanism$alphabets[names(variables)[random]],
    channels = attribute_channels(mechanism, names(variables)[random])
  )
}

check_formula <- function(formula, call) {
  if (inherits(formula, "formula") && length(formula) == 3) {
    return(invisible())
  }
  abort_parameter(c(
    "{.arg formula} must be a two-sided formula, such as {.code y ~ a + age}.",
    x = "It is {if (inherits(formula, 'formula')) 'one-sided' else describe(formula)}."
  ), call = call)
}

check_transformed <- function(expressions, attributes, call) {
  inside <- intersect(unlist(lapply(expressions, all.vars)), attributes)
  if (length(inside) == 0) {
    return(invisible())
  }
  abort_parameter(c(
    "A randomized attribute must stand by itself in {.arg formula}, not inside a function.",
    x = "Transformed: {enumerate_names(inside)}.",
    i = "A function of a report is not that of the true level.",
    i = "Give numbers for the levels in {.arg scores}."
  ), call = call)
}

check_report_frame <- function(data, mechanism, call = rlang::caller_env()) {
  check_required(data, "Give a data frame of reports and exact variables.", call = call)
  if (!is.data.frame(data)) {
    abort_parameter(c(
      "{.arg data} must be a data frame of reports and exact variables.",
      x = "It is {describe_class(data)}."
    ), call = call)
  }
  check_fingerprint(attr(data, "confide")$fingerprint, mechanism, call)
  # where the randomness of the reports came from, for the print
  structure(as.data.frame(as_plain(data)), rng = attr(data, "confide")$rng)
}

# Exact variables ------------------------------------------------------------------

# The exact variables on the right of the formula, evaluated as in stats::model.frame(), in a named
# list.
exact_frame <- function(plan, data, call = rlang::caller_env()) {
  right <- setdiff(plan$variables[rowSums(plan$factors) > 0], plan$attributes)
  if (length(right) == 0) {
    return(list(values = list(), terms = NULL))
  }
  labels <- vapply(plan$expressions[right], label_of, character(1), backtick = TRUE)
  formula <- stats::reformulate(labels, env = environment(plan$terms))
  frame <- evaluate_exact(
    stats::model.frame(formula, data[setdiff(names(data), plan$attributes)],
      na.action = stats::na.pass
    ), call
  )
  check_exact(frame, data, call)
  list(values = stats::setNames(as.list(frame), right), terms = attr(frame, "terms"))
}

label_of <- function(expression, backtick = FALSE) {
  paste(deparse(expression, 500L, backtick = backtick || is.call(expression)), collapse = " ")
}

evaluate_exact <- function(code, call) {
  tryCatch(code, error = function(error) {
    abort_parameter(c(
      "The exact variables of {.arg formula} must be columns of {.arg data}, or functions of them.",
      x = "They could not be evaluated.",
      i = "Randomized attributes are the columns that the mechanism has; others are exact."
    ), call = call)
  })
}

check_exact <- function(frame, data, call) {
  if (anyNA(frame) || NROW(frame) != nrow(data)) {
    abort_parameter(c(
      "Exact variables must have a value in every row of {.arg data}.",
      x = "Some are missing.",
      i = "Leave these rows out of {.arg data} first, if that is right for your question."
    ), call = call)
  }
}

# The response, where it is exact.
exact_response <- function(plan, data, call) {
  if (plan$response %in% plan$attributes) {
    return(NULL)
  }
  known <- data[setdiff(names(data), plan$attributes)]
  values <- evaluate_exact(
    eval(plan$expressions[[1]], known, environment(plan$terms)), call
  )
  check_exact(values, data, call)
  values
}

# How an exact variable is coded: what prediction needs to know about it, and no values.
exact_coding <- function(values, call = rlang::caller_env()) {
  if (is.character(values) || is.logical(values)) {
    values <- factor(values)
  }
  if (is.factor(values)) {
    if (nlevels(values) < 2) {
      abort_parameter(c(
        "Exact factors must have at least two levels in {.arg data}.",
        x = "One has fewer."
      ), call = call)
    }
    return(list(levels = levels(values), contrasts = named_contrasts(values)))
  }
  if (!is.numeric(values) || !all(is.finite(values))) {
    abort_parameter(
      "Exact variables must be finite numbers, factors, text or logical.",
      call = call
    )
  }
  list(levels = NULL, columns = colnames(values) %||% if (NCOL(values) > 1) seq_len(NCOL(values)))
}

named_contrasts <- function(factor) {
  coding <- unname_rows(stats::contrasts(factor))
  colnames(coding) <- colnames(coding) %||% seq_len(ncol(coding))
  coding
}

unname_rows <- function(x) {
  rownames(x) <- NULL
  x
}

exact_columns <- function(name, values, coding, full) {
  if (is.null(coding$levels)) {
    values <- matrix(as.numeric(values), NROW(values))
    colnames(values) <- paste0(name, coding$columns)
    return(values)
  }
  codes <- match(as.character(values), coding$levels)
  expand_levels(name, coding$levels, coding$contrasts, full)[codes, , drop = FALSE]
}

# Rows are levels.
expand_levels <- function(name, levels, contrasts, full) {
  if (full) {
    contrasts <- diag(length(levels))
    colnames(contrasts) <- levels
  }
  colnames(contrasts) <- paste0(name, colnames(contrasts))
  contrasts
}

# Attributes -----------------------------------------------------------------------

# Scores make a number of an attribute; otherwise R's contrasts, those of the declared factor first.
attribute_coding <- function(name, plan) {
  alphabet <- plan$alphabets[[name]]
  labels <- alphabet_labels(alphabet)
  if (!is.null(plan$scores[[name]])) {
    return(list(levels = labels, scores = attribute_scores(name, alphabet, plan$scores[[name]])))
  }
  prototype <- factor(character(), labels, ordered = alphabet$ordered)
  if (!alphabet$missing && !is.null(alphabet$extra$contrasts)) {
    attr(prototype, "contrasts") <- alphabet$extra$contrasts
  }
  list(levels = labels, contrasts = named_contrasts(prototype))
}

attribute_columns <- function(name, coding, full) {
  if (!is.null(coding$scores)) {
    return(matrix(coding$scores, ncol = 1, dimnames = list(NULL, name)))
  }
  expand_levels(name, coding$levels, coding$contrasts, full)
}

# The columns ----------------------------------------------------------------------

# Adds to a plan how each variable on the right is coded.
add_codings <- function(plan, exact, call = rlang::caller_env()) {
  right <- plan$variables[rowSums(plan$factors) > 0]
  plan$codings <- lapply(stats::setNames(nm = right), function(name) {
    if (name %in% plan$attributes) {
      attribute_coding(name, plan)
    } else {
      exact_coding(exact[[name]], call)
    }
  })
  if (!plan$intercept) {
    plan$factors <- code_first_fully(plan)
  }
  plan
}

# Without an intercept the first factor has a column for each of its levels, as in
# stats::model.matrix().
code_first_fully <- function(plan) {
  factors <- plan$factors
  categorical <- vapply(plan$variables, function(name) {
    !is.null(plan$codings[[name]]$contrasts)
  }, logical(1))
  first <- which(factors > 0 & categorical)
  if (length(first) > 0) factors[first[[1]]] <- 2L
  factors
}

# The design of n records: columns of a term run through the codings of its variables, the first
# fastest, as in stats::model.matrix().
build_design <- function(plan, exact, n) {
  blocks <- lapply(seq_len(ncol(plan$factors)), function(t) {
    used <- which(plan$factors[, t] > 0)
    Reduce(cross_columns, lapply(used, function(v) {
      variable_columns(plan, plan$variables[[v]], plan$factors[v, t] == 2, exact, n)
    }))
  })
  constant <- list(
    names = "(Intercept)", exact = matrix(1, n, 1),
    parts = lapply(plan$codings[right_attributes(plan)], function(coding) {
      matrix(1, length(coding$levels), 1)
    })
  )
  Reduce(append_columns, c(if (plan$intercept) list(constant), blocks))
}

# Attributes that are not randomized: their reports are the truth.
is_known <- function(plan, attributes = plan$attributes) {
  vapply(plan$channels[attributes], function(channel) channel$lambda == 1, logical(1))
}

right_attributes <- function(plan) {
  intersect(plan$attributes, names(plan$codings))
}

# The columns of one variable.
variable_columns <- function(plan, name, full, exact, n) {
  coding <- plan$codings[[name]]
  random <- name %in% plan$attributes
  # a full coding exists for factors only
  own <- if (random) {
    attribute_columns(name, coding, full)
  } else {
    exact_columns(name, exact[[name]], coding, full)
  }
  list(
    names = colnames(own),
    exact = if (random) matrix(1, n, ncol(own)) else unname(own),
    parts = lapply(stats::setNames(nm = right_attributes(plan)), function(other) {
      if (other == name) unname(own) else matrix(1, length(plan$codings[[other]]$levels), ncol(own))
    })
  )
}

cross_columns <- function(a, b) {
  fast <- rep(seq_along(a$names), times = length(b$names))
  slow <- rep(seq_along(b$names), each = length(a$names))
  list(
    names = paste(a$names[fast], b$names[slow], sep = ":"),
    exact = a$exact[, fast, drop = FALSE] * b$exact[, slow, drop = FALSE],
    parts = Map(function(x, y) x[, fast, drop = FALSE] * y[, slow, drop = FALSE], a$parts, b$parts)
  )
}

append_columns <- function(a, b) {
  list(
    names = c(a$names, b$names), exact = cbind(a$exact, b$exact),
    parts = Map(cbind, a$parts, b$parts)
  )
}

# Records that agree in all of `columns` are one, with added weights. Returns the first row of each
# group and the group of each row.
group_records <- function(columns, n) {
  group <- rep(1, n)
  for (column in columns) {
    key <- match(column, unique(column))
    both <- group * (n + 1) + key
    group <- match(both, unique(both))
  }
  list(first = which(!duplicated(group)), group = group)
}

check_record_weights <- function(weights, data, call = rlang::caller_env()) {
  if (is.null(weights)) {
    return(rep(1, nrow(data)))
  }
  values <- if (is_column_name(weights, data)) data[[weights]] else weights
  values <- check_amounts(values, nrow(data), "weights", call)
  if (sum(values) == 0) {
    abort_parameter("{.arg weights} must not all be 0.", call = call)
  }
  values
}

# A model frame without a frame: what formula(), predict() and print() need, and no data. The global
# environment is written to files as a name only.
bare_terms <- function(terms) {
  if (is.null(terms)) {
    return(NULL)
  }
  environment(terms) <- globalenv()
  attributes(terms)["dataClasses"] <- NULL
  terms
}

bare_plan <- function(plan, exact_terms) {
  plan$terms <- bare_terms(plan$terms)
  plan$exact_terms <- bare_terms(exact_terms)
  plan$expressions <- NULL
  plan
}
