"""A partition's leader no longer knew a producer that went on writing: its state there had expired or been deleted.

Mechanism    The leader keeps for each producer id its epoch and last sequences. It drops them producer.id.expiration.ms
             (1 day; before 3.4 transactional.id.expiration.ms) after the producer's last batch, and brokers before 2.4
             also when retention or DeleteRecords removed that batch. The next batch of the living producer then begins
             in the middle of its sequence: UNKNOWN_PRODUCER_ID, or on 4.x with transactions v2
             OUT_OF_ORDER_SEQUENCE_NUMBER ("Expected sequence 0 ... with no existing state").
Evidence     UNKNOWN_PRODUCER_ID at the client, "Found no record of producerId" or "no existing state" at the leader.
Against      a client that resets its sequence or raises its epoch by itself and goes on: repaired.
Look-alikes  transactional_id_expired (INVALID_PRODUCER_ID_MAPPING: the coordinator forgot the id); sequence_gap (the
             leader knows the producer, and misses batches); a wiped log directory or an old replica that became leader,
             which clients are answered the same way.
Remedy       producer.id.expiration.ms above the longest pause of a producer; brokers 2.4 or later and clients 2.5 or
             later, which go on by themselves; no retention shorter than the pauses on brokers before 2.4.
Source       ProducerStateManager, ProducerAppendInfo (0.11 to 4.4); KIP-360, KIP-854, KIP-890; KAFKA-7190.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import by_client, columns, only, producer_at, times_of, topic_partition
from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.one_failure import (
    OF_WHOM,
    FailureFacts,
    alike,
    failure_case,
    failure_facts,
    is_of,
    known_as,
    says,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.expiries.without_id import WITHOUT_ID_WORDS, unmapped_without_id
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, TopicPartition, facts

REFUSED = (EventKind.sequence_refused, EventKind.append_refused)
ACCEPTED = "accepted"
"""What a line has for a call that says that a batch was taken without a state of its producer."""
WITHOUT_STATE = "with no existing state"
REPAIRS = (EventKind.init_bump, EventKind.idempotent_bump, EventKind.sequence_reset)
ENDS = (EventKind.failure, EventKind.to_fatal, EventKind.to_abortable, EventKind.batches_failed)
OWN_SETTING = (3, 4)
"""Since this release of the brokers producer.id.expiration.ms is a setting (KIP-854)."""
FORGOTTEN = frozenset({"UNKNOWN_PRODUCER_ID", "UnknownProducerIdException"})
UNKNOWN = ("UNKNOWN_PRODUCER_ID", "unknown producer id", "Found no record of producerId")


@facts
class Facts(FailureFacts):
    """Refusals of a producer that the leader did not know; `is_of_old_broker`: one before KIP-854.

    `is_of_redpanda`: that product wrote the refusal; `dropped` are lines that say that the state of an idle producer
    was dropped before.
    """

    is_of_old_broker: bool
    is_of_redpanda: bool
    dropped: Refs


@facts
class Healed:
    """The same, where the client sent the batch again by itself."""

    name: ClientName
    place: TopicPartition | None
    count: Count
    lines: Refs
    beside: Refs


@facts
class Taken:
    """Batches that a leader took though it had dropped the state of their producer."""

    producer_id: int | None
    count: Count
    lines: Refs


def find(model: CaptureModel) -> Found:
    """One case for each client, and each producer that brokers tell of; then those that healed by themselves.

    Then each producer of whom a leader took batches all the same, and each without an id whose id was not known.
    """
    logs, release = model.logs, model.logs.settings.release
    healed = _retried(model)
    places = {topic_partition(logs, row) for rows in healed.values() for row in rows} - {None}
    for found in alike(model, lambda told: _is_forgotten(logs, told)):
        if found.first.is_brokers and _are_at(logs, found.rows, places):
            continue
        shared = failure_facts(model, found)
        told = Facts(
            **shared,
            is_of_old_broker=bool(release) and release < OWN_SETTING,
            is_of_redpanda=_is_of_redpanda(logs, found.rows),
            dropped=event_refs(model, _dropped(logs, found.rows[0], shared["producer_id"]), 2),
        )
        severity = Severity.warning if told.is_brokers else Severity.error
        severity = Severity.info if all(_is_repaired(logs, one) for one in found.all) else severity
        yield failure_case(model, found, told, Verdict.likely, severity)
    yield from _healed(model, healed)
    yield from _taken(model)
    yield from unmapped_without_id(model)


def _retried(model: CaptureModel) -> dict[int, list[int]]:
    """Lines of each client (-1: nobody) by which it sent again what was refused so."""
    logs = model.logs
    found: dict[int, list[int]] = {}
    for row in logs.of_kind(EventKind.produce_retry).tolist():
        if logs.string(row, "error") in FORGOTTEN:
            found.setdefault(int(logs.owners[row]), []).append(row)
    return found


def _are_at(logs: LogModel, rows: list[int], places: set[tuple[str, int] | None]) -> bool:
    """Whether all lines of a broker are about partitions at which a client sent again what had been refused."""
    return all(topic_partition(logs, row) in places for row in rows)


def _taken(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    groups: dict[int | None, list[int]] = {}
    for row in logs.of_kind(EventKind.producer_dropped).tolist():
        if logs.string(row, "api") == ACCEPTED:
            groups.setdefault(logs.number(row, "producer_id"), []).append(row)
    for producer_id, rows in groups.items():
        since, until = times_of(logs, rows)
        told = Taken(producer_id, Count(len(rows)), event_refs(model, rows, 4))
        yield Case(
            facts=told, verdict=Verdict.likely, severity=Severity.info, producer_id=producer_id, since=since,
            until=until, count=len(rows),
        )  # fmt: skip


def _dropped(logs: LogModel, before: int, producer_id: int | None) -> list[int]:
    """Lines before a refusal that say that the state of its producer was dropped."""
    rows = logs.of_kind(EventKind.producer_dropped).tolist()
    return [row for row in rows if row < before and logs.number(row, "producer_id") == producer_id is not None]


def _is_of_redpanda(logs: LogModel, rows: list[int]) -> bool:
    """Whether brokers wrote it that are none of Kafka's: only Redpanda's lines name files of C++."""
    return any((logs.string(row, "logger") or "").endswith(".cc") for row in rows)


def _healed(model: CaptureModel, retried: dict[int, list[int]]) -> Iterator[Case]:
    """One case for each client that was refused so, numbered the batch anew and sent it again by itself.

    The brokers' own lines about the same partitions tell of the same refusals.
    """
    logs = model.logs
    refused = logs.of_kind(EventKind.unknown_producer).tolist()
    for client, mine in by_client(model, sorted(row for rows in retried.values() for row in rows)):
        name = client_name(client)
        since, until = times_of(logs, mine)
        places = [topic_partition(logs, row) for row in mine]
        place = only(places)
        beside = [row for row in refused if topic_partition(logs, row) in places]
        yield Case(
            facts=Healed(
                name=name,
                place=TopicPartition(*place) if place else None,
                count=Count(len(mine)),
                lines=event_refs(model, mine, 4),
                beside=event_refs(model, beside, 2),
            ),
            verdict=Verdict.likely,
            severity=Severity.info,
            since=since,
            until=until,
            topic=place[0] if place else None,
            partition=place[1] if place else None,
            **columns(logs, name, _producers(logs, client, mine, beside), mine, places),
        )


def _producers(
    logs: LogModel, client: ClientInstance | None, rows: list[int], beside: list[int]
) -> list[tuple[int | None, int | None]]:
    """Producer id and epoch at each line of a client; where it names none, the id that the brokers' lines do."""
    told = only(logs.number(row, "producer_id") for row in beside)
    return [
        (number if number is not None else told, epoch) for number, epoch in (producer_at(client, row) for row in rows)
    ]


