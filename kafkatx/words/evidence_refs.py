"""Places and phrases that several rules use, so that they say the same thing the same way."""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import BEFORE_LOG
from kafkatx.kernels.transactions import EMPTY
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import state_name
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.plurals import plural
from kafkatx.words.values import NO_ID


def time_or_none(time: int) -> int | None:
    """None for an absent (negative) time."""
    return time if time >= 0 else None


def state_row(partition: int, offset: int, at: int, state: int, producer_id: int, epoch: int) -> EvidenceRef:
    """A row of the coordinator's log."""
    who = f"producer id {producer_id}" if producer_id >= 0 else NO_ID
    return EvidenceRef(
        TRANSACTION_STATE,
        partition,
        offset,
        time_or_none(at),
        f"{state_name(state)}, {who}{f', epoch {epoch}' if epoch >= 0 else ''}",
    )


def begin_row(transaction: Array) -> list[EvidenceRef]:
    """The first Ongoing row of a transaction, if it was seen."""
    if transaction["begin_offset"] < 0:
        return []
    at = int(transaction["begin_timestamp"])
    return [
        _row(transaction, "begin_offset", at, 1, int(transaction["producer_id"]), int(transaction["producer_epoch"]))
    ]


def decision_row(transaction: Array) -> list[EvidenceRef]:
    """The Prepare* row of a transaction, if it was seen."""
    if transaction["decision_offset"] < 0:
        return []
    at = int(transaction["decision_timestamp"])
    return [
        _row(
            transaction,
            "decision_offset",
            at,
            int(transaction["decision"]),
            int(transaction["producer_id"]),
            int(transaction["decision_epoch"]),
        )
    ]


def completion_row(transaction: Array) -> list[EvidenceRef]:
    """The Complete* row of a transaction, if it was seen."""
    if transaction["completion_offset"] < 0:
        return []
    at, state = int(transaction["completion_timestamp"]), int(transaction["decision"]) + 2
    return [
        _row(
            transaction,
            "completion_offset",
            at,
            state,
            int(transaction["completed_producer_id"]),
            int(transaction["completion_epoch"]),
        )
    ]


def next_row(transaction: Array) -> list[EvidenceRef]:
    """The row of the id behind a transaction, if there is one."""
    if transaction["next_offset"] < 0 or transaction["next_state"] < 0:
        return []
    at = int(transaction["next_timestamp"])
    return [
        _row(
            transaction,
            "next_offset",
            at,
            int(transaction["next_state"]),
            int(transaction["next_producer_id"]),
            int(transaction["next_epoch"]),
        )
    ]


def _row(transaction: Array, name: str, at: int, state: int, producer_id: int, epoch: int) -> EvidenceRef:
    return state_row(int(transaction["state_partition"]), int(transaction[name]), at, state, producer_id, epoch)


def latest_row(row: Array) -> EvidenceRef:
    """The latest row of an id."""
    return state_row(
        int(row["state_partition"]),
        int(row["offset"]),
        int(row["timestamp"]),
        int(row["state"]),
        int(row["producer_id"]),
        int(row["producer_epoch"]),
    )


def row_before(row: Array) -> EvidenceRef:
    """The row of the id before an initialisation or a tombstone."""
    return state_row(
        int(row["state_partition"]),
        int(row["previous_offset"]),
        int(row["previous_timestamp"]),
        int(row["previous_state"]),
        int(row["previous_producer_id"]),
        int(row["previous_epoch"]),
    )


def initialised_row(row: Array) -> EvidenceRef:
    """The row of an initialisation."""
    partition, offset, at = int(row["state_partition"]), int(row["offset"]), int(row["timestamp"])
    return state_row(partition, offset, at, EMPTY, int(row["producer_id"]), int(row["producer_epoch"]))


def data_ref(model: CaptureModel, span: Array) -> EvidenceRef:
    """A batch of a span: its first; of one that began below the log start the last, or where it began by a snapshot."""
    topic, partition = model.topic_partition(int(span["partition_code"]))
    offset = int(span["last_offset"] if span["flags"] & BEFORE_LOG else span["first_offset"])
    if span["batches"] == 0:
        who = f"producer id {int(span['producer_id'])} epoch {int(span['producer_epoch'])}"
        return EvidenceRef(
            topic, partition, offset, None, f"{who} had a transaction open since offset {offset} (producer snapshot)"
        )
    count, who = int(span["records"]), f"producer id {int(span['producer_id'])} epoch {int(span['producer_epoch'])}"
    text = f"{plural(count, 'record')} of {who}" + (f" ({offsets(span)})" if count > 1 else "")
    return EvidenceRef(topic, partition, offset, time_or_none(int(span["first_timestamp"])), text)


def marker_ref(model: CaptureModel, span: Array) -> EvidenceRef:
    """The marker that ended a span."""
    topic, partition = model.topic_partition(int(span["partition_code"]))
    kind = ("ABORT", "COMMIT", "emptied")[int(span["marker_kind"])]
    epoch, coordinator_epoch = int(span["marker_epoch"]), int(span["coordinator_epoch"])
    text = f"{kind} marker, producer id {int(span['producer_id'])}"
    text += (f", epoch {epoch}" if epoch >= 0 else "") + f" (coordinator epoch {coordinator_epoch})"
    return EvidenceRef(topic, partition, int(span["marker_offset"]), time_or_none(int(span["marker_timestamp"])), text)


def offsets(span: Array) -> str:
    """`118..121`, or `118`."""
    first, last = int(span["first_offset"]), int(span["last_offset"])
    return str(first) if first == last else f"{first}..{last}"


def parts_of(model: CaptureModel, transaction: int) -> Array:
    """Participations of a transaction."""
    return model.parts.of(transaction)


def data_of(model: CaptureModel, transaction: int) -> list[Array]:
    """Spans that hold a transaction's data."""
    return [model.spans[int(part["span"])] for part in parts_of(model, transaction) if part["span"] >= 0]
