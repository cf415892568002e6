# Lambda-randomization: the published numbers of Ruiz (2026), each also derived in exact rationals,
# and brute force.

test_that("one attribute of five levels has the published channel, inverse, epsilon and entropy", {
  published <- rbind(
    # lambda, a, b, inverse diagonal, inverse off-diagonal, epsilon, bits, share, 2^bits
    c(
      .9, .92, .02, 1.088888888889, -.022222222222, 3.828641396489, .562179190202, .242117398657,
      1.476497782972
    ),
    c(.8, .84, .04, 1.2, -.05, 3.044522437723, .954309554641, .410998754329, 1.937652089906),
    c(
      .7, .76, .06, 1.342857142857, -.085714285714, 2.538973871058, 1.275040279385, .549129958930,
      2.420055744343
    ),
    c(
      .3, .44, .14, 2.866666666667, -.466666666667, 1.145132304303, 2.109587521222, .908549892594,
      4.315678880328
    ),
    c(.2, .36, .16, 4.2, -.8, .810930216216, 2.222683189255, .957257545636, 4.667607304616),
    c(.1, .28, .18, 8.2, -1.8, .441832752279, 2.295450810560, .988596854319, 4.909073647225)
  )
  for (i in seq_len(nrow(published))) {
    m <- mech_lambda(list(a = 5), lambda = published[i, 1])
    channel <- as.matrix(m)
    inverse <- unname(coef(estimate(table(a = factor(1, 1:5)), m)))
    entropy <- mechanism_entropy(m)
    got <- c(
      m$lambda, channel[1, 1], channel[1, 2], inverse[1:2], m$epsilon, entropy$bits[[1]],
      entropy$share[[1]],
      2^entropy$bits[[1]]
    )
    expect_close(got, published[i, ], 1e-11)
  }
})

test_that("two and three levels have the published epsilon, entropy and inverse", {
  two <- mech_lambda(list(a = 2), lambda = .5)
  expect_close(c(two$epsilon, mechanism_entropy(two)$bits[[1]]), c(1.098612288668, .811278124459))
  three <- mech_lambda(list(a = 3), lambda = .6)
  inverse <- unname(coef(estimate(table(a = factor(1, 1:3)), three)))
  expect_close(
    c(as.matrix(three)[1, 1], inverse[1:2], three$epsilon, mechanism_entropy(three)$bits[[1]]),
    c(.733333333333, 1.444444444444, -.222222222222, 1.704748092238, 1.103307408608)
  )
})

test_that("three attributes of five levels have the published joint numbers", {
  published <- list(
    list(
      lambda = c(.9, .8, .7), entropy = c(2.791529024227, .40074870397207),
      epsilon = 9.412137705271,
      channel = c(.587328, 4.8e-05), inverse = c(658 / 375, -.112, -1 / 10500),
      condition = 1.984126984127
    ),
    list(
      lambda = c(.3, .2, .1), entropy = c(6.627721521038, .95146809751649),
      epsilon = 2.397895272798,
      channel = c(.044352, .004032), inverse = c(98.728, -21.672, -.672),
      condition = 166.666666666667
    )
  )
  unit <- array(c(1, rep(0, 124)), c(5, 5, 5), list(a = 1:5, b = 1:5, c = 1:5))
  for (p in published) {
    m <- mech_lambda(list(a = 5, b = 5, c = 5), lambda = p$lambda)
    expect_close(unlist(mechanism_entropy(m)[4, c("bits", "share")]), p$entropy)
    expect_identical(mechanism_entropy(m)$attribute, c("a", "b", "c", "joint"))
    expect_close(epsilon(m), p$epsilon)
    channel <- as.matrix(m)
    expect_close(channel[1, c(1, 125)], p$channel, 1e-14)
    # the last attribute differs in cell 1, 1, 2, which is the 26th in R's order
    expect_close(
      coef(estimate(as.table(unit), m))[c(1, 26, 125)], p$inverse,
      1e-12 * max(abs(p$inverse)) + 1e-13
    )
    values <- svd(channel)$d
    expect_close(max(values) / min(values), p$condition, 1e-9)
  }
})

test_that("the entropy of a record is the sum over its attributes, by brute force", {
  m <- mech_lambda(list(a = 2, b = 3, c = 4), lambda = c(.8, .3, .5))
  P <- as.matrix(m)
  expect_equal(mechanism_entropy(m)$bits[[4]], -mean(rowSums(P * log2(P))), tolerance = 1e-12)
})

