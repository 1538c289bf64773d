# What users have, as tables for Python: samples in rows. A table is list(name, n, blocks, features, samples, text).

#' Where studies come from
#'
#' The argument `studies` of [analyse()] and [replicability()].
#'
#' It is a named list with a study in each entry, or one object together with `study`, the column that says which study a
#' sample belongs to.
#'
#' | class | samples | `study`, `label` are columns of | `rep` names |
#' |---|---|---|---|
#' | `data.frame` | rows | itself | |
#' | `matrix`, also sparse (`Matrix`) | rows | | |
#' | `ExpressionSet` | columns | `pData` | an element of `assayData` |
#' | `SummarizedExperiment` | columns | `colData` | an assay |
#' | `SingleCellExperiment` | columns | `colData` | an assay or a reduced dimension |
#' | `Seurat` | columns | `meta.data` | an assay or a reduction |
#'
#' Features that not all studies have are left out with a warning. By default `rep` is the first assay (of a
#' `SingleCellExperiment`, `logcounts` if it is there); of a `Seurat` object, the normalised data of its default assay.
#' Coordinates such as principal components must have been computed from all studies together.
#'
#' @name studies
#' @keywords internal
NULL

# Blocks of a matrix are at most this many numbers: R writes no more than 2 GB at once.
block_size <- function() getOption("clustrep.block_size", 1e8)

tables_of <- function(studies, study = NULL, label = NULL, rep = NULL, features = NULL) {
  if (is.list(studies) && !is.data.frame(studies) && !isS4(studies)) {
    if (!is.null(study)) stop("study is for one object that holds several studies, not for a list of them.", call. = FALSE)
    check_names(studies)
    return(unname(Map(function(object, name) {
      as_table(parts_of(object, label, NULL, rep, features), name)
    }, studies, names(studies))))
  }
  parts <- parts_of(studies, label, study, rep, features)
  if (is.null(study)) {
    return(list(as_table(parts, "study")))
  }
  groups <- as.character(parts$study)
  if (anyNA(groups)) stop("study: column ", study, " has missing values.", call. = FALSE)
  lapply(unique(groups), function(name) as_table(subset_parts(parts, which(groups == name)), name))
}

check_names <- function(studies) {
  named <- names(studies)
  if (length(studies) == 0L || is.null(named) || any(!nzchar(named)) || anyDuplicated(named)) {
    stop("studies must be a list in which every study has a name of its own, or one object with study = \"column\".", call. = FALSE)
  }
}

# list(numbers: matrix, samples in rows; text: list of character; study: vector or NULL; samples: names or NULL)
parts_of <- function(object, label, study, rep, features) {
  parts <- if (is.data.frame(object)) {
    parts_of_frame(object, label, study)
  } else if (is.matrix(object) || methods::is(object, "Matrix")) {
    if (!is.null(study) || !is.null(label)) stop("study and label name columns: a matrix has none, use a data frame.", call. = FALSE)
    list(numbers = object, text = list(), study = NULL, samples = rownames(object))
  } else {
    parts_of_container(object, label, study, rep)
  }
  if (!is.null(features)) {
    lacking <- setdiff(features, colnames(parts$numbers))
    if (length(lacking)) {
      stop("features: there is no ", paste(utils::head(lacking, 5), collapse = ", "), ".", call. = FALSE)
    }
    parts$numbers <- parts$numbers[, features, drop = FALSE]
  }
  parts
}

parts_of_frame <- function(object, label, study) {
  check_column(study, "study", names(object))
  numeric <- vapply(object, is.numeric, NA) & !(names(object) %in% c(study, label))
  text <- object[!numeric & names(object) != if (is.null(study)) "" else study]
  list(
    numbers = as.matrix(object[numeric]), text = lapply(text, as.character), study = if (!is.null(study)) object[[study]],
    samples = if (.row_names_info(object) > 0L) row.names(object)
  )
}

