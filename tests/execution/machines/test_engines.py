"""Which engines there are, who takes them, and how blocks are cut."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from sklearn.cluster import KMeans
from tests.helpers import configured
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError, EngineLost, ParameterError
from clustrep.execution import engines
from clustrep.execution.context import config, in_force
from clustrep.execution.forecast import check_memory
from clustrep.execution.run import Plan, run
from clustrep.execution.seeds import Run


@pytest.mark.parametrize("engine", ["spark", "dask", "dask://", "ray://", "", 3, object()])
def test_no_engine(engine, tables):
    with refused(ParameterError, "engine"):
        configured(cr.replicability, engine=engine)(KMeans(2), tables, n_resamples=2)


@pytest.mark.parametrize("name", ["dask://host:1", "ray"])
def test_an_engine_that_is_not_installed(name, tables, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda package: None)
    with refused(ParameterError, "engine"):
        configured(cr.replicability, engine=name)(KMeans(2), tables, n_resamples=2)


class OnTheCardOfThisProcess(Plan):
    """A plan that can't be sent anywhere."""

    here = True

    def replicate(self, number):
        return number, os.getpid()


def test_what_needs_a_device_of_this_process_stays_here():
    with in_force(replace(config(), opened=engines.Engine)):
        assert run(OnTheCardOfThisProcess(), [1, 2]) == [(1, os.getpid()), (2, os.getpid())]


def test_the_memory_of_other_machines_is_theirs_to_know():
    with pytest.raises(DataError):
        check_memory(1e18, "ward", "a", 100)
    with in_force(replace(config(), opened=engines.Engine)):
        check_memory(1e18, "ward", "a", 100)


def test_an_engine_is_left_where_another_is_set(monkeypatch):
    class Noting:
        def close(self):
            left.append(self)

    left, opened = [], [Noting(), Noting()]
    engines_to_open = iter(opened)
    monkeypatch.setattr(engines, "open_engine", lambda engine: next(engines_to_open))
    cr.set_config(engine="first")
    try:
        with cr.config_context(engine="second"), cr.config_context(progress=False):
            assert config().opened is opened[1]
        assert (left, config().opened) == (opened[1:], opened[0])
    finally:
        cr.set_config(engine=None)
    assert left == opened[::-1]


class Numbers(Plan[int]):
    """A plan whose replicates are their numbers."""

    def replicate(self, number):
        return number


class Forgetful(engines.Engine):
    """Has workers, but none that could hold the studies."""

    name = "a forgetful engine"

    def n_slots(self):
        return 2

    def place(self, plan):
        raise engines.Vanished

    submit = ended = collect = None

    def cancel(self, tasks):
        assert not tasks


def test_studies_that_never_arrive_are_an_error(monkeypatch):
    monkeypatch.setattr(engines, "LOOKED_EVERY", 0.0)
    with refused(EngineLost):
        list(engines.Dispatch(Forgetful(), Numbers(), range(3), Run(1, 1)).outcomes())
