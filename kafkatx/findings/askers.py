"""Whose call an error answered: a producer's, or that of a client which no transaction waits for.

Brokers answer rights that are missing, and sizes above a limit, to whoever asks: to tools and clients for
administration (a health check that describes configurations), to readers, to other brokers. Who asked is told by the
line's client, thread and logger, by the frames below it, or by the error's own words; where nothing tells, it may be
anyone's.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.regex import regex
from kafkatx.text.logs.calls import CONSUMERS, TRANSACTIONAL
from kafkatx.text.logs.traces import ADMIN_CALL


class Asker(Enum):
    """Whose call was answered."""

    producer = auto()
    another = auto()
    unknown = auto()


OF_PRODUCERS = frozenset(
    {
        EventKind.to_abortable, EventKind.to_fatal, EventKind.fenced, EventKind.produce_failed,
        EventKind.batches_failed, EventKind.init_refused, EventKind.add_refused, EventKind.end_refused,
    }
)  # fmt: skip
"""Kinds of lines that only a producer prints, or that a broker prints of one."""
OF_READERS = frozenset({CONSUMERS, "commitAsync", "poll"})
_PRODUCER = regex(r"produc|transactional|\bsender\b|(?<!ad)\bsend\b|idempoten|InitProducerI[dD]", re.IGNORECASE)
_ADMIN = regex(r"\badmin|[a-z]Admin\b|[a-z]Admin[A-Z]|Admin(?:Client|Utils?)\b|\bAdmin[A-Z]", re.ASCII)
_READER = regex(r"consumer|ReplicaFetcher|\bfetcher\b", re.IGNORECASE)
_READERS_WORDS = regex(
    r"larger than the fetch size|There are some messages at \[Partition=Offset\]|Failed to (?:seek|pause|resume) "
    r"|Failed to (?:get|query) (?:watermark )?offsets"
)
_ADMINS_WORDS = regex(r"does not support (?:DESCRIBE|LIST|ALTER|CREATE|DELETE|ELECT|INCREMENTAL_ALTER)_[A-Z_]{3,40}\b")
"""Requests that only a client for administration sends."""
_BOTH = regex(r"\bkafka\.(?:connect|streams)\.|\b(?:akka|pekko|flink|beam|spark)\.|\bstream-thread|\bconnect-\d")
"""Programs that read and write within one transaction: where their reader is refused, it ends."""
NAMES = ("thread", "client_id", "logger")


def asker_of(logs: LogModel, client: ClientInstance | None, row: int) -> Asker:
    """Say whose call a failure's line answers."""
    trace, api = logs.trace(row), logs.string(row, "api")
    calls = {*(trace.calls if trace is not None else ()), *((api,) if api is not None else ())}
    if logs.kind(row) in OF_PRODUCERS or logs.transactional_id(row) is not None or calls & {*TRANSACTIONAL, "send"}:
        return Asker.producer
    written = " ".join(name for column in NAMES if (name := logs.string(row, column)) is not None)
    said = logs.words(row)
    if ADMIN_CALL in calls or bool(calls & OF_READERS) or _READERS_WORDS.search(said) or _ADMINS_WORDS.search(said):
        return Asker.another
    if _BOTH.search(written):
        return Asker.unknown
    if client is not None and client.is_consumer:
        return Asker.another
    if _PRODUCER.search(f"{written} {said}"):
        return Asker.producer
    if _ADMIN.search(written) or _READER.search(written):
        return Asker.another
    return Asker.unknown if logs.string(row, "client_id") is None else Asker.producer
