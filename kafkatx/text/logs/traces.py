r"""Stack traces: Java's over many lines or one, Python's tracebacks; to the chain of exceptions and the client's calls.

Java     first line `class: message` (also behind an application's words), frames `at C.m(F.java:1) ~[x.jar:?]`,
         `Caused by:`, `Suppressed:` (with causes and frames of their own: not part of the chain), `... n more`,
         `Wrapped by:` (logback, root cause first). In one line with ` at `, with `\n\tat ` as four characters,
         or `#012`.
Python   `Traceback (most recent call last):`, frames, `class: message`; the traceback behind `During handling` or `The
         above exception was the direct cause` is the outer one.
Calls    those of the outermost exception that was thrown in the client: a cause may be older, from another call. The
         first frame of a framework that owns the producer stands behind them.
Bounds   MOST_FRAMES frames, MOST_CAUSES exceptions and LONGEST_MESSAGE characters of a message are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.events import Thrown, Trace
from kafkatx.text.logs.calls import METHODS
from kafkatx.text.logs.error_names import CLASS, KAFKAJS, TYPE_ARGUMENTS
from kafkatx.text.logs.exceptions import LONGEST_MESSAGE, thrown, thrown_in, with_embedded
from kafkatx.text.logs.foreign_frames import foreign_call
from kafkatx.text.logs.frame_lines import release_of_frames
from kafkatx.text.logs.shown import shows_error

MOST_FRAMES = 64
MOST_CAUSES = 16
MOST_LINES = 10_000
"""Lines of one event that are looked at."""
LONGEST_LINE = 1 << 16
"""Characters of a line that are looked at: a trace in one line has them all in fewer."""

_HEAD = regex(rf"({CLASS}|{KAFKAJS})(?: \[KafkaJS\w{{2,60}}\])?(?:{TYPE_ARGUMENTS})?(?::\s?(.*))?", re.DOTALL)
_LABELLED = regex(
    rf"\s{{0,40}}(Caused by|Suppressed|Wrapped by): (?:({CLASS})|([\w.$]{{1,250}}))(?::\s?(.*))?", re.DOTALL
)
_FRAME = regex(
    r"\s{0,40}at (?:[\w.@-]{0,120}/{1,2}){0,2}((?:[\w$]{1,120}\.){1,20})([\w$<>]{1,120})\(([^()\n]{0,120})\)"
    r"(?: ~?\[([^\[\]\n]{0,200})\])?"
)
_MORE = regex(r"\s{0,40}(?:Caused by: |Suppressed: |\.\.\. \d{1,6} )")
_BELOW_A_HEAD = ("at ", "Caused", "Suppr", "... ")
_PYTHON_FRAME = regex(r'\s{1,12}File "([^"\n]{1,400})", line (\d{1,9}), in (\S{1,120})')
_PYTHON_HEAD = regex(r"((?:[A-Za-z_]\w{0,99}\.){0,20}[A-Z]\w{0,99})(?:: (.*))?$", re.DOTALL)
_PYTHON_CALL = regex(r"\.([a-z]\w{3,60})\(")
"""A call in the line of source below a frame: of a library in C it is all that tells which method threw."""
_TRACEBACK = "Traceback (most recent call last):"
_LINKS = ("During handling of the above exception", "The above exception was the direct cause")
_INLINE = regex(
    r"\s(?=at (?:[\w.@-]{1,120}/)?(?:[\w$]{1,120}\.){2,20}[\w$<>]{1,120}\()|"
    r"\s(?=Caused by: )|\s(?=\.\.\. \d{1,6} (?:more|common))"
)
_ENDED = regex(r"KafkaError\{[^{}\n]{1,4000}\}[)\]\"'.;\s]*$")
"""An error of librdkafka, whose text ends with its brackets: only frames of its caller stand below."""
_LAMBDA = regex(r"lambda\$(\w+)\$\d+")
_JAR = regex(r"([\w.-]{0,60}(?:kafka|flink-connector)[\w.-]{0,60}\.jar)")
_CLIENTS = ("org.apache.kafka.clients.producer.KafkaProducer", "org.apache.kafka.clients.consumer.KafkaConsumer")
_ADMINS = ("org.apache.kafka.clients.admin.", "kafka.admin.", "org.apache.kafka.tools.")
ADMIN_CALL = "KafkaAdminClient.request"
"""What stands in the calls of a trace for a client of administration or a tool, whatever it asked for."""
THROWERS = frozenset(
    {
        ("TransactionManager", "maybeFailWithError"), ("TransactionManager", "transitionTo"),
        ("TransactionManager", "throwIfPendingState"), ("TransactionManager", "ensureTransactional"),
        ("TransactionManager", "failIfNotReadyForSend"), ("TransactionalRequestResult", "await"),
        ("FutureRecordMetadata", "valueOrError"), ("ProduceRequestResult", "await"),
        ("KafkaProducer$FutureFailure", "<init>"), ("KafkaProducer", "throwIfProducerClosed"),
        ("KafkaProducer", "throwIfNoTransactionManager"), ("KafkaProducer", "throwIfInPreparedState"),
    }
)  # fmt: skip
"""Classes and methods in which the Java client throws; threads at work stand in them for no more than a moment."""
_FRAMEWORKS = (
    "org.apache.flink.connector.kafka.", "org.apache.flink.streaming.connectors.kafka.",
    "org.apache.kafka.streams.processor.",
)  # fmt: skip
"""Packages of frameworks that own producers: their frames tell whose it was."""
_OF_KAFKA = "org.apache.kafka.common."
_INTERNALS = ("TransactionManager", "Sender", "RecordAccumulator", "StreamsProducer", "ConsumerCoordinator")


@dataclass(slots=True)
class _Link:
    """An exception of the chain while its lines are read; `is_whole`: no line below is more of its message."""

    name: str
    message: str
    calls: list[str] = field(default_factory=list)
    has_frames: bool = False
    is_whole: bool = False


@dataclass(slots=True)
class _Reading:
    """What was read of a trace so far."""

    links: list[_Link] = field(default_factory=list)
    releases: list[str] = field(default_factory=list)
    frames: list[tuple[str, str, str]] = field(default_factory=list)
    owner: str = ""
    count: int = 0
    skipped_indent: int = -1
    """Indentation of a suppressed exception whose lines are read past, -1 outside."""


def read_trace(lines: Iterable[str]) -> Trace | None:
    """Read the lines of one event: its message, then what stands under it. None if they show no exception."""
    spread = _spread(lines)
    start = next((at for at, line in enumerate(spread) if line.lstrip().startswith(_TRACEBACK)), None)
    if start is None:
        return _java(spread)
    return _python(spread[start:]) or _without_end(spread, start)


def _without_end(lines: list[str], start: int) -> Trace | None:
    """Read a traceback that was cut before its exception: what the line above names, and who called."""
    reading = _Tracebacks()
    for line in lines[start:]:
        reading.take(line.rstrip())
    named = _java(lines[:start])
    return None if named is None else replace(named, calls=named.calls or tuple(dict.fromkeys(reversed(reading.calls))))


def is_trace_line(line: str) -> bool:
    """Tell whether a line can only be part of a trace: a frame, a cause, `... n more`."""
    may_be = line[:64].lstrip().startswith(_BELOW_A_HEAD)
    return may_be and (_FRAME.match(line) is not None or _MORE.match(line) is not None)


def is_thrown_frame(line: str) -> bool:
    """Tell whether a line is the frame in which Kafka's client throws: a trace without its head begins with it."""
    frame = _FRAME.match(line)
    return frame is not None and (frame[1].rstrip(".").rpartition(".")[2], frame[2]) in THROWERS


