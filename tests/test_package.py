"""The package as a whole: its names, its imports, what it ships."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.resources
import inspect
import itertools
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import clustrep as cr

SOURCE = Path(cr.__file__).parent
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}

# The road, folder by folder: a folder imports from itself and from what stands before it, never from what comes after.
ROAD = [
    "text",
    "errors",
    "types",
    "cached",
    "checks",
    "provenance",
    "files",
    "execution",
    "kernels",
    "agreement",
    "data",
    "statistics",
    "summaries",
    "resampling",
    "fitting",
    "accelerate",
    "gpu",
    "clusterers",
    "plots",
    "algorithms",
    "metaneighbor",
    "null",
    "separation",
    "findings",
    "stability",
    "analysis",
    "tl",
    "federated",
    "results",
    "datasets",
    "report",
    "__init__",
    "cli",
    "commands",
    "program",
    "__main__",
]


def imports_of(tree, *, at_import_time):
    """The modules that a module imports; at import time: not inside functions, not for type checkers alone."""
    found = set()
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if at_import_time and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        ):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        pending += ast.iter_child_nodes(node)
    return found


@cache
def tree_of(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def own_imports(name, *, at_import_time):
    imported = imports_of(tree_of(name), at_import_time=at_import_time)
    inside = {module.removeprefix("clustrep.") for module in imported if module.startswith("clustrep.")}
    return inside & set(MODULES)


@cache
def packages_of(name):
    return {module.split(".")[0] for module in imports_of(tree_of(name), at_import_time=False)}


def in_new_interpreter(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# ---------------------------------------------------------------------------------------------------------------------
# the direction of imports


# A room's commands use the options of the command line; the program knows them all.
STOPS = {"federated.commands": "commands", "cli.program": "program"}


def folder_of(name):
    return STOPS.get(name, name.split(".")[0])


def test_every_folder_stands_on_the_road_once():
    assert sorted(ROAD) == sorted({folder_of(name) for name in MODULES})


def offenders(what_is_wrong, names=MODULES):
    """Apply a rule to modules: what is wrong in each of those where something is."""
    return {name: sorted(wrong) for name in names if (wrong := what_is_wrong(name))}


def test_imports_point_one_way():
    def imported_from_below(name):
        so_far = set(ROAD[: ROAD.index(folder_of(name)) + 1])
        return {module for module in own_imports(name, at_import_time=True) if folder_of(module) not in so_far}

    assert offenders(imported_from_below) == {}


def executed_before(name):
    """The modules that must be complete before a module is: what it imports, and the packages that these are in.

    The packages that the module itself is in have begun; they are needed only where it imports something of theirs.
    """
    imported = imports_of(tree_of(name), at_import_time=True)
    attributes = {module.removeprefix("clustrep.") for module in imported} - set(MODULES)
    needed = own_imports(name, at_import_time=True)
    packages = {package for module in needed for package in parents_of(module)}
    begun = {package for package in parents_of(name) if not any(a.rpartition(".")[0] == package for a in attributes)}
    return (needed | packages) - begun - {name}


def parents_of(name):
    parts = name.split(".")[:-1]
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def test_modules_can_be_imported_in_any_order():
    """No module waits for itself: whatever is asked for first, everything that it needs is complete before it."""
    order = list(TopologicalSorter({name: executed_before(name) for name in MODULES}).static_order())
    assert sorted(order) == sorted(MODULES)


def test_a_saved_result_is_read_without_clusterers_and_workers():
    code = "import json, sys, clustrep.results; print(json.dumps(sorted(sys.modules)))"
    loaded = set(in_new_interpreter(code))
    assert "clustrep.algorithms.pairwise" in loaded
    heavy = {"sklearn", "joblib", "matplotlib", "torch", "clustrep.fitting", "clustrep.accelerate"}
    assert not loaded & (heavy | {"clustrep.execution.workers"})


def test_the_reader_of_imports_sees_them():
    """Against a check that passes because it looks at nothing."""
    assert {"data.study", "types", "errors"} <= own_imports("resampling.strategies", at_import_time=True)
    assert "algorithms.score_plots" in own_imports("algorithms.comparison", at_import_time=False)
    assert "joblib" in packages_of("execution.workers")


def test_nobody_imports_matplotlib_before_something_is_drawn():
    def matplotlib(name):
        imported = imports_of(tree_of(name), at_import_time=True)
        return {module for module in imported if module.split(".")[0] == "matplotlib"}

    assert offenders(matplotlib) == {}


ON_A_DEVICE = {name for name in MODULES if imports_of(tree_of(name), at_import_time=True) & {"torch", "triton"}}


def test_what_works_on_a_device_is_known():
    assert ON_A_DEVICE
    assert {folder_of(name) for name in ON_A_DEVICE} == {"gpu"}


def test_nobody_imports_pytorch_before_a_device_is_asked_for():
    elsewhere = sorted(set(MODULES) - ON_A_DEVICE)
    assert offenders(lambda name: own_imports(name, at_import_time=True) & ON_A_DEVICE, elsewhere) == {}


# ---------------------------------------------------------------------------------------------------------------------
# names


NAMESPACES = {
    "agreement",
    "clusterers",
    "datasets",
    "errors",
    "federated",
    "metaneighbor",
    "resampling",
    "results",
    "separation",
    "stability",
    "tl",
}
NAMED_INSIDE = ("agreement", "federated", "resampling", "separation", "stability")


def test_all_is_what_is_there():
    assert cr.__all__ == sorted(cr.__all__, key=lambda name: (name.islower(), name))
    assert len(set(cr.__all__)) == len(cr.__all__)
    assert all(getattr(cr, name) is not None for name in cr.__all__)
    assert set(dir(cr)) == set(cr.__all__)


def test_everything_public_can_be_imported_by_star():
    names: dict[str, object] = {}
    exec("from clustrep import *", names)
    assert set(cr.__all__) <= set(names)


def test_a_name_that_there_is_not():
    with pytest.raises(AttributeError, match="No clustrep attribute replicabilty"):
        cr.replicabilty  # noqa: B018


def test_no_module_has_the_name_of_something_else_that_is_public():
    """Importing it, which any other module may do, would put it in the place of the function."""
    modules = {module.name for module in pkgutil.iter_modules([str(SOURCE)])}
    assert modules & set(cr.__all__) == NAMESPACES


def test_names_are_what_they_are_in_whatever_order_they_are_asked_for():
    """Which follows from the two tests of modules above; here by example, from either end."""
    code = """
