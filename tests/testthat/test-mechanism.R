# What all mechanisms share: matrix, levels, update, fingerprint, printing.

mechanisms <- function() {
  list(
    rr = mech_rr(c("no", "yes"), 1),
    lambda = toy_mechanism(),
    matrix = mech_matrix(rbind(a = c(x = .7, y = .3), b = c(x = .4, y = .6)))
  )
}

test_that("every mechanism has levels, an epsilon and a channel with rows that sum to 1", {
  for (m in mechanisms()) {
    channel <- as.matrix(m)
    expect_s3_class(m, "confide_mechanism")
    expect_equal(dim(m), dim(channel))
    expect_equal(m$n_outputs, ncol(channel))
    expect_named(dimnames(channel), c("true", "reported"))
    expect_close(rowSums(channel), rep(1, nrow(channel)), 1e-14)
    expect_true(all(channel >= 0))
    expect_type(epsilon(m), "double")
    expect_length(epsilon(m), 1)
  }
  expect_identical(levels(mechanisms()$rr), c("no", "yes"))
  expect_identical(
    levels(mechanisms()$lambda), list(a = c("1", "2"), b = c("1", "2", "3"), c = c("1", "2"))
  )
  expect_identical(levels(mechanisms()$matrix), c("a", "b"))
})

test_that("no entry of a channel exceeds exp(epsilon) times another in its column", {
  for (m in mechanisms()) {
    channel <- as.matrix(m)
    # doubles show the certified ratio up to rounding
    expect_lte(
      max(apply(log(channel), 2, function(column) diff(range(column)))), epsilon(m) + 1e-14
    )
  }
})

test_that("a channel too large for a matrix is refused with advice", {
  expect_confide_error(as.matrix(mech_rr(4097, 1)), "parameter", "at most 4096 rows")
  expect_confide_error(
    as.matrix(mech_lambda(as.list(c(a = 100, b = 100)), lambda = .5)), "parameter"
  )
  expect_identical(dim(mech_rr(4096, 1)), c(4096L, 4096L))
})

test_that("update changes what it names and nothing else", {
  m <- mech_rr(c("no", "yes"), 1)
  expect_identical(update(m, epsilon = 2)$fingerprint, mech_rr(c("no", "yes"), 2)$fingerprint)
  expect_identical(
    update(m, na = "level")$fingerprint, mech_rr(c("no", "yes"), 1, na = "level")$fingerprint
  )
  expect_identical(update(m)$fingerprint, m$fingerprint)
  toy <- toy_mechanism()
  expect_identical(
    update(toy, lambda = .5)$lambda, mech_lambda(list(a = 2, b = 3, c = 2), lambda = .5)$lambda
  )
  expect_identical(update(toy, epsilon = 1)$epsilon, c(a = 1, b = 1, c = 1))
  expect_identical(
    update(update(toy, epsilon = 1), lambda = .5)$lambda, update(toy, lambda = .5)$lambda
  )
  channel <- mechanisms()$matrix
  expect_identical(update(channel, epsilon = 2)$epsilon, 2)
  expect_identical(
    update(update(channel, epsilon = 2), epsilon = NULL)$fingerprint, channel$fingerprint
  )
})

test_that("update works wherever it is called and whatever the caller's names are", {
  epsilon <- 7
  levels <- c("x", "y")
  make <- function(levels, epsilon) mech_rr(levels, epsilon)
  m <- make(c("no", "yes"), 1)
  expect_identical(update(m, epsilon = 2)$epsilon, 2)
  expect_identical(levels(update(m, epsilon = 2)), c("no", "yes"))
})

test_that("update keeps ordered levels and refuses what its constructor does not know", {
  m <- mech_rr(factor("lo", c("lo", "hi"), ordered = TRUE), 1)
  expect_s3_class(privatize("lo", update(m, epsilon = 2)), "ordered")
  expect_confide_error(update(m, eps = 2), "parameter", "eps")
  expect_confide_error(update(m, 2), "parameter")
  expect_confide_error(update(m, epsilon = -1), "parameter", "`epsilon`")
})

