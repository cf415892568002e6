# Maximum likelihood over hidden cells x and the true response y. A record contributes
#   sum over x, y of  pi(x | given)  P(reports | x)  p(y | x, exact)  P(reported response | y),
# pi multinomial logistic in `given` (first cell the reference), p logistic in exact * hidden.
# theta = (beta, gamma), gamma by cells 2..K.

latent_state <- function(theta, model) {
  p <- ncol(model$exact)
  beta <- theta[seq_len(p)]
  gamma <- matrix(theta[-seq_len(p)], ncol(model$given))
  linear <- sweep(model$exact, 2, beta, `*`) %*% t(model$hidden)
  probability <- stats::plogis(linear)
  prior <- softmax_rows(cbind(0, model$given %*% gamma))
  joint <- prior * model$channel
  success <- joint * probability * model$success
  failure <- joint * stats::plogis(-linear) * model$failure
  likelihood <- rowSums(success + failure)
  list(
    log_likelihood = sum(model$weight * log(likelihood)),
    probability = probability, prior = prior,
    posterior = (success + failure) / likelihood, success = success / likelihood
  )
}

softmax_rows <- function(x) {
  x <- exp(x - do.call(pmax, as.data.frame(x)))
  x / rowSums(x)
}

# The score of each record (Fisher's identity: the expected complete score given what was seen).
latent_scores <- function(state, model) {
  surprise <- state$success - state$posterior * state$probability
  beta <- model$exact * (surprise %*% model$hidden)
  shift <- (state$posterior - state$prior)[, -1, drop = FALSE]
  cells <- rep(seq_len(ncol(shift)), each = ncol(model$given))
  given <- rep(seq_len(ncol(model$given)), times = ncol(shift))
  cbind(beta, shift[, cells, drop = FALSE] * model$given[, given, drop = FALSE])
}

latent_gradient <- function(theta, model) {
  colSums(model$weight * latent_scores(latent_state(theta, model), model))
}

# Minus the derivative of the score, by central differences.
observed_information <- function(theta, model) {
  columns <- vapply(seq_along(theta), function(j) {
    step <- 1e-5 * max(1, abs(theta[[j]]))
    ahead <- replace(theta, j, theta[[j]] + step)
    behind <- replace(theta, j, theta[[j]] - step)
    (latent_gradient(behind, model) - latent_gradient(ahead, model)) / (2 * step)
  }, numeric(length(theta)))
  columns <- matrix(columns, length(theta))
  (columns + t(columns)) / 2
}

# Information of the complete data: block diagonal, what EM's M step needs.
beta_information <- function(state, model) {
  weight <- model$weight * state$posterior * state$probability * (1 - state$probability)
  Reduce(`+`, lapply(seq_len(nrow(model$hidden)), function(x) {
    columns <- sweep(model$exact, 2, model$hidden[x, ], `*`)
    crossprod(columns, weight[, x] * columns)
  }))
}

gamma_information <- function(state, model) {
  prior <- state$prior[, -1, drop = FALSE]
  given <- model$given
  blocks <- lapply(seq_len(ncol(prior)), function(k) {
    do.call(cbind, lapply(seq_len(ncol(prior)), function(l) {
      weight <- model$weight * prior[, k] * ((k == l) - prior[, l])
      crossprod(given, weight * given)
    }))
  })
  do.call(rbind, blocks)
}

# Solves information * step = gradient, through a matrix with unit diagonal. NULL when that is not
# positive definite.
information_step <- function(information, gradient) {
  inverse <- information_inverse(information)
  if (is.null(inverse)) NULL else as.vector(inverse %*% gradient)
}

smallest_information <- 1e-9

information_inverse <- function(information) {
  scale <- sqrt(pmax(diag(information), 0))
  if (!all(is.finite(information)) || any(scale == 0)) {
    return(NULL)
  }
  eigen <- eigen(information / outer(scale, scale), symmetric = TRUE)
  if (min(eigen$values) < smallest_information) {
    return(NULL)
  }
  vectors <- eigen$vectors / scale
  vectors %*% (t(vectors) / eigen$values)
}

# One EM step, its M step a single Newton step of each part (generalised EM); the shares of the
# cells have a closed form where nothing exact is given.
em_direction <- function(theta, state, model) {
  p <- ncol(model$exact)
  gradient <- colSums(model$weight * latent_scores(state, model))
  first <- seq_len(p)
  beta <- information_step(beta_information(state, model), gradient[first]) %||%
    (gradient[first] / (1 + diag(beta_information(state, model))))
  if (length(theta) == p) {
    return(beta)
  }
  gamma <- if (ncol(model$given) == 1) {
    shares <- pmax(colSums(model$weight * state$posterior), 1e-300)
    log(shares[-1] / shares[[1]]) - theta[-first]
  } else {
    information <- gamma_information(state, model)
    # cells that vanish leave no information; a trace of it keeps the step finite
    diag(information) <- diag(information) + 1e-6 * sum(model$weight)
    information_step(information, gradient[-first])
  }
  c(beta, gamma %||% rep(0, length(theta) - p))
}

