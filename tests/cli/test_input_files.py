"""Files of all kinds are read as the same studies."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path

from click.testing import CliRunner
from tests.cli.support import ASK, PAIR, READING, RUN, contents, invoke

import clustrep as cr
from clustrep.cli.clusterer_names import clusterer_of
from clustrep.cli.program import clustrep


def scores(*arguments, out):
    invoke("run", *arguments, *ASK, "--out", out)
    return Path(out, "scores.csv").read_bytes()


def test_other_ways_to_write_a_table_give_the_same_scores(folder, frames):
    plain = scores(*PAIR, *READING, out="plain")
    for name in ("alpha", "beta"):
        for kind in ("gz", "tsv", "turned", "bare", "half"):
            (folder / kind).mkdir(exist_ok=True)
        frame, values = frames[name], frames[name].drop(columns="subtype")
        (folder / "gz" / f"{name}.csv.gz").write_bytes(gzip.compress(frame.to_csv().encode()))
        frame.to_csv(folder / "tsv" / f"{name}.tsv", sep="\t")
        values.T.to_csv(folder / "turned" / f"{name}.csv")
        values.to_csv(folder / "bare" / f"{name}.csv", header=False, index=False)
        (values.T if name == "beta" else values).to_csv(folder / "half" / f"{name}.csv")
    assert scores("gz/alpha.csv.gz", "gz/beta.csv.gz", *READING, out="o1") == plain
    assert scores("tsv/alpha.tsv", "tsv/beta.tsv", *READING, out="o2") == plain
    assert scores("turned/alpha.csv", "turned/beta.csv", "--transpose", out="o3") == plain
    assert scores("bare/alpha.csv", "bare/beta.csv", "--no-header", out="o4") == plain
    assert scores("half/alpha.csv", "half/beta.csv", "--transpose-only", "beta", out="o5") == plain
    for out in ("o3", "o5"):
        invoke("run", "--config", f"{out}/config.toml", "--out", f"{out}-again", "--jobs", "1")
        assert contents(folder / out) == contents(folder / f"{out}-again")


def test_series_matrices_of_geo_are_studies(folder, frames):
    plain = scores(*PAIR, *READING, out="plain")
    for name in ("alpha", "beta"):
        frame = frames[name]
        told = "\t".join(f'"subtype: {label}"' for label in frame["subtype"])
        lines = [
            '!Series_title\t"some"',
            "!Sample_geo_accession\t" + "\t".join(f'"{sample}"' for sample in frame.index),
            f"!Sample_characteristics_ch1\t{told}",
            "!series_matrix_table_begin",
            *frame.drop(columns="subtype").T.to_csv(sep="\t", index_label="ID_REF").splitlines(),
            "!series_matrix_table_end",
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    assert scores("alpha.txt", "beta.txt", *READING, out="geo") == plain
    assert cr.load("geo/result.npz").known_labels_of("alpha") is not None


def test_scaling_and_selecting_happen_in_each_study(folder):
    (folder / "genes.txt").write_text("\ufeff# mine\ngene3\n\ngene1\ngene3\n", encoding="utf-8")
    done = invoke(*RUN, "--scale", "study", "--features", "genes.txt", "--k", "3")
    assert done.stderr.startswith("Studies: 2 studies, 2 shared features")
    studies = cr.Studies.read(*PAIR, label="subtype").select(["gene3", "gene1"]).scaled("study")
    analysis = cr.analyse(
        {"ward": clusterer_of("ward")}, studies, n_clusters=[3], n_resamples=4, n_null=0, rng=0, scale="none"
    )
    assert Path("clustrep-results/scores.csv").read_text() == analysis.scores().to_csv(index=False)


def test_standard_input_is_a_study_and_is_written_as_such(folder):
    packed = gzip.compress((folder / "alpha.csv").read_bytes())
    (folder / "stdin.csv").write_bytes(packed)
    named, piped = (
        CliRunner().invoke(clustrep, ["run", first, "beta.csv", *READING, *ASK, "--out", out], input=packed)
        for first, out in (("stdin.csv", "named"), ("-", "piped"))
    )
    assert named.exit_code == piped.exit_code == 0, piped.output
    assert Path("piped/scores.csv").read_bytes() == Path("named/scores.csv").read_bytes()
    assert tomllib.loads(Path("piped/config.toml").read_text())["studies"] == ["-", "../beta.csv"]
    again = CliRunner().invoke(clustrep, ["run", "--config", "piped/config.toml", "--out", "again"], input=packed)
    assert again.exit_code == 0, again.output
    assert contents(folder / "again") == contents(folder / "piped")


def test_standard_input_is_one_study():
    refused = CliRunner().invoke(clustrep, ["inspect", "-", "-"], input="x")
    assert refused.exit_code == 2
    assert "name it once" in refused.stderr


def test_options_about_files_reach_the_readers(folder, frames):
    frame = frames["alpha"]
    twice = frame.assign(again=frame["gene1"] + 2).rename(columns={"again": "gene1"})
    (folder / "twice.csv").write_bytes(twice.to_csv().encode())
    invoke("inspect", "twice.csv", "beta.csv", *READING, code=3)
    read = json.loads(invoke("inspect", "twice.csv", "beta.csv", *READING, "--duplicates", "mean", "--json").stdout)
    assert read["shared"]["features"] == frame.shape[1] - 1
