# Writes the files that tests read, and that written.json holds in base64: Rscript write.R, in an empty folder. Bioconductor is not needed: the classes
# have the slots of Biobase's ExpressionSet and of SummarizedExperiment that a reader looks at.

setClass("AnnotatedDataFrame", representation(varMetadata = "data.frame", data = "data.frame", dimLabels = "character"))
setClass("ExpressionSet", representation(
  assayData = "environment", phenoData = "AnnotatedDataFrame", featureData = "AnnotatedDataFrame", annotation = "character"
))
setClass("SimpleList", representation(listData = "list"))
setClass("SimpleAssays", representation(data = "SimpleList"))
setClass("DFrame", representation(rownames = "character", nrows = "integer", listData = "list"))
setClass("SummarizedExperiment", representation(colData = "DFrame", assays = "SimpleAssays", NAMES = "character"))

values <- matrix(c(1.5, 2, 3, 4, NA, 6, 7, 8, 9, 10, 11, 12), 4, dimnames = list(paste0("s", 1:4), c("ESR1", "ERBB2", "AURKA")))
grade <- factor(c("low", "high", "low", "high"))

frame <- data.frame(values, grade = grade)
saveRDS(frame, "frame.rds")
saveRDS(unname(values), "plain.rds")
saveRDS(values, "matrix.rds", compress = "xz")

exprs <- t(values)
assay <- new.env()
assign("exprs", exprs, assay)
pheno <- new("AnnotatedDataFrame", data = data.frame(grade, age = c(40, 50, 60, 70), row.names = rownames(values)),
             varMetadata = data.frame(), dimLabels = c("a", "b"))
features <- new("AnnotatedDataFrame", data = data.frame(symbol = colnames(values)), varMetadata = data.frame(), dimLabels = c("a", "b"))
mainz <- new("ExpressionSet", assayData = assay, phenoData = pheno, featureData = features, annotation = "hgu133a")
save(mainz, file = "mainz.rda")
transbig <- mainz
save(mainz, transbig, file = "two.rda")
note <- "no table"
save(note, file = "none.rda")

experiment <- new("SummarizedExperiment",
  colData = new("DFrame", rownames = rownames(values), nrows = 4L, listData = list(grade = grade)),
  assays = new("SimpleAssays", data = new("SimpleList", listData = list(counts = unname(exprs)))), NAMES = rownames(exprs))
saveRDS(experiment, "experiment.rds")

# An ExpressionSet as in packages of old, whose environment has no hash table, and an environment around it that is not looked at.
# What is around it is an argument of the call that made it, a promise.
outside <- (function(exprs) { force(exprs); environment() })(-exprs)
unhashed <- new.env(hash = FALSE, parent = outside)
assign("se.exprs", 0 * exprs, unhashed)
assign("exprs", exprs, unhashed)
old <- new("ExpressionSet", assayData = unhashed, phenoData = pheno, featureData = features, annotation = "hgu95a")
save(old, file = "old.rda", version = 2)

# The package Matrix comes with R.
sparse <- Matrix::Matrix(replace(exprs, is.na(exprs), 0) * (exprs %in% c(1.5, 4, 12)), sparse = TRUE)
stopifnot(class(sparse) == "dgCMatrix")
saveRDS(sparse, "sparse.rds")
cells <- experiment
cells@assays@data@listData <- list(counts = unname(sparse), logcounts = unname(sparse))
saveRDS(cells, "cells.rds")

saveRDS(list(mainz = values, note = "no table", transbig = frame), "list.rds")
plain <- list(values, values)
save(plain, file = "plainlist.rda")
