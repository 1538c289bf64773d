"""The commands of docs/federated.md, as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from calibration import federated
from tests.cli.support import invoke
from tests.federated.sites import cohorts

import clustrep as cr

DOCUMENT = Path(__file__).parents[2] / "docs" / "federated.md"


@pytest.fixture
def hospitals(tmp_path, monkeypatch):
    """Three files of patients."""
    monkeypatch.chdir(tmp_path)
    names = ("mainz", "transbig", "vdx")
    for name, study in zip(names, cohorts(150).values(), strict=True):
        study.to_frame().to_csv(f"{name}.csv", index_label="patient")
    return names


def test_the_commands_of_the_document_lead_to_the_page(hospitals):
    (block,) = re.findall(r"<!-- commands -->\n```sh\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    commands = [shlex.split(line)[1:] for line in block.splitlines()]
    assert [command[0] for command in commands] == ["learn"] * 3 + ["show"] + ["score"] * 3 + ["combine"]
    for command in commands:
        shorter = [*command, "--jobs", "1"] if command[0] in ("learn", "score") else command
        if command[0] == "learn":
            shorter = ["10" if word == "100" else word for word in shorter]
        invoke(*shorter, *(["--figures", "none", "--allow-failures"] if command[0] == "combine" else []))
    combined = cr.load("together/result.npz")
    assert combined.comparison.names == hospitals
    assert combined.comparison.best().n_clusters == 3
    assert Path("together/report.html").is_file()


def test_the_tables_of_the_document_are_those_of_the_program():
    """Its rows, at least: the numbers take minutes."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = {**federated.attacks(120, 3, 25, 0), **federated.regression(120, 3, 25, 0)}
    assert all(f"| {name} |" in text for name in rows)
    assert "ATTACKTABLE" not in text


@pytest.mark.slow
def test_the_attacks_reconstruct_patients_from_public_draws():
    errors = {**federated.attacks(120, 3, 400, 1), **federated.regression(120, 3, 400, 1)}
    medians = {name: float(np.median(error)) for name, error in errors.items()}
    assert medians["who was drawn and who is in which cluster"] < 1e-3
    assert medians["who was drawn"] < 0.25  # standard deviations
    assert medians["all other patients"] < 1e-9
