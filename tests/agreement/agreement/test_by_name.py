"""Agreements by name, and the user's own."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
from tests.agreement.agreement.cases import PEERS, every_index

from clustrep.agreement.agreements import adjusted_mutual_information, resolve_agreement, resolve_agreements
from clustrep.errors import ParameterError


def share_on_the_diagonal(u, v):
    return np.mean(u == v)


def test_a_function_of_two_labelings_is_an_agreement(rng):
    agreement = resolve_agreement(share_on_the_diagonal)
    assert agreement.name == "share_on_the_diagonal"
    assert agreement.of_codes(np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2])) == 0.75
    tables = rng.integers(0, 5, (2, 3, 4, 4)).astype(float)
    expected = np.trace(tables, axis1=2, axis2=3) / tables.sum(axis=(2, 3))
    np.testing.assert_allclose(agreement.of_tables(tables), expected, rtol=1e-15)


def test_a_function_of_two_labelings_sees_rows_first_and_every_point():
    seen = []

    def record(u, v):
        seen.append(Counter(zip(u.tolist(), v.tolist(), strict=True)))
        return 0

    scores = resolve_agreement(record).of_tables(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))
    assert seen == [{(0, 0): 3, (0, 2): 1, (1, 1): 2}]
    assert scores.shape == ()
    assert scores == 0


@pytest.mark.parametrize("name", PEERS)
def test_scikit_learn_as_the_users_own_function_equals_ours(name, rng):
    tables = rng.integers(0, 20, (5, 3, 4)).astype(float)
    theirs, ours = resolve_agreement(PEERS[name]).of_tables(tables), resolve_agreement(name).of_tables(tables)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_a_callable_without_a_name_is_called_by_its_type():
    class Mine:
        def __call__(self, u, v):
            return 0.5

    assert resolve_agreement(Mine()).name == "Mine"
    assert resolve_agreement(partial(share_on_the_diagonal)).name == "partial"


@every_index
def test_an_agreement_is_found_by_its_name(name):
    assert resolve_agreement(name).name == name


def test_one_agreement_or_several_in_the_order_given():
    assert [a.name for a in resolve_agreements("ami")] == ["ami"]
    assert [a.name for a in resolve_agreements(share_on_the_diagonal)] == ["share_on_the_diagonal"]
    assert [a.name for a in resolve_agreements(("ri", share_on_the_diagonal, "ari"))] == [
        "ri",
        "share_on_the_diagonal",
        "ari",
    ]
    assert [a.name for a in resolve_agreements(["mi", "ami_max"])] == ["mi", "ami_max"]


NAMES = (
    "agreement must be one of 'ari', 'ami', 'ami_max', 'ri', 'mi', 'prediction_strength', 'matching', "
    "or a function of two labelings; got "
)


@pytest.mark.parametrize(
    ("spec", "ending"),
    [
        ("amimax", "'amimax'. Did you mean 'ami_max'?"),
        ("arii", "'arii'. Did you mean 'ari'?"),
        ("ARI", "'ARI'. Did you mean 'ari'?"),
        ("jaccard", "'jaccard'."),
        ("", "''."),
        (3, "3."),
        (None, "None."),
        (["ari"], "['ari']. Did you mean 'ari'?"),
    ],
)
def test_an_unknown_agreement_is_refused_with_the_nearest_name(spec, ending):
    with pytest.raises(ParameterError) as caught:
        resolve_agreement(spec)
    assert caught.value.parameter == "agreement"
    assert str(caught.value).endswith(ending)


@pytest.mark.parametrize("specs", [(), [], None, 3, {"ari": "ami"}, {"ari"}])
def test_agreements_must_be_a_name_a_function_or_a_tuple(specs):
    with pytest.raises(ParameterError) as caught:
        resolve_agreements(specs)
    assert caught.value.parameter == "agreement"


def ari(u, v):
    return 0.0


@pytest.mark.parametrize("specs", [("ari", "ami", "ari"), ("ari", ari), (ari, ari), ("ri",) * 3, ("ari", "aim")])
def test_two_agreements_can_not_share_a_name_and_every_name_is_checked(specs):
    with pytest.raises(ParameterError) as caught:
        resolve_agreements(specs)
    assert caught.value.parameter == "agreement"


@pytest.mark.parametrize("average", ["min", "geometric", "Max", None, max])
def test_an_unknown_average_is_refused(average):
    with pytest.raises(ParameterError) as caught:
        adjusted_mutual_information([0, 1], [0, 1], average=average)
    assert caught.value.parameter == "average"
