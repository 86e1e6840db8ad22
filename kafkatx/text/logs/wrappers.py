"""What other tools put around the line of a logger: docker, kubectl, journald, syslog, compose, grep, colours.

A wrapper gives the text inside, its own time (a container runtime's is UTC, hence tells the zone of the time inside)
and the name of the writer (container, pod, service), by which interleaved writers are told apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from kafkatx.terms.events import LOUD_LEVELS
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex, regex_of_names
from kafkatx.text.logs.stamps import NO_STAMP, STAMP, Stamp, read_stamp
from kafkatx.text.remembered import remembered

LONGEST_JSON = 1 << 20
"""Characters of a line that is read as JSON; longer ones are text."""
MOST_WRAPPERS = 3
MOST_NAMES = 64
MOST_REMEMBERED = 1024
"""Lines of which is remembered what is in them: a short text is looked at by several readers, one behind the other."""

ANSI = regex(r"\x1b\[[0-9;?]{0,32}[A-Za-z]|\x1b\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|\x1b[@-_]")
"""Escape sequences of terminals."""
_TIMED = regex(r"\d\d:\d\d")
LOST_COLOUR = r"\[\d{1,3}(?:;\d{1,3}){0,4}m"
"""Their colours, where pasting lost the escape character."""
_LOST = regex(LOST_COLOUR)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A line without its wrappers: the text, the wrapper's time and writer, where the text begins (-1: rewritten)."""

    text: str
    stamp: Stamp = NO_STAMP
    writer: str = ""
    start: int = 0


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A shape of prefix and lines that have it: pairs of a line and the text inside.

    `sign` stands in every such line: quick to look for.
    """

    name: str
    pattern: re.Pattern[str]
    samples: tuple[tuple[str, str], ...]
    sign: str = ""

    def inside(self, text: str) -> re.Match[str] | None:
        """Match a line that has this prefix; the group `text` is what stands behind it."""
        found = self.pattern.match(text) if self.sign in text else None
        return found if found and found.end() == len(text) and found.start("text") else None


_PRIORITY = r"(?:<\d{1,3}>)?"
_LEVEL = rf"(?:{LOUD_LEVELS}|NOTICE|CRITICAL)"
_PROGRAM = r"(?P<writer>[\w.@/-]{1,120})(?:\[\d{1,10}\])?"
_FRONT = rf"(?=\[?(?:{STAMP})|%[0-7]\|1\d{{9}}\.|\[?{_LEVEL}\b[\] :|])"
"""How a line of a logger begins."""
_NO_NAME = r"(?!\S*(?:[tT]hread|exec|\d{4}-\d\d-\d\d))"
_NAME = rf"{_NO_NAME}(?:(?=[\w./=-]{{0,99}}[\d_-])[A-Za-z][\w./=-]{{1,99}}(?: \([\w-]{{1,20}}\))?|[A-Za-z])"
"""A name of a host, a pod or a process: no plain word, which may be of a sentence, no thread, no date."""

WRAPPERS = (
    Wrapper(
        "container runtime interface",
        regex(rf"(?P<time>{STAMP}) (?:stdout|stderr) [FP] (?P<text>.*)", re.DOTALL),
        (("2026-11-21T10:23:51.003123456Z stdout F INFO up", "INFO up"),),
        sign=" std",
    ),
    Wrapper(
        "docker compose",
        regex(r"(?P<writer>[\w.-]{1,120}) {1,40}\| (?P<text>.*)", re.DOTALL),
        (("app-1  | 2026-11-21 10:23:51.003 INFO up", "2026-11-21 10:23:51.003 INFO up"),),
        sign=" | ",
    ),
    Wrapper(
        "kubectl --prefix",
        regex(r"\[(?P<writer>pod/[\w./-]{1,250})\] (?P<text>.*)", re.DOTALL),
        (("[pod/orders-0/app] 2026-11-21 10:23:51.003 INFO up", "2026-11-21 10:23:51.003 INFO up"),),
        sign="[pod/",
    ),
    Wrapper(
        "process manager",
        regex(r"(?P<writer>\d{1,4}\|[\w.-]{1,60}) {1,20}\| (?P<text>.*)", re.DOTALL),
        (("0|app  | 2026-11-21 10:23:51.003 INFO up", "2026-11-21 10:23:51.003 INFO up"),),
        sign=" | ",
    ),
    Wrapper(
        "name of a host, pod or process",
        regex(
            rf"(?:(?P<writer>{_NAME})|\[(?P<number>\d{{2,7}}|(?=[a-f]{{0,11}}\d)[0-9a-f]{{4,12}})\])[ \t]{{1,12}}"
            rf"(?P<text>{_FRONT}.*)",
            re.DOTALL,
        ),
        (
            ("orders-6f7-aaaa  10:23:51.003  INFO up", "10:23:51.003  INFO up"),
            ("orders-5f (old)  10:23:51.003 ERR down", "10:23:51.003 ERR down"),
            ("[4711] INFO:app:up", "INFO:app:up"),
        ),
    ),
    Wrapper(
        "syslog, RFC 5424",
        regex(
            rf"<\d{{1,3}}>1 (?P<time>{STAMP}) [^ ]{{1,255}} (?P<writer>[^ ]{{1,120}}) [^ ]{{1,128}} [^ ]{{1,64}} "
            r"(?:-|\[[^\]]{0,1000}\]) ?(?P<text>.*)",
            re.DOTALL,
        ),
        (("<14>1 2026-11-21T10:23:51.003Z host app 4711 - - INFO up", "INFO up"),),
        sign=">1 ",
    ),
    Wrapper(
        "journald or syslog",
        regex(
            rf"{_PRIORITY}(?!\d?\d:|\d{{4}}[-/.]\d\d[-/.]\d\d[ _])"
            rf"(?P<time>{STAMP}) (?!{_LEVEL}\b)[\w.:-]{{0,119}}[\w.-] {_PROGRAM}: (?P<text>.*)",
            re.DOTALL,
        ),
        (
            ("Nov 21 10:23:51 host app[123]: 10:23:51.003 INFO up", "10:23:51.003 INFO up"),
            ("2026-11-21T10:23:51+0000 host java[9]: [main] INFO up", "[main] INFO up"),
        ),
        sign=": ",
    ),
    Wrapper(
        "timestamps of kubectl or docker",
        regex(
            rf"(?P<time>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6,9}}Z) "
            rf"(?P<text>(?=[\[{{<%]|{STAMP}|[A-Z]{{4,5}}\b|\s).*|)",
            re.DOTALL,
        ),
        (("2026-11-21T10:23:51.003123456Z 10:23:51.001 [main] INFO up", "10:23:51.001 [main] INFO up"),),
        sign="Z ",
    ),
    Wrapper(
        "a program that logs another one's lines",
        regex(
            rf"(?P<time>{STAMP})[ \t]{{1,4}}{_LEVEL}[ \t]{{1,8}}"
            rf"(?P<text>(?:{_LEVEL}[ \t]{{1,8}}\[?{STAMP}|\[?{STAMP}\]?[ \t]{{1,4}}\[?{_LEVEL}\b).*)",
            re.DOTALL,
        ),
        (
            ("2026-11-21T10:23:51.003Z INFO\tWARN  2026-11-21 10:23:51,001 up", "WARN  2026-11-21 10:23:51,001 up"),
            ("2026-11-21T10:23:51.003Z INFO 10:23:51.001 ERROR up", "10:23:51.001 ERROR up"),
        ),
    ),
    Wrapper(
        "grep with names or numbers",
        regex(
            rf"(?:(?P<writer>[\w./-]{{1,250}}\.(?:log|out|txt|json)(?:[.-]\d{{1,10}})?)[:-])?(?:\d{{1,9}}[:-])?"
            rf"(?P<text>(?:\[?(?:{STAMP})|[%{{]|\tat |Caused by).*)",
            re.DOTALL,
        ),
        (
            ("logs/app.log:12:2026-11-21 10:23:51.003 INFO up", "2026-11-21 10:23:51.003 INFO up"),
            ("app.log-13-\tat org.example.App.main(App.java:1)", "\tat org.example.App.main(App.java:1)"),
        ),
    ),
)


def unwrap(line: str, wrappers: tuple[Wrapper, ...] = WRAPPERS) -> Wrapped:
    """Take off colours and wrappers (those given, and docker's JSON); a line without any comes back as it is."""
    return _unwrapped_by_all(line) if wrappers is WRAPPERS else _unwrapped(line, wrappers)


@lru_cache(maxsize=MOST_REMEMBERED)
def _unwrapped_by_all(line: str) -> Wrapped:
    return _unwrapped(line, WRAPPERS)


def _unwrapped(line: str, wrappers: tuple[Wrapper, ...]) -> Wrapped:
    found = Wrapped(ANSI.sub("", line), start=-1) if "\x1b" in line else Wrapped(line)
    if line[:1] == "[" and _LOST.match(line):
        found = Wrapped(_LOST.sub("", line), start=-1)
    if not wrappers and found.text[:1] != "{":
        return found
    for _ in range(MOST_WRAPPERS):
        inner = _docker_json(found) or _prefixed(found, wrappers)
        if inner is None:
            return found
        found = inner
    return found


class NamedFronts:
    """Names of writers as they stand before some lines of a text: they stand before its other lines as well."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        """Learn them from lines; what stands behind a time differs from line to line, and is no such name."""
        wrapped = ((line, unwrap(line)) for line in lines)
        found = {line[: one.start].rstrip(): one.writer for line, one in wrapped if one.writer and one.start > 0}
        self._writers = {front: writer for front, writer in found.items() if not _TIMED.search(front)}
        names = sorted(self._writers, key=len, reverse=True)[:MOST_NAMES]
        self._pattern = regex_of_names(rf"({'|'.join(map(re.escape, names))})[ \t]{{1,12}}") if names else None

    def without(self, line: str, wrapped: Wrapped) -> Wrapped:
        """Take the name off a line that has one and no wrapper."""
        found = self._pattern.match(line) if self._pattern is not None and not wrapped.writer else None
        if found is None:
            return wrapped
        return Wrapped(line[found.end() :], NO_STAMP, self._writers[found[1]], found.end())


def parse_object(text: str) -> dict[str, Any] | None:
    """Read a line as a JSON object, None if it is none (or too long or too deep to be a log line)."""
    if text[:1] != "{" or len(text) > LONGEST_JSON or not text.rstrip().endswith("}"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _docker_json(outer: Wrapped) -> Wrapped | None:
    """Read what docker's json-file driver writes: the line under `log`, beside `stream` and `time`."""
    if not outer.text.startswith("{") or '"log"' not in outer.text:
        return None
    record = parse_object(outer.text)
    text, time = (record.get("log"), record.get("time")) if record else (None, None)
    if not isinstance(text, str) or not isinstance(time, str):
        return None
    return Wrapped(text.rstrip("\r\n"), _stamp(time, outer.stamp), outer.writer, -1)


@remembered
def wrappers_of(line: str) -> tuple[Wrapper, ...]:
    """Return the wrappers that a line has, outermost first."""
    return tuple(_wrappers_of(line))


def _wrappers_of(line: str) -> Iterator[Wrapper]:
    found = Wrapped(ANSI.sub("", line))
    for _ in range(MOST_WRAPPERS):
        used = next((one for one in WRAPPERS if one.inside(found.text)), None)
        inner = _docker_json(found) or (_prefixed(found, (used,)) if used else None)
        if inner is None:
            return
        if used:
            yield used
        found = inner


def _prefixed(outer: Wrapped, wrappers: tuple[Wrapper, ...]) -> Wrapped | None:
    for wrapper in wrappers:
        if found := wrapper.inside(outer.text):
            groups = found.groupdict()
            return Wrapped(
                found["text"],
                _stamp(groups.get("time") or "", outer.stamp),
                groups.get("writer") or groups.get("number") or outer.writer,
                outer.start + found.start("text") if outer.start >= 0 else -1,
            )
    return None


def _stamp(time: str, outer: Stamp) -> Stamp:
    found = read_stamp(time)
    return found if found.at >= 0 or found.of_day >= 0 else outer
