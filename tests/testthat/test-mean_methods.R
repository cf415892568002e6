# What can be asked of a private mean.

some_rows <- function(n = 2000, d = 3, seed = 1) {
  x <- withr::with_seed(seed, matrix(stats::rnorm(n * d, 5), n))
  colnames(x) <- c("height", "weight", "a_very_long_name_of_a_column_that_is_cut")[seq_len(d)]
  x
}

draw_mean <- function(..., x = some_rows()) {
  withr::with_seed(1, private_mean(x, rho = 0.5, ..., rng = "r"))
}

test_that("a private mean prints small, says what it covers and ends with the noise", {
  for (method in mean_methods) {
    fit <- draw_mean(sigma = "none", method = method)
    expect_prints_small(fit)
    expect_match(utils::tail(format(fit), 1), "NOT PRIVATE")
  }
  wide <- private_mean(
    withr::with_seed(2, matrix(stats::rnorm(6e4), 3000)), rho = 1, sigma = "tyler"
  )
  expect_prints_small(wide)
  expect_match(format(wide), "breaks down", all = FALSE)
  expect_match(utils::tail(format(wide), 1), "operating system")
  expect_output(print(summary(wide)), "spent on")
  expect_output(str(wide), "<private mean>")
})

test_that("names are the columns' and a vector has none", {
  fit <- draw_mean(sigma = "none")
  expect_named(coef(fit), colnames(some_rows()))
  expect_identical(dimnames(vcov(fit)), rep(list(colnames(some_rows())), 2))
  expect_identical(rownames(confint(fit)), colnames(some_rows()))
  expect_identical(dim(confint(fit, "height")), c(1L, 2L))
  alone <- draw_mean(sigma = "none", x = some_rows()[, 1])
  expect_null(names(coef(alone)))
  expect_identical(tidy(alone)$term, "column 1")
})

test_that("the covariance is that of the noise, mapped back to the units of the data", {
  sigma <- matrix(c(4, 1, 0, 1, 9, 2, 0, 2, 1), 3)
  fit <- draw_mean(
    sigma = sigma, filter = "none", control = balloon_control(average = FALSE, iterations = 1)
  )
  # one step: the noise of the step is all
  noise <- vcov(fit, type = "privacy")
  expect_equal(unname(noise), fit$noise_sd^2 * sigma, tolerance = 1e-12)
  total <- vcov(fit)
  expect_equal(total, noise + vcov(fit, type = "sampling"))
  half <- stats::qnorm(0.95) * sqrt(diag(total))
  expect_equal(unname(confint(fit, level = 0.9)[, 2]), unname(coef(fit) + half))
  alone <- confint(fit, type = "privacy")
  expect_equal(unname(alone[, 2] - coef(fit)), unname(stats::qnorm(0.975) * sqrt(diag(noise))))
})

test_that("the noise of a clipped mean has the standard deviation that is reported", {
  draws <- vapply(1:400, function(seed) {
    fit <- withr::with_seed(seed, private_mean(
      rep(0, 100), rho = 0.5, method = "clipped", sigma = "none", radius = 2, rng = "r"
    ))
    c(coef(fit), fit$noise_sd, sqrt(vcov(fit, type = "privacy")))
  }, numeric(3))
  expect_identical(draws[2, ], draws[3, ])
  # replacing a number in [-2, 2] moves the mean by 4 / 100; sd = that / sqrt(2 * 0.95 rho)
  expect_equal(draws[2, 1], 0.04 / sqrt(0.95), tolerance = 1e-6)
  expect_lt(abs(stats::sd(draws[1, ]) / draws[2, 1] - 1), 5 / sqrt(2 * 400))
})

test_that("without a share for intervals they cover the noise alone and say so", {
  fit <- draw_mean(sigma = "none", control = balloon_control(interval_share = 0))
  expect_identical(confint(fit), confint(fit, type = "privacy"))
  expect_match(format(fit), "noise alone", all = FALSE)
  expect_true(all(is.na(diag(vcov(fit, type = "sampling")))))
  expect_confide_error(confidence_ball(fit), "parameter", "interval_share")
  expect_true(is.na(glance(fit)$sampling_sd))
})

