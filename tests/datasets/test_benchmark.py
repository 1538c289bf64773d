"""The paper's benchmark sets: downloaded whole or not at all, taken from a folder only unchanged."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from tests.datasets.examples import run_examples

from clustrep import datasets
from clustrep.datasets import benchmark
from clustrep.errors import DataError, ParameterError

pooch = pytest.importorskip("pooch")

GENES = '"","205225_at","216836_s_at","208079_s_at"\n'
SUBTYPES = '"","PAM50","HK_3GENE"\n'
CONTENTS = {
    "shapes/spiral.txt": "31.95\t7.95\t3\r\n31.15\t7.3\t3\r\n0.5\t0.25\t1\r\n",
    "gaussians/dim032.txt": "".join(f"{' '.join(str(32 * i + j) for j in range(32))}\n" for i in range(3)),
    "gaussians/dim064.txt": "".join(f"{' '.join(str(64 * i + j) for j in range(64))}\n" for i in range(3)),
    "breast/MAINZ_3_SV.csv": GENES + '"m1",8.49341217360193,14.5,9.5\n"m2",13.5,10.5,8.5\n',
    "breast/TRANS_3_SV.csv": GENES + '"t1",7.5,10.5,9.5\n"t2",12.5,9.5,10.5\n',
    "breast/VDX_3_SV.csv": GENES + '"v1",10.5,10.75,7.5\n"v2",12.5,10.25,8.5\n',
    "breast/mainz_subtypes.csv": SUBTYPES + '"m2","LumB","LumA"\n"m1","Her2","Basal"\n',
    "breast/transbig_subtypes.csv": SUBTYPES + '"t1","Her2","Basal"\n"t2","LumB","LumB"\n',
    "breast/vdx_subtypes.csv": SUBTYPES + '"v1","Normal","Basal"\n"v2","LumA","LumB"\n',
}
LOADERS = {
    "load_shape": lambda **options: datasets.load_shape("spiral", **options),
    "load_dim": lambda **options: datasets.load_dim(**options),
    "load_breast": lambda **options: datasets.load_breast("PAM50", **options),
}


class Site:
    """A web server on this machine that counts what it is asked for, and can be made to misbehave."""

    def __init__(self):
        self.asked = []
        self.behaviour = "honest"
        self.files = {benchmark._address(name).removeprefix(benchmark.ADDRESS): CONTENTS[name] for name in CONTENTS}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.asked.append(self.path)
                body = site.files.get(self.path, "").encode()
                if not body or site.behaviour == "without files":
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if site.behaviour == "breaking off":
                    body = body[: len(body) // 2]
                if site.behaviour == "tampering":
                    body = body.replace(b"5", b"6")
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        if self.thread.is_alive():
            self.server.shutdown()
            self.thread.join()
            self.server.server_close()


@pytest.fixture
def small_files(monkeypatch):
    """The files as above stand for the published ones."""
    monkeypatch.delenv("CLUSTREP_DATA", raising=False)
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in CONTENTS.items()}
    monkeypatch.setattr(benchmark, "SHA256", digests)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache"


@pytest.fixture
def site(monkeypatch, small_files, cache):
    site = Site()
    monkeypatch.setattr(benchmark, "ADDRESS", site.address)
    monkeypatch.setenv("NO_PROXY", "*")
    yield site
    site.close()


@pytest.fixture
def folder(small_files, tmp_path):
    for name, text in CONTENTS.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "data"


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def assert_is_the_spiral(study):
    assert study.name == "spiral"
    assert study.features == ("x", "y")
    np.testing.assert_array_equal(study.X, [[31.95, 7.95], [31.15, 7.3], [0.5, 0.25]])
    np.testing.assert_array_equal(study.labels, [3, 3, 1])


# ---------------------------------------------------------------------------------------------------------------------
# what is loaded


def test_a_shape_has_its_classes_as_labels(folder):
    assert_is_the_spiral(datasets.load_shape("spiral", folder=folder))


@pytest.mark.parametrize("dimensions", [32, 64])
def test_a_dim_set_has_no_labels(folder, dimensions):
    study = datasets.load_dim(dimensions, folder)
    assert study.name == f"dim{dimensions:03d}"
    assert study.features[:2] == ("x1", "x2")
    assert study.labels is None
    np.testing.assert_array_equal(study.X, np.arange(3 * dimensions).reshape(3, dimensions))


def test_cohorts_have_their_genes_and_patients(folder):
    studies = datasets.load_breast(folder=folder)
    assert studies.names == ("mainz", "transbig", "vdx")
    assert studies.features == ("ESR1", "ERBB2", "AURKA")
    assert studies["mainz"].samples == ("m1", "m2")
    assert studies["mainz"].X[0, 0] == 8.49341217360193
    assert all(study.labels is None for study in studies.values())


@pytest.mark.parametrize(("subtypes", "mainz"), [("PAM50", ["Her2", "LumB"]), ("HK_3GENE", ["Basal", "LumA"])])
def test_subtypes_are_matched_by_the_patients_names(folder, subtypes, mainz):
    studies = datasets.load_breast(subtypes, folder)
    assert studies["mainz"].labels.tolist() == mainz
    assert studies["vdx"].labels.tolist() == {"PAM50": ["Normal", "LumA"], "HK_3GENE": ["Basal", "LumB"]}[subtypes]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        *((lambda name=name: datasets.load_shape(name), "name") for name in ("spirals", "D31", 31)),
        *((lambda n=n: datasets.load_dim(n), "dimensions") for n in (128, True, "64", [64])),
        (lambda: datasets.load_breast("pam50"), "subtypes"),
        *((lambda load=load: load(folder=3), "folder") for load in LOADERS.values()),
    ],
)
def test_what_there_is_not_is_refused(call, parameter):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.parameter == parameter


# ---------------------------------------------------------------------------------------------------------------------
# from a folder


@pytest.mark.parametrize("loader", LOADERS)
def test_a_folder_is_named_by_the_environment_too(folder, monkeypatch, loader, cache):
    monkeypatch.setenv("CLUSTREP_DATA", str(folder))
    LOADERS[loader]()
    assert not cache.exists()


def test_the_folder_passed_goes_before_the_environment(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path / "elsewhere"))
    assert_is_the_spiral(datasets.load_shape("spiral", folder=str(folder)))


def test_an_empty_variable_names_no_folder(site, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", "")
    assert_is_the_spiral(datasets.load_shape("spiral"))
    assert len(site.asked) == 1


def test_a_file_that_was_changed_or_cannot_be_read_is_refused(folder, monkeypatch, tmp_path):
    path = folder / "shapes" / "spiral.txt"
    path.write_bytes(CONTENTS["shapes/spiral.txt"].replace("3\r\n", "1\r\n").encode())
    for source in (folder, tmp_path, path):  # changed, absent, not a folder
        with pytest.raises(DataError):
            datasets.load_shape("spiral", folder=source)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(DataError):
        datasets.load_shape("spiral", folder=folder)


# ---------------------------------------------------------------------------------------------------------------------
# from the network


def test_every_file_that_can_be_asked_for_has_its_digest():
    expected = {f"shapes/{name}.txt" for name in benchmark.SHAPES}
    expected |= {f"gaussians/dim{dimensions:03d}.txt" for dimensions in benchmark.DIMENSIONS}
    expected |= {f"breast/{file}_3_SV.csv" for file in benchmark.COHORTS.values()}
    expected |= {f"breast/{name}_subtypes.csv" for name in benchmark.COHORTS}
    assert set(benchmark.SHA256) == expected
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in benchmark.SHA256.values())


def test_a_file_is_downloaded_once(site, cache):
    assert_is_the_spiral(datasets.load_shape("spiral"))
    assert site.asked == ["/synthetic_data/Data/Shapes/spiral.txt"]
    assert files_in(cache) == ["clustrep/shapes/spiral.txt"]
    assert_is_the_spiral(datasets.load_shape("spiral"))
    assert len(site.asked) == 1


@pytest.mark.parametrize(("loader", "n_files"), [("load_shape", 1), ("load_dim", 1), ("load_breast", 6)])
def test_what_was_downloaded_is_there_without_a_network(site, loader, n_files):
    LOADERS[loader]()
    assert len(site.asked) == n_files
    site.close()
    LOADERS[loader]()


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("behaviour", ["breaking off", "tampering", "without files", "absent"])
def test_what_goes_wrong_leaves_nothing_behind(site, cache, monkeypatch, loader, behaviour):
    site.behaviour = behaviour
    with monkeypatch.context() as context:
        if behaviour == "absent":
            context.setattr(benchmark, "ADDRESS", "http://127.0.0.1:9")  # the port of discard: nobody answers
        with pytest.raises(DataError) as caught:
            LOADERS[loader]()
    assert "CLUSTREP_DATA" in str(caught.value)  # what to do instead
    assert files_in(cache) == []
    site.behaviour = "honest"
    LOADERS[loader]()


def test_a_file_changed_in_the_cache_is_downloaded_again(site, cache):
    datasets.load_shape("spiral")
    (cache / "clustrep" / "shapes" / "spiral.txt").write_text("1 2 3\n")
    assert_is_the_spiral(datasets.load_shape("spiral"))
    assert len(site.asked) == 2


def test_without_a_network_a_cache_or_pooch_nothing_is_used(site, cache, monkeypatch):
    datasets.load_shape("spiral")
    site.close()
    (cache / "clustrep" / "shapes" / "spiral.txt").write_text("1 2 3\n")
    with pytest.raises(DataError):  # the copy was changed
        datasets.load_shape("spiral")
    monkeypatch.setattr(pooch, "os_cache", lambda project: cache / "clustrep" / "shapes" / "spiral.txt")
    with pytest.raises(DataError):  # a file stands where the cache should be
        datasets.load_shape("spiral")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError) as caught:
        datasets.load_shape("spiral")
    assert "clustrep[datasets]" in str(caught.value)  # what to install


def test_a_folder_needs_no_pooch(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert_is_the_spiral(datasets.load_shape("spiral", folder=folder))


# ---------------------------------------------------------------------------------------------------------------------
# the published files, where they are


@pytest.mark.parametrize(
    ("name", "n_samples", "n_classes"),
    [("aggregation", 788, 7), ("compound", 399, 6), ("d31", 3100, 31), ("r15", 600, 15), ("spiral", 312, 3)],
)
def test_the_published_shapes(data_folder, name, n_samples, n_classes):
    study = datasets.load_shape(name)
    assert study.X.shape == (n_samples, 2)
    assert np.unique(study.labels).tolist() == list(range(1, n_classes + 1))


@pytest.mark.parametrize("dimensions", [32, 64])
def test_the_published_gaussians(data_folder, dimensions):
    X = datasets.load_dim(dimensions).X
    assert X.shape == (1024, dimensions)
    clusters = X.reshape(16, 64, dimensions)  # cluster after cluster
    deviation = np.sqrt(clusters.var(axis=1).mean())
    assert 1.5 < deviation < 3
    centres = clusters.mean(axis=1)
    assert 30 < centres.min() < 34
    assert 220 < centres.max() < 224
    assert pdist(centres).min() > 20 * deviation * np.sqrt(dimensions)


def test_the_published_cohorts(data_folder):
    studies = datasets.load_breast("PAM50")
    assert [len(study) for study in studies.values()] == [200, 198, 344]
    for study in studies.values():
        assert np.unique(study.labels).tolist() == ["Basal", "Her2", "LumA", "LumB", "Normal"]
        frame = study.to_frame()
        assert frame["ERBB2"].groupby(study.labels).mean().idxmax() == "Her2"
        assert frame["ESR1"].groupby(study.labels).mean().idxmin() == "Basal"
    three_gene = datasets.load_breast("HK_3GENE")
    assert three_gene["vdx"].samples == studies["vdx"].samples
    assert set(three_gene["vdx"].labels) == {"Basal", "Her2", "LumA", "LumB"}


@pytest.mark.parametrize("loader", [datasets.load_shape, datasets.load_dim, datasets.load_breast])
def test_the_examples_in_the_documentation_run(data_folder, loader):
    run_examples(loader)
