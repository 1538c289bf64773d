"""r/clustrep, the R package: `R CMD check` with its tests, examples and vignette, where R is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "r" / "clustrep"
R = shutil.which("R")
pytestmark = pytest.mark.timeout(1200)  # R CMD check starts R some twenty times
NEEDED = ("reticulate", "testthat", "knitr", "rmarkdown", "ggplot2")
DEBIAN = "r-base-core r-cran-reticulate r-cran-testthat r-cran-knitr r-cran-rmarkdown r-cran-ggplot2 pandoc"


def in_r(folder, *words):
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "_R_CHECK_FORCE_SUGGESTS_": "false",
        "_R_CHECK_CRAN_INCOMING_": "false",
        "R_REPOSITORIES": "NULL",  # no index of packages is asked for
    }
    return subprocess.run(
        [str(R), *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=580, check=False
    )


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What R CMD check says of the built package, and the folder that it leaves."""
    if R is None:
        pytest.skip(f"R is not installed: apt-get install {DEBIAN}")
    folder = tmp_path_factory.mktemp("r")
    asked = "; ".join(f"stopifnot(requireNamespace('{name}', quietly = TRUE))" for name in NEEDED)
    if in_r(folder, "--slave", "-e", asked).returncode:
        pytest.skip(f"R's packages {', '.join(NEEDED)} are not all installed: apt-get install {DEBIAN}")
    built = in_r(folder, "CMD", "build", str(PACKAGE))
    assert built.returncode == 0, built.stdout + built.stderr
    (archive,) = folder.glob("clustrep_*.tar.gz")
    return in_r(folder, "CMD", "check", "--no-manual", archive.name), folder / "clustrep.Rcheck"


@pytest.mark.slow
def test_r_cmd_check_is_clean(checked):
    done, folder = checked
    log = done.stdout + "".join(path.read_text() for path in folder.glob("tests/testthat.Rout*"))
    assert done.returncode == 0, log
    lacking = "checking package dependencies ... NOTE\nPackages suggested but not available" in done.stdout
    assert f"Status: {'1 NOTE' if lacking else 'OK'}" in done.stdout, log


@pytest.mark.slow
def test_its_tests_ran_with_python(checked):
    _, folder = checked
    said = (folder / "tests/testthat.Rout").read_text()
    passed = re.search(r"\[ FAIL 0 \| WARN 0 \| SKIP \d+ \| PASS (\d+) \]", said)[1]
    assert int(passed) > 60
    assert "is not there" not in said


@pytest.mark.slow
def test_the_vignette_ran_with_python(checked):
    _, folder = checked
    page = (folder / "clustrep" / "doc" / "clustrep.html").read_text()
    assert "3 separated clusters" in page
    assert "<img" in page
    assert 'src="https:' not in page


def test_the_version_in_the_description_is_that_of_the_citation():
    version = re.search(r"^Version: (.+)$", (PACKAGE / "DESCRIPTION").read_text(), re.MULTILINE)[1]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
