"""What is said of every transaction that timed out."""

from __future__ import annotations

from kafkatx.words.explanation import remedy
from kafkatx.words.template import pick

OTHER_INSTANCE = "fenced_by_new_instance"
TITLE = pick(
    "count",
    {
        1: pick(
            "is_long_over",
            {True: "transaction timed out: timeout {timeout}, aborted after {took}"},
            "transaction timed out[ after {timeout}]",
        )
    },
    "{count:transaction} timed out[ after {timeout}]",
)
TIMED_OUT = (
    "The coordinator[ {perhaps}] aborted ",
    pick(
        "count",
        {1: "a transaction of {whom}[ at {at}][, {took} after its start]"},
        "{count:transaction} of {whom}[, the first at {at}]",
    ),
    ": transaction.timeout.ms[ ({timeout})] had passed.[ {lost:record} {lost:was|were} aborted: read_committed "
    "readers never get {lost:it|them}.]",
)
HELD_UP = remedy(
    text="Find out what held the producer up. Its timeout must be longer than its longest transaction",
    where="client",
    config="transaction.timeout.ms",
    derived_from=pick("took", {None: "its log does not show how long it was open"}, "it was open for {took}"),
    needs="needs_length",
)
REPLAY = remedy(
    "Replay the {uncommitted.records:record} of {uncommitted} from the source: Flink could not commit "
    "{uncommitted.records:it|them}, and will not write {uncommitted.records:it|them} again. Do not restore the whole "
    "job from an older checkpoint for that: what it committed since would be written twice",
    "application",
    needs="uncommitted",
)
"""What to do first where records of a completed checkpoint were aborted."""
BY_ITSELF = remedy(
    pick(
        "is_of_flink",
        {
            True: "Check Flink's log for transactions that it could not commit. It writes again what belongs to no "
            "completed checkpoint; records of a completed one are lost if their transaction timed out"
        },
        "Nothing to do for the aborted records: {framework} processes the input again by itself",
    ),
    "application",
    needs="is_handed_on",
    unless="is_possible uncommitted",
)
"""What becomes of the records where a framework runs the producer."""

ITS_LINE = "the coordinator's own log names the timeout"
