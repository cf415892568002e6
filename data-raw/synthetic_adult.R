# Synthetic Adult with as little budget as the accuracy of a classifier allows, in the spirit of the
# experiment of Raisa, Koskela and Honkela (2026), and the utility of the rows, which goes to
# synthetic_utility.csv beside the file. Run from the top of the sources with the package, Matrix
# and withr installed; goes on where it was stopped, and takes about 7 seconds a repeat:
#   Rscript data-raw/synthetic_adult.R [repeats = 50] [file = inst/extdata/synthetic_adult.csv]
library(confide)
source("inst/extdata/adult_experiment.R")

arguments <- commandArgs(TRUE)
repeats <- if (length(arguments) > 0) as.integer(arguments[[1]]) else 50L
file <- if (length(arguments) > 1) arguments[[2]] else "inst/extdata/synthetic_adult.csv"
alpha <- 20
grid <- 10^(-2 + (0:6) / 3)
people <- adult_table()

# 64 % to learn from, 16 % for the private check; 20 % to know how well the check did, which only
# public data allow.
divide <- function(repeat_) {
  u <- withr::with_seed(repeat_, stats::runif(nrow(people)))
  list(
    train = people[u < 0.64, ], validation = people[u >= 0.64 & u < 0.8, ],
    test = people[u >= 0.8, ]
  )
}

# The noise of a table and the synthetic rows at a level depend on the repeat and the level alone:
# all methods see the same people, and both checks the same models.
at_level <- function(repeat_, epsilon, code) {
  withr::with_seed(1000 * repeat_ + which.min(abs(log(grid / epsilon))), code)
}

model_of <- function(train, ...) {
  synthesize(train, ..., neighbours = "add_remove", label = "income", cuts = adult_cuts, rng = "r")
}

# How a level of the grid is reached from the one before; NULL before the first.
reach <- function(repeat_) {
  function(previous, train, epsilon) {
    at_level(repeat_, epsilon, if (is.null(previous)) {
      model_of(train, epsilon = epsilon, alpha = alpha)
    } else {
      refine(previous, epsilon = epsilon)
    })
  }
}

# Learnt once: the checks look at the same models.
learnt <- new.env()
learn_at <- function(repeat_, synthetic, epsilon) {
  name <- rlang::hash(list(repeat_, synthetic$shape, synthetic$potentials))
  if (is.null(learnt[[name]])) {
    assign(name, at_level(repeat_, epsilon, learn(synthetic)), learnt)
  }
  learnt[[name]]
}

outcome <- function(status, attempts, train, epsilon, beta, parts) {
  data.frame(
    status = status, attempts = attempts, train = train, epsilon = epsilon,
    validation = mean(is_right(beta, parts$validation)),
    test = mean(is_right(beta, parts$test)), records = nrow(parts$validation)
  )
}

stopped_run <- function(repeat_, check, threshold) {
  parts <- divide(repeat_)
  r <- withr::with_seed(1e6 + repeat_, accuracy_first(
    parts$train, parts$validation,
    refine = reach(repeat_), fit = function(s) learn_at(repeat_, s, s$epsilon), score = is_right,
    threshold = threshold, grid = grid, alpha = alpha, neighbours = "add_remove", check = check,
    rng = "r"
  ))
  outcome(r$status, r$attempts, r$parts[["train"]], r$epsilon, r$model, parts)
}

# The models that the checks look at, all levels without a stop.
path_run <- function(repeat_, check, threshold) {
  parts <- divide(repeat_)
  synthetic <- NULL
  rows <- NULL
  for (k in seq_along(grid)) {
    synthetic <- reach(repeat_)(synthetic, parts$train, grid[[k]])
    beta <- learn_at(repeat_, synthetic, grid[[k]])
    rows <- rbind(rows, outcome("path", k, synthetic$epsilon, synthetic$epsilon, beta, parts))
  }
  rows
}

# Fresh noise at each level: the same Gaussian check without the ledger, whose levels it would
# exceed. The certificates of all levels add up.
restarted_run <- function(repeat_, check, threshold) {
  parts <- divide(repeat_)
  moved <- max(threshold, 1 - threshold)
  for (k in seq_along(grid)) {
    synthetic <- at_level(repeat_, grid[[k]], model_of(parts$train, rho = grid[[k]] / alpha))
    beta <- learn_at(repeat_, synthetic, grid[[k]])
    right <- is_right(beta, parts$validation)
    sd <- moved * sqrt(alpha / (2 * diff(c(0, grid))[[k]]))
    noise <- withr::with_seed(1e6 + 1000 * repeat_ + k, stats::rnorm(1, sd = sd))
    reached <- sum(right - threshold) + noise >= 0
    if (reached) break
  }
  spent <- sum(grid[seq_len(k)])
  outcome(if (reached) "reached" else "exhausted", k, spent, spent, beta, parts)
}

