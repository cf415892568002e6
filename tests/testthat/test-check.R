# What every verb checks first: public arguments, misspelt arguments, the shape of errors.

binary <- matrix(c(.7, .4, .3, .6), 2)

test_that("a missing or NaN epsilon is refused", {
  for (epsilon in list(NA, NA_real_, NA_integer_, NaN)) {
    expect_confide_error(mech_rr(3, epsilon), "parameter", "`epsilon` must be one finite number")
    expect_confide_error(mech_lambda(list(a = 3), epsilon = epsilon), "parameter")
    expect_confide_error(mech_matrix(binary, epsilon = epsilon), "parameter")
  }
})

test_that("an infinite epsilon is refused with the advice to use 44", {
  expect_confide_error(mech_rr(3, Inf), "parameter", "epsilon = 44")
  expect_confide_error(mech_matrix(binary, epsilon = Inf), "parameter", "epsilon = 44")
  expect_confide_error(mech_lambda(list(a = 3), epsilon = Inf), "parameter")
})

test_that("a negative epsilon is refused", {
  for (epsilon in c(-Inf, -1, -1e-300)) {
    expect_confide_error(mech_rr(3, epsilon), "parameter", "It is double -")
    expect_confide_error(mech_lambda(list(a = 3), epsilon = epsilon), "parameter")
    expect_confide_error(mech_matrix(binary, epsilon = epsilon), "parameter")
  }
})

test_that("epsilon 0 gives uniform reports and is certified as 0", {
  m <- mech_rr(4, 0)
  expect_identical(unname(as.matrix(m)), matrix(.25, 4, 4))
  expect_identical(audit(m)$worst_log_ratio, 0)
  expect_identical(privacy(m)$epsilon_realised, 0)
  expect_confide_error(estimate(c(1, 2, 3, 4), m), "parameter", "epsilon is 0")
  expect_confide_error(mech_lambda(list(a = 3), epsilon = 0), "parameter", "above 0")
})

test_that("minus zero is zero", {
  expect_identical(1 / mech_rr(3, -0)$epsilon, Inf)
  expect_identical(mech_rr(3, -0)$fingerprint, mech_rr(3, 0)$fingerprint)
})

test_that("an epsilon too small for the integers gives uniform reports", {
  for (epsilon in c(5e-324, 1e-300)) {
    m <- mech_rr(3, epsilon)
    expect_identical(audit(m)$worst_log_ratio, 0)
    expect_identical(m$epsilon, epsilon)
    expect_lte(privacy(m)$epsilon_realised, epsilon)
  }
})

test_that("an epsilon above 44 is served as 44 and says so", {
  for (epsilon in c(44.1, 709.8, 710, 745, 746, 2^31, 2^53 + 2, 1e308, .Machine$double.xmax)) {
    m <- mech_rr(3, epsilon)
    expect_lte(audit(m)$worst_log_ratio, 44)
    expect_match(format(m), "served as epsilon = 4[34]", all = FALSE)
    expect_true(audit(m)$ok)
  }
  expect_false(any(grepl("served", format(mech_rr(3, 44)))))
})

test_that("a logical, text or complex epsilon is refused", {
  for (epsilon in list(TRUE, "1", "1e308", 1i)) {
    expect_confide_error(mech_rr(3, epsilon), "parameter", typeof(epsilon))
    expect_confide_error(mech_lambda(list(a = 3), epsilon = epsilon), "parameter", typeof(epsilon))
  }
})

test_that("an epsilon with a class is refused", {
  number <- methods::setClass("confide_test_number", contains = "numeric", where = environment())
  objects <- list(
    factor("1"), as.Date("2020-01-01"), as.difftime(1, units = "secs"), structure(1, class = "foo"),
    number(1), stdin(), structure(1, class = "integer64")
  )
  for (epsilon in objects) {
    expect_confide_error(mech_rr(3, epsilon), "parameter", "an object of class")
    expect_confide_error(
      mech_lambda(list(a = 3), epsilon = epsilon), "parameter", "an object of class"
    )
  }
})

