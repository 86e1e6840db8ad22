"""The coordinator ended the transaction because transaction.timeout.ms had passed.

Mechanism    Every transaction.abort.timed.out.transaction.cleanup.interval.ms the coordinator looks for Ongoing
             transactions with start + timeout < now, raises the epoch, writes PrepareAbort and the ABORT markers. The
             clock starts with the first partition and no progress stops it. The client's next call is refused, in words
             that also mean a second instance.
Evidence     PrepareAbort longer after the start than the row's own timeout, by the same coordinator's clock; classic:
             under epoch e+1. By logs alone: the coordinator's line "Completed rollback of ongoing transaction ... due
             to timeout"; a client refused as too old when its transaction had been open longer than its timeout.
Against      Empty within a second of CompleteAbort: then InitProducerId may have come between timeout and look;
             classic: an abort at the data's own epoch (a client that aborted late); transactions v2: the producer goes
             on under the raised epoch without a new Empty row, which only the client that ended the transaction itself
             can do.
Look-alikes  fenced_by_new_instance (earlier than the timeout, Empty row at once); aborted_by_client; on 0.11.0.0 and
             0.11.0.1 a timeout keeps the epoch (KAFKA-6119), there only logs decide.
Remedy       raise transaction.timeout.ms above the longest transaction measured (not above transaction.max.timeout.ms),
             or shorten the work. Readers of read_committed may have to wait as long as the timeout.
Source       KIP-98, KIP-588, KIP-890; TransactionCoordinator.abortTimedOutTransactions (0.11 to 4.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kafkatx.findings.conditions import by_settings, same_time
from kafkatx.findings.ends import WITNESSED, EndGroup, RowRefs, Witness, groups, of_reason, row_refs, witnesses
from kafkatx.findings.ends_in_data import (
    ABORTED_DATA,
    ONLY_TIMES,
    OWN_KEEPS_EPOCH,
    UNDER_NEXT_EPOCH,
    DataFacts,
    data_facts,
)
from kafkatx.findings.ends_in_logs import REFUSED, LogEndFacts, log_facts
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.histories.logs.fencings import timeout_of
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.transactions import EMPTY, PREPARE_COMMIT
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import begin_row, decision_row
from kafkatx.words.explanation import Phrase, Words, actor, considered, included, measure, remedy, step
from kafkatx.words.facts import data, instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import transaction_timeout
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, Producer, Refs, facts


class After(Enum):
    """What became of the id behind the abort."""

    committed = "the id committed again later"
    nothing = "the id committed nothing after that"
    lost = "what the id did after that is lost with its rows"


class Other(Enum):
    """What else it can have been."""

    prompt_init = "InitProducerId within a second"
    own_abort = "the producer went on"
    late_init = "InitProducerId later"
    no_init = "no InitProducerId"


@facts
class Facts(RowRefs):
    """Transactions that ran longer than their timeout, as rows tell; the first is explained."""

    id: str
    count: Count
    records_lost: Count
    producer: Producer
    began_at: Instant
    took: Duration
    timeout: Duration
    decision_epoch: int
    is_near: bool
    is_fenced: bool
    after: After
    other: Other
    until_next: Duration
    data: Data
    witnesses: tuple[Witness, ...]
    remedies: Remedies


@facts
class SameEpoch:
    """Aborts beyond the timeout at an unchanged epoch: a late client, or the coordinator of 0.11.0.0 and 0.11.0.1."""

    id: str
    count: Count
    took: Duration
    rows: Refs


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOutInLogs(LogEndFacts):
    """Timeouts that logs tell and no row; `took` is None where nothing tells when the transaction had begun."""

    by_its_line: bool
    timeout: Duration | None
    began_at: Instant | None
    took: Duration | None
    rollbacks: Refs
    remedies: Remedies

    @property
    def is_overdue(self) -> bool:
        """Whether the refusal came when the timeout had passed."""
        return self.took is not None and not self.is_possible

    @property
    def needs_length(self) -> bool:
        """Whether nothing tells how long it was open."""
        return not self.is_possible and not self.remedies


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which transactions timed out, or may have (0.11.0.0, 0.11.0.1)."""
    for group in groups(model, EndedBy.timeout):
        if group.told_by is ToldBy.rows:
            facts = _of_rows(group)
            severity = Severity.error if facts.after is After.nothing else Severity.warning
            yield Case(facts=facts, verdict=group.verdict, severity=severity, **group.columns())
        elif group.told_by is ToldBy.data:
            yield Case(facts=data_facts(group), verdict=group.verdict, severity=Severity.warning, **group.columns())
        else:
            yield Case(
                facts=_in_logs(group), verdict=group.verdict, severity=_severity_in_logs(group), **group.columns()
            )
    for group in of_reason(model, Reason.no_bump_release):
        row = group.first.row
        same = SameEpoch(
            group.transactional_id or "", group.count, _took(group.first), (*begin_row(row), *decision_row(row))
        )
        yield Case(facts=same, verdict=Verdict.possible, severity=Severity.warning, **group.columns())


