"""Files: CSV, GEO, Parquet, h5ad and configurations."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from click.testing import CliRunner

import clustrep as cr
from clustrep.cli.program import clustrep
from clustrep.data.readers import h5ad as h5ad_reader
from fuzz.mutation import choice, flipped, mutated
from fuzz.target import Rng, Target

N, P = 12, 5
X = np.random.default_rng(0).normal(6, 3, size=(N, P)).round(3)
SAMPLES = [f"s{i}" for i in range(N)]
FEATURES = [f"gene{j}" for j in range(P)]
FRAME = pd.DataFrame(X, index=SAMPLES, columns=FEATURES)
TYPES = ["A", "B", "B"] * (N // 3)
OPTIONS = {
    "label": [None, None, False, "type", "3", "gene1", "", "=x"],
    "transpose": [False, False, False, True, "input"],
    "header": [None, None, None, True, False],
    "scale": ["none", "study"],
}


def options(rng: Rng, **more: Any) -> dict[str, Any]:
    """Choose the parameters of `Studies.read`: more often such that the file itself is decisive."""
    if rng.random() < 0.7:
        return {"label": choice([False, "type"], rng)}
    return {name: choice(values, rng) for name, values in {**OPTIONS, **more}.items()}


def read(path: Path, **settings: Any) -> None:
    """Read a study, and look at what was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        studies = cr.Studies.read(path, **settings)
        repr(studies)
        for study in studies.values():
            assert study.X.shape == (len(study.samples), len(study.features))
            assert np.isfinite(study.X).all()


# ---------------------------------------------------------------------------------------------------------------------
# text


def texts(_: Path) -> list[bytes]:
    """Return one table in many dresses."""
    typed = FRAME.assign(type=TYPES)
    plain = [
        FRAME.to_csv(index_label="id"),
        typed.to_csv(index_label="id"),
        typed.to_csv(sep=";", index_label="patient"),
        FRAME.to_csv(sep="\t"),
        FRAME.to_csv(sep=" ", header=FEATURES, index_label=None),
        FRAME.to_csv(index=False, header=False),
        FRAME.T.to_csv(index_label="gene"),
        typed.to_csv(quoting=1, index_label="id"),
        FRAME.round(0).astype(int).to_csv(index=False),
    ]
    raw = [text.encode() for text in plain]
    packed = [pack(raw[1]) for pack in (gzip.compress, bz2.compress, lzma.compress)]
    return [
        *raw,
        plain[1].encode("utf-16"),
        plain[3].encode("utf-8-sig"),
        plain[0].replace("\n", "\r\n").encode(),
        *packed,
    ]


def series(_: Path) -> list[bytes]:
    """Return a GEO series matrix, plain and packed."""
    head = ["!Series_title\tx", "\t".join(["!Sample_geo_accession", *SAMPLES])]
    head += ["\t".join(["!Sample_characteristics_ch1", *(f"type: {kind}" for kind in TYPES)])]
    rows = ["\t".join([name, *map(str, FRAME[name])]) for name in FEATURES]
    lines = [*head, "!series_matrix_table_begin", "\t".join(["ID_REF", *SAMPLES]), *rows, "!series_matrix_table_end\n"]
    text = "\n".join(lines).encode()
    return [text, text, gzip.compress(text)]


def attempt_text(rng: Rng, folder: Path, contents: list[bytes]) -> None:
    """Read a changed text."""
    path = folder / "input.csv"
    path.write_bytes(mutated(choice(contents, rng), rng))
    read(path, **options(rng))


# ---------------------------------------------------------------------------------------------------------------------
# Parquet and h5ad


def parquets(folder: Path) -> list[bytes]:
    """Return Parquet files of several writers' habits."""
    frames = [FRAME, FRAME.assign(type=TYPES), FRAME.reset_index(names="id"), FRAME.reset_index(drop=True)]
    contents = []
    for frame, compression in zip(frames, ["snappy", None, "gzip", "zstd"], strict=True):
        frame.to_parquet(folder / "frame.parquet", compression=compression)
        contents.append((folder / "frame.parquet").read_bytes())
    return contents


def attempt_parquet(rng: Rng, folder: Path, contents: list[bytes]) -> None:
    """Read a Parquet file with flipped bits, or cut off."""
    path = folder / "input.parquet"
    content = choice(contents, rng)
    path.write_bytes(flipped(content, rng) if rng.random() < 0.8 else mutated(content, rng))
    read(path, **options(rng, header=[None]))


