# Two hypotheses about a number, given by distribution functions.

normal_shift <- function(epsilon, shift = 1, ...) {
  mech_spr_continuous(function(x) pnorm(x), function(x) pnorm(x, shift), epsilon, ...)
}

# A discretisation is a channel on the line, so its optimum is a lower bound, and a fine one is
# close.
discretised <- function(f0, f1, points, epsilon, ...) {
  mech_spr(diff(c(0, f0(points), 1)), diff(c(0, f1(points), 1)), epsilon, ...)
}

test_that("two normal distributions are cut where calculus cuts them", {
  m <- normal_shift(0.1, objective = "tv")
  expect_equal(m$cuts, 0.5, tolerance = 1e-7)
  optimum <- (pnorm(0.5) - pnorm(-0.5)) * (exp(0.1) - 1) / (exp(0.1) + 1)
  expect_equal(m$objective_value, optimum, tolerance = 1e-8)
  # the mirror image
  expect_equal(normal_shift(2, -1)$cuts, -rev(normal_shift(2, 1)$cuts), tolerance = 1e-4)
})

test_that("the bounds hold the optimum of fine discretisations", {
  points <- seq(-8, 9, by = 0.005)
  for (epsilon in c(0.5, 2, 5)) {
    for (objective in list("kl", "hellinger2", "chernoff")) {
      m <- normal_shift(epsilon, objective = objective)
      fine <- discretised(
        function(x) pnorm(x), function(x) pnorm(x, 1), points, epsilon,
        objective = objective
      )
      expect_lte(fine$objective_value, m$bounds[[2]] * (1 + 1e-12))
      expect_equal(fine$objective_value, m$objective_value, tolerance = 1e-4)
      expect_lte(m$bounds[[2]] / m$bounds[[1]] - 1, 1e-7)
    }
  }
})

test_that("exponential, Poisson and binomial pairs are solved", {
  positive <- c(0, Inf)
  exponential <- mech_spr_continuous(pexp, function(x) pexp(x, 2), 3, support = positive)
  fine <- discretised(pexp, function(x) pexp(x, 2), seq(0.002, 20, by = 0.002), 3)
  expect_equal(exponential$objective_value, fine$objective_value, tolerance = 1e-5)
  # without knowing that numbers are whole: as good, with a wider bound
  rough <- mech_spr_continuous(function(x) ppois(x, 4), function(x) ppois(x, 6), 3,
    support = positive
  )
  fine <- mech_spr(dpois(0:200, 4), dpois(0:200, 6), 3)
  expect_equal(rough$objective_value, fine$objective_value, tolerance = 1e-10)
  expect_gt(rough$bounds[[2]], fine$objective_value)
})

test_that("distributions on whole numbers are solved as well as their tables", {
  for (epsilon in c(0.5, 3, 6)) {
    for (means in list(c(4, 6), c(6, 4), c(900, 1000))) {
      f <- lapply(means, function(mean) function(x) ppois(x, mean))
      poisson <- mech_spr_continuous(f[[1]], f[[2]], epsilon, support = c(0, Inf), whole = TRUE)
      table <- mech_spr(dpois(0:2000, means[[1]]), dpois(0:2000, means[[2]]), epsilon)
      expect_equal(poisson$objective_value, table$objective_value, tolerance = 1e-9)
      expect_gte(poisson$bounds[[2]], table$objective_value - 1e-14)
      expect_lte(poisson$bounds[[2]] / poisson$bounds[[1]], 1 + 1e-6)
      expect_identical(poisson$n_outputs, table$n_outputs)
      counts <- round(means[[1]] + c(-1, 0, 1, 2) * sqrt(means[[1]]))
      expect_identical(poisson$block[encode(counts, poisson, NULL)], table$block[counts + 1])
    }
  }
  binomial <- mech_spr_continuous(function(x) pbinom(x, 10, .6), function(x) pbinom(x, 10, .4), 2,
    support = c(0, 10), whole = TRUE
  )
  expect_equal(binomial$objective_value, 0.28422455858171, tolerance = 1e-10)
  expect_equal(binomial$bounds[[2]], 0.28422455858171, tolerance = 1e-10)
  expect_prints_small(binomial)
  expect_same_domain_error(list(0.5, -1, 11, NA_real_), binomial)
  rounded <- mech_spr_continuous(
    function(x) pnorm(floor(x) + .5), function(x) pnorm(floor(x) - .5), 2,
    whole = TRUE
  )
  table <- mech_spr(diff(pnorm(-9:9 - .5)), diff(pnorm(-8:10 - 2.5)), 2)
  expect_equal(rounded$objective_value, table$objective_value, tolerance = 1e-8)
  expect_confide_error(
    mech_spr_continuous(function(x) ppois(x, 4), function(x) (ppois(x, 1) + ppois(x, 9)) / 2, 6,
      support = c(0, Inf), whole = TRUE
    ),
    "parameter", "monotone"
  )
  expect_confide_error(
    mech_spr_continuous(function(x) pnorm(x), function(x) pnorm(x, 1), 1, whole = NA), "parameter"
  )
})

