"""HTML's entities in lines that were copied from a page: `&gt;`, `&quot;`."""

from __future__ import annotations


def without_entities(text: str) -> str:
    """Return a text with the letters that its entities stand for; their table is loaded where a text has any."""
    if "&" not in text:
        return text
    from html import unescape

    return unescape(text)
