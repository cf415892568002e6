# Drawing reports: shape, reproducibility, what is checked before, what does not travel.

people <- function(n = 50) {
  data.frame(
    answer = factor(rep_len(c("no", "yes", "yes"), n), c("no", "yes", "refused")),
    grade = factor(rep_len(c("lo", "hi"), n), c("lo", "mid", "hi"), ordered = TRUE)
  )
}

test_that("reports have the length, the order and the levels of the declared domain", {
  x <- people()
  m <- mech_lambda(x, lambda = .5)
  reports <- privatize(x, m)
  expect_s3_class(reports, c("confide_reports", "data.frame"), exact = TRUE)
  expect_identical(dim(reports), dim(x))
  expect_identical(names(reports), names(x))
  expect_identical(lapply(reports, levels), lapply(x, levels))
  expect_s3_class(reports$grade, "ordered")
  expect_s3_class(
    privatize(x$answer, mech_rr(x$answer, 1)), c("confide_reports", "factor"), exact = TRUE
  )
})

test_that("lambda 1 leaves the data as they are", {
  x <- people()
  m <- mech_lambda(x, lambda = 1)
  expect_identical(as_plain(privatize(x, m)), x)
  expect_identical(as_plain(privatize(x, m, rng = "r")), x)
})

test_that("an attribute with lambda 1 is kept beside one that is randomized", {
  x <- people()
  reports <- privatize(x, mech_lambda(x, lambda = c(answer = 1, grade = .2)))
  expect_identical(reports$answer, x$answer)
})

test_that("ordered levels, labels and contrasts of a declared factor are kept", {
  x <- people()
  attr(x$answer, "label") <- "Did you?"
  stats::contrasts(x$answer) <- stats::contr.sum(3)
  reports <- privatize(x, mech_lambda(x, lambda = .5))
  expect_identical(attr(reports$answer, "label"), "Did you?")
  expect_identical(stats::contrasts(reports$answer), stats::contrasts(x$answer))
  expect_s3_class(reports$grade, "ordered")
})

test_that("columns may come in any order and reports keep it", {
  x <- people()
  m <- mech_lambda(x, lambda = c(answer = 1, grade = 1))
  reports <- privatize(x[2:1], m)
  expect_identical(as_plain(reports), x[2:1])
  expect_identical(
    coef(estimate(reports, m)), coef(estimate(x, m))
  )
})

test_that("the same columns in another order give the same estimates", {
  x <- people(200)
  m <- mech_lambda(x, lambda = c(.5, .7))
  reports <- withr::with_seed(1, privatize(x, m, rng = "r"))
  swapped <- estimate(as_plain(reports)[2:1], m)
  expect_identical(coef(swapped), coef(estimate(reports, m)))
  other <- estimate(as_plain(reports), mech_lambda(x[2:1], lambda = c(answer = .5, grade = .7)))
  expect_equal(as.vector(t(as.table(other))), unname(coef(swapped)), tolerance = 1e-14)
})

test_that("an unused level is reported with the probability of a lie", {
  n <- 20000
  x <- people(n)
  m <- mech_lambda(x, lambda = .4)
  reports <- withr::with_seed(2, privatize(x, m, rng = "r"))
  b <- .6 / 3
  for (share in c(mean(reports$answer == "refused"), mean(reports$grade == "mid"))) {
    expect_lte(abs(share - b), 5 * sqrt(b * (1 - b) / n)) # five standard errors
  }
})

test_that("attributes are randomized independently of each other", {
  n <- 20000
  m <- mech_lambda(list(a = 2, b = 3), lambda = c(.5, .3))
  reports <- withr::with_seed(
    3, privatize(data.frame(a = rep(1L, n), b = rep(2L, n)), m, rng = "r")
  )
  p <- as.matrix(m)["1, 2", ]
  z <- (as.vector(table(as_plain(reports))) / n - p) / sqrt(p * (1 - p) / n)
  expect_lte(max(abs(z)), 5)
})

