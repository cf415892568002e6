#' Private synthetic data
#'
#' Learns how the columns of a data frame hang together, under differential privacy, and draws new
#' rows from what was learnt. The model is a tree (or forest) of dependent columns; with a `label`,
#' a tree in which every table holds the label too, so that its rows are made for predicting it. The
#' tree is chosen privately or given; the tables of the tree are counted with exact noise; and among
#' all distributions that fit the noisy tables best, the one of largest entropy is taken. Whatever
#' is drawn from it afterwards costs no more privacy.
#'
#' Domains are public: the levels of factors, `FALSE` and `TRUE`, and the bins that `cuts` makes of
#' numbers. Declare them without looking at the data; `factor(x)` on its own reads the levels off
#' the data. A synthetic data set keeps the tables of the tree (`$edges`) up to noise. Any other
#' relation of columns is kept only as far as it follows from these.
#'
#' The budget is divided by `split`: for choosing the tree (one exponential mechanism for each edge,
#' on the distance between a pair's table and independence), for the tables of single columns, and
#' for those of pairs, all of them with the label. Within a part all tables have the same noise.
#' What cannot be used (nothing to choose, no pairs) goes to the others.
#'
#' @param data (data frame) One row for each person. Factors, ordered factors and logical columns;
#'   numeric columns with an entry in `cuts`.
#' @param rho,epsilon (number above 0) The privacy parameter, as in [private_sum()]; at most one is
#'   given. `rho`: discrete Gaussian noise, the better choice with many columns. `epsilon`: discrete
#'   Laplace noise, a pure guarantee; with `alpha` discrete Gaussian noise, as said there.
#' @param ... Unused; catches misspelt arguments.
#' @param neighbours (string, no default) `"replace"`: the number of rows is public, and the
#'   synthetic data have as many by default. `"add_remove"`: it is estimated from the noisy tables.
#' @param label (string or `NULL`) A column that the others are to predict. Every table holds it.
#' @param cuts (named list) For each numeric column its break points, at least two, increasing and
#'   public. Bins are closed on the left, the last on both sides. The first and the last are the
#'   ends of the range and may be infinite; values beyond them count to the end bins.
#' @param na (`"error"` or `"level"`) With `"level"` a missing value is a level of every column. A
#'   factor made with [addNA()] has it in any case.
#' @param edges (list or `NULL`) The pairs of columns that depend on one another (given the label),
#'   where they are known beforehand: a list of vectors of two names, without cycles. `list()`:
#'   none. `NULL` (default): a tree is chosen privately.
#' @param split (named numeric vector) Shares of the budget, at least 0; they need not sum to 1.
#' @param alpha (number above 1, or `NULL`) For synthetic data that can be refined: `epsilon` is
#'   then the ex-post Renyi certificate at this order, and [refine()] lowers the noise of the same
#'   tables to reach a larger one. See [brownian()], and [accuracy_first()] for a private stop.
#' @param object (synthetic data) Made with `alpha`, the latest one.
#' @param ledger (ledger or `NULL`) Made by [ledger()]; charged before anything is drawn. With
#'   neither `rho` nor `epsilon` all that its limit leaves is spent, with Gaussian noise.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @returns An object of class `confide_synthetic`, a list with
#' * `$columns`: the public schema; `$label`;
#' * `$edges`: data frame with `parent`, `child`, `dependence` (the model's mutual information of
#'   the two given the label, in bits) and `chosen` (privately, or given);
#' * `$tables`: data frame with one row for each noisy table: `table`, `cells`, `noise_sd` of a
#'   cell, `noise` (the share of rows that noise alone misplaces on average, half the l1 distance),
#'   `misfit` (the same distance between the noisy table and the model);
#' * `$spent`: data frame with `part`, `tables` (noisy tables or choices), `cost` (rho or epsilon);
#' * `$rows`: number of rows, public or estimated; `$shape`, `$potentials`: the model;
#' * `$privacy`.
#'
#' With `alpha` also `$alpha`, `$epsilon`, `$rho` (the certificate so far), and `$handle`, the
#' curator's hold on the exact tables as in [brownian()], which no file can carry. `refine()`
#' returns the next one.
#'
#' It holds nothing else of the data. [simulate()][simulate.confide_synthetic] draws rows,
#' [predict()][predict.confide_synthetic] gives the label's probabilities, `plot()` shows the tree
#' or the errors of the tables, [privacy()] the guarantee.
#' @section Errors:
#' `confide_error_domain` when values lie outside their declared domain, with one fixed text;
#' `confide_error_parameter` for all that is public, such as a column without a domain, tables of
#' more than a million cells, or a budget that no noise can serve; `confide_error_budget` from the
#' ledger; `confide_error_randomness` when the operating system gives no random numbers.
#' @references
#' McKenna, R., Sheldon, D. and Miklau, G. (2019). Graphical-model based estimation and inference
#' for differential privacy. *ICML*. \doi{10.48550/arXiv.1901.09136}
#'
#' McKenna, R., Miklau, G. and Sheldon, D. (2021). Winning the NIST contest: a scalable and general
#' approach to differentially private synthetic data. *Journal of Privacy and Confidentiality* 11.
#' \doi{10.48550/arXiv.2108.04978}
#'
#' Cesar, M. and Rogers, R. (2021). Bounding, concentrating, and truncating: unifying privacy loss
#' composition for data analytics. *ALT*. \doi{10.48550/arXiv.2004.07223}
#' @seealso [simulate.confide_synthetic()], [private_sum()]
#' @examples
#' people <- as.data.frame(Titanic)
#' people <- people[rep(seq_len(nrow(people)), people$Freq), c("Class", "Sex", "Age", "Survived")]
#' s <- synthesize(people, rho = 0.1, neighbours = "add_remove", label = "Survived")
#' s
#' head(simulate(s, 1000))
#'
#' # noise that shrinks until it is good enough costs no more than the last step
#' path <- synthesize(
#'   people, epsilon = 0.05, alpha = 20, neighbours = "add_remove", label = "Survived"
#' )
#' refine(path, epsilon = 0.5)
#' @export
synthesize <- function(data, rho = NULL, ..., epsilon = NULL, alpha = NULL, neighbours,
                       label = NULL, cuts = NULL, na = c("error", "level"), edges = NULL,
                       split = c(tree = 1, single = 1, pairs = 1), ledger = NULL,
                       rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(data, "Give a data frame with one row for each person.")
  neighbours <- check_table_neighbours(neighbours)
  rng <- check_rng(rng)
  na <- check_choice(na, c("error", "level"))
  model <- new_tree_domain(data, label, cuts, na, edges)
  budget <- synthesis_budget(rho, epsilon, alpha, ledger)
  plan <- plan_synthesis(model, check_split(split), budget, neighbours)
  rows <- public_rows(data, neighbours)
  model$codes <- row_codes(data, model$columns)
  if (!is.null(alpha)) {
    return(start_path(model, plan, rows, budget$alpha, ledger, rng))
  }
  statement <- synthetic_statement(plan, rng, ledger)
  charge_before_noise(ledger, statement, "synthesize")
  released <- release_tables(model, plan, rows, rng, function(tables, part) {
    noisy_tables(tables, part, rng)
  })
  new_synthetic(model, released, plan, statement)
}

