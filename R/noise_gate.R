# The only way out for central releases: private integers go in, their sum with exact noise comes
# out. `units` holds the integers, eight bytes each; `query` holds the public arguments, from which
# the noise and its grid follow. A replay audit may stand at the gate.
release_units <- function(units, query, rng, call = rlang::caller_env()) {
  if (!is.null(noise_gate$meter) && !isTRUE(query$covered)) {
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
# TRUE` is part of a mechanism that counts itself.
with_meter <- function(count, code) {
  before <- noise_gate$meter
  on.exit(noise_gate$meter <- before)
  noise_gate$meter <- function(statement) {
    count(statement)
    if (!is.null(before)) before(statement)
  }
  force(code)
}

meter <- function(statement) {
  if (!is.null(noise_gate$meter)) {
    noise_gate$meter(statement)
  }
}

query_statement <- function(query, rng) {
  plan <- plan_noise(query)
  gaussian <- query$law == "gaussian"
  list(
    rho_realised = if (gaussian) plan$realised,
    epsilon_realised = if (!gaussian) plan$realised,
    laplace_step = if (!gaussian) plan$denominator / plan$numerator,
    neighbours = query$neighbours, rng = release_source(rng)
  )
}

noisy_answer <- function(units, query, rng, call = rlang::caller_env()) {
  noise <- tryCatch(
    draw_noise(query, length(units) / 8, rng),
    "confide::RandomnessError" = function(error) abort_randomness(call)
  )
  add_noise(units, noise, query)
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
  refused_as_parameter(noise_plan(query), call)
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
