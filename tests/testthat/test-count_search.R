# The one-sided search for the first of nested counts that reaches a target: its exact law.

# P(stop at k), k = 1, ..., K + 1 (none), summed up from the definition: Z with P(z) proportional to
# e^(-e1 z), G likewise with e2, stop at the first k with q_k + G_k >= T + Z.
naive_first_law <- function(q, T, e1, e2) {
  z <- 0:ceiling(60 / min(e1, e2))
  weight <- exp(-e1 * z) * (1 - exp(-e1))
  reach <- function(t) pmin(1, exp(-e2 * pmax(t, 0))) # P(G >= t) for whole t
  law <- numeric(length(q) + 1)
  left <- weight
  for (k in seq_along(q)) {
    hit <- reach(T + z - q[[k]])
    law[[k]] <- sum(left * hit)
    left <- left * (1 - hit)
  }
  law[[length(law)]] <- sum(left)
  law
}

renyi <- function(p, q, alpha) log(sum(p^alpha * q^(1 - alpha))) / (alpha - 1)

first_arguments <- function(budget, target, measure = "rho") {
  list(
    kind = "count_search", budget = budget, law = "geometric", measure = measure,
    neighbours = "replace", target = target
  )
}

test_that("the law is that of three cases worked out elsewhere", {
  # computed in multiple precision from the definition, for the specification of this package
  expect_close(
    naive_first_law(c(0, 2, 3), 2, 0.5, 1),
    c(0.068544667177, 0.448468173658, 0.203112787366, 0.279874371799)
  )
  expect_close(
    naive_first_law(c(1, 2, 4), 2, 0.5, 1),
    c(0.186323723226, 0.348786834674, 0.288576959090, 0.176312483011)
  )
  expect_close(
    naive_first_law(c(0, 1), 1, 1, 0.4),
    c(0.562412230658, 0.331385955272, 0.106201814070)
  )
})

test_that("the sampler follows the law", {
  draws <- if (extended()) 2e5 else 2e4
  for (case in list(list(q = c(0, 2, 3), e1 = 0.5), list(q = c(1, 2, 4, 4), e1 = 0.1))) {
    rho <- 25 * case$e1^2 / 8
    query <- first_arguments(rho, 2 + 0.5 / case$e1)
    noise <- count_search_noise(query)
    # the rate is rounded down to 24 digits
    expect_lte(noise$rate, case$e1)
    expect_gt(noise$rate, case$e1 * (1 - 2^-22))
    # ceil() may go one up where the rate is not a dyadic number
    law <- naive_first_law(case$q, noise$threshold, noise$rate, 2 * noise$rate)
    found <- withr::with_seed(1, replicate(
      draws, count_search_answer(count_units(case$q), query, "r")
    ))
    count <- tabulate(found, length(law))
    statistic <- sum((count - draws * law)^2 / (draws * law))
    # chi-squared with a false alarm once in a million
    expect_lt(statistic, stats::qchisq(1 - 1e-6, length(law) - 1))
  }
})

test_that("the law of neighbours keeps within both bounds, in both directions", {
  withr::with_seed(2, for (i in seq_len(if (extended()) 2000 else 200)) {
    q <- cumsum(sample(0:2, sample(1:8, 1), TRUE))
    # nested counts: one more record within the radii from some k on, in all orders
    up <- q + (seq_along(q) >= sample(length(q), 1))
    any_up <- q + sample(0:1, length(q), TRUE)
    e1 <- 2^-sample(0:3, 1)
    e2 <- 2 * e1
    threshold <- sample(-2:6, 1)
    law <- naive_first_law(q, threshold, e1, e2)
    for (other in list(up, any_up)) {
      moved <- naive_first_law(other, threshold, e1, e2)
      ratio <- log(law / moved)
      expect_lte(max(ratio), e1 + e2 + 1e-9)
      expect_gte(min(ratio), -e2 - 1e-9)
      rho <- 25 * e1^2 / 8
      for (alpha in c(1.01, 1.5, 2, 4, 16)) {
        expect_lte(max(renyi(law, moved, alpha), renyi(moved, law, alpha)), alpha * rho)
      }
    }
  })
})

test_that("the bounds are attained, so that smaller constants would be wrong", {
  # one count, far below: log-ratio e2; the first of many, above: e1 + e2
  far <- log(naive_first_law(1, 20, 0.5, 1) / naive_first_law(0, 20, 0.5, 1))
  expect_equal(far[[1]], 1, tolerance = 1e-6)
  many <- rep(c(0, 0), c(400, 1))
  up <- rep(c(1, 0), c(400, 1))
  ratio <- log(naive_first_law(many, 1, 0.5, 1) / naive_first_law(up, 1, 0.5, 1))
  expect_equal(ratio[[401]], 1.5, tolerance = 1e-6)
})

test_that("what is realised is never above the budget, exactly", {
  skip_if_not_installed("gmp")
  exact <- gmp::as.bigq
  budgets <- c(2^-36, 1e-9, 1e-3, 1 / 3, 0.1, 0.78125, 1, 7, 1e4, 2^40)
  for (budget in budgets) {
    noise <- count_search_noise(first_arguments(budget, 100))
    expect_true(exact(25) * exact(noise$rate)^2 / exact(8) <= exact(budget))
    expect_true(exact(25) * exact(noise$rate)^2 / exact(8) == exact(noise$realised))
    expect_gt(noise$realised, budget * (1 - 2^-21))
    pure <- count_search_noise(first_arguments(budget, 100, "epsilon"))
    expect_true(exact(3) * exact(pure$rate) <= exact(budget))
    expect_gt(pure$realised, budget * (1 - 2^-21))
  }
})

test_that("a budget or a target beyond the sampler's range is refused", {
  for (budget in c(0, 1e-12, 1e13)) {
    expect_confide_error(plan_noise(first_arguments(budget, 10)), "parameter", "No noise")
  }
  expect_confide_error(plan_noise(first_arguments(1, 1e300)), "parameter", "No noise")
})

test_that("counts that move in both directions, or by more than one, are no neighbours", {
  sided <- function(a, b) counts_one_sided(count_units(a), count_units(b))
  expect_true(sided(c(1, 2, 3), c(1, 3, 4)))
  expect_true(sided(c(1, 2, 3), c(0, 2, 2)))
  expect_true(sided(c(1, 2, 3), c(1, 2, 3)))
  expect_false(sided(c(1, 2, 3), c(2, 2, 2)))
  expect_false(sided(c(1, 2, 3), c(1, 4, 3)))
  expect_false(sided(c(1, 2, 3), c(1, 2)))
})
