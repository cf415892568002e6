# Linear and logistic regression with randomized variables.

regression_people <- function(n) {
  people <- data.frame(
    a = factor(sample(letters[1:4], n, TRUE, c(.4, .3, .2, .1)), letters[1:4]),
    s = factor(sample(c("f", "m"), n, TRUE), c("f", "m")),
    o = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
    age = stats::runif(n, 20, 60)
  )
  slope <- c(.2, .5, -.5, 1, 2)
  people$y <- as.vector(stats::model.matrix(~ a + s, people) %*% slope) + stats::rnorm(n)
  people$z <- stats::rbinom(n, 1, stats::plogis(people$y - 1 + (people$age - 40) / 20))
  people$group <- sample(c("x", "y", "w"), n, TRUE)
  people
}

random_columns <- c("a", "s", "o")

regression_mechanism <- function(lambda) {
  mech_lambda(regression_people(1)[random_columns], lambda = lambda)
}

randomized <- function(people, m) {
  attributes <- names(levels(m))
  rest <- setdiff(names(people), attributes)
  cbind(as_plain(privatize(people[attributes], m, rng = "r")), people[rest])
}

# White's HC0.
naive_sandwich <- function(fit) {
  x <- stats::model.matrix(fit)
  w <- stats::weights(fit) %||% rep(1, nrow(x))
  bread <- solve(crossprod(x, w * x))
  bread %*% crossprod(x * w * stats::residuals(fit)) %*% bread
}

formulas <- list(
  y ~ a + s, y ~ a * s + age, y ~ 0 + a:s, y ~ 0 + a + o:age, y ~ o * group,
  log(y + 20) ~ poly(age, 2) * s,
  y ~ a + a:age + (s + o)^2, y ~ group + I(age^2), y ~ 1
)

test_that("with lambda = 1 a linear regression is that of lm()", {
  withr::local_seed(1)
  people <- regression_people(400)
  m <- regression_mechanism(1)
  for (formula in formulas) {
    reference <- stats::lm(formula, people)
    fit <- private_lm(formula, people, m)
    expect_equal(coef(fit), coef(reference), tolerance = 1e-8)
    expect_equal(vcov(fit), naive_sandwich(reference), tolerance = 1e-7)
    expect_equal(sigma(fit), stats::sigma(reference), tolerance = 1e-8)
    few <- people[1:9, ]
    expect_equal(predict(fit, few), stats::predict(reference, few), tolerance = 1e-8)
  }
  weighted <- private_lm(y ~ a * s, people, m, weights = rep(1:2, 200))
  reference <- stats::lm(y ~ a * s, people, weights = rep(1:2, 200))
  expect_equal(coef(weighted), coef(reference), tolerance = 1e-8)
  expect_equal(vcov(weighted), naive_sandwich(reference), tolerance = 1e-7)
})

test_that("with lambda = 1 a logistic regression is that of glm()", {
  withr::local_seed(2)
  people <- regression_people(400)
  m <- regression_mechanism(1)
  for (formula in list(z ~ a + age, z ~ s * age + group, z ~ 0 + a:s)) {
    reference <- stats::glm(formula, stats::binomial(), people, epsilon = 1e-12)
    fit <- private_glm(formula, people, m)
    expect_true(fit$converged)
    expect_equal(coef(fit), coef(reference), tolerance = 1e-5)
    # information by differences
    expect_equal(vcov(fit), stats::vcov(reference), tolerance = 1e-4)
    expect_equal(as.numeric(logLik(fit)), as.numeric(stats::logLik(reference)), tolerance = 1e-9)
    expect_equal(
      predict(fit, people[1:5, ], type = "response"),
      stats::predict(reference, people[1:5, ], type = "response"),
      tolerance = 1e-5
    )
  }
})

test_that("contrasts of the declared factor and scores code a predictor", {
  withr::local_seed(3)
  people <- regression_people(300)
  stats::contrasts(people$a) <- "contr.sum"
  m <- mech_lambda(people["a"], lambda = 1)
  expect_equal(coef(private_lm(y ~ a, people, m)), coef(stats::lm(y ~ a, people)), tolerance = 1e-8)
  scored <- private_lm(y ~ a, people, m, scores = list(a = c(1, 2, 4, 8)))
  people$number <- c(1, 2, 4, 8)[people$a]
  expect_equal(unname(coef(scored)), unname(coef(stats::lm(y ~ number, people))), tolerance = 1e-8)
  expect_named(coef(scored), c("(Intercept)", "a"))
})

