#' Block designs: least error for the bits of a report
#'
#' Each category owns a set of `r` of the `b` possible reports; a person reports an output of their
#' category's set with more weight than the others, by a factor of at most \eqn{e^\epsilon}. Where
#' any two sets share the same number of outputs (a block design) and the block size is right, no
#' unbiased scheme has a smaller worst-case squared error; designs that come within a per cent exist
#' for almost any number of categories, with reports hardly longer than the category itself.
#'
#' @section The choice:
#' Without `design` the one with the fewest bits is taken whose worst-case risk is within
#' `tolerance` of the lower bound, or, with `max_bits`, the one of least risk among those that fit.
#' See [block_designs()]. Where nothing comes within the tolerance, all k-subsets are reported (up
#' to k = 16), else the scheme with shared randomness is used; both are exactly optimal.
#'
#' @section Reports:
#' Whole numbers from 1 to b. For `"subset selection(v,k)"` a matrix with the k chosen categories in
#' each row, ascending. For `"shared randomness(v,k)"` a matrix with two columns, a public random
#' seed and the report; the seed is drawn before the category is looked at and protects nothing.
#'
#' @inheritParams mech_rr
#' @param levels (character, factor, logical, whole numbers, or one count k) As in [mech_rr()]; up
#'   to millions of categories.
#' @param epsilon (number, at least 2^-60) The privacy parameter of each report; no default. Above
#'   44 it is served as 44; designs with millions of outputs per category realise at most about 30,
#'   which is printed.
#' @param tolerance (number, at least 0) Excess of the risk over the lower bound that is allowed, as
#'   a fraction; 0 asks for an exactly optimal design.
#' @param max_bits (number or `NULL`) Instead of a tolerance: the longest report, at least log2 of
#'   the number of categories.
#' @param design (string, row of [block_designs()], or logical matrix) The design to use: its name,
#'   or an incidence matrix with a row for each category and a column for each output, in which all
#'   rows have the same number of `TRUE` and any two rows share the same number.
#' @returns A mechanism of class `confide_block`: a list with `$design` (a list: `family`, `v0`,
#'   `b`, `r`, `k`, `lambda`, `kept`: the points of the design that are used), `$bits` (log2 b),
#'   `$risk` (n times the worst-case mean squared error of the canonical estimator), `$risk_bound`
#'   (the least possible), `$excess` (risk / bound - 1), `$risk_centred` (of the default estimator
#'   at the uniform distribution; `NA` for designs above 2e5 outputs, where it is not computed),
#'   `$n_outputs`, `$privacy`, `$call`, `$fingerprint`.
#' @section Errors:
#' `confide_error_parameter` for epsilon 0, unknown designs, designs with too few points and what
#' [mech_rr()] refuses.
#' @references
#' Park, H.-Y., Nam, S.-H. and Lee, S.-H. (2023). Exactly optimal and communication-efficient
#' private estimation via block designs. arXiv 2305.01261.
#'
#' Ye, M. and Barg, A. (2018). Optimal schemes for discrete distribution estimation under locally
#' differential privacy. *IEEE Transactions on Information Theory* 64(8), 5662-5676.
#' \doi{10.1109/TIT.2018.2809790}
#' @family mechanisms
#' @family block designs
#' @examples
#' m <- mech_block(100, epsilon = 1)
#' m
#' reports <- privatize(rep(1:100, 100), m, rng = "r")
#' estimate(reports, m)
#' mech_block(7, epsilon = 0.5, design = "PG(2,2)")
#' @export
mech_block <- function(levels, epsilon, ..., tolerance = 0.01, max_bits = NULL, design = NULL,
                       na = c("error", "level")) {
  check_dots_empty(...)
  check_required(levels, "Give the labels, or their number.")
  epsilon <- check_block_epsilon(epsilon)
  na <- check_choice(na, c("error", "level"))
  alphabet <- new_alphabet(levels, na)
  tolerance <- check_not_negative(tolerance, excess_hint)
  v <- alphabet$size
  max_bits <- check_bits(max_bits, v)
  chosen <- if (is.null(design)) {
    choose_design(v, epsilon, tolerance, max_bits)
  } else {
    given_design(design, v, epsilon)
  }
  new_block(alphabet, epsilon, chosen, call = rlang::call2("mech_block",
    levels = public_levels(levels), epsilon = epsilon, tolerance = tolerance, max_bits = max_bits,
    design = if (is.matrix(design)) design else if (!is.null(design)) chosen$family, na = na
  ))
}

