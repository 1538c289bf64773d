"""Examples in docstrings that need data, which is not everywhere: run here, where it is."""

from __future__ import annotations

import doctest
import inspect


def run_examples(function):
    """Run the examples of a function that are marked to be skipped elsewhere; there must be some."""
    tests = doctest.DocTestFinder(recurse=False).find(function, globs=dict(inspect.getmodule(function).__dict__))
    examples = [example for test in tests for example in test.examples if example.options.pop(doctest.SKIP, False)]
    assert examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        shown = []
        assert runner.run(test, out=shown.append).failed == 0, "".join(shown)
