"""What leaves a site, and what does not."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AffinityPropagation, AgglomerativeClustering, Birch, KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.federated.sites import CLUSTERERS, cohorts
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.execution.seeds import Failed
from clustrep.federated.disclosure import harmless
from clustrep.federated.extraction import _averaged
from clustrep.federated.forms import NearestCentres, merge_small
from clustrep.federated.reading import read_file
from clustrep.fitting.resample import PointSet, Source

RUN = {"n_resamples": 5, "rng": 7}


def named_study(name="mainz", n=80, seed=3):
    """A study with names of samples that can be searched for, and values that no mean has by chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 5 * rng.integers(0, 2, n)[:, None]
    index = [f"PATIENT-{name}-{i:03d}" for i in range(n)]
    return cr.Study(pd.DataFrame(X, index=index, columns=["a", "b", "c"]), name)


def members(path):
    """Every byte of a file: as it is, and of every member unpacked."""
    with zipfile.ZipFile(path) as archive:
        return [path.read_bytes(), *(archive.read(name) for name in archive.namelist())]


@pytest.mark.parametrize("name", CLUSTERERS)
def test_no_byte_of_any_file_is_of_a_sample(name, tmp_path):
    here, there = named_study(), named_study("vdx", seed=4)
    functions = [
        cr.federated.learn(
            {name: CLUSTERERS[name]}, study, n_clusters=2, disclosure=cr.federated.Disclosure(min_cluster_size=4), **RUN
        )
        for study in (here, there)
    ]
    scores = cr.federated.score(here, functions[1:], gaps=True, tables=True)
    functions[0].save(tmp_path / "mainz.functions")
    scores.save(tmp_path / "mainz.scores")
    cr.federated.combine([scores, cr.federated.score(there, functions[:1], tables=True)]).save(
        tmp_path / "together.npz"
    )
    values = here.X.ravel().tolist()
    patterns = [b"PATIENT", "PATIENT".encode("utf-16-le"), "PATIENT".encode("utf-32-le")]
    patterns += [np.array(value, dtype=dtype).tobytes() for value in values for dtype in ("<f8", ">f8")]
    patterns += [repr(float(value))[:12].encode() for value in values]
    for path in tmp_path.iterdir():
        for content in members(path):
            found = [pattern for pattern in patterns if pattern in content]
            assert not found, (path.name, found[:3])


def test_the_search_would_find_a_sample(tmp_path):
    """Against a test that finds nothing because it looks at nothing: a rule of one sample lets singletons out."""
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 3)), [[50.123456, 50.7, 50.9]]])
    functions = cr.federated.learn(
        KMeans(2, n_init=3), cr.Study(X, "mainz"), disclosure=cr.federated.Disclosure(min_cluster_size=1), **RUN
    )
    functions.save(tmp_path / "mainz.functions")
    assert any(np.array(50.123456).tobytes() in content for content in members(tmp_path / "mainz.functions"))


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(2),
        DBSCAN(),
        AffinityPropagation(),
        lambda X: (X[:, 0] > 0).astype(int),
        cr.Induced(AgglomerativeClustering(2)),
        cr.Induced(AgglomerativeClustering(2), classifier=KNeighborsClassifier(5)),
        cr.Induced(AgglomerativeClustering(2), classifier=SVC()),
        make_pipeline(StandardScaler(), KMeans(2)),
    ],
)
def test_rules_over_samples_are_refused_and_the_choice_is_named(clusterer):
    with refused(cr.errors.ParameterError, "clusterers") as caught:
        cr.federated.learn(clusterer, named_study(), **RUN)
    assert caught.value.parameter == "clusterers"
    assert "linear discriminants" in str(caught.value)
    assert "a decision tree with leaves of 10 samples" in str(caught.value)


@pytest.mark.parametrize(
    "classifier",
    [
        NearestCentroid(metric="manhattan"),
        NearestCentroid(shrink_threshold=0.1),
        DecisionTreeClassifier(),
        DecisionTreeClassifier(min_samples_leaf=9),
        DecisionTreeClassifier(min_samples_leaf=0.5),
    ],
)
def test_classifiers_that_tell_of_single_samples_are_refused(classifier):
    with refused(cr.errors.ParameterError, "clusterers"):
        cr.federated.learn(cr.Induced(AgglomerativeClustering(2), classifier=classifier), named_study(), **RUN)


