# The catalogue of nasty values against every exported function and method. What must hold: a call
# returns a whole value or a classed error of the package, within seconds; an error shows nothing
# private, drew nothing, charged nothing and left the session as it was.

# A place where plots and files of odd names leave nothing behind, and the objects of the calls.
local_objects <- function(frame = parent.frame()) {
  withr::local_dir(withr::local_tempdir(.local_envir = frame), .local_envir = frame)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off(), envir = frame)
  if (is.null(made$objects)) {
    made$objects <- list2env(nasty_objects(), parent = environment(local_objects))
  }
  made$objects
}

made <- new.env() # once for all tests: it takes seconds

# Faults as lines "function, argument, item: what"; none is what a test expects.
expect_no_fault <- function(faults) {
  testthat::expect(
    length(faults) == 0,
    paste(c(
      sprintf("%d faults. The first:", length(faults)), utils::head(unique(faults), 20)
    ), collapse = "\n")
  )
}

describe_faults <- function(outcome, ...) {
  if (outcome$kind == "fault") paste0(paste(..., sep = ", "), ": ", outcome$faults)
}

test_that("every item of the catalogue has values, or a test of its own", {
  with_values <- names(Filter(length, nasty_values()))
  numbers <- c(sub(" .*", "", with_values), names(nasty_scenarios))
  expect_setequal(numbers, as.character(1:100))
  for (where in nasty_scenarios) {
    parts <- strsplit(where, ": ", fixed = TRUE)[[1]]
    titles <- grep("test_that", readLines(test_path(paste0(parts[[1]], ".R"))), value = TRUE)
    expect_true(any(grepl(parts[[2]], titles)), label = where)
  }
})

test_that("every exported function has a valid call in the table", {
  functions <- Filter(
    function(name) is.function(getExportedValue("confide", name)), getNamespaceExports("confide")
  )
  forgotten <- setdiff(functions, c(function_of(names(nasty_calls())), waiting_functions))
  expect(length(forgotten) == 0, paste0(
    "No valid call of ", paste(forgotten, collapse = ", "), ".\n",
    "Add a line to nasty_calls() in helper-nasty.R: the function's name and, in alist(), the ",
    "arguments of one quick valid call, such as\n  ",
    forgotten[1], " = alist(x = numbers, rho = 1, neighbours = \"replace\", rng = \"r\")\n",
    "Objects to use are in nasty_objects(). If an argument holds private data, name it in ",
    "nasty_secrets. All other arguments of the function are found and tried by themselves."
  ))
  gone <- setdiff(function_of(names(nasty_calls())), functions)
  expect_identical(gone, character())
})

# How many of the values each argument is given: one in turn, extended all.
values_each <- function(values) {
  as.numeric(Sys.getenv("CONFIDE_NASTY_EACH", if (extended()) length(values) else 1))
}

test_that("a nasty value in the place of any argument is served or refused", {
  objects <- local_objects()
  calls <- nasty_calls()
  for (name in names(calls)) {
    base <- nasty_outcome(name, nasty_arguments(calls[[name]], list(), objects), objects, 60)
    expect_identical(base[c("kind", "faults")], list(kind = "value", faults = NULL), label = name)
  }
  local_replacement("abort_confide", occasional_text())
  values <- flat_values()
  each <- values_each(values)
  turn <- 0
  faults <- character()
  for (name in names(calls)) {
    for (argument in nasty_argument_names(name, calls[[name]])) {
      chosen <- (turn + seq_len(each) - 1) %% length(values) + 1
      turn <- turn + each
      for (value in names(values)[chosen]) {
        arguments <- nasty_arguments(calls[[name]], values_for(argument, values[value]), objects)
        outcome <- nasty_outcome(name, arguments, objects)
        faults <- c(faults, describe_faults(outcome, name, argument, value))
      }
    }
  }
  expect_no_fault(faults)
})

test_that("several nasty values at once are served or refused", {
  skip_if_not(extended())
  objects <- local_objects()
  calls <- nasty_calls()
  local_replacement("abort_confide", occasional_text())
  values <- flat_values()
  number <- as.numeric(Sys.getenv("CONFIDE_NASTY_CALLS", "1e5"))
  set.seed(as.numeric(Sys.getenv("CONFIDE_NASTY_SEED", "20")))
  faults <- character()
  for (i in seq_len(number)) {
    name <- sample(names(calls), 1)
    known <- nasty_argument_names(name, calls[[name]])
    changed <- sample(known, min(length(known), sample(1:3, 1)))
    chosen <- sample(length(values), length(changed), replace = TRUE)
    seed <- .Random.seed
    arguments <- nasty_arguments(calls[[name]], values_for(changed, values[chosen]), objects)
    outcome <- nasty_outcome(name, arguments, objects)
    assign(".Random.seed", seed, globalenv())
    what <- paste(changed, names(values)[chosen], sep = " = ", collapse = "; ")
    faults <- c(faults, describe_faults(outcome, name, what))
  }
  expect_no_fault(faults)
})

