# Parametric bootstrap intervals of estimates that are distributions.

one_way_estimate <- function(counts, lambda = .5, method = "ml") {
  m <- mech_lambda(list(a = length(counts)), lambda = lambda)
  estimate(as.table(array(counts, length(counts), levels(m))), m, method = method)
}

test_that("inside the simplex bootstrap limits are quantiles of reported shares, carried over", {
  withr::local_seed(1)
  e <- one_way_estimate(c(400, 350, 250))
  found <- confint(e, method = "bootstrap", level = .9, replicates = 4000)
  for (cell in 1:3) {
    reported <- stats::qbinom(c(.05, .95), 1000, c(.4, .35, .25)[[cell]]) / 1000
    # the 5 % quantile of 4,000 normal draws has standard error sqrt(.05 * .95 / 4000) / dnorm(1.645)
    # = .033 sd, the sd is .031 here, and reported shares are multiples of 1 / 1000
    expect_close(found[cell, ], (reported - .5 / 3) / .5, 4 * .033 * .031 + 2 / 1000)
  }
  expect_identical(dimnames(found), dimnames(confint(e, level = .9)))
})

test_that("an estimate on the boundary has an interval from 0 upwards", {
  withr::local_seed(2)
  e <- one_way_estimate(c(500, 340, 160))
  expect_identical(coef(e)[["3"]], 0)
  found <- confint(e, "3", method = "bootstrap")
  expect_identical(found[[1]], 0)
  # about 1.96 sd of the linear estimate: sqrt(.16 * .84 / 1000) / .5 = .023
  expect_gt(found[[2]], .02)
  expect_lt(found[[2]], .08)
})

test_that("the seed of R decides, and other methods than ml are bootstrapped by themselves", {
  for (method in c("ml", "simplex", "clip")) {
    e <- estimate(toy_table(), toy_mechanism(), method = method)
    draw <- function(seed) {
      withr::with_seed(seed, confint(e, method = "bootstrap", replicates = 100))
    }
    expect_identical(draw(1), draw(1))
    expect_false(identical(draw(1), draw(2)))
    found <- draw(1)
    expect_true(all(found >= 0 & found <= 1 & found[, 1] <= found[, 2]))
  }
})

test_that("structural zeros and general channels stay what they are", {
  zeros <- array(FALSE, c(2, 3, 2))
  zeros[1, 2, 2] <- TRUE
  e <- estimate(toy_table(), toy_mechanism(), method = "ml", structural_zeros = zeros)
  withr::local_seed(3)
  found <- confint(e, method = "bootstrap", replicates = 100)
  expect_identical(unname(found[as.vector(zeros), ]), c(0, 0))
  m <- mech_matrix(rbind(a = c(u = .7, v = .2, w = .1), b = c(u = .1, v = .3, w = .6)))
  e <- estimate(as.table(array(c(50, 30, 20), 3, list(c("u", "v", "w")))), m, method = "ml")
  found <- confint(e, method = "bootstrap", replicates = 200)
  expect_close(found[1, ], rev(1 - found[2, ]), 1e-6) # the two shares sum to 1
})

test_that("bootstrap intervals cover, at the boundary too", {
  withr::local_seed(4)
  m <- mech_lambda(list(a = 2, b = 3), lambda = .6)
  truth <- c(.5, .2, .15, .14, .01, 0)
  psi <- as.vector(truth %*% as.matrix(m))
  covered <- replicate(150, {
    reports <- as.table(array(stats::rmultinom(1, 500, psi), 2:3, levels(m)))
    e <- estimate(reports, m, method = "ml", control = list(tolerance = 1e-9))
    limits <- confint(e, method = "bootstrap", replicates = 199)
    limits[, 1] <= truth & truth <= limits[, 2]
  })
  # .95 or more for each cell; binomial(150, .95) is below .88 with probability 5e-4
  expect_gt(min(rowMeans(covered)), .88)
})

test_that("what cannot be drawn anew is refused with the reason", {
  m <- toy_mechanism()
  refused <- function(e, says, ...) {
    expect_confide_error(confint(e, method = "bootstrap", ...), "parameter", says)
  }
  refused(estimate(toy_table(), m), "negative")
  records <- table_records(toy_table())
  refused(estimate(records, m, method = "ml", weights = rep(2, 200)), "weighted")
  refused(estimate(toy_table(), m, method = "ml", target = "file"), "file")
  e <- estimate(toy_table(), m, method = "ml")
  refused(e, "replicates", replicates = 10)
  refused(e, "fewer replicates", replicates = 2^26)
  expect_confide_error(confint(e, cut = NA), "parameter", "`cut`")
})

test_that("block designs are bootstrapped through their own estimate", {
  withr::local_seed(5)
  m <- mech_block(8, 1, design = "triples(9,1)")
  shares <- (8:1) / 36
  x <- sample(8, 20000, replace = TRUE, prob = shares)
  reports <- privatize(x, m, rng = "r")
  e <- estimate(reports, m, method = "simplex")
  expect_gt(min(coef(e)), 0)
  found <- confint(e, method = "bootstrap", replicates = 2000)
  # Far from the boundary both are normal. Quantiles of 2,000 draws have a standard error of
  # sqrt(.025 * .975 / 2000) / dnorm(1.96) = .06 standard errors of the estimate.
  expect_close(found, unname(confint(e)), 4 * .06 * max(e$std_error))
  set <- mech_block(8, 1, design = "subset selection(8,2)")
  sets <- estimate(privatize(x, set, rng = "r"), set, method = "simplex")
  expect_error(
    confint(sets, method = "bootstrap", replicates = 100), "only the number",
    class = "confide_error_parameter"
  )
})

test_that("counts that are not whole numbers are refused", {
  for (counts in list(c(.3, .2), c(100.5, 99.5))) {
    e <- estimate(stats::setNames(counts, 1:2), mech_rr(2, 1), method = "ml")
    expect_confide_error(
      confint(e, method = "bootstrap", replicates = 100), "parameter", "not whole numbers"
    )
  }
})
