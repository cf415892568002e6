# Checks that several files share.

extended <- function() identical(Sys.getenv("CONFIDE_EXTENDED_TESTS"), "true")

random_state <- function() {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) {
    stats::runif(1)
  }
  get(".Random.seed", envir = globalenv(), inherits = FALSE)
}

# An error of the house: both classes, no warning before it, no randomness drawn. Returns the
# message.
expect_confide_error <- function(code, kind, says = NULL) {
  before <- random_state()
  warned <- FALSE
  error <- withCallingHandlers(
    tryCatch(
      {
        code
        NULL
      },
      error = identity
    ),
    warning = function(warning) {
      warned <<- TRUE
      invokeRestart("muffleWarning")
    }
  )
  classes <- c(paste0("confide_error_", kind), "confide_error", "error", "condition")
  testthat::expect_identical(intersect(classes, class(error)), classes)
  testthat::expect_false(warned)
  testthat::expect_identical(random_state(), before)
  message <- if (is.null(error)) "" else conditionMessage(error)
  for (text in says) {
    testthat::expect_match(flatten_text(message), text, fixed = TRUE)
  }
  invisible(message)
}

# cli may break lines anywhere.
flatten_text <- function(x) gsub("[[:space:]]+", " ", paste(x, collapse = " "))

# Each of the inputs is refused as private data outside the domain, with one text for all of them.
# rng = "r" shows that
# nothing was drawn.
expect_same_domain_error <- function(inputs, mechanism, says = NULL) {
  messages <- vapply(inputs, function(x) {
    expect_confide_error(privatize(x, mechanism, rng = "r"), "domain", says)
  }, character(1))
  testthat::expect_length(unique(unname(messages)), 1)
}

expect_prints_small <- function(x) {
  old <- options(width = 80)
  on.exit(options(old))
  lines <- utils::capture.output(returned <- withVisible(print(x)))
  testthat::expect_lte(length(lines), 12)
  testthat::expect_lte(max(nchar(lines, "width")), 80)
  testthat::expect_false(returned$visible)
  testthat::expect_identical(returned$value, x)
}

expect_holds_no <- function(marker, object) {
  bytes <- serialize(object, NULL, ascii = FALSE)
  testthat::expect_length(grepRaw(charToRaw(marker), bytes, fixed = TRUE), 0)
}

# The largest absolute difference, for comparisons with published decimals.
expect_close <- function(object, expected, within = 1e-11) {
  testthat::expect_identical(length(object), length(expected))
  testthat::expect_lte(max(abs(as.vector(object) - as.vector(expected))), within)
}

# The report's code, without the labels of a huge alphabet.
privatize_codes <- function(mechanism, codes) {
  randomize(mechanism, as.integer(codes), "os")
}

# A test of fit that needs nothing but the mechanism.
private_test_uniform <- function(x, mechanism) {
  k <- length(levels(mechanism))
  private_test(x, mechanism, p = rep(1 / k, k))
}

# What happens to a long computation when Ctrl-C comes after some seconds: "finished" if it went on
# to its end. Either way the signal is over when this returns.
interrupted_after <- function(seconds, code) {
  system2(
    "sh", c("-c", shQuote(sprintf("sleep %g; kill -INT %d", seconds, Sys.getpid()))), wait = FALSE
  )
  outcome <- "interrupted"
  tryCatch(
    {
      force(code)
      outcome <- "finished"
      Sys.sleep(seconds + 10)
    },
    interrupt = function(condition) NULL
  )
  outcome
}

# Puts another function in the place of one of the package's for the rest of a test.
local_replacement <- function(name, value, frame = parent.frame()) {
  namespace <- asNamespace("confide")
  original <- get(name, envir = namespace)
  put <- function(value) {
    unlockBinding(name, namespace)
    assign(name, value, envir = namespace)
    lockBinding(name, namespace)
  }
  put(value)
  withr::defer(put(original), envir = frame)
}

expect_same_estimate <- function(x, y, mechanism) {
  first <- estimate(x, mechanism)
  second <- estimate(y, mechanism)
  testthat::expect_equal(coef(first), coef(second), tolerance = 1e-13)
  testthat::expect_equal(vcov(first), vcov(second), tolerance = 1e-12)
  testthat::expect_equal(first$std_error, second$std_error, tolerance = 1e-12)
  testthat::expect_equal(nobs(first), nobs(second))
}
