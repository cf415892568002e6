# Planning a private mean: each of n, rho and error from the other two.

bare <- function(d, ..., average = d > 3, iterations = if (d > 3) 4 else 6,
                 last_share = if (d > 3) 0.5 else 0.6, reach = 2, start = sqrt(d)) {
  list(
    d = d, distribution = "gaussian", sigma = "matrix", filter = "none", reach = reach,
    control = list(
      iterations = iterations, last_share = last_share, tau = 0.5, average = average
    ),
    start = start
  )
}

# The share of the budget that the confidence ball takes first.
unshared <- function(rho) rho / 0.95

# Radius search, clipped mean, noise: the balloon mean in eight lines, with doubles.
naive_balloon <- function(y, rho, control) {
  n <- nrow(y)
  d <- ncol(y)
  earlier <- control$iterations - 1
  share <- rho * c(rep((1 - control$last_share) / earlier, earlier), control$last_share)
  search <- pmin(0.5 * share, pmax(0.05 * share, (100 / n)^2))
  radii <- sqrt(d) / 4 + 1.01^(0:1922) - 1
  centre <- numeric(d)
  path <- matrix(0, control$iterations, d)
  radius <- noise <- numeric(control$iterations)
  for (m in seq_len(control$iterations)) {
    away <- y - rep(centre, each = n)
    distance <- sqrt(rowSums(away^2))
    rate <- sqrt(8 * search[[m]]) / 5
    target <- n / 2 + stats::rexp(1, rate) - 1 / (2 * rate)
    noisy <- findInterval(radii, sort(distance)) + stats::rexp(length(radii), 2 * rate)
    radius[[m]] <- radii[[which(noisy >= target)[[1]]]]
    noise[[m]] <- 2 * radius[[m]] / (n * sqrt(2 * (share - search)[[m]]))
    moved <- colMeans(away * pmin(1, radius[[m]] / distance))
    path[m, ] <- centre <- centre + moved + noise[[m]] * stats::rnorm(d)
  }
  if (!control$average) {
    return(centre)
  }
  weights <- (radius <= 1.25 * radius[[control$iterations]]) / noise^2
  colSums(path * weights) / sum(weights)
}

test_that("the planned error is the root mean square error of a simulation", {
  withr::local_seed(1)
  repetitions <- 60
  for (case in list(c(8, 1000, .01), c(32, 2000, .02), c(2, 1000, .05))) {
    setting <- bare(case[[1]])
    squares <- replicate(repetitions, {
      y <- matrix(stats::rnorm(case[[1]] * case[[2]], 1), case[[2]])
      sum((naive_balloon(y, case[[3]], setting$control) - 1)^2)
    })
    planned <- planned_error(setting, case[[2]], unshared(case[[3]]))^2
    # 4 Monte Carlo errors, and the 5 % on the scale of the error that the formula promises
    allowed <- 4 * stats::sd(squares) / sqrt(repetitions) + 0.1 * planned
    expect_lt(abs(mean(squares) - planned), allowed)
  }
})

test_that("published simulations of single cells are planned for", {
  # d, n, rho, root mean square error of 40 simulations by others, last iterate, half and more last
  cells <- rbind(
    c(32, 5000, .01, .143), c(128, 1000, .01, 4.23), c(128, 5000, 1, .168)
  )
  for (row in seq_len(nrow(cells))) {
    cell <- cells[row, ]
    setting <- bare(cell[[1]], average = FALSE, last_share = 0.6)
    expect_equal(planned_error(setting, cell[[2]], unshared(cell[[3]])), cell[[4]],
      tolerance = 0.05
    )
  }
})

test_that("without privacy and clipping the error is that of the sample mean", {
  setting <- bare(3, start = 0)
  setting$control$tau <- 1 - 1e-9
  expect_equal(planned_error(setting, 1000, Inf), sqrt(3 / 1000), tolerance = 1e-3)
  setting <- bare(1, start = 0)
  setting$distribution <- "t3"
  setting$control$tau <- 1 - 1e-15
  # the variance of Student's t with 3 degrees of freedom is 3; its tail converges slowly
  expect_equal(mean_errors(setting, 1000, Inf, planned_records(setting, 1e5))[["sampling"]],
    3 / 1000,
    tolerance = 0.05
  )
})

test_that("with a small radius one column gives the median", {
  # psi is then a sign: the asymptotic variance of the median is pi / 2 / n
  setting <- bare(1, start = 0)
  setting$control$tau <- 0.01
  n <- 1e8
  sampling <- mean_errors(setting, n, Inf, planned_records(setting, 1e5))[["sampling"]]
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
    plan <- plan_mean(8, rho = .05, error = error)
    later <- round(plan$n * c(1, 1.01, 1.1, 1.3, 2, 5, 20))
    errors <- vapply(later, function(n) plan_mean(8, n = n, rho = .05)$error, numeric(1))
    expect_true(all(errors <= error))
    expect_gt(plan_mean(8, n = plan$n - 1, rho = .05)$error, error)
  }
})

test_that("the budget is divided as the estimator divides it", {
  shares <- plan_mean(8, n = 5000, rho = 1)$shares
  expect_equal(sum(shares), 1, tolerance = 1e-14)
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

test_that("a plan without an answer is refused", {
  expect_confide_error(plan_mean(), "parameter", "number of columns")
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
})
