#' Private classifiers
#'
#' Learns a linear classifier under differential privacy, on features such as those of
#' [image_features()]. [refine()] goes on from what was released to a larger certificate, so that
#' one can stop when the classifier is good enough: by hand, or by a private check on other people
#' with [accuracy_first()].
#'
#' @section Methods:
#' * `"gradient"`: noisy gradient descent on the softmax loss (Abadi et al. 2016). In each step
#'   everybody is in a sample with probability `rate`; gradients are clipped to norm `clip`, rounded
#'   to a grid, added up as whole numbers, and discrete Gaussian noise of `sigma` times `clip` is
#'   added. The weights are an average that favours the last steps (Shamir and Zhang 2013), which
#'   takes noise away for nothing. A step costs [cost_subsampled_gaussian()]: `epsilon` buys as many
#'   as it pays for, and `refine()` goes on training. Mostly the most accurate; for `"add_remove"`
#'   and whole `alpha`.
#' * `"output"`: the softmax loss with a ridge `penalty` has one minimum, which one record moves by
#'   at most \eqn{(\sqrt{2} b + 2 g) / \Lambda}; b is `bound`, \eqn{\Lambda} the penalty, and g the
#'   `tolerance` times `bound`, which the solver's gradient must reach. Its noise shrinks by
#'   [brownian()]. Chaudhuri et al. 2011, refined as by Ligett et al. 2017.
#' * `"class_sums"`: sums of each class's features, and counts of the classes, both refined by
#'   [brownian()]. A record belongs to the class with the nearest mean; probabilities are those of
#'   round normal classes around the means.
#'
#' Rows of `x` are clipped to norm `bound` and rounded to 2^-16 of it, each on its own. Features may
#' not be standardized by the data.
#'
#' @param x (numeric matrix or data frame) The private features, one row for each person.
#' @param y (factor) The private classes. Its levels are public: declare them.
#' @param epsilon (number above 0) The certificate at `alpha` to reach, ex-post Renyi; see
#'   [ledger()]. In `refine()`: in all.
#' @param alpha (number above 1) The order, fixed for good; see [plan_alpha()].
#' @param ... Unused; catches misspelt arguments.
#' @param neighbours (string, no default) `"add_remove"` or `"replace"`, as in [private_sum()];
#'   `"gradient"` is for `"add_remove"`.
#' @param method (string) See the section Methods.
#' @param records (number above 0) For `"gradient"`: a public guess of the number of records, which
#'   scales the steps. With `"add_remove"` the true number is private; do not give `nrow(x)`.
#' @param bound (number from 1e-100 to 1e100) Largest norm of a row of `x`; longer rows are
#'   shortened.
#' @param control (list) Made by `classifier_control()`.
#' @param ledger ([ledger()] or `NULL`) Charged before each release.
#' @param rng (`"os"` or `"r"`) As in [privatize()]; `"r"` is for simulations and not private.
#' @param object (classifier) The latest value of `private_classifier()` or `refine()`.
#' @param rate (number in (0, 1]) Probability to be in the sample of a step.
#' @param sigma (number above 0) Standard deviation of a step's noise, in units of `clip`.
#' @param clip (number above 0) Largest norm of a record's gradient.
#' @param learning_rate (number above 0) Length of a step, times the mean gradient.
#' @param momentum (number from 0 to below 1) Share of the last step that is kept.
#' @param penalty (number above 0) The ridge of `"output"`, for the sum of losses: more biases the
#'   classifier and lowers the noise.
#' @param tolerance (number above 0) How exactly `"output"` is solved: largest norm of the gradient,
#'   in units of `bound`.
#' @param count_share (number in (0, 1)) Part of the certificate of `"class_sums"` for the counts.
#' @returns `private_classifier()` and `refine()`: an object of class `confide_classifier`, a list
#'   with `$weights` (matrix, a row for each class) and `$intercept` of the scores, `$classes`,
#'   `$method`, `$epsilon` (the certificate at `$alpha`), `$spent` (data frame: `part`, `releases`,
#'   `cost`), `$path` (data frame with a row for each release that was asked for: `epsilon`,
#'   `releases`, and `noise_sd` of a step, a weight or a sum), `$privacy`. The private data, or
#'   exact answers, are behind a pointer as in [brownian()]; everything else in it was released.
#'   See [classifier-methods] for what can be asked of it. `classifier_control()`: a list of class
#'   `confide_classifier_control`.
#' @section Errors:
#' `confide_error_domain` for data outside the domain (missing values, classes that are no factor of
#' the rows' length), with one fixed text. The same for data on which the solver of `"output"` does
#' not reach its tolerance. Its number of steps is enough for any data by proof, so only rounding
#' can be in the way, from some ten million records on; this error comes before anything is drawn,
#' and like all domain errors is for who holds the data. `confide_error_budget` for a stale copy,
#' another process, or when the ledger cannot pay; `confide_error_parameter` for other arguments,
#' such as an `epsilon` that does not pay for one step, or pays for more than 1e7.
#' @references
#' Abadi, M. et al. (2016). Deep learning with differential privacy. *ACM CCS*.
#' \doi{10.1145/2976749.2978318}
#'
#' Chaudhuri, K., Monteleoni, C. and Sarwate, A. D. (2011). Differentially private empirical risk
#' minimization. *Journal of Machine Learning Research* 12.
#'
#' Ligett, K., Neel, S., Roth, A., Waggoner, B. and Wu, Z. S. (2017). Accuracy first: selecting a
#' differential privacy level for accuracy-constrained ERM. *NeurIPS* 30.
#' \doi{10.48550/arXiv.1705.10829}
#'
#' Mironov, I., Talwar, K. and Zhang, L. (2019). Renyi differential privacy of the sampled Gaussian
#' mechanism. \doi{10.48550/arXiv.1908.10530}
#' Shamir, O. and Zhang, T. (2013). Stochastic gradient descent for non-smooth optimization:
#' convergence results and optimal averaging schemes. *ICML*. \doi{10.48550/arXiv.1212.1824}
#' @seealso [image_features()], [accuracy_first()], the vignette `images`
#' @examples
#' x <- image_features(digits[1:64], 8, 8, size = 3, pool = 2)
#' sums <- private_classifier(
#'   x, digits$label, epsilon = 0.5, alpha = 20, neighbours = "add_remove", method = "class_sums"
#' )
#' sums
#' table(predict(sums, x[1:20, ]), digits$label[1:20])
#'
#' descent <- private_classifier(
#'   x, digits$label, epsilon = 0.5, alpha = 20, neighbours = "add_remove", records = 1800
#' )
#' refine(descent, epsilon = 1)
#' @export
private_classifier <- function(x, y, epsilon, alpha, ..., neighbours,
                               method = c("gradient", "output", "class_sums"), records = NULL,
                               bound = 1, control = classifier_control(), ledger = NULL,
                               rng = c("os", "r")) {
  check_dots_empty(...)
  check_required(x, "Give a matrix or data frame with a row for each person.")
  check_required(y, "Give the classes, a factor.")
  check_required(epsilon, "Give the certificate to reach.")
  epsilon <- check_epsilon(epsilon, zero = FALSE)
  alpha <- check_alpha(alpha)
  neighbours <- check_neighbours(neighbours, table_neighbours)
  method <- check_choice(method, c("gradient", "output", "class_sums"))
  rng <- check_rng(rng)
  features <- count_columns(x)
  request <- list(
    method = method, classes = check_classes(y), features = features,
    names = public_names(x) %||% paste0("x", seq_len(features)),
    bound = check_feature_bound(bound), alpha = alpha, neighbours = neighbours,
    control = check_classifier_control(control), rng = rng, ledger = ledger
  )
  request$records <- check_public_records(records, method)
  object <- structure(request, class = c("confide_classifier", "confide_expost"))
  check_affordable(object, epsilon)
  data <- labelled_records(x, y, object)
  object <- switch(method,
    gradient = start_descent(object, data),
    output = start_output(object, data),
    class_sums = start_sums(object, data)
  )
  continue_classifier(object, epsilon)
}

