# Invariant post-randomization, both constructions.

shares <- c(a = .6, b = .3, c = .1)

test_that("the two-stage construction has the published first row", {
  m <- invariant_pram(shares, .7)
  expect_close(as.matrix(m)[1, ], c(.793110494818, .141220259816, .065669245365), 1e-12)
  # by the definition: randomize, then Bayes' rule
  P <- naive_channel(.7, 3)
  Q <- t(P * shares) / as.vector(shares %*% P)
  expect_close(as.vector(as.matrix(m)), as.vector(P %*% Q), 1e-14)
})

test_that("the mixture is lambda I + (1 - lambda) 1 t', with its inverse and epsilon", {
  m <- invariant_pram(shares, .7, construction = "mixture", public = TRUE)
  R <- .7 * diag(3) + .3 * rep(1, 3) %*% t(shares)
  expect_close(as.vector(as.matrix(m)), as.vector(R), 1e-14)
  expect_close(epsilon(m), log(1 + .7 / (.3 * .1)), 1e-12)
  inverse <- (diag(3) - .3 * rep(1, 3) %*% t(shares)) / .7
  expect_close(as.vector(solve(as.matrix(m))), as.vector(inverse), 1e-13)
})

test_that("both keep the expected one-way table", {
  withr::local_seed(1)
  for (construction in c("two_stage", "mixture")) {
    for (k in c(2, 5, 12)) {
      t <- stats::rexp(k)
      m <- invariant_pram(stats::setNames(t, letters[1:k]), .4, construction = construction)
      expect_close(as.vector((t / sum(t)) %*% as.matrix(m)), t / sum(t), 1e-14)
      expect_close(m$shares, t / sum(t), 1e-15)
    }
  }
})

test_that("without public shares there is no claim, and every statement says so", {
  m <- invariant_pram(shares, .7)
  expect_identical(epsilon(m), Inf)
  expect_match(privacy(m)$definition, "none: the channel was built from confidential shares")
  expect_identical(privacy(m)$epsilon_realised, Inf)
  expect_match(format(m), "NOT PRIVATE", all = FALSE)
  expect_match(format(m), "no epsilon claimed", all = FALSE)
  expect_identical(audit(m)$worst_log_ratio, Inf)
  released <- privatize(c("a", "b"), m)
  expect_identical(epsilon(released), Inf)
  expect_identical(privacy(estimate(released, m))$definition, privacy(m)$definition)
})

test_that("with public shares the epsilon is that of the certified matrix", {
  m <- invariant_pram(shares, .7, public = TRUE)
  R <- as.matrix(m)
  expect_close(epsilon(m), max(log(apply(R, 2, max) / apply(R, 2, min))), 1e-9)
  expect_true(audit(m)$ok)
  expect_match(format(m), "factor of", all = FALSE)
})

test_that("the release needs no correction, and estimate() corrects it all the same", {
  withr::local_seed(2)
  file <- factor(rep(c("a", "b", "c"), c(6000, 3000, 1000)))
  m <- invariant_pram(table(file), .5)
  released <- privatize(file, m, rng = "r")
  # counts of independent draws: standard deviation at most sqrt(n) / 2 = 50, five of them
  expect_close(as.vector(table(released)), c(6000, 3000, 1000), 250)
  e <- estimate(released, m, target = "file")
  expect_lt(max(abs(coef(e) - shares) / e$std_error), 5)
})

test_that("counts, shares and order give one mechanism; update() makes another", {
  m <- invariant_pram(shares, .7)
  expect_identical(invariant_pram(as.table(shares * 1000), .7)$fingerprint, m$fingerprint)
  expect_false(identical(update(m, lambda = .6)$fingerprint, m$fingerprint))
  expect_identical(update(m, public = TRUE), invariant_pram(shares, .7, public = TRUE))
  expect_identical(as.vector(as.matrix(invariant_pram(shares, 1))), as.vector(diag(3)))
})

test_that("bad shares and lambdas are refused without being shown", {
  for (bad in list(c(.5, .5), c(a = 1), c(a = .5, b = 0), c(a = .5, b = NA), c(a = .7, b = -.1),
    "a", table(1:3, 1:3), NULL, list(a = 1, b = 2), c(a = 1, a = 2))) {
    message <- expect_confide_error(invariant_pram(bad, .5), "parameter")
    expect_no_match(message, "0\\.7|-0\\.1")
  }
  for (lambda in list(0, 1.1, NA, "a", c(.5, .5), Inf)) {
    expect_confide_error(invariant_pram(shares, lambda), "parameter")
  }
  expect_confide_error(invariant_pram(shares, .5, construction = "other"), "parameter")
  expect_confide_error(invariant_pram(shares, .5, public = NA), "parameter")
  expect_confide_error(invariant_pram(shares, .5, pd = 3), "parameter")
})

test_that("invariant mechanisms print small", {
  expect_prints_small(invariant_pram(shares, .7))
  expect_prints_small(invariant_pram(shares, .7, public = TRUE, construction = "mixture"))
})

test_that("a channel of confidential shares has no guarantee at any delta or order", {
  m <- invariant_pram(shares, .7)
  # what the channel tells to whoever sees it: its stationary distribution is the shares
  stationary <- Re(eigen(t(as.matrix(m)))$vectors[, 1])
  expect_close(stationary / sum(stationary), unname(shares), 1e-12)
  expect_identical(c(epsilon(m), epsilon(m, delta = 1e-9), epsilon(m, delta = .5)), rep(Inf, 3))
  expect_identical(privacy_profile(m, c(0, 3, 40)), c(1, 1, 1))
  expect_identical(renyi_epsilon(m, c(1.5, 2, Inf)), rep(Inf, 3))
  measures <- privacy_measures(m)
  for (row in 1:2) {
    expect_identical(
      unlist(measures[row, -1]),
      c(epsilon = Inf, tv = 1, kl = Inf, chi2 = Inf, bayes_success = 1)
    )
  }
})

test_that("with public shares the guarantees are those of the channel", {
  m <- invariant_pram(shares, .7, public = TRUE)
  plain <- mech_matrix(as.matrix(m))
  expect_equal(epsilon(m, delta = .01), epsilon(plain, delta = .01), tolerance = 1e-12)
  expect_equal(privacy_profile(m, c(0, 1)), privacy_profile(plain, c(0, 1)), tolerance = 1e-12)
  expect_equal(renyi_epsilon(m, 2), renyi_epsilon(plain, 2), tolerance = 1e-12)
  expect_equal(privacy_measures(m), privacy_measures(plain), tolerance = 1e-12)
})
