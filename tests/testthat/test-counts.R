# Counting reports: every source gives the same counts, and counts of parts add up.

survey <- function(n = 300, seed = 1) {
  withr::local_seed(seed)
  data.frame(
    a = factor(sample(c("x", "y"), n, TRUE), c("x", "y")),
    b = factor(sample(c("u", "v", "w"), n, TRUE), c("u", "v", "w")),
    weight = stats::runif(n, .2, 3)
  )
}

survey_mechanism <- function() {
  mech_lambda(list(a = c("x", "y"), b = c("u", "v", "w")), lambda = c(.6, .4))
}

test_that("vectors, factors, tables, named counts and data frames count alike", {
  m <- mech_rr(c("no", "yes", "?"), 1)
  reports <- factor(rep(c("no", "yes"), c(7, 3)), c("no", "yes", "?"))
  expected <- c(no = 7, yes = 3, "?" = 0)
  sources <- list(
    reports, as.character(reports), table(reports), c(yes = 3, no = 7),
    c(no = 7L, yes = 3L, "?" = 0L),
    data.frame(reports), data.frame(reports = c("yes", "no"), n = c(3, 7)),
    as.data.frame(table(reports)),
    data.frame(r = c("no", "yes", "no"), count = c(5, 3, 2))
  )
  for (x in sources) {
    counts <- count_reports(x, m)
    expect_s3_class(counts, "confide_counts")
    expect_identical(counts$counts, expected)
    expect_equal(counts$n, 10)
    expect_equal(nobs(counts), 10)
  }
  expect_identical(count_reports(counts, m), counts)
})

test_that("tables and data frames of several attributes count alike", {
  m <- survey_mechanism()
  x <- survey()[c("a", "b")]
  tab <- table(x)
  long <- as.data.frame(tab)
  cases <- list(
    tab, aperm(tab), t(tab), long, long[6:1, ], count_reports(x, m), x[2:1], x[300:1, ],
    tab[2:1, 3:1]
  )
  for (y in cases) {
    expect_same_estimate(x, y, m)
  }
  named <- long
  names(named)[[3]] <- "how_many"
  expect_equal(
    coef(estimate(named, m, count = "how_many")), coef(estimate(x, m)), tolerance = 1e-13
  )
})

test_that("levels that were never reported may be left out of counts", {
  m <- survey_mechanism()
  tab <- as.table(matrix(c(3, 4), 1, dimnames = list(a = "y", b = c("w", "u"))))
  full <- as.table(matrix(0, 2, 3, dimnames = list(a = c("x", "y"), b = c("u", "v", "w"))))
  full["y", "w"] <- 3
  full["y", "u"] <- 4
  expect_same_estimate(tab, full, m)
})

test_that("counts of parts add up to counts of the whole", {
  m <- survey_mechanism()
  x <- survey()
  whole <- x[c("a", "b")]
  parts <- lapply(split(whole, rep(1:7, length.out = 300)), count_reports, mechanism = m)
  expect_same_estimate(do.call(c, unname(parts)), whole, m)
  expect_same_estimate(
    c(count_reports(whole[1:100, ], m), count_reports(table(whole[101:300, ]), m)), whole, m
  )
  rr <- mech_rr(c("u", "v", "w"), 1)
  expect_identical(
    c(count_reports(x$b[1:99], rr), count_reports(x$b[100:300], rr)), count_reports(x$b, rr)
  )
})

test_that("weighted counts of parts add up to weighted counts of the whole", {
  m <- survey_mechanism()
  x <- survey()
  part <- function(rows) count_reports(x[rows, c("a", "b")], m, weights = x$weight[rows])
  merged <- c(part(1:120), part(121:300))
  expect_same_estimate(merged, count_reports(x[c("a", "b")], m, weights = x$weight), m)
  # a part without weights has weights of one
  mixed <- c(part(1:120), count_reports(x[121:300, c("a", "b")], m))
  w <- c(x$weight[1:120], rep(1, 180))
  expect_same_estimate(mixed, count_reports(x[c("a", "b")], m, weights = w), m)
  rr <- mech_rr(c("u", "v", "w"), 1)
  expect_same_estimate(
    c(
      count_reports(x$b[1:9], rr, weights = x$weight[1:9]),
      count_reports(x$b[10:300], rr, weights = x$weight[10:300])
    ),
    count_reports(x$b, rr, weights = x$weight), rr
  )
})

