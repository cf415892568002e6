test_that("conversions agree with the reference values of the derivation", {
  near <- function(x, y) expect_equal(x, y, tolerance = 1e-10)
  alphas <- 2^(1:5)
  certificates <- alphas / 32 # alpha / (2 sigma^2), sigma = 4
  one <- function(how) {
    mapply(function(x, a) as_approx_dp(x, alpha = a, delta = 1e-5, how = how), certificates, alphas)
  }
  near(one("probabilistic"), c(
    11.5754254649702, 3.96264182165674, 1.89470363785289, 1.26752836433135, 1.37138469241839
  ))
  near(one("hockey_stick"), c(
    10.1891311038503, 3.21286162883167, 1.46410916784553, 1.01815059504446, 1.22783806175544
  ))
  near(as_approx_dp(10^(-4 / 3), alpha = 20, delta = 1e-5, how = "probabilistic"), .652359333860877)
  near(as_approx_dp(10^(-4 / 3), alpha = 20, delta = 1e-5), .44339591981259)
  near(approx_dp_delta(.5, alpha = 8, epsilon = 2), 1.35168135802977e-06)
  mix <- function(how) as_approx_dp(certificates, alpha = alphas, delta = 1e-5, how = how)
  near(mix("mixture"), 1.36319390946959)
  near(mix("mixture_hockey_stick"), 1.12311892315689)
  near(min(mapply(function(x, a) {
    as_approx_dp(x, alpha = a, delta = 1e-5 / 5, how = "probabilistic")
  }, certificates, alphas)), 1.37482422516029)
  near(zcdp_to_approx_dp(.03125, 1e-5, "mixture", r = .01), 1.33987161941281)
  near(zcdp_to_approx_dp(.5, 1e-6, "mixture", r = 1), 7.84001010155569)
  near(zcdp_to_approx_dp(.00232, 1e-5, "mixture", r = .0005), .35332506425168)
  near(zcdp_to_approx_dp(.1, 1e-6), 2.14193892838547)
  near(plan_alpha(.00232, 1e-5), 71.4447859876)
})

test_that("delta at the converted epsilon is the delta that was asked", {
  for (alpha in c(2, 20, 71)) for (x in c(0.01, 0.5, 3)) {
    epsilon <- as_approx_dp(x, alpha = alpha, delta = 1e-6)
    expect_equal(approx_dp_delta(x, alpha = alpha, epsilon = epsilon), 1e-6, tolerance = 1e-9)
  }
})

test_that("a mixture of one alpha is that alpha, and a mixture is never below its best alpha", {
  for (how in c("mixture", "mixture_hockey_stick")) {
    single <- if (how == "mixture") "probabilistic" else "hockey_stick"
    expect_equal(
      as_approx_dp(0.3, alpha = 8, delta = 1e-5, how = how),
      as_approx_dp(0.3, alpha = 8, delta = 1e-5, how = single),
      tolerance = 1e-12
    )
    alphas <- c(3, 9, 27)
    alone <- mapply(function(a) {
      as_approx_dp(0.01 * a, alpha = a, delta = 1e-5, how = single)
    }, alphas)
    expect_gt(as_approx_dp(0.01 * alphas, alpha = alphas, delta = 1e-5, how = how), min(alone))
  }
  uneven <- as_approx_dp(
    0.01 * alphas,
    alpha = alphas, delta = 1e-5, how = "mixture", weights = c(0.01, 0.01, 0.98)
  )
  expect_lt(uneven, as_approx_dp(0.01 * alphas, alpha = alphas, delta = 1e-5, how = "mixture"))
})

