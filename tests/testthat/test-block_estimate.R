# Estimates from block designs: decoding against least squares and naive sums, uncertainty against
# exact laws and simulation.

named_counts <- function(x) stats::setNames(x, seq_along(x))

test_that("the quadratic residues modulo 7 decode to the published numbers", {
  m <- mech_block(7, 1, design = "Paley(7)")
  counts <- named_counts(c(3, 1, 4, 1, 5, 9, 2))
  # x + {1, 2, 4}: sums of three counts by hand
  expect_identical(
    as.vector(block_sums(block_tables(m$design, 7), cbind(unname(counts)), 1)),
    c(10, 14, 8, 17, 12, 9, 5)
  )
  estimate <- estimate(counts, m)
  expected <- c(
    0.0418023293131, 0.6077092851599, -0.2411511486103, 1.0321395020450, 0.3247558072365,
    -0.0996744096486, -0.6655813654955
  )
  expect_close(coef(estimate), expected, within = 1e-9) # the integers are 1e-10 off e
  channel <- incidence_channel(cyclic_incidence(7, c(1, 2, 4)), 1)
  expect_close(coef(estimate), solve(t(channel), counts / 25), within = 1e-8)
  projected <- c(0, 0.2861744203461, 0, 0.7106046372312, 0.0032209424227, 0, 0)
  expect_close(coef(estimate(counts, m, method = "simplex")), projected, within = 1e-8)
})

test_that("a Sylvester design decodes as its Walsh-Hadamard transform does by hand", {
  tables <- block_tables(mech_block(7, 1, design = "Hadamard(8)")$design, 7)
  sums <- block_sums(tables, cbind(c(3, 1, 4, 1, 5, 9, 2)), 1)
  expect_identical(as.vector(sums), c(11, 9, 7, 8, 8, 14, 18))
})

test_that("the tables kept for the session are those of the design that is asked for", {
  counts <- cbind(c(3, 1, 4, 1, 5, 9, 2))
  first <- mech_block(7, 1, design = "PG(2,2)")$design
  other <- mech_block(5, 1, design = "PG(2,2)")$design
  expect_length(block_sums(block_tables(first, 7), counts, 1), 7)
  expect_length(block_sums(block_tables(other, 5), counts, 1), 5)
  inside <- block_rows(block_layout(first), 1:7, 7) + 0
  expect_identical(
    as.vector(block_sums(block_tables(first, 7), counts, 1)), as.vector(t(counts) %*% inside)
  )
})

test_that("sums over a design are those of its incidence matrix, for every kind of transform", {
  withr::local_seed(20260604)
  names <- c(
    "quartic(101)", "PG(3,3)", "residual PG(2,9)", "derived PG(4,2)", "bent(64)", "Hadamard(52)",
    "derived Hadamard(52)", "twin primes(63)", "McFarland(4,1)", "Spence(1)", "cyclotomic(27,2,9)",
    "cyclotomic(32,1,9)", "cyclotomic(53,13,14)", "triples(21,1)"
  )
  for (name in names) {
    design <- mech_block(9, 1, design = name)$design
    tables <- block_tables(design, 9)
    inside <- block_rows(block_layout(design), seq_len(design$b), 9) + 0
    counts <- cbind(stats::rpois(design$b, 3), stats::runif(design$b))
    sums <- block_sums(tables, counts, 1)
    expect_identical(sums[, 1], as.vector(counts[, 1] %*% inside), label = name)
    expect_equal(sums[, 2], as.vector(counts[, 2] %*% inside), tolerance = 1e-12, label = name)
    values <- stats::rnorm(9)
    expect_equal(block_sizes(tables, values, FALSE), as.vector(inside %*% values),
      tolerance = 1e-12, label = name
    )
  }
})

