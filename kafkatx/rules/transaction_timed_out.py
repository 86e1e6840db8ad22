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
from kafkatx.findings.elapsed import OTHER, TIME_STEPS, WHO_DECIDES, TimeFacts, decided_cases
from kafkatx.findings.ends import (
    ABORTED,
    COORDINATOR_TELLS,
    RECORDS_TELL,
    RESENT,
    SAME_ERROR,
    T1,
    WHO_ENDED,
    WITNESSED,
    WROTE,
    EndFacts,
    EndGroup,
    RowEnd,
    end_facts,
    groups,
    of_reason,
    row_end,
)
from kafkatx.findings.ends_in_data import ONLY_TIMES, OWN_KEEPS_EPOCH, UNDER_NEXT_EPOCH, DataFacts, data_facts
from kafkatx.findings.ends_in_logs import EITHER, FENCED_AT, REFUSED, TOLD, LogEndFacts, log_facts
from kafkatx.findings.one_failure import FailureFacts, failure_case, failure_facts
from kafkatx.findings.private_ids import private_refusals
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_by_people import TOLD_STEPS, ToldFacts, told_cases
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.histories.logs.fencings import timeout_of
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.transactions import EMPTY, PREPARE_COMMIT
from kafkatx.terms.clocks import TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import begin_row, decision_row
from kafkatx.words.explanation import Phrase, Words, included, left_open, measure, remedy, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import transaction_timeout
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Refs, facts


class After(Enum):
    """What became of the id behind the abort."""

    committed = "The id committed again later"
    nothing = "The id committed nothing after that"
    lost = "Later records of the id are missing"


@facts
class Facts(RowEnd):
    """Transactions that ran longer than their timeout, as the coordinator's records show; the first is explained."""

    lost: Count | None
    after: After
    was_initialised: bool
    until_next: Duration
    remedies: Remedies

    @property
    def is_fenced(self) -> bool:
        """Whether the producer did not go on."""
        return self.reason is not Reason.over_timeout_went_on

    @property
    def is_refuted(self) -> bool:
        """Whether nobody else can have aborted it."""
        return self.is_fenced and self.reason is not Reason.over_timeout_then_init


@dataclass(frozen=True, slots=True, kw_only=True)
class SameEpoch(EndFacts):
    """Aborts beyond the timeout at an unchanged epoch: a late client, or the coordinator of 0.11.0.0 and 0.11.0.1."""

    took: Duration | None
    rows: Refs


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOutInLogs(LogEndFacts):
    """Timeouts that logs tell and no record; `took` is None where nothing tells when the transaction had begun."""

    by_its_line: bool
    timeout: Duration | None
    began_at: Instant | None
    took: Duration | None
    silence: Duration | None
    rollbacks: Refs
    remedies: Remedies

    @property
    def lost(self) -> Count | None:
        """Records that were aborted: logs don't tell."""
        return None

    @property
    def is_long_over(self) -> bool:
        """Whether it was ended much later than its timeout allows: logs show when its producer was refused only."""
        return False

    @property
    def needs_length(self) -> bool:
        """Whether nothing tells how long it was open."""
        return not self.is_possible and not self.remedies


@facts
class TimedOutByTime(TimeFacts):
    """A refusal that no id is named for, and that the time decides."""


@facts
class TimedOutAsTold(ToldFacts):
    """A refusal whose cause no line decides, and that people's words do."""


