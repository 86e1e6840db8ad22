"""What a line of a log is: when, how severe, by whom, and the message; whatever layout, wrapper or damage it has.

Method      A framer is made for one file from a sample of its lines: the layouts that they have are tried first on
            every line, the more demanding before the less, the others after them. A line that fits none is what is left
            of one (its front was cut off), the message of the line before it, which ends at a logger, or continues it.
Times       Where the wrapper's time is UTC and the line's own has no zone, the two tell the zone (a multiple of 15
            minutes). A time without a date takes it from the lines before, from `Kafka startTimeMs: ...` (clients since
            2.3) or from the file's name; where nothing tells it stays a time of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from kafkatx.terms.catalogue.templates import one_blank
from kafkatx.terms.clocks import DAY_MS
from kafkatx.terms.events import LEVELS_OF_LOG4J, Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.contexts import CLIENTS, NOTHING, Context, split_context, with_thread
from kafkatx.text.logs.error_names import PACKAGES, SIMPLE_CLASS
from kafkatx.text.logs.fronts import Parted, parted
from kafkatx.text.logs.json_lines import StructuredLine, read_record
from kafkatx.text.logs.layouts import LAYOUTS, LEVELS, OF_NET, SYSLOG_LEVELS, Groups, LineLayout, first_fitting, heads
from kafkatx.text.logs.stamps import DATED, NO_STAMP, STAMP, ZONE_STEP_MS, Stamp, midnight_of, read_stamp
from kafkatx.text.logs.wrappers import WRAPPERS, NamedFronts, Wrapped, Wrapper, unwrap, wrappers_of

SAMPLE_LINES = 200
"""Lines of a sample that are looked at."""
FURTHEST_WEST_MS = -(10 * 4 + 1) * ZONE_STEP_MS
"""Zones of places where people live begin at -10:00; a time of day alone can't tell -11:00 from +13:00."""
STRUCTURED = "structured"
KNOWN = 30
"""Characters of what Kafka says that a message must begin with, or hold."""
REMNANT, MESSAGE_ONLY = "remnant", "message"
"""Names of layouts that have no shape: JSON or pairs; the front was cut off; nothing before the message."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A line in its parts; empty strings and -1 for what it does not show.

    `at`: milliseconds since the epoch, as if UTC where no zone is known; `of_day`: milliseconds since midnight as
    printed, of use where `at` is -1 since no line tells the date, -1 where a day without its year is printed. `message`
    is without the context and without Kafka's own ` (logger)` at its end. `trace` is the stack trace that a structured
    line carries, `writer` the container, pod, service or file that a wrapper names. `layout` is "" for a continuation.
    """

    at: int
    is_zoned: bool
    level: Level
    thread: str
    logger: str
    context: Context
    message: str
    layout: str
    of_day: int = -1
    trace: str = ""
    writer: str = ""


