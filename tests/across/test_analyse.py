"""The whole way at once: the same numbers as its parts, verdicts by their rule, one file for all of it."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.across.analyse import place_samples
from clustrep.errors import DataError, ParameterError, ReplicateWarning
from clustrep.files import HEADER
from clustrep.results import Best, Candidate
from clustrep.results.analysis import HOLDS, NOT_ABOVE, NOT_COMPARED, WEAK, cluster_table
from clustrep.results.choice import Against
from clustrep.results.shape import Humps, estimate_is_far, two_humps

WARD = AgglomerativeClustering()
OPTIONS = {"n_resamples": 6, "rng": 3}


@pytest.fixture(scope="module")
def studies():
    """Two cohorts with far subtypes A, B and C, and one where they are nearer and not known; as small as it goes."""
    made = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=30, n_subtypes=3, n_features=3, separation=9, missing={}, shifted={}, rng=3
    )
    nearer = made["gamma"].X + 2 * np.random.default_rng(8).normal(size=(30, 3))
    return cr.Studies([made["alpha"], made["beta"], cr.Study(nearer, "gamma", features=made.features)])


@pytest.fixture(scope="module")
def found(studies):
    return cr.analyse({"ward": WARD, "k-means": KMeans(n_init=2)}, studies, n_clusters=[2, 3], n_null=19, **OPTIONS)


@pytest.fixture(scope="module")
def uncompared(studies):
    return cr.analyse(WARD, studies, n_clusters=[3], null=None, **OPTIONS)


def fields(result):
    return {one.name: getattr(result, one.name) for one in dataclasses.fields(result) if not one.name.startswith("_")}


def assert_same(one, other, but=()):
    """Bit for bit, results within results, too."""
    assert type(one) is type(other)
    for name, value in fields(one).items():
        again = getattr(other, name)
        if name in but:
            continue
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (again.dtype, again.shape), name
            assert value.tobytes() == again.tobytes(), name
        elif dataclasses.is_dataclass(value):
            assert_same(value, again)
        elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            assert len(value) == len(again)
            for mine, yours in zip(value, again, strict=True):
                assert_same(mine, yours)
        else:
            assert value == again, name


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
    assert (made.degree, made.n_clusters) == ((None, None) if null is None else ("one piece", 1))
    assert len(made.scores()) == 2 * 9
    assert "Every study is put into a single cluster in 100 % of resamples (DBSCAN)." in repr(made)
    assert "Run again with other parameters, other numbers of clusters or another clusterer." in repr(made)


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


# ---------------------------------------------------------------------------------------------------------------------
# tables


def test_the_columns_of_clusters(found):
    table = found.clusters()
    assert table.columns.tolist() == [
        *["train", "cluster", "size", "test", "estimate", "mean", "sd", "low", "high"],
        *["null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue", "verdict"],
        *["counterpart", "overlap", "overlap_low", "overlap_high", "found"],
    ]
    k = found.focus.n_clusters
    assert len(table) == 6 * k
    for one, reference in zip(found.local, found.local_references, strict=True):
        own = table[(table["train"] == one.train) & (table["test"] == one.test)]
        assert own["mean"].tolist() == one.by_cluster()["mean"].tolist()
        assert own["pvalue"].tolist() == reference.pvalue.tolist()
        assert own["size"].sum() == 30
    partners = found.counterparts.to_frame()
    assert table["overlap"].tolist() == partners["overlap"].tolist()
    called = zip(partners["test"], partners["counterpart"], strict=True)
    assert table["counterpart"].tolist() == [found.shared_names[pair] for pair in called]


def test_a_cluster_has_the_same_name_in_every_table(found, studies):
    """Clusterers number clusters of every study by themselves; counterparts share the numbers of `presence`."""
    presence, clusters = found.presence(), found.clusters()
    for study in studies:
        names = set(presence.loc[presence["train"] == study, "cluster"]) - {"new"}
        assert set(clusters.loc[clusters["train"] == study, "cluster"]) == names
        assert set(found.clusters_of(study)) == names
        numbers = found.presence_result.labels_of(study).astype(str)
        same = [name.split(" ")[0] for name in found.clusters_of(study)] == numbers
        assert same.mean() > 0.9  # clusters near each other are not cut in the same way


def test_q_values_are_over_all_rows(found):
    """Benjamini and Hochberg (1995), by hand: the smallest p·m/rank among this and all larger p-values."""
    table = found.clusters()
    p = table["pvalue"].to_numpy()
    order = np.argsort(p)
    by_hand = np.empty(len(p))
    smallest = 1.0
    for rank in range(len(p), 0, -1):
        smallest = min(smallest, p[order[rank - 1]] * len(p) / rank)
        by_hand[order[rank - 1]] = smallest
    np.testing.assert_allclose(table["qvalue"], by_hand, rtol=1e-12)


def test_levels_of_intervals_can_be_chosen(found):
    wide, narrow = found.clusters(0.95), found.clusters(0.5)
    assert (wide["high"] - wide["low"] >= narrow["high"] - narrow["low"]).all()
    assert (found.scores(0.5)["low"] >= found.scores(0.95)["low"]).all()
    assert (found.samples(0.5)["high"] <= found.samples(0.95)["high"]).all()


def faked(found, pvalues, means, estimates=None, *, names=None, agreement="ari"):
    """The first local result, with other p-values, means and estimates."""
    means_ = means

    class Local:
        train, test = found.local[0].train, found.local[0].test

        @staticmethod
        def by_cluster(_):
            own = means_ if estimates is None else estimates
            labels = range(len(means_)) if names is None else names
            return pd.DataFrame({"cluster": labels, "size": 5, "estimate": own, "mean": means_})

    Local.agreement = agreement

    class Reference:
        distribution = np.zeros((199, 1))

        @staticmethod
        def to_frame(_):
            blank = [0.0] * len(pvalues)
            return pd.DataFrame({"cluster": blank, "observed": blank, "pvalue": pvalues, "qvalue": blank})

    return cluster_table([Local], [Reference])


def test_the_verdict_follows_its_rule(found):
    pvalues = [0.01, 0.01, 0.01, 0.2, 0.2, np.nan]
    table = faked(found, pvalues, [0.9, 0.5, 0.4999, 0.9, 0.1, 0.9])
    assert table["verdict"].tolist() == [HOLDS, HOLDS, WEAK, NOT_ABOVE, NOT_ABOVE, NOT_COMPARED]
    np.testing.assert_array_equal(table["qvalue"][:5], false_discovery_control(pvalues[:5]))
    assert np.isnan(table["qvalue"][5])
    table = faked(found, [0.05, 0.0500001], [0.9, 0.9])
    unsure = "can't tell: above data without clusters only before adjusting"
    assert table["verdict"].tolist() == [unsure, NOT_ABOVE]  # q is 0.0500001 for both
    assert faked(found, [0.05, 0.05], [0.9, 0.2])["verdict"].tolist() == [HOLDS, WEAK]
    assert faked(found, [0.05, 0.05], [0.9, 0.9], [0.5, 0.2])["verdict"].tolist() == [HOLDS, WEAK]
    assert faked(found, [0.01], [np.nan])["verdict"].tolist() == ["no score"]
    assert faked(found, [0.01, 0.01], [0.2, 0.9], agreement="mi")["verdict"].tolist() == [HOLDS, HOLDS]


@pytest.mark.parametrize(("agreement", "verdict"), [("ari", WEAK), ("ami", WEAK), ("ami_max", WEAK), ("ri", HOLDS)])
def test_a_low_score_holds_weakly_by_every_agreement_that_is_adjusted_for_chance(found, agreement, verdict):
    assert faked(found, [0.01], [0.1], agreement=agreement)["verdict"].tolist() == [verdict]


def test_what_no_simulated_cluster_exceeds_is_not_called_no_better(found):
    pvalues = [1 / 200, *[0.9] * 20]
    table = faked(found, pvalues, [0.9] * 21)
    assert table["qvalue"][0] > 0.05
    assert table["verdict"].tolist() == ["can't tell: too few simulated collections", *[NOT_ABOVE] * 20]


def test_noise_is_no_cluster_that_could_hold(found):
    table = faked(found, [0.01, 0.9], [0.9, 0.9], names=[0, -1])
    assert table["cluster"].tolist() == ["0", "noise"]
    assert table["verdict"].tolist() == [HOLDS, "noise"]
    assert table["qvalue"][0] == 0.01  # noise is not among what is adjusted for
    assert np.isnan(table["qvalue"][1])


def test_where_nothing_is_above_data_without_clusters_no_cluster_is_tested():
    rng = np.random.default_rng(4)
    tables = {name: rng.normal(size=(40, 2)) * [4, 1] for name in "ab"}
    made = cr.analyse(WARD, tables, n_clusters=[2, 3], n_null=39, n_resamples=4, rng=0)
    assert made.choice.chosen is None
    assert set(made.clusters()["verdict"]) == {"not tested: the clustering is not above data without clusters"}
    facts = cr.Report(made).facts
    assert [one["kind"] for one in facts["verdict"]][:1] == ["one-piece"]
    assert not [one for one in facts["verdict"] if one["kind"] == "clusters"]


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_finding_only_noise_without_clusters_is_evidence(noise):
    rng = np.random.default_rng(5)
    tables = {name: np.r_[rng.normal(size=(30, 2)) * 0.2, rng.normal(size=(30, 2)) * 0.2 + 5] for name in "ab"}
    made = cr.analyse(
        {"density": DBSCAN(eps=0.35, min_samples=8)}, tables, noise=noise, n_null=39, n_resamples=4, rng=0
    )
    assert made.choice.chosen is not None
    assert float(made.choice.against.adjusted[0]) <= 0.05
    told = made.clusters()
    assert {"noise"} >= set(told[told["verdict"] == "noise"]["cluster"])
    assert (told[told["cluster"] != "noise"]["verdict"] == HOLDS).all()


def test_clusters_are_named_after_known_labels_where_there_are_any(uncompared):
    table = uncompared.clusters()
    assert set(table[table["train"] == "alpha"]["cluster"]) == {"0 (A)", "1 (B)", "2 (C)"}
    assert set(table[table["train"] == "gamma"]["cluster"]) == {"0", "1", "2"}
    assert set(uncompared.samples().query("train == 'alpha'")["cluster"]) == {"0 (A)", "1 (B)", "2 (C)"}
    own = table[(table["train"] == "alpha") & (table["test"] == "beta")]
    assert [name.split()[1] for name in own["counterpart"]] == ["(A)", "(B)", "(C)"]


def test_samples_have_their_scores_and_places(found, studies):
    table = found.samples()
    assert table.columns.tolist() == [
        *["train", "sample", "cluster", "test", "estimate", "mean", "sd", "low", "high", "x", "y"]
    ]
    assert len(table) == 6 * 30
    own = table[(table["train"] == "beta") & (table["test"] == "alpha")]
    one = found.local[2]
    assert (one.train, one.test) == ("beta", "alpha")
    assert own["sample"].tolist() == list(studies["beta"].samples)
    assert own["mean"].tolist() == one.mean.tolist()
    np.testing.assert_array_equal(own[["x", "y"]], found.coordinates[30:60])
    np.testing.assert_array_equal(found.coordinates_of("gamma"), found.coordinates[60:])


def test_scores_stand_beside_data_without_clusters(found):
    table = found.scores()
    assert len(table) == 4 * 2 * 9
    assert table.columns[-6:].tolist() == ["null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    diagonal = table["train"] == table["test"]
    assert table.loc[diagonal, "null_mean"].isna().all()
    assert table.loc[~diagonal, "null_mean"].notna().all()
    against = found.reference.to_frame()
    assert sorted(table.loc[~diagonal, "pvalue"]) == sorted(against["pvalue"])
    pd.testing.assert_frame_equal(table.iloc[:, :-6], found.comparison.to_frame())


def test_failures_of_all_parts_are_counted(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(WARD, studies, n_clusters=[3, 19], null=None, n_resamples=4, rng=0)
    assert sum(made.failures.values()) == sum(
        sum(one.failures.values()) for one in (made.comparison, *made.local, made.counterparts)
    )
    assert made.failures


# ---------------------------------------------------------------------------------------------------------------------
# one file


@pytest.mark.parametrize("kind", ["found", "uncompared"])
def test_everything_comes_back(kind, request, tmp_path):
    one = dataclasses.replace(request.getfixturevalue(kind), warnings=("be careful", "höher"))
    one.save(tmp_path / "result.npz")
    again = cr.load(tmp_path / "result.npz")
    assert_same(one, again)
    assert repr(again) == repr(one)
    for table in ("scores", "samples", "clusters"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(one, table)())
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "result.npz").read_bytes()
    assert not again.coordinates.flags.writeable


def test_nothing_to_look_at_comes_back_too(studies, tmp_path):
    one = cr.analyse(DBSCAN(eps=1000), studies, null=None, n_resamples=2, rng=0)
    one.save(tmp_path / "result.npz")
    assert_same(one, cr.load(tmp_path / "result.npz"))


def test_the_file_holds_plain_arrays_and_one_text(found, tmp_path):
    found.save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "biufU" for name in archive.files)
        header = json.loads(str(archive[HEADER]))
        assert {"coordinates", "comparison/distribution", "local/0/tables", "local_references/5/observed"} <= set(
            archive.files
        )
    assert header["kind"] == "Analysis"
    assert sorted(header["parts"]) == [
        "comparison", "counterparts", "differences", "local", "local_references", "presence_result", "reference",
        "separations",
    ]  # fmt: skip


def damaged(path, change):
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays[HEADER]))
    change(arrays, header)
    arrays[HEADER] = np.array(json.dumps(header))
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda arrays, _: arrays.pop("comparison/distribution"), id="an array within is missing"),
        pytest.param(lambda arrays, _: arrays.pop("local/3/tables"), id="an array of one of several is missing"),
        pytest.param(lambda arrays, _: arrays.update({"local/0/more": np.zeros(2)}), id="an array too many"),
        pytest.param(lambda _, header: header["parts"].pop("comparison"), id="a part is missing"),
        pytest.param(lambda _, header: header["parts"]["comparison"].update(kind="Bomb"), id="a part of another kind"),
        pytest.param(lambda _, header: header["parts"].update(local=3), id="a part that is a number"),
        pytest.param(lambda _, header: header["parts"]["local"].append(7), id="a number among the parts"),
        pytest.param(lambda _, header: header.update(parts=[1]), id="parts without names"),
        pytest.param(lambda _, header: header["parts"]["comparison"].pop("values"), id="a part without values"),
        pytest.param(lambda _, header: header["values"].pop("warnings"), id="a value is missing"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(change, uncompared, tmp_path):
    path = tmp_path / "result.npz"
    uncompared.save(path)
    damaged(path, change)
    with pytest.raises(DataError, match=str(path)):
        cr.load(path)


# ---------------------------------------------------------------------------------------------------------------------
# places


def test_principal_axes_place_all_samples_together(found, studies):
    X = np.concatenate([study.X for study in studies.values()])
    centred = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(u[:, :2] * s[:2]), atol=1e-10)
    shares = s**2 / (s**2).sum()
    assert found.coordinate_names == (
        f"first principal component ({shares[0]:.0%})",
        f"second principal component ({shares[1]:.0%})",
    )


def test_tsne_places_samples_the_same_each_time(studies):
    pair = cr.Studies(list(studies.values())[:2])
    (first, names), (second, _) = place_samples(pair, "tsne"), place_samples(pair, "tsne")
    assert first.tobytes() == second.tobytes()
    assert first.shape == (60, 2)
    assert first.dtype == float
    assert names == ("first t-SNE coordinate", "second t-SNE coordinate")


@pytest.mark.parametrize("embedding", ["pca", "tsne"])
def test_one_and_two_features_are_drawn_as_they_are(embedding, studies):
    two = studies.select(["gene2", "gene1"])
    places, names = place_samples(two, embedding)
    np.testing.assert_array_equal(places, np.concatenate([study.X for study in two.values()]))
    assert names == ("gene2", "gene1")
    one = studies.select(["gene3"])
    places, names = place_samples(one, embedding)
    np.testing.assert_array_equal(places[:, 0], np.concatenate([study.X[:, 0] for study in one.values()]))
    assert not places[:, 1].any()
    assert names == ("gene3", "")
    made = cr.analyse(WARD, one, n_clusters=[2], null=None, embedding=embedding, n_resamples=2, rng=0)
    assert made.coordinates.tobytes() == places.tobytes()


# ---------------------------------------------------------------------------------------------------------------------
# what an interval would hide


def best_split(values):
    """Try all splits: the share of the variance between the halves, their means, the share of the upper one."""
    ordered = sorted(values)
    tried = []
    for i in range(1, len(ordered)):
        low, high = ordered[:i], ordered[i:]
        within = sum((x - np.mean(low)) ** 2 for x in low) + sum((x - np.mean(high)) ** 2 for x in high)
        tried.append((1 - within / (len(ordered) * np.var(ordered)), np.mean(low), np.mean(high), len(high)))
    return max(tried)


@pytest.mark.parametrize("seed", range(8))
def test_humps_are_those_of_the_best_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 40))
    values = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 0.9, 0.2) + rng.uniform(0.01, 0.2) * rng.normal(size=n)
    explained, low, high, n_high = best_split(values)
    seen = two_humps(values)
    flagged = explained >= 0.85 and high - low >= 0.1 and 0.1 <= n_high / n <= 0.9
    assert (seen is not None) == flagged
    if seen is not None:
        np.testing.assert_allclose([seen.low, seen.high, seen.share_high], [low, high, n_high / n], rtol=1e-9)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5, 0.85])
def test_mixtures_are_flagged(share):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        upper = np.arange(100) < 100 * share
        seen = two_humps(np.where(upper, 0.9, 0.4) + 0.03 * rng.normal(size=100))
        assert seen is not None
        assert seen.share_high == pytest.approx(share)
        assert (seen.low, seen.high) == pytest.approx((0.4, 0.9), abs=0.03)


@pytest.mark.parametrize("kind", ["normal", "uniform", "beta"])
def test_one_hump_is_rarely_taken_for_two(kind):
    rng = np.random.default_rng(12)
    draw = {
        "normal": lambda: 0.6 + 0.15 * rng.normal(size=100),
        "uniform": lambda: rng.uniform(size=100),
        "beta": lambda: rng.beta(*rng.uniform(1, 8, size=2), size=100),
    }[kind]
    samples = [draw() for _ in range(200)]
    assert sum(two_humps(values) is not None for values in samples) <= 4
    false_alarms = sum(estimate_is_far(float(values[0]), values[1:]) for values in samples)
    assert false_alarms <= 200 * 0.1  # one of the values themselves: outside 95 % of the others in 5 % of cases


def test_missing_values_are_left_out():
    values = np.r_[np.linspace(0.2, 0.3, 30), np.linspace(0.9, 1.0, 70)]
    holes = np.r_[values, np.full(50, np.nan), [np.inf]]
    assert two_humps(np.random.default_rng(0).permutation(holes)) == two_humps(values) == Humps(0.25, 0.95, 0.7)
    assert estimate_is_far(0.0, holes)
    assert not estimate_is_far(np.nan, values)
    assert two_humps(np.full(100, np.nan)) is None
    assert not estimate_is_far(0.5, np.full(100, np.nan))


def test_too_few_or_equal_values_tell_nothing():
    assert two_humps(np.r_[np.zeros(9), np.ones(10)]) is None
    assert two_humps(np.r_[np.zeros(10), np.ones(10)]) == Humps(0.0, 1.0, 0.5)
    assert not estimate_is_far(5.0, np.zeros(19))
    assert estimate_is_far(5.0, np.zeros(20))
    assert two_humps(np.ones(100)) is None


def test_near_humps_and_single_outliers_are_no_humps():
    assert two_humps(np.r_[np.zeros(50), np.full(50, 0.09)]) is None
    assert two_humps(np.r_[np.zeros(91), np.ones(9)]) is None
    assert two_humps(np.r_[np.zeros(89), np.ones(11)]) == Humps(0.0, 1.0, 0.11)


def test_a_tenth_is_enough():
    assert two_humps(np.r_[np.zeros(90), np.ones(10)]) == Humps(0.0, 1.0, 0.1)


def test_an_estimate_is_far_when_it_is_outside_and_far():
    values = np.linspace(0.4, 0.6, 101)
    assert not estimate_is_far(0.59, values)  # inside
    assert estimate_is_far(0.61, values)
    assert estimate_is_far(0.3, values)
    assert not estimate_is_far(0.55, values / 100 + 0.5)  # outside, and near


def test_the_summary_has_what_the_choice_rests_on(found):
    table = found.summary()
    choice = found.choice.to_frame()
    own = table[table["agreement"] == "ari"].sort_values("k").reset_index(drop=True)
    assert own["k"].tolist() == choice["k"].tolist()
    np.testing.assert_array_equal(own["mean"], choice["score"])
    np.testing.assert_array_equal(own["adjusted"], choice["adjusted"])
    np.testing.assert_array_equal(own["probability_best"].to_numpy(float), choice["probability_best"])
    assert table[table["agreement"] == "ami"]["probability_best"].isna().all()


# ---------------------------------------------------------------------------------------------------------------------
# a preliminary answer


def counted(calls):
    """A clusterer that keeps the shapes of what it was fitted to."""

    def cut(X):
        calls.append(X.shape)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    return cut


def test_a_preliminary_answer_uses_the_first_resamples_and_changes_no_number(studies):
    told, options = [], {"n_clusters": [2, 3], "n_resamples": 30, "n_null": 60, "rng": 3}
    plain = cr.analyse(WARD, studies, **options)
    again = cr.analyse(WARD, studies, on_progress=told.append, **options)
    assert_same(plain, again)
    (first,) = told  # the groups are separated: data in one piece do not change that
    assert_same(first.comparison, cr.compare(WARD, studies, n_clusters=[2, 3], n_resamples=20, rng=3))
    assert (first.n_resamples, first.n_null, first.verdict.degree) == (20, 0, "separated")
    assert str(first) == f"Preliminary, 20 resamples: {plain.headline[0].text}"
    for mine, yours in zip(first.separations, plain.separations, strict=True):
        assert_same(mine, yours)


def test_without_gaps_there_is_a_second_preliminary_answer_beside_the_first_collections():
    data = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(2)]
    told, options = [], {"n_clusters": [2], "n_resamples": 21, "n_null": 41, "rng": 0}
    final = cr.analyse(WARD, data, on_progress=told.append, **options)
    assert [(answer.n_resamples, answer.n_null) for answer in told] == [(20, 0), (20, 39)]
    assert_same(told[1].reference, cr.null_reference(told[1].comparison, 39))
    assert str(told[1]).startswith("Preliminary, 20 resamples and 39 simulated collections: One piece")
    assert_same(final, cr.analyse(WARD, data, **options))


def test_nothing_is_computed_twice_for_a_preliminary_answer():
    data = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(2)]
    fits = []
    for on_progress in (None, lambda answer: None):
        calls = []
        cr.analyse(counted(calls), data, n_resamples=25, n_null=45, train=[], rng=0, on_progress=on_progress)
        fits.append(Counter(calls))
    assert fits[1] - fits[0] == {(30, 2): 2}  # the studies as they are, beside which collections are put


def test_few_resamples_have_no_preliminary_answer(studies):
    told = []
    cr.analyse(WARD, studies, n_clusters=[3], n_resamples=20, null=None, rng=0, on_progress=told.append)
    assert told == []


def test_warnings_of_both_parts_are_given_once_and_counted_together(studies):
    def warns(X):
        warnings.warn("odd", UserWarning, stacklevel=1)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    messages = []
    for on_progress in (None, lambda answer: None):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cr.analyse(warns, studies, n_resamples=22, null=None, train=[], rng=0, on_progress=on_progress)
        messages.append(sorted(str(warning.message) for warning in caught))
    assert messages[0] == messages[1]
    assert any("UserWarning: odd" in message for message in messages[0])


def test_where_the_first_resamples_fail_there_is_no_preliminary_answer(studies):
    """Those after them may succeed."""
    fits = iter(range(10**6))

    def fails_at_first(X):
        if len(X) < 30 and next(fits) < 6 * 20:  # a resample; two draws of three studies
            raise ValueError("not yet")
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    told = []
    with pytest.warns(ReplicateWarning, match="not yet"):
        cr.analyse(fails_at_first, studies, n_resamples=30, null=None, train=[], rng=0, on_progress=told.append)
    assert told == []


def test_where_progress_is_shown_the_preliminary_answer_is_on_stderr(studies, capsys):
    with cr.config_context(progress=True):
        cr.analyse(WARD, studies, n_clusters=[3], n_resamples=21, null=None, train=[], rng=0)
    assert "Preliminary, 20 resamples: 3 separated groups" in capsys.readouterr().err
    cr.analyse(WARD, studies, n_clusters=[3], n_resamples=21, null=None, train=[], rng=0)
    assert "Preliminary" not in capsys.readouterr().err


def test_presence_is_of_the_studies_that_are_followed(studies):
    options = {"n_clusters": [3], "null": None, "n_resamples": 2, "rng": 0}
    everywhere = cr.analyse(WARD, studies, **options).presence()
    followed = cr.analyse(WARD, studies, train="beta", **options)
    expected = everywhere[everywhere["train"] == "beta"].reset_index(drop=True)
    pd.testing.assert_frame_equal(followed.presence(), expected)
    assert cr.analyse(WARD, studies, train=[], **options).presence().equals(everywhere)
    tables = {item["id"]: item for part in cr.Report(followed).facts["sections"] for item in part["tables"]}
    for name, key in (("presence-table", "train"), ("counterparts-table", "train"), ("differences-table", "study")):
        assert {row[key] for row in tables[name]["rows"]} == {"beta"}
