with_answers <- function(answers, code) {
  place <- 0
  confide:::with_guard(function(units, query, rng) {
    place <<- place + 1
    answers[[place]]
  }, code)
}

# The exact law of the outcome "no, ..., no, yes" or "never", for answers minus the threshold, from
# the laws of the noise: sums over the threshold's noise.
log_cdf <- function(law) function(y) log(pmin(1, cumsum(law)[pmax(1, pmin(length(law), y + 1001))]))

outcome_laws <- function(answers, threshold_law, question_law) {
  shifts <- -600:600
  weight <- log(threshold_law[shifts + 1001])
  below <- log_cdf(question_law)
  # P(q + noise < shift) and its complement, by symmetry
  no <- vapply(answers, function(q) below(shifts - q - 1), numeric(length(shifts)))
  yes <- vapply(answers, function(q) below(q - shifts), numeric(length(shifts)))
  before <- t(apply(cbind(0, no), 1, cumsum))
  k <- length(answers)
  stops <- vapply(seq_len(k), function(j) sum(exp(weight + before[, j] + yes[, j])), 0)
  c(stops, sum(exp(weight + before[, k + 1])))
}

laplace_law <- function(scale) exp(-abs(-1000:1000) / scale) * tanh(0.5 / scale)
gaussian_law <- function(sd) prop.table(exp(-(-1000:1000)^2 / (2 * sd^2)))

# Neighbours one step apart that make an outcome hard to hide.
hard_pairs <- function(n, monotone) {
  pairs <- list()
  for (level in c(-6, -2, 0, 2, 6, 15)) {
    for (last in c(-6, 0, 6)) {
      q <- c(rep(level, n - 1), last)
      moves <- list(c(rep(1, n - 1), -1), rep(1, n), rep(c(1, -1), length.out = n))
      if (monotone) moves <- list(rep(1, n), c(rep(1, n - 1), 0), c(rep(0, n - 1), 1))
      pairs <- c(pairs, lapply(moves, function(d) list(q, q + d)))
    }
  }
  pairs
}

worst_loss <- function(pairs, threshold_law, question_law) {
  max(vapply(pairs, function(pair) {
    p <- outcome_laws(pair[[1]], threshold_law, question_law)
    q <- outcome_laws(pair[[2]], threshold_law, question_law)
    max(abs(log(p / q)))
  }, 0))
}

test_that("the exact law of all outcomes keeps epsilon, and known mistakes do not", {
  a <- above_threshold(0, sensitivity = 1, epsilon = 1, monotone = FALSE)
  expect_equal(unname(a$scale), c(2, 4))
  pairs <- hard_pairs(6, FALSE)
  expect_equal(sum(outcome_laws(c(0, 3, -2), laplace_law(2), laplace_law(4))), 1, tolerance = 1e-12)
  loss <- worst_loss(pairs, laplace_law(a$scale[[1]]), laplace_law(a$scale[[2]]))
  expect_lte(loss, 1)
  expect_gt(loss, 0.9)
  monotone <- above_threshold(0, sensitivity = 1, epsilon = 1, monotone = TRUE)
  expect_equal(unname(monotone$scale), c(2, 2))
  laws <- lapply(monotone$scale, laplace_law)
  expect_lte(worst_loss(hard_pairs(6, TRUE), laws[[1]], laws[[2]]), 1)
  # the negative control: the monotone scale on questions that are not
  expect_gt(worst_loss(pairs, laws[[1]], laws[[2]]), 1.4)
  expect_equal(
    unname(above_threshold(0, sensitivity = 3, epsilon = 0.5, yes = 2, monotone = FALSE)$scale),
    c(12, 48)
  )
})

# Probabilities of all outcomes when it stops after several times yes.
path_laws <- function(answers, yes, threshold_law, question_law) {
  shifts <- -400:400
  below <- log_cdf(question_law)
  n <- length(answers)
  no_yes <- list(
    vapply(answers, function(q) below(shifts - q - 1), numeric(length(shifts))),
    vapply(answers, function(q) below(q - shifts), numeric(length(shifts)))
  )
  walk <- function(j, said_yes, weight) {
    if (j > n || said_yes == yes) {
      return(sum(exp(weight)))
    }
    c(
      walk(j + 1, said_yes, weight + no_yes[[1]][, j]),
      walk(j + 1, said_yes + 1, weight + no_yes[[2]][, j])
    )
  }
  walk(1, 0, log(threshold_law[shifts + 1001]))
}

