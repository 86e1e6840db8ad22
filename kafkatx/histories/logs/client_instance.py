"""A life of a client as its lines tell it: who it was, what it was given, how it was configured, what failed."""

from __future__ import annotations

from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import Saying, said_in
from kafkatx.text.events import Setting


@dataclass(frozen=True, slots=True)
class Initialised:
    """A client was given (or told of) a producer id; `row` is the event."""

    row: int
    at: int | None
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong as a client's log shows it; lines that repeat one exception are one failure.

    `exception` and `message` are the root cause's, `outer` the class the application saw; `call` the client method that
    threw (commitTransaction, abortTransaction, beginTransaction, initTransactions, sendOffsetsToTransaction, send,
    flush, poll, commitSync), None where nothing tells; `category` what the cause means for the client's release
    (fatal, abortable, retriable, refresh, config, unknown: terms/catalogue/exceptions.tsv); `level` the most severe
    level of its lines.
    """

    row: int
    at: int | None
    level: int
    exception: str
    message: str
    outer: str
    call: str | None
    category: str
    rows: tuple[int, ...] = ()

    @property
    def error(self) -> ErrorCode:
        """The error that the root cause stands for."""
        return error_code(self.exception)

    @property
    def said(self) -> Saying:
        """What the root cause says."""
        return said_in(f"{self.exception} {self.message}")


@dataclass(frozen=True, slots=True)
class ClientInstance:
    """One life of one client object in one source: from its start (or first line) to its close (or last line).

    `implementation` is java, librdkafka, kafka-python, aiokafka, franz-go, kafkajs, sarama, kafka-go or unknown;
    `release` that of the library ((), if unknown); `rows` all its events in order; `since` and `until` span them;
    `has_start` whether its making was logged, `closed_at` when close() was called; `settings` is what its configuration
    block or file says; `owns_producer_ids` is false where the context names another id than the one that was given them
    (Flink's sink).
    """

    number: int
    source: int
    client_id: str | None
    transactional_id: str | None
    implementation: str
    release: tuple[int, ...]
    rows: tuple[int, ...]
    since: int | None
    until: int | None
    has_start: bool
    closed_at: int | None
    initialisations: tuple[Initialised, ...]
    failures: tuple[Failure, ...]
    settings: tuple[Setting, ...] = ()
    is_consumer: bool = False
    owns_producer_ids: bool = True

    @property
    def producer_ids(self) -> set[int]:
        """Producer ids that it was given."""
        return {given.producer_id for given in self.initialisations}

    @property
    def transaction_timeout_ms(self) -> int | None:
        """Its transaction.timeout.ms as printed or set, None where its settings don't tell."""
        values = [one.value or "" for one in self.settings if one.name == "transaction.timeout.ms"]
        return int(values[-1]) if values and values[-1].isdecimal() else None

    def given_by(self, at: int) -> Initialised | None:
        """What it was given last until a time, as far as its lines tell."""
        given = [one for one in self.initialisations if one.at is not None and one.at <= at]
        return given[-1] if given else None
