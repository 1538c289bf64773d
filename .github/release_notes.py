"""Print the section of a version from the changelog, which must be there: python .github/release_notes.py v1.0.0."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def section_of(text: str, version: str) -> str:
    r"""Return what stands under the heading of a version.

    Examples
    --------
    >>> section_of("# Changelog\n\n## 1.1.0 (2027-01-01)\n\n- New.\n\n## 1.0.0\n\n- First.\n", "1.1.0")
    '- New.'
    """
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        sys.exit(f"CHANGELOG.md has no section {version}: rename Unreleased before the tag is set.")
    return found[1].strip()


if __name__ == "__main__":
    print(section_of(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1].removeprefix("v")))
