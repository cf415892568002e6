# The best mechanism for two hypotheses: optimality against independent solvers, privacy in whole
# numbers, bad input.

spr_case <- function(name) {
  normalise <- function(p) p / sum(p)
  switch(name,
    A = list(p0 = c(.05, .10, .15, .20, .22, .28), p1 = c(.30, .25, .18, .12, .10, .05)),
    B = list(p0 = dbinom(0:10, 10, .6), p1 = dbinom(0:10, 10, .4)),
    C = list(p0 = normalise(dpois(0:20, 4)), p1 = normalise(dpois(0:20, 6))),
    D = list(p0 = (1:50) / 1275, p1 = (50:1) / 1275)
  )
}

spr_on <- function(name, epsilon, ...) {
  case <- spr_case(name)
  mech_spr(case$p0, case$p1, epsilon, ...)
}

random_pair <- function(k, power = 1, zeros = 0) {
  draw <- function() {
    p <- stats::rexp(k)^power * (stats::runif(k) >= zeros)
    p[[sample.int(k, 1)]] <- 0.5
    p / sum(p)
  }
  list(p0 = draw(), p1 = draw())
}

# First sorted position of each block.
block_starts <- function(mechanism) {
  cumsum(c(1, utils::head(lengths(mechanism$blocks), -1)))
}

# The definitions, from the two distributions of a report.
naive_divergences <- list(
  kl = function(a, b) sum(a * log(a / b)),
  reverse_kl = function(a, b) sum(b * log(b / a)),
  tv = function(a, b) sum(abs(a - b)) / 2,
  chi2 = function(a, b) sum((a - b)^2 / b),
  hellinger2 = function(a, b) sum((sqrt(a) - sqrt(b))^2),
  js = function(a, b) sum(a * log(2 * a / (a + b)) + b * log(2 * b / (a + b))) / 2
)

test_that("the reference values are met to the digits printed", {
  reference <- list(
    list("A", 1, "kl", 0.080205118837895, 1e-15, c(1, 4)),
    list("A", 4, "kl", 0.44060207888639, 1e-14, c(1, 3, 4, 6)),
    list("A", 7, "hellinger2", 0.26372267245473, 1e-14, 1:6),
    list("B", 2, "kl", 0.28422455858171, 1e-14, c(1, 6, 7)),
    list("B", 4, "hellinger2", 0.28592255282049, 1e-14, c(1, 5, 6, 7, 8)),
    list("C", 2, "hellinger2", 0.070617361039559, 1e-15, c(1, 16, 17)),
    list("C", 7, "kl", 0.36673877067261, 1e-14, c(1, 12, 14:20)),
    list("D", 4, "kl", 0.62897637633533, 1e-14, c(1, 16, 29, 40)),
    list("D", 7, "kl", 0.84677088685161, 1e-14, c(1, 6, 11, 16, 20, 24, 28, 32, 36, 40, 44, 48)),
    list("C", 4, renyi(2), 0.5054590040167, 1e-13, c(1, 15, 17, 18, 19)),
    list("B", 4, renyi(5), 1.460059423256, 1e-12, c(1, 8)),
    list("A", 1, "chernoff", 0.0201473960767, 1e-13, c(1, 4)),
    list("B", 4, "chernoff", 0.154272176353, 1e-12, NULL),
    list("A", 1, hockey_stick(0.8), 0.080225691331, 1e-12, NULL),
    list("B", 1, hockey_stick(1.5), 0.042864590881, 1e-12, NULL),
    list("A", 2, renyi(Inf), 0.761674251625, 1e-12, NULL),
    list("B", 4, lr_distance(2), 0.636495648319, 1e-12, NULL)
  )
  for (row in reference) {
    m <- spr_on(row[[1]], row[[2]], row[[3]])
    expect_lte(abs(m$objective_value - row[[4]]), row[[5]])
    if (!is.null(row[[6]])) {
      expect_equal(block_starts(m), row[[6]])
      expect_identical(m$n_outputs, length(row[[6]]))
    }
  }
  few <- spr_on("A", 4, max_outputs = 2)
  expect_lte(abs(few$objective_value - 0.3695438365674), 1e-13)
  expect_equal(block_starts(few), c(1, 4))
  few <- spr_on("B", 4, max_outputs = 3)
  expect_lte(abs(few$objective_value - 0.580473326907), 1e-12)
  expect_equal(block_starts(few), c(1, 6, 8))
  expect_equal(spr_on("A", 1, "chernoff")$t, 0.5005, tolerance = 1e-4)
  expect_equal(spr_on("B", 4, "chernoff")$t, 0.5, tolerance = 1e-6)
  expect_identical(spr_on("B", 4, "chernoff")$n_outputs, 5L)
})

