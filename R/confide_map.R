#' From the question to the function
#'
#' Which function answers which question, where it is explained at length (or else on its help
#' page), and the paper behind it.
#' Words are explained in [glossary]; [privacy] says what is promised and what is not.
#'
#' @section Nobody may see the true answers:
#' Each person randomizes; you get reports. [privatize()], [count_reports()], [estimate()] and
#' [private_test()] work on the reports of every mechanism.
#'
#' \tabular{llll}{
#'   \strong{Question} \tab \strong{Function} \tab \strong{Vignette} \tab \strong{Paper} \cr
#'   Tables of many attributes \tab [mech_lambda()] \tab `confide`, `lambda` \tab Ruiz 2026 \cr
#'   Single cells, events \tab [estimate_cells()] \tab `lambda` \tab Ruiz 2026 \cr
#'   Means, correlations of scores \tab [estimate_covariance()] \tab \tab Ruiz 2026 \cr
#'   Regressions \tab [private_lm()], [private_glm()] \tab `lambda` \tab
#'     van den Hout and van der Heijden 2002 \cr
#'   Association, goodness of fit \tab [private_test()] \tab `confide` \tab Ruiz 2026 \cr
#'   Conditional independence \tab [log_linear_test()] \tab `lambda` \tab
#'     van den Hout and van der Heijden 2004 \cr
#'   Impossible combinations \tab [composite()] \tab `lambda` \tab Ruiz 2026 \cr
#'   One attribute, up to a million levels \tab [mech_block()] \tab `block-designs` \tab
#'     Park, Nam and Lee 2023 \cr
#'   One attribute of few levels \tab [mech_rr()] \tab `which-mechanism` \tab Warner 1965 \cr
#'   P0 or P1? \tab [mech_spr()], [mech_spr_continuous()] \tab `spr` \tab Ghazi 2026 \cr
#'   A channel of your own \tab [mech_matrix()] \tab `lambda` \tab \cr
#'   A file to be passed on \tab [invariant_pram()] \tab `lambda` \tab
#'     Gouweleeuw et al. 1998 \cr
#'   What a report tells about one person \tab
#'     [predict()][predict.confide_mechanism] \tab \tab
#' }
#'
#' @section You hold the data:
#' \tabular{llll}{
#'   \strong{Question} \tab \strong{Function} \tab \strong{Vignette} \tab \strong{Paper} \cr
#'   Counts, sums with known bounds \tab [private_count()], [private_sum()] \tab `noise` \tab
#'     Canonne, Kamath and Steinke 2020 \cr
#'   Means without bounds, with outliers \tab [private_mean()] \tab `robust-mean` \tab
#'     Ramsay et al. 2026 \cr
#'   Rows to share \tab [synthesize()] \tab `synthetic-data` \tab
#'     McKenna, Miklau and Sheldon 2021 \cr
#'   Good enough, then as private as possible \tab [accuracy_first()] \tab `accuracy-first` \tab
#'     Raisa, Koskela and Honkela 2026 \cr
#'   An answer that sharpens on demand \tab [brownian()], [laplace_path()] \tab
#'     `accuracy-first` \tab Whitehouse et al. 2022 \cr
#'   A classifier \tab [private_classifier()] \tab `images` \tab
#'     Abadi et al. 2016 \cr
#'   Which answer is above a threshold? \tab [above_threshold()] \tab `accuracy-first` \tab
#'     Lyu, Su and Li 2017 \cr
#'   What was spent in all? \tab [ledger()], [as_approx_dp()] \tab `accuracy-first` \tab
#'     Raisa, Koskela and Honkela 2026
#' }
#'
#' @section Before and after:
#' \tabular{lll}{
#'   \strong{Question} \tab \strong{Function} \tab \strong{Vignette} \cr
#'   Which mechanism at all? \tab \tab `which-mechanism` \cr
#'   How many people, which epsilon? \tab
#'     [plan_frequencies()], [plan_test()], [plan_mean()], [plan_alpha()] \tab `which-mechanism` \cr
#'   The same, with sliders \tab [explore()] \tab \cr
#'   Which tables can a sample support? \tab [feasible_tables()] \tab `lambda` \cr
#'   Which block design? \tab [block_designs()], [block_comparison()] \tab `block-designs` \cr
#'   How robust is a mean? \tab [contamination_study()] \tab `robust-mean` \cr
#'   What is promised? \tab [privacy()], [epsilon()], [privacy_profile()] \tab `confide` \cr
#'   Is it true of the code? \tab [audit()], [replay_audit()] \tab `noise` \cr
#'   How random is a mechanism? \tab [mechanism_entropy()], [birkhoff()] \tab `lambda`
#' }
#' Open a vignette with `vignette("lambda", package = "confide")`.
#' @aliases documentation-map
#' @name confide-map
NULL