test_that("unknown and shortened arguments are refused by every function", {
  skip_if_not(extended())
  objects <- local_objects()
  calls <- nasty_calls()
  faults <- character()
  for (name in names(calls)) {
    dots <- "..." %in% names(formals(getExportedValue("confide", function_of(name))))
    if (!dots) next # R itself refuses
    arguments <- nasty_arguments(calls[[name]], list(unheard_of = 1), objects)
    outcome <- nasty_outcome(name, arguments, objects)
    faults <- c(
      faults, describe_faults(outcome, name, "an unknown argument"),
      if (outcome$kind == "value") paste(name, "took an unknown argument")
    )
  }
  expect_no_fault(faults)
})

test_that("what private data are refused for is told by one text, however many and wherever", {
  skip_if_not(extended())
  objects <- local_objects()
  values <- flat_values()
  longer <- function(x) {
    if (is.data.frame(x)) x[rep(seq_len(nrow(x)), 3), , drop = FALSE] else rep(x, 3)
  }
  calls <- nasty_calls()
  calls <- calls[function_of(names(calls)) %in% names(nasty_secrets)]
  plain <- Filter(function(x) {
    # a connection repeated is none
    length(x) > 0 && is.atomic(x) && !inherits(x, "connection") && is.null(dim(x)) ||
      is.data.frame(x)
  }, values)
  each <- if (extended()) length(plain) else 2
  turn <- 0
  texts <- function(name, argument, value) {
    changes <- stats::setNames(list(value), argument)
    result <- nasty_outcome(name, nasty_arguments(calls[[name]], changes, objects), objects)$result
    if (inherits(result, "confide_error_domain")) conditionMessage(result) else NA
  }
  different <- character()
  for (name in names(calls)) {
    for (argument in nasty_secrets[[function_of(name)]]) {
      for (i in (turn + seq_len(each) - 1) %% length(plain) + 1) {
        found <- c(texts(name, argument, plain[[i]]), texts(name, argument, longer(plain[[i]])))
        if (!anyNA(found) && found[[1]] != found[[2]]) {
          different <- c(different, paste(name, argument, names(plain)[[i]]))
        }
      }
      turn <- turn + each
    }
  }
  expect_identical(different, character())
})

test_that("a condition holds no private value, however the function was called", {
  objects <- local_objects()
  bad <- list(
    numbers = c(secret_number, NA), text = c("a", secret_text), list = list(secret_text),
    frame = data.frame(a = c(secret_number, NA), b = secret_text)
  )
  # the search finds what is there
  expect_length(secrets_in(simpleError("x", quote(f(7391.284617364501)))), 1)
  calls <- nasty_calls()
  refused <- 0
  turn <- 0
  for (name in names(calls)) {
    for (argument in nasty_secrets[[function_of(name)]]) {
      turn <- turn + 1
      for (value in if (extended()) bad else bad[turn %% length(bad) + 1]) {
        arguments <- nasty_arguments(calls[[name]], values_for(argument, list(value)), objects)
        # the values are part of the call
        condition <- tryCatch(do.call(function_of(name), arguments), confide_error = identity)
        if (!inherits(condition, "condition")) next
        refused <- refused + 1
        shown <- utils::capture.output(print(condition), utils::str(condition))
        expect_identical(secrets_in(list(condition, shown)), character(), label = name)
      }
    }
  }
  expect_gt(refused, 10)
})

# Functions whose result holds the data themselves, or what the user's function made of them.
give_data_back <- c("split_people", "combine_attributes", "neighbour_pairs")

test_that("no result of a function that sees private data holds them", {
  objects <- local_objects()
  calls <- nasty_calls()
  calls <- calls[function_of(names(calls)) %in% setdiff(names(nasty_secrets), give_data_back)]
  calls <- c(calls, nasty_calls()[c("refine", "refine (ladder)", "refine (synthetic data)")])
  file <- withr::local_tempfile()
  for (name in names(calls)) {
    arguments <- nasty_arguments(calls[[name]], list(), objects)
    result <- do.call(function_of(name), arguments) # a stored call would hold the data
    saveRDS(result, file, compress = FALSE)
    views <- list(
      object = result, file = readBin(file, "raw", file.size(file)),
      shown = utils::capture.output(
        print(result), utils::str(result), dput(result), print(unclass(result))
      ),
      text = suppressWarnings(c(format(result), deparse(result)))
    )
    for (view in names(views)) {
      expect_identical(secrets_in(views[[view]]), character(), label = paste(name, view))
    }
  }
})

