"""Texts in which what stands beside a failure decides what may be said of it: consequences, settings, places, words.

Each text has a look-alike that differs in what decides. Quotations are held against the lines of the file.
"""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

KAFKA = "org.apache.kafka.common.errors."


def told(folder: Path, text: str) -> dict[str, Any]:
    """The document of a page."""
    page = folder / "page.md"
    page.write_text(text)
    return document(diagnose([page]), "test")


def only(found: dict[str, Any], rule: str) -> dict[str, Any]:
    """The only finding of a rule."""
    (finding,) = [one for one in found["findings"] if one["rule"] == rule]
    return finding


def rules(found: dict[str, Any]) -> set[str]:
    """The rules that speak."""
    return {one["rule"] for one in found["findings"]}


def lines_of(finding: dict[str, Any]) -> list[int]:
    """Lines that a finding cites, in order."""
    return [place["line"] for place in finding["evidence"] if place.get("line") is not None]


def advice(finding: dict[str, Any]) -> str:
    """All that a finding advises."""
    return " ".join(one["text"] for one in finding["remedies"])


TIMED_OUT = """\
2025-02-03 04:05:06,700 WARNING pay commit failed: KafkaError{code=_TIMED_OUT,val=-185,str="Timed out waiting for operation to finish, retry call to resume"}
Traceback (most recent call last):
  File "/srv/pay.py", line 31, in close_batch
    producer.commit_transaction(8)
cimpl.KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Timed out waiting for operation to finish, retry call to resume"}

During handling of the above exception, another exception occurred:

"""  # noqa: E501
CONFLICT = """\
Traceback (most recent call last):
  File "/srv/pay.py", line 34, in close_batch
    producer.abort_transaction(8)
cimpl.KafkaException: KafkaError{code=_CONFLICT,val=-173,str="Conflicting commit_transaction API call is already in progress"}
"""  # noqa: E501


def test_a_call_that_is_refused_behind_a_timed_out_commit_is_its_consequence(tmp_path):
    found = told(tmp_path, TIMED_OUT + CONFLICT)
    commit = only(found, "commit_outcome_unknown")
    assert rules(found) == {"commit_outcome_unknown"}
    assert lines_of(commit) == [1, 12]
    assert "commit_transaction" in commit["summary"]
    assert "TimeoutException" not in advice(commit)


def test_alone_it_has_two_readings(tmp_path):
    found = only(told(tmp_path, CONFLICT), "api_misuse")
    assert found["verdict"] == "likely"
    assert any("timed out before" in one["rule"] for one in found["considered"] if not one["refuted"])


def test_records_that_came_twice_speak_for_the_commit(tmp_path):
    doubled = "\nthe pod started again and now customers got the invoice twice\n"
    assert "came twice" in advice(only(told(tmp_path, TIMED_OUT + doubled), "commit_outcome_unknown"))
    assert "came twice" not in advice(only(told(tmp_path, TIMED_OUT), "commit_outcome_unknown"))


PROMPT = """\
>>> p = AIOKafkaProducer(bootstrap_servers='b1:9092', transactional_id='lab-3'{timeout})
>>> await p.start()
ERROR:aiokafka.producer.sender:Unexpected error in sender routine
aiokafka.errors.InvalidTransactionTimeout: [Error 50] InvalidTransactionTimeout
>>> p = AIOKafkaProducer(bootstrap_servers='b1:9092', transactional_id='lab-3')
>>> await p.start()
INFO:aiokafka.producer.sender:Discovered coordinator 4 for transactional id lab-3
>>> await p.send('lab.out', b'1')
Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/aiokafka/producer/producer.py", line 490, in send
    raise IllegalOperation("Can't send messages while not in transaction")
aiokafka.errors.IllegalOperation: Can't send messages while not in transaction
"""


def test_a_setting_in_a_constructor_is_in_the_evidence(tmp_path):
    found = only(told(tmp_path, PROMPT.format(timeout=", transaction_timeout_ms=7200000")), "misconfiguration")
    (remedy,) = found["remedies"]
    assert (remedy["current"], remedy["proposed"]) == ("7200000", "900000 or less")
    assert lines_of(found) == [1, 4]


