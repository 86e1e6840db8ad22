"""What became of a transaction whose client doesn't know: by the coordinator's rows, else by markers in the data.

Grain: one transactional.id and one call of commitTransaction or abortTransaction. The transaction meant is the first
one of the id that was not over when the call was made; if every one was, the call's own transaction was never begun at
the coordinator: no partition of it was added, no record of it can be in any log.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd, known
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.evidence_refs import begin_row, completion_row, data_of, decision_row, latest_row, marker_ref
from kafkatx.words.explanation import StepWords, step
from kafkatx.words.facts import instant
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import Text, pick
from kafkatx.words.values import Instant, Refs


class TransactionFate(Enum):
    """What became of a transaction."""

    committed = auto()
    committing = auto()
    aborted_by_timeout = auto()
    aborted_by_new_instance = auto()
    aborted_by_client = auto()
    aborted = auto()
    aborting = auto()
    divided = auto()
    open = auto()
    never_begun = auto()
    unknown = auto()

    @property
    def is_resolved(self) -> bool:
        """Whether commit or not is known for good."""
        return self not in (TransactionFate.open, TransactionFate.unknown)

    @property
    def is_commit(self) -> bool:
        """Whether its data are, or will be, visible to read_committed readers."""
        return self in (TransactionFate.committed, TransactionFate.committing)


class Grounds(Enum):
    """What decides a fate, or keeps it unknown."""

    no_times = auto()
    nothing_at_hand = auto()
    rows_lost = auto()
    rows_end_early = auto()
    still_ongoing = auto()
    decision = auto()
    all_were_over = auto()
    no_row = auto()
    markers = auto()
    own_markers = auto()
    rollback = auto()


@dataclass(frozen=True, slots=True)
class Resolved:
    """A fate, what decides it and the places that show it.

    `decided_at` is when the transaction was decided that rows tell of; of a fate `never_begun` the one before.
    `completed_at` is when the row was written that its markers are there, `readable_at` when the last of them was, of a
    commit that readers got late. `seen_until` is how far the evidence reaches of one that is open. `has_offsets` says
    whether a consumer's offsets were a part of it (None: not known).
    """

    fate: TransactionFate
    grounds: Grounds
    places: Refs = ()
    decided_at: Instant | None = None
    completed_at: Instant | None = None
    readable_at: Instant | None = None
    seen_until: Instant | None = None
    has_offsets: bool | None = None

    @property
    def is_known(self) -> bool:
        """Whether anything tells."""
        return self.fate is not TransactionFate.unknown

    @property
    def is_taken_over(self) -> bool:
        """Whether a new instance has the id."""
        return self.fate is TransactionFate.aborted_by_new_instance

    @property
    def is_aborted(self) -> bool:
        """Whether it is known that its records were not committed."""
        return self.fate.is_resolved and not self.fate.is_commit and self.fate is not TransactionFate.divided


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ended or decided a transaction: when it was made and when it was given up, by the brokers' zone.

    `producer_id` is the one that its client had (None: unknown).
    """

    client: ClientInstance | None
    producer_id: int | None
    called_at: int | None
    gave_up_at: int | None


ABORTS = {
    EndedBy.timeout: TransactionFate.aborted_by_timeout,
    EndedBy.new_instance: TransactionFate.aborted_by_new_instance,
    EndedBy.client: TransactionFate.aborted_by_client,
}


NOTICED_MS = 1_000
"""From a decision to its last marker: what takes longer is worth a word, since readers waited for it."""
BY_OTHERS = (TransactionFate.aborted_by_timeout, TransactionFate.aborted_by_new_instance)


def fate_of(model: CaptureModel, call: Call) -> Resolved:
    """Resolve a call by rows where there are rows of its id, else by markers of its producer id."""
    if call.called_at is None or call.gave_up_at is None:
        return Resolved(TransactionFate.unknown, Grounds.no_times)
    by_rows = _by_rows(model, call)
    if by_rows is not None and by_rows.fate is not TransactionFate.unknown:
        return by_rows
    by_markers = _by_markers(model, call)
    return (
        by_markers or _by_rollback(model, call) or by_rows or Resolved(TransactionFate.unknown, Grounds.nothing_at_hand)
    )