import importlib, json, sys
import clustrep
kinds = {}
for names in (clustrep.__all__, clustrep.__all__[::-1]):
    for name in [name for name in sys.modules if name.split(".")[0] == "clustrep"]:
        del sys.modules[name]
    clustrep = importlib.import_module("clustrep")
    for _ in range(2):  # also when everything is imported
        for name in names:
            kinds.setdefault(name, []).append(type(getattr(clustrep, name)).__name__)
print(json.dumps({name: sorted(set(seen)) for name, seen in kinds.items()}))
"""
    kinds = in_new_interpreter(code)
    assert set(kinds) == set(cr.__all__)
    for name, seen in kinds.items():
        expected = "module" if name in NAMESPACES else "type" if name[0].isupper() else "function"
        assert seen in ([expected], ["ABCMeta"]), name


def test_every_error_is_of_the_family():
    for name, kind in vars(cr.errors).items():
        if isinstance(kind, type):
            family = cr.errors.ClustrepWarning if name.endswith("Warning") else cr.errors.ClustrepError
            assert issubclass(kind, family)


# ---------------------------------------------------------------------------------------------------------------------
# importing is quick


def test_importing_the_package_imports_nothing_heavy():
    code = "import json, sys, clustrep; dir(clustrep); print(json.dumps(sorted(sys.modules)))"
    loaded = {name.split(".")[0] for name in in_new_interpreter(code)}
    assert "clustrep" in loaded
    heavy = {"sklearn", "pandas", "matplotlib", "numba", "scipy", "joblib", "tqdm", "numpy"}
    assert not loaded & heavy


def test_a_run_does_not_import_matplotlib():
    code = """
