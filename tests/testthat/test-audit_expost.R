audited <- function(x) as.list(audit(x)$parts)

test_that("the audit of a Brownian path takes the variance of the mean of all measurements", {
  b <- brownian(
    list(mean = c(1.5, 2.5), count = 100), c(mean = 0.5, count = 1), 8,
    whole = c(mean = FALSE, count = TRUE), neighbours = "replace", rng = "r"
  )
  expect_identical(audited(b)$law, c(0, 0))
  b <- refine(refine(b, epsilon = 0.4), epsilon = 1)
  # by the normal law: alpha Delta^2 / (2 sigma^2)
  expected <- 8 * c(0.5, 1)^2 / (2 * unname(b$sigma)^2)
  expect_equal(audited(b)$law, expected, tolerance = 1e-12)
  expect_true(audit(b)$ok)
  # whole numbers lose nothing to rounding; the others a grid step at most
  expect_equal(audited(b)$law[[2]], audited(b)$counted[[2]], tolerance = 1e-9)
  expect_gt(audited(b)$law[[1]] / audited(b)$counted[[1]], 1 - 1e-4)
})

test_that("noise that is too small for what was counted fails the audit", {
  b <- refine(brownian(7L, 1, 8, neighbours = "replace", rng = "r"), epsilon = 1)
  b$queries[[1]]$precision <- 1.001 * b$queries[[1]]$precision
  expect_confide_error(audit(b), "internal", "altered by hand")
  b <- sealed(b)
  expect_false(audit(b)$ok)
  expect_match(format(audit(b)), "THE CLAIM FAILS", all = FALSE)
  p <- refine(laplace_path(7, 2, c(0.1, 1), neighbours = "replace", rng = "r"))
  p$scale <- 0.999 * p$scale
  expect_confide_error(audit(p), "internal", "altered by hand")
  expect_false(audit(sealed(p))$ok)
})

test_that("the audit of a Laplace path is the sensitivity over the scale", {
  p <- laplace_path(7, 2, c(0.1, 1), neighbours = "replace", rng = "r")
  expect_identical(audit(p)$worst_log_ratio, 0)
  p <- refine(refine(p))
  expect_equal(audit(p)$worst_log_ratio, 2 / p$scale, tolerance = 1e-15)
  expect_true(audit(p)$ok)
  expect_lte(audit(p)$worst_log_ratio, 1)
})

test_that("classifiers are audited by the law of their noise", {
  x <- scale(as.matrix(iris[1:4]))
  make <- function(method, ...) {
    private_classifier(
      x, iris$Species, 1, 8, neighbours = "add_remove", method = method, rng = "r", ...
    )
  }
  descent <- make("gradient", records = 150)
  found <- audited(descent)
  expect_true(audit(descent)$ok)
  expect_equal(found$law, found$counted, tolerance = 1e-6)
  descent$path$noise_sd <- 0.99 * descent$path$noise_sd
  expect_confide_error(audit(descent), "internal", "altered by hand")
  expect_false(audit(sealed(descent))$ok)
  sums <- refine(make("class_sums"), epsilon = 2)
  expect_true(audit(sums)$ok)
  expect_identical(audited(sums)$part, c("sums", "counts"))
  expect_equal(sum(audited(sums)$counted), 2, tolerance = 1e-9)
  # on whole numbers nothing is lost; weights lose a step of their grid at most
  expect_equal(audited(sums)$law, audited(sums)$counted, tolerance = 1e-9)
  output <- make("output")
  expect_true(audit(output)$ok)
  expect_equal(audited(output)$law, audited(output)$counted, tolerance = 1e-4)
})

test_that("the divergence of a sampled record is that of the normal law when all are sampled", {
  expect_equal(sampled_divergence(8, 1, 3), 8 / (2 * 3^2), tolerance = 1e-10)
  # E_Q (M / Q)^2 = 1 + q^2 (e^(1 / s^2) - 1)
  expect_equal(sampled_divergence(2, 0.1, 2), log1p(0.01 * expm1(0.25)), tolerance = 1e-10)
})

test_that("what has no single law of noise is refused", {
  questions <- above_threshold(0, sensitivity = 1, epsilon = 1, monotone = TRUE, rng = "r")
  expect_confide_error(audit(questions), "parameter", "no single law")
})
