# The exact and the statistical audit of releases.

count_query <- function(law, budget) {
  list(
    kind = "count", bound = 1, budget = budget, law = law, neighbours = "replace",
    n_max = largest_rows, dimension = 1
  )
}

test_that("the worst log-ratio of a Laplace release is that of its law, summed up naively", {
  for (epsilon in c(0.05, 0.3, 1, 2)) {
    release <- private_count(TRUE, epsilon = epsilon, neighbours = "replace")
    scale <- release$scale$numerator / release$scale$denominator
    y <- -50:50
    law <- function(centre) exp(-abs(y - centre) / scale) * tanh(0.5 / scale)
    worst <- max(abs(log(law(0) / law(1))))
    a <- audit(release)
    expect_equal(a$worst_log_ratio, worst, tolerance = 1e-13)
    expect_lte(a$worst_log_ratio, epsilon)
    expect_true(a$ok)
  }
})

test_that("the Renyi divergences of a Gaussian release are those of its law, summed up naively", {
  y <- -400:400
  for (rho in c(0.01, 0.3, 0.5, 2, 7.3)) {
    release <- private_count(TRUE, rho = rho, neighbours = "replace")
    variance <- release$scale$numerator / release$scale$denominator
    law <- function(centre) {
      log_mass <- -(y - centre)^2 / (2 * variance)
      log_mass - log(sum(exp(log_mass)))
    }
    a <- audit(release)
    naive <- vapply(a$renyi$alpha, function(alpha) {
      terms <- alpha * law(1) + (1 - alpha) * law(0)
      (max(terms) + log(sum(exp(terms - max(terms))))) / (alpha - 1)
    }, numeric(1))
    expect_equal(a$renyi$divergence, naive, tolerance = 1e-10)
    # the last comparison is of doubles: one part in 1e14
    expect_true(all(a$renyi$divergence <= a$renyi$alpha * rho * (1 + 1e-14)))
    expect_true(a$ok)
  }
})

test_that("the attack on a release finds what is there and no more", {
  draws <- if (extended()) 1e7 else 1e5
  for (law in c("laplace", "gaussian")) {
    for (budget in c(0.5, 1)) {
      arguments <- list(TRUE, neighbours = "replace")
      arguments[[if (law == "laplace") "epsilon" else "rho"]] <- budget
      a <- audit(do.call(private_count, arguments), draws = draws)
      expect_true(a$ok)
      expect_lte(a$lower_bound, budget)
      # a threshold on Laplace noise attains epsilon; of a Gaussian's divergence one keeps half
      expect_gte(a$lower_bound, if (law == "laplace") budget - 0.08 else budget / 3)
    }
  }
  wide <- audit(private_sum(1, bound = 3, epsilon = 1, neighbours = "replace"), draws = draws)
  expect_lte(wide$lower_bound, 1)
  expect_gte(wide$lower_bound, 0.9)
})

test_that("noise that is too narrow fails the attack", {
  # the tester is tested: noise of a budget four times as large as the claim
  for (law in c("laplace", "gaussian")) {
    claim <- if (law == "laplace") {
      private_count(TRUE, epsilon = 0.5, neighbours = "replace")
    } else {
      private_count(TRUE, rho = 0.5, neighbours = "replace")
    }
    honest <- draw_noise
    local_replacement("draw_noise", function(query, n, rng) {
      honest(utils::modifyList(query, list(budget = 4 * query$budget)), n, rng)
    })
    a <- withr::with_seed(1, audit(claim, draws = 20000, rng = "r"))
    expect_gt(a$lower_bound, 0.5)
    expect_false(a$ok)
    expect_match(format(a), "THE CLAIM FAILS", all = FALSE)
    local_replacement("draw_noise", honest)
  }
})

