# Known noise distributions of lambda-randomization: P = lambda I + (1 - lambda) 1 q' (forced
# response, unrelated question). Attributes with uniform q, which is the method of Ruiz (2026), keep
# their own sampler and have no entry here.
#
# The entry of any other attribute holds what was asked (`asked`, the distribution, `lambda` and
# `replaced`, its complement), the `epsilon` that is claimed, and `words`: the sampler's
# probabilities of replacement by each level in units of 2^-52. They are whole numbers, rounded up,
# so that the ratio of two entries of a column is never above the one asked; one set serves all
# rows, so that the channel keeps its form and the inverse stays exact.
noise_unit <- 2^52

noise_laws <- function(noise, alphabets, lambda, epsilon, call = rlang::caller_env()) {
  asked <- check_noise(noise, alphabets, call)
  # Where the truth is always kept nothing is replaced.
  asked <- asked[epsilon[names(asked)] < Inf]
  stats::setNames(lapply(names(asked), function(name) {
    shares <- asked[[name]]
    if (is.null(lambda)) {
      odds <- noise_odds(shares, epsilon[[name]], name, call)
      kept <- c(lambda = odds, replaced = 1) / (1 + odds)
      return(new_noise_law(shares, kept, epsilon[[name]], name, call))
    }
    kept <- c(lambda = lambda[[name]], replaced = 1 - lambda[[name]])
    claim <- log1p(kept[["lambda"]] / (kept[["replaced"]] * min(shares)))
    new_noise_law(shares, kept, claim, name, call)
  }), names(asked))
}

# The distributions that are not uniform, in the order of the attributes.
check_noise <- function(noise, alphabets, call) {
  plain <- is.null(noise) || (is.list(noise) && !is.object(noise))
  if (!plain || !all(rlang::names2(noise) %in% names(alphabets)) || anyDuplicated(names(noise))) {
    abort_parameter(c(
      "{.arg noise} must be a list of probability vectors, named by attributes.",
      x = if (plain) {
        "Its names are {enumerate_names(rlang::names2(noise))}."
      } else {
        "It is {describe(noise)}."
      },
      i = "The attributes are {enumerate_names(names(alphabets))}; others have uniform noise."
    ), call = call)
  }
  given <- Filter(function(name) !is.null(noise[[name]]), names(alphabets))
  checked <- lapply(stats::setNames(given, given), function(name) {
    check_noise_vector(noise[[name]], alphabets[[name]], name, call)
  })
  Filter(function(shares) !is_uniform(shares), checked)
}

check_noise_vector <- function(shares, alphabet, name, call) {
  arg <- paste0("noise$", name)
  if (alphabet$size > max_matrix) {
    abort_parameter(c(
      "Noise of your own is for attributes of at most {max_matrix} levels.",
      x = "{.field {name}} has {format_count(alphabet$size)}.",
      i = "Leave it out of {.arg noise}: uniform noise knows no limit."
    ), call = call)
  }
  shares <- in_level_order(shares, alphabet_labels(alphabet), arg, call)
  stats::setNames(
    check_probabilities(unname(shares), alphabet$size, arg = arg, call = call),
    alphabet_labels(alphabet)
  )
}

# Named numbers in the order of the levels; unnamed ones are taken to be in it.
in_level_order <- function(x, labels, arg, call) {
  if (is.null(names(x)) || !is.numeric(x) || is.object(x) || !is.null(dim(x))) {
    return(x)
  }
  if (!setequal(names(x), labels) || anyDuplicated(names(x)) > 0) {
    abort_parameter(c(
      "The names of {.arg {arg}} must be the levels.",
      x = "Expected {enumerate_names(labels)}; found {enumerate_names(names(x))}."
    ), call = call)
  }
  x[labels]
}

noise_lambda <- function(shares, epsilon, name, call) {
  odds <- noise_odds(shares, epsilon, name, call)
  odds / (1 + odds)
}

