# Known noise distributions: P = lambda I + (1 - lambda) 1 q', against dense matrices.

noise_channel_twin <- function(lambda, q) {
  lambda * diag(length(q)) + (1 - lambda) * rep(1, length(q)) %*% t(q)
}

mixed <- function() {
  mech_lambda(list(a = c("x", "y", "z"), b = 2),
    lambda = c(.6, .7), noise = list(a = c(z = .5, x = .2, y = .3))
  )
}

test_that("the channel is lambda I + (1 - lambda) 1 q', attribute by attribute", {
  m <- mixed()
  twin <- kronecker(naive_channel(.7, 2), noise_channel_twin(.6, c(.2, .3, .5)))
  expect_close(unname(as.matrix(m)), twin, 1e-14)
  expect_close(m$lambda, c(.6, .7), 1e-14)
})

test_that("epsilon is log(1 + lambda / ((1 - lambda) min q)), and lambda its inverse", {
  m <- mixed()
  expect_close(m$epsilon, c(log(1 + .6 / (.4 * .2)), log(1 + 2 * .7 / .3)), 1e-14)
  for (q in list(c(.2, .3, .5), c(.01, .01, .98), c(1e-6, .5, .5 - 1e-6))) {
    for (epsilon in c(.01, 1, 5, 20)) {
      m <- mech_lambda(list(a = 3), epsilon = epsilon, noise = list(a = q))
      expect_identical(unname(m$epsilon), epsilon)
      column <- as.matrix(m)
      expect_equal(max(log(apply(column, 2, max) / apply(column, 2, min))), epsilon,
        tolerance = 1e-6
      )
      expect_lte(audit(m)$worst_log_ratio, epsilon)
      expect_true(audit(m)$ok)
    }
  }
})

test_that("no noise has a smaller epsilon than uniform noise at the same lambda", {
  withr::local_seed(1)
  uniform <- mech_lambda(list(a = 4), lambda = .5)$epsilon
  for (i in 1:20) {
    q <- stats::rexp(4)
    expect_gt(mech_lambda(list(a = 4), lambda = .5, noise = list(a = q / sum(q)))$epsilon, uniform)
  }
})

test_that("uniform noise written out is the same mechanism, with the same fingerprint", {
  plain <- mech_lambda(list(a = 3, b = 2), lambda = .5)
  for (noise in list(list(a = rep(1 / 3, 3)), list(b = NULL), list())) {
    expect_identical(mech_lambda(list(a = 3, b = 2), lambda = .5, noise = noise), plain)
  }
  expect_null(plain$noise)
  # the parts that the fingerprint had before other noise existed
  expect_identical(plain$fingerprint, rlang::hash(list(
    "confide_lambda", list(lapply(plain$alphabets, alphabet_spelling), plain$epsilon)
  )))
})

test_that("another noise is another mechanism", {
  make <- function(...) mech_lambda(list(a = 3), ..., noise = list(a = c(.2, .3, .5)))$fingerprint
  others <- list(
    make(lambda = .5), make(lambda = .6), mech_lambda(list(a = 3), lambda = .5)$fingerprint,
    mech_lambda(list(a = 3), lambda = .5, noise = list(a = c(.2, .2, .6)))$fingerprint,
    mech_lambda(list(a = 3), lambda = .5, noise = list(a = c(0, .4, .6)))$fingerprint,
    mech_lambda(list(a = 3), lambda = .6, noise = list(a = c(0, .4, .6)))$fingerprint
  )
  expect_length(unique(others), length(others))
  m <- mixed()
  expect_confide_error(
    estimate(privatize(data.frame(a = "x", b = 1), m), update(m, noise = NULL)), "mechanism"
  )
})

