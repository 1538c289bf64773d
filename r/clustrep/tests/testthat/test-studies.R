X <- matrix(c(1.5, 2, 3, 4, 5, 6.25, 7, 8, 9, 10, 11, 12), 4, dimnames = list(paste0("s", 1:4), c("a", "b", "c")))
batch <- c("x", "x", "y", "y")

# What Python gets, in the order of rows and columns, without names of empty lists.
sent <- function(...) {
  lapply(clustrep:::tables_of(...), function(table) {
    list(
      name = table$name, numbers = unlist(lapply(table$blocks, readBin, "double", n = 1e4)), features = unlist(table$features),
      samples = unlist(table$samples), text = if (length(table$text)) lapply(table$text, unlist)
    )
  })
}

test_that("frames, matrices and sparse matrices are the same studies", {
  frame <- as.data.frame(X)
  as_list <- sent(list(x = X[1:2, ], y = X[3:4, ]))
  expect_identical(as_list[[2]]$numbers, as.vector(X[3:4, ]))
  expect_identical(sent(list(x = frame[1:2, ], y = frame[3:4, ])), as_list)
  expect_identical(sent(cbind(frame, lab = batch), study = "lab"), as_list)
  expect_identical(sent(cbind(frame, lab = factor(batch)), study = "lab"), as_list)
  expect_identical(sent(list(x = X), features = c("c", "a"))[[1]]$numbers, as.vector(X[, c("c", "a")]))
  expect_null(sent(list(x = data.frame(a = 1:2)))[[1]]$samples)
  expect_identical(sent(list(x = data.frame(a = 1:2, `HLA-A` = 3:4, check.names = FALSE)))[[1]]$features, c("a", "HLA-A"))
  skip_if_not_installed("Matrix")
  expect_identical(sent(list(x = Matrix::Matrix(X[1:2, ], sparse = TRUE), y = X[3:4, ])), as_list)
})

test_that("large matrices travel in blocks", {
  whole <- sent(list(x = X))
  old <- options(clustrep.block_size = 5)
  on.exit(options(old))
  expect_length(clustrep:::tables_of(list(x = X))[[1]]$blocks, 3L)
  expect_identical(sent(list(x = X)), whole)
})

test_that("containers of Bioconductor are the same studies", {
  skip_if_not_installed("SummarizedExperiment")
  two <- SummarizedExperiment::SummarizedExperiment(
    list(counts = t(X), logs = log(t(X))), colData = data.frame(lab = batch, class = c("A", "B", "A", NA), row.names = rownames(X))
  )
  as_list <- sent(list(x = X[1:2, ], y = X[3:4, ]))
  expect_identical(sent(two, study = "lab"), as_list)
  expect_identical(sent(list(x = two[, 1:2], y = two[, 3:4])), as_list)
  expect_identical(sent(two, study = "lab", rep = "logs")[[1]]$numbers, as.vector(log(X[1:2, ])))
  expect_identical(sent(two, study = "lab", label = "class")[[1]]$text, list(class = c("A", "B")))
  expect_error(sent(two, study = "nowhere"), "lab, class")
  expect_error(sent(two, rep = "nothing"), "counts, logs")
  skip_if_not_installed("Biobase")
  old <- Biobase::ExpressionSet(t(X), Biobase::AnnotatedDataFrame(data.frame(lab = batch, row.names = rownames(X))))
  expect_identical(sent(old, study = "lab"), as_list)
  expect_identical(sent(list(x = old[, 1:2], y = old[, 3:4])), as_list)
})

test_that("containers of single cells are the same studies", {
  skip_if_not_installed("SingleCellExperiment")
  cells <- SingleCellExperiment::SingleCellExperiment(
    list(counts = t(X), logcounts = log1p(t(X))), colData = data.frame(lab = batch, row.names = rownames(X)),
    reducedDims = list(PCA = matrix(1:8 / 2, 4, dimnames = list(rownames(X), c("PC1", "PC2"))))
  )
  expect_identical(sent(cells, study = "lab", rep = "counts"), sent(list(x = X[1:2, ], y = X[3:4, ])))
  expect_identical(sent(cells, study = "lab"), sent(list(x = log1p(X[1:2, ]), y = log1p(X[3:4, ]))))
  expect_identical(sent(cells, study = "lab", rep = "PCA")[[2]]$numbers, c(1.5, 2, 3.5, 4))
  skip_if_not_installed("SeuratObject")
  seurat <- suppressWarnings(SeuratObject::CreateSeuratObject(methods::as(t(X), "CsparseMatrix"), meta.data = data.frame(lab = batch, row.names = rownames(X))))
  if (utils::packageVersion("SeuratObject") >= "5.0.0") SeuratObject::LayerData(seurat, "data") <- methods::as(t(X), "CsparseMatrix")
  expect_identical(sent(seurat, study = "lab"), sent(list(x = X[1:2, ], y = X[3:4, ])))
  seurat[["pca"]] <- SeuratObject::CreateDimReducObject(
    matrix(1:8 / 2, 4, dimnames = list(rownames(X), c("PC_1", "PC_2"))), key = "PC_", assay = "RNA"
  )
  expect_identical(sent(seurat, study = "lab", rep = "pca")[[2]]$numbers, c(1.5, 2, 3.5, 4))
})

test_that("what is no study is refused", {
  expect_error(sent(list(X, X)), "name")
  expect_error(sent(list(x = letters)), "character")
  expect_error(sent(list(x = X), study = "lab"), "list")
  expect_error(sent(X, study = "lab"), "data frame")
  expect_error(sent(list(x = X), features = "z"), "z")
})
