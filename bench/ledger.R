# Entries of a ledger, steps of refined answers, and whole runs of accuracy_first(); a ledger must take
# time in proportion to its entries. Usage: Rscript bench/ledger.R [--quick] (package installed)
source("bench/tools/common.R")

charge_all <- function(entries) {
  l <- ledger(20, neighbours = "replace")
  for (i in seq_len(entries)) charge(l, epsilon = 0.1, part = letters[1 + i %% 7])
  spent(l)
}

# A table of entries that is added up for each new one.
data_frame_ledger <- function(entries, limit = Inf) {
  l <- data.frame(part = character(), epsilon = numeric())
  for (i in seq_len(entries)) {
    if (sum(l$epsilon) + 0.1 > limit) stop("over the limit")
    l[i, ] <- list(letters[1 + i %% 7], 0.1)
  }
  sum(l$epsilon)
}

steps <- 1000 / (1:20)

refine_all <- function(answer) {
  b <- brownian(answer, sensitivity = 1, alpha = 20)
  for (sigma in steps) b <- refine(b, sigma = sigma)
  coef(b)
}

# The same law of noise in doubles: each step is the one before, moved toward the truth.
bridge_all <- function(answer) {
  noise <- stats::rnorm(length(answer), sd = steps[[1]])
  for (i in seq_along(steps)[-1]) {
    share <- (steps[[i]] / steps[[i - 1]])^2
    noise <- share * noise + stats::rnorm(length(answer), sd = steps[[i]] * sqrt(1 - share))
  }
  answer + noise
}

# A share of people, refined until nine in ten of the others are predicted.
reach <- function(n) {
  people <- data.frame(answer = stats::runif(n) < 0.95)
  half <- seq_len(n) <= n / 2
  accuracy_first(
    people[half, , drop = FALSE], people[!half, , drop = FALSE],
    refine = function(previous, train, epsilon) {
      if (is.null(previous)) {
        previous <- brownian(sum(train$answer), 1, alpha = 20, neighbours = "add_remove")
      }
      refine(previous, epsilon = epsilon)
    },
    fit = function(released) released$estimate > n / 4,
    score = function(model, validation) validation$answer == model,
    threshold = 0.9, grid = 2^(-6:0), alpha = 20, neighbours = "add_remove", check = "gaussian"
  )
}

set.seed(1)
rows <- NULL
for (entries in sized(10^(2:5), 10^(1:3))) {
  rows <- rbind(rows, compare(
    "charge a ledger", entries, "entries",
    ours(function() charge_all(entries)),
    if (entries <= 1e4) naive("data frame and sum()", function() data_frame_ledger(entries))
  ))
}
for (size in sized(10^(0:5), 10^(0:2))) {
  answer <- integer(size)
  rows <- rbind(rows, compare(
    "refine an answer 20 times", size, "numbers",
    ours(function() refine_all(answer)),
    unsafe("rnorm()", function() bridge_all(answer))
  ))
}
for (n in sized(10^(3:6), 10^(3:4))) {
  rows <- rbind(rows, compare("accuracy_first()", n, "people", ours(function() reach(n))))
}
save_rows("ledger", rows)
