# Likelihood-ratio tests of log-linear models of the true table.

two_by_two <- function(lambda) mech_lambda(list(a = 2, b = 2, z = 2), lambda = lambda)

# a and b depend on z and not on one another
mixed_people <- function(n) {
  z <- stats::rbinom(n, 1, .5)
  data.frame(
    a = 1L + stats::rbinom(n, 1, .2 + .6 * z), b = 1L + stats::rbinom(n, 1, .3 + .4 * z), z = 1L + z
  )
}

test_that("with lambda = 1 the test is that of loglin()", {
  table <- HairEyeColor
  m <- mech_lambda(dimnames(table), lambda = 1)
  for (model in list(list(1, 2, 3), list(c(1, 3), c(2, 3)), list(c(1, 2), c(1, 3), c(2, 3)))) {
    reference <- stats::loglin(table, model, fit = TRUE, print = FALSE, eps = 1e-10, iter = 1000)
    test <- log_linear_test(table, m, lapply(model, function(j) names(dimnames(table))[j]))
    expect_equal(unname(test$statistic), reference$lrt, tolerance = 1e-6)
    expect_identical(unname(test$parameter), reference$df)
    expect_close(592 * test$fitted, reference$fit, 1e-4)
    expect_false(test$boundary)
  }
})

test_that("independence of two attributes is the likelihood ratio of the reported table", {
  m <- mech_lambda(list(a = 2, b = 3), lambda = c(.8, .6))
  reported <- as.table(array(c(60, 40, 35, 55, 50, 60), c(2, 3), list(a = 1:2, b = 1:3)))
  test <- log_linear_test(reported, m, ~ a + b)
  expect_false(test$boundary)
  plain <- private_test(reported, m, statistic = "likelihood_ratio")
  expect_equal(unname(test$statistic), unname(plain$statistic), tolerance = 1e-6)
  expect_equal(test$p.value, plain$p.value, tolerance = 1e-6)
})

test_that("the maximum under conditional independence is that of a general optimiser", {
  withr::local_seed(1)
  m <- two_by_two(c(.8, .7, .6))
  reports <- as_plain(privatize(mixed_people(3000), m, rng = "r"))
  reported <- as.vector(table(reports))
  channel <- naive_joint(m$lambda, c(2, 2, 2))
  shares <- function(theta) {
    p <- stats::plogis(theta)
    cells <- expand.grid(a = 1:2, b = 1:2, z = 1:2)
    one <- function(x, q) ifelse(x == 2, q, 1 - q)
    one(cells$z, p[[1]]) * one(cells$a, p[2:3][cells$z]) * one(cells$b, p[4:5][cells$z])
  }
  loss <- function(theta) -sum(reported * log(channel %*% shares(theta)))
  best <- stats::optim(c(0, -1, 1, -1, 1), loss, method = "BFGS", control = list(reltol = 1e-14))
  test <- log_linear_test(reports, m, ~ a * z + b * z)
  fitted <- -sum(reported * log(channel %*% as.vector(test$fitted)))
  expect_equal(fitted, best$value, tolerance = 1e-9)
  expect_close(test$fitted, shares(best$par), 1e-3)
  saturated <- sum(reported * log(channel %*% as.vector(test$saturated)))
  expect_equal(unname(test$statistic), 2 * (saturated + fitted), tolerance = 1e-6)
})

test_that("the test of conditional independence keeps its level where a stratified one rejects", {
  withr::local_seed(2)
  m <- two_by_two(c(.8, .8, .5))
  repeats <- if (extended()) 1000 else 100
  p <- replicate(repeats, {
    reports <- as_plain(privatize(mixed_people(4000), m, rng = "r"))
    c(
      log_linear_test(reports, m, ~ a * z + b * z)$p.value,
      stats::mantelhaen.test(table(reports))$p.value
    )
  })
  # five standard errors of a frequency of 5 %
  expect_lt(mean(p[1, ] < .05), .05 + 5 * sqrt(.05 * .95 / repeats))
  expect_gt(mean(p[2, ] < .05), .9)
})

