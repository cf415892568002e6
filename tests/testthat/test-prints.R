# One example of every printed class, side by side, so that words, order and number formats can be
# compared. A class whose print method has no example here fails the second test.

# Made with a seed, which every print of a release says.
seeded <- function(code) withr::with_seed(1, code)

printed_survey <- function() {
  truth <- expand.grid(sex = c("f", "m"), smokes = c("no", "yes", "never"))
  truth[rep(1:6, c(60, 50, 20, 40, 20, 10)), ]
}

printed_mechanisms <- function() {
  list(
    mech_rr = mech_rr(c("never", "once", "often"), epsilon = 1),
    mech_matrix = mech_matrix(rbind(no = c(no = 0.75, yes = 0.25), yes = c(no = 0.3, yes = 0.7))),
    mech_lambda = mech_lambda(printed_survey(), epsilon = c(sex = 1, smokes = 2)),
    mech_block = mech_block(100, epsilon = 1),
    mech_block_sets = mech_block(20, epsilon = 1, design = "subset selection(20,5)"),
    mech_spr = mech_spr((1:10) / 55, (10:1) / 55, epsilon = 1),
    mech_spr_continuous = mech_spr_continuous(
      stats::pnorm, function(x) stats::pnorm(x, mean = 1), epsilon = 1
    ),
    invariant_pram = invariant_pram(table(printed_survey()$smokes), lambda = 0.7),
    composite = composite(
      list(age = c("child", "adult"), work = c("none", "employed", "retired")),
      function(cells) cells$age == "adult" | cells$work == "none"
    ),
    objective = hockey_stick(2),
    block_designs = block_designs(100, epsilon = 1),
    block_comparison = block_comparison(100, epsilon = 1),
    spr_comparison = spr_comparison((1:10) / 55, (10:1) / 55, epsilon = c(1, 2)),
    birkhoff = birkhoff(mech_lambda(list(a = 2, b = 3), lambda = 0.5)),
    mechanism_entropy = mechanism_entropy(mech_lambda(list(a = 2, b = 3), lambda = 0.5)),
    privacy_profile = privacy_profile(mech_lambda(list(a = 2, b = 3), lambda = 0.5), c(0, 1))
  )
}

printed_reports <- function(mechanisms) {
  survey <- printed_survey()
  list(
    reports = seeded(privatize(survey$smokes, mech_rr(survey$smokes, epsilon = 1), rng = "r")),
    reports_lambda = seeded(privatize(survey, mechanisms$mech_lambda, rng = "r")),
    reports_block = seeded(privatize(rep(1:100, 3), mechanisms$mech_block, rng = "r")),
    counts = count_reports(
      c(never = 380000, once = 330000, often = 290000), mechanisms$mech_rr
    ),
    counts_lambda = seeded(
      count_reports(privatize(survey, mechanisms$mech_lambda, rng = "r"), mechanisms$mech_lambda)
    )
  )
}

printed_estimates <- function(mechanisms, reports) {
  lambda <- mechanisms$mech_lambda
  records <- reports$reports_lambda
  scores <- list(sex = 0:1, smokes = c(1, 2, 0))
  list(
    estimate = estimate(reports$counts, mechanisms$mech_rr),
    estimate_lambda = estimate(records, lambda),
    estimate_block = estimate(reports$reports_block, mechanisms$mech_block),
    summary_estimate = summary(estimate(records, lambda, margin = "smokes")),
    estimate_cells = estimate_cells(records, lambda, data.frame(sex = "f", smokes = "yes")),
    estimate_covariance = estimate_covariance(records, lambda, scores = scores),
    private_lm = private_lm(smokes ~ sex, records, lambda, scores = scores),
    private_glm = private_glm(sex ~ smokes, records, lambda),
    summary_regression = summary(private_glm(sex ~ smokes, records, lambda)),
    test_independence = private_test(records, lambda),
    test_fit = private_test(reports$counts, mechanisms$mech_rr, p = c(0.5, 0.3, 0.2)),
    test_spr = seeded(private_test(
      privatize(rep(1:10, 20), mechanisms$mech_spr, rng = "r"), mechanisms$mech_spr
    )),
    log_linear_test = log_linear_test(records, lambda, ~ sex + smokes)
  )
}

