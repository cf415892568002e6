# Simulation studies of private means.

noisy_mean <- function(x, rho, sigma) colMeans(x) + stats::rnorm(ncol(x), sd = 0.1 / sqrt(rho))

small_study <- function(..., methods = list(noisy = noisy_mean, mean = "sample_mean"),
                        d = 2, n = 50, repetitions = 4) {
  contamination_study(methods, ..., d = d, n = n, repetitions = repetitions)
}

part <- function(study, ...) {
  rows <- as.data.frame(study)
  wanted <- list(...)
  for (name in names(wanted)) rows <- rows[rows[[name]] %in% wanted[[name]], ]
  rows$method <- as.character(rows$method)
  `rownames<-`(rows, NULL)
}

test_that("the laws have the radii that they are known by", {
  withr::local_seed(1)
  n <- 4000
  d <- 5
  radii <- list(
    gaussian = function(p) sqrt(stats::qchisq(p, d)),
    t3 = function(p) sqrt(d * stats::qf(p, d, 3)),
    cauchy = function(p) sqrt(d * stats::qf(p, d, 1))
  )
  for (law in names(radii)) {
    distance <- sqrt(rowSums(study_distributions[[law]](n, d)^2))
    for (p in c(.1, .5, .9)) {
      share <- mean(distance <= radii[[law]](p))
      expect_lt(abs(share - p), 4 * sqrt(p * (1 - p) / n))
    }
  }
  bent <- study_distributions$banana(n, 2)
  # E of the second column is 0, its covariance with the square of the first .2 Var(z^2) = .4
  expect_lt(abs(mean(bent[, 2])), 4 * sqrt(1.08 / n))
  expect_equal(stats::cov(bent[, 2], bent[, 1]^2), 0.4, tolerance = 0.3)
})

test_that("outliers are where their placement says", {
  withr::local_seed(2)
  d <- 6
  root <- t(chol(diag(1:6)))
  place <- function(name, count = 500) study_placements[[name]](count, d, root)
  norms <- function(rows) sqrt(rowSums(rows^2))
  expect_equal(unique(round(norms(place("far")), 6)), round(30 * sqrt(d), 6))
  expect_equal(nrow(unique(place("shell"))), 1)
  expect_equal(norms(place("shell", 1)), sqrt(d), tolerance = 1e-12)
  expect_equal(nrow(unique(place("clusters"))), 5)
  hidden <- place("hidden2")
  direction <- colMeans(hidden) / sqrt(sum(colMeans(hidden)^2))
  # the mean has 5 noisy coordinates of sd 1 / sqrt(500) across the direction
  expect_lt(abs(mean(hidden %*% direction) - 2), 4 * 6 / 500)
  expect_equal(min(svd(sweep(hidden, 2, colMeans(hidden)))$d), 0, tolerance = 1e-8)
  expect_gte(min(place("folded")), 0)
  expect_equal(drop(root %*% place("start", 1)[1, ]), rep(-1, d), tolerance = 1e-12)
  mild <- place("mild", 4000) %*% t(root)
  # a shift of Euclidean length 2, whose estimate has the noise of 3 Sigma / 4000 in it
  expect_lt(abs(sum(colMeans(mild)^2) - 4), 4 * 2 * 2 * sqrt(3 * 6 / 4000))
})

test_that("the share of outliers is exact", {
  cell <- list(
    n = 30, d = 2, scatter = "identity", contamination = 0.1, placement = "far",
    draw = study_distributions$gaussian, place = study_placements$far
  )
  withr::local_seed(3)
  far <- rowSums((draw_study_data(cell)$x - 1)^2) > 100
  expect_identical(sum(far), 3L) # 0.1 * 30 is a little below 3 in doubles
})

test_that("the sample mean has the error that theory gives it", {
  study <- contamination_study("sample_mean",
    d = c(2, 8), n = 200, contamination = c(0, .1), repetitions = 40, scatter = "random"
  )
  rows <- as.data.frame(study)
  for (d in c(2, 8)) {
    squares <- rows$error[rows$d == d & rows$contamination == 0]^2
    # chi-squared with d degrees of freedom, divided by n
    expect_lt(abs(mean(squares) - d / 200), 4 * sqrt(2 * d / 40) / 200)
    far <- rows$error[rows$d == d & rows$contamination > 0]
    expect_lt(max(abs(far - 3 * sqrt(d))), 0.5)
  }
})

test_that("the geometric median solves its equation", {
  withr::local_seed(4)
  x <- matrix(stats::rt(300, 2), ncol = 3)
  sigma <- crossprod(matrix(stats::rnorm(9), 3)) + diag(3)
  centre <- geometric_median(x, 1, sigma)
  y <- t(solve(t(chol(sigma)), t(x) - centre))
  expect_lt(max(abs(colSums(y / sqrt(rowSums(y^2))))), 1e-3) # of 100 unit vectors
})

