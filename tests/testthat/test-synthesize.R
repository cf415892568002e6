# Private synthetic data: the model against brute force, the budget, what leaves, bad input.

# Made-up people; y depends on a and b, and c on a.
people <- function(n, seed = 1) {
  withr::with_seed(seed, {
    a <- sample(c("low", "mid", "high"), n, TRUE, c(0.5, 0.3, 0.2))
    b <- sample(c("no", "yes"), n, TRUE)
    c <- ifelse(stats::runif(n) < 0.7, a, sample(c("low", "mid", "high"), n, TRUE))
    d <- stats::rpois(n, 20)
    y <- stats::runif(n) < 0.2 + 0.4 * (a == "high") + 0.2 * (b == "yes")
    data.frame(
      a = factor(a, c("low", "mid", "high"), ordered = TRUE),
      b = factor(b, c("no", "yes", "other")),
      c = factor(c, c("low", "mid", "high")), d = d, y = y
    )
  })
}

cuts <- list(d = c(0, 15, 20, 25, 60))
binned <- function(data) {
  data$d <- findInterval(data$d, c(15, 20, 25))
  data
}

# With this rho the noise is zero but for a probability below 1e-100.
exact <- 1e6

# Distance of each pair's table from independence given the label; Kruskal by enumeration.
naive_spanning_tree <- function(data, label) {
  features <- setdiff(names(data), label)
  pairs <- utils::combn(sort(features), 2)
  strata <- if (is.null(label)) list(data) else split(data, data[[label]])
  distance <- apply(pairs, 2, function(pair) {
    sum(vapply(strata, function(rows) {
      counts <- table(rows[[pair[[1]]]], rows[[pair[[2]]]])
      sum(abs(counts - outer(rowSums(counts), colSums(counts)) / sum(counts)))
    }, numeric(1)))
  })
  trees <- utils::combn(ncol(pairs), length(features) - 1)
  spanning <- apply(trees, 2, function(tree) {
    component <- stats::setNames(seq_along(features), features)
    for (pair in tree) {
      ends <- component[pairs[, pair]]
      if (ends[[1]] == ends[[2]]) {
        return(FALSE)
      }
      component[component == ends[[2]]] <- ends[[1]]
    }
    TRUE
  })
  weight <- apply(trees, 2, function(tree) sum(distance[tree]))
  best <- trees[, which.max(ifelse(spanning, weight, -1))]
  paste(pairs[1, best], pairs[2, best])
}

test_that("with hardly any privacy the tables of the tree are those of the data", {
  data <- people(500)
  for (label in list(NULL, "y")) {
    edges <- list(c("c", "a"), c("a", "d"), c("b", "d"))
    s <- synthesize(
      data, exact,
      neighbours = "replace", label = label, cuts = cuts, edges = edges, rng = "r"
    )
    expect_lt(max(s$tables$misfit), 2e-3)
    # 4,000 rows drawn stratified: each cell within a few rows of the model
    drawn <- binned(transform(simulate(s, 4000, seed = 1), d = c(0, 15, 20, 25)[d]))
    for (edge in edges) {
      columns <- c(edge, label)
      truth <- prop.table(table(binned(data)[columns]))
      sampled <- prop.table(table(drawn[columns]))
      expect_lt(max(abs(sampled - truth)), 2e-3 + 5 / 4000)
    }
  }
})

test_that("with hardly any privacy the tree is the spanning tree of largest distances", {
  data <- people(2000, seed = 2)
  for (label in list(NULL, "y")) {
    s <- synthesize(data, exact, neighbours = "add_remove", label = label, cuts = cuts, rng = "r")
    chosen <- apply(as.matrix(s$edges[c("parent", "child")]), 1, sort)
    expect_setequal(paste(chosen[1, ], chosen[2, ]), naive_spanning_tree(binned(data), label))
    expect_identical(unique(s$edges$chosen), "privately")
  }
})

