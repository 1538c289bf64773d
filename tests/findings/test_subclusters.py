"""Clusters within clusters: the tree, its levels, its words, and what it is written into."""

from __future__ import annotations

import re

import anndata
import numpy as np
import pandas as pd
import pytest
from calibration import subclusters as simulated
from sklearn.cluster import DBSCAN, KMeans
from tests.helpers import by_two, configured
from tests.sentences import refused

import clustrep as cr
from clustrep.analysis.analyse import by_clusterer
from clustrep.findings.cluster_tree import EVERYTHING, NO_GAP, SPLIT, TOO_SMALL
from clustrep.findings.find import find_clusters
from clustrep.findings.subclusters import cluster_tree
from clustrep.fitting.parameters import Configuration, configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun
from clustrep.separation.separation import separations

# Two pairs of neighbours and a cluster by itself: three groups, five in all.
CENTRES = np.array([[0, 0], [0, 8], [32, 0], [32, 8], [16, 32]])
TWO_OR_THREE = configurations_of("k-means", KMeans(n_init=3), [2, 3])


def nested(n=100, lacking=None, rng=0, names="abc"):
    """Studies with nested clusters, and the cluster of every sample; the last study lacks some."""
    generator = np.random.default_rng(rng)
    studies, truth = {}, {}
    for name in names:
        kinds = generator.integers(0, len(CENTRES), n)
        if name == names[-1] and lacking is not None:
            kinds = kinds[kinds != lacking]
        studies[name] = generator.normal(size=(len(kinds), 2)) + CENTRES[kinds]
        truth[name] = kinds
    return studies, truth


def tree_of(studies, configurations=TWO_OR_THREE, seed=0):
    source = Source.of(Rerun(), seed)
    checked = cr.Studies(studies)
    found = find_clusters(checked, configurations, source, n_jobs=None)
    return cluster_tree(checked, by_clusterer(configurations), found, source, None)


@pytest.fixture(scope="module")
def grown():
    studies, truth = nested(lacking=3)
    return tree_of(studies), studies, truth


@pytest.fixture(scope="module")
def analysis():
    studies, _ = nested(n=75)
    options = {"n_clusters": [2, 3], "n_resamples": 3, "n_null": 0, "rng": 0}
    return (
        cr.analyse({"k-means": KMeans(n_init=3)}, studies, options=cr.RunOptions(recursive=True), **options),
        studies,
        options,
    )


def test_every_leaf_is_one_true_cluster(grown):
    tree, studies, truth = grown
    assert len(tree.leaves) == 5
    assert tree.depth.max() == 2
    for name in studies:
        table = pd.crosstab(pd.Series(tree.labels_of(name)), pd.Series(truth[name]))
        assert (table.max(axis=0) >= 0.9 * table.sum(axis=0)).all()  # every true cluster is in one leaf
        assert (table.max(axis=1) >= 0.9 * table.sum(axis=1)).all()


def test_levels_are_shares_of_the_samples(grown):
    tree, studies, _ = grown
    n_all = sum(map(len, studies.values()))
    np.testing.assert_allclose(tree.level, 0.05 * (tree.sizes - 1) / (n_all - 1))
    # Clusters that are not split have no samples in common: together they have no more than the whole level.
    leaves = [tree.clusters.index(leaf) for leaf in tree.leaves]
    assert tree.level[leaves].sum() <= 0.05


def test_a_split_needs_its_own_level():
    """The same gap splits a study by itself, but not as a small share of many other samples."""
    generator = np.random.default_rng(3)
    within = {name: generator.normal(size=(22, 2)) + [[0, 4.4 * (i % 2)] for i in range(22)] for name in "ab"}
    far = {name: generator.normal([60, 0], size=(1500, 2)) for name in "ab"}
    pair = configurations_of("k-means", KMeans(n_init=3), [2])
    alone = separations(cr.Studies(within), [pair], Source.of(Rerun(), 0), None)[0]
    assert alone.separated
    assert 0.0001 < alone.overall_pvalue < 0.05
    tree = tree_of({name: np.concatenate([within[name], far[name]]) for name in "ab"}, pair)
    small = int(np.argmin(tree.sizes))
    assert tree.sizes[small] == 44
    assert tree.outcome[small] == NO_GAP
    assert tree.adjusted[small] > 0.05


