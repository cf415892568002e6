# Attacks that break noise in doubles, on the releases of this package. Draws come from the
# operating system; the claims are exact, so they have no false alarms.

# Draws of a private sum of one value: its query, made once, since verbs check their arguments.
sums_of <- function(value, n, budget, bound = 1) {
  query <- list(
    kind = "sum", bound = bound, budget = budget, law = "gaussian", neighbours = "zero_out",
    n_max = largest_rows, dimension = 1
  )
  noise <- units_as_numbers(draw_noise(query, n, "os"))
  (units_as_numbers(sum_units(matrix(value), query)) + noise) * noise_plan(query)$grid
}

test_that("every released number is a multiple of the grid, whatever the data (Mironov 2012)", {
  for (value in c(0, 1, 0.1, 1 / 3, pi)) {
    for (i in seq_len(40)) {
      s <- private_sum(value, bound = 4, rho = 0.5, neighbours = "replace")
      expect_identical(coef(s) / s$grid, round(coef(s) / s$grid))
      e <- private_sum(value, bound = 4, epsilon = 0.5, neighbours = "replace")
      expect_identical(coef(e) / e$grid, round(coef(e) / e$grid))
    }
  }
  grid <- private_sum(0, bound = 1, rho = 0.5, neighbours = "zero_out")$grid
  for (value in c(0, 0.1, 1)) {
    y <- sums_of(value, 1e5, 0.5)
    expect_identical(y / grid, round(y / grid))
  }
})

test_that("neighbouring counts have equal supports near the centre", {
  query <- list(
    kind = "count", bound = 1, budget = 0.02, law = "gaussian", neighbours = "replace",
    n_max = largest_rows, dimension = 1
  )
  support <- function(count) {
    y <- count + units_as_numbers(draw_noise(query, 1e5, "os"))
    sort(unique(y[abs(y) <= 14]))
  }
  # sigma is 5, so this is the central 3 sigma: of each value 88 draws or more are expected
  expect_identical(support(0), as.numeric(-14:14))
  expect_identical(support(1), as.numeric(-14:14))
})

test_that("a release is never finer than its grid: the precision event has no draw on either side", {
  for (rho in c(2, 0.5, 0.02)) {
    for (value in c(0, 1)) {
      y <- sums_of(value, 1e5, rho)
      expect_identical(sum(y * 2^53 != round(y * 2^53)), 0L)
    }
  }
  # the attack works: noise in doubles around 0 has the event, around 1 it has not (Haney 2022)
  broken <- withr::with_seed(1, lapply(0:1, function(x) x + stats::rnorm(1e4)))
  finer <- vapply(broken, function(y) mean(y * 2^53 != round(y * 2^53)), numeric(1))
  # 0.258 in exact runs, with a standard error of 0.0044
  expect_lt(abs(finer[[1]] - 0.258), 5 * 0.0044)
  expect_identical(finer[[2]], 0)
})

test_that("inverting R's uniform numbers finds the true value behind a naive draw, not behind ours", {
  laplace <- function(u) -sign(u - 0.5) * log(1 - 2 * abs(u - 0.5))
  distribution <- function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2)
  explained <- function(y, x) {
    k <- round(distribution(y - x) * 2^32)
    hits <- vapply(-2:2, function(step) x + laplace((k + step) / 2^32) == y, logical(length(y)))
    rowSums(hits) > 0
  }
  # R's Mersenne twister gives multiples of 2^-32
  naive <- withr::with_seed(
    1, 1 + laplace(stats::runif(2000)), .rng_kind = "Mersenne-Twister"
  )
  expect_identical(mean(explained(naive, 1)), 1)
  expect_lt(mean(explained(naive, 0)), 0.01)
  query <- list(
    kind = "sum", bound = 1, budget = 1, law = "laplace", neighbours = "zero_out",
    n_max = largest_rows, dimension = 1
  )
  exact <- units_as_numbers(sum_units(matrix(1), query)) +
    units_as_numbers(draw_noise(query, 2000, "os"))
  exact <- exact * noise_plan(query)$grid
  # both values explain a draw equally often up to chance; 5 standard errors of a difference
  difference <- mean(explained(exact, 1)) - mean(explained(exact, 0))
  expect_lte(abs(difference), 5 * sqrt(2 * 0.25 / 2000))
})

test_that("seeds have no effect on releases, and releases none on seeds", {
  draw <- function() {
    withr::with_seed(1, coef(private_sum(1, bound = 1, rho = 1, neighbours = "replace")))
  }
  draws <- replicate(20, draw())
  expect_length(unique(draws), 20) # two equal ones have probability below 1e-5
  before <- random_state()
  private_count(TRUE, rho = 1, neighbours = "replace")
  audit(private_count(TRUE, rho = 1, neighbours = "replace"), draws = 100)
  expect_identical(random_state(), before)
})

test_that("forked processes draw different noise", {
  skip_on_os("windows")
  children <- lapply(1:4, function(i) {
    parallel::mcparallel(
      coef(private_sum(matrix(0, 1, 50), bound = 1, rho = 1, neighbours = "replace")),
      mc.set.seed = FALSE
    )
  })
  draws <- parallel::mccollect(children)
  expect_length(draws, 4)
  # 200 draws with a support of more than 2^25 values: equal ones between children are chance
  expect_length(unique(lapply(draws, as.vector)), 4)
  expect_lt(sum(duplicated(unlist(draws))), 5)
})
