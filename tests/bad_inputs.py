"""Bad inputs: the tables, runs and results that they are made of, and what their sentences must be like."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from tests.sentences import check_snapshot

import clustrep as cr
from clustrep.errors import ClustrepError

RNG = np.random.default_rng(11)
X = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + RNG.normal(size=(12, 3))
Y = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + RNG.normal(size=(12, 3))
F = pd.DataFrame(X, columns=list("abc"), index=[f"s{i}" for i in range(12)])
G = pd.DataFrame(Y, columns=list("abc"), index=[f"t{i}" for i in range(12)])
HALVES = [0] * 6 + [1] * 6
HOLES = X.copy()
HOLES[3, 1] = HOLES[7, 0] = HOLES[7, 2] = np.nan
MASKED = np.ma.array(X, mask=np.isnan(HOLES))
RAGGED = [[1.0, 2.0, 3.0], [4.0]]
TABLE_FILE = "id,a,b\ns1,0.5,1.5\ns2,2.5,3.5\ns3,4.5,5.5\n"

# What no colleague would say: words of NumPy and Python, advice that is not for the user, and broken grammar.
UNKIND = re.compile(
    r"np\.\w+\(|dtype|<U\d|__init__\(|allow_pickle|has no attribute|inhomogeneous|positional argument|context manager"
    r"|array of \(\)|could not convert|UFunc|labels( of study '\w+')? (has|is) |\b1 (are|cells|fields) "
    r"|\bthere are None"
)


def check_sentence(sentence: str) -> None:
    first_line = sentence.split("\n")[0]
    assert first_line.endswith((".", "?")), f"not a sentence: {sentence}"
    assert not UNKIND.search(sentence), f"unkind: {sentence}"


class Bad(NamedTuple):
    """A call that is refused: where it stands in tests/sentences.md, and which error comes."""

    heading: str
    name: str
    call: Callable[..., object]
    error: type[ClustrepError]
    parameter: str | None = None


def case(name, call, error, parameter=None):
    return name, call, error, parameter


def under_their_headings(tables):
    return [pytest.param(Bad(where, *row), id=f"{where}: {row[0]}") for where, rows in tables.items() for row in rows]


def check_refusal(bad, folder=None):
    """Check the type and the parameter of an error, and that its sentence is the one of the file."""
    with pytest.raises(bad.error) as caught:
        bad.call() if folder is None else bad.call(folder)
    assert getattr(caught.value, "parameter", None) == bad.parameter
    sentence = str(caught.value)
    check_sentence(sentence)
    check_snapshot(bad.heading, bad.name, sentence, folder)


@functools.cache
def studies():
    return cr.Studies({"alpha": F, "beta": G})


QUICK = {"n_resamples": 2, "rng": 0}
K_MEANS = KMeans(2, n_init=1)


def run(clusterer=K_MEANS, given=None, **options):
    return cr.replicability(clusterer, studies() if given is None else given, **{**QUICK, **options})


def run_compare(clusterers=K_MEANS, given=None, **options):
    return cr.compare(clusterers, studies() if given is None else given, **{**QUICK, **options})


def run_local(clusterer=K_MEANS, **options):
    return cr.local_replicability(
        clusterer, **{"train": studies()["alpha"], "test": studies()["beta"], **QUICK, **options}
    )


@functools.cache
def result():
    return run()


@functools.cache
def comparison():
    return run_compare({"k-means": KMeans(n_init=1), "density": DBSCAN(eps=3)}, n_clusters=[2, 3])


@functools.cache
def local():
    return run_local()


def put(path, content):
    path.write_bytes(content)
    return path