test_that("the label's probabilities are Bayes' rule along the tree", {
  data <- people(800, seed = 3)[c("a", "b", "c", "y")]
  s <- synthesize(
    data, exact,
    neighbours = "replace", label = "y", edges = list(c("a", "b"), c("a", "c")), rng = "r"
  )
  new <- expand.grid(a = levels(data$a), b = c("no", "yes"), c = levels(data$c))
  counted <- function(...) {
    columns <- c(...)
    counts <- table(data[c(columns, "y")])
    function(rows, y) counts[cbind(do.call(cbind, lapply(rows[columns], as.character)), y)]
  }
  ab <- counted("a", "b")
  ac <- counted("a", "c")
  a <- counted("a")
  weight <- vapply(c("FALSE", "TRUE"), function(y) {
    ab(new, y) * ac(new, y) / a(new, y)
  }, numeric(nrow(new)))
  bayes <- weight / rowSums(weight)
  expect_equal(unname(predict(s, new)), unname(bayes), tolerance = 0.02)
  expect_identical(colnames(predict(s, new)), c("FALSE", "TRUE"))
  expect_identical(predict(s, new, type = "class"), predict(s, new)[, 2] > predict(s, new)[, 1])
})

test_that("the parts of the budget add up to no more than was asked", {
  data <- people(50)
  for (value in c(1e-4, 0.1, 1 / 3, 5)) {
    for (neighbours in c("replace", "add_remove")) {
      s <- synthesize(data, value, neighbours = neighbours, label = "y", cuts = cuts)
      expect_lte(sum(s$spent$cost), value)
      expect_gte(sum(s$spent$cost), value * (1 - 1e-9))
      expect_identical(privacy(s)$rho, value)
      expect_lte(privacy(s)$rho_realised, value)
      # by the definitions: 4 tables of single columns, 3 choices, 3 tables of pairs
      expect_identical(s$spent$tables, c(3L, 4L, 3L))
      moved <- if (neighbours == "replace") 2 else 1
      expect_equal(s$tables$noise_sd, sqrt(moved / (2 * value / 3 / c(4, 4, 4, 4, 3, 3, 3))))
      e <- synthesize(data, epsilon = value, neighbours = neighbours, label = "y", cuts = cuts)
      expect_lte(sum(e$spent$cost), value)
      # choices are rounded down to multiples of 2^-40
      expect_gte(sum(e$spent$cost), value * (1 - 1e-9) - 3 * 2^-40)
      expect_identical(epsilon(e), value)
    }
  }
})

test_that("parts that cannot be used leave their budget to the others", {
  data <- people(50)
  tree <- function(...) synthesize(data, 1, neighbours = "replace", cuts = cuts, ...)
  expect_identical(tree(edges = list())$spent$part, "single")
  expect_identical(tree(edges = list(c("a", "b")))$spent$part, c("single", "pairs"))
  expect_equal(tree(edges = list())$spent$cost, 1)
  two <- synthesize(data[1:2], 1, neighbours = "replace")
  expect_identical(two$spent$part, c("single", "pairs"))
  expect_identical(nrow(two$edges), 1L)
  one <- synthesize(data[1], 1, neighbours = "replace")
  expect_identical(nrow(one$edges), 0L)
  expect_equal(
    tree(split = c(pairs = 1, single = 3, tree = 0), edges = list(c("a", "b")))$spent$cost,
    c(0.75, 0.25)
  )
  expect_equal(tree(split = c(tree = 1e308, single = 1e308, pairs = 1e308))$spent$cost, rep(1, 3) / 3)
})

# Data frames from neighbours in codes; 9 is missing where that is legal.
frame_of <- function(x) {
  data.frame(
    a = factor(x[, 1], 1:3), b = factor(x[, 2], 1:3), c = x[, 3], d = factor(x[, 4], 1:3)
  )
}

codes <- matrix(0, 0, 4)

