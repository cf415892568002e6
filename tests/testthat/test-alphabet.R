# Declared domains, and how private values are matched to them.

abc <- function(...) mech_rr(c("a", "b", "c"), 1, ...)

test_that("an alphabet of fewer than two levels is refused", {
  for (levels in list("a", character(), 1, 0, factor(), factor("a"), integer())) {
    expect_confide_error(mech_rr(levels, 1), "parameter")
  }
  expect_confide_error(mech_rr("a", 1), "parameter", "at least two categories")
  expect_confide_error(mech_rr(0, 1), "parameter", "at least two categories")
  expect_confide_error(mech_lambda(list(a = "x", b = 2), lambda = .5), "parameter", "Attribute `a`")
})

test_that("more than 2^31 - 1 levels are refused, and that many are served", {
  for (k in c(2^31, 2^31 + 1, 1e300)) {
    expect_confide_error(mech_rr(k, 1), "parameter", "at most 2^31 - 1 categories")
  }
  m <- mech_rr(2^31 - 1, 1)
  expect_identical(dim(m), rep(.Machine$integer.max, 2))
  expect_true(audit(m)$ok)
  report <- privatize_codes(m, 2^31 - 1)
  expect_true(report >= 1 && report <= 2^31 - 1)
})

test_that("what declares no levels is refused", {
  cases <- list(
    NULL, NA, NaN, Inf, -1, 1.5, TRUE, list("a", "b"), matrix(1:4, 2), mean, 1i,
    as.Date("2020-01-01")
  )
  for (levels in cases) {
    expect_confide_error(mech_rr(levels, 1), "parameter")
  }
})

test_that("repeated levels are refused and named", {
  expect_confide_error(mech_rr(c("a", "a"), 1), "parameter", "Repeated: \"a\"")
  expect_confide_error(mech_rr(c(1, 1), 1), "parameter", "Repeated")
})

test_that("NA is no level, in text or in a factor", {
  expect_confide_error(mech_rr(c("a", NA), 1), "parameter", "must not hold NA")
  expect_confide_error(mech_rr(addNA(factor(c("a", "b"))), 1), "parameter", "must not hold NA")
})

test_that("empty and blank labels are legal and distinct", {
  m <- mech_rr(c("", " "), 44)
  expect_identical(levels(m), c("", " "))
  expect_identical(as.character(privatize(c("", " ", ""), m)), c("", " ", ""))
})

test_that("different spellings of one character are different levels", {
  composed <- "\u00e9"
  decomposed <- "e\u0301"
  m <- mech_rr(c(composed, decomposed), 1)
  expect_length(levels(m), 2)
  expect_confide_error(privatize(decomposed, mech_rr(c(composed, "x"), 1), rng = "r"), "domain")
})

test_that("latin1 text is the same level as its UTF-8 form", {
  latin <- "\xe9"
  Encoding(latin) <- "latin1"
  utf8 <- "\u00e9"
  expect_identical(mech_rr(c(latin, "x"), 1)$fingerprint, mech_rr(c(utf8, "x"), 1)$fingerprint)
  m <- mech_rr(c(utf8, "x"), 44)
  expect_identical(as.character(privatize(latin, m)), utf8)
  # as a factor's label and as a name in a table of counts too
  expect_identical(as.character(privatize(factor(latin), m)), utf8)
  counts <- c(3, 2)
  names(counts) <- c(latin, "x")
  expect_identical(unname(count_reports(counts, m)$counts), c(3, 2))
})

test_that("text that is not valid is refused in levels and in data", {
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  invalid <- "\xff\xfe"
  Encoding(invalid) <- "UTF-8"
  expect_confide_error(mech_rr(c(bytes, "x"), 1), "parameter", "valid text")
  expect_confide_error(mech_rr(c(invalid, "x"), 1), "parameter", "valid text")
  expect_same_domain_error(list(bytes, invalid, c("a", bytes)), abc())
})

test_that("very long labels and line breaks are kept and printed short", {
  long <- strrep("x", 1e5)
  m <- mech_rr(c(long, "a\nb", "c"), 44)
  expect_identical(levels(m)[[1]], long)
  expect_prints_small(m)
  expect_prints_small(privatize(c("c", "c"), m))
  e <- estimate(c("a\nb", "c", "c", long, "c"), m)
  expect_prints_small(e)
  expect_prints_small(count_reports(c("a\nb", "c"), m))
  expect_confide_error(mech_rr(c(long, long), 1), "parameter", "xxx...")
})

test_that("levels keep the order in which they are given, whatever the locale", {
  labels <- c("b", "A", "a", "B", "\u00e4", "_")
  made <- lapply(c("C", "C.UTF-8", "en_US.UTF-8", "tr_TR.UTF-8"), function(locale) {
    old <- Sys.getlocale("LC_COLLATE")
    on.exit(Sys.setlocale("LC_COLLATE", old))
    suppressWarnings(Sys.setlocale("LC_COLLATE", locale))
    m <- mech_rr(labels, 1)
    e <- estimate(table(factor(labels, labels)), m)
    list(levels(m), m$fingerprint, names(coef(e)), levels(privatize(labels, m)))
  })
  expect_identical(made[[1]][[1]], labels)
  for (one in made) expect_identical(one, made[[1]])
})

