"""The coordinator fold: rows of one `__transaction_state` partition in offset order to transactions.

Initialisations and oddities.

Kafka's own: TransactionMetadata.prepareTransitionTo and TransactionState.validPreviousStates (0.11 to 4.4); KIP-98,
KIP-890.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_after, kernel_inlined
from kafkatx.kernels.rows import NOT_PRINTED
from kafkatx.kernels.transaction_log import walk_states

DONE, NO_ROOM = 0, 1
EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = 0, 1, 2, 3, 4, 5
NOTHING, TOMBSTONE = -1, -2
"""Values of a previous or next state: no row seen, a tombstone."""
AFTER_HOLE = 1
"""Flag of a transaction: offsets are missing between some of its rows, so a row of it may be missing too."""

(
    ILLEGAL_TRANSITION,
    EPOCH_DECREASED,
    EPOCH_JUMPED,
    START_CHANGED,
    LIST_CHANGED,
    NO_START,
    ILLEGAL_STATE,
    NO_PARTITIONS,
) = 1, 2, 3, 4, 5, 6, 7, 8
"""Kinds of oddities. LIST_CHANGED is a candidate: the caller sees whether the list shrank."""

LEGAL = np.zeros((8, 8), np.int8)
"""LEGAL[previous, next] is 1 for what TV0/1 allows and 2 for what 4.0 added with transactions v2 (formats.md 2.4)."""
for _previous, _next in (
    (0, 0),
    (4, 0),
    (5, 0),
    (1, 1),
    (0, 1),
    (4, 1),
    (5, 1),
    (1, 2),
    (1, 3),
    (2, 4),
    (3, 5),
    (4, 4),
    (5, 5),
    (2, 2),
    (3, 3),
):
    LEGAL[_previous, _next] = 1
for _previous, _next in ((0, 3), (4, 3), (5, 3)):
    LEGAL[_previous, _next] = 2


@kernel_inlined
def open_transaction(out: Any, at: int, rows: Any, number: int, state_partition: int) -> None:
    """Begin a transaction with the row rows[number], whatever its state."""
    out["id_code"][at] = rows["id_code"][number]
    out["state_partition"][at] = state_partition
    out["producer_id"][at] = rows["producer_id"][number]
    out["completed_producer_id"][at] = -1
    out["started_at"][at] = rows["started_at"][number]
    out["timeout_ms"][at] = rows["timeout_ms"][number]
    out["begin_offset"][at] = -1
    out["begin_timestamp"][at] = -1
    out["grown_at"][at] = -1
    out["decision_offset"][at] = -1
    out["decided_at"][at] = -1
    out["decision_timestamp"][at] = -1
    out["completion_offset"][at] = -1
    out["completion_timestamp"][at] = -1
    out["next_offset"][at] = -1
    out["next_timestamp"][at] = -1
    out["next_producer_id"][at] = -1
    out["partitions_code"][at] = -1
    out["next_timeout_ms"][at] = -1
    out["begin_leader_epoch"][at] = -1
    out["decision_leader_epoch"][at] = -1
    out["producer_epoch"][at] = -1
    out["decision_epoch"][at] = -1
    out["completion_epoch"][at] = -1
    out["next_epoch"][at] = -1
    out["begin_version"][at] = -1
    out["decision_version"][at] = -1
    out["decision"][at] = -1
    out["next_state"][at] = -1
    out["flags"][at] = 0


@kernel_inlined
def add_ongoing(out: Any, at: int, rows: Any, number: int) -> None:
    """Add an Ongoing row to its transaction."""
    if out["begin_offset"][at] < 0:
        out["begin_offset"][at] = rows["offset"][number]
        out["begin_timestamp"][at] = rows["timestamp"][number]
        out["begin_leader_epoch"][at] = rows["leader_epoch"][number]
        out["producer_epoch"][at] = rows["producer_epoch"][number]
    is_first = rows["value_version"][number] == 0  # a value of version 0 has no field for it: it is classic
    out["begin_version"][at] = 0 if is_first else rows["client_transaction_version"][number]
    out["partitions_code"][at] = rows["partitions_code"][number]
    out["grown_at"][at] = rows["updated_at"][number]


@kernel_inlined
def add_decision(out: Any, at: int, rows: Any, number: int) -> None:
    """Add a Prepare* row to its transaction."""
    out["decision"][at] = rows["state"][number]
    out["decision_offset"][at] = rows["offset"][number]
    out["decided_at"][at] = rows["updated_at"][number]
    out["decision_timestamp"][at] = rows["timestamp"][number]
    out["decision_epoch"][at] = rows["producer_epoch"][number]
    out["decision_version"][at] = rows["client_transaction_version"][number]
    out["decision_leader_epoch"][at] = rows["leader_epoch"][number]
    out["partitions_code"][at] = rows["partitions_code"][number]
    out["timeout_ms"][at] = rows["timeout_ms"][number]


@kernel_inlined
def add_completion(out: Any, at: int, rows: Any, number: int) -> None:
    """Add a Complete* row to its transaction; where the decision was not seen it is the completion's."""
    out["completion_offset"][at] = rows["offset"][number]
    out["completion_timestamp"][at] = rows["timestamp"][number]
    out["completion_epoch"][at] = rows["producer_epoch"][number]
    out["completed_producer_id"][at] = rows["producer_id"][number]
    if out["decision"][at] < 0:
        out["decision"][at] = rows["state"][number] - 2
        out["decided_at"][at] = rows["updated_at"][number]


