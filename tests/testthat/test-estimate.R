# Estimates against published numbers, brute force and simulation.

expect_table <- function(table, lambda, published, within = 1e-11) {
  m <- mechanism_for(table, lambda)
  e <- estimate(table, m)
  at <- published$at
  expect_close(epsilon(m), published$epsilon, within)
  expect_close(utils::tail(mechanism_entropy(m)$share, 1), published$strength, within)
  expect_close(unname(coef(e))[at], published$estimate, within)
  expect_close(e$std_error[at], published$std_error, within)
  expect_identical(sum(coef(e) < 0), published$negative)
  expect_close(min(coef(e)), published$smallest, within)
  expect_close(sum(coef(e)), 1, 1e-12)
  ml <- estimate(table, m, method = "ml")
  expect_close(as.numeric(logLik(ml)) / published$log_likelihood, 1, 1e-11)
  expect_true(ml$converged)
  e
}

test_that("the toy table has the published estimates and standard errors", {
  e <- estimate(toy_table(), toy_mechanism())
  exact <- c(
    3869 / 14400, 859 / 14400, -3167 / 28800, 7463 / 28800, 4753 / 28800, -3817 / 28800,
    281 / 14400, -769 / 14400,
    6877 / 28800, -1973 / 28800, -3083 / 28800, 13267 / 28800
  )
  expect_close(unname(coef(e)), exact, 1e-14)
  expect_close(e$std_error, c(
    .066872374180, .045529576434, .039694381046, .060739632382, .052959226681, .045920776607,
    .052026872198,
    .036203917419, .056809329170, .047439791490, .034748185348, .072750939618
  ), 1e-11)
  covariance <- vcov(e)
  expect_close(covariance[1, 1], 184531939 / 41264640000, 1e-15)
  expect_close(covariance[1, 2], -34689371 / 41264640000, 1e-15)
  expect_close(covariance[1, 12], -60105023 / 82529280000, 1e-15)
  expect_close(sum(e$std_error^2), .032718689367, 1e-11)
  expect_close(sqrt(diag(covariance)), e$std_error, 1e-14)
  expect_close(epsilon(e), 5.000584958243)
})

test_that("the toy table has the published margins", {
  m <- toy_mechanism()
  margin <- function(name) estimate(toy_table(), m, margin = name)
  expect_close(unname(coef(margin("a"))), c(19, 21) / 40, 1e-14)
  expect_close(margin("a")$std_error, rep(.044269617064, 2), 1e-11)
  expect_close(unname(coef(margin("b"))), c(53 / 180, 23 / 72, 139 / 360), 1e-14)
  expect_close(margin("b")$std_error, c(.054642127924, .055337021330, .056879465453), 1e-11)
  expect_close(unname(coef(margin("c"))), c(51, 49) / 100, 1e-14)
  expect_close(margin("c")$std_error, rep(.070884576006, 2), 1e-11)
})

test_that("the toy table has the published maximum likelihood and simplex estimates", {
  m <- toy_mechanism()
  ml <- estimate(toy_table(), m, method = "ml")
  expect_close(unname(coef(ml)), c(
    .264383477728, .021544911405, 0, .183515457410, .071069279108, 0, .003247564557, 0,
    .145960061054, 0, 0,
    .310279248738
  ), 1e-9)
  expect_close(as.numeric(logLik(ml)) / 200, -2.337395639412, 1e-11)
  simplex <- estimate(toy_table(), m, method = "simplex")
  expect_close(unname(coef(simplex)), c(
    214 / 1125, 0, 0, 26017 / 144000, 12467 / 144000, 0, 0, 0, 23087 / 144000, 0, 0, 55037 / 144000
  ), 1e-13)
})

test_that("hair and eye colour taken as reports have the published estimates", {
  e <- expect_table(HairEyeColor, c(.9, .8, .7), list(
    at = c(1, 2, 32), epsilon = 8.178732312089, strength = .392121743244,
    estimate = c(.061745059792, .096383492868, .007533482143),
    std_error = c(.015011610496, .019242538557, .007680107053),
    negative = 5L, smallest = -.007012313653, log_likelihood = -1815.351631550790
  ))
  expect_close(sum(e$std_error^2), .004161350354)
  hair <- estimate(HairEyeColor, mechanism_for(HairEyeColor, c(.9, .8, .7)), margin = "Hair")
  expect_close(unname(coef(hair)), c(.174924924925, .509009009009, .105480480480, .210585585586))
})

