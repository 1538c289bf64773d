test_that("one object with a column of studies gives the answer of a list", {
  needs_python()
  studies <- cohorts(2)
  together <- do.call(rbind, unname(Map(function(study, name) cbind(study, lab = name), studies, names(studies))))
  as_list <- replicability(studies, "ward", 3, label = "subtype", n_resamples = 3, seed = 1)
  as_one <- replicability(together, "ward", 3, study = "lab", label = "subtype", n_resamples = 3, seed = 1)
  expect_identical(as_one$distribution, as_list$distribution)
  expect_s3_class(as.data.frame(as_one), "data.frame")
  expect_identical(dim(as.matrix(as_one)), c(2L, 2L))
  skip_if_not_installed("SingleCellExperiment")
  features <- paste0("gene", 1:4)
  cells <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = t(as.matrix(together[features]))), colData = data.frame(together["lab"], row.names = rownames(together))
  )
  of_cells <- replicability(cells, "ward", 3, study = "lab", n_resamples = 3, seed = 1)
  expect_identical(of_cells$distribution, as_list$distribution)
})

test_that("set.seed makes a run repeatable, and its seed is told", {
  needs_python()
  run <- function() replicability(cohorts(2), "kmeans", 3, label = "subtype", n_resamples = 2)
  set.seed(8)
  first <- run()
  set.seed(8)
  second <- run()
  expect_identical(first$distribution, second$distribution)
  expect_identical(first$seed, second$seed)
  expect_false(identical(run()$seed, first$seed))
})

test_that("errors name the parameter as R calls it", {
  needs_python()
  studies <- cohorts(2)
  error <- tryCatch(analyse(studies, n_clusters = 1, label = "subtype", n_resamples = 2), error = identity)
  expect_s3_class(error, "clustrep_error")
  expect_identical(error$parameter, "n_clusters")
  expect_error(analyse(studies), 'label = "subtype".*study = "subtype"', class = "clustrep_error")
  expect_error(analyse(studies, n_cluster = 3, resamples = 2), "resamples")
  expect_error(analyse(studies, n_resamples = 2.5), "whole number")
  expect_error(replicability(studies, NULL), "label")
  transposed <- lapply(studies, function(x) t(as.matrix(x[names(x) != "subtype"])))
  expect_error(replicability(transposed, n_resamples = 2), "transpose them with t()", fixed = TRUE)
  frames <- list(a = data.frame(x = rnorm(20), y = rnorm(20)), b = data.frame(x = rnorm(20), y = rnorm(20), z = 1))
  expect_warning(replicability(frames, "kmeans", 2, n_resamples = 2), "z")
  frames$a$x[[3]] <- NA
  expect_error(suppressWarnings(replicability(frames, "kmeans", 2, n_resamples = 2)), 'missing.*impute = "median"[.]')
})

test_that("missing values are filled in as Python does", {
  needs_python()
  studies <- lapply(cohorts(3), function(x) x[names(x) != "subtype"])
  studies[[1]][3, 2] <- NA
  result <- replicability(studies, "kmeans", 3, impute = "median", n_resamples = 2, seed = 0, diagonal = FALSE)
  there <- from_python(
    paste(
      "from sklearn.impute import SimpleImputer", "from sklearn.pipeline import make_pipeline",
      "tables = {name: study.to_frame() for name, study in studies.items()}",
      "tables[list(tables)[0]].iloc[2, 1] = float('nan')",
      "clusterer = make_pipeline(SimpleImputer(strategy='median', keep_empty_features=True), KMeans(3, n_init=10))",
      "result = cr.replicability(clusterer, cr.Studies(tables, allow_missing=True), n_resamples=2, rng=0, diagonal=False)",
      sep = "\n"
    ),
    "bits(result.to_frame()['mean'])"
  )
  expect_identical(bits(result$scores$mean), there)
  expect_identical(analyse(studies, n_clusters = 3, impute = "mean", n_resamples = 2, n_null = 0, seed = 0)$n_clusters, 3L)
  expect_error(replicability(studies, impute = "zero"), "nearest")
})

test_that("results are drawn and written", {
  needs_python()
  analysis <- analyse(cohorts(2), n_clusters = 3, n_resamples = 3, n_null = 0, label = "subtype", seed = 0)
  result <- replicability(cohorts(2), "kmeans", 3, n_resamples = 3, label = "subtype", seed = 0)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(analysis), analysis)
  expect_identical(plot(analysis, "table"), analysis)
  expect_identical(plot(result), result)
  expect_output(print(analysis), analysis$headline[[1]], fixed = TRUE)
  expect_output(print(result), "train")
  page <- write_report(analysis, tempfile(fileext = ".html"))
  expect_match(readLines(page, n = 1L), "doctype html")
  skip_if_not_installed("ggplot2")
  for (drawing in list(ggplot2::autoplot(analysis), ggplot2::autoplot(analysis, "table"), ggplot2::autoplot(result))) {
    expect_s3_class(drawing, "ggplot")
    expect_gt(nrow(ggplot2::ggplot_build(drawing)$data[[1]]), 0)
  }
})

test_that("assign is still that of base R", {
  inside <- function() {
    assign("value", 3)
    value
  }
  expect_identical(inside(), 3)
  there <- new.env()
  assign("value", 4, envir = there)
  assign("other", 5, there)
  expect_identical(mget(c("other", "value"), envir = there), list(other = 5, value = 4))
})
