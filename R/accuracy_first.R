#' Release more only until it is accurate enough
#'
#' Releases something from the training people at increasing privacy levels, each refining the one
#' before, until a model made from it is accurate enough on other people, the validation part. The
#' accuracy check is private too. What was spent is known at the end, as an ex-post certificate: the
#' first level that was good enough, not the sum of all tried.
#'
#' @details
#' At each level of `grid`:
#'
#' 1. `refine(previous, train, epsilon)` releases from `train` so that all it has released so far
#'    has certificate at most `epsilon` at `alpha`. Typically it makes a [brownian()] when
#'    `previous` is `NULL` and otherwise calls [refine()] on it. All noise of this package that is
#'    drawn in it is counted; a level that is exceeded is an error before the noise is drawn.
#' 2. `fit(released)` makes a model from what was released. It gets the released numbers without the
#'    handle to the private ones, and may not draw noise of this package.
#' 3. `score(model, validation)` says for each validation record whether the model is right. Its
#'    entry for a record may depend on that record and on the model only; no standardizing by means
#'    of `validation`. `NA` counts as wrong: an error would tell of one person's missing value.
#' 4. The package counts \eqn{S = b \cdot right - a \cdot n} for the threshold a / b, in whole
#'    numbers, and asks privately whether \eqn{S \ge 0}. So the number of validation people need not
#'    be public: under `"add_remove"` one of them moves S by at most max(a, b - a), otherwise by b.
#'
#' `check = "svt"` (default) asks by [above_threshold()] with Laplace noise; its cost is the same
#' however many levels are tried, and only a bit is released each time. `check = "gaussian"`
#' releases S with Gaussian noise; by default the noise of each level is such that its certificates
#' so far add up to the level's, so that both parts have the same.
#'
#' A neighbour differs in one record of one part. Then the certificate of all that was released is
#' the larger of the two parts' (see [ledger()]). If one person can be in both, say `overlap =
#' TRUE`: the sum. How the people are divided matters: [split_people()].
#'
#' When no level is accurate enough the status is `"exhausted"`, and all was spent: there is no
#' "no cost" in a failure. Running again on the same data, with another threshold, seed or alpha, is
#' another release, and certificates add up: give a [ledger()]. It is charged with the worst case at
#' the start and gets back what was not needed.
#'
#' @param train,validation (data frames, matrices or vectors) The two parts, private.
#' @param refine (function of `previous`, `train`, `epsilon`) See Details; returns a release of this
#'   package.
#' @param fit (function of `released`) Makes the model.
#' @param score (function of `model`, `validation`) Returns a logical vector, one entry for each
#'   record.
#' @param ... Unused; catches misspelt arguments.
#' @param threshold (number in (0, 1), a fraction with a denominator of at most 10,000) The share
#'   of validation records that the model must get right.
#' @param grid (increasing numbers above 0) The levels: certificates at `alpha`.
#' @param alpha (number above 1) The order, fixed beforehand; see [plan_alpha()].
#' @param neighbours (string, no default) As in [private_sum()].
#' @param check (string) `"svt"` or `"gaussian"`.
#' @param check_epsilon (number above 0 or `NULL`) For `"svt"` the certificate of the check, by
#'   default the first level of `grid`. For `"gaussian"` that of each single check; `NULL`: matched
#'   to the levels.
#' @param margin (number, at least 0) How many standard deviations of the check's noise S must be
#'   above 0: a public safety margin that costs nothing.
#' @param overlap (`TRUE` or `FALSE`) Whether one person may be in both parts, or in both roles.
#' @param ledger ([ledger()] or `NULL`) Where it is charged.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @returns A release of class `confide_accuracy_first`, a list with `$status` (`"reached"` or
#'   `"exhausted"`), `$attempts`, `$model`, `$released` (what `fit` got last), `$epsilon` (the
#'   certificate at `$alpha`), `$parts` (certificates of the training and of the validation part),
#'   `$path` (data frame: a row for each attempt), `$threshold`, `$privacy`,
#'   `$keeps_environment`: whether `$model` holds an environment, as the formula of [stats::lm()]
#'   does where `fit` makes it. Such a model may hold the data: do not save or share it. Else
#'   neither data nor closures are kept. The accuracy of the model on other people is not known from
#'   this: the check is noisy, and it stopped because it looked good.
#' @section Errors:
#' `confide_error_budget` when `refine` spends more than its level, when `fit` or `score` draw
#' noise, or when the ledger cannot pay; `confide_error_domain` when both parts are the same
#' data, or `score` does not return a logical vector with an entry for each record;
#' `confide_error_parameter` otherwise. An error in `refine` or `score` may depend on the data, and
#' comes after noise was drawn: it is for who holds the data, and the ledger keeps the charge.
#' @references
#' Raisa, O., Koskela, A. and Honkela, A. (2026). Accuracy-first Renyi differential privacy and
#' post-processing immunity. \doi{10.48550/arXiv.2509.22213}
#'
#' Ligett, K., Neel, S., Roth, A., Waggoner, B. and Wu, Z. S. (2017). Accuracy first: selecting a
#' differential privacy level for accuracy-constrained ERM. *NeurIPS* 30.
#' \doi{10.48550/arXiv.1705.10829}
#' @seealso [brownian()], [split_people()], the vignette `accuracy-first`
#' @examples
#' people <- data.frame(old = adult$age > 40, rich = adult$income == ">50K")
#' parts <- split_people(people, validation = 0.2, neighbours = "add_remove")
#' cells <- function(d) c(sum(d$old & d$rich), sum(d$old & !d$rich), sum(!d$old & d$rich))
#' r <- accuracy_first(
#'   parts$train, parts$validation,
#'   refine = function(previous, train, epsilon) {
#'     if (is.null(previous)) {
#'       previous <- brownian(cells(train), sensitivity = 1, alpha = 20, whole = TRUE)
#'     }
#'     refine(previous, epsilon = epsilon)
#'   },
#'   fit = function(released) released$estimate[1] > released$estimate[2],
#'   score = function(model, validation) (validation$old & model) == validation$rich,
#'   threshold = 0.7, grid = c(0.001, 0.01, 0.1), alpha = 20, neighbours = "add_remove"
#' )
#' r
#' as_approx_dp(r, delta = 1e-6)
#' @export
accuracy_first <- function(train, validation, refine, fit, score, ..., threshold, grid, alpha,
                           neighbours, check = c("svt", "gaussian"), check_epsilon = NULL,
                           margin = 0, overlap = FALSE, ledger = NULL, rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(train, "Give the people that are learnt from.")
  check_required(validation, "Give the people that the accuracy is checked on.")
  check_required(refine, "A function of the previous release, the people and the level.")
  check_required(fit, "A function that makes a model of what was released.")
  check_required(score, "A function that says which records of the validation are right.")
  check_closures(list(refine = refine, fit = fit, score = score))
  alpha <- check_alpha(alpha)
  neighbours <- check_neighbours(neighbours)
  rng <- check_rng(rng)
  overlap <- check_flag(overlap)
  check_required(grid, "Give the levels to try, increasing.")
  plan <- plan_checks(
    check_threshold_share(threshold), check_grid(grid), alpha, neighbours,
    check_choice(check, c("svt", "gaussian")), check_epsilon, check_not_negative(margin)
  )
  check_disjoint(train, validation, overlap)
  check_split_source(train, validation, rng)
  run <- start_run(plan, overlap, ledger, rng)
  closures <- list(refine = refine, fit = fit, score = score)
  outcome <- with_run(run_attempts(run, train, validation, closures))
  settle_run(run, ledger)
  new_accuracy_first(run, outcome)
}

