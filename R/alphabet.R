# An alphabet is the public set of values that an attribute can take: its labels in order, and how
# values are matched to them. It is declared, never read off private data.

max_levels <- 2^31 - 1
missing_label <- "<NA>"

`%||%` <- function(x, y) if (is.null(x)) y else x

# What an alphabet is for, in error messages: `what` is cli text, `labels` what its labels are
# called, `few` the smallest number of labels that makes sense.
alphabet_role <- function(what = "{.arg levels}", few = 2, labels = what) {
  list(what = what, few = few, labels = labels)
}

# levels: character, factor, logical c(FALSE, TRUE), distinct whole numbers, or a count k.
new_alphabet <- function(levels, na = "error", role = alphabet_role(), call = rlang::caller_env()) {
  alphabet <- if (is.factor(levels)) {
    factor_alphabet(levels, role, call)
  } else if (is.object(levels) || !is.null(dim(levels))) {
    abort_levels(levels, role, call)
  } else {
    vector_alphabet(levels, role, call)
  }
  add_missing_level(alphabet, na, role, call)
}

vector_alphabet <- function(levels, role, call) {
  if (is.character(levels)) {
    return(list(labels = check_labels(levels, role, call), kind = "label"))
  }
  if (is.logical(levels) && length(levels) == 2 && setequal(levels, c(FALSE, TRUE))) {
    return(list(labels = as.character(unname(levels)), kind = "logical"))
  }
  if (length(levels) > 0 && is_whole(levels)) {
    return(number_alphabet(levels, role, call))
  }
  abort_levels(levels, role, call)
}

abort_levels <- function(levels, role, call) {
  abort_parameter(c(
    paste(role$what, "must be a character vector, a factor or a number of levels."),
    x = "It is {describe(levels)}.",
    i = "{.code factor(x, levels = ...)} declares a domain; {.fn cut} makes levels of numbers."
  ), call = call)
}

abort_too_few <- function(role, call) {
  few <- if (role$few == 2) "two categories." else "one category."
  abort_parameter(c(
    paste(role$what, "must have at least", few),
    x = "There are fewer.",
    i = "A single possible answer holds no secret; leave the attribute out."
  ), call = call)
}

check_labels <- function(labels, role, call) {
  labels <- enc2utf8(unname(as.vector(labels)))
  if (anyNA(labels)) {
    abort_parameter(c(
      paste(role$labels, "must not hold NA."),
      i = "With {.code na = \"level\"} missing answers become a category of their own."
    ), call = call)
  }
  if (any(Encoding(labels) == "bytes") || !all(validUTF8(labels))) {
    abort_parameter(c(
      paste(role$labels, "must be valid text."),
      x = "Some labels have an invalid encoding."
    ), call = call)
  }
  if (anyDuplicated(labels) > 0) {
    abort_parameter(c(
      paste(role$labels, "must be distinct."),
      x = "Repeated: {enumerate_names(unique(labels[duplicated(labels)]))}."
    ), call = call)
  }
  if (length(labels) < role$few) {
    abort_too_few(role, call)
  }
  paste0(labels) # R may put off turning numbers into text, and such text hashes otherwise
}

# The contrasts and the variable label belong to the declaration of a factor; its values are not
# looked at.
factor_alphabet <- function(levels, role, call) {
  list(
    labels = check_labels(base::levels(levels), role, call),
    kind = "label",
    ordered = is.ordered(levels),
    extra = attributes(levels)[intersect(names(attributes(levels)), c("contrasts", "label"))]
  )
}

number_alphabet <- function(levels, role, call) {
  if (length(levels) > 1) {
    labels <- format(unname(levels), scientific = FALSE, trim = TRUE)
    return(list(labels = check_labels(labels, role, call), kind = "integer"))
  }
  if (levels < role$few) {
    abort_too_few(role, call)
  }
  if (levels > max_levels) {
    abort_parameter(c(
      paste(role$what, "must have at most 2^31 - 1 categories."),
      x = "It asks for {format(levels, digits = 15)}."
    ), call = call)
  }
  list(size = as.integer(levels), kind = "integer")
}

# Labels stay NULL for a plain count k: a million levels cost nothing until they are shown.
add_missing_level <- function(alphabet, na, role, call) {
  if (na == "level") {
    alphabet$labels <- check_labels(c(alphabet_labels(alphabet), missing_label), role, call)
    alphabet$size <- NULL
  }
  list(
    labels = alphabet$labels,
    size = alphabet$size %||% length(alphabet$labels),
    kind = alphabet$kind,
    ordered = isTRUE(alphabet$ordered),
    missing = na == "level",
    extra = alphabet$extra
  )
}

# What a fingerprint needs: the spelling of the levels, however they were declared.
alphabet_spelling <- function(alphabet) {
  counted <- is.null(alphabet$labels) || identical(alphabet$labels, count_labels(alphabet$size))
  list(alphabet$size, alphabet$missing, if (!counted) alphabet$labels)
}

alphabet_labels <- function(alphabet) {
  alphabet$labels %||% count_labels(alphabet$size)
}

# R makes the text of an integer sequence when it is looked at, and never as 1e+05.
count_labels <- function(k) {
  as.character(seq_len(k))
}

# Labels of the values that are not missing, as a factor shows them.
value_labels <- function(alphabet) {
  labels <- alphabet_labels(alphabet)
  if (alphabet$missing) labels[-length(labels)] else labels
}

# From values to codes ---------------------------------------------------------

