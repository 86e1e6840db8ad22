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
from kafkatx.findings.ends import WITNESSED, EndGroup, RowRefs, Witness, groups, hands_ids_on, row_refs, witnesses
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
from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.logs.fencings import Excluded, Grant
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.kernels.transactions import EMPTY
from kafkatx.terms.clocks import RETRY_WINDOW_MS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Phrase, Words, actor, considered, included, remedy, step
from kafkatx.words.facts import data, producer
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, Producer, Refs, facts

REPEATED, REPEATED_WITHIN_MS = 5, 60_000
"""Take-overs of one id at this rate are two owners or a crash loop, not deployments."""


@facts
class Facts(RowRefs):
    """Open transactions that rows tell of; the first is explained. `new` is None where its start is not recorded."""

    id: str
    count: Count
    old: Producer
    new: Producer | None
    began_at: Instant
    fenced_at: Instant
    new_at: Instant | None
    decision_epoch: int
    took: Duration
    timeout: Duration
    new_timeout: Duration | None
    waited: Duration | None
    is_classic: bool
    is_v2_guess: bool
    was_alive: bool
    data: Data
    witnesses: tuple[Witness, ...]

    @property
    def is_late(self) -> bool:
        """Whether the newcomer's row came later than a retry would."""
        return self.waited is not None and self.waited > RETRY_WINDOW_MS

    @property
    def is_another_program(self) -> bool:
        """Whether the newcomer brought another timeout."""
        return self.new_timeout is not None and self.new_timeout != self.timeout


@facts
class Owner:
    """An owner of the id, as T1 or T2: since when it had it, by whose log; `client` where its own is at hand."""

    name: str
    since: Instant
    given: Producer | None
    by_itself: bool
    grant: Refs