@kernel_inlined
def add_next(out: Any, at: int, rows: Any, number: int) -> None:
    """Note the row that follows a transaction."""
    out["next_state"][at] = TOMBSTONE if rows["is_tombstone"][number] else rows["state"][number]
    out["next_offset"][at] = rows["offset"][number]
    out["next_timestamp"][at] = rows["timestamp"][number]
    out["next_producer_id"][at] = rows["producer_id"][number]
    out["next_epoch"][at] = rows["producer_epoch"][number]
    out["next_timeout_ms"][at] = rows["timeout_ms"][number]


@kernel_inlined
def add_initialisation(
    out: Any, at: int, rows: Any, number: int, latest: Any, who: int, state_partition: int, contiguous: bool
) -> None:
    """Note an Empty row or a tombstone with the row of the id before it."""
    out["id_code"][at] = who
    out["state_partition"][at] = state_partition
    out["offset"][at] = rows["offset"][number]
    out["timestamp"][at] = rows["timestamp"][number]
    out["updated_at"][at] = rows["updated_at"][number]
    out["producer_id"][at] = rows["producer_id"][number]
    out["producer_epoch"][at] = rows["producer_epoch"][number]
    out["timeout_ms"][at] = rows["timeout_ms"][number]
    out["is_tombstone"][at] = rows["is_tombstone"][number]
    out["previous_offset"][at] = latest["offset"][who]
    out["previous_timestamp"][at] = latest["timestamp"][who]
    out["previous_updated_at"][at] = latest["updated_at"][who]
    out["previous_producer_id"][at] = latest["producer_id"][who]
    out["previous_epoch"][at] = latest["producer_epoch"][who]
    out["previous_timeout_ms"][at] = latest["timeout_ms"][who]
    out["previous_state"][at] = latest["state"][who]
    out["is_contiguous"][at] = contiguous


@kernel_inlined
def may_start_alike(one: int, other: int) -> bool:
    """Whether two rows can be of one transaction by its start, which a text may not tell."""
    return bool(one in (other, NOT_PRINTED) or other == NOT_PRINTED)


@kernel_inlined
def goes_on(rows: Any, number: int, latest: Any, who: int) -> bool:
    """Whether a row is of the transaction that the row before it left open.

    The start tells; where a text does not print one, the producer id and a state that follows do.
    """
    before, state = latest["state"][who], rows["state"][number]
    started_at = rows["started_at"][number]
    if started_at == latest["started_at"][who] and started_at != NOT_PRINTED:
        return True
    is_next = before == ONGOING and ONGOING <= state <= PREPARE_ABORT
    is_next |= PREPARE_COMMIT <= before <= PREPARE_ABORT and state - before in (0, 2)
    return bool(
        is_next
        and may_start_alike(started_at, latest["started_at"][who])
        and rows["producer_id"][number] == latest["producer_id"][who]
    )


@kernel_inlined
def oddity_of(rows: Any, number: int, latest: Any, who: int, legal: Any, empty_list: int) -> int:
    """Kind of what the state machine can't have written after the row before, 0 if nothing.

    Tombstones follow Empty and Complete*.
    """
    before = latest["state"][who]
    if rows["is_tombstone"][number]:
        return ILLEGAL_TRANSITION if ONGOING <= before <= PREPARE_ABORT else 0
    state = rows["state"][number]
    if state < 0 or state > COMPLETE_ABORT:
        return ILLEGAL_STATE
    started_at = rows["started_at"][number]
    is_record = rows["updated_at"][number] >= 0  # else a tool listed the id, without its partitions
    no_list = rows["partitions_code"][number] < 0 or rows["partitions_code"][number] == empty_list
    if state == ONGOING and is_record and no_list:
        return NO_PARTITIONS
    if COMPLETE_COMMIT <= state <= COMPLETE_ABORT and started_at == -1:
        return NO_START
    if before < 0 or before > COMPLETE_ABORT:
        return 0
    version = rows["client_transaction_version"][number]
    is_raised = rows["producer_epoch"][number] - latest["producer_epoch"][who] == 1
    is_unstated = version < 0 and rows["value_version"][number] < 0  # tools before 4.1 print no version
    is_classic = version < 2 and not (is_unstated and is_raised)
    if legal[before, state] == 0 or (legal[before, state] == 2 and is_classic):
        return ILLEGAL_TRANSITION
    epoch, epoch_before = rows["producer_epoch"][number], latest["producer_epoch"][who]
    if rows["producer_id"][number] == latest["producer_id"][who] and epoch >= 0 and epoch_before >= 0:
        step = epoch - epoch_before  # `kafka-transactions.sh list` prints no epoch
        if step < 0:
            return EPOCH_DECREASED
        if step > 2 or (step > 0 and state == ONGOING) or (step > 1 and state == EMPTY):
            return EPOCH_JUMPED
    if before == ONGOING and not may_start_alike(started_at, latest["started_at"][who]):
        return START_CHANGED
    if before == ONGOING and rows["partitions_code"][number] != latest["partitions_code"][who]:
        return LIST_CHANGED
    return 0


