"""Claims of the paper: what a folder's claims.toml says of them, and what came out."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paper import verdicts
from paper.store import Facts
from paper.verdicts import Part, Verdict

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Finding:
    """What the numbers say of a claim.

    Parameters
    ----------
    written, published : sequence of Part, optional
        The parts of the experiment as the text has it, and as the published files come from; None where the claim has
        no such side.
    numbers : mapping
        What the sentences in claims.toml name.
    opposite : sequence of Part
        The parts of the claim the other way round, for what may be a misprint.
    """

    written: Sequence[Part] | None
    published: Sequence[Part] | None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    opposite: Sequence[Part] = ()


@dataclass(frozen=True)
class Claim:
    """One claim, with both verdicts.

    Parameters
    ----------
    id : str
        Its name, folder and key.
    where, line, quote : str, int, str
        Section, line of the paper's source, and the paper's own words.
    short : str
        The claim in a few words.
    asks : str
        What had to be the case.
    printed, ours_written, ours_published, sentence : str
        The paper's number, ours on both sides, and what explains the verdicts.
    written, published : Verdict
        As the text has it; as the published files come from.
    """

    id: str
    where: str
    line: int
    quote: str
    short: str
    asks: str
    kind: str
    printed: str
    ours_written: str
    ours_published: str
    sentence: str
    written: Verdict
    published: Verdict
    departure: str = ""
    because: str = ""
    reason: str = ""
    front: bool = False
    headline: bool = False
    remark: bool = False
    parts: tuple[str, ...] = ()
    parts_published: tuple[str, ...] = ()
    exceptions: str = ""
    exceptions_published: str = ""


def described(name: str) -> dict[str, dict[str, Any]]:
    """Return what a folder's claims.toml says, by the claims' keys, in order."""
    return tomllib.loads((HERE / name / "claims.toml").read_text(encoding="utf-8"))


def judged(name: str, facts: Facts, *, quick: bool) -> list[Claim]:
    """Judge all claims of an experiment by its facts; one without a finding was not run."""
    findings = importlib.import_module(f"paper.{name}.claims").findings(facts)
    texts = described(name)
    if unknown := set(findings) - set(texts):
        raise ValueError(f"paper/{name}/claims.toml lacks {sorted(unknown)}")
    return [claim_of(f"{name}.{key}", text, findings.get(key), quick=quick) for key, text in texts.items()]


def not_run(name: str) -> list[Claim]:
    """Return the claims of an experiment that was not run."""
    return [claim_of(f"{name}.{key}", text, None, quick=False) for key, text in described(name).items()]


def claim_of(id_: str, text: Mapping[str, Any], finding: Finding | None, *, quick: bool) -> Claim:
    """Join what is written of a claim with what came out."""
    kind, static = (
        text.get("kind", "all"),
        {key: text.get(key, "") for key in ("departure", "because", "reason", "printed")},
    )
    common: dict[str, Any] = {key: text[key] for key in ("where", "line", "quote", "short")}
    common |= static | {"kind": kind, "front": text.get("front", False), "headline": text.get("headline", False)}
    common["remark"] = text.get("remark", False)
    asks = text["asks"].format(**{key: value for key, value in vars(verdicts).items() if key.isupper()})
    if finding is None:
        nothing = {"ours_written": "", "ours_published": "", "sentence": ""}
        return Claim(id_, asks=asks, **common, **nothing, written=Verdict.NOT_RUN, published=Verdict.NOT_RUN)
    only_full = quick and text.get("needs_full", False)
    written, published = (
        _verdict(parts, kind, quick=quick, only_full=only_full) for parts in (finding.written, finding.published)
    )
    if written == Verdict.FAILS and finding.opposite and verdicts.misprint(finding.opposite, quick=quick):
        written = Verdict.MISPRINT
        published = Verdict.MISPRINT if published == Verdict.FAILS else published
    ours = {
        f"ours_{side}": text.get(side, "").format(**finding.numbers) if parts is not None else ""
        for side, parts in (("written", finding.written), ("published", finding.published))
    }
    return Claim(
        id_,
        asks=asks,
        **common,
        **ours,
        sentence=text["sentence"].format(**finding.numbers),
        written=written,
        published=published,
        parts=tuple(map(str, finding.written or ())),
        parts_published=tuple(map(str, finding.published or ())),
        exceptions=_named(finding.written, written),
        exceptions_published=_named(finding.published, published),
    )


def _verdict(parts: Sequence[Part] | None, kind: str, *, quick: bool, only_full: bool) -> Verdict:
    if parts is None:
        return Verdict.NONE
    if only_full and parts:
        return Verdict.UNSETTLED
    return verdicts.judge(parts, kind, quick=quick)


def _named(parts: Sequence[Part] | None, verdict: Verdict) -> str:
    return ", ".join(verdicts.exceptions(parts or ())) if verdict == Verdict.EXCEPTION else ""