test_that("the estimate is unbiased and centred, and its risk the formula's, by enumeration", {
  # All b^2 outcomes of two reports of people with known categories.
  for (name in c("PG(2,2)", "derived PG(2,3)", "quartic0(13)", "residual bent(16)")) {
    v <- if (name == "derived PG(2,3)") 4 else 6
    if (name == "derived PG(2,3)") name <- "residual PG(2,3)"
    m <- mech_block(v, 1, design = name)
    channel <- as.matrix(m)
    p <- seq_len(v) / sum(seq_len(v))
    law <- as.vector(p %*% channel)
    for (method in c("moment", "canonical")) {
      one <- vapply(seq_along(law), function(y) {
        unname(coef(estimate(named_counts(as.numeric(seq_along(law) == y)), m, method = method)))
      }, numeric(v))
      expect_close(one %*% law, p, within = 1e-12)
      if (method == "moment") expect_close(colSums(one), rep(1, length(law)), within = 1e-11)
      # Two reports average two independent draws.
      pairs <- expand.grid(a = seq_along(law), b = seq_along(law))
      errors <- colSums(((one[, pairs$a] + one[, pairs$b]) / 2 - p)^2)
      expect_equal(sum(law[pairs$a] * law[pairs$b] * errors),
        block_risk(m, 2, p = p, method = method),
        tolerance = 1e-11
      )
    }
  }
})

test_that("variances are unbiased: their mean over all pairs of reports is the variance", {
  m <- mech_block(6, 1, design = "quartic0(13)")
  channel <- as.matrix(m)
  p <- (6:1) / 21
  law <- as.vector(p %*% channel)
  one <- vapply(1:13, function(y) {
    unname(coef(estimate(named_counts(as.numeric(1:13 == y)), m)))
  }, numeric(6))
  covariance <- (one %*% (law * t(one)) - p %o% p) / 2
  mean_of <- function(what) {
    total <- 0
    for (a in 1:13) {
      for (b in 1:13) {
        counts <- named_counts(tabulate(c(a, b), 13))
        total <- total + law[[a]] * law[[b]] * what(estimate(counts, m))
      }
    }
    total
  }
  expect_close(mean_of(vcov), covariance, within = 1e-12)
  expect_close(mean_of(function(e) e$std_error^2), diag(covariance), within = 1e-12)
  pair <- estimate(named_counts(tabulate(c(2, 5), 13)), m)
  plug_in <- diag(coef(pair)) - coef(pair) %o% coef(pair)
  expect_close(vcov(pair, type = "sampling"), plug_in, within = 1e-12) # over n - 1 = 1
})

test_that("subset selection has unbiased shares and covariances, by enumeration", {
  m <- mech_block(5, 0.8, design = "subset selection(5,3)")
  channel <- as.matrix(m)
  sets <- t(utils::combn(5, 3))
  p <- (1:5) / 15
  law <- as.vector(p %*% channel)
  estimates <- lapply(seq_along(law), function(y) estimate(sets[y, , drop = FALSE], m))
  one <- vapply(estimates, function(e) unname(coef(e)), numeric(5))
  expect_close(one %*% law, p, within = 1e-12)
  covariance <- (one %*% (law * t(one)) - p %o% p) / 2
  mean <- 0
  for (a in seq_along(law)) {
    for (b in seq_along(law)) {
      mean <- mean + law[[a]] * law[[b]] * vcov(estimate(sets[c(a, b), ], m))
    }
  }
  expect_close(mean, covariance, within = 1e-12)
  expect_equal(2 * sum(diag(covariance)), 2 * block_risk(m, 2, p = p), tolerance = 1e-11)
})

test_that("mean squared errors over simulations are those of the formula", {
  withr::local_seed(20260605)
  n <- 5000
  p <- (1:12)^-1 / sum((1:12)^-1)
  for (design in list("quartic0(13)", "Hadamard(16)", "subset selection", "shared randomness")) {
    m <- mech_block(12, 1, design = design)
    errors <- vapply(1:60, function(i) {
      x <- sample(12, n, TRUE, p)
      sum((coef(estimate(privatize(x, m, rng = "r"), m)) - p)^2)
    }, numeric(1))
    expected <- block_risk(m, n, p = p)
    expect_lt(abs(mean(errors) - expected), 5 * stats::sd(errors) / sqrt(60))
  }
})