check_closures <- function(closures, call = rlang::caller_env()) {
  for (name in names(closures)) {
    if (!is.function(closures[[name]])) {
      abort_parameter(c(
        "{.arg {name}} must be a function.",
        x = "It is {describe(closures[[name]])}."
      ), call = call)
    }
  }
}

check_grid <- function(grid, call = rlang::caller_env()) {
  grid <- check_numbers(grid, "finite numbers above 0", function(x) is.finite(x) & x > 0,
    call = call
  )
  if (is.unsorted(grid, strictly = TRUE)) {
    abort_parameter(c(
      "{.arg grid} must increase from level to level.",
      x = "It is {.val {grid}}."
    ), call = call)
  }
  grid
}

# The threshold as a fraction a / b with b at most 10,000.
check_threshold_share <- function(threshold, call = rlang::caller_env()) {
  check_required(threshold, "The share of records that must be right.",
    arg = "threshold", call = call
  )
  if (is_finite_number(threshold) && threshold > 0 && threshold < 1) {
    b <- seq_len(1e4)
    fits <- which(abs(round(threshold * b) / b - threshold) < 1e-12)
    if (length(fits) > 0) {
      return(list(a = round(threshold * fits[[1]]), b = fits[[1]], share = as.numeric(threshold)))
    }
  }
  abort_parameter(c(
    "{.arg threshold} must be one number between 0 and 1, a fraction with denominator up to 10000.",
    x = "It is {describe(threshold)}."
  ), call = call)
}

