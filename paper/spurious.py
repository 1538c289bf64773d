"""What appendix C's experiments share: data, and which clusters are no groups."""

from __future__ import annotations

from typing import Any

import numpy as np

import clustrep as cr
from clustrep import datasets
from paper.verdicts import SPURIOUS

GROUPS = {"aggregation": 7, "compound": 6, "r15": 15}


def load_shapes() -> dict[str, cr.Study]:
    """Load the three data sets, two coordinates each."""
    return {name: datasets.load_shape(name) for name in GROUPS}


def with_class(study: cr.Study) -> cr.Study:
    """Leave the class in as a feature."""
    return cr.Study(np.column_stack([study.X, np.asarray(study.labels, dtype=float)]), study.name, label=False)


def is_spurious(labels: Any, truth: Any) -> Any:
    """Say for each cluster whether it is no group, in the order of the labels."""
    return cr.agreement.jaccard(labels, truth) <= SPURIOUS


def share_of_pairs(badness: list[Any], spurious: list[Any]) -> float:
    """How often a spurious cluster is worse than a real one of the same k, ties half; 0.5 by chance.

    For every k: how bad each cluster is, and whether it is spurious.
    """
    pairs = [
        np.sign(values[flags][:, None] - values[~flags][None]).ravel()
        for values, flags in zip(badness, spurious, strict=True)
    ]
    return float(np.nanmean(np.concatenate(pairs)) / 2 + 0.5)
