# Nasty values: a catalogue of 100 kinds of bad input, a table of valid calls of every exported
# function, and what must hold when one of the arguments is replaced by one of the values.

# What stands for private data. Neither may turn up in a condition or in a release.
secret_number <- 7391.284617364501
secret_count <- 739128461
secret_text <- "Zebrafink"

# One argument left out of the call.
left_out <- structure(list(), class = "nasty_left_out")

number_class <- function(x) {
  methods::setClass("nasty_number", contains = "numeric", where = environment())(x)
}

latin1 <- function(x) {
  Encoding(x) <- "latin1"
  x
}

bytes <- function(x) {
  Encoding(x) <- "bytes"
  x
}

# The values of the catalogue by item; what is no value of an argument is in nasty_scenarios().
nasty_values <- function() {
  corrupt <- structure(c(1L, 5L), levels = c("a", "b"), class = "factor")
  frame <- data.frame(a = c("a", "b"), b = c(1, 2))
  list(
    "1 missing number" = list(NA, NA_real_, NA_integer_, NA_character_),
    "2 NaN" = list(NaN),
    "3 infinite" = list(Inf),
    "4 negative" = list(-Inf, -1, -1e-300),
    "5 zero" = list(0),
    "6 minus zero" = list(-0),
    "7 tiny" = list(5e-324, 1e-300),
    "8 huge" = list(1e308, .Machine$double.xmax),
    "9 where exp() overflows" = list(709.8, 710, 745, 746),
    "10 logical" = list(TRUE, FALSE),
    "11 number as text" = list("1", "1e308"),
    "12 complex" = list(1i),
    "13 number with a class" = list(
      factor("1"), as.Date("2020-01-01"), as.difftime(1, units = "secs"),
      structure(1, class = "integer64"), structure(1, class = "foo"), number_class(1), stdin()
    ),
    "14 not a single number" = list(c(1, 2), numeric(), NULL, list(1), matrix(1)),
    "15 integer and large whole numbers" = list(1L, 2^31, 2^53 + 2),
    "16 named number" = list(c(a = 1)),
    "17 delta at its ends" = list(1, 1.0000001, -1e-20, 1e-320),
    "18 delta near 1" = list(1 - 1e-7),
    "19 order near 1" = list(1 + 1e-8, 0.5),
    "20 sensitivity that overflows" = list(c(1e308, 1e308)),
    "21 noise out of range" = list(1e-320, 1e300),
    "22 rho without noise" = list(1e-200),
    "23 bounds" = list(c(1, 0), c(1, 1), c(NA, 1), c(-Inf, Inf), c(-2^1023, 2^1023)),
    "24 left out" = list(left_out),
    "25 misspelt choice" = list("repalce", "OS"),
    "26 shares that do not sum to 1" = list(c(0.5, 0.499), c(0.2, 0.3, 0.501)),
    "27 shares that sum to 1 up to rounding" = list(c(0.5, 0.5 + 1e-9)),
    "28 negative share" = list(c(-0.1, 1.1), c(-1e-17, 1), c(-0.1, 0.6, 0.5)),
    "29 share that is not finite" = list(c(NA, 1), c(NaN, 1), c(Inf, 0), c(NA, 0.5, 0.5)),
    "30 shares all zero" = list(c(0, 0), c(0, 0, 0)),
    "31 zero share" = list(c(0, 1), c(0, 0.5, 0.5)),
    "32 zero share in both" = list(c(0.5, 0.5, 0)),
    "33 equal shares" = list(c(0.2, 0.3, 0.5), c(0.2, 0.3, 0.5) + c(1e-13, -1e-13, 0)),
    "34 ties and near-ties" = list(c(1, 1, 1) / 3, c(0.25, 0.25 + 2^-54, 0.5 - 2^-54)),
    "35 one level" = list("a"),
    "36 no level" = list(character()),
    "37 too many levels" = list(2^31 + 1),
    "38 row sums" = list(
      rbind(c(0.7, 0.301), c(0.4, 0.6)), rbind(c(0.7, 0.3 + 1e-12), c(0.4, 0.6))
    ),
    "39 unequal zeros" = list(rbind(c(1, 0), c(0.5, 0.5))),
    "40 ratio above e^epsilon" = list(
      matrix(c(exp(1), 1, 1, exp(1)) / (1 + exp(1)) + c(1e-16, 0, 0, 0), 2),
      matrix(c(exp(1) + 1e-3, 1, 1 - 1e-3, exp(1)) / (1 + exp(1)), 2)
    ),
    "41 one column" = list(matrix(1, 3, 1)),
    "42 not a matrix" = list(
      data.frame(a = c(0.5, 0.5), b = c(0.5, 0.5)), Matrix::Diagonal(2), diag(1L, 2)
    ),
    "43 odd dimnames" = list(
      matrix(0.5, 2, 2, dimnames = list(c("a", "a"), NULL)),
      matrix(0.5, 2, 2, dimnames = list(c("a", NA), c("x", "y")))
    ),
    "44 repeated levels" = list(c("a", "a")),
    "45 missing level" = list(c("a", NA), addNA(factor(c("a", NA)))),
    "46 blank levels" = list(c("", " ")),
    "47 encodings" = list(
      c("\u00e9", "e\u0301"), latin1("\xe9"), bytes("\xff"), c("a", "\xff"), "\u00e9"
    ),
    "48 long and broken names" = list(c(strrep("x", 1e5), "b"), "a\nb", strrep("y", 1e5)),
    "49 order of the locale" = list(c("b", "A", "a", "B")),
    "50 not data" = list(
      list(), sum, function(x) x, globalenv(), quote(x), y ~ x, quote(f(x)), expression(1), stdin()
    ),
    "51 empty" = list(character(), factor(character()), logical()),
    "52 unused levels" = list(factor("a", levels = c("a", "b", secret_text))),
    "53 other order of levels" = list(factor(c("a", "b"), levels = c("b", "a"))),
    "54 ordered factor" = list(factor("a", levels = c("a", "b"), ordered = TRUE)),
    "55 corrupt factor" = list(corrupt),
    "56 codes for labels" = list(c(1, 2), 1:3),
    "57 integer codes" = list(c(2L, 1L)),
    "58 missing value inside" = list(c("a", NA), c(TRUE, NA), factor(c("b", NA))),
    "59 value outside the levels" = list(secret_text, c("a", secret_text), factor(secret_text)),
    "60 wrong shapes" = list(
      matrix(secret_text), array("a", c(1, 1, 1)), array(1, c(1, 1, 1)),
      data.frame(a = I(list(1, secret_text))), list("a", list("b")), data.frame(a = "a")
    ),
    "61 names and attributes" = list(
      structure(c("a", "b"), names = c(secret_text, secret_text), note = secret_text),
      structure(c(1, 2), names = c(secret_text, secret_text), note = secret_text)
    ),
    "62 logical values" = list(c(TRUE, FALSE)),
    "63 other types" = list(
      as.raw(1), c(1i, 2), as.Date("2020-01-01"), as.POSIXlt("2020-01-01", tz = "UTC"),
      as.POSIXct("2020-01-01", tz = "UTC"), as.difftime(1, units = "secs"), datasets::mtcars
    ),
    "64 compact vectors" = list(seq_len(1e5), as.character(seq_len(1e4))),
    "65 long vector" = list(),
    "66 not finite inside" = list(
      c(1, NA, secret_number), c(1, NaN), c(1, Inf, secret_number), c(-Inf, 1)
    ),
    "67 sum that overflows" = list(c(1e308, 1e308)),
    "68 subnormal numbers" = list(c(5e-324, -0)),
    "69 missing integer" = list(c(1L, NA)),
    "70 integers that overflow" = list(rep(.Machine$integer.max, 3)),
    "71 at the bounds" = list(c(10, -10, 0.5)),
    "72 no numbers" = list(numeric(), integer()),
    "73 empty data frames" = list(
      data.frame(), data.frame(a = numeric()), data.frame(row.names = c("r", "s"))
    ),
    "74 columns that are no numbers" = list(
      data.frame(a = 1, b = secret_text), data.frame(a = 1, b = factor("x")), frame
    ),
    "75 matrix with NA" = list(matrix(c(1, NA, secret_number, 4), 2)),
    "76 shapes of matrices" = list(matrix(1, 1, 5), matrix(0, 3, 0), matrix(1, 1, 1)),
    "77 not a covariance" = list(
      matrix(c(1, 2, 2, 1), 2), matrix(c(1, 0, 1e-16, 1), 2), matrix(c(1, 0, 1e-3, 1), 2)
    ),
    "78 singular" = list(matrix(1, 2, 2)),
    "79 no matrix, and a large one" = list(matrix(0, 0, 0), 1e5),
    "80 constant columns" = list(matrix(1, 20, 2), data.frame(a = rep(1, 20), b = rep(1, 20))),
    "81 more rows than the limit" = list(),
    "82 one huge record" = list(c(1, 1e300)),
    "83 no cap" = list(1.5),
    "84 monotone left out" = list(left_out),
    "86 threshold that is not finite" = list(-Inf),
    "87 ladder that does not climb" = list(c(1, 0.5), c(1, 1), c(0.1, 1)),
    "89 budgets mixed" = list(
      list(rho = 1, epsilon = 1), c(rho = 1), ledger(2, neighbours = "zero_out")
    ),
    "90 altered by hand" = list(
      utils::modifyList(mech_rr(2, 1), list(epsilon = 0.1)),
      structure(list(), class = c("confide_rr", "confide_mechanism")),
      structure(list(), class = "confide_ledger"), structure(list(), class = "confide_estimate")
    ),
    "91 of a newer version" = list(
      utils::modifyList(mech_rr(2, 1), list(made_with = "999.1"))
    ),
    "92 through a file" = list(
      through_file(mech_rr(2, 1)), through_file(ledger(2, neighbours = "replace")),
      through_file(brownian(1, 1, alpha = 2))
    ),
    "94 simulated" = list(
      private_count(TRUE, rho = 1, neighbours = "replace", rng = "r"),
      privatize("1", mech_rr(2, 1), rng = "r")
    ),
    "99 numbers of draws" = list(-1, 1.5, "10", 2^53 + 2, NA),
    "100 other classes" = list(
      structure(list(), class = "unknown"), structure(1, class = "confide_unknown"),
      expression(1), mtcars, "{stop('braces')}", c("{a}", "{b}"),
      c("{stop('braces')}" = 1), list("{x}" = "{x}")
    )
  )
}

