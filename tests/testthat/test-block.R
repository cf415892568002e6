# Block mechanisms: the choice, the integers of the sampler, the law of the reports.

small_designs <- c(
  "PG(2,2)", "PG(2,3)", "PG(2,4)", "PG(3,2)", "PG(2,9)", "Paley(11)", "Paley(27)", "quartic(37)",
  "quartic0(13)", "octic(73)", "bent(16)", "twin primes(15)", "twin primes(63)", "McFarland(2,1)",
  "McFarland(3,1)", "McFarland(4,1)", "Spence(1)", "Hadamard(12)", "Hadamard(28)", "Hadamard(36)",
  "Hadamard(32)", "cyclotomic(7,2,2)", "cyclotomic(13,4,5)", "cyclotomic(16,5,6)",
  "cyclotomic(27,2,9)", "cyclotomic(25,3,7)", "triples(13,1)", "triples(21,1)", "triples(10,2)",
  "triples(15,2)"
)

parts <- c("", "residual ", "derived ")

incidence_of <- function(m) {
  t(block_rows(block_layout(m$design), seq_len(m$design$b), length(levels(m))) + 0)
}

# All parts of the small designs that exist, with all their points.
each_small_design <- function(check) {
  for (name in paste0(rep(parts, each = length(small_designs)), small_designs)) {
    row <- tryCatch(named_design(name, 2, 1, NULL), confide_error = function(error) NULL)
    if (!is.null(row) && row$points > 1) check(mech_block(row$points, 1, design = name), name)
  }
}

test_that("every construction is the design that its name says", {
  seen <- 0
  each_small_design(function(m, name) {
    incidence <- incidence_of(m)
    shared <- tcrossprod(incidence)
    expect_true(all(diag(shared) == m$design$r), label = name)
    expect_true(all(shared[upper.tri(shared)] == m$design$lambda), label = name)
    expect_true(all(colSums(incidence) == m$design$k), label = name)
    expect_identical(as.numeric(ncol(incidence)), as.numeric(m$design$b), label = name)
    seen <<- seen + 1
  })
  expect_gt(seen, 55)
})

test_that("a large difference set has the checksum and autocorrelation of its parameters", {
  base <- block_family("quartic", 8101L)$base
  spectrum <- Mod(stats::fft(tabulate(base + 1, 8101)))^2
  expect_length(base, 2025)
  expect_equal(spectrum[-1], rep(2025 - 506, 8100), tolerance = 1e-9) # k - lambda
  singer <- block_family("PG", c(9L, 4L))$base # v = 349525, k = 87381, lambda = 21845
  shift <- function(s) sum((singer + s) %% 349525 %in% singer)
  expect_length(singer, 87381)
  for (s in c(1, 2, 1000, 174762)) expect_identical(shift(s), 21845L)
})

test_that("no report is more than exp(epsilon) times likelier under another truth, exactly", {
  skip_if_not_installed("gmp")
  for (epsilon in c(1e-300, 1e-9, 0.05, 1, 5, 20, 29, 31, 44, 1e308)) {
    bound <- exp_bounds(min(epsilon, 44))
    for (size in list(c(1, 2), c(3, 7), c(25, 101), c(27, 100), c(2e6, 4e6), c(1, 2^31))) {
      w <- lapply(as.list(block_weight_text(epsilon, size[[1]], size[[2]])), gmp::as.bigz)
      expect_true(w$inside * bound$unit <= bound$lower * w$outside)
      expect_true(w$inside >= w$outside && w$outside >= 1)
      total <- gmp::as.bigz(size[[1]]) * w$inside + gmp::as.bigz(size[[2]] - size[[1]]) * w$outside
      expect_true(total == w$total && total < gmp::as.bigz(2)^64)
      # Used up to one word: one more inside would exceed the bound or the words there are.
      slack <- bound$unit + (bound$upper * w$outside) %/% gmp::as.bigz(2)^61
      used <- w$inside * bound$unit + slack >= bound$upper * w$outside
      expect_true(used || total + size[[1]] >= gmp::as.bigz(2)^64)
    }
  }
})

test_that("the channel is the textbook one, and the audit that of the integers", {
  each_small_design(function(m, name) {
    if (m$design$b > 64) {
      return()
    }
    channel <- as.matrix(m)
    expect_equal(unname(channel), incidence_channel(incidence_of(m), 1), tolerance = 1e-12)
    result <- audit(m)
    expect_true(result$ok && result$worst_log_ratio <= 1)
    expect_equal(result$worst_log_ratio, log(max(channel) / min(channel)), tolerance = 1e-12)
  })
})

