"""Results in files: everything comes back, nothing half-written stays, nothing in them runs or names this machine."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.helpers import write_archive
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.files.archives import seal
from clustrep.files.saved import FORMAT, HEADER, written_whole
from clustrep.fitting.parameters import describe

KINDS = ["global", "failures", "noise", "known labels", "compare", "local", "local words"]


def sometimes(X):
    if X[0, 0] > 1:
        raise ValueError("not this one")
    return np.arange(len(X)) % 2


@pytest.fixture(scope="module")
def results(cohorts):
    alpha, beta = cohorts["alpha"], cohorts["beta"]
    options = {"n_resamples": 3, "rng": 1}

    def in_words(X):
        return np.where(X[:, 0] > 0, "höher", "lower")

    with pytest.warns(cr.errors.ReplicateWarning):
        failures = cr.replicability(sometimes, cohorts, n_resamples=6, rng=1, resampling=cr.resampling.Bootstrap())
    return {
        "global": cr.replicability(KMeans(3, n_init=1), cohorts, **options, resampling=cr.resampling.Bootstrap()),
        "failures": failures,
        "noise": cr.replicability(
            DBSCAN(eps=1.5),
            cohorts,
            noise="singletons",
            diagonal=False,
            **options,
            resampling=cr.resampling.Bootstrap(),
        ),
        "known labels": cr.replicability(
            None, cohorts, labels=True, agreement="ami", **options, resampling=cr.resampling.Bootstrap()
        ),
        "compare": cr.compare(
            {"k-means": KMeans(n_init=1), "dbscan": DBSCAN(eps=1.5)},
            cohorts,
            n_clusters=[2, 3],
            **options,
            resampling=cr.resampling.Bootstrap(),
        ),
        "local": cr.local_replicability(
            KMeans(3, n_init=1), train=alpha, test=beta, **options, resampling=cr.resampling.Bootstrap()
        ),
        "local words": cr.local_replicability(
            in_words, train=alpha, test=beta, at=cohorts["gamma"], **options, resampling=cr.resampling.Bootstrap()
        ),
    }


def public_fields(result):
    return {f.name: getattr(result, f.name) for f in dataclasses.fields(result) if not f.name.startswith("_")}


def assert_equal(original, other):
    assert type(original) is type(other)
    for name, value in public_fields(original).items():
        again = getattr(other, name)
        if isinstance(value, np.ndarray):
            assert (again.dtype, again.shape) == (value.dtype, value.shape), name
            assert again.tobytes() == value.tobytes(), name
        else:
            assert again == value, name
            assert type(again) is type(value), name


def saved(result, path):
    result.save(path)
    return path


# ---------------------------------------------------------------------------------------------------------------------
# there and back


@pytest.mark.parametrize("kind", KINDS)
def test_every_public_field_comes_back(kind, results, tmp_path):
    again = cr.load(saved(results[kind], tmp_path / "result.npz"))
    assert_equal(results[kind], again)
    arrays = [value for value in public_fields(again).values() if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_result_says_what_the_original_says(kind, results, tmp_path):
    original, again = results[kind], cr.load(saved(results[kind], tmp_path / "result.npz"))
    assert repr(again) == repr(original)
    assert again.failures == original.failures
    pd.testing.assert_frame_equal(again.to_frame(0.9), original.to_frame(0.9))


@pytest.mark.parametrize("kind", KINDS)
def test_saved_again_it_is_the_same_file(kind, results, tmp_path):
    first = saved(results[kind], tmp_path / "first.npz")
    second = saved(results[kind], tmp_path / "second.npz")
    third = saved(cr.load(first), tmp_path / "third.npz")
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


def test_the_same_run_is_the_same_file(cohorts, results, tmp_path):
    again = cr.replicability(
        KMeans(3, n_init=1), cohorts, n_resamples=3, rng=1, n_jobs=1, resampling=cr.resampling.Bootstrap()
    )
    first, second = saved(results["global"], tmp_path / "first.npz"), saved(again, tmp_path / "second.npz")
    assert first.read_bytes() == second.read_bytes()


def test_methods_of_a_loaded_replicability(results, tmp_path):
    original, again = results["global"], cr.load(saved(results["global"], tmp_path / "result.npz"))
    np.testing.assert_array_equal(again.mean, original.mean)
    np.testing.assert_array_equal(again.sd, original.sd)
    np.testing.assert_array_equal(again.confidence_interval(0.8), original.confidence_interval(0.8))
    assert again.for_training_on("beta").estimate == original.for_training_on("beta").estimate
    assert again.plot().get_title() == original.plot().get_title()


def test_methods_of_a_loaded_comparison(results, tmp_path):
    original, again = results["compare"], cr.load(saved(results["compare"], tmp_path / "result.npz"))
    assert again.best("ami") == original.best("ami")
    pd.testing.assert_frame_equal(again.summary(), original.summary())
    assert_equal(again.replicability("k-means", 3, "ami"), original.replicability("k-means", 3, "ami"))
    assert_equal(again.replicability("dbscan"), original.replicability("dbscan"))
    again.plot()


def test_methods_of_a_loaded_local_result(results, cohorts, tmp_path):
    original, again = results["local"], cr.load(saved(results["local"], tmp_path / "result.npz"))
    np.testing.assert_array_equal(again.distribution, original.distribution)
    np.testing.assert_array_equal(again.mean, original.mean)
    np.testing.assert_array_equal(again.sd, original.sd)
    np.testing.assert_array_equal(again.co_clustering(3), original.co_clustering(3))
    pd.testing.assert_frame_equal(again.by_cluster(), original.by_cluster())
    with refused(ParameterError, "points"):
        again.plot()  # the points themselves are data, which is not in the file
    again.plot(points=cohorts["alpha"].X[:, :2])


def test_clustering_functions_do_not_travel_and_it_says_so(results, tmp_path):
    again = cr.load(saved(results["global"], tmp_path / "result.npz"))
    of_many = cr.load(saved(results["compare"], tmp_path / "compared.npz")).replicability("k-means", 3)
    for result in (again, of_many):
        with refused(ParameterError):
            result.clustering_function("alpha")


def test_no_data_is_in_the_file(results, cohorts, tmp_path):
    """Someone may send a result who may not send patients."""
    for kind in KINDS:
        fields = public_fields(cr.load(saved(results[kind], tmp_path / "result.npz")))
        values = np.concatenate(
            [value.ravel() for value in fields.values() if isinstance(value, np.ndarray) and value.dtype.kind == "f"]
        )
        assert not np.isin(values, np.concatenate([study.X.ravel() for study in cohorts.values()])).any()


@pytest.mark.parametrize("name", ["result.npz", "result", "result.clustrep", "höher 1.npz", ".hidden"])
def test_the_file_has_the_name_that_was_asked_for(name, results, tmp_path):
    results["global"].save(str(tmp_path / name))
    assert os.listdir(tmp_path) == [name]
    assert_equal(cr.load(str(tmp_path / name)), results["global"])


def test_a_path_without_a_folder_is_in_the_current_one(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results["global"].save("result.npz")
    assert_equal(cr.load("result.npz"), results["global"])


@pytest.mark.parametrize("count", [np.int64(2), np.int32(2), np.uint8(2)], ids=lambda count: type(count).__name__)
def test_numpy_numbers_as_parameters_can_be_saved(count, cohorts, tmp_path):
    """Numbers that come out of an array or a frame."""
    options = {"n_resamples": count, "rng": count}
    for result in (
        cr.replicability(
            KMeans(count, n_init=1), cohorts, resampling=cr.resampling.Subsample(np.float64(0.5)), **options
        ),
        cr.compare(KMeans(n_init=1), cohorts, n_clusters=np.array([2, 3]), diagonal=np.bool_(True), **options),
        cr.local_replicability(KMeans(count, n_init=1), train=cohorts["alpha"], test=cohorts["beta"], **options),
    ):
        assert_equal(cr.load(saved(result, tmp_path / "result.npz")), result)


# ---------------------------------------------------------------------------------------------------------------------
# what is inside


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_of_plain_arrays_and_one_text(kind, results, tmp_path):
    path = saved(results[kind], tmp_path / "result.npz")
    arrays = {name for name, value in public_fields(results[kind]).items() if isinstance(value, np.ndarray)}
    with np.load(path, allow_pickle=False) as archive:
        assert set(archive.files) == arrays | {HEADER}
        assert all(archive[name].dtype.kind in "biufU" for name in archive.files)
        header = json.loads(str(archive[HEADER]))
    assert header["kind"] == type(results[kind]).__name__
    assert header["format"] == FORMAT


def test_local_results_are_small(results):
    """Labels as small integers, not scores of every point in every resample."""
    result = results["local"]
    assert {array.dtype for array in (result.at_train, result.at_test)} == {np.dtype(np.uint8)}
    arrays = [value for value in public_fields(result).values() if isinstance(value, np.ndarray)]
    assert result.distribution.shape not in {array.shape for array in arrays if array.dtype.kind == "f"}


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("place", [HEADER, "estimate"])
def test_a_pickle_in_a_file_is_never_run(place, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with np.load(saved(results["global"], tmp_path / "result.npz")) as archive:
        arrays = {**archive, place: np.array([Bomb()], dtype=object)}
    write_archive(tmp_path / "bomb.npz", **arrays)
    with refused(DataError):
        cr.load(tmp_path / "bomb.npz")
    assert not Path("exploded").exists()


# ---------------------------------------------------------------------------------------------------------------------
# provenance


def test_provenance_is_enough_to_run_again(results, cohorts):
    import sklearn

    provenance = results["global"].provenance
    assert provenance["seed"] == 1
    assert provenance["n_resamples"] == 3
    assert provenance["resampling"] == "Bootstrap(distinct=False)"
    assert provenance["noise"] == "label"
    assert provenance["diagonal"] is True
    assert "n_clusters=3" in provenance["clusterers"][0]
    assert provenance["studies"]["beta"] == {"samples": 40, "features": 4, "scale": "none"}
    assert provenance["versions"]["numpy"] == np.__version__
    assert provenance["versions"]["scikit-learn"] == sklearn.__version__
    assert {"python", "clustrep", "scipy", "numba", "joblib"} <= set(provenance["versions"])
    assert results["local"].provenance["seed"] == 1
    assert json.loads(json.dumps(dict(provenance))) == provenance


@pytest.mark.parametrize("k", [2, 3])
def test_provenance_of_one_configuration_names_its_own_number_of_clusters(k, cohorts):
    numbered = cr.compare(KMeans(n_init=1), cohorts, n_clusters=[2, 3], n_resamples=1, rng=1).replicability("KMeans", k)
    alone = cr.replicability(KMeans(k, n_init=1), cohorts, n_resamples=1, rng=1)
    assert f"n_clusters={k}" in numbered.provenance["clusterers"][0]
    assert numbered.provenance == alone.provenance


def halves(X, n_clusters=2, power=1):
    return np.arange(len(X)) % 2


class Plain:
    def __init__(self, helper=None):
        self.helper = helper

    def fit_predict(self, X):
        return np.arange(len(X)) % 2


class Slotted:
    __slots__ = ("size",)

    def __init__(self):
        self.size = 2

    def fit_predict(self, X):
        return np.arange(len(X)) % self.size


class Callable:
    def __call__(self, X):
        return np.arange(len(X)) % 2


def circular():
    clusterer = Plain()
    clusterer.helper = [clusterer]
    return clusterer


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda X: halves(X),
        lambda: halves,
        lambda: partial(halves, power=2),
        Callable,
        Plain,
        Slotted,
        circular,
        lambda: Plain(Plain()),
        lambda: Plain(Slotted()),
        lambda: Plain([Plain(), len]),
        lambda: Plain({"inner": Plain()}),
        lambda: Plain({"inner": lambda X: X}),
        lambda: Plain(np.array([Plain()], dtype=object)),
        lambda: Plain(partial(halves, power=Plain())),
        lambda: KMeans(2, n_init=1, random_state=np.random.RandomState(0)),
        lambda: Plain(np.random.default_rng(0)),
        lambda: make_pipeline(FunctionTransformer(lambda X: 2 * X), AgglomerativeClustering(2)),
        lambda: cr.Induced(Plain(lambda X: X), metric=lambda x, y: abs(x - y).sum()),
    ],
    ids=[
        "lambda",
        "function",
        "partial",
        "callable",
        "object",
        "slots",
        "circular",
        "object in object",
        "slots in object",
        "list",
        "dict of objects",
        "dict of functions",
        "array of objects",
        "partial in object",
        "random state",
        "generator",
        "function in pipeline",
        "induced",
    ],
)
def test_no_address_of_this_machines_memory_is_in_a_result(make, rng, tmp_path):
    """They change from run to run, and the same result would not be the same file."""
    tables = [rng.normal(size=(8, 2)), rng.normal(size=(8, 2))]
    paths = [tmp_path / "first.npz", tmp_path / "second.npz"]
    for path in paths:
        result = cr.replicability(make(), tables, n_resamples=1, rng=0)
        assert "0x" not in json.dumps(dict(result.provenance)).lower()
        result.save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_functions_keep_their_names_and_arguments_in_the_provenance(cohorts):
    choice = cr.compare({"f": halves}, cohorts, n_clusters=[2], n_resamples=1, rng=0)
    (described,) = choice.replicability("f", 2).provenance["clusterers"]
    assert "halves" in described
    assert "n_clusters=2" in described


def test_a_sampler_is_named_without_its_address(rng):
    def sampler(study, generator):
        return generator.normal(size=study.X.shape)

    tables = [rng.normal(size=(8, 2)), rng.normal(size=(8, 2))]
    result = cr.replicability(halves, tables, n_resamples=1, rng=0, resampling=cr.resampling.Simulate(sampler))
    assert result.provenance["resampling"].startswith("Simulate(sampler=")
    assert "0x" not in result.provenance["resampling"]


# ---------------------------------------------------------------------------------------------------------------------
# whole or not at all


class Stopped(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("error", [Stopped, OSError, KeyboardInterrupt])
@pytest.mark.parametrize("there_before", [True, False])
def test_a_file_appears_whole_or_not_at_all(error, there_before, results, tmp_path, monkeypatch):
    path = tmp_path / "result.npz"
    if there_before:
        results["global"].save(path)
    before = path.read_bytes() if there_before else None

    def half(stream, **arrays):
        stream.write(b"half of it")
        stream.flush()
        raise error

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(error):
        results["compare"].save(path)
    assert os.listdir(tmp_path) == (["result.npz"] if there_before else [])
    assert not there_before or path.read_bytes() == before


def test_nobody_sees_a_file_under_its_name_before_it_is_complete(tmp_path):
    path = tmp_path / "result.npz"
    with written_whole(path) as stream:
        stream.write(b"half")
        stream.flush()
        assert not path.exists()
        stream.write(b" and half")
    assert path.read_bytes() == b"half and half"


def test_saving_removes_what_killed_processes_left_and_nothing_else(results, tmp_path):
    kept = {".clustrep-0123456789abcdef", ".clustrep-0123", ".clustrep-0123456789abcdef-1", "result.npz"}
    leftover = tmp_path / ".clustrep-fedcba9876543210"
    for name in {*kept, leftover.name}:
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / ".clustrep-0000000000000000").symlink_to(tmp_path / "result.npz")
    kept.add(".clustrep-0000000000000000")
    for path in set(tmp_path.iterdir()) - {tmp_path / ".clustrep-0123456789abcdef"}:  # which is being written
        os.utime(path, (0, 0), follow_symlinks=False)
    saved(results["global"], tmp_path / "result.npz")
    assert set(os.listdir(tmp_path)) == kept


def test_saving_replaces_what_was_there(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    assert_equal(cr.load(saved(results["compare"], path)), results["compare"])
    assert os.listdir(tmp_path) == ["result.npz"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_follow_the_umask(umask, results, tmp_path):
    before = os.umask(umask)
    try:
        path = saved(results["global"], tmp_path / "result.npz")
        assert os.umask(umask) == umask  # saving left it alone
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_folder_that_is_not_there(results, tmp_path):
    with refused(DataError):
        results["global"].save(tmp_path / "missing" / "result.npz")


def test_a_folder_is_no_file(results, tmp_path):
    with refused(DataError):
        results["global"].save(tmp_path)
    with pytest.raises(DataError):
        cr.load(tmp_path)


# ---------------------------------------------------------------------------------------------------------------------
# files that are something else


def test_a_file_that_is_not_there(tmp_path):
    with refused(DataError):
        cr.load(tmp_path / "nothing.npz")


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"PK\x03\x04", b"\x80\x04K\x01.", npy(np.arange(3)), b"\x93NUMPY"]
)
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "result.npz"
    path.write_bytes(content)
    with refused(DataError):
        cr.load(path)


@pytest.mark.parametrize("header", ["[]", "{}", "3", "null", '{"format": 1}', '{"format": "1"}', "not json", '"text"'])
def test_other_archives_are_refused(header, tmp_path):
    write_archive(tmp_path / "result.npz", **{HEADER: np.array(header)})
    with pytest.raises(DataError):
        cr.load(tmp_path / "result.npz")


def changed_header(source, target, **changes):
    with np.load(source) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays[HEADER]))
    return write_archive(target, **{**arrays, HEADER: np.array(json.dumps({**header, **changes}))})


def test_a_file_of_a_later_version_says_so(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    with refused(DataError):
        cr.load(changed_header(path, tmp_path / "newer.npz", format=FORMAT + 1))


def test_a_kind_of_result_that_there_is_not(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    with refused(DataError):
        cr.load(changed_header(path, tmp_path / "other.npz", kind="Oracle"))


@pytest.mark.parametrize("kind", ["Comparison", "LocalReplicability"])
def test_the_fields_of_another_kind_are_refused(kind, results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    with refused(DataError):
        cr.load(changed_header(path, tmp_path / "other.npz", kind=kind))


def test_a_truncated_file_is_refused(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError):
            cr.load(path)


def test_a_flipped_bit_is_found_or_does_not_matter(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    whole = path.read_bytes()
    refused = 0
    for position, flip in zip(range(0, len(whole), 3), itertools.cycle([0x01, 0x10, 0xFF]), strict=False):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ flip]) + whole[position + 1 :])
        try:
            assert_equal(cr.load(path), results["global"])
        except DataError:
            refused += 1
    assert refused > 50


def test_a_missing_member_is_damage(results, tmp_path):
    path = saved(results["global"], tmp_path / "result.npz")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "less.npz", "w") as less:
        for name in archive.namelist():
            if name != "estimate.npy":
                less.writestr(name, archive.read(name))
    with open(tmp_path / "less.npz", "r+b") as stream:
        seal(stream)
    with refused(DataError):
        cr.load(tmp_path / "less.npz")


def test_parameters_of_any_kind_are_in_the_provenance(cohorts):
    start = cohorts["alpha"].X[:3]
    result = cr.replicability(KMeans(3, init=start, n_init=1), cohorts, n_resamples=1, rng=0)
    (described,) = result.provenance["clusterers"]
    assert "init=array of (3, 4), sha256 " in described
    assert describe({"p": np.float64(1.5), "w": [np.int64(2)]}) == "{'p': 1.5, 'w': [2]}"
