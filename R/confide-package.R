#' confide: statistics under differential privacy
#'
#' Design, apply, analyse and audit private mechanisms. Data flow one way: a mechanism
#' ([mech_lambda()], [mech_block()], [mech_spr()], [mech_rr()], [mech_matrix()]) turns true answers
#' into reports ([privatize()]), reports become counts ([count_reports()]), counts become estimates
#' ([estimate()]) or tests ([private_test()]). Where the data are already in one place,
#' [private_sum()], [private_mean()], [synthesize()] and [accuracy_first()] release results with
#' noise, and a [ledger()] keeps account.
#' Every object can state its guarantee ([privacy()]) and be checked against it ([audit()]).
#'
#' [confide-map] leads from your question to the function, its vignette and the paper;
#' `vignette("which-mechanism")` compares the mechanisms. The words are explained in [glossary].
#'
#' @inheritSection privacy What is promised
#' @keywords internal
#' @useDynLib confide, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom rlang .data
#' @importFrom stats coef confint nobs simulate update vcov predict logLik
#' @importFrom generics augment glance tidy
"_PACKAGE"

#' @export
generics::tidy

#' @export
generics::glance

#' @export
generics::augment

.onUnload <- function(libpath) { # nolint: object_name_linter. The name is R's.
  library.dynam.unload("confide", libpath)
}