# Laplace reduction: pure certificates for the same tables. A row is in 23 of them, so that noise of
# scale 23 / epsilon is needed; synthesize() with an epsilon divides it alike. No check is paid, in
# favour of the baseline: it stops at the first level that is accurate on the validation part.
laplace_run <- function(repeat_, check, threshold) {
  parts <- divide(repeat_)
  for (k in seq_along(grid)) {
    synthetic <- at_level(repeat_, grid[[k]], model_of(parts$train, epsilon = grid[[k]]))
    beta <- learn_at(repeat_, synthetic, grid[[k]])
    reached <- mean(is_right(beta, parts$validation)) >= threshold
    if (reached) break
  }
  outcome(if (reached) "reached" else "exhausted", k, grid[[k]], grid[[k]], beta, parts)
}

# One release at a level fixed beforehand.
fixed_run <- function(repeat_, check, threshold) {
  parts <- divide(repeat_)
  level <- grid[[3]]
  synthetic <- at_level(repeat_, level, model_of(parts$train, rho = level / alpha))
  outcome("fixed", 1, level, level, learn_at(repeat_, synthetic, level), parts)
}

designs <- data.frame(
  method = c(rep("brownian", 4), "path", "restart", "laplace", "fixed"),
  check = c("gaussian", "svt", "gaussian", "svt", "none", "gaussian", "none", "none"),
  threshold = c(0.84, 0.84, 0.845, 0.845, NA, 0.84, 0.84, NA)
)
runs <- list(
  brownian = stopped_run, path = path_run, restart = restarted_run, laplace = laplace_run,
  fixed = fixed_run
)

key <- function(rows) paste(rows$method, rows$check, rows$threshold, rows$repeat_)
done <- if (file.exists(file)) utils::read.csv(file)
for (i in seq_len(repeats)) {
  for (d in seq_len(nrow(designs))) {
    design <- cbind(designs[d, ], repeat_ = i)
    if (key(design) %in% key(done)) next
    result <- runs[[design$method]](i, design$check, design$threshold)
    done <- rbind(done, cbind(design, result, row.names = NULL))
    utils::write.csv(done, file, row.names = FALSE)
  }
}

# The models of the runs are those of the path.
on_path <- merge(
  done[done$method == "brownian", ], done[done$method == "path", ], by = c("repeat_", "attempts")
)
stopifnot(
  nrow(on_path) == sum(done$method == "brownian"),
  all.equal(on_path$validation.x, on_path$validation.y), all.equal(on_path$test.x, on_path$test.y)
)

stopped <- done[done$method != "path", ]
groups <- split(stopped, paste(stopped$method, stopped$check, stopped$threshold))
print(do.call(rbind, lapply(groups, function(rows) {
  data.frame(
    runs = nrow(rows), reached = sum(rows$status == "reached"),
    attempts = mean(rows$attempts), epsilon_mean = mean(rows$epsilon),
    epsilon_median = stats::median(rows$epsilon),
    validation = mean(rows$validation), test = mean(rows$test)
  )
})), digits = 4)

# Utility at one level: the tables of single columns and of all pairs, a classifier and its
# coefficients, beside the same budget spent on independent columns, and beside other packages where
# they are installed: synthpop without privacy, DPSynth at the same epsilon for delta = 1e-6.
parts <- divide(1)
bins <- adult_bins(parts$train)
features <- one_hot(parts$train)
truth <- logistic(features, parts$train$income == ">50K")
shares <- stats::plogis(drop(features %*% truth))
truth_error <- sqrt(diag(solve(
  crossprod(features, shares * (1 - shares) * features) + diag(ncol(features))
)))

# The mean over all tables of so many columns of half the l1 distance.
total_variation <- function(a, b, columns) {
  mean(apply(utils::combn(names(bins), columns), 2, function(names) {
    sum(abs(prop.table(table(a[names])) - prop.table(table(b[names])))) / 2
  }))
}

