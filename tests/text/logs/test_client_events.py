"""What clients' logs yield: recorded logs counted a second way, and lines of every client, release and layout."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.terms.catalogue.loading import event_templates
from kafkatx.terms.catalogue.templates import parse_template
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.text.events import Trace
from kafkatx.text.logs.filling import names
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind, TextPart
from tests.evidence import cases

FENCED = "org.apache.kafka.common.errors.ProducerFencedException"
TEXTS = ("topic", "transactional_id", "client_id", "group", "thread", "logger", "api", "error", "detail")
NUMBERS = ("producer_id", "producer_epoch", "number", "offset", "partition", "node", "correlation_id", "other_epoch")


@dataclass(frozen=True)
class Event:
    """An event with the strings and numbers that it has."""

    kind: EventKind
    line: int
    at: int
    level: Level
    side: Side
    columns: dict[str, Any]
    trace: Trace | None

    def __getitem__(self, name: str) -> Any:
        return self.columns.get(name)


def read(path: Path) -> list[Event]:
    with OpenFile(str(path)) as file:
        facts = read_log(file, TextPart(PartKind.LOG, 0, file.size, 1))
    return [event(row, facts.strings, facts.traces) for row in facts.events]


def event(row: Any, strings: list[str], traces: list[Trace]) -> Event:
    columns = {name: strings[row[f"{name}_code"]] for name in TEXTS if row[f"{name}_code"] >= 0}
    columns |= {name: int(row[name]) for name in NUMBERS if row[name] >= 0}
    trace = traces[row["trace_code"]] if row["trace_code"] >= 0 else None
    kind, level, side = EventKind(int(row["kind"])), Level(int(row["level"])), Side(int(row["side"]))
    return Event(kind, int(row["line"]), int(row["at"]), level, side, columns, trace)


@pytest.fixture
def events_of(tmp_path: Path) -> Any:
    def read_text(*lines: str) -> list[Event]:
        path = tmp_path / "app.log"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return read(path)

    return read_text


def recorded() -> Iterator[Path]:
    for case in cases():
        yield from sorted(case.glob("logs/client-*"))


@pytest.fixture(scope="module")
def logs() -> list[tuple[Path, list[str], list[Event]]]:
    return [(path, path.read_text("utf-8", "replace").split("\n"), read(path)) for path in recorded()]


SECOND_LOOK = {
    EventKind.producer_id_set: r"ProducerId set to |Acquired PID\{|producer id initialization success",
    EventKind.client_started: r"Instantiated an? \w+ producer",
    EventKind.init_called: r"Invoking InitProducerId for the first|API called: init_transactions",
    EventKind.init_bump: r"in order to bump the epoch|Bumping producer epoch|via producer id reload",
    EventKind.to_abortable: r"Transiting to abortable error|producer ID failed due to a produce error",
    EventKind.to_fatal: r"Transiting to fatal error|Fatal transaction error|%0.*Fatal error|Fatal Error handling|"
    r"unable to begin transaction due to|has a fatal, unrecoverable error",
    EventKind.abort_called: r" Aborting incomplete transaction$|API called: abort_t|ending transaction;.*commit: false",
    EventKind.abort_on_close: r"Aborting incomplete transaction due to shutdown",
    EventKind.client_closing: r"Closing the Kafka producer with",
    EventKind.force_closed: r"Proceeding to force close",
    EventKind.produce_retry: r"Got error produce response.*retrying",
    EventKind.sequence_reset: r"Resetting sequence number of batch",
    EventKind.idempotent_bump: r"No inflight batches remaining",
    EventKind.coordinator_found: r"Discovered .*coordinator|Transaction coordinator changed from",
    EventKind.request_enqueued: r"Enqueuing transactional request|[^-] initializing producer id|: Acquiring ProducerId|"
    r"(?<!timer: )Failed to acquire transactional PID from(?!.*another concurrent)",
    EventKind.concurrent_transactions: r"(?<!timer: )Failed to acquire transactional PID from .*another concurrent",
    EventKind.commit_called: r"API called: commit_t|ending transaction;.*commit: true",
    EventKind.begin_called: r"API called: begin_t|[^-] beginning transaction;|Created new transactional producer",
    EventKind.client_release: r"Kafka version ?: |Kafka Streams version: |librdkafka v",
    EventKind.config_values: r"Config values:",
    EventKind.fenced: r"Detected that the thread is being fenced|because its producer is already fenced|"
    r"initialization errored; err: PRODUCER_FENCED",
    EventKind.group_lost: r"since member id \S+ is not valid",
}
"""Kinds and what stands in their lines, written down without the catalogue."""


def test_events_of_recorded_logs_are_those_that_a_second_look_counts(logs):
    for path, lines, events in logs:
        for kind, pattern in SECOND_LOOK.items():
            expected = [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
            found = [event.line for event in events if event.kind is kind]
            assert found == expected, (path, kind)


def test_ids_epochs_and_times_of_recorded_initialisations_are_those_printed(logs):
    shape = re.compile(
        r"(?P<time>\d{4}-\S+ \S+).*(?:ProducerId set to (\d+) with epoch (\d+)|PID\{Id:(\d+),Epoch:(\d+)|"
        r"success; id: (\d+), epoch: (\d+))"
    )
    bracket = re.compile(r"transactionalId=([^],]+)\]|\[TransactionalId ([^]]+)\]|kafka-python ([^ ]+)")
    seen = 0
    for path, lines, events in logs:
        for event in (event for event in events if event.kind is EventKind.producer_id_set):
            if not (found := shape.match(lines[event.line - 1])):
                continue
            seen += 1
            numbers = [int(value) for value in found.groups()[1:] if value is not None]
            assert [event["producer_id"], event["producer_epoch"]] == numbers, path
            assert event.at == round(datetime.fromisoformat(found["time"] + "+00:00").timestamp() * 1000), path
            named = bracket.search(lines[event.line - 1])
            assert event["transactional_id"] == (next(filter(None, named.groups())) if named else None), path
    assert seen


def test_every_exception_of_recorded_logs_is_an_event_with_its_root(logs):
    """Of every line with a trace of Java under it the last `Caused by`, else the first exception, is the root."""
    head = re.compile(r"(?:Caused by: )?((?:[a-z_]\w*\.)+[A-Z]\w*)(?::|$)")
    seen = 0
    for path, lines, events in logs:
        if "-aio-" in path.name or "-kpy-" in path.name:
            continue
        told = {event.line: event for event in events}
        starts = [0, *(number for number, line in enumerate(lines, 1) if re.match(r"20\d\d-", line))]
        for start, end in zip(starts[1:], [*starts[2:], len(lines) + 1], strict=len(starts) > 1):
            heads = [found[1] for line in lines[start : end - 1] if (found := head.match(line))]
            if not heads or "kafka" not in " ".join(heads):
                continue
            seen += 1
            assert told[start].trace is not None, (path, start)
            names = [link.exception for link in told[start].trace.chain]
            assert names[: len(heads)] == heads, (path, start)
            assert Level[re.search(r"\b(INFO|WARN|ERROR)\b", lines[start - 1])[1].lower()] == told[start].level
    assert seen or not any("k27" in case.name for case in cases())


def test_what_an_application_says_of_its_calls_is_their_api(logs):
    words = {
        r"Error while committing transaction": {"commitTransaction", "EndTxn(true)"},
        r"Error while aborting transaction": {"abortTransaction", "EndTxn(false)"},
        r"beginTransaction failed|begin failed": {"beginTransaction"},
        r"sendOffsetsToTransaction failed": {"sendOffsetsToTransaction"},
        r"Could not initialise transactions": {"InitProducerId", "initTransactions"},
        r"Failed to send record to": {"send", None},
        r"(?:ledger|billing):? commit failed": {"commitTransaction"},
        r"(?:ledger|billing):? abort failed": {"abortTransaction"},
    }
    counts: Counter[str] = Counter()
    for path, lines, events in logs:
        for event in events:
            for pattern, calls in words.items():
                if re.search(pattern, lines[event.line - 1]):
                    counts[pattern] += 1
                    assert event["api"] in calls, (path, event.line, event["api"])
    assert counts


def test_recorded_client_logs_are_known_to_be_clients(logs):
    for path, _, events in logs:
        assert {event.side for event in events} <= {Side.client}, path


def test_every_client_row_of_the_catalogue_is_sound():
    known = set(names())
    seen: Counter[tuple[object, ...]] = Counter()
    for entry in event_templates():
        if entry.side is not Side.client:
            continue
        placeholders = parse_template(entry.template).names
        assert not entry.fields or len(entry.fields) == len(placeholders), entry.template
        assert {*entry.fields, *(name for name, _ in entry.constants)} <= known, entry.template
        if entry.kind is not EventKind.other and entry.stands != "exception":
            seen[parse_template(entry.template).pieces, entry.stands, entry.loggers] += 1
    assert max(seen.values()) == 1, seen.most_common(2)


FILLED = re.compile(r"<(\w[\w.]*)>")


@pytest.mark.parametrize("client", sorted({e.client for e in event_templates() if e.side is Side.client}))
def test_a_line_with_each_text_of_a_client_is_that_event(events_of, client):
    """Each text is filled in, given a prefix, and read as a log: kind and every column that the row names."""
    entries = [
        entry for entry in event_templates()
        if entry.client == client and entry.side is Side.client and entry.kind is not EventKind.other
        and entry.stands in ("line", "both") and len(entry.fields) == len(parse_template(entry.template).names)
    ]  # fmt: skip
    lines, wanted = [], []
    for number, entry in enumerate(entries):
        values = iter(value_of(field, number) for field in entry.fields)
        text = FILLED.sub(lambda _, values=values: next(values), entry.template)
        logger = next(iter(entry.loggers), "com.example.Lib")
        lines.append(f"2026-11-21 10:00:00.{number:03d} [main] INFO  org.example.{logger} - {text}")
        wanted.append((entry, {f: value_of(f, number) for f in entry.fields if f not in ("-", "exception")}))
    found = {event.line: event for event in events_of(*lines)}
    for line, (entry, values) in enumerate(wanted, 1):
        assert found[line].kind is entry.kind, lines[line - 1]
        for name, value in values.items():
            if name == "topic_partition":
                assert (found[line]["topic"], found[line]["partition"]) == ("orders-eu", 3), lines[line - 1]
            elif name in NUMBERS:
                assert found[line][name] == int(value), lines[line - 1]
            elif name in TEXTS and values[name] == value:
                assert found[line][name] is not None, lines[line - 1]


def value_of(field: str, number: int) -> str:
    if field == "topic_partition":
        return "orders-eu-3"
    if field == "exception":
        return f"{FENCED}: old"
    return str(number + 1) if field in NUMBERS else "x" if field == "-" else f"value{number}"


def java(message: str, level: str = "INFO", ids: str = "[Producer clientId=p-1, transactionalId=orders] ") -> str:
    return f"2026-11-21 10:23:51.003 [main] {level}  org.apache.kafka.clients.producer.X - {ids}{message}"


def test_texts_of_releases_that_differ_mean_the_same(events_of):
    for text in (
        "Timeout expired after 60000milliseconds while awaiting EndTxn(true)",
        "Timeout expired after 60000 milliseconds while awaiting EndTxn(true)",
        "Timeout expired after 60000ms while awaiting EndTxn(true)",
        "Timeout expired after 60000ms while awaiting EndTxn(true). The coordinator did not answer.",
    ):
        [event] = events_of(
            java("commit failed", "ERROR", ""), f"org.apache.kafka.common.errors.TimeoutException: {text}"
        )
        assert (event.kind, event["number"], event["api"]) == (EventKind.await_timeout, 60_000, "EndTxn(true)")
        assert event.trace is not None


@pytest.mark.parametrize("older", [True, False])
def test_expired_records_tell_partition_age_and_number(events_of, older):
    text = "Expiring 3 record(s) for orders-eu-7:" + (
        " 30012 ms has passed since last append" if older else "120000 ms has passed since batch creation"
    )
    [event] = events_of(java("Failed to send", "ERROR"), f"org.apache.kafka.common.errors.TimeoutException: {text}")
    assert (event.kind, event["topic"], event["partition"]) == (EventKind.batch_expired, "orders-eu", 7)
    assert (event["offset"], event["number"]) == (3, 30_012 if older else 120_000)


def test_the_outermost_known_exception_decides_and_an_older_cause_does_not(events_of):
    [event] = events_of(
        java("Error while aborting transaction", "ERROR"),
        "org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state",
        "\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:1)",
        "\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:1)",
        "Caused by: org.apache.kafka.common.errors.TimeoutException: Expiring 1 record(s) for t-0:9 ms has passed "
        "since batch creation",
    )
    assert (event.kind, event["api"]) == (EventKind.failure, "abortTransaction")
    assert event["error"].endswith("TimeoutException")


INCIDENT = """\
15:42:18.189 [main] INFO  o.a.k.c.FetchSessionHandler - [Consumer clientId=consumer-1, groupId=g] Error sending fetch \
request (sessionId=1, epoch=2) to node 0: org.apache.kafka.common.errors.DisconnectException.
15:42:22.815 [kafka-producer-network-thread | producer-3] WARN  o.a.k.c.p.internals.Sender - [Producer \
clientId=producer-3, transactionalId=TEST-TID-0] Got error produce response with correlation id 851515 on \
topic-partition T-TEST-SNP-0, retrying (2147483646 attempts left). Error: REQUEST_TIMED_OUT
15:43:22.789 [disruptor-1] INFO  c.l.d.IgnoreExceptionHandler - Exception processing: 7
org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state
\tat org.apache.kafka.clients.producer.internals.TransactionManager.maybeFailWithError(TransactionManager.java:785)
\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:230)
\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:716)
Caused by: org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch. \
Either there is a newer producer with the same transactionalId, or the producer's transaction has been expired by the \
broker.
"""


def test_an_abort_in_the_fatal_state_logged_at_info_is_read_whole(events_of):
    fetch, retry, abort = events_of(*INCIDENT.splitlines())
    assert (fetch.kind, fetch["node"]) == (EventKind.fetch_failed, 0)
    assert (retry.kind, retry["topic"], retry["partition"]) == (EventKind.produce_retry, "T-TEST-SNP", 0)
    assert (retry["correlation_id"], retry["number"], retry["error"]) == (851_515, 2_147_483_646, "REQUEST_TIMED_OUT")
    assert (retry["client_id"], retry["transactional_id"]) == ("producer-3", "TEST-TID-0")
    assert (abort.kind, abort.level, abort["api"]) == (EventKind.failure, Level.info, "abortTransaction")
    assert abort["error"] == FENCED
    assert abort.trace is not None
    assert abort.trace.releases == ("kafka-clients-2.2.0",)


def test_an_abort_behind_a_damaged_bracket_is_still_an_abort(events_of):
    lines = [
        "2024-04-03T18:20:30.079+08:00  WARN 1 --- [-thread | p] o.a.k.c.p.i.Sender  : [Producer clientId=producer-1, "
        "transactionalId=TEST-TID-1] Got error produce response with correlation id 1313 on topic-partition T-1, "
        "retrying (2147483646 attempts left). Error: REQUEST_TIMED_OUT",
        "[cducer clientId=producer-1, transactionalId=TEST-TID-1] Aborting incomplete transaction",
        "2024-04-03T18:21:00.064+08:00 ERROR 1 --- [worker] c.e.Orders  : rollback",
        "org.apache.kafka.common.KafkaException: TransactionalId TEST-TID-1: Invalid transition attempted from state "
        "COMMITTING_TRANSACTION to state ABORTING_TRANSACTION",
        "\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:779)",
    ]
    retry, abort, failure = events_of(*lines)
    assert retry.at == datetime(2024, 4, 3, 10, 20, 30, 79_000, UTC).timestamp() * 1000
    assert (abort.kind, abort["transactional_id"], abort.at) == (EventKind.abort_called, "TEST-TID-1", -1)
    assert (failure.kind, failure["api"]) == (EventKind.failure, "abortTransaction")


@pytest.mark.parametrize("gap", ["{0}\n{1}{2}", "{0}\n{1}\n{2}", "{0} {1}\n{2}", "{0}\r\n{1}\r\n{2}"])
def test_a_line_wrapped_behind_its_logger_or_its_bracket_is_one_event(events_of, gap):
    head = "2024-04-03T18:21:00.063+08:00  INFO 1 --- [worker] o.a.k.clients.producer.KafkaProducer  :"
    ids = "[Producer clientId=producer-1, transactionalId=TEST-TID-1] "
    [event] = events_of(gap.format(head, ids, "Aborting incomplete transaction"))
    assert (event.kind, event["transactional_id"]) == (EventKind.abort_called, "TEST-TID-1")
    assert event.at == datetime(2024, 4, 3, 10, 21, 0, 63_000, UTC).timestamp() * 1000


def test_a_forged_line_is_no_event(events_of):
    forged = java("ProducerId set to 66 with epoch 6")
    for lines in (
        [java("stored", ids=""), f"\t{forged}"],
        [java("stored", ids=""), f"    {forged}"],
        [json.dumps({"@timestamp": "2026-11-21T10:23:51.003Z", "level": "INFO", "message": f"stored\n{forged}"})],
        [java(f"payload was: {forged}", ids="")],
        [java(f"payload was: {forged}")],
    ):
        assert not [event for event in events_of(*lines) if event.kind is EventKind.producer_id_set], lines


def test_json_lines_and_wrapped_lines_give_the_same_events_as_plain_ones(events_of):
    message = "[Producer clientId=p-1, transactionalId=orders] ProducerId set to 7 with epoch 3"
    frame = "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:1)"
    trace = f"{FENCED}: old\n{frame}"
    plain = [java("ProducerId set to 7 with epoch 3"), java("Error while committing transaction", "ERROR", "")]
    json_lines = [
        json.dumps({"@timestamp": "2026-11-21T10:23:51.003Z", "level": level, "thread_name": "main", "message": text,
                    "logger_name": "org.apache.kafka.clients.producer.X", "stack_trace": stack})
        for level, text, stack in (("INFO", message, ""), ("ERROR", "Error while committing transaction", trace))
    ]  # fmt: skip
    lines = [*plain, *trace.split("\n")]
    docker = [json.dumps({"log": f"{one}\n", "stream": "stdout", "time": "2026-11-21T10:23:51.1Z"}) for one in lines]
    compose = [f"orders-1  | {one}" for one in lines]
    kubernetes = [f"2026-11-21T10:23:51.003123456Z stdout F {one}" for one in lines]
    expected = events_of(*lines)
    assert [event.kind for event in expected] == [EventKind.producer_id_set, EventKind.failure]
    assert expected[1]["api"] == "commitTransaction"
    for other in (json_lines, docker, compose, kubernetes):
        found = events_of(*other)
        assert [(e.kind, e.at, e.level, e.columns, e.trace) for e in found] == [
            (e.kind, e.at, e.level, e.columns, e.trace) for e in expected
        ], other[0]


def test_flinks_bracket_lies_and_its_own_lines_tell_the_id(events_of):
    own = "2026-11-21 10:00:00.000 [Sink: Writer (1/2)#0] {} org.apache.flink.connector.kafka.sink.{} - {}"
    commit = (
        "Unable to commit transaction (CommitRequestImpl{state=RECEIVED, numRetries=0, committable=KafkaCommittable{"
        "producerId=4, epoch=2, transactionalId=copy-sink-0-3}}) because its producer is already fenced. This means"
    )
    created, resumed, fenced = events_of(
        own.format("INFO ", "KafkaWriter", "Created new transactional producer copy-sink-0-3"),
        own.format(
            "INFO ",
            "FlinkKafkaInternalProducer",
            "Attempting to resume transaction copy-sink-0-3 with producerId 4 and epoch 2",
        ),
        own.format("ERROR", "KafkaCommitter", commit),
    )
    assert (created.kind, created["transactional_id"]) == (EventKind.begin_called, "copy-sink-0-3")
    assert (resumed.kind, resumed["producer_id"], resumed["producer_epoch"]) == (EventKind.client_state, 4, 2)
    assert (fenced.kind, fenced["transactional_id"]) == (EventKind.fenced, "copy-sink-0-3")
    assert (fenced["producer_id"], fenced["producer_epoch"], fenced["api"]) == (4, 2, "commitTransaction")


TRACE = (
    f"{FENCED}: old",
    "\tat org.apache.kafka.clients.producer.internals.Sender.run(Sender.java:1)",
    "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:1)",
    "Caused by: java.io.IOException: root",
    "\t... 3 more",
)


@pytest.mark.parametrize("cut", range(1, 5))
def test_a_trace_that_another_thread_interrupts_stays_with_its_own_line(events_of, cut):
    other = "2026-11-21 10:23:51.004 [kafka-producer-network-thread | p-2] INFO  org.apache.kafka.clients.Metadata - {}"
    between = [other.format("[Producer clientId=p-2, transactionalId=b] ProducerId set to 7 with epoch 3"),
               other.format("hello")]  # fmt: skip
    whole = [java("Error while committing transaction", "ERROR", ""), *TRACE]
    alone = events_of(*whole)
    failure, given = events_of(*whole[: cut + 1], *between, *whole[cut + 1 :])
    assert (failure.kind, failure.columns, failure.trace) == (alone[0].kind, alone[0].columns, alone[0].trace)
    assert (given.kind, given["producer_id"], given["error"], given.trace) == (EventKind.producer_id_set, 7, None, None)


def test_a_trace_printed_under_a_line_that_never_throws_is_a_failure_of_its_own(events_of):
    given, failure = events_of(java("ProducerId set to 7 with epoch 3"), *TRACE, java("ProducerConfig x", "INFO", ""))
    assert (given.kind, given.trace) == (EventKind.producer_id_set, None)
    assert (failure.kind, failure.line, failure.level) == (EventKind.failure, 2, Level.unknown)
    assert failure.trace is not None
    assert failure["api"] == "commitTransaction"


def test_lines_of_a_message_without_prefix_belong_to_the_line_above(events_of):
    [event] = events_of(
        java("Error while committing transaction", "ERROR", ""),
        "org.apache.kafka.common.KafkaException: first line",
        "second line, ProducerId set to 66 with epoch 6",
        "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:1)",
        f"Caused by: {FENCED}: old",
    )
    assert event["error"] == FENCED
    assert event.trace is not None
    assert event.trace.chain[0].message.startswith("first line\nsecond line")
