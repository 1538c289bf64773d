"""Known clusters are matched and nothing else: samples keep the labels that were given."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from clustrep import Studies, match_clusters
from clustrep.errors import DataWarning


@pytest.mark.parametrize("n_studies", [2, 3])
@pytest.mark.parametrize("shift", [0, 4])
def test_given_labels_are_never_joined(n_studies, shift):
    rng = np.random.default_rng(n_studies)
    kinds = np.repeat([0, 1, 2, 3], 30)
    centres = np.array([[0.0, 0], [1.5, 0], [9, 0], [4, 8]])  # the first two overlap
    studies = {f"s{s}": centres[kinds] + rng.normal(size=(120, 2)) + shift * s for s in range(n_studies)}
    findings = match_clusters(studies, dict.fromkeys(studies, kinds), rng=0)
    assert findings.n_clusters == 4
    for labels in findings.labels.values():
        assert pd.crosstab(labels, kinds).astype(bool).to_numpy().sum() == 4
    assert (findings.counts == 30).all()


def test_a_label_that_a_study_lacks_is_not_found_there():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0], [9, 0], [4, 8]])
    kinds = {"one": np.repeat([0, 1, 2], 30), "other": np.repeat([0, 1, 2], 30), "without": np.repeat([0, 1], 40)}
    studies = {name: centres[of_study] + rng.normal(size=(len(of_study), 2)) for name, of_study in kinds.items()}
    assert (match_clusters(studies, kinds, rng=0).statuses()["without"] == "not found").sum() == 1


def test_raw_counts_are_warned_of_with_known_labels():
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 40)
    genes = rng.gamma(0.5, 10, size=(2, 40))
    tables = {name: rng.poisson(genes[kinds] * rng.lognormal(0, 1, size=(80, 1))).astype(float) for name in ("a", "b")}
    with pytest.warns(DataWarning) as caught:
        match_clusters(tables, dict.fromkeys(tables, kinds), rng=0)
    assert len([warning for warning in caught if "normalise" in str(warning.message)]) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        match_clusters(Studies(tables, normalise="log1p"), dict.fromkeys(tables, kinds), rng=0)
