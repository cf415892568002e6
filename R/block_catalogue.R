# The designs that can be built, by their parameters alone: nothing is constructed here. A design is
# named by its family and numbers, such as "residual PG(4,3)", and the name is all that is needed to
# build it.

largest_catalogue <- 4e6

# Decoding takes some 40 bytes for each output.
largest_design <- 2^24

prime_flags <- function(n) {
  divisors <- small_primes(floor(sqrt(max(n, 4))))
  prime <- n >= 2
  for (p in divisors) {
    prime <- prime & (n %% p != 0 | n == p)
  }
  prime
}

small_primes <- function(limit) {
  sieve <- rep(TRUE, max(limit, 2))
  sieve[[1]] <- FALSE
  for (p in seq_len(floor(sqrt(limit)))) {
    if (p > 1 && sieve[[p]] && p * p <= limit) sieve[seq(p * p, limit, by = p)] <- FALSE
  }
  which(sieve)
}

# Powers with an exponent of at least `least`, of primes.
prime_powers <- function(limit, least = 1) {
  primes <- small_primes(max(2, floor(limit^(1 / least) + 1e-9)))
  powers <- lapply(seq(least, max(least, floor(log2(limit)))), function(e) primes^e)
  powers <- sort(unlist(powers))
  powers[powers <= limit]
}

is_prime_power <- function(n) {
  vapply(n, function(m) {
    if (m < 2) {
      return(FALSE)
    }
    roots <- round(m^(1 / seq_len(floor(log2(m)))))
    any(prime_flags(roots) & roots^seq_along(roots) == m)
  }, logical(1))
}

# The first `count` prime numbers from `from` on.
next_primes <- function(from, count, rest = NULL, modulus = 4) {
  width <- 30 * count + 20 * ceiling(log(from + 10)) * count
  candidates <- seq(from, from + width)
  if (!is.null(rest)) candidates <- candidates[candidates %% modulus == rest]
  utils::head(candidates[prime_flags(candidates)], count)
}

symmetric_rows <- function(family, v0, k, lambda) {
  data.frame(family = family, v0 = v0, k = k, lambda = lambda)
}

# Symmetric designs with at most `limit` points, other than those that depend on the number of
# categories.
symmetric_designs <- function(limit) {
  parts <- list(
    projective_rows(limit), residue_rows(limit), bent_rows(limit), twin_rows(limit),
    mcfarland_rows(limit), spence_rows(limit)
  )
  rows <- do.call(rbind, parts)
  rows[rows$v0 <= limit, ]
}

points_of_space <- function(q, dimension) (q^dimension - 1) / (q - 1)

projective_rows <- function(limit) {
  powers <- prime_powers(floor(sqrt(limit)))
  do.call(rbind, lapply(2:max(2, floor(log2(limit))), function(t) {
    q <- powers[points_of_space(powers, t + 1) <= limit]
    if (length(q) == 0) {
      return(NULL)
    }
    symmetric_rows(
      sprintf("PG(%.0f,%.0f)", t, q), points_of_space(q, t + 1), points_of_space(q, t),
      points_of_space(q, t - 1)
    )
  }))
}

# Lehmer 1953: powers that are difference sets, for primes of these forms.
residue_rows <- function(limit) {
  odd <- seq(1, floor(sqrt(limit)), by = 2)
  fourth <- 4 * odd^2 + 1
  fourth <- fourth[fourth > 5 & fourth <= limit]
  fourth0 <- 4 * odd^2 + 9
  fourth0 <- fourth0[fourth0 <= limit]
  fourth <- fourth[prime_flags(fourth)]
  fourth0 <- fourth0[prime_flags(fourth0)]
  rows <- rbind(
    residue_family("quartic(%.0f)", fourth, (fourth - 1) / 4, (fourth - 5) / 16),
    residue_family("quartic0(%.0f)", fourth0, (fourth0 + 3) / 4, (fourth0 + 3) / 16)
  )
  # The only primes below 2e6 of the forms for eighth powers.
  eighth <- c(73, 26041)
  known <- rbind(
    symmetric_rows("octic(73)", 73, 9, 1), symmetric_rows("octic0(26041)", 26041, 3256, 407)
  )
  rbind(rows, known[eighth <= limit, ])
}

