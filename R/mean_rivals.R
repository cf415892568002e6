# The other private means, each as published but for noise and accounting, which are the package's.
# All take whitened records.

rival_budget <- function(request, available, call) {
  switch(request$method,
    clipped = list(mean = available),
    coinpress = list(mean = available * coinpress_weights(request$control$iterations %||% 3, call)),
    huber = huber_budget(request, available, call),
    instance_optimal = list(
      median = available / 4, norm = available * 3 / 16, mean = available * 9 / 16
    ),
    coordinate_median = list(median = available)
  )
}

# All that they may ask for, where a radius follows from noise at its smallest and largest.
rival_queries <- function(run, request, budget, call) {
  radius <- request$radius
  switch(request$method,
    clipped = list(sum_query(run, radius, budget$mean)),
    coinpress = Map(
      function(clip, share) sum_query(run, clip, share),
      coinpress_radii(run, request, budget$mean, call), budget$mean
    ),
    huber = c(
      list(first_query(run, run$n / 4, budget$scale)),
      sum_queries(run, range(budget$radii), budget$mean[[1]])
    ),
    instance_optimal = c(
      list(
        search_query(run, rotated_size(run), budget$median, search_steps),
        search_query(run, 1, budget$norm, search_steps)
      ),
      sum_queries(run, radius * c(2^-(search_steps + 1), 1), budget$mean, rotated_size(run))
    ),
    coordinate_median = list(search_query(run, run$dimension, budget$median, median_steps))
  )
}

run_rival <- function(run, request, budget) {
  switch(request$method,
    clipped = run_clipped(run, request, budget),
    coinpress = run_coinpress(run, request, budget),
    huber = run_huber(run, request, budget),
    instance_optimal = run_instance_optimal(run, request, budget),
    coordinate_median = run_coordinate_median(run, request, budget)
  )
}

# One mean of the records clipped to a public ball.
run_clipped <- function(run, request, budget) {
  step <- release_step(run, rep(0, run$dimension), request$radius, budget$mean)
  finish_steps(list(step), average = FALSE)
}

# Biswas, Dong, Kamath and Ullman (2020), their budgets for t steps.
coinpress_weights <- function(steps, call) {
  first <- c(`1` = NA, `2` = 1 / 4, `3` = 1 / 8, `4` = 1 / 12, `10` = 1 / 36)
  share <- first[as.character(steps)]
  if (is.na(names(share))) {
    abort_parameter(c(
      "CoinPress has 1, 2, 3, 4 or 10 {.arg iterations}.", x = "Asked for were {steps}."
    ), call = call)
  }
  if (steps == 1) 1 else c(rep(unname(share), steps - 1), 3 / 4)
}

# MVMRec: a ball that holds the mean shrinks to what noise and sampling allow.
run_coinpress <- function(run, request, budget) {
  radii <- coinpress_radii(run, request, budget$mean)
  centre <- rep(0, run$dimension)
  steps <- list()
  for (i in seq_along(radii)) {
    steps[[i]] <- release_step(run, centre, radii[[i]], budget$mean[[i]])
    centre <- steps[[i]]$centre
  }
  finish_steps(steps, average = FALSE)
}

# Of each step: they follow from public numbers. gamma bounds the norm of a standard normal vector
# with probability 1 - beta.
coinpress_radii <- function(run, request, shares, call = rlang::caller_env()) {
  d <- run$dimension
  gamma <- sqrt(d + 2 * sqrt(d * log(1 / 0.01)) + 2 * log(1 / 0.01))
  radius <- request$radius
  clips <- numeric()
  for (share in shares) {
    clip <- min(sqrt(radius^2 + 6 * radius + gamma^2), radius + gamma)
    clips <- c(clips, clip)
    noise_sd <- plan_noise(sum_query(run, clip, share), call)$noise_sd / run$n
    radius <- gamma * sqrt(1 / run$n + noise_sd^2)
  }
  clips
}

