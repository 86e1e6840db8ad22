"""Builds the model of a capture: rows and spans joined, ends decided, logs laid beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kafkatx.histories.capture_model import CaptureFacts, CaptureModel, Index, Labels, LogExtent, StateLogExtent
from kafkatx.histories.coordinator import CoordinatorHistory
from kafkatx.histories.counted import Counted
from kafkatx.histories.data_endings import with_data_endings
from kafkatx.histories.endings import endings, testified
from kafkatx.histories.log_endings import log_endings
from kafkatx.histories.logs.build import build_log_model
from kafkatx.histories.logs.clocks import References
from kafkatx.histories.logs.corroboration import nobody
from kafkatx.histories.logs.ends import ends_of, name_codes
from kafkatx.histories.logs.witnesses import witnesses
from kafkatx.histories.partition_transactions import PartitionTransactions
from kafkatx.histories.skewed_clocks import is_one_clock, known_difference
from kafkatx.histories.transaction_ends import of_rows
from kafkatx.histories.transaction_ends import with_logs as with_log_ends
from kafkatx.histories.transaction_partitions import Status, TransactionPartitions, transaction_partitions
from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import (
    COUNTED,
    COUNTED_ALONE,
    HIDING_ENTRY,
    INITIALISATION,
    LATEST,
    LISTED,
    ODDITY,
    SEQUENCE_BREAK,
    SPAN,
    TRANSACTION,
)
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, OLD_CLEANUP_INTERVAL_MS
from kafkatx.text.events import LogFacts


def build(
    facts: CaptureFacts,
    labels: Labels,
    coordinators: list[CoordinatorHistory],
    partitions: list[PartitionTransactions],
    log_extents: dict[int, LogExtent],
    state_log_extents: dict[int, StateLogExtent],
    logs: LogFacts | None = None,
    log_zone_ms: int | None = None,
    join: Callable[[Array, Array], TransactionPartitions] | None = None,
) -> CaptureModel:
    """Join what the folds yielded, and what logs say, to the model of a capture.

    `log_zone_ms` is the zone of logs whose times name none, None to estimate it; `join` gives the participations of all
    transactions and spans where they were found partition by partition. Pure: the same tables give the same model.
    """
    transactions = _stacked(coordinators, "transactions", TRANSACTION)
    latest = np.sort(_latest(coordinators), order=["id_code", "timestamp"])
    spans = _stacked(partitions, "spans", SPAN)
    at_hand = np.zeros(len(labels.topic_partitions) + 1, bool)
    at_hand[[code for code in log_extents]] = True
    tolerance = 0 if facts.brokers <= 1 else BROKERS_TOLERANCE_MS
    if join is None:
        parts = transaction_partitions(transactions, spans, labels.partition_lists, at_hand, tolerance)
    else:
        parts = join(transactions, spans)
    raises = facts.release_known_to_raise_epoch or _epoch_was_raised_by_timeout(transactions)
    one_clock = facts.brokers <= 1 and is_one_clock(transactions, parts.rows, spans)
    apart = known_difference(transactions, parts.rows, spans)
    ended = endings(transactions, _data_epochs(len(transactions), spans, parts), raises, one_clock, apart)
    model = CaptureModel(
        facts, labels, transactions,
        _stacked(coordinators, "initialisations", INITIALISATION),
        _stacked(coordinators, "oddities", ODDITY),
        latest, spans, parts, of_rows(ended, nobody(len(transactions))), log_extents, state_log_extents,
        _index(transactions, partitions), sequence_breaks=_stacked(partitions, "breaks", SEQUENCE_BREAK),
        hiding_entries=_stacked(partitions, "hiding", HIDING_ENTRY),
        counted=Counted(
            _stacked(coordinators, "counted", COUNTED), _stacked(coordinators, "listed", LISTED),
            _stacked(partitions, "alone", COUNTED_ALONE),
        ),
    )  # fmt: skip
    return with_logs(model, logs or LogFacts(), log_zone_ms)


def with_logs(model: CaptureModel, logs: LogFacts, log_zone_ms: int | None = None) -> CaptureModel:
    """Lay logs beside a model of rows and data: clients, clocks, witnesses, and what those say of how things ended."""
    t, ids, ends = model.transactions, model.labels.transactional_ids, model.ends
    told = build_log_model(logs, References(model.initialisations, t, ids), log_zone_ms)
    ended, seen = ends.rows(), nobody(len(t))
    if len(told.events):
        seen = witnesses(told, ends_of(t, ended.data_epoch, name_codes(told, ids)))
        ended = testified(ended, seen, t["decision"] == PREPARE_ABORT)
    model = replace(model, logs=told, ends=of_rows(ended, seen))
    model = replace(model, ends=with_data_endings(model))
    return replace(model, ends=with_log_ends(model.ends, log_endings(model)))


def _latest(coordinators: list[CoordinatorHistory]) -> Array:
    """Latest rows of all state partitions; `transaction_row` counts in the table of all transactions from here on."""
    tables, before = [np.zeros(0, LATEST)], 0
    for history in coordinators:
        rows = history.latest.copy()
        rows["transaction_row"] += np.where(rows["transaction_row"] >= 0, before, 0)
        tables.append(rows)
        before += len(history.transactions)
    return np.concatenate(tables)


def _index(transactions: Array, partitions: list[PartitionTransactions]) -> Index:
    by_id = np.argsort(transactions["id_code"], kind="stable")
    ends = np.cumsum([len(part.spans) for part in partitions]).tolist()
    ranges = {
        int(part.spans["partition_code"][0]): (end - len(part.spans), end)
        for part, end in zip(partitions, ends, strict=True)
        if len(part.spans)
    }
    return Index(by_id, transactions["id_code"][by_id], ranges)


def _stacked(parts: Sequence[CoordinatorHistory | PartitionTransactions], name: str, dtype: np.dtype[np.void]) -> Array:
    """One table of the parts' tables `name`, which become views of it: millions of rows are not to be held twice."""
    if len(parts) == 1:
        only: Array = getattr(parts[0], name)
        return only
    whole = np.empty(sum(len(getattr(part, name)) for part in parts), dtype)
    end = 0
    for part in parts:
        begin, end = end, end + len(getattr(part, name))
        whole[begin:end] = getattr(part, name)
        setattr(part, name, whole[begin:end])
    return whole


def _data_epochs(count: int, spans: Array, parts: TransactionPartitions) -> Array:
    """Epoch of each transaction's data as the partitions show it, -1 where none is at hand."""
    epochs = np.full(count, -1, np.int32)
    known = (parts.rows["span"] >= 0) & (parts.rows["status"] != Status.UNDECIDED)
    epochs[parts.rows["transaction"][known]] = spans["producer_epoch"][parts.rows["span"][known]]
    return epochs


def _epoch_was_raised_by_timeout(t: Array) -> bool:
    """Whether this cluster's coordinator was seen to raise the epoch when a transaction ran out of time."""
    duration = t["decided_at"] - t["started_at"]
    over = (duration > t["timeout_ms"]) & (duration <= t["timeout_ms"].astype(np.int64) + 2 * OLD_CLEANUP_INTERVAL_MS)
    raised = (t["producer_epoch"] >= 0) & (t["decision_epoch"] == t["producer_epoch"] + 1) & (t["begin_version"] != 2)
    return bool((over & raised & (t["decision"] == 3)).any())
