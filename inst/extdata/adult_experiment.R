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

# Numbers become bins as synthesize() makes them, and every level but the first a column of 0 and 1.
one_hot <- function(people) {
  columns <- lapply(setdiff(names(people), "income"), function(name) {
    x <- people[[name]]
    cuts <- adult_cuts[[name]]
    if (!is.null(cuts)) {
      code <- if (is.factor(x)) as.integer(x) else findInterval(x, utils::head(cuts, -1))
      return(outer(code, seq_len(length(cuts) - 1)[-1], "=="))
    }
    labels <- levels(x)[!is.na(levels(x))]
    with_missing <- name %in% c("workclass", "occupation", "native_country")
    code <- match(as.character(x), labels, nomatch = length(labels) + 1L)
    outer(code, seq_len(length(labels) + with_missing)[-1], "==")
  })
  cbind(1, do.call(cbind, columns) + 0)
}

# Logistic regression with a ridge of 1, by Newton's method.
logistic <- function(x, y, steps = 10) {
  beta <- numeric(ncol(x))
  for (step in seq_len(steps)) {
    p <- stats::plogis(drop(x %*% beta))
    hessian <- crossprod(x, p * (1 - p) * x) + diag(ncol(x))
    change <- solve(hessian, drop(crossprod(x, y - p)) - beta)
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
