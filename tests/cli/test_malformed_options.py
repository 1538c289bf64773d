"""Options and commands that are malformed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.cli.malformed import FOLDER, MORE, QUICK, Cases, X, check, invoke, process, table, with_cell
from tests.helpers import write_archive

CASES = Cases()
case, mainz, usage = CASES.add, CASES.mainz, CASES.usage


def npz(**arrays):
    return lambda path: write_archive(path, **arrays)


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return open, ("sprung", "w")


# ---------------------------------------------------------------------------------------------------------------------
# options

for text, sentence in {
    "1": r"'1': the number of clusters lies between 2 and 1,000",
    "5000": r"'5000': the number of clusters lies between 2 and 1,000",
    "8:2": r"'8:2' begins with its larger end: write 2:8",
    "abc": r"'abc' is no number of clusters: write 4, 2:8 or 2,3,5",
    "2.5": r"'2\.5' is no number of clusters: write 4, 2:8 or 2,3,5",
    "": r"'' is no number of clusters: write 4, 2:8 or 2,3,5",
}.items():
    usage(f"--k {text}", r"Invalid value for '--k': " + sentence, "--k", text)
case("--k above the samples", r"\b13\b.*'mainz'|'mainz'.*\b13\b", options=("--k", "13"))
case(
    "--k above the distinct samples",
    r"\b4\b.*'mainz'|'mainz'.*\b4\b",
    {"mainz.csv": table("m", np.repeat(X[[0, 8]], 6, axis=0)), "vdx.csv": table("v", np.repeat(X[[0, 8]], 6, axis=0))},
    ("--k", "4"),
)
case(
    "constant tables",
    r"'mainz'.*(constant|same)",
    {"mainz.csv": table("m", X * 0), "vdx.csv": table("v", X * 0)},
)
mainz(
    "constant table alone",
    r"'mainz'.*(constant|same)",
    table("m", X * 0),
    line=("stability", "mainz.csv"),
)
usage("--resamples 0", r"'--resamples': 0 is not in the range x>=1", "--resamples", "0")
usage(
    "--resamples in words",
    r"'--resamples': 'ten' is not a valid whole number\.",
    "--resamples",
    "ten",
)
usage("--null-collections 5", r"'--null-collections': 5 is not in the range x>=19", "--null-collections", "5")
usage(
    "--simulations 5", r"'--simulations': 5 is not in the range x>=19", "--simulations", "5", line=("test", "mainz.csv")
)
usage("--jobs 0", r"--jobs", "--jobs", "0")
usage(
    "--agreement unknown",
    r"'--agreement': 'foo' is none of ari, ami, ami_max, ri, mi, prediction_strength, matching",
    "--agreement",
    "foo",
)
usage("--figures unknown", r"'--figures': 'gif' is none of png, svg, pdf, none", "--figures", "gif")
usage(
    "--scale unknown",
    r"'--scale': 'log' is not one of 'auto', 'none', 'pooled', 'study', 'reference=NAME'",
    "--scale",
    "log",
)
usage("option unknown", r"'--resample'.*'--resamples'", "--resample", "3")
usage("command unknown", r"No such command 'rum'.*'run'", line=("rum", "mainz.csv"))
usage(
    "--transpose-only unknown",
    r"no study to transpose 'manz'; there are mainz, vdx\. Did you mean 'mainz'\?",
    "--transpose-only",
    "manz",
)

BROKEN = {"broken.py": "def (\n", "raising.py": "raise RuntimeError('no')\n"}
for spec, sentence in [
    ("kmean", r"no clusterer 'kmean'; there are kmeans, .*Did you mean 'kmeans'\?"),
    ("kmeans:n_int=3", r"KMeans has no parameter 'n_int'\. Did you mean 'n_init'\?"),
    ("kmeans:foo=1", r"KMeans has no parameter 'foo'.*n_init"),
    ("kmeans:n_init=0", r"'n_init' parameter of KMeans must be .* Got 0 instead"),
    ("dbscan:eps=-1", r"'eps' parameter of DBSCAN must be a float in the range .* Got -1 instead"),
    ("dbscan:eps", r"write parameters as name=value, got 'eps'"),
    ("kmeans:n_clusters=3", r"the number of clusters is set by --k"),
    ("os.path.join", r"os\.path\.join is not a clusterer: it has no fit_predict"),
    ("sklearn.linear_model.LinearRegression", r"LinearRegression is not a clusterer: it has no fit_predict"),
    ("sklearn.cluster.FeatureAgglomeration", r"FeatureAgglomeration is not a clusterer: it has no fit_predict"),
    ("sklearn.cluster.Kmeans", r"'sklearn\.cluster' has no 'Kmeans'\. Did you mean 'KMeans'\?"),
    ("sklern.cluster.KMeans", r"no module 'sklern\.cluster' to import"),
    ("sklearn.pipeline.Pipeline", r"Pipeline.*'?steps'?"),
    ("sklearn.base.ClusterMixin", r"ClusterMixin is not a clusterer"),
    ("broken.Foo", r"'?broken'?.*can't be imported.*SyntaxError"),
    ("raising.Foo", r"'?raising'?.*can't be imported.*RuntimeError"),
]:  # fmt: skip
    usage(
        f"--clusterer {spec}",
        rf"--clusterer {re.escape(spec)}: .*{sentence}",
        "--clusterer",
        spec,
        files=BROKEN,
    )
usage("--clusterer twice", r"--clusterer kmeans came twice", "--clusterer", "kmeans", "--clusterer", "kmeans")
case(
    "--clusterer that fails always",
    r"Ward can only work with euclidean distances.* Failed on 'mainz', 'vdx': 'ward:metric=cosine, k = 2'\.",
    options=("--clusterer", "ward:metric=cosine"),
)

for name, sentence, content in [
    ("missing", r"list of features genes\.txt can't be read: No such file", None),
    ("a folder", r"list of features genes\.txt can't be read: Is a directory", FOLDER),
    ("empty", r"list of features genes\.txt is empty: write one name on each line", "\n# none\n"),
    ("none shared", r"None of the 2 features that genes\.txt lists \(A, B\) .* which have ESR1, ERBB2, AURKA",
     "A\nB\n"),
    ("all on one line", r"genes\.txt.*one name on each line|genes\.txt.*one a line", "ESR1,ERBB2\n"),
    ("Latin-1", r"list of features genes\.txt is not text in UTF-8" + MORE, "mü\n".encode("latin-1")),
]:  # fmt: skip
    case(f"--features {name}", sentence, {"genes.txt": content}, ("--features", "genes.txt"))

for name, sentence, content in [
    ("missing", r"run\.toml can't be read: No such file", None),
    ("a folder", r"run\.toml can't be read: Is a directory", FOLDER),
    ("not TOML", r"run\.toml is not TOML: .*line 1, column 8", "seed = = 3\n"),
    ("Latin-1", r"run\.toml.*UTF-8", "# ü\n".encode("latin-1")),
    ("byte order mark", r"run\.toml: 'seed': -1 is not in the range", "\ufeffseed = -1\n"),
    ("unknown key", r"run\.toml sets 'resample', which is no option\. Did you mean 'resamples'\?",
     "resample = 3\n"),
    ("a table", r"run\.toml: 'seed' is a table, but an option is a value or a list", "[seed]\na = 1\n"),
    ("other command", r"run\.toml is for `clustrep test`, not for `clustrep run`", 'command = "test"\n'),
    ("a number in words", r"run\.toml.*seed.*'abc'", 'seed = "abc"\n'),
    ("a list for a number", r"run\.toml.*seed", "seed = [1, 2]\n"),
    ("a fraction for a whole number", r"run\.toml.*seed.*2\.7", "seed = 2.7\n"),
    ("true for a number", r"run\.toml.*seed.*[Tt]rue", "seed = true\n"),
    ("a number for a file", r"run\.toml.*features", "features = 5\n"),
    ("a zero byte", r"run\.toml: 'features' holds a zero byte, which no name has", 'features = "a\\u0000b"\n'),
    ("a number for a folder", r"run\.toml.*out", "out = 5\n"),
    ("a number for yes", r"run\.toml.*quiet", "quiet = 3\n"),
    ("true for a name", r"run\.toml.*label", "label = true\n"),
]:  # fmt: skip
    quick = () if "list" in name else QUICK
    usage(f"--config {name}", sentence, "--config", "run.toml", *quick, files={"run.toml": content})
usage(
    "--config studies in a list of lists",
    r"run\.toml.*studies",
    "--config",
    "run.toml",
    line=("run",),
    files={"run.toml": 'studies = [["mainz.csv", "vdx.csv"]]\n'},
)
usage(
    "--config studies a number",
    r"run\.toml.*studies",
    "--config",
    "run.toml",
    line=("run",),
    files={"run.toml": "studies = 5\n"},
)

usage(
    "--out that exists",
    r"res exists already: name another folder with --out, or replace it with --force",
    "--out",
    "res",
    files={"res/mine.txt": "x"},
)
usage(
    "--out that is not ours",
    r"res holds no results of clustrep, so --force does not replace",
    "--out",
    "res",
    "--force",
    files={"res/mine.txt": "x"},
)
usage("--out the folder of the data", r"\. exists already: name another folder with --out", "--out", ".")
usage(
    "--out a file",
    r"res is a file: name a folder with --out",
    "--out",
    "res",
    files={"res": "x"},
)
usage(
    "--out below a file",
    r"res is a file: name (a|another) folder with --out",
    "--out",
    "res/sub",
    *QUICK,
    files={"res": "x"},
)

# ---------------------------------------------------------------------------------------------------------------------
# commands

SAVED = r"res/result\.npz is not a result that clustrep saved, or is damaged"


def report(name, sentence, files=None, line=("report", "res")):
    case(f"report, {name}", sentence, files, line=line)


report("no folder", r"There is no folder res" + MORE)
report("a file", r"res is a file: name the folder", {"res": "x"})
report("no results", r"res holds no result\.npz: name the folder that a run wrote", {"res/notes.txt": "x"})
report("damaged", SAVED + MORE, {"res/result.npz": b"PK\x03\x04junk"})
report("no bytes", SAVED + MORE, {"res/result.npz": b""})
report("foreign", SAVED + MORE, {"res/result.npz": npz(X=X)})
report("pickle", SAVED, {"res/result.npz": npz(clustrep=np.array([Trap()], dtype=object))})
report(
    "pickle among arrays",
    SAVED,
    {
        "res/result.npz": npz(
            clustrep=np.array('{"format": 2, "kind": "Analysis", "values": {}}'), x=np.array([Trap()], dtype=object)
        )
    },
)
report(
    "newer",
    r"res/result\.npz was saved by a newer clustrep \(format 9, this one reads 2\): update",
    {"res/result.npz": npz(clustrep=np.array('{"format": 9, "kind": "Analysis", "values": {}}'))},
)
report("a folder as result", r"res/result\.npz is a folder: name a file", {"res/result.npz": FOLDER})
usage(
    "report, unknown format",
    r"'--format': 'pdf' is not one of 'html', 'markdown', 'json'",
    "--format",
    "pdf",
    line=("report", "res"),
)
usage("report without a folder", r"Missing argument 'DIR'", line=("report",))

usage("run without files", r"name one file for each study; or try `clustrep demo`", line=("run",))
usage(
    "local with one file",
    r"needs at least two studies: name two or more files.*`clustrep run` takes one study",
    line=("local", "mainz.csv"),
)
usage("local without files", r"name one file for each study", line=("local",))
usage(
    "local with two clusterers",
    r"local follows one --clusterer with one --k; `clustrep run` compares several",
    "--clusterer",
    "kmeans",
    "--clusterer",
    "ward",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "local with two k",
    r"local follows one --clusterer with one --k; `clustrep run` compares several",
    "--k",
    "2,3",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "local with an unknown study",
    r"no study to train on 'manz'; there are mainz, vdx\. Did you mean 'mainz'\?",
    "--train",
    "manz",
    line=("local", "mainz.csv", "vdx.csv"),
)
usage(
    "stability with two files",
    r"name one file, got 2; for several studies there is `clustrep run`",
    line=("stability", "mainz.csv", "vdx.csv"),
)
usage(
    "stability with two clusterers",
    r"stability takes one --clusterer",
    "--clusterer",
    "kmeans",
    "--clusterer",
    "ward",
    line=("stability", "mainz.csv"),
)
usage(
    "stability with an unknown index",
    r"'--index': 'foo' is none of matching, .*jaccard",
    "--index",
    "foo",
    line=("stability", "mainz.csv"),
)
mainz(
    "stability, missing value",
    r"'mainz' has 1 missing value .* sample 'm3', feature 'ESR1'\. Fill",
    with_cell("NA"),
    line=("stability", "mainz.csv"),
)
usage("test without files", r"name at least one file", line=("test",))
mainz(
    "test, missing file", r"There is no file mainz\.csv\. This folder holds vdx\.csv", None, line=("test", "mainz.csv")
)
usage("inspect without files", r"name at least one file", line=("inspect",))
usage(
    "inspect, label and no label",
    r"--label and --no-label exclude each other",
    "--label",
    "x",
    "--no-label",
    line=("inspect", "mainz.csv"),
)


# ---------------------------------------------------------------------------------------------------------------------
# every case


@pytest.mark.parametrize("malformed", CASES.parameters())
def test_a_malformed_input_gets_its_sentence(malformed, empty_folder):
    check(malformed, empty_folder, invoke)


IN_A_PROCESS = (
    "--k 8:2",
    "report, pickle",
)


@pytest.mark.parametrize("malformed", CASES.parameters(*IN_A_PROCESS))
def test_a_process_says_the_same(malformed, empty_folder):
    check(malformed, empty_folder, process)
