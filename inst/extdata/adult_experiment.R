# Adult for synthetic data: 12 features and the label income. The break points were chosen from the
# meaning of the columns (working life, no gain or loss, part and full time), not from the rows.
adult_cuts <- list(
  age = c(17, 22, 27, 32, 37, 42, 47, 52, 57, 62, 67, 75, 91),
  capital_gain = c(0, 1, 5000, 100000),
  capital_loss = c(0, 1, 5000),
  hours_per_week = c(1, 20, 30, 38, 41, 46, 51, 61, 100)
)

adult_table <- function() {
  people <- confide::adult[setdiff(names(confide::adult), c("fnlwgt", "education_num", "set"))]
  abroad <- people$native_country != "United-States"
  people$native_country <- factor(ifelse(abroad, "other", "United-States"))
  for (name in c("workclass", "occupation", "native_country")) {
    people[[name]] <- addNA(people[[name]])
  }
  people
}

# Everything as factors: numbers in bins as synthesize() makes them, missing answers a level.
adult_bins <- function(people) {
  for (name in names(people)) {
    x <- people[[name]]
    cuts <- adult_cuts[[name]]
    if (!is.null(cuts)) {
      code <- if (is.factor(x)) as.integer(x) else findInterval(x, utils::head(cuts, -1))
      people[[name]] <- factor(code, seq_along(cuts[-1]))
    } else if (name %in% c("workclass", "occupation", "native_country")) {
      people[[name]] <- addNA(x)
    }
  }
  people
}

# Every level but the first of a feature becomes a column of 0 and 1.
one_hot <- function(people) {
  features <- adult_bins(people[names(people) != "income"])
  columns <- lapply(features, function(x) outer(as.integer(x), seq_len(nlevels(x))[-1], "=="))
  cbind(1, do.call(cbind, columns) + 0)
}

# Logistic regression with a ridge of 1, by Newton's method. Most of x is 0.
logistic <- function(x, y, steps = 10) {
  x <- Matrix::Matrix(x, sparse = TRUE)
  beta <- numeric(ncol(x))
  for (step in seq_len(steps)) {
    p <- stats::plogis(as.vector(x %*% beta))
    hessian <- as.matrix(Matrix::crossprod(x, p * (1 - p) * x)) + diag(ncol(x))
    change <- solve(hessian, as.vector(Matrix::crossprod(x, y - p)) - beta)
    beta <- beta + change
    if (max(abs(change)) < 1e-3) break
  }
  beta
}

# Whether the model is right about each person.
is_right <- function(beta, people) {
  (drop(one_hot(people) %*% beta) > 0) == (people$income == ">50K")
}

learn <- function(synthetic, rows = 8000) {
  people <- simulate(synthetic, rows)
  logistic(one_hot(people), people$income == ">50K")
}
