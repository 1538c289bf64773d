"""The whole analysis has the results of its parts, and what is in focus."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.analysis.cases import OPTIONS, WARD, assert_same
from tests.helpers import by_two
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# the same as its parts


def test_the_comparison_is_that_made_alone(found, studies):
    clusterers = {"ward": WARD, "k-means": KMeans(n_init=2)}
    alone = cr.compare(clusterers, studies, n_clusters=[2, 3], agreement=("ari", "ami"), **OPTIONS)
    assert_same(found.comparison, alone)
    assert found.reference is None  # clusters are separated
    assert repr(found.choice) == repr(alone.choice())
    assert (found.agreement, found.names) == ("ari", studies.names)
    assert found.provenance == alone.provenance


def test_the_null_distributions_are_those_made_alone(compared, plain):
    alone = cr.compare(WARD, plain, n_clusters=[2, 3], agreement=("ari", "ami"), **OPTIONS)
    reference = cr.null_reference(alone, 19)
    assert_same(compared.reference, reference)
    assert repr(compared.choice) == repr(alone.choice(reference))


def test_local_results_are_those_made_alone(found, studies):
    focus = found.focus
    clusterer = {
        "ward": AgglomerativeClustering(focus.n_clusters),
        "k-means": KMeans(focus.n_clusters, n_init=2),
    }[focus.clusterer]
    assert [(one.train, one.test) for one in found.local] == [(s, t) for s in studies for t in studies if s != t]
    local = iter(found.local)
    for study in studies.values():
        for alone in cr.local_replicability(clusterer, train=study, test=studies, **OPTIONS).values():
            mine = next(local)
            assert_same(mine, alone, but=("clusterer",))
            assert mine.clusterer == focus.clusterer
    assert next(local, None) is None


def test_replicability_of_a_cluster_is_the_mean_local_score_of_its_samples(found):
    findings, samples = found.findings, found.samples()
    table = findings.table().set_index(["cluster", "study"])
    n_clusters = (findings.counts > 0).sum(axis=0)
    several = [name for name, n in zip(findings.names, n_clusters, strict=True) if n > 1]
    assert len(several) > 1
    # A study with a single cluster has nothing to repeat.
    for (cluster, study), rows in samples[samples["test"].isin(several)].groupby(["cluster", "train"]):
        if cluster in findings.letters:
            assert table.loc[(cluster, study), "replicability"] == pytest.approx(rows["mean"].mean())


def test_the_replicability_in_focus_is_that_made_alone(studies):
    made = cr.analyse(WARD, studies, n_clusters=[3], n_null=0, scale="none", **OPTIONS)
    assert_same(made.replicability, cr.replicability(AgglomerativeClustering(3), studies, **OPTIONS))


def test_every_part_has_the_name_that_the_clusterer_was_given(found):
    assert {part.clusterer for part in (*found.local, found.replicability)} == {found.focus.clusterer}


def test_numbers_of_clusters_can_come_from_an_iterator(studies):
    once = cr.analyse(WARD, studies, n_clusters=(k for k in (2, 3)), n_null=0, n_resamples=2, rng=0)
    assert once.comparison.n_clusters == (2, 3)
    assert once.local


def test_every_study_has_its_positions_and_known_labels(found, studies, tmp_path):
    found.save(tmp_path / "analysis.npz")
    for analysis in (found, cr.load(tmp_path / "analysis.npz")):
        for name in ("alpha", "beta"):
            assert analysis.known_labels_of(name).tolist() == [str(label) for label in studies[name].labels]
        assert analysis.known_labels_of("gamma") is None
        positions = [analysis.coordinates_of(name) for name in studies]
        assert [len(of_study) for of_study in positions] == [30, 30, 30]
        np.testing.assert_array_equal(np.concatenate(positions), found.coordinates)
    with refused(ParameterError, "study"):
        found.coordinates_of("delta")


def test_the_number_of_jobs_does_not_matter(studies):
    pair = cr.Studies(list(studies.values())[:2])
    run = partial(cr.analyse, KMeans(n_init=1), pair, n_clusters=[2, 3], n_null=19, n_resamples=4, rng=0)
    one = run()
    with by_two():
        two = run()
    assert_same(one, two)


def test_a_generator_gives_one_seed_to_all_parts(studies):
    made = cr.analyse(
        WARD, studies, n_clusters=[3], n_null=19, n_resamples=2, rng=np.random.default_rng(1), agreement="ami"
    )
    seeds = {one.provenance["seed"] for one in (made.comparison, *made.local)}
    assert len(seeds) == 1
    assert made.agreement == "ami"
    assert {one.agreement for one in made.local} == {"ami"}


# ---------------------------------------------------------------------------------------------------------------------
# what is looked at


def test_what_is_in_focus_is_what_is_looked_at(found):
    focus = found.focus
    assert {(one.clusterer, one.n_clusters) for one in found.local} == {(focus.clusterer, focus.n_clusters)}
    assert (found.replicability.clusterer, found.replicability.n_clusters) == (focus.clusterer, focus.n_clusters)


@pytest.mark.parametrize("n_null", [0, 19])
def test_nothing_eligible_is_an_answer(n_null, studies):
    options = cr.RunOptions(null="gaussian")
    made = cr.analyse(DBSCAN(eps=1000), studies, n_null=n_null, n_resamples=2, rng=0, options=options)
    assert made.choice.best is None
    assert (made.verdict, made.n_clusters) == ("inconclusive", None)
    assert len(made.scores()) == 2 * 9
    assert "Every study is put into a single cluster in 100 % of scores (DBSCAN)." in repr(made)
    assert "Run again with other parameters, other numbers of clusters or another clusterer." in repr(made)


def test_noise_alone_is_inconclusive(studies):
    made = cr.analyse({"dbscan": DBSCAN()}, studies, param_grid={"eps": [1e-6, 1e-5]}, n_null=19, n_resamples=2, rng=0)
    assert (made.verdict, made.n_clusters) == ("inconclusive", None)
    answer = repr(made)
    assert "Every study has no cluster: all samples are called noise in 100 % of resamples (dbscan, eps" in answer
    assert "Run again with parameters that leave less noise, such as a larger eps, or with another" in answer


def test_local_scores_are_of_the_studies_that_are_named(studies):
    options = {"n_clusters": [3], "n_null": 0, "n_resamples": 2, "rng": 0}
    made = cr.analyse(WARD, studies, train=["beta"], **options)
    assert [(one.train, one.test) for one in made.local] == [("beta", "alpha"), ("beta", "gamma")]
    everywhere, nowhere = cr.analyse(WARD, studies, **options), cr.analyse(WARD, studies, train=[], **options)
    columns = ["cluster", "study", "status", "n", "valley_p"]
    for other in (everywhere, nowhere):
        assert other.findings.table()[columns].equals(made.findings.table()[columns])
    assert nowhere.local == ()
    assert nowhere.findings.table()["replicability"].isna().all()


def test_a_study_that_is_named_twice_is_followed_once(studies):
    made = cr.analyse(WARD, studies, n_clusters=[3], n_null=0, train=["beta", "beta"], n_resamples=2, rng=0)
    assert len(made.local) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"train": ["gama"]},
        {"options": {"noise": "drop"}},
        {"n_null": 18},
        {"rng": -1},
        {"scale": "whole"},
    ],
)
def test_parameters_are_checked_before_anything_runs(options, studies, monkeypatch):
    monkeypatch.setattr("clustrep.analysis.analyse.find_clusters", None)
    with refused(ParameterError, *options):
        cr.analyse(WARD, studies, **options)


@pytest.mark.parametrize("option", [{"null": "uniform"}, {"null": None}, {"noise": "omit"}, {"recursive": 1}])
def test_options_are_checked_where_they_are_made(option):
    with pytest.raises(ParameterError) as caught:
        cr.RunOptions(**option)
    assert {caught.value.parameter} == set(option)