test_that("exact answers that neighbours share are all that a rare event is bounded by", {
  # Clopper and Pearson's limits of two frequencies, put into the two-point divergence
  low <- stats::qbeta(5e-3, 600, 401)
  high <- stats::qbeta(1 - 5e-3, 201, 800)
  two_point <- function(alpha) {
    log(low^alpha * high^(1 - alpha) + (1 - low)^alpha * (1 - high)^(1 - alpha)) / (alpha - 1)
  }
  expect_gte(rho_lower_bound(600, 200, 1000, 0.99), two_point(2) / 2)
  expect_identical(rho_lower_bound(200, 600, 1000, 0.99), 0)
  expect_identical(rho_lower_bound(0, 0, 1000, 0.99), 0)
  # two normal laws one standard deviation apart have rho 1/2
  expect_lt(rho_lower_bound(1e6 * stats::pnorm(0.5), 1e6 * stats::pnorm(-0.5), 1e6, 0.99), 0.5)
})

test_that("frequencies of rare events bound rho by a finite number, also from many draws", {
  # two normal laws one standard deviation apart have rho 1/2, whatever the event
  for (n in c(1e5, 1e7, 1e9)) {
    for (threshold in seq(-6, 7, by = 0.25)) {
      hits <- round(n * stats::pnorm(threshold, 1, lower.tail = FALSE))
      other <- round(n * stats::pnorm(threshold, lower.tail = FALSE))
      bound <- rho_lower_bound(hits, other, n, 0.999)
      expect_true(is.finite(bound) && bound >= 0 && bound <= 0.5)
    }
  }
  # the event's own term alone, at the order 64, where powers would overflow
  low <- stats::qbeta(5e-4, 1000, 1e7 - 1000 + 1)
  high <- stats::qbeta(1 - 5e-4, 1, 1e7)
  expect_gte(
    rho_lower_bound(1000, 0, 1e7, 0.999), (64 * log(low) - 63 * log(high)) / (64 * 63) - 1e-12
  )
})

test_that("the noise that R draws has the exact law", {
  n <- if (extended()) 1e7 else 1e5
  laws <- list(
    laplace = function(y) exp(-abs(y)) * tanh(0.5),
    gaussian = function(y) exp(-y^2 / 2) / sum(exp(-(-40:40)^2 / 2))
  )
  for (law in names(laws)) {
    query <- count_query(law, if (law == "laplace") 1 else 0.5)
    y <- withr::with_seed(20260801, units_as_numbers(draw_noise(query, n, "r")))
    cells <- c(-Inf, -3:3, Inf)
    expected <- laws[[law]](-40:40)
    expected <- n * tapply(expected, findInterval(-40:40, cells, left.open = TRUE), sum)
    observed <- tabulate(findInterval(y, cells, left.open = TRUE), length(expected))
    statistic <- sum((observed - expected)^2 / expected)
    # the seed is fixed; another would fail once in a million
    expect_lt(statistic, stats::qchisq(1 - 1e-6, length(expected) - 1))
  }
})

test_that("numbers of draws and confidences of an audit are checked before anything is drawn", {
  release <- private_count(TRUE, rho = 1, neighbours = "replace")
  for (n in list(-1, 1.5, "10", 2^53 + 2, NA, Inf, NULL, c(1, 2), TRUE)) {
    expect_confide_error(audit(release, draws = n, rng = "r"), "parameter", "`draws`")
  }
  expect_confide_error(audit(mech_rr(2, 1), draws = 1e9, rng = "r"), "parameter", "`draws`")
  expect_confide_error(audit(release, draws = 1e9, rng = "r"), "parameter", "to 100000000")
  wide <- private_sum(matrix(0, 1, 100), bound = 1, epsilon = 1, neighbours = "replace")
  expect_confide_error(audit(wide, draws = 1e7, rng = "r"), "parameter", "to 1000000.")
  for (confidence in list(0, 1, NA, "a", -0.5)) {
    expect_confide_error(audit(release, confidence = confidence), "parameter")
  }
  expect_confide_error(audit(release, draw = 10), "parameter")
})