residue_family <- function(name, p, k, lambda) {
  if (length(p) > 0) symmetric_rows(sprintf(name, p), p, k, lambda)
}

bent_rows <- function(limit) {
  m <- seq(2, max(2, floor(log2(limit) / 2)))
  k <- 2^(2 * m - 1) - 2^(m - 1)
  symmetric_rows(sprintf("bent(%.0f)", 4^m), 4^m, k, k - 4^(m - 1))
}

twin_rows <- function(limit) {
  q <- prime_powers(max(5, floor(sqrt(limit))))
  q <- q[(q + 2) %in% prime_powers(max(q) + 2) & q %% 2 == 1]
  v <- q * (q + 2)
  symmetric_rows(sprintf("twin primes(%.0f)", v), v, (v - 1) / 2, (v - 3) / 4)
}

mcfarland_rows <- function(limit) {
  grid <- expand.grid(q = prime_powers(max(2, floor(limit^(1 / 3)))), d = 1:10)
  s <- points_of_space(grid$q, grid$d + 1)
  v <- grid$q^(grid$d + 1) * (s + 1)
  rows <- symmetric_rows(
    sprintf("McFarland(%.0f,%.0f)", grid$q, grid$d), v, grid$q^grid$d * s,
    grid$q^grid$d * (grid$q^grid$d - 1) / (grid$q - 1)
  )
  rows[v <= limit, ]
}

spence_rows <- function(limit) {
  d <- 1:6
  m <- (3^(d + 1) - 1) / 2
  symmetric_rows(
    sprintf("Spence(%.0f)", d), 3^(d + 1) * m, 3^d * (m + 1), 3^d * (3^d + 1) / 2
  )
}

# Quadratic residues and Hadamard matrices just large enough for v points, whole or as residual or
# derived design.
halving_designs <- function(v) {
  q <- c(
    next_primes(max(v, 7), 2, rest = 3), next_primes(max(2 * v - 1, 7), 2, rest = 3),
    odd_powers(v)
  )
  orders <- unlist(lapply(c(v + 1, 2 * v, 2 * v + 2), hadamard_orders, count = 2))
  q <- unique(q)
  orders <- unique(orders)
  rbind(
    symmetric_rows(sprintf("Paley(%.0f)", q), q, (q - 1) / 2, (q - 3) / 4),
    if (length(orders) > 0) {
      symmetric_rows(
        sprintf("Hadamard(%.0f)", orders), orders - 1, orders / 2 - 1, orders / 4 - 1
      )
    }
  )
}

# Prime powers, not primes, that are 3 modulo 4, a little above v or 2 v.
odd_powers <- function(v) {
  powers <- prime_powers(2^20, least = 2)
  powers <- powers[powers %% 4 == 3]
  c(utils::head(powers[powers >= v], 1), utils::head(powers[powers >= 2 * v - 1], 1))
}

# Orders of Hadamard matrices from `from` on: a power of two times an order of Paley's.
hadamard_orders <- function(from, count) {
  order <- 4 * ceiling(max(from, 8) / 4)
  found <- numeric()
  for (step in 1:100) {
    if (!is.na(hadamard_core_order(order))) found <- c(found, order)
    if (length(found) == count) break
    order <- order + 4
  }
  found
}

largest_core <- 2048

# The smallest Paley order (or 1) that divides the order with a quotient that is a power of two.
hadamard_core_order <- function(order) {
  if (log2(order) == round(log2(order))) {
    return(1)
  }
  core <- order
  while (core %% 8 == 0) core <- core / 2
  while (core <= min(order, largest_core)) {
    if (is_paley_order(core)) {
      return(core)
    }
    core <- 2 * core
  }
  NA_real_
}

