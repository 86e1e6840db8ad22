"""What to do where a transaction's outcome is open, or its producer is dead: sentences that several rules share."""

from __future__ import annotations

CLOSE = (
    "Close this producer and create a new one (restarting the service does both). abortTransaction would only fail. "
)
PROCESS_AGAIN = "Process again from the last committed offsets"
REPLACE = f"{CLOSE}{PROCESS_AGAIN}"
"""What to do with a producer in its fatal error state."""
IS_REPLACED = (
    "Close this producer and start no other: a new instance has its transactional.id. abortTransaction would fail. "
    "Send nothing again from here: one of the two instances sends the aborted records again, not both"
)
"""The same where a second one of the id would fence the first."""
LOOK_UP = (
    "Look up what became of the transaction before anything is sent again\n"
    "CompleteCommit: it was committed, do not send its records again\n"
    "CompleteAbort: it was aborted, send them again\n"
    "Ongoing: still open, look again when its timeout has passed\n"
    "PrepareCommit or PrepareAbort: decided, the same as Complete\n"
    "Empty, or if the id ran another transaction since: this state tells nothing, read the id's records of that time "
    "in __transaction_state"
)
"""What to do where its outcome is not known, and what the answers mean."""
DESCRIBE = "kafka-transactions.sh --bootstrap-server HOST:PORT describe --transactional-id "
"""How to look it up, before the id."""
