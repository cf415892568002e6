#' Linear regression with randomized variables
#'
#' Least squares for the model of the *true* values, where some variables are attributes that a
#' mechanism randomized. Plain [stats::lm()] on reports is biased: slopes of randomized predictors
#' shrink, and others take up what is lost. Here each moment that least squares needs is replaced by
#' an unbiased one: a function f of a true level by (f(report) - (1 - lambda) E f) / lambda, E the
#' mean under the noise. An attribute that occurs twice in a product is reduced to one function of
#' its level first.
#'
#' @param formula (formula) As in [stats::lm()], without offset. Attributes of the mechanism stand
#'   by themselves; other variables are exact, may be transformed, and are *not* protected by the
#'   mechanism. Interactions of all of them are allowed.
#' @param data (data frame) Columns of reports, as [privatize()] returns them, and exact variables.
#'   One row is one person. Exact variables must have no missing values.
#' @param mechanism (mechanism) Made by [mech_lambda()]; the one that made the reports. `data` needs
#'   only those of its attributes that the formula names.
#' @param ... Unused; catches misspelt arguments.
#' @param weights (numbers at least 0, one for each row, or the name of a column, or `NULL`) Survey
#'   weights.
#' @param scores (named list of numeric vectors) As in [estimate_covariance()]. A predictor with
#'   scores enters as one number; without, by R's contrasts (treatment coding for unordered levels;
#'   those of the declared factor if it has some). A randomized response has the scores given here
#'   or those that its levels declare.
#' @returns A fit of class `confide_lm`, with methods as in package stats: `coef()`, `vcov()`,
#'   `confint()`, `summary()`, `predict()`, `nobs()`, `formula()`, `sigma()`, `df.residual()` (`NA`:
#'   tests are normal), and `tidy()`, `glance()`, `print()`, `privacy()`. It holds no data: no
#'   fitted values, no residuals, no environment of the formula. See [regression-methods].
#' @section Standard errors:
#' Sandwich, of the influence values of the records (with lambda = 1, White's HC0): they cover
#' sampling and randomization and allow unequal variances.
#' @section Errors:
#' `confide_error_parameter` when the estimated matrix of second moments is not positive definite.
#' That happens when noise outweighs what the reports say about the predictors (small lambda, many
#' levels, few reports); nothing is added to the matrix to hide it. Take fewer predictors or
#' levels, more reports or a larger lambda. Also for collinear exact variables, attributes inside
#' functions, missing exact values, a nominal response without scores. `confide_error_domain` for
#' reports that the mechanism cannot make, `confide_error_mechanism` for those of another one.
#' @references
#' Ruiz, N. (2026). Lambda-randomization: multi-dimensional randomized response made easy. arXiv
#' 2603.05261.
#'
#' van den Hout, A. and van der Heijden, P. G. M. (2002). Randomized response, statistical
#' disclosure control and misclassification: a review. *International Statistical Review* 70,
#' 269-288. \doi{10.1111/j.1751-5823.2002.tb00363.x}
#'
#' Carroll, R. J., Ruppert, D., Stefanski, L. A. and Crainiceanu, C. M. (2006). *Measurement Error
#' in Nonlinear Models*, 2nd edition. Chapman and Hall/CRC. Chapters 3 and 7.
#' @seealso [private_glm()], [estimate_covariance()]
#' @examples
#' m <- mech_lambda(adult[c("education", "sex")], lambda = c(education = 0.9, sex = 0.7))
#' survey <- cbind(
#'   as_plain(privatize(adult[c("education", "sex")], m)),
#'   adult[c("age", "hours_per_week")]
#' )
#' fit <- private_lm(hours_per_week ~ sex + age, survey, m)
#' fit
#' summary(fit)
#' predict(fit, data.frame(sex = c("Female", "Male"), age = 40))
#' @export
private_lm <- function(formula, data, mechanism, ..., weights = NULL, scores = NULL) {
  check_dots_empty(...)
  check_lambda_mechanism(mechanism)
  check_required(formula, "Give a formula such as y ~ a + age.")
  data <- check_report_frame(data, mechanism)
  input <- regression_input(formula, data, mechanism, weights, scores)
  response <- linear_response(input)
  records <- collect_records(input, response)
  fit <- solve_moments(records)
  new_regression("lm", fit, input, list(sigma = fit$sigma, r_squared = fit$r_squared))
}

