#' Replay audit of a central function
#'
#' Finds out whether anything of the data leaves a function other than through the noise. The
#' function runs on one data set, and every noisy answer that it gets is recorded; then it runs on a
#' neighbour and is given the same answers again. If all that it knows of the data came through the
#' noise, the two runs cannot be told apart. So these must agree on both: how often noise is asked
#' for and with which parameters; the exact answers before noise, up to the declared sensitivity;
#' warnings, messages and errors; the result with all its attributes.
#'
#' This finds bugs that no number of draws would show, such as a count that is used without noise,
#' bounds read off the data, or a warning for small groups. It knows noise only from the releases of
#' this package. It does not replace a proof: pairs that were not tried may still differ.
#'
#' A function may refuse data outside its declared domain (`confide_error_domain`), as long as no
#' noise was drawn before and the text is the same for all data. Such pairs are counted as
#' `$refused`; they test nothing else.
#'
#' @param f (function) Takes a data set, returns what would be released.
#' @param pairs (list) Pairs of neighbours, each a list of two data sets, such as
#'   `neighbour_pairs()` makes. Made-up data: the audit's result may be shown to anybody only then.
#' @param ... Unused; catches misspelt arguments.
#' @param like (vector or matrix) For `neighbour_pairs()`: made-up data of the type to make, a
#'   numeric, logical or character vector, a factor, or a numeric matrix. Only its type, levels and
#'   number of columns are used.
#' @param neighbours (string, no default) As in [private_sum()].
#' @param number (whole number) How many pairs.
#' @param values (vector) The values to draw from. By default numbers that are known to make
#'   trouble (0, tiny, huge, beyond 2^53, half steps), `TRUE` and `FALSE`, or the levels.
#' @param non_finite (`TRUE` or `FALSE`) Whether one side of every fiftieth pair has a missing or
#'   infinite value.
#' @param seed (whole number) Makes the pairs repeatable; R's generator is put back afterwards.
#' @returns `replay_audit()`: a list of class `confide_replay_audit` with `$ok`, `$pairs`,
#'   `$refused`, `$calls` (noisy answers in all), `$spent` (the rho and epsilon that one run adds up
#'   to, the largest over the pairs) and `$findings`, a data frame with the number of the `pair` and
#'   the `problem`: `"calls"`, `"sensitivity"`, `"conditions"`, `"result"` or `"attributes"`.
#'
#'   `neighbour_pairs()`: a list of lists of two.
#' @section Errors:
#' `confide_error_parameter` for an `f` that is no function, pairs that are none, and a `like` that
#' there are no values to draw for. Errors of `f` itself are not raised: they are compared.
#' @references
#' Cebere, T., Erb, D., Desfontaines, D., Bellet, A. and Fitzsimons, J. (2026). Privacy in theory,
#' bugs in practice: grey-box auditing of differential privacy libraries.
#' \doi{10.48550/arXiv.2602.17454}
#' @examples
#' pairs <- neighbour_pairs(numeric(), neighbours = "add_remove", number = 100)
#' total <- function(x) private_sum(x, bound = 10, rho = 1, neighbours = "add_remove")
#' replay_audit(total, pairs)
#'
#' # dividing by the number of people lets it out
#' average <- function(x) coef(total(x)) / length(x)
#' replay_audit(average, pairs)
#' @export
replay_audit <- function(f, pairs, ...) {
  check_dots_empty(...)
  check_required(f, "Give a function of one data set.")
  check_required(pairs, "Make some with neighbour_pairs().")
  check_pairs(f, pairs)
  runs <- lapply(pairs, function(pair) {
    first <- recorded_run(f, pair[[1]])
    compare_runs(first, recorded_run(f, pair[[2]], first$calls))
  })
  problems <- lapply(runs, `[[`, "problems")
  refused <- vapply(runs, `[[`, logical(1), "refused")
  findings <- data.frame(
    pair = rep(seq_along(problems), lengths(problems)), problem = as.character(unlist(problems))
  )
  structure(list(
    ok = nrow(findings) == 0,
    pairs = length(pairs),
    refused = sum(refused),
    calls = sum(vapply(runs, `[[`, numeric(1), "calls")),
    spent = c(
      rho = max(0, vapply(runs, `[[`, numeric(1), "rho")),
      epsilon = max(0, vapply(runs, `[[`, numeric(1), "epsilon"))
    ),
    findings = findings
  ), class = "confide_replay_audit")
}