def taken_from(model: CaptureModel, client: ClientInstance, producer: tuple[int | None, int | None]) -> Resolved | None:
    """The transaction of a client's producer id and epoch that its timeout or a new instance aborted: its last one.

    Under transactions v2 each end raises the epoch that the client was given: then the instance tells whose it was.
    """
    code = model.id_code(client.transactional_id)
    for row in reversed(model.transactions_of(code).tolist() if code >= 0 else []):
        transaction = model.transactions[row]
        end = TransactionEnd(model, row)
        given = (int(transaction["producer_id"]), int(transaction["producer_epoch"]))
        if given == producer or (end.client is not None and end.client.number == client.number):
            is_sure = end.verdict is Verdict.proved
            resolved = replace(_of_transaction(model, row), has_offsets=_has_offsets(model, row))
            return resolved if is_sure and resolved.fate in BY_OTHERS else None
    return None


def _has_offsets(model: CaptureModel, row: int) -> bool | None:
    """Whether offsets of a consumer were a part of a transaction, as far as its row lists its partitions."""
    codes = model.parts.of(row)["partition_code"].tolist()
    return any(model.topic_partition(code)[0] == CONSUMER_OFFSETS for code in codes) if codes else None


def _by_rows(model: CaptureModel, call: Call) -> Resolved | None:
    code = model.id_code(call.client.transactional_id if call.client is not None else None)
    if code < 0:
        return None
    rows = [row for row in model.transactions_of(code).tolist() if _is_clients(model.transactions[row], call)]
    over = [row for row in rows if _was_over(model, model.transactions[row], call)]
    past = set(over)
    later = [row for row in rows if row not in past]
    if later and _began_in_time(model, later[0], call):
        return _of_transaction(model, later[0])
    return _never_begun(model, call, code, over)


def _is_clients(transaction: Array, call: Call) -> bool:
    return call.producer_id is None or int(transaction["producer_id"]) == call.producer_id


def _was_over(model: CaptureModel, transaction: Array, call: Call) -> bool:
    """Whether a transaction had been decided before the call was made, as well as the two clocks tell."""
    decided = int(max(transaction["decided_at"], transaction["decision_timestamp"]))
    return 0 <= decided < _brokers_time(model, call, call.called_at or 0)


def _began_in_time(model: CaptureModel, row: int, call: Call) -> bool:
    """Whether a transaction is the call's own: begun before it was given up, or with data from before."""
    limit = (call.gave_up_at or 0) + CLIENT_TOLERANCE_MS
    if 0 <= int(model.transactions["started_at"][row]) <= limit:
        return True
    written = [int(span["first_timestamp"]) for span in data_of(model, row)]
    return any(0 <= at <= (call.gave_up_at or 0) for at in written)


def _of_transaction(model: CaptureModel, row: int) -> Resolved:
    end = TransactionEnd(model, row)
    transaction = end.row
    places = (*begin_row(transaction), *decision_row(transaction), *completion_row(transaction))
    if transaction["decision"] < 0:
        latest = model.latest_of(int(transaction["id_code"]))
        if latest is None or not model.is_latest_known(latest):
            return Resolved(TransactionFate.unknown, Grounds.rows_lost, places)
        until = instant(model.facts.evidence_end)
        return Resolved(TransactionFate.open, Grounds.still_ongoing, places, seen_until=until)
    decided_at = instant(transaction["decided_at"])
    if (otherwise := _against_decision(end, decided_at)) is not None:
        return otherwise
    completed_at = instant(known(transaction["completion_timestamp"]))
    committed = {int(marker["marker_timestamp"]): marker for marker in end.markers if marker["marker_kind"] == COMMIT}
    last = max(committed, default=-1)
    took = min(last, completed_at or 0) - (decided_at or last)
    if last < 0 or took < NOTICED_MS:
        return Resolved(_decided(end), Grounds.decision, places, decided_at, completed_at)
    places = (*places, marker_ref(model, committed[last]))
    return Resolved(_decided(end), Grounds.decision, places, decided_at, completed_at, Instant(last))


