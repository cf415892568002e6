# Synthetic Adult with as little budget as the accuracy of a classifier allows, in the spirit of the
# experiment of Raisa, Koskela and Honkela (2026). Run from the top of the sources with the package
# installed; goes on where it was stopped:
#   Rscript bench/synthesize.R [repeats = 50] [file = inst/extdata/synthetic_adult.csv]
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
divide <- function(seed) {
  set.seed(seed)
  u <- stats::runif(nrow(people))
  list(
    train = people[u < 0.64, ], validation = people[u >= 0.64 & u < 0.8, ],
    test = people[u >= 0.8, ]
  )
}

model_of <- function(train, ...) {
  synthesize(train, ..., neighbours = "add_remove", label = "income", cuts = adult_cuts, rng = "r")
}

# How a level of the grid is reached.
refinements <- list(
  brownian = function(previous, train, epsilon) {
    if (is.null(previous)) {
      return(model_of(train, epsilon = epsilon, alpha = alpha))
    }
    refine(previous, epsilon = epsilon)
  },
  # what the levels before cost is lost
  restart = function(previous, train, epsilon) model_of(train, rho = epsilon / alpha)
)

stopped_run <- function(seed, check, threshold) {
  parts <- divide(seed)
  r <- accuracy_first(
    parts$train, parts$validation,
    refine = refinements$brownian, fit = learn, score = is_right, threshold = threshold,
    grid = grid, alpha = alpha, neighbours = "add_remove", check = check, rng = "r"
  )
  data.frame(
    status = r$status, attempts = r$attempts, train = r$parts[["train"]], epsilon = r$epsilon,
    validation = mean(is_right(r$model, parts$validation)),
    test = mean(is_right(r$model, parts$test))
  )
}

# Fresh noise at each level: the same Gaussian check without the ledger, whose levels it would
# exceed. The certificates of all levels add up.
restarted_run <- function(seed, check, threshold) {
  parts <- divide(seed)
  moved <- max(threshold, 1 - threshold)
  for (k in seq_along(grid)) {
    beta <- learn(refinements$restart(NULL, parts$train, grid[[k]]))
    right <- is_right(beta, parts$validation)
    sd <- moved * sqrt(alpha / (2 * diff(c(0, grid))[[k]]))
    reached <- sum(right - threshold) + stats::rnorm(1, sd = sd) >= 0
    if (reached) break
  }
  data.frame(
    status = if (reached) "reached" else "exhausted", attempts = k, train = sum(grid[seq_len(k)]),
    epsilon = sum(grid[seq_len(k)]), validation = mean(right),
    test = mean(is_right(beta, parts$test))
  )
}

# Laplace reduction: pure certificates for the same tables. A row is in 23 of them, so that noise of
# scale 23 / epsilon is needed; synthesize() with an epsilon divides it alike. No check is paid, in
# favour of the baseline: it stops at the first level that is accurate on the validation part.
laplace_run <- function(seed, check, threshold) {
  parts <- divide(seed)
  for (k in seq_along(grid)) {
    beta <- learn(model_of(parts$train, epsilon = grid[[k]]))
    right <- is_right(beta, parts$validation)
    if (mean(right) >= threshold) break
  }
  data.frame(
    status = if (mean(right) >= threshold) "reached" else "exhausted", attempts = k,
    train = grid[[k]], epsilon = grid[[k]], validation = mean(right),
    test = mean(is_right(beta, parts$test))
  )
}

# One release at a level fixed beforehand.
fixed_run <- function(seed, check, threshold) {
  parts <- divide(seed)
  level <- grid[[3]]
  beta <- learn(model_of(parts$train, rho = level / alpha))
  data.frame(
    status = "fixed", attempts = 1, train = level, epsilon = level,
    validation = mean(is_right(beta, parts$validation)), test = mean(is_right(beta, parts$test))
  )
}