test_that("set.seed() reproduces reports with rng = \"r\"", {
  x <- people()
  m <- mech_lambda(x, lambda = .5)
  draw_twice <- function(...) {
    lapply(1:2, function(i) withr::with_seed(9, privatize(..., rng = "r")))
  }
  for (pair in list(
    draw_twice(x, m), draw_twice(x$answer, mech_rr(x$answer, 1)),
    draw_twice(rep(1:2, 40), mech_matrix(matrix(.5, 2, 2)))
  )) {
    expect_identical(pair[[1]], pair[[2]])
  }
})

test_that("consecutive calls under one seed share no stream", {
  withr::local_seed(1)
  m <- mech_rr(2, 0)
  x <- rep(1L, 200)
  # equal with probability 2^-200
  expect_false(
    identical(as.integer(privatize(x, m, rng = "r")), as.integer(privatize(x, m, rng = "r")))
  )
})

test_that("reports with rng = \"r\" move R's generator, also over its kinds", {
  for (kind in c("Mersenne-Twister", "Wichmann-Hill", "L'Ecuyer-CMRG")) {
    withr::with_seed(1, .rng_kind = kind, {
      before <- random_state()
      privatize(rep(1L, 10), mech_rr(2, 1), rng = "r")
      expect_false(identical(random_state(), before))
    })
  }
})

test_that("the operating system's randomness leaves R's generator alone", {
  x <- people()
  before <- random_state()
  privatize(x, mech_lambda(x, lambda = .5))
  privatize(x$answer, mech_rr(x$answer, 1))
  privatize(1:2, mech_matrix(matrix(.5, 2, 2)))
  audit(mech_rr(3, 1), draws = 100)
  expect_identical(random_state(), before)
})

test_that("set.seed() has no effect on the operating system's randomness", {
  m <- mech_rr(2, 0)
  x <- rep(1L, 200)
  first <- withr::with_seed(1, as.integer(privatize(x, m)))
  # equal with probability 2^-200
  expect_false(identical(withr::with_seed(1, as.integer(privatize(x, m))), first))
})

test_that("a session without a seed gets none from the operating system's randomness", {
  withr::local_preserve_seed()
  random_state()
  rm(".Random.seed", envir = globalenv())
  privatize(1:2, mech_rr(2, 1))
  expect_false(exists(".Random.seed", envir = globalenv(), inherits = FALSE))
})

test_that("equal truths get independent reports", {
  m <- mech_rr(2, 0)
  expect_gt(length(unique(as.integer(privatize(rep(1L, 200), m)))), 1)
})

test_that("a data frame is needed, with the attributes and nothing else as columns", {
  m <- mech_lambda(people(), lambda = .5)
  x <- people()
  cases <- list(
    NULL, list(answer = "no", grade = "lo"), "no", as.matrix(x), x$answer, mean, quote(x), y ~ x
  )
  for (wrong in cases) {
    expect_confide_error(privatize(wrong, m, rng = "r"), "domain", "must be a data frame")
  }
  expect_confide_error(
    privatize(x["answer"], m, rng = "r"), "parameter", "Missing or repeated: \"grade\""
  )
  expect_confide_error(
    privatize(cbind(x, id = 1:50), m, rng = "r"), "parameter", c("leave unprotected", "\"id\"")
  )
  twice <- x[c(1, 2, 2)]
  names(twice)[[3]] <- "grade"
  expect_confide_error(
    privatize(twice, m, rng = "r"), "parameter", "Missing or repeated: \"grade\""
  )
  expect_confide_error(privatize(x[0], m, rng = "r"), "parameter")
})

