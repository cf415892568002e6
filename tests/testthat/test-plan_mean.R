# Planning a private mean: each of n, rho and error from the other two.

bare <- function(d, ..., distribution = "gaussian", start = sqrt(d)) {
  list(
    d = d, distribution = distribution, sigma = "matrix", filter = "none", reach = 2,
    control = balloon_control(..., interval_share = 0), start = start
  )
}

# Mean square error of private_mean() at mu = (1, ..., 1), and its Monte Carlo error.
simulated <- function(setting, n, rho, repetitions) {
  d <- setting$d
  squares <- replicate(repetitions, {
    x <- study_distributions[[setting$distribution]](n, d) + 1
    fit <- private_mean(x, rho,
      sigma = diag(d), filter = "none", control = setting$control, rng = "r"
    )
    sum((coef(fit) - 1)^2)
  })
  c(mean = mean(squares), error = stats::sd(squares) / sqrt(repetitions))
}

test_that("the planned error is the root mean square error of private_mean()", {
  withr::local_seed(1)
  cases <- list(
    list(bare(8), 1000, .01), list(bare(32), 2000, .02), list(bare(2), 1000, .05),
    list(bare(8, distribution = "t3"), 2000, .05), list(bare(1), 20000, .5),
    list(bare(1, iterations = 3), 20000, .5), list(bare(1, r_min = 0.01), 2000, .5)
  )
  for (case in cases) {
    planned <- planned_error(case[[1]], case[[2]], case[[3]])^2
    found <- simulated(case[[1]], case[[2]], case[[3]], 80)
    # 4 Monte Carlo errors, and the 5 % on the scale of the error that the formula promises
    expect_lt(abs(found[["mean"]] - planned), 4 * found[["error"]] + 0.1 * planned)
  }
})

test_that("averaging does not keep the start", {
  withr::local_seed(2)
  # (1 - lambda) sqrt(8) = 0.8 of the start is left after the first step; a plain average of the
  # iterates has an error of 0.14 here, the last iterate one of 0.065
  setting <- bare(8, distribution = "cauchy")
  expect_lt(sqrt(simulated(setting, 5000, 1, 20)[["mean"]]), 0.09)
  expect_lt(planned_error(setting, 5000, 1), 0.09)
})

test_that("published simulations of single cells are planned for", {
  # d, n, rho, root mean square error of 40 simulations by others, last iterate, 60 % for it
  cells <- rbind(
    c(32, 5000, .01, .143), c(128, 1000, .01, 4.23), c(128, 5000, 1, .168)
  )
  for (row in seq_len(nrow(cells))) {
    cell <- cells[row, ]
    setting <- bare(cell[[1]], average = FALSE, split = 0.6)
    expect_equal(planned_error(setting, cell[[2]], cell[[3]]), cell[[4]], tolerance = 0.05)
  }
})

test_that("without privacy and clipping the error is that of the sample mean", {
  setting <- bare(3, tau = 1 - 1e-9, start = 0)
  expect_equal(planned_error(setting, 1000, no_privacy), sqrt(3 / 1000), tolerance = 1e-3)
  setting <- bare(1, tau = 1 - 1e-15, distribution = "t3", start = 0)
  # the variance of Student's t with 3 degrees of freedom is 3; its tail converges slowly
  records <- planned_records(setting, 1e5)
  expect_equal(mean_errors(setting, 1000, no_privacy, records)[["sampling"]], 3 / 1000,
    tolerance = 0.05
  )
})

test_that("with a small radius one column gives the median", {
  # psi is then a sign: the asymptotic variance of the median is pi / 2 / n
  setting <- bare(1, tau = 0.01, r_min = 1e-3, start = 0)
  n <- 1e8
  sampling <- mean_errors(setting, n, no_privacy, planned_records(setting, 1e5))[["sampling"]]
  expect_equal(n * sampling, pi / 2, tolerance = 0.02)
})

test_that("noises arrive with the weights of the recursion", {
  weights <- c(.2, .3, .5)
  kept <- c(.4, .1, .25)
  arrived <- vapply(0:3, function(origin) {
    state <- if (origin == 0) 1 else 0
    total <- 0
    for (step in 1:3) {
      state <- kept[[step]] * state + (step == origin)
      total <- total + weights[[step]] * state
    }
    total
  }, numeric(1))
  expect_equal(carried_weights(weights, kept), arrived, tolerance = 1e-14)
})

test_that("each of the three gives the others back", {
  for (d in c(1, 8)) {
    plan <- plan_mean(d, n = 4000, rho = .05)
    expect_identical(plan$solved, "error")
    n <- plan_mean(d, rho = .05, error = plan$error * (1 + 1e-9))$n
    expect_lte(n, 4000)
    expect_gte(n, 3990)
    rho <- plan_mean(d, n = 4000, error = plan$error)$rho
    expect_equal(rho, .05, tolerance = 1e-6)
  }
})

test_that("from the planned number on the error is reached, in spite of the filter's share", {
  for (error in c(.15, .17, .2, .22)) {
    planned <- function(...) plan_mean(8, rho = .05, sigma = "none", ...)
    plan <- planned(error = error)
    later <- round(plan$n * c(1, 1.01, 1.1, 1.3, 2, 5, 20))
    errors <- vapply(later, function(n) planned(n = n)$error, numeric(1))
    expect_true(all(errors <= error))
    expect_gt(planned(n = plan$n - 1)$error, error)
  }
})

