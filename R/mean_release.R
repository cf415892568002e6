# The noisy answers that private means are made of. `run` holds the people's rows as they came, the
# whitened records, n, the dimension, the measure ("rho" or "epsilon"), the neighbours, the source
# of randomness, and an account of what the integers of the noise realise. Each takes a share of the
# budget that was fixed before the first.

new_run <- function(rows, request) {
  list(
    people = rows, rows = rows, n = request$n, dimension = request$dimension,
    measure = request$measure, neighbours = request$neighbours, rng = request$rng,
    account = rlang::env(realised = numeric(), tick = function() NULL)
  )
}

run_query <- function(run, kind, share, ...) {
  list(
    kind = kind, budget = share, law = if (run$measure == "rho") "gaussian" else "laplace",
    measure = run$measure, neighbours = run$neighbours, ...
  )
}

release_in <- function(run, units, query) {
  run$account$realised <- c(run$account$realised, plan_noise(query)$realised)
  run$account$tick()
  release_units(units, query, run$rng)
}

sum_query <- function(run, radius, share, dimension = run$dimension) {
  run_query(run, "sum", share, bound = radius, n_max = run$n, dimension = dimension)
}

sum_queries <- function(run, radii, share, dimension = run$dimension) {
  lapply(radii, function(radius) sum_query(run, radius, share, dimension))
}

# One step: the mean of the records' displacements from the centre, each clipped to the radius.
release_step <- function(run, centre, radius, share) {
  query <- sum_query(run, radius, share)
  units <- scan_rows(run$rows, function(y) clipped_units(y, centre, query), sum_of_units)
  list(
    centre = centre + release_in(run, units, query) / run$n,
    radius = radius, noise_sd = plan_noise(query)$noise_sd / run$n
  )
}

# The first of nested counts to reach the target, one more than there are for none.
release_first <- function(run, counts, target, share) {
  query <- first_query(run, target, share)
  release_in(run, count_units(counts), query)
}

first_query <- function(run, target, share) {
  query <- run_query(run, "count_search", share, target = target)
  query$law <- "geometric"
  query
}

# Counts of which one record can move each by one.
release_counts <- function(run, counts, share) {
  query <- counts_query(run, length(counts), share)
  list(counts = release_in(run, count_units(counts), query), noise_sd = plan_noise(query)$noise_sd)
}

counts_query <- function(run, number, share) {
  run_query(run, "joint_counts", share, dimension = as.numeric(number))
}

# That of each step of noisy_search().
search_query <- function(run, columns, share, steps) counts_query(run, columns, share / steps)

release_scatter <- function(run, kernel, share) {
  query <- scatter_query(run, share)
  units <- scan_rows(run$rows, function(y) kernel(y, query), sum_of_units)
  list(moments = release_in(run, units, query), noise_sd = plan_noise(query)$noise_sd)
}

scatter_query <- function(run, share) {
  run_query(run, "scatter", share, n_max = run$n, dimension = run$dimension)
}

# Noisy binary search in each column of `cells`, counts between 2^steps + 1 ascending cuts: where
# does the number of values up to a cut pass `target`? Returns the interval of cuts, from 0, and all
# that was released on the way.
noisy_search <- function(run, cells, target, share, steps) {
  below <- apply(cells, 2, cumsum)
  columns <- seq_len(ncol(cells))
  low <- rep(0, ncol(cells))
  high <- rep(2^steps, ncol(cells))
  path <- vector("list", steps)
  for (step in seq_len(steps)) {
    middle <- (low + high) / 2
    noisy <- release_counts(run, below[cbind(middle + 1, columns)], share / steps)
    path[[step]] <- list(cut = middle, count = noisy$counts)
    left <- noisy$counts <= target
    low[left] <- middle[left]
    high[!left] <- middle[!left]
  }
  list(low = low, high = high, path = path, noise_sd = noisy$noise_sd)
}

# Cuts of an interval into 2^steps cells, and the medians found among them.
even_cuts <- function(half_width, steps) {
  half_width * seq(-1, 1, length.out = 2^steps + 1) # twice the width may not be a number
}

search_projections <- function(run, centre, directions, half_width, target, share, steps) {
  cuts <- even_cuts(half_width, steps)
  cells <- scan_rows(run$rows, function(y) projection_counts(y, centre, directions, cuts))
  found <- noisy_search(run, cells, target, share, steps)
  c(found, list(cuts = cuts, value = (cuts[found$low + 1] + cuts[found$high + 1]) / 2))
}

# A little less than the budget: the shares that it is divided into may be rounded up.
spendable <- function(total) total * (1 - 2^-40)