test_that("expected reports are decoded to the truth, by table, by cell and by test", {
  withr::local_seed(3)
  m <- mixed()
  pi <- stats::rexp(6)
  pi <- pi / sum(pi)
  psi <- array(1e6 * pi %*% as.matrix(m), c(3, 2), levels(m))
  expect_close(coef(estimate(as.table(psi), m)), pi, 1e-13)
  expect_close(coef(estimate(as.table(psi), m, method = "ml")), pi, 1e-9)
  cells <- expand.grid(levels(m), stringsAsFactors = FALSE)
  expect_close(coef(estimate_cells(as.table(psi), m, cells)), pi, 1e-12)
  expect_equal(private_test(as.table(psi), m, p = pi)$p.value, 1)
  expect_close(predict(m, data.frame(a = "y", b = 2), prior = list(b = c(.9, .1)))[1:3],
    noise_channel_twin(.6, c(.2, .3, .5))[, 2] / sum(noise_channel_twin(.6, c(.2, .3, .5))[, 2]),
    1e-13
  )
})

test_that("standard errors are those of the dense inverse", {
  withr::local_seed(4)
  m <- mixed()
  N <- array(stats::rpois(6, 50), c(3, 2), levels(m))
  e <- estimate(as.table(N), m)
  inverse <- solve(as.matrix(m))
  psi <- as.vector(N) / sum(N)
  pi <- psi %*% inverse
  covariance <- (t(inverse) %*% diag(psi) %*% inverse - t(pi) %*% pi) / (sum(N) - 1)
  expect_close(as.vector(unname(vcov(e))), as.vector(covariance), 1e-12)
  expect_close(e$std_error, sqrt(diag(covariance)), 1e-12)
})

test_that("reports follow the channel", {
  withr::local_seed(5)
  m <- mech_lambda(list(a = 3), lambda = .4, noise = list(a = c(.1, .2, .7)))
  n <- 3e4
  reports <- privatize(data.frame(a = rep(1:3, each = n)), m, rng = "r")
  observed <- table(rep(1:3, each = n), reports$a)
  expected <- n * as.matrix(m)
  # 6 degrees of freedom; p above 1e-4 fails one seed in 10,000
  expect_lt(sum((observed - expected)^2 / expected), stats::qchisq(1 - 1e-4, 6))
})

test_that("the noise of no protection is never drawn", {
  x <- data.frame(a = factor(c("u", "v", "v")))
  m <- mech_lambda(x, lambda = 1, noise = list(a = c(.9, .1)))
  expect_identical(as.data.frame(as_plain(privatize(x, m))), x)
  expect_null(m$noise)
  expect_identical(m$epsilon, c(a = Inf))
})

test_that("a report that noise never gives is never made of another value, and not private", {
  withr::local_seed(6)
  never <- list(a = c(no = 1, yes = 0))
  m <- mech_lambda(list(a = c("no", "yes"), b = 2), lambda = .5, noise = never)
  expect_identical(m$epsilon[["a"]], Inf)
  expect_identical(epsilon(m), Inf)
  reports <- privatize(data.frame(a = rep("no", 1e4), b = 1), m, rng = "r")
  expect_false("yes" %in% as.character(reports$a))
  expect_match(format(m), "given, NOT PRIVATE", fixed = TRUE, all = FALSE)
  expect_identical(audit(m)$worst_log_ratio, Inf)
  # (no, yes) reported .7, .3: yes is .3 / .5
  N <- as.table(array(c(70, 30) %o% c(50, 50), c(2, 2), levels(m)))
  expect_close(coef(estimate(N, m, margin = "a")), c(.4, .6), 1e-14)
})

test_that("a forced-response design has its textbook estimate", {
  # Boruch (1971): a die of six says yes for 1 and 2, no for 6, else the truth
  m <- mech_lambda(list(cheated = c("no", "yes")),
    lambda = 3 / 6, noise = list(cheated = c(no = 1 / 3, yes = 2 / 3))
  )
  e <- estimate(as.table(array(c(120, 80), 2, levels(m))), m)
  expect_close(coef(e)[["yes"]], (80 / 200 - 2 / 6) / (3 / 6), 1e-14)
  expect_close(e$std_error[[2]], sqrt(.4 * .6 / 199) / .5, 1e-14)
})

test_that("entropy is the entropy rate with the noise as stationary distribution", {
  m <- mixed()
  P <- noise_channel_twin(.6, c(.2, .3, .5))
  q <- c(.2, .3, .5)
  expect_close(as.vector(q %*% P), q, 1e-15)
  entropy <- mechanism_entropy(m)
  expect_close(entropy$bits[[1]], -sum(q * rowSums(P * log2(P))), 1e-12)
  joint <- as.matrix(m)
  stationary <- as.vector(q %o% c(.5, .5))
  expect_close(entropy$bits[[3]], -sum(stationary * rowSums(joint * log2(joint))), 1e-12)
})

