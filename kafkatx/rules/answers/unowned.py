"""Data without a marker, of which the coordinator's log is not at hand: open when the evidence ended, and no more."""

from __future__ import annotations

from kafkatx.findings.open_spans import SAID_TO_WAIT, OpenSpan
from kafkatx.findings.rule import Case
from kafkatx.rules.hanging.live_checks import ASK, FIND_HANGING
from kafkatx.rules.hanging_transaction import OfPartition
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Phrase, Words, gap, left_open, remedy, step
from kafkatx.words.values import OffsetRange, Refs, facts


@facts
class Unowned(OfPartition):
    """Data without a marker, of which the coordinator's log is missing."""

    data: OffsetRange
    producer_id: int
    written: Refs
    said_to_wait: Refs = ()


def without_rows(one: OpenSpan, facts: Unowned) -> Case:
    """The case of such data."""
    return Case(
        facts=facts,
        verdict=Verdict.possible,
        severity=Severity.info,
        since=one.written[0].at,
        **one.columns(),
    )


NO_ROWS = Phrase(
    Unowned,
    gap("{data.place}, producer id {producer_id}", "__transaction_state: who owns the transaction, and its timeout"),
)
DATA_WORDS = Words(
    Unowned,
    title="an open transaction of producer id {producer_id}",
    summary="Producer id {producer_id} wrote {data}, and no marker follows: its transaction was[ {perhaps}] open when "
    "the evidence ended.",
    steps=(step("No marker follows {data.records:record} in this evidence", cites="written"), SAID_TO_WAIT),
    considered=(
        left_open(
            "hanging_transaction",
            "only the coordinator knows whether it will end the transaction",
            decided_by="__transaction_state",
        ),
    ),
    remedies=(
        remedy(
            ASK,
            "operator",
            command=FIND_HANGING,
        ),
    ),
)