test_that("nothing of the data leaves but through the noise, with any neighbours and noise", {
  for (neighbours in c("replace", "add_remove")) {
    pairs <- neighbour_pairs(
      codes, neighbours,
      number = 150, values = c(1:3, 9), non_finite = FALSE
    )
    release <- function(x, ...) {
      synthesize(
        frame_of(x),
        neighbours = neighbours, cuts = list(c = c(0, 1.5, 2.5, 4)), na = "level", ...
      )
    }
    audited <- replay_audit(function(x) release(x, rho = 0.5, label = "d"), pairs)
    expect_true(audited$ok)
    expect_identical(audited$refused, 0L)
    # 2 choices, 3 single tables and 2 tables of pairs in each of two runs
    expect_identical(audited$calls, 2 * 7 * 150)
    expect_lte(audited$spent[["rho"]], 0.5)
    expect_gte(audited$spent[["rho"]], 0.5 * (1 - 1e-9))
    audited <- replay_audit(function(x) release(x, epsilon = 0.5), pairs[1:50])
    expect_true(audited$ok)
    expect_lte(audited$spent[["epsilon"]], 0.5)
    expect_true(
      replay_audit(function(x) release(x, rho = 1, edges = list(c("a", "d"))), pairs[1:50])$ok
    )
  }
})

test_that("the audit sees a sensitivity that is too small, in tables and in choices", {
  pairs <- neighbour_pairs(codes, "replace", number = 60, values = 1:3, non_finite = FALSE)
  wrong <- function(x) {
    synthesize(frame_of(x), 1, neighbours = "add_remove", cuts = list(c = c(0, 1.5, 4)))
  }
  expect_setequal(replay_audit(wrong, pairs)$findings$problem, "sensitivity")
  half <- function(query, ...) {
    query$sensitivity <- query$sensitivity / 2
    query
  }
  plan <- plan_choices
  local_replacement("plan_choices", function(...) {
    planned <- plan(...)
    planned$query <- half(planned$query)
    planned
  })
  right <- function(x) {
    synthesize(frame_of(x), 1, neighbours = "replace", cuts = list(c = c(0, 1.5, 4)))
  }
  expect_setequal(replay_audit(right, pairs)$findings$problem, "sensitivity")
})

test_that("the audit sees a number of rows that is used as if public", {
  pairs <- neighbour_pairs(codes, "add_remove", number = 60, values = 1:3, non_finite = FALSE)
  local_replacement("public_rows", function(data, neighbours, call) as.numeric(nrow(data)))
  leaky <- function(x) {
    synthesize(frame_of(x), 1, neighbours = "add_remove", cuts = list(c = c(0, 1.5, 4)))
  }
  expect_true("result" %in% replay_audit(leaky, pairs)$findings$problem)
})

test_that("the number of rows is public or estimated, as the neighbours say", {
  data <- people(5000)
  expect_identical(nobs(synthesize(data, 1, neighbours = "replace", cuts = cuts)), 5000)
  s <- synthesize(data, 0.1, neighbours = "add_remove", cuts = cuts)
  # the sum of a table of m cells has standard deviation sqrt(m) noise_sd; 6 of the best table
  expect_lt(abs(nobs(s) - 5000), 6 * min(sqrt(s$tables$cells) * s$tables$noise_sd))
  expect_false(nobs(s) == 5000)
  expect_identical(nrow(simulate(s)), as.integer(round(nobs(s))))
})

