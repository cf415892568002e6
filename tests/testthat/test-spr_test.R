# The likelihood-ratio test of two hypotheses from reports.

test_pair <- function() {
  list(
    p0 = c(none = .05, few = .10, some = .15, many = .20, most = .22, all = .28),
    p1 = c(none = .30, few = .25, some = .18, many = .12, most = .10, all = .05)
  )
}

test_mechanism <- function(epsilon, ...) {
  mech_spr(test_pair()$p0, test_pair()$p1, epsilon, ...)
}

naive_kl <- function(a, b) sum(a * log(a / b))

# P(S >= t) from all s^n sequences of reports.
naive_tail <- function(t, n, m, score) {
  codes <- as.matrix(expand.grid(rep(list(seq_along(m)), n)))
  sums <- rowSums(matrix(score[codes], ncol = n))
  weights <- apply(matrix(m[codes], ncol = n), 1, prod)
  sum(weights[sums >= t - 1e-9])
}

# The same from all compositions of n, each a multinomial probability.
multinomial_tail <- function(t, n, m, score) {
  counts <- as.matrix(expand.grid(rep(list(0:n), length(m) - 1)))
  counts <- counts[rowSums(counts) <= n, , drop = FALSE]
  counts <- cbind(counts, n - rowSums(counts))
  log_weight <- lgamma(n + 1) - rowSums(lgamma(counts + 1)) + as.vector(counts %*% log(m))
  sum(exp(log_weight)[as.vector(counts %*% score) >= t - 1e-9])
}

expect_close_tails <- function(m, n, within) {
  score <- log(m$output_p1 / m$output_p0)
  centre <- sum(m$output_p0 * score)
  spread <- sqrt(n * sum(m$output_p0 * (score - centre)^2))
  for (z in c(-2, -0.04, 0, 0.03, 1, 2, 3, 5)) {
    t <- n * centre + z * spread
    exact <- sum_tail(t, n, m$output_p0, score)
    approximate <- sum_tail(t, n, m$output_p0, score, limit = 0)
    expect_identical(exact$method, "exact by enumeration")
    expect_identical(approximate$method, "saddlepoint approximation")
    expect_lte(abs(approximate$p / exact$p - 1), within)
  }
}

test_that("both errors are the sums over all sequences of reports", {
  for (epsilon in c(1, 4)) {
    m <- test_mechanism(epsilon)
    score <- log(m$output_p1 / m$output_p0)
    s <- m$n_outputs
    for (counts in list(rep(2, s), c(5, rep(0, s - 1)), c(rep(0, s - 1), 4), seq_len(s) - 1)) {
      n <- sum(counts)
      if (s^n > 3e5) next
      test <- private_test(stats::setNames(counts, seq_len(s)), m)
      statistic <- sum(counts * score)
      expect_equal(unname(test$statistic), statistic)
      expect_equal(test$p.value, naive_tail(statistic, n, m$output_p0, score), tolerance = 1e-11)
      other <- naive_tail(-statistic, n, m$output_p1, -score)
      expect_equal(test$p.value.p1, other, tolerance = 1e-11)
      expect_match(test$method, if (s == 2) "exact binomial" else "exact by enumeration")
    }
  }
})

test_that("two different reports give the binomial test", {
  m <- test_mechanism(1)
  counts <- c("1" = 620, "2" = 580)
  test <- private_test(counts, m)
  reference <- stats::binom.test(620, 1200, m$output_p0[[1]], alternative = "greater")
  expect_equal(test$p.value, reference$p.value, tolerance = 1e-12)
  reference <- stats::binom.test(620, 1200, m$output_p1[[1]], alternative = "less")
  expect_equal(test$p.value.p1, reference$p.value, tolerance = 1e-12)
  score <- log(m$output_p1 / m$output_p0)
  share <- stats::binom.test(620, 1200, conf.level = 0.9)$conf.int
  limits <- sort(share * score[[1]] + (1 - share) * score[[2]])
  expect_equal(as.vector(private_test(counts, m, level = 0.9)$conf.int), limits, tolerance = 1e-10)
})

test_that("enumeration agrees with multinomial probabilities for three to six reports", {
  withr::local_seed(3)
  for (s in 3:6) {
    m0 <- stats::rexp(s)
    m0 <- m0 / sum(m0)
    m1 <- stats::rexp(s)
    m1 <- m1 / sum(m1)
    score <- log(m1 / m0)
    for (n in c(1, 4, 9)) {
      t <- sum(sample(score, n, replace = TRUE))
      tail <- sum_tail(t, n, m0, score)
      expect_equal(tail$p, multinomial_tail(t, n, m0, score), tolerance = 1e-11)
      expect_identical(tail$method, "exact by enumeration")
    }
  }
})

test_that("the saddlepoint approximation is within three thousandths of the exact p-value", {
  uneven <- list(
    list(m = test_mechanism(4), n = 500),
    list(m = mech_spr((1:50) / 1275, (50:1) / 1275, 5), n = 40)
  )
  for (case in uneven) expect_close_tails(case$m, case$n, 0.003)
  # five reports with scores -b, -a, 0, a, b have few different sums
  expect_close_tails(mech_spr(dbinom(0:10, 10, .6), dbinom(0:10, 10, .4), 4), 120, 0.05)
})

