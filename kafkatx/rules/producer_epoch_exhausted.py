"""A producer id used up its epochs and was replaced by a new one.

Mechanism    An epoch of 32766 counts as exhausted. Classic: the next InitProducerId gets a new producer id, epoch 0.
             Transactions v2: every transaction takes an epoch, and the end of the one at 32766 hands out the next
             producer id.
Evidence     rows at 32766 or 32767, then the same transactional.id with another producer id at epoch 0.
Against      a tombstone between them: then the id had expired.
Look-alikes  transactional_id_expired (idle time, low epoch).
Remedy       transactions v2: none where transactions took them, it is routine. Else, and in any case of the classic
             protocol, find the loop of initTransactions, each of which takes an epoch. Data at epoch 32767 are a
             broker's bug (no client may see it).
Source       KIP-360, KIP-890; TransactionMetadata.isEpochExhausted (0.11 to 4.4); KAFKA-9666, KAFKA-18660, KAFKA-20090.
"""

from __future__ import annotations

from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts, says
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.unfinished_decisions import is_unfinished
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import ONGOING
from kafkatx.rules.answers.broker_said import EXHAUSTED_WORDS, exhausted_told
from kafkatx.rules.answers.epoch_overrun import OVERRUN_WORDS, overrun_told
from kafkatx.rules.epochs.loops import LOOP, loops
from kafkatx.rules.epochs.rotations import ROTATED, rotated, rotations_of
from kafkatx.rules.open_transaction import is_overdue, open_since
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import latest_row, time_or_none
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.values import Duration, Refs, TopicPartition, facts

LAST = 32_767
"""The last epoch there is: the coordinator's own, to fence with."""


@facts
class LeftOpen:
    """A transaction at the last epoch that nobody ends."""

    id: str
    epoch: int
    age: Duration
    latest: Refs


@facts
class LeftDecided:
    """A decision at the last epoch behind which no row of the id follows."""

    id: str
    epoch: int
    producer_id: int
    latest: Refs


@facts
class Impossible:
    """Data at the epoch that is the coordinator's own."""

    partition: TopicPartition
    batch: Refs


USED_UP = ("Short.MaxValue", "Cannot allocate any more producer epochs", "epoch exhausted")
"""What coordinators say of an epoch that can't be raised any more."""


@facts
class UsedUpByError(FailureFacts):
    """A coordinator's error that names the last epoch."""


def find(model: CaptureModel) -> Found:
    """One case for each id whose producer id rotated, and one for each partition with data at epoch 32767."""
    yield from exhausted_told(model)
    yield from overrun_told(model)
    rotations = rotations_of(model)
    for name in sorted(rotations):
        yield rotated(model, name, sorted(rotations[name], key=lambda rotation: rotation.at))
    for latest in model.latest[model.latest["producer_epoch"] >= EXHAUSTED_EPOCH]:
        if latest["state"] == ONGOING and is_overdue(model.age_ms(open_since(latest)), int(latest["timeout_ms"])):
            yield _left_open(model, latest)
        elif latest["producer_epoch"] == LAST and is_unfinished(model, latest):
            yield _left_decided(model, latest)
    yield from loops(model)
    for found in alike(model, lambda told: says(model.logs, told, *USED_UP)):
        told = UsedUpByError(**failure_facts(model, found))
        yield failure_case(model, found, told, Verdict.proved, Severity.error)
    for log_extent in model.log_extents.values():
        if log_extent.highest_epoch == LAST:
            yield _impossible(log_extent)


def _impossible(log_extent: LogExtent) -> Case:
    topic, partition, offset = log_extent.topic, log_extent.partition, log_extent.highest_epoch_offset
    text = f"data of producer id {log_extent.highest_epoch_producer} epoch {LAST}"
    return Case(
        facts=Impossible(TopicPartition(topic, partition), (EvidenceRef(topic, partition, offset, None, text),)),
        verdict=Verdict.proved,
        severity=Severity.error,
        producer_id=log_extent.highest_epoch_producer,
        producer_epoch=LAST,
        topic=topic,
        partition=partition,
        first_offset=offset,
    )


