"""Whether a file is a text at all, told by its beginning.

Imports little: every file of a data directory without a telling name is asked.
"""

from __future__ import annotations

from kafkatx.terms.regex import regex
from kafkatx.text.lines import encoding_of

CONTROLS = bytes(set(range(32)) - {8, 9, 10, 12, 13, 27})
"""Control characters that no text has but where it shows binary payloads."""
_RUN = regex(rb"\0{2,}")
"""What a file system leaves in a log where a machine lost its power: one thing, however long."""
_DUMPED = regex(rb"(?m)^(?:Dumping \S|(?:\| )?offset: \d+ |baseOffset: \d+ |(?:Log s|S)tarting offset: \d)")


def is_text(head: bytes) -> bool:
    """Whether the beginning of a file (some KiB) is that of a text; for files that are no segments.

    A dump may hold binary payloads (control characters, NUL, bytes that are no UTF-8) and still is text: it has lines
    that a tool printed. Of any other text most lines are without control characters, and nearly all bytes are UTF-8 or
    letters of a single-byte encoding.
    """
    if not head or encoding_of(head).unit > 1:
        return bool(head)
    head = _RUN.sub(b"\0", head)
    odd = len(head) - len(head.translate(None, CONTROLS))
    if odd == 0:
        return 10 * _foreign_bytes(head) <= len(head)
    rows = head.split(b"\n")
    clean = sum(1 for row in rows if row and row.translate(None, CONTROLS) == row)
    return _DUMPED.search(head) is not None or (len(rows) > 2 and 4 * clean >= 3 * len(rows) and 50 * odd <= len(head))


def _foreign_bytes(head: bytes) -> int:
    """Bytes that are no UTF-8, but for a character that the end cuts off."""
    return max(0, head.decode("utf-8", "replace").count("\ufffd") - 3)
