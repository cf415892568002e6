#' Logistic regression with randomized variables
#'
#' Maximum likelihood for the logistic model of the *true* values, where the response, some
#' predictors or both were randomized. The likelihood of a record sums over the true levels that its
#' reports may hide, weighted by the channel (van den Hout and van der Heijden 2002); EM with final
#' Newton steps maximises it.
#'
#' The distribution of the hidden predictors given the exact ones is part of the likelihood. It is
#' multinomial logistic in the main effects of the exact variables of the formula, and free where
#' there are none. If that is far from the truth, the coefficients are biased.
#'
#' @inheritParams private_lm
#' @param formula (formula) As in [private_lm()]. The response is an attribute of two levels, or
#'   exact: 0 and 1, logical, or a factor of two levels. The second level is success.
#' @param family `binomial()` with the logit link; no other is known.
#' @param control (list) `max_rounds` (default 40) of EM (25 steps each) followed by Newton steps,
#'   and `tolerance` (default 1e-9): the search ends when the log-likelihood can gain no more than
#'   half of it, by Newton's forecast.
#' @returns A fit of class `confide_glm`, with the methods of [private_lm()] and `logLik()`: the
#'   log-likelihood of the reports given the exact variables. `$converged` and `$evaluations` report
#'   on the search; `print()` says when it did not converge. `$loose` names coefficients whose
#'   standard error leaves log odds within their variable's range open by 10 or more: separated or
#'   nearly empty combinations of levels, which `print()` says too. It holds no data.
#' @section Standard errors:
#' From the observed information (the numerical derivative of the analytic score), or with weights
#' the sandwich of information and scores. They cover sampling and randomization, and are `NA` where
#' the information is singular: the data do not determine that coefficient.
#' @section Errors:
#' `confide_error_parameter` for another family, a response without exactly two values or that is a
#' predictor too, collinear predictors, too many hidden combinations of levels (more than 1,000
#' parameters or 2^27 record-cell pairs); else as in [private_lm()].
#' @references
#' van den Hout, A. and van der Heijden, P. G. M. (2002). Randomized response, statistical
#' disclosure control and misclassification: a review. *International Statistical Review* 70,
#' 269-288. \doi{10.1111/j.1751-5823.2002.tb00363.x}
#'
#' Carroll, R. J., Ruppert, D., Stefanski, L. A. and Crainiceanu, C. M. (2006). *Measurement Error
#' in Nonlinear Models*, 2nd edition. Chapman and Hall/CRC. Chapters 8 and 15.
#'
#' Ruiz, N. (2026). Lambda-randomization. arXiv 2603.05261.
#' @seealso [private_lm()]
#' @examples
#' m <- mech_lambda(adult[c("sex", "income")], lambda = 0.8)
#' survey <- cbind(as_plain(privatize(adult[c("sex", "income")], m)), adult["age"])
#' survey <- survey[1:2000, ]
#' private_glm(income ~ sex + age, survey, m)
#' @export
private_glm <- function(formula, data, mechanism, ..., family = stats::binomial(), weights = NULL,
                        scores = NULL, control = list()) {
  check_dots_empty(...)
  check_lambda_mechanism(mechanism)
  check_required(formula, "Give a formula such as y ~ a + age.")
  check_family(family)
  control <- check_control(control, list(max_rounds = 40, tolerance = 1e-9))
  data <- check_report_frame(data, mechanism)
  input <- regression_input(formula, data, mechanism, weights, scores)
  response <- binary_response(input)
  model <- latent_model(input, response)
  fit <- maximize_latent(model, control)
  result <- latent_result(fit, model)
  new_regression("glm", result, input, list(
    log_likelihood = fit$state$log_likelihood, parameters = length(fit$theta),
    converged = fit$converged, evaluations = fit$evaluations, extreme = extreme_fit(fit$state),
    loose = loose_coefficients(result, model)
  ))
}

check_family <- function(family, call = rlang::caller_env()) {
  if (is.function(family)) {
    family <- tryCatch(family(), error = function(error) family)
  }
  if (identical(family, "binomial")) {
    family <- stats::binomial()
  }
  legal <- inherits(family, "family") && family$family == "binomial" && family$link == "logit"
  if (!legal) {
    abort_parameter(c(
      "{.arg family} must be {.code binomial()} with the logit link.",
      x = if (inherits(family, "family")) {
        "It is {family$family} with link {family$link}."
      } else {
        "It is {describe(family)}."
      },
      i = "{.fn private_lm} fits linear models, also of a response in scores."
    ), call = call)
  }
}

# Probabilities of what was seen of the response, were the truth failure or success.
binary_response <- function(input, call = rlang::caller_env()) {
  plan <- input$plan
  name <- plan$response
  if (name %in% names(plan$codings)) {
    abort_parameter("The response must not be a predictor too.", call = call)
  }
  if (name %in% plan$attributes) {
    if (plan$alphabets[[name]]$size != 2) {
      abort_two_values(call)
    }
    success <- input$codes[[name]] - 1
    channel <- plan$channels[[name]]
    replaced <- (1 - channel$lambda) * channel$noise[success + 1]
    return(list(
      failure = replaced + channel$lambda * (1 - success),
      success = replaced + channel$lambda * success
    ))
  }
  success <- as_binary(input$response, call)
  list(failure = 1 - success, success = success)
}

