"""The figures of findings: clusters × studies, valleys, features, maps, and the tree over k."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.plots.samples import NAMES, findings_of, rendered, texts_of

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.findings.clustering_tree import ClusteringTree
from clustrep.findings.features import shares_above_zero
from clustrep.findings.plot import HATCHES, MOST_VALLEYS, SHADES, features_shown
from clustrep.findings.result import SIGNS, STATUSES


@pytest.fixture
def findings():
    status = [["found", "found", "merged", "split"], ["found", "not found", "found", "undetermined"]]
    return findings_of(status, [[10, 30, 5, 8], [20, 0, 15, 0]], NAMES)


@pytest.fixture(scope="module")
def analysis(cohorts):
    return cr.analyse(AgglomerativeClustering(), cohorts, n_clusters=[2, 3, 4], n_null=0, n_resamples=3, rng=0)


def test_every_status_has_a_sign_a_colour_and_a_hatch():
    for table in (SIGNS, SHADES, HATCHES):
        assert set(table) == set(STATUSES)
    assert len(set(SIGNS.values())) == len(set(SHADES.values())) == len(STATUSES)


def test_cells_have_the_statuses_and_shares_of_the_table(findings):
    ax = rendered(findings.plot())
    table = findings.table()
    assert [text.split()[0] for text in texts_of(ax.texts)] == [SIGNS[status] for status in table["status"]]
    bars = [patch for patch in ax.patches if patch.get_facecolor()[3] > 0]
    frames = [patch for patch in ax.patches if patch.get_facecolor()[3] == 0]
    shares = [bar.get_width() / frame.get_width() for bar, frame in zip(bars, frames, strict=True)]
    np.testing.assert_allclose(shares, table["share"])


def test_an_undetermined_entry_has_no_share():
    ax = rendered(findings_of([["found", "found"], ["found", "undetermined"]], [[3, 4], [1, 0]], "ab").plot())
    assert texts_of(ax.texts) == ["✓ 75 %", "✓ 100 %", "✓ 25 %", "? –"]


def test_many_studies_have_signs_alone():
    names = [f"a study {i}" for i in range(30)]
    ax = rendered(findings_of([["found"] * 30] * 2, [[4] * 30] * 2, names).plot())
    assert set(texts_of(ax.texts)) == {"✓"}


def test_bars_have_the_depths_of_the_valleys(findings):
    ax = rendered(findings.plot(kind="valleys"))
    table = findings.table()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["valley_depth"])
    some = dataclasses.replace(findings, valley_p=np.array([[0.001, 0.2, 0.001, 0.001], [0.001, 0.001, 0.6, 0.001]]))
    hatched = [bool(bar.get_hatch()) for bar in rendered(some.plot(kind="valleys")).patches]
    assert hatched == (some.table()["valley_p"] > 0.05).tolist()  # seen without colours
    many = findings_of([["found"] * 40], [[4] * 40], [f"s{i}" for i in range(40)])
    depths = [bar.get_width() for bar in rendered(many.plot(kind="valleys")).patches]
    np.testing.assert_allclose(depths, np.sort(many.valley_depth[0])[:MOST_VALLEYS])


def test_the_heat_map_has_the_effects_of_the_clearest_features(analysis):
    findings = analysis.findings
    ax = rendered(findings.plot(kind="features"))
    names, drawn = texts_of(ax.get_yticklabels()), ax.images[0].get_array()
    shown = features_shown(findings)
    assert names == list(dict.fromkeys(shown["feature"]))
    of_columns = [(c, s) for c, s in np.ndindex(findings.effect.shape[:2]) if np.isfinite(findings.effect[c, s]).any()]
    for y, name in enumerate(names):
        place = findings.feature_names.index(name)
        np.testing.assert_allclose(drawn[y], [findings.effect[c, s, place] for c, s in of_columns])
    first = findings.features().drop_duplicates("cluster").set_index("cluster")["feature"]
    assert shown.drop_duplicates("cluster").set_index("cluster")["feature"].to_dict() == first.to_dict()


@pytest.fixture(scope="module")
def counted():
    """Two studies of log counts, in which two clusters differ in how many samples are above zero."""
    rng = np.random.default_rng(0)
    rates = np.array([[9.0, 9.0, 0.3, 0.3], [0.3, 0.3, 9.0, 9.0]])
    tables = {name: np.log1p(rng.poisson(rates[np.arange(60) % 2])) for name in ("first", "second")}
    made = cr.analyse(AgglomerativeClustering(), tables, n_clusters=[2, 3], n_null=0, n_resamples=3, rng=0)
    return tables, made


def test_dots_have_the_shares_above_zero_and_the_mean_effects(counted):
    tables, analysis = counted
    findings = analysis.findings
    assert findings.n_clusters == 2
    ax = rendered(findings.plot(kind="dots"))
    dots, legend = ax.collections[0], ax.get_legend()
    names, sizes = texts_of(ax.get_yticklabels()), dots.get_sizes() / max(ax.collections[-1].get_sizes())
    places = [findings.feature_names.index(name) for name in names]
    labels = findings.labels
    for (x, y), size, colour in zip(dots.get_offsets().astype(int), sizes, dots.get_array(), strict=True):
        shares = [np.mean(X[labels[study] == findings.letters[x], places[y]] > 0) for study, X in tables.items()]
        assert size == pytest.approx(np.mean(shares))
        assert colour == pytest.approx(findings.effect[x, :, places[y]].mean())
    assert len(dots.get_offsets()) == 2 * len(names)
    assert texts_of(legend.texts) == ["25 %", "50 %", "100 %"]


def test_the_page_has_dots_of_counts(counted, analysis):
    made, without = (cr.Report(each) for each in (counted[1], analysis))
    (features,) = [section for section in made.facts["sections"] if section["id"] == "features"]
    assert [figure["id"] for figure in features["figures"]] == ["features", "dots"]
    rows = features["figures"][1]["table"]["rows"]
    for row in rows:
        place = counted[1].findings.feature_names.index(row["feature"])
        share = counted[1].findings.above_zero["AB".index(row["cluster"]), place]
        assert row["above_zero"] == pytest.approx(share, abs=1e-6)
    assert 'id="figure-dots"' in made.to_html()
    assert 'id="figure-dots"' not in without.to_html()


def test_dots_need_counts(counted, analysis):
    tables, codes = list(counted[0].values()), [np.arange(60) % 2] * 2
    shares = shares_above_zero(tables, codes, 2)
    assert shares.shape == (2, 4)
    lacking = [np.where(np.arange(60)[:, None] % 4 == 1, np.nan, X) for X in tables]
    np.testing.assert_array_equal(shares_above_zero(lacking, codes, 2)[0], shares[0])
    expected = np.mean([(X[3::4] > 0).mean(axis=0) for X in tables], axis=0)
    np.testing.assert_allclose(shares_above_zero(lacking, codes, 2)[1], expected)
    for others in ([X - X.mean(axis=0) for X in tables], [X + 1 for X in tables]):
        assert not shares_above_zero(others, codes, 2).size
    with pytest.raises(ParameterError) as caught:
        analysis.findings.plot(kind="dots")
    assert caught.value.parameter == "kind"


@pytest.mark.parametrize("kind", ["valleys", "features", "map"])
def test_what_findings_do_not_have_is_not_drawn(findings, kind):
    bare = dataclasses.replace(findings, valley_depth=np.full(findings.status.shape, np.nan))
    with pytest.raises(ParameterError) as caught:
        bare.plot(kind=kind)
    assert caught.value.parameter == "kind"


@pytest.mark.parametrize("by", ["cluster", "label", "study"])
def test_maps_have_every_sample(analysis, by):
    drawn = analysis.plot(by=by)
    n = len(analysis.findings.samples)
    if by == "study":
        for ax, size in zip(drawn.flat, analysis.findings.sizes, strict=False):
            grey, *own = [len(dots.get_offsets()) for dots in ax.collections]
            assert (grey, sum(own)) == (n - size, size)
    else:
        groups = analysis.labels()["cluster"] if by == "cluster" else analysis.known_labels
        sizes = sorted(len(dots.get_offsets()) for dots in rendered(drawn).collections)
        assert sizes == sorted(np.unique(groups, return_counts=True)[1].tolist())
    with pytest.raises(ParameterError):
        analysis.plot(by="colour")


def test_the_tree_has_every_cluster_of_every_level(analysis):
    tree = analysis.clustering_tree
    frame = tree.to_frame()
    assert (frame.groupby("level")["n"].sum() == tree.codes.shape[1]).all()
    for i in range(len(tree.levels)):
        flows = tree.flows(i) if i else None
        rows = frame[frame["level"] == tree.levels[i]]
        assert len(rows) == tree.codes[i].max() + 1
        if flows is not None:
            np.testing.assert_allclose(flows.sum(axis=0), 1)
            assert rows["parent"].tolist() == (flows.argmax(axis=0) + 1).tolist()
    ax = rendered(tree.plot())
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == len(frame)
    colours = np.concatenate([dots.get_array() for dots in ax.collections])
    np.testing.assert_array_equal(colours, frame["replicability"])


def test_a_tree_bears_noise_and_missing_scores():
    tree = ClusteringTree(
        "a$b$",
        "density",
        ("eps = 1", "eps = 2"),
        np.array([[0, 0, 0, -1], [0, 0, 1, 1]]),
        np.array([[0.5, np.nan], [np.nan, 0.2]]),
        np.array([["A B", ""], ["A", "B"]]),
    )
    rendered(tree.plot())
    assert tree.to_frame()["n"].tolist() == [3, 2, 2]
