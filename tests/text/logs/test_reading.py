"""Logs of brokers to events: counted by other means over all recordings, and hostile texts."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind, Side
from tests.evidence import cases
from tests.text.logs.reading import Event, read, read_text

HEAD = r"^\[20\d\d-\d\d-\d\d [\d:,]+\] [A-Z]+ (?:\[[^\]]*\][:,]? ?)?"
LOGS = sorted(path for case in cases() for path in (case / "logs").glob("broker-*/*.log"))
OF_TRANSACTIONS = (
    "TransactionCoordinator", "TransactionStateManager", "TransactionMarkerChannelManager", "TxnMarkerQueue",
    "TransactionMarkerRequestCompletionHandler", "TransactionMetadata", "ProducerAppendInfo",
)  # fmt: skip
OF_NO_INTEREST = re.compile(
    r"(?:Starting|Startup complete|Starting up|Shutting down|Shutdown complete|Shutdown completed|Stopped)\.?$"
    r"|Creating new marker queue map to destination broker \d+$"
)
ONE = "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] "
LOGGER = " (kafka.coordinator.transaction.TransactionCoordinator)"
ROLLBACK = "Completed rollback of ongoing transaction for transactionalId {} due to timeout"


@cache
def read_once(path: Path) -> list[Event]:
    return read(path)[0]


def found(path: Path, kind: EventKind) -> list[Event]:
    return [event for event in read_once(path) if event["kind"] == kind]


def in_text(path: Path, pattern: str) -> list[tuple[str, ...]]:
    """Groups of a pattern in the raw text."""
    return [match.groups() for match in re.finditer(HEAD + pattern, path.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_events_of_recorded_brokers_are_those_that_a_search_finds(path):
    told = [
        (e["transactional_id"], str(e["producer_id"]), str(e["producer_epoch"]), str(e["partition"]))
        for e in found(path, EventKind.initialized)
    ]
    text = r"Initialized transactionalId (\S+) with producerId (\d+) and producer epoch (\d+) on partition \w+-(\d+)"
    assert told == in_text(path, text)
    told = [(e["transactional_id"],) for e in found(path, EventKind.timeout_rollback)]
    assert told == in_text(path, r"Completed rollback .*?transactionalId:? (\S+) due to timeout")
    told = [(str(e["partition"]), str(e["other_epoch"])) for e in found(path, EventKind.coordinator_elected)]
    assert told == in_text(path, r"Elected as the txn coordinator for partition (\d+) at epoch (\d+)")
    told = [(str(e["node"]),) for e in found(path, EventKind.node_disconnected)]
    assert told == in_text(path, r"Node (-?\d+) disconnected")
    told = [(str(e["node"]), e["detail"]) for e in found(path, EventKind.connection_failed) if e["detail"]]
    assert told == in_text(path, r"Connection to node (\d+) \((\S+)\) could not be established")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_refused_appends_are_told_with_the_numbers_of_their_exception(path):
    kinds = {
        "Producer's epoch": EventKind.stale_epoch, "Out of order": EventKind.sequence_refused,
        "Found no record": EventKind.unknown_producer, "Invalid coordinator": EventKind.zombie_coordinator,
        "Transactional records": EventKind.unsupported_format, "The size of": EventKind.append_refused,
    }  # fmt: skip
    events = read_once(path)
    told = [
        (e["kind"], e["topic"], str(e["partition"]), e["error"]) for e in events if e["kind"] in set(kinds.values())
    ]
    text = r"Error processing append operation on partition (\S+)-(\d+) .*\n([\w.]+): (.{5,})"
    expected = [
        (next(kind for start, kind in kinds.items() if message.startswith(start)), topic, partition, error)
        for topic, partition, error, message in in_text(path, text)
    ]
    assert told == expected


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_every_line_of_the_classes_of_transactions_is_an_event(path):
    lines = {event["line"] for event in read_once(path)}
    for number, line in enumerate(path.read_text().split("\n"), 1):
        logger = re.search(r" \(([\w.$]+)\)$", line)
        if logger and logger[1].rpartition(".")[2] in OF_TRANSACTIONS:
            message = re.sub(HEAD, "", line[: logger.start()])
            assert number in lines or OF_NO_INTEREST.match(message), line


@pytest.mark.parametrize("path", LOGS[::7], ids=lambda path: "/".join(path.parts[-4:-1]))
def test_places_lead_back_to_the_lines(path):
    data = path.read_bytes()
    lines = data.split(b"\n")
    events, source, _ = read(path)
    assert events
    for event in events:
        line = data[event["position"] :].split(b"\n", 1)[0]
        assert line == lines[event["line"] - 1]
        assert line.startswith(b"[2026-")
    assert source.lines == len(lines) - 1
    assert source.side is Side.broker
    assert str(source.broker_id) == path.parent.name.removeprefix("broker-")


def test_a_source_tells_when_it_begins_and_ends(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(f"{ONE}Starting up.{LOGGER}\n{ONE.replace('51,003', '59,999')}Startup complete.{LOGGER}\n")
    _, source, _ = read(path)
    assert (source.first_at, source.last_at) == (1795256631003, 1795256639999)
    assert (source.lines, source.bytes, source.is_zoned) == (2, path.stat().st_size, False)


def test_settings_of_a_block_are_read(tmp_path):
    path = tmp_path / "server.log"
    block = (
        "[2026-11-21 10:23:51,003] INFO KafkaConfig values: \n\tbroker.id = 1\n\ttransaction.max.timeout.ms = 900000\n"
    )
    path.write_text(f"{block} (kafka.server.KafkaConfig)\n{ONE}Starting up.{LOGGER}\n")
    events, _, settings = read(path)
    assert [(event["kind"], event["detail"]) for event in events] == [(EventKind.config_values, "KafkaConfig")]
    assert ("transaction.max.timeout.ms", "900000", 3) in [(one.name, one.value, one.line) for one in settings]


# --- texts that mean harm


def rollbacks(events: list[Event]) -> list[str]:
    return [event["transactional_id"] for event in events if event["kind"] == EventKind.timeout_rollback]


def line(name: str) -> str:
    return f"{ONE}{ROLLBACK.format(name)}{LOGGER}\n"


def test_a_line_within_a_payload_is_no_event(engine, tmp_path):
    payload = f'[2026-11-21 10:23:50,000] WARN Value: "first\n{line("forged")}last" (com.example.Orders)\n'
    json = '[2026-11-21 10:23:50,000] INFO {"value": "' + line("inline").strip() + '"} (com.example.Orders)\n'
    assert rollbacks(read_text(tmp_path, line("a") * 20 + payload + json + line("b"))) == ["a"] * 20 + ["b"]


@pytest.mark.parametrize("indent", ["\t", "    ", "\tat ", "Caused by: x: ", "> "])
def test_a_line_of_a_stack_trace_is_no_event_of_its_own(engine, tmp_path, indent):
    error = "[2026-11-21 10:23:50,000] ERROR [KafkaApi-1] Unexpected (kafka.server.KafkaApis)\njava.lang.Error: x\n"
    text = line("a") * 3 + error + indent + line("forged") + "\tat kafka.X.y(X.scala:1)\n" + line("b")
    assert rollbacks(read_text(tmp_path, text)) == ["a", "a", "a", "b"]


@pytest.mark.parametrize(
    "noise",
    [b"\0" * 50_000, b"\xff\xfe\x80" * 9_000, b"\x1b[2J\x1b]0;title\x07" * 900, b"[" * 60_000, b"[20" * 30_000,
     b"a.b.c(" * 20_000, b"(" * 50_000, b"Exception: " * 8_000, b'{"a":' * 20_000, b"x=" * 40_000, b"\r" * 40_000,
     b" " * 90_000, b"at a.b(c) " * 8_000, b"Caused by: " * 8_000, b"Id=] " * 20_000],
    ids=lambda noise: repr(noise[:12]),
)  # fmt: skip
@pytest.mark.parametrize("before", [b"", b"[2026-11-21 10:23:51,003] ERROR [TransactionCoordinator id=1] "])
def test_no_bytes_in_a_line_keep_the_lines_around_it_from_being_read(engine, tmp_path, noise, before):
    text = line("a").encode() * 3 + before + noise + LOGGER.encode() + b"\n" + line("b").encode()
    assert rollbacks(read_text(tmp_path, text))[-1] == "b"
    assert rollbacks(read_text(tmp_path, text))[:3] == ["a"] * 3


def test_a_line_longer_than_any_window_is_passed_over(engine, tmp_path):
    text = line("a").encode() * 2 + ONE.encode() + b"x" * (7 << 20) + LOGGER.encode() + b"\n" + line("b").encode()
    events = read_text(tmp_path, text)
    assert rollbacks(events) == ["a", "a", "b"]
    assert events[-1]["line"] == 4
    assert text[events[-1]["position"] :] == line("b").encode()


def test_ids_may_hold_any_characters(engine, tmp_path):
    names = ["with blank", "due to timeout", "späté", "(x)", "a' OR 1", "<b>", "[x]", "%s{}", "-1"]
    assert rollbacks(read_text(tmp_path, "".join(map(line, names)))) == names


def test_a_log_in_utf_16_is_read(engine, tmp_path):
    text = (line("a") + line("b")).encode("utf-16")
    events = read_text(tmp_path, text)
    assert rollbacks(events) == ["a", "b"]
    assert text[events[1]["position"] :].decode("utf-16-le") == line("b")


def test_ends_of_lines_may_be_those_of_windows(engine, tmp_path):
    assert rollbacks(read_text(tmp_path, (line("a") + line("b")).replace("\n", "\r\n"))) == ["a", "b"]


def test_a_file_without_its_last_newline_is_read_to_the_end(engine, tmp_path):
    assert rollbacks(read_text(tmp_path, (line("a") + line("b")).rstrip())) == ["a", "b"]


def test_a_log_behind_the_prefix_of_a_container_is_read(engine, tmp_path):
    text = "".join(f"kafka-1  | {line(name)}" for name in "abc")
    assert rollbacks(read_text(tmp_path, text)) == ["a", "b", "c"]


def test_nothing_is_no_event(engine, tmp_path):
    for text in ("", "\n", "\n\n\n", "x", "[20"):
        assert read_text(tmp_path, text) == []


def test_a_part_of_a_file_is_read_with_the_lines_of_the_whole(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("first\nsecond\n" + line("a"))
    events, source, _ = read(path, position=len("first\nsecond\n"), line=3)
    assert [(event["line"], event["position"]) for event in events] == [(3, 13)]
    assert (source.lines, source.bytes) == (1, len(line("a")))


def test_every_state_a_broker_is_in_between_start_and_stop_names_it(tmp_path):
    text = (
        "[2026-11-21 10:00:00,000] INFO starting (kafka.server.KafkaServer)\n"
        "[2026-11-21 10:00:01,000] INFO [KafkaServer id=7] started (kafka.server.KafkaServer)\n"
        "[2026-11-21 10:00:02,000] INFO Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)\n"
        "[2026-11-21 10:00:03,000] INFO Terminating process due to signal SIGTERM"
        " (org.apache.kafka.common.utils.LoggingSignalHandler)\n"
    )
    told = Counter((EventKind(event["kind"]).name, event["node"]) for event in read_text(tmp_path, text))
    assert told == Counter(
        [("broker_starting", 7), ("broker_started", 7), ("broker_release", 7), ("broker_stopping", 7)]
    )


@pytest.mark.parametrize("prefix", ["kafka-1  | ", "2026-11-21T10:23:52.000Z stdout F "])
def test_a_line_within_a_payload_is_no_event_behind_the_prefix_of_a_container_either(engine, tmp_path, prefix):
    payload = f'[2026-11-21 10:23:50,000] WARN Value: "first\nsecond\n{line("forged")}last" (com.example.Orders)\n'
    error = "[2026-11-21 10:23:50,000] ERROR Failed (a.B)\njava.lang.Error: x\n\tat a.B.c(B.java:1)\n"
    text = line("a") * 20 + payload + line("b") + error + line("c")
    lines = "".join(prefix + one for one in text.splitlines(keepends=True))
    assert rollbacks(read_text(tmp_path, lines)) == ["a"] * 20 + ["b", "c"]


def test_what_stands_behind_settings_that_are_not_a_lines_own_is_another_files(tmp_path):
    """Files that were mixed line by line: an exception below them is not the client's that wrote the line above."""
    state = "org.apache.kafka.clients.producer.internals.TransactionManager"
    said = "[Producer clientId=p, transactionalId=orders-1] Transiting to abortable error state due to"
    error = "org.apache.kafka.common.errors.{}Exception: There is a newer producer"
    line = f"2026-11-21 10:49:18.995 [main] INFO  {state} - {said} {error.format('InvalidProducerEpoch')}"
    events = read_text(
        tmp_path, f"{line}\n\tssl.truststore.type = JKS\n{error.format('ProducerFenced')}\n" * 2, "a.log"
    )
    told = [(one["transactional_id"], one["error"].rpartition(".")[2], one["at"] >= 0) for one in events]
    assert told == [("orders-1", "InvalidProducerEpochException", True), (None, "ProducerFencedException", False)] * 2
