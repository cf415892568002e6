# Synthetic rows from a private tree of pair tables, beside the same written in plain R with noise in
# doubles, and synthpop where it is installed: its tables of all attributes at once with an epsilon,
# and its default, which promises no privacy. Usage: Rscript bench/synthetic.R [--quick] (package
# installed)
source("bench/tools/common.R")
if (has_peer("synthpop")) suppressMessages(library(synthpop)) # it looks its methods up by name

# Attributes of 6 levels, each leaning on the one before.
chain <- function(n, m) {
  columns <- vector("list", m)
  columns[[1]] <- sample.int(6, n, TRUE)
  for (j in seq_len(m)[-1]) {
    keep <- stats::runif(n) < 0.5
    columns[[j]] <- ifelse(keep, columns[[j - 1]], sample.int(6, n, TRUE))
  }
  columns <- lapply(columns, factor, levels = 1:6)
  as.data.frame(stats::setNames(columns, paste0("a", seq_len(m))))
}

information <- function(shares) {
  independent <- outer(rowSums(shares), colSums(shares))
  sum(ifelse(shares > 0, shares * log(shares / independent), 0))
}

# Chow and Liu (1968) on noisy tables of all pairs: the tree of most information, then rows from it.
noisy_tree <- function(data, sd) {
  m <- ncol(data)
  n <- nrow(data)
  tables <- matrix(list(), m, m)
  weight <- matrix(-Inf, m, m)
  for (i in seq_len(m - 1)) {
    for (j in (i + 1):m) {
      noisy <- table(data[[i]], data[[j]]) + stats::rnorm(36, sd = sd)
      tables[[i, j]] <- pmax(noisy, 0) / sum(pmax(noisy, 0))
      tables[[j, i]] <- t(tables[[i, j]])
      weight[i, j] <- weight[j, i] <- information(tables[[i, j]])
    }
  }
  rows <- matrix(0L, n, m)
  rows[, 1] <- sample.int(6, n, TRUE, rowSums(tables[[1, 2]]))
  inside <- 1
  while (length(inside) < m) {
    outside <- setdiff(seq_len(m), inside)
    best <- which(weight[inside, outside, drop = FALSE] == max(weight[inside, outside]), TRUE)
    from <- inside[[best[[1, 1]]]]
    to <- outside[[best[[1, 2]]]]
    for (level in 1:6) {
      here <- which(rows[, from] == level)
      rows[here, to] <- sample.int(6, length(here), TRUE, tables[[from, to]][level, ] + 1e-12)
    }
    inside <- c(inside, to)
  }
  rows
}

methods_for <- function(data) {
  n <- nrow(data)
  small <- ncol(data) <= 5
  list(
    ours(function() simulate(synthesize(data, rho = 0.5, neighbours = "replace"), n)),
    unsafe("the same in R with rnorm()", function() noisy_tree(data, 10)),
    if (small) peer("synthpop", "syn, catall with epsilon", function() {
      utils::capture.output( # it warns of empty cells on the screen
        synthpop::syn(data, method = "catall", catall.epsilon = 1, print.flag = FALSE)
      )
    }),
    if (n <= 1e4) peer("synthpop", "syn, default (no guarantee)", function() {
      synthpop::syn(data, print.flag = FALSE)
    })
  )
}

set.seed(1)
rows <- NULL
for (n in sized(10^(3:6), 10^(2:4))) {
  data <- chain(n, 5)
  rows <- rbind(
    rows, do.call(compare, c(list("synthetic rows, 5 attributes", n, "people"), methods_for(data)))
  )
}
for (m in sized(c(4, 8, 16, 32), c(3, 4, 6))) {
  data <- chain(sized(1e4, 500), m)
  rows <- rbind(
    rows,
    do.call(compare, c(list("synthetic rows, 10,000 people", m, "attributes"), methods_for(data)))
  )
}
save_rows("synthetic", rows)
