# Where the rows of a private mean come from, and what is refused.

mean_table <- function(frame) {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), envir = parent.frame())
  DBI::dbWriteTable(connection, "people", frame)
  dplyr::tbl(connection, "people")
}

seeded_mean <- function(x, ...) withr::with_seed(3, private_mean(x, rho = 1, ..., rng = "r"))

test_that("a matrix, a data frame and a table in many chunks give the same release", {
  frame <- withr::with_seed(1, data.frame(
    id = seq_len(70000), a = stats::rnorm(70000, 1), b = sample(20L, 70000, TRUE)
  ))
  ordered <- dplyr::select(dplyr::arrange(mean_table(frame), .data$id), "a", "b")
  for (sigma in list("diag", "none", "tyler", matrix(c(2, 1, 1, 3), 2))) {
    from_frame <- seeded_mean(frame[c("a", "b")], sigma = sigma)
    expect_identical(seeded_mean(as.matrix(frame[c("a", "b")]), sigma = sigma), from_frame)
    expect_identical(seeded_mean(ordered, sigma = sigma), from_frame)
  }
  for (method in mean_methods) {
    expect_identical(
      seeded_mean(ordered, sigma = "none", method = method),
      seeded_mean(frame[c("a", "b")], sigma = "none", method = method)
    )
  }
})

test_that("slices of the data, whole ones and rests, give what the data give at once", {
  # a triangle keeps all records in one piece, scales go slice by slice
  control <- balloon_control(r_min = 1)
  for (n in c(1, 4095, 4096, 4097, 8192)) {
    x <- withr::with_seed(2, matrix(stats::rnorm(3 * n, 1), n))
    for (method in c("balloon", "huber", "instance_optimal", "coordinate_median")) {
      sliced <- seeded_mean(x, sigma = "none", control = control, method = method)
      whole <- seeded_mean(x, sigma = diag(3), control = control, method = method)
      expect_identical(coef(sliced), coef(whole))
      expect_identical(sliced$radii, whole$radii)
    }
  }
})

test_that("pairs of rows need a table in an order of its own", {
  table <- mean_table(data.frame(a = as.numeric(1:3000)))
  for (arguments in list(list(), list(sigma = "tyler"), list(sigma = "none", method = "huber"))) {
    expect_confide_error(
      do.call(private_mean, c(list(table, rho = 1), arguments)), "parameter", "arrange"
    )
  }
  expect_s3_class(private_mean(table, rho = 1, sigma = "none"), "confide_mean")
})

test_that("a table with other than finite numbers is refused like a data frame", {
  one <- function(frame) {
    table <- mean_table(frame)
    force(table) # making it draws from R's generator
    expect_confide_error(private_mean(table, rho = 1, sigma = "none"), "domain")
  }
  text <- one(data.frame(a = c(1, NA)))
  expect_identical(one(data.frame(a = 1, b = "x")), text)
  expect_identical(
    expect_confide_error(private_mean(c(1, NA), rho = 1, sigma = "none"), "domain"), text
  )
  empty <- dplyr::filter(mean_table(data.frame(a = 1)), .data$a > 5)
  expect_confide_error(private_mean(empty, rho = 1, sigma = "none"), "parameter", "one row")
})

test_that("shapes at the edge are served or refused by their public part", {
  refused <- function(x, says) {
    expect_confide_error(private_mean(x, rho = 1, sigma = "none", rng = "r"), "parameter", says)
  }
  refused(matrix(0, 0, 3), "at least one row")
  refused(numeric(), "at least one row")
  refused(matrix(0, 5, 0), "at least one column")
  expect_length(coef(seeded_mean(matrix(0.1, 2, 50), sigma = "none")), 50)
  expect_length(coef(seeded_mean(c(Ann = 1), sigma = "none")), 1)
  expect_length(coef(seeded_mean(rep(1e308, 100), sigma = "none")), 1)
  expect_length(coef(seeded_mean(matrix(5e-324, 100, 2), sigma = "none")), 2)
})

