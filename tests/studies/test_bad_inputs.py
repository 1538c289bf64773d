"""Bad inputs across the whole public API, and the sentence that each gets.

A sentence names the parameter, study or file, states the rule, shows the value or the place, and says what to do next
where that is not obvious. Nothing but the classes of `clustrep.errors` may come out.
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import json
import re
import zipfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ClustrepError, DataError, NoBest, ParameterError

RNG = np.random.default_rng(11)
X = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + RNG.normal(size=(12, 3))
Y = np.repeat([[0.0, 0.0, 0.0], [6.0, 5.0, 4.0]], 6, axis=0) + RNG.normal(size=(12, 3))
F = pd.DataFrame(X, columns=list("abc"), index=[f"s{i}" for i in range(12)])
G = pd.DataFrame(Y, columns=list("abc"), index=[f"t{i}" for i in range(12)])
HALVES = [0] * 6 + [1] * 6
HOLES = X.copy()
HOLES[3, 1] = HOLES[7, 0] = HOLES[7, 2] = np.nan
MASKED = np.ma.array(X, mask=np.isnan(HOLES))
RAGGED = [[1.0, 2.0, 3.0], [4.0]]
TABLE_FILE = "id,a,b\ns1,0.5,1.5\ns2,2.5,3.5\ns3,4.5,5.5\n"

# What no colleague would say: words of NumPy and Python, advice that is not for the user, and broken grammar.
UNKIND = re.compile(
    r"np\.\w+\(|dtype|<U\d|__init__\(|allow_pickle|has no attribute|inhomogeneous|positional argument|context manager"
    r"|array of \(\)|could not convert|UFunc|labels( of study '\w+')? (has|is) |\b1 (are|cells|fields) "
    r"|\bthere are None"
)


def check_sentence(sentence: str) -> None:
    first_line = sentence.split("\n")[0]
    assert first_line.endswith((".", "?")), f"not a sentence: {sentence}"
    assert not UNKIND.search(sentence), f"unkind: {sentence}"


def case(name, call, error, sentence):
    return name, call, error, sentence


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@functools.cache
def studies():
    return cr.Studies({"alpha": F, "beta": G})


QUICK = {"n_resamples": 2, "rng": 0}
K_MEANS = KMeans(2, n_init=1)


def run(clusterer=K_MEANS, given=None, **options):
    return cr.replicability(clusterer, studies() if given is None else given, **{**QUICK, **options})


def run_compare(clusterers=K_MEANS, given=None, **options):
    return cr.compare(clusterers, studies() if given is None else given, **{**QUICK, **options})


def run_local(clusterer=K_MEANS, **options):
    return cr.local_replicability(
        clusterer, **{"train": studies()["alpha"], "test": studies()["beta"], **QUICK, **options}
    )


@functools.cache
def result():
    return run()


@functools.cache
def comparison():
    return run_compare({"k-means": KMeans(n_init=1), "density": DBSCAN(eps=3)}, n_clusters=[2, 3])


@functools.cache
def local():
    return run_local()


# ---------------------------------------------------------------------------------------------------------------------
# studies

# fmt: off
STUDY = [
    case("name None", lambda: cr.Study(X, None), DataError, r"name of a study must be a text .* got None"),
    case("name blank", lambda: cr.Study(X, " "), DataError, r"name of a study must be .* not empty, got ' '"),
    case("name number", lambda: cr.Study(X, 3), DataError, r"name of a study must be a text .* got 3"),
    case("one-dimensional", lambda: cr.Study(X[0], "a"), DataError, r"'a' is one-dimensional.*X\.reshape\(-1, 1\)"),
    case("Series", lambda: cr.Study(F["a"], "a"), DataError, r"'a' is one-dimensional: a table of samples by features"),
    case("three-dimensional", lambda: cr.Study(X[None], "a"), DataError, r"'a' must be a table .* \(1, 12, 3\)"),
    case("ragged", lambda: cr.Study(RAGGED, "a"), DataError, r"Study 'a'.*(same|length|row|ragged)"),
    case("None", lambda: cr.Study(None, "a"), DataError, r"'a' must be a table .* got None"),
    case("a path", lambda: cr.Study("mainz.csv", "a"), DataError, r"'a' must be a table .*'mainz\.csv'.*Studies\.read"),
    case("a dict", lambda: cr.Study({"x": [1, 2]}, "a"), DataError, r"'a' must be a table .* dict"),
    case("empty list", lambda: cr.Study([], "a"), DataError, r"'a' (is empty|has (0|no) samples)"),
    case("no samples", lambda: cr.Study(X[:0], "a"), DataError, r"'a' has 0 samples: at least 2 are needed"),
    case("one sample", lambda: cr.Study(X[:1], "a"), DataError, r"'a' has 1 sample: at least 2 are needed"),
    case("no features", lambda: cr.Study(X[:, :0], "a"),
         DataError, r"'a' has no features: there is nothing to cluster"),
    case("empty frame", lambda: cr.Study(pd.DataFrame(), "a"), DataError, r"'a' has no features"),
    case("text", lambda: cr.Study([["u", "v"], ["w", "x"]], "a"),
         DataError, r"'a' has 2 columns that are not numeric: '1' \(such as 'u'\)"),
    case("some text", lambda: cr.Study(np.array([[1, "x"], [2, 3]], object), "a"),
         DataError, r"'a' .*not numeric: '2' \(such as 'x'\)"),
    case("complex", lambda: cr.Study(X * 1j, "a"),
         DataError, r"'a' has 3 columns that are not numeric: '1' \(such as '.*j"),
    case("dates", lambda: cr.Study(np.zeros((2, 2), "M8[D]"), "a"),
         DataError, r"'a' has 2 columns that are not numeric: '1' \(such as '1970"),
    case("sparse", lambda: cr.Study(scipy.sparse.csr_matrix(X), "a"),
         DataError, r"'a' is a sparse matrix.*X\.toarray\(\)"),
    case("masked", lambda: cr.Study(MASKED, "a"), DataError, r"'a' has 3 (missing|masked) values"),
    case(
        "missing and infinite",
        lambda: cr.Study([[1.0, np.nan, 3.0], [-np.inf, np.nan, 0.0]], "a", features=list("xyz"), samples=["s", "t"]),
        DataError,
        r"'a' has 2 missing values and 1 infinite value in 2 samples and 2 features, first at sample 's', feature 'y'; "
        r"sample 't', feature 'x'; sample 't', feature 'y'\. Fill them in, or drop",
    ),
    case("None cells", lambda: cr.Study([[1.0, None], [2.0, 3.0]], "a"), DataError, r"1 missing value .* sample '1'"),
    case("NA cells", lambda: cr.Study(F.convert_dtypes().mask(F > 6), "a"), DataError, r"missing value"),
    case("text column", lambda: cr.Study(F.assign(b="u"), "a"),
         DataError, r"1 column .* not numeric: 'b' \(such as 'u'\)"),
    case("date column", lambda: cr.Study(F.assign(b=pd.Timestamp(0)), "a"),
         DataError, r"not numeric: 'b' \(such as '1970"),
    case("complex column", lambda: cr.Study(F.assign(b=1j), "a"), DataError, r"not numeric: 'b' \(such as '1j'\)"),
    case("five text columns", lambda: cr.Study(F.assign(**dict.fromkeys("defgh", "u")), "a"),
         DataError, r"5 columns .*not numeric: 'd' .* 'e' .* 'f' .* and 2 more\. Leave them out, or pass label="),
    case("decimal commas", lambda: cr.Study(F.assign(b="1,5"), "a"),
         DataError, r"'b' \(such as '1,5'\).*decimal commas"),
    case("missing value in a column of objects", lambda: cr.Study(F.astype(object).assign(b=[None] + [1.5] * 11), "a"),
         DataError, r"1 missing value .* sample 's0', feature 'b'"),
    case("two equal columns", lambda: cr.Study(F.set_axis(list("aac"), axis=1), "s"),
         DataError, r"'s' has 1 duplicate feature name: 'a'"),
    case("two equal rows", lambda: cr.Study(F.rename(index={"s1": "s0"}), "s"),
         DataError, r"'s' has 1 duplicate sample name: 's0'"),
    case("column 1 and '1'", lambda: cr.Study(F.set_axis([1, "1", 2], axis=1), "s"),
         DataError, r"duplicate feature name: '1'"),
    case("column without name", lambda: cr.Study(F.set_axis(["a", None, "c"], axis=1), "s"),
         DataError, r"without a name, the first at position 2"),
    case("too few features", lambda: cr.Study(X, "s", features=["a"]),
         DataError, r"'s' has 3 features but 1 feature name"),
    case("features text", lambda: cr.Study(X, "s", features="abc"), ClustrepError, r"features must be .*'abc'"),
    case("features number", lambda: cr.Study(X, "s", features=3), ClustrepError, r"features must be .*3"),
    case("features twice", lambda: cr.Study(X, "s", features=["a", "a", "c"]),
         DataError, r"duplicate feature name: 'a'"),
    case("features NA", lambda: cr.Study(X, "s", features=["a", pd.NA, "c"]),
         DataError, r"features without a name, the first at position 2"),
    case("too few samples", lambda: cr.Study(X, "s", samples=["p"]),
         DataError, r"'s' has 12 samples but 1 sample name"),
    case("samples text", lambda: cr.Study(X, "s", samples="abcdefghijkl"), ClustrepError, r"samples must be .*'abcdef"),
    case("samples number", lambda: cr.Study(X, "s", samples=12), ClustrepError, r"samples must be .*12"),
    case("too few labels", lambda: cr.Study(X, "s", labels=[1, 2]),
         DataError, r"labels of study 's' must have one label .* 12; got 2"),
    case("labels text", lambda: cr.Study(X, "s", labels="abc"),
         DataError, r"labels of study 's' must be a sequence .* got 'abc'"),
    case("labels missing", lambda: cr.Study(X, "s", labels=["A", None] * 6),
         DataError, r"labels of study 's' (have|lack|miss).*6 missing labels, the first at"),
    case("labels fractions", lambda: cr.Study(X, "s", labels=X[:, 0]),
         DataError, r"labels of study 's' must hold whole numbers or text, got -?\d"),
    case("labels infinite", lambda: cr.Study(X, "s", labels=[np.inf, 1] * 6),
         DataError, r"labels of study 's' must .*inf"),
    case("labels huge", lambda: cr.Study(X, "s", labels=[1e300, 1] * 6),
         DataError, r"labels of study 's' must .*1e\+300"),
    case("labels masked", lambda: cr.Study(X, "s", labels=np.ma.array(HALVES, mask=HALVES)),
         DataError, r"labels of study 's'.*6 missing labels"),
    case("labels table", lambda: cr.Study(X, "s", labels=[[1, 2]] * 12),
         DataError, r"labels of study 's' must be one-dimensional.*\(12, 2\)"),
    case("labels ragged", lambda: cr.Study(X, "s", labels=[[1], [2, 3]]),
         DataError, r"labels of study 's' must be one-dimensional"),
    case("select unknown", lambda: studies()["alpha"].select(["aa"]),
         ParameterError, r"no feature .*'aa'.*there are a, b, c\. Did you mean 'a'\?"),
    case("select number", lambda: studies()["alpha"].select([0]), ParameterError, r"no feature .*0.*there are a, b, c"),
    case("select nothing", lambda: studies()["alpha"].select([]),
         ParameterError, r"features must be .* at least one .*\[\]"),
    case("select text", lambda: studies()["alpha"].select("abc"),
         ParameterError, r"features must be a sequence .* got 'abc'"),
    case("select None", lambda: studies()["alpha"].select(None),
         ParameterError, r"features must be a sequence .* got None"),
    case("select twice", lambda: studies()["alpha"].select(["a", "a"]),
         ClustrepError, r"'a'.*(twice|duplicate|once)|(twice|duplicate|once).*'a'"),
    case("scale unknown", lambda: studies()["alpha"].scaled("zscor"),
         ParameterError, r"scale must be one of 'none', 'zscore', 'robust'; got 'zscor'\. Did you mean 'zscore'"),
    case("scale twice", lambda: studies()["alpha"].scaled("zscore").scaled("robust"),
         ParameterError, r"Study 'alpha' is scaled by 'zscore' already"),
]
# fmt: on

# fmt: off
STUDIES = [
    case("None", lambda: cr.Studies(None), DataError, r"studies must be a Studies, a mapping .* or a sequence"),
    case("a path", lambda: cr.Studies("mainz.csv"), DataError, r"studies must be a Studies.*got str"),
    case("paths", lambda: cr.Studies(["mainz.csv", "vdx.csv"]), DataError, r"'mainz\.csv'.*Studies\.read"),
    case("one array", lambda: cr.Studies(X), DataError, r"studies must be .* a sequence of tables; got ndarray"),
    case("one frame", lambda: cr.Studies(F),
         DataError, r"studies must be .* a mapping of name to table.*got DataFrame"),
    case("one study", lambda: cr.Studies(studies()["alpha"]), DataError, r"studies must be .* got Study"),
    case("a generator", lambda: cr.Studies(table for table in (F, G)), DataError, r"studies must be .* got generator"),
    case("one table as lists", lambda: cr.Studies(X.tolist()), DataError, r"Study '1' is one-dimensional"),
    case("empty list", lambda: cr.Studies([]), DataError, r"studies is empty: there must be at least one study"),
    case("empty mapping", lambda: cr.Studies({}), DataError, r"studies is empty"),
    case("numbers as names", lambda: cr.Studies({1: F}), DataError, r"name of a study must be a text .* got 1"),
    case("the same name twice", lambda: cr.Studies([cr.Study(X, "a"), cr.Study(Y, "a")]),
         DataError, r"needs a name of its own, but 'a' came twice"),
    case("a number that is a name", lambda: cr.Studies([X, cr.Study(Y, "1")]), DataError, r"'1' came twice"),
    case("numbers of features", lambda: cr.Studies({"a": X, "b": Y[:, :2]}),
         DataError, r"different numbers of features \(a 3, b 2\).*pass frames"),
    case("names and none", lambda: cr.Studies({"a": F, "b": Y}), DataError,
         r"'b' does not name its features, study 'a' does"),
    case("no common feature", lambda: cr.Studies({"a": F, "b": G.rename(columns=str.upper)}),
         DataError, r"no feature in common: 3 .*, such as A, a\..*\n  a: 3 features, 3 in no .*\n  b: .*A, B, C"),
    case("wrong way round", lambda: cr.Studies({"a": F, "b": G.T}),
         DataError, r"Study 'b' is probably the wrong way round: 3 rows.*\(a, b, c\).*frame\.T"),
    case("one row like a feature", lambda: cr.Studies({"a": F, "b": G.rename(columns=str.upper, index={"t0": "a"})}),
         DataError, r"Study 'b'.* 1 (row )?of its 12 (rows )?is named|no feature in common"),
    case("missing", lambda: cr.Studies({"a": F, "b": HOLES}),
         DataError, r"Study 'b' has 3 missing values in 2 samples and 3 features"),
    case("scale", lambda: cr.Studies([X, Y], scale="standard"),
         ParameterError, r"scale must be one of 'none', 'zscore', 'robust'; got 'standard'"),
    case("scale None", lambda: cr.Studies([X, Y], scale=None), ParameterError, r"scale must be one of .* got None"),
    case("label number", lambda: cr.Studies([F], label=3),
         ParameterError, r"label must be the name of a column, False or None, got 3"),
    case("label True", lambda: cr.Studies([F], label=True),
         ParameterError, r"label must be the name of a column.*got True"),
    case("label blank", lambda: cr.Studies([F], label=""),
         ParameterError, r"label must be the name of a column.*got ''"),
    case("label unknown", lambda: cr.Studies([F], label="class"),
         DataError, r"No study has a column 'class' .* there are a, b, c"),
    case("label of a study made by hand", lambda: cr.Studies([cr.Study(F, "s")], label="a"),
         DataError, r"^(?!No study has a column)"),
    case("label twice", lambda: cr.Studies([F.set_axis(list("acc"), axis=1)], label="c"),
         DataError, r"Study '1' has 1 duplicate feature name: 'c'"),
    case("label a measurement", lambda: cr.Studies([F], label="a"),
         DataError, r"labels of study '1' must hold whole numbers or text, got -?\d"),
    case("item unknown", lambda: studies()["alhpa"],
         ClustrepError, r"no study 'alhpa'; there are alpha, beta\. Did you mean 'alpha'\?"),
    case("item number", lambda: studies()[0], ClustrepError, r"no study 0; there are alpha, beta"),
    case("select nothing", lambda: studies().select([]),
         ParameterError, r"features must be a sequence of at least one feature name, got \[\]"),
    case("select text", lambda: studies().select("a"), ParameterError, r"features must be a sequence .* got 'a'"),
    case("select number", lambda: studies().select(5), ParameterError, r"features must be a sequence .* got 5"),
    case("select None", lambda: studies().select(None), ParameterError, r"features must be a sequence .* got None"),
    case("select unknown", lambda: studies().select(["a", "d"]),
         ParameterError, r"no feature .*'d'.*there are a, b, c"),
    case("select twice", lambda: studies().select(["a", "a"]),
         ClustrepError, r"'a'.*(twice|duplicate|once)|(twice|duplicate|once).*'a'"),
    case("scaled", lambda: studies().scaled("z"), ParameterError, r"scale must be one of .* got 'z'"),
    case("scaled twice", lambda: studies().scaled("zscore").scaled("zscore"),
         ParameterError, r"'alpha' is scaled by 'zscore' already"),
    case("from_frames of arrays", lambda: cr.Studies.from_frames({"a": X}),
         DataError, r"Study 'a' must be a pandas DataFrame, got ndarray"),
    case("from_frames of a list", lambda: cr.Studies.from_frames([F, G]),
         ClustrepError, r"frames must (be a mapping|map) .*list"),
    case("from_frames of None", lambda: cr.Studies.from_frames(None),
         ClustrepError, r"frames must (be a mapping|map) "),
    case("from_frames of one frame", lambda: cr.Studies.from_frames(F), ClustrepError, r"DataFrame"),
    case("split in one", lambda: cr.Studies.split(X, 1), ParameterError, r"n must be an integer of at least 2, got 1"),
    case("split in halves", lambda: cr.Studies.split(X, 0.5),
         ParameterError, r"n must be an integer of at least 2, got 0\.5"),
    case("split True", lambda: cr.Studies.split(X, True), ParameterError, r"n must be an integer .* got True"),
    case("split too fine", lambda: cr.Studies.split(X, 7),
         DataError, r"n must leave at least 2 samples in each part: got n=7 for 12 samples"),
    case("split rng text", lambda: cr.Studies.split(X, rng="seed"),
         ParameterError, r"rng must be a non-negative integer, .* got 'seed'"),
    case("split rng negative", lambda: cr.Studies.split(X, rng=-1),
         ParameterError, r"rng must be a non-negative integer.*got -1"),
    case("split studies", lambda: cr.Studies.split(studies()), ClustrepError, r"one (study|table).*Studies"),
    case("split missing", lambda: cr.Studies.split(HOLES), DataError, r"missing values"),
    case("split a column", lambda: cr.Studies.split(X[:, 0]), DataError, r"one-dimensional.*X\.reshape\(-1, 1\)"),
]
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# the three verbs

# fmt: off
REPLICABILITY = [
    case("class", lambda: run(KMeans), ParameterError, r"clusterer must be an object, not a class: write KMeans\(\)"),
    case("None", lambda: run(None), ParameterError, r"clusterer is None: pass a clusterer, or known labels"),
    case("text", lambda: run("kmeans"),
         ParameterError, r"clusterer must have fit_predict, or be a function .* got 'kmeans'"),
    case("scaler", lambda: run(StandardScaler()),
         ParameterError, r"clusterer must have fit_predict.* got StandardScaler\(\)"),
    case("pipeline of scalers", lambda: run(make_pipeline(StandardScaler())),
         ParameterError, r"clusterer must have fit_predict"),
    case("several", lambda: run([K_MEANS]), ParameterError, r"clusterer must have fit_predict.* got \["),
    case("distances", lambda: run(AgglomerativeClustering(2, metric="precomputed", linkage="average")),
         ParameterError, r"metric='precomputed', but is given points.*name the metric"),
    case("affinities", lambda: run(SpectralClustering(2, affinity="precomputed")),
         ParameterError, r"affinity='precomputed', but is given points"),
    case("no clusters", lambda: run(KMeans(0)),
         AllReplicatesFailed, r"Not one resample could be scored.*'n_clusters'.*Got 0"),
    case("too many clusters", lambda: run(KMeans(99, n_init=1)),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("a function that fails", lambda: run(lambda X: 1 / 0),
         AllReplicatesFailed, r"ZeroDivisionError: division by zero \(12\)"),
    case("too few labels", lambda: run(lambda X: [0, 1]),
         DataError, r"clusterer's labels must have one label .* 12; got 2"),
    case("no labels", lambda: run(lambda X: None), DataError, r"clusterer's labels must be a sequence .* got None"),
    case("fractions", lambda: run(lambda X: X[:, 0]),
         DataError, r"clusterer's labels must hold whole numbers or text, got -?\d"),
    case("missing labels", lambda: run(lambda X: [None] * len(X)), DataError, r"clusterer's labels .*12 missing"),
    case("infinite labels", lambda: run(lambda X: np.full(len(X), np.inf)),
         DataError, r"clusterer's labels must .*inf"),
    case("one study", lambda: run(given=[X]),
         ParameterError, r"studies must hold at least two studies, got 1\..*Studies\.split\(X\)"),
    case("an array", lambda: run(given=X), DataError, r"studies must be .* got ndarray"),
    case("a study", lambda: run(given=cr.Study(X, "a")), DataError, r"studies must be .* got Study"),
    case("a path", lambda: run(given="mainz.csv"), DataError, r"studies must be .* got str"),
    case("no study", lambda: run(given=[]), DataError, r"studies is empty"),
    case("missing values", lambda: run(given=[X, HOLES]),
         DataError, r"Study '2' has 3 missing values .* first at sample"),
    case("agreement misspelt", lambda: run(agreement="arii"),
         ParameterError, r"agreement must be one of 'ari', 'ami', .* got 'arii'\. Did you mean 'ari'"),
    case("agreement None", lambda: run(agreement=None), ParameterError, r"agreement must be one of .* got None"),
    case("agreement empty", lambda: run(agreement=()), ParameterError, r"agreement must be .* got \(\)"),
    case("agreement twice", lambda: run(agreement=("ari", "ari")),
         ParameterError, r"agreement needs a name of its own, but 'ari' came twice"),
    case("agreement of several", lambda: run(agreement=("ari", "amy")),
         ParameterError, r"agreement must be one of .* got 'amy'\. Did you mean 'ami'"),
    case("agreement text", lambda: run(agreement=lambda u, v: "x"), ClustrepError, r"agreement.*number.*'x'"),
    case("agreement nothing", lambda: run(agreement=lambda u, v: None), ClustrepError, r"agreement.*number.*None"),
    case("agreement array", lambda: run(agreement=lambda u, v: np.ones(2)), ClustrepError, r"agreement.*number"),
    case("agreement NaN", lambda: run(agreement=lambda u, v: np.nan),
         AllReplicatesFailed, r"the agreement failed or is not a number"),
    case("n_resamples zero", lambda: run(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("n_resamples negative", lambda: run(n_resamples=-3),
         ParameterError, r"n_resamples must be a positive integer, got -3\.$"),
    case("n_resamples fraction", lambda: run(n_resamples=2.5),
         ParameterError, r"n_resamples must be a positive integer, got 2\.5"),
    case("n_resamples text", lambda: run(n_resamples="2"),
         ParameterError, r"n_resamples must be a positive integer, got '2'"),
    case("n_resamples None", lambda: run(n_resamples=None),
         ParameterError, r"n_resamples must be a positive integer, got None"),
    case("diagonal text", lambda: run(diagonal="no"), ParameterError, r"diagonal must be True or False, got 'no'"),
    case("diagonal number", lambda: run(diagonal=1), ParameterError, r"diagonal must be True or False, got 1"),
    case("noise", lambda: run(noise="dorp"),
         ParameterError, r"noise must be one of 'label', 'drop', 'singletons'; got 'dorp'\. Did you mean 'drop'"),
    case("resampling class", lambda: run(resampling=cr.Bootstrap),
         ParameterError, r"resampling must be Bootstrap\(\), .* got <class"),
    case("resampling text", lambda: run(resampling="bootstrap"),
         ParameterError, r"resampling must be Bootstrap\(\), .* got 'bootstrap'"),
    case("resampling None", lambda: run(resampling=None), ParameterError, r"resampling must be .* got None"),
    case("rng text", lambda: run(rng="seed"),
         ParameterError, r"rng must be a non-negative integer, a numpy Generator, .* got 'seed'"),
    case("rng negative", lambda: run(rng=-1), ParameterError, r"rng must be .* got -1"),
    case("rng fraction", lambda: run(rng=1.5), ParameterError, r"rng must be .* got 1\.5"),
    case("rng True", lambda: run(rng=True), ParameterError, r"rng must be .* got True"),
    case("rng old", lambda: run(rng=np.random.RandomState(0)),
         ParameterError, r"rng must be .* Generator.* got RandomState"),
    case("rng module", lambda: run(rng=np.random), ParameterError, r"rng must be .* got <module"),
    case("n_jobs zero", lambda: run(n_jobs=0),
         ParameterError, r"n_jobs must be a positive integer, a negative one \(-1: all cores\) or None, got 0"),
    case("n_jobs text", lambda: run(n_jobs="all"), ParameterError, r"n_jobs must be .* got 'all'"),
    case("n_jobs fraction", lambda: run(n_jobs=1.5), ParameterError, r"n_jobs must be .* got 1\.5"),
    case("progress", lambda: configured(run, progress="yes")(), ParameterError, r"progress must be .* got \'yes\'"),
    case("labels and clusterer", lambda: run(labels={"alpha": HALVES, "beta": HALVES}),
         ParameterError, r"either a clusterer or labels, not both"),
    case("labels list", lambda: run(None, labels=[HALVES, HALVES]),
         ParameterError, r"labels must map each study's name to its labels, got list"),
    case("labels column", lambda: run(None, labels="type"),
         ParameterError, r"labels must map each study's name to its labels, got str"),
    case("labels of one", lambda: run(None, labels={"alpha": HALVES}),
         DataError, r"labels are missing for 'beta': every study needs them"),
    case("labels of a stranger", lambda: run(None, labels={"alpha": HALVES, "beta": HALVES, "zeta": HALVES}),
         DataError, r"labels name 'zeta', but there is no such study"),
    case("labels unknown", lambda: run(None, labels=True), DataError, r"labels are missing for 'alpha', 'beta'"),
    case("labels too few", lambda: run(None, labels={"alpha": HALVES, "beta": [0, 1]}),
         DataError, r"labels of study 'beta' must have one label .* 12; got 2"),
    case("labels missing", lambda: run(None, labels={"alpha": HALVES, "beta": [np.nan] * 12}),
         DataError, r"labels of study 'beta' .*12 missing labels"),
    case(
        "labels and Simulate",
        lambda: run(None, labels={"alpha": HALVES, "beta": HALVES}, resampling=cr.Simulate(lambda study, rng: study.X)),
        ParameterError,
        r"labels can't travel with Simulate",
    ),
]
# fmt: on

# fmt: off
RESAMPLING = [
    case("Subsample of nothing", lambda: cr.Subsample(0),
         ParameterError, r"fraction must be a number above 0 and at most 1, got 0\.$"),
    case("Subsample of more", lambda: cr.Subsample(1.5), ParameterError, r"fraction must be .* got 1\.5"),
    case("Subsample of a count", lambda: cr.Subsample(80), ParameterError, r"fraction must be .* got 80"),
    case("Subsample text", lambda: cr.Subsample("0.8"), ParameterError, r"fraction must be .* got '0\.8'"),
    case("Subsample NaN", lambda: cr.Subsample(np.nan), ParameterError, r"fraction must be .* got nan"),
    case("Subsample True", lambda: cr.Subsample(True), ParameterError, r"fraction must be .* got True"),
    case("Simulate None", lambda: cr.Simulate(None),
         ParameterError, r"sampler must be a function of \(study, rng\), got None"),
    case("Simulate a number", lambda: cr.Simulate(0.8),
         ParameterError, r"sampler must be a function of \(study, rng\), got 0\.8"),
    case("sampler of other features", lambda: run(resampling=cr.Simulate(lambda study, rng: X[:, :2])),
         DataError, r"sampler must return the 3 features of study 'alpha', got 2"),
    case("sampler of holes", lambda: run(resampling=cr.Simulate(lambda study, rng: HOLES)),
         DataError, r"sampler returned for study 'alpha' has 3 missing values"),
    case("sampler of nothing", lambda: run(resampling=cr.Simulate(lambda study, rng: None)),
         DataError, r"sampler returned for study 'alpha' must be a table.* None"),
    case("sampler of one point", lambda: run(resampling=cr.Simulate(lambda study, rng: X[0])),
         DataError, r"sampler returned for study 'alpha' is one-dimensional"),
    case("sampler of ragged rows", lambda: run(resampling=cr.Simulate(lambda study, rng: RAGGED)),
         DataError, r"sampler returned for study 'alpha' has rows of different lengths"),
    case("sampler of text", lambda: run(resampling=cr.Simulate(lambda study, rng: [list("uvw")] * 4)),
         DataError, r"sampler returned for study 'alpha' has 3 columns that are not numeric.*Leave them out"),
]
# fmt: on

# fmt: off
COMPARE = [
    case("class", lambda: run_compare(KMeans), ParameterError, r"not a class: write KMeans\(\)"),
    case("None", lambda: run_compare(None), ParameterError, r"must have fit_predict.*got None"),
    case("text", lambda: run_compare("kmeans"), ParameterError, r"must have fit_predict.*'kmeans'"),
    case("empty list", lambda: run_compare([]), ParameterError, r"clusterers is empty: pass at least one"),
    case("empty mapping", lambda: run_compare({}), ParameterError, r"clusterers is empty"),
    case("one that can't", lambda: run_compare({"fine": K_MEANS, "odd": "ward"}),
         ParameterError, r"must have fit_predict.*got 'ward'"),
    case("same class", lambda: run_compare([KMeans(2), KMeans(3)]),
         ParameterError, r"same class need names: pass a mapping such as \{'first': KMeans\(\.\.\.\)"),
    case("two functions", lambda: run_compare([lambda X: HALVES, lambda X: HALVES]),
         ParameterError, r"need names: pass a mapping"),
    case("blank name", lambda: run_compare({"": K_MEANS}),
         ParameterError, r"name of a clusterer must be a text that is not empty, got ''"),
    case("number as name", lambda: run_compare({2: K_MEANS}),
         ParameterError, r"name of a clusterer must be a text .* got 2"),
    case("k one", lambda: run_compare(n_clusters=1),
         ParameterError, r"n_clusters must be an integer of at least 2, got 1"),
    case("k from one", lambda: run_compare(n_clusters=range(1, 4)),
         ParameterError, r"n_clusters must be an integer of at least 2, got 1"),
    case("k text", lambda: run_compare(n_clusters="3"),
         ParameterError, r"n_clusters must be an integer or several, such as range\(2, 9\); got '3'"),
    case("k fraction", lambda: run_compare(n_clusters=2.5),
         ParameterError, r"n_clusters must be an integer or several.* got 2\.5"),
    case("k fractions", lambda: run_compare(n_clusters=[2, 3.0]),
         ParameterError, r"n_clusters must be an integer .* got 3\.0"),
    case("k none", lambda: run_compare(n_clusters=range(5, 2)),
         ParameterError, r"n_clusters must hold at least one number.* got range\(5, 2\)"),
    case("k twice", lambda: run_compare(n_clusters=[2, 3, 2]),
         ParameterError, r"n_clusters must hold every number once, got \[2, 3, 2\]"),
    case("k True", lambda: run_compare(n_clusters=True), ParameterError, r"n_clusters must be an integer .* got True"),
    case("k too many", lambda: run_compare(n_clusters=50),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("one study", lambda: run_compare(given=[X]), ParameterError, r"studies must hold at least two studies, got 1"),
    case("agreement", lambda: run_compare(agreement=("ari", "nmi")),
         ParameterError, r"agreement must be one of .* got 'nmi'\. Did you mean"),
    case("n_resamples", lambda: run_compare(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("diagonal", lambda: run_compare(diagonal=None), ParameterError, r"diagonal must be True or False, got None"),
    case("noise", lambda: run_compare(noise=-1), ParameterError, r"noise must be one of .* got -1"),
    case("resampling", lambda: run_compare(resampling=0.8), ParameterError, r"resampling must be .* got 0\.8"),
    case("rng", lambda: run_compare(rng=[1, 2]), ParameterError, r"rng must be .* got \[1, 2\]"),
    case("n_jobs", lambda: run_compare(n_jobs=0), ParameterError, r"n_jobs must be .* got 0"),
]
# fmt: on

# fmt: off
LOCAL = [
    case("train None", lambda: run_local(train=None), ClustrepError, r"'?train'? must be .*None"),
    case("train a name", lambda: run_local(train="alpha"), ClustrepError, r"'?train'? must be .*'alpha'"),
    case("train studies", lambda: run_local(train=studies()), ClustrepError, r"'?train'? must be one (study|table)"),
    case("test a name", lambda: run_local(test="beta"), ClustrepError, r"'?test'? must be .*'beta'"),
    case("test a mapping", lambda: run_local(test={"beta": G}),
         ParameterError, r"test must be a Study, one table or Studies: for several tables pass Studies"),
    case("test a list", lambda: run_local(test=[F, G]), ParameterError, r"test must be a Study, one table or Studies"),
    case("test empty", lambda: run_local(test=[]), ClustrepError, r"'?test'? .*(empty|no samples|0 samples)"),
    case("test only the training study", lambda: run_local(test=cr.Studies({"alpha": F})),
         ParameterError, r"test holds no study but the training study"),
    case("two studies of the same name", lambda: run_local(test=cr.Study(G, "alpha")),
         ParameterError, r"different studies with the same name 'alpha': rename one"),
    case("train named test", lambda: run_local(train=cr.Study(F, "test"), test=G),
         ParameterError, r"train is named 'test'.*rename it"),
    case("test named train", lambda: run_local(train=X, test=cr.Study(Y, "train")), ParameterError, r"'train'.*rename"),
    case("a test study named train", lambda: run_local(train=X, test=cr.Studies({"train": Y, "other": X + 1})),
         ParameterError, r"'train'.*rename"),
    case("no common feature", lambda: run_local(test=cr.Study(G.rename(columns=str.upper), "beta")),
         DataError, r"no feature in common"),
    case("numbers of features", lambda: run_local(train=X, test=Y[:, :2]),
         DataError, r"different numbers of features \(train 3, test 2\)"),
    case("at other features", lambda: run_local(at=X[:, :2]),
         DataError, r"at must have the 3 features of the studies, got 2"),
    case("at one point", lambda: run_local(at=X[0]), DataError, r"'?at'? is one-dimensional|at must be a table"),
    case("at missing", lambda: run_local(at=[[1.0, np.nan, 2.0]]),
         DataError, r"'?at'? has 1 missing value .* feature 'b'"),
    case("at masked", lambda: run_local(at=MASKED), DataError, r"'?at'? has 3 (missing|masked) values"),
    case("at ragged", lambda: run_local(at=RAGGED), DataError, r"'?at'?.*(same|length|row|ragged)"),
    case("at nothing", lambda: run_local(at=X[:0]),
         DataError, r"'?at'? has 0 samples: at least 1 is needed|'?at'? .*(empty|no points)"),
    case("at a name", lambda: run_local(at="beta"), ClustrepError, r"'?at'? must be .*'beta'"),
    case("at studies", lambda: run_local(at=studies()),
         ParameterError, r"at must be one study or one table of points, got Studies"),
    case("at lacks features", lambda: run_local(at=F[["a"]]), DataError, r"at lacks 2 features of the studies: b, c"),
    case("at a study that lacks features", lambda: run_local(at=cr.Study(F[["a", "b"]], "q")),
         ClustrepError, r"(at|'q').*c"),
    case("at text", lambda: run_local(at=F.assign(b="u")), DataError, r"'?at'? .*not num.*'u'"),
    case("several agreements", lambda: run_local(agreement=("ari", "ami")),
         ParameterError, r"agreement must be one of .* got \('ari', 'ami'\)"),
    case("agreement", lambda: run_local(agreement="amii"),
         ParameterError, r"agreement must be one of .* got 'amii'\. Did you mean 'ami'"),
    case("agreement NaN", lambda: run_local(agreement=lambda u, v: np.nan), AllReplicatesFailed, r"not a number"),
    case("agreement text", lambda: run_local(agreement=lambda u, v: "x"), ClustrepError, r"agreement.*number.*'x'"),
    case("clusterer", lambda: run_local(KMeans), ParameterError, r"not a class: write KMeans\(\)"),
    case("clusterer None", lambda: run_local(None),
         ParameterError, r"clusterer is None: pass a clusterer, or known labels"),
    case("clusterer fails", lambda: run_local(lambda X: 1 / 0),
         AllReplicatesFailed, r"failed on study 'alpha' as it is.*division by zero"),
    case("too many clusters", lambda: run_local(KMeans(99, n_init=1)),
         AllReplicatesFailed, r"more clusters asked for than there are distinct points"),
    case("labels missing", lambda: run_local(None, labels={"alpha": HALVES}),
         DataError, r"labels are missing for 'beta'"),
    case("labels and clusterer", lambda: run_local(labels={"alpha": HALVES, "beta": HALVES}),
         ParameterError, r"either a clusterer or labels"),
    case("n_resamples", lambda: run_local(n_resamples=0),
         ParameterError, r"n_resamples must be a positive integer, got 0"),
    case("noise", lambda: run_local(noise="keep"), ParameterError, r"noise must be one of .* got 'keep'"),
    case("resampling", lambda: run_local(resampling=3), ParameterError, r"resampling must be .* got 3"),
    case("rng", lambda: run_local(rng="x"), ParameterError, r"rng must be .* got 'x'"),
    case("n_jobs", lambda: run_local(n_jobs=0), ParameterError, r"n_jobs must be .* got 0"),
    case("progress", lambda: configured(run_local, progress="yes")(), ParameterError, r"progress must be .* got 'yes'"),
]
# fmt: on

# fmt: off
INDUCED = [
    case("None", lambda: run(cr.Induced(None)), ParameterError, r"fit_predict.*None"),
    case("class", lambda: run(cr.Induced(KMeans)), ParameterError, r"not a class: write KMeans\(\)"),
    case("text", lambda: run(cr.Induced("kmeans")), ParameterError, r"fit_predict.*'kmeans'"),
    case("scaler", lambda: run(cr.Induced(StandardScaler())), ParameterError, r"fit_predict.*StandardScaler"),
    case("distances", lambda: run(cr.Induced(AgglomerativeClustering(2, metric="precomputed", linkage="average"))),
         ParameterError, r"metric='precomputed', but is given points"),
    case("metric", lambda: run(cr.Induced(K_MEANS, metric="nearest")), ClustrepError, r"[Mm]etric.*nearest"),
    case("metric number", lambda: run(cr.Induced(K_MEANS, metric=3)), ClustrepError, r"metric"),
    case("classifier", lambda: run(cr.Induced(K_MEANS, classifier="knn")), ParameterError, r"classifier must .*'knn'"),
    case("classifier class", lambda: run(cr.Induced(K_MEANS, classifier=KMeans)),
         ParameterError, r"classifier must .*KMeans"),
]
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# results

LEVEL = r"confidence_level must be a number strictly between 0 and 1, got "

# fmt: off
RESULTS = [
    case("level in per cent", lambda: result().confidence_interval(95), ParameterError, LEVEL + "95"),
    case("level one", lambda: result().confidence_interval(1), ParameterError, LEVEL + "1"),
    case("level zero", lambda: result().confidence_interval(0.0), ParameterError, LEVEL + r"0\.0"),
    case("level text", lambda: result().confidence_interval("0.95"), ParameterError, LEVEL + r"'0\.95'"),
    case("level None", lambda: result().confidence_interval(None), ParameterError, LEVEL + "None"),
    case("level NaN", lambda: result().confidence_interval(np.nan), ParameterError, LEVEL + "nan"),
    case("level of a frame", lambda: result().to_frame(2), ParameterError, LEVEL + "2"),
    case("level of a study", lambda: result().for_training_on("alpha").confidence_interval(-1),
         ParameterError, LEVEL + "-1"),
    case("level of a comparison", lambda: comparison().to_frame(90), ParameterError, LEVEL + "90"),
    case("level of a summary", lambda: comparison().summary(90), ParameterError, LEVEL + "90"),
    case("level of points", lambda: local().confidence_interval(True), ParameterError, LEVEL + "True"),
    case("level of a frame of points", lambda: local().to_frame("x"), ParameterError, LEVEL + "'x'"),
    case("level of clusters", lambda: local().by_cluster(95), ParameterError, LEVEL + "95"),
    case("quantile", lambda: result().quantile(2), ParameterError, r"q must .* 2"),
    case("quantiles", lambda: result().quantile([0.5, -1]), ParameterError, r"q must .* -1"),
    case("quantile text", lambda: result().quantile("half"), ParameterError, r"q must .* 'half'"),
    case("quantile None", lambda: result().quantile(None), ParameterError, r"q must .* None"),
    case("quantile of points", lambda: local().quantile(50), ParameterError, r"q must .* 50"),
    case("training study", lambda: result().for_training_on("alpa"),
         ParameterError, r"no study 'alpa'; there are alpha, beta\. Did you mean 'alpha'\?"),
    case("training study by number", lambda: result().for_training_on(0),
         ParameterError, r"no study 0; there are alpha, beta"),
    case("function of a stranger", lambda: result().clustering_function("gamma"),
         ParameterError, r"no study 'gamma'; there are alpha, beta"),
    case("function of a resample beyond", lambda: result().clustering_function("alpha", 2),
         ParameterError, r"resample must be below 2, got 2"),
    case("function of a negative resample", lambda: result().clustering_function("alpha", -1),
         ParameterError, r"resample must be an integer of at least 0, got -1"),
    case("function of a resample in words", lambda: result().clustering_function("alpha", "full"),
         ParameterError, r"resample must be an integer .* got 'full'"),
    case("points of other features", lambda: result().clustering_function("alpha")(X[:, :2]),
         DataError, r"[Pp]oints must be a table with 3 features, got an array of \(12, 2\)"),
    case("one point", lambda: result().clustering_function("alpha")(X[0]),
         DataError, r"[Pp]oints must be a table with 3 features, got an array of \(3,\)"),
    case("points missing", lambda: result().clustering_function("alpha")([[0.0, np.nan, 0.0]]),
         DataError, r"[Pp]oints.*missing"),
    case("points text", lambda: result().clustering_function("alpha")([["u", "v", "w"]]),
         DataError, r"table of points has 3 columns that are not numeric"),
    case("points ragged", lambda: result().clustering_function("alpha")(RAGGED),
         DataError, r"table of points has rows of different lengths"),
    case("no points", lambda: result().clustering_function("alpha")(X[:0]), DataError, r"[Pp]oints"),
    case("points of a study", lambda: result().clustering_function("alpha")(studies()["beta"]),
         DataError, r"[Pp]oints.*\.X"),
    case("points None", lambda: result().clustering_function("alpha")(None),
         DataError, r"[Pp]oints must be a table with 3 features.*None"),
    case("clusterer unknown", lambda: comparison().replicability("kmeans", 2),
         ParameterError, r"no clusterer 'kmeans'; there are k-means, density\. Did you mean 'k-means'\?"),
    case("k not given", lambda: comparison().replicability("k-means"),
         ParameterError, r"n_clusters must be given: 'k-means' was run with \[2, 3\]"),
    case("k not run", lambda: comparison().replicability("k-means", 7), ParameterError, r"'k-means'.* 7.* 2, 3"),
    case("k in words", lambda: comparison().replicability("k-means", "2"), ParameterError, r"'k-means'.*'2'.* 2, 3\.$"),
    case("k of a clusterer without", lambda: comparison().replicability("density", 2), ParameterError, r"'density'"),
    case("agreement not run", lambda: comparison().replicability("k-means", 2, "ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("best by what was not run", lambda: comparison().best("ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("plot by what was not run", lambda: comparison().plot(agreement="ri"),
         ParameterError, r"agreement must be one of 'ari', 'ami'; got 'ri'"),
    case("nothing can be best", lambda: run_compare(DBSCAN(eps=1e3)).best(),
         NoBest, r"No configuration can be best: in each, more than 5 % .* See summary\(\)"),
    case("point beyond", lambda: local().co_clustering(12), ParameterError, r"point must be below 12, got 12"),
    case("point negative", lambda: local().co_clustering(-1),
         ParameterError, r"point must be an integer of at least 0, got -1"),
    case("point by name", lambda: local().co_clustering("s1"), ParameterError, r"point must be an integer .* got 's1'"),
    case("plot other points", lambda: local().plot(points=X[:3]),
         DataError, r"points must have 12 rows, got an array of \(3, 3\)"),
    case("plot no coordinates", lambda: local().plot(points=X[:, :0]), ClustrepError, r"points must"),
    case("plot words", lambda: local().plot(points=[["u", "v"]] * 12), ClustrepError, r"points must .*number"),
    case("plot on no axes", lambda: result().plot(ax="here"), ClustrepError, r"ax must be .*Axes"),
    case("plot curves on no axes", lambda: comparison().plot(ax=np.empty(2, object)),
         ClustrepError, r"ax must be .*Axes"),
    case("plot points on no axes", lambda: local().plot(ax=3), ClustrepError, r"ax must be .*Axes"),
]
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# labelings, and simulated cohorts


def labelings(function):
    name = function.__name__
    # fmt: off
    return [
        case(f"{name}: lengths", lambda: function([0, 1], [0, 1, 1]),
             DataError, r"v must have one label for every point of u: 2; got 3"),
        case(f"{name}: empty", lambda: function([], []), DataError, r"u is empty: there must be at least one point"),
        case(f"{name}: text", lambda: function("aab", "abb"),
             DataError, r"u must be a sequence of labels, .* got 'aab'"),
        case(f"{name}: None", lambda: function([0], None), DataError, r"v must be a sequence of labels, .* got None"),
        case(f"{name}: table", lambda: function([[0, 1]], [0]), DataError, r"u must be one-dimensional, .* \(1, 2\)"),
        case(f"{name}: ragged", lambda: function([[0], [1, 2]], [0, 1]), DataError, r"u must be one-dimensional"),
        case(f"{name}: missing", lambda: function([0, np.nan], [0, 1]),
             DataError, r"u has 1 missing label, the first at position 2"),
        case(f"{name}: fractions", lambda: function([0, 1.5], [0, 1]),
             DataError, r"u must hold whole numbers or text, got 1\.5"),
        case(f"{name}: infinite", lambda: function([0, 1], [0, np.inf]), DataError, r"v must .*inf"),
        case(f"{name}: set", lambda: function({0, 1}, [0, 1]), DataError, r"u must be (a sequence|one-dimensional)"),
        case(f"{name}: weights too few", lambda: function([0, 1], [0, 1], weights=[1]),
             DataError, r"weights must have one number for every point: 2; got an array of \(1,\)"),
        case(f"{name}: weights negative", lambda: function([0, 1], [0, 1], weights=[1, -2]),
             DataError, r"weights must be whole numbers.*-2"),
        case(f"{name}: weights fractions", lambda: function([0, 1], [0, 1], weights=[1, 0.5]),
             DataError, r"weights must be whole numbers, got 0\.5"),
        case(f"{name}: weights missing", lambda: function([0, 1], [0, 1], weights=[1, np.nan]),
             DataError, r"weights must be whole numbers.*nan"),
        case(f"{name}: weights zero", lambda: function([0, 1], [0, 1], weights=[0, 0]),
             DataError, r"weights are all zero: at least one point must count"),
        case(f"{name}: weights text", lambda: function([0, 1], [0, 1], weights=["a", "b"]),
             DataError, r"weights must be whole numbers"),
        case(f"{name}: weights huge", lambda: function([0, 1], [0, 1], weights=[1e300, 1]),
             DataError, r"weights must .*1e\+300"),
        case(f"{name}: one weight", lambda: function([0, 1], [0, 1], weights=2),
             DataError, r"weights must have one number for every point: 2"),
        case(f"{name}: weights ragged", lambda: function([0, 1], [0, 1], weights=[[1], [1, 2]]),
             DataError, r"weights must have one number for every point: 2"),
    ]
    # fmt: on


# fmt: off
AGREEMENT = [
    *labelings(cr.contingency_table),
    *labelings(cr.adjusted_rand_index),
    case("rand_index: lengths", lambda: cr.rand_index([0], [0, 1]), DataError, r"v must have one label .* u: 1; got 2"),
    case("mutual_information: lengths", lambda: cr.mutual_information([0], [0, 1]),
         DataError, r"v must have one label"),
    case("ami: lengths", lambda: cr.adjusted_mutual_information([0], [0, 1]), DataError, r"v must have one label"),
    case("ami: average", lambda: cr.adjusted_mutual_information([0], [0], average="mean"),
         ParameterError, r"average must be one of 'arithmetic', 'max'; got 'mean'"),
]
# fmt: on


def simulated(**options):
    return cr.datasets.simulate_cohorts(**{"n_samples": 4, "rng": 0, **options})


# fmt: off
DATASETS = [
    case("no cohorts", lambda: simulated(n_cohorts=0), ParameterError, r"n_cohorts must be a positive integer, got 0"),
    case("too many cohorts", lambda: simulated(n_cohorts=11), ParameterError, r"n_cohorts must be at most 10, got 11"),
    case("cohorts in words", lambda: simulated(n_cohorts="two"), ParameterError, r"n_cohorts must be .* got 'two'"),
    case("one subtype", lambda: simulated(n_subtypes=1),
         ParameterError, r"n_subtypes must be an integer of at least 2, got 1"),
    case("too many subtypes", lambda: simulated(n_subtypes=9, n_features=20),
         ParameterError, r"n_subtypes must be at most 8, got 9"),
    case("one sample", lambda: simulated(n_samples=1),
         ParameterError, r"n_samples must be an integer of at least 2, got 1"),
    case("too few features", lambda: simulated(n_features=3),
         ParameterError, r"n_features must be an integer of at least 4.*, got 3"),
    case("separation in words", lambda: simulated(separation="far"), ParameterError, r"separation must .*'far'"),
    case("separation None", lambda: simulated(separation=None), ParameterError, r"separation must .*None"),
    case("separation NaN", lambda: simulated(separation=np.nan), ParameterError, r"separation must .*nan"),
    case("separation infinite", lambda: simulated(separation=np.inf), ParameterError, r"separation must .*inf"),
    case("separation negative", lambda: simulated(separation=-1.0), ParameterError, r"separation must .*-1"),
    case("missing in a stranger", lambda: simulated(missing={"aplha": "A"}),
         ParameterError, r"no cohort 'aplha'; there are alpha, .* Did you mean 'alpha'"),
    case("missing a stranger", lambda: simulated(missing={"alpha": "Z"}),
         ParameterError, r"no subtype 'Z'; there are A, B, C, D"),
    case("missing a list", lambda: simulated(missing=["alpha"]), ParameterError, r"missing must (be a mapping|map) "),
    case("missing a name", lambda: simulated(missing="alpha"),
         ParameterError, r"missing must (be a mapping|map) .*'alpha'"),
    case("shifted a stranger", lambda: simulated(shifted={"omega": 1.0}),
         ParameterError, r"no cohort 'omega'; there are alpha"),
    case("shifted in words", lambda: simulated(shifted={"alpha": "up"}), ParameterError, r"shifted.*'up'"),
    case("shifted NaN", lambda: simulated(shifted={"alpha": np.nan}), ParameterError, r"shifted.*nan"),
    case("shifted a list", lambda: simulated(shifted=["alpha"]), ParameterError, r"shifted must (be a mapping|map) "),
    case("shifted a number", lambda: simulated(shifted=3), ParameterError, r"shifted must (be a mapping|map) "),
    case("rng", lambda: simulated(rng="seed"), ParameterError, r"rng must be .* got 'seed'"),
]
# fmt: on


EVERYWHERE = {
    "Study": STUDY,
    "Studies": STUDIES,
    "replicability": REPLICABILITY,
    "resampling": RESAMPLING,
    "compare": COMPARE,
    "local_replicability": LOCAL,
    "Induced": INDUCED,
    "results": RESULTS,
    "agreement": AGREEMENT,
    "simulate_cohorts": DATASETS,
}


def under_their_headings(tables):
    return [pytest.param(*row, id=f"{where}: {name}") for where, rows in tables.items() for name, *row in rows]


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings(EVERYWHERE))
def test_bad_input_gets_its_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call()
    check_sentence(str(caught.value))


# ---------------------------------------------------------------------------------------------------------------------
# files: every case gets a folder with `table.csv`, and a saved result, `result.npz`


def put(path, content):
    path.write_bytes(content)
    return path


def changed(folder, without=(), arrays=None, **header):
    """Write the saved result again with another header, and other arrays."""
    with np.load(folder / "result.npz", allow_pickle=False) as archive:
        kept = {name: archive[name] for name in archive.files if name not in without}
    old = json.loads(str(kept.pop("clustrep")))
    new = {name: value for name, value in {**old, **header}.items() if name not in without}
    np.savez(folder / "changed.npz", clustrep=np.array(json.dumps(new)), **{**kept, **(arrays or {})})
    return folder / "changed.npz"


def with_header(folder, text):
    np.savez(folder / "changed.npz", clustrep=np.array(text))
    return folder / "changed.npz"


def foreign(folder, **arrays):
    np.savez(folder / "foreign.npz", **arrays)
    return folder / "foreign.npz"


def plain_array(folder):
    np.save(folder / "array.npy", X)
    return folder / "array.npy"


def packed(folder, member, content):
    with zipfile.ZipFile(folder / "other.npz", "w") as archive:
        archive.writestr(member, content)
    return folder / "other.npz"


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, folder):
        self.path = str(folder / "sprung")

    def __reduce__(self):
        return open, (self.path, "w")


# fmt: off
READ = [
    case("no path", lambda folder: cr.Studies.read(), ParameterError, r"Studies\.read needs at least one path"),
    case("None", lambda folder: cr.Studies.read(None), ClustrepError, r"[Pp]ath.*None"),
    case("a number", lambda folder: cr.Studies.read(3), ClustrepError, r"takes paths, got int"),
    case("a list", lambda folder: cr.Studies.read([folder / "table.csv"]), ClustrepError, r"Studies\.read\(\*"),
    case("a table", lambda folder: cr.Studies.read(F), ClustrepError, r"[Pp]ath"),
    case("no such file", lambda folder: cr.Studies.read(folder / "tabel.csv"),
         DataError, r"There is no file .*tabel\.csv.* holds .*table\.csv"),
    case("no such folder", lambda folder: cr.Studies.read(folder / "sub" / "table.csv"),
         DataError, r"There is no file .*sub"),
    case("a folder", lambda folder: cr.Studies.read(folder), DataError, r"is a folder: name the files in it"),
    case("empty", lambda folder: cr.Studies.read(put(folder / "x.csv", b"")), DataError, r"x\.csv is empty"),
    case("header only", lambda folder: cr.Studies.read(put(folder / "x.csv", b"a,b\n")),
         DataError, r"x\.csv has a header but no samples"),
    case("Excel", lambda folder: cr.Studies.read(put(folder / "x.xlsx", b"PK\x03\x04")),
         DataError, r"x\.xlsx is an Excel or zip file.*save the table as CSV"),
    case("old Excel", lambda folder: cr.Studies.read(put(folder / "x.xls", b"\xd0\xcf\x11\xe0")),
         DataError, r"is an Excel file"),
    case("HDF5", lambda folder: cr.Studies.read(put(folder / "x.h5ad", b"\x89HDF\r\n")), DataError, r"is an HDF5 file"),
    case("damaged gzip", lambda folder: cr.Studies.read(put(folder / "x.gz", gzip.compress(TABLE_FILE.encode())[:-20])),
         DataError, r"x\.gz is a damaged gzip file"),
    case("not UTF-8", lambda folder: cr.Studies.read(put(folder / "x.csv", "ä,b\n1,2\n".encode("latin-1"))),
         DataError, r"not text in UTF-8.*save it again with that encoding"),
    case("a row too long", lambda folder: cr.Studies.read(put(folder / "x.csv", b"a,b\n1,2\n3,4,5\n")),
         DataError, r"x\.csv.*line 3"),
    case("header too short", lambda folder: cr.Studies.read(put(folder / "x.csv", b"a,b\n1,2,3,4\n5,6,7,8\n")),
         DataError, r"x\.csv has 2 cells in its first line but 4 in line 2"),
    case("label", lambda folder: cr.Studies.read(folder / "table.csv", label=2),
         ParameterError, r"label must be the name of a column, False or None, got 2"),
    case("label blank", lambda folder: cr.Studies.read(folder / "table.csv", label=""),
         ParameterError, r"label must be the name of a column.*got ''"),
    case("label unknown", lambda folder: cr.Studies.read(folder / "table.csv", label="class"),
         DataError, r"No study has a column 'class'.* there are a, b"),
    case("scale", lambda folder: cr.Studies.read(folder / "table.csv", scale="log"),
         ParameterError, r"scale must be one of .* got 'log'"),
    case("header", lambda folder: cr.Studies.read(folder / "table.csv", header="yes"),
         ParameterError, r"header must be True.* False.* got 'yes'"),
    case("header a line number", lambda folder: cr.Studies.read(folder / "table.csv", header=0),
         ParameterError, r"header must be True.* False.* got 0"),
    case("transpose unknown", lambda folder: cr.Studies.read(folder / "table.csv", transpose=["tabel"]),
         ParameterError, r"'tabel'; there are table\. Did you mean 'table'\?"),
    case("transpose a number", lambda folder: cr.Studies.read(folder / "table.csv", transpose=1),
         ParameterError, r"transpose must be .* got 1"),
    case("transpose None", lambda folder: cr.Studies.read(folder / "table.csv", transpose=None),
         ParameterError, r"transpose must be .* got None"),
]
# fmt: on

FOREIGN = r"is not a result that clustrep saved, or is damaged"

# fmt: off
LOAD = [
    case("save to None", lambda folder: result().save(None), ClustrepError, r"[Pp]ath.*None"),
    case("save to a number", lambda folder: result().save(3), ClustrepError, r"[Pp]ath.*3"),
    case("save to a folder", lambda folder: result().save(folder), DataError, r"is a folder: name a file"),
    case("save to nowhere", lambda folder: result().save(folder / "sub" / "r.npz"),
         DataError, r"There is no folder .*sub to write r\.npz into"),
    case("load None", lambda folder: cr.load(None), ClustrepError, r"[Pp]ath.*None"),
    case("load a number", lambda folder: cr.load(3), ClustrepError, r"[Pp]ath.*3"),
    case("load several", lambda folder: cr.load([folder / "result.npz"]), ClustrepError, r"[Pp]ath"),
    case("load nothing", lambda folder: cr.load(folder / "nothing.npz"), DataError, r"There is no file .*nothing\.npz"),
    case("load a folder", lambda folder: cr.load(folder), DataError, r"is a folder"),
    case("load an empty file", lambda folder: cr.load(put(folder / "x.npz", b"")), DataError, r"x\.npz " + FOREIGN),
    case("load text", lambda folder: cr.load(put(folder / "x.npz", b"hello world")), DataError, r"x\.npz " + FOREIGN),
    case("load a table", lambda folder: cr.load(folder / "table.csv"), DataError, r"table\.csv " + FOREIGN),
    case("load half a file", lambda folder: cr.load(put(folder / "x.npz", (folder / "result.npz").read_bytes()[:-300])),
         DataError, r"x\.npz " + FOREIGN),
    case("load another npz", lambda folder: cr.load(foreign(folder, X=X)), DataError, r"foreign\.npz " + FOREIGN),
    case("load an npy", lambda folder: cr.load(plain_array(folder)), DataError, r"array\.npy " + FOREIGN),
    case("load another zip", lambda folder: cr.load(packed(folder, "readme.txt", "hello")),
         DataError, r"other\.npz " + FOREIGN),
    case("load a zip of rubbish", lambda folder: cr.load(packed(folder, "clustrep.npy", "hello")),
         DataError, r"other\.npz " + FOREIGN),
    case("load a newer format", lambda folder: cr.load(changed(folder, format=2)),
         DataError, r"saved by a newer clustrep \(format 2, this one reads 1\): update"),
    case("load a format in words", lambda folder: cr.load(changed(folder, format="new")), DataError, r"changed\.npz"),
    case("load no format", lambda folder: cr.load(changed(folder, without=["format"])), DataError, FOREIGN),
    case("load an unknown kind", lambda folder: cr.load(changed(folder, kind="Forecast")),
         DataError, r"holds a result of kind 'Forecast'; this clustrep knows Replicability, "),
    case("load no kind", lambda folder: cr.load(changed(folder, without=["kind"])), DataError, r"changed\.npz"),
    case("load a list of kinds", lambda folder: cr.load(changed(folder, kind=["Replicability"])),
         DataError, r"changed\.npz"),
    case("load no values", lambda folder: cr.load(changed(folder, without=["values"])), DataError, r"changed\.npz"),
    case("load a list of values", lambda folder: cr.load(changed(folder, values=[1])), DataError, r"changed\.npz"),
    case("load without scores", lambda folder: cr.load(changed(folder, without=["estimate"])),
         DataError, r"changed\.npz is damaged.*'?estimate"),
    case("load with more", lambda folder: cr.load(changed(folder, arrays={"more": X})),
         DataError, r"changed\.npz is damaged.*'?more"),
    case("load a header that is a list", lambda folder: cr.load(with_header(folder, "[1, 2]")), DataError, FOREIGN),
    case("load a header that is no JSON", lambda folder: cr.load(with_header(folder, "{{")), DataError, FOREIGN),
    case("load a header that is a number", lambda folder: cr.load(foreign(folder, clustrep=np.arange(3))),
         DataError, FOREIGN),
]
# fmt: on


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "table.csv", TABLE_FILE.encode())
    result().save(tmp_path / "result.npz")
    return tmp_path


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings({"read": READ, "save and load": LOAD}))
def test_bad_file_gets_its_sentence(call, error, sentence, folder):
    with pytest.raises(error, match=sentence) as caught:
        call(folder)
    check_sentence(str(caught.value))


@pytest.mark.parametrize("name", ["clustrep", "estimate"])
def test_pickled_objects_are_never_loaded(name, folder):
    trap = np.array([Trap(folder)], dtype=object)
    path = foreign(folder, clustrep=trap) if name == "clustrep" else changed(folder, arrays={name: trap})
    with pytest.raises(DataError, match=FOREIGN) as caught:
        cr.load(path)
    check_sentence(str(caught.value))
    assert not (folder / "sprung").exists()


def test_a_file_with_any_byte_changed_is_refused_or_the_same(folder):
    whole = (folder / "result.npz").read_bytes()
    for place in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        try:
            loaded = cr.load(put(folder / "damaged.npz", bytes(damaged)))
        except DataError:
            continue
        for field in dataclasses.fields(loaded):
            if not field.name.startswith("_"):
                np.testing.assert_equal(getattr(loaded, field.name), getattr(result(), field.name))


def test_a_failed_save_leaves_the_old_file_and_no_other(folder):
    before = sorted(path.name for path in folder.iterdir())
    unsavable = dataclasses.replace(result(), estimate=np.array([object()]))
    with pytest.raises(ValueError, match="pickle"):
        unsavable.save(folder / "result.npz")
    assert sorted(path.name for path in folder.iterdir()) == before
    np.testing.assert_array_equal(cr.load(folder / "result.npz").estimate, result().estimate)


def test_a_result_from_a_file_says_what_it_can_not_do(folder):
    loaded = cr.load(folder / "result.npz")
    with pytest.raises(ParameterError, match=r"read from a file, which holds scores but no data: .* rng=0") as caught:
        loaded.clustering_function("alpha")
    check_sentence(str(caught.value))
    local().save(folder / "local.npz")
    with pytest.raises(ParameterError, match=r"points must be given: this result was read from a file") as caught:
        cr.load(folder / "local.npz").plot()
    check_sentence(str(caught.value))


def test_a_clustering_function_never_mixes_up_the_columns_of_a_frame():
    """Columns in another order are put right by name, or refused; taking them by place would be a silent mistake."""
    spread = F * [1.0, 10.0, 100.0]
    function = run(KMeans(3, n_init=1), {"one": spread, "two": G * [1.0, 10.0, 100.0]}).clustering_function("one")
    turned = spread[["c", "b", "a"]]
    try:
        labels = function(turned)
    except DataError:
        return
    np.testing.assert_array_equal(labels, function(spread))


def test_every_error_is_one_of_the_package_and_a_usual_one():
    """Scripts that catch ValueError go on working."""
    for error in (DataError, ParameterError):
        assert issubclass(error, ClustrepError)
        assert issubclass(error, ValueError)
    assert issubclass(AllReplicatesFailed, ClustrepError)
    assert not issubclass(AllReplicatesFailed, ValueError)
