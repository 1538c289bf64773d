"""Options, and the values that they take."""

from __future__ import annotations

import importlib
import importlib.util

import pytest
from tests.cli.support import PAIR, RUN, invoke

from clustrep.agreement.agreements import AGREEMENTS
from clustrep.agreement.cluster_indices import INDICES
from clustrep.agreement.contingency import RULES
from clustrep.cli.program import clustrep
from clustrep.data.probes import PROBES
from clustrep.data.study import NORMALISATIONS
from clustrep.data.values import AUTO
from clustrep.null.models import NULLS, UNIMODAL
from clustrep.plots.coordinates import EMBEDDINGS


def test_a_device_that_is_not_there_is_named_by_its_option(folder):
    if importlib.util.find_spec("torch") is not None and importlib.import_module("torch").cuda.is_available():
        pytest.skip("a GPU is there")
    clustered = ["run", *PAIR, "--k", "2", "--label", "subtype", "--clusterer", "kmeans", "--device", "cuda"]
    assert "--device 'cuda' needs" in invoke(*clustered, code=2).stderr


def test_no_jobs_are_no_choice(folder):
    assert "--jobs" in invoke(*RUN, "--jobs", "0", code=2).stderr


@pytest.mark.parametrize(
    ("text", "numbers"), [("4", (4,)), ("2:4", (2, 3, 4)), ("2,5,3", (2, 5, 3)), ("2:3,3:4, 9", (2, 3, 4, 9))]
)
def test_numbers_of_clusters_as_they_are_written(text, numbers):
    context = clustrep.commands["run"].make_context("run", ["a", "b", "--k", text])
    assert context.params["n_clusters"] == numbers


def test_the_agreement_that_decides_is_corrected_for_chance(folder):
    assert (
        "the first --agreement decides, and must be adjusted for chance: ari or ami"
        in invoke(*RUN, "--agreement", "ri,ari", code=2).stderr
    )


def test_every_agreement_and_every_index_is_accepted():
    def accepted(command, option):
        (words,) = [param for param in clustrep.commands[command].params if param.opts == [option]]
        return words.type.convert(",".join(words.type.accepted()), words, None)

    assert accepted("run", "--agreement") == tuple(AGREEMENTS)
    assert accepted("stability", "--index") == tuple(INDICES)


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--null", {UNIMODAL, *NULLS, "none"}),
        ("--embedding", EMBEDDINGS),
        ("--noise", tuple(RULES)),
        ("--probes", PROBES),
        ("--normalise", NORMALISATIONS),
    ],
)
def test_choices_are_those_of_the_library(option, names):
    (choice,) = [param for param in clustrep.commands["run"].params if param.opts == [option]]
    assert set(choice.type.choices) == set(names)


@pytest.mark.parametrize(("command", "option"), [("run", "--agreement"), ("stability", "--index")])
def test_help_lists_the_words_that_are_accepted(command, option):
    shown = " ".join(invoke(command, "--help").stdout.split())
    (words,) = [param for param in clustrep.commands[command].params if param.opts == [option]]
    assert f"Accepted: {', '.join(words.type.accepted())}." in shown


def test_only_an_analysis_decides_how_to_scale():
    """Its own word is the default of `run`; the other commands know it not."""
    scales = {
        name: param for name, command in clustrep.commands.items() for param in command.params if param.name == "scale"
    }
    assert {"run", "local", "valleys", "inspect"} <= set(scales)
    assert {name for name, param in scales.items() if AUTO in getattr(param.type, "words", ())} == {"run"}
    assert {name: param.default for name, param in scales.items() if param.default != "none"} == {"run": AUTO}
