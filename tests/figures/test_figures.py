"""Figures by their data: what is drawn is what the result holds; names are literal; settings are left alone."""

from __future__ import annotations

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.figures.matplotlib.style import COLOURS, DOUBLE, MARKERS, SINGLE, literal
from clustrep.provenance import Provenance
from clustrep.results import Comparison, NullReference, Replicability

LETTERS = tuple("abcdefghij")


@pytest.fixture(autouse=True)
def _nothing_left_behind():
    """Close all figures, and see that no setting was changed."""
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def scores(shape, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape)


def replicability(distribution, *, names=None, agreement="ari", clusterer="ward", diagonal=True):
    distribution = np.array(distribution, dtype=float)
    B, S = distribution.shape[:2]
    if not diagonal:
        distribution[:, np.eye(S, dtype=bool)] = np.nan
    return Replicability(
        names=names or LETTERS[:S],
        agreement=agreement,
        clusterer=clusterer,
        n_clusters=4,
        estimate=scores((S, S), 1),
        distribution=distribution,
        trivial=np.zeros((B, S, S), dtype=bool),
        clusters_found=np.full((B, S), 4),
        failed=np.zeros((B + 1, S, S), dtype=int),
        causes=(),
        provenance={"seed": 1, "clusterers": {clusterer: {}}, "diagonal": diagonal},
    )


def comparison(clusterers, n_clusters, *, B=5, S=3, names=None, agreements=("ari", "ami"), distribution=None):
    C, A = len(clusterers), len(agreements)
    distribution = scores((C, A, B, S, S)) if distribution is None else distribution
    return Comparison(
        names=names or LETTERS[:S],
        agreements=agreements,
        clusterers=tuple(clusterers),
        n_clusters=tuple(n_clusters),
        estimate=distribution.mean(axis=2),
        distribution=distribution,
        trivial=np.zeros((C, B, S, S), dtype=bool),
        clusters_found=np.full((C, B, S), 2),
        failed=np.zeros((C, A, B + 1, S, S), dtype=int),
        causes=(),
        provenance=Provenance(seed=1, parameters={"diagonal": True}),
    )


def over_k(clusterers, ks, **options):
    """A comparison of some clusterers, each with all k."""
    return comparison([name for name in clusterers for _ in ks], [k for _ in clusterers for k in ks], **options)


def reference_of(result, statistic="estimate", n=39):
    observed = result.estimate if statistic == "estimate" else np.nanmean(result.distribution, axis=2)
    off = ~np.eye(len(result.names), dtype=bool)
    return NullReference(
        kind="comparison",
        statistic=statistic,
        names=result.names,
        agreements=result.agreements,
        clusterers=result.clusterers,
        n_clusters=result.n_clusters,
        clusters=np.zeros(0, dtype=int),
        observed=np.where(off, observed, np.nan),
        distribution=scores((n, *observed.shape), 2) / 3,
        provenance={"null": "'gaussian'", "seed": 1, "of": result._fingerprint},
    )


@pytest.fixture(scope="module")
def cohorts():
    return cr.datasets.simulate_cohorts(n_cohorts=3, n_samples=30, n_features=5, rng=1).scaled("zscore")


def local_of(train, test, k=3, n_resamples=6, **options):
    return cr.local_replicability(
        KMeans(k, n_init=1), train=train, test=test, n_resamples=n_resamples, rng=0, **options
    )


@pytest.fixture(scope="module")
def local(cohorts):
    return local_of(cohorts["alpha"], cohorts["beta"])


def texts_of(labels):
    return [label.get_text() for label in labels]


def rendered(drawn):
    """Draw a figure for good: mathematics that can't be read fails here, and so does any warning."""
    ax = np.ravel(drawn)[0]
    ax.figure.savefig(io.BytesIO(), format="png", dpi=40)
    return drawn


def inches(drawn):
    return np.ravel(drawn)[0].figure.get_size_inches()


# ---------------------------------------------------------------------------------------------------------------------
# curves


