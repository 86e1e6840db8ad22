"""Whether what stands below a line of a log is its own, and what is known of it where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkatx.terms.events import Level
from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import SETTING
from kafkatx.text.logs.contexts import NOTHING
from kafkatx.text.logs.framing import Framed

_RETRIES = ("Got error produce response ", "Received invalid metadata error in produce request ")
"""What a producer says of a request that it sends again: lines without a trace (Sender)."""
_TROUBLE = regex("rror|xception|ail|due to|ould not|nable")
_OF_PYTHON = regex(r"(?:aio)?kafka(?:\.[a-z_0-9]{1,40}){0,6}")
"""Loggers (modules, never classes as in brokers) of clients that print a traceback at ERROR only."""
_OF_C = ("rdkafka.", "librdkafka")
"""Loggers of librdkafka: what is thrown below its lines was thrown by its caller."""


def never_throws(framed: Framed) -> bool:
    """Whether a line is one of Kafka's own that never carries a trace."""
    if framed.message.startswith(_RETRIES) or framed.logger.startswith(_OF_C):
        return True
    if Level.unknown < framed.level < Level.error and _OF_PYTHON.fullmatch(framed.logger):
        return True
    return is_quiet(framed) and framed.logger.startswith(("org.apache.kafka.", "o.a.k."))


def is_quiet(framed: Framed) -> bool:
    """Whether a line tells of nothing that went wrong: in a short text what stands under it is another line's."""
    return framed.level in (Level.debug, Level.info) and not _TROUBLE.search(framed.message)


def printed(framed: Framed) -> Framed:
    """What is known of a trace below a line that is not its own."""
    return replace(framed, level=Level.unknown, thread="", logger="", context=NOTHING, message="")


def of_nobody(framed: Framed) -> Framed:
    """The same of another file, whose time is not known either."""
    return replace(printed(framed), at=-1, of_day=-1)


def settings_in(tail: Sequence[str]) -> int:
    """Where printed settings begin, -1 for nowhere."""
    return next((at for at, line in enumerate(tail) if SETTING.match(line)), -1)