test_that("the Titanic taken as reports has the published estimates, some outside 0 to 1", {
  expect_table(Titanic, c(.8, .7, .6, .5), list(
    at = c(1, 2, 32), epsilon = 7.052721049232, strength = .598126240777,
    estimate = c(-.019644750222, -.037020510158, .013600081673),
    std_error = c(.003840596640, .004343489032, .007113292037),
    negative = 15L, smallest = -.189873109625, log_likelihood = -5665.808401480260
  ))
  age <- estimate(Titanic, mechanism_for(Titanic, c(.8, .7, .6, .5)), margin = "Age")
  expect_close(unname(coef(age)), c(-.250795093139, 1.250795093139))
})

test_that("a single attribute has the published estimates by all four methods", {
  N <- c("1" = 2, "2" = 20, "3" = 13, "4" = 11, "5" = 4)
  m <- mech_rr(5, log(1 + 5))
  expect_equal(m$lambda, .5, tolerance = 1e-14)
  got <- lapply(
    c("moment", "ml", "simplex", "clip"),
    function(method) unname(coef(estimate(N, m, method = method)))
  )
  expect_close(got[[1]], c(-3, 15, 8, 6, -1) / 25, 1e-14)
  expect_close(got[[2]], c(0, 29 / 55, 3 / 11, 1 / 5, 0), 1e-14)
  expect_close(got[[3]], c(0, 41 / 75, 4 / 15, 14 / 75, 0), 1e-14)
  expect_close(got[[4]], c(0, .517241379310, .275862068966, .206896551724, 0), 1e-11)
})

test_that("reported shares of four levels kept with probability .7 are decoded exactly", {
  m <- mech_rr(4, log(.7 / .1))
  e <- estimate(c("1" = 34, "2" = 28, "3" = 22, "4" = 16), m)
  expect_close(unname(coef(e)), c(.4, .3, .2, .1), 1e-14)
})

test_that("Warner's example has its published estimate and standard error", {
  m <- mech_rr(c("no", "yes"), log(.7 / .3))
  e <- estimate(c(no = 540, yes = 460), m)
  expect_equal(unname(coef(e)["yes"]), .4, tolerance = 1e-13)
  # Warner divides by n, we divide by n - 1
  expect_equal(e$std_error[[2]], .03942150, tolerance = 1e-6)
  expect_equal(e$std_error[[2]] * sqrt(999 / 1000), .03940178, tolerance = 1e-6)
  expect_equal(epsilon(m), .8472979, tolerance = 1e-7)
})

test_that("the one-way formulas of forced response give the same estimate and standard error", {
  # Reports are kept with probability lambda, else one of k answers is forced, each with (1 -
  # lambda) / k.
  N <- c("1" = 25, "2" = 60, "3" = 15)
  lambda <- .35
  m <- mech_lambda(list(a = 3), lambda = lambda)
  e <- estimate(as.table(array(N, 3, list(a = 1:3))), m)
  psi <- N / 100
  expect_close(unname(coef(e)), unname((psi - (1 - lambda) / 3) / lambda), 1e-13)
  expect_close(e$std_error, unname(sqrt(psi * (1 - psi) / 99) / lambda), 1e-13)
  expect_close(vcov(e)[1, 2], -.25 * .6 / 99 / lambda^2, 1e-13)
})

