# Counting where the data are. What holds in SQLite holds in PostgreSQL, and both are the counts
# that R makes of the same reports.

text_survey <- function(n = 300) {
  withr::local_seed(1)
  data.frame(
    a = sample(c("x", "y"), n, TRUE), b = sample(c("u", "v", "w"), n, TRUE),
    weight = stats::runif(n, .2, 3)
  )
}

ab_mechanism <- function() {
  mech_lambda(list(a = c("x", "y"), b = c("u", "v", "w")), lambda = c(.6, .4))
}

# One mechanism of each kind with reports of it, as a data frame.
every_family <- function(n = 400) {
  withr::local_seed(2)
  truth <- sample(5, n, TRUE)
  colours <- c("red", "green", "blue", "grey", "none")
  shares <- stats::setNames(c(.4, .3, .1, .1, .1), colours)
  shifted <- stats::setNames(c(.1, .2, .2, .2, .3), colours)
  mechanisms <- list(
    rr = mech_rr(colours, 1),
    matrix = mech_matrix(matrix(c(.6, .2, .2, .3, .4, .3, .2, .1, .7), 3, byrow = TRUE)),
    spr = mech_spr(shares, shifted, 1),
    block = mech_block(50, 1),
    subset = mech_block(6, 1, design = "subset selection(6,3)"),
    shared = mech_block(6, 1, design = "shared randomness(6,2)"),
    lambda = mech_lambda(list(a = c("x", "y"), b = 3, c = c(FALSE, TRUE)), lambda = c(.6, .4, .5))
  )
  values <- list(
    rr = colours[truth], matrix = pmin(truth, 3), spr = colours[truth], block = truth,
    subset = truth, shared = truth,
    lambda = data.frame(a = c("x", "y")[1 + truth %% 2], b = pmin(truth, 3), c = truth > 2)
  )
  Map(function(mechanism, x) {
    reports <- as_plain(privatize(x, mechanism, rng = "r"))
    frame <- if (is.data.frame(reports)) reports else as.data.frame(reports)
    list(mechanism = mechanism, reports = frame)
  }, mechanisms, values)
}

delayedAssign("families", every_family())

# One of each way to keep counts: for each report, for each level of a set, for each pattern.
delayedAssign("layouts", families[c("rr", "subset", "lambda")])

# Counts as numbers in one order, whatever the order in which a database found them.
sorted_counts <- function(counts) {
  if (is.null(counts$patterns)) {
    return(list(counts$counts, counts$squares, counts$n))
  }
  order <- do.call(order, as.data.frame(counts$patterns))
  list(counts$patterns[order, ], counts$counts[order], counts$squares[order], as.numeric(counts$n))
}

expect_same_counts <- function(x, y) {
  expect_equal(sorted_counts(x), sorted_counts(y), tolerance = 1e-12)
}