test_that("rows have the columns, types and levels of the data", {
  data <- people(300)
  data$b <- addNA(data$b)
  s <- synthesize(data, 10, neighbours = "replace", label = "b", cuts = cuts)
  rows <- simulate(s, 100)
  expect_named(rows, names(data))
  expect_identical(dim(rows), c(100L, 5L))
  expect_identical(levels(rows$a), levels(data$a))
  expect_s3_class(rows$a, "ordered")
  expect_identical(levels(rows$b), c("no", "yes", "other"))
  expect_s3_class(rows$d, "ordered")
  expect_identical(levels(rows$d), c("[0,15)", "[15,20)", "[20,25)", "[25,60]"))
  expect_type(rows$y, "logical")
  expect_identical(nrow(simulate(s, 0)), 0L)
  numbers <- simulate(s, 2000, seed = 4, numbers = "uniform")$d
  bins <- simulate(s, 2000, seed = 4)$d
  expect_type(numbers, "integer")
  expect_identical(findInterval(numbers, c(15, 20, 25)) + 1L, as.integer(bins))
  expect_setequal(numbers[bins == "[15,20)"], 15:19)
})

test_that("missing answers are a level where that was declared", {
  data <- people(400)
  data$a[1:100] <- NA
  data$d[51:150] <- NA
  s <- synthesize(data, exact, neighbours = "replace", cuts = cuts, na = "level", rng = "r")
  rows <- simulate(s, 400, seed = 1)
  expect_lte(abs(sum(is.na(rows$a)) - 100), 2)
  expect_lte(abs(sum(is.na(rows$d)) - 100), 4)
  expect_true(anyNA(simulate(s, 400, numbers = "uniform")$d))
})

test_that("simulate() follows R's seed and leaves the generator as it was", {
  s <- synthesize(people(100), 1, neighbours = "replace", cuts = cuts)
  before <- random_state()
  expect_identical(simulate(s, 10, seed = 1), simulate(s, 10, seed = 1))
  expect_identical(random_state(), before)
  expect_false(identical(simulate(s, 50, seed = 1)$a, simulate(s, 50, seed = 2)$a))
  independent <- simulate(s, 50, seed = 1, sampling = "independent")
  expect_identical(dim(independent), c(50L, 5L))
})

test_that("values beyond the range of the cuts count to the end bins", {
  s <- synthesize(
    data.frame(x = c(-1e308, -1, 0, 5, 9.99, 10, 11, Inf)), exact,
    neighbours = "replace", cuts = list(x = c(0, 5, 10)), rng = "r"
  )
  expect_identical(as.vector(table(simulate(s, 8, seed = 1)$x)), c(3L, 5L))
  open <- synthesize(
    data.frame(x = c(1, 2, 3)), exact,
    neighbours = "replace", cuts = list(x = c(-Inf, 2, Inf)), rng = "r"
  )
  expect_identical(levels(simulate(open)$x), c("below 2", "from 2"))
  expect_confide_error(simulate(open, numbers = "uniform"), "parameter", "finite ends")
})

test_that("errors about data have one text and come before any randomness", {
  texts <- vapply(list(
    data.frame(x = factor(c("a", NA)), d = 1:2), data.frame(x = factor("a"), d = NA_real_),
    data.frame(x = factor("a"), d = NaN),
    data.frame(x = structure(5L, levels = "a", class = "factor"), d = 1)
  ), function(data) {
    expect_confide_error(
      synthesize(data, 1, neighbours = "replace", cuts = list(d = c(0, 1, 2)), rng = "r"), "domain"
    )
  }, "")
  expect_length(unique(texts), 1)
})

test_that("columns of several lengths, in a frame put together by hand, are refused", {
  ragged <- structure(
    list(a = factor(1:4, 1:900), b = factor(1:2), c = factor(1:6)),
    row.names = 1:4, class = "data.frame"
  )
  for (columns in list(c("a", "b"), c("b", "a"), c("a", "c"))) {
    expect_confide_error(synthesize(ragged[columns], 1, neighbours = "add_remove"), "domain")
  }
  s <- synthesize(
    data.frame(a = factor(1:4, 1:900), b = factor(1:2)), 1,
    neighbours = "replace", label = "b"
  )
  expect_confide_error(
    predict(s, structure(list(a = factor(1:3, 1:900)), row.names = 1:4, class = "data.frame")),
    "domain"
  )
})