@pytest.mark.parametrize("init", [np.zeros((2, 3)), lambda X, k, random_state: X[:k]])
def test_starts_may_be_samples_and_are_refused(init):
    with refused(cr.errors.ParameterError, "clusterers"):
        cr.federated.learn(KMeans(2, init=init), named_study(), **RUN)


# ---------------------------------------------------------------------------------------------------------------------
# small clusters


def study_with_a_small_cluster(n_small=6):
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 12, rng.normal(size=(n_small, 2)) + np.array([12, 0])]
    )
    return cr.Study(X, "mainz")


def test_a_small_cluster_is_left_out_with_its_replicate_and_counted():
    functions = cr.federated.learn(KMeans(n_init=5), study_with_a_small_cluster(), n_clusters=(2, 3), **RUN)
    cause = "withheld by the site: a cluster of fewer than 10 samples"
    assert functions.causes == (cause,)
    assert all(isinstance(function, Failed) for function in functions.functions(1))
    assert not any(isinstance(function, Failed) for function in functions.functions(0))
    (entry,) = functions.disclosure_log
    assert str(entry) == f"functions of KMeans, k = 3: 6 of 6, {cause}"
    assert "no function may leave the site" in repr(functions)


def test_the_rule_can_be_set():
    study, question = study_with_a_small_cluster(), {"resampling": cr.resampling.Rerun(), "n_resamples": 1, "rng": 0}
    functions = cr.federated.learn(
        KMeans(3, n_init=5), study, disclosure=cr.federated.Disclosure(min_cluster_size=6), **question
    )
    assert functions.causes == ()
    assert functions.shelves[0].sizes.min() == 6
    with refused(cr.errors.DataError):
        cr.federated.learn(
            KMeans(3, n_init=5), study, disclosure=cr.federated.Disclosure(min_cluster_size=7), **question
        )


def test_copies_of_a_sample_are_one_sample():
    """A bootstrap draws some samples twice: clusters are counted in different samples."""
    study = study_with_a_small_cluster(12)
    functions = cr.federated.learn(
        KMeans(3, n_init=5),
        study,
        resampling=cr.resampling.Bootstrap(),
        disclosure=cr.federated.Disclosure(min_cluster_size=12),
        n_resamples=20,
        rng=0,
    )
    assert not isinstance(functions.functions(0)[0], Failed)
    assert all(isinstance(function, Failed) for function in functions.functions(0)[1:])


def test_small_clusters_are_merged_if_asked():
    study, rule = study_with_a_small_cluster(), cr.federated.Disclosure(small="merge")
    functions = cr.federated.learn(KMeans(n_init=5), study, n_clusters=(2, 3), disclosure=rule, **RUN)
    assert functions.causes == ()
    merged = functions.functions(1)[0]
    assert merged.n_labels == 2
    assert functions.shelves[1].smallest >= 10
    (entry,) = functions.disclosure_log
    assert str(entry) == "functions of KMeans, k = 3: 6 of 6, small clusters were merged into the nearest"
    means = [study.X[rows].mean(axis=0) for rows in (slice(60), slice(60, 120), slice(120, None))]
    nearest = min(means[:2], key=lambda mean: ((mean - means[2]) ** 2).sum())
    assert np.abs(merged.centroids - (6 * means[2] + 60 * nearest) / 66).max(axis=1).min() < 1e-9


def test_merging_keeps_two_clusters_or_none():
    centres = np.array([[0.0], [1.0], [10.0]])
    means, kept, rows = merge_small(centres, np.array([4, 40, 40]), 10)
    assert means[:, 0].tolist() == [40 / 44, 10.0]
    assert (kept, rows) == ([1, 2], [[1, 0], [2]])
    assert merge_small(centres[:2], np.array([4, 40]), 10) is None