test_that("the entropy of no protection is zero bits", {
  m <- mech_lambda(list(a = 5, b = 2), lambda = 1)
  expect_identical(mechanism_entropy(m)$bits, c(0, 0, 0))
  expect_false(any(grepl("-0 %", format(m), fixed = TRUE)))
})

test_that("entropy is that of randomized response too, and of nothing else", {
  rr <- mechanism_entropy(mech_rr(5, log(46)))
  expect_close(rr$bits, rep(.562179190202, 2), 1e-11)
  expect_confide_error(mechanism_entropy(mech_matrix(diag(2))), "parameter")
  expect_confide_error(mechanism_entropy(1), "parameter")
})

test_that("divergences between rows of the channel are the published ones", {
  # lambda, levels, Kullback-Leibler, Renyi of order 2 and 10, delta at epsilon 1
  published <- rbind(
    c(.9, 5, 3.445777256840, 3.746686811934, 3.819376773274, .865634363431),
    c(.3, 5, .343539691291, .613780651153, 1.053915788076, .059440544016),
    c(.5, 2, .549306144334, .847297860387, 1.066647614047, .070429542885)
  )
  for (i in seq_len(nrow(published))) {
    P <- as.matrix(mech_lambda(list(a = published[i, 2]), lambda = published[i, 1]))
    p <- P[1, ]
    q <- P[2, ]
    renyi <- function(alpha) log(sum(p^alpha * q^(1 - alpha))) / (alpha - 1)
    got <- c(sum(p * log(p / q)), renyi(2), renyi(10), sum(pmax(p - exp(1) * q, 0)))
    expect_close(got, published[i, 3:6], 1e-11)
  }
})

test_that("lambda and epsilon determine each other", {
  lambda_of <- function(k, epsilon) unname(mech_lambda(list(a = k), epsilon = epsilon)$lambda)
  expect_close(
    c(
      lambda_of(2, .1), lambda_of(2, 1), lambda_of(5, 1), lambda_of(5, 2), lambda_of(5, 4),
      lambda_of(16, 1)
    ),
    c(.049958374958, .462117157260, .255762093990, .560982055355, .914673074198, .096977903676)
  )
  for (k in c(2, 5, 100)) {
    for (lambda in c(1e-6, .1, .5, .9, .999)) {
      m <- mech_lambda(list(a = k), lambda = lambda)
      expect_equal(unname(m$lambda), lambda, tolerance = 1e-9 / lambda * 1e-6)
      expect_equal(unname(m$epsilon), log(1 + k * lambda / (1 - lambda)), tolerance = 1e-10)
      expect_equal(
        mech_lambda(list(a = k), epsilon = m$epsilon)$lambda, m$lambda, tolerance = 1e-14
      )
    }
  }
})

test_that("the joint channel is the Kronecker product with the first attribute fastest", {
  withr::local_seed(1)
  for (sizes in list(c(2, 3), c(3, 2), c(2, 3, 4), c(2, 2, 2, 3))) {
    lambda <- stats::runif(length(sizes), .1, 1)
    domain <- stats::setNames(as.list(sizes), letters[seq_along(sizes)])
    m <- mech_lambda(domain, lambda = lambda)
    expect_close(unname(as.matrix(m)), naive_joint(lambda, sizes), 1e-13)
    expect_identical(rownames(as.matrix(m)), cell_names(levels(m)))
  }
})

test_that("estimates are the inverse of the joint channel, by three routes", {
  withr::local_seed(2)
  for (sizes in list(c(3), c(2, 3), c(4, 2, 3), c(2, 3, 2, 2))) {
    lambda <- stats::runif(length(sizes), .2, 1)
    domain <- stats::setNames(lapply(sizes, seq_len), letters[seq_along(sizes)])
    N <- array(stats::rpois(prod(sizes), 30), sizes, domain)
    got <- unname(
      coef(
        estimate(
          as.table(N), mech_lambda(as.list(stats::setNames(sizes, names(domain))), lambda = lambda)
        )
      )
    )
    psi <- as.vector(N) / sum(N)
    expect_close(got, solve(naive_joint(lambda, sizes), psi), 1e-11)
    expect_close(got, closed_form_inverse(lambda, sizes, "projector") %*% psi, 1e-11)
    expect_close(got, closed_form_inverse(lambda, sizes, "identity") %*% psi, 1e-11)
    expect_close(sum(got), 1, 1e-12)
  }
})

