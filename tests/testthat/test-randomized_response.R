# k-ary randomized response: the integers of the sampler, the law of the reports.

epsilons <- c(
  0, 1e-300, 1e-18, 1e-9, .05, .1, .5, 1, log(3), 2, 5, 10, 20, 30, 40, 43, 43.5, 43.9, 44, 45, 700,
  1e308
)
sizes <- c(2, 3, 4, 5, 16, 100, 1000, 1e6, 2^31 - 1)

# Truth at most e^epsilon times as likely as a lie, and the words add up.
is_sound <- function(w, k, bound) {
  w$truthful * bound$unit <= bound$lower * w$other && w$truthful >= w$other && w$other >= 1 &&
    w$truthful + (gmp::as.bigz(k) - 1) * w$other == w$total && w$total < gmp::as.bigz(2)^64
}

test_that("no report is more than exp(epsilon) times likelier under another truth, exactly", {
  skip_if_not_installed("gmp")
  for (epsilon in epsilons) {
    bound <- exp_bounds(min(epsilon, 44))
    for (k in sizes) {
      expect_true(is_sound(exact_weights(epsilon, k), k, bound))
    }
  }
})

test_that("the guarantee is used up to one word, and less than half of all words are rejected", {
  skip_if_not_installed("gmp")
  for (epsilon in epsilons) {
    bound <- exp_bounds(min(epsilon, 44))
    for (k in sizes) {
      w <- exact_weights(epsilon, k)
      # exp_lower() may be one part in 2^62 low, and the floor takes less than one word
      slack <- bound$unit + (bound$upper * w$other) %/% gmp::as.bigz(2)^61
      expect_true(w$truthful * bound$unit + slack >= bound$upper * w$other)
      expect_true(w$total * 2 >= gmp::as.bigz(2)^64 - 2 * gmp::as.bigz(k))
    }
  }
})

test_that("random epsilons and sizes keep the guarantee in whole numbers", {
  skip_if_not_installed("gmp")
  withr::local_seed(20260202)
  for (i in seq_len(if (extended()) 5000 else 150)) {
    epsilon <- if (i %% 2 == 0) stats::runif(1, 0, 44) else exp(stats::runif(1, -40, 4))
    k <- floor(exp(stats::runif(1, log(2), log(2^31))))
    expect_true(is_sound(exact_weights(epsilon, k), k, exp_bounds(min(epsilon, 44))))
  }
})

test_that("the channel, lambda and the audit are those of the integers", {
  skip_if_not_installed("gmp")
  for (epsilon in c(0, .05, 1, 5, 44)) {
    for (k in c(2, 3, 1000)) {
      w <- exact_weights(epsilon, k)
      m <- mech_rr(k, epsilon)
      ratio <- function(a, b) as.numeric(gmp::as.bigq(a, b))
      channel <- as.matrix(m)
      expect_equal(channel[1, 1], ratio(w$truthful, w$total), tolerance = 1e-15)
      expect_equal(channel[1, 2], ratio(w$other, w$total), tolerance = 1e-15)
      expect_equal(m$lambda, ratio(w$truthful - w$other, w$total), tolerance = 1e-15)
      expect_equal(
        audit(m)$worst_log_ratio, log1p(ratio(w$truthful - w$other, w$other)), tolerance = 1e-15
      )
    }
  }
})

test_that("a yes or no question keeps the truth as Warner's design does", {
  m <- mech_rr(2, epsilon = log(3))
  expect_equal(as.matrix(m)[1, 1], .75, tolerance = 1e-15)
  expect_equal(m$epsilon, 1.0986122886681098, tolerance = 1e-15)
  # drawing the lie from all categories would keep the truth more often and have epsilon 2.708050
  expect_equal(audit(m)$worst_log_ratio, log(3), tolerance = 1e-15)
})

test_that("truth and lie have probabilities exp(epsilon) and 1 over exp(epsilon) + k - 1", {
  for (epsilon in c(.1, 1, 4)) {
    for (k in c(2, 3, 7)) {
      expected <- matrix(1 / (exp(epsilon) + k - 1), k, k)
      diag(expected) <- exp(epsilon) / (exp(epsilon) + k - 1)
      expect_equal(unname(as.matrix(mech_rr(k, epsilon))), expected, tolerance = 1e-14)
    }
  }
})

test_that("reports have the probabilities of the channel", {
  n <- 20000
  m <- mech_rr(c("a", "b", "c"), 1)
  withr::local_seed(11)
  for (truth in levels(m)) {
    share <- table(privatize(rep(truth, n), m, rng = "r")) / n
    p <- as.matrix(m)[truth, ]
    expect_lte(max(abs(share - p) / sqrt(p * (1 - p) / n)), 5) # five standard errors
  }
})

test_that("reports from the operating system have the probabilities of the channel", {
  n <- 50000
  m <- mech_rr(c("a", "b", "c"), 1)
  p <- as.matrix(m)["b", ]
  # one false alarm in a million runs
  expect_gte(stats::chisq.test(table(privatize(rep("b", n), m)), p = p)$p.value, 1e-6)
})

test_that("reports of one truth are independent of each other", {
  n <- 20000
  reports <- withr::with_seed(5, as.integer(privatize(rep("1", n), mech_rr(2, 1), rng = "r")))
  # lag-one correlation has standard error 1 / sqrt(n); five of them
  expect_lte(abs(stats::cor(reports[-1], reports[-n])), 5 / sqrt(n))
})

test_that("a level that nobody has is reported with the probability of a lie", {
  n <- 20000
  m <- mech_rr(factor(c("a", "b"), c("a", "b", "never")), 1)
  share <- withr::with_seed(3, mean(privatize(rep("a", n), m, rng = "r") == "never"))
  b <- as.matrix(m)["a", "never"]
  expect_lte(abs(share - b), 5 * sqrt(b * (1 - b) / n))
})
