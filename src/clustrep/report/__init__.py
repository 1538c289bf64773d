"""Results → one page: facts → dict → template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import pandas as pd

from clustrep.cached import cached_property
from clustrep.files.saved import written_whole
from clustrep.report.facts import Facts, facts_of
from clustrep.report.figures import Figure
from clustrep.report.material import Material
from clustrep.report.render import by_study, clusters_text
from clustrep.text import notebook_html, printable


class Report:
    """One page about any results: the answer, a card for every cluster, figures with their tables, and the methods.

    Parameters
    ----------
    *results
        What `analyse` returned; or any of what `compare`, `replicability`, `local_replicability` (also the dict of
        several test studies), `null_reference`, `separation`, `validate`, `cluster_test` and the other functions
        returned.
    title : str, optional
        The page's title.
    warnings : sequence of str
        Further warnings for the page.

    See Also
    --------
    analyse : What to report, from studies to verdict.

    Notes
    -----
    The page of an analysis is a view of its findings and scores: it decides and computes nothing. The same results give
    the same bytes. No sample is named on it, so that it can be sent around.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Report
    >>> from clustrep.stability import cluster_test
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> Report(cluster_test(X, n_resamples=19, rng=0)).facts["verdict"][0]["kind"]
    'clusters'
    """

    def __init__(self, *results: Any, title: str | None = None, warnings: Sequence[str] = ()):
        material = Material.of(results)
        self._material = replace(material, warnings=(*material.warnings, *warnings))
        self._title = title

    @cached_property
    def _told(self) -> tuple[Facts, dict[str, Figure]]:
        return facts_of(self._material, self._title)

    @property
    def facts(self) -> Facts:
        """Everything that the report shows, in plain types: the answer, clusters, sections with tables, methods."""
        return self._told[0]

    def to_html(self) -> str:
        """Write the page: one file that needs no network, the same bytes for the same results."""
        from clustrep.report.render import to_html

        return to_html(*self._told)

    def to_markdown(self) -> str:
        """Write the same as Markdown, with figures described in words."""
        from clustrep.report.render import to_markdown

        return to_markdown(self.facts)

    def to_json(self) -> str:
        """Write the facts as JSON."""
        return json.dumps(self.facts, ensure_ascii=False, indent=2, allow_nan=False)

    def write_html(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        text = self.to_html()
        with written_whole(path) as stream:
            stream.write(text.encode())

    def _repr_html_(self) -> str:
        table = pd.DataFrame([{"cluster": card["cluster"], **by_study(card)} for card in self.facts["clusters"] or []])
        return notebook_html([item["text"] for item in self.facts["verdict"]], table)

    def __repr__(self) -> str:
        verdict, clusters, analysis = self.facts["verdict"], self.facts["clusters"], self._material.analysis
        lines = [printable(item["text"]) for item in verdict if item["kind"] != "next"]
        if clusters is not None:
            lines += ["", clusters_text(clusters), ""]
        if analysis is not None and analysis.tree is not None:
            lines += [repr(analysis.tree), ""]
        lines += [f"Next: {printable(item['text'])}" for item in verdict if item["kind"] == "next"]
        return "\n".join(lines)
