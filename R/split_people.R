#' Divide people into two parts
#'
#' For [accuracy_first()]: people to learn from and people to check on, divided so that a neighbour
#' changes one part only. With `"add_remove"` neighbours each person goes to a part by a coin of
#' their own: with a shuffled list cut at 80 percent, one more person would move others across the
#' cut. With `"replace"` and `"zero_out"` the rows of each part are drawn once, whatever they hold.
#'
#' @param data (data frame, matrix or vector) One row or entry for each person.
#' @param validation (number in (0, 1)) The share of people to check on; with coins, on average.
#' @param neighbours (string, no default) As in [private_sum()].
#' @param ... Unused; catches misspelt arguments.
#' @param rng (`"os"` or `"r"`) Where coins and rows come from. `"r"` is for simulations: with a
#'   fixed seed one person more moves many others, so [accuracy_first()] takes such parts only with
#'   `rng = "r"` itself.
#' @returns A list with `$train` and `$validation`, of the kind of `data`. Both are private.
#' @section Errors:
#' `confide_error_domain` for data that are no data frame, matrix or vector;
#' `confide_error_parameter` for other arguments; `confide_error_randomness` when the operating
#' system gives no random numbers.
#' @examples
#' parts <- split_people(adult, validation = 0.2, neighbours = "add_remove")
#' vapply(parts, nrow, 1L)
#' @export
split_people <- function(data, validation, neighbours, ..., rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(data, "Give the people.")
  check_required(validation, "Give the share to check on, such as 0.2.")
  neighbours <- check_neighbours(neighbours)
  rng <- check_rng(rng)
  validation <- check_number(validation, "between 0 and 1", function(x) x > 0 && x < 1)
  check_people(data)
  table <- length(dim(data)) == 2
  people <- if (table) nrow(data) else length(data)
  uniform <- tryCatch(
    uniform_numbers(people, rng),
    "confide::RandomnessError" = function(error) abort_randomness(environment())
  )
  chosen <- if (neighbours == "add_remove") {
    uniform < validation
  } else {
    rank(uniform, ties.method = "first") <= round(validation * people)
  }
  parts <- if (table) {
    list(train = data[!chosen, , drop = FALSE], validation = data[chosen, , drop = FALSE])
  } else {
    list(train = data[!chosen], validation = data[chosen])
  }
  if (rng == "os") parts else lapply(parts, structure, split_rng = rng)
}

check_people <- function(data, call = rlang::caller_env()) {
  vector <- is.null(dim(data)) && !is.null(data) &&
    (is.atomic(data) || (is.list(data) && !is.object(data)))
  if (!is.data.frame(data) && !is.matrix(data) && !vector) {
    abort_domain(c(
      "{.arg data} must be a data frame, a matrix or a vector.",
      i = "With a row or an entry for each person."
    ), call = call)
  }
}
