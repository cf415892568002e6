# Private means: the balloon and its rivals.

normal_rows <- function(n, d, mean = 1, seed = 1) {
  withr::with_seed(seed, matrix(stats::rnorm(n * d, mean), n))
}

simulate_mean <- function(x, ..., seed = 1) {
  withr::with_seed(seed, private_mean(x, ..., rng = "r"))
}

error_of <- function(fit, mean = 1) sqrt(sum((coef(fit) - mean)^2))

# The published fixed point without noise: find the radius that holds tau n records among the tried
# ones, then move by the clipped mean.
naive_balloon <- function(x, radii, tau, steps) {
  centre <- rep(0, ncol(x))
  for (step in seq_len(steps)) {
    move <- sweep(x, 2, centre)
    distance <- sqrt(rowSums(move^2))
    radius <- radii[which(vapply(radii, function(r) sum(distance <= r), 1) >= tau * nrow(x))[[1]]]
    centre <- centre + colMeans(move * pmin(1, radius / distance))
  }
  list(centre = centre, radius = radius)
}

test_that("with next to no noise it is the fixed-point loop", {
  x <- normal_rows(500, 5)
  naive <- naive_balloon(x, 1 + 1.01^(0:2000) - 1, 0.5, 4)
  fit <- simulate_mean(
    x, rho = 1e9, sigma = diag(5), filter = "none",
    control = balloon_control(average = FALSE, iterations = 4)
  )
  # the noise has a standard deviation of 1e-7, the grid's step is 2^-24 of it
  expect_close(coef(fit), naive$centre, 1e-5)
  expect_identical(fit$radii[[4]], naive$radius)
})

test_that("it moves with the data: shifts, scales and general linear maps", {
  x <- normal_rows(800, 3)
  map <- matrix(c(2, 0.5, 0, -1, 1, 0.3, 0, 0, 4), 3)
  control <- balloon_control(iterations = 3)
  plain <- simulate_mean(x, rho = 1e9, sigma = diag(3), control = control)
  mapped <- simulate_mean(
    sweep(x %*% t(map), 2, c(10, -3, 2), "+"),
    rho = 1e9, sigma = tcrossprod(map), centre = c(10, -3, 2), control = control
  )
  expect_close(coef(mapped), drop(map %*% coef(plain)) + c(10, -3, 2), 1e-4)
})

test_that("the spent parts add up to the budget and no more, for all methods", {
  x <- normal_rows(3000, 4)
  for (method in mean_methods) {
    for (sigma in list("none", "diag", "tyler", diag(4))) {
      for (filter in if (method == "balloon") c("none", "spectral") else "auto") {
        fit <- simulate_mean(x, rho = 0.7, method = method, sigma = sigma, filter = filter)
        total <- sum_rounded_up(fit$steps$budget)
        expect_lte(total, 0.7)
        expect_gt(total, 0.7 * (1 - 1e-12))
        expect_lte(privacy(fit)$rho_realised, 0.7)
        expect_equal(sum(privacy(fit)$parts), 0.7)
      }
    }
  }
})

test_that("the pure guarantee is spent in full by the balloon and the clipped mean", {
  x <- normal_rows(5000, 3)
  for (method in c("balloon", "clipped")) {
    for (neighbours in c("replace", "zero_out")) {
      fit <- simulate_mean(
        x, epsilon = 2, method = method, sigma = "none", neighbours = neighbours
      )
      expect_lte(privacy(fit)$epsilon_realised, 2)
      expect_gt(privacy(fit)$epsilon_realised, 2 - 1e-5)
      expect_identical(epsilon(fit), 2)
      expect_null(privacy(fit)$rho)
    }
  }
})

test_that("absence needs half the noise of replacement", {
  x <- normal_rows(2000, 3)
  sd <- vapply(c("replace", "zero_out"), function(neighbours) {
    simulate_mean(
      x, rho = 0.5, method = "clipped", sigma = "none", neighbours = neighbours
    )$noise_sd
  }, numeric(1))
  expect_equal(sd[["replace"]], 2 * sd[["zero_out"]], tolerance = 1e-6)
})