test_that("public arguments outside their range are refused with the reason", {
  data <- people(20)
  refused <- function(..., says = NULL, x = data, neighbours = "replace") {
    expect_confide_error(synthesize(x, ..., neighbours = neighbours), "parameter", says)
  }
  good <- function(...) refused(rho = 1, cuts = cuts, ...)
  refused(1, says = "public domain")
  refused(cuts = cuts, says = "Exactly one")
  refused(1, epsilon = 1, cuts = cuts, says = "Both are")
  refused(0, cuts = cuts)
  refused(1e-300, cuts = cuts, says = "No noise can serve")
  refused(1, cuts = cuts, neighbours = "zero_out", says = "row of zeros")
  refused(1, cuts = list(d = 1), says = "at least two")
  refused(1, cuts = list(d = c(2, 1)), says = "do not increase")
  refused(1, cuts = list(d = c(1, NA)))
  refused(1, cuts = list(e = 1:2), says = "named by columns")
  refused(1, cuts = list(d = 1:2, a = 1:2), says = "must be numeric")
  refused(1, x = 1:3, says = "data frame")
  refused(1, x = data.frame(), says = "no column")
  refused(1, x = data.frame(t = "a"), says = "factor(x, levels")
  refused(1, x = data[0, 1:2], says = "at least one row")
  good(label = "z", says = "the name of one column")
  good(label = c("a", "b"))
  refused(1, x = data["a"], label = "a", says = "no other column")
  good(edges = list(c("a", "b"), c("b", "c"), c("c", "a")), says = "cycle")
  good(edges = list(c("a", "b"), c("b", "a")), says = "cycle")
  good(edges = list(c("a", "y")), label = "y", says = "without the label")
  good(edges = list(c("a", "a")))
  good(edges = c("a", "b"))
  good(split = c(tree = 1, single = 0, pairs = 1), says = "single")
  good(split = c(tree = 0, single = 1, pairs = 1), says = "Choosing a tree")
  good(split = 1)
  good(split = c(tree = 1, single = NA, pairs = 1))
  good(split = c(tree = 1, single = 5e-324, pairs = 1), says = "No noise can serve")
  good(split = c(tree = 1e308, single = 5e-324, pairs = 1e308), says = "No noise can serve")
  good(na = "drop")
  good(rng = "seed")
  good(eps = 1, says = "Unused")
  wide <- data.frame(a = factor(1, 1:2000), b = factor(1, 1:2000))
  refused(1, x = wide, says = "cells")
  duplicated <- stats::setNames(data[1:2], c("a", "a"))
  refused(1, x = duplicated, says = "distinct names")
  s <- synthesize(data, 1, neighbours = "replace", cuts = cuts)
  expect_confide_error(predict(s, data), "parameter", "label")
  expect_confide_error(simulate(s, -1), "parameter")
  labelled <- synthesize(data, 1, neighbours = "replace", cuts = cuts, label = "y")
  expect_confide_error(predict(labelled, data["a"]), "parameter", "Missing")
  expect_confide_error(predict(labelled, transform(data, a = NA)), "domain")
  expect_confide_error(plot(s, what = "all"), "parameter")
})

test_that("columns with one level, no rows and strange names are served", {
  strange <- data.frame(
    `a {b}` = factor(c("x", "x")), `if` = factor(c("", "{z}")), check.names = FALSE
  )
  s <- synthesize(strange, 1, neighbours = "add_remove")
  expect_named(simulate(s, 3), names(strange))
  expect_prints_small(s)
  none <- synthesize(people(0), 1, neighbours = "add_remove", cuts = cuts, label = "y")
  expect_gte(nobs(none), 1)
})

