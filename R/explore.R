#' Explore what privacy costs
#'
#' A small app with sliders: move lambda, epsilon or rho, and see at once the standard errors to
#' expect and the guarantee, beside the R code that does the same. It needs no data, only what is
#' public: the attributes and their levels. It has three pages: several attributes
#' ([mech_lambda()]), one attribute ([mech_rr()], [mech_block()]) and a mean ([plan_mean()]). In
#' RStudio it is also among the addins.
#'
#' The standard errors are those of [plan_frequencies()]: of the share of a level, or a cell, where
#' all are equally common. The code holds each number as the sliders give it, so that running it
#' makes exactly the mechanism that is shown.
#'
#' @param levels (named list, data frame of factors, or as in [mech_rr()]) The attributes to begin
#'   with; of a data frame only the levels of its factors are used. Default: an invented survey of
#'   three attributes.
#' @param ... Unused; catches misspelt arguments.
#' @param n (whole number above 0) Number of reports, or of rows, to begin with.
#' @param viewer (function, or `NULL`) Where the app is shown: a function that is given its address,
#'   such as [utils::browseURL()]. `NULL`: in the viewer of RStudio, elsewhere in the browser.
#' @returns What was shown when "Done" was pressed, invisibly: a mechanism, or a plan of
#'   [plan_mean()]. Its code is printed. "Cancel" returns `NULL`.
#' @section Errors:
#' `confide_error_parameter` for levels that [mech_lambda()] refuses, and where the packages shiny
#' and miniUI are not installed.
#' @family planning
#' @examples
#' if (interactive()) explore(adult[c("education", "sex", "income")])
#' @export
explore <- function(levels = NULL, ..., n = 1000, viewer = NULL) {
  check_dots_empty(...)
  domain <- explored_domain(levels)
  n <- check_whole_number(n)
  if (!is.null(viewer) && !is.function(viewer)) {
    abort_parameter(c(
      "{.arg viewer} must be a function of one address, or NULL.",
      x = "It is {describe(viewer)}."
    ))
  }
  check_installed(c("shiny", "miniUI"), "to show the sliders")
  app <- explore_app(domain, n)
  chosen <- shiny::runGadget(app, viewer = viewer %||% shiny::paneViewer(), stopOnCancel = FALSE)
  if (is.null(chosen)) {
    return(invisible())
  }
  writeLines(chosen$code)
  invisible(chosen$made$mechanism %||% chosen$made$plan)
}

# Sizes as in many a survey.
invented_survey <- list(
  smokes = c("no", "yes"),
  health = c("poor", "fair", "good"),
  income = c("lowest", "low", "middle", "high", "highest")
)

# The alphabets of the attributes to begin with.
explored_domain <- function(levels, call = rlang::caller_env()) {
  if (is.null(levels)) {
    levels <- invented_survey
  } else if (!is.list(levels) || inherits(levels, "confide_composite")) {
    levels <- list(answer = levels)
  }
  check_attributes(levels, call)
  new_alphabets(levels, match_na("error", names(levels)), call)
}

# The levels as code says them: labels, numbers or a count. A call, because deparse() would break a
# long vector elsewhere.
spoken_levels <- function(alphabet) {
  if (alphabet$ordered) {
    labels <- spoken_vector(alphabet$labels)
    return(rlang::call2("factor", labels, levels = labels, ordered = TRUE))
  }
  spoken_vector(if (alphabet$kind == "label") alphabet$labels else declared_levels(alphabet))
}

spoken_vector <- function(x) {
  if (length(x) > 1) rlang::call2("c", !!!x) else as.numeric(x)
}

# A slider's number, rounded so that its printed digits are all of it.
spoken_number <- function(x) {
  as.numeric(sprintf("%.6g", x))
}

# A state is what the sliders say. Its steps are calls: run, they make what is shown; deparsed, they
# are the code. So the two cannot differ.
explored_steps <- function(state) UseMethod("explored_steps")

