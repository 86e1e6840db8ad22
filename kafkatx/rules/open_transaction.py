"""A transaction is open at the end of the evidence.

Mechanism    Between the first record and the end of its transaction a producer holds the last stable offset of every
             partition it wrote to. The coordinator ends it at the latest when its timeout has passed and it looks next.
             A two-phase transaction (KIP-939, a recorded timeout of 2147483647 ms) it never ends: prepared, that may
             rightly wait for days for what another system decides.
Evidence     the id's latest row is Ongoing (or, without the coordinator's log, data without a marker, or a producer
             state with the first offset of a transaction: a dumped snapshot, `describe-producers`).
Against      a later row in another copy of the partition; a file that breaks off.
Look-alikes  hanging_transaction (nobody will end it), stuck_prepare (decided already); a copy of a live broker always
             shows some.
Remedy       end it in the application (commit, abort), or start one producer with the same transactional.id:
             initTransactions aborts it. Not `kafka-transactions.sh abort`: the coordinator would not know.
Source       KIP-98; TransactionCoordinator.abortTimedOutTransactions (0.11 to 4.4).
"""

from __future__ import annotations

from enum import Enum, auto

import numpy as np

from kafkatx.findings.conditions import overdue, same_subject
from kafkatx.findings.grouping import DataColumns, columns_of
from kafkatx.findings.kin_timeouts import timed_out_kin
from kafkatx.findings.open_spans import SAID_TO_WAIT, OpenSpan, as_said
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.answers.asked_again import ASKED_AGAIN_WORDS, aborted_since
from kafkatx.rules.answers.open_told import OPEN_WORDS, hanging_subjects, open_told
from kafkatx.rules.answers.unowned import DATA_WORDS, NO_ROWS, Unowned, without_rows
from kafkatx.rules.unreadable.held_back import held_back
from kafkatx.terms.clocks import MAX_TRANSACTION_TIMEOUT_MS, OLD_CLEANUP_INTERVAL_MS, TWO_PHASE_TIMEOUT_MS
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import data_of, data_ref, latest_row
from kafkatx.words.explanation import Phrase, Words, gap, left_open, remedy, ruled_out, step
from kafkatx.words.facts import data, lasting
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, NameList, Refs, TopicPartition, facts

OVERDUE_SLACK_MS = 30_000
YOUNG_MS = 60_000
"""The default timeout: below it an open transaction is every day's."""


class Progress(Enum):
    """Whether a transaction that is open has to be looked after: its producer is silent, or its timeout long over."""

    within = auto()
    idle = auto()
    overdue = auto()
    two_phase = auto()


class Waits(Enum):
    """Who waits for an open transaction."""

    readers = auto()
    consumers = auto()


@facts
class Facts:
    """An Ongoing transaction; `left` of its timeout is None where it is over.

    `is_start_known` is False where a text does not tell the start: `began_at` is then when it last grew. `hidden` are
    committed records that it holds back in the partitions `blocked`, `holds_offsets` says that it wrote offsets of a
    group; both only where no marker of it can be missing. Its records in `cut` below `cut_at` are deleted already.
    `kin` are transactions of its job that timed out as it may. `said_to_wait` are words of people
    whose readers wait.
    """

    id: str
    began_at: Instant
    is_start_known: bool
    age: Duration
    timeout: Duration
    left: Duration | None
    progress: Progress
    data: Data
    latest: Refs
    written: Refs
    blocked: NameList | None
    hidden: Count | None
    holds_offsets: bool
    cut: TopicPartition | None
    cut_at: int | None
    kin: Count | None
    said_to_wait: Refs = ()

    @property
    def waits(self) -> Waits | None:
        """Who waits for it for certain."""
        if self.hidden is not None:
            return Waits.readers
        return Waits.consumers if self.holds_offsets else None

    @property
    def ends_at(self) -> Instant | None:
        """When its timeout will be over, where its start is known."""
        return Instant(self.began_at + self.timeout) if self.is_start_known and self.left is not None else None


@facts
class Id:
    """Whose transaction could not be judged."""

    id: str


def find(model: CaptureModel) -> Found:
    """One case for each id that is Ongoing, and for data without a marker where the coordinator's log is missing.

    And one for each that a partition's producer state has open, as a tool printed it, or that a list showed open and
    aborted when it was asked again.
    """
    yield from as_said(model, _open(model))


def _open(model: CaptureModel) -> Found:
    yield from open_told(model)
    yield from aborted_since(model)
    for latest in model.latest[model.latest["state"] == TransactionState.Ongoing]:
        if _is_everyday(model, latest):
            continue
        if _ended_behind_the_rows(model, latest):
            yield STALE.of(Id(model.transactional_id(int(latest["id_code"]))))
        else:
            yield _ongoing(model, latest)
    if not model.state_log_extents:
        for number in np.flatnonzero((model.spans["flags"] & OPEN) != 0):
            one = OpenSpan(model, int(number))
            if (*model.topic_partition(int(one.span["partition_code"])), one.producer_id) in hanging_subjects(model):
                continue
            facts = Unowned(one.data, one.producer_id, one.written)
            yield without_rows(one, facts)
            yield NO_ROWS.of(facts)