def test_birch_gives_subclusters_above_the_rule_alone():
    study = study_with_a_small_cluster(30)
    kept = cr.federated.learn(Birch(threshold=6.0, n_clusters=2), study, **RUN)
    assert kept.shelves[0].smallest >= 10
    with refused(cr.errors.DataError):
        cr.federated.learn(Birch(threshold=0.2, n_clusters=2), study, **RUN)
    merged = cr.federated.learn(
        Birch(threshold=0.9, n_clusters=2), study, disclosure=cr.federated.Disclosure(small="merge"), **RUN
    )
    assert merged.shelves[0].smallest >= 10


def study_with_a_patient_apart():
    """Single linkage sets one patient apart; fifteen others are nearer to that patient than to their own mean."""
    rng = np.random.default_rng(0)
    blobs = np.concatenate([rng.normal(size=(100, 2)) / 3, rng.normal(size=(100, 2)) / 3 + [10, 0]])
    tail = np.column_stack([np.linspace(10, 14, 60), np.zeros(60)])
    return cr.Study(np.concatenate([blobs, tail, [[16.0, 0.123456]]]), "mainz")


@pytest.mark.parametrize("classifier", [NearestCentroid(), LinearDiscriminantAnalysis()])
def test_means_are_of_the_clusters_that_were_learned_not_of_those_that_they_induce(classifier, tmp_path):
    study = study_with_a_patient_apart()
    single = cr.Induced(AgglomerativeClustering(linkage="single"), classifier=classifier)
    functions = cr.federated.learn(
        single, study, n_clusters=(2, 3), resampling=cr.resampling.Rerun(), n_resamples=1, rng=0
    )
    assert functions.shelves[0].sizes.tolist() == [161, 100]
    assert all(isinstance(function, Failed) for function in functions.functions(1))
    functions.save(tmp_path / "mainz.functions")
    assert not any(np.array(0.123456).tobytes() in content for content in members(tmp_path / "mainz.functions"))
    few = cr.federated.Disclosure(min_cluster_size=1)
    told = cr.federated.learn(
        single, study, n_clusters=3, resampling=cr.resampling.Rerun(), n_resamples=1, rng=0, disclosure=few
    )
    assert told.shelves[0].smallest == 1
    if isinstance(classifier, NearestCentroid):
        induced = np.bincount(told.functions(0)[0].labels(PointSet(study.X)))
        assert induced.min() >= 10  # by which the mean of one patient would have left


def test_copies_are_one_sample_behind_an_induced_function():
    study = study_with_a_small_cluster(12)
    ward = cr.Induced(AgglomerativeClustering(), classifier=NearestCentroid())
    rule = cr.federated.Disclosure(min_cluster_size=12)
    question = {"n_clusters": (2, 3), "resampling": cr.resampling.Bootstrap(), "n_resamples": 10, "rng": 0}
    functions = cr.federated.learn(ward, study, disclosure=rule, **question)
    assert not isinstance(functions.functions(1)[0], Failed)
    assert all(isinstance(function, Failed) for function in functions.functions(1)[1:])


def test_centres_that_are_means_of_a_few_samples_are_withheld(rng):
    """After one step a centre is the mean of the samples that were nearest to its start, perhaps of a single one."""
    study = cr.Study(rng.standard_t(3, size=(300, 2)), "mainz")
    after_one, after_all = (
        cr.federated.learn(KMeans(4, init="random", n_init=1, max_iter=steps), study, n_resamples=20, rng=0)
        for steps in (1, 300)
    )
    kept = [function for function in after_one.functions(0) if not isinstance(function, Failed)]
    assert 0 < len(kept) < 12
    assert sum(not isinstance(function, Failed) for function in after_all.functions(0)) > 15


def samples_averaged(centres, X):
    study = cr.Study(X, "mainz")
    sample = Source(cr.resampling.Rerun(), 0, True).resample(study, PointSet(study.X), 0)
    return _averaged(NearestCentres(np.array(centres)), sample).tolist()