# `by` is "epsilon" or "lambda", `values` one number for each attribute of the domain.
survey_state <- function(domain, by, values, n) {
  values <- stats::setNames(spoken_number(values), names(domain))
  structure(
    list(domain = domain, by = by, values = values, n = as.numeric(n)),
    class = "explored_survey"
  )
}

#' @exportS3Method
explored_steps.explored_survey <- function(state) {
  asked <- stats::setNames(list(rlang::call2("c", !!!state$values)), state$by)
  levels <- lapply(state$domain, spoken_levels)
  list(
    rlang::call2("<-", quote(levels), rlang::call2("list", !!!levels)),
    rlang::call2("<-", quote(mechanism), rlang::call2("mech_lambda", quote(levels), !!!asked)),
    rlang::call2("<-", quote(plan), rlang::call2(
      "plan_frequencies", quote(levels),
      n = state$n, epsilon = quote(mechanism$epsilon)
    ))
  )
}

# `kind` is "rr" or "block".
answer_state <- function(kind, alphabet, epsilon, n) {
  structure(
    list(kind = kind, alphabet = alphabet, epsilon = spoken_number(epsilon), n = as.numeric(n)),
    class = "explored_answer"
  )
}

#' @exportS3Method
explored_steps.explored_answer <- function(state) {
  constructor <- paste0("mech_", state$kind)
  list(
    rlang::call2("<-", quote(levels), spoken_levels(state$alphabet)),
    rlang::call2("<-", quote(mechanism), rlang::call2(
      constructor, quote(levels),
      epsilon = state$epsilon
    )),
    rlang::call2("<-", quote(plan), rlang::call2(
      "plan_frequencies", quote(list(answer = levels)),
      n = state$n, epsilon = state$epsilon, mechanism = state$kind
    ))
  )
}

mean_state <- function(d, rho, n, distribution) {
  structure(
    list(
      d = as.numeric(d), rho = spoken_number(rho), n = as.numeric(n), distribution = distribution
    ),
    class = "explored_mean"
  )
}

#' @exportS3Method
explored_steps.explored_mean <- function(state) {
  list(rlang::call2("<-", quote(plan), rlang::call2(
    "plan_mean", state$d,
    n = state$n, rho = state$rho, distribution = state$distribution
  )))
}

# What the steps make: the mechanism, where there is one, and the plan.
run_steps <- function(steps) {
  made <- new.env(parent = topenv())
  for (step in steps) eval(step, made)
  list(mechanism = made$mechanism, plan = made$plan)
}

# Lines of R that make the same in a new session.
explored_code <- function(steps) {
  c("library(confide)", unlist(lapply(steps, spell_step)), "plan")
}

spell <- function(expression) trimws(deparse(expression, width.cutoff = 72L), "right")

# One argument a line where one line is too short. deparse() has its own way with long vectors.
spell_step <- function(step) {
  lines <- spell(step)
  made_by <- step[[3]]
  if (length(lines) == 1 || identical(made_by[[1]], quote(c))) {
    return(lines)
  }
  arguments <- lapply(seq_along(made_by)[-1], function(i) {
    alone <- spell(as.call(c(quote(list), as.list(made_by)[i])))
    alone[[1]] <- sub("list(", "", alone[[1]], fixed = TRUE)
    last <- length(alone)
    alone[[last]] <- sub(")$", if (i < length(made_by)) "," else "", alone[[last]])
    paste0("  ", trimws(alone, "left"))
  })
  first <- sprintf("%s <- %s(", as.character(step[[2]]), as.character(made_by[[1]]))
  c(first, unlist(arguments), ")")
}

