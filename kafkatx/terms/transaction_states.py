"""States of a transaction as `__transaction_state` records them.

Source  TransactionState.scala / TransactionState.java (0.11 to 4.4); KIP-98, KIP-890.
"""

from enum import IntEnum


class TransactionState(IntEnum):
    """Status byte of a transaction state record; names as Kafka prints them."""

    Empty = 0
    Ongoing = 1
    PrepareCommit = 2
    PrepareAbort = 3
    CompleteCommit = 4
    CompleteAbort = 5
    Dead = 6
    PrepareEpochFence = 7


PREPARED = frozenset({TransactionState.PrepareCommit, TransactionState.PrepareAbort})


def state_name(code: int) -> str:
    """Return Kafka's name of a status byte, or `unknown(N)`."""
    return TransactionState(code).name if code in TransactionState._value2member_map_ else f"unknown({code})"
