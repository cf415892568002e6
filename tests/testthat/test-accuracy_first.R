# Two cells of one attribute against one bit; the model says which cells mean TRUE.
toy <- function(n) {
  data.frame(x = rep(c(FALSE, TRUE), length.out = n), y = rep(
    c(FALSE, TRUE, FALSE, TRUE, TRUE, FALSE, FALSE, TRUE, FALSE, TRUE),
    length.out = n
  ))
}

cells <- function(d) c(sum(!d$x & d$y), sum(d$x & d$y), sum(!d$x & !d$y), sum(d$x & !d$y))

refine_cells <- function(rng = "os", alpha = 20) {
  function(previous, train, epsilon) {
    if (is.null(previous)) {
      previous <- brownian(cells(train), sensitivity = 1, alpha = alpha, whole = TRUE, rng = rng)
    }
    refine(previous, epsilon = epsilon)
  }
}

fit_cells <- function(released) released$estimate[1:2] > released$estimate[3:4]

score_cells <- function(model, validation) model[1 + validation$x] == validation$y

run <- function(..., train = toy(2000), validation = toy(10000), refine = refine_cells(),
                fit = fit_cells, score = score_cells, threshold = 0.7,
                grid = c(0.01, 0.05, 0.2), alpha = 20, neighbours = "add_remove") {
  accuracy_first(train, validation, refine, fit, score,
    threshold = threshold, grid = grid, alpha = alpha, neighbours = neighbours, ...
  )
}

test_that("it stops at the first level that is good enough and says what it spent", {
  for (check in c("svt", "gaussian")) {
    r <- run(check = check, threshold = 0.6)
    expect_identical(r$status, "reached")
    last <- r$grid[[r$attempts]]
    expect_equal(r$parts[["train"]], last, tolerance = 1e-9)
    expect_equal(r$parts[["validation"]], if (check == "svt") 0.01 else last, tolerance = 1e-9)
    expect_equal(r$epsilon, last, tolerance = 1e-9)
    expect_lte(r$epsilon, last * (1 + 1e-9))
    expect_identical(nrow(r$path), r$attempts)
    expect_identical(r$path$reached, c(rep(FALSE, r$attempts - 1), TRUE))
    expect_s3_class(r, "confide_release")
    expect_prints_small(r)
    expect_identical(epsilon(r, delta = 1e-6), as_approx_dp(r, delta = 1e-6))
  }
})

test_that("a failure has spent everything", {
  r <- run(threshold = 0.99, check_epsilon = 0.1)
  expect_identical(r$status, "exhausted")
  expect_identical(r$attempts, 3L)
  expect_equal(r$epsilon, 0.2, tolerance = 1e-9)
  expect_match(format(r), "NOT ACCURATE ENOUGH", all = FALSE, fixed = TRUE)
  expect_prints_small(r)
})

test_that("matched checks have the standard deviations of the derivation", {
  grid <- 10^(-2 + 0:6 / 3)
  plan <- confide:::plan_checks(
    list(a = 33, b = 40, share = 0.825), grid, 20, "add_remove", "gaussian", NULL, 0
  )
  expect_identical(plan$moved, 33)
  # in records: the derivation divides S by b
  sds <- vapply(plan$noise, `[[`, 0, "noise_sd") / 40
  expect_equal(
    sds[c(1:4, 7)],
    c(26.0887906964, 24.2811506930, 16.5425553947, 11.2703117924, 3.5639855204),
    tolerance = 1e-9
  )
  replace <- confide:::plan_checks(
    list(a = 33, b = 40, share = 0.825), grid, 20, "replace", "gaussian", 0.1, 0
  )
  expect_identical(replace$moved, 40)
  expect_equal(replace$worst_check, 0.7, tolerance = 1e-9)
})

test_that("overlapping parts cost the sum", {
  r <- run(overlap = TRUE)
  expect_equal(r$epsilon, sum(r$parts), tolerance = 1e-12)
  same <- toy(100)
  expect_confide_error(run(train = same, validation = same), "domain", "same data")
  expect_s3_class(run(train = same, validation = same, overlap = TRUE), "confide_accuracy_first")
  # enough for the larger part, 0.2, and not for the sum, 0.21
  account <- function() ledger(20, neighbours = "add_remove", limit = 0.205)
  expect_s3_class(run(ledger = account()), "confide_accuracy_first")
  l <- account()
  expect_confide_error(run(ledger = l, overlap = TRUE), "budget", "limit")
  expect_identical(spent(l), 0)
})

