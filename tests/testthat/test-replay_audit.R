# The replay audit: what leaves a function other than through the noise.

sum_of <- function(neighbours, bound = 10) {
  function(x) private_sum(x, bound = bound, rho = 0.5, neighbours = neighbours)
}

test_that("nothing of 2,000 hostile neighbours leaves private_sum() but through the noise", {
  for (neighbours in neighbour_names) {
    number <- if (neighbours == "replace") 2000 else 200
    pairs <- neighbour_pairs(numeric(), neighbours, number = number)
    audited <- replay_audit(sum_of(neighbours), pairs)
    expect_true(audited$ok)
    expect_identical(audited$pairs, length(pairs))
    expect_gt(audited$refused, 0)
    expect_lt(audited$refused, number / 20)
    expect_identical(audited$spent[["rho"]], 0.5)
  }
  rows <- neighbour_pairs(
    matrix(0, 0, 3, dimnames = list(NULL, c("a", "b", "c"))), "replace", number = 200
  )
  pure <- function(x) private_sum(x, bound = 1e300, epsilon = 0.1, neighbours = "replace")
  wide <- function(x) private_sum(x, bound = 0.3, epsilon = 0.1, neighbours = "replace")
  expect_confide_error(pure(rows[[1]][[1]]), "parameter")
  expect_true(replay_audit(wide, rows)$ok)
})

test_that("imputing lets no missing or infinite value out, and refuses none", {
  for (like in list(numeric(), matrix(0, 0, 3))) {
    pairs <- neighbour_pairs(
      like, "replace",
      number = 500, values = c(hostile_values(numeric()), NA, NaN, Inf, -Inf)
    )
    audited <- replay_audit(function(x) {
      private_sum(x, bound = 10, rho = 0.5, neighbours = "replace", na = "impute")
    }, pairs)
    expect_true(audited$ok)
    expect_identical(audited$refused, 0L)
    expect_identical(audited$calls, 1000)
  }
})

test_that("nothing of 2,000 neighbours leaves private_count() but through the noise", {
  for (neighbours in neighbour_names) {
    number <- if (neighbours == "add_remove") 2000 else 200
    audited <- replay_audit(
      function(x) private_count(x, epsilon = 1, neighbours = neighbours),
      neighbour_pairs(logical(), neighbours, number = number)
    )
    expect_true(audited$ok)
    expect_identical(audited$calls, 2 * number)
    expect_identical(audited$spent[["epsilon"]], 1)
  }
})

test_that("a mean of a noisy sum over a noisy count passes and adds its costs up", {
  mean_of <- function(x) {
    total <- coef(private_sum(x, bound = 10, rho = 0.1, neighbours = "add_remove"))
    people <- coef(private_count(rep(TRUE, length(x)), rho = 0.1, neighbours = "add_remove"))
    total / max(people, 1)
  }
  audited <- replay_audit(mean_of, neighbour_pairs(numeric(), "add_remove", number = 300))
  expect_true(audited$ok)
  expect_identical(audited$spent[["rho"]], 0.2)
})

# Faults that were found in libraries and in papers' code; each must be seen, and as what it is.
bugs <- list(
  "number of people used as if public" = list(
    neighbours = "add_remove", problem = "result",
    f = function(x) coef(sum_of("add_remove")(x)) / length(x)
  ),
  "missing values dropped and their number released" = list(
    neighbours = "replace", problem = "result",
    f = function(x) {
      c(sum = coef(sum_of("replace")(x[is.finite(x)])), n = sum(is.finite(x)))
    }
  ),
  "bounds read off the data" = list(
    neighbours = "replace", problem = "calls",
    f = function(x) {
      private_sum(x, bound = max(1, min(abs(x), 1e9)), rho = 1, neighbours = "replace")
    }
  ),
  "sensitivity of zeroing declared, values replaced" = list(
    neighbours = "replace", problem = "sensitivity", f = function(x) sum_of("zero_out")(x)
  ),
  "a sum used twice where once was paid" = list(
    neighbours = "add_remove", problem = "sensitivity",
    f = function(x) sum_of("add_remove")(c(x, x))
  ),
  "a sum of values divided before clipping by their largest" = list(
    neighbours = "replace", problem = "sensitivity",
    f = function(x) sum_of("replace")(if (length(x) > 0) 10 * x / max(abs(x), 1e-300) else x)
  ),
  "a warning for large values" = list(
    neighbours = "replace", problem = "conditions",
    f = function(x) {
      if (any(abs(x) > 1e6)) warning("large values were clipped")
      sum_of("replace")(x)
    }
  ),
  "a message that shows the number of people" = list(
    neighbours = "add_remove", problem = "conditions",
    f = function(x) {
      message("summing ", length(x), " values")
      sum_of("add_remove")(x)
    }
  ),
  "an error of its own for values that are not finite" = list(
    neighbours = "replace", problem = "conditions",
    f = function(x) {
      if (!all(is.finite(x))) stop("not finite")
      sum_of("replace")(x)
    }
  ),
  "no noise for small groups" = list(
    neighbours = "add_remove", problem = "calls",
    f = function(x) if (length(x) < 5) 0 else coef(sum_of("add_remove")(x))
  ),
  "levels that occur" = list(
    neighbours = "replace", problem = "attributes", like = factor(character(), c("a", "b", "c")),
    f = function(x) {
      present <- levels(droplevels(x))
      noisy <- vapply(levels(x), function(level) {
        coef(private_count(x == level, rho = 1, neighbours = "replace"))
      }, numeric(1))
      noisy[present]
    }
  ),
  "names of people kept" = list(
    neighbours = "replace", problem = "attributes",
    f = function(x) structure(coef(sum_of("replace")(x)), largest = max(0, x))
  ),
  "noise of R's generator instead of the package's" = list(
    neighbours = "replace", problem = "result", f = function(x) sum(x) + stats::rnorm(1)
  ),
  "no noise" = list(neighbours = "replace", problem = "result", f = function(x) mean(c(0, x))),
  "a second query only if the first is large" = list(
    neighbours = "replace", problem = "calls",
    f = function(x) {
      first <- coef(sum_of("replace")(x))
      if (sum(x) > 0) coef(sum_of("replace")(x)) else first
    }
  ),
  "closures that hold the data" = list(
    neighbours = "replace", problem = "result",
    f = function(x) {
      s <- sum_of("replace")(x)
      s$scale <- list(x)
      s
    }
  )
)