is_paley_order <- function(order) {
  half <- order / 2 - 1
  order %% 4 == 0 && (is_prime_power(order - 1) || half %% 4 == 1 && is_prime_power(half))
}

# Every symmetric design whole, without a block (residual), and inside a block (derived); those that
# hold v points. A point has r of b outputs.
part_rows <- function(symmetric, v) {
  family <- symmetric$family
  v0 <- symmetric$v0
  k <- symmetric$k
  lambda <- symmetric$lambda
  whole <- data.frame(
    family = family, points = v0, v0 = v0, b = v0, r = k, k = k, lambda = lambda
  )
  residual <- data.frame(
    family = paste("residual", family), points = v0 - k, v0 = v0, b = v0 - 1, r = k,
    k = k - lambda, lambda = lambda
  )
  derived <- data.frame(
    family = paste("derived", family), points = k, v0 = v0, b = v0 - 1, r = k - 1, k = lambda,
    lambda = lambda - 1
  )
  rows <- rbind(whole, residual[lambda >= 1, ], derived[lambda >= 2, ])
  rows[rows$points >= v & rows$lambda < rows$r, ]
}

# Unions of cosets of the h-th roots of unity, close to the best block size.
cyclotomic_rows <- function(v, epsilon, limit) {
  fields <- c(
    next_primes(max(v, 5), 25), 2^max(3, ceiling(log2(v))),
    utils::head(Filter(function(q) q >= v && q %% 2 == 1, prime_powers(4096, least = 2)), 2)
  )
  do.call(rbind, lapply(fields[fields <= 2^22], cyclotomic_field_rows,
    epsilon = epsilon, limit = limit
  ))
}

cyclotomic_field_rows <- function(q, epsilon, limit) {
  h <- divisors_of(q - 1)
  h <- h[q * cyclotomic_copies(q, h) <= limit]
  fewer <- floor(q * balance(epsilon) / h)
  k <- c(h * fewer, h * fewer + 1, h * (fewer + 1), h * (fewer + 1) + 1)
  h <- rep(h, 4)
  legal <- is_cyclotomic_size(q, h, k)
  if (!any(legal)) {
    return(NULL)
  }
  cyclotomic_design(q, h[legal], k[legal], cyclotomic_copies(q, h[legal]))
}

# Cosets of the stabiliser, halved where -1 is not in it.
cyclotomic_copies <- function(q, h) {
  (q - 1) / h / ifelse(q %% 2 == 1 & h %% 2 == 1, 2, 1)
}

# Whole cosets of h elements, with or without 0.
is_cyclotomic_size <- function(q, h, k) {
  k >= 2 & k <= q - 2 & k %% h <= 1 & (k %% h == 0 | h > 1)
}

cyclotomic_design <- function(q, h, k, copies) {
  r <- copies * k
  data.frame(
    family = sprintf("cyclotomic(%.0f,%.0f,%.0f)", q, h, k), points = q, v0 = q, b = q * copies,
    r = r, k = k, lambda = r * (k - 1) / (q - 1)
  )
}

divisors_of <- function(n) {
  low <- seq_len(floor(sqrt(n)))
  low <- low[n %% low == 0]
  sort(unique(c(low, n / low)))
}

# Triple systems of at least v points.
triple_rows <- function(v) {
  points <- seq(max(v, 7), max(v, 7) + 6)
  points <- points[points <= 2000]
  steiner <- points[points %% 6 %in% c(1, 3)]
  twofold <- points[points %% 3 != 2 & points %/% 3 %% 2 == 1]
  lambda <- rep(c(1, 2), c(length(steiner), length(twofold)))
  points <- c(steiner, twofold)
  r <- lambda * (points - 1) / 2
  data.frame(
    family = sprintf("triples(%.0f,%.0f)", points, lambda), points = points, v0 = points,
    b = points * r / 3, r = r, k = rep(3, length(points)), lambda = lambda
  )
}

