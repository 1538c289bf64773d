#' Find the clusters of several studies
#'
#' How many clusters there are, in which studies, whether they are separated, and how well they replicate. The verdict is
#' *separated*, *continuous structure*, *no evidence of clusters* or *inconclusive*.
#'
#' @param studies A named list of data frames, matrices, or Bioconductor or Seurat objects; or one of these together with
#'   `study`. See [studies].
#' @param clusterer Names of clusterers, as on the command line: `"kmeans"`, `"ward"`, `"average"`, `"gmm"`, `"leiden"`, …,
#'   with parameters as `"dbscan:eps=0.3"`. Several are compared.
#' @param n_clusters Numbers of clusters to try.
#' @param ... For generic functions; unused.
#' @param study The column that says which study a sample belongs to, where `studies` is one object.
#' @param label The column with the samples' known class.
#' @param rep Which assay, layer or reduced dimension to take; see [studies].
#' @param features Names of the features to use; by default all that the studies share.
#' @param agreement How partitions are compared: `"ari"`, `"ami"`, `"ri"`, `"mi"`, `"prediction_strength"`, `"matching"`. The
#'   first decides.
#' @param n_resamples Number of resamples.
#' @param n_null Number of simulated data sets for each null model, where no clusters are separated; 0 for none.
#' @param scale How studies are made comparable: `"auto"`, `"none"`, `"pooled"`, `"study"` or `"reference=NAME"`. `"study"`
#'   hides composition: a study that lacks a cluster is stretched until it looks like the others.
#' @param resampling `"default"`: the bootstrap with each drawn sample counted once, because copies of a sample agree with
#'   themselves (80 % subsamples where features outnumber samples); `"bootstrap"`: the paper's, with copies; `"subsample"`:
#'   80 % of the samples.
#' @param impute How missing values are filled in, inside every resample: `"median"`, `"mean"` or `"nearest"` (neighbours). By
#'   default they are refused.
#' @param recursive Whether separated clusters are split again.
#' @param seed A whole number. By default it is drawn by R's generator, so that `set.seed()` makes an analysis repeatable.
#' @param n_jobs Workers; -1 for all cores. It does not change any number.
#'
#' @return An object of class `clustrep_analysis`: a list with `verdict`, `n_clusters`, `headline` (sentences), `seed`, and these
#'   data frames:
#'   \describe{
#'   \item{findings}{a row for every cluster and study: status, n, share, shift, valley, replicability}
#'   \item{clusters, studies}{a row for every cluster; a row for every study}
#'   \item{features}{what distinguishes each cluster, tested in studies that did not define it}
#'   \item{labels}{the cluster of every sample}
#'   \item{summary, scores}{a row for every clusterer, number of clusters and agreement, over all pairs and for every pair}
#'   \item{samples}{local scores of every sample}
#'   \item{coordinates}{where samples are drawn}
#'   }
#'   It holds no pointers: `saveRDS()` and `readRDS()` keep it whole. `as.data.frame()` returns the findings.
#' @seealso [replicability()], [assign()], [plot.clustrep_analysis()], [write_report()]
#' @examplesIf clustrep::clustrep_available()
#' studies <- simulate_cohorts(n_cohorts = 2, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
#' analysis <- analyse(studies, n_clusters = 2:4, n_resamples = 5, label = "subtype", seed = 0)
#' analysis
#' analysis$findings
#' @export
analyse <- function(studies, clusterer = "kmeans", n_clusters = 2:8, ..., study = NULL, label = NULL, rep = NULL, features = NULL,
                    agreement = c("ari", "ami"), n_resamples = 100, n_null = 199, scale = "auto",
                    resampling = c("default", "bootstrap", "subsample"), impute = NULL, recursive = FALSE, seed = NULL, n_jobs = 1) {
  no_more(...)
  answer <- call_python(
    "analyse",
    studies = list(tables = tables_of(studies, study, label, rep, features), label = label),
    clusterers = as.list(clusterer),
    n_clusters = lapply(n_clusters, as_count, "n_clusters"),
    agreement = reticulate::tuple(as.list(agreement)),
    n_resamples = as_count(n_resamples, "n_resamples"),
    n_null = as_count(n_null, "n_null"),
    scale = scale,
    rng = as_seed(seed),
    n_jobs = as_count(n_jobs, "n_jobs"),
    options = list(resampling = match.arg(resampling), impute = as_impute(impute), recursive = recursive)
  )
  structure(
    c(
      list(
        verdict = answer$verdict, n_clusters = if (is.null(answer$n_clusters)) NA_integer_ else as.integer(answer$n_clusters),
        headline = unlist(answer$headline), seed = answer$seed
      ),
      lapply(answer$tables, data_frame),
      list(saved = as.raw(answer$saved))
    ),
    class = "clustrep_analysis"
  )
}

