"""States of transactional.ids that a consumer or the admin tool printed, as rows of the coordinator's log.

Such a text has neither offsets nor times of records: a row's offset is its number in the text, its time that of the
state's last update. Rows of one id stand in their order, whatever partition they come from; nothing is known of what
was not printed. A row of `kafka-transactions.sh describe` is the last one of its id: it was asked for "now".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.rows import BATCH, NOT_PRINTED, STATE
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.rows import BATCH_COLUMNS, STATE_COLUMNS, TextRows, mask_of
from kafkatx.text.dump.states import PrintedState, put_state
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.tools.admin import DescribedTransaction, admin_rows
from kafkatx.text.tools.console import state_rows

DESCRIBED = frozenset({"transactional_id", "id_code", "producer_id", "producer_epoch", "state", "timeout_ms"})


def told_states(file: OpenFile, part: TextPart, names: Names) -> Iterator[tuple[TextRows, TextRows]]:
    """Yield rows in chunks: what stands for their batches (dtype BATCH), and the states (dtype STATE)."""
    described = part.kind is PartKind.ADMIN_TRANSACTIONS
    number = 0
    for chunk in [_described(file, part, names)] if described else state_rows(file, part, names):
        rows = chunk.rows
        rows["offset"] = np.arange(number, number + len(rows))
        rows["timestamp"] = rows["updated_at"]
        rows["started_at"] = np.where(_lacks_start(chunk), NOT_PRINTED, rows["started_at"])
        number += len(rows)
        yield _batches(chunk), chunk


def _lacks_start(chunk: TextRows) -> Any:
    """Rows of a transaction whose start was not printed; without a transaction there is none."""
    return (chunk.rows["started_at"] < 0) & (chunk.rows["state"] != TransactionState.Empty)


def _batches(states: TextRows) -> TextRows:
    rows = np.full(len(states.rows), -1, BATCH.newbyteorder("="))
    rows["base_offset"] = rows["last_offset"] = states.rows["offset"]
    rows["max_timestamp"] = rows["base_timestamp"] = states.rows["timestamp"]
    rows["record_count"], rows["attributes"], rows["magic"], rows["crc"] = 1, 0, 2, 0
    return TextRows(BATCH_COLUMNS, rows, states.lines, states.positions, np.zeros(len(rows), np.int64))


def _described(file: OpenFile, part: TextPart, names: Names) -> TextRows:
    """Rows of `describe`."""
    told = [row for row in admin_rows(file, part) if isinstance(row, DescribedTransaction)]
    rows = np.zeros(len(told), STATE)
    kept = np.ones(len(told), bool)
    for number, one in enumerate(told):
        row = rows[number : number + 1]
        row["position"] = row["leader_epoch"] = -1
        kept[number] = put_state(row, _state(one), names)
    known = np.full(len(told), mask_of(STATE_COLUMNS, DESCRIBED), np.int64)
    lines = np.array([row.line for row in told], np.int64)
    positions = np.array([row.position for row in told], np.int64)
    return TextRows(STATE_COLUMNS, rows[kept], lines[kept], positions[kept], known[kept])


def _state(told: DescribedTransaction) -> PrintedState:
    state = TransactionState.__members__.get(told.state)
    return PrintedState(
        told.transactional_id,
        DESCRIBED,
        producer_id=told.producer_id,
        producer_epoch=told.producer_epoch,
        state=-1 if state is None else int(state),
        partitions=told.partitions,
        timeout_ms=told.timeout_ms,
        started_at=told.started_at if told.started_at is not None else -1,
    )