test_that("a bad column of a data frame is refused with the fixed text", {
  m <- mech_lambda(people(), lambda = .5)
  wrong <- function(values) {
    x <- people(2)
    x$grade <- values
    x
  }
  messages <- vapply(list("top", c("lo", NA), factor("z"), NA_character_), function(values) {
    expect_confide_error(privatize(wrong(rep_len(values, 2)), m, rng = "r"), "domain")
  }, character(1))
  expect_length(unique(messages), 1)
  types <- list(1:2, as.Date("2020-01-01"), I(list("lo", "hi")), 1i, TRUE)
  messages <- vapply(types, function(values) {
    expect_confide_error(privatize(wrong(rep_len(values, 2)), m, rng = "r"), "domain")
  }, character(1))
  expect_length(unique(messages), 1)
  expect_no_match(messages[[1]], "Date|complex|list|integer")
})

test_that("no rows give no reports", {
  x <- people()[0, ]
  m <- mech_lambda(x, lambda = .5)
  expect_identical(as_plain(privatize(x, m)), x)
})

test_that("reports are not randomized again unless that is meant", {
  x <- people()
  m <- mech_lambda(x, lambda = .5)
  reports <- privatize(x, m)
  expect_confide_error(
    privatize(reports, m, rng = "r"), "parameter", c("reports already", "as_plain")
  )
  expect_s3_class(privatize(as_plain(reports), m), "confide_reports")
  one <- privatize(x$answer, mech_rr(x$answer, 1))
  expect_confide_error(
    privatize(one, mech_rr(x$answer, 1), rng = "r"), "parameter", "reports already"
  )
})

test_that("the values that were passed in are not changed", {
  x <- people()
  copy <- x
  codes <- c(1L, 2L, 1L)
  privatize(x, mech_lambda(x, lambda = .1))
  privatize(codes, mech_rr(2, .1))
  privatize(x$answer, mech_rr(x$answer, .1))
  expect_identical(x, copy)
  expect_identical(codes, c(1L, 2L, 1L))
})

test_that("tibbles stay tibbles and groups are dropped", {
  skip_if_not_installed("dplyr")
  x <- dplyr::as_tibble(people())
  m <- mech_lambda(people(), lambda = 1)
  expect_identical(as_plain(privatize(x, m)), x)
  grouped <- privatize(dplyr::group_by(x, .data$answer), m)
  expect_false(inherits(grouped, "grouped_df"))
  expect_null(attr(grouped, "groups"))
})

test_that("nothing of the private data but its shape travels with reports", {
  marker <- "SECRET-MARKER"
  x <- people(20)
  rownames(x) <- paste0(marker, 1:20)
  attr(x, "note") <- marker
  attr(x$answer, "note") <- marker
  attr(x$answer, "label") <- marker
  x$grade <- as.character(x$grade)
  names(x$grade) <- rep(marker, 20)
  m <- mech_lambda(people(), lambda = .5)
  reports <- privatize(x, m)
  counts <- count_reports(reports, m)
  for (object in list(
    reports, counts, estimate(reports, m), estimate(counts, m, method = "ml"),
    private_test(reports, m),
    estimate_cells(reports, m, data.frame(answer = "no")), audit(m), privacy(reports),
    summary(estimate(reports, m)),
    simulate(m, x = x)
  )) {
    expect_holds_no(marker, object)
  }
  # levels of a factor that the mechanism does not declare
  loose <- factor(c("no", "yes"), c("no", "yes", marker))
  expect_holds_no(marker, privatize(loose, mech_rr(c("no", "yes"), 1)))
})

test_that("groups of a grouped data frame do not travel", {
  skip_if_not_installed("dplyr")
  marker <- "SECRET-MARKER"
  x <- dplyr::group_by(people(4), grp = marker)
  x <- structure(x, note = marker)
  m <- mech_lambda(people(), lambda = .5)
  groups <- attr(x, "groups")
  x <- x[c("answer", "grade")]
  x <- structure(
    as.data.frame(x), class = c("grouped_df", "tbl_df", "tbl", "data.frame"), groups = groups
  )
  expect_holds_no(marker, privatize(x, m))
})