def test_a_default_is_never_what_was_refused(tmp_path):
    (remedy,) = only(told(tmp_path, PROMPT.format(timeout="")), "misconfiguration")["remedies"]
    assert (remedy["config"], remedy["current"], remedy["proposed"]) == (None, None, None)


def test_a_start_that_failed_is_no_failure_of_the_next_producer(tmp_path):
    found = only(told(tmp_path, PROMPT.format(timeout=", transaction_timeout_ms=7200000")), "api_misuse")
    assert "Start with the failure before" not in advice(found)
    assert "begin_transaction" in advice(found)
    assert lines_of(found) == [12]


EMPTY = "kafka.errors.KafkaError: KafkaError: TransactionalId tx-7: Invalid transition attempted from state READY to state COMMITTING_TRANSACTION\n"  # noqa: E501


@pytest.mark.parametrize(
    ("before", "verdict"),
    [("we call begin_transaction(), the batch is empty, then commit\n\n", "likely"), ("commit says\n\n", "proved")],
)
def test_words_that_a_transaction_was_begun_leave_the_client_as_the_cause_open(tmp_path, before, verdict):
    found = only(told(tmp_path, before + EMPTY), "api_misuse")
    assert found["verdict"] == verdict
    open_ones = {one["rule"] for one in found["considered"] if not one["refuted"]}
    assert ("client_bug" in open_ones) == (verdict == "likely")
    assert ("Skip the commit" in advice(found)) == (verdict == "likely")


EXPIRED = """\
we are rolling all brokers of this cluster for a patch and the connector stops
this is what the worker has in its log each time we do it

2025-03-04 10:00:00,100 WARN   [Producer clientId=connector-producer-crm-2] Got error produce response with correlation id 9 on topic-partition crm.rows-4, retrying (2147483646 attempts left). Error: NOT_LEADER_OR_FOLLOWER   [org.apache.kafka.clients.producer.internals.Sender]
2025-03-04 10:00:01,200 INFO   [Producer clientId=connector-producer-crm-2] Node 5 disconnected.   [org.apache.kafka.clients.NetworkClient]
2025-03-04 10:02:00,300 ERROR  WorkerSourceTask{id=crm-2} failed to send record to crm.rows:   [org.apache.kafka.connect.runtime.AbstractWorkerSourceTask]
org.apache.kafka.common.errors.TimeoutException: Expiring 17 record(s) for crm.rows-4:120000 ms has passed since batch creation
"""  # noqa: E501
KILLED = "2025-03-04 10:02:00,3{0} ERROR  WorkerSourceTask{{id=crm-2}} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted   [org.apache.kafka.connect.runtime.WorkerTask]\n"  # noqa: E501


def test_a_killed_task_is_an_application_that_is_down(tmp_path):
    found = only(told(tmp_path, EXPIRED + KILLED.format("21")), "broker_unreachable")
    assert found["severity"] == "error"
    assert "17 records for crm.rows-4" in found["summary"]
    assert "restart" in found["remedies"][0]["command"]
    assert only(told(tmp_path, EXPIRED), "broker_unreachable")["severity"] == "info"


LATE = """\
4.1 brokers, single instance, transaction.timeout.ms=15000:

08:00:00.100 INFO  sending batch 7
08:00:24.300 INFO  partner call back after 24 s, committing
08:00:24.400 ERROR batch 7 lost
{error}
"""


def test_a_late_commit_under_transactions_v2_is_refused_for_its_state(tmp_path):
    words = "InvalidTxnStateException: The producer attempted a transactional operation in an invalid state."
    found = only(told(tmp_path, LATE.format(error=KAFKA + words)), "transaction_timed_out")
    assert "epoch was stale" not in str(found["steps"])
    assert "24.0 s" in found["summary"] or "24 s" in found["summary"]
    assert {one["rule"]: one["refuted"] for one in found["considered"]}["fenced_by_new_instance"]
    (remedy,) = found["remedies"]
    assert (remedy["current"], remedy["proposed"]) == ("15000", "above 24000")