def begins_trace(line: str) -> bool:
    """Tell whether a line is the first one of a trace: an exception, or Python's `Traceback`."""
    return _HEAD.match(line) is not None or line.startswith(_TRACEBACK)


def is_traceback(line: str) -> bool:
    """Tell whether a line is the first one of Python's tracebacks."""
    return line.lstrip().startswith(_TRACEBACK)


def is_exception(line: str) -> bool:
    """Tell whether a line below Python's frames is the exception, with which a traceback ends."""
    return bool(line) and line[0] not in " \t" and _PYTHON_HEAD.match(line) is not None


def strays(message: str, tail: Sequence[str]) -> int:
    """Count the lines at the beginning of `tail` that another thread's trace left there.

    They are frames and causes without an exception before them: the line above interrupted their trace.
    """
    if thrown_in(message):
        return 0
    return next((at for at, line in enumerate(tail) if not is_trace_line(line)), len(tail))


def second_trace(tail: Sequence[str]) -> int:
    """Return where a second trace begins behind the first exception under a line, 0 where none does."""
    frames = [number for number, line in enumerate(tail) if is_trace_line(line)]
    heads = [number for number, line in enumerate(tail[: frames[-1]] if frames else ()) if begins_trace(line)]
    return next((at for at in heads[1:] if is_trace_line(tail[at + 1])), 0)


