# Private classifiers: naive twins, the certificate, what leaves, bad input.

# Three made-up classes in four features of norm about 1.
made <- function(n, seed = 1, spread = 0.3) {
  withr::with_seed(seed, {
    y <- factor(sample(c("a", "b", "c"), n, TRUE), c("a", "b", "c"))
    centres <- rbind(c(1, 0, 0, 0), c(0, 1, 0, 0), c(0, 0, 1, 0))
    x <- centres[y, ] + matrix(stats::rnorm(4 * n, 0, spread), n)
    list(x = x / sqrt(rowSums(x^2)), y = y)
  })
}

fit <- function(data, epsilon = 1, ..., alpha = 20, neighbours = "add_remove") {
  private_classifier(data$x, data$y, epsilon, alpha, neighbours = neighbours, ...)
}

descent <- function(data, epsilon = 1, ..., records = 500) {
  fit(data, epsilon, ..., records = records)
}

# Hardly any noise: a sigma so small that it cannot be seen, everybody in each step.
quiet <- function(...) classifier_control(rate = 1, sigma = 1e-6, clip = 10, ...)

naive_softmax <- function(scores) exp(scores) / rowSums(exp(scores))

naive_gradient <- function(weights, x, y) {
  crossprod(naive_softmax(x %*% t(weights)) - outer(as.integer(y), 1:3, "=="), x)
}

naive_loss <- function(weights, x, y, penalty) {
  p <- naive_softmax(x %*% t(weights))
  penalty / 2 * sum(weights^2) - sum(log(p[cbind(seq_along(y), as.integer(y))]))
}

# The quiet step costs about alpha / (2 sigma^2).
quiet_epsilon <- function(steps) {
  steps * cost_gaussian(20, 1, 1e-6) * (1 + 1e-6)
}

test_that("without noise descent is momentum descent, averaged", {
  data <- made(200)
  control <- quiet(learning_rate = 0.7, momentum = 0.6)
  object <- descent(data, quiet_epsilon(9), control = control, records = 190)
  expect_identical(object$steps, 9)
  place <- matrix(0, 3, 4)
  velocity <- place
  average <- place
  for (step in 1:9) {
    velocity <- 0.6 * velocity + naive_gradient(place, data$x, data$y) / 190
    place <- place - 0.7 * velocity
    average <- average + 8 / (step + 7) * (place - average)
  }
  # features are rounded to 2^-16, and the noise of a step is 1e-5 / 190
  expect_lt(max(abs(object$weights - average)), 1e-4)
  expect_gt(max(abs(object$weights)), 1)
})

test_that("a sample of everybody's gradient has the rate's mean and the noise's spread", {
  data <- made(400)
  control <- classifier_control(rate = 0.25, sigma = 2, learning_rate = 1, momentum = 0)
  step <- cost_subsampled_gaussian(20, 0.25, 2)
  steps <- withr::with_seed(5, vapply(1:200, function(i) {
    # one step from 0: minus the noisy sum over rate * records
    -0.25 * 500 * as.vector(descent(data, 1.5 * step, control = control, rng = "r")$weights)
  }, numeric(12)))
  each <- t(vapply(1:400, function(i) {
    gradient <- naive_gradient(matrix(0, 3, 4), data$x[i, , drop = FALSE], data$y[i])
    as.vector(gradient) * min(1, 1 / sqrt(sum(gradient^2)))
  }, numeric(12)))
  variance <- 0.25 * 0.75 * colSums(each^2) + 2^2
  # five standard errors of a mean and of a variance
  expect_lt(max(abs(rowMeans(steps) - 0.25 * colSums(each)) / sqrt(variance / 200)), 5)
  expect_lt(max(abs(apply(steps, 1, stats::var) / variance - 1)), 5 * sqrt(2 / 199))
})

test_that("descent goes on where it was", {
  data <- made(200)
  whole <- descent(data, quiet_epsilon(8), control = quiet())
  parts <- refine(descent(data, quiet_epsilon(3), control = quiet()), epsilon = quiet_epsilon(8))
  expect_lt(max(abs(whole$weights - parts$weights)), 1e-4)
  expect_identical(whole$epsilon, parts$epsilon)
  expect_identical(parts$path$releases, c(3, 8))
})

