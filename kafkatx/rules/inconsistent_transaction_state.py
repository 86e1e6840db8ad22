"""The coordinator's log holds a row that its state machine cannot have written after the one before.

Mechanism    Rows of an id go Empty, Ongoing, Prepare*, Complete* and round again; the epoch of a producer id never
             falls; the start of a transaction does not change; its list of partitions only grows. No broker checks this
             when it loads the log (the last row wins), so a lost, doubled or foreign row goes unnoticed.
Evidence     two consecutive rows of an id with no offset missing between them (compaction leaves holes), and what is
             wrong with them.
Against      offsets missing between the two; rows below the cleaner's first dirty offset.
Look-alikes  compaction; an abort without partitions under transactions v2; the double bump of 4.0.0; a producer id that
             rotates; Complete* written again after a failover. All of these are legal here.
Remedy       keep the files, compare all replicas of the partition, look for unclean elections and disk errors at that
             time.
Source       TransactionState.validPreviousStates, TransactionMetadata.prepareTransitionTo (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels import transactions as fold
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.rules.answers.broker_said import INCONSISTENT_WORDS, inconsistent_told
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, facts

MOST_TOLD = 5
COMPLETES = TransactionState.CompleteCommit - TransactionState.PrepareCommit
"""How far the number of Complete* lies behind that of its Prepare*."""


class Oddity(IntEnum):
    """What is wrong with a row."""

    illegal_transition = fold.ILLEGAL_TRANSITION
    epoch_decreased = fold.EPOCH_DECREASED
    epoch_jumped = fold.EPOCH_JUMPED
    start_changed = fold.START_CHANGED
    list_changed = fold.LIST_CHANGED
    no_start = fold.NO_START
    illegal_state = fold.ILLEGAL_STATE
    no_partitions = fold.NO_PARTITIONS


WHAT = {
    Oddity.illegal_transition: "a state that can't follow the one before",
    Oddity.epoch_decreased: "a lower epoch than the record before, for the same producer id",
    Oddity.epoch_jumped: "an epoch that no known operation leads to from the one before",
    Oddity.start_changed: "another start of the transaction than the record before",
    Oddity.list_changed: "fewer partitions than the record before, in one transaction",
    Oddity.no_start: "a completed transaction that never started",
    Oddity.illegal_state: "a state that is never written to disk",
    Oddity.no_partitions: "an Ongoing transaction without partitions",
}
ALONE = (Oddity.no_start, Oddity.illegal_state, Oddity.no_partitions)
"""Oddities of one row, which need none before."""


@dataclass(frozen=True, slots=True)
class Row:
    """An odd row; `follows` is False where it alone shows what is wrong.

    `state` is its state, `before` that of the row before at `previous`; None where no transaction holds that row.
    """

    offset: int
    oddity: Oddity
    follows: bool
    rows: Refs
    previous: int
    before: str | None
    state: str | None

    def __format__(self, spec: str) -> str:
        return f"@{self.previous} {self.before} is followed by @{self.offset} {self.state}"


@facts
class Facts:
    """The odd rows of an id, of which the first ones are explained."""

    id: str
    count: Count
    oddity: Oddity
    is_compacted: bool
    is_pieced: bool
    rows: tuple[Row, ...]

    @property
    def pair(self) -> Row | None:
        """The first of them with the one before, where their states are what does not fit."""
        first = self.rows[0]
        is_told = first.before is not None and first.state is not None
        return first if is_told and first.oddity is Oddity.illegal_transition else None


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id with rows that don't fit, and for what coordinators say themselves."""
    yield from inconsistent_told(model)
    odd = model.oddities[(model.oddities["is_contiguous"] == 1) | np.isin(model.oddities["kind"], ALONE)]
    for code in distinct(odd["id_code"]):
        yield _inconsistent(model, model.transactional_id(int(code)), odd[odd["id_code"] == code])


