"""The client itself (or an operator in its name) aborted transactions.

Mechanism    EndTxn(ABORT): abortTransaction(), close() with a transaction open, a framework's rollback. An operator's
             `kafka-transactions.sh abort` writes an ABORT marker into one partition without the coordinator's
             knowledge.
Evidence     classic: PrepareAbort and ABORT markers at the data's own epoch; transactions v2: an abort before the
             timeout that no InitProducerId followed at once, above all if the producer went on under the raised epoch.
             An operator: an ABORT at the data's own epoch, later than every row of its id. Without rows: the epochs of
             the markers, where a COMMIT shows the protocol.
             By logs alone: "Aborting incomplete transaction" that no refusal follows.
Against      a raised epoch (classic); a duration beyond the timeout; an Empty row at once (transactions v2).
Look-alikes  fenced_by_new_instance, transaction_timed_out; on 0.11.0.0 and 0.11.0.1 a timeout keeps the epoch too.
Remedy       none for single ones: it is what abort is for. At high rates find the exception before the abort (a poison
             record, a group that rebalances).
Source       KIP-98, KIP-664, KIP-890; TransactionCoordinator.endTransaction, WriteTxnMarkers (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.ends import WITNESSED, EndGroup, RowRefs, Witness, groups_without_rows, row_refs, witnesses
from kafkatx.findings.ends_in_data import (
    ABORTED_DATA,
    LONG_IDLE_MS,
    NOT_EXPIRED,
    WROTE_DATA,
    DataFacts,
    data_facts,
)
from kafkatx.findings.ends_in_logs import LogEndFacts, log_facts
from kafkatx.findings.grouping import MOST_NAMED, by_transactional_id
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.logs.log_model import Failure
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import completion_row
from kafkatx.words.explanation import Phrase, Words, considered, gap, included, remedy, step
from kafkatx.words.facts import data, lasting, thrown, topic_partition
from kafkatx.words.log_refs import event_refs, failure_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, NameList, Refs, ShownError, TopicPartition, facts

FEWEST_ENDED, FEWEST_ABORTED, SHARE_PERCENT, IN_A_ROW = 10, 5, 5, 3
"""From this many on a share of aborted transactions says something; fewer is chance, unless they come in a row."""
BEFORE_MS = 60_000
"""How long before an abort its reason may stand in the log."""


class Shown(Enum):
    """What shows that the client did it."""

    own_epoch = "PrepareAbort has the data's own epoch"
    went_on = "it went on under the raised epoch"
    rows_end = "the rows end"
    no_init = "no InitProducerId followed"


class TimeoutIs(Enum):
    """What speaks against a timeout."""

    open = "nothing: the release is not known"
    refuted = "the epoch was not raised"
    within = "it was not over yet"


@facts
class Facts(RowRefs):
    """Transactions that a client aborted itself, as rows tell; the first is explained."""

    id: str
    count: Count
    ended: Count
    data: Data
    own_data: Data
    took: Duration
    timeout: Duration
    shown: Shown
    timeout_is: TimeoutIs
    is_often: bool
    idle: Duration | None
    witnesses: tuple[Witness, ...]
    before_idle: Refs

    @property
    def is_long_idle(self) -> bool:
        """Whether people would suspect an expiry."""
        return self.idle is not None and self.idle >= LONG_IDLE_MS


@facts
class ByOperator(DataFacts):
    """Aborted data of which the coordinator knows nothing: an operator wrote the marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedInLogs(LogEndFacts):
    """Aborts that a client's log shows; `reason` is what went wrong just before the first."""

    aborts: Count
    all_by_close: bool
    reason: ShownError | None
    reason_lines: Refs
    lines: Refs


@facts
class Nobodys:
    """Aborted transactions whose author the evidence does not tell."""

    count: Count
    id: str


@facts
class NobodysData:
    """The same where only data are at hand."""

    count: Count
    where: TopicPartition
    elsewhere: bool
    producers: NameList


