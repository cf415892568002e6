# The data of contamination_study(): laws with centre 0 and scatter matrix I, outliers in the same
# whitened units, and a scatter matrix that turns them into x = mu + L z, mu = (1, ..., 1).

normal_rows <- function(n, d) matrix(stats::rnorm(n * d), n)

student_rows <- function(n, d, df) normal_rows(n, d) / sqrt(stats::rchisq(n, df) / df)

# Ramsay et al. (2026): the second column bent by the first.
banana_rows <- function(n, d) {
  rows <- normal_rows(n, d)
  if (d > 1) rows[, 2] <- rows[, 2] + 0.2 * (rows[, 1]^2 - 1)
  rows
}

study_distributions <- list(
  gaussian = normal_rows,
  t3 = function(n, d) student_rows(n, d, 3),
  cauchy = function(n, d) student_rows(n, d, 1),
  banana = banana_rows
)

unit_rows <- function(n, d) {
  rows <- normal_rows(n, d)
  rows / sqrt(rowSums(rows^2))
}

repeated_row <- function(row, count) matrix(row, count, length(row), byrow = TRUE)

atom_at <- function(distance) {
  function(count, d, root) repeated_row(distance(d) * unit_rows(1, d), count)
}

# Outliers whose distances are those of good records: normal across the direction they hide in.
hidden_at <- function(shift) {
  function(count, d, root) {
    direction <- drop(unit_rows(1, d))
    rows <- normal_rows(count, d)
    rows - tcrossprod(rows %*% direction - shift, direction)
  }
}

# Each makes `count` outliers as whitened displacements from the centre; `root` is L.
study_placements <- list(
  far = atom_at(function(d) 30 * sqrt(d)),
  shell = atom_at(sqrt),
  clusters = function(count, d, root) {
    centres <- 30 * sqrt(d) * unit_rows(5, d)
    centres[rep_len(1:5, count), , drop = FALSE]
  },
  hidden2 = hidden_at(2),
  hidden4 = hidden_at(4),
  folded = function(count, d, root) 3 * abs(normal_rows(count, d)),
  start = function(count, d, root) repeated_row(forwardsolve(root, rep(-1, d)), count),
  mild = function(count, d, root) {
    shift <- forwardsolve(root, 2 * drop(unit_rows(1, d)))
    sqrt(3) * normal_rows(count, d) + repeated_row(shift, count)
  }
)

study_scatters <- list(
  identity = function(d) diag(d),
  random = function(d) tcrossprod(normal_rows(d, d)) / d + 0.2 * diag(d)
)

# One data set of a cell: the records, the scatter matrix and its root. A share of the records,
# rounded down, is replaced by outliers at random places; with "mild", as published, each record by
# chance.
draw_study_data <- function(cell) {
  n <- cell$n
  d <- cell$d
  sigma <- study_scatters[[cell$scatter]](d)
  root <- t(chol(sigma))
  rows <- cell$draw(n, d)
  count <- if (identical(cell$placement, "mild")) {
    stats::rbinom(1, n, cell$contamination)
  } else {
    floor(n * cell$contamination * (1 + 1e-12))
  }
  if (count > 0) {
    rows[sample.int(n, count), ] <- cell$place(count, d, root)
  }
  list(x = tcrossprod(rows, root) + 1, sigma = sigma, root = root)
}

# References without privacy, equivariant under sigma.
sample_mean <- function(x, rho, sigma) colMeans(x)

# Weiszfeld's iteration in whitened units.
geometric_median <- function(x, rho, sigma) {
  root <- t(chol(sigma))
  rows <- t(forwardsolve(root, t(x)))
  centre <- apply(rows, 2, stats::median)
  for (iteration in 1:200) {
    away <- rows - rep(centre, each = nrow(rows))
    weights <- 1 / pmax(sqrt(rowSums(away^2)), 1e-12)
    step <- colSums(away * weights) / sum(weights)
    centre <- centre + step
    if (sum(step^2) < 1e-12 * length(centre)) break
  }
  drop(root %*% centre)
}

# Random streams ------------------------------------------------------------

# A stream of L'Ecuyer's generator for each repetition of each purpose. It depends on the text
# alone, so that neither workers nor other cells change anything.
with_stream <- function(text, repetition, code) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  kind <- RNGkind()
  on.exit(restore_generator(kind, before))
  set.seed(text_number(text), "L'Ecuyer-CMRG", "Inversion", "Rejection")
  stream <- get(".Random.seed", globalenv(), inherits = FALSE)
  for (jump in seq_len(repetition)) stream <- parallel::nextRNGStream(stream)
  assign(".Random.seed", stream, globalenv())
  force(code)
}

# A saved state tells its kind.
restore_generator <- function(kind, seed) {
  if (!is.null(seed)) {
    return(assign(".Random.seed", seed, globalenv()))
  }
  RNGkind(kind[[1]], kind[[2]], kind[[3]])
  rm(".Random.seed", envir = globalenv())
}

# A polynomial in the bytes modulo the prime 2^31 - 1, exact in doubles.
text_number <- function(text) {
  Reduce(function(sum, byte) (sum * 257 + byte) %% 2147483647, utf8ToInt(text), 0)
}
