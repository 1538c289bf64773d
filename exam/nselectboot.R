# Prints the number of clusters that fpc's nselectboot chooses: Rscript nselectboot.R points.csv seed most

suppressPackageStartupMessages(library(fpc))
arguments <- commandArgs(trailingOnly = TRUE)
X <- as.matrix(read.csv(arguments[1], header = FALSE))
set.seed(as.integer(arguments[2]))
result <- nselectboot(X, B = 50, clustermethod = kmeansCBI, classification = "centroid", krange = 2:as.integer(arguments[3]))
cat(result$kopt, "\n")
