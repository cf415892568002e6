# Times of private_mean() in units of colMeans(), and the memory it adds to that of the data.
# Usage: Rscript bench/mean.R [rows] [columns] (package installed; defaults 1e6 and 100).
# Python's diffprivlib, an l-infinity mean with given bounds, is timed where it is installed.
library(confide)

arguments <- as.numeric(commandArgs(TRUE))
n <- if (length(arguments) > 0) arguments[[1]] else 1e6
d <- if (length(arguments) > 1) arguments[[2]] else 100

seconds <- function(code) sum(system.time(code)[c("user.self", "sys.self")])

set.seed(1)
x <- matrix(stats::rnorm(n * d), n)
data_mb <- 8 * n * d / 2^20
base <- min(replicate(3, seconds(colMeans(x))))
cat(sprintf("%g rows, %g columns, %.0f MB\n", n, d, data_mb))
cat(sprintf("%-40s %8s %8s %12s\n", "", "seconds", "colMeans", "memory, data"))

show <- function(what, code) {
  invisible(gc(reset = TRUE))
  time <- seconds(code)
  peak <- gc()[2, 6]
  cat(sprintf("%-40s %8.2f %8.1f %12.2f\n", what, time, time / base, peak / data_mb))
}

show("colMeans", colMeans(x))
show("crossprod", crossprod(x))
shape <- diag(d) + 0.1
for (filter in c("none", "spectral")) {
  show(paste("balloon, sigma none, filter", filter), {
    private_mean(x, rho = 1, sigma = "none", filter = filter)
  })
  show(paste("balloon, sigma a matrix, filter", filter), {
    private_mean(x, rho = 1, sigma = shape, filter = filter)
  })
}
show("balloon, sigma diag", private_mean(x, rho = 1, filter = "none"))
for (method in c("clipped", "coinpress", "huber", "coordinate_median")) {
  show(method, private_mean(x, rho = 1, sigma = "none", method = method))
}

python <- Sys.which("python3")
found <- nzchar(python) &&
  system2(python, c("-c", shQuote("import diffprivlib")), stderr = FALSE) == 0
if (found) {
  script <- sprintf(paste(
    "import numpy as np, time, diffprivlib as d; x = np.random.normal(size=(%d, %d));",
    "t = time.process_time(); d.tools.mean(x, epsilon=1.0, bounds=(-5, 5), axis=0);",
    "print(time.process_time() - t)"
  ), n, d)
  time <- as.numeric(system2(python, c("-c", shQuote(script)), stdout = TRUE))
  cat(sprintf("%-40s %8.2f %8.1f\n", "diffprivlib.tools.mean (Python)", time, time / base))
}
