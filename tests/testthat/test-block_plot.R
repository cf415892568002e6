test_that("comparisons hold the published example", {
  rows <- block_comparison(100, epsilon = 1)
  expect_identical(levels(rows$scheme), as.character(rows$scheme))
  by <- function(scheme, column) rows[[column]][rows$scheme == scheme]
  expect_equal(by("block design", "risk"), 362.1655552155, tolerance = 1e-10)
  expect_equal(by("subset selection", "risk"), 360.9434851841, tolerance = 1e-10)
  expect_equal(by("Hadamard response", "risk"), 468.2594376831, tolerance = 1e-10)
  expect_equal(by("projective geometry response", "excess"), 0.04984, tolerance = 1e-3)
  expect_equal(by("randomized response", "risk"), 3469.3, tolerance = 1e-4)
  expect_equal(by("block design", "bits"), 6.658, tolerance = 1e-4)
  expect_prints_small(rows)
})

test_that("lists of designs are a Pareto front, and plots can be drawn", {
  front <- block_designs(100, 1)
  alone <- front[!startsWith(front$family, "shared"), ]
  expect_true(all(diff(alone$bits) >= 0) && all(diff(alone$risk) < 0))
  all_rows <- block_designs(100, 1, all = TRUE)
  expect_true(all(alone$family %in% all_rows$family))
  expect_true(all(block_designs(100, 1, max_bits = 7)$bits <= 7))
  expect_prints_small(front)
  for (object in list(
    front, all_rows, block_comparison(50, epsilon = c(1, 2)), mech_block(13, 1)
  )) {
    plot <- ggplot2::autoplot(object)
    expect_s3_class(plot, "ggplot")
    expect_no_error(ggplot2::ggplot_build(plot))
  }
  expect_confide_error(ggplot2::autoplot(mech_block(1000, 1)), "parameter", "128")
  attr(front, "confide") <- NULL
  expect_confide_error(ggplot2::autoplot(front), "parameter", "whole")
})

test_that("a single epsilon and a single design are drawn without a message", {
  for (object in list(block_comparison(13, epsilon = 1), block_designs(13, epsilon = 1))) {
    expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(object)))
    expect_silent(ggplot2::ggplotGrob(ggplot2::autoplot(object)))
  }
})