test_that("fresh noise at each level is refused before it is drawn", {
  afresh <- function(previous, train, epsilon) {
    refine(brownian(cells(train), sensitivity = 1, alpha = 20, whole = TRUE), epsilon = epsilon)
  }
  expect_confide_error(
    run(refine = afresh, threshold = 0.99, check_epsilon = 0.1), "budget", "no more than its level"
  )
  greedy <- function(previous, train, epsilon) {
    private_count(train$y, rho = epsilon, neighbours = "add_remove")
  }
  expect_confide_error(run(refine = greedy), "budget", "no more than its level")
  wrong <- function(previous, train, epsilon) {
    private_count(train$y, rho = epsilon / 20, neighbours = "replace")
  }
  expect_confide_error(run(refine = wrong), "parameter", "neighbours")
})

test_that("reports and runs inside a closure are counted like any other noise", {
  reports <- function(epsilon) {
    function(...) privatize(toy(10)$y, mech_rr(c(FALSE, TRUE), epsilon = epsilon))
  }
  once <- function(refine, ...) {
    run(
      refine = refine, fit = identity, score = function(model, validation) !validation$x,
      threshold = 0.99, grid = 0.05, neighbours = "replace", ...
    )
  }
  free <- privatize(toy(10)$y, mech_rr(c(FALSE, TRUE), epsilon = 0.05))
  r <- once(reports(0.05), check_epsilon = 0.01)
  expect_equal(r$parts[["train"]], cost_pure(20, privacy(free)$epsilon_realised))
  expect_confide_error(once(reports(1)), "budget", "no more than its level")
  expect_confide_error(
    run(refine = reports(0.01)), "parameter", "must agree on the neighbours"
  )
  expect_confide_error(run(fit = reports(0.01)), "budget", "may not draw noise")

  inner <- function(...) run(grid = 0.02, check_epsilon = 0.01, threshold = 0.99)
  r <- run(refine = inner, fit = identity, score = function(model, validation) !validation$x,
    threshold = 0.99, grid = 0.05
  )
  expect_equal(r$parts[["train"]], 0.03, tolerance = 1e-9)
  expect_confide_error(run(fit = function(released) inner()), "budget", "may not draw noise")
})

test_that("closures get released values only and may not release", {
  seen <- NULL
  spying <- function(released) {
    seen <<- released
    fit_cells(released)
  }
  run(fit = spying)
  expect_null(seen$handle)
  expect_false(any(vapply(seen, typeof, "") == "externalptr"))
  noisy <- function(released) private_count(TRUE, rho = 1, neighbours = "replace")
  expect_confide_error(run(fit = noisy), "budget", "may not draw noise")
  expect_confide_error(run(refine = function(p, t, e) 5), "parameter", "must return a release")
  for (score in list(
    function(model, validation) NA, function(model, validation) 1,
    function(model, validation) TRUE
  )) {
    expect_confide_error(run(score = score), "domain", "TRUE or FALSE")
  }
})

test_that("a missing answer is wrong, not an error that tells of one person", {
  # the validation people differ in one missing value only
  score <- function(model, validation) validation$y == validation$x
  from <- function(validation) {
    run(validation = validation, score = score, check = "gaussian")[c("status", "path", "epsilon")]
  }
  missing <- toy(20)
  missing$y[[3]] <- NA
  pair <- list(toy(20)[-3, ], missing)
  expect_true(replay_audit(from, list(pair, rev(pair)))$ok)
})

test_that("a ledger pays for the worst case and gets back what was not needed", {
  l <- ledger(20, neighbours = "add_remove", limit = 0.3)
  r <- run(threshold = 0.6, ledger = l)
  expect_gte(spent(l), r$epsilon)
  expect_equal(spent(l), r$epsilon, tolerance = 1e-9)
  expect_confide_error(charge(l, r), "parameter", "was charged")
  tight <- ledger(20, neighbours = "add_remove", limit = 0.1)
  expect_confide_error(run(ledger = tight), "budget", "limit")
  expect_identical(spent(tight), 0)
  free <- run(threshold = 0.6)
  after <- ledger(10, neighbours = "add_remove")
  charge(after, free)
  expect_equal(spent(after), free$epsilon, tolerance = 1e-12)
  higher <- ledger(40, neighbours = "add_remove")
  expect_confide_error(charge(higher, free), "parameter", "alpha")
})

test_that("what cannot be served is refused before the ledger is charged", {
  l <- ledger(20, neighbours = "add_remove")
  expect_confide_error(run(ledger = l, check_epsilon = 1e-33), "parameter", "No noise can serve")
  expect_confide_error(run(ledger = l, margin = 1e300), "parameter", "margin")
  expect_identical(spent(l), 0)
})

