"""Text of unknown origin made fit for a terminal: what would act on the screen becomes visible instead.

Why     arguments, log lines, ids, keys and names come from evidence; an escape sequence or a right-to-left override in
        them could hide or forge what a reader sees.
Limits  the result is for reading, not for parsing back: a backslash of the text itself stays as it is.
"""

import unicodedata

_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int | None = None) -> str:
    r"""Return `text` with every control, format, surrogate and unassigned character as `\x1b` or `\u202e`.

    Args:
        text: anything, also with the lone surrogates of undecodable bytes.
        limit: the number of characters of `text` that are kept; `...` stands for the rest.
    """
    kept = text if limit is None or len(text) <= limit else f"{text[:limit]}..."
    return kept if kept.isascii() and kept.isprintable() else "".join(map(_visible, kept))


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _ACTING:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