#' @rdname private_classifier
#' @export
refine.confide_classifier <- function(object, ..., epsilon) {
  check_dots_empty(...)
  check_required(epsilon, "Give the certificate to reach, in all.")
  epsilon <- check_epsilon(epsilon, zero = FALSE)
  if (is.null(object$handle)) {
    abort_parameter(c(
      "This classifier was parted from the private data; it cannot be refined.",
      i = "Refine the object that {.fn private_classifier} or {.fn refine} returned."
    ))
  }
  check_unaltered(object)
  lapply(curators_handles(object), check_handle, what = "private_classifier", call = environment())
  check_affordable(object, epsilon)
  continue_classifier(object, epsilon)
}

# Objects with a handle and a version; of gradient descent that is the classifier itself.
curators_handles <- function(object) {
  if (object$method == "gradient") list(object) else object$handle
}

# Everything is checked and charged before the first noise.
continue_classifier <- function(object, epsilon, call = rlang::caller_env()) {
  if (object$method == "gradient") {
    return(descend(object, affordable_steps(object, epsilon), call))
  }
  fresh <- spendable(epsilon / object$alpha) - object$rho
  charge_before_noise(
    object$ledger, path_charge(fresh, object, object$rng), "private_classifier", call
  )
  object$handle[] <- lapply(names(object$handle), function(part) {
    handle <- object$handle[[part]]
    target <- object$alpha * (handle$rho + object$shares[[part]] * fresh)
    carry_out(handle, plan_refinement(handle, target, call = call))
  })
  read_classifier(object)
}

