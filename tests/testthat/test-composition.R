# Privacy of whole records: profile, epsilon at delta, Renyi, other measures, and the permutations.

equal_attributes <- function(m, size, lambda) {
  mech_lambda(as.list(stats::setNames(rep(size, m), paste0("a", seq_len(m)))), lambda = lambda)
}

# delta by its definition, over all pairs of rows of a channel.
enumerated_delta <- function(channel, epsilon) {
  pairs <- expand.grid(one = seq_len(nrow(channel)), other = seq_len(nrow(channel)))
  max(vapply(seq_len(nrow(pairs)), function(i) {
    sum(pmax(channel[pairs$one[[i]], ] - exp(epsilon) * channel[pairs$other[[i]], ], 0))
  }, numeric(1)))
}

test_that("the profile of a record is that of the joint channel over all pairs of records", {
  m <- mech_lambda(list(a = 2, b = 3, c = 4), lambda = c(.5, .3, .2))
  channel <- naive_joint(c(.5, .3, .2), c(2, 3, 4))
  at <- c(0, .2, .5, 1, 1.7, 2.4)
  truth <- vapply(at, enumerated_delta, numeric(1), channel = channel)
  expect_close(privacy_profile(m, at), truth, 1e-13)
  expect_identical(privacy_profile(m, epsilon(m)), 0)
})

test_that("published values of one attribute are reached", {
  published <- list(
    list(.9, 5, c(3.445777256840, 3.746686811934, 3.819376773274, .865634363431)),
    list(.3, 5, c(.343539691291, .613780651153, 1.053915788076, .059440544016)),
    list(.5, 2, c(.549306144334, .847297860387, 1.066647614047, .070429542885))
  )
  for (case in published) {
    m <- equal_attributes(1, case[[2]], case[[1]])
    found <- c(privacy_measures(m)$kl[[1]], renyi_epsilon(m, c(2, 10)), privacy_profile(m, 1))
    expect_close(found, case[[3]], 1e-12)
  }
})

test_that("published values of many attributes at delta = 1e-6 are reached", {
  expect_close(epsilon(equal_attributes(100, 5, .1), delta = 1e-6), 17.662872566, 1e-9)
  expect_close(epsilon(equal_attributes(20, 5, .2), delta = 1e-6), 13.596193416, 1e-9)
  expect_close(epsilon(equal_attributes(10, 3, .3), delta = 1e-6), 8.266248540, 1e-9)
})

test_that("epsilon at delta is the smallest that the profile allows, and pure at delta 0", {
  for (m in list(toy_mechanism(), mech_rr(4, 1), mech_matrix(as.matrix(mech_rr(4, 1))))) {
    expect_identical(epsilon(m, delta = 0), epsilon(m))
    for (delta in c(1e-9, .001, .05)) {
      found <- epsilon(m, delta = delta)
      expect_lte(privacy_profile(m, found), delta)
      expect_gt(privacy_profile(m, found * (1 - 1e-9)), delta)
    }
  }
})

test_that("at a delta as large as the total variation epsilon is 0", {
  m <- toy_mechanism()
  tv <- utils::tail(privacy_measures(m)$tv, 1)
  expect_identical(epsilon(m, delta = tv * (1 + 1e-12)), 0)
  expect_gt(epsilon(m, delta = tv * .999), 0)
})

test_that("many different attributes are composed from above, and not far", {
  # in pairs that are alike up to 1e-9: seven groups are exact, fourteen need the grid
  epsilons <- rep(seq(.2, .8, by = .1), each = 2)
  name <- function(x) stats::setNames(x, letters[seq_along(x)])
  sizes <- as.list(name(rep(4, 14)))
  exact <- mech_lambda(sizes, epsilon = name(epsilons))
  grid <- mech_lambda(sizes, epsilon = name(epsilons + 1e-9 * seq_along(epsilons)))
  for (delta in c(1e-6, .01)) {
    above <- epsilon(grid, delta = delta) - epsilon(exact, delta = delta)
    expect_gte(above, 0)
    expect_lte(above, 2 * epsilon(exact) / 2^18) # one step of the grid
  }
})

test_that("a channel given as a matrix has the measures of the mechanism that it is", {
  m <- mech_rr(4, 1)
  same <- mech_matrix(as.matrix(m))
  expect_close(privacy_profile(same, c(0, .3, .9)), privacy_profile(m, c(0, .3, .9)), 1e-14)
  expect_close(renyi_epsilon(same, c(1.5, 2, 30)), renyi_epsilon(m, c(1.5, 2, 30)), 1e-13)
  expect_close(unlist(privacy_measures(same)[-1]), unlist(privacy_measures(m)[-1]), 1e-12)
})

test_that("a channel is judged by its worst pair of rows", {
  channel <- rbind(a = c(.1, .2, .3, .4), b = c(.4, .3, .2, .1), c = c(.25, .25, .3, .2))
  m <- mech_matrix(channel)
  for (at in c(0, .3, 1)) {
    expect_close(privacy_profile(m, at), enumerated_delta(channel, at), 1e-13)
  }
  expect_close(renyi_epsilon(m, 3), log(sum(channel[1, ]^3 / channel[2, ]^2)) / 2, 1e-12)
  expect_close(privacy_measures(m)$bayes_success[[1]], (.4 + .3 + .3 + .4) / 3, 1e-12)
})