test_that("the number of reports for planning is the mean relative variance of a share", {
  m <- mech_lambda(list(a = 3), lambda = .6, noise = list(a = c(.2, .3, .5)))
  inverse <- solve(noise_channel_twin(.6, c(.2, .3, .5)))
  second <- colMeans(noise_channel_twin(.6, c(.2, .3, .5))) %*% inverse^2
  expect_close(noise_spread(.6, c(.2, .3, .5)), 9 * mean(second) - 1, 1e-12)
  expect_close(feasible_tables(m, 100)$hardest, sqrt((9 * mean(second) - 1) / 100), 1e-12)
})

test_that("Wilson and exact intervals are those of the reported share, carried over", {
  m <- mech_lambda(list(a = 2), lambda = .5, noise = list(a = c(.2, .8)))
  e <- estimate(as.table(array(c(40, 60), 2, levels(m))), m)
  reported <- stats::binom.test(60, 100)$conf.int
  expect_close(confint(e, method = "exact", cut = FALSE)[2, ], (reported - .5 * .8) / .5, 1e-12)
  wilson <- stats::prop.test(60, 100, correct = FALSE)$conf.int
  expect_close(confint(e, method = "wilson", cut = FALSE)[2, ], (wilson - .5 * .8) / .5, 1e-12)
})

test_that("the statistical audit finds the level that tells most", {
  withr::local_seed(7)
  m <- mech_lambda(list(a = 3, b = 2), lambda = c(.3, .2), noise = list(a = c(.45, .45, .1)))
  found <- audit(m, draws = 2e4, rng = "r")
  expect_true(found$ok)
  # log(1 + .3 / .7 / .1) + log(1 + 2 * .2 / .8) = 2.07; Clopper-Pearson at 1 - 1e-6 costs some
  expect_gt(found$lower_bound, 1.5)
})

test_that("update() changes and removes the noise", {
  m <- mixed()
  expect_identical(update(m, lambda = c(.6, .7))$fingerprint, m$fingerprint)
  changed <- update(m, noise = list(a = c(.1, .1, .8)))
  expect_close(changed$epsilon[["a"]], log(1 + .6 / (.4 * .1)), 1e-14)
  plain <- mech_lambda(list(a = c("x", "y", "z"), b = 2), lambda = c(.6, .7))
  expect_identical(update(m, noise = NULL)$fingerprint, plain$fingerprint)
})

test_that("mechanisms with noise print small", {
  expect_prints_small(mixed())
  many <- stats::setNames(rep(list(3), 9), paste0("attribute_with_a_long_name_", 1:9))
  m <- mech_lambda(many, lambda = .5, noise = list(attribute_with_a_long_name_1 = c(0, .5, .5)))
  expect_prints_small(m)
})

test_that("noise that is no distribution over the levels is refused", {
  domain <- list(a = c("x", "y"), b = 3)
  wrong <- list(
    c(.5, .5), "a", list(c(.5, .5)), list(d = c(.5, .5)), list(a = c(.5, .6)),
    list(a = c(1.5, -.5)),
    list(a = c(.2, NA)), list(a = 1), list(a = c(.2, .3, .5)), list(a = c(x = .2, z = .8)),
    list(a = "x"), list(a = c(.3, .7), a = c(.3, .7)), data.frame(a = c(.3, .7)),
    list(a = c(x = .5, x = .5)), list(a = factor(c(.3, .7)))
  )
  for (noise in wrong) {
    expect_confide_error(mech_lambda(domain, lambda = .5, noise = noise), "parameter")
  }
  expect_confide_error(
    mech_lambda(domain, epsilon = 1, noise = list(a = c(0, 1))), "parameter", "never gives"
  )
  expect_confide_error(
    mech_lambda(list(a = 3), lambda = 1e-17, noise = list(a = c(.2, .3, .5))), "parameter", "2^-52"
  )
  expect_confide_error(
    mech_lambda(list(a = 5000), lambda = .5, noise = list(a = c(.5, rep(.5 / 4999, 4999)))),
    "parameter", "at most"
  )
})