check_affordable <- function(object, epsilon, call = rlang::caller_env()) {
  if (object$method == "gradient") {
    return(affordable_steps(object, epsilon, call))
  }
  if (spendable(epsilon / object$alpha) <= object$rho %||% 0) {
    abort_beyond_certificate(object, epsilon, call)
  }
}

abort_beyond_certificate <- function(object, epsilon, call) {
  abort_parameter(c(
    "{.arg epsilon} must be above the certificate so far.",
    x = "It is {format(epsilon)}, the certificate {format_epsilon(object$epsilon %||% 0)}."
  ), call = call)
}

# Domain ---------------------------------------------------------------------

classifier_domain <- c(
  paste(
    "{.arg x} must be a numeric matrix or data frame with finite values, fewer than 2^31 rows, and",
    "{.arg y} a factor with one class for each row, none missing."
  ),
  i = "Replace missing values by a number fixed beforehand."
)

# Levels are public, what is in y is not.
check_classes <- function(y, call = rlang::caller_env()) {
  if (!is.factor(y) || nlevels(y) < 2) {
    abort_parameter(c(
      "{.arg y} must be a factor with at least two levels.",
      x = if (is.factor(y)) "It has {nlevels(y)}." else "It is of class {class(y)[[1]]}.",
      i = "Declare the levels without looking at the data."
    ), call = call)
  }
  if (anyNA(levels(y))) {
    abort_parameter("No level of {.arg y} may be missing.", call = call)
  }
  levels(y)
}

labelled_records <- function(x, y, object, call = rlang::caller_env()) {
  x <- plain_matrix(x)
  if (!are_features(x) || length(y) != nrow(x) || anyNA(y)) {
    abort_domain(classifier_domain, call = call)
  }
  list(
    features = classifier_features(x, object$bound),
    labels = as.integer(y)
  )
}

are_features <- function(x) !is.null(x) && nrow(x) < largest_rows && all(is.finite(x))

