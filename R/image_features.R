#' Features of images, without looking at any data
#'
#' Turns grey images into numbers that a linear classifier can use: random filters run over each
#' image, what of their response is positive is averaged over squares, and each image's numbers are
#' centred and scaled to norm 1. Filters come from a public seed, and nothing is taken from the
#' other images, so the features of an image cost no privacy and one image stays one row. No
#' network was trained for this, on any data.
#'
#' @param images (numeric matrix or data frame) One row for each image, its pixels row by row.
#' @param height,width (whole numbers) Of an image, in pixels.
#' @param ... Unused; catches misspelt arguments.
#' @param filters (whole number) How many filters.
#' @param size (whole number) Filters are squares of `size` by `size` pixels.
#' @param pool (whole number) Responses are averaged over squares of `pool` by `pool`; what is left
#'   at the border is dropped.
#' @param seed (whole number) Public. The same seed gives the same filters everywhere, so that
#'   features of new images fit those of the old ones.
#' @returns A numeric matrix with a row of norm 1 for each image and `filters` columns for each
#'   square. An evenly grey image gives zeros, one with a missing or infinite pixel `NaN`.
#' @section Errors:
#' `confide_error_domain` when `images` are not numbers in `height * width` columns;
#' `confide_error_parameter` for other arguments.
#' @references
#' Rahimi, A. and Recht, B. (2008). Weighted sums of random kitchen sinks: replacing minimization
#' with randomization in learning. *NeurIPS* 21.
#' @seealso [private_classifier()]
#' @examples
#' features <- image_features(digits[1:64], 8, 8, size = 3, pool = 2)
#' dim(features)
#' @export
image_features <- function(images, height, width, ..., filters = 32, size = 5, pool = 6,
                           seed = 1) {
  check_dots_empty(...)
  check_required(images, "Give a matrix or data frame with a row for each image.")
  check_required(height, "Give the number of rows of pixels.")
  check_required(width, "Give the number of pixels in a row.")
  bank <- list(
    height = check_whole_number(height, max = 1e4), width = check_whole_number(width, max = 1e4),
    filters = check_whole_number(filters, max = 1e4), size = check_whole_number(size, max = 100),
    pool = check_whole_number(pool, max = 1e4), seed = check_whole_number(seed, min = 0)
  )
  check_filter_fits(bank)
  filtered_images(check_pixels(images, bank$height * bank$width), bank)
}

check_filter_fits <- function(bank, call = rlang::caller_env()) {
  side <- min(bank$height, bank$width)
  if (bank$size + bank$pool - 1 > side) {
    abort_parameter(c(
      "{.arg size} + {.arg pool} - 1 must be at most the smaller side of an image.",
      x = "It is {bank$size + bank$pool - 1}, the side {side}."
    ), call = call)
  }
}

check_pixels <- function(images, pixels, call = rlang::caller_env()) {
  images <- plain_matrix(images)
  if (is.null(images) || ncol(images) != pixels) {
    abort_domain(c(
      "{.arg images} must be a numeric matrix or data frame with a column for each pixel.",
      i = "That is {.arg height} times {.arg width} columns."
    ), call = call)
  }
  images
}