# All k-subsets; their number may be far beyond what doubles count.
subset_rows <- function(v, k) {
  data.frame(
    family = sprintf("subset selection(%.0f,%.0f)", v, k), points = v, v0 = v, b = choose(v, k),
    r = choose(v - 1, k - 1), k = k, lambda = if (v > 2) choose(v - 2, k - 2) else 0
  )
}

shared_rows <- function(v, k) {
  data.frame(
    family = sprintf("shared randomness(%.0f,%.0f)", v, k), points = v, v0 = v, b = v, r = k, k = k,
    lambda = k * (k - 1) / (v - 1)
  )
}

identity_rows <- function(v) {
  data.frame(
    family = sprintf("randomized response(%.0f)", v), points = v, v0 = v, b = v, r = 1, k = 1,
    lambda = 0
  )
}

is_subset_family <- function(family) {
  startsWith(family, "subset selection") | startsWith(family, "shared randomness")
}

# What can be built for v categories, with its risk. Symmetric designs up to `limit` outputs.
catalogue <- function(v, epsilon, limit = NULL) {
  limit <- limit %||% min(max(largest_catalogue, 4 * v), largest_design)
  key <- paste("catalogue", v, format(epsilon, digits = 17), limit)
  remember(key, function() {
    best <- block_size_set(v, epsilon)
    symmetric <- remember(paste("symmetric", limit), function() symmetric_designs(limit))
    rows <- rbind(
      part_rows(rbind(symmetric[symmetric$v0 >= v, ], halving_designs(v)), v),
      cyclotomic_rows(v, epsilon, limit),
      triple_rows(v)
    )
    rows <- rows[rows$b <= limit & !duplicated(rows$family), ]
    always <- rbind(identity_rows(v), subset_rows(v, best), shared_rows(v, best))
    rate_designs(rbind(always, rows), v, epsilon)
  })
}

rate_designs <- function(rows, v, epsilon) {
  bound <- smallest_risk(v, epsilon)
  ratio <- law_ratio(rows, v)
  rows$bits <- log2(rows$b)
  subsets <- startsWith(rows$family, "subset selection")
  rows$bits[subsets] <- lchoose(v, rows$k[subsets]) / log(2)
  rows$risk <- block_design_risk(v, ratio$b, ratio$r, ratio$lambda, epsilon)
  whole <- rows$points == v
  optimal <- whole & rows$k %in% block_size_set(v, epsilon)
  rows$risk[optimal] <- bound
  rows$excess <- pmax(rows$risk / bound - 1, 0)
  rows$exact <- optimal
  rows
}

# b, r and lambda up to a common factor: those of subsets overflow.
law_ratio <- function(rows, v) {
  sets <- is_subset_family(rows$family)
  list(
    b = ifelse(sets, v, rows$b), r = ifelse(sets, rows$k, rows$r),
    lambda = ifelse(sets, rows$k * (rows$k - 1) / (v - 1), rows$lambda)
  )
}

