# The audit of a private mean: what was spent, and the noise of each step by the formula.

audited_means <- function() {
  x <- withr::with_seed(1, matrix(stats::rnorm(800), ncol = 2))
  mean_of <- function(...) private_mean(x, ..., sigma = "none", rng = "r")
  withr::local_seed(2)
  list(
    mean_of(rho = 0.5), mean_of(rho = 0.5, neighbours = "zero_out"), mean_of(epsilon = 2),
    mean_of(epsilon = 2, neighbours = "zero_out"), mean_of(rho = 0.5, method = "coinpress"),
    mean_of(rho = 0.5, method = "huber"), mean_of(rho = 0.5, method = "instance_optimal"),
    mean_of(rho = 0.5, control = balloon_control(start = "mean")),
    mean_of(epsilon = 2, control = balloon_control(start = "mean", iterations = 2))
  )
}

test_that("the noise of each step is what its share of the budget asks for, and not much more", {
  for (fit in audited_means()) {
    found <- audit(fit)
    expect_true(found$ok)
    expect_lte(found$realised, found$claim)
    expect_lte(found$spent, found$claim)
    # the grid of a step is 2^-20 of its noise or finer
    expect_close(found$noise_ratio, 1, 1e-5)
  }
})

test_that("a mean with too little noise or too large a bill fails", {
  for (fit in audited_means()) {
    quiet <- fit
    quiet$noise_sd[[1]] <- quiet$noise_sd[[1]] / 2
    expect_false(audit(quiet)$ok)
    dear <- fit
    dear$steps$budget[[1]] <- 3
    expect_false(audit(dear)$ok)
    expect_match(format(audit(dear)), "FAILS", all = FALSE)
  }
})

test_that("the coordinate median has no mean step, and its bill is audited", {
  x <- matrix(seq_len(800), ncol = 2)
  fit <- private_mean(x, rho = 0.5, sigma = "none", method = "coordinate_median")
  expect_true(audit(fit)$ok)
  expect_identical(audit(fit)$noise_ratio, Inf)
  expect_error(audit(fit, draws = 10), class = "confide_error_parameter")
})

test_that("the audit prints what it looked at", {
  text <- format(audit(audited_means()[[1]]))
  expect_match(text[[1]], "private mean")
  expect_match(text, "the claim holds", all = FALSE)
  expect_true(all(nchar(text) <= 80))
})

test_that("each step is held against its own share, in the order of the steps", {
  x <- withr::with_seed(1, matrix(stats::rnorm(800), ncol = 2))
  control <- balloon_control(start = "mean", start_share = 0.3, iterations = 3)
  fit <- private_mean(x, rho = 0.5, sigma = "none", radius = 7, filter = "none", control = control)
  expect_identical(fit$radii[[1]], 7)
  # by hand: the interval takes 5 %, the start 30 % of the rest
  needed <- 2 * 7 / 400 / sqrt(2 * 0.5 * 0.95 * 0.3)
  expect_equal(fit$noise_sd[[1]], needed, tolerance = 1e-5)
  ratios <- confide:::mean_noise_ratios(fit, "rho")
  expect_length(ratios, 4)
  expect_equal(ratios, rep(1, 4), tolerance = 1e-5)
})