test_that("reports follow the channel for every way of drawing them", {
  withr::local_seed(20260601)
  n <- 20000
  names <- c(
    "PG(2,3)", "derived PG(3,3)", "residual PG(2,3)", "bent(16)", "derived bent(64)",
    "McFarland(3,1)", "Hadamard(12)", "derived Hadamard(28)", "residual Hadamard(20)",
    "cyclotomic(13,4,5)", "triples(9,1)"
  )
  for (name in names) {
    m <- mech_block(9, 1, design = name)
    for (level in c(1, 9)) {
      reports <- as_plain(privatize(rep(level, n), m, rng = "r"))
      expect_type(reports, "integer")
      expected <- n * as.matrix(m)[level, ]
      statistic <- sum((tabulate(reports, m$n_outputs) - expected)^2 / expected)
      expect_lt(statistic, stats::qchisq(1 - 1e-6, m$n_outputs - 1), label = name)
    }
  }
})

test_that("subset selection reports ascending sets with the law of its channel", {
  withr::local_seed(20260602)
  m <- mech_block(6, 1, design = "subset selection(6,3)")
  n <- 40000
  reports <- as_plain(privatize(rep(4, n), m, rng = "r"))
  expect_identical(dim(reports), c(40000L, 3L))
  expect_true(all(reports[, 1] < reports[, 2] & reports[, 2] < reports[, 3]))
  observed <- table(factor(apply(reports, 1, paste, collapse = ","), colnames(as.matrix(m))))
  expected <- n * as.matrix(m)[4, ]
  expect_lt(sum((observed - expected)^2 / expected), stats::qchisq(1 - 1e-6, 19))
  sets <- strsplit(colnames(as.matrix(m)), ",")
  inside <- vapply(sets, function(set) "4" %in% set, logical(1))
  odds <- ifelse(inside, exp(1), 1)
  expect_equal(unname(as.matrix(m)[4, ]), odds / sum(odds), tolerance = 1e-12)
})

test_that("with shared randomness every seed gives a private report and all together subsets", {
  withr::local_seed(20260603)
  m <- mech_block(6, 1, design = "shared randomness(6,2)")
  n <- 60000
  reports <- as_plain(privatize(rep(3, n), m, rng = "r"))
  expect_identical(colnames(reports), c("seed", "report"))
  rows <- report_rows(m, reports)
  expect_true(all(rowSums(rows) == 2))
  pairs <- apply(rows, 1, function(row) paste(which(row), collapse = ","))
  subset <- as.matrix(mech_block(6, 1, design = "subset selection(6,2)"))
  observed <- table(factor(pairs, colnames(subset)))
  expected <- n * subset[3, ]
  expect_lt(sum((observed - expected)^2 / expected), stats::qchisq(1 - 1e-6, 14))
})

test_that("the cheapest design within the tolerance is taken, or the best within the bits", {
  m <- mech_block(100, 1)
  expect_identical(m$design$family, "quartic(101)")
  expect_equal(m$bits, log2(101))
  expect_equal(m$excess, 362.1655552155 / 360.9434851841 - 1, tolerance = 1e-9)
  expect_identical(mech_block(100, 1, max_bits = 7)$design$family, "quartic0(109)")
  expect_identical(mech_block(13, 1)$design$family, "PG(2,3)")
  expect_identical(mech_block(16, 0.5)$excess, 0)
  expect_identical(mech_block(10, 5)$design$family, "randomized response(10)")
  exact <- mech_block(21, 2, tolerance = 0)
  expect_identical(exact$excess, 0)
  expect_lte(exact$bits, log2(70))
  far <- mech_block(100, 1, tolerance = 0)
  expect_identical(far$design$family, "shared randomness(100,27)")
  expect_identical(mech_block(100, 1, max_bits = 6.645)$design$family, "randomized response(100)")
})

# v, epsilon, bits of the cheapest design within one per cent, least excess (per cent) with
# ceil(log2 v) bits: a search over the same families in another program.
selection <- data.frame(
  v = c(10, 21, 32, 50, 57, 73, 100, 100, 128, 256, 1000, 1000, 1024, 10000, 10000, 10000),
  epsilon = c(1, 2, 1, 1, 3, 1, 2, 3, 2, 1, 1, 5, 3, 1, 2, 5),
  bits = c(
    4.91, 6.13, 5.46, 6.73, 9.06, 6.41, 9.82, 9.98, 9.10, 8.41, 10.41, 16.15, 12.89, 13.56, 14.28,
    13.99
  ),
  excess = c(
    6.64, 11.74, 236.98, 15.71, 28.28, 0.37, 21.09, 78.16, 381.10, 20.39, 23.63, 121.88, 423.02,
    0.24, 2.32, 0.94
  )
)

