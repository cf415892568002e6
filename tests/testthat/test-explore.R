# explore(): what its sliders make, without a browser. tests/browser looks at the page.

# Runs what is shown as code, as a person would in a new session.
run_text <- function(code) {
  made <- new.env(parent = globalenv())
  eval(parse(text = paste(code, collapse = "\n")), made)
  made
}

expect_rebuilt <- function(state) {
  steps <- explored_steps(state)
  shown <- run_steps(steps)
  again <- run_text(explored_code(steps))
  testthat::expect_identical(again$mechanism$fingerprint, shown$mechanism$fingerprint)
  testthat::expect_identical(again$mechanism, shown$mechanism)
  testthat::expect_identical(again$plan, shown$plan)
  shown
}

test_that("the code rebuilds exactly the mechanism and the plan that are shown", {
  odd <- c("a \"b\"", "back\\slash", "Übergröße", "new\nline", "{glue} %s", "`tick`")
  domains <- list(
    invented_survey,
    adult[c("education", "sex", "income")],
    list(odd = odd, "a name" = 3, codes = c(1, 2, 5), flag = c(FALSE, TRUE)),
    data.frame(
      grade = factor("b", c("a", "b", "c"), ordered = TRUE), unused = factor("x", c("x", "y"))
    ),
    list(labels = paste("level", 1:200))
  )
  withr::local_seed(1)
  for (levels in domains) {
    domain <- explored_domain(levels)
    for (by in c("epsilon", "lambda")) {
      # numbers that no slider gives, to be hard on the printing
      made <- expect_rebuilt(survey_state(domain, by, stats::runif(length(domain)), 1e5))
      expect_identical(lapply(made$mechanism$alphabets, `[[`, "size"), lapply(domain, `[[`, "size"))
    }
    for (kind in c("rr", "block")) {
      expect_rebuilt(answer_state(kind, domain[[1]], stats::runif(1, 0, 5), 1234))
    }
  }
  expect_rebuilt(mean_state(5L, 0.3, 10000L, "t3"))
})

test_that("the code fits the window", {
  code <- explored_code(explored_steps(survey_state(explored_domain(NULL), "epsilon", 1:3, 1000)))
  expect_identical(code, c(
    "library(confide)",
    "levels <- list(",
    "  smokes = c(\"no\", \"yes\"),",
    "  health = c(\"poor\", \"fair\", \"good\"),",
    "  income = c(\"lowest\", \"low\", \"middle\", \"high\", \"highest\")",
    ")",
    "mechanism <- mech_lambda(levels, epsilon = c(smokes = 1, health = 2, income = 3))",
    "plan <- plan_frequencies(levels, n = 1000, epsilon = mechanism$epsilon)",
    "plan"
  ))
  many <- explored_domain(list(country = paste("country no.", 1:60), sex = c("f", "m")))
  code <- explored_code(explored_steps(survey_state(many, "lambda", c(.5, .5), 1000)))
  expect_lte(max(nchar(code)), 90)
})

test_that("only the levels of a data frame get into the code", {
  secret <- factor(c("b", "b", "a"), c("a", "b", "c"))
  steps <- explored_steps(survey_state(explored_domain(data.frame(secret)), "epsilon", 1, 100))
  expect_identical(eval(steps[[1]][[3]]), list(secret = c("a", "b", "c")))
  ordered <- explored_domain(data.frame(secret = as.ordered(secret)))
  expect_false(anyDuplicated(as.integer(eval(spoken_levels(ordered[[1]])))) > 0)
})

test_that("errors are those of the paper's formula", {
  sizes <- c(smokes = 2, health = 3, income = 5)
  lambda <- c(0.9, 0.5, 0.25)
  n <- 2500
  state <- survey_state(explored_domain(NULL), "lambda", lambda, n)
  table <- explored_table(state, run_steps(explored_steps(state)))
  # Ruiz 2026: n times the relative variance of a cell of the uniform table
  relative <- function(which) sqrt((prod(1 + (sizes[which] - 1) / lambda[which]^2) - 1) / n)
  tables <- list(1, 2, 3, 2:3, 1:3)
  expect_identical(
    table$table, c(names(sizes), "two that are hardest", "all together")
  )
  expected <- vapply(tables, function(which) relative(which) / prod(sizes[which]), numeric(1))
  expect_equal(table$std_error, expected, tolerance = 1e-12)
  epsilons <- log(1 + sizes * lambda / (1 - lambda))
  expect_equal(
    table$epsilon, vapply(tables, function(which) sum(epsilons[which]), numeric(1)),
    tolerance = 1e-12
  )
  # sampling alone: variance p (1 - p) / n, so worth = p (1 - p) / error^2
  share <- 1 / vapply(tables, function(which) prod(sizes[which]), numeric(1))
  worth <- share * (1 - share) / expected^2
  expect_true(all(table$worth > worth * (1 - 1e-9) & table$worth < worth * (1 + 1e-9) + 1))
})

test_that("the guarantee is that of the mechanism", {
  ones <- survey_state(explored_domain(NULL), "epsilon", c(1, 1, 1), 100)
  survey <- explored_guarantee(run_steps(explored_steps(ones)))
  expect_match(survey, "^epsilon = 3 for all answers of a person: .* factor of 20.1$")
  answer <- run_steps(explored_steps(answer_state("rr", new_alphabet(4), log(3), 100)))
  expect_match(explored_guarantee(answer), "^epsilon = 1.099 for the answer: .* factor of 3(.01)?$")
  mean <- run_steps(explored_steps(mean_state(4, 0.5, 5000, "gaussian")))
  # rho + 2 sqrt(rho log(1 / delta)) is an upper bound on the epsilon (Bun and Steinke 2016)
  found <- explored_guarantee(mean)
  expect_match(found, "^rho = 0.5 a row")
  epsilon <- as.numeric(sub(".*epsilon = ([0-9.]+) .*", "\\1", found))
  expect_lt(epsilon, 0.5 + 2 * sqrt(0.5 * log(1e6)))
  expect_gt(epsilon, 0.5)
})

