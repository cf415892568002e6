# Gives the recorded answers in the place of fresh noise.
with_answers <- function(answers, code) {
  place <- 0
  confide:::with_guard(function(units, query, rng) {
    place <<- place + 1
    answers[[place]]
  }, code)
}

test_that("certificates and standard deviations agree with the derivation", {
  grid <- 10^(-2 + 0:6 / 3)
  b <- brownian(100L, sensitivity = 1, alpha = 20)
  expect_identical(b$epsilon, 0)
  expect_true(is.na(b$estimate))
  for (epsilon in grid) {
    b <- refine(b, epsilon = epsilon)
    expect_lte(b$epsilon, epsilon)
    expect_equal(b$epsilon, epsilon, tolerance = 1e-12)
  }
  expect_equal(b$path$sigma, c(
    31.6227766016838, 21.5443469003188, 14.6779926762207, 10, 6.81292069057961, 4.64158883361278,
    3.16227766016838
  ), tolerance = 1e-10)
  expect_equal(b$path$epsilon, grid, tolerance = 1e-12)
  expect_equal(b$rho, 1 / 20, tolerance = 1e-12)
})

test_that("fresh noise is what takes one standard deviation to the next", {
  sds <- numeric()
  b <- brownian(0L, sensitivity = 1, alpha = 20)
  confide:::with_guard(function(units, query, rng) {
    plan <- confide:::noise_plan(query)
    sds <<- c(sds, sqrt(plan$numerator / plan$denominator))
    0
  }, for (sigma in c(10, 5, 3, 2)) b <- refine(b, sigma = sigma))
  expect_equal(
    sds, c(10, 5.77350269189626, 3.75, 2.68328157299975), tolerance = 1e-10
  )
})

test_that("the estimate is the mean of the measurements weighted by the certificates", {
  b <- brownian(0L, sensitivity = 1, alpha = 20)
  grid <- 10^(-2 + 0:3 / 3)
  estimates <- with_answers(c(5, 6, 7, 4), {
    vapply(grid, function(epsilon) {
      b <<- refine(b, epsilon = epsilon)
      b$estimate
    }, 0)
  })
  expect_equal(
    estimates, c(5, 5.5358411166387, 6.3203976476355, 5.0770331810806),
    tolerance = 1e-10
  )
  expect_equal(b$path$estimate, estimates)
})

test_that("estimates have the covariance of a Brownian motion run backwards", {
  set.seed(20267)
  runs <- 400
  sigmas <- c(8, 4, 2)
  paths <- replicate(runs, {
    b <- brownian(7L, sensitivity = 1, alpha = 4, rng = "r")
    for (sigma in sigmas) b <- refine(b, sigma = sigma)
    b$path$estimate
  })
  expected <- outer(sigmas^2, sigmas^2, pmin)
  measured <- cov(t(paths))
  # the standard error of a covariance of normal numbers
  error <- sqrt((outer(sigmas^2, sigmas^2) + expected^2) / runs)
  expect_true(all(abs(measured - expected) < 5 * error))
  expect_true(all(abs(rowMeans(paths) - 7) < 5 * sigmas / sqrt(runs)))
})

test_that("a stop that looks at the estimate biases it, by as much as the derivation says", {
  set.seed(20268)
  stopped <- replicate(500, {
    b <- brownian(0, sensitivity = 1, alpha = 4, rng = "r")
    for (sigma in c(8, 4, 2, 1)) {
      b <- refine(b, sigma = sigma)
      if (b$estimate > 1) break
    }
    b$estimate
  })
  expect_lt(abs(mean(stopped) - 3.64), 5 * sd(stopped) / sqrt(500))
})

# Two steps on whole numbers, all outcomes: the second variance depends on the first outcome, and so
# does whether there is a second step. p for the answer 0, q for 1.
log_gaussian <- function(z, variance) {
  -z^2 / (2 * variance) - log(sum(exp(-(-400:400)^2 / (2 * variance))))
}

