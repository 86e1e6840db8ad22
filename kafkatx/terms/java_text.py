"""Texts as Java reads them: bytes as `new String(bytes, UTF_8)` shows them, and lines of properties.

Bytes   are what kafka-dump-log prints of keys, values and names. Python and Java put the same number of U+FFFD for
        every broken sequence but one: an encoded surrogate (three bytes, ED A0 80 to ED BF BF) is one U+FFFD in Java
        and three in Python.
Source  JDK 17, java.lang.String (decodeUTF8_UTF16, malformed3, malformed4), java.util.Properties (load).
"""

import re

from kafkatx.terms.regex import regex

_SURROGATE = regex(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()
_PROPERTY = regex(r"(?P<name>(?:[^\\=:\s]|\\.)*)[ \t\f]*(?:[=:][ \t\f]*)?(?P<value>.*)", re.DOTALL)
_ESCAPED = regex(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def java_text(data: bytes) -> str:
    """Return the text of bytes that should be UTF-8; what is not becomes U+FFFD as in Java."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub(_REPLACEMENT, data).decode("utf-8", "replace")


def property_of(line: str) -> tuple[str, str]:
    """Return name and value of a line of properties (no comment, nothing before the name), their escapes undone."""
    found = _PROPERTY.fullmatch(line)
    return (_unescaped(found["name"]), _unescaped(found["value"])) if found else (line, "")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    said = found[1]
    return chr(int(said[1:], 16)) if len(said) == 5 and said[0] == "u" else _ESCAPES.get(said, said)