# A double matrix without names, NULL for what is no matrix of numbers.
plain_matrix <- function(x) {
  if (is.data.frame(x) && all(vapply(x, is_plain_column, logical(1)))) {
    x <- as.matrix(x)
  }
  if (is_plain_numbers(x) && length(dim(x)) == 2) {
    matrix(as.numeric(x), nrow(x), ncol(x))
  }
}

# Its square, times what scores need, stays far from the ends of doubles.
check_feature_bound <- function(bound, call = rlang::caller_env()) {
  within <- function(x) x >= 1e-100 && x <= 1e100
  check_number(bound, "from 1e-100 to 1e100", within, arg = "bound", call = call)
}

check_public_records <- function(records, method, call = rlang::caller_env()) {
  if (method != "gradient") {
    return(NULL)
  }
  if (is.null(records)) {
    abort_parameter(c(
      "{.arg records} must be given for {.code method = \"gradient\"}.",
      i = "A public guess of the number of records scales the steps; it is not {.code nrow(x)}."
    ), call = call)
  }
  check_positive(records, call = call)
}

# Settings -------------------------------------------------------------------

#' @rdname private_classifier
#' @export
classifier_control <- function(..., rate = 0.08, sigma = 4, clip = 1, learning_rate = 1,
                               momentum = 0.9, penalty = 16, tolerance = 1e-3,
                               count_share = 0.05) {
  check_dots_empty(...)
  structure(list(
    rate = check_number(rate, "above 0 and at most 1", function(x) x > 0 && x <= 1),
    sigma = check_positive(sigma),
    clip = check_positive(clip),
    learning_rate = check_positive(learning_rate),
    momentum = check_number(momentum, "at least 0 and below 1", function(x) x >= 0 && x < 1),
    penalty = check_positive(penalty),
    tolerance = check_positive(tolerance),
    count_share = check_number(count_share, "between 0 and 1", function(x) x > 0 && x < 1)
  ), class = "confide_classifier_control")
}

check_classifier_control <- function(control, call = rlang::caller_env()) {
  if (!inherits(control, "confide_classifier_control")) {
    abort_parameter(c(
      "{.arg control} must be made by {.fn classifier_control}.",
      x = "It is {describe(control)}."
    ), call = call)
  }
  control
}

#' @export
format.confide_classifier_control <- function(x, ...) {
  values <- vapply(unclass(x), format_number, "")
  c("<classifier control>", paste(format(names(values)), values, sep = "  "))
}

#' @export
print.confide_classifier_control <- function(x, ...) {
  writeLines(format(x))
  invisible(x)
}

# Noisy gradient descent -----------------------------------------------------

# All of a step but for its weights. The grid's integers realise a noise of at least `sigma`.
step_query <- function(object) {
  control <- object$control
  list(
    kind = "gradients", law = "gaussian", measure = "renyi", bound = control$clip,
    budget = 1 / (2 * control$sigma^2), neighbours = object$neighbours, n_max = largest_rows,
    dimension = length(object$classes) * object$features, alpha = object$alpha,
    rate = control$rate
  )
}

# What a step costs at its order; the proof that the formula holds here is in src/classifier.h.
gradients_noise <- function(query) {
  plan <- noise_plan(query)
  multiplier <- (1 - 2^-50) / sqrt(2 * plan$realised)
  plan$realised <- cost_subsampled_gaussian(query$alpha, query$rate, multiplier)
  plan
}

step_cost <- function(object, call = rlang::caller_env()) {
  if (object$neighbours != "add_remove") {
    abort_parameter(c(
      "{.code method = \"gradient\"} is for {.code neighbours = \"add_remove\"}.",
      x = "{.arg neighbours} is {.val {object$neighbours}}.",
      i = "Sampled steps have another, larger cost when a record is replaced."
    ), call = call)
  }
  if (object$alpha != round(object$alpha)) {
    abort_parameter(c(
      "{.arg alpha} must be a whole number for {.code method = \"gradient\"}.",
      x = "It is {format(object$alpha)}."
    ), call = call)
  }
  plan_noise(step_query(object), call)$realised
}