test_that("synthetic data print, plot and summarise their guarantee", {
  data <- people(3000)
  for (s in list(
    synthesize(data, 0.1, neighbours = "add_remove", cuts = cuts, label = "y"),
    synthesize(data, epsilon = 1e-3, neighbours = "replace", cuts = cuts, rng = "r"),
    synthesize(data, 1, neighbours = "replace", cuts = cuts, edges = list(c("a", "c"))),
    synthesize(data["a"], 100, neighbours = "replace")
  )) {
    expect_prints_small(s)
    text <- format(s)
    expect_match(text, "neighbours: ", all = FALSE)
    expect_match(text, "rho = |epsilon = ", all = FALSE)
    expect_identical(any(grepl("NOT PRIVATE", text)), privacy(s)$rng == "r")
    expect_output(print(summary(s)), "misfit")
    expect_s3_class(ggplot2::autoplot(s), "ggplot")
    expect_s3_class(ggplot2::autoplot(s, what = "tree"), "ggplot")
    expect_identical(tidy(s), s$tables)
    expect_identical(as.data.frame(s), s$tables)
  }
})

test_that("what is released holds no row of the data", {
  data <- people(30)
  rownames(data) <- paste0("secret_", seq_len(30))
  attr(data, "note") <- "secret_note"
  attr(data$a, "comment") <- "secret_comment"
  data$d[[1]] <- 17.123456789
  s <- synthesize(data, 1, neighbours = "replace", cuts = cuts, label = "y")
  expect_holds_no("secret", s)
  bytes <- serialize(s, NULL, xdr = FALSE)
  expect_length(grepRaw(writeBin(17.123456789, raw()), bytes, fixed = TRUE), 0)
})

test_that("a model with less noise is closer to the data", {
  data <- people(3000, seed = 7)
  error <- function(rho) {
    withr::with_seed(8, mean(replicate(10, {
      s <- synthesize(
        data, rho,
        neighbours = "replace", cuts = cuts, edges = list(c("a", "c")), rng = "r"
      )
      shares <- table_of(s$shape, tree_shares(s$shape, s$potentials), 6, c(1, 3))
      sum(abs(shares[1, , ] - prop.table(table(data$c, data$a))))
    })))
  }
  expect_lt(error(0.01), error(0.0001) / 3) # the noise is ten times smaller
})

test_that("a ledger is charged before anything is drawn, or gives all that is left", {
  data <- people(50)
  make <- function(...) synthesize(data, ..., cuts = cuts)
  l <- ledger(20, neighbours = "replace", limit = 1)
  s <- make(rho = 0.01, neighbours = "replace", ledger = l)
  expect_equal(spent(l), 0.2, tolerance = 1e-9)
  expect_gte(spent(l), 20 * privacy(s)$rho_realised)
  rest <- make(neighbours = "replace", ledger = l)
  expect_equal(privacy(rest)$rho, 0.8 / 20, tolerance = 1e-9)
  expect_equal(spent(l), 1, tolerance = 1e-9)
  expect_confide_error(make(rho = 0.01, neighbours = "replace", ledger = l), "budget")
  expect_confide_error(make(neighbours = "replace", ledger = ledger(20, neighbours = "replace")),
    "parameter", "no limit"
  )
  other <- ledger(20, neighbours = "add_remove", limit = 1)
  expect_confide_error(make(rho = 0.01, neighbours = "replace", ledger = other), "parameter")
  expect_confide_error(
    make(rho = 0.01, neighbours = "add_remove", ledger = other, rng = "r"), "simulation"
  )
  expect_identical(spent(other), 0)
})

start_of <- function(data, epsilon = 0.1, ...) {
  synthesize(data, epsilon = epsilon, alpha = 20, neighbours = "add_remove", cuts = cuts, ...)
}

