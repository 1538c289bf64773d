"""Files as people have them, each with a table that is known: read right, refused with a sentence, or wrong.

    python -m fuzz.files --write docs/files.md

Every row of the table is tried with five different tables.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import clustrep as cr
from clustrep.errors import ClustrepError
from fuzz.run import put_table

BEGIN, END = "<!-- files: begin -->", "<!-- files: end -->"
N_TABLES = 5
Write = Callable[[pd.DataFrame, Path], None]
HALVES = ("Oslo", "Bergen")


def packed(compress: Callable[[bytes], bytes]) -> Write:
    """Write a packed table, whose name does not tell."""
    return lambda frame, path: path.write_bytes(compress(frame.to_csv(index_label="sample").encode())) and None


def zipped(frame: pd.DataFrame, path: Path) -> None:
    """Write a table into a zip file."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", frame.to_csv(index_label="sample"))


def with_comment(frame: pd.DataFrame, path: Path) -> None:
    """Put a line that begins with # among the samples."""
    lines = frame.to_csv(index_label="sample").splitlines()
    path.write_text("\n".join([*lines[:9], "#" + lines[9], *lines[10:]]) + "\n")


def text(**how: Any) -> Write:
    """Write delimited text."""
    return lambda frame, path: frame.to_csv(path, index_label="sample", **how)


def changed(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Write:
    """Write a changed table."""
    return lambda frame, path: change(frame).to_csv(path, index_label="sample")


def with_cell(value: float) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Put a value into two cells of a feature."""
    return lambda frame: frame.assign(b=frame.b.where(~frame.index.isin(frame.index[[3, 7]]), value))


def far(frame: pd.DataFrame) -> pd.DataFrame:
    """Move one cell by 18 standard deviations."""
    return frame.assign(c=frame.c + 18 * frame.c.std() * (np.arange(len(frame)) == 5))


def again(frame: pd.DataFrame) -> pd.DataFrame:
    """Write all samples again in reversed order and under other names, as a second study."""
    copy = frame[::-1].set_axis([f"KIU_{i}" for i in range(len(frame))])
    return pd.concat([frame.assign(site="a"), copy.assign(site="b")])


def sites(frame: pd.DataFrame) -> pd.DataFrame:
    """Say which site a sample comes from."""
    return frame.assign(site=np.where(np.arange(len(frame)) % 2, *reversed(HALVES)))


# The kind, how it is written, options, and what is right: "read", "refused", or the kind of note that names the fault.
KINDS: tuple[tuple[str, Write, dict[str, Any], str], ...] = (
    ("CSV", text(), {}, "read"),
    ("semicolons and decimal commas", text(sep=";", decimal=","), {}, "read"),
    ("UTF-16 with tabs", text(sep="\t", encoding="utf-16"), {}, "read"),
    ("gzip, without its ending", packed(gzip.compress), {}, "read"),
    ("xz, without its ending", packed(lzma.compress), {}, "read"),
    ("zip", zipped, {}, "read"),
    ("Excel", lambda frame, path: frame.to_excel(path, index_label="sample", engine="openpyxl"), {}, "read"),
    ("Parquet", lambda frame, path: frame.to_parquet(path), {}, "read"),
    ("one long table with a column of studies", changed(sites), {"study_key": "site"}, "read"),
    ("text that is no feature", changed(sites), {}, "refused"),
    ("a feature twice", changed(lambda frame: frame.set_axis([*"abca"], axis=1)), {}, "refused"),
    ("a feature twice, the first taken", changed(lambda frame: frame.assign(e=1).set_axis([*"abcda"], axis=1)),
     {"duplicates": "first"}, "read"),
    ("a line with # among the samples", with_comment, {}, "refused"),
    ("−999 for missing values", changed(with_cell(-999.0)), {}, "sentinel values"),
    ("a cell 18 sd away", changed(far), {}, "extreme values"),
    ("a constant feature", changed(lambda frame: frame.assign(d=3.5)), {}, "constant features"),
    ("codes of categories", changed(lambda frame: frame.assign(d=np.arange(len(frame)) % 4 + 1)), {}, "codes"),
    ("a study of 8 samples", changed(lambda frame: frame[:8]), {}, "small study"),
    ("a study again, reversed, other names", changed(again), {"study_key": "site"}, "duplicated study"),
)  # fmt: skip


def outcome(frame: pd.DataFrame, write: Write, options: dict[str, Any], expected: str, path: Path) -> str:
    """Say whether a file is read right, refused, or neither."""
    write(frame, path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            studies = cr.Studies.read(path, label=False, **options)
    except ClustrepError:
        return "refused" if expected == "refused" else "wrong"
    if expected == "refused":
        return "wrong"
    if expected != "read":
        return "right" if expected in {note.kind for note in studies.comparability().notes} else "wrong"
    read = pd.concat([study.to_frame() for study in studies.values()]).loc[frame.index, list(frame.columns)]
    return "right" if np.allclose(read, frame, rtol=1e-12, atol=0) else "wrong"


def main() -> int:
    """Try all kinds, and print the table; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.files", description="Files as people have them.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table to a page, too")
    rows = []
    for kind, write, options, expected in KINDS:
        said = []
        for seed in range(N_TABLES):
            X = np.random.default_rng(seed).normal(5, 2, size=(60, 4))
            frame = pd.DataFrame(X, [f"s{i}" for i in range(60)], list("abcd"))
            with tempfile.TemporaryDirectory() as folder:
                suffix = {"Excel": ".xlsx", "Parquet": ".parquet"}.get(kind, ".csv")
                said.append(outcome(frame, write, options, expected, Path(folder, f"input{suffix}")))
        rows.append([kind, *(str(n) for n in (len(said), *map(said.count, ("right", "refused", "wrong"))))])
        print(f"{kind:<42}" + "".join(f"{number:>9}" for number in rows[-1][1:]), flush=True)
    if page := parser.parse_args().write:
        put_table(page, BEGIN, END, ["kind of file or fault", "tried", "right", "refused", "wrong"], rows)
    return int(any(row[-1] != "0" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
