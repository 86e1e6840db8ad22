"""What is said of lines of brokers whose cause is open: who tries again, and what to look at first.

A leader that refuses a write for want of replicas leaves it to the producer to try again; a broker that can't read a
file of its own goes on to fail until the file is replaced. Whatever else fails in a request between brokers, they
repeat.
"""

from __future__ import annotations

from kafkatx.words.explanation import remedy
from kafkatx.words.template import pick

REPEATS = pick(
    "who_repeats",
    {
        "broker": " The broker tries again by itself.",
        "coordinator": " The coordinator that wrote answers its client with an error, which the client tries again.",
        "producer": " The producer of the batch tries again by itself, until delivery.timeout.ms is over.",
    },
    "",
)

BROKERS_REMEDIES = (
    remedy(
        "Look at that broker's disk (its kernel log), and run kafkatx verify on the partition's directory on every "
        "replica. Where another replica is whole and in sync, stop the broker, move this directory away and start "
        "it again: it copies the partition anew",
        "operator",
        needs="file",
        cost="if no replica is whole, the records behind the damage are lost",
    ),
    remedy(
        "Bring the replicas of the partition back in sync: find the broker that is away or lags. If all brokers "
        "are there, min.insync.replicas is above the number of replicas: lower it, or add replicas",
        "operator",
        needs="is_refused_write",
    ),
)