excess_hint <- "0.01 allows a risk of one per cent above the least possible."

# Fewest outputs within the tolerance, or least risk within the bits.
choose_design <- function(v, epsilon, tolerance, max_bits) {
  rows <- catalogue(v, epsilon)
  subsets <- startsWith(rows$family, "subset selection")
  shared <- startsWith(rows$family, "shared randomness")
  rows <- rows[!shared & (!subsets | rows$k <= 16) | rows$family == first_shared(v, epsilon), ]
  alone <- rows[!startsWith(rows$family, "shared randomness"), ]
  if (!is.null(max_bits)) {
    fitting <- alone[alone$bits <= max_bits + 1e-9, ]
    return(first_row(fitting[order(signif(fitting$risk, 12), fitting$b), ]))
  }
  close <- alone[alone$excess <= tolerance + 1e-12, ]
  if (nrow(close) == 0) {
    check_shareable(v)
    return(first_row(rows[rows$family == first_shared(v, epsilon), ]))
  }
  first_row(close[order(close$bits, signif(close$risk, 12), nchar(close$family)), ])
}

# With shared randomness the sets of a single report take time and memory of the order of v.
check_shareable <- function(v, call = rlang::caller_env(2)) {
  if (v <= largest_design) {
    return(invisible())
  }
  abort_parameter(c(
    "{.fn mech_block} builds designs of at most {format_count(largest_design)} points.",
    x = "There are {format_count(v)} levels, and no such design comes within {.arg tolerance}.",
    i = "Group the levels, or allow a larger {.arg tolerance}."
  ), call = call)
}

first_row <- function(rows) as.list(rows[1, ])

first_shared <- function(v, epsilon) {
  sprintf("shared randomness(%.0f,%.0f)", v, block_size_set(v, epsilon)[[1]])
}

given_design <- function(design, v, epsilon, call = rlang::caller_env()) {
  if (is.data.frame(design) && nrow(design) == 1 && is.character(design$family)) {
    design <- design$family
  }
  if (is.matrix(design)) {
    row <- matrix_design(design, v, call)
  } else if (is_text(design)) {
    row <- named_design(design, v, epsilon, call)
  } else {
    abort_parameter(c(
      "{.arg design} must be a name, a row of {.fn block_designs}, or a logical matrix.",
      x = "It is {describe(design)}."
    ), call = call)
  }
  if (row$points < v) {
    abort_parameter(c(
      "{.arg design} must have a point for each of the {format_count(v)} levels.",
      x = "{row$family} has {format_count(row$points)}."
    ), call = call)
  }
  rated <- as.list(rate_designs(as.data.frame(row[setdiff(names(row), "matrix")]), v, epsilon))
  rated$matrix <- row$matrix
  rated
}

# Names ------------------------------------------------------------------------

# "residual PG(4,3)" as part, family and numbers; NULL where it is no such name.
parse_design <- function(name) {
  pattern <- "^(residual |derived )?([A-Za-z][A-Za-z ]*0?)(\\(([0-9]+(, ?[0-9]+)*)\\))?$"
  found <- regmatches(name, regexec(pattern, name))[[1]]
  if (length(found) == 0) {
    return(NULL)
  }
  numbers <- as.numeric(strsplit(found[[5]], ", ?")[[1]])
  list(part = trimws(found[[2]]), family = found[[3]], numbers = numbers)
}

# The row of a named design. The two schemes without a fixed design need no numbers.
named_design <- function(name, v, epsilon, call) {
  parsed <- parse_design(name)
  if (!is.null(parsed) && length(parsed$numbers) == 0 && parsed$part == "") {
    best <- block_size_set(v, epsilon)[[1]]
    parsed$numbers <- switch(parsed$family,
      "subset selection" = ,
      "shared randomness" = c(v, best),
      "randomized response" = v
    )
  }
  row <- if (!is.null(parsed) && all(parsed$numbers <= 2^31)) family_row(parsed, v)
  if (is.null(row)) {
    abort_parameter(c(
      "{.arg design} must name a design that can be built.",
      x = "It is {describe(name)}.",
      i = "{.code block_designs(v, epsilon, all = TRUE)$family} lists names."
    ), call = call)
  }
  row
}

