"""Errors and warnings: what they say, whom they blame, and that they arrive whole from other processes."""

from __future__ import annotations

import ast
import copy
import pickle
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import clustrep as cr
from clustrep.checks import check_integer, check_numbers
from clustrep.errors import ClustrepError, ClustrepWarning, DataError, DataWarning, ParameterError, warn
from clustrep.text import argument, at_command_line, option

SENTENCE = f"Use {argument('label', 'a b')} or {argument('label', False)}, and {option('rep')}."


def shouted(name, *values):
    return f"{name.upper()}({', '.join(map(repr, values))})"


def kinds(base):
    return [base, *(kind for below in base.__subclasses__() for kind in kinds(below))]


@pytest.mark.parametrize("kind", [*kinds(ClustrepError), *kinds(ClustrepWarning)])
def test_the_text_is_in_terms_of_python(kind):
    error = kind(SENTENCE)
    assert str(error) == "Use label='a b' or label=False, and rep."
    assert error.args == (str(error),)
    assert at_command_line(error.sentence, shouted) == "Use LABEL('a b') or LABEL(False), and REP()."


def test_a_sentence_without_marks_is_the_text():
    for text in ("There is no file label='x'.csv.", "{label}", "", "a\nb"):
        assert str(DataError(text)) == at_command_line(text, shouted) == text


def test_values_come_as_they_are():
    values = ["x", 'it\'s "x"\n', "\ufdd0\ufdd2", True, ["a", "b c"], 3]
    spelled = []
    sentence = " ".join(argument("name", value) for value in [*values, np.str_("x")])
    at_command_line(sentence, lambda _, value: spelled.append(value) or "")
    assert spelled == [*values, "x"]


@pytest.mark.parametrize("kind", [*kinds(ClustrepError), *kinds(ClustrepWarning)])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_copy_is_whole(kind, again):
    error = kind(SENTENCE, parameter="label") if kind is ParameterError else kind(SENTENCE)
    same = again(error)
    assert type(same) is kind
    assert (str(same), same.sentence, vars(same)) == (str(error), SENTENCE, vars(error))


@pytest.mark.parametrize(
    ("task", "parameter"),
    [
        (joblib.delayed(check_integer)(-3, "n_resamples"), "n_resamples"),
        (joblib.delayed(check_numbers)(pd.DataFrame({"type": ["a", "b"]}), "It", roles=("label",)), None),
    ],
    ids=["parameter", "sentence"],
)
def test_an_error_arrives_whole_from_another_process(task, parameter):
    function, arguments, options = task
    with pytest.raises(ClustrepError) as here:
        function(*arguments, **options)
    with pytest.raises(ClustrepError) as there:
        joblib.Parallel(n_jobs=2, backend="loky")([task] * 2)
    assert type(there.value) is type(here.value)
    assert (str(there.value), there.value.sentence) == (str(here.value), here.value.sentence)
    assert getattr(there.value, "parameter", None) == parameter


def test_filters_of_warnings_see_the_text():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="Use label='a b' or label=False")
        warn(SENTENCE, DataWarning)
        warn("Something else.", DataWarning)
    assert [str(warning.message) for warning in caught] == ["Something else."]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: cr.replicability(None, {"a": [[0.0], [1.0]], "b": [[0.0], [1.0]]}), "clusterer"),
        (lambda: cr.resampling.Bootstrap(distinct=3), "distinct"),
        (lambda: cr.Studies({"a": [[0.0], [1.0]]})["b"], "name"),
        (lambda: cr.Study([[0.0], [1.0]], "a", label=3), "label"),
        (lambda: cr.Study([[0.0], [1.0]], "a").select(["1", "1"]), "features"),
    ],
)
def test_errors_name_the_parameter(call, parameter):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.parameter == parameter


def test_every_error_about_a_parameter_says_which():
    """`parameter=None` where no argument of the call is to blame."""
    silent = [
        f"{path}:{node.lineno}"
        for path in Path(cr.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ParameterError"
        if "parameter" not in [keyword.arg for keyword in node.keywords]
    ]
    assert silent == []
