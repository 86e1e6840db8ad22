"""Bytes as Java's `new String(bytes, UTF_8)` shows them: what kafka-dump-log prints of keys, values and names.

Why     Python and Java put the same number of U+FFFD for every broken sequence but one: an encoded surrogate (three
        bytes, ED A0 80 to ED BF BF) is one U+FFFD in Java and three in Python.
Source  JDK 17, java.lang.String (decodeUTF8_UTF16, malformed3, malformed4).
"""

import re

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


def java_text(data: bytes) -> str:
    """Return the text of bytes that should be UTF-8; what is not becomes U+FFFD as in Java."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub(_REPLACEMENT, data).decode("utf-8", "replace")