family_row <- function(parsed, v) {
  a <- parsed$numbers
  if (parsed$family %in% names(plain_families)) {
    known <- parsed$part == "" && length(a) == plain_families[[parsed$family]]
    return(if (known) plain_row(parsed, a, v))
  }
  symmetric <- named_symmetric(parsed, a)
  if (is.null(symmetric)) {
    return(NULL)
  }
  rows <- part_rows(symmetric, 0)
  start <- if (parsed$part == "") parsed$family else parsed$part
  rows <- rows[startsWith(rows$family, start), ]
  if (nrow(rows) == 1) as.list(rows)
}

# Families without residuals, and how many numbers their names have.
plain_families <- list(
  "randomized response" = 1, "subset selection" = 2, "shared randomness" = 2, triples = 2,
  cyclotomic = 3
)

plain_row <- function(parsed, a, v) {
  switch(parsed$family,
    "randomized response" = if (a >= 2) identity_rows(a),
    "subset selection" = if (are_set_numbers(a, v)) subset_rows(v, a[[2]]),
    "shared randomness" = if (are_set_numbers(a, v)) shared_rows(v, a[[2]]),
    triples = named_row(triple_rows(a[[1]]), parsed, a),
    cyclotomic = cyclotomic_row(a[[1]], a[[2]], a[[3]])
  )
}

are_set_numbers <- function(a, v) a[[1]] == v && a[[2]] >= 1 && a[[2]] < v

design_name <- function(parsed, a) {
  numbers <- format(a, scientific = FALSE, trim = TRUE)
  sprintf("%s(%s)", parsed$family, paste(numbers, collapse = ","))
}

named_row <- function(rows, parsed, a) {
  rows <- rows[rows$family == design_name(parsed, a), ]
  if (nrow(rows) == 1) as.list(rows)
}

cyclotomic_row <- function(q, h, k) {
  if (!is_cyclotomic(q, h, k)) {
    return(NULL)
  }
  copies <- cyclotomic_copies(q, h)
  if (copies * k <= 2^27) cyclotomic_design(q, h, k, copies)
}

is_cyclotomic <- function(q, h, k) {
  q <= 2^22 && is_prime_power(q) && h >= 1 && (q - 1) %% h == 0 && is_cyclotomic_size(q, h, k)
}

# A symmetric design by its name, where it exists and is of a size that can be built.
named_symmetric <- function(parsed, a) {
  name <- design_name(parsed, a)
  v0 <- symmetric_size(parsed$family, a)
  if (is.null(v0) || !isTRUE(v0 <= 2^24)) {
    return(NULL)
  }
  rows <- switch(parsed$family,
    Paley = if (a %% 4 == 3 && is_prime_power(a)) {
      symmetric_rows(sprintf("Paley(%.0f)", a), a, (a - 1) / 2, (a - 3) / 4)
    },
    Hadamard = if (a >= 4 && a %% 4 == 0 && !is.na(hadamard_core_order(a))) {
      symmetric_rows(sprintf("Hadamard(%.0f)", a), a - 1, a / 2 - 1, a / 4 - 1)
    },
    symmetric_designs(max(v0, 100))
  )
  rows <- rows[rows$family == name, ]
  if (NROW(rows) == 1) rows
}

symmetric_size <- function(family, a) {
  one <- length(a) == 1
  two <- length(a) == 2
  switch(family,
    Paley = ,
    quartic = ,
    quartic0 = ,
    octic = ,
    octic0 = ,
    bent = ,
    "twin primes" = ,
    Hadamard = if (one) a,
    PG = if (two && a[[2]] > 1) points_of_space(a[[2]], a[[1]] + 1),
    McFarland = if (two && a[[1]] > 1) {
      a[[1]]^(a[[2]] + 1) * (points_of_space(a[[1]], a[[2]] + 1) + 1)
    },
    Spence = if (one) 3^(a + 1) * (3^(a + 1) - 1) / 2
  )
}

