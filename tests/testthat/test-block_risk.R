# Closed forms of the risk against enumeration, and against numbers computed elsewhere in 60 digits
# (the specification of this topic, section 6).

test_that("the risk of known designs is what 60-digit arithmetic gives", {
  risk <- function(v, b, r, lambda, epsilon) design_risk(v, b, r, lambda, epsilon)
  expect_equal(risk(7, 7, 3, 1, 0.5), 81.50432047922, tolerance = 1e-12)
  expect_equal(risk(13, 13, 4, 1, 1), 41.1585696845, tolerance = 1e-11)
  expect_equal(risk(11, 11, 5, 2, 0.1), 3639.493956043, tolerance = 1e-12)
  expect_equal(risk(73, 73, 9, 1, 2), 51.4371960225, tolerance = 1e-11)
  expect_equal(risk(101, 101, 25, 6, 1), 365.7649461923, tolerance = 1e-12)
  expect_equal(risk(100, 101, 25, 6, 1), 362.1655552155, tolerance = 1e-12)
  expect_equal(risk(100, 341, 85, 21, 1), 368.6402895699, tolerance = 1e-12)
  expect_equal(risk(100, 128, 64, 32, 1), 468.2594376831, tolerance = 1e-12)
  expect_equal(risk(10, 10, 1, 0, 2), 5.922117093766, tolerance = 1e-12)
  expect_equal(risk(8, 56, 21, 6, 0.8), 37.06753409536, tolerance = 1e-12)
  expect_equal(risk(16, 20, 5, 1, 1), 51.91389305798, tolerance = 1e-12)
})

test_that("the lower bound is what 60-digit arithmetic gives", {
  expect_equal(risk_bound(2, 1), 2.341347188416, tolerance = 1e-12)
  expect_equal(risk_bound(7, 1), 18.97276899699, tolerance = 1e-12)
  expect_equal(risk_bound(100, 0.1), 39175.24688131, tolerance = 1e-12)
  expect_equal(risk_bound(100, 1), 360.9434851841, tolerance = 1e-12)
  expect_equal(risk_bound(10000, 2), 7239.168560149, tolerance = 1e-12)
  expect_equal(risk_bound(7, 0.5, u = 1), 19.05809102857, tolerance = 1e-12)
  expect_equal(risk_bound(100, 1, u = 1), 151.5861996936, tolerance = 1e-12)
})

test_that("the best block sizes are those of a search over all of them", {
  cases <- expand.grid(v = c(2:60, 100, 101, 1000), epsilon = c(0.01, 0.3, 0.7, 1, 1.7, 2.5, 4, 7))
  for (i in seq_len(nrow(cases))) {
    v <- cases$v[[i]]
    k <- seq_len(v - 1)
    odds <- exp(cases$epsilon[[i]])
    risk <- (v - 1)^2 * (k * odds + v - k)^2 / (v * k * (v - k) * (odds - 1)^2)
    expect_identical(optimal_block_size(v, cases$epsilon[[i]]), as.numeric(which.min(risk)))
    expect_equal(risk_bound(v, cases$epsilon[[i]]), min(risk), tolerance = 1e-11)
  }
})

test_that("where two block sizes tie both are returned", {
  expect_identical(optimal_block_size(7, log(20 / 6) / 2), c(2, 3))
  expect_identical(optimal_block_size(13, log(90 / 12) / 2), c(3, 4))
  expect_identical(optimal_block_size(10, log(36) / 2), c(1, 2))
})

test_that("a block size is optimal exactly within its interval", {
  expect_equal(unlist(exactness_interval(7, 3)[3:4]), c(lower = 0, upper = 0.601986),
    tolerance = 1e-5
  )
  expect_equal(unlist(exactness_interval(101, 25)[3:4]), c(lower = 1.085625, upper = 1.138805),
    tolerance = 1e-5
  )
  for (k in c(1, 5, 12, 25)) {
    interval <- exactness_interval(60, k)
    inside <- if (is.finite(interval$upper)) mean(c(interval$lower, interval$upper)) else 9
    expect_identical(optimal_block_size(60, inside), k)
    if (interval$lower > 0) expect_false(k %in% optimal_block_size(60, interval$lower - 1e-6))
    if (interval$upper < 9) expect_false(k %in% optimal_block_size(60, interval$upper + 1e-6))
  }
})