# Halves a step until the likelihood does not fall; NULL if it always does.
climb <- function(theta, direction, state, model) {
  for (halving in 0:20) {
    candidate <- theta + direction / 2^halving
    next_state <- latent_state(candidate, model)
    if (isTRUE(next_state$log_likelihood >= state$log_likelihood)) {
      return(list(theta = candidate, state = next_state, evaluations = halving + 1))
    }
  }
  NULL
}

steps_a_round <- 25L

maximize_latent <- function(model, control, call = rlang::caller_env()) {
  check_determined(model, call)
  p <- ncol(model$exact)
  theta <- numeric(p + (nrow(model$hidden) - 1) * ncol(model$given))
  fit <- list(theta = theta, state = latent_state(theta, model), evaluations = 1, converged = FALSE)
  for (round in seq_len(control$max_rounds)) {
    fit <- em_round(fit, model)
    fit <- newton_round(fit, model, control$tolerance)
    if (fit$converged) {
      break
    }
  }
  fit
}

em_round <- function(fit, model) {
  for (i in seq_len(steps_a_round)) {
    before <- fit$state$log_likelihood
    moved <- climb(fit$theta, em_direction(fit$theta, fit$state, model), fit$state, model)
    if (is.null(moved)) {
      break
    }
    fit[c("theta", "state")] <- moved[c("theta", "state")]
    fit$evaluations <- fit$evaluations + moved$evaluations
    if (fit$state$log_likelihood - before < 1e-3) {
      break
    }
  }
  fit
}

# Newton's forecast of what the log-likelihood can still gain, g' I^-1 g / 2, tells convergence.
newton_round <- function(fit, model, tolerance) {
  for (i in seq_len(steps_a_round)) {
    gradient <- colSums(model$weight * latent_scores(fit$state, model))
    used <- moving_parameters(fit, model)
    information <- observed_information(fit$theta, model)[used, used, drop = FALSE]
    step <- information_step(information, gradient[used])
    if (is.null(step)) {
      return(fit)
    }
    fit$converged <- sum(step * gradient[used]) < tolerance
    direction <- replace(numeric(length(fit$theta)), used, step)
    moved <- climb(fit$theta, direction, fit$state, model)
    if (is.null(moved)) {
      # at the top, up to rounding
      fit$converged <- fit$converged || sum(step * gradient[used]) < 1e-6
      return(fit)
    }
    fit[c("theta", "state")] <- moved[c("theta", "state")]
    fit$evaluations <- fit$evaluations + moved$evaluations
    if (fit$converged) {
      return(fit)
    }
  }
  fit
}

# Cells whose share is 0 everywhere have no parameters left to move: their gammas are fixed.
moving_parameters <- function(fit, model) {
  p <- ncol(model$exact)
  share <- colSums(model$weight * fit$state$prior) / sum(model$weight)
  alive <- share > 1e-8
  q <- ncol(model$given)
  which(c(rep(TRUE, p), rep(alive[-1], each = q)))
}

# Records as they are seen determine the coefficients only if the columns are independent.
check_determined <- function(model, call) {
  columns <- do.call(rbind, lapply(seq_len(nrow(model$hidden)), function(x) {
    sweep(model$exact, 2, model$hidden[x, ], `*`)
  }))
  if (qr(columns)$rank < ncol(columns)) {
    abort_parameter(c(
      "The predictors must be linearly independent.",
      x = "They are not: one is a combination of others, or always 0.",
      i = "Leave it out of {.arg formula}."
    ), call = call)
  }
}

# Observed information, or with weights the sandwich; NA where singular.
latent_variance <- function(fit, model) {
  p <- ncol(model$exact)
  used <- moving_parameters(fit, model)
  inverse <- information_inverse(observed_information(fit$theta, model)[used, used, drop = FALSE])
  if (is.null(inverse)) {
    return(matrix(NA_real_, p, p))
  }
  if (model$weighted) {
    scores <- latent_scores(fit$state, model)[, used, drop = FALSE]
    # scores of one distinct record are equal, so squared weights add up
    inverse <- inverse %*% crossprod(scores, model$square * scores) %*% inverse
  }
  inverse[seq_len(p), seq_len(p), drop = FALSE]
}
