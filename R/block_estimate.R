# From reports of a block design to estimates. All of it is linear in the counts of the reports.

# Sets of levels as reports ----------------------------------------------------

set_message <- c(
  "{.arg x} must be reports of the mechanism: rows of whole numbers.",
  x = "It is not.",
  i = "Subset selection: k different levels in each row, as numbers, ascending.",
  i = "Shared randomness: the seed and the report."
)

is_shared <- function(design) startsWith(design$family, "shared")

# Numbers in one report: the elements of a set, or a seed and a report.
set_width <- function(design) if (is_shared(design)) 2 else design$k

# A matrix of legal set reports.
set_codes <- function(x, mechanism, call) {
  design <- mechanism$design
  shared <- is_shared(design)
  x <- if (is.data.frame(x)) as.matrix(as.data.frame(lapply(x, from_64_bits))) else x
  if (is.null(dim(x)) && !shared && design$k == 1) x <- matrix(x, ncol = 1)
  legal <- is_whole_matrix(x, set_width(design)) &&
    (if (shared) are_seeded(x, mechanism$alphabet$size) else are_sets(x, mechanism$alphabet$size))
  if (!legal) {
    abort_domain(set_message, call)
  }
  storage.mode(x) <- "integer"
  unname(x)
}

is_whole_matrix <- function(x, columns) {
  is.matrix(x) && is.numeric(x) && ncol(x) == columns && all(is.finite(x)) && all(x == round(x))
}

are_seeded <- function(x, v) {
  all(x[, 1] >= 0 & x[, 1] < 2^31 & x[, 2] >= 1 & x[, 2] <= v)
}

# Ascending and different in every row, as they are reported.
are_sets <- function(x, v) {
  rising <- x[, -1, drop = FALSE] > x[, -ncol(x), drop = FALSE]
  all(x >= 1 & x <= v) && all(rising)
}

# Counts of set reports: for each level the weight of the sets that hold it.
read_sets <- function(x, mechanism, weights, count, call) {
  about <- as_plain(x)
  if (is.data.frame(about)) {
    numbers <- vector("list", set_width(mechanism$design))
    count <- find_count(names(about), numbers, count, weights, call, about)
    if (!is.null(count)) {
      check_unused(weights, "a data frame of counts", call)
      codes <- set_codes(about[setdiff(names(about), count)], mechanism, call)
      amounts <- check_amounts(about[[count]], nrow(about), "counts", call)
      return(tally_sets(codes, amounts, NULL, sum(amounts), mechanism))
    }
    if (is_column_name(weights, about)) {
      rest <- setdiff(names(about), weights)
      weights <- about[[weights]]
      about <- about[rest]
    }
  }
  codes <- set_codes(about, mechanism, call)
  if (is.null(weights)) {
    return(tally_sets(codes, NULL, NULL, nrow(codes), mechanism))
  }
  weights <- check_amounts(weights, nrow(codes), "weights", call)
  tally_sets(codes, weights, weights^2, nrow(codes), mechanism)
}

tally_sets <- function(codes, weight, square, n, mechanism) {
  sums <- function(amounts) {
    design <- mechanism$design
    v <- mechanism$alphabet$size
    if (is_shared(design)) {
      return(block_count_shared(codes, amounts %||% rep(1, nrow(codes)), v, design$k))
    }
    if (is.null(amounts)) {
      return(as.numeric(tabulate(codes, v)))
    }
    as.vector(lambda_tabulate(matrix(codes, ncol = 1), rep(amounts, ncol(codes)), v))
  }
  new_counts(mechanism, sums(weight), n, squares = if (!is.null(square)) sums(square))
}

# The linear estimate ----------------------------------------------------------

# Total weight and squared weight of the reports, and for each level of those in its set.
block_tally <- function(mechanism, counts, further = NULL) {
  v <- mechanism$alphabet$size
  total <- unname(counts$counts)
  square <- unname(counts$squares)
  if (is_set_mechanism(mechanism)) {
    k <- mechanism$design$k
    return(list(
      inside = total, inside_square = square %||% total,
      reported = list(total = sum(total) / k, square = if (!is.null(square)) sum(square) / k)
    ))
  }
  columns <- cbind(total, square, further)
  whole <- all(total == round(total))
  sums <- block_sums(block_tables(mechanism$design, v), columns, if (whole) 1 else 0)
  list(
    inside = sums[, 1], inside_square = sums[, if (is.null(square)) 1 else 2],
    inside_further = if (!is.null(further)) sums[, ncol(sums)],
    reported = list(total = total, square = square)
  )
}

