# Each entry point of the compiled code with a garbage collection at every allocation inside it,
# where an object that C++ forgot to protect would be lost. The answers must be those of the same
# calls without. Usage, after tools/install:
#   R_LIBS=build/library Rscript tests/hardening/gctorture.R [calls of each entry point, 5]

arguments <- commandArgs(trailingOnly = TRUE)
most_calls <- if (length(arguments) > 0) as.integer(arguments[[1]]) else 5L

library(confide)
source(if (file.exists("calls.R")) "calls.R" else "tests/hardening/calls.R")
namespace <- asNamespace("confide")

is_entry <- function(name) {
  value <- get(name, namespace)
  is.function(value) && any(grepl(".Call(`_confide_", deparse(body(value)), fixed = TRUE))
}
entries <- Filter(is_entry, ls(namespace, all.names = TRUE))
reached <- list2env(stats::setNames(rep(list(0L), length(entries)), entries))

# Arguments are evaluated first: they are R code, which allocates a lot.
torture <- function(name) {
  entry <- get(name, namespace)
  start <- function() {
    reached[[name]] <- reached[[name]] + 1L
    if (reached[[name]] <= most_calls) gctorture2(1L)
  }
  body(entry) <- as.call(c(
    as.name("{"),
    lapply(names(formals(entry)), function(argument) call("force", as.name(argument))),
    bquote(.(start)()), bquote(on.exit(gctorture2(0L))), body(entry)
  ))
  unlockBinding(name, namespace)
  assign(name, entry, namespace)
  lockBinding(name, namespace)
}

answer <- function(call) {
  set.seed(1)
  call()
}

# Designs and their tables are kept for the session; a second run would not make them.
cache <- namespace$session_cache

expected <- lapply(calls, answer)
rm(list = ls(cache, all.names = TRUE), envir = cache)
for (name in entries) torture(name)
found <- lapply(calls, answer)

same <- unlist(Map(function(x, y) isTRUE(all.equal(x, y, tolerance = 0)), found, expected))
times <- unlist(mget(entries, reached))
cat(sum(pmin(times, most_calls)), "tortured calls of", sum(times > 0), "entry points\n")
if (!all(same)) cat("Another answer under torture:", names(calls)[!same], "\n")
if (any(times == 0)) cat("Never called:", entries[times == 0], "\n")
quit(status = !all(same) || any(times == 0))