test_that("where too few records are within the radius there is no interval, and a warning", {
  fit <- draw_mean(x = some_rows(3), sigma = "none")
  expect_true(all(is.infinite(confint(fit))))
  expect_match(format(fit), "NO INTERVAL", all = FALSE)
  expect_match(format(fit), "TOO FEW ROWS", all = FALSE)
  expect_prints_small(fit)
  expect_identical(confidence_ball(fit)$radius, Inf)
})

test_that("a centre that is too far off is reported", {
  fit <- draw_mean(sigma = diag(3), centre = 1e10)
  expect_gt(fit$missed, 0)
  expect_match(format(fit), "NO RADIUS", all = FALSE)
})

test_that("the ball grows with its level and with the contamination it allows for", {
  for (filter in c("none", "spectral")) {
    fit <- draw_mean(sigma = diag(3), filter = filter)
    radius <- function(...) confidence_ball(fit, ...)$radius
    expect_lt(radius(level = 0.5), radius())
    expect_lt(radius(), radius(contamination = 0.1))
    expect_lt(radius(contamination = 0.1), radius(contamination = 0.2))
  }
  variance <- fit$spread$noise + fit$spread$sampling
  expect_equal(radius(), sqrt(variance * stats::qchisq(0.95, 3)))
  expect_identical(confidence_ball(fit)$shape, diag(3))
  for (bad in list(-0.1, 0.5, NA, "a", c(0, 0.1))) {
    expect_confide_error(confidence_ball(fit, contamination = bad), "parameter", "contamination")
  }
  expect_confide_error(confidence_ball(1), "parameter", "private_mean")
  medians <- draw_mean(sigma = "none", method = "coordinate_median")
  expect_confide_error(confidence_ball(medians), "parameter", "coordinate_median")
})

test_that("tidy, glance and data frames agree with the estimate", {
  fit <- draw_mean(sigma = "none")
  rows <- tidy(fit, level = 0.9)
  expect_identical(rows$estimate, unname(coef(fit)))
  expect_equal(rows$conf.high, unname(confint(fit, level = 0.9)[, 2]))
  expect_equal(rows$std.error, unname(sqrt(diag(vcov(fit)))))
  expect_identical(unname(as.list(as.data.frame(fit, level = 0.9))), unname(as.list(rows)))
  expect_identical(nrow(glance(fit)), 1L)
  expect_identical(glance(fit)$rho, 0.5)
  expect_identical(nobs(fit), 2000)
  expect_confide_error(epsilon(fit), "parameter")
})

test_that("plots are made of released numbers", {
  fit <- draw_mean(sigma = diag(3) * 4)
  path <- ggplot2::autoplot(fit)
  expect_s3_class(path, "ggplot")
  steps <- length(fit$radii)
  # the distance to the last centre in units of the shape, worked out anew
  away <- sqrt(colSums((t(fit$path) - fit$path[steps, ])^2) / 4)
  expect_equal(path$data$value[steps + seq_len(steps)], unname(away))
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(fit, which = "estimate")))
  expect_silent(ggplot2::ggplot_build(path))
  clipped <- draw_mean(sigma = "none", method = "clipped")
  expect_s3_class(ggplot2::autoplot(clipped), "ggplot")
  expect_confide_error(ggplot2::autoplot(clipped, which = "path"), "parameter", "one step")
  expect_match(mean_caption(fit), "NOT PRIVATE")
})

test_that("the zero-out relation is stated as absence", {
  fit <- draw_mean(sigma = "none", neighbours = "zero_out")
  expect_match(format(fit), "what one person adds", all = FALSE)
})