test_that("a vector longer than 2^31 is refused without being written out", {
  objects <- local_objects()
  long <- seq_len(2^31 + 10) # R keeps its ends only
  calls <- nasty_calls()
  for (name in c("private_sum", "private_mean", "private_count")) {
    outcome <- nasty_outcome(name, nasty_arguments(calls[[name]], list(x = long), objects), objects)
    expect_identical(outcome$kind, "refused", label = name)
  }
  expect_confide_error(mech_rr(2^31 + 1, 1), "parameter", "at most 2^31")
})

test_that("every class with methods has an object in the table", {
  objects <- local_objects()
  classes <- unlist(lapply(nasty_instances(), function(x) class(eval(x, objects))))
  forgotten <- setdiff(nasty_methods()$class, c(classes, "default"))
  expect(length(forgotten) == 0, paste0(
    "No object of class ", paste(forgotten, collapse = ", "), ".\n",
    "Add an expression that makes one to nasty_instances() in helper-nasty.R."
  ))
})

# Each method of a generic that users call, with each object of its class: `use` is called with the
# generic, the class, the expression of the object and the arguments of a valid call.
for_each_method <- function(objects, use) {
  instances <- nasty_instances()
  classes <- lapply(instances, function(x) class(eval(x, objects)))
  methods <- nasty_methods()
  for (row in seq_len(nrow(methods))) {
    generic <- methods$generic[[row]]
    class <- methods$class[[row]]
    for (x in instances[vapply(classes, function(own) class %in% own, logical(1))]) {
      home <- asNamespace(if (generic == "autoplot") "ggplot2" else "confide")
      method <- utils::getS3method(generic, class, envir = home)
      first <- names(formals(method))[[1]]
      if (first == "...") first <- "x"
      call <- c(stats::setNames(list(x), first), nasty_method_calls[[paste(generic, class)]])
      others <- setdiff(names(formals(method)), c(first, "...", "deparse.level")) # R reads the last
      use(generic, class, x, call, others)
    }
  }
}

test_that("a nasty value in the place of any argument of a method is served or refused", {
  objects <- local_objects()
  objects$autoplot <- ggplot2::autoplot
  values <- flat_values()
  local_replacement("abort_confide", occasional_text())
  each <- values_each(values)
  turn <- 0
  faults <- character()
  for_each_method(objects, function(generic, class, x, call, others) {
    arguments <- nasty_arguments(call, list(), objects)
    faults <<- c(faults, describe_faults(
      nasty_outcome(generic, arguments, objects, 60), generic, class, deparse(x)[[1]]
    ))
    for (argument in others) {
      for (value in names(values)[(turn + seq_len(each) - 1) %% length(values) + 1]) {
        arguments <- nasty_arguments(call, values_for(argument, values[value]), objects)
        outcome <- nasty_outcome(generic, arguments, objects)
        faults <<- c(faults, describe_faults(outcome, generic, class, argument, value))
      }
      turn <<- turn + each
    }
  })
  expect_no_fault(faults)
})

# An object with one of its fields taken out, or its numbers spoilt.
damaged <- function(object) {
  fields <- setdiff(names(object), c("handle", "seal", "call"))
  spoilt <- lapply(fields, function(field) {
    value <- object[[field]]
    lapply(list(NULL, NaN, -1, "x", list()), function(other) {
      changed <- unclass(object)
      changed[field] <- list(other)
      structure(changed, class = class(object))
    })
  })
  taken <- lapply(fields, function(field) {
    changed <- unclass(object)
    changed[[field]] <- NULL
    structure(changed, class = class(object))
  })
  Filter(function(x) !identical(x, object), c(unlist(spoilt, recursive = FALSE), taken))
}

test_that("an object altered by hand is not used for another release, nor charged for less", {
  skip_if_not(extended())
  objects <- local_objects()
  local_replacement("abort_confide", occasional_text())
  uses <- list(
    privatize = alist(mechanism = m_rr, x = labels, rng = "r"),
    estimate = alist(mechanism = m_lambda, x = r_lambda),
    audit = alist(x = m_rr), audit = alist(x = release), audit = alist(x = fresh_brownian()),
    refine = alist(object = fresh_brownian(), epsilon = 0.5),
    refine = alist(object = fresh_laplace()),
    ask = alist(object = fresh_threshold(), value = secret_count),
    update = alist(object = m_rr, epsilon = 2),
    charge = alist(release = m_rr, ledger = fresh_ledger()),
    charge = alist(release = release, ledger = fresh_ledger())
  )
  for (i in seq_along(uses)) {
    number <- length(damaged(eval(uses[[i]][[1]], objects)))
    for (j in seq_len(number)) {
      arguments <- nasty_arguments(uses[[i]], list(), objects)
      arguments[[1]] <- damaged(arguments[[1]])[[j]]
      outcome <- nasty_outcome(names(uses)[[i]], arguments, objects)
      what <- paste(names(uses)[[i]], i, j)
      expect_identical(outcome$faults, NULL, label = what)
      if (!names(uses)[[i]] %in% c("audit", "charge")) {
        expect_identical(outcome$kind, "refused", label = what)
      }
    }
  }
})
