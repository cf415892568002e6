#' Glossary
#'
#' The words of differential privacy as this package uses them, each defined once.
#'
#' \describe{
#'   \item{attribute, level, cell}{A categorical variable; one of its possible values; one
#'     combination of levels of several attributes.}
#'   \item{block design}{Here: a set of `r` of the `b` reports for each level such that any two sets
#'     share the same number of reports, and each report belongs to the same number `k` of levels.}
#'   \item{canonical, centred}{Estimates from a block design: how often reports fell into a level's
#'     set, made linear; the same, shifted alike for all levels so that they sum to 1.}
#'   \item{channel}{The table of probabilities of each report for each true value. Rows are true
#'     values and sum to 1.}
#'   \item{breakdown point}{The share of wild records that an estimator stands; with more they can
#'     take it anywhere.}
#'   \item{certified}{Checked by integer arithmetic on the very numbers that the sampler uses.}
#'   \item{class sums}{The sum of the features of each class's records. With noise, and divided by
#'     noisy counts, they are a classifier: the class with the nearest mean.}
#'   \item{clipping}{Pulling a record that is further than a radius from the centre back to that
#'     radius. It bounds what one record can do, and loses less than leaving it out.}
#'   \item{differential privacy}{A promise about a random procedure: whatever is put out is nearly
#'     as likely with one person's data as with any other data in its place.}
#'   \item{divergence}{A number that says how different two distributions are, 0 when they are
#'     equal. No randomization of both makes it larger.}
#'   \item{epsilon}{How nearly: probabilities differ by at most a factor of \eqn{e^\epsilon}. In
#'     natural logarithms. Smaller protects more. Epsilons of several reports about one person add
#'     up.}
#'   \item{entropy (of a mechanism)}{The average randomness that a report receives, in bits.}
#'   \item{ex-post, certificate}{Of privacy that belongs to what was put out: the mechanism returns
#'     a value and a bound, its certificate, which may depend on the output. Certificates add up.}
#'   \item{fingerprint}{A hash of a mechanism's parameters, kept by reports and counts, so that
#'     nothing is decoded with the wrong mechanism.}
#'   \item{lambda}{Probability that the truth is kept; otherwise the report is drawn from a noise
#'     distribution.}
#'   \item{ledger}{The account of what all releases about the same people have spent.}
#'   \item{likelihood ratio}{How many times likelier something is under one hypothesis than under
#'     another. A test can do no better than to go by it.}
#'   \item{local}{Each value is randomized before anyone else sees it. Central privacy, in contrast,
#'     trusts who holds the data.}
#'   \item{mechanism}{The random procedure that turns true values into reports: levels and
#'     parameters, no data.}
#'   \item{moment estimate}{The unbiased estimate: the reported shares times the inverse of the
#'     channel.}
#'   \item{neighbours}{Which two data sets must be hard to tell apart. `"replace"`: one row is
#'     changed into any other. `"zero_out"`: one row is set to zero. `"add_remove"`: one row is
#'     added or taken away.}
#'   \item{privacy part, sampling part}{Of a variance: what the randomization causes; what drawing
#'     people from a population would cause without it.}
#'   \item{private sample}{Records that are in a step by a coin of their own, nobody knowing which.
#'     What is computed from it costs less privacy than from everybody.}
#'   \item{pure, zero-concentrated}{Two measures of how nearly. Pure: by epsilon. Zero-concentrated
#'     (zCDP): by rho, which bounds the Renyi divergence of any order alpha by alpha rho; the rhos
#'     of several releases add up.}
#'   \item{release}{What leaves whoever holds the data: a number with noise.}
#'   \item{Renyi divergence}{Of order alpha: how different two distributions are where the first is
#'     much larger; the larger alpha, the more such places count.}
#'   \item{report}{What leaves a person: the randomized value.}
#'   \item{synthetic data}{Made-up rows, drawn from a model that was learnt under differential
#'     privacy. They are nobody's rows, and keep what the model knows.}
#'   \item{unit of privacy}{What a neighbour changes: here one row, which must be one person.}
#'   \item{whitened}{In coordinates in which the shape of the data is round: a distance of 1 is one
#'     standard deviation in every direction.}
#' }
#' @name glossary
NULL