parts_of_container <- function(object, label, study, rep) {
  if (methods::is(object, "ExpressionSet")) {
    columns <- Biobase::pData(object)
    numbers <- Biobase::assayDataElement(object, one_of(rep, Biobase::assayDataElementNames(object), "exprs"))
  } else if (methods::is(object, "SummarizedExperiment")) {
    columns <- as.data.frame(SummarizedExperiment::colData(object))
    assays <- SummarizedExperiment::assayNames(object)
    reduced <- if (methods::is(object, "SingleCellExperiment")) SingleCellExperiment::reducedDimNames(object)
    if (is.null(assays)) {
      numbers <- SummarizedExperiment::assay(object)
    } else {
      first <- if (length(reduced) + length(assays) > 1L && "logcounts" %in% assays) "logcounts" else assays[[1]]
      rep <- one_of(rep, c(assays, reduced), first)
      numbers <- if (rep %in% assays) SummarizedExperiment::assay(object, rep) else t(SingleCellExperiment::reducedDim(object, rep))
    }
  } else if (methods::is(object, "Seurat")) {
    columns <- object[[]]
    assays <- SeuratObject::Assays(object)
    rep <- one_of(rep, c(assays, SeuratObject::Reductions(object)), SeuratObject::DefaultAssay(object))
    numbers <- if (rep %in% assays) seurat_data(object, rep) else t(SeuratObject::Embeddings(object, rep))
  } else {
    stop(
      "studies: a study must be a data frame, a matrix, an ExpressionSet, a SummarizedExperiment, a SingleCellExperiment or a ",
      "Seurat object, got ", class(object)[[1]], ".", call. = FALSE
    )
  }
  check_column(study, "study", names(columns))
  known <- if (!is.null(label) && label %in% names(columns)) stats::setNames(list(as.character(columns[[label]])), label)
  list(
    numbers = Matrix_t(numbers), text = as.list(known), study = if (!is.null(study)) columns[[study]], samples = colnames(numbers)
  )
}

# Since version 5, layers take the place of slots.
seurat_data <- function(object, assay) {
  if ("LayerData" %in% getNamespaceExports("SeuratObject")) {
    return(getExportedValue("SeuratObject", "LayerData")(object, assay = assay, layer = "data"))
  }
  SeuratObject::GetAssayData(object, assay = assay, slot = "data")
}

# Samples in rows; a sparse matrix stays sparse until its features are chosen.
Matrix_t <- function(numbers) if (methods::is(numbers, "Matrix")) Matrix::t(numbers) else t(as.matrix(numbers))

one_of <- function(rep, there, default) {
  if (is.null(rep)) return(default)
  if (!rep %in% there) stop("rep must be one of ", paste(there, collapse = ", "), "; got ", rep, ".", call. = FALSE)
  rep
}

check_column <- function(column, argument, there) {
  if (!is.null(column) && !(is.character(column) && length(column) == 1L && column %in% there)) {
    stop(
      argument, " must name a column, got ", paste(format(column), collapse = ", "), "; there are ",
      paste(utils::head(there, 20), collapse = ", "), ".", call. = FALSE
    )
  }
}

subset_parts <- function(parts, rows) {
  list(numbers = parts$numbers[rows, , drop = FALSE], text = lapply(parts$text, `[`, rows), samples = parts$samples[rows])
}

as_table <- function(parts, name) {
  numbers <- as.matrix(parts$numbers)
  n <- nrow(numbers)
  starts <- if (ncol(numbers)) seq(1L, ncol(numbers), by = max(1L, floor(block_size() / max(n, 1L)))) else integer()
  ends <- c(starts[-1] - 1L, ncol(numbers))
  blocks <- if (!ncol(numbers)) list(raw()) else unname(Map(function(from, to) {
    writeBin(as.double(numbers[, from:to]), raw(), endian = "little")
  }, starts, ends))
  list(
    name = name, n = n, blocks = blocks,
    features = if (!is.null(colnames(numbers))) as.list(colnames(numbers)),
    samples = if (!is.null(parts$samples)) as.list(as.character(parts$samples)),
    text = Map(function(values) unname(Map(function(value) if (is.na(value)) NULL else value, values)), parts$text)
  )
}
