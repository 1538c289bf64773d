"""Maps of local scores, bars of clusters, and who shares a point's cluster."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from sklearn.cluster import AgglomerativeClustering
from tests.plots.samples import inches, local_of, rendered, texts_of, vars_of

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.plots.canvas import DOUBLE, SINGLE


def test_the_map_has_shapes_for_clusters_and_sizes_for_deviations(local):
    ax = rendered(local.plot())
    (dots,) = ax.collections
    np.testing.assert_array_equal(dots.get_array(), local.mean)
    np.testing.assert_allclose(dots.get_sizes(), 12 + 120 * local.sd)
    clusters, codes = np.unique(local.labels, return_inverse=True)
    outlines = [path.vertices.tobytes() for path in dots.get_paths()]
    assert len(set(zip(codes.tolist(), outlines, strict=True))) == len(set(outlines)) == len(clusters)
    words = texts_of(ax.get_legend().get_texts())
    assert words[:3] == [f"cluster {name}" for name in clusters]
    assert [word.split()[0] for word in words[3:]] == ["sd"] * 3
    assert ax.get_title() == "KMeans, k = 3: alpha on beta"


def test_many_clusters_share_one_shape(cohorts):
    ax = rendered(local_of(cohorts["alpha"], cohorts["beta"], k=9).plot())
    assert len(ax.collections[0].get_paths()) == 1
    assert not any("cluster" in word for word in texts_of(ax.get_legend().get_texts()))


def test_the_map_is_placed_as_asked(local, cohorts):
    first, again = (local.plot(points="tsne").collections[0].get_offsets() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == (30, 2)
    assert local.plot(points="tsne").get_xlabel() == "first t-SNE coordinate"
    given = np.arange(60.0).reshape(30, 2)
    np.testing.assert_array_equal(local.plot(points=given).collections[0].get_offsets(), given)
    turned = local.plot(points="pca").collections[0].get_offsets()
    np.testing.assert_allclose(turned, local.plot().collections[0].get_offsets())
    X = cohorts["alpha"].X - cohorts["alpha"].X.mean(axis=0)
    np.testing.assert_allclose((turned**2).sum(axis=0), np.linalg.svd(X)[1][:2] ** 2)


def test_one_feature_is_drawn_against_the_score(cohorts):
    line = local_of(cohorts["alpha"].X[:, :1], cohorts["beta"].X[:, :1])
    drawn = rendered(line.plot()).collections[0].get_offsets()
    np.testing.assert_allclose(drawn, np.column_stack([cohorts["alpha"].X[:, 0], line.mean]))
    assert rendered(line.plot(points="tsne")).get_ylabel() == "second t-SNE coordinate"


def test_clusters_are_bars_with_intervals(local):
    ax = rendered(local.plot(kind="clusters"))
    frame = local.by_cluster()
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], frame["mean"])
    drawn = [[segment[0, 1], segment[1, 1]] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(drawn, frame[["low", "high"]])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), frame["estimate"])
    expected = [f"{name}\nn = {size}" for name, size in zip(frame["cluster"], frame["size"], strict=True)]
    assert texts_of(ax.get_xticklabels()) == expected


def test_many_clusters_have_their_names_upright(cohorts):
    many = local_of(cohorts["alpha"], cohorts["beta"], k=14)
    np.testing.assert_allclose(inches(many.plot(kind="clusters"))[0], DOUBLE)
    _, ax = plt.subplots(figsize=(SINGLE, 2), layout="constrained")
    rendered(many.plot(ax, kind="clusters"))
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90}


def test_a_loaded_result_needs_points(local, tmp_path):
    given = np.arange(60.0).reshape(30, 2)
    local.save(tmp_path / "local.npz")
    loaded = cr.load(tmp_path / "local.npz")
    rendered(loaded.plot(points=given))
    rendered(loaded.plot(kind="clusters"))
    with pytest.raises(ParameterError):
        loaded.plot()
    with pytest.raises(ParameterError):
        loaded.plot(points="tsne")


def sometimes(X):
    """Fails where the first sample was not drawn; at a share of the resamples."""
    if X[:, 0].max() < 5:
        raise RuntimeError("the largest is missing")
    return (X[:, 0] > 1).astype(int)


def test_local_figures_bear_one_resample_and_failures():
    X = np.array([0.0, 0.5, 0.7, 2, 3, 6])[:, None] * [1, 2, -1]
    one = cr.local_replicability(AgglomerativeClustering(2), train=X, test=X + 0.1, n_resamples=1, rng=0)
    assert np.isnan(one.sd).all()
    with pytest.warns(cr.errors.ReplicateWarning):
        failing = cr.local_replicability(sometimes, train=X, test=X + 0.1, agreement="mi", n_resamples=9, rng=0)
    for result in (one, failing):
        rendered(result.plot())
        rendered(result.plot(kind="clusters"))


def test_points_without_a_score_are_grey(local):
    tables = np.full_like(local.tables, np.nan)
    nothing = type(local)(**{**vars_of(local), "tables": tables, "estimate": np.full(30, np.nan)})
    ax = rendered(nothing.plot())
    colours = {tuple(colour) for colour in ax.collections[0].get_facecolors()}
    assert colours == {to_rgba("0.88")}
    rendered(nothing.plot(kind="clusters"))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"kind": "maps"}, ParameterError),
        ({"points": "umap"}, ParameterError),
        ({"points": np.zeros((4, 2))}, DataError),
        ({"kind": "clusters", "points": "pca"}, ParameterError),
        ({"ax": "here"}, ParameterError),
        ({"ax": "here", "kind": "clusters"}, ParameterError),
    ],
)
def test_what_local_figures_refuse(local, options, error):
    with pytest.raises(error):
        local.plot(**options)
    assert not plt.get_fignums()


def test_few_points_have_no_tsne():
    X = np.array([[0.0, 1, 2], [0, 1, 3], [5, 6, 7]])
    few = local_of(np.vstack([X, X + 1]), np.vstack([X, X + 2]), k=2, n_resamples=1, at=X)
    with pytest.raises(ParameterError):
        few.plot(points="tsne")


def test_clusters_stand_in_the_order_of_their_labels(cohorts):
    many = local_of(cohorts["alpha"], cohorts["beta"], k=12, n_resamples=2)
    names = texts_of(many.plot(kind="clusters").get_xticklabels())
    assert [name.split(" ")[0] for name in names] == [str(cluster) for cluster in range(12)]
