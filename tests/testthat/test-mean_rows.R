# Where the rows of a private mean come from, and what is refused.

mean_table <- function(frame) {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), envir = parent.frame())
  DBI::dbWriteTable(connection, "people", frame)
  dplyr::tbl(connection, "people")
}

seeded_mean <- function(x, ...) withr::with_seed(3, private_mean(x, rho = 1, ..., rng = "r"))

# `code` with the rows read in an order of the test's choice where pairs are drawn at random.
with_order <- function(order, code, answer = confide:::noisy_answer) {
  confide:::with_guard(function(units, query, rng) {
    if (query$kind == "order") order(query$n) else answer(units, query, rng)
  }, code)
}

test_that("a matrix, a data frame and a table in many chunks give the same release", {
  frame <- withr::with_seed(1, data.frame(
    id = seq_len(70000), a = stats::rnorm(70000, 1), b = sample(20L, 70000, TRUE)
  ))
  ordered <- dplyr::select(dplyr::arrange(mean_table(frame), .data$id), "a", "b")
  for (sigma in list("diag", "none", "tyler", matrix(c(2, 1, 1, 3), 2))) {
    from_frame <- seeded_mean(frame[c("a", "b")], sigma = sigma)
    expect_identical(seeded_mean(as.matrix(frame[c("a", "b")]), sigma = sigma), from_frame)
    expect_identical(seeded_mean(ordered, sigma = sigma), from_frame)
  }
  for (method in mean_methods) {
    expect_identical(
      seeded_mean(ordered, sigma = "none", method = method),
      seeded_mean(frame[c("a", "b")], sigma = "none", method = method)
    )
  }
})

# The exact integers of the first answer that is made of pairs, for one order.
paired_units <- function(x, order, arguments) {
  stop_with <- function(units, query, rng) {
    stop(structure(class = c("captured", "condition"), list(units = units)))
  }
  tryCatch(
    with_order(function(n) order, do.call(private_mean, c(list(x), arguments)), stop_with),
    captured = function(condition) paste(condition$units, collapse = "")
  )
}

test_that("over all orders of the pairs the row order of the data changes nothing", {
  orders <- as.matrix(expand.grid(rep(list(1:4), 4)))
  orders <- orders[apply(orders, 1, function(order) anyDuplicated(order) == 0), ]
  x <- cbind(c(1, 2, 4, 9), c(0, 5, 7, 30)) # sorted by both columns
  absent <- rbind(x[1:3, ], NA)
  settings <- list(
    list(rho = 1e6), list(rho = 1e6, sigma = "tyler"),
    list(rho = 1e6, sigma = "none", method = "huber")
  )
  for (setting in settings) {
    for (neighbours in c("replace", "zero_out")) {
      arguments <- c(setting, neighbours = neighbours)
      people <- if (neighbours == "replace") x else absent
      law <- function(x) sort(apply(orders, 1, function(order) paired_units(x, order, arguments)))
      expect_identical(law(people[c(3, 1, 4, 2), ]), law(people))
      expect_identical(law(as.data.frame(people[4:1, ])), law(people))
      # pairs that stay as the rows come would show the order
      expect_gt(length(unique(law(people))), 1)
    }
  }
})

test_that("the order of the pairs is drawn anew for each use, and for each release", {
  drawn <- list()
  local_replacement("random_order", function(n, rng) {
    drawn[[length(drawn) + 1]] <<- sample(n)
    drawn[[length(drawn)]]
  })
  x <- withr::with_seed(1, matrix(stats::rnorm(600), 300))
  for (i in 1:2) withr::with_seed(i, private_mean(x, rho = 100, method = "huber", rng = "r"))
  private_mean(x, rho = 100, sigma = "none", rng = "r")
  # the scales and the distance of pairs, twice; a plain balloon has no pairs
  expect_length(drawn, 4)
  expect_length(unique(drawn), 4)
  for (order in drawn) expect_identical(sort(order), 1:300)
})

# Orders that a database takes from the values, though no sort key has the name of a column.
ordered_by_values <- function(table) {
  indexed <- dbplyr::remote_con(table)
  DBI::dbExecute(indexed, "CREATE INDEX IF NOT EXISTS ties ON people (town, a, b)")
  list(
    as_it_comes = dplyr::select(table, "a", "b"),
    renamed = dplyr::select(dplyr::arrange(table, .data$a), z = "a", "b"),
    falling = dplyr::select(dplyr::arrange(table, dplyr::desc(.data$a)), z = "a", "b"),
    changed = dplyr::transmute(dplyr::arrange(table, .data$a), x = .data$a, y = .data$b),
    exchanged = dplyr::select(dplyr::arrange(table, .data$a), id = "a", b2 = "b"),
    ties = dplyr::select(dplyr::arrange(table, .data$town), "a", "b")
  )
}