def _inconsistent(model: CaptureModel, name: str, rows: Array) -> Case:
    verdict = _verdict(model, rows)
    is_pieced = model.state_log_extents[int(rows["state_partition"][0])].is_pieced
    return Case(
        facts=Facts(
            id=name,
            count=Count(len(rows)),
            oddity=Oddity(int(rows["kind"][0])),
            is_compacted=verdict is Verdict.possible and not is_pieced,
            is_pieced=is_pieced,
            rows=tuple(_row(model, row) for row in rows[:MOST_TOLD]),
        ),
        verdict=verdict,
        severity=Severity.warning if verdict is Verdict.possible else Severity.error,
        transactional_id=name,
        topic=TRANSACTION_STATE,
        partition=int(rows["state_partition"][0]),
        first_offset=int(rows["offset"].min()),
        last_offset=int(rows["offset"].max()),
        count=len(rows),
    )


def _verdict(model: CaptureModel, rows: Array) -> Verdict:
    log_extent = model.state_log_extents[int(rows["state_partition"][0])]
    if (rows["offset"] < log_extent.first_dirty).all() or log_extent.is_pieced:
        return Verdict.possible
    return Verdict.likely if (rows["kind"] == Oddity.epoch_jumped).all() else Verdict.proved


def _row(model: CaptureModel, row: Array) -> Row:
    partition, before, oddity = int(row["state_partition"]), int(row["previous_offset"]), Oddity(int(row["kind"]))
    offset = int(row["offset"])
    state, former = _state_at(model, partition, offset), _state_at(model, partition, before)
    what = WHAT[oddity] if state is None else f"{state}: {WHAT[oddity]}"
    cited = [EvidenceRef(TRANSACTION_STATE, partition, offset, None, what)]
    follows = before >= 0 and oddity not in ALONE
    if follows:
        text = "the record before" if former is None else f"{former}, the record before"
        cited.insert(0, EvidenceRef(TRANSACTION_STATE, partition, before, None, text))
    return Row(offset, oddity, follows, tuple(cited), before, former, state)


def _state_at(model: CaptureModel, partition: int, offset: int) -> str | None:
    """The state of a row that a transaction or an initialisation holds."""
    rows = model.transactions[model.transactions["state_partition"] == partition]
    empty = model.initialisations[model.initialisations["state_partition"] == partition]
    if offset < 0 or (empty["offset"] == offset).any():
        return None if offset < 0 else TransactionState.Empty.name
    if (rows["begin_offset"] == offset).any():
        return TransactionState.Ongoing.name
    for column, later in (("decision_offset", 0), ("completion_offset", COMPLETES)):
        found = rows[rows[column] == offset]
        if len(found) and found["decision"][0] >= 0:
            return TransactionState(int(found["decision"][0]) + later).name
    return None


WORDS = Words(
    Facts,
    title=pick("pair", {None: "{count:impossible record} in __transaction_state"}, "impossible: {pair}"),
    summary=(
        "{count:record} of {id} in __transaction_state {count:is|are}[ {perhaps}] not what a coordinator writes: ",
        pick("count", {1: ""}, "the first holds "),
        pick("oddity", WHAT),
        "[: {pair}].",
    ),
    steps=(
        step(
            ("Offset {each.offset} holds ", pick("each.oddity", WHAT)),
            pick("each.follows", {True: "no offset is missing between the two records"}, "the record alone shows it"),
            each="rows",
            cites="each.rows",
        ),
    ),
    considered=(
        left_open(
            "compaction",
            "the cleaner was here, and may have taken records between",
            needs="is_compacted",
            decided_by="another replica of the partition",
        ),
        left_open(
            "stretches of a text that are not of one log",
            "the text is not all that the tool printed",
            needs="is_pieced",
            decided_by="a whole dump of the partition",
        ),
        left_open(
            "a release that takes epochs otherwise",
            "known are the operations of 0.11 to 4.4",
            needs="perhaps",
            unless="is_compacted is_pieced",
            decided_by="the coordinator's server.log of that time",
        ),
    ),
    remedies=(
        remedy(
            "Keep the files, and compare all replicas of this partition with its leader's. Look for an unclean "
            "election or a disk error at that time",
            "operator",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS, INCONSISTENT_WORDS), depth=4)
