"""What a release needs: workflows that run what is here, one version everywhere, a section of the changelog."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOTES = ROOT / ".github" / "release_notes.py"


def test_hosted_tests_run_on_every_python_that_is_declared():
    declared = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if re.fullmatch(r".*:: 3\.\d+", name)]
    (tested,) = re.findall(r"python: \[(.+)\]", (ROOT / ".github/workflows/ci.yml").read_text())
    assert json.loads(f"[{tested}]") == declared
    assert PROJECT["requires-python"] == f">={declared[0]}"
    assert f"python-{declared[0]}%20to%20{declared[-1]}-" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_workflows_run_is_here(path):
    makefile = (ROOT / "Makefile").read_text()
    for line in re.findall(r"- run: (.+)", path.read_text()):
        program, *words = line.split()
        if program == "make":
            assert all(re.search(rf"^{re.escape(word)}:", makefile, re.MULTILINE) for word in words), line
        for word in [*words, program]:
            if word.startswith((".ci/", ".github/", "pipelines/", "tests/")):
                assert (ROOT / word).exists(), line


def test_extras_that_are_installed_are_declared():
    for path in [*WORKFLOWS, ROOT / "pipelines/Dockerfile"]:
        for extras in re.findall(r"\[([a-z,]+)\]\"", path.read_text()):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_one_version_everywhere():
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    for path, pattern in {
        "conda/recipe.yaml": 'version: "(.+)"',
        "r/clustrep/DESCRIPTION": "^Version: (.+)$",
        "pipelines/galaxy/clustrep_run.xml": '"@TOOL_VERSION@">(.+)</token>',
        "pipelines/nf-core/clustrep/run/main.nf": 'container "clustrep:(.+?)"',
        "pyproject.toml": 'fallback_version = "(.+)"',
    }.items():
        assert re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1] == citation, path


def test_zenodo_and_the_citation_name_the_same_paper():
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"doi: {zenodo['related_identifiers'][0]['identifier']}\n" in citation
    assert f"license: {zenodo['license']}\n" in citation


def test_release_notes_are_the_section_of_the_version():
    subprocess.run([sys.executable, "-m", "doctest", NOTES], check=True)
    of_unreleased = subprocess.run([sys.executable, NOTES, "Unreleased"], capture_output=True, text=True, check=True)
    assert of_unreleased.stdout.startswith("- ")
    assert "## " not in of_unreleased.stdout
    lacking = subprocess.run([sys.executable, NOTES, "v99.0.0"], capture_output=True, text=True, check=False)
    assert lacking.returncode == 1
    assert "99.0.0" in lacking.stderr