test_that("over all orders of the pairs the order that a database chooses changes nothing", {
  x <- data.frame(town = 1, a = c(4, 9, 1, 2), b = c(7, 30, 0, 5))
  orders <- as.matrix(expand.grid(rep(list(1:4), 4)))
  orders <- orders[apply(orders, 1, function(order) anyDuplicated(order) == 0), ]
  tables <- ordered_by_values(mean_table(x))
  settings <- list(
    list(rho = 1e6), list(rho = 1e6, sigma = "tyler"),
    list(rho = 1e6, sigma = "none", method = "huber")
  )
  for (setting in settings) {
    law <- function(x) sort(apply(orders, 1, function(order) paired_units(x, order, setting)))
    for (table in tables) expect_identical(law(table), law(x[c("a", "b")]))
  }
})

test_that("a person who moves all others of a sorted table moves one scale by one pair at most", {
  # neighbours, as a collection: with the rows paired as sorted each pair is split
  income <- rep(1:400, each = 2)[1:799]
  scale_units <- function(x) {
    table <- mean_table(data.frame(income = x))
    sorted <- dplyr::select(dplyr::arrange(table, .data$income), pay = "income")
    place <- match(seq_along(x), order(x)) # where the rows of x went
    stop_with <- function(units, query, rng) {
      stop(structure(class = c("captured", "condition"), list(units = units)))
    }
    tryCatch(
      with_order(function(n) place, private_mean(sorted, rho = 1), stop_with),
      captured = function(condition) confide:::units_as_numbers(condition$units)
    )
  }
  expect_lte(max(abs(scale_units(c(0, income)) - scale_units(c(1e9, income)))), 1)
})

test_that("slices of the data, whole ones and rests, give what the data give at once", {
  # a triangle keeps all records in one piece, scales go slice by slice
  control <- balloon_control(r_min = 1)
  for (n in c(1, 4095, 4096, 4097, 8192)) {
    x <- withr::with_seed(2, matrix(stats::rnorm(3 * n, 1), n))
    for (method in c("balloon", "huber", "instance_optimal", "coordinate_median")) {
      sliced <- seeded_mean(x, sigma = "none", control = control, method = method)
      whole <- seeded_mean(x, sigma = diag(3), control = control, method = method)
      expect_identical(coef(sliced), coef(whole))
      expect_identical(sliced$radii, whole$radii)
    }
  }
})

test_that("a table with other than finite numbers is refused like a data frame", {
  one <- function(frame) {
    table <- mean_table(frame)
    force(table) # making it draws from R's generator
    expect_confide_error(private_mean(table, rho = 1, sigma = "none"), "domain")
  }
  text <- one(data.frame(a = c(1, NA)))
  expect_identical(one(data.frame(a = 1, b = "x")), text)
  expect_identical(
    expect_confide_error(private_mean(c(1, NA), rho = 1, sigma = "none"), "domain"), text
  )
  empty <- dplyr::filter(mean_table(data.frame(a = 1)), .data$a > 5)
  expect_confide_error(private_mean(empty, rho = 1, sigma = "none"), "parameter", "one row")
})

test_that("shapes at the edge are served or refused by their public part", {
  refused <- function(x, says) {
    expect_confide_error(private_mean(x, rho = 1, sigma = "none", rng = "r"), "parameter", says)
  }
  refused(matrix(0, 0, 3), "at least one row")
  refused(numeric(), "at least one row")
  refused(matrix(0, 5, 0), "at least one column")
  expect_length(coef(seeded_mean(matrix(0.1, 2, 50), sigma = "none")), 50)
  expect_length(coef(seeded_mean(c(Ann = 1), sigma = "none")), 1)
  expect_length(coef(seeded_mean(rep(1e308, 100), sigma = "none")), 1)
  expect_length(coef(seeded_mean(matrix(5e-324, 100, 2), sigma = "none")), 2)
})

