test_that("a private sum is a multiple of the grid near the clipped sum", {
  x <- rbind(c(0.3, -0.4), c(30, 40), c(0, 0))
  for (neighbours in c("replace", "zero_out", "add_remove")) {
    s <- private_sum(x, bound = 1, rho = 0.5, neighbours = neighbours)
    expect_identical(coef(s) / s$grid, trunc(coef(s) / s$grid))
    expect_equal(s$noise_sd, if (neighbours == "replace") 2 else 1, tolerance = 1e-6)
    # 6 standard deviations: false alarm below 1e-8
    expect_lt(max(abs(coef(s) - c(0.9, 0.4))), 6 * s$noise_sd)
  }
})

test_that("what a release realises is never above what was asked", {
  for (budget in c(1e-6, 0.1, 1 / 3, 2, 50)) {
    s <- private_sum(1:3, bound = 2, rho = budget, neighbours = "replace")
    expect_lte(privacy(s)$rho_realised, budget)
    expect_gte(privacy(s)$rho_realised, budget * (1 - 1e-6))
    count <- private_count(c(TRUE, FALSE), epsilon = budget, neighbours = "replace")
    expect_lte(privacy(count)$epsilon_realised, budget)
  }
})

test_that("intervals of counts cover as the exact discrete law says", {
  set.seed(20261)
  for (law in c("rho", "epsilon")) {
    arguments <- list(rep(TRUE, 10), neighbours = "replace", rng = "r")
    arguments[[law]] <- 0.5
    covered <- replicate(4000, {
      limits <- confint(do.call(private_count, arguments), level = 0.9)
      limits[[1]] <= 10 && 10 <= limits[[2]]
    })
    # Discrete intervals cover at least their level; Monte Carlo error of 4,000: 0.005
    expect_gt(mean(covered), 0.9 - 4 * 0.005)
    law_mass <- if (law == "rho") exp(-(-60:60)^2 / 2) else exp(-abs(-60:60) * 0.5)
    half <- diff(confint(do.call(private_count, arguments), level = 0.9)[1, ]) / 2
    exact <- sum(law_mass[abs(-60:60) <= half]) / sum(law_mass)
    expect_gte(exact, 0.9)
    expect_lt(sum(law_mass[abs(-60:60) <= half - 1]) / sum(law_mass), 0.9)
    expect_lt(abs(mean(covered) - exact), 4 * 0.005)
  }
})

test_that("errors about data have one text and come before any randomness", {
  bad <- list(
    c(1, NA), c(1, NaN), c(Inf, 1), "a", factor("a"), NULL, list(1), c(TRUE, FALSE), Sys.Date(), 1i
  )
  set.seed(1)
  before <- .Random.seed
  texts <- vapply(bad, function(x) {
    error <- expect_error(
      private_sum(x, bound = 1, rho = 1, neighbours = "replace", rng = "r"),
      class = "confide_error_domain"
    )
    conditionMessage(error)
  }, "")
  expect_length(unique(texts), 1)
  expect_identical(.Random.seed, before)
  for (x in list(c(TRUE, NA), 1, "a", NULL, factor("a"))) {
    expect_error(private_count(x, rho = 1, neighbours = "replace"), class = "confide_error_domain")
  }
})

test_that("parameters outside their range are refused with the reason", {
  refused <- function(...) expect_error(private_sum(1, ...), class = "confide_error_parameter")
  refused(bound = 1, rho = 1)
  refused(bound = 1, neighbours = "replace")
  refused(rho = 1, neighbours = "replace")
  refused(bound = 1, rho = 1, epsilon = 1, neighbours = "replace")
  refused(bound = 1, rho = 1, neighbours = "swap")
  refused(bound = 1, rho = 1e-300, neighbours = "replace")
  refused(bound = 1, rho = 1e300, neighbours = "replace")
  expect_error(
    private_sum(matrix(0, 2, 0), 1, 1, neighbours = "replace"),
    class = "confide_error_parameter"
  )
  for (nasty in list(0, -1, NA, NaN, Inf, "1", TRUE, c(1, 2), NULL, list(1), 1i, Sys.Date())) {
    refused(bound = nasty, rho = 1, neighbours = "replace")
    refused(bound = 1, rho = if (is.null(nasty)) 0 else nasty, neighbours = "replace")
  }
})