# How many steps take the certificate from what it is to at most epsilon.
affordable_steps <- function(object, epsilon, call = rlang::caller_env()) {
  cost <- step_cost(object, call)
  done <- object$steps %||% 0
  steps <- floor(spendable(epsilon) / cost) - done
  if (steps < 1) {
    least <- (done + 1) * cost # nolint: object_usage_linter. cli reads it.
    abort_parameter(c(
      "{.arg epsilon} must pay for at least one more step.",
      x = "It is {format(epsilon)}.",
      i = "With {plural(done + 1, \"step\")} the certificate is {format_epsilon(least)}.",
      i = "A larger {.field sigma} or a smaller {.field rate} makes a step cheaper."
    ), call = call)
  }
  if (done + steps > max_steps) {
    abort_parameter(c(
      "{.arg epsilon} must pay for at most {format_count(max_steps)} steps.",
      x = "{format(epsilon)} pays for {format(done + steps, digits = 3)}.",
      i = "A smaller {.field sigma} or a larger {.field rate} spends more on a step."
    ), call = call)
  }
  steps
}

# With real data hours of computing.
max_steps <- 1e7

# About the last eighth of the steps counts.
average_decay <- 8

start_descent <- function(object, data) {
  zero <- matrix(0, length(object$classes), object$features)
  object$weights <- zero
  object$velocity <- zero
  object$place <- zero
  object$steps <- 0
  object$version <- 0
  object$handle <- new_vault(list(as.numeric(data$features), as.numeric(data$labels)))
  object
}

descend <- function(object, steps, call = rlang::caller_env()) {
  control <- object$control
  query <- step_query(object)
  plan <- plan_noise(query, call)
  cost <- sum_rounded_up(rep(plan$realised, steps))
  charge_before_noise(object$ledger, list(
    alpha = object$alpha, epsilon = cost, neighbours = object$neighbours,
    rng = release_source(object$rng)
  ), "private_classifier", call)
  units <- list(
    features = matrix(vault_numbers(object$handle, 1), object$features),
    labels = as.integer(vault_numbers(object$handle, 2))
  )
  scale <- control$rate * object$records
  object <- advance(object, call)
  for (step in seq_len(steps)) {
    query$weights <- object$place
    noisy <- release_units(units, query, object$rng, call)
    object$velocity <- control$momentum * object$velocity + noisy / scale
    object$place <- object$place - control$learning_rate * object$velocity
    object$steps <- object$steps + 1
    part <- average_decay / (object$steps + average_decay - 1)
    object$weights <- object$weights + part * (object$place - object$weights)
  }
  object$intercept <- numeric(length(object$classes))
  object$epsilon <- sum_rounded_up(rep(plan$realised, object$steps))
  state_classifier(object, plan$noise_sd, data.frame(
    part = "steps", releases = object$steps, cost = object$epsilon
  ))
}

# Output perturbation --------------------------------------------------------

# One record more moves the minimum by at most this much, one in the place of another by twice it.
output_sensitivity <- function(object) {
  control <- object$control
  moved <- object$bound * (sqrt(2) + 2 * control$tolerance) / control$penalty
  outward(if (object$neighbours == "replace") 2 * moved else moved)
}

start_output <- function(object, data, call = rlang::caller_env()) {
  control <- object$control
  head <- classifier_head(
    data, length(object$classes), object$bound, control$penalty, control$tolerance * object$bound
  )
  if (!head$reached) {
    abort_domain(c(
      "The solver did not reach the {.field tolerance}; nothing was released.",
      i = "Take a larger {.field tolerance} or {.field penalty}, or fewer records."
    ), call = call)
  }
  handle <- brownian(
    as.numeric(head$weights), output_sensitivity(object), object$alpha,
    whole = FALSE, neighbours = object$neighbours, rng = object$rng
  )
  start_refined(object, list(weights = handle), c(weights = 1))
}

