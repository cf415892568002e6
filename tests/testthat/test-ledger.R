test_that("charges add up exactly and a limit is kept", {
  l <- ledger(8, neighbours = "add_remove", limit = 1)
  for (i in 1:10) charge(l, epsilon = 0.1)
  # the sum of ten doubles 0.1 is 1 + 5.55e-17: within the tolerance, rounded up to a double
  expect_identical(spent(l), 1 + 2^-52)
  error <- expect_confide_error(charge(l, epsilon = 1e-6, what = "one more"), "budget", "one more")
  expect_match(error, "limit is 1", fixed = TRUE)
  expect_identical(spent(l), 1 + 2^-52)
  expect_identical(nrow(as.data.frame(l)), 10L)
  charge(l, epsilon = 0)
  expect_identical(nrow(as.data.frame(l)), 11L)
})

test_that("fifty Gaussians of the derivation's example are admitted and no more", {
  l <- ledger(8, neighbours = "replace", limit = 0.5)
  admitted <- 0
  repeat {
    done <- tryCatch(
      {
        charge(l, epsilon = cost_gaussian(8, 1, 20))
        FALSE
      },
      confide_error_budget = function(error) TRUE
    )
    if (done) break
    admitted <- admitted + 1
  }
  expect_identical(admitted, 50)
})

test_that("of disjoint parts the largest counts, and what concerns everybody adds to each", {
  l <- ledger(20, neighbours = "add_remove")
  charge(l, epsilon = 0.5, part = "train")
  charge(l, epsilon = 0.25, part = "validation")
  expect_identical(spent(l), 0.5)
  charge(l, epsilon = 0.5, part = "validation", what = "check")
  expect_identical(spent(l), 0.75)
  charge(l, epsilon = 1)
  expect_identical(spent(l), 1.75)
  entries <- as.data.frame(l)
  expect_identical(entries$part, c("train", "validation", "validation", NA))
  expect_identical(entries$what, c("number", "number", "check", "number"))
  expect_identical(entries$epsilon, c(0.5, 0.25, 0.5, 1))
})

test_that("a refund takes back what a worst case was too large by", {
  l <- ledger(20, neighbours = "add_remove")
  charge(l, epsilon = 0.5, part = "a")
  charge(l, epsilon = 0.4, part = "b")
  ledger_refund(l$handle, "threshold", "a", 0.375)
  expect_identical(spent(l), 0.4)
  expect_identical(as.data.frame(l)$epsilon, c(0.5, 0.4, -0.375))
})

test_that("releases are charged before their noise, at their realised cost", {
  l <- ledger(8, neighbours = "replace", limit = 1)
  count <- private_count(c(TRUE, FALSE), rho = 0.05, neighbours = "replace", ledger = l)
  expect_equal(spent(l), 8 * privacy(count)$rho_realised, tolerance = 1e-12)
  expect_gte(spent(l), 8 * privacy(count)$rho_realised)
  before <- spent(l)
  pure <- private_count(c(TRUE, FALSE), epsilon = 0.1, neighbours = "replace", ledger = l)
  # a count moves by one step, for which the bound of pure privacy is exact
  expect_equal(spent(l) - before, cost_pure(8, 0.1), tolerance = 1e-6)
  before <- spent(l)
  total <- private_sum(1:3, bound = 4, epsilon = 0.2, neighbours = "replace", ledger = l)
  # on a fine grid it is nearly the continuous law's
  fine <- log(8 / 15 * exp(7 * 0.2) + 7 / 15 * exp(-8 * 0.2)) / 7
  expect_equal(spent(l) - before, fine, tolerance = 1e-6)
  before <- spent(l)
  expect_confide_error(
    private_sum(1:3, bound = 4, rho = 1, neighbours = "replace", ledger = l), "budget", "limit"
  )
  expect_identical(spent(l), before)
  expect_confide_error(charge(l, count), "parameter", "was charged")
  expect_identical(as.data.frame(l)$what, c("private_count", "private_count", "private_sum"))
})

