"""The client itself (or an operator in its name) aborted transactions.

Mechanism    EndTxn(ABORT): abortTransaction(), close() with a transaction open, a framework's rollback. An operator's
             `kafka-transactions.sh abort` writes an ABORT marker into one partition without the coordinator's
             knowledge.
Evidence     classic: PrepareAbort and ABORT markers at the data's own epoch; transactions v2: an abort before the
             timeout that no InitProducerId followed at once, above all if the producer went on under the raised epoch.
             An operator: an ABORT at the data's own epoch, later than every row of its id. Without rows: the epochs of
             the markers, where a COMMIT shows the protocol.
             By logs alone: "Aborting incomplete transaction" that no refusal follows.
Against      an abort that the client's abortable error state asked for (its error is the case, and may have ended the
             transaction before); a raised epoch (classic); a duration beyond the timeout; an Empty row at once
             (transactions v2).
Look-alikes  fenced_by_new_instance, transaction_timed_out; on 0.11.0.0 and 0.11.0.1 a timeout keeps the epoch too.
Remedy       none for single ones: it is what abort is for. At high rates find the exception before the abort (a poison
             record, a group that rebalances).
Source       KIP-98, KIP-664, KIP-890; TransactionCoordinator.endTransaction, WriteTxnMarkers (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kafkatx.findings.conditions import gave_the_reason, made_it_abort, same_id_and_time
from kafkatx.findings.end_groups import EndGroup, groups_without_rows
from kafkatx.findings.ends import (
    COMMITTED_FIRST,
    COMMITTED_SAID,
    COORDINATOR_TELLS,
    LOOK_FIRST,
    NOT_RESENT,
    T1,
    WITHIN_TIMEOUT,
    WITNESSED,
    WROTE,
    RowEnd,
    row_end,
)
from kafkatx.findings.ends_in_data import LONG_IDLE_MS, NOT_EXPIRED, DataFacts, MarkerEpoch, data_facts
from kafkatx.findings.grouping import by_transactional_id
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.logs.testimony import says_meant
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.rules.aborted_without_id import DROPPED_WORDS, NAMELESS_WORDS, aborted_without_id
from kafkatx.rules.aborts.in_logs import LOG_WORDS, is_shown_close, told_in_logs, was_asked_for
from kafkatx.rules.aborts.nobodys import NOBODYS, Nobodys, nobodys_data
from kafkatx.rules.aborts.often import ended_of, is_often
from kafkatx.rules.aborts.reasons import BY_REASON, NOTHING, SAID_BEFORE, Announced, announced, why_aborted
from kafkatx.rules.aborts.unsent import UNSENT_WORDS, Unsent, later_lines, unwitnessed
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import completion_row
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, facts


@facts
class Facts(RowEnd):
    """Transactions that a client aborted itself, as the coordinator's records show; the first is explained.

    `announced` is what the application logged right before; `is_empty`: none of them has a record in a partition.
    """

    ended: Count
    is_often: bool
    is_empty: bool
    by_close: bool
    why: str | None
    announced: Announced | None
    idle: Duration | None
    before_idle: Refs

    @property
    def may_lose_nothing(self) -> bool:
        """Whether there may be nothing to send again."""
        return self.loses_nothing or self.perhaps_committed is not None or self.is_empty

    @property
    def may_be_timeout(self) -> bool:
        """Whether it was late, and the brokers may be of a release that times out without a new epoch."""
        return self.reason is Reason.no_bump_release

    @property
    def is_cut(self) -> bool:
        """Whether records that would tell of a new instance are missing."""
        return not self.is_classic and self.reason is Reason.v2_rows_end

    @property
    def is_long_idle(self) -> bool:
        """Whether people would suspect an expiry."""
        return self.idle is not None and self.idle >= LONG_IDLE_MS


@facts
class ByOperator(DataFacts):
    """Aborted data of which the coordinator knows nothing: an operator wrote the marker."""


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id and verdict; what is aborted by nobody knows whom is not checkable.

    What is said to be meant is told for information.
    """
    is_meant = says_meant(model.logs)
    ended, is_abort = model.ends.rows(), model.transactions["decision"] == PREPARE_ABORT
    perhaps = ended.reason == Reason.no_bump_release
    by_client = (is_abort & (ended.ended_by == EndedBy.client)) | perhaps
    went_on = {number: later_lines(model, number) for number in unwitnessed(model, by_client)}
    unsent = np.zeros(len(by_client), np.bool_)
    unsent[[number for number, lines in went_on.items() if lines]] = True
    for group in _by_id(model, unsent):
        lines = event_refs(model, went_on[int(group.numbers[0])], 3)
        unsent_end = Unsent(**row_end(group), is_unsent=True, went_on=lines)
        is_harmless = unsent_end.may_lose_nothing or unsent_end.is_handed_on
        severity = Severity.info if is_harmless else Severity.warning
        yield Case(facts=unsent_end, verdict=Verdict.likely, severity=severity, **group.columns())
    for verdict in (Verdict.proved, Verdict.likely, Verdict.possible):
        for group in _by_id(model, by_client & ~unsent & (ended.verdict == verdict)):
            facts = _of_rows(group)
            loud = (facts.is_often or _is_all_that_is_shown(group)) and verdict is not Verdict.possible
            severity = Severity.warning if loud and not is_meant else Severity.info
            yield Case(facts=facts, verdict=verdict, severity=severity, **group.columns())
    for group in groups_without_rows(model, EndedBy.client):
        told = told_in_logs(group) if group.told_by is ToldBy.logs else _in_data(group)
        is_loud = is_shown_close(model, group) or _is_all_that_is_shown(group)
        severity = Severity.warning if is_loud and not is_meant else Severity.info
        verdict = Verdict.possible if was_asked_for(group) else group.verdict
        yield Case(facts=told, verdict=verdict, severity=severity, **group.columns())
    yield from aborted_without_id(model)
    for group in _by_id(model, is_abort & (ended.ended_by == EndedBy.unknown) & ~perhaps):
        yield NOBODYS.of(Nobodys(group.count, group.transactional_id or ""))
    yield from nobodys_data(model)