test_that("Renyi divergences rise with the order up to epsilon and add up over attributes", {
  m <- toy_mechanism()
  alpha <- c(1.001, 1.5, 2, 10, 1e3, 1e9, Inf)
  found <- renyi_epsilon(m, alpha)
  expect_true(all(diff(found) >= 0))
  expect_identical(found[[7]], epsilon(m))
  # alpha near 1 is the Kullback-Leibler divergence, up to a term of order alpha - 1
  expect_close(found[[1]], utils::tail(privacy_measures(m)$kl, 1), .005)
  joint <- naive_joint(c(.8, .6, .5), c(2, 3, 2))
  expect_close(renyi_epsilon(m, 2), log(sum(joint[1, ]^2 / joint[12, ])), 1e-12)
})

test_that("measures have a row for each attribute and the joint row last", {
  m <- mech_lambda(list(a = 5, b = 5, c = 5), lambda = c(.9, .8, .7))
  found <- privacy_measures(m)
  expect_named(found, c("attribute", "epsilon", "tv", "kl", "chi2", "bayes_success"))
  expect_identical(found$attribute, c("a", "b", "c", "joint"))
  expect_close(found$tv[1:3], c(.9, .8, .7), 1e-12)
  expect_close(found$epsilon[[4]], 9.412137705271, 1e-11)
  expect_close(found$bayes_success[[4]], .587328, 1e-12)
  joint <- naive_joint(c(.9, .8, .7), c(5, 5, 5))
  chi2 <- sum(joint[1, ]^2 / joint[125, ]) - 1
  expect_close(found$chi2[[4]] / chi2, 1, 1e-10)
  expect_close(found$kl[[4]], sum(joint[1, ] * log(joint[1, ] / joint[125, ])), 1e-11)
})

test_that("an attribute without protection leaves no privacy at any delta", {
  m <- mech_lambda(list(a = 3, b = 2), lambda = c(a = 1, b = .5))
  expect_identical(epsilon(m, delta = .5), Inf)
  expect_identical(privacy_profile(m, c(0, 100)), c(1, 1))
  expect_identical(renyi_epsilon(m, 2), Inf)
  expect_close(privacy_measures(m)$tv, c(1, .5, 1), 1e-15)
})

test_that("a report possible under one value only keeps its probability in delta", {
  m <- mech_matrix(rbind(no = c(no = .75, yes = .25), yes = c(no = 0, yes = 1)))
  expect_close(privacy_profile(m, c(10, 800)), c(.75, .75), 1e-14)
  expect_identical(epsilon(m, delta = .7), Inf)
  expect_identical(epsilon(m, delta = .76), 0)
})

test_that("what is outside the range is refused", {
  m <- mech_rr(3, 1)
  for (delta in list(1, -.1, NA_real_, c(0, .1), "0", NULL)) {
    expect_confide_error(epsilon(m, delta = delta), "parameter", "`delta`")
  }
  for (at in list(-1, Inf, NaN, "1", numeric(), NULL)) {
    expect_confide_error(privacy_profile(m, at), "parameter", "`epsilon`")
  }
  for (alpha in list(1, .5, NA_real_, "2", NULL)) {
    expect_confide_error(renyi_epsilon(m, alpha), "parameter", "`alpha`")
  }
  expect_confide_error(privacy_profile(m), "parameter", "`epsilon`")
  expect_confide_error(privacy_profile(1, 1), "parameter", "`mechanism`")
  expect_confide_error(privacy_measures(1), "parameter", "`mechanism`")
})

test_that("weighted permutations put the channel together again", {
  mechanisms <- list(
    mech_rr(4, 1), toy_mechanism(), mech_lambda(list(a = 3, b = 2), lambda = c(1, .5))
  )
  for (m in mechanisms) {
    b <- birkhoff(m)
    expect_close(sum(b$weights), 1, 1e-14)
    expect_true(all(b$weights > 0))
    expect_true(all(apply(b$permutations, 1, function(p) setequal(p, seq_along(p)))))
    expect_identical(dimnames(as.matrix(b)), dimnames(as.matrix(m)))
    expect_close(as.matrix(b), as.matrix(m), 1e-15)
    expect_prints_small(b)
  }
})

test_that("the permutations are cyclic shifts with the weights of the paper", {
  b <- birkhoff(mech_lambda(list(a = 5), lambda = .9))
  expect_close(b$weights, c(.92, rep(.02, 4)), 1e-12)
  expect_identical(b$shifts, cbind(a = 0:4))
  expect_identical(b$permutations[2, ], c(2L, 3L, 4L, 5L, 1L))
  expect_identical(nrow(birkhoff(mech_lambda(list(a = 3, b = 2), lambda = c(1, .5)))$shifts), 2L)
})

test_that("permutations of other mechanisms and of too many cells are refused", {
  expect_confide_error(birkhoff(mech_matrix(as.matrix(mech_rr(3, 1)))), "parameter", "mech_lambda")
  expect_confide_error(birkhoff(mech_rr(1025, 1)), "parameter", "1,024 cells")
})

test_that("the effective number of levels is 2 to the power of the entropy", {
  found <- mechanism_entropy(mech_lambda(list(a = 5, b = 5), lambda = c(.9, .1)))
  expect_named(found, c("attribute", "bits", "share", "effective_levels"))
  expect_close(found$effective_levels[1:2], c(1.476497782972, 4.909073647225), 1e-11)
  expect_close(found$effective_levels[[3]], prod(found$effective_levels[1:2]), 1e-12)
})