def test_curves_show_means_intervals_and_deviations():
    result = over_k(["ward", "k-means"], [4, 2, 3])
    ax = rendered(result.plot(agreement="ami"))
    summary = result.summary()
    off = ~np.eye(3, dtype=bool)
    for i, name in enumerate(["ward", "k-means"]):
        own = summary[(summary["clusterer"] == name) & (summary["agreement"] == "ami")].sort_values("k")
        line = ax.lines[i]
        assert line.get_xdata().tolist() == [2, 3, 4]
        np.testing.assert_allclose(line.get_ydata(), own["score"])
        assert (line.get_color(), line.get_marker(), line.get_label()) == (COLOURS[i], MARKERS[i], name)
        band, bars = ax.collections[2 * i : 2 * i + 2]
        assert to_hex(band.get_facecolor()[0]) == COLOURS[i].lower()
        for k, low, high in zip(own["k"], own["low"], own["high"], strict=True):
            at_k = band.get_paths()[0].vertices
            at_k = at_k[at_k[:, 0] == k, 1]
            np.testing.assert_allclose((at_k.min(), at_k.max()), (low, high))
        averages = result.distribution[[own.index[j] // 2 for j in range(3)], 1][..., off].mean(axis=-1)
        lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
        np.testing.assert_allclose(lengths, 2 * averages.std(axis=1, ddof=1))
        assert to_hex(bars.get_color()[0]) == COLOURS[i].lower()
    assert texts_of(ax.get_legend().get_texts()) == ["ward", "k-means", "± sd over resamples", "95 % interval"]
    assert ax.get_ylabel() == "AMI, mean over pairs of studies"
    assert ax.get_xticks().tolist() == [2, 3, 4]
    np.testing.assert_allclose(inches(ax)[0], SINGLE)


def test_five_clusterers_and_forty_k_have_few_ticks_and_double_width():
    result = comparison(
        [name for name in "vwxyz" for _ in range(39)] + ["own"], [*list(range(2, 41)) * 5, None], agreements=("ari",)
    )
    ax = rendered(result.plot())
    assert len(ax.lines) == 6
    assert len({line.get_color() for line in ax.lines}) == 6
    assert len(ax.get_xticks()) <= 12
    np.testing.assert_allclose(inches(ax)[0], DOUBLE)
    legend = ax.get_legend().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1
    assert ax.lines[5].get_linestyle() != "-"
    assert ax.lines[5].get_ydata()[0] == result.summary()["score"].iloc[-1]


def test_no_two_of_many_clusterers_look_the_same():
    ax = rendered(over_k(LETTERS, [2, 3], agreements=("ari",)).plot())
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}) == len(LETTERS)


def test_ks_that_stand_close_are_not_all_labelled():
    ax = over_k(["ward"], [2, 3, 4, 100]).plot()
    assert ax.get_xticks().tolist() != [2, 3, 4, 100]
    assert over_k(["ward"], [2, 5, 30]).plot().get_xticks().tolist() == [2, 5, 30]


def test_a_reference_is_grey_for_one_clusterer():
    result = over_k(["ward"], [2, 3, 4])
    reference = reference_of(result)
    ax = rendered(result.plot(reference=reference))
    mean = ax.lines[1]
    assert (mean.get_color(), mean.get_linestyle()) == ("0.35", "--")
    np.testing.assert_allclose(mean.get_ydata(), reference.overall_distribution[:, :, 0].mean(axis=0))
    low, high = np.quantile(reference.overall_distribution[:, :, 0], [0.025, 0.975], axis=0)
    band = ax.collections[2].get_paths()[0].vertices
    for i, k in enumerate([2, 3, 4]):
        own = band[band[:, 0] == k, 1]
        np.testing.assert_allclose((own.min(), own.max()), (low[i], high[i]))
    np.testing.assert_allclose(ax.collections[3].get_offsets()[:, 1], reference.overall[:, 0])
    assert texts_of(ax.get_legend().get_texts())[-2:] == ["R̂ without clusters, 95 %", "R̂ of the studies"]


