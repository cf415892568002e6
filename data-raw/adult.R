# Rebuilds data/adult.rda; run it from the package root: Rscript data-raw/adult.R
# The rows are those of UCI Adult (Becker and Kohavi 1996, doi:10.24432/C5XW20, CC BY 4.0). They are
# read from the source of the CRAN package fairmodels, which carries the training and the test part
# in their original order, with the missing values as the level "Unknown".

stopifnot("run this script from the package root" = dir.exists("data-raw"))

read_from_source <- function(package, files) {
  folder <- tempfile("source")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  tarball <- utils::download.packages(
    package, folder,
    type = "source", repos = "https://cloud.r-project.org"
  )[1, 2]
  utils::untar(tarball, exdir = folder)
  content <- new.env()
  for (file in files) load(file.path(folder, package, "data", file), envir = content)
  as.list(content)
}

# From the lowest to the highest, so that as.integer(education) is education_num.
education_levels <- c(
  "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
  "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"
)

columns <- c(
  "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
  "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
  "native_country", "income"
)

# The test file of UCI ends its income labels with a full stop.
as_character_rows <- function(part) {
  part$income <- sub(".", "", as.character(part$salary), fixed = TRUE)
  part <- part[columns]
  is_text <- vapply(part, is.factor, NA)
  part[is_text] <- lapply(part[is_text], as.character)
  part
}

# Sorted by code point, so that the levels do not depend on the locale.
as_category <- function(x) {
  x[x == "Unknown"] <- NA
  factor(x, levels = sort(unique(x), method = "radix"))
}

parts <- read_from_source("fairmodels", c("adult.rda", "adult_test.rda"))
adult <- rbind(as_character_rows(parts$adult), as_character_rows(parts$adult_test))
is_text <- vapply(adult, is.character, NA)
adult[is_text] <- lapply(adult[is_text], as_category)
adult$education <- factor(as.character(adult$education), education_levels, ordered = TRUE)
adult$set <- factor(
  rep(c("train", "test"), c(nrow(parts$adult), nrow(parts$adult_test))),
  levels = c("train", "test")
)

# The counts of UCI's description of the data (adult.names) and of its published tables.
missing_values <- colSums(is.na(adult))
level_counts <- lengths(lapply(Filter(is.factor, adult), levels))
stopifnot(
  identical(dim(adult), c(48842L, 16L)),
  identical(names(adult), c(columns, "set")),
  identical(c(table(adult$set)), c(train = 32561L, test = 16281L)),
  !is.unsorted(adult$set),
  identical(
    missing_values[missing_values > 0],
    c(workclass = 2799, occupation = 2809, native_country = 857)
  ),
  identical(
    c(table(adult$set[stats::complete.cases(adult)])),
    c(train = 30162L, test = 15060L)
  ),
  identical(c(table(adult$income)), c("<=50K" = 37155L, ">50K" = 11687L)),
  identical(
    level_counts,
    c(
      workclass = 8L, education = 16L, marital_status = 7L, occupation = 14L, relationship = 6L,
      race = 5L, sex = 2L, native_country = 41L, income = 2L, set = 2L
    )
  ),
  vapply(adult[!names(adult) %in% names(level_counts)], is.integer, NA),
  identical(as.integer(adult$education), adult$education_num),
  !"Unknown" %in% unlist(lapply(adult, levels))
)

dir.create("data", showWarnings = FALSE)
save(adult, file = "data/adult.rda", version = 2, compress = "xz", compression_level = 9)