through_file <- function(object) unserialize(serialize(object, NULL))

# Items that are events rather than values: the file and words of the name of the test that has it.
nasty_scenarios <- c(
  "65" = "test-nasty: a vector longer than 2\\^31",
  "81" = "test-nasty: a vector longer than 2\\^31",
  "85" = "test-above_threshold: after the cap it stops",
  "88" = "test-ledger: limit",
  "93" = "test-ledger: another process",
  "95" = "test-private_sum: gives no random numbers",
  "96" = "test-attacks: seeds have no effect",
  "97" = "test-private_sum: interrupted draw",
  "98" = "test-nasty: unknown and shortened arguments"
)

# Objects that the valid calls use. Those that change are made anew by a function.
nasty_objects <- function() {
  set.seed(1)
  people <- data.frame(
    a = factor(rep(1:2, 30)), b = factor(rep(1:3, 20)),
    row.names = paste0(secret_text, seq_len(60))
  )
  numbers <- c(0.5, secret_number, 2, -1, 3, 8, 9)
  rows <- matrix(stats::rnorm(200), 100, 2, dimnames = list(
    rep(secret_text, 100), c("height", "weight")
  ))
  rows[7, ] <- secret_number
  within(list(), {
    numbers <- stats::setNames(numbers, rep(secret_text, 7))
    answers <- stats::setNames(rep(c(TRUE, FALSE, TRUE), 5), rep(secret_text, 15))
    labels <- stats::setNames(rep(c("a", "b", "c", "a"), 10), rep(secret_text, 40))
    rows <- rows
    people <- people
    survey <- cbind(people, y = stats::rnorm(60))
    measured <- data.frame(
      group = people$a, size = c(rep(c(1, 5, 9), 19), 2, 3, secret_number),
      row.names = row.names(people)
    )
    cells <- list(age = c("child", "adult"), work = c("none", "employed"))
    feasible <- function(cells) cells$age == "adult" | cells$work == "none"
    cluster <- composite(cells, feasible)
    clustered <- data.frame(
      age = c("child", "adult"), work = "none", row.names = paste0(secret_text, 1:2)
    )
    m_rr <- mech_rr(c("a", "b", "c"), 1)
    m_block <- mech_block(7, 1)
    m_sets <- mech_block(7, 1, design = "subset selection(7,2)")
    m_spr <- mech_spr(c(a = 0.2, b = 0.3, c = 0.5), c(a = 0.5, b = 0.3, c = 0.2), 1)
    m_continuous <- mech_spr_continuous(stats::pnorm, function(x) stats::pnorm(x, 1), 1)
    m_matrix <- mech_matrix(rbind(a = c(x = 0.7, y = 0.3), b = c(x = 0.4, y = 0.6)))
    m_lambda <- mech_lambda(people[c("a", "b")], lambda = c(0.8, 0.6))
    m_pram <- invariant_pram(c(a = 20, b = 30, c = 50), lambda = 0.7)
    m_cluster <- mech_lambda(list(both = cluster, sex = c("f", "m")), lambda = 0.7)
    r_rr <- privatize(labels, m_rr, rng = "r")
    r_spr <- privatize(labels, m_spr, rng = "r")
    r_block <- privatize(rep(1:7, 9), m_block, rng = "r")
    r_lambda <- privatize(people, m_lambda, rng = "r")
    r_cluster <- privatize(
      data.frame(both = combine_attributes(clustered, cluster), sex = "f"), m_cluster, rng = "r"
    )
    counts <- count_reports(r_rr, m_rr)
    e_rr <- estimate(r_rr, m_rr)
    e_lambda <- estimate(r_lambda, m_lambda, margin = c("a", "b"))
    e_cluster <- estimate(r_cluster, m_cluster, margin = "both")
    covariance <- estimate_covariance(r_lambda, m_lambda, scores = list(a = 1:2, b = 1:3))
    m_shares <- mech_lambda(people["a"], lambda = 0.8)
    survey_reports <- cbind(as_plain(privatize(people["a"], m_shares, rng = "r")), survey["y"])
    linear <- private_lm(y ~ a, survey_reports, m_shares)
    logistic <- private_glm(a ~ y, survey_reports, m_shares)
    release <- private_sum(numbers, bound = 10, rho = 1, neighbours = "replace", rng = "r")
    mean_fit <- private_mean(rows, rho = 2, sigma = "none", rng = "r")
    fresh_ledger <- function() ledger(20, neighbours = "replace", limit = 1e6)
    fresh_threshold <- function() {
      above_threshold(10, 1, epsilon = 1, monotone = FALSE, neighbours = "replace", rng = "r")
    }
    fresh_brownian <- function() {
      refine(brownian(secret_number, 1, alpha = 20, rng = "r"), epsilon = 0.1)
    }
    fresh_laplace <- function() {
      # so much noise that the count itself is hardly ever the answer
      refine(laplace_path(secret_count, 1, epsilon = c(1e-5, 2e-5, 1), rng = "r"))
    }
    fresh_path <- function() {
      synthesize(
        people, epsilon = 0.5, alpha = 20, neighbours = "replace", rng = "r",
        ledger = NULL
      )
    }
    images <- matrix(seq_len(256) %% 17, 4, 64)
    images[3, 5] <- secret_number
    features <- matrix(stats::rnorm(120), 60, 2) / 9
    features[7, ] <- secret_number / 1e9
    classes <- factor(rep(c("up", "down"), 30))
    added_ledger <- function() ledger(20, neighbours = "add_remove", limit = 1e6)
    fresh_classifier <- function() {
      private_classifier(
        features, classes, epsilon = 0.5, alpha = 20, neighbours = "add_remove",
        method = "class_sums", rng = "r"
      )
    }
    synthetic <- synthesize(people, rho = 1, neighbours = "replace", label = "a", rng = "r")
    count_a <- function(previous, train, epsilon) {
      if (is.null(previous)) {
        previous <- brownian(sum(train$a == "1"), 1, alpha = 20, whole = TRUE, rng = "r")
      }
      refine(previous, epsilon = epsilon)
    }
    fit_a <- function(released) released$estimate > 0
    score_a <- function(model, validation) rep(c(model, FALSE), nrow(validation) / 2)
    study <- contamination_study(
      c("sample_mean", "geometric_median"), d = 2, n = 20, contamination = c(0, 0.1),
      repetitions = 3
    )
    pairs <- neighbour_pairs(numeric(), neighbours = "replace", number = 3)
    released_sum <- function(x) private_sum(x, bound = 10, rho = 1, neighbours = "replace")
    accuracy <- accuracy_first(
      people[1:40, ], people[41:60, ], count_a, fit_a, score_a,
      threshold = 0.4, grid = c(0.1, 1), alpha = 20, neighbours = "replace", rng = "r"
    )
  })
}

