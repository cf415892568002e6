#' Glossary
#'
#' The words of differential privacy as this package uses them, each defined once.
#'
#' \describe{
#'   \item{above threshold}{A mechanism that says of one private answer after the other whether it
#'     is above a threshold, and pays for the first yes only; also called sparse vector technique
#'     (SVT).}
#'   \item{approximate, delta}{A weaker promise: the bound by epsilon may fail with probability
#'     delta, which should be far below one over the number of people.}
#'   \item{attribute, level, cell}{A categorical variable; one of its possible values; one
#'     combination of levels of several attributes.}
#'   \item{audit}{A check of the claimed guarantee against the numbers that the sampler really
#'     uses, and on wish against draws. A replay audit runs a function on neighbours and looks for
#'     what differs other than by the noise.}
#'   \item{balloon mean}{The robust private mean of [private_mean()]: a ball about the centre
#'     grows or shrinks to hold a share of the records, and records outside it are pulled in to its
#'     surface.}
#'   \item{bits (of a report)}{The binary logarithm of the number of different reports: what
#'     sending one costs.}
#'   \item{block design}{Here: a set of `r` of the `b` reports for each level such that any two
#'     sets share the same number of reports, and each report belongs to the same number `k` of
#'     levels.}
#'   \item{breakdown point}{The share of wild records that an estimator stands; with more they can
#'     take it anywhere.}
#'   \item{Brownian mechanism}{A release whose noise is a random walk looked at backwards: a
#'     later, more precise answer contains the earlier ones, so that only the last is paid for.}
#'   \item{canonical, centred}{Estimates from a block design: how often reports fell into a
#'     level's set, made linear; the same, shifted alike for all levels so that they sum to 1.}
#'   \item{certified}{Checked by integer arithmetic on the very numbers that the sampler uses.}
#'   \item{channel}{The table of probabilities of each report for each true value. Rows are true
#'     values and sum to 1.}
#'   \item{class sums}{The sum of the features of each class's records. With noise, and divided by
#'     noisy counts, they are a classifier: the class with the nearest mean.}
#'   \item{clipping}{Pulling a record that is further than a radius from the centre back to that
#'     radius. It bounds what one record can do, and loses less than leaving it out.}
#'   \item{confidence ball}{A set of points that holds the whole mean vector, not just one of its
#'     columns, with the stated confidence: a ball in whitened coordinates.}
#'   \item{contamination}{A share of records that do not come from the population of interest:
#'     errors, frauds, other people.}
#'   \item{counts}{How often each report occurred: all that estimates need. Counts of parts add
#'     up.}
#'   \item{curator}{Whoever holds the private data and releases results.}
#'   \item{cut to size}{Of a block design: made for more levels than there are, the others left
#'     unused.}
#'   \item{differential privacy (DP)}{A promise about a random procedure: whatever is put out is
#'     nearly as likely with one person's data as with any other data in its place.}
#'   \item{discrete Gaussian, discrete Laplace}{The normal and the two-sided exponential law on
#'     whole numbers or on a grid. They can be drawn exactly; their rounded relatives leak.}
#'   \item{divergence}{A number that says how different two distributions are, 0 when they are
#'     equal. No randomization of both makes it larger.}
#'   \item{entropy (of a mechanism)}{The average randomness that a report receives, in bits.}
#'   \item{epsilon}{How nearly: probabilities differ by at most a factor of \eqn{e^\epsilon}. In
#'     natural logarithms. Smaller protects more. Epsilons of several reports about one person add
#'     up; their sum over the attributes of a record is the joint epsilon.}
#'   \item{ex-post, certificate}{Of privacy that belongs to what was put out: the mechanism
#'     returns a value and a bound, its certificate, which may depend on the output. Certificates
#'     add up.}
#'   \item{exactness interval}{Of a block design: the epsilons for which no mechanism at all has
#'     less risk.}
#'   \item{exponential mechanism}{A private choice: each candidate with a probability that grows
#'     exponentially with its score on the data.}
#'   \item{fingerprint}{A hash of a mechanism's parameters, kept by reports and counts, so that
#'     nothing is decoded with the wrong mechanism.}
#'   \item{forced response}{Randomized response in which the person must give a certain answer, as
#'     a die says, where the truth is not kept.}
#'   \item{grid}{The numbers with a fixed step, a power of two, to which records are rounded so
#'     that sums are exact.}
#'   \item{hockey stick}{The divergence that is exactly the delta of an epsilon. By the hockey
#'     stick: the smallest epsilon that follows from a Renyi guarantee at a given delta.}
#'   \item{known noise}{The distribution from which a replaced answer is drawn, where it is not
#'     uniform.}
#'   \item{lambda}{Probability that the truth is kept; otherwise the report is drawn from a noise
#'     distribution.}
#'   \item{ledger}{The account of what all releases about the same people have spent.}
#'   \item{likelihood ratio}{How many times likelier something is under one hypothesis than under
#'     another. A test can do no better than to go by it.}
#'   \item{local, central}{Local: each value is randomized before anyone else sees it. Central:
#'     whoever holds the data is trusted, and adds noise to what is released.}
#'   \item{margin}{The table of some of the attributes, summed over the others.}
#'   \item{mechanism}{The random procedure that turns true values into reports: levels and
#'     parameters, no data.}
#'   \item{moment estimate}{The unbiased estimate: the reported shares times the inverse of the
#'     channel. It may be negative.}
#'   \item{neighbours}{Which two data sets must be hard to tell apart. `"replace"`: one row is
#'     changed into any other. `"zero_out"`: one row is set to zero. `"add_remove"`: one row is
#'     added or taken away.}
#'   \item{objective}{What [mech_spr()] makes as large as it can: a divergence between the reports
#'     of two hypotheses.}
#'   \item{order (alpha)}{Of a Renyi divergence: how much it looks at the places where two
#'     distributions differ most. Of a ledger or certificate it is fixed before anything is seen.}
#'   \item{post-processing}{Whatever is computed from released numbers alone. It costs nothing.}
#'   \item{post-randomization (PRAM)}{Randomization of a file by its holder before it is passed
#'     on; invariant where the expected table stays that of the file.}
#'   \item{privacy part, sampling part}{Of a variance: what the randomization causes; what drawing
#'     people from a population would cause without it.}
#'   \item{privacy profile}{The delta for each epsilon: the whole guarantee, not one point of it.}
#'   \item{private sample}{Records that are in a step by a coin of their own, nobody knowing which.
#'     What is computed from it costs less privacy than from everybody.}
#'   \item{projection}{The nearest proper table, with shares from 0 on that sum to 1, in the place
#'     of an unbiased estimate that has negative ones.}
#'   \item{pure, zero-concentrated}{Two measures of how nearly. Pure: by epsilon.
#'     Zero-concentrated (zCDP): by rho, which bounds the Renyi divergence of any order alpha by
#'     alpha rho; the rhos of several releases add up.}
#'   \item{randomized response}{The truth with some probability, else one of the other levels at
#'     random.}
#'   \item{realised}{Of a privacy parameter: that of the whole numbers which the sampler really
#'     uses, never more than what was asked.}
#'   \item{record}{One row: all that is held about one person.}
#'   \item{release}{What leaves whoever holds the data: a number with noise.}
#'   \item{Renyi divergence}{Of order alpha: how different two distributions are where the first
#'     is much larger; the larger alpha, the more such places count.}
#'   \item{report}{What leaves a person: the randomized value.}
#'   \item{risk, excess}{Of a block design: the number of reports times the largest mean squared
#'     error of the shares, summed over levels; by how much it is above the least that any mechanism
#'     can have.}
#'   \item{scatter matrix, shape}{How far records spread in each direction, up to one factor: like
#'     a covariance matrix, which heavy tails need not have.}
#'   \item{sensitivity}{The most by which an answer can differ between neighbours. Noise is
#'     measured in it.}
#'   \item{shared randomness}{A public random number for each report, known to both sides; it
#'     makes reports shorter.}
#'   \item{sort, partition, randomize (SPR)}{The best mechanism for two hypotheses: sort levels by
#'     their likelihood ratio, cut the line into blocks, apply randomized response to the block.}
#'   \item{spectral filter}{A search for directions in which the second moments are too large,
#'     which shows outliers that pull together; there a median takes the place of the mean.}
#'   \item{structural zero}{A combination of levels that cannot occur, known beforehand.}
#'   \item{subset selection}{The report is a set of levels of fixed size, the own level more
#'     likely in it: the least error, with long reports.}
#'   \item{synthetic data}{Made-up rows, drawn from a model that was learnt under differential
#'     privacy. They are nobody's rows, and keep what the model knows.}
#'   \item{training part, validation part}{The people a model is learnt from; the others, on whom
#'     its accuracy is checked. Each part has its own account, as they share nobody.}
#'   \item{unit of privacy}{What a neighbour changes: here one row, which must be one person.}
#'   \item{whitened}{In coordinates in which the shape of the data is round: a distance of 1 is
#'     one standard deviation in every direction.}
#' }
#' @seealso [confide-map], from questions to functions.
#' @name glossary
NULL