printed_plans <- function() {
  study <- seeded(contamination_study(
    c("sample_mean", "geometric_median"),
    d = 2, n = 100, contamination = c(0, 0.1), repetitions = 2
  ))
  list(
    plan_frequencies = plan_frequencies(c(a = 5, b = 2), n = 1000, epsilon = 2),
    plan_test = plan_test((1:10) / 55, (10:1) / 55, epsilon = 1, power = 0.9),
    plan_mean = plan_mean(8, n = 5000, rho = 0.1),
    feasible_tables = feasible_tables(mech_lambda(list(a = 5, b = 2), lambda = 0.8), n = 1000),
    contamination_study = study,
    summary_study = summary(study),
    error_ratios = error_ratios(study, reference = "sample_mean", rivals = "geometric_median")
  )
}

printed_releases <- function() {
  hours <- cbind(hours = c(40, 38, 20), age = c(20, 70, 33))
  sum <- seeded(private_sum(hours, 100, rho = 0.5, neighbours = "replace", rng = "r"))
  count <- seeded(
    private_count(c(TRUE, FALSE), epsilon = 1, neighbours = "add_remove", rng = "r")
  )
  rows <- seeded(matrix(stats::rnorm(4000), ncol = 2, dimnames = list(NULL, c("x", "y"))))
  mean <- seeded(private_mean(rows, rho = 1, sigma = "none", rng = "r"))
  list(
    private_sum = sum,
    private_count = count,
    summary_release = summary(count),
    private_mean = mean,
    summary_mean = summary(mean),
    confidence_ball = confidence_ball(mean),
    confidence_ball_wider = confidence_ball(mean, contamination = 0.05),
    balloon_control = balloon_control()
  )
}

printed_expost <- function() {
  people <- data.frame(old = rep(c(TRUE, FALSE), 200), rich = rep(c(TRUE, FALSE), each = 200))
  account <- ledger(alpha = 20, neighbours = "add_remove", limit = 1)
  charge(account, epsilon = cost_pure(20, epsilon = 0.1), what = "a count elsewhere")
  parts <- seeded(split_people(people, validation = 0.2, neighbours = "add_remove", rng = "r"))
  path <- seeded(
    brownian(c(yes = 812L, no = 188L), sensitivity = sqrt(2), alpha = 20, rng = "r")
  )
  steps <- seeded(laplace_path(
    c(yes = 812L, no = 188L), sensitivity = 2, epsilon = c(0.1, 1), rng = "r"
  ))
  questions <- seeded(
    above_threshold(100, sensitivity = 1, epsilon = 0.5, monotone = TRUE, rng = "r")
  )
  list(
    ledger = account,
    brownian = seeded(refine(path, sigma = 10)),
    laplace_path = seeded(refine(steps)),
    above_threshold = seeded(ask(questions, 300)),
    accuracy_first = seeded(accuracy_first(
      parts$train, parts$validation,
      refine = function(previous, train, epsilon) {
        previous <- previous %||% brownian(
          sum(train$old), sensitivity = 1, alpha = 20, whole = TRUE, rng = "r"
        )
        refine(previous, epsilon = epsilon)
      },
      fit = function(released) released$estimate > 0,
      score = function(model, validation) rep(model, nrow(validation)),
      threshold = 0.5, grid = c(0.1, 1), alpha = 20, neighbours = "add_remove", rng = "r"
    ))
  )
}

