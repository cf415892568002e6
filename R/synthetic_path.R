# Synthetic data whose noise shrinks on demand: the tree is chosen in the first step, and its tables
# are refined by the Brownian mechanism, those of single columns and those of pairs in the
# proportion that `split` says. The certificate is that of the choices and of the last noise (Raisa,
# Koskela and Honkela 2026).

path_budget <- function(rho, epsilon, alpha, call = rlang::caller_env()) {
  alpha <- check_alpha(alpha, call = call)
  if (!is.null(rho) || is.null(epsilon)) {
    abort_parameter(c(
      "With {.arg alpha} the budget is {.arg epsilon}, the certificate at that order.",
      x = if (is.null(epsilon)) "It is missing." else "{.arg rho} is given too.",
      i = "A rho is {.code epsilon / alpha}."
    ), call = call)
  }
  epsilon <- check_epsilon(epsilon, zero = FALSE, call = call)
  list(law = "gaussian", value = spendable(epsilon / alpha), alpha = alpha)
}

start_path <- function(model, plan, rows, alpha, ledger, rng, call = rlang::caller_env()) {
  for (part in list(plan$single, plan$pairs)) check_first_step(part, plan$neighbours, call)
  charge_before_noise(ledger, path_charge(plan$realised, plan, rng), "synthesize", call)
  released <- release_tables(model, plan, rows, rng, function(tables, part) {
    start_tables(tables, part, plan$neighbours, alpha, rng)
  })
  path <- structure(
    c(model[c("columns", "label", "features", "choose")], list(
      alpha = alpha, neighbours = plan$neighbours, rng = rng, ledger = ledger,
      choices = c(0, plan$choices$realised), shares = path_shares(plan),
      handle = list(single = released$single$handle, pairs = released$pairs$handle),
      released = released[c("shape", "public_rows")]
    )),
    class = c("confide_synthetic_path", "confide_expost", "confide_synthetic")
  )
  renew_path(path, NULL)
}

path_charge <- function(rho, x, rng) {
  list(expost_rho = rho, neighbours = x$neighbours, rng = release_source(rng))
}

path_shares <- function(plan) {
  cost <- c(single = sum(plan$single$realised), pairs = sum(plan$pairs$realised))
  cost / sum(cost)
}

# A plan at the very limit of what noise can serve may be rounded below it on the way to the handle:
# refused before the charge.
check_first_step <- function(part, neighbours, call) {
  if (!is.null(part)) {
    table <- list(sensitivity = table_sensitivity(neighbours), whole = TRUE, dimension = 2)
    plan_noise(answer_query(table, part$realised[[1]] * (1 - 2^-44), neighbours), call)
  }
}

# One row more changes one cell of each table by 1, another row in the place of one changes two.
table_sensitivity <- function(neighbours) sqrt(if (neighbours == "replace") 2 else 1)

# The handles of the exact tables after their first step.
start_tables <- function(tables, part, neighbours, alpha, rng) {
  if (is.null(part)) {
    return(unmeasured(tables))
  }
  counts <- lapply(tables, units_as_numbers)
  names(counts) <- seq_along(counts)
  handle <- owned(brownian(
    counts, table_sensitivity(neighbours), alpha,
    whole = TRUE, neighbours = neighbours, rng = rng
  ))
  read_tables(carry_out(handle, plan_refinement(handle, alpha * sum(part$realised))))
}

read_tables <- function(handle) {
  list(
    values = unlist(handle$estimate, use.names = FALSE), precision = unname(1 / handle$sigma^2),
    handle = handle
  )
}

# What follows from the handles; `start` is the earlier model, where the fit begins.
renew_path <- function(path, start) {
  read <- lapply(path$handle, function(handle) if (!is.null(handle)) read_tables(handle))
  path$released$measured <- combine_measured(c(path$released, read))
  fitted <- fit_model(path, path$released, "gaussian", start)
  path[names(fitted)] <- fitted
  steps <- path_steps(path)
  path$rho <- sum_rounded_up(unlist(steps))
  path$epsilon <- outward(path$alpha * path$rho)
  path$spent <- data.frame(
    part = names(steps),
    tables = c(length(path$choices) - 1L, lengths(lapply(read, `[[`, "precision"))),
    cost = path$alpha * vapply(steps, sum, numeric(1)), row.names = NULL
  )
  path$spent <- path$spent[path$spent$cost > 0, ]
  path$privacy <- expost_statement(
    path$alpha, path$epsilon, path$rho, path$neighbours,
    "exact discrete Gaussian increments on counts, exact choices", !is.null(path$ledger), path$rng
  )
  sealed(path)
}

path_steps <- function(path) {
  list(
    tree = path$choices, single = c(0, path$handle$single$steps),
    pairs = c(0, path$handle$pairs$steps)
  )
}

#' @rdname synthesize
#' @export
refine.confide_synthetic_path <- function(object, ..., epsilon) {
  check_dots_empty(...)
  check_required(epsilon, "Give the certificate to reach, in all.")
  epsilon <- check_epsilon(epsilon, zero = FALSE)
  check_unaltered(object)
  fresh <- spendable(epsilon / object$alpha) - object$rho
  if (fresh <= 0) {
    abort_parameter(c(
      "{.arg epsilon} must be above the certificate so far.",
      x = "It is {format(epsilon)}, the certificate {format_epsilon(object$epsilon)}."
    ))
  }
  handles <- Filter(Negate(is.null), object$handle)
  if (length(handles) == 0) {
    abort_parameter(c(
      "This synthetic data set was parted from the exact tables; it cannot be refined.",
      i = "Refine the object that {.fn synthesize} or {.fn refine} returned."
    ))
  }
  lapply(handles, check_handle, what = "synthesize", call = environment())
  planned <- lapply(names(handles), function(part) {
    target <- object$alpha * (handles[[part]]$rho + object$shares[[part]] * fresh)
    plan_refinement(handles[[part]], target, call = environment())
  })
  rho <- sum_rounded_up(vapply(planned, `[[`, numeric(1), "rho"))
  charge_before_noise(object$ledger, path_charge(rho, object, object$rng), "synthesize")
  object$handle[names(handles)] <- Map(carry_out, handles, planned)
  renew_path(object, object$potentials)
}
