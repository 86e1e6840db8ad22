"""What is said of a client whose failure has no cause yet: whether its producer goes on, and what to call next.

A batch that expired is gone: nothing of it is sent again, and a producer with a transactional.id can only abort
(TransactionManager.handleFailedBatch, 0.11 to 4.3). Where a framework owns the producer, nobody else calls it.
"""

from __future__ import annotations

from kafkatx.rules.unexplained.brokers import REPEATS
from kafkatx.words.explanation import remedy
from kafkatx.words.template import pick

FATAL, ABORTABLE, RETRIABLE, PLAIN = "fatal", "abortable", "retriable", "plain"

GOES_ON = pick(
    "category",
    {
        FATAL: " This producer can do nothing more.",
        ABORTABLE: pick(
            "nothing_open",
            {True: " The producer can go on."},
            " The transaction must be aborted; then the producer can go on.",
        ),
        RETRIABLE: pick(
            "is_brokers",
            {True: REPEATS},
            pick(
                "is_lost",
                {True: " The producer has given these records up."},
                " The same call can be made again.",
            ),
        ),
        PLAIN: " Nothing here shows a transaction, or a producer with an id.",
    },
    "",
)

CLIENTS_REMEDIES = (
    remedy(
        (
            pick(
                "may_be_replaced",
                {True: "Close this producer; create a new one only if no other instance uses its id"},
                "Close this producer and create a new one (restarting the service does both)",
            ),
            ". Do not call abortTransaction: it would only fail",
        ),
        "application",
        needs="is_fatal",
        unless="framework",
    ),
    remedy(
        "Restart what ended with it (thread, task or job): {framework} makes a new producer by itself",
        "operator",
        needs="is_fatal framework",
    ),
    remedy(
        pick(
            "nothing_open",
            {True: "Process the same input again; if it fails in the same way, mend that first"},
            "Call abortTransaction, then process the same input again; if it fails in the same way, mend that "
            "first. If abortTransaction fails with a fenced error, close the producer",
        ),
        "application",
        needs="is_abortable",
        unless="framework",
    ),
    remedy(
        "Restart what ended with it (thread, task or job): {framework} aborts the transaction and processes its "
        "input again by itself. If it fails in the same way, mend that first",
        "operator",
        needs="is_abortable framework",
    ),
)

REPEATED_REMEDIES = (
    remedy("Make the same call again, with the same producer", "application", needs="is_retriable"),
    remedy(
        "Send the records again: this producer has given them up. If it has a transactional.id, call abortTransaction "
        "first, and process the same input again",
        "application",
        needs="is_lost",
        unless="framework",
    ),
    remedy(
        "Restart what ended with it (thread, task or job): {framework} processes its input again by itself. If it "
        "comes again, look whether the leader of the partition answers in time",
        "operator",
        needs="is_lost framework",
    ),
)
