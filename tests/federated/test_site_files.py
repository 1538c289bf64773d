"""Files from elsewhere: edited, cut off, mixed up, of another version, of other features or units, hostile."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from tests.federated.sites import CLUSTERERS, SMALL, cohorts
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.federated.files import digest_of
from clustrep.federated.forms import FORMS
from clustrep.federated.inquiry import Inquiry
from clustrep.federated.reading import read_file

RUN = {"n_clusters": (2, 3), "n_resamples": 3, "rng": 7, "disclosure": SMALL}


@pytest.fixture(scope="module")
def studies():
    return cohorts(60, 2)


@pytest.fixture(scope="module")
def functions(studies):
    return {name: cr.federated.learn(KMeans(n_init=2), study, **RUN) for name, study in studies.items()}


@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_file_holds_everything(name, studies, tmp_path):
    study = studies["alpha"]
    learned = cr.federated.learn(
        {name: CLUSTERERS[name]}, study, units={"gene1": "log2"}, null="gaussian", n_null=3, **RUN
    )
    learned.save(tmp_path / "alpha.functions")
    again = read_file(tmp_path / "alpha.functions")
    assert again.digest == learned.digest == digest_of(again)
    assert repr(again) == repr(learned)
    assert again.question == learned.question
    scores = cr.federated.score(studies["beta"], [again], gaps=True, tables=True)
    scores.save(tmp_path / "beta.scores")
    assert read_file(tmp_path / "beta.scores").digest == scores.digest == digest_of(scores)


def test_the_same_run_writes_the_same_bytes(studies, functions, tmp_path):
    cr.federated.learn(KMeans(n_init=2), studies["alpha"], **RUN).save(tmp_path / "again.functions")
    functions["alpha"].save(tmp_path / "alpha.functions")
    assert (tmp_path / "again.functions").read_bytes() == (tmp_path / "alpha.functions").read_bytes()


# ---------------------------------------------------------------------------------------------------------------------
# damaged files


def test_a_file_that_was_cut_off(functions, tmp_path):
    functions["alpha"].save(tmp_path / "alpha.functions")
    whole = (tmp_path / "alpha.functions").read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.functions").write_bytes(whole[:length])
        with refused(cr.errors.DataError):
            read_file(tmp_path / "cut.functions")


@pytest.mark.parametrize("place", np.linspace(0.02, 0.98, 25))
def test_a_file_of_which_a_byte_was_changed(functions, place, tmp_path):
    functions["alpha"].save(tmp_path / "alpha.functions")
    content = bytearray((tmp_path / "alpha.functions").read_bytes())
    content[int(place * len(content))] ^= 1
    (tmp_path / "alpha.functions").write_bytes(content)
    with pytest.raises(cr.errors.DataError):
        read_file(tmp_path / "alpha.functions")


def test_numbers_that_were_edited_and_packed_again(functions, tmp_path):
    """Without the digest, one would score functions that nobody learned."""
    first = functions["alpha"].shelves[0]
    packed = dataclasses.replace(first.arrays[0], stacked=first.arrays[0].stacked + 1e-9)
    shelves = (dataclasses.replace(first, arrays=(packed,)), *functions["alpha"].shelves[1:])
    dataclasses.replace(functions["alpha"], shelves=shelves).save(tmp_path / "edited.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "edited.functions")


def test_a_file_of_a_newer_version(functions, tmp_path):
    dataclasses.replace(functions["alpha"], version=2).sealed().save(tmp_path / "new.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "new.functions")


def test_something_else(studies, functions, tmp_path):
    (tmp_path / "text.functions").write_text("hello")
    cr.compare(KMeans(2, n_init=2), studies, n_resamples=2, rng=0).save(tmp_path / "result.npz")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "text.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "result.npz")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "nothing.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path)
    functions["alpha"].save(tmp_path / "alpha.functions")
    with refused(cr.errors.DataError):
        cr.load(tmp_path / "alpha.functions")


# ---------------------------------------------------------------------------------------------------------------------
# hostile files: sealed like honest ones


def changed_shelf(learned, **changes):
    shelves = (dataclasses.replace(learned.shelves[0], **changes), *learned.shelves[1:])
    return dataclasses.replace(learned, shelves=shelves).sealed()


def with_numbers(learned, **changes):
    return changed_shelf(learned, arrays=(dataclasses.replace(learned.shelves[0].arrays[0], **changes),))


def hostile(learned):
    shelf, packed = learned.shelves[0], learned.shelves[0].arrays[0]
    nan = packed.stacked.copy()
    nan[0, 0] = np.nan
    infinite = packed.stacked.copy()
    infinite[0, 0] = np.inf
    inquiry = dict(learned.inquiry)
    return {
        "not a number": with_numbers(learned, stacked=nan),
        "infinite": with_numbers(learned, stacked=infinite),
        "fewer features": with_numbers(learned, stacked=packed.stacked[:, :3]),
        "no table": with_numbers(learned, stacked=packed.stacked[:, 0]),
        "complex numbers": with_numbers(learned, stacked=packed.stacked.astype(complex)),
        "negative lengths": with_numbers(learned, lengths=-packed.lengths),
        "lengths that lead beyond": with_numbers(learned, lengths=packed.lengths + 1),
        "another name": with_numbers(learned, name="weights"),
        "another form": changed_shelf(learned, form="Mixture"),
        "no form": changed_shelf(learned, form="__import__"),
        "a cause that there is not": changed_shelf(learned, status=shelf.status + 9),
        "fewer replicates": changed_shelf(learned, status=shelf.status[:-1]),
        "fewer configurations": dataclasses.replace(learned, shelves=learned.shelves[:1]).sealed(),
        "no name": dataclasses.replace(learned, study="").sealed(),
        "a log that is none": dataclasses.replace(learned, log=("x",)).sealed(),
        "an unknown clusterer": with_question(
            learned, {**inquiry, "clusterers": [["x", {"kind": "os.system", "parameters": {}}]] * 2}
        ),
        "a parameter that there is not": with_question(
            learned, {**inquiry, "clusterers": [["x", {"kind": "KMeans", "parameters": {"evil": 1}}]] * 2}
        ),
        "endless estimators": with_question(learned, {**inquiry, "clusterers": [["x", nested(40)]] * 2}),
        "a million million resamples": with_question(learned, {**inquiry, "n_resamples": 10**12}),
        "a resampling that there is not": with_question(learned, {**inquiry, "resampling": [{"kind": "os.system"}]}),
        "no resampling": with_question(learned, {**inquiry, "resampling": []}),
        "a negative seed": with_question(learned, {**inquiry, "seed": -1}),
        "a feature twice": with_question(learned, {**inquiry, "features": ["a", "a", "b", "c"]}),
        "a scale that there is not": with_question(learned, {**inquiry, "scale": "log"}),
        "a field too many": with_question(learned, {**inquiry, "more": 1}),
        "no question": dataclasses.replace(learned, inquiry={}).sealed(),
        "a folder of somebody": with_question(
            learned,
            {
                **inquiry,
                "clusterers": [["x", {"kind": "AgglomerativeClustering", "parameters": {"memory": "elsewhere"}}]] * 2,
            },
        ),
        "a thousand million clusters": with_question(
            learned, {**inquiry, "clusterers": [["x", {"kind": "KMeans", "parameters": {"n_clusters": 10**9}}]] * 2}
        ),
        "sizes of other groups": changed_shelf(learned, sizes=np.array([20, 20, 20])),
        "negative sizes": changed_shelf(learned, sizes=-shelf.sizes),
        "no rules": dataclasses.replace(learned, rules={}).sealed(),
        "a number of samples that is none": dataclasses.replace(learned, n_samples="many").sealed(),
        "causes that are numbers": dataclasses.replace(learned, causes=(5,)).sealed(),
        "versions without names": dataclasses.replace(learned, versions=["1"]).sealed(),
        "no version": dataclasses.replace(learned, version=0).sealed(),
    }


def with_question(learned, inquiry):
    return dataclasses.replace(learned, inquiry=inquiry).sealed()


def nested(depth):
    inner = {"kind": "KMeans", "parameters": {}}
    for _ in range(depth):
        inner = {"kind": "Induced", "parameters": {"clusterer": inner}}
    return inner


HOSTILE = list(hostile(cr.federated.learn(KMeans(n_init=2), cohorts(60, 2)["alpha"], **RUN)))


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_refused_with_a_sentence(what, functions, tmp_path):
    hostile(functions["alpha"])[what].save(tmp_path / "hostile.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "hostile.functions")


@pytest.mark.parametrize(
    ("form", "arrays"),
    [
        ("Bisections", {"nodes": np.zeros((3, 2)), "children": [[1, 2], [0, 0], [-1, -1]], "leaf": [-1, 0, 1]}),
        ("Bisections", {"nodes": np.zeros((3, 2)), "children": [[1, 9], [-1, -1], [-1, -1]], "leaf": [-1, 0, 1]}),
        ("Bisections", {"nodes": np.zeros((3, 2)), "children": [[1, 2], [-1, -1], [-1, -1]], "leaf": [-1, 0, 7]}),
        (
            "LeafTree",
            {
                "thresholds": np.zeros(3),
                "features": [5, 0, 0],
                "children": [[1, 2], [-1, -1], [-1, -1]],
                "leaf": [-1, 0, 1],
            },
        ),
        (
            "LeafTree",
            {
                "thresholds": np.zeros(3),
                "features": [0, 0, 0],
                "children": [[0, 2], [-1, -1], [-1, -1]],
                "leaf": [-1, 0, 1],
            },
        ),
        ("Subclusters", {"centroids": np.zeros((2, 2)), "clusters": [0, 10**9]}),
        ("Mixture", {"weights": np.zeros(2), "means": np.zeros((2, 2)), "covariances": np.ones(2)}),
        ("Mixture", {"weights": np.ones(2) / 2, "means": np.zeros((2, 2)), "covariances": np.ones((2, 3, 3))}),
        ("Discriminants", {"coefficients": np.zeros((2, 3)), "intercepts": np.zeros(2)}),
    ],
)
def test_forms_that_do_not_fit_together(form, arrays):
    """Above all no tree that leads in circles."""
    assert not FORMS[form](**{name: np.asarray(array) for name, array in arrays.items()}).check(2)


def test_names_of_members_are_no_paths(functions, tmp_path):
    """Nothing is unpacked to disk, and a member with a path is no array of the file."""
    functions["alpha"].save(tmp_path / "alpha.functions")
    with zipfile.ZipFile(tmp_path / "alpha.functions") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    contents["../../outside.npy"] = buffer.getvalue()
    with zipfile.ZipFile(tmp_path / "path.functions", "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    with pytest.raises(cr.errors.DataError):
        read_file(tmp_path / "path.functions")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alpha.functions", "path.functions"]
    assert not (tmp_path.parent.parent / "outside.npy").exists()


def hostile_scores(scores):
    table, gap, cross = scores.clusters[0], scores.gaps[0], scores.tables[0]
    changed = {
        "sizes of other clusters": {"clusters": (dataclasses.replace(table, sizes=np.array([5, 6, 7, 8, 9])),)},
        "fewer resamples": {"clusters": (dataclasses.replace(table, distribution=table.distribution[:1]),)},
        "sizes that are texts": {"clusters": (dataclasses.replace(table, sizes=np.array(["a", "b"])),)},
        "the same clusters twice": {"clusters": (table, table)},
        "negative counts": {"gaps": (dataclasses.replace(gap, counts=-1 - gap.counts),)},
        "more pairs than counts": {"gaps": (dataclasses.replace(gap, edges=np.array([[0, 1], [1, 2], [0, 2]])),)},
        "a table that is none": {"tables": (dataclasses.replace(cross, counts=np.array([20, 30])),)},
        "counts below those not told": {"tables": (dataclasses.replace(cross, counts=cross.counts * 0 - 9),)},
        "agreements that are numbers": {"agreements": ("ari", 3)},
        "decimals that are a text": {"decimals": "x"},
        "digests that are numbers": {"train_digests": (5,)},
        "versions without names": {"versions": ["1"]},
    }
    return {what: dataclasses.replace(scores, **changes).sealed() for what, changes in changed.items()}


def test_hostile_scores_are_refused_with_a_sentence(studies, functions, tmp_path):
    honest = cr.federated.score(studies["beta"], [functions["alpha"]], gaps=True, tables=True)
    honest.save(tmp_path / "honest.scores")
    assert read_file(tmp_path / "honest.scores").digest == honest.digest
    for what, scores in hostile_scores(honest).items():
        scores.save(tmp_path / "hostile.scores")
        with refused(cr.errors.DataError) as caught:
            read_file(tmp_path / "hostile.scores")
        assert not str(caught.value).endswith(".."), what


def test_covariances_that_are_none_are_refused(studies, tmp_path):
    learned = cr.federated.learn(GaussianMixture(2), studies["alpha"], **{**RUN, "n_clusters": None})
    weights, means, covariances = learned.shelves[0].arrays
    negative = dataclasses.replace(covariances, stacked=-covariances.stacked)
    changed_shelf(learned, arrays=(weights, means, negative)).save(tmp_path / "hostile.functions")
    with refused(cr.errors.DataError):
        read_file(tmp_path / "hostile.functions")


def test_counts_of_other_pairs_of_clusters_are_refused(studies, functions):
    gamma = studies["alpha"].renamed("gamma")
    everything = [*functions.values(), cr.federated.learn(KMeans(n_init=2), gamma, **RUN)]
    scores = [cr.federated.score(study, everything, gaps=True) for study in (*studies.values(), gamma)]
    first, *others = scores[0].gaps
    turned = dataclasses.replace(first, edges=first.edges[:, ::-1].copy())
    scores[0] = dataclasses.replace(scores[0], gaps=(turned, *others)).sealed()
    with refused(cr.errors.DataError):
        cr.federated.combine(scores)


def test_folders_do_not_travel(studies, tmp_path):
    """scikit-learn would write a site's samples into the folder that another site names, and read pickles there."""
    ward = cr.Induced(AgglomerativeClustering(2, memory=str(tmp_path / "cache")), classifier=NearestCentroid())
    with refused(cr.errors.ParameterError, "clusterers"):
        cr.federated.learn(ward, studies["alpha"], n_resamples=2, rng=0)
    assert list(tmp_path.iterdir()) == []


