#' The permutations behind a mechanism
#'
#' Lambda-randomization is a random permutation of the levels that does not depend on the truth:
#' keep them, or rotate their codes by a uniformly drawn shift. `birkhoff()` gives the weights: the
#' channel is \eqn{(\lambda + (1 - \lambda) / k) I + ((1 - \lambda) / k) \sum_{s=1}^{k-1} C^s} with
#' C the cyclic shift, a decomposition of a bistochastic matrix as Birkhoff and von Neumann promise.
#' No decomposition has fewer terms, because no entry of the channel is 0.
#'
#' @param mechanism (mechanism) Made by [mech_lambda()] or [mech_rr()], with at most 1,024 cells.
#' @returns A list of class `confide_birkhoff` with
#'   * `weights`: numbers above 0 with sum 1, one for each permutation, in the order of the shifts,
#'     first attribute fastest;
#'   * `shifts`: an integer matrix, a row for each permutation and a column for each attribute (or
#'     `"level"`): by how many codes the levels are rotated, 0 for kept;
#'   * `permutations`: an integer matrix, a row for each permutation: the reported cell for each
#'     true cell, as codes in the order of `as.matrix(mechanism)`.
#'
#'   `as.matrix()` puts the channel together again.
#' @section Errors:
#' `confide_error_parameter` for another mechanism, noise that is not uniform, or too many cells.
#' @references
#' Ruiz, N. (2026). arXiv 2603.05261.
#'
#' Birkhoff, G. (1946). Tres observaciones sobre el algebra lineal. *Universidad Nacional de
#' Tucuman, Revista A* 5, 147-151.
#' @examples
#' birkhoff(mech_rr(c("never", "once", "often"), epsilon = 1))
#' b <- birkhoff(mech_lambda(list(a = 2, b = 3), lambda = 0.5))
#' b$shifts
#' sum(b$weights)
#' @export
birkhoff <- function(mechanism) {
  check_mechanism(mechanism)
  check_bistochastic(mechanism)
  parts <- entropy_parts(mechanism)
  if (prod(parts$sizes) > max_permutations) {
    abort_parameter(c(
      "{.fn birkhoff} decomposes mechanisms of at most {format_count(max_permutations)} cells.",
      x = "This one has {format_count(prod(parts$sizes))}.",
      i = "Decompose each attribute on its own: make a mechanism of it."
    ))
  }
  by_attribute <- lapply(names(parts$sizes), function(name) {
    shift_weights(mechanism$epsilon[[match(name, names(parts$sizes))]], parts$sizes[[name]])
  })
  weights <- as.vector(Reduce(outer, by_attribute))
  codes <- unname(as.matrix(expand.grid(lapply(parts$sizes, seq_len))))
  shifts <- (codes - 1L)[weights > 0, , drop = FALSE]
  colnames(shifts) <- names(parts$sizes)
  structure(list(
    weights = weights[weights > 0],
    shifts = shifts,
    permutations = shifted_cells(codes, shifts, parts$sizes),
    sizes = parts$sizes,
    by_attribute = by_attribute,
    labels = dimnames(as.matrix(mechanism))
  ), class = "confide_birkhoff")
}

max_permutations <- 1024

# Columns of a mean of permutations sum to 1; those of a channel with other noise do not.
check_bistochastic <- function(mechanism, call = rlang::caller_env()) {
  if (length(mechanism$noise) == 0) {
    return(invisible())
  }
  abort_parameter(c(
    "{.arg mechanism} must have uniform noise: only then it is a mean of permutations.",
    x = "Noise of their own {?has/have} {enumerate_names(names(mechanism$noise))}."
  ), call = call)
}

# Of the shifts 0, ..., k - 1; as the sampler's integers realise them.
shift_weights <- function(epsilon, size) {
  if (!is.finite(epsilon)) {
    return(c(1, rep(0, size - 1)))
  }
  realised <- rr_realised(epsilon, size)
  c(realised[["truthful"]], rep(realised[["other"]], size - 1))
}

# The cell that each cell (a row of codes) becomes under each row of shifts.
shifted_cells <- function(codes, shifts, sizes) {
  strides <- cumprod(c(1, sizes[-length(sizes)]))
  cells <- vapply(seq_len(nrow(codes)), function(cell) {
    moved <- (t(shifts) + codes[cell, ] - 1L) %% sizes
    1L + as.integer(colSums(moved * strides))
  }, integer(nrow(shifts)))
  matrix(cells, nrow = nrow(shifts))
}

#' @export
as.matrix.confide_birkhoff <- function(x, ...) {
  check_dots_empty(...)
  cells <- ncol(x$permutations)
  channel <- matrix(0, cells, cells, dimnames = x$labels)
  for (term in seq_along(x$weights)) {
    places <- cbind(seq_len(cells), x$permutations[term, ])
    channel[places] <- channel[places] + x$weights[[term]]
  }
  channel
}

#' @export
format.confide_birkhoff <- function(x, ...) {
  shown <- utils::head(seq_along(x$sizes), 6L)
  rows <- data.frame(
    attribute = shorten(names(x$sizes)[shown], 24L),
    levels = x$sizes[shown],
    keep = vapply(x$by_attribute[shown], function(w) format_number(w[[1]], 3), character(1)),
    each_shift = vapply(x$by_attribute[shown], function(w) format_number(w[[2]], 3), character(1))
  )
  hidden <- length(x$sizes) - length(shown)
  c(
    sprintf(
      "<Birkhoff decomposition>  %s of %s", plural(length(x$weights), "permutation"),
      plural(ncol(x$permutations), "cell")
    ),
    "codes are kept with weight `keep`, or rotated by each of the other shifts",
    utils::capture.output(print(rows, row.names = FALSE)),
    if (hidden > 0) sprintf("... and %s", plural(hidden, "more attribute"))
  )
}