test_that("the worst case covers every level that is let through", {
  # a release that goes above its level by one part in 2^41, below what the run tolerates
  above <- function(previous, train, epsilon) {
    brownian_at <- brownian(cells(train), sensitivity = 1, alpha = 20, whole = TRUE)
    refine(brownian_at, epsilon = epsilon * (1 + 2^-41))
  }
  l <- ledger(20, neighbours = "add_remove")
  r <- run(
    ledger = l, refine = above, grid = 0.2, check_epsilon = 0.01, check = "gaussian",
    threshold = 0.99
  )
  expect_gt(r$epsilon, 0.2)
  expect_gte(spent(l), r$epsilon)
})

test_that("a run with R's generator is repeatable and cannot be charged", {
  go <- function() {
    set.seed(20272)
    r <- run(refine = refine_cells("r"), rng = "r", check = "gaussian")
    r$path
  }
  expect_identical(go(), go())
  set.seed(1)
  r <- run(refine = refine_cells("r"), rng = "r")
  expect_confide_error(charge(ledger(20, neighbours = "add_remove"), r), "simulation")
  expect_error(run(refine = refine_cells("r")), class = "confide_error_parameter")
})

test_that("a margin asks for more", {
  set.seed(20273)
  reached <- function(margin, check) {
    mean(replicate(20, run(
      refine = refine_cells("r"), rng = "r", threshold = 0.8, margin = margin, check = check,
      grid = 0.05
    )$status == "reached"))
  }
  # the model is right for 8 in 10: a coin without margin, 4 standard deviations with it
  for (check in c("svt", "gaussian")) {
    expect_gt(reached(0, check), 0.1)
    expect_identical(reached(6, check), 0)
  }
})

test_that("nothing but noisy answers leaves a run, from either part", {
  pairs <- neighbour_pairs(matrix(TRUE, 0, 2, dimnames = list(NULL, c("x", "y"))),
    neighbours = "add_remove", number = 20
  )
  from <- function(part) {
    function(data) {
      data <- data.frame(x = data[, 1], y = data[, 2])
      parts <- list(train = toy(20), validation = toy(20))
      parts[[part]] <- data
      r <- run(train = parts$train, validation = parts$validation, check = "gaussian")
      r[c("status", "path", "epsilon", "model")]
    }
  }
  expect_true(replay_audit(from("train"), pairs)$ok)
  expect_true(replay_audit(from("validation"), pairs)$ok)
})

test_that("arguments out of range are refused", {
  for (threshold in list(0, 1, NA, "a", 0.12345, c(0.1, 0.2))) {
    expect_confide_error(run(threshold = threshold), "parameter", "threshold")
  }
  for (grid in list(c(0.2, 0.1), 0, NA, numeric(), "a")) {
    expect_confide_error(run(grid = grid), "parameter", "grid")
  }
  expect_confide_error(run(refine = 1), "parameter", "refine")
  expect_confide_error(run(margin = -1), "parameter", "margin")
  expect_confide_error(run(check_epsilon = 0), "parameter", "check_epsilon")
  expect_confide_error(run(tresh = 1), "parameter", "tresh")
})

test_that("with coins a further person moves nobody else, with fixed rows the sizes are fixed", {
  set.seed(20274)
  coins <- split_people(1:1000, 0.2, "add_remove", rng = "r")
  set.seed(20274)
  more <- split_people(1:1001, 0.2, "add_remove", rng = "r")
  expect_true(all(coins$train %in% more$train))
  expect_true(all(coins$validation %in% more$validation))
  expect_setequal(unlist(coins), 1:1000)
  # five standard errors of the share
  expect_lt(abs(length(coins$validation) / 1000 - 0.2), 5 * sqrt(0.16 / 1000))
  fixed <- split_people(data.frame(a = 1:50, b = 51:100), 0.3, "replace")
  expect_identical(nrow(fixed$validation), 15L)
  expect_setequal(c(fixed$train$a, fixed$validation$a), 1:50)
  expect_confide_error(split_people(1:5, 1.2, "replace"), "parameter", "validation")
  for (data in list(NULL, mech_rr(2, 1), sum, as.POSIXlt("2020-01-01", tz = "UTC"))) {
    expect_confide_error(split_people(data, 0.2, "replace", rng = "r"), "domain", "a vector")
  }
})

test_that("the plot shows certificates of both parts and what the check released", {
  r <- run(check = "gaussian")
  plot <- ggplot2::autoplot(r)
  is_point <- vapply(plot$layers, function(layer) inherits(layer$geom, "GeomPoint"), NA)
  points <- ggplot2::ggplot_build(plot)$data[[which(is_point)]]
  expect_setequal(
    round(points$y, 9), round(c(r$path$train, r$path$validation, r$path$excess), 9)
  )
  expect_match(plot$labels$caption, "ex-post", fixed = TRUE)
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(run())), "ggplot_built")
})

