"""The commands of docs/federated.md, as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.support import invoke
from tests.federated.sites import cohorts

import clustrep as cr

DOCUMENT = Path(__file__).parents[2] / "docs" / "federated.md"
NAMES = ("mainz", "transbig", "vdx")


def block(name):
    """Return the lines of a block of the document."""
    block = rf"<!-- {name} -->\n(?:<!-- not run.*?-->\n)?```\w+\n(.*?)```"
    (text,) = re.findall(block, DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    return text


@pytest.fixture
def hospitals(tmp_path, monkeypatch):
    """Three files of patients."""
    monkeypatch.chdir(tmp_path)
    for name, study in zip(NAMES, cohorts(150, n_features=3).values(), strict=True):
        study.to_frame().to_csv(f"{name}.csv", index_label="patient")


def test_the_commands_of_the_document_lead_to_the_page(hospitals):
    keys = {}
    for line in block("keys").splitlines():
        done = invoke(*shlex.split(line)[1:])
        keys[line.split()[-1].removesuffix(".key")] = done.stdout.strip()
    words = [word.replace("KEY", keys.get(word.partition("=")[0], "")) for word in shlex.split(block("agree"))[1:]]
    invoke(*["20" if word == "100" else word for word in words])
    for name in NAMES:
        text = block("policy").replace('"mainz"', f'"{name}"').partition("[partners]")[0]
        partners = [f'{other} = "{key}"' for other, key in keys.items() if other != name]
        Path(f"{name}.toml").write_text("\n".join([text, "[partners]", *partners]))
        Path(f"{name}.toml").chmod(0o600)  # whatever the umask
    commands = [shlex.split(line)[1:] for line in block("commands").splitlines()]
    assert [command[0] for command in commands] == ["learn"] * 3 + ["score"] * 3 + ["combine"]
    for command in commands:
        invoke(*command, *(["--yes", "--jobs", "1"] if command[0] != "combine" else []))
    combined = cr.load("together/result.npz")
    assert combined.scores.names == NAMES
    assert combined.scores.n_clusters[combined.scores.best] == 3
    found = pd.read_csv("together/findings.csv")
    assert found["cluster"].tolist() == [letter for letter in "ABC" for _ in range(3)]
    assert (found["status"] == "found").all()
    assert Path("together/report.html").is_file()
    assert len(Path("mainz.toml.log").read_text().splitlines()) == 2