test_that("numbers go to the interval that contains them", {
  m <- normal_shift(20, max_outputs = 3)
  expect_identical(m$n_outputs, 3L)
  x <- c(-100, m$cuts[[1]], m$cuts[[1]] + 1e-6, m$cuts[[2]], m$cuts[[2]] + 1e-6, 100)
  codes <- encode(x, m, NULL)
  expect_identical(codes, c(1L, 1L, 2L, 2L, 3L, 3L))
  # P0 is the distribution on the left, so the last interval has the smallest likelihood ratio
  expect_identical(m$block, c(3L, 2L, 1L))
  # at epsilon 20 a report is the interval's block but for one in 2e8
  expect_identical(as.integer(as_plain(privatize(x, m))), c(3L, 3L, 2L, 2L, 1L, 1L))
  expect_equal(sum(m$p0), 1)
  expect_equal(m$p0[[1]], pnorm(m$cuts[[1]]))
})

test_that("every verb works on intervals", {
  m <- normal_shift(3)
  expect_s3_class(m, c("confide_spr_continuous", "confide_spr", "confide_mechanism"), exact = TRUE)
  expect_length(levels(m), m$n_outputs)
  expect_setequal(unlist(m$blocks), levels(m))
  expect_true(audit(m, draws = 2000, rng = "r")$ok)
  expect_prints_small(m)
  expect_prints_small(normal_shift(100))
  expect_prints_small(normal_shift(0))
  withr::local_seed(6)
  reports <- privatize(stats::rnorm(5000), m, rng = "r")
  test <- private_test(reports, m)
  expect_gt(test$p.value, 1e-6)
  expect_lt(test$p.value.p1, 1e-20)
  shares <- estimate(reports, m)
  # five standard errors around the probabilities of the intervals
  expect_true(all(abs(coef(shares) - m$p0) <= 5 * sqrt(diag(vcov(shares)))))
  expect_identical(dim(simulate(m, 3, seed = 1, x = c(0, 1))), c(2L, 3L))
  expect_equal(unname(as.vector(m$p1 %*% as.matrix(m))), m$output_p1, tolerance = 1e-12)
})

test_that("the object keeps no function and no environment", {
  m <- local({
    secret <- "marker-of-private-data"
    f0 <- function(x) pnorm(x, nchar(secret) * 0)
    f1 <- function(x) pnorm(x, nchar(secret) / nchar(secret))
    mech_spr_continuous(f0, f1, 2)
  })
  expect_holds_no("marker-of-private-data", m)
  expect_false("function" %in% rapply(unclass(m), typeof, how = "unlist"))
  expect_confide_error(update(m, epsilon = 1), "parameter", "not kept")
  again <- update(m, p0 = function(x) pnorm(x), p1 = function(x) pnorm(x, 1))
  expect_identical(again$fingerprint, m$fingerprint)
})

test_that("private values that are not finite numbers in the support get one text", {
  m <- mech_spr_continuous(pexp, function(x) pexp(x, 2), 1, support = c(0, Inf))
  expect_same_domain_error(list(NA_real_, NaN, Inf, -1, c(1, NA)), m)
  wrong <- list("a", factor(1), Sys.Date(), data.frame(x = 1), matrix(1:4, 2), TRUE)
  expect_same_domain_error(wrong, m)
  expect_length(privatize(numeric(), m), 0)
})

test_that("what are not distribution functions with a monotone ratio is refused", {
  f <- function(x) pnorm(x)
  refused <- function(..., says = NULL) {
    expect_confide_error(mech_spr_continuous(..., epsilon = 1), "parameter", says)
  }
  refused(f, function(x) pnorm(x, 0, 2), says = "monotone")
  refused(f, c(.2, .8), says = "distribution function")
  refused(f, function(x) dnorm(x))
  refused(f, function(x) 0.5)
  refused(f, function(x) 1 - pnorm(x))
  refused(f, function(x) stop("broken"), says = "broken")
  refused(f, f, support = c(1, 0))
  refused(f, f, support = 1)
  refused(f)
  expect_confide_error(mech_spr_continuous(f, f), "parameter")
  expect_confide_error(mech_spr_continuous(f, f, 1, tolerance = "a"), "parameter")
})
