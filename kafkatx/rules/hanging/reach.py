"""Whether the evidence reaches far enough to say that nobody will end data, and what is missing where it does not."""

from __future__ import annotations

from kafkatx.findings.open_spans import OpenSpan
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.producers_clocks import by_coordinator
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import COMPLETE_COMMIT, ONGOING, PREPARE_ABORT
from kafkatx.terms.clocks import LATE_TRANSACTION_BUFFER_MS, MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.words.explanation import GapWords, Phrase, gap
from kafkatx.words.template import Text
from kafkatx.words.values import OffsetRange, facts

IN_FLIGHT_MS = 60_000
"""Twice request.timeout.ms: as long as the request that adds a partition may be on its way."""
COPIED_WITHIN_MS = 60_000
"""How long a copy of a running broker's files may take from one partition to the next."""
FEWEST_AT_WORK = 3
"""Transactions of who begins one after the other."""
ON_THE_WAY_MS = 1_000
"""How long records may wait in their client and on their way before they stand in the log."""


@facts
class OpenData:
    """Open data that could not be judged; `epoch` is the one whose rows are missing."""

    data: OffsetRange
    producer_id: int
    epoch: int | None = None


def may_be_cut_off(one: OpenSpan) -> bool:
    """Whether the marker may have stood behind the last line of a text: what it shows last are these data.

    A late write, older than its producer's marker before it, gets none.
    """
    is_last = int(one.span["last_offset"]) + 1 >= one.log_extent.log_end
    is_late = 0 <= one.span["first_timestamp"] < one.span["previous_marker_timestamp"]
    return is_last and not one.log_extent.is_end_told and not is_late


def is_in_progress(one: OpenSpan, latest: Array) -> bool:
    """Whether the id's latest row lists the partition in a transaction that has not ended."""
    lists, code = one.model.labels.partition_lists, int(latest["partitions_code"])
    listed = code >= 0 and one.log_extent.partition_code in lists[code]
    return bool(ONGOING <= latest["state"] <= PREPARE_ABORT and listed and latest["producer_id"] == one.producer_id)


def missing_rows(one: OpenSpan, latest: Array) -> tuple[Phrase[OpenData, GapWords], int | None] | None:
    """What rows are missing behind the id's latest one, by what its producer id left elsewhere; None: none."""
    model, log_extent = one.model, one.model.state_log_extents[int(latest["state_partition"])]
    of_producer = model.spans[model.spans["producer_id"] == one.producer_id]
    newest, marked = int(of_producer["coordinator_epoch"].max()), int(of_producer["marker_epoch"].max())
    if newest > log_extent.leader_epoch >= 0:
        return NO_NEWER_ROWS, newest
    if latest["producer_id"] == one.producer_id and marked > latest["producer_epoch"]:
        return NO_ROW_OF_MARKER, marked
    if latest["state"] == ONGOING and model.age_ms(_time(one, "first_timestamp")) < IN_FLIGHT_MS:
        return ON_ITS_WAY, None
    return None


def reaches(one: OpenSpan) -> bool:
    """Whether rows are at hand that are younger than the data: the coordinator's log knows nothing of them then."""
    model, latest = one.model, one.latest
    if latest is None:
        return _rows_reach(model, _stood_by(one))
    began = int(one.span["first_timestamp"])
    is_whole = model.is_latest_known(latest) and model.is_whole_since(int(latest["state_partition"]), began)
    return is_whole and (_own_rows_reach(one, latest) or _completed_before(one, latest))


def _own_rows_reach(one: OpenSpan, latest: Array) -> bool:
    return one.model.state_log_extents[int(latest["state_partition"])].newest >= _stood_by(one)