test_that("errors do not hold the data", {
  marker <- "SECRET-MARKER"
  x <- c("no", marker)
  error <- tryCatch(privatize(x, mech_rr(c("no", "yes"), 1)), error = identity)
  expect_no_match(paste(utils::capture.output(print(error)), collapse = " "), marker)
  expect_no_match(conditionMessage(error), marker)
})

test_that("reports print a few values and where the randomness came from", {
  x <- people(20)
  m <- mech_lambda(x, lambda = 1)
  expect_prints_small(privatize(x, m))
  expect_prints_small(privatize(x$answer, mech_rr(x$answer, 1)))
  # a seed means something only with its kind of generator, which other tests may leave changed
  withr::local_seed(1,
    .rng_kind = "Mersenne-Twister", .rng_normal_kind = "Inversion", .rng_sample_kind = "Rejection"
  )
  seeded <- privatize(x$answer, mech_rr(x$answer, 1), rng = "r")
  expect_snapshot({
    privatize(x, m)
    privatize(x, m, rng = "r")
    seeded
  })
})

test_that("reports with rng = \"r\" say that they are not private", {
  reports <- privatize(1:2, mech_rr(2, 1), rng = "r")
  expect_output(print(reports), "NOT PRIVATE")
  expect_match(format(privacy(reports)), "NOT PRIVATE", all = FALSE)
  expect_false(any(grepl("NOT PRIVATE", format(privacy(privatize(1:2, mech_rr(2, 1)))))))
})

test_that("subsets of reports keep their fingerprint, and plain values are accepted", {
  m <- mech_rr(2, 1)
  reports <- privatize(rep(1:2, 10), m)
  expect_identical(attr(reports[3:5], "confide")$fingerprint, m$fingerprint)
  expect_identical(nobs(estimate(reports[3:5], m)), 3L)
  frame <- privatize(people(), mech_lambda(people(), lambda = .5))
  expect_s3_class(frame[1:3, ], c("confide_reports", "data.frame"))
  expect_s3_class(frame["answer"], "confide_reports")
  expect_s3_class(estimate(as.character(reports), m), "confide_estimate")
  expect_s3_class(estimate(as_plain(reports), m), "confide_estimate")
})

test_that("reports survive being saved", {
  path <- withr::local_tempfile(fileext = ".rds")
  m <- mech_lambda(people(), lambda = .5)
  reports <- privatize(people(), m)
  saveRDS(reports, path)
  expect_identical(readRDS(path), reports)
  expect_identical(estimate(readRDS(path), m), estimate(reports, m))
})

test_that("simulate follows stats::simulate", {
  m <- mech_rr(2, 1)
  x <- rep(1:2, 50)
  sets <- simulate(m, nsim = 3, seed = 1, x = x)
  expect_named(sets, c("sim_1", "sim_2", "sim_3"))
  expect_identical(dim(sets), c(100L, 3L))
  expect_identical(simulate(m, nsim = 3, seed = 1, x = x), sets)
  expect_false(identical(sets$sim_1, sets$sim_2))
  expect_identical(as.integer(attr(sets, "seed")), 1L)
  before <- random_state()
  simulate(m, seed = 5, x = x)
  expect_identical(random_state(), before)
  without <- withr::with_seed(3, simulate(m, x = x))
  expect_identical(withr::with_seed(3, simulate(m, x = x)), without)
  frames <- simulate(mech_lambda(people(), lambda = .5), nsim = 2, seed = 1, x = people())
  expect_length(frames, 2)
  expect_s3_class(frames$sim_1, "data.frame")
})

test_that("simulated reports have the law of private ones", {
  n <- 20000
  m <- mech_rr(3, 1)
  share <- table(simulate(m, seed = 8, x = rep(2L, n))$sim_1) / n
  p <- as.matrix(m)[2, ]
  expect_lte(max(abs(share - p) / sqrt(p * (1 - p) / n)), 5)
})

