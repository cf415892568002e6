# The likelihood-ratio test of P0 against P1 from reports (Neyman and Pearson). Each report has a
# score, log(M1 / M0); the statistic is their sum T. Scores are bounded by epsilon, so T always
# has moments of all orders, and its law under either hypothesis is that of a sum of n independent
# draws from a few numbers.

#' @exportS3Method
test_reports.confide_spr <- function(mechanism, x, options, call) {
  refuse_test_options(options, call)
  counts <- check_test_counts(as_counts(x, mechanism, NULL, options$count, call), call)
  check_some_reports(counts, call)
  m0 <- mechanism$output_p0
  m1 <- mechanism$output_p1
  score <- log(m1 / m0)
  n <- counts$n
  statistic <- sum(counts$counts * score)
  against <- sum_tail(statistic, n, m0, score)
  towards <- sum_tail(-statistic, n, m1, -score)
  interval <- score_interval(unname(counts$counts), score, options$level)
  structure(list(
    statistic = c("log-likelihood ratio" = statistic),
    parameter = c(n = n),
    p.value = against$p,
    p.value.p1 = towards$p,
    conf.int = interval$limits,
    estimate = c("log-likelihood ratio per report" = statistic / n),
    null.value = c("log-likelihood ratio per report" = sum(m0 * score)),
    expected = c(P0 = sum(m0 * score), P1 = sum(m1 * score)),
    alternative = "greater",
    method = sprintf(
      "Likelihood-ratio test of P0 against P1 on private reports (%s%s)", against$method,
      interval$method
    ),
    data.name = tested_data("private reports", counts$privacy),
    observed = counts$counts,
    privacy = counts$privacy
  ), class = "htest")
}

refuse_test_options <- function(options, call) {
  given <- c(
    margin = !is.null(options$margin), p = !is.null(options$p),
    statistic = options$statistic != "pearson"
  )
  if (any(given)) {
    abort_parameter(c(
      "{.arg {names(given)[given]}} must be left out for a {.fn mech_spr} mechanism.",
      i = "Its test is the likelihood-ratio test of the mechanism's own P0 against P1."
    ), call = call)
  }
}

check_test_counts <- function(counts, call) {
  if (!is.null(counts$squares) || !is_whole(unname(counts$counts))) {
    abort_parameter(c(
      "The tests are for whole reports without weights.",
      x = "These counts are weighted or not whole."
    ), call = call)
  }
  counts
}

# Where the people's mean log-likelihood ratio lies: under P0 it is -KL(M0 || M1), under P1 it is
# KL(M1 || M0), and if neither holds it says which of the two is nearer.
score_interval <- function(counts, score, level) {
  n <- sum(counts)
  tail <- (1 - level) / 2
  if (length(score) == 1) {
    return(list(limits = structure(c(0, 0), conf.level = level), method = ""))
  }
  if (length(score) == 2) {
    first <- counts[[1]]
    low <- if (first == 0) 0 else stats::qbeta(tail, first, n - first + 1)
    high <- if (first == n) 1 else stats::qbeta(1 - tail, first + 1, n - first)
    limits <- sort(score[[2]] + c(low, high) * (score[[1]] - score[[2]]))
    return(list(limits = structure(limits, conf.level = level), method = ""))
  }
  mean <- sum(counts * score) / n
  error <- sqrt(sum(counts * (score - mean)^2) / n / max(n - 1, 1))
  limits <- mean + c(-1, 1) * stats::qnorm(1 - tail) * error
  if (n == 1) {
    limits <- range(score)
  }
  list(
    limits = structure(limits, conf.level = level),
    method = "; interval by normal approximation"
  )
}

# Tails of sums -----------------------------------------------------------------

# Compositions that are enumerated at most; a few tenths of a second.
most_compositions <- 2e6

# P(S >= t) for the sum S of n independent draws of `score` with probabilities `m`, and the name of
# the method. Sums that differ by rounding alone count as equal.
sum_tail <- function(t, n, m, score, limit = most_compositions) {
  law <- merge_scores(m, score)
  slack <- 1e-9 * (1 + abs(t))
  size <- length(law$score)
  if (size == 1) {
    return(list(p = as.numeric(n * law$score >= t - slack), method = "no information"))
  }
  if (size == 2) {
    return(list(p = tail_given(0, 0, n, t - slack, law), method = "exact binomial"))
  }
  if (choose(n + size - 2, size - 2) <= limit) {
    return(list(p = tail_by_enumeration(t - slack, n, law), method = "exact by enumeration"))
  }
  list(p = exp(saddlepoint_tail(t, n, law)), method = "saddlepoint approximation")
}

# Distinct scores in falling order.
merge_scores <- function(m, score) {
  order <- order(score, decreasing = TRUE)
  sorted <- score[order]
  group <- cumsum(c(TRUE, diff(sorted) < -1e-12 * (1 + max(abs(score)))))
  score <- sorted[!duplicated(group)]
  list(
    m = as.vector(rowsum(m[order], group)), score = score,
    span = if (length(score) > 1) lattice_span(score) else 0
  )
}