printed_models <- function() {
  rows <- printed_survey()
  rows$drinks <- factor(ifelse(rows$smokes == "yes", "often", "never"))
  made <- seeded(synthesize(
    rows, rho = 1, neighbours = "add_remove", label = "smokes", rng = "r"
  ))
  features <- seeded(matrix(stats::rnorm(400), 200, dimnames = list(NULL, c("x", "y"))))
  classes <- factor(ifelse(features[, 1] > 0, "up", "down"))
  learnt <- seeded(private_classifier(
    features / 4, classes, epsilon = 1, alpha = 20, neighbours = "add_remove",
    method = "class_sums", rng = "r"
  ))
  list(
    synthesize = made, summary_synthetic = summary(made), private_classifier = learnt,
    summary_classifier = summary(learnt), classifier_control = classifier_control()
  )
}

printed_guarantees <- function(objects) {
  pairs <- seeded(neighbour_pairs(numeric(), neighbours = "add_remove", number = 20))
  total <- function(x) private_sum(x, bound = 10, rho = 1, neighbours = "add_remove")
  list(
    privacy_mechanism = privacy(objects$mech_lambda),
    privacy_release = privacy(objects$private_mean),
    privacy_expost = privacy(objects$brownian),
    audit_mechanism = audit(objects$mech_rr),
    audit_release = audit(objects$private_sum),
    audit_mean = audit(objects$private_mean),
    audit_expost = audit(objects$brownian),
    replay_audit = seeded(replay_audit(total, pairs))
  )
}

printed_objects <- function() {
  mechanisms <- printed_mechanisms()
  reports <- printed_reports(mechanisms)
  objects <- c(
    mechanisms, reports, printed_estimates(mechanisms, reports), printed_plans(),
    printed_releases(), printed_expost(), printed_models()
  )
  c(objects, printed_guarantees(objects))
}

# Which print method serves an object: the first of its classes that has one.
printing_class <- function(object, known) intersect(class(object), known)[1]

registered_classes <- function(generic) {
  methods <- parseNamespaceFile("confide", dirname(system.file(package = "confide")))$S3methods
  methods[methods[, 1] == generic, 2]
}

test_that("printed objects look alike", {
  local_reproducible_output(width = 80)
  objects <- printed_objects()
  expect_snapshot({
    for (name in names(objects)) {
      writeLines(c("", paste("#", name), utils::capture.output(print(objects[[name]]))))
    }
  })
})

test_that("every class that is printed has its example, of at most 12 lines and 80 columns", {
  objects <- printed_objects()
  known <- registered_classes("print")
  expect_gt(length(known), 30)
  served <- vapply(objects, printing_class, "", known = known)
  expect_identical(sort(unique(served[!is.na(served)])), sort(known))
  # mechanisms share one print method and differ in what it is made of
  kinds <- unlist(lapply(objects, class))
  expect_identical(setdiff(registered_classes("format_title"), kinds), character())
  for (object in objects[!is.na(served) & !startsWith(served, "summary.")]) {
    expect_prints_small(object)
  }
})

test_that("prints state the guarantee and where the randomness came from", {
  for (object in printed_objects()) {
    statement <- tryCatch(privacy(object), confide_error = function(error) NULL)
    if (is.null(statement) || inherits(object, "confide_pram")) next
    text <- paste(utils::capture.output(print(object)), collapse = "\n")
    expect_match(text, "(epsilon|rho) = ")
    if (identical(statement$rng, "r")) expect_match(text, "NOT PRIVATE", fixed = TRUE)
    if (is_central(statement)) expect_match(text, "(protects|unit  ) +one row")
  }
})

test_that("what comes of reports from R's generator says so", {
  mechanisms <- printed_mechanisms()
  results <- printed_estimates(mechanisms, printed_reports(mechanisms))
  from_table <- c("estimate", "test_fit", "summary_estimate", "summary_regression")
  for (result in results[setdiff(names(results), from_table)]) {
    expect_identical(privacy(result)$rng, "r")
  }
})
