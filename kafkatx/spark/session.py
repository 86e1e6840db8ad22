"""A Spark session for a command: the caller's where there is one, else our own, started quietly and stopped after use.

A session that was found is neither configured nor stopped: it belongs to whoever made it. What ours is set to stands in
`settings`. Spark's JVM writes to a file of its own, so nothing of it comes between a command's lines; the file is shown
where Spark does not start.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING

from kafkatx.spark.failures import SparkFailedError, failures_told, last_words_of, told_by_spark
from kafkatx.spark.installed import require_connect, require_java, require_pyspark
from kafkatx.spark.masters import Master, parse_master
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS_A_BATCH = 64
BYTES_A_BATCH = 8 << 20
"""What Python workers are handed at once: our rows are blocks of up to some hundred kilobytes."""

EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_A_BATCH),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BYTES_A_BATCH),
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
}
"""Settings of the SQL session, for Spark Connect too. The last keeps a cluster `0012` from being taken for 12."""

OWN_JVM = {
    "spark.app.name": "kafkatx",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.executorEnv.NUMBA_NUM_THREADS": "1",
    "spark.executorEnv.OMP_NUM_THREADS": "1",
}
"""A worker is one of as many as there are cores, so each keeps to one thread."""

MOVES_BYTES = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
"""What the JVM does for us is to move blocks: that is not worth its second compiler, nor a collector beside it."""

THIS_MACHINE = {
    "spark.driver.defaultJavaOptions": MOVES_BYTES,
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """Yield the active session, or one of our own that ends with the block.

    Args:
        master: Where Spark runs (`local[4]`, `spark://host:7077`, `yarn`, `sc://host`, ...). Default: what spark-submit
            or SPARK_REMOTE say, else all cores of this machine.

    Raises:
        UsageError: PySpark or Java are missing or of the wrong release, `master` is no master or not that of the
            session that is active already.
        SparkFailedError: Spark did not start, or failed inside.
    """
    require_pyspark()
    wanted = parse_master(master) if master is not None else None
    found = _found(wanted)
    if found is not None:
        yield found
        return
    with TemporaryDirectory(prefix="kafkatx-spark-", ignore_cleanup_errors=True) as folder:
        log = Path(folder, "spark.log")
        started = _started(wanted or _default(), log)
        try:
            with failures_told(started, log):
                yield started
        finally:
            _stop(started)


def settings(master: Master, folder: Path) -> dict[str, str]:
    """Return what a session of our own is set to; Spark's own tables, if any, lie in `folder`.

    The driver's heap stays at Spark's default of 1 GiB.
    """
    if master.is_remote:
        return EVERYWHERE
    if master.local_cores is None:
        return EVERYWHERE | OWN_JVM
    partitions = {"spark.sql.shuffle.partitions": str(2 * master.local_cores)}
    return EVERYWHERE | OWN_JVM | THIS_MACHINE | partitions | {"spark.sql.warehouse.dir": str(folder / "warehouse")}


def _found(wanted: Master | None) -> SparkSession | None:
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is not None and wanted is not None and (running := found.conf.get("spark.master", None)) != wanted.url:
        raise UsageError(f"--master {wanted.url}: a Spark session is active already, on {running}; leave --master out")
    return found


def _default() -> Master:
    """Return the master of whoever started us, else this machine."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return Master("")
    return parse_master(os.environ.get("SPARK_REMOTE") or "local[*]")


def _started(master: Master, log: Path) -> SparkSession:
    if master.is_remote:
        require_connect(master.url)
    elif master.url:
        require_java()
    try:
        with environment(_surroundings(master)), _printing_to(log):
            return _built(master, settings(master, log.parent))
    except (Exception, SystemExit) as error:  # PySpark exits where a package of its own is missing
        raise SparkFailedError(_why_not(master, error, log)) from error


def _built(master: Master, wanted: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in wanted.items():
        builder = builder.config(name, value)
    if master.is_remote:
        return builder.remote(master.url).getOrCreate()
    return (builder.master(master.url) if master.url else builder).getOrCreate()


def _stop(started: SparkSession) -> None:
    """Stop a session; one whose JVM is gone can't be stopped, and what ended it is on its way to the user already."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started.stop()


def _surroundings(master: Master) -> dict[str, str]:
    """Return the variables that a JVM on this machine and its Python workers start with; what the user set stands.

    Without PYSPARK_PYTHON workers are the `python3` of PATH, which need not be this one.
    """
    if master.local_cores is None:
        return {}
    wanted = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    if "PYSPARK_PYTHON" not in os.environ and not master.is_cluster:
        wanted["PYTHONPATH"] = _python_path()
    return {name: value for name, value in wanted.items() if name == "PYTHONPATH" or name not in os.environ}


def _python_path() -> str:
    """Return PYTHONPATH with the folder of this package, where it is not one that every Python here looks into."""
    root, before = str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")
    known = [*site.getsitepackages(), site.getusersitepackages()]
    return before if root in known else os.pathsep.join(filter(None, [root, before]))


@contextmanager
def environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the length of a block."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _printing_to(log: Path) -> Iterator[None]:
    """Send standard output and error of this process, and so of the JVM that it starts, to a file."""
    kept = [os.dup(number) for number in (1, 2)]
    with log.open("wb") as file:
        _point([file.fileno()] * 2)
    try:
        yield
    finally:
        _point(kept)
        for number in kept:
            os.close(number)


def _point(at: Sequence[int]) -> None:
    for stream, number, to in zip((sys.stdout, sys.stderr), (1, 2), at, strict=True):
        stream.flush()
        os.dup2(to, number)


def _why_not(master: Master, error: BaseException, log: Path) -> str:
    """Return one line on a Spark that did not start, and keep all that it printed for who wants more."""
    failed = f"Spark did not start with --master {master.url}: {last_words_of(log) or told_by_spark(error) or error}"
    if not log.stat().st_size:
        return failed
    number, kept = mkstemp(prefix="kafkatx-spark-", suffix=".log")
    os.close(number)
    shutil.copyfile(log, kept)
    return f"{failed} (all that it printed is in {kept})"
