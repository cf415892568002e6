# Exact noise in whole numbers beside noise in doubles, which is not private (see
# vignettes/noise.Rmd). Usage: Rscript bench/noise.R [--quick] (package installed)
source("bench/tools/common.R")

# Canonne, Kamath and Steinke (2020), algorithms 1 to 3, as one would write them in R first.
bernoulli_exp <- function(x) {
  while (x > 1) {
    if (stats::runif(1) >= exp(-1)) {
      return(FALSE)
    }
    x <- x - 1
  }
  k <- 1
  while (stats::runif(1) < x / k) k <- k + 1
  k %% 2 == 1
}

discrete_laplace <- function(t) {
  repeat {
    u <- sample.int(t, 1) - 1
    if (!bernoulli_exp(u / t)) next
    v <- 0
    while (bernoulli_exp(1)) v <- v + 1
    size <- u + t * v
    negative <- stats::runif(1) < 0.5
    if (!negative || size > 0) {
      return(if (negative) -size else size)
    }
  }
}

discrete_gaussian <- function(sigma) {
  t <- floor(sigma) + 1
  repeat {
    y <- discrete_laplace(t)
    if (bernoulli_exp((abs(y) - sigma^2 / t)^2 / (2 * sigma^2))) {
      return(y)
    }
  }
}

rlaplace <- function(n, scale) {
  sample(c(-1, 1), n, TRUE) * stats::rexp(n, 1 / scale)
}

# diffpriv draws one answer with noise on each of its numbers.
diffpriv_mechanism <- function(d, laplace) {
  target <- function(x) x
  if (laplace) {
    return(diffpriv::DPMechLaplace(target = target, sensitivity = 1, dims = d))
  }
  diffpriv::DPMechGaussian(target = target, sensitivity = 1, dims = d)
}

set.seed(1)
rows <- NULL
for (d in sized(10^(2:6), 10^(1:3))) {
  x <- matrix(0, 1, d)
  answer <- numeric(d)
  loops <- d <= 1e4
  rows <- rbind(
    rows,
    compare(
      "Gaussian noise on a sum", d, "columns",
      ours(function() private_sum(x, bound = 1, rho = 0.5, neighbours = "replace")),
      unsafe("rnorm()", function() colSums(x) + stats::rnorm(d, sd = 2)),
      if (loops) naive("exact sampler, a loop", function() {
        vapply(seq_len(d), function(i) discrete_gaussian(1000), 0)
      }),
      peer("DPpack", "GaussianMechanism", function() {
        DPpack::GaussianMechanism(answer, eps = 0.9, delta = 1e-6, sensitivities = rep(1, d))
      }),
      peer("diffpriv", "DPMechGaussian", function() {
        diffpriv::releaseResponse(
          diffpriv_mechanism(d, FALSE), diffpriv::DPParamsDel(epsilon = 0.9, delta = 1e-6), answer
        )
      })
    ),
    compare(
      "Laplace noise on a sum", d, "columns",
      ours(function() private_sum(x, bound = 1, epsilon = 1, neighbours = "replace")),
      unsafe("rexp() with a sign", function() colSums(x) + rlaplace(d, 2)),
      if (loops) naive("exact sampler, a loop", function() {
        vapply(seq_len(d), function(i) discrete_laplace(1000), 0)
      }),
      peer("DPpack", "LaplaceMechanism", function() {
        DPpack::LaplaceMechanism(answer, eps = 1, sensitivities = rep(1, d))
      }),
      peer("diffpriv", "DPMechLaplace", function() {
        diffpriv::releaseResponse(
          diffpriv_mechanism(d, TRUE), diffpriv::DPParamsEps(epsilon = 1), answer
        )
      })
    )
  )
}
save_rows("noise", rows)
