"""States of transactional.ids that a consumer or the admin tool printed, as rows of the coordinator's log.

Such a text has neither offsets nor times of records: a row's offset is its number in the text, behind all rows of the
parts above it (`base_offset` of its part), so that what was asked twice on one page stands in order; its time that of
the state's last update. Rows of one id stand in their order, whatever partition they come from; nothing is known of
what was not printed. A row of `kafka-transactions.sh describe` is the last one of its id: it was asked for "now", and
ages are told as of then (the start of its transaction, and how long it had lasted).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from kafkatx.kernels.rows import BATCH, NOT_PRINTED, STATE
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.rows import BATCH_COLUMNS, STATE_COLUMNS, TextRows, mask_of
from kafkatx.text.dump.starts import PrintedState, Starts
from kafkatx.text.dump.states import put_state
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.tools.admin import told_by_admins
from kafkatx.text.tools.console import printed_states

ROWS_PER_CHUNK = 16_384
_OF_RECORDS = frozenset({"position", "offset", "timestamp", "leader_epoch", "crc"})
"""Columns of the log's records, which neither tool prints."""


def told_states(file: OpenFile, part: TextPart, names: Names) -> Iterator[tuple[TextRows, TextRows]]:
    """Yield rows in chunks: what stands for their batches (dtype BATCH), and the states (dtype STATE)."""
    number = max(0, part.base_offset)
    for chunk in state_rows(file, part, names):
        rows = chunk.rows
        rows["offset"] = np.arange(number, number + len(rows))
        rows["timestamp"] = np.maximum(rows["updated_at"], rows["timestamp"])
        rows["started_at"] = np.where(_lacks_start(chunk), NOT_PRINTED, rows["started_at"])
        number += len(rows)
        yield _batches(chunk), chunk


def state_rows(file: OpenFile, part: TextPart, names: Names) -> Iterator[TextRows]:
    """Yield rows of states (kernels.rows.STATE), in the order printed; offset, time and batch are not known."""
    is_asked = part.kind is PartKind.ADMIN_TRANSACTIONS
    found = told_by_admins(file, part) if is_asked else _with_starts(printed_states(file, part))
    yield _rows(list(islice(found, ROWS_PER_CHUNK)), names)
    while some := list(islice(found, ROWS_PER_CHUNK)):
        yield _rows(some, names)


def _with_starts(found: Iterator[tuple[PrintedState, int, int]]) -> Iterator[tuple[PrintedState, int, int]]:
    """Tell when a transaction began where no column does: a consumer prints the rows of an id one behind the other."""
    starts = Starts()
    for number, (state, line, position) in enumerate(found):
        started_at, is_known = starts.of(number, state)
        if "started_at" not in state.known and is_known:
            state = replace(state, started_at=started_at, known=state.known | {"started_at"})
        yield state, line, position


def _rows(found: list[tuple[PrintedState, int, int]], names: Names) -> TextRows:
    rows, known = np.zeros(len(found), STATE), np.zeros(len(found), np.int64)
    kept = np.ones(len(found), bool)
    for number, (state, _, _) in enumerate(found):
        row = rows[number : number + 1]
        row["position"] = row["offset"] = row["leader_epoch"] = -1
        row["timestamp"] = state.asked_at
        kept[number] = put_state(row, state, names)
        known[number] = mask_of(STATE_COLUMNS, state.known - _OF_RECORDS)
    lines = np.array([line for _, line, _ in found], np.int64)
    positions = np.array([position for _, _, position in found], np.int64)
    return TextRows(STATE_COLUMNS, rows[kept], lines[kept], positions[kept], known[kept])


def _lacks_start(chunk: TextRows) -> Any:
    """Rows of a transaction whose start was not printed; without a transaction there is none."""
    return (chunk.rows["started_at"] < 0) & (chunk.rows["state"] != TransactionState.Empty)


def _batches(states: TextRows) -> TextRows:
    rows = np.full(len(states.rows), -1, BATCH.newbyteorder("="))
    rows["base_offset"] = rows["last_offset"] = states.rows["offset"]
    rows["max_timestamp"] = rows["base_timestamp"] = states.rows["timestamp"]
    rows["record_count"], rows["attributes"], rows["magic"], rows["crc"] = 1, 0, 2, 0
    return TextRows(BATCH_COLUMNS, rows, states.lines, states.positions, np.zeros(len(rows), np.int64))