#' Block designs for private frequency estimation
#'
#' Lists the designs that [mech_block()] can choose from for `v` categories, with what each costs in
#' bits and in error. Whole designs, designs cut to `v` points (same reports, fewer categories), and
#' residual and derived designs.
#'
#' @param v (whole number, at least 2) Number of categories.
#' @param epsilon (number, at least 2^-60) Privacy parameter of a report.
#' @param ... Unused; catches misspelt arguments.
#' @param max_bits (number or `NULL`) Leave out designs whose reports need more bits.
#' @param all (logical) `FALSE` (default): only designs that no other beats in both bits and risk
#'   (the Pareto front). `TRUE`: all.
#' @returns A data frame of class `confide_designs`, ascending in bits: `family` (the name, which
#'   [mech_block()] takes as `design`), `v0` (points of the symmetric design it comes from), `b`
#'   (outputs), `r` (outputs of each point), `k` (points of each output, before cutting to `v`),
#'   `lambda` (outputs that two points share), `bits` (log2 b), `risk` (n times the worst-case mean
#'   squared error of the canonical estimator), `excess` (over the lower bound, as a fraction),
#'   `exact` (whether it meets the bound). `plot()` and `autoplot()` draw excess against bits.
#' @section Families:
#' `PG(t,q)`: hyperplanes of projective spaces (Singer 1938); their residuals are the hyperplanes of
#' affine spaces. `Paley`, `quartic`, `quartic0`, `octic`, `octic0`: power residues. `Hadamard(n)`:
#' Sylvester's and Paley's matrices and their products. `bent`, `twin primes`, `McFarland`,
#' `Spence`: difference sets in other groups. `cyclotomic(q,h,k)`: multiples of unions of cosets of
#' the h-th roots of unity. `triples`: triple systems. `subset selection`: all k-subsets, always
#' exact, long reports. `shared randomness`: exact with log2 v bits, where a public seed goes with
#' each report. `randomized response`: one point a block.
#' @section Errors:
#' `confide_error_parameter` for arguments outside their range.
#' @references
#' Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Exactly optimal and communication-efficient
#' private estimation via block designs. arXiv 2305.01261.
#'
#' Nam, S.-H., Park, H.-Y. and Lee, S.-H. (2023). Achieving the exactly optimal privacy-utility
#' trade-off with low communication cost via shared randomness. arXiv 2307.03962.
#'
#' Beth, T., Jungnickel, D. and Lenz, H. (1999). *Design Theory*. Cambridge University Press.
#' \doi{10.1017/CBO9780511549533}
#' @family block designs
#' @examples
#' block_designs(100, epsilon = 1)
#' @export
block_designs <- function(v, epsilon, ..., max_bits = NULL, all = FALSE) {
  check_dots_empty(...)
  v <- check_categories(v)
  epsilon <- check_block_epsilon(epsilon)
  max_bits <- check_bits(max_bits, v)
  all <- check_flag(all)
  rows <- catalogue(v, epsilon)
  rows <- rows[rows$bits <= (max_bits %||% Inf) + 1e-9, ]
  rows <- rows[order(rows$bits, rows$risk, nchar(rows$family)), ]
  rows$front <- seq_len(nrow(rows)) %in% front_rows(rows)
  if (!all) rows <- rows[rows$front, ]
  shown <- c("family", "v0", "b", "r", "k", "lambda", "bits", "risk", "excess", "exact")
  structure(rows[c(shown, if (all) "front")],
    row.names = .set_row_names(nrow(rows)), class = c("confide_designs", "data.frame"),
    confide = list(v = v, epsilon = epsilon)
  )
}

# Of rows ascending in bits and risk: those with a smaller risk than all before. Shared randomness
# needs the seed as well and beats nothing.
front_rows <- function(rows) {
  alone <- which(!startsWith(rows$family, "shared"))
  risk <- rows$risk[alone]
  before <- c(Inf, utils::head(cummin(risk), -1))
  c(alone[risk < before * (1 - 1e-12)], which(startsWith(rows$family, "shared")))
}

check_bits <- function(max_bits, v, call = rlang::caller_env()) {
  if (is.null(max_bits)) {
    return(NULL)
  }
  if (is_finite_number(max_bits) && max_bits >= log2(v) - 1e-9) {
    return(as.numeric(max_bits))
  }
  abort_parameter(c(
    "{.arg max_bits} must be one number, at least log2 of the number of categories.",
    x = paste0(
      "It is {describe(max_bits)}; ",
      "log2({format(v, scientific = FALSE)}) is {format(log2(v), digits = 4)}."
    ),
    i = "With fewer reports than categories no unbiased estimate exists."
  ), call = call)
}

# Session cache ----------------------------------------------------------------

session_cache <- new.env(parent = emptyenv())

# Computed once a session. The newest are kept; their tables may be some megabytes each.
remember <- function(key, compute) {
  if (!is.null(session_cache[[key]])) {
    return(session_cache[[key]])
  }
  value <- compute()
  keys <- c(session_cache$.keys, key)
  if (length(keys) > 24) {
    rm(list = keys[[1]], envir = session_cache)
    keys <- keys[-1]
  }
  session_cache$.keys <- keys
  session_cache[[key]] <- value
  value
}
