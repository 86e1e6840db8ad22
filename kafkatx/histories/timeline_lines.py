"""Lines of logs that belong into the timeline of a transactional.id.

Grain: events of logs. An event belongs to the id that its line names, else to that of the client that wrote it, else to
that of the producer id it names. Told are starts, what went wrong, aborts, refusals and lost connections; not told is
what a producer prints for every transaction (begin, commit, requests), and what a row at hand says better.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind as K
from kafkatx.terms.records import dataclass

TOLD = (
    K.client_started, K.init_called, K.init_bump, K.producer_id_set, K.to_abortable, K.to_fatal, K.abort_called,
    K.abort_on_close, K.client_closing, K.force_closed, K.produce_retry, K.produce_failed, K.batch_expired,
    K.batches_failed, K.sequence_reset, K.idempotent_bump, K.await_timeout, K.failure, K.fenced,
    K.concurrent_transactions, K.node_disconnected, K.connection_failed, K.request_timed_out, K.request_cancelled,
    K.initialized, K.init_refused, K.init_fenced, K.timeout_rollback, K.timeout_rollback_failed, K.bad_transition,
    K.marker_retry, K.marker_given_up, K.marker_skipped, K.stale_epoch, K.sequence_refused, K.unknown_producer,
    K.verification_failed, K.state_append_failed, K.end_refused, K.add_refused, K.coordinator_inconsistent,
    K.expiry_failed, K.not_coordinator,
)  # fmt: skip
"""Kinds that a timeline tells."""


@dataclass(frozen=True, slots=True)
class Logged:
    """Rows of model.logs.events with the code of the transactional.id that each belongs to, by id and time.

    Codes below the number of the model's ids are theirs, those above index `strangers`, ids that only logs name. `at`
    are times to order by: the printed ones, never earlier than a line before in the same source. `lines` counts lines
    that tell of the same failure, the first of which stands for all.
    """

    rows: Array
    codes: Array
    at: Array
    lines: Array
    strangers: list[str]


def logged(model: CaptureModel) -> Logged:
    """Choose the lines that timelines tell, and give each to an id."""
    logs, names = model.logs, _Names(model)
    owners = _owners(model, names)
    nothing_given = (logs.events["kind"] == K.producer_id_set) & (logs.events["producer_id"] < 0)
    chosen = np.isin(logs.events["kind"], TOLD) & (owners >= 0) & ~_is_said_by_row(model) & ~nothing_given
    lines = logs.events["repeats"].astype(np.int64) + 1
    _count_failures(model, chosen, lines)
    at = _running(logs.events["source"], logs.times)
    rows = np.flatnonzero(chosen & (at >= 0))
    order = np.lexsort((rows, at[rows], owners[rows]))
    return Logged(rows[order], owners[rows][order], at[rows][order], lines[rows][order], names.strangers)


class _Names:
    """The ids of the model, then those that only logs name."""

    def __init__(self, model: CaptureModel) -> None:
        strings, ids = model.logs.facts.strings, model.labels.transactional_ids
        codes = distinct(model.logs.events["transactional_id_code"]).tolist()
        named = {strings[code] for code in codes if code >= 0}
        named |= {client.transactional_id for client in model.logs.clients if client.transactional_id is not None}
        self.strangers = sorted(named - set(ids) - {""})
        self.codes = {name: code for code, name in enumerate([*ids, *self.strangers])}
        self.of_strings = np.array([*(self.codes.get(name, -1) for name in strings), -1], np.int64)


def _owners(model: CaptureModel, names: _Names) -> Array:
    """Code of the id that each event belongs to, -1 for none."""
    logs = model.logs
    owners = names.of_strings[logs.events["transactional_id_code"]]
    for client in logs.clients:
        rows = np.array(client.rows, np.int64)
        if not client.owns_producer_ids:
            owners[rows] = -1
        elif client.transactional_id is not None:
            owners[rows] = np.where(owners[rows] >= 0, owners[rows], names.codes[client.transactional_id])
    return _by_producer_id(model, names, owners)


def _by_producer_id(model: CaptureModel, names: _Names, owners: Array) -> Array:
    """Name events that tell a producer id only: by the brokers' grants, else by the rows."""
    logs, granted = model.logs, dict[int, int]()
    for row in logs.of_kind(K.initialized).tolist():
        granted[int(logs.events["producer_id"][row])] = int(owners[row])
    nameless = np.flatnonzero((owners < 0) & (logs.events["producer_id"] >= 0))
    for producer in distinct(logs.events["producer_id"][nameless]).tolist():
        owner = granted.get(producer, model.owner_of_producer(producer))
        owners[nameless[logs.events["producer_id"][nameless] == producer]] = owner
    return owners


def _is_said_by_row(model: CaptureModel) -> Array:
    """Brokers' grants of which the Empty row is at hand."""
    e, rows = model.logs.events, model.initialisations
    granted = rows["producer_id"].astype(np.int64) * 65_536 + rows["producer_epoch"]
    said: Array = (e["kind"] == K.initialized) & np.isin(e["producer_id"] * 65_536 + e["producer_epoch"], granted)
    return said


def _count_failures(model: CaptureModel, chosen: Array, lines: Array) -> None:
    """Let the first line of a failure stand for all, and count them."""
    for client in model.logs.clients:
        for failure in client.failures:
            rows = np.array(failure.rows, np.int64)
            lines[failure.row] = int(lines[rows].sum())
            chosen[rows[rows != failure.row]] = False


def _running(sources: Array, times: Array) -> Array:
    """Times that never go back within a source; a line without a time has that of the line before it."""
    if not len(times):
        return times
    span = int(times.max()) + 2
    base = sources.astype(np.int64) * span
    running: Array = np.maximum.accumulate(base + times + 1) - base - 1
    return running
