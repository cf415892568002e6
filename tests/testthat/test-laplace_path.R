log_laplace_law <- function(y, scale) -abs(y) / scale + log(tanh(0.5 / scale))

test_that("every level has the discrete Laplace law and never moves more than it may", {
  set.seed(20271)
  epsilon <- c(0.25, 0.5, 1)
  runs <- 1500
  paths <- replicate(runs, {
    p <- laplace_path(0, sensitivity = 1, epsilon = epsilon, rng = "r")
    vapply(1:3, function(i) {
      p <<- refine(p)
      p$estimate
    }, 0)
  })
  for (k in 1:3) {
    y <- -40:40
    expected <- runs * exp(log_laplace_law(y, 1 / epsilon[[k]]))
    kept <- expected > 5
    observed <- table(factor(paths[k, ], levels = y))[kept]
    statistic <- sum((observed - expected[kept])^2 / expected[kept])
    # five standard deviations of chi-squared
    expect_lt(statistic, sum(kept) + 5 * sqrt(2 * sum(kept)))
  }
  # the atom of the reference value: b = 4, 2 stay together with probability w + (1 - w) tanh(1 / 8)
  w <- .246134082738
  same <- w + (1 - w) * tanh(1 / 8)
  expect_lt(
    abs(mean(paths[1, ] == paths[2, ]) - same), 5 * sqrt(same * (1 - same) / runs)
  )
  # levels are independent narrowings: the difference is uncorrelated with the finer level
  expect_lt(abs(cor(paths[1, ] - paths[2, ], paths[2, ])), 5 / sqrt(runs))
})

test_that("certificates are the realised epsilons and add up in a ledger to the last", {
  l <- ledger(20, neighbours = "add_remove")
  levels <- c(0.01, 0.1, 1 / 3)
  p <- laplace_path(812, sensitivity = 2, epsilon = levels, ledger = l)
  expect_identical(p$epsilon, 0)
  for (k in 1:3) {
    p <- refine(p)
    expect_lte(p$epsilon, levels[[k]])
    expect_equal(p$epsilon, levels[[k]], tolerance = 1e-4)
    expect_gte(p$epsilon * p$scale, 2 * (1 - 1e-12))
    # itself, not alpha epsilon^2 / 2
    expect_equal(spent(l), p$epsilon, tolerance = 1e-12)
  }
  expect_confide_error(refine(p), "budget", "last level")
  expect_prints_small(p)
  expect_identical(epsilon(p), p$epsilon)
  after <- ledger(20, neighbours = "add_remove")
  free <- refine(laplace_path(812, sensitivity = 1, epsilon = 0.1))
  charge(after, free)
  expect_identical(spent(after), free$epsilon)
})

test_that("levels must increase, and other arguments be in range", {
  for (epsilon in list(c(1, 0.5), c(1, 1), 0, -1, NA, "1", numeric())) {
    expect_confide_error(laplace_path(1, 1, epsilon = epsilon), "parameter", "epsilon")
  }
  expect_confide_error(
    laplace_path(1, sensitivity = 1, epsilon = c(1, 1 + 1e-12)), "parameter", "too close"
  )
  expect_confide_error(laplace_path(1, sensitivity = 0.5, epsilon = 1), "parameter", "sensitivity")
  expect_confide_error(laplace_path(1, sensitivity = 1, epsilon = 1e-13), "parameter", "too small")
  expect_confide_error(laplace_path(1.5, sensitivity = 1, epsilon = 1), "domain", "whole")
  # 2^63 has no place in 64 bits: it would come out negative, and its neighbour below would not
  for (value in c(2^53, 2^63, -1e300)) {
    expect_confide_error(laplace_path(value, sensitivity = 1, epsilon = 1), "domain", "2^52")
  }
  p <- laplace_path(1, sensitivity = 1, epsilon = c(1, 2))
  refine(p)
  expect_confide_error(refine(p), "budget", "stale")
})

test_that("nothing but the noisy answers leaves a path", {
  f <- function(x) {
    p <- laplace_path(sum(x > 1), sensitivity = 1, epsilon = c(0.1, 1), neighbours = "add_remove")
    refine(refine(p))$path
  }
  pairs <- neighbour_pairs(numeric(), neighbours = "add_remove", number = 30, non_finite = FALSE)
  expect_true(replay_audit(f, pairs)$ok)
})
