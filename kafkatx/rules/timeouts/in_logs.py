"""Timeouts that logs tell and no record: by the coordinator's line, or by a refusal after a long silence."""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import RECORDS_TELL, RESENT, SAME_ERROR, WHO_ENDED
from kafkatx.findings.ends_in_logs import EITHER, FENCED_AT, REFUSED, TOLD, LogEndFacts, log_facts
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.histories.logs.fencings import timeout_of
from kafkatx.rules.timeouts.shared_words import BY_ITSELF, HELD_UP, ITS_LINE, OTHER_INSTANCE, TIMED_OUT, TITLE
from kafkatx.terms.clocks import TRANSACTION_TIMEOUT_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import Phrase, Words, included, left_open, measure, ruled_out, step
from kafkatx.words.facts import instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import transaction_timeout
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Refs


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


def severity_in_logs(group: EndGroup) -> Severity:
    """Return how bad it is: an error where the client is dead of it."""
    dead = any(failure.category == "fatal" for end in group.logs for failure in end.failures)
    return Severity.error if dead and group.verdict is not Verdict.possible else Severity.warning


def told_in_logs(group: EndGroup) -> TimedOutInLogs:
    """Return what logs tell of timeouts, of which the first is explained."""
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


OPEN_FOR = Phrase(Lasted, measure("the transaction was open for {time} at least"))

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