def test_a_cluster_without_a_gap_is_not_split(grown):
    tree, _, _ = grown
    table = tree.summary().set_index("cluster")
    assert set(table["outcome"]) == {SPLIT, NO_GAP}
    assert (table["adjusted"][table["outcome"] == SPLIT] <= 0.05).all()
    assert (table["parts"][table["outcome"] == SPLIT] >= 2).all()
    assert (table["parts"][table["outcome"] == NO_GAP] == 0).all()


def test_a_study_without_a_cluster_is_said_to_lack_it_and_it_alone(grown):
    tree, _, _ = grown
    lacking = [name for name in tree.leaves if not tree.counts[tree.clusters.index(name), 2]]
    assert len(lacking) == 1
    words = tree.words[1:]
    missing = [(tree.clusters[i + 1], tree.names[s]) for i, s in np.argwhere(words == "not found")]
    assert missing == [(lacking[0], "c")]  # and the cluster around it is there
    assert (words[words != "not found"] == "found").all()


@pytest.mark.parametrize("name", ["three, flat", "three, heavy tails"])
def test_parts_are_kept_apart_by_gaps_that_are_significant_one_by_one_and_repeated(name):
    """A flat cluster is not divided into halves, and an outlier is no cluster."""
    (design,) = [design for design in simulated.WITHOUT if design.name == name]
    studies, truth = design.draw(7001)
    tree = simulated.tree_of(studies)
    assert simulated.judge(tree, truth) == (False, 3)
    assert len(tree.leaves) == 3


def test_without_separated_clusters_there_is_no_tree():
    tables = {name: np.random.default_rng(i).normal(size=(60, 2)) for i, name in enumerate("ab")}
    made = cr.analyse(
        KMeans(n_init=3),
        tables,
        n_clusters=[2, 3],
        n_resamples=2,
        n_null=0,
        rng=0,
        options=cr.RunOptions(recursive=True),
    )
    assert made.tree is None


def test_clusters_of_few_samples_are_not_tested():
    studies, _ = nested(n=38)
    tree = tree_of(studies)
    small = [i for i, outcome in enumerate(tree.outcome) if outcome == TOO_SMALL]
    assert small
    assert np.isnan(tree.adjusted[small]).all()
    assert all((np.sort(tree.counts[i])[-2] < 8) or tree.sizes[i] < 24 for i in small)


def test_a_clusterer_without_a_number_of_clusters_splits_too():
    studies, truth = nested(names="ab")
    tree = tree_of(studies, [Configuration("dbscan, eps = 1.2", DBSCAN(eps=1.2)), *TWO_OR_THREE])
    assert len(tree.leaves) == 5
    # What DBSCAN calls noise stays in the cluster that was split.
    assert tree.counts[0].tolist() == [len(study) for study in truth.values()]


def test_the_tree_depends_neither_on_workers_nor_on_the_order_of_studies(grown):
    tree, studies, _ = grown
    with by_two():
        parallel = tree_of(studies)
    turned = tree_of(dict(reversed(studies.items())))
    assert repr(parallel) == repr(tree)
    np.testing.assert_array_equal(parallel.labels, tree.labels)
    for name in studies:
        assert turned.labels_of(name) == tree.labels_of(name)
    np.testing.assert_array_equal(turned.words[:, ::-1], tree.words)
    np.testing.assert_array_equal(turned.adjusted, tree.adjusted)


def test_rows_of_a_cluster_are_those_that_its_test_was_about(grown):
    tree, studies, _ = grown
    assert [len(rows) for rows in tree.rows_of(EVERYTHING).values()] == [len(study) for study in studies.values()]
    for cluster, counts in zip(tree.clusters, tree.counts, strict=True):
        rows = tree.rows_of(cluster)
        assert {name: len(places) for name, places in rows.items()} == {
            name: count for name, count in zip(tree.names, counts.tolist(), strict=True) if count
        }
    parts = [tree.rows_of(part)["a"] for part in tree.children_of(tree.clusters[1])]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), tree.rows_of(tree.clusters[1])["a"])