test_that("margins of the joint estimate are the estimates of margins, with their covariances", {
  withr::local_seed(1)
  sizes <- c(a = 3, b = 2, c = 4)
  m <- mech_lambda(as.list(sizes), lambda = c(.5, .7, .4))
  N <- as.table(array(stats::rpois(24, 20), sizes, lapply(sizes, seq_len)))
  joint <- estimate(N, m)
  for (margin in list("a", "b", "c", c("a", "b"), c("a", "c"), c("c", "a"), c("b", "c", "a"))) {
    e <- estimate(N, m, margin = margin)
    expect_close(as.table(e), apply(as.table(joint), margin, sum), 1e-13)
    expect_identical(dimnames(as.table(e)), levels(m)[margin])
    grid <- do.call(paste, expand.grid(lapply(sizes, seq_len))[margin])
    labels <- do.call(paste, expand.grid(lapply(sizes[margin], seq_len)))
    sum_up <- outer(labels, grid, `==`) * 1
    expect_close(vcov(e), sum_up %*% vcov(joint) %*% t(sum_up), 1e-14)
  }
})

test_that("single cells from the records are the cells of the joint table", {
  m <- toy_mechanism()
  records <- table_records(toy_table())
  cells <- expand.grid(a = 1:2, b = 1:3, c = 1:2)
  joint <- estimate(records, m)
  single <- estimate_cells(records, m, cells)
  expect_close(unname(coef(single)), unname(coef(joint)), 1e-15)
  expect_close(single$std_error, joint$std_error, 1e-15)
  expect_close(vcov(single), unname(vcov(joint)), 1e-15)
  for (type in c("privacy", "sampling")) {
    expect_close(vcov(single, type = type), unname(vcov(joint, type = type)), 1e-15)
    expect_close(std_error(single, type), std_error(joint, type), 1e-14)
  }
  from_counts <- estimate_cells(toy_table(), m, cells)
  expect_close(coef(from_counts), unname(coef(joint)), 1e-15)
  expect_identical(names(coef(single))[[2]], "a=2, b=1, c=1")
})

test_that("single cells of some attributes are cells of their margin, in any order of columns", {
  m <- toy_mechanism()
  margin <- estimate(toy_table(), m, margin = c("c", "a"))
  cells <- expand.grid(c = 1:2, a = 1:2)
  single <- estimate_cells(toy_table(), m, cells)
  expect_close(coef(single), unname(coef(margin)), 1e-15)
  expect_close(single$std_error, margin$std_error, 1e-15)
  swapped <- estimate_cells(toy_table(), m, cells[2:1])
  expect_close(coef(swapped), coef(single), 1e-16)
})

test_that("the same cell may be asked twice", {
  m <- toy_mechanism()
  e <- estimate_cells(toy_table(), m, data.frame(a = c(1, 2, 1), b = c(3, 1, 3)))
  expect_close(vcov(e)[1, 1], vcov(e)[1, 3], 1e-18)
  expect_close(vcov(e, type = "sampling")[1, 1], vcov(e, type = "sampling")[1, 3], 1e-18)
})

test_that("a cell of a hundred attributes is the mean of products over records", {
  withr::local_seed(2)
  m <- mech_lambda(stats::setNames(rep(list(5), 100), paste0("a", 1:100)), lambda = .1)
  n <- 200
  records <- matrix(sample(5, n * 100, TRUE), n, dimnames = list(NULL, paste0("a", 1:100)))
  cell <- as.data.frame(t(records[1, ]))
  time <- system.time(e <- estimate_cells(as.data.frame(records), m, cell))
  inverse <- naive_inverse(.1, 5)
  values <- vapply(
    seq_len(n), function(i) prod(inverse[cbind(records[i, ], records[1, ])]), numeric(1)
  )
  expect_equal(unname(coef(e)), mean(values), tolerance = 1e-10)
  expect_equal(e$std_error, sqrt(sum((values - mean(values))^2) / (n - 1) / n), tolerance = 1e-10)
  expect_lt(time[["elapsed"]], 5)
})

test_that("cells that are no cells are refused", {
  m <- toy_mechanism()
  cases <- list(
    NULL, 1, list(), data.frame(), data.frame(z = 1), data.frame(a = 1)[0, , drop = FALSE]
  )
  for (cells in cases) {
    expect_confide_error(
      estimate_cells(toy_table(), m, cells), "parameter", "`cells` must be a data frame"
    )
  }
  expect_confide_error(
    estimate_cells(toy_table(), m, data.frame(a = c(1, 7))), "parameter", "Not a level: \"7\""
  )
  expect_confide_error(estimate_cells(toy_table(), m), "parameter", "`cells` must be given")
  expect_confide_error(
    estimate_cells(c("1" = 2), mech_rr(2, 1), data.frame(a = 1)), "parameter", "mech_lambda"
  )
})

