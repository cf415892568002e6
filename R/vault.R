# The curator's handles: private numbers sit behind an external pointer, everything else in the
# object is released. Such objects are values; using one gives the next, and the old one is stale.
new_vault <- function(numbers) vault_new(numbers, Sys.getpid())

# what: how the object is made.
check_handle <- function(object, what, call = rlang::caller_env()) {
  if (!vault_lives(object$handle)) {
    abort_parameter(c(
      "The private value behind this object is gone: it went through a file.",
      i = "What it released is still in it. Start again with {.fn {what}}, at full cost."
    ), call = call)
  }
  check_unaltered(object, call)
  if (!identical(vault_process(object$handle), Sys.getpid())) {
    abort_budget(c(
      "This object was made in another process.",
      i = "Two processes would each release from it and count it once."
    ), call = call)
  }
  check_latest(object, call)
}

check_latest <- function(object, call) {
  if (!identical(vault_version(object$handle), object$version)) {
    abort_budget(c(
      "This is a stale copy: a later one was already made from it.",
      i = "Two branches would be charged as one. Go on from the latest one."
    ), call = call)
  }
}

check_unaltered <- function(object, call = rlang::caller_env()) {
  if (!identical(object$seal, object_seal(object))) {
    abort_internal(c(
      "This object was altered by hand: what it says is not what it was made with.",
      i = "Its costs follow from its fields. Go on from the object as it was returned."
    ), call = call)
  }
}

# Every function that makes or changes such an object ends with this.
sealed <- function(object) {
  object$seal <- object_seal(object)
  object
}

# Without what is sealed by itself, and a user's model, whose functions R compiles at some time.
object_seal <- function(object) {
  rlang::hash(unclass(object)[setdiff(names(object), c("seal", "handle", "model", "released"))])
}

# Before the first draw: the object is used, and no other call may use this version of it, not even
# one that runs while arguments are evaluated.
advance <- function(object, call = rlang::caller_env()) {
  check_latest(object, call)
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
