"""Brings this package to the Python workers of a cluster, which import it by name and may not have it.

Only Python and data files travel. What the package needs (numpy, pyarrow, numba, codecs) is compiled and has to be
installed there. Where that was done with this very kafkatx nothing is shipped, and compiled kernels are kept from one
job to the next; from a shipped zip every worker compiles anew.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from kafkatx.spark.masters import LOCAL

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

LEFT_OUT = (".pyc", ".nbi", ".nbc")
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold: equal packages make equal archives."""


def ship(spark: SparkSession) -> None:
    """See to it that the workers of a session import this kafkatx: adds it as a zip unless they have it already.

    Workers of this machine have it. May be called before each job; again it costs one task and adds nothing.
    """
    if _runs_here(spark):
        return
    path = archive()
    answers = spark.range(0, 1, 1, 1).mapInArrow(teller(), "digest string").collect()
    if f"kafkatx-{answers[0].digest}.zip" != path.name:
        spark.addArtifacts(str(path), pyfile=True)


@cache
def archive() -> Path:
    """Return the package as a zip, made once a process and gone with it; its name tells its content."""
    contents = sorted(_contents(files("kafkatx"), ""))
    folder = mkdtemp(prefix="kafkatx-shipped-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder, f"kafkatx-{_digest(contents)}.zip")
    with zipfile.ZipFile(path, "w") as made:
        for name, content in contents:
            entry = zipfile.ZipInfo(f"kafkatx/{name}", EPOCH)
            entry.external_attr = 0o644 << 16
            made.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def teller() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that tells the digest of the kafkatx that a worker would import; "" where it would find none.

    It is nested and so travels by value, to a worker that can't import this module; and it imports nothing of the
    package, else the worker would keep what it has.
    """

    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import hashlib
        import re
        from importlib.util import find_spec
        from pathlib import Path

        import pyarrow as pa

        def found() -> str:
            spec = find_spec("kafkatx")
            if spec is None or spec.origin is None:
                return ""
            if shipped := re.search(r"kafkatx-(\w+)\.zip", spec.origin):
                return shipped[1]
            root, told = Path(spec.origin).parent, hashlib.sha256()
            left_out = {".pyc", ".nbi", ".nbc"}
            files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
            kept = [path for path in files if path.suffix not in left_out]
            for name, path in sorted((path.relative_to(root).as_posix(), path) for path in kept):
                told.update(f"{name}\0{path.stat().st_size}\0".encode())
                told.update(path.read_bytes())
            return told.hexdigest()[:16] if kept else ""

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"digest": [found()]})

    return tell


def _digest(contents: list[tuple[str, bytes]]) -> str:
    """Same digest, of what would be shipped."""
    told = hashlib.sha256()
    for name, content in contents:
        told.update(f"{name}\0{len(content)}\0".encode())
        told.update(content)
    return told.hexdigest()[:16]


def _contents(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of what the package holds, wherever it was imported from."""
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _contents(entry, f"{prefix}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(LEFT_OUT):
            yield f"{prefix}{entry.name}", entry.read_bytes()


def _runs_here(spark: SparkSession) -> bool:
    """Whether the workers are children of this machine's own JVM; a Spark Connect server may be anywhere."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return False
    return LOCAL.fullmatch(spark.conf.get("spark.master", None) or "") is not None
