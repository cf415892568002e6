# Events, structural zeros and the file as target.

test_that("an event is the sum of its cells, and its error that of the sum", {
  m <- toy_mechanism()
  event <- list(b = c("1", "3"), c = "2")
  e <- estimate_cells(toy_table(), m, event)
  joint <- estimate(toy_table(), m)
  cell <- expand.grid(a = 1:2, b = 1:3, c = 1:2)
  inside <- as.numeric(cell$b %in% c(1, 3) & cell$c == 2)
  expect_close(coef(e), sum(coef(joint) * inside), 1e-13)
  expect_close(e$std_error, sqrt(inside %*% vcov(joint) %*% inside), 1e-13)
  sampling <- vcov(joint, type = "sampling")
  expect_close(std_error(e, "sampling"), sqrt(inside %*% sampling %*% inside), 1e-13)
  expect_named(coef(e), "b=1|3, c=2")
})

test_that("a column may hold sets, next to one of single levels", {
  m <- toy_mechanism()
  cells <- data.frame(a = c("1", "2"))
  cells$b <- list(c("1", "2"), "3")
  e <- estimate_cells(toy_table(), m, cells)
  one <- estimate_cells(toy_table(), m, list(a = "1", b = c("2", "1", "2")))
  expect_close(coef(e)[[1]], coef(one)[[1]], 1e-15)
  expect_named(coef(e), c("a=1, b=1|2", "a=2, b=3"))
})

test_that("covariances of overlapping events are those of sums of cells", {
  m <- toy_mechanism()
  cells <- data.frame(a = 1:3)
  cells$a <- list("1", c("1", "2"), "2")
  cells$b <- list(c("1", "2"), c("2", "3"), "1")
  table <- toy_table()
  joint <- estimate(table, m, margin = c("a", "b"))
  inside <- cbind(c(1, 0, 1, 0, 0, 0), c(0, 0, 1, 1, 1, 1), c(0, 1, 0, 0, 0, 0))
  for (type in c("total", "privacy", "sampling")) {
    e <- estimate_cells(table, m, cells)
    expect_close(
      as.vector(unname(vcov(e, type = type))),
      as.vector(t(inside) %*% vcov(joint, type = type) %*% inside), 1e-13
    )
    f <- estimate_cells(table, m, cells, target = "file")
    expected <- vcov(estimate(table, m, margin = c("a", "b"), target = "file"), type = type)
    expect_close(
      as.vector(unname(vcov(f, type = type))), as.vector(t(inside) %*% expected %*% inside), 1e-13
    )
  }
})

test_that("weights enter events as in the formula", {
  withr::local_seed(1)
  m <- toy_mechanism()
  records <- table_records(toy_table())
  w <- stats::rexp(nrow(records))
  e <- estimate_cells(records, m, list(a = c("1", "2"), b = c("1", "3")), weights = w)
  q <- 2 / 3
  z <- (records$b %in% c("1", "3")) / .6 - .4 / .6 * q
  pi <- sum(w * z) / sum(w)
  n <- nrow(records)
  expect_close(coef(e), pi, 1e-12)
  expect_close(e$std_error, sqrt(n / (n - 1) * sum(w^2 * (z - pi)^2)) / sum(w), 1e-12)
})

test_that("events know noise of their own", {
  q <- c(.2, .3, .5)
  m <- mech_lambda(list(a = 3), lambda = .6, noise = list(a = q))
  N <- as.table(array(c(20, 50, 30), 3, levels(m)))
  expect_close(
    coef(estimate_cells(N, m, list(a = c("1", "3")))), .5 / .6 - .4 / .6 * .7, 1e-14
  )
})

test_that("questions that are no events are refused", {
  m <- toy_mechanism()
  wrong <- list(
    list(), list(a = character()), list(a = "9"), list(z = "1"), list("1"), data.frame(),
    data.frame(a = character()), data.frame(a = "9"), "a", NULL,
    list(a = "1", a = "2"), structure(list(a = "1"), class = "odd")
  )
  for (cells in wrong) {
    expect_confide_error(estimate_cells(toy_table(), m, cells), "parameter")
  }
  expect_confide_error(
    estimate_cells(toy_table(), m, list(a = character())), "parameter", "A set of levels is empty"
  )
})

# The file as target ---------------------------------------------------------------

test_that("the file's standard errors are those of the randomization alone", {
  m <- toy_mechanism()
  e <- estimate(toy_table(), m, target = "file")
  P <- as.matrix(m)
  inverse <- solve(P)
  psi <- as.vector(toy_table()) / 200
  pi <- as.vector(psi %*% inverse)
  covariance <- (t(inverse) %*% diag(psi) %*% inverse - diag(pi)) / 200
  expect_close(as.vector(unname(vcov(e))), as.vector(covariance), 1e-13)
  expect_close(e$std_error, sqrt(diag(covariance)), 1e-13)
  expect_close(std_error(e, "sampling"), rep(0, 12), 0)
  expect_close(std_error(e, "privacy"), e$std_error, 1e-15)
  expect_close(coef(e), coef(estimate(toy_table(), m)), 0)
  expect_match(format(e), "file's own table", all = FALSE)
  expect_prints_small(e)
})

test_that("a file that was not randomized is known without error", {
  m <- mech_lambda(list(a = 3), lambda = 1)
  e <- estimate(as.table(array(c(5, 3, 2), 3, levels(m))), m, target = "file")
  expect_close(e$std_error^2, c(0, 0, 0), 1e-16)
})