def _is_everyday(model: CaptureModel, latest: Array) -> bool:
    """Whether a tool met it while it ran: it tells no time, or a young one. At any moment some transaction is open."""
    if latest["updated_at"] >= 0:
        return False
    age = model.age_ms(int(latest["started_at"]))
    return bool(latest["started_at"] < 0 or age <= min(YOUNG_MS, int(latest["timeout_ms"])))


def _ongoing(model: CaptureModel, latest: Array) -> Case:
    row = int(latest["transaction_row"])
    spans = data_of(model, row) if row >= 0 else []
    facts = _facts(model, latest, spans)
    is_stale = facts.progress is Progress.overdue and _may_be_stale(model, latest)
    known = model.is_latest_known(latest) and not is_stale
    return Case(
        facts=facts,
        verdict=Verdict.proved if known else Verdict.likely,
        severity=Severity.warning if known and _is_wrong(latest, facts) else Severity.info,
        transactional_id=facts.id,
        producer_id=int(latest["producer_id"]),
        producer_epoch=int(latest["producer_epoch"]),
        since=open_since(latest),
        until=model.facts.evidence_end,
        **_place(facts.data),
    )


def _is_wrong(latest: Array, facts: Facts) -> bool:
    """Whether somebody has to look after it; a tool that was asked tells the present, and readers wait meanwhile."""
    is_long = latest["updated_at"] < 0 and int(facts.age) > MAX_TRANSACTION_TIMEOUT_MS
    is_long = is_long and facts.progress is not Progress.two_phase
    return bool(is_long or facts.cut is not None or facts.progress in (Progress.idle, Progress.overdue))


def _facts(model: CaptureModel, latest: Array, spans: list[Array]) -> Facts:
    since, timeout = open_since(latest), int(latest["timeout_ms"])
    age = model.age_ms(since)
    return Facts(
        id=model.transactional_id(int(latest["id_code"])),
        began_at=Instant(since),
        is_start_known=int(latest["started_at"]) >= 0,
        age=Duration(age),
        timeout=Duration(timeout),
        left=lasting(timeout - age),
        progress=_progress(model, spans, age, timeout),
        data=data(model, spans),
        latest=(latest_row(latest),),
        written=tuple(data_ref(model, span) for span in spans[:4]),
        kin=timed_out_kin(model, model.transactional_id(int(latest["id_code"])), timeout),
        **held_back(model, int(latest["transaction_row"])),
    )


def open_since(latest: Array) -> int:
    """When an Ongoing transaction was open for certain: since its start, or at least since its last row."""
    return int(latest["started_at"]) if latest["started_at"] >= 0 else int(latest["updated_at"])


def _ended_behind_the_rows(model: CaptureModel, latest: Array) -> bool:
    """Whether a partition of the transaction holds a marker that the coordinator decided on after its rows at hand end.

    Under transactions v2 an ABORT at the data's own epoch is an operator's and ends nothing for the coordinator.
    """
    log_extent, v2 = model.state_log_extents[int(latest["state_partition"])], latest["client_transaction_version"] == 2
    members = model.labels.partition_lists[int(latest["partitions_code"])] if latest["partitions_code"] >= 0 else ()
    spans = model.spans[model.spans["producer_id"] == latest["producer_id"]]
    behind = (spans["marker_offset"] >= 0) & (spans["marker_timestamp"] > log_extent.newest)
    by_coordinator = spans["marker_epoch"] >= latest["producer_epoch"] + (1 if v2 else 0)
    return bool((behind & by_coordinator & np.isin(spans["partition_code"], members)).any())


def _may_be_stale(model: CaptureModel, latest: Array) -> bool:
    """Whether the rows may be a dead broker's copy: with several brokers, when the partition is long silent."""
    newest = model.state_log_extents[int(latest["state_partition"])].newest
    return model.facts.brokers > 1 and model.age_ms(newest) > OLD_CLEANUP_INTERVAL_MS


def is_overdue(age: int, timeout: int) -> bool:
    """Whether a transaction of this age (ms) is older than its timeout and the slowest coordinator's look."""
    return timeout != TWO_PHASE_TIMEOUT_MS and age > timeout + OLD_CLEANUP_INTERVAL_MS + OVERDUE_SLACK_MS


def _progress(model: CaptureModel, spans: list[Array], age: int, timeout: int) -> Progress:
    if timeout == TWO_PHASE_TIMEOUT_MS:
        return Progress.two_phase
    if is_overdue(age, timeout):
        return Progress.overdue
    return Progress.idle if _is_idle(model, spans, age, timeout) else Progress.within


