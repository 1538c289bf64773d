#' How well the clustering of one study predicts that of another
#'
#' Algorithms 1 and 2 of Masoero et al. (2023): for every ordered pair of studies, the partition of the test study by the
#' clustering function that is learned on the training study is compared with the one that is learned there.
#'
#' @inheritParams analyse
#' @param clusterer The name of one clusterer, as in [analyse()]; `NULL` with `label` scores known labels by the nearest sample.
#' @param n_clusters The number of clusters, for clusterers that have one.
#' @param agreement How partitions are compared, as in [analyse()]; one.
#' @param diagonal Whether each study is also scored against itself.
#' @param scale `"none"`, `"pooled"`, `"study"` or `"reference=NAME"`.
#' @return An object of class `clustrep_replicability`: a list with the data frames `scores` (a row for every pair: train, test,
#'   estimate, mean, sd, low, high, …) and `distribution` (a row for every resample and pair), `title` and `seed`.
#'   `as.data.frame()` returns the scores, `as.matrix()` their means.
#' @examplesIf clustrep::clustrep_available()
#' studies <- simulate_cohorts(n_cohorts = 2, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
#' result <- replicability(studies, n_clusters = 3, n_resamples = 5, label = "subtype", seed = 0)
#' as.data.frame(result)
#' @export
replicability <- function(studies, clusterer = "kmeans", n_clusters = NULL, ..., study = NULL, label = NULL, rep = NULL,
                          features = NULL, agreement = "ari", n_resamples = 100, diagonal = TRUE, scale = "none",
                          resampling = c("default", "bootstrap", "subsample"), impute = NULL, seed = NULL, n_jobs = 1) {
  no_more(...)
  if (is.null(clusterer) && is.null(label)) stop("clusterer may be NULL only with label = \"column\".", call. = FALSE)
  answer <- call_python(
    "replicability",
    studies = list(tables = tables_of(studies, study, label, rep, features), label = label, scale = scale),
    clusterer = clusterer, known = is.null(clusterer),
    n_clusters = if (!is.null(n_clusters)) as_count(n_clusters, "n_clusters"),
    agreement = agreement, n_resamples = as_count(n_resamples, "n_resamples"), diagonal = diagonal,
    resampling = match.arg(resampling), impute = as_impute(impute), rng = as_seed(seed), n_jobs = as_count(n_jobs, "n_jobs")
  )
  structure(
    c(list(title = answer$title, seed = answer$seed), lapply(answer$tables, data_frame), list(saved = as.raw(answer$saved))),
    class = "clustrep_replicability"
  )
}

#' @export
print.clustrep_replicability <- function(x, digits = 2, ...) {
  cat(x$title, "\n", sep = "")
  scores <- x$scores
  number <- function(values) formatC(values, format = "f", digits = digits)
  shown <- paste0(number(scores$mean), " [", number(scores$low), ", ", number(scores$high), "]")
  print(noquote(by_pair(scores, shown, "")))
  invisible(x)
}

#' @export
as.data.frame.clustrep_replicability <- function(x, row.names = NULL, optional = FALSE, ...) x$scores

#' @export
as.matrix.clustrep_replicability <- function(x, ...) by_pair(x$scores, x$scores$mean, NA_real_)

by_pair <- function(scores, values, empty) {
  studies <- unique(c(scores$train, scores$test))
  cells <- matrix(empty, length(studies), length(studies), dimnames = list(train = studies, test = studies))
  cells[cbind(scores$train, scores$test)] <- values
  cells
}
