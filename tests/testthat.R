library(testthat)
library(confide)

# tools/check counts from the last line of the check reporter: [ FAIL n | WARN n | SKIP n | PASS n ]
test_check("confide", reporter = "check")
