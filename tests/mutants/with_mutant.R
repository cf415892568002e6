# Runs one file of tests up to the first failure, with what a mutated source file defines in the
# place of what the installed package has. Arguments: the mutated file, the file of tests.
arguments <- commandArgs(trailingOnly = TRUE)
namespace <- asNamespace("confide")
methods <- namespace[[".__S3MethodsTable__."]]

mutant <- new.env(parent = namespace)
sys.source(arguments[[1]], mutant, keep.source = TRUE)
for (name in ls(mutant, all.names = TRUE)) {
  value <- mutant[[name]]
  if (is.function(value)) environment(value) <- namespace
  unlockBinding(name, namespace)
  assign(name, value, namespace)
  if (exists(name, methods, inherits = FALSE)) assign(name, value, methods)
}

stopper <- R6::R6Class("stopper",
  inherit = testthat::Reporter,
  public = list(
    add_result = function(context, test, result) {
      if (inherits(result, c("expectation_failure", "expectation_error"))) {
        cat("FAILED", if (is.null(test)) "outside of any test" else test, "\n")
        message(conditionMessage(result))
        quit(status = 1)
      }
    }
  )
)
testthat::test_file(arguments[[2]],
  package = "confide", load_package = "installed", reporter = stopper$new()
)