# A design given as a matrix: rows are levels, columns outputs.
matrix_design <- function(design, v, call) {
  check_flag_matrix(design, v, call)
  shared <- tcrossprod(design + 0)
  r <- unique(diag(shared))
  lambda <- unique(shared[upper.tri(shared)])
  alike <- length(r) == 1 && length(lambda) == 1
  if (!alike || r <= lambda || r >= ncol(design)) {
    abort_parameter(c(
      paste(
        "All rows of {.arg design} must have the same number of outputs,",
        "and any two must share the same, smaller number."
      ),
      x = "They do not.",
      i = "The rows of such a matrix are the points of an (r, lambda)-design."
    ), call = call)
  }
  k <- unique(colSums(design))
  list(
    family = "given", points = v, v0 = v, b = ncol(design), r = r,
    k = if (length(k) == 1) k else NA_real_, lambda = lambda, matrix = design == 1
  )
}

check_flag_matrix <- function(design, v, call) {
  flags <- !is.object(design) && all(design %in% c(0, 1)) && nrow(design) == v
  if (flags && max(dim(design)) <= max_matrix) {
    return(invisible())
  }
  abort_parameter(c(
    paste(
      "A {.arg design} matrix must be logical, with a row for each level,",
      "at most {max_matrix} rows and columns."
    ),
    x = "It is {describe(design)} with dimensions {paste(dim(design), collapse = ' x ')}."
  ), call = call)
}

# The object -------------------------------------------------------------------

new_block <- function(alphabet, epsilon, chosen, call) {
  v <- alphabet$size
  sets <- is_subset_family(chosen$family)
  design <- c(
    chosen[c("family", "v0", "b", "r", "k", "lambda")],
    list(points = chosen$points, matrix = chosen$matrix)
  )
  design$kept <- kept_points(design, v)
  fields <- list(
    alphabet = alphabet,
    outputs = new_alphabet(if (sets) v else chosen$b, role = alphabet_role(few = 1)),
    epsilon = epsilon,
    design = design,
    bits = chosen$bits,
    n_outputs = chosen$b
  )
  bound <- smallest_risk(v, epsilon)
  law <- block_law(fields)
  if (law$surplus <= 0) {
    abort_parameter(c(
      "{.arg epsilon} must be large enough for the 64-bit integers of the sampler.",
      x = "With {format(epsilon)} and {format_count(chosen$b)} outputs reports would say nothing.",
      i = "Take a larger {.arg epsilon}, or a design with fewer outputs: {.fn block_designs}."
    ), call = rlang::caller_env())
  }
  fields$risk <- if (chosen$exact && epsilon <= 20) bound else realised_risk(fields, law)
  fields$risk_bound <- bound
  fields$excess <- max(fields$risk / bound - 1, 0)
  fields$risk_centred <- centred_risk(fields, law)
  new_mechanism("block", fields, call)
}

# Where a large design realises less than the epsilon asked for, the risk is that of what is
# realised.
realised_risk <- function(mechanism, law) {
  ratio <- law_ratio(as.data.frame(mechanism$design[c("family", "b", "r", "k", "lambda")]), law$v)
  block_design_risk(law$v, ratio$b, ratio$r, ratio$lambda, law$log_ratio)
}

# The points of the whole design that are levels, from 1: the first ones of the part that is used.
kept_points <- function(design, v) {
  part <- parse_design(design$family)$part
  if (!part %in% c("residual", "derived")) {
    return(seq_len(v))
  }
  utils::head(remember(paste("kept", design$family), function() {
    block_kept(whole_layout(design), part == "derived") + 1L
  }), v)
}

# What the C++ core needs to know of the design.
block_layout <- function(design) {
  excluded <- grepl("^(residual|derived) ", design$family)
  c(whole_layout(design), list(
    kept = if (excluded) design$kept - 1L else integer(), excluded = excluded, b = design$b,
    r = design$r
  ))
}

