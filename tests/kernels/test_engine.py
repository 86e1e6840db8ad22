"""A kernel runs compiled wherever the package lies: without a folder for numba's cache, from a zip, on a broken cache.

Each test is a process of its own: what a process has compiled stays compiled in it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkatx.kernels.crc32c import crc32c
from kafkatx.spark.shipping import archive
from tests.evidence import ROOT

CHECKED = """
import sys
from pathlib import Path
import numpy as np
import kafkatx
from kafkatx.kernels import crc32c as kernel
from kafkatx.kernels.engine import forced
assert kafkatx.__file__.startswith(sys.argv[1]), kafkatx.__file__
with forced("compiled"):
    compiled = kernel.crc32c.compiled
    {before}
    assert kernel.crc32c(kernel.crc32c.view(b"123456789"), 0, 9, 0) == 0xE3069283
    assert compiled.signatures
"""
NO_HOME = {"HOME": "/dev/null"}
"""Nobody can make a folder below it, not even root."""


def compiled_from(place: Path, before: str = "", **environment: str) -> None:
    """Call a compiled kernel of the package at `place` in a fresh process; a failure there fails the test."""
    kept = {name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    done = subprocess.run(
        [sys.executable, "-c", CHECKED.format(before=before), place],
        env={**kept, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=place.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy the package; return the folder to import it from."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "kafkatx", folder / "kafkatx", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_kernel_is_kept_on_disk_beside_its_source(package):
    compiled_from(package, **NO_HOME)
    assert list((package / "kafkatx/kernels/__pycache__").glob("crc32c*.nbi"))


def test_a_read_only_package_uses_the_cache_of_the_user(package, tmp_path):
    read_only(package)
    compiled_from(package, HOME=str(tmp_path))
    assert list(tmp_path.rglob("crc32c*.nbi"))


def test_a_read_only_package_without_a_home_compiles_for_itself(package):
    read_only(package)
    compiled_from(package, **NO_HOME)


def test_a_package_in_a_zip_compiles_for_itself_and_leaves_nothing_behind(tmp_path):
    compiled_from(archive(), HOME=str(tmp_path))
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_package_in_a_zip_needs_no_home():
    compiled_from(archive(), **NO_HOME)


def test_a_cache_that_fails_at_the_first_call_does_not_lose_the_call(package, tmp_path):
    taken = tmp_path / "cache"
    gone = f"import shutil; shutil.rmtree({str(taken)!r}); Path({str(taken)!r}).touch()"
    compiled_from(package, before=gone, NUMBA_CACHE_DIR=str(taken))
    assert taken.is_file()


def test_a_torn_file_of_the_cache_is_passed_over(package, tmp_path):
    compiled_from(package, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    (index,) = (tmp_path / "cache").rglob("crc32c*.nbi")
    index.write_bytes(b"")
    compiled_from(package, NUMBA_CACHE_DIR=str(tmp_path / "cache"))


def test_the_cache_of_a_compiled_kernel_is_the_forgiving_one():
    assert type(crc32c.compiled._cache).__name__ == "_ForgivingCache"  # type: ignore[attr-defined]


def read_only(package: Path) -> None:
    """Take the right to write away, and from root, who needs none, the place that numba would write to."""
    (package / "kafkatx/kernels/__pycache__").touch()
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