# All that is left of a ledger with a limit, where nothing else is said.
synthesis_budget <- function(rho, epsilon, alpha, ledger, call = rlang::caller_env()) {
  if (!is.null(alpha)) {
    return(path_budget(rho, epsilon, alpha, call))
  }
  if (is.null(ledger) || !is.null(rho) || !is.null(epsilon)) {
    return(check_budget(rho, epsilon, call))
  }
  check_ledger(ledger, call)
  left <- (ledger$limit - spent(ledger)) / ledger$alpha
  if (!is.finite(left) || left <= 0) {
    abort_parameter(c(
      paste(
        "Without {.arg rho} and {.arg epsilon} the {.arg ledger} must have a limit",
        "and something left."
      ),
      x = if (is.finite(left)) "All of its limit is spent." else "It has no limit."
    ), call = call)
  }
  list(law = "gaussian", value = spendable(left))
}

check_table_neighbours <- function(neighbours, call = rlang::caller_env()) {
  if (!rlang::is_missing(rlang::maybe_missing(neighbours)) && identical(neighbours, "zero_out")) {
    abort_parameter(c(
      "{.arg neighbours} must be {.val replace} or {.val add_remove} for tables.",
      x = "A row of zeros is no row of categories."
    ), call = call)
  }
  check_neighbours(neighbours, table_neighbours, call)
}

check_split <- function(split, call = rlang::caller_env()) {
  parts <- c("tree", "single", "pairs")
  named <- is.numeric(split) && !is.object(split) && identical(sort(names(split)), sort(parts))
  if (!named || !all(is.finite(split) & split >= 0) || split[["single"]] == 0) {
    abort_parameter(c(
      "{.arg split} must be three finite numbers named tree, single and pairs, at least 0.",
      x = "It is {describe(split)}.",
      i = "{.field single} must be above 0: a tree is chosen by what single tables leave open."
    ), call = call)
  }
  split[parts] / max(split)
}

# With public n there must be somebody to describe.
public_rows <- function(data, neighbours, call = rlang::caller_env()) {
  if (neighbours == "add_remove") {
    return(NULL)
  }
  if (nrow(data) == 0) {
    abort_parameter(c(
      "{.arg data} must have at least one row with {.code neighbours = \"replace\"}.",
      x = "It has none."
    ), call = call)
  }
  as.numeric(nrow(data))
}

