"""The PAM50 cohorts from files as GEO gives them, with the labels of their patients."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from paper.fig5 import cohorts
from paper.fig5.cohorts import load_pam50_cohorts

from clustrep import Studies, Study
from clustrep.datasets import benchmark
from clustrep.errors import DataError, DataWarning, ParameterError

# ---------------------------------------------------------------------------------------------------------------------
# PAM50 cohorts, from files as GEO gives them


GPL96 = """^Annotation
!Annotation_date = Mar 11 2016
#ID = ID from Platform data table
#Gene symbol = Entrez Gene symbol
!platform_table_begin
ID\tGene title\tGene symbol\tGene ID
esr_1\testrogen receptor 1\tESR1\t2099
esr_2\testrogen receptor 1\tESR1\t2099
esr_3\tseveral\tESR1///SYNE1\t2099///23345
orc\torigin recognition complex\tORC6L\t23594
ndc\tkinetochore\tKNTC2\t10403
keratins\tkeratins\tKRT14 /// KRT17\t3861///3872
krt17\tkeratin 17\tKRT17\t3872
actin\tactin beta\tACTB\t60
control\t\t\t
!platform_table_end
"""
PROBES = ["esr_1", "esr_2", "esr_3", "orc", "ndc", "keratins", "krt17", "actin"]
NAMES = {accession: f"{accession}_series_matrix.txt" for accession in ("GSE11121", "GSE7390", "GSE2034", "GSE5327")}
MEASURED_GENES = ("ESR1", "KRT14", "KRT17", "NDC80", "ORC6")


def series_matrix(frame):
    """As GEO writes a table of samples by probes."""
    header = '!Series_title\t"Breast cancer"\n!Sample_geo_accession\t' + "\t".join(f'"{name}"' for name in frame.index)
    rows = ["\t".join(['"ID_REF"', *(f'"{name}"' for name in frame.index)])]
    rows += ["\t".join([f'"{probe}"', *map(repr, map(float, frame[probe]))]) for probe in frame]
    return "\n".join([header, "!series_matrix_table_begin", *rows, "!series_matrix_table_end", ""])


@pytest.fixture
def measured(rng):
    """Values on the log scale; esr_2 varies most within cohorts, esr_1 most between them."""
    tables = {}
    for i, accession in enumerate(NAMES):
        n = 3 + i
        X = 8 + rng.normal(size=(n, len(PROBES))) * 0.1
        X[:, 0] += 2 * (i == 1)
        X[:, 1] += np.arange(n) % 2
        tables[accession] = pd.DataFrame(X, index=[f"GSM{i}{j}" for j in range(n)], columns=PROBES)
    return tables


@pytest.fixture
def geo(tmp_path, measured):
    folder = tmp_path / "geo"
    folder.mkdir()
    for accession, frame in measured.items():
        logged = accession in ("GSE11121", "GSE7390")
        (folder / NAMES[accession]).write_text(series_matrix(frame if logged else 2**frame))
    (folder / "GPL96.annot").write_text(GPL96)
    return folder


def load(source, **options):
    with pytest.warns(DataWarning):  # of genes that no probe measures
        return load_pam50_cohorts(source, **options)


def test_there_are_fifty_genes():
    assert len(set(cohorts.PAM50)) == 50
    assert list(cohorts.PAM50) == sorted(cohorts.PAM50)
    assert set(cohorts.OLDER_SYMBOLS.values()) < set(cohorts.PAM50)
    assert not set(cohorts.OLDER_SYMBOLS) & set(cohorts.PAM50)


def test_cohorts_from_geo(geo, measured):
    studies = load(geo)
    assert studies.names == ("mainz", "transbig", "vdx")
    assert studies.features == MEASURED_GENES
    mainz, vdx = studies["mainz"].to_frame(), studies["vdx"].to_frame()
    assert studies["vdx"].samples == (*measured["GSE2034"].index, *measured["GSE5327"].index)
    np.testing.assert_array_equal(mainz["ESR1"], measured["GSE11121"]["esr_2"])  # not esr_1, which shifts
    np.testing.assert_array_equal(mainz["ORC6"], measured["GSE11121"]["orc"])
    np.testing.assert_array_equal(mainz["NDC80"], measured["GSE11121"]["ndc"])
    np.testing.assert_array_equal(mainz["KRT17"], measured["GSE11121"]["krt17"])
    np.testing.assert_array_equal(mainz["KRT14"], measured["GSE11121"]["keratins"])
    joined = pd.concat([measured["GSE2034"], measured["GSE5327"]])
    np.testing.assert_allclose(vdx["ESR1"], joined["esr_2"], rtol=1e-12)  # logged again


def test_a_missing_value_is_not_passed_over(geo, measured):
    frame = measured["GSE7390"].copy()
    frame.loc[frame.index[1], "esr_2"] = np.nan
    (geo / NAMES["GSE7390"]).write_text(series_matrix(frame))
    with pytest.warns(DataWarning), pytest.raises(DataError):
        load_pam50_cohorts(geo)


@pytest.mark.parametrize("varies", [False, True], ids=["the same probe alone", "the most variable one"])
def test_genes_that_share_their_probe_are_one_column(geo, measured, varies):
    symbols = "KRT17///ACTB\t3872///60\nactin" if varies else "\t\nactin"
    (geo / "GPL96.annot").write_text(GPL96.replace("KRT17\t3872\nactin", symbols))
    for accession, frame in measured.items() if varies else ():
        wide = frame.assign(keratins=8 + 2.0 * (np.arange(len(frame)) % 2))
        (geo / NAMES[accession]).write_text(series_matrix(wide))
    assert load(geo).features == tuple(gene for gene in MEASURED_GENES if gene != "KRT17")


def test_files_may_be_gzipped_and_listed(geo):
    plain = load(geo)
    for path in list(geo.iterdir()):
        geo.joinpath(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    paths = [str(path) for path in geo.iterdir()]
    for source in (geo, str(geo), paths):
        zipped = load(source)
        for name in plain:
            np.testing.assert_array_equal(zipped[name].X, plain[name].X)


def test_the_table_that_the_platforms_page_gives(geo):
    expected = load(geo)
    (geo / "GPL96.annot").unlink()
    rows = [line.split("\t") for line in GPL96.splitlines() if "\t" in line and not line.startswith(("#", "!", "ID"))]
    table = ["#ID = Affymetrix Probe Set ID", "ID\tGB_ACC\tGene Symbol"]
    table += [f"{row[0]}\tU48705\t{row[2].replace('///', ' /// ')}" for row in rows]
    (geo / "GPL96-57554.txt").write_text("\n".join(table))
    assert load(geo).features == expected.features


def test_other_files_of_a_series_are_passed_over(geo):
    (geo / "GSE20341_series_matrix.txt").write_text("another series")
    (geo / "GSE2034_family.soft").write_text("all of it")
    (geo / "GSE2034_readme.txt").write_text("words")
    assert load(geo).names == ("mainz", "transbig", "vdx")


def test_values_below_one_count_as_one_on_the_log_scale(geo, measured):
    frame = 2 ** measured["GSE2034"]
    frame.iloc[0, PROBES.index("orc")] = -3.5
    (geo / NAMES["GSE2034"]).write_text(series_matrix(frame))
    assert load(geo)["vdx"].to_frame()["ORC6"].iloc[0] == 0


def test_all_genes_there_no_warning(geo, rng):
    (geo / "GPL96.annot").write_text("\n".join(["ID\tGene Symbol", *(f"{gene}_at\t{gene}" for gene in cohorts.PAM50)]))
    probes = [f"{gene}_at" for gene in cohorts.PAM50]
    for i, name in enumerate(NAMES.values()):
        frame = pd.DataFrame(rng.normal(8, 1, (3, 50)), index=[f"s{i}{j}" for j in range(3)], columns=probes)
        (geo / name).write_text(series_matrix(frame))
    assert load_pam50_cohorts(geo).features == cohorts.PAM50


BROKEN = {
    "a series is missing": lambda geo: (geo / NAMES["GSE5327"]).unlink(),
    "no annotation": lambda geo: (geo / "GPL96.annot").unlink(),
    "twice": lambda geo: (geo / f"{NAMES['GSE2034']}.gz").write_bytes(b""),
    "no symbols": lambda geo: (geo / "GPL96.annot").write_text("ID\tName\na\tb\n"),
    "comments alone": lambda geo: (geo / "GPL96.annot").write_text("#ID\n"),
    "another array": lambda geo: (geo / "GPL96.annot").write_text("ID\tGene Symbol\nother_at\tESR1\n"),
    "another table": lambda geo: (geo / NAMES["GSE2034"]).write_text("id,a,b\ns1,1.5,2.5\ns2,2.5,3.5\n"),
    "a cut line": lambda geo: (geo / "GPL96.annot").write_text(GPL96.replace("\tORC6L\t23594", "")),
    "a probe twice": lambda geo: (geo / "GPL96.annot").write_text(GPL96.replace("ndc\t", "orc\t")),
    "a row twice": lambda geo: rewrite(geo, lambda text: text.replace('"krt17"', '"orc"')),
    "cut off": lambda geo: (geo / NAMES["GSE2034"]).write_text("!Series_title\n!series_matrix_table_begin\n"),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_files_that_do_not_make_the_cohorts(geo, change):
    change(geo)
    with pytest.raises(DataError):
        load_pam50_cohorts(geo)


@pytest.mark.parametrize(
    ("source", "error"), [("nowhere", DataError), ([], DataError), (7, ParameterError), ([7], ParameterError)]
)
def test_a_source_that_is_none(source, error):
    with pytest.raises(error):
        load_pam50_cohorts(source)


# ---------------------------------------------------------------------------------------------------------------------
# the patients of the PAM50 cohorts


N_PATIENTS = {"GSE11121": 12, "GSE7390": 11, "GSE2034": 9, "GSE5327": 8}
PREFIXES = {"mainz": "MAINZ_BC60", "transbig": "VDXGUYU_40", "vdx": "VDX_"}


@pytest.fixture
def patients(rng):
    """Three cohorts by name, on the log scale, with labels that tell patients apart."""
    frames = {}
    for name, accessions in cohorts.SERIES.items():
        n = sum(N_PATIENTS[accession] for accession in accessions)
        names = [f"{PREFIXES[name]}{i:02d}" for i in range(n)]
        frames[name] = pd.DataFrame(rng.normal(10, 2, (n, 3)), index=names, columns=list(benchmark.GENES.values()))
    return Studies([Study(frame, name, labels=list(frame.index)) for name, frame in frames.items()])


def write_series(geo, patients, change=lambda name, frame: frame, titles=None):
    """Write the series of these patients in another order; their names are the samples', for the tests."""
    for name, accessions in cohorts.SERIES.items():
        frame = patients[name].to_frame().rename(columns={gene: probe for probe, gene in benchmark.GENES.items()})
        frame = change(name, frame.iloc[::-1]).assign(orc=np.arange(len(frame)) % 7 + 0.5)
        for accession in accessions:
            part, frame = frame.iloc[: N_PATIENTS[accession]], frame.iloc[N_PATIENTS[accession] :]
            text = series_matrix(part)
            if titles is not None:
                line = "\t".join(f'"{titles(sample)}"' for sample in part.index)
                text = text.replace("!Sample_geo_accession", f"!Sample_title\t{line}\n!Sample_geo_accession", 1)
            (geo / NAMES[accession]).write_text(text)


