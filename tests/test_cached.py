"""Properties that are computed once, in threads that don't wait for each other."""

from __future__ import annotations

import ast
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import clustrep
from clustrep.cached import cached_property

PATIENCE = 60.0  # seconds, only to end a hang


@dataclass(frozen=True)
class Meeting:
    """Its value needs two threads that compute theirs at the same time."""

    barrier: threading.Barrier

    @cached_property
    def number(self) -> int:
        """When the thread came."""
        return self.barrier.wait(PATIENCE)


def test_threads_compute_the_values_of_different_objects_at_the_same_time():
    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        numbers = list(pool.map(lambda meeting: meeting.number, [Meeting(barrier), Meeting(barrier)]))
    assert sorted(numbers) == [0, 1]


def test_a_value_is_computed_once_and_the_property_keeps_its_description():
    class Counted:
        calls = 0

        @cached_property
        def value(self):
            """What it is."""
            self.calls += 1
            return object()

    counted = Counted()
    assert counted.value is counted.value
    assert counted.calls == 1
    assert vars(counted)["value"] is counted.value
    assert Counted.value.__doc__ == "What it is."


def test_nobody_takes_the_one_with_a_lock():
    sources = Path(clustrep.__file__).parent.rglob("*.py")
    imported = {
        path.stem
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "functools"
        for alias in node.names
        if alias.name == "cached_property"
    }
    assert imported == {"cached"}
