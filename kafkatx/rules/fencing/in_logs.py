"""Takeovers that logs tell and no record: who had the id, and who got it."""

from __future__ import annotations

from dataclasses import replace

from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import RECORDS_TELL, SAME_ERROR, log_name
from kafkatx.findings.ends_in_logs import EITHER, FENCED_AT, REFUSED, TOLD, LogEndFacts, log_facts
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.fencings import Excluded, Grant
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.rules.fencing.shared_words import OPERATOR, REMEDIES, TAKEN_OVER, TITLE
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Phrase, Words, actor, included, left_open, ruled_out, step
from kafkatx.words.facts import producer
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Instant, Producer, Refs, facts


@facts
class Owner:
    """An owner of the id, as T1 or T2: since when it had it, by its own log or the coordinator's."""

    name: str
    since: Instant
    given: Producer | None
    by_itself: bool
    grant: Refs


OWNER = Phrase(Owner, actor("{name}", "[{given}, ]since {since} (its own log is missing)"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FencedInLogs(LogEndFacts):
    """Takeovers that logs tell and no record; `old` and `new` are None where a refusal is all there is."""

    old: Owner | None
    new: Owner | None
    old_log: str | None
    owners: tuple[Bound[ActorWords], ...]
    was_open: bool
    was_alive: bool
    has_newcomers_log: bool
    excluded: Excluded
    refusals: Refs

    @property
    def is_excluded(self) -> bool:
        """Whether something excludes a timeout."""
        return self.excluded not in (Excluded.NOTHING, Excluded.BY_DEFAULT)


def told_in_logs(group: EndGroup) -> FencedInLogs:
    """Return what logs tell of takeovers; one of a living instance is explained, else the first."""
    model, ends = group.model, group.logs
    first = next((end for end in ends if _was_alive(end)), ends[0])
    taken = first.takeover
    old = _owner(model, "T1", taken.old) if taken is not None else None
    new = _owner(model, "T2", taken.new) if taken is not None else None
    return FencedInLogs(
        **log_facts(group, first, first.failures if taken is None else ()),
        old=old,
        new=new,
        old_log=_old_log(model, first),
        owners=_owners(model, first, old, new),
        was_open=taken is not None and taken.was_open,
        was_alive=_was_alive(first),
        has_newcomers_log=taken is None or taken.new.client is not None,
        excluded=taken.excluded if taken is not None else first.excluded,
        refusals=event_refs(model, taken.refusals, 4) if taken is not None else (),
    )


def _owner(model: CaptureModel, name: str, grant: Grant) -> Owner:
    given = producer(grant.producer_id, grant.producer_epoch)
    return Owner(name, Instant(grant.at), given, grant.client is not None, event_refs(model, [grant.row]))


def _owners(model: CaptureModel, end: LogEnding, old: Owner | None, new: Owner | None) -> tuple[Bound[ActorWords], ...]:
    if end.takeover is None or old is None or new is None:
        return (client_seen(model, end.client, "T1"),) if end.client is not None else ()
    clients = ((old, end.takeover.old_client), (new, end.takeover.new.client))
    return tuple(OWNER.of(owner) if one is None else client_seen(model, one, owner.name) for owner, one in clients)


def _old_log(model: CaptureModel, end: LogEnding) -> str | None:
    """The log of the instance that was thrown out, where the newcomer has another."""
    if end.takeover is None:
        return log_name(model, end.client)
    return log_name(model, end.takeover.old_client, end.takeover.new.client)


def _was_alive(end: LogEnding) -> bool:
    return end.takeover.was_alive if end.takeover is not None else bool(end.failures)


def severity_in_logs(group: EndGroup, facts: FencedInLogs) -> Severity:
    """An error where a living instance was thrown out; frameworks hand their ids on like that.

    Flink cancels its tasks before it starts them again: one that was alive may be of a second job.
    """
    ends = group.logs
    if all(end.verdict is Verdict.possible and end.takeover is None for end in ends):
        return Severity.warning
    if not any(_was_alive(end) for end in ends) or (facts.is_handed_on and not facts.is_of_flink):
        return Severity.info
    if facts.is_handed_on:
        return Severity.warning
    return Severity.error if ends[0].verdict is not Verdict.possible else Severity.warning


SAYS = {True: "its own log", False: "the coordinator's log"}
LOG_WORDS = Words(
    FencedInLogs,
    title=pick("new", {None: pick("is_possible", {True: EITHER}, TITLE)}, TITLE),
    summary=pick(
        "new",
        {
            None: (
                FENCED_AT,
                pick("is_excluded", {True: ", before its transaction could time out"}, ""),
                pick(
                    "is_possible",
                    {True: ". A second instance possibly took it over, or its transaction timed out"},
                    ". A second instance[ {perhaps}] took it over",
                ),
                ".",
            )
        },
        TAKEN_OVER,
    ),
    actors=(included("owners"),),
    steps=(
        replace(REFUSED, unless="new"),
        TOLD,
        step("T1 got the id at {old.since}[ as {old.given}]", pick("old.by_itself", SAYS), cites="old.grant"),
        step(
            (
                "T2 got the id at {new.since}[ as {new.given}]",
                pick("was_open", {True: ", and the coordinator aborted T1's open transaction"}, ""),
            ),
            (pick("new.by_itself", SAYS), pick("was_open", {True: "; the epoch rose by two"}, "")),
            cites="new.grant",
        ),
        step("T1 was still alive: what it sent after that was refused", cites="refusals", needs="refusals"),
    ),
    considered=(
        ruled_out("transaction_timed_out", "{excluded}", needs="is_excluded"),
        left_open(
            "transaction_timed_out",
            pick("excluded", {Excluded.BY_DEFAULT: "{excluded}"}, SAME_ERROR),
            decided_by=RECORDS_TELL,
            unless="is_excluded",
        ),
        left_open(
            OPERATOR,
            "forceTerminateTransaction and Admin.fenceProducers do the same",
            decided_by="the log of T2",
            unless="has_newcomers_log",
        ),
        left_open(
            OPERATOR,
            "forceTerminateTransaction and Admin.fenceProducers are answered the same",
            decided_by=RECORDS_TELL,
            needs="is_excluded perhaps",
            unless="new",
        ),
        left_open(
            pick("was_open", {True: "a transaction that was over already"}, "another order of what happened"),
            pick(
                "was_open",
                {True: "a new epoch that T1 asked for itself (KIP-360) and T2's start raise it by two as well"},
                "the times of two logs tell it, not the coordinator",
            ),
            decided_by=RECORDS_TELL,
            needs="is_excluded has_newcomers_log perhaps new",
        ),
    ),
    remedies=REMEDIES,
)