def _is_repaired(logs: LogModel, told: ToldFailure) -> bool:
    """Whether an idempotent client went on by itself: it took a new epoch, or began its sequence anew."""
    client = told.client
    if told.is_brokers or client is None or told.transactional_id is not None or told.call is not None:
        return False
    later = [logs.kind(row) for row in client.rows if row > told.rows[-1]]
    return any(kind in REPAIRS for kind in later) and not any(kind in ENDS for kind in later)


def _is_forgotten(logs: LogModel, told: ToldFailure) -> bool:
    if known_as(told, "UNKNOWN_PRODUCER_ID") or is_of(logs, told, EventKind.unknown_producer):
        return True
    if known_as(told, "OUT_OF_ORDER_SEQUENCE_NUMBER") and not told.is_brokers and has_no_state(logs):
        return True
    return says(logs, told, WITHOUT_STATE, *UNKNOWN)


def has_no_state(logs: LogModel) -> bool:
    """Whether a leader says that it has no state of a producer: its clients see no more than OUT_OF_ORDER."""
    return any(WITHOUT_STATE in logs.words(row) for row in logs.of_kind(*REFUSED).tolist())


RAISE = pick(
    "is_of_redpanda",
    {True: "Raise transactional_id_expiration_ms of the cluster"},
    pick(
        "is_of_old_broker",
        {True: "Raise transactional.id.expiration.ms"},
        "Raise producer.id.expiration.ms (brokers before 3.4: transactional.id.expiration.ms)",
    ),
)
LOST_DATA = left_open(
    "lost or old data at the leader",
    "a wiped log directory, or an old replica that became leader, is answered the same way",
    decided_by="the log of the leader[ of {place}] from before that time (truncated, or begun anew)",
)
FORGET = "Brokers before 2.4 forget a producer also when retention deletes its last batch"
KEEP = f". {FORGET}: upgrade them, or keep records longer"
WORDS = Words(
    Facts,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="a partition forgot the producer",
    summary=(
        "The leader[ of {place}] no longer knew the producer",
        "[ {producer_id}]",
        OF_WHOM,
        " and refused its batch. Its state there[ {perhaps}] had expired, or been deleted with its last records.",
    ),
    actors=(included("client"),),
    steps=(
        step(
            pick("count", {1: "A batch was refused"}, "Batches were refused {count:time}"),
            "the error says that the leader has no state of the producer",
            cites="lines",
        ),
        step("The state of the idle producer had been dropped", "a line says so", cites="dropped", needs="dropped"),
    ),
    considered=(
        ruled_out("transactional_id_expired", "the leader of a partition refused, not the coordinator of the id"),
        LOST_DATA,
    ),
    remedies=(
        remedy(
            (
                pick(
                    "name.transactional_id",
                    {None: "Go on"},
                    pick("nothing_open", {True: "Go on"}, "Abort the transaction and go on"),
                ),
                "; after a fatal error create a new producer. Then send again what was refused",
            ),
            "application",
            unless="is_brokers",
        ),
        remedy(
            text=(RAISE, " above the longest pause of the producer", pick("is_of_redpanda", {True: ""}, KEEP)),
            where="broker",
            config=pick(
                "is_of_redpanda",
                {True: "transactional_id_expiration_ms"},
                pick("is_of_old_broker", {True: "transactional.id.expiration.ms"}, "producer.id.expiration.ms"),
            ),
        ),
    ),
)