test_that("no data is a sum of noise around 0", {
  expect_length(coef(private_sum(numeric(), bound = 1, rho = 1, neighbours = "replace")), 1)
  three <- private_sum(matrix(0, 0, 3), bound = 1, epsilon = 1, neighbours = "replace")
  expect_length(coef(three), 3)
})

test_that("set.seed() governs rng = \"r\" and nothing else, and a simulation says so", {
  draw <- function(rng) {
    set.seed(5)
    private_sum(1:10, bound = 10, rho = 1, neighbours = "replace", rng = rng)
  }
  expect_identical(coef(draw("r")), coef(draw("r")))
  expect_false(identical(coef(draw("os")), coef(draw("os"))))
  expect_match(format(draw("r")), "NOT PRIVATE", all = FALSE)
  expect_no_match(format(draw("os")), "NOT PRIVATE")
})

test_that("a release holds no value of the data", {
  secret <- c(0.123456789, 0.987654321, 0.5)
  names(secret) <- c("Ann_secret", "Bob_secret", "Eve_secret")
  release <- private_sum(secret, bound = 1, rho = 1, neighbours = "replace")
  bytes <- serialize(release, NULL, xdr = FALSE)
  for (value in secret) {
    expect_false(grepl(paste(writeBin(value, raw()), collapse = ""), paste(bytes, collapse = "")))
  }
  expect_false(grepl(paste(charToRaw("secret"), collapse = ""), paste(bytes, collapse = "")))
})

test_that("rows of a matrix, a data frame and integer codes are summed alike", {
  draw <- function(x) {
    set.seed(9)
    unname(coef(private_sum(x, bound = 5, rho = 1, neighbours = "replace", rng = "r")))
  }
  x <- matrix(c(1, 2, 3, -1, 0, 7), 3)
  integers <- x
  storage.mode(integers) <- "integer"
  expect_identical(draw(x), draw(as.data.frame(x)))
  expect_identical(draw(x), draw(integers))
})

test_that("a count of people is a whole number near the truth", {
  for (neighbours in neighbour_names) {
    released <- coef(private_count(rep(c(TRUE, FALSE), 500), rho = 2, neighbours = neighbours))
    expect_identical(released, round(released))
    # sigma is 1/2; 12 of it is exceeded with probability below 1e-30
    expect_lt(abs(released - 500), 6)
  }
})

test_that("rho differs by exactly 4 between replacing a value and zeroing it", {
  noise <- vapply(c("replace", "zero_out", "add_remove"), function(neighbours) {
    private_sum(1, bound = 1, rho = 0.5, neighbours = neighbours)$noise_sd^2
  }, numeric(1))
  expect_identical(noise[["replace"]], 4 * noise[["zero_out"]])
  expect_identical(noise[["zero_out"]], noise[["add_remove"]])
})

test_that("the realised parameter is never below the exact quotient of its integers", {
  skip_if_not_installed("gmp")
  exact <- function(x) gmp::as.bigq(x)
  for (budget in c(1e-9, 1e-3, 1 / 3, 0.1, 1, 7, 1e4)) {
    for (neighbours in neighbour_names) {
      for (bound in c(1e-3, 0.7, 1, 12345.6)) {
        s <- private_sum(0, bound, rho = budget, neighbours = neighbours)
        # one column: the integers that one person can have are at most floor(bound / grid)
        steps <- gmp::as.bigz(exact(bound) / exact(s$grid))
        moved <- steps * (if (neighbours == "replace") 2 else 1)
        variance <- exact(s$scale$numerator) / exact(s$scale$denominator)
        rho <- exact(moved)^2 / (2 * variance)
        expect_true(rho <= exact(privacy(s)$rho_realised))
        expect_true(exact(privacy(s)$rho_realised) <= exact(budget))
        pure <- max(budget, 1e-6) # the smallest that this bound can have
        e <- private_sum(0, bound, epsilon = pure, neighbours = neighbours)
        steps <- gmp::as.bigz(exact(bound) / exact(e$grid))
        moved <- steps * (if (neighbours == "replace") 2 else 1)
        loss <- exact(moved) * exact(e$scale$denominator) / exact(e$scale$numerator)
        expect_true(loss <= exact(privacy(e)$epsilon_realised))
        expect_true(exact(privacy(e)$epsilon_realised) <= exact(pure))
      }
    }
  }
})

