# Times R's fpc on a table of points: Rscript fpc.R points.csv {jaccard,strength}
# Prints the seconds, then the mean score of every resample or split.

suppressPackageStartupMessages(library(fpc))
arguments <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.csv(arguments[1], header = FALSE))
set.seed(0)

if (arguments[2] == "jaccard") {
  seconds <- system.time(
    result <- clusterboot(X, B = 100, clustermethod = kmeansCBI, k = 31, runs = 1, count = FALSE)
  )
  means <- colMeans(result$bootresult)
} else {
  seconds <- system.time(
    result <- prediction.strength(X, Gmin = 2, Gmax = 10, M = 20, clustermethod = kmeansCBI, runs = 1)
  )
  means <- rowMeans(sapply(2:10, function(k) result$predcorr[[k]]))
}
cat(seconds[["elapsed"]], means, sep = "\n")