two_step_excess <- function(alpha, certificate) {
  b <- brownian(0L, sensitivity = 1, alpha = alpha)
  step_of <- function(b, sigma) {
    plan <- NULL
    with <- confide:::with_guard(function(units, query, rng) {
      plan <<- confide:::noise_plan(query)
      0
    }, refine(b, sigma = sigma))
    list(variance = plan$numerator / plan$denominator, epsilon = with$epsilon)
  }
  first <- step_of(b, 3)
  outcomes <- -60:60
  finer <- lapply(c(2, 1), function(sigma) {
    b <- with_answers(0, refine(brownian(0L, sensitivity = 1, alpha = alpha), sigma = 3))
    step_of(b, sigma)
  })
  total <- 0
  for (z in outcomes) {
    log_p <- log_gaussian(z, first$variance)
    log_q <- log_gaussian(z - 1, first$variance)
    if (z > 2) {
      total <- total + exp((1 - alpha) * first$epsilon + alpha * log_p + (1 - alpha) * log_q)
      next
    }
    second <- finer[[if (z < 0) 1 else 2]]
    log_p <- log_p + log_gaussian(outcomes, second$variance)
    log_q <- log_q + log_gaussian(outcomes - 1, second$variance)
    epsilon <- certificate(first$epsilon, second$epsilon)
    total <- total + sum(exp((1 - alpha) * epsilon + alpha * log_p + (1 - alpha) * log_q))
  }
  total
}

test_that("the certificate is exact under adaptive noise and stopping", {
  for (alpha in c(2, 4, 8)) {
    # equality at whole alpha; the certificate is rounded up by parts in 10^13
    excess <- two_step_excess(alpha, function(first, second) second)
    expect_equal(excess, 1, tolerance = 1e-10)
    expect_lte(excess, 1 + 1e-12)
    # the negative control: only the last increment is counted
    expect_gt(two_step_excess(alpha, function(first, second) second - first), 1.02)
  }
})

test_that("a certificate of the last increment alone fails a simulation too", {
  set.seed(20269)
  alpha <- 2
  sigmas <- c(8, 6.5, 5.2, 4.2, 3.4, 2.7)
  precision <- 1 / sigmas^2
  runs <- 5e4
  # the mean is over the neighbour, whose answer is 0; that of the data is 1
  steps <- sqrt(diff(c(0, precision)))
  walk <- t(apply(matrix(rnorm(runs * 6), runs) %*% diag(steps), 1, cumsum))
  y <- sweep(walk, 2, precision, "/")
  stop <- max.col(cbind(y > 0.8, TRUE)[, 1:6] | col(y) == 6, ties.method = "first")
  tau <- precision[stop]
  last_y <- y[cbind(seq_len(runs), stop)]
  loss <- tau * (last_y^2 - (last_y - 1)^2) / 2
  excess <- function(epsilon) exp(alpha * loss - (alpha - 1) * epsilon)
  error <- sd(excess(alpha * tau / 2)) / sqrt(runs)
  expect_lt(abs(mean(excess(alpha * tau / 2)) - 1), 5 * error)
  last <- alpha * diff(c(0, precision))[stop] / 2
  expect_gt(mean(excess(last)) - 5 * sd(excess(last)) / sqrt(runs), 1)
})

test_that("under the tilted answer every weight is exactly 1", {
  # e^((1 - alpha) epsilon_k) p^alpha q^(1 - alpha) is the density for the answer
  # m' + alpha (m - m'), so importance sampling from it has no variance, at any alpha
  set.seed(20270)
  for (alpha in c(2, 20, 71.4)) {
    sigmas <- sort(runif(5, 0.5, 30), decreasing = TRUE)
    fresh <- diff(c(0, 1 / sigmas^2))
    z <- rnorm(5, alpha, 1 / sqrt(fresh))
    log_density <- function(mean) sum(dnorm(z, mean, 1 / sqrt(fresh), log = TRUE))
    epsilon <- cost_gaussian(alpha, 1, sigmas[[5]])
    weight <- (1 - alpha) * epsilon + alpha * log_density(1) + (1 - alpha) * log_density(0)
    expect_equal(weight, log_density(alpha), tolerance = 1e-9)
  }
})

test_that("numbers that are not whole are measured on a grid that the certificate pays for", {
  for (scale in c(1e-5, 1, 3e7)) {
    b <- brownian(c(a = 0.3, b = -0.7) * scale, sensitivity = scale, alpha = 20)
    b <- refine(b, sigma = 10 * scale)
    expect_equal(b$sigma, 10 * scale, tolerance = 1e-6)
    expect_gte(b$epsilon, cost_gaussian(20, scale, b$sigma) * (1 - 1e-12))
    # sqrt(2) grid steps of at most 2^-23 sigma each way, twice
    expect_lt(b$epsilon, 0.1 * (1 + 20 * sqrt(2) * 2^-23))
    expect_named(b$estimate, c("a", "b"))
    expect_lt(max(abs(b$estimate)), 7 * 10 * scale)
    b <- refine(b, sigma = scale)
    expect_equal(b$sigma, scale, tolerance = 1e-6)
    expect_equal(b$epsilon, 10, tolerance = 1e-5)
  }
})

