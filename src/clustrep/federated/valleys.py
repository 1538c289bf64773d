"""Gaps between the clusters of another site: samples of this one, counted along the lines between centres."""

from __future__ import annotations

import numpy as np

from clustrep.data.study import Study
from clustrep.execution.seeds import FULL_STUDY, Stream, make_generator, seed_of
from clustrep.federated.forms import Form
from clustrep.separation.valleys import gabriel_edges, place_in_windows, spread_ties
from clustrep.types import FloatArray, IntArray


def without_ties(study: Study, root: int) -> FloatArray:
    """Return the samples of a study with ties spread, so that the distance between a feature's own values is no gap."""
    return spread_ties(study.X, make_generator(seed_of(root, Stream.TIES, study.name, FULL_STUDY)))


def gap_counts(X: FloatArray, form: Form, sizes: IntArray) -> tuple[IntArray, IntArray] | None:
    """Count samples around the centres of neighbouring clusters and half-way between them.

    Returns the pairs of clusters, (n_edges, 2), and counts left, middle and right, (n_edges, 3); None where a function
    has no centres.
    """
    centres = form.centres(sizes)
    if centres is None or len(centres) < 2:
        return None
    centres = np.asarray(centres, dtype=float)
    edges = gabriel_edges(centres)
    shares = _shares(form, sizes)
    return edges, place_in_windows(X, centres, edges, shares).members.sum(axis=0)


def _shares(form: Form, sizes: IntArray) -> FloatArray:
    """Return the share of training samples in every cluster."""
    clusters = getattr(form, "clusters", np.arange(form.n_labels))
    by_cluster = np.bincount(clusters, sizes, minlength=form.n_labels)
    return np.asarray(by_cluster / max(by_cluster.sum(), 1))