def cells(folder: Path) -> list[bytes]:
    """Return h5ad files, dense and sparse."""
    import anndata

    h5ad_reader.SECONDS_AT_MOST = 3  # a file that never ends is refused, and need not be waited for
    obs = pd.DataFrame({"donor": ["a", "b"] * (N // 2), "type": TYPES, "depth": range(N)}, index=SAMPLES)
    contents = []
    few = np.where(X > 6, X, 0)
    for matrix in (X, scipy.sparse.csr_matrix(few), scipy.sparse.csc_matrix(few)):
        for compression in (None, "gzip"):
            adata = anndata.AnnData(matrix, obs, pd.DataFrame(index=FEATURES), obsm={"X_pca": X[:, :2]})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                adata.write_h5ad(folder / "cells.h5ad", compression=compression)
            contents.append((folder / "cells.h5ad").read_bytes())
    return contents


def attempt_h5ad(rng: Rng, folder: Path, contents: list[bytes]) -> None:
    """Read an h5ad file with flipped bits."""
    path = folder / "input.h5ad"
    path.write_bytes(flipped(choice(contents, rng), rng))
    read(
        path,
        study_key=choice([None, "donor"], rng),
        rep=choice([None, None, "X_pca"], rng),
        label=choice([None, "type"], rng),
    )


# ---------------------------------------------------------------------------------------------------------------------
# configurations

KEYS = {
    "studies": ["a.csv", ["a.csv", "b.csv"], [], [1], "", "\0", ["a\0b"]],
    "k": ["2:8", "2,3", 3, [2, 3], "x", "", -1, 10**30, True],
    "seed": [0, -1, 2**70, "0", 1.5, True],
    "label": [False, True, "type", "", 3],
    "clusterer": [
        "kmeans",
        ["ward", "kmeans"],
        "kmeans:",
        "kmeans:n_init=",
        "os.system",
        "x.y",
        "",
        ":",
        "dbscan:eps=[1",
    ],
    "agreement": ["ari", ["ari", "ami"], "x", "", [[]]],
    "resamples": [2, 0, "2", 10**9],
    "features": ["genes.txt", "", 5, "\0"],
    "figures": ["png", "none", "gif", ""],
    "scale": ["none", "log", 1],
    "made": [1, {}, {"data": 3}, {"versions": []}],
    "command": ["run", "inspect", "x", 1],
    "nonsense": [1],
}


def configurations(folder: Path) -> Path:
    """Write studies that configurations name, and a folder that is not to be replaced."""
    for name in ("a", "b"):
        FRAME.rename(index=lambda sample, name=name: f"{name}{sample}").to_csv(folder / f"{name}.csv", index_label="id")
    (folder / "full").mkdir(exist_ok=True)
    (folder / "full" / "mine.txt").write_text("keep")
    return folder


def attempt_toml(rng: Rng, folder: Path, _: Path) -> None:
    """Give a configuration to a command that stops before it computes anything."""
    names = rng.choice(sorted(KEYS), size=int(rng.integers(1, 6)), replace=False)
    text = "".join(f"{name} = {_toml(choice(KEYS[name], rng))}\n" for name in names).encode()
    path = folder / "run.toml"
    path.write_bytes(mutated(text, rng) if rng.random() < 0.5 else text)
    inspecting = ["inspect", str(folder / "a.csv"), "--config", str(path)]
    running = [
        "run",
        str(folder / "a.csv"),
        str(folder / "b.csv"),
        "--out",
        str(folder / "full"),
        "--config",
        str(path),
    ]
    result = CliRunner().invoke(clustrep, inspecting if rng.random() < 0.5 else running)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code in (2, 3):
        raise cr.errors.DataError(result.output[-300:])
    if result.exit_code != 0:
        raise AssertionError(f"exit code {result.exit_code}: {result.output[-300:]}")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


TARGETS = (
    Target("csv", 4000, 400, texts, attempt_text),
    Target("geo", 2000, 200, series, attempt_text),
    Target("toml", 600, 40, configurations, attempt_toml),
    Target("parquet", 2000, 150, parquets, attempt_parquet),
    Target("h5ad", 2000, 60, cells, attempt_h5ad),
)
