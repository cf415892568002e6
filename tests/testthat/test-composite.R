cluster <- function() {
  composite(
    list(age = c("child", "adult"), work = c("none", "employed", "retired")),
    function(cells) cells$age == "adult" | cells$work == "none"
  )
}

people <- function() {
  data.frame(
    id = 1:4, work = factor(c("none", "retired", "employed", "none")),
    age = c("child", "adult", "adult", "adult"), stringsAsFactors = FALSE
  )
}

test_that("a composite holds the feasible combinations, first attribute fastest", {
  expect_identical(
    levels(cluster()), c("child / none", "adult / none", "adult / employed", "adult / retired")
  )
  frame <- as.data.frame(cluster())
  expect_identical(names(frame), c("label", "age", "work"))
  expect_identical(as.character(frame$work), c("none", "none", "employed", "retired"))
})

test_that("function, array and data frame declare the same", {
  domain <- list(age = c("child", "adult"), work = c("none", "employed", "retired"))
  flags <- array(c(TRUE, TRUE, FALSE, TRUE, FALSE, TRUE), c(2, 3))
  expect_identical(composite(domain, flags), cluster())
  turned <- t(array(flags, c(2, 3), domain))
  expect_identical(composite(domain, turned), cluster())
  frame <- as.data.frame(cluster())
  expect_identical(composite(domain, frame[c("work", "age")]), cluster())
  reordered <- composite(domain, frame[4:1, c("age", "work")])
  expect_identical(levels(reordered), rev(levels(cluster())))
})

test_that("data go into the composite and back", {
  values <- combine_attributes(people(), cluster())
  expect_identical(
    as.character(values), c("child / none", "adult / retired", "adult / employed", "adult / none")
  )
  back <- split_attributes(values, cluster())
  expect_identical(as.character(back$age), people()$age)
  expect_identical(as.character(back$work), as.character(people()$work))
  expect_identical(levels(back$age), c("child", "adult"))
})

test_that("impossible combinations are never reported", {
  withr::local_seed(1)
  m <- mech_lambda(list(both = cluster(), sex = 2), lambda = .2)
  expect_identical(levels(m)$both, levels(cluster()))
  x <- data.frame(both = combine_attributes(people()[rep(1:4, 500), ], cluster()), sex = 1)
  reports <- split_attributes(privatize(x, m, rng = "r"), cluster())
  expect_identical(names(reports), c("age", "work", "sex"))
  expect_false(any(reports$age == "child" & reports$work != "none"))
})

test_that("an estimate is split into its attributes, numbers unchanged", {
  m <- mech_lambda(list(sex = 2, both = cluster()), lambda = .8)
  N <- array(c(10, 40, 30, 20, 60, 25, 35, 45), c(2, 4), levels(m))
  e <- estimate(as.table(N), m)
  split <- split_attributes(e, cluster())
  expect_identical(names(split)[1:3], c("sex", "age", "work"))
  expect_identical(split$estimate, e$estimate)
  expect_identical(as.character(split$age[1:2]), c("child", "child"))
})

test_that("a missing answer makes the combination missing, which the mechanism judges", {
  x <- people()
  x$work[[2]] <- NA
  values <- combine_attributes(x, cluster())
  expect_identical(is.na(values), c(FALSE, TRUE, FALSE, FALSE))
  frame <- data.frame(both = values)
  expect_confide_error(
    privatize(frame, mech_lambda(list(both = cluster()), lambda = 1), rng = "r"), "domain"
  )
  m <- mech_lambda(list(both = cluster()), lambda = 1, na = "level")
  reports <- privatize(frame, m)
  ages <- split_attributes(reports, cluster())$age
  expect_identical(as.character(ages), c("child", NA, "adult", "adult"))
})

test_that("data outside the domain have an error of fixed text", {
  inputs <- list(
    transform(people(), age = "child"),
    transform(people(), age = c("SECRET-MARKER", "adult", "adult", "adult"))
  )
  for (x in inputs) {
    message <- expect_confide_error(combine_attributes(x, cluster()), "domain")
    expect_no_match(message, "SECRET-MARKER|child|retired")
  }
})

test_that("what declares no composite is refused", {
  domain <- list(a = 2, b = 2)
  wrong <- list(
    TRUE, rep(TRUE, 3), array(TRUE, c(2, 3)), array(c(TRUE, NA), c(2, 2)), array(FALSE, c(2, 2)),
    1, "a", NULL, sum, function(cells) TRUE, function(cells) NULL, data.frame(a = 1),
    data.frame(a = 1, b = 3), data.frame(a = c(1, 1), b = c(1, 1)), data.frame(a = 1, b = 1)
  )
  for (feasible in wrong) {
    expect_confide_error(composite(domain, feasible), "parameter")
  }
  stops <- function(cells) stop("no {braces} here")
  expect_confide_error(composite(domain, stops), "parameter", "no {braces} here")
  expect_confide_error(composite(list(2, 2), array(TRUE, c(2, 2))), "parameter")
  expect_confide_error(composite(domain, array(TRUE, c(2, 2)), sep = NA), "parameter")
  bytes <- "caf\xe9"
  Encoding(bytes) <- "bytes"
  expect_confide_error(composite(domain, array(TRUE, c(2, 2)), sep = bytes), "parameter", "string")
  ambiguous <- list(a = c("x", "x-y"), b = c("y-z", "z"))
  expect_confide_error(
    composite(ambiguous, array(TRUE, c(2, 2)), sep = "-"), "parameter", "Repeated"
  )
  expect_confide_error(combine_attributes(people(), 1), "parameter")
  expect_confide_error(combine_attributes(people()["age"], cluster()), "parameter", "Missing")
  expect_confide_error(split_attributes(people(), cluster()), "parameter", "exactly one")
})

test_that("composites print small", {
  expect_prints_small(cluster())
  expect_prints_small(composite(list(a = 9, b = 9), array(TRUE, c(9, 9))))
})
