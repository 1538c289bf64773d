"""Files of other sites, sessions and logs may hold anything."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from attacks import forging, probing
from sklearn.cluster import KMeans
from tests.federated.sites import Hospitals, cohorts

import clustrep as cr
from clustrep.errors import ClustrepError, DataError
from clustrep.federated import Session, combine, make_key
from clustrep.federated.keys import SMALL_ORDER, Key, is_public_key, is_signed
from clustrep.federated.reading import read_file


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Two sites and their files; keys are random, and now and then a secret half is too small to tell a score."""
    while True:
        sites = Hospitals(tmp_path_factory.mktemp("sites"), cohorts(60, 2).values())
        session = sites.agree(KMeans(3, n_init=1), n_resamples=3)
        functions = [sites.learn(name, session) for name in sites.studies]
        scores = [sites.score(name, functions, session) for name in sites.studies]
        if np.isfinite([file.scores for file in scores]).all():
            return sites, session, functions, scores


def test_honest_files_are_accepted_and_others_are_not(finished):
    """The first is the control: without it, whatever refuses everything would pass."""
    _, session, functions, scores = finished
    assert combine([*functions, *scores], session).scores.best == 0
    assert set(forging.forged().values()) == {forging.REFUSED}


def test_nothing_leaves_by_a_log_or_key_that_was_tampered_with():
    assert forging._goes_on(forging.Honest()) == forging.ACCEPTED
    assert set(forging.at_the_site().values()) == {forging.REFUSED}


def test_flipped_bits_are_refused():
    assert forging.changed(30) == 0


def changed_parts(file):
    """Every number of every array, changed in the file of a site that signs it again."""
    shelf = file.shelves[0]
    for field in ("status", "centroids", "sizes", "spread"):
        array = np.array(getattr(shelf, field))
        others = [array[:-1], array.astype("i8" if array.dtype.kind == "f" else "u2")]
        others += [array * np.nan] if field == "centroids" else [-1 - np.abs(array)]
        for other in others:
            with np.errstate(invalid="ignore"):
                yield dataclasses.replace(file, shelves=(dataclasses.replace(shelf, **{field: other}),))
    for kind in ("pickle", "kernel\n", ""):
        yield dataclasses.replace(file, shelves=(dataclasses.replace(shelf, kind=kind),))
    yield dataclasses.replace(file, shelves=file.shelves * 2)
    yield dataclasses.replace(file, shelves=())
    yield dataclasses.replace(file, n_samples=-1)
    yield dataclasses.replace(file, n_samples=10**400)
    yield dataclasses.replace(file, n_samples=2 * file.n_samples)
    yield dataclasses.replace(file, exact_numbers=True)
    yield dataclasses.replace(file, log=(1,))


def test_numbers_that_do_not_fit_together_are_refused_though_signed(finished):
    sites, session, functions, _ = finished
    key = Key(sites.folder / "beta.key")
    wrong = list(changed_parts(functions[1]))
    for file in wrong:
        with pytest.raises(DataError):
            sites.score("alpha", [file.signed(key)], session)


def test_scores_out_of_range_are_refused_though_signed(finished):
    sites, session, functions, (alpha, beta) = finished
    key = Key(sites.folder / "beta.key")
    hidden = np.array(beta.scores)
    hidden[:, :, 0] = np.nan
    for change in ({"scores": beta.scores + 0.01}, {"scores": hidden}, {"n_samples": 5}):
        with pytest.raises(DataError):
            combine([*functions, alpha, dataclasses.replace(beta, **change).signed(key)], session)
    said = dataclasses.replace(beta, log=("nothing\nBest clusterer: another",)).signed(key)
    assert "\n" not in combine([*functions, alpha, said], session).withheld[-1]
    others = sites.agree(KMeans(3, n_init=1), n_resamples=3, agreement="mi")
    functions = [sites.learn(name, others) for name in sites.studies]
    alpha, beta = (sites.score(name, functions, others) for name in sites.studies)
    combine([*functions, alpha, beta], others)
    wrong = np.full_like(beta.scores, 2.0)
    with pytest.raises(DataError):
        combine([*functions, alpha, dataclasses.replace(beta, scores=wrong).signed(key)], others)


