# clustrep from R, over reticulate: three functions. source("clustrep.R"); see vignette.Rmd.

clustrep_module <- function() reticulate::import("clustrep")

# A named list of matrices or data frames, samples in rows, becomes Studies; rows and columns keep their names.
clustrep_studies <- function(studies, scale = "zscore") {
  stopifnot(is.list(studies), length(studies) >= 2, !is.null(names(studies)))
  frames <- lapply(studies, function(study) reticulate::r_to_py(as.data.frame(study)))
  clustrep_module()$Studies$from_frames(reticulate::r_to_py(frames))$scaled(scale)
}

# The whole analysis by k-means; `print()` it, or look at $clusters(), $summary() and $presence().
clustrep_analyse <- function(studies, k = 2:8, resamples = 100L, seed = 0L, starts = 10L, scale = "zscore") {
  kmeans <- reticulate::import("sklearn.cluster")$KMeans(n_init = as.integer(starts))
  clustrep_module()$analyse(
    kmeans, clustrep_studies(studies, scale),
    n_clusters = as.list(as.integer(k)), n_resamples = as.integer(resamples), rng = as.integer(seed)
  )
}

# The page about results, as one HTML file.
clustrep_report <- function(result, file) {
  clustrep_module()$Report(result)$write_html(file)
  invisible(file)
}