def test_a_reference_is_hatched_for_several_and_named_for_what_it_is():
    result = comparison(["ward", "ward", "own"], [2, 3, None])
    ax = rendered(result.plot(reference=reference_of(result, "mean")))
    hatched = [one for one in ax.collections if one.get_hatch()]
    assert [to_hex(one.get_edgecolor()[0]) for one in hatched] == [colour.lower() for colour in COLOURS[:2]]
    assert len({one.get_hatch() for one in hatched}) == 2
    assert texts_of(ax.get_legend().get_texts())[-1] == "without clusters, 95 %"


def test_a_reference_of_something_else_is_refused():
    result = over_k(["ward"], [2, 3])
    with pytest.raises(ParameterError, match="reference must be null_reference"):
        result.plot(reference=reference_of(over_k(["ward"], [2, 3, 4])))
    with pytest.raises(ParameterError, match="reference must be left out with kind='matrices'"):
        result.plot(kind="matrices", reference=reference_of(result))


def test_curves_bear_what_is_missing():
    distribution = scores((4, 1, 1, 2, 2))
    distribution[1] = np.nan
    one = comparison(["a", "a", "a", "b"], [2, 3, 4, None], B=1, S=2, agreements=("mi",), distribution=3 * distribution)
    ax = rendered(one.plot())
    assert np.isnan(ax.lines[0].get_ydata()).tolist() == [False, True, False]
    assert ax.get_ylim()[1] > 3 * np.nanmax(distribution[:3].mean(axis=(-1, -2)))
    rendered(one.plot(kind="matrices"))
    none = comparison(["a"], [None], B=1, S=2, agreements=("ari",), distribution=np.full((1, 1, 1, 2, 2), np.nan))
    ax = rendered(none.plot())
    assert ax.get_xlabel() == "(no number of clusters to set)"
    assert ax.get_xticks().tolist() == []
    rendered(none.plot(kind="matrices"))


# ---------------------------------------------------------------------------------------------------------------------
# matrices


def test_matrices_are_a_grid_of_clusterers_and_k():
    result = over_k(["ward", "k-means"], [2, 3, 4], S=4)
    axes = rendered(result.plot(agreement="ami", kind="matrices"))
    assert axes.shape == (2, 3)
    means = result.distribution[:, 1].mean(axis=1)
    for c, ax in enumerate(axes.flat):
        np.testing.assert_allclose(ax.images[0].get_array(), means[c])
        assert ax.images[0].get_clim() == (0, 1)
        assert texts_of(ax.texts)[1] == f"{means[c, 0, 1]:.2f}"[1:]
    assert [ax.get_title() for ax in axes.flat] == ["k = 2", "k = 3", "k = 4", "", "", ""]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["ward", "k-means"]
    figure = axes[0, 0].figure
    assert (figure.get_supxlabel(), figure.get_supylabel(), figure.get_suptitle()) == ("tested on", "trained on", "")
    assert len(figure.axes) == 7
    assert figure.axes[-1].get_ylabel() == "AMI, bootstrap mean"


def test_matrices_of_many_k_are_six_and_say_so():
    axes = rendered(over_k(["ward"], range(2, 41)).plot(kind="matrices"))
    assert [ax.get_title() for ax in axes[0]] == [f"k = {k}" for k in (2, 10, 17, 25, 32, 40)]
    expected = "6 of 39 numbers of clusters, those nearest to evenly spaced ones"
    assert axes[0, 0].figure.get_suptitle() == expected


def test_matrices_of_a_clusterer_without_k_stand_first_in_their_row():
    result = comparison(["ward", "ward", "own"], [2, 3, None])
    axes = rendered(result.plot(kind="matrices"))
    assert [ax.get_visible() for ax in axes.flat] == [True, True, True, False]
    assert axes[1, 0].get_title() == "its own k"
    np.testing.assert_allclose(axes[1, 0].images[0].get_array(), result.distribution[2, 0].mean(axis=0))