test_that("the exact law keeps epsilon after several times yes, and unscaled noise does not", {
  moves <- as.matrix(expand.grid(rep(list(c(-1, 1)), 5)))
  worst <- function(yes, scale) {
    laws <- lapply(scale, laplace_law)
    max(vapply(c(-6, 0, 6), function(level) {
      max(apply(moves, 1, function(d) {
        p <- path_laws(level * d, yes, laws[[1]], laws[[2]])
        q <- path_laws(level * d + d, yes, laws[[1]], laws[[2]])
        max(abs(log(p / q)))
      }))
    }, 0))
  }
  for (yes in 2:3) {
    a <- above_threshold(0, sensitivity = 1, epsilon = 1, yes = yes, monotone = FALSE)
    expect_lte(worst(yes, a$scale), 1)
    expect_gt(worst(yes, a$scale), 0.3)
    # the negative control: the questions' noise of a single yes
    single <- above_threshold(0, sensitivity = 1, epsilon = 1, monotone = FALSE)
    expect_gt(worst(yes, c(single$scale[[1]], single$scale[[2]] / 2)), 1.2)
  }
})

test_that("the derivation's scales for a Renyi budget come out", {
  pure <- confide:::pure_for_cost(20, 0.01)
  expect_equal(pure, .032634436623, tolerance = 1e-9)
  expect_lte(cost_pure(20, pure), 0.01)
  a <- above_threshold(0, sensitivity = 1, epsilon = pure, monotone = FALSE)
  expect_equal(unname(a$scale), c(61.28, 122.57), tolerance = 1e-4)
})

test_that("Gaussian certificates hold for the exact law, at every stop", {
  weights <- c(0.5, 0.25, 0.125)
  for (alpha in c(2, 8)) {
    a <- above_threshold(0,
      sensitivity = 1, sigma = c(4, 8), weights = weights, alpha = alpha, monotone = FALSE
    )
    base <- cost_gaussian(alpha, 1, 4) + cost_gaussian(alpha, 2, 8)
    expect_equal(a$stops, base + log(1 / weights) / (alpha - 1), tolerance = 1e-9)
    expect_equal(a$epsilon, base + log(8) / (alpha - 1), tolerance = 1e-9)
    epsilon <- c(a$stops, a$never)
    for (pair in hard_pairs(3, FALSE)) {
      p <- outcome_laws(pair[[1]], gaussian_law(4), gaussian_law(8))
      q <- outcome_laws(pair[[2]], gaussian_law(4), gaussian_law(8))
      expect_lte(sum(exp((1 - alpha) * epsilon) * p^alpha * q^(1 - alpha)), 1)
      expect_lte(sum(exp((1 - alpha) * epsilon) * q^alpha * p^(1 - alpha)), 1)
    }
  }
  capped <- above_threshold(0,
    sensitivity = 1, sigma = c(50, 100), cap = 6, alpha = 20, monotone = FALSE
  )
  expect_equal(capped$epsilon, .11041632363449, tolerance = 1e-9)
})

test_that("a question is answered by its noisy value against the noisy threshold", {
  a <- with_answers(list(103), above_threshold(100, sensitivity = 1, epsilon = 1, monotone = FALSE))
  a <- with_answers(list(102), ask(a, 5))
  expect_identical(a$answers, FALSE)
  expect_false(a$halted)
  a <- with_answers(list(103), ask(a, 5))
  expect_identical(a$answers, c(FALSE, TRUE))
  expect_true(a$halted)
  expect_confide_error(ask(a, 5), "budget", "has stopped")
  two <- with_answers(list(3), above_threshold(0, 1, epsilon = 1, yes = 2, monotone = FALSE))
  two <- with_answers(list(3), ask(two, 0))
  expect_false(two$halted)
  two <- with_answers(list(9), ask(two, 0))
  expect_true(two$halted)
})