# Kairouz, Oh and Viswanath (2016): some optimal channel has columns from the 2^k patterns of 1 and
# e^epsilon only, so the optimum is a linear programme over their weights.
kov_optimum <- function(p0, p1, epsilon, f) {
  k <- length(p0)
  patterns <- as.matrix(expand.grid(rep(list(c(1, exp(epsilon))), k)))
  m0 <- as.vector(patterns %*% p0)
  m1 <- as.vector(patterns %*% p1)
  lpSolve::lp("max", m1 * f(m0 / m1), t(patterns), rep("=", k), rep(1, k))$objval
}

test_that("the mechanism reaches the optimum of the linear programme over all staircase channels", {
  skip_if_not_installed("lpSolve")
  withr::local_seed(2606)
  convex <- list(
    kl = function(x) x * log(x),
    tv = function(x) abs(x - 1) / 2,
    chi2 = function(x) (x - 1)^2,
    hellinger2 = function(x) (sqrt(x) - 1)^2,
    js = function(x) (x * log(2 * x / (1 + x)) + log(2 / (1 + x))) / 2,
    user = function(x) pmax(0, x - 1.2, 2 * (x - 2), 0.4 * (1 - x), 0.9 - x)
  )
  for (i in seq_len(if (extended()) 60 else 12)) {
    k <- 2 + i %% 7
    pair <- random_pair(k, power = 1 + i %% 2, zeros = if (i %% 4 == 0) 0.2 else 0)
    epsilon <- c(0.1, 0.5, 1, 2, 3, 5)[[1 + i %% 6]]
    for (name in names(convex)) {
      objective <- if (name == "user") convex$user else name
      m <- mech_spr(pair$p0, pair$p1, epsilon, objective)
      # lpSolve works to about 1e-11 of its coefficients, which reach exp(epsilon) times f
      optimum <- kov_optimum(pair$p0, pair$p1, epsilon, convex[[name]])
      expect_lte(abs(m$objective_value - optimum), 1e-8)
    }
  }
})

test_that("the value is the divergence of the two distributions that the channel gives reports", {
  withr::local_seed(1)
  for (i in 1:6) {
    pair <- random_pair(9)
    for (name in names(naive_divergences)) {
      m <- mech_spr(pair$p0, pair$p1, i / 2, name)
      channel <- as.matrix(m)
      expect_equal(as.vector(pair$p0 %*% channel), m$output_p0, tolerance = 1e-13)
      expect_equal(as.vector(pair$p1 %*% channel), m$output_p1, tolerance = 1e-13)
      divergence <- naive_divergences[[name]]
      expect_equal(divergence(m$output_p0, m$output_p1), m$objective_value, tolerance = 1e-11)
      expect_equal(divergence(pair$p0, pair$p1), m$nonprivate_value, tolerance = 1e-12)
      expect_lte(m$bounds[[1]], m$bounds[[2]])
    }
  }
})

test_that("blocks hold every level once, in ascending likelihood ratio", {
  withr::local_seed(2)
  pair <- random_pair(30, zeros = 0.2)
  names(pair$p0) <- names(pair$p1) <- paste0("level", 1:30)
  m <- mech_spr(pair$p0, pair$p1, 3)
  expect_setequal(unlist(m$blocks), levels(m))
  expect_length(unlist(m$blocks), 30)
  ratio <- (pair$p0 / pair$p1)[unlist(m$blocks)]
  massless <- pair$p0 + pair$p1 == 0
  expect_false(is.unsorted(ratio[!is.nan(ratio)]))
  expect_identical(sum(is.nan(ratio)), sum(massless))
  # reports lose P0 / P1 in the same order
  expect_false(is.unsorted(m$output_p0 / m$output_p1))
})

