"""A kernel runs compiled wherever the package lies, and is kept where that is possible: as machine code, without numba.

Each test is a process of its own: what a process has compiled stays compiled in it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    print("native" if compiled.is_native else "numba's", "compiled" if "numba" in sys.modules else "kept")
"""
NO_HOME = {"HOME": "/dev/null"}
"""Nobody can make a folder below it, not even root."""
BY_NUMBA = {"NUMBA_BOUNDSCHECK": "1"}
"""Changes what numba makes of a kernel: its own road is taken."""
OF_CACHES = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPYCACHEPREFIX"}


def compiled_from(place: Path, before: str = "", **environment: str) -> str:
    """Call a compiled kernel of the package at `place` in a fresh process; tells how it came to it."""
    told = {name: value for name, value in os.environ.items() if name not in OF_CACHES}
    done = subprocess.run(
        [sys.executable, "-c", CHECKED.format(before=before), place],
        env={**told, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=place.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy the package; return the folder to import it from."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "kafkatx", folder / "kafkatx", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_kernel_is_kept_beside_the_bytecode_and_runs_without_numba(package):
    assert compiled_from(package, **NO_HOME) == "native compiled"
    (path,) = (package / "kafkatx/kernels/__pycache__").iterdir()
    assert (path.name[:14], path.suffix) == ("crc32c.crc32c-", ".kernel")
    assert compiled_from(package, before="sys.modules['numba.core'] = None", **NO_HOME) == "native kept"


def test_a_read_only_package_uses_the_cache_of_the_user(package, tmp_path):
    read_only(package)
    assert compiled_from(package, HOME=str(tmp_path)) == "native compiled"
    assert [path.parent for path in tmp_path.rglob("*.kernel")] == [tmp_path / ".cache/kafkatx"]
    assert compiled_from(package, HOME=str(tmp_path)) == "native kept"


def test_a_read_only_package_without_a_home_compiles_for_itself(package):
    read_only(package)
    assert [compiled_from(package, **NO_HOME) for _ in range(2)] == ["native compiled"] * 2


def test_a_package_in_a_zip_compiles_for_itself_and_leaves_nothing_behind(tmp_path):
    assert compiled_from(archive(), HOME=str(tmp_path)) == "native compiled"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_package_in_a_zip_needs_no_home():
    assert compiled_from(archive(), **NO_HOME) == "native compiled"


def test_other_sources_are_compiled_anew(package):
    compiled_from(package)
    with (package / "kafkatx/kernels/bytes.py").open("a") as source:
        source.write("# another byte\n")
    assert compiled_from(package) == "native compiled"
    assert compiled_from(package) == "native kept"


def test_another_processor_is_compiled_for_anew(package):
    compiled_from(package)
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert [compiled_from(package, **other) for _ in range(2)] == ["native compiled", "native kept"]
    assert compiled_from(package) == "native kept"


def test_settings_that_change_what_numba_makes_take_its_own_road(package):
    compiled_from(package)
    assert compiled_from(package, **BY_NUMBA) == "numba's compiled"
    assert list((package / "kafkatx/kernels/__pycache__").glob("crc32c*.nbi"))


def test_a_system_whose_objects_are_not_known_takes_the_road_of_numba(package):
    assert compiled_from(package, before="sys.platform = 'other'") == "numba's compiled"
    assert list(package.rglob("*.kernel")) == []


def test_nothing_is_kept_twice(package):
    compiled_from(package)
    assert list(package.rglob("*.nb?")) == []


def test_a_cache_of_numba_that_fails_at_the_first_call_does_not_lose_the_call(package, tmp_path):
    taken = tmp_path / "cache"
    gone = f"import shutil; shutil.rmtree({str(taken)!r}, True); Path({str(taken)!r}).touch()"
    compiled_from(package, before=f"kernel.crc32c.by_numba(False); {gone}", NUMBA_CACHE_DIR=str(taken), **BY_NUMBA)
    assert taken.is_file()


def test_a_torn_file_of_the_cache_of_numba_is_passed_over(package, tmp_path):
    compiled_from(package, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **BY_NUMBA)
    (index,) = (tmp_path / "cache").rglob("crc32c*.nbi")
    index.write_bytes(b"")
    compiled_from(package, NUMBA_CACHE_DIR=str(tmp_path / "cache"), **BY_NUMBA)


def read_only(package: Path) -> None:
    """Take the right to write away, and from root, who needs none, the place that would be written to."""
    (package / "kafkatx/kernels/__pycache__").touch()
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