test_that("after the cap it stops, and a stop gives back what was not needed", {
  l <- ledger(20, neighbours = "replace")
  weights <- c(0.5, 0.25, 0.125)
  a <- above_threshold(1000,
    sensitivity = 1, sigma = c(4, 8), weights = weights, alpha = 20, monotone = FALSE, ledger = l
  )
  expect_equal(spent(l), a$worst, tolerance = 1e-12)
  b <- ask(a, 2000)
  expect_true(b$halted)
  expect_lt(b$epsilon, b$worst)
  expect_gte(spent(l), b$epsilon)
  expect_equal(spent(l), b$epsilon, tolerance = 1e-9)
  a <- above_threshold(1000,
    sensitivity = 1, sigma = c(4, 8), cap = 2, alpha = 20, monotone = FALSE, neighbours = "replace"
  )
  a <- ask(ask(a, 0), 0)
  expect_true(a$halted)
  expect_identical(a$answers, c(FALSE, FALSE))
  expect_confide_error(ask(a, 0), "budget", "has stopped")
  pure <- ledger(20, neighbours = "replace")
  above_threshold(0, sensitivity = 1, epsilon = 0.1, monotone = FALSE, ledger = pure)
  expect_equal(spent(pure), cost_above_threshold(20, 0.1), tolerance = 1e-12)
})

test_that("arguments out of range are refused", {
  start <- function(...) above_threshold(0, sensitivity = 1, monotone = FALSE, ...)
  expect_confide_error(above_threshold(0, sensitivity = 1, epsilon = 1), "parameter", "monotone")
  for (threshold in list(NA, Inf, 0.5, "1")) {
    expect_confide_error(
      above_threshold(threshold, 1, epsilon = 1, monotone = TRUE), "parameter", "threshold"
    )
  }
  for (yes in list(0, NA, 1.5, -1)) {
    expect_confide_error(start(epsilon = 1, yes = yes), "parameter", "yes")
  }
  expect_identical(start(epsilon = 1, yes = 50)$halted, FALSE)
  expect_confide_error(start(), "parameter", "Neither")
  expect_confide_error(start(epsilon = 1, cap = 3), "parameter", "cap")
  expect_confide_error(start(sigma = c(1, 2), alpha = 2), "parameter", "cap")
  expect_confide_error(start(sigma = c(1, 2), cap = 2), "parameter", "alpha")
  expect_confide_error(start(sigma = c(1, 2), cap = 2, alpha = 2, yes = 2), "parameter", "yes")
  expect_confide_error(
    start(sigma = c(1, 2), weights = c(0.5, 0.5), alpha = 2), "parameter", "below 1"
  )
  expect_confide_error(
    start(sigma = c(1, 2), weights = c(0.7, 0.7), alpha = 2), "parameter", "below 1"
  )
  # noise that could leave 2^53, where doubles are no longer whole numbers: 4 c / epsilon = 2^42
  expect_s3_class(start(epsilon = 2^-40), "confide_above_threshold")
  expect_confide_error(start(epsilon = 2^-40 * (1 - 1e-9)), "parameter", "No noise can serve")
  a <- start(epsilon = 1)
  for (value in list(0.5, NA, Inf, "1", c(1, 2))) {
    expect_confide_error(ask(a, value), "domain", "whole number")
  }
  ask(a, 0)
  expect_confide_error(ask(a, 0), "budget", "stale")
  expect_confide_error(ask(1, 0), "parameter", "above_threshold")
})

test_that("it prints small, and nothing else leaves", {
  a <- above_threshold(0, sensitivity = 1, epsilon = 1, monotone = FALSE, neighbours = "replace")
  expect_prints_small(a)
  expect_prints_small(ask(a, 3))
  f <- function(x) {
    a <- above_threshold(2, 1, epsilon = 1, monotone = TRUE, neighbours = "add_remove")
    for (bound in c(100, 1, 0)) {
      a <- ask(a, sum(x >= bound))
      if (a$halted) break
    }
    a$answers
  }
  pairs <- neighbour_pairs(numeric(), neighbours = "add_remove", number = 30, non_finite = FALSE)
  expect_true(replay_audit(f, pairs)$ok)
})