def test_matrices_of_ten_studies_have_no_numbers():
    axes = rendered(over_k(["ward"], range(2, 8), S=10).plot(kind="matrices"))
    assert not any(ax.texts for ax in axes.flat)
    np.testing.assert_allclose(inches(axes)[0], DOUBLE)


# ---------------------------------------------------------------------------------------------------------------------
# the matrix and the distribution


@pytest.mark.parametrize("S", [2, 4, 10])
def test_the_matrix_has_mean_and_deviation_in_its_cells(S):
    result = replicability(scores((6, S, S)))
    ax = rendered(result.plot())
    np.testing.assert_allclose(ax.images[0].get_array(), result.mean)
    assert texts_of(ax.texts) == [
        f"{mean:.2f}\n±{sd:.2f}" for mean, sd in zip(result.mean.flat, result.sd.flat, strict=True)
    ]
    assert all(6 <= text.get_fontsize() <= 8 for text in ax.texts)
    assert texts_of(ax.get_xticklabels()) == texts_of(ax.get_yticklabels()) == list(LETTERS[:S])


def test_the_matrix_bears_what_is_missing():
    distribution = scores((1, 3, 3))
    distribution[0, 0, 1] = np.nan
    ax = rendered(replicability(distribution, diagonal=False).plot())
    written = texts_of(ax.texts)
    assert [written[i] for i in (0, 1, 4, 8)] == ["", "–", "", ""]
    assert written[2] == f"{distribution[0, 0, 2]:.2f}"
    rendered(replicability(np.full((2, 2, 2), np.nan)).plot())
    unbounded = rendered(replicability(4 * scores((3, 2, 2)), agreement="mi").plot())
    assert unbounded.images[0].get_clim()[1] > 1


def test_numbers_are_left_out_of_small_axes():
    _, axes = plt.subplots(1, 4, figsize=(4, 2))
    assert not replicability(scores((3, 8, 8))).plot(axes[0]).texts