test_that("the certificate of descent is the sum of the subsampled Gaussian's", {
  data <- made(50)
  for (rate in c(0.01, 0.08, 1)) {
    for (sigma in c(1.5, 4)) {
      control <- classifier_control(rate = rate, sigma = sigma)
      step <- cost_subsampled_gaussian(8, rate, sigma)
      l <- ledger(8, neighbours = "add_remove")
      object <- descent(data, 5.5 * step, alpha = 8, control = control, ledger = l)
      expect_identical(object$steps, 5)
      # the grid's integers realise a little more noise than was asked
      expect_equal(object$epsilon, 5 * step, tolerance = 1e-5)
      expect_lte(object$epsilon, 5 * step * (1 + 1e-12))
      expect_equal(spent(l), object$epsilon, tolerance = 1e-12)
      object <- refine(object, epsilon = 7.1 * step)
      expect_equal(object$epsilon, 7 * step, tolerance = 1e-5)
      expect_equal(spent(l), object$epsilon, tolerance = 1e-12)
      expect_gte(spent(l), object$epsilon)
    }
  }
})

# Renyi divergence of the sampled discrete Gaussian on whole numbers, by summation, both ways round.
sampled_divergence <- function(alpha, rate, sigma, moved) {
  y <- seq(-25 * sigma, 25 * sigma + alpha * moved)
  q <- exp(-y^2 / (2 * sigma^2))
  p <- exp(-(y - moved)^2 / (2 * sigma^2))
  total <- sum(q)
  q <- q / total
  p <- p / total
  mixture <- (1 - rate) * q + rate * p
  divergence <- function(a, b) log(sum(exp(alpha * log(a) + (1 - alpha) * log(b)))) / (alpha - 1)
  c(added = divergence(mixture, q), removed = divergence(q, mixture))
}

test_that("the subsampled cost holds for the discrete Gaussian, for adding and for removing", {
  for (alpha in c(2, 3, 8, 20)) {
    for (rate in c(0.02, 0.3, 0.9)) {
      for (moved in c(1, 3)) {
        sigma <- 2 * moved
        exact <- sampled_divergence(alpha, rate, sigma, moved)
        claim <- cost_subsampled_gaussian(alpha, rate, sigma / moved)
        expect_equal(exact[["added"]], claim, tolerance = 1e-8)
        expect_lte(exact[["removed"]], exact[["added"]] * (1 + 1e-10))
      }
    }
  }
})

test_that("without noise output perturbation is the ridge fit", {
  data <- made(150)
  control <- classifier_control(penalty = 2, tolerance = 1e-8)
  object <- fit(data, 1e12, method = "output", control = control)
  best <- stats::optim(numeric(12), function(w) naive_loss(matrix(w, 3), data$x, data$y, 2),
    function(w) as.vector(naive_gradient(matrix(w, 3), data$x, data$y) + 2 * matrix(w, 3)),
    method = "BFGS", control = list(maxit = 1000, reltol = 1e-14)
  )
  # the gradient of the sum of losses is moved by at most 150 * 2 * 2^-15 by rounded features
  expect_lt(max(abs(object$weights - matrix(best$par, 3))), 150 * 2^-14 / 2)
})

test_that("the noise of output perturbation has the sensitivity of the derivation", {
  data <- made(60)
  for (penalty in c(1, 16)) {
    for (bound in c(0.5, 2)) {
      object <- fit(data, 0.3,
        method = "output", bound = bound,
        control = classifier_control(penalty = penalty, tolerance = 0.01)
      )
      moved <- (sqrt(2) * bound + 2 * 0.01 * bound) / penalty
      expect_equal(object$path$noise_sd, moved * sqrt(20 / (2 * 0.3)), tolerance = 1e-4)
      expect_gte(object$path$noise_sd, moved * sqrt(20 / (2 * 0.3)))
      replaced <- fit(data, 0.3,
        method = "output", bound = bound, neighbours = "replace",
        control = classifier_control(penalty = penalty, tolerance = 0.01)
      )
      expect_equal(replaced$path$noise_sd, 2 * object$path$noise_sd, tolerance = 1e-4)
    }
  }
})