# A valid call of every exported function: the arguments that it needs. All other arguments are
# tried too. A second call of a function has words in brackets after its name. `secret` are the
# arguments that hold private data.
nasty_calls <- function() {
  list(
    above_threshold = alist(
      threshold = 100, sensitivity = 1, epsilon = 0.5, monotone = TRUE, neighbours = "replace",
      rng = "r"
    ),
    "above_threshold (Gaussian)" = alist(
      threshold = 100, sensitivity = 1, sigma = c(5, 10), cap = 50, alpha = 20, monotone = FALSE,
      neighbours = "replace", rng = "r"
    ),
    accuracy_first = alist(
      train = people[1:40, ], validation = people[41:60, ], refine = count_a, fit = fit_a,
      score = score_a, threshold = 0.4, grid = c(0.1, 1), alpha = 20, neighbours = "replace",
      rng = "r"
    ),
    approx_dp_delta = alist(x = 0.05, alpha = 20, epsilon = 0.5),
    as_approx_dp = alist(x = 0.05, alpha = 20, delta = 1e-5),
    as_plain = alist(x = r_rr),
    ask = alist(object = fresh_threshold(), value = secret_count),
    audit = alist(x = m_rr, draws = 50, confidence = 0.9, rng = "r"),
    "audit (path)" = alist(x = fresh_laplace()),
    "audit (release)" = alist(x = release, draws = 50, confidence = 0.9, rng = "r"),
    augment = alist(x = e_rr),
    balloon_control = alist(),
    birkhoff = alist(mechanism = m_rr),
    block_comparison = alist(v = 13, epsilon = 1),
    block_designs = alist(v = 13, epsilon = 1),
    block_risk = alist(mechanism = m_block, n = 1000),
    brownian = alist(value = secret_number, sensitivity = 1, alpha = 20, rng = "r"),
    "brownian (several)" = alist(
      value = list(n = 5L, mean = secret_number), sensitivity = c(n = 1, mean = 0.5), alpha = 20,
      ledger = fresh_ledger()
    ),
    charge = alist(ledger = fresh_ledger(), epsilon = 0.1),
    "charge (release)" = alist(ledger = fresh_ledger(), release = m_rr, part = "half"),
    classifier_control = alist(rate = 0.5),
    combine_attributes = alist(data = clustered, composite = cluster),
    composite = alist(levels = cells, feasible = feasible),
    confidence_ball = alist(object = mean_fit),
    contamination_study = alist(
      methods = "sample_mean", d = 2, n = 20, contamination = 0.1, repetitions = 2
    ),
    cost_above_threshold = alist(alpha = 20, epsilon = 1),
    "cost_above_threshold (Gaussian)" = alist(alpha = 20, sigma = c(5, 10), weight = 0.5),
    cost_exponential = alist(alpha = 20, epsilon = 1),
    cost_gaussian = alist(alpha = 20, sensitivity = 1, sigma = 5),
    cost_laplace = alist(alpha = 20, scale = 5),
    cost_pure = alist(alpha = 20, epsilon = 1),
    cost_subsampled_gaussian = alist(alpha = 20, rate = 0.1, sigma = 4),
    count_reports = alist(x = r_rr, mechanism = m_rr),
    "count_reports (survey)" = alist(x = r_lambda, mechanism = m_lambda),
    "count_reports (block)" = alist(x = r_block, mechanism = m_block),
    design_risk = alist(v = 100, b = 101, r = 25, lambda = 6, epsilon = 1),
    epsilon = alist(x = m_rr, delta = 0),
    error_ratios = alist(x = study, reference = "sample_mean", rivals = "geometric_median"),
    estimate = alist(x = r_rr, mechanism = m_rr),
    "estimate (survey)" = alist(x = r_lambda, mechanism = m_lambda, margin = c("a", "b")),
    "estimate (block)" = alist(x = r_block, mechanism = m_block),
    estimate_cells = alist(x = r_lambda, mechanism = m_lambda, cells = list(a = "1")),
    estimate_covariance = alist(
      x = r_lambda, mechanism = m_lambda, scores = list(a = 1:2, b = 1:3)
    ),
    exactness_interval = alist(v = 101, k = 25),
    feasible_tables = alist(mechanism = m_lambda, n = 100),
    glance = alist(x = e_rr),
    hockey_stick = alist(gamma = 2),
    image_features = alist(images = images, height = 8, width = 8, filters = 2, pool = 2),
    invariant_pram = alist(shares = c(a = 20, b = 30, c = 50), lambda = 0.7),
    laplace_path = alist(value = secret_count, sensitivity = 1, epsilon = c(0.1, 1), rng = "r"),
    "laplace_path (ledger)" = alist(
      value = secret_count, sensitivity = 1, epsilon = c(0.1, 1), ledger = fresh_ledger()
    ),
    ledger = alist(alpha = 20, neighbours = "replace"),
    log_linear_test = alist(x = r_lambda, mechanism = m_lambda, model = ~ a + b),
    lr_distance = alist(r = 2),
    mech_block = alist(levels = 7, epsilon = 1),
    mech_lambda = alist(levels = list(a = 2, b = c("x", "y", "z")), lambda = 0.5),
    "mech_lambda (noise)" = alist(
      levels = list(a = c("no", "yes")), epsilon = 1, noise = list(a = c(no = 0.5, yes = 0.5))
    ),
    mech_matrix = alist(P = rbind(a = c(x = 0.7, y = 0.3), b = c(x = 0.4, y = 0.6))),
    mech_rr = alist(levels = c("a", "b"), epsilon = 1),
    mech_spr = alist(p0 = c(0.2, 0.3, 0.5), p1 = c(0.5, 0.3, 0.2), epsilon = 1),
    mech_spr_continuous = alist(
      p0 = stats::pnorm, p1 = function(x) stats::pnorm(x, 1), epsilon = 1
    ),
    mechanism_entropy = alist(mechanism = m_lambda),
    neighbour_pairs = alist(like = numeric(), neighbours = "replace", number = 2),
    optimal_block_size = alist(v = 100, epsilon = 1),
    plan_alpha = alist(rho = 0.1, delta = 1e-6),
    plan_frequencies = alist(levels = 5, n = 1000, epsilon = 1),
    "plan_frequencies (survey)" = alist(levels = c(a = 2, b = 3), lambda = 0.7, error = 0.02),
    plan_mean = alist(d = 8, n = 5000, rho = 0.1),
    plan_test = alist(
      p0 = c(0.2, 0.3, 0.5), p1 = c(0.5, 0.3, 0.2), epsilon = 1, power = 0.9
    ),
    privacy = alist(x = m_rr),
    privacy_measures = alist(mechanism = m_rr),
    privacy_profile = alist(mechanism = m_rr, epsilon = 0.5),
    private_classifier = alist(
      x = features, y = classes, epsilon = 0.5, alpha = 20, neighbours = "add_remove",
      method = "class_sums", rng = "r"
    ),
    "private_classifier (descent)" = alist(
      x = features, y = classes, epsilon = 10, alpha = 20, neighbours = "add_remove",
      records = 60, control = classifier_control(sigma = 1), ledger = added_ledger()
    ),
    private_count = alist(x = answers, rho = 1, neighbours = "replace", rng = "r"),
    "private_count (ledger)" = alist(
      x = answers, epsilon = 1, neighbours = "replace", ledger = fresh_ledger()
    ),
    private_glm = alist(formula = a ~ y, data = survey_reports, mechanism = m_shares),
    private_lm = alist(formula = y ~ a, data = survey_reports, mechanism = m_shares),
    private_mean = alist(x = rows, rho = 2, sigma = "none", rng = "r"),
    "private_mean (ledger)" = alist(
      x = rows, epsilon = 5, method = "clipped", radius = 5, sigma = diag(2),
      ledger = fresh_ledger()
    ),
    private_sum = alist(x = numbers, bound = 10, rho = 1, neighbours = "replace", rng = "r"),
    "private_sum (ledger)" = alist(
      x = rows, bound = 10, epsilon = 1, neighbours = "replace", ledger = fresh_ledger()
    ),
    private_test = alist(x = r_rr, mechanism = m_rr, p = c(0.2, 0.3, 0.5)),
    "private_test (survey)" = alist(x = r_lambda, mechanism = m_lambda, margin = c("a", "b")),
    "private_test (two hypotheses)" = alist(x = r_spr, mechanism = m_spr),
    privatize = alist(x = labels, mechanism = m_rr, rng = "r"),
    "privatize (survey)" = alist(x = people, mechanism = m_lambda, rng = "r"),
    "privatize (codes)" = alist(x = c(1, 7, 3), mechanism = m_block, rng = "r"),
    "privatize (numbers)" = alist(x = numbers, mechanism = m_continuous, rng = "r"),
    refine = alist(object = fresh_brownian(), epsilon = 0.5),
    "refine (classifier)" = alist(object = fresh_classifier(), epsilon = 0.6),
    "refine (ladder)" = alist(object = fresh_laplace()),
    "refine (synthetic data)" = alist(object = fresh_path(), epsilon = 0.6),
    renyi = alist(alpha = 2),
    renyi_epsilon = alist(mechanism = m_rr, alpha = 2),
    replay_audit = alist(f = released_sum, pairs = pairs),
    risk_bound = alist(v = 100, epsilon = 1),
    spent = alist(x = fresh_ledger()),
    split_attributes = alist(x = r_cluster, composite = cluster),
    split_people = alist(data = people, validation = 0.2, neighbours = "replace", rng = "r"),
    spr_comparison = alist(p0 = c(0.2, 0.3, 0.5), p1 = c(0.5, 0.3, 0.2), epsilon = c(1, 2)),
    std_error = alist(x = e_rr),
    synthesize = alist(
      data = people, rho = 1, neighbours = "replace", label = "a", rng = "r"
    ),
    "synthesize (cuts)" = alist(
      data = measured, epsilon = 2, neighbours = "replace", cuts = list(size = c(0, 3, 6, 10)),
      ledger = fresh_ledger()
    ),
    tidy = alist(x = e_rr),
    zcdp_to_approx_dp = alist(rho = 0.1, delta = 1e-6)
  )
}

