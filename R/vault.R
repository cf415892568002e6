# The curator's handles: private numbers sit behind an external pointer, everything else in the
# object is released. Such objects are values; using one gives the next, and the old one is stale.
new_vault <- function(numbers) vault_new(numbers, Sys.getpid())

# what: how the object is made.
check_handle <- function(object, what, call = rlang::caller_env()) {
  if (!handle_lives(object$handle)) {
    abort_parameter(c(
      "The private value behind this object is gone: it went through a file.",
      i = "What it released is still in it. Start again with {.fn {what}}, at full cost."
    ), call = call)
  }
  if (!identical(vault_process(object$handle), Sys.getpid())) {
    abort_budget(c(
      "This object was made in another process.",
      i = "Two processes would each release from it and count it once."
    ), call = call)
  }
  if (!identical(vault_version(object$handle), object$version)) {
    abort_budget(c(
      "This is a stale copy: a later one was already made from it.",
      i = "Two branches would be charged as one. Go on from the latest one."
    ), call = call)
  }
}

# The object after its handle was used once.
advance <- function(object) {
  vault_advance(object$handle)
  object$version <- object$version + 1
  object
}

expost_statement <- function(alpha, epsilon, rho, neighbours, noise, charged, rng) {
  structure(list(
    definition = "ex-post Renyi differential privacy",
    alpha = alpha,
    epsilon = epsilon,
    epsilon_realised = epsilon,
    expost_rho = rho,
    model = "central: the data are seen by whoever computes the release",
    unit = "one row: all values of one person",
    neighbours = neighbours,
    noise = noise,
    charged = charged,
    rng = release_source(rng)
  ), class = "confide_privacy")
}
