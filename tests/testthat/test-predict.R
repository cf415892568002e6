# What one report tells about one person.

test_that("the posterior is Bayes' rule on the channel", {
  m <- mech_rr(c("a", "b", "c"), 1)
  prior <- c(a = .5, b = .3, c = .2)
  joint <- prior * as.matrix(m)
  expected <- t(joint) / colSums(joint)
  got <- predict(m, c("b", "a", "c", "b"), prior = prior)
  expect_close(got, unname(expected)[c(2, 1, 3, 2), ], 1e-15)
  expect_identical(colnames(got), c("a", "b", "c"))
  expect_close(rowSums(got), rep(1, 4), 1e-15)
})

test_that("a uniform prior is the default and priors are matched by name", {
  m <- mech_rr(c("a", "b"), 1)
  expect_equal(predict(m, "a"), predict(m, "a", prior = c(.5, .5)), tolerance = 1e-15)
  expect_identical(predict(m, "a", prior = c(b = .9, a = .1)), predict(m, "a", prior = c(.1, .9)))
})

test_that("no report changes the odds by more than exp(epsilon)", {
  for (epsilon in c(.1, 1, 4)) {
    m <- mech_rr(3, epsilon)
    prior <- c(.7, .2, .1)
    posterior <- predict(m, 1:3, prior = prior)
    for (i in 1:3) {
      for (j in 1:3) {
        change <- posterior[, i] / posterior[, j] / (prior[[i]] / prior[[j]])
        expect_lte(max(abs(log(change))), epsilon + 1e-13)
      }
    }
  }
})

test_that("without information the posterior is the prior", {
  expect_close(
    predict(mech_rr(2, 0), c("1", "2"), prior = c(.3, .7)), rbind(c(.3, .7), c(.3, .7)), 1e-15
  )
})

test_that("attributes have a posterior each, and their product where the prior is a product", {
  m <- mech_lambda(list(a = 2, b = 3), lambda = c(.5, .3))
  reports <- data.frame(b = c(3L, 1L), a = c(1L, 2L))
  got <- predict(m, reports, prior = list(b = c(.2, .3, .5)))
  expect_identical(colnames(got), c("a=1", "a=2", "b=1", "b=2", "b=3"))
  expect_close(rowSums(got), c(2, 2), 1e-14)
  product <- as.table(outer(c(.5, .5), c(.2, .3, .5)))
  dimnames(product) <- levels(m)
  joint <- predict(m, reports, prior = product)
  expect_identical(colnames(joint), cell_names(levels(m)))
  for (i in 1:2) {
    expect_close(joint[i, ], as.vector(outer(got[i, 1:2], got[i, 3:5])), 1e-15)
  }
})

test_that("a joint prior is Bayes' rule on the joint channel, in any order of dimensions", {
  withr::local_seed(1)
  m <- toy_mechanism()
  prior <- array(stats::rexp(12), c(2, 3, 2), levels(m))
  prior <- as.table(prior / sum(prior))
  reports <- table_records(toy_table())[c(1, 50, 120, 200), ]
  joint <- as.vector(prior) * as.matrix(m)
  cells <- match(
    do.call(paste, c(lapply(reports, as.character), sep = ", ")), rownames(as.matrix(m))
  )
  got <- predict(m, reports, prior = prior)
  expect_close(got, unname(t(joint[, cells]) / colSums(joint)[cells]), 1e-14)
  expect_close(predict(m, reports, prior = aperm(prior, c(3, 1, 2))), unname(got), 1e-16)
  expect_close(predict(m, reports, prior = prior[2:1, 3:1, ]), unname(got), 1e-16)
})

test_that("a general channel is inverted the same way", {
  P <- rbind(a = c(x = .7, y = .2, z = .1), b = c(x = .1, y = .3, z = .6))
  got <- predict(mech_matrix(P), c("z", "x"))
  expect_close(got, rbind(c(.1, .6) / .7, c(.7, .1) / .8), 1e-14)
  expect_identical(colnames(got), c("a", "b"))
})

test_that("a report that the prior makes impossible is refused", {
  m <- mech_matrix(diag(2))
  expect_confide_error(
    predict(m, c("1", "2"), prior = c(1, 0)), "domain", "must allow every report"
  )
})

test_that("priors that are none are refused", {
  m <- mech_lambda(list(a = 2, b = 3), lambda = .5)
  reports <- data.frame(a = 1L, b = 1L)
  cases <- list(1, c(.5, .5), list(z = c(.5, .5)), list(c(.5, .5)), "a", data.frame(a = c(.5, .5)))
  for (prior in cases) {
    expect_confide_error(predict(m, reports, prior = prior), "parameter", "`prior`")
  }
  expect_confide_error(predict(m, reports, prior = list(a = c(.5, .6))), "parameter", "prior$a")
  expect_confide_error(predict(m, reports, prior = as.table(matrix(1 / 4, 2, 2))), "domain")
  big <- mech_lambda(list(a = 100, b = 100), lambda = .5)
  table <- as.table(array(1e-4, c(100, 100), levels(big)))
  expect_confide_error(
    predict(big, data.frame(a = 1L, b = 1L), prior = table), "parameter", "at most 4096 cells"
  )
})

test_that("reports that the mechanism cannot make are refused", {
  expect_confide_error(predict(mech_rr(2, 1), c("1", "3")), "domain")
  expect_confide_error(predict(mech_lambda(list(a = 2), lambda = .5), data.frame(a = 3L)), "domain")
})

test_that("many reports cost one look-up each", {
  m <- mech_rr(50, 1)
  expect_identical(dim(predict(m, rep(1:50, 1000))), c(50000L, 50L))
})

test_that("a prior is matched to the levels by its names, and other names are refused", {
  m <- mech_rr(c("no", "yes"), 1)
  expected <- predict(m, "yes", prior = c(.9, .1))
  expect_identical(predict(m, "yes", prior = c(yes = .1, no = .9)), expected)
  shares <- prop.table(table(rep(c("yes", "no"), c(1, 9))))
  expect_equal(predict(m, "yes", prior = shares), expected, tolerance = 1e-14)
  expect_confide_error(
    predict(m, "yes", prior = c(Yes = .1, No = .9)), "parameter", "names of `prior` must be"
  )
  expect_confide_error(predict(m, "yes", prior = c(no = .9, no = .1)), "parameter", "names of")
  two <- mech_lambda(list(a = 2, b = c("x", "y")), lambda = .5)
  expect_confide_error(
    predict(two, data.frame(a = 1, b = "x"), prior = list(b = c(X = .5, Y = .5))),
    "parameter", "prior$b"
  )
  block <- mech_block(c("a", "b", "c"), 1)
  expect_confide_error(predict(block, 1L, prior = c(A = .5, B = .3, C = .2)), "parameter")
  expect_confide_error(block_risk(block, 10, p = c(A = .5, B = .3, C = .2)), "parameter")
  expect_identical(
    block_risk(block, 10, p = c(c = .2, b = .3, a = .5)), block_risk(block, 10, p = c(.5, .3, .2))
  )
})
