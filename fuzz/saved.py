"""Saved results: damaged, and put together by hand."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.files.archives import seal
from fuzz.mutation import choice, flipped, mutated
from fuzz.target import Rng, Target

ODD_VALUES = [None, True, -1, 0.5, "x", "\x1b[2J", [], {}, [[]], 10**30, ["a"] * 9, {"kind": "Replicability"}]
ODD_ARRAYS = [np.zeros(0), np.zeros((2, 2)), np.full((3, 2, 2), np.nan), np.array("x"), np.array([True]), np.arange(5)]


def results(folder: Path) -> list[bytes]:
    """Save results of several kinds."""
    rng = np.random.default_rng(0)
    studies = [np.r_[rng.normal(size=(10, 2)), rng.normal(4, 1, size=(10, 2))] for _ in range(2)]
    ward = AgglomerativeClustering(2)
    computed = [
        cr.replicability(ward, studies, n_resamples=3, rng=0),
        cr.compare({"ward": ward}, studies, n_clusters=[2, 3], n_resamples=2, rng=0),
        cr.local_replicability(ward, train=studies[0], test=studies[1], n_resamples=2, rng=0),
        cr.stability.stability(ward, studies[0], n_resamples=3, rng=0),
        cr.stability.cluster_test(studies[0], n_resamples=19, rng=0),
    ]
    contents = []
    for result in computed:
        result.save(folder / "result.npz")
        contents.append((folder / "result.npz").read_bytes())
    return contents


def attempt_saved(rng: Rng, folder: Path, contents: list[bytes]) -> None:
    """Load a file with flipped bits, or with another header or array, and write what was loaded."""
    content = choice(contents, rng)
    ways = [flipped, flipped, mutated, _rewritten]
    path = folder / "result.npz"
    path.write_bytes(choice(ways, rng)(content, rng))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cr.load(path)
        if hasattr(result, "to_frame"):
            result.to_frame()


def _rewritten(content: bytes, rng: Rng) -> bytes:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays["clustrep"]))
    if rng.random() < 0.5:
        _change(header, rng)
        arrays["clustrep"] = np.array(json.dumps(header))
    else:
        arrays[choice(sorted(arrays), rng)] = choice(ODD_ARRAYS, rng)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    seal(stream)  # as whoever puts a file together would
    return stream.getvalue()


def _change(header: Any, rng: Rng) -> None:
    """Change, remove or add one entry, at any depth."""
    key = choice(sorted(header), rng)
    if isinstance(header[key], dict) and header[key] and rng.random() < 0.8:
        _change(header[key], rng)
    elif rng.random() < 0.2:
        del header[key]
    else:
        header[key] = choice(ODD_VALUES, rng)


TARGETS = (Target("saved", 2500, 250, results, attempt_saved),)
