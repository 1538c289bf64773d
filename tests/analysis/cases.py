"""Options and comparisons of fields that several tests of the whole analysis share."""

from __future__ import annotations

import dataclasses

import numpy as np
from sklearn.cluster import AgglomerativeClustering

WARD = AgglomerativeClustering()
OPTIONS = {"n_resamples": 6, "rng": 3}


def fields(result):
    return {one.name: getattr(result, one.name) for one in dataclasses.fields(result) if not one.name.startswith("_")}


def assert_same(one, other, but=()):
    """Bit for bit, results within results, too."""
    assert type(one) is type(other)
    for name, value in fields(one).items():
        again = getattr(other, name)
        if name in but:
            continue
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (again.dtype, again.shape), name
            assert value.tobytes() == again.tobytes(), name
        elif dataclasses.is_dataclass(value):
            assert_same(value, again)
        elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            assert len(value) == len(again)
            for mine, yours in zip(value, again, strict=True):
                assert_same(mine, yours)
        else:
            assert value == again or (value != value and again != again), name  # NaN is itself