def test_archives_with_unknown_fields_or_kinds_are_refused(finished, tmp_path):
    _, _, functions, _ = finished
    cr.replicability(KMeans(2), dict(cohorts(30, 2)), n_resamples=2, rng=0).save(tmp_path / "other.npz")
    with pytest.raises(DataError):
        read_file(tmp_path / "other.npz")
    later = dataclasses.replace(functions[0], version=3)
    later.save(tmp_path / "later.functions")
    with pytest.raises(DataError):
        read_file(tmp_path / "later.functions")
    (tmp_path / "text.functions").write_text("no archive")
    with pytest.raises(DataError):
        read_file(tmp_path / "text.functions")


def mutations(value):
    """Other values for every entry of a session."""
    yield from ([], {}, None, -1, 1e9, "x", [value], "../../etc/passwd")


def test_sessions_may_hold_anything(finished, tmp_path):
    _, session, _, _ = finished
    plain, path = session.to_fields(), tmp_path / "wrong.session"
    for name, value in plain.items():
        for other in mutations(value):
            path.write_text(json.dumps({**plain, name: other}))
            if (name, other) == ("units", {}):
                continue  # no unit is declared
            with pytest.raises(ClustrepError):
                Session.read(path)
    for written in (
        {"kind": "Pipeline", "parameters": {}},
        {"kind": "KMeans", "parameters": {"n_clusters": 2, "n_init": 10**9}},
        {"kind": "KMeans", "parameters": {"n_clusters": 2, "init": [[0, 1]]}},
        {"kind": "AgglomerativeClustering", "parameters": {"n_clusters": 2, "memory": "/tmp"}},
        {"kind": "KMeans", "parameters": {"n_clusters": 100_000}},
        {"kind": "KMeans", "parameters": {"nonsense": 2}},
        {"kind": "AgglomerativeClustering", "parameters": {"n_clusters": 2}},  # `agree` writes it with its means
        {"kind": "Induced", "parameters": {"clusterer": {"kind": "KMeans", "parameters": {"n_clusters": 2}}}},
    ):
        path.write_text(json.dumps({**plain, "clusterers": [["k", written]]}))
        with pytest.raises(ClustrepError):
            Session.read(path)


def test_public_keys_with_which_anybody_signs_are_refused():
    """Signatures that need no private key: R of small order, S = 0. Each listed point verifies some of them."""
    orders = [point[:-2] + f"{int(point[-2:], 16) | sign:02x}" for point in SMALL_ORDER for sign in (0, 0x80)]
    assert not any(map(is_public_key, orders))
    forged = [R + "00" * 32 for R in orders]
    for point in sorted(SMALL_ORDER):
        canonical = point[:2] not in ("ed", "ee")
        assert any(is_signed(str(i), each, point) for i in range(20) for each in forged) or not canonical


def test_keys(tmp_path):
    public = make_key(tmp_path / "a.key")
    assert Key(tmp_path / "a.key").public == public
    assert (tmp_path / "a.key").stat().st_mode & 0o077 == 0
    with pytest.raises(DataError):
        make_key(tmp_path / "a.key")
    (tmp_path / "b.key").write_text("no key")
    (tmp_path / "b.key").chmod(0o600)
    (tmp_path / "c.key").symlink_to(tmp_path / "a.key")
    for name in ("b.key", "c.key", "d.key"):
        with pytest.raises(DataError):
            Key(tmp_path / name)


# ---------------------------------------------------------------------------------------------------------------------
# functions of a malicious partner


def test_functions_that_do_not_answer_the_question_are_refused():
    study = probing.values(150, 2, 0)
    victim = probing.Victim(study, (20, 80))
    assert victim.ask([probing.halves(2, 51.0)]) is not None  # the control
    assert probing.thousands(study) == probing.column(study) == probing.REFUSED
    for centres in ([[50, 50], [50.1, 50]], [[50, 50], [90, 50]], [[50, 50], [np.nan, 50]], [[50, 50], [np.inf, 50]]):
        assert victim.ask([np.array(centres, dtype=float)]) is None


def test_four_partners_together_get_what_the_policy_gives_to_all():
    study = probing.values(150, 2, 0)
    assert probing.repeated(study) == 1
    assert probing.together(study) == 30
