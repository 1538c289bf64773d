"""Agreements on a device are those on the processor."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.agreement.agreements import AGREEMENTS, resolve_agreement

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def example_tables():
    rng = np.random.default_rng(0)
    tables = rng.poisson(rng.choice([0.2, 3, 500], size=(60, 1, 1)), size=(60, 4, 6)).astype(float)
    tables[:, 0, 0] += 2
    tables[0] = 0
    tables[0, :4, :4] = np.diag([5, 6, 7, 8])  # the same partition
    tables[1, 1:] = 0  # one block on one side
    tables[2] = 0
    tables[2, 1, 1] = 9  # one block on both
    return tables


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["ari", "ri", "mi", "ami", "ami_max"])
def test_scores_of_tables(name, device):
    from clustrep.gpu.scores import can_score, score_tables

    tables = example_tables()
    computed = score_tables(name, torch.as_tensor(tables, device=device)).cpu().numpy()
    np.testing.assert_allclose(computed, resolve_agreement(name).of_tables(tables), atol=1e-10)
    assert can_score(name)


def test_agreements_that_are_not_there_are_left_to_the_processor():
    from clustrep.gpu.scores import can_score

    assert not can_score("matching")
    assert "matching" in AGREEMENTS