start_refined <- function(object, handles, shares) {
  object$handle <- lapply(handles, owned)
  object$shares <- shares
  object$rho <- 0
  object
}

# What follows from the answers that were refined.
read_classifier <- function(object) {
  scores <- if (object$method == "output") output_scores(object) else prototype_scores(object)
  object[c("weights", "intercept")] <- scores
  steps <- lapply(object$handle, `[[`, "steps")
  object$rho <- sum_rounded_up(unlist(steps))
  object$epsilon <- outward(object$alpha * object$rho)
  first <- object$handle[[1]]
  state_classifier(object, first$sigma * (object$grid %||% 1), data.frame(
    part = names(steps), releases = lengths(steps),
    cost = object$alpha * vapply(steps, sum_rounded_up, numeric(1)), row.names = NULL
  ))
}

# What is common to all classes changes no prediction, and is all noise.
output_scores <- function(object) {
  weights <- matrix(object$handle$weights$estimate, length(object$classes))
  list(
    weights = weights - rep(colMeans(weights), each = nrow(weights)),
    intercept = numeric(nrow(weights))
  )
}

# Class sums -----------------------------------------------------------------

# A record that changes class moves one sum back and another one: no further than twice the bound.
start_sums <- function(object, data) {
  found <- classifier_sums(data, length(object$classes), object$bound)
  replaced <- object$neighbours == "replace"
  refinable <- function(value, sensitivity) {
    brownian(
      value, sensitivity, object$alpha,
      whole = TRUE, neighbours = object$neighbours, rng = object$rng
    )
  }
  share <- object$control$count_share
  object$grid <- found$step
  start_refined(object, list(
    sums = refinable(as.numeric(found$sums), found$moved * (if (replaced) 2 else 1)),
    counts = refinable(
      as.numeric(tabulate(data$labels, length(object$classes))), if (replaced) sqrt(2) else 1
    )
  ), c(sums = 1 - share, counts = share))
}

# The scores of normal classes with one round variance, which follows from the norm of the records
# (at most `bound`) and of the means. Noise lengthens a mean; its expected part is taken off.
prototype_scores <- function(object) {
  sums <- matrix(object$handle$sums$estimate * object$grid, length(object$classes))
  counts <- pmax(object$handle$counts$estimate, 1)
  noise <- ncol(sums) * (object$handle$sums$sigma * object$grid)^2
  lengths <- sqrt(pmax(rowSums(sums^2) - noise, 0)) / counts
  shrunk <- pmin(1, object$bound / pmax(lengths, 1e-300))
  means <- sums / counts * shrunk
  squares <- (lengths * shrunk)^2
  priors <- counts / sum(counts)
  spread <- max(object$bound^2 - sum(priors * squares), object$bound^2 / 100) / ncol(sums)
  list(weights = means / spread, intercept = log(priors) - squares / (2 * spread))
}

# The statement, and a row more of the path.
state_classifier <- function(object, noise_sd, spent) {
  dimnames(object$weights) <- list(object$classes, object$names)
  names(object$intercept) <- object$classes
  object$spent <- spent
  object$path <- rbind(object$path, data.frame(
    epsilon = object$epsilon, releases = sum(spent$releases), noise_sd = noise_sd
  ))
  object$privacy <- expost_statement(
    object$alpha, object$epsilon, object$rho, object$neighbours,
    if (object$method == "gradient") {
      "exact discrete Gaussian noise on sums of a private sample, on a power-of-two grid"
    } else {
      "exact discrete Gaussian increments on whole numbers or a power-of-two grid"
    },
    !is.null(object$ledger), object$rng
  )
  sealed(object)
}
