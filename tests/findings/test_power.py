"""The separation that would be found."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.findings.power import LARGEST, POWER, SMALLEST, _where, detectable_separation

SEPARATIONS = np.linspace(SMALLEST, LARGEST, 48)


@pytest.mark.parametrize("middle", [3.5, 5.0, 6.5])
def test_a_sharp_border_is_found(middle):
    answer = _where(SEPARATIONS, (middle < SEPARATIONS).astype(float))
    assert middle - 0.1 <= answer <= middle + 0.7


def test_the_curve_reaches_the_power_where_it_is_drawn(rng):
    middle, slope = 5.0, 3.0
    answers = [
        _where(SEPARATIONS, (rng.random(48) < 1 / (1 + np.exp(-slope * (SEPARATIONS - middle)))).astype(float))
        for _ in range(40)
    ]
    assert np.mean(answers) == pytest.approx(middle + np.log(POWER / (1 - POWER)) / slope, abs=0.2)


def test_nothing_found_is_infinite_and_everything_is_the_smallest():
    assert _where(SEPARATIONS, np.zeros(48)) == np.inf
    assert _where(SEPARATIONS, np.ones(48)) == SMALLEST


@pytest.mark.slow
def test_more_samples_and_fewer_trials_find_closer_clusters():
    rng = np.random.default_rng(0)
    by_size = [detectable_separation([rng.normal(size=(n, 2)) for _ in range(2)], 2, 3, 0) for n in (16, 40, 160)]
    assert by_size[0] > by_size[1] > by_size[2]
    tables = [rng.normal(size=(40, 2)) for _ in range(2)]
    fewer = detectable_separation(tables, 2, 3, 0)
    assert detectable_separation(tables, 2, 30, 0) >= fewer
    assert detectable_separation(tables, 800, 3, 0) > fewer  # of which two axes are looked at