# What is asked of the noise, all of it from public arguments: the choices, the tables of single
# columns and those of pairs, with what their integers realise.
plan_synthesis <- function(model, split, budget, neighbours, call = rlang::caller_env()) {
  features <- length(model$features)
  pairs <- if (model$choose) features - 1 else nrow(model$shape$edges)
  choices <- model$choose && features > 2
  if (choices && split[["tree"]] == 0) {
    abort_parameter(c(
      "Choosing a tree costs something: {.field tree} of {.arg split} must be above 0.",
      i = "Give {.arg edges} where the tree is known."
    ), call = call)
  }
  split[["tree"]] <- if (choices) split[["tree"]] else 0
  split[["pairs"]] <- if (pairs > 0) split[["pairs"]] else 0
  parts <- budget$value * split / sum(split)
  pairs <- if (split[["pairs"]] > 0) pairs else 0
  plan <- list(
    law = budget$law, budget = budget$value, neighbours = neighbours,
    choices = if (choices) plan_choices(features, parts[["tree"]], budget$law, neighbours, call),
    single = plan_tables(features, parts[["single"]], budget$law, neighbours, call),
    pairs = plan_tables(pairs, parts[["pairs"]], budget$law, neighbours, call)
  )
  plan$realised <- sum_rounded_up(c(
    plan$choices$realised, plan$single$realised, plan$pairs$realised
  ))
  plan
}

# One query for each of so many tables.
plan_tables <- function(tables, budget, law, neighbours, call = rlang::caller_env()) {
  if (tables == 0) {
    return(NULL)
  }
  query <- list(
    kind = "count", bound = 1, budget = spendable(budget / tables), law = law,
    neighbours = neighbours, n_max = largest_rows, dimension = 2
  )
  noise <- plan_noise(query, call)
  list(query = query, realised = rep(noise$realised, tables), noise_sd = noise$noise_sd)
}

# The release: a tree and its noisy tables, in the form of the model's arena. `measure` gives the
# noisy counts of a list of tables, with their precision, for one part of the plan.
release_tables <- function(model, plan, rows, rng, measure, call = rlang::caller_env()) {
  parts <- split_codes(model)
  bare <- orient_edges(utils::modifyList(model$shape, list(edges = matrix(0, 0, 2))))
  features <- seq_along(bare$sizes)
  single <- measure(count_tables(bare, parts, features), plan$single)
  if (!is.null(plan$choices)) {
    model$shape$edges <- choose_edges(bare, parts, single, rows, plan$choices, rng, call)
  } else if (model$choose && length(features) == 2) {
    model$shape$edges <- matrix(c(1, 2), 1)
  }
  shape <- orient_edges(model$shape)
  linked <- measure(count_tables(shape, parts, -features), plan$pairs)
  released <- list(shape = shape, single = single, pairs = linked, public_rows = rows)
  c(released, list(measured = combine_measured(released)))
}

combine_measured <- function(released) {
  measured <- list(
    values = c(released$single$values, released$pairs$values),
    precision = c(released$single$precision, released$pairs$precision), total = 1
  )
  measured$total <- released$public_rows %||% tree_total(released$shape, measured)
  measured
}

# The label's codes apart from the features'; zeros without a label.
split_codes <- function(model) {
  position <- match(model$label %||% "", names(model$columns), nomatch = 0L)
  if (position == 0) {
    return(list(features = model$codes, label = integer(nrow(model$codes))))
  }
  list(features = model$codes[, -position, drop = FALSE], label = model$codes[, position])
}

# The private counts of some tables of the arena, eight bytes each.
count_tables <- function(shape, parts, which) {
  units <- tree_counts(shape, parts$features, parts$label)
  lapply(seq_along(shape$size)[which], function(table) {
    units[seq(8 * shape$offset[[table]] + 1, length.out = 8 * shape$size[[table]])]
  })
}

# Each table with noise of its own; without a plan nothing is measured.
noisy_tables <- function(tables, plan, rng, call = rlang::caller_env()) {
  if (is.null(plan)) {
    return(unmeasured(tables))
  }
  values <- lapply(tables, function(units) {
    query <- plan$query
    query$dimension <- length(units) / 8
    release_units(units, query, rng, call)
  })
  list(values = unlist(values), precision = rep(1 / plan$noise_sd^2, length(tables)))
}

unmeasured <- function(tables) {
  list(values = numeric(sum(lengths(tables)) / 8), precision = numeric(length(tables)))
}

choose_edges <- function(bare, parts, single, rows, choices, rng, call) {
  measured <- combine_measured(list(shape = bare, single = single, public_rows = rows))
  total <- measured$total
  fit <- fit_tables(bare, measured)
  shares <- tree_shares(bare, fit$potentials)
  scores <- tree_scores(bare, parts$features, parts$label, shares, total)
  choose_tree(scores, length(bare$sizes), choices$query, rng, call)
}

