"""The plain loops beside which TIMES.md puts the library."""

from __future__ import annotations

import pytest

from paper import plain_loops


@pytest.mark.filterwarnings("ignore")
def test_plain_loops_are_timed_on_a_part(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    sizes = plain_loops.Sizes(range(2, 5), 3, 20, range(2, 5), 60, 3, range(2, 5), 3, longest=0.05)
    _, line, *rows = plain_loops.ratios(sizes)
    assert len(rows) == 5
    assert {row.count("|") for row in rows} == {line.count("|")}
    assert not any("r15" in row for row in rows)
    for row in rows:
        *_, ratio, part, _ = row.split("|")
        assert float(ratio.replace(",", "")) >= 0
        assert 0 < float(part.strip().rstrip("%")) <= 100