test_that("expected reports are decoded to the truth", {
  withr::local_seed(3)
  m <- toy_mechanism()
  pi <- stats::rexp(12)
  pi <- pi / sum(pi)
  psi <- array(1e6 * pi %*% as.matrix(m), c(2, 3, 2), levels(m))
  expect_close(coef(estimate(as.table(psi), m)), pi, 1e-13)
})

test_that("randomizing twice multiplies the lambdas", {
  one <- mech_lambda(list(a = 4), lambda = .8)
  two <- mech_lambda(list(a = 4), lambda = .5)
  expect_close(unname(as.matrix(one) %*% as.matrix(two)), naive_channel(.4, 4), 1e-14)
})

test_that("covariances of reports shrink by the product of the lambdas", {
  lambda <- c(.8, .7, .6, .5)
  m <- mechanism_for(Titanic, lambda)
  before <- Titanic / sum(Titanic)
  after <- array(as.vector(before) %*% as.matrix(m), dim(Titanic))
  moments <- function(table) {
    pair <- apply(table, c(1, 4), sum)
    class <- row(pair)
    survived <- col(pair)
    covariance <- sum(pair * class * survived) - sum(pair * class) * sum(pair * survived)
    spread <- function(score) sum(pair * score^2) - sum(pair * score)^2
    c(covariance, covariance / sqrt(spread(class) * spread(survived)), spread(class))
  }
  expect_close(moments(before)[1:2], c(-.134415379734, -.271395408301))
  expect_close(moments(after), c(-.053766151894, -.100417002332, 1.183808749523))
  expect_close(moments(after)[[1]] / moments(before)[[1]], .8 * .5, 1e-13)
})

test_that("lambdas and epsilons are matched by name, by order, or one for all", {
  domain <- list(a = 2, b = 3)
  m <- mech_lambda(domain, lambda = c(.3, .6))
  expect_named(m$lambda, c("a", "b"))
  expect_identical(mech_lambda(domain, lambda = c(b = .6, a = .3))$fingerprint, m$fingerprint)
  expect_identical(
    mech_lambda(domain, lambda = .3)$lambda[["b"]],
    mech_lambda(domain, lambda = c(.3, .3))$lambda[["b"]]
  )
  expect_identical(mech_lambda(domain, epsilon = c(b = 2, a = 1))$epsilon, c(a = 1, b = 2))
  expect_confide_error(
    mech_lambda(domain, lambda = c(a = .3, c = .6)), "parameter", "found \"a\", \"c\""
  )
  expect_confide_error(
    mech_lambda(domain, lambda = c(a = .3)), "parameter", "must be the attributes"
  )
  expect_confide_error(mech_lambda(domain, epsilon = c(1, 2, 3)), "parameter", "2 attributes")
  expect_confide_error(mech_lambda(domain, epsilon = c(a = 1, a = 2)), "parameter")
  expect_confide_error(mech_lambda(domain, epsilon = 1, na = mech_rr(2, 1)), "parameter", "`na`")
})

test_that("exactly one of lambda and epsilon is given, in its range", {
  domain <- list(a = 2, b = 3)
  expect_confide_error(mech_lambda(domain, lambda = .5, epsilon = 1), "parameter", "Both are given")
  for (lambda in list(0, -.1, 1.0000001, NA, NaN, Inf, c(.5, 0), c(.5, NA))) {
    expect_confide_error(mech_lambda(domain, lambda = lambda), "parameter")
  }
  for (lambda in list("a", TRUE, list(.5), factor(.5), 1i)) {
    expect_confide_error(
      mech_lambda(domain, lambda = lambda), "parameter", "`lambda` must be one number"
    )
  }
  expect_identical(mech_lambda(domain, lambda = 1)$epsilon, c(a = Inf, b = Inf))
})

test_that("the joint epsilon is never below the sum of its parts", {
  skip_if_not_installed("gmp")
  withr::local_seed(4)
  for (i in 1:50) {
    epsilon <- stats::runif(sample(2:9, 1), 0, 5)
    m <- mech_lambda(
      stats::setNames(as.list(rep(3, length(epsilon))), paste0("a", seq_along(epsilon))),
      epsilon = epsilon
    )
    exact <- Reduce(`+`, lapply(epsilon, gmp::as.bigq))
    expect_true(gmp::as.bigq(epsilon(m)) >= exact)
    expect_equal(epsilon(m), sum(epsilon), tolerance = 1e-14)
    expect_lte(audit(m)$worst_log_ratio, epsilon(m))
  }
})