def _left_open(model: CaptureModel, latest: Array) -> Case:
    name, epoch = model.transactional_id(int(latest["id_code"])), int(latest["producer_epoch"])
    began = open_since(latest)
    return Case(
        facts=LeftOpen(name, epoch, Duration(model.age_ms(began)), (latest_row(latest),)),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=int(latest["producer_id"]),
        producer_epoch=epoch,
        since=began,
        until=model.facts.evidence_end,
    )


def _left_decided(model: CaptureModel, latest: Array) -> Case:
    name, producer_id = model.transactional_id(int(latest["id_code"])), int(latest["producer_id"])
    return Case(
        facts=LeftDecided(name, LAST, producer_id, (latest_row(latest),)),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=LAST,
        since=time_or_none(int(latest["updated_at"])),
        until=model.facts.evidence_end,
    )


LEFT_OPEN = Words(
    LeftOpen,
    title="stuck open at its last epoch",
    summary="A transaction of {id} is {age} old and beyond its timeout. The coordinator [{perhaps} ]can't abort it: no "
    "epoch is left after {epoch}.",
    steps=(
        step(
            "The transaction outlived its timeout", "the last record of {id} is Ongoing, epoch {epoch}", cites="latest"
        ),
    ),
    considered=(
        left_open(
            "coordinator_unavailable",
            "a coordinator that is away aborts nothing either",
            cites="latest",
            decided_by="the coordinator's server.log since then",
        ),
    ),
    remedies=(
        remedy(
            "Start one producer with this transactional.id: initTransactions ends the transaction. Then upgrade the "
            f"brokers (KAFKA-20090): until then a timeout at epoch {EXHAUSTED_EPOCH} leaves a transaction open",
            "operator",
            restart_needed=True,
        ),
    ),
)
LEFT_DECIDED = Words(
    LeftDecided,
    title="stands still at its last epoch",
    summary="A decision of {id} took epoch {epoch} of producer id {producer_id}, the last one there is, and the id has "
    "[{perhaps} ]not moved since: no epoch is left to fence with, so initTransactions waits or fails.",
    steps=(
        step(
            "The coordinator decided under epoch {epoch}", "no record of {id} follows in this evidence", cites="latest"
        ),
    ),
    considered=(
        left_open(
            "stuck_prepare",
            "a partition that takes no marker leaves the same last record",
            decided_by="kafka-transactions.sh describe of {id}, and the leaders of its partitions",
        ),
    ),
    remedies=(
        remedy(
            "Use another transactional.id, or let this one expire, so that a new producer id is given. Upgrade the "
            "brokers, and find out what raised the epoch so often: a restart loop, or two owners",
            "operator",
        ),
    ),
)
IMPOSSIBLE = Words(
    Impossible,
    title=f"data at epoch {LAST}, which no client may have",
    summary=f"{{partition}} holds data at epoch {LAST}. That epoch is the coordinator's own, no client may have it.",
    steps=(step(f"A client wrote a batch at epoch {LAST}", cites="batch"),),
    remedies=(
        remedy(
            "Upgrade the brokers (KAFKA-18660, KAFKA-20090), then restart the producer",
            "operator",
            restart_needed=True,
        ),
    ),
)

BY_ERROR = Words(
    UsedUpByError,
    title="the epochs of a producer id are used up",
    summary="The coordinator could not raise the epoch of producer id[ {producer_id}]"
    "[ of {name.transactional_id}] any more: 32767 is the last one. Its initTransactions fails until it gets a new "
    "producer id.",
    steps=(
        step(
            "The coordinator failed to raise the epoch, {count:time}", "its error names the last epoch", cites="lines"
        ),
    ),
    considered=(
        ruled_out("fenced_by_new_instance", "the coordinator failed by itself, no newer instance was granted"),
    ),
    remedies=(
        remedy(
            "Use another transactional.id, or let this one expire, so that a new producer id is given. Upgrade the "
            "brokers, and find out what raised the epoch so often: a restart loop, or two owners",
            "application",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(ROTATED, LEFT_OPEN, LEFT_DECIDED, LOOP, IMPOSSIBLE, BY_ERROR, EXHAUSTED_WORDS, OVERRUN_WORDS),
    depth=3,
)