test_that("a dependence within strata is found", {
  withr::local_seed(3)
  m <- two_by_two(.8)
  people <- mixed_people(5000)
  people$b[people$a == 2] <- 2L
  test <- log_linear_test(privatize(people, m, rng = "r"), m, ~ a * z + b * z)
  expect_lt(test$p.value, 1e-6)
})

test_that("structural zeros have no share, and degrees of freedom count the possible cells", {
  m <- mech_lambda(list(a = 3, b = 3), lambda = .8)
  reported <- as.table(matrix(c(40, 30, 20, 30, 50, 30, 20, 30, 60), 3,
    dimnames = list(a = 1:3, b = 1:3)
  ))
  zeros <- data.frame(a = c("1", "3"), b = c("3", "1"))
  test <- log_linear_test(reported, m, ~ a + b, structural_zeros = zeros)
  expect_identical(test$fitted["1", "3"], 0)
  expect_identical(test$saturated["3", "1"], 0)
  # quasi-independence: 7 possible cells, 1 + 2 + 2 parameters
  expect_identical(unname(test$parameter), 2)
  expect_equal(sum(test$fitted), 1, tolerance = 1e-9)
  shown <- test$fitted
  expect_equal(shown[1, 1] * shown[2, 2], shown[1, 2] * shown[2, 1], tolerance = 1e-7)
})

test_that("a bootstrap p-value is near that of the law inside, and follows the seed", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .8)
  reported <- as.table(matrix(c(140, 100, 90, 110), 2, dimnames = list(a = 1:2, b = 1:2)))
  draw <- function() {
    withr::with_seed(4, log_linear_test(reported, m, ~ a + b, draws = 199)$p.value)
  }
  law <- log_linear_test(reported, m, ~ a + b)$p.value
  expect_identical(draw(), draw())
  expect_lt(abs(draw() - law), 5 * sqrt(law * (1 - law) / 199) + 1 / 200)
})

test_that("a test says what it rests on, and states its guarantee", {
  m <- two_by_two(.3)
  corner <- as.table(array(c(50, 1, 1, 1, 1, 1, 1, 50), c(2, 2, 2),
    list(a = 1:2, b = 1:2, z = 1:2)
  ))
  test <- log_linear_test(corner, m, ~ a * z + b * z)
  expect_s3_class(test, "htest")
  expect_true(test$boundary)
  expect_match(test$method, "boundary")
  expect_identical(privacy(test), m$privacy)
})

test_that("models and zeros that make no sense are refused", {
  m <- two_by_two(.5)
  x <- mixed_people(10)
  models <- list(~ a * b * z, y ~ a, ~ a + q, ~ log(a), ~1, list(), list(1), "a", NULL, ~ offset(a))
  for (model in models) {
    expect_confide_error(log_linear_test(x, m, model), "parameter")
  }
  expect_confide_error(log_linear_test(x, m), "parameter", "`model`")
  expect_confide_error(
    log_linear_test(x, m, ~ a + b, structural_zeros = 1), "parameter", "structural_zeros"
  )
  expect_confide_error(
    log_linear_test(x, m, ~ a + b, structural_zeros = data.frame(a = 3)), "parameter", "\"3\""
  )
  expect_confide_error(log_linear_test(x, m, ~ a + b, max_cells = 3), "parameter", "3 cells")
  expect_confide_error(log_linear_test(x, mech_rr(2, 1), ~ a + b), "parameter", "mech_lambda")
  counts <- count_reports(x, m, weights = rep(2, 10))
  expect_confide_error(log_linear_test(counts, m, ~ a + b), "parameter", "weights")
  exact <- mech_lambda(list(a = 3, b = 3), lambda = 1)
  expect_confide_error(
    log_linear_test(data.frame(a = 1L, b = 1L), exact, ~ a + b,
      structural_zeros = data.frame(a = "1", b = "1")
    ), "parameter", "agree"
  )
})

test_that("a test stratified by an attribute is refused with the reason", {
  m <- two_by_two(.5)
  expect_confide_error(
    private_test(mixed_people(10), m, margin = c("a", "b"), by = "z"), "parameter",
    c("mixes strata", "log_linear_test")
  )
})