test_that("exact and Wald intervals cover as often as they say", {
  withr::local_seed(20260606)
  runs <- if (extended()) 2000 else 200
  v <- 100
  m <- mech_block(v, 1)
  p <- (1:v)^-1.2 / sum((1:v)^-1.2)
  channel <- as.matrix(m)
  law <- as.vector(p %*% channel)
  covered <- vapply(seq_len(runs), function(i) {
    counts <- named_counts(as.vector(stats::rmultinom(1, 20000, law)))
    e <- estimate(counts, m)
    wald <- confint(e, cut = FALSE)
    exact <- confint(e, method = "exact", cut = FALSE)
    c(mean(wald[, 1] <= p & p <= wald[, 2]), mean(exact[, 1] <= p & p <= exact[, 2]))
  }, numeric(2))
  expect_lt(abs(mean(covered[1, ]) - 0.95), 0.015)
  expect_gt(mean(covered[2, ]), 0.945)
  expect_lt(mean(covered[2, ]), 0.965)
})

test_that("maximum likelihood by transforms is that of the channel matrix", {
  withr::local_seed(20260607)
  for (name in c("quartic0(13)", "derived bent(16)", "Hadamard(12)")) {
    v <- 6
    m <- mech_block(v, 1.2, design = name)
    counts <- stats::rmultinom(1, 3000, as.vector(((1:v) / 21) %*% as.matrix(m)))[, 1]
    fit <- estimate(named_counts(counts), m, method = "ml")
    naive <- channel_maximum_likelihood(
      counts / 3000, unname(as.matrix(m)), list(max_evaluations = 20000, tolerance = 1e-12)
    )
    expect_close(coef(fit), naive$shares, within = 1e-6)
    expect_equal(as.numeric(logLik(fit)), 3000 * naive$log_likelihood, tolerance = 1e-10)
    zero <- c(TRUE, rep(FALSE, v - 1))
    expect_identical(
      unname(coef(estimate(named_counts(counts), m, method = "ml", structural_zeros = zero))[1]), 0
    )
    fitted <- private_test(named_counts(counts), m, p = rep(1 / v, v))
    expected <- 3000 * colMeans(as.matrix(m))
    expect_equal(unname(fitted$statistic), sum((counts - expected)^2 / expected), tolerance = 1e-10)
  }
  sets <- mech_block(6, 1, design = "subset selection")
  expect_confide_error(
    estimate(privatize(1:6, sets, rng = "os"), sets, method = "ml"), "parameter", "sets"
  )
  expect_confide_error(
    private_test(privatize(1:6, sets, rng = "os"), sets, p = rep(1 / 6, 6)), "parameter", "sets"
  )
})

test_that("reports, tables, data frames, chunks and weights give the same counts", {
  withr::local_seed(20260608)
  m <- mech_block(9, 1, design = "quartic0(13)")
  reports <- privatize(rep(1:9, 30), m, rng = "r")
  whole <- count_reports(reports, m)
  bare <- as_plain(reports)
  expect_identical(unname(whole$counts), as.numeric(tabulate(bare, 13)))
  same <- function(x, ...) expect_identical(count_reports(x, m, ...)$counts, whole$counts)
  same(bare)
  same(table(bare))
  same(as.numeric(bare))
  same(as.data.frame(table(report = bare), stringsAsFactors = FALSE) |>
    transform(report = as.integer(report)))
  same(c(count_reports(reports[1:100], m), count_reports(bare[101:270], m)))
  weighted <- count_reports(reports, m, weights = rep(2, 270))
  expect_identical(weighted$counts, 2 * whole$counts)
  expect_close(coef(estimate(weighted, m)), coef(estimate(whole, m)), within = 1e-12)
  expect_close(estimate(weighted, m)$std_error, estimate(whole, m)$std_error, within = 1e-12)
  expect_confide_error(count_reports(14L, m), "domain")
  expect_confide_error(count_reports(reports, mech_block(9, 1)), "mechanism")
})

