r"""A folder that changes as a whole: one process at a time works in it, and its files are those of one run.

    out/                     the files that were published, and their checksums in SHA256SUMS
    out/.clustrep/lock       locked by the process that works here; the system unlocks it when that process ends
    out/.clustrep/marker     instead, where the file system has no locks
    out/.clustrep/holder     which process that is
    out/.clustrep/new-…/     files that are being written; those of a dead process are removed
    out/.clustrep/ready/     complete files on their way into the folder, and in old/ those that they replace

Complete files are renamed one by one from `ready`, the list of checksums last. On an error all are moved back. A
process that is killed meanwhile leaves `ready`, and the next one completes the move before anything else. Folders are
synchronised before `ready` has its name, and before and after the list is renamed, so that a power cut leaves no more.

Whatever SHA256SUMS does not list stays in the folder: the user's files, and any others under `.clustrep`.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import platform
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from clustrep.errors import DataError, ParameterError
from clustrep.files.archives import SUMS, digest_of, has_sums, read_sums, text_of
from clustrep.text import option

STATE = ".clustrep"

LOCK, MARKER, HOLDER, NEW, READY, OLD = "lock", "marker", "holder", "new-", "ready", "old"

ATTEMPTS = 100  # at a lock that others create and remove

MOST_NAMED = 3  # of the entries of a folder whose names are similar to one that is not there

NO_SYNC = (errno.EINVAL, errno.EBADF, errno.EACCES, errno.EOPNOTSUPP)  # of folders, on some file systems

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # on some network file systems


@contextlib.contextmanager
def claimed(path: Path, parameter: str = "out") -> Iterator[ClaimedFolder]:
    """Make a folder where there is none, and keep other processes from working in it.

    Parameters
    ----------
    path : Path
        The folder.
    parameter : str, default="out"
        What the user named it by, for sentences.

    Yields
    ------
    ClaimedFolder

    Raises
    ------
    ParameterError
        If another process works in it; the sentence names that process.

    Notes
    -----
    A folder that was made and remains empty is removed again.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with claimed(Path(home, "out")) as folder, folder.transaction() as staged:
    ...         _ = (staged / "scores.csv").write_text("train,test,score")
    ...     sorted(path.name for path in Path(home, "out").iterdir() if path.is_file())
    ['SHA256SUMS', 'scores.csv']
    """
    folder = ClaimedFolder(path, parameter)
    try:
        yield folder
    finally:
        folder.release()


class ClaimedFolder:
    """A folder in which no other process works."""

    def __init__(self, path: Path, parameter: str):
        self.name = path  # as the user writes it
        self.path = path.resolve()
        self._state = self.path / STATE
        if self._state.is_symlink():  # files can't be renamed to another disk, and are not ours to remove there
            raise ParameterError(
                f"{path / STATE} is a link, but files are written there and then moved to {path}: remove the link, or "
                f"name another folder with {option(parameter)}.",
                parameter=parameter,
            )
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            self._lock = _lock(self._state, path, parameter)
        except BaseException:
            self._remove_empty()
            raise
        try:
            self._claim = os.stat(self._state / LOCK)
            (self._state / HOLDER).write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
            self._recover()
            self._sums = _bytes_of(self.path / SUMS)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others work in the folder."""
        if self._is_claimed():
            for name in (HOLDER, LOCK):
                with contextlib.suppress(OSError):
                    os.unlink(self._state / name)
        with contextlib.suppress(OSError):
            self._lock.release()
        self._remove_empty()

    def _is_claimed(self) -> bool:
        """Whether the folder is still the one that was claimed."""
        try:
            return os.path.samestat(self._claim, os.stat(self._state / LOCK))
        except OSError:
            return False

    def _remove_empty(self) -> None:
        for folder in (self._state, *self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def try_room(self, n_bytes: int) -> None:
        """Try whether files of some size can be written."""
        with tempfile.TemporaryFile(dir=self._state) as stream:
            stream.write(bytes(n_bytes))
            stream.flush()
            os.fsync(stream.fileno())  # some file systems only now say that they are full

    @contextlib.contextmanager
    def transaction(self, *, keep: bool = False) -> Iterator[Path]:
        """Give a folder to write into, and publish it when it is complete; on an error, nothing is published.

        The published files replace all that were published before, or, with `keep`, are added to them.
        """
        staged = self._state / f"{NEW}{secrets.token_hex(4)}"
        staged.mkdir()
        try:
            yield staged
            if _files_below(staged) or not keep:
                self._publish(staged, read_sums(self.path) if keep else {})
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def _publish(self, staged: Path, kept: dict[str, str]) -> None:
        """Move files into the folder one by one; on an error, all of them back."""
        sums = dict(kept)
        for path in _files_below(staged):
            _sync(path)
            sums[path.relative_to(staged).as_posix()] = digest_of(path)
        (staged / SUMS).write_text(text_of(sums), encoding="utf-8", newline="\n")
        _sync(staged / SUMS)
        if not self._is_claimed():
            raise DataError(f"{self.name} was removed or replaced while the run was working.")
        if _bytes_of(self.path / SUMS) != self._sums:  # not every file system can lock
            raise DataError(f"Another run has written its results to {self.name} in the meantime.")
        ready = self._state / READY
        for folder in (*_folders_of(staged), *(made.parent for made in self._made), self.path):
            sync_folder(folder)
        os.replace(staged, ready)
        sync_folder(self._state)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, self._state / OLD, ignore_errors=True)
            undo.callback(os.replace, ready, staged)  # not to be completed later
            self._move_ready(undo)
            undo.pop_all()
        self._sums = _bytes_of(self.path / SUMS)

    def _move_ready(self, undo: contextlib.ExitStack) -> None:
        """Move complete files into the folder, the list of checksums last; may be repeated after a kill."""
        ready, old = self._state / READY, self._state / OLD
        if (ready / SUMS).exists():
            former, sums = _published(self.path), read_sums(ready)
            new = sorted(path.relative_to(ready).as_posix() for path in _files_below(ready))
            for name in sorted(former - set(sums) - {SUMS}):
                path = self.path / name
                is_inside = path.parent.resolve().is_relative_to(self.path)  # not behind a link
                if os.path.lexists(path) and not path.is_dir() and is_inside:
                    _move(path, old / name, undo)
            for name in sorted(new, key=lambda name: name == SUMS):
                if name == SUMS:  # it names files that are there, and none that were taken away
                    inside = {self.path / above for name in new for above in Path(name).parents}
                    for folder in (*inside, *_folders_of(old), self._state):
                        sync_folder(folder)
                path = self.path / name
                for above in reversed(Path(name).parents[:-1]):  # the user may have a file of that name
                    folder = self.path / above
                    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
                        _move(folder, _unused(folder), undo)
                if os.path.lexists(path):
                    is_replaced = name in former and not path.is_dir()
                    _move(path, old / name if is_replaced else _unused(path), undo)
                _move(ready / name, path, undo)
            sync_folder(self.path)
            for name in former - set(sums):
                with contextlib.suppress(OSError):  # where other files are
                    for above in Path(name).parents[:-1]:
                        (self.path / above).rmdir()
        shutil.rmtree(ready, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)

    def _recover(self) -> None:
        """Complete what a killed process had ready, and remove what it had not."""
        if (self._state / READY).is_dir():
            self._move_ready(contextlib.ExitStack())
        for leftover in (self._state / OLD, *self._state.glob(f"{NEW}*")):
            shutil.rmtree(leftover, ignore_errors=True)