test_that("no report is more than exp(epsilon) times likelier under one level than another", {
  skip_if_not_installed("gmp")
  for (epsilon in c(1e-9, 0.5, 1, 4, 7, 44, 1e308)) {
    for (case in c("A", "B", "D")) {
      m <- spr_on(case, epsilon)
      skip_if(m$n_outputs == 1)
      w <- exact_weights(epsilon, m$n_outputs)
      bound <- exp_bounds(min(epsilon, 44))
      expect_true(w$truthful * bound$unit <= bound$lower * w$other)
      # the channel that is shown is the one of these integers
      channel <- as.matrix(m)
      expect_equal(max(channel), as.numeric(gmp::as.bigq(w$truthful, w$total)), tolerance = 1e-14)
      expect_equal(min(channel), as.numeric(gmp::as.bigq(w$other, w$total)), tolerance = 1e-14)
      result <- audit(m)
      expect_true(result$ok)
      expect_lte(result$worst_log_ratio, epsilon)
      expect_lte(privacy(m)$epsilon_realised, epsilon)
    }
  }
})

test_that("reports follow the channel", {
  m <- spr_on("A", 2)
  channel <- as.matrix(m)
  withr::local_seed(99)
  for (level in c(1, 4)) {
    reports <- privatize(rep(level, 20000), m, rng = "r")
    counts <- count_reports(reports, m)$counts
    # chi-squared beyond its 1e-6 quantile: wrong once in a million seeds
    statistic <- sum((counts - 20000 * channel[level, ])^2 / (20000 * channel[level, ]))
    expect_lt(statistic, stats::qchisq(1 - 1e-6, ncol(channel) - 1))
  }
  expect_s3_class(reports, "factor")
  expect_identical(levels(reports), as.character(seq_len(m$n_outputs)))
  expect_true(audit(m, draws = 20000, rng = "r")$ok)
})

test_that("every verb works on the mechanism", {
  p0 <- c(none = .05, few = .25, some = .3, many = .4)
  p1 <- c(many = .1, none = .3, few = .4, some = .2)
  m <- mech_spr(p0, p1, 2)
  expect_s3_class(m, c("confide_spr", "confide_mechanism"), exact = TRUE)
  expect_identical(levels(m), names(p0))
  expect_identical(epsilon(m), 2)
  expect_identical(dim(m), c(4L, m$n_outputs))
  expect_identical(dim(as.matrix(m)), dim(m))
  expect_equal(unname(rowSums(as.matrix(m))), rep(1, 4))
  expect_identical(update(m, epsilon = 1)$epsilon, 1)
  expect_identical(update(m, epsilon = 2)$fingerprint, m$fingerprint)
  expect_identical(update(m, objective = "tv")$n_outputs, 2L)
  sets <- simulate(m, nsim = 2, seed = 1, x = c("none", "many"))
  expect_identical(dim(sets), c(2L, 2L))
  posterior <- predict(m, c("1", "2"))
  expect_equal(rowSums(posterior), c(1, 1))
  # Bayes' rule by hand
  expect_equal(unname(posterior[1, ]), unname(as.matrix(m)[, 1] / sum(as.matrix(m)[, 1])))
  counts <- count_reports(c("1", "2", "2"), m)
  expect_identical(nobs(c(counts, counts)), 6L)
  other <- update(m, epsilon = 1)
  reports <- privatize("none", m)
  expect_confide_error(private_test(reports, other), "mechanism")
  file <- withr::local_tempfile()
  saveRDS(m, file)
  expect_identical(readRDS(file), m)
})

test_that("shares are estimated where every level is its own block, else refused with advice", {
  p0 <- c(a = .5, b = .3, c = .2)
  p1 <- c(a = .2, b = .3, c = .5)
  whole <- mech_spr(p0, p1, 8)
  expect_identical(whole$n_outputs, 3L)
  truth <- c(.2, .5, .3)
  expected <- as.table(stats::setNames(1e6 * as.vector(truth %*% as.matrix(whole)), 1:3))
  expect_equal(unname(coef(estimate(expected, whole))), truth, tolerance = 1e-9)
  expect_confide_error(
    estimate(c("1" = 5, "2" = 6), mech_spr(p0, p1, 1)), "parameter", c("mech_rr", "private_test")
  )
})

