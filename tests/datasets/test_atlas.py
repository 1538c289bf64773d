"""The simulated atlas: its contents, and verdicts on it that are right cell type by cell type."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.errors import ParameterError

SEPARATED = {"T cell", "B cell", "monocyte", "NK cell"}
CONTINUUM = {"progenitor", "mature"}


def test_labs_have_types_donors_and_platforms():
    studies = cr.datasets.simulate_atlas(n_cells=120, n_donors=2, rng=0)
    assert studies.names == ("lab 1", "lab 2", "lab 3", "lab 4")
    assert set(studies["lab 1"].labels) == SEPARATED | CONTINUUM
    assert set(studies["lab 2"].labels) == (SEPARATED - {"NK cell"}) | CONTINUUM
    assert set(studies["lab 3"].labels) == (SEPARATED - {"B cell"}) | CONTINUUM
    assert [study.groups["platform"][0] for study in studies.values()] == ["droplet", "plate"] * 2
    donors = [set(study.groups["donor"]) for study in studies.values()]
    assert [len(each) for each in donors] == [2, 2, 2, 2]
    assert len(set.union(*donors)) == 8


def test_it_holds_counts_of_different_depths():
    studies = cr.datasets.simulate_atlas(rng=1)
    totals = [np.median(study.X.sum(axis=1)) for study in studies.values()]
    for study in studies.values():
        np.testing.assert_array_equal(study.X, np.rint(study.X))
    assert totals[1] / totals[0] == pytest.approx(2, rel=0.1)


def test_the_seed_decides():
    first, again, other = (cr.datasets.simulate_atlas(n_cells=50, rng=seed)["lab 2"].X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_verdicts_are_right_cell_type_by_cell_type():
    """Types are found where they are, and not found where they are not.

    The continuum should be one cluster, and comes in pieces here: beside separated clusters, a trajectory is cut
    (decision 0010, what is missed).
    """
    studies = cr.datasets.simulate_atlas(n_cells=200, rng=0).normalised(target_sum=500)
    analysis = cr.analyse(
        KMeans(n_init=3), studies, n_clusters=range(2, 8), agreement="ari", n_resamples=5, n_null=0, train=(), rng=0
    )
    assert analysis.verdict == "separated"
    findings = analysis.findings
    kinds = {
        name: np.where(np.isin(study.labels, list(CONTINUUM)), "continuum", study.labels)
        for name, study in studies.items()
    }
    pooled, letters = np.concatenate(list(kinds.values())), np.concatenate(list(findings.labels.values()))
    kind_of = {}
    for letter in findings.letters:
        (kind_of[letter],) = np.unique(pooled[letters == letter])  # every cluster is one kind,
    types = [kind for kind in kind_of.values() if kind != "continuum"]
    assert sorted(types) == sorted(SEPARATED)  # and every type is one cluster
    assert "continuum" in kind_of.values()
    for row in findings.table().itertuples():
        if kind_of[row.cluster] == "continuum":
            continue
        expected = "found" if kind_of[row.cluster] in kinds[row.study] else "not found"
        assert row.status == expected, (kind_of[row.cluster], row.study)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"n_labs": 0}, "n_labs"),
        ({"n_labs": 11}, "n_labs"),
        ({"n_genes": 20}, "n_genes"),
        ({"missing": {"lab 9": "B cell"}}, "missing"),
        ({"missing": {"lab 1": "mature"}}, "missing"),
    ],
)
def test_parameters_are_checked(options, parameter):
    with pytest.raises(ParameterError) as caught:
        cr.datasets.simulate_atlas(**options)
    assert caught.value.parameter == parameter


def test_several_types_can_be_missing():
    studies = cr.datasets.simulate_atlas(n_labs=1, n_cells=60, missing={"lab 1": ["B cell", "T cell"]}, rng=0)
    assert not {"B cell", "T cell"} & set(studies["lab 1"].labels)
