# explore() as a person sees it.

library(confide)

# The app in an R process of its own; it prints the address and, at the end, the code.
local_app <- function(arguments = "", frame = parent.frame()) {
  code <- sprintf(
    "options(shiny.port = %d, shiny.host = '127.0.0.1')
     confide::explore(%sviewer = function(url) writeLines(paste('address', url)))",
    free_port(), arguments
  )
  app <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("-e", code),
    stdout = "|", stderr = "|", cleanup_tree = TRUE
  )
  withr::defer(app$kill_tree(), envir = frame)
  list(process = app, address = sub("address ", "", wait_for_line(app, "address http")))
}

screenshot <- function(browser, name) {
  save_screenshot(browser, file.path("..", "..", "build", "browser", paste0(name, ".png")))
}

run_code <- function(text) {
  made <- new.env(parent = globalenv())
  eval(parse(text = text), made)
  made
}

number_in <- function(text, pattern) {
  as.numeric(gsub(",", "", regmatches(text, regexec(pattern, text))[[1]][[2]]))
}

shown_epsilon <- function(guarantee) number_in(guarantee, "epsilon = ([0-9.]+)")

# "1.44 %" in the row of the table of errors, without the "%".
shown_error <- function(table, row) {
  number_in(table, paste0(row, " [^\n]* ([0-9.]+) % [0-9,]+(\n|$)"))
}

test_that("moving sliders changes the guarantee, the errors and the code together", {
  app <- local_app()
  browser <- local_browser()
  open_page(browser, app$address)
  first <- wait_for_text(browser, "#guarantee", nzchar)
  expect_equal(shown_epsilon(first), 3)
  error <- shown_error(read_text(browser, "#errors"), "income")

  drag_slider(browser, "epsilon_3", 80)
  second <- wait_for_text(browser, "#guarantee", function(text) nzchar(text) && text != first)
  expect_gt(shown_epsilon(second), 3)
  made <- run_code(wait_for_text(browser, "#code", function(text) !grepl("income = 1)", text)))
  expect_equal(epsilon(made$mechanism), shown_epsilon(second))
  expect_gt(made$mechanism$epsilon[["income"]], 1)
  expect_identical(unname(made$mechanism$epsilon[1:2]), c(1, 1))
  # less privacy for income, less error of income
  expect_lt(shown_error(read_text(browser, "#errors"), "income"), error)
  screenshot(browser, "epsilon")

  click(browser, "input[name='by'][value='lambda']")
  # the sliders are carried over, rounded to hundredths of lambda
  third <- wait_for_text(browser, "#code", function(text) {
    grepl("lambda = c(", text, fixed = TRUE) &&
      abs(epsilon(run_code(text)$mechanism) - shown_epsilon(second)) < 0.1
  })
  made <- run_code(third)
  drag_slider(browser, "lambda_1", -60)
  fourth <- wait_for_text(browser, "#code", function(text) nzchar(text) && text != third)
  expect_lt(run_code(fourth)$mechanism$lambda[["smokes"]], made$mechanism$lambda[["smokes"]])
  screenshot(browser, "lambda")

  click(browser, "#done")
  printed <- wait_for_line(app$process, "mechanism <-")
  expect_true(printed %in% strsplit(fourth, "\n")[[1]])
})

test_that("one attribute and a mean have pages of their own", {
  app <- local_app("c('never', 'once', 'often'), n = 5000, ")
  browser <- local_browser()
  open_page(browser, app$address)
  wait_for_text(browser, "#code", function(text) grepl("mech_rr", text))
  drag_slider(browser, "answer_epsilon", 60)
  code <- wait_for_text(browser, "#code", function(text) {
    nzchar(text) && !grepl("epsilon = 1)", text, fixed = TRUE)
  })
  made <- run_code(code)
  expect_identical(levels(made$mechanism), c("never", "once", "often"))
  expect_identical(made$plan$n, 5000)
  wait_for_text(browser, "#guarantee", function(text) {
    grepl(paste("epsilon =", epsilon(made$mechanism)), text, fixed = TRUE)
  })
  click(browser, "input[name='kind'][value='block']")
  block <- wait_for_text(browser, "#code", function(text) grepl("mech_block", text))
  expect_s3_class(run_code(block)$mechanism, "confide_block")
  screenshot(browser, "answer")

  click(browser, "a[data-value='mean']")
  before <- wait_for_text(browser, "#guarantee", function(text) grepl("rho = 0.5", text))
  drag_slider(browser, "rho", -50)
  after <- wait_for_text(browser, "#guarantee", function(text) nzchar(text) && text != before)
  rho <- number_in(after, "rho = ([0-9.]+)")
  code <- wait_for_text(browser, "#code", function(text) grepl(paste("rho =", rho), text))
  expect_identical(run_code(code)$plan$rho, rho)
  expect_lt(rho, 0.5)
  type(browser, "#rows", "0")
  wait_for_text(browser, "#guarantee", function(text) grepl("It is double 0", text))
  expect_identical(read_text(browser, "#code"), "")
  screenshot(browser, "mean")
  expect_true(app$process$is_alive())

  click(browser, "#cancel")
  app$process$wait(20000)
  expect_identical(app$process$get_exit_status(), 0L)
})
