"""What several test modules share."""

from __future__ import annotations

from functools import wraps

import joblib
import numpy as np

import clustrep as cr
from clustrep.files.archives import seal


def configured(function, **options):
    """Return the function as it is under `config_context(**options)`."""

    @wraps(function)
    def call(*args, **kwargs):
        with cr.config_context(**options):
            return function(*args, **kwargs)

    return call


def by_two(backend="loky"):
    """Ask joblib for two workers, which it starts however short a run is."""
    return joblib.parallel_config(backend=backend, n_jobs=2)


def write_archive(path, **arrays):
    """Write any arrays, also objects, as a file that has the checksum of a result."""
    np.savez(path, **arrays)
    with open(path, "r+b") as stream:
        seal(stream)
    return path