def _against_decision(end: TransactionEnd, decided_at: Instant | None) -> Resolved | None:
    """What markers made of data that they ended otherwise than the coordinator decided behind them, None of others."""
    ended = [span for span in end.data if span["marker_offset"] >= 0]
    kinds = {int(span["marker_kind"]) for span in ended}
    decided = COMMIT if end.row["decision"] == PREPARE_COMMIT else ABORT
    if not kinds or not kinds <= {ABORT, COMMIT} or kinds == {decided}:
        return None
    places = tuple(marker_ref(end.model, span) for span in ended[:4])
    fates = {frozenset({COMMIT}): TransactionFate.committed, frozenset({ABORT}): TransactionFate.aborted}
    is_all = len(ended) == len(end.data)
    fate = fates.get(frozenset(kinds), TransactionFate.divided) if is_all else TransactionFate.divided
    return Resolved(fate, Grounds.own_markers, places, decided_at)


def _decided(end: TransactionEnd) -> TransactionFate:
    is_complete = bool(end.row["completion_offset"] >= 0)
    if end.row["decision"] != PREPARE_ABORT:
        return TransactionFate.committed if is_complete else TransactionFate.committing
    return ABORTS.get(end.ended_by, TransactionFate.aborted) if is_complete else TransactionFate.aborting


def _never_begun(model: CaptureModel, call: Call, code: int, over: list[int]) -> Resolved:
    """No transaction of the id was open at the time of the call; it counts where the rows reach beyond the call."""
    latest = model.latest_of(code)
    places = (latest_row(latest),) if latest is not None and int(latest["state"]) >= 0 else ()
    if latest is None or not _rows_reach(model, call, latest):
        return Resolved(TransactionFate.unknown, Grounds.rows_end_early, places)
    if not over:
        return Resolved(TransactionFate.never_begun, Grounds.no_row, places)
    ended = model.transactions[over[-1]]
    shown = (*decision_row(ended), *completion_row(ended))
    decided_at = instant(ended["decided_at"])
    return Resolved(TransactionFate.never_begun, Grounds.all_were_over, shown or places, decided_at)


def _rows_reach(model: CaptureModel, call: Call, latest: Array) -> bool:
    """Whether the id's partition of __transaction_state is known to beyond the time at which the call was given up."""
    partition = int(latest["state_partition"])
    log_extent = model.state_log_extents[partition]
    known_until = max(log_extent.newest, model.facts.evidence_end)
    return (
        model.is_latest_known(latest)
        and known_until >= _brokers_time(model, call, call.gave_up_at or 0)
        and model.is_whole_since(partition, call.called_at or 0)
    )


def _by_markers(model: CaptureModel, call: Call) -> Resolved | None:
    """The markers of the client's producer id that follow the call, where they agree; epochs need not be known."""
    spans = model.spans
    if not len(spans) or call.producer_id is None:
        return None
    called = _brokers_time(model, call, call.called_at or 0)
    limit = (call.gave_up_at or 0) + CLIENT_TOLERANCE_MS
    mine = (spans["producer_id"] == call.producer_id) & (spans["first_offset"] >= 0)
    mine &= (
        (spans["first_timestamp"] >= 0) & (spans["first_timestamp"] <= limit) & (spans["marker_timestamp"] >= called)
    )
    found = np.flatnonzero(mine & (spans["marker_offset"] >= 0))
    kinds = set(spans["marker_kind"][found].tolist())
    if kinds not in ({ABORT}, {COMMIT}):
        return None
    fate = TransactionFate.committed if kinds == {COMMIT} else TransactionFate.aborted
    places = tuple(marker_ref(model, spans[number]) for number in found[:4].tolist())
    return Resolved(fate, Grounds.markers, places)


def _by_rollback(model: CaptureModel, call: Call) -> Resolved | None:
    """The coordinator's line about a timeout while the call waited: it was still open then, and is aborted.

    A call of nobody's name is that of the only id that is named at all, in the same text.
    """
    logs, name = model.logs, call.client.transactional_id if call.client is not None else None
    rows = logs.of_kind(EventKind.timeout_rollback).tolist()
    if name is None and rows and len(set(logs.events["transactional_id_code"].tolist()) - {-1}) > 1:
        return None
    since, until = (_brokers_time(model, call, at or 0) for at in (call.called_at, call.gave_up_at))
    for row in rows:
        is_its = logs.transactional_id(row) == name if name is not None else _shares_page(model, call, row)
        if is_its and since <= logs.times[row] <= until:
            fate, at = TransactionFate.aborted_by_timeout, instant(int(logs.times[row]))
            return Resolved(fate, Grounds.rollback, event_refs(model, [row]), at)
    return None


