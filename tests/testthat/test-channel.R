# Any channel as a mechanism.

coin <- rbind(no = c(no = 0.75, yes = 0.25), yes = c(no = 0, yes = 1))
mild <- rbind(a = c(x = .7, y = .3), b = c(x = .4, y = .6))

random_channel <- function(rows, columns) {
  weights <- matrix(stats::rexp(rows * columns), rows)
  weights / rowSums(weights)
}

test_that("the channel is the matrix that was given", {
  expect_equal(unclass(as.matrix(mech_matrix(mild))), mild, tolerance = 1e-15, ignore_attr = TRUE)
  expect_identical(
    dimnames(as.matrix(mech_matrix(mild))), list(true = c("a", "b"), reported = c("x", "y"))
  )
  withr::local_seed(1)
  for (i in 1:20) {
    P <- random_channel(sample(2:6, 1), sample(1:7, 1))
    expect_equal(unname(as.matrix(mech_matrix(P))), P, tolerance = 1e-14)
  }
})

test_that("epsilon is the largest log-ratio in a column, rounded up", {
  withr::local_seed(2)
  for (i in 1:30) {
    P <- random_channel(sample(2:6, 1), sample(2:7, 1))
    exact <- max(apply(log(P), 2, function(column) diff(range(column))))
    m <- mech_matrix(P)
    expect_equal(m$epsilon, exact, tolerance = 1e-12)
    expect_lte(audit(m)$worst_log_ratio, m$epsilon)
    expect_gte(audit(m)$worst_log_ratio, m$epsilon * (1 - 1e-14))
    expect_true(audit(m)$ok)
  }
  expect_equal(mech_matrix(mild)$epsilon, log(.6 / .3), tolerance = 1e-15)
})

test_that("rows that do not sum to 1 are refused, with the row and its sum", {
  P <- mild
  P[2, 1] <- .401
  expect_confide_error(mech_matrix(P), "parameter", c("Row 2 sums to 1.001", "columns_true"))
  P[2, 1] <- .4 + 1e-12
  expect_s3_class(mech_matrix(P), "confide_matrix")
  # columns that sum to 1 do not help
  expect_confide_error(mech_matrix(t(mild)), "parameter", "Every row of `P` must sum to 1")
  expect_identical(
    mech_matrix(t(mild), orientation = "columns_true")$fingerprint, mech_matrix(mild)$fingerprint
  )
})

test_that("a report that only some truths allow makes epsilon infinite and fails any claim", {
  m <- mech_matrix(coin)
  expect_identical(m$epsilon, Inf)
  expect_identical(audit(m)$worst_log_ratio, Inf)
  expect_match(format(m), "NOT PRIVATE", all = FALSE)
  for (epsilon in c(.1, 1, 44, 1e308)) {
    expect_confide_error(
      mech_matrix(coin, epsilon = epsilon), "parameter", "differentially private"
    )
  }
})

test_that("a report that no truth allows costs nothing", {
  P <- cbind(mild, z = 0)
  m <- mech_matrix(P, epsilon = log(2))
  expect_lte(audit(m)$worst_log_ratio, log(2))
  expect_confide_error(estimate(c(x = 1, y = 1, z = 1), m), "domain")
  plain <- coef(estimate(c(x = 53, y = 47), mech_matrix(mild)))
  expect_equal(coef(estimate(c(x = 53, y = 47, z = 0), m)), plain,
    tolerance = 1e-9
  )
})

test_that("rounding of doubles is repaired so that the claim holds", {
  withr::local_seed(3)
  for (i in 1:15) {
    epsilon <- stats::runif(1, .1, 5)
    k <- sample(2:6, 1)
    P <- matrix(1 / (exp(epsilon) + k - 1), k, k)
    diag(P) <- exp(epsilon) / (exp(epsilon) + k - 1)
    P <- P / rowSums(P)
    asked <- max(apply(log(P), 2, function(column) diff(range(column)))) * (1 - 1e-15)
    m <- mech_matrix(P, epsilon = asked)
    expect_identical(m$epsilon, asked)
    expect_lte(audit(m)$worst_log_ratio, asked)
    expect_true(audit(m)$ok)
    expect_lte(max(abs(as.matrix(m) - P)), 1e-9)
    expect_confide_error(mech_matrix(P, epsilon = asked - 1e-3), "parameter", "Its own epsilon is")
  }
})

test_that("a channel with one report is legal and tells nothing", {
  m <- mech_matrix(matrix(1, 3, 1))
  expect_identical(m$epsilon, 0)
  expect_identical(audit(m)$worst_log_ratio, 0)
  expect_identical(as.character(privatize(c("1", "3"), m)), c("1", "1"))
  expect_confide_error(estimate(c("1" = 5), m), "parameter", "linearly dependent")
})

test_that("a channel for one true value is refused", {
  expect_confide_error(mech_matrix(matrix(c(.5, .5), 1)), "parameter", "at least two categories")
})

test_that("only a plain numeric matrix is a channel", {
  wrong <- list(
    as.data.frame(mild), c(.5, .5), NULL, "P", list(1), array(.5, c(2, 2, 2)), matrix("a", 2, 2),
    matrix(TRUE, 1, 1),
    matrix(1i, 2, 2), matrix(0, 0, 2), matrix(0, 2, 0), as.table(mild),
    structure(mild, class = "foo")
  )
  for (P in wrong) expect_confide_error(mech_matrix(P), "parameter", "`P` must be a numeric matrix")
  expect_identical(mech_matrix(diag(2L))$epsilon, Inf)
  expect_equal(
    unname(as.matrix(mech_matrix(matrix(c(1L, 0L, 0L, 1L), 2)))), diag(2), tolerance = 1e-15
  )
})

