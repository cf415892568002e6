# The private choice of a tree: Kruskal's algorithm with one exponential mechanism an edge (McKenna,
# Miklau and Sheldon 2021, Algorithm 3). Only pairs that join two components are candidates, which
# depends on earlier choices alone.

# Edges as a matrix with a row for each, features counted from 1. `scores` are private.
choose_tree <- function(scores, features, query, rng, call = rlang::caller_env()) {
  pairs <- feature_pairs(features)
  component <- seq_len(features)
  edges <- matrix(0, 0, 2)
  while (nrow(edges) < features - 1) {
    open <- which(component[pairs[, 1]] != component[pairs[, 2]])
    query$dimension <- length(open)
    chosen <- open[[release_units(score_bytes(scores, open), query, rng, call)]]
    edges <- rbind(edges, pairs[chosen, ])
    joined <- component[pairs[chosen, ]]
    component[component == joined[[2]]] <- joined[[1]]
  }
  edges
}

score_bytes <- function(scores, which) {
  as.vector(matrix(scores, 8)[, which])
}

# The public arguments of each of the choices that lead to a tree of so many features, paid with
# `budget` in all: rho (epsilon^2 / 8 a choice: Cesar and Rogers 2021) or epsilon.
plan_choices <- function(features, budget, law, neighbours, call = rlang::caller_env()) {
  rounds <- features - 1
  each <- spendable(budget / rounds)
  epsilon <- spendable(if (law == "gaussian") sqrt(8 * each) else each)
  query <- list(
    kind = "choice", law = law, epsilon = epsilon, budget = each, neighbours = neighbours,
    sensitivity = score_unit() * (if (neighbours == "replace") 2 else 1)
  )
  list(query = query, realised = rep(plan_noise(query, call)$realised, rounds))
}

choice_plan <- function(query) {
  list(realised = choice_cost(selection_epsilon(query), query$law))
}

# Rounded up.
choice_cost <- function(epsilon, law) {
  if (law == "gaussian") epsilon^2 / 8 * (1 + 2^-50) else epsilon
}