import json, sys
import numpy as np
import clustrep
tables = [np.arange(12.0).reshape(6, 2) ** 1.5, np.arange(12.0).reshape(6, 2) ** 0.5]
result = clustrep.replicability(lambda X: np.arange(len(X)) % 2, tables, n_resamples=1, rng=0)
repr(result), result.to_frame()
print(json.dumps("matplotlib" in sys.modules))
"""
    assert in_new_interpreter(code) is False


# ---------------------------------------------------------------------------------------------------------------------
# words


PUBLIC = {name: getattr(cr, name) for name in cr.__all__} | {
    name: getattr(getattr(cr, room), name) for room in NAMED_INSIDE for name in getattr(cr, room).__all__
}
FUNCTIONS = {
    **{name: value for name, value in PUBLIC.items() if inspect.isfunction(value)},
    "datasets.simulate_cohorts": cr.datasets.simulate_cohorts,
}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


# Functions that return no score: those that set or read something have no formula, no weakness and no reference.
WITHOUT_SCORES = {
    "make_key",
    "config_context",
    "get_config",
    "load",
    "set_config",
    "contingency_table",
    "datasets.simulate_cohorts",
}


def sections_of(text):
    """Return the sections of a docstring as NumPy writes them, by title."""
    lines = text.splitlines()
    return {title for title, rule in itertools.pairwise(lines) if title and rule == "-" * len(title)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_is_explained_with_an_example_that_runs(name):
    text = inspect.getdoc(FUNCTIONS[name])
    expected = {"Returns", "See Also", "Examples"}
    if inspect.signature(FUNCTIONS[name]).parameters:
        expected.add("Parameters")
    if name not in WITHOUT_SCORES:
        expected |= {"Notes", "References"}
    if name in ("set_config", "config_context"):
        expected -= {"Returns"}  # they return nothing
    assert expected - sections_of(text) == set()
    assert "Examples\n--------\n>>> " in text


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class_is_explained_with_an_example_that_runs(name):
    sections = sections_of(inspect.getdoc(CLASSES[name]))
    assert {"See Also", "Notes", "Examples"} - sections == set()
    if inspect.signature(CLASSES[name]).parameters:
        assert sections & {"Parameters", "Attributes"}


def test_sections_are_told_from_text():
    text = "Summary.\n\nParameters\n----------\nu : int\n\nNotes\n---\nSee Also\n"
    assert sections_of(text) == {"Parameters"}


@pytest.mark.parametrize(
    "name", ["replicability", "compare", "local_replicability", "contingency_table", "datasets.simulate_cohorts"]
)
def test_every_parameter_is_explained(name):
    section = inspect.getdoc(FUNCTIONS[name]).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    explained = {
        word.strip()
        for line in section.splitlines()
        if not line.startswith(" ")
        for word in line.split(":")[0].split(",")
    }
    assert explained == set(inspect.signature(FUNCTIONS[name]).parameters)


# ---------------------------------------------------------------------------------------------------------------------
# what is shipped


def test_the_version_is_one_number():
    assert cr.__version__ == importlib.metadata.version("clustrep")


def test_type_checkers_are_told_that_there_are_types():
    assert importlib.resources.files("clustrep").joinpath("py.typed").is_file()


def test_the_conda_recipe_needs_what_the_package_needs():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"matplotlib": "matplotlib-base", "tomli-w": "tomli-w"}
    needed = {re.sub(r"^[\w-]+", lambda match: names.get(match[0], match[0]), line) for line in project["dependencies"]}
    recipe = (root / "conda" / "recipe.yaml").read_text(encoding="utf-8").partition("  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip().removeprefix("- ").replace(" ", "") for line in recipe.splitlines()}
    assert listed == needed | {f"python{project['requires-python']}"}
