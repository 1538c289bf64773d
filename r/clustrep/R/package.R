#' Which clusters hold up when someone else repeats the study
#'
#' [analyse()] finds the clusters of several studies and matches them; [replicability()] measures how well the clustering that
#' is learned on one study predicts that of another; [assign()] says to which clusters new samples belong. All of them
#' compute with the Python package of the same name: results are equal to the last digit for the same seed.
#'
#' @section Python:
#' The package finds or makes its Python environment by `reticulate::py_require()` (reticulate 1.41 or later). To use an
#' environment of your own, set `RETICULATE_PYTHON`, or call `reticulate::use_virtualenv()`, before the first call.
#' `options(clustrep.python_package = "clustrep==1.0")`, set before the package is loaded, chooses what is installed.
#'
#' @references Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
#'   cluster analysis. Statistical Science 38(2), 303-316.
#' @name clustrep-package
#' @aliases clustrep
"_PACKAGE"
