"""Saved diagnoses among the paths that are given: told from evidence by how a file begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkatx.outputs.comparing.document import DiagnosisDocument

MOST_BYTES = 256 << 20
"""A saved diagnosis of a fleet of a thousand brokers has some tens of MB."""
MOST_TRIED = 64 << 20
"""So much is read of a file of JSON that does not begin as `diagnose --json` writes: a tool may have sorted it."""
HEAD_BYTES = 256


def saved_diagnosis(path: str) -> DiagnosisDocument | None:
    """Return the saved diagnosis that a file or standard input holds, None for evidence.

    Raises NothingReadableError for what begins as a saved diagnosis and is none, or one of another schema.
    """
    from kafkatx.outputs.comparing.document import begins_document, is_document, read_document
    from kafkatx.outputs.comparing.json_values import DamagedDocumentError

    data = _standard_input() if path == "-" else _file(path)
    if data is None:
        return None
    if len(data) > MOST_BYTES:
        raise DamagedDocumentError(f"{path}: it begins as a saved diagnosis, and is larger than {MOST_BYTES:,} bytes")
    if not begins_document(data[:HEAD_BYTES]) and not is_document(data):
        return None
    try:
        return read_document(data)
    except DamagedDocumentError as error:
        raise DamagedDocumentError(f"{path}: {error}") from None


def _file(path: str) -> bytes | None:
    """What a file holds that may be a saved diagnosis, one byte more than such a one may have at most."""
    from kafkatx.outputs.comparing.document import begins_document

    if not Path(path).is_file():
        return None
    try:
        with Path(path).open("rb") as file:
            head = file.read(HEAD_BYTES)
            most = MOST_BYTES if begins_document(head) else MOST_TRIED
            if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
                return None
            data = head + file.read(most + 1 - len(head))
    except OSError:
        return None
    return None if most == MOST_TRIED and len(data) > MOST_TRIED else data


def _standard_input() -> bytes | None:
    """What standard input holds if it begins as a saved diagnosis; else it is left as it is, for who reads evidence."""
    from kafkatx.outputs.comparing.document import begins_document

    stream = sys.stdin.buffer
    peek = getattr(stream, "peek", None)
    if peek is None or not begins_document(peek(HEAD_BYTES)[:HEAD_BYTES]):
        return None
    return stream.read(MOST_BYTES + 1)