domain_message <- c(
  "{.arg x} must hold only values of the mechanism's declared levels.",
  x = "It does not.",
  i = paste(
    "{.code levels(mechanism)} shows what is legal;",
    "{.code na = \"level\"} makes missing answers legal."
  )
)

type_message <- c(
  "{.arg x} must be a factor, a character vector or codes that the mechanism's levels declare.",
  x = "It is not.",
  i = "A data frame is for {.fn mech_lambda}; take one column with {.code [[}.",
  i = paste(
    "Numbers are legal only where the levels were given as numbers;",
    "{.fn cut} makes levels of numbers."
  )
)

value_messages <- list(domain = domain_message, type = type_message)

# Of reports other things are wrong than of true values: often they are true values. The texts
# depend on the mechanism alone, which is public.
report_messages <- function(mechanism, arg = "x") {
  outputs <- mechanism[["outputs"]] %||% mechanism[["alphabet"]]
  legal <- if (is.null(outputs)) { # several attributes
    "; {.code levels(mechanism)} shows what is legal."
  } else if (is.null(outputs$labels) || identical(outputs$labels, count_labels(outputs$size))) {
    sprintf(", 1 to %s.", format_count(outputs$size))
  } else {
    sprintf(": %s.", escape_braces(enumerate_names(outputs$labels)))
  }
  expected <- paste0("{.arg ", arg, "} must hold only reports of this mechanism", legal)
  randomize <- "True answers become reports by {.fn privatize}."
  list(
    domain = c(expected, x = "It does not.", i = randomize),
    type = c(expected, x = "It holds something else.", i = randomize, i = counts_hint(outputs))
  )
}

# Numbers where reports are labels are mostly counts.
counts_hint <- function(outputs) {
  if (is.null(outputs) || outputs$kind == "integer") {
    return(NULL)
  }
  labels <- utils::head(alphabet_labels(outputs), 2)
  names <- ifelse(make.names(labels) == labels, labels, encodeString(labels, quote = "`"))
  sprintf(
    "Counts are named by the reports: {.code c(%s)}.",
    escape_braces(paste(names, "=", c(10, 20)[seq_along(names)], collapse = ", "))
  )
}

# Codes 1..k of private values. Each failure has one fixed text.
alphabet_codes <- function(x, alphabet, call, messages = value_messages) {
  x <- from_64_bits(x)
  codes <- if (is.factor(x)) {
    factor_codes(x, alphabet, call)
  } else if (is.object(x) || length(dim(x)) > 1) {
    abort_domain(messages$type, call)
  } else if (is.character(x)) {
    label_codes(x, alphabet)
  } else if (is.logical(x) && (alphabet$kind == "logical" || all(is.na(x)))) {
    label_codes(as.character(x), alphabet)
  } else if (is.numeric(x) && alphabet$kind == "integer") {
    number_codes(x, alphabet)
  } else {
    abort_domain(messages$type, call)
  }
  fill_missing(codes, x, alphabet, call, messages)
}

factor_codes <- function(x, alphabet, call) {
  codes <- unclass(x)
  labels <- attr(codes, "levels")
  attributes(codes) <- NULL
  if (!is.integer(codes) || !is.character(labels) || out_of_range(codes, length(labels))) {
    abort_domain(c(
      "{.arg x} must be a well-formed factor.",
      x = "It is not.",
      i = "Make it again with {.fn factor}."
    ), call)
  }
  if (identical(labels, value_labels(alphabet))) {
    return(codes)
  }
  label_codes(labels, alphabet)[codes]
}

out_of_range <- function(codes, k) {
  length(codes) > 0 && (min(codes, 1L, na.rm = TRUE) < 1L || max(codes, 0L, na.rm = TRUE) > k)
}

label_codes <- function(x, alphabet) {
  match(enc2utf8(as.vector(x)), value_labels(alphabet))
}

number_codes <- function(x, alphabet) {
  if (is.null(alphabet$labels) && is.integer(x)) {
    codes <- as.vector(x)
    if (out_of_range(codes, alphabet$size)) {
      codes[codes < 1L | codes > alphabet$size] <- NA_integer_
    }
    return(codes)
  }
  if (is.null(alphabet$labels)) {
    return(whole_codes(as.vector(x), alphabet$size))
  }
  match(as.vector(x), as.numeric(value_labels(alphabet)))
}

whole_codes <- function(x, size) {
  x[!is.na(x) & !(x >= 1 & x <= size & x == round(x))] <- NA_real_
  as.integer(x)
}

fill_missing <- function(codes, x, alphabet, call, messages = value_messages) {
  if (!anyNA(codes)) {
    return(codes)
  }
  outside <- is.na(codes)
  if (!alphabet$missing || !all(missing_values(x)[outside])) {
    abort_domain(messages$domain, call)
  }
  codes[outside] <- alphabet$size
  codes
}

# A factor's NA may be a level of its own (addNA); both spellings are missing. NaN is a value, and
# not a legal one.
missing_values <- function(x) {
  if (is.factor(x)) is.na(base::levels(x)[x]) else is.na(x) & !(is.double(x) & is.nan(x))
}

# From codes back to values: a factor whose missing category, where there is one, is NA.
alphabet_factor <- function(codes, alphabet) {
  if (alphabet$missing) {
    codes[codes == alphabet$size] <- NA_integer_
  }
  attributes(codes) <- c(
    list(levels = value_labels(alphabet), class = c(if (alphabet$ordered) "ordered", "factor")),
    alphabet$extra
  )
  codes
}
