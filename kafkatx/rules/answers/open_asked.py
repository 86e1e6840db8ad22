"""What brokers answered about data of a partition that has no marker: its leader and its coordinator.

Leader       that the transaction is open. `describe-producers` doesn't print which partition it was asked of; where its
             question is not at hand, the producer id and the first offset of the transaction say which data it means.
Coordinator  the state of the id that has the producer id, or a refusal to end it.
"""

from __future__ import annotations

from kafkatx.findings.client_lines import place_of
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.transaction_states import PREPARED, TransactionState

LIVE = "describe-producers"
"""Answers of a running leader; a producer snapshot tells of an earlier time."""
UNSTICK = "kcl admin txn unstick-lso"
REFUSALS = frozenset(
    {
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)


def told_open(one: OpenSpan) -> list[int]:
    """Rows of the leader's answers that have the transaction of some data open, from its first offset on."""
    logs, data = one.model.logs, one.data
    return [
        row
        for row in told_of(one.model, data.topic, data.partition)
        if (logs.number(row, "producer_id"), logs.number(row, "offset")) == (one.producer_id, data.first_offset)
    ]


def told_of(model: CaptureModel, topic: str, partition: int) -> list[int]:
    """Rows of the open transactions that a partition's leader told, and of those told of no partition by name."""
    found = []
    for row in model.logs.of_kind(EventKind.transaction_open).tolist():
        place = place_of(model.logs, row)
        is_of_it = (place.topic, place.partition) == (topic, partition) or place.partition < 0
        if is_of_it and model.logs.string(row, "detail") == LIVE:
            found.append(row)
    return found


def coordinators_row(model: CaptureModel, row: int) -> Array | None:
    """What a tool told of the id that has the producer id of an open transaction; None where no tool did."""
    producer_id = model.logs.number(row, "producer_id")
    found = model.latest[model.latest["producer_id"] == (-1 if producer_id is None else producer_id)]
    told = [latest for latest in found if latest["updated_at"] < 0]
    return told[0] if len(told) == 1 else None


def has_ended(model: CaptureModel, row: int, latest: Array) -> bool:
    """Whether the coordinator has nothing open in that partition: it told no transaction, or one without it."""
    state = int(latest["state"])
    if state in PREPARED:
        return False
    if state != TransactionState.Ongoing:
        return True
    place = place_of(model.logs, row)
    code = int(latest["partitions_code"])
    listed = model.labels.partition_lists[code] if code >= 0 else ()
    places = {model.topic_partition(member) for member in listed}
    return bool(places) and (place.topic, place.partition) not in places


def refusals_of(logs: LogModel, row: int) -> list[int]:
    """What kcl was answered when it tried to end the transaction."""
    if logs.string(row, "detail") != UNSTICK:
        return []
    failed = logs.of_kind(EventKind.failure, EventKind.end_refused, EventKind.add_refused, EventKind.fenced).tolist()
    return [one for one in failed if logs.error(one) in REFUSALS and logs.path(one) == logs.path(row)]