test_that("a study is the same whatever else is in it", {
  study <- small_study(contamination = c(0, .1), placement = c("far", "shell"), rho = c(.1, 1))
  expect_identical(nrow(study), 2L * 3L * 2L * 4L)
  alone <- small_study(contamination = .1, placement = "shell", rho = 1)
  expect_identical(part(study, placement = "shell", rho = 1), part(alone))
  lonely <- small_study(methods = list(noisy = noisy_mean), contamination = .1, repetitions = 2)
  expect_identical(part(study, placement = "far", rho = 1, method = "noisy", repetition = 1:2),
    part(lonely))
  other <- small_study(contamination = 0, seed = 2)
  expect_false(any(part(other)$error %in% part(study)$error))
  # the data do not depend on rho, the noise does
  by_rho <- split(part(study, method = "mean")$error, part(study, method = "mean")$rho)
  expect_identical(by_rho[[1]], by_rho[[2]])
  noisy <- split(part(study, method = "noisy")$error, part(study, method = "noisy")$rho)
  expect_false(any(noisy[[1]] %in% noisy[[2]]))
})

test_that("R's generator is left as it was", {
  withr::local_seed(5, .rng_kind = "Wichmann-Hill")
  before <- random_state()
  study <- small_study(contamination = 0)
  expect_identical(random_state(), before)
  withr::local_seed(6)
  expect_identical(small_study(contamination = 0), study)
})

test_that("a study is taken up where it stopped", {
  directory <- withr::local_tempdir()
  calls <- 0
  counting <- function(x, rho, sigma) {
    calls <<- calls + 1
    if (calls == 6) rlang::interrupt()
    noisy_mean(x, rho, sigma)
  }
  run <- function(...) {
    contamination_study(list(noisy = counting), ...,
      d = 2, n = 50, contamination = c(0, .1, .2), repetitions = 4, directory = directory
    )
  }
  expect_identical(tryCatch(run(), interrupt = function(i) "stopped"), "stopped")
  expect_length(list.files(directory, "rds$"), 1)
  expect_length(list.files(directory, "part$"), 0)
  resumed <- run()
  expect_identical(calls, 6 + 8) # the cell that was finished is not computed again
  again <- run()
  expect_identical(calls, 14)
  expect_identical(resumed, again)
  expect_identical(part(resumed), part(small_study(
    methods = list(noisy = noisy_mean), contamination = c(0, .1, .2)
  )))
  more <- contamination_study(list(noisy = counting, mean = "sample_mean"),
    d = 2, n = 50, contamination = c(0, .1, .2), repetitions = 6, directory = directory
  )
  expect_identical(calls, 14 + 6) # two repetitions of three cells
  expect_identical(part(more), part(small_study(contamination = c(0, .1, .2), repetitions = 6)))
})

test_that("workers change nothing", {
  skip_if_not_installed("future")
  skip_on_cran()
  here <- small_study(contamination = c(0, .1))
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old))
  scale <- 0.1
  from_afar <- function(x, rho, sigma) colMeans(x) + stats::rnorm(ncol(x), sd = scale / sqrt(rho))
  there <- small_study(
    methods = list(noisy = from_afar, mean = "sample_mean"), contamination = c(0, .1)
  )
  expect_identical(there, here)
})

test_that("a method that fails is counted and not dropped", {
  fussy <- function(x, rho, sigma) {
    if (max(abs(x)) > 20) stop("too far out\nin detail")
    colMeans(x)
  }
  short <- function(x, rho, sigma) 1
  study <- small_study(methods = list(fussy = fussy, short = short), contamination = c(0, .1))
  rows <- part(study)
  expect_true(all(is.na(rows$error) == !is.na(rows$problem)))
  fussed <- rows$method == "fussy" & rows$contamination > 0
  expect_identical(unique(rows$problem[fussed]), "too far out")
  expect_match(unique(rows$problem[rows$method == "short"]), "one finite number")
  expect_output(print(study), "NOTE: 12 of 16 runs gave no estimate", fixed = TRUE)
  expect_identical(summary(study)$failures, c(0L, 4L, 4L, 4L))
  expect_s3_class(ggplot2::autoplot(study), "ggplot")
})

test_that("an object with coef() is an estimate", {
  fitted <- function(x, rho, sigma) stats::lm(x[, 1] ~ 1)
  study <- contamination_study(list(lm = fitted, mean = "sample_mean"),
    d = 1, n = 20, contamination = 0, repetitions = 3
  )
  rows <- part(study)
  expect_equal(rows$error[rows$method == "lm"], rows$error[rows$method == "mean"],
    tolerance = 1e-10
  )
})