test_that("epsilon 0, equal hypotheses and one output give a constant report", {
  p <- c(a = .2, b = .3, c = .5)
  other <- c(a = .5, b = .3, c = .2)
  single <- mech_spr(p, other, 3, max_outputs = 1)
  for (m in list(mech_spr(p, other, 0), mech_spr(p, p, 3), single)) {
    before <- random_state()
    reports <- privatize(c("a", "c", "b"), m, rng = "r")
    expect_identical(random_state(), before)
    expect_identical(as.character(as_plain(reports)), rep("1", 3))
    expect_identical(m$n_outputs, 1L)
    expect_equal(m$objective_value, 0)
    expect_true(audit(m, draws = 10)$ok)
    expect_identical(audit(m)$worst_log_ratio, 0)
    expect_prints_small(m)
    expect_identical(dim(as.matrix(m)), c(3L, 1L))
  }
  expect_match(flatten_text(format(mech_spr(p, p, 3))), "hypotheses are equal")
  nearly <- p + c(1e-13, -1e-13, 0)
  expect_match(flatten_text(format(mech_spr(p, nearly, 3))), "hypotheses are equal")
})

test_that("ties, zeros and the order of the levels change nothing but names", {
  case <- spr_case("A")
  m <- mech_spr(case$p0, case$p1, 4)
  # every symbol split in two of the same ratio
  split <- mech_spr(rep(case$p0 / 2, 2), rep(case$p1 / 2, 2), 4)
  expect_equal(split$objective_value, m$objective_value, tolerance = 1e-13)
  expect_identical(split$block[1:6], m$block)
  expect_identical(split$block[7:12], m$block)
  # a symbol that neither hypothesis gives is legal input
  padded <- mech_spr(c(case$p0, 0), c(case$p1, 0), 4)
  expect_identical(padded$objective_value, m$objective_value)
  expect_length(privatize(7, padded), 1)
  # likelihood ratios of 0 and Inf
  extreme <- mech_spr(c(.5, .5, 0), c(0, .5, .5), 1)
  expect_true(is.finite(extreme$objective_value))
  expect_identical(extreme$nonprivate_value, Inf)
  expect_prints_small(extreme)
  shuffled <- mech_spr(case$p0[c(3, 1, 6, 2, 5, 4)], case$p1[c(3, 1, 6, 2, 5, 4)], 4)
  expect_equal(shuffled$objective_value, m$objective_value, tolerance = 1e-14)
})

test_that("a named objective and the same function given by the user agree", {
  withr::local_seed(5)
  pair <- random_pair(12)
  for (epsilon in c(0.5, 3)) {
    user <- mech_spr(pair$p0, pair$p1, epsilon, function(x) x * log(x))
    named <- mech_spr(pair$p0, pair$p1, epsilon)
    expect_equal(user$objective_value, named$objective_value, tolerance = 1e-12)
    expect_identical(user$block, named$block)
  }
})

test_that("a user's function is kept only where it carries no data along", {
  p0 <- c(.5, .3, .2)
  p1 <- c(.2, .3, .5)
  leaky <- local({
    secret <- "marker-of-private-data"
    power <- 2
    list(free = function(x) (x - 1)^2, bound = function(x) abs(x - 1)^power)
  })
  for (f in leaky) {
    m <- mech_spr(p0, p1, 2, f)
    expect_holds_no("marker-of-private-data", m)
    expect_equal(m$objective_value, mech_spr(p0, p1, 2, "chi2")$objective_value, tolerance = 1e-12)
  }
  expect_identical(update(mech_spr(p0, p1, 2, leaky$free), epsilon = 1)$epsilon, 1)
  expect_confide_error(update(m, epsilon = 1), "parameter", "was not kept")
  expect_identical(update(m, epsilon = 1, objective = "kl")$epsilon, 1)
})

test_that("a function that is not convex, not finite, not vectorised or not 0 at 1 is refused", {
  p0 <- c(.5, .3, .2)
  p1 <- c(.2, .3, .5)
  wrong <- list(
    function(x) -(x - 1)^2, function(x) x, function(x) 1 / (x - 1), function(x) 0, function(x) "a",
    function(x) if (x > 1) x - 1 else 0, function() 1, function(x) stop("broken")
  )
  for (f in wrong) {
    expect_confide_error(mech_spr(p0, p1, 1, f), "parameter", "vectorised, finite above 0, convex")
  }
})