test_that("weights enter the covariances as they do for a channel matrix", {
  withr::local_seed(20260609)
  m <- mech_block(5, 1, design = "residual Paley(11)")
  reports <- as_plain(privatize(rep(1:5, 40), m, rng = "r"))
  weights <- stats::runif(200, 0.5, 3)
  e <- estimate(reports, m, weights = weights)
  one <- vapply(seq_len(m$n_outputs), function(y) {
    unname(coef(estimate(named_counts(as.numeric(seq_len(m$n_outputs) == y)), m)))
  }, numeric(5))
  z <- t(one[, reports])
  share <- colSums(weights * z) / sum(weights)
  centred <- weights * (z - rep(share, each = 200))
  expect_close(coef(e), share, within = 1e-12)
  expect_close(vcov(e), 200 / 199 * crossprod(centred) / sum(weights)^2, within = 1e-12)
  expect_close(e$std_error, sqrt(diag(vcov(e))), within = 1e-12)
})

test_that("set reports are counted from matrices, data frames, counts and weights alike", {
  withr::local_seed(20260610)
  for (design in c("subset selection(6,3)", "shared randomness(6,3)")) {
    m <- mech_block(6, 1, design = design)
    reports <- privatize(rep(1:6, 20), m, rng = "r")
    whole <- count_reports(reports, m)
    expect_identical(unname(whole$counts), as.numeric(colSums(report_rows(m, as_plain(reports)))))
    expect_identical(whole$n, 120L)
    expect_identical(count_reports(as.data.frame(as_plain(reports)), m)$counts, whole$counts)
    counted <- transform(as.data.frame(as_plain(reports)), n = 1)
    expect_identical(count_reports(counted, m)$counts, whole$counts)
    doubled <- count_reports(reports, m, weights = rep(2, 120))
    expect_identical(doubled$counts, 2 * whole$counts)
    expect_close(vcov(estimate(doubled, m)), vcov(estimate(whole, m)), within = 1e-12)
    expect_close(coef(estimate(c(whole, whole), m)), coef(estimate(whole, m)), within = 1e-12)
  }
  m <- mech_block(6, 1, design = "subset selection(6,3)")
  expect_confide_error(count_reports(cbind(1, 1, 2), m), "domain", "rows of whole numbers")
  expect_confide_error(count_reports(cbind(3, 2, 1), m), "domain")
  expect_confide_error(count_reports(1:3, m), "domain")
})

test_that("a database counts reports of outputs and of sets", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  withr::local_seed(20260611)
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  m <- mech_block(100, 1)
  reports <- privatize(sample(100, 2000, TRUE), m, rng = "r")
  DBI::dbWriteTable(connection, "reports", data.frame(report = as_plain(reports)))
  in_database <- count_reports(dplyr::tbl(connection, "reports"), m)
  expect_identical(in_database$counts, count_reports(reports, m)$counts)
  sets <- mech_block(8, 1, design = "subset selection(8,2)")
  pairs <- privatize(sample(8, 500, TRUE), sets, rng = "r")
  frame <- stats::setNames(as.data.frame(as_plain(pairs)), c("first", "second"))
  DBI::dbWriteTable(connection, "pairs", frame)
  expect_identical(
    count_reports(dplyr::tbl(connection, "pairs"), sets)$counts, count_reports(pairs, sets)$counts
  )
})

test_that("events sum the shares of their levels, with the covariances of the sums", {
  withr::local_seed(20260612)
  cells <- data.frame(level = I(list("1", c("2", "3"), as.character(3:6))))
  by_hand <- rbind(c(1, 0, 0, 0, 0, 0), c(0, 1, 1, 0, 0, 0), c(0, 0, 1, 1, 1, 1))
  for (design in c("quartic0(13)", "subset selection(6,3)", "PG(2,5)")) {
    m <- mech_block(6, 1, design = design)
    reports <- privatize(rep(1:6, 50), m, rng = "r")
    whole <- estimate(reports, m)
    events <- estimate_cells(reports, m, cells)
    expect_close(coef(events), by_hand %*% coef(whole), within = 1e-11)
    for (type in c("total", "privacy", "sampling")) {
      expect_close(vcov(events, type = type), by_hand %*% vcov(whole, type = type) %*% t(by_hand),
        within = 1e-12
      )
    }
    expect_close(events$std_error, sqrt(diag(vcov(events))), within = 1e-12)
  }
  expect_named(coef(estimate_cells(reports, m, list(level = c("1", "2")))), "level=1|2")
})