test_that("a count k declares the labels 1 to k, never in scientific notation", {
  expect_identical(levels(mech_rr(3, 1)), c("1", "2", "3"))
  expect_identical(levels(mech_rr(1e5, 1))[c(1, 1e5)], c("1", "100000"))
  withr::local_options(scipen = -100)
  expect_identical(levels(mech_rr(c(1e5, 2e5), 1)), c("100000", "200000"))
  expect_identical(levels(mech_rr(100, 1))[[100]], "100")
})

test_that("what is no vector of categories is refused as private data", {
  inputs <- list(
    NULL, list(), list("a"), function() 1, globalenv(), quote(x), y ~ x, stdin(), expression(a),
    matrix("a"),
    array("a", c(1, 1, 1)), data.frame(a = "a"), data.frame(a = I(list("a"))), list(list("a")),
    as.raw(1), 1i,
    as.Date("2020-01-01"), as.POSIXlt("2020-01-01"), 1, 1L, c(1, 2, 3), TRUE, c(TRUE, FALSE)
  )
  expect_same_domain_error(inputs, abc(), "It is not.")
})

test_that("a data frame with one column is refused with the hint to take the column", {
  expect_confide_error(
    privatize(data.frame(a = "a"), abc(), rng = "r"), "domain", "take one column with `[[`"
  )
})

test_that("values outside the levels are refused with a text that does not depend on them", {
  inputs <- list(
    "z", c("a", "z"), c("z", "a"), rep("z", 1e4), "A", " a", "", NA, c("a", NA), NA_character_,
    factor("z"), factor(c("a", NA)), addNA(factor(c("a", NA))), factor("1", "1"), "<NA>",
    c(NA, "z"),
    "SECRET-VALUE"
  )
  expect_same_domain_error(
    inputs, abc(), "must hold only values of the mechanism's declared levels"
  )
  message <- expect_confide_error(privatize(c("a", "SECRET-VALUE"), abc(), rng = "r"), "domain")
  expect_no_match(message, "SECRET-VALUE")
  expect_no_match(message, "[0-9]")
})

test_that("a factor whose codes have no labels is refused", {
  corrupt <- list(
    structure(c(1L, 5L), levels = c("a", "b"), class = "factor"),
    structure(c(0L, 1L), levels = c("a", "b"), class = "factor"),
    structure(c(-1L, 1L), levels = c("a", "b"), class = "factor"),
    structure(c(1L, 1L), class = "factor")
  )
  expect_same_domain_error(corrupt, mech_rr(c("a", "b"), 1), "well-formed factor")
})

test_that("no values give no reports", {
  for (x in list(character(0), factor(character(0)), factor(character(0), c("z", "y")))) {
    reports <- privatize(x, abc())
    expect_length(reports, 0)
    expect_identical(levels(reports), c("a", "b", "c"))
  }
  expect_length(privatize(integer(0), mech_rr(3, 1)), 0)
})

test_that("a factor is matched by its labels, in any order and with levels to spare", {
  m <- mech_rr(c("a", "b", "c"), 44)
  expect_identical(as.character(privatize(factor(c("b", "a"), c("z", "b", "a")), m)), c("b", "a"))
  expect_identical(as.character(privatize(factor(c("c", "a"), c("c", "b", "a")), m)), c("c", "a"))
  expect_identical(as.character(privatize(ordered(c("c", "a"), c("c", "a")), m)), c("c", "a"))
  expect_identical(levels(privatize(factor("a", c("z", "a")), m)), c("a", "b", "c"))
  expect_s3_class(privatize(ordered("a"), m), c("confide_reports", "factor"), exact = TRUE)
})

test_that("numbers are never guessed to be codes of character levels", {
  expect_same_domain_error(list(1, 1L, c(1, 2), 1:3), abc())
})

test_that("integer codes are legal where the levels are numbers", {
  m <- mech_rr(1:3, 44)
  expect_identical(as.character(privatize(c(3L, 1L, 2L), m)), c("3", "1", "2"))
  expect_identical(as.character(privatize(c(3, 1), mech_rr(3, 44))), c("3", "1"))
  expect_identical(as.character(privatize(c("3", "1"), mech_rr(3, 44))), c("3", "1"))
  expect_identical(as.character(privatize(c(20, 10), mech_rr(c(10, 20), 44))), c("20", "10"))
  expect_same_domain_error(
    list(0, 4, 1.5, -1L, 5L, Inf, NaN, NA_integer_, 2^31, "01", "1.0", 1:4), mech_rr(3, 1)
  )
  expect_same_domain_error(list(1, 2L, 15), mech_rr(c(10, 20), 1))
})