# Arguments that hold private data: what an error says must not depend on them.
# Opens a browser and waits for a person; its arguments are tried in test-explore.R.
waiting_functions <- "explore"

nasty_secrets <- list(
  accuracy_first = c("train", "validation"), ask = "value", brownian = "value",
  combine_attributes = "data", count_reports = "x", estimate = "x", estimate_cells = "x",
  estimate_covariance = "x", laplace_path = "value", log_linear_test = "x",
  image_features = "images", private_classifier = c("x", "y"), private_count = "x",
  private_glm = "data", private_lm = "data", private_mean = "x",
  private_sum = "x", private_test = "x", privatize = "x", split_people = "data",
  synthesize = "data"
)

function_of <- function(call_name) sub(" \\(.*", "", call_name)

# What an error of a function may not change: settings of the session, connections, devices.
session_state <- function() {
  list(
    options(), RNGkind(), Sys.getlocale(), getwd(), getAllConnections(), grDevices::dev.list(),
    search(), setdiff(ls(globalenv(), all.names = TRUE), ".Random.seed")
  )
}

# What they were given comes back, or hostile data on purpose.
returning_data <- c("as_plain", "neighbour_pairs", "split_people")

# Generics of other packages refuse in R's words what has no method.
without_method <- function(name, result) {
  name %in% c("augment", "glance", "tidy") &&
    startsWith(conditionMessage(result), "no applicable method")
}