test_that("an epsilon that is not a single number is refused", {
  cases <- list(c(1, 2), numeric(0), NULL, list(1), matrix(1), quote(x), mean, globalenv())
  for (epsilon in cases) {
    expect_confide_error(mech_rr(3, epsilon), "parameter", "must be one finite number")
  }
  expect_confide_error(mech_lambda(list(a = 3, b = 2), epsilon = c(1, 2, 3)), "parameter")
  expect_confide_error(mech_lambda(list(a = 3), epsilon = matrix(1)), "parameter")
})

test_that("an integer epsilon is a number like any other", {
  expect_identical(mech_rr(3, 1L)$fingerprint, mech_rr(3, 1)$fingerprint)
})

test_that("the name of a single epsilon is dropped", {
  expect_identical(mech_rr(3, c(a = 1))$epsilon, 1)
})

test_that("every error tells what was expected, what was found and how to go on", {
  message <- expect_confide_error(
    mech_rr(3, "1"), "parameter", "`epsilon` must be one finite number, at least 0."
  )
  expect_match(message, "It is character \"1\"", fixed = TRUE)
  expect_match(message, "Smaller protects more", fixed = TRUE)
})

test_that("a missing argument is named by its error", {
  m <- mech_rr(2, 1)
  expect_confide_error(mech_rr(), "parameter", "`levels` must be given")
  expect_confide_error(mech_rr(3), "parameter", "`epsilon` must be given")
  expect_confide_error(mech_lambda(), "parameter", "`levels` must be given")
  expect_confide_error(mech_lambda(list(a = 2)), "parameter", "Neither is given")
  expect_confide_error(mech_matrix(), "parameter", "`P` must be given")
  expect_confide_error(privatize(), "parameter", "`mechanism` must be given")
  expect_confide_error(privatize(c("1", "2")), "parameter", "`mechanism` must be given")
  expect_confide_error(privatize(mechanism = m), "parameter", "`x` must be given")
  expect_confide_error(count_reports(mechanism = m), "parameter", "`x` must be given")
  expect_confide_error(estimate(mechanism = m), "parameter", "`x` must be given")
  expect_confide_error(estimate(c(1, 2)), "parameter", "`mechanism` must be given")
  expect_confide_error(estimate_cells(c(1, 2)), "parameter", "`mechanism` must be given")
  expect_confide_error(private_test(mechanism = m), "parameter", "`x` must be given")
  expect_confide_error(predict(m), "parameter", "`reports` must be given")
  expect_confide_error(simulate(m), "parameter", "`x` must be given")
})

test_that("a missing argument of the caller is named like one of ours", {
  wrapper <- function(epsilon) mech_rr(3, epsilon)
  expect_confide_error(wrapper(), "parameter", "`epsilon` must be given")
})

test_that("misspelt, abbreviated and superfluous arguments are refused", {
  m <- mech_rr(2, 1)
  e <- estimate(c("1", "2"), m)
  expect_confide_error(mech_rr(3, eps = 1), "parameter", "eps")
  expect_confide_error(mech_rr(3, 1, "level"), "parameter", "unnamed")
  expect_confide_error(mech_lambda(list(a = 2), lam = .5), "parameter", "lam")
  expect_confide_error(mech_lambda(list(a = 2), .5), "parameter", "unnamed")
  expect_confide_error(mech_matrix(binary, eps = 1), "parameter", "eps")
  expect_confide_error(privatize("1", m, seed = 1), "parameter", "seed")
  expect_confide_error(privatize("1", m, "r"), "parameter", "unnamed")
  expect_confide_error(count_reports("1", m, weight = 1), "parameter", "weight")
  expect_confide_error(estimate("1", m, meth = "ml"), "parameter", "meth")
  expect_confide_error(private_test("1", m, stat = "pearson"), "parameter", "stat")
  expect_confide_error(coef(e, what = 1), "parameter", "what")
  expect_confide_error(vcov(e, kind = "privacy"), "parameter", "kind")
  expect_confide_error(confint(e, lev = .9), "parameter", "lev")
  expect_confide_error(audit(m, draw = 10), "parameter", "draw")
  expect_confide_error(epsilon(m, del = 0), "parameter", "del")
  expect_confide_error(predict(m, "1", pri = c(.5, .5)), "parameter", "pri")
  expect_confide_error(simulate(m, x = "1", sed = 1), "parameter", "sed")
  expect_confide_error(as.matrix(m, rows = 1), "parameter", "rows")
})

