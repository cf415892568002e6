#' Compare private means on contaminated data
#'
#' A simulation study: every method on every combination of distribution, number of columns and
#' rows, budget, share of outliers and their placement. It can be interrupted and taken up again,
#' run on several cores or a cluster, and gives the same numbers however it is run.
#'
#' The true centre is 1 in each column; methods start at 0. The error is the distance of the
#' estimate from the true centre in whitened units,
#' \eqn{\sqrt{(m - \mu)' \Sigma^{-1} (m - \mu)}}. All methods of a repetition see the same data, and
#' all budgets the same data too.
#'
#' @section Distributions:
#' `"gaussian"`; `"t3"` and `"cauchy"`, elliptical with the tails of Student's t with 3 degrees of
#' freedom and with 1; `"banana"`, normal with the second column bent by the first (Ramsay et al.
#' 2026). Or functions of n and d that draw a matrix with n rows, centre 0 and unit scatter.
#' @section Placements:
#' With d columns, in whitened units from the centre:
#' * `"far"`: all outliers at one place at distance 30 sqrt(d).
#' * `"shell"`: at one place at distance sqrt(d), where the good records are.
#' * `"clusters"`: five places at distance 30 sqrt(d).
#' * `"hidden2"`, `"hidden4"`: normal around a place at distance 2 or 4, but without spread in its
#'   direction.
#' * `"folded"`: absolute values of normal records, times 3.
#' * `"start"`: at 0, where the methods start.
#' * `"mild"`: as in Ramsay et al. (2026) normal with three times the covariance around a place at
#'   distance 2 in the units of the data; each record is an outlier by chance.
#'
#' Or functions of the number of outliers, d and the root L of the scatter matrix, that draw a
#' matrix of outliers in whitened units.
#' @section In parallel:
#' Cells are computed by [future::future()]. Choose how with [future::plan()], for example
#' `future::plan("multisession", workers = 2)`, or `future.batchtools::batchtools_slurm` on a
#' cluster. Without the package future, or with its default plan, cells are computed one after
#' the other. Each finished cell is saved, by the calling session, if a `directory` is given; a
#' second call with the same `directory` and `seed` computes only what is missing. Results are
#' recognised by their settings and the names of methods, distributions and placements: give a
#' changed function a new name.
#'
#' @param methods (strings, or a named list) Methods of [private_mean()], `"sample_mean"` or
#'   `"geometric_median"`, the last two not private; in a named list also functions of `x`, `rho`
#'   and `sigma` (the scatter matrix) that return an estimate, or an object with `coef()`. The first
#'   is what others are compared with.
#' @param ... Unused; catches misspelt arguments.
#' @param distribution (strings, or a named list of functions) See *Distributions*.
#' @param d,n (whole numbers above 0) Numbers of columns and of rows.
#' @param rho (numbers above 0) Budgets: zero-concentrated differential privacy, one row replaced.
#' @param contamination (numbers in [0, 1)) Shares of records that are replaced by outliers.
#' @param placement (strings, or a named list of functions) See *Placements*.
#' @param scatter (`"identity"` or `"random"`) The scatter matrix: I, or for each repetition
#'   B B' / d + 0.2 I with standard normal entries of B. It is given to the methods.
#' @param repetitions (whole number above 0) Data sets of each cell.
#' @param seed (whole number, at least 0) Decides all random numbers. R's generator is left as it
#'   was.
#' @param directory (string or `NULL`) Where results are kept; made if it does not exist.
#' @returns A data frame of class `confide_study` with a row for each cell, method and repetition:
#'   `distribution`, `d`, `n`, `rho`, `contamination`, `placement` (`"none"` without contamination),
#'   `method`, `repetition`, `error`, and `problem`: why a method gave no estimate (its error is
#'   then `NA`), else `NA`. See [study-methods] for `summary()`, plots and comparisons.
#' @section Errors:
#' `confide_error_parameter` for arguments outside their range, a method without a name, and files
#' in `directory` that are not results.
#' @references
#' Ramsay, K. et al. (2026). Computationally tractable robust differentially private mean
#' estimation. \doi{10.48550/arXiv.2606.12654}
#' @seealso [study-methods], [private_mean()], [plan_mean()]
#' @examples
#' clipped <- function(x, rho, sigma) {
#'   coef(private_sum(x, 10, rho, neighbours = "replace", rng = "r")) / nrow(x)
#' }
#' study <- contamination_study(
#'   list(clipped = clipped, mean = "sample_mean"),
#'   d = 2, n = 200, contamination = c(0, 0.1), repetitions = 10
#' )
#' study
#' summary(study)
#' @export
contamination_study <- function(methods, ..., distribution = "gaussian", d = c(2, 8), n = 1000,
                                rho = 1, contamination = c(0, 0.1), placement = "far",
                                scatter = c("identity", "random"), repetitions = 30, seed = 1,
                                directory = NULL) {
  check_dots_empty(...)
  check_required(methods, "Give names of methods, or a named list of functions.")
  methods <- study_methods(methods)
  repetitions <- check_whole_number(repetitions, max = 1e6)
  d <- check_whole_numbers(d, 1e4)
  n <- check_whole_numbers(n, 2^31)
  check_study_size(n, d)
  cells <- study_cells(
    named_choices(distribution, study_distributions),
    d, n,
    check_numbers(rho, "above 0", function(x) x > 0 & is.finite(x)),
    check_numbers(contamination, "at least 0 and below 1", function(x) x >= 0 & x < 1),
    named_choices(placement, study_placements),
    check_choice(scatter, names(study_scatters)),
    check_whole_number(seed, min = 0, max = 2^31 - 1)
  )
  store <- study_store(directory)
  found <- run_cells(cells, methods, repetitions, store)
  new_study(cells, found, names(methods), repetitions)
}