def _is_idle(model: CaptureModel, spans: list[Array], age: int, timeout: int) -> bool:
    """Most of the timeout is over and the producer has been silent for half of it: somebody forgot the end."""
    newest = max((int(span["last_timestamp"]) for span in spans), default=-1)
    return (
        10 * age > 8 * timeout
        and newest >= 0
        and 2 * model.age_ms(newest) > timeout
        and timeout != TWO_PHASE_TIMEOUT_MS
    )


def _place(spans: Data) -> DataColumns:
    """The partition that the transaction wrote to, beside its offsets, where it is the only one."""
    outside = [one for one in spans if one.topic != CONSUMER_OFFSETS] or spans
    return columns_of(outside[0]) if len(outside) == 1 else DataColumns()


STALE = Phrase(
    Id,
    gap("{id}", "a copy of __transaction_state as new as the data: a younger marker has ended this transaction"),
)

END_IT = (
    "Commit or abort it in the application. If that hangs, start it again under this transactional.id: its "
    "initTransactions aborts the transaction at once[. Else it lasts until {ends_at}, when the coordinator aborts it]"
)
FENCES = "initTransactions aborts the transaction and fences a producer of this id that still runs"
WORDS = Words(
    Facts,
    title=pick(
        "cut", {None: "transaction still open after {age}"}, "open for {age}, its first records deleted already"
    ),
    summary=(
        "{id}[ {perhaps}] had a transaction open for ",
        pick("is_start_known", {True: ""}, "at least "),
        "{age} when the evidence ended. ",
        pick(
            "progress",
            {
                Progress.two_phase: "As a two-phase transaction it has no timeout.",
                Progress.overdue: "Its timeout of {timeout} was over, and the coordinator had not aborted it.",
            },
            pick(
                "left",
                {None: "Its timeout of {timeout} was over."},
                (
                    "Of its timeout of {timeout}, ",
                    pick("is_start_known", {True: ""}, "at most "),
                    "{left} were left.",
                ),
            ),
        ),
        "[ Its records in {cut} below offset {cut_at} are deleted already: if it commits, no reader gets them.]",
    ),
    steps=(
        step(
            pick(
                "is_start_known",
                {True: "The transaction began at {began_at}"},
                "The transaction was open at {began_at}; this text does not tell its start",
            ),
            "the last record of {id} is Ongoing",
            cites="latest",
        ),
        step(
            ("It wrote ", pick("data.records", {0: ""}, "{data.records:record}, "), "{data}, and no marker follows"),
            cites="written",
            needs="data",
        ),
        SAID_TO_WAIT,
    ),
    considered=(
        ruled_out("hanging_transaction", "the coordinator knows the transaction", cites="latest"),
        left_open(
            "an end in newer records of __transaction_state",
            "this copy may be old",
            needs="perhaps",
            decided_by="the copy of its leader",
        ),
    ),
    remedies=(
        remedy(
            "Abort it in the application and send its records again: a commit would lose those in {cut} below offset "
            "{cut_at}, which are deleted already[. The coordinator aborts it at {ends_at}]",
            "application",
            needs="cut",
        ),
        remedy(
            pick(
                "progress",
                {
                    Progress.two_phase: "Commit or abort it where its other half is decided: the coordinator will not",
                    Progress.idle: "Commit or abort it in the application. Its producer has been silent for half of "
                    "the timeout. Or start one producer with this transactional.id",
                    Progress.overdue: "Find out what keeps its coordinator from the abort. A broker may be away, or "
                    "__transaction_state may take no writes. Then start one producer with this transactional.id",
                },
                pick(
                    "waits",
                    {
                        Waits.readers: f"{END_IT}. Readers of {{blocked:3}} wait for it ({{hidden:committed record}} "
                        "hidden)",
                        Waits.consumers: f"{END_IT}. Consumers that start from its offsets wait for it",
                    },
                    pick(
                        "kin",
                        {
                            None: pick(
                                "said_to_wait",
                                {
                                    (): "Nothing to do, unless readers wait for it: the coordinator aborts it "
                                    "{timeout} after its start. To end it sooner, commit or abort it in the application"
                                },
                                f"{END_IT}. Readers wait for it, as is said",
                            ),
                        },
                        "Give the job a longer timeout, as is said of {kin:transaction} of it that timed out after "
                        "{timeout}: this one ends in the same way unless a checkpoint commits it before",
                    ),
                ),
            ),
            "application",
            cost=pick("progress", {Progress.idle: FENCES, Progress.overdue: FENCES}),
            unless="cut",
        ),
    ),
)
RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, OPEN_WORDS, ASKED_AGAIN_WORDS),
    depth=4,
    caused_by=(("unstable_transactional_id", same_subject), ("coordinator_unavailable", overdue)),
    is_lasting=True,
)
