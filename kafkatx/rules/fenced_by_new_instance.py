"""A new instance with the same transactional.id ended the open transaction of the one before.

Mechanism    initTransactions of a second producer finds a transaction of the same transactional.id open: the
             coordinator aborts it under the next epoch, answers CONCURRENT_TRANSACTIONS, and gives the newcomer the
             epoch after that on its retry. What the old instance sends from then on is refused
             (ProducerFencedException, InvalidProducerEpochException).
Evidence     Ongoing e, PrepareAbort e+1 before the transaction's own timeout had passed, CompleteAbort e+1, Empty e+2
             moments later. By logs alone: two instances that were given the same producer id, the later one inside the
             earlier one's transaction timeout, and the earlier one refused after that; epochs that rise by two from one
             "Initialized transactionalId" to the next (classic), without a rollback line in between.
Against      an abort at the data's own epoch (classic: the client itself); a duration beyond the timeout; no Empty row.
Look-alikes  transaction_timed_out followed by a prompt restart (told apart by the duration); aborted_by_client
             (classic: epoch unchanged; transactions v2: no Empty row at once); a client's own bump of its epoch
             (KIP-360: epoch unchanged by the abort); on disk a crashed and restarted application looks like two living
             instances; fenceProducers and forceTerminateTransaction of an operator run InitProducerId too (the row's
             timeout then differs from the id's usual one). A client's own words (ProducerFencedException, librdkafka's
             "fenced by newer producer instance") are the same after a timeout.
Remedy       one living producer for each transactional.id: derive the id from something stable and unique (input
             partition, ordinal of the pod), stop the old instance before the new one starts. Never a random id: it
             takes the fencing away.
Source       KIP-98, KIP-360, KIP-588, KIP-890; TransactionCoordinator.handleInitProducerId, prepareFenceProducerEpoch
             (0.11 to 4.4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafkatx.findings.conditions import same_id
from kafkatx.findings.elapsed import OTHER, TIME_STEPS, WHO_DECIDES, TimeFacts, decided_cases
from kafkatx.findings.ends import (
    ABORTED,
    COORDINATOR_TELLS,
    RECORDS_TELL,
    RESENT,
    SAME_ERROR,
    T1,
    TIMES,
    WHO_ENDED,
    WITHIN_TIMEOUT,
    WITNESSED,
    WROTE,
    EndGroup,
    RowEnd,
    groups,
    log_name,
    row_end,
)
from kafkatx.findings.ends_in_data import (
    EPOCH_LEFT_OUT,
    ONLY_TIMES,
    OWN_KEEPS_EPOCH,
    UNDER_NEXT_EPOCH,
    DataFacts,
    data_facts,
)
from kafkatx.findings.ends_in_logs import EITHER, FENCED_AT, REFUSED, TOLD, LogEndFacts, log_facts
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_by_people import TOLD_STEPS, ToldFacts, told_cases
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.logs.fencings import Excluded, Grant
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.kernels.transactions import EMPTY
from kafkatx.terms.clocks import RETRY_WINDOW_MS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    actor,
    included,
    left_open,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import instant, lasting, producer
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Duration, Instant, Producer, Refs, facts

REPEATED, REPEATED_WITHIN_MS = 5, 60_000
"""Take-overs of one id at this rate are two owners or a crash loop, not deployments."""


@facts
class Facts(RowEnd):
    """Open transactions that records tell of; the first is explained. `new` is None where its start is not recorded."""

    new: Producer | None
    new_at: Instant | None
    new_timeout: Duration | None
    waited: Duration | None

    @property
    def is_v2_guess(self) -> bool:
        """Whether the protocol leaves a client's own abort possible."""
        return self.reason is Reason.v2_then_init

    @property
    def is_late(self) -> bool:
        """Whether the newcomer's record came later than a retry would."""
        return self.waited is not None and self.waited > RETRY_WINDOW_MS

    @property
    def is_another_program(self) -> bool:
        """Whether the newcomer brought another timeout."""
        return self.new_timeout is not None and self.new_timeout != self.timeout


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
        return self.excluded is not Excluded.NOTHING


@facts
class FencedByTime(TimeFacts):
    """A refusal that no id is named for, and that the time decides."""