def load_with(geo, patients):
    with pytest.warns(DataWarning) as caught:
        studies = load_pam50_cohorts(geo, patients=patients)
    return studies, [str(warning.message) for warning in caught if "without a label" in str(warning.message)]


def assert_all_matched(studies):
    for study in studies.values():
        assert study.labels.tolist() == list(study.samples)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda name, frame: frame, id="as they are"),
        pytest.param(lambda name, frame: (2**frame).round(1) if name == "vdx" else frame.round(3), id="rounded"),
        pytest.param(lambda name, frame: 0.8 * frame + 1.5, id="on another scale"),
    ],
)
def test_samples_are_matched_to_patients_by_values(geo, patients, change):
    write_series(geo, patients, change)
    studies, warned = load_with(geo, patients)
    assert_all_matched(studies)
    assert warned == []


@pytest.mark.parametrize(
    "titles",
    [
        pytest.param(lambda sample: f"breast cancer, stage 3, {sample}", id="in a sentence"),
        pytest.param(lambda sample: sample.rpartition("_")[2], id="without the prefix"),
    ],
)
def test_samples_are_matched_to_patients_by_title(geo, patients, titles):
    write_series(geo, patients, noisy, titles)
    assert_all_matched(load_with(geo, patients)[0])
    write_series(geo, patients, lambda name, frame: frame.drop(columns="208079_s_at"), titles)
    assert_all_matched(load_with(geo, patients)[0])