test_that("minima of neighbours are within the sensitivity, by brute force", {
  solve <- function(data, rows, penalty) {
    records <- list(
      features = classifier_features(data$x[rows, , drop = FALSE], 1),
      labels = as.integer(data$y[rows])
    )
    head <- classifier_head(records, 3, 1, penalty, 1e-3)
    expect_true(head$reached)
    head$weights
  }
  data <- made(12, seed = 9, spread = 2)
  for (penalty in c(0.1, 1, 10)) {
    all <- solve(data, 1:12, penalty)
    moved <- vapply(1:12, function(i) {
      sqrt(sum((all - solve(data, setdiff(1:12, i), penalty))^2))
    }, numeric(1))
    expect_lte(max(moved), (sqrt(2) + 2e-3) / penalty)
  }
})

test_that("without noise class sums give the class with the nearest mean", {
  data <- made(300)
  object <- fit(data, 1e9, method = "class_sums")
  means <- rowsum(data$x, data$y) / as.vector(table(data$y))
  new <- made(100, seed = 2, spread = 0.6)$x
  distances <- vapply(1:3, function(k) rowSums(sweep(new, 2, means[k, ])^2), numeric(100))
  # shares of the classes weigh in on top of distances
  spread <- (1 - sum(table(data$y) / 300 * rowSums(means^2))) / 4
  scores <- -distances / (2 * spread) + rep(log(table(data$y) / 300), each = 100)
  probabilities <- exp(scores) / rowSums(exp(scores))
  expect_lt(max(abs(predict(object, new, type = "probabilities") - probabilities)), 1e-3)
  expect_gt(mean(predict(object, new) == c("a", "b", "c")[max.col(-distances)]), 0.95)
})

test_that("the certificates of refined classifiers are those of the last noise", {
  data <- made(80)
  for (method in c("output", "class_sums")) {
    for (neighbours in c("add_remove", "replace")) {
      l <- ledger(20, neighbours = neighbours)
      object <- fit(data, 0.1, method = method, neighbours = neighbours, ledger = l)
      for (epsilon in c(0.3, 2)) object <- refine(object, epsilon = epsilon)
      expect_lte(object$epsilon, 2)
      expect_gte(object$epsilon, 2 * (1 - 1e-6))
      expect_gte(spent(l), object$epsilon * (1 - 1e-12))
      expect_lte(spent(l), 2 * (1 + 1e-9))
      expect_equal(sum(object$spent$cost), object$epsilon)
      # rho of each answer: squared sensitivity over twice the variance
      moved <- c(
        output = (sqrt(2) + 2e-3) / 16 * (if (neighbours == "replace") 2 else 1),
        class_sums = if (neighbours == "replace") 2 else 1
      )[[method]]
      share <- if (method == "output") 1 else 0.95
      expect_equal(object$path$noise_sd[[3]], moved * sqrt(20 / (2 * 2 * share)), tolerance = 1e-4)
    }
  }
})

test_that("rows longer than the bound are shortened, in learning and in predicting", {
  data <- made(100)
  long <- data
  long$x <- 50 * data$x
  plain <- fit(data, 1e9, method = "class_sums")
  clipped <- fit(long, 1e9, method = "class_sums")
  expect_lt(max(abs(plain$weights / clipped$weights - 1)), 0.05)
  expect_identical(predict(plain, data$x), predict(plain, long$x))
})

pair_classes <- c("a", "b", "c")
frame_of <- function(m) {
  list(x = m[, 1:2, drop = FALSE], y = factor(pair_classes[m[, 3]], pair_classes))
}

# Neighbours with values of all sizes, the last column being the class.
classified_pairs <- function(neighbours, number) {
  pairs <- neighbour_pairs(matrix(0, 1, 3), neighbours, number = number, non_finite = FALSE)
  lapply(pairs, function(pair) {
    keys <- unique(do.call(rbind, pair))
    lapply(pair, function(m) {
      # the class follows from the row, so that neighbours differ in one record only
      m[, 3] <- 1 + (match(apply(m, 1, paste, collapse = " "), apply(keys, 1, paste,
        collapse = " "
      )) %% 3)
      m
    })
  })
}

released <- c(
  "weights", "intercept", "spent", "path", "epsilon", "rho", "privacy", "classes", "names"
)

