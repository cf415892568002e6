# The only way out for central releases: private integers go in, their sum with exact noise comes
# out, or which of them the exponential mechanism chose (kind "choice"). `units` holds the integers,
# eight bytes each, or the records where a private sample of them is drawn too (kind "gradients");
# `query` holds the public arguments, from which the noise and its grid follow. Kind "order" is a
# random order of row numbers and takes no integers: it passes here so that a replay audit, which
# may stand at the gate, gives neighbours the same one.
release_units <- function(units, query, rng, call = rlang::caller_env()) {
  if (is_metered() && !isTRUE(query$covered)) {
    meter(query_statement(query, rng))
  }
  if (is.null(noise_gate$guard)) {
    return(noisy_answer(units, query, rng, call))
  }
  noise_gate$guard(units, query, rng)
}

# Whether a replay audit runs now, and who counts what is spent.
noise_gate <- new.env(parent = emptyenv())

# All noise drawn while `code` runs is counted by `count`, a function of a statement of privacy, and
# by those that count already: a run inside another's closure costs both. A query with `covered =
# TRUE` is part of a mechanism that counts itself. A forked process would count in a copy.
with_meter <- function(count, code) {
  before <- noise_gate$meter
  process <- Sys.getpid()
  on.exit(noise_gate$meter <- before)
  noise_gate$meter <- function(statement) {
    if (Sys.getpid() != process) abort_other_process()
    count(statement)
    if (!is.null(before)) before(statement)
  }
  force(code)
}

meter <- function(statement) {
  if (is_metered()) {
    noise_gate$meter(statement)
  }
}

is_metered <- function() !is.null(noise_gate$meter)

abort_other_process <- function(call = rlang::caller_env()) {
  abort_budget(c(
    "Noise of this run must be drawn in the process of the run.",
    x = "This is another one, where it would not be counted.",
    i = "Release in one process; what was released may be worked on in many."
  ), call = call)
}

# What asks for noise that was paid at its start names the run it was paid in; 0: in none.
with_run <- function(code) {
  before <- noise_gate$run
  on.exit(noise_gate$run <- before)
  noise_gate$runs <- (noise_gate$runs %||% 0) + 1
  noise_gate$run <- noise_gate$runs
  force(code)
}

current_run <- function() noise_gate$run %||% 0

query_statement <- function(query, rng) {
  plan <- plan_noise(query)
  paid_in_rho <- query_cost(query, "rho") > 0
  is_sum <- query$law == "laplace" && query$kind != "choice"
  list(
    rho_realised = if (paid_in_rho) plan$realised,
    epsilon_realised = if (!paid_in_rho) plan$realised,
    laplace_step = if (is_sum) plan$denominator / plan$numerator,
    # of a Renyi epsilon, which is neither of both
    alpha = query[["alpha"]], neighbours = query$neighbours, rng = release_source(rng)
  )
}

noisy_answer <- function(units, query, rng, call = rlang::caller_env()) {
  tryCatch(
    switch(query$kind,
      count_search = count_search_answer(units, query, rng),
      order = random_order(query$n, rng),
      scatter = scatter_answer(units, query, rng),
      choice = select_unit(units, query, rng),
      gradients = gradients_answer(units, query, rng),
      add_noise(units, draw_noise(query, length(units) / 8, rng), query)
    ),
    "confide::RandomnessError" = function(error) abort_randomness(call)
  )
}

# Whether the integers of two data sets are as close as the query says of neighbours.
are_neighbouring_units <- function(units, other, query) {
  switch(query$kind,
    count_search = counts_one_sided(units, other),
    order = length(units) == 0 && length(other) == 0,
    scatter = scatter_within_sensitivity(units, other, query),
    choice = scores_within_sensitivity(units, other, query),
    gradients = gradients_within_sensitivity(units, other, query),
    units_within_sensitivity(units, other, query)
  )
}

# The budget in the measure that the query is paid in, 0 in the other. The law of a choice is that
# of the release it belongs to.
query_cost <- function(query, measure) {
  paid <- query$measure %||% if (query$law == "gaussian") "rho" else "epsilon"
  if (paid == measure) query$budget else 0
}

# What is released while an audit stands at the gate says so: its noise is not fresh.
release_source <- function(rng) {
  if (is_audited()) "replay" else rng
}

is_audited <- function() !is.null(noise_gate$guard)

with_guard <- function(guard, code) {
  before <- noise_gate$guard
  on.exit(noise_gate$guard <- before)
  noise_gate$guard <- guard
  force(code)
}

# The exact noise that public arguments lead to. A refusal comes before the data are looked at.
plan_noise <- function(query, call = rlang::caller_env()) {
  plan <- switch(query$kind,
    count_search = count_search_noise,
    scatter = scatter_noise,
    choice = choice_plan,
    gradients = gradients_noise,
    noise_plan
  )
  refused_as_parameter(plan(query), call)
}

refused_as_parameter <- function(code, call) {
  tryCatch(
    code,
    "confide::PlanRefused" = function(error) {
      reason <- conditionMessage(error) # nolint: object_usage_linter. cli reads it.
      abort_parameter(
        c("No noise can serve these arguments.", x = "Reason: {reason}."),
        call = call
      )
    }
  )
}