check_disjoint <- function(train, validation, overlap, call = rlang::caller_env()) {
  if (!overlap && identical(train, validation)) {
    abort_domain(c(
      "{.arg train} and {.arg validation} must be different people, not the same data.",
      i = "With {.code overlap = TRUE} both parts' certificates add up."
    ), call = call)
  }
}

# With a fixed seed one person more moves many others to the other part.
check_split_source <- function(train, validation, rng, call = rlang::caller_env()) {
  seeded <- "r" %in% c(attr(train, "split_rng"), attr(validation, "split_rng"))
  if (seeded && rng == "os" && !is_audited()) {
    abort_parameter(c(
      "{.arg train} and {.arg validation} must be split by the operating system's randomness.",
      x = "{.fn split_people} had {.code rng = \"r\"}, which is for simulations.",
      i = "Split again without it, or give {.code rng = \"r\"} here too."
    ), call = call)
  }
}

# How far one record moves S, and the noise of the checks.
plan_checks <- function(share, grid, alpha, neighbours, check, check_epsilon, margin,
                        call = rlang::caller_env()) {
  moved <- if (neighbours == "add_remove") max(share$a, share$b - share$a) else share$b
  plan <- list(
    share = share, grid = grid, alpha = alpha, neighbours = neighbours, check = check,
    margin = margin, moved = moved
  )
  if (!is.null(check_epsilon)) {
    check_epsilon <- check_positive(check_epsilon, arg = "check_epsilon", call = call)
  }
  if (check == "svt") {
    plan$pure <- pure_for_cost(alpha, check_epsilon %||% grid[[1]])
    plan$worst_check <- pure_cost(alpha, plan$pure)
    laplace_threshold(plan$pure, moved, 1, FALSE, neighbours, call) # refusals come before a charge
    plan$start <- margin_start(margin, plan$pure, moved, call)
    return(plan)
  }
  steps <- if (is.null(check_epsilon)) diff(c(0, grid)) else rep(check_epsilon, length(grid))
  plan$queries <- lapply(steps / alpha * (1 - 2^-46), function(rho) {
    query <- threshold_query("gaussian", rho, moved, neighbours)
    query$covered <- NULL
    query
  })
  plan$noise <- lapply(plan$queries, plan_noise, call = call)
  plan$worst_check <- outward(alpha * sum_rounded_up(
    vapply(plan$noise, `[[`, numeric(1), "realised")
  ))
  plan
}

# S is asked for against ceiling(margin * noise sd) of threshold and question together.
margin_start <- function(margin, pure, moved, call) {
  scales <- moved / (pure / c(2, 4))
  start <- ceiling(margin * sqrt(2 * sum(scales^2)))
  if (start > 2^52) {
    abort_parameter(c(
      "{.arg margin} times the standard deviation of the check's noise must be at most 2^52.",
      x = "It is {format(start)}."
    ), call = call)
  }
  start
}