test_that("a refined data set has the certificate of its last noise and of the choices alone", {
  data <- people(500)
  for (label in list(NULL, "y")) {
    path <- start_of(data, label = label)
    tables <- nrow(path$tables)
    expect_lte(path$epsilon, 0.1)
    expect_equal(path$epsilon, 0.1, tolerance = 1e-9)
    tree <- path$spent$cost[[1]]
    for (target in c(0.2, 0.5, 1)) {
      path <- refine(path, epsilon = target)
      expect_lte(path$epsilon, target)
      expect_equal(path$epsilon, target, tolerance = 1e-9)
      # alpha / 2 times the sum of the precisions, since a row moves one cell of each table by 1
      expect_equal(20 / 2 * sum(1 / path$tables$noise_sd^2), target - tree, tolerance = 1e-6)
      expect_identical(nrow(path$tables), tables)
      expect_identical(path$rho, privacy(path)$expost_rho)
    }
  }
  expect_equal(epsilon(path, delta = 1e-6), as_approx_dp(1, alpha = 20, delta = 1e-6),
    tolerance = 1e-6
  )
  expect_prints_small(path)
  expect_s3_class(ggplot2::autoplot(path), "ggplot")
  expect_identical(dim(simulate(path, 20)), c(20L, 5L))
  expect_identical(dim(predict(path, data)), c(500L, 2L))
})

test_that("refined tables approach the exact ones", {
  data <- people(400, seed = 5)
  for (seed in c(3, 16, 19)) { # starts whose noise emptied cells
    path <- withr::with_seed(seed, {
      # the second step has noise of standard deviation 0.0008: none
      refine(start_of(data, edges = list(c("a", "c")), rng = "r"), epsilon = 1e8)
    })
    shares <- table_of(path$shape, tree_shares(path$shape, path$potentials), 6, c(1, 3))
    expect_lt(max(abs(shares[1, , ] - prop.table(table(data$c, data$a)))), 1e-3)
    expect_lt(abs(nobs(path) - 400), 0.1)
  }
})

test_that("a replaced row moves two cells of each table, which refinements pay for", {
  path <- synthesize(people(500), epsilon = 0.1, alpha = 20, neighbours = "replace", cuts = cuts)
  path <- refine(path, epsilon = 1)
  # alpha / 2 times 2, the squared move, times the sum of the precisions
  tables <- 20 / 2 * 2 * sum(1 / path$tables$noise_sd^2)
  expect_equal(tables, path$epsilon - path$spent$cost[[1]], tolerance = 1e-6)
})

test_that("nothing leaves a refined data set but through the noise", {
  pairs <- neighbour_pairs(codes, "add_remove", number = 100, values = 1:3, non_finite = FALSE)
  released <- function(x) {
    path <- synthesize(
      frame_of(x),
      epsilon = 0.1, alpha = 10, neighbours = "add_remove", cuts = list(c = c(0, 1.5, 4)),
      label = "d"
    )
    path <- refine(refine(path, epsilon = 0.3), epsilon = 2)
    path[c("edges", "tables", "rows", "potentials", "spent", "epsilon", "privacy")]
  }
  audited <- replay_audit(released, pairs)
  expect_true(audited$ok)
  expect_lte(10 * audited$spent[["rho"]], 2)
  expect_equal(10 * audited$spent[["rho"]], 2, tolerance = 1e-6)
})

test_that("targets that are reached, stale copies and empty ledgers refuse a refinement", {
  data <- people(60)
  path <- start_of(data)
  later <- refine(path, epsilon = 0.3)
  expect_confide_error(refine(path, epsilon = 0.4), "budget", "stale")
  expect_confide_error(refine(later, epsilon = 0.3), "parameter", "above the certificate")
  expect_confide_error(refine(later, epsilon = NA), "parameter")
  expect_confide_error(refine(later), "parameter", "epsilon")
  expect_confide_error(start_of(data, rho = 1), "parameter", "rho")
  expect_confide_error(
    synthesize(data, alpha = 1, epsilon = 1, neighbours = "replace", cuts = cuts), "parameter"
  )
  l <- ledger(20, neighbours = "add_remove", limit = 0.5)
  path <- start_of(data, ledger = l)
  expect_equal(spent(l), 0.1, tolerance = 1e-9)
  path <- refine(path, epsilon = 0.4)
  expect_equal(spent(l), 0.4, tolerance = 1e-9)
  expect_gte(spent(l), path$epsilon)
  expect_confide_error(refine(path, epsilon = 0.6), "budget")
  expect_equal(refine(path, epsilon = 0.5)$epsilon, 0.5, tolerance = 1e-9)
})

