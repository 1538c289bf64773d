r"""A folder that changes as a whole: one process at a time works in it, and others see the old files or the new.

    out/                     the files that were published, and their checksums in SHA256SUMS
    out/.clustrep/lock       locked by the process that works here; the system unlocks it when that process ends
    out/.clustrep/new-…/     files that are being written; those of a dead process are removed
    out/.clustrep/ready/     complete files on their way into the folder, and in old/ those that they replace
    .clustrep-…              beside out, for a moment: the folder that is about to be exchanged with it

Where the system can exchange two folders in one step (Linux, macOS), the new folder is assembled beside the old one,
with links to the files that stay, and takes its place. Where it can't, or where the folder must remain the same one (a
mount, the current folder), files are moved one by one from `ready`: on an error all are moved back; a process that is
killed meanwhile leaves `ready`, and the next one completes the move before anything else.

Whatever SHA256SUMS does not list stays in the folder: the user's files, and any others under `.clustrep`.
"""

from __future__ import annotations

import contextlib
import ctypes
import difflib
import errno
import hashlib
import os
import platform
import secrets
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from clustrep.checksums import SUMS, digest_of, has_sums, read_sums, text_of
from clustrep.errors import DataError, ParameterError
from clustrep.sentences import option

STATE = ".clustrep"

LOCK, NEW, READY, OLD, ROOM = "lock", "new-", "ready", "old", "room"

ATTEMPTS = 100  # at a lock that others create and remove

EXCHANGE = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform, "")  # the system's function, if it has one

MOST_NAMED = 3  # of the entries of a folder whose names are similar to one that is not there

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # on some network file systems


