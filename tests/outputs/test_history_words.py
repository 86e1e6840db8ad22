"""Every ending, reason, outcome and start has its words: a new one in the histories is not told by its bare name."""

from dataclasses import replace

import pytest

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.events import Initialisation, Leftover, Marker, Outcome, Part, Transaction
from kafkatx.histories.initialisations import Why
from kafkatx.histories.transaction_partitions import Status
from kafkatx.outputs.history_words import ENDERS, PROTOCOLS, REASONS, part_line, sentence, span
from kafkatx.terms.verdicts import Verdict

MARKER = Marker(6, 1_005, "ABORT", 1, 0)
PART = Part("orders", 0, Status.MARKED, 3, 5, 3, 300, False, MARKER)
TRANSACTION = Transaction(
    row=0, instance=1, producer_id=7, producer_epoch=0, decision_epoch=0, completed_producer_id=7, completed_epoch=0,
    protocol=Protocol.classic, outcome=Outcome.aborted, ended_by=EndedBy.client, verdict=Verdict.proved,
    reason=Reason.own_epoch, started_at=900, decided_at=1_000, completed_at=1_010, last_marker_at=1_005,
    duration_ms=100, timeout_ms=60_000, begin_offset=1, decision_offset=2, completion_offset=3, rows_missing=False,
    records=3, bytes=300, parts=(PART,),
)  # fmt: skip
START = Initialisation(5, 0, Why.restart, Verdict.likely, 2, 7, 1, 60_000, 7, 0, 10, False)


def test_every_ender_reason_and_protocol_has_words():
    assert set(ENDERS) == set(EndedBy) - {EndedBy.open}
    assert set(REASONS) == set(Reason) - {Reason.none}
    assert set(PROTOCOLS) == set(Protocol)


@pytest.mark.parametrize("why", set(Why) - {Why.expired})
def test_every_start_is_a_sentence(why):
    assert sentence(replace(START, why=why)).endswith(".")
    assert why.name not in sentence(replace(START, why=why))


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_is_a_sentence(outcome):
    text = sentence(replace(TRANSACTION, outcome=outcome))
    assert text.endswith(".")
    assert "3 records in 1 partition" in text


@pytest.mark.parametrize("status", Status)
def test_a_partition_without_a_marker_says_why(status):
    text = part_line(replace(PART, marker=None, status=status), 1_000)
    assert text.startswith("orders-0 @ 3..5, 3 records; ")
    assert "None" not in text


def test_a_marker_is_dated_from_the_decision_whichever_came_first():
    assert part_line(PART, 1_000).endswith("ABORT @ 6, epoch 1, 5 ms later")
    assert part_line(PART, 1_010).endswith("epoch 1, dated 5 ms earlier")
    assert part_line(replace(PART, marker=replace(MARKER, kind=None)), None).endswith(
        "emptied by the cleaner @ 6, epoch 1"
    )


def test_data_and_markers_that_nothing_owns_are_told_apart():
    data = Leftover(5, 7, 0, False, replace(PART, marker=None, status=Status.UNMARKED))
    marker = Leftover(5, 7, 0, True, replace(PART, first_offset=None, last_offset=None))
    assert "Data of producer id 7 epoch 0, no transaction at hand owns it" in sentence(data)
    assert "NO MARKER" in sentence(data)
    assert "A marker without data of producer id 7 epoch 0, the evidence fits two transactions" in sentence(marker)


def test_a_raised_epoch_and_a_new_producer_id_are_said_and_an_unchanged_one_is_not():
    assert "raised the epoch" not in sentence(TRANSACTION)
    assert "raised the epoch from 0 to 1" in sentence(replace(TRANSACTION, decision_epoch=1))
    assert "goes on as 9" in sentence(replace(TRANSACTION, completed_producer_id=9))


def test_a_span_of_equal_durations_is_one():
    assert (span(30, 400), span(5, 5)) == ("30 ms to 400 ms", "5 ms")
