# What is released may not depend on the locale of the session: order of letters (C: A Z a, English:
# a A b, Turkish: I before i without being its capital), case and decimal signs.

# Runs in a session of its own; what it returns is compared.
released_anywhere <- function() {
  labels <- c("I", "i", "\u0130", "\u0131", "b", "A", "Z", "\u00e9")
  set.seed(1)
  rows <- data.frame(
    Il = factor(sample(labels, 400, TRUE), levels = labels),
    IN = factor(sample(c("i", "I", "a"), 400, TRUE), levels = c("i", "I", "a")),
    y = stats::rnorm(400)
  )
  answers <- rows[1:2]
  one <- confide::mech_rr(labels, epsilon = 1)
  many <- confide::mech_lambda(answers, epsilon = 2)
  block <- confide::mech_block(labels, epsilon = 1)
  collected <- list(
    one = confide::privatize(as.character(rows[[1]]), one, rng = "r"),
    many = confide::privatize(answers, many, rng = "r"),
    block = confide::privatize(rows[[1]], block, rng = "r")
  )
  survey <- cbind(as.data.frame(collected$many), y = rows$y)
  made <- confide::synthesize(answers, rho = 1, neighbours = "replace", rng = "r")
  tested <- confide::mech_spr(
    stats::setNames(c(0.5, 0.3, 0.2), c("i", "I", "a")),
    stats::setNames(c(0.2, 0.3, 0.5), c("i", "I", "a")),
    epsilon = 1
  )
  values <- list(
    lapply(collected, unclass),
    counts = as.vector(confide::count_reports(collected$many, many)$table),
    one = stats::confint(confide::estimate(collected$one, one)),
    both = stats::coef(confide::estimate(collected$many, many, margin = c("Il", "IN"))),
    block = stats::coef(confide::estimate(collected$block, block)),
    cells = confide::estimate_cells(
      collected$many, many, data.frame(Il = c("i", "A"), IN = c("I", "a"))
    ),
    linear = stats::coef(confide::private_lm(y ~ IN, survey, many)),
    model = stats::coef(confide::log_linear_test(collected$many, many, ~ IN + Il)),
    made = stats::simulate(made, 50, seed = 2),
    tested = as.matrix(tested),
    sum = stats::coef(confide::private_sum(
      rows["y"], bound = 5, rho = 1, neighbours = "replace", rng = "r"
    ))
  )
  list(
    collate = sort(c("b", "A", "a", "B")), upper = toupper("i"), values = rlang::hash(values),
    parts = vapply(values, rlang::hash, "")
  )
}

# A Turkish locale, made in a temporary folder: machines rarely have one.
turkish_locale <- function(env = parent.frame()) {
  skip_if(Sys.which("localedef") == "", "there is no localedef")
  folder <- withr::local_tempdir(.local_envir = env)
  made <- system2(
    "localedef", c("-i", "tr_TR", "-f", "UTF-8", shQuote(file.path(folder, "tr_TR.UTF-8"))),
    stdout = FALSE, stderr = FALSE
  )
  skip_if(made > 1, "there is no source of the Turkish locale")
  folder
}

in_locale <- function(locale, folder = NULL) {
  script <- withr::local_tempfile(fileext = ".R")
  task <- withr::local_tempfile(fileext = ".rds")
  answer <- withr::local_tempfile(fileext = ".rds")
  task_function <- released_anywhere
  environment(task_function) <- globalenv()
  saveRDS(task_function, task)
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    sprintf("saveRDS(readRDS(%s)(), %s)", deparse1(task), deparse1(answer))
  ), script)
  status <- system2(
    file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
    stdout = TRUE, stderr = TRUE,
    env = c(paste0("LC_ALL=", locale), if (!is.null(folder)) paste0("LOCPATH=", folder))
  )
  if (!file.exists(answer)) stop(paste(status, collapse = "\n"))
  readRDS(answer)
}

test_that("what is released is the same in every locale", {
  skip_on_cran()
  expected <- in_locale("C.UTF-8")
  plain <- in_locale("C")
  expect_identical(plain$collate, c("A", "B", "a", "b"))
  expect_identical(plain$parts, expected$parts)
  turkish <- in_locale("tr_TR.UTF-8", turkish_locale())
  # that locale is really in use
  expect_identical(turkish$upper, "\u0130")
  expect_identical(turkish$collate, c("a", "A", "b", "B"))
  expect_identical(turkish$parts, expected$parts)
})