test_that("the budget is divided as the estimator divides it", {
  shares <- plan_mean(8, n = 5000, rho = 1)$shares
  # all but the 2^-40th that private_mean() keeps back for rounding
  expect_equal(sum(shares), 1 - 2^-40, tolerance = 1e-14)
  x <- matrix(0, 5000, 8)
  spent <- private_mean(x, rho = 1, rng = "r")$steps
  for (part in names(shares)) {
    expect_equal(sum(spent$budget[spent$part == part]), shares[[part]], tolerance = 1e-12)
  }
  expect_identical(plan_mean(8, n = 55, rho = 1)$filter, "none")
  expect_identical(plan_mean(8, n = 56, rho = 1)$filter, "spectral") # n rho >= 7 d
  expect_identical(plan_mean(8, n = 56, rho = 1, filter = "none")$filter, "none")
  expect_gt(
    plan_mean(8, n = 5000, rho = .01)$error, plan_mean(8, n = 5000, rho = .01, sigma = "none")$error
  )
})

test_that("zero_out halves the noise", {
  parts <- function(neighbours) {
    plan_mean(8, n = 1e5, rho = .1, neighbours = neighbours)$parts[["privacy"]]
  }
  expect_equal(parts("replace") / parts("zero_out"), 2, tolerance = 1e-4)
})

test_that("heavier tails need more rows", {
  n <- vapply(c("gaussian", "t3", "cauchy"), function(tails) {
    plan_mean(8, rho = .1, error = .1, distribution = tails)$n
  }, numeric(1))
  expect_false(is.unsorted(n, strictly = TRUE))
})

test_that("a plan prints small and warns of what private_mean() refuses", {
  expect_prints_small(plan_mean(8, n = 5000, rho = .1))
  expect_prints_small(plan_mean(128, n = 1e9, rho = 1e-9, distribution = "t3"))
  expect_output(print(plan_mean(8, n = 500, rho = .01)), "needs 4,243 rows", fixed = TRUE)
  expect_output(print(plan_mean(8, n = 5000, rho = .1)), "<- computed", fixed = TRUE)
})

test_that("a plan is drawn with its point on the curve", {
  plan <- plan_mean(8, rho = .1, error = .1)
  drawn <- ggplot2::autoplot(plan)
  expect_match(drawn$labels$caption, "rho = 0.1")
  points <- ggplot2::layer_data(drawn, 2)
  expect_equal(10^points$y, plan$error, tolerance = 1e-9)
  curve <- ggplot2::layer_data(drawn, 1)
  expect_equal(stats::approx(curve$x[curve$group == 1], curve$y[curve$group == 1], points$x)$y,
    points$y,
    tolerance = 1e-2
  )
})

test_that("a computed number of rows is one that private_mean() takes", {
  plan <- plan_mean(4, rho = .05, error = .1)
  expect_identical(plan$n, ceiling(150 * sqrt(4 / .05)))
  expect_lte(plan$error, .1)
  x <- matrix(stats::rnorm(4 * plan$n), plan$n)
  expect_s3_class(private_mean(x, .05, rng = "r"), "confide_mean")
  expect_confide_error(private_mean(x[-1, ], .05, rng = "r"), "parameter")
  small <- balloon_control(shape_share = 0.025)
  few <- plan_mean(4, rho = .05, error = .2, control = small)$n
  expect_identical(few, ceiling(2 * 150 * sqrt(4 / .05)))
  expect_output(print(plan_mean(4, n = 90, rho = .05, sigma = "none")), "far astray")
})

test_that("a plan without an answer is refused", {
  expect_confide_error(plan_mean(), "parameter", "number of columns")
  expect_confide_error(plan_mean(8, n = 1e4, rho = 1, start = 1e51), "parameter", "at most 1e50")
  expect_true(is.finite(plan_mean(8, n = 1e4, rho = 1, start = 1e50)$error))
  for (rho in c(1e-51, 1e51)) {
    expect_confide_error(plan_mean(8, n = 1e4, rho = rho), "parameter", "from 1e-50 to 1e50")
  }
  for (rho in c(1e-50, 1e50)) {
    expect_true(is.finite(plan_mean(8, n = 1e4, rho = rho, start = 1e50)$error))
  }
  expect_confide_error(plan_mean(8, n = 100), "parameter", "Exactly one")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, error = 1), "parameter", "None is")
  expect_confide_error(plan_mean(8, n = 100, error = .01), "parameter", "Even without privacy")
  expect_confide_error(plan_mean(8, rho = 1e-12, error = 1e-3), "parameter", "not enough")
  for (value in list(0, -1, NA, "a", Inf, c(1, 2))) {
    expect_confide_error(plan_mean(8, n = 100, rho = value), "parameter")
    expect_confide_error(plan_mean(8, n = 100, error = value), "parameter")
    expect_confide_error(plan_mean(8, n = value, rho = 1), "parameter")
    expect_confide_error(plan_mean(value, n = 100, rho = 1), "parameter")
  }
  expect_confide_error(plan_mean(8, n = 100, rho = 1, start = -1), "parameter")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, distribution = "beta"), "parameter")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, sigma = "full"), "parameter")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, neighbours = "add_remove"), "parameter")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, control = list()), "parameter")
  published <- balloon_control(start = "mean")
  expect_confide_error(plan_mean(8, n = 100, rho = 1, control = published), "parameter", "start")
})
