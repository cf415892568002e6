# The optimal mechanism for a test, and reports of it. No other package designs it.
# Usage: Rscript bench/spr.R [--quick] (package installed)
source("bench/tools/common.R")

random_pair <- function(k) {
  p <- matrix(stats::rexp(2 * k), 2)
  p / rowSums(p)
}

# Kairouz, Oh and Viswanath (2016): a linear programme over all 2^k columns of 1 and e^epsilon.
linear_programme <- function(pair, epsilon) {
  k <- ncol(pair)
  patterns <- as.matrix(expand.grid(rep(list(c(1, exp(epsilon))), k)))
  m0 <- as.vector(patterns %*% pair[1, ])
  m1 <- as.vector(patterns %*% pair[2, ])
  lpSolve::lp("max", m0 * log(m0 / m1), t(patterns), rep("=", k), rep(1, k))$objval
}

# One draw a person, and all people of a level at once.
one_by_one <- function(x, channel) {
  outputs <- seq_len(ncol(channel))
  vapply(x, function(truth) sample(outputs, 1, prob = channel[truth, ]), 1L)
}

by_level <- function(x, channel) {
  reports <- integer(length(x))
  for (people in split(seq_along(x), x)) {
    reports[people] <- sample.int(
      ncol(channel), length(people), TRUE, prob = channel[x[people[[1]]], ]
    )
  }
  reports
}

solve_spr <- function(pair) mech_spr(pair[1, ], pair[2, ], 2)

set.seed(1)
rows <- NULL
for (k in sized(c(4, 6, 8, 10, 12), c(4, 6))) {
  pair <- random_pair(k)
  has_solver <- has_peer("lpSolve")
  if (has_solver) agree(solve_spr(pair)$objective_value, linear_programme(pair, 2), 1e-8)
  rows <- rbind(rows, compare(
    "optimal mechanism, few levels", k, "levels",
    ours(function() solve_spr(pair)),
    if (has_solver) {
      textbook("linear programme of 2^k columns", function() linear_programme(pair, 2))
    }
  ))
}
# Up to 2,000 distinct ratios the search is direct, above it is bracketed.
for (k in sized(10^(3:6), 10^(2:4))) {
  pair <- random_pair(k)
  rows <- rbind(rows, compare(
    "optimal mechanism", k, "levels", ours(function() solve_spr(pair))
  ))
}
pair <- random_pair(100)
m <- solve_spr(pair)
channel <- as.matrix(m)
for (n in sized(10^(4:6), 10^(2:4))) {
  x <- sample.int(100, n, TRUE)
  rows <- rbind(rows, compare(
    "randomize, 100 levels", n, "people",
    ours(function() privatize(x, m)),
    if (n <= 1e5) naive("sample() for each person", function() one_by_one(x, channel)),
    textbook("sample() for each level", function() by_level(x, channel))
  ))
}
save_rows("spr", rows)
