# Independent routes to the same numbers: naive twins in R, written from the formulas and not from
# the package.

# Ruiz (2026): P = lambda I + (1 - lambda) uniform.
naive_channel <- function(lambda, k) {
  lambda * diag(k) + (1 - lambda) / k
}

# In kronecker(A, B) the last factor runs fastest and in R's arrays the first attribute does.
naive_joint <- function(lambda, sizes, one = naive_channel) {
  Reduce(function(fast, slow) kronecker(slow, fast), Map(one, lambda, sizes))
}

naive_inverse <- function(lambda, k) {
  solve(naive_channel(lambda, k))
}

# Ruiz (2026), Property 2: the inverse as a sum over the 2^m subsets of attributes, in two forms.
closed_form_inverse <- function(lambda, sizes, form = c("projector", "identity")) {
  form <- match.arg(form)
  m <- length(sizes)
  total <- 0
  for (subset in 0:(2^m - 1)) {
    inside <- bitwAnd(subset, 2^(seq_len(m) - 1)) > 0
    weight <- prod(1 / lambda[inside])
    if (form == "identity") {
      weight <- weight * prod(1 - 1 / lambda[!inside])
    }
    factors <- lapply(seq_len(m), function(j) {
      average <- matrix(1 / sizes[[j]], sizes[[j]], sizes[[j]])
      if (!inside[[j]]) average else if (form == "projector") diag(sizes[[j]]) - average else diag(
        sizes[[j]]
      )
    })
    total <- total + weight * Reduce(function(fast, slow) kronecker(slow, fast), factors)
  }
  total
}

# Unbiased values of one record for given cells: product over attributes of the inverse's entries.
naive_record_values <- function(records, cells, lambda, sizes) {
  values <- matrix(1, nrow(records), nrow(cells))
  for (i in seq_len(nrow(records))) {
    for (cell in seq_len(nrow(cells))) {
      for (j in seq_along(sizes)) {
        inverse <- naive_inverse(lambda[[j]], sizes[[j]])
        values[i, cell] <- values[i, cell] * inverse[records[i, j], cells[cell, j]]
      }
    }
  }
  values
}

# The toy table of the method's description, 200 reports on three attributes.
toy_table <- function() {
  as.table(array(
    c(30, 12, 7, 25, 18, 9, 14, 6, 22, 11, 5, 41), c(2, 3, 2),
    list(a = c("1", "2"), b = c("1", "2", "3"), c = c("1", "2"))
  ))
}

toy_mechanism <- function() {
  mech_lambda(list(a = 2, b = 3, c = 2), lambda = c(.8, .6, .5))
}

# One row for each report of a table.
table_records <- function(table) {
  cells <- expand.grid(dimnames(table), stringsAsFactors = TRUE)
  rows <- cells[rep(seq_len(nrow(cells)), as.vector(table)), , drop = FALSE]
  rownames(rows) <- NULL
  rows
}

mechanism_for <- function(table, lambda) {
  mech_lambda(dimnames(table), lambda = lambda)
}

cell_names <- function(dimnames) {
  do.call(paste, c(unname(expand.grid(dimnames, stringsAsFactors = FALSE)), sep = ", "))
}

# Bounds of e^x in units of 2^-400 by Taylor's series in whole numbers (gmp), x a double of at most
# 64. Every step
# rounds down, so `lower` is one; the error is far below one part in 2^300, which `upper` adds.
exp_bounds <- function(x) {
  unit <- gmp::as.bigz(2)^400
  exact <- gmp::as.bigq(x)
  halvings <- 10 # x / 2^10 is below 1 / 16
  r <- (gmp::numerator(exact) * unit) %/% (gmp::denominator(exact) * gmp::as.bigz(2)^halvings)
  sum <- unit
  term <- unit
  n <- 1
  while (term > 0) {
    term <- (term * r) %/% (unit * n)
    sum <- sum + term
    n <- n + 1
  }
  for (i in seq_len(halvings)) {
    sum <- (sum * sum) %/% unit
  }
  list(lower = sum, upper = sum + sum %/% gmp::as.bigz(2)^300 + 1, unit = unit)
}

# The sampler's integers as exact whole numbers.
exact_weights <- function(epsilon, k) {
  weights <- rr_weights(epsilon, k)
  lapply(as.list(weights), gmp::as.bigz)
}

# Incidence of a group design in Z_v from its difference set: rows are points, columns outputs.
cyclic_incidence <- function(v, base) {
  incidence <- matrix(0, v, v)
  for (d in base) {
    incidence[cbind(seq_len(v), (seq_len(v) - 1 + d) %% v + 1)] <- 1
  }
  incidence
}

# The textbook channel of an incidence matrix: e^epsilon inside, 1 outside, rows rescaled.
incidence_channel <- function(incidence, epsilon) {
  weights <- 1 + expm1(epsilon) * incidence
  weights / rowSums(weights)
}

# n times the mean squared error at p of an unbiased linear estimate with values (cell, report), by
# the law of the reports.
linear_risk <- function(values, channel, p) {
  law <- as.vector(p %*% channel)
  sum(values^2 %*% law) - sum((values %*% law)^2)
}