_CONTINUED = regex(
    r"\s|Caused by: |Suppressed: |\.\.\. \d|Wrapped by: |at [\w.$/<>]{1,250}\(|"
    r"Traceback \(most recent|During handling of the above|The above exception was|"
    rf"{PACKAGES}[\w$]{{1,99}}(?:Exception|Error|Throwable|Fenced)\b(?!\.)|"
    rf"{SIMPLE_CLASS}(?::|$)|"
    r"#\d{1,3} (?:[^\s:]{1,300}\(\d{1,7}\)|\[internal function\]): |#\d{1,3} \{main\}|\[stacktrace\]|Stack trace:$"
)
_REMNANT = regex(
    rf"(?P<front>[^\n]{{0,200}}?)\b(?P<level>{LEVELS_OF_LOG4J})\]? {{1,4}}"
    r"(?:\[(?P<thread>[^\[\]]{1,250})\] )?(?P<logger>[A-Za-z_$][\w.$-]{0,249}?) {1,8}[-:] (?P<message>.*)",
    re.DOTALL,
)
_TIME_LEFT = regex(r"\b\d\d:\d\d:\d\d[.,]\d{3}\b")
_THREAD_LEFT = regex(r"\[?([^\[\]]{1,250})\] *$")
_LIBRDKAFKA = regex(r"([A-Z][A-Z0-9_]{1,31}) (?=\[[^\[\]| ]{1,250}#(?:producer|consumer)-\d{1,6}\] )")
_LOGGER_LEFT = regex(
    r"(?:[A-Z]{1,5} {1,2})?(?:(?P<logger>[\w$]{0,99}\.[\w.$]{1,249}) ?- (?P<message>[\[A-Z].*)|"
    rf"[\w.$]{{0,250}} ?- (?P<told>\[(?:{CLIENTS}) \w{{1,20}}Id=.*))",
    re.DOTALL,
)
_NO_LEVEL = regex(r"(?P<front>[^\[\]\n]{0,40}\])? {0,4}(?=\[)")
_DATED = regex(rf"\[?{DATED}:\d\d|\[?\d\d:\d\d:\d\d[.,]\d{{3}}")
_TIME_TOLD = regex(r"Kafka startTimeMs: (1\d{12})(?!\d)")
_STAMP_FIRST = regex(STAMP)
LONGEST_COLLECTORS = 160
"""Characters that a collector of logs may put before a JSON object."""
_TIME_OF_DAY = regex(r"(?<![\d:])\d\d:\d\d:\d\d[.,]\d{3}(?!\d)")
_BROKER_LOGGER = regex(r"\((?:[\w$-]{1,99}\.){1,20}[\w$-]{1,99}(?::\d{1,6})?\)")
_LAST_NAME = regex(r"(?<![\w$/.-])((?:[a-z_][\w$]{0,99}\.){1,12}[\w$]{1,99})[\]>)]?[\s:|-]{1,8}$")
"""A logger at the end of a front: a dotted name that begins small."""
_THREAD_BEHIND = regex(r"(?<=\)) \[[^\[\]]{1,250}\]$")
"""` [thread]` behind ` (logger)`, as the images of Strimzi print it (`%m (%c) [%t]`)."""
_LAST_LOGGER = regex(r"[ \t]{2,8}\[((?:[\w$-]{1,99}\.){2,20}[\w$-]{1,99})\]$")
"""`   [logger]` at the end of a line, as Debezium's images print it."""


def continues(line: str) -> bool:
    """Tell whether a line belongs to one above it: indented, a frame, a cause, a trace's own first line."""
    return not line or _CONTINUED.match(line) is not None