def noisy(name, frame):
    """So that values decide nothing."""
    return frame + np.random.default_rng(0).normal(size=frame.shape)


def rewrite(geo, change):
    for name in NAMES.values():
        text = (geo / name).read_text()
        assert change(text) != text
        (geo / name).write_text(change(text))


def head_reversed(text):
    """Turn the samples of the head round, and leave those of the table."""
    head, begin, table = text.partition("!series_matrix_table_begin")
    lines = [line.split("\t") for line in head.split("\n")]
    return "\n".join("\t".join([mark, *cells[::-1]]) for mark, *cells in lines) + begin + table


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(head_reversed, id="samples in another order"),
        pytest.param(lambda text: text.replace("!series_matrix_table_begin", "!SERIES_MATRIX_TABLE_BEGIN"), id="upper"),
        pytest.param(lambda text: text.replace("table_begin\n", "table_begin \t\n\n \n"), id="blank lines"),
        pytest.param(lambda text: text.replace("!Sample_", "!SAMPLE_"), id="upper-case marks"),
        pytest.param(lambda text: re.sub("!Sample_geo_accession.*\n", "", text), id="no accessions"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="ends of lines"),
    ],
)
def test_titles_are_found_wherever_the_table_is(geo, patients, change):
    write_series(geo, patients, noisy, lambda sample: sample)
    rewrite(geo, change)
    studies, warned = load_with(geo, patients)
    assert_all_matched(studies)
    assert warned == []