def trace_from(tail: Sequence[str], start: int) -> int:
    """Return where a trace begins from a line on, else the end."""
    return next((at for at in range(start, len(tail)) if begins_trace(tail[at])), len(tail))


_STRING_END = '\\n"'
"""How a trace ends that stands as a string in JSON: what follows is none of its words."""


def _spread(lines: Iterable[str]) -> list[str]:
    """Give every frame its own line, whatever the log did to the ends of lines, up to the end of a quoted string."""
    found: list[str] = []
    is_ended = False
    for given in lines:
        if len(found) >= MOST_LINES or is_ended:
            break
        line, end, _ = given[:LONGEST_LINE].partition(_STRING_END)
        is_ended = bool(end)
        if "\\n\\tat " in line or "\\nCaused by" in line or "\\n  File" in line:
            line = line.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
        elif "#012#011at " in line or "#012Caused by" in line:
            line = line.replace("#012", "\n").replace("#011", "\t")
        for part in line.split("\n"):
            found.extend(_parted(part))
    return found


def _parted(line: str) -> list[str]:
    """Split a trace that was written in one line at its frames and causes."""
    if line.count(" at ") < 2 and " Caused by: " not in line:
        return [line]
    head, *rest = _INLINE.split(line)
    return [head, *("\t" + part if part.startswith(("at ", "...")) else part for part in rest)]


def _java(lines: list[str]) -> Trace | None:
    reading = _Reading()
    for number, line in enumerate(lines):
        may_be_frame = "at " in line
        if (may_be_frame or "#" in line) and (call := foreign_call(line)) is not None:
            _take_foreign(reading, call)
        elif may_be_frame and (frame := _FRAME.match(line)):
            _take_frame(reading, frame, _indent(line))
        elif ("by: " in line or "Suppressed: " in line) and (label := _LABELLED.match(line)):
            _take_label(reading, label, _indent(line))
        elif not number:
            reading.links += _named(line)
        else:
            _take_text(reading, line)
    if not reading.links and lines and is_thrown_frame(lines[0]):
        return _headless(lines)
    if not reading.links:
        return None
    return _trace(reading)


def _headless(lines: list[str]) -> Trace:
    """Read frames whose exception was cut off: who called is known, what was thrown is not."""
    reading = _Reading([_Link("", "")])
    for line in lines:
        if frame := _FRAME.match(line):
            _take_frame(reading, frame, _indent(line))
    return _trace(reading)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _take_frame(reading: _Reading, frame: re.Match[str], indent: int) -> None:
    if reading.skipped_indent >= 0 and indent > reading.skipped_indent:
        return
    reading.skipped_indent = -1
    reading.count += 1
    if not reading.owner and frame[1].startswith(_FRAMEWORKS):
        reading.owner = f"{frame[1]}{frame[2]}"
    if reading.links and reading.count <= MOST_FRAMES * MOST_CAUSES:
        _note_frame(reading, frame)


def _note_frame(reading: _Reading, frame: re.Match[str]) -> None:
    """Keep what a frame tells: the client's call, a line of Kafka's source, the release of a jar."""
    link = reading.links[-1]
    link.has_frames = True
    owner, method, place = frame[1].rstrip("."), frame[2], frame[3]
    call, jar = _call(owner, method), _JAR.match(frame[4] or "")
    if call and call not in link.calls and len(link.calls) < MOST_FRAMES:
        link.calls.append(call)
    if owner.startswith("org.apache.kafka.") and len(reading.frames) < MOST_FRAMES:
        reading.frames.append((owner, method, place))
    if jar and jar[1] not in reading.releases and len(reading.releases) < 16:
        reading.releases.append(jar[1])


def _take_foreign(reading: _Reading, call: str) -> None:
    """A frame of Node or .NET."""
    if reading.links:
        link = reading.links[-1]
        link.has_frames = True
        if call and call not in link.calls and len(link.calls) < MOST_FRAMES:
            link.calls.append(call)


def _take_label(reading: _Reading, label: re.Match[str], indent: int) -> None:
    if reading.skipped_indent >= 0 and indent >= max(reading.skipped_indent, 1):
        return
    reading.skipped_indent = -1
    if label[1] == "Suppressed":
        reading.skipped_indent = indent
        return
    link = _Link(label[2] or label[3], label[4] or "")
    if len(reading.links) >= MOST_CAUSES:
        reading.links[-1] = link
    elif label[1] == "Wrapped by":
        reading.links.insert(0, link)
    else:
        reading.links.append(link)


