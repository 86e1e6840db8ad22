"""Log lines that are JSON objects or `key=value` pairs: logstash, log4j2, ECS, GCP, zap, slog, logrus, zerolog.

Keys   time: `@timestamp`, `timestamp`, `time`, `ts`, `t`, `timeMillis`, `instant{epochSecond, nanoOfSecond}`;
       level: `level`, `log.level`, `severity`, `lvl`; logger: `logger_name`, `logger`, `loggerName`, `log.logger`;
       thread: `thread_name`, `thread`, `process.thread.name`; message: `message`, `msg`, `textPayload`,
       `jsonPayload.message`; trace: `stack_trace`, `error.stack_trace`, `exception`, `thrown`, `stacktrace`, `err`;
       who: `clientId` (KafkaJS), `transactional_id` and the like. `Level`, `LOG_LEVEL` and `@level` are one key.
Rest   what no key tells is looked for in the other strings, however deep: one that names an exception is the trace.
Note   a line break inside a message belongs to the message: what stands behind it is no log line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.stamps import NO_STAMP, Stamp, read_stamp
from kafkatx.text.logs.wrappers import parse_object

SHORTEST_CUT = 40
"""Characters of a line that is read as JSON though its end is missing; shorter ones are lines of indented JSON."""
MOST_CAUSES = 16
MOST_NESTED = 3
"""Objects around the one that holds the message."""
LONGEST_MARKED = 3
"""Characters of a key whose sign is all that tells it apart (`@t`)."""
LONGEST_PAIRS = 1 << 16
"""Characters of a line that is read as `key=value` pairs."""

_TIMES = (
    "@timestamp", "timestamp", "time", "ts", "@t", "timeMillis", "eventTime", "asctime", "datetime",
    "__REALTIME_TIMESTAMP", "date", "t",
)  # fmt: skip
_LEVELS = ("level", "log.level", "severity", "lvl", "levelname", "loglevel", "@l", "priority")
_LOGGERS = ("logger_name", "logger", "loggerName", "log.logger", "name", "source.class", "category", "SourceContext")
_THREADS = ("thread_name", "thread", "threadName", "process.thread.name")
_MESSAGES = (
    "message", "msg", "textPayload", "jsonPayload.message", "event", "log", "short_message", "RenderedMessage", "@m",
    "MessageTemplate", "@mt", "line", "fields.message",
)  # fmt: skip
_CLIENTS = ("clientId", "client_id", "client.id")
_IDS = ("transactionalId", "transactional_id", "transactional.id", "txid", "txn_id")
_TRACES = (
    "stack_trace", "stackTrace", "error.stack_trace", "exception", "stacktrace", "exc_info", "throwable", "stack",
    "err", "error", "errorVerbose", "cause", "full_message", "@x", "error.message", "fields.error", "trace",
)  # fmt: skip
_LISTED = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""Levels of pino and bunyan: 10, 20 ... 60."""
_OF_SYSLOG = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
_MARKS = str.maketrans("", "", "@_-")
MOST_STRINGS = 64
"""Strings of an object that are looked at for what no key tells."""
_THROWN = regex(r"\n\s*(?:at |File \")|Caused by: |Exception\b|Error\b|Fenced\b|rror: |ailed|\b[A-Z]{3,}_[A-Z_]{3,}\b")
_PAIR = regex(r'(?:^| )([A-Za-z@_][\w.@-]{0,60})=(?:"((?:[^"\\]|\\.){0,16000})"|([^" ]{0,1000}))(?= |$)')
_TOKENS = regex(r'"(?:[^"\\]|\\.)*("?)|[{}\[\]]')
"""Strings of JSON, the last of which may have no end, and brackets."""
_CUT_ESCAPE = regex(r"(\\+)(?:u[0-9a-fA-F]{0,3})?$")
_CLOSED_BY = {"{": "}", "[": "]"}
_IS_CLASS = regex(r"(?:\w{1,60}\.){0,12}[A-Z]\w{2,80}(?:Exception|Error)")
_OPEN_PAIR = regex(r'(?:^| )(cause|error|err|exception|stack_?trace)="(?=[^"])(.*)$', re.DOTALL)
"""A last value that holds quotation marks as they are, or goes on in the next lines (`cause="Exception in ...`)."""