@pytest.mark.parametrize(
    "titles", [pytest.param(None, id="no line of them"), pytest.param(lambda sample: "", id="empty")]
)
def test_without_titles_values_alone_decide(geo, patients, titles):
    write_series(geo, patients, titles=titles)
    studies, warned = load_with(geo, patients)
    assert_all_matched(studies)
    assert warned == []
    write_series(geo, patients, noisy, titles)
    studies, warned = load_with(geo, patients)
    assert all(set(study.labels) == {""} for study in studies.values())
    assert warned[0].startswith("12 samples of 12 in mainz without a label")


def test_titles_of_some_samples(geo, patients):
    write_series(geo, patients, noisy, lambda sample: sample)
    rewrite(geo, lambda text: re.sub('(!Sample_title.*)\t"[^"]*"\n', r"\1\n", text))  # the last has none
    studies, _ = load_with(geo, patients)
    for name, accessions in cohorts.SERIES.items():
        untitled = np.cumsum([N_PATIENTS[accession] for accession in accessions]) - 1
        expected = np.array(studies[name].samples, dtype=object)
        expected[untitled] = ""
        assert studies[name].labels.tolist() == expected.tolist()


def test_values_go_before_titles(geo, patients):
    following = {}
    for study in patients.values():
        following |= dict(zip(study.samples, np.roll(study.samples, -1).tolist(), strict=True))
    write_series(geo, patients, titles=following.get)
    studies, warned = load_with(geo, patients)
    assert_all_matched(studies)
    assert warned == []


def test_a_title_gives_no_patient_whose_values_another_sample_has(geo, patients):
    last = {name: study.samples[-1] for name, study in patients.items()}  # the first in the file
    first = {last[name]: study.samples[0] for name, study in patients.items()}

    def change(name, frame):
        frame = frame.copy()
        frame.loc[last[name]] += [3.0, 0, 0]  # of no patient
        return frame

    write_series(geo, patients, change, lambda sample: first.get(sample, sample))
    studies, warned = load_with(geo, patients)
    for study in studies.values():
        assert study.labels.tolist() == ["", *study.samples[1:]]
    assert warned[0].startswith("1 sample of 12 in mainz without a label")


def test_samples_of_no_patient_or_of_several_have_no_label(geo, patients):
    def change(name, frame):
        frame = frame.copy()
        frame.iloc[0] += [3.0, 0, 0]  # of no patient
        frame.iloc[1] = frame.iloc[2]  # the same patient twice
        return frame

    write_series(geo, patients, change, lambda sample: "patient 03")
    studies, warned = load_with(geo, patients)
    for study in studies.values():
        assert study.labels[:3].tolist() == [""] * 3
        assert study.labels[3:].tolist() == list(study.samples[3:])
    assert warned[0].startswith(
        "3 samples of 12 in mainz without a label: no patient, or more than one, has the values"
    )


def test_without_patients_there_are_no_labels(geo, patients):
    write_series(geo, patients)
    assert all(study.labels is None for study in load(geo).values())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda p: p["vdx"], ParameterError),
        (lambda p: Studies([p["mainz"], p["vdx"]]), DataError),
        (lambda p: Studies([Study(study.X, name, features=study.features) for name, study in p.items()]), DataError),
        (lambda p: Studies([study.select(["ESR1", "ERBB2"]) for study in p.values()]), DataError),
    ],
    ids=["one study", "a study is missing", "no labels", "a gene is missing"],
)
def test_patients_that_are_none(geo, patients, change, error):
    with pytest.raises(error):
        load_pam50_cohorts(geo, patients=change(patients))