test_that("permutations are those of uniform noise, and others are told so", {
  expect_confide_error(birkhoff(mixed()), "parameter", "uniform noise")
})

# Privacy of whole records ---------------------------------------------------------

# The largest value of f(row, other row) over all pairs of rows.
over_pairs <- function(channel, f) {
  pairs <- expand.grid(one = seq_len(nrow(channel)), other = seq_len(nrow(channel)))
  max(mapply(function(i, j) f(channel[i, ], channel[j, ]), pairs$one, pairs$other))
}

uneven_mechanisms <- function() {
  list(
    mixed(),
    mech_lambda(list(a = 3, b = 2, c = 4),
      lambda = c(.3, .2, .1),
      noise = list(a = c(.1, .3, .6), b = c(.3, .7), c = c(.1, .2, .3, .4))
    ),
    mech_lambda(list(a = 2, b = 2, c = 2),
      epsilon = .5, noise = list(a = c(.2, .8), b = c(.2, .8), c = c(.9, .1))
    )
  )
}

test_that("the profile is that of the joint channel over all pairs of records", {
  for (m in uneven_mechanisms()) {
    channel <- as.matrix(m)
    at <- c(0, .05, .3, .6, .9) * epsilon(m)
    truth <- vapply(at, function(e) {
      over_pairs(channel, function(p, q) sum(pmax(p - exp(e) * q, 0)))
    }, numeric(1))
    found <- privacy_profile(m, at)
    expect_close(found, truth, 1e-12)
    expect_true(all(found >= truth - 1e-15))
    expect_identical(privacy_profile(m, epsilon(m)), 0)
    for (delta in c(1e-6, .01)) {
      smallest <- epsilon(m, delta = delta)
      expect_lte(privacy_profile(m, smallest), delta)
      expect_gt(privacy_profile(m, smallest * (1 - 1e-9)), delta)
    }
  }
})

test_that("Renyi divergence and other measures are those of the worst pair of records", {
  for (m in uneven_mechanisms()) {
    channel <- as.matrix(m)
    for (alpha in c(1.5, 2, 20)) {
      truth <- over_pairs(channel, function(p, q) log(sum(p^alpha * q^(1 - alpha))) / (alpha - 1))
      expect_close(renyi_epsilon(m, alpha), truth, 1e-10)
    }
    found <- utils::tail(privacy_measures(m), 1)
    expect_close(found$kl, over_pairs(channel, function(p, q) sum(p * log(p / q))), 1e-11)
    expect_close(found$chi2, over_pairs(channel, function(p, q) sum((p - q)^2 / q)), 1e-9)
    expect_close(found$tv, over_pairs(channel, function(p, q) sum(abs(p - q)) / 2), 1e-12)
    expect_close(found$bayes_success, sum(apply(channel, 2, max)) / nrow(channel), 1e-12)
  }
})

test_that("a level that noise never gives leaves lambda in delta and an infinite divergence", {
  m <- mech_lambda(list(a = c("no", "yes"), b = 2),
    lambda = .5, noise = list(a = c(no = 1, yes = 0))
  )
  channel <- as.matrix(m)
  for (e in c(0, .7, 30)) {
    truth <- over_pairs(channel, function(p, q) sum(pmax(p - exp(e) * q, 0)))
    expect_close(privacy_profile(m, e), truth, 1e-12)
  }
  expect_identical(epsilon(m, delta = .49), Inf)
  expect_lt(epsilon(m, delta = .6), log(3)) # the epsilon of b
  expect_identical(renyi_epsilon(m, 2), Inf)
})

# Covariance, regression, plans ----------------------------------------------------

# Reports in exactly the shares that the mechanism gives them: estimates are then the truth.
expected_reports_of <- function(shares, m) {
  cells <- expand.grid(levels(m), stringsAsFactors = FALSE)
  list(rows = cells, weight = as.vector(shares %*% as.matrix(m)))
}