@dataclass(frozen=True, slots=True)
class StructuredLine:
    """What a structured line says; `trace` is the text of its stack trace."""

    stamp: Stamp
    level: str
    logger: str
    thread: str
    message: str
    trace: str
    client_id: str = ""
    transactional_id: str = ""

    @property
    def is_logged(self) -> bool:
        """Whether it says when, or how severe, as records of logs do."""
        return self.stamp != NO_STAMP or bool(self.level)


def read_record(text: str) -> StructuredLine | None:
    """Read a line as JSON or as pairs; None if it is neither or holds no message.

    JSON whose end was cut off is a record if what is left of it says when, or how severe.
    """
    if text[:1] != "{":
        return _read(_pairs(text))
    if (whole := parse_object(text)) is not None:
        return _read(_innermost(whole))
    left = _read(_innermost(cut_object(text)))
    return left if left is not None and left.is_logged else None


def cut_object(text: str) -> dict[str, Any] | None:
    """Read a JSON object whose end was cut off, as people paste long lines: what is open is closed where it ends."""
    text = text.rstrip()
    if text[:2] != '{"' or not SHORTEST_CUT <= len(text) <= LONGEST_PAIRS:
        return None
    escape = _CUT_ESCAPE.search(text)
    if escape is not None and len(escape[1]) % 2:
        text = text[: escape.start()] + escape[1][1:]
    is_string, inner = False, list[str]()
    for token in _TOKENS.finditer(text):
        if token[0][0] == '"':
            is_string = not token[1]
        elif token[0] in _CLOSED_BY:
            inner.append(_CLOSED_BY[token[0]])
        elif inner:
            inner.pop()
    ends = ('"', '":""') if is_string else ("", '""', ':""')
    closing = "".join(reversed(inner))
    tried = (parse_object(text.removesuffix(",") + end + closing) for end in ends)
    return next((found for found in tried if found is not None), None)


def _read(fields: dict[str, Any] | None) -> StructuredLine | None:
    if not fields:
        return None
    message, trace = _first(fields, _MESSAGES), _trace(fields)
    rest = "" if trace else _rest(fields)
    if message is None and not (trace or rest):
        return None
    message = message if message is not None else ""
    return StructuredLine(
        stamp=_stamp(fields),
        level=_level(fields),
        logger=_first(fields, _LOGGERS) or "",
        thread=_first(fields, _THREADS) or "",
        message=message + _more(fields),
        trace=_with_broker(trace or rest, fields),
        client_id=_first(fields, _CLIENTS) or "",
        transactional_id=_first(fields, _IDS) or "",
    )


def _innermost(fields: dict[str, Any] | None) -> dict[str, Any] | None:
    """The object that holds the message, with what the objects around it say (a search engine's `_source`)."""
    for _ in range(MOST_NESTED):
        if fields is None or _first(fields, _MESSAGES) is not None:
            break
        inner = next((value for value in fields.values() if isinstance(value, dict) and _holds_message(value)), None)
        if inner is None:
            break
        fields = {**fields, **inner}
    return fields


def _holds_message(fields: dict[str, Any], depth: int = MOST_NESTED) -> bool:
    inner = (value for value in fields.values() if isinstance(value, dict))
    return _first(fields, _MESSAGES) is not None or (depth > 0 and any(_holds_message(one, depth - 1) for one in inner))


def _pairs(text: str) -> dict[str, Any] | None:
    """Read `time=... level=info msg="..."` (logfmt)."""
    if "msg=" not in text[:LONGEST_PAIRS] and "message=" not in text[:LONGEST_PAIRS]:
        return None
    if not re.match(r"[A-Za-z@_][\w.@-]{0,60}=", text):
        return None
    found = {
        match[1]: match[2].replace('\\"', '"').replace("\\n", "\n") if match[2] is not None else match[3]
        for match in _PAIR.finditer(text[:LONGEST_PAIRS])
    }
    left = _OPEN_PAIR.search(text[:LONGEST_PAIRS])
    return {left[1]: left[2]} | found if left is not None else found


