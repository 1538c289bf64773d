"""Small tables that the tests of studies share."""

from __future__ import annotations

import numpy as np
import pandas as pd

import clustrep as cr

X = np.random.default_rng(3).normal(size=(8, 3))
Y = np.random.default_rng(4).normal(size=(6, 3))
CLASSES = np.array([1, 2] * 4)


def frame(values=X, columns=("a", "b", "c"), prefix="x"):
    return pd.DataFrame(values, columns=list(columns), index=[f"{prefix}{i}" for i in range(len(values))])


def two_studies(**options):
    return cr.Studies({"one": frame(X, "abc", "x"), "two": frame(Y, "abc", "y")}, **options)
