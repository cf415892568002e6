#' Private sums and counts
#'
#' Releases a sum or a count with noise that hides any one person. Each record is clipped to a norm
#' that is fixed beforehand, rounded to a grid, and added up as whole numbers; the noise is drawn
#' exactly from the discrete Gaussian (`rho`) or discrete Laplace law (`epsilon`) on that grid. So
#' the guarantee holds for the numbers that are really computed, without rounding errors.
#'
#' Rounding is toward zero, by less than one step (`$grid`) a number, two where a row is shortened.
#' A step is at most 2^-24 of the noise, or 2^-29 of `bound` where that is more. A sum of n numbers
#' of one sign thus comes out nearer to 0 by about n / 2 steps: up to a tenth of the noise at 3
#' million rows, more beyond. Where that matters and n is public, add n `$grid` / 2.
#'
#' @param x For `private_sum()` the private values: a numeric vector, or a numeric matrix or data
#'   frame with one row for each person. For `private_count()` a logical vector, one entry for each
#'   person; the number of `TRUE` is released.
#' @param bound (number above 0) Largest Euclidean norm of a row (for a vector: largest absolute
#'   value), in the units of `x`. Longer rows are shortened to it. Choose it without looking at the
#'   data.
#' @param rho,epsilon (number above 0) The privacy parameter; exactly one is given, and there is no
#'   default. `rho`: zero-concentrated differential privacy, Gaussian noise. `epsilon`: pure
#'   differential privacy, Laplace noise; for several columns it pays for the l1 norm,
#'   `sqrt(columns)` times the bound.
#' @param ... Unused; catches misspelt arguments.
#' @param neighbours (string, no default) What the guarantee hides. `"replace"`: the values of one
#'   person, the number of people being public. `"zero_out"`: one person's row against a row of
#'   zeros. `"add_remove"`: whether a person is there at all. For a sum, `"replace"` needs twice the
#'   noise.
#' @param na (`"error"` or `"impute"`) What to do with missing and infinite values: refuse the data
#'   (default), or count each as 0, the middle of its range, before rows are clipped. The release
#'   then says so, whether the data had any or not.
#' @param ledger ([ledger()] or `NULL`) Is charged before the noise is drawn; a release that it
#'   cannot pay for is refused.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @returns A release of class `confide_release`: a list with `$estimate` (named for the columns of
#'   `x`), `$noise_sd` (standard deviation of the noise, the same for each entry), `$law`, `$scale`
#'   (parameter of the law in steps of the grid, as a fraction), `$grid` (the step; every estimate
#'   is a multiple of it), `$kind`, `$bound`, `$na`, `$made_with` (the package's version) and
#'   `$privacy`. It holds nothing else of the data. See [release-methods] for what can be asked of
#'   it.
#' @section Errors:
#' `confide_error_domain` when `x` holds missing or infinite values (unless `na = "impute"`), has
#' more than 2^31 rows or is not of the kind above, with a text that does not depend on the values;
#' `confide_error_parameter` for other arguments;
#' `confide_error_budget` and `confide_error_simulation` as in [ledger()];
#' `confide_error_randomness` when the operating system gives no random numbers. A domain error does
#' tell that the data left the declared domain: show it only to who may see the data.
#' @references
#' Canonne, C. L., Kamath, G. and Steinke, T. (2020). The discrete Gaussian for differential
#' privacy. *NeurIPS* 33. \doi{10.48550/arXiv.2004.00010}
#'
#' Mironov, I. (2012). On significance of the least significant bits for differential privacy.
#' *ACM CCS*. \doi{10.1145/2382196.2382264}
#' @seealso [release-methods], [audit()], [replay_audit()]
#' @examples
#' hours <- c(40, 38, 20, 0, 60)
#' private_sum(hours, bound = 50, rho = 0.5, neighbours = "replace")
#' private_count(hours > 30, epsilon = 1, neighbours = "replace")
#' @export
private_sum <- function(x, bound, rho = NULL, ..., epsilon = NULL, neighbours,
                        na = c("error", "impute"), ledger = NULL, rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(x, "Give the values to sum.")
  check_required(bound, "Give the largest norm that a row may have; choose it without the data.")
  neighbours <- check_neighbours(neighbours)
  na <- check_choice(na, c("error", "impute"))
  rng <- check_rng(rng)
  budget <- check_budget(rho, epsilon)
  query <- list(
    kind = "sum", bound = check_positive(bound), budget = budget$value, law = budget$law,
    neighbours = neighbours, n_max = largest_rows, dimension = count_columns(x)
  )
  plan <- plan_noise(query)
  values <- check_values(x, na)
  statement <- release_statement(query, plan, rng, ledger)
  charge_before_noise(ledger, statement, "private_sum")
  estimate <- release_units(sum_units(values, query), query, rng)
  new_release(stats::setNames(estimate, public_names(x)), query, plan, statement, na)
}

