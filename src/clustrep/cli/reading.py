"""Lists of features, and what can be said of files before anything is computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clustrep import Studies, Study
from clustrep.cli.console import in_options
from clustrep.errors import ClustrepError, DataError, DataWarning, warn
from clustrep.studies.readers.source import study_names
from clustrep.text import listing, plural


def select_features(studies: Studies, path: Path) -> Studies:
    """Keep the features that a file lists, as far as all studies have them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(f"The list of features {path} can't be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DataError(
            f"The list of features {path} is not text in UTF-8: save it again with that encoding."
        ) from None
    wanted = list(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#")))
    if not wanted:
        raise DataError(f"The list of features {path} is empty: write one name on each line.")
    known = set(studies.features)
    there = [name for name in wanted if name in known]
    if not there:
        raise DataError(
            f"None of the {plural(len(wanted), 'feature')} that {path} lists ({listing(wanted, 3)}) is shared by the "
            f"studies, which have {listing(studies.features, 3)}: write one name on each line."
        )
    if len(there) < len(wanted):
        lost = [name for name in wanted if name not in known]
        are = "is" if len(lost) == 1 else "are"
        warn(f"{plural(len(lost), 'feature')} of {path} {are} not in all studies: {listing(lost)}.", DataWarning)
    return studies.select(there)


def inspection(
    paths: Sequence[Path], chosen: Mapping[str, Any], read: Callable[[dict[str, Any]], Studies]
) -> dict[str, Any]:
    """Read all files together; where that fails, each by itself, to say with which of them something is wrong."""
    suspicions: list[str] = []
    together, problem = _attempt(read, {**chosen, "studies": paths}, suspicions)
    if together is not None:
        dropped = {name: len(lost) for name, lost in together.dropped.items()}
        return {
            "files": [_about(study, dropped[name]) for name, study in together.items()],
            "shared": {"features": len(together.features), "dropped": dropped},
            "suspicions": list(dict.fromkeys(suspicions)),
            "problems": [],
        }
    files: list[dict[str, Any]] = []
    problems: list[str] = []
    for path, name in zip(paths, _names(paths), strict=True):
        turned = [one for one in chosen["transpose_only"] if one == name]
        alone = {**chosen, "studies": [path], "transpose_only": turned}
        found, own = _attempt(read, alone, suspicions)
        if found is None:
            problems.append(own)
            files.append({"file": str(path), "problem": own})
        else:
            files += [{"file": str(path), **_about(study, 0)} for study in found.values()]
    if problem not in problems:
        problems.append(problem)
    return {"files": files, "shared": None, "suspicions": list(dict.fromkeys(suspicions)), "problems": problems}


def _about(study: Study, n_dropped: int) -> dict[str, Any]:
    return {
        "study": study.name,
        "samples": len(study),
        "features": len(study.features) + n_dropped,
        "first_samples": list(study.samples[:3]),
        "first_features": list(study.features[:3]),
        "known_labels": None if study.labels is None else sorted({str(label) for label in study.labels}),
    }


def _names(paths: Sequence[Path]) -> list[str]:
    try:
        return study_names(paths)
    except ClustrepError:
        return [path.stem for path in paths]


def _attempt(
    read: Callable[[dict[str, Any]], Studies], chosen: dict[str, Any], suspicions: list[str]
) -> tuple[Studies | None, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            return read(chosen), ""
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
            f"study {one['study']}: {plural(one['samples'], 'sample')} "
            f"({_first(one['first_samples'], one['samples'])}), {plural(one['features'], 'feature')} "
            f"({_first(one['first_features'], one['features'])})"
        )
        if one["known_labels"]:
            lines.append(f"  known labels {listing(one['known_labels'])}")
    if found["shared"] is not None:
        lines.append(plural(found["shared"]["features"], "shared feature"))
    lines += [f"look at this: {one}" for one in found["suspicions"]]
    own = {one.get("problem") for one in found["files"]}
    lines += [f"can't be used together: {one}" for one in found["problems"] if one not in own]
    return "\n".join(lines)


def _first(names: Sequence[str], count: int) -> str:
    return listing(names) + (", …" if count > len(names) else "")
