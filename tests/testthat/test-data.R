# The expected numbers come from UCI's descriptions of the two data sets (adult.names and
# optdigits.names) and from published analyses of them, named where they are used.

pixels <- paste0("pixel_", 1:64)

test_that("adult holds the training rows and then the test rows of UCI", {
  expect_identical(dim(adult), c(48842L, 16L))
  expect_identical(as.character(adult$set), rep(c("train", "test"), c(32561, 16281)))
  expect_identical(levels(adult$set), c("train", "test"))
})

test_that("adult has the columns of UCI under names in snake case", {
  expect_named(adult, c(
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income", "set"
  ))
})

test_that("adult marks unknown values as NA and in no other way", {
  missing_values <- colSums(is.na(adult))
  expect_identical(
    missing_values[missing_values > 0],
    c(workclass = 2799, occupation = 2809, native_country = 857)
  )
  expect_false(any(c("Unknown", "?", "") %in% unlist(lapply(adult, levels))))
})

test_that("adult has as many complete rows as UCI reports for each file", {
  complete <- table(adult$set[complete.cases(adult)])
  expect_identical(c(complete), c(train = 30162L, test = 15060L))
})

test_that("adult has the levels that UCI lists, each of them in use", {
  categories <- Filter(is.factor, adult)
  expect_identical(
    lengths(lapply(categories, levels)),
    c(
      workclass = 8L, education = 16L, marital_status = 7L, occupation = 14L, relationship = 6L,
      race = 5L, sex = 2L, native_country = 41L, income = 2L, set = 2L
    )
  )
  for (category in categories) expect_true(all(table(category) > 0))
})

test_that("adult has the income split of UCI, with and without the incomplete rows", {
  expect_identical(c(table(adult$income)), c("<=50K" = 37155L, ">50K" = 11687L))
  # adult.names gives 24.78 % of the complete rows, rounded to two digits.
  rich <- mean(adult$income[complete.cases(adult)] == ">50K")
  expect_equal(100 * rich, 24.78, tolerance = 0.005 / 24.78)
})

test_that("education in adult is ordered as education_num is", {
  expect_true(is.ordered(adult$education))
  expect_identical(as.integer(adult$education), adult$education_num)
  expect_true("HS-grad" < max(adult$education))
  expect_identical(as.character(range(adult$education)), c("Preschool", "Doctorate"))
})

test_that("the numeric columns of adult are integers with the published means", {
  # Published to six decimals (fnlwgt to six digits) in many analyses of the joined files.
  numbers <- Filter(is.integer, adult)
  means <- c(
    age = 38.643585, fnlwgt = 189664, education_num = 10.078089, capital_gain = 1079.067626,
    capital_loss = 87.502314, hours_per_week = 40.422382
  )
  expect_named(numbers, names(means))
  rounding <- ifelse(names(means) == "fnlwgt", 50, 5e-7)
  expect_true(all(abs(colMeans(numbers) - means) <= rounding))
})

test_that("adult keeps the values of a row together", {
  # The first line of adult.data and of adult.test.
  first <- vapply(adult[c(1, 32562), ], as.character, character(2))
  expect_identical(unname(first[1, ]), c(
    "39", "State-gov", "77516", "Bachelors", "13", "Never-married", "Adm-clerical",
    "Not-in-family", "White", "Male", "2174", "0", "40", "United-States", "<=50K", "train"
  ))
  expect_identical(unname(first[2, ]), c(
    "25", "Private", "226802", "11th", "7", "Never-married", "Machine-op-inspct",
    "Own-child", "Black", "Male", "0", "0", "40", "United-States", "<=50K", "test"
  ))
})

test_that("digits holds 64 integer pixels from 0 to 16 and a label for each image", {
  expect_identical(dim(digits), c(1797L, 65L))
  expect_named(digits, c(pixels, "label"))
  expect_true(all(vapply(digits[pixels], is.integer, NA)))
  expect_identical(range(digits[pixels]), c(0L, 16L))
  expect_false(anyNA(digits))
})

test_that("digits has the number of images per class that UCI reports", {
  expect_identical(
    c(table(digits$label)),
    c(
      "0" = 178L, "1" = 182L, "2" = 177L, "3" = 183L, "4" = 181L, "5" = 182L, "6" = 181L,
      "7" = 179L, "8" = 174L, "9" = 180L
    )
  )
})

test_that("the first image of digits is the zero shown in scikit-learn's documentation", {
  zero <- c(
    0, 0, 5, 13, 9, 1, 0, 0,
    0, 0, 13, 15, 10, 15, 5, 0,
    0, 3, 15, 2, 0, 11, 8, 0,
    0, 4, 12, 0, 0, 8, 8, 0,
    0, 5, 8, 0, 0, 9, 8, 0,
    0, 4, 11, 0, 1, 12, 7, 0,
    0, 2, 14, 5, 10, 12, 0, 0,
    0, 0, 6, 13, 10, 0, 0, 0
  )
  expect_equal(unlist(digits[1, pixels], use.names = FALSE), zero)
  expect_identical(as.character(digits$label[1]), "0")
})

test_that("digits keeps the labels in the order of scikit-learn's copy", {
  # Its documentation prints the first ten labels and the last three.
  expect_identical(as.character(digits$label[1:10]), as.character(0:9))
  expect_identical(as.character(digits$label[1795:1797]), c("8", "9", "8"))
})

test_that("digits has the principal components published for it", {
  # scikit-learn's documentation prints the shares of variance to eight digits.
  variances <- prcomp(digits[pixels])$sdev^2
  shares <- variances[1:3] / sum(variances)
  expect_true(all(abs(shares - c(0.14890594, 0.13618771, 0.11794594)) <= 5e-9))
})
