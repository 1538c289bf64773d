"""Options and commands that are malformed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.malformed import FOLDER, QUICK, Cases, X, check, invoke, process, table, with_cell
from tests.helpers import write_archive

CASES = Cases("command line: options")
case, mainz, usage = CASES.add, CASES.mainz, CASES.usage


def npz(**arrays):
    return lambda path: write_archive(path, **arrays)


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return open, ("sprung", "w")


# ---------------------------------------------------------------------------------------------------------------------
# options

for text in ("1", "5000", "8:2", "abc", "2.5", ""):
    usage(f"--k {text}", "--k", text)
usage("--k above the samples", "--k", "13")
case(
    "--k above the distinct samples",
    {"mainz.csv": table("m", np.repeat(X[[0, 8]], 6, axis=0)), "vdx.csv": table("v", np.repeat(X[[0, 8]], 6, axis=0))},
    ("--k", "4"),
)
case("constant tables", {"mainz.csv": table("m", X * 0), "vdx.csv": table("v", X * 0)})
mainz("constant table alone", table("m", X * 0), line=("stability", "mainz.csv"))
usage("--resamples 0", "--resamples", "0")
usage("--resamples in words", "--resamples", "ten")
usage("--null-collections 5", "--null-collections", "5")
usage("--simulations 5", "--simulations", "5", line=("test", "mainz.csv"))
usage("--jobs 0", "--jobs", "0")
usage("--agreement unknown", "--agreement", "foo")
usage("--figures unknown", "--figures", "gif")
usage("--scale unknown", "--scale", "log")
usage("option unknown", "--resample", "3")
usage("command unknown", line=("rum", "mainz.csv"))
usage("--transpose-only unknown", "--transpose-only", "manz")

BROKEN = {"broken.py": "def (\n", "raising.py": "raise RuntimeError('no')\n"}
for spec in [
    "kmean",
    "kmeans:n_int=3",
    "kmeans:foo=1",
    "kmeans:n_init=0",
    "dbscan:eps=-1",
    "dbscan:eps",
    "kmeans:n_clusters=3",
    "os.path.join",
    "sklearn.linear_model.LinearRegression",
    "sklearn.cluster.FeatureAgglomeration",
    "sklearn.cluster.Kmeans",
    "sklern.cluster.KMeans",
    "sklearn.pipeline.Pipeline",
    "sklearn.base.ClusterMixin",
    "broken.Foo",
    "raising.Foo",
]:
    usage(f"--clusterer {spec}", "--clusterer", spec, files=BROKEN)
usage("--clusterer twice", "--clusterer", "kmeans", "--clusterer", "kmeans")
case("--clusterer that fails always", options=("--clusterer", "ward:metric=cosine"))

for name, content in [
    ("missing", None),
    ("a folder", FOLDER),
    ("empty", "\n# none\n"),
    ("none shared", "A\nB\n"),
    ("all on one line", "ESR1,ERBB2\n"),
    ("Latin-1", "mü\n".encode("latin-1")),
]:
    case(f"--features {name}", {"genes.txt": content}, ("--features", "genes.txt"))

for name, content in [
    ("missing", None),
    ("a folder", FOLDER),
    ("not TOML", "seed = = 3\n"),
    ("Latin-1", "# ü\n".encode("latin-1")),
    ("byte order mark", "\ufeffseed = -1\n"),
    ("unknown key", "resample = 3\n"),
    ("a table", "[seed]\na = 1\n"),
    ("other command", 'command = "test"\n'),
    ("a number in words", 'seed = "abc"\n'),
    ("a list for a number", "seed = [1, 2]\n"),
    ("a fraction for a whole number", "seed = 2.7\n"),
    ("true for a number", "seed = true\n"),
    ("a number for a file", "features = 5\n"),
    ("a zero byte", 'features = "a\\u0000b"\n'),
    ("a number for a folder", "out = 5\n"),
    ("a number for yes", "quiet = 3\n"),
    ("true for a name", "label = true\n"),
]:
    quick = () if "list" in name else QUICK
    usage(f"--config {name}", "--config", "run.toml", *quick, files={"run.toml": content})
usage(
    "--config studies in a list of lists",
    "--config",
    "run.toml",
    line=("run",),
    files={"run.toml": 'studies = [["mainz.csv", "vdx.csv"]]\n'},
)
usage("--config studies a number", "--config", "run.toml", line=("run",), files={"run.toml": "studies = 5\n"})

usage("--out that exists", "--out", "res", files={"res/mine.txt": "x"})
usage("--out that is not ours", "--out", "res", "--force", files={"res/mine.txt": "x"})
usage("--out the folder of the data", "--out", ".")
usage("--out a file", "--out", "res", files={"res": "x"})
usage("--out below a file", "--out", "res/sub", *QUICK, files={"res": "x"})

# ---------------------------------------------------------------------------------------------------------------------
# commands


def report(name, files=None, line=("report", "res")):
    case(f"report, {name}", files, line=line)


report("no folder")
report("a file", {"res": "x"})
report("no results", {"res/notes.txt": "x"})
report("damaged", {"res/result.npz": b"PK\x03\x04junk"})
report("no bytes", {"res/result.npz": b""})
report("foreign", {"res/result.npz": npz(X=X)})
report("pickle", {"res/result.npz": npz(clustrep=np.array([Trap()], dtype=object))})
report(
    "pickle among arrays",
    {
        "res/result.npz": npz(
            clustrep=np.array('{"format": 2, "kind": "Analysis", "values": {}}'), x=np.array([Trap()], dtype=object)
        )
    },
)
report("newer", {"res/result.npz": npz(clustrep=np.array('{"format": 9, "kind": "Analysis", "values": {}}'))})
report("a folder as result", {"res/result.npz": FOLDER})
usage("report, unknown format", "--format", "pdf", line=("report", "res"))
usage("report without a folder", line=("report",))

usage("run without files", line=("run",))
usage("local with one file", line=("local", "mainz.csv"))
usage("local without files", line=("local",))
usage(
    "local with two clusterers", "--clusterer", "kmeans", "--clusterer", "ward", line=("local", "mainz.csv", "vdx.csv")
)
usage("local with two k", "--k", "2,3", line=("local", "mainz.csv", "vdx.csv"))
usage("local with an unknown study", "--train", "manz", line=("local", "mainz.csv", "vdx.csv"))
usage("stability with two files", line=("stability", "mainz.csv", "vdx.csv"))
usage("stability with two clusterers", "--clusterer", "kmeans", "--clusterer", "ward", line=("stability", "mainz.csv"))
usage("stability with an unknown index", "--index", "foo", line=("stability", "mainz.csv"))
mainz("stability, missing value", with_cell("NA"), line=("stability", "mainz.csv"))
usage("test without files", line=("test",))
mainz("test, missing file", None, line=("test", "mainz.csv"))
usage("inspect without files", line=("inspect",))
usage("inspect, label and no label", "--label", "x", "--no-label", line=("inspect", "mainz.csv"))


# ---------------------------------------------------------------------------------------------------------------------
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_is_refused(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = ("--k 8:2", "report, pickle")


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
