"""Logs as facts, built in Python: what readers of text would yield, without text.

    facts([
        line("client-a.log", "10:00:00.120", EventKind.producer_id_set, transactional_id="orders", producer_id=7,
             producer_epoch=3),
        line("client-a.log", "10:00:09", EventKind.failure, thrown=FENCED, calls=("commitTransaction",)),
        line("broker-1/server.log", "10:00:08", EventKind.timeout_rollback, transactional_id="orders"),
    ])

Lines of one path stand in the order given. A path with `broker`, `server`, `controller` or `state-change` in it is a
broker's, `side` of a line or `source(...)` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkatx.histories import build
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.build import build_log_model
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.rows import EVENT
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.text.events import LogFacts, LogSource, Setting, Thrown, Trace

DAY = 1_709_251_200_000
"""2024-03-01T00:00:00Z: the day of times given as a clock's."""

ERRORS = "org.apache.kafka.common.errors."
FENCED = f"{ERRORS}ProducerFencedException"
INVALID_EPOCH = f"{ERRORS}InvalidProducerEpochException"
TIMED_OUT = f"{ERRORS}TimeoutException"
KAFKA_EXCEPTION = "org.apache.kafka.common.KafkaException"
BROKER_WORDS = ("broker", "server", "controller", "state-change")
TEXTS = {"topic", "transactional_id", "client_id", "group", "thread", "logger", "api", "error", "detail", "signs"}
NOT_SAID: dict[str, int] = {name: -1 for name in EVENT.names or ()} | {"repeats": 0}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log, with the columns of kernels.rows.EVENT by name (codes as the strings behind them)."""

    path: str
    at: int
    kind: EventKind
    level: Level
    side: Side | None
    columns: dict[str, Any]
    trace: Trace | None


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be said of a source beside its lines; None: as its lines show."""

    path: str
    side: Side | None = None
    first: str | int | None = None
    last: str | int | None = None
    is_zoned: bool = False
    broker_id: int | None = None
    lowest_level: Level = Level.info


@dataclass(slots=True)
class Given:
    """Settings that stand together."""

    path: str
    scope: str
    values: dict[str, str | None]
    at_line: int = 1
    is_printed: bool = False


def milliseconds(at: str | int | None) -> int:
    """Time of `10:00:00.120` on DAY (also past midnight: `25:00:00`); numbers are milliseconds as they are."""
    if at is None:
        return -1
    if isinstance(at, int):
        return at
    hours, minutes, seconds = at.split(":")
    return DAY + int(hours) * 3_600_000 + int(minutes) * 60_000 + round(float(seconds) * 1000)


def line(
    path: str,
    at: str | int | None,
    kind: EventKind,
    *,
    level: Level = Level.info,
    side: Side | None = None,
    thrown: str | Iterable[str | tuple[str, str]] | None = None,
    calls: Iterable[str] = (),
    releases: Iterable[str] = (),
    **columns: Any,
) -> Line:
    """Return a line; `thrown` is the chain of exceptions, outermost first: class names, or pairs with the message."""
    return Line(path, milliseconds(at), kind, level, side, columns, trace(thrown, calls, releases))


def trace(
    thrown: str | Iterable[str | tuple[str, str]] | None, calls: Iterable[str] = (), releases: Iterable[str] = ()
) -> Trace | None:
    """Return a stack trace, None where nothing is thrown."""
    if thrown is None:
        return None
    chain = [thrown] if isinstance(thrown, str) else list(thrown)
    links = tuple(Thrown(link, "") if isinstance(link, str) else Thrown(*link) for link in chain)
    return Trace(links, tuple(calls), tuple(releases))


def source(path: str, **said: Any) -> Source:
    """Say more of a source: side, first, last (times of its first and last framed lines), is_zoned, broker_id."""
    return Source(path, **said)


def settings(path: str, scope: str, values: dict[str, str | None], at_line: int | None = None) -> Given:
    """Return settings of a file, or of a block printed in a log from `at_line` on (as `facts` numbers lines)."""
    return Given(path, scope, values, at_line or 1, at_line is not None)


def facts(lines: Iterable[Line], sources: Iterable[Source] = (), blocks: Iterable[Given] = ()) -> LogFacts:
    """Return what a reader would yield of these lines: the nth line of a path has the number 10 n."""
    said = {entry.path: entry for entry in sources}
    found, strings, traces, rows = LogFacts(), {}, [], []  # type: ignore[var-annotated]
    given, blocks = list(lines), list(blocks)
    paths = list(dict.fromkeys([*(entry.path for entry in given), *said, *(block.path for block in blocks)]))
    for number, path in enumerate(paths):
        mine = [entry for entry in given if entry.path == path]
        about = said.get(path, Source(path))
        side = about.side if about.side is not None else _side_of(path)
        for count, entry in enumerate(mine, start=1):
            rows.append(_row(entry, number, count, side, strings, traces))
        found.sources.append(_source(about, mine, side))
    found.events = np.array(rows, EVENT) if rows else np.zeros(0, EVENT)
    found.strings, found.traces = list(strings), traces
    for number, block in enumerate(blocks):
        where = paths.index(block.path)
        for name, value in block.values.items():
            found.settings.append(Setting(block.scope, name, value, where, block.at_line, number, block.is_printed))
    return found


def log_story(given: LogFacts, log_zone_ms: int | None = None) -> LogModel:
    """Interpret logs that come without anything else."""
    return build_log_model(given, log_zone_ms=log_zone_ms)


def with_logs(model: CaptureModel, given: LogFacts, log_zone_ms: int | None = None) -> CaptureModel:
    """Lay logs beside a model of rows and data (`Cluster.model()`), as `tell` does."""
    return build.with_logs(model, given, log_zone_ms)


def _side_of(path: str) -> Side:
    return Side.broker if any(word in path for word in BROKER_WORDS) else Side.client


def _row(entry: Line, source: int, count: int, side: Side, strings: dict[str, int], traces: list[Trace]) -> Any:
    row = np.zeros((), EVENT)
    for name, value in NOT_SAID.items():
        row[name] = value
    for name, value in entry.columns.items():
        if name in TEXTS:
            row[f"{name}_code"] = strings.setdefault(value, len(strings)) if value is not None else -1
        else:
            row[name] = value
    if entry.trace is not None:
        row["trace_code"] = len(traces)
        traces.append(entry.trace)
    row["position"], row["line"], row["source"], row["at"] = 100 * count, 10 * count, source, entry.at
    row["kind"], row["level"], row["side"] = entry.kind, entry.level, entry.side if entry.side is not None else side
    return row


def _source(about: Source, lines: list[Line], side: Side) -> LogSource:
    times = [entry.at for entry in lines if entry.at >= 0]
    first = milliseconds(about.first) if about.first is not None else min(times, default=-1)
    last = milliseconds(about.last) if about.last is not None else max(times, default=-1)
    count = len(lines)
    return LogSource(
        about.path, side, 10 * count + 1, 100 * count + 100, first, last, about.is_zoned, about.broker_id,
        int(about.lowest_level), f"digest of {about.path}",
    )  # fmt: skip
