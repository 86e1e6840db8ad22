"""How a log begins its entries, as a sample of its lines shows it."""

from __future__ import annotations

from kafkatx.kernels.literals import BROKER, BROKER_WITH_LOGGERS, EVERY_LINE
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed
from kafkatx.text.logs.traces import begins_trace

LONGEST_END = 300
"""Characters at the end of a line that its logger stands in."""


@dataclass(frozen=True, slots=True)
class EntryShape:
    """How a log begins its entries, as its first lines show it (`mode`: kernels/literals.py).

    `is_bare`: most lines have nothing before the message, so that a line without anything may be an event;
    `has_loggers`: messages end with ` (logger)`.
    """

    mode: int
    is_bare: bool
    has_loggers: bool


def shape_of(texts: list[str], lines: list[Framed]) -> EntryShape:
    """Tell the shape by a sample of a log's lines and what they are."""
    framed = [(text, line) for text, line in zip(texts, lines, strict=True) if line.layout]
    broker = [text for text, _ in framed if text[:1] == "[" and text[1:3].isdecimal() and text[1:3].isascii()]
    ended = [text for text, line in framed if line.logger and f" ({line.logger}" in text[-LONGEST_END:]]
    has_loggers = bool(framed) and len(ended) >= 0.8 * len(framed)
    if not framed or len(broker) < 0.9 * len(framed):
        return EntryShape(EVERY_LINE, all(line.layout == MESSAGE_ONLY for _, line in framed), has_loggers)
    return EntryShape(BROKER_WITH_LOGGERS if has_loggers else BROKER, is_bare=False, has_loggers=has_loggers)


def begins_with_trace(texts: list[str], lines: list[Framed]) -> bool:
    """Whether the first line of a sample that is none of the log's own is an exception: the line above it was cut."""
    for text, line in zip(texts, lines, strict=True):
        if line.layout not in ("", MESSAGE_ONLY, REMNANT):
            return False
        if begins_trace(text.strip()):
            return True
    return False
