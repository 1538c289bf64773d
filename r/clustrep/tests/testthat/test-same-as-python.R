test_that("an analysis has Python's numbers, to the last digit", {
  needs_python()
  analysis <- analyse(cohorts(), n_clusters = 2:4, n_resamples = 5, label = "subtype", seed = 3)
  code <- paste(
    "analysis = cr.analyse({'kmeans': KMeans(n_init=10)}, studies, n_clusters=[2, 3, 4], n_resamples=5, rng=3)", sep = "\n"
  )
  for (column in c("mean", "sd", "low", "high", "score", "clusters_found")) {
    expect_identical(bits(analysis$scores[[column]]), from_python(code, sprintf("bits(analysis.scores()[\"%s\"])", column)))
  }
  for (column in c("share", "shift", "valley_depth", "valley_p", "replicability", "n")) {
    expect_identical(
      bits(analysis$findings[[column]]), from_python(code, sprintf("bits(analysis.findings.table()[\"%s\"])", column))
    )
  }
  expect_identical(analysis$labels$cluster, from_python(code, "list(analysis.labels()[\"cluster\"])"))
  expect_identical(analysis$headline, from_python(code, "[said.text for said in analysis.headline]"))
  expect_identical(bits(analysis$samples$mean), from_python(code, "bits(analysis.samples()[\"mean\"])"))
})

test_that("scores of all resamples have Python's bits, for each way of resampling", {
  needs_python()
  python <- c(default = "None", bootstrap = "cr.resampling.Bootstrap()", subsample = "cr.resampling.Subsample(0.8)")
  seen <- lapply(names(python), function(way) {
    result <- replicability(cohorts(), "kmeans", 3, n_resamples = 7, label = "subtype", resampling = way, seed = 5)
    code <- sprintf("result = cr.replicability(KMeans(3, n_init=10), studies, n_resamples=7, resampling=%s, rng=5)", python[[way]])
    expect_identical(bits(result$distribution$score), from_python(code, "bits(result.distribution.ravel())"))
    bits(result$distribution$score)
  })
  expect_false(identical(seen[[1]], seen[[2]]))
})

test_that("known labels and other agreements have Python's bits", {
  needs_python()
  result <- replicability(cohorts(), NULL, label = "subtype", agreement = "ami", n_resamples = 4, scale = "study", seed = 2)
  code <- "result = cr.replicability(None, studies.scaled('study'), labels=True, agreement='ami', n_resamples=4, rng=2)"
  expect_identical(bits(result$distribution$score), from_python(code, "bits(result.distribution.ravel())"))
})

test_that("new samples are assigned as in Python, also after saving", {
  needs_python()
  studies <- cohorts()
  analysis <- analyse(studies[1:2], n_clusters = 3, n_resamples = 3, n_null = 0, label = "subtype", seed = 0)
  file <- tempfile(fileext = ".rds")
  saveRDS(analysis, file)
  assigned <- assign(readRDS(file), studies[3], confidence_level = 0.9)
  code <- paste(
    "two = cr.Studies({name: studies[name] for name in list(studies)[:2]})",
    "analysis = cr.analyse({'kmeans': KMeans(n_init=10)}, two, n_clusters=[3], n_resamples=3, n_null=0, rng=0)",
    "table = analysis.findings.assign(studies[list(studies)[2]].to_frame(), confidence_level=0.9)", sep = "\n"
  )
  expect_identical(assigned$cluster, from_python(code, "list(table[\"cluster\"])"))
  expect_identical(bits(assigned$pvalue), from_python(code, "bits(table[\"pvalue\"])"))
  expect_identical(assigned$sample, rownames(studies[[3]]))
})