test_that("what a ledger cannot pay for is refused before any noise, by every release", {
  drawn <- 0
  counting <- function(code) {
    confide:::with_guard(function(units, query, rng) {
      drawn <<- drawn + 1
      confide:::noisy_answer(units, query, rng)
    }, code)
  }
  l <- ledger(8, neighbours = "replace", limit = 1e-6)
  x <- matrix(c(1:40, 40:1) / 10, ncol = 2)
  people <- data.frame(
    a = factor(rep(c("x", "y"), 20)), b = factor(rep(c("u", "v"), each = 20)),
    c = factor(rep(c("p", "q", "p", "q"), 10))
  )
  b <- brownian(5L, sensitivity = 1, alpha = 8, ledger = l)
  releases <- list(
    function() private_sum(1:3, bound = 4, rho = 1, neighbours = "replace", ledger = l),
    function() private_count(c(TRUE, FALSE), rho = 1, neighbours = "replace", ledger = l),
    function() private_mean(x, rho = 1, sigma = "none", ledger = l),
    function() refine(b, sigma = 1),
    function() {
      above_threshold(3, 1, epsilon = 1, monotone = FALSE, neighbours = "replace", ledger = l)
    },
    function() synthesize(people, rho = 1, neighbours = "replace", ledger = l),
    function() synthesize(people, epsilon = 1, alpha = 8, neighbours = "replace", ledger = l),
    function() {
      accuracy_first(
        1:50, 51:90, function(previous, people, level) NULL, identity, function(m, v) v > 0,
        threshold = 0.5, grid = 1, alpha = 8, neighbours = "replace", ledger = l
      )
    }
  )
  for (release in releases) {
    expect_confide_error(counting(release()), "budget")
    expect_identical(drawn, 0)
  }
  expect_identical(spent(l), 0)
  # the guard sees what is drawn
  counting(private_sum(1:3, bound = 4, rho = 1, neighbours = "replace"))
  expect_identical(drawn, 1)
})

test_that("a domain error comes before any charge", {
  l <- ledger(8, neighbours = "replace")
  expect_confide_error(
    private_sum(c(1, NA), bound = 1, rho = 1, neighbours = "replace", ledger = l), "domain"
  )
  expect_confide_error(
    private_count(c(TRUE, NA), rho = 1, neighbours = "replace", ledger = l), "domain"
  )
  expect_identical(spent(l), 0)
})

test_that("releases can be charged afterwards, once their neighbours agree", {
  l <- ledger(8, neighbours = "add_remove")
  release <- private_sum(1:3, bound = 4, rho = 0.1, neighbours = "add_remove")
  charge(l, release)
  expect_equal(spent(l), 0.8, tolerance = 1e-6)
  other <- private_sum(1:3, bound = 4, rho = 0.1, neighbours = "replace")
  expect_confide_error(charge(l, other), "parameter", "neighbours")
  reports <- privatize(c("a", "b"), mech_rr(c("a", "b"), epsilon = 1))
  expect_confide_error(charge(l, reports), "parameter", "neighbours")
  replace <- ledger(8, neighbours = "replace")
  charge(replace, reports)
  charge(replace, mech_rr(c("a", "b"), epsilon = 1))
  expect_equal(spent(replace), 2 * cost_pure(8, 1), tolerance = 1e-6)
})

test_that("simulations are not charged", {
  l <- ledger(8, neighbours = "replace")
  simulated <- private_count(TRUE, rho = 1, neighbours = "replace", rng = "r")
  expect_confide_error(charge(l, simulated), "simulation")
  reports <- privatize("a", mech_rr(c("a", "b"), epsilon = 1), rng = "r")
  expect_confide_error(charge(l, reports), "simulation")
  set.seed(1)
  expect_confide_error(
    private_count(TRUE, rho = 1, neighbours = "replace", rng = "r", ledger = l), "simulation"
  )
  expect_identical(spent(l), 0)
})

test_that("a copy in a file or in another process cannot spend", {
  l <- ledger(8, neighbours = "replace", limit = 1)
  file <- withr::local_tempfile()
  saveRDS(l, file)
  restored <- readRDS(file)
  expect_confide_error(charge(restored, epsilon = 0.1), "budget", "went through a file")
  expect_confide_error(spent(restored), "budget")
  expect_match(format(restored)[[2]], "went through a file")
  skip_on_os("windows")
  answers <- parallel::mclapply(1:2, function(i) {
    tryCatch(charge(l, epsilon = 0.1), error = function(error) class(error)[[1]])
  }, mc.cores = 2)
  expect_identical(answers, rep(list("confide_error_budget"), 2))
  charge(l, epsilon = 0.1)
  expect_identical(spent(l), 0.1)
})

