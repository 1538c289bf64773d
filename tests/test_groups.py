"""Donors are the unit: draws of donors, then of their cells; studies that share donors."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.fitting.fingerprint import digest_of_study, identity_of
from clustrep.fitting.parameters import describe
from clustrep.resampling.strategies import resamples_in_words

DONORS = np.repeat(["d1", "d2", "d3", "d4"], [5, 3, 8, 4])
RNG = np.random.default_rng(0)
STUDY = cr.Study(RNG.normal(size=(20, 2)), "a", groups={"donor": DONORS})


def draws(resampling, n=200):
    return [resampling.draw(STUDY, np.random.default_rng(i)) for i in range(n)]


# ---------------------------------------------------------------------------------------------------------------------
# draws


def test_a_donor_brings_as_many_cells_as_it_has_each_time_it_is_drawn():
    size = {"d1": 5, "d2": 3, "d3": 8, "d4": 4}
    for draw in draws(cr.resampling.Bootstrap(groups="donor")):
        times = {name: np.isin(DONORS[draw.order], name).sum() / size[name] for name in size}
        assert all(number == int(number) for number in times.values())
        assert sum(times.values()) == 4


def test_donors_are_drawn_with_replacement_and_equally_often():
    names = np.unique(DONORS)
    seen = [np.isin(names, DONORS[draw.order]) for draw in draws(cr.resampling.Bootstrap(groups="donor"), 3000)]
    np.testing.assert_allclose(np.mean(seen, axis=0), 1 - 0.75**4, atol=0.03)


def test_each_drawn_cell_once():
    for draw in draws(cr.resampling.Bootstrap(distinct=True, groups="donor"), 20):
        assert draw.weights.max() == 1


def test_a_fraction_of_the_donors_with_all_their_cells():
    for draw in draws(cr.resampling.Subsample(0.5, groups="donor"), 50):
        drawn = set(DONORS[draw.order])
        assert len(drawn) == 2
        assert len(draw.order) == np.isin(DONORS, list(drawn)).sum() == len(set(draw.order.tolist()))


def test_after_another_perturbation():
    for seed in range(20):
        left = cr.resampling.Subsample(0.6).draw(STUDY, np.random.default_rng(seed)).order
        draw = (cr.resampling.Subsample(0.6) + cr.resampling.Bootstrap(groups="donor")).draw(
            STUDY, np.random.default_rng(seed)
        )
        assert set(draw.order) <= set(left)
        names, sizes = np.unique(DONORS[left], return_counts=True)
        times = [np.isin(DONORS[draw.order], name).sum() / size for name, size in zip(names, sizes, strict=True)]
        assert sum(times) == len(names)


def test_donors_belong_to_rows_wherever_these_go():
    part = STUDY.select(["2"]).renamed("b")
    assert part.groups["donor"].tolist() == DONORS.tolist()
    pooled = STUDY.with_samples_of([part.select(["2"]).renamed("c")._with(X=STUDY.X, features=STUDY.features)], "all")
    assert pooled.groups["donor"].tolist() == [*DONORS, *DONORS]
    assert STUDY._part(np.array([0, 19]), "few").groups["donor"].tolist() == ["d1", "d4"]


def test_without_donors_nothing_is_written_or_drawn_differently():
    assert (
        repr(cr.resampling.Bootstrap(distinct=True))
        == describe(cr.resampling.Bootstrap(distinct=True))
        == "Bootstrap(distinct=True)"
    )
    assert repr(cr.resampling.Subsample(0.7)) == describe(cr.resampling.Subsample(0.7)) == "Subsample(fraction=0.7)"
    assert identity_of(cr.resampling.Bootstrap()) != identity_of(cr.resampling.Bootstrap(groups="donor"))
    assert describe(cr.resampling.Bootstrap(groups="donor")) == "Bootstrap(distinct=False, groups='donor')"
    assert digest_of_study(STUDY) != digest_of_study(cr.Study(STUDY.X, "a"))


def test_in_words():
    assert resamples_in_words(repr(cr.resampling.Bootstrap(distinct=True, groups="donor")), "the study") == (
        "bootstrap resamples of the study with each drawn sample counted once, drawn by donor"
    )


# ---------------------------------------------------------------------------------------------------------------------
# runs


def two_studies(second):
    tables = {name: np.random.default_rng(i).normal(size=(20, 2)) for i, name in enumerate("ab")}
    return cr.Studies(tables).with_groups({"a": {"donor": DONORS}, "b": {"donor": second}})


def test_a_run_over_donors():
    studies = two_studies(np.char.add("other ", DONORS))
    by_donor, by_cell = (
        cr.replicability(KMeans(2, n_init=2), studies, n_resamples=10, rng=0, resampling=resampling)
        for resampling in (cr.resampling.Bootstrap(groups="donor"), cr.resampling.Bootstrap())
    )
    assert np.isfinite(by_donor.distribution).all()
    assert (by_donor.distribution != by_cell.distribution).any()
    np.testing.assert_array_equal(by_donor.estimate, by_cell.estimate)
    assert by_donor.provenance.resampling == "Bootstrap(distinct=False, groups='donor')"


def test_studies_that_share_donors_are_noticed():
    with warned(DataWarning):
        cr.replicability(
            KMeans(2, n_init=1),
            two_studies(DONORS),
            n_resamples=2,
            rng=0,
            resampling=cr.resampling.Subsample(0.9, groups="donor"),
        )

    studies, resampling = two_studies(DONORS), cr.resampling.Subsample(0.9, groups="donor")
    with warned(DataWarning):  # in one order, so that it is told once
        cr.local_replicability(
            KMeans(2, n_init=1), train=studies["b"], test=studies["a"], n_resamples=2, rng=0, resampling=resampling
        )


def test_donors_of_an_anndata():
    obs = pd.DataFrame({"lab": ["n", "s"] * 10, "donor": DONORS}, index=[f"c{i}" for i in range(20)])
    studies = cr.Studies.from_anndata(anndata.AnnData(STUDY.X.copy(), obs=obs), "lab", groups="donor")
    assert studies["s"].groups["donor"].tolist() == DONORS[1::2].tolist()
    with refused(ParameterError, "groups"):
        cr.Studies.from_anndata(anndata.AnnData(STUDY.X.copy(), obs=obs), "lab", groups="donors")


@pytest.mark.parametrize(
    ("groups", "refusal"),
    [
        ({"donor": ["x"] * 3}, (DataError,)),
        ({"donor": [None] * 20}, (DataError,)),
        (["x"] * 20, (ParameterError, "groups")),
    ],
)
def test_donors_that_are_refused(groups, refusal):
    with refused(*refusal):
        cr.Study(STUDY.X, "a", groups=groups)


def test_units_that_a_study_does_not_have():
    studies = two_studies(np.char.add("other ", DONORS))
    with refused(ParameterError, "groups"):
        cr.replicability(KMeans(2), studies, n_resamples=2, resampling=cr.resampling.Bootstrap(groups="patient"))
    with refused(ParameterError, "groups"):
        cr.replicability(
            KMeans(2), two_studies(["x"] * 20), n_resamples=2, resampling=cr.resampling.Bootstrap(groups="donor")
        )
    with refused(ParameterError, "groups"):
        cr.resampling.Bootstrap(groups=DONORS)


def test_subsamples_of_two_donors_would_be_everything():
    studies = two_studies(["x"] * 10 + ["y"] * 10)
    with refused(ParameterError, "groups"):
        cr.replicability(KMeans(2), studies, n_resamples=2, resampling=cr.resampling.Subsample(groups="donor"))
    whole = cr.resampling.Subsample(1.0, groups="donor").draw(
        studies["b"], np.random.default_rng(0)
    )  # as was asked for
    assert sorted(whole.order) == list(range(20))


def test_two_units_are_drawn_by_the_bootstrap_where_features_are_many():
    from clustrep.resampling.strategies import resampling_for

    wide = cr.Study(np.zeros((4, 9)), "wide", groups={"donor": ["a", "a", "b", "b"]})
    wider = cr.Study(np.zeros((4, 9)), "wider", groups={"donor": ["c", "d", "e", "f"]})
    assert resampling_for(None, [wide, wider], "donor") == cr.resampling.Bootstrap(distinct=True, groups="donor")
    assert resampling_for(None, [wider], "donor") == cr.resampling.Subsample(0.8, groups="donor")