# Calls a function and says what came of it: `kind` is "value", "refused" or "fault".
nasty_outcome <- function(name, arguments, objects, seconds = 5) {
  frame <- list2env(arguments, parent = objects)
  symbols <- lapply(stats::setNames(nm = names(arguments)), as.name)
  call <- as.call(c(as.name(function_of(name)), symbols))
  spent_before <- ledgers_spent(arguments)
  state <- session_state()
  random <- random_state()
  started <- processor_time()
  said <- character()
  note <- function(condition) {
    said <<- c(said, paste(class(condition)[[1]], conditionMessage(condition)))
  }
  setTimeLimit(cpu = 4 * seconds, transient = TRUE)
  on.exit(setTimeLimit())
  result <- withCallingHandlers(
    tryCatch(
      {
        utils::capture.output(value <- eval(call, frame)) # some of them print
        list(value = value)
      },
      error = identity,
      interrupt = function(condition) simpleError("interrupted, out of time") # within C++
    ),
    warning = function(warning) {
      note(warning)
      invokeRestart("muffleWarning")
    },
    message = function(message) {
      note(message)
      invokeRestart("muffleMessage")
    }
  )
  setTimeLimit()
  refused <- inherits(result, "condition")
  took <- processor_time() - started
  if (asks_for_work(name, arguments) && took > seconds) {
    return(list(kind = "value", faults = NULL, result = result))
  }
  foreign <- refused && !inherits(result, "confide_error") && !without_method(name, result)
  # the user's own functions draw, and refuse what they are given
  drew <- !identical(random_state(), random) && function_of(name) != "accuracy_first"
  faults <- c(
    if (length(said) > 0) paste("said:", said),
    if (foreign) paste("base error:", conditionMessage(result)),
    if (took > seconds) "took too long",
    if (!identical(session_state(), state)) "changed the session",
    if (refused && drew) "drew random numbers before it refused",
    if (refused && !identical(ledgers_spent(arguments), spent_before)) "charged and refused",
    if (refused && !foreign) leaks_of(result, name, arguments),
    if (!refused && !function_of(name) %in% returning_data) faults_of_value(result$value)
  )
  kind <- if (length(faults) > 0) "fault" else if (refused) "refused" else "value"
  list(kind = kind, faults = faults, result = result)
}

