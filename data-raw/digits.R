# Rebuilds data/digits.rda; run it from the package root: Rscript data-raw/digits.R [digits.csv.gz]
# The rows are the test part of UCI Optical Recognition of Handwritten Digits (Alpaydin and Kaynak
# 1998, doi:10.24432/C50P49, CC BY 4.0), as the Python package scikit-learn distributes them.
# Without an argument the file is taken from Debian's python3-sklearn (with apt-get and dpkg-deb).

stopifnot("run this script from the package root" = dir.exists("data-raw"))

run <- function(command, arguments, folder) {
  previous <- setwd(folder)
  on.exit(setwd(previous))
  status <- system2(command, arguments)
  if (status != 0) stop(command, " failed with status ", status, call. = FALSE)
}

digits_file_from_debian <- function() {
  folder <- tempfile("debian")
  dir.create(folder)
  run("apt-get", c("-q", "download", "python3-sklearn"), folder)
  run("dpkg-deb", c("-x", list.files(folder, "[.]deb$"), "content"), folder)
  list.files(folder, "^digits[.]csv[.]gz$", recursive = TRUE, full.names = TRUE)
}

arguments <- commandArgs(trailingOnly = TRUE)
file <- if (length(arguments) > 0) arguments[1] else digits_file_from_debian()
stopifnot("one file digits.csv.gz is expected" = length(file) == 1 && file.exists(file))

pixels <- paste0("pixel_", 1:64)
digits <- utils::read.csv(
  file,
  header = FALSE, col.names = c(pixels, "label"), colClasses = "integer"
)
digits$label <- factor(digits$label, levels = 0:9)

# UCI's description of the data (optdigits.names): size, range and number of examples per class.
stopifnot(
  identical(dim(digits), c(1797L, 65L)),
  vapply(digits[pixels], is.integer, NA),
  !anyNA(digits),
  identical(range(digits[pixels]), c(0L, 16L)),
  identical(levels(digits$label), as.character(0:9)),
  c(table(digits$label)) == c(178, 182, 177, 183, 181, 182, 181, 179, 174, 180)
)

dir.create("data", showWarnings = FALSE)
save(digits, file = "data/digits.rda", version = 2, compress = "xz", compression_level = 9)
