# Tests of independence and of fit on randomized reports.

test_that("the toy table has the published test of independence and effect size", {
  test <- private_test(toy_table(), toy_mechanism(), margin = c("a", "b"))
  expect_s3_class(test, "htest")
  # as chisq.test() finds on the reported margin
  expect_close(test$statistic, 21.357545402805)
  expect_identical(test$parameter, c(df = 2))
  expect_close(test$estimate, c(.652589173579, .425872629473))
  expect_match(names(test$estimate), "true table")
})

test_that("hair and eye colour have the published test of independence and effect size", {
  m <- mechanism_for(HairEyeColor, c(.9, .8, .7))
  test <- private_test(HairEyeColor, m, margin = c("Hair", "Eye"))
  expect_close(test$statistic, 138.289841626008)
  expect_close(test$estimate, c(.373664062992, .418874495915))
})

test_that("the test of independence is the ordinary one on the reported table", {
  pair <- apply(HairEyeColor, 1:2, sum)
  m <- mechanism_for(as.table(pair), c(.9, .8))
  expected <- stats::chisq.test(pair)
  test <- private_test(as.table(pair), m)
  expect_equal(unname(test$statistic), unname(expected$statistic), tolerance = 1e-12)
  expect_equal(test$p.value, expected$p.value, tolerance = 1e-10)
  expect_equal(test$expected, expected$expected, tolerance = 1e-12)
  expect_equal(test$observed, pair, ignore_attr = TRUE)
  ratio <- private_test(as.table(pair), m, statistic = "likelihood_ratio")
  expect_equal(
    unname(ratio$statistic), 2 * sum(pair * log(pair / expected$expected)), tolerance = 1e-12
  )
})

test_that("the test of fit is the ordinary one against the expected reports", {
  m <- toy_mechanism()
  p <- c(.3, .05, .05, .1, .1, .05, .05, .05, .05, .05, .05, .1)
  psi <- drop(p %*% as.matrix(m))
  expected <- suppressWarnings(stats::chisq.test(as.vector(toy_table()), p = psi))
  test <- private_test(toy_table(), m, p = p)
  expect_equal(unname(test$statistic), unname(expected$statistic), tolerance = 1e-12)
  expect_identical(unname(test$parameter), 11)
  expect_equal(test$p.value, expected$p.value, tolerance = 1e-10)
  margin <- private_test(toy_table(), m, margin = "b", p = c(.2, .3, .5))
  psi <- drop(c(.2, .3, .5) %*% naive_channel(.6, 3))
  expected <- stats::chisq.test(apply(toy_table(), 2, sum), p = psi)
  expect_equal(unname(margin$statistic), unname(expected$statistic), tolerance = 1e-12)
})

test_that("shares under the null hypothesis are matched by name, and tables by their dimensions", {
  m <- mech_rr(c("no", "yes"), 1)
  N <- c(no = 60, yes = 40)
  expect_identical(
    private_test(N, m, p = c(yes = .3, no = .7))$statistic,
    private_test(N, m, p = c(.7, .3))$statistic
  )
  expect_confide_error(
    private_test(N, m, p = c(yes = .3, nope = .7)), "parameter", "must be the levels"
  )
  toy <- toy_mechanism()
  p <- prop.table(toy_table())
  straight <- private_test(toy_table(), toy, p = p)
  expect_identical(private_test(toy_table(), toy, p = as.vector(p))$statistic, straight$statistic)
  expect_equal(
    private_test(toy_table(), toy, p = aperm(p, 3:1))$statistic, straight$statistic,
    tolerance = 1e-12
  )
  expect_equal(
    private_test(toy_table(), toy, p = p[2:1, , 2:1])$statistic, straight$statistic,
    tolerance = 1e-12
  )
})

test_that("a general channel can be tested for fit", {
  P <- rbind(a = c(x = .7, y = .2, z = .1), b = c(x = .1, y = .3, z = .6))
  N <- c(x = 50, y = 30, z = 40)
  expected <- stats::chisq.test(N, p = drop(c(.5, .5) %*% P))
  test <- private_test(N, mech_matrix(P), p = c(a = .5, b = .5))
  expect_equal(unname(test$statistic), unname(expected$statistic), tolerance = 1e-9)
})

