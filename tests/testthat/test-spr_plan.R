# Planning a private test: each of n, epsilon, power and level from the other three.

plan_pair <- function() {
  list(
    p0 = c(none = .05, few = .25, some = .30, many = .40),
    p1 = c(none = .10, few = .30, some = .30, many = .30)
  )
}

plan <- function(...) plan_test(plan_pair()$p0, plan_pair()$p1, ...)

binomial_power <- function(n, m, level) {
  critical <- stats::qbinom(level, n, m$output_p0[[1]], lower.tail = FALSE)
  stats::pbinom(critical, n, m$output_p1[[1]], lower.tail = FALSE)
}

test_that("with two different reports level and power are those of the binomial test", {
  m <- mech_spr(plan_pair()$p0, plan_pair()$p1, 1)
  expect_identical(m$n_outputs, 2L)
  for (n in c(50, 300, 1234)) {
    found <- plan(n = n, epsilon = 1)
    expect_equal(found$power, binomial_power(n, m, 0.05), tolerance = 1e-12)
    critical <- stats::qbinom(0.05, n, m$output_p0[[1]], lower.tail = FALSE)
    level <- stats::pbinom(critical, n, m$output_p0[[1]], lower.tail = FALSE)
    expect_equal(found$level, level, tolerance = 1e-12)
    expect_match(found$method, "exact binomial")
  }
})

test_that("the number of reports is the smallest from which on the power is reached", {
  m <- mech_spr(plan_pair()$p0, plan_pair()$p1, 1)
  found <- plan(epsilon = 1, power = 0.8)
  n <- found$n
  expect_gte(min(binomial_power(n:(2 * n), m, 0.05)), 0.8)
  expect_lt(binomial_power(n - 1, m, 0.05), 0.8)
  expect_gte(found$power, 0.8)
})

test_that("each solution is the inverse of the others", {
  for (epsilon in c(1, 3)) {
    n <- plan(epsilon = epsilon, power = 0.85)$n
    back <- plan(epsilon = epsilon, n = n)
    # the level and with it the power move in steps of about one report's probability
    expect_gte(back$power, 0.85)
    expect_lte(back$power, 0.85 + 3 / sqrt(n))
    again <- plan(n = n, power = 0.85)
    expect_lte(abs(again$epsilon / epsilon - 1), 0.03)
    expect_gte(again$power, 0.85)
    level <- plan(n = n, epsilon = epsilon, power = 0.85, sig.level = NULL)
    expect_lte(level$sig.level, 0.05 + 1e-9)
    expect_gte(level$power, 0.85)
    expect_equal(level$sig.level, 0.05, tolerance = 0.25)
  }
})

test_that("with three different reports the exact and the approximate plan agree", {
  pair <- list(p0 = dbinom(0:10, 10, .52), p1 = dbinom(0:10, 10, .5))
  m <- mech_spr(pair$p0, pair$p1, 2)
  expect_gte(m$n_outputs, 3)
  laws <- laws_of(m)
  exact <- operate(laws, 1000, 0.05)
  expect_match(exact$method, "exact by enumeration")
  excess <- function(t) sum_tail(t, 1000, laws$m0, laws$score, 0)$p - 0.05
  t <- stats::uniroot(excess, c(-50, 50), tol = 1e-10)$root
  expect_equal(exact$power, sum_tail(t, 1000, laws$m1, laws$score, 0)$p, tolerance = 0.01)
  found <- plan_test(pair$p0, pair$p1, epsilon = 2, power = 0.9)
  expect_gte(found$power, 0.9)
  expect_lt(operate(laws, ceiling(0.98 * found$n), 0.05)$power, 0.9)
})

test_that("Stein's and Chernoff's exponents in the note are those of the reports", {
  m <- mech_spr(plan_pair()$p0, plan_pair()$p1, 1)
  kl <- sum(m$output_p0 * log(m$output_p0 / m$output_p1))
  exponent <- function(t) -log(sum(m$output_p0^t * m$output_p1^(1 - t)))
  chernoff <- stats::optimize(exponent, c(0, 1), maximum = TRUE, tol = 1e-10)$objective
  note <- plan(n = 100, epsilon = 1)$note
  expect_match(note, format_number(kl, 3), fixed = TRUE)
  expect_match(note, format_number(chernoff, 3), fixed = TRUE)
})

test_that("more privacy or more power needs more people", {
  n <- vapply(c(4, 2, 1, 0.5), function(epsilon) plan(epsilon = epsilon, power = 0.9)$n, numeric(1))
  expect_false(is.unsorted(n, strictly = TRUE))
  n <- vapply(c(.5, .8, .9, .99), function(power) plan(epsilon = 1, power = power)$n, numeric(1))
  expect_false(is.unsorted(n, strictly = TRUE))
  # at small epsilon the number grows like 1 / epsilon^2
  n <- vapply(c(.01, .02), function(epsilon) plan(epsilon = epsilon, power = .9)$n, numeric(1))
  expect_equal(n[[1]] / n[[2]], 4, tolerance = 0.03)
})

test_that("distribution functions are planned for as well", {
  found <- plan_test(function(x) pnorm(x), function(x) pnorm(x, 0.3), epsilon = 1, power = 0.8)
  m <- mech_spr_continuous(function(x) pnorm(x), function(x) pnorm(x, 0.3), 1)
  expect_identical(found$reports, m$n_outputs)
  expect_gte(found$power, 0.8)
  # no private test can need fewer reports than the most powerful test without privacy
  expect_gt(found$n, ((stats::qnorm(.95) + stats::qnorm(.8)) / 0.3)^2)
})

test_that("a plan prints like those of stats", {
  found <- plan(epsilon = 1, power = 0.9)
  expect_s3_class(found, "power.htest")
  expect_output(print(found), "Private likelihood-ratio test")
  expect_output(print(found), "Stein")
  expect_lte(max(nchar(utils::capture.output(print(found)))), 80)
})

test_that("a plan without an answer is refused", {
  expect_confide_error(plan(n = 5, power = 0.99), "parameter", "too few even without privacy")
  expect_confide_error(
    plan_test(plan_pair()$p0, plan_pair()$p0, epsilon = 1, power = 0.9), "parameter", "must differ"
  )
  expect_confide_error(plan(epsilon = 0, power = 0.9), "parameter", "above 0")
  expect_confide_error(plan(epsilon = 1), "parameter", "Exactly one")
  expect_confide_error(plan(epsilon = 1, n = 10, power = 0.9), "parameter", "None is")
  for (value in list(0, 1, NA, "a", c(.1, .2), -1)) {
    expect_confide_error(plan(epsilon = 1, power = value), "parameter")
    expect_confide_error(plan(epsilon = 1, n = 10, sig.level = value), "parameter")
  }
  for (value in list(0, 1.5, NA, "a", Inf)) {
    expect_confide_error(plan(epsilon = 1, n = value), "parameter")
  }
  expect_confide_error(plan(n = 10, epsilon = -1), "parameter")
  expect_confide_error(plan_test(), "parameter")
})