for (name in c("SQLite", "PostgreSQL")) {
  connect <- if (name == "SQLite") sqlite else function() postgres()
  says <- function(text) paste(name, text)

  test_that(says("counts the reports of every mechanism like R does"), {
    connection <- connect()
    for (one in families) {
      remote <- database(one$reports, connection)
      counts <- count_reports(remote, one$mechanism)
      expect_same_counts(counts, count_reports(one$reports, one$mechanism))
    }
  })

  test_that(says("sums weights like R does"), {
    connection <- connect()
    for (one in layouts) {
      withr::local_seed(3)
      frame <- one$reports
      frame$weight <- stats::runif(nrow(frame), 0, 3)
      remote <- database(frame, connection)
      expect_same_counts(
        count_reports(remote, one$mechanism, weights = "weight"),
        count_reports(one$reports, one$mechanism, weights = frame$weight)
      )
    }
    x <- data.frame(r = c("no", "yes", "yes"), w = c(50000L, 60000L, 0L)) # squares above 2^31
    m <- mech_rr(c("no", "yes"), 1)
    expect_same_counts(
      count_reports(database(x, connection), m, weights = "w"),
      count_reports(x, m, weights = "w")
    )
    expect_confide_error(
      count_reports(remote, one$mechanism, weights = "nothing"), "parameter", "`weights`"
    )
  })

  test_that(says("sums a column of counts"), {
    connection <- connect()
    for (one in layouts) {
      found <- stats::aggregate(
        list(n = rep(1L, nrow(one$reports))), lapply(one$reports, as.character), sum
      )
      found[names(one$reports)] <- Map(
        function(x, like) if (is.numeric(like)) as.numeric(x) else x,
        found[names(one$reports)], one$reports
      )
      expected <- count_reports(one$reports, one$mechanism)
      expect_same_counts(count_reports(database(found, connection), one$mechanism), expected)
      twice <- rbind(found, found) # the same report in several rows
      names(twice)[[ncol(twice)]] <- "how_many"
      expect_same_counts(
        count_reports(database(twice, connection), one$mechanism, count = "how_many"),
        c(expected, expected)
      )
    }
    expect_confide_error(
      count_reports(
        dplyr::tbl(connection, "reports"), one$mechanism,
        weights = "how_many", count = "how_many"
      ), "parameter", "belong to single reports"
    )
  })

  test_that(says("counts parts that add up to the whole"), {
    connection <- connect()
    for (one in layouts) {
      frame <- one$reports
      frame$part <- rep(1:3, length.out = nrow(frame))
      remote <- database(frame, connection)
      parts <- lapply(1:3, function(k) {
        part <- dplyr::filter(remote, .data$part == k)
        count_reports(dplyr::select(part, -"part"), one$mechanism)
      })
      expect_same_counts(do.call(c, parts), count_reports(one$reports, one$mechanism))
    }
  })

  test_that(says("counts queries: selected columns, filtered rows, groups"), {
    connection <- connect()
    x <- text_survey()
    remote <- database(x, connection)
    m <- ab_mechanism()
    expect_same_estimate(remote, x, m)
    expect_same_estimate(dplyr::select(remote, "a", "b"), x, m)
    expect_same_estimate(dplyr::filter(remote, .data$weight > 1), x[x$weight > 1, ], m)
    expect_same_estimate(dplyr::group_by(remote, .data$a), x, m)
    expect_same_estimate(dplyr::select(remote, "b"), x$b, mech_rr(c("u", "v", "w"), 1))
    expect_same_estimate(dplyr::arrange(remote, .data$a), x, m)
  })

  test_that(says("takes a missing report for missing, and refuses it unless that is a level"), {
    connection <- connect()
    remote <- database(data.frame(r = c("no", NA, "yes", NA)), connection)
    expect_confide_error(count_reports(remote, mech_rr(c("no", "yes"), 1)), "domain")
    m <- mech_rr(c("no", "yes"), 1, na = "level")
    expect_equal(count_reports(remote, m)$counts, c(no = 1, yes = 1, "<NA>" = 2))
    sets <- mech_block(6, 1, design = "subset selection(6,2)")
    remote <- database(data.frame(a = c(1L, NA), b = c(2L, 3L)), connection)
    expect_confide_error(count_reports(remote, sets), "domain")
  })

  test_that(says("refuses counts and weights that are missing, negative or text"), {
    connection <- connect()
    m <- mech_rr(c("no", "yes"), 1)
    for (bad in list(c(1, NA, 2), c(1, -1, 2), c(NA, NA, NA_real_), c(5, -1, 3))) {
      frame <- data.frame(r = c("no", "yes", "no"), n = bad)
      remote <- database(frame, connection)
      expect_confide_error(count_reports(remote, m), "parameter", "Counts must be finite")
      expect_confide_error(
        count_reports(remote, m, weights = "n"), "parameter", "`weights` must be finite"
      )
    }
    # a count column of text is no column of numbers in either database
    remote <- database(data.frame(r = c("no", "yes"), n = c("SECRET-MARKER", "2")), connection)
    error <- tryCatch(count_reports(remote, m), error = identity)
    expect_s3_class(error, "error")
    expect_no_match(conditionMessage(error), "SECRET-MARKER")
  })

  test_that(says("counts exactly in 64 bits, and what a double cannot hold is refused"), {
    connection <- connect()
    skip_if_not_installed("bit64")
    m <- mech_rr(c("no", "yes"), 1)
    big <- function(numbers) {
      remote <- database(data.frame(r = c("no", "yes"), n = c(0, 0)), connection, c(
        r = "text", n = "bigint"
      ))
      execute(connection, sprintf(
        "UPDATE reports SET n = %s WHERE r = '%s'", numbers, c("no", "yes")
      ))
      remote
    }
    expect_identical(
      count_reports(big(c("3000000000", "9007199254740991")), m)$counts,
      c(no = 3e9, yes = 2^53 - 1)
    )
    remote <- big(c("1", "9007199254740993"))
    expect_confide_error(count_reports(remote, m), "parameter", "2^53")
  })

  test_that(says("says the same of any report outside the levels, and shows none"), {
    connection <- connect()
    m <- mech_rr(c("no", "yes"), 1)
    messages <- vapply(list("SECRET-MARKER", c("no", "SECRET-MARKER", "z"), "", NA), function(x) {
      remote <- database(data.frame(r = as.character(x)), connection)
      expect_confide_error(count_reports(remote, m), "domain")
    }, character(1))
    expect_identical(unique(messages), conditionMessage(
      tryCatch(count_reports("z", m), error = identity)
    ))
  })

  test_that(says("takes attributes of any name"), {
    connection <- connect()
    names <- c("total", "reports", "select", "Mixed Case", "n.a", "square", "present")
    frame <- as.data.frame(lapply(names, function(name) text_survey(40)$a))
    names(frame) <- names
    frame$smallest <- text_survey(40)$weight
    m <- mech_lambda(stats::setNames(rep(list(c("x", "y")), length(names)), names), lambda = .5)
    remote <- database(frame, connection)
    expect_same_counts(count_reports(remote, m), count_reports(frame, m))
    expect_same_counts(
      count_reports(remote, m, weights = "smallest"),
      count_reports(frame, m, weights = "smallest")
    )
  })

  test_that(says("reads truth values and whole numbers in the types it has"), {
    connection <- connect()
    m <- mech_rr(c(FALSE, TRUE), 1)
    frame <- data.frame(r = c(TRUE, FALSE, TRUE, TRUE))
    expect_identical(count_reports(database(frame, connection), m)$counts, c("FALSE" = 1, "TRUE" = 3))
    all_true <- database(data.frame(r = c(TRUE, TRUE)), connection)
    expect_identical(count_reports(all_true, m)$counts, c("FALSE" = 0, "TRUE" = 2))
    numbers <- mech_rr(c(10, 20, 100000), 1)
    for (type in c("smallint", "integer", "bigint", "numeric", "double precision", "text")) {
      if (type != "smallint") {
        frame <- data.frame(r = c(10, 100000, 100000))
        expected <- c("10" = 1, "20" = 0, "100000" = 2)
      } else {
        frame <- data.frame(r = c(10, 20, 20))
        expected <- c("10" = 1, "20" = 2, "100000" = 0)
      }
      if (type == "text") frame$r <- format(frame$r, scientific = FALSE, trim = TRUE)
      remote <- database(frame, connection, c(r = type))
      expect_identical(count_reports(remote, numbers)$counts, expected, label = type)
    }
    two <- database(data.frame(r = c(0, 1, 2)), connection)
    expect_confide_error(count_reports(two, m), "domain")
  })

  test_that(says("counts no reports in an empty table"), {
    connection <- connect()
    m <- mech_rr(c("no", "yes"), 1)
    remote <- database(data.frame(r = character()), connection)
    expect_equal(count_reports(remote, m)$n, 0)
    expect_confide_error(estimate(remote, m), "parameter", "at least one report")
    remote <- database(data.frame(r = character(), w = numeric()), connection)
    expect_equal(count_reports(remote, m, weights = "w")$n, 0)
  })
}