test_that("nothing leaves but through the noise", {
  for (method in c("gradient", "output", "class_sums")) {
    for (neighbours in c("add_remove", if (method != "gradient") "replace")) {
      pairs <- classified_pairs(neighbours, 20)
      f <- function(m) {
        object <- fit(frame_of(m), 0.1,
          method = method, neighbours = neighbours, records = 5,
          control = classifier_control(rate = 0.5, penalty = 1, sigma = 10)
        )
        refine(object, epsilon = 0.3)[released]
      }
      audited <- replay_audit(f, pairs)
      expect_true(audited$ok)
      expect_identical(audited$refused, 0L)
      expect_gt(audited$calls, 2 * 20)
    }
  }
})

test_that("the audit sees who is not clipped, who is replaced and a count that is used", {
  pairs <- classified_pairs("add_remove", 25)
  gradient <- function(records) {
    function(m) {
      data <- frame_of(m)
      descent(data, 0.1,
        records = records(data), control = classifier_control(rate = 0.5, sigma = 10)
      )[released]
    }
  }
  expect_true(replay_audit(gradient(function(data) 5), pairs)$ok)
  expect_setequal(
    replay_audit(gradient(function(data) 1 + nrow(data$x)), pairs)$findings$problem,
    c("calls", "result")
  )
  replaced <- classified_pairs("replace", 25)
  found <- replay_audit(gradient(function(data) 5), replaced)$findings$problem
  expect_true("sensitivity" %in% found)
  # standardizing by the data changes everybody's gradient
  scaled <- function(m) {
    data <- frame_of(m)
    data$x <- data$x / max(abs(data$x), 1)
    descent(data, 0.1, control = classifier_control(rate = 0.5, sigma = 10))[released]
  }
  expect_true("sensitivity" %in% replay_audit(scaled, pairs)$findings$problem)
  # half the sensitivity
  local_replacement("output_sensitivity", function(object) 0.5 / object$control$penalty)
  half <- function(m) {
    fit(frame_of(m), 0.5, method = "output", control = classifier_control(penalty = 1))[released]
  }
  expect_setequal(replay_audit(half, pairs)$findings$problem, "sensitivity")
})

test_that("no private number is in the object", {
  data <- made(30)
  data$x[1, 1] <- 0.123456789
  for (method in c("gradient", "output", "class_sums")) {
    object <- fit(data, 1, method = method, records = 30)
    marker <- rawToChar(writeBin(0.123456789, raw())[1:6])
    expect_holds_no(marker, object)
    expect_error(refine(unserialize(serialize(object, NULL)), epsilon = 2),
      class = "confide_error_parameter"
    )
  }
})

test_that("a classifier that was altered by hand cannot be refined", {
  for (method in c("gradient", "output", "class_sums")) {
    object <- fit(made(30), 1, method = method, records = 30)
    object$epsilon <- object$epsilon / 2
    expect_confide_error(refine(object, epsilon = 3), "internal", "altered by hand")
  }
})

test_that("the sums inside are refined with the whole", {
  for (method in c("output", "class_sums")) {
    object <- fit(made(30), 1, method = method, records = 30)
    for (part in object$handle) {
      expect_confide_error(refine(part, epsilon = 50), "budget", "part of another object")
    }
  }
})

test_that("a stale copy cannot be refined, a parted one neither", {
  data <- made(30)
  for (method in c("gradient", "output", "class_sums")) {
    object <- fit(data, 1, method = method, records = 30)
    later <- refine(object, epsilon = 2)
    expect_confide_error(refine(object, epsilon = 3), "budget", "stale")
    later$handle <- NULL
    expect_confide_error(refine(later, epsilon = 3), "parameter", "parted")
  }
})

test_that("it stops when a private check says that it is accurate enough", {
  data <- made(4000)
  train <- list(x = data$x[1:2500, ], y = data$y[1:2500])
  validation <- data.frame(y = data$y[2501:4000], data$x[2501:4000, ])
  validation[1, 2] <- NA # one person's missing value does not end the run
  for (method in c("gradient", "output", "class_sums")) {
    r <- accuracy_first(
      train, validation,
      refine = function(previous, train, epsilon) {
        if (is.null(previous)) fit(train, epsilon, method = method, records = 2500) else refine(
          previous, epsilon = epsilon
        )
      },
      fit = function(released) released,
      score = function(model, validation) predict(model, validation[-1]) == validation$y,
      threshold = 0.5, grid = c(0.01, 0.1, 0.5), alpha = 20, neighbours = "add_remove"
    )
    expect_identical(r$status, "reached")
    expect_lte(r$parts[["train"]], r$grid[[r$attempts]] * (1 + 1e-9))
    # descent has spent the steps that its level paid for
    expect_equal(r$parts[["train"]], r$model$epsilon, tolerance = 1e-9)
    expect_null(r$model$handle)
    expect_prints_small(r$model)
    expect_identical(coef(r$model)[, -1], r$model$weights)
  }
})

