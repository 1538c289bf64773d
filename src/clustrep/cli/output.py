"""A folder of results: written whole or not at all, nothing of the user's lost."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clustrep.cli.config_file import MADE
from clustrep.errors import DataError, ParameterError, ReplicateWarning, warn

if TYPE_CHECKING:
    import pandas as pd

CONFIG = "config.toml"
RESULT = "result.npz"
DPI = 300


def check_folder(folder: Path, *, force: bool) -> None:
    """See before the work begins that its results can be written."""
    at = next(parent for parent in [folder, *folder.absolute().parents] if parent.exists())
    if not at.is_dir():
        raise ParameterError(f"{at} is a file: name a folder with --out.")
    if at == folder and any(folder.iterdir()):
        if not force:
            raise ParameterError(
                f"{folder} exists already: name another folder with --out, or replace it with --force."
            )
        if "clustrep" not in _made_in(folder).get("versions", {}):
            raise ParameterError(f"{folder} holds no results of clustrep, so --force does not replace what is in it.")
    if not os.access(at, os.W_OK):
        raise DataError(f"{at} can't be written to: name another folder with --out.")


class Results:
    """Files that are collected aside and put into their folder together."""

    def __init__(self, folder: Path):
        self.folder = folder
        within = folder if folder.is_dir() else folder.absolute().parent  # on one device with where they go
        within.mkdir(parents=True, exist_ok=True)
        self._aside = Path(tempfile.mkdtemp(prefix=".clustrep.", dir=within))
        os.chmod(self._aside, 0o777 & ~_umask())
        self._names: dict[str, str] = {}

    def __enter__(self) -> Results:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._aside, ignore_errors=True)

    def path(self, *names: str) -> Path:
        """Return where to write a file."""
        path = self._aside.joinpath(*names)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def text(self, name: str, text: str) -> None:
        """Write a text."""
        self.path(name).write_bytes(text.encode())

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a tidy table."""
        self.text(name, frame.to_csv(index=False, lineterminator="\n"))

    def figure(self, name: str, draw: Callable[[], Any], formats: Sequence[str]) -> None:
        """Draw a figure, and write it in every format, the same bytes every time.

        One that can't be drawn is warned of: it is not worth losing the results.
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
        """Find a name that any file system bears, and no other figure has."""
        plain, number = file_name(name), 1
        while self._names.setdefault(plain.lower(), name) != name:
            number += 1
            plain = f"{file_name(name)}-{number}"
        return plain

    def config(self, values: Mapping[str, Any]) -> None:
        """Write the options of the run, and which files are its own."""
        import tomli_w

        made = {**values[MADE], "files": sorted([*self._files(), CONFIG])}
        self.text(CONFIG, tomli_w.dumps({**values, MADE: made}))

    def _files(self) -> list[str]:
        return [path.relative_to(self._aside).as_posix() for path in self._aside.rglob("*") if path.is_file()]

    def _put_in_place(self) -> None:
        if not self.folder.exists():
            os.replace(self._aside, self.folder)
            return
        new, former = self._files(), set(_former_files(self.folder))
        for name in sorted(new, key=lambda name: name == CONFIG):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists() and name not in former:  # the user's own
                os.replace(target, _free(target))
            os.replace(self._aside / name, target)
        for name in former - set(new):
            (self.folder / name).unlink(missing_ok=True)


def _free(path: Path) -> Path:
    """Find a name beside a file's that nothing has."""
    number = 1
    while (other := path.with_name(f"{path.name}.before{number}")).exists():
        number += 1
    return other


def _made_in(folder: Path) -> dict[str, Any]:
    """Return how the results in a folder were made, by their own word; nothing where there are none."""
    try:
        made = tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))[MADE]
    except (OSError, ValueError, KeyError):
        return {}
    return made if isinstance(made, dict) else {}


def _former_files(folder: Path) -> list[str]:
    """Return the files that an earlier run wrote here; never one outside the folder."""
    names, inside = _made_in(folder).get("files", []), folder.resolve()
    own = [folder / name for name in names if isinstance(name, str)]
    inside_files = [path for path in own if path.is_file() and path.resolve().is_relative_to(inside)]
    return [path.relative_to(folder).as_posix() for path in inside_files]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _figure_of(drawn: Any) -> Any:
    return drawn.flat[0].figure if hasattr(drawn, "flat") else getattr(drawn, "figure", drawn)


def file_name(name: str) -> str:
    """Make a name that any file system bears."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "study"
