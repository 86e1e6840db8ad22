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

from enum import Enum

from kafkatx.findings.conditions import by_settings, same_time
from kafkatx.findings.end_groups import EndGroup, groups, of_reason
from kafkatx.findings.ends import (
    ABORTED,
    COMMITTED_FIRST,
    COMMITTED_SAID,
    COORDINATOR_TELLS,
    LOOK_FIRST,
    NOT_RESENT,
    RESENT,
    T1,
    WHO_ENDED,
    WITNESSED,
    WROTE,
    EndFacts,
    RowEnd,
    end_facts,
    row_end,
)
from kafkatx.findings.ends_in_data import (
    ONLY_TIMES,
    OWN_KEEPS_EPOCH,
    PERHAPS_OWN,
    UNDER_NEXT_EPOCH,
    DataFacts,
    data_facts,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.transactions import EMPTY, PREPARE_COMMIT
from kafkatx.rules.timeouts.aged import AGED_WORDS, timed_out_by_age
from kafkatx.rules.timeouts.early_fences import FENCED_EARLY, EarlyFence, fenced_early
from kafkatx.rules.timeouts.ended_processes import BREAKS_OFF, ITS_PROCESS, restarted
from kafkatx.rules.timeouts.failed_checkpoints import failed_commits
from kafkatx.rules.timeouts.in_logs import LOG_WORDS, TimedOutInLogs, severity_in_logs, told_in_logs
from kafkatx.rules.timeouts.late_calls import CALLED_LATE, LateCall, called_late
from kafkatx.rules.timeouts.late_commits import LATE_WORDS, timed_out_by_late_commits
from kafkatx.rules.timeouts.longer import longer_timeout
from kafkatx.rules.timeouts.refusals import REFUSAL_WORDS, timed_out_by_refusals
from kafkatx.rules.timeouts.shared_words import (
    BY_ITSELF,
    HELD_UP,
    ITS_LINE,
    OTHER_INSTANCE,
    REPLAY,
    TIMED_OUT,
    TITLE,
)
from kafkatx.rules.timeouts.stalled_processes import STOOD_STILL, WHY_IT_STOOD_STILL, Stall, stalled
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, decision_row
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Remedies
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, Refs, facts


class After(Enum):
    """What became of the id behind the abort."""

    committed = "The id committed again later"
    nothing = "The id committed nothing after that"
    lost = "Later records of the id are missing"


@facts
class Facts(RowEnd):
    """Transactions that ran longer than their timeout, as the coordinator's records show; the first is explained."""

    lost: Count | None
    checkpointed: Data
    commits_refused: Refs
    restarted_at: Instant | None
    restarted: Refs
    stall: Stall | None
    late_call: LateCall | None
    early: EarlyFence | None
    after: After
    later: Refs
    was_initialised: bool
    until_next: Duration
    remedies: Remedies

    @property
    def uncommitted(self) -> Data | None:
        """Data of completed checkpoints that Flink could not commit."""
        return self.checkpointed or None

    @property
    def is_fenced(self) -> bool:
        """Whether the producer did not go on."""
        return self.reason is not Reason.over_timeout_went_on

    @property
    def may_be_own(self) -> bool:
        """Whether the client's own abort, given up late, would have left the same rows."""
        return self.reason is Reason.over_timeout_v2

    @property
    def is_refuted(self) -> bool:
        """Whether nobody else can have aborted it."""
        return self.is_fenced and self.reason is not Reason.over_timeout_then_init and not self.is_by_two_clocks

    @property
    def is_by_two_clocks(self) -> bool:
        """Whether another broker's clock told its end than its start."""
        return self.reason is Reason.over_timeout_two_clocks


@dataclass(frozen=True, slots=True, kw_only=True)
class SameEpoch(EndFacts):
    """Aborts beyond the timeout at an unchanged epoch: a late client, or the coordinator of 0.11.0.0 and 0.11.0.1."""

    took: Duration | None
    rows: Refs


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which transactions timed out, or may have (0.11.0.0, 0.11.0.1)."""
    yield from timed_out_by_refusals(model)
    yield from timed_out_by_late_commits(model)
    yield from timed_out_by_age(model)
    for group in groups(model, EndedBy.timeout):
        facts: Facts | DataFacts | TimedOutInLogs
        severity = Severity.warning
        if group.told_by is ToldBy.rows:
            facts = _of_rows(group)
            severity = Severity.error if _is_lost(facts) else severity
        elif group.told_by is ToldBy.data:
            facts = data_facts(group)
        else:
            facts, severity = told_in_logs(group), severity_in_logs(group)
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


def _is_lost(facts: Facts) -> bool:
    """Whether nobody writes the records again: a framework reads its input again, but what Flink had checkpointed."""
    if facts.is_handed_on and not facts.is_of_flink:
        return False
    return bool(facts.checkpointed) or (facts.after is After.nothing and not facts.may_lose_nothing)


def _of_rows(group: EndGroup) -> Facts:
    model, row = group.model, group.first.row
    ended = row_end(group)
    successor, stall = restarted(group), stalled(group)
    late_call = called_late(group) if ended["framework"] is None else None
    needs_none = ended["loses_none"] or successor is not None or stall is not None
    after, commit = _after(model, group.numbers[-1])
    checkpointed, commits_refused = failed_commits(group) if ended["framework"] is not None else (Data(), ())
    spans = (span for number in group.numbers for span in TransactionEnd(model, number).aborted_data)
    return Facts(
        **ended,
        lost=Count(sum(int(span["records"]) for span in spans)) or None,
        checkpointed=checkpointed,
        commits_refused=commits_refused,
        restarted_at=instant(successor.since) if successor is not None else None,
        restarted=event_refs(model, successor.rows[:1]) if successor is not None else (),
        stall=stall,
        late_call=late_call,
        early=fenced_early(group),
        after=after,
        later=tuple(decision_row(model.transactions[commit])) if commit is not None else ended["next"],
        was_initialised=bool(row["next_state"] == EMPTY),
        until_next=Duration(row["next_timestamp"] - row["completion_timestamp"]),
        remedies=() if needs_none else longer_timeout(group, late_call),
    )


def _after(model: CaptureModel, row: int) -> tuple[After, int | None]:
    """Whether the id committed something after this transaction, and which first: its work may have been done again."""
    code = int(model.transactions["id_code"][row])
    numbers = model.transactions_of(code)
    of_id = model.transactions[numbers]
    later = of_id["decided_at"] > model.transactions["decided_at"][row]
    commits = numbers[(of_id["decision"] == PREPARE_COMMIT) & later]
    if len(commits):
        return After.committed, int(commits[0])
    latest = model.latest_of(code)
    return (After.nothing if latest is not None and model.is_latest_known(latest) else After.lost), None


WORDS = Words(
    Facts,
    title=pick(
        "uncommitted",
        {
            None: pick(
                "stall",
                {
                    None: pick(
                        "restarted_at", {None: TITLE}, "transaction timed out[ after {timeout}]; its log breaks off"
                    )
                },
                "transaction timed out: its process stood still",
            )
        },
        "{uncommitted.records:record} of a completed checkpoint lost by a timeout",
    ),
    summary=(
        TIMED_OUT,
        COMMITTED_SAID,
        "[ Flink could not commit {uncommitted} any more: they belong to a completed checkpoint, so it does not write "
        "them again.]",
        "[ Its log breaks off in it, and a client in its place is made at {restarted_at}.]",
        pick("perhaps", {None: " No second instance caused it."}, ""),
    ),
    actors=(T1,),
    steps=(
        WROTE,
        FENCED_EARLY,
        step(
            (
                "The coordinator aborted it[ {took} after its start]",
                pick("is_fenced", {True: " and fenced T1 with epoch {decision_epoch}"}, ""),
            ),
            (
                pick("reason", {Reason.near_timeout: "about"}, "later than"),
                pick(
                    "is_by_two_clocks",
                    {True: " start + timeout ({timeout}), by the clocks of two coordinators"},
                    " start + timeout ({timeout}), by the coordinator's own clock",
                ),
            ),
            cites="decided completed",
        ),
        ABORTED,
        COMMITTED_FIRST,
        WITNESSED,
        step(
            "Flink could not commit it when its checkpoint was complete",
            "its log",
            cites="commits_refused",
            needs="commits_refused",
        ),
        BREAKS_OFF,
        STOOD_STILL,
        CALLED_LATE,
        step("{after.value}", cites="later"),
    ),
    considered=(
        left_open(
            OTHER_INSTANCE,
            "InitProducerId followed within a second: it may have come before the coordinator looked for timeouts",
            decided_by=COORDINATOR_TELLS,
            cites="next",
            needs="is_fenced",
            unless="is_refuted is_by_two_clocks",
        ),
        left_open(
            OTHER_INSTANCE,
            "another broker became coordinator in between, and its clock may be ahead of the former one's",
            decided_by=COORDINATOR_TELLS,
            cites="decided",
            needs="is_by_two_clocks",
        ),
        left_open(
            "aborted_by_client",
            "under transactions v2 its own abort leaves the same records; but it went on only {until_next} later",
            decided_by=f"the client's log or {COORDINATOR_TELLS}",
            cites="next",
            unless="is_fenced",
        ),
        left_open(
            "aborted_by_client",
            "under transactions v2 an abort of its own, right after the timeout, leaves the same records",
            decided_by=f"the client's log or {COORDINATOR_TELLS}",
            cites="decided",
            needs="may_be_own",
        ),
        left_open(
            "another end that leaves the same records",
            pick(
                "reason",
                {
                    Reason.near_timeout: "it ran about as long as its timeout, not surely longer",
                    Reason.over_timeout_late: "an InitProducerId that gave up leaves them too",
                    Reason.state_refused: "brokers from 0.11.0.2 on time out with a new epoch",
                },
                "transactions v2, which nothing here excludes, let a client's own abort leave them too",
            ),
            decided_by=f"the client's log or {COORDINATOR_TELLS}",
            cites="decided",
            needs="perhaps is_refuted",
            unless="may_be_own",
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
    remedies=(REPLAY, RESENT, LOOK_FIRST, NOT_RESENT, included("remedies"), ITS_PROCESS, WHY_IT_STOOD_STILL, BY_ITSELF),
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
        PERHAPS_OWN,
    ),
    remedies=(WHO_ENDED, RESENT, HELD_UP, BY_ITSELF),
)

RULE = Rule(
    find=find,
    words=(WORDS, SAME_EPOCH_WORDS, DATA_WORDS, LOG_WORDS, *REFUSAL_WORDS, LATE_WORDS, AGED_WORDS),
    depth=3,
    caused_by=(
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("transaction.timeout.ms", "delivery.timeout.ms", "interval")),
    ),
)