test_that("a misspelt argument is told the one that was probably meant", {
  m <- mech_rr(2, 1)
  meant <- function(code, argument) {
    expect_confide_error(code, "parameter", sprintf("Did you mean `%s`?", argument))
  }
  meant(mech_rr(3, eps = 1), "epsilon")
  meant(mech_block(5, 1, tolerence = .1), "tolerance")
  meant(private_sum(1, bound = 1, rho = 1, neighbors = "replace"), "neighbours")
  meant(privatize("1", m, RNG = "r"), "rng")
  far <- expect_confide_error(privatize("1", m, seed = 1), "parameter", "Unused: \"seed\"")
  expect_no_match(far, "Did you mean")
  # what is given already was not meant
  given <- expect_confide_error(mech_rr(3, epsilon = 1, epsilonn = 1), "parameter")
  expect_no_match(given, "Did you mean")
  expect_confide_error(
    mech_rr(3, 1, "level"), "parameter", c("too many unnamed arguments", "Name them, such as")
  )
})

test_that("choices are taken from the list and in full", {
  m <- mech_rr(2, 1)
  for (rng in list("secure", "o", NA, c("os", "os"), 1, NULL, NA_character_)) {
    expect_confide_error(privatize("1", m, rng = rng), "parameter", "`rng` must be one of")
  }
  expect_confide_error(estimate("1", m, method = "mle"), "parameter", "`method` must be one of")
  expect_confide_error(mech_rr(2, 1, na = "category"), "parameter", "`na` must be one of")
  expect_confide_error(mech_matrix(binary, orientation = "rows"), "parameter", "`orientation`")
})

test_that("numbers of draws and of simulations are whole and in range", {
  m <- mech_rr(2, 1)
  for (n in list(-1, 1.5, "10", 2^53 + 2, NA, Inf, NULL, c(1, 2), TRUE)) {
    expect_confide_error(audit(m, draws = n), "parameter", "`draws` must be one whole number")
    expect_confide_error(
      simulate(m, nsim = n, x = "1"), "parameter", "`nsim` must be one whole number"
    )
  }
  expect_confide_error(simulate(m, nsim = 0, x = "1"), "parameter")
  expect_confide_error(simulate(m, seed = 1.5, x = "1"), "parameter", "`seed`")
  expect_confide_error(estimate("1", m, max_cells = 0), "parameter", "`max_cells`")
})

test_that("a mechanism is a mechanism", {
  for (mechanism in list(1, NULL, "rr", list(epsilon = 1), data.frame(a = 1), mean)) {
    expect_confide_error(privatize("1", mechanism), "parameter", "`mechanism` must be a mechanism")
    expect_confide_error(estimate("1", mechanism), "parameter", "`mechanism` must be a mechanism")
  }
  expect_confide_error(privatize(mech_rr(2, 1), "1"), "parameter", "The data come first")
})

test_that("probabilities that do not sum to 1 are refused with their sum", {
  m <- mech_rr(2, 1)
  for (p in list(c(.5, .499), c(.5, .501))) {
    expect_confide_error(private_test(c(5, 5), m, p = p), "parameter", format(sum(p)))
    expect_confide_error(predict(m, "1", prior = p), "parameter", format(sum(p)))
    expect_confide_error(mech_matrix(rbind(p, c(.5, .5))), "parameter", format(sum(p)))
  }
})

