# Planning: any two of n, error and epsilon give the third.

relative_plan <- function(..., error = .1) {
  plan_frequencies(5, error = error, scale = "relative", ...)
}

# Ruiz (2026): the rule without the 1 that a share's own square takes from its second moment.
second_moment_n <- function(lambda, size, way, error) {
  (1 + (size - 1) / lambda^2)^way / error^2
}

test_that("the reports needed are the published ones less 1 / error^2, the square of the share", {
  way <- c(1, 2, 3, 5)
  published <- list(
    list(.9, c(594, 3526, 20940, 738415)), list(.5, c(1700, 28900, 491300, 141985700))
  )
  for (case in published) {
    found <- vapply(way, function(k) relative_plan(lambda = case[[1]], way = k)$n, numeric(1))
    expect_true(all(abs(found + 100 - case[[2]]) <= 1)) # the published ones are rounded
    expect_identical(found, ceiling(second_moment_n(case[[1]], 5, way, .1) - 100 - 1e-6))
  }
})

test_that("the planned error is the exact standard error of a cell of a uniform table", {
  sizes <- c(2, 3, 4)
  lambda <- c(.8, .6, .5)
  inverse <- solve(naive_joint(lambda, sizes))
  n <- 500
  exact <- sqrt((sum(inverse[1, ]^2) / 24 - 1 / 24^2) / n)
  plan <- plan_frequencies(sizes, n = n, lambda = lambda)
  expect_close(plan$error, exact, 1e-13)
  expect_close(plan$relative_error, exact * 24, 1e-12)
})

test_that("each of the three gives the others back", {
  sizes <- c(age = 6, income = 3)
  plan <- plan_frequencies(sizes, n = 5000, error = .02)
  expect_identical(plan$solved, "epsilon")
  expect_lte(plan$error, .02)
  again <- plan_frequencies(sizes, n = 5000, epsilon = plan$epsilon)
  expect_close(again$error, .02, 1e-12)
  expect_identical(plan_frequencies(sizes, epsilon = plan$epsilon, error = .02)$n, 5000)
  expect_gt(plan_frequencies(sizes, n = 5000, epsilon = plan$epsilon * .999)$error, .02)
})

test_that("the epsilon of one attribute has its closed form", {
  plan <- plan_frequencies(4, n = 2000, error = .03)
  lambda <- sqrt(3 / 16 / 2000) / .03 # Var = (1/k)(1 - 1/k) / (n lambda^2)
  expect_close(plan$lambda, lambda, 1e-12)
  expect_close(plan$epsilon, log1p(4 * lambda / (1 - lambda)), 1e-12)
})

test_that("the plan says what its estimate will find", {
  m <- mech_lambda(list(a = 3, b = 2), lambda = c(.7, .5))
  plan <- plan_frequencies(list(a = 3, b = 2), n = 6000, lambda = c(.7, .5))
  uniform <- estimate(as.table(array(1000, c(3, 2), unname(levels(m)))), m)
  # estimate() divides by n - 1
  expect_close(uniform$std_error * sqrt(5999 / 6000), rep(plan$error, 6), 1e-12)
})

test_that("of more attributes than the table has, the hardest are planned for", {
  plan <- plan_frequencies(c(a = 2, b = 9, c = 5), n = 1000, epsilon = 1, way = 2)
  expect_identical(plan$table, c("b", "c"))
  errors <- vapply(list(c(2, 9), c(2, 5), c(9, 5)), function(sizes) {
    plan_frequencies(sizes, n = 1000, epsilon = 1)$relative_error
  }, numeric(1))
  expect_close(plan$relative_error, max(errors), 1e-12)
  expect_close(plan$joint_epsilon, 3, 0)
})

test_that("sizes, labels and domains are the same plan", {
  by_size <- plan_frequencies(2, n = 100, epsilon = 1)
  expect_identical(plan_frequencies(c("no", "yes"), n = 100, epsilon = 1)$error, by_size$error)
  domain <- factor("a", c("a", "b"))
  expect_identical(plan_frequencies(domain, n = 100, epsilon = 1)$error, by_size$error)
  expect_identical(plan_frequencies(list(x = 2), n = 100, epsilon = 1)$error, by_size$error)
  expect_identical(plan_frequencies(2, n = 100, epsilon = 1, mechanism = "rr")$error, by_size$error)
})

