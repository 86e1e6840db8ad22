"""One line out of the pages that Spark writes when something fails: the line that says what."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafkatx.terms.errors import KafkatxError

IN_PYTHON = re.compile(
    r"^Traceback .*?^((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt)\b.*?)$", re.MULTILINE | re.DOTALL
)
IN_A_TASK = re.compile(r"Job aborted due to stage failure: .*?\(TID \d+\)[^:]*: (.+)")
CAUSED = re.compile(r"^(?:Caused by)?: (.+)", re.MULTILINE)
TELLING = re.compile(r"Error|Caused by|Exception|(?:[\w$]+\.)*\w+(?:Exception|Error):")


class SparkFailedError(KafkatxError):
    """A job failed on Spark for a reason that is no evidence's: a worker or the JVM ended, or a bug of ours."""


@contextmanager
def without_logging() -> Iterator[None]:
    """Keep PySpark and Py4J from logging, as pages of JSON on standard error, what they raise as well."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)


def is_sparks(error: Exception) -> bool:
    """Whether an exception comes of Spark or of the way to it."""
    rooms = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(rooms & {"pyspark", "py4j", "grpc"}) or isinstance(error, ConnectionError)


def told_by_spark(error: BaseException, log: Path) -> str:
    """Return the line of an exception that names what happened; where the JVM is gone, its last words."""
    text = str(error)
    for pattern in (IN_PYTHON, IN_A_TASK, CAUSED):
        if found := pattern.search(text):
            return found[1].strip()
    if any(kind.__module__.startswith("pyspark") for kind in type(error).__mro__):
        return text.strip().partition("\n")[0]
    return f"its JVM ended; its last words: {last_words_of(log) or 'none (killed for want of memory?)'}"


def last_words_of(log: Path) -> str:
    """Return the last line of a log that names an error, else the last one, "" of an empty log."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.match(line)]
    return (telling or lines or [""])[-1]
