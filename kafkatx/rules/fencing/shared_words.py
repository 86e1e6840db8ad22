"""What is said of every takeover of an id."""

from __future__ import annotations

from dataclasses import replace

from kafkatx.findings.ends import RESENT, TIMES, WHO_ENDED
from kafkatx.words.explanation import remedy
from kafkatx.words.template import pick

OPERATOR = "an operator who ended the transaction by its id"
TITLE = (
    pick("was_alive", {True: "fenced by a second instance"}, "open transaction aborted by a new instance"),
    TIMES,
)
TAKEN_OVER = (
    "A new instance[ {perhaps}] took {whom} over",
    pick("count", {1: "[ at {at}]"}, " {count:time}[ (first at {at})]"),
    pick(
        "was_open",
        {
            True: (
                " and aborted the open ",
                pick("count", {1: "transaction"}, "transactions"),
                " of the old one[, with {affected}]",
                pick(
                    "may_lose_nothing",
                    {True: ""},
                    (": read_committed readers never get ", pick("count", {1: "its records"}, "their records")),
                ),
            )
        },
        "",
    ),
    ".",
    pick("was_alive", {True: " The old instance was still alive."}, ""),
)
PREFIXES_APART = remedy(
    "Give each instance (logs {sharers}) a transaction-id-prefix of its own: they all use {prefix}. Stop none of "
    "them for good",
    "application",
    "spring.kafka.producer.transaction-id-prefix",
    current="{prefix}",
    proposed="one for each instance, stable over restarts (from its ordinal and environment)",
    restart_needed=True,
    needs="prefix",
)
"""Over facts that have the `prefix` and its `sharers`."""
OF_ITS_OWN = "an id of its own for each instance, stable over restarts (input partition or ordinal)"
NO_RANDOM_ID = "Do not use a random id: an old instance would no longer be fenced"
REMEDIES = (
    WHO_ENDED,
    remedy(
        text="Stop the old instance[ (log {old_log})], or give it a transactional.id of its own",
        where="operator",
        needs="was_alive",
        unless="is_possible is_handed_on prefix",
    ),
    PREFIXES_APART,
    replace(RESENT, needs="was_open"),
    remedy(
        text=(
            pick(
                "was_alive",
                {
                    True: "Prevent it: give each instance a transactional.id of its own, and stop the old one before "
                    "the new one starts"
                },
                "Find out whether the old instance was still alive. If so, give each instance an id of its own; if it "
                "had crashed, nothing else is to be done",
            ),
            f". {NO_RANDOM_ID}",
        ),
        where="application",
        config="transactional.id",
        current="{id}",
        proposed=OF_ITS_OWN,
        restart_needed=True,
        unless="is_possible is_handed_on prefix",
    ),
    remedy(
        text=(
            "Nothing to do after a restart or a rebalance: {framework} hands transactional.ids on by design and "
            "processes the input again by itself",
            pick("is_of_flink", {True: ". If two jobs run with the same transactional id prefix, stop one"}, ""),
        ),
        where="application",
        needs="is_handed_on",
        unless="is_possible",
    ),
)