test_that("a billion reports in counts take no time", {
  m <- mech_rr(c("no", "yes"), 1)
  time <- system.time({
    counts <- count_reports(c(no = 6e8, yes = 4e8), m)
    merged <- c(counts, counts)
    e <- estimate(merged, m)
  })
  expect_lt(time[["elapsed"]], 1)
  expect_identical(merged$n, 2e9)
  expect_equal(e$std_error, rep(sqrt(.24 / (2e9 - 1)) / m$lambda, 2), tolerance = 1e-12)
})

test_that("counts that are negative, missing or not finite are refused", {
  m <- mech_rr(c("no", "yes"), 1)
  for (bad in c(-1, NA, NaN, Inf, -1e-17)) {
    expect_confide_error(
      count_reports(c(no = 1, yes = bad), m), "parameter", "Counts must be finite"
    )
    expect_confide_error(
      count_reports(data.frame(r = c("no", "yes"), n = c(1, bad)), m), "parameter"
    )
    expect_confide_error(count_reports(as.table(c(no = 1, yes = bad)), m), "parameter")
  }
  expect_confide_error(
    count_reports(data.frame(r = c("no", "yes"), n = c("1", "2")), m), "parameter"
  )
})

test_that("weights that are negative, missing, not finite or of another length are refused", {
  m <- mech_rr(c("no", "yes"), 1)
  cases <- list(
    c(1, -1), c(1, NA), c(1, Inf), 1, c(1, 2, 3), c("1", "2"), list(1, 2), TRUE, factor(1:2), mean
  )
  for (bad in cases) {
    expect_confide_error(
      count_reports(c("no", "yes"), m, weights = bad), "parameter",
      "`weights` must be finite numbers"
    )
  }
  expect_confide_error(
    count_reports(c(no = 1, yes = 2), m, weights = c(1, 2)), "parameter", "belong to single reports"
  )
  expect_confide_error(
    count_reports(count_reports("no", m), m, weights = 1), "parameter", "belong to single reports"
  )
})

test_that("weights are a vector or the name of a column", {
  m <- survey_mechanism()
  x <- survey()
  expect_identical(
    coef(estimate(x, m, weights = "weight")), coef(estimate(x[c("a", "b")], m, weights = x$weight))
  )
  expect_confide_error(estimate(x[c("a", "b")], m, weights = "weight"), "parameter", "`weights`")
})

test_that("reports outside the outputs are refused with one text wherever they are", {
  m <- mech_rr(c("no", "yes"), 1)
  inputs <- list(
    "SECRET-MARKER", c("no", NA), factor("z"), c("SECRET-MARKER" = 3), table(c("no", "z")),
    data.frame(r = "z"),
    data.frame(r = c("no", "z"), n = 1:2), table(c("no", NA), useNA = "ifany")
  )
  messages <- vapply(
    inputs, function(x) expect_confide_error(count_reports(x, m), "domain"), character(1)
  )
  expect_length(unique(messages), 1)
})

test_that("counts of missing answers go to the missing level", {
  m <- mech_rr(c("no", "yes"), 1, na = "level")
  expected <- c(no = 2, yes = 1, "<NA>" = 3)
  x <- c("no", "yes", NA, "no", NA, NA)
  expect_identical(count_reports(x, m)$counts, expected)
  expect_identical(count_reports(table(x, useNA = "always"), m)$counts, expected)
  expect_identical(count_reports(c(no = 2, yes = 1, "<NA>" = 3), m)$counts, expected)
})

