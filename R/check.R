# All errors of the package go through these doors. A parameter error may show the public argument;
# a domain error has a fixed text, because what is wrong with private data is private.
abort_confide <- function(kind, message, call) {
  trace <- rlang::trace_back(bottom = parent.frame(2))
  trace$call <- lapply(trace$call, without_values)
  cli::cli_abort(
    message,
    class = c(paste0("confide_error_", kind), "confide_error"),
    call = shown_call(call),
    trace = trace,
    .envir = parent.frame(2)
  )
}

# A condition keeps the calls that led to it, and those by do.call() hold the data themselves. Names
# and calls stay, values go.
without_values <- function(call) {
  if (is.symbol(call)) {
    return(call)
  }
  if (!is.call(call) || identical(call[[1]], quote(`function`))) {
    return(quote(...))
  }
  as.call(lapply(as.list(call), without_values))
}

# A function that was called without a name has none to show.
shown_call <- function(call) {
  call <- rlang::error_call(call)
  if (!is.call(call) || is.function(call[[1]])) NULL else without_values(call)
}

abort_parameter <- function(message, call = rlang::caller_env()) {
  abort_confide("parameter", message, call)
}

abort_domain <- function(message, call = rlang::caller_env()) {
  abort_confide("domain", message, call)
}

abort_mechanism <- function(message, call = rlang::caller_env()) {
  abort_confide("mechanism", message, call)
}

abort_budget <- function(message, call = rlang::caller_env()) {
  abort_confide("budget", message, call)
}

abort_simulation <- function(call = rlang::caller_env()) {
  abort_confide("simulation", c(
    "What was made with {.code rng = \"r\"} is not private and cannot be charged.",
    i = "A ledger counts real releases only; use {.code rng = \"os\"}."
  ), call)
}

abort_randomness <- function(call) {
  abort_confide("randomness", c(
    "The operating system gave no random numbers.",
    i = paste(
      "Nothing was released.",
      "There is no fallback: repair the system's generator and try again."
    )
  ), call)
}

abort_internal <- function(message, call = rlang::caller_env()) {
  abort_confide("internal", message, call)
}

# A short description of a public argument, for error messages.
describe <- function(x) {
  if (is.null(x)) {
    return("NULL")
  }
  if (is.object(x) || !is.atomic(x)) {
    return(describe_class(x))
  }
  if (length(x) != 1 || !is.null(dim(x))) {
    return(sprintf("a %s of length %d", typeof(x), length(x)))
  }
  quote <- if (is.character(x)) "\"" else ""
  text <- encodeString(format(unname(x), digits = 15), quote = quote)
  paste(typeof(x), shorten(text))
}

# All that may be told of private data.
describe_class <- function(x) paste("an object of class", paste(class(x), collapse = "/"))

shorten <- function(text, width = 60L) {
  ifelse(nchar(text, "width") > width, paste0(substr(text, 1L, width - 3L), "..."), text)
}

enumerate_names <- function(x, most = 5L) {
  shown <- shorten(encodeString(utils::head(x, most), quote = "\""))
  paste0(paste(shown, collapse = ", "), if (length(x) > most) ", ...")
}

# One string that can be translated.
is_text <- function(x) {
  is.character(x) && length(x) == 1 && !is.na(x) && Encoding(x) != "bytes"
}

is_plain_number <- function(x) {
  is.numeric(x) && !is.object(x) && length(x) == 1 && is.null(dim(x))
}

is_finite_number <- function(x) {
  is_plain_number(x) && is.finite(x)
}

is_whole <- function(x) {
  is.numeric(x) && !is.object(x) && all(is.finite(x)) && all(x == round(x))
}

# Arguments ----------------------------------------------------------------

