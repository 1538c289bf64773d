"""Draw the picture of the README: the first screen of a page, `make picture`. Chromium must be installed.

The studies are the penguins of three islands, which come with the package.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.cluster import KMeans

import clustrep as cr

PICTURE = Path(__file__).parent / "_static" / "page.png"
WIDTH, HEIGHT = 1280, 800
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Analyse, write the page and photograph its first screen."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"No browser is installed: install one of {', '.join(BROWSERS)}.")
    analysis = cr.analyse(
        KMeans(n_init=10), cr.datasets.load_penguins(), n_clusters=range(2, 7), n_resamples=100, rng=0
    )
    with TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        cr.Report(analysis).write_html(page)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={WIDTH},{HEIGHT}",
        ]
        subprocess.run([browser, *options, f"--screenshot={PICTURE}", page.as_uri()], check=True, capture_output=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