test_that("no choice needs more bits than a search in another program found", {
  for (i in seq_len(nrow(selection))) {
    case <- selection[i, ]
    m <- mech_block(case$v, case$epsilon)
    expect_lte(m$bits, case$bits + 0.005)
    expect_lte(m$excess, 0.01)
    tight <- mech_block(case$v, case$epsilon, max_bits = ceiling(log2(case$v)))
    expect_lte(100 * tight$excess, case$excess + 0.005)
  }
})

test_that("a design can be given by name, by row or as a matrix", {
  rows <- block_designs(16, 0.5, all = TRUE)
  row <- rows[rows$family == "bent(16)", ]
  by_row <- mech_block(16, 0.5, design = row)
  expect_identical(by_row$fingerprint, mech_block(16, 0.5, design = "bent(16)")$fingerprint)
  fano <- cyclic_incidence(7, c(1, 2, 4))
  given <- mech_block(letters[1:7], 0.5, design = fano == 1)
  expect_equal(given$risk, 81.50432047922, tolerance = 1e-9)
  expect_identical(unname(as.matrix(given) > 0.15), fano == 1)
  expect_confide_error(mech_block(7, 1, design = fano[, 1:5] == 1), "parameter", "same number")
  expect_confide_error(mech_block(8, 1, design = "PG(2,2)"), "parameter", "has 7")
  expect_confide_error(mech_block(7, 1, design = "PG(2,6)"), "parameter", "can be built")
  expect_confide_error(mech_block(7, 1, design = "nonsense"), "parameter", "can be built")
  expect_confide_error(mech_block(7, 1, design = 3), "parameter", "a name")
  expect_confide_error(mech_block(7, 0), "parameter", "above 0")
  expect_confide_error(mech_block(7, 1, max_bits = 2), "parameter", "log2")
  expect_confide_error(mech_block(7, 1, tolerance = -1), "parameter", "at least 0")
})

test_that("every named design of a list can be built and used", {
  rows <- block_designs(12, 1.3, all = TRUE)
  rows <- rows[rows$b <= 5000 | grepl("s(ubset|hared) ", rows$family), ]
  for (name in rows$family) {
    m <- mech_block(12, 1.3, design = name)
    expect_equal(m$risk, rows$risk[rows$family == name], tolerance = 1e-7, label = name)
    expect_equal(m$bits, rows$bits[rows$family == name], label = name)
    expect_no_error(privatize(1:12, m, rng = "r"))
  }
})

test_that("a served epsilon that is smaller than the one asked for is said", {
  m <- mech_block(4e5, 40, design = "Paley(524287)")
  expect_lt(privacy(m)$epsilon_realised, 40)
  expect_match(paste(format(m), collapse = "\n"), "served as epsilon", fixed = TRUE)
})

test_that("mechanisms update, print small and keep their levels", {
  m <- mech_block(c("a", "b", "c", "d", "e", "f", "g"), 0.5)
  expect_identical(levels(m), letters[1:7])
  expect_identical(epsilon(m), 0.5)
  expect_identical(update(m, epsilon = 1)$epsilon, 1)
  expect_identical(update(m, design = "Paley(7)")$design$family, "Paley(7)")
  cut <- mech_block(100, 1, design = "quartic(101)")
  expect_null(update(cut, tolerance = 0.5)$call$design)
  for (one in list(m, cut, mech_block(10, 1, design = "subset selection"), mech_block(1e5, 2))) {
    expect_prints_small(one)
  }
  expect_prints_small(privatize(1:7, mech_block(7, 1), rng = "r"))
})

test_that("a missing answer can be a level", {
  m <- mech_block(letters[1:6], 1, na = "level")
  expect_identical(length(levels(m)), 7L)
  expect_no_error(privatize(c("a", NA), m, rng = "r"))
  expect_confide_error(privatize(NA, mech_block(letters[1:6], 1), rng = "r"), "domain")
})

test_that("values outside the levels are refused alike", {
  m <- mech_block(7, 1)
  expect_same_domain_error(list(8L, 0L, 1.5, -1, NaN, Inf, 2^31), m)
})

test_that("a million categories cost nothing until they are used", {
  skip_on_cran()
  taken <- system.time(m <- mech_block(1e6, 1))[["user.self"]]
  expect_lt(taken, 2)
  expect_identical(m$design$family, "quartic(1020101)")
  expect_identical(levels(m)[100000], "100000")
})

test_that("an epsilon that the integers cannot realise is refused", {
  for (epsilon in c(1e-19, 1e-160, 1e-320)) {
    expect_confide_error(mech_block(7, epsilon), "parameter", "at least 2^-60")
  }
  expect_confide_error(mech_block(1e5, 1e-15), "parameter", "say nothing")
  expect_gt(audit(mech_block(7, 2^-60))$worst_log_ratio, 2^-61)
})