test_that("summaries and ratios are those done by hand", {
  study <- small_study(contamination = c(0, .1), placement = c("far", "shell"), repetitions = 5)
  cells <- summary(study)
  rows <- part(study, placement = "shell", method = "noisy")
  shown <- cells[cells$placement == "shell" & cells$method == "noisy", ]
  expect_identical(shown$median, stats::median(rows$error))
  expect_equal(shown$mean_log, mean(log(rows$error)), tolerance = 1e-14)
  expect_equal(shown$se_log, stats::sd(log(rows$error)) / sqrt(5), tolerance = 1e-14)
  median_of <- function(placement, method) {
    stats::median(part(study, placement = placement, method = method)$error)
  }
  ratio <- function(placement) median_of(placement, "mean") / median_of(placement, "noisy")
  ratios <- error_ratios(study, rivals = "mean")
  found <- function(data, method) ratios$ratio[ratios$data == data & ratios$method == method]
  expect_equal(found("clean", "mean"), ratio("none"), tolerance = 1e-12)
  expect_equal(found("contaminated", "best rival"), sqrt(ratio("far") * ratio("shell")),
    tolerance = 1e-12
  )
  expect_identical(found("clean", "noisy"), 1)
  expect_output(print(ratios), "contaminated 1")
  expect_lte(max(nchar(utils::capture.output(print(ratios)))), 80)
})

test_that("ratios without a rival or without a cell say so", {
  fails <- function(x, rho, sigma) stop("never")
  study <- small_study(methods = list(mean = "sample_mean", fails = fails))
  ratios <- error_ratios(study, rivals = "fails")
  expect_identical(is.na(ratios$ratio), ratios$method != "mean")
  public <- small_study(methods = c("sample_mean", "geometric_median"))
  expect_false("best rival" %in% error_ratios(public)$method)
  expect_output(print(ratios), "best rival +-")
  expect_output(print(public), "geometric_median")
})

test_that("a study prints small, and its plot shows medians", {
  study <- small_study(
    contamination = c(0, .1, .2), placement = c("far", "shell"), rho = c(.1, 1), d = c(2, 5)
  )
  expect_prints_small(study)
  drawn <- ggplot2::autoplot(study)
  expect_match(drawn$labels$caption, "4 repetitions")
  expect_identical(nlevels(drawn$data$panel), 8L)
  points <- ggplot2::layer_data(drawn, 3)
  expect_setequal(round(10^points$y, 8), round(summary(study)$median, 8))
  many <- small_study(
    methods = "sample_mean", d = 1:5, n = c(10, 20), rho = 1:3, contamination = c(0, .5),
    repetitions = 2
  )
  expect_confide_error(ggplot2::autoplot(many), "parameter", "at most 24 panels")
})

test_that("arguments outside their range are refused", {
  twice <- list(a = noisy_mean, a = noisy_mean)
  for (bad in list("nothing", character(), list(noisy_mean), list(a = 1), NULL, twice, NA)) {
    expect_confide_error(small_study(methods = bad), "parameter")
  }
  expect_confide_error(contamination_study(), "parameter", "must be given")
  for (bad in list(0, -1, 1.5, NA, "a", Inf)) {
    expect_confide_error(small_study(d = bad), "parameter")
    expect_confide_error(small_study(n = bad), "parameter")
    expect_confide_error(small_study(repetitions = bad), "parameter")
  }
  expect_confide_error(small_study(rho = 0), "parameter")
  expect_confide_error(small_study(contamination = 1), "parameter")
  expect_confide_error(small_study(contamination = -.1), "parameter")
  expect_confide_error(small_study(placement = "near"), "parameter")
  expect_confide_error(small_study(distribution = "beta"), "parameter")
  expect_confide_error(small_study(scatter = "wide"), "parameter")
  expect_confide_error(small_study(seed = -1), "parameter")
  expect_confide_error(small_study(directory = 1), "parameter")
  bytes <- "caf\xe9"
  Encoding(bytes) <- "bytes"
  expect_confide_error(small_study(directory = bytes), "parameter", "one path")
  # R without readline would be killed by this
  expect_confide_error(small_study(directory = strrep("y", 1e5)), "parameter", "1,000 bytes")
  expect_confide_error(small_study(reps = 1), "parameter", "Unused")
  expect_confide_error(error_ratios(1), "parameter", "contamination_study")
  directory <- withr::local_tempdir()
  small_study(contamination = 0, directory = directory)
  saveRDS(1, list.files(directory, full.names = TRUE))
  expect_confide_error(small_study(contamination = 0, directory = directory), "parameter", "is not")
})

test_that("data sets that no memory holds are refused beforehand", {
  expect_confide_error(contamination_study("balloon", n = 2^30, d = 8), "parameter", "2^28")
})
