# What the times were measured on, and with which versions: machine.txt beside the results.
source("bench/tools/common.R")

first_match <- function(file, pattern) {
  lines <- if (file.exists(file)) grep(pattern, readLines(file), value = TRUE)
  if (length(lines) > 0) trimws(sub(pattern, "", lines[[1]])) else "unknown"
}

load_average <- function() {
  if (!file.exists("/proc/loadavg")) {
    return("unknown")
  }
  paste(strsplit(readLines("/proc/loadavg"), " ")[[1]][1:3], collapse = " ")
}

commit <- function() {
  out <- suppressWarnings(system2("git", c("rev-parse", "--short", "HEAD"), TRUE, FALSE))
  if (length(out) == 1) out else "unknown"
}

version_of <- function(package) {
  if (has_peer(package)) as.character(utils::packageVersion(package)) else "not installed"
}

peers <- c("lpSolve", "DPpack", "diffpriv", "RRreg", "rr", "GLMMRR", "sdcMicro", "synthpop")
memory <- as.numeric(sub(" kB$", "", first_match("/proc/meminfo", "^MemTotal: *"))) / 2^20
facts <- c(
  date = format(Sys.time(), "%Y-%m-%d %H:%M", tz = "UTC", usetz = TRUE),
  processor = first_match("/proc/cpuinfo", "^model name[^:]*:"),
  cores = parallel::detectCores(),
  memory = if (is.na(memory)) "unknown" else sprintf("%.0f GiB", memory),
  `load at the start` = load_average(),
  system = paste(Sys.info()[c("sysname", "release")], collapse = " "),
  R = as.character(getRversion()),
  BLAS = basename(extSoftVersion()[["BLAS"]]),
  confide = sprintf("%s, commit %s", utils::packageVersion("confide"), commit()),
  vapply(peers, version_of, "")
)
dir.create(results, showWarnings = FALSE, recursive = TRUE)
writeLines(paste0(names(facts), ": ", facts), file.path(results, "machine.txt"))