test_that("a step that no noise can serve is refused before any table is refined or charged", {
  l <- ledger(20, neighbours = "add_remove", limit = 1)
  # the tables of pairs get hardly anything, those of single columns could be refined
  path <- start_of(people(60), ledger = l, split = c(tree = 1, single = 1, pairs = 1e-9))
  before <- spent(l)
  expect_confide_error(refine(path, epsilon = 0.1000001), "parameter", "No noise can serve")
  expect_identical(spent(l), before)
  path <- refine(path, epsilon = 0.3)
  expect_equal(path$epsilon, 0.3, tolerance = 1e-9)
  expect_gte(spent(l), path$epsilon)
  expect_equal(spent(l), 0.3, tolerance = 1e-9)
})

test_that("the smallest budget that can be served is found without charging for less", {
  data <- people(20)[c("a", "b")]
  charged <- function(epsilon) {
    l <- ledger(20, neighbours = "replace", limit = 1)
    tryCatch(
      {
        synthesize(data, epsilon = epsilon, alpha = 20, neighbours = "replace", ledger = l)
        NA
      },
      confide_error_parameter = function(error) spent(l)
    )
  }
  ends <- c(1e-30, 1)
  for (halving in 1:70) {
    middle <- sqrt(prod(ends))
    spent <- charged(middle)
    expect_true(is.na(spent) || spent == 0)
    ends[[if (is.na(spent)) 2 else 1]] <- middle
  }
  expect_lt(ends[[2]] / ends[[1]] - 1, 1e-12)
})

test_that("what went through a file, or lost its handle, can be used but not refined", {
  path <- start_of(people(60))
  file <- withr::local_tempfile()
  saveRDS(path, file)
  read <- readRDS(file)
  expect_identical(simulate(read, 20, seed = 1), simulate(path, 20, seed = 1))
  expect_confide_error(refine(read, epsilon = 1), "parameter", "went through a file")
  path$handle <- NULL
  expect_confide_error(refine(path, epsilon = 1), "parameter", "parted")
})

test_that("the tables inside are refined with the whole, and nothing is altered on the way", {
  l <- ledger(20, neighbours = "add_remove", limit = 0.2)
  path <- start_of(people(300), ledger = l)
  expect_confide_error(refine(path$handle$single, epsilon = 50), "budget", "part of another object")
  expect_equal(spent(l), 0.1, tolerance = 1e-9)
  path["ledger"] <- list(NULL)
  expect_confide_error(refine(path, epsilon = 1), "internal", "altered by hand")
  expect_confide_error(as_approx_dp(path, delta = 1e-6), "internal", "altered by hand")
  expect_equal(spent(l), 0.1, tolerance = 1e-9)
})

test_that("neighbours that are not served are not offered", {
  x <- data.frame(a = factor(c("x", "y")), b = factor(c("u", "v")))
  offered <- expect_confide_error(
    synthesize(x, 1), "parameter", "It is \"replace\" or \"add_remove\""
  )
  expect_no_match(offered, "zero_out")
})

test_that("what is given in the place of people is told by its class alone", {
  m <- mech_lambda(list(x = 2), epsilon = 1)
  refusals <- list(
    expect_confide_error(synthesize("Zebrafink", rho = 1, neighbours = "replace"), "parameter"),
    expect_confide_error(private_lm(y ~ x, "Zebrafink", m), "parameter"),
    expect_confide_error(private_glm(y ~ x, "Zebrafink", m), "parameter")
  )
  for (text in refusals) {
    expect_match(text, "class character")
    expect_no_match(text, "Zebrafink")
  }
})