def test_no_text_of_a_file_passes_for_another_line(functions):
    log = (("nothing\nSHA-256: 00\x1b[2J", 1, 2, "why"),)
    shown = repr(dataclasses.replace(functions["alpha"], log=log).sealed())
    assert "\\nSHA-256: 00\\u001b[2J" in shown
    assert sum(line.startswith("SHA-256: ") for line in shown.splitlines()) == 1


def test_huge_shapes_are_refused_before_memory_is_taken(functions, tmp_path):
    """A header may declare any shape; a few bytes must not ask for terabytes."""
    functions["alpha"].save(tmp_path / "alpha.functions")
    with zipfile.ZipFile(tmp_path / "alpha.functions") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    (name,) = [name for name in contents if name.endswith("arrays/0/stacked.npy") and name.startswith("shelves/0/")]
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 4)})
    contents[name] = buffer.getvalue()
    with zipfile.ZipFile(tmp_path / "huge.functions", "w") as archive:
        for member, content in contents.items():
            archive.writestr(member, content)
    with pytest.raises(cr.errors.DataError):
        read_file(tmp_path / "huge.functions")


# ---------------------------------------------------------------------------------------------------------------------
# files that do not belong together


@pytest.mark.parametrize(
    "changes",
    [
        {"rng": 8},
        {"n_resamples": 4},
        {"resampling": cr.resampling.Subsample(0.8)},
        {"n_clusters": (2, 4)},
        {"units": {"gene1": "mg/dl"}},
        {"null": "gaussian", "n_null": 3},
    ],
)
def test_files_of_different_questions_are_refused_with_the_difference(changes, studies, functions):
    other = cr.federated.learn(KMeans(n_init=2), studies["beta"], **{**RUN, **changes})
    third = cr.Study(studies["alpha"].X + 0.1, "third", features=studies["alpha"].features)
    with refused(cr.errors.DataError):
        cr.federated.score(third, [functions["alpha"], other])