# The largest pure epsilon with this cost.
pure_for_cost <- function(alpha, cost) {
  upper <- max(1, 2 * cost + sqrt(2 * cost))
  while (pure_cost(alpha, upper) < cost) upper <- 2 * upper
  found <- smallest_true(0, upper, function(epsilon) pure_cost(alpha, epsilon) > cost)
  found * (1 - 2^-50)
}

# Certificates of steps are each rounded up, so their sum may end a little above the level.
level_slack <- 1 + 2^-40

# The run's own ledger counts the two parts; the user's pays for the worst case beforehand.
start_run <- function(plan, overlap, ledger, rng, call = rlang::caller_env()) {
  own <- new_ledger(plan$alpha, plan$neighbours, Inf)
  worst_train <- max(plan$grid) * level_slack
  worst <- if (overlap) {
    sum_rounded_up(c(worst_train, plan$worst_check))
  } else {
    max(worst_train, plan$worst_check)
  }
  statement <- list(
    alpha = plan$alpha, epsilon = worst, neighbours = plan$neighbours, rng = rng
  )
  charge_before_noise(ledger, statement, "accuracy_first", call)
  list(
    plan = plan, own = own, rng = rng, worst = worst, charged = !is.null(ledger),
    parts = if (overlap) c(train = "", validation = "") else
      c(train = "train", validation = "validation"),
    counted = new.env(parent = emptyenv())
  )
}

# Counts a statement for one part; up to `limit` for that part.
count_for <- function(run, part, limit) {
  function(statement) {
    check_run_source(statement$rng %||% "os", run$rng)
    check_chargeable(run$own, list(neighbours = statement$neighbours))
    cost <- privacy_cost(statement, run$plan$alpha)
    would_be <- sum_rounded_up(c(run$counted[[part]], cost))
    if (would_be > limit * level_slack) {
      abort_budget(c(
        "{.arg refine} may spend no more than its level.",
        x = paste(
          "This step would take it to {format_epsilon(would_be)};",
          "the level is {format_epsilon(limit)}."
        ),
        i = "Refine what was released before; fresh noise at each level adds up."
      ))
    }
    assign(part, c(run$counted[[part]], cost), envir = run$counted)
    charge_entry(run$own, cost, part, run$parts[[part]])
  }
}

check_run_source <- function(source, rng) {
  if (source != rng && !is_audited()) {
    abort_parameter(c(
      "All noise of a run must come from one source.",
      x = "{.fn accuracy_first} has {.code rng = \"{rng}\"}, a closure {.code \"{source}\"}."
    ))
  }
}

refuse_noise_here <- function(statement) {
  abort_budget(c(
    "{.arg fit} and {.arg score} may not draw noise of this package.",
    i = "Only {.arg refine} releases; they work on what was released."
  ))
}

run_attempts <- function(run, train, validation, closures) {
  plan <- run$plan
  threshold <- if (plan$check == "svt") {
    with_meter(count_for(run, "validation", plan$worst_check), start_check(run))
  }
  previous <- NULL
  path <- NULL
  for (k in seq_along(plan$grid)) {
    previous <- with_meter(
      count_for(run, "train", plan$grid[[k]]),
      from_closure("refine", closures$refine(previous, train, plan$grid[[k]]))
    )
    check_released(previous)
    check_counted(previous, run)
    released <- without_handle(previous)
    correct <- with_meter(refuse_noise_here, {
      model <- from_closure("fit", closures$fit(released))
      from_closure("score", closures$score(model, validation))
    })
    check_score(correct, validation)
    excess <- plan$share$b * sum(correct, na.rm = TRUE) - plan$share$a * length(correct)
    answer <- private_check(run, threshold, excess, k)
    threshold <- answer$threshold
    path <- rbind(path, attempt_row(run, k, answer))
    if (answer$reached) break
  }
  list(model = model, released = released, path = path, reached = answer$reached)
}