test_that("the number of cells of a hundred attributes is no obstacle", {
  m <- mech_lambda(stats::setNames(rep(list(5), 100), paste0("a", 1:100)), lambda = .1)
  expect_equal(m$n_outputs, 5^100)
  expect_close(epsilon(m), 44.183275228, 1e-8)
  expect_true(audit(m)$ok)
})

test_that("what declares no attributes is refused", {
  cases <- list(
    c("a", "b"), 3, NULL, list(), data.frame(), mean, list(2, 3), list(a = 2, 3), list(a = 2, a = 3)
  )
  for (levels in cases) {
    expect_confide_error(mech_lambda(levels, lambda = .5), "parameter")
  }
  expect_confide_error(mech_lambda(list(2, 3), lambda = .5), "parameter", "needs a name of its own")
})

test_that("numeric columns are no domain, and the error names cut()", {
  expect_confide_error(
    mech_lambda(data.frame(age = 1:3), lambda = .5), "parameter", c("`age`", "`cut()`")
  )
})

test_that("character columns are no domain, and the error names factor(levels = )", {
  frame <- data.frame(city = c("SECRET-MARKER", "b"), stringsAsFactors = FALSE)
  message <- expect_confide_error(
    mech_lambda(frame, lambda = .5), "parameter", c("`city`", "factor(levels = )")
  )
  expect_no_match(message, "SECRET-MARKER")
})

test_that("characters are legal values of a declared domain", {
  m <- mech_lambda(list(city = c("a", "b"), yes = c(FALSE, TRUE)), lambda = 1)
  reports <- privatize(
    data.frame(city = c("b", "a"), yes = c(TRUE, FALSE), stringsAsFactors = FALSE), m
  )
  expect_identical(as.character(reports$city), c("b", "a"))
  expect_identical(as.character(reports$yes), c("TRUE", "FALSE"))
})

test_that("a data frame declares the levels of its factors and nothing of its values", {
  frame <- data.frame(
    a = factor("x", c("x", "unused")), b = ordered("lo", c("lo", "mid", "hi")), c = TRUE
  )
  m <- mech_lambda(frame, lambda = .5)
  expect_identical(
    levels(m), list(a = c("x", "unused"), b = c("lo", "mid", "hi"), c = c("FALSE", "TRUE"))
  )
  expect_identical(mech_lambda(frame[0, ], lambda = .5), m)
  expect_identical(mech_lambda(frame[c(1, 1, 1), ], lambda = .5), m)
})

test_that("missing answers are a level of every attribute where the mechanism says so", {
  frame <- data.frame(a = factor(c("x", NA, "y")), b = factor(c("u", "v", "v")))
  expect_confide_error(privatize(frame, mech_lambda(frame, lambda = .5), rng = "r"), "domain")
  m <- mech_lambda(frame, lambda = 1, na = "level")
  expect_identical(levels(m), list(a = c("x", "y", "<NA>"), b = c("u", "v", "<NA>")))
  expect_identical(as.data.frame(as_plain(privatize(frame, m))), frame)
})

test_that("numbers for the planning of a full joint table are those of the formula", {
  # Relative variance of a cell of the uniform table: (prod(1 + (k - 1) / lambda^2) - 1) / n, and
  # 10 % needs 100 times the bracket. The published numbers leave out the -1, hence 100 more.
  need <- function(lambda, m) {
    line <- utils::tail(
      format(mech_lambda(stats::setNames(rep(list(5), m), letters[1:m]), lambda = lambda)), 1
    )
    as.numeric(gsub(",", "", sub(".*about (.*) reports.*", "\\1", line)))
  }
  expect_equal(need(.9, 1), 594 - 100, tolerance = .02)
  expect_equal(need(.9, 5), 738415, tolerance = .05)
  expect_equal(need(.5, 3), 491300, tolerance = .05)
})

test_that("RAPPOR's two bits have epsilon 2 log 3", {
  expect_equal(epsilon(mech_lambda(list(a = 2, b = 2), lambda = .5)), 2.197225, tolerance = 1e-6)
})

test_that("numbers of cells are printed exactly while they can be read", {
  five_levels <- function(m) as.list(stats::setNames(rep(5, m), paste0("a", seq_len(m))))
  expect_match(format(mech_lambda(five_levels(10), lambda = .5)), "9,765,625 cells", all = FALSE)
  many <- format(mech_lambda(five_levels(30), lambda = .5))
  expect_match(many, "9.313e+20 cells", fixed = TRUE, all = FALSE)
})