# A hundred thousand bootstrap tables, or as many settings or runs of a study, take their time.
asks_for_work <- function(name, arguments) {
  is_many <- function(x) is.numeric(x) && any(x > 1e4, na.rm = TRUE)
  switch(function_of(name),
    log_linear_test = is_many(arguments$draws),
    contamination_study = is_many(lengths(arguments)) || is_many(arguments$repetitions),
    FALSE
  )
}

# Of this process: what others do on the machine does not matter.
processor_time <- function() sum(proc.time()[c("user.self", "sys.self")])

ledgers_spent <- function(arguments) {
  nested <- lapply(arguments, function(x) {
    if (is.list(x) && !is.data.frame(x) && inherits(x$ledger, "confide_ledger")) x$ledger else x
  })
  alive <- Filter(function(x) {
    inherits(x, "confide_ledger") && is.list(x) && length(x) > 0 && ledger_lives(x$handle)
  }, nested)
  vapply(alive, spent, numeric(1))
}

# The secrets in the bytes of an object: as text, and as doubles in both byte orders.
secrets_in <- function(object) {
  saved <- serialize(object, NULL, xdr = FALSE)
  needles <- c(
    lapply(
      c(text = secret_text, "number as text" = "7391.28", "count as text" = "739128461"), charToRaw
    ),
    list(
      number = writeBin(secret_number, raw(), endian = "little"),
      "number, other byte order" = writeBin(secret_number, raw(), endian = "big"),
      count = writeBin(secret_count, raw(), endian = "little"),
      "count, other byte order" = writeBin(secret_count, raw(), endian = "big")
    )
  )
  names(Filter(function(needle) length(grepRaw(needle, saved, fixed = TRUE)) > 0, needles))
}