class Framer:
    """Frames the lines of one file, in any order; times without a date take it from the last dated line framed."""

    def __init__(self, sample: Iterable[str] = (), midnight: int | None = None) -> None:
        """Choose the layout by a sample; `midnight` is the day of times without a date (ms, as if UTC), if known.

        Where `asks_what_is_known` is set (short texts), that parts the lines whose layout nobody knows (fronts.py).
        """
        self.asks_what_is_known = False
        self._order: tuple[LineLayout, ...] = LAYOUTS
        self._wrappers: tuple[Wrapper, ...] = WRAPPERS
        self._fronts = NamedFronts()
        self._indent = 0
        self._midnight = self._first_midnight = midnight
        self._last_of_day = -1
        self._choose(sample)

    def restart(self) -> None:
        """Forget the times met so far: the file is framed from its beginning."""
        self._midnight, self._last_of_day = self._first_midnight, -1

    def frame(self, line: str, before: str = "") -> Framed:
        """Frame a line; `before` is what stands above it (two lines will do).

        It is of use where the line above ends behind the logger's name, or holds nothing but the client's bracket.
        """
        wrapped = self._unwrapped(line, self._wrappers)
        if framed := self._structured(wrapped) or self._shaped(wrapped):
            return self._with_all_known(framed, wrapped) if self.asks_what_is_known else framed
        if not continues(wrapped.text):
            wrapped = self._unwrapped(line, WRAPPERS)
            if wrapped.start and (framed := self._structured(wrapped) or self._shaped(wrapped)):
                return framed
        return self._damaged(wrapped, before)

    def frame_aside(self, line: str) -> Framed:
        """Frame a line that is none of the file's: its time is not what the next ones are dated by."""
        met = self._midnight, self._last_of_day
        framed = self.frame(line)
        self._midnight, self._last_of_day = met
        return framed

    def pass_by(self, at: int) -> None:
        """Take note of the time that a line prints which nobody frames (as if UTC; -1: without its date)."""
        if at >= 0:
            self._midnight, self._last_of_day = at - at % DAY_MS, at % DAY_MS

    def _unwrapped(self, line: str, wrappers: tuple[Wrapper, ...]) -> Wrapped:
        wrapped = self._fronts.without(line, unwrap(line, wrappers))
        if not self._indent or wrapped.text[: self._indent].strip():
            return wrapped
        start = wrapped.start + self._indent if wrapped.start >= 0 else -1
        return replace(wrapped, text=wrapped.text[self._indent :], start=start)

    def inside(self, line: str) -> str:
        """Return a line without its wrappers."""
        return self._unwrapped(line, self._wrappers).text

    def has_layout(self, line: str) -> bool:
        """Tell, cheaply, whether a line has the layout that most lines of the file have; False is no answer."""
        text = self.inside(line)
        return self._order[0].read(text, heads(text)) is not None

    def continues(self, line: str) -> bool:
        """Tell whether a line, without its wrappers, belongs to one above it."""
        return continues(self.inside(line))

    def _choose(self, sample: Iterable[str]) -> None:
        counts = dict.fromkeys(range(len(LAYOUTS)), 0)
        indents: dict[int, int] = {}
        wrappers: dict[str, Wrapper] = {}
        named: list[str] = []
        for _, line in zip(range(SAMPLE_LINES), sample, strict=False):
            named.append(line)
            if told := _TIME_TOLD.search(line):
                self._learn_day(line, int(told[1]))
            wrappers |= {wrapper.name: wrapper for wrapper in wrappers_of(line)}
            text = unwrap(line).text
            inner = text.lstrip(" ")
            fits = first_fitting(inner)
            if fits is not None:
                counts[fits] += 1
                indents[len(text) - len(inner)] = indents.get(len(text) - len(inner), 0) + 1
        self._fronts = NamedFronts(named)
        if any(counts.values()):
            self._wrappers = tuple(wrapper for wrapper in WRAPPERS if wrapper.name in wrappers)
        seen = [layout for at, layout in enumerate(LAYOUTS) if counts[at]]
        self._order = (*seen, *(layout for layout in LAYOUTS if layout not in seen))
        self._indent = max(indents, key=lambda width: indents[width]) if indents else 0

    def _learn_day(self, line: str, told: int) -> None:
        """Take the day of times without a date from a line that shows the UTC time of its own writing."""
        time = _TIME_OF_DAY.search(line)
        if self._first_midnight is None and time and (of_day := read_stamp(time[0]).of_day) >= 0:
            ahead = (of_day - told - FURTHEST_WEST_MS) % DAY_MS + FURTHEST_WEST_MS
            local = told + round(ahead / ZONE_STEP_MS) * ZONE_STEP_MS
            self._midnight = self._first_midnight = local - local % DAY_MS

    def _structured(self, wrapped: Wrapped) -> Framed | None:
        text = wrapped.text
        if text[:1] != "{" and "msg=" not in text and "message=" not in text:
            return self._behind_words(wrapped)
        record = read_record(text)
        return None if record is None else self._of_record(record, wrapped)

    def _behind_words(self, wrapped: Wrapped) -> Framed | None:
        """Frame a JSON object behind what a collector puts before it: a time, a name, a level."""
        begin = wrapped.text.find('{"', 1, LONGEST_COLLECTORS)
        if begin < 0 or not wrapped.text.endswith("}"):
            return None
        record = read_record(wrapped.text[begin:])
        if record is None or not (record.logger or record.level):
            return None
        stamp = _STAMP_FIRST.match(wrapped.text)
        if record.stamp == NO_STAMP and stamp:
            record = replace(record, stamp=read_stamp(stamp[0]))
        return self._of_record(record, wrapped)

    def _of_record(self, record: StructuredLine, wrapped: Wrapped) -> Framed:
        message, _, rest = record.message.partition("\n")
        if not record.logger and (inner := self._inner(message, wrapped)) is not None:
            return replace(inner, trace="\n".join(filter(None, (rest, record.trace))))
        at, of_day, zoned = self._time(record.stamp, wrapped.stamp)
        context, message = split_context(message)
        if record.client_id or record.transactional_id:
            client_id, name = context.client_id or record.client_id, context.transactional_id or record.transactional_id
            context = replace(context, client_id=client_id, transactional_id=name)
        return Framed(
            at, zoned, LEVELS.get(record.level, Level.unknown), record.thread, record.logger,
            with_thread(context, record.thread), message.strip(), STRUCTURED, of_day,
            "\n".join(filter(None, (rest, record.trace))), wrapped.writer,
        )  # fmt: skip

    def _inner(self, message: str, wrapped: Wrapped) -> Framed | None:
        """The line of a logger that a shipper put whole into the message of its own."""
        return self._shaped(replace(wrapped, text=message)) if _DATED.match(message) else None

    def _shaped(self, wrapped: Wrapped) -> Framed | None:
        text = wrapped.text
        if text[:1] in " \t":
            return None
        begins = heads(text)
        for number, layout in enumerate(self._order):
            if groups := layout.read(text, begins):
                return self._of_shape(groups, layout, wrapped)
            if number == 0 and first_fitting(text) is None:  # what another framer has found out is remembered
                break
        return None

    def _of_shape(self, groups: Groups, layout: LineLayout, wrapped: Wrapped) -> Framed:
        thread, logger = groups.get("thread") or "", groups.get("logger") or ""
        name = (groups.get("level") or "").upper()
        level = LEVELS.get(name, OF_NET.get(name, Level.unknown))
        message = groups["message"] or ""
        if layout.name == "librdkafka":
            level, message = SYSLOG_LEVELS[int(groups["number"] or 0)], f"{logger} [{thread}] {message}"
            thread = ""
        if facility := _LIBRDKAFKA.match(message):
            logger, message = f"rdkafka.{facility[1]}", message[facility.end() :]
        context, rest = split_context(_out_of_brackets(message))
        rest = rest.rstrip()
        if not logger and rest.endswith((")", "]")):
            rest, logger = _without_logger(rest)
        stamp = read_stamp(time) if (time := groups.get("time")) else NO_STAMP
        at, of_day, zoned = self._time(stamp, wrapped.stamp)
        return Framed(
            at, zoned, level, thread, logger, with_thread(context, thread), rest, layout.name, of_day,
            writer=wrapped.writer,
        )  # fmt: skip

    def _damaged(self, wrapped: Wrapped, before: str) -> Framed:
        """Frame what is left of a line, or a continuation."""
        text = wrapped.text
        if continues(text):
            at, of_day, zoned = self._time(NO_STAMP, wrapped.stamp)
            return Framed(at, zoned, Level.unknown, "", "", NOTHING, text, "", of_day, writer=wrapped.writer)
        if head := self._headless(before):
            context, rest = split_context(text)
            context = head.context if context is NOTHING else with_thread(context, head.thread)
            return replace(head, context=context, message=rest.rstrip())
        found = parted(text) if self.asks_what_is_known else None
        if found is not None and (found.stamp != NO_STAMP or found.level >= 0):
            return self._of_front(found, wrapped)
        return self._remnant(wrapped)

    def _with_all_known(self, framed: Framed, wrapped: Wrapped) -> Framed:
        """A line of which a layout took for a name what Kafka says: parted before that."""
        if framed.layout == STRUCTURED or (found := parted(wrapped.text)) is None:
            return framed
        if one_blank(framed.message).find(found.known[:KNOWN]) >= 0:
            return framed if framed.level >= 0 else replace(framed, level=found.level, layout=REMNANT)
        again = self._of_front(found, wrapped)
        return replace(again, level=framed.level if framed.level >= 0 else again.level)

    def _of_front(self, found: Parted, wrapped: Wrapped) -> Framed:
        at, of_day, zoned = self._time(found.stamp, wrapped.stamp)
        is_error = found.message.startswith("[Error ")
        context, message = (NOTHING, found.message) if is_error else split_context(found.message)
        logger = _LAST_NAME.search(found.front)
        name = logger[1] if logger is not None else ""
        return Framed(at, zoned, found.level, "", name, context, message, REMNANT, of_day, writer=wrapped.writer)

    def _headless(self, before: str) -> Framed | None:
        """Return the line before, if it is a line whose message was moved to the next one.

        The bracket of the client may have a line of its own between the two.
        """
        if not before:
            return None
        above, _, last = before.rpartition("\n")
        wrapped = unwrap(last)
        context, rest = split_context(wrapped.text.strip())
        if above and not rest and (context.client_id or context.transactional_id) and (head := self._headless(above)):
            return replace(head, context=with_thread(context, head.thread))
        framed = self._shaped(wrapped)
        if framed is None or not (framed.level >= 0 or framed.logger):
            return None
        return framed if not framed.message or _only_a_logger(framed) else None

    def _remnant(self, wrapped: Wrapped) -> Framed:
        left = _left_of(wrapped.text)
        context, rest = split_context(left["message"])
        named, time = _THREAD_LEFT.search(left.get("front", "")), _TIME_LEFT.search(left.get("front", ""))
        thread = left.get("thread") or (named[1] if named else "")
        at, of_day, zoned = self._time(read_stamp(time[0]) if time else NO_STAMP, wrapped.stamp)
        return Framed(
            at, zoned, LEVELS.get(left.get("level", ""), Level.unknown), thread, left.get("logger", ""),
            with_thread(context, thread), rest.rstrip(),
            REMNANT if "logger" in left or context is not NOTHING else MESSAGE_ONLY, of_day, writer=wrapped.writer,
        )  # fmt: skip

    def _time(self, own: Stamp, outer: Stamp) -> tuple[int, int, bool]:
        """Return when, the time of day, and whether the zone is known."""
        if own.at < 0 and own.of_day < 0 and own.month_day is None:
            own, outer = outer, NO_STAMP
        if own.at < 0 and outer.at >= 0:
            own = _dated(own, outer)
        if own.at < 0:
            own = self._guessed(own)
        elif own.of_day >= 0:
            self._midnight, self._last_of_day = own.at - own.at % DAY_MS, own.of_day
        if own.at >= 0 and not own.is_zoned and outer.is_zoned and outer.at >= 0:
            return own.at - round((own.at - outer.at) / ZONE_STEP_MS) * ZONE_STEP_MS, own.of_day, True
        return own.at, -1 if own.month_day else own.of_day, own.is_zoned

    def _guessed(self, stamp: Stamp) -> Stamp:
        """Date a time by the lines before it; a step back of more than half a day is the next day."""
        if stamp.of_day < 0 or self._midnight is None:
            return stamp
        midnight: int | None = self._midnight
        if stamp.month_day:
            midnight = midnight_of(1970 + int(self._midnight / DAY_MS / 365.2425), *stamp.month_day)
        elif 0 <= self._last_of_day - DAY_MS // 2 > stamp.of_day:
            self._midnight = midnight = self._midnight + DAY_MS
        self._last_of_day = stamp.of_day
        return replace(stamp, at=midnight + stamp.of_day) if midnight is not None else stamp