POLL = """\
2025-05-06T07:08:09.100Z  INFO 1 --- [ad | calls] o.a.k.c.c.internals.ConsumerCoordinator  : [Consumer clientId=consumer-calls-1, groupId=calls] Member consumer-calls-1-a sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null) due to consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms
"""  # noqa: E501
REFUSED = """\
2025-05-06T07:08:20.200Z  INFO 1 --- [producer-calls-1] o.a.k.c.p.internals.TransactionManager   : [Producer clientId=producer-calls-1, transactionalId=calls-1] Transiting to abortable error state due to org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer group metadata mismatch: The coordinator is not aware of this member.
"""  # noqa: E501


def test_a_consumer_that_polls_too_late_is_a_warning_without_numbers_of_defaults(tmp_path):
    found = only(told(tmp_path, POLL + REFUSED), "fenced_by_group_generation")
    assert found["severity"] == "warning"
    assert "polled too late" in found["summary"]
    assert all(one["proposed"] is None for one in found["remedies"])
    assert only(told(tmp_path, REFUSED), "fenced_by_group_generation")["severity"] == "info"


def test_a_broker_is_named_by_what_its_lines_say(tmp_path):
    failed = """\
2025-06-07 01:02:03,100 ERROR Error while writing to checkpoint file /d/k/recovery-point-offset-checkpoint (kafka.server.LogDirFailureChannel) [kafka-scheduler-1]
java.io.IOException: No space left on device
2025-06-07 01:02:03,200 ERROR Error while appending records to __transaction_state-9 in dir /d/k (kafka.server.LogDirFailureChannel) [data-plane-kafka-request-handler-0]
java.io.IOException: No space left on device
2025-06-07 01:02:03,300 WARN [ReplicaManager broker=7] Stopping serving replicas in dir /d/k (kafka.server.ReplicaManager) [LogDirFailureHandler]
"""  # noqa: E501
    found = only(told(tmp_path, failed), "log_directory_failed")
    assert "broker 7" in found["summary"]
    assert "page.md" not in found["summary"]
    cited = {
        step["text"]: [found["evidence"][number]["line"] for number in step["evidence"]] for step in found["steps"]
    }
    (state,) = [lines for text, lines in cited.items() if "could not write to __transaction_state-9" in text]
    assert state == [3]
    assert all(lines for lines in cited.values())


RDKAFKA = "[2025-01-02 03:04:05.600]EMERG KafkaProducer[producer-1] FATAL | [thrd:b:9092/bootstrap]: Fatal error: Broker: Broker received an out of order sequence number: ProduceRequest for in.rows [2] with 1 message(s) failed due to sequence desynchronization with broker 3 (PID{{Id:77,Epoch:0}}, base seq {0}, idemp state change 900000ms ago, last partition error NOT_LEADER_FOR_PARTITION (actions Refresh,MsgNotPersisted, base seq {0}..{0}, base msgid {1}, 90ms ago)\nException thrown by send(): Local: Fatal error [-150]\n"  # noqa: E501


def test_a_first_batch_is_no_sign_of_a_defect_that_needs_one_before_it(tmp_path):
    first, later = (told(tmp_path, "librdkafka 1.8.2\n\n" + RDKAFKA.format(*of)) for of in ((0, 1), (5, 6)))
    assert "client_bug" not in rules(first)
    assert "client_bug" in rules(later)
    gap = only(first, "sequence_gap")
    assert gap["producer_id"] == 77
    assert "whether the refused records are in the partition" in gap["remedies"][0]["text"]
    assert "only what is missing" in gap["remedies"][1]["text"]
    assert lines_of(gap) == [3, 4]


