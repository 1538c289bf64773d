# Writes cohorts.json, the files that tests analyse from end to end, in base64: Rscript write_cohorts.R > cohorts.json, in an
# empty folder. The objects are those of Bioconductor's own classes (Debian's r-bioc-biobase and r-bioc-summarizedexperiment).
suppressPackageStartupMessages({library(Biobase); library(SummarizedExperiment)})

# Ten probes of six genes: two genes have several probes, one probe has no gene, one has two.
symbols <- c("ESR1", "ESR1", "ERBB2", "AURKA", "AURKA", "AURKA", "GATA3", "KRT5", "", "PGR///FOXA1")
probes <- paste0("p", 1:10, "_at")
gain <- c(1, 2, 1, 0.5, 0.7, 1.5, 1, 1, 1, 1)
centres <- rbind(luminal = c(5, 5, 0, 0, 0, 0, 4, 0, 0, 4), her2 = c(0, 0, 6, 3, 3, 3, 0, 0, 0, 0), basal = c(0, 0, 0, 6, 6, 6, 0, 5, 0, 0))

cohort <- function(seed, prefix, n = 12) {
  set.seed(seed)
  subtype <- rep(rownames(centres), each = n)
  values <- t(centres[subtype, ]) * gain + matrix(rnorm(10 * 3 * n, sd = 0.5), 10) * gain
  dimnames(values) <- list(probes, paste0(prefix, seq_len(3 * n)))
  list(values = round(values, 2), subtype = subtype)
}
feature_data <- data.frame(symbol = symbols, entrez = 100 + as.integer(factor(symbols)), row.names = probes, stringsAsFactors = FALSE)

alpha <- cohort(1, "a")
mainz <- ExpressionSet(alpha$values,
  phenoData = AnnotatedDataFrame(data.frame(subtype = alpha$subtype, row.names = colnames(alpha$values))),
  featureData = AnnotatedDataFrame(feature_data), annotation = "hgu133a")
save(mainz, file = "mainz.rda")

beta <- cohort(2, "b")
saveRDS(SummarizedExperiment(list(exprs = beta$values), colData = DataFrame(subtype = beta$subtype, row.names = colnames(beta$values)),
  rowData = DataFrame(feature_data)), "transbig.rds")

gamma <- cohort(3, "c")
ranges <- GRanges(rep("chr1", 10), IRanges(1:10 * 100, width = 25))
names(ranges) <- probes
mcols(ranges) <- DataFrame(feature_data)
saveRDS(SummarizedExperiment(list(exprs = gamma$values), colData = DataFrame(subtype = factor(gamma$subtype), row.names = colnames(gamma$values)),
  rowRanges = ranges), "vdx.rds")

# Ranges that name the probes where the assay does not, and samples without names.
nameless <- unname(gamma$values)
saveRDS(SummarizedExperiment(list(exprs = nameless), rowRanges = ranges), "nameless.rds", compress = "xz")

# Two objects in one file.
nki <- mainz
sampleNames(nki) <- paste0("n", seq_len(ncol(nki)))
save(mainz, nki, file = "both.rda")

files <- c("mainz.rda", "transbig.rds", "vdx.rds", "nameless.rds", "both.rda")
encoded <- vapply(files, function(file) paste(base64enc::base64encode(file), collapse = ""), "")
cat("{\n", paste0(' "', files, '": "', encoded, '"', collapse = ",\n"), "\n}\n", sep = "")
