# The tables of README.md, from the results alone.
source("bench/tools/results.R")

two_digits <- Vectorize(function(x) {
  format(signif(x, 2), big.mark = ",", scientific = FALSE, drop0trailing = TRUE)
})

whole <- Vectorize(function(x) format(x, big.mark = ",", scientific = FALSE))

time_text <- Vectorize(function(x) {
  if (x < 1e-3) {
    paste(two_digits(1e6 * x), "us")
  } else if (x < 1) {
    paste(two_digits(1000 * x), "ms")
  } else {
    paste(two_digits(x), "s")
  }
})

markdown <- function(table) {
  line <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")
  numeric <- vapply(table, function(column) all(grepl("^-?[0-9.,]+( [a-zA-Z]+)?$", column)), NA)
  c(line(names(table)), line(ifelse(numeric, "---:", "---")), apply(table, 1, line))
}

# One line a task; the others, by kind, in units of confide's time.
comparison_table <- function() {
  shown <- largest(rivals)
  cells <- function(task, kind) {
    here <- shown[shown$task == task & shown$kind == kind, ]
    top <- max(shown$size[shown$task == task])
    at <- ifelse(here$size < top, sprintf(" (%s %s)", whole(here$size), here$unit), "")
    error <- ifelse(is.na(here$error_ratio), "",
      sprintf(" (squared error x %s)", two_digits(here$error_ratio))
    )
    paste(sprintf("**%s** %s%s%s", two_digits(here$ratio), here$method, at, error), collapse = "; ")
  }
  tasks <- unique(shown$task)
  top <- vapply(tasks, function(task) max(shown$size[shown$task == task]), 0)
  here <- units[match(paste(tasks, top), paste(units$task, units$size)), ]
  columns <- lapply(stats::setNames(others, others), function(kind) {
    cell <- vapply(tasks, cells, "", kind)
    ifelse(grepl("^[*]", cell), cell, "")
  })
  data.frame(
    task = tasks, size = paste(whole(here$size), here$unit), confide = time_text(here$seconds),
    columns, check.names = FALSE
  )
}

package_lines <- function() {
  if (any(rivals$kind == "package")) markdown(package_table()) else "No other package was installed."
}

package_table <- function() {
  shown <- largest(rivals[rivals$kind == "package", ])
  unit <- units[match(paste(shown$task, shown$size), paste(units$task, units$size)), ]
  data.frame(
    task = shown$task, size = paste(whole(shown$size), shown$unit),
    confide = time_text(unit$seconds), package = sprintf("`%s`", shown$method),
    `times as long` = two_digits(shown$ratio), check.names = FALSE
  )
}

growth_table <- function() {
  shown <- largest(rows[is_ours, ])
  shown <- shown[!is.na(shown$slope), ]
  low <- vapply(shown$task, function(task) min(units$size[units$task == task]), 0)
  variant <- sub("confide(, )?", "", shown$method)
  data.frame(
    system = shown$system, task = paste0(shown$task, ifelse(variant == "", "", ": "), variant),
    sizes = sprintf("%s to %s %s", whole(low), whole(shown$size), shown$unit),
    `at the largest` = time_text(shown$seconds),
    memory = ifelse(shown$memory_mb < 1, "below 1 MB", paste(whole(round(shown$memory_mb)), "MB")),
    slope = sprintf("%.2f", shown$slope), check.names = FALSE
  )
}

slower_table <- function() {
  shown <- largest(rivals[rivals$ratio < 1, ])
  data.frame(
    task = shown$task, `up to` = paste(whole(shown$size), shown$unit), `faster` = shown$method,
    kind = shown$kind, `confide takes times` = two_digits(1 / shown$ratio), check.names = FALSE
  )
}

# Between <!-- name --> and <!-- end -->.
fill <- function(text, name, content) {
  begin <- match(sprintf("<!-- %s -->", name), text)
  end <- begin + match("<!-- end -->", text[-seq_len(begin)])
  c(text[seq_len(begin)], "", content, "", text[end:length(text)])
}

figure <- "Time of others in units of confide's, and growth of confide's time with size"
blocks <- list(
  figure = sprintf("![%s](results/ratios.png)", figure),
  comparison = markdown(comparison_table()), packages = package_lines(),
  growth = markdown(growth_table()), slower = markdown(slower_table()),
  machine = paste("*", readLines(file.path(results, "machine.txt")))
)
readme <- readLines("bench/README.md")
for (name in names(blocks)) readme <- fill(readme, name, blocks[[name]])
writeLines(readme, file.path(dirname(results), "README.md"))
