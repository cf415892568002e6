# The figures of README.md, one for each system. Called by tools/figures, from the root of the clone.
library(confide)

draw <- function(name, plot, height = 2.6) {
  path <- file.path("man", "figures", paste0("README-", name, ".png"))
  grDevices::png(path, width = 6, height = height, units = "in", res = 100, type = "cairo")
  print(plot)
  grDevices::dev.off()
}

dir.create("man/figures", showWarnings = FALSE)

survey <- adult[c("education", "income")]
mechanism <- mech_lambda(survey, epsilon = 2)
shares <- estimate(privatize(survey, mechanism), mechanism, margin = "education")
draw("lambda", ggplot2::autoplot(shares), height = 3.6)

draw("block", ggplot2::autoplot(block_comparison(1000)), height = 3.6)

draw("spr", ggplot2::autoplot(spr_comparison((1:50) / 1275, (50:1) / 1275)), height = 3)

set.seed(1)
study <- contamination_study(
  c("balloon", "coinpress", "coordinate_median", "sample_mean"),
  d = 8, n = 2000, rho = 0.5, contamination = c(0, 0.05, 0.1, 0.2), repetitions = 10
)
draw("mean", ggplot2::autoplot(study), height = 3.4)

waiting <- brownian(c(yes = 812L, no = 188L), sensitivity = sqrt(2), alpha = 20)
for (sigma in 80 / 2^(0:5)) waiting <- refine(waiting, sigma = sigma)
draw("accuracy", ggplot2::autoplot(waiting), height = 3.4)
