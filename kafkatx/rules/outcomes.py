"""What became of a transaction whose client doesn't know: by the coordinator's rows, else by markers in the data.

Grain: one transactional.id and one call of commitTransaction or abortTransaction. The transaction meant is the first
one of the id that was not over when the call was made; if every one was, the call's own transaction was never begun at
the coordinator: no partition of it was added, no record of it can be in any log.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.story import LogStory
from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.times import clock
from kafkatx.words.explained import Place
from kafkatx.words.places import begin_row, completion_row, data_of, decision_row, latest_row, marker_place

ABORT, COMMIT = 0, 1
"""Values of `marker_kind`."""


class Outcome(StrEnum):
    """What became of a transaction; the values are words for a reader."""

    committed = "it was committed"
    committing = "it is decided: commit, though not all markers are written"
    aborted_by_timeout = "the coordinator aborted it when its timeout had passed"
    aborted_by_new_instance = "a new instance with the same transactional.id aborted it"
    aborted_by_client = "it was aborted at its own client's request"
    aborted = "it was aborted"
    aborting = "it is decided: abort, though not all markers are written"
    open = "it was still open when the evidence ends"
    never_begun = "it was never begun at the coordinator: no record of it is in any log"
    unknown = "what became of it is not in the evidence"

    @property
    def is_resolved(self) -> bool:
        """Whether commit or not is known for good."""
        return self not in (Outcome.open, Outcome.unknown)

    @property
    def is_commit(self) -> bool:
        """Whether its data are, or will be, visible to read_committed readers."""
        return self in (Outcome.committed, Outcome.committing)


@dataclass(frozen=True, slots=True)
class Resolved:
    """An outcome, why it is that one, the places that show it, and the row of its transaction (-1: none)."""

    outcome: Outcome
    because: str
    places: tuple[Place, ...] = ()
    transaction: int = -1


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ended or decided a transaction: when it was made and when it was given up, by the brokers' zone.

    `producer_ids` are those that its client was given, `source` the log that shows it.
    """

    transactional_id: str | None
    producer_ids: Collection[int]
    source: int
    called_at: int | None
    gave_up_at: int | None


ABORTS = {
    EndedBy.timeout: Outcome.aborted_by_timeout,
    EndedBy.new_instance: Outcome.aborted_by_new_instance,
    EndedBy.client: Outcome.aborted_by_client,
}


def outcome_of(story: Story, call: Call) -> Resolved:
    """Resolve a call by rows where there are rows of its id, else by markers of its producer ids."""
    if call.called_at is None or call.gave_up_at is None:
        return Resolved(Outcome.unknown, "the client's log has no times")
    by_rows = _by_rows(story, call)
    if by_rows is not None and by_rows.outcome is not Outcome.unknown:
        return by_rows
    by_markers = _by_markers(story, call)
    return by_markers or by_rows or Resolved(Outcome.unknown, "neither rows of its id nor its markers are at hand")


def _by_rows(story: Story, call: Call) -> Resolved | None:
    code = story.id_code(call.transactional_id)
    if code < 0:
        return None
    rows = [row for row in story.transactions_of(code).tolist() if _is_clients(story.transactions[row], call)]
    over = [row for row in rows if _was_over(story, story.transactions[row], call)]
    past = set(over)
    later = [row for row in rows if row not in past]
    if later and _began_in_time(story, later[0], call):
        return _of_transaction(story, later[0])
    return _never_begun(story, call, code, over)


def _is_clients(transaction: Array, call: Call) -> bool:
    return not call.producer_ids or int(transaction["producer_id"]) in call.producer_ids


def _was_over(story: Story, transaction: Array, call: Call) -> bool:
    """Whether a transaction had been decided before the call was made, as well as the two clocks tell."""
    decided = int(max(transaction["decided_at"], transaction["decision_timestamp"]))
    return 0 <= decided < _brokers_time(story.logs, call.source, call.called_at or 0)


def _began_in_time(story: Story, row: int, call: Call) -> bool:
    """Whether a transaction is the call's own: begun before it was given up, or with data from before."""
    limit = (call.gave_up_at or 0) + CLIENT_TOLERANCE_MS
    if 0 <= int(story.transactions["started_at"][row]) <= limit:
        return True
    written = [int(span["first_timestamp"]) for span in data_of(story, row)]
    return any(0 <= at <= (call.gave_up_at or 0) for at in written)


