"""Stream of the table of transactions, put together of the coordinator's rows and the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.sums import Sums, sums
from kafkatx.histories.timeline_events import outcome
from kafkatx.stages.models import JudgedCapture
from kafkatx.tables.columns import INT32, INT64, column_of, named, names, structs
from kafkatx.tables.transactions import transactions
from kafkatx.terms.verdicts import Verdict

ROWS = 16_384
"""Rows of one batch."""
ENDERS = tuple(None if by is EndedBy.open else by.name for by in EndedBy)
PROTOCOLS = tuple(None if protocol is Protocol.unknown else protocol.name for protocol in Protocol)
VERDICTS = tuple(verdict.name for verdict in Verdict)
STATES = 1 << 8
"""More than there are values of a coordinator's state."""


def transaction_table(models: Iterable[JudgedCapture]) -> Iterator[Any]:
    """Stream `transactions`, capture by capture."""
    for told in models:
        model, amounts = told.model, sums(told.model)
        common = {"capture": told.capture.name, "cluster_id": told.capture.cluster_id}
        for first in range(0, len(model.transactions), ROWS):
            rows = slice(first, min(first + ROWS, len(model.transactions)))
            yield transactions(model.transactions[rows], {**common, **_interpreted(model, amounts, rows)})


def _interpreted(model: CaptureModel, amounts: Sums, rows: slice) -> dict[str, Any]:
    """The columns that the coordinator's rows alone don't tell."""
    t, ended = model.transactions[rows], model.ends
    by = ended.ended_by[rows]
    return {
        "transactional_id": named(t["id_code"], model.transactional_id),
        "producer_epoch": ended.data_epoch[rows],
        "protocol": names(ended.protocol[rows], PROTOCOLS),
        "outcome": names(*_outcomes(t)),
        "ended_by": names(by, ENDERS),
        "verdict": names(np.where(by == EndedBy.open, -1, ended.verdict[rows]), VERDICTS),
        "partitions": _partitions(model, rows),
        "records": amounts.records[rows],
        "bytes": amounts.bytes[rows],
    }


def _outcomes(t: Any) -> tuple[Any, list[str]]:
    """Outcomes of transactions as codes, and the words for them: told once for each case that occurs."""
    cases = (t["decision"].astype(np.int64) * 2 + (t["completion_offset"] >= 0)) * STATES + t["next_state"]
    _, first, codes = np.unique(cases, return_index=True, return_inverse=True)
    return codes, [outcome(t[row]).value for row in first]


def _partitions(model: CaptureModel, rows: slice) -> Any:
    """The participations of some transactions as lists of structs."""
    parts, spans = model.parts.rows, model.spans
    bounds = np.searchsorted(parts["transaction"], np.arange(rows.start, rows.stop + 1))
    parts = parts[bounds[0] : bounds[-1]]
    with_data, with_marker = parts["span"] >= 0, parts["marker"] >= 0

    def of_data(name: str) -> Any:
        return column_of(np.where(with_data, _at(spans[name], parts["span"]), -1), INT64)

    pairs = model.labels.topic_partitions
    numbered = np.array([partition for _, partition in pairs] or [0], np.int64)
    return structs(
        np.diff(bounds),
        {
            "topic": named(parts["partition_code"], lambda code: pairs[code][0]),
            "partition": pa.array(numbered[parts["partition_code"]], INT32),
            "first_offset": of_data("first_offset"),
            "last_offset": of_data("last_offset"),
            "records": of_data("records"),
            "marker_offset": column_of(np.where(with_marker, _at(spans["marker_offset"], parts["marker"]), -1), INT64),
        },
    )


def _at(column: Any, rows: Any) -> Any:
    """Values of a column at some rows; anything where a row is negative."""
    return column[rows.clip(0)] if len(column) else np.full(len(rows), -1)
