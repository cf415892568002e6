# Variances of estimates and their two parts, in vectors and in matrices.

# From the variance for a population to that for the file: without the sampling part, and without n
# / (n - 1), see covariance_file().
file_variance <- function(estimate) {
  n <- estimate$n
  if (n > 1) {
    return((n - 1) / n * (estimate$std_error^2 - sampling_variance(estimate)))
  }
  # One report says nothing of a population, but has a variance of its own.
  if (length(estimate$estimate) > max_vcov) estimate$std_error else diag(covariance_file(estimate))
}

# The variance that the true values would have, estimated: the variance formula with one-hot true
# values in place of z.
sampling_variance <- function(x) {
  if (x$target == "file") {
    return(rep(0, length(x$estimate)))
  }
  square <- x$reported$square %||% x$reported$total
  pi <- x$moment
  first <- square_weighted(x)
  variance_scale(x$reported$total, x$n) * (first * (1 - 2 * pi) + pi^2 * sum(square))
}

# Sum over reports of w^2 z.
square_weighted <- function(x) {
  if (is.null(x$reported$square)) {
    return(sum(x$reported$total) * x$moment)
  }
  if (x$decoder$type != "product") {
    return(x$first)
  }
  apply_product(x$reported$square, x$decoder, "inverse")
}

# The matrix forms.
covariance_population <- function(object) {
  centred_product(object, second_moment(object), square_weighted(object))
}

covariance_sampling <- function(object) {
  first <- square_weighted(object)
  if (object$target == "file") {
    return(matrix(0, length(first), length(first)))
  }
  centred_product(object, same_cell(object, first), first)
}

covariance_total <- function(object) {
  if (object$target == "population") covariance_population(object) else covariance_file(object)
}

# Of the randomization, given the people: sum of w^2 (z z' - 1[same cell] z) / (sum w)^2, unbiased
# as it stands, because z estimates without bias whether a person is in a cell (Ruiz 2026: [P^-1
# Diag(Pt) P^-T - Diag(t)] / n for the file's own table t).
covariance_file <- function(object) {
  second <- second_moment(object) - same_cell(object, square_weighted(object))
  second / sum(object$reported$total)^2
}

# Sum over reports of w^2 z z'.
second_moment <- function(object) {
  if (object$decoder$type == "block") {
    return(block_second_moment(object))
  }
  if (object$decoder$type == "block_cells") {
    return(object$decoder$second)
  }
  values <- report_values(object)
  crossprod(values, values * (object$reported$square %||% object$reported$total))
}

# Two different cells of a table never hold the same record; events may overlap.
same_cell <- function(object, first) {
  switch(object$decoder$type,
    cells = overlap_sums(object),
    block_cells = object$decoder$overlap,
    diag(first, length(first))
  )
}

centred_product <- function(object, second, first) {
  pi <- object$moment
  square <- object$reported$square %||% object$reported$total
  scale <- variance_scale(object$reported$total, object$n)
  scale * (second - outer(first, pi) - outer(pi, first) + outer(pi, pi) * sum(square))
}

# One row for each possible report (or distinct record), one column for each estimated cell: the
# unbiased value z.
report_values <- function(object) {
  decoder <- object$decoder
  switch(decoder$type,
    matrix = t(decoder$inverse),
    product = t(inverse_matrix(decoder)),
    cells = lambda_cell_values(
      object$reported$rows, unname(decoder$events), decoder$lambda, decoder$noise
    )
  )
}

# The inverse of a product channel as a matrix, for small tables: mode-wise on an identity that
# rides along as one more mode.
inverse_matrix <- function(decoder) {
  sizes <- lengths(decoder$noise)
  cells <- prod(sizes)
  with_identity <- list(
    lambda = c(decoder$lambda, 1),
    noise = c(unname(decoder$noise), list(uniform_noise(cells)))
  )
  matrix(apply_product(diag(cells), with_identity, "inverse"), cells)
}
