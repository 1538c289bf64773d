"""How bytes and text are changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fuzz.target import Rng

CHUNKS = (
    b'"', b"'", b"\0", b"\r", b"\n", b"\t", b";", b",", b" ", b"#", b"=1+1", b"-", b"'", b"1e999", b"-1e-320",
    b"9" * 400,
    b"nan", b"inf", b"NA", b"1_000", b"0x10", b"1.698", b"1,5", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf",
    "\u202e".encode(),
    b"\x1b]52;c;aGk=\x07", "\ufdd0label\ufdd1[\ufdd2".encode(), "٣".encode(), b"id", b"label",
    b"!series_matrix_table_end\n",
    b"PK\x03\x04", b"\x1f\x8b", b"BZh9", b"true", b"[", b"{", b"a" * 5000,
)  # fmt: skip


def flipped(content: bytes, rng: Rng, n_most: int = 16) -> bytes:
    """Flip some bits."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, n_most + 1)) if rng.random() < 0.5 else 1):
        changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def mutated(content: bytes, rng: Rng) -> bytes:
    """Change a file as damage, carelessness or malice would: a few steps of any kind."""
    for _ in range(int(rng.integers(1, 5)) if rng.random() < 0.5 else 1):
        if not content:
            return content
        place, other = (int(place) for place in rng.integers(len(content), size=2))
        match int(rng.integers(8)):
            case 0:
                content = flipped(content, rng)
            case 1:
                content = content[:place]
            case 2:
                content = content[: min(place, other)] + content[max(place, other) :]
            case 3:
                content = content[:place] + content[min(place, other) : max(place, other)][:500] + content[place:]
            case 4:
                content = content[:place] + choice(CHUNKS, rng) + content[place:]
            case 5:
                lines = content.split(b"\n")
                i, j = (int(i) for i in rng.integers(len(lines), size=2))
                lines[i], lines[j] = lines[j], lines[i]
                content = b"\n".join(lines)
            case _:  # another cell, between the delimiters that are there
                cells = re.split(rb"([,;\t\n])", content)
                cells[2 * int(rng.integers(len(cells) // 2 + 1))] = choice(CHUNKS, rng)
                content = b"".join(cells)
    return content


def choice(items: Sequence[Any], rng: Rng) -> Any:
    """Choose one, whatever it is."""
    return items[int(rng.integers(len(items)))]