# The guarantee in a sentence.
explored_guarantee <- function(made) {
  if (is.null(made$mechanism)) {
    rho <- made$plan$rho
    return(sprintf(
      "rho = %s a row (zero-concentrated), which is epsilon = %s with delta = 1e-6",
      format_epsilon(rho), format_epsilon(zcdp_to_approx_dp(rho, 1e-6))
    ))
  }
  epsilon <- epsilon(made$mechanism)
  sprintf(
    "epsilon = %s for %s: %s", format_epsilon(epsilon),
    if (inherits(made$mechanism, "confide_lambda")) "all answers of a person" else "the answer",
    format_odds(epsilon)
  )
}

# The errors to expect, a row for each table (or part of the error), as numbers.
explored_table <- function(state, made) UseMethod("explored_table")

#' @exportS3Method
explored_table.explored_survey <- function(state, made) {
  sizes <- made$plan$levels
  epsilon <- made$mechanism$epsilon
  one_way <- lapply(names(sizes), function(name) {
    plan_frequencies(sizes[name], n = state$n, epsilon = epsilon[name])
  })
  pair <- if (length(sizes) > 2) {
    list(plan_frequencies(sizes, n = state$n, epsilon = epsilon, way = 2))
  }
  joint <- if (length(sizes) > 1) list(made$plan)
  rbind(
    plan_rows(one_way, names(sizes)),
    plan_rows(pair, "two that are hardest"),
    plan_rows(joint, "all together")
  )
}

#' @exportS3Method
explored_table.explored_answer <- function(state, made) {
  plan_rows(list(made$plan), "answer")
}

#' @exportS3Method
explored_table.explored_mean <- function(state, made) {
  plan <- made$plan
  data.frame(
    error = c("of the whole mean", paste("from", names(plan$parts)), "of each column"),
    root_mean_square = c(plan$error, plan$parts, plan$column_error),
    row.names = NULL
  )
}

# `worth`: plain answers with the same standard error.
plan_rows <- function(plans, tables) {
  if (length(plans) == 0) {
    return(NULL)
  }
  get_number <- function(get) vapply(plans, get, numeric(1))
  single <- function(values) if (length(values) == 1) values[[1]] else NA_real_
  cells <- get_number(function(plan) prod(plan$levels[plan$table]))
  data.frame(
    table = tables,
    cells = cells,
    lambda = get_number(function(plan) single(plan$lambda %||% numeric())),
    epsilon = get_number(function(plan) sum(plan$epsilon[plan$table])),
    share = 1 / cells,
    std_error = get_number(function(plan) plan$error),
    worth = get_number(function(plan) plan$n_without_privacy)
  )
}

# As it is shown.
format_explored <- function(table) {
  if (is.null(table$cells)) {
    return(data.frame(
      error = table$error, "root mean square" = format_number(table$root_mean_square, 3),
      check.names = FALSE
    ))
  }
  lambda <- ifelse(is.na(table$lambda), "", sprintf("%.3f", table$lambda))
  shown <- data.frame(
    table = table$table, cells = vapply(table$cells, format_cells, ""), lambda = lambda,
    epsilon = vapply(table$epsilon, format_epsilon, ""),
    "typical share" = vapply(signif(table$share, 3), format_percent, ""),
    "standard error" = vapply(signif(table$std_error, 3), format_percent, ""),
    "worth so many plain answers" = vapply(table$worth, format_count, ""),
    check.names = FALSE
  )
  shown[c(TRUE, TRUE, any(nzchar(lambda)), TRUE, TRUE, TRUE, TRUE)]
}

# The verdict on the plan, which is one of all attributes together.
explored_note <- function(made) {
  last <- utils::tail(format(made$plan), 1)
  if (inherits(made$plan, "confide_mean_plan")) {
    return(last)
  }
  if (!startsWith(last, "NOTE")) {
    return("")
  }
  if (made$plan$way == 1) last else sub("the error", "the error of all together", last, fixed = TRUE)
}

# The same sliders after switching between lambda and epsilon.
switch_scale <- function(values, sizes, to) {
  if (to == "lambda") lambda_of(values, sizes) else log1p(sizes * values / (1 - values))
}