def _left_of(text: str) -> dict[str, str]:
    """What is left of a damaged line by name: `message`; with a logger also what stands before it."""
    if found := _REMNANT.match(text) or _LOGGER_LEFT.match(text):
        groups = found.groupdict("")
        return groups | {"message": groups["message"] or groups.get("told") or text}
    cut = _NO_LEVEL.match(text)
    return {"message": text[cut.end() :] if cut and cut["front"] else text}


def _dated(stamp: Stamp, outer: Stamp) -> Stamp:
    """Date a time by its wrapper's: the day that brings the two nearest, as if in the wrapper's zone."""
    if stamp.of_day < 0:
        return stamp
    step = round((outer.at - outer.at % DAY_MS + stamp.of_day - outer.at) / ZONE_STEP_MS) * ZONE_STEP_MS
    at = outer.at - outer.at % DAY_MS + stamp.of_day - step
    return replace(stamp, at=at, is_zoned=outer.is_zoned)


def _out_of_brackets(message: str) -> str:
    """Return a message that begins with its client's bracket, and stands in brackets itself, without the outer ones."""
    return message.rstrip()[1:-1] if message.startswith("[[") and message.rstrip().endswith("]") else message


def _without_logger(message: str) -> tuple[str, str]:
    """Split ` (logger)`, as Kafka's own layout prints it, or `   [logger]` off the end of a message."""
    if last := _LAST_LOGGER.search(message, max(0, len(message) - 300)):
        return message[: last.start()], last[1]
    whole = _THREAD_BEHIND.sub("", message) if message.endswith("]") else message
    at = whole.rfind(" (", max(0, len(whole) - 300))
    if at < 0 or not _BROKER_LOGGER.fullmatch(whole, at + 1):
        return message, ""
    return whole[:at].rstrip(), whole[at + 2 : -1].partition(":")[0]


def _only_a_logger(framed: Framed) -> bool:
    """Tell whether a message is nothing but a logger's name (`o.a.k.c.p.KafkaProducer:`)."""
    return re.fullmatch(r"(?:[\w$]{1,99}\.){1,20}[\w$]{1,99} ?[-:]?|[-:]", framed.message) is not None