test_that("weights give the linearised variance of a loop over records", {
  withr::local_seed(3)
  n <- 150
  lambda <- c(.6, .4)
  m <- mech_lambda(list(a = 2, b = 3), lambda = lambda)
  records <- data.frame(a = sample(2, n, TRUE), b = sample(3, n, TRUE))
  w <- stats::runif(n, .1, 4)
  cells <- expand.grid(a = 1:2, b = 1:3)
  z <- naive_record_values(as.matrix(records), as.matrix(cells), lambda, c(2, 3))
  pi <- colSums(w * z) / sum(w)
  centred <- w * sweep(z, 2, pi)
  covariance <- n / (n - 1) * crossprod(centred) / sum(w)^2
  e <- estimate(records, m, weights = w)
  expect_close(unname(coef(e)), pi, 1e-13)
  expect_close(unname(vcov(e)), covariance, 1e-13)
  expect_close(e$std_error, sqrt(diag(covariance)), 1e-13)
  single <- estimate_cells(records, m, cells, weights = w)
  expect_close(unname(coef(single)), pi, 1e-13)
  expect_close(unname(vcov(single)), covariance, 1e-13)
  one <- estimate(factor(records$b), mech_rr(3, m$epsilon[["b"]]), weights = w)
  expect_close(
    unname(coef(one)), unname(coef(estimate(records, m, margin = "b", weights = w))), 1e-13
  )
  # weights of one are no weights, and their scale does not matter
  expect_close(
    vcov(estimate(records, m, weights = rep(1, n))), unname(vcov(estimate(records, m))), 1e-14
  )
  expect_close(vcov(estimate(records, m, weights = 7 * w)), unname(vcov(e)), 1e-14)
})

test_that("the variance splits into a sampling part and a privacy part", {
  m <- toy_mechanism()
  N <- as.vector(toy_table())
  B <- solve(naive_joint(c(.8, .6, .5), c(2, 3, 2)))
  psi <- N / 200
  pi <- drop(B %*% psi)
  e <- estimate(toy_table(), m)
  sampling <- (diag(pi) - outer(pi, pi)) / 199
  privacy <- (B %*% diag(psi) %*% t(B) - diag(pi)) / 199
  expect_close(unname(vcov(e, type = "sampling")), sampling, 1e-14)
  expect_close(unname(vcov(e, type = "privacy")), privacy, 1e-14)
  expect_close(unname(vcov(e)), sampling + privacy, 1e-14)
  expect_close(std_error(e, "privacy"), sqrt(pmax(diag(privacy), 0)), 1e-13)
  expect_close(std_error(e, "sampling"), sqrt(pmax(diag(sampling), 0)), 1e-13)
})

test_that("without randomization all of the variance is sampling", {
  m <- mech_lambda(list(a = 2, b = 3, c = 2), lambda = 1)
  e <- estimate(toy_table(), m)
  expect_close(coef(e), as.vector(toy_table()) / 200, 1e-15)
  expect_close(std_error(e, "privacy"), rep(0, 12), 1e-9)
})

test_that("maximum likelihood estimates satisfy their optimality conditions", {
  withr::local_seed(4)
  for (lambda in list(c(.8, .6, .5), c(.2, .3, .9), c(.1, .1, .1))) {
    m <- mech_lambda(list(a = 2, b = 3, c = 2), lambda = lambda)
    P <- naive_joint(lambda, c(2, 3, 2))
    for (i in 1:5) {
      N <- array(stats::rpois(12, 15), c(2, 3, 2), levels(m))
      e <- estimate(as.table(N), m, method = "ml")
      pi <- unname(coef(e))
      psi <- as.vector(N) / sum(N)
      gradient <- drop(P %*% (psi / drop(P %*% pi)))
      expect_true(e$converged)
      expect_true(all(pi >= 0))
      expect_close(sum(pi), 1, 1e-12)
      expect_lte(max(gradient) - 1, 1e-6)
      expect_lte(max(abs(gradient - 1)[pi > 1e-6]), 1e-6)
      expect_equal(max(gradient) - 1, e$optimality_gap, tolerance = 1e-6)
      expect_equal(as.numeric(logLik(e)), sum(N * log(drop(P %*% pi))), tolerance = 1e-12)
    }
  }
})