test_that("tables that do not fit the mechanism are refused", {
  m <- survey_mechanism()
  expect_confide_error(estimate(table(1:3), m), "parameter", "one dimension for each attribute: 2")
  expect_confide_error(estimate(HairEyeColor, m), "parameter", "It has 3")
  expect_confide_error(estimate(table(a = "x", c = "u"), m), "parameter", "must be the attributes")
  expect_confide_error(
    estimate(as.table(matrix(1:6, 2, dimnames = list(c("x", "y"), NULL)[c(1, 2)])), m), "domain"
  )
  expect_confide_error(
    estimate(data.frame(a = "x"), m), "parameter", "a column of reports for each attribute"
  )
  expect_confide_error(estimate(c("x", "y"), m), "domain", "must be a data frame")
  expect_confide_error(
    estimate(data.frame(r = "u", s = "v"), mech_rr(c("u", "v"), 1)), "parameter", "one column"
  )
  expect_confide_error(
    estimate(data.frame(a = "x", b = "u", n = 1), m, count = "m"), "parameter", "`count`"
  )
})

test_that("an attribute may have the name of a column of counts", {
  m <- mech_lambda(list(n = c("x", "y"), Freq = c("u", "v")), lambda = .5)
  frame <- data.frame(n = c("x", "y", "y"), Freq = c("u", "u", "v"))
  expect_identical(count_reports(frame, m)$n, 3L)
  expect_equal(count_reports(cbind(frame, count = c(5, 1, 1)), m)$n, 7)
})

test_that("distinct patterns are few when answers repeat", {
  m <- survey_mechanism()
  counts <- count_reports(survey()[c("a", "b")], m)
  expect_lte(nrow(counts$patterns), 6)
  expect_equal(sum(counts$counts), 300)
})

test_that("counts survive being saved and print small", {
  path <- withr::local_tempfile(fileext = ".rds")
  for (m in list(survey_mechanism(), mech_rr(c("x", "y"), 1))) {
    x <- if (inherits(m, "confide_rr")) survey()$a else survey()[c("a", "b")]
    counts <- count_reports(x, m)
    saveRDS(counts, path)
    expect_identical(readRDS(path), counts)
    expect_prints_small(counts)
  }
  expect_prints_small(count_reports(stats::setNames(1:1000, 1:1000), mech_rr(1000, 1)))
  expect_snapshot({
    count_reports(c(no = 6e8, yes = 4e8), mech_rr(c("no", "yes"), 1))
    count_reports(survey()[c("a", "b")], survey_mechanism())
    count_reports(survey(), survey_mechanism(), weights = "weight")
  })
})

test_that("a column that may hold counts is not passed over in silence", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  frame <- expand.grid(a = 1:2, b = 1:2)
  counted <- cbind(frame, n = c(10, 20, 30, 40))
  expect_equal(count_reports(counted, m)$n, 100)
  says <- "must be named in `count`"
  expect_confide_error(count_reports(cbind(counted, z = 1), m), "parameter", says)
  expect_confide_error(estimate(cbind(counted, z = 1), m), "parameter", says)
  expect_confide_error(count_reports(counted, m, weights = rep(1, 4)), "parameter", says)
  expect_confide_error(count_reports(cbind(counted, Freq = 1), m), "parameter", says)
  expect_confide_error(count_reports(cbind(counted, w = 2), m, weights = "w"), "parameter", says)
  expect_equal(count_reports(cbind(counted, z = 1), m, count = "n")$n, 100)
  expect_equal(unname(count_reports(counted, m, weights = "n")$n), 4)
  # what is no number of reports
  for (other in list(c(.5, 1, 1, 1), c(-1, 1, 1, 1), letters[1:4], c(NA, 1, 1, 1))) {
    expect_equal(count_reports(cbind(frame, n = other, z = 1), m)$n, 4)
  }
})

test_that("a database refuses a column of counts that would be passed over", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  frame <- cbind(expand.grid(a = 1:2, b = 1:2), n = 1:4, z = 1)
  stored <- database(frame)
  expect_confide_error(count_reports(stored, m), "parameter", "must be named in `count`")
  expect_equal(count_reports(stored, m, count = "n")$n, 10)
  expect_equal(count_reports(database(frame[c("a", "b", "n")]), m)$n, 10)
})
