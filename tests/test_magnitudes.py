"""The unit of the data changes no score; values whose squares are no numbers are refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.errors import DataError

POWERS_OF_TWO = [2.0**-498, 2.0**-300, 2.0**300, 2.0**498]
SCALES = [1e-150, 1e-75, *POWERS_OF_TWO, 1e75, 1e150]


def clusters(seed, n_samples, n_features):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, 0.3, (n_samples, n_features)) for centre in (0, 2, 5)])


def tables(n_features, scale=1.0):
    return {"a": scale * clusters(1, 15, n_features), "b": scale * clusters(2, 14, n_features)}


def score(clusterer, *, n_features=3):
    return lambda scale: cr.replicability(
        clusterer, tables(n_features, scale), n_resamples=5, rng=0, n_jobs=1
    ).distribution.round(9)


def null(name, *, n_features=3):
    def compare(scale):
        result = cr.replicability(KMeans(3, n_init=2), tables(n_features, scale), n_resamples=2, rng=0, n_jobs=1)
        reference = cr.null_reference(result, n=19, null=name, rng=0, n_jobs=1)
        return np.append(np.ravel(reference.pvalue), np.ravel(reference.mean).round(9))

    return compare


def test_for_clusters(scale, **options):
    return cr.stability.cluster_test(tables(3, scale)["a"], n_resamples=99, rng=0, n_jobs=1, **options).pvalue


test_for_clusters.__test__ = False


def analysis(scale):
    clusterers = {"k-means": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    options = {"n_clusters": [2, 3], "n_resamples": 4, "n_null": 19, "rng": 0, "n_jobs": 1}
    return str(cr.analyse(clusterers, tables(3, scale), **options))


QUESTIONS = {
    "k-means": score(KMeans(3, n_init=2)),
    "ward": score(AgglomerativeClustering(3)),
    "average": score(AgglomerativeClustering(3, linkage="average")),
    "k-means, many features": score(KMeans(3, n_init=2), n_features=70),
    "elliptical": null("elliptical"),
    "margins": null("margins"),
    "components": null("components"),
    "gaussian": null("gaussian"),
    "copula": null("copula"),
    "components, many features": null("components", n_features=70),
    "test": test_for_clusters,
    "test, whitened": lambda scale: test_for_clusters(scale, whiten=True),
    "test, sample covariance": lambda scale: test_for_clusters(scale, null="sample"),
    "separation": lambda scale: str(
        cr.separation.density_valleys(KMeans(3, n_init=2), tables(3, scale), rng=0, n_jobs=1)
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_unit_changes_no_score(name):
    at_unit_scale = QUESTIONS[name](1.0)
    # Of several rotations to independent components the likeliest is taken, which rounding may decide.
    for scale in POWERS_OF_TWO if name.startswith("components") else SCALES:
        np.testing.assert_array_equal(QUESTIONS[name](scale), at_unit_scale, err_msg=f"{scale:g}")


def test_the_unit_changes_no_analysis():
    at_unit_scale = analysis(1.0)
    assert analysis(1e-150) == at_unit_scale
    assert analysis(1e150) == at_unit_scale


CALLS = {
    "study": lambda X: cr.Study(X, "a"),
    "replicability": lambda X: cr.replicability(KMeans(2), {"a": X, "b": X[::-1]}, n_resamples=2, rng=0),
    "cluster_test": lambda X: cr.stability.cluster_test(cr.Study(X, "a"), n_resamples=19, rng=0),
    "separation": lambda X: cr.separation.density_valleys(KMeans(2), {"a": X, "b": X[::-1]}, rng=0),
    "analyse": lambda X: cr.analyse({"k-means": KMeans()}, {"a": X, "b": X[::-1]}, n_clusters=2, rng=0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_values_without_distances_are_refused(call):
    X = clusters(1, 15, 3)
    for scale in (1e300, 1e-170, 1e-300):
        with pytest.raises(DataError):
            call(scale * X)


def test_what_is_near_the_largest_number_is_refused_without_a_warning():
    X = np.array([[-1.7e308, 0.0], [1.7e308, 1.0]])
    with pytest.raises(DataError):
        cr.Study(X, "a")


def test_values_that_do_not_differ_are_allowed():
    assert not cr.Study(np.zeros((4, 2)), "a").X.any()
    assert cr.Study(np.full((4, 2), 1e-300), "a").X.max() == 1e-300
    one_small = cr.Study(np.column_stack([1e-200 * np.arange(5), np.arange(5)]), "a", label=False)
    assert one_small.X.shape == (5, 2)


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1.0, np.float32), (1e10, np.float32), (1e-10, np.float32), (1e17, float), (1e-17, float)]
)
def test_single_precision_is_kept_where_squares_have_room_in_it(scale, dtype):
    X = clusters(1, 15, 3).astype(np.float32) * np.float32(scale)
    assert cr.Study(X, "a").X.dtype == dtype
    with cr.config_context(accelerate=False):
        result = cr.replicability(KMeans(3, n_init=2), {"a": X, "b": X[::-1]}, n_resamples=3, rng=0)
    assert result.failures == {}
    assert result.estimate[0, 1] == 1