test_that("what a stopped run cannot give is refused", {
  r <- run(threshold = 0.6)
  for (verb in list(vcov, confint)) {
    expect_confide_error(verb(r), "parameter", "no standard errors")
  }
  expect_confide_error(audit(r), "parameter", "no single law")
  expect_identical(generics::tidy(r), r$path)
  expect_identical(generics::glance(r)$epsilon, r$epsilon)
  expect_prints_small(summary(r))
})

test_that("what a function says that sees private data is not passed on", {
  for (name in c("refine", "fit", "score")) {
    broken <- stats::setNames(list(function(...) stop("Zebrafink")), name)
    error <- tryCatch(do.call(run, broken), error = identity)
    expect_s3_class(error, "confide_error_domain")
    expect_match(conditionMessage(error), name, fixed = TRUE)
    expect_holds_no("Zebrafink", conditionMessage(error))
  }
})

test_that("noise of another process or from before the run is not taken", {
  early <- private_count(rep(TRUE, 10), rho = 0.01, neighbours = "add_remove")
  expect_confide_error(
    run(refine = function(previous, train, epsilon) early), "budget", "within the run"
  )
  path <- refine(brownian(c(1, 2), 1, 20, whole = TRUE), epsilon = 0.001)
  expect_confide_error(
    run(refine = function(previous, train, epsilon) refine(path, epsilon = 0.01)), "budget",
    "within the run"
  )
  simulated <- private_count(TRUE, rho = 1e-5, neighbours = "add_remove", rng = "r")
  expect_confide_error(
    run(refine = function(previous, train, epsilon) simulated), "parameter", "one source"
  )
  skip_on_os("windows")
  answers <- with_meter(function(statement) NULL, parallel::mclapply(1:2, function(i) {
    tryCatch(private_count(TRUE, rho = 1, neighbours = "replace"), error = class)
  }, mc.cores = 2))
  for (answer in answers) expect_identical(answer[[1]], "confide_error_budget")
})

test_that("a threshold from before the run is not asked within it", {
  gate <- above_threshold(10, 1, epsilon = 1, monotone = TRUE, neighbours = "add_remove")
  leaking <- function(model, validation) {
    ask(gate, 5)
    score_cells(model, validation)
  }
  expect_confide_error(run(score = leaking), "budget", "only what was started there")
  expect_false(ask(gate, -1000)$answers)
  # one that was made in the run is
  inside <- function(previous, train, epsilon) {
    if (is.null(previous)) {
      previous <- above_threshold(0, 1, epsilon = 0.001, monotone = TRUE, neighbours = "add_remove")
    }
    ask(previous, -1e6)
  }
  r <- run(refine = inside, fit = function(released) c(TRUE, FALSE), threshold = 0.99)
  expect_identical(r$released$answers, rep(FALSE, 3))
})

test_that("parts that were split with a seed make no private run", {
  parts <- split_people(toy(200), 0.5, "add_remove", rng = "r")
  expect_confide_error(
    run(train = parts$train, validation = parts$validation), "parameter", "for simulations"
  )
  r <- run(
    train = parts$train, validation = parts$validation, refine = refine_cells("r"), rng = "r"
  )
  expect_identical(privacy(r)$rng, "r")
})

test_that("a model that holds an environment is named", {
  hiding <- function(released) {
    secret <- released
    list(cells = fit_cells(released), call = function() secret)
  }
  r <- run(fit = hiding, score = function(model, validation) score_cells(model$cells, validation))
  expect_true(r$keeps_environment)
  expect_match(format(r), "may hold the data", all = FALSE)
  plain <- list(1, "a", mean, stats::setNames(1:2, c("a", "b")), data.frame(a = 1), quote(f(x)))
  expect_false(holds_environment(plain))
  expect_true(holds_environment(list(list(y ~ x))))
  expect_true(holds_environment(stats::lm(dist ~ speed, datasets::cars)))
  r$privacy$epsilon <- 0
  expect_confide_error(privacy(r), "internal", "altered by hand")
})

test_that("a plot of one attempt has points and no line", {
  has_line <- function(x) {
    any(vapply(ggplot2::autoplot(x)$layers, function(l) inherits(l$geom, "GeomLine"), NA))
  }
  expect_true(has_line(run(threshold = 0.99, check = "gaussian")))
  expect_false(has_line(run(grid = 0.2, threshold = 0.6, check = "gaussian")))
})