test_that("copies are one ledger, and an altered one is refused", {
  l <- ledger(8, neighbours = "replace")
  copy <- l
  charge(copy, epsilon = 0.25)
  expect_identical(spent(l), 0.25)
  copy$alpha <- 2
  expect_confide_error(charge(copy, epsilon = 0.25), "internal", "altered")
  expect_confide_error(as_approx_dp(copy, delta = 1e-5), "internal", "altered")
})

test_that("arguments out of range are refused", {
  expect_confide_error(ledger(neighbours = "replace"), "parameter", "alpha")
  expect_confide_error(ledger(8), "parameter", "neighbours")
  expect_confide_error(ledger(8, neighbours = "swap"), "parameter", "neighbours")
  expect_confide_error(ledger(8, neighbours = "replace", limit = 0), "parameter", "limit")
  expect_confide_error(ledger(8, neighbours = "replace", lim = 1), "parameter", "lim")
  l <- ledger(8, neighbours = "replace")
  expect_confide_error(charge(1, epsilon = 1), "parameter", "ledger")
  expect_confide_error(charge(l), "parameter", "Neither")
  expect_confide_error(charge(l, 1), "parameter", "epsilon = number")
  expect_confide_error(charge(l, epsilon = 1, part = ""), "parameter", "part")
  for (epsilon in list(-1, NA, Inf, "1", TRUE, c(1, 2))) {
    expect_confide_error(charge(l, epsilon = epsilon), "parameter", "epsilon")
  }
  expect_identical(spent(l), 0)
})

test_that("a ledger of many entries stays exact", {
  l <- ledger(8, neighbours = "replace")
  for (i in 1:20000) charge(l, epsilon = 0.1)
  # the double 0.1 is 0.1 + 5.55e-18; doubles near 2000 are 2^-42 apart
  expect_identical(spent(l), 2000 + 2^-42)
})

test_that("a ledger prints small and says what holds", {
  l <- ledger(20, neighbours = "add_remove", limit = 1)
  expect_prints_small(l)
  for (part in c("train", "validation", "c", "d", "e", "f")) {
    charge(l, epsilon = 10^(-4 / 3), part = part)
  }
  expect_prints_small(l)
  shown <- format(l)
  expect_match(shown, "spent 0.04642 of 1 in 6 charges", fixed = TRUE, all = FALSE)
  expect_match(shown, "add or remove it", fixed = TRUE, all = FALSE)
  statement <- format(privacy(l))
  expect_match(statement, "at alpha = 20", fixed = TRUE, all = FALSE)
  expect_identical(epsilon(l, delta = 1e-5), as_approx_dp(l, delta = 1e-5))
  expect_confide_error(epsilon(l), "parameter", "delta")
})

test_that("a release with Gaussian noise converts at a delta", {
  release <- private_count(c(TRUE, FALSE), rho = 0.1, neighbours = "replace")
  expect_equal(epsilon(release, delta = 1e-6), 2.14193892838547, tolerance = 1e-10)
  expect_confide_error(epsilon(release), "parameter", "delta")
  pure <- private_count(c(TRUE, FALSE), epsilon = 1, neighbours = "replace")
  expect_identical(epsilon(pure, delta = 1e-6), 1)
})

# Definitions on finite mechanisms: p and q over outputs with certificates, both directions.
excess <- function(p, q, epsilon, alpha) sum(exp((1 - alpha) * epsilon) * p^alpha * q^(1 - alpha))

test_that("a certificate serves at its own order and below, not above", {
  descent <- private_classifier(
    iris[1:2], iris$Species, 0.5, 8,
    neighbours = "add_remove", records = 150, bound = 10
  )
  for (alpha in c(2, 8)) {
    l <- ledger(alpha, neighbours = "add_remove")
    charge(l, descent)
    expect_equal(spent(l), descent$epsilon, tolerance = 1e-15)
  }
  l <- ledger(9, neighbours = "add_remove")
  expect_confide_error(charge(l, descent), "parameter", "hold at the alpha of the ledger")
  expect_identical(spent(l), 0)
})