utility_of <- function(rows) {
  beta <- logistic(one_hot(rows), rows$income == ">50K")
  data.frame(
    single_tv = total_variation(bins, adult_bins(rows), 1),
    pair_tv = total_variation(bins, adult_bins(rows), 2),
    accuracy = mean(is_right(beta, parts$test)),
    coefficients_r = stats::cor(beta[-1], truth[-1]),
    coefficients_off = stats::median(abs(beta - truth)[-1] / truth_error[-1])
  )
}

# The mean of five synthetic sets.
utility <- function(data, make, sets = 5) {
  rows <- do.call(rbind, lapply(seq_len(sets), function(i) utility_of(withr::with_seed(i, make()))))
  cbind(data = data, sets = sets, as.data.frame(as.list(colMeans(rows))))
}

drawn <- function(...) {
  arguments <- list(...)
  function() {
    synthetic <- do.call(model_of, c(list(parts$train), arguments))
    simulate(synthetic, nrow(parts$train))
  }
}

level <- 0.1
same_epsilon <- zcdp_to_approx_dp(level / alpha, delta = 1e-6)

# Its copula relates numbers only: bins and income as their codes.
dpsynth_copula <- function() {
  numbers <- c(names(adult_cuts), "income")
  rows <- without_missing(bins)
  rows[numbers] <- lapply(rows[numbers], as.numeric)
  rows <- DPSynth::dp_copula_synth(rows, epsilon = same_epsilon, delta = 1e-6)$synthetic_data
  rows[numbers] <- lapply(numbers, function(name) {
    known <- levels(bins[[name]])
    factor(known[pmin(pmax(round(rows[[name]]), 1), length(known))], known)
  })
  with_missing(rows)
}

dpsynth_marginals <- function() {
  rows <- DPSynth::dp_marginals_synth(without_missing(bins), epsilon = same_epsilon)
  with_missing(rows$synthetic_data)
}

# Columns with many unordered levels last: as predictors they take very long.
synthpop_cart <- function() {
  order <- c(setdiff(names(bins), c("workclass", "occupation")), "workclass", "occupation")
  rows <- without_missing(bins)
  rows <- synthpop::syn(
    rows, visit.sequence = order, minnumlevels = 1, maxfaclevels = 60, print.flag = FALSE
  )$syn
  with_missing(rows)
}

# Other packages want a missing answer as a level like the others.
without_missing <- function(rows) {
  rows[] <- lapply(rows, function(x) {
    if (is.factor(x)) levels(x)[is.na(levels(x))] <- "missing"
    x
  })
  rows
}

with_missing <- function(rows) {
  rows[] <- lapply(rows, function(x) {
    if (is.factor(x)) levels(x)[levels(x) == "missing"] <- NA
    x
  })
  rows
}

of_peer <- function(package, data, make, sets = 5) {
  if (!requireNamespace(package, quietly = TRUE)) {
    message(package, " is not installed: no row for it.")
    return(NULL)
  }
  utility(paste(data, utils::packageVersion(package)), make, sets)
}

table_of_utility <- rbind(
  utility("the real rows themselves", function() parts$train, 1),
  utility("other real rows, a quarter as many", function() parts$validation, 1),
  utility("tree, hardly any noise", drawn(rho = 1e6)),
  utility("tree, epsilon 0.1 at alpha 20", drawn(rho = level / alpha)),
  utility("tree, epsilon 0.01 at alpha 20", drawn(rho = level / 10 / alpha)),
  utility(
    "independent given income, epsilon 0.1 at alpha 20", drawn(rho = level / alpha, edges = list())
  ),
  of_peer("DPSynth", "DPSynth copula", dpsynth_copula),
  of_peer("DPSynth", "DPSynth independent marginals", dpsynth_marginals),
  of_peer("synthpop", "not private: synthpop CART", synthpop_cart, 1)
)
print(table_of_utility, digits = 3)
utils::write.csv(
  table_of_utility, file.path(dirname(file), "synthetic_utility.csv"), row.names = FALSE
)

# All of C++ and what R adds to it, without the classifier.
seconds <- system.time({
  synthetic <- NULL
  for (epsilon in grid) synthetic <- reach(1)(synthetic, parts$train, epsilon)
})[["user.self"]]
cat(sprintf("seven levels, each refined from the one before: %.2f s of user time\n", seconds))