def test_the_distribution_has_a_strip_for_every_pair():
    result = replicability(scores((7, 3, 3)))
    ax = rendered(result.plot(kind="distribution"))
    pairs = [(s, t) for s in range(3) for t in range(3) if s != t]
    assert texts_of(ax.get_yticklabels()) == [f"{LETTERS[s]} → {LETTERS[t]}" for s, t in pairs]
    *dots, means, estimates = ax.lines
    for y, (line, pair) in enumerate(zip(dots, pairs, strict=True)):
        np.testing.assert_array_equal(line.get_xdata(), result.distribution[(slice(None), *pair)])
        np.testing.assert_allclose(line.get_ydata(), y + np.linspace(-0.3, 0.3, 7))
    np.testing.assert_allclose(means.get_xdata(), [result.mean[pair] for pair in pairs])
    np.testing.assert_allclose(estimates.get_xdata(), [result.estimate[pair] for pair in pairs])
    lengths = [segment[1, 0] - segment[0, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(lengths, [2 * result.sd[pair] for pair in pairs])
    assert ax.get_title() == "ward, k = 4"
    assert texts_of(ax.get_legend().get_texts()) == ["resamples", "mean ± sd", "R̂"]


def test_many_pairs_are_those_with_the_widest_spread():
    distribution = scores((6, 7, 7))
    distribution[:, 2, 3] = 0.5
    result = replicability(distribution)
    ax = rendered(result.plot(kind="distribution"))
    assert ax.get_title() == "ward, k = 4\n30 of 42 pairs: the widest spread"
    names = texts_of(ax.get_yticklabels())
    assert len(names) == 30
    assert "c → d" not in names
    by_spread = sorted(((s, t) for s in range(7) for t in range(7) if s != t), key=lambda pair: -result.sd[pair])
    assert names == [f"{LETTERS[s]} → {LETTERS[t]}" for s, t in sorted(by_spread[:30])]


@pytest.mark.parametrize("agreement", ["ari", "mi"])
def test_the_distribution_bears_one_resample_and_missing_scores(agreement):
    distribution = scores((1, 10, 10)) * (3 if agreement == "mi" else 1)
    distribution[0, 0, 1] = np.nan
    ax = rendered(replicability(distribution, agreement=agreement).plot(kind="distribution"))
    assert len(ax.get_yticks()) == 30
    assert ax.get_xlim()[1] > np.nanmax(distribution[:, 0]) if agreement == "mi" else ax.get_xlim()[1] == 1.03


# ---------------------------------------------------------------------------------------------------------------------
# local replicability


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
    axes = rendered(line.plot(kind="co-clustering", point=2))
    for ax, share in zip(axes, line.co_clustering(2), strict=True):
        np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([cohorts["beta"].X[:, 0], share]))
        assert ax.lines[0].get_ydata().tolist() == [1.0]


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


def test_who_shares_a_points_cluster(local, cohorts):
    axes = rendered(local.plot(kind="co-clustering", point=4))
    assert axes.shape == (2,)
    X, shares = cohorts["beta"].X, local.co_clustering(4)
    both = np.vstack([X, cohorts["alpha"].X[4]])
    for ax, share, name in zip(axes, shares, ("alpha", "beta"), strict=True):
        np.testing.assert_array_equal(ax.collections[0].get_array(), share)
        assert ax.get_title() == f"function learned on {name}"
        placed = np.vstack([ax.collections[0].get_offsets(), ax.lines[0].get_xydata()])
        centred = both - both.mean(axis=0)
        np.testing.assert_allclose((placed**2).sum(axis=0), np.linalg.svd(centred)[1][:2] ** 2)
        assert ax.lines[0].get_marker() == "X"
    words = axes[0].figure.get_suptitle()
    assert words == f"KMeans, k = 3; alpha5: local ARI {local.mean[4]:.2f} ± {local.sd[4]:.2f}"


def test_test_points_are_placed_as_asked(local, tmp_path):
    given = np.arange(60.0).reshape(30, 2)
    axes = local.plot(kind="co-clustering", point=0, test_points=given)
    np.testing.assert_array_equal(axes[1].collections[0].get_offsets(), given)
    assert not axes[0].lines  # nobody knows where the point would be there
    axes = local.plot(kind="co-clustering", point=3, test_points=given, points=given[::-1])
    assert axes[0].lines[0].get_xydata().tolist() == [given[::-1][3].tolist()]
    axes = rendered(local.plot(kind="co-clustering", point=3, test_points="tsne"))
    assert len(axes[0].lines) == 1
    assert axes[0].get_xlabel() == "first t-SNE coordinate"
    local.save(tmp_path / "local.npz")
    loaded = cr.load(tmp_path / "local.npz")
    rendered(loaded.plot(kind="co-clustering", point=0, test_points=given))
    rendered(loaded.plot(kind="clusters"))
    with pytest.raises(ParameterError, match="test_points must be given: this result was read from a file"):
        loaded.plot(kind="co-clustering", point=0)
    with pytest.raises(ParameterError, match="points must be given: this result was read from a file"):
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
    assert "±" not in one.plot(kind="co-clustering", point=0)[0].figure.get_suptitle()
    with pytest.warns(cr.errors.ReplicateWarning, match="the largest is missing"):
        failing = cr.local_replicability(sometimes, train=X, test=X + 0.1, agreement="mi", n_resamples=9, rng=0)
    for result in (one, failing):
        rendered(result.plot())
        rendered(result.plot(kind="clusters"))
        rendered(result.plot(kind="co-clustering", point=1))


def test_points_without_a_score_are_grey(local):
    tables = np.full_like(local.tables, np.nan)
    nothing = type(local)(**{**vars_of(local), "tables": tables, "estimate": np.full(30, np.nan)})
    ax = rendered(nothing.plot())
    colours = {tuple(colour) for colour in ax.collections[0].get_facecolors()}
    assert colours == {to_rgba("0.88")}
    rendered(nothing.plot(kind="clusters"))


def vars_of(result):
    return {name: getattr(result, name) for name in type(result).__dataclass_fields__}


# ---------------------------------------------------------------------------------------------------------------------
# names, axes, files


NAMES = ("a$b$", "x_1 <&> $\\frac$", "_under", "a very long name of a study that nobody would print in full")


def test_names_are_literal():
    assert literal("a$b$") == r"a\$b\$"
    assert literal("two\nlines") == "two lines"
    assert literal("0123456789", 7) == "012…789"
    assert len(literal(NAMES[3])) == 32


def test_dollar_signs_are_shown_as_they_are():
    """As drawn: text that matplotlib takes for mathematics would lose its dollar signs, or fail."""
    ax = rendered(replicability(scores((3, 4, 4)), names=NAMES, clusterer="$k$-means").plot())
    for text in (ax.title, *ax.get_xticklabels(), *ax.get_yticklabels()):
        shown, is_mathematics = text._preprocess_math(text.get_text())
        assert not is_mathematics
        assert "\\$" not in shown
    assert ax.title._preprocess_math(ax.get_title())[0] == "$k$-means, k = 4"
    assert ax.get_xticklabels()[0]._preprocess_math(ax.get_xticklabels()[0].get_text())[0] == "a$b$"


def test_odd_names_everywhere():
    result = replicability(scores((25, 4, 4)), names=NAMES, clusterer="$")
    rendered(result.plot(kind="distribution"))
    ax = rendered(result.relations().plot())
    assert r"a\$b\$" in {text.removesuffix(" *") for text in texts_of(ax.get_xticklabels())}
    many = over_k(NAMES, [2, 3], S=4, names=NAMES)
    ax = rendered(many.plot())
    assert texts_of(ax.get_legend().get_texts())[2] == " _under"  # a legend leaves out what begins with _
    rendered(many.plot(kind="matrices"))
    rendered(reference_of(many).plot())
    rendered(many.plot(reference=reference_of(many)))


def test_odd_names_in_figures_from_data(cohorts):
    X = cohorts["alpha"].X
    studies = cr.Studies({name: X + 0.1 * i for i, name in enumerate(NAMES[:3])})
    run = {"n_resamples": 2, "rng": 0}
    rendered(cr.counterparts(AgglomerativeClustering(3), studies, **run).plot(train="a$b$"))
    rendered(cr.leave_one_study_out(AgglomerativeClustering(3), studies, **run).plot())
    result = cr.replicability(AgglomerativeClustering(3), studies, **run)
    ax = rendered(cr.null_reference(result, 3).plot())
    assert texts_of(ax.get_xticklabels())[1] == r"a\$b\$ → _under"
    named = np.array(["$u$", "_v", "w<"])[np.arange(len(X)) % 3]
    rendered(cr.in_group_proportion(X, named, n_neighbors=[1, 2]).plot())
    rendered(cr.stability(KMeans(3, n_init=1), X, labels=named, **run).plot())


def test_many_pairs_beside_data_without_clusters_are_those_with_the_largest_excess():
    of = replicability(scores((2, 8, 8)))
    reference = NullReference.of(of, "estimate", of.estimate[None, None], scores((9, 1, 1, 8, 8), 3), {"seed": 1})
    ax = rendered(reference.plot())
    assert ax.get_title() == "30 of 56 pairs: the largest excess"
    frame = reference.to_frame()
    largest = frame.sort_values("excess", ascending=False)[:30].sort_index()
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), largest["observed"])