test_that("randomized regression solves the moments of the estimated joint table", {
  withr::local_seed(4)
  m <- mech_lambda(regression_people(1)[c("a", "s")], lambda = c(.8, .7))
  people <- regression_people(500)
  reports <- randomized(people, m)
  # signed shares of the true cells, and the mean of y over each, by brute force
  cells <- expand.grid(a = letters[1:4], s = c("f", "m"), stringsAsFactors = TRUE)
  inverse <- solve(t(naive_joint(m$lambda, c(4, 2))))
  position <- as.integer(reports$a) + 4 * (as.integer(reports$s) - 1)
  shares <- as.vector(inverse %*% tabulate(position, 8)) / 500
  sums <- as.vector(inverse %*% vapply(1:8, function(x) sum(reports$y[position == x]), 1)) / 500
  x <- stats::model.matrix(~ a * s, cells)
  beta <- solve(crossprod(x, shares * x), crossprod(x, sums))
  fit <- private_lm(y ~ a * s, reports, m)
  expect_equal(unname(coef(fit)), as.vector(beta), tolerance = 1e-8)
  # a randomized response through scores: the moments of the same table
  by_score <- private_lm(s ~ a, reports, m, scores = list(s = c(0, 1)))
  xa <- stats::model.matrix(~a, cells)
  beta <- solve(crossprod(xa, shares * xa), crossprod(xa, shares * (cells$s == "m")))
  expect_equal(unname(coef(by_score)), as.vector(beta), tolerance = 1e-8)
})

test_that("standard errors of a linear regression are those of the jackknife", {
  withr::local_seed(5)
  m <- mech_lambda(regression_people(1)[c("a", "s")], lambda = c(.9, .8))
  reports <- randomized(regression_people(150), m)
  slopes <- function(rows) coef(private_lm(y ~ s + age, reports[rows, ], m))
  without <- vapply(1:150, function(i) slopes(-i), slopes(1:150))
  jackknife <- sqrt(rowSums((without - rowMeans(without))^2))
  fit <- private_lm(y ~ s + age, reports, m)
  # both up to terms of relative order 1 / n
  expect_equal(sqrt(diag(vcov(fit))), jackknife, tolerance = 10 / 150)
})

test_that("linear regression finds the truth that lm() on reports misses", {
  withr::local_seed(6)
  m <- mech_lambda(regression_people(1)[c("a", "s")], lambda = c(.6, .7))
  truth <- c(.2, .5, -.5, 1, 2)
  repeats <- if (extended()) 1000 else 60
  results <- replicate(repeats, {
    reports <- randomized(regression_people(5000), m)
    fit <- private_lm(y ~ a + s, reports, m)
    cbind(coef(fit), sqrt(diag(vcov(fit))), coef(stats::lm(y ~ a + s, reports)))
  })
  spread <- apply(results[, 1, ], 1, stats::sd)
  z <- abs(results[, 1, ] - truth) / results[, 2, ]
  expect_true(all(abs(rowMeans(results[, 1, ]) - truth) < 5 * spread / sqrt(repeats)))
  expect_true(all(abs(rowMeans(results[, 2, ]) / spread - 1) < .05 + 5 / sqrt(2 * repeats)))
  expect_gt(mean(z < 1.96), .95 - 5 * sqrt(.05 * .95 / length(z)))
  # slopes of reports: .11, -.60, .41, 1.26 as published for this design
  expect_lt(mean(results["sm", 3, ]), 1.5)
})

test_that("the logistic maximum is that of a general optimiser of the likelihood", {
  withr::local_seed(7)
  people <- regression_people(1500)
  people$z <- factor(people$z)
  m <- mech_lambda(people[c("s", "z")], lambda = c(.7, .8))
  reports <- randomized(people, m)
  reports$age <- (reports$age - 40) / 20
  channel <- function(lambda, match) lambda * match + (1 - lambda) / 2
  loss <- function(theta) {
    p_m <- stats::plogis(theta[[4]] + theta[[5]] * reports$age)
    total <- 0
    for (s in c("f", "m")) {
      for (z in 0:1) {
        p <- stats::plogis(theta[[1]] + theta[[2]] * (s == "m") + theta[[3]] * reports$age)
        total <- total + (if (s == "m") p_m else 1 - p_m) * (if (z == 1) p else 1 - p) *
          channel(.7, reports$s == s) * channel(.8, reports$z == z)
      }
    }
    -sum(log(total))
  }
  best <- stats::optim(rep(0, 5), loss,
    method = "BFGS", hessian = TRUE, control = list(reltol = 1e-14)
  )
  fit <- private_glm(z ~ s + age, reports, m)
  expect_true(fit$converged)
  expect_equal(as.numeric(logLik(fit)), -best$value, tolerance = 1e-9)
  expect_equal(unname(coef(fit)), best$par[1:3], tolerance = 1e-3)
  expect_equal(unname(vcov(fit)), solve(best$hessian)[1:3, 1:3], tolerance = .01)
})