test_that("an absent person counts nowhere and moves nothing", {
  x <- normal_rows(1000, 3)
  x[1:500, ] <- NA
  expect_confide_error(private_mean(x, rho = 1, sigma = "none"), "domain")
  fit <- simulate_mean(
    x, rho = 1e8, method = "clipped", sigma = "none", neighbours = "zero_out", radius = 100
  )
  # 1000 is public: the absent pull toward the centre, 0
  expect_close(coef(fit), colSums(x[501:1000, ]) / 1000, 1e-3)
  half <- x
  half[1, 1] <- 0
  expect_confide_error(
    private_mean(half, rho = 1, sigma = "none", neighbours = "zero_out"), "domain"
  )
})

test_that("errors are those of the specification, within Monte Carlo error", {
  # medians of the specification's own prototype (its table of the final configuration)
  cases <- list(
    list(n = 1000, d = 8, rho = 0.1, median = 0.100),
    list(n = 1000, d = 32, rho = 0.01, median = 0.782),
    list(n = 5000, d = 32, rho = 0.1, median = 0.087),
    list(n = 1000, d = 2, rho = 1, median = 0.036)
  )
  reps <- 30
  for (case in cases) {
    errors <- vapply(seq_len(reps), function(seed) {
      x <- normal_rows(case$n, case$d, seed = seed)
      error_of(simulate_mean(
        x, rho = case$rho, sigma = diag(case$d), filter = "none",
        control = balloon_control(interval_share = 0), seed = seed
      ))
    }, numeric(1))
    # a median has 1.25 times the standard error of a mean; two of them, of 30 and 40 repetitions
    se <- 1.25 * stats::sd(errors) * sqrt(1 / reps + 1 / 40)
    expect_lt(abs(stats::median(errors) - case$median), 5 * se)
  }
})

test_that("the filter takes the square root of the dimension out of the error", {
  d <- 32
  errors <- vapply(c("none", "spectral"), function(filter) {
    stats::median(vapply(1:5, function(seed) {
      x <- normal_rows(5000, d, seed = seed)
      x[1:500, ] <- rep(1 + c(sqrt(d), rep(0, d - 1)), each = 500) # on the sphere of the others
      error_of(simulate_mean(x, rho = 1, sigma = diag(d), filter = filter, seed = seed))
    }, numeric(1)))
  }, numeric(1))
  # specification: .603 and .161; the spread over repetitions is below .02
  expect_lt(abs(errors[["none"]] - 0.603), 0.06)
  expect_lt(abs(errors[["spectral"]] - 0.161), 0.04)
})

test_that("intervals and the ball cover at their level", {
  reps <- if (extended()) 400 else 100
  for (law in c("normal", "t3")) {
    covered <- vapply(seq_len(reps), function(seed) {
      x <- normal_rows(1000, 4, mean = 0, seed = seed)
      if (law == "t3") {
        x <- x / withr::with_seed(seed + 1e5, sqrt(stats::rchisq(1000, 3) / 3))
      }
      fit <- simulate_mean(x, rho = 0.5, sigma = diag(4), seed = seed)
      inside <- sqrt(sum(coef(fit)^2)) <= confidence_ball(fit)$radius
      limits <- confint(fit)
      c(inside, mean(limits[, 1] < 0 & limits[, 2] > 0))
    }, numeric(2))
    se <- sqrt(0.95 * 0.05 / reps)
    expect_gt(mean(covered[1, ]), 0.94 - 4 * se)
    expect_gt(mean(covered[2, ]), 0.94 - 4 * se)
    expect_lt(mean(covered[1, ]), 0.97 + 4 * se)
  }
})

