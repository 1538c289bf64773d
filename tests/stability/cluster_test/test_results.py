"""Seeds, odd data, results and refusals of the test for clusters."""

from __future__ import annotations

import contextlib

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.helpers import configured
from tests.stability.cluster_test.cases import MANY_FEATURES, largest, standard_normal

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# seeds and workers


def test_workers_and_batches_do_not_matter(X):
    arguments = {"null": standard_normal, "n_resamples": 9, "rng": 4}
    one = cr.stability.cluster_test(X, **arguments)
    for other in (
        cr.stability.cluster_test(X, n_jobs=2, **arguments),
        configured(cr.stability.cluster_test, progress=False)(X, **arguments),
    ):
        np.testing.assert_array_equal(other.null_distribution, one.null_distribution)
        assert other.statistic == one.statistic


def test_draws_belong_to_the_seed_the_study_and_their_number(X):
    def run(name, n_resamples, rng):
        # Of one row alone, so that the others' number does not matter.
        return cr.stability.cluster_test(
            cr.Study(X, name), statistic=largest, n_resamples=n_resamples, rng=rng
        ).null_distribution

    long = run("vdx", 9, 4)
    np.testing.assert_array_equal(run("vdx", 9, 4), long)
    np.testing.assert_array_equal(run("vdx", 4, 4), long[:4])
    assert not np.isin(run("mainz", 9, 4), long).any()
    assert not np.isin(run("vdx", 9, 5), long).any()
    assert len(set(long.tolist())) == 9


def test_a_seed_that_was_not_given_is_kept(X):
    result = cr.stability.cluster_test(X, n_resamples=3)
    again = cr.stability.cluster_test(X, n_resamples=3, rng=result.provenance["seed"])
    np.testing.assert_array_equal(again.null_distribution, result.null_distribution)


# ---------------------------------------------------------------------------------------------------------------------
# small and odd data


@MANY_FEATURES
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("p", [1, 2, 20])
def test_few_samples_have_a_pvalue(n, p, rng):
    result = cr.stability.cluster_test(rng.normal(size=(n, p)), n_resamples=9, rng=0)
    assert 0.1 <= result.pvalue <= 1
    assert result.statistic > 0
    assert len(result.values) == len(result.null_mean_values) == n


def test_constant_data_are_no_evidence():
    result = cr.stability.cluster_test(cr.Study(np.full((5, 2), 2.5), "X", label=False), n_resamples=9, rng=0)
    assert result.statistic == 0
    assert result.pvalue == 1


def test_copies_have_distance_zero(X):
    result = cr.stability.cluster_test(np.repeat(X, 2, axis=0), n_resamples=39, rng=0)
    np.testing.assert_array_equal(result.values, [0] * 26)
    assert result.pvalue == 1 / 40


def test_tables_of_any_kind_give_the_same(X):
    X = np.rint(4 * X) / 4  # exact in single precision
    plain = cr.stability.cluster_test(X, n_resamples=5, rng=0)
    for table in (X.tolist(), X.astype(np.float32), pd.DataFrame(X, columns=["a", "b", "c"]), cr.Study(X, "X")):
        np.testing.assert_array_equal(
            cr.stability.cluster_test(table, n_resamples=5, rng=0).null_distribution, plain.null_distribution
        )


# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture
def result(X):
    return cr.stability.cluster_test(cr.Study(X, "vdx"), n_resamples=19, rng=6)


def test_the_null_distribution_is_kept(result):
    assert result.null_distribution.shape == (19,)
    assert result.pvalue == (1 + np.count_nonzero(result.null_distribution >= result.statistic)) / 20


