"""The site that `make docs` builds: what it lists, what its pages may load, what its gallery runs."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import clustrep as cr

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*/plot_*.py"))


def module_at(path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_of_public_names_lists_each_of_them_once():
    listed = [
        name for names in module_at(ROOT / "docs/_ext/public_names.py").names_by_heading().values() for name in names
    ]
    assert len(listed) == len(set(listed))
    modules = {name for name in cr.__all__ if inspect.ismodule(getattr(cr, name))}
    assert set(cr.__all__) - modules - {"__version__"} <= set(listed)
    results = {f"results.{name}" for name in cr.results.__all__ if name != "load"}
    assert {name for name in listed if name.startswith("results.")} == results


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("the largest |U ∩ V| of `v|w`", r"the largest \|U ∩ V\| of `v|w`"),
        ("sums over c_ and [1]_ and ``x_``", r"sums over c\_ and [1]_ and ``x_``"),
        ("n_resamples", "n_resamples"),
    ],
)
def test_formulas_in_docstrings_are_no_markup(line, shown):
    assert module_at(ROOT / "docs/_ext/plain_formulas.py").escaped(line) == shown


def test_examples_in_docstrings_are_shown_as_they_are():
    lines = [">>> a | b_", "x_ | y", "", "|U|"]
    module_at(ROOT / "docs/_ext/plain_formulas.py").escape_docstring(None, "function", "f", None, None, lines)
    assert lines == [">>> a | b_", "x_ | y", "", r"\|U\|"]


def test_examples_of_commands_are_shown_as_code():
    as_code = module_at(ROOT / "docs/_ext/command_examples.py").as_code
    lines = ["Merge.", "", "| Example:", "|   clustrep merge breast-*-of-10", "", "More."]
    code = ["Example:", "", ".. code-block:: text", "", "   clustrep merge breast-*-of-10"]
    assert as_code(lines) == ["Merge.", "", *code, "", "More."]


@pytest.mark.parametrize(
    ("content", "n"),
    [
        ('<script src="https://cdn.example.org/a.js"></script>', 1),
        ('<script src="//cdn.example.org/a.js"></script>', 1),
        ('<link rel="stylesheet" href="http://example.org/a.css">', 1),
        ('<img srcset="https://example.org/a.png 2x" src="a.png">', 1),
        ('<div style="background: url(https://example.org/a.png)"></div>', 1),
        (
            '<link rel="canonical" href="https://example.org/"><a href="https://example.org">read</a><img src="a.png">',
            0,
        ),
    ],
)
def test_pages_that_load_something_from_elsewhere_are_noticed(tmp_path, capsys, content, n):
    (tmp_path / "page.html").write_text(content, encoding="utf-8")
    (tmp_path / "searchindex.js").touch()
    assert module_at(ROOT / "docs/check_site.py").main(tmp_path) == n
    assert ("page.html loads" in capsys.readouterr().out) == bool(n)


def test_style_sheets_and_a_missing_search_index_are_noticed(tmp_path, capsys):
    (tmp_path / "a.css").write_text(
        "@import 'https://example.org/b.css'; p {background: url('c.png')}", encoding="utf-8"
    )
    check = module_at(ROOT / "docs/check_site.py")
    assert check.loaded_from_elsewhere(tmp_path / "a.css") == ["https://example.org/b.css"]
    assert check.main(tmp_path) == 1
    assert "searchindex.js" in capsys.readouterr().out


def test_pages_name_examples_that_exist():
    folders = {"gallery": "gallery", "coming-from": "coming_from"}
    for page in sorted(ROOT.glob("docs/**/*.md")):
        for folder, name in re.findall(
            r"\{doc\}`/?(gallery|coming-from)/(plot_\w+)`", page.read_text(encoding="utf-8")
        ):
            assert (ROOT / "examples" / folders[folder] / f"{name}.py").is_file(), (page.name, name)


def test_every_page_is_in_a_table_of_contents():
    pages = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in ROOT.glob("docs/*.md")}
    text = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md"))
    listed = {line for block in re.findall(r"```\{toctree\}(.*?)```", text, flags=re.DOTALL) for line in block.split()}
    assert pages - {"index"} <= listed


def test_programs_beside_examples_have_no_page():
    (pattern,) = re.findall(r'"ignore_pattern": r"(.+?)",', (ROOT / "docs/conf.py").read_text(encoding="utf-8"))
    programs = [path for path in ROOT.glob("examples/*/*.py") if path not in EXAMPLES]
    assert ROOT / "examples/coming_from/peer_numbers.py" in programs
    assert all(re.search(pattern, path.name) for path in programs)
    assert not any(re.search(pattern, path.name) for path in EXAMPLES)


# ---------------------------------------------------------------------------------------------------------------------
# code in pages

PAGE_CODE = module_at(ROOT / "docs/_ext/page_code.py")
PAGES = sorted(ROOT.glob("docs/**/*.md"))
CODE = """# A page

<!-- setup
__import__("pathlib").Path("mainz.csv").write_text("x,y\\n" + "".join(f"{i / 7},{i / 3}\\n" for i in range(20)))
stand_ins = {"at home": "here"}
-->
```python
where = "at home"
print(where, len(where))
```

<!-- output -->
```text
here …
```

<!-- not run: there is no such thing -->
```python
import nothing_of_that_name
```

```sh
clustrep inspect mainz.csv  # how it is read
```
"""


def page(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_code_in_pages_runs_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = PAGE_CODE.blocks_of(CODE)
    assert [(block.kind, block.line) for block in blocks] == [("setup", 4), ("python", 8), ("output", 14), ("sh", 23)]
    PAGE_CODE.run_page(page(tmp_path, CODE))


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("print(where", "print(wher", r"line 9: .*NameError: name 'wher' is not defined"),
        ("here …", "there …", r"line 14: the page shows\nthere …\nbut this is printed:\nhere 4"),
        ("inspect mainz.csv", "inspect vdx.csv", r"line 23: clustrep inspect vdx\.csv .*ends with 3"),
        ("inspect mainz.csv", "inspect mainz.csv --k 3", r"line 23: .*ends with 2"),
        ("clustrep inspect", "rm", r"line 23: only clustrep is run here, not 'rm'"),
        ("```sh\n", "```\n", r"line 22: a block needs a language"),
        ("```sh\nclustrep", "    clustrep", r"line 22: code that is only indented is not run"),
    ],
)
def test_what_is_wrong_with_code_in_a_page_is_said(tmp_path, monkeypatch, was, now, message):
    monkeypatch.chdir(tmp_path)
    assert CODE.count(was) == 1
    with pytest.raises(PAGE_CODE.PageError, match=f"(?s){message}"):
        PAGE_CODE.run_page(page(tmp_path, CODE.replace(was, now)))


def test_readers_do_not_see_what_a_page_sets_up():
    shown = PAGE_CODE.without_comments(CODE)
    assert "stand_ins" not in shown
    assert len(shown.splitlines()) == len(CODE.splitlines())


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.name)
def test_commands_in_sentences_exist_with_their_options(path):
    assert PAGE_CODE.unknown_in_text(path.read_text(encoding="utf-8")) == []


def test_commands_that_do_not_exist_are_noticed():
    text = "`clustrep run … --shard 3/10`, `clustrep run\n--shards 2`, `clustrep walk --fast`"
    assert PAGE_CODE.unknown_in_text(text) == ["clustrep run --shards", "clustrep walk", "clustrep walk --fast"]
