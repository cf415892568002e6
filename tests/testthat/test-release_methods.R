# What can be asked of a release.

releases <- function() {
  list(
    private_sum(c(40, 38, 20), bound = 50, rho = 0.5, neighbours = "replace"),
    private_sum(c(40, 38, 20), bound = 50, epsilon = 0.5, neighbours = "zero_out", rng = "r"),
    private_sum(as.matrix(mtcars), bound = 300, rho = 0.01, neighbours = "add_remove"),
    private_sum(1e12 * as.matrix(mtcars), bound = 3e15, rho = 1e-8, neighbours = "add_remove"),
    private_count(c(TRUE, FALSE), rho = 0.5, neighbours = "replace"),
    private_count(c(TRUE, FALSE), epsilon = 1e-5, neighbours = "add_remove", rng = "r")
  )
}

test_that("a release prints its guarantee, neighbours and source on few short lines", {
  for (release in releases()) {
    expect_prints_small(release)
    expect_prints_small(privacy(release))
    expect_prints_small(audit(release))
    text <- format(release)
    expect_match(text, "rho = |epsilon = ", all = FALSE)
    expect_match(text, "neighbours: ", all = FALSE)
    expect_match(text, "standard deviation", all = FALSE)
    private <- privacy(release)$rng == "os"
    expect_identical(any(grepl("NOT PRIVATE", text)), !private)
    expect_identical(any(grepl("operating system", text)), private)
  }
})

test_that("printed forms of releases stay as they are", {
  expect_snapshot({
    withr::with_seed(1, private_sum(
      cbind(hours = c(40, 38, 20), age = c(20, 70, 33)), 100, rho = 0.5, neighbours = "replace",
      rng = "r"
    ))
    k <- withr::with_seed(2, private_count(
      c(TRUE, FALSE), epsilon = 1, neighbours = "add_remove", rng = "r"
    ))
    k
    summary(k)
    audit(k)
    withr::with_seed(3, audit(k, draws = 1000, rng = "r"))
  })
})

test_that("coefficients, covariances and tables of a release agree with one another", {
  s <- private_sum(as.matrix(mtcars[1:3]), bound = 300, rho = 0.01, neighbours = "add_remove")
  expect_named(coef(s), names(mtcars)[1:3])
  expect_identical(sqrt(diag(vcov(s))), stats::setNames(rep(s$noise_sd, 3), names(coef(s))))
  expect_identical(vcov(s)[1, 2], 0)
  table <- as.data.frame(s)
  expect_identical(unname(as.list(table)), unname(as.list(tidy(s))))
  expect_named(tidy(s), c("term", "estimate", "std.error", "conf.low", "conf.high"))
  expect_identical(table$estimate, unname(coef(s)))
  expect_identical(table$conf_low, unname(confint(s)[, 1]))
  expect_identical(rownames(confint(s, "cyl")), "cyl")
  expect_identical(summary(s)$table, table)
  expect_identical(glance(s)$rho, 0.01)
  expect_identical(glance(s)$epsilon, NA_real_)
  expect_identical(nrow(glance(s)), 1L)
  count <- private_count(TRUE, epsilon = 1, neighbours = "replace")
  expect_identical(as.data.frame(count)$term, "count")
  expect_identical(glance(count)$epsilon, 1)
})

test_that("epsilon is that of pure releases, and zero-concentrated ones say where theirs is", {
  expect_identical(epsilon(private_count(TRUE, epsilon = 0.7, neighbours = "replace")), 0.7)
  expect_confide_error(
    epsilon(private_count(TRUE, rho = 1, neighbours = "replace")), "parameter", "privacy(x)$rho"
  )
})

test_that("wide intervals are those of the continuous laws", {
  s <- private_sum(0, bound = 1, rho = 0.5, neighbours = "zero_out")
  expect_equal(diff(confint(s)[1, ])[[1]] / 2, stats::qnorm(0.975), tolerance = 1e-6)
  e <- private_sum(0, bound = 1, epsilon = 1, neighbours = "zero_out")
  expect_equal(diff(confint(e)[1, ])[[1]] / 2, -log(0.05), tolerance = 1e-6)
})

test_that("a covariance matrix too large for memory is refused with its limit", {
  wide <- private_sum(matrix(0, 1, 1e5), bound = 1, rho = 1, neighbours = "replace")
  expect_confide_error(vcov(wide), "parameter", c("at most 4,096", "100,000", "$noise_sd"))
  expect_prints_small(wide)
  at_limit <- private_sum(matrix(0, 1, 4096), bound = 1, rho = 1, neighbours = "replace")
  expect_identical(dim(vcov(at_limit)), c(4096L, 4096L))
})