# What centring takes off the value of each output, for all levels alike: P_x - (sum P - 1) / v.
# NULL where the canonical estimates sum to 1 anyway.
centring_values <- function(design, law) {
  sizes <- output_sizes(design, law$v)
  if (is.null(sizes)) {
    return(NULL)
  }
  (sizes / law$v - law$q) / law$d - 1 / law$v
}

# A report is worth z_x = (1[in the set of x] - q) / d - g to level x, g from centring.
#' @exportS3Method
decode.confide_block <- function(mechanism, counts, request, call = rlang::caller_env()) {
  law <- block_law(mechanism)
  centre <- if (!identical(request$estimator, "canonical")) centring_values(mechanism$design, law)
  square <- unname(counts$squares %||% counts$counts)
  tally <- block_tally(mechanism, counts, if (!is.null(centre)) square * centre)
  reported <- tally$reported
  total <- sum(reported$total)
  total_square <- sum(reported$square %||% reported$total)
  sums <- list(
    value = (tally$inside - law$q * total) / law$d,
    square_weighted = (tally$inside_square - law$q * total_square) / law$d,
    square = ((1 - 2 * law$q) * tally$inside_square + law$q^2 * total_square) / law$d^2
  )
  if (!is.null(centre)) {
    centred <- sum(square * centre)
    sums$square <- sums$square - 2 * (tally$inside_further - law$q * centred) / law$d +
      sum(square * centre^2)
    sums$square_weighted <- sums$square_weighted - centred
    sums$value <- sums$value - sum(reported$total * centre)
  }
  c(moments_of_sums(sums, reported, counts$n), list(
    reported = reported,
    decoder = list(
      type = "block", design = mechanism$design, law = law, centre = centre,
      inside = tally$inside
    ),
    dimnames = list(level = levels(mechanism))
  ))
}

# The same estimate from other reports of the same number of outputs.
block_moment <- function(total, decoder) {
  law <- decoder$law
  n <- sum(total)
  inside <- block_sums(block_tables(decoder$design, law$v), cbind(total), 1)[, 1]
  centred <- if (is.null(decoder$centre)) 0 else sum(total * decoder$centre)
  ((inside - law$q * n) / law$d - centred) / n
}

# Sum over reports of w^2 z z'.
block_second_moment <- function(object) {
  decoder <- object$decoder
  law <- decoder$law
  if (is_subset_family(decoder$design$family)) {
    return(set_second_moment(object))
  }
  square <- object$reported$square %||% object$reported$total
  seen <- which(square > 0)
  layout <- block_layout(decoder$design)
  result <- matrix(0, law$v, law$v)
  for (part in split(seen, ceiling(seq_along(seen) * law$v / 1e7))) {
    result <- result + crossprod(block_values(decoder, layout, part) * sqrt(square[part]))
  }
  result
}

block_values <- function(decoder, layout, outputs) {
  law <- decoder$law
  values <- (block_rows(layout, outputs, law$v) - law$q) / law$d
  if (is.null(decoder$centre)) values else values - decoder$centre[outputs]
}

# Counts of levels do not say which levels stood together. The expected number of sets with both x
# and x' is linear in the shares of the two, so its unbiased estimate is too.
set_second_moment <- function(object, levels = seq_along(object$decoder$inside)) {
  law <- object$decoder$law
  v <- law$v
  k <- object$decoder$design$k
  total <- sum(object$reported$square %||% object$reported$total)
  first <- object$first[levels]
  inside <- law$d * first + law$q * total
  base <- law$outside * k * (k - 1) / (v - 1)
  with_one <- base + law$surplus * k * (k - 1) / (v - 1)
  with_none <- base + law$surplus * k * (k - 1) * (k - 2) / ((v - 1) * max(v - 2, 1))
  both <- total * with_none + (with_one - with_none) * outer(first, first, `+`)
  both[cbind(seq_along(levels), seq_along(levels))] <- inside
  (both - law$q * outer(inside, inside, `+`) + law$q^2 * total) / law$d^2
}

