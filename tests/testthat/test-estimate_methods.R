# What can be asked of an estimate.

toy <- function(...) estimate(toy_table(), toy_mechanism(), ...)

test_that("coefficients are named in table order with the first attribute fastest", {
  expect_named(coef(toy()), cell_names(levels(toy_mechanism())))
  expect_identical(names(coef(toy()))[2], "2, 1, 1")
  expect_identical(unname(coef(toy())), as.vector(as.table(toy())))
  expect_identical(dimnames(as.table(toy())), levels(toy_mechanism()))
  one <- estimate(c(no = 3, yes = 7), mech_rr(c("no", "yes"), 1))
  expect_named(coef(one), c("no", "yes"))
})

test_that("the covariance matrix is symmetric and has the variances on its diagonal", {
  V <- vcov(toy())
  expect_identical(V, t(V))
  expect_identical(dimnames(V), list(names(coef(toy())), names(coef(toy()))))
  expect_close(rowSums(V), rep(0, 12), 1e-15)
  expect_close(sqrt(diag(V)), toy()$std_error, 1e-15)
  expect_confide_error(vcov(toy(), type = "both"), "parameter", "`type`")
})

test_that("a covariance matrix of more than 2,000 cells is refused, its standard errors are not", {
  m <- mech_rr(2001, 1)
  e <- estimate(stats::setNames(rep(1, 2001), 1:2001), m)
  expect_confide_error(vcov(e), "parameter", "at most 2,000 cells")
  expect_length(e$std_error, 2001)
})

test_that("Wald intervals are the estimate and a normal quantile of standard errors", {
  e <- toy()
  half <- stats::qnorm(.95) * e$std_error
  limits <- confint(e, level = .9, cut = FALSE)
  expect_close(limits, cbind(coef(e) - half, coef(e) + half), 1e-15)
  expect_identical(colnames(limits), c("5 %", "95 %"))
  expect_identical(confint(e, level = .9), pmin(pmax(limits, 0), 1))
  expect_identical(colnames(confint(e)), c("2.5 %", "97.5 %"))
})

test_that("intervals may be asked for some shares, by name or number", {
  e <- toy()
  expect_identical(confint(e, c(2, 5)), confint(e)[c(2, 5), ])
  expect_identical(confint(e, "2, 1, 1"), confint(e)[2, , drop = FALSE])
})

test_that("the Wilson interval of the toy margin is the published one", {
  b <- estimate(toy_table(), toy_mechanism(), margin = "b")
  expect_close(confint(b, method = "wilson")[1, ], c(.194426858379, .406397403882), 1e-11)
})

test_that("exact intervals are Clopper-Pearson's, carried over to the true share", {
  N <- c(a = 0, b = 12, c = 88)
  m <- mech_rr(c("a", "b", "c"), 2)
  limits <- confint(estimate(N, m), method = "exact", cut = FALSE)
  lambda <- m$lambda
  for (level in names(N)) {
    reported <- stats::binom.test(N[[level]], 100)$conf.int
    expect_close(limits[level, ], (as.vector(reported) - (1 - lambda) / 3) / lambda, 1e-12)
  }
  wilson <- confint(estimate(N, m), method = "wilson", cut = FALSE)
  for (level in names(N)) {
    reported <- stats::prop.test(N[[level]], 100, correct = FALSE)$conf.int
    expect_close(wilson[level, ], (as.vector(reported) - (1 - lambda) / 3) / lambda, 1e-12)
  }
})

test_that("transformed intervals are refused where they do not exist", {
  for (method in c("exact", "wilson")) {
    expect_confide_error(
      confint(toy(), method = method), "parameter", "one attribute and no weights"
    )
    weighted <- estimate(c("1", "2"), mech_rr(2, 1), weights = c(1, 2))
    expect_confide_error(confint(weighted, method = method), "parameter", "no weights")
    channel <- estimate(c("1" = 3, "2" = 4), mech_matrix(diag(2)))
    expect_confide_error(confint(channel, method = method), "parameter")
  }
})

test_that("a confidence level is one number between 0 and 1", {
  for (level in list(0, 1, -1, 95, NA, NaN, "0.9", c(.9, .95), NULL, TRUE)) {
    expect_confide_error(
      confint(toy(), level = level), "parameter", "`level` must be one number between 0 and 1"
    )
    expect_confide_error(summary(toy(), level = level), "parameter", "`level`")
    expect_confide_error(tidy(toy(), level = level), "parameter", "`level`")
  }
})

test_that("standard errors split into parts whose squares add up where both are positive", {
  e <- estimate(toy_table(), toy_mechanism(), margin = "b")
  expect_close(std_error(e, "privacy")^2 + std_error(e, "sampling")^2, e$std_error^2, 1e-15)
  expect_identical(std_error(e), e$std_error)
  expect_confide_error(std_error(e, "noise"), "parameter", "`type`")
  expect_confide_error(std_error(1), "parameter", "must be an estimate")
})

