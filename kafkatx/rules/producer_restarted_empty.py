"""An id that had been in use got a first producer id again: its coordinator had no record of it.

Mechanism    The coordinator keeps the producer id and epoch of each transactional.id in `__transaction_state`, and
             gives out producer ids in rising blocks. Where that topic was lost or not restored, or the client's address
             leads to another cluster, initTransactions finds no record: the id gets a new producer id, far below the
             one it had, at epoch 0. Nothing of the former producer is fenced or ended there. A log directory that was
             emptied takes some partitions of that topic alone: they begin anew at offset 0, producers that still live
             are refused with INVALID_PRODUCER_ID_MAPPING, and new ones get the next free producer id.
Evidence     grants of one transactional.id, or Empty rows of it: a producer id several blocks below the former
             one, at epoch 0; or a partition of `__transaction_state` whose first record, at offset 0, is later than the
             grant of a producer id that it does not have.
Against      a producer id above the former one: an expired id and an exhausted epoch get the next free one.
Look-alikes  transactional_id_expired, producer_epoch_exhausted (a higher producer id at epoch 0); producers that are
             only idempotent get another producer id at every start.
Remedy       find out which cluster the address leads to, and whether `__transaction_state` was restored; restart
             producers that still have their former producer id; compare what the former ones wrote last.
Source       TransactionCoordinator.handleInitProducerId, ProducerIdManager (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.finding import Subject
from kafkatx.findings.grants import BLOCK, FEWEST_BLOCKS, Granted, Series, begins_anew, series
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH
from kafkatx.histories.logs.client_instance import ClientInstance, Failure, Initialised
from kafkatx.histories.logs.once import once
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import EMPTY
from kafkatx.rules.expiries.forgotten import AGAIN, UNMAPPED, restarted_by
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import initialised_row, row_before, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs, failure_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, NameList, Producer, Refs, TopicPartition, facts

MOST_SUBJECTS = 3


@facts
class Facts:
    """An id that was given a first producer id again, the first of `count` of them."""

    id: str | None
    old: Producer
    new: Producer
    new_at: Instant | None
    between: Duration | None
    count: Count
    before: Refs
    after: Refs

    @property
    def others(self) -> Count:
        """How many ids began anew beside the first."""
        return Count(self.count - 1)


@dataclass(frozen=True, slots=True)
class Restart:
    """An id that was given a producer id far below its former one, and where both are told."""

    id: str | None
    old: Producer
    new: Producer
    old_at: int | None
    new_at: int | None
    before: Refs
    after: Refs

    @property
    def between(self) -> Duration | None:
        """How long after its last sign it began anew."""
        return None if self.new_at is None or self.old_at is None else lasting(self.new_at - self.old_at)


def find(model: CaptureModel) -> Found:
    """One case for all ids that began anew: by grants that logs tell, else by the coordinator's rows.

    And one for each partition of the coordinator's log that begins later than producers of its ids.
    """
    yield from of_lost_records(model)
    lost = {one.id for one in lost_records(model)}
    found = [one for one in _in_logs(model) if one.id not in lost]
    told = {one.id for one in found}
    found += [one for one in _in_rows(model) if one.id not in told]
    if found:
        yield _case(found)


def _in_logs(model: CaptureModel) -> Iterator[Restart]:
    for one in series(model):
        for old, new in _restarts(one):
            before, after = event_refs(model, [old.row]), event_refs(model, [new.row])
            producers = Producer(old.producer_id, old.epoch), Producer(new.producer_id, new.epoch)
            yield Restart(one.transactional_id, *producers, old.at, new.at, before, after)


def _in_rows(model: CaptureModel) -> Iterator[Restart]:
    """Empty rows at epoch 0 whose id had a producer id far above, and epochs left."""
    rows = model.initialisations
    lower = rows["previous_producer_id"] // BLOCK - rows["producer_id"] // BLOCK >= FEWEST_BLOCKS
    lower |= (rows["producer_id"] == 0) & (rows["previous_producer_id"] > 0)
    anew = (rows["is_tombstone"] == 0) & (rows["producer_id"] >= 0) & (rows["producer_epoch"] == 0)
    is_known = (rows["previous_state"] >= EMPTY) & (rows["previous_epoch"] < EXHAUSTED_EPOCH)
    for row in rows[lower & anew & is_known]:
        yield Restart(
            model.transactional_id(int(row["id_code"])),
            Producer(int(row["previous_producer_id"]), int(row["previous_epoch"])),
            Producer(int(row["producer_id"]), 0),
            time_or_none(int(row["previous_updated_at"])),
            time_or_none(int(row["updated_at"])),
            (row_before(row),),
            (initialised_row(row),),
        )


def _restarts(one: Series) -> Iterator[tuple[Granted, Granted]]:
    """Grants that lie far below the one before; of producers that no id is known for, those that had been taken over.

    A producer without a transactional.id gets a new producer id, at epoch 0, whenever it starts.
    """
    for old, new in one.pairs():
        is_lower = begins_anew(old.producer_id, new.producer_id)
        if is_lower and new.epoch == 0 and (one.transactional_id is not None or old.epoch > 0):
            yield old, new
            return


def _case(found: list[Restart]) -> Case:
    first = found[0]
    times = sorted(at for one in found for at in (one.old_at, one.new_at) if at is not None)
    is_one = len(found) == 1
    return Case(
        facts=Facts(
            id=first.id,
            old=first.old,
            new=first.new,
            new_at=instant(first.new_at),
            between=first.between,
            count=Count(len(found)),
            before=tuple(ref for one in found[:MOST_SUBJECTS] for ref in one.before),
            after=tuple(ref for one in found[:MOST_SUBJECTS] for ref in one.after),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=first.id if is_one else None,
        producer_id=first.new.id if is_one else None,
        producer_epoch=first.new.epoch if is_one else None,
        since=times[0] if times else None,
        until=times[-1] if times else None,
        count=len(found),
        subjects=() if is_one else tuple(Subject(one.id) for one in found[:MOST_SUBJECTS]),
    )


WORDS = Words(
    Facts,
    title="the coordinator had no record of the id",
    summary=(
        pick("id", {None: "A transactional.id"}, "{id}"),
        pick("count", {1: ""}, " and {others:plain} more"),
        " got a first producer id again[ at {new_at}]: {new} after {old}. The cluster's transaction state was[ "
        "{perhaps}] lost, or this is another cluster.",
    ),
    steps=(
        step("The id had {old}", cites="before"),
        step(
            "The id then got {new}[, {between} later]",
            "a cluster gives out rising producer ids; this one lies far below the former one",
            cites="after",
        ),
    ),
    considered=(
        ruled_out("transactional_id_expired", "an id that had expired would have got a higher producer id"),
        ruled_out("producer_epoch_exhausted", "an exhausted epoch is followed by a higher producer id"),
        left_open(
            "which of the two it was",
            "a lost __transaction_state and another cluster look the same to a client",
            decided_by="cluster.id in meta.properties of the brokers, or Cluster ID in the client's log, of both times",
        ),
    ),
    remedies=(
        remedy(
            "Find out which cluster the client's bootstrap address leads to, and whether that cluster was made anew or "
            "restored without __transaction_state",
            "operator",
        ),
        remedy(
            "Restart producers that still use their former producer id. The new cluster does not know, fence or end "
            "their transactions",
            "application",
        ),
        remedy(
            "Compare what was written last before with what was written first afterwards: the same input may have been "
            "processed twice",
            "application",
        ),
    ),
)


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
        yield _lost_case(model, partition, found[partition])


def _lost_case(model: CaptureModel, partition: int, lost: list[Lost]) -> Case:
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
            grants=event_refs(model, [one.given.row for one in lost[:MOST_SUBJECTS]]),
            begins=(initialised_row(first.first),),
            lines=tuple(ref for one in refused[:MOST_SUBJECTS] for ref in failure_refs(model, one)),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=ids[0] if len(ids) == 1 else None,
        producer_id=first.given.producer_id if len(ids) == 1 else None,
        since=since,
        until=max([int(first.first["timestamp"]), *(one.at for one in refused if one.at is not None)]),
        count=len(lost),
        subjects=() if len(ids) == 1 else tuple(Subject(name) for name in ids[:MOST_SUBJECTS]),
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

RULE = Rule(find=find, words=(WORDS, LOST_WORDS), depth=1)
