"""Bad tables and files, and the sentence that each gets."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from tests.bad_inputs import (
    HOLES,
    MASKED,
    RAGGED,
    TABLE_FILE,
    F,
    G,
    X,
    Y,
    check_sentence,
    put,
    studies,
)

import clustrep as cr
from clustrep.errors import ClustrepError, DataError, ParameterError


def case(name, call, error, sentence):
    return name, call, error, sentence


def under_their_headings(tables):
    return [pytest.param(*row, id=f"{where}: {name}") for where, rows in tables.items() for name, *row in rows]


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
         DataError, r"'a' has 2 non-numeric columns: '1' \(such as 'u'\)"),
    case("some text", lambda: cr.Study(np.array([[1, "x"], [2, 3]], object), "a"),
         DataError, r"'a' .*non-numeric column: '2' \(such as 'x'\)"),
    case("complex", lambda: cr.Study(X * 1j, "a"),
         DataError, r"'a' has 3 non-numeric columns: '1' \(such as '.*j"),
    case("dates", lambda: cr.Study(np.zeros((2, 2), "M8[D]"), "a"),
         DataError, r"'a' has 2 non-numeric columns: '1' \(such as '1970"),
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
         DataError, r"1 non-numeric column: 'b' \(such as 'u'\)"),
    case("date column", lambda: cr.Study(F.assign(b=pd.Timestamp(0)), "a"),
         DataError, r"non-numeric \w+: 'b' \(such as '1970"),
    case("complex column", lambda: cr.Study(F.assign(b=1j), "a"), DataError, r"non-numeric \w+: 'b' \(such as '1j'\)"),
    case("five text columns", lambda: cr.Study(F.assign(**dict.fromkeys("defgh", "u")), "a"),
         DataError, r"5 non-numeric columns: 'd' .* 'e' .* 'f' .* and 2 more\. Leave columns .*label="),
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
    case("labels missing", lambda: cr.Study(X, "s", labels=[None] * 12),
         DataError, r"labels of study 's' (have|lack|miss).*12 missing labels, the first at"),
    case("labels fractions", lambda: cr.Study(X, "s", labels=X[:, 0]),
         DataError, r"labels of study 's' must hold whole numbers or text, got -?\d"),
    case("labels infinite", lambda: cr.Study(X, "s", labels=[np.inf, 1] * 6),
         DataError, r"labels of study 's' must .*inf"),
    case("labels huge", lambda: cr.Study(X, "s", labels=[1e300, 1] * 6),
         DataError, r"labels of study 's' must .*1e\+300"),
    case("labels table", lambda: cr.Study(X, "s", labels=[[1, 2]] * 12),
         DataError, r"labels of study 's' must be one-dimensional.*\(12, 2\)"),
    case("labels ragged", lambda: cr.Study(X, "s", labels=[[1], [2, 3]]),
         DataError, r"labels of study 's' must be one-dimensional"),
    case("select unknown", lambda: studies()["alpha"].select(["aa"]),
         ParameterError, r"no feature .*'aa'.*there are a, b, c\. Did you mean 'a'\?"),
    case("select number", lambda: studies()["alpha"].select([0]), ParameterError, r"features must be names"),
    case("select nothing", lambda: studies()["alpha"].select([]),
         ParameterError, r"features must be .* at least one .*\[\]"),
    case("select text", lambda: studies()["alpha"].select("abc"),
         ParameterError, r"features must be a sequence .* got 'abc'"),
    case("select None", lambda: studies()["alpha"].select(None),
         ParameterError, r"features must be a sequence .* got None"),
    case("select twice", lambda: studies()["alpha"].select(["a", "a"]),
         ClustrepError, r"'a'.*(twice|duplicate|once)|(twice|duplicate|once).*'a'"),
    case("scale unknown", lambda: studies()["alpha"].scaled("studi"),
         ParameterError, r"scale must be one of 'none', 'study'; got 'studi'\. Did you mean 'study'"),
    case("scale twice", lambda: studies()["alpha"].scaled("study").scaled("study"),
         ParameterError, r"Study 'alpha' is scaled by 'study' already: scale the study that it was made from"),
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
         ParameterError, r"needs a name of its own, but 'a' came twice"),
    case("a number that is a name", lambda: cr.Studies([X, cr.Study(Y, "1")]), ParameterError, r"'1' came twice"),
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
         ParameterError, r"scale must be one of 'none', 'pooled', 'study', 'reference=NAME'; got 'standard'"),
    case("scale by no study", lambda: cr.Studies([X, Y], scale="reference=3"),
         ParameterError, r"There is no study '3'; there are 1, 2\."),
    case("scale of one", lambda: cr.Study(X, "a").scaled("pooled"), ParameterError, r"scale must .*; got .pooled"),
    case("scale None", lambda: cr.Studies([X, Y], scale=None), ParameterError, r"scale must be one of .* got None"),
    case("label number", lambda: cr.Studies([F], label=3),
         ParameterError, r"label must be the name of a column, got 3"),
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
    case("scaled twice", lambda: studies().scaled("study").scaled("study"),
         ParameterError, r"'alpha' is scaled by 'study' already"),
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


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings({"Study": STUDY, "Studies": STUDIES}))
def test_bad_input_gets_its_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        call()
    check_sentence(str(caught.value))


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
         DataError, r"x\.xlsx is a damaged zip file"),
    case("old Excel", lambda folder: cr.Studies.read(put(folder / "x.xls", b"\xd0\xcf\x11\xe0")),
         DataError, r"is an? (damaged )?Excel file"),
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
         ParameterError, r"label must be the name of a column, got 2"),
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


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "table.csv", TABLE_FILE.encode())
    return tmp_path


@pytest.mark.parametrize(("call", "error", "sentence"), under_their_headings({"read": READ}))
def test_bad_file_gets_its_sentence(call, error, sentence, folder):
    with pytest.raises(error, match=sentence) as caught:
        call(folder)
    check_sentence(str(caught.value))
