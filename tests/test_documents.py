"""What the documents show is what the code prints."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.test_package import ROAD

ROOT = Path(__file__).parents[1]


def test_the_readme_shows_the_real_output(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- example -->\n```python\n(.*?)```", text, flags=re.DOTALL)
    (shown,) = re.findall(r"<!-- output -->\n```text\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    words = [re.sub(r"-?\d+(\.\d+)?", "#", text).split() for text in (printed, shown)]
    assert words[0] == words[1]
    # Another processor may round a tie the other way: clusters may swap places, digits may change.
    numbers = [np.sort(np.array(re.findall(r"-?\d+\.\d+", text), dtype=float)) for text in (printed, shown)]
    np.testing.assert_allclose(*numbers, atol=0.1)


def test_the_demo_finds_the_truth_and_leaves_its_results(tmp_path, capsys):
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    assert demo["main"](tmp_path / "results", n_resamples=6)
    out = capsys.readouterr().out
    assert "MISSED" not in out
    assert str(tmp_path / "results") in out
    assert {path.name for path in (tmp_path / "results").iterdir()} >= {"scores.csv", "clusters.csv", "comparison.npz"}


@pytest.mark.parametrize("path", [*sorted(ROOT.glob("docs/**/*.md")), ROOT / "README.md"], ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        on_github = path.name == "README.md" and target.startswith("../../actions/workflows/")  # of its repository
        place = ROOT / ".github" / target.removeprefix("../../actions/").removesuffix("/badge.svg")
        assert "://" in target or (place if on_github else path.parent / target).exists(), target


def test_the_page_on_the_code_names_every_folder_on_the_road():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    named = {name.removesuffix("/") for name in re.findall(r"`(\w+/?)`", table)}
    assert set(ROAD) - {"__init__", "__main__", "commands", "program"} <= named


def test_commands_in_documents_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    paths = [ROOT / "README.md", ROOT / ".ci" / "run", *sorted(ROOT.glob("docs/**/*.md"))]
    named = {
        path.name: re.findall(r"(?:^(?: {4})?|`)make ([a-z-]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for path in paths
    }
    assert {name for names in named.values() for name in names} <= targets
    assert {"test", "test-all"} <= set(named["README.md"])
    assert "test-all" in named["run"]


def test_all_tests_are_run_by_test_all_and_all_but_slow_ones_by_test():
    commands = dict(
        re.findall(r"^([a-z-]*):.*\n\t.* -m pytest (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    )
    assert {"test", "test-all", "coverage"} <= set(commands)
    assert '-m "not slow"' in commands["test"]
    assert " -m " not in commands["test-all"] + commands["coverage"]
    assert "--cov " in commands["coverage"]
