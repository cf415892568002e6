# The comparison of private means that vignettes/robust-mean.Rmd shows: inst/extdata/mean_sweep.rds.
# Usage: Rscript data-raw/mean_sweep.R [directory for the results of single cells] [repetitions]
# About half an hour on one core. An interrupted run is taken up by a second call with the same
# directory. With the package future and, say, future::plan("multisession") it uses more cores.
library(confide)

laws <- c("gaussian", "t3", "cauchy")
columns <- c(2, 8, 32, 128)

arguments <- commandArgs(trailingOnly = TRUE)
directory <- if (length(arguments) > 0) arguments[[1]] else "build/mean_sweep"
repetitions <- if (length(arguments) > 1) as.numeric(arguments[[2]]) else 20

with_filter <- function(filter, control = NULL) {
  force(control)
  function(x, rho, sigma) {
    private_mean(x, rho, sigma = sigma, filter = filter, control = control, rng = "r")
  }
}

# Ramsay et al. (2026): high and low tau.
published <- function(tau) {
  with_filter("none", balloon_control(
    iterations = 3, tau = tau, split = c(1, 1, 1), radius_share = 0.5, start = "mean",
    average = FALSE, interval_share = 0
  ))
}

methods <- list(
  balloon = "balloon", no_filter = with_filter("none"),
  published_low = published(c(0.7, 0.6, 0.5)), published_high = published(0.9),
  coinpress = "coinpress", huber = "huber", instance_optimal = "instance_optimal",
  coordinate_median = "coordinate_median", clipped = "clipped",
  sample_mean = "sample_mean", geometric_median = "geometric_median"
)

sweep <- contamination_study(methods,
  distribution = laws, d = columns, n = c(1000, 5000),
  rho = c(0.01, 1), contamination = c(0, 0.1, 0.2), placement = c("far", "shell"),
  repetitions = repetitions, directory = directory
)
print(sweep)
print(error_ratios(sweep))

# Medians, quartiles and mean logarithms only.
saveRDS(summary(sweep), "inst/extdata/mean_sweep.rds", compress = "xz")
