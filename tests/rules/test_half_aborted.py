"""A partition that was aborted by hand while its transaction was open: the command, a commit behind it, two halves."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

COMMANDS = (
    "14:02:05 $ kafka-transactions.sh --bootstrap-server b1:9092 abort --topic pay-in --partition 2 --start-offset 700",
    "      $ kafka-transactions.sh --bootstrap-server b1:9092 abort --topic pay-in --partition 2 --start-offset 700",
    "14:02 me (alarm): bin/kafka-transactions --bootstrap-server b1:9092 --command-config a.properties abort "
    "--start-offset 700 --partition 2 --topic pay-in   -> ok",
)
OPEN = (
    "14:00:01 app: begin_transaction, rows to pay-in and pay-out",
    "14:00:01 INFO beginTransaction (timeout 15 min)",
    "ProducerId\tProducerEpoch\tLatestCoordinatorEpoch\tLastSequence\tLastTimestamp\tCurrentTransactionStartOffset\t\n"
    "9         \t0            \t-1                    \t0           \t1678791240133\t700                          \t\n",
)
COMMITTED = (
    "14:03:00 app: commit_transaction() OK",
    "%7|1739256552.301|TXNCOMPLETE|loader#producer-1| [thrd:main]: Transaction successfully committed",
    "jshell> producer.commitTransaction()   // returns, no exception",
    "14:03:00.118 [writer] DEBUG akka.kafka.internal.TransactionalProducerStage - Committed transaction for "
    "transactional id 'pay' consumer group 'pay' with offsets: Map(cmd-3 -> OffsetAndMetadata{offset=91})",
)
HALVES = (
    "pay-out is visible to read_committed readers, pay-in is not",
    "the left leg is gone and the right leg is committed",
    "`pay-out` has its 12 records and `pay-in` does not have its 12",
    "accounting: 40 credits without debit",
)
FAILED = "14:03:00 app: commit_transaction() failed: Local: Erroneous state"
HANGS = (
    "Topic\tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)\n"
    "pay-in\t2        \t9         \t0            \t12              \t700        \t1678791240133\t1440         \n"
)
LOG = "[2026-11-21 10:00:00,000] INFO started (kafka.server.KafkaServer)"
RULE = "atomicity_violation"


def _told(folder: Path, *parts: str) -> dict[str, dict]:
    path = folder / "page.md"
    path.write_text("\n\n".join(("What happened at the alarm:", *parts, "")))
    return {one["rule"]: one for one in document(kafkatx.diagnose([path]), "t")["findings"]}


@pytest.mark.parametrize(("command", "opened", "committed"), list(product(COMMANDS, OPEN, COMMITTED)))
def test_an_open_transaction_that_was_committed_later_is_likely(command, opened, committed, tmp_path):
    found = _told(tmp_path, opened, command, committed)[RULE]
    assert found["remedies"][0]["text"].startswith("First compare producer id, epoch and time of both markers")
    assert (found["verdict"], found["severity"]) == ("likely", "error")
    assert (found["topic"], found["partition"]) == ("pay-in", 2)
    assert not found["considered"][0]["refuted"]


@pytest.mark.parametrize(("command", "committed", "halves"), list(product(COMMANDS, COMMITTED, HALVES)))
def test_halves_that_differ_say_the_same(command, committed, halves, tmp_path):
    assert _told(tmp_path, LOG, command, committed, halves)[RULE]["verdict"] == "likely"


@pytest.mark.parametrize(
    "parts",
    [
        (COMMANDS[0], COMMITTED[0]),
        (COMMANDS[0], HALVES[0]),
        (OPEN[0], COMMANDS[0]),
        (OPEN[0], COMMITTED[0], HALVES[0]),
        (OPEN[0], COMMITTED[0], COMMANDS[0]),
        (OPEN[0], COMMANDS[0], FAILED),
        (OPEN[0], COMMANDS[0], OPEN[1], COMMITTED[0]),
        (OPEN[0], COMMANDS[0], "14:02:40 restarted, begins a new batch", COMMITTED[0], HALVES[0]),
        (OPEN[0], HANGS, COMMANDS[0], COMMITTED[0]),
        (OPEN[0], f"You could call {COMMANDS[1].strip()}", COMMITTED[0], HALVES[0]),
    ],
    ids=[
        "was it open?", "no commit", "no commit, open", "no command", "committed before", "the commit failed",
        "another transaction began", "another one began, and halves differ", "it hung", "advice",
    ],
)  # fmt: skip
def test_what_looks_alike_is_not(parts, tmp_path):
    assert RULE not in _told(tmp_path, LOG, *parts)
