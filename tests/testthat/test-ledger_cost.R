# Naive twins: the definition of the Renyi divergence, summed over the outputs.
# From logarithms of the probabilities, which would underflow.
renyi_of <- function(log_p, log_q, alpha) {
  terms <- alpha * log_p + (1 - alpha) * log_q
  (max(terms) + log(sum(exp(terms - max(terms))))) / (alpha - 1)
}

log_laplace <- function(y, scale) -abs(y) / scale - log(sum(exp(-abs(-4000:4000) / scale)))

# Randomized response at epsilon: the worst pair of distributions of pure differential privacy.
response_renyi_twin <- function(alpha, epsilon) {
  p <- c(epsilon, 0) - log1p(exp(epsilon))
  renyi_of(p, rev(p), alpha)
}

test_that("costs agree with the reference values of the derivation", {
  near <- function(x, y) expect_equal(x, y, tolerance = 1e-10)
  near(vapply(2^(1:5), cost_gaussian, 0, 1, 4), c(.0625, .125, .25, .5, 1))
  near(vapply(2^(1:5), cost_gaussian, 0, sqrt(2), 10), c(.02, .04, .08, .16, .32))
  near(cost_laplace(2, 1), .735325664056)
  near(cost_laplace(4, 1), .895883259645)
  near(cost_laplace(2, 2), .227336293803)
  near(cost_laplace(20, 10), .067139110905)
  near(cost_laplace(8, 10, 5), .411863013720)
  near(cost_pure(20, .01), .000993721904608)
  near(cost_pure(20, .1), .06713911090457)
  near(cost_pure(20, 1), .983512542762199)
  near(cost_pure(2, 1), .735325664055519)
  near(cost_above_threshold(20, sigma = c(50, 100), weight = 1 / 7), .11041632363449)
  near(cost_above_threshold(20, sigma = c(50, 100), weight = 1 / 2), .0444814305557866)
  near(cost_exponential(20, .011009637651) * 11, .01 / 3)
})

test_that("costs are never below the divergence of the exact laws", {
  for (alpha in c(1.5, 2, 7, 20)) {
    for (scale in c(0.7, 1, 3, 10)) {
      for (shift in c(1, 2, 5)) {
        y <- -800:800
        exact <- renyi_of(log_laplace(y, scale), log_laplace(y - shift, scale), alpha)
        cost <- cost_laplace(alpha, scale, shift)
        expect_gte(cost, exact * (1 - 1e-12))
        expect_lt(cost, exact + 1e-9)
        expect_lte(cost, cost_pure(alpha, shift / scale))
      }
    }
    for (epsilon in c(1e-3, 0.1, 1, 5)) {
      exact <- response_renyi_twin(alpha, epsilon)
      expect_gte(cost_pure(alpha, epsilon), exact * (1 - 1e-9))
      expect_equal(cost_pure(alpha, epsilon), exact, tolerance = 1e-8)
      expect_lte(cost_pure(alpha, epsilon), min(epsilon, alpha * epsilon^2 / 2) * (1 + 1e-12))
    }
  }
})

test_that("the discrete Gaussian has the continuous divergence at whole alpha times shift", {
  log_pmf <- function(y, v) -y^2 / (2 * v) - log(sum(exp(-(-3000:3000)^2 / (2 * v))))
  for (v in c(2, 9)) for (shift in 1:2) for (alpha in c(2, 5, 2.5)) {
    y <- -300:300
    exact <- renyi_of(log_pmf(y, v), log_pmf(y - shift, v), alpha)
    expect_gte(cost_gaussian(alpha, shift, sqrt(v)), exact * (1 - 1e-12))
    if (alpha * shift == round(alpha * shift)) {
      expect_equal(cost_gaussian(alpha, shift, sqrt(v)), exact, tolerance = 1e-12)
    }
  }
})

test_that("a subsampled Gaussian costs what the binomial sum in plain doubles says", {
  twin <- function(alpha, q, sigma) {
    k <- 0:alpha
    log(sum(choose(alpha, k) * (1 - q)^(alpha - k) * q^k * exp((k^2 - k) / (2 * sigma^2)))) /
      (alpha - 1)
  }
  for (alpha in c(2, 5, 20)) for (q in c(0.01, 0.08, 0.5)) for (sigma in c(1, 4)) {
    expect_equal(
      cost_subsampled_gaussian(alpha, q, sigma), twin(alpha, q, sigma), tolerance = 1e-8
    )
  }
  expect_equal(cost_subsampled_gaussian(5, 1, 2), cost_gaussian(5, 1, 2))
  expect_identical(cost_subsampled_gaussian(5, 0, 2), 0)
  # tiny rates: the leading term alpha q^2 (e^(1 / sigma^2) - 1) / 2
  expect_equal(
    cost_subsampled_gaussian(3, 1e-9, 4), 3 * 1e-18 * expm1(1 / 16) / 2, tolerance = 1e-6
  )
})

test_that("an order barely above 1 gives a cost above 0", {
  alpha <- 1 + 1e-8
  expect_gt(cost_pure(alpha, 1), 0)
  # the limit is the Kullback-Leibler divergence of randomized response
  expect_equal(cost_pure(alpha, 1), tanh(0.5), tolerance = 1e-6)
  expect_gt(cost_gaussian(alpha, 1, 10), 0)
  expect_gt(cost_laplace(alpha, 2), 0)
  expect_equal(cost_pure(20, 1e6), 1e6)
})

test_that("costs refuse what has no meaning", {
  for (alpha in list(1, 0.5, Inf, NA, NaN, -1, "2", TRUE, c(2, 3), NULL)) {
    expect_confide_error(cost_pure(alpha, 1), "parameter", "alpha")
    expect_confide_error(cost_gaussian(alpha, 1, 1), "parameter", "alpha")
  }
  expect_confide_error(cost_pure(epsilon = 1), "parameter", "alpha")
  expect_confide_error(cost_gaussian(2, 0, 1), "parameter", "sensitivity")
  expect_confide_error(cost_gaussian(2, 1, Inf), "parameter", "sigma")
  expect_confide_error(cost_laplace(2, 1, 0.5), "parameter", "sensitivity")
  expect_confide_error(cost_subsampled_gaussian(2.5, 0.1, 1), "parameter", "alpha")
  expect_confide_error(cost_subsampled_gaussian(2, 1.1, 1), "parameter", "rate")
  expect_confide_error(cost_above_threshold(2), "parameter", "Exactly one")
  expect_confide_error(cost_above_threshold(2, sigma = c(1, 2)), "parameter", "weight")
  expect_confide_error(cost_above_threshold(2, sigma = 1, weight = 1), "parameter", "two numbers")
})

test_that("next to no noise costs what all numbers cost, without an error", {
  expect_identical(
    cost_subsampled_gaussian(20, 0.1, 1e-200), cost_subsampled_gaussian(20, 1, 1e-200)
  )
})
