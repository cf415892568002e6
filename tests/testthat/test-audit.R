# The claim of a mechanism against what its sampler does.

test_that("the worst log-ratio never exceeds epsilon and comes close to it", {
  cases <- c(
    0, 1e-300, 1e-18, 1e-12, 1e-6, .05, .1, .5, 1, log(3), 2, 5, 10, 20, 30, 40, 44, 50, 1e308
  )
  for (epsilon in cases) {
    for (k in c(2, 3, 10, 1000, 1e6, 2^31 - 1)) {
      a <- audit(mech_rr(k, epsilon))
      expect_lte(a$worst_log_ratio, epsilon)
      expect_true(a$ok)
      served <- min(epsilon, 44)
      # one word of the lie's share, relative to the truth's: 1 / other <= 2 (e^epsilon + k) / 2^64
      expect_gte(
        a$worst_log_ratio, served * (1 - 2e-15) - 2 * (exp(served) + k) / 2^64 / exp(served) - 2^-60
      )
    }
  }
})

test_that("the worst log-ratio of the channel as doubles is epsilon to 1e-12", {
  for (epsilon in c(.05, .5, 1, 5)) {
    cases <- list(
      mech_rr(4, epsilon), mech_lambda(list(a = 4), epsilon = epsilon),
      mech_matrix(as.matrix(mech_rr(4, epsilon)))
    )
    for (m in cases) {
      logs <- log(as.matrix(m))
      worst <- max(apply(logs, 2, function(column) diff(range(column))))
      expect_equal(worst, epsilon, tolerance = 1e-12)
      expect_equal(audit(m)$worst_log_ratio, epsilon, tolerance = 1e-12)
    }
  }
})

test_that("the audit of several attributes shows each and adds them up", {
  a <- audit(toy_mechanism())
  expect_named(a$by_attribute, c("a", "b", "c"))
  expect_equal(sum(a$by_attribute), a$worst_log_ratio, tolerance = 1e-14)
  expect_lte(a$worst_log_ratio, a$claim)
  expect_null(audit(mech_rr(2, 1))$by_attribute)
  worst <- max(apply(log(as.matrix(toy_mechanism())), 2, function(column) diff(range(column))))
  expect_equal(a$worst_log_ratio, worst, tolerance = 1e-13)
})

test_that("an attribute without protection has an infinite loss", {
  a <- audit(mech_lambda(list(a = 2, b = 3), lambda = c(1, .5)))
  expect_identical(a$worst_log_ratio, Inf)
  expect_identical(a$claim, Inf)
  expect_true(a$ok)
})

test_that("the statistical audit finds the epsilon that is there and no more", {
  withr::local_seed(20260501)
  for (m in list(
    mech_rr(3, 1), mech_lambda(list(a = 3, b = 2), epsilon = c(1, .5)),
    mech_matrix(rbind(a = c(x = .7, y = .3), b = c(x = .4, y = .6)))
  )) {
    a <- audit(m, draws = 20000, rng = "r")
    expect_lte(a$lower_bound, a$claim)
    # 1e5 draws find an excess of .05 at epsilon 1, and 2e4 one of about .13
    expect_gte(a$lower_bound, a$claim - .25)
    expect_length(a$event_probabilities, 2)
    expect_true(a$ok)
  }
})

test_that("the statistical audit finds events that only one truth allows", {
  withr::local_seed(20260502)
  coin <- mech_matrix(rbind(no = c(no = 0.75, yes = 0.25), yes = c(no = 0, yes = 1)))
  a <- audit(coin, draws = 10000, rng = "r")
  # an event never seen under the other truth in n draws: log(.75 n / 15.2) at this confidence
  expect_gt(a$lower_bound, 5.5)
  kept <- audit(mech_lambda(list(a = 2, b = 2), lambda = c(1, .5)), draws = 10000, rng = "r")
  expect_gt(kept$lower_bound, 5.5)
})

test_that("the statistical audit of no information finds nothing", {
  withr::local_seed(20260503)
  expect_identical(audit(mech_rr(3, 0), draws = 5000, rng = "r")$lower_bound, 0)
  expect_identical(audit(mech_matrix(matrix(1, 2, 1)), draws = 100, rng = "r")$lower_bound, 0)
})

test_that("the statistical audit's lower bound is Clopper-Pearson's", {
  error <- (1 - .99) / 2
  low <- stats::binom.test(80, 100, conf.level = 1 - 2 * error)$conf.int[[1]]
  high <- stats::binom.test(30, 100, conf.level = 1 - 2 * error)$conf.int[[2]]
  expect_equal(loss_lower_bound(80, 30, 100, .99), log(low / high), tolerance = 1e-12)
  expect_identical(loss_lower_bound(0, 0, 100, .99), 0)
  expect_identical(loss_lower_bound(100, 100, 100, .99), 0)
})

test_that("a mechanism that keeps less than it claims fails the statistical audit", {
  # the tester is tested: a claim of .1 on reports of epsilon 2
  withr::local_seed(20260504)
  weak <- mech_rr(2, 2)
  strong <- mech_rr(2, .1)
  hits <- vapply(
    1:2, function(truth) sum(privatize(rep(truth, 5000), weak, rng = "r") == "1"), numeric(1)
  )
  expect_gt(loss_lower_bound(hits[[1]], hits[[2]], 5000, 1 - 1e-6), strong$epsilon)
})

