"""What coordinators answered about a transaction that a partition has open: its id's state, or a refusal to end it."""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.rules.answers.places import place_of
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.transaction_states import PREPARED, TransactionState

UNSTICK = "kcl admin txn unstick-lso"
REFUSALS = frozenset(
    {
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)


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
