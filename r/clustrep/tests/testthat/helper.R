needs_python <- function() {
  skip_if_not(clustrep_available(), "the Python package clustrep is not there")
}

cohorts <- function(n_cohorts = 3) {
  simulate_cohorts(n_cohorts = n_cohorts, n_samples = 60, n_subtypes = 3, n_features = 4, seed = 1)
}

# The bits of doubles, in hexadecimal digits.
bits <- function(values) {
  values <- ifelse(is.nan(values) | is.na(values), NA_real_, values)
  hex <- as.character(writeBin(as.double(values), raw(), endian = "big"))
  ifelse(is.na(values), "missing", apply(matrix(hex, nrow = 8L), 2L, paste, collapse = ""))
}

# The same from Python, which computes by its public functions alone.
from_python <- function(code, expression) {
  python <- paste(
    "import math, struct, clustrep as cr",
    "from sklearn.cluster import KMeans",
    "studies = cr.datasets.simulate_cohorts(n_cohorts=3, n_samples=60, n_subtypes=3, n_features=4, rng=1)",
    "bits = lambda xs: ['missing' if x is None or x != x else struct.pack('>d', float(x)).hex() for x in xs]",
    code, sep = "\n"
  )
  unlist(reticulate::py_to_r(reticulate::py_eval(
    sprintf("(lambda scope: (exec(%s, scope), eval(%s, scope))[1])({})", deparse_python(python), deparse_python(expression)),
    convert = FALSE
  )))
}

deparse_python <- function(text) paste0("'''", text, "'''")