def _took(end: TransactionEnd) -> Duration:
    return Duration(end.model.ends.duration_ms[end.number])


def _of_rows(group: EndGroup) -> Facts:
    end, model, row = group.first, group.model, group.first.row
    spans = (span for number in group.numbers for span in TransactionEnd(model, number).data)
    return Facts(
        id=group.transactional_id or "",
        count=group.count,
        records_lost=Count(sum(int(span["records"]) for span in spans)),
        producer=Producer(int(row["producer_id"]), int(row["producer_epoch"])),
        began_at=Instant(row["started_at"]),
        took=_took(end),
        timeout=Duration(row["timeout_ms"]),
        decision_epoch=int(row["decision_epoch"]),
        is_near=end.reason is Reason.near_timeout,
        is_fenced=end.reason is not Reason.over_timeout_went_on,
        after=_after(model, group.numbers[-1]),
        other=_other(end),
        until_next=Duration(row["next_timestamp"] - row["completion_timestamp"]),
        data=data(model, end.data),
        witnesses=witnesses(end),
        remedies=_remedies(group),
        **row_refs(end),
    )


def _after(model: CaptureModel, row: int) -> After:
    """Whether the id committed something after this transaction: the work may have been done again."""
    code = int(model.transactions["id_code"][row])
    of_id = model.transactions[model.transactions_of(code)]
    later = of_id["decided_at"] > model.transactions["decided_at"][row]
    if ((of_id["decision"] == PREPARE_COMMIT) & later).any():
        return After.committed
    latest = model.latest_of(code)
    return After.nothing if latest is not None and model.is_latest_known(latest) else After.lost


def _other(end: TransactionEnd) -> Other:
    if end.reason is Reason.over_timeout_then_init:
        return Other.prompt_init
    if end.reason is Reason.over_timeout_went_on:
        return Other.own_abort
    return Other.late_init if end.row["next_state"] == EMPTY else Other.no_init


def _remedies(group: EndGroup) -> Remedies:
    """A timeout from the longest transaction measured of the id, and from what a broker was away meanwhile."""
    model = group.model
    of_id = model.transactions_of(int(group.first.row["id_code"]))
    needed = int(model.ends.duration_ms[of_id].max())
    t = model.transactions[group.numbers]
    known = t[(t["started_at"] >= 0) & (t["decided_at"] >= 0)]
    away = [
        outage.duration_ms
        for outage in outages(model.logs)
        if ((known["started_at"] <= outage.until) & (known["decided_at"] >= outage.since)).any()
    ]
    measured = LONGEST.of(Lasted(Duration(needed)))
    whom = advised(model, group.transactional_id)
    return transaction_timeout(whom, max(0, needed), measured, max(away, default=0))


def _severity_in_logs(group: EndGroup) -> Severity:
    dead = any(failure.category == "fatal" for end in group.logs for failure in end.failures)
    return Severity.error if dead and group.verdict is not Verdict.possible else Severity.warning


def _in_logs(group: EndGroup) -> TimedOutInLogs:
    model, ends = group.model, group.logs
    first = ends[0]
    timeout, is_known = timeout_of(model.logs, first.name, first.client)
    by_line = first.verdict is Verdict.proved
    began = None if by_line else first.began
    return TimedOutInLogs(
        **log_facts(group, first, [failure for end in ends for failure in end.failures]),
        by_its_line=by_line,
        timeout=Duration(timeout) if is_known else None,
        began_at=instant(began),
        took=lasting(first.at - began) if began is not None else None,
        rollbacks=event_refs(model, [row for end in ends for row in end.rows]) if by_line else (),
        remedies=_remedies_in_logs(group, timeout, is_known),
    )


def _remedies_in_logs(group: EndGroup, timeout: int, is_known: bool) -> Remedies:
    """From the longest time that is known: of the transaction at least, and of what a broker was away meanwhile."""
    model, first = group.model, group.logs[0]
    if first.verdict is Verdict.possible or (not is_known and first.began is None):
        return ()
    ends = [failure.at for failure in first.failures if failure.at is not None] or [first.at]
    began = first.began if first.began is not None else first.at - timeout
    away = [outage.duration_ms for outage in outages(model.logs) if outage.overlaps(began, first.at)]
    need = max(timeout, max(ends) - began)
    measured = OPEN_FOR.of(Lasted(Duration(need)))
    return transaction_timeout(advised(model, first.name, first.client), need, measured, max(away, default=0))