def test_other_features_and_their_order(studies, functions):
    less = cr.federated.learn(KMeans(n_init=2), studies["beta"].select(["gene1", "gene2", "gene3"]), **RUN)
    turned = cr.federated.learn(KMeans(n_init=2), studies["beta"].select(["gene2", "gene1", "gene3", "gene4"]), **RUN)
    third = studies["alpha"].renamed("third")
    with refused(cr.errors.DataError):
        cr.federated.score(third, [functions["alpha"], less])
    with refused(cr.errors.DataError):
        cr.federated.score(third, [functions["alpha"], turned])
    with refused(cr.errors.DataError):
        cr.federated.score(third.select(["gene1", "gene2", "gene3"]), [functions["alpha"]])
    beyond = cr.Study(np.column_stack([third.X, third.X[:, 0]]), "third", features=[*third.features, "gene5"])
    np.testing.assert_array_equal(
        cr.federated.score(beyond, [functions["alpha"]]).scores, cr.federated.score(third, [functions["alpha"]]).scores
    )


def test_other_units_are_warned_of(studies):
    """Creatinine of about 1 ± 0.2 mg/dl is 88 ± 18 µmol/l."""
    alpha, beta = (study.X.copy() for study in studies.values())
    for X in (alpha, beta):
        X[:, 1] = 1 + 0.2 * (X[:, 1] - X[:, 1].mean()) / X[:, 1].std()
    features = studies.features
    of_alpha = cr.federated.learn(KMeans(n_init=2), cr.Study(alpha, "alpha", features=features), **RUN)
    cr.federated.score(cr.Study(beta, "beta", features=features), [of_alpha])
    beta[:, 1] *= 88.4
    with warned(cr.errors.DataWarning):
        cr.federated.score(cr.Study(beta, "beta", features=features), [of_alpha])