@facts
class FencedAsTold(ToldFacts):
    """A refusal whose cause no line decides, and that people's words do."""


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which open transactions were taken over."""
    yield from decided_cases(model, EndedBy.new_instance, FencedByTime)
    yield from told_cases(model, EndedBy.new_instance, FencedAsTold)
    for group in groups(model, EndedBy.new_instance):
        facts: Facts | DataFacts | FencedInLogs
        if group.told_by is ToldBy.rows:
            facts = _of_rows(group)
            severity = _severity(group, facts)
        elif group.told_by is ToldBy.data:
            facts = data_facts(group)
            severity = _severity_in_data(group, facts)
        else:
            facts = _in_logs(group)
            severity = _severity_in_logs(group, facts)
        yield Case(facts=facts, verdict=group.verdict, severity=severity, **group.columns())


def _severity(group: EndGroup, facts: Facts) -> Severity:
    """An error where logs show the old instance alive, unless its framework hands ids on by design.

    A deployment leaves such ends as well; who shows rows in a text asks for one that cost its records.
    """
    alive = (group.model.ends.witnesses.refusal[group.numbers] >= 0).any()
    if alive and not facts.is_handed_on:
        return Severity.error
    return Severity.warning if _is_loop(group) or (group.is_printed and not facts.is_handed_on) else Severity.info


def _severity_in_data(group: EndGroup, facts: DataFacts) -> Severity:
    """The same where only data tell of it."""
    if facts.was_alive and not facts.is_handed_on:
        return Severity.error
    is_asked_for = group.is_printed and not facts.is_handed_on and group.verdict is not Verdict.possible
    return Severity.warning if is_asked_for else Severity.info


def _is_loop(group: EndGroup) -> bool:
    """Whether half of the take-overs came within a minute of the one before."""
    pauses = np.sort(np.diff(group.model.transactions["decided_at"][group.numbers]))
    return len(group.numbers) >= REPEATED and int(pauses[len(group.numbers) // 2 - 1]) <= REPEATED_WITHIN_MS


def _of_rows(group: EndGroup) -> Facts:
    row = group.first.row
    came = bool(row["next_state"] == EMPTY)
    return Facts(
        **row_end(group),
        new=Producer(int(row["next_producer_id"]), int(row["next_epoch"])) if came else None,
        new_at=instant(row["next_timestamp"]) if came else None,
        new_timeout=lasting(row["next_timeout_ms"]) if came else None,
        waited=Duration(max(0, row["next_timestamp"] - row["completion_timestamp"])) if came else None,
    )


def _in_logs(group: EndGroup) -> FencedInLogs:
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


def _severity_in_logs(group: EndGroup, facts: FencedInLogs) -> Severity:
    """An error where a living instance was thrown out; frameworks hand their ids on like that."""
    ends = group.logs
    if all(end.verdict is Verdict.possible and end.takeover is None for end in ends):
        return Severity.warning
    if not any(_was_alive(end) for end in ends) or facts.is_handed_on:
        return Severity.info
    return Severity.error if ends[0].verdict is not Verdict.possible else Severity.warning


OPERATOR = "an operator who ended the transaction by its id"
TITLE = (
    pick("was_alive", {True: "fenced by a second instance"}, "open transaction aborted by a new instance"),
    TIMES,
)
TAKEN_OVER = (
    "A new instance[ {perhaps}] took {whom} over",
    pick("times", {1: "[ at {at}]"}, " {times:time}[ (first at {at})]"),
    pick(
        "was_open",
        {
            True: (
                " and aborted the open ",
                pick("times", {1: "transaction"}, "transactions"),
                " of the old one[, with {affected}]: read_committed readers never get ",
                pick("times", {1: "its records"}, "their records"),
            )
        },
        "",
    ),
    ".",
    pick("was_alive", {True: " The old instance was still alive."}, ""),
)
OF_ITS_OWN = "an id of its own for each instance, stable over restarts (input partition or ordinal)"
NO_RANDOM_ID = "Do not use a random id: an old instance would no longer be fenced"
REMEDIES = (
    WHO_ENDED,
    remedy(
        text="Stop the old instance[ (log {old_log})], or give it a transactional.id of its own",
        where="operator",
        needs="was_alive",
        unless="is_possible is_handed_on",
    ),
    replace(RESENT, needs="was_open"),
    remedy(
        text=(
            pick(
                "was_alive",
                {
                    True: "Prevent it: give each instance a transactional.id of its own, and stop the old one before "
                    "the new one starts"
                },
                "Find out whether the old instance was still alive. If so, give each instance an id of its own; if it "
                "had crashed, nothing else is to be done",
            ),
            f". {NO_RANDOM_ID}",
        ),
        where="application",
        config="transactional.id",
        current="{id}",
        proposed=OF_ITS_OWN,
        restart_needed=True,
        unless="is_possible is_handed_on",
    ),
    remedy(
        text="Nothing to do: {framework} hands transactional.ids on by design (restart, rebalance) and processes the "
        "input again by itself",
        where="application",
        needs="is_handed_on",
        unless="is_possible",
    ),
)

WORDS = Words(
    Facts,
    title=TITLE,
    summary=TAKEN_OVER,
    actors=(
        T1,
        actor("T2", "{new}, since {new_at}"),
        actor("T2", "whoever called initTransactions; its own start is not recorded", unless="new"),
    ),
    steps=(
        WROTE,
        step(
            "T2 called initTransactions with the same transactional.id[ {took} after T1's start]; the coordinator "
            "aborted T1's transaction",
            (
                pick(
                    "is_classic",
                    {True: "only InitProducerId raises the epoch", False: "InitProducerId followed at once"},
                ),
                " before the timeout of {timeout}; the epoch rose from {producer.epoch} to {decision_epoch}",
            ),
            cites="decided completed",
        ),
        ABORTED,
        step(
            "{waited} later T2 got the id with epoch {new.epoch}: T1 is fenced",
            pick(
                "is_late",
                {True: "state Empty, which InitProducerId writes; its retry came late"},
                "state Empty, which the retry of InitProducerId writes",
            ),
            cites="next",
        ),
        WITNESSED,
    ),
    considered=(
        ruled_out("transaction_timed_out", WITHIN_TIMEOUT, cites="decided"),
        ruled_out(
            "aborted_by_client",
            "a client's own abort keeps the epoch (classic protocol)",
            cites="decided",
            unless="is_v2_guess",
        ),
        left_open(
            "aborted_by_client",
            "its own abort raises the epoch too (transactions v2); the InitProducerId at once speaks against it",
            decided_by="the client's log around {at}",
            cites="decided",
            needs="is_v2_guess",
        ),
        left_open(
            OPERATOR,
            "InitProducerId came with a timeout of {new_timeout}, the id's is {timeout}: another program, as "
            "kafka-transactions.sh forceTerminateTransaction or Admin.fenceProducers",
            decided_by="the log of who called it at {new_at}",
            cites="next",
            needs="is_another_program",
        ),
        ruled_out("a restart after a crash", "the old instance was alive and was refused", needs="was_alive"),
        left_open(
            "a restart after a crash",
            "the coordinator writes the same records",
            decided_by="the log of the old instance: it was refused after {at} if it lived",
            unless="was_alive",
        ),
    ),
    remedies=REMEDIES,
)

DATA_WORDS = Words(
    DataFacts,
    who="{whom}",
    title=TITLE,
    summary=TAKEN_OVER,
    actors=(T1,),
    steps=UNDER_NEXT_EPOCH,
    considered=(
        left_open("transaction_timed_out", ONLY_TIMES, decided_by=COORDINATOR_TELLS, needs="perhaps"),
        ruled_out("transaction_timed_out", "two instances' logs tell of the takeover", unless="perhaps"),
        OWN_KEEPS_EPOCH,
        EPOCH_LEFT_OUT,
    ),
    remedies=REMEDIES,
)

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
                ". A second instance[ {perhaps}] took it over.",
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
        left_open("transaction_timed_out", SAME_ERROR, decided_by=RECORDS_TELL, unless="is_excluded"),
        left_open(
            OPERATOR,
            "forceTerminateTransaction and Admin.fenceProducers do the same",
            decided_by="the log of T2",
            unless="has_newcomers_log",
        ),
    ),
    remedies=REMEDIES,
)

CLOSE = remedy(
    "Close this producer. Let only one producer of each transactional.id run; if a newer instance was meant to take "
    "over, there is nothing to do",
    "application",
)
TIME_WORDS = Words(
    FencedByTime,
    title="fenced by a second instance",
    summary=(
        "The producer was refused {age} after ",
        pick("began", {True: "its transaction began", False: "the transactional.id was granted"}),
        ": no timeout ({timeout}",
        pick("is_set", {True: ""}, ", the default"),
        ") can have passed. A second instance[ {perhaps}] took its transactional.id.",
    ),
    actors=(included("client"),),
    steps=TIME_STEPS,
    considered=(ruled_out("transaction_timed_out", "{age} is less than half the timeout of {timeout}"), OTHER),
    remedies=(CLOSE,),
)

TOLD_WORDS = Words(
    FencedAsTold,
    title="fenced by a second instance",
    summary="The producer[ {name.transactional_id}] was refused with {error}. What is said beside these lines speaks "
    "for a second instance: it[ {perhaps}] took the transactional.id.",
    actors=(included("client"),),
    steps=TOLD_STEPS,
    considered=(left_open("transaction_timed_out", "the client sees the same error", decided_by=WHO_DECIDES), OTHER),
    remedies=(CLOSE,),
)

RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, LOG_WORDS, TIME_WORDS, TOLD_WORDS),
    depth=3,
    caused_by=(("shared_producer", same_id),),
    absorbed_by="shared_producer",
)
