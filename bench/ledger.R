# Entries of a ledger and steps of refined answers on this machine, in processor time; a ledger must
# take time in proportion to its entries. Usage: Rscript bench/ledger.R (package installed)
library(confide)

seconds <- function(code) system.time(code)[["user.self"]]

filled <- function(entries) {
  l <- ledger(20, neighbours = "replace")
  seconds(for (i in seq_len(entries)) charge(l, epsilon = 0.1, part = letters[1 + i %% 7]))
}
times <- vapply(c(2.5e4, 5e4, 1e5), filled, numeric(1))
cat(sprintf("1e5 charges: %.1f s; twice the entries take %.1f and %.1f times as long\n",
  times[[3]], times[[2]] / times[[1]], times[[3]] / times[[2]]
))

for (size in c(1, 1e4)) {
  b <- brownian(integer(size), sensitivity = 1, alpha = 20)
  steps <- 20
  time <- seconds(for (i in seq_len(steps)) b <- refine(b, sigma = 1000 / i))
  cat(sprintf("a step of %g numbers: %.2g ms\n", size, 1000 * time / steps))
}
