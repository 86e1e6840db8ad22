"""Entries of brokers with stack traces, of which one of a kind is read: the same as if each had been."""

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kafkatx.text.logs import traced
from tests.text.logs.reading import both

FRAMES = "\n\tat kafka.log.ProducerAppendInfo.check(ProducerStateManager.scala:2{n})\n\tat kafka.log.Log.x(Log.scala:1)"
APPEND = (
    "ERROR [ReplicaManager broker=1] Error processing append operation on partition orders-{n}"
    " (kafka.server.ReplicaManager)\n"
)
ERRORS = "org.apache.kafka.common.errors."
ENTRIES = (
    f"{APPEND}{ERRORS}OutOfOrderSequenceException: Out of order sequence number for producer {{n}} at offset {{n}} in"
    " partition orders-{n}: {n} (incoming seq. number), {n} (current end sequence number)",
    f"{APPEND}{ERRORS}InvalidProducerEpochException: Epoch of producer {{n}} at offset {{n}} in orders-{{n}} is {{n}},"
    f" which is smaller than the last seen epoch {{n}}{FRAMES}",
    f"{APPEND}{ERRORS}InvalidProducerEpochException: password={{n}}secret of {{n}}",
    f"{APPEND}java.lang.IllegalStateException: [Error {{n}}] ProducerFencedError: there is a newer producer {{n}}",
    f"{APPEND}java.lang.IllegalStateException: broker answered code: -1{{n}}",
    f"{APPEND}java.lang.IllegalArgumentException: Transactional records are not supported for magic {{n}}",
    f"{APPEND}java.lang.IllegalStateException: at 2026-11-{{n}} 10:00:{{n}},000 the producer {{n}} was fenced",
    f"{APPEND}java.lang.RuntimeException: {ERRORS}ProducerFencedException: epoch {{n}}\nCaused by: {ERRORS}"
    "UnknownProducerIdException: producer {n}",
    f"{APPEND}java.io.IOException: Too many open files",
    f"{APPEND}java.io.IOException",
    f"{APPEND}java.io.IOException: {{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}}{{n}} is no number",
    "WARN [Log partition=orders-{n}, dir=/data/{n}] Non-monotonic update of high watermark from {n} to {n}"
    f" (kafka.log.Log)\n{ERRORS}CorruptRecordException: Record {{n}} is corrupt{FRAMES}"
    "\nCaused by: java.io.EOFException: {n}",
    "ERROR [TransactionCoordinator id={n}] Error of id-{n} (kafka.coordinator.transaction.TransactionCoordinator)\n"
    f"{ERRORS}TimeoutException: Failed to append for billing-{{n}} after {{n}} ms{FRAMES}{FRAMES}",
    "INFO [TransactionCoordinator id=1] Initialized transactionalId billing-{n} with producerId {n} and producer epoch"
    " {n} on partition __transaction_state-{n} (kafka.coordinator.transaction.TransactionCoordinator)",
)  # fmt: skip
"""Kinds whose digits are numbers and names, and such whose digits may decide what they are."""
TIMES_EACH = 60


def written(path: Path, seed: int, most: int) -> Path:
    """A log of all these entries, in any order, with numbers of up to `most` in place of `{n}`."""
    chosen, at = random.Random(seed), datetime(2026, 11, 21)
    entries = [entry for entry in ENTRIES for _ in range(TIMES_EACH)]
    chosen.shuffle(entries)
    lines = []
    for entry in entries:
        at += timedelta(milliseconds=chosen.randrange(10_000))
        text = "".join(piece + str(chosen.randrange(most)) for piece in entry.split("{n}"))[:-1]
        lines.append(f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}] {text}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("seed", "most"), [(1, 10), (2, 100), (3, 10), (4, 4), (5, 1000)])
def test_entries_of_a_kind_are_read_as_each_alone(tmp_path, seed, most):
    slow, fast = both(written(tmp_path / "server.log", seed, most))
    assert len({event["trace"] for event in slow}) > len(ENTRIES)
    assert fast == slow


def test_most_of_them_are_of_kinds_that_were_learnt(tmp_path, monkeypatch):
    read = []
    real = traced.Traced._read_one
    monkeypatch.setattr(traced.Traced, "_read_one", lambda self, *event: read.append(event) or real(self, *event))
    _, fast = both(written(tmp_path / "server.log", 1, 10))
    assert len(read) < sum(event["trace"] is not None for event in fast) / 2
