"""Open transactions that a tool told of a partition: its producers, a dumped producer snapshot, `find-hanging`.

A producer state with a first offset of a transaction says that it was open when the tool asked. How long, the tool does
not say; but where other producers of the partition have written since for longer than any coordinator lets a
transaction run, the one that should have ended it did not. `find-hanging` has asked the coordinators as well: it
names what none of them will end.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import place_of
from kafkatx.findings.open_spans import SAID_TO_WAIT
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.answers.open_asked import UNSTICK, coordinators_row, refusals_of
from kafkatx.terms.clocks import LATE_TRANSACTION_BUFFER_MS, MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Duration, Refs, TopicPartition, facts

LONGEST_MS = MAX_TRANSACTION_TIMEOUT_MS + LATE_TRANSACTION_BUFFER_MS
"""After which a broker itself calls a transaction late (PartitionsWithLateTransactionsCount)."""
TOOL = "kafka-transactions.sh --bootstrap-server HOST:PORT"


@facts
class HangingFacts:
    """A transaction that find-hanging lists; `age` is the duration that it prints."""

    partition: TopicPartition
    offset: int
    producer_id: int
    age: Duration | None
    told: Refs

    @property
    def named(self) -> TopicPartition | None:
        """The partition, where the answer names it: only then can a command be."""
        return self.partition if self.partition.partition >= 0 else None


@facts
class OpenFacts(HangingFacts):
    """A transaction of a producer state; `age` is how long the producer has been silent while others wrote.

    `said_to_wait` are the words of people whose readers wait.
    """

    is_late: bool
    said_to_wait: Refs = ()


def hanging_told(model: CaptureModel) -> Iterator[Case]:
    """One case a transaction that find-hanging lists."""
    for row in model.logs.of_kind(EventKind.hanging_found).tolist():
        place, age = place_of(model.logs, row), lasting(model.logs.number(row, "number"))
        producer_id, offset = model.logs.number(row, "producer_id"), model.logs.number(row, "offset")
        yield Case(
            facts=HangingFacts(place, offset or 0, producer_id or 0, age, event_refs(model, [row])),
            verdict=Verdict.likely,
            severity=Severity.error,
            producer_id=producer_id,
            producer_epoch=model.logs.number(row, "producer_epoch"),
            topic=place.topic,
            partition=place.partition,
            first_offset=offset,
        )


def open_told(model: CaptureModel) -> Iterator[Case]:
    """One case an open transaction of a producer state, but for those that find-hanging lists.

    Where the log of the partition is at hand, that tells what became of it; where its coordinator answered as well,
    both answers do.
    """
    logs = model.logs
    at_hand = {(extent.topic, extent.partition) for extent in model.log_extents.values()}
    hanging = hanging_subjects(model)
    shown = {(one["producer_id"], one["first_offset"]) for one in model.spans[(model.spans["flags"] & OPEN) != 0]}
    for row in logs.of_kind(EventKind.transaction_open).tolist():
        subject = _subject(model, row)
        if subject in hanging or subject[:2] in at_hand or subject[0] == TRANSACTION_STATE:
            continue  # what the log shows is told by the log; nobody writes there in a transaction
        if coordinators_row(model, row) is not None or refusals_of(logs, row):
            continue
        place, age = place_of(logs, row), logs.number(row, "number")
        producer_id, offset = logs.number(row, "producer_id"), logs.number(row, "offset")
        if place.partition < 0 and (producer_id, offset) in shown:
            continue  # an answer without its question, about what the log of a partition shows
        is_late = age is not None and age > LONGEST_MS
        is_stuck = is_late or logs.string(row, "detail") == UNSTICK
        yield Case(
            facts=OpenFacts(place, offset or 0, producer_id or 0, lasting(age), event_refs(model, [row]), is_late),
            verdict=Verdict.likely if is_late and place.partition >= 0 else Verdict.possible,
            severity=Severity.warning if is_stuck else Severity.info,
            producer_id=producer_id,
            producer_epoch=logs.number(row, "producer_epoch"),
            topic=place.topic,
            partition=place.partition if place.partition >= 0 else None,
            first_offset=offset,
        )


def hanging_subjects(model: CaptureModel) -> set[tuple[object, ...]]:
    """Topic, partition and producer id of what find-hanging lists."""
    return {_subject(model, row) for row in model.logs.of_kind(EventKind.hanging_found).tolist()}


def _subject(model: CaptureModel, row: int) -> tuple[object, ...]:
    logs = model.logs
    return logs.string(row, "topic"), logs.number(row, "partition"), logs.number(row, "producer_id")


CHECK = (
    "Ask again whether it is still open at offset {offset}, and which transactional.id has producer id {producer_id}: "
    "if its coordinator lists {partition} and is Ongoing or Prepare*, the coordinator ends it, and an abort by hand "
    "would break it"
)
HANGING_REMEDIES = (
    remedy(CHECK, "operator", command=f"{TOOL} describe-producers --topic {{named.topic}} --partition "
           "{named.partition}"),
    remedy(
        "Only if it is still open there and no coordinator has it, abort this one transaction in this partition",
        "operator",
        command=f"{TOOL} abort --topic {{named.topic}} --partition {{named.partition}} --start-offset {{offset}}",
        cost="read_committed readers lose its records in {partition} for good",
    ),
    remedy(
        "Prevent it: let leaders refuse writes outside a transaction (brokers 3.6.1 and later)",
        "broker",
        "transaction.partition.verification.enable",
        proposed="true",
        restart_needed=False,
    ),
)  # fmt: skip
HANGING_WORDS = Words(
    HangingFacts,
    title="a hanging transaction in {partition}",
    summary="The transaction of producer id {producer_id} in {partition}, open since offset {offset}[ for {age}],"
    "[ {perhaps}] hangs: no coordinator will end it. Readers with read_committed can't pass offset {offset}.",
    steps=(
        step(
            "The transaction of producer id {producer_id} was[ {age}] open in {partition} from offset {offset} on",
            "find-hanging lists only what no coordinator has as open there",
            cites="told",
        ),
    ),
    considered=(
        left_open(
            "a transaction that has ended since",
            "the tool told the state of its call",
            decided_by="describe-producers of {partition}, and describe of its transactional.id",
        ),
    ),
    remedies=HANGING_REMEDIES,
)
OPEN_WORDS = Words(
    OpenFacts,
    title="an open transaction of producer id {producer_id}",
    summary="Producer id {producer_id}[ {perhaps}] had a transaction open in {partition} since offset {offset}"
    "[ and had been silent for {age} while others wrote]: read_committed readers could not pass that offset.",
    steps=(
        step("The leader of {partition} had it open from offset {offset} on", "its producer state", cites="told"),
        step(
            "Others wrote for longer than any timeout lets a transaction run: its coordinator had not ended it",
            "times of last writes in the same answer, {age} apart",
            needs="is_late",
        ),
        SAID_TO_WAIT,
    ),
    considered=(
        left_open(
            "hanging_transaction",
            "only its coordinator knows whether it will end the transaction",
            decided_by="find-hanging, or describe of the transactional.id",
        ),
        left_open(
            "stuck_prepare",
            "a decided transaction whose marker is missing looks the same in its partition",
            decided_by="describe of the transactional.id",
            needs="is_late",
        ),
        left_open(
            "a two-phase transaction (KIP-939, 4.1 and later)",
            "it has no timeout and may rightly wait for the decision of another system",
            decided_by="a TransactionTimeoutMs of 2147483647 in describe of the transactional.id",
            needs="is_late",
        ),
    ),
    remedies=(
        remedy(
            "Ask the coordinators whether one of them will end it; do not abort it before",
            "operator",
            command=f"{TOOL} find-hanging --topic {{named.topic}} --partition {{named.partition}}",
        ),
    ),
)
