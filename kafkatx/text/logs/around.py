"""What stands around words of Kafka in a line: a front of a logger, a label, a quotation, or a sentence about them.

Front       what loggers, shippers and tools put before a message is made of names, numbers and marks, whichever tool it
            is: times, levels, hosts, files, ids. A sentence is made of words.
Quotation   words in marks that open before and close behind them are quoted whole, whatever the sentence goes on with;
            they happened where the sentence says that somebody met them (bare.py knows those that suppose).
"""

from __future__ import annotations

from kafkatx.terms.regex import regex
from kafkatx.text.logs.stamps import DATED_ANYHOW
from kafkatx.text.logs.suppositions import MET_BEFORE_QUOTATION

LONGEST_FRONT = 400
"""Characters that may stand before a message."""
MOST_WORDS = 2
"""Plain words in a front: a name of a service, a key."""
_WORD = regex(r"[^\W\d_]+['\u2019]?[^\W\d_]*[,.!?]?")
_NAME = regex(r".*[\d|\]\[{}<>=:/_]|.*\w\.\w|[A-Z]{4,8}\b")
_FAILED = regex(
    "[\u2716\u2717\u2718\u274c\u274e\u26a0\u203c\u2757\u26d4\U0001f4a5\U0001f525\U0001f6a8\U0001f6d1]\ufe0f?$"
)
"""Signs that programs print before what failed."""
_TIME = regex(DATED_ANYHOW)
_QUOTES = {'"': '"', "'": "'", "`": "`", "{{": "}}", "\u00ab": "\u00bb", "\u201c": "\u201d", "\u300c": "\u300d"}
_SOURCE = regex(r"=> |(?:^|\s)//|::\w+\(|\b(?:if|match|let|return|raise|throw)\b")
"""Signs of source code, in which a text is a constant or a comment."""
MOST_BEFORE_TIME = 1
"""Words before the time of a line, as the name of its writer; more are somebody's who quotes a line."""


SETTING = regex(r"(?:[\s>|*#/]|&gt;){0,12}[\w-]{1,60}(?:\.[\w-]{1,60}){1,12}\s?=")
"""How a line of a properties file begins, quoted or commented out too: its value is nobody's line of a log."""


def is_front(before: str) -> bool:
    """Whether a program may have printed this before its message: names, numbers and marks, hardly a word."""
    if (
        len(before) > LONGEST_FRONT
        or "\n" in before
        or before.lstrip()[:1] == ">"
        or SETTING.match(before)
        or _quotes_line(before)
        or _SOURCE.search(before)
    ):
        return False
    pieces = before.split()
    plain = sum(_WORD.fullmatch(piece) is not None and not piece.isupper() for piece in pieces)
    return plain <= MOST_WORDS and any(_NAME.match(piece) or _FAILED.match(piece) for piece in pieces)


def _quotes_line(before: str) -> bool:
    """Whether a line of a log begins within what stands before a message."""
    words = (_words(before[: found.start()]) for found in _TIME.finditer(before))
    return any(count > MOST_BEFORE_TIME for count in words)


def _words(text: str) -> int:
    return sum(_WORD.fullmatch(piece.strip("\"'()[]:=")) is not None for piece in text.split())


def is_quoted(before: str, behind: str) -> bool:
    """Whether marks open right before and close right behind, in a sentence that says that somebody met this."""
    opened, closed = before.rstrip(), behind.lstrip(" .!")
    is_within = any(opened.endswith(begin) and closed.startswith(end) for begin, end in _QUOTES.items())
    return is_within and (MET_BEFORE_QUOTATION.search(opened) is not None or not opened.strip("\"'`{ "))
