"""Laws of the findings on public data sets, where CLUSTREP_DATA has them."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from exam.real import expected_sets, tables_of
from tests.findings.random_studies import findings_of
from tests.findings.test_laws import assert_same, assert_same_answer, put_back, study_to_move

from clustrep.data.studies import Studies
from clustrep.data.values import completed

SETS = {expected.name: expected for expected in expected_sets()}
# Seconds for each analysis: these sets are left to the slow tests.
LARGE = ("cell lines", "cell lines: mixture and Jurkat", "cell lines: mixture and 293T", "RNA mixtures", "leukaemia")
every_set = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [], id=name) for name in SETS]
)


@pytest.fixture
def studies(name):
    """The tables of a set, with missing values completed: a law is about the values that are compared."""
    folder = Path(os.environ.get("CLUSTREP_DATA") or "no folder", "real")
    if not folder.is_dir():
        pytest.skip("CLUSTREP_DATA is not set, or has no folder `real`")
    return tables(folder, name)


@lru_cache
def tables(folder, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unlike scales, and of samples that occur twice
        given = Studies(tables_of(folder, SETS[name])[0], label=False)
    return {study.name: study.with_table(completed(study.X).astype(float)).to_frame() for study in given.values()}


@lru_cache
def found(folder, name):
    return findings_of(tables(folder, name))


@pytest.fixture
def first(studies, name):
    return found(Path(os.environ["CLUSTREP_DATA"], "real"), name)


@every_set
def test_the_order_of_studies_samples_and_features_makes_no_difference(studies, first):
    rng = np.random.default_rng(0)
    names = [list(studies)[i] for i in rng.permutation(len(studies))]
    orders = {study: rng.permutation(len(studies[study])) for study in studies}
    columns = rng.permutation(next(iter(studies.values())).shape[1])
    permuted = findings_of({study: studies[study].iloc[orders[study], columns] for study in names})
    second, back = put_back(permuted, list(studies), orders), np.argsort(columns)
    assert_same(first, replace(second, divisor=second.divisor[back], offset=second.offset[:, back]))


@every_set
def test_a_constant_added_to_a_study_changes_shifts_alone(studies, first):
    name = study_to_move(first)
    if name is None:
        return
    sd = np.sqrt(np.mean([frame.var().mean() for frame in studies.values()]))
    moved = {study: frame + 7 * sd * (study == name) for study, frame in studies.items()}
    assert_same_answer(first, findings_of(moved))


@every_set
def test_a_study_and_its_duplicate_have_the_same_statuses_and_labels(studies, first):
    name = first.names[0]
    twin = studies[name].set_axis([f"twin of {sample}" for sample in studies[name].index])
    findings = findings_of({**studies, "twin": twin})
    one, other = findings.names.index(name), findings.names.index("twin")
    np.testing.assert_array_equal(findings.status[:, one], findings.status[:, other])
    np.testing.assert_array_equal(findings.labels[name], findings.labels["twin"])
