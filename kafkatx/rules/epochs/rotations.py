"""Producer ids that were replaced, as the rows of an id show."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

import numpy as np

from kafkatx.findings.grouping import by_transactional_id
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import Protocol
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH
from kafkatx.rules.epochs.starts import starts_of
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, completion_row, decision_row, initialised_row, row_before
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, facts


@dataclass(frozen=True, slots=True)
class Rotation:
    """A producer id that was replaced, at a time in milliseconds."""

    at: int
    old: int
    new: int
    rows: Refs


class Spent(Enum):
    """What took most epochs of a producer id."""

    starts = auto()
    transactions = auto()
    starts_or_transactions = auto()


@facts
class Rotated:
    """Rotations of an id, of which the first is explained; `before` is the row under the old producer id.

    `spent` is what took the epochs of the first, `by_starts` how many of them InitProducerId took within `took`, where
    those are most of them.
    """

    id: str
    old: int
    new: int
    count: Count
    spent: Spent
    by_starts: Count | None
    took: Duration | None
    starts: Refs
    rows: Refs
    before: Refs


def rotations_of(model: CaptureModel) -> dict[str, list[Rotation]]:
    """Rotations by id, of whatever shows them: an initialisation, or under transactions v2 the end of a transaction."""
    found: dict[str, list[Rotation]] = {}
    for name, rotation in (*_by_initialisations(model), *_by_transactions(model)):
        found.setdefault(name, []).append(rotation)
    return found


def _by_initialisations(model: CaptureModel) -> Iterator[tuple[str, Rotation]]:
    rows = model.initialisations
    inits = (
        (rows["previous_state"] >= 0)
        & (rows["previous_epoch"] >= EXHAUSTED_EPOCH)
        & (rows["producer_id"] != rows["previous_producer_id"])
    )
    for row in rows[inits & (rows["is_tombstone"] == 0)]:
        old, new = int(row["previous_producer_id"]), int(row["producer_id"])
        places = (row_before(row), initialised_row(row))
        yield model.transactional_id(int(row["id_code"])), Rotation(int(row["timestamp"]), old, new, places)


def _by_transactions(model: CaptureModel) -> Iterator[tuple[str, Rotation]]:
    t = model.transactions
    ends = np.flatnonzero(
        (t["completed_producer_id"] >= 0)
        & (t["completed_producer_id"] != t["producer_id"])
        & (t["completion_epoch"] == 0)
    )
    for name, group in by_transactional_id(model, ends):
        for row in group:
            old, new = int(t["producer_id"][row]), int(t["completed_producer_id"][row])
            places = (*begin_row(t[row]), *decision_row(t[row]), *completion_row(t[row]))
            yield name, Rotation(int(t["decided_at"][row]), old, new, places)


def rotated(model: CaptureModel, name: str, rotations: list[Rotation]) -> Case:
    """Return the case of an id and its rotations, oldest first."""
    first, count = rotations[0], len(rotations)
    starts = starts_of(model, name, first.old)
    is_loop = 2 * starts.taken > EXHAUSTED_EPOCH
    return Case(
        facts=Rotated(
            id=name,
            old=first.old,
            new=first.new,
            count=Count(count),
            spent=Spent.starts if is_loop else _spent(model, name, first.old),
            by_starts=Count(starts.taken) if is_loop else None,
            took=Duration(starts.took_ms) if is_loop else None,
            starts=starts.shown if is_loop else (),
            rows=first.rows,
            before=first.rows[:1],
        ),
        verdict=Verdict.proved,
        severity=Severity.info,
        transactional_id=name,
        producer_id=first.old if count == 1 else None,
        since=first.at,
        until=rotations[-1].at,
        count=count,
    )


def _spent(model: CaptureModel, name: str, producer_id: int) -> Spent:
    """What took the epochs where starts are not seen to: in the classic protocol nothing else takes any.

    Rows of older transactions are compacted away, so a few that are left do not tell what took the other epochs.
    """
    code = model.id_code(name)
    if not ran_v2(model, code):
        return Spent.starts
    made = model.transactions["producer_id"][model.transactions_of(code)] == producer_id
    is_most = 2 * (int(np.count_nonzero(made)) + model.counted.of_id(code, producer_id)) > EXHAUSTED_EPOCH
    return Spent.transactions if is_most else Spent.starts_or_transactions


def ran_v2(model: CaptureModel, code: int) -> bool:
    """Whether a transaction of the id ran under transactions v2."""
    return bool((model.ends.protocol[model.transactions_of(code)] == Protocol.v2).any())


ROTATED = Words(
    Rotated,
    title=pick("count", {1: "epochs of producer id {old} used up"}, "epochs of {count:producer id} used up"),
    summary=(
        "{id} used up the epochs of producer id {old} and went on as producer id {new}",
        pick("count", {1: "."}, ", the first of {count:change}."),
        "[ InitProducerId took {by_starts} of them within {took}.]",
    ),
    steps=(
        step(
            "Producer id {old} reached its last epoch; {id} went on as producer id {new}, epoch 0",
            f"{EXHAUSTED_EPOCH} counts as exhausted",
            cites="rows",
        ),
        step(
            "InitProducerId took {by_starts:epoch} within {took}",
            "its grants, and more epochs than milliseconds between them",
            cites="starts",
            needs="starts",
        ),
    ),
    considered=(
        ruled_out("transactional_id_expired", "there is no tombstone, and the epochs were used up", cites="before"),
    ),
    remedies=(
        remedy(
            pick(
                "spent",
                {
                    Spent.transactions: "Nothing to do: under transactions v2 every transaction takes an epoch",
                    Spent.starts_or_transactions: "Nothing to do if its transactions took them: under transactions v2 "
                    "each takes an epoch. Else find out what calls initTransactions so often",
                },
                "Find out what calls initTransactions so often: each call takes an epoch[ ({by_starts} within {took})]",
            ),
            "application",
        ),
    ),
)
