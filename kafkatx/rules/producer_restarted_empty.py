"""An id that had been in use got a first producer id again: its coordinator had no record of it.

Mechanism    The coordinator keeps the producer id and epoch of each transactional.id in `__transaction_state`, and
             gives out producer ids in rising blocks. Where that topic was lost or not restored, or the client's address
             leads to another cluster, initTransactions finds no record: the id gets a new producer id, far below the
             one it had, at epoch 0. Nothing of the former producer is fenced or ended there.
Evidence     grants of one transactional.id: a producer id that lies several blocks below the former one, at epoch 0.
Against      a producer id above the former one: an expired id and an exhausted epoch get the next free one.
Look-alikes  transactional_id_expired, producer_epoch_exhausted (a higher producer id at epoch 0); producers that are
             only idempotent get another producer id at every start.
Remedy       find out which cluster the address leads to, and whether `__transaction_state` was restored; restart
             producers that still have their former producer id; compare what the former ones wrote last.
Source       TransactionCoordinator.handleInitProducerId, ProducerIdManager (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.finding import Subject
from kafkatx.findings.grants import BLOCK, Granted, Series, series
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Producer, Refs, facts

FEWEST_BLOCKS = 5
"""Blocks that a new producer id lies below the former one: brokers of one cluster use blocks that lie closer."""
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


def find(model: CaptureModel) -> Found:
    """One case for all ids that began anew."""
    found = [(one, *pair) for one in series(model) for pair in _restarts(one)]
    if found:
        yield _case(model, found)


def _restarts(one: Series) -> Iterator[tuple[Granted, Granted]]:
    """Grants that lie far below the one before; of producers that no id is known for, those that had been taken over.

    A producer without a transactional.id gets a new producer id, at epoch 0, whenever it starts.
    """
    for old, new in one.pairs():
        is_lower = old.producer_id // BLOCK - new.producer_id // BLOCK >= FEWEST_BLOCKS
        if is_lower and new.epoch == 0 and (one.transactional_id is not None or old.epoch > 0):
            yield old, new
            return


def _case(model: CaptureModel, found: list[tuple[Series, Granted, Granted]]) -> Case:
    first, old, new = found[0]
    rows = [one.row for _, *grants in found for one in grants]
    since, until = times_of(model.logs, rows)
    names = [one.transactional_id for one, _, _ in found]
    return Case(
        facts=Facts(
            id=first.transactional_id,
            old=Producer(old.producer_id, old.epoch),
            new=Producer(new.producer_id, new.epoch),
            new_at=instant(new.at),
            between=lasting(new.at - old.at) if new.at is not None and old.at is not None else None,
            count=Count(len(found)),
            before=event_refs(model, [one.row for _, one, _ in found], 3),
            after=event_refs(model, [one.row for _, _, one in found], 3),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=first.transactional_id if len(found) == 1 else None,
        producer_id=new.producer_id if len(found) == 1 else None,
        producer_epoch=new.epoch if len(found) == 1 else None,
        since=since,
        until=until,
        count=len(found),
        subjects=tuple(Subject(name) for name in names[:MOST_SUBJECTS]) if len(found) > 1 else (),
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

RULE = Rule(find=find, words=(WORDS,), depth=1)