test_that("a Gaussian's conversions lie above its exact profile", {
  # Balle and Wang 2018: delta(epsilon) of the Gaussian mechanism with sensitivity 1
  exact_delta <- function(epsilon, sigma) {
    pnorm(1 / (2 * sigma) - epsilon * sigma) -
      exp(epsilon) * pnorm(-1 / (2 * sigma) - epsilon * sigma)
  }
  for (sigma in c(1, 4, 16)) for (delta in c(1e-3, 1e-8)) {
    rho <- 1 / (2 * sigma^2)
    epsilon <- zcdp_to_approx_dp(rho, delta)
    expect_lt(exact_delta(epsilon, sigma), delta)
    # no alpha of a grid does better, but for the grid's step
    grid <- vapply(1 + exp(seq(-6, 6, 0.01)), function(a) {
      as_approx_dp(a * rho, alpha = a, delta = delta)
    }, 0)
    expect_lte(epsilon, min(grid))
    expect_gt(epsilon, min(grid) * (1 - 1e-4))
  }
})

test_that("the half-normal mixture costs about 6 percent over the best probabilistic alpha", {
  for (rho in c(0.001, 0.1, 2)) {
    best <- rho + 2 * sqrt(rho * log(1e5))
    mixed <- zcdp_to_approx_dp(rho, 1e-5, "mixture", r = 0.08 * rho)
    expect_gt(mixed, best)
    expect_lt(mixed, 1.08 * best)
  }
})

test_that("alpha cannot be chosen after the fact", {
  l <- ledger(20, neighbours = "replace")
  charge(l, epsilon = 0.1)
  expect_confide_error(as_approx_dp(l, alpha = 8, delta = 1e-5), "parameter", "not valid")
  expect_confide_error(as_approx_dp(l, delta = 1e-5, how = "mixture"), "parameter", "several")
  expect_confide_error(
    as_approx_dp(c(0.1, 0.2), alpha = c(2, 4), delta = 1e-5), "parameter", "not valid"
  )
  expect_confide_error(as_approx_dp(0.1, alpha = c(2, 4), delta = 1e-5), "parameter", "one number")
  expect_confide_error(as_approx_dp(0.1, delta = 1e-5), "parameter", "no default")
  expect_confide_error(zcdp_to_approx_dp(0.1, 1e-5, "mixture"), "parameter", "fixed before")
})

test_that("extreme deltas and orders give numbers, never negative ones", {
  for (delta in list(0, 1, 1.0000001, -1e-20, NA, "a", TRUE, NULL)) {
    expect_confide_error(as_approx_dp(1, alpha = 2, delta = delta), "parameter", "delta")
    expect_confide_error(zcdp_to_approx_dp(1, delta), "parameter", "delta")
  }
  expect_confide_error(as_approx_dp(1, alpha = 2), "parameter", "delta")
  expect_identical(as_approx_dp(0.001, alpha = 2, delta = 0.9), 0)
  expect_gt(as_approx_dp(1, alpha = 2, delta = 1e-320), 700)
  expect_gt(as_approx_dp(1, alpha = 1 + 1e-8, delta = 1e-6), 1e8)
  expect_identical(as_approx_dp(1e-9, alpha = c(2, 3)[[1]], delta = 0.999), 0)
  for (alpha in list(1, 0.5, Inf, NA, NaN)) {
    expect_confide_error(as_approx_dp(1, alpha = alpha, delta = 1e-5), "parameter", "alpha")
  }
})

# Stopping tests: the loss of the Gaussian mechanism with sensitivity 1 at precision u, under the
# first data set, is u / 2 + W(u) with a Brownian motion W.
stopped_losses <- function(runs, precision) {
  steps <- sqrt(diff(c(0, precision)))
  walk <- apply(matrix(rnorm(runs * length(steps)), runs) %*% diag(steps), 1, cumsum)
  t(walk + precision / 2)
}

ever_above <- function(losses, bounds) mean(apply(t(losses) > bounds, 2, any))

