"""The page RESULTS.md and the pages in details/, from templates."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from paper import verdicts
from paper.claims import Claim
from paper.verdicts import FALLS, STANDS, SYMBOLS, Verdict

WIDTH = 118
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # Markdown
)


@dataclass(frozen=True)
class Section:
    """What the page says of an experiment."""

    name: str
    title: str
    claims: list[Claim]
    figures: Mapping[str, str]
    quick: bool = False

    @property
    def counted(self) -> list[Claim]:
        """The paper's claims, without our remarks."""
        return [claim for claim in self.claims if not claim.remark]

    @property
    def front(self) -> list[Claim]:
        """Those on the front page."""
        return [claim for claim in self.counted if claim.front]

    def symbols(self, side: str) -> str:
        """One symbol for each claim."""
        return "".join(SYMBOLS[getattr(claim, side)] for claim in self.counted)

    def pairs_of_figures(self) -> list[tuple[str, str]]:
        """Figures of the front page, as published and as written."""
        keys = [key for key in self.figures if key.startswith("written")]
        return [(self.figures[key.replace("written", "published")], self.figures[key]) for key in keys]

    def other_figures(self) -> list[str]:
        """Figures of the page of details."""
        return [name for key, name in self.figures.items() if key.startswith("details")]


def write(
    out: Path,
    titles: Mapping[str, str],
    claims: Mapping[str, list[Claim]],
    figures: Mapping[str, Mapping[str, str]],
    small: Sequence[str] = (),
) -> None:
    """Write the page and its details; small are the experiments that were run at quick sizes."""
    sections = [
        Section(name, title, claims[name], figures.get(name, {}), name in small) for name, title in titles.items()
    ]
    write_text(out / "RESULTS.md", front_page(sections))
    for section in sections:
        text = TEMPLATES.get_template("details.md").render(section=section, symbols=SYMBOLS, cell=cell)
        write_text(out / "details" / f"{section.name}.md", text)


def front_page(sections: list[Section]) -> str:
    """Write the front page."""
    every = [claim for section in sections for claim in section.counted]
    return TEMPLATES.get_template("RESULTS.md").render(
        sections=sections,
        small=[section.name for section in sections if section.quick],
        absent=[s.name for s in sections if all(claim.written == Verdict.NOT_RUN for claim in s.claims)],
        cell=cell,
        symbols=SYMBOLS,
        scale=list(Verdict),
        head=headlines(every),
        n_claims=len(every),
        counts={side: Counter(getattr(claim, side) for claim in every) for side in ("written", "published")},
        rules=verdicts,
        summary=summary,
        shown=shown,
    )


def headlines(claims: list[Claim]) -> list[str]:
    """What stands, what stands only as published and why, what fails: of the claims that the story is about."""
    head = [claim for claim in claims if claim.headline and claim.written != Verdict.NOT_RUN]
    stands = [claim for claim in head if claim.written in STANDS]
    only = [claim for claim in head if claim not in stands and claim.published in STANDS]
    fails = [claim for claim in head if claim.written in FALLS and claim not in only]
    unsettled = [claim for claim in head if claim.written == Verdict.UNSETTLED and claim not in only]
    rest = [claim for claim in head if claim not in stands + only + fails + unsettled]
    groups = {
        "What stands": [claim.short for claim in stands],
        "What stands only as published, and why": [f"{claim.short} ({claim.because})" for claim in only],
        "What fails": [claim.short for claim in fails],
        "What is between": [f"{claim.short} ({claim.written})" for claim in rest],
        "What small sizes can't settle": [claim.short for claim in unsettled],
    }
    texts = [f"- **{words}:** {'; '.join(names)}." for words, names in groups.items() if names]
    options: Any = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}
    return [textwrap.fill(text, WIDTH, **options) for text in texts] or ["Nothing was run yet."]


def summary(counts: Counter[Verdict]) -> str:
    """Write how many claims have which verdict."""
    return ", ".join(
        f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict] and verdict != Verdict.NONE
    )


def shown(verdict: Verdict, exceptions: str) -> str:
    """Write a verdict with its symbol and its exceptions."""
    named = f" ({cell(exceptions)})" if exceptions else ""
    return SYMBOLS[verdict] if verdict == Verdict.NONE else f"{SYMBOLS[verdict]} {verdict}{named}"


def cell(text: Any) -> str:
    """Write a text into a cell of a table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def write_text(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".writing")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