test_that("queries are refined one at a time and their certificates add up", {
  b <- brownian(list(n = 50L, cells = c(20L, 30L)), sensitivity = c(n = 1, cells = sqrt(2)),
    alpha = 4
  )
  b <- refine(b, sigma = c(n = 10, cells = 20))
  expect_equal(b$epsilon, 4 / 2 * (1 / 100 + 2 / 400), tolerance = 1e-12)
  b <- refine(b, sigma = c(cells = 5))
  expect_equal(b$epsilon, 4 / 2 * (1 / 100 + 2 / 25), tolerance = 1e-12)
  expect_equal(b$sigma, c(n = 10, cells = 5), tolerance = 1e-10)
  b <- refine(b, epsilon = 1, query = "n")
  expect_equal(b$epsilon, 1, tolerance = 1e-12)
  expect_equal(b$sigma[["n"]], sqrt(4 / 2 / (1 - 4 * 2 / 25 / 2)), tolerance = 1e-10)
  expect_identical(b$path$query, c("n", "cells", "cells", "n"))
  b <- refine(b, epsilon = 2)
  expect_equal(b$epsilon, 2, tolerance = 1e-12)
})

test_that("noise only shrinks", {
  b <- refine(brownian(5L, sensitivity = 1, alpha = 20), sigma = 10)
  for (sigma in list(10, 11, 0, -1, Inf, NA, "1", c(3, 2))) {
    expect_confide_error(refine(b, sigma = sigma), "parameter", "sigma")
  }
  expect_confide_error(refine(b, epsilon = 0.1), "parameter", "above the certificate")
  expect_confide_error(refine(b), "parameter", "Neither")
  expect_confide_error(refine(b, sigma = 1, epsilon = 1), "parameter", "Both")
  expect_confide_error(refine(b, sigma = 1e-300), "parameter")
  expect_confide_error(refine(b, eps = 1), "parameter", "eps")
  expect_confide_error(refine(1, sigma = 1), "parameter", "brownian")
  # none of them made the object stale
  expect_equal(refine(b, sigma = 9)$sigma, 9, tolerance = 1e-9)
})

test_that("a stale copy, a file and another process are refused", {
  b <- brownian(5L, sensitivity = 1, alpha = 20)
  first <- refine(b, sigma = 10)
  expect_confide_error(refine(b, sigma = 10), "budget", "stale")
  second <- refine(first, sigma = 5)
  expect_confide_error(refine(first, sigma = 3), "budget", "stale")
  file <- withr::local_tempfile()
  saveRDS(second, file)
  restored <- readRDS(file)
  expect_identical(restored$estimate, second$estimate)
  expect_prints_small(restored)
  expect_confide_error(refine(restored, sigma = 1), "parameter", "went through a file")
  skip_on_os("windows")
  answers <- parallel::mclapply(1:2, function(i) {
    tryCatch(refine(second, sigma = 1), error = function(error) class(error)[[1]])
  }, mc.cores = 2)
  expect_identical(answers, rep(list("confide_error_budget"), 2))
})

test_that("an object that is refined while its arguments are evaluated is stale", {
  b <- brownian(5L, sensitivity = 1, alpha = 20)
  inner <- NULL
  expect_confide_error(refine(b, sigma = {
    inner <- refine(b, sigma = 50)
    50
  }), "budget", "stale")
  expect_equal(inner$sigma, 50, tolerance = 1e-9)
  expect_confide_error(advance(b), "budget", "stale")
})

test_that("the private answer is not in the object", {
  canary <- 123456789.125
  b <- refine(brownian(canary, sensitivity = 1, alpha = 20), sigma = 1e6)
  bytes <- serialize(b, NULL, xdr = FALSE)
  needle <- writeBin(canary, raw(), endian = "little")
  starts <- which(bytes == needle[[1]])
  starts <- starts[starts + 7 <= length(bytes)]
  found <- vapply(starts, function(i) identical(bytes[i + 0:7], needle), logical(1))
  expect_false(any(found))
  # the search finds what is there
  there <- serialize(c(b, canary), NULL, xdr = FALSE)
  starts <- which(there == needle[[1]])
  expect_true(any(vapply(starts, function(i) identical(there[i + 0:7], needle), logical(1))))
  expect_false(any(grepl("123456789", utils::capture.output(str(b), print(b)))))
})