def test_how_many_samples_a_centre_is_the_mean_of(rng):
    X = rng.normal(size=(400, 3)) + 20 * (np.arange(400) < 200)[:, None]
    first, second = X[:200].mean(axis=0), X[200:].mean(axis=0)
    assert samples_averaged([first, second], X) == [400, 400]
    of_one = [samples_averaged([first, x], X)[1] for x in X[200:240]]
    of_five = [samples_averaged([first, X[i : i + 5].mean(axis=0)], X)[1] for i in range(200, 400, 5)]
    assert np.median(of_one) <= 1
    assert 3 <= np.median(of_five) <= 8
    same = np.repeat([[1.1, 2.3, 3.7]], 30, axis=0)
    assert samples_averaged([same.mean(axis=0), first], np.concatenate([same, X[:200]])) == [230, 230]


def test_shares_of_mixtures_are_of_enough_samples():
    """A component's numbers are those of the step before: its share says of how many samples."""
    study = cr.Study(np.random.default_rng(0).standard_t(3, size=(120, 2)), "a")
    short = GaussianMixture(3, max_iter=1, init_params="random_from_data")
    with warned(cr.errors.ReplicateWarning):
        functions = cr.federated.learn(
            short, study, resampling=cr.resampling.Subsample(0.8), n_resamples=20, rng=0
        ).functions(0)
    drawn = [120] + [96] * 20
    samples = [f.weights.min() * n for f, n in zip(functions, drawn, strict=True) if not isinstance(f, Failed)]
    assert len(samples) > 5
    assert min(samples) >= 10 - 1e-6


def test_a_covariance_needs_more_samples_than_features(rng):
    """Of fewer, it is the plane that they lie in."""
    X = rng.normal(size=(60, 15)) + 9 * rng.integers(0, 2, 60)[:, None]
    study = cr.Study(X, "mainz")
    smallest = np.bincount((X.mean(axis=1) > 4.5).astype(int)).min()
    rule = cr.federated.Disclosure(min_cluster_size=5)
    assert smallest > 16
    told = cr.federated.learn(
        GaussianMixture(2), study, resampling=cr.resampling.Rerun(), n_resamples=1, rng=0, disclosure=rule
    )
    assert told.causes == ()
    few = cr.Study(X[:26], "mainz")
    assert np.bincount((X[:26].mean(axis=1) > 4.5).astype(int)).min() < 16
    with refused(cr.errors.DataError):
        cr.federated.learn(
            GaussianMixture(2), few, resampling=cr.resampling.Rerun(), n_resamples=1, rng=0, disclosure=rule
        )
    diag = GaussianMixture(2, covariance_type="diag")
    assert (
        cr.federated.learn(diag, few, resampling=cr.resampling.Rerun(), n_resamples=1, rng=0, disclosure=rule).causes
        == ()
    )


def test_means_of_two_valued_features_that_tell_small_counts_are_logged(rng):
    X = np.column_stack([rng.normal(size=80) + 8 * (np.arange(80) < 40), (np.arange(80) % 20 == 0).astype(float)])
    functions = cr.federated.learn(KMeans(2, n_init=3), cr.Study(X, "mainz", label=False), **RUN)
    (entry,) = functions.disclosure_log
    assert (entry.count, entry.of) == (2, 2)
    assert entry.about == "means of two-valued features of KMeans, not withheld"


def test_of_errors_only_their_kind_leaves_the_site():
    assert harmless("ValueError: sample PATIENT-17 is wrong") == "ValueError"
    assert harmless("fewer clusters than asked for") == "fewer clusters than asked for"
    assert harmless("") == ""


# ---------------------------------------------------------------------------------------------------------------------
# scores


def test_clusters_with_few_samples_at_the_test_site_are_not_told():
    here = cr.Study(study_with_a_small_cluster(30).X, "mainz")
    there = cr.Study(study_with_a_small_cluster(4).X, "vdx")
    scores = cr.federated.score(there, [cr.federated.learn(KMeans(3, n_init=5), here, **RUN)])
    (table,) = scores.clusters
    assert table.sizes.tolist() == [-1, -1, -1]  # with one alone, its size would follow from the others
    assert np.isnan(table.estimate).sum() == 1
    assert np.isnan(table.distribution).all(axis=0).sum() == 1
    assert "fewer than 10 samples here" in repr(scores)


