"""The parts of the exam about batch effects and public data: what is right is counted as right."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest
from exam import batches, real
from exam.factorial import COMPOSITIONS, SCALES, SETTINGS, SHIFTS, Marks, design, lone_separation, marks_of

STATUSES = ("found", "found", "found", "not found")


def table_of(*statuses):
    return pd.DataFrame({"cluster": ["A", "A", "B", "B"], "study": ["s1", "s2", "s1", "s2"], "status": statuses})


def test_entries_are_judged_by_the_class_of_most_samples():
    truth = {"s1": [0] * 20 + [1] * 20, "s2": [0] * 30}
    labels = {"s1": ["A"] * 20 + ["B"] * 20, "s2": ["A"] * 30}
    marks = marks_of("separated", table_of("found", "found", "found", "not found"), labels, truth)
    assert marks == Marks(4, 4, 0, 0, 0, right_number=True, separated=True, lone=True)
    marks = marks_of("separated", table_of("found", "not found", "found", "undetermined"), labels, truth)
    assert marks == Marks(2, 4, 1, 1, 0, right_number=True, separated=True, lone=True)
    both = {"s1": ["A"] * 40, "s2": ["A"] * 30}
    assert marks_of("separated", table_of(*STATUSES)[:2], both, truth).missed == 1


def test_unmatched_samples_name_no_cluster():
    truth = {"s1": [0] * 10 + [1] * 10, "s2": [0] * 50}
    labels = {"s1": ["A"] * 10 + ["B"] * 10, "s2": ["?"] * 50}
    marks = marks_of("separated", table_of("found", "undetermined", "found", "undetermined"), labels, truth)
    assert (marks.right, marks.entries, marks.undetermined, marks.missed) == (2, 4, 2, 0)


def test_designs_depend_on_setting_and_number_alone():
    for setting in SETTINGS[::13]:
        first, again, other = design(setting, 3), design(setting, 3), design(setting, 4)
        assert all(np.array_equal(first.studies[name], again.studies[name]) for name in first.studies)
        assert first.studies["s1"].shape != other.studies["s1"].shape
        assert {name: len(X) for name, X in first.studies.items()} == {name: len(y) for name, y in first.truth.items()}


def test_the_quick_form_has_every_composition_shift_and_scale():
    quick = [SETTINGS[i] for i in batches.QUICK_SETTINGS]
    assert {setting.composition for setting in quick} == set(COMPOSITIONS)
    assert {setting.shift for setting in quick} == set(SHIFTS)
    assert {setting.scale for setting in quick} == set(SCALES)
    full, small = (batches.tasks_of(range(2), "kmeans", quick=quick) for quick in (False, True))
    assert set(small) <= set(full)
    assert len(full) == 2 * len(SETTINGS) + 2 * len(SETTINGS) // len(SHIFTS) + 3 * 20 + 5 + (2 + 3) * 48


def test_the_last_batch_lacks_a_type():
    studies, truth = batches.batches(0.1)
    assert [len(np.unique(kinds)) for kinds in truth.values()] == [5, 5, 5, 4]
    assert {X.shape[1] for X in studies.values()} == {15}
    assert sum(len(X) for X in studies.values()) == 1600


def test_rows_are_sums_over_data_sets():
    answers = [
        batches.Answer(
            batches.Task(batches.FACTORIAL, i, 0, "kmeans"),
            True,
            2,
            Marks(9, 10, 1, 0, 1, right_number=i == 0, separated=True, lone=i == 0),
        )
        for i in (0, 8)  # the second is cluster-specific, in two features
    ]
    both = batches.row("both", answers)
    assert both == "| both | 2 | 20 | 90.0 % (69.9–97.2) | 10.0 % (2.8–30.1) | 0.0 % | 2 | 50.0 % | 100.0 % | 1 of 2 |"
    rows = batches.factorial_rows(answers)
    assert rows[0].startswith("| **all** | 1 | 10 |")
    assert rows[-1].startswith("| cluster-specific shift, two features | 1 | 10 |")


def test_entries_that_depend_on_each_other_have_wider_intervals():
    even, uneven = batches.with_error([9, 9, 9, 9], [10] * 4), batches.with_error([10, 10, 10, 6], [10] * 4)
    assert even == "90.0 % (76.9–96.0)"  # Wilson's interval of 36 of 40
    low, high = (float(number) for number in uneven.partition("(")[2].rstrip(")").split("–"))
    assert low < 76.9
    assert high > 96.0


def test_every_clusterer_analyses_the_same_data_sets(tmp_path):
    chosen = batches.spread(range(5, 7), 20)
    assert len(set(chosen)) == 20
    assert {SETTINGS[i].composition for i, _ in chosen} == set(COMPOSITIONS)
    assert {SETTINGS[i].shift for i, _ in chosen} == set(SHIFTS)
    tasks = batches.tasks_of(range(5, 7), "kmeans", quick=False)
    for name in ("ward", "gmm", "leiden"):
        mine = [task for task in tasks if task.clusterer == name]
        assert [(task.what, task.number) for task in mine if task.section == batches.OTHERS] == chosen
        assert {task.number for task in mine if task.section == batches.UNIMODAL} == {5}
        assert len(mine) == len(chosen) + 48


def test_a_lone_cluster_has_a_separation():
    (lone,) = [i for i, s in enumerate(SETTINGS) if (s.composition, s.shift, s.scale) == ("one alone", "3", 2.0)]
    for number in range(5):
        drawn = design(SETTINGS[lone], number)
        assert lone_separation(drawn) > 0.95 * drawn.separation  # variances within clusters are 1 at most
    assert np.isnan(lone_separation(design(SETTINGS[0], 0)))


def test_kept_answers_are_not_computed_again(tmp_path, monkeypatch):
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    arguments = [str(page), "--quick", "--only", "plane", "--keep", str(kept)]
    assert batches.main(arguments) == 0
    first = page.read_text(encoding="utf-8")
    monkeypatch.setattr(batches, "answer_of", None)
    assert batches.main(arguments) == 0
    assert page.read_text(encoding="utf-8") == first


def test_one_data_set_of_every_section():
    unimodal = batches.answer_of(batches.Task(batches.UNIMODAL, "Gaussian, round, 4 features", 0, "kmeans"))
    clusters = batches.answer_of(batches.Task(batches.FACTORIAL, 14, 0, "kmeans"))
    assert not unimodal.separated
    assert clusters.marks.right == clusters.marks.entries
    assert "| unimodal, kmeans | 1 | 1 | 0 | – |" in batches.page([unimodal, clusters], "kmeans")
    assert batches.numbers_of("3:5") == range(3, 5)


# public data sets


def test_expected_answers_are_complete():
    content = tomllib.loads(real.EXPECTED.read_text(encoding="utf-8"))
    assert str(content["frozen"]) == "2026-11-18"
    expected = real.expected_sets()
    assert len({each.folder for each in expected}) == 10
    assert len({each.name for each in expected}) == len(expected)
    verdicts = {"separated", "continuous structure", "no evidence of clusters", "inconclusive"}
    assert all(set(each.verdicts) <= verdicts for each in expected)


def test_a_row_is_right_if_all_of_it_is():
    expected = real.Expected("a set", "folder", ("s1",), ("separated",), clusters=(2, 3), statuses=True)
    right = Marks(19, 20, 0, 0, 0, right_number=True, separated=True, lone=None)
    wrong = Marks(18, 20, 0, 0, 0, right_number=True, separated=True, lone=None)
    assert real.Row(expected, "separated", 3, right, 1.0).right
    assert not real.Row(expected, "separated", 3, wrong, 1.0).right
    assert not real.Row(expected, "separated", 4, right, 1.0).right
    assert not real.Row(expected, "inconclusive", 2, right, 1.0).right
    text = real.page({"kmeans": [real.Row(expected, "inconclusive", 4, wrong, 1.0)]})
    assert "| **inconclusive** (right: separated) | **4** (right: 2 or 3) | **18 of 20** | **no** |" in text


def test_public_data_sets_are_skipped_visibly(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("CLUSTREP_DATA", raising=False)
    path = tmp_path / "real.md"
    assert real.main([str(path), "--quick"]) == 0
    assert "skipped" in capsys.readouterr().out
    assert "skipped" in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_geyser_has_two_clusters(data_folder):
    if not (data_folder / "real").is_dir():
        pytest.skip("CLUSTREP_DATA has no folder `real`")
    (geyser,) = [each for each in real.expected_sets() if each.name == "geyser"]
    assert real.row_of(data_folder / "real", geyser, "kmeans", real.QUICK).right