test_that("the ball that allows for contamination holds the mean of the others, filter or not", {
  # a point mass, where the slope at the estimate is mostly the outliers' own
  covers <- function(seed, d, share, place) {
    x <- withr::with_seed(seed, matrix(stats::rnorm(5000 * d), 5000))
    x[seq_len(5000 * share), ] <- rep(c(place, numeric(d - 1)), each = 5000 * share)
    fit <- withr::with_seed(seed, private_mean(
      x, rho = 1, sigma = diag(d), filter = "none", rng = "r"
    ))
    sum(coef(fit)^2) <= confidence_ball(fit, contamination = share)$radius^2
  }
  # columns, share of outliers, and where a point mass pulls most
  for (setting in list(c(2, 0.2, 1.5), c(2, 0.3, 2), c(3, 0.2, 2), c(3, 0.3, 2.5))) {
    found <- vapply(
      1:40, covers, logical(1),
      d = setting[[1]], share = setting[[2]], place = setting[[3]]
    )
    # 95 % of 40, less three standard errors
    expect_gte(mean(found), 0.95 - 3 * sqrt(0.95 * 0.05 / 40))
  }
})

test_that("as many outliers as pull back leave no bound, and the ball says so", {
  fit <- draw_mean(sigma = diag(3), filter = "none")
  fit$spread$lambda <- 0.3
  expect_identical(confidence_ball(fit, contamination = 0.3)$radius, Inf)
  expect_prints_small(confidence_ball(fit, contamination = 0.3))
  # 0.2 R / (0.3 - 0.2)
  expect_equal(confidence_ball(fit, contamination = 0.2)$bias, 2 * rev(fit$radii)[[1]])
})

test_that("what absent rows do to the estimate is noted where they are allowed, not recommended", {
  says <- "an absent row counts as a row"
  fit <- draw_mean(sigma = "none", neighbours = "zero_out")
  expect_match(format(fit), says, all = FALSE)
  expect_prints_small(fit)
  expect_no_match(format(draw_mean(sigma = "none")), says)
  # it is so: a fifth of the rows absent takes a fifth off a clipped mean of 5
  x <- some_rows()
  x[1:400, ] <- NA
  clipped <- draw_mean(
    x = x, sigma = "none", method = "clipped", radius = 20, neighbours = "zero_out"
  )
  expect_equal(unname(coef(clipped)), rep(4, 3), tolerance = 0.03)
  missing <- expect_confide_error(private_mean(x, rho = 1), "domain")
  expect_no_match(flatten_text(missing), "absent")
})

test_that("a handful of rows has no interval, whatever the noise happens to be", {
  for (method in c("balloon", "clipped", "coinpress")) {
    for (n in 1:3) {
      sampling <- vapply(1:40, function(seed) {
        x <- withr::with_seed(seed, matrix(stats::rnorm(2 * n, 3), n))
        fit <- withr::with_seed(seed, private_mean(
          x, rho = 1, sigma = "none", method = method, rng = "r"
        ))
        fit$spread$sampling
      }, numeric(1))
      # elsewhere noise of 3 / n that is more than twice its sd above 0: 2.3 % and a little more
      if (method == "balloon") expect_true(all(is.infinite(sampling)))
      expect_lte(mean(is.finite(sampling)), 0.15)
    }
  }
})

test_that("what is allowed for contamination after the filter is in the unit of the data", {
  x <- some_rows(n = 5000) - 5
  x[1:500, 1] <- 6
  bias <- function(unit) {
    fit <- withr::with_seed(1, private_mean(
      x * unit, rho = 20, sigma = "none", filter = "spectral", rng = "r"
    ))
    expect_gt(fit$filter$directions, 0)
    confidence_ball(fit, contamination = 0.1)$bias
  }
  # the unit is a power of the growth of the radii, but for rounding
  expect_equal(bias(1.01^-700) * 1.01^700, bias(1), tolerance = 1e-3)
  expect_equal(bias(1.01^300) / 1.01^300, bias(1), tolerance = 1e-3)
})

test_that("the medians of the filter are known to a cell of their search", {
  x <- some_rows(n = 5000) - 5
  x[1:500, 1] <- 6
  fit <- withr::with_seed(1, private_mean(
    x, rho = 20, sigma = diag(3), filter = "spectral", rng = "r"
  ))
  # 2^12 cells from -R to R
  expect_equal(fit$filter$resolution, 2 * rev(fit$radii)[[1]] / 2^12)
})
