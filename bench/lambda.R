# Ratios and differences only: lambda-randomization beside naive R loops, the explicit inverse of
# the joint channel, sdcMicro::pram() and RRreg::RRuni() where these are installed (both on CRAN).
# Usage: Rscript bench/lambda.R (package installed)
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

survey <- function(n, m, size) {
  columns <- replicate(m, factor(sample(size, n, TRUE), seq_len(size)), simplify = FALSE)
  as.data.frame(stats::setNames(columns, paste0("a", seq_len(m))))
}

# One draw a person, as one would write it first.
naive_randomize <- function(x, lambda) {
  for (name in names(x)) {
    levels <- levels(x[[name]])
    for (i in seq_along(x[[name]])) {
      if (stats::runif(1) > lambda) x[[name]][i] <- sample(levels, 1)
    }
  }
  x
}

explicit_estimate <- function(table, lambda) {
  one <- function(size) lambda * diag(size) + (1 - lambda) / size
  joint <- Reduce(function(fast, slow) kronecker(slow, fast), lapply(dim(table), one))
  solve(t(joint), as.vector(table) / sum(table))
}

set.seed(1)

x <- survey(2000, 3, 5)
m <- mech_lambda(x, lambda = 0.7)
ours <- seconds(privatize(x, m))
cat(sprintf("randomize: naive loop / privatize = %.0f\n", seconds(naive_randomize(x, 0.7)) / ours))

for (attributes in 2:5) {
  x <- survey(20000, attributes, 5)
  m <- mech_lambda(x, lambda = 0.7)
  counts <- count_reports(privatize(x, m), m)
  table <- table(x) # its cells are filled like those of the reports
  reported <- as.table(array(coef(estimate(x, mech_lambda(x, lambda = 1))), dim(table)))
  ours <- seconds(found <- estimate(counts, m))
  if (attributes < 5) {
    plain <- table(as_plain(privatize(x, m, rng = "r")))
    gap <- max(abs(coef(estimate(plain, m)) - explicit_estimate(plain, 0.7)))
    theirs <- seconds(explicit_estimate(table, 0.7))
    cat(sprintf(
      "%5d cells: explicit inverse / estimate = %.1f, largest difference %.0e\n",
      5^attributes, theirs / ours, gap
    ))
  } else {
    cat(sprintf("%5d cells: the explicit inverse needs %.0f MB\n", 5^attributes, 8 * 25^5 / 2^20))
  }
}

x <- survey(1e5, 10, 5)
m <- mech_lambda(x, lambda = 0.7)
counts <- count_reports(privatize(x, m), m)
unit <- seconds(sum(stats::runif(5^10)))
cat(sprintf(
  "%d cells: estimate with standard errors / drawing as many uniform numbers = %.1f\n", 5^10,
  seconds(estimate(counts, m)) / unit
))

if (requireNamespace("RRreg", quietly = TRUE)) {
  lambda <- 0.6
  x <- survey(5000, 1, 4)
  m <- mech_lambda(x, lambda = lambda)
  reports <- privatize(x, m, rng = "r")
  e <- estimate(reports, m)
  data <- data.frame(response = as.integer(reports$a1) - 1)
  theirs <- RRreg::RRuni(response, data, "FR", rep((1 - lambda) / 4, 4), MLest = FALSE)
  cat(sprintf(
    "RRreg: shares differ by %.0e, standard errors by %.0e, RRuni / estimate = %.1f\n",
    max(abs(theirs$pi - coef(e))), max(abs(theirs$piSE - e$std_error)),
    seconds(RRreg::RRuni(response, data, "FR", rep((1 - lambda) / 4, 4), MLest = FALSE)) /
      seconds(estimate(reports, m))
  ))
  # regression of an exact number on a randomized answer
  truth <- stats::rbinom(5000, 1, 0.4)
  m <- mech_lambda(list(a = c("no", "yes")), lambda = lambda)
  data <- data.frame(
    a = factor(c("no", "yes"))[truth + 1], y = 1 + 2 * truth + stats::rnorm(5000)
  )
  data$a <- as_plain(privatize(data["a"], m, rng = "r"))$a
  fit <- private_lm(y ~ a, data, m)
  other <- RRreg::RRlin(
    y ~ response, data.frame(y = data$y, response = as.integer(data$a) - 1), "FR",
    list(rep((1 - lambda) / 2, 2))
  )
  # RRlin() maximises a likelihood with normal errors, private_lm() does not assume them
  cat("slope and standard error of a randomized predictor, truth 2:\n")
  print(rbind(
    private_lm = unname(c(coef(fit)[[2]], sqrt(vcov(fit)[2, 2]))),
    RRlin = c(other$beta[["response"]], sqrt(other$vcov["response", "response"]))
  ), digits = 4)
}

if (requireNamespace("sdcMicro", quietly = TRUE)) {
  x <- survey(1e5, 1, 5)
  m <- mech_lambda(x, lambda = 0.7)
  channel <- as.matrix(m)
  dimnames(channel) <- list(levels(x$a1), levels(x$a1))
  theirs <- seconds(sdcMicro::pram(x, variables = "a1", pd = channel, alpha = 1))
  cat(sprintf("sdcMicro::pram / privatize = %.0f\n", theirs / seconds(privatize(x, m))))
  kept <- replicate(20, {
    y <- sdcMicro::pram(x, variables = "a1", pd = channel, alpha = 1)
    mean(y$a1_pram == y$a1)
  })
  cat(sprintf(
    "share that pram() keeps: %.4f (se %.4f), channel's diagonal %.4f\n", mean(kept),
    stats::sd(kept) / sqrt(20), channel[[1]]
  ))
}