test_that("attributes of the private answer are not in the object either", {
  answer <- structure(c(a = 1, b = 2), centre = "canary")
  for (object in list(
    brownian(answer, sensitivity = 1, alpha = 20, whole = TRUE),
    laplace_path(answer, sensitivity = 1, epsilon = c(0.1, 1))
  )) {
    expect_identical(object$estimate, c(a = NA_real_, b = NA_real_))
    expect_false(grepl("canary", rawToChar(serialize(object, NULL, ascii = TRUE))))
  }
})

test_that("answers outside the domain have one text, before any randomness", {
  texts <- lapply(list(NA_real_, NaN, Inf, "a", numeric(), NULL, list(), factor("a")), function(x) {
    error <- tryCatch(brownian(x, sensitivity = 1, alpha = 2, rng = "r"), error = identity)
    if (identical(x, list())) "" else conditionMessage(error)
  })
  expect_length(setdiff(unique(unlist(texts)), ""), 1)
  expect_confide_error(
    brownian(1.5, sensitivity = 1, alpha = 2, whole = TRUE), "domain", "whole"
  )
  expect_confide_error(brownian(list(1L, 2L), sensitivity = 1, alpha = 2), "parameter", "names")
})

test_that("arguments out of range are refused", {
  expect_confide_error(brownian(1L, alpha = 2), "parameter", "sensitivity")
  expect_confide_error(brownian(1L, sensitivity = 1), "parameter", "alpha")
  for (sensitivity in list(0, -1, NA, Inf, "1", c(1, 2))) {
    expect_confide_error(brownian(1L, sensitivity, alpha = 2), "parameter", "sensitivity")
  }
  expect_confide_error(
    refine(brownian(1L, sensitivity = 0.5, alpha = 2), sigma = 1), "parameter", "at least 1"
  )
  expect_confide_error(brownian(1L, 1, alpha = 2, neighbours = "swap"), "parameter", "neighbours")
})

test_that("a ledger is charged before each step, by increments", {
  l <- ledger(8, neighbours = "add_remove", limit = 0.5)
  b <- brownian(5L, sensitivity = 1, alpha = 20, ledger = l)
  expect_identical(spent(l), 0)
  for (sigma in c(20, 10, 5)) {
    b <- refine(b, sigma = sigma)
    expect_equal(spent(l), 8 / (2 * sigma^2), tolerance = 1e-12)
    expect_gte(spent(l), 8 * b$rho)
  }
  expect_confide_error(refine(b, sigma = 1), "budget", "limit")
  expect_equal(spent(l), 8 / 50, tolerance = 1e-12)
  expect_equal(refine(b, sigma = 4)$sigma, 4, tolerance = 1e-10)
  expect_confide_error(charge(l, b), "parameter", "was charged")
  expect_confide_error(
    brownian(5L, sensitivity = 1, alpha = 20, ledger = l, rng = "r"), "simulation"
  )
  # one that has no ledger is charged by its rho, at any alpha
  free <- refine(brownian(5L, sensitivity = 1, alpha = 20), sigma = 10)
  other <- ledger(2, neighbours = "add_remove")
  charge(other, free)
  expect_equal(spent(other), 0.01, tolerance = 1e-12)
})

test_that("several queries refined at once are charged together", {
  l <- ledger(8, neighbours = "add_remove")
  b <- brownian(list(a = 5L, b = 7L), sensitivity = c(1, 2), alpha = 8, ledger = l)
  b <- refine(b, sigma = c(a = 10, b = 5))
  # alpha times the sum of sensitivity^2 / (2 sigma^2)
  expect_equal(spent(l), 8 * (1 / 200 + 4 / 50), tolerance = 1e-12)
  refine(b, epsilon = 2)
  expect_equal(spent(l), 2, tolerance = 1e-9)
})

test_that("nothing but the noisy answers leaves a function that refines", {
  f <- function(x) {
    b <- brownian(sum(x > 1), sensitivity = 1, alpha = 20, neighbours = "add_remove")
    b <- refine(b, sigma = 10)
    while (b$estimate < 3 && b$sigma > 1) b <- refine(b, sigma = b$sigma / 2)
    b$path
  }
  pairs <- neighbour_pairs(numeric(), neighbours = "add_remove", number = 30, non_finite = FALSE)
  expect_true(replay_audit(f, pairs)$ok)
  wrong <- function(x) {
    refine(brownian(2 * sum(x > 1), sensitivity = 1, alpha = 20), sigma = 1)$estimate
  }
  expect_setequal(replay_audit(wrong, pairs)$findings$problem, "sensitivity")
})

