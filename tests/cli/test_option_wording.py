"""The library's sentences in terms of options."""

from __future__ import annotations

import inspect

import pytest

import clustrep as cr
from clustrep.cli.console import in_options
from clustrep.cli.program import clustrep
from clustrep.errors import ClustrepError, DataError, DataWarning, ParameterError
from clustrep.text import argument, option

RUN = clustrep.commands["run"]


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (f"Use {argument('label', 'x')} or {argument('label', False)}.", "Use --label 'x' or --no-label."),
        (f"use {argument('header', True)}, or {argument('header', False)}", "use --header, or --no-header"),
        (
            f"use {argument('transpose', ['a', 'b c'])}.",
            "use --transpose-only a --transpose-only 'b c'.",
        ),
        (f"leave {argument('transpose', True)} out", "leave --transpose out"),
        ("use " + argument("label", 'it is "x"') + ", then", "use --label 'it is \"x\"', then"),
        ("use " + argument("label", "it's") + ", then", "use --label 'it'\"'\"'s', then"),
        (f"compare with {argument('null', 'copula')}, too", "compare with --null 'copula', too"),
        (f"{argument('rep', 'X')} is for h5ad files", "--rep 'X' is for h5ad files"),
        (f"{argument('study_key', 'donor')} is for h5ad files", "--study-key 'donor' is for h5ad files"),
        (f"use as {option('rep')} one of X", "use as --rep one of X"),
        (f"not {argument('whiten', True)} nor {option('whiten')}", "not whiten=True nor whiten"),  # no option of run
    ],
)
@pytest.mark.parametrize("kind", [DataError, DataWarning])
def test_arguments_are_options_here(sentence, told, kind):
    assert in_options(kind(sentence), RUN) == told


@pytest.mark.parametrize(
    ("command", "parameter", "told"),
    [
        ("run", "n_resamples", "--resamples"),
        ("test", "n_resamples", "--simulations"),
        ("run", "n_clusters", "--k"),
        ("run", "n_null", "--null-collections"),
        ("run", "rng", "--seed"),
        ("run", "n_jobs", "--jobs"),
        ("stability", "indices", "--index"),
        ("stability", "n_splits", "--splits"),
        ("stability", "n_neighbors", "n_neighbors"),  # no option stands for it
    ],
)
def test_parameters_are_options_of_the_command(command, parameter, told):
    error = ParameterError(f"{parameter} must be above 0, got '{parameter} -3'.", parameter=parameter)
    assert in_options(error, clustrep.commands[command]) == f"{told} must be above 0, got '{parameter} -3'."


@pytest.mark.parametrize(
    "written",
    [
        "n_clusters.csv",
        "label=False.csv",
        "header=True",
        "scale=2.csv",
        "rep='X'",
        "kmeans:n_clusters=3",
        "n_resamples",
    ],
)
def test_what_the_user_wrote_stays(written):
    for sentence in (f"There is no file {written}.", f"{written} is empty.", f"Study {written!r} has 1 sample."):
        assert in_options(DataError(sentence), RUN) == sentence
    error = ParameterError(f"{written} is for delimited text.", parameter=written)
    assert in_options(error, RUN) == str(error)
    advice = DataError(f"{written} is turned: use {argument('label', written)}.")
    assert in_options(advice, RUN).startswith(f"{written} is turned: use --label ")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda folder: cr.Studies.read("alpha.csv", label=""), "--label must be the name of a column, got ''."),
        (lambda folder: cr.Studies.read("alpha.csv", rep=""), "--rep must be a name, got ''."),
        (
            lambda folder: cr.Studies.read("alpha.csv", rep="x"),
            "--rep 'x' is for h5ad files and Zarr stores, and there",
        ),
        (
            lambda folder: cr.Studies.read("alpha.csv"),
            "or use --label 'subtype' if that is the samples' known class, --study-key",
        ),
        (
            lambda folder: cr.stability.cluster_test([[0.0], [1.0], [3.0]], n_resamples=0),
            "--resamples must be a positive integer, got 0.",
        ),
    ],
    ids=["label", "no name", "rep", "advice", "number"],
)
def test_errors_of_the_library_are_told_in_options(call, told, folder):
    with pytest.raises(ClustrepError) as caught:
        call(folder)
    assert told in in_options(caught.value, RUN)


ANALYSIS = [cr.analyse, cr.RunOptions, cr.Studies.read, cr.Studies.normalised, cr.Studies.scaled]
# What only the command line knows.
FRONT_END = {
    *("studies", "features", "no_label", "transpose_only", "clusterer"),
    *("figures", "out", "force", "allow_failures", "config", "json", "quiet", "no_samples", "shard"),
    *("device", "neighbours", "resolution", "write_h5ad", "annotations"),
    # Steps of a pipeline, the context and the figures of the library.
    *("embed", "impute", "engine", "embedding"),
}


@pytest.mark.parametrize(
    ("command", "functions"),
    [
        ("run", [*ANALYSIS, cr.results.Analysis.annotated]),
        ("local", ANALYSIS),
        ("demo", [cr.analyse, cr.RunOptions]),
        ("stability", [cr.stability.validate, cr.Studies.read, cr.Studies.normalised, cr.Studies.scaled]),
        ("test", [cr.stability.cluster_test, cr.Studies.read, cr.Studies.normalised, cr.Studies.scaled]),
        ("inspect", [cr.analyse, cr.Studies.read, cr.Studies.normalised, cr.Studies.scaled]),
    ],
)
def test_options_have_the_names_of_the_librarys_parameters(command, functions):
    parameters = {name for function in functions for name in inspect.signature(function).parameters}
    assert {param.name for param in clustrep.commands[command].params} - FRONT_END <= parameters
