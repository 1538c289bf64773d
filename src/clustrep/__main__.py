"""`python -m clustrep …` is `clustrep …`."""

from __future__ import annotations

from clustrep.cli.program import main

if __name__ == "__main__":
    main()
