# Surveys of several attributes: randomize, estimate joint tables and regressions, beside naive R, the
# textbook inverse, and RRreg, rr, GLMMRR and sdcMicro where they are installed.
# Usage: Rscript bench/lambda.R [--quick] (package installed)
source("bench/tools/common.R")

survey <- function(n, m, size) {
  columns <- replicate(m, factor(sample(size, n, TRUE), seq_len(size)), simplify = FALSE)
  as.data.frame(stats::setNames(columns, paste0("a", seq_len(m))))
}

# One draw a person, as one would write it first, and a column at once.
one_by_one <- function(x, lambda) {
  for (name in names(x)) {
    levels <- levels(x[[name]])
    for (i in seq_along(x[[name]])) {
      if (stats::runif(1) > lambda) x[[name]][i] <- sample(levels, 1)
    }
  }
  x
}

by_column <- function(x, lambda) {
  x[] <- lapply(x, function(column) {
    changed <- stats::runif(length(column)) > lambda
    column[changed] <- sample(levels(column), sum(changed), TRUE)
    column
  })
  x
}

channel_of <- function(size, lambda) lambda * diag(size) + (1 - lambda) / size

explicit_estimate <- function(table, lambda) {
  channels <- lapply(dim(table), channel_of, lambda)
  joint <- Reduce(function(fast, slow) kronecker(slow, fast), channels)
  solve(t(joint), as.vector(table) / sum(table))
}

# The inverse of a Kronecker product is one small inverse along each attribute.
mode_by_mode <- function(table, lambda) {
  shares <- table / sum(table)
  sizes <- dim(table)
  for (size in sizes) {
    flat <- matrix(shares, size)
    shares <- t(solve(t(channel_of(size, lambda)), flat)) # the first attribute becomes the last
  }
  as.vector(shares)
}

set.seed(1)
lambda <- 0.7
rows <- NULL

for (n in sized(10^(3:6), 10^(2:4))) {
  x <- survey(n, 3, 5)
  m <- mech_lambda(x, lambda = lambda)
  rows <- rbind(rows, compare(
    "randomize 3 attributes", n, "people",
    ours(function() privatize(x, m)),
    if (n <= sized(1e4, 1e3)) naive("a draw for each person", function() one_by_one(x, lambda)),
    textbook("runif() and sample()", function() by_column(x, lambda))
  ))
}

n <- sized(1e5, 1e3)
x <- survey(n, 1, 5)
m <- mech_lambda(x, lambda = lambda)
channel <- unname(as.matrix(m))
dimnames(channel) <- list(levels(x$a1), levels(x$a1))
rows <- rbind(rows, compare(
  "randomize 1 attribute", n, "people",
  ours(function() privatize(x, m)),
  textbook("runif() and sample()", function() by_column(x, lambda)),
  peer("sdcMicro", "pram", function() {
    sdcMicro::pram(x, variables = "a1", pd = channel, alpha = 1)
  })
))

# 20,000 people; with more cells than people most are empty.
for (attributes in sized(c(2:5, 8, 10), 2:4)) {
  x <- survey(2e4, attributes, 5)
  m <- mech_lambda(x, lambda = lambda)
  counts <- count_reports(privatize(x, m), m)
  table <- table(as_plain(privatize(x, m)))
  if (attributes <= 4) {
    found <- unname(coef(estimate(table, m)))
    agree(found, explicit_estimate(table, lambda), 1e-10)
    agree(found, mode_by_mode(table, lambda), 1e-10)
  }
  rows <- rbind(rows, compare(
    "joint table", 5^attributes, "cells",
    ours(function() estimate(counts, m), "confide, with standard errors"),
    if (attributes <= sized(4, 3)) {
      textbook("explicit inverse", function() explicit_estimate(table, lambda))
    },
    textbook("attribute by attribute in R", function() mode_by_mode(table, lambda))
  ))
}

# One attribute of 4 levels with standard errors: the same estimate in RRreg.
for (n in sized(10^(3:5), 10^(2:3))) {
  x <- survey(n, 1, 4)
  m <- mech_lambda(x, lambda = 0.6)
  reports <- as_plain(privatize(x, m))
  data <- data.frame(response = as.integer(reports$a1) - 1)
  rrreg <- function() RRreg::RRuni(response, data, "FR", rep(0.1, 4), MLest = FALSE)
  if (has_peer("RRreg")) {
    e <- estimate(reports, m)
    theirs <- rrreg()
    agree(unname(coef(e)), unname(theirs$pi), 1e-10)
    agree(unname(e$std_error), unname(theirs$piSE), 1e-10)
  }
  rows <- rbind(rows, compare(
    "shares of one attribute", n, "people",
    ours(function() estimate(reports, m)),
    peer("RRreg", "RRuni", rrreg)
  ))
}

# Logistic regression of a randomized yes or no on an exact number: one likelihood, three packages.
for (n in sized(10^(3:5), c(300, 1000))) {
  z <- stats::rnorm(n)
  m <- mech_lambda(list(y = c("no", "yes")), lambda = 0.6)
  truth <- factor(c("no", "yes"))[1 + (stats::runif(n) < stats::plogis(-0.5 + z))]
  data <- data.frame(y = as_plain(privatize(data.frame(y = truth), m))$y, z = z)
  data$answer <- as.integer(data$y) - 1L
  data[c("item", "kind", "kept", "forced_yes")] <- list("one", "Forced", 0.6, 0.5) # as GLMMRR has it
  fits <- list(
    ours(function() coef(private_glm(y ~ z, data, m))),
    peer("RRreg", "RRlog", function() {
      RRreg::RRlog(answer ~ z, data, model = "FR", p = c(0.2, 0.2))$coefficients
    }),
    peer("rr", "rrreg", function() {
      rr::rrreg(
        answer ~ z,
        data = data, p = 0.6, p0 = 0.2, p1 = 0.2, design = "forced-known"
      )$est
    }),
    peer("GLMMRR", "RRglm", function() {
      coef(GLMMRR::RRglm(
        answer ~ z, GLMMRR::RRlink.logit, item, kind, kept, forced_yes, data
      ))
    })
  )
  fits <- Filter(Negate(is.null), if (n > 1e4) fits[1] else fits)
  if (n <= 1000) for (fit in fits[-1]) agree(unname(fits[[1]]$run()), unname(fit$run()), 1e-3)
  rows <- rbind(rows, do.call(compare, c(list("logistic regression", n, "people"), fits)))
}
save_rows("lambda", rows)
