# Means, covariances and correlations of scored attributes.

scored_people <- function(n) {
  a <- sample(1:4, n, TRUE, c(.4, .3, .2, .1))
  s <- ifelse(stats::runif(n) < c(.2, .4, .5, .9)[a], "m", "f")
  data.frame(a = factor(a, 1:4, ordered = TRUE), s = factor(s, c("f", "m")))
}

people_levels <- function() {
  list(a = factor(character(), 1:4, ordered = TRUE), s = c("f", "m"))
}

test_that("with lambda = 1 moments are those of mean(), cov() and cor()", {
  withr::local_seed(1)
  people <- scored_people(300)
  m <- mech_lambda(people_levels(), lambda = 1)
  fit <- estimate_covariance(people, m, scores = list(s = c(0, 1)))
  numbers <- data.frame(a = as.numeric(people$a), s = as.numeric(people$s) - 1)
  expect_close(fit$mean, colMeans(numbers), 1e-12)
  expect_close(fit$covariance, stats::cov(numbers), 1e-12)
  expect_close(fit$correlation, stats::cor(numbers), 1e-12)
  expect_close(fit$reported$covariance, stats::cov(numbers), 1e-12)
  expect_close(fit$std_error$mean, apply(numbers, 2, stats::sd) / sqrt(300), 1e-12)
  by_weight <- stats::cov.wt(numbers, rep(1:3, 100) / 600, cor = TRUE)
  weighted <- estimate_covariance(people, m, scores = list(s = c(0, 1)), weights = rep(1:3, 100))
  expect_close(weighted$covariance, by_weight$cov, 1e-12)
  expect_close(weighted$mean, by_weight$center, 1e-12)
})

test_that("the moments are those of the estimated joint table", {
  fit <- estimate_covariance(toy_table(), toy_mechanism(),
    scores = list(a = c(0, 1), b = c(1, 2, 5), c = c(-1, 1))
  )
  cells <- expand.grid(a = c(0, 1), b = c(1, 2, 5), c = c(-1, 1))
  # solve() of the whole channel, and moments of the resulting (signed) distribution
  lambda <- toy_mechanism()$lambda
  shares <- solve(t(naive_joint(lambda, c(2, 3, 2))), as.vector(toy_table()) / 200)
  centre <- colSums(shares * cells)
  second <- crossprod(as.matrix(cells), shares * as.matrix(cells)) - outer(centre, centre)
  expect_close(fit$mean, centre, 1e-12)
  expect_close(fit$covariance[upper.tri(second)], second[upper.tri(second)] * 200 / 199, 1e-12)
})

test_that("reported covariances are lambda times lambda times the true ones", {
  fit <- estimate_covariance(toy_table(), toy_mechanism(),
    scores = list(a = c(0, 1), b = c(1, 2, 5), c = c(-1, 1))
  )
  records <- table_records(toy_table())
  reported <- stats::cov(
    c(0, 1)[records$a], c(1, 2, 5)[records$b]
  )
  expect_close(fit$reported$covariance["a", "b"], reported, 1e-12)
  expect_close(fit$covariance["a", "b"], reported / prod(toy_mechanism()$lambda[1:2]), 1e-12)
})

test_that("standard errors are those of the jackknife", {
  withr::local_seed(2)
  m <- mech_lambda(people_levels(), lambda = c(.9, .9))
  reports <- as_plain(privatize(scored_people(200), m, rng = "r"))
  estimates <- function(rows) {
    fit <- estimate_covariance(reports[rows, ], m, scores = list(s = 0:1))
    c(coef(fit), coef(fit, what = "correlation"), fit$mean)
  }
  without <- vapply(1:200, function(i) estimates(-i), numeric(6))
  jackknife <- sqrt(199 / 200 * rowSums((without - rowMeans(without))^2))
  fit <- estimate_covariance(reports, m, scores = list(s = 0:1))
  linearised <- unlist(lapply(c("covariance", "correlation", "mean"), function(what) {
    diag(vcov(fit, what = what))
  }))
  # they agree up to terms of relative order 1 / n
  expect_equal(unname(sqrt(linearised)), unname(jackknife), tolerance = 10 / 200)
})

