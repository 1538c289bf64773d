"""Clusterers that need a worker of another machine, or end it; importable there."""

from __future__ import annotations

import _thread
import hashlib
import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin


def fingerprint(X):
    return hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()


class Halves(ClusterMixin, BaseEstimator):
    """Cut at the median of the first feature, as the subclasses do that have something else to do before."""

    def __init__(self, folder="", data="", seconds=0.0):
        self.folder = folder
        self.data = data
        self.seconds = seconds

    def fit_predict(self, X, y=None):
        self.before(X)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    def before(self, X):
        pass


class Noting(Halves):
    """Note what was fitted: one file for each fit, named after the data."""

    def before(self, X):
        time.sleep(self.seconds)
        (Path(self.folder) / fingerprint(X)).touch()


class KillingOnce(Halves):
    """Kill the process of the first fit."""

    def before(self, X):
        try:
            (Path(self.folder) / "killed").touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


class Killing(Halves):
    """Kill the process of any fit to certain data, as long as there is a file."""

    def before(self, X):
        if fingerprint(X) == self.data and (Path(self.folder) / "armed").exists():
            os.kill(os.getpid(), signal.SIGKILL)


class Warner(Halves):
    """Warn at every fit."""

    def before(self, X):
        warnings.warn("odd rows", RuntimeWarning, stacklevel=2)


class Broken(Halves):
    """Raise what is no failure of a replicate."""

    def before(self, X):
        raise MemoryError("no room")


def interrupt_after_first_fit(folder):
    """Interrupt the main thread once `Noting` has noted something in a folder."""
    deadline = time.monotonic() + 120
    while not any(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    _thread.interrupt_main()