NOBODYS = Phrase(
    Nobodys,
    gap(
        "{count:aborted transaction} of {id}",
        "the first rows of the transaction, or a time by one clock: who aborted it",
    ),
)
NOBODYS_DATA = Phrase(
    NobodysData,
    gap(
        (
            "{count:aborted transaction} in {where}",
            pick("elsewhere", {True: " and elsewhere"}, ""),
            " of producer id {producers:3}",
        ),
        "the coordinator's rows of that time: who aborted them",
    ),
)


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id and verdict; what is aborted by nobody knows whom is not checkable."""
    ended, is_abort = model.ends.rows(), model.transactions["decision"] == PREPARE_ABORT
    perhaps = ended.reason == Reason.no_bump_release
    by_client = (is_abort & (ended.ended_by == EndedBy.client)) | perhaps
    for verdict in (Verdict.proved, Verdict.likely, Verdict.possible):
        for group in _by_id(model, by_client & (ended.verdict == verdict)):
            facts = _of_rows(group)
            loud = facts.is_often and verdict is not Verdict.possible
            severity = Severity.warning if loud else Severity.info
            yield Case(facts=facts, verdict=verdict, severity=severity, **group.columns())
    for group in groups_without_rows(model, EndedBy.client):
        told = _in_logs(group) if group.told_by is ToldBy.logs else _in_data(group)
        yield Case(facts=told, verdict=group.verdict, severity=Severity.info, **group.columns())
    for group in _by_id(model, is_abort & (ended.ended_by == EndedBy.unknown) & ~perhaps):
        yield NOBODYS.of(Nobodys(group.count, group.transactional_id or ""))
    yield from _nobodys_data(model)


def _by_id(model: CaptureModel, chosen: Array) -> Iterator[EndGroup]:
    for _, rows in by_transactional_id(model, np.flatnonzero(chosen)):
        yield EndGroup(model, ToldBy.rows, rows)


def _nobodys_data(model: CaptureModel) -> Found:
    """One entry for all aborted data whose author the evidence does not tell."""
    ends = model.ends
    spans = model.spans[ends.spans[ends.ended(EndedBy.unknown, ToldBy.data) - ends.row_count]]
    if len(spans):
        partitions = spans["partition_code"]
        producers = NameList(str(number) for number in np.unique(spans["producer_id"]).tolist())
        where = topic_partition(model, int(partitions[0]))
        yield NOBODYS_DATA.of(NobodysData(Count(len(spans)), where, len(np.unique(partitions)) > 1, producers))


def _of_rows(group: EndGroup) -> Facts:
    end, model, row = group.first, group.model, group.first.row
    of_id = model.transactions_of(int(row["id_code"]))
    spans = [span for number in group.numbers[:MOST_NAMED] for span in TransactionEnd(model, number).data]
    before = _before(end, of_id)
    return Facts(
        id=group.transactional_id or "",
        count=group.count,
        ended=Count(np.count_nonzero(model.transactions["decision"][of_id] >= PREPARE_COMMIT)),
        data=data(model, spans),
        own_data=data(model, end.data),
        took=Duration(model.ends.duration_ms[end.number]),
        timeout=Duration(row["timeout_ms"]),
        shown=_shown(end),
        timeout_is=_TIMEOUT_IS.get(end.reason, TimeoutIs.within),
        is_often=_is_often(model, of_id),
        idle=lasting(int(row["started_at"] - before["completion_timestamp"])) if before is not None else None,
        witnesses=witnesses(end),
        **row_refs(end),
        before_idle=tuple(completion_row(before)) if before is not None else (),
    )


_TIMEOUT_IS = {Reason.no_bump_release: TimeoutIs.open, Reason.own_epoch_late: TimeoutIs.refuted}


def _shown(end: TransactionEnd) -> Shown:
    if end.protocol is Protocol.classic:
        return Shown.own_epoch
    return {Reason.v2_client_went_on: Shown.went_on, Reason.v2_rows_end: Shown.rows_end}.get(end.reason, Shown.no_init)


def _is_often(model: CaptureModel, of_id: Array) -> bool:
    """Whether the id (its transactions, oldest first) aborted a share worth a warning, or several in a row."""
    decisions = model.transactions["decision"][of_id]
    by_client = model.ends.ended_by[of_id] == EndedBy.client
    aborted = (decisions == PREPARE_ABORT) & (by_client | (model.ends.reason[of_id] == Reason.no_bump_release))
    ended, count = int(np.count_nonzero(decisions >= PREPARE_COMMIT)), int(np.count_nonzero(aborted))
    if ended >= FEWEST_ENDED and count >= FEWEST_ABORTED and 100 * count > SHARE_PERCENT * ended:
        return True
    runs = np.convolve(aborted, np.ones(IN_A_ROW, np.int64), "valid") if len(aborted) >= IN_A_ROW else np.zeros(1)
    return bool((runs == IN_A_ROW).any())


def _before(end: TransactionEnd, of_id: Array) -> Array | None:
    """The id's transaction before this one, where the same producer id goes on and its end is known."""
    before = of_id[: int(np.flatnonzero(of_id == end.number)[0])]
    if not len(before):
        return None
    last, now = end.model.transactions[before[-1]], end.row
    is_same = last["completed_producer_id"] == now["producer_id"] and last["completion_timestamp"] >= 0
    return last if is_same else None


def _in_data(group: EndGroup) -> DataFacts:
    facts = data_facts(group)
    if not group.first.by_operator:
        return facts
    return ByOperator(**{name: getattr(facts, name) for name in DataFacts.__dataclass_fields__})


