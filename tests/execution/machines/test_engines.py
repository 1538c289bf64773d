"""Which engines there are, who takes them, and how blocks are cut."""

from __future__ import annotations

import inspect
import os

import pytest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.errors import DataError, EngineLost, ParameterError
from clustrep.execution import engines
from clustrep.execution.forecast import active_engine, check_memory
from clustrep.execution.run import Plan, run
from clustrep.execution.seeds import Run

RESAMPLING = [
    function
    for function in (getattr(cr, name) for name in cr.__all__)
    if inspect.isfunction(function) and "n_jobs" in inspect.signature(function).parameters
]


@pytest.mark.parametrize("function", RESAMPLING, ids=lambda function: function.__name__)
def test_whoever_takes_workers_takes_an_engine(function):
    parameter = inspect.signature(function).parameters["engine"]
    assert (parameter.default, parameter.kind) == (None, inspect.Parameter.KEYWORD_ONLY)
    assert hasattr(function, "__wrapped__")
    documented = [line for line in inspect.getdoc(function).splitlines() if "engine" in line.replace(",", "").split()]
    assert documented


@pytest.mark.parametrize("engine", ["spark", "dask", "dask://", "ray://", "", 3, object()])
def test_no_engine(engine, tables):
    with pytest.raises(ParameterError, match=r"engine must be None \(this machine\), a dask\.distributed\.Client"):
        cr.replicability(KMeans(2), tables, engine=engine, n_resamples=2)


@pytest.mark.parametrize("name", ["dask://host:1", "ray"])
def test_an_engine_that_is_not_installed(name, tables, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda package: None)
    with pytest.raises(ParameterError, match=rf"is not. Install clustrep\[{name.partition(':')[0]}\]"):
        cr.replicability(KMeans(2), tables, engine=name, n_resamples=2)


class OnTheCardOfThisProcess(Plan):
    """A plan that can't be sent anywhere."""

    here = True

    def replicate(self, number):
        return number, os.getpid()


def test_what_needs_a_device_of_this_process_stays_here():
    token = active_engine.set(engines.Engine)
    try:
        assert run(OnTheCardOfThisProcess(), [1, 2]) == [(1, os.getpid()), (2, os.getpid())]
    finally:
        active_engine.reset(token)


def test_the_memory_of_other_machines_is_theirs_to_know():
    with pytest.raises(DataError, match="needs about 1,000,000,000 GB of memory"):
        check_memory(1e18, "ward", "a", 100)
    token = active_engine.set(engines.Engine)
    try:
        check_memory(1e18, "ward", "a", 100)
    finally:
        active_engine.reset(token)


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
    with pytest.raises(EngineLost, match="could not be brought to the workers of a forgetful engine in 10 attempts"):
        list(engines.Dispatch(Forgetful(), Numbers(), range(3), Run(1, 1)).outcomes())