# The text of an error of the user's functions may hold private values. Ours never do.
from_closure <- function(name, code, call = rlang::caller_env(2)) {
  tryCatch(code, error = function(error) {
    if (inherits(error, "confide_error")) {
      stop(error)
    }
    abort_domain(c(
      "{.arg {name}} stopped with an error.",
      x = "Its text is not shown: it may hold private values.",
      i = "Call the function by itself with arguments of this kind to see it."
    ), call = call)
  })
}

start_check <- function(run) {
  plan <- run$plan
  above_threshold(
    plan$start, plan$moved,
    epsilon = plan$pure, monotone = FALSE, neighbours = plan$neighbours, rng = run$rng
  )
}

private_check <- function(run, threshold, excess, k) {
  if (!is.null(threshold)) {
    threshold <- ask(threshold, excess)
    return(list(threshold = threshold, reached = threshold$halted, noisy = NA_real_, sd = NA_real_))
  }
  query <- run$plan$queries[[k]]
  noisy <- with_meter(
    count_for(run, "validation", Inf),
    release_units(count_units(excess), query, run$rng)
  )
  sd <- run$plan$noise[[k]]$noise_sd
  list(threshold = NULL, reached = noisy >= run$plan$margin * sd, noisy = noisy, sd = sd)
}

# In records: how many more are right than the threshold asks for.
attempt_row <- function(run, k, answer) {
  parts <- run_parts(run)
  data.frame(
    attempt = k, level = run$plan$grid[[k]], train = parts[["train"]],
    validation = parts[["validation"]], epsilon = ledger_spent(run$own$handle),
    reached = answer$reached, excess = answer$noisy / run$plan$share$b,
    excess_sd = answer$sd / run$plan$share$b
  )
}

run_parts <- function(run) {
  vapply(c(train = "train", validation = "validation"), function(part) {
    sum_rounded_up(c(0, run$counted[[part]]))
  }, numeric(1))
}

check_released <- function(released, call = rlang::caller_env()) {
  carries <- !is.null(tryCatch(privacy(released), confide_error = function(error) NULL))
  if (!carries) {
    abort_parameter(c(
      "{.arg refine} must return a release of this package.",
      x = "It returned {describe(released)}.",
      i = "For example the object that {.fn refine} gives for one of {.fn brownian}."
    ), call = call)
  }
}

# What was drawn elsewhere, in another process or before the run, is not in its certificate.
check_counted <- function(released, run, call = rlang::caller_env()) {
  statement <- privacy(released)
  check_run_source(statement$rng %||% "os", run$rng)
  counted <- sum_rounded_up(c(0, run$counted$train))
  if (privacy_cost(statement, run$plan$alpha, call) > counted * level_slack) {
    abort_budget(c(
      "{.arg refine} must release within the run.",
      x = "It returned a release that cost more than was counted here.",
      i = "What was released before, or in another process, has a certificate of its own."
    ), call = call)
  }
}

without_handle <- function(released) {
  if (!is.list(released)) {
    return(released)
  }
  released$handle <- NULL
  released$ledger <- NULL
  if (is.null(released$seal)) released else sealed(released)
}

check_score <- function(correct, validation, call = rlang::caller_env()) {
  records <- if (length(dim(validation)) == 2) nrow(validation) else length(validation)
  plain <- is.logical(correct) && is.null(dim(correct))
  if (!plain || length(correct) != records) {
    abort_domain(c(
      "{.arg score} must return TRUE or FALSE for each validation record.",
      i = "A prediction that cannot be made is {.code NA} or FALSE; both count as wrong."
    ), call = call)
  }
}

settle_run <- function(run, ledger) {
  # rounded towards the claim
  unused <- run$worst * (1 - 2^-50) - ledger_spent(run$own$handle)
  if (!is.null(ledger) && unused > 0) {
    ledger_refund(ledger$handle, "accuracy_first", "", unused)
  }
}

