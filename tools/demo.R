# Renders the report and prints its main table. Called by tools/demo, from the root of the clone.
library(confide)

report_env <- new.env(parent = globalenv())
report <- rmarkdown::render(
  "inst/report/adult.Rmd",
  output_file = "adult.html",
  output_dir = getwd(),
  intermediates_dir = tempfile("report"),
  envir = report_env,
  quiet = TRUE
)
options(width = 100)
print(report_env$main_table, digits = 3)
cat("Report: ", report, "\n", sep = "")