def _get(fields: dict[str, Any], name: str) -> Any:
    """A value by its name; dots lead into objects."""
    if name in fields or "." not in name:
        return fields.get(name)
    first, _, rest = name.partition(".")
    inner = fields.get(first)
    return _get(inner, rest) if isinstance(inner, dict) else None


def _first(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    found = next((value for name in names if isinstance(value := _get(fields, name), str)), None)
    if found is not None:
        return found
    alike = {_folded(name): value for name, value in fields.items()}
    return next((value for name in names if isinstance(value := alike.get(_folded(name)), str)), None)


def _folded(name: str) -> str:
    return name if len(name) <= LONGEST_MARKED else name.translate(_MARKS).casefold()


def _level(fields: dict[str, Any]) -> str:
    """The level by its name, or by its number in pino, bunyan and syslog."""
    told = _first(fields, _LEVELS) or next(
        (fields[name] for name in ("level", "severity", "PRIORITY") if name in fields), ""
    )
    if not str(told).isdecimal():
        return str(told).upper()
    number = int(told)
    if number < len(_OF_SYSLOG):
        return _OF_SYSLOG[number]
    return _LISTED[number // 10 - 1] if number // 10 in range(1, len(_LISTED) + 1) else ""


def _rest(fields: dict[str, Any]) -> str:
    """A string under a key that nobody knows that tells of a failure."""
    used = {*_MESSAGES, *_TIMES, *_LEVELS, *_LOGGERS, *_THREADS}
    others = (value for name, value in fields.items() if name not in used)
    found = islice((text for value in others for text in _strings(value)), MOST_STRINGS)
    return next((text for text in found if _THROWN.search(text)), "")


def _strings(value: Any, depth: int = MOST_NESTED + 1) -> Iterator[str]:
    """Strings in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one, depth - 1)


def _stamp(fields: dict[str, Any]) -> Stamp:
    instant = fields.get("instant")
    if isinstance(instant, dict) and isinstance(seconds := instant.get("epochSecond"), int):
        nanos = instant.get("nanoOfSecond")
        return Stamp(seconds * 1_000 + (nanos // 1_000_000 if isinstance(nanos, int) else 0), -1, is_zoned=True)
    for name in _TIMES:
        value = _get(fields, name)
        if isinstance(value, str) and (found := read_stamp(value.strip())) != NO_STAMP:
            return found
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and (at := _epoch_ms(value)) >= 0:
            return Stamp(at, -1, is_zoned=True)
    alike = next((value for name in _TIMES for key, value in fields.items() if _folded(key) == _folded(name)), None)
    return read_stamp(alike.strip()) if isinstance(alike, str) else NO_STAMP


def _epoch_ms(number: float) -> int:
    """Milliseconds since the epoch, of a number of seconds, milli-, micro- or nanoseconds; -1 for any other number."""
    for least, ms in ((1e18, 1e-6), (1e15, 1e-3), (1e12, 1), (1e9, 1e3)):
        if least <= number < 4 * least:
            return round(number * ms)
    return -1


def _more(fields: dict[str, Any]) -> str:
    """Further keys of loggers of Go (`msg` beside `id`, `epoch`), in the words of franz-go's own logger.

    A message that begins with a bracket is Java's, which a shipper put under that key.
    """
    if "msg" not in fields or str(fields["msg"]).startswith("["):
        return _of_kafkajs(fields)
    known = {*_TIMES, *_LEVELS, *_LOGGERS, *_THREADS, *_MESSAGES, *_TRACES, *_HOSTS, "caller", "error", "instant"}
    rest = [
        f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in fields.items()
        if name not in known and isinstance(value, str | int | float)
    ]
    return "; " + ", ".join(rest[:32]) if rest else ""


_HOSTS = frozenset({"hostname", "host", "unit", "pid", "v"})
"""Keys of pino, bunyan and journals: where a line was written, which is none of its message."""


def _of_kafkajs(fields: dict[str, Any]) -> str:
    """What a producer of KafkaJS was given, beside its message."""
    given = [f"{name}: {fields[name]}" for name in ("producerId", "producerEpoch") if name in fields]
    return "; " + ", ".join(given) if given and fields.get("logger") == "kafkajs" else ""


def _with_broker(text: str, fields: dict[str, Any]) -> str:
    """The words of an error with the broker that KafkaJS names in a field beside them."""
    broker = fields.get("broker")
    is_named = isinstance(broker, str) and fields.get("logger") == "kafkajs" and broker not in text
    return f"{text} (broker {broker})" if is_named and text and "\n" not in text else text


def _trace(fields: dict[str, Any]) -> str:
    thrown = fields.get("thrown")
    if isinstance(thrown, dict):
        return "\n".join(_thrown(thrown))
    told = (_text(_get(fields, name)) for name in _TRACES)
    found = list(dict.fromkeys(filter(None, told))) or [_first(fields, _TRACES) or ""]
    words = [text for text in found if "\n" not in text]
    traces = [text for text in found if "\n" in text]
    beside = next((text for text in words if not any(text in trace for trace in traces)), "")
    return "\n".join(filter(None, (beside, *traces[:1])))


def _text(value: Any) -> str:
    """A trace as text: of an error that is an object (pino, winston, bunyan) its stack, else its words."""
    if isinstance(value, dict):
        stack = (value.get(name) for name in ("stack", "stack_trace", "stackTrace"))
        own, words = next((text for text in stack if isinstance(text, str)), ""), _named_error(value)
        own = own if own and str(value.get("message", "")) in own else f"{words}\n{own}".strip()
        return "\nCaused by: ".join((own, *_united_errors(value)))
    return value if isinstance(value, str) else ""


def _united_errors(error: dict[str, Any], depth: int = MOST_NESTED) -> Iterator[str]:
    """The words of the errors that an AggregateError of JavaScript unites, as pino shows them."""
    inner = error.get("aggregateErrors")
    for one in inner[:MOST_CAUSES] if isinstance(inner, list) and depth else ():
        if isinstance(one, dict):
            yield _named_error(one)
            yield from _united_errors(one, depth - 1)


def _named_error(error: dict[str, Any]) -> str:
    """The words of an error that is an object (ECS, pino, problem details), behind its class where a key has it."""
    words = next((text for name in ("message", "msg") if isinstance(text := error.get(name), str)), "")
    named = (error.get(name) for name in ("type", "name", "class", "kind"))
    name = next((text for text in named if isinstance(text, str) and _IS_CLASS.fullmatch(text)), "")
    return words if not name or name in words else f"{name}: {words}".removesuffix(": ")


def _thrown(thrown: dict[str, Any]) -> list[str]:
    """Write what log4j2's JsonLayout says of an exception as Java prints it."""
    lines: list[str] = []
    cause: Any = thrown
    for depth in range(MOST_CAUSES):
        if not isinstance(cause, dict):
            break
        name, text = cause.get("name"), cause.get("message") or cause.get("localizedMessage")
        lines.append(("Caused by: " if depth else "") + f"{name}" + (f": {text}" if text else ""))
        frames = cause.get("extendedStackTrace")
        if isinstance(frames, list):
            lines += [_frame(frame) for frame in frames[:64] if isinstance(frame, dict)]
        elif isinstance(frames, str) and not depth:
            return frames.splitlines()
        cause = cause.get("cause")
    return lines


def _frame(frame: dict[str, Any]) -> str:
    where = f"{frame.get('file')}:{frame.get('line')}"
    jar = f" [{frame.get('location')}:{frame.get('version')}]" if frame.get("location") else ""
    return f"\tat {frame.get('class')}.{frame.get('method')}({where}){jar}"