as_binary <- function(values, call) {
  if (is.factor(values) && nlevels(values) == 2) {
    return(as.numeric(values) - 1)
  }
  plain <- (is.logical(values) || is.numeric(values)) && NCOL(values) == 1
  if (!plain || !all(values %in% 0:1)) {
    abort_two_values(call)
  }
  as.numeric(values)
}

abort_two_values <- function(call) {
  abort_parameter(c(
    "The response of {.fn private_glm} must have two values.",
    x = "It has others.",
    i = "An attribute or factor of two levels, logical, or 0 and 1."
  ), call = call)
}

# The model as numbers: records with `exact` parts of the columns, `hidden` parts for each cell of
# the hidden attributes, the channel from cells to the seen reports, and the exact design `given`
# on which the law of the cells depends.
latent_model <- function(input, response, call = rlang::caller_env()) {
  plan <- input$plan
  design <- build_design(plan, input$exact, input$n)
  known <- names(design$parts)[is_known(plan, names(design$parts))]
  for (name in known) {
    design$exact <- design$exact * design$parts[[name]][input$codes[[name]], , drop = FALSE]
  }
  hidden <- setdiff(names(design$parts), known)
  sizes <- vapply(hidden, function(name) nrow(design$parts[[name]]), 1L)
  given <- latent_design(input, known, length(hidden) > 0)
  check_latent_size(prod(sizes), input$n, ncol(design$exact), ncol(given), call)
  groups <- group_records(
    c(input$codes[hidden], response, as.data.frame(design$exact), as.data.frame(given)), input$n
  )
  first <- groups$first
  grid <- as.matrix(expand.grid(lapply(sizes, seq_len)))
  grid <- if (length(hidden) == 0) matrix(1L, 1, 0) else grid
  list(
    names = design$names,
    exact = design$exact[first, , drop = FALSE],
    hidden = hidden_parts(design$parts[hidden], grid, ncol(design$exact)),
    channel = cell_channel(
      lapply(input$codes[hidden], `[`, first), grid, plan$channels[hidden], length(first)
    ),
    given = given[first, , drop = FALSE],
    failure = response$failure[first], success = response$success[first],
    weight = as.vector(rowsum(input$weights, groups$group, reorder = FALSE)),
    square = as.vector(rowsum(input$weights^2, groups$group, reorder = FALSE)),
    weighted = input$weighted
  )
}

check_latent_size <- function(cells, n, columns, given, call) {
  if (cells * n > 2^27 || columns + (cells - 1) * given > 1000) {
    abort_parameter(c(
      "The hidden combinations of levels must not be too many.",
      x = "There are {format_count(cells)} of them, for {format_count(n)} records.",
      i = "Take fewer randomized predictors, or fewer levels."
    ), call = call)
  }
}

# Constant and main effects of what is exact, standardised and without dependent columns.
latent_design <- function(input, known, needed) {
  constant <- matrix(1, input$n, 1)
  plan <- input$plan
  exact <- setdiff(names(plan$codings), plan$attributes)
  if (!needed || length(c(exact, known)) == 0) {
    return(constant)
  }
  columns <- c(
    lapply(exact, function(name) {
      exact_columns(name, input$exact[[name]], plan$codings[[name]], FALSE)
    }),
    lapply(known, function(name) {
      attribute_columns(name, plan$codings[[name]], FALSE)[input$codes[[name]], , drop = FALSE]
    })
  )
  columns <- unname(do.call(cbind, columns))
  spread <- apply(columns, 2, stats::sd)
  spread[is.na(spread) | spread == 0] <- 1
  design <- cbind(constant, sweep(sweep(columns, 2, colMeans(columns)), 2, spread, `/`))
  decomposition <- qr(design)
  design[, sort(decomposition$pivot[seq_len(decomposition$rank)]), drop = FALSE]
}

hidden_parts <- function(parts, grid, columns) {
  result <- matrix(1, nrow(grid), columns)
  for (j in seq_along(parts)) {
    result <- result * parts[[j]][grid[, j], , drop = FALSE]
  }
  result
}

# Probability of each record's reports given each cell.
cell_channel <- function(codes, grid, channels, n) {
  result <- matrix(1, n, nrow(grid))
  for (j in seq_along(codes)) {
    lambda <- channels[[j]]$lambda
    same <- outer(codes[[j]], grid[, j], `==`)
    result <- result * (lambda * same + (1 - lambda) * channels[[j]]$noise[codes[[j]]])
  }
  result
}

# Coefficients whose standard error, times the range of their column, leaves the log odds open by 10
# and more. That is separation, or a combination that the reports hardly show: its probability could
# be anything. The range of a constant is its size.
loose_coefficients <- function(result, model) {
  error <- sqrt(diag(result$variance))
  range <- vapply(seq_len(ncol(model$exact)), function(j) {
    ends <- outer(range(model$exact[, j]), range(model$hidden[, j]))
    if (max(ends) > min(ends)) max(ends) - min(ends) else abs(max(ends))
  }, numeric(1))
  model$names[is.na(error) | error * range > 10]
}

latent_result <- function(fit, model) {
  list(
    coefficients = utils::head(fit$theta, ncol(model$exact)), names = model$names,
    variance = latent_variance(fit, model)
  )
}

# Fitted probabilities of 0 or 1 of cells that matter: the maximum may be at infinity.
extreme_fit <- function(state) {
  probability <- state$probability[state$posterior > 0.01]
  any(pmin(probability, 1 - probability) < 1e-8)
}