test_that("risks are finite from tiny to huge epsilons", {
  for (epsilon in c(1e-8, 1e-3, 20, 300, 800)) {
    expect_true(is.finite(design_risk(100, 101, 25, 6, epsilon)))
    expect_gte(design_risk(100, 101, 25, 6, epsilon) / risk_bound(100, epsilon), 1 - 1e-9)
  }
})

test_that("the risk of a mechanism is that of its matrices, at any shares", {
  p <- (1:9) / 45
  for (name in c("quartic0(13)", "derived PG(3,3)", "residual Paley(19)", "triples(9,1)")) {
    m <- mech_block(9, 1.1, design = name)
    channel <- as.matrix(m)
    inside <- channel > min(channel) * 1.5
    r <- sum(inside[1, ])
    in_true <- sum(channel[1, inside[1, ]])
    in_other <- sum(channel[1, inside[2, ]])
    canonical <- (inside - in_other) / (in_true - in_other)
    expect_equal(canonical %*% t(channel), diag(9), tolerance = 1e-12, ignore_attr = TRUE)
    centred <- canonical - rep((colSums(canonical) - 1) / 9, each = 9)
    at <- function(values, p) linear_risk(values, channel, p)
    expect_equal(block_risk(m, 50, p = p, method = "canonical"), at(canonical, p) / 50,
      tolerance = 1e-11
    )
    expect_equal(block_risk(m, 50, p = p), at(centred, p) / 50, tolerance = 1e-11)
    uniform <- rep(1 / 9, 9)
    expect_equal(m$risk, at(canonical, uniform), tolerance = 1e-8)
    expect_equal(m$risk_centred, at(centred, uniform), tolerance = 1e-8)
    expect_lte(m$risk_centred, m$risk * (1 + 1e-12))
    fixed <- at(centred, p) - (1 - sum(p^2))
    expect_equal(block_risk(m, 50, p = p, target = "file"), fixed / 50, tolerance = 1e-11)
  }
})

test_that("absolute errors are those of binomial counts", {
  m <- mech_block(7, 0.5, design = "PG(2,2)")
  expect_equal(block_risk(m, 10, u = 1), 6.12258854568, tolerance = 1e-9)
  expect_equal(
    block_risk(mech_block(101, 1, design = "quartic(101)"), 1000, u = 1), 4.851035210389,
    tolerance = 1e-9
  )
  # Randomized response of two levels at n = 2, summed over the four outcomes by hand.
  two <- mech_block(2, 1)
  truth <- exp(1) / (1 + exp(1))
  q <- 0.861 * truth + 0.139 * (1 - truth)
  loss <- 2 * sum(stats::dbinom(0:2, 2, q) * abs(0:2 / 2 - q)) / (2 * truth - 1)
  expect_equal(block_risk(two, 2, p = c(0.861, 0.139), u = 1), loss, tolerance = 1e-9)
  middle <- block_risk(m, 500, u = 1.5) * 500^0.75
  expect_equal(middle, risk_bound(7, 0.5, u = 1.5), tolerance = 0.01) # first order in n
})

test_that("arguments outside their range are refused", {
  expect_confide_error(optimal_block_size(1, 1), "parameter", "v")
  expect_confide_error(risk_bound(10, 0), "parameter", "above 0")
  expect_confide_error(risk_bound(10, 1, u = 3), "parameter", "from 1 to 2")
  expect_confide_error(design_risk(10, 10, 10, 1, 1), "parameter", "below")
  expect_confide_error(design_risk(10, c(10, 20, 30), c(4, 5), 1, 1), "parameter", "one length")
  expect_confide_error(exactness_interval(10, 10), "parameter", "whole")
  expect_confide_error(block_risk(mech_rr(3, 1), 10), "parameter", "mech_block")
  expect_confide_error(
    block_risk(mech_block(3, 1), 10, p = Matrix::Diagonal(3)), "parameter", "3 probabilities"
  )
})