# Every verb calls this first. R itself would complete `eps =` to `epsilon =`; a misspelt argument
# must not pass.
check_dots_empty <- function(..., call = rlang::caller_env()) {
  caller <- sys.parent()
  known <- names(formals(sys.function(caller)))
  unknown <- setdiff(c(names(sys.call(caller)), ...names()), c(known, ""))
  if (...length() == 0 && length(unknown) == 0) {
    return(invisible())
  }
  abort_parameter(c(
    "Every argument must be one that the function knows, spelt in full.",
    x = if (length(unknown) > 0) {
      "Unused: {enumerate_names(unknown)}."
    } else {
      "There are too many unnamed arguments."
    },
    i = if (length(unknown) > 0) {
      did_you_mean(unknown, setdiff(known, c("...", names(sys.call(caller)))))
    } else {
      "Name them, such as {.code epsilon = 1}."
    },
    i = if (length(unknown) > 0) "Options come after the main arguments and are named."
  ), call = call)
}

# The arguments that were probably meant: those that begin so, or else are a letter or two off.
did_you_mean <- function(unknown, known) {
  near <- lapply(if (length(known) > 0) unknown[!is.na(unknown)], function(name) {
    begins <- known[startsWith(known, name)]
    if (length(begins) > 0) {
      return(begins)
    }
    distance <- drop(utils::adist(name, known, ignore.case = TRUE))
    known[distance == min(distance) & distance <= min(2, nchar(name) / 3)]
  })
  near <- unique(unlist(near))
  if (length(near) > 0) {
    sprintf("Did you mean %s?", paste0("{.arg ", near, "}", collapse = " or "))
  }
}

check_required <- function(x, hint = "See its help page.", arg = rlang::caller_arg(x),
                           call = rlang::caller_env()) {
  if (!rlang::is_missing(rlang::maybe_missing(x))) {
    return(invisible())
  }
  abort_parameter(c("{.arg {arg}} must be given; it has no default.", i = hint), call = call)
}

check_epsilon <- function(epsilon, zero = TRUE, call = rlang::caller_env()) {
  if (is_finite_number(epsilon) && (epsilon > 0 || (zero && epsilon == 0))) {
    return(abs(as.numeric(unname(epsilon)))) # abs() turns -0 into 0
  }
  range <- if (zero) "number, at least 0." else "number above 0."
  infinite <- is_plain_number(epsilon) && is.infinite(epsilon)
  abort_parameter(c(
    paste("{.arg epsilon} must be one finite", range),
    x = "It is {describe(epsilon)}.",
    i = paste(
      "Smaller protects more;",
      "with 1 no report changes anyone's odds by more than a factor of 2.7."
    ),
    i = if (infinite) "For practically no privacy use {.code epsilon = 44}."
  ), call = call)
}

# One finite number that is legal; range says in words which are.
check_number <- function(x, range, legal, hint = NULL, arg = rlang::caller_arg(x),
                         call = rlang::caller_env()) {
  if (is_finite_number(x) && legal(x)) {
    return(as.numeric(unname(x)))
  }
  abort_parameter(c(
    "{.arg {arg}} must be one number {range}.",
    x = "It is {describe(x)}.",
    i = hint
  ), call = call)
}

check_delta <- function(delta, call = rlang::caller_env()) {
  check_number(
    delta, "at least 0 and below 1", function(x) x >= 0 && x < 1,
    "The bound may fail with this probability; keep it far below 1 / number of people.",
    call = call
  )
}

# A plain numeric vector whose elements are all legal; range says in words which are.
check_numbers <- function(x, range, legal, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (!is.numeric(x) || is.object(x) || !is.null(dim(x)) || length(x) == 0) {
    abort_parameter(c(
      "{.arg {arg}} must be numbers, {range}.",
      x = "It is {describe(x)}."
    ), call = call)
  }
  outside <- is.na(x) | !legal(x)
  if (any(outside)) {
    abort_parameter(c(
      "{.arg {arg}} must be {range}.",
      x = "Found {describe(x[outside][[1]])}."
    ), call = call)
  }
  as.numeric(unname(x))
}

check_positive <- function(x, hint = NULL, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  check_number(x, "above 0 and finite", function(x) x > 0, hint, arg, call)
}

check_not_negative <- function(x, hint = NULL, arg = rlang::caller_arg(x),
                               call = rlang::caller_env()) {
  check_number(x, "at least 0 and finite", function(x) x >= 0, hint, arg, call)
}

check_level <- function(level, call = rlang::caller_env()) {
  check_number(level, "between 0 and 1, such as 0.95", function(x) x > 0 && x < 1, call = call)
}

