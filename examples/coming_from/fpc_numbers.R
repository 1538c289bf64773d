# Writes what R's fpc says of R's iris data: Rscript fpc_numbers.R, in this folder. Needs Debian's r-cran-fpc.
# points.csv: the data, with a clustering by average linkage; fpc_numbers.csv: quantity, k, cluster, value, error.

suppressPackageStartupMessages(library(fpc))
X <- as.matrix(iris[, 1:4])
species <- as.integer(iris$Species)
linkage <- cutree(hclust(dist(X), "average"), 3)
write.csv(data.frame(X, species, linkage), "points.csv", row.names = FALSE, quote = FALSE)

rows <- data.frame()
add <- function(quantity, k, cluster, value, error) {
  rows <<- rbind(rows, data.frame(quantity, k, cluster, value = signif(value, 12), error = signif(error, 4)))
}

# Exact: functions of two labelings.
add("cluster.stats()$corrected.rand", 3, NA, cluster.stats(dist(X), linkage, species)$corrected.rand, 0)
for (i in 1:3) {
  add("clujaccard", 3, i - 1, max(sapply(1:3, function(j) clujaccard(linkage == i, species == j))), 0)
}

# By resampling: a mean and its standard error.
set.seed(1)
B <- 200
boot <- clusterboot(X, B = B, clustermethod = hclustCBI, method = "average", k = 3, scaling = FALSE, count = FALSE)
order <- sapply(1:3, function(i) which.max(sapply(1:3, function(j) sum(linkage == i & boot$partition == j))))
for (i in 1:3) {
  scores <- boot$bootresult[order[i], ]
  add("clusterboot()$bootmean", 3, i - 1, mean(scores), sd(scores) / sqrt(B))
}
strength <- prediction.strength(X, Gmin = 2, Gmax = 4, M = 100, clustermethod = kmeansCBI, runs = 10)
for (k in 2:4) {
  scores <- strength$predcorr[[k]]
  add("prediction.strength()$mean.pred", k, NA, mean(scores), sd(scores) / sqrt(length(scores)))
}
select <- nselectboot(X, B = 100, clustermethod = kmeansCBI, classification = "centroid", krange = 2:4, runs = 10)
for (k in 2:4) add("nselectboot()$stabk", k, NA, select$stabk[k], NA)

file <- "fpc_numbers.csv"
writeLines(paste0("# fpc ", packageVersion("fpc"), ", ", R.version.string), file)
suppressWarnings(write.table(rows, file, sep = ",", row.names = FALSE, quote = FALSE, append = TRUE))