# Public arguments may be shown, so nothing is claimed where one of them holds a secret.
leaks_of <- function(condition, name, arguments) {
  public <- setdiff(names(arguments), nasty_secrets[[function_of(name)]])
  shown <- Filter(function(x) is.atomic(x) || is.list(x), arguments[public])
  if (any(vapply(shown, function(x) length(secrets_in(unclass(x))) > 0, logical(1)))) {
    return(NULL)
  }
  found <- secrets_in(condition)
  if (length(found) > 0) paste("the condition holds a secret as", found)
}

# A value must be whole: its numbers are numbers, and it prints without a complaint.
faults_of_value <- function(value) {
  c(
    if (holds_nan(value)) "a number of the value is NaN",
    if (inherits(value, nasty_printed)) {
      complaint <- tryCatch(
        {
          utils::capture.output(print(value))
          NULL
        },
        condition = function(condition) conditionMessage(condition)
      )
      if (!is.null(complaint)) paste("printing it:", complaint)
    }
  )
}

nasty_printed <- c(
  "confide_mechanism", "confide_reports", "confide_counts", "confide_estimate", "confide_release",
  "confide_expost", "confide_mean", "confide_ledger", "confide_privacy", "confide_plan",
  "confide_mean_plan", "confide_audit", "confide_synthetic", "confide_study", "confide_composite",
  "confide_designs", "confide_objective", "confide_birkhoff", "confide_above_threshold",
  "confide_covariance", "confide_regression", "confide_balloon_control", "htest"
)