test_that("without randomization the plan is that of a simple random sample", {
  plan <- plan_frequencies(2, lambda = 1, error = .01)
  expect_identical(plan$n, 2500)
  expect_identical(plan$n_without_privacy, 2500)
  expect_identical(plan_frequencies(2, lambda = .5, error = .01)$n_without_privacy, 2500)
})

test_that("exactly one of n, error and epsilon is left out", {
  expect_confide_error(plan_frequencies(5), "parameter", "Exactly one")
  expect_confide_error(plan_frequencies(5, n = 10), "parameter", "Exactly one")
  expect_confide_error(
    plan_frequencies(5, n = 10, error = .1, epsilon = 1), "parameter", "Exactly one"
  )
  expect_confide_error(
    plan_frequencies(5, error = .1, epsilon = 1, lambda = .5), "parameter", "`epsilon` and `lambda`"
  )
})

test_that("what cannot be planned is refused with advice", {
  expect_confide_error(
    plan_frequencies(5, n = 10, error = 1e-3), "parameter", "needs 160,000 reports"
  )
  expect_confide_error(relative_plan(way = 30, lambda = .1), "parameter", "2^53")
  expect_confide_error(
    plan_frequencies(c(2, 3), n = 9, epsilon = 1, mechanism = "rr"), "parameter", "one attribute"
  )
  expect_confide_error(plan_frequencies(c(2, 3), n = 9, epsilon = 1, way = 3), "parameter", "`way`")
  for (levels in list(1, c(2, 2.5), NA_real_, "a", list(2, 3), NULL)) {
    expect_confide_error(plan_frequencies(levels, n = 9, epsilon = 1), "parameter")
  }
  for (error in list(0, -1, Inf, NA_real_, c(.1, .2), "a")) {
    expect_confide_error(plan_frequencies(5, n = 9, error = error), "parameter", "`error`")
  }
  expect_confide_error(plan_frequencies(5, n = 0, epsilon = 1), "parameter", "`n`")
  expect_confide_error(plan_frequencies(5, n = 9, eps = 1), "parameter", "eps")
})

test_that("a plan prints small and draws its curves through the planned point", {
  plans <- list(
    plan_frequencies(5, n = 100, epsilon = 1),
    plan_frequencies(rep(5, 12), n = 1e6, epsilon = 1),
    plan_frequencies(c(age = 6, income = 2), n = 5000, error = .02)
  )
  for (plan in plans) {
    expect_s3_class(plan, "confide_plan")
    expect_prints_small(plan)
    plot <- ggplot2::autoplot(plan)
    curve <- plot$data[plot$data$curve == "with privacy", ]
    scaled <- curve$error / plan$error * sqrt(curve$n / plan$n)
    expect_close(scaled, rep(1, nrow(curve)), 1e-12)
    expect_silent(ggplot2::ggplot_build(plot))
  }
})

test_that("feasible tables are between their easiest and their hardest choice of attributes", {
  sizes <- c(a = 5, b = 5, c = 2, d = 3)
  lambda <- c(a = .9, b = .6, c = .5, d = .8)
  m <- mech_lambda(as.list(sizes), lambda = lambda)
  found <- feasible_tables(m, n = 10000, error = .1)
  for (way in 1:4) {
    errors <- utils::combn(4, way, function(chosen) {
      sqrt((prod(1 + (sizes[chosen] - 1) / lambda[chosen]^2) - 1) / 10000)
    })
    expect_close(found$easiest[[way]], min(errors), 1e-12)
    expect_close(found$hardest[[way]], max(errors), 1e-12)
    expect_identical(
      as.character(found$feasible[[way]]),
      if (all(errors <= .1)) "all" else if (any(errors <= .1)) "some" else "none"
    )
  }
  expect_identical(found$needed, ceiling(found$hardest^2 * 10000 / .01 - 1e-6))
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(found)))
})

test_that("feasible tables need a mechanism that lets something be estimated", {
  expect_confide_error(feasible_tables(mech_rr(3, 0), 100), "parameter", "no information")
  expect_confide_error(feasible_tables(mech_matrix(as.matrix(mech_rr(3, 1))), 100), "parameter")
  expect_confide_error(feasible_tables(mech_rr(3, 1)), "parameter", "`n`")
  expect_identical(nrow(feasible_tables(mech_rr(3, 1), 100)), 1L)
})