test_that("a mechanism holds no data of the factor it was declared with", {
  x <- factor(rep(c("no", "yes"), 5000))
  expect_lt(length(serialize(mech_rr(x, 1), NULL)), 20000)
  expect_identical(mech_rr(x, 1), mech_rr(factor(c("no", "yes")), 1))
  frame <- data.frame(
    a = x, b = rep(c(TRUE, FALSE), 5000), row.names = paste0("SECRET-MARKER", 1:10000)
  )
  expect_holds_no("SECRET-MARKER", mech_lambda(frame, lambda = .5))
  expect_lt(length(serialize(mech_lambda(frame, lambda = .5), NULL)), 20000)
})

test_that("a mechanism survives being saved", {
  path <- withr::local_tempfile(fileext = ".rds")
  for (m in mechanisms()) {
    saveRDS(m, path)
    restored <- readRDS(path)
    expect_identical(restored, m)
    expect_identical(as.matrix(restored), as.matrix(m))
    expect_true(audit(restored)$ok)
  }
})

test_that("a mechanism altered by hand fails its certificate everywhere", {
  alter <- list(
    epsilon = function(m) {
      m$epsilon <- m$epsilon / 2
      m
    },
    lambda = function(m) {
      m$lambda <- m$lambda * 0 + .99
      m
    },
    outputs = function(m) {
      m$n_outputs <- 7
      m
    },
    privacy = function(m) {
      m$privacy$epsilon <- .001
      m
    },
    levels = function(m) {
      if (is.null(m$alphabet)) m$alphabets[[1]]$labels <- c("2", "1") else m$alphabet$labels <- rev(
        levels(m)
      )
      m
    }
  )
  for (m in mechanisms()) {
    for (change in alter) {
      altered <- change(m)
      expect_confide_error(
        privatize("no", altered, rng = "r"), "internal", "failed its certificate"
      )
      expect_confide_error(estimate(c(1, 2), altered), "internal", "failed its certificate")
      expect_confide_error(audit(altered), "internal", "failed its certificate")
      expect_confide_error(as.matrix(altered), "internal", "failed its certificate")
    }
  }
  m <- mechanisms()$matrix
  m$probabilities <- m$probabilities[2:1, ]
  expect_confide_error(privatize("a", m, rng = "r"), "internal")
})

test_that("a mechanism of a newer version is refused, and the version does not change the law", {
  for (m in mechanisms()) {
    newer <- m
    newer$made_with <- "999.1"
    newer$seal <- seal(newer)
    expect_confide_error(audit(newer), "parameter", c("newer version", "999.1"))
    expect_confide_error(privatize("no", newer, rng = "r"), "parameter", "newer version")
    expect_identical(fingerprint(newer), m$fingerprint)
    newer$made_with <- "0.0.1"
    newer$seal <- seal(newer)
    expect_true(audit(newer)$ok)
  }
})

test_that("block designs of another epsilon or design have another fingerprint", {
  for (design in c("PG(2,2)", "subset selection(7,3)", "shared randomness(7,2)")) {
    m <- mech_block(7, 1, design = design)
    other <- mech_block(7, 1.5, design = design)
    expect_false(identical(m$fingerprint, other$fingerprint))
    expect_identical(mech_block(7, 1, design = design)$fingerprint, m$fingerprint)
    reports <- privatize(1:7, m, rng = "r")
    expect_confide_error(estimate(reports, other), "mechanism", "another")
  }
})

test_that("mechanisms share a fingerprint exactly when they share levels, order and parameters", {
  m <- mech_rr(c("no", "yes"), 1)
  expect_identical(mech_rr(factor(c("no", "yes")), 1L)$fingerprint, m$fingerprint)
  # labels that R keeps as numbers until they are looked at
  expect_identical(mech_rr(factor(1:3), 1)$fingerprint, mech_rr(c("1", "2", "3"), 1)$fingerprint)
  expect_identical(
    mech_rr(as.character(1:3), 1)$fingerprint, mech_rr(c("1", "2", "3"), 1)$fingerprint
  )
  expect_identical(mech_rr(3, 1)$fingerprint, mech_rr(c("1", "2", "3"), 1)$fingerprint)
  expect_identical(mech_rr(factor(c("no", "yes"), ordered = TRUE), 1)$fingerprint, m$fingerprint)
  others <- list(
    mech_rr(c("yes", "no"), 1), mech_rr(c("no", "yes"), 1 + 1e-15), mech_rr(c("no", "yes", "?"), 1),
    mech_rr(c("no", "yes"), 1, na = "level"), mech_lambda(list(a = c("no", "yes")), epsilon = 1),
    mech_matrix(as.matrix(m))
  )
  prints <- vapply(c(list(m), others), function(x) x$fingerprint, character(1))
  expect_identical(anyDuplicated(prints), 0L)
})

