# Plots are checked by their data and labels, not by their pixels.

plotted <- function(plot) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  ggplot2::ggplot_build(plot)
}

test_that("an estimate is drawn with its intervals", {
  e <- estimate(c(never = 500, once = 300, often = 200), mech_rr(c("never", "once", "often"), 2))
  plot <- ggplot2::autoplot(e, level = .9)
  expect_s3_class(plot, "ggplot")
  points <- plotted(plot)$data[[2]]
  limits <- confint(e, level = .9)
  # the first level is drawn at the top
  order <- order(-points$x)
  expect_equal(points$y[order], unname(coef(e)))
  expect_equal(points$ymin[order], unname(limits[, 1]))
  expect_equal(points$ymax[order], unname(limits[, 2]))
  expect_match(plot$labels$caption, "90 % intervals, 1,000 reports")
  expect_match(plot$labels$caption, "epsilon = 2 (a|per) person")
})

test_that("further attributes go to shapes and panels", {
  two <- ggplot2::autoplot(estimate(toy_table(), toy_mechanism(), margin = c("a", "b")))
  expect_identical(nrow(plotted(two)$data[[2]]), 6L)
  expect_length(unique(plotted(two)$data[[2]]$shape), 3)
  three <- ggplot2::autoplot(estimate(toy_table(), toy_mechanism()))
  expect_length(unique(plotted(three)$data[[2]]$PANEL), 2)
})

test_that("attributes may have any name", {
  m <- mech_lambda(list("estimate" = 2, "my level" = 2, "group" = 2), lambda = .9)
  N <- as.table(array(10, c(2, 2, 2), levels(m)))
  expect_identical(nrow(plotted(ggplot2::autoplot(estimate(N, m)))$data[[2]]), 8L)
})

test_that("an estimate with too many cells for a plot is refused with advice", {
  m <- mech_rr(401, 1)
  e <- estimate(stats::setNames(rep(1, 401), 1:401), m)
  expect_confide_error(ggplot2::autoplot(e), "parameter", "at most 400 shares")
  expect_confide_error(ggplot2::autoplot(e, lev = .9), "parameter", "lev")
})

test_that("an estimate from one report is drawn without intervals", {
  expect_s3_class(
    suppressWarnings(plotted(ggplot2::autoplot(estimate("1", mech_rr(2, 1))))), "ggplot_built"
  )
})

test_that("a mechanism is drawn as its channel", {
  m <- mech_rr(c("a", "b", "c"), 1)
  plot <- ggplot2::autoplot(m)
  expect_s3_class(plot, "ggplot")
  expect_identical(nrow(plotted(plot)$data[[1]]), 9L)
  expect_match(plot$labels$caption, "epsilon = 1 (a|per) person")
  expect_s3_class(plotted(ggplot2::autoplot(mech_matrix(matrix(.25, 2, 4)))), "ggplot_built")
  expect_confide_error(ggplot2::autoplot(mech_rr(61, 1)), "parameter", "at most 60 levels")
})

test_that("a lambda mechanism is drawn as epsilon and entropy of its attributes", {
  plot <- ggplot2::autoplot(toy_mechanism())
  data <- plotted(plot)$data[[1]]
  entropy <- mechanism_entropy(toy_mechanism())$share[1:3]
  expect_setequal(round(data$y, 9), round(c(toy_mechanism()$epsilon, 100 * entropy), 9))
  expect_s3_class(
    plotted(ggplot2::autoplot(mech_lambda(list(a = 2, b = 2), lambda = c(1, .5)))), "ggplot_built"
  )
})

test_that("plot draws and returns the plot invisibly", {
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  cases <- list(
    mech_rr(2, 1), toy_mechanism(), estimate(toy_table(), toy_mechanism(), margin = "a")
  )
  for (x in cases) {
    returned <- withVisible(plot(x))
    expect_false(returned$visible)
    expect_s3_class(returned$value, "ggplot")
  }
})
