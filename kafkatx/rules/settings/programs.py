"""Programs as checks of settings see them: who it is, what it runs with, and what went wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.settings import Block, Effective
from kafkatx.histories.logs.testimony import only_told_timeout
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.loading import configs
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.words.config_context import ConfigContext, advised
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.log_refs import event_refs, testimony_refs

RETRYING = (
    EventKind.produce_retry,
    EventKind.produce_failed,
    EventKind.batch_expired,
    EventKind.request_timed_out,
    EventKind.request_cancelled,
)
MOST_CITED = 4
BROKERS = "the brokers"
LOOKS_ONCE_A_MINUTE = ((0, 11, 0, 0), (0, 11, 0, 1))


@dataclass(frozen=True, slots=True)
class Program:
    """One producer (by its transactional.id), one consumer, or the brokers, with the settings in force there."""

    model: CaptureModel
    advised: ConfigContext
    name: str
    transactional_id: str | None = None
    clients: tuple[ClientInstance, ...] = ()
    consumer: Block | None = None

    def get(self, setting: str) -> Effective:
        """A setting in force: of this consumer or producer, else of the brokers or of Kafka Streams."""
        if self.consumer is not None and setting in consumer_settings():
            return self.advised.settings.of_block(self.consumer, setting)
        return self.advised.in_force(setting)

    def number(self, setting: str) -> int | None:
        """A setting as a number, None where nothing tells it."""
        return self.get(setting).number

    def is_chosen(self, *settings: str) -> bool:
        """Whether somebody decided on one of these: defaults, a framework's own too, never alarm on their own."""
        return any(self.advised.is_chosen(self.get(setting)) for setting in settings)

    @property
    def looks_once_a_minute(self) -> bool:
        """Whether its coordinators look for timed out transactions once a minute, whatever is set (KAFKA-6119)."""
        return self.advised.settings.release in LOOKS_ONCE_A_MINUTE

    def place(self, setting: str) -> EvidenceRef | None:
        """Where a setting stands; None for a default."""
        return setting_place(self.model, self.get(setting))

    def told_timeout(self, rows: list[int]) -> tuple[int, EvidenceRef] | None:
        """transaction.timeout.ms as the pages of these lines say it, with the words; None where they don't agree."""
        logs = self.model.logs
        pages = dict.fromkeys(logs.path(row) for row in rows)
        found = {said[0]: (path, said[1]) for path in pages if (said := only_told_timeout(logs, path)) is not None}
        if len(found) != 1:
            return None
        number, (page, words) = found.popitem()
        return number, testimony_refs(page, [words])[0]

    @property
    def rows(self) -> list[int]:
        """Rows of the id's transactions in the table of transactions."""
        found: list[int] = self.model.transactions_of(self.model.id_code(self.transactional_id)).tolist()
        return found

    @property
    def has_run(self) -> bool:
        """Whether it got a producer id: then its settings (or whatever it ran with) were accepted."""
        given = any(one.producer_id >= 0 for client in self.clients for one in client.initialisations)
        return given or self.model.id_code(self.transactional_id) >= 0

    @property
    def timed_out(self) -> list[int]:
        """Rows of its transactions that timed out."""
        return [row for row in self.rows if self.model.ends.ended_by[row] == EndedBy.timeout]

    def events(self, *kinds: EventKind) -> list[int]:
        """Its lines of these kinds."""
        wanted = {int(kind) for kind in kinds}
        kinds_of = self.model.logs.events["kind"]
        return [row for client in self.clients for row in client.rows if int(kinds_of[row]) in wanted]

    def failures(self, error: ErrorCode) -> list[int]:
        """Lines that show this error as the cause of a failure."""
        found = [failure for client in self.clients for failure in client.failures]
        return [failure.row for failure in found if failure.error is error]

    def cited(self, rows: list[int]) -> tuple[EvidenceRef, ...]:
        """Lines as places."""
        return event_refs(self.model, rows, MOST_CITED)


def producers(model: CaptureModel) -> Iterator[Program]:
    """Producers of which settings are at hand, by their transactional.id."""
    clients: dict[str, list[ClientInstance]] = {}
    for client in model.logs.clients:
        if client.transactional_id is not None:
            clients.setdefault(client.transactional_id, []).append(client)
    named = {block.text("transactional.id") for block in model.logs.settings.blocks if block.scope != "broker"}
    named |= {name for name, found in clients.items() if any(client.settings or client.failures for client in found)}
    refused = model.logs.of_kind(EventKind.init_refused).tolist()
    named |= {model.logs.string(row, "transactional_id") for row in refused}
    for name in sorted(name for name in named if name is not None):
        yield Program(model, advised(model, name), name, name, tuple(clients.get(name, ())))


