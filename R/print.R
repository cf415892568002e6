# Printing of what is shown as its format() says. Methods with more to do stand with their classes.

print_format <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

# The title alone: str() of a release shows no more than is released.
str_format <- function(object, ...) cat(format(object)[[1]], "\n")

#' @export
print.confide_above_threshold <- print_format

#' @export
print.confide_accuracy_first <- print_format

#' @export
print.confide_audit <- print_format

#' @export
print.confide_balloon_control <- print_format

#' @export
print.confide_birkhoff <- print_format

#' @export
print.confide_brownian <- print_format

#' @export
print.confide_composite <- print_format

#' @export
print.confide_laplace_path <- print_format

#' @export
print.confide_ledger <- print_format

#' @export
print.confide_mean_plan <- print_format

#' @export
print.confide_mechanism <- print_format

#' @export
print.confide_plan <- print_format

#' @export
print.confide_privacy <- print_format

#' @export
print.confide_replay_audit <- print_format

#' @export
print.confide_synthetic <- print_format

#' @export
str.confide_above_threshold <- str_format

#' @export
str.confide_accuracy_first <- str_format

#' @export
str.confide_brownian <- str_format

#' @export
str.confide_laplace_path <- str_format

#' @export
str.confide_ledger <- str_format

#' @export
str.confide_synthetic <- str_format