# Arguments ------------------------------------------------------------------

# The data of a cell are simulated in memory, and methods copy them.
check_study_size <- function(n, d, call = rlang::caller_env()) {
  if (max(n) * max(d) > 2^28) {
    abort_parameter(c(
      "{.arg n} times {.arg d} must be at most 2^28 numbers, 2 GB.",
      x = "The largest is {max(n)} times {max(d)}.",
      i = "Take fewer rows or fewer columns."
    ), call = call)
  }
}

study_methods <- function(methods, call = rlang::caller_env()) {
  references <- list(sample_mean = sample_mean, geometric_median = geometric_median)
  known <- c(references, lapply(stats::setNames(nm = mean_methods), private_method))
  named_choices(methods, known, "methods", call)
}

private_method <- function(method) {
  force(method)
  function(x, rho, sigma) private_mean(x, rho, method = method, sigma = sigma, rng = "r")
}

# Strings, or a named list of strings and functions: functions with their names.
named_choices <- function(x, known, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (is.character(x) && is.null(names(x))) {
    names(x) <- x
  }
  x <- as.list(x)
  if (!has_distinct_names(x)) {
    abort_parameter(c(
      "{.arg {arg}} must be names, or a list of functions with distinct names.",
      i = "Known are {.val {names(known)}}."
    ), call = call)
  }
  lapply(x, function(choice) {
    if (is.function(choice)) choice else known[[check_choice(choice, names(known), arg, call)]]
  })
}

check_whole_numbers <- function(x, max, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  whole <- function(x) is.finite(x) & x == round(x) & x >= 1 & x <= max
  range <- paste("whole numbers from 1 to", format_count(max))
  check_numbers(x, range, whole, arg = arg, call = call)
}

