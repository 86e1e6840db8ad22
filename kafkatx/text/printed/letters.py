"""What word processors, web pages and mail put in the place of ASCII: other letters, and HTML's entities (`&gt;`)."""

from __future__ import annotations

LETTERS: dict[str, str | None] = {
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202c\u2066\u2069"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019\u201a", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
}
"""Letters and what was typed; None where nothing was."""


def without_entities(text: str) -> str:
    """Return a text with the letters that its entities stand for; their table is loaded where a text has any."""
    if "&" not in text:
        return text
    from html import unescape

    return unescape(text)