def test_scaling_and_precision(studies):
    scaled = studies["alpha"].scaled("study")
    learned = cr.federated.learn(KMeans(2, n_init=2), scaled, n_resamples=2, rng=0, disclosure=SMALL)
    beta = studies["beta"]
    np.testing.assert_array_equal(
        cr.federated.score(beta, [learned]).scores, cr.federated.score(beta.scaled("study"), [learned]).scores
    )
    pooled = studies.scaled("pooled")
    with refused(cr.errors.DataError):
        cr.federated.score(pooled["beta"], [learned])
    with refused(cr.errors.DataError):
        cr.federated.learn(KMeans(2, n_init=2), pooled["alpha"], n_resamples=2, rng=0, disclosure=SMALL)
    single = cr.Study(studies["alpha"].X.astype(np.float32), "alpha", features=beta.features)
    of_single = cr.federated.learn(KMeans(2, n_init=2), single, n_resamples=2, rng=0, disclosure=SMALL)
    with refused(cr.errors.DataError):
        cr.federated.score(beta, [of_single])


def test_mixed_up_files(studies, functions):
    scores = {name: cr.federated.score(study, list(functions.values())) for name, study in studies.items()}
    with refused(cr.errors.DataError):
        cr.federated.score(studies["alpha"], [scores["beta"]])
    with refused(cr.errors.DataError):
        cr.federated.combine([scores["alpha"], functions["beta"]])
    with refused(cr.errors.DataError):
        cr.federated.combine([scores["alpha"], scores["alpha"]])
    with refused(cr.errors.DataError):
        cr.federated.combine([scores["alpha"]])
    with refused(cr.errors.DataError):
        cr.federated.score(studies["alpha"], [functions["alpha"]])
    with refused(cr.errors.DataError):
        cr.federated.combine([])
    with refused(cr.errors.DataError):
        cr.federated.combine(
            [scores["alpha"], cr.federated.score(studies["beta"], [functions["alpha"]], agreement="ri")]
        )