def is_free(folder: Path) -> bool:
    """Whether a folder holds nothing but what a run that works in it, or died in it, needs for itself."""
    return all(path.name == STATE for path in folder.iterdir())


def is_unfinished(folder: Path) -> bool:
    """Whether a process was killed while it moved complete files into a folder."""
    return (folder / STATE / READY).is_dir()


def nearest_entries(path: Path, *, folders: bool = False) -> str:
    """Return " Did you mean 'mainz.csv'?" if a path's folder has files of a similar name, or folders, else nothing.

    Names are compared without their ending, in which most are alike.
    """
    try:
        entries = [entry for entry in path.parent.iterdir() if entry.is_dir() == folders]
    except OSError:
        return ""
    by_stem: dict[str, list[str]] = {}
    for name in sorted(entry.name for entry in entries if not entry.name.startswith(".")):
        by_stem.setdefault(Path(name).stem.lower(), []).append(name)
    close = difflib.get_close_matches(path.stem.lower(), by_stem, n=2)
    similar = [repr(name) for stem in close for name in by_stem[stem]]
    return f" Did you mean {' or '.join(similar[:MOST_NAMED])}?" if similar else ""


def _lock(state: Path, folder: Path, parameter: str) -> BaseFileLock:
    """Lock a folder, by the existence of the lock's file where the file system has no locks."""
    lock: BaseFileLock = FileLock(state / LOCK, timeout=0, thread_local=False)
    for _ in range(ATTEMPTS):
        try:
            state.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            return lock
        except (FileNotFoundError, FileExistsError):  # its owner has just removed it, while it was looked at
            continue
        except Timeout:
            break
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            lock = SoftFileLock(state / MARKER, timeout=0, thread_local=False)
    try:
        holder = f" ({(state / HOLDER).read_text(encoding='utf-8', errors='replace')[:200]})"
    except OSError:
        holder = ""
    raise ParameterError(
        f"{folder} is in use by another run{holder}: wait until it ends, or name another folder with "
        f"{option(parameter)}.",
        parameter=parameter,
    )


def _move(source: Path, goal: Path, undo: contextlib.ExitStack) -> None:
    """Move a file, and note how it is moved back."""
    goal.parent.mkdir(parents=True, exist_ok=True)
    os.replace(source, goal)
    undo.callback(_move_back, source, goal)


def _move_back(source: Path, goal: Path) -> None:
    source.parent.mkdir(parents=True, exist_ok=True)
    os.replace(goal, source)
    with contextlib.suppress(OSError):
        goal.parent.rmdir()  # where only this file was


def _published(folder: Path) -> set[str]:
    """Return the names of the files that a run published here; none where that is not known, so that all stay."""
    if not has_sums(folder):
        return set()
    try:
        return {SUMS, *read_sums(folder)}
    except DataError:
        return {SUMS}


def _unused(path: Path) -> Path:
    """Find a name for a file whose own is taken."""
    number = 1
    while os.path.lexists(other := path.with_name(f"{path.name}.before{number}")):
        number += 1
    return other


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _sync(path: Path) -> None:
    """Wait until a file is on the disk: some file systems only then say that they are full."""
    with open(path, "r+b") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows, and some network file systems, can't tell."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


def _folders_of(folder: Path) -> list[Path]:
    """Return a folder, if there is one, and all folders below."""
    return [path for path in (folder, *folder.rglob("*")) if path.is_dir()]


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
