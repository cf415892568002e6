# Every object can state its guarantee.

test_that("mechanisms, reports, counts, estimates and tests carry the same statement", {
  m <- mech_rr(c("no", "yes"), 1.25)
  reports <- privatize(c("no", "yes", "yes"), m)
  objects <- list(
    m, reports, count_reports(reports, m), estimate(reports, m),
    private_test(reports, m, p = c(.5, .5))
  )
  for (object in objects) {
    p <- privacy(object)
    expect_s3_class(p, "confide_privacy")
    expect_identical(p$epsilon, 1.25)
    expect_identical(p$definition, "pure local differential privacy")
    expect_identical(p$neighbours, "replace")
    expect_match(p$model, "local")
    expect_lte(p$epsilon_realised, 1.25)
    expect_equal(p$epsilon_realised, 1.25, tolerance = 1e-14)
  }
  for (object in objects[1:4]) expect_identical(epsilon(object), 1.25)
})

test_that("what the integers realise is never more than what was asked", {
  for (epsilon in c(0, 1e-300, .1, 1, 10, 44, 1e308)) {
    for (k in c(2, 100)) {
      p <- privacy(mech_rr(k, epsilon))
      expect_identical(p$epsilon, epsilon)
      expect_lte(p$epsilon_realised, min(epsilon, 44))
      expect_gte(p$epsilon_realised, audit(mech_rr(k, epsilon))$worst_log_ratio)
    }
  }
})

test_that("reports name their source of randomness", {
  m <- mech_rr(2, 1)
  expect_identical(privacy(privatize("1", m))$rng, "os")
  expect_identical(privacy(privatize("1", m, rng = "r"))$rng, "r")
  expect_null(privacy(m)$rng)
})

test_that("the epsilon of a record is the sum over its attributes", {
  m <- mech_lambda(list(a = 3, b = 2), epsilon = c(a = 1, b = .5))
  expect_equal(epsilon(m), 1.5, tolerance = 1e-15)
  expect_named(privacy(m)$by_attribute, c("a", "b"))
  reports <- privatize(data.frame(a = 1L, b = 1L), m)
  expect_identical(epsilon(reports), epsilon(m))
  expect_identical(epsilon(estimate(reports, m, margin = "a")), epsilon(m))
})

test_that("the guarantee is pure unless a delta is given, a number in [0, 1)", {
  m <- mech_rr(2, 1)
  expect_identical(epsilon(m, delta = 0), 1)
  expect_lt(epsilon(m, delta = 1e-6), 1)
  for (delta in list(1, -1e-20, NA, "0", c(0, 0), NULL)) {
    expect_confide_error(epsilon(m, delta = delta), "parameter", "`delta` must be one number")
  }
})

test_that("what carries no guarantee has none to state", {
  for (x in list(1, NULL, "a", data.frame(), stats::t.test(c(1, 2, 3)))) {
    expect_confide_error(privacy(x), "parameter", "carries a guarantee")
    expect_confide_error(epsilon(x), "parameter", c("carries a guarantee", "data carry none"))
  }
})

test_that("reports that lost their attributes point to the mechanism", {
  x <- structure(factor("1"), class = c("confide_reports", "factor"))
  expect_confide_error(privacy(x), "parameter", "privacy(mechanism)")
})

test_that("an infinite epsilon is stated as no protection", {
  expect_match(format(privacy(mech_lambda(list(a = 2), lambda = 1))), "no limit", all = FALSE)
})

test_that("the statement prints within 12 lines and 80 columns", {
  cases <- list(
    mech_rr(2, 1), toy_mechanism(), mech_matrix(diag(2)), mech_rr(2, 1e-300), mech_rr(2, 1e308)
  )
  for (m in cases) {
    expect_prints_small(privacy(m))
  }
  expect_prints_small(privacy(privatize("1", mech_rr(2, 1), rng = "r")))
  expect_snapshot({
    privacy(mech_rr(2, 1))
    privacy(privatize("1", mech_rr(2, 1), rng = "r"))
    privacy(toy_mechanism())
  })
})

test_that("a mechanism altered by hand states no guarantee", {
  m <- mech_rr(2, 1)
  m$epsilon <- 0.1
  expect_confide_error(privacy(m), "internal", "certificate")
  expect_confide_error(epsilon(m), "internal", "certificate")
  expect_confide_error(as_plain(m), "parameter", "must be reports")
})

test_that("a release altered by hand states no guarantee either", {
  release <- private_count(TRUE, epsilon = 1, neighbours = "replace")
  release$privacy$epsilon_realised <- 0.1
  path <- brownian(1, sensitivity = 1, alpha = 2)
  path$privacy$epsilon <- 0.1
  gate <- above_threshold(10, 1, epsilon = 1, monotone = TRUE, neighbours = "replace")
  gate$privacy$epsilon <- 0.1
  expect_confide_error(privacy(release), "internal", "certificate")
  expect_confide_error(epsilon(release), "internal", "certificate")
  for (object in list(path, gate)) {
    expect_confide_error(privacy(object), "internal", "altered by hand")
    expect_confide_error(epsilon(object, delta = 1e-6), "internal", "altered by hand")
  }
  expect_confide_error(as_approx_dp(path, delta = 1e-6), "internal", "altered by hand")
})
