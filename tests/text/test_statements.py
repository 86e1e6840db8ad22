"""What people say on a page, and what is no saying of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.prose.statements import speaking_on, statements_on_page
from kafkatx.text.whole_pages import LARGEST_PAGE, page_of

SAID = {
    "enable.idempotence is on": {"only_idempotent"},
    "enable.idempotence=false": set(),
    "we write to an Event Hub": {"only_idempotent"},
    "a transactional producer on Event Hubs": set(),
    "it stands idle for days": {"idle_long"},
    "it came after the weekend": {"idle_long"},
    "no messages for two days": {"idle_long"},
    "it was not idle for days": set(),
    "all pods read TRANSACTIONAL_ID=a from one config": {"same_id_elsewhere"},
    "all pods read their own TRANSACTIONAL_ID": set(),
    "exactly one pod makes progress": set(),
    "We run a single pod of it.": {"one_instance"},
    "Nobody else uses that id": {"one_owner"},
    "There is no other producer with this prefix anywhere": {"one_owner"},
    "replicas: 1, no autoscaling": {"one_instance"},
    "only one instance of the service is deployed": set(),
    "only one of the instances shows it": set(),
    "one producer per partition": set(),
    "one pod died and came back": set(),
    "Nobody else should use it I think": set(),
    "I had started the jar twice by accident": {"same_id_elsewhere"},
    "It is not started twice, I checked": {"one_owner"},
    "both environments have the same transactional.id": {"same_id_elsewhere"},
    "we scaled it up to 4 pods at noon": {"more_instances"},
    "during a rolling restart of the brokers": {"brokers_away"},
    "one broker was down for an hour": {"brokers_away"},
    "no broker was down": set(),
    "transaction.state.log.min.isr=3": {"isr_of_all"},
    "transaction.state.log.min.isr=1": set(),
    "kafka-console-consumer --topic bookings --from-beginning": {"reads_by_default"},
    "kafka-console-consumer --topic bookings --isolation-level=x": set(),
    "we commit after each record": {"each_record"},
    "we commit after each batch": set(),
    "it came after a quiet period": {"idle_long"},
    "a checkpoint every 5 minutes": {"long_transaction", "long_work"},
    "it timed out its transaction": {"timeout_named"},
    "it never timed out a transaction": set(),
    "a handler exceeded max.poll.interval.ms now and then": {"more_instances", "worked_before"},
    "retention.ms=3600000 on this topic": {"short_retention"},
    "happens at every rolling deployment": {"more_instances"},
    "there are three brokers": {"more_brokers"},
    "the import runs for about 20 minutes": {"long_work"},
    "transaction.timeout.ms is 60 s, linger.ms 5": {"timeout_told"},
    "a commit every 5 s": set(),
    "init_transactions done": set(),
    "stopped at a breakpoint": {"long_work"},
    "kafka-producer-perf-test.sh --topic a --transactional-id perf-1 --throughput -1": {"id_option"},
    "kafka-transactions.sh --bootstrap-server k:9092 describe --transactional-id perf-1": set(),
    "without --transactional-id it runs": set(),
    "a read_uncommitted reader gets everything": {"reads_uncommitted"},
    "read_uncommitted gets nothing, too": set(),
    "if read_uncommitted reads it, the LSO stands": set(),
    "$ kafka-transactions.sh --bootstrap-server k:9092 abort --topic a --partition 3 --start-offset 7": {
        "marker_by_hand"
    },
    "kafka-transactions --bootstrap-server k:9092 abort --topic a --partition 3 --start-offset 7": {"marker_by_hand"},
    "you should call kafka-transactions.sh abort --topic a --partition 3 --start-offset 7": set(),
    "kafka-transactions.sh --bootstrap-server k:9092 abort --help": set(),
    'transactional.id = "exp-" + UUID.randomUUID()': {"random_id"},
    "we give it a random suffix at the start": {"random_id"},
    "the uuid of the order is the key": set(),
    "It fails if the pod is killed. We have a single pod.": {"one_instance"},
    "It would fail if we had a single pod.": set(),
    "10:05 commit_transaction() OK": {"commit_ok"},
    "commit_transaction() did not return": set(),
    "the commit failed, then it was done by hand": set(),
    "a is visible to the readers, b is not": {"halves_differ"},
    "b has its 12 records and a does not have its 12": {"halves_differ"},
    "40 credits without a debit": {"halves_differ"},
    "the record is visible": set(),
    "We get a ProducerFencedException when we run two instances.": {"more_instances"},
    "Caused by: ProducerFencedException when we run two instances.": set(),
    "It works with one pod": {"more_instances"},
    "It also works with one pod": set(),
    "This is due to a broker-side timeout": {"timed_out_said"},
    "or the producer's transaction has been expired by the broker": set(),
    "the transaction did not time out": set(),
    "a single Kafka container": {"one_broker"},
}


def _said(folder: Path, text: str) -> list:
    path = folder / "page.md"
    path.write_text(text)
    file = OpenFile(str(path))
    try:
        page = page_of(file)
        return [*statements_on_page(file), *(speaking_on(page) if page is not None else ())]
    finally:
        file.close()


@pytest.mark.parametrize(("text", "names"), SAID.items(), ids=SAID.keys())
def test_a_sentence_says(text: str, names: set[str], tmp_path: Path) -> None:
    assert {one.name for one in _said(tmp_path, text)} == names


@pytest.mark.parametrize(
    ("text", "lasted"),
    [
        ("it took 90 s", 90_000),
        ("the call came back after 3.5 min", 210_000),
        ("sleep 120 s", 120_000),
        ("batch done, took PT17M41S", 1_061_000),
        ("waited for 250 ms", 250),
        ("it takes long", -1),
    ],
)
def test_a_duration_is_read(text: str, lasted: int, tmp_path: Path) -> None:
    assert {one.lasted_ms for one in _said(tmp_path, text) if one.name == "long_work"} <= {lasted}
    assert lasted < 0 or _said(tmp_path, text)


@pytest.mark.parametrize(
    "line",
    [
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
        "transactionalId which fences the current one.",
        "[2024-01-02 03:04:05,678] INFO [Producer clientId=a, transactionalId=b] Closing the Kafka producer with "
        "timeoutMillis = 90000 ms. (org.apache.kafka.clients.producer.KafkaProducer)",
        "\tat com.example.LongBatch.sleep(LongBatch.java:12)",
        "%1|1657854002.147|TXNERR|rdkafka#producer-3| [thrd:main]: Fatal transaction error: Producer fenced by newer "
        "instance",
    ],
)
def test_programs_say_nothing(line: str, tmp_path: Path) -> None:
    assert not _said(tmp_path, line)


def test_a_line_says_when_work_began(tmp_path: Path) -> None:
    (one,) = _said(tmp_path, "2024-03-28T02:00:04.870Z  INFO 1 --- [main] c.e.Batch : batch 7 started")
    assert (one.name, one.line, one.at) == ("began", 1, 1_711_591_204_870)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We get ProducerFencedException. Nobody else uses that id.", {"one_owner"}),
        ("There should be a second pod. Nobody else uses that id.", {"one_owner"}),
        ("Nobody else should use it. Nobody else uses that id.", {"one_owner"}),
        ("We get ProducerFencedException, nobody else uses that id.", {"one_owner"}),
    ],
)
def test_what_a_sentence_says_is_not_undone_by_another_one(text: str, names: set[str], tmp_path: Path) -> None:
    assert {one.name for one in _said(tmp_path, text)} == names


def test_what_is_too_large_for_a_page_is_a_log(tmp_path: Path) -> None:
    assert not _said(tmp_path, "Nobody else uses that id\n" + "x" * LARGEST_PAGE)