def test_a_saved_result_is_the_same_when_loaded(result, tmp_path):
    result.save(tmp_path / "test.clustrep")
    loaded = cr.load(tmp_path / "test.clustrep")
    assert type(loaded) is type(result)
    for name in ("null_distribution", "values", "null_mean_values"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert (loaded.statistic, loaded.pvalue, loaded.provenance) == (result.statistic, result.pvalue, result.provenance)
    assert repr(loaded) == repr(result)


@pytest.mark.parametrize("name", ["null_distribution", "values", "null_mean_values"])
def test_arrays_are_read_only(result, name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(result, name)[0] = 0


def test_the_frame_has_one_row(result):
    frame = result.to_frame()
    assert list(frame) == ["statistic", "pvalue", "n_resamples", "null"]
    assert frame.iloc[0].tolist() == [result.statistic, result.pvalue, 19, "'gaussian'"]
    assert len(frame) == 1


def test_a_result_in_words(result, X):
    assert repr(result).startswith(f"Test for clusters: p = {result.pvalue:.3g} (statistic {result.statistic:.4g}, ")
    assert "19 data sets from the null 'gaussian', seed 6)" in repr(result)
    assert "whitened" in repr(cr.stability.cluster_test(X, whiten=True, n_resamples=1, rng=0))
    assert "1 data set from" in repr(cr.stability.cluster_test(X, n_resamples=1, rng=0))


def test_the_provenance_says_how_it_was_made(X):
    arguments = {"whiten": True, "n_components": 2, "squared": False, "n_resamples": 2}
    provenance = cr.stability.cluster_test(cr.Study(X, "vdx"), rng=8, **arguments).provenance
    assert provenance["seed"] == 8
    assert {key: provenance[key] for key in arguments} == arguments
    assert provenance["studies"]["vdx"]["samples"] == 13


def test_a_plot_shows_the_null_distribution_and_the_observed_statistic(result):
    _, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert sum(bar.get_height() for bar in ax.patches) == 19
    assert list(ax.lines[0].get_xdata()) == [result.statistic] * 2
    assert result.plot() is not ax
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"null": "gausian"},
            ParameterError,
            r"null must be one of 'gaussian', 'sample', or a function.* Did you mean 'gaussian'",
        ),
        ({"measure": "median"}, ParameterError, "measure must be one of 'nearest', or a function of a table"),
        ({"statistic": 3}, ParameterError, "statistic must be one of 'cdf', or a function of all values; got 3"),
        ({"n_resamples": 0}, ParameterError, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 9.0}, ParameterError, "n_resamples must be a positive integer, got 9.0"),
        ({"whiten": "yes"}, ParameterError, "whiten must be True or False, got 'yes'"),
        ({"squared": 1}, ParameterError, "squared must be True or False, got 1"),
        ({"n_components": 0}, ParameterError, "n_components must be a positive integer, got 0"),
        ({"n_components": 4}, ParameterError, "n_components must be at most 3, got 4"),
        ({"rng": "seed"}, ParameterError, "rng must be"),
        ({"null": lambda X, rng: X[:5]}, DataError, r"like X, of \(13, 3\), got \(5, 3\)"),
        ({"null": lambda X, rng: X[:, :2]}, DataError, r"like X, of \(13, 3\), got \(13, 2\)"),
        ({"null": lambda X, rng: X * np.nan}, DataError, "What null returned has 39 missing values"),
        ({"measure": lambda X: 1.0}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: X}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: []}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: [1, np.inf]}, DataError, "measure must return finite numbers in one dimension"),
        ({"measure": lambda X: X[X[:, 0] > 5, 0]}, DataError, "as many values for every data set as for the observed"),
        ({"statistic": lambda values: values[1:, 0]}, DataError, "one number for each of the 10 data sets"),
        ({"statistic": lambda values: values}, DataError, "one number for each of the 10 data sets"),
        ({"statistic": lambda values: values[:, 0] * np.nan}, DataError, "one number for each of the 10 data sets"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, message, X):
    with pytest.raises(error, match=message):
        cr.stability.cluster_test(X, **{"n_resamples": 9, "rng": 0, **arguments})


def test_components_are_fewer_than_samples(rng):
    with pytest.raises(ParameterError, match="n_components must be at most 3, got 4"):
        cr.stability.cluster_test(rng.normal(size=(4, 9)), n_components=4, n_resamples=3)


def test_tables_that_are_none_are_refused(X):
    with pytest.raises(ParameterError, match="X must be one study or table, got Studies"):
        cr.stability.cluster_test(cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="at least 2 are needed"):
        cr.stability.cluster_test(X[:1])
    with pytest.raises(DataError, match="missing value"):
        cr.stability.cluster_test(np.where(X > 6, np.nan, X))


@pytest.mark.parametrize("what", ["measure", "statistic"])
def test_text_is_no_measurement(what, X):
    with pytest.raises(DataError, match=f"{what} must return"):
        cr.stability.cluster_test(X, n_resamples=3, **{what: lambda values: ["high"] * len(values)})


@pytest.mark.parametrize(
    ("n", "d", "warned"), [(7, 4, True), (8, 4, True), (9, 4, False), (12, 5, True), (13, 5, False), (40, 100, True)]
)
def test_many_features_are_warned_about_unless_the_test_is_exact(n, d, warned, rng):
    X = rng.normal(size=(n, d))
    sentence = (
        rf"^X has {d} features and {n} samples: with so few samples for the number of features, a Gaussian that is "
        r"fitted to them can make the test reject too often\. cluster_test\(whiten=True\) is exact; "
    )
    with pytest.warns(DataWarning, match=sentence) if warned else contextlib.nullcontext():
        cr.stability.cluster_test(X, n_resamples=2, rng=0, null="sample")
    cr.stability.cluster_test(X, n_resamples=2, n_components=2, rng=0, null="sample")
    cr.stability.cluster_test(X, n_resamples=2, null=lambda X, rng: rng.normal(size=X.shape), rng=0)
    if n >= d + 2:
        cr.stability.cluster_test(X, n_resamples=2, whiten=True, rng=0, null="sample")


def test_a_clusterer_or_several_studies_are_no_table(rng):
    with pytest.raises(ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments"):
        cr.stability.cluster_test(KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.stability.cluster_test({"a": rng.normal(size=(9, 2))})