# The design with what the core needs to sum over it. That of the last design is kept for the
# session: some 50 bytes for each output.
block_tables <- function(design, v) {
  if (!is.null(design$matrix) || design$b > largest_catalogue) {
    return(block_used(block_layout(design), v))
  }
  key <- paste(v, design$family)
  if (!identical(session_cache$.tables$key, key)) {
    session_cache$.tables <- NULL
    session_cache$.tables <- list(key = key, used = block_used(block_layout(design), v))
  }
  session_cache$.tables$used
}

whole_layout <- function(design) {
  if (!is.null(design$matrix)) {
    return(listed_layout(design$matrix))
  }
  parsed <- parse_design(design$family)
  remember(paste("layout", parsed$family, toString(parsed$numbers)), function() {
    build_layout(parsed$family, parsed$numbers)
  })
}

build_layout <- function(family, numbers) {
  switch(family,
    Hadamard = {
      core <- hadamard_core_order(numbers)
      list(layout = "hadamard", doubled = numbers / core, core = core, base = integer())
    },
    triples = {
      blocks <- block_triples(numbers[[1]], numbers[[2]])
      incidence <- matrix(FALSE, numbers[[1]], length(blocks) / 3)
      incidence[cbind(blocks + 1L, rep(seq_len(ncol(incidence)), each = 3))] <- TRUE
      # Twice the same block is two outputs.
      listed_layout(incidence)
    },
    block_family(family, as.integer(c(numbers, switch(family,
      bent = log2(numbers) / 2,
      "twin primes" = sqrt(numbers + 1) - 1
    ))))
  )
}

listed_layout <- function(incidence) {
  members <- which(t(incidence)) - 1L
  list(
    layout = "listed", points = nrow(incidence), outputs = ncol(incidence),
    base = as.integer(members %% ncol(incidence))
  )
}

# Probabilities from the integers of the sampler: of an output outside a level's set (`outside`),
# how much more one inside has (`surplus`); that a report falls into the set of the true level
# (`p`), of another one (`q`), and their difference.
block_law <- function(mechanism) {
  design <- mechanism$design
  v <- mechanism$alphabet$size
  ratio <- law_ratio(as.data.frame(design[c("family", "b", "r", "k", "lambda")]), v)
  realised <- block_realised(mechanism$epsilon, ratio$r, ratio$b)
  outside <- realised[["outside"]]
  surplus <- realised[["surplus"]]
  keeps <- realised[["keeps"]] == 1
  list(
    v = v, outside = outside, surplus = surplus,
    p = ratio$r * (outside + surplus), q = ratio$r * outside + ratio$lambda * surplus,
    d = (ratio$r - ratio$lambda) * surplus,
    log_ratio = kept_loss(realised[["worst_log_ratio"]], mechanism$epsilon, keeps),
    certified_epsilon = kept_loss(realised[["certified_epsilon"]], mechanism$epsilon, keeps),
    keeps = keeps,
    r = ratio$r, b = ratio$b
  )
}

is_set_mechanism <- function(mechanism) {
  inherits(mechanism, "confide_block") && is_subset_family(mechanism$design$family)
}

# Whether every output has the same number of levels, so that the canonical estimates sum to 1.
is_balanced <- function(design, v) {
  if (!is.null(design$matrix)) {
    return(!is.na(design$k))
  }
  design$points == v
}

# How many levels each output has; NULL where all have the same number.
output_sizes <- function(design, v) {
  if (is_balanced(design, v) || is_subset_family(design$family)) {
    return(NULL)
  }
  key <- if (is.null(design$matrix)) paste("sizes", v, design$family)
  compute <- function() block_sizes(block_tables(design, v), rep(1, v), TRUE)
  if (is.null(key)) compute() else remember(key, compute)
}

# n times the mean squared error of the centred estimator at the uniform distribution: the canonical
# one's less n times the variance of the sum of its estimates, over v.
centred_risk <- function(mechanism, law, largest = 2e5) {
  if (is_balanced(mechanism$design, law$v)) {
    return(mechanism$risk)
  }
  if (mechanism$design$b > largest) {
    return(NA_real_)
  }
  sizes <- output_sizes(mechanism$design, law$v)
  reported <- law$outside + law$surplus * sizes / law$v
  mean <- sum(reported * sizes)
  mechanism$risk - sum(reported * (sizes - mean)^2) / (law$v * law$d^2)
}
