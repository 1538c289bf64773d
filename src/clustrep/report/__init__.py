"""Results → one page: facts → dict → template."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from clustrep.cached import cached_property
from clustrep.checks import check_flag
from clustrep.files.saved import written_whole
from clustrep.report.facts import Facts, facts_of
from clustrep.report.material import Material, text_of
from clustrep.text import printable


class Report:
    """One page about any results: the answer in sentences, charts, tables, and the methods.

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
    samples : bool
        Whether hover texts name samples. Leave names out of a page that is to be sent around.

    See Also
    --------
    analyse : What to report, from studies to verdict.

    Notes
    -----
    The page of an analysis is a view of its findings and scores: it decides and computes nothing. The same results give
    the same bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from clustrep import Report
    >>> from clustrep.stability import cluster_test
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> Report(cluster_test(X, n_resamples=19, rng=0)).facts["verdict"][0]["kind"]
    'clusters'
    """

    def __init__(self, *results: Any, title: str | None = None, warnings: Sequence[str] = (), samples: bool = True):
        material = Material.of(results)
        material = material if check_flag(samples, "samples") else material.unnamed()
        self._material = replace(material, warnings=(*material.warnings, *warnings))
        self._title = title

    @cached_property
    def facts(self) -> Facts:
        """Everything that the report shows, in plain types: the answer, sections with charts and tables, methods."""
        return facts_of(self._material, self._title)

    def to_html(self) -> str:
        """Write the page: one file that needs no network, the same bytes for the same results."""
        from clustrep.report.render import to_html

        return to_html(self.facts)

    def to_markdown(self) -> str:
        """Write the same as Markdown, with charts described in words."""
        from clustrep.report.render import to_markdown

        return to_markdown(self.facts)

    def to_json(self) -> str:
        """Write the facts as JSON, without the charts."""
        sections = [
            {key: value for key, value in section.items() if key != "charts"} for section in self.facts["sections"]
        ]
        return json.dumps({**self.facts, "sections": sections}, ensure_ascii=False, indent=2, allow_nan=False)

    def write_html(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        text = self.to_html()
        with written_whole(path) as stream:
            stream.write(text.encode())

    def __repr__(self) -> str:
        lines = [printable(item["text"]) for item in self.facts["verdict"] if item["kind"] != "next"]
        if self.facts["overview"] is not None:
            lines += ["", text_of(self.facts["overview"]), ""]
        if self._material.tree is not None:
            lines += [repr(self._material.tree), ""]
        lines += [f"Next: {printable(item['text'])}" for item in self.facts["verdict"] if item["kind"] == "next"]
        return "\n".join(lines)