test_that("bounds hold whenever one stops, and the minimum over alpha does not", {
  set.seed(20265)
  runs <- 4000
  precision <- exp(seq(log(1e-4), log(100), length.out = 400))
  losses <- stopped_losses(runs, precision)
  delta <- 0.05
  # five standard errors at probability 0.05
  slack <- 5 * sqrt(delta * (1 - delta) / runs)
  bound <- function(a) a * precision / 2 + log(1 / delta) / (a - 1)
  for (alpha in c(3, 9)) {
    ours <- vapply(alpha * precision / 2, as_approx_dp, 0,
      alpha = alpha, delta = delta, how = "probabilistic"
    )
    expect_equal(ours, bound(alpha), tolerance = 1e-12)
    expect_lt(ever_above(losses, ours), delta + slack)
  }
  mixture <- vapply(precision / 2, zcdp_to_approx_dp, 0, delta = delta, how = "mixture", r = 0.08)
  expect_lt(ever_above(losses, mixture), delta + slack)
  # the negative control: choosing alpha after the fact
  alphas <- 1 + exp(seq(-6, 6, 0.05))
  smallest <- apply(vapply(alphas, bound, precision), 1, min)
  # the derivation measured 0.178; five standard errors below it
  expect_gt(ever_above(losses, smallest), 0.178 - 5 * sqrt(0.178 * 0.822 / runs))
})

test_that("the line of Whitehouse et al. and the best order known beforehand are members of the family", {
  probabilistic <- function(alpha, sigma, delta) {
    as_approx_dp(cost_gaussian(alpha, 1, sigma), alpha = alpha, delta = delta, how = "probabilistic")
  }
  # slope 2: 1/2 + log(1e6) / 4 + 2, the value of the derivation
  expect_close(probabilistic(5, 1, 1e-6), 5.95387763949107, 1e-12)
  best <- stats::optimize(function(alpha) probabilistic(alpha, 4, 1e-5), c(2, 64), tol = 1e-8)
  expect_close(best$objective, 1 / 32 + sqrt(2 * log(1e5)) / 4, 1e-12)
  expect_close(best$objective, 1.23088147804702, 1e-10)
})

test_that("the smallest rho converts to next to nothing, the largest to itself and a bit more", {
  for (rho in c(1e-320, 1e-300)) {
    expect_gte(zcdp_to_approx_dp(rho, 1e-6), 0)
    expect_lt(zcdp_to_approx_dp(rho, 1e-6), 1e-100)
  }
  for (rho in c(1e20, 1e300)) {
    epsilon <- zcdp_to_approx_dp(rho, 1e-6)
    expect_gte(epsilon, rho)
    expect_lt(epsilon, rho * (1 + 1e-6))
  }
})

test_that("parts that cancel are rounded up", {
  # with alpha = 2 and delta = 1/4 the logarithms cancel exactly
  for (epsilon in c(1e-17, 3e-16, 1e-10, 1)) {
    found <- as_approx_dp(epsilon, alpha = 2, delta = 1 / 4)
    expect_gte(found, epsilon)
    expect_lte(found, epsilon * (1 + 1e-12) + 1e-14)
  }
})

test_that("the conversions hold at the ends of the doubles", {
  expect_identical(approx_dp_delta(0.5, alpha = 8, epsilon = 1e308), 2^-1074)
  expect_identical(approx_dp_delta(1e308, alpha = 8, epsilon = 1), 1)
  expect_identical(zcdp_to_approx_dp(.Machine$double.xmax, delta = 1e-6), Inf)
  expect_gte(zcdp_to_approx_dp(1e300, delta = 1e-6), 1e300)
  expect_lte(zcdp_to_approx_dp(1e300, delta = 1e-6), 1.001e300)
})

test_that("a release with a rho is pointed to its own conversion", {
  release <- private_sum(1, bound = 1, rho = 1, neighbours = "replace")
  expect_confide_error(as_approx_dp(release, delta = 1e-6), "parameter", "epsilon(x, delta = 1e-6)")
  plain <- expect_confide_error(as_approx_dp(mech_rr(2, 1), delta = 1e-6), "parameter")
  expect_no_match(plain, "rho")
})