test_that("64-bit integers are reports, counts and weights in memory as well", {
  skip_if_not_installed("bit64")
  m <- mech_rr(3, 1)
  frame <- data.frame(r = 1:2)
  frame$r <- bit64::as.integer64(c(1, 3))
  expect_identical(count_reports(frame, m)$counts, c("1" = 1, "2" = 0, "3" = 1))
  sets <- mech_block(6, 1, design = "subset selection(6,2)")
  pairs <- data.frame(a = c(1, 2), b = c(3, 4))
  wide <- pairs
  wide[] <- lapply(pairs, bit64::as.integer64)
  expect_identical(count_reports(wide, sets), count_reports(pairs, sets))
  frame$r <- bit64::as.integer64(c("1", "9007199254740993"))
  expect_confide_error(count_reports(frame, m), "domain")
  frame <- data.frame(r = 1:2, n = 1:2)
  frame$n <- bit64::as.integer64(c("3000000000", "9007199254740991"))
  expect_identical(count_reports(frame, m)$counts, c("1" = 3e9, "2" = 2^53 - 1, "3" = 0))
  frame$n <- bit64::as.integer64(c("1", "9007199254740993"))
  expect_confide_error(count_reports(frame, m), "parameter", "2^53")
})

test_that("PostgreSQL refuses weights that are not finite, and takes large ones", {
  connection <- postgres()
  m <- mech_rr(c("no", "yes"), 1)
  for (bad in c("NaN", "Infinity", "-Infinity")) {
    remote <- database(data.frame(r = c("no", "yes"), w = c(1, 2)), connection)
    execute(connection, sprintf("UPDATE reports SET w = '%s' WHERE r = 'yes'", bad))
    expect_confide_error(
      count_reports(remote, m, weights = "w"), "parameter", "`weights` must be finite"
    )
    expect_confide_error(count_reports(remote, m, count = "w"), "parameter")
  }
  frame <- data.frame(r = c("no", "yes", "yes"), w = c(1e9, 3e15, 1e17))
  remote <- database(frame, connection)
  expect_equal(
    count_reports(remote, m, weights = "w"), count_reports(frame, m, weights = "w"),
    tolerance = 1e-14
  )
})