def consumers(model: CaptureModel) -> Iterator[Program]:
    """Consumers of which settings are at hand, one for each group and client.id."""
    seen: set[tuple[str | None, str | None, tuple[tuple[str, str | None], ...]]] = set()
    for block in model.logs.settings.blocks:
        if block.scope != "consumer":
            continue
        group, client = block.text("group.id"), block.text("client.id")
        said = tuple(sorted((name, one.value) for name, one in block.values.items() if name in consumer_settings()))
        if (group, client, said) in seen:
            continue
        seen.add((group, client, said))
        name = f"group {group}" if group else f"client {client}" if client else "a consumer without a group"
        yield Program(model, ConfigContext(settings=model.logs.settings), name, consumer=block)


def brokers(model: CaptureModel) -> Program:
    """The brokers, also where no setting of theirs is at hand: what happened may tell something of their defaults."""
    return Program(model, ConfigContext(settings=model.logs.settings), BROKERS)


def count_brokers(model: CaptureModel) -> int:
    """How many brokers there are, at least: those that data, settings or logs name."""
    logs = {
        source.path for source in model.logs.facts.sources if source.side == Side.broker and source.broker_id is None
    }
    ids = {source.broker_id for source in model.logs.facts.sources if source.broker_id is not None}
    return max(model.facts.known_brokers, len(model.logs.settings.broker_ids()), len(ids), min(len(logs), 1))


def setting_place(model: CaptureModel, effective: Effective) -> EvidenceRef | None:
    """Where a setting stands; None for a default."""
    setting = effective.setting
    if setting is None:
        return None
    text = f"{setting.name}={setting.value if setting.value is not None else ''}"
    return EvidenceRef(None, None, None, None, text, model.logs.facts.sources[setting.source].path, setting.line)


def retries_at_abort(program: Program) -> list[int]:
    """Lines of sends that were being repeated while a transaction of the id ran out of its time."""
    t = program.model.transactions
    spans = [
        (int(t["started_at"][row]), int(t["decided_at"][row])) for row in program.timed_out if t["started_at"][row] >= 0
    ]
    spans += [(at - _timeout(program), at) for at in _rollbacks(program)]
    rows = program.events(*RETRYING)
    logs = program.model.logs
    return [row for row in rows if (at := logs.at(row)) is not None and any(a <= at <= b for a, b in spans)]


def _timeout(program: Program) -> int:
    return program.advised.now("transaction.timeout.ms").number or 0


def _rollbacks(program: Program) -> list[int]:
    """Times at which a coordinator says that it aborted the id's transaction."""
    logs = program.model.logs
    rows = logs.of_kind(EventKind.timeout_rollback).tolist()
    times = [logs.at(row) for row in rows if logs.string(row, "transactional_id") == program.transactional_id]
    return [at for at in times if at is not None]


def longest_gap(model: CaptureModel) -> tuple[int, str | None]:
    """The longest time between one transaction of an id and its next: (ms, whose).

    Without rows of the coordinator it is that of a producer id in the data, which may have been busy elsewhere.
    """
    t = model.transactions
    if len(t):
        gap, code = _longest(t["id_code"], t["begin_timestamp"], np.maximum(t["completion_timestamp"], t["decided_at"]))
        return gap, model.transactional_id(code) if gap else None
    spans = model.spans[model.spans["records"] > 0]
    begun = np.where(spans["first_timestamp"] >= 0, spans["first_timestamp"], spans["last_timestamp"])
    ended = np.maximum(spans["last_timestamp"], spans["marker_timestamp"])
    gap, producer = _longest(spans["producer_id"], begun, ended)
    return gap, f"producer id {producer}" if gap else None


def _longest(owners: Array, begins: Array, ends: Array) -> tuple[int, int]:
    """Longest time from the end of one to the beginning of the next of one owner, 0 where none is known."""
    if len(owners) < 2:
        return 0, -1
    order = np.lexsort((begins, owners))
    owners, begins, ends = owners[order], begins[order], ends[order]
    known = (owners[1:] == owners[:-1]) & (ends[:-1] >= 0) & (begins[1:] >= 0)
    gaps = np.where(known, begins[1:] - ends[:-1], 0)
    at = int(np.argmax(gaps))
    return max(0, int(gaps[at])), int(owners[at])


def sends_offsets(model: CaptureModel, transactional_id: str | None) -> bool:
    """Whether transactions of an id list partitions of `__consumer_offsets`."""
    return CONSUMER_OFFSETS in model.topics_of(model.id_code(transactional_id))


@cache
def consumer_settings() -> frozenset[str]:
    """Names that consumers have."""
    return frozenset(config.name for config in configs() if config.scope == "consumer")