test_that("infinite, subnormal and opposite bounds are refused or served, never approximated", {
  refused <- function(...) {
    expect_confide_error(private_sum(1, ..., neighbours = "replace"), "parameter")
  }
  for (bound in list(1e-320, 1.7e308, -0, NULL, "a", factor(1))) {
    refused(bound = bound, rho = 1)
  }
  refused(bound = 1, rho = 0)
  refused(bound = 1, rho = 5e-324)
  refused(bound = 1, epsilon = 0)
  refused(bound = 1, epsilon = 1e308)
  expect_confide_error(private_count(TRUE, rho = 1e-300, neighbours = "replace"), "parameter")
})

test_that("neighbours have no default, not even the first of their names", {
  for (neighbours in list(NULL, NA, "swap", neighbour_names, 1, "Replace", "rep")) {
    expect_confide_error(
      private_sum(1, bound = 1, rho = 1, neighbours = neighbours), "parameter", "neighbours"
    )
  }
  expect_confide_error(private_count(TRUE, rho = 1), "parameter", "neighbours")
  expect_confide_error(private_sum(1, rho = 1, neighbours = "replace"), "parameter", "bound")
})

test_that("partial, misspelt and surplus arguments are refused", {
  expect_confide_error(private_sum(1, bound = 1, eps = 1, neighbours = "replace"), "parameter")
  expect_confide_error(private_sum(1, 1, rho = 1, neigh = "replace"), "parameter")
  expect_confide_error(private_sum(1, 1, 1, 1, neighbours = "replace"), "parameter")
  expect_confide_error(private_count(TRUE, rho = 1, neighbours = "replace", seed = 1), "parameter")
  expect_confide_error(confint(private_count(TRUE, 1, neighbours = "replace"), lev = 1), "parameter")
})

test_that("huge, tiny, signed-zero and overflowing values are clipped without a message", {
  draw <- function(x, bound = 10) {
    expect_silent(withr::with_seed(
      3, coef(private_sum(x, bound = bound, rho = 1, neighbours = "replace", rng = "r"))
    ))
  }
  expect_identical(draw(c(1e308, 1e308)), draw(c(10, 10)))
  expect_identical(draw(c(5e-324, -0, 0)), draw(c(0, 0, 0)))
  expect_identical(draw(rep(.Machine$integer.max, 3)), draw(c(10, 10, 10)))
  expect_identical(draw(c(1, 2, 1e300)), draw(c(1, 2, 10)))
  expect_identical(draw(c(10, -10)), draw(c(0, 0)))
  expect_identical(draw(rbind(c(3, 0), c(3, 0))), draw(rbind(c(6, 0))))
  # sums far above 2^31 lose no more than the grid takes; the noise is the same in both
  grid <- private_sum(0, bound = 2^31, rho = 1, neighbours = "replace")$grid
  large <- draw(rep(.Machine$integer.max, 3), bound = 2^31)
  expect_identical(
    large - draw(0, bound = 2^31), 3 * grid * floor(.Machine$integer.max / grid)
  )
})

