# Small calls that between them reach every entry point of the compiled code. Draws come from R's
# generator, so that a call repeats itself after set.seed(). What the scripts beside this file run.

`%||%` <- rlang::`%||%`

numbers <- function(rows, columns) matrix(stats::rnorm(rows * columns), rows)

answers <- function(rows) {
  data.frame(
    a = factor(sample(c("x", "y"), rows, TRUE), c("x", "y")),
    b = factor(sample(c("u", "v", "w"), rows, TRUE), c("u", "v", "w")),
    c = factor(sample(c("p", "q"), rows, TRUE), c("p", "q"))
  )
}

lambda_mechanism <- function() mech_lambda(answers(1), lambda = c(.7, .6, .8))

# The parts of a mean's answer that are numbers.
mean_numbers <- function(x, ...) {
  fit <- private_mean(x, 1, ..., rng = "r")
  list(coef(fit), fit$noise_sd, fit$radii)
}

calls <- list(
  randomized_response = function() {
    m <- mech_rr(4, 1)
    reports <- privatize(sample(4, 100, TRUE), m, rng = "r")
    e <- estimate(reports, m)
    list(
      reports, coef(e), vcov(e), audit(m), confide:::rr_weights(1, 4), predict(m, 1:4),
      simulate(m, 2, seed = 1, x = 1:4), renyi_epsilon(m, 2),
      private_test(reports, m, p = rep(.25, 4)),
      coef(estimate(reports, m, method = "ml")), coef(estimate(reports, m, method = "simplex"))
    )
  },
  channel = function() {
    m <- mech_matrix(matrix(c(.6, .2, .2, .3, .4, .3, .2, .1, .7), 3, byrow = TRUE))
    reports <- privatize(sample(3, 100, TRUE), m, rng = "r")
    list(
      reports, coef(estimate(reports, m)), coef(estimate(reports, m, method = "ml")),
      privacy_profile(m, c(0, .5)), epsilon(m, delta = .01), renyi_epsilon(m, 2),
      privacy_measures(m)
    )
  },
  lambda = function() {
    m <- lambda_mechanism()
    x <- answers(200)
    reports <- privatize(x, m, rng = "r")
    e <- estimate(reports, m, margin = c("a", "b"))
    list(
      reports, coef(e), vcov(e), count_reports(reports, m, weights = rep(1:2, 100)),
      coef(estimate(reports, m, method = "ml")),
      coef(estimate(reports, m, margin = "b", method = "simplex")),
      coef(estimate(reports, m, margin = "b", method = "ml")),
      vcov(estimate_cells(reports, m, x[1:3, ])),
      private_test(
        table(reports[c("a", "b")]), mech_lambda(answers(1)[c("a", "b")], lambda = c(.7, .6))
      ),
      log_linear_test(reports, m, ~ a * c + b * c),
      privacy_profile(m, c(0, .5)), epsilon(m, delta = .01), renyi_epsilon(m, 2),
      estimate_covariance(reports, m, scores = list(a = 0:1, b = 1:3, c = 0:1))
    )
  },
  regression = function() {
    m <- lambda_mechanism()
    reports <- as_plain(privatize(answers(500), m, rng = "r"))
    list(
      coef(private_lm(y ~ b, cbind(reports, y = stats::rnorm(500)), m)),
      coef(private_glm(a ~ c, reports, m))
    )
  },
  zeros = function() {
    m <- mech_lambda(answers(1)[c("a", "b")], lambda = .7)
    reports <- privatize(answers(200)[c("a", "b")], m, rng = "r")
    empty <- data.frame(a = "x", b = "u")
    coef(estimate(reports, m, method = "ml", structural_zeros = empty))
  },
  block = function() {
    designs <- list("PG(2,2)", "Hadamard(8)", "quartic0(13)", "subset selection(7,3)",
      "shared randomness(7,2)")
    lapply(designs, function(design) {
      m <- mech_block(7, 1, design = design)
      reports <- privatize(sample(7, 200, TRUE), m, rng = "r")
      list(
        reports, coef(estimate(reports, m)), estimate(reports, m)$std_error, audit(m),
        count_reports(reports, m, weights = rep(1:2, 100)),
        predict(m, utils::head(as_plain(reports), 2)),
        if (!startsWith(design, "shared")) as.matrix(m)
      )
    })
  },
  block_more = function() {
    m <- mech_block(9, 1)
    reports <- privatize(sample(9, 200, TRUE), m, rng = "r")
    list(
      coef(estimate(reports, m, method = "ml")), vcov(estimate(reports, m)),
      block_designs(20, 1), mech_block(7, 1, design = "triples(7,1)")$risk,
      mech_block(1000, 2)$risk, mech_block(9, 1, design = "residual PG(2,3)")$risk,
      confide:::block_weight_text(1, 3, 7)
    )
  },
  spr = function() {
    p <- c(a = .5, b = .3, c = .2)
    q <- c(a = .2, b = .3, c = .5)
    m <- mech_spr(p, q, 1)
    reports <- privatize(sample(names(p), 100, TRUE), m, rng = "r")
    list(
      reports, private_test(reports, m), m$bounds,
      mech_spr(p, q, 1, objective = "chernoff")$bounds,
      mech_spr(p, q, 1, objective = function(t) (t - 1)^2)$bounds,
      mech_spr_continuous(pnorm, function(x) pnorm(x, 1), epsilon = 2)$cuts
    )
  },
  sums = function() {
    x <- numbers(50, 2)
    first <- private_sum(x, 3, rho = 1, neighbours = "replace", rng = "r")
    second <- private_sum(x, 3, epsilon = 1, neighbours = "replace", rng = "r")
    count <- private_count(x[, 1] > 0, epsilon = 1, neighbours = "replace", rng = "r")
    list(
      coef(first), coef(second), coef(count), audit(first),
      audit(count, draws = 1000, rng = "r")
    )
  },
  means = function() {
    x <- numbers(5000, 3)
    list(
      mean_numbers(x), mean_numbers(x, sigma = "none"), mean_numbers(x, sigma = "tyler"),
      mean_numbers(x, sigma = "none", filter = "spectral"),
      mean_numbers(x, sigma = "none", method = "coinpress"),
      mean_numbers(x, sigma = "none", method = "huber"),
      mean_numbers(x, sigma = "none", method = "instance_optimal"),
      mean_numbers(x, sigma = "none", method = "coordinate_median"),
      mean_numbers(x, sigma = "none", method = "clipped"),
      mean_numbers(x, sigma = diag(3))
    )
  },
  replay = function() {
    pairs <- neighbour_pairs(numeric(), neighbours = "replace", number = 5)
    sums <- function(x) private_sum(x, 10, rho = 1, neighbours = "replace")
    x <- numbers(500, 2)
    moved <- rbind(c(1e6, 0), x[-1, ])
    whole <- answers(200)
    whole$d <- whole$a
    other <- rbind(whole[200, ], whole[-1, ])
    list(
      replay_audit(sums, pairs)$ok,
      replay_audit(function(x) private_mean(x, 1, sigma = "tyler"), list(list(x, moved)))$ok,
      replay_audit(
        function(x) synthesize(x, rho = 1, neighbours = "replace"), list(list(whole, other))
      )$ok
    )
  },
  ledger = function() {
    l <- ledger(alpha = 20, neighbours = "replace", limit = 10)
    private_sum(numbers(50, 1), 3, rho = .01, neighbours = "replace", ledger = l)
    charge(l, epsilon = .1, what = "elsewhere")
    a <- ask(above_threshold(100, sensitivity = 1, epsilon = 1, monotone = TRUE, ledger = l), 1e6)
    refused <- tryCatch(charge(l, epsilon = 100), error = function(error) class(error))
    list(a$halted, refused, nchar(format(l)) > 0, as_approx_dp(l, delta = 1e-6) < 100)
  },
  paths = function() {
    b <- refine(brownian(c(812, 188), sensitivity = 2, alpha = 20, rng = "r"), sigma = 30)
    b <- refine(b, sigma = 10)
    whole <- refine(
      brownian(c(812L, 188L), sensitivity = 1, alpha = 20, whole = TRUE, rng = "r"),
      epsilon = .5
    )
    p <- refine(laplace_path(812, 1, c(.1, 1), neighbours = "replace", rng = "r"))
    a <- above_threshold(100, sensitivity = 1, epsilon = .5, monotone = TRUE, rng = "r")
    a <- ask(a, 30)
    list(b$path, whole$path, p$estimate, a$halted)
  },
  accuracy_first = function() {
    parts <- split_people(answers(500), validation = .2, neighbours = "add_remove", rng = "r")
    l <- ledger(alpha = 20, neighbours = "add_remove", limit = 100)
    r <- accuracy_first(
      parts$train, parts$validation,
      refine = function(previous, train, epsilon) {
        previous <- previous %||%
          brownian(sum(train$a == "x"), sensitivity = 1, alpha = 20, whole = TRUE)
        refine(previous, epsilon = epsilon)
      },
      fit = function(released) released$estimate > 0,
      score = function(model, validation) validation$a == "x",
      threshold = .1, grid = c(.1, 1), alpha = 20, neighbours = "add_remove", ledger = l
    )
    r$status
  },
  classifier = function() {
    images <- matrix(stats::runif(20 * 36), 20)
    x <- image_features(images, 6, 6, size = 3, pool = 2)
    y <- answers(20)$a
    learn <- function(x, y, method, rng = "r") {
      private_classifier(
        x, y,
        epsilon = .5, alpha = 20, neighbours = "add_remove", records = 20, method = method,
        rng = rng
      )
    }
    audited <- function(method) {
      f <- function(people) learn(people["x"], people$y, method, "os")$weights
      people <- data.frame(x = stats::rnorm(20), y = y)
      replay_audit(f, list(list(people, people[-1, ])))$ok
    }
    list(
      coef(learn(x, y, "gradient")), coef(learn(x, y, "output")), coef(learn(x, y, "class_sums")),
      audited("gradient"), audited("class_sums")
    )
  },
  synthetic = function() {
    x <- answers(500)
    x$d <- x$b
    s <- synthesize(x, rho = 1, neighbours = "add_remove", label = "a", rng = "r")
    path <- synthesize(
      x,
      epsilon = .05, alpha = 20, neighbours = "add_remove", label = "a", rng = "r"
    )
    path <- refine(path, epsilon = .5)
    list(
      simulate(s, 20, seed = 1), predict(s, x[1:3, ]),
      simulate(path, 20, seed = 1)
    )
  }
)
