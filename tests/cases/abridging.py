"""What people leave out of a page, or do to its lines, before they show it to somebody: functions over its text."""

import re
import textwrap
from collections.abc import Callable

Abridging = Callable[[str], str]
_LOGGED = re.compile(r"\b(?:INFO|WARN|ERROR)\b|Exception: ")
_LOGGER = re.compile(r"\b(?:o\.a\.k|org\.apache\.kafka)\.[\w.]+ +[-:] ")
_FRONT = re.compile(r"(?P<front>.*?(?:INFO|WARN|ERROR).*? [-:]) (?P<message>[\[A-Z].*)")


def without_dates(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d[ T](?=\d\d:\d\d:\d\d)", "", text)


def without_times(text: str) -> str:
    return re.sub(r"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d*Z?\]? ", "", text)


def without_levels(text: str) -> str:
    return re.sub(r"\b(?:WARN|INFO|ERROR) +", "", text)


def without_loggers(text: str) -> str:
    return _LOGGER.sub("", text)


def wrapped_behind_loggers(text: str) -> str:
    found = (_FRONT.fullmatch(line) for line in text.split("\n"))
    pairs = zip(text.split("\n"), found, strict=True)
    return "\n".join(f"{front['front']}\n{front['message']}" if front else line for line, front in pairs)


def folded(text: str) -> str:
    """Long lines of logs broken at blanks, as mail does it."""
    wrapper = textwrap.TextWrapper(100, break_long_words=False, break_on_hyphens=False)
    lines = text.split("\n")
    return "\n".join("\n".join(wrapper.wrap(line)) if _LOGGED.search(line) else line for line in lines)


def quoted(text: str) -> str:
    return "\n".join("> " + line for line in text.split("\n"))


def in_backquotes(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(f"`{line}`" if line.strip() and not line.startswith("```") else line for line in lines)


def with_escaped_underscores(text: str) -> str:
    return text.replace("_", r"\_")


def escaped(text: str) -> str:
    return re.sub(r"([_*\[\]<>])", r"\\\1", text)


def in_html(text: str) -> str:
    entities = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "<p>" + entities.replace("\n", "<br>\n") + "</p>"


LEFT_OUT: tuple[Abridging, ...] = (without_dates, without_times, without_levels, without_loggers)
BROKEN: tuple[Abridging, ...] = (wrapped_behind_loggers, folded)
WRITTEN: tuple[Abridging, ...] = (quoted, in_backquotes, with_escaped_underscores, escaped, in_html)