test_that("no distribution is likelier than the maximum likelihood estimate", {
  withr::local_seed(5)
  m <- toy_mechanism()
  P <- naive_joint(c(.8, .6, .5), c(2, 3, 2))
  best <- as.numeric(logLik(estimate(toy_table(), m, method = "ml")))
  likelihood <- function(pi) sum(as.vector(toy_table()) * log(drop(P %*% pi)))
  at <- unname(coef(estimate(toy_table(), m, method = "ml")))
  for (i in 1:200) {
    other <- stats::rexp(12)
    other <- other / sum(other)
    expect_lte(likelihood(other), best)
    expect_lte(likelihood(.999 * at + .001 * other), best + 1e-9)
  }
})

test_that("the closed form for one attribute is the optimum that EM finds", {
  withr::local_seed(6)
  for (i in 1:20) {
    k <- sample(2:8, 1)
    lambda <- stats::runif(1, .1, 1)
    N <- stats::rpois(k, 8) + (seq_len(k) == 1)
    names(N) <- seq_len(k)
    m <- mech_rr(k, log(1 + k * lambda / (1 - lambda)))
    closed <- unname(coef(estimate(N, m, method = "ml")))
    psi <- N / sum(N)
    P <- naive_channel(lambda, k)
    gradient <- drop(P[, psi > 0, drop = FALSE] %*% (psi / drop(P %*% closed))[psi > 0])
    expect_true(all(closed >= 0))
    expect_close(sum(closed), 1, 1e-12)
    expect_lte(max(gradient) - 1, 1e-9)
    expect_lte(max(abs(gradient - 1)[closed > 0]), 1e-9)
  }
})

test_that("inside the simplex all methods agree", {
  m <- mech_lambda(list(a = 2, b = 2), lambda = .9)
  N <- as.table(matrix(c(40, 30, 20, 35), 2, dimnames = levels(m)))
  moment <- coef(estimate(N, m))
  expect_true(all(moment > 0))
  for (method in c("simplex", "clip")) {
    expect_equal(coef(estimate(N, m, method = method)), moment, tolerance = 1e-14)
  }
  expect_equal(coef(estimate(N, m, method = "ml")), moment, tolerance = 1e-8)
})

test_that("the simplex estimate is the nearest distribution", {
  withr::local_seed(7)
  e <- estimate(toy_table(), toy_mechanism())
  projected <- unname(coef(estimate(toy_table(), toy_mechanism(), method = "simplex")))
  gap <- coef(e) - projected
  # the projection's variational inequality: no distribution makes an acute angle with the gap
  for (i in 1:200) {
    other <- stats::rexp(12)
    expect_lte(sum(gap * (other / sum(other) - projected)), 1e-14)
  }
})

test_that("every method keeps the moment estimate and its standard errors", {
  m <- toy_mechanism()
  moment <- estimate(toy_table(), m)
  for (method in c("ml", "simplex", "clip")) {
    e <- estimate(toy_table(), m, method = method)
    expect_identical(e$moment, moment$estimate)
    expect_identical(e$std_error, moment$std_error)
    expect_identical(vcov(e), vcov(moment))
    expect_identical(confint(e), confint(moment))
  }
})

test_that("a search that is cut short says so", {
  e <- estimate(toy_table(), toy_mechanism(), method = "ml", control = list(max_evaluations = 3))
  expect_false(e$converged)
  expect_match(format(e), "NOT CONVERGED", all = FALSE)
})

test_that("a control that is none is refused", {
  m <- toy_mechanism()
  for (control in list(1, NULL, "a", list(tol = 1), list(1))) {
    expect_confide_error(
      estimate(toy_table(), m, method = "ml", control = control), "parameter",
      "`control` must be a list"
    )
  }
  expect_confide_error(
    estimate(toy_table(), m, control = list(tolerance = 0)), "parameter", "tolerance"
  )
  expect_confide_error(
    estimate(toy_table(), m, control = list(tolerance = NA)), "parameter", "tolerance"
  )
  expect_confide_error(
    estimate(toy_table(), m, control = list(max_evaluations = .5)), "parameter", "max_evaluations"
  )
})