test_that("arguments outside their range are refused before anything is drawn", {
  x <- matrix(seq_len(200) / 7, 100)
  refused <- function(..., says = NULL) {
    arguments <- utils::modifyList(list(x = x, rho = 1, sigma = "none", rng = "r"), list(...))
    expect_confide_error(do.call(private_mean, arguments), "parameter", says)
  }
  for (sigma in list("foo", NULL, NA, c(1, 1), matrix(1, 2, 2), matrix(c(1, 0.5, 0.2, 1), 2),
    diag(3), matrix(c(1, NA, NA, 1), 2), -diag(2), matrix("a", 2, 2))) {
    expect_confide_error(private_mean(x, rho = 1, sigma = sigma), "parameter", "sigma")
  }
  for (centre in list(c(1, 2, 3), Inf, NA, "a", numeric())) {
    refused(centre = centre, says = "centre")
  }
  for (radius in list(0, -1, Inf, "a", c(1, 2))) refused(radius = radius, says = "radius")
  for (name in list("add_remove", NA, 1)) refused(neighbours = name, says = "neighbours")
  refused(method = "median")
  refused(filter = "on")
  refused(filter = "spectral", method = "huber", says = "filter")
  refused(control = list(), says = "balloon_control")
  refused(rho = 1e-30)
  refused(rho = -1)
  refused(epsilon = 1, says = "Exactly one")
  refused(ctrl = 1)
  refused(control = balloon_control(tau = c(0.5, 0.6)), says = "iterations")
  refused(control = balloon_control(split = c(0.5, 0.6)), says = "split")
  refused(method = "coinpress", control = balloon_control(iterations = 5), says = "CoinPress")
  expect_confide_error(private_mean(rho = 1), "parameter", "x")
  expect_confide_error(private_mean(x), "parameter", "Exactly one")
  expect_confide_error(private_mean(x, epsilon = 1, method = "huber"), "parameter", "rho")
  expect_confide_error(private_mean(x, epsilon = 1, sigma = "tyler"), "parameter", "rho")
  expect_confide_error(
    private_mean(x[, 1], rho = 1, sigma = "none", filter = "spectral"), "parameter", "columns"
  )
})

test_that("a symmetric matrix off by rounding is taken, and a number for one column", {
  x <- withr::with_seed(1, matrix(stats::rnorm(2000), 1000))
  near <- matrix(c(2, 1 + 1e-15, 1, 3), 2)
  expect_s3_class(seeded_mean(x, sigma = near), "confide_mean")
  expect_s3_class(seeded_mean(x[, 1], sigma = 4), "confide_mean")
})

test_that("balloon_control() refuses what has no meaning and shows what it holds", {
  wrong <- list(
    list(tau = 0), list(tau = 1), list(beta = 1), list(r_min = 0), list(split = -1),
    list(start = "x"), list(average = NA), list(interval_share = 0.6), list(filter_shares = 1),
    list(filter_shares = c(0.6, 0.6)), list(slack = -1), list(iterations = 0), list(foo = 1),
    list(beta = c(1.1, 1.2)), list(shape_share = 1), list(start_share = 2), list(r_max = 0),
    list(radius_share = 0), list(iterations = 1.5)
  )
  for (arguments in wrong) {
    expect_confide_error(do.call(balloon_control, arguments), "parameter")
  }
  expect_output(print(balloon_control(tau = c(0.7, 0.6))), "0.7, 0.6")
})

test_that("an interrupt leaves R in order", {
  skip_on_os("windows")
  skip_if_not(extended(), "extended tests")
  x <- matrix(0, 2e5, 50)
  long <- balloon_control(iterations = 100)
  expect_identical(
    interrupted_after(0.5, for (i in 1:20) private_mean(x, 1, sigma = "none", control = long)),
    "interrupted"
  )
  expect_s3_class(private_mean(1:500, rho = 1, sigma = "none"), "confide_mean")
})

test_that("when the operating system gives no random numbers nothing is released", {
  failing <- function(...) {
    stop(structure(
      class = c("confide::RandomnessError", "C++Error", "error", "condition"),
      list(message = "no", call = NULL)
    ))
  }
  local_replacement("count_search_answer", failing)
  expect_confide_error(private_mean(1:500, rho = 1, sigma = "none"), "randomness", "Nothing")
})

test_that("the rows that private scales need follow from what is spent on them", {
  x <- withr::with_seed(1, matrix(stats::rnorm(1600), 400))
  refused <- function(share, says, ...) {
    control <- if (!is.null(share)) balloon_control(shape_share = share)
    expect_confide_error(private_mean(x, ..., control = control, rng = "r"), "parameter", says)
  }
  # 150 sqrt(4 / (10 rho share)) and 2850 * 4 / (10 epsilon share)
  refused(1e-3, c("3,000 rows", "shape_share"), rho = 1)
  refused(NULL, "949 rows", rho = 0.1)
  refused(0.4, "475 rows", rho = 0.1)
  refused(0.2, "5,700 rows", epsilon = 1)
  enough <- balloon_control(shape_share = 0.06)
  expect_s3_class(private_mean(x, rho = 1, control = enough), "confide_mean")
})