holds_nan <- function(value) {
  if (is.double(value)) {
    return(any(is.nan(value)))
  }
  is.list(value) && any(vapply(unclass(value), holds_nan, logical(1)))
}

# The arguments of a valid call with some of them replaced.
nasty_arguments <- function(call, changes, objects) {
  arguments <- lapply(call, eval, envir = objects)
  arguments[names(changes)] <- changes
  Filter(function(x) !identical(x, left_out), arguments)
}

nasty_argument_names <- function(name, call) {
  formal <- names(formals(getExportedValue("confide", function_of(name))))
  setdiff(union(formal, names(call)), "...")
}

# The text of an error takes cli 50 ms. For many calls this door makes the text of each kind of
# message the first few times and now and then, and otherwise only signals its class.
occasional_text <- function(first = 5, then = 50) {
  seen <- new.env()
  original <- abort_confide
  function(kind, message, call) {
    key <- paste(message, collapse = "\n")
    seen[[key]] <- (if (is.null(seen[[key]])) 0 else seen[[key]]) + 1
    if (seen[[key]] <= first || seen[[key]] %% then == 0) {
      return(do.call(original, list(kind, message, call), envir = parent.frame()))
    }
    classes <- c(paste0("confide_error_", kind), "confide_error", "error", "condition")
    stop(structure(list(message = key, call = NULL), class = classes))
  }
}

# All values of the catalogue in one list, named by item and place.
flat_values <- function() {
  values <- nasty_values()
  flat <- unlist(values, recursive = FALSE, use.names = FALSE)
  places <- unlist(lapply(values, seq_along))
  stats::setNames(flat, paste(rep(names(values), lengths(values)), places, sep = ", value "))
}

values_for <- function(arguments, values) stats::setNames(values, arguments)

# Methods ------------------------------------------------------------------------------------------

# One object of every class that the package makes. Handles are made anew for each use.
nasty_instances <- function() {
  alist(
    m_rr, m_block, m_sets, m_spr, m_continuous, m_matrix, m_lambda, m_pram, r_rr, r_block, r_lambda,
    counts, e_rr, e_lambda, e_cluster, covariance, linear, logistic, release, mean_fit, synthetic,
    study, accuracy, cluster, fresh_ledger(), fresh_threshold(), fresh_brownian(), fresh_laplace(),
    fresh_path(), summary(e_rr), summary(mean_fit), summary(linear), summary(release),
    summary(synthetic), summary(study),
    error_ratios(study, reference = "sample_mean", rivals = "geometric_median"),
    privacy(m_rr), privacy(release), audit(m_rr), audit(release), audit(mean_fit),
    audit(fresh_brownian()), confidence_ball(mean_fit), fresh_classifier(),
    summary(fresh_classifier()), classifier_control(), balloon_control(), birkhoff(m_rr),
    block_comparison(13, epsilon = 1),
    block_designs(13, epsilon = 1), spr_comparison(c(a = 0.2, b = 0.8), c(a = 0.8, b = 0.2)),
    feasible_tables(m_lambda, n = 100), plan_frequencies(5, n = 1000, epsilon = 1),
    plan_mean(8, n = 5000, rho = 0.1),
    plan_test(c(0.2, 0.8), c(0.8, 0.2), n = 100, epsilon = 1), renyi(2),
    replay_audit(released_sum, pairs), private_test(r_rr, m_rr, p = c(0.2, 0.3, 0.5))
  )
}

# What a method needs besides its object, by generic and class.
nasty_method_calls <- list(
  "predict confide_mechanism" = alist(reports = r_rr),
  "predict confide_block" = alist(reports = r_block),
  "predict confide_lambda" = alist(reports = r_lambda),
  "predict confide_lm" = alist(newdata = survey_reports),
  "predict confide_glm" = alist(newdata = survey_reports),
  "predict confide_synthetic" = alist(newdata = people),
  "refine confide_brownian" = alist(epsilon = 0.5),
  "refine confide_synthetic_path" = alist(epsilon = 0.6),
  "simulate confide_mechanism" = alist(x = labels),
  "update confide_mechanism" = alist(epsilon = 2),
  "epsilon confide_ledger" = alist(delta = 1e-6),
  "epsilon confide_expost" = alist(delta = 1e-6),
  "epsilon confide_release" = alist(delta = 1e-6),
  "ask confide_above_threshold" = alist(value = secret_count)
)

# The package's methods for generics that users call.
nasty_methods <- function() {
  table <- parseNamespaceFile("confide", dirname(system.file(package = "confide")))$S3methods
  methods <- data.frame(generic = sub("^ggplot2::", "", table[, 1]), class = table[, 2])
  ours <- setdiff(ls(asNamespace("confide"), all.names = TRUE), getNamespaceExports("confide"))
  # `[` and c() take their arguments by place; what dplyr calls its users do not
  methods[!methods$generic %in% c(ours, "[", "c", "dplyr_reconstruct"), ]
}
