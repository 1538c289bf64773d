"""Runs that continue: the same bits, whatever was finished before."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from tests.helpers import by_two, configured
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.algorithms.local import LocalPlan
from clustrep.errors import AllReplicatesFailed, OtherRun, ParameterError, ReplicateWarning
from clustrep.execution.checkpoints import MANIFEST, pack, unpack
from clustrep.execution.seeds import FULL_STUDY, Failed
from clustrep.files.saved import save_result
from clustrep.fitting.fingerprint import described, identity_of
from clustrep.null.null_scores import NullScores

KMEANS = KMeans(n_init=2)


@pytest.fixture(scope="module")
def studies():
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=(40, 3)) + rng.integers(0, 3, size=(40, 1)) * 4 for name in "ab"}


def saved(result, tmp_path):
    save_result(result, tmp_path / "result.npz")
    return (tmp_path / "result.npz").read_bytes()


def blocks(folder):
    return sorted(folder.glob("*/*.npz"))


class Ending(ClusterMixin, BaseEstimator):
    """A clusterer by means that ends the program, as Ctrl-C does, at its n-th fit."""

    fits_left = 1000

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit_predict(self, X, y=None):
        type(self).fits_left -= 1
        if type(self).fits_left < 0:
            raise KeyboardInterrupt
        warnings.warn("odd rows", RuntimeWarning, stacklevel=2)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)


@pytest.fixture
def ending():
    Ending.fits_left = 1000
    return Ending


def ask(studies, checkpoint=None, **options):
    asked = {"n_clusters": [2, 3], "n_resamples": 6, "rng": 1, **options}
    clusterers = asked.pop("clusterers", KMEANS)
    with cr.config_context(checkpoint=checkpoint):
        return cr.compare(clusterers, studies, **asked)


# ---------------------------------------------------------------------------------------------------------------------
# values in files


def test_values_return_as_they_were():
    value = [
        NullScores(np.array([[0.1, np.nan]]), np.empty(0)),
        Failed("no clusters"),
        (np.float64(0.5), np.int8([[1, 2], [3, 4]]), np.array(["", "cause", ""], dtype=object), None, True, 3, "é"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "bcd"]),
        [np.bool_(True), np.zeros((0, 2), bool)],
    ]
    back = unpack(json.loads(json.dumps(pack(value))), [NullScores, Failed])
    np.testing.assert_array_equal(back[0].scores, value[0].scores)
    assert back[1] == value[1]
    assert type(back[2][0]) is np.float64
    assert back[2][1].dtype == np.int8
    assert back[2][1].tolist() == [[1, 2], [3, 4]]
    assert back[2][2].dtype == object
    assert back[2][2].tolist() == ["", "cause", ""]
    assert back[2][3:] == (None, True, 3, "é")
    assert back[3].tolist() == value[3].tolist()
    assert back[4].tolist() == ["a", "bcd"]
    assert (back[5][0], back[5][1].shape) == (True, (0, 2))


def test_what_only_a_pickle_could_hold_is_refused():
    with pytest.raises(TypeError, match="set can't be stored"):
        pack({1})
    with pytest.raises(TypeError, match="other than texts"):
        pack(np.array([KMEANS, "a"], dtype=object)[:1])


def test_a_file_never_chooses_what_is_called():
    with pytest.raises(KeyError):
        unpack(["record", "KMeans", []], [Failed])


def test_identities_follow_code_and_arrays_and_nothing_else():
    def first(X, cut=1):
        return X[:, 0] > cut

    def second(X, cut=2):
        return X[:, 0] > cut

    assert identity_of(first) != identity_of(second)
    assert identity_of(KMeans(3)) == identity_of(KMeans(3).fit(np.arange(6.0).reshape(6, 1)))
    assert identity_of(KMeans(3)) != identity_of(KMeans(4))
    assert identity_of(np.arange(3)) != identity_of(np.arange(3.0))
    assert identity_of(KMeans(2).fit_predict) != identity_of(KMeans(3).fit_predict)
    assert identity_of([[1, 2]]) != identity_of([[1], 2])
    states = [KMeans(2, random_state=np.random.RandomState(seed)) for seed in (0, 0, 1)]
    assert identity_of(states[0]) == identity_of(states[1]) != identity_of(states[2])
    assert identity_of(np.random.default_rng(0)) != identity_of(np.random.default_rng(1))
    assert identity_of(KMeans(2)) != identity_of(type("KMeans", (KMeans,), {"__init__": KMeans.__init__})(2))
    assert described("label") == "'label'"


# ---------------------------------------------------------------------------------------------------------------------
# continuing


here_or_in_two = pytest.mark.parametrize("workers", [nullcontext, by_two], ids=["here", "in two"])


@here_or_in_two
def test_a_second_call_computes_nothing_and_gives_the_same_bits(studies, tmp_path, monkeypatch, workers):
    without = saved(ask(studies), tmp_path)
    with workers():
        assert saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path) == without
        monkeypatch.setattr("clustrep.algorithms.replicability.ScorePlan.block", None)
        assert saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path) == without


def test_an_interrupted_run_continues_and_says_so(studies, tmp_path, ending, caplog):
    caplog.set_level(logging.INFO, "clustrep")
    options = {"clusterers": {"ending": Ending()}, "n_clusters": None, "n_resamples": 10, "diagonal": False}
    with warned(ReplicateWarning) as of_whole:
        whole = saved(ask(studies, **options), tmp_path)
    n_fits, ending.fits_left = 1000 - ending.fits_left, 2 + 2 * 6  # two studies, as they are and in six resamples
    with pytest.raises(KeyboardInterrupt):
        ask(studies, checkpoint=tmp_path / "kept", **options)
    assert caplog.messages == ["replicability: 6 of 10 resamples are done."]
    ending.fits_left = 1000
    with warned(ReplicateWarning) as of_both:
        assert saved(ask(studies, checkpoint=tmp_path / "kept", **options), tmp_path) == whole
    assert caplog.messages[1:] == ["replicability: 6 of 10 resamples were done."]
    assert 1000 - ending.fits_left == n_fits - 14
    assert [str(warning.message) for warning in of_both] == [str(warning.message) for warning in of_whole]


def test_more_resamples_need_only_the_new_ones(studies, tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "clustrep")
    ask(studies, n_resamples=4, checkpoint=tmp_path / "kept")
    computed = watch(monkeypatch)
    longer = saved(ask(studies, n_resamples=8, checkpoint=tmp_path / "kept"), tmp_path)
    assert sorted(number for _, numbers in computed for number in numbers) == [5, 6, 7, 8]
    assert caplog.messages == ["replicability: 4 of 8 resamples were done."]
    monkeypatch.undo()
    assert longer == saved(ask(studies, n_resamples=8), tmp_path)


def watch(monkeypatch):
    """Note which configurations and replicates are computed."""
    from clustrep.algorithms.replicability import ScorePlan

    computed, block = [], ScorePlan.block

    def noted(self, numbers):
        computed.append(([(member.name, member.n_clusters) for member in self.configurations], list(numbers)))
        return block(self, numbers)

    monkeypatch.setattr(ScorePlan, "block", noted)
    return computed


def test_another_k_or_clusterer_needs_only_its_own_replicates(studies, tmp_path, monkeypatch):
    ask(studies, checkpoint=tmp_path / "kept")
    clusterers = {"KMeans": KMEANS, "ward": AgglomerativeClustering()}
    computed = watch(monkeypatch)
    more = saved(ask(studies, clusterers=clusterers, n_clusters=[2, 3, 4], checkpoint=tmp_path / "kept"), tmp_path)
    assert {configuration for configurations, _ in computed for configuration in configurations} == {
        ("KMeans", 4),
        ("ward", 2),
        ("ward", 3),
        ("ward", 4),
    }
    monkeypatch.undo()
    assert more == saved(ask(studies, clusterers=clusterers, n_clusters=[2, 3, 4]), tmp_path)


def test_every_step_of_an_analysis_is_kept(studies, tmp_path, monkeypatch):
    options = {"n_clusters": [2, 3], "n_resamples": 5, "n_null": 19, "rng": 1}
    without = saved(cr.analyse(KMEANS, studies, **options), tmp_path)
    assert saved(configured(cr.analyse, checkpoint=tmp_path / "kept")(KMEANS, studies, **options), tmp_path) == without
    steps = {path.name.rpartition("-")[0] for path in (tmp_path / "kept").iterdir() if path.is_dir()}
    assert steps == {"density-valleys", "local-replicability", "replicability"}  # clusters are separated: no null model
    for plan in ("null.null_reference.NullPlan", "separation.separation.PoolPlan"):
        monkeypatch.setattr(f"clustrep.{plan}.block", lambda *_: pytest.fail("computed again"))
    resampled, as_they_are = LocalPlan.block, [FULL_STUDY]  # studies as they are are looked at outside of the run

    def block(plan, numbers):
        return resampled(plan, numbers) if numbers == as_they_are else pytest.fail("computed again")

    monkeypatch.setattr(LocalPlan, "block", block)
    assert saved(configured(cr.analyse, checkpoint=tmp_path / "kept")(KMEANS, studies, **options), tmp_path) == without


@here_or_in_two
def test_failures_and_their_causes_are_kept(studies, tmp_path, workers):
    mixture = GaussianMixture(39, covariance_type="full", reg_covar=0, max_iter=1)
    kept = []
    for folder in (None, tmp_path / "kept", tmp_path / "kept"):
        with workers(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = configured(cr.compare, checkpoint=folder)(
                {"kmeans": KMeans(2, n_init=1), "mixture": mixture}, studies, n_resamples=4, rng=1
            )
        kept.append((saved(result, tmp_path), [str(warning.message) for warning in caught]))
    assert result.failures
    assert kept[0] == kept[1] == kept[2]


def test_methods_as_clusterers_are_told_apart(studies, tmp_path):
    clusterers = {"two": KMeans(2, n_init=1, random_state=0).fit_predict, "three": KMeans(3, n_init=1).fit_predict}
    clusterers["three"].__self__.set_params(random_state=0)
    options = {"clusterers": clusterers, "n_clusters": None, "n_resamples": 2}
    without = saved(ask(studies, **options), tmp_path)
    assert saved(ask(studies, checkpoint=tmp_path / "kept", **options), tmp_path) == without


# ---------------------------------------------------------------------------------------------------------------------
# other questions, damaged files, failing writes


def fails(X):
    raise ValueError("never")


def test_a_run_that_fails_leaves_the_user_s_own_files(studies, tmp_path):
    own = [tmp_path / "my-data" / "table.npz", tmp_path / "notes-0123456789abcdef" / "notes.txt"]
    for path in own:
        path.parent.mkdir()
        path.write_text("mine")
    with pytest.raises(AllReplicatesFailed):
        ask(studies, clusterers={"fails": fails}, n_clusters=None, n_resamples=2, checkpoint=tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == own


@pytest.mark.parametrize(
    "changed",
    [
        {"rng": 2},
        {"agreement": "ami"},
        {"noise": "drop"},
        {"resampling": cr.resampling.Subsample(0.7)},
        {"clusterers": KMeans(n_init=3)},
    ],
    ids=["seed", "agreement", "noise", "resampling", "clusterer"],
)
def test_another_question_is_refused_with_the_difference(studies, tmp_path, changed):
    ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")
    before = {path: path.read_bytes() for path in blocks(tmp_path / "kept")}
    with refused(OtherRun, "checkpoint") as caught:
        ask(studies, **{"n_resamples": 2, "checkpoint": tmp_path / "kept", **changed})
    assert caught.value.parameter == "checkpoint"
    assert {path: path.read_bytes() for path in blocks(tmp_path / "kept")} == before


def test_other_data_are_refused(studies, tmp_path):
    ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")
    other = {**studies, "b": studies["b"] + 1e-9}
    with refused(OtherRun, "checkpoint") as caught:
        ask(other, n_resamples=2, checkpoint=tmp_path / "kept")
    assert "study 'a'" not in str(caught.value)
    with refused(OtherRun, "checkpoint"):
        ask({**studies, "c": studies["b"]}, n_resamples=2, checkpoint=tmp_path / "kept")


def test_other_versions_are_refused(studies, tmp_path, monkeypatch):
    ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")
    monkeypatch.setattr("clustrep.fitting.fingerprint.installed_versions", lambda: {"clustrep": "99"})
    with refused(OtherRun, "checkpoint"):
        ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")


def test_a_run_without_a_seed_or_folder_is_refused(studies, tmp_path):
    with refused(ParameterError, "rng"):
        ask(studies, rng=None, checkpoint=tmp_path / "kept")
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", 3, ""):
        with refused(ParameterError, "checkpoint"):
            ask(studies, checkpoint=folder)


def test_a_damaged_block_is_named_and_computed_again(studies, tmp_path, caplog):
    whole = saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path)
    (block,) = blocks(tmp_path / "kept")
    content, rng = block.read_bytes(), np.random.default_rng(0)
    for trial in range(12):
        damaged = bytearray(content)
        if trial % 3:
            damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
        else:
            del damaged[rng.integers(len(content)) :]
        block.write_bytes(damaged)
        caplog.clear()
        assert saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path) == whole
        assert caplog.messages == [f"{block} is damaged: its replicates are computed again."]
        assert block.read_bytes() == content


def test_a_damaged_manifest_is_named_and_written_anew(studies, tmp_path, caplog):
    ask(studies, checkpoint=tmp_path / "kept")
    manifest = tmp_path / "kept" / MANIFEST
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b'"seed": "1"', b'"seed": "2"'))
    ask(studies, checkpoint=tmp_path / "kept")
    assert caplog.messages == [f"{manifest} is damaged, and is written anew."]
    assert manifest.read_bytes() == content


def test_blocks_of_another_step_are_not_used(studies, tmp_path, caplog):
    """A file that was copied from elsewhere is whole, but answers another question."""
    ask(studies, rng=1, checkpoint=tmp_path / "one")
    two = saved(ask(studies, rng=2, checkpoint=tmp_path / "two"), tmp_path)
    (foreign,), (block,) = blocks(tmp_path / "one"), blocks(tmp_path / "two")
    block.write_bytes(foreign.read_bytes())
    assert saved(ask(studies, rng=2, checkpoint=tmp_path / "two"), tmp_path) == two
    assert "is damaged" in caplog.text


def test_a_run_goes_on_where_nothing_can_be_kept(studies, tmp_path, caplog):
    whole = saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path)
    (block,) = blocks(tmp_path / "kept")
    shutil.rmtree(block.parent)
    block.parent.write_text("a file in its place")
    assert saved(ask(studies, checkpoint=tmp_path / "kept"), tmp_path) == whole
    assert caplog.messages == [f"{block.parent} can't be written to (File exists): the run goes on without."]
    assert block.parent.read_text() == "a file in its place"


def test_leftovers_of_killed_runs_are_removed(studies, tmp_path):
    ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")
    (block,) = blocks(tmp_path / "kept")
    (block.parent / ".clustrep-0123").write_bytes(b"half")
    ask(studies, n_resamples=2, checkpoint=tmp_path / "kept")
    assert list(block.parent.iterdir()) == [block]


def test_two_runs_can_t_share_a_folder(studies, tmp_path):
    from clustrep.files.folders import claimed

    with claimed(tmp_path / "kept"), pytest.raises(ParameterError):
        ask(studies, checkpoint=tmp_path / "kept")