check_whole_number <- function(x, min = 1, max = 2^53, arg = rlang::caller_arg(x),
                               call = rlang::caller_env()) {
  if (is_plain_number(x) && is_whole(x) && x >= min && x <= max) {
    return(as.numeric(x))
  }
  abort_parameter(c(
    "{.arg {arg}} must be one whole number from {min} to {format(max, scientific = FALSE)}.",
    x = "It is {describe(x)}."
  ), call = call)
}

check_choice <- function(x, choices, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (identical(x, choices)) {
    return(choices[[1]])
  }
  if (is.character(x) && length(x) == 1 && !is.na(x) && x %in% choices) {
    return(unname(x))
  }
  abort_parameter(c(
    "{.arg {arg}} must be one of {.or {.val {choices}}}.",
    x = "It is {describe(x)}."
  ), call = call)
}

check_rng <- function(rng, call = rlang::caller_env()) {
  check_choice(rng, c("os", "r"), arg = "rng", call = call)
}

# Exactly one of rho and epsilon.
check_budget <- function(rho, epsilon, call = rlang::caller_env()) {
  if (is.null(rho) == is.null(epsilon)) {
    abort_parameter(c(
      "Exactly one of {.arg rho} and {.arg epsilon} must be given.",
      x = if (is.null(rho)) "Neither is." else "Both are.",
      i = "{.arg rho}: Gaussian noise. {.arg epsilon}: Laplace noise, a pure guarantee."
    ), call = call)
  }
  if (is.null(rho)) {
    return(list(law = "laplace", value = check_epsilon(epsilon, zero = FALSE, call = call)))
  }
  list(law = "gaussian", value = check_positive(rho, call = call))
}

neighbour_names <- c("replace", "zero_out", "add_remove")

check_neighbours <- function(neighbours, choices = neighbour_names, call = rlang::caller_env()) {
  check_required(
    neighbours, cli::format_inline("It is {.or {.val {choices}}}."),
    arg = "neighbours", call = call
  )
  if (identical(neighbours, choices)) {
    neighbours <- NULL # all of them is no choice
  }
  check_choice(neighbours, choices, arg = "neighbours", call = call)
}

# Of tables and classes: a row of zeros is no row of categories.
table_neighbours <- c("replace", "add_remove")

# An object of the package, told by its class and named by the function that makes it.
check_made_by <- function(x, maker, class, advice = NULL, arg = rlang::caller_arg(x),
                          call = rlang::caller_env()) {
  if (!inherits(x, class)) {
    abort_parameter(c(
      "{.arg {arg}} must be made by {.fn {maker}}.",
      x = "It is {describe(x)}.",
      i = advice
    ), call = call)
  }
  invisible(x)
}

check_mechanism <- function(mechanism, call = rlang::caller_env()) {
  hint <- "Make one with mech_rr(), mech_block(), mech_spr(), mech_lambda() or mech_matrix()."
  check_required(mechanism, hint, arg = "mechanism", call = call)
  if (!inherits(mechanism, "confide_mechanism")) {
    abort_parameter(c(
      paste(
        "{.arg mechanism} must be a mechanism,",
        "made by {.fn mech_rr}, {.fn mech_block}, {.fn mech_spr}, {.fn mech_lambda}",
        "or {.fn mech_matrix}."
      ),
      x = "It is {describe(mechanism)}.",
      i = "The data come first: {.code privatize(x, mechanism)}."
    ), call = call)
  }
  check_made_with(mechanism, "mechanism", call)
  if (!identical(mechanism$seal, seal(mechanism))) {
    abort_internal(c(
      "This mechanism failed its certificate: its parameters are not the ones it was made with.",
      i = "Make it again with its constructor; {.fn update} changes a parameter."
    ), call = call)
  }
  invisible(mechanism)
}

package_version_text <- function() getNamespaceVersion("confide")[["version"]]

# An object from a file may come from a version that promised something else in the same fields.
check_made_with <- function(x, what, call = rlang::caller_env()) {
  made_with <- x$made_with
  here <- package_version_text()
  if (!is.character(made_with) || !isTRUE(numeric_version(made_with, strict = FALSE) > here)) {
    return(invisible())
  }
  abort_parameter(c(
    "This {what} was made by a newer version of confide.",
    x = "It is from version {made_with}, and this is {here}.",
    i = "Update the package, or make the {what} again."
  ), call = call)
}