def _of_transaction(story: Story, row: int) -> Resolved:
    transaction = story.transactions[row]
    places = (*begin_row(transaction), *decision_row(transaction), *completion_row(transaction))
    if transaction["decision"] < 0:
        latest = story.latest_of(int(transaction["id_code"]))
        if latest is None or not story.is_latest_known(latest):
            return Resolved(Outcome.unknown, "rows behind its Ongoing row may be lost", places, row)
        return Resolved(Outcome.open, "the latest row of the id is still Ongoing", places, row)
    complete = transaction["completion_offset"] >= 0
    if transaction["decision"] != PREPARE_ABORT:
        outcome = Outcome.committed if complete else Outcome.committing
        because = "the coordinator's log has PrepareCommit" + (
            " and CompleteCommit" if complete else ", no CompleteCommit"
        )
        return Resolved(outcome, because, places, row)
    ended_by = EndedBy(int(story.ends.ended_by[row]))
    outcome = ABORTS.get(ended_by, Outcome.aborted) if complete else Outcome.aborting
    because = "the coordinator's log has PrepareAbort" + (" and CompleteAbort" if complete else ", no CompleteAbort")
    return Resolved(outcome, f"{because} of {clock(int(transaction['decided_at']))}", places, row)


def _never_begun(story: Story, call: Call, code: int, over: list[int]) -> Resolved:
    """No transaction of the id was open at the time of the call; it counts where the rows reach beyond the call."""
    latest = story.latest_of(code)
    places = (latest_row(latest),) if latest is not None and int(latest["state"]) >= 0 else ()
    if latest is None or not _rows_reach(story, call, latest):
        return Resolved(Outcome.unknown, "the rows of its id end before the call was given up", places)
    if over:
        ended = story.transactions[over[-1]]
        before = f"the latest transaction of the id was decided at {clock(int(ended['decided_at']))}, before the call"
        shown = (*decision_row(ended), *completion_row(ended))
        return Resolved(Outcome.never_begun, f"{before}, and no row of another one follows", shown or places)
    return Resolved(Outcome.never_begun, "the id has no row of any transaction of that time", places)


def _rows_reach(story: Story, call: Call, latest: Array) -> bool:
    """Whether the id's partition of __transaction_state is known to beyond the time at which the call was given up."""
    partition = int(latest["state_partition"])
    horizon = story.state_horizons[partition]
    known_until = max(horizon.newest, story.facts.evidence_end)
    return (
        story.is_latest_known(latest)
        and known_until >= _brokers_time(story.logs, call.source, call.gave_up_at or 0)
        and story.is_whole_since(partition, call.called_at or 0)
    )


def _by_markers(story: Story, call: Call) -> Resolved | None:
    """The markers of the client's producer ids that follow the call, where they agree; epochs need not be known."""
    spans = story.spans
    if not len(spans) or not call.producer_ids:
        return None
    called = _brokers_time(story.logs, call.source, call.called_at or 0)
    limit = (call.gave_up_at or 0) + CLIENT_TOLERANCE_MS
    mine = np.isin(spans["producer_id"], list(call.producer_ids)) & (spans["first_offset"] >= 0)
    mine &= (
        (spans["first_timestamp"] >= 0) & (spans["first_timestamp"] <= limit) & (spans["marker_timestamp"] >= called)
    )
    found = np.flatnonzero(mine & (spans["marker_offset"] >= 0))
    kinds = set(spans["marker_kind"][found].tolist())
    if kinds not in ({ABORT}, {COMMIT}):
        return None
    outcome = Outcome.committed if kinds == {COMMIT} else Outcome.aborted
    places = tuple(marker_place(story, spans[number]) for number in found[:4].tolist())
    return Resolved(outcome, "the first markers of its producer id behind the call say so", places)


def _brokers_time(logs: LogStory, source: int, at: int) -> int:
    """A time of a client's log by the brokers' clock, where shared events tell how far the two are apart."""
    return logs.clocks[source].to_brokers(at) if source < len(logs.clocks) else at
