# The only way out for central releases: private integers go in, their sum with exact noise comes
# out, or which of them the exponential mechanism chose (kind "choice"). `units` holds the integers,
# eight bytes each; `query` holds the public arguments, from which the noise and its grid follow. A
# replay audit may stand at the gate.
release_units <- function(units, query, rng, call = rlang::caller_env()) {
  if (is.null(noise_gate$guard)) {
    return(noisy_answer(units, query, rng, call))
  }
  noise_gate$guard(units, query, rng)
}

# The one mutable thing in the package: whether a replay audit runs now.
noise_gate <- new.env(parent = emptyenv())

noisy_answer <- function(units, query, rng, call = rlang::caller_env()) {
  tryCatch(
    if (query$kind == "choice") {
      select_unit(units, query, rng)
    } else {
      add_noise(units, draw_noise(query, length(units) / 8, rng), query)
    },
    "confide::RandomnessError" = function(error) abort_randomness(call)
  )
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
  tryCatch(
    if (query$kind == "choice") selection_epsilon(query) else noise_plan(query),
    "confide::PlanRefused" = function(error) {
      reason <- conditionMessage(error) # nolint: object_usage_linter. cli reads it.
      abort_parameter(
        c("No noise can serve these arguments.", x = "Reason: {reason}."),
        call = call
      )
    }
  )
}