# What both regressions need: the plan, exact variables, codes of the reports, weights.
regression_input <- function(formula, data, mechanism, weights, scores,
                             call = rlang::caller_env()) {
  record_weights <- check_record_weights(weights, data, call)
  if (is_column_name(weights, data)) {
    data <- data[setdiff(names(data), weights)]
  }
  plan <- regression_plan(formula, data, mechanism, scores, call)
  check_informative(mechanism, plan$attributes, call)
  missing <- setdiff(plan$attributes, names(data))
  if (length(missing) > 0) {
    abort_parameter(c(
      "{.arg data} must have a column of reports for each attribute in {.arg formula}.",
      x = "Missing: {enumerate_names(missing)}."
    ), call = call)
  }
  if (nrow(data) == 0) {
    abort_parameter("{.arg data} must have at least one row.", call = call)
  }
  exact <- exact_frame(plan, data, call)
  response <- exact_response(plan, data, call)
  plan <- add_codings(plan, exact$values, call)
  messages <- report_messages(mechanism, "data")
  codes <- lapply(stats::setNames(nm = plan$attributes), function(name) {
    alphabet_codes(data[[name]], plan$alphabets[[name]], call, messages)
  })
  privacy <- mechanism$privacy
  privacy["rng"] <- list(attr(data, "rng"))
  list(
    plan = plan, exact = exact$values, exact_terms = exact$terms, response = response,
    codes = codes, weights = record_weights, weighted = !is.null(weights),
    n = nrow(data), mechanism = mechanism, privacy = privacy
  )
}

# The response as one more column: a function of the true levels, or exact numbers.
linear_response <- function(input, call = rlang::caller_env()) {
  plan <- input$plan
  name <- plan$response
  if (name %in% plan$attributes) {
    scores <- attribute_scores(name, plan$alphabets[[name]], plan$scores[[name]], call)
    return(list(exact = rep(1, input$n), scores = scores))
  }
  values <- input$response
  if (!is.numeric(values) || NCOL(values) != 1 || !all(is.finite(values))) {
    abort_parameter(c(
      "The response of {.fn private_lm} must be numeric, or an attribute with scores.",
      i = "{.fn private_glm} is for two classes."
    ), call = call)
  }
  list(exact = as.numeric(values), scores = NULL)
}

# Distinct records with design, response as the last column, codes and weights.
collect_records <- function(input, response) {
  plan <- input$plan
  design <- build_design(plan, input$exact, input$n)
  last <- ncol(design$exact) + 1
  exact <- cbind(design$exact, response$exact)
  parts <- lapply(stats::setNames(nm = plan$attributes), function(name) {
    right <- design$parts[[name]] %||% matrix(1, plan$alphabets[[name]]$size, last - 1)
    cbind(right, if (name == plan$response) response$scores else 1)
  })
  groups <- group_records(c(input$codes, as.data.frame(exact)), input$n)
  list(
    names = design$names,
    exact = exact[groups$first, , drop = FALSE],
    parts = parts,
    codes = lapply(input$codes, `[`, groups$first),
    channels = plan$channels,
    weight = as.vector(rowsum(input$weights, groups$group, reorder = FALSE)),
    square = as.vector(rowsum(input$weights^2, groups$group, reorder = FALSE))
  )
}

# The unbiased value, for each record, of the product of columns j and k. Their functions of the
# same attribute are multiplied before the noise is removed.
moment_column <- function(records, j, k) {
  value <- records$exact[, j] * records$exact[, k]
  for (name in names(records$parts)) {
    f <- records$parts[[name]][, j] * records$parts[[name]][, k]
    if (any(f != 1)) {
      value <- value * debias_values(f, records$channels[[name]])[records$codes[[name]]]
    }
  }
  value
}

# The mean of the unbiased products of all columns, response included. O(records * columns^2).
moment_matrix <- function(records) {
  size <- ncol(records$exact)
  moments <- matrix(0, size, size)
  for (j in seq_len(size)) {
    for (k in seq_len(j)) {
      moments[j, k] <- moments[k, j] <- sum(records$weight * moment_column(records, j, k))
    }
  }
  moments / sum(records$weight)
}