test_that("a failure of the operating system's randomness gives its own error and no reports", {
  fail <- function(...) {
    classes <- c("confide::RandomnessError", "error", "condition")
    stop(structure(class = classes, list(message = "no", call = NULL)))
  }
  m <- structure(mech_rr(2, 1))
  registerS3method("randomize", "confide_failing", fail, envir = asNamespace("confide"))
  failing <- m
  class(failing) <- c("confide_failing", class(m))
  expect_confide_error(draw(failing, 1L, "os"), "randomness", "Nothing was released")
})

test_that("an interrupt stops a long draw and leaves nothing behind", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not(extended(), "extended tests only")
  m <- mech_rr(2, 1)
  x <- rep(1L, 4e7)
  expect_identical(interrupted_after(.3, privatize(x, m, rng = "r")), "interrupted")
  expect_length(privatize(1:2, m), 2)
})

test_that("reports put together are of one mechanism and as private as the least private part", {
  data <- data.frame(a = factor(c(1, 2)), b = factor(c(1, 2)))
  m <- mech_lambda(list(a = 2, b = 2), lambda = .5)
  about <- function(x) attr(x, "confide")
  shapes <- list(data)
  if (is_there("dplyr")) shapes <- c(shapes, list(dplyr::as_tibble(data)))
  for (data in shapes) {
    os <- privatize(data, m)
    r <- privatize(data, m, rng = "r")
    other <- privatize(data, update(m, lambda = .6))
    both <- rbind(os, r)
    expect_identical(class(both), class(os))
    expect_identical(about(both)$fingerprint, m$fingerprint)
    expect_identical(about(both)$rng, "r")
    expect_identical(privacy(both)$rng, "r")
    expect_output(print(both), "NOT PRIVATE")
    expect_equal(
      count_reports(both, m)$counts, c(count_reports(os, m), count_reports(r, m))$counts
    )
    expect_identical(about(rbind(os, os, make.row.names = FALSE))$rng, "os")
    expect_identical(dim(rbind(os, os, os)), c(6L, 2L))
    expect_confide_error(rbind(os, other), "mechanism", "one mechanism")
    expect_confide_error(rbind(r, os, other), "mechanism", "one mechanism")
  }
  # the randomness of a part without a fingerprint is not known
  part <- rbind(os, as_plain(os))
  expect_identical(about(part)$fingerprint, m$fingerprint)
  expect_null(about(part)$rng)
  expect_identical(about(rbind(r, as_plain(os)))$rng, "r")
})

test_that("rows of set reports are put together as reports", {
  m <- mech_block(6, 1, design = "subset selection(6,3)")
  first <- privatize(1:6, m)
  second <- privatize(1:6, m, rng = "r")
  both <- rbind(first, second)
  expect_identical(unname(as_plain(both)), unname(rbind(as_plain(first), as_plain(second))))
  expect_identical(attr(both, "confide")$rng, "r")
  expect_equal(count_reports(both, m)$n, 12)
  expect_confide_error(rbind(first, privatize(1:6, update(m, epsilon = 2))), "mechanism")
})

test_that("rows that dplyr puts together are no reports, those that it picks are", {
  skip_if_not_installed("dplyr")
  m <- mech_lambda(list(a = 2, b = 2), epsilon = 1)
  x <- data.frame(a = c("1", "2"), b = c("2", "1"))
  private <- privatize(x, m)
  bound <- dplyr::bind_rows(private, privatize(x, m, rng = "r"))
  expect_identical(class(bound), "data.frame")
  expect_null(attr(bound, "confide"))
  expect_identical(dim(bound), c(4L, 2L))
  picked <- dplyr::filter(private, TRUE)
  expect_s3_class(picked, "confide_reports")
  expect_identical(attr(picked, "confide"), attr(private, "confide"))
})