test_that("arguments outside their range are refused before anything is drawn", {
  x <- matrix(seq_len(200) / 7, 100)
  refused <- function(..., says = NULL) {
    arguments <- utils::modifyList(list(x = x, rho = 1, sigma = "none", rng = "r"), list(...))
    expect_confide_error(do.call(private_mean, arguments), "parameter", says)
  }
  for (sigma in list("foo", NULL, NA, c(1, 1), matrix(1, 2, 2), matrix(c(1, 0.5, 0.2, 1), 2),
    diag(3), matrix(c(1, NA, NA, 1), 2), -diag(2), matrix("a", 2, 2))) {
    expect_confide_error(private_mean(x, rho = 1, sigma = sigma), "parameter", "sigma")
  }
  for (centre in list(c(1, 2, 3), Inf, NA, "a", numeric())) {
    refused(centre = centre, says = "centre")
  }
  for (radius in list(0, -1, Inf, "a", c(1, 2))) refused(radius = radius, says = "radius")
  for (name in list("add_remove", NA, 1)) refused(neighbours = name, says = "neighbours")
  refused(method = "median")
  refused(filter = "on")
  refused(filter = "spectral", method = "huber", says = "filter")
  refused(control = list(), says = "balloon_control")
  refused(rho = 1e-30)
  refused(rho = -1)
  refused(epsilon = 1, says = "Exactly one")
  refused(ctrl = 1)
  refused(control = balloon_control(tau = c(0.5, 0.6)), says = "iterations")
  refused(control = balloon_control(split = c(0.5, 0.6)), says = "split")
  refused(method = "coinpress", control = balloon_control(iterations = 5), says = "CoinPress")
  expect_confide_error(private_mean(rho = 1), "parameter", "x")
  expect_confide_error(private_mean(x), "parameter", "Exactly one")
  expect_confide_error(private_mean(x, epsilon = 1, method = "huber"), "parameter", "rho")
  expect_confide_error(private_mean(x, epsilon = 1, sigma = "tyler"), "parameter", "rho")
  expect_confide_error(
    private_mean(x[, 1], rho = 1, sigma = "none", filter = "spectral"), "parameter", "columns"
  )
})

test_that("a symmetric matrix off by rounding is taken, and a number for one column", {
  x <- withr::with_seed(1, matrix(stats::rnorm(2000), 1000))
  near <- matrix(c(2, 1 + 1e-15, 1, 3), 2)
  expect_s3_class(seeded_mean(x, sigma = near), "confide_mean")
  expect_s3_class(seeded_mean(x[, 1], sigma = 4), "confide_mean")
})

test_that("balloon_control() refuses what has no meaning and shows what it holds", {
  wrong <- list(
    list(tau = 0), list(tau = 1), list(beta = 1), list(r_min = 0), list(split = -1),
    list(start = "x"), list(average = NA), list(interval_share = 0.6), list(filter_shares = 1),
    list(filter_shares = c(0.6, 0.6)), list(slack = -1), list(iterations = 0), list(foo = 1),
    list(beta = c(1.1, 1.2)), list(shape_share = 1), list(start_share = 2), list(r_max = 0),
    list(radius_share = 0), list(iterations = 1.5)
  )
  for (arguments in wrong) {
    expect_confide_error(do.call(balloon_control, arguments), "parameter")
  }
  expect_output(print(balloon_control(tau = c(0.7, 0.6))), "0.7, 0.6")
})

test_that("an interrupt leaves R in order", {
  skip_on_os("windows")
  skip_if_not(extended(), "extended tests")
  x <- matrix(0, 2e5, 50)
  long <- balloon_control(iterations = 100)
  expect_identical(
    interrupted_after(0.5, for (i in 1:20) private_mean(x, 1, sigma = "none", control = long)),
    "interrupted"
  )
  expect_s3_class(private_mean(1:500, rho = 1, sigma = "none"), "confide_mean")
})

test_that("when the operating system gives no random numbers nothing is released", {
  failing <- function(...) {
    stop(structure(
      class = c("confide::RandomnessError", "C++Error", "error", "condition"),
      list(message = "no", call = NULL)
    ))
  }
  local_replacement("above_threshold_answer", failing)
  expect_confide_error(private_mean(1:500, rho = 1, sigma = "none"), "randomness", "Nothing")
})
