"""Options from a file, and a run that is repeated from its own folder."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from tests.cli.support import FILES, NO_NULL, NULL, PAIR, READING, RUN, SMALL, contents, invoke, listed

import clustrep as cr
from clustrep.cli import analysis_commands
from clustrep.cli.program import clustrep


def test_a_run_is_repeated_from_its_own_folder(folder):
    (folder / "genes.txt").write_text("gene3\ngene1\n")
    invoke(
        "run", *PAIR, "--k", "3,2", *READING, "--clusterer", "kmeans:n_init=2", *SMALL, *NULL, "--seed", "7",
        "--features", "genes.txt", "--scale", "pooled", "--out", "one",
    )  # fmt: skip
    invoke("run", "--config", "one/config.toml", "--out", "two", "--jobs", "1")
    assert listed(folder / "one") == FILES
    assert contents(folder / "one") == contents(folder / "two")
    written = tomllib.loads(Path("one/config.toml").read_text())
    assert written["studies"] == ["../alpha.csv", "../beta.csv"]
    assert written["features"] == "../genes.txt"
    assert sorted(written["made"]) == ["data", "versions"]
    assert sorted(written["made"]["data"]) == ["alpha", "beta"]
    assert written["made"]["versions"]["clustrep"] == cr.__version__
    assert not {"out", "force", "json", "config", "quiet", "jobs", "allow-failures"} & set(written)


def test_a_run_that_is_repeated_tells_what_has_changed(folder):
    invoke(*RUN, "--out", "one")
    assert "warning" not in invoke("run", "--config", "one/config.toml", "--out", "two", "--jobs", "1").stderr
    frame = pd.read_csv("beta.csv", index_col=0)
    frame.iloc[0, -1] += 1
    frame.to_csv("beta.csv")
    config = Path("one/config.toml")
    config.write_text(config.read_text().replace(f'clustrep = "{cr.__version__}"', 'clustrep = "0.0.1"'))
    said = invoke("run", "--config", "one/config.toml", "--out", "three", "--jobs", "1").stderr
    assert "warning: The data have changed since the run that wrote the configuration: beta.\n" in said
    assert f"warning: The configuration was written by clustrep 0.0.1; this is {cr.__version__}.\n" in said


def test_files_are_found_from_the_folder_of_the_configuration(folder, monkeypatch):
    invoke(*RUN, "--out", "one")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    invoke("run", "--config", "../one/config.toml", "--out", "../two", "--jobs", "1")
    assert contents(folder / "one") == contents(folder / "two")


@pytest.fixture
def chosen(monkeypatch):
    """What `run` was asked for, instead of doing it."""
    caught = {}
    monkeypatch.setattr(analysis_commands, "analyse_files", lambda _, settings: caught.update(settings))
    return caught


EVERY_OPTION = """
studies = ["a.csv", "deeper/b.csv"]
k = "2:3"
clusterer = ["ward", "dbscan:eps=0.3"]
noise = "drop"
resamples = 7
agreement = ["ami"]
label = "subtype"
no-label = false
features = "genes.txt"
scale = "study"
normalise = "log1p"
target-sum = 1e4
transpose = true
transpose-only = ["a"]
header = false
study-key = "donor"
rep = "X_pca"
genes = "symbol"
map = "probes.csv"
probes = "mean"
duplicates = "first"
null = "copula"
null-collections = 39
embedding = "tsne"
figures = ["svg", "pdf"]
out = "there"
force = true
no-samples = true
allow-failures = true
seed = 3
jobs = 2
engine = "dask://host:8786"
device = "auto"
landmarks = 500
embed = "train"
resolution = "0.5"
write-h5ad = false
recursive = true
groups = "donor"
impute = "mean"
gower = true
categorical = ["sex"]
annotations = "stage,age"
survival = "months,died"
json = true
quiet = true
"""


def test_every_option_can_be_given_in_a_file(folder, chosen):
    (folder / "options").mkdir()
    (folder / "options" / "all.toml").write_text(EVERY_OPTION)
    invoke("run", "--config", "options/all.toml")
    assert chosen.pop("config") == Path("options/all.toml")
    assert chosen == {
        "studies": (Path("options/a.csv"), Path("options/deeper/b.csv")),
        "n_clusters": (2, 3),
        "clusterer": ("ward", "dbscan:eps=0.3"),
        "noise": "drop",
        "n_resamples": 7,
        "agreement": ("ami",),
        "label": "subtype",
        "no_label": False,
        "features": Path("options/genes.txt"),
        "scale": "study",
        "normalise": "log1p",
        "target_sum": 1e4,
        "transpose": True,
        "transpose_only": ("a",),
        "header": False,
        "study_key": "donor",
        "rep": "X_pca",
        "genes": "symbol",
        "probe_map": Path("options/probes.csv"),
        "probes": "mean",
        "duplicates": "first",
        "null": "copula",
        "n_null": 39,
        "shard": None,
        "device": "auto",
        "n_landmarks": 500,
        "embed": "train",
        "resolution": (0.5,),
        "write_h5ad": False,
        "recursive": True,
        "groups": "donor",
        "impute": "mean",
        "categorical": ("sex",),
        "annotations": "stage,age",
        "survival": ("months", "died"),
        "gower": True,
        "embedding": "tsne",
        "figures": ("svg", "pdf"),
        "out": Path("options/there"),
        "force": True,
        "no_samples": True,
        "allow_failures": True,
        "rng": 3,
        "n_jobs": 2,
        "engine": "dask://host:8786",
        "json": True,
        "quiet": True,
    }
    assert set(chosen) == {param.name for param in clustrep.commands["run"].params} - {"config"}


def test_the_command_line_wins_over_the_file(folder, chosen):
    (folder / "all.toml").write_text(EVERY_OPTION)
    invoke(
        "run", *PAIR, "--config", "all.toml", "--k", "5", "--clusterer", "gmm", "--seed", "0", "--header",
        "--figures", "none", "--features", "mine.txt", "--null", "none", "--scale", "none",
    )  # fmt: skip
    assert chosen["studies"] == (Path("alpha.csv"), Path("beta.csv"))
    assert (chosen["n_clusters"], chosen["clusterer"], chosen["rng"], chosen["header"]) == ((5,), ("gmm",), 0, True)
    assert (chosen["figures"], chosen["features"]) == (("none",), Path("mine.txt"))
    assert (chosen["null"], chosen["scale"], chosen["n_resamples"]) == ("none", "none", 7)


@pytest.mark.parametrize(
    ("line", "arguments"), [("label = false", ["--label", "subtype"]), ('label = "gene1"', ["--no-label"])]
)
def test_the_command_line_wins_over_the_files_label(line, arguments, folder):
    (folder / "some.toml").write_text(line)
    for name in ("c.csv", "d.csv"):
        frame = pd.read_csv("alpha.csv", index_col=0)
        (frame.drop(columns="subtype") if arguments == ["--no-label"] else frame).to_csv(name)
    result = CliRunner().invoke(
        clustrep, ["run", "c.csv", "d.csv", "--config", "some.toml", *arguments, "--k", "3", *SMALL, *NO_NULL]
    )
    assert result.exit_code == 0, result.stderr


def test_label_false_is_no_label(folder, frames):
    for name in PAIR:
        frame = frames[name[:-4]]
        frame.assign(subtype=frame["subtype"].map({"A": 0, "B": 1, "C": 2})).to_csv(folder / name)
    arguments = ["run", *PAIR, "--k", "3", *SMALL, *NO_NULL]
    assert "--no-label" in invoke(*arguments, code=3).stderr
    invoke(*arguments, "--no-label", "--out", "one")
    assert tomllib.loads(Path("one/config.toml").read_text())["label"] is False
    invoke("run", "--config", "one/config.toml", "--jobs", "1", "--out", "two")
    assert contents(folder / "one") == contents(folder / "two")
    assert cr.load("one/result.npz").provenance["studies"]["alpha"]["features"] == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("resampels = 3", "some.toml sets 'resampels', which is no option. Did you mean 'resamples'?"),
        ("null_colections = 3", "Did you mean 'null_collections'?"),
        ('config = "more.toml"', "some.toml sets 'config', which is no option."),
        ('command = "stability"', "some.toml is for `clustrep stability`, not for `clustrep run`."),
        ("k = ", "some.toml is not TOML: Invalid value"),
        ("\udcff", "some.toml is not text in UTF-8: save it again with that encoding."),
        ("[k]\na = 1", "some.toml: 'k' is a table, but an option is a value or a list."),
        ("null-collections = 3", "some.toml: 'null-collections': 3 is not in the range x>=19."),
        (
            'scale = "minmax"',
            "some.toml: 'scale': 'minmax' is not one of 'auto', 'none', 'pooled', 'study', 'reference=NAME'.",
        ),
        ("k = 1", "some.toml: 'k': '1': write numbers of clusters from 2 to 1,000"),
        ("made = 3", "some.toml: the table [made] is damaged, because 'versions' in it must be a table of texts,"),
        ("[made]\nversions = 3\n[made.data]", "'versions' in it must be a table of texts, got 3: delete [made],"),
        ("[made]\ndata = []\n[made.versions]", "'data' in it must be a table of texts, got []: delete [made],"),
        ("[made.versions]\n[made.data]\nalpha = 3", "'data' in it must be a table of texts, got {'alpha': 3}:"),
        ("[made.data]", "'versions' in it must be a table of texts, got None:"),
    ],
)
def test_a_file_of_options_that_is_wrong_gets_its_sentence(text, sentence, folder):
    (folder / "some.toml").write_bytes(text.encode(errors="surrogateescape"))
    done = invoke(*RUN[:3], "--config", "some.toml", code=2)
    assert sentence in " ".join(done.stderr.split())
    assert not Path("clustrep-results").exists()


def test_a_file_of_options_that_is_not_there(folder):
    done = invoke(*RUN, "--config", "none.toml", code=2)
    assert "none.toml can't be read: No such file or directory. Name another file" in done.stderr


@pytest.mark.parametrize("line", ["resamples = 4.5", "seed = true", "label = true", "features = 3", "out = 3"])
def test_a_value_of_the_wrong_type_is_named(line, folder, chosen):
    (folder / "some.toml").write_text(line)
    result = CliRunner().invoke(clustrep, ["run", *PAIR, "--config", "some.toml"])
    assert result.exit_code == 2, result.stderr
    assert line.split()[0] in result.stderr


@pytest.mark.parametrize("line", ['clusterer = "gmm"', 'transpose-only = "alpha"'])
def test_one_value_needs_no_list(line, folder, chosen):
    (folder / "some.toml").write_text(line)
    result = CliRunner().invoke(clustrep, ["run", *PAIR, "--config", "some.toml"])
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("inspect", 'studies = ["alpha.csv", "beta.csv"]\nlabel = "subtype"\n', "known labels A, B, C"),
        ("report", 'format = "markdown"\n', "# Which clusters replicate across studies"),
    ],
)
def test_options_of_every_command_may_stand_in_a_file(command, text, told, folder):
    invoke(*RUN, "--out", "out")
    Path("some.toml").write_text(text)
    arguments = ["out"] if command == "report" else []
    assert told in invoke(command, *arguments, "--config", "some.toml").stdout
