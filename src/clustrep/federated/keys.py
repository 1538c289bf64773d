"""Keys and signatures of sites (Ed25519), random numbers that only a site's key tells, and the files of both."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from clustrep.errors import ClustrepError, DataError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

CONTEXT = b"clustrep federated 2\n"  # so that a signature is one of nothing else
KEY_BYTES, SIGNATURE_BYTES = 32, 64
# The points of small order, without their sign: with such a public key, anybody's signature may verify.
SMALL_ORDER = {
    *(f"{first}{30 * 'ff'}7f" for first in ("ec", "ed", "ee")),
    *(f"{first}{31 * '00'}" for first in ("00", "01")),
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
}


def make_key(path: str | PathLike[str]) -> str:
    """Make the key with which a site signs its files, and write it to a file that only its owner can read.

    Parameters
    ----------
    path : path
        A new file. It stays at the site.

    Returns
    -------
    str
        The public key, 64 hexadecimal digits: what the other sites get.

    See Also
    --------
    Session : Where public keys are agreed on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(make_key(f"{folder}/mainz.key"))
    64
    """
    private = _ed25519().Ed25519PrivateKey.generate()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise DataError(f"{path} exists already: name another file for the key.") from None
    except OSError as error:
        raise DataError(f"{path} can't be written ({error.strerror}): name another file for the key.") from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(private.private_bytes_raw().hex() + "\n")
    return str(private.public_key().public_bytes_raw().hex())


class Key:
    """The private key of a site, read from its file.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: str | PathLike[str]):
        with open_private(Path(path), "the key of the site: make one with `clustrep key FILE`") as stream:
            text = stream.read(4 * KEY_BYTES).strip()
        try:
            self._bytes = bytes.fromhex(text.decode("ascii"))
            self._private: Ed25519PrivateKey = _ed25519().Ed25519PrivateKey.from_private_bytes(self._bytes)
        except ClustrepError:
            raise
        except Exception:  # the file may hold anything
            raise DataError(f"{path} holds no key: make one with `clustrep key FILE`.") from None

    @property
    def public(self) -> str:
        """The public key, as hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, digest: str) -> str:
        """Sign a digest."""
        return self._private.sign(CONTEXT + digest.encode()).hex()

    def number(self, *about: str) -> int:
        """Return a number of 128 bits that follows from a text, for whoever has the key."""
        message = CONTEXT + "\n".join(about).encode()
        return int.from_bytes(hmac.new(self._bytes, message, hashlib.sha256).digest()[:16], "big")


def is_signed(digest: str, signature: str, public: str) -> bool:
    """Whether a digest was signed with the key that belongs to a public key."""
    from cryptography.exceptions import InvalidSignature

    try:
        key = _ed25519().Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), CONTEXT + digest.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def is_public_key(text: object) -> bool:
    """Whether a text is a public key."""
    if not isinstance(text, str) or len(text) != 2 * KEY_BYTES or not set(text) <= set("0123456789abcdef"):
        return False
    return f"{text[:-2]}{int(text[-2:], 16) & 0x7F:02x}" not in SMALL_ORDER


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise DataError(
            "Files of federated sites are signed by the package cryptography: pip install 'clustrep[federated]'."
        ) from None
    return ed25519


def open_private(path: Path, what: str, flags: int = os.O_RDONLY) -> BinaryIO:
    """Open a file that must be a plain file of the user, which others can neither read nor write.

    Parameters
    ----------
    path : Path
    what : str
        What it is to be, for the error where there is none.
    flags : int, default=os.O_RDONLY
        As in `os.open`. Symbolic links are not followed.

    Raises
    ------
    DataError
        If it is missing, a link, another's, or open to others.
    """
    try:
        handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
    except FileNotFoundError:
        raise DataError(f"There is no file {path}: it is to hold {what}.") from None
    except OSError as error:
        raise DataError(f"{path} can't be opened ({error.strerror}): it must be a file, and no link.") from None
    status = os.fstat(handle)
    theirs = os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o077)
    if not stat.S_ISREG(status.st_mode) or theirs:
        os.close(handle)
        raise DataError(f"{path} must be a file that only you can read and write: chmod 600 {path}.")
    mode = "rb" if flags & 3 == os.O_RDONLY else ("ab+" if flags & os.O_APPEND else "rb+")
    return os.fdopen(handle, mode)  # type: ignore[return-value]