# One list for each cell. Without contamination there is no placement.
study_cells <- function(distribution, d, n, rho, contamination, placement, scatter, seed) {
  grid <- expand.grid(
    placement = names(placement), contamination = unique(contamination), rho = unique(rho),
    n = unique(n), d = unique(d), distribution = names(distribution), stringsAsFactors = FALSE
  )
  grid$placement[grid$contamination == 0] <- "none"
  grid <- unique(grid)
  lapply(seq_len(nrow(grid)), function(row) {
    cell <- as.list(grid[row, ])
    cell$scatter <- scatter
    cell$data <- sprintf(
      "%s_d%s_n%s_%s%s_%s_seed%s", cell$distribution, plain_text(cell$d), plain_text(cell$n),
      cell$placement, plain_text(cell$contamination), scatter, plain_text(seed)
    )
    cell$key <- sprintf("%s_rho%s", cell$data, plain_text(cell$rho))
    cell$draw <- distribution[[cell$distribution]]
    cell$place <- placement[[cell$placement]]
    cell
  })
}

plain_text <- function(x) format(x, digits = 15, scientific = FALSE, trim = TRUE)

# Cells ------------------------------------------------------------------------

# The repetitions of a cell that `known` does not hold yet, for the methods that lack them.
run_cell <- function(cell, methods, repetitions, known) {
  done <- split(known$repetition, factor(known$method, names(methods)))
  rows <- lapply(seq_len(repetitions), function(repetition) {
    lacking <- methods[!vapply(done, function(had) repetition %in% had, logical(1))]
    if (length(lacking) > 0) run_repetition(cell, lacking, repetition)
  })
  do.call(rbind, c(list(known), rows))
}

run_repetition <- function(cell, methods, repetition) {
  data <- with_stream(cell$data, repetition, draw_study_data(cell))
  found <- lapply(names(methods), function(name) {
    stream <- paste(cell$key, name)
    with_stream(stream, repetition, try_method(methods[[name]], cell, data))
  })
  data.frame(
    method = names(methods), repetition = repetition,
    error = vapply(found, `[[`, numeric(1), "error"),
    problem = vapply(found, `[[`, character(1), "problem")
  )
}

# A method that fails is part of the result.
try_method <- function(method, cell, data) {
  tryCatch(
    {
      estimate <- method(data$x, cell$rho, data$sigma)
      list(error = whitened_error(estimate, data), problem = NA_character_)
    },
    error = function(error) list(error = NA_real_, problem = first_line(error))
  )
}

whitened_error <- function(estimate, data) {
  if (!is.numeric(estimate)) estimate <- stats::coef(estimate)
  estimate <- as.numeric(estimate)
  if (length(estimate) != ncol(data$x) || !all(is.finite(estimate))) {
    stop("The estimate is not one finite number for each column.", call. = FALSE)
  }
  sqrt(sum(forwardsolve(data$root, estimate - 1)^2))
}

first_line <- function(error) {
  cli::ansi_strip(strsplit(conditionMessage(error), "\n", fixed = TRUE)[[1]][[1]])
}

# All cells, each saved as soon as it is there.
run_cells <- function(cells, methods, repetitions, store) {
  known <- lapply(cells, store$read)
  bar <- cli::cli_progress_bar("Contamination study", total = length(cells))
  finish <- function(cell, rows) {
    store$write(cell, rows)
    cli::cli_progress_update(id = bar)
    rows
  }
  tasks <- Map(function(cell, known) {
    list(cell = cell, methods = methods, repetitions = repetitions, known = known)
  }, cells, known)
  found <- if (runs_elsewhere()) run_futures(tasks, finish) else run_here(tasks, finish)
  cli::cli_progress_done(id = bar)
  found
}

run_here <- function(tasks, finish) {
  lapply(tasks, function(task) finish(task$cell, do.call(run_cell, task)))
}

runs_elsewhere <- function() {
  rlang::is_installed("future") && !inherits(future::plan(), "sequential")
}