test_that("private scales take different units out", {
  x <- sweep(normal_rows(5000, 4), 2, c(1, 1e-6, 1e6, 30), "*")
  fit <- simulate_mean(x, rho = 1)
  expect_equal(fit$shape$root[, 1] / c(1, 1e-6, 1e6, 30), rep(1, 4), tolerance = 0.3)
  # five standard errors of the mean, sqrt(1 / 5000) and a little noise
  expect_lt(max(abs(coef(fit) / c(1, 1e-6, 1e6, 30) - 1)), 5 * 1.1 / sqrt(5000))
})

test_that("a constant column does no harm to the others", {
  x <- cbind(normal_rows(5000, 2), 7)
  fit <- simulate_mean(x, rho = 1)
  expect_lt(max(abs(coef(fit)[1:2] - 1)), 0.1)
  expect_match(format(fit), "median scale", all = FALSE)
})

test_that("too few rows for private scales are refused with advice, before any noise", {
  x <- normal_rows(100, 4)
  expect_confide_error(private_mean(x, rho = 0.1, rng = "r"), "parameter", c("949", "none"))
})

test_that("rotations, permutations and memory do not matter to the integers", {
  x <- normal_rows(5000, 7)
  query <- list(
    kind = "sum", bound = 2, budget = 0.5, law = "gaussian", neighbours = "replace",
    n_max = 5000, dimension = 7
  )
  units <- function(x) {
    y <- whiten_rows(x, 0, 5000, rep(0, 7), t(chol(0.5 + diag(7))))
    clipped_units(y, rep(0.1, 7), query)
  }
  exact <- units(x)
  withr::with_seed(1, for (i in 1:20) expect_identical(units(x[sample(5000), ]), exact))
})

test_that("clipped sums are within one step a record of the plain formula", {
  x <- t(normal_rows(300, 6))
  centre <- seq(0, 1, length.out = 6)
  for (bound in c(0.5, 2, 1e5)) {
    for (rho in c(1e-4, 1, 1e6)) {
      query <- list(
        kind = "sum", bound = bound, budget = rho, law = "gaussian", neighbours = "replace",
        n_max = 300, dimension = 6
      )
      grid <- noise_plan(query)$grid
      move <- x - centre
      norms <- sqrt(colSums(move^2))
      naive <- rowSums(trunc(sweep(move, 2, pmin(1, bound / norms), "*") / grid))
      found <- units_as_numbers(clipped_units(x, centre, query))
      # rounding in doubles may move a number across a step, and the shrinking by one more
      expect_lte(max(abs(found - naive)), 2 * 300 * max(1, 2^-50 * max(abs(naive))))
    }
  }
})

# Neighbours whose rows are hostile in themselves and toward each other: far and opposite, equal,
# tiny, huge, at the centre.
hostile_mean_pairs <- function(n, d, neighbours, number, seed = 1) {
  withr::with_seed(seed, lapply(seq_len(number), function(i) {
    rows <- matrix(stats::rnorm(n * d), n)
    wild <- sample(n, n %/% 3)
    rows[wild, ] <- pick(hostile_values(numeric()), length(wild) * d)
    person <- sample(n, 1)
    other <- rows
    other[person, ] <- switch(neighbours,
      replace = switch(sample(5, 1),
        -rows[person, ], rep(0, d), pick(hostile_values(numeric()), d), 1e6 * stats::rnorm(d),
        stats::rnorm(d)
      ),
      zero_out = NA
    )
    far <- rows[person, ] * if (neighbours == "replace") sample(c(1, 1e4), 1) else 1
    rows[person, ] <- ifelse(is.finite(far), far, rows[person, ])
    list(rows, other)
  }))
}