test_that("with na = \"impute\" missing and infinite values count as 0, before rows are clipped", {
  draw <- function(x, na = "impute") {
    expect_silent(withr::with_seed(4, unname(coef(private_sum(
      x,
      bound = 10, rho = 1, neighbours = "replace", na = na, rng = "r"
    )))))
  }
  for (odd in c(NA, NaN, Inf, -Inf)) {
    expect_identical(draw(c(1, odd, 3)), draw(c(1, 0, 3)))
    # the person's other value still counts, and is clipped without the odd one
    expect_identical(draw(rbind(c(odd, 30), c(1, 2))), draw(rbind(c(0, 10), c(1, 2))))
  }
  expect_identical(draw(c(1L, NA_integer_)), draw(c(1, 0)))
  expect_identical(draw(data.frame(a = c(1, NA), b = c(Inf, 2))), draw(cbind(c(1, 0), c(0, 2))))
  expect_identical(draw(rep(NA_real_, 5)), draw(numeric()))
  expect_identical(draw(c(-0.5, 7)), draw(c(-0.5, 7), na = "error"))
  for (wrong in list("a", c(NA, TRUE), factor(NA), NULL, list(NA))) {
    expect_confide_error(
      private_sum(wrong, bound = 1, rho = 1, neighbours = "replace", na = "impute"), "domain"
    )
  }
  for (na in list("zero", NA, TRUE, NULL, "imp")) {
    expect_confide_error(
      private_sum(1, bound = 1, rho = 1, neighbours = "replace", na = na), "parameter", "`na`"
    )
  }
})

test_that("a release that imputes says so, whether the data had gaps or not", {
  for (x in list(c(1, NA), c(1, 2))) {
    s <- private_sum(x, bound = 10, rho = 1, neighbours = "replace", na = "impute")
    expect_match(format(s), "missing and infinite values count as 0", all = FALSE)
    expect_prints_small(s)
    expect_true(audit(s)$ok)
  }
  s <- private_sum(1, bound = 10, rho = 1, neighbours = "replace")
  expect_no_match(format(s), "missing")
})

test_that("bounds and columns whose product overflows are refused", {
  for (bound in c(1e308, .Machine$double.xmax)) {
    expect_confide_error(
      private_sum(matrix(0, 1, 10), bound, epsilon = 1e-3, neighbours = "replace"), "parameter"
    )
  }
})

test_that("shapes at the edge are served or refused by their public part", {
  one <- function(x) private_sum(x, bound = 1, rho = 1, neighbours = "replace")
  expect_length(coef(one(matrix(0.1, 2, 50))), 50) # more columns than rows
  expect_length(coef(one(array(1:3))), 1)
  expect_length(coef(one(data.frame(a = numeric(), b = numeric()))), 2)
  expect_named(coef(one(data.frame(a = 1, b = 2))), c("a", "b"))
  expect_length(coef(one(matrix(1, 5, 3))), 3) # constant, collinear columns
  expect_confide_error(one(matrix(0, 0, 0)), "parameter", "at least one column")
  expect_confide_error(one(data.frame()), "parameter", "at least one column")
  expect_confide_error(one(array(0, c(2, 2, 2))), "domain")
  expect_confide_error(one(data.frame(a = 1, b = "x")), "domain")
  expect_confide_error(one(data.frame(a = 1, b = factor("x"))), "domain")
  expect_confide_error(one(data.frame(a = I(matrix(1, 1, 2)))), "domain")
  expect_confide_error(one(matrix(c(1, NA), 1)), "domain")
  nested <- data.frame(a = 1:2)
  nested$b <- matrix(1:4, 2)
  expect_confide_error(one(nested), "domain")
  expect_confide_error(one(c(1L, NA_integer_)), "domain")
})

test_that("more rows than the public limit are refused before they are read", {
  expect_confide_error(
    private_sum(1:(2^31 + 10), bound = 1, rho = 1, neighbours = "replace"), "domain"
  )
})

test_that("names of people do not reach the result, names of columns do", {
  s <- private_sum(c(Ann = 1, Bob = 2), bound = 1, rho = 1, neighbours = "replace")
  expect_null(names(coef(s)))
  expect_named(attributes(s), c("names", "class"))
})