test_that("what are not two distributions over the same levels is refused", {
  good <- c(a = .2, b = .3, c = .5)
  refused <- function(p0, p1 = good, says = NULL) {
    expect_confide_error(mech_spr(p0, p1, 1), "parameter", says)
  }
  refused(good * 0.999, says = "0.999")
  refused(good * 1.001, says = "1.001")
  refused(replace(good, 1, -1e-17))
  for (value in c(NA, NaN, Inf)) refused(replace(good, 1, value))
  refused(good * 0, says = "It sums to 0")
  refused(c(a = 1), c(a = 1), says = "at least two categories")
  refused(numeric(), numeric())
  refused("a")
  refused(NULL)
  refused(list(a = 1, b = 0, c = 0))
  refused(factor(letters[1:3]))
  refused(good, good[1:2])
  refused(good, c(a = .2, b = .3, d = .5), says = "same names")
  refused(good, unname(good), says = "same names")
  rename <- function(names) stats::setNames(good, names)
  refused(rename(c("a", "a", "c")), rename(c("a", "a", "c")), says = "distinct")
  refused(rename(c("a", NA, "c")), rename(c("a", NA, "c")))
  expect_s3_class(mech_spr(good * (1 + 5e-10), good, 1), "confide_spr")
  expect_confide_error(mech_spr(), "parameter")
  expect_confide_error(mech_spr(good, good), "parameter")
  for (value in list(NA, -1, Inf, "1", c(1, 2), TRUE, factor(1))) {
    expect_confide_error(mech_spr(good, good, value), "parameter")
  }
  expect_confide_error(mech_spr(good, good, 1, "nonsense"), "parameter", "hockey_stick")
  expect_confide_error(mech_spr(good, good, 1, 3), "parameter")
  expect_confide_error(mech_spr(good, good, 1, max_outputs = 0), "parameter")
  expect_confide_error(mech_spr(good, good, 1, max_outputs = 1.5), "parameter")
  expect_confide_error(mech_spr(good, good, 1, tolerance = -1), "parameter")
  expect_confide_error(mech_spr(good, good, 1, max = 2), "parameter", "max")
  expect_confide_error(hockey_stick(-1), "parameter")
  expect_confide_error(renyi(0), "parameter")
  expect_confide_error(lr_distance(0.5), "parameter")
  expect_confide_error(hockey_stick(), "parameter")
})

test_that("values outside the levels are refused with one text", {
  m <- mech_spr(c(a = .2, b = .8), c(a = .7, b = .3), 1)
  expect_same_domain_error(list("z", c("a", NA), c("a", "B")), m)
  expect_same_domain_error(list(1, TRUE, 1i), m)
})

test_that("a changed mechanism is refused", {
  m <- spr_on("A", 2)
  m$block[[1]] <- 2L
  expect_confide_error(privatize(1, m), "internal")
})

test_that("mechanisms and objectives print within 12 lines of 80 columns", {
  for (case in c("A", "B", "C", "D")) {
    for (epsilon in c(0.5, 4, 7, 100)) expect_prints_small(spr_on(case, epsilon))
  }
  expect_prints_small(spr_on("B", 4, "chernoff"))
  names <- paste("a level with quite a long name, number", 1:12)
  pair <- list(p0 = stats::setNames((1:12) / 78, names), p1 = stats::setNames((12:1) / 78, names))
  expect_prints_small(mech_spr(pair$p0, pair$p1, 3))
  for (x in list(renyi(2), hockey_stick(1.5), lr_distance(Inf))) expect_prints_small(x)
  expect_prints_small(audit(spr_on("A", 4)))
  expect_prints_small(privacy(spr_on("A", 4)))
  expect_prints_small(spr_comparison(c(.2, .8), c(.7, .3)))
})

test_that("a million levels are solved, sampled and printed", {
  skip_on_cran()
  withr::local_seed(8)
  k <- 1e6
  pair <- list(p0 = stats::rexp(k), p1 = stats::rexp(k))
  m <- mech_spr(pair$p0 / sum(pair$p0), pair$p1 / sum(pair$p1), 2)
  expect_equal(m$bounds[[1]], m$bounds[[2]], tolerance = 1e-13)
  # any cut is a lower bound; the best cut in two, by hand
  ratio <- order(pair$p0 / pair$p1)
  c <- expm1(2)
  law <- function(p) {
    below <- (1 + c * cumsum(p[ratio] / sum(p))) / (c + 2)
    cbind(below, 1 - below)
  }
  m0 <- law(pair$p0)
  m1 <- law(pair$p1)
  expect_gte(m$objective_value, max(rowSums(m0 * log(m0 / m1))))
  expect_length(privatize(c(1, 500000, 1e6), m), 3)
  expect_prints_small(m)
  expect_true(audit(m)$ok)
})