test_that("logistic regression finds the truth with honest standard errors", {
  withr::local_seed(8)
  m <- mech_lambda(list(a = letters[1:3], z = 0:1), lambda = c(.7, .8))
  truth <- c(-.5, .8, -1, .5)
  repeats <- if (extended()) 400 else 25
  results <- replicate(repeats, {
    age <- stats::rnorm(1500)
    level <- 1 + stats::rbinom(1500, 2, stats::plogis(age))
    people <- data.frame(a = factor(letters[level]), age = age)
    linear <- as.vector(stats::model.matrix(~ a + age, people) %*% truth)
    people$z <- stats::rbinom(1500, 1, stats::plogis(linear))
    fit <- private_glm(z ~ a + age, randomized(people, m), m)
    cbind(coef(fit), sqrt(diag(vcov(fit))))
  })
  z <- (results[, 1, ] - truth) / results[, 2, ]
  # standardised errors: mean near 0 (maximum likelihood has a small bias), spread near 1
  expect_true(all(abs(rowMeans(z)) < .15 + 5 / sqrt(repeats)))
  expect_true(all(abs(apply(z, 1, stats::sd) - 1) < .1 + 5 / sqrt(2 * repeats)))
})

test_that("a noisy moment matrix and collinear predictors are refused", {
  withr::local_seed(9)
  m <- regression_mechanism(.1)
  reports <- randomized(regression_people(60), m)
  expect_confide_error(
    private_lm(y ~ a * o, reports, m), "parameter", c("positive definite", "larger")
  )
  people <- regression_people(50)
  people$twice <- 2 * people$age
  exact <- regression_mechanism(1)
  expect_confide_error(private_lm(y ~ age + twice, people, exact), "parameter", "dependent")
  expect_confide_error(private_glm(z ~ age + twice, people, exact), "parameter", "independent")
})

test_that("fits hold no data and no environment", {
  withr::local_seed(10)
  people <- regression_people(200)
  people$age[[1]] <- 12345.678912345
  m <- regression_mechanism(.9)
  make <- function() {
    secret <- "SECRET-MARKER" # nolint: object_usage_linter. In the formula's environment.
    list(
      private_lm(y ~ a + age, randomized(people, m), m),
      private_glm(z ~ s + age, randomized(people, m), m)
    )
  }
  for (fit in make()) {
    expect_holds_no("SECRET-MARKER", fit)
    bytes <- serialize(fit, NULL, ascii = FALSE)
    value <- writeBin(12345.678912345, raw(), endian = "big")
    expect_length(grepRaw(value, bytes, fixed = TRUE), 0)
    expect_lt(length(bytes), 20000)
  }
})

test_that("fits print small and have the methods of a regression", {
  withr::local_seed(11)
  m <- regression_mechanism(.9)
  reports <- randomized(regression_people(500), m)
  linear <- private_lm(y ~ a + s + age, reports, m)
  logistic <- private_glm(z ~ s + age, reports, m)
  for (fit in list(linear, logistic)) {
    expect_prints_small(fit)
    expect_identical(nobs(fit), 500L)
    expect_identical(df.residual(fit), NA_real_)
    expect_close(rowMeans(confint(fit)), coef(fit), 1e-12)
    expect_identical(tidy(fit)$term, names(coef(fit)))
    expect_identical(nrow(glance(fit)), 1L)
    expect_identical(privacy(fit), m$privacy)
    expect_identical(colnames(summary(fit)$coefficients)[[3]], "z value")
    expect_output(print(summary(fit)), "standard errors cover sampling and privacy")
  }
  expect_identical(format(formula(linear)), "y ~ a + s + age")
  limits <- predict(linear, reports[1:3, ], interval = "confidence")
  expect_identical(colnames(limits), c("fit", "lwr", "upr"))
  expect_true(all(limits[, "lwr"] < limits[, "fit"]))
})