test_that("a run that spends more than its level is stopped before the noise", {
  data <- made(200)
  wrong <- function(previous, train, epsilon) descent(train, 3 * epsilon, records = 200)
  expect_error(
    accuracy_first(data, made(300, seed = 2), wrong,
      fit = identity, score = function(model, validation) TRUE, threshold = 0.5, grid = c(0.1, 0.2),
      alpha = 20, neighbours = "add_remove"
    ),
    class = "confide_error_budget"
  )
})

test_that("classifiers print small, state what they spent, and can be asked", {
  data <- made(100)
  for (method in c("gradient", "output", "class_sums")) {
    object <- fit(data, 1, method = method, records = 100)
    expect_prints_small(object)
    expect_match(format(object), "add or remove it", all = FALSE)
    expect_identical(privacy(object)$epsilon, object$epsilon)
    expect_identical(epsilon(object, delta = 1e-6), as_approx_dp(object, delta = 1e-6))
    expect_output(print(summary(object)), "noise")
    expect_identical(dim(coef(object)), c(3L, 5L))
    expect_identical(glance(object)$method, method)
    expect_s3_class(ggplot2::autoplot(object), "ggplot")
    expect_s3_class(ggplot2::autoplot(object, height = 2, width = 2), "ggplot")
    expect_output(utils::str(object), "classifier")
    simulated <- fit(data, 1, method = method, records = 100, rng = "r")
    expect_match(format(simulated), "NOT PRIVATE", all = FALSE)
  }
})

test_that("predictions keep order, levels and missing rows", {
  data <- made(100)
  object <- fit(data, 100, method = "class_sums")
  p <- predict(object, data$x[1:5, ], type = "probabilities")
  expect_equal(rowSums(p), rep(1, 5))
  expect_identical(colnames(p), levels(data$y))
  classes <- predict(object, data$x[1:5, ])
  expect_identical(classes, factor(levels(data$y)[max.col(p)], levels(data$y)))
  new <- rbind(data$x[1:2, ], c(NA, 0, 0, 0), c(Inf, 0, 0, 0))
  expect_identical(is.na(predict(object, new)), c(FALSE, FALSE, TRUE, TRUE))
  expect_identical(rowSums(is.na(predict(object, new, type = "probabilities"))), c(0, 0, 3, 3))
  expect_identical(predict(object, as.data.frame(data$x)), predict(object, data$x))
  expect_length(predict(object, data$x[0, ]), 0)
  for (bad in list(data$x[, 1:3], "a", data)) {
    expect_confide_error(predict(object, bad), "parameter", "4 columns")
  }
  expect_confide_error(predict(object), "parameter", "newdata")
  expect_confide_error(predict(object, data$x, type = "prob"), "parameter", "type")
})

test_that("data outside the domain give one text and are not charged", {
  data <- made(20)
  l <- ledger(20, neighbours = "add_remove")
  wrong <- function(x = data$x, y = data$y) list(x = x, y = y)
  with_entry <- function(value) replace(data$x, 3, value)
  cases <- list(
    wrong(with_entry(NA)), wrong(with_entry(Inf)), wrong(data$x[-1, ]),
    wrong(y = replace(data$y, 2, NA)), wrong(x = matrix(TRUE, 20, 4)), wrong(matrix("1", 20, 4))
  )
  for (method in c("gradient", "output", "class_sums")) {
    messages <- vapply(cases, function(case) {
      expect_confide_error(
        fit(case, 1, method = method, records = 20, ledger = l, rng = "os"), "domain", "factor"
      )
    }, "")
    expect_length(unique(messages), 1)
  }
  expect_identical(spent(l), 0)
})

test_that("nobody at all is a data set too", {
  data <- made(20)
  nobody <- list(x = data$x[0, ], y = data$y[0])
  for (method in c("gradient", "output", "class_sums")) {
    object <- fit(nobody, 1, method = method, records = 20)
    expect_length(predict(object, data$x), 20)
  }
})