OWNER = Phrase(Owner, actor("{name}", "{given}, since {since} (its own log is not at hand)"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FencedInLogs(LogEndFacts):
    """Takeovers that logs tell and no row; `old` and `new` are None where a refusal is all there is."""

    old: Owner | None
    new: Owner | None
    owners: tuple[Bound[ActorWords], ...]
    was_open: bool
    was_alive: bool
    has_newcomers_log: bool
    excluded: Excluded
    refusals: Refs


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id of which open transactions were taken over."""
    for group in groups(model, EndedBy.new_instance):
        if group.told_by is ToldBy.rows:
            facts, severity = _of_rows(group), _severity(group)
            yield Case(facts=facts, verdict=group.verdict, severity=severity, **group.columns())
        elif group.told_by is ToldBy.data:
            loud = group.first.was_alive and not hands_ids_on(model, group.transactional_id)
            severity = Severity.error if loud else Severity.info
            yield Case(facts=data_facts(group), verdict=group.verdict, severity=severity, **group.columns())
        else:
            told = _in_logs(group)
            yield Case(facts=told, verdict=group.verdict, severity=_severity_in_logs(group), **group.columns())


def _severity(group: EndGroup) -> Severity:
    """An error where logs show the old instance alive, unless its framework hands ids on by design."""
    alive = (group.model.ends.witnesses.refusal[group.numbers] >= 0).any()
    if alive and not hands_ids_on(group.model, group.transactional_id):
        return Severity.error
    return Severity.warning if _is_loop(group) else Severity.info


def _is_loop(group: EndGroup) -> bool:
    """Whether half of the take-overs came within a minute of the one before."""
    pauses = np.sort(np.diff(group.model.transactions["decided_at"][group.numbers]))
    return len(group.numbers) >= REPEATED and int(pauses[len(group.numbers) // 2 - 1]) <= REPEATED_WITHIN_MS


def _of_rows(group: EndGroup) -> Facts:
    end, model = group.first, group.model
    row = end.row
    came = bool(row["next_state"] == EMPTY)
    return Facts(
        id=group.transactional_id or "",
        count=group.count,
        old=Producer(int(row["producer_id"]), int(row["producer_epoch"])),
        new=Producer(int(row["next_producer_id"]), int(row["next_epoch"])) if came else None,
        began_at=Instant(row["started_at"]),
        fenced_at=Instant(row["decided_at"]),
        new_at=Instant(row["next_timestamp"]) if came else None,
        decision_epoch=int(row["decision_epoch"]),
        took=Duration(model.ends.duration_ms[end.number]),
        timeout=Duration(row["timeout_ms"]),
        new_timeout=Duration(row["next_timeout_ms"]) if came else None,
        waited=Duration(max(0, row["next_timestamp"] - row["completion_timestamp"])) if came else None,
        is_classic=end.protocol is Protocol.classic,
        is_v2_guess=end.reason is Reason.v2_then_init,
        was_alive=end.was_alive,
        data=data(model, end.data),
        witnesses=witnesses(end),
        **row_refs(end),
    )


def _in_logs(group: EndGroup) -> FencedInLogs:
    model, ends = group.model, group.logs
    number = next((at for at, end in enumerate(ends) if _was_alive(end)), 0)
    first = ends[number]
    taken = first.takeover
    shared = log_facts(group, first, first.failures if taken is None else ())
    old = _owner(model, "T1", taken.old) if taken is not None else None
    new = _owner(model, "T2", taken.new) if taken is not None else None
    return FencedInLogs(
        **shared,
        old=old,
        new=new,
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


def _was_alive(end: LogEnding) -> bool:
    return end.takeover.was_alive if end.takeover is not None else bool(end.failures)


def _severity_in_logs(group: EndGroup) -> Severity:
    """An error where a living instance was thrown out; frameworks hand their ids on like that."""
    ends = group.logs
    if all(end.verdict is Verdict.possible and end.takeover is None for end in ends):
        return Severity.warning
    if not any(_was_alive(end) for end in ends) or hands_ids_on(group.model, group.transactional_id):
        return Severity.info
    return Severity.error if ends[0].verdict is not Verdict.possible else Severity.warning


OPERATOR = "an operator who ended the transaction by its id"
REMEDY = remedy(
    text="if both instances were alive, give each its own transactional.id and stop the old one before the new one "
    "starts; if the old one had crashed, nothing: this is how its leftovers are cleaned up",
    where="application",
    config="transactional.id",
    current="{id}",
    proposed="an id of its own for each instance, stable over restarts (input partition or ordinal)",
    derived_from="the same id was initialised while its transaction was open",
    cost="none; a random id instead would remove the fencing of zombies",
    restart_needed=True,
    unless="is_possible",
)

WORDS = Words(
    Facts,
    summary="{count:open transaction} of {id} {count:was|were} aborted by initTransactions of a new instance "
    "(epoch {old.epoch} fenced at {fenced_at})",
    actors=(
        actor("T1", "{old}, in a transaction since {began_at}"),
        actor("T2", "{new}, since {new_at}"),
        actor("T2", "whoever ran initTransactions; its own start is not recorded", unless="new"),
    ),
    steps=(
        step(
            "T1 wrote {data} in a transaction that had not ended",
            "the coordinator had it as Ongoing",
            cites="begin written",
        ),
        step(
            "T2 asked for the same transactional.id {took} after T1's start: the coordinator moved from epoch "
            "{old.epoch} to {decision_epoch}",
            pick(
                "is_classic",
                {True: "only InitProducerId raises the epoch before the timeout of {timeout} has passed"},
                "the abort came before the timeout of {timeout}, and InitProducerId followed at once",
            ),
            cites="decided completed",
        ),
        step(
            "so T1's {data.records:record} were aborted",
            "the ABORT markers carry the coordinator's new epoch",
            cites="markers",
            needs="markers",
        ),
        step(
            "{waited} later T2 had the id with epoch {new.epoch}; every later call of T1 is refused",
            pick(
                "is_late",
                {True: "Empty is written by InitProducerId; its first try aborted the transaction, this one came late"},
                "the retry of InitProducerId after CONCURRENT_TRANSACTIONS writes Empty",
            ),
            cites="next",
        ),
        WITNESSED,
    ),
    considered=(
        considered(
            "transaction_timed_out", "aborted {took} after its start, the timeout is {timeout}", cites="decided"
        ),
        considered(
            "aborted_by_client",
            pick(
                "is_v2_guess",
                {
                    True: "not refuted for certain: under transactions v2 a client's own abort raises the epoch "
                    "too; the Empty row at once speaks against it"
                },
                "a client's own abort keeps the epoch; here it was raised",
            ),
            cites="decided",
        ),
        considered(
            OPERATOR,
            "likely: the Empty row has a timeout of {new_timeout} instead of the id's {timeout}, so another program "
            "initialised it, as kafka-transactions.sh forceTerminateTransaction or Admin.fenceProducers do",
            cites="next",
            needs="is_another_program",
        ),
        considered(
            "a restart of the same application after a crash",
            pick(
                "was_alive",
                {True: "refuted: the old instance was alive, it was refused afterwards"},
                "the disk can't tell: the log of the old instance would (it is refused if it lives)",
            ),
        ),
    ),
    remedies=(replace(REMEDY, unless=""),),
)

DATA_WORDS = Words(
    DataFacts,
    summary=(
        ABORTED_DATA,
        pick("took", {None: "by the coordinator"}, "{took} after the first record"),
        ": a new instance took its transactional.id over",
    ),
    steps=UNDER_NEXT_EPOCH,
    considered=(considered("transaction_timed_out", ONLY_TIMES), OWN_KEEPS_EPOCH),
)

SAYS = {True: "its own log says so", False: "the coordinator's log says so"}
LOG_WORDS = Words(
    FencedInLogs,
    summary=pick(
        "new",
        {
            None: pick(
                "is_possible",
                {
                    True: "{id} was refused as too old: a new instance may have taken it over, or its transaction "
                    "timed out"
                },
                "{id} was refused as too old before its transaction could time out: somebody else had taken it over",
            )
        },
        (
            "a new instance took {id} over at {new.since} ",
            pick(
                "was_alive",
                {True: "while the old one was alive and at work"},
                "and aborted what was left open",
            ),
            pick("count", {1: ""}, ", {count:time} in all"),
        ),
    ),
    actors=(included("owners"),),
    steps=(
        replace(REFUSED, unless="new"),
        step(
            "T1 had the id since {old.since}[: producer id {old.given.id}, epoch {old.given.epoch}]",
            pick("old.by_itself", SAYS),
            cites="old.grant",
        ),
        step(
            "T2 was given it at {new.since}[: producer id {new.given.id}, epoch {new.given.epoch}]",
            (
                pick("new.by_itself", SAYS),
                pick(
                    "was_open",
                    {True: "; the epoch rose by two: a transaction of T1 was open and the coordinator aborted it"},
                    "",
                ),
            ),
            cites="new.grant",
        ),
        step(
            "what T1 sent after that was refused",
            "its epoch was over; that it tried shows that it was alive",
            cites="refusals",
            needs="refusals",
        ),
    ),
    considered=(
        considered(
            "transaction_timed_out",
            pick(
                "excluded",
                {Excluded.NOTHING: "not refuted: clients are answered the same words after a timeout"},
                "{excluded}",
            ),
        ),
        considered(
            OPERATOR,
            "not refuted: no log of T2 is at hand; forceTerminateTransaction and Admin.fenceProducers do the same",
            unless="has_newcomers_log",
        ),
    ),
    remedies=(REMEDY,),
)

RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, LOG_WORDS),
    depth=3,
    caused_by=(("shared_producer", same_id),),
    absorbed_by="shared_producer",
)
