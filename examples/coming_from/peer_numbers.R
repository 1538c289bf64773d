# Writes peer_numbers_r.csv, what R's ConsensusClusterPlus and MetaNeighbor say of peer_points.csv: Rscript peer_numbers.R [FOLDER]
# Needs Debian's r-bioc-consensusclusterplus and r-bioc-summarizedexperiment, and the package MetaNeighbor, or FOLDER with its
# files R/MetaNeighborUS.R and R/utility.R. Columns: program, quantity, collection, k, train, test, value.

suppressPackageStartupMessages({library(ConsensusClusterPlus); library(SummarizedExperiment)})
points <- read.csv("peer_points.csv", check.names = FALSE)
features <- grep("^x", names(points), value = TRUE)
rows <- data.frame()
add <- function(...) rows <<- rbind(rows, data.frame(...))

for (collection in unique(points$collection)) {
  X <- as.matrix(points[points$collection == collection & points$study == "alpha", features])
  rownames(X) <- seq_len(nrow(X))
  grDevices::pdf(NULL)
  result <- suppressMessages(ConsensusClusterPlus(
    t(X), maxK = 5, reps = 200, pItem = 0.8, clusterAlg = "hc", innerLinkage = "ward.D2", finalLinkage = "average",
    distance = "euclidean", seed = 1, plot = NULL
  ))
  for (k in 2:5) {
    pairs <- result[[k]]$consensusMatrix[upper.tri(result[[k]]$consensusMatrix)]
    add(program = "ConsensusClusterPlus", quantity = "PAC", collection, k, train = "", test = "",
        value = mean(pairs > 0.1 & pairs <= 0.9))
    add(program = "ConsensusClusterPlus", quantity = "mean consensus", collection, k, train = "", test = "", value = mean(pairs))
  }
}

folder <- commandArgs(trailingOnly = TRUE)
if (length(folder)) for (file in c("utility.R", "MetaNeighborUS.R")) source(file.path(folder, file)) else library(MetaNeighbor)
groups <- points[points$collection == "three groups", ]
counts <- t(as.matrix(groups[, features]))
colnames(counts) <- seq_len(ncol(counts))
for (best in c(FALSE, TRUE)) {
  scores <- MetaNeighborUS(
    var_genes = features, dat = SummarizedExperiment(list(counts)), study_id = groups$study, cell_type = groups$group,
    fast_version = TRUE, one_vs_best = best, symmetric_output = FALSE
  )
  for (train in colnames(scores)) for (test in rownames(scores)) {
    if (strsplit(train, "|", fixed = TRUE)[[1]][1] != strsplit(test, "|", fixed = TRUE)[[1]][1]) {
      add(program = "MetaNeighbor", quantity = if (best) "one_against_best" else "one_against_rest",
          collection = "three groups", k = 3, train, test, value = scores[test, train])
    }
  }
}

rows$value <- signif(rows$value, 12)
file <- "peer_numbers_r.csv"
metaneighbor <- if (length(folder)) "MetaNeighbor from its source files" else paste("MetaNeighbor", packageVersion("MetaNeighbor"))
writeLines(paste0("# ConsensusClusterPlus ", packageVersion("ConsensusClusterPlus"), ", ", metaneighbor, ", ", R.version.string), file)
suppressWarnings(write.table(rows, file, sep = ",", row.names = FALSE, quote = FALSE, append = TRUE))