test_that("the truth is found with honest standard errors", {
  withr::local_seed(3)
  m <- mech_lambda(people_levels(), lambda = c(.7, .8))
  p <- c(.4, .3, .2, .1)
  q <- c(.2, .4, .5, .9)
  truth <- c(
    sum(p * (1:4)^2) - sum(p * 1:4)^2, sum(p * q * 1:4) - sum(p * q) * sum(p * 1:4),
    sum(p * q) * (1 - sum(p * q))
  )
  repeats <- if (extended()) 1000 else 150
  results <- replicate(repeats, {
    reports <- privatize(scored_people(800), m, rng = "r")
    fit <- estimate_covariance(reports, m, scores = list(s = 0:1))
    cbind(coef(fit), sqrt(diag(vcov(fit))))
  })
  spread <- apply(results[, 1, ], 1, stats::sd)
  expect_true(all(abs(rowMeans(results[, 1, ]) - truth) < 5 * spread / sqrt(repeats)))
  # the standard deviation itself is known up to 1 / sqrt(2 repeats)
  expect_true(all(abs(rowMeans(results[, 2, ]) / spread - 1) < 5 / sqrt(2 * repeats)))
})

test_that("a variance estimated at or below 0 leaves correlations NA and says so", {
  m <- mech_lambda(list(a = 0:1, b = 0:1), lambda = .2)
  reports <- as.table(array(c(99, 0, 1, 0), c(2, 2), list(a = 0:1, b = 0:1)))
  fit <- estimate_covariance(reports, m, scores = list(a = 0:1, b = 0:1), correlation = TRUE)
  expect_lte(fit$covariance["a", "a"], 0)
  expect_true(is.na(coef(fit)))
  expect_true(is.na(vcov(fit)))
  expect_match(flatten_text(capture.output(print(fit))), "estimated variance not above 0 for a, b")
})

test_that("a covariance prints small, can be tidied and states its guarantee", {
  fit <- estimate_covariance(toy_table(), toy_mechanism(),
    scores = list(a = c(0, 1), b = c(1, 2, 5), c = c(-1, 1))
  )
  expect_prints_small(fit)
  expect_identical(tidy(fit)$term, c("a, a", "a, b", "b, b", "a, c", "b, c", "c, c"))
  expect_identical(names(coef(fit, what = "correlation")), c("a, b", "a, c", "b, c"))
  expect_close(rowMeans(confint(fit)), coef(fit))
  expect_identical(epsilon(fit), epsilon(toy_mechanism()))
  expect_identical(nobs(fit), 200)
  single <- estimate_covariance(toy_table(), toy_mechanism(), scores = list(a = 0:1), margin = "a")
  expect_prints_small(single)
})

test_that("scores are declared by order, logic or number, else they must be given", {
  domain <- list(
    o = factor(character(), c("lo", "mid", "hi"), ordered = TRUE), l = c(FALSE, TRUE),
    x = c(0, 10, 50), n = c("red", "blue")
  )
  m <- mech_lambda(domain, lambda = .9)
  frame <- data.frame(o = c("lo", "hi"), l = c(TRUE, FALSE), x = c(10, 50), n = "red")
  fit <- estimate_covariance(frame, m, margin = c("o", "l", "x"))
  expect_identical(fit$scores, list(o = c(1, 2, 3), l = c(0, 1), x = c(0, 10, 50)))
  named <- estimate_covariance(frame, m, margin = "n", scores = list(n = c(blue = 2, red = 1)))
  expect_identical(named$scores$n, c(1, 2))
  expect_confide_error(estimate_covariance(frame, m), "parameter", "Attribute n needs scores")
  bad <- list(list(n = 1), list(n = c(1, NA)), list(n = c(a = 1, b = 2)), list(q = 1:2), 1:2)
  for (scores in bad) {
    expect_confide_error(estimate_covariance(frame, m, scores = scores), "parameter")
  }
  expect_confide_error(estimate_covariance(frame, mech_rr(2, 1)), "parameter", "mech_lambda")
  expect_confide_error(estimate_covariance(frame, m, correlation = NA), "parameter")
  missing <- mech_lambda(domain["o"], lambda = .9, na = "level")
  expect_confide_error(estimate_covariance(frame["o"], missing), "parameter", "missing answer")
})