def _is_all_that_is_shown(group: EndGroup) -> bool:
    """Whether a text shows transactions of an id, or of a producer, of which all were aborted: that is its question."""
    model = group.model
    if not group.is_printed:
        return False
    if group.told_by is ToldBy.rows:
        decisions = model.transactions["decision"][model.transactions_of(int(group.first.row["id_code"]))]
        return int(np.count_nonzero(decisions >= PREPARE_COMMIT)) == len(group.numbers)
    of_producer = model.spans[np.isin(model.spans["producer_id"], group.spans["producer_id"])]
    return int(np.count_nonzero(of_producer["marker_kind"] >= 0)) == len(group.numbers) and (
        group.verdict is not Verdict.possible
    )


def _by_id(model: CaptureModel, chosen: Array) -> Iterator[EndGroup]:
    for _, rows in by_transactional_id(model, np.flatnonzero(chosen)):
        yield EndGroup(model, ToldBy.rows, rows)


def _of_rows(group: EndGroup) -> Facts:
    end, model, row = group.first, group.model, group.first.row
    of_id = model.transactions_of(int(row["id_code"]))
    before = _before(end, of_id)
    calls = [int(row) for row in model.ends.witnesses.client_abort[group.numbers]]
    return Facts(
        **row_end(group),
        ended=Count(ended_of(model, of_id)),
        is_often=is_often(model, of_id),
        is_empty=_is_empty(group),
        by_close=all(row >= 0 and model.logs.kind(row) is EventKind.abort_on_close for row in calls),
        announced=announced(model, calls),
        why=why_aborted(model, group.numbers),
        idle=lasting(int(row["started_at"] - before["completion_timestamp"])) if before is not None else None,
        before_idle=tuple(completion_row(before)) if before is not None else (),
    )


def _is_empty(group: EndGroup) -> bool:
    """Whether none of its transactions wrote a record."""
    return all(TransactionEnd(group.model, number).is_empty for number in group.numbers)


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