test_that("what a report tells is Bayes' rule on the channel", {
  m <- mech_block(9, 1, design = "quartic0(13)")
  prior <- (1:9) / 45
  joint <- prior * as.matrix(m)
  expect_equal(unname(predict(m, c(1L, 13L), prior = prior)),
    unname(t(joint) / colSums(joint))[c(1, 13), ],
    tolerance = 1e-12
  )
  sets <- mech_block(5, 1, design = "subset selection(5,2)")
  odds <- c(1, exp(1), 1, exp(1), 1)
  expect_equal(unname(predict(sets, cbind(2, 4))[1, ]), odds / sum(odds), tolerance = 1e-9)
})

test_that("a survey is planned with the risk that the choice promises", {
  plan <- plan_frequencies(100, n = 1e5, epsilon = 1, mechanism = "block")
  expect_equal(plan$error, sqrt(1.01 * 360.9434851841 / 100 / 1e5), tolerance = 1e-9)
  m <- mech_block(100, 1)
  expect_lte(sqrt(m$risk / 100 / 1e5), plan$error)
  back <- plan_frequencies(100, n = 1e5, error = plan$error, mechanism = "block")
  expect_equal(unname(back$epsilon), 1, tolerance = 1e-6)
})

test_that("a canonical estimate is refused where there is no design", {
  m <- mech_rr(3, 1)
  expect_confide_error(estimate(1:3, m, method = "canonical"), "parameter", "mech_block")
})

test_that("ten million reports on a million categories are decoded exactly", {
  skip_if_not(extended())
  withr::local_seed(20260613)
  m <- mech_block(1e6, 1)
  x <- sample.int(1e6, 1e7, TRUE)
  e <- estimate(privatize(x, m, rng = "r"), m)
  error <- sum((coef(e) - tabulate(x, 1e6) / 1e7)^2)
  # The sum of a million nearly independent squares: relative error sqrt(2 / 1e6).
  expected <- block_risk(m, 1e7, target = "file")
  expect_lt(abs(error / expected - 1), 5 * sqrt(2 / 1e6))
})

test_that("counts of sets and their weights are never dropped in silence", {
  withr::local_seed(20260613)
  for (design in c("subset selection(6,3)", "shared randomness(6,3)")) {
    m <- mech_block(6, 1, design = design)
    rows <- as.data.frame(as_plain(privatize(rep(1:6, 3), m, rng = "r")))
    counted <- cbind(rows, n = 1:18)
    whole <- count_reports(rows[rep(1:18, 1:18), ], m)
    for (name in c("n", "Freq", "count")) {
      names(counted)[length(counted)] <- name
      expect_equal(count_reports(counted, m)$counts, whole$counts)
      expect_equal(count_reports(counted, m)$n, 171)
      expect_equal(count_reports(counted, m, count = name)$counts, whole$counts)
      weighted <- count_reports(rows, m, weights = 1:18)
      expect_equal(count_reports(counted, m, weights = name), weighted)
      expect_equal(count_reports(counted, m, weights = name)$n, 18)
      expect_confide_error(
        count_reports(counted, m, weights = rep(2, 18)), "parameter", "must be named in `count`"
      )
      expect_confide_error(
        count_reports(counted, m, weights = rep(2, 18), count = name), "parameter",
        "belong to single reports"
      )
    }
  }
})

test_that("a table of set reports is refused: it does not say how many reports there were", {
  withr::local_seed(20260614)
  for (design in c("subset selection(6,3)", "shared randomness(6,3)")) {
    m <- mech_block(6, 1, design = design)
    reports <- privatize(rep(1:6, 20), m, rng = "r")
    expect_confide_error(
      estimate(table(as_plain(reports)), m), "parameter", "counted from their rows"
    )
    expect_equal(nobs(estimate(reports, m)), 120)
  }
})
