"""A batch came a second time: the leader refused the repetition, or had forgotten the first one and wrote it again.

Mechanism    A client that got no answer sends a batch again. The leader knows the last five batches of each producer
             (0.11: the last one) and acknowledges a repeated one again; an older one it refuses with
             DUPLICATE_SEQUENCE_NUMBER. The data are in the log once. A leader that lost the producer's state (an
             unclean election, a broken snapshot, a defect) takes the repetition for new: the data are there twice.
Evidence     DUPLICATE_SEQUENCE_NUMBER (46) at the client, or the leader's line with the sequences of both batches. In
             data: the same sequences of one producer and epoch at two places of a partition.
Against      a new epoch between both; sequences that begin at 0 again long after (UNKNOWN_PRODUCER_ID, to 2.4).
Look-alikes  sequence_gap (a batch is missing); records that the application itself sent again after an abort: they have
             sequences of their own.
Remedy       refused: do not send the data again; Java clients take the error for an acknowledgement, others report it
             as a failure. Written twice: consumers must drop one of them; look for what the leader lost.
Source       ProducerAppendInfo, Sender.canRetry and completeBatch (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.findings.conditions import same_time
from kafkatx.findings.one_failure import (
    OF_WHOM,
    FailureFacts,
    alike,
    failure_case,
    failure_facts,
    known_as,
    says,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.sequence_breaks import BreakFacts, break_case, break_facts, by_producer
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT
from kafkatx.terms.events import Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import facts

REPEATED = "Duplicate sequence number for"
SOON_MS = 3_600_000
"""Producers are forgotten after days: what begins at 0 again within so much is a repetition."""


@facts
class Facts(FailureFacts):
    """Refusals of repeated batches."""


@facts
class WrittenTwice(BreakFacts):
    """Batches that a partition holds twice."""


def find(model: CaptureModel) -> Found:
    """One case for each client, and each producer that brokers tell of; then each that data show."""
    yield from _refused(model)
    for rows in by_producer(model, _is_written_twice):
        yield _in_data(model, rows)


def _is_written_twice(breaks: Array) -> Any:
    """Which breaks are repetitions; a client that begins at 0 anew does so after days, with a time of its own."""
    pause = np.where(breaks["before_timestamp"] >= 0, breaks["timestamp"] - breaks["before_timestamp"], 0)
    return (breaks["missing"] == 0) & ((breaks["first_sequence"] > 0) | (pause <= SOON_MS))


def _in_data(model: CaptureModel, rows: Array) -> Case:
    is_lost = all(_is_aborted(model, row) for row in rows)
    told = WrittenTwice(**break_facts(model, rows))
    return break_case(model, rows, told, Verdict.likely, Severity.info if is_lost else Severity.error)


def _is_aborted(model: CaptureModel, row: Array) -> bool:
    """Whether a repetition lies in an aborted transaction: nobody reads it as committed."""
    spans = model.spans[model.spans_of(int(row["partition_code"]))]
    holds = (spans["producer_id"] == row["producer_id"]) & (spans["first_offset"] <= row["first_offset"])
    holds &= (spans["last_offset"] >= row["last_offset"]) & (spans["first_offset"] >= 0)
    return bool((holds & (spans["marker_kind"] == ABORT)).any())


def _refused(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    for found in alike(
        model,
        lambda told: known_as(told, "DUPLICATE_SEQUENCE_NUMBER") or says(logs, told, REPEATED),
    ):
        told = Facts(**failure_facts(model, found))
        yield failure_case(model, found, told, Verdict.likely, Severity.warning)


WORDS = Words(
    Facts,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="a repeated batch was refused",
    summary=(
        "The leader[ of {place}] refused a batch of the producer[ {producer_id}]",
        OF_WHOM,
        " as a repetition. Its records are[ {perhaps}] in the log once.",
    ),
    actors=(included("client"),),
    steps=(
        step(
            "The batch was sent again after it had been written",
            "DUPLICATE_SEQUENCE_NUMBER: the leader had taken these sequences before",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("sequence_gap", "the sequences are below the last ones that the leader has, not above"),
        left_open(
            "records stored twice",
            "only the partition itself shows it",
            decided_by="a dump of the partition[ {place}] at that time",
        ),
    ),
    remedies=(
        remedy(
            "Do not send the records again: the first attempt was written, only its answer was lost",
            "application",
        ),
        remedy(
            "Find out why the first attempt got no answer in time: a broker that was away, or slow followers",
            "operator",
        ),
    ),
)

WORDS_OF_DATA = Words(
    WrittenTwice,
    title="a batch was written twice",
    summary=(
        "The records of {before} stand[ {perhaps}] a second time at {later}: {producer} gave both the same sequences.",
        pick("count", {1: ""}, " {count:batch} in all stand there twice."),
    ),
    steps=(
        step(
            "The producer wrote {before}, up to sequence {before_last_sequence}",
            cites="earlier_batches",
        ),
        step(
            "The same sequences stand at {later} again[, {apart} later]: the leader took a repetition for new",
            "sequences {first_sequence} to {last_sequence} of the same producer id and epoch",
            cites="later_batches",
        ),
    ),
    considered=(
        ruled_out("an application that sent its records again", "they would have the sequences that follow"),
        left_open(
            "what the leader had lost",
            "data alone do not tell why it did not know the first batch",
            decided_by="elections, recoveries or snapshots between both in the server.log of the leader[ of {place}]",
        ),
    ),
    remedies=(
        remedy("Let consumers drop one of both: the records are there twice for every reader", "application"),
        remedy(
            "Find out what the leader lost before the repetition: an unclean election, a truncation, a producer "
            "snapshot that could not be read",
            "operator",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, WORDS_OF_DATA),
    depth=3,
    caused_by=(("broker_unreachable", same_time),),
    decided_by=(Side.client, Side.broker),
)
