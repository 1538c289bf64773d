# What R's fpc says of iris and of the shape "r15": written to fpc.csv, which the tests read.
#
#   CLUSTREP_DATA=<folder> Rscript tests/reference/fpc.R
#
# Ward, which has one answer, and k-means with a hundred starts: with fewer at random points, the starts would decide.
# `x` and `y` are the mean of a cluster's first two features, so that clusters can be told apart.

library(fpc)
set.seed(2023)

shape <- as.matrix(read.table(file.path(Sys.getenv("CLUSTREP_DATA"), "shapes", "r15.txt"))[, 1:2])
data <- list(iris = as.matrix(iris[, 1:4]), r15 = shape)
rows <- list()

add <- function(...) rows[[length(rows) + 1]] <<- data.frame(...)

jaccard <- function(name, label, k, ..., bootmethod = "boot", B = 400) {
  X <- data[[name]]
  result <- clusterboot(X, B = B, bootmethod = bootmethod, count = FALSE, k = k, subtuning = floor(0.8 * nrow(X)), ...)
  values <- if (bootmethod == "boot") result$bootresult else result$subsetresult
  for (j in seq_len(k)) {
    own <- result$partition == j
    add(data = name, method = label, what = paste("jaccard", bootmethod), k = k, size = sum(own),
        x = mean(X[own, 1]), y = mean(X[own, 2]), mean = mean(values[j, ]), sd = sd(values[j, ]), n = B,
        dissolved = sum(values[j, ] <= 0.5), recovered = sum(values[j, ] > 0.75))
  }
}

curve <- function(name, label, what, values, ks) {
  for (k in ks) {
    one <- values(k)
    add(data = name, method = label, what = what, k = k, size = nrow(data[[name]]), x = NA, y = NA,
        mean = mean(one), sd = sd(one), n = length(one), dissolved = NA, recovered = NA)
  }
}

ward <- list(clustermethod = hclustCBI, method = "ward.D2", scaling = FALSE)
many_starts <- list(clustermethod = kmeansCBI, runs = 100)
ks <- list(iris = c(ward = 3, kmeans = 3), r15 = c(ward = 10, kmeans = 8))

for (name in names(data)) {
  for (bootmethod in c("boot", "subset")) {
    do.call(jaccard, c(list(name, "ward", ks[[name]][["ward"]], bootmethod = bootmethod), ward))
    do.call(jaccard, c(list(name, "k-means", ks[[name]][["kmeans"]], bootmethod = bootmethod), many_starts))
  }
  strength <- do.call(prediction.strength, c(list(data[[name]], Gmin = 2, Gmax = 8, M = 100), many_starts))
  curve(name, "k-means", "prediction strength", function(k) strength$predcorr[[k]], 2:8)
  strength <- do.call(prediction.strength,
                      c(list(data[[name]], Gmin = 2, Gmax = 8, M = 100, classification = "knn", nnk = 1), ward))
  curve(name, "ward", "prediction strength", function(k) strength$predcorr[[k]], 2:8)
  unstable <- do.call(nselectboot,
                      c(list(data[[name]], B = 100, krange = 2:8, classification = "centroid"), many_starts))
  curve(name, "k-means", "one-sided instability", function(k) unstable$stab[, k], 2:8)
}

table <- do.call(rbind, rows)
write.csv(format(table, digits = 8, trim = TRUE), file.path("tests", "reference", "fpc.csv"), row.names = FALSE, quote = FALSE)
cat("fpc", as.character(packageVersion("fpc")), R.version.string, "\n")
