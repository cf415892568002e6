# The results as tables.R and figure.R read them.
source("bench/tools/common.R")

rows <- do.call(rbind, lapply(
  list.files(results, "[.]csv$", full.names = TRUE), utils::read.csv
))
others <- c("naive R", "textbook", "package", "not private")
rows$kind[rows$kind == "peer"] <- "package"
rivals <- rows[rows$kind %in% others, ]
is_ours <- rows$kind == "ours"
units <- rows[!duplicated(rows[c("system", "task", "size")]), ]

# Each method at the largest size that it was run with.
largest <- function(rows) {
  groups <- split(rows, list(rows$task, rows$method), drop = TRUE)
  found <- do.call(rbind, lapply(groups, function(group) group[which.max(group$size), ]))
  found[order(match(found$task, rows$task), match(found$kind, others), found$method), ]
}
