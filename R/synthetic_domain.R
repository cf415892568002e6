# The columns with their domains, which of them is the label, and the shape of the model; the shape
# has no edges where they are to be chosen.
new_tree_domain <- function(data, label, cuts, na, edges, call = rlang::caller_env()) {
  columns <- column_domains(data, cuts, na, call)
  check_label_column(label, columns, call)
  features <- setdiff(names(columns), label)
  sizes <- column_sizes(columns)
  shape <- list(
    sizes = unname(sizes[features]), labels = if (is.null(label)) 1 else sizes[[label]],
    edges = check_edges(edges, features, call)
  )
  check_table_sizes(shape, is.null(edges), call)
  list(
    columns = columns, label = label, features = features, choose = is.null(edges),
    shape = orient_edges(shape, call)
  )
}

check_label_column <- function(label, columns, call) {
  if (is.null(label)) {
    return(invisible())
  }
  known <- is.character(label) && length(label) == 1 && label %in% names(columns)
  if (!known || length(columns) < 2) {
    abort_parameter(c(
      "{.arg label} must be the name of one column of {.arg data} that has others beside it.",
      x = if (known) "There is no other column." else "It is {describe(label)}."
    ), call = call)
  }
}

# Pairs of names as a matrix of positions.
check_edges <- function(edges, features, call) {
  plain <- is.null(edges) || (is.list(edges) && !is.object(edges))
  pairs <- if (plain) {
    vapply(edges, function(edge) {
      is.character(edge) && length(edge) == 2 && all(edge %in% features) && edge[[1]] != edge[[2]]
    }, logical(1))
  }
  if (!plain || !all(as.logical(pairs))) {
    abort_parameter(c(
      "{.arg edges} must be a list of pairs of different names of columns, without the label.",
      x = if (plain) {
        "Element {which(!as.logical(pairs))[[1]]} is not."
      } else {
        "It is {describe(edges)}."
      },
      i = "For example {.code list(c(\"age\", \"income\"), c(\"age\", \"sex\"))}."
    ), call = call)
  }
  matrix(as.numeric(match(unlist(edges), features)), ncol = 2, byrow = TRUE)
}

largest_table <- 2^20

check_table_sizes <- function(shape, any_pair, call) {
  sizes <- shape$sizes
  largest <- if (any_pair) {
    prod(utils::head(sort(sizes, decreasing = TRUE), 2))
  } else {
    max(sizes, sizes[shape$edges[, 1]] * sizes[shape$edges[, 2]])
  }
  if (largest * shape$labels > largest_table) {
    abort_parameter(c(
      "No table may have more than {format_count(largest_table)} cells.",
      x = "The largest would have {format_count(largest * shape$labels)}.",
      i = "Merge levels, use fewer bins, or give {.arg edges}."
    ), call = call)
  }
}

# Directed away from the roots; where the tables lie.
orient_edges <- function(shape, call = rlang::caller_env()) {
  layout <- tryCatch(
    tree_layout(shape),
    error = function(error) {
      abort_parameter(c(
        "{.arg edges} must not form a cycle, and each may be given once.",
        x = "They do."
      ), call = call)
    }
  )
  utils::modifyList(shape, layout)
}