test_that("the radii that are tried ascend from the first to the last, or are refused", {
  x <- withr::with_seed(1, matrix(stats::rnorm(800), 200))
  refused <- function(says, ..., sigma = diag(4)) {
    expect_confide_error(
      private_mean(x, rho = 1, sigma = sigma, control = balloon_control(...), rng = "r"),
      "parameter", c("r_max", says)
    )
  }
  refused("first radius that is tried, 1 here", r_max = 0.3)
  refused("It is 1.", r_max = 1)
  refused("1e-08 here", r_max = 1e-9, sigma = "none")
  refused("5 here", r_min = 5, r_max = 4, sigma = "none")
  low <- balloon_control(r_max = 1)
  expect_confide_error(
    private_mean(x, rho = 1, sigma = diag(4), method = "huber", control = low), "parameter", "r_max"
  )
  for (ends in list(c(1, 1.01), c(0.1, 0.3), c(1e-3, 0.49), c(4, 5), c(1, 1e8))) {
    radii <- confide:::tried_radii(list(
      control = balloon_control(r_min = ends[[1]], r_max = ends[[2]]), dimension = 4,
      shape = list(type = "matrix")
    ), NULL)
    expect_equal(radii[[1]], ends[[1]])
    expect_true(all(diff(radii) > 0))
    expect_gte(max(radii), ends[[2]])
  }
})

test_that("a data frame whose columns differ in length is refused like other illegal rows", {
  corrupt <- function(...) {
    structure(list(...), class = "data.frame", row.names = seq_len(1000))
  }
  text <- expect_confide_error(private_mean(c(1, NA), rho = 1, sigma = "none", rng = "r"), "domain")
  for (x in list(corrupt(a = as.numeric(1:1000), b = 1:2), corrupt(a = 1, b = 1:1000))) {
    expect_identical(
      expect_confide_error(private_mean(x, rho = 1, sigma = "none", rng = "r"), "domain"), text
    )
  }
})

test_that("what no noise can serve is refused before any is drawn or charged", {
  x <- withr::with_seed(1, matrix(stats::rnorm(800), 200))
  served <- function(...) {
    account <- ledger(8, neighbours = "replace")
    error <- tryCatch(
      {
        private_mean(x, ..., sigma = "none", ledger = account)
        NULL
      },
      error = identity
    )
    if (is.null(error)) {
      return(TRUE)
    }
    expect_s3_class(error, "confide_error_parameter")
    expect_identical(spent(account), 0)
    FALSE
  }
  starting <- balloon_control(start = "mean")
  for (method in mean_methods) {
    # the smallest budget that can be served is another one for each kind of noise
    found <- vapply(10^-(8:18), function(rho) served(rho = rho, method = method), logical(1))
    expect_false(all(found))
    for (radius in c(1e-300, 1e300, 1e308)) {
      served(rho = 1, method = method, radius = radius)
    }
  }
  for (radius in c(1e-300, 1e300)) {
    expect_false(served(rho = 1, radius = radius, control = starting))
  }
  expect_true(served(rho = 1, radius = 1e3, control = starting))
  expect_true(served(rho = 1, radius = 1e308, method = "coordinate_median"))
})

# Whether a query is one of those planned, or a sum whose bound is between those of two planned.
was_planned <- function(query, planned) {
  alike <- Filter(function(plan) {
    plan$kind == query$kind && plan$budget == query$budget &&
      (plan$dimension %||% 0) >= (query$dimension %||% 0)
  }, planned)
  if (query$kind != "sum" || length(alike) == 0) {
    return(length(alike) > 0)
  }
  bounds <- vapply(alike, `[[`, numeric(1), "bound")
  min(bounds) <= query$bound && query$bound <= max(bounds)
}

test_that("every noisy answer is planned before the first", {
  plan <- confide:::plan_noise
  planned <- asked <- list()
  local_replacement("plan_noise", function(query, ...) {
    if (length(asked) == 0) planned[[length(planned) + 1]] <<- query
    plan(query, ...)
  })
  guard <- function(units, query, rng) {
    if (query$kind != "order") asked[[length(asked) + 1]] <<- query
    confide:::noisy_answer(units, query, rng)
  }
  x <- withr::with_seed(1, matrix(stats::rnorm(4000), 1000))
  x[1:200, 1] <- 20
  settings <- c(
    lapply(mean_methods, function(method) list(method = method, sigma = "none")),
    list(
      list(sigma = "diag"), list(sigma = "tyler"), list(sigma = "none", filter = "spectral"),
      list(sigma = "none", control = balloon_control(start = "mean", r_max = 1e-3))
    )
  )
  for (setting in settings) {
    planned <- asked <- list()
    confide:::with_guard(guard, do.call(private_mean, c(list(x, rho = 4, rng = "r"), setting)))
    expect_gt(length(asked), 1 - (identical(setting$method, "clipped")))
    expect_true(all(vapply(asked, was_planned, logical(1), planned)))
  }
})