# lambda / (1 - lambda), from epsilon = log(1 + lambda / ((1 - lambda) min q)); above 44 as
# everywhere served as 44.
noise_odds <- function(shares, epsilon, name, call) {
  if (min(shares) == 0) {
    abort_parameter(c(
      "Noise that never gives some level cannot have a finite {.arg epsilon}.",
      x = "In {.field {name}} it never gives {enumerate_names(names(shares)[shares == 0])}.",
      i = paste(
        "Who reports that level is sure to tell the truth.",
        "Give it a probability above 0, or say {.arg lambda} if that is meant."
      )
    ), call = call)
  }
  expm1(min(epsilon, 44)) * min(shares)
}

# kept: lambda and `replaced`, 1 - lambda, which has digits of its own where lambda is close to 1.
new_noise_law <- function(shares, kept, epsilon, name, call) {
  words <- ceiling(noise_unit * kept[["replaced"]] * shares)
  # A level that may be drawn keeps a word, also where the product is too small for a double.
  words[shares > 0] <- pmax(words[shares > 0], 1)
  if (sum(words) >= noise_unit) {
    abort_parameter(c(
      "{.arg lambda} must be large enough to be drawn in units of 2^-52.",
      x = "That of {.field {name}} is {format(kept[['lambda']])}, less than its levels need."
    ), call = call)
  }
  law <- c(list(asked = shares), as.list(kept), list(epsilon = epsilon, words = words))
  check_certified(law, name, call)
  law
}

# What the integers do not keep is not claimed.
check_certified <- function(law, name, call) {
  if (certify_noise(law)$certified) {
    return(invisible())
  }
  abort_parameter(c(
    "{.arg epsilon} must be one that the integers of the sampler can keep.",
    x = "That of {.field {name}}, {format_epsilon(law$epsilon)}, is not with this noise.",
    i = "Take a slightly different {.arg epsilon}, or {.arg lambda}."
  ), call = call)
}

# What the words realise.
realised_lambda <- function(law) 1 - sum(law$words) / noise_unit

realised_noise <- function(law) law$words / sum(law$words)

noise_channel <- function(law) {
  size <- length(law$words)
  channel <- matrix(law$words / noise_unit, size, size, byrow = TRUE)
  diag(channel) <- diag(channel) + realised_lambda(law)
  channel
}

certify_noise <- function(law) {
  channel_certify(noise_channel(law), noise_claim(law))
}

# NA where there is no finite claim, as channel_certify() has it.
noise_claim <- function(law) {
  if (is.finite(law$epsilon)) law$epsilon else NA_real_
}

# The noise distribution of one attribute, as realised.
attribute_noise <- function(mechanism, name) {
  law <- mechanism$noise[[name]]
  if (is.null(law)) uniform_noise(mechanism$alphabets[[name]]$size) else unname(realised_noise(law))
}

# The entropy rate -sum_u mu_u sum_v p_uv log2 p_uv; the stationary distribution mu of P = lambda I
# + (1 - lambda) 1 q' is q.
noise_entropy <- function(law) {
  channel <- noise_channel(law)
  terms <- ifelse(channel > 0, channel * log2(channel), 0)
  0 - sum(realised_noise(law) * rowSums(terms))
}

# The level that tells most, against any other.
noise_hardest_pair <- function(law) {
  telling <- which.min(law$asked)
  truth <- c(telling, if (telling == 1L) 2L else 1L)
  logs <- log(noise_channel(law))
  difference <- logs[truth[[1]], ] - logs[truth[[2]], ]
  list(truth = unname(truth), score = function(reports) difference[reports])
}

# n times the relative variance of a share of 1 / k in each attribute: (k - 1) / lambda^2 for
# uniform noise (Ruiz 2026), otherwise averaged over the levels.
attribute_spreads <- function(mechanism, parts = entropy_parts(mechanism)) {
  spread <- (parts$sizes - 1) / parts$lambda^2
  spread[names(mechanism$noise)] <- vapply(mechanism$noise, function(law) {
    noise_spread(realised_lambda(law), realised_noise(law))
  }, numeric(1))
  spread
}

noise_spread <- function(lambda, shares) {
  size <- length(shares)
  reported <- lambda / size + (1 - lambda) * shares
  size^2 * mean(reported * (1 - reported)) / lambda^2
}
