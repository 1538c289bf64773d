"""A checkpoint is of the code that computed it: scores of other code, or of other versions, are not used."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import logging
import sys
import textwrap
import types

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.helpers import configured
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import OtherRun
from clustrep.execution.checkpoints import MANIFEST
from clustrep.fitting import fingerprint as definitions
from clustrep.fitting.fingerprint import identity_of
from clustrep.provenance import installed_versions, version_of

MINE = """
    import numpy as np
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin

    import also_mine
    from also_mine import Base

    CUT = 0.5
    N_FITS = 0

    def middle(values):
        return np.quantile(values, CUT)

    class Mine(Base, ClusterMixin, BaseEstimator):
        '''Cluster by one feature.'''

        feature = 0

        def __init__(self, n_clusters=2):
            self.n_clusters = n_clusters

        @property
        def sign(self):
            return 1

        def fit(self, X, y=None):
            '''Split where the feature is in the middle.'''
            from mine_too import offset

            global N_FITS
            N_FITS += 1
            values = self.sign * X[:, self.feature]
            self.labels_ = (values > middle(values) + offset()).astype(int)
            return self

    class Shift(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return also_mine.shifted(X)

    def agreement(u, v):
        return float(np.mean(u == v)) * also_mine.FACTOR

    def sampler(study, rng):
        return study.X + also_mine.FACTOR * rng.normal(size=study.X.shape)

    def unrelated():
        return 1
"""
ALSO_MINE = """
    FACTOR = 1

    class Base:
        def fit_predict(self, X, y=None):
            return self.fit(X).labels_

    def shifted(X):
        return X + FACTOR
"""
MINE_TOO = """
    def offset():
        return 0.0
"""
FILES = {"mine": MINE, "also_mine": ALSO_MINE, "mine_too": MINE_TOO}
OPTIONS = {"n_resamples": 2, "rng": 1, "diagonal": False}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Return a function that writes the user's modules, with changes, and imports them as a new process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(*changes):
        for name, text in FILES.items():
            for before, after in changes:
                text = text.replace(before, after)
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("mine")

    return write


@pytest.fixture(scope="module")
def studies():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(40, 3)) + rng.integers(0, 2, size=(40, 1)) * [4, 0, 0] for name in "ab"}


@pytest.fixture
def ask(studies, tmp_path):
    def ask(clusterer, **options):
        return configured(cr.replicability, checkpoint=tmp_path / "kept")(clusterer, studies, **{**OPTIONS, **options})

    return ask


def fail(*_):
    pytest.fail("computed again")


# ---------------------------------------------------------------------------------------------------------------------
# code


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.sign * X", "-self.sign * X"),
        ("np.quantile(values, CUT)", "np.quantile(values, 1 - CUT / 2)"),
        ("CUT = 0.5", "CUT = 0.75"),
        ("feature = 0", "feature = 2"),
        ("return 1\n\n        def fit(", "return -1\n\n        def fit("),
        ("fit(X).labels_", "fit(-X).labels_"),
        ("return 0.0", "return 0.1"),
    ],
    ids=["method", "helper", "constant", "attribute", "property", "base in another module", "import in a function"],
)
def test_scores_of_other_code_are_refused_and_the_change_is_named(mine, ask, before, after):
    ask(mine().Mine())
    with refused(OtherRun, "checkpoint"):
        ask(mine((before, after)).Mine())
    ask(mine().Mine())


def test_without_a_manifest_scores_of_other_code_are_not_used_either(mine, ask, studies, tmp_path):
    old = ask(mine().Mine())
    (tmp_path / "kept" / MANIFEST).unlink()
    changed = mine(("X[:, self.feature]", "X[:, 2]")).Mine()
    new = ask(changed)
    np.testing.assert_array_equal(new.distribution, cr.replicability(changed, studies, **OPTIONS).distribution)
    assert not np.array_equal(new.distribution, old.distribution, equal_nan=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return 1\n", "return 1  # or 2\n\n\n"),
        ("Split where", "Divide where"),
        ("Cluster by", "Find two clusters by"),
        ("unrelated():\n        return 1", "unrelated():\n        return 2"),
        ("FACTOR = 1", "FACTOR = 2"),
    ],
    ids=["comment", "docstring of a method", "docstring of the class", "another function", "another module's constant"],
)
def test_what_does_not_compute_may_change(mine, ask, monkeypatch, before, after):
    ask(mine().Mine())
    monkeypatch.setattr("clustrep.algorithms.replicability.ScorePlan.block", fail)
    ask(mine((before, after)).Mine())


def test_a_class_inside_a_pipeline(mine, ask):
    ask(make_pipeline(PCA(2), mine().Mine()))
    with refused(OtherRun, "checkpoint"):
        ask(make_pipeline(PCA(2), mine(("self.sign * X", "-self.sign * X")).Mine()))


@pytest.mark.parametrize(
    "options",
    [
        lambda mine: {"agreement": mine.agreement},
        lambda mine: {"resampling": cr.resampling.Simulate(mine.sampler)},
    ],
    ids=["agreement", "resampling"],
)
def test_agreements_and_resamplings(mine, ask, options):
    clusterer = KMeans(2, n_init=1)
    ask(clusterer, **options(mine()))
    with refused(OtherRun, "checkpoint"):
        ask(clusterer, **options(mine(("FACTOR = 1", "FACTOR = 2"))))


def test_a_transformer_inside_a_pipeline(mine, ask):
    ask(make_pipeline(mine().Shift(), KMeans(2, n_init=1)))
    with refused(OtherRun, "checkpoint"):
        ask(make_pipeline(mine(("FACTOR = 1", "FACTOR = 2")).Shift(), KMeans(2, n_init=1)))


def test_a_class_without_source(ask):
    """As in a notebook: two cells define a constant and a class, and one of them is run again."""
    cell = textwrap.dedent(MINE[: MINE.index("class Shift")])
    cell = cell.replace("import also_mine", "").replace("from also_mine import Base", "class Base:\n    pass")
    cell = cell.replace("from mine_too import offset", "offset = float")
    notebook = types.ModuleType("notebook_without_a_file")
    exec(cell, vars(notebook))
    ask(notebook.Mine())
    notebook.CUT = 0.6
    with refused(OtherRun, "checkpoint"):
        ask(notebook.Mine())
    exec(cell.replace("values >", "values <"), vars(notebook))
    with refused(OtherRun, "checkpoint"):
        ask(notebook.Mine())


def test_what_counts_is_the_code_that_runs_not_its_file(mine, ask, tmp_path, monkeypatch):
    module = mine()
    ask(module.Mine())
    (tmp_path / "mine.py").write_text(textwrap.dedent(MINE).replace("CUT = 0.5", "CUT = 0.9"))  # not imported again
    monkeypatch.setattr("clustrep.algorithms.replicability.ScorePlan.block", fail)
    ask(module.Mine())


def test_code_that_keeps_something_stays_the_same_during_a_run(studies, tmp_path):
    """Two runs, of which the second computes in two parts, and after the first of them other values are read."""
    sizes = []

    def halves(X):
        sizes.append(len(X))
        return X[:, 0] > 2

    clusterers = {"thirds": lambda X: X[:, 0] > 3, "halves": halves}
    configured(cr.compare, checkpoint=tmp_path / "kept")(
        {"thirds": clusterers["thirds"]}, studies, n_resamples=2, rng=1
    )
    for _ in range(2):
        sizes.clear()  # as in a new process
        kept = configured(cr.compare, checkpoint=tmp_path / "kept")(clusterers, studies, n_resamples=4, rng=1)
    assert not sizes
    assert kept.to_frame().equals(cr.compare(clusterers, studies, n_resamples=4, rng=1).to_frame())


def test_counters_are_no_part_of_the_code(mine, ask, monkeypatch):
    module = mine()
    ask(module.Mine())
    assert module.N_FITS > 0
    monkeypatch.setattr("clustrep.algorithms.replicability.ScorePlan.block", fail)
    ask(module.Mine())


def test_another_function_of_the_same_name_is_a_further_clusterer(studies, tmp_path):
    functions = {"first": lambda X: X[:, 0] > 2, "second": lambda X: X[:, 1] > 0}
    for names in (["first"], ["first", "second"], ["second"]):
        clusterers = {name: functions[name] for name in names}
        configured(cr.compare, checkpoint=tmp_path / "kept")(clusterers, studies, n_resamples=2, rng=1)
    with refused(OtherRun, "checkpoint"):
        configured(cr.compare, checkpoint=tmp_path / "kept")(
            {"first": lambda X: X[:, 0] > 3}, studies, n_resamples=2, rng=1
        )


def test_identities_follow_what_code_reads():
    pca, clusterer = PCA(1).fit(np.eye(3)), KMeans(2, n_init=1, random_state=0)

    def reads(X):
        return clusterer.fit_predict(pca.transform(X))

    before = identity_of(reads)
    clusterer.fit(np.eye(3))  # as the function itself does
    assert identity_of(reads) == before
    pca.fit(np.arange(9.0).reshape(3, 3) ** 2)
    assert identity_of(reads) != before
    clusterer.set_params(n_clusters=3)
    functions = [FunctionTransformer(lambda X: X + 1), FunctionTransformer(lambda X: X + 2)]
    assert identity_of(make_pipeline(*functions)) != identity_of(make_pipeline(*functions[::-1]))


def test_identities_of_objects_that_hold_themselves():
    class Node:
        def __init__(self, above, size):
            self.above, self.size = above, size
            self.below = [Node(self, size) for _ in range(12 if above is None else 0)]

    assert identity_of(Node(None, 1)) == identity_of(Node(None, 1)) != identity_of(Node(None, 2))


# ---------------------------------------------------------------------------------------------------------------------
# versions


@pytest.fixture
def versions(monkeypatch):
    """Return a function that lets packages have other versions, as in a new process."""
    real, changed = importlib.metadata.version, {}

    def forget():
        for function in (installed_versions, version_of, definitions._packages_of, definitions._distributions):
            function.cache_clear()

    def change(**others):
        changed.update({name.replace("_", "-"): version for name, version in others.items()})
        forget()

    forget()
    monkeypatch.setattr(importlib.metadata, "version", lambda name: changed.get(name) or real(name))
    yield change
    forget()


def test_another_version_of_a_package_that_every_run_needs(ask, versions):
    versions(scikit_learn="1.6.1")
    ask(KMeans(2, n_init=1))
    versions(scikit_learn="1.7.0")
    with refused(OtherRun, "checkpoint"):
        ask(KMeans(2, n_init=1))


@pytest.mark.parametrize(
    ("package", "make"),
    [
        ("igraph", lambda: cr.clusterers.Leiden(n_neighbors=5)),
        ("igraph", lambda: make_pipeline(PCA(2), cr.clusterers.Leiden(n_neighbors=5))),
        ("kmedoids", lambda: importlib.import_module("kmedoids").KMedoids(2, metric="euclidean")),
    ],
)
def test_another_version_of_a_clusterer_s_package(ask, versions, package, make):
    pytest.importorskip(package)
    versions(**{package: "1.0"})
    before = identity_of(make())
    ask(make())
    versions(**{package: "1.1"})
    assert identity_of(make()) != before
    with refused(OtherRun, "checkpoint"):
        ask(make())


def test_a_package_that_the_user_s_code_names(ask, versions, tmp_path, monkeypatch):
    """Its name is not that of its module; it has no class in the clusterer."""
    installed = tmp_path / "site-packages"
    information = installed / "other_name-1.0.dist-info"
    information.mkdir(parents=True)
    (installed / "third_party.py").write_text("def cut(X):\n    return X[:, 0] > 2\n")
    (information / "top_level.txt").write_text("third_party\n")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: other-name\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.delitem(sys.modules, "third_party", raising=False)

    def clusterer(X):
        import third_party

        return third_party.cut(X)

    versions()
    ask(clusterer)
    versions(other_name="2.0")
    with refused(OtherRun, "checkpoint"):
        ask(clusterer)


def test_a_manifest_of_another_format_is_named_and_written_anew(ask, tmp_path, caplog):
    from clustrep.execution.checkpoints import _digest

    ask(KMeans(2, n_init=1))
    manifest = tmp_path / "kept" / MANIFEST
    content = manifest.read_bytes()
    body = {**json.loads(content), "format": 1}
    del body["sha256"], body["code"]
    manifest.write_text(json.dumps({**body, "sha256": _digest(body)}))
    caplog.set_level(logging.WARNING, "clustrep")
    ask(KMeans(2, n_init=1))
    assert caplog.messages == [f"{manifest} is of another version of clustrep, and is written anew."]
    assert manifest.read_bytes() == content