def test_the_partition_of_an_id_is_the_one_that_lines_name(tmp_path):
    lines = """\
[2025-02-20 09:21:00,012] INFO [TransactionCoordinator id=1] Returning CONCURRENT_TRANSACTIONS error code to client for jobs's InitProducerId request (kafka.coordinator.transaction.TransactionCoordinator)
[2025-02-20 09:21:00,310] INFO [TransactionCoordinator id=1] Initialized transactionalId jobs with producerId 9 and producer epoch 40 on partition __transaction_state-3 (kafka.coordinator.transaction.TransactionCoordinator)
[2025-02-20 09:21:00,377] INFO [TransactionCoordinator id=1] Returning CONCURRENT_TRANSACTIONS error code to client for jobs's InitProducerId request (kafka.coordinator.transaction.TransactionCoordinator)
[2025-02-20 09:21:00,701] INFO [TransactionCoordinator id=1] Initialized transactionalId jobs with producerId 9 and producer epoch 42 on partition __transaction_state-3 (kafka.coordinator.transaction.TransactionCoordinator)

app: timestamp=2025-02-20T09:21:00.399Z level=ERROR thread=#zio-fiber-1 message="import failed" cause="org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId which fences the current one."
"""  # noqa: E501
    found = told(tmp_path, lines)
    asked = " ".join(f"{one['where']} {one['command']}" for one in found["next"])
    assert "__transaction_state-3" in asked
    assert "default" not in asked
    shared = only(found, "shared_producer")
    assert 6 in lines_of(shared)
    assert "at least 1 time" in shared["summary"]


def test_a_marker_in_the_line_of_its_batch_is_a_marker(tmp_path):
    rows = """\
it was killed, so:

baseOffset{0}0 producerId{0}31 isTransactional{0}true isControl{0}false
baseOffset{0}4 producerId{0}31 isTransactional{0}true isControl{0}true endTxnMarker{1}{2}
"""
    aborted, committed = (
        told(tmp_path, rows.format(": ", ": ", kind))["answer"]["headline"] for kind in ("ABORT", "COMMIT")
    )
    assert "who aborted is not shown" in aborted
    assert committed.startswith("Clear")


def test_a_marker_that_somebody_copied_by_hand_is_told_with_its_causes(tmp_path):
    page = "the producer was killed in its transaction\n\nbaseOffset=4 isControl=true endTxnMarker: {0}\n"
    found = told(tmp_path, page.format("ABORT"))
    assert found["answer"]["state"] == "unexplained"
    assert found["findings"][0]["candidates"][0]["rule"] == "transaction_timed_out"
    page_file = tmp_path / "page.md"
    page_file.write_text(page.format("COMMIT"))
    with pytest.raises(NothingReadableError):
        diagnose([page_file])


def test_retries_are_lines_of_a_producer(tmp_path):
    line = "%7|1718000001.204|RETRY|rdkafka#producer-2| [thrd:k1:9092/1]: k1:9092/1: Retrying Produce message(s) for a.b [1]: Broker: Not leader for partition\n"  # noqa: E501
    assert "lines of 1 producer" in told(tmp_path, line)["answer"]["headline"]


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("Kafka transactions: we want to avoid the ProducerFencedException after enabling it.", False),
        ("Kafka transactions: others report ProducerFencedException with it.", False),
        ("Kafka transactions: since Monday we get ProducerFencedException.", True),
    ],
)
def test_what_somebody_fears_nobody_has_met(tmp_path, text, is_met):
    found = told(tmp_path, f"{text}\n")
    assert found["answer"]["headline"].startswith("No diagnosis yet" if is_met else "Nothing to judge")
    assert bool(found["next"]) is is_met


def test_readers_that_stand_for_longer_than_a_transaction_may_be_open(tmp_path):
    page = """\
kcat -b k:9092 -Q -t rows:0:-1
rows [0] offset 900

kcat -b k:9092 -C -t rows -p 0 -e -q -X isolation.level=read_committed -f '%o\\n' | tail -1
% Reached end of topic rows [0] at offset 100: exiting

"""
    stands = only(told(tmp_path, page + "Tried again 40 min later, same 100.\n"), "read_committed_blocked")
    assert stands["severity"] == "error"
    assert only(told(tmp_path, page), "read_committed_blocked")["severity"] == "warning"


def test_as_many_bytes_are_read_as_the_file_has(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"some words\n\n{TIMED_OUT}{CONFLICT}\nmore words\n")
    assert f"Read 1 of 1 file: {page.stat().st_size:,} bytes" in CliRunner().invoke(app, ["diagnose", str(page)]).stdout