WORDS = Words(
    Facts,
    title=pick(
        "why",
        {None: "{count} of {ended:transaction} aborted by its own client"},
        "{count} of {ended:transaction} aborted after {why}",
    ),
    summary=(
        "The client of {whom}[ {perhaps}] aborted ",
        pick("ended", {1: "its only transaction"}, "{count} of its {ended:transaction}"),
        pick("count", {1: "[, with {affected}]"}, "[, the first with {affected}]"),
        pick("why", {None: ""}, ", after {why}"),
        ".",
        pick("is_empty", {True: pick("count", {1: " It had written no record."}, " They had written no record.")}, ""),
        pick(
            "announced",
            {None: ""},
            (
                " The application logged {announced.said:90} just before ",
                pick("announced.count", {1: "it."}, "{announced.count} of them."),
            ),
        ),
        COMMITTED_SAID,
    ),
    actors=(T1,),
    steps=(
        WROTE,
        step(
            "T1 aborted it itself[ {took} after its start]",
            pick(
                "is_classic",
                {True: "PrepareAbort with the epoch of the data: only the client's own EndTxn keeps it"},
                pick(
                    "reason",
                    {
                        Reason.v2_client_went_on: "T1 went on under the raised epoch, which only EndTxn's answer gives",
                        Reason.v2_rows_end: "before its timeout; no InitProducerId followed before the records end",
                    },
                    "before its timeout; no InitProducerId followed",
                ),
            ),
            cites="decided completed markers",
        ),
        COMMITTED_FIRST,
        SAID_BEFORE,
        WITNESSED,
    ),
    considered=(
        left_open(
            "transaction_timed_out",
            "0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119)",
            decided_by=f"the release of the brokers, or {COORDINATOR_TELLS}",
            cites="decided",
            needs="may_be_timeout",
        ),
        ruled_out(
            "transaction_timed_out",
            pick(
                "reason",
                {Reason.own_epoch_late: "beyond the timeout, but the epoch was kept; a timeout raises it here"},
                WITHIN_TIMEOUT,
            ),
            cites="decided",
            unless="may_be_timeout",
        ),
        left_open(
            "fenced_by_new_instance",
            "under transactions v2 only later records tell",
            decided_by="the records of {whom} in __transaction_state[ after {at}]",
            cites="next",
            needs="is_cut",
        ),
        ruled_out("fenced_by_new_instance", "no new instance came with the abort", cites="next", unless="is_cut"),
        left_open(
            "an end that the client did not ask for",
            pick(
                "is_classic",
                {True: "the epoch of the data is what speaks for the client"},
                "under transactions v2 every end raises the epoch, whoever asked for it",
            ),
            decided_by="the coordinator's request log[ around {at}]: who sent EndTxn",
            needs="perhaps",
            unless="may_be_timeout is_cut",
        ),
        NOT_EXPIRED,
    ),
    remedies=(
        remedy(
            text="Look at what the application logged just before these aborts. Usual reasons are a record that always "
            "fails, and exceptions that are no reason to abort. Send the aborted records again if they were meant to "
            "be written",
            where="application",
            needs="is_often",
            unless="why by_close announced",
        ),
        *BY_REASON,
        replace(NOTHING, unless="is_often why by_close announced"),
        LOOK_FIRST,
        NOT_RESENT,
    ),
)

KEPT = "an ABORT marker with the epoch of the data"
RAISES = "the coordinator's own abort raises the epoch"
DATA_WORDS = Words(
    DataFacts,
    who="{whom}",
    title="data aborted by its own client",
    summary="The client of {whom}[ {perhaps}] aborted its own data[: {affected}].",
    actors=(T1,),
    steps=(
        WROTE,
        step(
            "T1 aborted it itself",
            pick(
                "epoch",
                {
                    MarkerEpoch.left_out: "an ABORT marker; its epoch was left out",
                    MarkerEpoch.kept: KEPT,
                },
                "an ABORT marker with the next epoch, as under transactions v2",
            ),
            cites="markers",
        ),
        WITNESSED,
    ),
    considered=(
        ruled_out("transaction_timed_out", RAISES, needs="keeps_epoch"),
        ruled_out("fenced_by_new_instance", RAISES, needs="keeps_epoch"),
        left_open(
            "an abort of the coordinator at the same time",
            "under transactions v2 it leaves the same marker",
            decided_by="the records of {whom} in __transaction_state[ around {at}]",
            needs="perhaps",
            unless="keeps_epoch",
        ),
        left_open(
            "an operator's abort of the partition",
            "kafka-transactions.sh abort leaves the same marker",
            decided_by="the records of {whom} in __transaction_state[ around {at}]",
            needs="perhaps keeps_epoch",
        ),
        NOT_EXPIRED,
    ),
    remedies=(NOTHING,),
)

OPERATOR_WORDS = Words(
    ByOperator,
    title="data aborted by an operator",
    summary="An operator[ {perhaps}] aborted data of {whom} by hand[: {affected}]. The coordinator has no transaction "
    "there.",
    actors=(T1,),
    steps=(
        step(
            "For the coordinator the last transaction of {whom} was over before",
            "its latest record is older",
            cites="latest",
        ),
        WROTE,
        step("An operator ended it", (KEPT, " that no record of the coordinator asked for"), cites="markers"),
        WITNESSED,
    ),
    considered=(
        left_open(
            "aborted_by_client",
            "a later record of the id may be missing",
            decided_by="the newest segment of its partition of __transaction_state, from every replica",
        ),
        NOT_EXPIRED,
    ),
    remedies=(remedy(text="Nothing to do: the transaction is ended, and readers can go on", where="operator"),),
)

RULE = Rule(
    find=find,
    words=(WORDS, DATA_WORDS, OPERATOR_WORDS, LOG_WORDS, NAMELESS_WORDS, DROPPED_WORDS, UNSENT_WORDS),
    depth=5,
    caused_by=(
        ("fenced_by_group_generation", same_id_and_time),
        ("partition_verification_failed", made_it_abort),
        ("misconfiguration", gave_the_reason),
    ),
)
