"""What is said of a coordinator that did not serve, in the sentences of the rule."""

from __future__ import annotations

from kafkatx.rules.coordinators.held import HELD
from kafkatx.words.explanation import Phrase, measure
from kafkatx.words.proposals import Lasted
from kafkatx.words.template import pick

UNTIL = pick(
    "is_moment",
    {True: " at {since}"},
    (" from {since} ", pick("is_over", {True: "to"}, "until at least"), " {until} ({lasted})"),
)
THEIRS = pick("met", {None: "{number:Its|Their} transactions"}, "Transactions of {met:3}")
NOT_SERVING = (
    "The transaction {number:coordinator|coordinators}[ of {partitions}] ",
    pick(
        "could_not_write",
        {True: "[{perhaps} ]could not write {number:its log|their logs}"},
        "{number:was|were}[ {perhaps}] unavailable",
    ),
    pick("count", {1: ""}, " {count:time}, the longest"),
    UNTIL,
    pick(
        "by_broker",
        {
            True: pick(
                "is_empty",
                {True: ". {number:It|They} held no transaction."},
                (". ", THEIRS, " could not begin or end meanwhile."),
            )
        },
        ".",
    ),
    HELD,
)
NO_ANSWER = ("initTransactions[ of {met:3}] got no answer", UNTIL, ": its coordinator was[ {perhaps}] unavailable.")
AWAY = Phrase(Lasted, measure("the coordinator was away for {time}"))
