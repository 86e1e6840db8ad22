"""What stands around words of Kafka in a line: a front of a logger, a label, a quotation, or a sentence about them.

Front       what loggers, shippers and tools put before a message is made of names, numbers and marks, whichever tool it
            is: times, levels, hosts, files, ids. A sentence is made of words.
Quotation   words in marks that open before and close behind them are quoted whole, whatever the sentence goes on with.
"""

from __future__ import annotations

import re

LONGEST_FRONT = 400
"""Characters that may stand before a message."""
MOST_WORDS = 2
"""Plain words in a front: a name of a service, a key."""
_WORD = re.compile(r"[^\W\d_]+['\u2019]?[^\W\d_]*[,.!?]?")
_NAME = re.compile(r".*[\d|\]\[{}<>=:/_]|.*\w\.\w|[A-Z]{4,8}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\d.\d\d:\d\d")
_QUOTES = {'"': '"', "'": "'", "`": "`", "{{": "}}", "\u00ab": "\u00bb", "\u201c": "\u201d", "\u300c": "\u300d"}
LATEST_TIME = 60
"""Characters before the time of a line; one behind them begins a quotation of another line."""


def is_front(before: str) -> bool:
    """Whether a program may have printed this before its message: names, numbers and marks, hardly a word."""
    if len(before) > LONGEST_FRONT or _quotes_line(before):
        return False
    pieces = before.split()
    words = [piece for piece in pieces if _WORD.fullmatch(piece)]
    plain = sum(not piece.isupper() for piece in words)
    return plain <= MOST_WORDS and any(_NAME.match(piece) for piece in pieces)


def _quotes_line(before: str) -> bool:
    """Whether a line of a log begins within what stands before a message."""
    times = [found.start() for found in _TIME.finditer(before)]
    return any(at > LATEST_TIME for at in times)


def is_quoted(before: str, behind: str) -> bool:
    """Whether marks open right before and close right behind."""
    opened, closed = before.rstrip(), behind.lstrip(" .!")
    return any(opened.endswith(begin) and closed.startswith(end) for begin, end in _QUOTES.items())