test_that("a handle prints small at all stages", {
  b <- brownian(c(yes = 812L, no = 188L), sensitivity = 1, alpha = 20, neighbours = "replace")
  expect_prints_small(b)
  b <- refine(b, sigma = 30)
  expect_prints_small(b)
  expect_match(format(b), "neighbours: replace it", fixed = TRUE, all = FALSE)
  # the certificate at alpha is not a pure epsilon, which this would be
  expect_confide_error(epsilon(b), "parameter", "above 0")
  expect_identical(epsilon(b, delta = 1e-6), as_approx_dp(b, delta = 1e-6))
  expect_prints_small(brownian(
    list(a = 1L, b = 2L, c = 3L, d = 4L, e = 5L), sensitivity = 1, alpha = 20
  ))
})

test_that("the plot shows what was released", {
  b <- brownian(list(n = 812L, cells = c(a = 5L, b = 7L)), sensitivity = 1, alpha = 20)
  expect_confide_error(ggplot2::autoplot(b), "parameter", "nothing was released")
  b <- refine(refine(b, epsilon = 0.1), epsilon = 0.4)
  data <- ggplot2::ggplot_build(ggplot2::autoplot(b))$data
  expect_setequal(round(data[[2]]$y, 6), round(unlist(b$path$estimate), 6))
  widths <- sort(data[[1]]$ymax - data[[1]]$ymin)
  expect_equal(widths, sort(rep(4 * b$path$sigma, c(1, 2, 1, 2))), tolerance = 1e-9)
})

test_that("the statement of an answer without declared neighbours can be read", {
  statement <- privacy(brownian(5L, sensitivity = 1, alpha = 20))
  expect_match(format(statement), "in the sense of the declared sensitivity", fixed = TRUE, all = FALSE)
})

test_that("the covariance of the noise covers all released numbers", {
  b <- brownian(list(n = 812L, cells = c(a = 5L, b = 7L)), sensitivity = 1, alpha = 20)
  expect_identical(unname(diag(vcov(b))), c(Inf, Inf, Inf))
  expect_true(all(is.na(confint(b))))
  b <- refine(b, sigma = c(n = 3, cells = 4))
  labels <- c("n", "cells.a", "cells.b")
  expect_equal(vcov(b), structure(diag(c(9, 16, 16)), dimnames = list(labels, labels)))
  limits <- confint(b, level = 0.9)
  expect_identical(dimnames(limits), list(labels, c("5 %", "95 %")))
  expect_equal(rowMeans(limits), unlist(b$estimate), tolerance = 1e-12)
  expect_equal(
    unname(limits[, 2] - limits[, 1]), 2 * qnorm(0.95) * c(3, 4, 4) + 1, tolerance = 1e-9
  )
  expect_identical(confint(b, "cells.a", level = 0.9), limits[2, , drop = FALSE])
  for (parm in list("z", 4, list(1))) expect_confide_error(confint(b, parm), "parameter", "`parm`")
  expect_confide_error(confint(b, level = 95), "parameter", "level")
  expect_confide_error(vcov(b, type = "privacy"), "parameter", "Unused")
})

test_that("intervals of a refined answer cover at their level, with noise of any size", {
  withr::local_seed(20261130)
  covers <- function(value, sigmas, level, whole) {
    b <- brownian(rep(value, 4000), sensitivity = 1, alpha = 20, whole = whole, rng = "r")
    for (sigma in sigmas) b <- refine(b, sigma = sigma)
    limits <- confint(b, level = level)
    mean(limits[, 1] <= value & value <= limits[, 2])
  }
  # four standard errors of a share of 4,000
  at_least <- function(level) level - 4 * sqrt(level * (1 - level) / 4000)
  for (level in c(0.8, 0.95)) {
    for (sigmas in list(0.3, 0.5, 1, 20, c(4, 0.7), c(40, 20, 10, 5))) {
      expect_gte(covers(17, sigmas, level, whole = TRUE), at_least(level))
    }
    found <- covers(2.5, c(3, 2, 1), level, whole = FALSE)
    expect_lt(abs(found - level), level - at_least(level))
  }
})