test_that("a joint table above the cap is refused with advice, and its cells are served", {
  m <- mech_lambda(stats::setNames(rep(list(5), 100), paste0("a", 1:100)), lambda = .5)
  records <- as.data.frame(stats::setNames(rep(list(c(1, 2, 3)), 100), paste0("a", 1:100)))
  expect_confide_error(
    estimate(records, m), "parameter", c("at most 16,777,216 cells", "estimate_cells")
  )
  expect_confide_error(
    estimate(toy_table(), toy_mechanism(), max_cells = 11), "parameter", "at most 11 cells"
  )
  expect_s3_class(estimate(records, m, margin = c("a1", "a100")), "confide_estimate")
})

test_that("margins are names of different attributes", {
  m <- toy_mechanism()
  cases <- list(
    "z", c("a", "a"), character(), 1, NA, NA_character_, list("a"), factor("a"), TRUE, mean
  )
  for (margin in cases) {
    expect_confide_error(
      estimate(toy_table(), m, margin = margin), "parameter",
      "`margin` must name different attributes"
    )
  }
  expect_confide_error(
    estimate(c("1" = 1), mech_rr(2, 1), margin = "a"), "parameter", "single attribute"
  )
})

test_that("no reports give no estimate, and one report gives no standard error", {
  m <- mech_rr(2, 1)
  expect_confide_error(estimate(character(0), m), "parameter", "at least one report")
  expect_confide_error(estimate(c("1" = 0, "2" = 0), m), "parameter", "at least one report")
  expect_confide_error(
    estimate(c("1", "2"), m, weights = c(0, 0)), "parameter", "at least one report"
  )
  e <- estimate("1", m)
  expect_true(all(is.na(e$std_error)))
  expect_match(format(e), "no standard error", all = FALSE)
  expect_prints_small(e)
  expect_output(print(summary(e)), "no standard error")
})

test_that("table order does not follow the data's levels but the mechanism's", {
  m <- mech_rr(c("b", "a"), 2)
  expect_identical(names(coef(estimate(factor(c("a", "b", "a"), c("a", "b")), m))), c("b", "a"))
})

test_that("a million cells are estimated in seconds", {
  skip_on_cran()
  m <- mech_lambda(stats::setNames(rep(list(2), 20), paste0("a", 1:20)), lambda = .9)
  withr::local_seed(8)
  records <- as.data.frame(
    matrix(sample(2, 20 * 1000, TRUE), 1000, dimnames = list(NULL, paste0("a", 1:20)))
  )
  time <- system.time(e <- estimate(records, m))
  expect_length(e$estimate, 2^20)
  expect_close(sum(e$estimate), 1, 1e-9)
  # about 0.3 s; the bound leaves room for a busy machine
  expect_lt(time[["user.self"]], 10)
})

test_that("an interrupt stops the search for the maximum likelihood", {
  skip_on_cran()
  skip_on_os("windows")
  m <- mech_lambda(stats::setNames(rep(list(2), 18), paste0("a", 1:18)), lambda = .3)
  records <- withr::with_seed(
    9,
    as.data.frame(matrix(sample(2, 18 * 500, TRUE), 500, dimnames = list(NULL, paste0("a", 1:18))))
  )
  counts <- count_reports(records, m)
  never <- list(max_evaluations = 1e9, tolerance = 1e-300)
  expect_identical(
    interrupted_after(.5, estimate(counts, m, method = "ml", control = never)), "interrupted"
  )
  expect_s3_class(estimate(counts, m, margin = "a1", method = "ml"), "confide_estimate")
})

# Simulations ------------------------------------------------------------------------

# Tables of reports by multinomial draws from the true channel; what privatize() does, many times
# faster.
simulate_tables <- function(mechanism, truth, n, draws) {
  psi <- drop(truth %*% as.matrix(mechanism))
  stats::rmultinom(draws, n, psi)
}