test_that("covariances of expected reports are those of the true scores", {
  withr::local_seed(11)
  m <- mixed()
  pi <- stats::rexp(6)
  pi <- pi / sum(pi)
  reports <- as.table(array(1e7 * pi %*% as.matrix(m), c(3, 2), levels(m)))
  found <- estimate_covariance(reports, m, scores = list(a = c(x = -1, y = 2, z = 5), b = 0:1))
  g <- cbind(a = rep(c(-1, 2, 5), 2), b = rep(0:1, each = 3))
  centred <- sweep(g, 2, colSums(pi * g))
  expect_close(found$mean, colSums(pi * g), 1e-12)
  # unbiased, so the truth of a population: up to 1 / n
  expect_close(found$covariance, crossprod(centred, pi * centred), 1e-5)
})

test_that("standard errors of means are those of the debiased scores", {
  m <- mech_lambda(list(a = 3), lambda = .6, noise = list(a = c(.2, .3, .5)))
  counts <- c(40, 60, 100)
  found <- estimate_covariance(as.table(array(counts, 3, levels(m))), m, scores = list(a = 1:3))
  # values of one report under the dense inverse
  z <- as.vector(solve(noise_channel_twin(.6, c(.2, .3, .5))) %*% 1:3)
  centre <- sum(counts * z) / 200
  expect_close(found$mean, centre, 1e-12)
  expect_close(found$std_error$mean, sqrt(sum(counts * (z - centre)^2) / 200 / 199), 1e-12)
})

test_that("least squares on expected reports gives the slopes of the truth", {
  withr::local_seed(12)
  m <- mixed()
  pi <- stats::rexp(6)
  reports <- expected_reports_of(pi / sum(pi), m)
  data <- cbind(reports$rows, w = reports$weight)
  found <- private_lm(b ~ a, data, m, weights = "w", scores = list(b = 0:1))
  truth <- cbind(expand.grid(a = c("x", "y", "z"), b = 0:1), w = pi)
  expect_close(coef(found), coef(stats::lm(b ~ a, truth, weights = truth$w)), 1e-9)
})

test_that("logistic regression on expected reports gives the log odds of the truth", {
  withr::local_seed(13)
  m <- mech_lambda(list(a = c("x", "y", "z"), b = c("no", "yes")),
    lambda = c(.6, .7), noise = list(a = c(z = .5, x = .2, y = .3), b = c(.1, .9))
  )
  pi <- stats::rexp(6) + .2
  reports <- expected_reports_of(pi / sum(pi), m)
  data <- cbind(reports$rows, w = reports$weight)
  found <- private_glm(b ~ a, data, m, weights = "w")
  odds <- log(pi[4:6] / pi[1:3])
  expect_close(unname(coef(found)), c(odds[[1]], odds[2:3] - odds[[1]]), 1e-5)
})

test_that("regression intervals cover with noise of its own", {
  withr::local_seed(14)
  m <- mech_lambda(list(a = c("u", "v")), lambda = .6, noise = list(a = c(.2, .8)))
  covered <- vapply(1:200, function(i) {
    a <- stats::rbinom(400, 1, .4)
    people <- data.frame(a = c("u", "v")[a + 1])
    reports <- cbind(as_plain(privatize(people, m, rng = "r")), y = 1 + 2 * a + stats::rnorm(400))
    limits <- confint(private_lm(y ~ a, reports, m))["av", ]
    limits[[1]] <= 2 && 2 <= limits[[2]]
  }, logical(1))
  # binomial(200, .95): below .90 with probability .002
  expect_gt(mean(covered), .9)
})

test_that("plans with noise have the mean square error of the dense inverse", {
  q <- list(a = c(.2, .3, .5))
  plan <- plan_frequencies(list(a = 3, b = 2), n = 500, lambda = c(.6, .7), noise = q)
  m <- mech_lambda(list(a = 3, b = 2), lambda = c(.6, .7), noise = q)
  inverse <- solve(as.matrix(m))
  psi <- colMeans(as.matrix(m))
  variance <- (as.vector(psi %*% inverse^2) - 1 / 36) / 500
  expect_close(plan$error, sqrt(mean(variance)), 1e-12)
  expect_close(plan$joint_epsilon, epsilon(m), 1e-12)
  expect_match(format(plan), "noise        of its own: a", fixed = TRUE, all = FALSE)
})