test_that("nothing of hostile neighbours leaves but through the noise, by any method or shape", {
  number <- if (extended()) 300 else 25
  settings <- list(
    list(), list(sigma = "diag"), list(sigma = "tyler"), list(sigma = diag(3) + 0.5),
    list(filter = "none"), list(method = "coinpress"), list(method = "huber"),
    list(method = "instance_optimal"), list(method = "coordinate_median"),
    list(method = "clipped"), list(control = balloon_control(start = "mean", average = FALSE))
  )
  for (neighbours in c("replace", "zero_out")) {
    pairs <- hostile_mean_pairs(40, 3, neighbours, number)
    for (setting in settings) {
      setting <- utils::modifyList(list(sigma = "none", rho = 100), setting)
      audited <- replay_audit(function(x) {
        do.call(private_mean, c(list(x, neighbours = neighbours), setting))
      }, pairs)
      expect_true(audited$ok)
      expect_identical(audited$refused, 0L)
      expect_lte(audited$spent[["rho"]], 100)
      expect_gt(audited$spent[["rho"]], 80) # no run stopped half way
    }
    pure <- replay_audit(function(x) {
      private_mean(x, epsilon = 5, sigma = "none", neighbours = neighbours)
    }, pairs)
    expect_true(pure$ok)
    expect_lte(pure$spent[["epsilon"]], 5)
  }
})

test_that("values that are not finite are refused with one text, before any noise", {
  bad <- list(
    matrix(c(1, NA), 1), matrix(c(1, NaN), 1), matrix(c(Inf, 1), 1), matrix("a", 2, 2),
    data.frame(a = 1, b = "x"), data.frame(a = 1, b = factor("x")), list(1, 2), NULL, Sys.Date()
  )
  texts <- vapply(bad, function(x) {
    expect_confide_error(private_mean(x, rho = 1, sigma = "none", rng = "r"), "domain")
  }, "")
  expect_length(unique(texts), 1)
})

test_that("the replay audit finds a mean whose noise is that of absence under replacement", {
  pairs <- hostile_mean_pairs(40, 3, "replace", 50)
  wrong <- function(x) private_mean(x, rho = 100, sigma = "none", neighbours = "zero_out")
  expect_true("sensitivity" %in% replay_audit(wrong, pairs)$findings$problem)
})

test_that("a private mean holds no value of the data", {
  x <- normal_rows(500, 3)
  rownames(x) <- rep("Ann_secret", 500)
  fit <- private_mean(x, rho = 1, sigma = "none")
  expect_holds_no("Ann_secret", fit)
  bytes <- paste(serialize(fit, NULL, xdr = FALSE), collapse = "")
  for (value in x[1:20]) {
    expect_false(grepl(paste(writeBin(value, raw()), collapse = ""), bytes, fixed = TRUE))
  }
  expect_lt(length(serialize(fit, NULL)), 2e4)
})

test_that("a ledger is charged with the whole budget before any noise is drawn", {
  x <- matrix(seq_len(400) / 100, ncol = 2)
  mean_of <- function(ledger, ...) private_mean(x, ..., sigma = "none", ledger = ledger)
  l <- ledger(8, neighbours = "replace", limit = 2)
  fit <- mean_of(l, rho = 0.125)
  expect_close(spent(l), 8 * 0.125, 1e-12) # zCDP at alpha is alpha rho
  expect_error(charge(l, fit), "was charged", class = "confide_error_parameter")
  expect_error(mean_of(l, rho = 0.126), class = "confide_error_budget")
  expect_error(mean_of(l, rho = 0.125, neighbours = "zero_out"), class = "confide_error_parameter")
  expect_error(mean_of(l, rho = 0.125, rng = "r"), class = "confide_error_simulation")
  expect_close(spent(l), 1, 1e-12)
  pure <- ledger(8, neighbours = "replace")
  mean_of(pure, epsilon = 1)
  expect_identical(spent(pure), cost_pure(8, 1))
  expect_error(mean_of("no ledger", rho = 1), class = "confide_error_parameter")
})

test_that("a shape that is none is told that it may be a matrix", {
  for (sigma in list("diagonal", c("diag", "none"), NA_character_)) {
    expect_confide_error(private_mean(1:100, rho = 1, sigma = sigma), "parameter",
      "must be \"diag\", \"none\", \"tyler\" or a covariance matrix"
    )
  }
})