new_accuracy_first <- function(run, outcome) {
  plan <- run$plan
  epsilon <- ledger_spent(run$own$handle)
  sealed(structure(list(
    status = if (outcome$reached) "reached" else "exhausted",
    attempts = nrow(outcome$path),
    model = outcome$model,
    released = outcome$released,
    epsilon = epsilon,
    alpha = plan$alpha,
    parts = run_parts(run),
    path = outcome$path,
    threshold = plan$share$share,
    check = plan$check,
    grid = plan$grid,
    overlap = run$parts[["train"]] == "",
    keeps_environment = holds_environment(outcome$model),
    privacy = expost_statement(
      plan$alpha, epsilon, NULL, plan$neighbours, "that of the releases and of the check",
      run$charged, run$rng
    )
  ), class = c("confide_accuracy_first", "confide_expost", "confide_release")))
}

# Formulas and functions made inside a function hold all that it saw.
holds_environment <- function(x) {
  if (is.function(x)) {
    x <- environment(x)
  }
  if (is.environment(x)) {
    return(!identical(x, globalenv()) && !isNamespace(x) && !identical(x, emptyenv()))
  }
  parts <- c(attributes(x), if (is.list(x)) unclass(x))
  any(vapply(parts, holds_environment, logical(1)))
}

#' @export
coef.confide_accuracy_first <- function(object, ...) {
  check_dots_empty(...)
  object$released$estimate
}

#' @export
as.data.frame.confide_accuracy_first <- function(
    x,
    row.names = NULL, # nolint: object_name_linter. Generic's.
    optional = FALSE, ...) {
  check_dots_empty(...)
  x$path
}

#' @export
tidy.confide_accuracy_first <- function(x, ...) {
  check_dots_empty(...)
  x$path
}

#' @export
glance.confide_accuracy_first <- function(x, ...) {
  check_dots_empty(...)
  data.frame(
    status = x$status, attempts = x$attempts, epsilon = x$epsilon, alpha = x$alpha,
    train = x$parts[["train"]], validation = x$parts[["validation"]], rng = x$privacy$rng
  )
}

#' @export
summary.confide_accuracy_first <- function(object, ...) {
  check_dots_empty(...)
  object
}

#' @export
vcov.confide_accuracy_first <- function(object, ...) {
  check_dots_empty(...)
  refuse_uncertainty()
}

#' @export
confint.confide_accuracy_first <- function(object, parm, level = 0.95, ...) refuse_uncertainty()

refuse_uncertainty <- function(call = rlang::caller_env()) {
  abort_parameter(c(
    "A run of {.fn accuracy_first} has no standard errors.",
    i = "It stopped because the check looked good; its release is in {.code $released}."
  ), call = call)
}

#' @export
format.confide_accuracy_first <- function(x, ...) {
  c(
    paste0("<accuracy first>  ", format_guarantee(x$privacy)),
    sprintf(
      "%s at level %s of %s: the noisy check %s %s right in validation", x$status, x$attempts,
      length(x$grid), if (x$status == "reached") "passed" else "never passed",
      format_percent(x$threshold)
    ),
    sprintf(
      "epsilon is %s of training %s and validation %s",
      if (x$overlap) "the sum" else "the larger",
      format_epsilon(x$parts[["train"]]), format_epsilon(x$parts[["validation"]])
    ),
    sprintf(
      "so (epsilon = %s, delta = 1e-06), by the hockey stick",
      format_epsilon(as_approx_dp(x, delta = 1e-6))
    ),
    "epsilon is random: it is what this run spent, and holds for what it put out",
    if (x$status == "exhausted") {
      "NOT ACCURATE ENOUGH at any level; what was spent is spent"
    } else {
      "the check is noisy: the accuracy itself may lie below the threshold"
    },
    "another run on the same data adds its own certificate",
    if (x$keeps_environment) {
      "NOTE: $model holds an environment of your functions, which may hold the data"
    },
    format_protects(x$privacy),
    format_rng(x$privacy$rng)
  )
}