test_that("probabilities that sum to 1 up to rounding are accepted", {
  m <- mech_rr(2, 1)
  p <- c(.5, .5 + 1e-9)
  expect_equal(predict(m, "1", prior = p), predict(m, "1", prior = p / sum(p)), tolerance = 1e-15)
  expect_s3_class(private_test(table(factor(c("1", "2"))), m, p = p), "htest")
  expect_equal(
    unname(rowSums(as.matrix(mech_matrix(rbind(p, c(.5, .5)))))), c(1, 1), tolerance = 1e-15
  )
})

test_that("negative probabilities are refused however small", {
  m <- mech_rr(2, 1)
  for (p in list(c(-.1, 1.1), c(-1e-17, 1))) {
    expect_confide_error(private_test(c(5, 5), m, p = p), "parameter", "none of them negative")
    expect_confide_error(predict(m, "1", prior = p), "parameter", "none of them negative")
    expect_confide_error(mech_matrix(rbind(p, c(.5, .5))), "parameter", "none of them negative")
  }
})

test_that("probabilities that are not finite are refused", {
  m <- mech_rr(2, 1)
  for (p in list(c(NA, 1), c(NaN, 1), c(Inf, 0))) {
    expect_confide_error(private_test(c(5, 5), m, p = p), "parameter", "finite")
    expect_confide_error(predict(m, "1", prior = p), "parameter", "finite")
    expect_confide_error(mech_matrix(rbind(p, c(.5, .5))), "parameter", "finite")
  }
})

test_that("probabilities that are all zero are refused", {
  m <- mech_rr(2, 1)
  expect_confide_error(private_test(c(5, 5), m, p = c(0, 0)), "parameter", "sum to 1")
  expect_confide_error(predict(m, "1", prior = c(0, 0)), "parameter", "sum to 1")
  expect_confide_error(mech_matrix(rbind(c(0, 0), c(.5, .5))), "parameter", "sum to 1")
})

test_that("probabilities of the wrong length or type are refused", {
  m <- mech_rr(2, 1)
  for (p in list(1, c(.2, .3, .5), "1", list(.5, .5), c(TRUE, FALSE), factor(c("a", "b")))) {
    expect_confide_error(
      predict(m, "1", prior = p), "parameter", "`prior` must be a numeric vector of 2"
    )
  }
})

test_that("braces in names and labels are shown as they are", {
  expect_confide_error(mech_rr(c("{stop()}", "{stop()}"), 1), "parameter", "{stop()}")
  expect_confide_error(mech_lambda(list("{stop()}" = "x"), lambda = 1), "parameter", "{stop()}")
  expect_confide_error(
    mech_lambda(list(a = 2), lambda = c("{stop()}" = .5)), "parameter", "{stop()}"
  )
  expect_confide_error(estimate("1", mech_rr(2, 1), method = "{stop()}"), "parameter", "{stop()}")
})

test_that("an error keeps the names in its calls and none of the values", {
  error <- tryCatch(
    do.call(private_sum, list(c(7391.25, NA), bound = 1, rho = 1, neighbours = "replace")),
    error = identity
  )
  expect_s3_class(error, "confide_error_domain")
  bytes <- serialize(error, NULL, xdr = FALSE)
  expect_length(grepRaw(writeBin(7391.25, raw(), endian = "little"), bytes, fixed = TRUE), 0)
  expect_identical(
    without_values(quote(f(x, g(1, "a"), y = -2, function(z) z + 3))),
    quote(f(x, g(..., ...), y = -..., ...))
  )
  named <- tryCatch(private_sum(NA, bound = 1, rho = 1, neighbours = "replace"), error = identity)
  expect_match(format(conditionCall(named)), "private_sum", all = FALSE)
})
