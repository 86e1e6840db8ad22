"""The fast path of brokers' logs against the slow one: the same events of every line, whole or damaged."""

import random
import tempfile
from pathlib import Path

import pytest

from kafkatx.kernels.engine import forced
from kafkatx.terms.events import EventKind
from kafkatx.text.logs import reading
from kafkatx.text.logs.repeated import Repeated
from tests.benchmarks import broker_log, repeated_log
from tests.evidence import cases
from tests.text.logs.reading import both, read

LOGS = sorted(path for case in cases() for path in (case / "logs").glob("broker-*/*.log"))
PIECES = (
    b"[", b"]", b"(", b")", b" ", b"  ", b"\t", b"\r", b".", b"-", b": ", b"0", b"-1", b"Some(3)", b"Exception", b"<",
    b"\xc3\xa9", b"\xff", b"\0", b"\x1b[0m", b"\n", b"\n\tat a.b.c(D.java:1)\n", b"\nCaused by: a.b.CException: x\n",
    b"\njava.lang.IllegalArgumentException: Transactional records are not supported for magic 1\n", b"Id=",
    b"\njava.io.IOException: Too many open files\n", b" (kafka.server.KafkaServer)\n", b"99999999999999999999",
    b"unclean", b"Loading transaction metadata from __transaction_state", b"endTxn", b"due to timeout",
    b"transaction metadata",
)  # fmt: skip


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_recorded_logs_are_read_alike(path):
    slow, fast = both(path)
    assert slow
    assert fast == slow


@pytest.mark.parametrize("seed", range(6))
def test_damaged_lines_are_read_alike(seed):
    chosen = random.Random(seed)
    lines = [line for path in LOGS for line in path.read_bytes().splitlines() if line.startswith(b"[20")]
    kept = lines[:150]
    for line in chosen.sample(lines, 350):
        at, size = chosen.randrange(len(line) + 1), chosen.choice((0, 0, 1, 5))
        kept.append(line[:at] + chosen.choice(PIECES) + line[at + size :])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "server.log")
        path.write_bytes(b"\n".join(kept))
        slow, fast = both(path)
    assert slow
    assert [event for event in fast if event not in slow] == []
    assert fast == slow


def test_kernels_of_columns_say_the_same_as_plain_python(tmp_path, monkeypatch):
    path = tmp_path / "server.log"
    path.write_bytes(b"".join(b"\n".join(log.read_bytes().splitlines()[-24:]) + b"\n" for log in LOGS[::3]))
    slow, fast = both(path)
    monkeypatch.setattr(reading, "is_fast", lambda: True)
    with forced("interpreted"):
        plain = read(path)[0]
    assert slow
    assert plain == fast == slow


def test_a_log_that_only_speaks_of_transactions_is_read_alike(tmp_path):
    path = broker_log.write(tmp_path / "server.log", 200_000, is_dense=True)
    slow, fast = both(path)
    assert fast == slow
    assert len(fast) + sum(event["repeats"] for event in fast) == broker_log.LINES_AT_ONCE


def test_the_exception_under_a_line_decides_on_both_paths(tmp_path):
    text = (
        "[2026-11-21 10:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
        "[2026-11-21 10:00:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on partition t-0"
        " (kafka.server.ReplicaManager)\njava.lang.IllegalArgumentException: Transactional records are not supported"
        " for magic 1\n\tat kafka.log.Log.append(Log.scala:1)\n"
        "[2026-11-21 10:00:01,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for"
        " fetch request (type=FetchRequest) (kafka.server.ReplicaFetcherThread)\n"
        "java.io.IOException: Too many open files\n"
        "[2026-11-21 10:00:02,000] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)\n"
    )
    path = tmp_path / "server.log"
    path.write_text(text)
    slow, fast = both(path)
    assert fast == slow
    kinds = [EventKind(event["kind"]) for event in fast]
    assert kinds == [
        EventKind.broker_started, EventKind.unsupported_format, EventKind.storage_failed, EventKind.broker_stopping,
    ]  # fmt: skip
    assert (fast[1]["number"], fast[1]["topic"], fast[1]["partition"]) == (1, "t", 0)


@pytest.mark.parametrize("kind", ["quiet", "busy"])
def test_entries_that_come_again_say_what_each_says(tmp_path, monkeypatch, kind):
    path = repeated_log.write(tmp_path / "server.log", 600_000, kind)
    slow, fast = both(path)
    assert fast == slow
    monkeypatch.setattr(Repeated, "whole", lambda self, cut, start, end, number: None)
    each, _ = both(path)
    assert each == slow


def test_an_entry_with_another_word_is_another_one(tmp_path):
    entries = [
        f"[2026-11-21 10:00:{second:02},000] INFO KafkaConfig values: \n\tbroker.id = {second % 3}\n"
        f"\ttransaction.state.log.min.isr = {second % 2}\n\tnode.id = 1\n (kafka.server.KafkaConfig)\n"
        for second in range(60)
    ]
    padding = "[2026-11-21 10:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n" * 1_000
    (tmp_path / "server.log").write_text(padding + "".join(entries))
    slow, fast = both(tmp_path / "server.log")
    assert fast == slow
    settings = read(tmp_path / "server.log")[2]
    told = [setting.value for setting in settings if setting.name == "transaction.state.log.min.isr"]
    assert told == [str(second % 2) for second in range(60)]
