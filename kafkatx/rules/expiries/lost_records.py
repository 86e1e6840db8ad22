"""Ids whose records the coordinator lost: a partition of `__transaction_state` that begins later than their producers.

Mechanism  A log directory that was emptied or replaced, or an internal topic that was deleted, comes back without its
           records: the partition begins anew at offset 0. A producer that still lives is refused with
           INVALID_PRODUCER_ID_MAPPING; a new one gets the next free producer id, as after an expiry.
Evidence   the record at offset 0 was written after a client had been given its producer id for an id of that partition,
           no record of it is there, and that client was refused or given another producer id.
Against    a client of another cluster; a log of which anything is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure, Initialised
from kafkatx.histories.logs.once import once
from kafkatx.kernels.growing import Array
from kafkatx.rules.expiries.forgotten import AGAIN, UNMAPPED, restarted_by
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import initialised_row
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs, failure_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Instant, NameList, Producer, Refs, TopicPartition, facts

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Lost:
    """A client whose producer id the coordinator had no record of; `first` is the first record of its partition."""

    id: str
    client: ClientInstance
    given: Initialised
    refused: Failure | None
    first: Array


@facts
class LostRecords:
    """Ids of one partition of `__transaction_state` that begins anew; `given` is the first one's, `refused` counts."""

    ids: NameList
    place: TopicPartition
    given: Producer
    given_at: Instant
    first_at: Instant
    refused: Count | None
    restarts: Framework | None
    grants: Refs
    begins: Refs
    lines: Refs

    @property
    def first(self) -> str:
        """The id whose producer is told of."""
        return self.ids[0]


@once
def lost_records(model: CaptureModel) -> tuple[Lost, ...]:
    """Every client whose grant is older than the whole log in which its coordinator would have it."""
    return tuple(found for client in model.logs.clients if (found := _lost(model, client)) is not None)


def _lost(model: CaptureModel, client: ClientInstance) -> Lost | None:
    name = client.transactional_id
    first = _first_record(model, name) if name is not None and client.owns_producer_ids else None
    if name is None or first is None or not client.initialisations:
        return None
    given, refused = client.initialisations[0], next((one for one in client.failures if one.error is UNMAPPED), None)
    is_another = any(one.producer_id != given.producer_id for one in client.initialisations)
    if given.at is None or given.at + CLIENT_TOLERANCE_MS >= first["timestamp"] or not (refused or is_another):
        return None
    return None if _has(model, name, given.producer_id) else Lost(name, client, given, refused, first)


def _first_record(model: CaptureModel, name: str) -> Array | None:
    """The record at offset 0 of an id's partition of `__transaction_state`, where all behind it is at hand."""
    home, count = model.state_partition_of(name), model.state_partition_count
    if home is None and count is not None and count > 1:
        home = partition_for(name, count)
    extent = model.state_log_extents.get(home) if home is not None else None
    if extent is None or extent.first_offset != 0 or extent.last_gap >= 0 or not extent.is_whole or extent.is_pieced:
        return None
    rows = model.initialisations
    found = rows[(rows["state_partition"] == home) & (rows["offset"] == 0) & (rows["is_tombstone"] == 0)]
    return found[0] if len(found) else None


def _has(model: CaptureModel, name: str, producer_id: int) -> bool:
    """Whether a record of an id has a producer id."""
    code = model.id_code(name)
    tables = (model.initialisations, model.transactions, model.latest)
    return any(bool(((one["id_code"] == code) & (one["producer_id"] == producer_id)).any()) for one in tables)


def of_lost_records(model: CaptureModel) -> Iterator[Case]:
    """One case for each partition of `__transaction_state` that begins anew."""
    found: dict[int, list[Lost]] = {}
    for one in lost_records(model):
        found.setdefault(int(one.first["state_partition"]), []).append(one)
    for partition in sorted(found):
        yield _case(model, partition, found[partition])


def _case(model: CaptureModel, partition: int, lost: list[Lost]) -> Case:
    ids, first = NameList(dict.fromkeys(one.id for one in lost)), lost[0]
    refused = [one.refused for one in lost if one.refused is not None]
    since = min(one.given.at for one in lost if one.given.at is not None)
    return Case(
        facts=LostRecords(
            ids=ids,
            place=TopicPartition(TRANSACTION_STATE, partition),
            given=Producer(first.given.producer_id, first.given.producer_epoch),
            given_at=Instant(first.given.at or since),
            first_at=Instant(first.first["timestamp"]),
            refused=Count(len(refused)) if refused else None,
            restarts=restarted_by(model, first.id, first.client),
            grants=event_refs(model, [one.given.row for one in lost[:MOST_NAMED]]),
            begins=(initialised_row(first.first),),
            lines=tuple(ref for one in refused[:MOST_NAMED] for ref in failure_refs(model, one)),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=ids[0] if len(ids) == 1 else None,
        producer_id=first.given.producer_id if len(ids) == 1 else None,
        since=since,
        until=max([int(first.first["timestamp"]), *(one.at for one in refused if one.at is not None)]),
        count=len(lost),
        subjects=() if len(ids) == 1 else tuple(Subject(name) for name in ids[:MOST_NAMED]),
    )


LOST_WORDS = Words(
    LostRecords,
    who="{ids:2}",
    title="the coordinator lost its records of the id",
    summary=(
        "The coordinator's records of {ids:3} were[ {perhaps}] lost: {place} begins anew at {first_at}, after "
        "{first} had been given {given} at {given_at}.",
        pick("refused", {None: ""}, " {refused:producer} of a former producer id {refused:was|were} refused."),
    ),
    steps=(
        step("{first} was given {given} at {given_at}", "its client's log", cites="grants"),
        step(
            "The first record of {place} is of {first_at}",
            "it lies at offset 0, nothing behind it is missing, and no record has the former producer id",
            cites="begins",
        ),
        step(
            "{refused:producer} {refused:was|were} refused with INVALID_PRODUCER_ID_MAPPING",
            "the coordinator did not know the producer id",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("transactional_id_expired", "an expired id leaves a tombstone in a log that is whole from offset 0"),
        ruled_out("producer_epoch_exhausted", "the epochs that were used up would stand in the same log"),
        left_open(
            "another cluster",
            "the client may have been given its producer id by another one",
            decided_by="Cluster ID in the client's log, and cluster.id in meta.properties of the brokers",
        ),
    ),
    remedies=(
        remedy(
            "Find out what took the records of {place} before {first_at}: a log directory that was emptied or "
            "replaced, or a topic that was deleted",
            "operator",
        ),
        remedy(
            ("Close producers that still have their former producer id and make new ones. Then send", AGAIN),
            "application",
        ),
        remedy(
            "Look for transactions that were open then: the coordinator does not know them and ends none "
            "(kafka-transactions.sh find-hanging)",
            "operator",
        ),
    ),
)