def _completed_before(one: OpenSpan, latest: Array) -> bool:
    """Whether the id's last transaction is complete and can't get the data any more.

    Data behind the marker of a completed transaction belong to nobody by their place alone; there another partition of
    `__transaction_state` may show that the copy is young enough, if there is only one copy. Of a producer at work its
    next transaction is as likely: that one must be younger by more than it takes to copy a running broker's files.
    """
    if latest["state"] < COMPLETE_COMMIT:
        return False
    of_id, counted = int(latest["id_code"]), one.model.counted
    is_at_work = len(one.model.transactions_of(of_id)) + counted.of_id(of_id) >= FEWEST_AT_WORK
    is_behind = one.span["previous_marker_offset"] >= 0 and one.model.facts.brokers <= 1
    stood_by = _stood_by(one) + (COPIED_WITHIN_MS if is_at_work else 0)
    return _sent_before_the_decision(one, latest) or bool(is_behind and _rows_reach(one.model, stood_by))


def _rows_reach(model: CaptureModel, time: int) -> bool:
    """Whether some partition of `__transaction_state` has a row from then; of several copies all of them."""
    ends = [log_extent.newest for log_extent in model.state_log_extents.values() if log_extent.newest >= 0]
    return bool(ends) and (max(ends) if model.facts.brokers <= 1 else min(ends)) >= time


def _sent_before_the_decision(one: OpenSpan, latest: Array) -> bool:
    """Whether the data are older than the decision of the id's last transaction: what comes next is sent after it."""
    rows = one.model.transactions_of(int(latest["id_code"]))
    decided = int(one.model.transactions["decided_at"][rows].max()) if len(rows) else -1
    return bool(latest["producer_id"] == one.producer_id and _time(one, "last_timestamp") < decided)


def _stood_by(one: OpenSpan) -> int:
    """Time by which the data were in the log; their own is from before the coordinator heard of them."""
    others = one.model.spans[one.model.spans_of(one.log_extent.partition_code)]
    behind = others["marker_timestamp"][others["marker_offset"] > one.span["last_offset"]]
    sent = _time(one, "last_timestamp") + (0 if one.log_extent.topic == CONSUMER_OFFSETS else ON_THE_WAY_MS)
    return min(sent, int(behind.min())) if len(behind) else sent


def _time(one: OpenSpan, name: str) -> int:
    """A time of the data by the clock of the coordinator."""
    return by_coordinator(one.model, one.producer_id, int(one.span[name]))


def is_beyond_timeouts(one: OpenSpan, latest: Array) -> bool:
    """Whether no timeout can still be running, as far as the id's own partition of `__transaction_state` reaches."""
    model = one.model
    reached = min(model.facts.evidence_end, model.state_log_extents[int(latest["state_partition"])].newest)
    return reached - _time(one, "last_timestamp") > longest_ms(latest)


def longest_ms(latest: Array | None) -> int:
    """How long after its last write a transaction may still be ended by the coordinator."""
    timeout = int(latest["timeout_ms"]) if latest is not None else 0
    return max(timeout, MAX_TRANSACTION_TIMEOUT_MS) + LATE_TRANSACTION_BUFFER_MS


def _gap(missing: Text) -> Phrase[OpenData, GapWords]:
    return Phrase(OpenData, gap("{data}, producer id {producer_id}", missing))


NO_ROWS = _gap("__transaction_state: whether the coordinator knows the transaction")
DISPUTED = _gap("evidence of which of two transactions wrote these records")
NOT_WHOLE = _gap("the whole log of the partition: offsets are missing, and a marker may be among them")
ENDS_EARLY = _gap("a later copy of this partition: it ends before the abort was complete, a marker may be behind")
CUT_OFF = _gap("what follows in the log: this text ends with these records, and a marker may be cut off")
NO_PARTITION = _gap("the partition of __transaction_state that knows this producer id")
NOT_REACHED = _gap("a copy of __transaction_state from beyond the time of these records")
NO_NEWER_ROWS = _gap("records of __transaction_state of coordinator epoch {epoch}, which wrote markers of this id")
NO_ROW_OF_MARKER = _gap("records of __transaction_state from after the marker of epoch {epoch}")
ON_ITS_WAY = _gap("evidence from a minute later: the partition may still be added to the open transaction")