def _shares_page(model: CaptureModel, call: Call, row: int) -> bool:
    """Whether the line of a coordinator stands in the text in which the call is told of."""
    logs = model.logs
    return call.client is not None and logs.facts.sources[call.client.source].path == logs.path(row)


def _brokers_time(model: CaptureModel, call: Call, at: int) -> int:
    """A time of a client's log by the brokers' clock, where shared events tell how far the two are apart."""
    clocks, source = model.logs.clocks, call.client.source if call.client is not None else -1
    return clocks[source].to_brokers(at) if 0 <= source < len(clocks) else at


FATES = {
    TransactionFate.committed: "the transaction was committed",
    TransactionFate.committing: "its commit is decided, some of the markers are not written yet",
    TransactionFate.aborted_by_timeout: "the coordinator aborted the transaction at its timeout",
    TransactionFate.aborted_by_new_instance: "a new instance took the id over, which aborted the transaction",
    TransactionFate.aborted_by_client: "the client aborted the transaction itself",
    TransactionFate.aborted: "the transaction was aborted",
    TransactionFate.aborting: "its abort is decided, some of the markers are not written yet",
    TransactionFate.divided: "a part of the transaction's records was committed, another part was not",
    TransactionFate.open: "the transaction was still open at the end of the evidence",
    TransactionFate.never_begun: "the coordinator had no such transaction, and no log holds a record of it",
    TransactionFate.unknown: "this evidence does not show whether the transaction was committed",
}
SEEN_UNTIL = pick("resolved.seen_until", {None: ""}, " ({resolved.seen_until})")
READABLE = "[, and readers got it from {resolved.readable_at} on]"
FATE = (pick("resolved.fate", FATES), SEEN_UNTIL, READABLE)
"""What became of it within a sentence, of facts that have it as `resolved`."""
FATE_ALONE = (
    pick("resolved.fate", {fate: text[0].upper() + text[1:] for fate, text in FATES.items()}),
    SEEN_UNTIL,
    READABLE,
)
"""The same as a sentence of its own."""
UNKNOWN = FATES[TransactionFate.unknown].capitalize()
_SHOWN = step(
    FATE_ALONE,
    pick(
        "resolved.grounds",
        {
            Grounds.still_ongoing: "the latest record of its id is Ongoing",
            Grounds.decision: pick(
                "resolved.fate",
                {
                    TransactionFate.committed: "PrepareCommit[ of {resolved.decided_at}], "
                    "CompleteCommit[ of {resolved.completed_at}]",
                    TransactionFate.committing: "PrepareCommit[ of {resolved.decided_at}] without CompleteCommit",
                    TransactionFate.aborting: "PrepareAbort[ of {resolved.decided_at}] without CompleteAbort",
                },
                "PrepareAbort[ of {resolved.decided_at}], CompleteAbort[ of {resolved.completed_at}]",
            ),
            Grounds.all_were_over: "the latest transaction of its id was decided before the call[, at "
            "{resolved.decided_at}]",
            Grounds.rollback: "the coordinator's log names the timeout, while the call waited",
            Grounds.no_row: "its id has no record of that time in __transaction_state",
            Grounds.markers: "the first markers of its producer id after the call",
            Grounds.own_markers: "the markers that ended its records[; the coordinator decided otherwise at "
            "{resolved.decided_at}]",
        },
    ),
    cites="resolved.places",
    needs="resolved.is_known",
)
_MISSING = pick(
    "resolved.grounds",
    {
        Grounds.no_times: ": the client's log has no times",
        Grounds.nothing_at_hand: ": no record of its id and no marker was given",
        Grounds.rows_lost: ": records of its id after Ongoing may be lost",
        Grounds.rows_end_early: ": the records of its id end before the client stopped waiting",
    },
)


def outcome(unknown: Text) -> tuple[StepWords, StepWords]:
    """The step that says what became of it, with what shows it or is missing; `unknown`: what no fate is told by."""
    return _SHOWN, step((unknown, _MISSING), cites="resolved.places", needs="resolved", unless="resolved.is_known")


OUTCOME = outcome(UNKNOWN)