# Steps multiply shares, so that a cell which an earlier, noisier model emptied would not come back:
# it starts from no less than e^-16 of its share.
fit_tables <- function(shape, measured, start = NULL) {
  start <- pmin(pmax(start %||% numeric(sum(shape$size)), -16), 16)
  tree_fit(shape, measured, start, 400, 1e-6)
}

new_synthetic <- function(model, released, plan, statement) {
  structure(c(
    model[c("columns", "label", "features")],
    fit_model(model, released, plan$law),
    list(spent = describe_spent(plan), privacy = statement)
  ), class = "confide_synthetic")
}

# All of a synthetic data set that follows from the noisy tables.
fit_model <- function(model, released, law, start = NULL) {
  shape <- released$shape
  fit <- fit_tables(shape, released$measured, start)
  list(
    edges = describe_edges(shape, fit$potentials, model),
    tables = describe_tables(shape, released$measured, fit$potentials, model, law),
    rows = released$measured$total,
    shape = shape,
    potentials = fit$potentials
  )
}

describe_edges <- function(shape, potentials, model) {
  shares <- tree_shares(shape, potentials)
  edges <- shape$edges
  data.frame(
    parent = model$features[edges[, 1]],
    child = model$features[edges[, 2]],
    dependence = vapply(seq_len(nrow(edges)), function(e) {
      mutual_information(table_of(shape, shares, length(shape$sizes) + e, edges[e, ]))
    }, numeric(1)),
    chosen = rep(if (model$choose) "privately" else "given", nrow(edges))
  )
}

# An arena's table as an array: label, and for an edge child and parent.
table_of <- function(shape, arena, table, edge = NULL) {
  cells <- arena[shape$offset[[table]] + seq_len(shape$size[[table]])]
  array(cells, c(shape$labels, shape$sizes[rev(edge %||% table)]))
}

# Of the second and third dimension given the first, in bits.
mutual_information <- function(shares) {
  given <- apply(shares, 1, sum)
  second <- apply(shares, c(1, 2), sum)
  third <- apply(shares, c(1, 3), sum)
  expected <- shares
  for (y in seq_along(given)) {
    expected[y, , ] <- outer(second[y, ], third[y, ]) / max(given[[y]], .Machine$double.xmin)
  }
  held <- shares > 0 & expected > 0
  max(0, sum(shares[held] * log2(shares[held] / expected[held])))
}

describe_tables <- function(shape, measured, potentials, model, law) {
  shares <- tree_shares(shape, potentials)
  table <- rep(seq_along(shape$size), shape$size)
  distance <- abs(measured$values / measured$total - shares)
  noise_sd <- ifelse(measured$precision > 0, 1 / sqrt(measured$precision), NA)
  names <- c(
    model$features,
    paste(model$features[shape$edges[, 1]], "x", model$features[shape$edges[, 2]])
  )
  tables <- data.frame(
    table = names[seq_along(shape$size)], cells = shape$size, noise_sd = noise_sd,
    # what the mean of |noise| is of its standard deviation
    noise = shape$size * noise_sd / (2 * measured$total) *
      (if (law == "gaussian") sqrt(2 / pi) else sqrt(1 / 2)),
    misfit = as.numeric(tapply(distance, table, sum)) / 2
  )
  tables[measured$precision > 0, ]
}

describe_spent <- function(plan) {
  parts <- list(tree = plan$choices, single = plan$single, pairs = plan$pairs)
  parts <- parts[!vapply(parts, is.null, logical(1))]
  data.frame(
    part = names(parts),
    tables = vapply(parts, function(part) length(part$realised), 1L),
    cost = vapply(parts, function(part) sum_rounded_up(part$realised), numeric(1)),
    row.names = NULL
  )
}

synthetic_statement <- function(plan, rng, ledger) {
  gaussian <- plan$law == "gaussian"
  structure(list(
    definition = paste(if (gaussian) "zero-concentrated" else "pure", "differential privacy"),
    rho = if (gaussian) plan$budget,
    rho_realised = if (gaussian) plan$realised,
    epsilon = if (!gaussian) plan$budget,
    epsilon_realised = if (!gaussian) plan$realised,
    model = "central: the data are seen by whoever computes the release",
    unit = "one row: all values of one person",
    neighbours = plan$neighbours,
    noise = paste0(
      "exact discrete ", if (gaussian) "Gaussian" else "Laplace", " on counts",
      if (!is.null(plan$choices)) ", exact choices"
    ),
    charged = !is.null(ledger),
    rng = release_source(rng)
  ), class = "confide_privacy")
}