test_that("switching between lambda and epsilon changes nothing but the scale", {
  sizes <- c(a = 2, b = 3, c = 50)
  epsilon <- c(0.1, 1, 7)
  lambda <- switch_scale(epsilon, sizes, "lambda")
  expect_equal(mech_lambda(as.list(sizes), lambda = lambda)$epsilon, c(a = 0.1, b = 1, c = 7))
  expect_equal(switch_scale(lambda, sizes, "epsilon"), c(a = 0.1, b = 1, c = 7))
})

test_that("a table that says little is called so", {
  note <- function(state) explored_note(run_steps(explored_steps(state)))
  few <- survey_state(explored_domain(NULL), "epsilon", c(1, 1, 1), 100)
  expect_match(note(few), "^NOTE: the error of all together is over half of a typical share")
  many <- survey_state(explored_domain(NULL), "epsilon", c(5, 5, 5), 1e6)
  expect_identical(note(many), "")
  expect_match(note(answer_state("rr", new_alphabet(50), 0.1, 10)), "^NOTE: the error is over")
  expect_match(note(mean_state(4, 1, 1e6, "gaussian")), "^NOTE: outliers")
})

test_that("tables are shown with units", {
  state <- survey_state(explored_domain(NULL), "epsilon", c(1, 1, 1), 1000)
  shown <- format_explored(explored_table(state, run_steps(explored_steps(state))))
  expect_identical(shown$table[[5]], "all together")
  expect_identical(shown$cells[[5]], "30")
  expect_match(shown[["standard error"]], "^[0-9.]+ %$")
  expect_identical(shown$lambda[4:5], c("", ""))
  block <- answer_state("block", new_alphabet(100), 1, 1000)
  shown <- format_explored(explored_table(block, run_steps(explored_steps(block))))
  expect_null(shown$lambda)
})

test_that("wrong arguments and missing packages are refused before anything is shown", {
  expect_confide_error(explore(list(2, 3)), "parameter", "needs a name")
  expect_confide_error(explore(list(a = "one")), "parameter", "at least two categories")
  expect_confide_error(explore(data.frame(age = 1:3)), "parameter", "must be a factor")
  expect_confide_error(explore(n = 0), "parameter", "whole number")
  expect_confide_error(explore(viewer = "pane"), "parameter", "must be a function")
  expect_confide_error(explore(level = 2), "parameter", "Unused")
  local_replacement("is_there", function(package) FALSE)
  expect_confide_error(
    explore(), "parameter",
    c("Packages shiny and miniUI must be installed to show the sliders", "install.packages")
  )
})

skip_if_not_installed("shiny")

test_that("the server shows what the sliders say", {
  domain <- explored_domain(NULL)
  shiny::testServer(explore_server(domain), {
    session$setInputs(
      page = "survey", by = "epsilon", survey_n = 1000L, epsilon_1 = 1, epsilon_2 = 0.5,
      epsilon_3 = 2
    )
    expect_match(output$guarantee, "epsilon = 3.5 for all answers")
    expect_match(output$code, "epsilon = c(smokes = 1, health = 0.5, income = 2)", fixed = TRUE)
    expect_match(output$errors, "all together")
    expect_identical(made()$mechanism$epsilon, c(smokes = 1, health = 0.5, income = 2))
    session$setInputs(epsilon_3 = 4)
    expect_match(output$guarantee, "epsilon = 5.5 for all answers")
    session$setInputs(by = "lambda", lambda_1 = 0.9, lambda_2 = 0.8, lambda_3 = 0.7)
    expect_match(output$code, "lambda = c(smokes = 0.9, health = 0.8, income = 0.7)", fixed = TRUE)
  })
})

test_that("the server serves each page, and says what is wrong with a field", {
  shiny::testServer(explore_server(explored_domain(c("no", "yes"))), {
    session$setInputs(
      page = "answer", kind = "rr", attribute = "answer", size = 50L, answer_n = 1000L,
      answer_epsilon = 1
    )
    expect_match(output$code, "mech_rr(levels, epsilon = 1)", fixed = TRUE)
    session$setInputs(kind = "block", attribute = own_size)
    expect_match(output$code, "levels <- 50\n", fixed = TRUE)
    expect_s3_class(made()$mechanism, "confide_block")
    session$setInputs(size = 1L)
    expect_error(output$code, "at least two categories")
    session$setInputs(size = NA)
    expect_error(output$guarantee, class = "shiny.silent.error")
    expect_error(output$code, class = "shiny.silent.error")
    session$setInputs(
      page = "mean", columns = 5L, rows = 5000L, rho = 0.5, distribution = "gaussian"
    )
    expect_match(output$guarantee, "rho = 0.5 a row")
    expect_match(output$note, "^NOTE")
    session$setInputs(rows = 0L)
    expect_error(output$errors, "one whole number")
  })
})

test_that("the window has a control for each attribute", {
  skip_if_not_installed("miniUI")
  page <- as.character(explore_ui(explored_domain(adult[c("sex", "income")]), 1000))
  for (id in c("epsilon_1", "epsilon_2", "lambda_1", "lambda_2", "answer_epsilon", "rho", "code")) {
    expect_match(page, sprintf("id=\"%s\"", id), fixed = TRUE)
  }
  expect_s3_class(explore_app(explored_domain(NULL), 1000), "shiny.appobj")
})