def test_figures_draw_on_the_axes_given_and_on_nothing_else(local):
    result, compared = replicability(scores((4, 3, 3))), over_k(["ward"], [2, 3])
    _, axes = plt.subplots(1, 6, figsize=(20, 4))
    before = plt.get_fignums()
    plt.sca(axes[5])
    assert result.plot(axes[0]) is axes[0]
    assert result.plot(axes[1], kind="distribution") is axes[1]
    assert compared.plot(axes[2], "ami") is axes[2]
    assert local.plot(axes[3]) is axes[3]
    assert local.plot(axes[4], kind="clusters") is axes[4]
    assert plt.get_fignums() == before
    assert plt.gca() is axes[5]
    assert not axes[5].has_data()
    assert axes[2].xaxis.label.get_fontsize() == plt.rcParams["font.size"]


def test_own_figures_have_journal_widths_and_small_letters(local):
    result, compared = replicability(scores((4, 3, 3))), over_k(["ward"], [2, 3])
    own = [result.plot(), result.plot(kind="distribution"), compared.plot(), compared.plot(kind="matrices")]
    own += [local.plot(), local.plot(kind="clusters"), local.plot(kind="co-clustering", point=0)]
    for drawn in map(rendered, own):
        width = inches(drawn)[0]
        assert min(abs(width - SINGLE), abs(width - DOUBLE)) < 1e-9
        figure = np.ravel(drawn)[0].figure
        for ax in figure.axes:
            letters = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
            letters += ax.get_legend().get_texts() if ax.get_legend() else []
            assert all(7 <= text.get_fontsize() <= 9 for text in letters)


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_files_are_the_same_every_time(suffix, local):
    result = over_k(["ward", "k-means"], [2, 3])
    made = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]

    def written(draw):
        file = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "clustrep"}):
            np.ravel(draw())[0].figure.savefig(file, format=suffix, metadata=made)
        return file.getvalue()

    for draw in (lambda: result.plot(reference=reference_of(result)), lambda: local.plot(points="tsne")):
        assert written(draw) == written(draw)


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "maps"}, ParameterError, r"kind must be one of 'map', .*got 'maps'. Did you mean 'map'"),
        ({"points": "umap"}, ParameterError, r"points must be one of 'tsne', 'pca', or an array; got 'umap'"),
        ({"points": np.zeros((4, 2))}, DataError, r"points must have 30 rows, got an array of \(4, 2\)"),
        ({"kind": "co-clustering"}, ParameterError, "point must be given with kind='co-clustering'"),
        ({"kind": "co-clustering", "point": 30}, ParameterError, "point must be below 30, got 30"),
        ({"kind": "co-clustering", "point": -1}, ParameterError, "point must be an integer of at least 0"),
        (
            {"kind": "co-clustering", "point": 0, "test_points": np.zeros((3, 2))},
            DataError,
            r"test_points must have 30 rows, got an array of \(3, 2\)",
        ),
        ({"kind": "co-clustering", "point": 0, "points": "pca"}, ParameterError, "points must be an array with kind="),
        ({"point": 3}, ParameterError, "point and test_points must be left out with kind='map'"),
        ({"kind": "clusters", "points": "pca"}, ParameterError, "points must be left out with kind='clusters'"),
        ({"ax": "here"}, ParameterError, "ax must be a matplotlib Axes, got str"),
        ({"ax": "here", "kind": "clusters"}, ParameterError, "ax must be a matplotlib Axes, got str"),
    ],
)
def test_what_local_figures_refuse(local, options, error, message):
    with pytest.raises(error, match=message):
        local.plot(**options)
    assert not plt.get_fignums()


def test_few_points_have_no_tsne():
    X = np.array([[0.0, 1, 2], [0, 1, 3], [5, 6, 7]])
    few = local_of(np.vstack([X, X + 1]), np.vstack([X, X + 2]), k=2, n_resamples=1, at=X)
    with pytest.raises(ParameterError, match="'tsne' needs at least 4 points, got 3"):
        few.plot(points="tsne")


def test_figures_of_several_axes_refuse_one(local):
    _, ax = plt.subplots()
    with pytest.raises(ParameterError, match="ax must be left out with kind='matrices', which makes a figure with"):
        over_k(["ward"], [2, 3]).plot(ax, kind="matrices")
    with pytest.raises(ParameterError, match="ax must be left out with kind='co-clustering'"):
        local.plot(ax, kind="co-clustering", point=0)


def test_unknown_kinds_are_refused():
    with pytest.raises(ParameterError, match="kind must be one of 'curves', 'matrices'; got 'matrix'"):
        over_k(["ward"], [2, 3]).plot(kind="matrix")
    with pytest.raises(ParameterError, match="kind must be one of 'matrix', 'distribution'; got 'strip'"):
        replicability(scores((2, 2, 2))).plot(kind="strip")