def test_sites_that_scored_other_files(studies, functions):
    """A site learned again and sent the new file to one of the others only."""
    gamma = studies["alpha"].renamed("gamma")
    of_gamma = cr.federated.learn(KMeans(n_init=2), gamma, **RUN)
    again = cr.federated.learn(
        KMeans(n_init=2), gamma, **{**RUN, "disclosure": cr.federated.Disclosure(min_cluster_size=3)}
    )
    first = cr.federated.score(studies["alpha"], [functions["beta"], of_gamma])
    second = cr.federated.score(studies["beta"], [functions["alpha"], again])
    third = cr.federated.score(gamma, list(functions.values()))
    with refused(cr.errors.DataError):
        cr.federated.combine([first, second, third])
    with refused(cr.errors.DataError):
        cr.federated.combine([cr.federated.score(studies["alpha"], [functions["beta"]]), second, third])
    with warned(cr.errors.DataWarning):
        cr.federated.combine([first, cr.federated.score(studies["beta"], [functions["alpha"]])])


# ---------------------------------------------------------------------------------------------------------------------
# questions and arguments


def test_a_question_in_plain_types_comes_back(functions):
    question = functions["alpha"].question
    plain = json.loads(json.dumps(question.to_fields()))
    assert Inquiry.from_fields(plain) == question
    assert Inquiry.from_fields(plain).fingerprint == question.fingerprint


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"units": {"gene9": "mg"}}, "units"),
        ({"units": {"gene1": 3}}, "units"),
        ({"null": "cauchy"}, "null"),
        ({"resampling": cr.resampling.Simulate(lambda study, rng: study.X)}, "resampling"),
        ({"disclosure": 10}, "disclosure"),
        ({"n_resamples": 0}, "n_resamples"),
    ],
)
def test_arguments_of_learn_are_checked(arguments, parameter, studies):
    with refused(cr.errors.ParameterError, parameter):
        cr.federated.learn(KMeans(2, n_init=2), studies["alpha"], **{"n_resamples": 2, "rng": 0, **arguments})


def test_arguments_of_score_are_checked(studies, functions):
    with refused(cr.errors.DataError):
        cr.federated.score(studies["beta"].X, [functions["alpha"]])
    with refused(cr.errors.ParameterError, "decimals"):
        cr.federated.score(studies["beta"], [functions["alpha"]], decimals=0)
    with refused(cr.errors.ParameterError, "decimals"):
        cr.federated.score(studies["beta"], [functions["alpha"]], decimals=12, tables=True)
    with refused(cr.errors.ParameterError, "disclosure"):
        cr.federated.score(studies["beta"], [functions["alpha"]], disclosure=3)
    with refused(cr.errors.DataError):
        cr.federated.learn(KMeans(2), studies["beta"].X)


def test_what_is_not_written_by_name_is_refused(studies):
    class Mine(KMeans):
        pass

    with pytest.raises(cr.errors.ParameterError):
        cr.federated.learn(Mine(2), studies["alpha"], n_resamples=2, rng=0)