test_that("estimates are unbiased and their standard errors are those of the simulation", {
  withr::local_seed(20260301)
  draws <- 2000
  n <- 400
  m <- toy_mechanism()
  truth <- c(.2, .05, 0, .15, .1, 0, .02, .08, .1, 0, 0, .3)
  tables <- simulate_tables(m, truth, n, draws)
  fits <- apply(tables, 2, function(N) {
    e <- estimate(as.table(array(N, c(2, 3, 2), levels(m))), m)
    c(e$estimate, e$std_error^2)
  })
  mean_error <- rowMeans(fits[1:12, ]) - truth
  deviation <- apply(fits[1:12, ], 1, stats::sd)
  expect_lte(max(abs(mean_error) / (deviation / sqrt(draws))), 5) # five standard errors
  # a standard deviation from R draws has relative standard error 1 / sqrt(2 R)
  expect_lte(max(abs(sqrt(rowMeans(fits[13:24, ])) / deviation - 1)), 5 / sqrt(2 * draws))
})

test_that("a true share of zero is estimated as zero on average", {
  withr::local_seed(20260302)
  draws <- 2000
  m <- mech_rr(c("a", "b", "never"), 1)
  tables <- simulate_tables(m, c(.7, .3, 0), 100, draws)
  never <- apply(tables, 2, function(N) coef(estimate(stats::setNames(N, levels(m)), m))[["never"]])
  expect_lte(abs(mean(never)), 5 * stats::sd(never) / sqrt(draws))
  expect_gt(mean(never < 0), .3)
})

test_that("95 % intervals of margins of adult cover in 95 % of the samples", {
  withr::local_seed(20260303)
  draws <- if (extended()) 4000 else 1200
  m <- mech_lambda(
    adult[c("education", "sex", "income")], lambda = c(education = .5, sex = .7, income = .6)
  )
  for (margin in list("sex", c("sex", "income"), "education")) {
    shares <- table(adult[margin]) / nrow(adult)
    one <- mech_lambda(dimnames(shares), lambda = m$lambda[margin])
    tables <- simulate_tables(one, as.vector(shares), 5000, draws)
    covered <- apply(tables, 2, function(N) {
      limits <- confint(
        estimate(as.table(array(N, dim(shares), dimnames(shares))), one), cut = FALSE
      )
      limits[, 1] <= as.vector(shares) & as.vector(shares) <= limits[, 2]
    })
    # one and a half points, of which five Monte Carlo standard errors of the average cover the
    # most:
    # sqrt(.95 * .05 / (1200 * cells)) is .0031 at most for the independent half of the cells
    expect_lte(abs(mean(covered) - .95), .015)
    # each cell within five standard errors and half a point for what normal limits miss at n = 5000
    expect_lte(max(abs(rowMeans(covered) - .95)), 5 * sqrt(.95 * .05 / draws) + .005)
  }
})

test_that("the privacy part is the variance for a file that stays the same", {
  withr::local_seed(20260304)
  draws <- if (extended()) 2000 else 400
  m <- mech_lambda(list(a = 2, b = 3), lambda = c(.6, .5))
  x <- data.frame(
    a = rep(c(1L, 2L, 1L), c(60, 90, 50)), b = rep(c(1L, 2L, 3L, 1L), c(50, 50, 50, 50))
  )
  fits <- replicate(draws, {
    e <- estimate(privatize(x, m, rng = "r"), m)
    c(e$estimate, std_error(e, "privacy")^2)
  })
  truth <- as.vector(table(x)) / 200
  deviation <- apply(fits[1:6, ], 1, stats::sd)
  expect_lte(max(abs(rowMeans(fits[1:6, ]) - truth) / (deviation / sqrt(draws))), 5)
  expect_lte(max(abs(sqrt(rowMeans(fits[7:12, ])) / deviation - 1)), 5 / sqrt(2 * draws))
})