OTHER_INSTANCE = "fenced_by_new_instance"
LONGEST = Phrase(Lasted, measure("the longest transaction of the id ran {time} (at least: it was cut off)"))
OPEN_FOR = Phrase(Lasted, measure("the transaction was open for {time} at least"))
WORDS = Words(
    Facts,
    summary="{count:transaction} of {id} ran longer than transaction.timeout.ms ({timeout}) and {count:was|were} "
    "aborted by the coordinator: {records_lost:record} thrown away",
    actors=(actor("T1", "{producer}, since {began_at}"),),
    steps=(
        step(
            "T1 began a transaction at {began_at} and wrote {data}",
            "its transaction.timeout.ms is {timeout}",
            cites="begin written",
        ),
        step(
            "{took} after the start the coordinator aborted it, epoch {decision_epoch}",
            (
                pick("is_near", {True: "that is about"}, "that is later than"),
                " start + timeout ({timeout}), by the coordinator's own clock",
            ),
            cites="decided completed",
        ),
        step(
            ("so T1's {data.records:record} were aborted", pick("is_fenced", {True: " and T1 is fenced"}, "")),
            "the ABORT markers carry the raised epoch",
            cites="markers",
            needs="markers",
        ),
        WITNESSED,
        step("{after.value}", "rows of the id behind the abort", cites="next"),
    ),
    considered=(
        considered(
            pick("other", {Other.own_abort: "aborted_by_client"}, OTHER_INSTANCE),
            pick(
                "other",
                {
                    Other.prompt_init: "not refuted for certain: InitProducerId followed within a second, so it may "
                    "have come between timeout and the coordinator's look",
                    Other.own_abort: "not refuted for certain: under transactions v2 its own abort leaves the same "
                    "rows; but it went on only {until_next} later",
                    Other.late_init: "the next InitProducerId came {until_next} after the abort was complete, not as "
                    "its retry",
                },
            ),
            cites="next",
        ),
        considered(
            OTHER_INSTANCE,
            pick("other", {Other.no_init: "no InitProducerId (Empty row) followed the abort"}),
            cites="completed",
        ),
    ),
    remedies=(included("remedies"),),
)

SAME_EPOCH_WORDS = Words(
    SameEpoch,
    summary="{count:transaction} of {id} ended {took} after the start, beyond the timeout, at an unchanged epoch",
    steps=(
        step(
            "the transaction was aborted beyond its timeout",
            "start and PrepareAbort by the coordinator's clock",
            cites="rows",
        ),
    ),
    considered=(
        considered(
            "aborted_by_client",
            "0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119); the coordinator's log would tell",
        ),
    ),
)

ITS_LINE = "the coordinator's own line says that it was the timeout"
DATA_WORDS = Words(
    DataFacts,
    summary=(ABORTED_DATA, "by the coordinator[ {took} after the first record]: a timeout"),
    steps=UNDER_NEXT_EPOCH,
    considered=(
        considered(OTHER_INSTANCE, pick("rolled_back", {True: ITS_LINE}, ONLY_TIMES)),
        OWN_KEEPS_EPOCH,
    ),
)

LOG_WORDS = Words(
    TimedOutInLogs,
    summary=pick(
        "by_its_line",
        {
            True: "{count:transaction} of {id} {count:was|were} aborted by the coordinator since "
            "transaction.timeout.ms[ ({timeout})] had passed"
        },
        pick(
            "is_overdue",
            {
                True: "{id} was refused {took} after its transaction had begun: transaction.timeout.ms[ ({timeout})] "
                "had passed"
            },
            "{id} was refused as too old: its transaction may have timed out, or a new instance came",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step(
            "at {at} the coordinator rolled the transaction back",
            "its own line names the timeout",
            cites="rollbacks",
            needs="by_its_line",
        ),
        step(
            "the transaction had begun at {began_at} at the latest",
            "its refusal came {took} later",
            unless="by_its_line",
        ),
        REFUSED,
    ),
    considered=(
        considered(
            OTHER_INSTANCE,
            pick(
                "by_its_line",
                {True: ITS_LINE},
                "not refuted: clients are answered the same words, and no log of a second instance or of the "
                "coordinator tells",
            ),
        ),
    ),
    remedies=(
        remedy(
            text="find out what held the producer up; the timeout must be longer than its longest transaction",
            where="client",
            config="transaction.timeout.ms",
            derived_from="no log says how long it was open",
            needs="needs_length",
        ),
        included("remedies"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, SAME_EPOCH_WORDS, DATA_WORDS, LOG_WORDS),
    depth=3,
    caused_by=(
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("transaction.timeout.ms", "delivery.timeout.ms", "interval")),
    ),
)
