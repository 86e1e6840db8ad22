"""One transactional.id, or one producer object, is used by two owners that are alive at the same time.

Mechanism    Two processes with equal configuration, two producers of one process, or one producer object in several
             threads. Owners with an object each fence each other in turns: each initTransactions aborts the other's
             open transaction, and the other, refused, initialises again. Threads that share an object meet states they
             don't expect, and their records mix in one transaction.
Evidence     logs of two owners: one initialises, the other is refused, initialises again, and the first is refused;
             the request logger with InitProducerId from two clients in turns; invalid state transitions of one object
             in several threads; on disk alone: open transactions of one id taken over again and again within minutes,
             too soon after their last activity for a process to have died and started anew.
Against      an owner that was silent, closed or dead when the next one came: a restart, however often.
Look-alikes  a crash loop (one owner, growing pauses); a rolling deployment (each instance is fenced once and doesn't
             come back); frameworks that initialise ids as they start (Connect's fencing round, Flink's probing, Streams
             after a rebalance); transactions v2, where every transaction raises the epoch; a commit that timed out
             (COMMITTING_TRANSACTION to ABORTING_TRANSACTION).
Remedy       an id of its own for each owner, stable over restarts; one thread for each transactional producer.
Source       KIP-98, KIP-447, KIP-588; TransactionCoordinator.handleInitProducerId, TransactionManager.transitionTo.
"""

from __future__ import annotations

from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.sharing.grants import GRANT_WORDS, in_grants
from kafkatx.rules.sharing.one_object import OBJECT_WORDS, of_threads
from kafkatx.rules.sharing.processes import PROCESS_WORDS, in_processes
from kafkatx.rules.sharing.requests import REQUEST_WORDS, in_requests
from kafkatx.rules.sharing.rows import ROW_WORDS, in_rows
from kafkatx.rules.sharing.takeovers import TAKE_OVER_WORDS, in_take_overs
from kafkatx.rules.sharing.turns import TURN_WORDS, in_turns


def find(model: CaptureModel) -> Found:
    """One case for each transactional.id, and one for each object that threads share: what clients' logs show first."""
    told: set[str | None] = set()
    for case in (*in_turns(model), *of_threads(model)):
        told.add(case.transactional_id)
        yield case
    others = (in_requests, in_rows, in_processes, in_grants, in_take_overs)
    for case in (case for find_in in others for case in find_in(model)):
        if case.transactional_id not in told:
            told.add(case.transactional_id)
            yield case


RULE = Rule(
    find=find,
    words=(TURN_WORDS, OBJECT_WORDS, REQUEST_WORDS, PROCESS_WORDS, GRANT_WORDS, TAKE_OVER_WORDS, ROW_WORDS),
    depth=1,
)
