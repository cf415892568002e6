# Builds the site, or checks its index. Called by tools/site, from the root of the clone.
options(warn = 2, pkgdown.internet = FALSE)

pkgdown::check_pkgdown()
if (commandArgs(trailingOnly = TRUE) == "check") quit()

pkgdown::clean_site()
pkgdown::build_site(preview = FALSE, install = FALSE, new_process = FALSE, devel = FALSE)

# Formulas become MathML, which browsers know without a script.
formula_pattern <- "(?s)\\\\\\((.+?)\\\\\\)|\\\\\\[(.+?)\\\\\\]"

to_mathml <- function(formulas) {
  tex <- gsub("&lt;", "<", gsub("&gt;", ">", gsub("&amp;", "&", formulas, fixed = TRUE)))
  inline <- startsWith(tex, "\\(")
  marks <- ifelse(inline, "$", "$$")
  source <- tempfile(fileext = ".md")
  target <- tempfile(fileext = ".html")
  writeLines(paste0(marks, trimws(substr(tex, 3, nchar(tex) - 2)), marks, "\n"), source)
  rmarkdown::pandoc_convert(
    source,
    to = "html", from = "markdown", output = target, options = c("--mathml", "--fail-if-warnings")
  )
  paragraphs <- xml2::xml_find_all(xml2::read_html(target), "//body/p")
  stopifnot(length(paragraphs) == length(formulas))
  vapply(paragraphs, function(p) as.character(xml2::xml_child(p)), "")
}

replace_formulas <- function(pages) {
  texts <- lapply(pages, function(page) paste(readLines(page), collapse = "\n"))
  places <- lapply(texts, function(text) gregexpr(formula_pattern, text, perl = TRUE))
  found <- Map(function(text, place) regmatches(text, place)[[1]], texts, places)
  formulas <- unique(unlist(found))
  mathml <- stats::setNames(to_mathml(formulas), formulas)
  for (i in which(lengths(found) > 0)) {
    regmatches(texts[[i]], places[[i]]) <- list(unname(mathml[found[[i]]]))
    writeLines(texts[[i]], pages[[i]])
  }
}

pages <- list.files("build/site", pattern = "[.]html$", recursive = TRUE, full.names = TRUE)
replace_formulas(pages)

# What a page loads, as against what it links to.
loads <- "<(script|img|link)[^>]+(src|href)=\"https?://[^\"]+\""
asking <- Filter(function(page) any(grepl(loads, readLines(page))), pages)
if (length(asking) > 0) stop("These pages load from the network: ", toString(asking))
cat("The site is in build/site:", length(pages), "pages\n")