test_that("the file's variance is the variance over randomizations of one file", {
  withr::local_seed(2)
  m <- mech_lambda(list(a = 3, b = 2), lambda = c(.6, .5), noise = list(a = c(.2, .3, .5)))
  file <- data.frame(a = rep(1:3, c(150, 100, 50)), b = rep(1:2, 150))
  truth <- as.vector(table(file)) / 300
  runs <- 1500
  draws <- vapply(seq_len(runs), function(i) {
    e <- estimate(privatize(file, m, rng = "r"), m, target = "file")
    c(e$estimate, e$std_error^2)
  }, numeric(12))
  # relative Monte Carlo error of a variance: sqrt(2 / 1500) = 3.7 %; four and a half of them
  ratio <- apply(draws[1:6, ], 1, stats::var) / rowMeans(draws[7:12, ])
  expect_close(ratio, rep(1, 6), .165)
  expect_close(rowMeans(draws[1:6, ]), truth, 5 * max(sqrt(rowMeans(draws[7:12, ]) / runs)))
})

test_that("weights and the file: sum w^2 (z^2 - z) / (sum w)^2", {
  withr::local_seed(3)
  m <- mech_lambda(list(a = 2), lambda = .5)
  x <- data.frame(a = sample(1:2, 50, TRUE))
  w <- stats::rexp(50)
  e <- estimate(x, m, weights = w, target = "file")
  z <- (x$a == 1) / .5 - .5 / .5 / 2
  expect_close(e$std_error[[1]], sqrt(sum(w^2 * (z^2 - z))) / sum(w), 1e-13)
})

test_that("Wilson and exact intervals are of the population", {
  m <- mech_lambda(list(a = 2), lambda = .5)
  N <- as.table(array(c(40, 60), 2, levels(m)))
  e <- estimate(N, m, target = "file")
  expect_confide_error(confint(e, method = "exact"), "parameter", "file's own table")
  expect_confide_error(estimate(N, m, target = "x"), "parameter")
})

# Structural zeros -----------------------------------------------------------------

test_that("cells known to be empty are 0 and the others the maximum over distributions on them", {
  m <- toy_mechanism()
  zeros <- array(FALSE, c(2, 3, 2))
  zeros[1, 2, 2] <- TRUE
  zeros[2, 3, ] <- TRUE
  fit <- estimate(toy_table(), m, method = "ml", structural_zeros = zeros)
  pi <- unname(coef(fit))
  expect_identical(pi[as.vector(zeros)], c(0, 0, 0))
  expect_equal(sum(pi), 1)
  P <- as.matrix(m)
  psi <- as.vector(toy_table()) / 200
  gradient <- as.vector(P %*% (psi / as.vector(pi %*% P)))
  support <- !as.vector(zeros)
  expect_lte(max(gradient[support]), 1 + 1e-6)
  expect_close(gradient[support & pi > 1e-4], rep(1, sum(support & pi > 1e-4)), 1e-6)
  expect_gt(max(gradient[!support]), 1 + 1e-3) # the zeros bind
  expect_lt(logLik(fit), logLik(estimate(toy_table(), m, method = "ml")))
  expect_identical(attr(logLik(fit), "df"), 8)
  expect_match(format(fit), "3 cells known to be empty", all = FALSE)
})

test_that("array, table in another order and data frame declare the same zeros", {
  m <- toy_mechanism()
  zeros <- array(FALSE, c(2, 3, 2), levels(m))
  zeros[2, 3, ] <- TRUE
  by_array <- estimate(toy_table(), m, method = "ml", structural_zeros = zeros)
  by_table <- estimate(toy_table(), m, method = "ml", structural_zeros = aperm(zeros, c(3, 1, 2)))
  by_frame <- estimate(toy_table(), m,
    method = "ml", structural_zeros = data.frame(b = "3", a = "2")
  )
  expect_identical(by_table, by_array)
  expect_identical(by_frame, by_array)
})

test_that("one attribute has zeros too, under any channel", {
  shares <- c(a = .2, b = .5, c = .3)
  for (m in list(mech_rr(names(shares), 1), mech_lambda(list(level = names(shares)), epsilon = 1),
    mech_matrix(as.matrix(mech_rr(names(shares), 1))))) {
    margin <- as.table(array(c(30, 40, 30), 3, list(level = names(shares))))
    fit <- estimate(margin, m, method = "ml", structural_zeros = data.frame(level = "b"))
    expect_close(coef(fit), c(.5, 0, .5), 1e-6)
    zeros <- c(b = TRUE, a = FALSE, c = FALSE)
    named <- estimate(margin, m, method = "ml", structural_zeros = zeros)
    expect_identical(coef(named), coef(fit))
  }
})

test_that("zeros that cannot be are refused", {
  m <- toy_mechanism()
  refused <- function(zeros, method = "ml", says = NULL) {
    expect_confide_error(
      estimate(toy_table(), m, method = method, structural_zeros = zeros), "parameter", says
    )
  }
  none <- array(FALSE, c(2, 3, 2))
  refused(none, "moment", "maximum likelihood")
  refused(!none, says = "at least one cell")
  refused(array(FALSE, c(2, 2, 3)))
  refused(none + 0)
  refused(replace(none, 1, NA))
  refused(FALSE)
  refused("a")
  refused(data.frame(z = 1))
  refused(data.frame(a = "9"))
  whole <- mech_lambda(list(a = 2), lambda = 1)
  expect_confide_error(
    estimate(as.table(array(c(1, 2), 2, levels(whole))), whole,
      method = "ml", structural_zeros = c(TRUE, FALSE)
    ), "parameter", "agree with the reports"
  )
})