test_that("the log-likelihood belongs to maximum likelihood estimates", {
  ml <- toy(method = "ml")
  expect_s3_class(logLik(ml), "logLik")
  expect_identical(attr(logLik(ml), "df"), 11)
  expect_equal(attr(logLik(ml), "nobs"), 200)
  expect_true(is.finite(stats::AIC(ml)))
  expect_confide_error(logLik(toy()), "parameter", "needs a maximum likelihood estimate")
})

test_that("the number of reports is that of the counts", {
  expect_equal(nobs(toy()), 200)
  expect_equal(nobs(estimate(c("1", "2"), mech_rr(2, 1), weights = c(5, 7))), 2)
})

test_that("a data frame of an estimate has a row for each cell, with ordered levels", {
  rows <- as.data.frame(toy())
  expect_named(rows, c("a", "b", "c", "estimate", "std_error", "conf_low", "conf_high"))
  expect_identical(nrow(rows), 12L)
  expect_identical(levels(rows$b), c("1", "2", "3"))
  expect_identical(rows$estimate, unname(coef(toy())))
  expect_identical(cbind(rows$conf_low, rows$conf_high), unname(confint(toy())))
  expect_identical(
    stats::xtabs(estimate ~ a + b + c, rows),
    stats::xtabs(Freq ~ a + b + c, as.data.frame(as.table(toy()), responseName = "Freq")),
    ignore_attr = TRUE
  )
})

test_that("tidy, glance and augment follow broom", {
  tidied <- tidy(toy(), level = .9)
  expect_named(tidied, c("term", "estimate", "std.error", "conf.low", "conf.high"))
  expect_identical(tidied$conf.low, unname(confint(toy(), level = .9)[, 1]))
  glanced <- glance(toy(method = "ml"))
  expect_identical(nrow(glanced), 1L)
  expect_equal(glanced$nobs, 200)
  expect_close(glanced$epsilon, 5.000584958243)
  expect_identical(glanced$logLik, as.numeric(logLik(toy(method = "ml"))))
  expect_true(is.na(glance(toy())$logLik))
  augmented <- augment(toy())
  expect_close(augmented$.reported, as.vector(toy_table()) / 200, 1e-15)
  expect_close(augmented$.resid, rep(0, 12), 1e-14)
  ml <- toy(method = "ml")
  expect_close(augment(ml)$.fitted, drop(coef(ml) %*% as.matrix(toy_mechanism())), 1e-14)
  expect_confide_error(
    augment(estimate(c("1" = 3, "2" = 4), mech_matrix(diag(2)))), "parameter", "general channel"
  )
})

test_that("summary shows the standard error due to privacy beside that due to sampling", {
  s <- summary(estimate(toy_table(), toy_mechanism(), margin = "b"))
  expect_identical(
    s$rows$se_privacy, std_error(estimate(toy_table(), toy_mechanism(), margin = "b"), "privacy")
  )
  expect_output(print(s), "(privacy) (sampling)", fixed = TRUE)
})

test_that("an estimate says how many shares are negative and why", {
  expect_match(format(toy()), "5 of 12 estimates are negative", all = FALSE)
  expect_match(format(toy(method = "ml")), "errors are those of \"moment\"", all = FALSE)
})

test_that("estimates print within 12 lines and 80 columns", {
  wide <- mech_lambda(
    stats::setNames(
      rep(list(strrep("long label ", 1:3)), 4), paste0("attribute with a very long name ", 1:4)
    ),
    lambda = .9
  )
  x <- as.data.frame(lapply(levels(wide), function(l) factor(rep(l, 10), l)), check.names = FALSE)
  for (e in list(
    toy(), toy(method = "ml"), toy(method = "clip"),
    toy(method = "ml", control = list(max_evaluations = 2)),
    estimate(x, wide), estimate_cells(x, wide, x[1:5, ]),
    estimate(c("1" = 1e9, "2" = 5), mech_rr(2, .01)),
    estimate(HairEyeColor, mechanism_for(HairEyeColor, .1))
  )) {
    expect_prints_small(e)
  }
  lines <- utils::capture.output(print(summary(estimate(x, wide, margin = names(x)[1]))))
  expect_lte(max(nchar(lines, "width")), 80)
})

test_that("estimates print shares, errors and a verdict", {
  expect_snapshot({
    toy()
    toy(method = "ml")
    estimate(c(no = 540, yes = 460), mech_rr(c("no", "yes"), log(.7 / .3)))
    estimate_cells(toy_table(), toy_mechanism(), data.frame(a = 1, c = 2))
    summary(estimate(toy_table(), toy_mechanism(), margin = "b"))
  })
})

test_that("estimates survive being saved", {
  path <- withr::local_tempfile(fileext = ".rds")
  cases <- list(
    toy(), toy(method = "ml"), estimate_cells(toy_table(), toy_mechanism(), data.frame(a = 1))
  )
  for (e in cases) {
    saveRDS(e, path)
    expect_identical(readRDS(path), e)
    expect_identical(vcov(readRDS(path)), vcov(e))
  }
})