# For each record its matrix of unbiased products times each column of u, without ever forming it:
# a list of matrices, records x columns.
apply_records <- function(records, u) {
  size <- ncol(records$exact)
  result <- replicate(ncol(u), matrix(0, nrow(records$exact), size), simplify = FALSE)
  for (j in seq_len(size)) {
    for (k in seq_len(j)) {
      column <- moment_column(records, j, k)
      for (i in seq_along(result)) {
        result[[i]][, j] <- result[[i]][, j] + u[k, i] * column
        if (j != k) result[[i]][, k] <- result[[i]][, k] + u[j, i] * column
      }
    }
  }
  result
}

# Solves the unbiased normal equations M beta = m; the sandwich is
# M^-1 Cov(m_i - M_i beta) M^-1 / n.
solve_moments <- function(records, call = rlang::caller_env()) {
  all_moments <- moment_matrix(records)
  p <- length(records$names)
  right <- seq_len(p)
  moments <- all_moments[right, right, drop = FALSE]
  scaled <- scale_moments(moments, call)
  beta <- as.vector(scaled$inverse %*% all_moments[right, p + 1])
  weakest <- scaled$weakest
  applied <- apply_records(records, cbind(c(-beta, 1), c(weakest, 0)))
  influence <- applied[[1]][, right, drop = FALSE] %*% scaled$inverse
  total <- sum(records$weight)
  variance <- crossprod(influence, records$square * influence) / total^2
  curvature <- as.vector(applied[[2]][, right, drop = FALSE] %*% weakest)
  noise <- sqrt(sum(records$square * (curvature - scaled$smallest)^2)) / total
  c(
    list(
      coefficients = beta, variance = variance, names = records$names,
      smallest = scaled$smallest, smallest_error = noise
    ),
    residual_moments(all_moments, beta, records)
  )
}

# The inverse through a matrix with unit diagonal, so that units of measurement play no part.
scale_moments <- function(moments, call) {
  scale <- sqrt(pmax(diag(moments), 0))
  eigen <- if (all(scale > 0)) eigen(moments / outer(scale, scale), symmetric = TRUE)
  smallest <- if (is.null(eigen)) 0 else min(eigen$values)
  if (smallest < 1e-10) {
    abort_parameter(c(
      "The estimated second moments of the predictors must be positive definite.",
      x = if (abs(smallest) < 1e-10 && !is.null(eigen)) {
        "The predictors are linearly dependent, or one is always 0."
      } else {
        "They are not: the noise outweighs what the reports tell of the predictors."
      },
      i = "Take fewer predictors, levels or interactions, more reports, or a larger lambda.",
      i = "{.arg scores} make one number of an attribute with many levels."
    ), call = call)
  }
  vectors <- eigen$vectors / scale
  list(
    inverse = vectors %*% (t(vectors) / eigen$values), smallest = smallest,
    weakest = vectors[, length(eigen$values)]
  )
}

# Residual variance and share of variance explained; NA where noise makes them impossible.
residual_moments <- function(moments, beta, records) {
  p <- length(beta)
  u <- c(-beta, 1)
  residual <- sum(u * (moments %*% u))
  n <- sum(records$weight)^2 / sum(records$square)
  constant <- match("(Intercept)", records$names)
  centre <- if (is.na(constant)) 0 else moments[constant, p + 1]
  total <- moments[p + 1, p + 1] - centre^2
  list(
    sigma = if (residual > 0 && n > p) sqrt(residual * n / (n - p)) else NA_real_,
    r_squared = if (residual > 0 && total > 0) 1 - residual / total else NA_real_
  )
}

new_regression <- function(kind, fit, input, fields) {
  dimnames(fit$variance) <- list(fit$names, fit$names)
  structure(c(
    list(
      coefficients = stats::setNames(fit$coefficients, fit$names),
      variance = (fit$variance + t(fit$variance)) / 2,
      n = input$n, weighted = input$weighted,
      plan = bare_plan(input$plan, input$exact_terms),
      smallest = fit$smallest, smallest_error = fit$smallest_error
    ),
    fields,
    list(title = format_title(input$mechanism), privacy = input$privacy)
  ), class = c(paste0("confide_", kind), "confide_regression"))
}
