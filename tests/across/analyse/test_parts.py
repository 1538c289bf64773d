"""The whole analysis has the results of its parts, and what is in focus."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.across.analyse.cases import OPTIONS, WARD, assert_same

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.results import Best, Candidate
from clustrep.results.analysis import NOT_COMPARED
from clustrep.results.choice import Against

# ---------------------------------------------------------------------------------------------------------------------
# the same as its parts


def test_the_comparison_and_its_reference_are_those_made_alone(found, studies):
    clusterers = {"ward": WARD, "k-means": KMeans(n_init=2)}
    alone = cr.compare(clusterers, studies, n_clusters=[2, 3], agreement=("ari", "ami"), **OPTIONS)
    assert_same(found.comparison, alone)
    reference = cr.null_reference(alone, 19)
    assert_same(found.reference, reference)
    assert repr(found.choice) == repr(alone.choice(reference))
    assert (found.agreement, found.names) == ("ari", studies.names)
    assert found.provenance == alone.provenance


def test_local_results_and_counterparts_are_those_made_alone(found, studies):
    focus = found.focus
    clusterer = {
        "ward": AgglomerativeClustering(focus.n_clusters),
        "k-means": KMeans(focus.n_clusters, n_init=2),
    }[focus.clusterer]
    assert [(one.train, one.test) for one in found.local] == [(s, t) for s in studies for t in studies if s != t]
    at = 0
    for study in studies.values():
        for one in cr.local_replicability(clusterer, train=study, test=studies, **OPTIONS).values():
            assert_same(found.local[at], one, but=("clusterer",))
            assert found.local[at].clusterer == focus.clusterer
            reference = cr.null_reference(one, 19, null=found.reference.model)
            assert_same(found.local_references[at], reference, but=("clusterers",))
            at += 1
    assert at == len(found.local) == len(found.local_references)
    assert_same(found.counterparts, cr.counterparts(clusterer, studies, **OPTIONS), but=("clusterer",))


def test_the_replicability_in_focus_is_that_made_alone(uncompared, studies):
    alone = cr.replicability(AgglomerativeClustering(3), studies, **OPTIONS)
    assert_same(uncompared.replicability, alone)
    assert repr(uncompared.relations) == repr(alone.relations())


def test_every_part_has_the_name_that_the_clusterer_was_given(found):
    parts = [*found.local, found.counterparts, found.replicability]
    assert {part.clusterer for part in parts} == {found.focus.clusterer}
    assert {reference.clusterers for reference in found.local_references} == {(found.focus.clusterer,)}


def test_numbers_of_clusters_can_come_from_an_iterator(studies):
    once = cr.analyse(WARD, studies, n_clusters=(k for k in (2, 3)), null=None, n_resamples=2, rng=0)
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
    with pytest.raises(ParameterError, match="delta"):
        found.coordinates_of("delta")


def test_every_sample_has_the_name_of_its_cluster(found, studies):
    samples = found.samples()
    for name in studies:
        test = next(local.test for local in found.local if local.train == name)
        rows = samples[(samples["train"] == name) & (samples["test"] == test)]
        assert found.clusters_of(name) == rows["cluster"].tolist()
    alone = cr.analyse(WARD, studies, n_clusters=[3], null=None, train="beta", n_resamples=2, rng=0)
    assert alone.clusters_of("alpha") is None
    assert len(alone.clusters_of("beta")) == 30


def test_the_replicabilities_are_those_of_all_configurations_with_the_focus_first(found):
    first, *others = found.replicabilities
    assert (first.clusterer, first.n_clusters) == (found.focus.clusterer, found.focus.n_clusters)
    configurations = [(result.clusterer, result.n_clusters) for result in (first, *others)]
    compared = set(zip(found.comparison.clusterers, found.comparison.n_clusters, strict=True))
    assert len(configurations) == len(compared)
    assert set(configurations) == compared
    assert {result.agreement for result in found.replicabilities} == {"ari"}


def test_the_number_of_jobs_does_not_matter(studies):
    pair = cr.Studies(list(studies.values())[:2])
    one, two = (
        cr.analyse(KMeans(n_init=1), pair, n_clusters=[2, 3], n_null=19, n_resamples=4, rng=0, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert_same(one, two)


def test_a_generator_gives_one_seed_to_all_parts(studies):
    made = cr.analyse(
        WARD, studies, n_clusters=[3], n_null=19, n_resamples=2, rng=np.random.default_rng(1), agreement="ami"
    )
    seeds = {one.provenance["seed"] for one in (made.comparison, *made.local, made.counterparts)}
    assert len(seeds) == 1
    assert made.agreement == "ami"
    assert {one.agreement for one in made.local} == {"ami"}


# ---------------------------------------------------------------------------------------------------------------------
# what is looked at


def choice_of(excess, adjusted, best=0):
    """Three candidates, the best of which has place `best`."""
    candidates = tuple(Candidate("c", k, 0.9 - 0.1 * k, 0.1, 0.9) for k in (2, 3, 4))
    against = None
    chosen = None if best is None else candidates[best]
    if adjusted is not None:
        zero = np.zeros(3)
        against = Against(zero + 0.5, zero, np.array(excess), np.array(adjusted), np.array(adjusted))
        above = np.flatnonzero(against.adjusted <= 0.05)
        chosen = candidates[above[np.argmax(against.excess[above])]] if above.size else None
    top = None if best is None else Best(**vars(candidates[best]), agreement="ari", rivals=())
    share = np.array([1.0, 0, 0])
    return cr.results.Choice("ari", top, None, candidates, np.ones(3, dtype=bool), share, against, chosen)


@pytest.mark.parametrize(
    ("excess", "adjusted", "best", "k"),
    [
        pytest.param([0.1, 0.5, 0.2], [0.05, 0.01, 0.9], 0, 2, id="the best is above"),
        pytest.param([0.1, 0.5, 0.6], [0.06, 0.01, 0.05], 0, 4, id="the farthest above"),
        pytest.param([0.1, 0.5, 0.6], [0.06, 0.2, 0.9], 0, 2, id="nothing is above"),
        pytest.param(None, None, 1, 3, id="not compared"),
        pytest.param([0.1, 0.5, 0.6], [0.06, 0.01, 0.9], None, 3, id="no best, one above"),
        pytest.param([0.1, 0.5, 0.6], [0.06, 0.2, 0.9], None, None, id="no best, nothing above"),
    ],
)
def test_what_is_in_focus(excess, adjusted, best, k):
    focus = choice_of(excess, adjusted, best).focus
    assert (focus and focus.n_clusters) == k


def test_what_is_in_focus_is_what_is_looked_at(found):
    focus = found.focus
    assert {(one.clusterer, one.n_clusters) for one in found.local} == {(focus.clusterer, focus.n_clusters)}
    assert (found.replicability.clusterer, found.replicability.n_clusters) == (focus.clusterer, focus.n_clusters)


def test_without_a_reference_the_best_is_looked_at(uncompared):
    assert uncompared.reference is None
    assert uncompared.local_references == ()
    assert uncompared.focus.n_clusters == 3
    assert set(uncompared.clusters()["verdict"]) == {NOT_COMPARED}
    assert "pvalue" not in uncompared.clusters()
    assert "null_mean" not in uncompared.scores()


@pytest.mark.parametrize("null", [None, "gaussian"])
def test_nothing_eligible_is_an_answer(null, studies):
    made = cr.analyse(DBSCAN(eps=1000), studies, null=null, n_null=19, n_resamples=2, rng=0)
    assert made.choice.best is None
    assert (made.degree, made.n_clusters) == (None, None)
    assert len(made.scores()) == 2 * 9
    assert "Every study is put into a single cluster in 100 % of resamples (DBSCAN)." in repr(made)
    assert "Run again with other parameters, other numbers of clusters or another clusterer." in repr(made)


def test_noise_alone_is_no_answer_and_has_a_page(studies, tmp_path):
    made = cr.analyse({"dbscan": DBSCAN()}, studies, over={"eps": [1e-6, 1e-5]}, n_null=19, n_resamples=2, rng=0)
    assert (made.degree, made.n_clusters) == (None, None)
    answer = repr(made)
    assert "No answer: no score can be relied on." in answer
    assert "Every study has no cluster: all samples are called noise in 100 % of resamples (dbscan, eps" in answer
    assert "Run again with parameters that leave less noise, such as a larger eps, or with another" in answer
    cr.Report(made).write_html(tmp_path / "report.html")


def test_two_studies_have_no_relations(studies):
    made = cr.analyse(WARD, cr.Studies(list(studies.values())[:2]), n_clusters=[3], null=None, **OPTIONS)
    assert made.relations is None


def test_mutual_information_has_no_relations(studies):
    made = cr.analyse(WARD, studies, n_clusters=[3], null=None, agreement=("mi", "ari"), n_resamples=2, rng=0)
    assert made.relations is None


def test_some_studies_clusters_are_followed(studies):
    made = cr.analyse(WARD, studies, n_clusters=[3], n_null=19, train=["beta"], **OPTIONS)
    assert [(one.train, one.test) for one in made.local] == [("beta", "alpha"), ("beta", "gamma")]
    assert set(made.clusters()["train"]) == set(made.samples()["train"]) == {"beta"}
    assert made.counterparts.names == studies.names


def test_a_study_that_is_named_twice_is_followed_once(studies):
    made = cr.analyse(WARD, studies, n_clusters=[3], null=None, train=["beta", "beta"], n_resamples=2, rng=0)
    assert len(made.local) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"train": ["gama"]}, "There is no study to train on 'gama'; there are alpha, beta, gamma"),
        ({"embedding": "umap"}, "embedding"),
        ({"n_null": 18}, "n_null must be an integer of at least 19, got 18"),
        ({"null": "uniform"}, "null"),
        ({"rng": -1}, "rng"),
    ],
)
def test_parameters_are_checked_before_anything_runs(options, sentence, studies, monkeypatch):
    monkeypatch.setattr("clustrep.across.analyse.comparison_plan", None)
    with pytest.raises(ParameterError, match=sentence):
        cr.analyse(WARD, studies, **options)


def test_one_study_is_not_enough(studies):
    with pytest.raises(ParameterError, match="at least two studies"):
        cr.analyse(WARD, [studies["alpha"]])
