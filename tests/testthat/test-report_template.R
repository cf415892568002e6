# The R Markdown template "Private report", as File > New File > R Markdown uses it.

template <- function(...) {
  system.file("rmarkdown", "templates", "private-report", ..., package = "confide")
}

rendered_lines <- function(file, frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  env <- new.env(parent = globalenv())
  html <- rmarkdown::render(file, output_dir = folder, envir = env, quiet = TRUE)
  list(text = paste(readLines(html), collapse = "\n"), env = env)
}

test_that("a report drafted from the template renders and states what it must", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not installed")
  draft <- withr::local_tempfile(fileext = ".Rmd")
  rmarkdown::draft(draft, "private-report", package = "confide", edit = FALSE)
  report <- rendered_lines(draft)
  text <- flatten_text(gsub("base64,[^\"]+", "base64,", report$text))
  for (needed in c(
    # guarantee, source of the noise, what was spent, intervals, plot, style
    "pure local differential privacy, epsilon = 4.5", "rho = 0.1", "operating system",
    "randomized answers", "the claim holds", "95 % interval", "<img src=\"data:image/png;base64",
    "max-width: 46rem"
  )) {
    expect_match(text, needed, fixed = TRUE)
  }
  expect_no_match(text, "Error in|NOT PRIVATE")
  # the ledger holds both releases, and the shares are near those of the public data
  expect_identical(nrow(as.data.frame(report$env$budget)), 2L)
  expect_identical(privacy(report$env$reports)$rng, "os")
  sex <- report$env$shares$sex
  truth <- as.vector(prop.table(table(adult$sex)))
  # randomness of the operating system: beyond 5.3 errors once in 1e7
  expect_true(all(abs(coef(sex) - truth) < 5.3 * sex$std_error))
})

test_that("the template is listed under its name", {
  yaml <- readLines(template("template.yaml"))
  expect_identical(yaml[[1]], "name: Private report")
  expect_true(file.exists(template("skeleton", "skeleton.Rmd")))
})