test_that("what carries no guarantee cannot be audited", {
  for (x in list(1, NULL, "a", data.frame())) {
    expect_confide_error(audit(x), "parameter", "whose law is that of its noise")
  }
  expect_confide_error(audit(mech_rr(2, 1), draws = 10, confidence = 1), "parameter")
})

test_that("an audit prints the worst ratio, the claim and a verdict", {
  expect_prints_small(audit(mech_rr(2, 1)))
  long <- mech_lambda(stats::setNames(rep(list(5), 100), paste0("a", 1:100)), lambda = .1)
  expect_prints_small(audit(long))
  expect_prints_small(audit(mech_lambda(list(a = 2), lambda = 1), draws = 50))
  expect_snapshot({
    audit(mech_rr(4, 1))
    audit(mech_rr(2, 1e308))
    withr::with_seed(1, audit(toy_mechanism(), draws = 2000, rng = "r"))
  })
})

test_that("integers that lose more than the claim fail the audit", {
  expect_true(audit(mech_rr(3, 1))$ok)
  local_replacement("realised_loss", function(mechanism) 1 + 2^-50)
  expect_false(audit(mech_rr(3, 1))$ok)
})

test_that("reports and what is made of them point to their mechanism", {
  m <- mech_rr(2, 1)
  reports <- privatize(c("1", "2"), m)
  for (x in list(reports, count_reports(reports, m), estimate(reports, m))) {
    expect_confide_error(audit(x), "parameter", "Audit the mechanism that made the reports")
  }
  table <- data.frame(a = factor(c("x", "y")), b = factor(c("u", "v")))
  synthetic <- synthesize(table, rho = 1, neighbours = "replace")
  expect_confide_error(audit(synthetic), "parameter", "choices and noise")
})

# Mechanisms with what tells the losses of their integers.
audited_samplers <- function() {
  P <- rbind(a = c(x = .6, y = .4), b = c(x = .4, y = .6))
  list(
    rr_realised = list(
      mech_rr(3, 1), mech_lambda(list(a = 3, b = 2), epsilon = .5),
      mech_spr(c(a = .5, b = .3, c = .2), c(a = .2, b = .2, c = .6), 1)
    ),
    block_realised = list(
      mech_block(7, 1, design = "PG(2,2)"), mech_block(6, 1, design = "subset selection(6,3)")
    ),
    channel_certify = list(
      mech_matrix(P), mech_matrix(P, epsilon = 1),
      mech_lambda(list(a = 2), epsilon = 1, noise = list(a = c(.3, .7)))
    )
  )
}

# The audit and the realised epsilon of a mechanism whose integers are told of in another way.
audit_with <- function(name, change, mechanism) {
  original <- get(name, envir = asNamespace("confide"))
  local_replacement(name, function(...) change(original(...)))
  list(audit = audit(mechanism), realised = privacy(mechanism)$epsilon_realised)
}

test_that("weights that lose more than the claim fail the audit of every kind of sampler", {
  samplers <- audited_samplers()
  more <- list(
    rr_realised = function(x) replace(x, c("certified_epsilon", "worst_log_ratio"), 5),
    block_realised = function(x) replace(x, c("certified_epsilon", "worst_log_ratio"), 5),
    channel_certify = function(x) utils::modifyList(x, list(epsilon = 5, worst_log_ratio = 5))
  )
  for (name in names(samplers)) {
    for (m in samplers[[name]]) {
      expect_true(audit(m)$ok)
      found <- audit_with(name, more[[name]], m)
      expect_false(found$audit$ok)
      expect_match(format(found$audit), "THE CLAIM FAILS", all = FALSE)
      attributes <- max(length(m$epsilon), 1)
      expect_equal(found$audit$worst_log_ratio, 5 * attributes, tolerance = 1e-14)
      expect_equal(found$realised, 5 * attributes, tolerance = 1e-14)
    }
  }
})

test_that("weights without their certificate fail the audit, whatever their loss as a double", {
  samplers <- audited_samplers()
  doubtful <- list(
    rr_realised = function(x) replace(x, "keeps", 0),
    block_realised = function(x) replace(x, "keeps", 0),
    channel_certify = function(x) utils::modifyList(x, list(certified = FALSE))
  )
  for (name in names(samplers)) {
    for (m in samplers[[name]]) {
      expect_false(audit_with(name, doubtful[[name]], m)$audit$ok)
    }
  }
})

test_that("the realised epsilon is that of the weights, also where more was asked", {
  m <- mech_matrix(rbind(c(.6, .4), c(.4, .6)), epsilon = 3)
  expect_identical(epsilon(m), 3)
  # some units of the weights, which are about 2^63
  expect_close(privacy(m)$epsilon_realised, log(1.5), 1e-15)
  expect_close(audit(m)$worst_log_ratio, log(1.5), 1e-15)
})

test_that("a bound from below is printed rounded down", {
  a <- audit(mech_rr(2, 1))
  a$draws <- 1000
  a$confidence <- .999
  for (bound in c(0, .99996, .123456, 1, 12.3456, 1 - 1e-9, .1 + .2)) {
    a$lower_bound <- bound
    line <- grep("is at least", format(a), value = TRUE)
    shown <- as.numeric(sub(".*is at least ([0-9.]+) .*", "\\1", line))
    expect_lte(shown, bound)
    expect_gte(shown, bound * (1 - 1.001e-3))
  }
})
