# What the scripts of this folder share: the timer, the rows they write, the checks that two methods
# do the same. Sourced from the top of the sources, with the package installed.
library(confide)

# --quick: small sizes and few repeats, to see that everything runs. Written to build/, never here.
quick <- "--quick" %in% commandArgs(TRUE)
results <- if (quick) "build/bench/results" else "bench/results"

# Of a full run and of a quick one.
sized <- function(full, small) if (quick) small else full

# A row of the tables: `run` is timed; `before` is called before each run and is not.
ours <- function(run, method = "confide", before = NULL) {
  list(kind = "ours", method = method, run = run, before = before)
}

naive <- function(method, run) list(kind = "naive R", method = method, run = run)

textbook <- function(method, run) list(kind = "textbook", method = method, run = run)

# Noise in doubles, or none: how fast it could be without a promise.
unsafe <- function(method, run) list(kind = "not private", method = method, run = run)

# NULL, said once, where the package is not installed.
peer <- function(package, method, run) {
  if (has_peer(package)) list(kind = "peer", method = paste0(package, "::", method), run = run)
}

has_peer <- function(package) {
  found <- requireNamespace(package, quietly = TRUE)
  if (!found && !package %in% getOption("confide.absent")) {
    options(confide.absent = c(getOption("confide.absent"), package))
    cat("not installed, left out:", package, "\n")
  }
  found
}

# One row for each method, the first of which is the unit of `ratio`: the median, over rounds in
# which all methods take turns, of their quotients of processor times. A call shorter than the clock
# can tell is repeated within its turn; one that would fill a third of `patience` is run once.
# `error`: a function of what a method returns; also compared as a ratio.
compare <- function(task, size, unit, ..., error = NULL, patience = sized(4, 0.2)) {
  methods <- Filter(Negate(is.null), list(...))
  first <- lapply(methods, first_call)
  calls <- mapply(calls_in_a_turn, methods, first)
  seconds <- vapply(first, function(call) call$time[["processor"]], 0)
  slow <- seconds > patience / 3
  rounds <- floor(patience / sum(pmax(seconds, shortest_turn)[!slow]))
  rounds <- if (quick || all(slow)) 1 else min(max(rounds, 3), 9)
  turn <- function(method, first, calls, slow) if (slow) first$time else average(method, calls)
  turns <- replicate(rounds, mapply(turn, methods, first, calls, slow))
  processor <- matrix(turns[1, , ], length(methods))
  rows <- data.frame(
    task = task, size = size, unit = unit,
    kind = vapply(methods, `[[`, "", "kind"), method = vapply(methods, `[[`, "", "method"),
    seconds = apply(processor, 1, stats::median),
    elapsed = apply(matrix(turns[2, , ], length(methods)), 1, stats::median),
    ratio = apply(processor, 1, function(times) stats::median(times / processor[1, ])),
    rounds = ifelse(slow, 1, rounds),
    memory_mb = vapply(first, `[[`, 0, "memory"),
    error_ratio = NA
  )
  if (!is.null(error)) {
    errors <- vapply(first, function(call) error(call$value), numeric(1))
    rows$error_ratio <- errors / errors[[1]]
  }
  show_rows(rows)
  rows
}

show_rows <- function(rows) {
  cat(sprintf(
    "%-36s %9s %-10s  %-31s %9.4g s  x %.3g%s\n", rows$task,
    format(rows$size, big.mark = ","), rows$unit, rows$method, rows$seconds, rows$ratio,
    ifelse(is.na(rows$error_ratio), "", sprintf(", error x %.3g", rows$error_ratio))
  ), sep = "")
}

# The clock of processor time counts in thousandths of a second.
clock <- function() {
  now <- proc.time()
  c(processor = sum(now[c("user.self", "sys.self")]), elapsed = now[["elapsed"]])
}

first_call <- function(method) {
  if (!is.null(method$before)) method$before()
  invisible(gc())
  base <- start_of_peak()
  started <- clock()
  value <- method$run()
  list(time = clock() - started, memory = megabytes("VmHWM") - base, value = value)
}

# Seconds that a turn takes at the least: fifty ticks of the clock.
shortest_turn <- sized(0.05, 0.005)

# The first call of all is no guide: much of it happens only once.
calls_in_a_turn <- function(method, first) {
  calls <- 1
  if (!is.null(method$before) || first$time[["processor"]] > 20 * shortest_turn) {
    return(calls)
  }
  while ((spent <- calls * average(method, calls)[["processor"]]) < shortest_turn) {
    calls <- ceiling(calls * min(10, 1.2 * shortest_turn / max(spent, 1e-3)))
  }
  calls
}

average <- function(method, calls) {
  if (!is.null(method$before)) method$before()
  if (!quick) gc(FALSE)
  started <- clock()
  for (i in seq_len(calls)) method$run()
  (clock() - started) / calls
}

# Resident memory of this process, now (VmRSS) or at its highest (VmHWM). NA where there is no /proc.
megabytes <- function(field) {
  status <- tryCatch(readLines("/proc/self/status"), error = function(e) "", warning = function(w) "")
  line <- grep(paste0("^", field), status, value = TRUE)
  if (length(line) == 0) NA_real_ else as.numeric(gsub("[^0-9]", "", line)) / 1024
}

# Forgets the highest so far; how much is in use now.
start_of_peak <- function() {
  tryCatch(writeLines("5", "/proc/self/clear_refs"), error = identity, warning = identity)
  megabytes("VmRSS")
}

# Two methods are only compared when they do the same.
agree <- function(one, other, within) {
  gap <- max(abs(one - other))
  if (!is.finite(gap) || gap > within) {
    stop(sprintf("the methods disagree: by %.2g, more than %.2g", gap, within))
  }
}

# How time grows with size: the slope of log time on log size over the three largest sizes.
with_slopes <- function(rows) {
  rows$slope <- NA_real_
  for (part in split(seq_len(nrow(rows)), list(rows$task, rows$method), drop = TRUE)) {
    if (length(part) >= 3) {
      top <- utils::tail(part[order(rows$size[part])], 3)
      times <- log(pmax(rows$seconds[top], 1e-7))
      rows$slope[part] <- stats::coef(stats::lm(times ~ log(rows$size[top])))[[2]]
    }
  }
  rows
}

save_rows <- function(system, rows) {
  rows <- with_slopes(cbind(system = system, rows))
  numbers <- setdiff(names(rows)[vapply(rows, is.numeric, NA)], "size")
  rows[numbers] <- lapply(rows[numbers], signif, 4)
  dir.create(results, showWarnings = FALSE, recursive = TRUE)
  utils::write.csv(rows, file.path(results, paste0(system, ".csv")), row.names = FALSE)
}