no_more <- function(...) {
  if (...length()) stop("Unknown argument: ", paste(c(names(list(...)), "one without a name")[[1]], collapse = ", "), ".", call. = FALSE)
}

#' @export
print.clustrep_analysis <- function(x, ...) {
  cat("Analysis of ", paste(x$studies$study, collapse = ", "), "\n", sep = "")
  cat(strwrap(x$headline, exdent = 2L), sep = "\n")
  print(status_table(x))
  invisible(x)
}

#' @export
as.data.frame.clustrep_analysis <- function(x, row.names = NULL, optional = FALSE, ...) x$findings

status_table <- function(x) {
  findings <- x$findings
  clusters <- unique(findings$cluster)
  studies <- unique(findings$study)
  cells <- matrix("", length(clusters), length(studies), dimnames = list(cluster = clusters, study = studies))
  cells[cbind(findings$cluster, findings$study)] <- findings$status
  noquote(cells)
}

#' To which clusters new samples belong
#'
#' A cluster, or none of these, with a conformal set that holds the sample's cluster with a stated probability.
#'
#' With anything but an analysis as its first argument this is [base::assign()].
#'
#' @param x An analysis.
#' @param new New samples: a data frame, a matrix, or an object of Bioconductor or Seurat, with the features of the studies; or a
#'   named list of these.
#' @param confidence_level The share of samples whose set is to hold their cluster.
#' @param like The study as which the samples were measured; by default the shift of the samples as a whole is estimated.
#' @param rep,features As in [analyse()].
#' @param ... Further arguments of [base::assign()].
#' @return A data frame with a row for every sample: study, sample, cluster, probability, set, pvalue.
#' @examplesIf clustrep::clustrep_available()
#' studies <- simulate_cohorts(n_cohorts = 3, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
#' analysis <- analyse(studies[1:2], n_clusters = 3, n_resamples = 5, label = "subtype", seed = 0)
#' head(assign(analysis, studies[3]))
#' @export
assign <- function(x, ...) UseMethod("assign")

#' @export
assign.default <- function(x, value, pos = -1, envir = NULL, inherits = FALSE, ...) {
  if (is.null(envir)) envir <- if (identical(pos, -1)) parent.frame() else as.environment(pos)
  base::assign(x, value, envir = envir, inherits = inherits)
}

#' @rdname assign
#' @export
assign.clustrep_analysis <- function(x, new, confidence_level = 0.95, like = NULL, rep = NULL, features = NULL, ...) {
  no_more(...)
  data_frame(call_python(
    "assign",
    saved = x$saved, studies = list(tables = tables_of(new, rep = rep, features = features)), confidence_level = confidence_level,
    like = like
  ))
}

#' A page about results
#'
#' One HTML file, to send to a colleague: the verdict, figures with their tables, a methods paragraph.
#'
#' @param x An analysis, or what [replicability()] returns.
#' @param file Where to write it.
#' @return `file`, invisibly.
#' @examplesIf clustrep::clustrep_available()
#' studies <- simulate_cohorts(n_cohorts = 2, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
#' result <- replicability(studies, n_clusters = 3, n_resamples = 5, label = "subtype", seed = 0)
#' write_report(result, tempfile(fileext = ".html"))
#' @export
write_report <- function(x, file) {
  stopifnot(inherits(x, c("clustrep_analysis", "clustrep_replicability")))
  call_python("write_report", results = list(x$saved), file = path.expand(file))
  invisible(file)
}

#' Simulated cohorts
#'
#' Cohorts that share subtypes; see `clustrep.datasets.simulate_cohorts` in Python.
#'
#' @param n_cohorts,n_samples,n_subtypes,n_features Numbers of cohorts, of samples in each, of subtypes and of features.
#' @param separation Distance between the means of two subtypes, in standard deviations.
#' @param seed A whole number; by default it is drawn by R's generator.
#' @return A named list of data frames; the column `subtype` holds the true subtypes.
#' @examplesIf clustrep::clustrep_available()
#' str(simulate_cohorts(n_cohorts = 2, n_samples = 20, seed = 1))
#' @export
simulate_cohorts <- function(n_cohorts = 4, n_samples = 120, n_subtypes = 4, n_features = 10, separation = 7, seed = NULL) {
  tables <- call_python("simulate_cohorts", arguments = list(
    n_cohorts = as_count(n_cohorts, "n_cohorts"), n_samples = as_count(n_samples, "n_samples"),
    n_subtypes = as_count(n_subtypes, "n_subtypes"), n_features = as_count(n_features, "n_features"),
    separation = separation, rng = as_seed(seed)
  ))
  lapply(tables, function(table) structure(data_frame(table), row.names = unlist(table$samples)))
}