def test_the_text_is_a_tree_with_a_sign_for_every_study(grown):
    tree, _, _ = grown
    first, header, *lines = repr(tree).splitlines()
    assert re.match(r"\d separated clusters; .* and 5 in all have none\.", first)
    assert header.split() == ["cluster", "samples", "a", "b", "c", "within"]
    assert len(lines) == len(tree.clusters)
    assert [line.lstrip("│├└─ ").split()[0] for line in lines] == [tree.clusters[i] for i in tree.order()]
    (lacking,) = [line for line in lines if "✗ 0" in line]
    assert lacking.count("✓") == 2


def test_an_analysis_grows_the_tree_where_it_is_asked_for(analysis, tmp_path):
    result, studies, options = analysis
    assert len(result.tree.leaves) == 5
    assert repr(result.tree) in repr(result)
    # All else is as without it.
    plain = cr.analyse({"k-means": KMeans(n_init=3)}, studies, **options)
    assert plain.tree is None
    pd.testing.assert_frame_equal(plain.findings.table(), result.findings.table())
    result.save(tmp_path / "analysis.npz")
    loaded = cr.load(tmp_path / "analysis.npz")
    assert repr(loaded.tree) == repr(result.tree)
    pd.testing.assert_frame_equal(loaded.tree.to_frame(), result.tree.to_frame())


def test_a_wrong_flag_is_refused(analysis):
    _, studies, options = analysis
    with refused(cr.errors.ParameterError, "recursive"):
        cr.analyse(KMeans(n_init=3), studies, options=cr.RunOptions(recursive="yes"), **options)


def test_a_kept_tree_is_the_same_tree(analysis, tmp_path):
    result, studies, options = analysis
    for _ in range(2):
        again = configured(cr.analyse, checkpoint=tmp_path / "kept")(
            {"k-means": KMeans(n_init=3)}, studies, train=[], options=cr.RunOptions(recursive=True), **options
        )
        assert repr(again.tree) == repr(result.tree)


def test_page_and_text_show_the_tree(analysis):
    result, _, _ = analysis
    report = cr.Report(result)
    (section,) = [section for section in report.facts["sections"] if section["id"] == "subclusters"]
    rows = section["figures"][0]["table"]["rows"]
    assert len(rows) == len(result.tree.clusters) * 3
    assert {row["status"] for row in rows if row["cluster"] != EVERYTHING} == {"found"}
    assert repr(result.tree) in repr(report)
    assert "Clusters within clusters" in report.to_html()
    assert "Clusters within clusters" in report.to_markdown()
    (alone,) = [section for section in cr.Report(result.tree).facts["sections"] if "clustertree" in section["id"]]
    assert alone["figures"][0]["table"]["rows"] == rows


def test_cells_get_the_name_of_their_smallest_cluster(analysis):
    result, studies, _ = analysis
    adata = anndata.AnnData(np.concatenate(list(studies.values())))
    adata.obs["lab"] = [name for name, X in studies.items() for _ in X]
    result.to_anndata(adata, "lab")
    for name in studies:
        assert adata.obs.loc[adata.obs["lab"] == name, "clustrep_subcluster"].tolist() == result.tree.labels_of(name)
    assert len(adata.uns["clustrep_subcluster_colors"]) == len(adata.obs["clustrep_subcluster"].cat.categories)


def test_a_subset_of_studies_keeps_names_labels_and_order():
    studies = cr.Studies({"a": np.arange(6.0)[:, None], "b": np.arange(4.0)[:, None], "c": np.arange(3.0)[:, None]})
    part = studies.subset({"c": [2, 0], "a": [5, 1]})
    assert part.names == ("a", "c")
    assert part["a"].X.ravel().tolist() == [5, 1]
    assert part["c"].samples == ("3", "1")
    with refused(cr.errors.ParameterError, "rows"):
        studies.subset({})
    with refused(cr.errors.ParameterError, "rows"):
        studies.subset({"d": [0]})
