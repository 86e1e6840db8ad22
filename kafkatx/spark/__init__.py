"""The pipeline on Spark: `register`, `read` and `diagnose` (docs/spark.md). The only room that imports PySpark.

Doors     source, streaming: the data source, by request and conditions; reading: tables; diagnosis; exporting.
Plan      planning, dealing, passes: which task reads what; looking: looks into files, as tasks.
Tasks     rows, growth_rows, growing: rows of tables; pipeline, judging: the stages; conform, schema: as Spark has them.
Export    export_steps, dealt_blocks: what tasks do; export_stage, export_store, export_lock: where it lies;
          table_writing, writing_session: tables.
Cluster   session, masters, installed: a session; shipping, spreading, workers, memory: Python workers; missing, trail,
          failures: what went wrong there.

Names are loaded when they are first used; without the extra `spark` that is one clear line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkatx.spark.diagnosis import diagnose
    from kafkatx.spark.exporting import export
    from kafkatx.spark.failures import SparkBugError, SparkFailedError, WorkerLacksFileError
    from kafkatx.spark.reading import read
    from kafkatx.spark.source import register

__all__ = ["SparkBugError", "SparkFailedError", "WorkerLacksFileError", "diagnose", "export", "read", "register"]

_PLACES = {
    "diagnose": "kafkatx.spark.diagnosis",
    "export": "kafkatx.spark.exporting",
    "read": "kafkatx.spark.reading",
    "register": "kafkatx.spark.source",
    **dict.fromkeys(("SparkBugError", "SparkFailedError", "WorkerLacksFileError"), "kafkatx.spark.failures"),
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'kafkatx.spark' has no attribute {name!r}")
    import importlib

    from kafkatx.spark.installed import require_pyspark

    require_pyspark()
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
