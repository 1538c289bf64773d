"""R/clustrep.R and its vignette, where R and reticulate are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RSCRIPT = shutil.which("Rscript")

# What the vignette leaves, and what else the functions take.
CHECKS = """
stopifnot(identical(names(studies), unlist(clustrep_studies(studies)$names)))
stopifnot(identical(analysis$verdict, "separated"))
stopifnot(is.numeric(clusters$mean), nrow(clusters) == 6, all(clusters$verdict == "holds"), sum(clusters$size) == 240)
with_grade <- function(X) data.frame(X, `HLA-A` = X[, 1] / 2, grade = factor(X[, 1] > 3), check.names = FALSE)
labelled <- lapply(studies, with_grade)
known <- clustrep_studies(labelled, label = "grade")
stopifnot(identical(unlist(known$features), c("ESR1", "ERBB2", "HLA-A")))
stopifnot(identical(unlist(known[["mainz"]]$samples)[1:2], c("m1", "m2")))
refused <- try(clustrep_analyse(known, k = 1:3, resamples = 2), silent = TRUE)
stopifnot(grepl("n_clusters must be an integer of at least 2, got 1", refused))
named <- clustrep_table(reticulate::py_eval(paste0(
  "__import__('types').SimpleNamespace(clusters=lambda: __import__('pandas').DataFrame(",
  "{'train': ['T', 'NA'], 'cluster': ['01', '02'], 'mean': [0.5, float('nan')], 'size': [1, 2]}))"
), convert = FALSE))
stopifnot(identical(named$train, c("T", "NA")), identical(named$cluster, c("01", "02")))
stopifnot(identical(named$mean, c(0.5, NA)), identical(named$size, 1:2))
given <- try(clustrep_analyse(known, scale = "none"), silent = TRUE)
stopifnot(grepl("scale and label are for tables", given))
cat("all checks passed\\n")
"""


def in_r(code, folder):
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    return subprocess.run(
        [str(RSCRIPT), "-e", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def _reticulate(tmp_path_factory):
    if RSCRIPT is None:
        pytest.skip("R is not installed: apt-get install r-cran-reticulate")
    if in_r("quit(status = !requireNamespace('reticulate', quietly = TRUE))", tmp_path_factory.mktemp("r")).returncode:
        pytest.skip("R's reticulate is not installed: apt-get install r-cran-reticulate")


@pytest.mark.slow
@pytest.mark.usefixtures("_reticulate")
def test_the_vignette_runs_and_its_functions_do_what_they_say(tmp_path):
    shutil.copy(ROOT / "R" / "clustrep.R", tmp_path)
    chunks = re.findall(r"^```\{r\}\n(.*?)^```$", (ROOT / "R" / "vignette.Rmd").read_text(), re.DOTALL | re.MULTILINE)
    assert len(chunks) == 3
    (tmp_path / "vignette.R").write_text("\n".join([*chunks, CHECKS]))
    done = in_r("source('vignette.R', echo = TRUE)", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 separated groups" in done.stdout
    assert done.stdout.endswith("all checks passed\n")
    assert (tmp_path / "cohorts.html").read_text().startswith("<!doctype html>")
