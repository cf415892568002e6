# Ratios only: how the direct search, the bracketed search and the linear programme of Kairouz, Oh
# and Viswanath (2016) compare on this machine. Usage: Rscript bench/spr.R (package installed)
library(confide)

seconds <- function(code) {
  gc(FALSE)
  started <- proc.time()[["user.self"]]
  repeats <- 0
  while (repeats == 0 || proc.time()[["user.self"]] - started < 0.5) {
    eval.parent(substitute(code))
    repeats <- repeats + 1
  }
  (proc.time()[["user.self"]] - started) / repeats
}

random_pair <- function(k) {
  p <- matrix(stats::rexp(2 * k), 2)
  p / rowSums(p)
}

# All 2^k columns of 1 and e^epsilon.
kov <- function(pair, epsilon) {
  k <- ncol(pair)
  patterns <- as.matrix(expand.grid(rep(list(c(1, exp(epsilon))), k)))
  m0 <- as.vector(patterns %*% pair[1, ])
  m1 <- as.vector(patterns %*% pair[2, ])
  lpSolve::lp("max", m0 * log(m0 / m1), t(patterns), rep("=", k), rep(1, k))$objval
}

solve_spr <- function(pair, epsilon, ...) mech_spr(pair[1, ], pair[2, ], epsilon, ...)

set.seed(1)
if (requireNamespace("lpSolve", quietly = TRUE)) {
  for (k in c(4, 6, 8, 10)) {
    pair <- random_pair(k)
    ours <- seconds(solve_spr(pair, 2))
    theirs <- seconds(kov(pair, 2))
    gap <- abs(solve_spr(pair, 2)$objective_value - kov(pair, 2))
    cat(sprintf(
      "k = %2d: linear programme / mech_spr = %.1f, difference of the optima %.0e\n",
      k, theirs / ours, gap
    ))
  }
}

# Up to 2,000 distinct ratios the search is direct, above it is bracketed.
for (k in c(1000, 2000, 5000, 20000, 1e5, 1e6)) {
  pair <- random_pair(k)
  time <- seconds(m <- solve_spr(pair, 2))
  if (k == 1000) base <- time / k
  cat(sprintf(
    "k = %7d: time per level, relative to k = 1000: %.2f (%s search, s = %d, gap %.0e)\n",
    k, time / k / base, if (k <= 2000) "direct" else "bracketed", m$n_outputs, diff(m$bounds)
  ))
}