test_that("what cannot be tested is refused", {
  m <- toy_mechanism()
  expect_confide_error(private_test(toy_table(), m), "parameter", "needs two attributes")
  expect_confide_error(
    private_test(toy_table(), m, margin = "a"), "parameter", "There is 1 attribute and no `p`"
  )
  expect_confide_error(
    private_test(c("1" = 1, "2" = 2), mech_rr(2, 1)), "parameter", "There are 0 attributes"
  )
  expect_confide_error(private_test(toy_table(), m, margin = c("a", "a")), "parameter", "`margin`")
  expect_confide_error(
    private_test(toy_table(), m, margin = "b", p = c(.5, .5)), "parameter", "3 probabilities"
  )
  for (p in list(globalenv(), quote(x), sum, list(1, 2, 3), Matrix::Diagonal(3))) {
    expect_confide_error(private_test(toy_table(), m, margin = "b", p = p), "parameter", "`p`")
  }
  counts <- count_reports(table_records(toy_table()), m, weights = rep(2, 200))
  expect_confide_error(
    private_test(counts, m, margin = c("a", "b")), "parameter", "without weights"
  )
  expect_confide_error(
    private_test(c("1" = 1, "2" = 2), mech_rr(2, 0), p = c(.5, .5)), "parameter", "epsilon is 0"
  )
  expect_confide_error(
    private_test(table_records(toy_table())[0, ], m, margin = c("a", "b")), "parameter",
    "at least one"
  )
})

test_that("a test of independence keeps its level under randomization", {
  withr::local_seed(20260401)
  draws <- if (extended()) 10000 else 1000
  m <- mech_lambda(list(a = 2, b = 3), lambda = c(.7, .5))
  truth <- as.vector(outer(c(.3, .7), c(.2, .3, .5)))
  tables <- stats::rmultinom(draws, 500, drop(truth %*% as.matrix(m)))
  rejected <- apply(tables, 2, function(N) {
    private_test(as.table(array(N, c(2, 3), levels(m))), m)$p.value < .05
  })
  # five standard errors of a share of .05
  expect_lte(abs(mean(rejected) - .05), 5 * sqrt(.05 * .95 / draws))
})

test_that("a test of fit keeps its level under randomization", {
  withr::local_seed(20260402)
  draws <- if (extended()) 10000 else 1000
  m <- mech_rr(c("a", "b", "c"), 1.5)
  truth <- c(.6, .3, .1)
  tables <- stats::rmultinom(draws, 500, drop(truth %*% as.matrix(m)))
  rejected <- apply(
    tables, 2, function(N) private_test(stats::setNames(N, levels(m)), m, p = truth)$p.value < .05
  )
  expect_lte(abs(mean(rejected) - .05), 5 * sqrt(.05 * .95 / draws))
})

test_that("the corrected effect size is close to that of the true table", {
  withr::local_seed(20260403)
  draws <- 400
  truth <- apply(HairEyeColor, 1:2, sum) / 592
  phi_squared <- sum(
    (truth - outer(rowSums(truth), colSums(truth)))^2 / outer(rowSums(truth), colSums(truth))
  )
  m <- mechanism_for(as.table(truth), c(.9, .9))
  psi <- drop(as.vector(truth) %*% as.matrix(m))
  effects <- apply(stats::rmultinom(draws, 20000, psi), 2, function(N) {
    private_test(as.table(array(N, dim(truth), dimnames(truth))), m)$estimate[[2]]
  })
  # the correction is of first order: one hundredth besides five standard errors
  expect_lte(
    abs(mean(effects) - phi_squared), 5 * stats::sd(effects) / sqrt(draws) + .01 * phi_squared
  )
})

test_that("an effect size is not given where a share is estimated below zero", {
  m <- mechanism_for(Titanic, c(.8, .7, .6, .5))
  expect_true(all(is.na(private_test(Titanic, m, margin = c("Age", "Sex"))$estimate)))
})

