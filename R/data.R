#' Adult: income and demography of 48,842 people
#'
#' An extract of a survey of the United States Census Bureau of 1994, the usual example of a file
#' with many categorical attributes. The task it was made for is to predict whether a person earns
#' more than 50,000 dollars a year. All rows of the original training and test files are kept, in
#' their original order.
#'
#' The values have been public since 1996: privatizing them shows a method and protects nobody.
#' In \code{capital_gain} 92 percent of the values are zero and the largest, 99999, is a top code:
#' its mean is a poor showcase for any estimator.
#'
#' Missing values (\code{"?"} in the original files) are \code{NA}: 2,799 in \code{workclass}, 2,809
#' in \code{occupation} and 857 in \code{native_country}; 45,222 rows are complete. Except for
#' \code{education} and \code{set}, levels are in alphabetical order. The levels are spelled as in
#' the original files (\code{"Hong"}, \code{"Holand-Netherlands"}). Identical rows are kept.
#'
#' @format A data frame with 48,842 rows and 16 columns:
#' \describe{
#'   \item{age}{(integer) age in years, 17 to 90.}
#'   \item{workclass}{(factor, 8 levels) kind of employer, from \code{"Federal-gov"} to
#'     \code{"Without-pay"}.}
#'   \item{fnlwgt}{(integer) final weight of the survey: about how many people the row stands for.}
#'   \item{education}{(ordered factor, 16 levels) highest education, from \code{"Preschool"} to
#'     \code{"Doctorate"}.}
#'   \item{education_num}{(integer) the rank of \code{education}, 1 to 16.}
#'   \item{marital_status}{(factor, 7 levels) marital status.}
#'   \item{occupation}{(factor, 14 levels) kind of work.}
#'   \item{relationship}{(factor, 6 levels) place in the household, for example \code{"Husband"} or
#'     \code{"Own-child"}.}
#'   \item{race}{(factor, 5 levels) race, in the categories of the census.}
#'   \item{sex}{(factor, 2 levels) \code{"Female"} or \code{"Male"}.}
#'   \item{capital_gain}{(integer) capital gains in dollars, 0 to 99999.}
#'   \item{capital_loss}{(integer) capital losses in dollars, 0 to 4356.}
#'   \item{hours_per_week}{(integer) hours worked per week, 1 to 99.}
#'   \item{native_country}{(factor, 41 levels) country of birth.}
#'   \item{income}{(factor, 2 levels) yearly income: \code{"<=50K"} (37,155 rows) or \code{">50K"}
#'     (11,687 rows).}
#'   \item{set}{(factor, 2 levels) the original file of the row: \code{"train"} (the first 32,561
#'     rows) or \code{"test"} (the last 16,281).}
#' }
#'
#' @source UCI Machine Learning Repository, \url{https://archive.ics.uci.edu/dataset/2/adult},
#'   licence CC BY 4.0 (\url{https://creativecommons.org/licenses/by/4.0/}). The rows were read from
#'   the CRAN package \pkg{fairmodels}. Changed here: both files are joined, the columns renamed,
#'   unknown values made \code{NA}, \code{education} ordered and \code{set} added.
#'
#' @references Becker B, Kohavi R (1996). Adult. UCI Machine Learning Repository.
#'   \doi{10.24432/C5XW20}.
#'
#' @keywords datasets
#' @family data sets
#' @examples
#' table(adult$income, adult$set)
#' colSums(is.na(adult))
#' prop.table(table(adult$education, adult$income), 1)
"adult"

#' Digits: 1,797 images of handwritten digits
#'
#' Images of 8 by 8 pixels of the digits 0 to 9, written by 13 people: the test part of the optical
#' recognition data of Alpaydin and Kaynak. It is small enough for an example of classification and
#' of privacy chosen by accuracy.
#'
#' Each pixel counts the dark points in a block of 4 by 4 points of a scanned image of 32 by 32
#' points. The pixels are numbered row by row from the top left corner.
#'
#' @format A data frame with 1,797 rows, no missing values and 65 columns:
#' \itemize{
#'   \item \code{pixel_1}, \code{pixel_2}, and so on to \code{pixel_64}: (integer) darkness of the
#'     pixel, from 0 (white) to 16 (black).
#'   \item \code{label}: (factor, 10 levels) the digit that was written, \code{"0"} to \code{"9"}.
#' }
#'
#' @source UCI Machine Learning Repository,
#'   \url{https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits}, licence
#'   CC BY 4.0 (\url{https://creativecommons.org/licenses/by/4.0/}). The rows were read from the
#'   copy in the Python package scikit-learn. Changed here: the columns are named and the label is
#'   a factor.
#'
#' @references Alpaydin E, Kaynak C (1998). Optical Recognition of Handwritten Digits. UCI Machine
#'   Learning Repository. \doi{10.24432/C50P49}.
#'
#' @keywords datasets
#' @family data sets
#' @examples
#' table(digits$label)
#' first <- matrix(unlist(digits[1, 1:64]), nrow = 8)
#' image(first[, 8:1], col = grey(16:0 / 16), axes = FALSE, main = digits$label[1])
"digits"