test_that("reports and counts of another mechanism are refused", {
  m <- mech_rr(c("no", "yes"), 1)
  other <- mech_rr(c("no", "yes"), 2)
  reports <- privatize(c("no", "yes"), m)
  counts <- count_reports(reports, m)
  for (verb in list(estimate, count_reports, private_test_uniform)) {
    expect_confide_error(
      verb(reports, other), "mechanism", "must be decoded with the mechanism that made them"
    )
    expect_confide_error(
      verb(counts, other), "mechanism", "must be decoded with the mechanism that made them"
    )
  }
  expect_confide_error(estimate(reports[2], other), "mechanism")
  expect_confide_error(
    c(counts, count_reports(c("no", "yes"), other)), "mechanism", "one mechanism"
  )
  expect_confide_error(c(counts, 1), "mechanism")
  expect_s3_class(estimate(as_plain(reports), other), "confide_estimate")
})

test_that("two lambda mechanisms do not decode each other's reports", {
  m <- mech_lambda(list(a = 2, b = 3), lambda = .5)
  reports <- privatize(data.frame(a = 1:2, b = 2:3), m)
  expect_confide_error(estimate(reports, update(m, lambda = .6)), "mechanism")
  expect_confide_error(
    estimate_cells(reports, update(m, lambda = .6), data.frame(a = 1)), "mechanism"
  )
})

test_that("predict refuses the reports of another mechanism", {
  m <- mech_rr(c("no", "yes"), 1)
  reports <- privatize(c("no", "yes"), m)
  expect_confide_error(predict(update(m, epsilon = 2), reports), "mechanism")
})

test_that("mechanisms print within 12 lines and 80 columns", {
  long <- stats::setNames(rep(list(5), 100), paste0("attribute_with_a_long_name_", 1:100))
  all <- c(mechanisms(), list(
    mech_rr(2^31 - 1, 1e-300), mech_rr(2, 0), mech_rr(2, 1e308), mech_rr(strrep("x", 1:50), 1),
    mech_lambda(long, lambda = .1), mech_lambda(long, lambda = 1),
    mech_lambda(list(a = 2), epsilon = 1e-9),
    mech_matrix(diag(3)), mech_matrix(matrix(1, 2, 1)), mech_matrix(matrix(1 / 7, 3, 7))
  ))
  for (m in all) expect_prints_small(m)
})

test_that("printed privacy parameters are never below the true ones", {
  withr::local_seed(1)
  cases <- c(exp(stats::runif(200, -10, 3.7)), 1, 1.0986122886681098, .1, 44, 0.99999, 9.9999)
  for (epsilon in cases) {
    shown <- format_epsilon(epsilon)
    expect_gte(as.numeric(shown), epsilon * (1 - 1e-12))
    expect_lte(as.numeric(shown), epsilon * (1 + 2e-3))
  }
})

test_that("str shows one line", {
  for (m in mechanisms()) expect_length(utils::capture.output(utils::str(m)), 1)
})

test_that("mechanisms print their law, their guarantee and their precision", {
  expect_snapshot({
    mech_rr(c("never", "once", "often"), 1)
    mech_rr(2, 1e308)
    mech_rr(2, 0)
    toy_mechanism()
    mech_matrix(rbind(no = c(no = 0.75, yes = 0.25), yes = c(no = 0, yes = 1)))
    mech_matrix(rbind(a = c(x = .7, y = .3), b = c(x = .4, y = .6)), epsilon = 1)
  })
})

test_that("levels that R converts from numbers only when read give the fingerprint of plain text", {
  lazy <- factor(c(0L, 1L, 0L), 0:1)
  plain <- factor(c("0", "1"), c("0", "1"))
  expect_identical(mech_rr(lazy, 1)$fingerprint, mech_rr(plain, 1)$fingerprint)
})
