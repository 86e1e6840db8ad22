"""What an application logged on the line right before a client's own line: why it called.

A client says that abortTransaction was called, the application why. Its line counts where it is a whole line of a
logger of its own, not of a Kafka library, by the same thread (where both name one) and within a second.
"""

from __future__ import annotations

from typing import Any

from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import EventKind
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed, Framer
from kafkatx.text.logs.strings import Strings

SAME_MOMENT_MS = 1_000
LONGEST_BEFORE = 1 << 12
"""Bytes before a line in which the line before it is looked for; a longer one says too much to be a reason."""
_LIBRARIES = ("org.apache.kafka.", "o.a.k.", "kafka.", "aiokafka", "rdkafka", "librdkafka", "kgo", "sarama", "kafkajs")
"""How names of loggers of Kafka's own libraries begin."""


def fill_said_before(file: OpenFile, first: int, framer: Framer, events: Any, strings: Strings) -> None:
    """Write into aborts that say nothing else (`detail`) what the application logged before them.

    `first` is where the text of these events begins in the file.
    """
    chosen = (events["kind"] == EventKind.abort_called) & (events["detail_code"] < 0)
    for event in (number for number in chosen.nonzero()[0].tolist()):
        row = events[event]
        framed = _line_before(file, first, int(row["position"]), framer)
        if framed is not None and _is_reason(framed, row, strings):
            events["detail_code"][event] = strings.code(framed.message)


def _line_before(file: OpenFile, first: int, position: int, framer: Framer) -> Framed | None:
    begin = max(first, position - LONGEST_BEFORE)
    before = file.read(begin, position - begin).decode("utf-8", "replace").removesuffix("\n")
    whole = "\n" in before or begin == first
    return framer.frame(before.rpartition("\n")[2].rstrip("\r")) if before and whole else None


def _is_reason(framed: Framed, row: Any, strings: Strings) -> bool:
    if framed.layout in ("", MESSAGE_ONLY, REMNANT) or not framed.message or not framed.logger:
        return False
    if framed.logger.lower().startswith(_LIBRARIES) or framed.at < 0 or abs(row["at"] - framed.at) > SAME_MOMENT_MS:
        return False
    thread = int(row["thread_code"])
    return thread < 0 or not framed.thread or strings.code(framed.thread) == thread