designs <- data.frame(
  method = c(rep("brownian", 4), "restart", "laplace", "fixed"),
  check = c("gaussian", "svt", "gaussian", "svt", "gaussian", "none", "none"),
  threshold = c(0.84, 0.84, 0.845, 0.845, 0.84, 0.84, NA)
)
runs <- list(
  brownian = stopped_run, restart = restarted_run, laplace = laplace_run, fixed = fixed_run
)

key <- function(rows) paste(rows$method, rows$check, rows$threshold, rows$repeat_)
done <- if (file.exists(file)) utils::read.csv(file)
for (i in seq_len(repeats)) {
  for (d in seq_len(nrow(designs))) {
    design <- cbind(designs[d, ], repeat_ = i)
    if (key(design) %in% key(done)) next
    result <- runs[[design$method]](1000 * d + i, design$check, design$threshold)
    done <- rbind(done, cbind(design, result, row.names = NULL))
    utils::write.csv(done, file, row.names = FALSE)
  }
}

groups <- split(done, paste(done$method, done$check, done$threshold))
print(do.call(rbind, lapply(groups, function(rows) {
  data.frame(
    runs = nrow(rows), reached = sum(rows$status == "reached"),
    attempts = mean(rows$attempts), epsilon_mean = mean(rows$epsilon),
    epsilon_median = stats::median(rows$epsilon),
    validation = mean(rows$validation), test = mean(rows$test)
  )
})), digits = 4)

# Utility at one level: tables of all pairs, a classifier and its coefficients, beside the same
# budget spent on independent columns, and beside the exact tables.
total_variation <- function(rows, other) {
  features <- names(people)
  pairs <- utils::combn(features, 2)
  mean(apply(pairs, 2, function(pair) {
    a <- prop.table(table(binned(rows)[pair], useNA = "ifany"))
    b <- prop.table(table(binned(other)[pair], useNA = "ifany"))
    if (!identical(dim(a), dim(b))) {
      levels <- lapply(pair, function(name) union(dimnames(a)[[name]], dimnames(b)[[name]]))
      a <- spread(a, levels)
      b <- spread(b, levels)
    }
    sum(abs(a - b)) / 2
  }))
}

spread <- function(table, levels) {
  full <- matrix(0, length(levels[[1]]), length(levels[[2]]))
  full[match(rownames(table), levels[[1]]), match(colnames(table), levels[[2]])] <- table
  full
}

binned <- function(rows) {
  for (name in names(adult_cuts)) {
    cuts <- adult_cuts[[name]]
    if (!is.factor(rows[[name]])) {
      rows[[name]] <- factor(findInterval(rows[[name]], utils::head(cuts, -1)), seq_along(cuts[-1]))
    }
    levels(rows[[name]]) <- seq_along(cuts[-1])
  }
  rows
}

parts <- divide(1)
truth <- logistic(one_hot(parts$train), parts$train$income == ">50K")
utility <- function(label, ...) {
  set.seed(2)
  s <- model_of(parts$train, ...)
  rows <- simulate(s, nrow(parts$train))
  beta <- logistic(one_hot(rows), rows$income == ">50K")
  data.frame(
    data = label, pair_tv = total_variation(parts$train, rows),
    accuracy = mean(is_right(beta, parts$test)),
    coefficients = stats::cor(beta[-1], truth[-1])
  )
}
print(rbind(
  utility("tree, exact tables", rho = 1e6),
  utility("tree, epsilon = 0.1 at alpha = 20", rho = 0.1 / alpha),
  utility("tree, epsilon = 0.01 at alpha = 20", rho = 0.01 / alpha),
  utility("independent given income, 0.1", rho = 0.1 / alpha, edges = list()),
  data.frame(
    data = "the rows themselves", pair_tv = total_variation(parts$train, parts$test),
    accuracy = mean(is_right(truth, parts$test)), coefficients = 1
  )
), digits = 3)