test_that("bad arguments are refused before anything is drawn", {
  data <- made(20)
  refused <- function(..., says, kind = "parameter") {
    arguments <- utils::modifyList(list(
      x = data$x, y = data$y, epsilon = 1, alpha = 20, neighbours = "add_remove", records = 20,
      rng = "r"
    ), list(...))
    expect_confide_error(do.call(private_classifier, arguments), kind, says)
  }
  refused(epsilon = 0, says = "epsilon")
  refused(epsilon = 1e-6, says = "at least one more step")
  refused(epsilon = 1e9, says = "at most 10,000,000 steps")
  refused(method = "output", epsilon = 5e-324, says = "the certificate 0")
  refused(epsilon = "1", says = "epsilon")
  refused(alpha = 1, says = "alpha")
  refused(alpha = 2.5, says = "whole number")
  refused(neighbours = "replace", says = "add_remove")
  refused(neighbours = "zero_out", says = "one of \"replace\" or \"add_remove\"")
  refused(method = "network", says = "method")
  refused(records = 0, says = "records")
  refused(bound = -1, says = "bound")
  refused(control = list(sigma = 2), says = "classifier_control")
  refused(y = as.character(data$y), says = "factor")
  refused(y = factor(rep("a", 20)), says = "at least two levels")
  refused(ledger = 1, says = "ledger")
  refused(ledger = ledger(20, neighbours = "replace"), says = "neighbours", rng = "os")
  refused(ledger = ledger(20, neighbours = "add_remove"), says = "not private", kind = "simulation")
  refused(
    ledger = ledger(20, neighbours = "add_remove", limit = 0.1), says = "limit", kind = "budget",
    rng = "os"
  )
  expect_confide_error(
    private_classifier(data$x, data$y, 1, 20, neighbours = "add_remove"), "parameter", "records"
  )
  expect_confide_error(private_classifier(data$x), "parameter", "y")
  object <- fit(data, 1, method = "output")
  expect_confide_error(refine(object, epsilon = 0.9), "parameter", "above the certificate")
  expect_confide_error(refine(object), "parameter", "epsilon")
  stepping <- descent(data, 1)
  expect_confide_error(refine(stepping, epsilon = 1), "parameter", "at least one more step")
  for (bad in list(
    list(rate = 0), list(rate = 1.1), list(sigma = 0), list(momentum = 1), list(penalty = -1),
    list(count_share = 1), list(learning_rate = c(1, 2)), list(tolerance = NA), list(epochs = 3)
  )) {
    expect_confide_error(do.call(classifier_control, bad), "parameter")
  }
  expect_output(print(classifier_control()), "momentum")
  expect_confide_error(ggplot2::autoplot(object, height = 3, width = 3), "parameter", "4 features")
})

test_that("a solver that rounding keeps from its tolerance stops before anything is drawn", {
  data <- made(50)
  expect_confide_error(
    fit(data, 1,
      method = "output", rng = "r", control = classifier_control(tolerance = 1e-300)
    ), "domain", "tolerance"
  )
})

test_that("a bound whose square leaves the doubles is refused, and the rest of them served", {
  x <- withr::with_seed(1, matrix(stats::rnorm(600), 300)) / 3
  y <- factor(rep(c("a", "b"), each = 150))
  x[1:150, 1] <- x[1:150, 1] + 1
  fit <- function(bound, scaled = x * bound, ...) {
    withr::with_seed(1, private_classifier(
      scaled, y, epsilon = 20, alpha = 20, neighbours = "add_remove", bound = bound, rng = "r", ...
    ))
  }
  for (bound in c(1e-320, 1e-160, 1e153, 1e300)) {
    for (method in c("class_sums", "output")) {
      expect_confide_error(fit(bound, x, method = method), "parameter", "from 1e-100 to 1e100")
    }
    expect_confide_error(fit(bound, x, records = 300), "parameter", "from 1e-100 to 1e100")
  }
  # powers of two change no digit of what is released
  one <- fit(1, method = "class_sums")
  for (bound in c(2^-330, 2^330)) {
    found <- fit(bound, method = "class_sums")
    expect_equal(found$weights * bound, one$weights, tolerance = 1e-12)
    expect_equal(found$intercept, one$intercept, tolerance = 1e-12)
  }
})
