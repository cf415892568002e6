# How block designs scale, and how they compare with what one writes in plain R: dense decoding,
# optimized unary encoding (Wang et al. 2017) and a Hadamard response (Acharya et al. 2019).
# Usage: Rscript bench/block.R [--quick] (package installed)
source("bench/tools/common.R")

# Optimized unary encoding: a bit vector a person, bits of others kept with 1 / (e^epsilon + 1).
unary <- function(x, v, epsilon) {
  q <- 1 / (exp(epsilon) + 1)
  sums <- numeric(v)
  for (part in split(x, ceiling(seq_along(x) / 1e4))) {
    bits <- matrix(stats::runif(length(part) * v) < q, length(part))
    own <- cbind(seq_along(part), part)
    bits[own] <- stats::runif(length(part)) < 0.5
    sums <- sums + colSums(bits)
  }
  (sums / length(x) - q) / (0.5 - q)
}

# Rows of a Sylvester matrix: the sign of the inner product of bits.
parity <- function(a, b) {
  bits <- bitwAnd(a, b)
  for (shift in c(16, 8, 4, 2, 1)) bits <- bitwXor(bits, bitwShiftR(bits, shift))
  bitwAnd(bits, 1L)
}

hadamard_reports <- function(x, order, epsilon) {
  y <- sample.int(order, length(x), TRUE) - 1L
  inside <- parity(x, y) == 0
  flip <- inside != (stats::runif(length(x)) < exp(epsilon) / (1 + exp(epsilon)))
  y[flip] <- bitwXor(y[flip], bitwAnd(x[flip], -x[flip]))
  y
}

hadamard_shares <- function(counts, v, epsilon) {
  order <- length(counts)
  n <- sum(counts)
  for (half in 2^seq(0, log2(order) - 1)) {
    pairs <- array(counts, c(half, 2, order / half / 2))
    halves <- c(pairs[, 1, ] + pairs[, 2, ], pairs[, 1, ] - pairs[, 2, ])
    counts <- as.vector(aperm(array(halves, dim(pairs)[c(1, 3, 2)]), c(1, 3, 2)))
  }
  counts[seq_len(v) + 1] / n * (exp(epsilon) + 1) / (exp(epsilon) - 1)
}

hadamard_response <- function(x, v, epsilon) {
  order <- 2^ceiling(log2(v + 1))
  hadamard_shares(tabulate(hadamard_reports(x, order, epsilon) + 1L, order), v, epsilon)
}

# What a mechanism keeps for later calls in the same session.
forget <- function() {
  cache <- confide:::session_cache
  rm(list = ls(cache, all.names = TRUE), envir = cache)
}

zipf <- function(v, n) sample.int(v, n, TRUE, (1:v)^-1.2)

set.seed(1)
v <- sized(1000, 100)
n <- 100 * v
x <- zipf(v, n)
true <- tabulate(x, v) / n
m <- mech_block(v, 1)
square_error <- function(shares) sum((shares - true)^2)
rows <- compare(
  "answers to shares, 100 a category", v, "categories",
  ours(function() coef(estimate(count_reports(privatize(x, m), m), m))),
  naive("unary encoding", function() unary(x, v, 1)),
  textbook("Hadamard response in R", function() hadamard_response(x, v, 1)),
  error = square_error
)

for (v in sized(10^(3:6), 10^(2:3))) {
  n <- 10 * v
  x <- sample.int(v, n, TRUE)
  order <- 2^ceiling(log2(v + 1))
  m <- mech_block(v, 1)
  reports <- privatize(x, m)
  counts <- count_reports(reports, m)
  hadamard_counts <- tabulate(hadamard_reports(x, order, 1) + 1L, order)
  rows <- rbind(
    rows,
    compare(
      "choose the design", v, "categories",
      ours(function() mech_block(v, 1), before = forget)
    ),
    compare(
      "randomize, 10 answers a category", v, "categories",
      ours(function() privatize(x, m)),
      textbook("Hadamard response in R", function() hadamard_reports(x, order, 1))
    ),
    compare(
      "count, 10 reports a category", v, "categories",
      ours(function() count_reports(reports, m)),
      naive("tabulate()", function() tabulate(reports, m$n_outputs))
    ),
    compare(
      "decode, with standard errors", v, "categories",
      ours(function() estimate(counts, m), "confide, centred"),
      ours(function() estimate(counts, m), "confide, centred, first call", forget),
      ours(function() estimate(counts, m, method = "canonical"), "confide, canonical"),
      ours(
        function() estimate(counts, m, method = "canonical"), "confide, canonical, first call",
        forget
      ),
      textbook("Hadamard in R, no standard errors", function() {
        hadamard_shares(hadamard_counts, v, 1)
      }),
      if (v <= 1000) textbook("dense least squares", function() {
        qr.coef(qr(t(as.matrix(m))), counts$counts / n)
      }),
      patience = sized(12, 0.2) # more than one turn at a million: memory grows in the first
    )
  )
  if (v >= 1e5) {
    error <- sum((coef(estimate(counts, m)) - tabulate(x, v) / n)^2)
    agree(error / block_risk(m, n, target = "file"), 1, 0.05)
  }
}
save_rows("block", rows)