#' @rdname private_sum
#' @export
private_count <- function(x, rho = NULL, ..., epsilon = NULL, neighbours, ledger = NULL,
                          rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(x, "Give a logical vector, such as {.code income > 1000}.")
  neighbours <- check_neighbours(neighbours)
  rng <- check_rng(rng)
  budget <- check_budget(rho, epsilon)
  query <- list(
    kind = "count", bound = 1, budget = budget$value, law = budget$law,
    neighbours = neighbours, n_max = largest_rows, dimension = 1
  )
  plan <- plan_noise(query)
  check_answers(x)
  statement <- release_statement(query, plan, rng, ledger)
  charge_before_noise(ledger, statement, "private_count")
  new_release(release_units(count_units(sum(x)), query, rng), query, plan, statement)
}

# A public limit and not the number of rows, which is private when people may be added or removed.
largest_rows <- 2^31

# The number of columns is part of the public shape of a query.
count_columns <- function(x, call = rlang::caller_env()) {
  columns <- columns_of(x)
  if (length(dim(x)) > 2) {
    abort_domain(sum_domain, call = call)
  }
  if (columns == 0) {
    abort_parameter(c("{.arg x} must have at least one column.", x = "It has none."), call = call)
  }
  as.numeric(columns)
}

columns_of <- function(x) if (length(dim(x)) < 2) 1L else ncol(x)

sum_domain <- c(
  paste(
    "{.arg x} must be a numeric vector, or a numeric matrix or data frame with one row for each",
    "person, all values finite; at most 2^31 rows."
  ),
  i = "With {.code na = \"impute\"} missing and infinite values count as 0."
)

check_values <- function(x, na, call = rlang::caller_env()) {
  columns <- columns_of(x)
  if (is.data.frame(x) && all(vapply(x, is_plain_column, logical(1)))) {
    x <- as.numeric(unlist(x, use.names = FALSE))
  }
  if (length(x) / columns > largest_rows || !is_plain_numbers(x)) {
    abort_domain(sum_domain, call = call)
  }
  finite <- is.finite(x)
  if (na == "error" && !all(finite)) {
    abort_domain(sum_domain, call = call)
  }
  # Entry by entry, so that a person's other values still count.
  matrix(replace(as.numeric(x), !finite, 0), ncol = columns)
}

is_plain_numbers <- function(x) {
  is.numeric(x) && !is.object(x)
}

is_plain_column <- function(x) {
  is_plain_numbers(x) && is.null(dim(x))
}

check_answers <- function(x, call = rlang::caller_env()) {
  plain <- is.logical(x) && !is.object(x) && is.null(dim(x))
  if (plain && length(x) < largest_rows && !anyNA(x)) {
    return(invisible())
  }
  abort_domain(c(
    paste(
      "{.arg x} must be a logical vector without missing values, one entry for each person;",
      "fewer than 2^31 entries."
    ),
    i = "For the number of rows give {.code rep(TRUE, nrow(data))}."
  ), call = call)
}

# Column names are public: they were chosen, not measured. Names of a vector belong to people.
public_names <- function(x) {
  if (length(dim(x)) < 2) NULL else colnames(x)
}

new_release <- function(estimate, query, plan, statement, na = "error") {
  structure(list(
    estimate = estimate,
    noise_sd = plan$noise_sd,
    law = query$law,
    scale = list(numerator = plan$numerator, denominator = plan$denominator),
    grid = plan$grid,
    kind = query$kind,
    bound = query$bound,
    na = na,
    made_with = package_version_text(),
    privacy = statement
  ), class = "confide_release")
}

# What the release will promise; known before the noise is drawn.
release_statement <- function(query, plan, rng, ledger) {
  gaussian <- query$law == "gaussian"
  structure(list(
    definition = paste(
      if (gaussian) "zero-concentrated" else "pure", "differential privacy"
    ),
    rho = if (gaussian) query$budget,
    rho_realised = if (gaussian) plan$realised,
    epsilon = if (!gaussian) query$budget,
    epsilon_realised = if (!gaussian) plan$realised,
    laplace_step = if (!gaussian) plan$denominator / plan$numerator,
    model = "central: the data are seen by whoever computes the release",
    unit = "one row: all values of one person",
    neighbours = query$neighbours,
    noise = paste(
      "exact discrete", if (gaussian) "Gaussian" else "Laplace", "on a power-of-two grid"
    ),
    charged = !is.null(ledger),
    rng = release_source(rng)
  ), class = "confide_privacy")
}
