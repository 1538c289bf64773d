"""Files: CSV, GEO, Parquet, h5ad, Zarr, Excel and R; configurations."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from click.testing import CliRunner

import clustrep as cr
from clustrep.cli.program import clustrep
from clustrep.data.readers import h5ad as h5ad_reader
from fuzz.corpus import CORPUS, Corpus, rng_of
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


def read(path: Path, **settings: Any) -> cr.Studies:
    """Read a study, and look at what was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        studies = cr.Studies.read(path, **settings)
        repr(studies)
        for study in studies.values():
            assert study.X.shape == (len(study.samples), len(study.features))
            assert np.isfinite(study.X).all()
    return studies


def file_target(
    name: str,
    sizes: tuple[int, int],
    seeds: Callable[[Path], list[bytes]],
    change: Callable[[bytes, Rng], bytes],
    attempt: Callable[[bytes, Rng, Path], None],
) -> Target:
    """Make a target of files: those it begins with, how they are changed, and how one is read."""

    def prepare(folder: Path, *, keep: bool = False) -> Corpus:
        return Corpus(seeds(folder), CORPUS / name if keep else None)

    def attempt_case(rng: Rng, folder: Path, corpus: Corpus) -> None:
        content = change(choice(corpus.contents, rng), rng)
        corpus.watch(content, partial(attempt_file, content, folder))

    def attempt_file(content: bytes, folder: Path) -> None:
        attempt(content, rng_of(content), folder)

    return Target(name, *sizes, prepare, attempt_case, seconds=60, attempt_file=attempt_file)


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


def attempt_text(content: bytes, rng: Rng, folder: Path) -> None:
    """Read a text; what was read are numbers that stand in it."""
    path = folder / "input.csv"
    path.write_bytes(content)
    studies = read(path, **(settings := options(rng)))
    try:
        text = content.decode()
    except UnicodeDecodeError:  # packed, or in another encoding
        return
    if settings.get("scale", "none") == "none":
        there = set(_numbers_in(text))
        assert all(there.issuperset(study.X.ravel().tolist()) for study in studies.values()), "numbers not in the file"


def _numbers_in(text: str) -> Iterator[float]:
    """Find all numbers in a text, with points or decimal commas."""
    for words in re.split(r"""[;\t\s"'\0]+""", text):
        for word in [words.replace(",", "."), *words.split(",")]:
            with contextlib.suppress(ValueError):
                yield float(word)


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


def change_some_bits(content: bytes, rng: Rng) -> bytes:
    """Flip bits more often than anything else: most other changes are noticed at once."""
    return flipped(content, rng) if rng.random() < 0.8 else mutated(content, rng)


def attempt_parquet(content: bytes, rng: Rng, folder: Path) -> None:
    """Read a Parquet file."""
    path = folder / "input.parquet"
    path.write_bytes(content)
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


def attempt_h5ad(content: bytes, rng: Rng, folder: Path) -> None:
    """Read an h5ad file."""
    path = folder / "input.h5ad"
    path.write_bytes(content)
    read_cells(path, rng)


def read_cells(path: Path, rng: Rng) -> None:
    """Read cells, as one study or divided."""
    read(
        path,
        study_key=choice([None, "donor"], rng),
        rep=choice([None, None, "X_pca"], rng),
        label=choice([None, "type"], rng),
    )


def stores(folder: Path) -> list[bytes]:
    """Return Zarr stores, as zip files."""
    import anndata

    contents = []
    for i, content in enumerate(cells(folder)[::2]):
        (folder / "cells.h5ad").write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            anndata.read_h5ad(folder / "cells.h5ad").write_zarr(folder / f"store{i}")
        contents.append(Path(shutil.make_archive(str(folder / "store"), "zip", folder / f"store{i}")).read_bytes())
    return contents


def member_changed(content: bytes, rng: Rng) -> bytes:
    """Change one file in a zip file, and pack it again, so that its checksum is right."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        names = [name for name in dict.fromkeys(old.namelist()) if not name.endswith("/")]
        chosen = choice(names, rng)
        for name in names:
            inside = old.read(name)
            new.writestr(name, change_some_bits(inside, rng) if name == chosen and inside else inside)
    return stream.getvalue()


def attempt_zarr(content: bytes, rng: Rng, folder: Path) -> None:
    """Read a Zarr store."""
    path = folder / "input.zarr"
    shutil.rmtree(path, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(path)
    read_cells(path, rng)


# ---------------------------------------------------------------------------------------------------------------------
# Excel and R


def workbooks(folder: Path) -> list[bytes]:
    """Return workbooks with one sheet and with two."""
    typed = FRAME.assign(type=TYPES)
    contents = []
    for sheets in ({"A": FRAME}, {"A": typed}, {"A": typed, "B": FRAME}):
        with pd.ExcelWriter(folder / "book.xlsx", engine="openpyxl") as writer:
            for name, frame in sheets.items():
                frame.to_excel(writer, sheet_name=name, index_label="id")
        contents.append((folder / "book.xlsx").read_bytes())
    return contents


def change_workbook(content: bytes, rng: Rng) -> bytes:
    """Change what is packed, mostly; else the file as it is."""
    try:
        return member_changed(content, rng) if rng.random() < 0.8 else flipped(content, rng)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError, EOFError):  # of a kept file
        return mutated(content, rng)


def attempt_xlsx(content: bytes, rng: Rng, folder: Path) -> None:
    """Read a workbook, or a sheet of it."""
    path = folder / "input.xlsx"
    path.write_bytes(content)
    read(Path(f"{path}{choice(['', '', ':A', ':B'], rng)}"), **options(rng))


def r_files(folder: Path) -> list[bytes]:
    """Return files of R, not packed."""
    import rdata

    typed = FRAME.assign(type=TYPES)
    rdata.write_rda(folder / "one.rda", {"x": typed}, compression=None)
    rdata.write_rda(folder / "two.rda", {"a": FRAME, "b": typed}, compression=None)
    rdata.write_rds(folder / "three.rds", X, compression=None)
    return [(folder / name).read_bytes() for name in ("one.rda", "two.rda", "three.rds")]


def attempt_rda(content: bytes, rng: Rng, folder: Path) -> None:
    """Read a file of R, packed or not: the checksum of a packed one is right."""
    path = folder / "input.rda"
    path.write_bytes(gzip.compress(content) if rng.random() < 0.5 else content)
    read(path, **options(rng, header=[None]), study_key=choice([None, None, "type"], rng))


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
    file_target("csv", (4000, 400), texts, mutated, attempt_text),
    file_target("geo", (2000, 200), series, mutated, attempt_text),
    file_target("parquet", (2000, 150), parquets, change_some_bits, attempt_parquet),
    file_target("h5ad", (2000, 60), cells, flipped, attempt_h5ad),
    file_target("zarr", (1000, 30), stores, member_changed, attempt_zarr),
    file_target("xlsx", (2000, 100), workbooks, change_workbook, attempt_xlsx),
    file_target("rda", (2000, 100), r_files, change_some_bits, attempt_rda),
    Target("toml", 600, 40, configurations, attempt_toml),
)
