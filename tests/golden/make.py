"""Write the golden files: a small result of every kind that can be saved, and the means of its arrays.

    .venv/bin/python -m tests.golden.make

The files are what a released version saved. Write them anew only where `clustrep.files.saved.FORMAT` changes, never to
make a test pass that can't load them.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from tests.federated.sites import Hospitals

import clustrep as cr

FOLDER = Path(__file__).parent
MEANS = FOLDER / "means.json"


def results():
    """Compute one result of every kind; those within an analysis or a combined result have no file of their own."""
    studies = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=30, n_subtypes=2, n_features=3, missing={}, shifted={}, rng=7
    )
    alpha, beta = studies["alpha"], studies["beta"]
    kmeans, two, X = KMeans(n_init=1), KMeans(2, n_init=1), alpha.X
    few, curve = {"n_resamples": 3, "rng": 1}, {"n_clusters": [2, 3], "rng": 1}
    of_one = cr.stability
    with tempfile.TemporaryDirectory() as folder:
        sites = Hospitals(folder, studies.values(), min_cluster_size=3, exact_numbers=True)
        combined = sites.together(sites.agree(kmeans, n_clusters=[2], n_resamples=3))
    analysis = cr.analyse(
        kmeans, studies, n_clusters=[2, 3], n_resamples=3, rng=1, options=cr.RunOptions(recursive=True)
    )
    found = [
        cr.replicability(two, studies, **few),
        cr.null_reference(cr.replicability(two, studies, **few), n=9),
        cr.leave_one_study_out(two, studies, **few),
        cr.local_replicability(two, train=alpha, test=beta, **few),
        analysis,
        analysis.clustering_tree,
        analysis.findings.reference,
        analysis.annotations,
        cr.separation.density_valleys(two, studies, rng=1),
        combined,
        of_one.stability(two, X, **few),
        of_one.sensitivity(two, X, scales=(0.1, 0.5), **few),
        of_one.validate(kmeans, X, n_clusters=[2, 3], **few),
        of_one.prediction_strength(kmeans, X, n_splits=2, **curve),
        of_one.relative_validation(kmeans, X, n_splits=2, **curve),
        of_one.consensus(kmeans, X, n_resamples=3, **curve),
        of_one.bootstrap_instability(kmeans, X, n_resamples=3, **curve),
        of_one.assignment_consistency(kmeans, X, n_resamples=3, **curve),
        of_one.in_group_proportion(X, clusterer=two, train=beta.X, rng=1),
        of_one.cluster_test(X, n_resamples=9, rng=1),
    ]
    return {type(result).__name__: result for result in found}


def public_fields(result):
    """Return the fields that are saved; the others hold the data that a result was computed from."""
    return [field for field in dataclasses.fields(result) if not field.name.startswith("_")]


def kinds_within(result):
    """Return the names of the classes of a result and of all results within it."""
    kinds = {type(result).__name__}
    for field in public_fields(result):
        value = getattr(result, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(part):
                kinds |= kinds_within(part)
    return kinds


def means(result, prefix=""):
    """Return the mean of every array of numbers of a result and of the results within it, by the names of fields."""
    found = {}
    for field in public_fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and np.isfinite(value).any():
            found[prefix + field.name] = float(np.mean(value[np.isfinite(value)]))
        for i, part in enumerate(value if isinstance(value, tuple) else (value,)):
            if dataclasses.is_dataclass(part):
                found |= means(part, f"{prefix}{field.name}.{i}.")
    return found


def main():
    """Write all files."""
    made = results()
    for kind, result in made.items():
        result.save(FOLDER / f"{kind}.npz")
    MEANS.write_text(json.dumps({kind: means(result) for kind, result in made.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
