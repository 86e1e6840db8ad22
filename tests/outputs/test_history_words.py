"""Every ending, reason, outcome and start has its words: a new one in the histories is not told by its bare name."""

from dataclasses import replace

import pytest

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.events import Initialisation, Leftover, Marker, Outcome, Part, Transaction
from kafkatx.histories.initialisations import Why
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.transaction_partitions import Status
from kafkatx.outputs.history_words import (
    ENDERS,
    PROTOCOLS,
    REASONS,
    clock_line,
    is_zone_assumed,
    part_line,
    sentence,
    span,
)
from kafkatx.terms.topics import UNNAMED
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


def test_data_that_another_marker_ended_first_name_it():
    part = replace(PART, ended_by=Marker(4, 950, "COMMIT", 0, 0))
    assert part_line(part, 1_000) == (
        "orders-0 @ 3..5, 3 records; ended by COMMIT @ 4, epoch 0; its own marker: ABORT @ 6, epoch 1, 5 ms later"
    )
    assert "But 3 records had been committed before." in sentence(replace(TRANSACTION, parts=(part,)))
    assert "But " not in sentence(TRANSACTION)


def test_data_and_markers_without_a_transaction_are_told_apart():
    data = Leftover(5, 7, 0, False, replace(PART, marker=None, status=Status.UNMARKED))
    marker = Leftover(5, 7, 0, True, replace(PART, first_offset=None, last_offset=None))
    assert sentence(data) == (
        "Not ended here: orders-0 @ 3..5, 3 records; NO MARKER; producer id 7, epoch 0. "
        "No record of __transaction_state covers it."
    )
    assert sentence(replace(marker, part=PART)).startswith("Aborted: orders-0 @ 3..5, 3 records; ABORT @ 6")
    text = sentence(marker)
    assert text.startswith("A marker of producer id 7, epoch 0 without its data: orders-0")
    assert text.endswith(" Two transactions of the id fit it.")


def test_what_is_not_known_is_left_out():
    unnamed = replace(PART, topic=UNNAMED, partition=-1)
    assert part_line(unnamed, None) == "@ 3..5, 3 records; ABORT @ 6, epoch 1"
    elsewhere = replace(PART, status=Status.ELSEWHERE, first_offset=None, last_offset=None, records=0, marker=None)
    assert part_line(elsewhere, None) == "orders-0: its log was not read"
    text = sentence(replace(TRANSACTION, parts=(elsewhere,), records=0, last_marker_at=None))
    assert ": 1 partition (evidence:" in text
    assert "timeout" not in sentence(replace(TRANSACTION, outcome=Outcome.open, timeout_ms=None))
    two_phase = sentence(replace(TRANSACTION, outcome=Outcome.open, timeout_ms=2_147_483_647))
    assert "two-phase transaction without a timeout" in two_phase
    assert "in 1 partition (of 2)" in sentence(replace(TRANSACTION, parts=(PART, elsewhere)))


@pytest.mark.parametrize(
    ("verdict", "by", "said"),
    [
        (Verdict.proved, EndedBy.timeout, "Aborted after 100 ms by the coordinator at its timeout: "),
        (Verdict.likely, EndedBy.timeout, "Aborted after 100 ms, probably by the coordinator at its timeout: "),
        (Verdict.possible, EndedBy.new_instance, "Aborted after 100 ms, possibly by the start of a new instance: "),
        (Verdict.possible, EndedBy.unknown, "Aborted after 100 ms, not known by whom: "),
    ],
)
def test_an_ending_claims_no_more_than_its_verdict(verdict, by, said):
    text = sentence(replace(TRANSACTION, verdict=verdict, ended_by=by, reason=Reason.over_timeout))
    assert text.startswith(said)
    assert text.endswith("(evidence: its timeout had passed, and the abort raised the epoch).")


def test_a_zone_that_nothing_names_is_said_unless_records_agree():
    assert clock_line("a.log", Clock(), 1_000) == "a.log: its times name no zone, and are shown as printed"
    assert is_zone_assumed(Clock(skew_ms=3, pairs=1), has_rows=False)
    assert not is_zone_assumed(Clock(skew_ms=3, pairs=1), has_rows=True)
    assert clock_line("a.log", Clock(skew_ms=-3, pairs=1), 1_000) == (
        "a.log: clock 3 ms behind the brokers (evidence: 1 event in both)"
    )


def test_a_raised_epoch_and_a_new_producer_id_are_said_and_an_unchanged_one_is_not():
    assert "raised the epoch" not in sentence(TRANSACTION)
    assert "raised the epoch from 0 to 1" in sentence(replace(TRANSACTION, decision_epoch=1))
    assert "goes on as 9" in sentence(replace(TRANSACTION, completed_producer_id=9))


def test_a_span_of_equal_durations_is_one():
    assert (span(30, 400), span(5, 5)) == ("30 ms to 400 ms", "5 ms")