# A probability vector in natural order: finite, not negative, sum 1 within 1e-8. Returned with sum
# exactly near 1.
check_probabilities <- function(p, k = length(p), arg = rlang::caller_arg(p),
                                call = rlang::caller_env()) {
  if (!is.numeric(p) || is.object(p) || length(dim(p)) > 1 || length(p) != k) {
    abort_parameter(c(
      "{.arg {arg}} must be a numeric vector of {k} probabilities.",
      x = "It is {describe(p)}."
    ), call = call)
  }
  check_finite_probabilities(p, arg, call)
  if (abs(sum(p) - 1) > 1e-8) {
    abort_parameter(c(
      "{.arg {arg}} must sum to 1.",
      x = "It sums to {format(sum(p), digits = 10)}.",
      i = "Divide it by its sum if it holds weights."
    ), call = call)
  }
  p / sum(p)
}

check_finite_probabilities <- function(p, arg, call) {
  wrong <- !is.finite(p) | p < 0
  if (any(wrong)) {
    abort_parameter(c(
      "{.arg {arg}} must hold finite probabilities, none of them negative.",
      x = "Found {describe(p[wrong][[1]])}."
    ), call = call)
  }
}

# Settings of an iterative search over their defaults: a tolerance, and whole numbers.
check_control <- function(control, defaults, call = rlang::caller_env()) {
  known <- names(defaults)
  if (!is.list(control) || !all(rlang::names2(control) %in% known)) {
    abort_parameter(c(
      "{.arg control} must be a list with {.or {.field {known}}}.",
      x = if (is.list(control) && length(control) > 0) {
        "Its names are {enumerate_names(rlang::names2(control))}."
      } else {
        "It is {describe(control)}."
      }
    ), call = call)
  }
  control <- utils::modifyList(defaults, control)
  for (name in setdiff(known, "tolerance")) {
    control[[name]] <- check_whole_number(control[[name]], arg = name, call = call)
  }
  control$tolerance <- check_positive(control$tolerance, arg = "tolerance", call = call)
  control
}

check_flag <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is.logical(x) && !is.object(x) && length(x) == 1 && !is.na(x)) {
    return(unname(x))
  }
  abort_parameter(
    c("{.arg {arg}} must be TRUE or FALSE.", x = "It is {describe(x)}."),
    call = call
  )
}

# How many lines a print shows; Inf shows all.
check_shown <- function(n, call = rlang::caller_env()) {
  if (identical(n, Inf)) n else check_whole_number(n, min = 0, call = call)
}

# Rows of confidence limits, by name or number; all where `parm` is missing.
chosen_limits <- function(limits, parm, call = rlang::caller_env()) {
  if (missing(parm)) {
    return(limits)
  }
  known <- if (is.character(parm)) rownames(limits) else seq_len(nrow(limits))
  plain <- (is.character(parm) || is_whole(parm)) && is.null(dim(parm)) && length(parm) > 0
  if (plain && all(parm %in% known)) {
    return(limits[parm, , drop = FALSE])
  }
  abort_parameter(c(
    "{.arg parm} must be names or numbers of what was estimated.",
    x = "It is {describe(parm)}.",
    i = "The numbers go from 1 to {nrow(limits)}."
  ), call = call)
}

has_distinct_names <- function(x) {
  labels <- rlang::names2(x)
  length(x) > 0 && all(nzchar(labels)) && anyDuplicated(labels) == 0
}

# Packages that only some functions need.
check_installed <- function(packages, purpose, call = rlang::caller_env()) {
  missing <- packages[!vapply(packages, is_there, logical(1))]
  if (length(missing) == 0) {
    return(invisible())
  }
  abort_parameter(c(
    paste0("{cli::qty(missing)}Package{?s} {.pkg {missing}} must be installed ", purpose, "."),
    x = "{cli::qty(missing)}{?It is/They are} not.",
    i = "Install with {.code install.packages({deparse(unname(missing))})}."
  ), call = call)
}

is_there <- function(package) rlang::is_installed(package)
