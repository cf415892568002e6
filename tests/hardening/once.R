# Each entry point of the compiled code a few times, for a tool that watches it:
#   R_LIBS=build/library R --vanilla -d valgrind -f tests/hardening/once.R

library(confide)
source("tests/hardening/calls.R")

for (name in names(calls)) {
  set.seed(1)
  calls[[name]]()
  cat(name, "\n")
}