HEALED_WORDS = Words(
    Healed,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="a partition forgot the producer, healed",
    summary="The leader[ of {place}] no longer knew {name} and refused {count:a batch|batches}; the client began its "
    "sequence anew and sent again. Its state there[ {perhaps}] had expired, or been deleted with its last records.",
    steps=(
        step(
            "The client was refused and tried again, {count:time}",
            "the error says that the leader has no state of the producer",
            cites="lines",
        ),
        step("The leader says the same of that partition", cites="beside", needs="beside"),
    ),
    considered=(ruled_out("sequence_gap", "no batch was missing, the leader had no state at all"), LOST_DATA),
    remedies=(
        remedy(
            "Nothing to do for the data. To avoid it: brokers before 2.4 forget a producer when retention deletes its "
            "last "
            "batch, so upgrade them, or keep records longer. Later ones forget it after producer.id.expiration.ms "
            "(before 3.4: transactional.id.expiration.ms): raise that above its longest pause",
            "operator",
        ),
    ),
)

TAKEN_WORDS = Words(
    Taken,
    title="a partition forgot the producer, and took its batch",
    summary="The leader no longer knew the producer[ {producer_id}] and took {count:a batch|batches} of it without "
    "checking the sequence: nothing was refused, but a repetition[ {perhaps}] was not recognised there.",
    steps=(step("A batch was taken, {count:time}", "the line says that the producer was evicted", cites="lines"),),
    remedies=(
        remedy(
            "Nothing to do for these batches. To avoid it raise transactional_id_expiration_ms of the cluster above "
            "the "
            "longest pause of the producer",
            "operator",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, HEALED_WORDS, TAKEN_WORDS, WITHOUT_ID_WORDS),
    depth=3,
    causes=(("unresolved_sequence", same_id_and_time),),
    decided_by=(Side.client, Side.broker),
)