test_that("each seeded bug of a central function is found", {
  for (name in names(bugs)) {
    bug <- bugs[[name]]
    pairs <- neighbour_pairs(bug$like %||% numeric(), bug$neighbours, number = 60)
    audited <- withr::with_seed(1, replay_audit(bug$f, pairs))
    expect_false(audited$ok, label = name)
    expect_true(bug$problem %in% audited$findings$problem, label = name)
    expect_prints_small(audited)
  }
})

test_that("a recorded answer is given to the query it was drawn for, and to no other", {
  record <- list(list(query = list(kind = "sum", dimension = 1), answer = 3L))
  expect_identical(recorded_answer(record, 1, list(kind = "sum", dimension = 1)), 3L)
  expect_null(recorded_answer(record, 1, list(kind = "sum", dimension = 2)))
  expect_null(recorded_answer(record, 2, list(kind = "sum", dimension = 1)))
  # a function that asks for more columns on one of two neighbours
  more <- function(x) {
    private_sum(if (length(x) > 2) cbind(x, x) else x, bound = 10, rho = 1,
      neighbours = "add_remove", rng = "r"
    )$estimate
  }
  audited <- replay_audit(more, list(list(c(1, 2, 3), c(1, 2))))
  expect_false(audited$ok)
  expect_true("calls" %in% audited$findings$problem)
})

test_that("an audit leaves nothing behind: noise is fresh again, also after an error", {
  pairs <- neighbour_pairs(numeric(), "replace", number = 2, non_finite = FALSE)
  seen <- NULL
  replay_audit(function(x) {
    seen <<- private_sum(x, bound = 10, rho = 0.5, neighbours = "replace")
    stop("stopped in the middle")
  }, pairs)
  expect_match(format(seen), "NOT PRIVATE", all = FALSE)
  expect_null(noise_gate$guard)
  expect_identical(privacy(sum_of("replace")(1))$rng, "os")
})

test_that("pairs are neighbours, repeatable, and leave R's generator alone", {
  before <- random_state()
  pairs <- neighbour_pairs(numeric(), "add_remove", number = 200)
  expect_identical(pairs, neighbour_pairs(numeric(), "add_remove", number = 200))
  expect_identical(random_state(), before)
  sizes <- vapply(pairs, lengths, numeric(2))
  expect_true(all(abs(sizes[1, ] - sizes[2, ]) <= 1))
  expect_true(any(sizes == 0))
  for (neighbours in c("replace", "zero_out")) {
    for (like in list(numeric(), logical(), factor(character(), c("a", "b")), matrix(0, 0, 2))) {
      if (is.factor(like) && neighbours == "zero_out") next
      changed <- vapply(neighbour_pairs(like, neighbours, number = 100), function(pair) {
        a <- as.matrix(pair[[1]])
        b <- as.matrix(pair[[2]])
        if (!identical(dim(a), dim(b))) return(Inf)
        sum(vapply(seq_len(nrow(a)), function(i) !identical(a[i, ], b[i, ]), logical(1)))
      }, numeric(1))
      expect_true(all(changed <= 1))
      expect_gt(mean(changed), 0.3)
    }
  }
})

test_that("what is no function, no pair and no data is refused", {
  pairs <- neighbour_pairs(numeric(), "replace", number = 2)
  for (f in list(1, NULL, "sum")) {
    expect_confide_error(replay_audit(f, pairs), "parameter", "function")
  }
  for (bad in list(
    list(), 1, data.frame(a = 1:2), list(1, 2), list(list(1)), as.POSIXlt("2020-01-01", tz = "UTC")
  )) {
    expect_confide_error(replay_audit(identity, bad), "parameter", "pairs")
  }
  expect_confide_error(replay_audit(identity), "parameter")
  expect_confide_error(neighbour_pairs(Sys.Date(), "replace"), "parameter", "like")
  for (empty in list(character(), factor(character()))) {
    expect_confide_error(neighbour_pairs(empty, "replace"), "parameter", "values to draw from")
  }
  for (values in list(numeric(), list(1), mtcars, sum, Sys.Date())) {
    expect_confide_error(neighbour_pairs(1, "replace", values = values), "parameter", "values")
  }
  expect_confide_error(neighbour_pairs(1, "swap"), "parameter")
  expect_confide_error(neighbour_pairs(1), "parameter")
  expect_confide_error(neighbour_pairs(1, "replace", number = 0), "parameter")
})