test_that("PostgreSQL counts tables of other schemas, views and joins", {
  connection <- postgres()
  x <- text_survey()
  m <- ab_mechanism()
  database(x, connection)
  execute(
    connection,
    "DROP SCHEMA IF EXISTS \"Survey 2\" CASCADE", "CREATE SCHEMA \"Survey 2\"",
    "CREATE TABLE \"Survey 2\".\"Reports\" AS SELECT * FROM reports",
    "CREATE VIEW \"Survey 2\".heavy AS SELECT a, b FROM \"Survey 2\".\"Reports\" WHERE weight > 1"
  )
  remote <- function(name) dplyr::tbl(connection, dbplyr::in_schema("Survey 2", name))
  expect_same_estimate(remote("Reports"), x, m)
  expect_same_estimate(remote("heavy"), x[x$weight > 1, ], m)
  query <- dplyr::tbl(connection, dbplyr::sql("SELECT a, b FROM reports WHERE weight <= 1"))
  expect_same_estimate(query, x[x$weight <= 1, ], m)
})

# What the server itself says it sent of the table `reports` since it was last asked.
rows_sent <- function(connection) {
  sent <- DBI::dbGetQuery(connection, paste(
    "SELECT query, calls, rows FROM pg_stat_statements",
    "WHERE query LIKE 'SELECT%reports%' AND query NOT LIKE '%pg_%'"
  ))
  DBI::dbGetQuery(connection, "SELECT count(*) FROM pg_stat_statements_reset()")
  sent
}

test_that("only the distinct reports leave PostgreSQL, by the server's own account", {
  connection <- postgres()
  for (one in layouts) {
    frame <- one$reports
    frame$weight <- seq_len(nrow(frame)) / 1000
    remote <- database(frame, connection)
    distinct <- nrow(unique(one$reports))
    for (weights in list(NULL, "weight")) {
      rows_sent(connection)
      count_reports(
        if (is.null(weights)) dplyr::select(remote, -"weight") else remote, one$mechanism,
        weights = weights
      )
      sent <- rows_sent(connection)
      expect_identical(sum(sent$rows), as.numeric(distinct))
      expect_true(all(grepl("GROUP BY", sent$query[sent$rows > 0])))
    }
  }
})

test_that("the database does the counting, in the SQL of many databases", {
  skip_if_not_installed("dbplyr")
  backends <- list(
    dbplyr::simulate_hive(), dbplyr::simulate_impala(), dbplyr::simulate_postgres(),
    dbplyr::simulate_mssql(),
    dbplyr::simulate_mysql(), dbplyr::simulate_sqlite(), dbplyr::simulate_dbi()
  )
  frame <- data.frame(a = "x", b = "u", weight = 1)
  for (backend in backends) {
    remote <- dbplyr::tbl_lazy(frame, con = backend)
    sql <- as.character(dbplyr::sql_render(database_counts(remote, c("a", "b"), NULL)))
    expect_match(sql, "GROUP BY")
    expect_match(sql, "COUNT", ignore.case = TRUE)
    weighted <- as.character(dbplyr::sql_render(database_counts(remote, "a", "weight")))
    expect_match(weighted, "GROUP BY")
    expect_match(weighted, "SUM(", fixed = TRUE)
  }
})

test_that("a million categories are decoded from counts that PostgreSQL made of ten million", {
  skip_if_not(extended())
  connection <- postgres()
  categories <- 1e6
  n <- 1e7
  m <- mech_block(categories, 2)
  withr::local_seed(4)
  # a tenth of all people hold one of three categories, the others any
  common <- c(5e-2, 3e-2, 2e-2)
  held <- sample(4L, n, TRUE, c(common, 1 - sum(common)))
  spread <- sample(categories, n, TRUE)
  truth <- ifelse(held < 4L, held, spread)
  reports <- as.integer(as_plain(privatize(truth, m)))
  execute(
    connection, "DROP TABLE IF EXISTS reports", "CREATE UNLOGGED TABLE reports (report integer)"
  )
  for (part in split(seq_len(n), rep(1:10, each = n / 10))) {
    DBI::dbWriteTable(
      connection, "reports", data.frame(report = reports[part]),
      row.names = FALSE, append = TRUE
    )
  }
  rows_sent(connection)
  counts <- count_reports(dplyr::tbl(connection, "reports"), m)
  expect_identical(sum(rows_sent(connection)$rows), as.numeric(length(unique(reports))))
  expect_identical(counts$counts, count_reports(reports, m)$counts)
  e <- estimate(counts, m)
  shares <- tabulate(truth, categories) / n
  z <- (unname(coef(e)) - shares) / std_error(e, "privacy")
  expect_lt(max(abs(z)), stats::qnorm(1 - 1e-6 / (2 * categories)))
  expect_lt(abs(stats::sd(z) - 1), 5 / sqrt(2 * categories))
  expect_equal(unname(coef(e)[1:3]), common, tolerance = .1)
})