check_pairs <- function(f, pairs, call = rlang::caller_env()) {
  if (!is.function(f)) {
    abort_parameter(c(
      "{.arg f} must be a function of one data set.",
      x = "It is {describe(f)}."
    ), call = call)
  }
  if (!is.list(pairs) || is.object(pairs) || length(pairs) == 0 || !all(lengths(pairs) == 2)) {
    abort_parameter(c(
      "{.arg pairs} must be a list of pairs of data sets.",
      i = "Make some with {.fn neighbour_pairs}."
    ), call = call)
  }
}

# Runs f with a guard at the gate that records each noisy answer or, where a record is given, gives
# the recorded answer. The value, the conditions and the calls are kept.
recorded_run <- function(f, x, record = list()) {
  calls <- list()
  guard <- function(units, query, rng) {
    place <- length(calls) + 1
    answer <- recorded_answer(record, place, query) %||% noisy_answer(units, query, rng)
    calls[[place]] <<- list(units = units, query = query, rng = rng, answer = answer)
    answer
  }
  outcome <- with_guard(guard, catch_conditions(f(x)))
  c(outcome, list(calls = calls))
}

recorded_answer <- function(record, place, query) {
  if (place <= length(record) && identical(record[[place]]$query, query)) {
    record[[place]]$answer
  }
}

catch_conditions <- function(code) {
  seen <- list()
  note <- function(condition) {
    seen[[length(seen) + 1]] <<- list(class(condition), conditionMessage(condition))
  }
  refused <- FALSE
  value <- withCallingHandlers(
    tryCatch(code, error = function(error) {
      refused <<- inherits(error, "confide_error_domain")
      note(error)
      NULL
    }),
    warning = function(warning) {
      note(warning)
      invokeRestart("muffleWarning")
    },
    message = function(message) {
      note(message)
      invokeRestart("muffleMessage")
    }
  )
  list(value = value, conditions = seen, refused = refused)
}

compare_runs <- function(first, second) {
  runs <- list(first, second)
  refused <- vapply(runs, function(run) run$refused && length(run$calls) == 0, logical(1))
  queries <- lapply(runs, function(run) lapply(run$calls, `[`, c("query", "rng")))
  list(
    problems = if (any(refused)) {
      compare_refused(runs, refused)
    } else {
      c(
        if (!identical(queries[[1]], queries[[2]])) "calls",
        if (!all_within_sensitivity(first$calls, second$calls)) "sensitivity",
        if (!identical(first$conditions, second$conditions)) "conditions",
        compare_values(first$value, second$value)
      )
    },
    refused = any(refused),
    calls = length(first$calls) + length(second$calls),
    rho = spent_in(first$calls, "rho"),
    epsilon = spent_in(first$calls, "epsilon")
  )
}

# What a refusal says must not depend on the data: no warnings before it, one text.
compare_refused <- function(runs, refused) {
  conditions <- lapply(runs[refused], `[[`, "conditions")
  silent <- all(lengths(conditions) == 1) && length(unique(conditions)) == 1
  if (!silent) "conditions"
}

all_within_sensitivity <- function(calls, other) {
  shared <- seq_len(min(length(calls), length(other)))
  all(vapply(shared, function(i) {
    same <- identical(calls[[i]]$query, other[[i]]$query)
    !same || are_neighbouring_units(calls[[i]]$units, other[[i]]$units, calls[[i]]$query)
  }, logical(1)))
}

compare_values <- function(first, second) {
  if (identical(first, second)) {
    return(NULL)
  }
  same_look <- identical(typeof(first), typeof(second)) && length(first) == length(second) &&
    identical(attributes(first), attributes(second))
  if (same_look) "result" else "attributes"
}

spent_in <- function(calls, measure) {
  budgets <- vapply(calls, function(call) query_cost(call$query, measure), numeric(1))
  if (length(budgets) > 0) sum_rounded_up(budgets) else 0
}

#' @rdname replay_audit
#' @export
neighbour_pairs <- function(like, neighbours, ..., number = 2000, values = NULL, non_finite = TRUE,
                            seed = 1) {
  check_dots_empty(...)
  check_required(like, "Give data of the type to make, such as numeric().")
  neighbours <- check_neighbours(neighbours)
  number <- check_whole_number(number, max = 1e6)
  values <- check_pair_values(values %||% hostile_values(like))
  odd <- if (isTRUE(non_finite) && is.numeric(like)) c(NA, NaN, Inf, -Inf)
  state <- start_seed(seed)
  on.exit(state$restore())
  lapply(seq_len(number), function(i) {
    neighbour_pair(like, neighbours, values, if (i %% 50 == 0) odd)
  })
}

