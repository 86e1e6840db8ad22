"""What the live cluster is asked before anybody aborts: whether data are still open, and whether anybody ends them."""

from __future__ import annotations

from kafkatx.words.template import pick

TOOL = "kafka-transactions.sh --bootstrap-server HOST:PORT"
PARTITION = "--topic {named.topic} --partition {named.partition}"
FIND_HANGING = f"{TOOL} find-hanging {PARTITION}"
COST = "read_committed readers lose the records @ {data:offsets} for good"
NOT_YET = pick(
    "is_proved",
    {False: "[. Do not abort before {not_before}, and then only if this check and the next say that it hangs]"},
    "",
)
"""What holds whatever the checks say: an end may still come."""
IS_STILL_OPEN = pick(
    "has_start_offset",
    {
        True: "Check that {data.place} still holds the transaction open at offset {data.first_offset}. It does if "
        "CurrentTransactionStartOffset of producer id {producer_id} is {data.first_offset}. If not, the transaction "
        "has ended: stop here"
    },
    "Check the leader's log of {data.place} for a marker of producer id {producer_id} after offset {data.last_offset}. "
    "If there is one, the transaction has ended: stop here",
)
END_OPEN = (
    "Commit or abort the transaction[ of {id}] in the application, or wait: the coordinator aborts it at its timeout"
)
END_CUT = (
    "Abort the transaction[ of {id}] in the application, or wait: the coordinator aborts it at its timeout. Its first "
    "records lie below the log start: send them again"
)
"""What to do about one that is only open; a commit of one whose beginning is deleted would lose that."""
STATE = "Ongoing, PrepareCommit or PrepareAbort"
IS_UNKNOWN = pick(
    "has_start_offset",
    {
        True: pick(
            "id",
            {
                None: "Then check that no coordinator has a transaction of producer id {producer_id}. If the list has "
                f"it as {STATE}, its coordinator may end it: do not abort. If not, the transaction hangs"
            },
            f"Then check that the coordinator has no transaction with {{data.place}}. If the state is {STATE} and "
            "TopicPartitions lists {data.place}, the coordinator ends it: do not abort. If not, or if the id is not "
            "found, the transaction hangs",
        )
    },
    "Then check that __transaction_state has no open transaction with {data.place}. If the latest record[ of {id}] "
    f"lists it and is {STATE}, the coordinator ends it: do not abort. If not, the transaction hangs",
)
ASK = (
    "Do not abort it yet: ask the live cluster whether it hangs. Listed: it has been open for 15 min and no "
    "coordinator will end it; diagnose again with a new copy of __transaction_state. Not listed: it has ended, or its "
    "coordinator will end it"
)
AGAIN = "The application must send the records again, if it did not do so already: this evidence does not tell"
