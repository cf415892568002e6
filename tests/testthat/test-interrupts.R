# Ctrl-C stops every call that can take long. Parts too short to be stopped may run to their end;
# the call does not.

tall_frame <- function(rows, columns) {
  answers <- rep(factor(c("a", "b"), c("a", "b")), length.out = rows)
  as.data.frame(stats::setNames(rep(list(answers), columns), paste0("x", seq_len(columns))))
}

long_calls <- list(
  "encoding of many attributes" = function() {
    x <- tall_frame(2e7, 3)
    m <- mech_lambda(tall_frame(2, 3), lambda = .5)
    function() privatize(x, m)
  },
  "encoding in a block design" = function() {
    m <- mech_block(100, 1)
    x <- rep(1L, 4e7)
    function() privatize(x, m)
  },
  "subset selection" = function() {
    m <- mech_block(50, 1, design = "subset selection")
    x <- rep(1L, 1e7)
    function() privatize(x, m)
  },
  "encoding with shared randomness" = function() {
    m <- mech_block(50, 1, design = "shared randomness")
    x <- rep(1L, 4e7)
    function() privatize(x, m)
  },
  "simulation" = function() {
    m <- mech_rr(4, 1)
    x <- rep(1:4, 1e7)
    function() simulate(m, 1, seed = 1, x = x)
  },
  "counting of patterns" = function() {
    x <- tall_frame(2e7, 4)
    m <- mech_lambda(tall_frame(2, 4), lambda = .5)
    function() count_reports(x, m)
  },
  "optimal mechanism" = function() {
    p <- stats::setNames(seq_len(20000) / sum(1:20000), seq_len(20000))
    q <- stats::setNames(rev(p), names(p))
    function() mech_spr(p, q, 1, objective = "chernoff")
  },
  "composition" = function() {
    attributes <- paste0("x", 1:1000)
    m <- mech_lambda(
      stats::setNames(rep(list(3), 1000), attributes),
      lambda = seq(.1, .7, length.out = 1000)
    )
    function() epsilon(m, delta = 1e-9)
  },
  "sum" = function() {
    x <- matrix(0, 2e7, 4)
    function() private_sum(x, 1, rho = 1, neighbours = "replace")
  },
  "robust mean" = function() {
    x <- matrix(0, 2e5, 50)
    long <- balloon_control(iterations = 100)
    function() for (i in 1:20) private_mean(x, 1, sigma = "tyler", control = long)
  },
  "coordinate-wise median" = function() {
    x <- matrix(0, 1e6, 20)
    function() for (i in 1:20) private_mean(x, 1, method = "coordinate_median", sigma = "none")
  },
  "plan" = function() {
    function() for (i in 1:1000) plan_mean(1000, n = 1e5, error = .5)
  },
  "synthetic data" = function() {
    x <- tall_frame(5e5, 12)
    function() for (i in 1:20) synthesize(x, epsilon = 1, neighbours = "add_remove")
  }
)

for (name in names(long_calls)) {
  test_that(paste("an interrupt stops a long call:", name), {
    skip_on_cran()
    skip_on_os("windows")
    skip_if_not(extended(), "extended tests only")
    call <- long_calls[[name]]()
    expect_identical(interrupted_after(.3, call()), "interrupted")
  })
}