test_that("bad input of a regression has one of the package's classes", {
  withr::local_seed(12)
  people <- regression_people(30)
  m <- regression_mechanism(1)
  expect_confide_error(private_lm(~a, people, m), "parameter", "two-sided")
  expect_confide_error(private_lm(y ~ as.numeric(a), people, m), "parameter", "inside a function")
  expect_confide_error(private_lm(y ~ offset(age), people, m), "parameter", "offset")
  expect_confide_error(private_lm(y ~ unknown_variable, people, m), "parameter", "columns")
  expect_confide_error(private_lm(y ~ a, people["y"], m), "parameter", "Missing: \"a\"")
  expect_confide_error(private_lm(s ~ a, people, m), "parameter", "scores")
  expect_confide_error(private_lm(group ~ a, people, m), "parameter", "numeric")
  expect_confide_error(private_lm(y ~ a, people, mech_rr(2, 1)), "parameter", "mech_lambda")
  expect_confide_error(private_lm(y ~ a, people, m, weights = -1), "parameter", "weights")
  expect_confide_error(private_lm(y ~ a, people[0, ], m), "parameter", "one row")
  expect_confide_error(private_lm(y ~ a, as.list(people), m), "parameter", "data frame")
  gap <- people
  gap$age[[3]] <- NA
  expect_confide_error(private_lm(y ~ age, gap, m), "parameter", "missing")
  foreign <- people
  foreign$a <- factor("q")
  expect_confide_error(private_lm(y ~ a, foreign, m), "domain")
  other <- privatize(people[random_columns], regression_mechanism(.5), rng = "r")
  expect_confide_error(private_lm(o ~ a, other, m), "mechanism")
  poisson <- stats::poisson()
  expect_confide_error(private_glm(z ~ a, people, m, family = poisson), "parameter", "poisson")
  expect_confide_error(private_glm(z ~ a, people, m, family = sqrt), "parameter", "class function")
  expect_confide_error(private_glm(o ~ a, people, m), "parameter", "two values")
  expect_confide_error(private_glm(y ~ a, people, m), "parameter", "two values")
  control <- list(x = 1)
  expect_confide_error(private_glm(z ~ a, people, m, control = control), "parameter", "rounds")
  fit <- private_lm(y ~ a + group, people, m)
  expect_confide_error(predict(fit), "parameter", "newdata")
  expect_confide_error(predict(fit, people["a"]), "parameter")
  expect_confide_error(predict(fit, data.frame(a = "q", group = "x")), "parameter", "levels of it")
  expect_confide_error(predict(fit, data.frame(a = "a", group = "q")), "parameter", "levels")
})

test_that("a fit that the reports do not determine says which coefficients are loose", {
  withr::local_seed(15)
  m <- mech_lambda(list(a = c("u", "v", "w"), z = c("no", "yes")), lambda = .9)
  # no one with w says yes
  people <- data.frame(
    a = rep(c("u", "v", "w"), c(200, 200, 60)), z = rep(c("no", "yes", "no"), c(100, 200, 160))
  )
  fit <- private_glm(z ~ a, as_plain(privatize(people, m, rng = "r")), m)
  expect_match(format(fit), "not determined by these reports: .*aw", all = FALSE)
  expect_lte(max(nchar(format(fit))), 80)
  # its size does not push the other coefficients into exponents
  expect_match(utils::capture.output(print(fit)), "av +[-0-9.]+ +[0-9.]+$", all = FALSE)
  # units of measurement do not matter
  steady <- data.frame(a = sample(c("u", "v", "w"), 500, TRUE), t = 1e-4 * stats::rnorm(500))
  steady$z <- c("no", "yes")[1 + stats::rbinom(500, 1, stats::plogis(5e3 * steady$t))]
  reports <- cbind(as_plain(privatize(steady[c("a", "z")], m, rng = "r")), t = steady$t)
  fit <- private_glm(z ~ a + t, reports, m)
  expect_gt(sqrt(vcov(fit)["t", "t"]), 100)
  expect_false(any(grepl("not determined", format(fit))))
})

test_that("95 % intervals of slopes cover in 95 % of the samples", {
  withr::local_seed(16)
  m <- mech_lambda(list(a = c("u", "v", "w"), b = c("x", "y")),
    lambda = c(.7, .6), noise = list(b = c(.3, .7))
  )
  truth <- c(1, .5, -1, 2)
  covered <- replicate(700, {
    people <- data.frame(
      a = sample(c("u", "v", "w"), 1000, TRUE), b = sample(c("x", "y"), 1000, TRUE)
    )
    expected <- 1 + .5 * (people$a == "v") - (people$a == "w") + 2 * (people$b == "y")
    reports <- as_plain(privatize(people, m, rng = "r"))
    reports$y <- expected + stats::rnorm(1000)
    limits <- confint(private_lm(y ~ a + b, reports, m))
    limits[, 1] <= truth & truth <= limits[, 2]
  })
  # one and a half points; the standard error of the average is below .0082, that of one coefficient
  expect_lte(abs(mean(covered) - .95), .015)
})