@kernel_inlined
def note_latest(rows: Any, number: int, latest: Any, who: int, state_partition: int) -> None:
    """Make rows[number] the id's latest row."""
    latest["id_code"][who] = who
    latest["state_partition"][who] = state_partition
    latest["offset"][who] = rows["offset"][number]
    latest["timestamp"][who] = rows["timestamp"][number]
    latest["producer_id"][who] = rows["producer_id"][number]
    latest["producer_epoch"][who] = rows["producer_epoch"][number]
    latest["started_at"][who] = rows["started_at"][number]
    latest["updated_at"][who] = rows["updated_at"][number]
    latest["partitions_code"][who] = rows["partitions_code"][number]
    latest["timeout_ms"][who] = rows["timeout_ms"][number]
    latest["leader_epoch"][who] = rows["leader_epoch"][number]
    latest["client_transaction_version"][who] = rows["client_transaction_version"][number]
    latest["state"][who] = TOMBSTONE if rows["is_tombstone"][number] else rows["state"][number]


@kernel_after(walk_states)
def fold_states(
    rows: Any, first: int, state_partition: int, empty_list: int, legal: Any, carry: Any, latest: Any, last_of: Any,
    transactions: Any, at: int, initialisations: Any, inits: int, oddities: Any, odd: int,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Fold rows[first:]; returns (DONE or NO_ROOM, row to go on with, transactions, initialisations, oddities filled).

    `latest` (LATEST) and `last_of` (int64: the id's last transaction row, -1) are indexed by id_code and large
    enough; `carry` holds
    (next expected offset, offset at which the last hole ended).
    """
    for number in range(first, len(rows)):
        if at == len(transactions) or inits == len(initialisations) or odd == len(oddities):
            return NO_ROOM, number, at, inits, odd
        offset = rows["offset"][number]
        if carry[0] >= 0 and offset > carry[0]:
            carry[1] = offset
        carry[0] = offset + 1
        who = rows["id_code"][number]
        before = latest["state"][who]
        contiguous = before != NOTHING and carry[1] <= latest["offset"][who]
        kind = oddity_of(rows, number, latest, who, legal, empty_list)
        if kind > 0:
            oddities["kind"][odd] = kind
            oddities["id_code"][odd] = who
            oddities["state_partition"][odd] = state_partition
            oddities["offset"][odd] = offset
            oddities["previous_offset"][odd] = latest["offset"][who]
            oddities["partitions_code"][odd] = rows["partitions_code"][number]
            oddities["previous_partitions_code"][odd] = latest["partitions_code"][who]
            oddities["is_contiguous"][odd] = contiguous
            odd += 1
        state = rows["state"][number]
        current = latest["transaction_row"][who]
        if current < 0 and last_of[who] >= 0 and transactions["next_offset"][last_of[who]] < 0:
            add_next(transactions, last_of[who], rows, number)
        same = (
            current >= 0 and not rows["is_tombstone"][number] and goes_on(rows, number, latest, who) and state != EMPTY
        )
        if current >= 0 and not same:
            add_next(transactions, current, rows, number)
            current = -1
        if rows["is_tombstone"][number] or state == EMPTY:
            add_initialisation(initialisations, inits, rows, number, latest, who, state_partition, contiguous)
            inits += 1
        elif state >= ONGOING and state <= COMPLETE_ABORT:
            repeated = (
                current < 0
                and state >= COMPLETE_COMMIT
                and before == state
                and may_start_alike(latest["started_at"][who], rows["started_at"][number])
            )
            if current < 0 and not repeated:
                current = at
                open_transaction(transactions, at, rows, number, state_partition)
                last_of[who] = at
                at += 1
            if current >= 0 and before != NOTHING and not contiguous:
                transactions["flags"][current] |= AFTER_HOLE
            if current >= 0 and transactions["started_at"][current] == NOT_PRINTED:
                transactions["started_at"][current] = rows["started_at"][number]
            if current >= 0 and state == ONGOING:
                add_ongoing(transactions, current, rows, number)
            elif current >= 0 and state <= PREPARE_ABORT:
                add_decision(transactions, current, rows, number)
            elif current >= 0:
                add_completion(transactions, current, rows, number)
                current = -1
        started_at = latest["started_at"][who]
        note_latest(rows, number, latest, who, state_partition)
        if same and rows["started_at"][number] == NOT_PRINTED:
            latest["started_at"][who] = started_at
        latest["transaction_row"][who] = current if state >= ONGOING and not rows["is_tombstone"][number] else -1
    return DONE, len(rows), at, inits, odd
