"""What Spark says of a failure, as errors of ours: one line that says what, and where, as far as that is known."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkatx.spark.trail import JOB, Note, forget, notes_left, read_note
from kafkatx.terms.errors import EngineError, KafkatxError, OutputError, UsageError
from kafkatx.terms.regex import regex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_PYTHON = regex(r"^Traceback .*?^((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt)\b.*?)$", re.MULTILINE | re.DOTALL)
IN_A_TASK = regex(r"Job aborted due to stage failure: .*?\(TID \d+\)[^:]*: (.+)")
LOST_TASK = regex(r"Job aborted due to stage failure: .*?\(TID (\d+)\) \((\S+) executor ([^)]+)\)")
CAUSED = regex(r"^(?:Caused by)?: (.+)", re.MULTILINE)
TELLING = regex(r"Error|Caused by|Exception|(?:[\w$]+\.)*\w+(?:Exception|Error):")
NOTED = "kafkatx was at "
"""Begins the line that a task adds to an exception: its note follows."""
OF_A_TASK = regex(rf"^{NOTED}(\{{.*\}})\s*$", re.MULTILINE)
OF_MACHINES = regex(r"(?:Memory|OS|IO|EOF|BlockingIO|Connection\w*|Timeout|FileNotFound|Permission)Error\b")
"""Exceptions of Python that are no bug: a machine lacks something."""
OURS = regex(r"kafkatx\.[\w.]+\.(\w+Error): (.*)")
MB = 1_000_000
TASKS_THAT_LOOK = 8
"""How many tasks look for notes on the machines of a session."""


class SparkFailedError(EngineError):
    """A job failed on Spark for a reason that is no evidence's: a worker or the JVM ended, a disk is full."""

    jvm_ended = False


class WorkerLacksFileError(SparkFailedError):
    """A worker can't open a file that the driver can: it is not mounted there, or nobody may read it."""


class SparkBugError(KafkatxError):
    """Code of ours failed in a worker, or what we asked of Spark can't be: a bug of kafkatx."""


@contextmanager
def without_logging() -> Iterator[None]:
    """Keep PySpark and Py4J from logging, as pages of JSON on standard error, what they raise as well."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def failures_told(spark: SparkSession | None = None, log: Path | None = None) -> Iterator[None]:
    """Raise errors of ours for what Spark raises inside: SparkFailedError, and what tasks raise on purpose.

    `log` is what the JVM prints to, where that is known.
    """
    try:
        yield
    except SparkFailedError as error:
        if log is None or not error.jvm_ended:
            raise
        raise _jvm_ended(log) from error
    except Exception as error:
        if not is_sparks(error):
            raise
        raise failure(error, spark, log) from error
    finally:
        forget(JOB)


def failure(error: BaseException, spark: SparkSession | None, log: Path | None = None) -> KafkatxError:
    """Return what an exception of Spark's comes to."""
    text = str(error)
    told = told_by_spark(error, log)
    if told is None:
        return _jvm_ended(log)
    note = _note(text, spark)
    where = {} if note is None else {name: asdict(note)[name] for name in ("stage", "file", "worker", "memory_bytes")}
    if ours := OURS.match(told):
        return _ours(ours[1], ours[2], where)
    line = f"Spark failed: {told}{_place(where)} (--debug before the command shows all)"
    in_python = IN_PYTHON.search(text) is not None and not OF_MACHINES.search(told)
    if in_python or (IN_A_TASK.search(text) is None and _is_of_query(error)):
        return SparkBugError(line)
    if "worker" not in where and (lost := LOST_TASK.search(text)):
        where["worker"] = lost[2]
    return SparkFailedError(line, **where)


def _ours(kind: str, text: str, where: dict[str, Any]) -> KafkatxError:
    """What a task raised on purpose."""
    from kafkatx.stages.facts import FactsError

    if kind == WorkerLacksFileError.__name__:
        return WorkerLacksFileError(text, **where)
    if kind == OutputError.__name__:
        return OutputError(text)
    return FactsError(text) if kind == FactsError.__name__ else UsageError(text)


def _place(where: dict[str, Any]) -> str:
    """Where it happened, as the end of a sentence."""
    words = {
        "stage": "while {}",
        "file": "file {}",
        "worker": "on worker {}",
        "memory_bytes": "in {:,} MB of memory",
    }
    told = {
        name: value // MB if name == "memory_bytes" else value for name, value in where.items() if value is not None
    }
    return "".join(f"; {words[name].format(value)}" for name, value in told.items())


def _jvm_ended(log: Path | None) -> SparkFailedError:
    words = last_words_of(log) if log is not None else ""
    failed = SparkFailedError(
        f"Spark failed: its JVM ended; its last words: {words or 'none (killed for want of memory?)'} "
        "(--debug before the command shows all)"
    )
    failed.jvm_ended = True
    return failed


def is_sparks(error: BaseException) -> bool:
    """Whether an exception comes of Spark or of the way to it."""
    rooms = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(rooms & {"pyspark", "py4j", "grpc"}) or isinstance(error, ConnectionError)


def _is_of_query(error: BaseException) -> bool:
    """Whether Spark refused what it was asked for, before anything ran."""
    return type(error).__name__ in ("AnalysisException", "ParseException", "PySparkTypeError", "PySparkValueError")


def told_by_spark(error: BaseException, log: Path | None = None) -> str | None:
    """Return the line of an exception that names what happened; None where the JVM is gone."""
    text = str(error)
    for pattern in (IN_PYTHON, IN_A_TASK):
        if found := pattern.search(text):
            return found[1].strip()
    causes: list[str] = [cause.strip() for cause in CAUSED.findall(text)]
    if causes:
        return next((cause for cause in causes if not cause.endswith(":")), causes[0])
    if any(kind.__module__.startswith("pyspark") for kind in type(error).__mro__):
        return text.strip().partition("\n")[0]
    return None


def last_words_of(log: Path) -> str:
    """Return the last line of a log that names an error, else the last one, "" of an empty log."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.match(line)]
    return (telling or lines or [""])[-1]


def noted(error: BaseException, note: Note) -> None:
    """Add to an exception what its task was doing, as a line that `failure` finds; a file that it names comes first."""
    note = replace(note, file=getattr(error, "file", None) or note.file)
    error.add_note(f"{NOTED}{json.dumps(asdict(note))}")


def _note(text: str, spark: SparkSession | None) -> Note | None:
    """What the task that failed was doing: as its exception says, else as it left a note of it."""
    if found := OF_A_TASK.search(text):
        with suppress(ValueError, TypeError):
            return read_note(found[1])
    lost = LOST_TASK.search(text)
    found_left = [*notes_left(JOB), *(_notes_of_workers(spark) if lost else ())]
    left: dict[int, Note] = {note.task: note for note in found_left}
    if lost is None or int(lost[1]) not in left:
        return next(iter(left.values())) if len(left) == 1 else None
    return left[int(lost[1])]


def _notes_of_workers(spark: SparkSession | None) -> list[Note]:
    """Notes that are left on the machines of a session; none where it runs no job any more."""
    from kafkatx.spark.spreading import running_on

    if spark is None:
        return []
    try:
        return [note for notes in running_on(spark)(_left, [JOB] * TASKS_THAT_LOOK) for note in notes]
    except Exception:  # it failed already; that it can't say more is no news
        return []


def _left(job: str) -> list[Note]:
    return [*notes_left(job)]
