# Private means beside colMeans(), a clipped mean in plain R, and DPpack, which needs a range for each
# column. Usage: Rscript bench/mean.R [--quick] (package installed)
source("bench/tools/common.R")

# Clip rows to a ball, average, add noise in doubles.
clip_and_add <- function(x, radius, rho) {
  shrink <- pmin(1, radius / sqrt(rowSums(x^2)))
  noise <- stats::rnorm(ncol(x), sd = 2 * radius / nrow(x) / sqrt(2 * rho))
  colMeans(x * shrink) + noise
}

# The same, a row after the other.
row_by_row <- function(x, radius, rho) {
  total <- numeric(ncol(x))
  for (i in seq_len(nrow(x))) {
    total <- total + x[i, ] * min(1, radius / sqrt(sum(x[i, ]^2)))
  }
  total / nrow(x) + stats::rnorm(ncol(x), sd = 2 * radius / nrow(x) / sqrt(2 * rho))
}

methods_for <- function(x) {
  radius <- 2 * sqrt(ncol(x))
  few <- length(x) <= 2e6
  list(
    ours(function() private_mean(x, rho = 1)),
    ours(
      function() private_mean(x, rho = 1, sigma = "none", filter = "none"),
      "confide, known scale, no filter"
    ),
    ours(function() private_mean(x, rho = 1, sigma = "none", method = "clipped"), "confide, clipped"),
    unsafe("colMeans()", function() colMeans(x)),
    unsafe("clip and rnorm()", function() clip_and_add(x, radius, 1)),
    if (few) naive("clip row by row and rnorm()", function() row_by_row(x, radius, 1)),
    peer("DPpack", "meanDP by column", function() {
      apply(x, 2, function(column) DPpack::meanDP(column, 1 / ncol(x), -5, 5))
    })
  )
}

set.seed(1)
rows <- NULL
for (n in sized(10^(4:6), c(2000, 4000, 8000))) {
  x <- matrix(stats::rnorm(n * sized(20, 4)), n)
  rows <- rbind(rows, do.call(compare, c(list("mean of 20 columns", n, "rows"), methods_for(x))))
}
for (d in sized(4^(1:4), c(2, 4, 8))) {
  x <- matrix(stats::rnorm(sized(1e5, 2000) * d), ncol = d)
  rows <- rbind(rows, do.call(
    compare, c(list("mean of 100,000 rows", d, "columns"), methods_for(x))
  ))
}
save_rows("mean", rows)