test_that("a sparse matrix is refused with the hint to convert it", {
  skip_if_not_installed("Matrix")
  P <- Matrix::Matrix(mild, sparse = TRUE)
  expect_confide_error(mech_matrix(P), "parameter", "as.matrix")
})

test_that("repeated or missing names of rows and columns are refused", {
  expect_confide_error(mech_matrix(rbind(a = c(.5, .5), a = c(.5, .5))), "parameter", "rows of `P`")
  expect_confide_error(
    mech_matrix(cbind(x = c(.5, .5), x = c(.5, .5))), "parameter", "columns of `P`"
  )
  P <- mild
  rownames(P) <- c("a", NA)
  expect_confide_error(mech_matrix(P), "parameter", "must not hold NA")
  colnames(P) <- c(NA, "y")
  expect_confide_error(mech_matrix(P), "parameter", "must not hold NA")
})

test_that("rows without names are the values 1 to k, as labels and as codes", {
  m <- mech_matrix(diag(3))
  expect_identical(levels(m), c("1", "2", "3"))
  expect_identical(as.character(privatize(c(3L, 1L), m)), c("3", "1"))
  expect_identical(as.character(privatize(c("3", "1"), m)), c("3", "1"))
})

test_that("the last row of a channel may be for missing answers", {
  P <- rbind(a = c(.8, .1, .1), b = c(.1, .8, .1), c(.1, .1, .8))
  m <- mech_matrix(P, na = "level")
  expect_identical(levels(m), c("a", "b", "<NA>"))
  kept <- mech_matrix(diag(3), na = "level")
  expect_identical(as.character(privatize(c("2", NA), kept)), c("2", NA))
  expect_length(privatize(c("a", NA), m), 2)
})

test_that("a transition of probability zero never happens", {
  m <- mech_matrix(coin)
  expect_true(all(privatize(rep("yes", 20000), m) == "yes"))
  expect_identical(as.matrix(m)["yes", "no"], 0)
})

test_that("reports have the probabilities of the channel", {
  n <- 20000
  withr::local_seed(12)
  P <- random_channel(3, 5)
  m <- mech_matrix(P)
  for (truth in 1:3) {
    share <- table(privatize(rep(truth, n), m, rng = "r")) / n
    p <- P[truth, ]
    expect_lte(max(abs(share - p) / sqrt(p * (1 - p) / n)), 5) # five standard errors
  }
})

test_that("the estimate of a square channel is its inverse", {
  withr::local_seed(4)
  P <- random_channel(4, 4)
  N <- c(30, 20, 10, 40)
  names(N) <- 1:4
  e <- estimate(N, mech_matrix(P))
  psi <- N / sum(N)
  expect_equal(unname(coef(e)), unname(drop(solve(t(P), psi))), tolerance = 1e-10)
  B <- solve(t(P))
  pi <- drop(B %*% psi)
  expect_equal(
    unname(vcov(e)), unname((B %*% diag(psi) %*% t(B) - outer(pi, pi)) / (sum(N) - 1)),
    tolerance = 1e-10
  )
  expect_equal(sqrt(diag(unname(vcov(e)))), e$std_error, tolerance = 1e-10)
})

test_that("a channel with more reports than values is decoded by weighted least squares", {
  withr::local_seed(5)
  P <- random_channel(3, 5)
  m <- mech_matrix(P)
  for (truth in 1:3) {
    expected <- 1e6 * P[truth, ]
    names(expected) <- 1:5
    expect_equal(unname(coef(estimate(expected, m))), as.numeric(1:3 == truth), tolerance = 1e-10)
  }
  D <- diag(1 / colMeans(P))
  decoder <- solve(P %*% D %*% t(P)) %*% P %*% D
  N <- c(30, 20, 10, 40, 7)
  names(N) <- 1:5
  expect_equal(
    unname(coef(estimate(N, m))), unname(drop(decoder %*% (N / sum(N)))), tolerance = 1e-10
  )
})

test_that("a channel with dependent rows estimates nothing and says so", {
  m <- mech_matrix(matrix(.25, 3, 4))
  expect_confide_error(
    estimate(c("1" = 5, "2" = 1, "3" = 1, "4" = 1), m), "parameter", "linearly dependent"
  )
  expect_match(format(m), "cannot be estimated", all = FALSE)
})

test_that("maximum likelihood of a channel satisfies its optimality conditions", {
  withr::local_seed(6)
  P <- random_channel(4, 6)
  N <- c(80, 1, 3, 0, 9, 7)
  names(N) <- 1:6
  e <- estimate(N, mech_matrix(P), method = "ml")
  psi <- N / sum(N)
  pi <- unname(coef(e))
  gradient <- drop(P %*% (psi / drop(pi %*% P)))
  expect_true(all(pi >= 0))
  expect_equal(sum(pi), 1, tolerance = 1e-12)
  expect_lte(max(gradient) - 1, 1e-6)
  expect_lte(max(abs(gradient[pi > 1e-6] - 1)), 1e-6)
  expect_equal(as.numeric(logLik(e)), sum((N * log(drop(pi %*% P)))[N > 0]), tolerance = 1e-12)
})

test_that("a general channel agrees with randomized response where they are the same", {
  rr <- mech_rr(4, 1.5)
  m <- mech_matrix(as.matrix(rr))
  N <- c("1" = 30, "2" = 20, "3" = 10, "4" = 40)
  expect_equal(coef(estimate(N, m)), coef(estimate(N, rr)), tolerance = 1e-12)
  expect_equal(vcov(estimate(N, m)), vcov(estimate(N, rr)), tolerance = 1e-10)
  expect_equal(
    coef(estimate(N, m, method = "ml")), coef(estimate(N, rr, method = "ml")), tolerance = 1e-7
  )
  expect_equal(m$epsilon, 1.5, tolerance = 1e-14)
})
