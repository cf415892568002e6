# Coordinates in which the records are to be round: y = L^-1 (x - centre). `root` is L, a lower
# triangle, or one column, its diagonal. Privacy never depends on it being right.

check_sigma <- function(sigma, dimension, call) {
  if (is.character(sigma)) {
    return(list(type = check_shape_name(sigma, call)))
  }
  legal <- is_plain_numbers(sigma) && length(sigma) == dimension^2 && all(is.finite(sigma))
  if (!legal) {
    abort_parameter(c(
      paste(
        "{.arg sigma} must be {.val diag}, {.val none}, {.val tyler} or a covariance matrix",
        "with {dimension} row{?s} and columns."
      ),
      x = "It is {describe(sigma)}."
    ), call = call)
  }
  sigma <- matrix(as.numeric(sigma), dimension)
  if (max(abs(sigma - t(sigma))) > 1e-8 * max(abs(sigma))) {
    abort_parameter("{.arg sigma} must be symmetric.", call = call)
  }
  list(type = "matrix", root = lower_root((sigma + t(sigma)) / 2, call))
}

check_shape_name <- function(sigma, call) {
  if (length(sigma) == 1 && sigma %in% c("diag", "none", "tyler")) {
    return(unname(sigma))
  }
  abort_parameter(c(
    "{.arg sigma} must be {.val diag}, {.val none}, {.val tyler} or a covariance matrix.",
    x = "It is {describe(sigma)}."
  ), call = call)
}

lower_root <- function(sigma, call) {
  root <- tryCatch(t(chol(sigma)), error = function(error) NULL)
  if (is.null(root) || min(diag(root))^2 < 1e-14 * max(diag(sigma))) {
    abort_parameter(c(
      "{.arg sigma} must be positive definite.",
      i = "Leave out columns that are sums of others."
    ), call = call)
  }
  root
}

# What the private shapes need is decided from n, d and the budget, before any noise.
check_shape_data <- function(request, call) {
  if (request$shape$type == "diag") check_scale_rows(request, call)
  if (request$shape$type == "tyler" && request$measure == "epsilon") {
    abort_parameter(c(
      "{.code sigma = \"tyler\"} needs {.arg rho}.",
      i = "With {.arg epsilon} use a matrix, {.val diag} or {.val none}."
    ), call = call)
  }
}

# Below this number of rows a scale may be wrong by a factor of 3 (measured with a tenth of the
# budget; balloon.md 1.6).
rows_for_scales <- function(request) {
  each <- request$dimension / request$total * (0.1 / shape_share(request))
  ceiling(if (request$measure == "rho") 150 * sqrt(each) else 2850 * each)
}

check_scale_rows <- function(request, call) {
  needed <- rows_for_scales(request)
  if (request$n >= needed) {
    return(invisible())
  }
  abort_parameter(c(
    "Private scales need at least {format_count(needed)} rows here.",
    x = "There are {format_count(request$n)}.",
    i = "Give a covariance matrix as {.arg sigma}, known from elsewhere.",
    i = "Or use {.code sigma = \"none\"} for columns that are on one scale already.",
    i = "Or spend more on them: a larger {.arg {request$measure}} or {.field shape_share}."
  ), call = call)
}

shape_share <- function(request) {
  switch(request$shape$type,
    diag = request$control$shape_share %||% 0.1,
    tyler = request$control$shape_share %||% 0.4,
    0
  )
}

shape_queries <- function(run, request, share) {
  switch(request$shape$type,
    diag = list(search_query(run, run$dimension, share, scale_steps)),
    tyler = list(scatter_query(run, share / tyler_steps))
  )
}

# The root, for "diag" and "tyler" from noisy answers.
release_shape <- function(run, request, share) {
  switch(request$shape$type,
    none = list(root = matrix(1, run$dimension)),
    matrix = list(root = request$shape$root),
    diag = release_scales(run, share),
    tyler = release_tyler(run, request, share)
  )
}

scale_steps <- 9
scale_exponents <- seq(-256, 256) / 4
# The median of |x - x'| for independent normal x and x' of variance 1.
normal_difference <- sqrt(2) * stats::qnorm(0.75)

# Per column the median of |x_2i - x_(2i - 1)| by noisy binary search on a fixed grid of powers of
# 2^(1/4). A record is in one pair. A column whose search ended at the end of the grid (a constant,
# say) gets the median scale of the others.
release_scales <- function(run, share) {
  cells <- scan_rows(shuffled_rows(run), function(chunk) {
    difference_counts(chunk, 2^scale_exponents)
  })
  found <- noisy_search(run, cells, floor(run$n / 2) / 2, share, scale_steps)
  exponent <- (scale_exponents[found$low + 1] + scale_exponents[found$high + 1]) / 2
  outside <- found$low == 0 | found$high == 2^scale_steps
  if (any(outside)) {
    exponent[outside] <- if (all(outside)) 0 else stats::median(exponent[!outside])
  }
  list(root = matrix(2^exponent / normal_difference), replaced = sum(outside))
}

tyler_steps <- 4

# Tyler's shape of pair differences with noise: balloon.md 1.6. Breaks under clustered
# contamination above 1 / d.
release_tyler <- function(run, request, share) {
  d <- run$dimension
  pairs <- floor(run$n / 2)
  run$rows <- whitened_rows(shuffled_rows(run), request$centre, matrix(1, d))
  transform <- diag(d)
  for (step in seq_len(tyler_steps)) {
    found <- release_scatter(
      run, function(y, query) sign_scatter_units(y, transform, query), share / tyler_steps
    )
    noise <- found$noise_sd / pairs
    floored <- floored_root(d * found$moments / pairs, max(0.05, 0.75 * d * noise * sqrt(2 * d)))
    transform <- floored %*% transform
    transform <- transform / exp(determinant(transform)$modulus[[1]] / d)
  }
  inverse <- solve(transform)
  list(root = t(chol(tcrossprod(inverse))))
}

# The inverse square root of a symmetric matrix whose eigenvalues are raised to a floor.
floored_root <- function(moments, least) {
  parts <- eigen(moments, symmetric = TRUE)
  parts$vectors %*% (t(parts$vectors) / sqrt(pmax(parts$values, least)))
}

# From whitened displacements (in rows) to those of the data.
unwhiten <- function(displacements, root) {
  displacements <- matrix(displacements, ncol = nrow(root))
  if (ncol(root) == 1) {
    return(displacements * rep(root[, 1], each = nrow(displacements)))
  }
  displacements %*% t(root)
}