@contextlib.contextmanager
def claimed(path: Path, parameter: str = "out") -> Iterator[ClaimedFolder]:
    """Make a folder where there is none, and keep other processes from working in it.

    A folder that was made and remains empty is removed again.
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
        self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            self._lock, self._is_alone = _lock(self._state, path, parameter)
        except BaseException:
            self._remove_empty()
            raise
        try:
            self._recover()
            self._sums = _bytes_of(self.path / SUMS)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let others work in the folder."""
        with contextlib.suppress(OSError):
            if is_file_of(self._lock, self._state / LOCK):  # not that of a folder in its place
                os.unlink(self._state / LOCK)
        os.close(self._lock)
        self._remove_empty()

    def _remove_empty(self) -> None:
        for folder in (self._state, *self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def try_room(self, n_bytes: int) -> None:
        """Try whether files of some size can be written."""
        path = self._state / ROOM
        try:
            with open(path, "wb") as stream:
                stream.write(bytes(n_bytes))
                stream.flush()
                os.fsync(stream.fileno())  # some file systems only now say that they are full
        finally:
            with contextlib.suppress(OSError):
                path.unlink()

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

    # -----------------------------------------------------------------------------------------------------------------
    # into the folder

    def _publish(self, staged: Path, kept: dict[str, str]) -> None:
        sums = dict(kept)
        for path in _files_below(staged):
            _sync(path)
            sums[path.relative_to(staged).as_posix()] = digest_of(path)
        (staged / SUMS).write_text(text_of(sums), encoding="utf-8", newline="\n")
        _sync(staged / SUMS)
        self._check_unchanged()
        former = _published(self.path)
        gone = {name for name in former if name not in sums or (staged / name).exists()}
        if not self._exchange(staged, gone):
            self._move_in(staged)
        self._sums = _bytes_of(self.path / SUMS)

    def _check_unchanged(self) -> None:
        """Check that the folder is still the one that was claimed: not every file system can lock."""
        if not is_file_of(self._lock, self._state / LOCK):
            raise DataError(f"{self.name} was removed or replaced while the run was working.")
        if _bytes_of(self.path / SUMS) != self._sums:
            raise DataError(f"Another run has written its results to {self.name} in the meantime.")

    def _exchange(self, staged: Path, gone: Collection[str]) -> bool:
        """Put a new folder in the place of the old one, in one step; return whether that was possible."""
        beside = self.path.parent / f"{_beside(self.path)}{secrets.token_hex(4)}"
        lock = None
        try:
            if not EXCHANGE or os.path.ismount(self.path) or Path.cwd().is_relative_to(self.path):
                return False
            beside.mkdir()
            _link_tree(staged, beside, ())
            linked = _link_tree(self.path, beside, gone)
            (beside / STATE).mkdir(exist_ok=True)
            lock, _ = _lock(beside / STATE, beside, "out")
            _make_alike(self.path, beside)
            _exchange_folders(beside, self.path)
        except OSError:  # the parent can't be written to, no links between these files, no exchange in this system, …
            if lock is not None:
                os.close(lock)
            shutil.rmtree(beside, ignore_errors=True)
            return False
        old_lock, self._lock = self._lock, lock
        with contextlib.suppress(OSError):  # what was published is in place
            _move_late_files(beside, self.path, gone, linked)
            shutil.rmtree(beside)
        os.close(old_lock)
        return True

    def _move_in(self, staged: Path) -> None:
        """Move files into the folder one by one; on an error, all of them back."""
        ready = self._state / READY
        os.replace(staged, ready)
        moves = Moves()
        try:
            self._move_ready(moves)
        except BaseException:
            moves.undo()
            os.replace(ready, staged)  # not to be completed later
            shutil.rmtree(self._state / OLD, ignore_errors=True)
            raise

    def _move_ready(self, moves: Moves) -> None:
        """Move complete files into the folder, the list of checksums last; may be repeated after a kill."""
        ready, old = self._state / READY, self._state / OLD
        if (ready / SUMS).exists():
            former, sums = _published(self.path), read_sums(ready)
            new = sorted(path.relative_to(ready).as_posix() for path in _files_below(ready))
            for name in sorted(former - set(sums) - {SUMS}):
                if _is_file_inside(self.path, name):
                    moves.move(self.path / name, old / name)
            for name in sorted(new, key=lambda name: name == SUMS):
                moves.make_way(self.path, name)
                if os.path.lexists(self.path / name):
                    is_replaced = name in former and not (self.path / name).is_dir()
                    moves.move(self.path / name, old / name if is_replaced else _unused(self.path / name))
                moves.move(ready / name, self.path / name)
            for name in former - set(sums):
                _remove_empty_parents(self.path, name)
        shutil.rmtree(ready, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)

    def _recover(self) -> None:
        """Complete what a killed process had ready, and remove what it had not."""
        if (self._state / READY).is_dir():
            self._move_ready(Moves())
        if self._is_alone:  # otherwise these may be a living process's
            for leftover in (
                self._state / OLD,
                *self._state.glob(f"{NEW}*"),
                *self.path.parent.glob(f"{_beside(self.path)}*"),
            ):
                shutil.rmtree(leftover, ignore_errors=True)
            (self._state / ROOM).unlink(missing_ok=True)


def is_free(folder: Path) -> bool:
    """Whether a folder holds nothing but what a run that works in it, or died in it, needs for itself."""
    return all(path.name == STATE for path in folder.iterdir())


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


def is_unfinished(folder: Path) -> bool:
    """Whether a process was killed while it moved complete files into a folder."""
    return (folder / STATE / READY).is_dir()


# ---------------------------------------------------------------------------------------------------------------------
# locks


def _lock(state: Path, folder: Path, parameter: str) -> tuple[int, bool]:
    """Lock the lock's file; return its descriptor, and whether the file system can lock at all."""
    for _ in range(ATTEMPTS):
        try:
            state.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(state / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except (FileNotFoundError, FileExistsError):  # its owner has just removed it, while it was looked at
            continue
        try:
            lock_descriptor(descriptor)
            is_alone = True
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode(errors="replace")
            os.close(descriptor)
            raise ParameterError(
                f"{folder} is in use by another run{holder and f' ({holder})'}: wait until it ends, or name another "
                f"folder with {option(parameter)}.",
                parameter=parameter,
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                os.close(descriptor)
                raise
            is_alone = False
        if is_file_of(descriptor, state / LOCK):
            os.truncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
            return descriptor, is_alone
        os.close(descriptor)  # of a file that its owner has just removed
    raise ParameterError(
        f"{folder} can't be locked: wait until other runs end, or name another folder with {option(parameter)}.",
        parameter=parameter,
    )


def lock_descriptor(descriptor: int) -> None:
    """Lock a file for this process; raise BlockingIOError where another process has."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError from None
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_file_of(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


# ---------------------------------------------------------------------------------------------------------------------
# folders


def _exchange_folders(first: Path, second: Path) -> None:
    """Give two folders each other's name, in one step."""
    function = getattr(ctypes.CDLL(None, use_errno=True), EXCHANGE, None)
    if function is None:  # an old C library
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = os.fsencode(first), os.fsencode(second)
    here, exchange = -100, 2  # AT_FDCWD; RENAME_EXCHANGE and RENAME_SWAP
    arguments = (here, names[0], here, names[1]) if EXCHANGE == "renameat2" else names
    if function(*arguments, exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _beside(folder: Path) -> str:
    """How the names of folders begin that are to be exchanged with this one; short, because its own may be long."""
    return f"{STATE}-{hashlib.sha256(os.fsencode(folder.name)).hexdigest()[:12]}-"


def _make_alike(folder: Path, other: Path) -> None:
    """Give a folder the owner and the permissions of the one that it is to replace."""
    wanted, status = folder.stat(), other.stat()
    if (wanted.st_uid, wanted.st_gid) != (status.st_uid, status.st_gid):
        os.chown(other, wanted.st_uid, wanted.st_gid)
    shutil.copystat(folder, other)


def _link_tree(source: Path, target: Path, gone: Collection[str]) -> set[tuple[int, int]]:
    """Link the files of a folder that stay into another, under another name where theirs is taken.

    Returns which files these are, by device and number.
    """
    linked: set[tuple[int, int]] = set()

    def link_folder(prefix: str, into: Path) -> None:
        for path in sorted((source / prefix).iterdir()):
            name, goal, is_folder = f"{prefix}{path.name}", into / path.name, _is_folder(path)
            if _is_internal(name) or (name in gone and not is_folder):
                continue
            if os.path.lexists(goal) and not (is_folder and _is_folder(goal)):
                goal = _unused(goal)
            if is_folder:
                goal.mkdir(exist_ok=True)
                link_folder(f"{name}/", goal)
                if os.listdir(path) and not os.listdir(goal):  # no file in it stays
                    goal.rmdir()
            else:
                os.link(path, goal, follow_symlinks=False)
                linked.add(_number_of(path))

    link_folder("", target)
    return linked


def _move_late_files(old: Path, new: Path, gone: Collection[str], linked: Collection[tuple[int, int]]) -> None:
    """Move files that came into the old folder after its files had been linked."""
    moves = Moves()
    for path in _files_below(old):
        name = path.relative_to(old).as_posix()
        if name not in gone and not name.startswith(f"{STATE}/") and _number_of(path) not in linked:
            moves.make_way(new, name)
            moves.move(path, _unused(new / name) if os.path.lexists(new / name) else new / name)


class Moves:
    """Files that were moved, and can be moved back."""

    def __init__(self) -> None:
        self._done: list[tuple[Path, Path]] = []

    def move(self, source: Path, goal: Path) -> None:
        """Move a file."""
        goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, goal)
        self._done.append((source, goal))

    def make_way(self, folder: Path, name: str) -> None:
        """Rename what the user has in the place of the folders that a file is to be in."""
        path = folder
        for part in name.split("/")[:-1]:
            path /= part
            if os.path.lexists(path) and not _is_folder(path):
                self.move(path, _unused(path))

    def undo(self) -> None:
        """Move everything back."""
        for source, goal in reversed(self._done):
            source.parent.mkdir(parents=True, exist_ok=True)
            os.replace(goal, source)
            with contextlib.suppress(OSError):
                goal.parent.rmdir()  # where only this file was


def _is_internal(name: str) -> bool:
    """Whether a path under a claimed folder is one that this module makes and removes."""
    state, _, rest = name.partition("/")
    return state == STATE and (rest in (LOCK, READY, OLD, ROOM) or rest.startswith(NEW))


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


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_file_inside(folder: Path, name: str) -> bool:
    """Whether there is a file of this name, and in the folder itself rather than behind a link."""
    path = folder / name
    return os.path.lexists(path) and not path.is_dir() and path.parent.resolve().is_relative_to(folder)


def _remove_empty_parents(folder: Path, name: str) -> None:
    """Remove the folders in which only this file was."""
    path = folder / name
    with contextlib.suppress(OSError):
        while (path := path.parent) != folder:
            path.rmdir()


def _number_of(path: Path) -> tuple[int, int]:
    """Return what all names of a file have in common: its device, and its number there."""
    status = path.lstat()
    return status.st_dev, status.st_ino


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _sync(path: Path) -> None:
    """Wait until a file is on the disk: some file systems only then say that they are full."""
    with open(path, "r+b") as stream:
        os.fsync(stream.fileno())


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
