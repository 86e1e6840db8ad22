"""What a row of `__transaction_state` says as printed, and when its transaction began where no column tells it.

The start is the last update of the first Ongoing row, where that row directly follows an Empty or Complete* row of its
id, or lists one partition only (a row is written only where a partition is new); else it is not known.
"""

from __future__ import annotations

from dataclasses import field

from kafkatx.terms.records import dataclass
from kafkatx.terms.transaction_states import TransactionState

EMPTY, ONGOING = int(TransactionState.Empty), int(TransactionState.Ongoing)
"""As plain numbers: a member of an enumeration costs as much as all the rest of a row."""


@dataclass(frozen=True, slots=True)
class PrintedState:
    """What a key and a value say; absent is -1, columns that were not printed are not in `known`.

    `asked_at` is the time as of which an admin tool told it.
    """

    transactional_id: str
    known: frozenset[str]
    is_tombstone: bool = False
    producer_id: int = -1
    producer_epoch: int = -1
    state: int = -1
    partitions: tuple[tuple[str, int], ...] | None = None
    timeout_ms: int = -1
    updated_at: int = -1
    started_at: int = -1
    previous_producer_id: int = -1
    next_producer_id: int = -1
    next_producer_epoch: int = -1
    client_transaction_version: int = -1
    value_version: int = -1
    asked_at: int = -1


@dataclass(slots=True)
class _Start:
    """Where an id stands: state and start of its last row, and whether that start is known."""

    offset: int
    state: int
    started_at: int
    is_known: bool


@dataclass(slots=True)
class Starts:
    """Carries the start of each id's transaction from row to row."""

    _of_id: dict[str, _Start] = field(default_factory=dict)
    _previous_offset: int = -1
    _whole_since: int = -1

    def of(self, offset: int, state: PrintedState) -> tuple[int, bool]:
        """Start of the transaction that the next row belongs to, and whether it is known."""
        return self.of_row(
            offset,
            state.transactional_id,
            state.state,
            len(state.partitions or ()),
            state.updated_at,
            is_tombstone=state.is_tombstone,
        )

    def of_row(
        self,
        offset: int,
        transactional_id: str,
        state: int,
        partition_count: int,
        updated_at: int,
        *,
        is_tombstone: bool = False,
    ) -> tuple[int, bool]:
        """Tell the same of a row by what counts of it."""
        if offset != self._previous_offset + 1:
            self._whole_since = offset
        self._previous_offset = offset
        before = self._of_id.get(transactional_id)
        follows = before is not None and before.offset >= self._whole_since
        started_at, is_known = -1, state == EMPTY or is_tombstone
        if state == ONGOING and partition_count == 1:
            started_at, is_known = updated_at, True
        elif state == ONGOING and before is not None and before.state != ONGOING:
            started_at, is_known = (updated_at, True) if follows else (-1, False)
        elif not is_known and before is not None:
            started_at, is_known = before.started_at, before.is_known and follows
        if is_tombstone:
            self._of_id.pop(transactional_id, None)
        else:
            self._of_id[transactional_id] = _Start(offset, state, started_at, is_known)
        return started_at, is_known