test_that("the sum of a data set has no order", {
  x <- c(1e16, 1, -1e16, 0.1, 3, -7, 2^53 + 2, 5e-324)
  query <- list(
    kind = "sum", bound = 1e16, budget = 0.5, law = "gaussian", neighbours = "replace",
    n_max = largest_rows, dimension = 1
  )
  exact <- sum_units(matrix(x), query)
  withr::with_seed(1, for (i in seq_len(1000)) {
    expect_identical(sum_units(matrix(sample(x)), query), exact)
  })
})

test_that("a release survives saving, and one that was altered is not audited", {
  s <- private_sum(1:3, bound = 2, rho = 0.5, neighbours = "replace")
  file <- withr::local_tempfile()
  saveRDS(s, file)
  expect_identical(readRDS(file), s)
  expect_true(audit(readRDS(file))$ok)
  changes <- list(
    function(s) utils::modifyList(s, list(scale = list(numerator = 1))),
    function(s) utils::modifyList(s, list(noise_sd = 1)),
    function(s) utils::modifyList(s, list(grid = 1)),
    function(s) utils::modifyList(s, list(bound = 1)),
    function(s) utils::modifyList(s, list(estimate = pi + 2^-51)),
    function(s) utils::modifyList(s, list(privacy = list(rho = 0.1))),
    function(s) utils::modifyList(s, list(privacy = list(rho_realised = 0.1))),
    function(s) utils::modifyList(s, list(privacy = list(neighbours = "zero_out")))
  )
  for (change in changes) {
    expect_confide_error(audit(change(s)), "internal", "failed its certificate")
  }
})

test_that("a release of a newer version is not audited by an older one", {
  s <- private_sum(1:3, bound = 2, rho = 0.5, neighbours = "replace")
  s$made_with <- "999.1"
  expect_confide_error(audit(s), "parameter", c("newer version", "999.1", "Update"))
})

test_that("when the operating system gives no random numbers nothing is released", {
  failing <- function(query, n, rng) {
    stop(structure(
      class = c("confide::RandomnessError", "C++Error", "error", "condition"),
      list(message = "no", call = NULL)
    ))
  }
  local_replacement("draw_noise", failing)
  expect_confide_error(
    private_sum(1, bound = 1, rho = 1, neighbours = "replace"), "randomness", "no random numbers"
  )
  expect_confide_error(
    private_count(TRUE, rho = 1, neighbours = "replace"), "randomness", "Nothing was released"
  )
})

test_that("an interrupted draw of noise leaves R in order and nothing behind", {
  skip_on_cran()
  skip_on_os("windows")
  query <- list(
    kind = "count", bound = 1, budget = 0.005, law = "gaussian", neighbours = "replace",
    n_max = largest_rows, dimension = 1
  )
  before <- random_state()
  for (rng in c("os", "r")) {
    expect_identical(interrupted_after(0.3, draw_noise(query, 2e8, rng)), "interrupted")
  }
  expect_null(noise_gate$guard)
  # R's generator moved on, as after any simulation, and is whole
  expect_length(random_state(), length(before))
  expect_true(audit(private_count(TRUE, rho = 1, neighbours = "replace"))$ok)
})

test_that("rounding takes from a sum what the help says, and no more", {
  # runif() has 32 binary digits, hardly more than the grid
  x <- withr::with_seed(1, stats::pnorm(stats::rnorm(1e5)))
  for (rho in c(1e-3, 0.5, 1e6, 1e12)) {
    query <- list(
      kind = "sum", bound = 1, budget = rho, law = "gaussian", neighbours = "add_remove",
      n_max = largest_rows, dimension = 1
    )
    plan <- noise_plan(query)
    expect_lte(plan$grid, max(2^-24 * plan$noise_sd, 2^-29))
    # in steps, each a fraction of one; uniform ones, whose mean has sd sqrt(1 / 12 / n)
    taken <- (sum(x) / plan$grid - units_as_numbers(sum_units(matrix(x), query))) / length(x)
    expect_lt(abs(taken - 0.5), 5 * sqrt(1 / 12 / length(x)))
  }
})