test_that("levels of an attribute without randomization that never occur carry no information", {
  m <- mech_lambda(list(a = 3, b = 2), lambda = 1)
  N <- as.table(rbind(c(20, 30), c(30, 20), c(0, 0)))
  dimnames(N) <- levels(m)
  test <- private_test(N, m)
  expect_identical(unname(test$parameter), 1)
  expect_equal(
    unname(test$statistic), unname(stats::chisq.test(N[1:2, ], correct = FALSE)$statistic),
    tolerance = 1e-12
  )
})

test_that("a report that the null hypothesis makes impossible rejects it", {
  m <- mech_lambda(list(a = 3), lambda = 1)
  N <- as.table(array(c(5, 5, 1), 3, levels(m)))
  expect_identical(private_test(N, m, p = c(.5, .5, 0))$p.value, 0)
  expect_identical(private_test(N, m, p = c(.5, .5, 0), statistic = "likelihood_ratio")$p.value, 0)
})

test_that("small expected counts are mentioned in the method", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  N <- as.table(matrix(c(2, 1, 1, 2), 2, dimnames = levels(m)))
  expect_match(private_test(N, m)$method, "smallest expected count 1.5: approximate")
  expect_no_match(private_test(N * 100, m)$method, "approximate")
})

test_that("a test prints and tidies as every test of R, and states its guarantee", {
  test <- private_test(toy_table(), toy_mechanism(), margin = c("a", "b"))
  expect_output(print(test), "reports on a and b")
  expect_identical(privacy(test)$epsilon, epsilon(toy_mechanism()))
  expect_snapshot(test)
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(test, path)
  expect_identical(readRDS(path), test)
  skip_if_not_installed("broom")
  expect_equal(broom::tidy(test)$p.value, test$p.value)
})

test_that("an effect size that noise makes impossible is NA, and the method says why", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .3)
  # the share of a = 1: (.34 - .35) / .3 is below 0
  reports <- as.table(array(c(20, 46, 14, 20), c(2, 2), levels(m)))
  test <- private_test(reports, m)
  expect_identical(unname(test$estimate), c(NA_real_, NA_real_))
  expect_match(test$method, "effect sizes NA: a true share is estimated at or below 0")
})

test_that("reports of another mechanism are refused before their margin is missed", {
  pair <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  reports <- privatize(data.frame(a = c("1", "2"), b = c("2", "1")), pair)
  for (x in list(reports, count_reports(reports, pair))) {
    expect_confide_error(private_test(x, mech_rr(2, 1)), "mechanism", "fingerprint of another")
  }
})

test_that("shares named by the cells of several attributes are matched by name", {
  toy <- toy_mechanism()
  p <- prop.table(toy_table())
  cells <- stats::setNames(as.vector(p), apply(expand.grid(levels(toy)), 1, paste, collapse = ", "))
  straight <- private_test(toy_table(), toy, p = p)
  expect_equal(private_test(toy_table(), toy, p = cells)$statistic, straight$statistic)
  expect_equal(private_test(toy_table(), toy, p = rev(cells))$statistic, straight$statistic)
  names(cells)[[1]] <- "other"
  expect_confide_error(
    private_test(toy_table(), toy, p = cells), "parameter", "names of `p` must be the levels"
  )
})

test_that("an array of shares must have the shape of the table", {
  m <- mech_lambda(list(a = 2, b = 3), lambda = .6)
  x <- as.table(matrix(10:15, 2, 3, dimnames = levels(m)))
  p <- matrix((1:6) / 21, 2, 3)
  expect_identical(private_test(x, m, p = p)$p.value, private_test(x, m, p = as.vector(p))$p.value)
  for (wrong in list(t(p), matrix(p, 1, 6), matrix(p, 6, 1), array(p, c(2, 3, 1)))) {
    expect_confide_error(private_test(x, m, p = wrong), "parameter", "2 x 3 cells")
  }
  expect_confide_error(
    private_test(c("1" = 5, "2" = 6), mech_rr(2, 1), p = matrix(.5, 2, 1)), "parameter", "array `p`"
  )
})
