"""Check that no page of a built site asks another site for anything: `python docs/check_site.py docs/_build/html`."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

ELSEWHERE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:@import\s+(?:url\()?|url\()\s*['\"]?((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
LOADED_BY = {  # which attributes make a browser load something, by tag; links that a reader follows do not
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "input": ("src",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
NOT_LOADED = {"canonical", "next", "prev", "author", "license", "search"}  # relations of <link> that load nothing


class Loaded(HTMLParser):
    """Collects what a page loads from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.elsewhere: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one tag."""
        values = {name: value or "" for name, value in attrs}
        loading = [values.get(name, "") for name in LOADED_BY.get(tag, ())]
        if tag == "link" and not NOT_LOADED & set(values.get("rel", "").split()):
            loading.append(values.get("href", ""))
        self.elsewhere += [address for address in loading if ELSEWHERE.match(address)]
        self.elsewhere += IN_STYLE.findall(values.get("style", ""))


def loaded_from_elsewhere(path: Path) -> list[str]:
    """List the addresses outside of the site that a page or a style sheet loads."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return IN_STYLE.findall(text)
    page = Loaded()
    page.feed(text)
    return page.elsewhere


def main(folder: Path) -> int:
    """Print errors; return the number of pages with errors."""
    pages = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".css"))
    wrong = {path: addresses for path in pages if (addresses := loaded_from_elsewhere(path))}
    for path, addresses in wrong.items():
        print(f"{path.relative_to(folder)} loads {', '.join(addresses)}: pages must work without a network.")
    if not (folder / "searchindex.js").is_file():
        print(f"{folder} has no searchindex.js: search would not work.")
        return 1
    print(f"{len(pages)} pages and style sheets load nothing from elsewhere.")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1])), 1))