test_that("logical values are legal only where the levels are logical", {
  m <- mech_rr(c(FALSE, TRUE), 44)
  expect_identical(as.character(privatize(c(TRUE, FALSE), m)), c("TRUE", "FALSE"))
  expect_same_domain_error(list(TRUE, c(TRUE, FALSE)), mech_rr(c("FALSE", "TRUE"), 1))
})

test_that("a missing answer is refused or a category of its own, as the mechanism says", {
  m <- mech_rr(c("a", "b"), 44, na = "level")
  expect_identical(levels(m), c("a", "b", "<NA>"))
  expect_identical(as.character(privatize(c("a", NA, "b"), m)), c("a", NA, "b"))
  expect_identical(as.character(privatize(addNA(factor(c("a", NA))), m)), c("a", NA))
  expect_identical(as.character(privatize(c(NA, NA), m)), c(NA_character_, NA_character_))
  expect_identical(as.character(privatize(c(1L, NA), mech_rr(2, 44, na = "level"))), c("1", NA))
  expect_identical(
    as.character(privatize(c(TRUE, NA), mech_rr(c(FALSE, TRUE), 44, na = "level"))), c("TRUE", NA)
  )
  expect_same_domain_error(list("z", c(NA, "z"), "<NA>", c("a", "<NA>")), m)
  expect_confide_error(privatize(NaN, mech_rr(2, 1, na = "level"), rng = "r"), "domain")
  expect_confide_error(mech_rr(c("a", "<NA>"), 1, na = "level"), "parameter", "Repeated")
})

test_that("the missing category is estimated like any other", {
  m <- mech_rr(c("a", "b"), 3, na = "level")
  x <- rep(c("a", "b", NA), c(500, 300, 200))
  e <- estimate(withr::with_seed(1, privatize(x, m, rng = "r")), m)
  expect_identical(names(coef(e)), c("a", "b", "<NA>"))
  expect_lte(max(abs(coef(e) - c(.5, .3, .2)) / e$std_error), 5)
})

test_that("names and other attributes of values are dropped", {
  x <- structure(c(u = "a", u = "b"), secret = "SECRET-MARKER")
  reports <- privatize(x, abc())
  expect_named(reports, NULL)
  expect_setequal(names(attributes(reports)), c("levels", "class", "confide"))
  f <- structure(factor(c(u = "a", v = "b")), secret = "SECRET-MARKER", label = "SECRET-MARKER")
  expect_holds_no("SECRET-MARKER", privatize(f, abc()))
})

test_that("a compact integer sequence is randomized like any other vector", {
  m <- mech_rr(1e6, 44)
  expect_identical(unclass(as_plain(privatize(1:1e6, m)))[c(1, 5e5, 1e6)], c(1L, 500000L, 1000000L))
})

test_that("what is no report is told what reports are, and that answers have to be randomized", {
  randomize <- "True answers become reports by `privatize()`"
  spr <- mech_spr(c(a = .2, b = .3, c = .5), c(a = .5, b = .3, c = .2), epsilon = 1)
  expect_confide_error(
    private_test(c("a", "b"), spr), "domain", c("only reports of this mechanism, 1 to 2", randomize)
  )
  block <- mech_block(10, 1)
  legal <- sprintf("`x` must hold only reports of this mechanism, 1 to %d", block$n_outputs)
  says <- c(legal, randomize)
  expect_confide_error(estimate(c(1, 500), block), "domain", says)
  expect_confide_error(estimate(c("500" = 3), block), "domain", says)
  expect_confide_error(estimate("a", block), "domain", says)
  expect_confide_error(predict(block, 500), "domain", "`reports` must hold only reports")
  rr <- mech_rr(c("no", "yes"), 1)
  expect_confide_error(predict(rr, "maybe"), "domain", c(
    "`reports` must hold only reports", "\"no\", \"yes\"", randomize
  ))
  pair <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  wrong <- data.frame(a = "3", b = "1")
  expect_confide_error(
    estimate(wrong, pair), "domain", c("`x` must hold only reports", "levels(mechanism)", randomize)
  )
  expect_confide_error(predict(pair, wrong), "domain", "`reports` must hold only reports")
})

test_that("numbers where reports are labels are told how counts are named", {
  counts <- function(levels) {
    expect_confide_error(estimate(c(10, 20), mech_rr(levels, 1)), "domain", "Counts are named")
  }
  expect_match(flatten_text(counts(c("no", "yes"))), "c(no = 10, yes = 20)", fixed = TRUE)
  expect_match(flatten_text(counts(c("{a}", "b c"))), "c(`{a}` = 10, `b c` = 20)", fixed = TRUE)
})

test_that("levels that repeat are said to be those of their attribute", {
  expect_confide_error(
    mech_lambda(list(`a{` = c("x", "x"), b = 2), lambda = .5), "parameter",
    "The levels of attribute `a{` must be distinct"
  )
})
