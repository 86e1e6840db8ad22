"""Texts without their secrets: values of settings that are passwords, and passwords inside of other lines.

Lines stay lines: only values are replaced, so that what else a line says is read as before.
"""

from __future__ import annotations

import re

from kafkatx.terms import secrets
from kafkatx.terms.regex import regex
from kafkatx.terms.secrets import HIDDEN, is_secret

_SETTING = regex(rb"^(\s*[\"']?([A-Za-z][\w.-]{2,120})[\"']?\s{0,4}[=:]\s{0,4})(\S.*)$", re.DOTALL)
_JSON_SETTING = regex(r'("([A-Za-z][\w.-]{2,120})"\s{0,4}:\s{0,4})"((?:[^"\\]|\\.)*)"')


def without_secrets(content: bytes) -> bytes:
    """Return a text with every secret hidden; bytes that are no UTF-8 stay what they are."""
    out, hides = [], False
    for raw in content.splitlines(keepends=True):
        line = raw.rstrip(b"\r\n")
        ending = raw[len(line) :]
        if hides:  # the value went on behind a backslash
            hides = line.endswith(b"\\")
            continue
        shown, is_hidden = _line(line)
        hides = is_hidden and line.endswith(b"\\")
        out.append(shown + ending)
    return b"".join(out)


def _line(line: bytes) -> tuple[bytes, bool]:
    """A line without secrets, and whether its whole value was one."""
    found = _SETTING.match(line)
    if found is not None and is_secret(found[2].decode("ascii")):
        value = found[3].strip().rstrip(b",").strip(b"\"'").decode("utf-8", "surrogateescape")
        if value not in ("", "null", HIDDEN):
            return found[1] + HIDDEN.encode(), True
        return line, False
    text = line.decode("utf-8", "surrogateescape")
    shown = secrets.without_secrets(_JSON_SETTING.sub(_json_value, text))
    return shown.encode("utf-8", "surrogateescape"), False


def _json_value(found: re.Match[str]) -> str:
    is_hidden = is_secret(found[2]) and found[3] not in ("", "null", HIDDEN)
    return f'{found[1]}"{HIDDEN}"' if is_hidden else found[0]