@facts
class TimedOutAlone(FailureFacts):
    """Refusals under an id that no other instance can have."""


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which transactions timed out, or may have (0.11.0.0, 0.11.0.1)."""
    yield from decided_cases(model, EndedBy.timeout, TimedOutByTime)
    yield from told_cases(model, EndedBy.timeout, TimedOutAsTold)
    for alone in private_refusals(model):
        told = TimedOutAlone(**failure_facts(model, alone))
        yield failure_case(model, alone, told, Verdict.likely, Severity.warning)
    for group in groups(model, EndedBy.timeout):
        facts: Facts | DataFacts | TimedOutInLogs
        severity = Severity.warning
        if group.told_by is ToldBy.rows:
            facts = _of_rows(group)
            severity = Severity.error if facts.after is After.nothing else severity
        elif group.told_by is ToldBy.data:
            facts = data_facts(group)
        else:
            facts, severity = _in_logs(group), _severity_in_logs(group)
        yield Case(facts=facts, verdict=group.verdict, severity=severity, **group.columns())
    for group in of_reason(model, Reason.no_bump_release):
        row = group.first.row
        same = SameEpoch(
            **end_facts(group),
            at=instant(row["decided_at"]),
            took=lasting(group.first.took_ms),
            rows=(*begin_row(row), *decision_row(row)),
        )
        yield Case(facts=same, verdict=Verdict.possible, severity=Severity.warning, **group.columns())


def _of_rows(group: EndGroup) -> Facts:
    model, row = group.model, group.first.row
    spans = (span for number in group.numbers for span in TransactionEnd(model, number).data)
    return Facts(
        **row_end(group),
        lost=Count(sum(int(span["records"]) for span in spans)) or None,
        after=_after(model, group.numbers[-1]),
        was_initialised=bool(row["next_state"] == EMPTY),
        until_next=Duration(row["next_timestamp"] - row["completion_timestamp"]),
        remedies=_remedies(group),
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
        silence=lasting(first.at - first.silent_since) if first.silent_since is not None else None,
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
TITLE = pick(
    "times",
    {
        1: pick(
            "is_long_over",
            {True: "transaction timed out: timeout {timeout}, aborted after {took}"},
            "transaction timed out[ after {timeout}]",
        )
    },
    "{times:transaction} timed out[ after {timeout}]",
)
TIMED_OUT = (
    "The coordinator[ {perhaps}] aborted ",
    pick(
        "times",
        {1: "a transaction of {whom}[ at {at}][, {took} after its start]"},
        "{times:transaction} of {whom}[, the first at {at}]",
    ),
    ": transaction.timeout.ms[ ({timeout})] had passed.[ {lost:record} {lost:was|were} aborted: read_committed "
    "readers never get {lost:it|them}.]",
)
HELD_UP = remedy(
    text="Find out what held the producer up. Its timeout must be longer than its longest transaction",
    where="client",
    config="transaction.timeout.ms",
    derived_from=pick("took", {None: "its log does not show how long it was open"}, "it was open for {took}"),
    needs="needs_length",
)
BY_ITSELF = remedy(
    pick(
        "is_of_flink",
        {
            True: "Check Flink's log for transactions that it could not commit. It writes again what belongs to no "
            "completed checkpoint; records of a completed one are lost if their transaction timed out"
        },
        "Nothing to do for the aborted records: {framework} processes the input again by itself",
    ),
    "application",
    needs="is_handed_on",
    unless="is_possible",
)
"""What becomes of the records where a framework runs the producer."""
WORDS = Words(
    Facts,
    title=TITLE,
    summary=(TIMED_OUT, pick("perhaps", {None: " No second instance caused it."}, "")),
    actors=(T1,),
    steps=(
        WROTE,
        step(
            (
                "The coordinator aborted it[ {took} after its start]",
                pick("is_fenced", {True: " and fenced T1 with epoch {decision_epoch}"}, ""),
            ),
            (
                pick("reason", {Reason.near_timeout: "about"}, "later than"),
                " start + timeout ({timeout}), by the coordinator's own clock",
            ),
            cites="decided completed",
        ),
        ABORTED,
        WITNESSED,
        step("{after.value}", cites="next"),
    ),
    considered=(
        left_open(
            OTHER_INSTANCE,
            "InitProducerId followed within a second: it may have come before the coordinator looked for timeouts",
            decided_by=COORDINATOR_TELLS,
            cites="next",
            needs="is_fenced",
            unless="is_refuted",
        ),
        left_open(
            "aborted_by_client",
            "under transactions v2 its own abort leaves the same records; but it went on only {until_next} later",
            decided_by=f"the client's log or {COORDINATOR_TELLS}",
            cites="next",
            unless="is_fenced",
        ),
        ruled_out(
            OTHER_INSTANCE,
            "InitProducerId came {until_next} after the abort was complete: not as its retry",
            cites="next",
            needs="is_refuted was_initialised",
        ),
        ruled_out(
            OTHER_INSTANCE,
            "no InitProducerId (state Empty) followed the abort",
            cites="completed",
            needs="is_refuted",
            unless="was_initialised",
        ),
    ),
    remedies=(RESENT, included("remedies"), BY_ITSELF),
)

SAME_EPOCH_WORDS = Words(
    SameEpoch,
    title="{count:transaction} ended after the timeout",
    summary="{count:transaction} of {whom} {count:was|were} aborted[ {took} after the start], beyond the timeout. "
    "The coordinator[ {perhaps}] timed {count:it|them} out.",
    steps=(
        step(
            "The transaction was aborted beyond its timeout, at an unchanged epoch",
            "start and PrepareAbort by the coordinator's clock",
            cites="rows",
        ),
    ),
    considered=(
        left_open(
            "aborted_by_client",
            "only 0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119)",
            decided_by=f"the release of the brokers, or {COORDINATOR_TELLS}",
        ),
    ),
    remedies=(
        remedy(
            "Look for an abort by the application in its log[ around {at}]. If it has none, the timeout aborted the "
            "records: send them again if the application has not done so already",
            "application",
        ),
    ),
)

ITS_LINE = "the coordinator's own log names the timeout"
DATA_WORDS = Words(
    DataFacts,
    who="{whom}",
    title=TITLE,
    summary=TIMED_OUT,
    actors=(T1,),
    steps=UNDER_NEXT_EPOCH,
    considered=(
        ruled_out(OTHER_INSTANCE, ITS_LINE, needs="rolled_back"),
        left_open(OTHER_INSTANCE, ONLY_TIMES, decided_by=COORDINATOR_TELLS, unless="rolled_back"),
        OWN_KEEPS_EPOCH,
    ),
    remedies=(WHO_ENDED, RESENT, HELD_UP, BY_ITSELF),
)

THE_TIMEOUT = pick(
    "timeout",
    {None: f"the default timeout is {duration(TRANSACTION_TIMEOUT_MS)}"},
    "transaction.timeout.ms is {timeout}",
)
SHOWN = pick("silence", {None: "it was open for {took} at least; "}, "its log was silent for {silence}; ")
LOG_WORDS = Words(
    TimedOutInLogs,
    title=pick("is_possible", {True: EITHER}, TITLE),
    summary=pick(
        "by_its_line",
        {True: TIMED_OUT},
        (
            FENCED_AT,
            ". Its transaction[ {perhaps}] timed out: ",
            pick("told", {(): SHOWN}, "what is said beside the log speaks for that; "),
            THE_TIMEOUT,
            ".",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step(
            "The coordinator rolled the transaction back at {at} due to timeout",
            "the coordinator's log",
            cites="rollbacks",
            needs="by_its_line",
        ),
        step("The transaction had begun at {began_at} or before", unless="by_its_line"),
        REFUSED,
        TOLD,
    ),
    considered=(
        ruled_out(OTHER_INSTANCE, ITS_LINE, needs="by_its_line"),
        left_open(
            OTHER_INSTANCE,
            (SAME_ERROR, pick("is_possible", {True: "; these logs show no second instance at that time"}, "")),
            decided_by=RECORDS_TELL,
            unless="by_its_line",
        ),
    ),
    remedies=(WHO_ENDED, RESENT, HELD_UP, included("remedies"), BY_ITSELF),
)

TIME_WORDS = Words(
    TimedOutByTime,
    title="timed out after {age}",
    summary=(
        "The producer was refused {age} after its transaction began. That is longer than its transaction.timeout.ms ("
        "{timeout}",
        pick("is_set", {True: ""}, ", the default"),
        "): the coordinator[ {perhaps}] had aborted it.",
    ),
    actors=(included("client"),),
    steps=TIME_STEPS,
    considered=(left_open("fenced_by_new_instance", "the client sees the same error", decided_by=WHO_DECIDES), OTHER),
    remedies=(
        remedy(
            text="Raise transaction.timeout.ms above the longest transaction, or commit more often. Then close this "
            "producer, create a new one and repeat the work",
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)

TOLD_WORDS = Words(
    TimedOutAsTold,
    title="timed out",
    summary="The producer[ {name.transactional_id}] was refused with {error}. What is said beside these lines speaks "
    "for a timeout: the coordinator[ {perhaps}] had aborted its transaction.",
    actors=(included("client"),),
    steps=TOLD_STEPS,
    considered=(left_open(OTHER_INSTANCE, "the client sees the same error", decided_by=WHO_DECIDES), OTHER),
    remedies=(
        remedy(
            text="Find out how long its transactions take. Raise transaction.timeout.ms above the longest, or commit "
            "more often. Then close this producer, create a new one and repeat the work",
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)

ALONE_WORDS = Words(
    TimedOutAlone,
    who="{name.transactional_id}",
    title="timed out",
    summary="The producer of {name.transactional_id} was fenced. Its transaction[ {perhaps}] timed out: the id holds a "
    "UUID of its own process, so no other instance can have taken it.",
    actors=(included("client"),),
    steps=(
        step(
            "The client was refused, {count:time}: its epoch was stale",
            "its transactional.id is application.id, the UUID of the process and the thread",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out(OTHER_INSTANCE, "each process of Kafka Streams makes a UUID of its own"),
        left_open(
            "a copied state directory",
            "it carries the UUID of its process along",
            decided_by="logs of all processes of the application",
        ),
        OTHER,
    ),
    remedies=(
        remedy(
            "Nothing to do for the records: Kafka Streams closes the producer and reads again from the committed "
            "offsets by itself",
            "application",
        ),
        remedy(
            text="Find out what held the thread up (paused host, long garbage collection, a slow record). If it must "
            "be survived, raise the producer's transaction.timeout.ms above it (Kafka Streams: 10 s by default)",
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, SAME_EPOCH_WORDS, DATA_WORDS, LOG_WORDS, TIME_WORDS, TOLD_WORDS, ALONE_WORDS),
    depth=3,
    caused_by=(
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("transaction.timeout.ms", "delivery.timeout.ms", "interval")),
    ),
)
