# Fixed random features of images.

images <- function(n, pixels = 64, seed = 1) {
  withr::with_seed(seed, matrix(sample(0:16, n * pixels, TRUE), n))
}

test_that("features are centred, of norm 1 and the same whoever else is there", {
  x <- images(20)
  features <- image_features(x, 8, 8, size = 3, pool = 2)
  # 6 by 6 responses, means over 2 by 2, 32 filters
  expect_identical(dim(features), c(20L, 288L))
  expect_equal(rowMeans(features), rep(0, 20))
  expect_equal(rowSums(features^2), rep(1, 20))
  expect_identical(features[7:9, ], image_features(x[7:9, ], 8, 8, size = 3, pool = 2))
  expect_identical(features, image_features(as.data.frame(x), 8, 8, size = 3, pool = 2))
})

test_that("features do not depend on R's generator, on contrast or on brightness", {
  x <- images(5)
  withr::local_seed(3)
  before <- random_state()
  features <- image_features(x, 8, 8, size = 3, pool = 3)
  expect_identical(random_state(), before)
  expect_equal(image_features(3 * x + 100, 8, 8, size = 3, pool = 3), features)
  expect_false(identical(image_features(x, 8, 8, size = 3, pool = 3, seed = 2), features))
})

test_that("even images give zeros, broken ones NaN and no images no rows", {
  x <- rbind(rep(9, 64), images(1), rep(0, 64))
  x[2, 5] <- NA
  features <- image_features(x, 8, 8, size = 3, pool = 2)
  expect_identical(features[1, ], numeric(288))
  expect_identical(features[3, ], numeric(288))
  expect_true(all(is.nan(features[2, ])))
  expect_identical(dim(image_features(x[0, ], 8, 8, size = 3, pool = 2)), c(0L, 288L))
})

test_that("bad images and settings are refused", {
  x <- images(2)
  expect_confide_error(image_features(), "parameter", "images")
  expect_confide_error(image_features(x), "parameter", "height")
  for (bad in list(x[, 1:63], as.list(x), matrix("a", 2, 64), 1:64, digits)) {
    expect_confide_error(image_features(bad, 8, 8, size = 3, pool = 2), "domain", "each pixel")
  }
  expect_confide_error(image_features(x, 8, 8), "parameter", "smaller side")
  expect_confide_error(image_features(x, 8, 8, size = 3, pool = 7), "parameter", "It is 9")
  expect_confide_error(image_features(x, 8, 8, filters = 0), "parameter", "filters")
  expect_confide_error(image_features(x, 8, 8, seed = -1), "parameter", "seed")
  expect_confide_error(image_features(x, 8, 8, filter = 3), "parameter", "filter")
})
