# What the uncertainty of a private mean needs (balloon.md 1.9). One step linearised about the
# centre moves it by (1 - lambda) of its error, plus the mean of the clipped records, plus noise:
#   lambda = E[1(a <= R) + (1 - 1 / d) (R / a) 1(a > R)],   v = E min(a, R)^2 / d,
# so the sampling variance of a coordinate is v / (n lambda^2). Both are means of numbers in [0, 1],
# of which 1/2 is taken so that their sensitivity is that of a ball of radius sqrt(1/2).

interval_query <- function(run, share) sum_query(run, sqrt(0.5), share, 2)

release_spread <- function(run, fit, share) {
  if (share == 0) {
    return(describe_spread(NULL, fit, run))
  }
  query <- interval_query(run, share)
  place <- fit$rotated %||% list(rows = run$rows, centre = fit$centre)
  units <- scan_rows(place$rows, function(y) {
    linearised_units(y, place$centre, fit$radius, query)
  }, sum_of_units)
  means <- 0.5 + release_in(run, units, query) / run$n
  noise <- plan_noise(query)$noise_sd / run$n
  describe_spread(list(
    # a share that is lost in the noise is put at one standard deviation of it
    lambda = limit(means[[1]], 0.05, 1), share = limit(means[[2]], min(noise, 0.5), 1),
    known = !isTRUE(fit$few) && means[[1]] > max(least_lambda, 2 * noise)
  ), fit, run)
}

# Half of the records within the radius give at least 1/2. Well below it the radius was too small,
# and nothing says how far off the centre is.
least_lambda <- 0.25

limit <- function(x, low, high) min(max(x, low), high)

# Variances in whitened coordinates: of noise, of sampling (NA when nothing was spent on it, Inf
# when it is not known), and both along the directions that the filter changed.
describe_spread <- function(released, fit, run) {
  lambda <- released$lambda %||% 1
  spread <- list(
    lambda = released$lambda, noise = noise_variance(fit, lambda),
    sampling = if (is.null(released)) {
      NA_real_
    } else if (!released$known) {
      Inf
    } else {
      released$share * fit$radius^2 / run$dimension / (run$n * lambda^2)
    }
  )
  if (!is.null(fit$medians)) {
    return(median_spread(fit, run))
  }
  if (sum(fit$filter$directions) > 0 && is.finite(spread$sampling)) {
    spread$axes <- filter_spread(spread, fit, run)
  }
  spread
}

# The noise of step j reaches the last centre multiplied by (1 - lambda)^(m - j), and the average by
# the weighted sum of these.
noise_variance <- function(fit, lambda) {
  last <- length(fit$noise_sd)
  reach <- outer(seq_len(last), seq_len(last), function(m, j) {
    ifelse(m >= j, (1 - lambda)^pmax(m - j, 0), 0)
  })
  sum(drop(fit$weights %*% reach)^2 * fit$noise_sd^2)
}

# A median has pi / 2 times the variance of a normal mean, and a noisy count of sd s moves it by
# s / (n density).
filter_spread <- function(spread, fit, run) {
  sd <- sqrt(run$n * spread$sampling)
  list(
    noise = (fit$filter$count_sd * sqrt(2 * pi) * sd / run$n)^2 + fit$filter$resolution^2 / 12,
    sampling = pi / 2 * spread$sampling
  )
}

# For coordinate medians: the cuts whose noisy counts do not contradict them being the median, given
# a binomial count and the noise. Free of the density.
median_spread <- function(fit, run) {
  limits <- median_limits(fit$medians, run$n, 0.95)
  total <- ((limits$high - limits$low) / (2 * stats::qnorm(0.975)))^2
  noise <- fit$medians$noise_sd^2
  part <- noise / (noise + run$n / 4)
  list(lambda = NULL, noise = total * part, sampling = total * (1 - part))
}

median_limits <- function(medians, n, level) {
  margin <- stats::qnorm((1 + level) / 2) * sqrt(n / 4 + medians$noise_sd^2)
  cuts <- vapply(medians$path, function(step) medians$cuts[step$cut + 1], numeric(
    length(medians$path[[1]]$cut)
  ))
  counts <- vapply(medians$path, `[[`, numeric(length(medians$path[[1]]$count)), "count")
  cuts <- matrix(cuts, ncol = length(medians$path))
  counts <- matrix(counts, ncol = length(medians$path))
  ends <- range(medians$cuts)
  low <- ifelse(counts < n / 2 - margin, cuts, ends[[1]])
  high <- ifelse(counts > n / 2 + margin, cuts, ends[[2]])
  list(low = apply(low, 1, max), high = apply(high, 1, min))
}

# The covariance of the estimate, L W L', W diagonal but for the filtered directions.
mean_covariance <- function(x, what) {
  value <- x$spread[[what]]
  root <- x$shape$root
  d <- x$dimension
  names <- rep(list(names(x$estimate)), 2)
  if (anyNA(value) || any(is.infinite(value))) {
    return(structure(ifelse(diag(d) == 1, value, NA), dim = c(d, d), dimnames = names))
  }
  if (ncol(root) == 1) root <- diag(root[, 1], d)
  white <- diag(rep_len(value, d), d)
  if (!is.null(x$spread$axes)) {
    axes <- x$filter$axes
    white <- white + (x$spread$axes[[what]] - value) * tcrossprod(axes)
  }
  covariance <- root %*% white %*% t(root)
  structure((covariance + t(covariance)) / 2, dimnames = names)
}