# As many futures as there are workers; results are saved by this session, so that workers need no
# common file system.
run_futures <- function(tasks, finish) {
  found <- vector("list", length(tasks))
  waiting <- seq_along(tasks)
  running <- list()
  needed <- method_globals(tasks[[1]]$methods)
  while (length(waiting) > 0 || length(running) > 0) {
    while (length(waiting) > 0 && length(running) < future::nbrOfWorkers()) {
      next_task <- waiting[[1]]
      running[[as.character(next_task)]] <- start_future(tasks[[next_task]], needed)
      waiting <- waiting[-1]
    }
    ready <- names(running)[vapply(running, future::resolved, logical(1))]
    for (name in ready) {
      task <- as.integer(name)
      found[[task]] <- finish(tasks[[task]]$cell, future::value(running[[name]]))
    }
    running <- running[setdiff(names(running), ready)]
    if (length(ready) == 0) Sys.sleep(0.02)
  }
  found
}

# Random numbers come from streams of the cell, hence no seed of future's.
start_future <- function(task, needed) {
  future::future(
    do.call(run_cell, task),
    globals = c(needed$globals, list(run_cell = run_cell, task = task)),
    packages = c("confide", needed$packages), seed = NULL
  )
}

# What the users' functions use of their surroundings.
method_globals <- function(methods) {
  found <- lapply(methods, function(method) {
    surroundings <- rlang::env(environment(method) %||% globalenv(), method = method)
    future::getGlobalsAndPackages(quote(method()), envir = surroundings)
  })
  globals <- do.call(c, lapply(unname(found), function(one) as.list(one$globals)))
  list(
    globals = globals[setdiff(unique(names(globals)), "method")],
    packages = unique(unlist(lapply(found, `[[`, "packages")))
  )
}

# Saved results ------------------------------------------------------------------

no_results <- data.frame(
  method = character(), repetition = numeric(), error = numeric(), problem = character()
)

# How to read and write the results of a cell.
study_store <- function(directory, call = rlang::caller_env()) {
  if (is.null(directory)) {
    return(list(read = function(cell) no_results, write = function(cell, rows) NULL))
  }
  if (!is_text(directory)) {
    abort_parameter(c(
      "{.arg directory} must be one path, or NULL.", x = "It is {describe(directory)}."
    ), call = call)
  }
  # R without readline is killed by a path that its buffer does not hold
  fits <- nchar(directory, "bytes") <= 1000
  if (!fits || !(dir.exists(directory) || dir.create(directory, FALSE, recursive = TRUE))) {
    abort_parameter(c(
      paste(
        "{.arg directory} must be a directory, or a path where one can be made,",
        "of at most 1,000 bytes."
      ),
      x = "It is {describe(directory)}."
    ), call = call)
  }
  path <- function(cell) {
    file.path(directory, paste0(gsub("[^A-Za-z0-9._-]", "-", cell$key), ".rds"))
  }
  list(
    read = function(cell) read_results(path(cell), call),
    write = function(cell, rows) write_results(rows, path(cell))
  )
}

read_results <- function(path, call) {
  if (!file.exists(path)) {
    return(no_results)
  }
  rows <- tryCatch(readRDS(path), error = function(error) NULL)
  if (!is.data.frame(rows) || !identical(names(rows), names(no_results))) {
    abort_parameter(c(
      "The files in {.arg directory} must be those of earlier studies.",
      x = "{.file {path}} is not.",
      i = "Delete it, or choose another directory."
    ), call = call)
  }
  rows
}

# Whole or not at all, also when the session ends in between.
write_results <- function(rows, path) {
  draft <- paste0(path, ".part")
  saveRDS(rows, draft)
  file.rename(draft, path)
}

new_study <- function(cells, found, methods, repetitions) {
  settings <- c("distribution", "d", "n", "rho", "contamination", "placement")
  rows <- Map(function(cell, rows) {
    rows <- rows[rows$method %in% methods & rows$repetition <= repetitions, , drop = FALSE]
    rows <- rows[order(match(rows$method, methods), rows$repetition), , drop = FALSE]
    data.frame(cell[settings], rows, row.names = NULL)
  }, cells, found)
  rows <- do.call(rbind, rows)
  rows$method <- factor(rows$method, methods)
  rownames(rows) <- NULL
  structure(rows, class = c("confide_study", "data.frame"))
}
