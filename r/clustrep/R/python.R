# The way to Python and back. Tables travel as bytes of doubles and lists of text: no digit changes, and it does not matter
# which NumPy a version of reticulate knows.

bridge <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  # Since reticulate 1.41: an environment with this package is found or made when Python starts.
  if ("py_require" %in% getNamespaceExports("reticulate")) {
    require_python <- getExportedValue("reticulate", "py_require")
    require_python(getOption("clustrep.python_package", "clustrep"), python_version = ">=3.11")
  }
}

python <- function() {
  if (is.null(bridge$module)) {
    folder <- system.file("python", package = "clustrep", mustWork = TRUE)
    bridge$module <- tryCatch(
      reticulate::import_from_path("clustrep_for_r", path = folder, convert = TRUE),
      error = function(reason) {
        stop(
          "The Python package clustrep is not there: install it with reticulate::py_install(\"clustrep\", pip = TRUE), or set ",
          "RETICULATE_PYTHON to a Python that has it. (", conditionMessage(reason), ")", call. = FALSE
        )
      }
    )
  }
  bridge$module
}

#' Is the Python package there?
#'
#' @return `TRUE` where Python and its package clustrep are found.
#' @examples
#' clustrep_available()
#' @export
clustrep_available <- function() {
  tryCatch(nzchar(python()$version()), error = function(reason) FALSE)
}

# Calls a function of inst/python/clustrep_for_r.py; its errors and warnings become those of R.
call_python <- function(name, ...) {
  answer <- python()$call(name, list(...))
  for (sentence in unlist(answer$warnings)) warning(in_r(sentence), call. = FALSE)
  if (!is.null(answer$error)) {
    parameter <- answer$error[[2]]
    stop(structure(
      class = c("clustrep_error", "error", "condition"),
      list(message = in_r(answer$error[[1]]), call = NULL, parameter = if (parameter == "rng") "seed" else parameter)
    ))
  }
  answer$value
}

# What the sentences of Python call otherwise.
in_r <- function(sentence) {
  sentence <- sub(" gower=True takes categories, for Gower's distance.", "", sentence, fixed = TRUE) # which R does not offer
  sentence <- sub("by an imputer as the first step .*\\)", "with impute = \"median\"", sentence)
  sentence <- gsub("\\bstudy_key=", "study = ", sub("(frame.T)", "with t()", sentence, fixed = TRUE))
  sentence <- gsub("\\b(label|study) ?= ?'([^']*)'", "\\1 = \"\\2\"", sentence)
  sentence <- gsub("\\brng=", "seed = ", gsub("--clusterer", "clusterer =", sentence, fixed = TRUE))
  gsub("\\brng\\b", "seed", gsub("=True\\b", " = TRUE", gsub("=False\\b", " = FALSE", sentence)))
}

# A table of Python's as a data frame.
data_frame <- function(table) {
  columns <- lapply(table$columns, function(column) {
    values <- column[[2]]
    if (column[[1]] %in% c("double", "integer")) {
      numbers <- readBin(as.raw(values), "double", n = table$n)
      if (column[[1]] == "double") return(ifelse(is.nan(numbers), NA_real_, numbers))
      return(as.integer(ifelse(is.nan(numbers), NA_real_, numbers)))
    }
    missing_value <- if (column[[1]] == "logical") NA else NA_character_
    vapply(as.list(values), function(value) if (is.null(value)) missing_value else value, missing_value)
  })
  structure(columns, names = names(table$columns), row.names = seq_len(table$n), class = "data.frame")
}

as_seed <- function(seed) {
  if (is.null(seed)) return(sample.int(.Machine$integer.max, 1L))
  as_count(seed, "seed")
}

as_count <- function(value, name) {
  if (!is.numeric(value) || length(value) != 1L || is.na(value) || value != round(value)) {
    stop(name, " must be a whole number, got ", paste(deparse(value), collapse = " "), ".", call. = FALSE)
  }
  as.integer(value)
}

as_impute <- function(impute) if (!is.null(impute)) match.arg(impute, c("median", "mean", "nearest"))