test_that("the rivals of the comparison are what they are said to be, and none beats the best", {
  case <- spr_case("D")
  comparison <- spr_comparison(case$p0, case$p1, c(0, 1, 4), max_outputs = 3)
  values <- stats::xtabs(value ~ epsilon + mechanism, comparison)
  expect_true(all(values <= values[, "best"] + 1e-14))
  expect_true(all(values <= attr(comparison, "nonprivate_value")))
  law <- function(p, channel) as.vector(p %*% channel)
  kl <- naive_divergences$kl
  for (epsilon in c(1, 4)) {
    all <- (matrix(1, 50, 50) + diag(expm1(epsilon), 50)) / (exp(epsilon) + 49)
    half <- cbind(case$p0 < case$p1, case$p0 >= case$p1)
    binary <- (1 + expm1(epsilon) * half) / (exp(epsilon) + 1)
    row <- values[as.character(epsilon), ]
    expect_equal(row[["k-ary response"]], kl(law(case$p0, all), law(case$p1, all)))
    expect_equal(row[["binary response"]], kl(law(case$p0, binary), law(case$p1, binary)))
    few <- mech_spr(case$p0, case$p1, epsilon, max_outputs = 3)
    expect_equal(row[["few reports"]], few$objective_value)
  }
  named <- lapply(case, stats::setNames, paste0("level", 1:50))
  expect_identical(
    spr_comparison(named$p0, named$p1, 1)$value, spr_comparison(case$p0, case$p1, 1)$value
  )
  expect_confide_error(spr_comparison(case$p0, case$p1, -1), "parameter")
  expect_confide_error(spr_comparison(case$p0, case$p1, 1, max_outputs = 1), "parameter")
})

test_that("plots are made for few and many levels, finite and infinite ratios", {
  for (m in list(
    spr_on("A", 4), spr_on("D", 4), mech_spr(c(.5, .5, 0), c(0, .5, .5), 1),
    mech_spr(c(.5, .5), c(.5, .5), 1),
    mech_spr_continuous(function(x) pnorm(x), function(x) pnorm(x, 1), 2)
  )) {
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(m)), "ggplot_built")
  }
  comparison <- spr_comparison(c(.5, .5, 0), c(0, .5, .5), c(1, 2))
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(comparison)), "ggplot_built")
})

test_that("reports follow the matrix where there are more than two blocks", {
  p <- c(a = 0.18, b = 0.22, c = 0.28, d = 0.19, e = 0.09, f = 0.04)
  q <- c(a = 0.26, b = 0.26, c = 0.27, d = 0.14, e = 0.05, f = 0.02)
  m <- mech_spr(p, q, epsilon = 4)
  expect_gt(m$n_outputs, 2)
  withr::local_seed(6)
  n <- 20000
  for (level in names(p)) {
    found <- tabulate(as_plain(privatize(rep(level, n), m, rng = "r")), m$n_outputs) / n
    law <- as.matrix(m)[level, ]
    expect_lt(max(abs(found - law) / sqrt(law * (1 - law) / n)), 5)
  }
})

test_that("the certificate is relative to what is attained and printed rounded up", {
  shown <- function(lower, upper) {
    text <- format_certificate(c(lower = lower, upper = upper))
    as.numeric(sub(".* by more than (.*) %$", "\\1", text))
  }
  for (gap in c(1.49e-4, 1.01e-4, 9.6e-4, .5, 1, 3e-9, 7.2e-12)) {
    exact <- 100 * ((.3 + .3 * gap) - .3) / .3
    found <- shown(.3, .3 + .3 * gap)
    expect_gte(found, exact * (1 - 1e-11))
    # one digit: at most twice as much
    expect_lte(found, 2 * exact)
  }
  expect_identical(shown(2, 3), 50)
  expect_match(format_certificate(c(0, .12345)), "attains more than 0.1235")
  for (exact in list(c(.3, .3), c(0, 0), c(Inf, Inf))) {
    expect_identical(format_certificate(exact), "no private mechanism does better")
  }
})