# Yu, Ren and Zhou (2024): T steps of Huber's estimating equation. Their histogram for E |x - mu|^2
# is not zCDP; the median of |x_2i - x_(2i - 1)|^2 / 2 takes its place.
huber_budget <- function(request, available, call) {
  steps <- max(1, floor(log(request$n)))
  share <- available / (steps + 1)
  list(scale = share, mean = rep(share, steps), radii = tried_radii(request, call))
}

run_huber <- function(run, request, budget) {
  n <- run$n
  d <- run$dimension
  pairs <- run$whitened(shuffled_rows(run))
  cells <- scan_rows(pairs, function(y) pair_distance_counts(y, budget$radii * sqrt(2)))
  place <- release_first(
    run, cumsum(cells)[seq_along(budget$radii)], floor(n / 2) / 2, budget$scale
  )
  scale <- budget$radii[[min(place, length(budget$radii))]]
  # their epsilon is Gaussian DP; its steps of sd 2 tau sqrt(T + 1) / (epsilon n) are ours
  gdp <- sqrt(2 * request$total)
  tau <- 0.5 * scale * sqrt(gdp * n / sqrt(n * (d + log(n))))
  tau <- min(max(tau, min(budget$radii)), max(budget$radii))
  steps <- list()
  centre <- rep(0, d)
  for (share in budget$mean) {
    steps <- c(steps, list(release_step(run, centre, tau, share)))
    centre <- steps[[length(steps)]]$centre
  }
  finish_steps(steps, average = FALSE)
}

search_steps <- 10

# Huang, Liang and Yi (2021): rotate at random, centre by private medians, clip at a private high
# quantile of the norms.
run_instance_optimal <- function(run, request, budget) {
  d <- run$dimension
  n <- run$n
  size <- rotated_size(run)
  rotated <- run
  rotated$dimension <- size
  rotated$rows$each <- rotated_rows(run$rows, size)
  centre <- search_projections(
    rotated, rep(0, size), matrix(0, size, 0), request$radius / sqrt(size), n / 2, budget$median,
    search_steps
  )$value
  clip <- high_norm(rotated, centre, request$radius, budget)
  step <- release_step(rotated, centre, clip, budget$mean)
  fit <- finish_steps(list(step), average = FALSE)
  fit$rotated <- list(rows = rotated$rows, centre = fit$centre)
  back <- function(v) rotate_records(matrix(v), TRUE)[seq_len(d), 1]
  fit$centre <- back(fit$centre)
  fit$path <- matrix(fit$centre, 1)
  fit
}

rotated_size <- function(run) 2^ceiling(log2(run$dimension))

rotated_rows <- function(rows, size) {
  rotate <- function(y) {
    rotate_records(if (nrow(y) < size) rbind(y, matrix(0, size - nrow(y), ncol(y))) else y, FALSE)
  }
  if (rows$chunked) {
    return(transformed(rows$each, rotate))
  }
  turned <- scan_rows(rows, rotate)
  function(f) f(turned)
}

high_norm <- function(run, centre, largest, budget) {
  cuts <- seq(0, largest, length.out = 2^search_steps + 1)
  cells <- scan_rows(run$rows, function(y) matrix(distance_counts(y, centre, cuts)))
  margin <- 2 * sqrt(run$dimension / (2 * budget$mean)) + sqrt(search_steps / (2 * budget$norm))
  found <- noisy_search(run, cells, run$n - margin, budget$norm, search_steps)
  (cuts[found$low + 1] + cuts[found$high + 1]) / 2
}

median_steps <- 12

# A private median of each coordinate by noisy binary search. All noisy counts are kept: intervals
# follow from them.
run_coordinate_median <- function(run, request, budget) {
  found <- search_projections(
    run, rep(0, run$dimension), matrix(0, run$dimension, 0), request$radius, run$n / 2,
    budget$median, median_steps
  )
  list(
    centre = found$value, radius = request$radius, radii = numeric(), noise_sd = numeric(),
    path = matrix(found$value, 1), weights = 1, medians = found[c("path", "cuts", "noise_sd")]
  )
}
