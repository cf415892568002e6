# How block designs scale, and how they compare on this machine with what one writes in plain R:
# dense decoding, optimized unary encoding (Wang et al. 2017) and a Hadamard response (Acharya et
# al. 2019). Seconds and ratios. Usage: Rscript bench/block.R (package installed); with Python's
# pure_ldp installed also its Hadamard response.
library(confide)

seconds <- function(code) {
  gc(FALSE)
  sum(system.time(code)[c("user.self", "sys.self")])
}

show <- function(label, value) cat(sprintf("%-58s %8.3f\n", label, value))

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

hadamard_response <- function(x, v, epsilon) {
  order <- 2^ceiling(log2(v + 1))
  y <- sample.int(order, length(x), TRUE) - 1L
  inside <- parity(x, y) == 0
  flip <- inside != (stats::runif(length(x)) < exp(epsilon) / (1 + exp(epsilon)))
  y[flip] <- bitwXor(y[flip], bitwAnd(x[flip], -x[flip]))
  counts <- tabulate(y + 1L, order)
  for (half in 2^seq(0, log2(order) - 1)) {
    pairs <- array(counts, c(half, 2, order / half / 2))
    halves <- c(pairs[, 1, ] + pairs[, 2, ], pairs[, 1, ] - pairs[, 2, ])
    counts <- as.vector(aperm(array(halves, dim(pairs)[c(1, 3, 2)]), c(1, 3, 2)))
  }
  counts[seq_len(v) + 1] / length(x) * (exp(epsilon) + 1) / (exp(epsilon) - 1)
}

set.seed(1)
v <- 1000
n <- 1e5
p <- (1:v)^-1.2 / sum((1:v)^-1.2)
x <- sample(v, n, TRUE, p)
true <- tabulate(x, v) / n
cat("v = 1000, n = 1e5, epsilon = 1\n")
m <- mech_block(v, 1)
ours <- seconds({
  counts <- count_reports(privatize(x, m), m)
  estimated <- estimate(counts, m)
})
show(sprintf("%s, seconds", m$design$family), ours)
show("  squared error x n", n * sum((coef(estimated) - true)^2))
theirs <- seconds(other <- unary(x, v, 1))
show("unary encoding in R (1000 bits), times as long", theirs / ours)
show("  squared error x n", n * sum((other - true)^2))
theirs <- seconds(other <- hadamard_response(x, v, 1))
show("Hadamard response in R, times as long", theirs / ours)
show("  squared error x n", n * sum((other - true)^2))
channel <- as.matrix(m)
dense <- seconds(qr.coef(qr(t(channel)), counts$counts / n))
show("dense least squares, times as long as estimate()", dense / seconds(estimate(counts, m)))

cat("\nv = 1e6, n = 1e7, epsilon = 1\n")
x <- sample.int(1e6, 1e7, TRUE)
show("choose the design", seconds(m <- mech_block(1e6, 1)))
show("randomize", seconds(reports <- privatize(x, m)))
show("count", seconds(counts <- count_reports(reports, m)))
show("estimate and standard errors, first time", seconds(e <- estimate(counts, m)))
show("again", seconds(e <- estimate(counts, m)))
show("without centring", seconds(estimate(counts, m, method = "canonical")))
error <- sum((coef(e) - tabulate(x, 1e6) / 1e7)^2)
show("squared error / formula", error / block_risk(m, 1e7, target = "file"))

python <- Sys.which("python3")
has_peer <- nzchar(python) &&
  system2(python, c("-c", shQuote("import pure_ldp")), stdout = FALSE, stderr = FALSE) == 0
if (has_peer) {
  script <- paste(
    "import time", "from pure_ldp.frequency_oracles.hadamard_response import HadamardResponse",
    "from pure_ldp.frequency_oracles import *", "import numpy as np",
    "s = HadamardResponseServer(1.0, 1000)",
    "c = HadamardResponseClient(1.0, 1000, s.get_hash_funcs())",
    "t = time.process_time()",
    "for i in range(10000): s.aggregate(c.privatise(1 + i % 1000))",
    "print(time.process_time() - t)",
    sep = "\n"
  )
  cat("\npure_ldp, Hadamard response, 1e4 reports in Python, seconds:\n")
  system2(python, c("-c", shQuote(script)))
}
