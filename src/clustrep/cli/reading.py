"""Lists of features, and what can be said of files before anything is computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clustrep import Studies
from clustrep._validation import listing, plural
from clustrep.cli.console import in_options
from clustrep.errors import ClustrepError, DataError, DataWarning, warn


def select_features(studies: Studies, path: Path) -> Studies:
    """Keep the features that a file lists, as far as all studies have them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(f"The list of features {path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DataError(f"The list of features {path} is not text in UTF-8.") from None
    wanted = list(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#")))
    if not wanted:
        raise DataError(f"The list of features {path} is empty: write one name on each line.")
    known = set(studies.features)
    there = [name for name in wanted if name in known]
    if not there:
        raise DataError(
            f"None of the {plural(len(wanted), 'feature')} that {path} lists ({listing(wanted, 3)}) is shared by the "
            f"studies, which have {listing(studies.features, 3)}."
        )
    if len(there) < len(wanted):
        lost = [name for name in wanted if name not in known]
        warn(f"{plural(len(lost), 'feature')} of {path} are not in all studies: {listing(lost)}.", DataWarning)
    return studies.select(there)


def inspection(paths: Sequence[Path], read: Callable[[Sequence[Path]], Studies]) -> dict[str, Any]:
    """Read every file by itself, then all together, and collect what is wrong."""
    files: list[dict[str, Any]] = []
    problems: list[str] = []
    suspicions: list[str] = []
    for path in paths:
        found, problem = _attempt(read, [path], suspicions)
        if found is None:
            problems.append(problem)
            files.append({"file": str(path), "problem": problem})
            continue
        files += [
            {
                "file": str(path),
                "study": name,
                "samples": len(study),
                "features": len(study.features),
                "first_samples": list(study.samples[:3]),
                "first_features": list(study.features[:3]),
                "known_labels": None if study.labels is None else sorted({str(label) for label in study.labels}),
            }
            for name, study in found.items()
        ]
    shared = None
    if not problems and len(paths) > 1:
        together, problem = _attempt(read, paths, suspicions)
        if together is None:
            problems.append(problem)
        else:
            shared = {"features": len(together.features), "dropped": {k: len(v) for k, v in together.dropped.items()}}
    return {"files": files, "shared": shared, "suspicions": list(dict.fromkeys(suspicions)), "problems": problems}


def _attempt(
    read: Callable[[Sequence[Path]], Studies], paths: Sequence[Path], suspicions: list[str]
) -> tuple[Studies | None, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            return read(paths), ""
        except ClustrepError as error:
            return None, in_options(str(error))
        finally:
            suspicions += [in_options(str(one.message)) for one in caught if issubclass(one.category, DataWarning)]


def told(found: dict[str, Any]) -> str:
    """Write an inspection as text."""
    lines = []
    for one in found["files"]:
        if "problem" in one:
            lines.append(f"{one['file']}\n  can't be used: {one['problem']}")
            continue
        lines.append(
            f"{one['file']}\n  study {one['study']}: {plural(one['samples'], 'sample')} "
            f"({listing(one['first_samples'])}, …), {plural(one['features'], 'feature')} "
            f"({listing(one['first_features'])}, …)"
        )
        if one["known_labels"]:
            lines.append(f"  known labels {listing(one['known_labels'])}")
    if found["shared"] is not None:
        lines.append(f"Together\n  {plural(found['shared']['features'], 'shared feature')}")
    lines += [f"  look at this: {one}" for one in found["suspicions"]]
    own = {one.get("problem") for one in found["files"]}
    lines += [f"  can't be used together: {one}" for one in found["problems"] if one not in own]
    return "\n".join(lines)
