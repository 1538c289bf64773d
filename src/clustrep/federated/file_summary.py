"""What a file holds, in words: for the person who must approve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clustrep.federated.files import Shelf, SiteFunctions, SiteScores
from clustrep.federated.forms import FORMS
from clustrep.federated.inquiry import Inquiry, describe_written, resampling_of
from clustrep.fitting.parameters import describe
from clustrep.text import listing, plural, printable

REVEALS = (
    "For partners who trust each other: the numbers can reveal single samples (docs/federated.md). The file stores no "
    "rows, names or labels of samples."
)


def summary_of_functions(file: SiteFunctions) -> str:
    """Say what functions a file holds, how many numbers, and from how many samples each."""
    question = file.question
    shelves = [*file.shelves, *file.null_shelves]
    n_numbers = sum(shelf.n_numbers for shelf in shelves)
    n_bytes = sum(packed.stacked.nbytes for shelf in shelves for packed in shelf.arrays)
    lines = [
        f"Clustering functions of study {file.study!r} ({plural(file.n_samples, 'sample')}), format {file.version}",
        *_question_lines(question),
        f"Numbers: {n_numbers:,} in {_precision(file.rules)} precision, {n_bytes / 1e6:,.2f} MB before compression.",
        REVEALS,
    ]
    lines += [
        _shelf_line(name, written, shelf)
        for (name, written), shelf in zip(question.clusterers, file.shelves, strict=True)
    ]
    if file.null_shelves:
        n_null = sum(int((shelf.status == 0).sum()) for shelf in file.null_shelves)
        lines.append(f"Simulated data without clusters ({listing(question.null)}): {plural(n_null, 'function')}")
    return _as_text([*lines, *_rule_lines(file.rules), *_log_lines(file), f"SHA-256: {file.digest}"])


def _shelf_line(name: str, written: Any, shelf: Shelf) -> str:
    n_there = int(np.count_nonzero(shelf.status == 0))
    if not n_there:
        return f"  {name}, {describe_written(written)}: no function may leave the site"
    form = FORMS[shelf.form]
    sizes = f"from {', '.join(map(str, shelf.sizes))} samples in the study as it is, " if len(shelf.sizes) else ""
    return (
        f"  {name}, {describe_written(written)}: {plural(n_there, 'function')} of {len(shelf.status):,}, each "
        f"{form.described}; {shelf.n_numbers:,} numbers; {sizes}"
        f"at least {plural(shelf.smallest, 'sample')} behind every {form.of_group} of every function"
    )


def summary_of_scores(file: SiteScores) -> str:
    """Say what scores a file holds."""
    n_scores = int(np.isfinite(file.scores).sum())
    lines = [
        f"Scores at study {file.study!r} ({plural(file.n_samples, 'sample')}) of functions of "
        f"{listing(map(repr, file.trains))}, format {file.version}",
        *_question_lines(file.question),
        f"{n_scores:,} scores ({', '.join(file.agreements)}), "
        + ("not rounded" if file.decimals is None else f"rounded to {file.decimals} decimals")
        + ".",
        REVEALS,
        f"Scores of single clusters: {sum(int((table.sizes != 0).sum()) for table in file.clusters):,}; counts between "
        f"clusters: {sum(table.counts.size for table in file.gaps):,}; contingency tables: {len(file.tables):,}",
    ]
    return _as_text([*lines, *_rule_lines(file.rules), *_log_lines(file), f"SHA-256: {file.digest}"])


def _as_text(lines: Sequence[str]) -> str:
    """Join lines in which no text of a file can pass for another line, or change what a terminal shows."""
    return "\n".join(map(printable, lines))


def _question_lines(question: Inquiry) -> list[str]:
    units = f", units declared for {len(question.units):,}" if question.units else ""
    return [
        f"Question {question.fingerprint}: {plural(len(question.features), 'feature')} "
        f"({listing(question.features, 4)}), scaled by {question.scale}{units}; "
        f"{plural(question.n_resamples, 'resample')} by {describe(resampling_of(question.resampling))}, "
        f"seed {question.seed}",
    ]


def _precision(rules: Any) -> str:
    return str(rules["precision"])


def _rule_lines(rules: Any) -> list[str]:
    lines = [
        f"Rules: numbers of clusters of fewer than {plural(int(rules['min_cluster_size']), 'sample')} are withheld; "
        f"functions with smaller clusters: {rules['small']}"
    ]
    if rules["secret_draws"]:
        lines.append("Draws are secret: they do not follow from the seed. Functions of the full study use no draws")
    else:
        lines.append(
            "Draws follow from the seed and the study's name: others can tell which rows were drawn (docs/federated.md)"
        )
    return lines


def _log_lines(file: SiteFunctions | SiteScores) -> list[str]:
    entries = [f"  {entry}" for entry in file.disclosure_log]
    return ["Withheld or changed:", *entries] if entries else ["Withheld or changed: nothing"]
