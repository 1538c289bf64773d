# clustrep from R, over reticulate: four functions. source("clustrep.R"); see vignette.Rmd.

clustrep_module <- function() reticulate::import("clustrep")

# A named list of matrices or data frames, samples in rows, becomes Studies; rows and columns keep their names. `label` names a
# column of data frames with the samples' known class.
clustrep_studies <- function(studies, scale = "study", label = NULL) {
  stopifnot(is.list(studies), length(studies) >= 2, !is.null(names(studies)))
  frames <- lapply(studies, function(study) reticulate::r_to_py(as.data.frame(study)))
  clustrep_module()$Studies$from_frames(reticulate::r_to_py(frames), label = label)$scaled(scale)
}

# The whole analysis by k-means. `studies` is such a list, or the Studies that clustrep_studies returned.
clustrep_analyse <- function(studies, k = 2:8, resamples = 100L, seed = 0L, starts = 10L, scale = "study", label = NULL) {
  if (!inherits(studies, "python.builtin.object")) {
    studies <- clustrep_studies(studies, scale, label)
  } else if (!missing(scale) || !missing(label)) {
    stop("scale and label are for tables: give them to clustrep_studies(), which made these studies.")
  }
  kmeans <- reticulate::import("sklearn.cluster")$KMeans(n_init = as.integer(starts))
  clustrep_module()$analyse(
    kmeans, studies, n_clusters = as.list(as.integer(k)), n_resamples = as.integer(resamples), rng = as.integer(seed)
  )
}

# A table of the results as a data frame of R: "findings", "clusters", "studies", "labels", "summary" or "scores". It travels
# as text, because older versions of reticulate cannot convert the arrays of NumPy 2.
clustrep_table <- function(result, table = "findings") {
  tables <- paste(
    "lambda result, table: (result.findings.table if table == 'findings' else",
    "getattr(result.findings if table in ('clusters', 'studies') else result, table))()"
  )
  frame <- reticulate::py_eval(tables, convert = FALSE)(result, table)
  as_text <- reticulate::py_eval("lambda frame: frame.to_csv(index=False)")
  kinds <- reticulate::py_eval("lambda frame: [kind.kind for kind in frame.dtypes]")
  # Names stay text: "T", "01" and "NA" may be studies or clusters.
  classes <- ifelse(unlist(kinds(frame)) %in% c("b", "i", "u", "f"), NA, "character")
  utils::read.csv(
    text = as_text(frame), check.names = FALSE, stringsAsFactors = FALSE, colClasses = classes, na.strings = ""
  )
}

# The page about results, as one HTML file.
clustrep_report <- function(result, file) {
  clustrep_module()$Report(result)$write_html(file)
  invisible(file)
}
