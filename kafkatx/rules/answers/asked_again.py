"""A transaction that `kafka-transactions.sh list` showed open, and aborted when it was asked again.

A list tells neither times nor epochs, so who ended it stays open, and that both rows are of one transaction is likely
only. It cost its records, and who shows it asks for that. Committed in between is every day's; where rows tell times
the rules about ends judge.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.rows import NOT_PRINTED
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, next_row
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.values import Refs, facts

ABORTED = (int(TransactionState.PrepareAbort), int(TransactionState.CompleteAbort))


@facts
class AskedAgainFacts:
    """An id, its state in the later answer, and both answers."""

    id: str
    state: str
    open: Refs
    later: Refs


def aborted_since(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that is Ongoing in an answer without times, and aborted in the next one."""
    rows = model.transactions
    is_open = (rows["begin_offset"] >= 0) & (rows["decision"] < 0) & (rows["started_at"] == NOT_PRINTED)
    is_aborted = np.isin(rows["next_state"], ABORTED) & (rows["next_producer_id"] == rows["producer_id"])
    for row in rows[is_open & is_aborted & (rows["begin_timestamp"] < 0) & (rows["next_timestamp"] < 0)]:
        if model.state_log_extents[int(row["state_partition"])].is_printed:
            yield Case(
                facts=AskedAgainFacts(
                    id=model.transactional_id(int(row["id_code"])),
                    state=TransactionState(int(row["next_state"])).name,
                    open=tuple(begin_row(row)),
                    later=tuple(next_row(row)),
                ),
                verdict=Verdict.likely,
                severity=Severity.warning,
                transactional_id=model.transactional_id(int(row["id_code"])),
                producer_id=int(row["producer_id"]) if row["producer_id"] >= 0 else None,
            )


ASKED_AGAIN_WORDS = Words(
    AskedAgainFacts,
    title="open (Ongoing), then aborted ({state})",
    summary="{id} had an open transaction (Ongoing) when it was first asked, and it was[ {perhaps}] aborted by the "
    "next time ({state}). It holds nothing back any more. These answers do not tell who ended it.",
    steps=(
        step("{id} was Ongoing", "the answer lists it so", cites="open"),
        step("Later it was {state}, with the same producer id", "a later answer", cites="later"),
    ),
    considered=(
        left_open(
            "transaction_timed_out",
            "the coordinator aborts what stays open for longer than transaction.timeout.ms",
            decided_by="a line 'due to timeout' with this id in the coordinator's log",
        ),
        left_open(
            "fenced_by_new_instance",
            "a new producer with this id aborts what the one before left open",
            decided_by="a line 'Initialized transactionalId' with this id in the coordinator's log",
        ),
    ),
    remedies=(
        remedy(
            "Send the aborted records again if nobody has: a crashed producer does not do it by itself",
            "application",
        ),
    ),
)