def _in_logs(group: EndGroup) -> AbortedInLogs:
    model, ends = group.model, group.logs
    rows = [row for end in ends for row in end.rows]
    reason = _reason(ends[0])
    return AbortedInLogs(
        **log_facts(group, ends[0], ()),
        aborts=Count(len(rows)),
        all_by_close=all(model.logs.kind(row) is EventKind.abort_on_close for row in rows),
        reason=thrown(reason) if reason is not None else None,
        reason_lines=failure_refs(model, reason) if reason is not None else (),
        lines=event_refs(model, rows),
    )


def _reason(end: LogEnding) -> Failure | None:
    """What went wrong just before an abort."""
    failures = end.client.failures if end.client is not None else ()
    before = [f for f in failures if f.at is not None and end.at - BEFORE_MS <= f.at <= end.at]
    return before[-1] if before else None


WORDS = Words(
    Facts,
    summary="{id} aborted {count} of its {ended:ended transaction} itself: {data}",
    steps=(
        step(
            "the producer wrote {own_data} in a transaction", "the coordinator had it as Ongoing", cites="begin written"
        ),
        step(
            "{took} after the start it was aborted at its client's request",
            pick(
                "shown",
                {
                    Shown.own_epoch: "PrepareAbort has the data's own epoch: only the client's own EndTxn leaves it as "
                    "it was",
                    Shown.went_on: "the producer went on under the raised epoch without a new initTransactions: "
                    "only EndTxn's answer told it that epoch",
                    Shown.rows_end: "before its timeout; no InitProducerId followed as far as the rows go",
                },
                "before its timeout, and no InitProducerId followed",
            ),
            cites="decided completed markers",
        ),
        WITNESSED,
    ),
    considered=(
        considered(
            "transaction_timed_out",
            pick(
                "timeout_is",
                {
                    TimeoutIs.open: "not refuted: 0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119), and "
                    "the release is not known",
                    TimeoutIs.refuted: "beyond the timeout, but the epoch was not raised, as the coordinator of this "
                    "cluster does",
                },
                "aborted {took} after its start, within the timeout of {timeout:ms} ms",
            ),
            cites="decided",
        ),
        considered(
            "fenced_by_new_instance",
            pick(
                "shown",
                {
                    Shown.rows_end: "not refuted: under transactions v2 only the rows behind the abort tell, and they "
                    "are not at hand"
                },
                "no newer instance took the id over in the abort",
            ),
            cites="next",
        ),
        NOT_EXPIRED,
    ),
    remedies=(
        remedy(
            text="look at what the application logged just before these aborts: a record that always fails, or "
            "exceptions that are no reason to abort",
            where="application",
            derived_from="{count:plain} of {ended:plain} ended transactions were aborted",
            needs="is_often",
        ),
    ),
)

RAISES = "the coordinator's own abort raises the epoch"
BY_ITS_EPOCH = "an ABORT at the data's own epoch ended them"
DATA_WORDS = Words(
    DataFacts,
    summary=(ABORTED_DATA, "by its own client"),
    steps=(
        WROTE_DATA,
        step(
            BY_ITS_EPOCH,
            "the epoch stayed: only the client's own EndTxn (or an operator's abort) leaves it",
            cites="marker",
        ),
        WITNESSED,
    ),
    considered=(
        considered("transaction_timed_out", RAISES),
        considered("fenced_by_new_instance", RAISES),
        NOT_EXPIRED,
    ),
)

OPERATOR_WORDS = Words(
    ByOperator,
    summary="an operator aborted {data} by hand: the coordinator has no transaction of {id} there",
    steps=(
        step(
            "for the coordinator the id's last transaction was over before", "its latest row is older", cites="latest"
        ),
        WROTE_DATA,
        step(BY_ITS_EPOCH, "no row asked for it", cites="marker"),
        WITNESSED,
    ),
    considered=(
        considered("rows that are missing", "not refuted for certain: a later row of the id would be its latest"),
        NOT_EXPIRED,
    ),
)

LOG_WORDS = Words(
    AbortedInLogs,
    summary=(
        "{id} aborted {aborts:transaction} itself, by ",
        pick("all_by_close", {True: "close()"}, "abortTransaction"),
        ", as its log says",
    ),
    actors=(included("client"),),
    steps=(
        step("before that {reason}", "the reason for the abort", cites="reason_lines"),
        step("at {at} its client aborted the transaction", "its log says so, and no refusal follows", cites="lines"),
    ),
    considered=(
        considered(
            "an abort that came to nothing",
            "not refuted for certain: only rows or markers would tell whether anything was written, and who came first",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, OPERATOR_WORDS, LOG_WORDS),
    depth=5,
    caused_by=(
        ("fenced_by_group_generation", same_id_and_time),
        ("partition_verification_failed", same_id_and_time),
    ),
)
