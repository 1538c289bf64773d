"""Compiled kernels on disk: whatever happens to their files, results are the same and no replicate fails."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import warnings

import numba
import pytest

from clustrep.errors import MachineWarning
from clustrep.kernels import compiled as kernel_files

KERNELS = """
from clustrep.kernels.compiled import compiled

@compiled
def doubled(x):
    return 2 * x

@compiled
def outer(x):
    return doubled(x) + 1
"""


@pytest.fixture
def new_process(tmp_path, monkeypatch):
    """Load the module of kernels as a new process would, with files in a folder of their own."""
    source = tmp_path / "source" / "some_kernels.py"
    source.parent.mkdir()
    source.write_text(KERNELS)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))

    def load():
        kernel_files._said.clear()
        kernel_files._sources.cache_clear()
        spec = importlib.util.spec_from_file_location("some_kernels", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def kept(tmp_path):
    return sorted(path for path in (tmp_path / "kept").rglob("*") if path.is_file())


def call(module, argument=20):
    """Call a kernel; return its value, what was warned and how many kernels were read instead of compiled."""
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        value = module.outer(argument)
    hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in (module.outer, module.doubled))
    assert {warning.category for warning in record} <= {MachineWarning}
    return value, [str(warning.message) for warning in record], hits


def test_kernels_are_kept(new_process, tmp_path):
    assert call(new_process()) == (41, [], 0)
    assert [path.suffix for path in kept(tmp_path)] == [".nbc", ".nbi"]  # what it calls is a part of it
    assert call(new_process()) == (41, [], 1)


def test_a_kernel_that_others_call_is_called_by_itself_too(new_process, tmp_path):
    module = new_process()
    assert (module.outer(20), module.doubled(20)) == (41, 40)
    assert len(kept(tmp_path)) == 4
    again = new_process()
    assert (again.doubled(20), again.outer(20), sum(again.doubled._cache_hits.values())) == (40, 41, 1)


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "one byte short": lambda content: content[:-1],
    "first bit": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "middle bit": lambda content: (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
    ),
    "last bit": lambda content: content[:-1] + bytes([content[-1] ^ 128]),
    "another file": lambda content: b"not a kernel" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again_and_that_is_said_once(damage, new_process, tmp_path):
    call(new_process())
    for path in kept(tmp_path):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
        value, said, _ = call(new_process())
        assert value == 41
        (sentence,) = said
        assert f"{path.name} is damaged): they are compiled again." in sentence
        assert call(new_process()) == (41, [], 1)  # and are whole once more


def test_all_files_damaged_at_once_are_said_once(new_process, tmp_path):
    call(new_process())
    for path in kept(tmp_path):
        path.write_bytes(b"")
    value, said, _ = call(new_process())
    assert (value, len(said)) == (41, 1)


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(new_process, tmp_path, monkeypatch):
    """Numba looks at the module of the kernel alone."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # both versions have the same size and second
    inner = tmp_path / "source" / "inner_kernels.py"
    inner.write_text(KERNELS)
    source = tmp_path / "source" / "some_kernels.py"
    source.write_text(
        KERNELS.replace("    return 2 * x", "    return x")
        .replace("return doubled", "return inner_doubled")
        .replace("import compiled", "import compiled\nfrom inner_kernels import doubled as inner_doubled")
    )
    sys.path.insert(0, str(inner.parent))
    try:
        assert call(new_process())[0] == 41
        inner.write_text(KERNELS.replace("2 * x", "3 * x"))
        del sys.modules["inner_kernels"]
        importlib.invalidate_caches()
        assert call(new_process())[0] == 61
    finally:
        sys.path.remove(str(inner.parent))
        sys.modules.pop("inner_kernels", None)


def test_a_folder_that_is_gone_is_made_again(new_process, tmp_path):
    module = new_process()
    shutil.rmtree(tmp_path / "kept")
    assert call(module) == (41, [], 0)
    assert len(kept(tmp_path)) == 2


def test_a_folder_that_cannot_be_written_to_is_said_once(new_process, tmp_path):
    module = new_process()
    (place,) = (tmp_path / "kept").iterdir()
    (place / "clustrep").write_text("a file in its place")  # also for root, whom no permission stops
    value, (sentence,), _ = call(module)
    assert value == 41
    assert sentence.startswith(f"Compiled kernels can't be kept in {place / 'clustrep'} (")
    assert "NUMBA_CACHE_DIR" in sentence


@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_is_not_used(mode, new_process, tmp_path):
    """Its files are pickles and machine code."""
    call(new_process())
    (folder,) = {path.parent for path in kept(tmp_path)}
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(mode)
    value, (sentence,), hits = call(new_process())
    assert (value, hits) == (41, 0)
    assert "others can write to it" in sentence


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_a_folder_of_another_user_is_not_used(new_process, tmp_path):
    call(new_process())
    (folder,) = {path.parent for path in kept(tmp_path)}
    os.chown(folder, 12345, 12345)
    value, said, hits = call(new_process())
    assert (value, len(said), hits) == (41, 1, 0)


def test_no_folder_at_all_is_said_once(new_process, tmp_path, monkeypatch):
    """Neither the one named, nor that of the module, nor the user's cache."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(in_the_way / "kept"))
    (tmp_path / "source" / "__pycache__").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_the_way))
    value, (sentence,), _ = call(new_process())
    assert value == 41
    assert sentence.startswith("Compiled kernels can't be kept in the package's folder")


FULL = """
import resource
import clustrep
from sklearn.cluster import AgglomerativeClustering
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # from here on as on a full disk
tables = [[[i % 5 + 0.1 * i, i * i % 7] for i in range(n)] for n in (20, 25)]
result = clustrep.replicability(AgglomerativeClustering(2), tables, n_resamples=2, rng=0, n_jobs=1)
print(result.failures, result.estimate[0, 1])
"""


def test_a_full_disk_fails_no_replicate(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", FULL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{} ")
    assert done.stderr.count("Compiled kernels can't be kept") == 1, done.stderr
    assert "While the replicates ran" not in done.stderr