test_that("maximum likelihood is closer to the truth than the inverse where cells are empty", {
  withr::local_seed(20260305)
  m <- mechanism_for(Titanic, .5)
  truth <- as.vector(Titanic) / sum(Titanic)
  tables <- simulate_tables(m, truth, 2201, 30)
  errors <- apply(tables, 2, function(N) {
    x <- as.table(array(N, dim(Titanic), dimnames(Titanic)))
    vapply(c("moment", "clip", "simplex", "ml"), function(method) {
      sum((coef(estimate(x, m, method = method, control = list(tolerance = 1e-8))) - truth)^2)
    }, numeric(1))
  })
  risk <- 1000 * rowMeans(errors)
  # published simulation: 24.2, 15.2, 14.6, 7.5; the errors of 30 tables leave about a fifth
  expect_lte(max(abs(risk / c(24.2, 15.2, 14.6, 7.5) - 1)), .35)
  expect_lt(risk[["ml"]], risk[["simplex"]])
})

test_that("the toy table needs at most 300 evaluations of EM", {
  e <- estimate(toy_table(), toy_mechanism(), method = "ml")
  expect_true(e$converged)
  expect_lte(e$evaluations, 300)
})

test_that("answers that were never randomized are asked about", {
  m <- mech_rr(c("no", "yes"), 1)
  raw <- rep("no", 2000)
  expect_match(format(estimate(raw, m)), "FAR BELOW 0: were these answers", all = FALSE)
  reports <- privatize(raw, m, rng = "os")
  expect_no_match(paste(format(estimate(reports, m)), collapse = " "), "FAR BELOW 0")
})

test_that("one report has no standard error in any cell of any table", {
  m <- mech_lambda(list(a = 3, b = 2, c = 4), lambda = c(.31, .47, .83))
  one <- data.frame(a = 2, b = 1, c = 3)
  for (x in list(one, cbind(one, n = .7))) {
    e <- estimate(x, m)
    expect_identical(e$std_error, rep(NA_real_, 24))
    expect_true(all(is.na(vcov(e))))
    expect_prints_small(e)
    expect_output(print(summary(e)), "no standard error")
    expect_identical(estimate_cells(x, m, list(a = "1"))$std_error, NA_real_)
  }
  for (k in 2:6) {
    for (n in c(.2, 1)) {
      e <- estimate(stats::setNames(c(n, rep(0, k - 1)), 1:k), mech_rr(k, .3))
      expect_identical(e$std_error, rep(NA_real_, k))
      expect_prints_small(e)
    }
  }
})

test_that("the randomization of a single report has a variance of its own", {
  # z z' - diag(z), z the column of the inverse channel that belongs to the report
  channels <- list(mech_rr(4, 1.3), mech_matrix(rbind(c(.7, .3), c(.4, .6))))
  for (m in channels) {
    k <- nrow(as.matrix(m))
    e <- estimate(stats::setNames(c(1, rep(0, k - 1)), 1:k), m, target = "file")
    z <- solve(t(as.matrix(m)))[, 1]
    expect_close(vcov(e), outer(z, z) - diag(z), 1e-12)
    expect_close(e$std_error, sqrt(pmax(z^2 - z, 0)), 1e-12)
  }
})

test_that("attributes that the integers cannot tell apart are refused by every estimator", {
  m <- mech_lambda(list(a = 2, b = 2), epsilon = c(1e-25, 1))
  expect_identical(m$lambda[["a"]], 0)
  x <- data.frame(a = rep(1:2, 20), b = rep(1:2, each = 20))
  scores <- list(a = 0:1, b = 0:1)
  calls <- list(
    function() estimate(x, m), function() estimate(x, m, margin = "a"),
    function() estimate(x, m, method = "ml"), function() estimate_cells(x, m, list(a = "1")),
    function() estimate_covariance(x, m, scores = scores),
    function() private_lm(b ~ a, x, m, scores = list(b = 0:1)),
    function() private_glm(b ~ a, x, m), function() log_linear_test(x, m, ~ a + b),
    function() private_test(x, m)
  )
  for (call in calls) expect_confide_error(call(), "parameter", "realise lambda 0 in \"a\"")
  only <- mech_lambda(list(b = 2), epsilon = 1)
  expect_equal(
    coef(estimate(x, m, margin = "b")), coef(estimate(x["b"], only)), tolerance = 1e-12
  )
  expect_length(coef(estimate_cells(x, m, list(b = "1"))), 1)
})
