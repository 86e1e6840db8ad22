"""Transactions that a partition has open and that their coordinator is through with, by the answers of both.

Described   describe-producers tells the open transaction, describe (or a list) the state of the id that has its
            producer id: complete, or another transaction without this partition. Both are asked within moments, so a
            transaction that ended or began between them looks the same; never more than likely.
Refused     `kcl admin txn unstick-lso` adds the partition to a transaction of the id anew, with the producer id and
            epoch of the stuck data, and ends it. A coordinator that refuses these has nothing open under them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import place_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.answers.open_asked import coordinators_row, has_ended, refusals_of
from kafkatx.rules.answers.open_told import HANGING_REMEDIES, HangingFacts
from kafkatx.terms.events import EventKind
from kafkatx.terms.transaction_states import state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import latest_row
from kafkatx.words.explanation import Words, left_open, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Refs, facts


@facts
class DisownedFacts(HangingFacts):
    """An open transaction of a partition; `state` and `epoch` are its coordinator's, None where it refused instead."""

    id: str | None
    producer_epoch: int | None
    state: str | None
    epoch: int | None
    answer: Refs


def disowned(model: CaptureModel) -> Iterator[Case]:
    """One case a transaction that a partition's answer has open and its coordinator has not."""
    for row in model.logs.of_kind(EventKind.transaction_open).tolist():
        latest = coordinators_row(model, row)
        refusals = refusals_of(model.logs, row)
        if latest is not None and has_ended(model, row, latest):
            state, epoch = state_name(int(latest["state"])), int(latest["producer_epoch"])
            name, known = model.transactional_id(int(latest["id_code"])), epoch if epoch >= 0 else None
            yield _case(model, row, name, state, known, (latest_row(latest),))
        elif refusals:
            stuck = model.logs.string(row, "transactional_id")
            yield _case(model, row, stuck, None, None, event_refs(model, refusals))


def _case(model: CaptureModel, row: int, name: str | None, state: str | None, epoch: int | None, answer: Refs) -> Case:
    logs, place = model.logs, place_of(model.logs, row)
    producer_id, offset = logs.number(row, "producer_id"), logs.number(row, "offset")
    producer_epoch = logs.number(row, "producer_epoch")
    return Case(
        facts=DisownedFacts(
            partition=place,
            offset=offset or 0,
            producer_id=producer_id or 0,
            age=None,
            told=event_refs(model, [row]),
            id=name,
            producer_epoch=producer_epoch,
            state=state,
            epoch=epoch,
            answer=answer,
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        topic=place.topic if place.partition >= 0 else None,
        partition=place.partition if place.partition >= 0 else None,
        first_offset=offset,
    )


DISOWNED_WORDS = Words(
    DisownedFacts,
    title="a hanging transaction in {partition}",
    summary="The transaction of producer id {producer_id}[ ({id})] in {partition}, open since offset {offset},"
    "[ {perhaps}] hangs: its coordinator has nothing open there. Readers with read_committed can't pass offset "
    "{offset}.",
    steps=(
        step(
            "The leader of {partition} has it open from offset {offset} on[, epoch {producer_epoch}]",
            "its producer state",
            cites="told",
        ),
        step(
            "The coordinator of {id} is in {state}[, epoch {epoch}], and lists no open transaction of that partition",
            "its answer about the same producer id",
            cites="answer",
            needs="state",
        ),
        step(
            "The coordinator refused to end it under its producer id and epoch",
            "only a transaction that it does not have is refused so",
            cites="answer",
            unless="state",
        ),
    ),
    considered=(
        left_open(
            "a transaction that ended or began between the two answers",
            "each tells the moment of its call",
            decided_by="describe-producers of {partition} once more (whether it still begins at {offset})",
            needs="state",
        ),
        ruled_out("open_transaction", "the coordinator has none open there", cites="answer"),
    ),
    remedies=HANGING_REMEDIES,
)
