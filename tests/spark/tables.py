"""Tables as this machine reads them, and the same by tasks that run one after the other without Spark."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kafkatx
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.segments import batches as walks
from kafkatx.spark.planning import Task, opened_evidence, planned
from kafkatx.spark.request import OF_ALL_FILES, Request, request
from kafkatx.spark.rows import rows_of
from kafkatx.stages.blocks import packed, unpacked
from kafkatx.tables.catalogue import TABLES

OF_FILES = tuple(name for name in TABLES if name not in OF_ALL_FILES)


def whole(batches: Iterable[Any], schema: Any) -> Any:
    """One batch a column, so that equal tables are equal however they came."""
    return pa.Table.from_batches(batches, schema).combine_chunks()


def here(paths: Any, name: str, stretch_bytes: int | None = None, **options: Any) -> Any:
    """A table of this machine; `stretch_bytes` makes it forget the producers that it saw as often."""
    with pytest.MonkeyPatch.context() as patch:
        if stretch_bytes is not None:
            patch.setattr(walks, "STRETCH_BYTES", stretch_bytes)
        return whole(kafkatx.open(paths, **options).table(name), TABLES[name].schema)


def in_tasks(
    paths: Iterable[str | Path] | JoinedEvidence, wanted: Request | str, stretch_bytes: int | None = None
) -> Any:
    """A table out of tasks, each of which travelled."""
    asked = request(wanted) if isinstance(wanted, str) else wanted
    evidence = paths if isinstance(paths, JoinedEvidence) else opened_evidence(paths, None)
    found: list[Task] = unpacked(packed(planned(asked, evidence, stretch_bytes)))
    return whole((rows for task in found for rows in rows_of(task)), asked.schema)
