"""A folder of results: written whole or not at all, and no file of the user's is lost."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli.config_file import RUN_RECORD, config_values, digests
from clustrep.cli.console import BAD_DATA, USAGE, Failure, write_data, write_message
from clustrep.errors import ReplicateWarning, warn

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Report, Study

CONFIG = "config.toml"
RESULT = "result.npz"
DPI = 300


def check_folder(folder: Path, *, force: bool) -> None:
    """Check before the work begins that its results can be written."""
    existing = next(parent for parent in [folder, *folder.absolute().parents] if parent.exists())
    if not existing.is_dir():
        raise Failure(f"{existing} is a file: name a folder with --out.", USAGE)
    if existing == folder and any(folder.iterdir()):
        if not force:
            raise Failure(
                f"{folder} exists already: name another folder with --out, or replace it with --force.", USAGE
            )
        if "clustrep" not in _run_record(folder).get("versions", {}):
            raise Failure(f"{folder} holds no results of clustrep, so --force does not replace what is in it.", USAGE)
    if not os.access(existing, os.W_OK):
        raise Failure(f"{existing} can't be written to: name another folder with --out.", BAD_DATA)


class Results:
    """Files that are collected in a temporary folder and moved into their own together."""

    def __init__(self, folder: Path):
        self.folder = folder
        parent = folder if folder.is_dir() else folder.absolute().parent  # files can't be moved to another device
        parent.mkdir(parents=True, exist_ok=True)
        self._temporary = Path(tempfile.mkdtemp(prefix=".clustrep.", dir=parent))
        os.chmod(self._temporary, 0o777 & ~_umask())
        self._names: dict[str, str] = {}

    def __enter__(self) -> Results:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def path(self, *names: str) -> Path:
        """Return where to write a file."""
        path = self._temporary.joinpath(*names)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, name: str, text: str) -> None:
        """Write a text."""
        self.path(name).write_bytes(text.encode())

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a tidy table."""
        from clustrep.files import csv_text

        self.text(name, csv_text(frame, index=False))

    def figure(self, name: str, draw: Callable[[], Any], formats: Sequence[str]) -> None:
        """Draw a figure, and write it in every format, the same bytes every time.

        A figure that can't be drawn is a warning: the results are not to be lost because of it.
        """
        import matplotlib as mpl
        import matplotlib.pyplot as plt

        without_time: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        with mpl.rc_context({"svg.hashsalt": "clustrep", "figure.max_open_warning": 0}):
            try:
                figure = _figure_of(draw())
                for extension in formats:
                    target = self.path("figures", f"{self._file_name(name)}.{extension}")
                    figure.savefig(target, dpi=DPI, metadata=without_time[extension])
            except Exception as error:
                warn(f"The figure {name} can't be drawn: {type(error).__name__}: {error}.", ReplicateWarning)
            finally:
                plt.close("all")

    def _file_name(self, name: str) -> str:
        """Find a name that is valid in any file system, and that no other figure has."""
        plain, number = file_name(name), 1
        while self._names.setdefault(plain.lower(), name) != name:
            number += 1
            plain = f"{file_name(name)}-{number}"
        return plain

    def config(self, values: Mapping[str, Any]) -> None:
        """Write the options of the run, and which files it wrote."""
        import tomli_w

        record = {**values[RUN_RECORD], "files": sorted([*self._files(), CONFIG])}
        self.text(CONFIG, tomli_w.dumps({**values, RUN_RECORD: record}))

    def _files(self) -> list[str]:
        return [path.relative_to(self._temporary).as_posix() for path in self._temporary.rglob("*") if path.is_file()]

    def _put_in_place(self) -> None:
        if not self.folder.exists():
            os.replace(self._temporary, self.folder)
            return
        new, former = self._files(), set(_former_files(self.folder))
        for name in sorted(new, key=lambda name: name == CONFIG):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and name not in former:  # the user's
                os.replace(target, _unused(target))
            os.replace(self._temporary / name, target)
        for name in former - set(new):
            (self.folder / name).unlink(missing_ok=True)


def _unused(path: Path) -> Path:
    """Find a name for a file that is to be replaced."""
    number = 1
    while (other := path.with_name(f"{path.name}.before{number}")).exists():
        number += 1
    return other


def _run_record(folder: Path) -> dict[str, Any]:
    """Return what the configuration in a folder says of the run that wrote it; nothing where there is none."""
    try:
        record = tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))[RUN_RECORD]
    except (OSError, ValueError, KeyError):
        return {}
    return record if isinstance(record, dict) else {}


def _former_files(folder: Path) -> list[str]:
    """Return the files that an earlier run wrote here; never one outside the folder."""
    names, inside = _run_record(folder).get("files", []), folder.resolve()
    paths = [folder / name for name in names if isinstance(name, str)]
    files = [path for path in paths if path.is_file() and path.resolve().is_relative_to(inside)]
    return [path.relative_to(folder).as_posix() for path in files]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _figure_of(drawn: Any) -> Any:
    return drawn.flat[0].figure if hasattr(drawn, "flat") else getattr(drawn, "figure", drawn)


def file_name(name: str) -> str:
    """Make a name that is valid in any file system."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "study"


# ---------------------------------------------------------------------------------------------------------------------
# what every run writes


def write_config(
    ctx: click.Context,
    settings: dict[str, Any],
    results: Results,
    provenance: Mapping[str, Any],
    studies: Mapping[str, Study],
) -> None:
    """Write the options of a run, and what is needed to see whether it can be repeated."""
    record = {"versions": provenance["versions"], "data": digests(studies)}
    results.config(config_values(ctx, settings, record, results.folder))


def write_report(settings: dict[str, Any], report: Report) -> None:
    """Write the report to the terminal, and say where the page is."""
    write_data(report.to_json() if settings["json"] else repr(report))
    if settings["out"] is not None and not settings["quiet"]:
        write_message(f"Results are in {settings['out']}; open {settings['out'] / 'report.html'} in a browser.")