test_that("on a lattice the saddlepoint approximation meets the exact tail at every step", {
  score <- c(1, 0, -1) * 0.3
  m0 <- c(.2, .3, .5)
  n <- 400
  for (t in c(-60, -40, -36, -35, -30, -20, 0) * 1) {
    exact <- sum_tail(t * 0.3 * 2, n, m0, score)$p
    expect_equal(sum_tail(t * 0.3 * 2, n, m0, score, limit = 0)$p, exact, tolerance = 0.002)
  }
  binomial <- exp(saddlepoint_tail(0, 1000, merge_scores(c(.4, .6), c(1, -1))))
  expect_equal(binomial, stats::pbinom(499, 1000, .4, lower.tail = FALSE), tolerance = 0.002)
})

test_that("the test keeps its level and has the power that is planned", {
  skip_on_cran()
  for (epsilon in c(1, 3)) {
    m <- test_mechanism(epsilon)
    n <- 60
    plan <- plan_test(test_pair()$p0, test_pair()$p1, n = n, epsilon = epsilon, sig.level = 0.1)
    runs <- 500
    withr::local_seed(77)
    reject <- function(p) {
      mean(replicate(runs, {
        x <- sample(names(p), n, TRUE, p)
        private_test(privatize(x, m, rng = "r"), m)$p.value <= 0.1
      }))
    }
    # five standard errors
    error <- function(p) 5 * sqrt(p * (1 - p) / runs)
    expect_lte(abs(reject(test_pair()$p0) - plan$level), error(plan$level))
    expect_lte(abs(reject(test_pair()$p1) - plan$power), error(plan$power))
    expect_lte(plan$level, 0.1)
  }
})

test_that("reports, counts, tables and data frames give the same test", {
  m <- test_mechanism(4)
  reports <- privatize(rep(names(test_pair()$p0), 10), m)
  reference <- private_test(reports, m)
  table <- table(as_plain(reports))
  for (x in list(as_plain(reports), count_reports(reports, m), table, as.data.frame(table))) {
    expect_equal(private_test(x, m)$p.value, reference$p.value)
  }
  expect_s3_class(reference, "htest")
  expect_identical(reference$privacy$epsilon, 4)
  expect_identical(privacy(reference)$epsilon, 4)
  expect_equal(unname(reference$parameter), 60)
  expect_output(print(reference), "Likelihood-ratio test of P0 against P1")
  expect_equal(unname(reference$null.value), -naive_kl(m$output_p0, m$output_p1))
  expect_equal(reference$expected[["P1"]], naive_kl(m$output_p1, m$output_p0))
})

test_that("a mechanism without information never rejects", {
  for (m in list(test_mechanism(0), mech_spr(test_pair()$p0, test_pair()$p0, 2))) {
    test <- private_test(privatize(rep("all", 20), m), m)
    expect_identical(test$p.value, 1)
    expect_identical(test$p.value.p1, 1)
    expect_match(test$method, "no information")
  }
})

test_that("a million reports of twelve kinds are tested", {
  m <- mech_spr((1:50) / 1275, (50:1) / 1275, 7)
  expect_identical(m$n_outputs, 12L)
  withr::local_seed(4)
  counts <- stats::rmultinom(1, 1e6, m$output_p0)[, 1]
  test <- private_test(stats::setNames(counts, 1:12), m)
  expect_match(test$method, "saddlepoint")
  expect_gt(test$p.value, 1e-6)
  expect_lt(test$p.value.p1, 1e-100)
})

test_that("extreme counts stay exact in the saddlepoint", {
  m <- test_mechanism(4)
  score <- log(m$output_p1 / m$output_p0)
  n <- 5000
  expect_equal(sum_tail(n * max(score), n, m$output_p0, score)$p, m$output_p0[[1]]^n)
  expect_identical(sum_tail(n * min(score), n, m$output_p0, score)$p, 1)
})

test_that("what is not a test of the mechanism's hypotheses is refused", {
  m <- test_mechanism(4)
  counts <- stats::setNames(rep(5, m$n_outputs), seq_len(m$n_outputs))
  expect_confide_error(private_test(counts, m, p = rep(1 / 6, 6)), "parameter", "left out")
  expect_confide_error(private_test(counts, m, margin = "a"), "parameter", "left out")
  expect_confide_error(
    private_test(counts, m, statistic = "likelihood_ratio"), "parameter", "left out"
  )
  expect_confide_error(private_test(counts * 0, m), "parameter")
  expect_confide_error(private_test(counts + 0.5, m), "parameter", "whole")
  expect_confide_error(private_test(-counts, m), "parameter")
  expect_confide_error(private_test(c("1", "9"), m), "domain")
  weighted <- count_reports(factor(c(1, 2)), m, weights = c(1, 2))
  expect_confide_error(private_test(weighted, m), "parameter", "weight")
  expect_confide_error(private_test(counts, m, level = 95), "parameter")
})