# Sets of levels ---------------------------------------------------------------

# A set of levels is worth to a report the sum of what its levels are worth.
estimate_block_cells <- function(mechanism, counts, events, target) {
  full <- decode(mechanism, counts, list())
  sets <- events$level
  parts <- if (is_set_mechanism(mechanism)) {
    cells_of_sets(full, sets)
  } else {
    cells_of_outputs(full, sets)
  }
  first <- full$first
  parts$decoder$overlap <- outer(seq_along(sets), seq_along(sets), Vectorize(function(i, j) {
    sum(first[intersect(sets[[i]], sets[[j]])])
  }))
  moments <- moments_of_sums(parts$sums, full$reported, counts$n)
  new_estimate(c(moments, list(
    moment = moments$estimate,
    dimnames = list(cell = name_events(events, list(level = levels(mechanism)))),
    decoder = c(list(type = "block_cells"), parts$decoder),
    reported = full$reported, n = counts$n, method = "moment"
  )), mechanism, counts, target)
}

cells_of_outputs <- function(full, sets) {
  decoder <- full$decoder
  law <- decoder$law
  tables <- block_tables(decoder$design, law$v)
  values <- vapply(sets, function(set) {
    inside <- block_sizes(tables, as.numeric(seq_len(law$v) %in% set), TRUE)
    (inside - law$q * length(set)) / law$d - length(set) * (decoder$centre %||% 0)
  }, numeric(length(full$reported$total)))
  square <- full$reported$square %||% full$reported$total
  list(
    sums = list(
      value = as.vector(full$reported$total %*% values),
      square_weighted = as.vector(square %*% values), square = as.vector(square %*% values^2)
    ),
    decoder = list(second = crossprod(values, values * square))
  )
}

cells_of_sets <- function(full, sets) {
  asked <- sort(unique(unlist(sets)))
  if (length(asked) > max_vcov) {
    abort_parameter(c(
      "Events of reports that are sets may hold at most {format_count(max_vcov)} levels.",
      x = "These hold {format_count(length(asked))}."
    ), call = NULL)
  }
  second <- set_second_moment(full, asked)
  among <- vapply(sets, function(set) as.numeric(asked %in% set), numeric(length(asked)))
  among <- matrix(among, length(asked))
  second <- crossprod(among, second %*% among)
  total <- sum(full$reported$total)
  list(
    sums = list(
      value = total * as.vector(crossprod(among, full$estimate[asked])),
      square_weighted = as.vector(crossprod(among, full$first[asked])), square = diag(second)
    ),
    decoder = list(second = second)
  )
}

# Maximum likelihood -----------------------------------------------------------

fit_block <- function(reported, decoder, weight, control) {
  check_set_likelihood(decoder)
  em <- block_maximum_likelihood(
    reported, block_tables(decoder$design, decoder$law$v), decoder$law$outside,
    decoder$law$surplus, control
  )
  report_fit(em, em$shares, weight)
}

check_set_likelihood <- function(decoder, call = NULL) {
  if (decoder$type == "block" && is_subset_family(decoder$design$family)) {
    abort_parameter(c(
      "Maximum likelihood and tests of fit need reports that are single outputs.",
      x = "This mechanism reports sets, of which only the number that hold each level is counted.",
      i = "{.val simplex} gives the nearest distribution to the unbiased estimate."
    ), call = call)
  }
}

# The channel of a small design, for what works on matrices.
decoder_channel <- function(decoder, call = NULL) {
  if (decoder$type != "block") {
    return(decoder$channel)
  }
  check_set_likelihood(decoder, call)
  size <- max(decoder$design$b, decoder$law$v)
  if (size > max_matrix) {
    abort_parameter(c(
      "{.arg structural_zeros} are for channels of at most {max_matrix} rows and columns.",
      x = "This one has {format_count(size)}."
    ), call = call)
  }
  rows <- block_rows(block_layout(decoder$design), seq_len(decoder$design$b), decoder$law$v)
  t(decoder$law$outside + decoder$law$surplus * rows)
}

block_expected <- function(shares, decoder) {
  check_set_likelihood(decoder)
  decoder$law$outside * sum(shares) +
    decoder$law$surplus * block_sizes(block_tables(decoder$design, decoder$law$v), shares, FALSE)
}