test_that("plans for n and epsilon invert that for the error", {
  q <- list(a = c(.1, .9))
  plan <- plan_frequencies(c(a = 2, b = 3), n = 5000, epsilon = c(1, 2), noise = q)
  again <- plan_frequencies(c(a = 2, b = 3), error = plan$error, epsilon = c(1, 2), noise = q)
  expect_identical(again$n, 5000)
  equal <- plan_frequencies(c(a = 2, b = 3), n = 5000, error = plan$error, noise = q)
  back <- plan_frequencies(c(a = 2, b = 3), n = 5000, epsilon = equal$epsilon, noise = q)
  expect_close(back$error, plan$error, 1e-10)
  expect_identical(
    plan_frequencies(3, n = 10, epsilon = 1, noise = list(attribute1 = rep(1 / 3, 3))),
    plan_frequencies(3, n = 10, epsilon = 1)
  )
  expect_confide_error(
    plan_frequencies(c(a = 2), n = 10, epsilon = 1, noise = list(b = c(.1, .9))), "parameter",
    "noise"
  )
  expect_confide_error(
    plan_frequencies(c(a = 2), n = 10, error = .1, noise = list(a = c(0, 1))), "parameter", "never"
  )
})

test_that("log-linear models take any noise", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .8, noise = list(a = c(.3, .7)))
  truth <- outer(c(.3, .7), c(.6, .4))
  expected <- array(5000 * as.vector(truth) %*% as.matrix(m), c(2, 2), levels(m))
  test <- log_linear_test(as.table(expected), m, ~ a + b)
  expect_lt(unname(test$statistic), 1e-6)
  expect_close(as.vector(test$fitted), as.vector(truth), 1e-6)
})

test_that("a large epsilon is kept, drawn from and composed with any noise", {
  withr::local_seed(11)
  laws <- c(
    list(c(.55, .45), c(1e-9, 1 - 1e-9), c(.2, .3, .5)),
    lapply(1:20, function(i) {
      q <- stats::rexp(2 + i %% 4)^c(1, 3, 8)[[1 + i %% 3]]
      q / sum(q)
    })
  )
  for (q in laws) {
    for (epsilon in c(35, 37, 38, 40, 44, 60)) {
      k <- length(q)
      m <- mech_lambda(list(a = k), epsilon = epsilon, noise = list(a = q))
      # words of 2^-52, rounded up; in long double 1 / (1 + odds) is odds^-1 to 1e-15 here
      odds <- exp(min(epsilon, 44)) * min(q)
      expect_close(sum(m$noise$a$words) * 2^-52, 1 / (1 + odds), (k + 1) * 2^-52)
      expect_true(all(m$noise$a$words >= 1))
      logs <- log(as.matrix(m))
      expect_lte(max(apply(logs, 2, function(column) diff(range(column)))), epsilon + 1e-12)
      expect_true(audit(m)$ok)
      expect_lte(privacy(m)$epsilon_realised, epsilon)
      expect_true(is.finite(epsilon(m, delta = 1e-12)))
      expect_true(all(is.finite(coef(estimate(as.table(array(seq_len(k), k, levels(m))), m)))))
      expect_identical(NROW(privatize(data.frame(a = seq_len(k)), m, rng = "r")), k)
    }
  }
})

test_that("the profile at a large epsilon is that of the two rarest levels", {
  q <- c(.55, .45)
  m <- mech_lambda(list(a = 2), epsilon = 40, noise = list(a = q))
  replaced <- 1 / (1 + expm1(40) * .45)
  own <- replaced * .45
  for (e in c(38, 39, 39.5, 39.9)) {
    expect_close(privacy_profile(m, e), 1 - exp(e) * own, 1e-9)
  }
})

test_that("noise that the integers do not certify is refused", {
  local_replacement("channel_certify", function(...) list(certified = FALSE))
  expect_confide_error(
    mech_lambda(list(a = 2), epsilon = 1, noise = list(a = c(.3, .7))), "parameter", "can keep"
  )
})