# P(sum >= t) given that the other outputs occurred n - rest times in all and scored `others`: the
# rest is binomial between the first two scores.
tail_given <- function(used, others, n, t, law) {
  rest <- n - used
  step <- law$score[[1]] - law$score[[2]]
  needed <- ceiling((t - others - rest * law$score[[2]]) / step)
  share <- law$m[[1]] / (law$m[[1]] + law$m[[2]])
  stats::pbinom(needed - 1, rest, share, lower.tail = FALSE)
}

# Every way in which outputs 3, ..., s can occur, one output after the other, each binomial among
# those left. choose(n + s - 2, s - 2) rows at most.
tail_by_enumeration <- function(t, n, law) {
  used <- 0
  others <- 0
  log_weight <- 0
  free <- 1
  for (j in seq_along(law$m)[-(1:2)]) {
    rest <- n - used
    count <- sequence(rest + 1) - 1
    rows <- rep(seq_along(rest), rest + 1)
    log_weight <- log_weight[rows] +
      stats::dbinom(count, rest[rows], min(law$m[[j]] / free, 1), log = TRUE)
    others <- others[rows] + count * law$score[[j]]
    used <- used[rows] + count
    free <- free - law$m[[j]]
  }
  min(sum(exp(log_weight) * tail_given(used, others, n, t, law)), 1)
}

# log P(S >= t) by Lugannani and Rice (1980): K(u) is the cumulant generating function of one score,
# n K'(u) = t. On a lattice, u in the second term becomes (1 - e^(-u d)) / d (Daniels 1987). Close
# to u = 0, where the formula is 0 / 0, log P is interpolated through its limit there.
saddlepoint_tail <- function(t, n, law) {
  if (t >= n * law$score[[1]] - 1e-9 * (1 + abs(t))) {
    return(n * log(law$m[[1]]))
  }
  if (t <= n * law$score[[length(law$score)]]) {
    return(0)
  }
  # Centred scores keep the digits of K near u = 0.
  centre <- sum(law$m * law$score)
  law$score <- law$score - centre
  t <- t - n * centre
  u <- saddlepoint(t / n, law)
  width <- 0.05 / sqrt(n * sum(law$m * law$score^2))
  if (abs(u) >= width) {
    return(lugannani_rice(u, t, n, law))
  }
  ends <- vapply(c(-width, width), function(end) {
    lugannani_rice(end, n * tilted_moments(end, law)$mean, n, law)
  }, numeric(1))
  middle <- log(tail_at_mean(n, law))
  x <- u / width
  middle + x * (ends[[2]] - ends[[1]]) / 2 + x^2 * ((ends[[1]] + ends[[2]]) / 2 - middle)
}

# The limit of the formula at u = 0.
tail_at_mean <- function(n, law) {
  variance <- sum(law$m * law$score^2)
  skewness <- sum(law$m * law$score^3) / variance^1.5
  0.5 + (law$span / (2 * sqrt(variance)) - skewness / 6) / sqrt(2 * pi * n)
}

tilted_moments <- function(u, law) {
  exponent <- u * law$score
  top <- max(log(law$m) + exponent)
  weight <- exp(log(law$m) + exponent - top)
  total <- sum(weight)
  weight <- weight / total
  mean <- sum(weight * law$score)
  log_mgf <- if (max(abs(exponent)) < 0.5) {
    log1p(sum(law$m * expm1(exponent)))
  } else {
    top + log(total)
  }
  list(log_mgf = log_mgf, mean = mean, variance = sum(weight * (law$score - mean)^2))
}

saddlepoint <- function(mean, law) {
  gap <- function(u) tilted_moments(u, law)$mean - mean
  reach <- 1
  while (gap(-reach) > 0 || gap(reach) < 0) {
    reach <- 2 * reach
  }
  stats::uniroot(gap, c(-reach, reach), tol = 1e-14, maxiter = 1000)$root
}

lugannani_rice <- function(u, t, n, law) {
  moments <- tilted_moments(u, law)
  exponent <- max(u * t - n * moments$log_mgf, 0)
  w <- sign(u) * sqrt(2 * exponent)
  d <- law$span
  v <- (if (d > 0) -expm1(-u * d) / d else u) * sqrt(n * moments$variance)
  log_density <- -exponent - log(sqrt(2 * pi))
  if (w > 0) {
    mills <- exp(stats::pnorm(w, lower.tail = FALSE, log.p = TRUE) - log_density)
    return(min(log_density + log(mills + 1 / v - 1 / w), 0))
  }
  below <- stats::pnorm(w) - exp(log_density) * (1 / v - 1 / w)
  log1p(-min(max(below, 0), 1))
}

# The largest d with all differences of scores whole multiples of it, 0 if that is too fine to
# matter.
lattice_span <- function(score) {
  gaps <- -diff(score)
  for (parts in 1:12) {
    d <- min(gaps) / parts
    if (all(abs(gaps / d - round(gaps / d)) < 1e-9)) {
      return(d)
    }
  }
  0
}