check_pair_values <- function(values, call = rlang::caller_env()) {
  if (is.atomic(values) && !is.object(values) && length(values) > 0) {
    return(values)
  }
  abort_parameter(c(
    "There must be values to draw from.",
    x = if (length(values) == 0) "There are none." else "{.arg values} is {describe(values)}.",
    i = "Give {.arg values}, or {.arg like} with strings or levels in it."
  ), call = call)
}

# Zeros of both signs, subnormal numbers, ties of common grids, whole numbers beyond 2^53 and
# numbers whose sums overflow.
hostile_values <- function(like, call = rlang::caller_env()) {
  if (is.factor(like)) {
    return(levels(like))
  }
  if (is.logical(like)) {
    return(c(TRUE, FALSE))
  }
  if (is.character(like)) {
    return(unique(like))
  }
  if (!is_plain_numbers(like)) {
    abort_parameter(c(
      "{.arg like} must be numbers, logical values, strings or a factor.",
      x = "It is {describe(like)}."
    ), call = call)
  }
  c(
    0, -0, 1, -1, 0.1, 0.5, -0.5, 1.5, 2.5, 3, -7, 100, -100, 5e-324, 1e-300, 2^-24, 1 - 2^-53,
    1 / 3, 2^53 + 2, -2^53, 1e16, 1e300, 1e308, -1e308, .Machine$double.xmax
  )
}

# Where there are odd values, the person in whom the two differ has one on one side.
neighbour_pair <- function(like, neighbours, values, odd) {
  columns <- if (is.null(dim(like))) 1 else ncol(like)
  people <- sample(0:7, 1) + (neighbours != "add_remove" || stats::runif(1) < 0.9)
  cells <- matrix(pick(values, people * columns), people, columns)
  person <- if (people > 0) sample(people, 1)
  if (length(odd) > 0 && people > 0) {
    cells[person, 1] <- pick(odd, 1)
  }
  other <- cells
  other <- switch(neighbours,
    replace = {
      other[person, ] <- pick(values, columns)
      other
    },
    zero_out = {
      other[person, ] <- if (is.logical(cells)) FALSE else 0
      other
    },
    add_remove = if (people > 0) cells[-person, , drop = FALSE] else cells
  )
  pair <- list(like_data(cells, like), like_data(other, like))
  if (stats::runif(1) < 0.5) rev(pair) else pair
}

pick <- function(values, n) values[sample.int(length(values), n, replace = TRUE)]

like_data <- function(cells, like) {
  if (!is.null(dim(like))) {
    return(matrix(cells, nrow(cells), ncol(cells), dimnames = list(NULL, colnames(like))))
  }
  if (is.factor(like)) factor(as.vector(cells), levels = levels(like)) else as.vector(cells)
}

#' @export
format.confide_replay_audit <- function(x, ...) {
  first <- utils::head(x$findings[!duplicated(x$findings$problem), ], 5)
  c(
    sprintf(
      "<replay audit>  %s, %s", plural(x$pairs, "pair of neighbours", "pairs of neighbours"),
      plural(x$calls, "noisy answer")
    ),
    if (x$refused > 0) {
      sprintf("refused for data outside the domain, with one text: %s", format_count(x$refused))
    },
    if (any(x$spent > 0)) {
      spent <- x$spent[x$spent > 0]
      shown <- vapply(spent, format_epsilon, "")
      sprintf("one run spends %s", paste(names(spent), "=", shown, collapse = " and "))
    },
    sprintf("pair %s: %s", format(first$pair), problem_texts[first$problem]),
    if (x$ok) {
      "nothing was found to leave other than through the noise"
    } else {
      "THE DATA LEAVE OTHER THAN THROUGH THE NOISE: do not use this function"
    }
  )
}

problem_texts <- c(
  calls = "noise is asked for differently",
  sensitivity = "answers differ by more than the declared sensitivity",
  conditions = "warnings, messages or errors differ",
  result = "the result differs though the noisy answers are the same",
  attributes = "type, length or attributes of the result differ"
)