def test_scores_are_rounded_if_asked():
    here, there = (cr.Study(np.random.default_rng(seed).normal(size=(80, 3)), f"site {seed}") for seed in (1, 2))
    functions = [cr.federated.learn(KMeans(2, n_init=3), here, **RUN)]
    exact, rounded = cr.federated.score(there, functions), cr.federated.score(there, functions, decimals=2)
    np.testing.assert_array_equal(rounded.scores, np.round(exact.scores, 2))
    assert not np.array_equal(rounded.scores, exact.scores)
    assert rounded.decimals == 2
    assert "rounded to 2 decimals" in repr(rounded)


def test_the_log_is_in_the_file_and_in_the_result(tmp_path):
    studies = cohorts(30, 2)
    functions = [
        cr.federated.learn(KMeans(n_init=3), study, n_clusters=(2, 3), n_resamples=8, rng=7)
        for study in studies.values()
    ]
    assert any(file.disclosure_log for file in functions)
    functions[0].save(tmp_path / "alpha.functions")
    assert read_file(tmp_path / "alpha.functions").disclosure_log == functions[0].disclosure_log
    with pytest.warns(cr.errors.ReplicateWarning):
        combined = cr.federated.combine(
            [cr.federated.score(study, functions, decimals=3) for study in studies.values()]
        )
    assert [line.split(": ")[0] for line in combined.withheld if "rounded" in line] == ["alpha", "beta"]


# ---------------------------------------------------------------------------------------------------------------------
# secret draws


def test_secret_draws_are_nobody_elses(tmp_path):
    secret = 2**100 + 12345
    study, other = cohorts(90, 2).values()
    public = cr.federated.learn(KMeans(3, n_init=3), study, **RUN)
    hidden, again, another = (
        cr.federated.learn(KMeans(3, n_init=3), study, disclosure=cr.federated.Disclosure(secret=number), **RUN)
        for number in (secret, secret, secret + 1)
    )
    centres = [file.shelves[0].arrays[0].stacked for file in (public, hidden, again, another)]
    np.testing.assert_array_equal(centres[1], centres[2])
    assert not np.array_equal(centres[0], centres[1])
    assert not np.array_equal(centres[1], centres[3])
    hidden.save(tmp_path / "hidden.functions")
    told = b"".join(members(tmp_path / "hidden.functions"))
    assert str(secret).encode() not in told
    assert f"{secret:x}".encode() not in told
    assert "Draws are secret" in repr(hidden)
    assert "others can tell which rows were drawn" in repr(public)
    assert hidden.question.fingerprint == public.question.fingerprint
    of_other = cr.federated.learn(KMeans(3, n_init=3), other, **RUN)
    scores = [
        cr.federated.score(other, [hidden]),
        cr.federated.score(study, [of_other], disclosure=cr.federated.Disclosure(secret=secret)),
    ]
    assert cr.federated.combine(scores).comparison.names == ("beta", "alpha")


@pytest.mark.parametrize("secret", [0, 7, "x", 2**63 - 1, True])
def test_a_secret_that_can_be_guessed_is_refused(secret):
    with refused(cr.errors.ParameterError, "secret") as caught:
        cr.federated.Disclosure(secret=secret)
    assert caught.value.parameter == "secret"


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"min_cluster_size": 0}, "min_cluster_size"),
        ({"small": "drop"}, "small"),
        ({"precision": "half"}, "precision"),
    ],
)
def test_rules_are_checked(options, parameter):
    with pytest.raises(cr.errors.ParameterError) as caught:
        cr.federated.Disclosure(**options)
    assert caught.value.parameter == parameter


def test_single_precision_halves_the_numbers_and_is_said():
    study = named_study()
    double = cr.federated.learn(KMeans(2, n_init=3), study, **RUN)
    single = cr.federated.learn(
        KMeans(2, n_init=3), study, disclosure=cr.federated.Disclosure(precision="single"), **RUN
    )
    (there,), (here,) = double.shelves[0].arrays, single.shelves[0].arrays
    assert here.stacked.dtype == np.float32
    np.testing.assert_array_equal(here.stacked, there.stacked.astype(np.float32))
    assert "single precision" in repr(single)
    assert np.isfinite(cr.federated.score(named_study("vdx", seed=4), [single]).scores).all()
    assert json.dumps(single.inquiry) == json.dumps(double.inquiry)