def _take_text(reading: _Reading, line: str) -> None:
    """A line that is no frame: the exception itself, or more of its message."""
    if reading.skipped_indent >= 0 or line.lstrip().startswith("... "):
        return
    if head := _HEAD.match(line if reading.links else line.lstrip(" ")):
        if not any(link.has_frames for link in reading.links):
            reading.links = [_Link(head[1], head[2] or "")]
    elif not reading.links and shows_error(line):
        reading.links += _named(line.strip())
    elif reading.links and _goes_on(reading.links[-1], line):
        reading.links[-1].message += "\n" + line[:LONGEST_MESSAGE]


def _named(line: str) -> list[_Link]:
    """The exceptions that a line names."""
    is_whole = _ENDED.search(line) is not None
    return [_Link(link.exception, link.message, is_whole=is_whole) for link in thrown_in(line)]


def _goes_on(link: _Link, line: str) -> bool:
    """Whether a line may be more of a message, or a frame of another shape below it, which is indented."""
    is_more = line[:1].isspace() or not link.is_whole
    return is_more and not link.has_frames and len(link.message) < LONGEST_MESSAGE


def _call(owner: str, method: str) -> str | None:
    """The client's method that a frame is of, None for other code."""
    if lambda_of := _LAMBDA.fullmatch(method):
        method = lambda_of[1]
    if method == "null":
        return None
    if owner in _CLIENTS:
        return method if method in METHODS else None
    if owner.startswith(_ADMINS):
        return ADMIN_CALL
    name = owner.rpartition(".")[2].partition("$")[0]
    return f"{name}.{method}" if owner.startswith("org.apache.kafka.") and name in _INTERNALS else None


def _trace(reading: _Reading) -> Trace:
    links = reading.links
    public = (link.calls for link in links if any("." not in call for call in link.calls))
    calls = next(public, None) or next((link.calls for link in links if link.calls), [])
    if reading.owner and reading.owner not in calls and any(_OF_KAFKA in link.name for link in links):
        calls = [*calls, reading.owner]
    hinted = release_of_frames(reading.frames)
    releases = [*reading.releases, *([hinted] if hinted and not reading.releases else [])]
    return Trace(_chain(links), tuple(calls), tuple(releases))


def _chain(links: list[_Link]) -> tuple[Thrown, ...]:
    return with_embedded(tuple(thrown(link.name, link.message) for link in links))[:MOST_CAUSES]


def _python(lines: list[str]) -> Trace | None:
    """Read tracebacks; the last one is the outermost exception, those before it are its causes."""
    reading = _Tracebacks()
    for line in lines:
        reading.take(line.rstrip())
    if not reading.links:
        return None
    calls = next((link.calls for link in reading.links if link.calls), [])
    return Trace(_chain(reading.links), tuple(dict.fromkeys(reversed(calls))))


@dataclass(slots=True)
class _Tracebacks:
    """What was read of Python's tracebacks; `is_open`: the exception of the last one has not come yet."""

    links: list[_Link] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    is_open: bool = False

    def take(self, text: str) -> None:
        """Take in a line."""
        if text.lstrip().startswith(_TRACEBACK):
            self.calls, self.is_open = [], True
        elif frame := _PYTHON_FRAME.match(text) if self.is_open else None:
            self._frame(frame[3])
        elif call := _PYTHON_CALL.search(text) if self.is_open and text.startswith("    ") else None:
            self._frame(call[1])
        elif text.startswith(_LINKS) or not text:
            return
        elif not self.is_open:
            self._message(text)
        elif text[0] not in " \t":
            self._exception(text)

    def _frame(self, function: str) -> None:
        if function in METHODS and len(self.calls) < MOST_FRAMES:
            self.calls.append(METHODS[function])

    def _exception(self, text: str) -> None:
        """The line that ends a traceback."""
        self.is_open = False
        if head := _PYTHON_HEAD.match(text):
            self.links = [_Link(head[1], head[2] or "", self.calls), *self.links[: MOST_CAUSES - 1]]

    def _message(self, text: str) -> None:
        """More of the message of the last exception."""
        if self.links and len(self.links[0].message) < LONGEST_MESSAGE:
            self.links[0].message += "\n" + text