merged <- function(x, groups) as.vector(tapply(x, groups, sum))

test_that("merging outputs breaks probabilistic ex-post privacy and not the hockey stick's", {
  p <- c(.01, .40, .59)
  q <- c(0, .20, .80)
  loss <- log(p / q)
  expect_equal(sum(p[loss > log(2) + 1e-12]), .01)
  together <- log(merged(p, c(1, 1, 2)) / merged(q, c(1, 1, 2)))
  expect_equal(together[[1]], 0.71784, tolerance = 1e-5)
  expect_equal(sum(merged(p, c(1, 1, 2))[together > log(2)]), .41)
  # the hockey stick's delta does not grow
  delta <- function(p, q) sum(pmax(p - 2 * q, 0))
  expect_lte(delta(merged(p, c(1, 1, 2)), merged(q, c(1, 1, 2))), delta(p, q) + 1e-15)
})

test_that("merging outputs of one certificate never raises the Renyi excess", {
  set.seed(20266)
  for (i in 1:200) {
    p <- prop.table(rexp(6))
    q <- prop.table(rexp(6))
    epsilon <- rep(runif(3), each = 2)
    for (alpha in c(1.5, 4, 20)) {
      groups <- c(1, 1, 2, 2, 3, 3)
      coarse <- excess(merged(p, groups), merged(q, groups), epsilon[c(1, 3, 5)], alpha)
      expect_lte(coarse, excess(p, q, epsilon, alpha) * (1 + 1e-12))
    }
  }
})

test_that("pure ex-post certificates hold at every order, and not with alpha epsilon^2 / 2", {
  # one bit, and of each output the exact loss as its certificate
  p <- c(.1, .9)
  q <- c(.25, .75)
  epsilon <- abs(log(p / q))
  for (alpha in c(1.1, 2, 20)) {
    expect_lte(excess(p, q, epsilon, alpha), 1 + 1e-12)
    expect_lte(excess(q, p, epsilon, alpha), 1 + 1e-12)
  }
  expect_gt(excess(p, q, 1.1 * epsilon^2 / 2, 1.1), 1)
  # a certificate at alpha holds at smaller orders
  at_four <- log(excess(p, q, 0, 4)) / 3
  expect_lte(excess(p, q, at_four, 2), 1)
  expect_gt(excess(p, q, at_four, 8), 1)
})

test_that("a ledger changed by hand is refused", {
  l <- ledger(8, neighbours = "replace")
  for (field in list(list(neighbours = "add_remove"), list(alpha = 4))) {
    changed <- l
    changed[names(field)] <- field
    expect_error(charge(changed, epsilon = 1), "altered by hand", class = "confide_error_internal")
  }
  expect_identical(spent(l), 0)
})

test_that("a handle of another kind in a ledger's place is not read", {
  l <- ledger(8, neighbours = "replace")
  b <- brownian(1, sensitivity = 1, alpha = 8)
  swapped <- l
  swapped$handle <- b$handle
  expect_confide_error(spent(swapped), "budget")
  expect_confide_error(charge(swapped, epsilon = 1), "budget")
  b$handle <- l$handle
  expect_confide_error(refine(b, sigma = 1), "parameter")
})

test_that("a release altered by hand is not charged for less", {
  l <- ledger(8, neighbours = "replace")
  release <- private_sum(1:3, bound = 2, rho = 0.5, neighbours = "replace")
  reports <- privatize(c("1", "2"), mech_rr(2, 1))
  cheaper <- list(
    utils::modifyList(release, list(privacy = list(rho_realised = 0.1))),
    utils::modifyList(release, list(privacy = list(rho_realised = -1))),
    utils::modifyList(mech_rr(2, 1), list(privacy = list(epsilon_realised = 0.1)))
  )
  for (object in cheaper) {
    expect_confide_error(charge(l, object), "internal", "failed its certificate")
  }
  attr(reports, "confide")$privacy$epsilon_realised <- NaN
  expect_confide_error(charge(l, reports), "internal", "failed its certificate")
  expect_identical(spent(l), 0)
})
