"""What a reader of logs yields: events as rows, the strings and traces they point to, and the sources they stand in."""

from __future__ import annotations

from dataclasses import field
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import Saying, said_in


@dataclass(frozen=True, slots=True)
class Thrown:
    """An exception of a chain: full class name as printed and its message (empty where none is printed)."""

    exception: str
    message: str

    @property
    def name(self) -> str:
        """Class name without its package."""
        return self.exception.rpartition(".")[2]

    @property
    def error(self) -> ErrorCode:
        """The error of the protocol, or of the client, that the class stands for."""
        return error_code(self.exception)

    @property
    def said(self) -> Saying:
        """What class and message say."""
        return said_in(f"{self.exception}: {self.message}")


@dataclass(frozen=True, slots=True)
class Trace:
    """A stack trace: the chain from the outermost exception to the root cause.

    `calls` are the client methods among the frames, innermost first and each once (`commitTransaction`,
    `TransactionManager.beginAbort`, ...); `releases` the jar versions that frames name (`kafka-clients-2.2.0.jar`).
    """

    chain: tuple[Thrown, ...]
    calls: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()

    @property
    def root(self) -> Thrown:
        """The innermost cause."""
        return self.chain[-1]

    @property
    def said(self) -> Saying:
        """What its exceptions say, all together."""
        return reduce(or_, (thrown.said for thrown in self.chain), Saying(0))


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody says in a line of a page (terms/catalogue/statements.tsv), with the words around it.

    `lasted_ms` is the duration that it names, `at` and `of_day` the time before the line (as in Framed), -1 for none.
    `error` is what an error is called that people name (text/prose/named_errors.py), "" of all other statements.
    """

    name: str
    line: int
    text: str
    lasted_ms: int = -1
    at: int = -1
    of_day: int = -1
    error: str = ""


MET, NAMED, SYMPTOM, FOREIGN = "error_met", "error_named", "symptom", "foreign"
"""Names of statements: somebody met an error, a page names one, something does not work; somebody describes his case,
and neither he nor a program says a word of transactions."""
SOLVED, TRAIT = "solved", "spoken_trait"
"""Names of the statement that what a page tells of is over, and of what else it tells of a failure
(prose/spoken_traits.py), whose own name is in `error`."""
FAILED, KAFKA_FAILED = "failed", "kafka_failed"
"""Symptoms of a text that says in words of no table that something of transactions failed, or of Kafka's, if it says no
word of transactions."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """A text that events stand in: the path as given, what was read of it, and what is known of its clock.

    `lines` and `bytes` count all of it; `first_at` and `last_at` are the printed times of its first and last framed
    line (milliseconds as if UTC where no zone is printed, -1: none); `is_zoned` whether times name their zone;
    `broker_id` is that of the broker that wrote it, None where it does not say; `lowest_level` the least severe level
    that was met (terms.events.Level); `digest` a hash of the beginning of its content. `releases` are those of products
    that its page names anywhere (text/releases_told.py), `statements` what people say on it (text/prose/statements.py).
    """

    path: str
    side: Side
    lines: int
    bytes: int
    first_at: int
    last_at: int
    is_zoned: bool
    broker_id: int | None
    lowest_level: int
    digest: str
    releases: tuple[tuple[str, str], ...] = ()
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it stands somewhere. `block` numbers the groups of settings that stand together, in their source.

    `scope` is producer, consumer, admin, broker, topic, streams, connect, librdkafka, or unknown. `is_printed`: it
    stands in a `... values:` block of a log, where defaults are printed like what was set.
    """

    scope: str
    name: str
    value: str | None
    source: int
    line: int
    block: int
    is_printed: bool = False


@dataclass(slots=True)
class LogFacts:
    """Everything that logs and settings of one capture say.

    `events` have dtype kernels.rows.EVENT, ordered by source and line; `strings` are the interned strings that their
    codes point to (all `*_code` but `trace_code`), `traces` the traces.
    """

    sources: list[LogSource] = field(default_factory=list)
    events: Any = field(default_factory=lambda: np.zeros(0, EVENT))
    strings: list[str] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
