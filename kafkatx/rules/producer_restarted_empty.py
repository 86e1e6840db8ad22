"""An id that had been in use got a first producer id again: its coordinator had no record of it.

Mechanism    The coordinator keeps the producer id and epoch of each transactional.id in `__transaction_state`, and
             gives out producer ids in rising blocks. Where that topic was lost or not restored, or the client's address
             leads to another cluster, initTransactions finds no record: the id gets a new producer id, far below the
             one it had, at epoch 0. Nothing of the former producer is fenced or ended there.
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
from kafkatx.kernels.transactions import EMPTY
from kafkatx.rules.expiries.lost_records import LOST_WORDS, lost_records, of_lost_records
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import initialised_row, row_before, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Producer, Refs, facts

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

RULE = Rule(find=find, words=(WORDS, LOST_WORDS), depth=1)
